#include <warpband/link/scenario_parser.hpp>

#include <toml++/toml.h>
#include <algorithm>
#include <filesystem>

#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/link/toml_value.hpp>

namespace wb::scenario_file {
namespace {

/// What other programs call some keys, and `warpband stream` once did.
const std::map<std::string, std::string> other_names{{"modem.qam", "modem.modulation"},
                                                     {"detector.qam", "modem.modulation"},
                                                     {"massive.qam", "modem.modulation"},
                                                     {"detector.k", "detector.survivors"},
                                                     {"detector.n", "detector.ways"},
                                                     {"detector.streams", "mimo.streams"},
                                                     {"detector.rx_antennas", "mimo.rx_antennas"},
                                                     {"stbc.code", "stbc.type"},
                                                     {"code.algorithm", "decoder.algorithm"},
                                                     {"code.iterations", "decoder.iterations"}};

struct leaf {
  std::string name;
  const toml::node* node;
  unsigned line;
};

unsigned line_of(const toml::node& n) { return static_cast<unsigned>(n.source().begin.line); }

/// The leaves of a table in order of their lines, so that the first fault of a file is the one reported.
void gather(const toml::table& t, const std::string& prefix, std::vector<leaf>& leaves) {
  for (auto&& [key, node] : t) {
    const std::string name = prefix + std::string(key.str());
    if (prefix.empty() && name == "curve") continue;
    const toml::table* inner = node.as_table();
    const bool table = is_table(name) || (name.starts_with("sweep.") && is_table(name.substr(6)));
    if (inner != nullptr && table && !inner->empty())
      gather(*inner, name + ".", leaves);
    else if (inner == nullptr || !table)
      leaves.push_back({name, &node, static_cast<unsigned>(key.source().begin.line)});
  }
}

/// What may be meant by a word that a key does not take: "ldpc" is a part of two types of code.
std::string hint_for(const key_entry& e, const setting_value& value) {
  const auto* word = std::get_if<std::string>(&value);
  if (word == nullptr) return "";
  std::vector<std::string> words, near;
  for (const key_version& v : e.versions)
    words.insert(words.end(), v.setting.words.begin(), v.setting.words.end());
  for (const std::string& w : words)
    if (word->size() >= 3 && is_part(*word, w)) near.push_back(w);
  if (near.empty())
    if (const std::string one = nearest_name(*word, words); !one.empty()) near.push_back(one);
  if (e.key.name == "channel.type") {  // a profile's name, or its family's
    const bool cdl = find_word(cdl_profile_names(), *word) || word->starts_with("winner");
    if (cdl || find_word(tdl_profile_names(), *word))
      return std::string(": a profile is named by channel.profile, with channel.type = ") +
             (cdl ? "\"cdl\"" : "\"tdl\"");
  }
  return near.empty() ? "" : ": did you mean " + among(near) + "?";
}

/// The value of a key, if it is one with some choice of code, channel, ...; else throws argument_error.
setting_value value_of(const key_entry& e, const toml::node& node) {
  const auto value = toml_value(node);
  if (!value) throw argument_error(e.key.name, toml_fault(node), e.key.allowed);
  std::string shown, allowed;
  for (const key_version& v : e.versions) {
    curve_draft scratch;
    try {
      v.setting.set(scratch, *value);
      return *value;
    } catch (const argument_error& error) {
      shown = error.value();
      allowed = e.versions.size() == 1 ? error.allowed() : e.key.allowed;
    }
  }
  throw argument_error(e.key.name, shown, allowed + hint_for(e, *value));
}

/// Keys of links may be swept; not those of points and stop rules.
bool can_be_swept(const key_entry& e) {
  return e.where == scope::both && e.key.name.find('.') != std::string::npos &&
         !e.key.name.starts_with("sweep.") && !e.key.name.starts_with("stop.");
}

class parser {
 public:
  explicit parser(const std::string& file) : file_(file) {}

  std::vector<said> curves(const toml::table& root, std::string& title) {
    said base{.file = file_, .label = {}, .values = {}, .places = {}};
    apply(root, base, 0);
    if (const auto t = base.values.find("title"); t != base.values.end())
      title = std::get<std::string>(t->second);
    const toml::node* list = root.get("curve");
    if (list == nullptr) {
      base.label = title.empty() ? std::filesystem::path(file_).stem().string() : title;
      return {base};
    }
    const auto* array = list->as_array();
    if (array == nullptr || array->empty() || !array->is_homogeneous(toml::node_type::table))
      base.fail(line_of(*list),
                "curve = " + toml_text(*list) + " is not allowed: expected tables, each begun by [[curve]]");
    if (array->size() > most_curves)
      base.fail(line_of(*list),
                std::to_string(array->size()) + " curves: at most " + std::to_string(most_curves));
    std::vector<said> all;
    for (const toml::node& node : *array) {
      all.push_back(base);
      apply(*node.as_table(), all.back(), 1);
      const auto label = all.back().values.find("label");
      if (label != all.back().values.end()) all.back().label = std::get<std::string>(label->second);
      if (all.back().label.empty()) all.back().label = "curve " + std::to_string(all.size());
    }
    return all;
  }

 private:
  void apply(const toml::table& t, said& s, int level) {
    std::vector<leaf> leaves;
    gather(t, "", leaves);
    std::stable_sort(leaves.begin(), leaves.end(),
                     [](const leaf& a, const leaf& b) { return a.line < b.line; });
    for (const leaf& l : leaves) {
      const key_entry* e = find_key(l.name);
      if (e == nullptr && add_swept(s, l, level)) continue;
      if (e == nullptr) refuse_unknown(s, l, level);
      if (e->where == (level == 0 ? scope::curve : scope::base))
        s.fail(l.line,
               l.name + (level == 0 ? " belongs into a [[curve]]" : " belongs above the first [[curve]]"));
      try {
        note(s, *e, value_of(*e, *l.node), {level, l.line});
      } catch (const argument_error& error) {
        s.fail(l.line, error.what());
      }
    }
  }

  /// sweep.KEY = [...] of another key; false where it is none.
  static bool add_swept(said& s, const leaf& l, int level) {
    if (!l.name.starts_with("sweep.")) return false;
    const key_entry* e = find_key(l.name.substr(6));
    if (e == nullptr || !can_be_swept(*e)) return false;
    const toml::array* list = l.node->as_array();
    if (list == nullptr || list->empty())
      s.fail(l.line, l.name + " = " + toml_text(*l.node) + " is not allowed: expected a list of values of " +
                         e->key.name + ", each " + e->key.allowed);
    if (list->size() > most_curves)
      s.fail(l.line, l.name + " has " + std::to_string(list->size()) + " values: at most " +
                         std::to_string(most_curves));
    swept_key swept{e->key.name, {}, {level, l.line}};
    for (const toml::node& node : *list) try {
        swept.values.push_back(value_of(*e, node));
        if (std::count(swept.values.begin(), swept.values.end(), swept.values.back()) > 1)
          s.fail(l.line, l.name + " has " + as_message(swept.values.back()) + " twice");
      } catch (const argument_error& error) {
        s.fail(l.line, argument_error(l.name, error.value(), error.allowed()).what());
      }
    std::erase_if(s.swept, [&](const swept_key& other) { return other.key == swept.key; });
    s.swept.push_back(std::move(swept));
    return true;
  }

  [[noreturn]] static void refuse_unknown(const said& s, const leaf& l, int level) {
    std::vector<std::string> names;
    std::string inside;
    for (const key_entry& e : key_table()) {
      if (e.where == (level == 0 ? scope::curve : scope::base)) continue;
      const std::string& name = e.key.name;
      names.push_back(name);
      if (name.starts_with(l.name + "."))
        inside += (inside.empty() ? "" : ", ") + name.substr(l.name.size() + 1);
      if (can_be_swept(e) && l.name.starts_with("sweep.")) names.push_back("sweep." + name);
    }
    if (!inside.empty())
      s.fail(l.line, printable(l.name) + " = " + toml_text(*l.node) +
                         " is not allowed: expected a table with " + inside);
    const auto usual = other_names.find(l.name);
    std::string near = usual != other_names.end() ? usual->second : nearest_name(l.name, names);
    if (near.empty() && (l.node->is_table() || l.node->is_array())) {  // [decodr], [[curves]]
      std::vector<std::string> tables{"curve"};
      for (const std::string& n : names)
        if (n.find('.') != std::string::npos) tables.push_back(n.substr(0, n.rfind('.')));
      near = nearest_name(l.name, tables);
    }
    s.fail(l.line, "unknown key " + printable(l.name) + ": " +
                       (near.empty() ? "see warpband sim --help-scenario" : "did you mean " + near + "?"));
  }

  std::string file_;
};

}  // namespace

void said::fail(unsigned line, const std::string& what) const {
  throw file_error(file, (line != 0 ? "line " + std::to_string(line) + ": " : std::string()) + what);
}

std::vector<said> curves_said(const std::string& text, const std::string& file, std::string& title) {
  return parser(file).curves(toml_table(text, file), title);
}

}  // namespace wb::scenario_file
