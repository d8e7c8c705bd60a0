#include <warpband/fec/turbo/turbo.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/fec/lte/qpp.hpp>

namespace wb {

WB_DECLARE_KERNEL(turbo_decode)
WB_DECLARE_KERNEL(turbo_decode_coded)
WB_DECLARE_KERNEL(turbo_decode_table)
WB_DECLARE_KERNEL(turbo_decode_bf16)
WB_DECLARE_KERNEL(turbo_decode_i16)
WB_DECLARE_KERNEL(turbo_encode)

namespace {

/// Of an automatic scale (llr_scale).
constexpr float turbo_fineness = 18.f;

void check_permutation(const std::vector<std::int32_t>& permutation) {
  const std::size_t k = permutation.size();
  if (k < 40 || k > 65536) throw argument_error("permutation.size()", std::to_string(k), "40 to 65536");
  std::vector<bool> seen(k);
  for (std::int32_t p : permutation) {
    if (p < 0 || static_cast<std::size_t>(p) >= k || seen[static_cast<std::size_t>(p)])
      throw argument_error("permutation", "one with " + std::to_string(p) + " out of place",
                           "every index 0.." + std::to_string(k - 1) + " once");
    seen[static_cast<std::size_t>(p)] = true;
  }
}

/// What the automatic choice wants, in steps.
struct windows_wanted {
  int overlap, window;
};

/// A warm-up needs about five parity bits of its encoder. Where all systematic bits are received, a step has
/// (1 / code_rate - 1) / 2 of them. docs/lte.md has what this loses. A window is a third longer than its
/// overlap or more, so that warm-ups stay below 3/4 of a window's steps. `least` holds up to rate 1/2. An
/// overlap is a multiple of `unit`: 3/8 of one are rounded down, so that rates near 1/2 keep their 8 steps.
windows_wanted wanted(const turbo_decoder_config& c, windows_wanted least, int unit) {
  const float parity = (1.f / c.code_rate - 1.f) / 2.f, k = static_cast<float>(c.k);
  const float steps = parity * k > 5.f ? 5.f / parity : k;
  const int units = static_cast<int>(steps / static_cast<float>(unit) + 0.625f);
  const int overlap = std::max(least.overlap, unit * units);
  return {overlap, std::max(least.window, (4 * overlap + 2) / 3)};
}

/// What precisions bfloat16 and int16 take of the settings, windows and overlap chosen.
void check_windows(turbo_decoder_config& c) {
  const bool int16 = c.precision == turbo_precision::int16;
  const std::string with = int16 ? " with precision int16" : " with precision bfloat16";
  if (int16 && c.algorithm == map_algorithm::log_map)
    throw argument_error("algorithm", "\"log-map\"", "\"max-log-map\"" + with);
  if (c.algorithm == map_algorithm::log_map_table)
    throw argument_error("algorithm", "\"log-map-table\"",
                         (int16 ? "\"max-log-map\"" : "\"log-map\" or \"max-log-map\"") + with);
  if (c.early_stop == turbo_early_stop::sign_agreement)
    throw argument_error("early_stop", "\"sign-agreement\"", "\"none\" or \"crc\"" + with);
  if (int16 && 8 * c.extrinsic_scale != std::floor(8 * c.extrinsic_scale))
    throw argument_error("extrinsic_scale", as_message(c.extrinsic_scale), "a multiple of 1/8" + with);
  const setting_of<turbo_decoder_config>& steps = *find_setting(turbo_decoder_settings(), "llr_steps");
  steps.set(c, steps.get(c));  // of 8-bit LLRs
  if (c.k > 32768) throw argument_error("k", std::to_string(c.k), "40 to 32768" + with);
  // Without an overlap 64 windows of k = 6144 lose 0.11 dB at FER 1e-2, with 8 steps 0.03 (docs/wu2010.md).
  const windows_wanted want = wanted(c, {.overlap = 8, .window = 64}, 8);
  int windows = c.windows.value_or(1);
  if (!c.windows)
    while (windows < 64 && c.k % (2 * windows) == 0 && c.k / (2 * windows) >= want.window) windows *= 2;
  if (windows > 128 || (windows & (windows - 1)) != 0 || c.k % windows != 0 || c.k / windows < 8)
    throw argument_error("windows", std::to_string(windows),
                         "a power of two up to 128 that divides k = " + std::to_string(c.k) +
                             " into windows of 8 steps or more, or absent," + with);
  const int longest = windows == 1 ? 0 : (c.k / windows - 1) / 8 * 8;
  const int overlap = c.overlap.value_or(std::min(want.overlap, longest));
  if (overlap % 8 != 0 || (overlap > longest && windows > 1))
    throw argument_error("overlap", std::to_string(overlap),
                         "a multiple of 8 from 0 to " + std::to_string(longest) + ", or absent," + with);
  c.windows = windows, c.overlap = windows == 1 ? 0 : overlap;
}

turbo_decoder_config checked(turbo_decoder_config c) {
  check_range("k", c.k, 40, 65536);
  check_settings(turbo_decoder_settings(), c);
  turbo_code_rate_setting().set(c, double{c.code_rate});
  const bool side_by_side = c.precision != turbo_precision::float32;
  if (side_by_side) check_windows(c);
  // Short windows keep a GPU busy; with this overlap they lose 0.004 dB at rate 1/3 (docs/wu2010.md).
  const windows_wanted want = wanted(c, {.overlap = 24, .window = 32}, 1);
  const int windows = c.windows.value_or(std::max(1, c.k / want.window));
  if (windows > c.k / 8)
    throw argument_error("windows", std::to_string(windows),
                         "1 to k/8 = " + std::to_string(c.k / 8) + ", or absent");
  const int longest = windows == 1 ? 0 : c.k / windows - 1;
  const int overlap = c.overlap.value_or(std::min(want.overlap, longest));
  if (!side_by_side && overlap > longest && windows > 1)
    throw argument_error("overlap", std::to_string(overlap),
                         "0 to k/windows - 1 = " + std::to_string(longest) + ", or absent");
  c.windows = windows, c.overlap = windows == 1 ? 0 : overlap;
  if (c.algorithm != map_algorithm::max_log_map && c.extrinsic_scale != 1.f)
    throw argument_error("extrinsic_scale", as_message(c.extrinsic_scale), "1 with log-map, which is exact");
  check_range("least_iterations", c.least_iterations, 1, c.iterations);
  if (c.early_stop != turbo_early_stop::crc) return c;
  if (c.crc_degree >= c.k)
    throw argument_error("crc_degree", std::to_string(c.crc_degree), "less than k = " + std::to_string(c.k));
  check(crc_polynomial{c.crc_polynomial, c.crc_degree});
  return c;
}

}  // namespace

const std::vector<setting_of<turbo_decoder_config>>& turbo_decoder_settings() {
  using c = turbo_decoder_config;
  static const std::vector<setting_of<c>> settings{
      words<c, map_algorithm>(
          "algorithm", &c::algorithm,
          {{"log-map", map_algorithm::log_map},
           {"max-log-map", map_algorithm::max_log_map},
           {"log-map-table", map_algorithm::log_map_table}},
          "log-map is exact MAP decoding; max-log-map replaces every sum of probabilities by its largest "
          "term. log-map-table takes logarithms of sums from a table of 8 values, float32 only."),
      integer("iterations", &c::iterations, 1, 64, "Full iterations; with early_stop the most."),
      integer_or_auto("windows", &c::windows, 1, 65536 / 8,
                      "Windows of a codeword that are decoded in parallel, P. \"auto\": windows of about 32 "
                      "steps; with bfloat16 and int16 as many windows of at least 64 steps as possible, up "
                      "to 64. Above code rate 0.7 windows are longer: 4/3 of the overlap.",
                      "an integer from 1 to k/8"),
      integer_or_auto(
          "overlap", &c::overlap, 0, 65536,
          "How many steps outside a window its recursions start, in the neighbouring windows. 0: from the "
          "border metrics of the previous iteration alone. \"auto\": 24, with bfloat16 and int16 8, at a "
          "high code rate R 10 R / (1 - R), or what the windows allow. R is that of the first transmission.",
          "an integer from 0 to k/windows - 1"),
      number("extrinsic_scale", &c::extrinsic_scale, 0, 1,
             "Factor on extrinsic LLRs. 0.75 wins back most of what max-log-map loses; log-map takes 1 only.",
             true),
      words<c, turbo_early_stop>("early_stop", &c::early_stop,
                                 {{"none", turbo_early_stop::none},
                                  {"crc", turbo_early_stop::crc},
                                  {"sign-agreement", turbo_early_stop::sign_agreement}},
                                 "Iterating stops once the CRC of the codeword holds (crc), or once both "
                                 "constituent decoders agree on every bit (sign-agreement)."),
      words<c, turbo_precision>(
          "precision", &c::precision,
          {{"float32", turbo_precision::float32},
           {"bfloat16", turbo_precision::bfloat16},
           {"int16", turbo_precision::int16}},
          "bfloat16 stores what the two decoders pass to each other in 16 bits; int16 is max-log-map on "
          "8-bit channel LLRs. Both are several times faster. Their windows are a power of two up to 128, "
          "overlap a multiple of 8, early_stop \"none\" or \"crc\".")
          .left_out_by_default(),
      llr_steps_setting("llr_steps", &c::llr_steps,
                        "Channel LLRs are rounded to steps, this many for an LLR of 1, and limited to +-127 "
                        "steps.")
          .only_with("precision", {"int16"}),
  };
  return settings;
}

const setting_of<turbo_decoder_config>& turbo_code_rate_setting() {
  static const auto setting =
      number("code_rate", &turbo_decoder_config::code_rate, 0, 1,
             "Information bits over received LLRs, those that are not 0. Left out: that of the code's rate. "
             "Automatic windows and overlap need it where bits were punctured.",
             true);
  return setting;
}

struct turbo_decoder::windows_tables {
  struct of_lanes {
    turbo_lanes layout;
    resident<std::uint16_t> places;
    resident<std::int32_t> rows;
    resident<std::int16_t> from, to, crc_low, crc_high;
  };
  std::vector<std::int32_t> permutation, remainders;  // the latter with stop by CRC
  std::mutex mutex;
  std::map<int, of_lanes> made;
};

namespace {

/// A row of the windows whose bits, read at once, come from different rows of the windows. Or a row whose
/// bits of one vector, of any power of two of lanes, come from different vectors.
std::optional<int> contended_row(const std::vector<std::int32_t>& permutation, int windows) {
  const int W = static_cast<int>(permutation.size()) / windows;
  for (int vectors = windows; vectors >= 1; vectors /= 2)
    for (int j = 0; j < W; j++)
      for (int w = 0; w < windows; w++) {
        const int i = permutation[static_cast<std::size_t>(w * W + j)],
                  first = permutation[static_cast<std::size_t>(w % vectors * W + j)];
        if (i % W != first % W || i / W % vectors != first / W % vectors) return j;
      }
  return std::nullopt;
}

template <class Tables>
void make(Tables& t, const std::vector<std::int32_t>& permutation,
          const std::vector<std::int32_t>& remainders, int windows, int L) {
  const int W = static_cast<int>(permutation.size()) / windows;
  const int share = std::min(windows, L);  // lanes of a codeword
  turbo_lanes& layout = t.layout;
  layout.vectors = windows / share;
  layout.codewords = L / share;
  // A row of a GPU's shared memory ends two values on: columns lie in different banks as well.
  layout.stride = L > 1 ? layout.vectors * L : windows >= 32 ? windows + 2 : windows;
  const auto stride = static_cast<std::size_t>(layout.stride), lanes = static_cast<std::size_t>(L);
  std::vector<std::uint16_t> places;
  std::vector<std::int32_t> rows;
  std::vector<std::int16_t> from(lanes), to(lanes);  // one vector before and one behind the table
  std::vector<std::int16_t> low(remainders.empty() ? 0 : stride * static_cast<std::size_t>(W)),
      high(low.size());
  for (int j = 0; j < W; j++)
    for (int v = 0; v < layout.vectors; v++) {
      std::vector<std::int16_t> read(lanes), write(lanes);
      for (int l = 0; l < share; l++) {
        const auto place = static_cast<std::size_t>((v + layout.vectors * l) * W + j);
        const int i = permutation[place], step = i % W, window = i / W, lane = window / layout.vectors;
        if (l == 0) rows.push_back(step * layout.stride + window % layout.vectors * L);
        if (L == 1) places.push_back(static_cast<std::uint16_t>(step * layout.stride + window));
        for (int q = 0; q < layout.codewords; q++) {
          read[static_cast<std::size_t>(q * share + l)] = static_cast<std::int16_t>(q * share + lane);
          write[static_cast<std::size_t>(q * share + lane)] = static_cast<std::int16_t>(q * share + l);
          if (!remainders.empty()) {
            const auto r = static_cast<std::uint32_t>(remainders[place]);
            const auto lies = static_cast<std::size_t>(j * layout.stride + v * L + q * share + l);
            low[lies] = static_cast<std::int16_t>(r & 0xffffu);
            high[lies] = static_cast<std::int16_t>(r >> 16);
          }
        }
      }
      from.insert(from.end(), read.begin(), read.end());
      to.insert(to.end(), write.begin(), write.end());
    }
  from.resize(from.size() + lanes);
  to.resize(to.size() + lanes);
  t.places = resident(std::move(places));
  t.rows = resident(std::move(rows));
  t.from = resident(std::move(from));
  t.to = resident(std::move(to));
  t.crc_low = resident(std::move(low));
  t.crc_high = resident(std::move(high));
}

}  // namespace

turbo_decoder::turbo_decoder(const turbo_decoder_config& config)
    : turbo_decoder(config, qpp_permutation(qpp_for(config.k))) {}

turbo_decoder_config completed(const turbo_decoder_config& config) {
  (void)qpp_for(config.k);
  return checked(config);
}
turbo_decoder_config completed(const turbo_decoder_config& config,
                               const std::vector<std::int32_t>& permutation) {
  turbo_decoder_config c = checked(config);
  check_permutation(permutation);
  if (permutation.size() != static_cast<std::size_t>(c.k))
    throw argument_error("permutation.size()", std::to_string(permutation.size()),
                         "k = " + std::to_string(c.k));
  if (c.precision == turbo_precision::float32) return c;
  const std::optional<int> row = contended_row(permutation, *c.windows);
  if (!row) return c;
  if (config.windows)
    throw argument_error(
        "permutation",
        "one whose bits " + std::to_string(*row) + " of " + std::to_string(*c.windows) +
            " windows go to different rows",
        "a polynomial modulo k, as a QPP is, or windows = 1 or absent, with windows side by side");
  c = config;
  c.windows = 1;
  return checked(c);
}

turbo_decoder::turbo_decoder(const turbo_decoder_config& config, std::vector<std::int32_t> permutation)
    : config_(completed(config, permutation)),
      scale_(config_.llr_steps, turbo_fineness, static_cast<float>(config_.k)) {
  const int k = config_.k, windows = *config_.windows;
  if (config_.precision != turbo_precision::float32) {
    tables_ = std::make_shared<windows_tables>();
    tables_->permutation = std::move(permutation);
    if (config_.early_stop == turbo_early_stop::crc)
      tables_->remainders = crc_remainders(k, {config_.crc_polynomial, config_.crc_degree});
    return;
  }
  // An odd distance between windows spreads them over the banks of shared memory.
  pad_ = windows > 1 && k / windows % 2 == 0 ? 1 : 0;
  const auto start = [&](int w) { return w * k / windows; };
  const auto address = [&](int i) { return i + ((i + 1) * windows - 1) / k * pad_; };
  std::vector<std::int32_t> table(static_cast<std::size_t>((k + windows - 1) / windows * windows));
  for (int w = 0; w < windows; w++)
    for (int i = start(w); i < start(w + 1); i++)
      table[static_cast<std::size_t>((i - start(w)) * windows + w)] =
          address(permutation[static_cast<std::size_t>(i)]);
  interleaved_ = resident(std::move(table));
  if (config_.early_stop == turbo_early_stop::crc)
    crc_weights_ = resident(crc_remainders(k, {config_.crc_polynomial, config_.crc_degree}));
}

float turbo_decoder::least_llr() const noexcept {
  if (config_.precision == turbo_precision::int16) return config_.llr_steps ? 0.5f / *config_.llr_steps : 0.f;
  if (config_.algorithm != map_algorithm::log_map) return 0.f;
  // e^-L rounds to 1: in bfloat16, whose numbers below 1 are 2^-8 apart, and in float32.
  return config_.precision == turbo_precision::bfloat16 ? 0x1p-9f : 0x1p-25f;
}

void turbo_decoder::run_windows(executor& exec, turbo_windows_args& a, std::size_t items,
                                const turbo_decoder_output& out) const {
  const auto k = static_cast<std::size_t>(config_.k);
  const bool int16 = config_.precision == turbo_precision::int16;
  check_optional_shape("bits", out.bits, items, k);
  check_optional_shape("iterations", out.iterations, items, 1);
  check_optional_shape("status", out.status, items, 1);
  check_apart({{"bits", out.bits}, {"iterations", out.iterations}, {"status", out.status}});
  if (out.soft.data != nullptr || out.extrinsic.data != nullptr || out.coded_extrinsic.data != nullptr)
    throw argument_error(out.soft.data != nullptr        ? "soft"
                         : out.extrinsic.data != nullptr ? "extrinsic"
                                                         : "coded_extrinsic",
                         "an array", "none with precision bfloat16 or int16, which give decisions only");
  a.k = config_.k;
  a.windows = *config_.windows;
  a.overlap = *config_.overlap;
  a.iterations = config_.iterations;
  a.log_map = config_.algorithm == map_algorithm::log_map;
  a.scale = config_.extrinsic_scale;
  a.eighths = static_cast<int>(8 * config_.extrinsic_scale);
  a.stop_by_crc = config_.early_stop == turbo_early_stop::crc;
  a.step = 1.f / config_.llr_steps.value_or(8.f);
  a.least = least_llr();
  a.doubts_zeros = config_.doubts_zeros;
  a.least_iterations = config_.least_iterations;
  a.bits = out.bits;
  a.iterations_used = out.iterations;
  a.status = out.status;
  const kernel_set& kernels = int16 ? turbo_decode_i16_kernels() : turbo_decode_bf16_kernels();
  const kernel& build = exec.build_of(kernels);
  const bool on_cuda = &build == kernels.cuda;
  // Windows of several codewords fill a block of a GPU.
  a.groups = on_cuda ? std::max(1, std::min(64 / a.windows, 8192 / a.k)) : 1;
  const int lanes = on_cuda ? 1 : build.lanes;
  if (!tables_) refuse_moved_from();
  std::unique_lock lock(tables_->mutex);
  auto entry = tables_->made.find(lanes);
  if (entry == tables_->made.end()) {
    windows_tables::of_lanes fresh;
    make(fresh, tables_->permutation, tables_->remainders, a.windows, lanes);
    entry = tables_->made.emplace(lanes, std::move(fresh)).first;
  }
  const auto& t = entry->second;
  a.lanes = t.layout;
  if (lanes == 1) {
    a.lanes.places = t.places.on(exec);
  } else {
    a.lanes.rows = t.rows.on(exec);
    a.lanes.from = t.from.on(exec) + lanes;
    a.lanes.to = t.to.on(exec) + lanes;
  }
  if (a.stop_by_crc) {
    a.lanes.crc_low = t.crc_low.on(exec);
    a.lanes.crc_high = t.crc_high.on(exec);
  }
  lock.unlock();
  exec.run(kernels, &a, items);
}

void turbo_decoder::run(executor& exec, view<const std::int8_t> llr, const turbo_decoder_output& out) const {
  if (config_.precision == turbo_precision::float32)
    throw argument_error("llr", "8-bit integers", "float32 unless precision is bfloat16 or int16");
  check_shape("llr", llr, llr.items, 3 * (static_cast<std::size_t>(config_.k) + 4));
  turbo_windows_args a;
  a.llr8 = llr;
  run_windows(exec, a, llr.items, out);
}

void turbo_decoder::run(executor& exec, view<const float> llr, const turbo_decoder_output& out) const {
  const std::size_t k = static_cast<std::size_t>(config_.k), n = 3 * (k + 4), items = llr.items;
  check_shape("llr", llr, items, n);
  if (config_.precision != turbo_precision::float32) {
    turbo_windows_args a;
    a.llr = llr;
    if (config_.precision == turbo_precision::int16) a.quanta = scale_.of(exec, llr);
    return run_windows(exec, a, items, out);
  }
  check_optional_shape("bits", out.bits, items, k);
  check_optional_shape("soft", out.soft, items, k);
  check_optional_shape("extrinsic", out.extrinsic, items, k);
  check_optional_shape("coded_extrinsic", out.coded_extrinsic, items, n);
  check_optional_shape("iterations", out.iterations, items, 1);
  check_optional_shape("status", out.status, items, 1);
  check_apart({{"bits", out.bits},
               {"soft", out.soft},
               {"extrinsic", out.extrinsic},
               {"coded_extrinsic", out.coded_extrinsic},
               {"iterations", out.iterations},
               {"status", out.status}});
  turbo_decode_args a;
  a.k = config_.k;
  a.windows = *config_.windows;
  a.overlap = *config_.overlap;
  a.iterations = config_.iterations;
  a.pad = pad_;
  a.log_map = config_.algorithm == map_algorithm::log_map;
  a.by_table = config_.algorithm == map_algorithm::log_map_table;
  a.early_stop = config_.early_stop;
  a.scale = config_.extrinsic_scale;
  a.least = least_llr();
  a.doubts_zeros = config_.doubts_zeros;
  a.least_iterations = config_.least_iterations;
  a.llr = llr;
  a.bits = out.bits;
  a.soft = out.soft;
  a.extrinsic = out.extrinsic;
  a.coded = out.coded_extrinsic;
  a.iterations_used = out.iterations;
  a.status = out.status;
  a.interleaved = interleaved_.on(exec);
  if (a.early_stop == turbo_early_stop::crc) a.crc_weights = crc_weights_.on(exec);
  exec.run(a.by_table                ? turbo_decode_table_kernels()
           : a.coded.data != nullptr ? turbo_decode_coded_kernels()
                                     : turbo_decode_kernels(),
           &a, items);
}

turbo_encoder::turbo_encoder(int k) : turbo_encoder(qpp_permutation(qpp_for(k))) {}
turbo_encoder::turbo_encoder(std::vector<std::int32_t> permutation)
    : permutation_((check_permutation(permutation), std::move(permutation))) {}

void turbo_encoder::run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const {
  permutation_.check_held();
  const std::size_t n = static_cast<std::size_t>(k());
  check_shape("bits", bits, bits.items, n);
  check_shape("coded", coded, bits.items, std::max(coded.elements, 3 * (n + 4)));
  turbo_encode_args a;
  a.k = k();
  a.bits = bits;
  a.coded = coded;
  a.permutation = permutation_.on(exec);
  exec.run(turbo_encode_kernels(), &a, bits.items);
}

}  // namespace wb
