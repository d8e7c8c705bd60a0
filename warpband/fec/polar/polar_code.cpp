#include <warpband/fec/polar/polar_code.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/fec/polar/polar_gaussian.hpp>
#include <warpband/fec/polar/polar_order.hpp>
#include <warpband/fec/polar/polar_tables.hpp>

namespace wb {
namespace {

int ceil_log2(int x) { return std::bit_width(static_cast<unsigned>(x) - 1u); }

/// Parameters that §6.3.1, §7.1 and §7.3 set for §5.3.1 and §5.4.1.
struct channel_parameters {
  int max_log2 = 10;  // n_max
  bool input_interleaver = false, channel_interleaver = false;
  int parity_checks = 0, min_weight_checks = 0;  // n_PC, n_PC^wm
};

/// n = log2 N, §5.3.1.
int log2_length(int k, int e, int max_log2) {
  const int up = ceil_log2(e), down = std::max(up - 1, 0);
  // E <= 9/8 2^down and K/E < 9/16
  const int n1 = 8 * e <= 9 << down && 16 * k < 9 * e ? down : up;
  return std::max(std::min({n1, ceil_log2(8 * k), max_log2}), 5);
}

/// J(i) of §5.4.1.1: index in d of output i of the sub-block interleaver.
int interleaved(int i, int n) {
  return polar_subblock_interleaver[as_size(32 * i / n)] * (n / 32) + i % (n / 32);
}

/// The coded bits that are not sent (§5.4.1.2).
std::vector<bool> unsent_bits(int k, int e, int n) {
  std::vector<bool> unsent(as_size(n));
  const bool punctured = 16 * k <= 7 * e;
  for (int i = 0; i < n - e; i++) unsent[as_size(interleaved(punctured ? i : e + i, n))] = true;
  return unsent;
}
/// The bits of u that rate matching freezes (§5.4.1.1).
std::vector<bool> frozen_by_rate_matching(int k, int e, int n) {
  std::vector<bool> frozen = unsent_bits(k, e, n);
  if (e < n && 16 * k <= 7 * e) {
    // and the first ceil(3N/4 - E/2) or ceil(9N/16 - E/4) bits
    const int first = 4 * e >= 3 * n ? (3 * n - 2 * e + 3) / 4 : (9 * n - 4 * e + 15) / 16;
    for (int i = 0; i < first; i++) frozen[as_size(i)] = true;
  }
  return frozen;
}

/// The last `count` bits of an order that are not frozen. Empty if there are too few.
template <class Order>
std::vector<int> most_reliable(const Order& order, std::size_t count, const std::vector<bool>& frozen) {
  std::vector<int> reliable;
  for (const int u : order)
    if (as_size(u) < frozen.size() && !frozen[as_size(u)]) reliable.push_back(u);
  if (reliable.size() < count) return {};
  return {reliable.end() - static_cast<std::ptrdiff_t>(count), reliable.end()};
}

/// The parity-check bits among them: the n_PC - n_PC^wm least reliable, and n_PC^wm of the others with the
/// smallest row weight of the transform. Of equal weights the most reliable.
std::vector<int> parity_check_bits(const std::vector<int>& reliable, const channel_parameters& c) {
  std::vector<int> checks(reliable.begin(), reliable.begin() + (c.parity_checks - c.min_weight_checks));
  std::vector<int> others(reliable.rbegin(), reliable.rend() - c.parity_checks);
  const auto weight = [](int u) { return std::popcount(static_cast<unsigned>(u)); };
  std::stable_sort(others.begin(), others.end(), [&](int a, int b) { return weight(a) < weight(b); });
  checks.insert(checks.end(), others.begin(), others.begin() + c.min_weight_checks);
  std::sort(checks.begin(), checks.end());
  return checks;
}

/// §5.3.1.1: information bit k is bit order[k] of c.
std::vector<int> input_order(int k, bool interleaved) {
  std::vector<int> order;
  const int skipped = interleaved ? static_cast<int>(polar_input_interleaver.size()) - k : 0;
  for (int i = 0; !interleaved && i < k; i++) order.push_back(i);
  for (const int i : polar_input_interleaver)
    if (interleaved && i >= skipped) order.push_back(i - skipped);
  return order;
}

/// §5.4.1.2 and §5.4.1.3: index in d of each of the E sent bits.
std::vector<std::int32_t> sent_bits(int k, int e, int n, bool channel_interleaver) {
  std::vector<std::int32_t> selected, sent;
  const int skipped = e < n && 16 * k <= 7 * e ? n - e : 0;
  for (int i = 0; i < e; i++) selected.push_back(interleaved((i + skipped) % n, n));
  if (!channel_interleaver) return selected;
  int side = 1;
  while (side * (side + 1) / 2 < e) side++;
  for (int column = 0; column < side; column++)
    for (int row = 0, i = column; row < side - column; i += side - row, row++)
      if (i < e) sent.push_back(selected[as_size(i)]);
  return sent;
}

/// CRC weights and target of a block.
void set_crc(polar_block& b, const polar_config& config) {
  const auto crc = polar_crc_of(config);
  b.crc_weights.assign(as_size(b.k), 0);
  if (!crc) return;
  const bool dci = config.kind == polar_kind::dci;
  const int ones = dci ? 24 : 0;
  const std::vector<std::int32_t> remainders = crc_remainders(ones + b.k, *crc);
  std::copy(remainders.begin() + ones, remainders.end(), b.crc_weights.begin());
  if (dci) {
    b.crc_target = config.rnti;
    for (int i = 0; i < ones; i++) b.crc_target ^= remainders[as_size(i)];
  }
}

/// The information set of `order`, which has all indices of u, or the frozen ones.
std::vector<int> listed_bits(const polar_block& b, const std::vector<int>& order,
                             const std::vector<bool>& unsent) {
  const std::size_t n = as_size(b.n), k = as_size(b.k);
  const auto refuse = [&](std::size_t i, const std::string& allowed) {
    throw argument_error("reliability", "element " + std::to_string(i) + " = " + std::to_string(order[i]),
                         allowed);
  };
  if (order.size() != n && order.size() != n - k)
    throw argument_error(
        "reliability", std::to_string(order.size()) + " indices",
        std::to_string(n) + " indices of u, or the " + std::to_string(n - k) + " frozen ones");
  std::vector<bool> listed(n), frozen = unsent;
  for (std::size_t i = 0; i < order.size(); i++) {
    if (order[i] < 0 || as_size(order[i]) >= n) refuse(i, "an index from 0 to " + std::to_string(n - 1));
    if (listed[as_size(order[i])]) refuse(i, "each index once");
    listed[as_size(order[i])] = true;
  }
  if (order.size() == n) return most_reliable(order, k, frozen);
  std::vector<int> information_set;
  for (int u = 0; u < b.n; u++)
    if (!listed[as_size(u)]) information_set.push_back(u);
  for (const int u : information_set)
    if (b.shortened && unsent[as_size(u)])
      throw argument_error(
          "reliability", "without " + std::to_string(u),
          "frozen bits with " + std::to_string(u) + ", as coded bit " + std::to_string(u) + " is shortened");
  return information_set;
}

/// The information set by Gaussian approximation.
std::vector<int> gaussian_bits(const polar_block& b, const polar_config& config,
                               const std::vector<bool>& unsent) {
  const std::vector<bool> frozen = b.shortened ? unsent : std::vector<bool>(unsent.size());
  const auto at_snr = [&](double esn0_db) {
    return polar_gaussian(unsent, b.shortened ? std::numeric_limits<double>::infinity() : 0., esn0_db);
  };
  const auto best = [&](const polar_gaussian& g) { return most_reliable(g.order(), as_size(b.k), frozen); };
  if (config.design_esn0_db) return best(at_snr(*config.design_esn0_db));
  double low = polar_least_design_db, high = polar_most_design_db;
  std::vector<int> information_set;
  for (int step = 0; step < 11; step++) {  // to 0.03 dB
    const double middle = (low + high) / 2;
    const polar_gaussian g = at_snr(middle);
    information_set = best(g);
    (g.frame_error_rate(information_set) > 1e-3 ? low : high) = middle;
  }
  return information_set;
}

/// Index in d of each sent bit of a general code.
std::vector<std::int32_t> sent_in_order(const std::vector<bool>& unsent) {
  std::vector<std::int32_t> sent;
  for (std::size_t d = 0; d < unsent.size(); d++)
    if (!unsent[d]) sent.push_back(static_cast<std::int32_t>(d));
  return sent;
}

/// Information set and sent bits of a general code.
void set_general_tables(polar_block& b, const polar_config& config) {
  const std::vector<bool> unsent = unsent_bits(b.k, b.e, b.n);
  std::vector<int> bits;
  switch (config.construction) {
    case polar_construction::gaussian:
      bits = gaussian_bits(b, config, unsent);
      break;
    case polar_construction::nr:
      if (as_size(b.n) > polar_reliability.size())
        throw argument_error("construction", "\"nr\"", "\"gaussian\" or \"custom\" for more than 1024 bits");
      bits = most_reliable(polar_reliability, as_size(b.k), unsent);
      break;
    case polar_construction::custom:
      if (config.reliability.empty() && config.reliability_file.empty())
        throw argument_error("reliability_file", "\"\"",
                             "a file with indices of u (in C++, C and Python: or reliability)");
      bits = listed_bits(
          b, config.reliability.empty() ? read_polar_order(config.reliability_file) : config.reliability,
          unsent);
  }
  std::sort(bits.begin(), bits.end());
  b.place.assign(bits.begin(), bits.end());
  b.sent = sent_in_order(unsent);
  set_crc(b, config);
}

/// Tables of a block whose sizes are set. Throws argument_error if the information set does not fit.
void set_tables(polar_block& b, const polar_config& config, const channel_parameters& c) {
  const bool general = config.kind == polar_kind::general;
  b.n = 1 << (general ? std::max(ceil_log2(b.e), 5) : log2_length(b.k, b.e, c.max_log2));
  b.shortened = b.e < b.n && 16 * b.k > 7 * b.e;
  if (general) return set_general_tables(b, config);
  const std::vector<int> reliable = most_reliable(polar_reliability, as_size(b.k + c.parity_checks),
                                                  frozen_by_rate_matching(b.k, b.e, b.n));
  if (reliable.empty())
    throw argument_error("coded_bits", std::to_string(config.coded_bits),
                         "more: " + std::to_string(b.k + c.parity_checks) +
                             " bits with CRC and parity checks have no room in a code of " +
                             std::to_string(b.n));
  const std::vector<int> checks = parity_check_bits(reliable, c);
  std::vector<int> information_set;
  std::vector<int> sorted = reliable;
  std::sort(sorted.begin(), sorted.end());
  std::set_difference(sorted.begin(), sorted.end(), checks.begin(), checks.end(),
                      std::back_inserter(information_set));
  const std::vector<int> order = input_order(b.k, c.input_interleaver);
  b.place.assign(as_size(b.k), 0);
  for (std::size_t i = 0; i < information_set.size(); i++) b.place[as_size(order[i])] = information_set[i];
  b.parity_checks.assign(checks.begin(), checks.end());
  b.sent = sent_bits(b.k, b.e, b.n, c.channel_interleaver);
  set_crc(b, config);
}

channel_parameters parameters_of(const polar_config& config) {
  channel_parameters c;
  c.input_interleaver = config.kind == polar_kind::dci || config.kind == polar_kind::pbch;
  c.max_log2 = c.input_interleaver ? 9 : config.kind == polar_kind::general ? 15 : 10;
  c.channel_interleaver = config.kind == polar_kind::uci;
  if (config.kind == polar_kind::uci && config.k < 20) {
    c.parity_checks = 3;
    c.min_weight_checks = config.coded_bits - (config.k + 6) + 3 > 192 ? 1 : 0;
  }
  return c;
}

void check_bits(const polar_config& c) {
  const auto crc = polar_crc_of(c);
  const int crc_bits = crc ? crc->degree : 0;
  if (c.kind != polar_kind::general) check_range("coded_bits", c.coded_bits, 1, 16384);
  switch (c.kind) {
    case polar_kind::uci:
      return check_range("k", c.k, 12, 1706);
    case polar_kind::dci:
    case polar_kind::pbch:
      return check_range("k", c.k, 1, static_cast<int>(polar_input_interleaver.size()) - crc_bits);
    case polar_kind::plain:
      return check_range("k", c.k, 1, 1024 - crc_bits);
    case polar_kind::general:
      return check_range("k", c.k, 1, 32767 - crc_bits);
  }
  throw argument_error("kind", std::to_string(static_cast<int>(c.kind)), "uci, dci, pbch, plain or general");
}

}  // namespace

const std::vector<setting_of<polar_config>>& polar_settings() {
  using c = polar_config;
  static const std::vector<setting_of<c>> settings{
      words<c, polar_kind>(
          "kind", &c::kind,
          {{"uci", polar_kind::uci},
           {"dci", polar_kind::dci},
           {"pbch", polar_kind::pbch},
           {"plain", polar_kind::plain},
           {"general", polar_kind::general}},
          "Uplink control, downlink control, broadcast channel, or a polar code with only "
          "the sub-block interleaver, all of 5G NR. general: any polar code of up to 32768 bits, "
          "without interleavers."),
      integer("k", &c::k, 1, 32767, "A: bits of a message, without its CRC.",
              "an integer: uci 12 to 1706, dci and pbch 1 to 140, plain 1 to 1024 less the CRC, general 1 to "
              "32767 less the CRC"),
      integer("coded_bits", &c::coded_bits, 1, 32768, "E: bits sent for a message.",
              "an integer from the bits with CRC to 16384, general to 32768"),
      integer("rnti", &c::rnti, 0, 65535, "Masks the last 16 bits of the CRC.").only_with("kind", {"dci"}),
      one_of("crc_bits", &c::crc_bits, {0, 6, 8, 11, 16, 24},
             "Length of the CRC after the message, by which the decoder picks a path of its list; 0: no CRC.")
          .only_with("kind", {"plain", "general"}),
      words<c, polar_construction>(
          "construction", &c::construction,
          {{"gaussian", polar_construction::gaussian},
           {"nr", polar_construction::nr},
           {"custom", polar_construction::custom}},
          "How the information set is found. gaussian: Gaussian approximation. nr: the "
          "sequence of 5G NR, for up to 1024 coded bits. custom: an order or frozen bits from a file.")
          .only_with("kind", {"general"}),
      number(
          "design_esn0_db", &c::design_esn0_db, polar_least_design_db, polar_most_design_db,
          "Es/N0 in dB of BPSK for which the information set is best. \"auto\": where one path has a frame "
          "error rate of 1e-3.",
          false, "\"auto\" or a number from -20 to 40")
          .absent_as("auto")
          .only_with("kind", {"general"})
          .only_with("construction", {"gaussian"}),
      text("reliability_file", &c::reliability_file,
           "Path of a text file with indices of u. They are all N, from the least to the most reliable, or "
           "the N "
           "- K frozen ones.")
          .without_default()
          .only_with("kind", {"general"})
          .only_with("construction", {"custom"}),
      integers("reliability", &c::reliability, 0, 32767, "What a file would have: it replaces the file.",
               "a list of integers from 0 to 32767")
          .only_with("kind", {"general"})
          .only_with("construction", {"custom"})};
  return settings;
}

std::optional<crc_polynomial> polar_crc_of(const polar_config& c) {
  if (c.kind == polar_kind::uci) return c.k < 20 ? crc6 : crc11;
  if (c.kind == polar_kind::dci || c.kind == polar_kind::pbch) return crc24c;
  if (c.crc_bits == 0) return std::nullopt;
  return c.crc_bits == 6    ? crc6
         : c.crc_bits == 8  ? crc8
         : c.crc_bits == 11 ? crc11
         : c.crc_bits == 16 ? crc16
                            : crc24c;
}

polar_code::polar_code(const polar_config& config) : config_(config) {
  check_settings(polar_settings(), config);
  check_bits(config);
  const auto crc = polar_crc_of(config);
  const channel_parameters c = parameters_of(config);
  const bool has_two_blocks =
      config.kind == polar_kind::uci && ((config.k >= 360 && config.coded_bits >= 1088) || config.k >= 1013);
  const int count = has_two_blocks ? 2 : 1,
            filled = std::max(config.k, config.kind == polar_kind::dci ? 12 : 1);
  const int block_bits = (filled + count - 1) / count, crc_bits = crc ? crc->degree : 0;
  const int max_n = 1 << c.max_log2, min_e = block_bits + crc_bits + c.parity_checks;
  if (config.coded_bits < count * min_e || min_e > max_n)
    throw argument_error(
        min_e > max_n ? "k" : "coded_bits", std::to_string(min_e > max_n ? config.k : config.coded_bits),
        min_e > max_n ? "so few that they fit a code of " + std::to_string(max_n) + " with their CRC"
                      : std::to_string(count * min_e) + " or more, the bits with CRC and parity checks");
  for (int r = 0, bit = 0; r < count; r++) {
    polar_block b;
    b.k = block_bits + crc_bits;
    b.e = config.coded_bits / count;
    b.crc_bits = crc_bits;
    b.fillers_behind = config.kind == polar_kind::dci;
    b.fillers = b.fillers_behind ? filled - config.k : r == 0 ? count * block_bits - filled : 0;
    b.payload = block_bits - b.fillers;
    b.first_bit = bit;
    b.first_sent = r * b.e;
    set_tables(b, config, c);
    blocks_.push_back(std::move(b));
    bit += blocks_.back().payload;
  }
}

polar_shape polar_shape_of(const polar_block& b) {
  polar_shape s;
  s.k = b.k;
  s.n = b.n;
  s.e = b.e;
  s.payload = b.payload;
  s.first_bit = b.first_bit;
  s.first_sent = b.first_sent;
  s.fillers_before = b.fillers_behind ? 0 : b.fillers;
  s.crc_bits = b.crc_bits;
  s.crc_target = b.crc_target;
  s.ascending = std::is_sorted(b.place.begin(), b.place.end());
  return s;
}

}  // namespace wb
