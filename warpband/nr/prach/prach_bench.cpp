// Detection of PRACH preambles in noise. Items are occasions.
#include <bench/bench.hpp>
#include <complex>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/nr/prach/prach.hpp>

namespace {

using namespace wb;
using bench::figure;

bench::maker detection(const prach_config& c, std::size_t occasions) {
  return [=](executor& exec, figure) {
    const prach_detector d(c);
    auto x = exec.make<std::complex<float>>(occasions, d.values());
    const auto zero = exec.make_zeros<std::complex<float>>(1, 1);
    add_awgn(exec, {zero.data(), 1, occasions * d.values(), 1, 0},
             make_view(x.data(), occasions * d.values()), 1.f, {.seed = 1});
    auto detected = exec.make<std::uint8_t>(occasions, prach_preambles);
    exec.sync();
    return bench::job(static_cast<double>(occasions), 0,
                      [&exec, d, x = std::move(x), detected = std::move(detected)]() mutable {
                        d.run(exec, x, {.detected = detected});
                      });
  };
}

const bench::group prach_benches{[] {
  for (const std::string& device : bench::devices()) {
    for (const int antennas : {2, 8}) {
      bench::add("prach", device, {{"format", "0"}, {"antennas", antennas}}, {figure::small},
                 detection({.root_sequence = 22, .antennas = antennas}, 64));
      bench::add("prach", device, {{"format", "B4"}, {"antennas", antennas}}, {figure::small},
                 detection({.format = prach_format::b4,
                            .spacing_khz = 30,
                            .zero_correlation_zone = 14,
                            .antennas = antennas},
                           64));
    }
  }
}};

}  // namespace
