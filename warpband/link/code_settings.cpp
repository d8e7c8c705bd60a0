#include <warpband/link/code_settings.hpp>

#include <algorithm>

#include <warpband/core/error.hpp>
#include <warpband/link/code_setting_lists.hpp>
#include <warpband/link/names.hpp>

namespace wb {
namespace {

using config_setting = setting_of<code_config>;
using config_settings = std::vector<config_setting>;

/// What a type has where nothing is said.
code_config defaults_of(code_type type) {
  code_config c;
  c.type = type;
  if (type == code_type::lte_transport) c.turbo.decoder.stop = early_stop::crc;
  return c;
}

/// A value as TOML writes it; nothing for one that is chosen from others.
std::string initial_text(code_type type, const config_setting& s) {
  if (s.name == "k" && type == code_type::lte_turbo) return "6144";
  if (s.name == "k" && type == code_type::polar) return "64";
  if (s.name == "k") return type == code_type::nr_ldpc ? "8448" : "";
  if (s.name == "coded_bits" && type == code_type::polar) return "128";
  if (s.name == "n" && type == code_type::nr_ldpc) return "";
  if (s.name == "n") return type == code_type::wimax_ldpc ? "2304" : "1944";
  if (s.name == "transport_block_size") return is_nr_transport(type) ? "8424" : "6120";
  for (const char* open : {"resource_elements", "coded_bits", "interleaver", "constraint_length",
                           "generators", "feedback", "code_rate", "base_matrix"})
    if (s.name == open) return "";
  return as_message(s.get(defaults_of(type)));
}

}  // namespace

const std::vector<code_type>& code_types() {
  using enum code_type;
  static const std::vector<code_type> all{lte_turbo, lte_transport, wimax_ldpc, wifi_ldpc, nr_ldpc, nr_dlsch,
                                          nr_ulsch,  qc_ldpc,       conv,       polar,     none};
  return all;
}

const std::vector<setting_of<code_config>>& settings_of(code_type type) {
  static const std::map<code_type, config_settings> all = [] {
    std::map<code_type, config_settings> lists;
    for (const code_type t : code_types()) lists[t] = code_setting_list(t);
    return lists;
  }();
  return all.at(type);
}

std::vector<code_type> types_with(std::string_view setting) {
  std::vector<code_type> types;
  for (const code_type t : code_types())
    if (find_setting(settings_of(t), setting) != nullptr) types.push_back(t);
  return types;
}

std::optional<code_choice> idle_with(const code_settings& s, std::string_view name) {
  const config_settings& all = settings_of(s.type);
  const config_setting* found = find_setting(all, name);
  if (found == nullptr) return code_choice{"type", name_of(s.type)};
  for (const setting_condition& needs : found->conditions) {
    const setting_value* given = s.find(needs.setting);
    const std::string word =
        plain(given ? *given : find_setting(all, needs.setting)->get(defaults_of(s.type)));
    if (!find_word(needs.words, word)) return code_choice{needs.setting, word};
  }
  return std::nullopt;
}

code_config config_of(const code_settings& s) {
  code_config c = defaults_of(s.type);
  for (const config_setting& each : settings_of(s.type))
    if (const setting_value* given = s.find(each.name); given != nullptr && !idle_with(s, each.name))
      each.set(c, *given);
  return c;
}

std::vector<code_setting_text> code_setting_texts(const std::vector<code_type>& types) {
  std::vector<code_setting_text> texts;
  const auto add = [&](code_type first, const config_setting& s) {
    std::vector<std::pair<std::string, std::string>> allowed, meant, brief;
    std::vector<std::string> words;
    for (const code_type t : types) {
      const config_setting* same = find_setting(settings_of(t), s.name);
      if (same == nullptr) continue;
      std::string text = same->full_text();
      // An empty text is no default that a reader could write.
      if (const std::string own = initial_text(t, *same);
          !own.empty() && own != "\"\"" && own != initial_text(first, s))
        text += " Left out: " + own + ".";
      for (const std::string& w : same->words)
        if (!find_word(words, w)) words.push_back(w);
      allowed.emplace_back(name_of(t), same->allowed);
      meant.emplace_back(name_of(t), text);
      brief.emplace_back(name_of(t), first_sentence(text));
    }
    texts.push_back({s.group, s.name, s.kind, by_kind(allowed), by_kind(meant), by_kind(brief), words,
                     initial_text(first, s), s.of_links});
  };
  for (const char* group : {"code", "decoder"})
    for (const code_type t : types)
      for (const config_setting& s : settings_of(t))
        if (s.group == group &&
            std::none_of(texts.begin(), texts.end(), [&](const auto& x) { return x.name == s.name; }))
          add(t, s);
  return texts;
}

setting_value as_kept(code_type type, const config_setting& s, const setting_value& value) {
  code_config c = defaults_of(type);
  s.set(c, value);
  return s.get(c);
}

void check_for_some_type(const std::string& name, const setting_value& value) {
  const std::vector<code_type> types = types_with(name);
  for (const code_type t : types) {
    code_config c = defaults_of(t);
    try {
      return find_setting(settings_of(t), name)->set(c, value);
    } catch (const argument_error&) {  // perhaps another type's
      if (types.size() == 1) throw;
    }
  }
  for (const code_setting_text& text : code_setting_texts())
    if (text.name == name) throw argument_error(name, as_message(value), text.allowed);
}

}  // namespace wb
