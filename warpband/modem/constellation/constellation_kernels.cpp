#include <warpband/exec/launch.hpp>
#include <warpband/modem/constellation/constellation_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_constellation_map(const constellation_map_args& a, F f) {
  return f(constellation_map_op{a});
}
template <class F>
static auto with_constellation_demap(const constellation_demap_args& a, F f) {
  return a.bits_per_symbol <= 5 ? f(constellation_demap_op<5>{a}) : f(constellation_demap_op<12>{a});
}
WB_EXPORT_KERNEL(constellation_map, constellation_map_args, with_constellation_map)
WB_EXPORT_KERNEL(constellation_demap, constellation_demap_args, with_constellation_demap)
}  // namespace WB_ISA
}  // namespace wb
