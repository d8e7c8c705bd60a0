#include <warpband/code/code_texts.hpp>

#include <algorithm>

namespace wb {
namespace {

std::string initial_of(const code_kind& kind, const setting_of<box>& s) { return s.initial(kind.initial); }

/// What kinds say of a setting that the first of them has.
code_setting_text text_of(const std::vector<const code_kind*>& kinds, const code_kind& first,
                          const setting_of<box>& s) {
  std::vector<std::pair<std::string, std::string>> allowed, meant, brief;
  std::vector<std::string> words;
  for (const code_kind* kind : kinds) {
    const setting_of<box>* same = find_setting(kind->settings, s.name);
    if (same == nullptr) continue;
    std::string text = same->full_text();
    // An empty text is no default that a reader could write.
    if (const std::string initial = initial_of(*kind, *same);
        !initial.empty() && initial != "\"\"" && initial != initial_of(first, s))
      text += " Left out: " + initial + ".";
    for (const std::string& w : same->words)
      if (!find_word(words, w)) words.push_back(w);
    allowed.emplace_back(kind->name, same->allowed);
    meant.emplace_back(kind->name, text);
    brief.emplace_back(kind->name, first_sentence(text));
  }
  return {s.group,        s.name,         s.kind, by_kind(allowed),
          by_kind(meant), by_kind(brief), words,  initial_of(first, s),
          s.of_links};
}

}  // namespace

std::vector<code_setting_text> code_setting_texts(const std::vector<const code_kind*>& kinds) {
  std::vector<code_setting_text> texts;
  for (const char* group : {"code", "decoder"})
    for (const code_kind* kind : kinds)
      for (const setting_of<box>& s : kind->settings)
        if (s.group == group &&
            std::none_of(texts.begin(), texts.end(), [&](const auto& x) { return x.name == s.name; }))
          texts.push_back(text_of(kinds, *kind, s));
  return texts;
}
std::vector<code_setting_text> code_setting_texts() {
  std::vector<const code_kind*> kinds;
  for (const code_kind& kind : codes()) kinds.push_back(&kind);
  return code_setting_texts(kinds);
}

std::vector<const code_kind*> kinds_with(std::string_view setting) {
  std::vector<const code_kind*> kinds;
  for (const code_kind& kind : codes())
    if (find_setting(kind.settings, setting) != nullptr) kinds.push_back(&kind);
  return kinds;
}

setting_value as_kept(const code_kind& kind, const setting_of<box>& s, const setting_value& value) {
  box content = kind.initial;
  s.set(content, value);
  return s.written(content);
}

void check_for_some_kind(const std::string& name, const setting_value& value) {
  const std::vector<const code_kind*> kinds = kinds_with(name);
  for (const code_kind* kind : kinds) {
    try {
      (void)as_kept(*kind, *find_setting(kind->settings, name), value);
      return;
    } catch (const argument_error&) {  // perhaps another kind's
      if (kinds.size() == 1) throw;
    }
  }
  for (const code_setting_text& text : code_setting_texts())
    if (text.name == name) throw argument_error(name, as_message(value), text.allowed);
}

}  // namespace wb
