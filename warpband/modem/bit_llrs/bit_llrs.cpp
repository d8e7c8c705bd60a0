#include <warpband/modem/bit_llrs/bit_llrs.hpp>

#include <warpband/core/check.hpp>

namespace wb {

WB_DECLARE_KERNEL(bit_llrs)

void llrs_of_bits(executor& exec, const bit_llrs& llrs, view<const std::uint8_t> received, view<float> llr) {
  check_shape("received", received, received.items, 1);
  check_shape("llr", llr, received.items, 1);
  const bit_llrs_args a{received, llr, {llrs.zero, llrs.one, llrs.erased}};
  exec.run(bit_llrs_kernels(), &a, received.items);
}

}  // namespace wb
