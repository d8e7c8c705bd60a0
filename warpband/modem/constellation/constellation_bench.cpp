#include <bench/bench.hpp>
#include <complex>
#include <warpband/link/source/source.hpp>
#include <warpband/modem/constellation/constellation.hpp>

namespace {

using namespace wb;
using bench::figure;

constellation of_type(const std::string& type) {
  return constellation({.type = type, .ring_ratios = dvb_s2_ring_ratios(type, "3/4")});
}

bench::maker demap(const std::string& type, demap_algorithm algorithm, std::size_t items) {
  return [=](executor& exec, figure) {
    const constellation c = of_type(type);
    const constellation_demapper demapper(c, algorithm);
    const auto m = static_cast<std::size_t>(c.bits());
    auto bits = exec.make<std::uint8_t>(items, m);
    auto y = exec.make<std::complex<float>>(items, 1);
    auto llr = exec.make<float>(items, m);
    const std::vector<float> n0s{0.1f};
    auto n0 = exec.make_from(n0s);
    random_bits(exec, bits, static_cast<int>(m), {.seed = 1});
    constellation_mapper(c).run(exec, bits, y);
    exec.sync();
    return bench::job(static_cast<double>(items), static_cast<double>(m * items),
                      [=, &exec, y = std::move(y), llr = std::move(llr), n0 = std::move(n0)]() mutable {
                        demapper.run(exec, {{}, y, {n0.data(), 1, items, 1, 0}}, llr);
                      });
  };
}

const bench::group constellation_benches{[] {
  for (const std::string& device : bench::devices())
    for (const char* type : {"8psk", "16apsk", "32apsk"})
      for (const demap_algorithm a : {demap_algorithm::max_log, demap_algorithm::exact})
        bench::add(
            "constellation_demap", device,
            {{"constellation", type}, {"algorithm", a == demap_algorithm::exact ? "exact" : "max_log"}},
            {figure::kernel, figure::resident}, demap(type, a, bench::batch_for(device, 1 << 14, 1 << 24)));
}};

}  // namespace
