#pragma once

#include <cstdint>
#include <functional>
#include <vector>

/// The turbo-coded transport channels of 3GPP TS 36.212 §5.1, step by step as printed, for checking the
/// library.
namespace oracle {

/// A bit, or any other number >= 0 in its place; or lte_null, the <NULL> of the standard.
using lte_symbols = std::vector<int>;
inline constexpr int lte_null = -1;

/// §5.1.2 with the standard's names.
struct lte_segments {
  int C = 0, L = 0, K_plus = 0, C_plus = 0, K_minus = 0, C_minus = 0, F = 0;
};
/// Of B bits; `sizes` are those of table 5.1.3-3, rising.
lte_segments lte_segment(int B, const std::vector<int>& sizes);
/// The code blocks c_r of the B bits b, fillers as lte_null, CRC-24B attached where there are several.
std::vector<lte_symbols> lte_code_blocks(const std::vector<std::uint8_t>& b, const lte_segments& s);

/// §5.1.4.1.1: the sub-block interleaver of stream 0, 1 or 2.
lte_symbols lte_sub_block_interleave(const lte_symbols& d, int stream);
/// §5.1.4.1.2 of the streams d0, d1, d2 of one code block: E symbols of redundancy version rv. N_cb = 0
/// stands for K_w.
lte_symbols lte_rate_match(const lte_symbols& d0, const lte_symbols& d1, const lte_symbols& d2, int N_cb,
                           int E, int rv);
/// §5.1.4.1.2: E of code block r of C, of G bits of N_L layers and Q_m bits a symbol.
int lte_sent_bits(int G, int N_L, int Q_m, int C, int r);

struct lte_channel {
  int G = 0, Q_m = 1, N_L = 1, N_cb = 0;
};
/// All of it: transport block a to G bits. `interleaver` gives that of the turbo code for a K.
std::vector<std::uint8_t> lte_transport_encode(const std::vector<std::uint8_t>& a, const lte_channel& channel,
                                               int rv, const std::vector<int>& sizes,
                                               const std::function<std::vector<int>(int)>& interleaver);

}  // namespace oracle
