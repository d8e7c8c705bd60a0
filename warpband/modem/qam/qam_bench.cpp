#include <bench/bench.hpp>
#include <random>
#include <warpband/modem/qam/qam.hpp>

static const wb::bench::group qam_benches{[] {
  for (const std::string& device : wb::bench::devices())
    for (const int points : {2, 4, 16, 64, 256})
      wb::bench::add("qam_map", device, {{"points", points}}, [=](wb::bench::session& s) {
        const wb::qam_mapper mapper(points);
        const auto m = static_cast<std::size_t>(mapper.bits());
        const std::size_t items = wb::bench::batch_for(device, 1 << 14, 1 << 22);
        std::vector<std::uint8_t> random(m * items);
        std::mt19937 generator(1);
        for (auto& b : random) b = static_cast<std::uint8_t>(generator() & 1);
        auto bits = s.exec().make<std::uint8_t>(m, items);
        auto symbols = s.exec().make<std::complex<float>>(1, items);
        s.exec().upload(bits.data(), random.data(), bits.bytes());
        s.exec().sync();
        s.measure({.items = items, .bits = static_cast<double>(m * items)},
                  [&](wb::executor& e) { mapper.run(e, bits, symbols); });
      });
}};
