#include <warpband/link/code_settings.hpp>

#include <algorithm>
#include <array>

#include <warpband/core/error.hpp>
#include <warpband/link/scenario.hpp>

namespace wb {
namespace {

bool is_ldpc(code_type t) { return t == code_type::wimax_ldpc || t == code_type::wifi_ldpc; }

constexpr std::array turbo_stops{early_stop::none, early_stop::crc, early_stop::sign_agreement};
/// Of a transport block, which always has CRCs.
constexpr std::array transport_stops{early_stop::crc, early_stop::sign_agreement, early_stop::none};
constexpr std::array turbo_algorithms{map_algorithm::log_map, map_algorithm::max_log_map};
constexpr std::array ldpc_algorithms{ldpc_algorithm::normalised_min_sum, ldpc_algorithm::min_sum,
                                     ldpc_algorithm::offset_min_sum, ldpc_algorithm::sum_product};
constexpr std::array schedules{ldpc_schedule::layered, ldpc_schedule::flooding};
constexpr std::array precisions{ldpc_precision::float32, ldpc_precision::float16, ldpc_precision::int8};
constexpr std::array turbo_precisions{turbo_precision::float32, turbo_precision::bfloat16,
                                      turbo_precision::int16};
constexpr std::array conv_algorithms{conv_algorithm::viterbi, conv_algorithm::max_log_map,
                                     conv_algorithm::log_map};
constexpr std::array terminations{conv_ending::zero_tail, conv_ending::tail_biting};
constexpr std::array standards{conv_standard::ieee_802_11, conv_standard::ieee_802_16};
constexpr std::array orders{conv_order::serial, conv_order::streams};
constexpr std::array turbo_rates{turbo_rate::third, turbo_rate::half};

template <class Values>
std::vector<std::string> names_of(const Values& values) {
  std::vector<std::string> names;
  for (const auto& v : values) names.emplace_back(name_of(v));
  return names;
}

std::string among(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); i++)
    text += (i == 0 ? "\"" : i + 1 == words.size() ? " or \"" : ", \"") + words[i] + "\"";
  return text;
}

/// Takes the value whose name is the word, where one is given.
template <class Values, class Value>
void take(const char* setting, const std::optional<std::string>& word, const Values& values, Value& value) {
  if (!word) return;
  for (const auto& v : values)
    if (*word == name_of(v)) {
      value = v;
      return;
    }
  throw argument_error(setting, "\"" + *word + "\"", among(names_of(values)));
}
template <class T, class Value>
void take(const std::optional<T>& given, Value& value) {
  if (given) value = *given;
}

/// "133", "0133".
int octal(const char* setting, const std::string& text) {
  int value = 0;
  const bool digits = !text.empty() && text.size() <= 6 &&
                      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '7'; });
  if (digits) value = std::stoi(text, nullptr, 8);
  if (value == 0) throw argument_error(setting, "\"" + text + "\"", "octal numbers above 0, such as \"133\"");
  return value;
}

void take_turbo_decoder(const code_settings& s, turbo_settings& t) {
  take("algorithm", s.algorithm, turbo_algorithms, t.decoder.algorithm);
  take(s.iterations, t.decoder.iterations);
  take(s.windows, t.decoder.windows);
  take(s.overlap, t.decoder.overlap);
  take(s.extrinsic_scale, t.decoder.extrinsic_scale);
  take("precision", s.precision, turbo_precisions, t.decoder.precision);
  if (t.decoder.precision == turbo_precision::int16) take(s.llr_steps, t.decoder.llr_steps);
}

void take_turbo(const code_settings& s, turbo_settings& t) {
  take("rate", s.rate, turbo_rates, t.rate);
  t.interleaver = s.interleaver;
  take(s.code_rate, t.decoder.code_rate);
  take_turbo_decoder(s, t);
  take("early_stop", s.early_stop, turbo_stops, t.decoder.stop);
}

void take_transport(const code_settings& s, code_config& c) {
  c.k = s.transport_block_size.value_or(0);
  lte_transport_settings& t = c.transport;
  take(s.resource_elements, t.resource_elements);
  take(s.coded_bits, t.coded_bits);
  take(s.transmissions, t.transmissions);
  take(s.redundancy_versions, t.redundancy_versions);
  take(s.soft_buffer, t.soft_buffer);
  take_turbo_decoder(s, c.turbo);
  c.turbo.decoder.stop = transport_stops.front();
  take("early_stop", s.early_stop, transport_stops, c.turbo.decoder.stop);
}

void take_ldpc(const code_settings& s, ldpc_settings& l) {
  take(s.n, l.n);
  take(s.rate, l.rate);
  ldpc_decoder_config& d = l.decoder;
  take("algorithm", s.algorithm, ldpc_algorithms, d.algorithm);
  take(s.iterations, d.iterations);
  take("schedule", s.schedule, schedules, d.schedule);
  take("precision", s.precision, precisions, d.precision);
  if (d.algorithm == ldpc_algorithm::normalised_min_sum) take(s.scale, d.scale);
  if (d.algorithm == ldpc_algorithm::offset_min_sum) take(s.offset, d.offset);
  if (d.precision == ldpc_precision::int8) take(s.int8_steps, d.int8_steps);
  if (s.early_stop) {
    if (*s.early_stop != "syndrome" && *s.early_stop != "none")
      throw argument_error("early_stop", "\"" + *s.early_stop + "\"", "\"syndrome\" or \"none\"");
    d.early_stop = *s.early_stop == "syndrome";
  }
}

void take_conv(const code_settings& s, conv_settings& c) {
  take(s.constraint_length, c.constraint_length);
  if (s.generators)
    for (const std::string& g : *s.generators) c.generators.push_back(octal("generators", g));
  if (s.feedback && *s.feedback != "0") c.feedback = octal("feedback", *s.feedback);
  take(s.rate, c.rate);
  take("termination", s.termination, terminations, c.termination);
  take("standard", s.standard, standards, c.standard);
  take("order", s.order, orders, c.order);
  take("algorithm", s.algorithm, conv_algorithms, c.algorithm);
  if (c.termination == conv_ending::tail_biting) take(s.overlap, c.overlap);
}

}  // namespace

std::vector<code_type> types_with(std::string_view setting) {
  using enum code_type;
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), setting) != names.end();
  };
  if (is({"k", "crc"})) return {lte_turbo, wimax_ldpc, wifi_ldpc, conv, none};
  if (is({"rate"})) return {lte_turbo, wimax_ldpc, wifi_ldpc, conv};
  if (is({"algorithm"})) return {lte_turbo, lte_transport, wimax_ldpc, wifi_ldpc, conv};
  if (is({"iterations", "early_stop", "precision"})) return {lte_turbo, lte_transport, wimax_ldpc, wifi_ldpc};
  if (is({"overlap"})) return {lte_turbo, lte_transport, conv};
  if (is({"windows", "extrinsic_scale", "llr_steps"})) return {lte_turbo, lte_transport};
  if (is({"interleaver", "code_rate"})) return {lte_turbo};
  if (is({"transport_block_size", "resource_elements", "coded_bits", "transmissions", "redundancy_versions",
          "soft_buffer"}))
    return {lte_transport};
  if (is({"n", "scale", "offset", "schedule", "int8_steps"})) return {wimax_ldpc, wifi_ldpc};
  if (is({"termination", "constraint_length", "generators", "feedback", "standard", "order"})) return {conv};
  return {};
}

std::vector<std::string> words_of(code_type type, std::string_view setting) {
  if (setting == "rate") return rates_of(type);
  if (type == code_type::lte_turbo || type == code_type::lte_transport) {
    if (setting == "algorithm") return names_of(turbo_algorithms);
    if (setting == "early_stop")
      return type == code_type::lte_turbo ? names_of(turbo_stops) : names_of(transport_stops);
    if (setting == "precision") return names_of(turbo_precisions);
  } else if (is_ldpc(type)) {
    if (setting == "algorithm") return names_of(ldpc_algorithms);
    if (setting == "early_stop") return {"syndrome", "none"};
    if (setting == "schedule") return names_of(schedules);
    if (setting == "precision") return names_of(precisions);
  } else if (type == code_type::conv) {
    if (setting == "algorithm") return names_of(conv_algorithms);
    if (setting == "termination") return names_of(terminations);
    if (setting == "standard") return names_of(standards);
    if (setting == "order") return names_of(orders);
  }
  return {};
}

std::optional<code_choice> idle_with(const code_settings& s, std::string_view setting) {
  const std::vector<code_type> types = types_with(setting);
  if (std::find(types.begin(), types.end(), s.type) == types.end())
    return code_choice{"type", name_of(s.type)};
  const auto unless = [&](const char* choice, const std::optional<std::string>& given,
                          const char* needed) -> std::optional<code_choice> {
    const std::string value = given ? *given : words_of(s.type, choice).front();
    if (value == needed) return std::nullopt;
    return code_choice{choice, value};
  };
  if (setting == "scale") return unless("algorithm", s.algorithm, "normalised-min-sum");
  if (setting == "offset") return unless("algorithm", s.algorithm, "offset-min-sum");
  if (setting == "int8_steps") return unless("precision", s.precision, "int8");
  if (setting == "llr_steps") return unless("precision", s.precision, "int16");
  if (setting == "overlap" && s.type == code_type::conv)
    return unless("termination", s.termination, "tail-biting");
  return std::nullopt;
}

std::string hyphened(std::string word) {
  std::replace(word.begin(), word.end(), '_', '-');
  return word;
}

code_config config_of(const code_settings& s) {
  code_config c;
  c.type = s.type;
  if (c.type == code_type::lte_transport) {
    take_transport(s, c);
    return c;
  }
  if (s.k) c.k = *s.k;
  c.crc = s.crc;
  if (c.type == code_type::lte_turbo) take_turbo(s, c.turbo);
  if (is_ldpc(c.type)) take_ldpc(s, c.ldpc);
  if (c.type == code_type::conv) take_conv(s, c.conv);
  return c;
}

}  // namespace wb
