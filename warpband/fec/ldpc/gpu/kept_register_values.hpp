#pragma once
// Rows in registers (register_values) for an iterative receiver: with messages kept between calls, as halves,
// and with extrinsic LLRs. The channel's LLRs stay in shared memory, so that neither reads them again.
#include <warpband/fec/ldpc/gpu/register_values.hpp>
#include <warpband/fec/ldpc/ldpc_kept.hpp>

namespace wb {
inline namespace WB_ISA {

/// Shared memory has A of the codewords and places of threads without a row, as in register_values, then the
/// channel's LLRs.
template <int Rows, int Least, int Most>
struct kept_register_values : register_values<f16x, Rows, Least, Most> {
  using base = register_values<f16x, Rows, Least, Most>;
  using format = kept_format<f16x>;
  static constexpr int codewords = 2, ahead = 8;  // ahead: bits whose values are in flight
  std::uint32_t* channels;

  WB_HD kept_register_values(const ldpc_decode_args& args, void* scratch)
      : base(args, scratch), channels(this->app + args.n + ldpc_row_threads) {}
  static std::size_t bytes(const ldpc_decode_args& a) {
    return sizeof(std::uint32_t) * static_cast<std::size_t>(2 * a.n + ldpc_row_threads);
  }

  /// After load_channel: the codewords go on from what they kept. Returns a byte for each: 0, or the status
  /// of one whose kept values are not finite. `erased`: those of the channel.
  template <class G>
  WB_HD unsigned load_kept(std::size_t item, int items, unsigned erased, G g) {
    unsigned going = 0, bad = 0;
    WB_UNROLL for (int w = 0; w < codewords; w++) {
      if (w >= items || (erased >> 8 * w & 0xffu) != 0 || !this->a.messages.data) continue;
      const float done = iterations_kept(this->a, item + static_cast<std::size_t>(w));
      if (!is_finite(done))
        bad |= 1u << w;
      else if (done > 0.f)
        going |= 1u << w;
    }
    if (going == 0) {
      for (int e = g.rank; e < this->a.n; e += g.size) channels[e] = this->app[e];
    } else {
      // The other codeword of a pair reads too, what it has or the first one's, and drops it.
      const std::uint16_t* const from[codewords] = {
          kept_halves_at(this->a, item, 0),
          kept_halves_at(this->a, item + static_cast<std::size_t>(items - 1), 0)};
      bad |= load_bits(from, going, g) & going;
      bad |= load_messages(from, going, g) & going;
    }
    bad = this->any_of(bad, g);
    if (bad != 0) clear(bad, g);
    unsigned status = 0;
    WB_UNROLL for (int w = 0; w < codewords; w++) {
      if ((bad >> w & 1u) != 0) status |= static_cast<unsigned>(status_erased) << 8 * w;
    }
    return status;
  }

  template <class G>
  WB_HD void store(std::size_t item, unsigned leaving, unsigned erased, unsigned stopped, int iterations, int,
                   G g) const {
    const ldpc_decode_args& a = this->a;
    const bool keeps = a.messages.data && a.writes_messages;
    WB_UNROLL for (int w = 0; w < codewords; w++) {
      if ((leaving >> w & 1u) == 0) continue;
      const std::size_t i = item + static_cast<std::size_t>(w);
      const unsigned gone = erased >> 8 * w & 0xffu;
      this->store_decisions(i, w, g);
      if (a.extrinsic.data)
        for (int e = g.rank; e < static_cast<int>(a.extrinsic.elements); e += g.size)
          this->store_extrinsic(e, i, w, gone != 0, {channels[e]});
      if (keeps) keep(i, w, gone != 0, g);
      if (g.rank == 0) {
        if (keeps) count_kept_iterations(a, i, gone != 0, iterations);
        this->store_counts(i, gone, (stopped >> w & 1u) != 0, iterations);
      }
    }
  }

 private:
  /// The sign bits of halves of x that are infinite or no numbers.
  WB_HD static std::uint32_t not_finite(f16x x) { return ((x.x & 0x7fff7fffu) + 0x04000400u) & 0x80008000u; }
  WB_HD static f16x within(f16x x, float limit) { return max(min(x, to_half(limit)), to_half(-limit)); }
  /// The halves of codewords that go on.
  WB_HD static std::uint32_t mask_of(unsigned going) {
    return ((going & 1u) != 0 ? 0xffffu : 0u) | ((going & 2u) != 0 ? 0xffff0000u : 0u);
  }

  /// A and channel LLRs of the bits. Returns a bit for each codeword of which this thread read a value that
  /// is not finite.
  template <class G>
  WB_HD unsigned load_bits(const std::uint16_t* const (&from)[codewords], unsigned going, G g) const {
    const ldpc_decode_args& a = this->a;
    const std::uint32_t mask = mask_of(going);
    std::uint32_t bad = 0;
    const auto load = [&](int e) -> f16x {
      return {from[0][e] | static_cast<std::uint32_t>(from[1][e]) << 16};
    };
    WB_ROLL for (int e = g.rank; e < a.n; e += ahead * g.size) {
      f16x old[ahead], was[ahead];
      WB_UNROLL for (int i = 0; i < ahead; i++) {
        const int index = ::min(e + i * g.size, a.n - 1);
        old[i] = load(kept_app(a) + index);
        was[i] = load(kept_channel(a) + index);
      }
      WB_UNROLL for (int i = 0; i < ahead; i++) if (e + i * g.size < a.n) {
        const int index = e + i * g.size;
        const f16x channel = {this->app[index]};
        const f16x moved =
            format::moved(within(old[i], format::app_limit), within(was[i], min_sum<f16x>::limit), channel);
        bad |= not_finite(old[i]) | not_finite(was[i]);
        this->app[index] = (moved.x & mask) | (channel.x & ~mask);
        channels[index] = channel.x;
      }
    }
    return base::conversion::sign_bits({bad});
  }
  /// The same of the messages. All loads of a codeword are in flight at once: a message that a row does not
  /// have is one of the next row, or the first bits' A, and is dropped.
  template <class G>
  WB_HD unsigned load_messages(const std::uint16_t* const (&from)[codewords], unsigned going, G g) {
    const bool has_row = g.rank < this->a.z;
    WB_UNROLL for (int w = 0; w < codewords; w++) {
      const std::uint16_t* of_row = from[w] + (has_row ? g.rank : 0);
      WB_UNROLL for (int m = 0; m < Rows; m++) {
        const std::uint16_t* source = of_row + this->row(m).first * this->a.z;
        WB_UNROLL for (int d = 0; d < Most; d++, source += this->a.z) {
          const std::uint32_t half = *source;
          this->message[m][d].x = w == 0 ? half : this->message[m][d].x | half << 16;
        }
      }
    }
    const std::uint32_t mask = has_row ? mask_of(going) : 0u;
    std::uint32_t bad = 0;
    WB_UNROLL for (int m = 0; m < Rows; m++) {
      const int degree = this->row(m).degree;
      WB_UNROLL for (int d = 0; d < Most; d++) {
        f16x& message = this->message[m][d];
        message.x &= d < Least || d < degree ? mask : 0u;
        bad |= not_finite(message);
        message = sum(within(message, min_sum<f16x>::limit), to_half(0.f));
      }
    }
    return base::conversion::sign_bits({bad});
  }
  template <class G>
  WB_HD void clear(unsigned bad, G g) {
    for (int e = g.rank; e < this->a.n; e += g.size) this->app[e] = this->cleared({this->app[e]}, bad).x;
    WB_UNROLL for (int m = 0; m < Rows; m++) {
      WB_UNROLL for (int d = 0; d < Most; d++) this->message[m][d] = this->cleared(this->message[m][d], bad);
    }
  }
  /// Half w of all values goes to codeword i.
  template <class G>
  WB_HD void keep(std::size_t i, int w, bool gone, G g) const {
    const ldpc_decode_args& a = this->a;
    std::uint16_t* to = kept_halves_at(a, i, 0);
    const auto half = [&](f16x x) {
      return static_cast<std::uint16_t>(gone ? 0u : sum(x, to_half(0.f)).x >> 16 * w);
    };
    if (g.rank < a.z) {
      WB_UNROLL for (int m = 0; m < Rows; m++) {
        std::uint16_t* row = to + this->row(m).first * a.z + g.rank;
        each_edge(between<Least, Most>{this->row(m).degree},
                  [&](int d) { row[d * a.z] = half(this->message[m][d]); });
      }
    }
    for (int e = g.rank; e < a.n; e += g.size) {
      to[kept_app(a) + e] = half({this->app[e]});
      to[kept_channel(a) + e] = half({channels[e]});
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
