#include <warpband/detect/sphere/sphere.hpp>

#include <string>

#include <warpband/core/check.hpp>
#include <warpband/detect/kernel_detector.hpp>
#include <warpband/detect/sphere/sphere_args.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {

WB_DECLARE_KERNEL(sphere)

namespace {

constexpr int most_nodes = 1 << 24;

/// Exhaustive detection takes as many hypotheses at most. So without a limit what it takes is searched whole.
bool exceeds_most_nodes(const detector_config& c) { return c.streams * bits_per_symbol(c.qam) > 24; }

std::vector<setting_of<sphere_settings>> settings_of_sphere() {
  std::vector<setting_of<sphere_settings>> settings{
      boolean("hard_output", &sphere_settings::hard_output,
              "Search only for the maximum-likelihood decision. Each LLR is then the clip, with its sign."),
      number("radius", &sphere_settings::radius, 1e-3, 1e6,
             "Squared radius of the sphere that the search begins with, in units of N0. If it is empty the "
             "search starts again without it. Left out: none."),
      integer("node_limit", &sphere_settings::node_limit, 1, most_nodes,
              "Nodes after which the candidates found so far stand. The first path is always completed. Left "
              "out: "
              "2^24, which up to 2^24 hypotheses is no limit.")};
  const auto order = within<sphere_settings>([](sphere_settings& c) -> search_order& { return c.search; },
                                             search_order_settings());
  settings.insert(settings.end(), order.begin(), order.end());
  return settings;
}

box complete_sphere(const detector_config& c) {
  sphere_settings settings = c.get<sphere_settings>();
  if (const auto r = settings.radius; r && !(*r >= 1e-3f && *r <= 1e6f))
    throw argument_error("radius", as_message(*r), "1e-3 to 1e6, or unset");
  if (settings.node_limit) check_range("node_limit", *settings.node_limit, 1, most_nodes);
  settings.search = completed(settings.search, c.streams);
  return box(settings);
}

std::unique_ptr<detector> make_sphere(const detector_config& c) {
  const sphere_settings& settings = c.get<sphere_settings>();
  sphere_args call;
  call.hard = settings.hard_output;
  call.radius = settings.radius.value_or(no_clip);
  call.node_limit = settings.node_limit.value_or(most_nodes);
  set_order(call, settings.search);
  return make_kernel_detector(c, true, call,
                              {[](const sphere_args&) -> const kernel_set& { return sphere_kernels(); }});
}

/// Limits of some nodes for each stream, which bound the time of a use.
std::vector<box> candidates_sphere(const detector_config& base) {
  sphere_settings settings = base.type == "sphere" ? base.get<sphere_settings>() : sphere_settings{};
  if (base.type != "sphere") settings.search.sort = stream_sort::sqrd;
  std::vector<box> candidates;
  for (const int nodes : {8, 16, 32, 64, 128}) {
    settings.node_limit = nodes * base.streams;
    candidates.emplace_back(settings);
  }
  return candidates;
}

std::string label_of_sphere(const detector_config& c) {
  const sphere_settings& settings = c.get<sphere_settings>();
  std::string label = settings.hard_output ? "sphere, hard" : "sphere";
  if (settings.radius) label += ", radius " + as_message(*settings.radius);
  if (settings.node_limit) label += ", " + std::to_string(*settings.node_limit) + " nodes";
  return label;
}

}  // namespace

detector_kind sphere_kind() {
  return {.name = "sphere",
          .text = "sphere detection, depth first: the LLRs of exhaustive search from fewer nodes",
          .settings = boxed(settings_of_sphere()),
          .takes_prior = true,
          .make = make_sphere,
          .complete = complete_sphere,
          .may_miss =
              [](const detector_config& c) {
                const sphere_settings& settings = c.get<sphere_settings>();
                return settings.hard_output || settings.radius || settings.node_limit ||
                       exceeds_most_nodes(c);
              },
          .candidates = candidates_sphere,
          .label = label_of_sphere};
}

}  // namespace wb
