#include <warpband/fec/nr/scrambling.hpp>

#include <warpband/core/check.hpp>

namespace wb {

std::vector<std::uint8_t> nr_scrambling_sequence(std::int64_t c_init, std::size_t length) {
  check_range("c_init", c_init, 0, (std::int64_t{1} << 31) - 1);
  check_range("length", static_cast<long long>(length), 0, 1 << 28);
  // Bit n of a register is x(i + n).
  auto x1 = std::uint32_t{1}, x2 = static_cast<std::uint32_t>(c_init);
  const auto step = [&] {
    const std::uint32_t next1 = (x1 >> 3 ^ x1) & 1, next2 = (x2 >> 3 ^ x2 >> 2 ^ x2 >> 1 ^ x2) & 1;
    x1 = x1 >> 1 | next1 << 30;
    x2 = x2 >> 1 | next2 << 30;
  };
  for (int i = 0; i < 1600; i++) step();
  std::vector<std::uint8_t> c(length);
  for (std::uint8_t& bit : c) {
    bit = static_cast<std::uint8_t>((x1 ^ x2) & 1);
    step();
  }
  return c;
}

std::vector<std::uint32_t> packed_words(std::span<const std::uint8_t> bits) {
  std::vector<std::uint32_t> words((bits.size() + 31) / 32);
  for (std::size_t i = 0; i < bits.size(); i++) words[i / 32] |= std::uint32_t{bits[i]} << i % 32;
  return words;
}

int nr_scrambling_init(int rnti, int identity, int codeword) {
  check_range("rnti", rnti, 0, 65535);
  check_range("identity", identity, 0, 1023);
  check_range("codeword", codeword, 0, 1);
  return rnti << 15 | codeword << 14 | identity;
}

}  // namespace wb
