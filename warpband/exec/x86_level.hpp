#pragma once
// Which level of x86-64 this machine runs. The build asks it for WARPBAND_ISAS=native, the library for each
// kernel.

namespace wb {

/// 4, 3 or 1: the highest of the levels x86-64-v4, -v3 and x86-64 that the processor and the system support.
inline int x86_level() {
#if defined(__clang__) ? __clang_major__ >= 19 : __GNUC__ >= 12
  return __builtin_cpu_supports("x86-64-v4") ? 4 : __builtin_cpu_supports("x86-64-v3") ? 3 : 1;
#else  // Older compilers know no levels. Processors with these features have the others of their level too.
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2"))
    return 1;
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                 __builtin_cpu_supports("avx512vl")
             ? 4
             : 3;
#endif
}

}  // namespace wb
