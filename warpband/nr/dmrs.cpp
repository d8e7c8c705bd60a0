#include <warpband/nr/dmrs.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/fec/nr/scrambling.hpp>

namespace wb {
namespace {

using positions = std::vector<int>;  // behind l0

/// Additional positions of single symbols, mapping type A: all four numbers of them by the length.
positions single_a(int length, int more) {
  if (more == 0 || length < 8) return {};
  if (length < 10) return {7};
  if (more == 1) return {length < 13 ? 9 : 11};
  if (length < 12) return {6, 9};
  if (more == 3) return {5, 8, 11};
  return length == 12 ? positions{6, 9} : positions{7, 11};
}
positions single_b_uplink(int length, int more) {
  if (more == 0 || length < 5) return {};
  if (length < 8) return {4};
  const int last = length < 10 ? 6 : length < 12 ? 8 : 10;
  if (more == 1) return {last};
  if (length < 10) return {3, 6};
  if (more == 3) return {3, 6, 9};
  return {last / 2, last};
}
positions single_b_downlink(int length, int more, int delay) {
  if (more == 0 || length < 5) return {};
  if (length == 7 && delay > 0) return delay == 1 ? positions{5} : positions{};
  if (length < 8) return {4};
  const int last = length == 8 ? 6 : length < 11 ? 7 : length == 11 ? 8 : 9;
  if (more == 1) return {last};
  if (more == 3 && length > 10) return {3, 6, 9};
  return {length == 8 ? 3 : length < 12 ? 4 : 5, last};
}
/// Of double symbols.
positions double_a(int length, int more) {
  if (more == 0 || length < 10) return {};
  return {length < 13 ? 8 : 10};
}
positions double_b(nr_direction direction, int length, int more) {
  if (more == 0 || length < 8) return {};
  if (direction == nr_direction::uplink) return {length < 10 ? 5 : length < 12 ? 7 : 9};
  return {length < 10 ? 5 : length < 12 ? 7 : 8};
}

void check_length(nr_direction direction, nr_mapping mapping, int length, const nr_dmrs_config& d) {
  const bool a = mapping == nr_mapping::type_a, up = direction == nr_direction::uplink;
  const int least = d.length == 2 ? (a ? 4 : 5)
                    : a           ? (up ? 4 : 3)
                                  : (up ? 1 : 2),
            greatest = a || up ? 14 : 13;
  if (length < least || length > greatest)
    throw argument_error("symbols", std::to_string(length),
                         std::to_string(least) + " to " + std::to_string(greatest) + " with this DMRS");
  if (a && length < 5 && d.first_symbol != 2)
    throw argument_error("dmrs_first_symbol", std::to_string(d.first_symbol),
                         "2 with an allocation of up to symbol " + std::to_string(length - 1));
}

/// DMRS behind a CORESET, §7.4.1.1.2.
void check_dmrs_delay(nr_direction direction, nr_mapping mapping, int symbols, const nr_dmrs_config& d) {
  if (d.delay == 0) return;
  const int greatest = direction == nr_direction::uplink || mapping == nr_mapping::type_a ? 0
                       : symbols == 2                                                     ? 1
                       : symbols == 4                                                     ? 2
                       : symbols == 7                                                     ? 3
                                                                                          : 0;
  if (d.delay > greatest - (d.length - 1))
    throw argument_error("dmrs_delay", std::to_string(d.delay),
                         "0 to " + std::to_string(std::max(greatest - (d.length - 1), 0)) +
                             " with this allocation: up to 1, 2 or 3 with mapping B of PDSCH on 2, 4 or 7 "
                             "symbols, one less with dmrs_length = 2");
}

}  // namespace

float nr_dmrs_config::beta() const noexcept { return std::sqrt(static_cast<float>(cdm_groups)); }

const std::vector<setting_of<nr_dmrs_config>>& nr_dmrs_settings() {
  using c = nr_dmrs_config;
  static const std::vector<setting_of<c>> settings{
      one_of("dmrs_type", &c::type, {1, 2}, "DMRS configuration type: every second subcarrier, or pairs."),
      one_of("dmrs_length", &c::length, {1, 2}, "OFDM symbols of DMRS side by side."),
      integer("dmrs_additional_positions", &c::additional_positions, 0, 3,
              "Positions of DMRS behind the first; fewer where the allocation is short. Double symbols have "
              "one at most."),
      one_of("dmrs_first_symbol", &c::first_symbol, {2, 3},
             "Symbol of the first DMRS in the slot with mapping type A."),
      integer("dmrs_cdm_groups", &c::cdm_groups, 1, 3,
              "CDM groups without data: in symbols with DMRS the resource elements of the first so many "
              "groups carry none, and DMRS have their power. Type 1 has two groups."),
      integers("dmrs_ports", &c::ports, 0, 11,
               "DMRS port of each layer, without the 1000 of PDSCH. Left out: 0, 1, ...",
               "a list of ports, each once: 0..3 (type 1) or 0..5 (type 2), double symbols 0..7 or 0..11"),
      one_of("dmrs_scid", &c::scid, {0, 1}, "n_SCID, which of the two identities the sequence has."),
      integers("dmrs_ids", &c::ids, 0, 65535, "N_ID^0 and N_ID^1 of the sequence. Left out: the cell's.",
               "a list of two integers from 0 to 65535"),
      words("dmrs_hopping", &c::hopping,
            {{"none", nr_dmrs_hopping::none},
             {"group", nr_dmrs_hopping::group},
             {"sequence", nr_dmrs_hopping::sequence}},
            "With transform_precoding: whether the group u or, from 12 resource blocks on, the sequence v of "
            "DMRS hops from symbol to symbol.")
          .left_out_by_default(),
      integer("dmrs_low_papr_id", &c::low_papr_id, 0, 1007,
              "With transform_precoding: n_ID^RS of DMRS. Absent: the cell's.")
          .left_out_by_default(),
      integer("dmrs_delay", &c::delay, 0, 3,
              "Symbols by which DMRS begin later, as a CORESET has the allocation's first symbols: PDSCH of "
              "mapping B on 2, 4 or 7 symbols.")
          .left_out_by_default()};
  return settings;
}

nr_dmrs_port nr_dmrs_port_of(int type, int port) noexcept {
  const int single = nr_dmrs_ports(type, 1), pair_port = port % single, group = pair_port / 2;
  return {.group = group,
          .first = type == 1 ? group : 2 * group,
          .frequency = pair_port % 2 == 0 ? 1 : -1,
          .time = port < single ? 1 : -1};
}

std::vector<int> nr_dmrs_symbols(nr_direction direction, nr_mapping mapping, int first, int symbols,
                                 const nr_dmrs_config& d) {
  const bool a = mapping == nr_mapping::type_a;
  // l_d: from the slot's first symbol with type A, else from the allocation's.
  const int length = a ? first + symbols : symbols, more = d.additional_positions;
  check_length(direction, mapping, length, d);
  check_dmrs_delay(direction, mapping, symbols, d);
  if (d.length == 2 && more > 1)
    throw argument_error("dmrs_additional_positions", std::to_string(more), "0 or 1 with dmrs_length = 2");
  if (a && more == 3 && d.first_symbol != 2)
    throw argument_error("dmrs_additional_positions", "3", "0 to 2 with dmrs_first_symbol = 3");
  if (a && direction == nr_direction::uplink && first != 0)
    throw argument_error("first_symbol", std::to_string(first), "0 with mapping A of PUSCH");
  if (a && first > d.first_symbol)
    throw argument_error("first_symbol", std::to_string(first),
                         "0 to dmrs_first_symbol = " + std::to_string(d.first_symbol) + " with mapping A");
  const positions behind = d.length == 2 ? a ? double_a(length, more) : double_b(direction, length, more)
                           : a ? single_a(length, more)
                           : direction == nr_direction::uplink ? single_b_uplink(length, more)
                                                               : single_b_downlink(length, more, d.delay);
  std::vector<int> starts{a ? d.first_symbol : first + d.delay};
  for (const int p : behind) starts.push_back(a ? p : first + p);
  std::vector<int> found;
  for (const int p : starts)
    for (int i = 0; i < d.length; i++) found.push_back(p + i);
  return found;
}

std::int64_t nr_dmrs_init(std::int64_t id, std::int64_t symbol, int scid) {
  return ((symbol + 1) * (2 * id + 1) * (1 << 17) + 2 * id + scid) % (std::int64_t{1} << 31);
}

std::int64_t nr_dmrs_init(const nr_carrier& carrier, int symbol, const nr_dmrs_config& d) {
  const std::int64_t id =
      d.ids.empty() ? carrier.cell_id : d.ids[static_cast<std::size_t>(d.scid) % d.ids.size()];
  return nr_dmrs_init(id, std::int64_t{carrier.symbols_per_slot()} * carrier.slot + symbol, d.scid);
}

nr_dmrs_group_number nr_low_papr_dmrs(const nr_carrier& carrier, int symbol, const nr_dmrs_config& d,
                                      int length) {
  const int id = d.low_papr_id.value_or(carrier.cell_id),
            number = carrier.symbols_per_slot() * carrier.slot + symbol;
  nr_dmrs_group_number g{id % 30, 0};
  if (d.hopping == nr_dmrs_hopping::group) {
    const auto c = nr_scrambling_sequence(id / 30, static_cast<std::size_t>(8 * number + 8));
    int sum = 0;
    for (int m = 0; m < 8; m++) sum += c[static_cast<std::size_t>(8 * number + m)] << m;
    g.u = (sum + id) % 30;
  }
  if (d.hopping == nr_dmrs_hopping::sequence && length >= 72)
    g.v = nr_scrambling_sequence(id, static_cast<std::size_t>(number + 1)).back();
  return g;
}

std::vector<std::complex<float>> nr_dmrs_sequence(std::int64_t c_init, std::size_t n) {
  const std::vector<std::uint8_t> c = nr_scrambling_sequence(c_init, 2 * n);
  const float half = std::sqrt(0.5f);
  std::vector<std::complex<float>> r(n);
  for (std::size_t m = 0; m < n; m++) r[m] = {c[2 * m] ? -half : half, c[2 * m + 1] ? -half : half};
  return r;
}

}  // namespace wb
