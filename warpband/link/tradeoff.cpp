#include <warpband/link/tradeoff.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <warpband/core/setting.hpp>
#include <warpband/link/link_settings.hpp>

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
/// Whether a detector reaches both values of every bit, whatever it receives.
bool is_complete(const detector_config& d) {
  return d.type != detector_type::ot && d.type != detector_type::kbest &&
         (d.type != detector_type::nway || d.ways == 0 || d.ways == d.streams);
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
  if (is_uncoded(code)) return "none";
  const auto said = [&](const char* setting) { return plain(code.value_of(setting)); };
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
