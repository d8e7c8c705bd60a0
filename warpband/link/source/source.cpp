#include <warpband/link/source/source.hpp>

#include <warpband/core/check.hpp>

namespace wb {

WB_DECLARE_KERNEL(source)

void random_bits(executor& exec, view<std::uint8_t> bits, int n, random_range range) {
  check_range("n", n, 1, 1 << 30);
  if (bits.elements < static_cast<std::size_t>(n) || bits.data == nullptr)
    throw shape_error("bits", shape_text(bits.items, bits.elements), "rows of at least " + std::to_string(n));
  const source_args a{n, bits, range.seed, range.first, range.point};
  exec.run(source_kernels(), &a, bits.items);
}

}  // namespace wb
