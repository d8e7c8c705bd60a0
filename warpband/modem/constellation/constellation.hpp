#pragma once
// Constellations that are a list of points with labels: 8PSK, 16APSK and 32APSK of DVB-S2 (ETSI EN 302 307-1
// clause 5.4), and points of one's own. Their mapper, and their soft demapper over a flat channel, y = h s +
// n, n ~ CN(0, N0), with the same LLRs as modem/demap:
//   exact:    L = ln sum_{b=0} e^(-|y - h s|^2 / N0) - ln sum_{b=1} e^(-|y - h s|^2 / N0)
//   max-log:  L = min_{b=1} |y - h s|^2 / N0 - min_{b=0} |y - h s|^2 / N0
// The bits do not separate into dimensions. Each symbol therefore visits all points. For square QAM modem/qam
// and modem/demap are faster.
//
// The tests allow an absolute error of 4e-6 (|y|^2 + |h|^2) / N0 + 1e-6 |L| + 1e-5.
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/modem/constellation/constellation_args.hpp>
#include <warpband/modem/demap/demap.hpp>

namespace wb {

struct constellation_config {
  std::string type = "points";  // or "8psk", "16apsk", "32apsk"
  /// Radii of the outer rings divided by the innermost radius: one for 16APSK, two for 32APSK.
  std::vector<double> ring_ratios = {};
  /// 2 to 4096, a power of two. They are scaled to a mean energy of 1.
  std::vector<std::complex<double>> points = {};
  /// Label of each point. Its most significant bit is the symbol's first bit. Empty: 0, 1, 2, ...
  std::vector<int> labels = {};
  bool operator==(const constellation_config&) const = default;
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<constellation_config>>& constellation_settings();

/// The ratios of ring radii that DVB-S2 has for a code rate, "3/4": tables 9 and 10 of the standard. 8PSK has
/// none. Throws argument_error ("type"; "rate" if the standard does not use the rate with the constellation).
std::vector<double> dvb_s2_ring_ratios(const std::string& type, const std::string& rate);

/// Bits of a symbol, also where other settings are not allowed.
int bits_per_symbol(const constellation_config& config) noexcept;

/// Points by label, with a mean energy of 1. `config` has only settings with a meaning.
/// Moves copy: one that was moved from stays as it was.
/// Threads: any number may read one object.
class constellation {
 public:
  /// Throws argument_error ("type", "ring_ratios", "points", "labels").
  explicit constellation(const constellation_config& config);
  constellation(const constellation&) = default;
  constellation& operator=(const constellation&) = default;
  int bits() const noexcept { return bits_; }
  const std::vector<std::complex<double>>& points() const noexcept { return points_; }
  const constellation_config& config() const noexcept { return config_; }

 private:
  constellation_config config_;
  std::vector<std::complex<double>> points_;
  int bits_;
};

/// Maps bits to symbols. One item is one symbol: bits [symbols, m], symbols [symbols, 1].
/// Threads: any number may call one object at once, each with an executor of its own.
class constellation_mapper {
 public:
  explicit constellation_mapper(const constellation& points);
  void run(executor& exec, view<const std::uint8_t> bits, view<std::complex<float>> symbols) const;
  int bits() const noexcept { return bits_; }

 private:
  int bits_;
  resident<cx_pair> points_;
};

/// LLRs [symbols, m], first bit of the label first, limited to +-3e38. Bad, tiny and huge input is treated as
/// in `demapper`. An LLR smaller than the rounding error may be 0.
/// Threads: any number may call one object at once, each with an executor of its own.
class constellation_demapper {
 public:
  explicit constellation_demapper(const constellation& points,
                                  demap_algorithm algorithm = demap_algorithm::max_log);
  /// Outputs without data are not computed.
  void run(executor& exec, const demap_input& in, view<float> llr, view<std::uint8_t> status = {}) const;
  int bits() const noexcept { return bits_; }

 private:
  int bits_;
  bool exact_;
  resident<point_entry> points_;
};

}  // namespace wb
