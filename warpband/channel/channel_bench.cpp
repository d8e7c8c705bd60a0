#include <bench/bench.hpp>
#include <complex>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/rayleigh/rayleigh.hpp>

namespace {

using namespace wb;
using bench::figure;

const bench::group channel_benches{[] {
  for (const std::string& device : bench::devices()) {
    const std::size_t items = bench::batch_for(device, 1 << 13, 1 << 26);
    const auto sent = [=](executor& exec) {
      const auto zero = exec.make_from(std::vector<std::complex<float>>(1));
      auto x = exec.make<std::complex<float>>(1, items);
      add_awgn(exec, {zero.data(), 1, items, 1, 0}, x, 1.f, {.seed = 1});
      exec.sync();
      return x;
    };
    bench::add("awgn", device, {}, {figure::kernel, figure::resident}, [=](executor& exec, figure) {
      return bench::job(static_cast<double>(items), 0,
                        [&exec, x = sent(exec), y = exec.make<std::complex<float>>(1, items)]() mutable {
                          add_awgn(exec, x, y, 0.1f, {.seed = 2});
                        });
    });
    bench::add("rayleigh", device, {{"fading", "fast"}}, {figure::kernel, figure::resident},
               [=](executor& exec, figure) {
                 return bench::job(static_cast<double>(items), 0,
                                   [&exec, x = sent(exec), y = exec.make<std::complex<float>>(1, items),
                                    h = exec.make<std::complex<float>>(1, items)]() mutable {
                                     apply_rayleigh(exec, x, y, h, 1, {.seed = 2});
                                   });
               });
  }
}};

}  // namespace
