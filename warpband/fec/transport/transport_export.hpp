#pragma once
// For lte_kernels.cpp and nr_kernels.cpp. Code blocks share no vector: a thread may get any number of them.
#include <warpband/exec/launch.hpp>

#define WB_EXPORT_TRANSPORT_OP(name)                   \
  template <class F>                                   \
  static auto with_##name(const name##_args& a, F f) { \
    return f(name##_op(a));                            \
  }                                                    \
  WB_EXPORT_KERNEL_OF(name, name##_args, with_##name, 1)
