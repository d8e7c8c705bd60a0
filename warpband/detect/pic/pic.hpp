#pragma once
// MMSE detection with parallel interference cancellation (C. Studer, S. Fateh, D. Seethaler, "ASIC
// implementation of soft-input soft-output MIMO detection using MMSE parallel interference cancellation",
// IEEE Journal of Solid-State Circuits 46(7), 2011), the detector of an iterative receiver.
//
//   1. A-priori LLRs give each symbol a mean m_k and a variance E_k; without them 0 and 1.
//   2. Of each stream k the others' means are taken off: y_k = y - sum_{j != k} h_j m_j.
//   3. A linear MMSE filter for what is left of the others, without bias (eq. 8 to 11 there):
//        x_k = w_k^-1 h_k^H C_k^-1 y_k,   C_k = N0 I + sum_{j != k} E_j h_j h_j^H,   w_k = h_k^H C_k^-1 h_k;
//      w_k is the SINR. One decomposition serves all streams, of [H D; sqrt(N0) I] with D = diag(sqrt(E_k)).
//   4. LLRs of the bits of stream k from w_k |x_k - s|^2 and the a-priori LLRs of its own bits. The LLRs are
//      a-posteriori; extrinsic ones are those less the a-priori LLR of the bit.
//
// Without a-priori LLRs it is the linear MMSE detector. It costs about as much as two of that, whatever the
// number of points. Up to 16 streams.
#include <warpband/detect/detector_kind.hpp>
#include <warpband/modem/demap/demap.hpp>

namespace wb {

struct pic_settings {
  demap_algorithm demapper = demap_algorithm::max_log;  // LLRs of a symbol from its estimate
  bool operator==(const pic_settings&) const = default;
};

/// "pic". Takes a prior.
detector_kind pic_kind();

}  // namespace wb
