#include <warpband/detect/nway/nway.hpp>

#include <string>

#include <warpband/detect/kernel_detector.hpp>
#include <warpband/detect/mapping.hpp>
#include <warpband/detect/nway/nway_args.hpp>

namespace wb {

WB_DECLARE_KERNEL(nway)
WB_DECLARE_KERNEL(nway_prior)

namespace {

std::vector<setting_of<nway_settings>> settings_of_nway() {
  std::vector<setting_of<nway_settings>> settings{integer_or_auto(
      "ways", &nway_settings::ways, 1, 8,
      "Passes of the search, each with another stream at the top of the tree. \"auto\": one for each stream.",
      "an integer from 1 to the number of streams")};
  const auto order = within<nway_settings>([](nway_settings& c) -> search_order& { return c.search; },
                                           search_order_settings());
  settings.insert(settings.end(), order.begin(), order.end());
  return settings;
}

int ways_of(const detector_config& c) { return c.get<nway_settings>().ways.value_or(c.streams); }
bool has_all_ways(const detector_config& c) { return ways_of(c) == c.streams; }

box complete_nway(const detector_config& c) {
  nway_settings settings = c.get<nway_settings>();
  if (settings.ways) check_range("ways", *settings.ways, 1, c.streams);
  settings.search = completed(settings.search, c.streams);
  settings.ways = ways_of(c);
  return box(settings);
}

std::unique_ptr<detector> make_nway(const detector_config& c) {
  nway_args call;
  call.ways = *c.get<nway_settings>().ways;
  set_order(call, c.get<nway_settings>().search);
  return make_kernel_detector(c, true, call,
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
          .may_miss = [](const detector_config& c) { return !has_all_ways(c); },
          .default_clip =
              [](const detector_config& c) {
                return has_all_ways(c) && c.streams <= 2 ? no_clip : 8.f;  // there it equals ml
              },
          .candidates = candidates_nway,
          .label = [](const detector_config& c) { return "nway N = " + std::to_string(ways_of(c)); }};
}

}  // namespace wb
