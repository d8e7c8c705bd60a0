#pragma once
// One link, from random bits to counted errors:
//
//   source -> CRC -> encode -> map -> channel -> demap -> decode -> count
//
// A frame is k bits into the encoder (its CRC included). lte-turbo sends all 3 k + 12 coded bits, rate
// R = k / (3 k + 12); an uncoded link sends the k bits, R = 1. Zeros fill a frame up to whole symbols; they
// are neither counted nor part of R.
//
// With m bits a symbol and Es = 1: snr_db = ebn0_db + 10 log10(R m), N0 = 10^(-snr_db / 10) per complex
// entry.
//
// Random numbers depend on the seed, on Eb/N0 and on the index of the frame (bits, block fading) or of the
// symbol (noise, fast fading) alone: not on the batch, the threads or the backend. Links that differ only in
// their decoder therefore see the same noise.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <warpband/exec/executor.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/link/codec.hpp>
#include <warpband/modem/demap/demap.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {

enum class channel_type { awgn, rayleigh };
enum class fading_type {
  fast,   // a new h for every symbol
  block,  // one h for a frame
};

struct link_config {
  std::uint64_t seed = 1;

  code_type code = code_type::lte_turbo;
  /// Bits into the encoder, CRC included. Uncoded: bits of a frame, 1..2^24.
  int k = 6144;
  /// The last of the k bits are this CRC.
  std::optional<crc_polynomial> crc;
  /// Instead of the standard's; any k from 40 to 65536 is then allowed.
  std::optional<interleaver_coefficients> interleaver;
  /// Its k, crc_polynomial and crc_degree are not looked at: they follow from `k` and `crc` above.
  turbo_decoder_config decoder;

  /// Points of the constellation: 2 (BPSK), 4, 16, 64, 256.
  int qam = 2;
  demap_algorithm demapper = demap_algorithm::max_log;

  channel_type channel = channel_type::awgn;
  fading_type fading = fading_type::fast;
};

/// The configuration with everything chosen that it leaves open: windows, overlap, and the CRC and k of the
/// decoder. Throws argument_error for what is not allowed.
link_config completed(const link_config& config);

/// R = bits into the encoder / bits sent.
double code_rate(const link_config& config);
/// Es/N0 in dB, which is `snr_db` with one antenna, for an Eb/N0 in dB.
double esn0_from_ebn0_db(const link_config& config, double ebn0_db);

/// What a batch of frames came to, one value per frame in order of index.
struct frame_counts {
  std::vector<std::int32_t> bit_errors;  // of k
  std::vector<std::int32_t> iterations;  // of the decoder; empty when uncoded
  std::vector<std::uint8_t> erased;      // 1 where the decoder met NaN or Inf; empty when uncoded
};

/// A link on an executor. Buffers are allocated once, for the largest batch. Holds on to the executor.
class link_chain {
 public:
  /// For at most `max_batch` frames in one run, and no more than about 64 MiB (CPU) or 1 GiB (CUDA) hold, but
  /// what keeps the executor busy up to 1 GiB, and at least one. Throws argument_error, memory_error.
  link_chain(const link_config& config, executor& exec, std::size_t max_batch = SIZE_MAX);

  /// Sends the frames [first_frame, first_frame + frames) at an Eb/N0 and waits for the counts, which stay
  /// valid until the next run. Throws argument_error for frames > max_batch() or an Eb/N0 out of -100..100
  /// dB.
  const frame_counts& run(std::uint64_t first_frame, std::size_t frames, double ebn0_db);

  /// The configuration in force, see `completed`.
  const link_config& config() const noexcept { return config_; }
  executor& where() const noexcept { return exec_; }
  bool coded() const noexcept { return config_.code != code_type::none; }
  std::size_t max_batch() const noexcept { return max_batch_; }
  std::size_t symbols_per_frame() const noexcept { return symbols_; }

 private:
  void allocate(std::size_t batch);

  link_config config_;
  executor& exec_;
  qam_mapper mapper_;
  demapper demapper_;
  std::optional<crc_attacher> crc_;
  std::unique_ptr<codec> code_;  // none when uncoded
  std::size_t sent_ = 0, symbols_ = 0, padded_ = 0, max_batch_ = 0;

  array<std::uint8_t> bits_, coded_, decided_, status_;
  array<std::complex<float>> received_, gain_;
  array<float> llr_, noise_var_;
  array<std::int32_t> errors_, iterations_;
  float n0_ = 0;  // lives here because uploads are queued
  frame_counts counts_;
};

}  // namespace wb
