#include <warpband/link/config/read.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include <warpband/core/printable.hpp>
#include <warpband/link/config/renamed.hpp>
#include <warpband/link/link_settings.hpp>
#include <warpband/link/setting_json.hpp>
#include <warpband/link/toml_value.hpp>

namespace wb::config {
namespace {

struct leaf {
  std::string name;
  const toml::node* node;
  unsigned line;
};

/// A key of which a scenario lists several values, `sweep.KEY = [...]`.
struct swept_key {
  std::string key;
  std::vector<setting_value> values;
  place where;
  std::string written;                           // its old name; "" if the scenario has today's
  std::vector<std::string> written_values = {};  // the old word of each value; "" if the scenario has today's
};

unsigned line_of(const toml::node& n) { return static_cast<unsigned>(n.source().begin.line); }

class reader {
 public:
  reader(const schema& s, const std::string& file) : schema_(s), file_(file) {
    for (const renamed& r : renamed_settings())
      if (s.find(r.today) != nullptr && (r.chains.empty() || !s.chain.empty())) renamed_.push_back(&r);
  }

  scenario_text read(const toml::table& root, const std::function<void(curve_tree&)>& take) {
    curve_tree base;
    std::vector<swept_key> swept;
    add_level(root, base_level, base.keys, swept);
    if (const given* title = base.keys.find("title")) result_.title = std::get<std::string>(title->value);
    base.label = result_.title.empty() ? std::filesystem::path(file_).stem().string() : result_.title;
    const toml::node* list = root.get(schema_.list);
    if (list == nullptr) {
      if (const given* label = base.keys.find("label")) base.label = std::get<std::string>(label->value);
      take_curves(base, swept, false, take);
    } else {
      const toml::array& tables = tables_of(*list);
      for (const toml::node& node : tables) {
        curve_tree curve = base;
        std::vector<swept_key> curve_swept = swept;
        add_level(*node.as_table(), curve_level, curve.keys, curve_swept);
        number_++;
        curve.listed = true;
        const given* label = curve.keys.find("label");
        curve.label = label != nullptr ? std::get<std::string>(label->value) : "";
        if (curve.label.empty()) curve.label = schema_.list + " " + std::to_string(number_);
        take_curves(curve, curve_swept, tables.size() > 1, take);
      }
    }
    refuse_idle();
    for (const renamed* r : renamed_)
      if (const auto hint = hints_.find(r->before); hint != hints_.end())
        result_.hints.push_back(hint->second);
    return std::move(result_);
  }

 private:
  const toml::array& tables_of(const toml::node& list) const {
    const toml::array* tables = list.as_array();
    const std::string begun = "[[" + schema_.list + "]]";
    if (tables == nullptr || tables->empty() || !tables->is_homogeneous(toml::node_type::table))
      fail(line_of(list), schema_.list + " = " + toml_text(list) +
                              " is not allowed: expected tables, each begun by " + begun);
    if (tables->size() > most_curves)
      fail(line_of(list),
           std::to_string(tables->size()) + " " + begun + " tables: at most " + std::to_string(most_curves));
    return *tables;
  }

  /// The leaves of a table.
  void gather(const toml::table& t, const std::string& prefix, std::vector<leaf>& leaves) const {
    for (auto&& [key, node] : t) {
      const std::string name = prefix + std::string(key.str());
      if (prefix.empty() && name == schema_.list) continue;
      const toml::table* inner = node.as_table();
      const bool is_table = name == "sweep" || schema_.is_table(name) ||
                            (name.starts_with("sweep.") && schema_.is_table(name.substr(6)));
      if (inner != nullptr && is_table && !inner->empty())
        gather(*inner, name + ".", leaves);
      else if (inner == nullptr || !is_table)
        leaves.push_back({name, &node, static_cast<unsigned>(key.source().begin.line)});
    }
  }

  /// Adds a table's keys in the order of their lines: the first fault of a file is the one reported.
  void add_level(const toml::table& t, int level, key_tree& keys, std::vector<swept_key>& swept) {
    std::vector<leaf> leaves;
    gather(t, "", leaves);
    std::stable_sort(leaves.begin(), leaves.end(),
                     [](const leaf& a, const leaf& b) { return a.line < b.line; });
    for (const leaf& l : leaves) try {
        add_key(l, level, keys, swept);
      } catch (const argument_error& error) {
        fail(l.line, error.what());
      }
  }

  void add_key(const leaf& l, int level, key_tree& keys, std::vector<swept_key>& swept) {
    const renamed* r = renamed_from(l.name);
    if (r != nullptr && !r->chains.empty()) return add_of_chains(*r, l, level, keys);
    const std::string& name = r != nullptr ? r->today : l.name;
    const key_entry* e = schema_.find(name);
    if (e == nullptr && add_swept(l, level, swept)) return;
    if (e == nullptr) refuse_unknown(l, level);
    if (e->where == (level == base_level ? scope::curve : scope::base))
      fail(l.line, l.name + (level == base_level ? " belongs into a [[" : " belongs above the first [[") +
                       schema_.list + "]]");
    for (const renamed* other : renamed_)
      if (name == other->today && keys.level(other->chains.empty() ? name : other->before) == level)
        refuse_both(*other, l);
    keys.set(name, {value_of(*e, *l.node, r), {level, l.line}});
  }

  /// A key that had another name in some chains. Which chain a run has is known later.
  void add_of_chains(const renamed& r, const leaf& l, int level, key_tree& keys) {
    if (keys.level(r.today) == level) refuse_both(r, l);
    keys.set(r.before, {value_of(*schema_.find(r.today), *l.node, &r), {level, l.line}});
  }
  const renamed* renamed_from(const std::string& name) const {
    for (const renamed* r : renamed_)
      if (r->before == name) return r;
    return nullptr;
  }
  /// Puts keys that have other names today under these, if the run's chain had the old ones. Returns those of
  /// the base that it had not.
  std::vector<idle_key> under_names_of_today(curve_tree& c) const {
    std::vector<idle_key> idle;
    for (const renamed* row : renamed_) {
      const renamed& r = *row;
      const given* old = r.chains.empty() ? nullptr : c.keys.find(r.before);
      if (old == nullptr) continue;
      const given key = *old;
      c.keys.drop(r.before);
      const given* choice = c.keys.find(schema_.chain);
      const std::string chain =
          choice != nullptr ? plain(choice->value) : schema_.find(schema_.chain)->versions.front().initial;
      const std::string because =
          "with " + schema_.chain + " = \"" + chain + "\": it is of " + listed(r.chains);
      if (find_word(r.chains, chain)) {
        if (key.where.level > c.keys.level(r.today)) c.keys.set(r.today, key);
      } else if (key.where.level > base_level) {
        fail(key.where.line, r.before + " has no meaning " + because + c.suffix);
      } else {
        idle.push_back({r.before, schema_.chain, because, key.where.line});
      }
    }
    return idle;
  }
  [[noreturn]] static void refuse_both(const renamed& r, const leaf& l) {
    fail(l.line, r.before + " and " + r.today + " say the same: expected one of them");
  }

  /// A key's value; `r` where its name or its values changed.
  setting_value value_of(const key_entry& e, const toml::node& node, const renamed* r) {
    const std::string& name = r != nullptr ? r->before : e.key.name;
    const auto value = toml_value(node);
    if (!value) throw argument_error(name, toml_fault(node), e.key.allowed);
    if (r == nullptr) {
      schema_.check(e, *value);
      return *value;
    }
    setting_value today;
    try {
      today = r->value_today(*value);
      if (std::holds_alternative<no_value>(today)) today = e.left_out();
      if (!std::holds_alternative<no_value>(today)) schema_.check(e, today);
    } catch (const argument_error& error) {
      throw argument_error(name, as_message(*value), error.allowed());
    }
    if (name != r->today)
      hints_.try_emplace(name, name + " is now " + r->today + " = " + as_message(today));
    else if (std::holds_alternative<no_value>(today))
      hints_.try_emplace(name, name + " = " + as_message(*value) + " is now left out");
    else if (today != *value)
      hints_.try_emplace(name, name + " = " + as_message(*value) + " is now " + as_message(today));
    return today;
  }

  /// sweep.KEY = [...] of another key; false if it is none.
  bool add_swept(const leaf& l, int level, std::vector<swept_key>& swept) {
    if (!l.name.starts_with("sweep.")) return false;
    const renamed* r = renamed_from(l.name.substr(6));
    if (r != nullptr && !r->chains.empty()) return false;
    const key_entry* e = schema_.find(r != nullptr ? r->today : l.name.substr(6));
    if (e == nullptr || !e->can_be_swept()) return false;
    const toml::array* list = l.node->as_array();
    if (list == nullptr || list->empty())
      fail(l.line, l.name + " = " + toml_text(*l.node) + " is not allowed: expected a list of values of " +
                       e->key.name + ", each " + e->key.allowed);
    if (list->size() > most_curves)
      fail(l.line, l.name + " has " + std::to_string(list->size()) + " values: at most " +
                       std::to_string(most_curves));
    swept_key added{
        e->key.name, {}, {level + 1, l.line}, r != nullptr && r->before != r->today ? r->before : ""};
    for (const swept_key& other : swept)
      if (other.key == added.key && other.where.level == added.where.level)
        fail(l.line, "sweep." + (other.written.empty() ? other.key : other.written) + " and " + l.name +
                         " say the same: expected one of them");
    for (const toml::node& node : *list) try {
        added.values.push_back(value_of(*e, node, r));
        const auto written = toml_value(node);
        const bool old_word =
            r != nullptr && !r->values.empty() && written && *written != added.values.back();
        added.written_values.push_back(old_word ? plain(*written) : "");
        if (std::count(added.values.begin(), added.values.end(), added.values.back()) > 1)
          fail(l.line, l.name + " has " + as_message(added.values.back()) + " twice");
      } catch (const argument_error& error) {
        throw argument_error(l.name, error.value(), error.allowed());
      }
    std::erase_if(swept, [&](const swept_key& other) { return other.key == added.key; });
    swept.push_back(std::move(added));
    return true;
  }

  [[noreturn]] void refuse_unknown(const leaf& l, int level) const {
    std::string inside;
    for (const key_entry& e : schema_.entries())
      if (e.key.name.starts_with(l.name + ".") &&
          e.where != (level == base_level ? scope::curve : scope::base))
        inside += (inside.empty() ? "" : ", ") + e.key.name.substr(l.name.size() + 1);
    if (!inside.empty())
      fail(l.line, printable(l.name) + " = " + toml_text(*l.node) +
                       " is not allowed: expected a table with " + inside);
    const std::string near =
        schema_.suggestion(l.name, level != base_level, l.node->is_table() || l.node->is_array());
    fail(l.line, "unknown key " + printable(l.name) + ": " +
                     (near.empty() ? schema_.help : "did you mean " + near + "?"));
  }

  /// A curve for each combination of the values of swept keys, the last key changing fastest. Keys that the
  /// curve itself sets are not swept.
  std::vector<curve_tree> unfolded(const curve_tree& curve, const std::vector<swept_key>& swept) const {
    std::vector<curve_tree> curves{curve};
    for (const swept_key& s : swept) {
      const place set = curve.keys.where(s.key);
      if (set.level > s.where.level) continue;
      if (set.level + 1 == s.where.level)
        fail(std::max(set.line, s.where.line),
             s.key + " is set, and swept by sweep." + s.key + ": expected one of them");
      if (curves.size() * s.values.size() > most_curves)
        fail(s.where.line, "the sweeps make " + std::to_string(curves.size() * s.values.size()) +
                               " curves: at most " + std::to_string(most_curves));
      std::vector<curve_tree> more;
      for (const curve_tree& c : curves)
        for (std::size_t i = 0; i < s.values.size(); i++) {
          more.push_back(c);
          more.back().keys.set(s.key, {s.values[i], s.where});
          more.back().parameters.push_back({s.key, s.values[i], s.written, s.written_values[i]});
        }
      curves = std::move(more);
    }
    return curves;
  }

  void take_curves(const curve_tree& curve, const std::vector<swept_key>& swept, bool several,
                   const std::function<void(curve_tree&)>& take) {
    std::vector<curve_tree> curves = unfolded(curve, swept);
    if ((result_.curves += curves.size()) > most_curves)
      fail(0, "[[" + schema_.list + "]] tables and sweeps make more than " + std::to_string(most_curves) +
                  " curves together");
    std::set<std::string> labels;
    for (curve_tree& c : curves) {
      if (several || curves.size() > 1)
        c.suffix = ", in " + schema_.list + " \"" + printable(label_of(c)) + "\"";
      c.keys.drop_left_out();
      std::vector<idle_key> idle = under_names_of_today(c);
      for (idle_key& k : schema_.settle(c.keys, c.suffix)) idle.push_back(std::move(k));
      note_idle(std::move(idle));
      // Swept settings may have no meaning with the curve's choices: then there are fewer curves.
      std::erase_if(c.parameters, [&](const swept_setting& p) { return !c.keys.has(p.key); });
      if (labels.insert(label_of(c)).second) take(c);
    }
  }

  /// Keys of the base that have a meaning in no run are errors.
  void note_idle(std::vector<idle_key> idle) {
    if (taken_++ == 0) {
      idle_ = std::move(idle);
      return;
    }
    std::erase_if(idle_, [&](const idle_key& k) {
      return std::none_of(idle.begin(), idle.end(),
                          [&](const idle_key& other) { return other.key == k.key; });
    });
  }
  void refuse_idle() const {
    if (idle_.empty()) return;
    const idle_key& k = *std::min_element(
        idle_.begin(), idle_.end(), [](const idle_key& a, const idle_key& b) { return a.line < b.line; });
    const std::size_t rest = k.because.find(": it is of ");
    fail(k.line, k.key + " has no meaning " +
                     (taken_ > 1 && k.choice == schema_.chain
                          ? "with the chain of any " + schema_.list + k.because.substr(rest)
                          : k.because));
  }

  const schema& schema_;
  const std::string& file_;
  scenario_text result_;
  std::size_t number_ = 0, taken_ = 0;
  std::vector<const renamed*> renamed_;  // those of this schema
  std::map<std::string, std::string> hints_;
  std::vector<idle_key> idle_;
};

}  // namespace

std::string label_of(const curve_tree& curve) {
  std::string label = curve.label;
  const auto last = [](const std::string& key) { return key.substr(key.rfind('.') + 1); };
  const auto name = [](const swept_setting& p) -> const std::string& {
    return p.written.empty() ? p.key : p.written;
  };
  for (const swept_setting& p : curve.parameters) {
    const auto same =
        std::count_if(curve.parameters.begin(), curve.parameters.end(),
                      [&](const swept_setting& other) { return last(name(other)) == last(name(p)); });
    label += ", " + (same > 1 ? name(p) : last(name(p))) + " = " +
             (p.written_value.empty() ? plain(p.value) : p.written_value);
  }
  return label;
}

scenario_text read_scenario(const schema& s, const std::string& text, const std::string& file,
                            const std::function<void(curve_tree&)>& take) {
  const toml::table root = toml_table(text, file);
  try {
    return reader(s, file).read(root, take);
  } catch (const file_error&) {
    throw;
  } catch (const error& e) {
    throw file_error(file, e.what());
  }
}

std::string to_json(const key_tree& keys) {
  nlohmann::ordered_json j = nlohmann::ordered_json::object();
  for (const auto& [key, g] : keys) j[key] = nlohmann::ordered_json::array({g.where.level, json_of(g.value)});
  return j.dump();
}

key_tree from_json(const std::string& text) {
  key_tree keys;
  const auto j = nlohmann::ordered_json::parse(text);
  for (const auto& [key, g] : j.items()) keys.set(key, {setting_of_json(g.at(1)), {g.at(0).get<int>(), 0}});
  return keys;
}

}  // namespace wb::config
