#include <warpband/modem/qam/qam.hpp>

#include <string>

#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>

namespace wb {

WB_DECLARE_KERNEL(qam_map)

int bits_per_symbol(int points) {
  switch (points) {
    case 2:
      return 1;
    case 4:
      return 2;
    case 16:
      return 4;
    case 64:
      return 6;
    case 256:
      return 8;
    case 1024:
      return 10;
    case 4096:
      return 12;
    default:
      throw argument_error("qam", std::to_string(points), "2 (BPSK), 4, 16, 64, 256, 1024 or 4096 points");
  }
}

qam_mapper::qam_mapper(int points) : bits_(bits_per_symbol(points)) {}

void qam_mapper::run(executor& exec, view<const std::uint8_t> bits, view<std::complex<float>> symbols) const {
  check_shape("bits", bits, bits.items, static_cast<std::size_t>(bits_));
  check_shape("symbols", symbols, bits.items, 1);
  const qam_map_args a{bits_, bits, as_pairs(symbols)};
  exec.run(qam_map_kernels(), &a, bits.items);
}

}  // namespace wb
