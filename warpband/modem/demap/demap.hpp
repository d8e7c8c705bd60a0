#pragma once
// Soft demapping of BPSK and Gray QAM over a flat channel: y = h s + n, n ~ CN(0, N0).
//   exact:    L = ln sum_{b=0} e^(-|y - h s|^2 / N0) - ln sum_{b=1} e^(-|y - h s|^2 / N0)
//   max-log:  L = min_{b=1} |y - h s|^2 / N0 - min_{b=0} |y - h s|^2 / N0
// Gray square QAM separates: with z = y conj(h) / |h|^2 the two dimensions are PAM with noise N0 / |h|^2.
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/modem/demap/demap_args.hpp>

namespace wb {

enum class demap_algorithm { max_log, exact };

struct demapper_config {
  int qam = 4;  // points: 2, 4, 16, 64, 256, 1024 or 4096
  demap_algorithm algorithm = demap_algorithm::max_log;
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<demapper_config>>& demapper_settings();

/// The algorithm, under the name that it has where it belongs to something else.
template <class C>
setting_of<C> demap_algorithm_setting(std::string name, demap_algorithm C::*member, std::string text) {
  return words<C, demap_algorithm>(std::move(name), member,
                                   {{"max-log", demap_algorithm::max_log}, {"exact", demap_algorithm::exact}},
                                   std::move(text));
}

struct demap_input {
  view<const std::complex<float>> channel = {};   // [symbols, 1], or no data for h = 1
  view<const std::complex<float>> received = {};  // [symbols, 1]
  view<const float> noise_var = {};  // N0 per complex entry: [symbols, 1], item_stride 0 to share one
};

/// LLRs [symbols, m], bits in 3GPP order, limited to +-3e38. A symbol with a non-finite y, h or N0, or with
/// N0 <= 0, gets LLRs of 0 and status_erased. Any other y, h and N0 of a float are fine, however small or
/// large; h = 0 says nothing and gives LLRs of 0. |y / h| above 1000 gives LLRs within 0.1 %.
/// Threads: any number may call one object at once, each with an executor of its own.
class demapper {
 public:
  /// Throws argument_error ("qam", "algorithm").
  explicit demapper(const demapper_config& config);
  explicit demapper(int points, demap_algorithm algorithm = demap_algorithm::max_log)
      : demapper(demapper_config{points, algorithm}) {}
  /// Outputs without data are not computed.
  void run(executor& exec, const demap_input& in, view<float> llr, view<std::uint8_t> status = {}) const;
  int bits() const noexcept { return bits_; }
  const demapper_config& config() const noexcept { return config_; }

 private:
  demapper_config config_;
  int bits_;
};

}  // namespace wb
