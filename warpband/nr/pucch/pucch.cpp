#include <warpband/nr/pucch/pucch.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>
#include <string>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/core/overlap.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/core/status.hpp>
#include <warpband/exec/take_part.hpp>
#include <warpband/fec/nr/scrambling.hpp>
#include <warpband/nr/beta_law.hpp>
#include <warpband/nr/dmrs.hpp>
#include <warpband/nr/pucch/pucch_filters.hpp>

namespace wb {

WB_DECLARE_KERNEL(pucch_tones)
WB_DECLARE_KERNEL(pucch_equalise)
WB_DECLARE_KERNEL(pucch_decide)
WB_DECLARE_KERNEL(pucch_map)

namespace {

constexpr double pucch_pi = std::numbers::pi;
constexpr int pucch_common_blocks = 2200;  // common resource blocks that can be numbered

cx_pair pucch_pair(std::complex<double> z) {
  return {static_cast<float>(z.real()), static_cast<float>(z.imag())};
}
std::complex<double> pucch_turn(double turns) { return std::polar(1., 2 * pucch_pi * turns); }

std::vector<cx_pair> pucch_units(int period) {
  std::vector<cx_pair> units;
  for (int k = 0; k < period; k++) units.push_back(pucch_pair(pucch_turn(static_cast<double>(k) / period)));
  return units;
}

bool is_tone(const pucch_config& c) { return c.format <= 1; }

/// Sequences of formats 0 and 1, [slots, S, 12].
std::vector<cx_pair> tone_sequences(const pucch_config& c, const pucch_shape& s) {
  std::vector<cx_pair> table;
  for (int slot = 0; slot < s.slots; slot++) {
    const std::vector<int> shifts = nr_pucch_shifts(c.hopping_id, slot);
    for (int h = 0; h < s.hops; h++) {
      const pucch_group group = nr_pucch_group(c.group_hopping, c.hopping_id, slot, h);
      const auto r = nr_low_papr_sequence(12, group.u, group.v);
      const int first = s.hop[h].first, last = first + s.hop[h].symbols;
      for (int l = first; l < last; l++) {
        const int shift = c.initial_cyclic_shift + shifts[as_size(c.first_symbol + l)];
        double code = 0;
        if (c.format == 1) {
          int kind[2] = {0, 0}, before = 0;  // symbols of the hop with DMRS, with data; those before this one
          for (int i = first; i < last; i++) kind[i % 2]++, before += i < l && i % 2 == l % 2;
          code = pucch_code_turns(kind[l % 2], c.occ, before);
        }
        for (int k = 0; k < 12; k++)
          table.push_back(pucch_pair(r[as_size(k)] * pucch_turn(code + shift * k % 12 / 12.)));
      }
    }
  }
  return table;
}

/// DMRS of formats 2 to 4, [slots, pilot symbols, P].
std::vector<cx_pair> pucch_pilots(const pucch_config& c, const pucch_shape& s) {
  std::vector<cx_pair> table;
  for (int slot = 0; slot < s.slots; slot++) {
    if (c.format == 2) {
      for (int l = 0; l < s.symbols; l++) {
        const int first = 4 * (c.hopping && l == 1 ? c.second_hop_prb : c.first_prb);
        const auto sequence = nr_dmrs_sequence(nr_dmrs_init(c.dmrs_id, 14 * slot + c.first_symbol + l, 0),
                                               as_size(first + 4 * c.prbs));
        for (auto r = sequence.begin() + first; r != sequence.end(); ++r)
          table.push_back({r->real(), r->imag()});
      }
      continue;
    }
    constexpr int shift_of_code[4] = {0, 6, 3, 9};
    const int initial = c.format == 4 ? shift_of_code[c.occ] : 0;
    const std::vector<int> shifts = nr_pucch_shifts(c.hopping_id, slot);
    for (int h = 0; h < s.hops; h++) {
      const pucch_group group = nr_pucch_group(c.group_hopping, c.hopping_id, slot, h);
      const auto r = nr_low_papr_sequence(s.subcarriers, group.u, group.v);
      for (int t = 0; t < s.hop[h].pilots; t++) {
        const int l = s.pilot_symbols[as_size(s.hop[h].first_pilot + t)],
                  shift = initial + shifts[as_size(c.first_symbol + l)];
        for (int k = 0; k < s.subcarriers; k++)
          table.push_back(pucch_pair(r[as_size(k)] * pucch_turn(shift * k % 12 / 12.)));
      }
    }
  }
  return table;
}

/// Format 4's code, or its conjugate: 1 for other formats.
std::vector<cx_pair> pucch_codes(const pucch_config& c, bool conjugate) {
  std::vector<cx_pair> codes;
  for (int k = 0; k < 12; k++) {
    const double turns =
        c.format != 4 ? 0 : static_cast<double>(c.occ * (k / (12 / c.spreading))) / c.spreading;
    codes.push_back(pucch_pair(pucch_turn(conjugate ? turns : -turns)));
  }
  return codes;
}

std::vector<float> pucch_signs(const pucch_config& c, const pucch_shape& s) {
  std::vector<float> signs;
  for (const std::uint8_t bit :
       nr_scrambling_sequence((std::int64_t{c.rnti} << 15) + c.scrambling_id, as_size(s.coded_bits)))
    signs.push_back(bit != 0 ? -1.f : 1.f);
  return signs;
}

/// By the bits of a message, the first one in bit 0: what formats 0 and 1 send. m_cs, or -1 for nothing.
struct pucch_messages {
  std::vector<std::int32_t> shifts;
  std::vector<cx_pair> symbols;
};
pucch_messages messages_of(const pucch_config& c, const pucch_shape& s) {
  pucch_messages sent;
  const double half = std::sqrt(0.5);
  for (int m = 0; m < 1 << s.bits; m++) {
    const int first = m & 1, second = m >> 1 & 1;
    const bool request = c.scheduling_request && (m >> c.bits & 1) != 0;
    constexpr int of_two[2][2] = {{0, 3}, {9, 6}};  // TS 38.213 tables 9.2.3-3 and -4
    int shift = c.bits == 0 ? 0 : c.bits == 1 ? 6 * first : of_two[first][second];
    if (request && c.bits > 0) shift += c.bits == 1 ? 3 : 1;
    if (c.bits == 0 && !request) shift = -1;
    sent.shifts.push_back(shift);
    const int b = c.bits == 0 ? 0 : first;
    sent.symbols.push_back(
        pucch_pair({b != 0 ? -half : half, (c.bits == 2 ? second : b) != 0 ? -half : half}));
  }
  return sent;
}

/// L, the bits of CRC of a message.
int pucch_crc_bits(int bits) { return bits < 12 ? 0 : bits < 20 ? 6 : 11; }

/// Probability that noise passes the CRC of one of the decoder's paths; 1 without a CRC.
double passes_crc(int bits, int list_size) {
  if (bits < 12) return 1;
  return std::min(1., list_size * std::ldexp(1., -pucch_crc_bits(bits)));
}
/// What the metric of a message, or of a part, has to exceed: noise has any direction in `elements` complex
/// dimensions of each antenna.
double coded_threshold(const pucch_config& c, int bits, double elements) {
  if (c.false_alarm >= passes_crc(bits, c.list_size)) return 0;
  const double cosine =
      cosine_exceeded_by(std::log(c.false_alarm) - bits * std::numbers::ln2, 2 * c.antennas * elements);
  return cosine * cosine;
}

/// The parts of a message, each with its bits and coded bits.
struct pucch_part {
  const char* setting;
  int bits, coded_bits;
  bool is_short() const { return bits <= 11; }
  short_block_config short_block() const { return {.k = bits, .coded_bits = coded_bits}; }
  polar_config polar() const { return {.kind = polar_kind::uci, .k = bits, .coded_bits = coded_bits}; }
};
std::vector<pucch_part> pucch_parts(const pucch_config& c, const pucch_shape& s) {
  if (c.csi2_bits == 0) return {{"bits", c.bits, s.coded_bits}};
  return {{"bits", c.bits, s.first_coded_bits},
          {"csi2_bits", c.csi2_bits, s.coded_bits - s.first_coded_bits}};
}

/// Bits of a modulated symbol.
int pucch_modulation_order(const pucch_config& c) { return c.format >= 3 && c.pi2_bpsk ? 1 : 2; }

/// G1. Code rates are whole hundredths.
int pucch_first_coded_bits(const pucch_config& c, int coded_bits) {
  constexpr int hundredths[] = {8, 15, 25, 35, 45, 60, 80};
  const auto* rate = std::find_if(std::begin(hundredths), std::end(hundredths),
                                  [&](int h) { return std::abs(c.max_code_rate - h / 100.) < 1e-9; });
  if (rate == std::end(hundredths))
    throw argument_error("max_code_rate", decimal(c.max_code_rate),
                         "0.08, 0.15, 0.25, 0.35, 0.45, 0.6 or 0.8");
  const int order = pucch_modulation_order(c), per_symbol = *rate * order,
            wanted = 100 * (c.bits + pucch_crc_bits(c.bits));
  return std::min(coded_bits, order * ((wanted + per_symbol - 1) / per_symbol));
}

/// Modulated symbols of a data symbol, formats 3 and 4.
int pucch_elements_of(const pucch_config& c, const pucch_shape& s) {
  return s.coded_bits / pucch_modulation_order(c) / static_cast<int>(s.data_symbols.size());
}
/// Those of part 1 in each data symbol.
std::vector<std::int32_t> pucch_shares(const pucch_config& c, const pucch_shape& s) {
  const int elements = pucch_elements_of(c, s);
  std::vector<int> distances;  // of each data symbol to the nearest DMRS
  for (const int l : s.data_symbols) {
    int nearest = 14;
    for (const int p : s.pilot_symbols) nearest = std::min(nearest, std::abs(l - p));
    distances.push_back(nearest);
  }
  std::vector<std::int32_t> shares(distances.size());
  int rest = s.first_coded_bits / pucch_modulation_order(c);
  for (int distance = 1; rest > 0; distance++) {
    const int symbols = static_cast<int>(std::count(distances.begin(), distances.end(), distance)),
              here = std::min(rest, symbols * elements);
    for (std::size_t d = 0, before = 0; d < distances.size(); d++)
      if (distances[d] == distance)
        shares[d] = here / symbols + (static_cast<int>(before++) < here % symbols ? 1 : 0);
    rest -= here;
  }
  return shares;
}
/// Of each bit in the order in which it is sent: its number among the coded bits of part 1 and then part 2.
std::vector<std::int32_t> pucch_order(const pucch_config& c, const pucch_shape& s) {
  std::vector<std::int32_t> order(as_size(s.coded_bits));
  std::iota(order.begin(), order.end(), 0);
  if (c.csi2_bits == 0) return order;
  const int per_element = pucch_modulation_order(c), elements = pucch_elements_of(c, s);
  std::int32_t first = 0, second = s.first_coded_bits;
  std::size_t n = 0;
  for (const int share : pucch_shares(c, s))
    for (int bit = 0; bit < elements * per_element; bit++)
      order[n++] = bit < share * per_element ? first++ : second++;
  return order;
}

void check_slots(const std::vector<int>& slots, std::size_t occasions, int count) {
  if (slots.size() != occasions)
    throw shape_error("slots", std::to_string(slots.size()) + " slots",
                      "one for each of " + std::to_string(occasions) + " occasions");
  for (const int slot : slots) check_range("slots", slot, 0, count - 1);
}

/// Elements first.. of a view.
template <class T>
view<T> pucch_elements(view<T> v, std::size_t first, std::size_t count) {
  v.data += first * v.element_stride;
  v.elements = count;
  return v;
}

/// Items first.. of a view, if it has data.
template <class View>
View pucch_items(View v, std::size_t first, std::size_t count) {
  if (v.data != nullptr) v.data += first * v.item_stride;
  v.items = count;
  return v;
}

}  // namespace

const std::vector<setting_of<pucch_config>>& pucch_settings() {
  using c = pucch_config;
  static const std::vector<setting_of<c>> settings{
      one_of("format", &c::format, {0, 1, 2, 3, 4}, "PUCCH format."),
      one_of("spacing_khz", &c::spacing_khz, {15, 30, 60, 120},
             "Subcarrier spacing in kHz. A frame has 10 spacing_khz / 15 slots."),
      integer("first_symbol", &c::first_symbol, 0, 13, "Its first symbol in the slot."),
      integer("symbols", &c::symbols, 1, 14, "Symbols: 1 or 2 with formats 0 and 2, else 4 to 14."),
      integer("first_prb", &c::first_prb, 0, pucch_common_blocks - 1,
              "Of format 2: its lowest resource block, counted from common resource block 0."),
      integer("prbs", &c::prbs, 1, 16,
              "Resource blocks: any number with format 2, a product of 2, 3 and 5 with format 3, else 1."),
      boolean("hopping", &c::hopping, "Frequency hopping within the slot."),
      integer("second_hop_prb", &c::second_hop_prb, 0, pucch_common_blocks - 1,
              "Of format 2 with hopping: the lowest resource block of the second hop."),
      words("group_hopping", &c::group_hopping,
            {{"neither", pucch_hopping::neither},
             {"enable", pucch_hopping::enable},
             {"disable", pucch_hopping::disable}},
            "pucch-GroupHopping, of formats 0, 1, 3 and 4: \"enable\" hops between groups, \"disable\" "
            "between sequences."),
      integer("hopping_id", &c::hopping_id, 0, 1023,
              "hoppingId or the cell's identity, of formats 0, 1, 3 and 4."),
      integer("initial_cyclic_shift", &c::initial_cyclic_shift, 0, 11, "Of formats 0 and 1."),
      integer(
          "occ", &c::occ, 0, 6,
          "Index of the orthogonal code: of format 1 less than the data symbols of a hop, of format 4 less "
          "than spreading."),
      one_of("spreading", &c::spreading, {2, 4}, "Spreading factor of format 4."),
      boolean("additional_dmrs", &c::additional_dmrs,
              "Of formats 3 and 4: four DMRS symbols from 10 symbols on."),
      boolean("pi2_bpsk", &c::pi2_bpsk, "Of formats 3 and 4: pi/2-BPSK in place of QPSK."),
      integer("rnti", &c::rnti, 0, 65535, "Of formats 2 to 4, for the scrambling."),
      integer("scrambling_id", &c::scrambling_id, 0, 1023,
              "Of formats 2 to 4: dataScramblingIdentityPUSCH or "
              "the cell's identity."),
      integer("dmrs_id", &c::dmrs_id, 0, 65535, "Of format 2: scramblingID0 or the cell's identity."),
      integer(
          "bits", &c::bits, 0, 1706,
          "HARQ-ACK bits 0 to 2 of formats 0 and 1; with formats 2 to 4 the bits of UCI, from 3 on, without "
          "CSI part 2."),
      integer("csi2_bits", &c::csi2_bits, 0, 1706,
              "Bits of CSI part 2, formats 3 and 4, from 3 on; 0: there is none."),
      number("max_code_rate", &c::max_code_rate, 0.08, 0.8,
             "maxCodeRate of the other bits beside CSI part 2: 0.08, 0.15, 0.25, 0.35, 0.45, 0.6 or 0.8."),
      boolean("scheduling_request", &c::scheduling_request,
              "The message's last bit is a scheduling request: with format 0, or format 1 with bits = 0."),
      integer("antennas", &c::antennas, 1, 64, "Receive antennas."),
      number("false_alarm", &c::false_alarm, 1e-9, 0.5,
             "Bound of the probability that white noise alone gives a message."),
      one_of("list_size", &c::list_size, {1, 2, 4, 8, 16, 32},
             "Paths of the polar decoder, from 12 bits on."),
      number(
          "max_delay_us", &c::max_delay_us, 0.01, 10,
          "Largest delay of the channel that formats 2 to 4 expect, at most 560 / spacing_khz; with format 2 "
          "a third of that. Left out: 30 / spacing_khz, at most 2."),
      number("max_doppler_hz", &c::max_doppler_hz, 0, 5000,
             "Largest Doppler shift that formats 2 to 4 expect.")};
  return settings;
}

const std::vector<setting_of<pucch_config>>& pucch_generator_settings() {
  static const std::vector<setting_of<pucch_config>> settings = [] {
    const auto& of_detector = pucch_settings();
    const auto detection = std::find_if(of_detector.begin(), of_detector.end(),
                                        [](const auto& s) { return s.name == "antennas"; });
    return std::vector(of_detector.begin(), detection);
  }();
  return settings;
}

pucch_shape shape_of(const pucch_config& c) {
  check_settings(pucch_settings(), c);
  const std::string with = " with format = " + std::to_string(c.format);
  const bool is_short = c.format == 0 || c.format == 2;
  const auto need = [](bool holds, const char* argument, int value, const std::string& allowed) {
    if (!holds) throw argument_error(argument, std::to_string(value), allowed);
  };
  need(is_short ? c.symbols <= 2 : c.symbols >= 4, "symbols", c.symbols,
       (is_short ? "1 or 2" : "4 to 14") + with);
  need(c.first_symbol + c.symbols <= 14, "first_symbol", c.first_symbol,
       "0 to " + std::to_string(14 - c.symbols) + " with symbols = " + std::to_string(c.symbols));
  if (c.hopping && c.symbols == 1) throw argument_error("hopping", "true", "false with symbols = 1");
  if (c.format == 3) {
    int rest = c.prbs;
    for (const int p : {2, 3, 5})
      while (rest % p == 0) rest /= p;
    need(rest == 1, "prbs", c.prbs, "a product of 2, 3 and 5" + with);
  } else if (c.format != 2) {
    need(c.prbs == 1, "prbs", c.prbs, "1" + with);
  } else {
    const int last = pucch_common_blocks - c.prbs;
    const std::string blocks = "0 to " + std::to_string(last) + " with prbs = " + std::to_string(c.prbs);
    need(c.first_prb <= last, "first_prb", c.first_prb, blocks);
    need(!c.hopping || c.second_hop_prb <= last, "second_hop_prb", c.second_hop_prb, blocks);
  }
  if (!is_tone(c) && c.max_delay_us) {
    // Eigenvalues become equal as the delays' range nears the period in which pilots resolve delays. Signal
    // and noise could then not be told apart.
    const double range = 1.25e-3 * c.spacing_khz * (c.format == 2 ? 3 : 1);
    if (*c.max_delay_us * range > 0.7)
      throw argument_error("max_delay_us", decimal(*c.max_delay_us),
                           "at most " + decimal(std::floor(700 / range) / 1000) +
                               " with spacing_khz = " + std::to_string(c.spacing_khz));
  }

  pucch_shape s;
  s.slots = 10 * c.spacing_khz / 15;
  s.subcarriers = 12 * c.prbs;
  s.symbols = c.symbols;
  s.bits = c.bits + (c.scheduling_request ? 1 : 0) + c.csi2_bits;
  s.hops = c.hopping ? 2 : 1;
  s.hop[0].symbols = c.hopping ? c.symbols / 2 : c.symbols;
  s.hop[1].first = s.hop[0].symbols;
  s.hop[1].symbols = c.symbols - s.hop[0].symbols;
  if (c.format == 2) {
    for (int l = 0; l < c.symbols; l++) s.pilot_symbols.push_back(l), s.data_symbols.push_back(l);
  } else if (c.format >= 3) {
    s.pilot_symbols = pucch_dmrs_symbols(c.symbols, c.hopping, c.additional_dmrs);
    for (int l = 0; l < c.symbols; l++)
      if (!std::binary_search(s.pilot_symbols.begin(), s.pilot_symbols.end(), l)) s.data_symbols.push_back(l);
  }
  for (const int l : s.pilot_symbols) s.hop[c.hopping && l >= s.hop[1].first ? 1 : 0].pilots++;
  s.hop[1].first_pilot = s.hop[0].pilots;
  const int data = static_cast<int>(s.data_symbols.size());
  if (c.format == 2) s.coded_bits = 16 * c.prbs * data;
  if (c.format >= 3)
    s.coded_bits = (c.pi2_bpsk ? 12 : 24) * c.prbs * data / (c.format == 4 ? c.spreading : 1);
  need(c.csi2_bits == 0 || (c.format >= 3 && c.csi2_bits >= 3), "csi2_bits", c.csi2_bits,
       c.format >= 3 ? "0, or 3 to 1706" : "0" + with);
  s.first_coded_bits = c.csi2_bits > 0 ? pucch_first_coded_bits(c, s.coded_bits) : s.coded_bits;

  if (c.format == 1) {
    const int codes = s.hop[0].symbols / 2;  // data symbols of the shorter hop
    need(c.occ < codes, "occ", c.occ,
         "0 to " + std::to_string(codes - 1) + " with symbols = " + std::to_string(c.symbols) +
             (c.hopping ? " and hopping" : ""));
  }
  if (c.format == 4)
    need(c.occ < c.spreading, "occ", c.occ,
         "0 to " + std::to_string(c.spreading - 1) + " with spreading = " + std::to_string(c.spreading));
  if (is_tone(c)) {
    need(c.bits <= 2, "bits", c.bits, "0 to 2" + with);
    need(s.bits > 0, "bits", c.bits, "1 or 2 without scheduling_request");
    if (c.format == 1 && c.scheduling_request)
      need(c.bits == 0, "bits", c.bits, "0 with scheduling_request" + with.substr(5));
  } else {
    need(c.bits >= 3, "bits", c.bits, "3 to 1706" + with);
    if (c.scheduling_request)
      throw argument_error("scheduling_request", "true", "false" + with + ", where bits count it");
    if (c.csi2_bits > 0 && s.first_coded_bits == s.coded_bits)
      throw argument_error("max_code_rate", decimal(c.max_code_rate),
                           "so high that the " + std::to_string(c.bits) + " other bits leave some of the " +
                               std::to_string(s.coded_bits) + " coded bits to CSI part 2");
    for (const pucch_part& p : pucch_parts(c, s)) try {
        if (p.is_short())
          check(p.short_block());
        else
          polar_code(p.polar());
      } catch (const argument_error&) {
        throw argument_error(p.setting, std::to_string(p.bits),
                             "so few that " + std::to_string(p.coded_bits) + " coded bits carry them");
      }
  }
  return s;
}

void check(const pucch_config& config) { shape_of(config); }

pucch_encoder::pucch_encoder(const pucch_config& c, const pucch_shape& s) {
  for (const pucch_part& p : pucch_parts(c, s)) {
    part& made = parts_.emplace_back(part{as_size(p.bits), as_size(p.coded_bits)});
    if (p.is_short())
      made.short_block.emplace(p.short_block());
    else
      made.polar.emplace(p.polar());
  }
}

void pucch_encoder::run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const {
  if (parts_.empty()) refuse_moved_from();
  std::size_t first = 0, first_coded = 0;
  for (const part& p : parts_) {
    const auto in = pucch_elements(bits, first, p.bits);
    const auto out = pucch_elements(coded, first_coded, p.coded_bits);
    if (p.short_block)
      p.short_block->run(exec, in, out);
    else
      p.polar->run(exec, in, out);
    first += p.bits, first_coded += p.coded_bits;
  }
}

pucch_generator::pucch_generator(const pucch_config& config)
    : config_(config), shape_(shape_of(config)), units_(pucch_units(shape_.subcarriers)) {
  const pucch_config& c = config_;
  codes_ = resident<cx_pair>(pucch_codes(c, false));
  if (is_tone(c)) {
    reference_ = resident<cx_pair>(tone_sequences(c, shape_));
    pucch_messages m = messages_of(c, shape_);
    shifts_ = resident<std::int32_t>(std::move(m.shifts));
    candidates_ = resident<cx_pair>(std::move(m.symbols));
    return;
  }
  reference_ = resident<cx_pair>(pucch_pilots(c, shape_));
  signs_ = resident<float>(pucch_signs(c, shape_));
  std::vector<std::int32_t> kinds(as_size(c.symbols));
  for (std::size_t i = 0; i < shape_.pilot_symbols.size(); i++)
    kinds[as_size(shape_.pilot_symbols[i])] = -1 - static_cast<std::int32_t>(i);
  for (std::size_t i = 0; i < shape_.data_symbols.size(); i++)
    kinds[as_size(shape_.data_symbols[i])] = static_cast<std::int32_t>(i);
  kinds_ = resident<std::int32_t>(std::move(kinds));
  order_ = resident<std::int32_t>(pucch_order(c, shape_));
  encoder_.emplace(c, shape_);
}

void pucch_generator::run(executor& exec, view<const std::uint8_t> bits, const std::vector<int>& slots,
                          view<std::complex<float>> values) const {
  reference_.check_held();
  const std::size_t occasions = bits.items, coded_bits = as_size(shape_.coded_bits);
  check_shape("bits", bits, occasions, as_size(shape_.bits));
  check_slots(slots, occasions, shape_.slots);
  check_shape("values", values, occasions, shape_.values());
  if (occasions == 0) return;
  std::byte* memory = workspace_.on(exec, occasions * (sizeof(std::int32_t) + coded_bits) + 128);
  auto* numbers = take_part<std::int32_t>(memory, occasions);
  exec.upload(numbers, slots.data(), sizeof(std::int32_t) * occasions);
  exec.sync();
  pucch_map_args a;
  a.slots = numbers;
  a.reference = reference_.on(exec);
  a.units = units_.on(exec), a.codes = codes_.on(exec);
  a.format = config_.format, a.symbols = shape_.symbols, a.subcarriers = shape_.subcarriers;
  a.pilot_count = config_.format == 2 ? 4 * config_.prbs : shape_.subcarriers;
  a.pilot_symbol_count = static_cast<std::int32_t>(shape_.pilot_symbols.size());
  a.bits = shape_.bits;
  a.spreading = config_.format == 4 ? config_.spreading : 1;
  a.one_bit = config_.format >= 3 && config_.pi2_bpsk;
  a.out = as_pairs(values);
  a.in = bits;
  if (is_tone(config_)) {
    a.shifts = shifts_.on(exec), a.candidates = candidates_.on(exec);
  } else {
    const auto coded =
        make_view(take_part<std::uint8_t>(memory, occasions * coded_bits), occasions, coded_bits);
    encoder_->run(exec, bits, coded);
    a.in = coded;
    a.symbol_kind = kinds_.on(exec), a.signs = signs_.on(exec), a.order = order_.on(exec);
  }
  exec.run(pucch_map_kernels(), &a, occasions);
}

pucch_detector::pucch_detector(const pucch_config& config)
    : config_(config), shape_(shape_of(config)), units_(pucch_units(shape_.subcarriers)) {
  const pucch_config& c = config_;
  const pucch_shape& s = shape_;
  if (is_tone(c)) {
    reference_ = resident<cx_pair>(tone_sequences(c, s));
    const pucch_messages m = messages_of(c, s);
    std::vector<std::int32_t> shifts, messages;
    std::vector<cx_pair> symbols;
    for (std::size_t i = 0; i < m.shifts.size(); i++) {
      if (m.shifts[i] < 0) continue;
      shifts.push_back(m.shifts[i]);
      symbols.push_back(m.symbols[i]);
      messages.push_back(static_cast<std::int32_t>(i));
    }
    const int signal_dimensions = c.antennas * (c.format == 0 ? s.symbols : s.hops);
    const beta_law law(signal_dimensions, 12. * s.symbols * c.antennas - signal_dimensions);
    threshold_ = law.share_exceeded_by(c.false_alarm / static_cast<double>(messages.size()));
    shifts_ = resident<std::int32_t>(std::move(shifts));
    messages_ = resident<std::int32_t>(std::move(messages));
    candidates_ = resident<cx_pair>(std::move(symbols));
    return;
  }
  reference_ = resident<cx_pair>(pucch_pilots(c, s));
  signs_ = resident<float>(pucch_signs(c, s));
  codes_ = resident<cx_pair>(pucch_codes(c, true));
  order_ = resident<std::int32_t>(pucch_order(c, s));
  for (const pucch_part& p : pucch_parts(c, s)) {
    decoder& made = decoders_.emplace_back(decoder{as_size(p.bits), as_size(p.coded_bits)});
    if (p.is_short())
      made.short_block.emplace(p.short_block());
    else
      made.polar.emplace(p.polar(), polar_decoder_config{.list_size = c.list_size});
  }
  encoder_.emplace(c, s);

  // Filters over frequency, whose delays may be a quarter early, and over the pilot symbols of each hop.
  const double delay = 1e-6 * c.max_delay_us.value_or(std::min(2., 30. / c.spacing_khz)),
               spacing = 1e3 * c.spacing_khz;
  std::vector<double> pilots_hz, subcarriers_hz;
  for (int k = 0; k < s.subcarriers; k++) {
    subcarriers_hz.push_back(k * spacing);
    if (c.format != 2 || k % 3 == 1) pilots_hz.push_back(k * spacing);
  }
  const int count = static_cast<int>(pilots_hz.size());
  const pucch_filter over_frequency = make_pucch_filter(pilots_hz, subcarriers_hz, 0.375 * delay,
                                                        1.25 * delay, 0.999, std::max(1, 3 * count / 4));
  const std::size_t ranks = over_frequency.gains.size();
  std::vector<cx_pair> analysis, synthesis;
  for (std::size_t p = 0; p < pilots_hz.size(); p++)
    for (std::size_t i = 0; i < ranks; i++) analysis.push_back(pucch_pair(over_frequency.analysis[i][p]));
  for (std::size_t k = 0; k < subcarriers_hz.size(); k++)
    for (std::size_t i = 0; i < ranks; i++) synthesis.push_back(pucch_pair(over_frequency.synthesis[i][k]));
  analysis_ = resident<cx_pair>(std::move(analysis));
  synthesis_ = resident<cx_pair>(std::move(synthesis));

  const std::size_t symbols = s.pilot_symbols.size();
  std::vector<float> time_analysis(4 * symbols), time_synthesis(4 * as_size(s.symbols)), gains, strong;
  double strong_gain = 0;
  int strong_count = 0;
  for (int h = 0; h < s.hops; h++) {
    const double symbol_s = 1e-3 * 15 / c.spacing_khz / 14;
    std::vector<double> pilot_times, times;
    for (int t = 0; t < s.hop[h].pilots; t++)
      pilot_times.push_back(s.pilot_symbols[as_size(s.hop[h].first_pilot + t)] * symbol_s);
    for (int l = 0; l < s.hop[h].symbols; l++) times.push_back((s.hop[h].first + l) * symbol_s);
    // A Doppler shift of 0 leaves one eigenvector.
    const pucch_filter f = make_pucch_filter(pilot_times, times, 0, 2 * c.max_doppler_hz, 2, 4);
    for (int j = 0; j < s.hop[h].pilots; j++) {
      const bool exists = as_size(j) < f.gains.size();
      for (int t = 0; exists && t < s.hop[h].pilots; t++)
        time_analysis[4 * as_size(s.hop[h].first_pilot + t) + as_size(j)] =
            static_cast<float>(f.analysis[as_size(j)][as_size(t)].real());
      for (int l = 0; exists && l < s.hop[h].symbols; l++)
        time_synthesis[4 * as_size(s.hop[h].first + l) + as_size(j)] =
            static_cast<float>(f.synthesis[as_size(j)][as_size(l)].real());
      for (const double g : over_frequency.gains) {
        const double gain = exists ? g * f.gains[as_size(j)] : 0;
        const bool strong_enough = gain >= 0.001 * count * s.hop[h].pilots;
        gains.push_back(static_cast<float>(gain));
        strong.push_back(strong_enough ? 1.f : 0.f);
        strong_gain += strong_enough ? gain : 0;
        strong_count += strong_enough ? 1 : 0;
      }
    }
  }
  equalise_.format = c.format, equalise_.symbols = s.symbols, equalise_.subcarriers = s.subcarriers;
  equalise_.pilot_count = count, equalise_.ranks = static_cast<std::int32_t>(ranks);
  equalise_.antennas = c.antennas;
  equalise_.pilot_symbol_count = static_cast<std::int32_t>(symbols);
  equalise_.data_symbol_count = static_cast<std::int32_t>(s.data_symbols.size());
  equalise_.hops = s.hops;
  equalise_.spreading = c.format == 4 ? c.spreading : 1;
  equalise_.one_bit = c.format >= 3 && c.pi2_bpsk;
  std::copy(s.hop, s.hop + 2, equalise_.hop);
  const int rows = c.antennas * equalise_.pilot_symbol_count,
            data_rows = c.antennas * equalise_.data_symbol_count,
            data_values = equalise_.data_symbol_count * s.subcarriers;
  pucch_offsets& o = equalise_.offsets;
  o.pilot_energies = 2 * rows * equalise_.ranks;
  o.paths = o.pilot_energies + rows;
  o.data_energies = o.paths + 2 * data_rows * equalise_.ranks;
  o.part_energies = o.data_energies + data_rows;
  o.norms = o.part_energies + 2 * equalise_.data_symbol_count;
  o.factors = o.norms + equalise_.data_symbol_count;
  o.levels = o.factors + equalise_.data_symbol_count;
  o.gains = o.levels + 2;
  o.values = o.gains + data_values;
  o.total = o.values + (c.format == 2 ? 0 : 2 * data_values);
  const double all_count = count * static_cast<double>(symbols), rest_gain = all_count - strong_gain,
               rest_count = all_count - strong_count, a = c.antennas;
  equalise_.strong_gain = static_cast<float>(a * strong_gain);
  equalise_.strong_count = static_cast<float>(a * strong_count);
  equalise_.rest_count = static_cast<float>(a * rest_count);
  const double determinant = a * (rest_count * strong_gain - strong_count * rest_gain);
  equalise_.noise_of_rest = static_cast<float>(strong_gain / determinant);
  equalise_.noise_of_found = static_cast<float>(rest_gain / determinant);

  std::vector<std::int32_t> numbers(s.pilot_symbols.begin(), s.pilot_symbols.end());
  numbers.insert(numbers.end(), s.data_symbols.begin(), s.data_symbols.end());
  symbols_ = resident<std::int32_t>(std::move(numbers));
  std::vector<float> filters = std::move(time_analysis);
  for (const auto* part : {&time_synthesis, &gains, &strong})
    filters.insert(filters.end(), part->begin(), part->end());
  filters_ = resident<float>(std::move(filters));

  if (c.csi2_bits > 0) shares_ = resident<std::int32_t>(pucch_shares(c, s));
  // Format 4 has each element on `spreading` of the inverse DFT's.
  const double elements = equalise_.spreading / static_cast<double>(pucch_modulation_order(c));
  threshold_ = coded_threshold(c, c.bits, elements * s.first_coded_bits);
  if (c.csi2_bits > 0)
    csi2_threshold_ = coded_threshold(c, c.csi2_bits, elements * (s.coded_bits - s.first_coded_bits));
}

void pucch_detector::run(executor& exec, view<const std::complex<float>> values,
                         const std::vector<int>& slots, const pucch_output& o) const {
  reference_.check_held();
  const std::size_t occasions = values.items;
  check_shape("values", values, occasions, this->values());
  check_slots(slots, occasions, shape_.slots);
  check_optional_shape("bits", o.bits, occasions, as_size(shape_.bits));
  check_optional_shape("detected", o.detected, occasions, 1);
  check_optional_shape("csi2_detected", o.csi2_detected, occasions, 1);
  check_optional_shape("metric", o.metric, occasions, 1);
  check_optional_shape("snr_db", o.snr_db, occasions, 1);
  check_optional_shape("status", o.status, occasions, 1);
  check_apart({{"bits", o.bits},
               {"detected", o.detected},
               {"csi2_detected", o.csi2_detected},
               {"metric", o.metric},
               {"snr_db", o.snr_db},
               {"status", o.status}});
  if (occasions == 0) return;
  auto* numbers = reinterpret_cast<std::int32_t*>(slots_.on(exec, sizeof(std::int32_t) * occasions));
  exec.upload(numbers, slots.data(), sizeof(std::int32_t) * occasions);
  exec.sync();
  if (is_tone(config_))
    run_tones(exec, as_pairs(values), numbers, o);
  else
    run_coded(exec, as_pairs(values), numbers, o);
}

void pucch_detector::run_tones(executor& exec, view<const cx_pair> in, const std::int32_t* slots,
                               const pucch_output& o) const {
  pucch_tones_args a;
  a.slots = slots;
  a.sequences = reference_.on(exec);
  a.units = units_.on(exec);
  a.candidates = candidates_.on(exec), a.shifts = shifts_.on(exec), a.messages = messages_.on(exec);
  a.format = config_.format, a.symbols = shape_.symbols, a.hops = shape_.hops;
  a.first_hop = shape_.hop[0].symbols, a.antennas = config_.antennas;
  a.candidate_count = static_cast<std::int32_t>(messages_.host().size());
  a.bits = shape_.bits;
  a.threshold = static_cast<float>(threshold_);
  a.in = in;
  a.out_bits = o.bits, a.detected = o.detected, a.status = o.status;
  a.second_detected = o.csi2_detected;
  a.metric = o.metric, a.snr_db = o.snr_db;
  exec.run(pucch_tones_kernels(), &a, in.items);
}

void pucch_detector::run_coded(executor& exec, view<const cx_pair> in, const std::int32_t* slots,
                               const pucch_output& o) const {
  const std::size_t coded_bits = as_size(shape_.coded_bits), k = as_size(shape_.bits),
                    per_pass =
                        std::min(in.items, std::max<std::size_t>(1024, (std::size_t{1} << 20) / coded_bits));
  std::byte* memory = workspace_.on(
      exec, per_pass * (sizeof(float) * (coded_bits + pucch_numbers) + coded_bits + k + 2) + 6 * 64);
  auto* llr = take_part<float>(memory, per_pass * coded_bits);
  auto* numbers = take_part<float>(memory, per_pass * pucch_numbers);
  auto* bits = take_part<std::uint8_t>(memory, per_pass * k);
  auto* status = take_part<std::uint8_t>(memory, per_pass);
  auto* second_status = take_part<std::uint8_t>(memory, per_pass);
  auto* again = take_part<std::uint8_t>(memory, per_pass * coded_bits);
  pucch_equalise_args a = equalise_;
  a.pilots = reference_.on(exec);
  a.units = units_.on(exec), a.codes = codes_.on(exec), a.signs = signs_.on(exec);
  a.order = order_.on(exec);
  if (config_.csi2_bits > 0) a.shares = shares_.on(exec);
  a.analysis = analysis_.on(exec), a.synthesis = synthesis_.on(exec);
  a.pilot_symbols = symbols_.on(exec);
  a.data_symbols = a.pilot_symbols + a.pilot_symbol_count;
  a.time_analysis = filters_.on(exec);
  a.time_synthesis = a.time_analysis + 4 * a.pilot_symbol_count;
  a.gains = a.time_synthesis + 4 * a.symbols;
  a.strong = a.gains + a.pilot_symbol_count * a.ranks;
  pucch_decide_args d;
  d.bits = shape_.bits, d.first_bits = config_.bits;
  d.with_crc = config_.bits >= 12, d.second_with_crc = config_.csi2_bits >= 12;
  d.first_coded_bits = shape_.first_coded_bits;
  d.threshold = static_cast<float>(threshold_), d.second_threshold = static_cast<float>(csi2_threshold_);
  for (std::size_t first = 0; first < in.items; first += per_pass) {
    const std::size_t batch = std::min(per_pass, in.items - first);
    // Neighbouring occasions side by side for the lanes of a CPU, and neighbouring LLRs for threads of a
    // device.
    const auto arranged = [&](auto* data, std::size_t elements) {
      return exec.is_device() ? make_view(data, batch, elements)
                              : decltype(make_view(data, batch, elements)){data, elements, batch, batch, 1};
    };
    a.llr = arranged(llr, coded_bits);
    a.numbers = {numbers, pucch_numbers, batch, batch, 1};
    a.slots = slots + first;
    a.in = pucch_items(in, first, batch);
    exec.run(pucch_equalise_kernels(), &a, batch);
    const auto decoded = arranged(bits, k), coded = arranged(again, coded_bits);
    const view<std::uint8_t> statuses[2] = {make_view(status, batch), make_view(second_status, batch)};
    const view<const float> received = a.llr;
    std::size_t first_bit = 0, first_coded = 0;
    for (std::size_t i = 0; i < decoders_.size(); i++) {
      const decoder& part = decoders_[i];
      const auto in = pucch_elements(received, first_coded, part.coded_bits);
      const auto out = pucch_elements(decoded, first_bit, part.bits);
      if (part.short_block)
        part.short_block->run(exec, in, {.bits = out, .status = statuses[i]});
      else
        part.polar->run(exec, in, {.bits = out, .status = statuses[i]});
      first_bit += part.bits, first_coded += part.coded_bits;
    }
    encoder_->run(exec, decoded, coded);
    d.numbers = a.numbers, d.llr = received;
    d.decoded = decoded, d.decoded_status = statuses[0], d.coded = coded;
    if (decoders_.size() > 1) d.second_status = statuses[1];
    d.out_bits = pucch_items(o.bits, first, batch), d.detected = pucch_items(o.detected, first, batch);
    d.second_detected = pucch_items(o.csi2_detected, first, batch);
    d.metric = pucch_items(o.metric, first, batch), d.snr_db = pucch_items(o.snr_db, first, batch);
    d.status = pucch_items(o.status, first, batch);
    exec.run(pucch_decide_kernels(), &d, batch);
  }
}

}  // namespace wb
