#include <warpband/detect/ml/ml.hpp>

#include <string>

#include <warpband/detect/kernel_detector.hpp>
#include <warpband/detect/mapping.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {

WB_DECLARE_KERNEL(ml)

namespace {

box complete_ml(const detector_config& c) {
  if (c.streams * bits_per_symbol(c.qam) > 24) {
    const int max_bits = 24 / c.streams / 2;  // bits of a symbol in one dimension
    throw argument_error("qam", std::to_string(c.qam),
                         std::to_string(1 << 2 * max_bits) + (max_bits > 1 ? " or less" : "") + " with " +
                             std::to_string(c.streams) + " streams (at most 2^24 hypotheses)");
  }
  return {};
}

void share_ml(const executor& exec, std::size_t, detect_call& call) {
  call.tile = ml_tile(exec, call.streams, call.pam_bits);
}

}  // namespace

detector_kind ml_kind() {
  return {.name = "ml",
          .text = "exhaustive max-log search, at most 2^24 candidates",
          .takes_prior = true,
          .make =
              [](const detector_config& c) {
                return make_kernel_detector(
                    c, true, detect_call{},
                    {[](const detect_call&) -> const kernel_set& { return ml_kernels(); }, share_ml});
              },
          .complete = complete_ml};
}

}  // namespace wb
