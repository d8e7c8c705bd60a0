#pragma once
// What hdf5_in_program and the program warpband-hdf5 say to each other, through a socket. The program is
// started with one argument, the bytes of memory that it may take, and with the descriptors of
// confined_files: the socket, the file, and the window, memory that both map.
//
// It begins with a greeting. Then it answers requests in their order. A message is its length in 32 bits and
// so many bytes; core/packed.hpp says how they hold values. A request begins with the letter of its call, an
// answer with its kind: 'k' and values, 'f' and the text of a file_error, or 's' or 'a' and the three texts
// of a shape_error or argument_error. Rows are not in the answer: the program reads them into the window,
// where the request says.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <warpband/core/packed.hpp>
#include <warpband/io/hdf5.hpp>

namespace wb::hdf5_messages {

/// Of both programs: they are of one build of one version, or do not work together.
inline constexpr char greeting[] = "warpband-hdf5 1";

inline constexpr std::size_t most_request = std::size_t{1} << 20;
inline constexpr std::size_t most_answer = std::size_t{16} << 20;  // texts of 1 MiB, 2^20 numbers, names

enum class call : char {
  open = 'o',
  has = 'h',
  names = 'n',
  describe = 'd',
  expect = 'e',
  read = 'r',
  attribute = 'a',
  numbers = 'v',
  remark = 'm'
};

using packed = packer<std::string>;
using unpacked = unpacker<std::string_view>;
inline unpacked read_back(std::string_view bytes) {
  return {bytes, "the program that read it answered something else"};
}

inline void pack(packed& to, const hdf5_array& a) {
  to << a.shape << a.type << a.chunk_rows << static_cast<char>(a.packed) << a.chunk_bytes << a.block_bytes;
}

/// Rows of an array, from `offset` of the window on, of which `window` bytes are mapped.
struct rows_request {
  std::uint64_t first = 0, rows = 0, window = 0, offset = 0;
};

}  // namespace wb::hdf5_messages
