// The keys of links: which settings they are, of what, and with what they have a meaning.
#include <warpband/link/config/link_schema.hpp>

#include <algorithm>

#include <warpband/channel/cdl/profile.hpp>
#include <warpband/channel/tdl/profile.hpp>
#include <warpband/code/code_texts.hpp>
#include <warpband/code/turbo.hpp>
#include <warpband/core/error.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/link_settings.hpp>

namespace wb::config {
namespace {

using conditions = std::vector<setting_condition>;

constexpr const char *db_allowed = "a number from -100 to 100",
                     *list_allowed = "a rising list of numbers from -100 to 100, or { from, to, step }",
                     *probability_allowed = "a number from 0 to 1",
                     *probabilities_allowed = "a rising list of numbers from 0 to 1, or { from, to, step }";
constexpr snr_axis snr_axes[] = {snr_axis::ebn0_db, snr_axis::snr_db, snr_axis::esn0_db};
const setting_condition without_nr{"nr.channel", {"none"}}, without_detector{"detector.type", {"none"}};

/// That no antenna system is chosen with which a key, or its table, has no meaning.
conditions without(const std::string& key) {
  conditions list;
  for (const antenna_kind& kind : antenna_kinds())
    for (const std::string& idle : kind.idle)
      if (key == idle || key.starts_with(idle + ".")) list.push_back({std::string(kind.key), {"none"}});
  return list;
}

void add_top(schema& s) {
  struct top {
    std::string title, label;
    std::uint64_t seed = 1;
  };
  s.add("", text("title", &top::title, "Shown above the plot.")).where = scope::base;
  s.add("",
        integer("seed", &top::seed, 0, INT64_MAX,
                "Key of all random numbers. The same seed gives the same counts, whatever the device, the "
                "number of threads and the batch size; `warpband sim --seed` overrides it."));
  s.add("", text("label", &top::label,
                 "Only in [[curve]]: the curve's name in tables and plots. Left out: \"curve 1\", \"curve "
                 "2\", ...",
                 "text in quotes, another one for each curve")
                .without_default())
      .where = scope::curve;
}

/// Which code; its settings are then those of its type.
void add_code_type(schema& s) {
  struct choice {
    std::string type = "lte-turbo";
  };
  std::vector<std::pair<std::string, std::string>> names;
  for (const code_kind& kind : codes()) names.emplace_back(kind.name, kind.name);
  s.add("code",
        words("type", &choice::type, names,
              "The turbo code of LTE (3GPP TS 36.212 §5.1.3) or UMTS, and transport blocks of LTE with HARQ "
              "(§5.1.1 to §5.1.4, docs/lte.md). LDPC codes of IEEE 802.16e (§8.4.9.2.5), of 802.11n (annex "
              "R), of CCSDS and of a file, and frames of DVB-S2 (docs/ldpc.md). Code blocks and transport "
              "blocks of 5G NR (TS 38.212, docs/nr-ldpc.md). A convolutional code. Polar codes "
              "(docs/polar.md). Duo-binary "
              "turbo codes of WiMAX and DVB-RCS (docs/ctc.md). Or no code, R = 1."));
}

/// Of transport blocks, what slots of 5G NR say.
bool follows_from_slot(const std::string& name) {
  for (const char* setting : {"transport_block_size", "coded_bits", "resource_elements", "target_rate"})
    if (name == setting) return true;
  return false;
}

/// Which decoder, where the program has some: then keys of [decoder] belong to the built-in ones.
conditions add_decoder_type(schema& s) {
  struct choice {
    std::string type = "built-in";
  };
  std::vector<std::pair<std::string, std::string>> names{{"built-in", "built-in"}};
  std::string meaning = "built-in: the library's decoder of the code.";
  for (const decoder_kind& kind : decoders()) {
    names.emplace_back(kind.name, kind.name);
    meaning += " " + kind.name + ": " + kind.text;
  }
  if (names.size() == 1) return {};
  std::vector<std::string> decoded;
  for (const code_kind& kind : codes())
    if (kind.make && !kind.harq) decoded.push_back(kind.name);
  s.add("decoder", words("type", &choice::type, names, meaning), {}, "", {{"code.type", decoded}});
  return {{"decoder.type", {"built-in"}}};
}

void add_codes(schema& s) {
  add_code_type(s);
  const auto add = [&](const char* group, const conditions& more) {
    for (const code_kind& kind : codes()) {
      conditions when{{"code.type", {kind.name}}};
      when.insert(when.end(), more.begin(), more.end());
      add_code_keys(s, group, kind, when);
    }
  };
  add("code", {});
  using f = interleaver_coefficients;
  const std::vector<setting_of<f>> coefficients{
      integer(
          "interleaver.f1", &f::f1, INT32_MIN, INT32_MAX,
          "With f2: the coefficients of the QPP interleaver pi(i) = (f1 i + f2 i^2) mod k, in place of the "
          "standard's, for instance interleaver = { f1 = 263, f2 = 480 }. C++ and Python take any "
          "permutation.",
          "an integer, together with f2")
          .without_default(),
      integer("interleaver.f2", &f::f2, INT32_MIN, INT32_MAX, "See f1.", "an integer, together with f1")
          .without_default()};
  s.add("code", coefficients, {}, "lte-turbo", {{"code.type", {"lte-turbo"}}});
  add("decoder", add_decoder_type(s));
}

void add_modem(schema& s) {
  for (setting_of<link_config> setting : modem_settings()) {
    if (setting.name == "mutual_information") continue;
    conditions when = without("modem.modulation");
    for (const setting_condition& c : setting.conditions) when.push_back({"modem." + c.setting, c.words});
    setting.conditions.clear();
    s.add("modem", std::move(setting), {}, "", std::move(when));
  }
  conditions of_symbols = without("modem.demapper");
  of_symbols.push_back(without_detector);
  setting_condition demapped{"channel.type", {}};
  for (const air_kind& kind : airs())
    if (!kind.of_bits) demapped.words.push_back(kind.name);
  of_symbols.push_back(demapped);
  s.add("modem", demapper_settings(), {}, "", of_symbols);
  s.add("modem", modem_settings().back());
}

/// The condition of a key of a profile: a standard's by name, or delays of one's own and what belongs to
/// them.
void add_profile_condition(conditions& when, const std::string& name) {
  const bool named = name == "profile" || name == "delay_spread_ns";
  if (name != "delays_ns" && find_setting(cdl_profile_settings(), name) != nullptr)
    when.push_back({"channel.delays_ns", {named ? "none" : "given"}});
}

void add_channels(schema& s) {
  struct choice {
    std::string type = "awgn";
  };
  std::vector<std::pair<std::string, std::string>> names;
  std::string meaning;
  for (const air_kind& kind : airs()) {
    names.emplace_back(kind.name, kind.name);
    meaning += (meaning.empty() ? "" : " ") + kind.name + ": " + kind.text;
  }
  s.add("channel", words("type", &choice::type, names,
                         meaning + " docs/channels.md has what each is with which antennas."));
  for (const air_kind& kind : airs()) {
    const bool has_profile = find_setting(kind.keys, "delays_ns") != nullptr;
    for (setting_of<box> setting : kind.keys) {
      conditions when{{"channel.type", {kind.name}}};
      if (has_profile) add_profile_condition(when, setting.name);
      std::erase_if(setting.conditions, [&](const setting_condition& c) {
        const bool is_of_link = c.setting.find('.') != std::string::npos;
        if (is_of_link) when.push_back(c);
        return is_of_link;
      });
      s.add("channel", std::move(setting), {}, kind.name, when);
    }
  }
}

void add_antennas(schema& s) {
  detector_config one;
  one.streams = one.rx_antennas = 1;
  s.add("mimo",
        streams_setting(&detector_config::streams,
                        "Symbols sent in one use of the channel, each from an antenna of its own with Es = "
                        "1. The bits of a frame go to them symbol by symbol; zeros fill the last use. With a "
                        "space-time code: its antennas, 2, or 4 with fstd; may be left out."),
        one, "", without("mimo.streams"));
  s.add("mimo",
        rx_antennas_setting(
            &detector_config::rx_antennas,
            "Receive antennas. With more than one, or several streams, a detector replaces the demapper."),
        one, "", without("mimo.rx_antennas"));
  add_detector_keys(s, without("detector"));
  s.entry("detector.type").key.initial = "";
  s.note("detector.type", "Left out: \"mmse\" with several antennas; with one of each the demapper.");
  for (const antenna_kind& kind : antenna_kinds())
    if (!kind.key.empty()) kind.add_keys(s, without(std::string(kind.key)));
}

void add_receiver(schema& s) {
  s.add("receiver", receiver_settings());
  s.note("receiver.outer",
         "Errors are counted after each of them. Detector and decoder must both take and give soft values "
         "(docs/iterative.md); a frame whose checks hold is finished. In a massive-MIMO uplink the first one "
         "detects with massive.solver, as the open loop does, and all others with MMSE and parallel "
         "interference cancellation; a drop is finished once all its codewords are.");
}

// ---- what takes several keys

bool is_none(const key_tree& keys, const std::string& choice) {
  const given* g = keys.find(choice);
  return g == nullptr || plain(g->value) == "none";
}
std::int64_t count_of(const key_tree& keys, const std::string& key) {
  const given* g = keys.find(key);
  return g == nullptr ? 1 : std::get<std::int64_t>(g->value);
}

std::optional<implied_choice> implied(const key_tree& keys, const std::string& choice) {
  if (choice == "channel.delays_ns") {  // with delays of one's own no profile has a meaning
    if (keys.has(choice)) return implied_choice{"given", keys.level(choice), "with channel.delays_ns"};
    const given* profile = keys.find("channel.profile");
    return implied_choice{"none", keys.level("channel.profile"),
                          profile == nullptr ? "without channel.delays_ns"
                                             : "with channel.profile = " + as_message(profile->value)};
  }
  if (choice != "detector.type" || !is_none(keys, "nr.channel")) return std::nullopt;
  const int antennas = std::max(keys.level("mimo.streams"), keys.level("mimo.rx_antennas"));
  if (const given* type = keys.find(choice)) {
    const std::string& name = detectors().get(plain(type->value)).name;
    return implied_choice{name, antennas, "with a detector, here \"" + name + "\""};
  }
  if (count_of(keys, "mimo.streams") > 1 || count_of(keys, "mimo.rx_antennas") > 1)
    return implied_choice{"mmse", antennas, "with a detector, here \"mmse\""};
  return implied_choice{"none", antennas, "without detector.type or several antennas"};
}

/// A kind's settings with those keys from which k follows beside n. One that is not allowed is refused once
/// its own key is read.
box sized(const code_kind& kind, const key_tree& keys) {
  box settings = kind.initial;
  for (const std::string& cause : kind.k_follows_from) {
    const given* g = keys.find("code." + cause);
    if (cause == "n" || g == nullptr) continue;
    try {
      find_setting(kind.settings, cause)->set(settings, g->value);
    } catch (const argument_error&) {
      continue;
    }
  }
  return settings;
}

/// Slots of 5G NR carry transport blocks: their code need not be named. Sizes of an LDPC code that contradict
/// a more specific level are dropped.
void adjust(key_tree& keys) {
  if (!is_none(keys, "nr.channel") && !keys.has("code.type"))
    keys.set("code.type", {std::string("nr-dlsch"), keys.where("nr.channel")});
  const given* type = keys.find("code.type");
  if (type == nullptr) return;
  const code_kind& kind = codes().get(plain(type->value));
  const std::vector<std::string>& causes = kind.k_follows_from;
  if (causes.empty()) return;  // k is free
  if (const given* n = keys.find("code.n"); n != nullptr && n->where.level < type->where.level &&
                                            std::find(causes.begin(), causes.end(), "n") != causes.end())
    if (kind.k_of &&
        !kind.k_of(sized(kind, keys), static_cast<std::size_t>(std::get<std::int64_t>(n->value))))
      keys.drop("code.n");
  int chosen = type->where.level;
  for (const std::string& cause : causes) chosen = std::max(chosen, keys.level("code." + cause));
  if (keys.level("code.k") < chosen) keys.drop("code.k");
}

/// A profile's name, or its family's.
std::string hint(const std::string& key, const std::string& word) {
  if (key != "channel.type") return "";
  const bool cdl = find_word(cdl_profile_names(), word) || word.starts_with("winner");
  if (!cdl && !find_word(tdl_profile_names(), word)) return "";
  return std::string("a profile is named by channel.profile, with channel.type = ") +
         (cdl ? "\"cdl\"" : "\"tdl\"");
}

std::vector<std::string> points_of(const std::string& axis) {
  return {axis, axis + ".from", axis + ".to", axis + ".step"};
}

}  // namespace

const std::vector<setting_of<sweep_points>>& points_settings(snr_axis axis) {
  using p = sweep_points;
  const auto settings = [](const std::string& name, const std::string& meaning) {
    return std::vector{
        numbers(name, &p::list, -100, 100, meaning, list_allowed),
        number(name + ".from", &p::from, -100, 100, "First point of a range, in dB.", false, db_allowed)
            .without_default(),
        number(name + ".to", &p::to, -100, 100, "End of a range, in dB: a point if the steps meet it.", false,
               db_allowed)
            .without_default(),
        number(name + ".step", &p::step, 0.001, 100, "Distance of the points of a range, in dB.")
            .without_default()};
  };
  static const std::vector<setting_of<p>> ebn0 = settings(
      "ebn0_db",
      "Eb/N0 of the points in dB, per information bit: Es/N0 = Eb/N0 + 10 log10(R m) with m bits a "
      "symbol; with several antennas SNR = Eb/N0 + 10 log10(streams R m / rx_antennas). "
      "The streams of alamouti, sfbc and fstd count as one. This, snr_db or esn0_db is needed, as a list, "
      "[0.0, 0.2, 0.4], one number, or a range, { from = 0.0, to = 0.4, step = 0.2 }.");
  static const std::vector<setting_of<p>> snr =
      settings("snr_db",
               "In place of ebn0_db: the mean SNR of a receive antenna in dB, 10 log10(streams Es/N0); with "
               "one stream Es/N0.");
  static const std::vector<setting_of<p>> esn0 =
      settings("esn0_db",
               "In place of ebn0_db: the mean Es/N0 of one stream at one receive antenna in dB, SNR - 10 "
               "log10(streams). With massive MIMO a user is a stream, in slots of 5G NR a layer.");
  static const std::vector<setting_of<p>> probability{
      numbers("probability", &p::list, 0, 1,
              "With a channel of bits in place of ebn0_db: its probability, of a flipped bit (bsc), of an "
              "erased one (bec), of a 1 that becomes 0 (z). The points rise by 0.1% or more.",
              probabilities_allowed),
      number("probability.from", &p::from, 0, 1, "First point of a range.", false, probability_allowed)
          .without_default(),
      number("probability.to", &p::to, 0, 1, "End of a range: a point if the steps meet it.", false,
             probability_allowed)
          .without_default(),
      number("probability.step", &p::step, 1e-9, 1, "Distance of the points of a range.").without_default()};
  switch (axis) {
    case snr_axis::ebn0_db:
      return ebn0;
    case snr_axis::snr_db:
      return snr;
    case snr_axis::esn0_db:
      return esn0;
    case snr_axis::probability:
      return probability;
  }
  return ebn0;
}

const std::vector<setting_of<fer_target>>& target_settings() {
  using f = fer_target;
  static const std::vector<setting_of<f>> settings{
      number(
          "target_fer", &f::fer, 1e-9, 0.999,
          "In place of a list of points: searches for the Eb/N0, SNR or Es/N0 at which the frame error rate "
          "is this one, by bisection with exact confidence intervals. ebn0_db, snr_db or esn0_db then says "
          "where to search, { from, to } or any list; left out, -30 to 60 dB of Eb/N0. The point lies in the "
          "interval that is found with a probability of 95% or more. stop.max_frames is for all points "
          "of the search together, left out 10000000; other stop rules have no effect. With massive "
          "MIMO it is the rate of drops with any wrong codeword.",
          false, "a number from 1e-9 to 0.999")
          .without_default(),
      number("target_width_db", &f::width_db, 0.01, 10,
             "With target_fer: the search ends once its interval is this narrow. Left out: 0.1.")
          .without_default()};
  return settings;
}

namespace {

/// Square QAM is `qam`, all else `constellation`.
setting_of<link_config> any_modulation_setting() {
  const std::vector<std::string>& others = find_setting(constellation_settings(), "type")->words;
  std::vector<std::string> names;
  for (const auto& [name, points] : modulation_names()) names.push_back(name);
  names.insert(names.end(), others.begin(), others.end());
  return {
      "modulation",
      "word",
      among(names),
      "Gray mapping of 3GPP TS 38.211 §5.1 with unit mean energy. With several antennas or a detector "
      "\"qpsk\" to \"256qam\". With one antenna also \"8psk\", \"16apsk\" and \"32apsk\" of DVB-S2, EN 302 "
      "307-1 §5.4, and \"points\" of your own. With code.type = \"dvb-s2\" those of DVB-S2 have its bit "
      "interleaver.",
      names,
      [=](link_config& c, const setting_value& v) {
        const std::string& name = names[settings_detail::word("modulation", v, names, among(names))];
        c.constellation.reset();
        if (find_word(others, name)) c.constellation.emplace().type = name;
        for (const auto& [qam, points] : modulation_names())
          if (qam == name) c.qam = points;
      },
      [](const link_config& c) -> setting_value { return name_of_modulation(c); }};
}

/// The other settings of a constellation, whose type is the modulation.
std::vector<setting_of<link_config>> point_settings() {
  std::vector<setting_of<link_config>> lifted;
  for (const setting_of<constellation_config>& s : constellation_settings()) {
    if (s.name == "type") continue;
    std::string text = s.text;
    if (s.name == "ring_ratios") text += " Left out with code.type = \"dvb-s2\": those of its rate.";
    conditions when = s.conditions;
    for (setting_condition& c : when) c.setting = "modulation";
    lifted.push_back({s.name, s.kind, s.allowed, text, s.words,
                      [set = s.set](link_config& c, const setting_value& v) {
                        if (!c.constellation) c.constellation.emplace();
                        set(*c.constellation, v);
                      },
                      [get = s.get](const link_config& c) {
                        return c.constellation ? get(*c.constellation) : setting_value();
                      },
                      when});
  }
  return lifted;
}

}  // namespace

const std::vector<setting_of<link_config>>& modem_settings() {
  static const std::vector<setting_of<link_config>> settings = [] {
    std::vector<setting_of<link_config>> list = point_settings();
    list.insert(list.begin(), any_modulation_setting());
    list.push_back(
        boolean("mutual_information", &link_config::mutual_information,
                "Also measures the mutual information of a sent bit b and its LLR L, 1 - E log2(1 + "
                "exp(-(1 - 2 b) L)) bits, for tables, results and `--metric mutual_information`. Not "
                "with [receiver], transport blocks or an uncoded space-time code."));
    return list;
  }();
  return settings;
}

const std::vector<setting_of<single_antenna>>& demapper_settings() {
  static const std::vector<setting_of<single_antenna>> settings{demap_algorithm_setting(
      "demapper", &single_antenna::demapper,
      "How LLRs are computed, without a detector. The two are the same for BPSK and QPSK.")};
  return settings;
}

void add_code_keys(schema& s, const std::string& group, const code_kind& kind, const conditions& when) {
  for (setting_of<box> setting : kind.settings) {
    if (setting.group != group || !setting.of_links || setting.name == "interleaver") continue;
    for (setting_condition& c : setting.conditions)
      c.setting = find_setting(kind.settings, c.setting)->group + "." + c.setting;
    conditions whole = when;
    if (kind.name == "nr-dlsch" && follows_from_slot(setting.name)) whole.push_back(without_nr);
    s.add(group, std::move(setting), kind.initial, kind.name, std::move(whole));
  }
}

void add_detector_keys(schema& s, const conditions& when) {
  s.add("detector", detector_type_setting(), {}, "", when);
  conditions with_any = when;
  with_any.push_back({"detector.type", detectors().names()});
  s.add("detector", common_detector_settings(), {}, "", with_any);
  for (const detector_kind& kind : detectors()) {
    conditions with_kind = when;
    with_kind.push_back({"detector.type", {kind.name}});
    s.add("detector", kind.settings, {}, kind.name, with_kind);
  }
}

detector_config detector_of(const key_tree& keys) {
  detector_config c;
  if (const given* type = keys.find("detector.type")) c.type = detectors().get(plain(type->value)).name;
  apply(keys, "detector", settings_of(c.kind()), c);
  return c;
}

setting_condition made_choice(const schema& s, const std::string& choice) {
  std::vector<std::string> words = s.find(choice)->versions.front().words;
  words.erase(words.begin());  // "none"
  return {choice, words};
}

namespace {

schema make_link_schema() {
  schema s;
  add_top(s);
  add_codes(s);
  add_modem(s);
  add_channels(s);
  add_antennas(s);
  add_receiver(s);
  for (const snr_axis axis : snr_axes) s.add("sweep", points_settings(axis));
  std::vector<std::string> of_bits;
  for (const air_kind& kind : airs())
    if (kind.of_bits) of_bits.push_back(kind.name);
  s.add("sweep", points_settings(snr_axis::probability), {}, "", {{"channel.type", of_bits}});
  s.add("sweep", target_settings());
  for (const setting_of<stop_rule>& setting : stop_settings())
    if (setting.name == "below_bler") {
      for (const antenna_kind& kind : antenna_kinds())
        if (kind.many_codewords && !kind.key.empty())
          s.add("stop", setting, {}, "", {made_choice(s, std::string(kind.key))});
    } else {
      s.add("stop", setting);
    }
  s.describe();
  for (const code_setting_text& text : code_setting_texts())  // as options of the command have them
    if (text.of_links && text.name != "interleaver") {
      scenario_key& key = s.entry(text.group + "." + text.name).key;
      key.allowed = text.allowed, key.text = text.text, key.initial = text.initial;
    }
  s.other_names = {{"modem.qam", "modem.modulation"},
                   {"detector.qam", "modem.modulation"},
                   {"massive.qam", "modem.modulation"},
                   {"detector.k", "detector.survivors"},
                   {"detector.n", "detector.ways"},
                   {"detector.streams", "mimo.streams"},
                   {"detector.rx_antennas", "mimo.rx_antennas"},
                   {"stbc.code", "stbc.type"},
                   {"code.algorithm", "decoder.algorithm"},
                   {"code.iterations", "decoder.iterations"}};
  if (s.find("decoder.type") == nullptr) s.other_names["decoder.type"] = "decoder.algorithm";
  s.either = {
      {points_of("sweep.ebn0_db"), points_of("sweep.snr_db"),
       "sweep has both ebn0_db and snr_db: expected one of them"},
      {points_of("sweep.ebn0_db"), points_of("sweep.esn0_db"),
       "sweep has both ebn0_db and esn0_db: expected one of them"},
      {points_of("sweep.snr_db"), points_of("sweep.esn0_db"),
       "sweep has both snr_db and esn0_db: expected one of them"},
      {{"code.coded_bits"},
       {"code.resource_elements"},
       "code has both resource_elements and coded_bits: expected one of them"},
      {{"channel.profile"}, {"channel.delays_ns"}, "channel.profile has no meaning with channel.delays_ns"},
      {{"channel.antenna_spacing_wavelengths"},
       {"channel.antenna_spacing_m"},
       "channel.antenna_spacing_wavelengths has no meaning with channel.antenna_spacing_m"}};
  for (const snr_axis axis : snr_axes) {
    const std::string name = name_of(axis);
    s.either.push_back({points_of("sweep." + name), points_of("sweep.probability"),
                        "sweep has both " + name + " and probability: expected one of them"});
  }
  for (const antenna_kind& kind : antenna_kinds())
    if (!kind.key.empty()) s.optional.push_back(std::string(kind.key));
  s.implied = implied;
  s.adjust = adjust;
  s.hint = hint;
  return s;
}

}  // namespace

const schema& link_schema() {
  if (kind_scope_number() == 0) {
    static const schema keys = make_link_schema();
    return keys;
  }
  thread_local std::uint64_t made_in = 0;
  thread_local schema keys;
  if (made_in != kind_scope_number()) {
    keys = make_link_schema();
    made_in = kind_scope_number();
  }
  return keys;
}

}  // namespace wb::config
