// FFTs on a CPU by KISS FFT. A plan is only read by its calls, so threads share it. Calls take no memory of
// their own if the factors are 2, 3 and 5 alone and the result is not stored over the input.
#include <warpband/ofdm/fft/fft_args.hpp>

#if WARPBAND_KISSFFT
#include <kiss_fft.h>

#include <new>
#include <type_traits>

namespace wb {
namespace {

static_assert(std::is_same_v<decltype(kiss_fft_cpx::r), float> && sizeof(kiss_fft_cpx) == sizeof(cx_pair));

std::size_t scratch(const void* args, const device_limits&, std::size_t) {
  return 2 * sizeof(kiss_fft_cpx) * static_cast<std::size_t>(static_cast<const fft_args*>(args)->size);
}

int run(const void* args, const place& where) {
  const fft_args& a = *static_cast<const fft_args*>(args);
  // The library does not write to a plan but has it not const.
  const auto plan = static_cast<kiss_fft_cfg>(const_cast<void*>(a.cpu_plan));
  const std::size_t n = static_cast<std::size_t>(a.size);
  auto* from = static_cast<kiss_fft_cpx*>(where.scratch);
  for (std::size_t v = where.first; v < where.last; v++) {
    const std::size_t i = v / a.inner, j = v % a.inner;
    const cx_pair* in = a.in.data + i * a.in.outer_distance + j * a.in.inner_distance;
    cx_pair* out = a.out.data + i * a.out.outer_distance + j * a.out.inner_distance;
    for (std::size_t k = 0; k < n; k++) from[k] = {in[k * a.in.stride].re, in[k * a.in.stride].im};
    if (a.out.stride == 1) {
      kiss_fft(plan, from, reinterpret_cast<kiss_fft_cpx*>(out));
      continue;
    }
    kiss_fft_cpx* to = from + n;
    kiss_fft(plan, from, to);
    for (std::size_t k = 0; k < n; k++) out[k * a.out.stride] = {to[k].r, to[k].i};
  }
  return 0;
}

constexpr kernel cpu_kernel{
    "host", 1, scratch, fft_flops, fft_bytes, [](const void*) { return std::size_t{1}; }, run};

}  // namespace

const kernel* fft_cpu_kernel() noexcept { return &cpu_kernel; }

std::shared_ptr<const void> make_cpu_plan(int size, fft_direction direction) {
  void* plan = kiss_fft_alloc(size, direction == fft_direction::inverse, nullptr, nullptr);
  if (plan == nullptr) throw std::bad_alloc();
  return {plan, [](void* p) { kiss_fft_free(p); }};
}

}  // namespace wb
#else
namespace wb {

const kernel* fft_cpu_kernel() noexcept { return nullptr; }
std::shared_ptr<const void> make_cpu_plan(int, fft_direction) { return nullptr; }

}  // namespace wb
#endif
