#pragma once
// Transport blocks of LTE and 5G NR behind codec.hpp and their links.
#include <cstddef>
#include <memory>

#include <warpband/link/codec.hpp>

namespace wb {

/// A, chosen where it is left out, and G of one transmission.
code_sizes transport_sizes(const code_config& c);
/// Throws argument_error, in the words of the settings.
void check_transport(const code_config& c);
/// What encoder and decoder keep of a transport block: code blocks and their codewords.
std::size_t transport_bytes(const lte_segmentation& s);
std::size_t transport_bytes(const nr_segmentation& s);
std::unique_ptr<codec> make_transport(const code_config& config);

}  // namespace wb
