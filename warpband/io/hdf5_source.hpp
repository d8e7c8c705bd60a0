#pragma once
// What hdf5_reader hands its calls to: a file that libhdf5 reads in this process, or one that the program
// warpband-hdf5 reads. Both answer alike.
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <warpband/io/hdf5.hpp>

namespace wb {

/// The element types that are read and written.
enum class hdf5_element : char { uint8, int8, int16, int32, int64, float32, float64, complex64, complex128 };

/// Calls f with a value of the type.
template <class F>
decltype(auto) with_element(hdf5_element element, F f) {
  switch (element) {
    case hdf5_element::uint8:
      return f(std::uint8_t{});
    case hdf5_element::int8:
      return f(std::int8_t{});
    case hdf5_element::int16:
      return f(std::int16_t{});
    case hdf5_element::int32:
      return f(std::int32_t{});
    case hdf5_element::int64:
      return f(std::int64_t{});
    case hdf5_element::float32:
      return f(float{});
    case hdf5_element::float64:
      return f(double{});
    case hdf5_element::complex128:
      return f(std::complex<double>{});
    default:
      return f(std::complex<float>{});
  }
}
inline std::size_t bytes_of(hdf5_element element) {
  return with_element(element, [](auto zero) { return sizeof zero; });
}
/// "uint8", ..., "complex128", as hdf5_array::type says.
inline const char* name_of(hdf5_element element) {
  constexpr const char* names[] = {"uint8",   "int8",    "int16",     "int32",     "int64",
                                   "float32", "float64", "complex64", "complex128"};
  return names[static_cast<std::size_t>(element)];
}
template <class T>
inline constexpr hdf5_element element_of = hdf5_element::complex64;
template <>
inline constexpr hdf5_element element_of<std::uint8_t> = hdf5_element::uint8;
template <>
inline constexpr hdf5_element element_of<std::int8_t> = hdf5_element::int8;
template <>
inline constexpr hdf5_element element_of<std::int16_t> = hdf5_element::int16;
template <>
inline constexpr hdf5_element element_of<std::int32_t> = hdf5_element::int32;
template <>
inline constexpr hdf5_element element_of<std::int64_t> = hdf5_element::int64;
template <>
inline constexpr hdf5_element element_of<float> = hdf5_element::float32;
template <>
inline constexpr hdf5_element element_of<double> = hdf5_element::float64;
template <>
inline constexpr hdf5_element element_of<std::complex<double>> = hdf5_element::complex128;

/// Calls as those of hdf5_reader. Threads: one at a time.
class hdf5_source {
 public:
  virtual ~hdf5_source() = default;
  virtual bool has(const std::string& name) = 0;
  virtual std::vector<std::string> names() = 0;
  virtual hdf5_array describe(const std::string& name) = 0;
  virtual std::vector<std::size_t> expect(hdf5_element element, const std::string& name,
                                          std::size_t dimensions) = 0;
  virtual void read(hdf5_element element, const std::string& name, std::size_t first, std::size_t rows,
                    void* to) = 0;
  virtual std::optional<hdf5_attribute> attribute(const std::string& name, const std::string& attribute) = 0;
  virtual std::vector<double> attribute_numbers(const std::string& name, const std::string& attribute) = 0;
  virtual std::string remark() = 0;
};

/// `descriptor` is of the file, open for reading, and stays the caller's; `bytes` is its size, and `path` is
/// for messages. Throws file_error.
std::unique_ptr<hdf5_source> hdf5_in_process(int descriptor, std::uint64_t bytes, const std::string& path);
std::unique_ptr<hdf5_source> hdf5_in_program(int descriptor, std::uint64_t bytes, const std::string& path,
                                             const hdf5_access& access);

}  // namespace wb
