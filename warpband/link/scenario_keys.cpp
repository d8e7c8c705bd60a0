// The keys of scenario files: which settings they are, of what, and with what they have a meaning.
#include <algorithm>

#include <warpband/link/link_settings.hpp>
#include <warpband/link/scenario_draft.hpp>

namespace wb::scenario_file {
namespace {

using draft = curve_draft;
using key_setting = setting_of<draft>;
using conditions = std::vector<setting_condition>;

constexpr const char *db_allowed = "a number from -100 to 100",
                     *list_allowed = "a rising list of numbers from -100 to 100, or { from, to, step }";
const setting_condition without_massive{"massive.solver", {"none"}};
const setting_condition with_massive{"massive.solver", {"cholesky", "cg", "jacobi-cg", "zf", "mf"}};
const setting_condition without_space_time{"stbc.type", {"none"}};
const setting_condition without_nr{"nr.channel", {"none"}}, with_nr{"nr.channel", {"pusch", "pdsch"}};

/// The setting under its key, which messages name.
key_setting keyed(key_setting s, const std::string& key) {
  s.set = [key, set = s.set](draft& d, const setting_value& v) {
    try {
      set(d, v);
    } catch (const argument_error& e) {
      throw argument_error(key, e.value(), e.allowed());
    }
  };
  s.name = key;
  return s;
}

class table_of_keys {
 public:
  /// A setting of a group, under more conditions, which name keys.
  key_entry& add(const std::string& group, key_setting s, const std::string& kind = "",
                 const conditions& more = {}) {
    const std::string name = group.empty() ? s.name : group + "." + s.name;
    s.text = s.full_text();
    for (setting_condition& c : s.conditions)
      if (c.setting.find('.') == std::string::npos) c.setting = group + "." + c.setting;
    s.conditions.insert(s.conditions.begin(), more.begin(), more.end());
    auto at = std::find_if(all_.begin(), all_.end(), [&](const key_entry& e) { return e.key.name == name; });
    if (at == all_.end()) {
      all_.push_back({{name, s.kind, "", s.initial({}), ""}, scope::both, {}});
      at = all_.end() - 1;
    } else if (const std::string own = s.initial({});
               !own.empty() && own != "\"\"" && own != at->key.initial) {
      s.text += " Left out: " + own + ".";
    }
    at->versions.push_back({kind, keyed(std::move(s), name)});
    return *at;
  }
  /// Those of a list that are keys of links.
  template <class Part, class C>
  void add(const std::string& group, Part part, const std::vector<setting_of<C>>& list,
           const std::string& kind = "", const conditions& more = {}) {
    for (key_setting& s : within<draft>(part, list))
      if (s.of_links) add(group, std::move(s), kind, more);
  }
  /// What a link says of a key beside what its setting does.
  void note(const std::string& name, const std::string& text) {
    for (key_entry& e : all_)
      if (e.key.name == name) e.versions.back().setting.text += " " + text;
  }
  key_entry& entry(const std::string& name) {
    return *std::find_if(all_.begin(), all_.end(), [&](const key_entry& e) { return e.key.name == name; });
  }
  std::vector<key_entry> described() && {
    for (key_entry& e : all_) {
      std::vector<std::pair<std::string, std::string>> allowed, text;
      for (const key_version& v : e.versions) {
        allowed.emplace_back(v.kind, v.setting.allowed);
        text.emplace_back(v.kind, v.setting.text);
      }
      e.key.allowed = by_kind(allowed), e.key.text = by_kind(text);
    }
    for (const code_setting_text& s : code_setting_texts())  // as options of the command have them
      if (s.of_links && s.name != "interleaver") {
        scenario_key& key = entry(s.group + "." + s.name).key;
        key.allowed = s.allowed, key.text = s.text, key.initial = s.initial;
      }
    return std::move(all_);
  }

 private:
  std::vector<key_entry> all_;
};

void add_top(table_of_keys& t) {
  t.add("", text("title", &draft::title, "Shown above the plot.")).where = scope::base;
  t.add("",
        integer("seed", &draft::seed, 0, INT64_MAX,
                "Key of all random numbers. The same seed gives the same counts, whatever the device, the "
                "number of threads and the batch size; `warpband sim --seed` overrides it."));
  t.add("", text("label", &draft::label,
                 "Only in [[curve]]: the curve's name in tables and plots. Left out: \"curve 1\", \"curve "
                 "2\", ...",
                 "text in quotes, another one for each curve")
                .without_default())
      .where = scope::curve;
}

/// Which code; its settings are then those of its type.
key_setting code_type_setting() {
  std::vector<std::string> names;
  for (const code_type t : code_types()) names.emplace_back(name_of(t));
  return {"type",
          "word",
          among(names),
          "The turbo code of LTE (3GPP TS 36.212 §5.1.3), its transport blocks with HARQ (§5.1.1 to §5.1.4, "
          "docs/lte.md), the LDPC codes of IEEE 802.16e (§8.4.9.2.5) and 802.11n (annex R), code blocks and "
          "transport blocks of 5G NR (TS 38.212, docs/nr-ldpc.md), an LDPC code of a file (docs/ldpc.md), a "
          "convolutional code, polar codes of 5G NR (docs/polar.md); or no code, R = 1.",
          names,
          [=](draft& d, const setting_value& v) {
            const code_type type = code_types()[settings_detail::word("type", v, names, among(names))];
            d.code = config_of({.type = type, .values = {}});
          },
          [](const draft& d) -> setting_value { return std::string(name_of(d.code.type)); }};
}

/// Of transport blocks, what slots of 5G NR say.
bool follows_from_slot(const std::string& name) {
  for (const char* own : {"transport_block_size", "coded_bits", "resource_elements", "target_rate"})
    if (name == own) return true;
  return false;
}

void add_code(table_of_keys& t) {
  t.add("code", code_type_setting());
  const auto add = [&](const char* group) {
    for (const code_type type : code_types()) {
      const std::string kind = name_of(type);
      for (key_setting& s :
           within<draft>([](draft& d) -> code_config& { return d.code; }, settings_of(type))) {
        for (setting_condition& c : s.conditions)
          c.setting = find_setting(settings_of(type), c.setting)->group + "." + c.setting;
        if (s.group != group || !s.of_links || s.name == "interleaver") continue;
        conditions when{{"code.type", {kind}}};
        if (type == code_type::nr_dlsch && follows_from_slot(s.name)) when.push_back(without_nr);
        t.add(group, std::move(s), kind, when);
      }
    }
  };
  add("code");
  using f = interleaver_coefficients;
  const std::vector<setting_of<f>> coefficients{
      integer(
          "interleaver.f1", &f::f1, INT32_MIN, INT32_MAX,
          "With f2: the coefficients of the QPP interleaver pi(i) = (f1 i + f2 i^2) mod k, in place of the "
          "standard's, for instance interleaver = { f1 = 263, f2 = 480 }.",
          "an integer, together with f2")
          .without_default(),
      integer("interleaver.f2", &f::f2, INT32_MIN, INT32_MAX, "See f1.", "an integer, together with f1")
          .without_default()};
  t.add("code", [](draft& d) -> f& { return d.interleaver; }, coefficients, name_of(code_type::lte_turbo),
        {{"code.type", {name_of(code_type::lte_turbo)}}});
  add("decoder");
}

void add_modem(table_of_keys& t) {
  t.add("modem",
        modulation_setting(&draft::qam, 2, "Gray mapping of 3GPP TS 38.211 §5.1 with unit mean energy."), "",
        {without_nr});
  const key_setting demapper = demap_algorithm_setting(
      "demapper", &draft::demapper,
      "How LLRs are computed, without a detector. The two are the same for BPSK and QPSK.");
  t.add("modem", demapper, "", {without_massive, without_space_time, without_nr});
  t.add("modem", demapper, "", {with_massive, {"massive.direction", {"downlink"}}});
  t.add("modem",
        boolean("mutual_information", &draft::mutual_information,
                "Also measures the mutual information of a sent bit b and its LLR L, 1 - E log2(1 + "
                "exp(-(1 - 2 b) L)) bits, for tables, results and `--metric mutual_information`. Not "
                "with [receiver], transport blocks or an uncoded space-time code."));
}

/// Of links a block of a delay line may be as long as a frame.
key_setting block_symbols_setting() {
  const std::vector<setting_of<ofdm_grid>> own{integer_or_auto(
      "symbols", &ofdm_grid::symbols, 0, 1, 65536,
      "OFDM symbols of a block; the next block has another channel, independent of it. \"auto\" (or 0): as "
      "many as a frame takes. A frame begins with a new block.",
      "an integer from 1 to 65536")};
  return within<draft>([](draft& d) -> ofdm_grid& { return d.tdl.grid; }, own).front();
}

void add_channel(table_of_keys& t) {
  t.add("channel",
        words("type", &draft::channel,
              {{"awgn", channel_type::awgn},
               {"rayleigh", channel_type::rayleigh},
               {"tdl", channel_type::tdl},
               {"cdl", channel_type::cdl},
               {"file", channel_type::file}},
              "White Gaussian noise, or y = h s + n with h ~ CN(0, 1), known to the receiver; with several "
              "antennas y = H s + n, every entry of H like h. Antennas, detectors and massive MIMO need "
              "fading. tdl: a tapped delay line, whose h or H is that of a resource element of OFDM; a "
              "frame's symbols fill the grid one OFDM symbol after the other, and zeros fill the rest of its "
              "last block (docs/tdl.md). cdl, for massive MIMO and PUSCH: clustered delay lines between a "
              "linear array and users in directions of their own, of WINNER II and TR 38.901. file, for "
              "massive MIMO: channel estimates that were measured or computed elsewhere (docs/files.md)."));
  const auto of = [](const char* type) { return conditions{{"channel.type", {type}}}; };
  t.add(
      "channel", [](draft& d) -> auto& { return d.rayleigh; },
      std::vector{words(
          "fading", &rayleigh_config::fading, {{"fast", fading_type::fast}, {"block", fading_type::block}},
          "A new h or H for every use of the channel, with a space-time code for every codeword of two "
          "uses; or one for each frame.")},
      "rayleigh", of("rayleigh"));
  t.add("channel", [](draft& d) -> auto& { return d.tdl_profile; }, tdl_profile_settings(), "tdl", of("tdl"));
  for (key_setting& s : within<draft>([](draft& d) -> auto& { return d.tdl; }, tdl_settings())) {
    if (!s.of_links) continue;
    if (s.name == "symbols") s = block_symbols_setting();
    conditions when = of("tdl");
    if (s.name == "subcarriers" || s.name == "symbols") when.push_back(without_massive);  // which has both
    if (find_setting(grid_settings(), s.name) != nullptr) when.push_back(without_nr);
    if (find_setting(spatial_settings(), s.name) != nullptr) when.push_back(without_massive);
    t.add("channel", std::move(s), "tdl", when);
  }
  t.add("channel", [](draft& d) -> auto& { return d.cdl_profile; }, cdl_profile_settings(), "cdl", of("cdl"));
  for (key_setting& s : within<draft>([](draft& d) -> auto& { return d.cdl; }, cdl_settings())) {
    if (!s.of_links) continue;
    conditions when = of("cdl");
    if (find_setting(grid_settings(), s.name) != nullptr) when.push_back(without_nr);
    if (s.name == "speed_kmh") when.push_back(with_nr);
    t.add("channel", std::move(s), "cdl", when);
  }
  t.add("channel", [](draft& d) -> auto& { return d.csi; }, csi_channel_settings(), "file", of("file"));
}

void add_antennas(table_of_keys& t) {
  t.add("mimo",
        streams_setting(&draft::streams,
                        "Symbols sent in one use of the channel, each from an antenna of its own with Es = "
                        "1. The bits of a frame go to them symbol by symbol; zeros fill the last use. With a "
                        "space-time code: 2, its antennas; may be left out."),
        "", {without_massive, without_nr});
  t.add("mimo",
        rx_antennas_setting(
            &draft::rx_antennas,
            "Receive antennas. With more than one, or several streams, a detector replaces the demapper."),
        "", {without_massive});
  t.add("detector", [](draft& d) -> auto& { return d.detector; }, detector_settings(), "",
        {without_massive, without_space_time});
  t.entry("detector.type").key.initial = "";
  t.note("detector.type", "Left out: \"mmse\" with several antennas; with one of each the demapper.");
  for (key_setting& s : within<draft>([](draft& d) -> auto& { return d.stbc; }, stbc_settings()))
    if (s.of_links)
      t.add("stbc", s.name == "type" ? or_none(&draft::space_time, std::move(s)) : std::move(s), "",
            {without_massive});
  t.note("stbc.type",
         "In Rayleigh fading, with QPSK, 16-QAM or 64-QAM, and not with transport blocks. Its "
         "maximum-likelihood decoder replaces the detector: uncoded links take the most likely codeword, "
         "coded ones max-log LLRs. With code.type = \"none\" and code.k = the bits of a codeword the frame "
         "error rate is the codeword error rate.");
  for (key_setting& s :
       within<draft>([](draft& d) -> auto& { return d.massive_link; }, massive_link_settings()))
    if (s.name == "solver")
      t.add("massive", or_none(&draft::massive, std::move(s)));
    else
      t.add("massive", std::move(s), "", {with_massive});
  t.note("massive.solver",
         "Massive MIMO is a base station of many antennas and U users in fading, OFDM, and one codeword for "
         "each user and OFDM symbol, so that code.k is that of a codeword (docs/li-thesis.md). A frame is a "
         "drop: one set of users and their channels. Errors of its codewords are not independent, so "
         "confidence intervals are computed from the differences between frames. Rayleigh fading is \"fast\" "
         "where each subcarrier has an H of its own, \"block\" where all have one; tdl takes subcarriers and "
         "symbols from here, and no Doppler shift.");
}

void add_nr(table_of_keys& t) {
  for (key_setting& s : within<draft>([](draft& d) -> auto& { return d.nr_link; }, nr_link_settings()))
    if (s.name == "channel")
      t.add("nr", or_none(&draft::nr, std::move(s)), "", {without_massive, without_space_time});
    else
      t.add("nr", std::move(s), "", {with_nr});
  t.note("nr.channel",
         "Frames are then transport blocks in slots of 5G NR (docs/pusch.md), whose code and modulation "
         "follow from the MCS: code.type is \"nr-dlsch\", and of [code] only the settings of HARQ apply. In "
         "a delay line every transmission has a channel of its own; \"awgn\" has one antenna. With \"cdl\" "
         "each antenna port is a user of its own.");
}

void add_receiver(table_of_keys& t) {
  t.add("receiver", [](draft& d) -> auto& { return d.receiver; }, receiver_settings());
  t.note("receiver.outer",
         "Errors are counted after each of them. Detector and decoder must both take and give soft values "
         "(docs/iterative.md); a frame whose checks hold is finished. In a massive-MIMO uplink the first one "
         "detects with massive.solver, as the open loop does, and all others with MMSE and parallel "
         "interference cancellation; a drop is finished once all its codewords are.");
}

void add_sweep(table_of_keys& t, sweep_points draft::*points, const std::string& axis,
               const std::string& meaning) {
  using p = sweep_points;
  const std::vector<setting_of<p>> list{
      numbers(axis, &p::list, -100, 100, meaning, list_allowed),
      number(axis + ".from", &p::from, -100, 100, "First point of a range, in dB.", false, db_allowed)
          .without_default(),
      number(axis + ".to", &p::to, -100, 100, "End of a range, in dB: a point if the steps meet it.", false,
             db_allowed)
          .without_default(),
      number(axis + ".step", &p::step, 0.001, 100, "Distance of the points of a range, in dB.")
          .without_default()};
  t.add("sweep", [=](draft& d) -> p& { return d.*points; }, list);
}

void add_target(table_of_keys& t) {
  using f = fer_target;
  const std::vector<setting_of<f>> list{
      number("target_fer", &f::fer, 1e-9, 0.999,
             "In place of a list of points: searches for the Eb/N0 or SNR at which the frame error rate is "
             "this one, by bisection with exact confidence intervals. ebn0_db, or snr_db, then says where to "
             "search, { from, to } or any list; left out, -30 to 60 dB of Eb/N0. The point lies in the "
             "interval that is found with a probability of 95% or more. stop.max_frames is for all points of "
             "the search together, left out 10000000; other stop rules have no effect. With massive MIMO it "
             "is the rate of drops with any wrong codeword.",
             false, "a number from 1e-9 to 0.999")
          .without_default(),
      number("target_width_db", &f::width_db, 0.01, 10,
             "With target_fer: the search ends once its interval is this narrow. Left out: 0.1.")
          .without_default()};
  t.add("sweep", [](draft& d) -> f& { return d.target; }, list);
}

}  // namespace

std::string key_of(snr_axis axis) { return std::string("sweep.") + name_of(axis); }

const std::vector<key_entry>& key_table() {
  static const std::vector<key_entry> all = [] {
    table_of_keys t;
    add_top(t);
    add_code(t);
    add_modem(t);
    add_channel(t);
    add_antennas(t);
    add_nr(t);
    add_receiver(t);
    add_sweep(t, &draft::ebn0_db, "ebn0_db",
              "Eb/N0 of the points in dB, per information bit: Es/N0 = Eb/N0 + 10 log10(R m) with m bits a "
              "symbol; with several antennas SNR = Eb/N0 + 10 log10(streams R m / rx_antennas), where "
              "Alamouti's streams count as one. This or snr_db is needed, as a list, [0.0, 0.2, 0.4], one "
              "number, or a range, { from = 0.0, to = 0.4, step = 0.2 }.");
    add_sweep(t, &draft::snr_db, "snr_db",
              "In place of ebn0_db: the mean SNR of a receive antenna in dB, 10 log10(streams Es/N0); with "
              "one stream Es/N0.");
    add_target(t);
    for (key_setting& s : within<draft>([](draft& d) -> auto& { return d.stop; }, stop_settings())) {
      const bool of_massive = s.name == "below_bler";
      t.add("stop", std::move(s), "", of_massive ? conditions{with_massive} : conditions{});
    }
    return std::move(t).described();
  }();
  return all;
}

const key_entry* find_key(const std::string& name) {
  for (const key_entry& e : key_table())
    if (name == e.key.name) return &e;
  return nullptr;
}

bool is_table(const std::string& name) {
  const std::string start = name + ".";
  return std::any_of(key_table().begin(), key_table().end(),
                     [&](const key_entry& e) { return e.key.name.starts_with(start); });
}

std::string key_of_code_setting(const std::string& setting) {
  if (setting == "type") return "code.type";
  for (const key_entry& e : key_table())
    if (code_setting_of(e.key.name) == setting) return e.key.name;
  return setting;
}

}  // namespace wb::scenario_file
