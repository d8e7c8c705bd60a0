// Sweeps over settings: a curve for each combination of their values.
#include <algorithm>

#include <warpband/link/scenario_draft.hpp>

namespace wb::scenario_file {
namespace {

/// Whether a key stands in a table.
bool is_in(const std::string& key, const std::string& table) {
  return key.size() > table.size() && key[table.size()] == '.' && key.starts_with(table);
}

}  // namespace

void note(said& s, const key_entry& e, setting_value value, const place& at) {
  const std::string& key = e.key.name;
  for (const key_entry& other : key_table())
    if (is_in(other.key.name, key) || is_in(key, other.key.name)) s.forget(other.key.name);
  s.values[key] = std::move(value);
  s.places[key] = at;
}

std::string label_of(const std::string& family, const std::vector<swept_setting>& parameters) {
  std::string label = family;
  const auto last = [](const std::string& key) { return key.substr(key.rfind('.') + 1); };
  for (const swept_setting& p : parameters) {
    const auto named = std::count_if(parameters.begin(), parameters.end(), [&](const swept_setting& other) {
      return last(other.key) == last(p.key);
    });
    label += ", " + (named > 1 ? p.key : last(p.key)) + " = " + plain(p.value);
  }
  return label;
}

std::vector<said> unfolded(const said& s) {
  std::vector<said> all{s};
  for (const swept_key& swept : s.swept) {
    const place own = s.where(swept.key);
    if (own.level > swept.at.level) continue;
    if (own.level == swept.at.level)
      s.fail(std::max(own.line, swept.at.line),
             swept.key + " is set, and swept by sweep." + swept.key + ": expected one of them");
    if (all.size() * swept.values.size() > most_curves)
      s.fail(swept.at.line, "the sweeps make " + std::to_string(all.size() * swept.values.size()) +
                                " curves: at most " + std::to_string(most_curves));
    std::vector<said> more;
    for (const said& base : all)
      for (const setting_value& value : swept.values) {
        more.push_back(base);
        note(more.back(), *find_key(swept.key), value, swept.at);
        more.back().parameters.push_back({swept.key, value});
      }
    all = std::move(more);
  }
  return all;
}

}  // namespace wb::scenario_file
