#pragma once

#include <cstdint>
#include <functional>
#include <vector>

/// The shared transport channels of 5G NR, 3GPP TS 38.212 §5 and TS 38.214 §5.1.3, step by step as printed,
/// for checking the library.
namespace oracle {

/// A bit, or nr_null, the <NULL> of the standard.
using nr_symbols = std::vector<int>;
inline constexpr int nr_null = -1;

/// TS 38.211 §5.2.1: c(0..n - 1) by the recursions.
std::vector<int> nr_gold_sequence(std::uint32_t c_init, int n);

/// TS 38.214 §5.1.3.2 in double precision. sizes: table 5.1.3.2-1, rising.
int nr_tbs(int n_re, double rate, int qm, int layers, const std::vector<int>& sizes);

/// TS 38.212 §5.2.2 with the standard's names; K' in Kp.
struct nr_segments {
  int C = 0, L = 0, Kp = 0, Kb = 0, Z = 0, K = 0;
};
/// Of B bits. lifting: the 51 sizes, rising.
nr_segments nr_segment(int B, int base_graph, const std::vector<int>& lifting);

struct nr_channel {
  int base_graph = 1, G = 0, Q_m = 1, N_L = 1, N_ref = 0;
  std::int64_t c_init = -1;  ///< -1: not scrambled
};
/// §5.4.2.1: E bits of redundancy version rv of d, the codeword behind its first 2 Z bits. N_ref = 0: N.
std::vector<int> nr_select(const nr_symbols& d, int base_graph, int z, int N_ref, int rv, int E);
/// §5.4.2.2.
std::vector<int> nr_interleave(const std::vector<int>& e, int Q_m);
/// §5.4.2.1: E of code block r of C.
int nr_sent_bits(int G, int N_L, int Q_m, int C, int r);
/// All of it: transport block a to G bits. `encode` makes all 22 + 46 or 10 + 42 columns of a codeword from
/// K bits, fillers as zeros, for a lifting size.
std::vector<std::uint8_t> nr_transport_encode(
    const std::vector<std::uint8_t>& a, const nr_channel& channel, int rv, const std::vector<int>& lifting,
    const std::function<std::vector<int>(const std::vector<int>& bits, int z)>& encode);

}  // namespace oracle
