#pragma once
// The keys of a program's scenarios, and the one rule by which the levels of a scenario become the keys of a
// curve:
//
//   1. A key replaces the same key and all its alternatives of less specific levels. Of ebn0_db, snr_db and
//   esn0_db,
//      profile and delays_ns, coded_bits and resource_elements a level gives one.
//   2. A key belongs to a choice: decoder.* to code.type, detector.ways to detector.type. If a level changes
//      the choice, keys of less specific levels that the new one lacks or refuses are dropped.
//   3. `type = "none"` drops its table.
//   4. Any other key that is unknown, or has no meaning, is an error with its line.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/link/config/tree.hpp>

namespace wb::config {

/// One key of a program's scenarios, as its page shows it.
struct scenario_key {
  std::string name;     // "decoder.windows"
  std::string type;     // "integer", "number", "text", ...
  std::string allowed;  // in words
  std::string initial;  // the value in TOML that stands for leaving it out; "" where there is none
  std::string text;     // what it means
};

/// A key with one of the choices that give it a meaning.
struct key_version {
  std::string kind;  // "lte-turbo": the code or channel that has it; "" where the key belongs to none
  std::vector<setting_condition> conditions;  // in terms of keys
  std::string allowed, text;
  std::vector<std::string> words;
  std::string initial;  // the word that stands for leaving it out
  std::string absent;   // that word, where there is no such value: "auto"; else ""
  std::function<void(const setting_value&)> check;  // throws argument_error that names the key
};

enum class scope { both, base, curve };

struct key_entry {
  scenario_key key;
  scope where = scope::both;
  std::vector<key_version> versions;
  /// "tdl, cdl": the kinds that have the key, where few do; else empty.
  std::string kinds() const;
  /// What a scenario says to leave the key out: "auto"; nothing if only its absence does.
  setting_value left_out() const {
    const std::string& word = versions.front().absent;
    return word.empty() ? setting_value() : setting_value(word);
  }
  /// Keys of links may be swept; not those of points and stop rules.
  bool can_be_swept() const {
    const std::string& name = key.name;
    return where == scope::both && name.find('.') != std::string::npos && !name.starts_with("sweep.") &&
           !name.starts_with("stop.");
  }
};

/// A choice that follows from other keys.
struct implied_choice {
  std::string word;
  int level = -1;           // of the key that it follows from
  std::string phrase = {};  // ends messages instead of `with detector.type = "mmse"`
};

/// Two sets of keys that say the same in different words.
struct alternatives {
  std::vector<std::string> first, second;
  std::string both;  // the message if one level gives both
};

/// A key of the base that has no meaning in a run, and why.
struct idle_key {
  std::string key, choice, because;
  unsigned line = 0;
};

/// The setting under its key, which messages name.
template <class C>
setting_of<C> under_key(setting_of<C> s, const std::string& key) {
  s.set = [key, set = std::move(s.set)](C& c, const setting_value& v) {
    try {
      set(c, v);
    } catch (const argument_error& e) {
      throw argument_error(key, e.value(), e.allowed());
    }
  };
  s.name = key;
  return s;
}

/// The keys of a program. Made once, then read.
/// Threads: any number may read it.
class schema {
 public:
  /// A setting of a group as a key, a further version of it if the key exists. Conditions without a dot name
  /// settings of the group; `more` come before them.
  // C(), not {}: if memory runs out in an aggregate's {}, GCC 12 destroys members that it did not construct.
  template <class C>
  key_entry& add(const std::string& group, setting_of<C> s, const C& initial = C(),
                 const std::string& kind = "", std::vector<setting_condition> more = {}) {
    const std::string name = group.empty() ? s.name : group + "." + s.name;
    for (setting_condition c : s.conditions) {
      if (c.setting.find('.') == std::string::npos) c.setting = group + "." + c.setting;
      more.push_back(std::move(c));
    }
    const std::string text = s.full_text(), shown = s.initial(initial), word = plain(s.written(initial));
    s = under_key(std::move(s), name);
    return add_version({name, s.kind, "", shown, ""},
                       {kind, std::move(more), s.allowed, text, s.words, word, s.absent,
                        [initial, set = s.set](const setting_value& v) {
                          C scratch = initial;
                          set(scratch, v);
                        }});
  }
  /// Those of a list that are keys of links.
  template <class C>
  void add(const std::string& group, const std::vector<setting_of<C>>& settings, const C& initial = C(),
           const std::string& kind = "", const std::vector<setting_condition>& more = {}) {
    for (const setting_of<C>& s : settings)
      if (s.of_links) add(group, s, initial, kind, more);
  }
  /// What a link says of a key beside what its setting does.
  void note(const std::string& name, const std::string& text) {
    entry(name).versions.back().text += " " + text;
  }
  key_entry& entry(const std::string& name) { return entries_[index_.at(name)]; }
  /// Joins what the versions of each key say. Call it once, after the last key.
  void describe();

  /// In the order of the documentation.
  const std::vector<key_entry>& entries() const noexcept { return entries_; }
  const key_entry* find(const std::string& name) const {
    const auto i = index_.find(name);
    return i == index_.end() ? nullptr : &entries_[i->second];
  }
  /// Whether keys begin with it and a dot.
  bool is_table(const std::string& name) const;

  /// Throws argument_error where no version of a key takes the value, with a hint at what may be meant.
  void check(const key_entry& e, const setting_value& value) const;
  /// The nearest key to one that is unknown, or the keys of a table that was given as a value.
  std::string suggestion(const std::string& name, bool in_curve, bool is_list_or_table) const;

  /// Drops what has no meaning by the rule above. Throws error, with the line, where the rule calls it an
  /// error; `suffix` ends the message. With a `chain` keys of the base that have no meaning are returned.
  std::vector<idle_key> settle(key_tree& tree, const std::string& suffix = "") const;

  std::string list = "curve";                             // the tables of the second level: [[curve]]
  std::string help = "see warpband sim --help-scenario";  // ends messages on unknown keys
  std::map<std::string, std::string> other_names = {};    // of keys, in other programs
  std::vector<alternatives> either = {};
  std::vector<std::string> optional = {};  // choices whose "none" drops their table
  /// The choice that a key stands for where it is not given; also a more specific level for one that is.
  std::function<std::optional<implied_choice>(const key_tree&, const std::string& key)> implied = {};
  /// What takes several keys, before they are settled.
  std::function<void(key_tree&)> adjust = {};
  /// What may be meant by a word that a key does not take; "" for the usual hint.
  std::function<std::string(const std::string& key, const std::string& word)> hint = {};
  /// A choice of which messages say with which words a key has a meaning: "stream.chain". Keys of the base
  /// may have a meaning in some runs alone.
  std::string chain = {};

 private:
  key_entry& add_version(scenario_key key, key_version version);
  std::string hint_for(const key_entry& e, const setting_value& value) const;

  std::vector<key_entry> entries_;
  std::map<std::string, std::size_t> index_;
};

/// "a, b and c"
std::string listed(const std::vector<std::string>& words);
/// Throws error that begins with the line.
[[noreturn]] void fail(unsigned line, const std::string& message);

}  // namespace wb::config
