#pragma once
// Arrays of a caller, in host memory, as calls of an executor take them.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <warpband/c/warpband.h>
#include <warpband/core/error.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/fec/format/format.hpp>

namespace wb::c {

/// A number of antennas, streams or the like. One beyond int stays out of every range that is checked.
inline int as_count(std::uint32_t n) { return n > INT32_MAX ? INT32_MAX : static_cast<int>(n); }
/// a * b. Throws shape_error naming `argument` where memory cannot have so many values.
inline std::size_t product(const char* argument, std::size_t a, std::size_t b) {
  std::size_t result = 0;
  if (__builtin_mul_overflow(a, b, &result) || result > PTRDIFF_MAX / 8)
    throw shape_error(argument, std::to_string(a), "what fits into memory");
  return result;
}

/// Memory of an executor's device for an array of the caller, kept from call to call. Where the executor
/// reads host memory the caller's array itself is used.
/// Threads: one at a time.
template <class T>
class transfer {
 public:
  /// The caller's values; queues their copy where one is needed.
  view<const T> input(executor& exec, const void* host, std::size_t items, std::size_t elements) {
    if (is_usable(exec, host)) return make_view(static_cast<const T*>(host), items, elements);
    T* const copy = room(exec, items * elements);
    if (items * elements != 0) exec.upload(copy, host, items * elements * sizeof(T));
    return make_view(static_cast<const T*>(copy), items, elements);
  }
  /// Room for results, or no data where they are not wanted. `fetch` brings them to the caller.
  view<T> output(executor& exec, void* host, std::size_t items, std::size_t elements) {
    if (host == nullptr) return {};
    if (is_usable(exec, host)) return make_view(static_cast<T*>(host), items, elements);
    return make_view(room(exec, items * elements), items, elements);
  }
  /// Queues the copy of what `output` gave.
  void fetch(executor& exec, void* host, const view<T>& results) const {
    if (results.data != nullptr && results.data != host)
      exec.download(host, results.data, results.items * results.elements * sizeof(T));
  }

  /// Memory of the executor for `count` values.
  T* room(executor& exec, std::size_t count) {
    if (kept_.size() < count) {
      kept_ = {};
      kept_ = exec.make<T>(1, count);
    }
    return kept_.data();
  }

 private:
  static bool is_usable(const executor& exec, const void* host) noexcept {
    constexpr std::size_t alignment = sizeof(T) < 8 ? sizeof(T) : 8;  // cx_pair
    return !exec.is_device() && reinterpret_cast<std::uintptr_t>(host) % alignment == 0;
  }
  array<T> kept_;
};

/// Throws argument_error for a format that is none, and for integers whose scale is 0 or no number.
inline void check_format(std::uint32_t format, float scale) {
  if (format > WB_LLR_FLOAT32)
    throw argument_error("llr_format", std::to_string(format), "WB_LLR_INT8, WB_LLR_INT16 or WB_LLR_FLOAT32");
  if (format != WB_LLR_FLOAT32 && (!std::isfinite(scale) || scale == 0))
    throw argument_error("llr_scale", std::to_string(scale), "a finite number other than 0");
}

/// LLRs of the caller in one of the formats.
/// Threads: one at a time.
class llr_transfer {
 public:
  /// As transfer::input. Throws as check_format.
  llr_batch input(executor& exec, const void* host, std::uint32_t format, float scale, std::size_t items,
                  std::size_t elements) {
    check_format(format, scale);
    if (format == WB_LLR_INT8) return {int8_.input(exec, host, items, elements), scale};
    if (format == WB_LLR_INT16) return {int16_.input(exec, host, items, elements), scale};
    return float32_.input(exec, host, items, elements);
  }

 private:
  transfer<std::int8_t> int8_;
  transfer<std::int16_t> int16_;
  transfer<float> float32_;
};

}  // namespace wb::c
