#pragma once
// Receivers without feedback: a detector and the decoder behind it. Stages: detect, decode.
#include <functional>
#include <memory>
#include <vector>

#include <warpband/code/codec.hpp>
#include <warpband/receive/receiver.hpp>
#include <warpband/receive/soft.hpp>

namespace wb {

/// Codewords that are sent once. A frame has `uses` uses of the channel, whose LLRs are rows of `places`: n
/// of a codeword, and what fills up the frame. Outputs have a row for each codeword; the rows of `bits` say
/// how many there are. Without a decoder there is one stage, whose `detected` are [rows, places] LLRs; or, of
/// a detector that decides, `bits`. Without a detector a use is a bit of a channel of bits.
std::unique_ptr<receiver> make_open_loop(std::shared_ptr<const soft_detector> detector,
                                         std::shared_ptr<const soft_decoder> decoder, std::size_t uses,
                                         std::size_t places);

/// Makes the coder of transport blocks; throws argument_error for what is not allowed.
using transport_maker = std::function<std::unique_ptr<transport_coder>()>;
/// Transport blocks, whose transmissions add up. `versions`: the redundancy version of each that a block may
/// have. A block has `uses` uses of the channel, whose LLRs are its `sent` coded bits and what fills up the
/// frame. With `cuts` batches of any size are decoded in parts of fixed sizes, which keep their memory.
/// Outputs: bits, ok, iterations, status, use_status.
std::unique_ptr<receiver> make_open_loop(std::shared_ptr<const soft_detector> detector, transport_maker make,
                                         std::vector<int> versions, std::size_t sent, std::size_t uses,
                                         bool cuts = false);

}  // namespace wb
