#pragma once
// LLRs to decode, for benches.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <utility>
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
  auto symbols = exec.make<std::complex<float>>(n, 1);
  add_awgn(exec, {sent.data(), 1, n, 1, 0}, make_view(symbols.data(), n), n0, {.seed = 1});
  const view<const std::complex<float>> received = make_view(symbols.data(), n);
  demapper(2).run(exec, {{}, received, {noise_var.data(), 1, n, 1, 0}}, make_view(llr.data(), n));
  exec.sync();
}
/// The same for `batch` codewords of n, as T: float, or std::int8_t in steps of 1 / `steps`.
template <class T>
array<T> make_llrs(executor& exec, std::size_t n, std::size_t batch, double rate, double ebn0_db,
                   float steps) {
  auto noise = exec.make<float>(batch, n);
  fill_llrs(exec, noise, rate, ebn0_db);
  if constexpr (std::is_same_v<T, float>) {
    return noise;
  } else {
    std::vector<T> values;
    for (const float x : exec.to_host(noise))
      values.push_back(static_cast<T>(std::clamp(steps * x, -127.f, 127.f)));
    auto llr = exec.make<T>(batch, n);
    exec.upload(llr.data(), values.data(), llr.bytes());
    exec.sync();
    return llr;
  }
}

}  // namespace wb::bench
