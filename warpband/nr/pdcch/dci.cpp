#include <warpband/nr/pdcch/dci.hpp>

#include <algorithm>
#include <string>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>

namespace wb {
namespace {

int bits_for(int values) {
  int bits = 0;
  while (1 << bits < values) bits++;
  return bits;
}
int type_1_bits(int blocks) { return bits_for(blocks * (blocks + 1) / 2); }

/// Resource blocks of a group (TS 38.214 §5.1.2.2.1).
int group_size(int blocks, int configuration) {
  const int step = blocks <= 36 ? 0 : blocks <= 72 ? 1 : blocks <= 144 ? 2 : 3;
  return configuration == 1 ? 2 << step : std::min(4 << step, 16);
}
bool is_uplink(nr_dci_format f) { return f == nr_dci_format::f0_0 || f == nr_dci_format::f0_1; }
bool is_fallback(nr_dci_format f) { return f == nr_dci_format::f0_0 || f == nr_dci_format::f1_0; }
int dci_blocks(const nr_dci_config& c) { return is_uplink(c.format) ? c.uplink_blocks : c.downlink_blocks; }
int dci_groups(const nr_dci_config& c) {
  const int n = dci_blocks(c), size = group_size(n, c.rbg_configuration);
  return (n + c.first_resource_block % size + size - 1) / size;
}

int bits_of(const std::vector<nr_dci_field>& fields) {
  int sum = 0;
  for (const nr_dci_field& f : fields) sum += f.bits;
  return sum;
}

/// Collects fields; those without bits are left out.
class field_list {
 public:
  void add(const char* name, int bits, std::optional<int> fixed = {}) {
    if (bits > 0) fields.push_back({name, bits, fixed});
  }
  int bits() const { return bits_of(fields); }
  std::vector<nr_dci_field> fields;
};

constexpr int bits_beside_allocation_0_0 = 20, bits_beside_allocation_1_0 = 28;

void add_0_0(const nr_dci_config& c, field_list& list) {
  const int untruncated = type_1_bits(c.uplink_blocks), up = untruncated + bits_beside_allocation_0_0,
            down = type_1_bits(c.downlink_blocks) + bits_beside_allocation_1_0;
  list.add("identifier", 1, 0);
  list.add("frequency_domain",
           c.common_search_space ? std::min(untruncated, untruncated - (up - down)) : untruncated);
  list.add("time_domain", 4);
  list.add("frequency_hopping", 1);
  list.add("mcs", 5);
  const auto reserved = c.use == nr_dci_use::tc_rnti ? std::optional(0) : std::nullopt;
  list.add("ndi", 1, reserved);
  list.add("rv", 2);
  list.add("harq_process", 4, reserved);
  list.add("tpc", 2);
  const int sul = c.supplementary_uplink && down > up ? 1 : 0;
  list.add("padding", down - list.bits() - sul, 0);
  list.add("supplementary_uplink", sul, reserved);
}

void add_1_0(const nr_dci_config& c, field_list& list) {
  const int allocation = type_1_bits(c.downlink_blocks), down = allocation + bits_beside_allocation_1_0,
            up = type_1_bits(c.uplink_blocks) + bits_beside_allocation_0_0;
  const bool is_of_ue = c.use == nr_dci_use::c_rnti || c.use == nr_dci_use::tc_rnti;
  if (is_of_ue || c.use == nr_dci_use::order) list.add("identifier", 1, 1);
  if (c.use == nr_dci_use::p_rnti) {
    list.add("short_messages_indicator", 2);
    list.add("short_messages", 8);
  }
  if (c.use == nr_dci_use::order) {
    list.add("frequency_domain", allocation, (1 << allocation) - 1);
    list.add("preamble", 6);
    list.add("supplementary_uplink", 1);
    list.add("ssb_index", 6);
    list.add("prach_mask", 4);
    list.add("reserved", 10, 0);
  } else {
    list.add("frequency_domain", allocation);
    list.add("time_domain", 4);
    list.add("interleaved", 1);
    list.add("mcs", 5);
  }
  if (is_of_ue) {
    list.add("ndi", 1);
    list.add("rv", 2);
    list.add("harq_process", 4);
    list.add("dai", 2, c.use == nr_dci_use::tc_rnti ? std::optional(0) : std::nullopt);
    list.add("tpc", 2);
    list.add("pucch_resource", 3);
    list.add("harq_delay", 3);
  } else if (c.use == nr_dci_use::si_rnti) {
    list.add("rv", 2);
    list.add("other_information", 1);
    list.add("reserved", 15, 0);
  } else if (c.use == nr_dci_use::ra_rnti) {
    list.add("scaling", 2);
    list.add("reserved", 16, 0);
  } else if (c.use == nr_dci_use::p_rnti) {
    list.add("scaling", 2);
    list.add("reserved", 6, 0);
  }
  if (!c.common_search_space) list.add("padding", up - down, 0);
}

/// Fields that begin 0_1 and 1_1.
void add_ue_beginning(const nr_dci_config& c, field_list& list) {
  const int type_0 = dci_groups(c), type_1 = type_1_bits(dci_blocks(c));
  list.add("identifier", 1, is_uplink(c.format) ? 0 : 1);
  list.add("carrier", c.cross_carrier ? 3 : 0);
  if (is_uplink(c.format)) list.add("supplementary_uplink", c.supplementary_uplink ? 1 : 0);
  list.add("bandwidth_part", bits_for(c.bandwidth_parts <= 3 ? c.bandwidth_parts + 1 : c.bandwidth_parts));
  list.add("frequency_domain", c.allocation == nr_dci_allocation::type_0   ? type_0
                               : c.allocation == nr_dci_allocation::type_1 ? type_1
                                                                           : std::max(type_0, type_1) + 1);
  list.add("time_domain", bits_for(c.time_rows));
}

/// TS 38.212 tables 7.3.1.1.2-2 to -5.
int precoding_bits(const nr_dci_config& c) {
  if (!c.codebook || c.antenna_ports == 1) return 0;
  const bool one = c.max_layers == 1 || c.transform_precoding;
  const auto subset = static_cast<std::size_t>(c.codebook_subset);
  static constexpr int four_ports[2][3] = {{6, 5, 4}, {5, 4, 2}}, two_ports[2][3] = {{4, 0, 2}, {3, 0, 1}};
  return (c.antenna_ports == 4 ? four_ports : two_ports)[one ? 1 : 0][subset];
}
int srs_resource_bits(const nr_dci_config& c) {
  if (c.codebook) return bits_for(c.srs_resources);
  int sets = 0, chosen = 1;  // binomial coefficients
  for (int k = 1; k <= std::min(c.max_layers, c.srs_resources); k++) {
    chosen = chosen * (c.srs_resources - k + 1) / k;
    sets += chosen;
  }
  return bits_for(sets);
}

void add_0_1(const nr_dci_config& c, field_list& list) {
  add_ue_beginning(c, list);
  list.add("frequency_hopping", c.frequency_hopping && c.allocation != nr_dci_allocation::type_0 ? 1 : 0);
  list.add("mcs", 5);
  list.add("ndi", 1);
  list.add("rv", 2);
  list.add("harq_process", 4);
  list.add("dai", c.dynamic_harq ? 2 : 1);
  list.add("second_dai", c.dynamic_harq && c.second_dai ? 2 : 0);
  list.add("tpc", 2);
  list.add("srs_resource", srs_resource_bits(c));
  list.add("precoding", precoding_bits(c));
  list.add("antenna_ports", c.transform_precoding ? 2 * c.dmrs_length : 1 + c.dmrs_type + c.dmrs_length);
  list.add("srs_request", c.supplementary_uplink ? 3 : 2);
  list.add("csi_request", c.csi_request_bits);
  list.add("code_block_groups", c.code_block_groups);
  list.add("ptrs_dmrs", c.ptrs && !c.transform_precoding && c.max_layers > 1 ? 2 : 0);
  list.add("beta_offset", c.dynamic_beta ? 2 : 0);
  list.add("dmrs_scid", c.transform_precoding ? 0 : 1);
  list.add("ul_sch", 1);
}

void add_1_1(const nr_dci_config& c, field_list& list) {
  add_ue_beginning(c, list);
  list.add("interleaved", c.interleaved && c.allocation != nr_dci_allocation::type_0 ? 1 : 0);
  list.add("bundling", c.dynamic_bundling ? 1 : 0);
  list.add("rate_matching", c.rate_match_groups);
  list.add("zp_csi_rs", bits_for(c.zp_csi_rs_sets + 1));
  list.add("mcs", 5);
  list.add("ndi", 1);
  list.add("rv", 2);
  if (c.codewords == 2) {
    list.add("mcs_2", 5);
    list.add("ndi_2", 1);
    list.add("rv_2", 2);
  }
  list.add("harq_process", 4);
  list.add("dai", !c.dynamic_harq ? 0 : c.several_cells ? 4 : 2);
  list.add("tpc", 2);
  list.add("pucch_resource", 3);
  list.add("harq_delay", bits_for(c.harq_delays));
  list.add("antenna_ports", 2 + c.dmrs_type + c.dmrs_length);
  list.add("tci", c.tci ? 3 : 0);
  list.add("srs_request", c.supplementary_uplink ? 3 : 2);
  list.add("code_block_groups", c.code_block_groups * c.codewords);
  list.add("flush", c.flush_indicator ? 1 : 0);
  list.add("dmrs_scid", 1);
}

/// Whether all ones of this field are the mark of an order, as in format 1_0 with C-RNTI.
bool may_mark_order(const nr_dci_config& c, const nr_dci_field& f) {
  return c.format == nr_dci_format::f1_0 && c.use == nr_dci_use::c_rnti && f.name == "frequency_domain";
}

void put_bits(std::vector<std::uint8_t>& bits, int value, int count) {
  for (int i = count - 1; i >= 0; i--) bits.push_back(static_cast<std::uint8_t>(value >> i & 1));
}

nr_dci_config si_format(int coreset_blocks) {
  if (coreset_blocks != 24 && coreset_blocks != 48 && coreset_blocks != 96)
    throw argument_error("coreset_blocks", std::to_string(coreset_blocks), "24, 48 or 96");
  return {.use = nr_dci_use::si_rnti, .downlink_blocks = coreset_blocks};
}

void check_si_dci(const nr_si_dci& d, int coreset_blocks) {
  si_format(coreset_blocks);
  check_range("first_block", d.first_block, 0, coreset_blocks - 1);
  check_range("blocks", d.blocks, 1, coreset_blocks - d.first_block);
  check_range("time_domain", d.time_domain, 0, 15);
  check_range("mcs", d.mcs, 0, 31);
  check_range("rv", d.rv, 0, 3);
}

}  // namespace

const std::vector<setting_of<nr_dci_config>>& nr_dci_settings() {
  using c = nr_dci_config;
  using list = std::vector<std::string>;
  const list ue{"0_1", "1_1"}, up{"0_1"}, down{"1_1"};
  static const std::vector<setting_of<c>> settings{
      words("format", &c::format,
            {{"0_0", nr_dci_format::f0_0},
             {"0_1", nr_dci_format::f0_1},
             {"1_0", nr_dci_format::f1_0},
             {"1_1", nr_dci_format::f1_1}},
            "Format of the DCI: 0 schedules PUSCH, 1 PDSCH."),
      words("use", &c::use,
            {{"c-rnti", nr_dci_use::c_rnti},
             {"tc-rnti", nr_dci_use::tc_rnti},
             {"si-rnti", nr_dci_use::si_rnti},
             {"ra-rnti", nr_dci_use::ra_rnti},
             {"p-rnti", nr_dci_use::p_rnti},
             {"order", nr_dci_use::order}},
            "RNTI that masks the CRC, or with C-RNTI the order to send a preamble. Formats 0_1 and 1_1 have "
            "C-RNTI, 0_0 also TC-RNTI."),
      integer("uplink_blocks", &c::uplink_blocks, 1, nr_most_blocks,
              "Resource blocks of the uplink bandwidth part: for 0_0 and 1_0 in a common search space the "
              "initial one, else the active one."),
      integer("downlink_blocks", &c::downlink_blocks, 1, nr_most_blocks,
              "Resource blocks of the downlink bandwidth part: for 0_0 and 1_0 in a common search space "
              "CORESET 0, else the active part."),
      boolean("common_search_space", &c::common_search_space,
              "Formats 0_0 and 1_0: the size is that of 1_0. Else it is that of the longer one."),
      boolean("supplementary_uplink", &c::supplementary_uplink, "The cell has a supplementary uplink."),
      boolean("cross_carrier", &c::cross_carrier, "DCIs name a carrier.").only_with("format", ue),
      integer("bandwidth_parts", &c::bandwidth_parts, 0, 4,
              "Bandwidth parts of the direction that RRC adds to the initial one.")
          .only_with("format", ue),
      words("allocation", &c::allocation,
            {{"type-0", nr_dci_allocation::type_0},
             {"type-1", nr_dci_allocation::type_1},
             {"both", nr_dci_allocation::both}},
            "Frequency-domain allocation: bitmap of resource block groups, neighbouring blocks, or both.")
          .only_with("format", ue),
      integer("first_resource_block", &c::first_resource_block, 0, 2199,
              "First resource block of the active bandwidth part, in common resource blocks.")
          .only_with("format", ue),
      one_of("rbg_configuration", &c::rbg_configuration, {1, 2}, "Sizes of resource block groups.")
          .only_with("format", ue),
      integer("time_rows", &c::time_rows, 1, 16, "Rows of the time-domain allocation table.")
          .only_with("format", ue),
      boolean("dynamic_harq", &c::dynamic_harq, "The HARQ-ACK codebook is dynamic.").only_with("format", ue),
      one_of("code_block_groups", &c::code_block_groups, {0, 2, 4, 6, 8},
             "Most code block groups of a transport block. 0: whole blocks are sent.")
          .only_with("format", ue),
      one_of("dmrs_type", &c::dmrs_type, {1, 2}, "DMRS configuration type.").only_with("format", ue),
      one_of("dmrs_length", &c::dmrs_length, {1, 2},
             "Most symbols of DMRS side by side. With two mapping types, type and length are those with the "
             "wider field.")
          .only_with("format", ue),
      integer("fallback_bits", &c::fallback_bits, 0, 140,
              "Size of 0_0 and 1_0 in UE-specific search spaces. A DCI of this size has a bit of padding. 0: "
              "there are none.")
          .only_with("format", ue),
      boolean("frequency_hopping", &c::frequency_hopping, "PUSCH may hop.").only_with("format", up),
      boolean("second_dai", &c::second_dai, "With dynamic_harq: a sub-codebook of code block groups.")
          .only_with("format", up),
      boolean("codebook", &c::codebook, "PUSCH has a precoder of the codebook.").only_with("format", up),
      integer("srs_resources", &c::srs_resources, 1, 4, "SRS resources of the set for PUSCH.")
          .only_with("format", up),
      integer("max_layers", &c::max_layers, 1, 4, "Most layers of PUSCH.").only_with("format", up),
      one_of("antenna_ports", &c::antenna_ports, {1, 2, 4}, "With codebook: antenna ports of PUSCH.")
          .only_with("format", up),
      words("codebook_subset", &c::codebook_subset,
            {{"full", nr_codebook_subset::full},
             {"partial", nr_codebook_subset::partial},
             {"non-coherent", nr_codebook_subset::non_coherent}},
            "With codebook: coherence of the precoders.")
          .only_with("format", up),
      boolean("transform_precoding", &c::transform_precoding, "PUSCH is DFT-s-OFDM.").only_with("format", up),
      integer("csi_request_bits", &c::csi_request_bits, 0, 6, "reportTriggerSize.").only_with("format", up),
      boolean("ptrs", &c::ptrs, "PUSCH has phase-tracking reference signals.").only_with("format", up),
      boolean("dynamic_beta", &c::dynamic_beta, "DCIs name the beta offsets of UCI.").only_with("format", up),
      integer(
          "least_bits", &c::least_bits, 0, 140,
          "With supplementary_uplink: the size of the longer 0_1 of the cell's two carriers, to which the "
          "other is padded.")
          .only_with("format", up),
      boolean("interleaved", &c::interleaved, "PDSCH may have interleaved resource blocks.")
          .only_with("format", down),
      boolean("dynamic_bundling", &c::dynamic_bundling, "DCIs name the size of PRB bundles.")
          .only_with("format", down),
      integer("rate_match_groups", &c::rate_match_groups, 0, 2, "Groups of rate-matching patterns.")
          .only_with("format", down),
      integer("zp_csi_rs_sets", &c::zp_csi_rs_sets, 0, 3, "Sets of aperiodic CSI-RS without power.")
          .only_with("format", down),
      one_of("codewords", &c::codewords, {1, 2}, "Most codewords of a PDSCH.").only_with("format", down),
      boolean("several_cells", &c::several_cells, "With dynamic_harq: there are several downlink cells.")
          .only_with("format", down),
      integer("harq_delays", &c::harq_delays, 1, 8, "Entries of dl-DataToUL-ACK.").only_with("format", down),
      boolean("tci", &c::tci, "DCIs name a TCI state.").only_with("format", down),
      boolean("flush_indicator", &c::flush_indicator, "With code_block_groups: a bit for flushing.")
          .only_with("format", down)};
  return settings;
}

void check(const nr_dci_config& c) {
  check_settings(nr_dci_settings(), c);
  const auto only = [](const char* name, bool wrong, const std::string& value, const char* allowed) {
    if (wrong) throw argument_error(name, value, allowed);
  };
  const bool plain = c.use == nr_dci_use::c_rnti;
  static constexpr const char* uses[] = {"c-rnti", "tc-rnti", "si-rnti", "ra-rnti", "p-rnti", "order"};
  const std::string use = std::string("\"") + uses[static_cast<std::size_t>(c.use)] + '"';
  only("use", !is_fallback(c.format) && !plain, use, "\"c-rnti\" with formats 0_1 and 1_1");
  only("use", c.format == nr_dci_format::f0_0 && !plain && c.use != nr_dci_use::tc_rnti, use,
       "\"c-rnti\" or \"tc-rnti\" with format 0_0");
  only("common_search_space",
       is_fallback(c.format) && !c.common_search_space && !plain && c.use != nr_dci_use::order, "false",
       "true without C-RNTI");
  only("codebook_subset",
       c.codebook && c.antenna_ports == 2 && c.codebook_subset == nr_codebook_subset::partial, "\"partial\"",
       "\"full\" or \"non-coherent\" with two antenna ports");
  only("max_layers", c.codebook && c.max_layers > c.antenna_ports, std::to_string(c.max_layers),
       "up to antenna_ports with codebook");
  only("srs_resources", c.codebook && c.srs_resources > 2, std::to_string(c.srs_resources),
       "1 or 2 with codebook");
  only("least_bits", c.least_bits != 0 && !c.supplementary_uplink, std::to_string(c.least_bits),
       "0 without supplementary_uplink");
  only("dmrs_type", c.transform_precoding && c.dmrs_type == 2, "2", "1 with transform_precoding");
  only("second_dai", c.second_dai && !c.dynamic_harq, "true", "false without dynamic_harq");
  only("several_cells", c.several_cells && !c.dynamic_harq, "true", "false without dynamic_harq");
  only("flush_indicator", c.flush_indicator && c.code_block_groups == 0, "true",
       "false without code_block_groups");
  only("code_block_groups", c.codewords == 2 && c.code_block_groups > 4, std::to_string(c.code_block_groups),
       "0, 2 or 4 with two codewords");
}

std::vector<nr_dci_field> nr_dci_fields(const nr_dci_config& c) {
  check(c);
  field_list list;
  switch (c.format) {
    case nr_dci_format::f0_0:
      add_0_0(c, list);
      break;
    case nr_dci_format::f0_1:
      add_0_1(c, list);
      break;
    case nr_dci_format::f1_0:
      add_1_0(c, list);
      break;
    case nr_dci_format::f1_1:
      add_1_1(c, list);
      break;
  }
  if (!is_fallback(c.format)) {
    const int bits = list.bits(),
              padded = c.format == nr_dci_format::f0_1 ? std::max(bits, c.least_bits) : bits;
    list.add("padding", padded - bits + (padded == c.fallback_bits ? 1 : 0), 0);
  }
  return list.fields;
}

int nr_dci_bits(const nr_dci_config& c) { return bits_of(nr_dci_fields(c)); }

std::vector<std::uint8_t> nr_dci_encode(const nr_dci_config& c, const std::vector<int>& values) {
  const std::vector<nr_dci_field> fields = nr_dci_fields(c);
  const auto count = static_cast<std::size_t>(
      std::count_if(fields.begin(), fields.end(), [](const nr_dci_field& f) { return !f.fixed; }));
  if (values.size() != count)
    throw argument_error("values", std::to_string(values.size()) + " values", std::to_string(count));
  std::vector<std::uint8_t> bits;
  std::size_t next = 0;
  for (const nr_dci_field& f : fields) {
    const int value = f.fixed ? *f.fixed : values[next++];
    if (!f.fixed) check_range(f.name.c_str(), value, 0, (1 << f.bits) - (may_mark_order(c, f) ? 2 : 1));
    put_bits(bits, value, f.bits);
  }
  return bits;
}

std::optional<std::vector<int>> nr_dci_decode(const nr_dci_config& c, std::span<const std::uint8_t> bits) {
  const std::vector<nr_dci_field> fields = nr_dci_fields(c);
  const auto size = as_size(bits_of(fields));
  if (bits.size() != size)
    throw argument_error("bits", std::to_string(bits.size()) + " bits", std::to_string(size));
  for (const int b : bits) check_range("bits", b, 0, 1);
  std::vector<int> values;
  std::size_t first = 0;
  for (const nr_dci_field& f : fields) {
    int value = 0;
    for (int i = 0; i < f.bits; i++) value = 2 * value + bits[first++];
    const bool is_mark = f.name == "identifier" || f.name == "frequency_domain";
    if (f.fixed && is_mark && value != *f.fixed) return std::nullopt;
    if (may_mark_order(c, f) && value == (1 << f.bits) - 1) return std::nullopt;
    if (!f.fixed) values.push_back(value);
  }
  return values;
}

int nr_resource_indication(int first_block, int blocks, int n) {
  check_range("n", n, 1, nr_most_blocks);
  check_range("first_block", first_block, 0, n - 1);
  check_range("blocks", blocks, 1, n - first_block);
  return blocks - 1 <= n / 2 ? n * (blocks - 1) + first_block : n * (n - blocks + 1) + n - 1 - first_block;
}

std::optional<nr_block_range> nr_block_range_of(int value, int n) {
  check_range("n", n, 1, nr_most_blocks);
  // A value beyond the last one is invalid. Some of these decode to the blocks of another value.
  if (value < 0 || value >= n * (n + 1) / 2) return std::nullopt;
  nr_block_range r{value % n, value / n + 1};
  if (r.first_block + r.blocks > n) {
    r.first_block = n - 1 - r.first_block;
    r.blocks = n - r.blocks + 2;
  }
  if (r.blocks < 1 || r.first_block + r.blocks > n) return std::nullopt;
  return r;
}

std::optional<std::vector<int>> nr_dci_blocks(const nr_dci_config& c, int value, int hopping_bits) {
  int bits = 0;
  for (const nr_dci_field& f : nr_dci_fields(c))
    if (f.name == "frequency_domain") bits = f.bits;
  check_range("frequency_domain", value, 0, (1 << bits) - 1);
  const int n = dci_blocks(c);
  check_range("hopping_bits", hopping_bits, 0, 2);
  if (hopping_bits > 0 && (!is_uplink(c.format) ||
                           (c.format == nr_dci_format::f0_1 && c.allocation == nr_dci_allocation::type_0)))
    throw argument_error("hopping_bits", std::to_string(hopping_bits), "0 but for PUSCH of type 1");
  bool type_0 = !is_fallback(c.format) && c.allocation == nr_dci_allocation::type_0;
  if (!is_fallback(c.format) && c.allocation == nr_dci_allocation::both) {
    type_0 = value >> (bits - 1) == 0;
    value &= (1 << (bits - 1)) - 1;
  }
  // The allocation has the lowest bits: of a field for both types, those of its type.
  const int type_bits = type_0 ? dci_groups(c) : std::min(bits, type_1_bits(n));
  value &= (1 << std::max(type_bits - (type_0 ? 0 : hopping_bits), 0)) - 1;
  std::vector<int> blocks;
  if (type_0) {
    const int groups = dci_groups(c), size = group_size(n, c.rbg_configuration);
    for (int b = 0; b < n; b++) {
      const int group = (c.first_resource_block % size + b) / size;
      if ((value >> (groups - 1 - group) & 1) != 0) blocks.push_back(b);
    }
    if (blocks.empty()) return std::nullopt;
    return blocks;
  }
  const auto range = nr_block_range_of(value, n);
  if (!range) return std::nullopt;
  for (int i = 0; i < range->blocks; i++) blocks.push_back(range->first_block + i);
  return blocks;
}

int nr_si_dci_bits(int coreset_blocks) { return nr_dci_bits(si_format(coreset_blocks)); }

std::vector<std::uint8_t> nr_si_dci_encode(const nr_si_dci& d, int n) {
  check_si_dci(d, n);
  return nr_dci_encode(si_format(n), {nr_resource_indication(d.first_block, d.blocks, n), d.time_domain,
                                      d.interleaved ? 1 : 0, d.mcs, d.rv, d.other_information ? 1 : 0});
}

std::optional<nr_si_dci> nr_si_dci_decode(std::span<const std::uint8_t> bits, int n) {
  const auto values = nr_dci_decode(si_format(n), bits);
  const auto range = nr_block_range_of((*values)[0], n);
  if (!range) return std::nullopt;
  const std::vector<int>& v = *values;
  return nr_si_dci{.first_block = range->first_block,
                   .blocks = range->blocks,
                   .time_domain = v[1],
                   .interleaved = v[2] == 1,
                   .mcs = v[3],
                   .rv = v[4],
                   .other_information = v[5] == 1};
}

std::vector<int> nr_si_blocks(const nr_si_dci& d, int coreset_blocks) {
  check_si_dci(d, coreset_blocks);
  std::vector<int> found;
  for (int i = d.first_block; i < d.first_block + d.blocks; i++) found.push_back(i);
  if (!d.interleaved) return found;
  // CORESET 0 counts as a bandwidth part that begins with it.
  const std::vector<int> interleaved = nr_interleaved_blocks(0, coreset_blocks, 2);
  for (int& block : found) block = interleaved[as_size(block)];
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

nr_channel_config nr_si_channel(const nr_si_dci& dci, const nr_carrier& carrier, int dmrs_first_symbol,
                                const std::optional<pdcch_config>& coreset) {
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
  if (coreset && time.mapping == nr_mapping::type_b && time.first_symbol >= coreset->first_symbol)
    c.dmrs.delay = std::max(coreset->first_symbol + coreset->symbols - time.first_symbol, 0);
  c.rnti = nr_si_rnti;
  return completed(c);
}

std::vector<nr_reserved> nr_pdcch_reserved(const pdcch_config& coreset, int first_cce) {
  std::vector<nr_reserved> parts;
  for (const int g : pdcch_groups(coreset, first_cce))
    parts.push_back(
        {.first_block = g / coreset.symbols, .first_symbol = coreset.first_symbol + g % coreset.symbols});
  return parts;
}

}  // namespace wb
