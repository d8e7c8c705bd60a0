// Massive MIMO with the antennas in clusters, all on one executor: what the exchange costs beside the central
// detector (massive_bench.cpp). A frame is an H and its vectors; rates are in coded bits of 16-QAM.
#include <algorithm>
#include <bench/bench.hpp>
#include <complex>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/massive/cluster/cluster.hpp>

namespace {

using namespace wb;
using bench::figure;
using samples = array<std::complex<float>>;

/// Fills with independent complex normal values of a variance.
void fill(executor& exec, samples& x, float variance, std::uint64_t seed) {
  const auto zero = exec.make_from(std::vector<std::complex<float>>{{}});
  add_awgn(exec, {zero.data(), 1, x.size(), 1, 0}, make_view(x.data(), x.size()), variance, {.seed = seed});
  exec.sync();
}

bench::maker detect(const clustered_uplink_config& c, int symbols, std::size_t frames) {
  return [=](executor& exec, figure) {
    const std::size_t b = static_cast<std::size_t>(c.detector.antennas),
                      u = static_cast<std::size_t>(c.detector.users),
                      vectors = frames * static_cast<std::size_t>(symbols);
    const clustered_uplink_detector detector(c);
    auto h = exec.make<std::complex<float>>(b * u, frames), y = exec.make<std::complex<float>>(b, vectors);
    fill(exec, h, 1, 1);
    fill(exec, y, static_cast<float>(u), 2);
    auto n0 = exec.make_from(std::vector<float>{0.1f});
    auto llr = exec.make<float>(detector.bits_per_vector(), vectors);
    return bench::job(
        static_cast<double>(vectors), static_cast<double>(detector.bits_per_vector() * vectors),
        [=, &exec, h = std::move(h), y = std::move(y), n0 = std::move(n0), llr = std::move(llr)]() mutable {
          detector.run(
              exec,
              {.channel = h, .received = y, .noise_var = {n0.data(), 1, frames, 1, 0}, .symbols = symbols},
              {.llr = llr});
        });
  };
}

bench::maker precode(const clustered_downlink_config& c, int symbols, std::size_t frames) {
  return [=](executor& exec, figure) {
    const std::size_t b = static_cast<std::size_t>(c.precoder.antennas),
                      u = static_cast<std::size_t>(c.precoder.users),
                      vectors = frames * static_cast<std::size_t>(symbols);
    auto h = exec.make<std::complex<float>>(b * u, frames), s = exec.make<std::complex<float>>(u, vectors),
         x = exec.make<std::complex<float>>(b, vectors);
    fill(exec, h, 1, 1);
    fill(exec, s, 1, 2);
    auto n0 = exec.make_from(std::vector<float>{0.1f});
    return bench::job(
        static_cast<double>(vectors), 4 * static_cast<double>(u * vectors),
        [=, &exec, precoder = clustered_downlink_precoder(c), h = std::move(h), s = std::move(s),
         x = std::move(x), n0 = std::move(n0)]() mutable {
          precoder.run(
              exec, {.channel = h, .sent = s, .noise_var = {n0.data(), 1, frames, 1, 0}, .symbols = symbols},
              x);
        });
  };
}

const bench::group cluster_benches{[] {
  using enum cluster_method;
  for (const std::string& device : bench::devices()) {
    const std::vector<figure> alone{device == "cpu" ? figure::resident : figure::kernel};
    const auto both = [&](int antennas, int users, int clusters, cluster_method method, int symbols) {
      const std::size_t bytes = 8 * static_cast<std::size_t>(antennas * (users + symbols));
      // As many frames as the central detector has.
      const std::size_t frames = std::max<std::size_t>(
          16, bench::batch_for(device, std::size_t{1} << 24, std::size_t{1} << 30) / bytes);
      clustered_uplink_config up;
      clustered_downlink_config down;
      up.detector.antennas = down.precoder.antennas = antennas;
      up.detector.users = down.precoder.users = users;
      up.clusters = down.clusters = clusters;
      up.method = down.method = method;
      if (method == cg) {
        up.detector.mode = down.precoder.mode = massive_mode::cg;
        up.detector.iterations = down.precoder.iterations = 4;
        up.detector.sinr = massive_sinr::approximate;
      }
      const std::vector<bench::axis> axes{
          {"antennas", std::to_string(antennas) + "x" + std::to_string(users)},
          {"method", name_of(method)},
          {"clusters", clusters},
          {"symbols", symbols}};
      bench::add("cluster", device, axes, alone, detect(up, symbols, frames));
      bench::add("cluster_precode", device, axes, alone, precode(down, symbols, frames));
    };
    for (const cluster_method method : {exact, local_mmse, cg})
      for (const int symbols : {1, 14})
        for (const int clusters : {2, 8}) both(256, 32, clusters, method, symbols);
    for (const int symbols : {1, 14}) both(256, 16, 2, exact, symbols);
  }
}};

}  // namespace
