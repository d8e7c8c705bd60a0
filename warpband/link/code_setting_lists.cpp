#include <warpband/link/code_setting_lists.hpp>

#include <algorithm>
#include <climits>

#include <warpband/core/error.hpp>
#include <warpband/link/names.hpp>

namespace wb {
namespace {

using config_setting = setting_of<code_config>;
using config_settings = std::vector<config_setting>;

config_settings in_group(const char* group, config_settings all) {
  for (config_setting& s : all) s.group = group;
  return all;
}
void append(config_settings& all, config_settings more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}
template <class Part, class C>
config_settings of_part(Part part, const std::vector<setting_of<C>>& inner) {
  return within<code_config>(part, inner);
}

config_setting k_setting(std::string allowed, std::string text) {
  return integer("k", &code_config::k, 1, INT_MAX, std::move(text), std::move(allowed));
}
config_setting crc_setting() {
  const std::vector<std::string> names{"none", "crc24a", "crc24b"};
  return {"crc",
          "word",
          among(names),
          "The last 24 of the k bits are this CRC of the others. Its bits count as information.",
          names,
          [=](code_config& c, const setting_value& v) {
            const std::optional<crc_polynomial> polynomials[] = {std::nullopt, crc24a, crc24b};
            c.crc = polynomials[settings_detail::word("crc", v, names, among(names))];
          },
          [](const code_config& c) -> setting_value { return std::string(name_of(c.crc)); }};
}

/// A word that is kept as text, and is one of a type's rates.
template <class C>
setting_of<C> rate_setting(std::string C::*member, code_type type, std::string text) {
  const std::vector<std::string> rates = rates_of(type);
  const bool own = type == code_type::conv;  // generators of one's own: 1 / their number
  return {"rate",
          "word",
          among(rates),
          std::move(text),
          rates,
          [=](C& c, const setting_value& v) {
            const auto* w = std::get_if<std::string>(&v);
            const auto at = w != nullptr ? find_word(rates, *w) : std::nullopt;
            if (!at && !(own && w != nullptr && w->starts_with("1/")))
              settings_detail::refuse("rate", v, among(rates));
            c.*member = at ? rates[*at] : *w;
          },
          [=](const C& c) -> setting_value { return c.*member; }};
}

/// 0133 as "133".
std::string octal_text(int x) {
  std::string digits;
  for (unsigned v = static_cast<unsigned>(x); v != 0; v /= 8)
    digits.insert(digits.begin(), static_cast<char>('0' + v % 8));
  return digits.empty() ? "0" : digits;
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

setting_of<conv_settings> generators_setting() {
  const std::string allowed = "1 to 4 octal numbers in quotes, each below 2^K";
  return {"generators",
          "list of text",
          allowed,
          "In octal, the newest bit first: [\"133\", \"171\"], which is the default, with \"1/3\" [\"133\", "
          "\"171\", \"165\"], with code.standard = \"802.16\" [\"171\", \"133\"]. Their number is 1 / rate; "
          "a code of two may be punctured.",
          {},
          [=](conv_settings& c, const setting_value& v) {
            const auto* list = std::get_if<std::vector<std::string>>(&v);
            if (list == nullptr || list->empty()) settings_detail::refuse("generators", v, allowed);
            c.generators.clear();
            for (const std::string& g : *list) c.generators.push_back(octal("generators", g));
          },
          [](const conv_settings& c) -> setting_value {
            std::vector<std::string> list;
            for (const int g : c.generators) list.push_back(octal_text(g));
            return list;
          }};
}
setting_of<conv_settings> feedback_setting() {
  return {
      "feedback",
      "text",
      "an octal number of K bits in quotes; with code.termination = \"zero-tail\"",
      "A feedback polynomial makes the code recursive. A generator that equals it gives the information bit "
      "itself: generators = [\"7\", \"5\"] with feedback = \"7\" is systematic.",
      {},
      [](conv_settings& c, const setting_value& v) {
        const auto* text = std::get_if<std::string>(&v);
        if (text == nullptr) settings_detail::refuse("feedback", v, "an octal number in quotes");
        c.feedback = *text == "0" ? 0 : octal("feedback", *text);
      },
      [](const conv_settings& c) -> setting_value { return octal_text(c.feedback); }};
}

std::vector<setting_of<conv_settings>> conv_settings_of_code() {
  using c = conv_settings;
  return {rate_setting(&c::rate, code_type::conv,
                       "\"1/3\" has a third generator, 165; the rates above 1/2 puncture. With a zero tail R "
                       "is below the named rate, as the tail is sent too. Left out: 1 / the number of "
                       "generators, \"1/2\" without any."),
          words<c, conv_ending>(
              "termination", &c::termination,
              {{"zero-tail", conv_ending::zero_tail}, {"tail-biting", conv_ending::tail_biting}},
              "zero-tail: K - 1 zeros follow the k bits, and their coded bits are sent too; tail-biting: a "
              "codeword ends in the state in which it began, and k is at least K - 1."),
          integer("constraint_length", &c::constraint_length, 3, 9,
                  "K: length of the shift register, the newest bit included. Left out: what the largest "
                  "generator needs, 7 for 171."),
          generators_setting(),
          feedback_setting(),
          words<c, conv_standard>(
              "standard", &c::standard,
              {{"802.11", conv_standard::ieee_802_11}, {"802.16", conv_standard::ieee_802_16}},
              "Standard of the puncturing, and of the generators if none are given. 802.16 sends the bit of "
              "171 before that of 133, and otherwise the same bits as 802.11."),
          conv_order_setting(&c::order)};
}
std::vector<setting_of<conv_settings>> conv_decoder_settings() {
  using c = conv_settings;
  std::vector<setting_of<c>> all{
      words<c, conv_algorithm>("algorithm", &c::algorithm,
                               {{"viterbi", conv_algorithm::viterbi},
                                {"max-log-map", conv_algorithm::max_log_map},
                                {"log-map", conv_algorithm::log_map}},
                               "viterbi: the most likely codeword; the others give soft output too. Of "
                               "short tail-biting codewords all but viterbi with tail_biting \"exact\" "
                               "are approximations."),
      conv_overlap_setting(&c::overlap)
          .only_with("termination", {"tail-biting"})
          .only_with("tail_biting", {"overlap"}),
      tail_biting_setting(&c::tail_biting)
          .only_with("termination", {"tail-biting"})
          .only_with("algorithm", {"viterbi"})};
  for (auto& s : conv_precision_settings(&c::precision, &c::llr_steps, &c::windows,
                                         "int16: 8-bit LLRs and 16-bit metrics, several times faster. "
                                         "max-log-map of codes without feedback "
                                         "only.",
                                         "the largest power of two whose windows have at least 1024 steps "
                                         "and 12 overlaps, with max-log-map 256 steps and 5 overlaps."))
    all.push_back(s.name == "precision" ? std::move(s).only_with("algorithm", {"viterbi", "max-log-map"})
                                        : std::move(s));
  return all;
}

std::vector<setting_of<lte_transport_settings>> transport_settings() {
  using c = lte_transport_settings;
  return {
      integer("resource_elements", &c::resource_elements, 1, INT_MAX,
              "Resource elements, uses of the channel, that one transmission of a transport block takes: G = "
              "resource_elements mimo.streams log2(points of the modulation). This or coded_bits is needed.",
              "an integer from 1 on, at least one for each code block"),
      integer(
          "coded_bits", &c::coded_bits, 1, INT_MAX,
          "In place of resource_elements: G, bits of one transmission. R = A / G, and Eb/N0 is that of one "
          "transmission.",
          "a multiple of the bits of a resource element, up to 268435456"),
      integer("transmissions", &c::transmissions, 1, most_transmissions,
              "HARQ: the most transmissions of a transport block, which is sent again while its CRCs fail. "
              "Each transmission has noise and a channel of its own; the LLRs of all are added."),
      integers("redundancy_versions", &c::redundancy_versions, 0, 3,
               "Redundancy versions of the first, second, ... transmission. A shorter list begins again at "
               "its end. [0]: the same bits every time (Chase combining).",
               "1 to 8 integers from 0 to 3"),
      integer_or_auto(
          "soft_buffer", &c::soft_buffer, 0, 1, INT_MAX,
          "N_cb: how many bits of each code block's circular buffer are sent and kept. \"auto\": all.",
          "an integer from 1 on"),
      integer("modulation_order", &c::modulation_order, 1, 10, "Q_m, bits of a symbol.",
              "1, 2, 4, 6, 8, with 5G NR also 10")
          .not_of_links(),
      integer("layers", &c::layers, 1, 4, "N_L, that a transport block is mapped to.").not_of_links()};
}

turbo_decoder_config& turbo_decoder_of(code_config& c) { return c.turbo.decoder; }
ldpc_settings& ldpc_of(code_config& c) { return c.ldpc; }
conv_settings& conv_of(code_config& c) { return c.conv; }

config_settings turbo_settings_list() {
  using t = turbo_settings;
  const std::vector<setting_of<t>> own{
      words<t, turbo_rate>("rate", &t::rate, {{"1/3", turbo_rate::third}, {"1/2", turbo_rate::half}},
                           "With \"1/3\" all 3 k + 12 coded bits are sent, R = k / (3 k + 12). With \"1/2\" "
                           "the systematic bits are sent, the parity bits of the first encoder at even steps "
                           "and of the second at odd steps, and all 12 tail bits: R = k / (2 k + 12).")};
  config_settings all{k_setting(
      "an integer: one of the 188 LTE block sizes, 40 to 6144; with an interleaver any from 40 to 65536",
      "Bits of a frame into the encoder, its CRC included.")};
  append(all, of_part([](code_config& c) -> t& { return c.turbo; }, own));
  all.push_back(crc_setting());
  all.push_back(
      {"interleaver",
       "list of integers",
       "two integers, f1 and f2",
       "Coefficients of the QPP interleaver pi(i) = (f1 i + f2 i^2) mod k, in place of the standard's.",
       {},
       [](code_config& c, const setting_value& v) {
         const auto* f = std::get_if<std::vector<std::int64_t>>(&v);
         if (f == nullptr || f->size() != 2) settings_detail::refuse("interleaver", v, "two integers");
         c.turbo.interleaver = {static_cast<int>((*f)[0]), static_cast<int>((*f)[1])};
       },
       [](const code_config& c) -> setting_value {
         std::vector<std::int64_t> f;
         if (c.turbo.interleaver) f = {c.turbo.interleaver->f1, c.turbo.interleaver->f2};
         return f;
       }});
  return all;
}

/// Those of a polar code but k, which all codes have.
config_settings polar_settings_list() {
  config_settings all{
      k_setting("an integer: uci 12 to 1706, dci and pbch 1 to 140, plain 1 to 1024 less the CRC",
                "A: bits of a message, a frame, without its CRC.")};
  for (config_setting& s :
       of_part([](code_config& c) -> polar_config& { return c.polar.code; }, polar_settings()))
    if (s.name != "k") all.push_back(std::move(s));
  return all;
}

config_setting received_rate_setting() {
  config_setting s = of_part(turbo_decoder_of, std::vector{turbo_code_rate_setting()}).front();
  s.of_links = false;
  return s;
}

config_settings ldpc_settings_list(code_type type) {
  using l = ldpc_settings;
  const bool wimax = type == code_type::wimax_ldpc;
  const std::vector<setting_of<l>> own{
      integer("n", &l::n, 1, INT_MAX, "Bits of a codeword.",
              wimax ? "an integer: 576 to 2304 in steps of 96" : "an integer: 648, 1296 or 1944"),
      rate_setting(&l::rate, type, "Code rate.")};
  config_settings all{
      k_setting("an integer: that of n and rate", "Follows from n and the rate and may be left out.")};
  append(all, of_part(ldpc_of, own));
  all.push_back(crc_setting());
  return all;
}

/// Those of a base matrix from a file.
config_settings qc_settings_list() {
  using l = ldpc_settings;
  const std::vector<setting_of<l>> own{
      text("base_matrix", &l::base_matrix,
           "Path of a file with a quasi-cyclic parity-check matrix; a relative path starts at the scenario's "
           "folder. The file is CSV with a row of shifts in each line, -1 for a zero block, or alist.")
          .without_default(),
      integer_or_auto("lifting_size", &l::lifting_size, 0, 1, 4096,
                      "z: size of the blocks. \"auto\": what the file says, in CSV by a comment \"# z = "
                      "27\"; with alist the largest z for which the matrix is quasi-cyclic.",
                      "1 to 4096")};
  config_settings all{
      k_setting("an integer: that of the base matrix", "Follows from the base matrix and may be left out.")};
  append(all, of_part(ldpc_of, own));
  all.push_back(crc_setting());
  return all;
}

setting_of<ldpc_settings> base_graph_setting() {
  return integer_or_auto("base_graph", &ldpc_settings::base_graph, 0, 1, 2,
                         "\"auto\": 2 with k <= 292, with k <= 3824 and R <= 0.67, or with R <= 0.25.",
                         "1 or 2");
}
/// Those of lte-transport, the target code rate, limited buffers and scrambling.
std::vector<setting_of<lte_transport_settings>> nr_transport_settings() {
  using c = lte_transport_settings;
  std::vector<setting_of<c>> all = transport_settings();
  all.push_back(number_or_word("target_rate", &c::target_rate, "auto", 0, 0, 1,
                               "Target code rate, which chooses the base graph. \"auto\": A / G.",
                               "\"auto\" or a number from 0 to 1"));
  all.push_back(
      integer_or_auto("lbrm_resource_blocks", &c::lbrm_resource_blocks, 0, 1, 275,
                      "Limited-buffer rate matching (TS 38.212 section 5.4.2.1) on a carrier of this many "
                      "resource blocks. N_ref follows from them, from the layers of the link, and from "
                      "64-QAM or its modulation if that is larger. DL-SCH always has it, UL-SCH if the "
                      "network says so. \"auto\": soft_buffer applies instead.",
                      "an integer from 1 to 275")
          .left_out_by_default());
  all.push_back(
      integer("scrambling", &c::scrambling, -1, INT_MAX, "c_init of the scrambling sequence; -1: none.")
          .not_of_links());
  return all;
}
config_settings nr_settings_list() {
  using l = ldpc_settings;
  const std::vector<setting_of<l>> own{
      integer("n", &l::n, 1, INT_MAX,
              "E: how many bits of a code block are sent, with redundancy version 0. Left out: 2 k.",
              "an integer from 1 to 16777216"),
      base_graph_setting()};
  config_settings all{k_setting("an integer from 5 to 8448, with base graph 2 to 3840",
                                "Bits of a code block, its CRC included.")};
  append(all, of_part(ldpc_of, own));
  all.push_back(crc_setting());
  return all;
}

config_settings ldpc_decoder_list() {
  return of_part([](code_config& c) -> ldpc_decoder_config& { return c.ldpc.decoder; },
                 ldpc_decoder_settings());
}

}  // namespace

std::vector<setting_of<code_config>> code_setting_list(code_type type) {
  config_settings code, decoder;
  switch (type) {
    case code_type::none:
      code = {k_setting("an integer from 1 to 16777216", "Bits of a frame."), crc_setting()};
      break;
    case code_type::lte_turbo:
      code = turbo_settings_list();
      decoder = of_part(turbo_decoder_of, turbo_decoder_settings());
      decoder.push_back(received_rate_setting());
      break;
    case code_type::lte_transport:
      code = {integer(
          "transport_block_size", &code_config::k, 1, INT_MAX,
          "A: information bits of a transport block, a frame, without CRCs; from 6121 on it is cut into "
          "code blocks.",
          "an integer from 1 to 1048576")};
      append(code, of_part([](code_config& c) -> lte_transport_settings& { return c.transport; },
                           transport_settings()));
      decoder = of_part(turbo_decoder_of, turbo_decoder_settings());
      break;
    case code_type::wimax_ldpc:
    case code_type::wifi_ldpc:
      code = ldpc_settings_list(type);
      decoder = ldpc_decoder_list();
      break;
    case code_type::nr_ldpc:
      code = nr_settings_list();
      decoder = ldpc_decoder_list();
      break;
    case code_type::nr_dlsch:
    case code_type::nr_ulsch:
      code = {integer("transport_block_size", &code_config::k, 1, INT_MAX,
                      "A: information bits of a transport block of DL-SCH or UL-SCH, a frame, without CRCs.",
                      "an integer from 1 to 2097152, of equal code blocks")};
      append(code, of_part([](code_config& c) -> lte_transport_settings& { return c.transport; },
                           nr_transport_settings()));
      append(code, of_part(ldpc_of, std::vector{base_graph_setting()}));
      decoder = ldpc_decoder_list();
      break;
    case code_type::qc_ldpc:
      code = qc_settings_list();
      decoder = ldpc_decoder_list();
      break;
    case code_type::conv:
      code = {k_setting("an integer from 1 to 65536", "Bits of a frame into the encoder, its CRC included.")};
      append(code, of_part(conv_of, conv_settings_of_code()));
      code.push_back(crc_setting());
      decoder = of_part(conv_of, conv_decoder_settings());
      break;
    case code_type::polar:
      code = polar_settings_list();
      decoder = of_part([](code_config& c) -> polar_decoder_config& { return c.polar.decoder; },
                        polar_decoder_settings());
      break;
  }
  code = in_group("code", std::move(code));
  append(code, in_group("decoder", std::move(decoder)));
  return code;
}

}  // namespace wb
