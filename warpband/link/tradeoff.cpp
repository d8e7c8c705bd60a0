#include <warpband/link/tradeoff.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <warpband/core/setting.hpp>
#include <warpband/link/code_settings.hpp>
#include <warpband/link/names.hpp>

namespace wb {
namespace {

/// Adds what a library takes, once.
template <class C, class Same>
void add_allowed(std::vector<C>& all, const C& c, Same same) {
  if (std::none_of(all.begin(), all.end(), [&](const C& other) { return same(other, c); })) all.push_back(c);
}

bool is_same(const detector_config& a, const detector_config& b) {
  return a.type == b.type && a.ways == b.ways && a.survivors == b.survivors &&
         a.real_valued == b.real_valued && a.llr_clip == b.llr_clip && a.iterations == b.iterations;
}
bool is_allowed(const detector_config& d) {
  try {
    (void)completed(d);
    return true;
  } catch (const argument_error&) {
    return false;
  }
}
bool is_allowed(const code_config& c) {
  try {
    (void)completed(c);
    return true;
  } catch (const argument_error&) {
    return false;
  }
}

/// Whether a detector reaches both values of every bit, whatever it receives.
bool is_complete(const detector_config& d) {
  return d.type != detector_type::ot && d.type != detector_type::kbest &&
         (d.type != detector_type::nway || d.ways == 0 || d.ways == d.streams);
}

void add_ldpc(std::vector<code_config>& all, const code_config& base, bool on_device) {
  std::vector<std::pair<ldpc_algorithm, ldpc_precision>> kinds{
      {base.ldpc.decoder.algorithm, base.ldpc.decoder.precision},
      {ldpc_algorithm::normalised_min_sum, ldpc_precision::int8},
      {ldpc_algorithm::normalised_min_sum, ldpc_precision::float32},
      {ldpc_algorithm::sum_product, ldpc_precision::float32}};
  if (on_device) kinds.emplace_back(ldpc_algorithm::normalised_min_sum, ldpc_precision::float16);
  for (const auto& [algorithm, precision] : kinds)
    for (const int iterations : {base.ldpc.decoder.iterations, 4, 6, 8, 10, 15, 20, 30}) {
      code_config c = base;
      c.ldpc.decoder.algorithm = algorithm;
      c.ldpc.decoder.precision = precision;
      c.ldpc.decoder.iterations = iterations;
      if (is_allowed(c))
        add_allowed(all, c, [](const code_config& a, const code_config& b) {
          const ldpc_decoder_config &x = a.ldpc.decoder, &y = b.ldpc.decoder;
          return x.algorithm == y.algorithm && x.precision == y.precision && x.iterations == y.iterations;
        });
    }
}

void add_turbo(std::vector<code_config>& all, const code_config& base) {
  const std::array<std::pair<map_algorithm, turbo_precision>, 5> kinds{
      {{base.turbo.decoder.algorithm, base.turbo.decoder.precision},
       {map_algorithm::max_log_map, turbo_precision::int16},
       {map_algorithm::max_log_map, turbo_precision::float32},
       {map_algorithm::log_map, turbo_precision::bfloat16},
       {map_algorithm::log_map, turbo_precision::float32}}};
  for (const auto& [algorithm, precision] : kinds)
    for (const int iterations : {base.turbo.decoder.iterations, 2, 3, 4, 5, 6, 8}) {
      code_config c = base;
      turbo_decoder_config& d = c.turbo.decoder;
      if (algorithm != d.algorithm) {
        d.algorithm = algorithm;
        d = with_usual_scale(d);
      }
      d.precision = precision;
      d.iterations = iterations;
      if (is_allowed(c))
        add_allowed(all, c, [](const code_config& a, const code_config& b) {
          const turbo_decoder_config &x = a.turbo.decoder, &y = b.turbo.decoder;
          return x.algorithm == y.algorithm && x.precision == y.precision && x.iterations == y.iterations;
        });
    }
}

}  // namespace

bool dominates(const cost_and_need& a, const cost_and_need& b) noexcept {
  return a.seconds <= b.seconds && a.db <= b.db && (a.seconds < b.seconds || a.db < b.db);
}

std::vector<std::size_t> front_of(std::span<const cost_and_need> all) {
  std::vector<std::size_t> order(all.size()), front;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return all[a].seconds != all[b].seconds ? all[a].seconds < all[b].seconds : all[a].db < all[b].db;
  });
  for (const std::size_t i : order)
    if (front.empty() || all[i].db < all[front.back()].db) front.push_back(i);
  return front;
}

std::optional<std::size_t> fastest_within(std::span<const cost_and_need> all,
                                          std::span<const std::size_t> front, double loss_db) {
  if (front.empty()) return std::nullopt;
  const double best = all[front.back()].db;
  for (const std::size_t i : front)
    if (all[i].db - best <= loss_db) return i;
  return front.back();
}

std::vector<detector_config> detector_candidates(const detector_config& base) {
  std::vector<detector_config> all;
  const auto add = [&](detector_type type, auto change) {
    detector_config d{.type = type,
                      .streams = base.streams,
                      .rx_antennas = base.rx_antennas,
                      .qam = base.qam,
                      .llr_clip = base.llr_clip};
    if (takes_order(type)) d.order = base.order;
    change(d);
    if (d.type == detector_type::nway && d.ways == 0) d.ways = d.streams;
    // "none" is for those alone that always have both hypotheses.
    if (d.llr_clip == no_clip && !is_complete(d)) d.llr_clip.reset();
    if (is_allowed(d)) add_allowed(all, d, is_same);
  };
  const auto as_it_is = [](detector_config&) {};
  add(base.type, [&](detector_config& d) { d = base; });
  for (const detector_type type : {detector_type::mf, detector_type::zf, detector_type::mmse,
                                   detector_type::ot, detector_type::mtt, detector_type::ml})
    add(type, as_it_is);
  for (int ways = 1; ways <= base.streams; ways++)
    add(detector_type::nway, [&](detector_config& d) { d.ways = ways; });
  for (const int iterations : {2, 4, 10})
    add(detector_type::ep, [&](detector_config& d) { d.iterations = iterations; });
  const double hypotheses = std::pow(base.qam, base.streams);
  for (const bool real : {false, true})
    for (int survivors = 4; survivors <= 256 && survivors < hypotheses; survivors *= 2)
      add(detector_type::kbest, [&](detector_config& d) {
        d.survivors = survivors;
        d.real_valued = real;
      });
  return all;
}

std::vector<std::optional<float>> clip_candidates(const detector_config& d) {
  if (is_complete(d)) return {d.llr_clip};
  std::vector<std::optional<float>> all{d.llr_clip.value_or(8.f)};
  for (const float clip : {4.f, 8.f, 16.f})
    if (clip != all.front()) all.emplace_back(clip);
  return all;
}

std::vector<code_config> decoder_candidates(const code_config& base, bool on_device) {
  std::vector<code_config> all;
  switch (base.type) {
    case code_type::wimax_ldpc:
    case code_type::wifi_ldpc:
    case code_type::qc_ldpc:
    case code_type::nr_ldpc:
      add_ldpc(all, base, on_device);
      break;
    case code_type::lte_turbo:
      add_turbo(all, base);
      break;
    case code_type::conv:
      for (const auto& [algorithm, precision] : {std::pair{base.conv.algorithm, base.conv.precision},
                                                 {conv_algorithm::viterbi, conv_precision::int16},
                                                 {conv_algorithm::max_log_map, conv_precision::int16},
                                                 {conv_algorithm::viterbi, conv_precision::float32},
                                                 {conv_algorithm::max_log_map, conv_precision::float32},
                                                 {conv_algorithm::log_map, conv_precision::float32}}) {
        code_config c = base;
        c.conv.algorithm = algorithm;
        c.conv.precision = precision;
        if (is_allowed(c))
          add_allowed(all, c, [](const code_config& a, const code_config& b) {
            return a.conv.algorithm == b.conv.algorithm && a.conv.precision == b.conv.precision;
          });
      }
      break;
    case code_type::none:
    case code_type::lte_transport:
    case code_type::nr_dlsch:
    case code_type::nr_ulsch:
    case code_type::polar:
      all.push_back(base);
      break;
  }
  return all;
}

std::string receiver_name(const link_antennas& antennas) {
  if (const auto* one = std::get_if<single_antenna>(&antennas))
    return std::string("demapper ") + name_of(one->demapper);
  const auto* d = std::get_if<detector_config>(&antennas);
  if (d == nullptr) return "other";
  std::string name = name_of(d->type);
  if (d->type == detector_type::kbest)
    name += (d->real_valued ? " real K = " : " K = ") + std::to_string(d->survivors);
  if (d->type == detector_type::ep) name += ", " + std::to_string(d->iterations) + " iterations";
  if (d->type == detector_type::nway) name += " N = " + std::to_string(d->ways == 0 ? d->streams : d->ways);
  if (!is_complete(*d) || (d->llr_clip && *d->llr_clip != no_clip))
    name += ", clip " + plain(setting_value(as_written(d->llr_clip.value_or(8.f))));
  return name;
}

std::string decoder_name(const code_config& code) {
  if (code.type == code_type::none) return "none";
  const auto said = [&](const char* setting) {
    const auto* s = find_setting(settings_of(code.type), setting);
    return s == nullptr ? std::string() : plain(s->get(code));
  };
  std::string name = said("algorithm");
  if (const std::string precision = said("precision"); !precision.empty()) name += " " + precision;
  if (const std::string iterations = said("iterations"); !iterations.empty())
    name += ", " + iterations + (iterations == "1" ? " iteration" : " iterations");
  return name;
}

const char* name_of(tradeoff_fate fate) noexcept {
  switch (fate) {
    case tradeoff_fate::measured:
      return "measured";
    case tradeoff_fate::dominated:
      return "dominated";
    case tradeoff_fate::unreachable:
      return "unreachable";
    case tradeoff_fate::imprecise:
      return "imprecise";
    case tradeoff_fate::slow:
      return "slow";
    case tradeoff_fate::late:
      return "late";
  }
  return "?";
}

double loss_of(const tradeoff_result& r, std::size_t entry) {
  return *r.entries.at(entry).db - *r.entries.at(r.front.back()).db;
}

std::optional<std::size_t> chosen_of(const tradeoff_result& r, double loss_db) {
  std::vector<cost_and_need> all;
  for (const tradeoff_entry& e : r.entries) all.push_back({e.times.seconds(), e.db.value_or(1e9)});
  return fastest_within(all, r.front, loss_db);
}

}  // namespace wb
