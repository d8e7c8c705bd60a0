#pragma once
// Binary convolutional codes of rate 1/n, punctured if need be: their description and the encoder.
//
// A generator is an octal number whose most significant bit belongs to the newest bit of the register, as in
// TS 36.212 §5.1.3.1 and IEEE 802.11 §17.3.5.6: 0133 = 1 + D^2 + D^3 + D^5 + D^6. With a feedback polynomial
// f the bit that enters the register is a_t = u_t + sum_{i>=1} f_i a_{t-i}, and output j is sum_i g_{j,i}
// a_{t-i}. An output with g = f is the input bit itself.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/fec/conv/conv_args.hpp>

namespace wb {

/// In which order a codeword is sent.
enum class conv_order {
  serial,   // step by step, in a step output by output
  streams,  // all of output 0, then all of output 1, ... (d0, d1, d2 of TS 36.212 §5.1.3)
};

struct conv_code {
  /// K: bits of the register with the newest, 3..9.
  int constraint_length = 7;
  /// 1 to 4 generators, each 1..2^K - 1.
  std::vector<int> generators = {0133, 0171};
  /// The feedback polynomial, whose newest bit is 1. Absent: feed-forward.
  std::optional<int> feedback = {};
  conv_ending ending = conv_ending::zero_tail;
  /// Puncturing: [period][generators] of 0 and 1, 1 where the bit is sent. It goes on through the tail.
  /// Empty: all are sent.
  std::vector<std::uint8_t> sent = {};
  conv_order order = conv_order::serial;
};

/// Its settings: names, what is allowed, what they mean. `sent` is a list of rows, flat.
const std::vector<setting_of<conv_code>>& conv_code_settings();

/// The setting of the order, which links have too.
template <class C>
setting_of<C> conv_order_setting(conv_order C::*member) {
  return words<C, conv_order>(
      "order", member, {{"serial", conv_order::serial}, {"streams", conv_order::streams}},
      "In which order coded bits are sent: step by step, or all of the first generator, then all of the "
      "second, ... (d0, d1, d2 of 3GPP TS 36.212).");
}
/// Bits of a block, which encoder and decoders have.
template <class C>
setting_of<C> conv_k_setting(int C::*member, int max_k) {
  return integer("k", member, 1, max_k, "Information bits of a codeword.",
                 "an integer from 1, of tail-biting codes from K - 1, to " + std::to_string(max_k));
}

enum class conv_rate { r1_2, r2_3, r3_4, r5_6 };
/// IEEE 802.11-2007 §17.3.5.5 and 802.11n §20.3.11.5: (133, 171), zero tail.
conv_code conv_80211(conv_rate rate);
/// IEEE 802.16-2004 §8.3.3.2.1: (171, 133), zero tail (OFDM) or tail-biting (OFDMA, §8.4.9.2.1).
conv_code conv_80216(conv_rate rate, conv_ending ending = conv_ending::zero_tail);
/// 3GPP TS 36.212 §5.1.3.1: (133, 171, 165), tail-biting, in the order d0, d1, d2.
conv_code conv_lte();
/// A recursive systematic code: output 0 is the input bit, the others have these generators.
conv_code conv_recursive(int constraint_length, int feedback, const std::vector<int>& parities);

/// The setting that decoders of tail-biting codes have.
template <class C>
setting_of<C> conv_overlap_setting(std::optional<int> C::*member) {
  return integer_or_auto(
      "overlap", member, 0, 4096,
      "Of tail-biting codes: steps around the circle before and behind the codeword. \"auto\": 8 (K - 1), "
      "above rate 1/2 8 (K - 1) / (1 - R).",
      "an integer from 0 to 4096");
}

/// A code over blocks of k bits, with the tables of its kernels.
/// Threads: any number may call one object at once, each with an executor of its own.
class conv_frame {
 public:
  /// Throws argument_error: k 1..2^20, tail-biting at least K - 1 and without feedback; the settings above.
  conv_frame(const conv_code& code, int k);

  const conv_code& code() const noexcept { return code_; }
  int k() const noexcept { return trellis_.k; }
  /// Bits of a codeword.
  std::size_t n() const noexcept { return n_; }
  /// Bits in over bits sent, tail included.
  double rate() const noexcept { return static_cast<double>(k()) / static_cast<double>(n()); }
  /// Steps around the circle of a tail-biting code that decoders take of themselves: 8 (K - 1) up to rate
  /// R = 1/2, above that 8 (K - 1) / (1 - R), up to 4096. Punctured steps tell less about the state.
  int usual_overlap() const noexcept;
  /// Which of the codes it is that have CUDA kernels of their own.
  conv_known known() const noexcept { return known_; }
  /// Whether some coded bits are not sent.
  bool punctured() const noexcept {
    return n_ != static_cast<std::size_t>(trellis_.steps) * static_cast<std::size_t>(trellis_.outputs);
  }

  /// What kernels on an executor take.
  conv_trellis on(executor& exec) const;
  /// The sizes alone; the tables are on the host.
  conv_trellis on_host() const;

 private:
  conv_code code_;
  conv_trellis trellis_;
  conv_known known_;
  std::size_t n_ = 0;
  resident<std::int32_t> codes_, places_, firsts_;
};

/// Encodes batches of blocks: bits [batch, k] of 0 or 1 (only the lowest bit counts) to coded [batch, >= n],
/// zeros behind the first n.
/// Threads: any number may call one object at once, each with an executor of its own.
class conv_encoder {
 public:
  /// Throws argument_error.
  conv_encoder(const conv_code& code, int k) : frame_(code, k) {}
  /// Queues a batch. Throws shape_error.
  void run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const;
  const conv_frame& frame() const noexcept { return frame_; }
  int k() const noexcept { return frame_.k(); }
  std::size_t n() const noexcept { return frame_.n(); }

 private:
  conv_frame frame_;
};

}  // namespace wb
