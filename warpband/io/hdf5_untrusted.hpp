#pragma once
// An HDF5 file that another process reads, see hdf5_access: what hdf5_reader hands its calls to.
#include <complex>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <warpband/io/child_process.hpp>
#include <warpband/io/hdf5.hpp>

namespace wb {

constexpr std::size_t mib = std::size_t{1} << 20;

/// The element types of hdf5_reader in requests.
template <class T>
inline constexpr char hdf5_element = '?';
template <>
inline constexpr char hdf5_element<std::uint8_t> = 'b';
template <>
inline constexpr char hdf5_element<std::int16_t> = 's';
template <>
inline constexpr char hdf5_element<std::int32_t> = 'i';
template <>
inline constexpr char hdf5_element<std::int64_t> = 'l';
template <>
inline constexpr char hdf5_element<float> = 'f';
template <>
inline constexpr char hdf5_element<double> = 'd';
template <>
inline constexpr char hdf5_element<std::complex<float>> = 'c';

/// Calls of hdf5_reader, answered by a child process. Nothing that it answers is trusted: texts are bounded
/// and shown on one line, and an array keeps the shape that it was first said to have. The caller holds
/// whatever lock the child's library needs; `renew_lock` renews it there.
/// Threads: any number may call at once; they take turns.
class untrusted_hdf5 {
 public:
  untrusted_hdf5(const std::string& path, const hdf5_access& access, void (*renew_lock)());

  const std::string& path() const noexcept { return path_; }
  bool has(const std::string& name);
  std::vector<std::string> names();
  hdf5_array describe(const std::string& name);
  std::vector<std::size_t> expect(char element, const std::string& name, std::size_t dimensions);
  void read(char element, std::size_t size, const std::string& name, std::size_t first, std::size_t rows,
            void* to);
  std::optional<hdf5_attribute> attribute(const std::string& name, const std::string& attribute);
  std::vector<double> attribute_numbers(const std::string& name, const std::string& attribute);
  std::string remark();

 private:
  /// What follows the first letter of a good answer; throws what the child's reader threw.
  std::string ask(const std::string& request, std::size_t most);

  std::string path_;
  std::mutex lock_;
  child_process child_;
  std::map<std::string, hdf5_array> arrays_;
};

}  // namespace wb
