#pragma once
// Convolutional and polar codes behind codec.hpp. For codec.cpp alone.
#include <cstddef>
#include <memory>

#include <warpband/link/codec.hpp>

namespace wb {

/// Values in a lane of any instruction set.
inline constexpr std::size_t widest = 16;

/// Bits that are sent for k.
std::size_t conv_bits(const conv_code& code, std::size_t k);
/// Chooses what the settings leave open. Throws argument_error.
void complete_conv(code_config& c);
std::unique_ptr<codec> make_convolutional(const code_config& config);

/// What a completed configuration's polar code is.
polar_config polar_of(const code_config& config);
/// Throws argument_error.
void check_polar(const code_config& config);
std::unique_ptr<codec> make_polar(const code_config& config);

}  // namespace wb
