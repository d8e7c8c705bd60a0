#include <warpband/channel/rayleigh/rayleigh.hpp>

#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>

namespace wb {

WB_DECLARE_KERNEL(rayleigh)

void apply_rayleigh(executor& exec, view<const std::complex<float>> in, view<std::complex<float>> out,
                    view<std::complex<float>> gain, int block, random_range range, rician_amplitudes rice) {
  check_range("block", block, 1, 1 << 24);
  const std::size_t n = in.items, size = static_cast<std::size_t>(block);
  check_shape("in", in, n, 1);
  check_shape("out", out, n, 1);
  check_shape("gain", gain, n, 1);
  check_apart({{"out", out}, {"gain", gain}});
  if (n % size != 0)
    throw shape_error("in", shape_text(n, 1), "a multiple of block = " + std::to_string(block));
  if (block > 1 && (in.item_stride != 1 || out.item_stride != 1 || gain.item_stride != 1))
    throw shape_error("in", "strided", "contiguous symbols for block fading");
  const rayleigh_args a{as_pairs(in), as_pairs(out), as_pairs(gain), block,
                        range.seed,   range.first,   range.point,    rice};
  exec.run(rayleigh_kernels(), &a, n / size);
}

}  // namespace wb
