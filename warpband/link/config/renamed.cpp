#include <warpband/link/config/renamed.hpp>

namespace wb::config {

const std::vector<renamed>& renamed_settings() {
  static const std::vector<std::string> detect{"detect", "decode"}, massive{"uplink", "precode"},
      stbc{"stbc"};
  static const std::vector<std::pair<setting_value, std::string>> points{{std::int64_t{4}, "qpsk"},
                                                                         {std::int64_t{16}, "16qam"},
                                                                         {std::int64_t{64}, "64qam"},
                                                                         {std::int64_t{256}, "256qam"}};
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
      {"spacing_wavelengths", "antenna_spacing_wavelengths"}};
  return rows;
}

setting_value renamed::value_today(const setting_value& value) const {
  std::string allowed;
  for (const auto& [old, word] : values) {
    if (old == value) return word;
    const bool last = &old == &values.back().first;
    allowed += (allowed.empty() ? "" : last ? " or " : ", ") + as_message(old);
  }
  if (allowed.empty() || before == today) return value;
  throw argument_error(before, as_message(value), allowed);
}

std::pair<std::string, std::string> renamed::keywords() const {
  const std::size_t a = before.find('.') + 1, b = today.find('.') + 1;  // 0 without a table
  if (before.substr(0, a) != today.substr(0, b)) return {};
  return {before.substr(a), today.substr(b)};
}

}  // namespace wb::config
