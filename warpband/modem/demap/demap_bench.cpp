#include <bench/bench.hpp>
#include <complex>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/modem/demap/demap.hpp>

namespace {

using namespace wb;
using bench::figure;

bench::maker demap(int points, bool exact, std::size_t items) {
  return [=](executor& exec, figure kind) {
    const bool fed = kind == figure::host_fed;
    const demapper demapper(points, exact ? demap_algorithm::exact : demap_algorithm::max_log);
    const auto m = static_cast<std::size_t>(demapper.bits());
    auto y = exec.make<std::complex<float>>(items, 1), h = exec.make<std::complex<float>>(items, 1);
    const auto zero = exec.make_zeros<std::complex<float>>(1, 1);
    add_awgn(exec, {zero.data(), 1, items, 1, 0}, y, 1.f, {.seed = 1});
    add_awgn(exec, {zero.data(), 1, items, 1, 0}, h, 1.f, {.seed = 2});
    auto n0 = exec.make_from(std::vector<float>{0.1f});
    auto llr = exec.make<float>(items, m);
    const std::size_t copied = fed ? items : 0;
    auto host_y = exec.make_host<std::complex<float>>(copied, 1),
         host_h = exec.make_host<std::complex<float>>(copied, 1);
    auto host_llr = exec.make_host<float>(copied, m);
    if (fed) {
      exec.download(host_y.data(), y.data(), y.bytes());
      exec.download(host_h.data(), h.data(), h.bytes());
    }
    exec.sync();
    return bench::job(
        static_cast<double>(items), static_cast<double>(m * items),
        [=, &exec, y = std::move(y), h = std::move(h), n0 = std::move(n0), llr = std::move(llr),
         host_y = std::move(host_y), host_h = std::move(host_h), host_llr = std::move(host_llr)]() mutable {
          if (fed) {
            exec.upload(y.data(), host_y.data(), y.bytes());
            exec.upload(h.data(), host_h.data(), h.bytes());
          }
          demapper.run(exec, {h, y, {n0.data(), 1, items, 1, 0}}, llr);
          if (fed) exec.download(host_llr.data(), llr.data(), llr.bytes());
        });
  };
}

const bench::group demap_benches{[] {
  for (const std::string& device : bench::devices()) {
    for (const int points : {2, 4, 16, 64, 256, 1024, 4096})
      for (const bool exact : {false, true}) {
        const std::vector<bench::axis> axes{{"points", points}, {"algorithm", exact ? "exact" : "max_log"}};
        bench::add("demap", device, axes, {figure::kernel, figure::resident},
                   demap(points, exact, bench::batch_for(device, 1 << 13, 1 << 26)));
        if (points >= 16 && !exact)
          bench::add("demap", device, axes, {figure::host_fed}, demap(points, exact, 1 << 21));
      }
    for (const int symbols : {1200, 8400})  // an OFDM symbol and a slot of LTE at 20 MHz
      bench::add("demap", device, {{"points", 64}, {"algorithm", "max_log"}, {"symbols", symbols}},
                 {figure::small}, demap(64, false, static_cast<std::size_t>(symbols)));
  }
}};

}  // namespace
