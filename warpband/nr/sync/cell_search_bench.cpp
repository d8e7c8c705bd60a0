// Cell search in 20 ms of noise, all identities and +-10 kHz. Items are samples.
#include <bench/bench.hpp>
#include <complex>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/nr/sync/cell_search.hpp>

namespace {

using namespace wb;
using bench::figure;

bench::maker search(double rate_mhz, int spacing_khz) {
  return [=](executor& exec, figure) {
    const cell_search s({.sample_rate_hz = 1e6 * rate_mhz, .spacing_khz = spacing_khz});
    const std::size_t samples = static_cast<std::size_t>(2e4 * rate_mhz);
    auto x = exec.make<std::complex<float>>(1, samples);
    const auto zero = exec.make_zeros<std::complex<float>>(1, 1);
    add_awgn(exec, {zero.data(), 1, samples, 1, 0}, make_view(x.data(), samples), 1.f, {.seed = 1});
    exec.sync();
    return bench::job(static_cast<double>(samples), 0,
                      [&exec, s, x = std::move(x)]() mutable { s.run(exec, x); });
  };
}

const bench::group cell_search_benches{[] {
  for (const std::string& device : bench::devices()) {
    bench::add("cell_search", device, {{"rate_mhz", "1.92"}, {"spacing_khz", 15}}, {figure::small},
               search(1.92, 15));
    bench::add("cell_search", device, {{"rate_mhz", "7.68"}, {"spacing_khz", 15}}, {figure::small},
               search(7.68, 15));
    bench::add("cell_search", device, {{"rate_mhz", "30.72"}, {"spacing_khz", 30}}, {figure::small},
               search(30.72, 30));
    bench::add("cell_search", device, {{"rate_mhz", "122.88"}, {"spacing_khz", 120}}, {figure::small},
               search(122.88, 120));
  }
}};

}  // namespace
