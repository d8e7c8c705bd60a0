#pragma once
// How codewords map to a CUDA device; on a CPU lanes always hold codewords. Threads that share a codeword,
// each with its part of the hypotheses of x3 (those of x4 are the inner loops):
//
//              QPSK   16-QAM              64-QAM              256-QAM
//   Alamouti   1      1                   1                   1
//   pair       1      1; few: 4           4; few: 32          32
//   Golden     1      4                   16                  32
//   with a-priori LLRs
//   pair       1      4                   16                  32
//   Golden     1      4                   16                  32
//
// The exhaustive search has 16 threads for 2^16 codewords, 4 for 2^12, else one.
//
// `stbc_tile` is the choice; the kernel files list what is built. With a-priori LLRs there is no choice.
#include <warpband/exec/executor.hpp>

namespace wb {

/// Fewer codewords than keep the device busy with so many threads for each: more of them end sooner.
inline int stbc_tile(const executor& exec, bool golden, int pam_bits, std::size_t codewords) {
  if (!exec.is_device() || pam_bits == 1) return 1;
  if (pam_bits == 4) return 32;
  if (golden) return pam_bits == 2 ? 4 : 16;
  const bool few = codewords * (pam_bits == 2 ? 1 : 4) < exec.preferred_items();
  return pam_bits == 2 ? (few ? 4 : 1) : few ? 32 : 4;
}

}  // namespace wb
