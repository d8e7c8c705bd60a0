#pragma once
// Random frames for the massive-MIMO tests, and calls over them.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <oracle/massive.hpp>
#include <tests/on_backends.hpp>
#include <warpband/massive/downlink/downlink.hpp>
#include <warpband/massive/uplink/uplink.hpp>

namespace wb::testing {

using samples = std::vector<std::complex<float>>;

struct massive_batch {
  std::size_t antennas, users, symbols, frames;
  samples h, y, s;  // y and s: [frames * symbols, ...]
  std::vector<float> n0;
  std::size_t vectors() const { return frames * symbols; }

  oracle::matrix channel(std::size_t frame) const { return part(h, frame, antennas, users); }
  oracle::matrix received(std::size_t vector) const { return part(y, vector, antennas, 1); }
  oracle::matrix sent(std::size_t vector) const { return part(s, vector, users, 1); }

 private:
  static oracle::matrix part(const samples& v, std::size_t i, std::size_t rows, std::size_t columns) {
    oracle::matrix m(static_cast<int>(rows), static_cast<int>(columns));
    for (std::size_t e = 0; e < rows * columns; e++) m.entries[e] = v[i * rows * columns + e];
    return m;
  }
};

/// Independent Rayleigh channels, unit symbols of random phase and amplitude, noise of n0 in each antenna.
inline massive_batch random_frames(std::size_t antennas, std::size_t users, std::size_t symbols,
                                   std::size_t frames, float n0, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, std::sqrt(0.5f));
  const auto draw = [&] {
    const float re = normal(random);
    return std::complex<float>(re, normal(random));
  };
  massive_batch b{antennas, users, symbols, frames, {}, {}, {}, std::vector<float>(frames, n0)};
  for (std::size_t i = 0; i < frames * antennas * users; i++) b.h.push_back(draw());
  for (std::size_t i = 0; i < frames * symbols * users; i++) {
    const auto z = draw();  // QPSK
    b.s.emplace_back(std::copysign(std::sqrt(0.5f), z.real()), std::copysign(std::sqrt(0.5f), z.imag()));
  }
  for (std::size_t v = 0; v < b.vectors(); v++)
    for (std::size_t r = 0; r < antennas; r++) {
      std::complex<float> sum = std::sqrt(n0) * draw();
      for (std::size_t u = 0; u < users; u++)
        sum += b.h[(v / symbols * antennas + r) * users + u] * b.s[v * users + u];
      b.y.push_back(sum);
    }
  return b;
}

/// Random frames of which every ninth has something that is erased, or nearly: an H with NaN, one of zeros,
/// one of lower rank with hardly any noise, negative noise, none; a vector with NaN. At least nine frames and
/// two users.
inline massive_batch ugly_frames(std::size_t antennas, std::size_t users, std::size_t symbols,
                                 std::size_t frames) {
  massive_batch b = random_frames(antennas, users, symbols, frames, 0.2f);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::size_t entries = antennas * users, step = frames / 9, twin = std::min<std::size_t>(users - 1, 3);
  b.h[step * entries + 7] = nan;
  std::fill_n(&b.h[2 * step * entries], entries, 0.f);
  for (std::size_t r = 0; r < antennas; r++)
    b.h[3 * step * entries + r * users + twin] = b.h[3 * step * entries + r * users];
  b.n0[4 * step] = -1;
  b.n0[3 * step] = 1e-30f;
  b.n0[5 * step] = 0;
  const std::size_t vector = 6 * step * symbols + symbols / 2;
  b.y[vector * antennas] = b.s[vector * users] = {0, nan};
  return b;
}

/// The values of a batch whose items are turned to lie side by side, element by element, or back.
template <class T>
std::vector<T> turned(const std::vector<T>& values, std::size_t inner) {
  std::vector<T> t(values.size());
  const std::size_t outer = values.size() / inner;
  for (std::size_t i = 0; i < outer; i++)
    for (std::size_t e = 0; e < inner; e++) t[e * outer + i] = values[i * inner + e];
  return t;
}

struct massive_result {
  std::vector<float> llr, sinr;
  std::vector<std::int8_t> llr8 = {};  // where they are asked for
  samples x;
  std::vector<std::uint8_t> status;
  bool operator==(const massive_result& o) const {
    const auto same = [](const auto& a, const auto& b) {
      return a.size() == b.size() &&
             (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0);
    };
    return same(llr, o.llr) && same(llr8, o.llr8) && same(sinr, o.sinr) && same(x, o.x) &&
           same(status, o.status);
  }
};

/// The bits of the nearest halves.
inline std::vector<half_complex> halves_of(const samples& x) {
  std::vector<half_complex> h(x.size());
  to_half(x.data(), h.data(), x.size());
  return h;
}
/// A batch whose H and y are those that halves hold.
inline massive_batch in_halves(massive_batch b) {
  for (samples* v : {&b.h, &b.y})
    for (auto& z : *v) z = from_half(to_half(z));
  return b;
}

/// What the detector is given and asked for: H and y as complex64 or as halves, LLRs in 8 bits too.
struct massive_formats {
  bool half = false, llr8 = false;
};
/// What a detector, central or of clusters, makes of a batch.
template <class Detector>
massive_result detect_by(executor& exec, const Detector& detector, const massive_batch& b,
                         layout order = layout::row_major, massive_formats formats = {}) {
  const std::size_t bits = detector.bits_per_vector(), entries = b.antennas * b.users;
  const bool swap = order == layout::batch_fastest;
  const samples h_values = swap ? turned(b.h, entries) : b.h, y_values = swap ? turned(b.y, b.antennas) : b.y;
  const auto n0 = on_device(exec, b.n0, b.frames, 1);
  auto llr8 = exec.make<std::int8_t>(formats.llr8 ? b.vectors() : 0, bits, order);
  auto llr = exec.make<float>(b.vectors(), bits, order), sinr = exec.make<float>(b.vectors(), b.users, order);
  auto x = exec.make<std::complex<float>>(b.vectors(), b.users, order);
  auto status = exec.make<std::uint8_t>(b.vectors(), 1);
  uplink_output out{.llr = llr, .llr_int8 = {}, .equalized = x, .sinr = sinr, .status = status};
  if (formats.llr8) out.llr_int8 = llr8;
  const int symbols = static_cast<int>(b.symbols);
  const auto run = [&]<class Input>(const auto& h, const auto& y) {
    const auto channel = on_device(exec, h, b.frames, entries, order),
               received = on_device(exec, y, b.vectors(), b.antennas, order);
    detector.run(exec, Input{.channel = channel, .received = received, .noise_var = n0, .symbols = symbols},
                 out);
    exec.sync();
  };
  if (formats.half)
    run.template operator()<uplink_half_input>(halves_of(h_values), halves_of(y_values));
  else
    run.template operator()<uplink_input>(h_values, y_values);
  massive_result r{.llr = exec.to_host(llr),
                   .sinr = exec.to_host(sinr),
                   .x = exec.to_host(x),
                   .status = exec.to_host(status)};
  if (formats.llr8) r.llr8 = exec.to_host(llr8);
  if (swap) {
    r.llr = turned(r.llr, b.vectors());
    r.llr8 = turned(r.llr8, formats.llr8 ? b.vectors() : 1);
    r.sinr = turned(r.sinr, b.vectors());
    r.x = turned(r.x, b.vectors());
  }
  return r;
}

inline massive_result detect(executor& exec, const uplink_config& c, const massive_batch& b,
                             layout order = layout::row_major, massive_formats formats = {}) {
  return detect_by(exec, uplink_detector(c), b, order, formats);
}

template <class Precoder>
massive_result precode_by(executor& exec, const Precoder& precoder, const massive_batch& b,
                          layout order = layout::row_major, bool half = false) {
  const std::size_t entries = b.antennas * b.users;
  const bool swap = order == layout::batch_fastest;
  const samples h_values = swap ? turned(b.h, entries) : b.h;
  const auto h = on_device(exec, h_values, b.frames, entries, order);
  const auto h16 = on_device(exec, halves_of(h_values), b.frames, entries, order);
  const auto s = on_device(exec, swap ? turned(b.s, b.users) : b.s, b.vectors(), b.users, order);
  const auto n0 = on_device(exec, b.n0, b.frames, 1);
  auto x = exec.make<std::complex<float>>(b.vectors(), b.antennas, order);
  auto status = exec.make<std::uint8_t>(b.vectors(), 1);
  const int symbols = static_cast<int>(b.symbols);
  if (half)
    precoder.run(exec, downlink_half_input{.channel = h16, .sent = s, .noise_var = n0, .symbols = symbols}, x,
                 status);
  else
    precoder.run(exec, downlink_input{.channel = h, .sent = s, .noise_var = n0, .symbols = symbols}, x,
                 status);
  massive_result r{.llr = {}, .sinr = {}, .x = exec.to_host(x), .status = exec.to_host(status)};
  if (swap) r.x = turned(r.x, b.vectors());
  return r;
}
inline massive_result precode(executor& exec, const downlink_config& c, const massive_batch& b,
                              layout order = layout::row_major, bool half = false) {
  return precode_by(exec, downlink_precoder(c), b, order, half);
}

inline oracle::massive_rule rule_of(massive_solver m) {
  return m == massive_solver::mf   ? oracle::massive_rule::mf
         : m == massive_solver::zf ? oracle::massive_rule::zf
                                   : oracle::massive_rule::mmse;
}
inline oracle::massive_solver solver_of(massive_solver m, std::optional<int> iterations,
                                        float residual = least_massive_residual) {
  const bool stops_early = residual > least_massive_residual;
  using method = oracle::massive_iteration;
  return {is_iterative(m) ? iterations.value() : 0, m == massive_solver::jacobi_cg,
          stops_early ? residual : 1e-13,
          m == massive_solver::neumann        ? method::neumann
          : m == massive_solver::gauss_seidel ? method::gauss_seidel
          : m == massive_solver::chebyshev    ? method::chebyshev
                                              : method::gradients};
}

/// |a - b| over |b|, as vectors.
template <class A, class B>
double relative_error(const A& a, const B& b) {
  double difference = 0, whole = 0;
  for (std::size_t i = 0; i < a.size(); i++) {
    difference += std::norm(std::complex<double>(a[i]) - std::complex<double>(b[i]));
    whole += std::norm(std::complex<double>(b[i]));
  }
  return std::sqrt(difference / std::max(whole, 1e-300));
}

}  // namespace wb::testing
