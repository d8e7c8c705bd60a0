// A kernel for each semiring, without and with extrinsics of the coded bits. Each is a unit
// (cmake/library.cmake); log-MAP with extrinsics of the coded bits is two.
#include <warpband/exec/kernel_part.hpp>
#include <warpband/fec/bcjr/bcjr_variants.hpp>

namespace wb {
inline namespace WB_ISA {

template <class F>
static auto with_bcjr_max_log(const bcjr_args& a, F f) {
  return with_bcjr<max_log>(a, f);
}
template <class F>
static auto with_bcjr_log_map(const bcjr_args& a, F f) {
  return with_bcjr<log_map>(a, f);
}
template <class F>
static auto with_bcjr_coded_max_log(const bcjr_args& a, F f) {
  return with_bcjr<max_log, true>(a, f);
}
template <class F>
static auto with_bcjr_coded_log_map(const bcjr_args& a, F f) {
  return with_bcjr<log_map, true, bcjr_codes::feed_forward>(a, f);
}
template <class F>
static auto with_bcjr_coded_recursive_log_map(const bcjr_args& a, F f) {
  return with_bcjr<log_map, true, bcjr_codes::recursive>(a, f);
}
template <class F>
static auto with_bcjr_table(const bcjr_args& a, F f) {
  return with_bcjr<max_star_table>(a, f);
}
template <class F>
static auto with_bcjr_coded_table(const bcjr_args& a, F f) {
  return with_bcjr<max_star_table, true>(a, f);
}
WB_EXPORT_PART(bcjr_args, WB_WIDTH)

}  // namespace WB_ISA
}  // namespace wb
