#include <warpband/detect/linear/linear.hpp>

#include <warpband/detect/kernel_detector.hpp>
#include <warpband/detect/linear/linear_args.hpp>

namespace wb {

WB_DECLARE_KERNEL(linear)

namespace {

template <linear_algorithm Algorithm>
std::unique_ptr<detector> make_linear(const detector_config& c) {
  linear_args call;
  call.algorithm = Algorithm;
  return make_kernel_detector(c, false, call,
                              {[](const linear_args&) -> const kernel_set& { return linear_kernels(); }});
}

}  // namespace

detector_kind mf_kind() {
  return {.name = "mf", .text = "matched filter", .make = make_linear<linear_algorithm::mf>};
}
detector_kind zf_kind() {
  return {.name = "zf", .text = "zero forcing", .make = make_linear<linear_algorithm::zf>};
}
detector_kind mmse_kind() {
  return {.name = "mmse", .text = "linear MMSE", .make = make_linear<linear_algorithm::mmse>};
}

}  // namespace wb
