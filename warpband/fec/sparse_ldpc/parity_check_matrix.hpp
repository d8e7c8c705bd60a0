#pragma once
// Parity-check matrices without structure: any sparse binary H, by its ones.
//
// Elimination over GF(2) finds the rank of H and with it which columns carry information:
//   1. While a column has a single one in the rows that are left, it is a pivot, and its row leaves. This
//      costs nothing, and accumulators (repeat-accumulate codes, DVB-S2) end here.
//   2. The rows that remain are eliminated as packed bits. Their pivots are taken from the last column down.
//      If these rows are z x z circulants, z a power of two, elimination works on polynomials modulo x^z - 1
//      with the same pivots. Such a polynomial has an inverse if its number of terms is odd.
// Columns that are no pivots are information bits, k = n - rank of them. So the parity bits of a code that
// lists them last come last. Rows may depend on each other, and rows and columns may be empty.
//
// Punctured columns are not sent: their LLR is 0. Shortened columns are 0, and both sides know it. Neither
// are part of what a decoder takes and an encoder gives.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <warpband/core/error.hpp>

namespace wb {

/// Columns of a matrix that are not sent, from 0, in any order.
struct unsent_columns {
  std::vector<int> punctured = {}, shortened = {};
};

/// A checked matrix H of m checks and n bits, 1 to 2^20 each, with up to 2^26 ones.
///
/// The constructor finds rank and information columns. Phase 2 above takes r^2 n / 64 operations of 64 bits
/// for r remaining rows.
///
/// Threads: any number may call one object at once. Copies share what they hold.
class parity_check_matrix {
 public:
  /// rows[i]: the columns of the ones in row i, from 0, in any order.
  ///
  /// encoder_rows: further rows that a codeword of the encoder satisfies. They take part in elimination, but
  /// decoders do not use them. So an encoder may give a part of the codewords of H. k counts them, and `with`
  /// keeps them.
  ///
  /// Throws argument_error.
  /// - "rows", with row and column: a column that is not 0..n - 1, or that stands twice in a row
  /// - "punctured", "shortened": columns that H lacks, or that are listed twice; or all columns are unsent
  /// - "encoder_rows": as "rows"
  parity_check_matrix(int n, std::vector<std::vector<int>> rows, const unsent_columns& unsent = {},
                      std::vector<std::vector<int>> encoder_rows = {});
  /// The same with other columns punctured and shortened.
  parity_check_matrix with(const unsent_columns& unsent) const;
  /// A move copies; the source keeps its value.
  parity_check_matrix(const parity_check_matrix&) = default;
  parity_check_matrix& operator=(const parity_check_matrix&) = default;

  /// Bits of a codeword, the columns of H.
  int n() const noexcept;
  /// Rows of H.
  int checks() const noexcept;
  /// Ones of H.
  std::size_t ones() const noexcept;
  /// Of H without its shortened columns.
  int rank() const noexcept;
  /// Information bits: n less parity and shortened columns.
  int k() const noexcept;
  /// Bits that are sent: n without punctured and shortened columns.
  int sent() const noexcept;
  /// The columns of each row, in order.
  const std::vector<std::vector<int>>& rows() const noexcept;
  /// The rows that only the encoder uses.
  const std::vector<std::vector<int>>& encoder_rows() const noexcept;
  /// The columns that carry the k information bits, and those that are sent, in order.
  const std::vector<int>& information_columns() const noexcept;
  const std::vector<int>& sent_columns() const noexcept;
  /// In order.
  const std::vector<int>& punctured() const noexcept;
  const std::vector<int>& shortened() const noexcept;
  /// Columns of the parity bits, in an order in which an encoder can find them: first those of phase 2, then
  /// those of phase 1. There are as many as the rank of H with the encoder's rows.
  const std::vector<int>& parity_columns() const noexcept;
  /// How the parity bits of phase 2 follow from information bits: row i has the packed bits of parity bit i,
  /// bit j % 32 of word j / 32 for information bit j; ceil(k / 32) words a row. Made anew. Throws
  /// argument_error where that is more than 2^31 bits.
  std::vector<std::uint32_t> parity_rows() const;
  /// How the parity bits of phase 1 follow: each is the sum of the other columns of its row, without
  /// shortened ones. These are information bits or earlier parity bits. A row for each, in the order of
  /// `parity_columns`. Made anew.
  std::vector<std::vector<int>> parity_sums() const;

 private:
  struct state;
  std::shared_ptr<const state> state_;
};

/// Reads a matrix of a text file, at most 64 MiB.
///
/// alist (D. J. C. MacKay): n and m, then the most ones of a column and of a row. Then the ones of each
/// column and of each row. Last the rows of each column's ones and the columns of each row's, from 1. Zeros
/// may fill up lists, text behind # is a comment, and the lists of rows may be missing.
///
/// QC (AFF3CT): columns and rows of blocks and the lifting size z. Then a row of shifts in each line, -1 for
/// a zero block. A last line of 0 and 1 may say which block columns are sent; the others are punctured.
///
/// Throws file_error with line and reason.
///
///   const parity_check_matrix h = read_parity_check_matrix("codes/mackay_504_1008.alist");
parity_check_matrix read_parity_check_matrix(const std::string& path, const unsent_columns& unsent = {});

/// The same of a text; `name` stands for the file in messages.
parity_check_matrix parse_parity_check_matrix(std::string_view text, const std::string& name,
                                              const unsent_columns& unsent = {});

}  // namespace wb
