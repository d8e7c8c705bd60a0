#include <bench/bench.hpp>
#include <complex>
#include <warpband/link/source/source.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace {

using namespace wb;
using bench::figure;

bench::maker map(int points, std::size_t items) {
  return [=](executor& exec, figure kind) {
    const bool fed = kind == figure::host_fed;
    const qam_mapper mapper(points);
    const auto m = static_cast<std::size_t>(mapper.bits());
    auto bits = exec.make<std::uint8_t>(items, m),
         host_bits = exec.make_host<std::uint8_t>(fed ? items : 0, m);
    auto symbols = exec.make<std::complex<float>>(items, 1),
         host_symbols = exec.make_host<std::complex<float>>(fed ? items : 0, 1);
    // In rows of 4096: an item of the source is a group of threads.
    const std::size_t row = 4096, rows = m * items / row;
    random_bits(exec, make_view(bits.data(), rows, row), static_cast<int>(row), {.seed = 1});
    if (const std::size_t rest = m * items - rows * row; rest != 0)
      random_bits(exec, make_view(bits.data() + rows * row, 1, rest), static_cast<int>(rest), {.seed = 2});
    if (fed) exec.download(host_bits.data(), bits.data(), bits.bytes());
    exec.sync();
    return bench::job(static_cast<double>(items), static_cast<double>(m * items),
                      [=, &exec, bits = std::move(bits), symbols = std::move(symbols),
                       host_bits = std::move(host_bits), host_symbols = std::move(host_symbols)]() mutable {
                        if (fed) exec.upload(bits.data(), host_bits.data(), bits.bytes());
                        mapper.run(exec, bits, symbols);
                        if (fed) exec.download(host_symbols.data(), symbols.data(), symbols.bytes());
                      });
  };
}

const bench::group qam_benches{[] {
  for (const std::string& device : bench::devices()) {
    for (const int points : {2, 4, 16, 64, 256, 1024, 4096})
      bench::add("qam_map", device, {{"points", points}}, {figure::kernel, figure::resident},
                 map(points, bench::batch_for(device, 1 << 14, 1 << 26)));
    bench::add("qam_map", device, {{"points", 64}}, {figure::host_fed}, map(64, 1 << 22));
    for (const int symbols : {1200, 8400})  // an OFDM symbol and a slot of LTE at 20 MHz
      bench::add("qam_map", device, {{"points", 64}, {"symbols", symbols}}, {figure::small},
                 map(64, static_cast<std::size_t>(symbols)));
  }
}};

}  // namespace
