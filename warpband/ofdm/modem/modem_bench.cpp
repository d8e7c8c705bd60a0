// OFDM modulation and demodulation with the numerologies of LTE. Items are symbols.
#include <algorithm>
#include <bench/bench.hpp>
#include <complex>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/ofdm/modem/modem.hpp>

namespace {

using namespace wb;
using bench::figure;
using signal = array<std::complex<float>>;

/// Complex normal values of unit variance.
signal noise(executor& exec, std::size_t items, std::size_t elements) {
  auto x = exec.make<std::complex<float>>(items, elements);
  const auto zero = exec.make_zeros<std::complex<float>>(1, 1);
  add_awgn(exec, {zero.data(), 1, x.size(), 1, 0}, make_view(x.data(), x.size()), 1.f, {.seed = 1});
  exec.sync();
  return x;
}

template <class Modem>
bench::maker run(const ofdm_numerology& n, std::size_t slots, bool to_samples) {
  return [=](executor& exec, figure) {
    const Modem modem(n);
    const std::size_t in = to_samples ? modem.values() : modem.samples(),
                      out = to_samples ? modem.samples() : modem.values();
    return bench::job(static_cast<double>(slots) * n.symbols_per_slot, 0,
                      [&exec, modem, x = noise(exec, slots, in),
                       y = exec.make<std::complex<float>>(slots, out)]() mutable { modem.run(exec, x, y); });
  };
}

const bench::group modem_benches{[] {
  for (const std::string& device : bench::devices())
    for (const double mhz : {1.4, 5., 15., 20.}) {
      const ofdm_numerology n = lte_numerology(mhz);
      const std::size_t bytes = 8 * static_cast<std::size_t>(n.samples_per_slot()),
                        slots = std::max<std::size_t>(
                            1, bench::batch_for(device, std::size_t{1} << 22, std::size_t{1} << 29) / bytes);
      const std::vector<figure> figures{figure::kernel, figure::resident};
      bench::add("ofdm_modulate", device, {{"fft", n.fft_size}, {"subcarriers", n.subcarriers}}, figures,
                 run<ofdm_modulator>(n, slots, true));
      bench::add("ofdm_demodulate", device, {{"fft", n.fft_size}, {"subcarriers", n.subcarriers}}, figures,
                 run<ofdm_demodulator>(n, slots, false));
      for (const std::size_t few : {std::size_t{2}, std::size_t{32}})  // a subframe, of one antenna and 16
        bench::add("ofdm_demodulate", device,
                   {{"fft", n.fft_size}, {"subcarriers", n.subcarriers}, {"slots", static_cast<int>(few)}},
                   {figure::small}, run<ofdm_demodulator>(n, few, false));
    }
}};

}  // namespace
