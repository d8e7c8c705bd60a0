#pragma once
// The part of an HDF5 file's object headers that libhdf5 believes without a check.

#include <cstddef>
#include <cstdint>

namespace wb {

/// How a file writes addresses and sizes, as its superblock says.
struct hdf5_numbers {
  std::size_t address_bytes = 8, size_bytes = 8;
  std::uint64_t begin = 0;  // of addresses: bytes of the user block before them
};

/// A number of a file's own structures: up to eight bytes, the least significant one first.
inline std::uint64_t little(const unsigned char* from, std::size_t bytes) {
  std::uint64_t n = 0;
  for (std::size_t i = bytes; i-- > 0;) n = n << 8 | from[i];
  return n;
}

/// Whether libhdf5 can hold what the object header at `address` of an open file says. Its chunks have 2 to 33
/// dimensions, of which the last one is the element: libhdf5 1.10 writes before an array where there are
/// fewer. The attributes in it are inside of their messages: libhdf5 1.10 reads behind them where they are
/// not. Attributes that a heap holds are not looked at. The heap and the trees of attributes and of links are
/// there: 1.10 reads from a null address otherwise. hdf5_group.hpp says what holds for names and links.
/// True too where there is no header at all: libhdf5 refuses that. Source: HDF5 File Format
/// Specification 3.0, IV.A.1, IV.A.2.b, IV.A.2.c, IV.A.2.i, IV.A.2.m and IV.A.2.v.
bool is_sound_header(int file, const hdf5_numbers& numbers, std::uint64_t address);

}  // namespace wb
