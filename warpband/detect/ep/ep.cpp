#include <warpband/detect/ep/ep.hpp>

#include <string>

#include <warpband/core/check.hpp>
#include <warpband/detect/ep/ep_args.hpp>
#include <warpband/detect/kernel_detector.hpp>
#include <warpband/detect/soft_settings.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {

WB_DECLARE_KERNEL(ep)

namespace {

std::vector<setting_of<ep_settings>> settings_of_ep() {
  return {
      soft_demapper_setting<ep_settings>(),
      integer("iterations", &ep_settings::iterations, 1, 100,
              "Estimates of all symbols, refined between them."),
      number("damping", &ep_settings::damping, 0, 0.999,
             "beta: a refinement keeps this share of the old parameters. More damping converges more surely "
             "and takes more iterations."),
      number("start_variance", &ep_settings::start_variance, 0.1, 10,
             "Variance of the symbols before the first iteration, in units of that of their a-priori "
             "probabilities. Left out: P / (P - 1) with the P = sqrt(qam) amplitudes of a dimension; 1 in "
             "Cespedes et al.")};
}

box complete_ep(const detector_config& c) {
  const ep_settings& settings = checked_demapper(c.get<ep_settings>());
  check_range("iterations", settings.iterations, 1, 100);
  if (!(settings.damping >= 0 && settings.damping <= 0.999f))
    throw argument_error("damping", as_message(settings.damping), "0 to 0.999");
  if (const auto v = settings.start_variance; v && !(*v >= 0.1f && *v <= 10))
    throw argument_error("start_variance", as_message(*v), "0.1 to 10, or unset");
  return box(settings);
}

std::unique_ptr<detector> make_ep(const detector_config& c) {
  const ep_settings& settings = c.get<ep_settings>();
  const auto levels = static_cast<float>(1 << bits_per_symbol(c.qam) / 2);
  ep_args call;
  call.exact = settings.demapper == demap_algorithm::exact;
  call.iterations = settings.iterations;
  call.damping = settings.damping;
  call.start_variance = settings.start_variance.value_or(levels / (levels - 1));
  return make_kernel_detector(c, true, call,
                              {[](const ep_args&) -> const kernel_set& { return ep_kernels(); }});
}

std::vector<box> candidates_ep(const detector_config& base) {
  std::vector<box> candidates;
  ep_settings settings = base.type == "ep" ? base.get<ep_settings>() : ep_settings{};
  for (const int iterations : {2, 4, 10}) {
    settings.iterations = iterations;
    candidates.emplace_back(settings);
  }
  return candidates;
}

}  // namespace

detector_kind ep_kind() {
  return {.name = "ep",
          .text = "expectation propagation",
          .settings = boxed(settings_of_ep()),
          .most_streams = most_soft_streams,
          .takes_prior = true,
          .make = make_ep,
          .complete = complete_ep,
          .candidates = candidates_ep,
          .label = [](const detector_config& c) {
            return "ep, " + std::to_string(c.get<ep_settings>().iterations) + " iterations";
          }};
}

}  // namespace wb
