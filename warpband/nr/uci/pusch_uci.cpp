#include <warpband/nr/uci/pusch_uci.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/fec/nr/scrambling.hpp>
#include <warpband/fec/nr/tbs.hpp>

namespace wb {

WB_DECLARE_KERNEL(pusch_uci_multiplex)
WB_DECLARE_KERNEL(pusch_uci_demultiplex)

namespace {

enum uci_part { uci_data, uci_ack, uci_csi1, uci_csi2 };

std::int64_t uci_ceil(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Bits and CRC of a part, section 6.3.1.2.1.
std::int64_t uci_with_crc(int bits) { return bits + (bits < 12 ? 0 : bits < 20 ? 6 : 11); }

void check_beta(const char* name, double beta) {
  if (beta * 8 != std::floor(beta * 8))
    throw argument_error(name, as_message(setting_value(beta)), "a multiple of 1/8 from 1 to 126");
}
int twentieths_of(double alpha) {
  for (const double allowed : {0.5, 0.65, 0.8, 1.})
    if (std::abs(alpha - allowed) < 1e-9) return static_cast<int>(std::lround(20 * allowed));
  throw argument_error("alpha", as_message(setting_value(alpha)), "0.5, 0.65, 0.8 or 1");
}

/// An OFDM symbol of the allocation: the resource elements that are left for data and for UCI.
struct uci_symbol {
  std::vector<int> free_data, free_uci, reserved;
  bool dmrs = false;
};

/// Symbols of each part, and what their formulas need.
struct uci_sizes {
  const pusch_uci_config& c;
  const nr_transport_config& t;
  std::int64_t elements = 0, behind = 0;  // for UCI: of all OFDM symbols, of those behind the first DMRS
  std::int64_t block_bits = 0;            // sum of K
  int alpha = 20;

  std::int64_t wanted(int bits, double beta) const {
    const auto eighths = std::llround(8 * beta);
    if (c.data) return uci_ceil(uci_with_crc(bits) * eighths * elements, 8 * block_bits);
    const auto rate = std::llround(2048 * *t.code_rate);
    return uci_ceil(uci_with_crc(bits) * eighths * 256, rate * t.modulation_order);
  }
  std::int64_t ack(int bits) const {
    return std::min(wanted(bits, c.beta_ack), uci_ceil(alpha * behind, 20));
  }
  /// Of HARQ-ACK, with CSI part 1 also what is reserved.
  std::int64_t ack_beside(bool csi1) const {
    if (c.ack_bits > 2) return ack(c.ack_bits);
    return csi1 ? ack(2) : 0;
  }
  std::int64_t csi1() const {
    if (c.csi1_bits == 0) return 0;
    if (c.data)
      return std::min(wanted(c.csi1_bits, c.beta_csi1), uci_ceil(alpha * elements, 20) - ack_beside(true));
    const std::int64_t rest = elements - ack_beside(true);
    return c.csi2_bits > 0 ? std::min(wanted(c.csi1_bits, c.beta_csi1), rest) : rest;
  }
  std::int64_t csi2() const {
    if (c.csi2_bits == 0) return 0;
    if (!c.data) return elements - ack_beside(false) - csi1();
    return std::min(wanted(c.csi2_bits, c.beta_csi2),
                    uci_ceil(alpha * elements, 20) - ack_beside(false) - csi1());
  }
};

/// Section 6.2.7: takes `count` elements, every d-th where an OFDM symbol has more than are left. elements(l)
/// are those of OFDM symbol l that may be taken.
template <class Elements>
std::vector<int> uci_taken(std::size_t symbols, std::size_t first, std::size_t count, Elements elements) {
  std::vector<int> taken;
  for (std::size_t l = first; l < symbols && taken.size() < count; l++) {
    const std::vector<int> free = elements(l);
    if (free.empty()) continue;
    const std::size_t left = count - taken.size(), step = left >= free.size() ? 1 : free.size() / left,
                      here = std::min(left, free.size());
    for (std::size_t j = 0; j < here; j++) taken.push_back(free[j * step]);
  }
  return taken;
}
/// The elements rise.
void uci_remove(std::vector<int>& from, const std::vector<int>& elements) {
  std::erase_if(from, [&](int e) { return std::binary_search(elements.begin(), elements.end(), e); });
}
std::vector<int> uci_without(std::vector<int> from, const std::vector<int>& elements) {
  uci_remove(from, elements);
  return from;
}

/// The code of the data beside UCI. Throws argument_error.
nr_transport_config uci_transport(const nr_shared_channel& channel, const pusch_uci_config& c) {
  check_settings(pusch_uci_settings(), c);
  if (channel.config().transform_precoding) check_range("mcs_table", c.mcs_table, 1, 2);
  if (nr_mcs_of(channel.config(), c.mcs_table, c.mcs).rate_x1024 == 0)
    throw argument_error("mcs", std::to_string(c.mcs), "one that is not reserved for retransmissions");
  return channel.transport(c.mcs_table, c.mcs);
}

}  // namespace

const std::vector<setting_of<pusch_uci_config>>& pusch_uci_settings() {
  using c = pusch_uci_config;
  static const std::vector<setting_of<c>> settings{
      integer("ack_bits", &c::ack_bits, 0, 1706, "Bits of HARQ-ACK."),
      integer("csi1_bits", &c::csi1_bits, 0, 1706, "Bits of CSI part 1."),
      integer("csi2_bits", &c::csi2_bits, 0, 1706, "Bits of CSI part 2."),
      number("beta_ack", &c::beta_ack, 1, 126, "Offset beta of HARQ-ACK."),
      number("beta_csi1", &c::beta_csi1, 1, 126, "Offset beta of CSI part 1."),
      number("beta_csi2", &c::beta_csi2, 1, 126, "Offset beta of CSI part 2."),
      number("alpha", &c::alpha, 0.5, 1, "Largest share of resource elements that UCI has."),
      integer("mcs_table", &c::mcs_table, 1, 3, "MCS table of the channel."),
      integer("mcs", &c::mcs, 0, 31, "Index of the MCS."),
      boolean("data", &c::data, "Whether there is a transport block beside UCI.")};
  return settings;
}

pusch_uci::pusch_uci(const nr_shared_channel& channel, const pusch_uci_config& config)
    : config_(config), transport_(uci_transport(channel, config)) {
  check_beta("beta_ack", config.beta_ack);
  check_beta("beta_csi1", config.beta_csi1);
  check_beta("beta_csi2", config.beta_csi2);
  const nr_channel_config& c = channel.config();
  if (c.direction != nr_direction::uplink) throw argument_error("channel", "\"pdsch\"", "\"pusch\"");
  if (config.csi2_bits > 0 && config.csi1_bits == 0)
    throw argument_error("csi2_bits", std::to_string(config.csi2_bits), "0 without CSI part 1");
  if (!config.data && config.ack_bits + config.csi1_bits == 0)
    throw argument_error("data", "false", "true without UCI");

  // Elements have their numbers in the order of the mapping.
  std::vector<uci_symbol> symbols(as_size(*c.symbols));
  for (const int l : channel.dmrs_symbols()) symbols[as_size(l - c.first_symbol)].dmrs = true;
  const auto& places = channel.data_places();
  for (std::size_t i = 0; i < places.size(); i++) {
    uci_symbol& s = symbols[as_size(places[i] / c.carrier.subcarriers() - c.first_symbol)];
    s.free_data.push_back(static_cast<int>(i));
    if (!s.dmrs) s.free_uci.push_back(static_cast<int>(i));
  }
  const auto dmrs = [](const uci_symbol& s) { return s.dmrs; };
  const auto first_dmrs = std::find_if(symbols.begin(), symbols.end(), dmrs);
  const auto first_ack =
      as_size(static_cast<int>(std::find_if_not(first_dmrs, symbols.end(), dmrs) - symbols.begin()));

  uci_sizes sizes{config_, transport_};
  sizes.alpha = twentieths_of(config.alpha);
  for (std::size_t l = 0; l < symbols.size(); l++) {
    sizes.elements += static_cast<std::int64_t>(symbols[l].free_uci.size());
    if (l >= first_ack) sizes.behind += static_cast<std::int64_t>(symbols[l].free_uci.size());
  }
  const nr_transport_plan plan(transport_);
  sizes.block_bits = std::int64_t{plan.segmentation().blocks} * plan.segmentation().block.standard_k();
  std::int64_t wanted[pusch_uci_parts] = {};
  if (config.ack_bits > 0) wanted[uci_ack] = sizes.ack(config.ack_bits);
  wanted[uci_csi1] = sizes.csi1();
  wanted[uci_csi2] = sizes.csi2();
  const auto refuse = [](const char* name, int bits) {
    throw argument_error(name, std::to_string(bits), "bits for which resource elements are left");
  };
  if (config.ack_bits > 0 && wanted[uci_ack] < 1) refuse("ack_bits", config.ack_bits);
  if (config.csi1_bits > 0 && wanted[uci_csi1] < 1) refuse("csi1_bits", config.csi1_bits);
  if (config.csi2_bits > 0 && wanted[uci_csi2] < 1) refuse("csi2_bits", config.csi2_bits);

  const auto take = [&](std::size_t first, std::int64_t count, auto free) {
    return uci_taken(symbols.size(), first, as_size(static_cast<int>(count)), free);
  };
  const auto spend = [&](const std::vector<int>& taken) {
    for (uci_symbol& s : symbols) uci_remove(s.free_uci, taken), uci_remove(s.free_data, taken);
  };
  std::vector<int> elements[pusch_uci_parts];
  const auto of_uci = [&](std::size_t l) { return symbols[l].free_uci; };
  if (config.ack_bits <= 2) {
    const std::vector<int> reserved = take(first_ack, sizes.ack(2), of_uci);
    for (uci_symbol& s : symbols)
      for (const int e : s.free_uci)
        if (std::binary_search(reserved.begin(), reserved.end(), e)) s.reserved.push_back(e);
    if (config.ack_bits > 0)
      elements[uci_ack] =
          take(first_ack, wanted[uci_ack], [&](std::size_t l) { return symbols[l].reserved; });
  } else {
    elements[uci_ack] = take(first_ack, wanted[uci_ack], of_uci);
    spend(elements[uci_ack]);
  }
  elements[uci_csi1] = take(0, wanted[uci_csi1], [&](std::size_t l) {
    return uci_without(symbols[l].free_uci, symbols[l].reserved);
  });
  spend(elements[uci_csi1]);
  elements[uci_csi2] = take(0, wanted[uci_csi2], of_uci);
  spend(elements[uci_csi2]);
  if (config.data)
    for (const uci_symbol& s : symbols)
      elements[uci_data].insert(elements[uci_data].end(), s.free_data.begin(), s.free_data.end());
  if (config.data && elements[uci_data].size() < as_size(plan.segmentation().blocks))
    throw argument_error("data", "true", "false: UCI leaves too few resource elements");

  const int per_element = transport_.modulation_order * transport_.layers;
  std::vector<std::int32_t> source(as_size(transport_.coded_bits), -1), place;
  const auto fill = [&](int part) {
    const auto& e = elements[part];
    for (std::size_t i = 0; i < e.size(); i++)
      for (int v = 0; v < per_element; v++)
        source[as_size(e[i] * per_element + v)] =
            (part << 28) | (static_cast<std::int32_t>(i) * per_element + v);
  };
  for (const int part : {uci_data, uci_csi1, uci_csi2, uci_ack}) fill(part);  // the last one punctures
  if (std::find(source.begin(), source.end(), -1) != source.end())
    throw argument_error("data", "false", "true: UCI leaves resource elements empty");
  const auto c_of = nr_scrambling_sequence(*transport_.scrambling, source.size());
  std::vector<float> sign;
  for (int part = 0; part < pusch_uci_parts; part++) {
    const auto& e = elements[part];
    coded_bits_[as_size(part)] = static_cast<int>(e.size()) * per_element;
    const int bits[pusch_uci_parts] = {0, config.ack_bits, config.csi1_bits, config.csi2_bits};
    for (std::size_t i = 0; i < e.size(); i++)
      for (int v = 0; v < per_element; v++) {
        const int n = e[i] * per_element + v;
        const bool kept = source[as_size(n)] >> 28 == part;
        // A y has the scrambling of the place before.
        const bool y =
            bits[part] == 1 && transport_.modulation_order > 1 && v % transport_.modulation_order == 1;
        place.push_back(kept ? n : -1);
        sign.push_back(c_of[as_size(n - (y ? 1 : 0))] != 0 ? -1.f : 1.f);
      }
  }
  source_ = resident<std::int32_t>(std::move(source));
  place_ = resident<std::int32_t>(std::move(place));
  scramble_ = resident<std::uint8_t>(c_of);
  sign_ = resident<float>(std::move(sign));
}

std::vector<std::int32_t> pusch_uci::places(int part) const {
  source_.check_held();
  check_range("part", part, 0, pusch_uci_parts - 1);
  std::ptrdiff_t first = 0;
  for (int p = 0; p < part; p++) first += coded_bits_[as_size(p)];
  const auto begin = place_.host().begin() + first;
  return {begin, begin + coded_bits_[as_size(part)]};
}

nr_transport_config pusch_uci::transport() const {
  source_.check_held();
  if (!config_.data) throw argument_error("data", "false", "true for a transport block");
  nr_transport_config t = transport_;
  t.coded_bits = coded_bits_[uci_data];
  t.scrambling.reset();
  return t;
}

void pusch_uci::multiplex(executor& exec, const pusch_uci_views<const std::uint8_t>& coded,
                          view<std::uint8_t> codeword) const {
  source_.check_held();
  const std::size_t slots = codeword.items;
  check_shape("codeword", codeword, slots, source_.host().size());
  pusch_uci_multiplex_args a;
  a.in[uci_data] = coded.data, a.in[uci_ack] = coded.ack;
  a.in[uci_csi1] = coded.csi1, a.in[uci_csi2] = coded.csi2;
  const char* names[] = {"data", "ack", "csi1", "csi2"};
  for (int p = 0; p < pusch_uci_parts; p++)
    if (coded_bits_[as_size(p)] > 0) check_shape(names[p], a.in[p], slots, as_size(coded_bits_[as_size(p)]));
  a.bits = codeword_bits();
  a.source = source_.on(exec);
  a.scramble = scramble_.on(exec);
  a.out = codeword;
  exec.run(pusch_uci_multiplex_kernels(), &a, slots * source_.host().size());
}

void pusch_uci::demultiplex(executor& exec, view<const float> codeword,
                            const pusch_uci_views<float>& llr) const {
  source_.check_held();
  const std::size_t slots = codeword.items;
  check_shape("codeword", codeword, slots, source_.host().size());
  pusch_uci_demultiplex_args a;
  a.bits = 0;
  a.out[uci_data] = llr.data, a.out[uci_ack] = llr.ack;
  a.out[uci_csi1] = llr.csi1, a.out[uci_csi2] = llr.csi2;
  const char* names[] = {"data", "ack", "csi1", "csi2"};
  for (int p = 0; p < pusch_uci_parts; p++) {
    if (a.out[p].data != nullptr) check_shape(names[p], a.out[p], slots, as_size(coded_bits_[as_size(p)]));
    a.first[p] = a.bits;
    a.bits += coded_bits_[as_size(p)];
  }
  a.place = place_.on(exec);
  a.sign = sign_.on(exec);
  a.in = codeword;
  exec.run(pusch_uci_demultiplex_kernels(), &a, slots * as_size(a.bits));
}

}  // namespace wb
