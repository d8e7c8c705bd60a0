#pragma once
#include <complex>
#include <cstdint>
#include <string>

namespace wb::python {

/// Numbers as NumPy calls them.
enum class number { float16, float32, complex64, uint8, int8, int16, int32, other };
template <class T>
inline constexpr number number_of = number::other;
template <>
inline constexpr number number_of<float> = number::float32;
template <>
inline constexpr number number_of<std::complex<float>> = number::complex64;
template <>
inline constexpr number number_of<std::uint8_t> = number::uint8;  // and bool
template <>
inline constexpr number number_of<std::int8_t> = number::int8;
template <>
inline constexpr number number_of<std::int16_t> = number::int16;
template <>
inline constexpr number number_of<std::int32_t> = number::int32;

/// "float32"; "other"
const char* name_of(number n);
/// other for a name that no number has; bool is uint8.
number number_named(const std::string& name);

}  // namespace wb::python
