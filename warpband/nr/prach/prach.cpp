#include <warpband/nr/prach/prach.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/core/overlap.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/exec/take_part.hpp>
#include <warpband/nr/beta_law.hpp>
#include <warpband/nr/prach/prach_args.hpp>

namespace wb {

WB_DECLARE_KERNEL(prach_place)
WB_DECLARE_KERNEL(prach_repeat)
WB_DECLARE_KERNEL(prach_take)
WB_DECLARE_KERNEL(prach_combine)
WB_DECLARE_KERNEL(prach_multiply)
WB_DECLARE_KERNEL(prach_peaks)
WB_DECLARE_KERNEL(prach_decide)

namespace {

constexpr double prach_pi = std::numbers::pi;

/// TS 38.211 tables 6.3.3.1-1 and 6.3.3.1-2: lengths in samples at 30.72 MHz. Those of A1 to C2 are for 15
/// kHz.
struct format_row {
  const char* name;
  int length, repetitions, sequence, prefix;
};
constexpr format_row format_rows[] = {
    {"0", 839, 1, 24576, 3168}, {"1", 839, 2, 24576, 21024}, {"2", 839, 4, 24576, 4688},
    {"3", 839, 4, 6144, 3168},  {"A1", 139, 2, 2048, 288},   {"A2", 139, 4, 2048, 576},
    {"A3", 139, 6, 2048, 864},  {"B1", 139, 2, 2048, 216},   {"B2", 139, 4, 2048, 360},
    {"B3", 139, 6, 2048, 504},  {"B4", 139, 12, 2048, 936},  {"C0", 139, 1, 2048, 1240},
    {"C2", 139, 4, 2048, 2048}};
const format_row& row_of(prach_format f) { return format_rows[static_cast<int>(f)]; }
bool is_long(prach_format f) { return row_of(f).length == 839; }

/// Tables 6.3.3.1-5, -6 and -7, unrestricted: N_CS by zeroCorrelationZoneConfig.
constexpr int n_cs_of_1_25[16] = {0, 13, 15, 18, 22, 26, 32, 38, 46, 59, 76, 93, 119, 167, 279, 419};
constexpr int n_cs_of_5[16] = {0, 13, 26, 33, 38, 41, 49, 55, 64, 76, 93, 119, 139, 209, 279, 419};
constexpr int n_cs_of_short[16] = {0, 2, 4, 6, 8, 10, 12, 13, 15, 17, 19, 23, 27, 34, 46, 69};

/// Table 6.3.3.1-3, u of the even logical indices. An odd one has 839 less u of the one before.
constexpr std::int16_t long_roots[419] = {
    129, 140, 120, 210, 168, 84,  105, 93,  70,  60,  2,   1,   56,  112, 148, 80,  42,  40,  35,  73,  146,
    31,  28,  30,  27,  29,  24,  48,  68,  74,  178, 136, 86,  78,  43,  39,  20,  21,  95,  202, 190, 181,
    137, 125, 151, 217, 128, 142, 122, 203, 118, 110, 89,  103, 61,  55,  15,  14,  12,  23,  34,  37,  46,
    207, 179, 145, 130, 223, 228, 227, 132, 133, 143, 135, 161, 201, 173, 106, 83,  91,  66,  53,  10,  9,
    7,   8,   16,  47,  64,  57,  104, 101, 108, 208, 184, 197, 191, 121, 141, 149, 216, 218, 152, 144, 134,
    138, 199, 162, 176, 119, 158, 164, 174, 171, 170, 87,  169, 88,  107, 81,  82,  100, 98,  71,  59,  65,
    50,  49,  26,  17,  13,  6,   5,   33,  51,  75,  99,  96,  97,  166, 172, 175, 187, 163, 185, 200, 114,
    189, 115, 194, 195, 192, 182, 157, 156, 211, 154, 123, 139, 212, 153, 213, 215, 150, 225, 224, 221, 220,
    127, 147, 124, 193, 205, 206, 116, 160, 186, 167, 79,  85,  77,  92,  58,  62,  69,  54,  36,  32,  25,
    18,  11,  4,   3,   19,  22,  41,  38,  44,  52,  45,  63,  67,  72,  76,  94,  102, 90,  109, 165, 111,
    209, 204, 117, 188, 159, 198, 113, 183, 180, 177, 196, 155, 214, 126, 131, 219, 222, 226, 230, 232, 262,
    252, 418, 416, 413, 411, 376, 395, 283, 285, 379, 390, 363, 384, 388, 386, 361, 387, 360, 310, 354, 328,
    315, 337, 349, 335, 324, 323, 320, 334, 359, 295, 385, 292, 291, 381, 399, 380, 397, 369, 377, 410, 407,
    281, 414, 247, 277, 271, 272, 264, 259, 237, 239, 244, 243, 275, 278, 250, 246, 417, 248, 394, 393, 370,
    365, 300, 299, 364, 362, 298, 312, 313, 314, 353, 352, 343, 327, 350, 326, 319, 332, 333, 348, 347, 322,
    330, 338, 341, 340, 342, 301, 366, 401, 371, 408, 375, 249, 269, 238, 234, 257, 273, 255, 254, 245, 251,
    412, 372, 282, 403, 396, 392, 391, 382, 389, 294, 297, 311, 344, 345, 318, 331, 325, 321, 346, 339, 351,
    306, 289, 400, 378, 374, 415, 270, 241, 231, 260, 268, 276, 409, 398, 290, 304, 308, 358, 316, 293, 288,
    284, 368, 253, 256, 263, 242, 274, 402, 383, 357, 329, 317, 307, 286, 287, 266, 261, 236, 303, 356, 355,
    405, 404, 406, 235, 267, 302, 309, 265, 233, 367, 296, 336, 305, 373, 280, 279, 419, 240, 258, 229};

int root_of(int length, int logical) {
  const int pair = logical / 2, u = length == 839 ? long_roots[pair] : pair + 1;  // table 6.3.3.1-4
  return logical % 2 == 0 ? u : length - u;
}

/// 1 / u mod L, L prime.
int inverse_of(int u, int length) {
  for (int i = 1; i < length; i++)
    if (i * u % length == 1) return i;
  return 0;
}

/// x_u(n): the phase in whole parts of a turn.
std::complex<double> zadoff_chu(int u, int n, int length) {
  const std::int64_t phase = static_cast<std::int64_t>(n) * (n + 1) / 2 % length * u % length;
  return std::polar(1., -2 * prach_pi * static_cast<double>(phase) / length);
}

/// y_u(0..L - 1) / sqrt(L).
std::vector<std::complex<double>> spectrum_of(int u, int length) {
  std::complex<double> constant = 0;
  for (int n = 0; n < length; n++) constant += zadoff_chu(u, n, length);
  constant /= std::sqrt(static_cast<double>(length));
  const int inverse = inverse_of(u, length);
  std::vector<std::complex<double>> y;
  for (int k = 0; k < length; k++)
    y.push_back(constant * std::conj(zadoff_chu(u, k * inverse % length, length)));
  return y;
}

cx_pair pair_of(std::complex<double> z) {
  return {static_cast<float>(z.real()), static_cast<float>(z.imag())};
}

/// Samples at 30.72 MHz, times 8 for 120 kHz: prefix of the first sequence.
int prefix_in_eighths(const prach_config& c) {
  const format_row& f = row_of(c.format);
  if (is_long(c.format)) return 8 * f.prefix;
  const int factor = c.spacing_khz / 15, half_subframe = 8 * 15360;
  int start = 0;
  for (int s = 0; s < c.start_symbol; s++) start += 8 * 2192 / factor + (s % (7 * factor) == 0 ? 8 * 16 : 0);
  const int end = start + 8 * (f.repetitions * f.sequence + f.prefix) / factor;
  int longer = 0;
  for (int instant = 0; instant < end; instant += half_subframe) longer += instant >= start;
  return 8 * f.prefix / factor + longer * 8 * 16;
}

bool has_fft(int size) {
  try {
    check_fft_size(size);
    return true;
  } catch (const argument_error&) {
    return false;
  }
}

/// The largest FFT that a sequence is a whole number of.
int part_size(int sequence, int length) {
  for (int count = 1; sequence / count >= length; count++)
    if (sequence % count == 0 && has_fft(sequence / count)) return sequence / count;
  return 0;
}

prach_parts parts_of(const prach_shape& s) {
  prach_parts p;
  p.size = part_size(s.sequence_samples, s.length);
  p.count = s.sequence_samples / p.size;
  std::vector<cx_pair> twiddles;
  for (std::int64_t part = 0; part < p.count; part++)
    for (std::int64_t k = 0; k < s.length; k++)
      twiddles.push_back(pair_of(std::polar(
          1., 2 * prach_pi * static_cast<double>((k + s.first_subcarrier) * part % s.sequence_samples) /
                  s.sequence_samples)));
  p.twiddles = resident<cx_pair>(std::move(twiddles));
  return p;
}
int bin_of(int subcarrier, int size) { return (subcarrier % size + size) % size; }

}  // namespace

const std::vector<setting_of<prach_config>>& prach_settings() {
  using c = prach_config;
  static const std::vector<setting_of<c>> settings = [] {
    std::vector<std::pair<std::string, prach_format>> formats;
    for (int i = 0; i < static_cast<int>(std::size(format_rows)); i++)
      formats.emplace_back(format_rows[i].name, static_cast<prach_format>(i));
    return std::vector<setting_of<c>>{
        words("format", &c::format, formats,
              "Preamble format of 3GPP TS 38.211 tables 6.3.3.1-1 and 6.3.3.1-2."),
        one_of("spacing_khz", &c::spacing_khz, {15, 30, 60, 120},
               "Subcarrier spacing of formats A1 to C2 in kHz. Formats 0 to 2 have 1.25 kHz, format 3 has 5 "
               "kHz."),
        integer("root_sequence", &c::root_sequence, 0, 837,
                "Logical index of the first root sequence: 0 to 837, or 0 to 137 with A1 to C2."),
        integer("zero_correlation_zone", &c::zero_correlation_zone, 0, 15,
                "zeroCorrelationZoneConfig of the unrestricted set, which gives the cyclic shift N_CS."),
        number("sample_rate_hz", &c::sample_rate_hz, 1e5, 4e9,
               "Of the samples. Left out: 1536 samples a sequence, 256 with A1 to C2.", false,
               "a rate at which sequences and prefixes are whole samples"),
        integer(
            "first_subcarrier", &c::first_subcarrier, -4000000, 4000000,
            "Subcarrier of the first value, in subcarriers of the preamble from the centre of the samples. "
            "Left out: the preamble lies in the centre."),
        integer("start_symbol", &c::start_symbol, 0, 111,
                "Of A1 to C2: OFDM symbol of its subframe at which the preamble begins. The prefix is longer "
                "where a preamble touches 0 or 0.5 ms."),
        integer("antennas", &c::antennas, 1, 64, "Receive antennas."),
        number("max_cfo_hz", &c::max_cfo_hz, 0, 6e4,
               "Largest carrier frequency offset, at most half the subcarrier spacing. Repetitions are added "
               "as long as it turns them by at most a quarter turn."),
        number("false_alarm", &c::false_alarm, 1e-12, 0.1,
               "Bound of the probability that white noise alone gives a preamble in an occasion."),
        one_of("ta_spacing_khz", &c::ta_spacing_khz, {15, 30, 60, 120},
               "Subcarrier spacing in kHz of the uplink that timing_advance is for.")};
  }();
  return settings;
}

const std::vector<setting_of<prach_config>>& prach_generator_settings() {
  static const std::vector<setting_of<prach_config>> settings(prach_settings().begin(),
                                                              prach_settings().begin() + 7);
  return settings;
}

prach_shape shape_of(const prach_config& c) {
  check_settings(prach_settings(), c);
  const format_row& f = row_of(c.format);
  prach_shape s;
  s.length = f.length;
  s.repetitions = f.repetitions;
  s.spacing_hz = is_long(c.format) ? 30.72e6 / f.sequence : 1e3 * c.spacing_khz;
  const std::string with = " with format = \"" + std::string(f.name) + "\"";
  if (c.root_sequence >= f.length - 1)
    throw argument_error("root_sequence", std::to_string(c.root_sequence),
                         "0 to " + std::to_string(f.length - 2) + with);
  if (!is_long(c.format)) {
    const int symbols = 14 * c.spacing_khz / 15;
    if (c.start_symbol >= symbols)
      throw argument_error(
          "start_symbol", std::to_string(c.start_symbol),
          "0 to " + std::to_string(symbols - 1) + " with spacing_khz = " + std::to_string(c.spacing_khz));
  }
  if (c.max_cfo_hz > s.spacing_hz / 2)
    throw argument_error("max_cfo_hz", decimal(c.max_cfo_hz), "0 to " + decimal(s.spacing_hz / 2) + with);
  s.sample_rate_hz = c.sample_rate_hz.value_or((is_long(c.format) ? 1536 : 256) * s.spacing_hz);
  const double sequence = s.sample_rate_hz / s.spacing_hz,
               prefix = prefix_in_eighths(c) / 8. / 30.72e6 * s.sample_rate_hz;
  const auto is_whole = [](double x) { return std::abs(x - std::round(x)) < 1e-6; };
  if (!is_whole(sequence) || !is_whole(prefix) ||
      part_size(static_cast<int>(std::lround(sequence)), f.length) == 0)
    throw argument_error("sample_rate_hz", decimal(s.sample_rate_hz),
                         "a rate at which the prefix is whole samples, and a sequence is a multiple of a "
                         "product of 2, 3 and 5 from " +
                             std::to_string(f.length) + " to 4096" + with);
  s.sequence_samples = static_cast<int>(std::lround(sequence));
  s.prefix_samples = static_cast<int>(std::lround(prefix));
  s.first_subcarrier = c.first_subcarrier.value_or(-(f.length / 2));
  const int least = -(s.sequence_samples / 2), greatest = (s.sequence_samples + 1) / 2 - f.length;
  if (s.first_subcarrier < least || s.first_subcarrier > greatest)
    throw argument_error("first_subcarrier", std::to_string(s.first_subcarrier),
                         std::to_string(least) + " to " + std::to_string(greatest) +
                             " with sample_rate_hz = " + decimal(s.sample_rate_hz));
  const int* table = !is_long(c.format)             ? n_cs_of_short
                     : c.format == prach_format::f3 ? n_cs_of_5
                                                    : n_cs_of_1_25;
  s.n_cs = table[c.zero_correlation_zone];
  const int shifts = s.n_cs == 0 ? 1 : f.length / s.n_cs;
  for (int p = 0; p < prach_preambles; p++) {
    s.root.push_back(root_of(f.length, (c.root_sequence + p / shifts) % (f.length - 1)));
    s.shift.push_back(p % shifts * s.n_cs);
  }
  return s;
}

void check(const prach_config& config) { shape_of(config); }

int prach_first_subcarrier(const prach_config& c, int uplink_khz, int resource_blocks, int first_block) {
  const prach_shape s = shape_of(c);
  // Table 6.3.3.2-1: spacing of the preamble in units of 1.25 kHz, of PUSCH in kHz, blocks and kbar.
  struct raster {
    int spacing, uplink_khz, blocks, kbar;
  };
  constexpr raster places[] = {{1, 15, 6, 7},   {1, 30, 3, 1},   {1, 60, 2, 133}, {4, 15, 24, 12},
                               {4, 30, 12, 10}, {4, 60, 6, 7},   {12, 15, 12, 2}, {12, 30, 6, 2},
                               {12, 60, 3, 2},  {24, 15, 24, 2}, {24, 30, 12, 2}, {24, 60, 6, 2},
                               {48, 60, 12, 2}, {48, 120, 6, 2}, {96, 60, 24, 2}, {96, 120, 12, 2}};
  const int spacing = static_cast<int>(std::lround(s.spacing_hz / 1250));
  const auto* found = std::find_if(std::begin(places), std::end(places), [&](const raster& p) {
    return p.spacing == spacing && p.uplink_khz == uplink_khz;
  });
  if (found == std::end(places))
    throw argument_error(
        "uplink_khz", std::to_string(uplink_khz),
        "a spacing that table 6.3.3.2-1 has for a preamble of " + decimal(s.spacing_hz / 1e3) + " kHz");
  check_range("resource_blocks", resource_blocks, found->blocks, 275);
  check_range("first_block", first_block, 0, resource_blocks - found->blocks);
  return uplink_khz * 4 / 5 * 12 / spacing * (2 * first_block - resource_blocks) / 2 + found->kbar;
}

prach_generator::prach_generator(const prach_config& config)
    : config_(config),
      shape_(shape_of(config)),
      parts_(parts_of(shape_)),
      fft_(parts_.size, fft_direction::inverse) {
  std::vector<cx_pair> values;
  std::vector<std::complex<double>> y;
  for (int p = 0; p < prach_preambles; p++) {
    const int length = shape_.length;
    if (p == 0 || shape_.root[as_size(p)] != shape_.root[as_size(p - 1)])
      y = spectrum_of(shape_.root[as_size(p)], length);
    for (int k = 0; k < length; k++)
      values.push_back(
          pair_of(y[as_size(k)] *
                  std::polar(1., 2 * prach_pi * static_cast<double>(shape_.shift[as_size(p)] * k % length) /
                                     length)));
  }
  values_ = resident<cx_pair>(std::move(values));
}

std::vector<std::complex<float>> prach_generator::values(int preamble) const {
  check_range("preamble", preamble, 0, prach_preambles - 1);
  values_.check_held();
  const auto first = values_.host().begin() + static_cast<std::ptrdiff_t>(preamble) * shape_.length;
  std::vector<std::complex<float>> y;
  for (auto z = first; z != first + shape_.length; ++z) y.emplace_back(z->re, z->im);
  return y;
}

namespace {
/// Occasions of a pass, of so many values each: what lies between the steps stays in a CPU's caches, and
/// fills a device.
std::size_t prach_pass(const executor& exec, std::size_t values, std::size_t items) {
  const std::size_t bytes = exec.preferred_blocks() * (std::size_t{1} << 17);
  return std::clamp<std::size_t>(bytes / (sizeof(cx_pair) * std::max<std::size_t>(values, 1)), 1,
                                 std::max<std::size_t>(items, 1));
}
}  // namespace

void prach_generator::run(executor& exec, const std::vector<int>& preambles,
                          view<std::complex<float>> samples) const {
  for (const int p : preambles) check_range("preamble", p, 0, prach_preambles - 1);
  const std::size_t items = preambles.size(), n = as_size(shape_.sequence_samples),
                    count = as_size(parts_.count), size = as_size(parts_.size);
  check_shape("samples", samples, items, shape_.samples());
  const view<cx_pair> out = as_pairs(samples);
  if (items == 0) return;
  const std::size_t per_pass = prach_pass(exec, n, items);
  std::byte* memory =
      workspace_.on(exec, sizeof(std::int32_t) * items + 2 * sizeof(cx_pair) * per_pass * n + 192);
  auto* numbers = take_part<std::int32_t>(memory, items);
  auto* bins = take_part<cx_pair>(memory, per_pass * n);
  auto* sequence = take_part<cx_pair>(memory, per_pass * n);
  exec.upload(numbers, preambles.data(), sizeof(std::int32_t) * items);
  exec.sync();

  prach_place_args place;
  place.values = values_.on(exec);
  place.twiddles = parts_.twiddles.on(exec);
  place.length = shape_.length, place.size = parts_.size, place.parts = parts_.count;
  place.first_bin = bin_of(shape_.first_subcarrier, parts_.size);
  place.bins = bins;
  prach_repeat_args repeat;
  repeat.sequence = sequence;
  repeat.length = shape_.sequence_samples, repeat.prefix = shape_.prefix_samples;
  repeat.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(n)));
  for (std::size_t first = 0; first < items; first += per_pass) {
    const std::size_t batch = std::min(per_pass, items - first);
    place.preambles = numbers + first;
    exec.run(prach_place_kernels(), &place, batch * count);
    fft_.run(exec, batch, count, {bins, 1, size, n}, {sequence, count, 1, n});
    repeat.out = {out.data + first * out.item_stride, out.elements, batch, out.element_stride,
                  out.item_stride};
    exec.run(prach_repeat_kernels(), &repeat, batch);
  }
}

namespace {

/// The threshold of T: the union bound over `points` values, or Rice's rate over `samples` of a correlation.
double prach_threshold(int sums, int length, int windows, double points, double samples, double false_alarm) {
  const beta_law law(sums, static_cast<double>(sums) * (length - 1));
  const double range = static_cast<double>(sums) * length;
  const auto bound = [&](double t) {
    const double x = t / range, tail = std::exp(law.log_tail(x)),
                 crossings = std::exp(law.log_density(x)) / range * std::sqrt(prach_pi * t / 3);
    return std::min(points * tail, windows * tail + samples * crossings);
  };
  double least = sums, greatest = range * (1 - 1e-12);
  for (int i = 0; i < 200; i++) {
    const double middle = 0.5 * (least + greatest);
    (bound(middle) > false_alarm ? least : greatest) = middle;
  }
  return greatest;
}

}  // namespace

prach_detector::prach_detector(const prach_config& config)
    : config_(config),
      shape_(shape_of(config)),
      parts_(parts_of(shape_)),
      forward_(parts_.size, fft_direction::forward),
      inverse_(shape_.length == 839 ? 2048 : 512, fft_direction::inverse) {
  const int length = shape_.length, points = inverse_.size();
  for (int g = 1; g <= shape_.repetitions; g++)
    if (shape_.repetitions % g == 0 && g * config_.max_cfo_hz <= 0.25 * shape_.spacing_hz) coherent_ = g;

  // A window is N_CS, or the prefix where that is shorter.
  const double prefix = static_cast<double>(shape_.prefix_samples) / shape_.sequence_samples * length;
  const double width = std::min(shape_.n_cs == 0 ? double(length) : shape_.n_cs, prefix);
  std::vector<cx_pair> replicas;
  std::vector<std::int32_t> windows, of_root;
  roots_ = 0;
  double all_points = 0;
  for (int p = 0; p < prach_preambles; p++) {
    const int u = shape_.root[as_size(p)];
    if (p == 0 || u != shape_.root[as_size(p - 1)]) {
      if (p != 0) of_root.push_back(p);
      for (const std::complex<double> y : spectrum_of(u, length)) replicas.push_back(pair_of(y));
      of_root.insert(of_root.end(), {u, inverse_of(u, length), p});
      roots_++;
    }
    // Windows begin a point early, as noise may move the peak of delay 0 there, and end a point early. Those
    // side by side have no point in common.
    const int position = (length - shape_.shift[as_size(p)]) % length, first = position * points / length - 1,
              last = static_cast<int>(std::floor((position + width) * points / length)) - 1;
    windows.insert(windows.end(),
                   {roots_ - 1, (first + points) % points, std::min(last - first, points), position});
    all_points += std::min(last - first, points);
  }
  of_root.push_back(prach_preambles);
  windows.insert(windows.end(), of_root.begin(), of_root.end());
  replicas_ = resident<cx_pair>(std::move(replicas));
  windows_ = resident<std::int32_t>(std::move(windows));
  const int sums = config_.antennas * shape_.repetitions / coherent_;
  threshold_ = prach_threshold(sums, length, prach_preambles, all_points, prach_preambles * width,
                               config_.false_alarm);
}

void prach_detector::demodulate(executor& exec, view<const std::complex<float>> samples,
                                view<std::complex<float>> values) const {
  const std::size_t occasions = samples.items;
  check_shape("samples", samples, occasions, this->samples());
  check_shape("values", values, occasions, this->values());
  if (occasions == 0) return;
  const view<const cx_pair> in = as_pairs(samples);
  const view<cx_pair> out = as_pairs(values);
  const std::size_t rows = as_count(config_.antennas * shape_.repetitions),
                    n = as_size(shape_.sequence_samples), count = as_size(parts_.count),
                    size = as_size(parts_.size), step = in.element_stride,
                    per_pass = prach_pass(exec, rows * n, occasions);
  auto* bins = reinterpret_cast<cx_pair*>(samples_.on(exec, sizeof(cx_pair) * per_pass * rows * n));
  prach_take_args take;
  take.bins = bins;
  take.twiddles = parts_.twiddles.on(exec);
  take.length = shape_.length, take.size = parts_.size, take.parts = parts_.count;
  take.first_bin = bin_of(shape_.first_subcarrier, parts_.size);
  take.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(n)));
  for (std::size_t first = 0; first < occasions; first += per_pass) {
    const std::size_t batch = std::min(per_pass, occasions - first);
    const cx_pair* from = in.data + first * in.item_stride;
    for (std::size_t row = 0; row < rows; row++) {
      const std::size_t antenna = row / as_size(shape_.repetitions),
                        repetition = row % as_size(shape_.repetitions),
                        begin = antenna * shape_.samples() + as_size(shape_.prefix_samples) + repetition * n;
      forward_.run(exec, batch, count, {from + begin * step, count * step, step, in.item_stride},
                   {bins + row * batch * n, 1, size, n});
    }
    take.occasions = batch;
    take.out = {out.data + first * out.item_stride, out.elements, batch, out.element_stride, out.item_stride};
    exec.run(prach_take_kernels(), &take, rows * batch);
  }
}

void prach_detector::run(executor& exec, view<const std::complex<float>> values,
                         const prach_output& o) const {
  const std::size_t occasions = values.items, p = prach_preambles;
  check_shape("values", values, occasions, this->values());
  check_optional_shape("detected", o.detected, occasions, p);
  check_optional_shape("delay_us", o.delay_us, occasions, p);
  check_optional_shape("timing_advance", o.timing_advance, occasions, p);
  check_optional_shape("snr_db", o.snr_db, occasions, p);
  check_optional_shape("metric", o.metric, occasions, p);
  check_optional_shape("status", o.status, occasions, 1);
  check_apart({{"detected", o.detected},
               {"delay_us", o.delay_us},
               {"timing_advance", o.timing_advance},
               {"snr_db", o.snr_db},
               {"metric", o.metric},
               {"status", o.status}});
  if (occasions == 0) return;
  const view<const cx_pair> in = as_pairs(values);
  const std::size_t groups = as_size(shape_.repetitions / coherent_),
                    rows = as_count(config_.antennas) * groups, length = as_size(shape_.length),
                    points = as_size(inverse_.size()), roots = as_size(roots_),
                    per_pass = prach_pass(exec, rows * (length + roots * points), occasions);
  std::byte* memory =
      workspace_.on(exec, per_pass * (rows * (sizeof(cx_pair) * (length + roots * points) + 8) +
                                      p * sizeof(prach_peaks_args::peak)) +
                              5 * 64);
  prach_combine_args combine;
  combine.length = shape_.length, combine.coherent = coherent_, combine.rows = rows;
  combine.sums = take_part<cx_pair>(memory, per_pass * rows * length);
  combine.energy = take_part<float>(memory, per_pass * rows);
  combine.bad = take_part<std::int32_t>(memory, per_pass * rows);
  prach_multiply_args multiply;
  multiply.sums = combine.sums;
  multiply.replicas = replicas_.on(exec);
  multiply.length = shape_.length, multiply.points = inverse_.size(), multiply.roots = roots_;
  multiply.out = take_part<cx_pair>(memory, per_pass * rows * roots * points);
  const auto* tables = reinterpret_cast<const prach_window*>(windows_.on(exec));
  prach_peaks_args peaks;
  peaks.correlation = multiply.out;
  peaks.energy = combine.energy;
  peaks.bad = combine.bad;
  peaks.windows = tables;
  peaks.of_root = reinterpret_cast<const prach_root*>(tables + prach_preambles);
  peaks.length = shape_.length, peaks.points = inverse_.size(), peaks.roots = roots_;
  peaks.antennas = config_.antennas, peaks.groups = static_cast<int>(groups);
  peaks.peaks = take_part<prach_peaks_args::peak>(memory, per_pass * p);
  prach_decide_args decide;
  decide.peaks = peaks.peaks;
  decide.bad = combine.bad;
  decide.windows = tables;
  decide.of_root = peaks.of_root;
  decide.length = shape_.length, decide.coherent = coherent_, decide.rows = rows;
  decide.threshold = static_cast<float>(threshold_);
  decide.offset = static_cast<float>(config_.max_cfo_hz / shape_.spacing_hz);
  const double sample_us = 1e6 / (shape_.length * shape_.spacing_hz);
  decide.microseconds = static_cast<float>(sample_us);
  // 16 * 64 T_c is 16 samples at 30.72 MHz.
  decide.advance = static_cast<float>(sample_us * 30.72 / 16 * config_.ta_spacing_khz / 15);
  for (std::size_t first = 0; first < occasions; first += per_pass) {
    const std::size_t batch = std::min(per_pass, occasions - first);
    combine.in = {in.data + first * in.item_stride, in.elements, batch, in.element_stride, in.item_stride};
    exec.run(prach_combine_kernels(), &combine, batch * rows);
    exec.run(prach_multiply_kernels(), &multiply, batch * rows * roots);
    inverse_.run(exec, 1, batch * rows * roots, {multiply.out, 1, points, 0}, {multiply.out, 1, points, 0});
    exec.run(prach_peaks_kernels(), &peaks, batch * roots);
    const auto part = [&](const auto& v) {
      auto w = v;
      if (w.data != nullptr) w.data += first * w.item_stride, w.items = batch;
      return w;
    };
    decide.detected = part(o.detected), decide.status = part(o.status);
    decide.delay_us = part(o.delay_us), decide.snr_db = part(o.snr_db), decide.metric = part(o.metric);
    decide.timing_advance = part(o.timing_advance);
    exec.run(prach_decide_kernels(), &decide, batch * prach_preambles);
  }
}

}  // namespace wb
