#include <tests/core_args.hpp>
#include <warpband/core/llr.hpp>
#include <warpband/core/philox.hpp>
#include <warpband/core/ratio_math.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {

template <core_function F>
struct core_op {
  core_args a;
  static constexpr bool by_block = false;
  int threads() const { return 1; }
  std::size_t scratch(int) const { return 0; }
  double flops() const { return 100; }
  double bytes() const { return 20; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    using I = typename rebind<T>::i32;
    using U = typename rebind<T>::u32;
    const T x = load(a.in, 0, item), y = load(a.in, 1, item), z = load(a.in, 2, item);
    const U u = as_uint(as_int(x)), v = as_uint(as_int(y));
    I first = I(0), second = I(0);
    if constexpr (F == core_function::fma) {
      first = as_int(fma(x, y, z));
    } else if constexpr (F == core_function::max) {
      first = as_int(max(x, y));
    } else if constexpr (F == core_function::min) {
      first = as_int(min(x, y));
    } else if constexpr (F == core_function::sqrt) {
      first = as_int(sqrt(x));
    } else if constexpr (F == core_function::abs) {
      first = as_int(abs(x));
    } else if constexpr (F == core_function::exp) {
      first = as_int(exp(x));
    } else if constexpr (F == core_function::log) {
      first = as_int(log(x));
    } else if constexpr (F == core_function::exp_of_moderate) {
      first = as_int(exp_of_moderate(x));
    } else if constexpr (F == core_function::log_of_ratio) {
      first = as_int(log_of_ratio(x, y));
    } else if constexpr (F == core_function::sincos) {
      T s, c;
      sincos(x, s, c);
      first = as_int(s), second = as_int(c);
    } else if constexpr (F == core_function::sincos_turn) {
      T s, c;
      sincos_turn(u, s, c);
      first = as_int(s), second = as_int(c);
    } else if constexpr (F == core_function::unsigned_to_float) {
      first = as_int(unsigned_to_float<T>(u));
    } else if constexpr (F == core_function::mulhi) {
      first = as_int(mulhi(u, v));
    } else if constexpr (F == core_function::complex_normal) {
      const cx<T> n = complex_normal<T>(u, v);
      first = as_int(n.re), second = as_int(n.im);
    } else if constexpr (F == core_function::complex_product) {
      const cx<T> p = cx<T>{x, y} * cx<T>{z, z};
      first = as_int(p.re), second = as_int(p.im);
    } else if constexpr (F == core_function::compare) {
      first = select(x < y, I(1), I(0)) | select(x > y, I(2), I(0)) | select(x <= y, I(4), I(0)) |
              select(x >= y, I(8), I(0)) | select(x == y, I(16), I(0)) | select(x != y, I(32), I(0));
      second = as_int(select(x < y, x, y));
    } else if constexpr (F == core_function::is_finite) {
      first = select(is_finite(x), I(1), I(0));
    } else if constexpr (F == core_function::decide) {
      first = decide(x);
    } else if constexpr (F == core_function::saturate) {
      first = as_int(saturate(x, 8.f));
    } else {
      first = I(any(x > T(0.f)) ? 1 : 0), second = I(all(x > T(0.f)) ? 1 : 0);
    }
    store_int<T>(a.out, 0, item, first);
    store_int<T>(a.out, 1, item, second);
  }
};
template <class F>
static auto with_core(const core_args& a, F f) {
  switch (a.function) {
    case core_function::fma:
      return f(core_op<core_function::fma>{a});
    case core_function::max:
      return f(core_op<core_function::max>{a});
    case core_function::min:
      return f(core_op<core_function::min>{a});
    case core_function::sqrt:
      return f(core_op<core_function::sqrt>{a});
    case core_function::abs:
      return f(core_op<core_function::abs>{a});
    case core_function::exp:
      return f(core_op<core_function::exp>{a});
    case core_function::log:
      return f(core_op<core_function::log>{a});
    case core_function::exp_of_moderate:
      return f(core_op<core_function::exp_of_moderate>{a});
    case core_function::log_of_ratio:
      return f(core_op<core_function::log_of_ratio>{a});
    case core_function::sincos:
      return f(core_op<core_function::sincos>{a});
    case core_function::sincos_turn:
      return f(core_op<core_function::sincos_turn>{a});
    case core_function::unsigned_to_float:
      return f(core_op<core_function::unsigned_to_float>{a});
    case core_function::mulhi:
      return f(core_op<core_function::mulhi>{a});
    case core_function::complex_normal:
      return f(core_op<core_function::complex_normal>{a});
    case core_function::complex_product:
      return f(core_op<core_function::complex_product>{a});
    case core_function::compare:
      return f(core_op<core_function::compare>{a});
    case core_function::is_finite:
      return f(core_op<core_function::is_finite>{a});
    case core_function::decide:
      return f(core_op<core_function::decide>{a});
    case core_function::saturate:
      return f(core_op<core_function::saturate>{a});
    default:
      return f(core_op<core_function::whole_vector>{a});
  }
}
WB_EXPORT_KERNEL(core_test, core_args, with_core)

struct philox_op {
  philox_test_args a;
  static constexpr bool by_block = false;
  int threads() const { return 1; }
  std::size_t scratch(int) const { return 0; }
  double flops() const { return 80; }
  double bytes() const { return 32; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    using U = typename rebind<T>::u32;
    philox_block<U> c = counter<T>(a.first + item.first, a.stream, a.point);
    if (a.counters.data)
      for (int i = 0; i < 4; i++)
        c.w[i] = as_uint(load_int<T>(a.counters, static_cast<std::size_t>(i), item));
    const auto r = philox(c, a.key0, a.key1);
    for (int i = 0; i < 4; i++) store_int<T>(a.out, static_cast<std::size_t>(i), item, as_int(r.w[i]));
  }
};
WB_EXPORT_OP(philox_test, philox_test_args, philox_op)

struct copy_op {
  copy_args a;
  static constexpr bool by_block = false;
  int threads() const { return 1; }
  std::size_t scratch(int) const { return 0; }
  double flops() const { return static_cast<double>(a.in.elements); }
  double bytes() const { return 8 * static_cast<double>(a.in.elements); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    using I = typename rebind<T>::i32;
    if (a.mask.data) {
      const auto m = load_int<T>(a.mask, 0, item) != I(0);
      for (std::size_t e = 0; e < a.in.elements; e++) store(a.out, e, item, load(a.in, e, item), m);
      for (std::size_t e = 0; e < a.bytes_in.elements; e++)
        store_int<T>(a.bytes_out, e, item, load_int<T>(a.bytes_in, e, item), m);
    } else {
      for (std::size_t e = 0; e < a.in.elements; e++) store(a.out, e, item, load(a.in, e, item));
      for (std::size_t e = 0; e < a.bytes_in.elements; e++)
        store_int<T>(a.bytes_out, e, item, load_int<T>(a.bytes_in, e, item));
    }
  }
};
WB_EXPORT_OP(copy_test, copy_args, copy_op)

struct group_op {
  group_args a;
  static constexpr bool by_block = true;
  int threads() const { return a.threads; }
  std::size_t scratch(int) const { return a.in.elements; }
  double flops() const { return 4.0 * static_cast<double>(a.in.elements); }
  double bytes() const { return 8.0 * static_cast<double>(a.in.elements); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    using I = typename rebind<T>::i32;
    const int n = static_cast<int>(a.in.elements);
    I sum = I(0), parity = I(0);
    auto large = mask_from<typename rebind<T>::mask>(false);
    for (int i = g.rank; i < n; i += g.size) {
      const T x = load(a.in, static_cast<std::size_t>(i), item);
      scratch[i] = x;
      const I k = as_int(x) >> 18;  // 100003 of them do not overflow
      sum = sum + k;
      parity = parity ^ as_int(x);
      large = large | (x > T(1000.f));
    }
    g.sync();
    for (int i = g.rank; i < n; i += g.size)
      store(a.out, static_cast<std::size_t>(i), item, scratch[n - 1 - i]);
    sum = g.sum_all(sum);
    parity = g.xor_all(parity);
    large = g.any(large);
    if (g.rank == 0) {
      store_int<T>(a.sum, 0, item, sum);
      store_int<T>(a.sum, 1, item, parity);
      store_int<T>(a.sum, 2, item, select(large, I(1), I(0)));
    }
  }
};
WB_EXPORT_OP(group_test, group_args, group_op)

}  // namespace WB_ISA
}  // namespace wb
