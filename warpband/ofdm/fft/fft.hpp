#pragma once
// Batches of complex FFTs of one size: KISS FFT on CPUs, cuFFT on CUDA devices, behind one type.
#include <complex>
#include <cstddef>
#include <memory>

#include <warpband/core/view.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/ofdm/per_executor.hpp>

namespace wb {

/// forward: X_k = sum over n of x_n exp(-2 pi i n k / N); inverse: the same with +. Neither is scaled.
enum class fft_direction { forward, inverse };

/// Where the vectors of a batch lie: value n of vector (i, j) is data[i * outer_distance + j * inner_distance
/// + n * stride].
template <class T>
struct fft_vectors {
  T* data = nullptr;
  std::size_t stride = 1, inner_distance = 0, outer_distance = 0;
};

/// Whether this build has an FFT for CPUs (WARPBAND_KISSFFT).
bool has_cpu_fft() noexcept;

/// The plans that a CUDA executor has made.
class cufft_plans;

/// Safe to use from several threads, each with an executor of its own; copies share plans.
///
/// CPU: planned once, by the constructor; all instruction sets give the same bits. CUDA: plans are made by
/// the first call on an executor with given numbers of vectors and strides. The 8 used last are kept; later
/// calls allocate nothing. cuFFT is loaded when it is first needed. Its results differ from a CPU's in
/// rounding.
class fft {
 public:
  /// A size of 8 to 4096 that is a product of 2, 3 and 5. Throws argument_error ("fft_size").
  fft(int size, fft_direction direction);

  /// Queues outer x inner vectors. `in` and `out` have the same places or do not overlap. Throws device_error
  /// where there is no FFT for the executor.
  void run(executor& exec, std::size_t outer, std::size_t inner, fft_vectors<const cx_pair> in,
           fft_vectors<cx_pair> out) const;

  int size() const noexcept { return size_; }

 private:
  int size_;
  fft_direction direction_;
  std::shared_ptr<const void> cpu_plan_;
  per_executor<std::shared_ptr<cufft_plans>> cuda_plans_;
};

/// Throws argument_error ("fft_size") for a size that `fft` does not have.
void check_fft_size(int size);

}  // namespace wb
