#include <warpband/detect/pic/pic.hpp>

#include <warpband/detect/kernel_detector.hpp>
#include <warpband/detect/soft_args.hpp>
#include <warpband/detect/soft_settings.hpp>

namespace wb {

WB_DECLARE_KERNEL(pic)

detector_kind pic_kind() {
  using s = pic_settings;
  return {.name = "pic",
          .text = "MMSE with parallel interference cancellation",
          .settings = boxed(std::vector<setting_of<s>>{soft_demapper_setting<s>()}),
          .most_streams = most_soft_streams,
          .takes_prior = true,
          .make =
              [](const detector_config& c) {
                soft_args call;
                call.exact = c.get<s>().demapper == demap_algorithm::exact;
                return make_kernel_detector(
                    c, true, call, {[](const soft_args&) -> const kernel_set& { return pic_kernels(); }});
              },
          .complete = [](const detector_config& c) { return box(checked_demapper(c.get<s>())); },
          // Without a prior it is mmse.
          .candidates = [](const detector_config&) { return std::vector<box>{}; }};
}

}  // namespace wb
