#pragma once
// Quasi-cyclic base matrices from text files.
//
// CSV: a row of H's blocks in each line, shifts 0..z - 1 with commas, semicolons or white space between them;
// -1, - or an empty field is a zero block. Text behind # is a comment; "z = 27" in one gives the lifting
// size.
//
// alist (D. J. C. MacKay): the ones of the whole matrix H. First n and m, then the most ones of a column and
// of a row, then the number of ones of each column and of each row. Last the rows of each column's ones and
// the columns of each row's, counted from 1, with or without zeros that fill them up. The reader finds the
// blocks: z is the largest divisor of n and m, above 1, for which each z x z block is zero or a rotated
// identity.
//
// Codewords have their k systematic bits first: the last rows * z columns are parity, and an encoder must
// find them block by block (ldpc_encoder).
#include <string>
#include <string_view>

#include <warpband/fec/ldpc/ldpc_code.hpp>

namespace wb {

/// Reads a file of one of the formats; which, its content tells. z: the lifting size, 0: what the file says.
/// Throws file_error with line, or row and column from 0, and reason. Refused are text that is no list of
/// numbers, rows of several lengths, a lifting size that is missing or not the one asked for, and wrong
/// shifts. So are a matrix that is not quasi-cyclic, a list that contradicts itself, sizes that ldpc_code
/// does not take, and a parity part that cannot be encoded.
///
///   const ldpc_code code = read_ldpc_code("codes/5g_bg2.csv", 16);
ldpc_code read_ldpc_code(const std::string& path, int z = 0);

/// The same of a text; `name` stands for the file in messages.
ldpc_code parse_ldpc_code(std::string_view text, const std::string& name, int z = 0);

}  // namespace wb
