#pragma once
// A group for warps whose tiles all run the same steps.
#include <warpband/core/group.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// S neighbouring threads of a warp, all of whose tiles make the same calls together. A barrier for the whole
/// warp takes one instruction; one for a part of it must find out first who takes part.
template <int S>
struct warp_tile : tile<S> {
  WB_HD void sync() const { __syncwarp(); }
  template <class X>
  WB_HD X exchange(X x, int step) const {
    return __shfl_xor_sync(0xffffffffu, x, step, S);
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
