#include <warpband/fec/polar/polar_code.hpp>

#include <algorithm>
#include <bit>
#include <string>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
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

/// The bits of u that rate matching freezes (§5.4.1.1).
std::vector<bool> frozen_by_rate_matching(int k, int e, int n) {
  std::vector<bool> frozen(as_size(n));
  if (e >= n) return frozen;
  if (16 * k <= 7 * e) {
    for (int i = 0; i < n - e; i++) frozen[as_size(interleaved(i, n))] = true;
    // and the first ceil(3N/4 - E/2) or ceil(9N/16 - E/4) bits
    const int first = 4 * e >= 3 * n ? (3 * n - 2 * e + 3) / 4 : (9 * n - 4 * e + 15) / 16;
    for (int i = 0; i < first; i++) frozen[as_size(i)] = true;
  } else {
    for (int i = e; i < n; i++) frozen[as_size(interleaved(i, n))] = true;
  }
  return frozen;
}

/// The K + n_PC most reliable bits of u that rate matching does not freeze, the least reliable first. Empty
/// if there are too few.
std::vector<int> most_reliable(int count, int e, int n, int k) {
  const std::vector<bool> frozen = frozen_by_rate_matching(k, e, n);
  std::vector<int> reliable;
  for (const int u : polar_reliability)
    if (u < n && !frozen[as_size(u)]) reliable.push_back(u);
  if (static_cast<int>(reliable.size()) < count) return {};
  return {reliable.end() - count, reliable.end()};
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

/// Tables of a block whose sizes are set. Throws argument_error if the information set does not fit.
void set_tables(polar_block& b, const polar_config& config, const channel_parameters& c) {
  b.n = 1 << log2_length(b.k, b.e, c.max_log2);
  b.shortened = b.e < b.n && 16 * b.k > 7 * b.e;
  const std::vector<int> reliable = most_reliable(b.k + c.parity_checks, b.e, b.n, b.k);
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
  c.max_log2 = c.input_interleaver ? 9 : 10;
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
  switch (c.kind) {
    case polar_kind::uci:
      return check_range("k", c.k, 12, 1706);
    case polar_kind::dci:
    case polar_kind::pbch:
      return check_range("k", c.k, 1, static_cast<int>(polar_input_interleaver.size()) - crc_bits);
    case polar_kind::plain:
      return check_range("k", c.k, 1, 1024 - crc_bits);
  }
  throw argument_error("kind", std::to_string(static_cast<int>(c.kind)), "uci, dci, pbch or plain");
}

}  // namespace

const std::vector<setting_of<polar_config>>& polar_settings() {
  using c = polar_config;
  static const std::vector<setting_of<c>> settings{
      words<c, polar_kind>("kind", &c::kind,
                           {{"uci", polar_kind::uci},
                            {"dci", polar_kind::dci},
                            {"pbch", polar_kind::pbch},
                            {"plain", polar_kind::plain}},
                           "Uplink control, downlink control, broadcast channel, or a polar code with only "
                           "the sub-block interleaver."),
      integer("k", &c::k, 1, 1706, "A: bits of a message, without its CRC.",
              "an integer: uci 12 to 1706, dci and pbch 1 to 140, plain 1 to 1024 less the CRC"),
      integer("coded_bits", &c::coded_bits, 1, 16384, "E: bits sent for a message.",
              "an integer from the bits with CRC to 16384"),
      integer("rnti", &c::rnti, 0, 65535, "Masks the last 16 bits of the CRC.").only_with("kind", {"dci"}),
      one_of("crc_bits", &c::crc_bits, {0, 6, 11, 24},
             "Length of the CRC after the message, by which the decoder picks a path of its list; 0: no CRC.")
          .only_with("kind", {"plain"})};
  return settings;
}

std::optional<crc_polynomial> polar_crc_of(const polar_config& c) {
  if (c.kind == polar_kind::uci) return c.k < 20 ? crc6 : crc11;
  if (c.kind != polar_kind::plain || c.crc_bits == 24) return crc24c;
  if (c.crc_bits == 0) return std::nullopt;
  return c.crc_bits == 6 ? crc6 : crc11;
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
  return s;
}

}  // namespace wb
