#include <warpband/detect/nway/nway.hpp>

#include <algorithm>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/detect/kernel_detector.hpp>
#include <warpband/detect/mapping.hpp>
#include <warpband/detect/nway/nway_args.hpp>

namespace wb {

WB_DECLARE_KERNEL(nway)
WB_DECLARE_KERNEL(nway_prior)
WB_DECLARE_KERNEL(nway_spread)
WB_DECLARE_KERNEL(nway_word)

namespace {

std::vector<setting_of<nway_settings>> settings_of_nway() {
  std::vector<setting_of<nway_settings>> settings{
      integer_or_auto("ways", &nway_settings::ways, 1, 8,
                      "Passes of the search, each with another stream at the top of the tree. \"auto\": one "
                      "for each stream.",
                      "an integer from 1 to the number of streams"),
      integers(
          "spread", &nway_settings::spread, 1, 256,
          "Points that a path keeps at each level of the tree, the lowest level first and the top last. It "
          "holds for each pass. Left out: 1, ..., 1, qam. With fewer than qam at the top a hypothesis can be "
          "missing.",
          "a list with a number from 1 to qam for each stream, their product at most 2^24")};
  const auto order = within<nway_settings>([](nway_settings& c) -> search_order& { return c.search; },
                                           search_order_settings());
  settings.insert(settings.end(), order.begin(), order.end());
  const auto words = within<nway_settings>([](nway_settings& c) -> word_settings& { return c.words; },
                                           word_length_settings());
  settings.insert(settings.end(), words.begin(), words.end());
  return settings;
}

int ways_of(const detector_config& c) { return c.get<nway_settings>().ways.value_or(c.streams); }
const std::vector<int>& spread_of(const detector_config& c) { return c.get<nway_settings>().spread; }
/// Whether each stream has all points at the top of some pass.
bool has_all_ways(const detector_config& c) {
  const std::vector<int>& spread = spread_of(c);
  return ways_of(c) == c.streams && (spread.empty() || spread.back() == c.qam);
}
/// Whether the candidates are all vectors.
bool is_exhaustive(const detector_config& c) {
  const std::vector<int>& spread = spread_of(c);
  const bool keeps_all =
      !spread.empty() && std::ranges::all_of(spread, [&](int kept) { return kept == c.qam; });
  return keeps_all || (has_all_ways(c) && c.streams <= 2);
}

/// Without one that is 1, ..., 1, qam. Throws argument_error.
std::vector<int> completed_spread(const detector_config& c) {
  const std::vector<int>& spread = spread_of(c);
  if (spread.empty()) return {};
  if (spread.size() != static_cast<std::size_t>(c.streams))
    throw argument_error("spread", text_of_order(spread),
                         "a number for each of " + std::to_string(c.streams) + " streams");
  double candidates = 1;
  for (const int kept : spread) {
    if (kept < 1 || kept > c.qam)
      throw argument_error("spread", text_of_order(spread),
                           "1 to " + std::to_string(c.qam) + " at each level");
    candidates *= kept;
  }
  if (candidates > 1 << 24)
    throw argument_error("spread", text_of_order(spread), "a product of at most 2^24");
  std::vector<int> usual(spread.size(), 1);
  usual.back() = c.qam;
  return spread == usual ? std::vector<int>{} : spread;
}

/// For sort = fsd: levels from the top down that keep all points.
std::uint32_t full_levels(const detector_config& c) {
  const std::vector<int>& spread = spread_of(c);
  if (spread.empty()) return 1;
  std::uint32_t full = 0;
  for (std::size_t k = 0; k < spread.size(); k++)
    if (spread[k] == c.qam) full |= 1u << (spread.size() - 1 - k);
  return full;
}

box complete_nway(const detector_config& c) {
  nway_settings settings = c.get<nway_settings>();
  if (settings.ways) check_range("ways", *settings.ways, 1, c.streams);
  settings.spread = completed_spread(c);
  settings.search = completed(settings.search, c.streams, true);
  settings.ways = ways_of(c);
  settings.words = completed(settings.words, c);
  if (settings.words.word_length) {
    if (!settings.spread.empty())
      throw argument_error("spread", text_of_order(settings.spread), "unset with word_length");
    if (settings.search.sort == stream_sort::fsd)
      throw argument_error("sort", "fsd", "none, norm, norm-ascending or sqrd with word_length");
  }
  return box(settings);
}

std::unique_ptr<detector> make_nway(const detector_config& c) {
  const nway_settings& settings = c.get<nway_settings>();
  nway_spread_args call;
  call.ways = *settings.ways;
  set_order(call, settings.search);
  call.full_levels = full_levels(c);
  std::ranges::copy(settings.spread, call.spread);
  if (settings.words.word_length)
    return make_kernel_detector(
        c, true, nway_word_args{call, format_of(settings.words)},
        {[](const nway_word_args&) -> const kernel_set& { return nway_word_kernels(); }});
  if (!settings.spread.empty() || settings.search.sort == stream_sort::fsd)
    return make_kernel_detector(
        c, true, call, {[](const nway_spread_args&) -> const kernel_set& { return nway_spread_kernels(); }});
  return make_kernel_detector(c, true, static_cast<const nway_args&>(call),
                              {[](const nway_args& n) -> const kernel_set& {
                                 return n.prior.data != nullptr ? nway_prior_kernels() : nway_kernels();
                               },
                               [](const executor& exec, std::size_t uses, nway_args& n) {
                                 n.tile = nway_tile(exec, uses, n.prior.data != nullptr);
                               }});
}

std::vector<box> candidates_nway(const detector_config& base) {
  std::vector<box> candidates;
  nway_settings settings = base.type == "nway" ? base.get<nway_settings>() : nway_settings{};
  for (int ways = 1; ways <= base.streams; ways++) {
    settings.ways = ways;
    candidates.emplace_back(settings);
  }
  return candidates;
}

}  // namespace

detector_kind nway_kind() {
  return {.name = "nway",
          .text = "N-way parallel search, each pass with another stream at the top of the tree",
          .settings = boxed(settings_of_nway()),
          .takes_prior = true,
          .make = make_nway,
          .complete = complete_nway,
          .may_miss = [](const detector_config& c) { return !has_all_ways(c) && !is_exhaustive(c); },
          .default_clip = [](const detector_config& c) { return is_exhaustive(c) ? no_clip : 8.f; },
          .candidates = candidates_nway,
          .label =
              [](const detector_config& c) {
                const std::vector<int>& spread = spread_of(c);
                return "nway N = " + std::to_string(ways_of(c)) +
                       (spread.empty() ? "" : ", spread " + text_of_order(spread)) +
                       text_of(c.get<nway_settings>().words);
              }};
}

}  // namespace wb
