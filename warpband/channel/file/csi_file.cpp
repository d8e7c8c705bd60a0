#include <warpband/channel/file/csi_file.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <vector>

#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/io/hdf5.hpp>
#include <warpband/io/npy.hpp>

namespace wb {

const char* name_of(csi_layout layout) noexcept {
  switch (layout) {
    case csi_layout::plain:
      return "plain";
    case csi_layout::renew:
      return "renew";
    case csi_layout::argos:
      return "argos";
    default:
      return "csi";
  }
}

namespace {

using complex = std::complex<double>;

/// Discrete Fourier transforms of any length n in n log n: files choose it. Lengths that are no power of two
/// are convolved with a chirp (Bluestein 1970): with w = exp(-i pi / n), jk = (j^2 + k^2 - (k - j)^2) / 2
/// gives y[k] = w^(k^2) sum_j x[j] w^(j^2) w^(-(k - j)^2).
class transform {
 public:
  explicit transform(std::size_t n) : n_(n), size_(std::has_single_bit(n) ? n : std::bit_ceil(2 * n)) {
    roots_.reserve(size_);
    for (std::size_t i = 0; i < size_; i++) roots_.push_back(root(i, size_));
    if (size_ == n_) return;
    chirp_.reserve(n_);
    for (std::size_t i = 0; i < n_; i++) chirp_.push_back(root(i * i % (2 * n_), 2 * n_));
    filter_.resize(size_);
    for (std::size_t i = 0; i < n_; i++) filter_[i] = filter_[(size_ - i) % size_] = std::conj(chirp_[i]);
    filter_ = of_power(filter_);
  }
  std::vector<complex> operator()(const std::vector<complex>& x) const {
    if (size_ == n_) return of_power(x);
    std::vector<complex> z(size_);
    for (std::size_t i = 0; i < n_; i++) z[i] = x[i] * chirp_[i];
    z = of_power(z);
    for (std::size_t i = 0; i < size_; i++) z[i] = std::conj(z[i] * filter_[i]);
    z = of_power(z);  // of the conjugate: the inverse's conjugate, times its size
    std::vector<complex> y(n_);
    for (std::size_t i = 0; i < n_; i++) y[i] = std::conj(z[i]) * chirp_[i] / static_cast<double>(size_);
    return y;
  }

 private:
  static complex root(std::size_t i, std::size_t n) {
    return std::polar(1., -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
  }
  std::vector<complex> of_power(const std::vector<complex>& x) const {
    const std::size_t n = size_;
    std::vector<complex> y(n);
    for (std::size_t i = 0, reversed = 0; i < n; i++) {
      y[reversed] = x[i];
      std::size_t bit = n / 2;
      for (; bit > 0 && (reversed & bit) != 0; bit /= 2) reversed ^= bit;
      reversed |= bit;
    }
    for (std::size_t half = 1; half < n; half *= 2)
      for (std::size_t from = 0; from < n; from += 2 * half)
        for (std::size_t i = from; i < from + half; i++) {
          const complex turned = y[i + half] * roots_[(i - from) * (n / 2 / half)];
          y[i + half] = y[i] - turned;
          y[i] += turned;
        }
    return y;
  }

  std::size_t n_, size_;
  std::vector<complex> roots_, chirp_, filter_;
};

/// The long training field of IEEE 802.11 (clause 17.3.3): subcarriers -26 to 26.
constexpr std::array<int, 53> training{1,  1,  -1, -1, 1,  1, -1, 1,  -1, 1, 1,  1,  1,  1, 1,  -1, -1, 1,
                                       1,  -1, 1,  -1, 1,  1, 1,  1,  0,  1, -1, -1, 1,  1, -1, 1,  -1, 1,
                                       -1, -1, -1, -1, -1, 1, 1,  -1, -1, 1, -1, 1,  -1, 1, 1,  1,  1};

std::string text_of(const std::vector<std::size_t>& shape) {
  std::string text = "[";
  for (const std::size_t n : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + "]";
}
hdf5_access access_of(const csi_options& o) {
  hdf5_access access = default_hdf5_access();
  access.trusted = access.trusted || o.trusted;
  return access;
}
bool is_finite(const std::complex<float>& z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); }

}  // namespace

struct csi_file::state {
  std::string path;
  std::optional<npy_reader> npy;
  std::optional<hdf5_reader> file;  // else
  csi_options options;
  csi_layout layout = csi_layout::plain;
  std::string array;
  bool converts = false;  // h of complex128
  std::size_t snapshots = 0, subcarriers = 0, rx = 0, tx = 0;
  double carrier_hz = 0, rate_hz = 0;
  std::vector<double> scale;  // of every transmitter
  // Traces: a row of the file, where in it things are, and how pilots become estimates.
  std::size_t row = 0, slot = 0, user_stride = 0, antenna_stride = 0, first_slot = 0;
  std::size_t size = 0, first_window = 0, window_step = 0, repetitions = 0;
  struct used {
    std::size_t place;  // of the DFT
    complex inverse;    // of the pilot
  };
  std::vector<used> pilot;  // the lowest frequency first
  std::size_t csi_repetitions = 0;

  state(const std::string& name, const csi_options& o) : path(name), options(o) {
    check_range("cell", o.cell, 0, 1 << 16);
    if (is_npy(name)) {
      npy.emplace(name);
      open_npy();
    } else {
      file.emplace(name, access_of(o));
      open_hdf5();
    }
    if (options.scale == csi_scale::file) find_scale();
  }
  void open_hdf5() {
    if (file->has("h"))
      open_plain();
    else if (file->has("Data/Pilot_Samples"))
      open_renew();
    else if (file->has("Pilot_Samples"))
      open_argos();
    else if (file->has("csi"))
      open_csi();
    else
      fail("it holds no channel estimates: expected an array h, Data/Pilot_Samples, Pilot_Samples or csi");
  }

  [[noreturn]] void fail(const std::string& reason) const { throw file_error(path, reason); }
  void expect_some(const std::vector<std::size_t>& shape) const {
    for (const std::size_t n : shape)
      if (n == 0) fail(array + " has shape " + text_of(shape) + ": it holds no channel estimates");
  }

  void open_plain() {
    layout = csi_layout::plain;
    array = "h";
    converts = file->describe(array).type == "complex128";
    const auto shape =
        converts ? file->expect<complex>(array, 4) : file->expect<std::complex<float>>(array, 4);
    expect_some(shape);
    snapshots = shape[0], subcarriers = shape[1], rx = shape[2], tx = shape[3];
  }
  /// A flat channel may leave out the axis of subcarriers.
  void open_npy() {
    array = "the array";
    auto shape = npy->shape();
    if (shape.size() == 3) shape.insert(shape.begin() + 1, 1);
    if (shape.size() != 4)
      fail("it has shape " + text_of(shape) +
           ": expected [snapshots, subcarriers, rx, tx] or [snapshots, rx, tx]");
    expect_some(shape);
    snapshots = shape[0], subcarriers = shape[1], rx = shape[2], tx = shape[3];
  }
  void open_csi() {
    layout = csi_layout::csi;
    array = "csi";
    const auto shape = file->expect<std::complex<float>>(array, 5);
    expect_some(shape);
    snapshots = shape[0], tx = shape[1], csi_repetitions = shape[2], rx = shape[3], subcarriers = shape[4];
  }

  /// An attribute that is a whole number from `least` to 2^24. -1 where there is none.
  int whole(const std::string& owner, const std::string& attribute, int least) const {
    const auto values = file->attribute_numbers(owner, attribute);
    if (values.empty()) return -1;
    const double x = values[0];
    if (values.size() != 1 || !(x >= least && x <= 1 << 24) || x != std::floor(x))
      fail("attribute " + attribute + " is not what was expected: a whole number from " +
           std::to_string(least) + " to 2^24");
    return static_cast<int>(x);
  }
  int required(const std::string& owner, const std::string& attribute) const {
    const int n = whole(owner, attribute, 0);
    if (n < 0) fail("there is no attribute " + attribute + (owner.empty() ? "" : " of " + owner));
    return n;
  }
  double number(const std::string& owner, const std::string& attribute) const {
    const auto values = file->attribute_numbers(owner, attribute);
    return values.size() == 1 && std::isfinite(values[0]) ? values[0] : 0;
  }

  /// NaN and infinities stay what they are.
  std::complex<float> narrowed(const complex& z) const {
    constexpr double limit = std::numeric_limits<float>::max();
    for (const double x : {z.real(), z.imag()})
      if (std::isfinite(x) && std::abs(x) > limit)
        fail(array + " holds " + decimal(x) + ", which complex64 cannot hold");
    return std::complex<float>(z);
  }

  void open_renew() {
    layout = csi_layout::renew;
    array = "Data/Pilot_Samples";
    const auto shape = file->expect<std::int16_t>(array, 5);
    expect_some(shape);
    for (const char* internal : {"RECIPROCAL_CALIB", "FULL_MATRIX_MEAS"})
      if (whole("Data", internal, 0) > 0)
        fail(std::string(internal) + " is set: the array measured itself, there are no users");
    int samples = whole("Data", "SLOT_SAMP_LEN", 1);
    if (samples < 0) samples = whole("Data", "SYMBOL_LEN", 1);
    if (samples < 0) fail("there is no attribute SLOT_SAMP_LEN or SYMBOL_LEN of Data");
    slot = static_cast<std::size_t>(samples);
    if (shape[4] != 2 * slot)
      fail(array + " has shape " + text_of(shape) + ": expected slots of 2 * " + std::to_string(slot) +
           " values, as SLOT_SAMP_LEN says");
    if (static_cast<std::size_t>(options.cell) >= shape[1])
      throw argument_error("cell", std::to_string(options.cell), "0 to " + std::to_string(shape[1] - 1));
    tx = shape[2], rx = shape[3];
    row = shape[1] * tx * rx * 2 * slot;
    antenna_stride = 2 * slot;
    user_stride = rx * antenna_stride;
    first_slot = static_cast<std::size_t>(options.cell) * tx * user_stride;

    const int length = required("Data", "FFT_SIZE"), prefix = required("Data", "CP_LEN"),
              before = std::max(whole("Data", "PREFIX_LEN", 0), 0),
              after = std::max(whole("Data", "POSTFIX_LEN", 0), 0), symbol = length + prefix;
    if (length < 1 || length > 65536) fail("attribute FFT_SIZE is not what was expected: 1 to 65536");
    const auto values = file->attribute_numbers("Data", "OFDM_PILOT_F");
    if (values.size() != 2 * static_cast<std::size_t>(length))
      fail("attribute OFDM_PILOT_F has " + std::to_string(values.size()) +
           " values: expected 2 * FFT_SIZE = " + std::to_string(2 * length));
    std::vector<complex> p;
    for (std::size_t i = 0; i < values.size(); i += 2) {
      p.emplace_back(values[i], values[i + 1]);
      if (!std::isfinite(std::abs(p.back()))) fail("attribute OFDM_PILOT_F holds what is no number");
    }
    use_pilot(p, options.shifted_pilot.value_or(is_shifted(p)));
    set_windows(length, options.first_sample.value_or(before), symbol, (samples - before - after) / symbol,
                prefix);
    carrier_hz = number("Data", "FREQ");
    rate_hz = number("Data", "RATE");
    snapshots = frames_with_samples(shape[0]);
  }

  void open_argos() {
    layout = csi_layout::argos;
    array = "Pilot_Samples";
    const auto shape = file->expect<std::int16_t>(array, 3);
    expect_some(shape);
    const int samples = required("", "samples_per_user"), users = required("", "num_mob_ant");
    // The last of the users is noise.
    if (samples < 1 || users < 1 ||
        shape[2] != 2 * static_cast<std::size_t>(samples) * static_cast<std::size_t>(users + 1))
      fail(array + " has shape " + text_of(shape) + ": expected rows of (" + std::to_string(users) +
           " + 1) * " + std::to_string(samples) + " * 2 values, as num_mob_ant and samples_per_user say");
    slot = static_cast<std::size_t>(samples);
    tx = static_cast<std::size_t>(users), rx = shape[1];
    row = rx * shape[2];
    antenna_stride = shape[2];
    user_stride = 2 * slot;
    std::vector<complex> p(64);
    for (std::size_t i = 0; i < training.size(); i++) p[i + 6] = training[i];
    use_pilot(p, true);
    set_windows(64, options.first_sample.value_or(47), 64, 2, 0);
    snapshots = frames_with_samples(shape[0]);
  }

  /// Whether a pilot is stored from the lowest frequency on: its guard bands are then at both ends, else in
  /// the middle.
  static bool is_shifted(const std::vector<complex>& p) {
    const std::size_t n = p.size();
    int ends = 0, middle = 0;
    for (std::size_t i = 0; i < n; i++)
      if (p[i] == 0.) (i < n / 4 || i >= n - n / 4 ? ends : middle)++;
    return ends > middle;
  }
  void use_pilot(const std::vector<complex>& p, bool shifted) {
    size = p.size();
    const std::size_t lowest = size - size / 2;  // place of the lowest frequency in a DFT
    for (std::size_t i = 0; i < size; i++) {
      const std::size_t place = (lowest + i) % size;
      const complex value = p[shifted ? i : place];
      if (value != 0.) pilot.push_back({place, 1. / value});
    }
    if (pilot.empty()) fail("attribute OFDM_PILOT_F is 0 everywhere");
    subcarriers = pilot.size();
  }
  void set_windows(int length, int start, int step, int count, int prefix) {
    if (count < 1)
      fail("a slot of " + std::to_string(slot) + " samples holds no pilot of " + std::to_string(step) +
           " between its prefix and postfix");
    const long long end =
        static_cast<long long>(start) + prefix + static_cast<long long>(count - 1) * step + length;
    if (start < 0 || end > static_cast<long long>(slot)) {
      const std::string fit = "0 to " + std::to_string(static_cast<long long>(slot) - (end - start));
      if (options.first_sample) throw argument_error("first_sample", std::to_string(start), fit);
      fail("a slot of " + std::to_string(slot) + " samples is too short for pilots up to sample " +
           std::to_string(end));
    }
    first_window = static_cast<std::size_t>(start + prefix);
    window_step = static_cast<std::size_t>(step);
    repetitions = static_cast<std::size_t>(count);
  }

  std::vector<std::int16_t> frame(std::size_t number) const {
    std::vector<std::int16_t> samples(row);
    file->read(array, number, 1, samples.data());
    return samples;
  }
  std::size_t frames_with_samples(std::size_t frames) const {
    for (; frames > 0; frames--) {
      const auto samples = frame(frames - 1);
      if (std::any_of(samples.begin(), samples.end(), [](std::int16_t x) { return x != 0; })) return frames;
    }
    fail(array + " holds no samples: all are 0");
  }

  /// One snapshot [subcarriers, rx, tx], not scaled; false where a user has no samples.
  bool estimate(std::size_t number, std::complex<float>* to) const {
    const auto samples = frame(number);
    const transform dft(size);
    std::vector<complex> sum(size);
    bool whole_frame = true;
    for (std::size_t u = 0; u < tx; u++) {
      bool any = false;
      for (std::size_t b = 0; b < rx; b++) {
        const std::int16_t* from = samples.data() + first_slot + u * user_stride + b * antenna_stride;
        any = any || std::any_of(from, from + 2 * slot, [](std::int16_t x) { return x != 0; });
        std::fill(sum.begin(), sum.end(), 0);
        for (std::size_t r = 0; r < repetitions; r++)
          for (std::size_t i = 0; i < size; i++) {
            const std::size_t offset = 2 * (first_window + r * window_step + i);
            sum[i] += complex(from[offset], from[offset + 1]);
          }
        // The transform is linear: that of the sum of the repetitions is the sum of theirs.
        const auto spectrum = dft(sum);
        const double unit = 1 / (32768. * static_cast<double>(repetitions));
        for (std::size_t k = 0; k < subcarriers; k++)
          to[(k * rx + b) * tx + u] = std::complex<float>(unit * spectrum[pilot[k].place] * pilot[k].inverse);
      }
      whole_frame = whole_frame && any;
    }
    return whole_frame;
  }

  /// Snapshots as they are in the file, erased items zeros.
  std::size_t read_raw(std::size_t first, std::size_t count, std::complex<float>* to,
                       std::uint8_t* status) const {
    const std::size_t item = rx * tx, entries = subcarriers * item;
    std::vector<std::uint8_t> good(count, 1);
    if (npy) {
      npy->read(first, count, to);
    } else if (converts) {
      const std::size_t at_once =
          std::clamp<std::size_t>((4u << 20) / (16 * entries), 1, std::max<std::size_t>(count, 1));
      std::vector<complex> values(at_once * entries);
      for (std::size_t n = 0; n < count; n += at_once) {
        const std::size_t part = std::min(at_once, count - n);
        file->read(array, first + n, part, values.data());
        for (std::size_t e = 0; e < part * entries; e++) to[n * entries + e] = narrowed(values[e]);
      }
    } else if (layout == csi_layout::plain) {
      file->read(array, first, count, to);
    } else if (layout == csi_layout::csi) {
      std::vector<std::complex<float>> values(tx * csi_repetitions * rx * subcarriers);
      for (std::size_t n = 0; n < count; n++) {
        file->read(array, first + n, 1, values.data());
        for (std::size_t u = 0; u < tx; u++)
          for (std::size_t b = 0; b < rx; b++)
            for (std::size_t k = 0; k < subcarriers; k++) {
              complex sum = 0;
              for (std::size_t r = 0; r < csi_repetitions; r++)
                sum += complex(values[((u * csi_repetitions + r) * rx + b) * subcarriers + k]);
              to[n * entries + (k * rx + b) * tx + u] =
                  std::complex<float>(sum / static_cast<double>(csi_repetitions));
            }
      }
    } else {
      for (std::size_t n = 0; n < count; n++) good[n] = estimate(first + n, to + n * entries);
    }
    std::size_t erased = 0;
    for (std::size_t n = 0; n < count; n++)
      for (std::size_t k = 0; k < subcarriers; k++) {
        std::complex<float>* h = to + n * entries + k * item;
        const bool fine = good[n] != 0 && std::all_of(h, h + item, is_finite);
        if (!fine) std::fill(h, h + item, std::complex<float>{});
        if (status != nullptr) status[n * subcarriers + k] = fine ? std::uint8_t{0} : status_erased;
        erased += !fine;
      }
    return erased;
  }

  /// Adds up |h|^2 of every transmitter over the items of snapshots; returns how many items are not erased.
  std::size_t add_powers(const std::complex<float>* h, const std::uint8_t* status, std::size_t items,
                         std::vector<double>& powers) const {
    std::size_t good = 0;
    for (std::size_t i = 0; i < items; i++) {
      good += status[i] == 0;
      for (std::size_t e = 0; e < rx * tx; e++) powers[e % tx] += std::norm(complex(h[i * rx * tx + e]));
    }
    return good;
  }
  std::vector<double> scale_of(const std::vector<double>& powers, std::size_t good) const {
    std::vector<double> factors;
    for (const double p : powers)
      factors.push_back(p > 0 ? std::sqrt(static_cast<double>(good * rx) / p) : 0);
    return factors;
  }
  void find_scale() {
    std::vector<std::complex<float>> h(subcarriers * rx * tx);
    std::vector<std::uint8_t> status(subcarriers);
    std::vector<double> powers(tx);
    std::size_t good = 0;
    for (std::size_t n = 0; n < snapshots; n++) {
      read_raw(n, 1, h.data(), status.data());
      good += add_powers(h.data(), status.data(), subcarriers, powers);
    }
    scale = scale_of(powers, good);
  }

  std::size_t read(std::size_t first, std::size_t count, std::complex<float>* to,
                   std::uint8_t* status) const {
    if (first > snapshots || count > snapshots - first)
      throw shape_error("snapshots", std::to_string(first) + " + " + std::to_string(count),
                        "at most " + std::to_string(snapshots) + " in all");
    std::vector<std::uint8_t> local_status;
    if (status == nullptr) {
      local_status.resize(count * subcarriers);
      status = local_status.data();
    }
    const std::size_t erased = read_raw(first, count, to, status), entries = subcarriers * rx * tx;
    if (options.scale == csi_scale::none) return erased;
    for (std::size_t n = 0; n < count; n++) {
      std::complex<float>* h = to + n * entries;
      std::vector<double> factors = scale;
      if (options.scale == csi_scale::snapshot) {
        std::vector<double> powers(tx);
        const std::size_t good = add_powers(h, status + n * subcarriers, subcarriers, powers);
        factors = scale_of(powers, good);
      }
      for (std::size_t e = 0; e < entries; e++) h[e] = std::complex<float>(complex(h[e]) * factors[e % tx]);
    }
    return erased;
  }
};

csi_file::csi_file(const std::string& path, const csi_options& options)
    : state_(std::make_unique<state>(path, options)) {}
csi_file::~csi_file() = default;
csi_file::csi_file(csi_file&&) noexcept = default;

csi_file::state& csi_file::held() const {
  if (!state_) refuse_moved_from();
  return *state_;
}

csi_layout csi_file::layout() const { return held().layout; }
std::size_t csi_file::snapshots() const { return held().snapshots; }
std::size_t csi_file::subcarriers() const { return held().subcarriers; }
std::size_t csi_file::rx_antennas() const { return held().rx; }
std::size_t csi_file::streams() const { return held().tx; }
double csi_file::carrier_hz() const { return held().carrier_hz; }
double csi_file::spacing_hz() const {
  return held().size > 0 ? held().rate_hz / static_cast<double>(held().size) : 0;
}

std::string csi_file::remark() const { return held().file ? held().file->remark() : ""; }

std::size_t csi_file::read(std::size_t first, std::size_t count, std::complex<float>* to,
                           std::uint8_t* status) const {
  return held().read(first, count, to, status);
}

}  // namespace wb
