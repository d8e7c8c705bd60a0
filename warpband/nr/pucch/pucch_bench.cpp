// Detection of PUCCH in noise of 0 dB, two antennas. Items are occasions.
#include <bench/bench.hpp>
#include <complex>
#include <string>
#include <vector>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/nr/pucch/pucch.hpp>

namespace {

using namespace wb;
using bench::figure;

bench::maker pucch_detection(const pucch_config& c) {
  return [=](executor& exec, figure) {
    constexpr std::size_t occasions = 1000;
    const pucch_generator g(c);
    const pucch_detector d(c);
    const std::size_t bits = static_cast<std::size_t>(g.shape().bits), values = g.shape().values(),
                      antennas = 2;
    auto message = exec.make_zeros<std::uint8_t>(occasions, bits);
    auto x = exec.make<std::complex<float>>(occasions, d.values());
    std::vector<int> slots;
    for (std::size_t i = 0; i < occasions; i++) slots.push_back(static_cast<int>(i) % g.shape().slots);
    for (std::size_t a = 0; a < antennas; a++)
      g.run(exec, message, slots, {x.data() + a * values, values, occasions, 1, d.values()});
    const auto elements = make_view(x.data(), occasions * d.values());
    add_awgn(exec, elements, elements, 1.f, {.seed = 1});
    auto out = exec.make<std::uint8_t>(occasions, bits), detected = exec.make<std::uint8_t>(occasions, 1);
    exec.sync();
    return bench::job(
        static_cast<double>(occasions), 0,
        [&exec, d, slots, x = std::move(x), out = std::move(out), detected = std::move(detected)]() mutable {
          d.run(exec, x, slots, {.bits = out, .detected = detected});
        });
  };
}

const bench::group pucch_benches{[] {
  const pucch_config formats[] = {
      {.symbols = 2, .hopping = true, .bits = 1, .antennas = 2},
      {.format = 1, .symbols = 14, .hopping = true, .bits = 2, .antennas = 2},
      {.format = 2, .symbols = 1, .prbs = 4, .bits = 11, .antennas = 2},
      {.format = 3, .symbols = 14, .prbs = 1, .hopping = true, .bits = 16, .antennas = 2},
      {.format = 4, .symbols = 14, .hopping = true, .bits = 22, .antennas = 2}};
  for (const std::string& device : bench::devices())
    for (const pucch_config& c : formats)
      bench::add("pucch", device, {{"format", c.format}, {"bits", c.bits}}, {figure::small},
                 pucch_detection(c));
}};

}  // namespace
