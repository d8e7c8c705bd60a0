#include <bench/bench.hpp>
#include <random>
#include <warpband/modem/effective_sinr/effective_sinr.hpp>

namespace {

using namespace wb;
using bench::figure;

/// Vectors of SINRs from -10 to 30 dB, linear.
bench::maker effective(effective_method method, std::size_t items, std::size_t elements) {
  return [=](executor& exec, figure) {
    const effective_sinr map({.method = method, .qam = 64, .beta = 5});
    std::mt19937 random(1);
    std::uniform_real_distribution<float> level(-2.3f, 6.9f);
    std::vector<float> values(items * elements);
    for (float& v : values) v = std::exp(level(random));
    auto sinr = exec.make<float>(items, elements);
    exec.upload(sinr.data(), values.data(), sinr.bytes());
    auto out = exec.make<float>(items, 1);
    exec.sync();
    return bench::job(static_cast<double>(items), 0,
                      [=, &exec, sinr = std::move(sinr), out = std::move(out)]() mutable {
                        map.run(exec, {.sinr = sinr}, out);
                      });
  };
}

const bench::group effective_benches{[] {
  for (const std::string& device : bench::devices())
    for (const int elements : {12, 273}) {
      const auto items = bench::batch_for(device, 1 << 11, 1 << 18);
      bench::add("effective_sinr", device, {{"method", "eesm"}, {"elements", elements}},
                 {figure::kernel, figure::resident},
                 effective(effective_method::eesm, items, static_cast<std::size_t>(elements)));
      bench::add("effective_sinr", device, {{"method", "rbir"}, {"elements", elements}},
                 {figure::kernel, figure::resident},
                 effective(effective_method::rbir, items, static_cast<std::size_t>(elements)));
    }
}};

}  // namespace
