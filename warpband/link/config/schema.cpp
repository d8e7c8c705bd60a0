#include <warpband/link/config/schema.hpp>

#include <algorithm>

#include <warpband/core/error.hpp>
#include <warpband/core/nearest_name.hpp>
#include <warpband/core/numbers_or_file.hpp>

namespace wb::config {

void fail(unsigned line, const std::string& message) {
  throw error((line != 0 ? "line " + std::to_string(line) + ": " : std::string()) + message);
}

key_entry& schema::add_version(scenario_key key, key_version version) {
  const auto [i, is_new] = index_.try_emplace(key.name, entries_.size());
  if (is_new)
    entries_.push_back({std::move(key), scope::both, {}});
  else if (const std::string& first = entries_[i->second].key.initial;
           !key.initial.empty() && key.initial != "\"\"" && key.initial != first)
    version.text += " Left out: " + key.initial + ".";
  key_entry& e = entries_[i->second];
  e.versions.push_back(std::move(version));
  return e;
}

std::string key_entry::kinds() const {
  std::vector<std::string> names;
  for (const key_version& v : versions)
    if (!v.kind.empty() && std::find(names.begin(), names.end(), v.kind) == names.end())
      names.push_back(v.kind);
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return names.size() < 6 ? text : "";
}

void schema::describe() {
  for (key_entry& e : entries_) {
    std::vector<std::pair<std::string, std::string>> allowed, text;
    for (const key_version& v : e.versions) {
      allowed.emplace_back(v.kind, v.allowed);
      text.emplace_back(v.kind, v.text);
    }
    e.key.allowed = by_kind(allowed), e.key.text = by_kind(text);
  }
}

bool schema::is_table(const std::string& name) const {
  const auto i = index_.lower_bound(name + ".");
  return i != index_.end() && i->first.starts_with(name + ".");
}

std::string schema::hint_for(const key_entry& e, const setting_value& value) const {
  const auto* word = std::get_if<std::string>(&value);
  if (word == nullptr) return "";
  if (hint)
    if (const std::string meant = hint(e.key.name, *word); !meant.empty()) return ": " + meant;
  std::vector<std::string> words, near;
  for (const key_version& v : e.versions)
    for (const std::string& w : v.words)
      if (!find_word(words, w)) words.push_back(w);
  for (const std::string& w : words)
    if (word->size() >= 3 && is_part(*word, w)) near.push_back(w);
  if (near.empty())
    if (const std::string one = nearest_name(*word, words); !one.empty()) near.push_back(one);
  return near.empty() ? "" : ": did you mean " + among(near) + "?";
}

/// The name of a file, which is read once its folder is known.
static bool names_file(const key_entry& e, const setting_value& value) {
  return e.key.type == numbers_or_file_kind && std::holds_alternative<std::string>(value);
}

void schema::check(const key_entry& e, const setting_value& value) const {
  if (names_file(e, value)) return;
  std::string shown, allowed;
  for (const key_version& v : e.versions) try {
      return v.check(value);
    } catch (const argument_error& error) {
      shown = error.value();
      allowed = e.versions.size() == 1 ? error.allowed() : e.key.allowed;
    }
  throw argument_error(e.key.name, shown, allowed + hint_for(e, value));
}

std::string schema::suggestion(const std::string& name, bool in_curve, bool is_list_or_table) const {
  if (const auto usual = other_names.find(name); usual != other_names.end()) return usual->second;
  std::vector<std::string> names, tables{list};
  for (const key_entry& e : entries_) {
    const std::string& key = e.key.name;
    if (e.where == (in_curve ? scope::base : scope::curve)) continue;
    names.push_back(key);
    if (e.can_be_swept() && name.starts_with("sweep.")) names.push_back("sweep." + key);
    if (key.find('.') != std::string::npos) tables.push_back(key.substr(0, key.rfind('.')));
  }
  const std::string near = nearest_name(name, names);
  return near.empty() && is_list_or_table ? nearest_name(name, tables) : near;
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); i++)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

namespace {

/// Settles keys, each after those that decide whether it has a meaning.
class settling {
 public:
  settling(const schema& s, key_tree& tree, const std::string& suffix)
      : schema_(s), tree_(tree), suffix_(suffix) {}

  std::vector<idle_key> run() {
    if (schema_.adjust) schema_.adjust(tree_);
    for (const alternatives& a : schema_.either) keep_one(a);
    for (const key_entry& e : schema_.entries()) settle(e);
    return std::move(idle_);
  }

 private:
  place most_specific(const std::vector<std::string>& keys) const {
    place latest;
    for (const std::string& key : keys)
      if (const place p = tree_.where(key);
          p.level > latest.level || (p.level == latest.level && p.line > latest.line))
        latest = p;
    return latest;
  }
  void keep_one(const alternatives& a) {
    const place first = most_specific(a.first), second = most_specific(a.second);
    if (first.level < 0 || second.level < 0) return;
    if (first.level == second.level)
      fail(a.both.starts_with(a.first.front()) ? first.line : std::max(first.line, second.line),
           a.both + suffix_);
    for (const std::string& key : first.level < second.level ? a.first : a.second) tree_.drop(key);
  }

  std::optional<implied_choice> implied(const std::string& key) const {
    return schema_.implied ? schema_.implied(tree_, key) : std::nullopt;
  }
  static bool asks_for_none(const setting_condition& c) {
    return c.words.size() == 1 && c.words.front() == "none";
  }
  /// How specifically the choice of a condition was made.
  int level_of(const setting_condition& c) const {
    const int level = tree_.level(c.setting);
    if (level >= 0 && !asks_for_none(c)) return level;
    const auto other = implied(c.setting);
    return std::max(level, other ? other->level : -1);
  }
  /// The word that a choice has, as its setting lists it.
  std::string word_of(const std::string& choice) const {
    if (const auto other = implied(choice)) return other->word;
    const given* g = tree_.find(choice);
    const key_version& v = version_of(*schema_.find(choice));
    if (g == nullptr) return v.initial;
    const std::string word = plain(g->value);
    const auto i = find_word(v.words, word);
    return i ? v.words[*i] : word;
  }
  /// The first condition that does not hold; conditions.size() if all do.
  std::size_t failing(const key_version& v) const {
    const auto i = std::find_if(v.conditions.begin(), v.conditions.end(), [&](const setting_condition& c) {
      return !find_word(c.words, word_of(c.setting));
    });
    return static_cast<std::size_t>(i - v.conditions.begin());
  }
  /// The version whose conditions hold, or else the one that comes nearest.
  const key_version& version_of(const key_entry& e) const {
    const key_version* best = &e.versions.front();
    std::size_t reached = failing(*best);
    for (const key_version& v : e.versions) {
      if (reached == best->conditions.size()) return *best;
      if (const std::size_t n = failing(v); n == v.conditions.size() || n > reached) best = &v, reached = n;
    }
    return *best;
  }

  void settle(const key_entry& e) {
    const std::string& key = e.key.name;
    if (settled_[key]) return;
    settled_[key] = true;
    for (const key_version& v : e.versions)
      for (const setting_condition& c : v.conditions) settle(*schema_.find(c.setting));
    if (!tree_.has(key)) return;
    const key_version& v = version_of(e);
    const std::size_t reached = failing(v);
    int chosen = -1;
    for (std::size_t i = 0; i < std::min(reached + 1, v.conditions.size()); i++)
      chosen = std::max(chosen, level_of(v.conditions[i]));
    if (reached != v.conditions.size()) return drop_idle(key, v.conditions[reached], chosen);
    if (e.versions.size() == 1) return;  // the value was checked when it was read
    const given& g = *tree_.find(key);
    try {
      if (!names_file(e, g.value)) v.check(g.value);
    } catch (const argument_error& error) {
      if (g.where.level >= chosen) fail(g.where.line, error.what() + suffix_);
      tree_.drop(key);
    }
  }

  void drop_idle(const std::string& key, const setting_condition& failed, int chosen) {
    const place where = tree_.where(key);
    const std::string& choice = failed.setting;
    const std::string word = word_of(choice);
    const bool is_given = tree_.has(choice);
    if (is_given && word == "none" &&
        std::count(schema_.optional.begin(), schema_.optional.end(), choice) != 0)
      chosen++;
    if (where.level >= chosen) {
      const auto other = implied(choice);
      const bool phrased = other && !other->phrase.empty() && (word == "none" || asks_for_none(failed));
      std::string because = phrased                      ? other->phrase
                            : is_given || word != "none" ? "with " + choice + " = \"" + word + "\""
                                                         : "without " + choice;
      const bool of_chain = choice == schema_.chain;
      if (of_chain) because += ": it is of " + listed(failed.words);
      if (schema_.chain.empty() || where.level > base_level)
        fail(where.line, key + " has no meaning " + because + suffix_);
      idle_.push_back({key, choice, std::move(because), where.line});
    }
    tree_.drop(key);
  }

  const schema& schema_;
  key_tree& tree_;
  const std::string& suffix_;
  std::map<std::string, bool> settled_;
  std::vector<idle_key> idle_;
};

}  // namespace

std::vector<idle_key> schema::settle(key_tree& tree, const std::string& suffix) const {
  return settling(*this, tree, suffix).run();
}

}  // namespace wb::config
