#include <warpband/detect/kbest/kbest.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/detect/kbest/kbest_args.hpp>
#include <warpband/detect/kernel_detector.hpp>
#include <warpband/detect/mapping.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {

WB_DECLARE_KERNEL(kbest)

namespace {

std::vector<setting_of<kbest_settings>> settings_of_kbest() {
  std::vector<setting_of<kbest_settings>> settings{
      integer("survivors", &kbest_settings::survivors, 1, 4096, "K: paths kept at a level."),
      boolean("real_valued", &kbest_settings::real_valued,
              "Search a tree with a level for each real dimension instead of each stream.")};
  const auto order = within<kbest_settings>([](kbest_settings& c) -> search_order& { return c.search; },
                                            search_order_settings());
  settings.insert(settings.end(), order.begin(), order.end());
  return settings;
}

box complete_kbest(const detector_config& c) {
  kbest_settings settings = c.get<kbest_settings>();
  check_range("survivors", settings.survivors, 1, 4096);
  settings.search = completed(settings.search, c.streams);
  return box(settings);
}

std::unique_ptr<detector> make_kbest(const detector_config& c) {
  const kbest_settings& settings = c.get<kbest_settings>();
  kbest_args call;
  // There are never more survivors than leaves, and scratch need not be larger.
  const int bits = c.streams * bits_per_symbol(c.qam);
  call.survivors = bits < 12 ? std::min(settings.survivors, 1 << bits) : settings.survivors;
  call.real_valued = settings.real_valued;
  set_order(call, settings.search);
  return make_kernel_detector(c, true, call,
                              {[](const kbest_args&) -> const kernel_set& { return kbest_kernels(); },
                               [](const executor& exec, std::size_t uses, kbest_args& k) {
                                 k.tile = kbest_uses_of_warp(exec, uses, k.survivors);
                               }});
}

std::vector<box> candidates_kbest(const detector_config& base) {
  std::vector<box> candidates;
  kbest_settings settings = base.type == "kbest" ? base.get<kbest_settings>() : kbest_settings{};
  const double hypotheses = std::pow(base.qam, base.streams);
  for (const bool real : {false, true})
    for (int survivors = 4; survivors <= 256 && survivors < hypotheses; survivors *= 2) {
      settings.survivors = survivors;
      settings.real_valued = real;
      candidates.emplace_back(settings);
    }
  return candidates;
}

}  // namespace

detector_kind kbest_kind() {
  return {.name = "kbest",
          .text = "K-best tree search, breadth first",
          .settings = boxed(settings_of_kbest()),
          .takes_prior = true,
          .make = make_kbest,
          .complete = complete_kbest,
          .may_miss = [](const detector_config&) { return true; },
          .candidates = candidates_kbest,
          .label =
              [](const detector_config& c) {
                const kbest_settings& settings = c.get<kbest_settings>();
                return (settings.real_valued ? "kbest real K = " : "kbest K = ") +
                       std::to_string(settings.survivors);
              },
          .thread_bytes =
              [](const detector_config& c) {
                return static_cast<std::size_t>(c.get<kbest_settings>().survivors) * 704;
              }};
}

}  // namespace wb
