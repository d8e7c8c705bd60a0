#include <bench/bench.hpp>
#include <random>
#include <warpband/modem/demap/demap.hpp>

static const wb::bench::group demap_benches{[] {
  for (const std::string& device : wb::bench::devices())
    for (const int points : {2, 4, 16, 64, 256})
      for (const bool exact : {false, true})
        wb::bench::add("demap", device, {{"points", points}, {"algorithm", exact ? "exact" : "max_log"}},
                       [=](wb::bench::session& s) {
                         const wb::demapper demapper(
                             points, exact ? wb::demap_algorithm::exact : wb::demap_algorithm::max_log);
                         const auto m = static_cast<std::size_t>(demapper.bits());
                         const std::size_t items = wb::bench::batch_for(device, 1 << 13, 1 << 22);
                         std::vector<std::complex<float>> received(items), gain(items);
                         std::mt19937 generator(1);
                         std::normal_distribution<float> normal;
                         for (std::size_t i = 0; i < items; i++) {
                           received[i] = {normal(generator), normal(generator)};
                           gain[i] = {normal(generator), normal(generator)};
                         }
                         wb::executor& exec = s.exec();
                         auto y = exec.make<std::complex<float>>(1, items),
                              h = exec.make<std::complex<float>>(1, items);
                         exec.upload(y.data(), received.data(), y.bytes());
                         exec.upload(h.data(), gain.data(), h.bytes());
                         const auto n0 = exec.make_from(std::vector<float>{0.1f});
                         auto llr = exec.make<float>(m, items);
                         exec.sync();
                         const wb::demap_input in{y, h, {n0.data(), 1, items, 1, 0}};
                         s.measure({.items = items, .bits = static_cast<double>(m * items)},
                                   [&](wb::executor& e) { demapper.run(e, in, llr); });
                       });
}};
