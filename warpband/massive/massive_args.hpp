#pragma once
#include <cstddef>
#include <cstdint>

#include <warpband/core/half.hpp>
#include <warpband/core/status.hpp>
#include <warpband/core/view.hpp>
#include <warpband/massive/massive.hpp>

namespace wb {

/// Below it a frame of the detector has no noise, and is erased.
inline constexpr float least_massive_n0 = 1e-30f;

/// What a call hands to the detector's or the precoder's kernel. A frame is a channel estimate and the
/// `symbols` vectors that share it.
struct massive_args {
  int antennas = 1, users = 1, symbols = 1;
  massive_solver solver = massive_solver::cholesky;
  int iterations = 0;
  float residual_squared = 0;  // |b - A x|^2 / |b|^2 at which iterations of a vector stop
  // Detector.
  int pam_bits = 1;  // of a symbol in one real dimension
  bool exact_sinr = true;
  bool split_f16 = false;  // sums over antennas on tensor cores, where there are any and 16 or 32 users
  float clip = 0;
  float steps = 8;  // of 8-bit LLRs in an LLR of 1
  // Precoder.
  float symbol_energy = 1;
  float sent_norm = 1;  // |x'|; 0: that of m

  view<const cx_pair> channel;  // [frames, antennas * users]
  view<const cx_pair> in;       // [frames * symbols, antennas] received or [.., users] symbols
  // The same as pairs of halves; of each two the one with data counts.
  view<const half_complex> half_channel, half_in;
  view<const float> noise_var;  // [frames, 1]
  // Outputs; null data: not wanted.
  view<float> llr, sinr;      // [frames * symbols, users * bits], [frames * symbols, users]
  view<std::int8_t> llr8;     // the LLRs in steps
  view<cx_pair> out;          // [frames * symbols, users] equalised or [.., antennas] precoded
  view<std::uint8_t> status;  // [frames * symbols, 1]
};

}  // namespace wb
