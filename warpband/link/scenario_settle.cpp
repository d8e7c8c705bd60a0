// Which of the keys of a curve have a meaning with the choices that it makes.
#include <algorithm>
#include <set>

#include <warpband/core/error.hpp>
#include <warpband/link/scenario_draft.hpp>

namespace wb::scenario_file {
namespace {

bool is_ldpc(code_type t) { return t == code_type::wimax_ldpc || t == code_type::wifi_ldpc; }
/// Whether k follows from other settings.
bool has_own_k(code_type t) { return is_ldpc(t) || t == code_type::qc_ldpc; }

/// Puts keys into a draft, each after those that decide whether it has a meaning.
class settling {
 public:
  explicit settling(said& s) : s_(s) {}

  curve_draft run() {
    name_code_of_nr();
    for (const char* choice : {"nr.channel", "code.type", "channel.type", "mimo.streams", "mimo.rx_antennas",
                               "massive.solver", "stbc.type"})
      settle(*find_key(choice));
    forget_of_code();
    if (draft_.channel == channel_type::tdl || draft_.channel == channel_type::cdl) forget_of_profile();
    if (!draft_.massive && !draft_.space_time && !draft_.nr) forget_of_detector();
    for (const key_entry& e : key_table()) settle(e);
    return std::move(draft_);
  }

 private:
  /// Slots of 5G NR carry transport blocks: their code need not be named.
  void name_code_of_nr() {
    const auto nr = s_.values.find("nr.channel");
    if (nr == s_.values.end() || plain(nr->second) == "none" || s_.where("code.type").level >= 0) return;
    s_.values["code.type"] = std::string(name_of(code_type::nr_dlsch));
    s_.places["code.type"] = s_.where("nr.channel");
  }
  /// The first condition that does not hold; conditions.size() where all do.
  std::size_t failing(const key_version& v) const {
    const auto& all = v.setting.conditions;
    const auto at = std::find_if(all.begin(), all.end(), [&](const setting_condition& c) {
      return !find_word(c.words, current(c.setting));
    });
    return static_cast<std::size_t>(at - all.begin());
  }
  /// The version that goes with the draft; where there is none, the one that comes nearest.
  const key_version& version_of(const key_entry& e) const {
    return *std::max_element(e.versions.begin(), e.versions.end(),
                             [&](const key_version& a, const key_version& b) {
                               const std::size_t at_a = failing(a), at_b = failing(b);
                               const bool whole_a = at_a == a.setting.conditions.size(),
                                          whole_b = at_b == b.setting.conditions.size();
                               return whole_a != whole_b ? whole_b : at_a < at_b;
                             });
  }
  /// The word that a key has in the draft.
  std::string current(const std::string& key) const {
    return plain(version_of(*find_key(key)).setting.get(draft_));
  }

  void settle(const key_entry& e) {
    if (!settled_.insert(e.key.name).second) return;
    for (const key_version& v : e.versions)
      for (const setting_condition& c : v.setting.conditions) settle(*find_key(c.setting));
    const auto given = s_.values.find(e.key.name);
    if (given == s_.values.end()) return;
    const key_version& v = version_of(e);
    const std::size_t at = failing(v);
    const place where = s_.where(e.key.name);
    int chosen = -1;  // how specifically
    for (std::size_t i = 0; i < std::min(at + 1, v.setting.conditions.size()); i++)
      chosen = std::max(chosen, s_.where(v.setting.conditions[i].setting).level);
    if (at != v.setting.conditions.size()) {
      const std::string& choice = v.setting.conditions[at].setting;
      refuse_idle(e.key.name, choice, current(choice), chosen);
      return;
    }
    try {
      v.setting.set(draft_, given->second);
    } catch (const argument_error& error) {
      // Where the choice was made more specifically the value is another's, and does not count.
      if (where.level >= chosen) s_.fail(where.line, error.what() + s_.in_curve);
      s_.forget(e.key.name);
    }
  }

  void refuse_idle(const std::string& key, const std::string& choice, const std::string& word, int chosen) {
    const place at = s_.where(key);
    const bool given = s_.where(choice).level >= 0;
    // Tables of massive MIMO and of slots may stand beside a choice of none.
    if (given && (choice == "massive.solver" || choice == "nr.channel") && word == "none") chosen++;
    if (at.level >= chosen)
      s_.fail(at.line,
              key + " has no meaning " +
                  (given || word != "none" ? "with " + choice + " = \"" + word + "\"" : "without " + choice) +
                  s_.in_curve);
    s_.forget(key);
  }

  /// Refuses keys that were given as specifically as `level` or more, and forgets them else.
  void drop(const std::vector<std::string>& keys, int level, const std::string& choice) {
    for (const std::string& key : keys) {
      const place at = s_.where(key);
      if (at.level >= 0 && at.level >= level)
        s_.fail(at.line, key + " has no meaning " + choice + s_.in_curve);
      s_.forget(key);
    }
  }

  /// Of two that say the same the one that was said more specifically stays; sizes of an LDPC code that do
  /// not go with what was said more specifically do not.
  void forget_of_code() {
    const place bits = s_.where("code.coded_bits"), elements = s_.where("code.resource_elements");
    if (bits.level >= 0 && bits.level == elements.level)
      s_.fail(std::max(bits.line, elements.line),
              "code has both resource_elements and coded_bits: expected one of them" + s_.in_curve);
    if (bits.level >= 0 && elements.level >= 0)
      s_.forget(bits.level < elements.level ? "code.coded_bits" : "code.resource_elements");
    const place f1 = s_.where("code.interleaver.f1"), f2 = s_.where("code.interleaver.f2");
    if (draft_.code.type == code_type::lte_turbo && (f1.level >= 0) != (f2.level >= 0))
      s_.fail(std::max(f1.line, f2.line), "code.interleaver needs both f1 and f2" + s_.in_curve);
    if (!has_own_k(draft_.code.type)) return;
    const int type = s_.where("code.type").level;
    if (const auto n = s_.values.find("code.n");
        is_ldpc(draft_.code.type) && n != s_.values.end() && s_.where("code.n").level < type) {
      code_config of;
      of.type = draft_.code.type;
      if (!k_of_coded_bits(of, static_cast<std::size_t>(std::get<std::int64_t>(n->second))))
        s_.forget("code.n");
    }
    if (s_.where("code.k").level < std::max({type, s_.where("code.n").level, s_.where("code.rate").level,
                                             s_.where("code.base_matrix").level}))
      s_.forget("code.k");
  }

  /// The profile of delay lines: that of a standard, or one's own delays and what goes with them, whichever
  /// was said more specifically.
  void forget_of_profile() {
    const place named = s_.where("channel.profile"), delays = s_.where("channel.delays_ns");
    if (delays.level >= 0 && delays.level >= named.level)
      return drop({"channel.profile", "channel.delay_spread_ns"}, delays.level, "with channel.delays_ns");
    const std::string choice = delays.level < 0
                                   ? "without channel.delays_ns"
                                   : "with channel.profile = " + as_message(s_.values.at("channel.profile"));
    std::vector<std::string> own;  // tdl has some of what cdl has
    for (const auto& setting : cdl_profile_settings())
      if (setting.name != "profile" && setting.name != "delay_spread_ns")
        own.push_back("channel." + setting.name);
    drop(own, named.level, choice);
  }

  /// Those of a detector where there is none, or of the demapper where there is one.
  void forget_of_detector() {
    const int antennas = std::max(s_.where("mimo.streams").level, s_.where("mimo.rx_antennas").level),
              type = s_.where("detector.type").level;
    if (type >= 0 || draft_.streams > 1 || draft_.rx_antennas > 1) {
      settle(*find_key("detector.type"));
      return drop({"modem.demapper"}, std::max(antennas, type),
                  std::string("with a detector, here \"") + name_of(draft_.detector.type) + "\"");
    }
    std::vector<std::string> keys;
    for (const auto& [name, at] : s_.places)
      if (name.starts_with("detector.")) keys.push_back(name);
    drop(keys, antennas, "without detector.type or several antennas");
  }

  said& s_;
  curve_draft draft_;
  std::set<std::string> settled_;
};

}  // namespace

curve_draft settled(said& s) { return settling(s).run(); }

}  // namespace wb::scenario_file
