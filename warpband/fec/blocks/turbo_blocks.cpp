#include <warpband/fec/blocks/turbo_blocks.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/fec/blocks/batch_memory.hpp>
#include <warpband/fec/blocks/turbo_blocks_args.hpp>
#include <warpband/fec/lte/qpp.hpp>
#include <warpband/fec/lte/rate_matching.hpp>

namespace wb {

WB_DECLARE_KERNEL(turbo_block_input)
WB_DECLARE_KERNEL(turbo_block_output)
WB_DECLARE_KERNEL(turbo_block_encode)

namespace {

int stream_places(int k) { return 32 * lte_interleaver_rows(k); }  // K_pi
std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

void check_k(int k) {
  if (!is_qpp_size(k)) (void)qpp_for(k);  // says what is allowed
}
void check_crc(const std::optional<crc_polynomial>& crc, int k) {
  if (!crc) return;
  check(*crc);
  if (crc->degree >= k)
    throw argument_error("crc_degree", std::to_string(crc->degree), "less than k = " + std::to_string(k));
}
bool is_refused(auto&& block, auto check_one) {
  try {
    check_one(block);
  } catch (const argument_error&) {
    return true;
  }
  return false;
}

/// Arrays one after the other, on multiples of 64 bytes.
struct work_area {
  std::byte* base = nullptr;
  std::size_t used = 0;
  template <class T>
  T* take(std::size_t count) {
    T* p = base == nullptr ? nullptr : reinterpret_cast<T*>(base + used);
    used += aligned(count * sizeof(T));
    return p;
  }
};

/// Calls f(place) for the NULLs of the circular buffer: the first K_pi - k - 4 places of each padded stream.
template <class F>
void each_null(int k, F f) {
  const int rows = lte_interleaver_rows(k), places = stream_places(k), padding = places - k - 4;
  for (int c = 0; c < padding; c++) {
    const int column = (c & 1) << 4 | (c & 2) << 2 | (c & 4) | (c & 8) >> 2 | (c & 16) >> 4;
    f(column * rows);
    f(places + 2 * column * rows);
    if (c + 1 < padding) f(places + 2 * column * rows + 1);
  }
  f(3 * places - 1);  // the first of d2
}

/// LLRs that are not 0, of those that are no NULL.
int usable_llrs(const std::int8_t* w, int k, turbo_order order) {
  const int places = stream_places(k);
  const auto count = [&](const std::int8_t* p, int n) {
    typedef signed char bytes __attribute__((vector_size(16)));
    int sum = 0, i = 0;
    while (i + 16 <= n) {
      bytes not_zero{};
      for (const int end = std::min(n - 15, i + 16 * 127); i < end; i += 16) {
        bytes x;
        std::memcpy(&x, p + i, sizeof x);
        not_zero -= x != 0;
      }
      for (int j = 0; j < 16; j++) sum += not_zero[j];
    }
    for (; i < n; i++) sum += p[i] != 0;
    return sum;
  };
  if (order == turbo_order::streams)
    return count(w, k + 4) + count(w + places, k + 4) + count(w + 2 * places, k + 4);
  int sum = count(w, 3 * places);
  each_null(k, [&](int place) { sum -= w[place] != 0; });
  return sum;
}

/// LLRs of another format, as int8.
void convert(const block_llrs& llr, std::int8_t* to) {
  const auto convert_all = [&]<class T>(T x, auto step_of) {
    const char* from = static_cast<const char*>(llr.data);  // on no multiple of sizeof(T), maybe
    for (std::size_t i = 0; i < llr.count; i++) {
      std::memcpy(&x, from + i * sizeof x, sizeof x);
      to[i] = static_cast<std::int8_t>(step_of(x));
    }
  };
  if (llr.format == llr_format::int16) {
    convert_all(std::int16_t{}, [](int x) { return std::clamp(x, -127, 127); });
  } else {
    const float step = std::ldexp(1.f, llr.decimals);
    convert_all(0.f, [=](float x) { return x != x ? 0 : std::lrint(std::clamp(x * step, -127.f, 127.f)); });
  }
}

/// Blocks of equal key are decoded together.
struct decode_key {
  int k = 0, iterations = 0, least_iterations = 1;
  turbo_early_stop stop = turbo_early_stop::none;
  std::uint32_t crc_polynomial = 0;
  int crc_degree = 0;
  bool soft = false;
  int decimals = 0;  // where the decoder's numbers depend on it
  int rate = 0;      // in twentieths, 0: that of the configuration
  bool operator==(const decode_key&) const = default;
};

/// Work of a group of blocks.
struct decode_arrays {
  view<std::int8_t> steps;
  view<float> llr, extrinsic;
  view<std::uint8_t> bits, status, coded;
  view<std::int32_t> iterations;

  decode_arrays(work_area& from, std::size_t items, int k, bool in_steps, bool soft) {
    const std::size_t n = 3 * (as_size(k) + 4);
    const auto rows = [&]<class T>(view<T>& v, std::size_t elements) {
      v = make_view(from.take<T>(items * elements), items, elements);
    };
    if (in_steps)
      rows(steps, n);
    else
      rows(llr, n);
    if (soft) {
      rows(extrinsic, n);
      rows(coded, n);
    }
    rows(bits, as_size(k));
    rows(status, 1);
    rows(iterations, 1);
  }
};

}  // namespace

struct turbo_block_decoder::state {
  struct coder {
    turbo_decoder decoder;
    std::optional<turbo_encoder> encoder;  // for soft output
  };
  using cache = coder_cache<decode_key, coder>;
  struct pending {
    turbo_decode_block block;
    bool refused = false;
    int kept = 0;
    std::size_t converted = 0;
    cache::entry* group = nullptr;
    std::size_t slot = 0;            // of the group, then of the batch
    std::size_t bits = 0, soft = 0;  // places in the output
  };
  turbo_decoder_config config;
  cache coders;
  batch_memory memory;
  std::uint64_t batch = 0;
  std::vector<pending> blocks;
  std::vector<cache::entry*> groups;
  std::vector<std::int8_t> converted;  // LLRs of all blocks that are not int8
  executor* exec = nullptr;            // of the batch under way

  const std::int8_t* llrs_of(const pending& p) const {
    return p.block.llr.format == llr_format::int8 ? static_cast<const std::int8_t*>(p.block.llr.data)
                                                  : converted.data() + p.converted;
  }
  decode_key key_of(const turbo_decode_block& b) const {
    decode_key key;
    key.k = b.k;
    key.iterations = b.iterations;
    key.soft = b.soft != nullptr;
    const turbo_precision precision = key.soft ? turbo_precision::float32 : config.precision;
    if (b.crc) {
      // Without early stop the CRC is looked at after the last iteration.
      key.stop = turbo_early_stop::crc;
      key.crc_polynomial = b.crc->polynomial;
      key.crc_degree = b.crc->degree;
      key.least_iterations = b.early_stop ? b.least_iterations : b.iterations;
    } else if (b.early_stop && precision == turbo_precision::float32) {
      key.stop = turbo_early_stop::sign_agreement;
      key.least_iterations = b.least_iterations;
    }
    if (precision == turbo_precision::bfloat16) key.decimals = b.llr.decimals;
    return key;
  }
  turbo_decoder_config config_of(const decode_key& key) const {
    turbo_decoder_config c = config;
    c.k = key.k;
    c.iterations = key.iterations;
    c.least_iterations = key.least_iterations;
    c.early_stop = key.stop;
    c.crc_polynomial = key.crc_polynomial;
    c.crc_degree = key.crc_degree;
    c.doubts_zeros = false;
    if (key.rate != 0) c.code_rate = static_cast<float>(key.rate) / 20.f;
    if (key.soft && c.precision != turbo_precision::float32) {
      c.precision = turbo_precision::float32;
      c.windows = c.overlap = {};
    }
    c.llr_steps = {};
    if (c.precision == turbo_precision::bfloat16) c.llr_steps = std::ldexp(1.f, key.decimals);
    return c;
  }
  cache::entry& group_of(const decode_key& key) {
    return coders.of(key, batch, [&] {
      return coder{turbo_decoder(config_of(key)),
                   key.soft ? std::optional<turbo_encoder>(key.k) : std::nullopt};
    });
  }
  bool in_steps(const decode_key& key) const {
    return !key.soft && config.precision != turbo_precision::float32;
  }
};

turbo_block_decoder::turbo_block_decoder(const turbo_decoder_config& turbo)
    : state_(std::make_unique<state>()) {
  (void)completed(turbo);
  state_->config = turbo;
}
turbo_block_decoder::~turbo_block_decoder() = default;
turbo_block_decoder::turbo_block_decoder(turbo_block_decoder&&) noexcept = default;
turbo_block_decoder& turbo_block_decoder::operator=(turbo_block_decoder&&) noexcept = default;

turbo_decoder_config turbo_block_decoder::default_turbo() {
  return with_usual_scale(
      {.algorithm = map_algorithm::max_log_map, .iterations = 8, .precision = turbo_precision::int16});
}

void turbo_block_decoder::check(const turbo_decode_block& b) {
  check_k(b.k);
  const std::size_t places = 3 * as_size(stream_places(b.k));
  if (b.llr.count != places)
    throw shape_error("llr.count", std::to_string(b.llr.count),
                      "3 K_pi = " + std::to_string(places) + " with k = " + std::to_string(b.k));
  if (b.llr.data == nullptr) throw shape_error("llr.data", "null", "data");
  check_range("llr.format", static_cast<int>(b.llr.format), 0, 2);
  check_range("llr.decimals", b.llr.decimals, 0, 7);
  check_range("order", static_cast<int>(b.order), 0, 1);
  check_range("iterations", b.iterations, 1, 64);
  check_range("least_iterations", b.least_iterations, 1, b.iterations);
  check_crc(b.crc, b.k);
  if (b.drop_crc && !b.crc) throw argument_error("drop_crc", "true", "false without a CRC");
  check_length("bits", b.bits.data, b.bits.bytes, bytes_of_bits(b.k - (b.drop_crc ? b.crc->degree : 0)),
               " bytes");
  if (b.soft != nullptr) check_length("soft", b.soft, b.soft_length, 3 * (as_size(b.k) + 4), " LLRs");
}

void turbo_block_decoder::start(executor& exec, std::span<const turbo_decode_block> blocks) {
  state& s = held(state_);
  begin_batch(s.exec);
  s.blocks.clear();
  s.groups.clear();
  s.converted.clear();
  s.batch++;
  const bool chooses_windows = !s.config.windows && !s.config.overlap;
  std::size_t staged = 0;
  for (const turbo_decode_block& b : blocks) {
    state::pending& p = s.blocks.emplace_back();
    p.block = b;
    p.refused = is_refused(b, check);
    if (p.refused) continue;
    p.kept = b.k - (b.drop_crc ? b.crc->degree : 0);
    decode_key key = s.key_of(b);
    if (exec.is_device()) staged += aligned(b.llr.count);
    if (b.llr.format != llr_format::int8) {
      p.converted = s.converted.size();
      s.converted.resize(p.converted + b.llr.count);
      convert(b.llr, s.converted.data() + p.converted);
    }
    if (chooses_windows) {
      const int usable = std::max(1, usable_llrs(s.llrs_of(p), b.k, b.order));
      key.rate = std::clamp((20 * b.k + usable - 1) / usable, 10, 20);
    }
    p.group = &s.group_of(key);
    p.slot = p.group->blocks++;
    if (p.slot == 0) s.groups.push_back(p.group);
  }

  std::size_t total = 0, work = 0;
  for (state::cache::entry* g : s.groups) {
    g->first = total;
    total += g->blocks;
    work_area measure;
    (void)decode_arrays(measure, g->blocks, g->key.k, s.in_steps(g->key), g->key.soft);
    work = std::max(work, measure.used);
  }
  if (total == 0) {
    s.exec = &exec;
    return;
  }
  const std::size_t items = aligned(total * sizeof(turbo_decode_item)),
                    records = aligned(total * sizeof(turbo_block_record));
  std::size_t out = records;
  for (state::pending& p : s.blocks) {
    if (p.refused) continue;
    p.slot += p.group->first;
    p.bits = out;
    out += aligned(bytes_of_bits(p.kept));
    p.soft = out;
    if (p.block.soft != nullptr) out += aligned(3 * (as_size(p.block.k) + 4));
  }
  s.memory.begin(exec);
  s.memory.reserve(exec, items + staged, out, work);

  auto* const list = reinterpret_cast<turbo_decode_item*>(s.memory.host_input(exec));
  const std::byte* const in = s.memory.input();
  std::byte* const results = s.memory.output();
  std::size_t place = items;
  for (const state::pending& p : s.blocks) {
    if (p.refused) continue;
    const turbo_decode_block& b = p.block;
    turbo_decode_item item;
    item.llr = s.llrs_of(p);  // kernels of a CPU run before start() returns
    if (exec.is_device()) {
      std::memcpy(s.memory.host_input(exec) + place, item.llr, b.llr.count);
      item.llr = reinterpret_cast<const std::int8_t*>(in + place);
      place += aligned(b.llr.count);
    }
    item.bits = reinterpret_cast<std::uint8_t*>(results + p.bits);
    if (b.soft != nullptr) item.soft = reinterpret_cast<std::int8_t*>(results + p.soft);
    item.step = std::ldexp(1.f, b.llr.decimals);
    item.kept = p.kept;
    item.streams = b.order == turbo_order::streams;
    item.negative = b.llr.negative;
    item.negative_soft = b.negative_soft;
    list[p.slot] = item;
  }
  queue_batch(exec, s.exec, [&] {
    s.memory.upload(exec);
    for (const state::cache::entry* g : s.groups) {
      work_area from{s.memory.work()};
      const decode_arrays a(from, g->blocks, g->key.k, s.in_steps(g->key), g->key.soft);
      turbo_block_input_args input;
      input.k = g->key.k;
      input.items = reinterpret_cast<const turbo_decode_item*>(in) + g->first;
      input.steps = a.steps;
      input.llr = a.llr;
      exec.run(turbo_block_input_kernels(), &input, g->blocks);
      const turbo_decoder_output decided{.bits = a.bits,
                                         .soft = {},
                                         .extrinsic = {},
                                         .coded_extrinsic = a.extrinsic,
                                         .iterations = a.iterations,
                                         .status = a.status};
      if (a.steps.data != nullptr)
        g->coder.decoder.run(exec, view<const std::int8_t>(a.steps), decided);
      else
        g->coder.decoder.run(exec, view<const float>(a.llr), decided);
      if (g->key.soft) g->coder.encoder->run(exec, a.bits, a.coded);
      turbo_block_output_args output;
      output.k = g->key.k;
      output.items = input.items;
      output.bits = a.bits;
      output.iterations = a.iterations;
      output.status = a.status;
      output.llr = a.llr;
      output.extrinsic = a.extrinsic;
      output.coded = a.coded;
      output.records = reinterpret_cast<turbo_block_record*>(results) + g->first;
      exec.run(turbo_block_output_kernels(), &output, g->blocks);
    }
    s.memory.download(exec);
  });
}

bool turbo_block_decoder::done() const { return is_done(held(state_).exec); }

void turbo_block_decoder::finish(std::span<block_result> results) {
  state& s = held(state_);
  const executor& exec = end_batch(s.exec, results.size(), s.blocks.size());
  const std::byte* const out = s.memory.host_output(exec);
  const auto* const records = reinterpret_cast<const turbo_block_record*>(out);
  for (std::size_t i = 0; i < results.size(); i++) {
    const state::pending& p = s.blocks[i];
    block_result& r = results[i] = {};
    if (p.refused) {
      r.status = block_refused;
      continue;
    }
    const turbo_block_record& record = records[p.slot];
    const turbo_decode_block& b = p.block;
    r.iterations = static_cast<std::uint16_t>(record.iterations);
    r.bytes = static_cast<std::uint32_t>(bytes_of_bits(p.kept));
    if (b.crc) {
      r.crc_passed = (record.status & status_stopped) != 0;
      if (r.crc_passed == 0) r.status = block_crc;
    } else if ((record.status & status_erased) != 0) {
      r.status = block_syndrome;
    }
    std::memcpy(b.bits.data, out + p.bits, r.bytes);
    if (b.soft != nullptr) std::memcpy(b.soft, out + p.soft, 3 * (as_size(b.k) + 4));
  }
}

int lte_first_place(int k, int buffer, int rv) {
  check_k(k);
  const int places = 3 * stream_places(k);
  check_range("buffer", buffer, 0, places);
  check_range("rv", rv, 0, 3);
  return lte_buffer_start(k, buffer == 0 ? places : buffer, rv);
}

namespace {

struct encode_key {
  int k = 0;
  std::uint32_t crc_polynomial = 0;
  int crc_degree = 0;
  bool operator==(const encode_key&) const = default;
};
struct turbo_encode_plan {
  resident<std::int32_t> permutation, weights;
  explicit turbo_encode_plan(const encode_key& key) : permutation(qpp_permutation(qpp_for(key.k))) {
    if (key.crc_degree != 0) weights = resident(crc_remainders(key.k, {key.crc_polynomial, key.crc_degree}));
  }
};
/// What a constituent encoder does with a byte, by its state r1 | r2 << 1 | r3 << 2: feedback 1 + D^2 + D^3,
/// parity 1 + D + D^3.
std::vector<std::uint16_t> encoder_table() {
  std::vector<std::uint16_t> table;
  for (unsigned start = 0; start < 8; start++)
    for (unsigned byte = 0; byte < 256; byte++) {
      unsigned state = start, parity = 0;
      for (int j = 7; j >= 0; j--) {
        const unsigned in = (byte >> j ^ state >> 1 ^ state >> 2) & 1;
        parity = 2 * parity + ((in ^ state ^ state >> 2) & 1);
        state = (state << 1 & 7) | in;
      }
      table.push_back(static_cast<std::uint16_t>(parity | state << 8));
    }
  return table;
}
/// The circular buffer of N_cb places without NULLs.
struct ring_plan {
  int length = 0;
  std::vector<std::int32_t> number;  // by place of the buffer: the first without NULL from it on

  ring_plan(int k, int buffer) : number(3 * as_size(stream_places(k))) {
    each_null(k, [&](int place) { number[as_size(place)] = -1; });
    number.resize(as_size(buffer));
    for (std::int32_t& n : number) {
      const bool is_null = n < 0;
      n = length;
      length += is_null ? 0 : 1;
    }
    for (std::int32_t& n : number) n %= length;  // NULLs up to the end of the buffer
  }
};

}  // namespace

struct turbo_block_encoder::state {
  using cache = coder_cache<encode_key, turbo_encode_plan>;
  struct pending {
    turbo_encode_block block;
    bool refused = false;
    int sent = 0;
    const ring_plan* ring = nullptr;
    cache::entry* group = nullptr;
    std::size_t slot = 0, out = 0;
  };
  cache coders;
  coder_cache<std::pair<int, int>, ring_plan> rings;  // by k and N_cb
  resident<std::uint16_t> table{encoder_table()};
  batch_memory memory;
  std::uint64_t batch = 0;
  std::vector<pending> blocks;
  std::vector<cache::entry*> groups;
  executor* exec = nullptr;
};

turbo_block_encoder::turbo_block_encoder() : state_(std::make_unique<state>()) {}
turbo_block_encoder::~turbo_block_encoder() = default;
turbo_block_encoder::turbo_block_encoder(turbo_block_encoder&&) noexcept = default;
turbo_block_encoder& turbo_block_encoder::operator=(turbo_block_encoder&&) noexcept = default;

void turbo_block_encoder::check(const turbo_encode_block& b) {
  check_k(b.k);
  check_crc(b.crc, b.k);
  check_length("bits", b.bits.data, b.bits.bytes, bytes_of_bits(b.k - (b.crc ? b.crc->degree : 0)), " bytes");
  check_range("sent_bits", b.sent_bits, 0, 1 << 24);
  const int places = 3 * stream_places(b.k);
  check_range("buffer", b.buffer, 0, places);
  if (b.buffer == 1)
    throw argument_error("buffer", "1",
                         "a circular buffer with a coded bit in it: its first place holds none");
  check_range("first", b.first, 0, (b.buffer == 0 ? places : b.buffer) - 1);
  if (b.sent_bits == 0 && (b.buffer != 0 || b.first != 0))
    throw argument_error(b.buffer != 0 ? "buffer" : "first",
                         std::to_string(b.buffer != 0 ? b.buffer : b.first), "0 without rate matching");
  check_length("out", b.out.data, b.out.bytes, bytes_of_bits(b.sent_bits == 0 ? 3 * b.k + 12 : b.sent_bits),
               " bytes");
}

void turbo_block_encoder::start(executor& exec, std::span<const turbo_encode_block> blocks) {
  state& s = held(state_);
  begin_batch(s.exec);
  s.blocks.clear();
  s.groups.clear();
  s.batch++;
  std::size_t staged = 0;
  for (const turbo_encode_block& b : blocks) {
    state::pending& p = s.blocks.emplace_back();
    p.block = b;
    p.refused = is_refused(b, check);
    if (p.refused) continue;
    p.sent = b.sent_bits == 0 ? 3 * b.k + 12 : b.sent_bits;
    if (b.sent_bits != 0) {
      const int buffer = b.buffer == 0 ? 3 * stream_places(b.k) : b.buffer;
      p.ring = &s.rings.of({b.k, buffer}, s.batch, [&] { return ring_plan(b.k, buffer); }).coder;
    }
    encode_key key{.k = b.k};
    if (b.crc) key.crc_polynomial = b.crc->polynomial, key.crc_degree = b.crc->degree;
    if (exec.is_device()) staged += aligned(bytes_of_bits(b.k - key.crc_degree));
    p.group = &s.coders.of(key, s.batch, [&] { return turbo_encode_plan(key); });
    p.slot = p.group->blocks++;
    if (p.slot == 0) s.groups.push_back(p.group);
  }
  std::size_t total = 0;
  for (state::cache::entry* g : s.groups) {
    g->first = total;
    total += g->blocks;
  }
  if (total == 0) {
    s.exec = &exec;
    return;
  }
  std::size_t out = 0;
  for (state::pending& p : s.blocks) {
    if (p.refused) continue;
    p.slot += p.group->first;
    p.out = out;
    out += aligned(bytes_of_bits(p.sent));
  }
  const std::size_t items = aligned(total * sizeof(turbo_encode_item));
  s.memory.begin(exec);
  s.memory.reserve(exec, items + staged, out, 0);
  auto* const list = reinterpret_cast<turbo_encode_item*>(s.memory.host_input(exec));
  const std::byte* const in = s.memory.input();
  std::size_t place = items;
  for (const state::pending& p : s.blocks) {
    if (p.refused) continue;
    const turbo_encode_block& b = p.block;
    turbo_encode_item item;
    item.bits = b.bits.data;
    if (exec.is_device()) {
      const std::size_t bytes = bytes_of_bits(b.k - (b.crc ? b.crc->degree : 0));
      std::memcpy(s.memory.host_input(exec) + place, b.bits.data, bytes);
      item.bits = reinterpret_cast<const std::uint8_t*>(in + place);
      place += aligned(bytes);
    }
    item.out = reinterpret_cast<std::uint8_t*>(s.memory.output() + p.out);
    item.length = 3 * (b.k + 4);
    item.sent = p.sent;
    item.rate_matched = p.ring != nullptr;
    if (p.ring != nullptr) {
      item.length = p.ring->length;
      item.first = p.ring->number[as_size(b.first)];
    }
    list[p.slot] = item;
  }
  queue_batch(exec, s.exec, [&] {
    s.memory.upload(exec);
    for (const state::cache::entry* g : s.groups) {
      turbo_block_encode_args a;
      a.k = g->key.k;
      a.crc_degree = g->key.crc_degree;
      a.items = reinterpret_cast<const turbo_encode_item*>(in) + g->first;
      if (a.crc_degree != 0) a.weights = g->coder.weights.on(exec);
      a.permutation = g->coder.permutation.on(exec);
      a.table = s.table.on(exec);
      exec.run(turbo_block_encode_kernels(), &a, g->blocks);
    }
    s.memory.download(exec);
  });
}

bool turbo_block_encoder::done() const { return is_done(held(state_).exec); }

void turbo_block_encoder::finish(std::span<block_result> results) {
  state& s = held(state_);
  const executor& exec = end_batch(s.exec, results.size(), s.blocks.size());
  for (std::size_t i = 0; i < results.size(); i++) {
    const state::pending& p = s.blocks[i];
    block_result& r = results[i] = {};
    if (p.refused) {
      r.status = block_refused;
      continue;
    }
    r.bytes = static_cast<std::uint32_t>(bytes_of_bits(p.sent));
    std::memcpy(p.block.out.data, s.memory.host_output(exec) + p.out, r.bytes);
  }
}

}  // namespace wb
