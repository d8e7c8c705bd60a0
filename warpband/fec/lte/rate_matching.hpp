#pragma once
// Rate matching of turbo-coded channels in LTE, 3GPP TS 36.212 §5.1.4.1, for code blocks; transport.hpp has
// it for transport blocks.
//
// The streams d0, d1, d2 of a codeword go through the sub-block interleaver into a circular buffer. Its first
// N_cb places are kept, K_w = 96 ceil((k + 4) / 32) at most. A transmission of redundancy version rv reads E
// bits from place k0(rv) on, around as often as need be, and passes over NULLs: the padding of the
// interleaver, and d0 and d1 of filler bits.
//
// So all transmissions read the same sequence of places, the buffer without its NULLs, each from a start of
// its own. One table of it serves every rv, and its inverse the receiver.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/fec/format/format.hpp>
#include <warpband/fec/lte/lte_args.hpp>

namespace wb {

/// A circular buffer without its NULLs. Places are those of the codeword: d0, d1, d2 one after the other,
/// k + 4 each.
struct lte_circular_buffer {
  int size = 0;                      // N_cb, NULLs included
  std::vector<std::int32_t> places;  // in the buffer's order, each at most once
  std::array<int, 4> start = {};     // number in `places` of the first bit sent, by rv
};
/// Of a code block of k = 40..65536 bits, the first `fillers` (0..k) of them filler bits. The soft buffer has
/// N_cb places; 0, or more than K_w, is K_w. Throws argument_error ("k", "fillers", "soft_buffer"; the last
/// also where the buffer holds nothing but NULLs).
lte_circular_buffer make_lte_circular_buffer(int k, int fillers = 0, std::optional<int> soft_buffer = {});
/// R, rows of the sub-block interleaver for k bits: a stream has K_pi = 32 R places.
constexpr int lte_interleaver_rows(int k) { return (k + 4 + 31) / 32; }
/// k0(rv) of a circular buffer of `size` = N_cb places, NULLs included.
int lte_buffer_start(int k, int size, int rv);

/// The same as tables for kernels.
/// Threads: any number may call one object at once, each with an executor of its own.
class lte_ring_tables {
 public:
  lte_ring_tables() = default;
  lte_ring_tables(const lte_circular_buffer& buffer, int k, int fillers);
  lte_ring to_send(executor& exec, int rv) const { return {places_.on(exec), length_, start_[index(rv)]}; }
  lte_ring to_combine(executor& exec, int rv) const {
    return {numbers_.on(exec), length_, start_[index(rv)]};
  }
  int start(int rv) const { return start_[index(rv)]; }
  /// Places that a transmission reads before it comes around.
  int length() const noexcept { return length_; }

 private:
  static std::size_t index(int rv) { return static_cast<std::size_t>(rv); }
  resident<std::int32_t> places_, numbers_;
  int length_ = 0;
  std::array<int, 4> start_ = {};
};

struct lte_rate_matching_config {
  int k = 6144;                         // bits of a code block, 40..65536
  int sent_bits = 0;                    // E, at least 1
  int fillers = 0;                      // how many of the k, at the front, are filler bits
  std::optional<int> soft_buffer = {};  // N_cb; absent: K_w
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<lte_rate_matching_config>>& lte_rate_matching_settings();

/// Rate matching of single code blocks. Every call queues one batch on an executor. CPU and CUDA, any
/// instruction set, batch size and number of threads give the same bits.
/// Threads: any number may call one object at once, each with an executor of its own.
class lte_rate_matcher {
 public:
  /// Throws argument_error.
  explicit lte_rate_matcher(const lte_rate_matching_config& config);
  const lte_rate_matching_config& config() const noexcept { return config_; }

  /// Codewords [batch, 3 (k + 4)] to what is sent of them [batch, E]. rv: 0..3. Throws argument_error,
  /// shape_error.
  void match(executor& exec, view<const std::uint8_t> coded, int rv, view<std::uint8_t> out) const;

  /// Adds the LLRs [batch, E] of a transmission, float32 or integers with a scale, to those of the codewords,
  /// soft [batch, 3 (k + 4)]. `first`
  /// overwrites soft instead: 0 where nothing was received, lte_filler_llr at filler bits. Sums are limited
  /// to +-1e30. A transmission with a NaN or infinite LLR, or of which repetitions overflow, adds nothing.
  /// marks [batch], if wanted: status_erased after such a one, until the next `first`, else 0. Throws
  /// argument_error, shape_error.
  void combine(executor& exec, const llr_batch& llr, int rv, bool first, view<float> soft,
               view<std::uint8_t> marks = {}) const;

 private:
  lte_rate_matching_config config_;
  lte_ring_tables tables_;
  float_llrs floats_;
};

}  // namespace wb
