#pragma once
// The part of an HDF5 file's groups that libhdf5 believes without a check.

#include <cstdint>

#include <warpband/io/hdf5_header.hpp>

namespace wb {

/// Whether libhdf5 can read the names of a group with a symbol table: heap and tree are there, the heap's
/// free list ends, each node of the tree is one level below its parent, and each name begins and ends inside
/// of the heap. libhdf5 1.10 reads wherever a name is said to be. Source: HDF5 File Format Specification 3.0,
/// III.A.1, III.B, III.C and III.D.
bool is_sound_table(int file, const hdf5_numbers& numbers, std::uint64_t tree, std::uint64_t heap);

/// Whether libhdf5 can decode a link message of so many bytes. It lists a group's links together, and where
/// one of them is wrong 1.10 frees memory that it never had. Source: the same, IV.A.2.g.
bool is_sound_link(int file, const hdf5_numbers& numbers, std::uint64_t at, std::uint64_t bytes);

/// Whether libhdf5 can hold the root group of an open file, which it looks at when it opens the file. Source:
/// the same, II.
bool is_sound_root(int file);

}  // namespace wb
