#include <bench/bench.hpp>
#include <complex>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/cdl/cdl.hpp>
#include <warpband/channel/kronecker/kronecker.hpp>
#include <warpband/channel/rayleigh/rayleigh.hpp>
#include <warpband/channel/tdl/tdl.hpp>
#include <warpband/ofdm/numerology.hpp>

namespace {

using namespace wb;
using bench::figure;

const bench::group channel_benches{[] {
  for (const std::string& device : bench::devices()) {
    const std::size_t items = bench::batch_for(device, 1 << 13, 1 << 26);
    const auto sent = [=](executor& exec) {
      const auto zero = exec.make_zeros<std::complex<float>>(1, 1);
      auto x = exec.make<std::complex<float>>(items, 1);
      add_awgn(exec, {zero.data(), 1, items, 1, 0}, x, 1.f, {.seed = 1});
      exec.sync();
      return x;
    };
    bench::add("awgn", device, {}, {figure::kernel, figure::resident}, [=](executor& exec, figure) {
      return bench::job(static_cast<double>(items), 0,
                        [&exec, x = sent(exec), y = exec.make<std::complex<float>>(items, 1)]() mutable {
                          add_awgn(exec, x, y, 0.1f, {.seed = 2});
                        });
    });
    for (const char* name : {"rayleigh", "rician"})
      bench::add(name, device, {{"fading", "fast"}}, {figure::kernel, figure::resident},
                 [=](executor& exec, figure) {
                   const rician_amplitudes rice =
                       std::string(name) == "rician" ? rician_of_db(6) : rician_amplitudes{};
                   return bench::job(static_cast<double>(items), 0,
                                     [=, &exec, x = sent(exec), y = exec.make<std::complex<float>>(items, 1),
                                      h = exec.make<std::complex<float>>(items, 1)]() mutable {
                                       apply_rayleigh(exec, x, y, h, 1, {.seed = 2}, rice);
                                     });
                 });
    // Items are resource elements; a block is a subframe of LTE at 20 MHz.
    for (const int antennas : {1, 2, 4})
      for (const double doppler_hz : {0., 70.}) {
        tdl_config config;
        config.profile = tdl_profile_named("eva");
        config.grid = lte_numerology(20).grid(14);
        config.doppler_hz = doppler_hz;
        config.streams = config.rx_antennas = antennas;
        const std::size_t blocks = bench::batch_for(device, 4, 1 << 10) / static_cast<std::size_t>(antennas);
        bench::add("tdl", device,
                   {{"profile", "eva"}, {"antennas", antennas}, {"doppler_hz", static_cast<int>(doppler_hz)}},
                   {figure::kernel, figure::resident}, [=](executor& exec, figure) {
                     const std::size_t uses = blocks * config.grid.elements(),
                                       n = static_cast<std::size_t>(antennas);
                     return bench::job(static_cast<double>(uses), 0,
                                       [&exec, channel = tdl_channel(config),
                                        h = exec.make<std::complex<float>>(uses, n * n)]() mutable {
                                         channel.response(exec, h, {.seed = 2});
                                       });
                   });
      }
    // Items are subcarriers, each with an H of antennas x users: 128 of them, as in li-thesis.
    for (const auto& [antennas, users] : {std::pair{64, 8}, std::pair{128, 16}, std::pair{256, 32}})
      for (const bool power_control : {false, true}) {
        cdl_config config;
        config.profile = cdl_profile_named("c2-nlos");
        config.antennas = antennas;
        config.users = users;
        config.power_control = power_control;
        const std::size_t drops =
            bench::batch_for(device, 4, 256) * 2048 / static_cast<std::size_t>(antennas * users);
        if (drops == 0) continue;
        bench::add("cdl", device,
                   {{"profile", "c2-nlos"},
                    {"antennas", antennas},
                    {"users", users},
                    {"power_control", power_control ? "yes" : "no"}},
                   {figure::kernel, figure::resident}, [=](executor& exec, figure) {
                     const std::size_t rows = drops * config.grid.elements();
                     return bench::job(static_cast<double>(rows), 0,
                                       [&exec, channel = cdl_channel(config),
                                        h = exec.make<std::complex<float>>(
                                            rows, static_cast<std::size_t>(antennas * users))]() mutable {
                                         channel.response(exec, h, {.seed = 2});
                                       });
                   });
      }
    for (const auto& [antennas, users] : {std::pair{4, 4}, std::pair{128, 16}}) {
      const std::size_t channels =
          bench::batch_for(device, 1 << 12, 1 << 20) / static_cast<std::size_t>(antennas);
      bench::add("kronecker", device, {{"antennas", antennas}, {"users", users}},
                 {figure::kernel, figure::resident}, [=](executor& exec, figure) {
                   const kronecker_channel channel({.streams = users,
                                                    .rx_antennas = antennas,
                                                    .rx_correlation = exponential_correlation(antennas, 0.7),
                                                    .tx_correlation = exponential_correlation(users, 0.3)});
                   return bench::job(static_cast<double>(channels), 0,
                                     [&exec, channel,
                                      h = exec.make<std::complex<float>>(
                                          channels, static_cast<std::size_t>(antennas * users))]() mutable {
                                       channel.response(exec, h, {.seed = 2});
                                     });
                 });
    }
  }
}};

}  // namespace
