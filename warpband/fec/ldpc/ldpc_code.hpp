#pragma once
// Quasi-cyclic low-density parity-check codes as data: a base matrix, a lifting size and how shifts scale.
//
// Block (i, j) of the parity-check matrix H is a z x z zero matrix (shift -1) or the identity rotated right
// by its shift s: row r of the block has its one in column (r + s) mod z. A codeword c of n = columns * z
// bits, systematic bits first, has H c = 0; it carries k = n - rows * z bits.
//
// IEEE 802.16e-2005 §8.4.9.2.5 (WiMAX), IEEE 802.11n-2009 annex R (WiFi) and 3GPP TS 38.212 §5.3.2 (5G NR,
// ldpc_nr.hpp) come ready-made.
#include <vector>

#include <warpband/core/error.hpp>

namespace wb {

/// A base matrix for lifting size z.
struct qc_matrix {
  int rows = 0, columns = 0;
  /// Row after row; -1 is a zero block.
  std::vector<int> shifts;
};

/// How a base matrix made for one lifting size serves a smaller one. Negative shifts stay, and so does 0.
enum class shift_scaling {
  none,    // shifts hold as they are
  floor,   // floor(s z / z0)   (802.16e, all rates but 2/3A)
  modulo,  // s mod z           (802.16e rate 2/3A, TS 38.212)
};

/// The matrix for lifting size z, of one made for z0. Throws argument_error where z is not 1..z0 (modulo:
/// any).
qc_matrix lifted(const qc_matrix& base, int z0, int z, shift_scaling scaling);

/// A checked code. Throws argument_error that names row and column (from 0) of what is not allowed: a shift
/// below -1 or from z up, a row with fewer than 2 or more than 64 blocks, a column without any, rows of other
/// lengths than `columns`.
/// Threads: any number may call one object at once, each with an executor of its own.
class ldpc_code {
 public:
  /// 1..128 rows, more columns than rows and at most 1024, 1024 blocks; z 1..4096; n up to 2^20.
  ldpc_code(qc_matrix matrix, int z);
  /// Moves copy: one that was moved from stays as it was.
  ldpc_code(const ldpc_code&) = default;
  ldpc_code& operator=(const ldpc_code&) = default;

  int rows() const noexcept { return matrix_.rows; }
  int columns() const noexcept { return matrix_.columns; }
  int z() const noexcept { return z_; }
  int n() const noexcept { return matrix_.columns * z_; }
  int k() const noexcept { return (matrix_.columns - matrix_.rows) * z_; }
  /// Blocks that are not zero; each has z edges.
  int blocks() const noexcept { return blocks_; }
  const qc_matrix& matrix() const noexcept { return matrix_; }
  int shift(int row, int column) const noexcept {
    return matrix_.shifts[static_cast<std::size_t>(row * matrix_.columns + column)];
  }

 private:
  qc_matrix matrix_;
  int z_, blocks_ = 0;
};

/// Code rates of 802.16e: 1/2, 2/3A, 2/3B, 3/4A, 3/4B, 5/6.
enum class wimax_rate { r1_2, r2_3a, r2_3b, r3_4a, r3_4b, r5_6 };
/// n = 576, 672, ... 2304 (24 z). Throws argument_error.
ldpc_code wimax_ldpc(int n, wimax_rate rate);

/// Code rates of 802.11n.
enum class wifi_rate { r1_2, r2_3, r3_4, r5_6 };
/// n = 648, 1296 or 1944 (24 z). Throws argument_error.
ldpc_code wifi_ldpc(int n, wifi_rate rate);

}  // namespace wb
