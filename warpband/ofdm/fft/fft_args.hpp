#pragma once
#include <memory>

#include <warpband/exec/kernel.hpp>
#include <warpband/ofdm/fft/fft.hpp>

namespace wb {

/// An item is a vector; number i * inner + j is (i, j).
struct fft_args {
  int size = 0;
  fft_direction direction = fft_direction::forward;
  std::size_t inner = 1;
  fft_vectors<const cx_pair> in;
  fft_vectors<cx_pair> out;
  const void* cpu_plan = nullptr;
  cufft_plans* cuda_plans = nullptr;
};

/// The customary count of an FFT's operations, whatever a library does.
double fft_flops(const void* args);
/// Each value is read once and written once.
double fft_bytes(const void* args);

/// Null where this build has none.
const kernel* fft_cpu_kernel() noexcept;
std::shared_ptr<const void> make_cpu_plan(int size, fft_direction direction);
const kernel* fft_cuda_kernel() noexcept;
std::shared_ptr<cufft_plans> make_cuda_plans();

}  // namespace wb
