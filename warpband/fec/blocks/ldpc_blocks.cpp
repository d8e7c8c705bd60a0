#include <warpband/fec/blocks/ldpc_blocks.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <warpband/core/check.hpp>
#include <warpband/exec/kernel.hpp>
#include <warpband/fec/blocks/batch_memory.hpp>
#include <warpband/fec/blocks/ldpc_blocks_args.hpp>
#include <warpband/fec/nr/rate_matching.hpp>

namespace wb {

WB_DECLARE_KERNEL(ldpc_block_input)
WB_DECLARE_KERNEL(ldpc_block_output)
WB_DECLARE_KERNEL(ldpc_block_encode)

namespace {

/// Sums of LLRs are 16-bit integers, so that a bit is sent at most so often, and E is limited at all.
constexpr int most_repetitions = 250, most_sent_bits = 1 << 23;
/// Of an input that is copied to a device in parts.
constexpr std::size_t upload_bytes = 256 << 10;

std::size_t rounded_up(std::size_t n, std::size_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

/// A block without fillers.
nr_code_block whole_block(int base_graph, int z) {
  return nr_code_block_of(base_graph, nr_systematic(base_graph) * z, z);
}

/// What follows from a block's shape.
struct plan_of_shape {
  int k = 0;           // K - F
  int systematic = 0;  // columns that hold bits of the block
  ldpc_block_ring ring;
  /// Numbers of the ring before which all that the transmission has are.
  int reach() const { return ring.sent > ring.length - ring.start ? ring.length : ring.start + ring.sent; }
  /// Rows that tell something of the ring's first numbers.
  int rows(int z, int numbers) const {
    return std::max(nr_core_rows, (numbers - ring.information + z - 1) / z);
  }
};
plan_of_shape plan(const ldpc_block_shape& s) {
  const int z = s.lifting_size, k = nr_systematic(s.base_graph) * z - s.fillers;
  const nr_code_block block = nr_code_block_of(s.base_graph, k, z);
  plan_of_shape p;
  p.k = k;
  p.systematic = block.systematic;
  p.ring.punctured = 2 * z;
  p.ring.information = k - 2 * z;
  p.ring.padded = block.padded();
  p.ring.length = nr_ring_number(block, s.buffer == 0 ? block.standard_n() : s.buffer);
  p.ring.start = nr_ring_number(block, s.first) % p.ring.length;  // fillers up to the end: from the front
  p.ring.sent = s.sent_bits;
  p.ring.order = s.modulation_order;
  return p;
}

/// Throws argument_error.
plan_of_shape checked(const ldpc_block_shape& s) {
  check_range("base_graph", s.base_graph, 1, 2);
  check_nr_lifting_size(s.lifting_size);
  const int z = s.lifting_size, n = whole_block(s.base_graph, z).standard_n();
  check_range("fillers", s.fillers, 0, (nr_systematic(s.base_graph) - 2) * z - 1);
  check_range("buffer", s.buffer, 0, n);
  check_range("first", s.first, 0, (s.buffer == 0 ? n : s.buffer) - 1);
  constexpr std::array orders{1, 2, 4, 6, 8, 10};
  if (std::find(orders.begin(), orders.end(), s.modulation_order) == orders.end())
    throw argument_error("modulation_order", std::to_string(s.modulation_order), "1, 2, 4, 6, 8 or 10");
  check_range("sent_bits", s.sent_bits, 1, most_sent_bits);
  if (s.sent_bits % s.modulation_order != 0)
    throw argument_error("sent_bits", std::to_string(s.sent_bits),
                         "a multiple of modulation_order = " + std::to_string(s.modulation_order));
  const plan_of_shape p = plan(s);
  if (s.sent_bits > std::int64_t{most_repetitions} * p.ring.length)
    throw argument_error("sent_bits", std::to_string(s.sent_bits),
                         "each of the " + std::to_string(p.ring.length) + " bits of the buffer at most " +
                             std::to_string(most_repetitions) + " times");
  return p;
}
/// Bits of the payload behind a CRC that a block of k bits ends with. Throws argument_error.
int payload_of(int k, const std::optional<crc_polynomial>& crc) {
  if (!crc) return k;
  check(*crc);
  if (crc->degree >= k)
    throw argument_error("crc", std::to_string(crc->degree) + " bits",
                         "fewer than the " + std::to_string(k) + " bits of the block");
  return k - crc->degree;
}

/// Without zero bytes at the end: rows that only these would need tell nothing.
std::size_t trimmed(const void* data, std::size_t n) {
  const auto* const values = static_cast<const std::uint8_t*>(data);
  std::uint64_t eight = 0;
  while (n >= sizeof eight) {
    std::memcpy(&eight, values + n - sizeof eight, sizeof eight);
    if (eight != 0) break;
    n -= sizeof eight;
  }
  while (n > 0 && values[n - 1] == 0) n--;
  return n;
}

/// Remainders of the CRCs of blocks: those of a word of n bits are the last n of a table.
class crc_tables {
 public:
  const std::int32_t* on(executor& exec, crc_polynomial p, int n) {
    constexpr int longest = nr_systematic(1) * nr_most_lifting;
    auto known = std::find_if(tables_.begin(), tables_.end(), [&](const auto& t) { return t.first == p; });
    if (known == tables_.end()) {
      tables_.emplace_back(p, resident(crc_remainders(longest, p)));
      known = tables_.end() - 1;
    }
    return known->second.on(exec) + (longest - n);
  }

 private:
  std::vector<std::pair<crc_polynomial, resident<std::int32_t>>> tables_;
};

/// Sizes of arrays that follow each other in memory, each from a multiple of 64 bytes on.
class arena {
 public:
  template <class T>
  std::size_t add(std::size_t n) {
    const std::size_t begin = bytes_;
    bytes_ += rounded_up(n * sizeof(T), 64);
    return begin;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};
template <class T>
T* in(std::byte* memory, std::size_t place) {
  return reinterpret_cast<T*>(memory + place);
}

std::size_t value_bytes(llr_format f) {
  return f == llr_format::int8 ? 1 : f == llr_format::int16 ? 2 : sizeof(float);
}

}  // namespace

int nr_first_place(int base_graph, int lifting_size, int buffer, int rv) {
  check_range("base_graph", base_graph, 1, 2);
  check_nr_lifting_size(lifting_size);
  const nr_code_block block = whole_block(base_graph, lifting_size);
  const int n = block.standard_n();
  check_range("buffer", buffer, 0, n);
  check_range("rv", rv, 0, 3);
  return make_nr_circular_buffer(block, buffer == 0 ? n : buffer).first[as_size(rv)];
}

// ---- decoder

namespace {

struct decoder_key {
  int base_graph, z, systematic, rows, iterations, crc_bits, decimals;
  bool early_stop;
  crc_polynomial crc;  // that stops; of degree 0: none
  bool operator==(const decoder_key&) const = default;
};

/// How LLRs in steps of 2^-decimals become those of a decoder with these settings.
struct llr_unit {
  ldpc_decoder_config config;
  float llr_of_a_step;
  int decimals;  // 0 where they change nothing
};
llr_unit unit_of(const ldpc_decoder_config& c, int decimals) {
  llr_unit u{c, std::ldexp(1.f, -decimals), decimals};
  if (c.precision != ldpc_precision::int8 || c.llr_steps) return u;
  // A step is one of the decoder's, of which an LLR of 1 has 64 at most. Only an offset is counted in LLRs.
  if (c.algorithm != ldpc_algorithm::offset_min_sum) u.decimals = 0;
  const int shift = std::min(u.decimals, 6);
  u.llr_of_a_step = std::ldexp(1.f, -shift);
  u.config.llr_steps = std::ldexp(1.f, shift);
  const auto in_unit = [&](auto offset) {
    return std::min(std::ldexp(offset, u.decimals - shift), decltype(offset)(8));
  };
  if (c.offsets.empty()) u.config.offset = in_unit(c.offset);
  for (double& offset : u.config.offsets) offset = in_unit(offset);
  return u;
}

struct decode_plan {
  plan_of_shape shape;
  std::size_t harq_in = 0, harq_out = 0;  // LLRs that say something
  std::size_t harq_length = 0;            // of the output
  int rows = nr_core_rows, kept = 0;
};
decode_plan checked_plan(const ldpc_decode_block& b) {
  decode_plan p;
  p.shape = checked(b.shape);
  if (b.llr.format != llr_format::int8 && b.llr.format != llr_format::int16 &&
      b.llr.format != llr_format::float32)
    throw argument_error("llr.format", std::to_string(static_cast<int>(b.llr.format)),
                         "int8, int16 or float32");
  check_range("llr.decimals", b.llr.decimals, 0, 7);
  const std::size_t sent = as_size(b.shape.sent_bits);
  if (b.llr.data == nullptr) throw shape_error("llr", "null", "data");
  if (b.llr.count != sent)
    throw shape_error("llr", std::to_string(b.llr.count) + " LLRs",
                      std::to_string(sent) + ", as many as sent_bits");
  check_range("iterations", b.iterations, 1, 1000);
  const int payload = payload_of(p.shape.k, b.crc);
  if (b.drop_crc && !b.crc) throw argument_error("drop_crc", "true", "false without a CRC");
  p.kept = b.drop_crc ? payload : p.shape.k;
  check_length("bits", b.bits.data, b.bits.bytes, bytes_of_bits(p.kept), " bytes");
  check_range("harq", static_cast<int>(b.harq), 0, 1);
  if (b.harq_in == nullptr && b.harq_in_length != 0)
    throw shape_error("harq_in", "null", "data for harq_in_length");
  const std::size_t length = as_size(p.shape.ring.length), given = std::min(b.harq_in_length, length);
  const std::size_t value = harq_value_bytes(b.harq);
  p.harq_in = (trimmed(b.harq_in, given * value) + value - 1) / value;
  p.harq_out = std::max(p.harq_in, as_size(p.shape.reach()));
  p.harq_length = std::max(given, p.harq_out);
  if (b.harq_out != nullptr) check_length("harq_out", b.harq_out, b.harq_out_length, p.harq_length, " LLRs");
  p.rows = p.shape.rows(b.shape.lifting_size, static_cast<int>(p.harq_out));
  return p;
}

}  // namespace

struct ldpc_block_decoder::state {
  struct coder {
    ldpc_decoder decoder;
    float llr_of_a_step;
  };
  using cache = coder_cache<decoder_key, coder>;
  /// Of a block that is decoded.
  struct placed {
    std::size_t number;  // in the batch
    decode_plan plan;
    cache::entry* group;
    std::size_t llr, harq_in, bits, harq_out;  // places in memory
  };

  ldpc_decoder_config config;
  cache coders;
  crc_tables crcs;
  batch_memory memory;
  executor* exec = nullptr;  // of the batch under way
  std::uint64_t batch = 0;
  std::vector<ldpc_decode_block> blocks;
  std::vector<placed> valid;
  std::vector<cache::entry*> groups;
  std::vector<std::array<std::size_t, 4>> work;  // of a group: rows of LLRs, bits, iterations, status
  std::size_t outcomes = 0;

  cache::entry& group_of(const ldpc_decode_block& b, const decode_plan& p) {
    const llr_unit unit = unit_of(config, b.llr.decimals);
    const bool stops = b.early_stop && b.crc;
    const decoder_key key{b.shape.base_graph,
                          b.shape.lifting_size,
                          p.shape.systematic,
                          p.rows,
                          b.iterations,
                          stops ? p.shape.k : 0,
                          unit.decimals,
                          b.early_stop,
                          stops ? *b.crc : crc_polynomial{0, 0}};
    return coders.of(key, batch, [&] {
      ldpc_decoder_config c = unit.config;
      c.iterations = b.iterations;
      c.early_stop = !b.early_stop ? ldpc_early_stop::none
                     : stops       ? ldpc_early_stop::crc
                                   : ldpc_early_stop::syndrome;
      return coder{ldpc_decoder(nr_ldpc(key.base_graph, key.z, key.rows, key.systematic), c,
                                as_ldpc_crc(b.crc, p.shape.k), ldpc_erasures::none),
                   unit.llr_of_a_step};
    });
  }
};

ldpc_decoder_config ldpc_block_decoder::default_ldpc() {
  ldpc_decoder_config c;
  c.precision = ldpc_precision::int8;
  return c;
}

ldpc_block_decoder::ldpc_block_decoder(const ldpc_decoder_config& ldpc) : state_(std::make_unique<state>()) {
  state_->config = ldpc;
  ldpc_decoder_config c = ldpc;
  c.early_stop = ldpc_early_stop::syndrome;
  wb::check(nr_ldpc(1, 2), c);
}
ldpc_block_decoder::~ldpc_block_decoder() = default;
ldpc_block_decoder::ldpc_block_decoder(ldpc_block_decoder&&) noexcept = default;
ldpc_block_decoder& ldpc_block_decoder::operator=(ldpc_block_decoder&&) noexcept = default;

void ldpc_block_decoder::check(const ldpc_decode_block& block) { checked_plan(block); }

void ldpc_block_decoder::start(executor& exec, std::span<const ldpc_decode_block> blocks) {
  state& s = held(state_);
  begin_batch(s.exec);
  s.batch++;
  s.blocks.assign(blocks.begin(), blocks.end());
  s.valid.clear();
  s.groups.clear();
  s.work.clear();
  s.memory.begin(exec);
  const auto is_copied =
      [&](const ldpc_decode_block& b) {  // also values that lie on no multiple of their size
        return exec.is_device() ||
               reinterpret_cast<std::uintptr_t>(b.llr.data) % value_bytes(b.llr.format) != 0 ||
               reinterpret_cast<std::uintptr_t>(b.harq_in) % harq_value_bytes(b.harq) != 0;
      };

  // Where everything is.
  arena input, output, work;
  for (std::size_t i = 0; i < blocks.size(); i++) {
    state::placed v{i, {}, nullptr, 0, 0, 0, 0};
    try {
      v.plan = checked_plan(blocks[i]);
    } catch (const argument_error&) {
      continue;
    }
    v.group = &s.group_of(blocks[i], v.plan);
    if (v.group->blocks++ == 0) s.groups.push_back(v.group);
    s.valid.push_back(v);
  }
  const std::size_t received = input.add<ldpc_block_received>(s.valid.size()),
                    decided = input.add<ldpc_block_decided>(s.valid.size());
  s.outcomes = output.add<ldpc_block_outcome>(s.valid.size());
  const std::size_t tables = input.bytes();
  for (state::placed& v : s.valid) {
    const ldpc_decode_block& b = blocks[v.number];
    if (is_copied(b)) {
      v.llr = input.add<std::byte>(b.llr.count * value_bytes(b.llr.format));
      v.harq_in = input.add<std::byte>(v.plan.harq_in * harq_value_bytes(b.harq));
    }
    v.bits = output.add<std::uint8_t>(bytes_of_bits(v.plan.kept));
    if (b.harq_out != nullptr) v.harq_out = output.add<std::byte>(v.plan.harq_out * harq_value_bytes(b.harq));
  }
  const auto row_of = [](const state::coder& c) { return rounded_up(as_size(c.decoder.code().n()), 16); };
  const auto bits_of = [](const state::coder& c) { return rounded_up(as_size(c.decoder.code().k()), 64); };
  for (std::size_t i = 0; i < s.groups.size(); i++) {
    state::cache::entry& g = *s.groups[i];
    g.first = i;
    s.work.push_back({work.add<float>(g.blocks * row_of(g.coder)),
                      work.add<std::uint8_t>(g.blocks * bits_of(g.coder)), work.add<std::int32_t>(g.blocks),
                      work.add<std::uint8_t>(g.blocks)});
  }
  s.memory.reserve(exec, input.bytes(), output.bytes(), work.bytes());

  queue_batch(exec, s.exec, [&] {
    if (s.valid.empty()) return;
    // The tables of the ops, and the inputs where the executor cannot read the caller's memory. A device gets
    // some of these while others are still copied.
    std::byte* const from = s.memory.host_input(exec);
    int longest = 0;
    std::size_t copied = tables, uploaded = tables;
    double in_bytes = 0, out_bytes = 0;
    for (std::size_t i = 0; i < s.valid.size(); i++) {
      state::placed& v = s.valid[i];
      const ldpc_decode_block& b = blocks[v.number];
      const ldpc_block_ring& ring = v.plan.shape.ring;
      const state::coder& c = v.group->coder;
      const auto& w = s.work[v.group->first];
      const std::size_t row = v.group->placed++;
      ldpc_block_received r;
      r.ring = ring;
      r.format = b.llr.format;
      r.negative = b.llr.negative;
      r.steps = std::ldexp(1.f, b.llr.decimals);
      r.llr_of_a_step = c.llr_of_a_step;
      r.llr = b.llr.data;
      r.harq = b.harq;
      r.harq_in = b.harq_in;
      if (is_copied(b)) {
        std::memcpy(from + v.llr, b.llr.data, b.llr.count * value_bytes(b.llr.format));
        if (v.plan.harq_in != 0)
          std::memcpy(from + v.harq_in, b.harq_in, v.plan.harq_in * harq_value_bytes(b.harq));
        copied = v.harq_in + v.plan.harq_in * harq_value_bytes(b.harq);
        r.llr = s.memory.input() + v.llr;
        r.harq_in = s.memory.input() + v.harq_in;
      }
      r.harq_in_length = static_cast<std::int32_t>(v.plan.harq_in);
      if (b.harq_out != nullptr) {
        r.harq_out = s.memory.output() + v.harq_out;
        r.harq_out_length = static_cast<std::int32_t>(v.plan.harq_out);
      }
      r.n = c.decoder.code().n();
      r.row = in<float>(s.memory.work(), w[0]) + row * row_of(c);
      in<ldpc_block_received>(from, received)[i] = r;
      longest = std::max(longest, r.n);
      in_bytes += static_cast<double>(b.llr.count * value_bytes(b.llr.format)) + 4.0 * r.n;

      ldpc_block_decided d;
      d.bits = in<std::uint8_t>(s.memory.work(), w[1]) + row * bits_of(c);
      d.k = v.plan.shape.k;
      d.kept = v.plan.kept;
      if (b.crc) d.crc_weights = s.crcs.on(exec, *b.crc, d.k);
      d.out = in<std::uint8_t>(s.memory.output(), v.bits);
      d.iterations = in<std::int32_t>(s.memory.work(), w[2]) + row;
      d.status = in<std::uint8_t>(s.memory.work(), w[3]) + row;
      d.outcome = in<ldpc_block_outcome>(s.memory.output(), s.outcomes) + i;
      in<ldpc_block_decided>(from, decided)[i] = d;
      out_bytes += d.k * (b.crc ? 5.0 : 1.0);
      if (copied - uploaded >= upload_bytes) {
        s.memory.upload(exec, uploaded, copied);
        uploaded = copied;
      }
    }
    const auto n = static_cast<double>(s.valid.size());
    s.memory.upload(exec, uploaded, copied);
    s.memory.upload(exec, 0, tables);
    ldpc_block_input_args a;
    a.blocks = in<ldpc_block_received>(s.memory.input(), received);
    a.piece = exec.is_device() ? 256 : 4096;
    a.pieces = (longest + a.piece - 1) / a.piece;
    a.mean_bytes = in_bytes / n / a.pieces;
    exec.run(ldpc_block_input_kernels(), &a, s.valid.size() * as_size(a.pieces));
    for (std::size_t i = 0; i < s.groups.size(); i++) {
      const state::cache::entry& g = *s.groups[i];
      const ldpc_decoder& decoder = g.coder.decoder;
      const auto& w = s.work[i];
      const auto k = as_size(decoder.code().k()), codeword = as_size(decoder.code().n());
      const view<const float> rows{in<const float>(s.memory.work(), w[0]), codeword, g.blocks, 1,
                                   row_of(g.coder)};
      decoder.run(exec, rows,
                  {.bits = {in<std::uint8_t>(s.memory.work(), w[1]), k, g.blocks, 1, bits_of(g.coder)},
                   .iterations = make_view(in<std::int32_t>(s.memory.work(), w[2]), g.blocks),
                   .status = make_view(in<std::uint8_t>(s.memory.work(), w[3]), g.blocks)});
    }
    const ldpc_block_output_args o{in<ldpc_block_decided>(s.memory.input(), decided), out_bytes / n};
    exec.run(ldpc_block_output_kernels(), &o, s.valid.size());
    s.memory.download(exec);
  });
}

bool ldpc_block_decoder::done() const { return is_done(held(state_).exec); }

void ldpc_block_decoder::finish(std::span<block_result> results) {
  state& s = held(state_);
  const executor& exec = end_batch(s.exec, results.size(), s.blocks.size());
  std::fill(results.begin(), results.end(), block_result{.status = block_refused});
  const std::byte* const from = s.memory.host_output(exec);
  for (std::size_t i = 0; i < s.valid.size(); i++) {
    const state::placed& v = s.valid[i];
    const ldpc_decode_block& b = s.blocks[v.number];
    const auto& outcome = reinterpret_cast<const ldpc_block_outcome*>(from + s.outcomes)[i];
    const std::size_t bytes = bytes_of_bits(v.plan.kept);
    std::memcpy(b.bits.data, from + v.bits, bytes);
    block_result& r = results[v.number];
    r.status = outcome.status;
    r.crc_passed = outcome.crc_passed;
    r.iterations = static_cast<std::uint16_t>(outcome.iterations);
    r.bytes = static_cast<std::uint32_t>(bytes);
    if (b.harq_out == nullptr) continue;
    const std::size_t value = harq_value_bytes(b.harq);
    std::memcpy(b.harq_out, from + v.harq_out, v.plan.harq_out * value);
    std::memset(static_cast<std::byte*>(b.harq_out) + v.plan.harq_out * value, 0,
                (v.plan.harq_length - v.plan.harq_out) * value);
    r.harq_length = static_cast<std::uint32_t>(v.plan.harq_length);
  }
}

// ---- encoder

namespace {

struct encoder_key {
  int base_graph, z, systematic, rows;
  bool operator==(const encoder_key&) const = default;
};
struct encode_plan {
  plan_of_shape shape;
  int payload = 0, rows = nr_core_rows;
};
encode_plan checked_plan(const ldpc_encode_block& b) {
  encode_plan p;
  p.shape = checked(b.shape);
  p.payload = payload_of(p.shape.k, b.crc);
  check_length("bits", b.bits.data, b.bits.bytes, bytes_of_bits(p.payload), " bytes");
  check_length("out", b.out.data, b.out.bytes, bytes_of_bits(b.shape.sent_bits), " bytes");
  p.rows = p.shape.rows(b.shape.lifting_size, p.shape.reach());
  return p;
}

}  // namespace

struct ldpc_block_encoder::state {
  using cache = coder_cache<encoder_key, ldpc_encoder>;
  struct placed {
    std::size_t number;
    encode_plan plan;
    cache::entry* group;
    std::size_t bits, out;
  };

  cache coders;
  crc_tables crcs;
  batch_memory memory;
  executor* exec = nullptr;
  std::uint64_t batch = 0;
  std::vector<ldpc_encode_block> blocks;
  std::vector<placed> valid;
};

ldpc_block_encoder::ldpc_block_encoder() : state_(std::make_unique<state>()) {}
ldpc_block_encoder::~ldpc_block_encoder() = default;
ldpc_block_encoder::ldpc_block_encoder(ldpc_block_encoder&&) noexcept = default;
ldpc_block_encoder& ldpc_block_encoder::operator=(ldpc_block_encoder&&) noexcept = default;

void ldpc_block_encoder::check(const ldpc_encode_block& block) { checked_plan(block); }

void ldpc_block_encoder::start(executor& exec, std::span<const ldpc_encode_block> blocks) {
  state& s = held(state_);
  begin_batch(s.exec);
  s.batch++;
  s.blocks.assign(blocks.begin(), blocks.end());
  s.valid.clear();
  s.memory.begin(exec);
  const bool copies = exec.is_device();

  arena input, output;
  for (std::size_t i = 0; i < blocks.size(); i++) {
    state::placed v{i, {}, nullptr, 0, 0};
    try {
      v.plan = checked_plan(blocks[i]);
    } catch (const argument_error&) {
      continue;
    }
    const ldpc_block_shape& shape = blocks[i].shape;
    const encoder_key key{shape.base_graph, shape.lifting_size, v.plan.shape.systematic, v.plan.rows};
    v.group = &s.coders.of(
        key, s.batch, [&] { return ldpc_encoder(nr_ldpc(key.base_graph, key.z, key.rows, key.systematic)); });
    s.valid.push_back(v);
  }
  const std::size_t table = input.add<ldpc_block_sent>(s.valid.size());
  for (state::placed& v : s.valid) {
    if (copies) v.bits = input.add<std::uint8_t>(bytes_of_bits(v.plan.payload));
    v.out = output.add<std::uint8_t>(bytes_of_bits(v.plan.shape.ring.sent) + ldpc_block_spare);
  }
  s.memory.reserve(exec, input.bytes(), output.bytes(), 0);

  std::byte* const from = s.memory.host_input(exec);
  ldpc_block_encode_args a;
  for (std::size_t i = 0; i < s.valid.size(); i++) {
    state::placed& v = s.valid[i];
    const ldpc_encode_block& b = blocks[v.number];
    ldpc_block_sent e;
    e.ring = v.plan.shape.ring;
    e.bits = b.bits.data;
    if (copies) {
      std::memcpy(from + v.bits, b.bits.data, bytes_of_bits(v.plan.payload));
      e.bits = in<std::uint8_t>(s.memory.input(), v.bits);
    }
    e.payload = v.plan.payload;
    if (b.crc) {
      e.crc_degree = b.crc->degree;
      e.crc_weights = s.crcs.on(exec, *b.crc, v.plan.shape.k);
    }
    e.z = b.shape.lifting_size;
    e.stride = ldpc_block_stride(e.z);
    e.n = v.group->coder.n();
    e.tables = v.group->coder.tables_on(exec);
    e.out = in<std::uint8_t>(s.memory.output(), v.out);
    in<ldpc_block_sent>(from, table)[i] = e;
    // Bits of the last byte of the payload may be behind the codeword.
    a.word_bytes = std::max(a.word_bytes, static_cast<int>(rounded_up(as_size(e.n + 8), 64)));
    a.sum_bytes = std::max(a.sum_bytes, e.tables.blocks * e.stride);
    if (copies) a.table_bytes = std::max(a.table_bytes, ldpc_block_table_bytes(e.tables));
    a.mean_bytes += (e.n + e.ring.sent) / static_cast<double>(s.valid.size());
  }
  queue_batch(exec, s.exec, [&] {
    if (s.valid.empty()) return;
    s.memory.upload(exec);
    a.blocks = in<ldpc_block_sent>(s.memory.input(), table);
    exec.run(ldpc_block_encode_kernels(), &a, s.valid.size());
    s.memory.download(exec);
  });
}

bool ldpc_block_encoder::done() const { return is_done(held(state_).exec); }

void ldpc_block_encoder::finish(std::span<block_result> results) {
  state& s = held(state_);
  const executor& exec = end_batch(s.exec, results.size(), s.blocks.size());
  std::fill(results.begin(), results.end(), block_result{.status = block_refused});
  const std::byte* const from = s.memory.host_output(exec);
  for (const state::placed& v : s.valid) {
    const std::size_t bytes = bytes_of_bits(v.plan.shape.ring.sent);
    std::memcpy(s.blocks[v.number].out.data, from + v.out, bytes);
    results[v.number].status = 0;
    results[v.number].bytes = static_cast<std::uint32_t>(bytes);
  }
}

}  // namespace wb
