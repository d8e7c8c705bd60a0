#include <warpband/receive/wimax/chain.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <optional>
#include <utility>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>

namespace wb {
namespace {

using cf = std::complex<float>;

const std::vector<std::string>& modulation_words() {
  static const std::vector<std::string> words{"qpsk", "16qam", "64qam"};
  return words;
}
int qam_of(const std::string& modulation) {
  const auto i = find_word(modulation_words(), modulation);
  if (!i) throw argument_error("modulations", "\"" + modulation + "\"", among(modulation_words()));
  return 4 << 2 * static_cast<int>(*i);
}

setting_of<wimax_frame_config> profile_setting() {
  std::vector<std::pair<std::string, int>> names;
  for (const wimax_profile& p : wimax_profiles()) names.emplace_back(p.name, p.fft_size);
  return words("profile", &wimax_frame_config::fft_size, std::move(names),
               "Fixed or mobile WiMAX and its FFT: 3.5 MHz, and 1.25, 5, 10 or 20 MHz.");
}
setting_of<wimax_frame_config> length_setting() {
  const std::string allowed = "2, 2.5, 4, 5, 8, 10, 12.5 or 20";
  setting_of<wimax_frame_config> s =
      number("frame_ms", &wimax_frame_config::frame_ms, 2, 20, "Length of a frame in ms.", false, allowed);
  s.set = [set = s.set](wimax_frame_config& c, const setting_value& v) {
    wimax_frame_config changed = c;
    set(changed, v);
    (void)wimax_symbols(wimax_profile_of(256), changed.frame_ms);
    c = std::move(changed);
  };
  return s;
}

/// Tones of each burst.
std::vector<int> tones_of(const wimax_frame_config& c, int tones) {
  const std::vector<double> shares =
      c.shares.empty() ? std::vector<double>(c.modulations.size(), 1) : c.shares;
  if (shares.size() != c.modulations.size())
    throw argument_error("shares", std::to_string(shares.size()) + " numbers",
                         "one for each of the " + std::to_string(c.modulations.size()) + " bursts");
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<int> counts;
  for (const double share : shares) {
    // Rounded down, but for what dividing loses.
    const int count = static_cast<int>(std::floor(tones * share / sum + 1e-9));
    if (count < 1)
      throw argument_error("shares", decimal(share),
                           "at least one of the " + std::to_string(tones) + " tones");
    counts.push_back(count);
  }
  return counts;
}

space_time_code code_of(wimax_space_time code) {
  return code == wimax_space_time::alamouti ? space_time_code::alamouti()
         : code == wimax_space_time::silver ? space_time_code::silver()
                                            : space_time_code::golden();
}

}  // namespace

const std::vector<setting_of<wimax_frame_config>>& wimax_frame_settings() {
  using c = wimax_frame_config;
  static const std::vector<setting_of<c>> settings = [] {
    std::vector<setting_of<c>> list{
        profile_setting(),
        length_setting(),
        number("downlink_share", &c::downlink_share, 0, 1,
               "Fraction of the frame's symbols that belong to the downlink, which comes first. Rounded to "
               "whole symbols."),
        words("direction", &c::direction,
              {{"downlink", wimax_direction::downlink}, {"uplink", wimax_direction::uplink}},
              "Direction whose bursts are received."),
        texts("modulations", &c::modulations,
              "Modulation of each burst: \"qpsk\", \"16qam\" or \"64qam\". Bursts are side by side in "
              "frequency. Each takes all symbols after preamble and maps.",
              "a list of \"qpsk\", \"16qam\" and \"64qam\""),
        numbers("shares", &c::shares, 1e-6, 1e6,
                "Relative share of the tones for each burst. Empty: equal shares.",
                "a number from 1e-6 to 1e6 for each burst"),
        words("space_time", &c::space_time,
              {{"alamouti", wimax_space_time::alamouti},
               {"silver", wimax_space_time::silver},
               {"golden", wimax_space_time::golden}},
              "The space-time code of the bursts. FCH and DL-MAP have Alamouti's."),
        integer("rx_antennas", &c::rx_antennas, 1, 4, "Receive antennas.").not_of_links(),
        words("csi", &c::csi, {{"preamble", wimax_csi::preamble}, {"perfect", wimax_csi::perfect}},
              "preamble: a frame begins with a symbol of pilots, from which H is estimated. perfect: H is "
              "known, and there is no preamble."),
        boolean(
            "maps", &c::maps,
            "Send FCH and DL-MAP in the downlink, and read them. If a check fails, the bursts of the frame "
            "are erased.")};
    for (auto& s : within<c>(
             [](c& x) -> auto& { return x.map; },
             std::vector{words("map_modulation", &wimax_map_config::modulation,
                               {{"bpsk", wimax_map_modulation::bpsk}, {"qpsk", wimax_map_modulation::qpsk}},
                               "Modulation of the DL-MAP. Its code has rate 1/2."),
                         one_of("map_repetition", &wimax_map_config::repetition, {1, 2, 4, 6},
                                "Copies of the DL-MAP.")}))
      list.push_back(std::move(s));
    return list;
  }();
  return settings;
}

wimax_link_config wimax_link_of(const wimax_frame_config& c, const std::vector<std::size_t>& order) {
  check_settings(wimax_frame_settings(), c);
  if (c.modulations.empty()) throw argument_error("modulations", "[]", "one for each burst");
  wimax_link_config link;
  const wimax_profile& profile = wimax_profile_of(c.fft_size);
  const bool down = c.direction == wimax_direction::downlink;
  const int symbols = wimax_symbols(profile, c.frame_ms),
            downlink = static_cast<int>(std::lround(c.downlink_share * symbols));
  link.frame = {profile, down ? downlink : 0, down ? 0 : symbols - downlink, {}};
  link.direction = c.direction;
  link.space_time.code = code_of(c.space_time);
  link.space_time.rx_antennas = c.rx_antennas;
  link.preamble = c.csi == wimax_csi::preamble;
  if (c.maps && down) link.maps = c.map;
  const std::vector<int> tones = tones_of(c, profile.data_subcarriers);
  // The maps' length follows from the number of bursts.
  for (std::size_t i = 0; i < tones.size(); i++)
    link.frame.bursts.push_back({c.direction, tones[i], 2, qam_of(c.modulations[i])});
  const int first = wimax_first_data_symbol(link), left = link.frame.symbols_of(c.direction) - first;
  if (left < 2)
    throw argument_error(
        "downlink_share", decimal(c.downlink_share),
        "one that leaves 2 symbols to bursts behind the " + std::to_string(first) + " of preamble and maps");
  int tone = 0;
  for (std::size_t i = 0; i < tones.size(); i++) {
    wimax_burst& b = link.frame.bursts.at(order.empty() ? i : order.at(i));
    b.symbols = left;
    b.first_symbol = first;
    b.first_tone = tone;
    tone += b.tones;
  }
  if (is_transport(c.code))
    throw argument_error("code.type", "\"" + c.code.type + "\"", "a code that decodes each frame by itself");
  if (!is_uncoded(c.code)) link.codes.assign(tones.size(), c.code);
  try {
    (void)wimax_bursts_of(link);
  } catch (const argument_error& e) {
    if (e.argument().starts_with("codes["))
      throw argument_error("code" + e.argument().substr(e.argument().find(']') + 1), e.value(), e.allowed());
    throw;
  }
  return link;
}

std::unique_ptr<frame_receiver> make_wimax_chain(const wimax_frame_config& config) {
  const wimax_link_config link = wimax_link_of(config);
  const std::vector<wimax_burst_sizes> bursts = wimax_bursts_of(link);
  if (bursts.size() > most_wimax_bursts)
    throw argument_error("modulations", std::to_string(bursts.size()) + " of them",
                         "at most " + std::to_string(most_wimax_bursts));
  const std::size_t tones = as_size(link.frame.profile.data_subcarriers),
                    symbols = as_size(link.frame.symbols_of(link.direction)),
                    rx = as_size(link.space_time.rx_antennas);
  frame_receiver_parts p{.name = "wimax-frame"};
  if (!link.preamble)
    p.inputs.push_back(
        {.name = "channel", .type = element_type::complex64, .elements = 2 * rx, .rows = tones});
  p.inputs.push_back(
      {.name = "received", .type = element_type::complex64, .elements = rx, .rows = symbols * tones});
  p.inputs.push_back(
      {.name = "noise_var", .type = element_type::float32, .elements = 1, .rows = 1, .per_items = 0});
  for (std::size_t i = 0; i < bursts.size(); i++) {
    p.outputs.push_back({.name = "bits_" + std::to_string(i + 1),
                         .type = element_type::uint8,
                         .elements = bursts[i].k,
                         .rows = bursts[i].blocks});
    p.bits += static_cast<double>(bursts[i].k * bursts[i].blocks);
  }
  if (link.maps) p.outputs.push_back({.name = "status", .type = element_type::uint8});
  p.stages = wimax_stages_of(link);
  p.attach = [link, bursts, tones, symbols, rx](executor& exec, std::size_t most_frames) -> frame_run {
    return [=, receiver = std::make_shared<wimax_receiver>(link, exec, most_frames)](std::size_t stage,
                                                                                     const frame_arrays& f) {
      const std::size_t y = link.preamble ? 0 : 1;
      wimax_received in{
          .channel = {},
          .received = make_frame_grid(static_cast<const cf*>(f.inputs[y]), f.items, symbols, tones, rx),
          .noise_var = {static_cast<const float*>(f.inputs[y + 1]), 1, f.items, 1, 0}};
      if (!link.preamble)
        in.channel = make_frame_grid(static_cast<const cf*>(f.inputs[0]), f.items, 1, tones, 2 * rx);
      std::vector<wimax_burst_output> to(bursts.size());
      for (std::size_t i = 0; i < bursts.size(); i++)
        to[i].bits =
            make_view(static_cast<std::uint8_t*>(f.outputs[i]), f.items * bursts[i].blocks, bursts[i].k);
      wimax_output out{.bursts = to};
      if (link.maps)
        out.map_status = make_view(static_cast<std::uint8_t*>(f.outputs[bursts.size()]), f.items);
      receiver->run_stage(stage, in, out);
    };
  };
  return std::make_unique<frame_receiver>(std::move(p));
}

}  // namespace wb
