#include <warpband/nr/shared_channel.hpp>

#include <algorithm>
#include <climits>
#include <cmath>
#include <functional>
#include <string>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/fec/nr/scrambling.hpp>
#include <warpband/fec/nr/tbs.hpp>
#include <warpband/nr/codebook.hpp>
#include <warpband/nr/pucch/pucch_sequences.hpp>
#include <warpband/nr/shared_channel_args.hpp>

namespace wb {

WB_DECLARE_KERNEL(nr_map)
WB_DECLARE_KERNEL(nr_extract)
WB_DECLARE_KERNEL(nr_turn)
WB_DECLARE_KERNEL(nr_equalise)
WB_DECLARE_KERNEL(nr_rest)

namespace {

std::string text_of(const std::vector<int>& list) {
  std::string text;
  for (const int i : list) text += (text.empty() ? "[" : ", ") + std::to_string(i);
  return text.empty() ? "[]" : text + "]";
}

void complete_ports(nr_channel_config& c) {
  const bool up = c.direction == nr_direction::uplink;
  check_range("layers", c.layers, 1, up ? 4 : 8);
  if (!up && c.tpmi)
    throw argument_error("tpmi", std::to_string(*c.tpmi), "none downlink, which has no codebook");
  if (!c.antenna_ports) c.antenna_ports = c.layers;
  if (c.tpmi) {
    if (c.layers > *c.antenna_ports)
      throw argument_error("layers", std::to_string(c.layers),
                           "1 to antenna_ports = " + std::to_string(*c.antenna_ports));
    nr_precoder(*c.antenna_ports, c.layers, *c.tpmi, c.transform_precoding);
  } else if (c.antenna_ports != c.layers) {
    throw argument_error("antenna_ports", std::to_string(*c.antenna_ports),
                         "layers = " + std::to_string(c.layers) + " without a codebook");
  }
}

/// Of a completed allocation.
void check_blocks(const nr_channel_config& c) {
  if (c.physical_blocks.empty()) return;
  if (c.first_block != 0)
    throw argument_error("first_block", std::to_string(c.first_block), "0 beside physical_blocks");
  std::vector<int> sorted = c.physical_blocks;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.size() != as_size(*c.blocks) || sorted.front() < 0 ||
      sorted.back() >= c.carrier.resource_blocks ||
      std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    throw argument_error("physical_blocks", text_of(c.physical_blocks),
                         std::to_string(*c.blocks) + " resource blocks of the carrier, each once");
}

/// DMRS ports and identities, of completed layers.
void complete_dmrs(nr_dmrs_config& d, const nr_channel_config& c) {
  const int groups = d.type == 1 ? 2 : 3, ports = nr_dmrs_ports(d.type, d.length);
  check_range("dmrs_cdm_groups", d.cdm_groups, 1, groups);
  if (d.ports.empty())
    for (int l = 0; l < c.layers; l++) d.ports.push_back(l);
  if (d.ports.size() != as_size(c.layers))
    throw argument_error("dmrs_ports", text_of(d.ports),
                         "one for each of " + std::to_string(c.layers) + " layers");
  for (std::size_t l = 0; l < d.ports.size(); l++) {
    const int p = d.ports[l];
    if (p < 0 || p >= ports ||
        std::find(d.ports.begin(), d.ports.begin() + static_cast<std::ptrdiff_t>(l), p) !=
            d.ports.begin() + static_cast<std::ptrdiff_t>(l))
      throw argument_error("dmrs_ports", text_of(d.ports),
                           "0 to " + std::to_string(ports - 1) + ", each once, with dmrs_type = " +
                               std::to_string(d.type) + " and dmrs_length = " + std::to_string(d.length));
    if (nr_dmrs_port_of(d.type, p).group >= d.cdm_groups)
      throw argument_error("dmrs_ports", text_of(d.ports),
                           "ports of the first dmrs_cdm_groups = " + std::to_string(d.cdm_groups) +
                               " CDM groups: data would collide with port " + std::to_string(p));
  }
  if (d.ids.empty()) d.ids = {c.carrier.cell_id, c.carrier.cell_id};
  if (d.ids.size() != 2) throw argument_error("dmrs_ids", text_of(d.ids), "two of them");
}

void check_transform(const nr_channel_config& c) {
  const auto only = [&](const char* name, const std::string& value, bool used) {
    if (used) throw argument_error(name, value, "left out without transform_precoding");
  };
  if (!c.transform_precoding) {
    only("pi2_bpsk", "true", c.pi2_bpsk);
    only("dmrs_hopping", c.dmrs.hopping == nr_dmrs_hopping::group ? "\"group\"" : "\"sequence\"",
         c.dmrs.hopping != nr_dmrs_hopping::none);
    only("dmrs_low_papr_id", std::to_string(c.dmrs.low_papr_id.value_or(0)), c.dmrs.low_papr_id.has_value());
    return;
  }
  const std::string with = " with transform_precoding";
  if (c.direction != nr_direction::uplink)
    throw argument_error("transform_precoding", "true", "false with channel = \"pdsch\"");
  if (c.layers != 1) throw argument_error("layers", std::to_string(c.layers), "1" + with);
  if (c.dmrs.type != 1) throw argument_error("dmrs_type", std::to_string(c.dmrs.type), "1" + with);
  if (c.dmrs.cdm_groups != 2)
    throw argument_error("dmrs_cdm_groups", std::to_string(c.dmrs.cdm_groups), "2" + with);
  if (!c.physical_blocks.empty())
    throw argument_error("physical_blocks", text_of(c.physical_blocks), "left out" + with);
  if (c.ptrs.time_density)
    throw argument_error("ptrs_time_density", std::to_string(*c.ptrs.time_density), "left out" + with);
  int cofactor = *c.blocks;
  for (const int prime : {2, 3, 5})
    while (cofactor % prime == 0) cofactor /= prime;
  if (cofactor != 1)
    throw argument_error("blocks", std::to_string(*c.blocks), "a product of 2, 3 and 5" + with);
}

/// Values of an OFDM symbol's DMRS with transform precoding.
std::vector<std::complex<float>> low_papr_of(const nr_channel_config& c, int symbol) {
  const int length = nr_block_subcarriers / 2 * *c.blocks;
  const nr_dmrs_group_number g = nr_low_papr_dmrs(c.carrier, symbol, c.dmrs, length);
  const auto exact = nr_low_papr_sequence(length, g.u, g.v);
  return {exact.begin(), exact.end()};
}

/// DMRS of one layer, [elements].
std::vector<std::complex<float>> dmrs_of(const nr_channel_config& c, const std::vector<int>& symbols,
                                         int layer) {
  const nr_dmrs_config& d = c.dmrs;
  const nr_dmrs_port port = nr_dmrs_port_of(d.type, d.ports[as_size(layer)]);
  const int step = d.type == 1 ? 4 : 6, subcarriers = c.carrier.subcarriers(),
            first = nr_block_subcarriers * c.carrier.first_resource_block,  // of the carrier, from block 0
      origin = c.transform_precoding ? -nr_block_subcarriers * c.first_block : first;
  const std::vector<int> blocks = nr_blocks_of(c);
  std::vector<std::complex<float>> a(c.carrier.elements());
  for (std::size_t i = 0; i < symbols.size(); i++) {
    const auto r = c.transform_precoding ? low_papr_of(c, symbols[i - i % as_size(d.length)])
                                         : nr_dmrs_sequence(nr_dmrs_init(c.carrier, symbols[i], d),
                                                            as_size(first + subcarriers) * 2 / as_size(step));
    const float time = i % as_size(d.length) == 1 ? static_cast<float>(port.time) : 1.f;
    for (const int block : blocks)
      for (int k = nr_block_subcarriers * block; k < nr_block_subcarriers * (block + 1); k++) {
        if (nr_dmrs_group(d.type, first + k) != port.group) continue;
        const int n = (origin + k) / step, offset = (origin + k) % step - port.first,
                  second = d.type == 1 ? offset / 2 : offset;
        const float weight = d.beta() * time * (second == 1 ? static_cast<float>(port.frequency) : 1.f);
        a[as_size(symbols[i] * subcarriers + k)] = weight * r[as_size(2 * n + second)];
      }
  }
  return a;
}

/// Which resource elements of the slot PTRS take: none of those that are reserved.
std::vector<bool> ptrs_elements(const nr_channel_config& c, const std::vector<int>& dmrs_symbols,
                                const std::vector<bool>& reserved) {
  std::vector<bool> used(c.carrier.elements());
  const nr_ptrs_config& p = c.ptrs;
  if (!p.time_density) return used;
  std::vector<int> blocks = nr_blocks_of(c);
  std::sort(blocks.begin(), blocks.end());
  const int count = static_cast<int>(blocks.size()), density = p.frequency_density,
            left = count % density == 0 ? density : count % density;
  // k_ref^RE of port 0 of each CDM group with offset 0, and what ports and offsets add to it.
  const int port = c.dmrs.ports[as_size(p.layer)];
  static constexpr int of_type_1[4][4] = {{0, 2, 6, 8}, {2, 4, 8, 10}, {1, 3, 7, 9}, {3, 5, 9, 11}};
  static constexpr int of_type_2[6][4] = {{0, 1, 6, 7}, {1, 6, 7, 0},   {2, 3, 8, 9},
                                          {3, 8, 9, 2}, {4, 5, 10, 11}, {5, 10, 11, 4}};
  const int subcarrier = c.dmrs.type == 1 ? of_type_1[port][p.offset] : of_type_2[port][p.offset];
  for (const int l :
       nr_ptrs_symbols(c.first_symbol, *c.symbols, dmrs_symbols, *p.time_density, c.dmrs.length))
    for (int i = c.rnti % left; i < count; i += density) {
      const auto element =
          as_size(l * c.carrier.subcarriers() + nr_block_subcarriers * blocks[as_size(i)] + subcarrier);
      used[element] = !reserved[element];
    }
  return used;
}
std::vector<bool> reserved_elements(const nr_channel_config& c) {
  std::vector<bool> used(c.carrier.elements());
  for (const nr_reserved& r : c.reserved)
    for (int l = r.first_symbol; l < r.first_symbol + r.symbols; l++)
      for (int k = 0; k < nr_block_subcarriers * r.blocks; k++)
        used[as_size(l * c.carrier.subcarriers() + nr_block_subcarriers * r.first_block + k)] = true;
  return used;
}
std::string text_of(const nr_reserved& r) {
  return text_of(std::vector<int>{r.first_block, r.blocks, r.first_symbol, r.symbols});
}

bool has_dmrs(const nr_reserved& r, const std::vector<int>& blocks, const std::vector<int>& dmrs_symbols) {
  const auto within = [](int i, int first, int count) { return i >= first && i < first + count; };
  return std::any_of(dmrs_symbols.begin(), dmrs_symbols.end(),
                     [&](int l) { return within(l, r.first_symbol, r.symbols); }) &&
         std::any_of(blocks.begin(), blocks.end(), [&](int b) { return within(b, r.first_block, r.blocks); });
}

/// Parts are those of a downlink carrier's slot.
void check_reserved_range(const nr_channel_config& c) {
  if (c.reserved.empty()) return;
  if (c.direction != nr_direction::downlink)
    throw argument_error("reserved", text_of(c.reserved[0]), "none with channel = \"pusch\"");
  const int n = c.carrier.resource_blocks, symbols = c.carrier.symbols_per_slot();
  for (const nr_reserved& r : c.reserved)
    if (r.first_block < 0 || r.blocks < 1 || r.first_block > n - r.blocks || r.first_symbol < 0 ||
        r.symbols < 1 || r.first_symbol > symbols - r.symbols)
      throw argument_error("reserved", text_of(r),
                           "first block, blocks, first symbol and symbols within " + std::to_string(n) +
                               " resource blocks and " + std::to_string(symbols) + " symbols");
}
/// Of completed blocks and symbols: the first reserved part with DMRS, or the end.
std::vector<nr_reserved>::const_iterator part_with_dmrs(const nr_channel_config& c,
                                                        const std::vector<int>& dmrs_symbols) {
  const std::vector<int> blocks = nr_blocks_of(c);
  return std::find_if(c.reserved.begin(), c.reserved.end(),
                      [&](const nr_reserved& r) { return has_dmrs(r, blocks, dmrs_symbols); });
}
/// Of completed blocks and symbols.
void check_reserved(const nr_channel_config& c, const std::vector<int>& dmrs_symbols) {
  check_reserved_range(c);
  if (const auto r = part_with_dmrs(c, dmrs_symbols); r != c.reserved.end())
    throw argument_error("reserved", text_of(*r),
                         "none with DMRS, which are in symbols " + text_of(dmrs_symbols));
}
void check_ptrs(const nr_channel_config& c) {
  if (!c.ptrs.time_density) return;
  check_range("ptrs_layer", c.ptrs.layer, 0, c.layers - 1);
  const int port = c.dmrs.ports[as_size(c.ptrs.layer)], ports = nr_dmrs_ports(c.dmrs.type, 1);
  if (port >= ports)
    throw argument_error("ptrs_layer", std::to_string(c.ptrs.layer),
                         "a layer with one of DMRS ports 0 to " + std::to_string(ports - 1));
}

/// Resource elements with data, in the order of the mapping.
std::vector<std::int32_t> entries_of(const nr_channel_config& c, const std::vector<int>& symbols) {
  const std::vector<int> blocks = nr_blocks_of(c);
  const std::vector<bool> reserved = reserved_elements(c), ptrs = ptrs_elements(c, symbols, reserved);
  std::vector<std::int32_t> entries;
  const int from_zero = nr_block_subcarriers * c.carrier.first_resource_block;
  for (int l = c.first_symbol; l < c.first_symbol + *c.symbols; l++) {
    const bool shared = std::find(symbols.begin(), symbols.end(), l) != symbols.end();
    for (const int block : blocks)
      for (int k = nr_block_subcarriers * block; k < nr_block_subcarriers * (block + 1); k++)
        if (!shared || nr_dmrs_group(c.dmrs.type, from_zero + k) >= c.dmrs.cdm_groups) {
          const int element = l * c.carrier.subcarriers() + k;
          if (!reserved[as_size(element)] && !ptrs[as_size(element)]) entries.push_back(element);
        }
  }
  return entries;
}

const std::string reserved_numbers =
    "a list of four integers from 0 to 275 for each part: first block, blocks, first symbol, symbols";

setting_of<nr_channel_config> reserved_setting() {
  using c = nr_channel_config;
  return setting_of<c>{
      "reserved",
      "list of integers",
      reserved_numbers,
      "Resource blocks x OFDM symbols that PDSCH is mapped round: first block of the carrier, blocks, first "
      "symbol of the slot and symbols of each part, one after another.",
      {},
      [](c& x, const setting_value& v) {
        x.reserved =
            nr_reserved_of(settings_detail::wholes("reserved", v, 0, nr_most_blocks, reserved_numbers));
      },
      [](const c& x) -> setting_value {
        if (x.reserved.empty()) return {};
        std::vector<std::int64_t> n;
        for (const nr_reserved& r : x.reserved)
          n.insert(n.end(), {r.first_block, r.blocks, r.first_symbol, r.symbols});
        return n;
      }}
      .left_out_by_default();
}
std::vector<setting_of<nr_ptrs_config>> ptrs_settings() {
  using c = nr_ptrs_config;
  return {one_of("ptrs_time_density", &c::time_density, {1, 2, 4},
                 "L_PT-RS: PTRS are in every first, second or fourth OFDM symbol behind DMRS. Absent: there "
                 "are none.")
              .left_out_by_default(),
          one_of("ptrs_frequency_density", &c::frequency_density, {2, 4},
                 "K_PT-RS: PTRS are in every second or fourth resource block.")
              .left_out_by_default(),
          integer("ptrs_offset", &c::offset, 0, 3, "resourceElementOffset of PTRS.").left_out_by_default(),
          integer("ptrs_layer", &c::layer, 0, 7, "Layer whose DMRS port PTRS have.").left_out_by_default(),
          number("ptrs_power_db", &c::power_db, -20, 20,
                 "Power of PTRS over that of a layer's data: TS 38.214 tables 4.1-2 and 6.2.3.1-3.")
              .left_out_by_default()};
}

}  // namespace

const std::vector<setting_of<nr_channel_config>>& nr_channel_settings() {
  using c = nr_channel_config;
  static const std::vector<setting_of<c>> settings = [] {
    std::vector<setting_of<c>> list{
        words("channel", &c::direction, {{"pusch", nr_direction::uplink}, {"pdsch", nr_direction::downlink}},
              "Physical uplink or downlink shared channel.")};
    for (auto& s : within<c>([](c& x) -> nr_carrier& { return x.carrier; }, nr_carrier_settings()))
      list.push_back(std::move(s));
    for (auto& s : std::vector<setting_of<c>>{
             integer("first_block", &c::first_block, 0, nr_most_blocks - 1,
                     "First resource block of the allocation, in the carrier."),
             integer("blocks", &c::blocks, 1, nr_most_blocks,
                     "Resource blocks of the allocation. Absent: all of the carrier's from first_block on."),
             integers("physical_blocks", &c::physical_blocks, 0, nr_most_blocks - 1,
                      "For interleaved mapping: the resource block of the carrier of each virtual one. Left "
                      "out: first_block and those behind it.",
                      "a list of resource blocks of the carrier, each once")
                 .left_out_by_default(),
             words("mapping", &c::mapping, {{"A", nr_mapping::type_a}, {"B", nr_mapping::type_b}},
                   "Mapping type: the first DMRS is in symbol dmrs_first_symbol of the slot (A) or in the "
                   "first of the allocation (B)."),
             integer("first_symbol", &c::first_symbol, 0, 13, "First OFDM symbol of the allocation."),
             integer("symbols", &c::symbols, 1, 14,
                     "OFDM symbols of the allocation. Absent: all of the slot's from first_symbol on."),
             integer("layers", &c::layers, 1, 8, "Layers, of PUSCH up to 4."),
             integer("antenna_ports", &c::antenna_ports, 1, 8,
                     "Antenna ports. Absent: the layers; with a codebook 1, 2 or 4."),
             integer("tpmi", &c::tpmi, 0, 27,
                     "Transmitted precoding matrix indicator of the codebook, PUSCH alone. Absent: no "
                     "codebook."),
             integer("rnti", &c::rnti, 0, 65535, "n_RNTI of the scrambling."),
             integer("scrambling_id", &c::scrambling_id, 0, 1023,
                     "n_ID of the scrambling. Absent: the cell's."),
             boolean("transform_precoding", &c::transform_precoding,
                     "DFT-s-OFDM, PUSCH of one layer alone: resource blocks are a product of 2, 3 and 5, and "
                     "MCS tables are 6.1.4.1-1 and -2.")
                 .left_out_by_default(),
             boolean("pi2_bpsk", &c::pi2_bpsk,
                     "With transform_precoding: pi/2-BPSK, which the first MCS of both tables then have.")
                 .left_out_by_default()})
      list.push_back(std::move(s));
    for (auto& s : within<c>([](c& x) -> nr_dmrs_config& { return x.dmrs; }, nr_dmrs_settings()))
      list.push_back(std::move(s));
    for (auto& s : within<c>([](c& x) -> nr_ptrs_config& { return x.ptrs; }, ptrs_settings()))
      list.push_back(std::move(s));
    list.push_back(reserved_setting());
    return list;
  }();
  return settings;
}

nr_mcs nr_mcs_of(const nr_channel_config& config, int table, int index) {
  if (!config.transform_precoding) return nr_mcs_of(table, index);
  const nr_mcs mcs = nr_precoded_mcs_of(table, index, config.pi2_bpsk);
  if (config.pi2_bpsk && mcs.modulation_order != 1)
    throw argument_error("mcs", std::to_string(index),
                         table == 1 ? "0 or 1 with pi2_bpsk" : "0 to 5 with pi2_bpsk");
  return mcs;
}

std::vector<nr_reserved> nr_reserved_of(const std::vector<int>& n) {
  if (n.size() % 4 != 0) throw argument_error("reserved", text_of(n), reserved_numbers);
  std::vector<nr_reserved> parts;
  for (std::size_t i = 0; i < n.size(); i += 4) parts.push_back({n[i], n[i + 1], n[i + 2], n[i + 3]});
  return parts;
}

std::vector<int> nr_interleaved_blocks(int first_resource_block, int blocks, int bundle) {
  check_range("first_resource_block", first_resource_block, 0, 2199);
  check_range("blocks", blocks, 1, nr_most_blocks);
  if (bundle != 2 && bundle != 4) throw argument_error("bundle", std::to_string(bundle), "2 or 4");
  // Bundles are counted from common resource block 0 on, so that the first and the last may be shorter.
  constexpr int rows = 2;
  const int before = first_resource_block % bundle, bundles = (blocks + before + bundle - 1) / bundle,
            columns = bundles / rows;
  std::vector<int> physical;
  std::vector<std::vector<int>> of_bundle(as_size(bundles));
  for (int b = 0; b < blocks; b++) of_bundle[as_size((b + before) / bundle)].push_back(b);
  for (int j = 0; j < bundles; j++) {
    const int target = j == bundles - 1 ? j : j % rows * columns + j / rows;
    physical.insert(physical.end(), of_bundle[as_size(target)].begin(), of_bundle[as_size(target)].end());
  }
  return physical;
}

std::vector<int> nr_ptrs_symbols(int first, int symbols, const std::vector<int>& dmrs_symbols,
                                 int time_density, int dmrs_length) {
  if (time_density != 1 && time_density != 2 && time_density != 4)
    throw argument_error("time_density", std::to_string(time_density), "1, 2 or 4");
  check_range("dmrs_length", dmrs_length, 1, 2);
  if (dmrs_symbols.size() % as_size(dmrs_length) != 0 ||
      std::adjacent_find(dmrs_symbols.begin(), dmrs_symbols.end(), std::greater_equal<>()) !=
          dmrs_symbols.end())
    throw argument_error("dmrs_symbols", text_of(dmrs_symbols), "rising, and in pairs with dmrs_length = 2");
  std::vector<int> found;
  int reference = 0, i = 0;
  for (int l = 0; l < symbols; l = reference + i * time_density) {
    const int from = std::max(l - time_density + 1, reference + (i == 0 ? 0 : 1));
    const auto in_between = std::find_if(dmrs_symbols.begin(), dmrs_symbols.end(),
                                         [&](int d) { return d - first >= from && d - first <= l; });
    if (in_between == dmrs_symbols.end()) {
      found.push_back(first + l);
      i++;
    } else {  // counting begins anew behind DMRS
      const auto number = as_size(
          static_cast<int>(in_between - dmrs_symbols.begin()) / dmrs_length * dmrs_length + dmrs_length - 1);
      reference = dmrs_symbols[number] - first;
      i = 1;
    }
  }
  return found;
}

bool nr_can_be_mapped(const nr_channel_config& c) {
  if (!c.symbols) throw argument_error("symbols", "none", "those of a completed configuration");
  check_reserved_range(c);
  const auto symbols = nr_dmrs_symbols(c.direction, c.mapping, c.first_symbol, *c.symbols, c.dmrs);
  return part_with_dmrs(c, symbols) == c.reserved.end() && !entries_of(c, symbols).empty();
}

std::vector<int> nr_blocks_of(const nr_channel_config& c) {
  if (!c.physical_blocks.empty()) return c.physical_blocks;
  std::vector<int> blocks;
  const int count = c.blocks.value_or(c.carrier.resource_blocks - c.first_block);
  for (int i = 0; i < count; i++) blocks.push_back(c.first_block + i);
  return blocks;
}

nr_channel_config completed(const nr_channel_config& config) {
  nr_channel_config c = config;
  check_settings(nr_channel_settings(), c);
  check(c.carrier);
  check_range("first_block", c.first_block, 0, c.carrier.resource_blocks - 1);
  if (!c.blocks) c.blocks = c.carrier.resource_blocks - c.first_block;
  if (*c.blocks > c.carrier.resource_blocks - c.first_block)
    throw argument_error("blocks", std::to_string(*c.blocks),
                         "1 to " + std::to_string(c.carrier.resource_blocks - c.first_block) +
                             ", in a carrier of " + std::to_string(c.carrier.resource_blocks) +
                             " from block " + std::to_string(c.first_block) + " on");
  check_blocks(c);
  check_range("first_symbol", c.first_symbol, 0, c.carrier.symbols_per_slot() - 1);
  if (!c.symbols) c.symbols = c.carrier.symbols_per_slot() - c.first_symbol;
  check_range("symbols", *c.symbols, 1, c.carrier.symbols_per_slot() - c.first_symbol);
  complete_ports(c);
  check_transform(c);
  complete_dmrs(c.dmrs, c);
  const auto symbols = nr_dmrs_symbols(c.direction, c.mapping, c.first_symbol, *c.symbols, c.dmrs);
  if (symbols.back() >= c.first_symbol + *c.symbols)
    throw argument_error("symbols", std::to_string(*c.symbols),
                         "enough for DMRS in symbol " + std::to_string(symbols.back()));
  check_reserved(c, symbols);
  check_ptrs(c);
  if (entries_of(c, symbols).empty())
    throw argument_error("symbols", std::to_string(*c.symbols),
                         c.reserved.empty() ? "enough for data beside DMRS"
                                            : "enough for data beside DMRS and reserved resource blocks");
  if (!c.scrambling_id) c.scrambling_id = c.carrier.cell_id;
  return c;
}

nr_shared_channel::nr_shared_channel(const nr_channel_config& config)
    : config_(completed(config)),
      dmrs_symbols_(nr_dmrs_symbols(config_.direction, config_.mapping, config_.first_symbol,
                                    *config_.symbols, config_.dmrs)),
      entries_(entries_of(config_, dmrs_symbols_)) {
  std::vector<std::int32_t> number(elements(), -1);
  for (std::size_t i = 0; i < entries_.host().size(); i++)
    number[as_size(entries_.host()[i])] = static_cast<std::int32_t>(i);
  number_ = resident<std::int32_t>(std::move(number));
  std::vector<std::complex<float>> w(ports() * layers());
  if (config_.tpmi)
    w = nr_precoder(*config_.antenna_ports, config_.layers, *config_.tpmi, config_.transform_precoding);
  else
    for (std::size_t p = 0; p < ports(); p++) w[p * layers() + p] = 1;
  std::vector<std::complex<float>> precoded(ports() * elements());
  for (std::size_t l = 0; l < layers(); l++) {
    auto a = dmrs(static_cast<int>(l));
    if (static_cast<int>(l) == config_.ptrs.layer) {
      const auto tracking = ptrs();
      for (std::size_t k = 0; k < elements(); k++) a[k] += tracking[k];
    }
    for (std::size_t p = 0; p < ports(); p++)
      for (std::size_t k = 0; k < elements(); k++) precoded[p * elements() + k] += w[p * layers() + l] * a[k];
  }
  precoder_ = resident<std::complex<float>>(std::move(w));
  precoded_ = resident<std::complex<float>>(std::move(precoded));
  if (config_.transform_precoding) {
    forward_.emplace(nr_block_subcarriers * *config_.blocks, fft_direction::forward);
    inverse_.emplace(nr_block_subcarriers * *config_.blocks, fft_direction::inverse);
  }
}

int nr_shared_channel::layers_of(int codeword) const noexcept {
  if (config_.layers <= 4) return codeword == 0 ? config_.layers : 0;
  return codeword == 0 ? config_.layers / 2 : config_.layers - config_.layers / 2;
}

std::vector<std::complex<float>> nr_shared_channel::dmrs(int layer) const {
  entries_.check_held();
  check_range("layer", layer, 0, config_.layers - 1);
  return dmrs_of(config_, dmrs_symbols_, layer);
}

std::vector<std::complex<float>> nr_shared_channel::ptrs() const {
  entries_.check_held();
  std::vector<std::complex<float>> a(elements());
  const std::vector<bool> used = ptrs_elements(config_, dmrs_symbols_, reserved_elements(config_));
  if (std::find(used.begin(), used.end(), true) == used.end()) return a;
  const nr_dmrs_config& d = config_.dmrs;
  const int subcarriers = config_.carrier.subcarriers(), step = d.type == 1 ? 4 : 6,
            first = nr_block_subcarriers * config_.carrier.first_resource_block,
            delta = nr_dmrs_port_of(d.type, d.ports[as_size(config_.ptrs.layer)]).first;
  const auto r = nr_dmrs_sequence(nr_dmrs_init(config_.carrier, dmrs_symbols_[0], d),
                                  as_size(first + subcarriers) * 2 / as_size(step));
  const auto beta = static_cast<float>(std::pow(10., config_.ptrs.power_db / 20));
  for (std::size_t e = 0; e < used.size(); e++) {
    if (!used[e]) continue;
    const int k = first + static_cast<int>(e) % subcarriers, offset = k % step - delta;
    a[e] = beta * r[as_size(2 * (k / step) + (d.type == 1 ? offset / 2 : offset))];
  }
  return a;
}

nr_transport_config nr_shared_channel::transport(int mcs_table, int index, int codeword) const {
  entries_.check_held();
  check_range("codeword", codeword, 0, codewords() - 1);
  const nr_mcs mcs = nr_mcs_of(config_, mcs_table, index);
  const int per_block = nr_block_subcarriers / (config_.dmrs.type == 1 ? 2 : 3) * config_.dmrs.cdm_groups;
  const int counted =
      nr_resource_elements({.resource_blocks = *config_.blocks,
                            .symbols = *config_.symbols,
                            .dmrs_per_block = per_block * static_cast<int>(dmrs_symbols_.size())});
  const int layers = layers_of(codeword);
  return {.transport_bits = nr_transport_block_size(counted, mcs, layers),
          .coded_bits = static_cast<int>(symbols_of(codeword)) * mcs.modulation_order,
          .modulation_order = mcs.modulation_order,
          .layers = layers,
          .code_rate = mcs.code_rate(),
          .scrambling = nr_scrambling_init(config_.rnti, *config_.scrambling_id, codeword)};
}

void map_elements(executor& exec, const nr_map_args& args) {
  exec.run(nr_map_kernels(), &args, args.grid.items);
}

void nr_shared_channel::map(executor& exec, const std::vector<view<const std::complex<float>>>& symbols,
                            view<std::complex<float>> grid) const {
  if (symbols.size() != as_size(codewords()))
    throw argument_error("symbols", std::to_string(symbols.size()) + " codewords",
                         std::to_string(codewords()));
  entries_.check_held();
  const std::size_t slots = symbols[0].items;
  nr_map_args a;
  for (int q = 0; q < codewords(); q++) {
    check_shape("symbols", symbols[as_size(q)], slots, symbols_of(q));
    a.codeword[q] = as_pairs(symbols[as_size(q)]);
  }
  check_shape("grid", grid, slots * elements(), ports());
  if (slots > 0 && forward_) a.codeword[0] = transformed(exec, a.codeword[0]);
  a.elements = static_cast<int>(elements());
  a.ports = *config_.antenna_ports;
  a.layers = config_.layers;
  a.first_layers = layers_of(0);
  a.precoded = config_.tpmi.has_value();
  a.number = number_.on(exec);
  a.precoder = reinterpret_cast<const cx_pair*>(precoder_.on(exec));
  a.dmrs = reinterpret_cast<const cx_pair*>(precoded_.on(exec));
  a.grid = as_pairs(grid);
  map_elements(exec, a);
}

void nr_shared_channel::extract(executor& exec, view<const std::complex<float>> grid,
                                view<std::complex<float>> data) const {
  entries_.check_held();
  if (grid.items % elements() != 0)
    throw shape_error("grid", shape_text(grid.items, grid.elements),
                      "whole slots of " + std::to_string(elements()) + " resource elements");
  check_shape("grid", grid, grid.items, grid.elements);
  check_shape("data", data, grid.items / elements() * data_elements(), grid.elements);
  const nr_extract_args a{static_cast<int>(data_elements()), static_cast<int>(elements()), entries_.on(exec),
                          as_pairs(grid), as_pairs(data)};
  exec.run(nr_extract_kernels(), &a, data.items);
}

view<const cx_pair> nr_shared_channel::transformed(executor& exec, view<const cx_pair> symbols) const {
  const std::size_t m = as_size(forward_->size()), count = symbols.items * data_elements();
  auto* turned = reinterpret_cast<cx_pair*>(workspace_.on(exec, 2 * sizeof(cx_pair) * count));
  const view<cx_pair> before = make_view(turned, symbols.items, data_elements()),
                      after = make_view(turned + count, symbols.items, data_elements());
  nr_turn_args a;
  a.count = static_cast<int>(data_elements());
  const float scale = static_cast<float>(1 / std::sqrt(static_cast<double>(m)));
  a.turn[0] = {scale, 0};
  a.turn[1] = config_.pi2_bpsk ? cx_pair{0, scale} : cx_pair{scale, 0};
  a.in = symbols;
  a.out = before;
  exec.run(nr_turn_kernels(), &a, count);
  forward_->run(exec, 1, count / m, {before.data, 1, m, 0}, {after.data, 1, m, 0});
  return after;
}

void nr_shared_channel::equalise(executor& exec, const nr_equaliser_input& in,
                                 const nr_equaliser_output& out) const {
  entries_.check_held();
  if (!inverse_) throw argument_error("transform_precoding", "false", "true for an equaliser");
  const std::size_t uses = in.received.items;
  if (uses % data_elements() != 0)
    throw shape_error("received", shape_text(uses, in.received.elements),
                      "whole slots of " + std::to_string(data_elements()) + " resource elements with data");
  check_shape("received", in.received, uses, in.received.elements);
  check_shape("channel", in.channel, uses, in.received.elements);
  check_shape("noise_var", in.noise_var, uses, 1);
  check_shape("symbols", out.symbols, uses, 1);
  check_shape("out_noise_var", out.noise_var, uses, 1);
  if (out.channel.data != nullptr) check_shape("out_channel", out.channel, uses, 1);
  if (uses == 0) return;
  const std::size_t m = as_size(inverse_->size()), slots = uses / data_elements();
  auto* before = reinterpret_cast<cx_pair*>(
      workspace_.on(exec, (2 * sizeof(cx_pair) + sizeof(float)) * uses + sizeof(float) * (uses / m)));
  cx_pair* after = before + uses;
  auto* rest = reinterpret_cast<float*>(after + uses);
  const nr_equalise_args e{as_pairs(in.channel), as_pairs(in.received), in.noise_var, before, rest};
  exec.run(nr_equalise_kernels(), &e, uses);
  const nr_rest_args r{static_cast<int>(m), rest, rest + uses};
  exec.run(nr_rest_kernels(), &r, uses / m);
  inverse_->run(exec, 1, uses / m, {before, 1, m, 0}, {after, 1, m, 0});
  nr_turn_args a;
  a.count = static_cast<int>(data_elements());
  a.subcarriers = static_cast<int>(m);
  const float scale = static_cast<float>(1 / std::sqrt(static_cast<double>(m)));
  a.turn[0] = {scale, 0};
  a.turn[1] = config_.pi2_bpsk ? cx_pair{0, -scale} : cx_pair{scale, 0};
  a.rest = r.out;
  a.in = make_view(static_cast<const cx_pair*>(after), slots, data_elements());
  const view<cx_pair> symbols = as_pairs(out.symbols);
  a.out = {symbols.data, data_elements(), slots, symbols.item_stride, data_elements() * symbols.item_stride};
  if (out.channel.data != nullptr) a.channel = as_pairs(out.channel);
  a.noise_var = out.noise_var;
  exec.run(nr_turn_kernels(), &a, uses);
}

}  // namespace wb
