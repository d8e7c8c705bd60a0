#include <fmt/format.h>

#include <algorithm>
#include <bench/frames.hpp>
#include <cmath>
#include <stdexcept>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/core/as_size.hpp>
#include <warpband/massive/downlink/downlink.hpp>
#include <warpband/massive/uplink/uplink.hpp>

namespace wb::bench {

void fill(executor& exec, std::complex<float>* x, std::size_t count, float variance, std::uint64_t seed) {
  const auto zero = exec.make_from(std::vector<std::complex<float>>{{}});
  add_awgn(exec, {zero.data(), 1, count, 1, 0}, make_view(x, count), variance, {.seed = seed});
  exec.sync();
}

namespace {

using cf = std::complex<float>;

constexpr int bits_per_symbol_of_frame = 4;
constexpr float noise_var_of_frame = 0.1f;
/// A peer sums in another order, and its solver is another: relative error of all LLRs or samples together.
constexpr double tolerance = 1e-4;

std::shared_ptr<frame_data> make_data(executor& exec, const frame_shape& s, bool by_columns, bool copied) {
  auto d = std::make_shared<frame_data>();
  const std::size_t entries = as_size(s.antennas) * as_size(s.users);
  d->shape = s, d->by_columns = by_columns, d->copied = copied;
  d->h = exec.make<cf>(s.estimates(), entries);
  fill(exec, d->h.data(), copied ? entries * as_size(s.subcarriers) : d->h.size(), 1, 1);
  d->in = exec.make<cf>(s.vectors(), as_size(s.uplink ? s.antennas : s.users));
  fill(exec, d->in, s.uplink ? static_cast<float>(s.users) : 1, 2);
  d->n0 = exec.make_from(std::vector<float>{noise_var_of_frame});
  if (s.half) {
    const auto rounded = [&](array<cf>& x) {
      const std::vector<cf> from = exec.to_host(x);
      std::vector<half_complex> halves(from.size());
      to_half(from.data(), halves.data(), from.size());
      auto to = exec.make<half_complex>(x.items(), x.elements());
      exec.upload(to.data(), halves.data(), to.bytes());
      exec.sync();
      x = {};
      return to;
    };
    d->h16 = rounded(d->h);
    d->in16 = rounded(d->in);
    d->llr8 = exec.make<std::int8_t>(s.vectors(), as_size(s.users * bits_per_symbol_of_frame));
  } else if (s.uplink)
    d->llr = exec.make<float>(s.vectors(), as_size(s.users * bits_per_symbol_of_frame));
  else
    d->out = exec.make<cf>(s.vectors(), as_size(s.antennas));
  exec.sync();
  return d;
}

template <class T>
std::vector<T> rows_of(executor& exec, const array<T>& a, std::size_t first, std::size_t count) {
  std::vector<T> values(count * a.elements());
  exec.download(values.data(), a.data() + first * a.elements(), values.size() * sizeof(T));
  exec.sync();
  return values;
}
template <class T>
void set(executor& exec, array<T>& a, const std::vector<T>& values) {
  exec.upload(a.data(), values.data(), a.bytes());
  exec.sync();
}

template <class T>
void expect_close(const std::vector<T>& theirs, const std::vector<T>& ours) {
  double error = 0, energy = 0;
  for (std::size_t i = 0; i < ours.size(); i++) {
    error += std::norm(theirs[i] - ours[i]);
    energy += std::norm(ours[i]);
  }
  if (!(energy > 0 && error <= tolerance * tolerance * energy))  // NaN is an error too
    throw std::runtime_error(fmt::format("results differ from Warpband's by {:.3g}, more than {:.3g}",
                                         std::sqrt(error / energy), tolerance));
}

/// Holds what a peer made of the first and the last estimates against what this library makes of them.
void check(executor& exec, const frame_data& theirs) {
  frame_shape s = theirs.shape;
  const std::size_t count = std::min<std::size_t>(s.estimates(), 48), antennas = as_size(s.antennas),
                    users = as_size(s.users), of_estimate = as_size(s.vectors_of_estimate());
  s.subcarriers = static_cast<int>(count), s.symbols = s.vectors_of_estimate(), s.per_vector = false;
  const auto ours = make_data(exec, s, false, false);
  const auto run = warpband_design(exec, *ours);
  for (const std::size_t first : {std::size_t{0}, theirs.shape.estimates() - count}) {
    const std::vector<cf> columns = rows_of(exec, theirs.h, first, count);
    std::vector<cf> rows(columns.size());
    for (std::size_t f = 0; f < count; f++)
      for (std::size_t b = 0; b < antennas; b++)
        for (std::size_t u = 0; u < users; u++)
          rows[(f * antennas + b) * users + u] = columns[(f * users + u) * antennas + b];
    set(exec, ours->h, rows);
    set(exec, ours->in, rows_of(exec, theirs.in, first * of_estimate, count * of_estimate));
    run();
    exec.sync();
    if (s.uplink)
      expect_close(rows_of(exec, theirs.llr, first * of_estimate, count * of_estimate),
                   exec.to_host(ours->llr));
    else
      expect_close(rows_of(exec, theirs.out, first * of_estimate, count * of_estimate),
                   exec.to_host(ours->out));
  }
}

/// What of a frame comes from the host and goes back to it.
struct copies {
  array<std::byte> h, in, out, llr;
};
/// An array of the device, as copies have it.
struct device_bytes {
  void* data;
  std::size_t size;
};
template <class T>
device_bytes bytes_of(array<T>& a) {
  return {a.data(), a.bytes()};
}
struct frame_bytes {
  device_bytes h, in, out, llr;
  explicit frame_bytes(frame_data& d)
      : h(d.shape.half ? bytes_of(d.h16) : bytes_of(d.h)),
        in(d.shape.half ? bytes_of(d.in16) : bytes_of(d.in)),
        out(bytes_of(d.out)),
        llr(d.shape.half ? bytes_of(d.llr8) : bytes_of(d.llr)) {
    if (d.copied) h.size = h.size / d.shape.estimates() * as_size(d.shape.subcarriers);
  }
};

maker make_frames(const frame_shape& s, bool by_columns, const frame_design& design) {
  return [=](executor& exec, figure measured) {
    const bool fed = measured == figure::host_fed || measured == figure::sync;
    const auto d = make_data(exec, s, by_columns, fed && s.per_vector);
    auto host = std::make_shared<copies>();
    if (fed) {
      const frame_bytes bytes(*d);
      host->h = exec.make_host<std::byte>(bytes.h.size, 1);
      host->in = exec.make_host<std::byte>(bytes.in.size, 1);
      host->llr = exec.make_host<std::byte>(bytes.llr.size, 1);
      host->out = exec.make_host<std::byte>(bytes.out.size, 1);
      exec.download(host->h.data(), bytes.h.data, host->h.bytes());
      exec.download(host->in.data(), bytes.in.data, host->in.bytes());
      exec.sync();
    }
    const auto run = design(exec, *d);
    if (by_columns) {
      run();
      check(exec, *d);
    }
    const double vectors = static_cast<double>(s.vectors());
    return job(vectors, vectors * s.users * bits_per_symbol_of_frame, [&exec, d, host, run, fed] {
      const frame_bytes bytes(*d);
      if (fed) {
        exec.upload(bytes.h.data, host->h.data(), host->h.bytes());
        exec.upload(bytes.in.data, host->in.data(), host->in.bytes());
      }
      run();
      if (!fed) return;
      exec.download(host->llr.data(), bytes.llr.data, host->llr.bytes());
      exec.download(host->out.data(), bytes.out.data, host->out.bytes());
    });
  };
}

}  // namespace

std::function<void()> warpband_design(executor& exec, frame_data& d) {
  const frame_shape& s = d.shape;
  if (d.by_columns || d.copied) throw std::logic_error("Warpband takes H by rows and needs no copies of it");
  const view<const float> n0{d.n0.data(), 1, s.estimates(), 1, 0};
  const int symbols = s.vectors_of_estimate();
  if (s.uplink) {
    uplink_config c;
    c.antennas = s.antennas, c.users = s.users, c.solver = s.solver, c.iterations = s.iterations;
    c.qam = 1 << bits_per_symbol_of_frame;
    if (is_iterative(s.solver)) c.sinr = massive_sinr::approximate;
    if (s.split) c.sums = massive_sums::split_f16;
    if (s.half)
      return [&exec, &d, detector = uplink_detector(c), n0, symbols] {
        uplink_output out;
        out.llr_int8 = d.llr8;
        detector.run(
            exec,
            uplink_half_input{.channel = d.h16, .received = d.in16, .noise_var = n0, .symbols = symbols},
            out);
      };
    return [&exec, &d, detector = uplink_detector(c), n0, symbols] {
      detector.run(exec, {.channel = d.h, .received = d.in, .noise_var = n0, .symbols = symbols},
                   {.llr = d.llr});
    };
  }
  downlink_config c;
  c.antennas = s.antennas, c.users = s.users, c.solver = s.solver, c.iterations = s.iterations;
  c.symbol_energy = 1;  // eq. 2.10 with A = H^H H + N0 I, as the peers have it
  return [&exec, &d, precoder = downlink_precoder(c), n0, symbols] {
    precoder.run(exec, {.channel = d.h, .sent = d.in, .noise_var = n0, .symbols = symbols}, d.out);
  };
}

void add_frames(const std::string& device, const frame_shape& s, const std::string& by,
                const std::vector<figure>& figures, bool by_columns, const frame_design& design) {
  std::vector<axis> axes{{"antennas", fmt::format("{}x{}", s.antennas, s.users)},
                         {"mode", name_of(s.solver)}};
  if (s.iterations) axes.emplace_back("iterations", *s.iterations);
  axes.emplace_back("subcarriers", s.subcarriers);
  axes.emplace_back("symbols", s.symbols);
  axes.emplace_back("estimate", s.per_vector ? "each" : "shared");
  axes.emplace_back("by", by);
  if (s.half) axes.emplace_back("samples", "half");
  if (s.split) axes.emplace_back("sums", name_of(massive_sums::split_f16));
  add(s.uplink ? "uplink_frame" : "downlink_frame", device, axes, figures,
      make_frames(s, by_columns, design));
}

std::vector<frame_benchmark> half_frames(const std::string& device) {
  using enum figure;
  std::vector<frame_benchmark> list;
  for (const massive_solver solver : {massive_solver::cholesky, massive_solver::cg})
    for (const int symbols : {1, 14})
      for (const int subcarriers : {128, 1200}) {
        frame_shape s;
        s.solver = solver, s.iterations = solver == massive_solver::cg ? std::optional(3) : std::nullopt;
        s.subcarriers = subcarriers, s.symbols = symbols, s.half = true;
        list.push_back({s, device == "cpu" ? std::vector{resident} : std::vector{kernel, sync, small}});
      }
  return list;
}

std::vector<frame_benchmark> split_frames(const std::string& device) {
  using enum figure;
  std::vector<frame_benchmark> list;
  if (device == "cpu") return list;
  frame_shape s;
  s.split = true;
  for (const int symbols : {1, 2, 4, 8, 16, 32, 64, 128}) {
    s.symbols = symbols;
    for (const bool per_vector : {false, true}) {
      s.per_vector = per_vector;
      list.push_back({s, {kernel}});
    }
  }
  s.per_vector = false;
  for (const bool half : {false, true})
    for (const int subcarriers : {128, 1200}) {
      s.half = half, s.symbols = 14, s.subcarriers = subcarriers;
      list.push_back({s, {kernel, small}});
    }
  s.half = false, s.antennas = 256, s.users = 32, s.subcarriers = 128;
  for (const int symbols : {2, 4, 8, 16})
    for (const bool per_vector : {false, true}) {
      s.symbols = symbols, s.per_vector = per_vector;
      list.push_back({s, {kernel}});
    }
  return list;
}

std::vector<frame_benchmark> thesis_frames(const std::string& device) {
  using enum figure;
  const bool gpu = device != "cpu";
  std::vector<frame_benchmark> list;
  const auto sweep = [&](frame_shape s, std::vector<int> symbols) {
    for (const int n : symbols)
      for (const bool per_vector : {false, true}) {
        // A core does the vectors of a frame one after the other: with an H for each, more change nothing.
        if (!gpu && per_vector && n > 8) continue;
        s.symbols = n, s.per_vector = per_vector;
        list.push_back({s, gpu ? std::vector{kernel, sync} : std::vector{resident}});
      }
  };
  for (const bool uplink : {true, false})
    for (const massive_solver solver : {massive_solver::cholesky, massive_solver::cg}) {
      frame_shape s;
      s.uplink = uplink, s.solver = solver,
      s.iterations = solver == massive_solver::cg ? std::optional(3) : std::nullopt;
      sweep(s, {1, 2, 4, 8, 16, 32, 64, 128});
      for (const int symbols : {8, 16, 64}) {
        s.symbols = symbols;
        for (const bool per_vector : {false, true}) {
          s.per_vector = per_vector;
          list.push_back({s, {host_fed}});
        }
      }
      for (const int subcarriers : {128, 1200}) {
        s.symbols = 14, s.subcarriers = subcarriers, s.per_vector = false;
        list.push_back({s, {kernel, sync, small}});
      }
    }
  for (const massive_solver solver : {massive_solver::cholesky, massive_solver::cg}) {
    frame_shape s;
    s.antennas = 256, s.users = 32, s.solver = solver,
    s.iterations = solver == massive_solver::cg ? std::optional(4) : std::nullopt;
    sweep(s, {2, 4, 8, 16});
  }
  return list;
}

}  // namespace wb::bench
