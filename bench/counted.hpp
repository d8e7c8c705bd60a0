#pragma once
// A lane type that counts: bodies that run over it show how many operations they do (flops_*_test.cpp hold
// flops() against that). Programs that include it set WB_ISA to counting and WB_WIDTH to 1 first.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/kernel.hpp>
#include <warpband/fec/turbo/turbo_short.hpp>

namespace wb {
inline namespace WB_ISA {

/// A float that counts operations as kernel.hpp defines them. What a compiler computes, arithmetic of
/// constants, costs nothing.
struct counted {
  float x;
  bool constant;
  static inline double operations = 0;

  counted() : x(0), constant(false) {}
  explicit counted(float v) : x(v), constant(true) {}  // T(0.5f)
  template <class F>
    requires std::is_same_v<F, float>
  counted(F v) : x(v), constant(false) {}  // what was loaded or taken from bits

  static counted made(float v, double cost, bool constants) {
    counted r(v);
    r.constant = constants;
    if (!constants) operations += cost;
    return r;
  }
  friend counted operator+(counted a, counted b) { return made(a.x + b.x, 1, a.constant && b.constant); }
  friend counted operator-(counted a, counted b) { return made(a.x - b.x, 1, a.constant && b.constant); }
  friend counted operator*(counted a, counted b) { return made(a.x * b.x, 1, a.constant && b.constant); }
  friend counted operator-(counted a) { return made(-a.x, 0, a.constant); }  // a part of what uses it
  friend counted operator/(counted a, counted b) {
    return made(a.x / b.x, division_flops, a.constant && b.constant);
  }
  friend bool operator<(counted a, counted b) { return a.x < b.x; }
  friend bool operator>(counted a, counted b) { return a.x > b.x; }
  friend bool operator<=(counted a, counted b) { return a.x <= b.x; }
  friend bool operator>=(counted a, counted b) { return a.x >= b.x; }
  friend bool operator==(counted a, counted b) { return a.x == b.x; }
};
inline counted fma(counted a, counted b, counted c) {
  return counted::made(fma(a.x, b.x, c.x), 1, a.constant && b.constant && c.constant);
}
inline counted fnma(counted a, counted b, counted c) { return fma(-a, b, c); }
inline counted abs(counted a) { return counted::made(abs(a.x), 0, a.constant); }
inline counted unit_clamp(counted a) { return counted::made(unit_clamp(a.x), 0, a.constant); }
inline counted max(counted a, counted b) { return counted::made(max(a.x, b.x), 1, a.constant && b.constant); }
inline counted min(counted a, counted b) { return counted::made(min(a.x, b.x), 1, a.constant && b.constant); }
inline counted min_where(std::int32_t word, std::int32_t bit, counted a, counted b) {
  const counted r = min(a, b);
  return (word & bit) != 0 ? r : a;
}
inline counted sqrt(counted a) { return counted::made(sqrt(a.x), square_root_flops, a.constant); }
inline std::int32_t as_int(counted a) { return as_int(a.x); }
inline counted select(bool m, counted a, counted b) { return counted::made(m ? a.x : b.x, 0, false); }
/// Loaded values are no constants, whatever the body calls them.
template <>
inline counted load<counted>(const view<const float>& v, std::size_t element, item<counted> b) {
  return counted::made(v.data[element * v.element_stride + b.first * v.item_stride], 0, false);
}
template <>
inline void store<counted>(const view<float>& v, std::size_t element, item<counted> b, counted x) {
  v.data[element * v.element_stride + b.first * v.item_stride] = (x + counted(0.f)).x;
}
template <>
inline void store<counted>(const view<float>& v, std::size_t element, item<counted> b, counted x, bool m) {
  x = x + counted(0.f);
  if (m) v.data[element * v.element_stride + b.first * v.item_stride] = x.x;
}
/// Bit patterns, which as_float makes a float of.
inline void store_at(counted* table, std::int32_t place, float x, bool m) {
  if (m) table[place] = x;
}

/// The same of the 16-bit integers that flops() counts like float32.
struct counted_short {
  i16x x;
  counted_short() = default;
  counted_short(i16x v) : x(v) {}
  explicit operator i16x() const { return x; }
  static counted_short made(i16x v, double cost) {
    counted::operations += cost;
    return v;
  }
  friend counted_short operator+(counted_short a, counted_short b) { return made(a.x + b.x, 1); }
  friend counted_short operator-(counted_short a, counted_short b) { return made(a.x - b.x, 1); }
  friend counted_short operator&(counted_short a, counted_short b) { return a.x & b.x; }
  friend counted_short operator|(counted_short a, counted_short b) { return a.x | b.x; }
};
inline counted_short max(counted_short a, counted_short b) { return counted_short::made(max(a.x, b.x), 1); }
inline counted_short min(counted_short a, counted_short b) { return counted_short::made(min(a.x, b.x), 1); }
inline counted_short add_max(counted_short a, counted_short b, counted_short c) { return max(a + b, c); }
inline counted_short sign_bit(counted_short a) { return sign_bit(a.x); }
inline counted_short scaled(counted_short a, int eighths) {  // a product and a sum
  return counted_short::made(scaled(a.x, eighths), 2);
}
inline counted_short shift_left(counted_short a, int n) { return shift_left(a.x, n); }
inline counted_short select_less(i16x a, i16x b, counted_short x, counted_short y) {
  return select_less(a, b, x.x, y.x);
}
inline i16x select_less(counted_short a, counted_short b, i16x x, i16x y) {
  return select_less(a.x, b.x, x, y);
}
inline void store_short(short_element* p, counted_short a) { store_short(p, a.x); }

inline counted difference(counted a, counted b) { return a - b; }
inline counted sum(counted a, counted b) { return a + b; }
inline counted product(counted a, counted b) { return a * b; }
inline counted magnitude(counted a) { return abs(a); }
inline counted where_equal(counted a, counted b, counted x, counted y) { return select(a == b, x, y); }
inline counted sign_product(counted a, counted) { return a; }
inline counted with_sign(counted m, counted) { return m; }

/// Operations of one item.
template <class Op>
double operations_of(const Op& op, std::size_t scratch_values = 0) {
  std::vector<counted> scratch(scratch_values);
  counted::operations = 0;
  op(item<counted>{0, 1}, solo{}, scratch.data());
  return counted::operations;
}

}  // namespace WB_ISA
}  // namespace wb
