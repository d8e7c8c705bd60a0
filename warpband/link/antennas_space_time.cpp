// A space-time code: codewords of two or four uses, in slots or on subcarriers.
#include <warpband/core/as_size.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/config/link_schema.hpp>
#include <warpband/link/link_settings.hpp>
#include <warpband/link/tradeoff.hpp>
#include <warpband/receive/open_loop.hpp>
#include <warpband/stbc/stbc.hpp>

namespace wb {
namespace {

const stbc_config& code_of(const link_config& c) { return c.antennas.get<stbc_config>(); }
/// Uses of the channel that a codeword takes.
std::size_t uses_of(const link_config& c) { return as_size(code_of(c).code.uses()); }

void add_space_time_keys(config::schema& s, const std::vector<setting_condition>& allowed) {
  config::add_table(
      s, "stbc.type", stbc_settings(), allowed,
      "In every channel but awgn and cdl, with QPSK to 256-QAM, and not with transport blocks. Its "
      "maximum-likelihood decoder replaces the detector: uncoded links take the most likely codeword, "
      "coded ones max-log LLRs. With code.type = \"none\" and code.k = the bits of a codeword the frame "
      "error rate is the codeword error rate.");
}

void read_space_time(const config::link_keys& keys, link_config& link) {
  stbc_config c;
  keys.take("stbc", stbc_settings(), c);
  const config::place type = keys.tree().where("stbc.type"), streams = keys.tree().where("mimo.streams");
  const std::string choice = std::string("with stbc.type = \"") + name_of(c.code) + "\"";
  if (std::string(name_of(c.code)) == "pair" && !keys.tree().has("stbc.v"))
    keys.refuse(type.line, "stbc.v is missing " + choice,
                ": add, for instance, v = [[1, 0], [0, 0], [0, 0], [-1, 0]]");
  const int tx = c.code.tx_antennas();
  if (streams.level >= type.level && keys.number("mimo.streams", tx) != tx)
    keys.refuse(streams.line, "mimo.streams = " + std::to_string(keys.number("mimo.streams", tx)) +
                                  " is not allowed: expected " + std::to_string(tx) + ' ' + choice);
  c.rx_antennas = keys.number("mimo.rx_antennas", 1);
  link.antennas = c;
}

void complete_space_time(link_config& c) {
  check_modulation(c.qam, "a space-time code");
  if (is_transport(c.code))
    throw argument_error("code.type", "\"" + c.code.type + "\"", "another one with a space-time code");
  auto& code = c.antennas.edit<stbc_config>();
  code.qam = c.qam;
  check(code);
  c.code = completed(c.code);
  complete_channel(c);
}

/// Both searches of the Golden code; other codes have one.
std::vector<link_antennas> space_time_candidates(const link_config& c) {
  stbc_config other = code_of(c);
  other.method = stbc_method::conditional;
  std::vector<link_antennas> candidates{c.antennas};
  if (other.code.kind() != space_time_kind::golden) return candidates;
  other.search = other.search == golden_search::exact ? golden_search::slicing : golden_search::exact;
  other.extrinsic = false;
  candidates.emplace_back(other);
  return candidates;
}
std::vector<link_antennas> space_time_limits(const link_antennas& a) {
  auto code = a.get<stbc_config>();
  std::vector<link_antennas> candidates;
  for (const float clip : clip_candidates(code.llr_clip.value_or(no_clip), false)) {
    code.llr_clip = clip == no_clip ? std::nullopt : std::optional(clip);
    candidates.emplace_back(code);
  }
  return candidates;
}
/// "golden slicing, clip 8".
std::string space_time_name(const link_antennas& a) {
  const auto& code = a.get<stbc_config>();
  std::string name = name_of(code.code);
  if (code.code.kind() == space_time_kind::golden)
    name += " " + plain(find_setting(stbc_settings(), "search")->get(code));
  if (code.llr_clip) name += ", clip " + plain(setting_value(as_written(*code.llr_clip)));
  return name;
}

std::unique_ptr<antenna_system> make_pairs(const link_config& c) {
  const auto encoder = std::make_shared<const stbc_encoder>(code_of(c).code, c.qam);
  const std::size_t slots = uses_of(c), tx = as_size(code_of(c).code.tx_antennas());
  return make_antennas_in_uses(c, [=](executor& exec, const std::uint8_t* bits, auto* to, std::size_t uses) {
    const std::size_t codewords = uses / slots;
    encoder->run(exec, make_view(bits, codewords, encoder->bits_per_codeword()),
                 make_view(to, codewords, tx * slots));
  });
}

/// Hypotheses of a codeword, roughly; those of the Golden code are dearer.
std::uint64_t hypotheses(const stbc_config& c) {
  const auto points = static_cast<std::uint64_t>(c.qam);
  if (c.method == stbc_method::exhaustive)
    return points * points * (c.code.symbols() == 4 ? points * points : 1);
  if (c.code.kind() == space_time_kind::alamouti || c.code.over_subcarriers()) return 16;
  return 2 * points * points * (c.code.kind() == space_time_kind::golden ? 4 : 1);
}

}  // namespace

antenna_kind space_time_antennas_kind() {
  return {
      .name = "space-time",
      .key = "stbc.type",
      .idle = {"detector", "modem.demapper", "nr.channel"},
      .add_keys = add_space_time_keys,
      .read = read_space_time,
      .complete = complete_space_time,
      .check_loop =
          [](const link_config& c) {
            check_bit_loop(c, takes_prior(code_of(c)) ? "" : "stbc.search = \"slicing\"");
          },
      .streams = [](const link_config& c) { return code_of(c).code.tx_antennas(); },
      .rx_antennas = [](const link_config& c) { return code_of(c).rx_antennas; },
      .symbols_per_use =
          [](const link_config& c) { return code_of(c).code.symbols() / code_of(c).code.uses(); },
      .uses_at_once = [](const link_config& c) { return code_of(c).code.uses(); },
      .channels_at_once = [](const link_config& c) { return code_of(c).code.channels(); },
      .uses_for =
          [](const link_config& c, std::size_t symbols) {
            const auto once = static_cast<std::size_t>(code_of(c).code.symbols());
            return (symbols + once - 1) / once * uses_of(c);
          },
      .describe =
          [](const link_config& c, air_antennas& a) {
            a.system = air_system::space_time;
            a.together = uses_of(c);
            a.in_frequency = code_of(c).code.over_subcarriers();
          },
      .decides_uncoded = "an uncoded space-time code",
      .results =
          [](const link_config& c) {
            named_values values = mimo_values(c);
            add_values(values, "stbc", stbc_settings(), code_of(c));
            return values;
          },
      .work = [](const link_config& c) { return uses_per_frame(c) / uses_of(c) * hypotheses(code_of(c)); },
      .make = make_pairs,
      .make_detector = [](const link_config& c) { return make_open_detector(code_of(c)); },
      .make_loop = [](const link_config& c) { return make_bit_loop(c, make_soft_detector(code_of(c))); },
      .candidates = space_time_candidates,
      .limits = space_time_limits,
      .receiver_name = space_time_name,
  };
}

}  // namespace wb
