#pragma once
// Frames of several codewords for an iterative receiver: those of massive MIMO, whose uses carry the
// codewords of all users side by side. A codeword of n bits has `places` in its frame, n or more: its bits,
// then those that fill its last symbol and what is left of its subcarriers. The receiver's coded bits are the
// places of all codewords, one codeword after the other. Its interleaver brings them into the order of the
// uses.
#include <cstdint>
#include <memory>
#include <vector>

#include <warpband/receive/interleaver.hpp>
#include <warpband/receive/soft.hpp>

namespace wb {

/// A frame of massive MIMO: use s * symbols + t holds subcarrier s of OFDM symbol t, user after user.
/// Codeword t * users + u is what user u sends in OFDM symbol t, on subcarriers from the first on.
struct user_codewords {
  std::size_t users = 1, symbols = 1, subcarriers = 1, bits_per_symbol = 2;
  std::size_t codewords() const noexcept { return users * symbols; }
  std::size_t places() const noexcept { return subcarriers * bits_per_symbol; }  // of a codeword
};

/// The permutation of the receiver: bit i of a frame's uses is place order[i]. `interleaver`: the order in
/// which each codeword sends its n bits. Throws argument_error where n is more than there are places, or the
/// places of a frame are 2^31 or more.
std::vector<std::int32_t> order_of(const user_codewords& frame, const bit_interleaver& interleaver);

/// A decoder of frames of several codewords, each decoded by `one`. k and n count all codewords: n =
/// codewords * places. It ignores LLRs behind a codeword's n bits, and writes extrinsic LLRs of 0 there. A
/// frame is finished if all its codewords are; status and iterations are joined (frames_join_args). Rows of
/// its arrays must have no gaps between them. Throws argument_error for no codewords or too few places.
std::unique_ptr<soft_decoder> make_codewords_decoder(std::shared_ptr<const soft_decoder> one,
                                                     std::size_t codewords, std::size_t places);

}  // namespace wb
