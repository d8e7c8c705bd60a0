// Massive-MIMO detection and precoding: a new H for each vector, and one shared by the 14 symbols of a slot;
// the thesis' modes and sizes. A frame is an H and its vectors; rates are in coded bits. With symbols = 1
// every vector pays for its own Gram matrix and decomposition, as the thesis' tables have it. soft_uplink:
// detection with a-priori LLRs, whose every vector has a matrix to invert.
#include <algorithm>
#include <bench/frames.hpp>
#include <complex>
#include <warpband/massive/downlink/downlink.hpp>
#include <warpband/massive/soft_uplink/soft_uplink.hpp>
#include <warpband/massive/uplink/uplink.hpp>

namespace {

using namespace wb;
using bench::figure;
using bench::fill;

bench::maker detect(const uplink_config& c, int symbols, std::size_t frames) {
  return [=](executor& exec, figure kind) {
    const bool fed = kind == figure::host_fed || kind == figure::sync;
    const uplink_detector detector(c);
    const std::size_t b = static_cast<std::size_t>(c.antennas), u = static_cast<std::size_t>(c.users),
                      vectors = frames * static_cast<std::size_t>(symbols), bits = detector.bits_per_vector();
    auto h = exec.make<std::complex<float>>(frames, b * u), y = exec.make<std::complex<float>>(vectors, b);
    fill(exec, h, 1, 1);
    fill(exec, y, static_cast<float>(c.users), 2);
    auto n0 = exec.make_from(std::vector<float>{0.1f});
    auto llr = exec.make<float>(vectors, bits);
    auto host_h = exec.make_host<std::complex<float>>(fed ? frames : 0, b * u),
         host_y = exec.make_host<std::complex<float>>(fed ? vectors : 0, b);
    auto host_llr = exec.make_host<float>(fed ? vectors : 0, bits);
    if (fed) {
      exec.download(host_h.data(), h.data(), h.bytes());
      exec.download(host_y.data(), y.data(), y.bytes());
    }
    exec.sync();
    return bench::job(
        static_cast<double>(vectors), static_cast<double>(bits * vectors),
        [=, &exec, h = std::move(h), y = std::move(y), n0 = std::move(n0), llr = std::move(llr),
         host_h = std::move(host_h), host_y = std::move(host_y), host_llr = std::move(host_llr)]() mutable {
          if (fed) {
            exec.upload(h.data(), host_h.data(), h.bytes());
            exec.upload(y.data(), host_y.data(), y.bytes());
          }
          detector.run(
              exec,
              {.channel = h, .received = y, .noise_var = {n0.data(), 1, frames, 1, 0}, .symbols = symbols},
              {.llr = llr});
          if (fed) exec.download(host_llr.data(), llr.data(), llr.bytes());
        });
  };
}

/// `known`: with a-priori LLRs of a standard deviation of 2.
bench::maker detect_softly(const soft_uplink_config& c, int symbols, std::size_t frames, bool known) {
  return [=](executor& exec, figure) {
    const soft_uplink_detector detector(c);
    const std::size_t b = static_cast<std::size_t>(c.antennas), u = static_cast<std::size_t>(c.users),
                      vectors = frames * static_cast<std::size_t>(symbols), bits = detector.bits_per_vector();
    auto h = exec.make<std::complex<float>>(frames, b * u), y = exec.make<std::complex<float>>(vectors, b),
         prior = exec.make<std::complex<float>>(known ? vectors : 0, bits / 2);
    fill(exec, h, 1, 1);
    fill(exec, y, static_cast<float>(c.users), 2);
    if (known) fill(exec, prior, 8, 3);
    auto n0 = exec.make_from(std::vector<float>{0.1f});
    auto llr = exec.make<float>(vectors, bits);
    exec.sync();
    return bench::job(static_cast<double>(vectors), static_cast<double>(bits * vectors),
                      [=, &exec, h = std::move(h), y = std::move(y), prior = std::move(prior),
                       n0 = std::move(n0), llr = std::move(llr)]() mutable {
                        soft_uplink_input in{h, y, {n0.data(), 1, frames, 1, 0}, symbols, {}};
                        if (known)
                          in.prior = make_view(reinterpret_cast<const float*>(prior.data()), vectors, bits);
                        detector.run(exec, in, {.llr = llr, .bits = {}, .status = {}});
                      });
  };
}

/// Rated by the coded bits of 16-QAM symbols.
bench::maker precode(const downlink_config& c, int symbols, std::size_t frames) {
  return [=](executor& exec, figure) {
    const std::size_t b = static_cast<std::size_t>(c.antennas), u = static_cast<std::size_t>(c.users),
                      vectors = frames * static_cast<std::size_t>(symbols);
    auto h = exec.make<std::complex<float>>(frames, b * u), s = exec.make<std::complex<float>>(vectors, u),
         x = exec.make<std::complex<float>>(vectors, b);
    fill(exec, h, 1, 1);
    fill(exec, s, 1, 2);
    auto n0 = exec.make_from(std::vector<float>{0.1f});
    return bench::job(
        static_cast<double>(vectors), 4 * static_cast<double>(u * vectors),
        [=, &exec, precoder = downlink_precoder(c), h = std::move(h), s = std::move(s), x = std::move(x),
         n0 = std::move(n0)]() mutable {
          precoder.run(
              exec, {.channel = h, .sent = s, .noise_var = {n0.data(), 1, frames, 1, 0}, .symbols = symbols},
              x);
        });
  };
}

/// Frames that fill a device: 1 GiB of H and y on a GPU, what leaves the caches of a core.
std::size_t frames_for(const std::string& device, int antennas, int users, int symbols) {
  const std::size_t bytes =
      8 * static_cast<std::size_t>(antennas) * static_cast<std::size_t>(users + symbols);
  return std::max<std::size_t>(16,
                               bench::batch_for(device, std::size_t{1} << 24, std::size_t{1} << 30) / bytes);
}

struct size {
  int antennas, users;
};
std::vector<bench::axis> axes_of(size s, massive_solver solver, int iterations, int symbols) {
  std::vector<bench::axis> axes{{"antennas", std::to_string(s.antennas) + "x" + std::to_string(s.users)},
                                {"mode", name_of(solver)}};
  if (iterations != 0) axes.emplace_back("iterations", iterations);
  axes.emplace_back("symbols", symbols);
  return axes;
}
void add_uplink(const std::string& device, size s, massive_solver solver, int iterations, int symbols,
                int qam, const std::vector<figure>& figures, std::size_t frames = 0,
                massive_sums sums = massive_sums::float32) {
  uplink_config c;
  c.antennas = s.antennas, c.users = s.users, c.qam = qam;
  c.solver = solver, c.sums = sums;
  if (is_iterative(solver)) c.iterations = iterations;
  if (is_iterative(solver)) c.sinr = massive_sinr::approximate;
  auto axes = axes_of(s, solver, iterations, symbols);
  axes.emplace_back("qam", qam);
  if (frames != 0) axes.emplace_back("frames", static_cast<int>(frames));
  if (sums != massive_sums::float32) axes.emplace_back("sums", name_of(sums));
  for (const figure f : figures) {
    const std::size_t filling =
        frames_for(device, s.antennas, s.users, symbols) / (f == figure::host_fed ? 8 : 1);
    bench::add("uplink", device, axes, {f}, detect(c, symbols, frames != 0 ? frames : filling));
  }
}
void add_downlink(const std::string& device, size s, massive_solver solver, int iterations, int symbols,
                  const std::vector<figure>& figures) {
  downlink_config c;
  c.antennas = s.antennas, c.users = s.users;
  c.solver = solver;
  if (is_iterative(solver)) c.iterations = iterations;
  bench::add("downlink", device, axes_of(s, solver, iterations, symbols), figures,
             precode(c, symbols, frames_for(device, s.antennas, s.users, symbols)));
}

void add_soft_uplink(const std::string& device, size s, int symbols, int qam, bool known) {
  const std::vector<figure> alone{device == "cpu" ? figure::resident : figure::kernel};
  const soft_uplink_config c{.antennas = s.antennas, .users = s.users, .qam = qam, .extrinsic = true};
  bench::add("soft_uplink", device,
             {{"antennas", std::to_string(s.antennas) + "x" + std::to_string(s.users)},
              {"symbols", symbols},
              {"qam", qam},
              {"prior", known ? "given" : "none"}},
             alone, detect_softly(c, symbols, frames_for(device, s.antennas, s.users, symbols) / 4, known));
}

const bench::group massive_benches{[] {
  using enum massive_solver;
  for (const std::string& device : bench::devices()) {
    const std::vector<figure> alone{device == "cpu" ? figure::resident : figure::kernel};
    const auto both = [&](size s, massive_solver solver, int iterations) {
      for (const int symbols : {1, 14}) {
        add_uplink(device, s, solver, iterations, symbols, 16, alone);
        add_downlink(device, s, solver, iterations, symbols, alone);
      }
    };
    both({128, 8}, cholesky, 0);
    both({128, 16}, cholesky, 0);
    both({128, 24}, cholesky, 0);
    both({128, 16}, cg, 3);
    for (const massive_solver splitting : {neumann, gauss_seidel, chebyshev}) both({128, 16}, splitting, 3);
    both({128, 16}, mf, 0);
    both({128, 32}, cholesky, 0);
    both({128, 32}, cg, 5);
    both({256, 32}, cholesky, 0);
    both({256, 32}, cg, 4);
    both({512, 64}, cholesky, 0);
    both({512, 64}, cg, 5);
    add_uplink(device, {128, 16}, jacobi_cg, 3, 14, 16, alone);
    add_uplink(device, {128, 16}, zf, 0, 14, 16, alone);
    for (const int symbols : {7, 28}) add_uplink(device, {128, 16}, cholesky, 0, symbols, 16, alone);
    // Vectors that share an H and do not fill groups of 14.
    for (const int symbols : {2, 4, 16, 32, 128})
      for (const auto& [s, iterations] : {std::pair{size{128, 16}, 3}, {size{256, 32}, 4}}) {
        add_uplink(device, s, cholesky, 0, symbols, 16, alone);
        add_uplink(device, s, cg, iterations, symbols, 16, alone);
      }
    for (const int qam : {4, 64, 256}) add_uplink(device, {128, 16}, cholesky, 0, 14, qam, alone);
    for (const size s : {size{8, 8}, {32, 8}, {64, 16}, {128, 16}, {128, 32}})
      for (const bool known : {false, true}) add_soft_uplink(device, s, 14, 16, known);
    add_soft_uplink(device, {128, 16}, 1, 16, true);
    for (const int qam : {4, 64, 256}) add_soft_uplink(device, {128, 16}, 14, qam, true);
    // A slot of 128 and of 1200 subcarriers.
    for (const std::size_t frames : {std::size_t{128}, std::size_t{1200}})
      for (const massive_solver solver : {cholesky, cg})
        add_uplink(device, {128, 16}, solver, solver == cg ? 3 : 0, 14, 16, {figure::small}, frames);
    if (device == "cpu") continue;
    for (const int symbols : {1, 14}) {
      const auto split = [&](size size, massive_solver solver, int iterations,
                             const std::vector<figure>& figures, std::size_t frames = 0) {
        add_uplink(device, size, solver, iterations, symbols, 16, figures, frames, massive_sums::split_f16);
      };
      for (const size s : {size{128, 16}, {256, 16}, {128, 32}, {256, 32}}) split(s, cholesky, 0, alone);
      split({128, 16}, cg, 3, alone);
      split({256, 32}, cg, 4, alone);
      if (symbols == 14)
        for (const std::size_t frames : {std::size_t{128}, std::size_t{1200}})
          split({128, 16}, cholesky, 0, {figure::small}, frames);
    }
    for (const int symbols : {1, 14})
      add_uplink(device, {128, 16}, cholesky, 0, symbols, 16,
                 {figure::resident, figure::host_fed, figure::sync});
  }
}};

}  // namespace
