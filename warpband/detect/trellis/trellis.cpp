#include <warpband/detect/trellis/trellis.hpp>

#include <warpband/detect/kernel_detector.hpp>

namespace wb {

WB_DECLARE_KERNEL(ot)
WB_DECLARE_KERNEL(mtt)

namespace {

detector_kind trellis_kind(const char* name, const char* text,
                           const kernel_set& (*kernels)(const search_args&)) {
  using s = trellis_settings;
  return {
      .name = name,
      .text = text,
      .settings = boxed(
          within<s>([](s& settings) -> search_order& { return settings.search; }, search_order_settings())),
      .takes_prior = true,
      .make =
          [kernels](const detector_config& c) {
            search_args call;
            set_order(call, c.get<s>().search);
            return make_kernel_detector(c, true, call, {kernels});
          },
      .complete = [](const detector_config& c) { return box(s{completed(c.get<s>().search, c.streams)}); },
      .candidates =
          [name = std::string(name)](const detector_config& base) {
            return std::vector<box>{base.type == name ? base.settings : box()};
          },
      .thread_bytes = [](const detector_config& c) { return static_cast<std::size_t>(c.qam) * 3072; }};
}

}  // namespace

detector_kind ot_kind() {
  detector_kind kind = trellis_kind("ot", "one-pass trellis with a stage for each stream",
                                    [](const search_args&) -> const kernel_set& { return ot_kernels(); });
  kind.may_miss = [](const detector_config&) { return true; };
  return kind;
}
detector_kind mtt_kind() {
  detector_kind kind = trellis_kind("mtt", "multi-pass trellis traversal, which misses no hypothesis",
                                    [](const search_args&) -> const kernel_set& { return mtt_kernels(); });
  kind.default_clip = [](const detector_config& c) { return c.streams <= 2 ? no_clip : 8.f; };
  return kind;
}

}  // namespace wb
