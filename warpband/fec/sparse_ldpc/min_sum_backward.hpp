#pragma once
// Gradients of layered min-sum decoding in float32: from dF/dA of each a-posteriori LLR to dF/dL of the
// channel's LLRs, and to dF/dscale or dF/doffset of each iteration. F is any function of the A that has
// derivatives. The decoder does all its iterations: it does not stop early.
//
// A check takes q_v = A_v - R_v, answers R'_v and leaves A'_v = q_v + R'_v (sparse_ldpc.hpp). For its
// gradients,
//   w_v = dF/dA'_v + dF/dR'_v
//   dF/dq_v = dF/dA'_v + sum_u w_u dR'_u/dq_v,   dF/dA_v = dF/dq_v,   dF/dR_v = -dF/dq_v
// With m_u the least |q| of the others, s_u the product of their signs, and scale m_u > offset,
//   dR'_u/dq_v = s_u scale sign(q_v) for the bit v that m_u comes from, or else 0
//   dR'_u/dscale = s_u m_u,   dR'_u/doffset = -s_u
// Checks come in the reverse order. Of equal magnitudes the first one counts. Below the offset, and where an
// LLR is limited to +-1e30, derivatives are 0. So is that of a message that no other bit limits.
//
// Memory. A and R are kept at about sqrt(iterations) places. From these the iterations between them are
// computed again, and their q stored. So a codeword takes about 2 sqrt(iterations) (n + ones) values, and
// each iteration is computed twice forward.
#include <warpband/fec/sparse_ldpc/sparse_ldpc.hpp>

namespace wb {

struct min_sum_backward_args;

/// Outputs without data are not computed.
struct min_sum_gradients {
  view<float> llr = {};            // [batch, sent]
  view<float> correction = {};     // [batch, iterations] of scales, or with offset_min_sum of offsets
  view<std::uint8_t> status = {};  // [batch] status_erased, status_insufficient
};

/// A codeword that the decoder erases gets gradients of 0. So does one with a dF/dA that is not finite, with
/// status_erased. If one of its LLR gradients is not finite, all of them are 0. A gradient of a correction
/// that is not finite is 0 alone. Both set status_erased; outputs without data are not looked at.
///
/// CPU and CUDA, any instruction set, batch size and number of threads give the same bits.
///
/// Threads: any number may call one object at once, each with an executor of its own.
class min_sum_backward {
 public:
  /// Throws argument_error, also for sum-product, flooding, float16 and int8, which have no gradients. Of
  /// ldpc_decoder_config and sparse_ldpc_config early_stop is not looked at.
  min_sum_backward(const ldpc_code& code, const ldpc_decoder_config& config);
  min_sum_backward(const parity_check_matrix& matrix, const sparse_ldpc_config& config);
  /// Queues: llr [batch, sent], soft_gradient [batch, n] of all columns of H. Throws shape_error.
  void run(executor& exec, view<const float> llr, view<const float> soft_gradient,
           const min_sum_gradients& out) const;

  int n() const noexcept { return n_; }
  int sent() const noexcept { return sent_; }
  int iterations() const noexcept { return iterations_; }

 private:
  struct tables;
  int n_, sent_, iterations_;
  std::shared_ptr<const tables> tables_;
};

}  // namespace wb
