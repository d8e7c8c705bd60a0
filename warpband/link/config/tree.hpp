#pragma once
// What the files and options of a program set, by key: "decoder.iterations" = 8, of line 12. A scenario is
// read into levels (its base, sweeps, one curve or run); config/schema.hpp makes the tree of each curve of
// them.
#include <map>
#include <string>

#include <warpband/core/setting.hpp>

namespace wb::config {

/// Where a key was set. A higher level is more specific. -1: nowhere.
struct place {
  int level = -1;
  unsigned line = 0;
};
/// The levels of a scenario. A sweep gives its key another value in each of its curves.
enum scenario_level { base_level = 0, base_sweep_level = 1, curve_level = 2, curve_sweep_level = 3 };

struct given {
  setting_value value;
  place where;
};

/// The keys of one curve or run.
/// Threads: any number may read it.
class key_tree {
 public:
  const given* find(const std::string& key) const {
    const auto i = keys_.find(key);
    return i == keys_.end() ? nullptr : &i->second;
  }
  bool has(const std::string& key) const { return find(key) != nullptr; }
  place where(const std::string& key) const {
    const given* g = find(key);
    return g == nullptr ? place{} : g->where;
  }
  int level(const std::string& key) const { return where(key).level; }
  /// Whether a key of the table is set.
  bool has_table(const std::string& table) const {
    const auto i = keys_.lower_bound(table + ".");
    return i != keys_.end() && i->first.starts_with(table + ".");
  }
  /// In the place of the key's earlier value, of tables that hold the key, and of keys in its table: a list
  /// of points, or { from, to, step }.
  void set(const std::string& key, given g) {
    for (std::size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', dot + 1))
      keys_.erase(key.substr(0, dot));
    for (auto i = keys_.lower_bound(key + "."); i != keys_.end() && i->first.starts_with(key + ".");)
      i = keys_.erase(i);
    keys_[key] = std::move(g);
  }
  void drop(const std::string& key) { keys_.erase(key); }
  /// Drops keys whose most specific value is none.
  void drop_left_out() {
    std::erase_if(keys_, [](const auto& key) { return std::holds_alternative<no_value>(key.second.value); });
  }
  auto begin() const { return keys_.begin(); }
  auto end() const { return keys_.end(); }

 private:
  std::map<std::string, given> keys_;
};

/// A setting in which the curves of a sweep over it differ.
struct swept_setting {
  std::string key;  // "decoder.iterations"
  setting_value value;
  std::string written = {};        // the key as the scenario names it, if that is an old name
  std::string written_value = {};  // the value as the scenario has it, if that is an old word
};

/// Puts the keys of a group that a list of settings has into a configuration. The values were checked.
template <class C>
void apply(const key_tree& tree, const std::string& group, const std::vector<setting_of<C>>& settings, C& c) {
  for (const setting_of<C>& s : settings)
    if (const given* g = tree.find(group.empty() ? s.name : group + "." + s.name)) s.set(c, g->value);
}

}  // namespace wb::config
