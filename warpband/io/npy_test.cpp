// .npy files: those of NumPy, and those that are not what they say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>

#include <unistd.h>

#include <tests/npy.hpp>
#include <warpband/io/npy.hpp>

namespace wb {
namespace npy_test {

using testing::bytes_of;
using testing::npy_header;
using testing::write_bytes;

class npy : public ::testing::Test {
 protected:
  ~npy() override { std::filesystem::remove(path_); }
  std::string refusal(const std::string& bytes) {
    write_bytes(path_, bytes);
    try {
      const npy_reader file(path_);
      std::vector<std::complex<float>> values(16);
      file.read(0, file.shape().empty() ? 1 : std::min<std::size_t>(file.shape()[0], 2), values.data());
    } catch (const file_error& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.find('\n'), std::string::npos);
      EXPECT_EQ(message.find(path_), 0u);
      return message.substr(path_.size());
    }
    return "";
  }
  std::string path_ =
      (std::filesystem::temp_directory_path() / ("warpband_npy_" + std::to_string(getpid()) + ".npy"))
          .string();
};

const std::vector<std::complex<float>> some{{1, 2}, {-3, 0.5f}, {0, -1}, {4, 4}, {5, -5}, {0.25f, 6}};
template <class T>
std::vector<T> parts(bool reversed) {
  std::vector<T> values;
  for (const auto& z : some)
    for (T x : {static_cast<T>(z.real()), static_cast<T>(z.imag())}) {
      auto* bytes = reinterpret_cast<unsigned char*>(&x);
      if (reversed) std::reverse(bytes, bytes + sizeof x);
      values.push_back(x);
    }
  return values;
}

TEST_F(npy, reads_what_numpy_writes) {
  struct one {
    std::string type, numbers;
    bool converts;
  };
  for (const one& o :
       {one{"<c8", bytes_of(parts<float>(false)), false}, one{">c8", bytes_of(parts<float>(true)), false},
        one{"<c16", bytes_of(parts<double>(false)), true},
        one{">c16", bytes_of(parts<double>(true)), true}}) {
    write_bytes(path_, npy_header(o.type, {3, 1, 2}) + o.numbers);
    EXPECT_TRUE(is_npy(path_));
    const npy_reader file(path_);
    EXPECT_EQ(file.shape(), (std::vector<std::size_t>{3, 1, 2}));
    EXPECT_EQ(file.converts(), o.converts);
    std::vector<std::complex<float>> rows(4);
    file.read(1, 2, rows.data());
    EXPECT_EQ(rows, (std::vector<std::complex<float>>(some.begin() + 2, some.end()))) << o.type;
    EXPECT_THROW(file.read(2, 2, rows.data()), shape_error);
    EXPECT_THROW(file.read(4, 0, rows.data()), shape_error);
  }
  // Version 2 has a longer length; keys come in any order, in either quotes, without a last comma.
  const std::string text = "{\"shape\": (6,), 'fortran_order': False, 'descr': '<c8'}\n";
  write_bytes(path_, std::string("\x93NUMPY\x02\0", 8) + static_cast<char>(text.size()) +
                         std::string(3, '\0') + text + bytes_of(some));
  std::vector<std::complex<float>> values(6);
  npy_reader(path_).read(0, 6, values.data());
  EXPECT_EQ(values, some);
  // NaN and infinities stay what they are.
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  write_bytes(path_, npy_header("<c16", {1}) + bytes_of(std::vector<double>{nan, -inf}));
  npy_reader(path_).read(0, 1, values.data());
  EXPECT_TRUE(std::isnan(values[0].real()));
  EXPECT_EQ(values[0].imag(), -std::numeric_limits<float>::infinity());
}

TEST_F(npy, refuses_what_is_not_as_it_says) {
  const std::string good = npy_header("<c8", {3, 2}) + bytes_of(some);
  EXPECT_EQ(refusal(good), "");
#define EXPECT_BAD(bytes, part) EXPECT_NE(refusal(bytes).find(part), std::string::npos) << refusal(bytes)
  EXPECT_BAD("", "it is not a .npy file");
  EXPECT_BAD("PK\x03\x04 a zipped archive", "it is not a .npy file");
  EXPECT_BAD(good.substr(0, good.size() - 1), "it is truncated: 47 bytes of numbers");
  EXPECT_BAD(good + "x", "it has 1 bytes more than its shape");
  EXPECT_BAD(good.substr(0, 60), "its header ends behind the file");
  EXPECT_BAD(std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12) + good, "its header has 4294967295 bytes");
  EXPECT_BAD(std::string("\x93NUMPY\x04\0", 8) + good.substr(8), "version 4.0 of the .npy format");
  const auto with = [](const std::string& text) {
    return std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(text.size()) + '\0' + text + bytes_of(some);
  };
  EXPECT_BAD(with("{'descr': '<f8', 'fortran_order': False, 'shape': (6,)}"),
             "of type <f8: expected complex64");
  EXPECT_BAD(with("{'descr': '|O', 'fortran_order': False, 'shape': (6,)}"),
             "of type |O: expected complex64");
  EXPECT_BAD(with("{'descr': [('r', '<f4')], 'fortran_order': False, 'shape': (6,)}"), "are records");
  EXPECT_BAD(with("{'descr': '<c8', 'fortran_order': True, 'shape': (6,)}"), "in Fortran's order");
  EXPECT_BAD(with("{'descr': '<c8', 'fortran_order': False}"), "its header is damaged");
  EXPECT_BAD(with("{'descr': '<c8', 'descr': '<c8', 'fortran_order': False, 'shape': (6,)}"), "is damaged");
  EXPECT_BAD(with("{'descr': '<c8', 'fortran_order': False, 'shape': (-6,)}"), "its header is damaged");
  EXPECT_BAD(with("{'descr': '<c8', 'fortran_order': False, 'shape': (6,), 'more': 1}"), "is damaged");
  EXPECT_BAD(with("{'descr': '<c8', 'fortran_order': False, 'shape': (6"), "its header is damaged");
  EXPECT_BAD(with("{'descr': '<c8', 'fortran_order': False, 'shape': (6,)} + 1"), "its header is damaged");
  // Sizes whose product is past 2^64, or 0 behind such a one.
  EXPECT_BAD(with("{'descr': '<c8', 'fortran_order': False, 'shape': (4503599627370496, 4503599627370496)}"),
             "it is truncated");
  EXPECT_BAD(with("{'descr': '<c8', 'fortran_order': False, 'shape': (9999999999999999999999, 1)}"),
             "is damaged");
  EXPECT_BAD(npy_header("<c16", {1}) + bytes_of(std::vector<double>{1e39, 0}),
             "it holds 1e+39, which complex64 cannot hold");
#undef EXPECT_BAD
  const npy_reader* none = nullptr;
  EXPECT_THROW(none = new npy_reader("/no/such/file.npy"), file_error);
  EXPECT_EQ(none, nullptr);
  EXPECT_FALSE(is_npy("/no/such/file.npy"));
  EXPECT_THROW(npy_reader(std::filesystem::temp_directory_path().string()), file_error);
}

}  // namespace npy_test
}  // namespace wb
