#pragma once
// Rows in registers (register_values) for an iterative receiver: with messages kept between calls, as halves,
// and with extrinsic LLRs. The channel's LLRs stay in shared memory, so that neither reads them again.
#include <warpband/fec/ldpc/ldpc_block_values.hpp>
#include <warpband/fec/ldpc/ldpc_kept_values.hpp>

#if defined(__CUDACC__)
namespace wb {
inline namespace WB_ISA {

/// Shared memory has A of the codewords and places of threads without a row, as in register_values, then as
/// many pairs of floats: sums of channel LLRs and kept messages, later the channel's LLRs in the first half
/// of each pair.
template <int Rows, int Least, int Most>
struct kept_register_values : register_values<f16x, Rows, Least, Most> {
  using base = register_values<f16x, Rows, Least, Most>;
  using conversion = typename base::conversion;
  using format = kept_format<f16x>;
  static constexpr int codewords = 2, ahead = 4;  // ahead: values in flight
  float2* sums;

  WB_HD kept_register_values(const ldpc_decode_args& args, void* scratch)
      : base(args, scratch),
        sums(reinterpret_cast<float2*>(this->app + (args.n + ldpc_row_threads + 1) / 2 * 2)) {}
  static std::size_t bytes(const ldpc_decode_args& a) {
    const auto values = static_cast<std::size_t>(a.n + ldpc_row_threads + 1);  // pairs begin at an even one
    return (sizeof(std::uint32_t) + sizeof(float2)) * values;
  }
  WB_HD std::uint32_t* channel_at(int e) const { return reinterpret_cast<std::uint32_t*>(sums + e); }

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
      for (int e = g.rank; e < this->a.n; e += g.size) *channel_at(e) = this->app[e];
    } else {
      bad |= load_messages(item, going, g);
      sum_up(g);
      bad |= begin_from_sums(item, going, g);
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
          this->store_extrinsic(e, i, w, gone != 0, {*channel_at(e)});
      if (keeps) keep(i, w, gone != 0, g);
      if (g.rank == 0) {
        if (keeps) count_kept_iterations(a, i, gone != 0, iterations);
        this->store_counts(i, gone, (stopped >> w & 1u) != 0, iterations);
      }
    }
  }

 private:
  /// f(first value of the edge's block, message) for each edge of this thread's rows.
  template <class F>
  WB_HD void each_message(F f) {
    WB_UNROLL for (int m = 0; m < Rows; m++) {
      const int first = this->row(m).first;
      each_edge(between<Least, Most>{this->row(m).degree},
                [&](int d) { f((first + d) * this->a.z, this->message[m][d]); });
    }
  }
  /// A bit for each codeword of which this thread read a message that is not finite.
  template <class G>
  WB_HD unsigned load_messages(std::size_t item, unsigned going, G g) {
    unsigned bad = 0;
    WB_UNROLL for (int w = 0; w < codewords; w++) {
      if ((going >> w & 1u) == 0) continue;
      const bool has_row = g.rank < this->a.z;
      const std::uint16_t* from = kept_halves_at(this->a, item + static_cast<std::size_t>(w), g.rank);
      std::uint32_t most = 0;
      each_message([&](int e, f16x& message) {
        const std::uint32_t half = has_row ? from[e] : 0u;
        most = ::max(most, half & 0x7fffu);
        message.x |= half << 16 * w;
      });
      if (most >= 0x7c00u) bad |= 1u << w;
    }
    const f16x limit = min_sum<f16x>::most(), lower = to_half(-min_sum<f16x>::limit);
    each_message([&](int, f16x& message) { message = sum(max(min(message, limit), lower), to_half(0.f)); });
    return bad;
  }
  /// Channel LLR plus messages of every bit, in order of the block rows.
  template <class G>
  WB_HD void sum_up(G g) {
    for (int e = g.rank; e < this->a.n; e += g.size) sums[e] = __half22float2(halves({this->app[e]}));
    g.sync();
    std::uint32_t place[4 * base::chunks];
    WB_UNROLL for (int m = 0; m < Rows; m++) {
      this->fetch(m, g.rank, place);
      each_edge(between<Least, Most>{this->row(m).degree}, [&](int d) {
        float2* to = reinterpret_cast<float2*>(reinterpret_cast<char*>(sums) + 2 * place[d]);
        const float2 before = *to, message = __half22float2(halves(this->message[m][d]));
        *to = {before.x + message.x, before.y + message.y};
      });
      g.sync();
    }
  }
  /// A of the bits: the kept one where the channel's LLR is the old one. Returns a bit for each codeword of
  /// which this thread read a value that is not finite.
  template <class G>
  WB_HD unsigned begin_from_sums(std::size_t item, unsigned going, G g) const {
    const ldpc_decode_args& a = this->a;
    unsigned bad = 0;
    WB_ROLL for (int e = g.rank; e < a.n; e += ahead * g.size) {
      float old[ahead][codewords] = {}, was[ahead][codewords] = {};
      WB_UNROLL for (int i = 0; i < ahead; i++) if (e + i * g.size < a.n) {
        WB_UNROLL for (int w = 0; w < codewords; w++) if ((going >> w & 1u) != 0) {
          const std::size_t word = item + static_cast<std::size_t>(w);
          old[i][w] = load_kept_number<f16x>(a, word, kept_app(a) + e + i * g.size);
          was[i][w] = load_kept_number<f16x>(a, word, kept_channel(a) + e + i * g.size);
        }
      }
      WB_UNROLL for (int i = 0; i < ahead; i++) if (e + i * g.size < a.n) {
        const int at = e + i * g.size;
        const f16x channel = {this->app[at]};
        const float2 sum = sums[at];
        float x[codewords];
        WB_UNROLL for (int w = 0; w < codewords; w++) {
          x[w] = conversion::get(channel, w);
          if ((going >> w & 1u) == 0) continue;
          if (!is_finite(old[i][w]) || !is_finite(was[i][w])) bad |= 1u << w;
          x[w] = format::number(a, was[i][w]) == x[w] ? format::number(a, old[i][w])
                                                      : format::rounded(w == 0 ? sum.x : sum.y);
        }
        this->app[at] = to_half(x[0], x[1]).x;
        *channel_at(at) = channel.x;
      }
    }
    return bad;
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
      to[kept_channel(a) + e] = half({*channel_at(e)});
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
#endif
