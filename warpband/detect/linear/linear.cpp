#include <warpband/detect/linear/linear.hpp>

#include <warpband/detect/kernel_detector.hpp>
#include <warpband/detect/linear/linear_args.hpp>

namespace wb {

WB_DECLARE_KERNEL(linear)
WB_DECLARE_KERNEL(mmse_word)

namespace {

template <linear_algorithm Algorithm>
std::unique_ptr<detector> make_linear(const detector_config& c) {
  linear_args call;
  call.algorithm = Algorithm;
  return make_kernel_detector(c, false, call,
                              {[](const linear_args&) -> const kernel_set& { return linear_kernels(); }});
}

std::unique_ptr<detector> make_mmse(const detector_config& c) {
  const word_settings& words = c.get<mmse_settings>().words;
  if (!words.word_length) return make_linear<linear_algorithm::mmse>(c);
  return make_kernel_detector(
      c, false, mmse_word_args{{}, format_of(words)},
      {[](const mmse_word_args&) -> const kernel_set& { return mmse_word_kernels(); }});
}

}  // namespace

detector_kind mf_kind() {
  return {.name = "mf", .text = "matched filter", .make = make_linear<linear_algorithm::mf>};
}
detector_kind zf_kind() {
  return {.name = "zf", .text = "zero forcing", .make = make_linear<linear_algorithm::zf>};
}
detector_kind mmse_kind() {
  using s = mmse_settings;
  return {
      .name = "mmse",
      .text = "linear MMSE",
      .settings = boxed(within<s>([](s& c) -> word_settings& { return c.words; }, word_length_settings())),
      .make = make_mmse,
      .complete =
          [](const detector_config& c) {
            const s settings{completed(c.get<s>().words, c)};
            return settings == s() ? box() : box(settings);
          },
      .label = [](const detector_config& c) { return "mmse" + text_of(c.get<s>().words); }};
}

}  // namespace wb
