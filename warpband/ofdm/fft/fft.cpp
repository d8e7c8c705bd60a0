#include <warpband/ofdm/fft/fft.hpp>

#include <cmath>
#include <string>

#include <warpband/core/error.hpp>
#include <warpband/ofdm/fft/fft_args.hpp>

namespace wb {

double fft_flops(const void* args) {
  const double n = static_cast<const fft_args*>(args)->size;
  return 5 * n * std::log2(n);
}
double fft_bytes(const void* args) { return 16.0 * static_cast<const fft_args*>(args)->size; }

bool has_cpu_fft() noexcept { return fft_cpu_kernel() != nullptr; }

void check_fft_size(int size) {
  int rest = size;
  for (const int factor : {2, 3, 5})
    while (rest > 0 && rest % factor == 0) rest /= factor;
  if (size < 8 || size > 4096 || rest != 1)
    throw argument_error("fft_size", std::to_string(size), "8 to 4096, a product of 2, 3 and 5");
}

fft::fft(int size, fft_direction direction) : size_((check_fft_size(size), size)), direction_(direction) {
  if (has_cpu_fft()) cpu_plan_ = make_cpu_plan(size, direction);
}

void fft::run(executor& exec, std::size_t outer, std::size_t inner, fft_vectors<const cx_pair> in,
              fft_vectors<cx_pair> out) const {
  static const kernel* const on_cpu = fft_cpu_kernel();
  static const kernel_set kernels{"fft", {on_cpu, on_cpu, on_cpu, on_cpu}, fft_cuda_kernel()};
  if (outer * inner == 0) return;
  fft_args args{size_, direction_, inner, in, out, cpu_plan_.get(), nullptr};
  if (!exec.is_device()) {
    if (!has_cpu_fft())
      throw device_error("this build has no FFT for CPUs: build it with KISS FFT (WARPBAND_KISSFFT)");
    if (cpu_plan_ == nullptr) refuse_moved_from();
  } else {
    auto& plans = cuda_plans_.on(exec);
    if (plans == nullptr) plans = make_cuda_plans();
    args.cuda_plans = plans.get();
  }
  exec.run(kernels, &args, outer * inner);
}

}  // namespace wb
