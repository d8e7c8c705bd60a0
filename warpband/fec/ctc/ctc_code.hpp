#pragma once
// Convolutional turbo codes (CTC) over couples (pairs of bits): those of IEEE 802.16 (§8.4.9.2.3) and of the
// first edition of DVB-RCS (ETSI EN 301 790 §8.5.2). Sizes, interleavers, puncturing.
//
// k = 2 N bits are N couples (A_i, B_i): bits 2 i and 2 i + 1. Encoder 1 takes them in order. Encoder 2 takes
// couple P(j) at time j, with A and B swapped where j is even:
//   P(j) = (P0 j + 1 + {0, N/2 + P1, P2, N/2 + P3}[j mod 4]) mod N.
// Each encoder has 8 states and the polynomials 1 + D + D^3 (feedback), 1 + D^2 + D^3 (parity Y) and 1 + D^3
// (parity W). A enters the first register, B all three. It ends in the state in which it began.
#include <array>
#include <cstdint>
#include <vector>

#include <warpband/core/setting.hpp>

namespace wb {

enum class ctc_standard { wimax, dvb_rcs };

/// Information bits over sent bits.
enum class ctc_rate { r1_3, r2_5, r1_2, r2_3, r3_4, r4_5, r5_6, r6_7 };

struct ctc_config {
  ctc_standard standard = ctc_standard::wimax;
  /// Information bits, 2 N. wimax: N = 24, 36, 48, 72, 96, 108, 120, 144, 180, 192, 216, 240, and with HARQ
  /// 480, 960, 1440, 1920, 2400. dvb-rcs: N = 48, 64, 212, 220, 228, 424, 432, 440, 752, 848, 856, 864.
  int k = 480;
  /// wimax: 1/3, 1/2, 2/3, 3/4, 5/6. dvb-rcs: 1/3, 2/5, 1/2, 2/3, 3/4, 4/5, 6/7. What is sent must be a whole
  /// number of bits, and of periods of the puncturing pattern.
  ctc_rate rate = ctc_rate::r1_3;
  bool operator==(const ctc_config&) const = default;
};
/// Throws argument_error for what is not allowed.
void check(const ctc_config& config);
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<ctc_config>>& ctc_settings();

/// All N of a standard, in order.
std::vector<int> ctc_couples(ctc_standard standard);
/// P(0), ... P(N - 1). Throws argument_error (argument "k") for an N that the standard does not have.
std::vector<std::int32_t> ctc_permutation(ctc_standard standard, int k);
/// Bits that are sent: k over the rate, rounded down.
int ctc_sent_bits(const ctc_config& config);
/// Which bits are sent, in their order. Places count the streams A, B, Y1, Y2, W1, W2 of N bits, one after
/// the other.
///   wimax     Each stream passes its subblock interleaver. A, B, Y1 and Y2 bit by bit, W1 and W2 bit by
///             bit. Of these the first k / rate are sent (§8.4.9.2.3.4, first transmission).
///   dvb-rcs   A and B bit by bit. Of the punctured parities Y1 and Y2 bit by bit, then W1 and W2. This is
///             the natural order.
/// Throws argument_error.
std::vector<std::int32_t> ctc_sent_places(const ctc_config& config);

/// The state in which an encoder begins and ends, as a linear map of the one in which it ends if it begins in
/// 0: the exclusive-or of columns[b] over the bits b of that state. The state is 4 s1 + 2 s2 + s3.
std::array<int, 3> ctc_circulation(int couples);

}  // namespace wb
