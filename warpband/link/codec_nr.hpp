#pragma once
// Code blocks of 5G NR behind codec.hpp. For codec.cpp and receive/soft_decoder.cpp alone.
#include <cstddef>
#include <memory>

#include <warpband/fec/nr/block.hpp>
#include <warpband/link/codec.hpp>

namespace wb {

/// k and n of nr-ldpc, chosen where they are left out.
code_sizes nr_sizes(const code_config& c);
/// Chooses what the settings leave open. Throws argument_error.
void complete_nr(code_config& c);
ldpc_code nr_code_of(const code_config& c);
/// Encoder and decoder of a configuration that is completed.
nr_block_codec nr_codec_of(const code_config& c);
std::unique_ptr<codec> make_nr(const code_config& config);

}  // namespace wb
