// Massive MIMO with the antennas in clusters, beside the central detector (massive_bench.cpp): all on one
// executor, and where a machine has several CUDA devices spread over them, with an exchange by NCCL. A frame
// is an H and its vectors; rates are in coded bits of 16-QAM. Bounds are those of one device's part.
#include <algorithm>
#include <bench/frames.hpp>
#include <complex>
#include <memory>
#include <vector>
#include <warpband/exec/cuda.hpp>
#include <warpband/massive/cluster/cluster.hpp>

namespace {

using namespace wb;
using bench::figure;
using bench::fill;
using samples = array<std::complex<float>>;

bench::maker detect(const clustered_uplink_config& c, int symbols, std::size_t frames) {
  return [=](executor& exec, figure) {
    const std::size_t b = static_cast<std::size_t>(c.detector.antennas),
                      u = static_cast<std::size_t>(c.detector.users),
                      vectors = frames * static_cast<std::size_t>(symbols);
    const clustered_uplink_detector detector(c);
    auto h = exec.make<std::complex<float>>(frames, b * u), y = exec.make<std::complex<float>>(vectors, b);
    fill(exec, h, 1, 1);
    fill(exec, y, static_cast<float>(u), 2);
    auto n0 = exec.make_from(std::vector<float>{0.1f});
    auto llr = exec.make<float>(vectors, detector.bits_per_vector());
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
    auto h = exec.make<std::complex<float>>(frames, b * u), s = exec.make<std::complex<float>>(vectors, u),
         x = exec.make<std::complex<float>>(vectors, b);
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

/// A member's arrays.
struct member {
  samples h, y;
  array<float> n0, llr;
  member(executor& e, std::size_t antennas, std::size_t users, std::size_t frames, std::size_t vectors,
         std::size_t bits, std::size_t own_vectors)
      : h(e.make<std::complex<float>>(frames, antennas * users)),
        y(e.make<std::complex<float>>(vectors, antennas)),
        n0(e.make_from(std::vector<float>{0.1f})),
        llr(e.make<float>(own_vectors, bits)) {
    fill(e, h, 1, 1);
    fill(e, y, static_cast<float>(users), 2);
  }
};

/// The clusters on the CUDA devices 0 .. devices - 1. A call ends, for the first one's stream, when all have
/// ended.
struct spread_detection {
  clustered_uplink_detector detector;
  std::vector<std::unique_ptr<cuda>> others;
  std::unique_ptr<executor_group> group;
  std::vector<member> members;
  std::vector<uplink_input> in;
  std::vector<uplink_output> out;

  spread_detection(executor& first, const clustered_uplink_config& c, int symbols, std::size_t frames,
                   int devices)
      : detector(c) {
    std::vector<executor*> executors{&first};
    for (int d = 1; d < devices; d++) {
      others.push_back(std::make_unique<cuda>(cuda_options{.device = d}));
      executors.push_back(others.back().get());
    }
    group = std::make_unique<executor_group>(executors);
    const std::size_t antennas = static_cast<std::size_t>(c.detector.antennas / devices),
                      users = static_cast<std::size_t>(c.detector.users),
                      of_frame = static_cast<std::size_t>(symbols);
    for (int m = 0; m < devices; m++)
      members.emplace_back(*executors[static_cast<std::size_t>(m)], antennas, users, frames,
                           frames * of_frame, detector.bits_per_vector(), group->share(frames, m) * of_frame);
    for (member& m : members) {
      in.push_back(
          {.channel = m.h, .received = m.y, .noise_var = {m.n0.data(), 1, frames, 1, 0}, .symbols = symbols});
      out.push_back({.llr = m.llr});
    }
  }
  void run() {
    detector.run(*group, in, out);
    for (const auto& other : others) group->member(0).wait_for(*other);
  }
};
bench::maker spread(const clustered_uplink_config& c, int symbols, std::size_t frames, int devices) {
  return [=](executor& exec, figure) {
    auto work = std::make_unique<spread_detection>(exec, c, symbols, frames, devices);
    const double vectors = static_cast<double>(frames) * symbols,
                 bits = static_cast<double>(work->detector.bits_per_vector());
    return bench::job(vectors, vectors * bits, [work = std::move(work)] { work->run(); });
  };
}

/// Clusters of `antennas` x `users` on so many devices. Of a CPU, which is one, a few frames.
void add_spread(const std::string& device, int antennas, int users, int clusters,
                massive_cluster_method method, int symbols, int devices) {
  clustered_uplink_config c;
  c.detector.antennas = antennas, c.detector.users = users;
  c.clusters = clusters, c.cluster_method = method;
  if (method == massive_cluster_method::cg) {
    c.detector.solver = massive_solver::cg, c.detector.iterations = 4;
    c.detector.sinr = massive_sinr::approximate;
  }
  std::vector<bench::axis> axes{{"antennas", std::to_string(antennas) + "x" + std::to_string(users)},
                                {"method", name_of(method)},
                                {"clusters", clusters},
                                {"devices", devices},
                                {"symbols", symbols}};
  const std::size_t bytes = static_cast<std::size_t>(8 * antennas * (users + symbols)),
                    filling = (device == "cpu" ? std::size_t{1} << 24 : std::size_t{1} << 30) / bytes;
  const std::vector<figure> figures =
      device == "cpu" ? std::vector{figure::resident} : std::vector{figure::kernel, figure::resident};
  bench::add("cluster_devices", device, axes, figures, spread(c, symbols, filling, devices));
  if (device == "cpu") return;
  axes.emplace_back("frames", 1200);
  bench::add("cluster_devices", device, axes, {figure::small}, spread(c, symbols, 1200, devices));
}
/// One device, two, four and eight as far as there are so many: 256x32, and 1024x64, whose clusters share
/// devices.
void add_spread(const std::string& device) {
  using enum massive_cluster_method;
  if (device != "cpu" && device != "cuda:0") return;
  const int max_devices = device == "cpu" ? 1 : std::min(8, static_cast<int>(cuda_devices().size()));
  for (const massive_cluster_method method : {exact, local_mmse, cg})
    for (const int symbols : {1, 14})
      for (int devices = 1; devices <= max_devices; devices *= 2) {
        if (max_devices > 1) add_spread(device, 256, 32, std::max(2, devices), method, symbols, devices);
        for (const int clusters : {4, 8})
          if (devices <= clusters) add_spread(device, 1024, 64, clusters, method, symbols, devices);
      }
}

const bench::group cluster_benches{[] {
  using enum massive_cluster_method;
  for (const std::string& device : bench::devices()) {
    const std::vector<figure> alone{device == "cpu" ? figure::resident : figure::kernel};
    const auto both = [&](int antennas, int users, int clusters, massive_cluster_method method, int symbols) {
      const std::size_t bytes = 8 * static_cast<std::size_t>(antennas * (users + symbols));
      // As many frames as the central detector has.
      const std::size_t frames = std::max<std::size_t>(
          16, bench::batch_for(device, std::size_t{1} << 24, std::size_t{1} << 30) / bytes);
      clustered_uplink_config up;
      clustered_downlink_config down;
      up.detector.antennas = down.precoder.antennas = antennas;
      up.detector.users = down.precoder.users = users;
      up.clusters = down.clusters = clusters;
      up.cluster_method = down.cluster_method = method;
      if (method == cg) {
        up.detector.solver = down.precoder.solver = massive_solver::cg;
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
    for (const massive_cluster_method method : {exact, local_mmse, cg})
      for (const int symbols : {1, 14})
        for (const int clusters : {2, 8}) both(256, 32, clusters, method, symbols);
    for (const int symbols : {1, 14}) both(256, 16, 2, exact, symbols);
    add_spread(device);
  }
}};

}  // namespace
