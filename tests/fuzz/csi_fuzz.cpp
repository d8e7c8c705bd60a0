// csi_file: the first and the last snapshot of whatever layout.
#include <algorithm>
#include <complex>
#include <vector>

#include <warpband/channel/file/csi_file.hpp>

#include "fuzz.hpp"
#include "memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const memory_file input(data, size);
  answered([&] {
    const wb::csi_file file(input.path(), {.scale = wb::csi_scale::snapshot});
    const std::size_t n = file.subcarriers() * file.rx_antennas() * file.streams();
    if (n > (std::size_t{1} << 20)) return;
    std::vector<std::complex<float>> h(n);
    (void)file.read(0, 1, h.data());
    (void)file.read(file.snapshots() - 1, 1, h.data());
  });
  return 0;
}
