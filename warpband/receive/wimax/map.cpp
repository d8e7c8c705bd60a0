#include <warpband/receive/wimax/map.hpp>

#include <string>

#include <warpband/core/as_size.hpp>
#include <warpband/core/error.hpp>
#include <warpband/fec/crc/crc.hpp>

namespace wb {
namespace {

constexpr crc_polynomial header_check{0x107, 8};
constexpr std::size_t crc32_bits = 32;
constexpr std::size_t most_map_bytes = 255;  // in the field of the FCH

void append(std::vector<std::uint8_t>& bits, std::uint32_t value, int count) {
  for (int i = count - 1; i >= 0; i--) bits.push_back((value >> i) & 1);
}

/// x^(n-1-i) modulo the polynomial of CRC-32.
std::vector<std::uint32_t> crc32_remainders(std::size_t n) {
  std::vector<std::uint32_t> w(n);
  std::uint32_t power = 1;
  for (std::size_t i = n; i-- > 0;) {
    w[i] = power;
    power = (power << 1) ^ ((power >> 31) != 0 ? 0x04C11DB7u : 0u);
  }
  return w;
}

/// 0 to 3 for 1, 2, 4 and 6 copies.
std::uint32_t repetition_index(int copies) {
  if (copies != 1 && copies != 2 && copies != 4 && copies != 6)
    throw argument_error("map_repetition", std::to_string(copies), "1, 2, 4 or 6");
  return static_cast<std::uint32_t>(copies / 2);
}

}  // namespace

wimax_message wimax_header_message() { return {wimax_header_bits, wimax_header_copies, 1}; }
wimax_message wimax_map_message(const wimax_map_config& c, std::size_t bursts) {
  return {wimax_map_bits(bursts), as_size(c.repetition),
          c.modulation == wimax_map_modulation::bpsk ? std::size_t{2} : std::size_t{1}};
}
code_config wimax_message_code(std::size_t k) {
  return code_config("conv", {{"k", static_cast<std::int64_t>(k)},
                              {"termination", std::string("tail-biting")},
                              {"standard", std::string("802.16")}});
}

std::size_t wimax_map_symbols(const wimax_map_config& c, std::size_t bursts, int tones) {
  (void)repetition_index(c.repetition);
  const std::size_t limit = (8 * most_map_bytes - wimax_map_bits(0)) / 72;
  if (bursts > limit)
    throw argument_error("bursts", std::to_string(bursts) + " of them",
                         "at most " + std::to_string(limit) + " with maps");
  const std::size_t bits = wimax_header_message().sent() + wimax_map_message(c, bursts).sent(),
                    of_pair = 4 * as_size(tones);
  return 2 * ((bits + of_pair - 1) / of_pair);
}

std::vector<std::uint8_t> wimax_header(const wimax_map_config& c, std::size_t bursts) {
  std::vector<std::uint8_t> bits;
  append(bits, 63, 6);  // all subchannels
  append(bits, 0, 1);
  append(bits, repetition_index(c.repetition), 2);
  append(bits, 0, 3);  // the convolutional code
  append(bits, static_cast<std::uint32_t>(wimax_map_bits(bursts) / 8), 8);
  append(bits, 0, 4);
  append(bits, crc_parity(bits, header_check), header_check.degree);
  return bits;
}

int wimax_diuc(int qam) { return qam == 4 ? 0 : qam == 16 ? 1 : 2; }

std::vector<std::uint8_t> wimax_map(const std::vector<wimax_burst>& bursts) {
  std::vector<std::uint8_t> bits;
  append(bits, 2, 8);
  append(bits, static_cast<std::uint32_t>(bursts.size()), 8);
  for (std::size_t i = 0; i < bursts.size(); i++) {
    const wimax_burst& b = bursts[i];
    append(bits, static_cast<std::uint32_t>(wimax_diuc(b.qam)), 4);
    append(bits, static_cast<std::uint32_t>(i + 1), 16);
    for (const int field : {b.first_symbol, b.first_tone, b.symbols, b.tones})
      append(bits, static_cast<std::uint32_t>(field), 12);
    append(bits, 0, 4);
  }
  const std::vector<std::uint32_t> weights = crc32_remainders(bits.size() + crc32_bits);
  std::uint32_t parity = 0;
  for (std::size_t i = 0; i < bits.size(); i++)
    if ((bits[i] != 0) != (i < crc32_bits)) parity ^= weights[i];  // the register starts with ones
  append(bits, ~parity, crc32_bits);
  return bits;
}

wimax_check wimax_header_check() { return {crc_remainders(wimax_header_bits, header_check), 0}; }
wimax_check wimax_map_check(std::size_t bursts) {
  const std::size_t n = wimax_map_bits(bursts);
  wimax_check check;
  std::uint32_t residue = 0;
  const std::vector<std::uint32_t> weights = crc32_remainders(n);
  for (std::size_t i = 0; i < n; i++) {
    check.weights.push_back(static_cast<std::int32_t>(weights[i]));
    if (i < crc32_bits) residue ^= weights[i];
    if (i >= n - crc32_bits) residue ^= weights[i];
  }
  check.residue = static_cast<std::int32_t>(residue);
  return check;
}

}  // namespace wb
