#pragma once
// Random uses of MIMO channels for the tests of detectors, their run on an executor, and the oracle's answer.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <oracle/mimo.hpp>
#include <oracle/modem.hpp>
#include <tests/detectors.hpp>
#include <tests/on_backends.hpp>
#include <warpband/core/status.hpp>
#include <warpband/detect/detector.hpp>

namespace wb::testing {

struct mimo_batch {
  int streams = 2, rx = 2, qam = 4;
  std::size_t uses_per_channel = 1;
  std::vector<std::complex<float>> y, h;  // [uses, rx], [channels, rx * streams]
  std::vector<float> n0;                  // one: shared by all uses
  std::vector<float> prior;               // [uses, bits]; empty: none
  std::vector<std::uint8_t> sent;         // [uses, bits]

  std::size_t uses() const { return y.size() / static_cast<std::size_t>(rx); }
  std::size_t gains() const { return static_cast<std::size_t>(rx * streams); }
  std::size_t bits() const {
    return static_cast<std::size_t>(streams) * std::bit_width(static_cast<unsigned>(qam - 1));
  }
  const std::complex<float>* channel_of(std::size_t use) const {
    return &h[use / uses_per_channel * gains()];
  }
  float noise_of(std::size_t use) const { return n0[n0.size() == 1 ? 0 : use]; }
};

struct mimo_draw {
  double least_n0 = 0.003, most_n0 = 3;  // uniform in decibels
  double prior = 0;                      // standard deviation of the a-priori LLRs
  std::size_t uses_per_channel = 1;
};
inline mimo_batch draw_mimo(const detector_config& c, std::size_t uses, const mimo_draw& draw,
                            std::mt19937_64& random) {
  std::normal_distribution<float> normal(0, std::sqrt(0.5f));
  std::uniform_real_distribution<double> exponent(std::log(draw.least_n0), std::log(draw.most_n0));
  const auto entry = [&] {
    const float re = normal(random);
    return std::complex<float>(re, normal(random));
  };
  const auto points = oracle::constellation(c.qam);
  mimo_batch b{c.streams, c.rx_antennas, c.qam, draw.uses_per_channel, {}, {}, {}, {}, {}};
  const auto rx = static_cast<std::size_t>(c.rx_antennas), streams = static_cast<std::size_t>(c.streams);
  for (std::size_t i = 0; i < uses; i++) {
    if (i % draw.uses_per_channel == 0)
      for (std::size_t e = 0; e < b.gains(); e++) b.h.push_back(entry());
    b.n0.push_back(static_cast<float>(std::exp(exponent(random))));
    std::vector<std::complex<float>> s;
    for (std::size_t k = 0; k < streams; k++) {
      const std::size_t symbol = random() % points.size();
      s.push_back(std::complex<float>(points[symbol]));
      for (std::size_t mask = points.size() / 2; mask > 0; mask /= 2) b.sent.push_back((symbol & mask) != 0);
    }
    const std::complex<float>* h = b.channel_of(i);
    for (std::size_t r = 0; r < rx; r++) {
      std::complex<float> y = std::sqrt(b.n0[i]) * entry();
      for (std::size_t k = 0; k < streams; k++) y += h[r * streams + k] * s[k];
      b.y.push_back(y);
    }
    if (draw.prior > 0)
      for (std::size_t e = 0; e < b.bits(); e++)
        b.prior.push_back(static_cast<float>(draw.prior * std::sqrt(2.0)) * normal(random));
  }
  return b;
}

/// Uses first .. first + count - 1 of a batch that shares no channels.
inline mimo_batch part_of(const mimo_batch& b, std::size_t first, std::size_t count) {
  const auto cut = [&](const auto& values, std::size_t elements) {
    if (values.size() < b.uses() * elements) return values;  // shared or none
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(first * elements);
    return std::remove_cvref_t<decltype(values)>(from, from + static_cast<std::ptrdiff_t>(count * elements));
  };
  return {b.streams,
          b.rx,
          b.qam,
          b.uses_per_channel,
          cut(b.y, static_cast<std::size_t>(b.rx)),
          cut(b.h, b.gains()),
          cut(b.n0, 1),
          cut(b.prior, b.bits()),
          cut(b.sent, b.bits())};
}

/// [items, elements] to [elements, items].
template <class T>
std::vector<T> transposed(const std::vector<T>& values, std::size_t elements) {
  std::vector<T> out;
  out.reserve(values.size());
  for (std::size_t e = 0; e < elements; e++)
    for (std::size_t i = e; i < values.size(); i += elements) out.push_back(values[i]);
  return out;
}

struct mimo_result {
  std::vector<float> llr;          // [uses, bits]
  std::vector<std::uint8_t> bits;  // [uses, bits]
  std::vector<std::uint8_t> status;
  std::vector<std::int32_t> visited = {};  // nodes; empty where the detector counts none
};
inline bool same_bits(const mimo_result& a, const mimo_result& b) {
  return a.llr.size() == b.llr.size() && a.bits == b.bits && a.status == b.status && a.visited == b.visited &&
         std::memcmp(a.llr.data(), b.llr.data(), a.llr.size() * sizeof(float)) == 0;
}

inline mimo_result detect(executor& exec, const detector& detector, const mimo_batch& b,
                          layout order = layout::row_major) {
  const std::size_t n = b.uses(), m = b.bits(), rx = static_cast<std::size_t>(b.rx);
  const auto stored = [&]<class T>(const std::vector<T>& values, std::size_t elements) {
    return on_device(exec, order == layout::row_major ? values : transposed(values, elements),
                     values.size() / elements, elements, order);
  };
  const auto y = stored(b.y, rx);
  const auto h = stored(b.h, b.gains());
  const auto prior = stored(b.prior, m);
  const auto n0 = exec.make_from(b.n0);
  auto llr = exec.make<float>(n, m, order);
  auto bits = exec.make<std::uint8_t>(n, m, order);
  auto status = exec.make<std::uint8_t>(n, 1);
  detector_input in{h, b.uses_per_channel, y, {n0.data(), 1, n, 1, b.n0.size() == 1 ? 0U : 1U}};
  if (!b.prior.empty()) in.prior = prior;
  auto visited = exec.make<std::int32_t>(detector.counts_visited() ? n : 0, 1);
  detector_output to{llr, bits, status};
  if (detector.counts_visited()) to.visited = visited;
  detector.run(exec, in, to);
  mimo_result out{exec.to_host(llr), exec.to_host(bits), exec.to_host(status), exec.to_host(visited)};
  if (order == layout::batch_fastest && n > 0) {
    out.llr = transposed(out.llr, n);
    out.bits = transposed(out.bits, n);
  }
  return out;
}
inline mimo_result detect(executor& exec, const detector_config& config, const mimo_batch& b,
                          layout order = layout::row_major) {
  return detect(exec, *make_detector(config), b, order);
}

inline oracle::mimo_use oracle_use(const mimo_batch& b, std::size_t use) {
  const auto rx = static_cast<std::size_t>(b.rx);
  oracle::mimo_use u;
  u.points = b.qam;
  for (std::size_t r = 0; r < rx; r++) u.y.emplace_back(b.y[use * rx + r]);
  for (std::size_t e = 0; e < b.gains(); e++) u.h.emplace_back(b.channel_of(use)[e]);
  u.n0 = b.noise_of(use);
  if (!b.prior.empty()) u.prior.assign(&b.prior[use * b.bits()], &b.prior[use * b.bits()] + b.bits());
  return u;
}
/// Of the streams of a use, as a detector sorts them.
inline std::vector<int> oracle_order(const detector_config& c, const oracle::mimo_use& use) {
  const stream_sort sort = search_of(c).sort;
  if (sort == stream_sort::fsd) {
    std::vector<bool> full(static_cast<std::size_t>(c.streams));
    full.back() = true;
    const std::vector<int>& spread = c.get<nway_settings>().spread;
    for (std::size_t k = 0; k < spread.size(); k++) full[k] = spread[k] == c.qam;
    return oracle::fsd_order(use, full);
  }
  return oracle::sorted_streams(use, sort == stream_sort::norm             ? oracle::sorting::falling_norm
                                     : sort == stream_sort::norm_ascending ? oracle::sorting::rising_norm
                                                                           : oracle::sorting::by_qr);
}
inline oracle::sphere oracle_sphere(detector_config c) {
  const sphere_settings& settings = sphere_in(c);
  return {settings.hard_output, static_cast<double>(settings.radius.value_or(0)),
          settings.node_limit.value_or(0)};
}
/// A-posteriori LLRs.
inline std::vector<double> oracle_llrs(const detector_config& config, const oracle::mimo_use& use) {
  detector_config c = completed(config);
  const search_order search = search_of(c);
  if (search.sort != stream_sort::none) {
    search_in(c) = {oracle_order(c, use), stream_sort::none};
    return oracle_llrs(c, use);
  }
  if (!search.order.empty()) {  // the columns in that order, and their LLRs back in their places
    const std::size_t n = search.order.size(), m = static_cast<std::size_t>(use.bits()) / n;
    oracle::mimo_use turned = use;
    for (std::size_t i = 0; i < use.h.size(); i++)
      turned.h[i] = use.h[i / n * n + static_cast<std::size_t>(search.order[i % n])];
    const auto place = [&](std::size_t i) {
      return static_cast<std::size_t>(search.order[i / m]) * m + i % m;
    };
    for (std::size_t i = 0; i < use.prior.size(); i++) turned.prior[i] = use.prior[place(i)];
    std::vector<double> llrs(n * m);
    search_in(c) = {};
    const std::vector<double> of_turned = oracle_llrs(c, turned);
    for (std::size_t i = 0; i < llrs.size(); i++) llrs[place(i)] = of_turned[i];
    return llrs;
  }
  const double clip = *c.llr_clip;
  const auto rule = is_exact(c) ? oracle::demapper::exact : oracle::demapper::max_log;
  if (c.type == ml) return oracle::detect_ml(use, clip);
  if (c.type == mf) return oracle::detect_linear(use, oracle::linear::mf, clip);
  if (c.type == zf) return oracle::detect_linear(use, oracle::linear::zf, clip);
  if (c.type == mmse) return oracle::detect_linear(use, oracle::linear::mmse, clip);
  if (c.type == ot) return oracle::detect_trellis(use, oracle::trellis::one_pass, clip);
  if (c.type == mtt) return oracle::detect_trellis(use, oracle::trellis::multi_pass, clip);
  if (c.type == kbest) return oracle::detect_kbest(use, kbest_in(c).survivors, kbest_in(c).real_valued, clip);
  if (c.type == nway) {
    const nway_settings settings = nway_in(c);
    return oracle::detect_nway(use, *settings.ways, clip, settings.spread);
  }
  if (c.type == sphere)
    return may_miss(c) ? oracle::detect_sphere(use, oracle_sphere(c), clip).llrs
                       : oracle::detect_ml(use, clip);
  if (c.type == pic) return oracle::detect_pic(use, rule, clip);
  if (c.type != ep) return {};
  const ep_settings& settings = ep_in(c);
  const double levels = std::sqrt(c.qam);
  const double start =
      settings.start_variance ? static_cast<double>(*settings.start_variance) : levels / (levels - 1);
  return oracle::detect_ep(use, {settings.iterations, static_cast<double>(settings.damping), start}, rule,
                           clip);
}

/// How far the LLRs of two float32 algorithms of equal result may lie apart.
inline double llr_tolerance(const mimo_batch& b, std::size_t use) {
  double energy = 0;
  for (std::size_t r = 0; r < static_cast<std::size_t>(b.rx); r++)
    energy += std::norm(b.y[use * static_cast<std::size_t>(b.rx) + r]);
  for (std::size_t e = 0; e < b.gains(); e++) energy += std::norm(b.channel_of(use)[e]);
  return 4e-6 * energy / b.noise_of(use) + 1e-5;
}
/// Uses of which some LLR is farther off than that, or is no number.
template <class Expected>
std::size_t count_different(const mimo_batch& b, const std::vector<float>& llr, const Expected& expected) {
  std::size_t different = 0;
  for (std::size_t i = 0; i < b.uses(); i++) {
    const double allowed = llr_tolerance(b, i);
    bool same = true;
    for (std::size_t e = i * b.bits(); e < (i + 1) * b.bits(); e++)
      same = same && (llr[e] == expected[e] || std::fabs(llr[e] - expected[e]) <= allowed);
    different += !same;
  }
  return different;
}

/// "kbest, 4 x 4, 16-QAM, survivors 16"
inline std::string text_of(const detector_config& c) {
  std::string text = c.type + ", " + std::to_string(c.rx_antennas) + " x " + std::to_string(c.streams) +
                     ", " + std::to_string(c.qam) + "-QAM";
  for (const auto& s : c.kind().settings)
    if (const setting_value value = s.get(c.settings); value != s.get(box()))
      text += ", " + s.name + " " + plain(value);
  if (c.llr_clip) text += ", clip " + std::to_string(*c.llr_clip);
  return text;
}

inline detector_config setting(const std::string& type, int streams, int rx, int qam) {
  return {.type = type, .streams = streams, .rx_antennas = rx, .qam = qam};
}
inline detector_config kbest_setting(int streams, int rx, int qam, int survivors, bool real_valued = false) {
  detector_config c = setting(kbest, streams, rx, qam);
  c.settings = box(kbest_settings{.survivors = survivors, .real_valued = real_valued});
  return c;
}
inline detector_config nway_setting(int streams, int rx, int qam, int ways,
                                    const std::vector<int>& spread = {}) {
  detector_config c = setting(nway, streams, rx, qam);
  c.settings = box(nway_settings{.ways = ways, .spread = spread});
  return c;
}
inline detector_config sphere_setting(int streams, int rx, int qam, const sphere_settings& settings = {}) {
  detector_config c = setting(sphere, streams, rx, qam);
  c.settings = box(settings);
  return c;
}
inline detector_config ep_setting(int streams, int rx, int qam, int iterations, float damping = 0.9f) {
  detector_config c = setting(ep, streams, rx, qam);
  c.settings = box(ep_settings{.iterations = iterations, .damping = damping});
  return c;
}
inline detector_config sorted(detector_config c, stream_sort sort) {
  search_in(c).sort = sort;
  return c;
}
inline detector_config exact(detector_config c) {
  c.set("demapper", "exact");
  return c;
}
/// Settings that reach every detector and each of its ways through the code.
inline std::vector<detector_config> some_of_each() {
  return {setting(ml, 1, 1, 64),
          setting(ml, 2, 2, 16),
          setting(ml, 3, 4, 4),
          setting(mf, 3, 3, 16),
          setting(zf, 2, 4, 64),
          setting(zf, 4, 4, 4),
          setting(mmse, 1, 2, 256),
          setting(mmse, 4, 4, 16),
          setting(mmse, 8, 8, 4),
          setting(ot, 2, 2, 4),
          setting(ot, 3, 4, 16),
          setting(mtt, 4, 4, 4),
          setting(mtt, 2, 2, 16),
          kbest_setting(2, 2, 16, 5),
          kbest_setting(4, 4, 4, 16),
          kbest_setting(3, 3, 16, 9, true),
          kbest_setting(4, 5, 64, 3, true),
          sorted(kbest_setting(4, 4, 16, 8), stream_sort::norm),
          sorted(setting(mtt, 2, 2, 16), stream_sort::sqrd),
          sorted(nway_setting(4, 4, 16, 2), stream_sort::norm_ascending),
          nway_setting(2, 2, 64, 2),
          nway_setting(3, 4, 16, 1),
          nway_setting(4, 4, 16, 3),
          nway_setting(8, 8, 4, 2),
          nway_setting(4, 4, 16, 2, {1, 2, 3, 16}),
          nway_setting(3, 4, 64, 1, {5, 1, 8}),
          sorted(nway_setting(4, 4, 16, 1), stream_sort::fsd),
          sorted(nway_setting(5, 5, 4, 2, {1, 1, 2, 4, 4}), stream_sort::fsd),
          setting(pic, 1, 1, 16),
          setting(pic, 2, 2, 64),
          exact(setting(pic, 4, 4, 16)),
          setting(pic, 5, 8, 256),
          setting(pic, 16, 16, 4),
          ep_setting(1, 2, 4, 2),
          ep_setting(2, 2, 16, 10),
          exact(ep_setting(3, 3, 64, 3, 0.5f)),
          ep_setting(4, 4, 256, 4),
          ep_setting(9, 12, 4, 2, 0),
          setting(sphere, 1, 1, 16),
          setting(sphere, 2, 2, 64),
          setting(sphere, 3, 4, 4),
          sphere_setting(4, 4, 4, {.hard_output = true}),
          sphere_setting(4, 4, 16, {.radius = 6, .node_limit = 50}),
          sphere_setting(5, 6, 16, {.hard_output = true, .node_limit = 40}),
          sorted(sphere_setting(4, 4, 64, {.node_limit = 30}), stream_sort::sqrd),
          sphere_setting(8, 8, 4, {.node_limit = 100})};
}
}  // namespace wb::testing
