#pragma once
// Writes .npy files as numpy.save does (format version 1.0).
#include <complex>
#include <fstream>
#include <string>
#include <vector>

namespace wb::testing {

inline std::string npy_header(const std::string& type, const std::vector<std::size_t>& shape) {
  std::string axes;
  for (const std::size_t n : shape) axes += std::to_string(n) + ",";
  std::string text = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + axes + "), }";
  text.resize((10 + text.size() + 64) / 64 * 64 - 11, ' ');
  text += '\n';
  return std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(text.size() % 256) +
         static_cast<char>(text.size() / 256) + text;
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

inline void write_npy(const std::string& path, const std::vector<std::size_t>& shape,
                      const std::vector<std::complex<float>>& values) {
  write_bytes(path, npy_header("<c8", shape) + bytes_of(values));
}

}  // namespace wb::testing
