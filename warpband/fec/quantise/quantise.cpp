#include <warpband/fec/quantise/quantise.hpp>

namespace wb {

WB_DECLARE_KERNEL(llr_scale)

llr_quanta llr_scale::of(executor& exec, view<const float> llr) const {
  if (quanta_) return {.fixed = *quanta_};
  auto* const to = reinterpret_cast<float*>(workspace_.on(exec, sizeof(float) * llr.items));
  llr_scale_args a;
  a.llr = llr;
  a.fineness = fineness_;
  a.information = information_;
  a.quanta = make_view(to, llr.items);
  if (llr.items != 0) exec.run(llr_scale_kernels(), &a, llr.items);
  return {.per_item = to};
}

}  // namespace wb
