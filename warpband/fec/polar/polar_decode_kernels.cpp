// A kernel for each algorithm and number format, of lists of up to 8 paths or longer ones. Each is a unit
// (cmake/library.cmake).
#include <warpband/exec/kernel_part.hpp>
#include <warpband/fec/polar/polar_decode_variants.hpp>

namespace wb {
inline namespace WB_ISA {

template <class F>
static auto with_polar_decode(const polar_decode_args& a, F f) {
  return with_short_list<false>(a, f);
}
template <class F>
static auto with_polar_decode_long(const polar_decode_args& a, F f) {
  return with_long_list<false>(a, f);
}
template <class F>
static auto with_polar_decode_exact(const polar_decode_args& a, F f) {
  return with_short_list<true>(a, f);
}
template <class F>
static auto with_polar_decode_exact_long(const polar_decode_args& a, F f) {
  return with_long_list<true>(a, f);
}
template <class F>
static auto with_polar_decode_whole(const polar_decode_args& a, F f) {
  return with_short_whole_list(a, f);
}
template <class F>
static auto with_polar_decode_whole_long(const polar_decode_args& a, F f) {
  return with_long_whole_list(a, f);
}
WB_EXPORT_PART(polar_decode_args, WB_WIDTH)

}  // namespace WB_ISA
}  // namespace wb
