#include <warpband/link/config/renamed.hpp>

#include <limits>

namespace wb::config {

namespace {

/// 0 is 0.0, but not "0".
bool same_value(const setting_value& a, const setting_value& b) {
  return std::holds_alternative<std::string>(a) == std::holds_alternative<std::string>(b) &&
         plain(a) == plain(b);
}

/// A value that stood for leaving a setting out.
std::vector<std::pair<setting_value, setting_value>> left_out(setting_value before) {
  return {{std::move(before), {}}};
}

}  // namespace

const std::vector<renamed>& renamed_settings() {
  static const std::vector<std::string> detect{"detect", "decode"}, massive{"uplink", "precode"},
      stbc{"stbc"};
  static const std::vector<std::pair<setting_value, setting_value>> points{{std::int64_t{4}, "qpsk"},
                                                                           {std::int64_t{16}, "16qam"},
                                                                           {std::int64_t{64}, "64qam"},
                                                                           {std::int64_t{256}, "256qam"}};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  static const std::vector<renamed> rows{
      {"detector.streams", "mimo.streams", detect},
      {"detector.rx_antennas", "mimo.rx_antennas", detect},
      {"detector.qam", "modem.modulation", detect, points},
      {"massive.qam", "modem.modulation", massive, points},
      {"stbc.qam", "modem.modulation", stbc, points},
      {"stbc.rx_antennas", "mimo.rx_antennas", stbc},
      {"stbc.code", "stbc.type", stbc},
      {"decoder.int8_steps", "decoder.llr_steps"},
      {"decoder.early_stop", "decoder.early_stop", {}, {{true, "syndrome"}, {false, "none"}}},
      {"llr", "llr_sign", {}, {{"log_p0_p1", "p0/p1"}, {"log_p1_p0", "p1/p0"}}},
      {"mode", "solver"},
      {"spacing_m", "antenna_spacing_m"},
      {"spacing_wavelengths", "antenna_spacing_wavelengths"},
      {"code.soft_buffer", "code.soft_buffer", {}, left_out(std::int64_t{0})},
      {"code.base_graph", "code.base_graph", {}, left_out(std::int64_t{0})},
      {"code.target_rate", "code.target_rate", {}, left_out(std::int64_t{0})},
      {"code.lbrm_resource_blocks", "code.lbrm_resource_blocks", {}, left_out(std::int64_t{0})},
      {"code.lifting_size", "code.lifting_size", {}, left_out(std::int64_t{0})},
      {"code.feedback", "code.feedback", {}, {{"0", {}}, {std::int64_t{0}, {}}}},
      {"code.scrambling", "code.scrambling", {}, left_out(std::int64_t{-1})},
      {"decoder.windows", "decoder.windows", {}, left_out(std::int64_t{0})},
      {"decoder.overlap", "decoder.overlap", {}, left_out(std::int64_t{-1})},
      {"decoder.llr_steps", "decoder.llr_steps", {}, left_out(infinity)},
      {"channel.symbols", "channel.symbols", {}, left_out(std::int64_t{0})},
      {"channel.symbol_period_us", "channel.symbol_period_us", {}, left_out(std::int64_t{0})},
      {"channel.antenna_spacing_wavelengths",
       "channel.antenna_spacing_wavelengths",
       {},
       left_out(std::int64_t{0})},
      {"detector.ways", "detector.ways", {}, left_out(std::int64_t{0})},
      {"nr.blocks", "nr.blocks", {}, left_out(std::int64_t{0})},
      {"nr.symbols", "nr.symbols", {}, left_out(std::int64_t{0})},
      {"nr.scrambling_id", "nr.scrambling_id", {}, left_out(std::int64_t{-1})},
      {"antenna_ports", "antenna_ports", {}, left_out(std::int64_t{0})},
      {"tpmi", "tpmi", {}, left_out(std::int64_t{-1})},
      {"spacing_hz", "spacing_hz", {}, left_out(std::int64_t{0})},
      {"period_us", "period_us", {}, left_out(std::int64_t{0})},
      {"receiver.inner", "receiver.inner", {}, left_out(std::int64_t{0})},
      {"receiver.detector_clip", "receiver.detector_clip", {}, left_out(infinity)},
      {"stream.rate", "stream.rate", {}, left_out(std::int64_t{0})},
      {"stream.seconds", "stream.seconds", {}, left_out(std::int64_t{0})},
      {"stream.deadline_us", "stream.deadline_us", {}, left_out(std::int64_t{0})},
      {"stream.timeout_ms", "stream.timeout_ms", {}, left_out(std::int64_t{0})},
      {"stop.max_seconds", "stop.max_seconds", {}, left_out(std::int64_t{0})}};
  return rows;
}

setting_value renamed::value_today(const setting_value& value) const {
  std::string allowed;
  for (const auto& [old, word] : values) {
    if (same_value(old, value)) return word;
    const bool last = &old == &values.back().first;
    allowed += (allowed.empty() ? "" : last ? " or " : ", ") + as_message(old);
  }
  if (allowed.empty() || before == today) return value;
  throw argument_error(before, as_message(value), allowed);
}

setting_value value_today(const std::string& key, const setting_value& value) {
  for (const renamed& r : renamed_settings())
    if (r.before == key && r.today == key) return r.value_today(value);
  return value;
}

std::pair<std::string, std::string> renamed::keywords() const {
  const std::size_t a = before.find('.') + 1, b = today.find('.') + 1;  // 0 without a table
  if (before.substr(0, a) != today.substr(0, b)) return {};
  return {before.substr(a), today.substr(b)};
}

}  // namespace wb::config
