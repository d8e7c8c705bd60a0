#pragma once
// How a compiled op is found and started. Plain data only: these types cross the borders between instruction
// sets and CUDA.
//
// Every *_kernels.cpp is compiled once per instruction set, each time in an inline namespace of that name,
// and exports one `const kernel*` per op. WB_DECLARE_KERNEL(name) gathers them into `name##_kernels()`.
#include <cstddef>

namespace wb {

/// What a build of an op may use on a CUDA device. On a CPU all zero.
struct device_limits {
  int multiprocessors = 0;
  std::size_t shared_bytes = 0;  // dynamic shared memory a block may opt in to
};

/// Where a kernel runs: the items [first, last), scratch memory, and on a CUDA device its stream.
struct place {
  std::size_t first = 0, last = 0;
  void* scratch = nullptr;  // CPU: this thread's arena, 64-byte aligned. CUDA: workspace in device memory
  void* stream = nullptr;
  device_limits limits;
};

/// What a correctly rounded division and square root count: the fma and multiplies they are made of on a CUDA
/// device, around an approximation (read off the machine code for sm_90).
inline constexpr double division_flops = 5, square_root_flops = 4;

/// One build of an op.
struct kernel {
  const char* isa;
  int lanes;  // numbers that a value of the op holds; what a host needs to lay out tables
  /// Scratch bytes: CPU, of one thread; CUDA, the workspace for `items` (0 where shared memory suffices).
  std::size_t (*scratch)(const void* args, const device_limits& limits, std::size_t items);
  /// Operations and bytes of device memory that one item needs at least; the bench divides by them.
  /// An operation is one float32 add, multiply, fma, max or min of one lane; a division and a square root
  /// count as below. Numbers packed so that one instruction works on several in the place of one float32 lane
  /// count once together. Comparisons, selections, conversions and integer work count nothing, nor does what
  /// the compiler computes.
  double (*flops)(const void* args);
  double (*bytes)(const void* args);
  /// Items that one call works on: threads get multiples of it.
  std::size_t (*together)(const void* args);
  /// Runs or queues the items of `where`. Returns 0, or the cudaError_t of a failed launch.
  int (*run)(const void* args, const place& where);
};

/// All builds of one op.
struct kernel_set {
  const char* name;
  const kernel* cpu[4];  // indexed by isa; nullptr where not built
  const kernel* cuda;    // nullptr without CUDA
};

/// The narrowest CPU build that there is.
inline const kernel* any_build_of(const kernel_set& op) noexcept {
  for (const kernel* k : op.cpu)
    if (k != nullptr) return k;
  return nullptr;
}

/// Instruction sets a CPU build exists for. Which are built depends on the architecture; `isa_name` gives the
/// name that WARPBAND_ISA takes.
enum class isa { scalar, base, avx2, avx512 };

}  // namespace wb

// CMake says for each build of the kernels whether it is there: WB_BUILD_SCALAR, _BASE, _NEON, _AVX2,
// _AVX512, _CUDA are 1 or 0.
#define WB_DECLARE_KERNEL_0(build, name)
#define WB_DECLARE_KERNEL_1(build, name) \
  namespace build {                      \
  const ::wb::kernel* name##_kernel();   \
  }
#define WB_KERNEL_0(build, name) nullptr
#define WB_KERNEL_1(build, name) build::name##_kernel()
#define WB_JOIN(a, b) a##b
#define WB_DECLARE_KERNEL_IF(built, build, name) WB_JOIN(WB_DECLARE_KERNEL_, built)(build, name)
#define WB_KERNEL_IF(built, build, name) WB_JOIN(WB_KERNEL_, built)(build, name)
#if WB_BUILD_NEON
#define WB_BASE_KERNEL(name) neon::name##_kernel()
#else
#define WB_BASE_KERNEL(name) WB_KERNEL_IF(WB_BUILD_BASE, base, name)
#endif

/// Use in namespace wb of the file that validates and starts the op.
#define WB_DECLARE_KERNEL(name)                                                                 \
  WB_DECLARE_KERNEL_IF(WB_BUILD_SCALAR, scalar, name)                                           \
  WB_DECLARE_KERNEL_IF(WB_BUILD_BASE, base, name)                                               \
  WB_DECLARE_KERNEL_IF(WB_BUILD_NEON, neon, name)                                               \
  WB_DECLARE_KERNEL_IF(WB_BUILD_AVX2, avx2, name)                                               \
  WB_DECLARE_KERNEL_IF(WB_BUILD_AVX512, avx512, name)                                           \
  WB_DECLARE_KERNEL_IF(WB_BUILD_CUDA, cuda_device, name)                                        \
  static const ::wb::kernel_set& name##_kernels() {                                             \
    static const ::wb::kernel_set set{                                                          \
        #name,                                                                                  \
        {WB_KERNEL_IF(WB_BUILD_SCALAR, scalar, name), WB_BASE_KERNEL(name),                     \
         WB_KERNEL_IF(WB_BUILD_AVX2, avx2, name), WB_KERNEL_IF(WB_BUILD_AVX512, avx512, name)}, \
        WB_KERNEL_IF(WB_BUILD_CUDA, cuda_device, name)};                                        \
    return set;                                                                                 \
  }
