#include <warpband/air/tdl.hpp>

#include <algorithm>
#include <climits>
#include <cmath>
#include <numbers>
#include <optional>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>

namespace wb {
namespace {

/// OFDM symbols of a subcarrier that share H: those of a space-time codeword.
int symbols_together(const air_antennas& a) {
  return a.system == air_system::space_time && !a.in_frequency ? static_cast<int>(a.together) : 1;
}

/// One terminal. Symbols that share H have that of a line whose OFDM symbols are so much longer.
class tdl_uses final : public air {
 public:
  tdl_uses(const air_antennas& a, const tdl_config& c)
      : air(a), together_(as_size(symbols_together(a))), channel_(joined(c, symbols_together(a))) {}
  std::size_t matrices() const noexcept override { return antennas_.uses / together_; }
  void draw(executor& exec, values h, random_range range) override {
    channel_.response(exec, h, of_blocks(range));
  }
  void send(executor& exec, symbols x, values y, values h, random_range range) override {
    if (together_ > 1) return air::send(exec, x, y, h, range);
    channel_.apply(exec, x, y, h, of_blocks(range));
  }
  channel_statistics statistics() const override {
    const tdl_config& c = channel_.config();
    channel_statistics s{{}, tap_powers(c.profile), c.doppler_hz, c.grid};
    for (const tdl_tap& t : c.profile.taps) s.delays_ns.push_back(t.delay_ns);
    return s;
  }

 private:
  static tdl_config joined(tdl_config c, int symbols) {
    if (symbols == 1) return c;
    c.grid.symbol_period_us = symbols * c.grid.period_us();
    c.grid.symbols /= symbols;
    return c;
  }
  random_range of_blocks(random_range range) const {
    range.first *= matrices() / channel_.config().grid.elements();
    return range;
  }
  std::size_t together_;
  tdl_channel channel_;
};

/// A line for each pair of antennas of massive MIMO. It is drawn for a user and up to 16 antennas at a time,
/// which have blocks of their own.
class tdl_matrices final : public air {
 public:
  tdl_matrices(const air_antennas& a, const tdl_config& c)
      : air(a),
        correlation_(std::cyl_bessel_j(
            0., 2 * std::numbers::pi * c.doppler_hz * 1e-6 * c.grid.period_us() * a.csi_delay)),
        whole_(line_of(c, max_rx)) {
    if (a.rx % max_rx != 0) rest_.emplace(line_of(c, a.rx % max_rx));
  }
  std::size_t matrices() const noexcept override { return as_size(antennas_.grid.subcarriers); }
  void draw(executor& exec, values h, random_range range) override {
    for (int user = 0; user < antennas_.tx; user++)
      for (int first = 0; first < antennas_.rx; first += max_rx) {
        const int count = std::min(max_rx, antennas_.rx - first);
        const std::uint64_t number = as_size(user) << 5 | as_size(first / max_rx);  // below 2^11
        random_range of_pair = range;
        of_pair.first |= number << 48;
        const values part{h.data + as_size(first * antennas_.tx + user), as_size(count), h.items,
                          as_size(antennas_.tx), antennas_.entries()};
        (count == max_rx ? whole_ : *rest_).response(exec, part, of_pair);
      }
  }
  /// Jakes: every tap is a Clarke process of the same Doppler spread.
  double correlation() const override { return correlation_; }

 private:
  static constexpr int max_rx = 16;
  static tdl_config line_of(tdl_config c, int antennas) {
    c.streams = 1;
    c.rx_antennas = antennas;
    c.grid.symbols = 1;  // those of a frame share H
    c.doppler_hz = 0;    // an H is that of one moment
    return c;
  }
  double correlation_;
  tdl_channel whole_;
  std::optional<tdl_channel> rest_;
};

int symbols_per_block(const tdl_config& c, const air_antennas& a) {
  check_range("subcarriers", c.grid.subcarriers, 1, 65536);
  const int together = symbols_together(a), adjacent = a.in_frequency ? static_cast<int>(a.together) : 1;
  const auto multiple = [](int n) {
    return "a multiple of " + std::to_string(n) + " with this space-time code";
  };
  if (c.grid.subcarriers % adjacent != 0)
    throw argument_error("subcarriers", std::to_string(c.grid.subcarriers), multiple(adjacent));
  if (c.grid.symbols % together != 0)
    throw argument_error("symbols", std::to_string(c.grid.symbols), multiple(together));
  if (c.grid.symbols != 0) return c.grid.symbols;
  const std::size_t times = symbols_for(c.grid, a.uses / as_size(together));
  return static_cast<int>(std::min<std::size_t>(times, INT_MAX / as_size(together))) * together;
}

void complete_line(tdl_config& c, const air_antennas& a) {
  c.streams = a.tx;
  c.rx_antennas = a.rx;
  if (a.in_slots()) {
    c.grid = with_prefix(a.grid, longest_delay_ns(c.profile));
    c.spatial.downlink = a.system == air_system::pdsch;
  } else if (a.system == air_system::massive) {
    if (c.spatial.correlation != antenna_correlation::low)
      throw argument_error("correlation", "another one than \"low\"", "\"low\" with massive MIMO");
    c.streams = c.rx_antennas = 1;
    c.grid.subcarriers = a.grid.subcarriers;
    c.grid.symbols = a.grid.symbols;
    if (a.csi_delay == 0) check_still("doppler_hz", c.doppler_hz, " and no csi_delay");
    if (a.csi_delay != 0 && c.profile.rician_k_db)
      throw argument_error("csi_delay", std::to_string(a.csi_delay), "0 with a Rician tap (channel.profile)");
  } else {
    c.grid.symbols = symbols_per_block(c, a);
  }
  check(c);
}

std::vector<setting_of<box>> keys() {
  const std::vector<std::string> none{"none"};
  auto profile = within<tdl_keys>([](tdl_keys& k) -> auto& { return k.profile; }, tdl_profile_settings());
  // A block may be as long as a frame.
  const auto symbols = integer_or_auto(
      "symbols", &tdl_keys::symbols, 1, 65536,
      "OFDM symbols of a block; the next block has another channel, independent of it. \"auto\": as many as "
      "a frame takes. A frame begins with a new block.",
      "an integer from 1 to 65536");
  for (auto& s : within<tdl_keys>([](tdl_keys& k) -> auto& { return k.line; }, tdl_settings())) {
    if (!s.of_links) continue;
    if (s.name == "symbols") s = symbols;
    const bool in_grid = find_setting(grid_settings(), s.name) != nullptr;
    if (s.name == "subcarriers" || s.name == "symbols" || find_setting(spatial_settings(), s.name) != nullptr)
      s = std::move(s).only_with("massive.solver", none);
    if (in_grid) s = std::move(s).only_with("nr.channel", none).only_with("wimax.profile", none);
    profile.push_back(std::move(s));
  }
  return boxed(profile);
}

air_values results(const box& b) {
  const tdl_config& c = held<tdl_config>(b);
  air_values values;
  std::vector<double> delays, powers;
  for (const tdl_tap& t : c.profile.taps) {
    delays.push_back(t.delay_ns);
    powers.push_back(t.power_db);
  }
  values.set("delays_ns", delays);
  values.set("powers_db", powers);
  if (c.profile.rician_k_db) values.set("rician_k_db", *c.profile.rician_k_db);
  tdl_config whole = c;
  whole.grid.symbol_period_us = c.grid.period_us();
  values.add(tdl_settings(), whole);
  if (c.doppler_hz == 0) values.erase_name("sinusoids");
  return values;
}

}  // namespace

ofdm_grid with_prefix(ofdm_grid grid, double longest_ns) {
  const double needed_us = 1e-3 * longest_ns;
  if (grid.cyclic_prefix_us >= needed_us) return grid;
  grid.cyclic_prefix_us = needed_us;
  grid.symbol_period_us = std::max(grid.symbol_period_us.value_or(0), 1e6 / grid.spacing_hz + needed_us);
  return grid;
}

void check_still(const char* argument, double speed, const std::string& without) {
  if (speed != 0)
    throw argument_error(argument, decimal(speed),
                         "0, as a frame's symbols share one channel estimate, with massive MIMO" + without);
}

air_kind tdl_air() {
  return {.name = "tdl",
          .text =
              "A tapped delay line. Its h or H is that of a resource element of OFDM. The symbols of a frame "
              "fill the grid one OFDM symbol after the other. Zeros fill the rest of the last block "
              "(docs/tdl.md).",
          .keys = keys(),
          .read =
              [](const box& b) {
                const tdl_keys& k = held<tdl_keys>(b);
                tdl_config c = k.line;
                c.profile = profile_of(k.profile);
                c.grid.symbols = k.symbols.value_or(0);
                return box(std::move(c));
              },
          .serves = [](const air_antennas&) { return true; },
          .ages = true,
          .complete =
              [](box& b, air_antennas& a) {
                tdl_config c = held<tdl_config>(b);
                complete_line(c, a);
                b = box(std::move(c));
              },
          .whole_uses =
              [](const box& b, const air_antennas& a) {
                const tdl_config& c = held<tdl_config>(b);
                const std::size_t block = as_size(symbols_per_block(c, a)) * as_size(c.grid.subcarriers);
                return (a.uses + block - 1) / block * block;
              },
          .results = results,
          .make = [](const box& b, const air_antennas& a) -> std::unique_ptr<air> {
            if (a.system == air_system::massive)
              return std::make_unique<tdl_matrices>(a, held<tdl_config>(b));
            return std::make_unique<tdl_uses>(a, held<tdl_config>(b));
          }};
}

}  // namespace wb
