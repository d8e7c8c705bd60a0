#include <warpband/link/tradeoff.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <warpband/core/setting.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/link_settings.hpp>
#include <warpband/link/stages.hpp>

namespace wb {
namespace {

bool is_allowed(const detector_config& d) {
  try {
    (void)make_detector(d);
    return true;
  } catch (const argument_error&) {
    return false;
  }
}

}  // namespace

bool dominates(const cost_and_need& a, const cost_and_need& b) noexcept {
  return a.seconds <= b.seconds && a.db <= b.db && (a.seconds < b.seconds || a.db < b.db);
}

std::vector<std::size_t> front_of(std::span<const cost_and_need> settings) {
  std::vector<std::size_t> order(settings.size()), front;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return settings[a].seconds != settings[b].seconds ? settings[a].seconds < settings[b].seconds
                                                      : settings[a].db < settings[b].db;
  });
  for (const std::size_t i : order)
    if (front.empty() || settings[i].db < settings[front.back()].db) front.push_back(i);
  return front;
}

std::optional<std::size_t> fastest_within(std::span<const cost_and_need> settings,
                                          std::span<const std::size_t> front, double loss_db) {
  if (front.empty()) return std::nullopt;
  const double best = settings[front.back()].db;
  for (const std::size_t i : front)
    if (settings[i].db - best <= loss_db) return i;
  return front.back();
}

std::vector<detector_config> detector_candidates(const detector_config& base) {
  std::vector<detector_config> candidates;
  const auto add = [&](detector_config d) {
    // "none" is for those alone that always have both hypotheses.
    if (d.llr_clip == no_clip && may_miss(d)) d.llr_clip.reset();
    if (!is_allowed(d)) return;
    const auto is_same = [&](const detector_config& other) { return completed(other) == completed(d); };
    if (std::none_of(candidates.begin(), candidates.end(), is_same)) candidates.push_back(std::move(d));
  };
  add(base);
  const setting_value order = base.value_of("order");
  const bool is_order = std::holds_alternative<std::vector<std::int64_t>>(order);
  for (const detector_kind& kind : detectors()) {
    const std::vector<box> tried = kind.candidates ? kind.candidates(base) : std::vector<box>{box()};
    for (const box& settings : tried) {
      detector_config d = base;
      d.type = kind.name;
      d.extrinsic = false;
      d.settings = settings;
      const std::string sort = plain(d.value_of("sort"));
      const bool takes_order =
          find_setting(kind.settings, "order") != nullptr && (sort.empty() || sort == "none");
      if (is_order && takes_order && kind.name != base.type) d.set("order", order);
      add(std::move(d));
    }
  }
  return candidates;
}

std::vector<float> clip_candidates(float in_force, bool needs_limit) {
  std::vector<float> clips{in_force};
  for (const float clip : {4.f, 8.f, 16.f, no_clip})
    if (clip != in_force && !(clip == no_clip && needs_limit)) clips.push_back(clip);
  return clips;
}

receiver_rates rates_of(const tradeoff_entry& e) {
  const frame_sizes size(completed(e.link));
  const double frames = 1 / (e.times.seconds() * e.transmissions);
  const auto codewords = static_cast<double>(size.codewords);
  return {frames * codewords * static_cast<double>(size.k),
          frames * codewords * static_cast<double>(size.sent)};
}

void check_choices(const link_config& link) {
  const antenna_kind& kind = link.antennas.kind();
  if (kind.candidates == nullptr)
    throw argument_error("antennas", "\"" + std::string(kind.name) + "\"",
                         "antennas with a choice of receivers");
  if (is_of_bits(link.channel))
    throw argument_error("channel.type", '"' + link.channel.type + '"', "a channel with an SNR");
  (void)kind.candidates(link);
}

std::string decoder_name(const code_config& code) {
  if (is_uncoded(code)) return "none";
  const auto value = [&](const char* setting) { return plain(code.value_of(setting)); };
  std::string name = value("algorithm");
  if (const std::string precision = value("precision"); !precision.empty()) name += " " + precision;
  if (const std::string iterations = value("iterations"); !iterations.empty())
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
  std::vector<cost_and_need> costs;
  for (const tradeoff_entry& e : r.entries) costs.push_back({e.times.seconds(), e.db.value_or(1e9)});
  return fastest_within(costs, r.front, loss_db);
}

}  // namespace wb
