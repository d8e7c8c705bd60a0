#pragma once
// Frames of massive-MIMO detection and precoding as the thesis of K. Li counts them (docs/li-thesis.md): some
// OFDM symbols of some subcarriers, and a channel estimate for each subcarrier. What Warpband and the peers
// it is measured beside (bench/peers/) share: the frames, their data, and the check that a peer does the
// same.
#include <bench/bench.hpp>
#include <complex>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include <warpband/core/half.hpp>
#include <warpband/massive/massive.hpp>

namespace wb::bench {

/// Independent complex normal values of a variance; waits for them.
void fill(executor& exec, std::complex<float>* x, std::size_t count, float variance, std::uint64_t seed);
inline void fill(executor& exec, array<std::complex<float>>& x, float variance, std::uint64_t seed) {
  fill(exec, x.data(), x.size(), variance, seed);
}

struct frame_shape {
  bool uplink = true;
  int antennas = 128, users = 16;
  massive_solver solver = massive_solver::cholesky;
  std::optional<int> iterations = {};
  int subcarriers = 128, symbols = 1;
  /// Every vector has an estimate of its own and pays for its Gram matrix and decomposition. In the thesis
  /// those are copies of the estimates of one OFDM symbol, which alone come from the host. Otherwise the
  /// symbols of a subcarrier share one.
  bool per_vector = false;
  /// H and y as pairs of halves, LLRs in 8 bits. Of the detector.
  bool half = false;
  /// Sums on tensor cores (massive_sums::split_f16). Of the detector.
  bool split = false;

  std::size_t vectors() const {
    return static_cast<std::size_t>(subcarriers) * static_cast<std::size_t>(symbols);
  }
  std::size_t estimates() const { return per_vector ? vectors() : static_cast<std::size_t>(subcarriers); }
  int vectors_of_estimate() const { return per_vector ? 1 : symbols; }
};

/// A frame's data on a device: 16-QAM, N0 = 0.1, entries of H of variance 1.
struct frame_data {
  frame_shape shape;
  bool by_columns = false;         // how H lies: entry (b, u) at u * B + b, not at b * U + u
  array<std::complex<float>> h;    // [estimates, B * U]
  array<std::complex<float>> in;   // [vectors, B] received or [vectors, U] symbols; those of an estimate
                                   // one after the other
  array<float> n0;                 // one
  array<float> llr;                // [vectors, 4 U] of the detector
  array<half_complex> h16, in16;   // instead of h and in
  array<std::int8_t> llr8;         // instead of llr
  array<std::complex<float>> out;  // [vectors, B] of the precoder, of norm 1
  bool copied = false;  // H of the first `subcarriers` estimates is there, the others are to be copies
};

/// Prepares what queues a frame on the executor where its data lie; the data outlive it.
using frame_design = std::function<std::function<void()>(executor&, frame_data&)>;

/// The detector and the precoder of this library.
std::function<void()> warpband_design(executor& exec, frame_data& data);

/// Adds the benchmarks "uplink_frame" or "downlink_frame" of a design. One with H by columns is a peer: its
/// results are held against Warpband's whenever its data are made, before it is timed; a difference is an
/// error of the benchmark.
void add_frames(const std::string& device, const frame_shape& shape, const std::string& by,
                const std::vector<figure>& figures, bool by_columns, const frame_design& design);

struct frame_benchmark {
  frame_shape shape;
  std::vector<figure> figures;
};
/// Slots of 14 symbols with halves and LLRs in 8 bits.
std::vector<frame_benchmark> half_frames(const std::string& device);
/// 128 x 16 and 256 x 32 antennas and users with sums in split FP16.
std::vector<frame_benchmark> split_frames(const std::string& device);
/// The frames of tables 5.1 to 5.3 and figures 5.1 and 5.2, and a slot of 14 symbols.
std::vector<frame_benchmark> thesis_frames(const std::string& device);

}  // namespace wb::bench
