#pragma once
// The end of an op with a-priori LLRs: its LLRs to memory.
#include <warpband/stbc/prior_body.hpp>
#include <warpband/stbc/stbc_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// Writes the LLRs of one symbol and their decisions: `difference(q, i)` times `scale` is the a-posteriori
/// LLR of bit i of its real part (q = 0) or imaginary part. Threads of a group share the work.
template <int B, class T, class G, class F>
WB_HD void store_posterior(const stbc_decode_args& a, int symbol, item<T> item, G g, T scale,
                           typename rebind<T>::mask good, F difference) {
  const float limit = a.clip < 3e38f ? a.clip : 3e38f;
  WB_UNROLL for (int e = 0; e < 2 * B; e++) {
    const std::size_t place = static_cast<std::size_t>(symbol * 2 * B + e);
    if (G::size != 1 && (symbol * 2 * B + e) % g.size != g.rank) continue;
    T llr = saturate(difference(e & 1, e >> 1) * scale, 3e38f);
    if (a.extrinsic) llr = llr - saturate(load(a.prior, place, item), most_codeword_prior);
    llr = select(good, saturate(llr, limit), T(0.f));
    if (a.llr.data) store(a.llr, place, item, llr);
    if (a.bits.data) store_int<T>(a.bits, place, item, decide(llr));
  }
}
/// Of an LLR, but for the difference.
inline double posterior_flops(const stbc_decode_args& a) { return a.extrinsic ? 9 : 6; }

}  // namespace WB_ISA
}  // namespace wb
