#include <warpband/nr/pdcch/dci.hpp>

#include <string>

#include <warpband/core/check.hpp>

namespace wb {
namespace {

constexpr int dci_other_bits = 4 + 1 + 5 + 2 + 1 + 15;  // all but the resource blocks

int dci_block_bits(int coreset_blocks) {
  if (coreset_blocks != 24 && coreset_blocks != 48 && coreset_blocks != 96)
    throw argument_error("coreset_blocks", std::to_string(coreset_blocks), "24, 48 or 96");
  int bits = 0;
  while (1 << bits < coreset_blocks * (coreset_blocks + 1) / 2) bits++;
  return bits;
}

void check_si_dci(const nr_si_dci& d, int coreset_blocks) {
  dci_block_bits(coreset_blocks);
  check_range("first_block", d.first_block, 0, coreset_blocks - 1);
  check_range("blocks", d.blocks, 1, coreset_blocks - d.first_block);
  check_range("time_domain", d.time_domain, 0, 15);
  check_range("mcs", d.mcs, 0, 31);
  check_range("rv", d.rv, 0, 3);
}

/// The physical resource block of a virtual one, interleaved in two rows of bundles of two.
int interleaved_dci_block(int block, int blocks) {
  constexpr int bundle = 2, rows = 2;
  const int columns = blocks / bundle / rows, j = block / bundle;
  return bundle * (j % rows * columns + j / rows) + block % bundle;
}

}  // namespace

int nr_si_dci_bits(int coreset_blocks) { return dci_block_bits(coreset_blocks) + dci_other_bits; }

std::vector<std::uint8_t> nr_si_dci_encode(const nr_si_dci& d, int n) {
  check_si_dci(d, n);
  std::vector<std::uint8_t> bits;
  const auto put = [&](int value, int count) {
    for (int i = count - 1; i >= 0; i--) bits.push_back(static_cast<std::uint8_t>(value >> i & 1));
  };
  put(d.blocks - 1 <= n / 2 ? n * (d.blocks - 1) + d.first_block
                            : n * (n - d.blocks + 1) + n - 1 - d.first_block,
      dci_block_bits(n));
  put(d.time_domain, 4);
  put(d.interleaved ? 1 : 0, 1);
  put(d.mcs, 5);
  put(d.rv, 2);
  put(d.other_information ? 1 : 0, 1);
  put(0, 15);
  return bits;
}

std::optional<nr_si_dci> nr_si_dci_decode(std::span<const std::uint8_t> bits, int n) {
  if (bits.size() != static_cast<std::size_t>(nr_si_dci_bits(n)))
    throw argument_error("bits", std::to_string(bits.size()) + " bits", std::to_string(nr_si_dci_bits(n)));
  std::size_t at_bit = 0;
  const auto get = [&](int count) {
    int value = 0;
    for (int i = 0; i < count; i++) value = 2 * value + (bits[at_bit++] & 1);
    return value;
  };
  const int value = get(dci_block_bits(n));
  nr_si_dci d;
  d.first_block = value % n;
  d.blocks = value / n + 1;
  if (d.first_block + d.blocks > n) {
    d.first_block = n - 1 - d.first_block;
    d.blocks = n - d.blocks + 2;
  }
  // A value beyond the last one is invalid. Some of these decode to the blocks of another value.
  if (d.blocks < 1 || d.first_block + d.blocks > n || value >= n * (n + 1) / 2) return std::nullopt;
  d.time_domain = get(4);
  d.interleaved = get(1) == 1;
  d.mcs = get(5);
  d.rv = get(2);
  d.other_information = get(1) == 1;
  return d;
}

std::vector<int> nr_si_blocks(const nr_si_dci& d, int coreset_blocks) {
  check_si_dci(d, coreset_blocks);
  std::vector<int> found;
  for (int i = d.first_block; i < d.first_block + d.blocks; i++)
    found.push_back(d.interleaved ? interleaved_dci_block(i, coreset_blocks) : i);
  return found;
}

nr_pdsch_time nr_pdsch_default_a(int index, int dmrs_first_symbol) {
  check_range("index", index, 0, 15);
  check_range("dmrs_first_symbol", dmrs_first_symbol, 2, 3);
  constexpr auto a = nr_mapping::type_a, b = nr_mapping::type_b;
  if (dmrs_first_symbol == 3 && index < 7) {
    static constexpr nr_pdsch_time late[7] = {{a, 3, 11}, {a, 3, 9},  {a, 3, 8}, {a, 3, 6},
                                              {a, 3, 4},  {b, 10, 4}, {b, 6, 4}};
    return late[index];
  }
  static constexpr nr_pdsch_time rows[16] = {
      {a, 2, 12}, {a, 2, 10}, {a, 2, 9},  {a, 2, 7},  {a, 2, 5}, {b, 9, 4}, {b, 4, 4}, {b, 5, 7},
      {b, 5, 2},  {b, 9, 2},  {b, 12, 2}, {a, 1, 13}, {a, 1, 6}, {a, 2, 4}, {b, 4, 7}, {b, 8, 4}};
  return rows[index];
}

nr_channel_config nr_si_channel(const nr_si_dci& dci, const nr_carrier& carrier, int dmrs_first_symbol) {
  const nr_pdsch_time time = nr_pdsch_default_a(dci.time_domain, dmrs_first_symbol);
  nr_channel_config c;
  c.direction = nr_direction::downlink;
  c.carrier = carrier;
  c.blocks = dci.blocks;
  c.physical_blocks = nr_si_blocks(dci, carrier.resource_blocks);
  c.mapping = time.mapping;
  c.first_symbol = time.first_symbol, c.symbols = time.symbols;
  c.dmrs.additional_positions = 2, c.dmrs.first_symbol = dmrs_first_symbol;
  if (time.symbols == 2) c.dmrs.cdm_groups = 1;  // TS 38.214 §5.1.6.2
  c.rnti = nr_si_rnti;
  return completed(c);
}

}  // namespace wb
