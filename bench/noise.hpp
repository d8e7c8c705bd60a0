#pragma once
// LLRs to decode, for benches.
#include <cmath>
#include <complex>
#include <vector>

#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/link/source/source.hpp>
#include <warpband/modem/demap/demap.hpp>

namespace wb::bench {

/// LLRs of all-zero codewords over AWGN, for decoders that take the same time for any data.
inline void fill_llrs(executor& exec, array<float>& llr, double rate, double ebn0_db = 4) {
  const std::size_t n = llr.size();
  const float n0 = static_cast<float>(std::pow(10, -ebn0_db / 10) / rate), a = std::sqrt(0.5f);
  const auto sent = exec.make_from(std::vector<std::complex<float>>{{a, a}});  // for every bit
  const auto noise_var = exec.make_from(std::vector<float>{n0});
  auto symbols = exec.make<std::complex<float>>(1, n);
  add_awgn(exec, {sent.data(), 1, n, 1, 0}, make_view(symbols.data(), n), n0, {.seed = 1});
  const view<const std::complex<float>> received = make_view(symbols.data(), n);
  demapper(2).run(exec, {received, {}, {noise_var.data(), 1, n, 1, 0}}, make_view(llr.data(), n));
  exec.sync();
}

}  // namespace wb::bench
