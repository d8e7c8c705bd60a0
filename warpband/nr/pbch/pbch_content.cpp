#include <warpband/nr/pbch/pbch_content.hpp>

#include <string>
#include <vector>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/fec/nr/scrambling.hpp>
#include <warpband/nr/sync/ssb.hpp>

namespace wb {
namespace {

/// TS 38.212 Table 7.1.1-1.
constexpr int payload_interleaver[pbch_payload_bits] = {16, 23, 18, 17, 8,  30, 10, 6,  24, 7,  0,
                                                        5,  3,  2,  1,  4,  9,  11, 12, 13, 14, 15,
                                                        19, 20, 21, 22, 25, 26, 27, 28, 29, 31};
constexpr int mib_bits = 24, half_frame_bit = 28;

void check_l_max(int l_max) {
  if (l_max != 4 && l_max != 8 && l_max != 64)
    throw argument_error("l_max", std::to_string(l_max), "4, 8 or 64");
}

/// Where bit i of the payload goes. Positions 0 to 9 of the table are for the SFN and 10 for the half frame.
/// 11 to 13 are for the last three bits, and the rest for the other bits of the MIB.
int interleaved_place(int i) {
  if (i >= 1 && i <= 6) return payload_interleaver[i - 1];
  if (i >= mib_bits && i < half_frame_bit) return payload_interleaver[i - mib_bits + 6];
  if (i == half_frame_bit) return payload_interleaver[10];
  if (i > half_frame_bit) return payload_interleaver[11 + i - half_frame_bit - 1];
  return payload_interleaver[14 + (i == 0 ? 0 : i - 6)];
}

/// The sequence that is added to the interleaved payload. Bits that a receiver needs before it knows the
/// sequence stay clear: half frame, the second and third LSB of the SFN, the MSBs of i_SSB.
pbch_payload scrambling_of(const pbch_payload& interleaved, int cell_id, int l_max) {
  check_l_max(l_max);
  check_range("cell_id", cell_id, 0, nr_cell_ids - 1);
  const int third = interleaved_place(25), second = interleaved_place(26);
  bool clear[pbch_payload_bits] = {};
  clear[third] = clear[second] = clear[interleaved_place(half_frame_bit)] = true;
  if (l_max == 64)
    for (int i = 29; i < 32; i++) clear[interleaved_place(i)] = true;
  const int scrambled = l_max == 64 ? 26 : 29,
            first = scrambled * (2 * (interleaved[as_size(third)] & 1) + (interleaved[as_size(second)] & 1));
  const std::vector<std::uint8_t> c = nr_scrambling_sequence(cell_id, as_size(first + scrambled));
  pbch_payload sequence{};
  int j = first;
  for (int i = 0; i < pbch_payload_bits; i++)
    if (!clear[i]) sequence[as_size(i)] = c[as_size(j++)];
  return sequence;
}

}  // namespace

void check(const nr_ssb_content& c, int l_max) {
  check_l_max(l_max);
  check_range("sfn", c.sfn, 0, 1023);
  check_range("half_frame", c.half_frame, 0, 1);
  check_range("ssb_index", c.ssb_index, 0, l_max - 1);
  check_range("k_ssb", c.k_ssb, 0, l_max == 64 ? 15 : 31);
  check_range("coreset0", c.coreset0, 0, 15);
  check_range("search_space0", c.search_space0, 0, 15);
  check_range("dmrs_first_symbol", c.dmrs_first_symbol, 2, 3);
  const int least = l_max == 64 ? 60 : 15;
  if (c.common_spacing_khz != least && c.common_spacing_khz != 2 * least)
    throw argument_error("common_spacing_khz", std::to_string(c.common_spacing_khz),
                         std::to_string(least) + " or " + std::to_string(2 * least) +
                             " with l_max = " + std::to_string(l_max));
}

pbch_payload nr_pbch_payload(const nr_ssb_content& c, int l_max) {
  check(c, l_max);
  pbch_payload a{};
  std::size_t n = 0;
  const auto put = [&](int value, int bits) {
    for (int i = bits - 1; i >= 0; i--) a[n++] = static_cast<std::uint8_t>(value >> i & 1);
  };
  put(0, 1);  // a MIB, no extension
  put(c.sfn >> 4, 6);
  put(c.common_spacing_khz == 30 || c.common_spacing_khz == 120 ? 1 : 0, 1);
  put(c.k_ssb & 15, 4);
  put(c.dmrs_first_symbol - 2, 1);
  put(c.coreset0, 4);
  put(c.search_space0, 4);
  put(c.cell_barred ? 0 : 1, 1);
  put(c.intra_frequency ? 0 : 1, 1);
  put(0, 1);
  put(c.sfn & 15, 4);
  put(c.half_frame, 1);
  if (l_max == 64)
    put(c.ssb_index >> 3, 3);
  else
    put(c.k_ssb >> 4, 1);
  return a;
}

std::optional<nr_ssb_content> nr_pbch_content(const pbch_payload& a, int l_max, int dmrs_index) {
  check_l_max(l_max);
  check_range("dmrs_index", dmrs_index, 0, 7);
  std::size_t n = 0;
  const auto get = [&](int bits) {
    int value = 0;
    for (int i = 0; i < bits; i++) value = 2 * value + (a[n++] & 1);
    return value;
  };
  if (get(1) != 0) return std::nullopt;
  nr_ssb_content c;
  c.sfn = get(6) << 4;
  c.common_spacing_khz = (l_max == 64 ? 60 : 15) << get(1);
  c.k_ssb = get(4);
  c.dmrs_first_symbol = 2 + get(1);
  c.coreset0 = get(4);
  c.search_space0 = get(4);
  c.cell_barred = get(1) == 0;
  c.intra_frequency = get(1) == 0;
  get(1);
  c.sfn += get(4);
  c.half_frame = get(1);
  c.ssb_index = dmrs_index;
  if (l_max == 64) {
    c.ssb_index += get(3) << 3;
  } else {
    c.k_ssb += get(1) << 4;
    if (l_max == 4) {
      c.ssb_index = dmrs_index & 3;
      if (c.half_frame != dmrs_index >> 2) return std::nullopt;
    }
  }
  return c;
}

int nr_pbch_dmrs_index(const nr_ssb_content& c, int l_max) {
  check(c, l_max);
  return l_max == 4 ? c.ssb_index + 4 * c.half_frame : c.ssb_index & 7;
}

std::int64_t nr_pbch_dmrs_init(int cell_id, int dmrs_index) {
  check_range("cell_id", cell_id, 0, nr_cell_ids - 1);
  check_range("dmrs_index", dmrs_index, 0, 7);
  const std::int64_t i = dmrs_index + 1;
  return (i * (cell_id / 4 + 1) << 11) + (i << 6) + cell_id % 4;
}

pbch_payload nr_pbch_scrambled(const pbch_payload& a, int cell_id, int l_max) {
  pbch_payload b{};
  for (int i = 0; i < pbch_payload_bits; i++)
    b[as_size(interleaved_place(i))] = static_cast<std::uint8_t>(a[as_size(i)] & 1);
  const pbch_payload sequence = scrambling_of(b, cell_id, l_max);
  for (std::size_t i = 0; i < b.size(); i++) b[i] ^= sequence[i];
  return b;
}

pbch_payload nr_pbch_descrambled(const pbch_payload& b, int cell_id, int l_max) {
  const pbch_payload sequence = scrambling_of(b, cell_id, l_max);
  pbch_payload a{};
  for (int i = 0; i < pbch_payload_bits; i++) {
    const std::size_t place = as_size(interleaved_place(i));
    a[as_size(i)] = static_cast<std::uint8_t>((b[place] ^ sequence[place]) & 1);
  }
  return a;
}

}  // namespace wb
