#pragma once
// Parity-check matrices of standards, by name:
//
//   ccsds/ar4ja-K-R    K = 1024, 4096 or 16384; R = 1/2, 2/3 or 4/5. The last M columns are punctured
//   ccsds/c2-8176      (8176, 7154)
//   ccsds/c2-8160      (8160, 7136): shortened by 18 bits, and two bits of 0 at the end
//   ccsds/tc-N         telecommand, N = 128, 256 or 512, rate 1/2
//   dvb-s2/SIZE-R      SIZE = normal (n = 64800), medium (32400) or short (16200); R is the rate as the
//                      standard names it. The true rates of short 1/2, 3/4, 4/5 and 5/6 are 4/9, 11/15, 7/9
//                      and 37/45
//
// AR4JA: H has 3 rows of blocks of M x M, which are sums of the identity and of permutations Pi_k. Row i of
// Pi_k has its one in column M/4 ((theta_k + j) mod 4) + (phi_k(j, M) + i) mod M/4, with j = floor(4 i / M).
//
// DVB-S2: information bit 360 t + w is in the checks (a + w q) mod (n - k) for the addresses a of row t, with
// q = (n - k) / 360. Check c also has the parity bits c and c - 1. Row 360 r + s of the matrix is check
// r + q s, so that neighbouring rows share few bits and layers are large.
//
// CCSDS 131.0-B (AR4JA, C2), CCSDS 231.0-B (telecommand); ETSI EN 302 307-1 clause 5.3.2 with annexes B and C
// (DVB-S2), EN 302 307-2 (DVB-S2X).
#include <string>
#include <string_view>
#include <vector>

#include <warpband/fec/sparse_ldpc/parity_check_matrix.hpp>

namespace wb {

/// All names, in order of standards and sizes.
const std::vector<std::string>& standard_matrix_names();

/// The matrix of that name; its punctured and shortened columns are added to those that are given. Throws
/// argument_error.
///
///   const parity_check_matrix h = standard_parity_check_matrix("ccsds/tc-128");
parity_check_matrix standard_parity_check_matrix(std::string_view name, const unsent_columns& unsent = {});

/// A matrix of a standard by name, or that of a file (read_parity_check_matrix), whose relative path starts
/// at `folder`. A name comes first: a file "ccsds/tc-128" is "./ccsds/tc-128". Throws argument_error,
/// file_error.
parity_check_matrix parity_check_matrix_of(const std::string& name_or_path, const std::string& folder = {},
                                           const unsent_columns& unsent = {});

/// An LDPC code of DVB-S2 and the BCH code that goes with it.
struct dvb_s2_code {
  std::string name;  // "normal-1/2"
  int n, k;          // of the LDPC code
  int field_degree;  // of the BCH code, whose length is k
  int corrects;      // errors of the BCH code
};
/// All of them: DVB-S2, then DVB-S2X.
const std::vector<dvb_s2_code>& dvb_s2_codes();

}  // namespace wb
