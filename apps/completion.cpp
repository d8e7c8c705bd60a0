// `warpband completion`: scripts that complete commands, options and their values, made from the very options
// that the command parses.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"

namespace {

constexpr const char* completion_footer = R"(Examples:
  source <(warpband completion bash)                  for this shell; in ~/.bashrc for every one
  warpband completion zsh > "${fpath[1]}/_warpband"   zsh, then start a new shell
  warpband completion fish > ~/.config/fish/completions/warpband.fish)";

/// What may follow an option.
struct values {
  bool any = false;                // it takes a value
  bool file = false;               // of a file
  std::vector<std::string> ends;   // of its name, without the dot; empty: any
  std::vector<std::string> words;  // one of these; empty: none are known
};

values values_of(const CLI::Option& option) {
  values v;
  v.any = option.get_expected_max() > 0 && option.get_type_size_max() > 0;
  const std::string type = option.get_type_name();  // "NAME:{ber,fer,both}"
  v.file = type.starts_with("FILE") || type.starts_with("CSV") || type.starts_with("RESULT");
  // What a scenario, a result, an array is called, as help names it.
  const std::string name = option.get_positional() ? option.get_name() : type;
  for (const auto& [type_name, ends] :
       std::vector<std::pair<std::string, std::vector<std::string>>>{{"SCENARIO", {"toml"}},
                                                                     {"RESULT", {"json"}},
                                                                     {"CSV", {"csv"}},
                                                                     {"INPUT", {"json", "csv"}},
                                                                     {"IN.h5", {"h5", "hdf5", "mat"}}})
    if (name.starts_with(type_name)) v.ends = ends;
  const std::size_t from = type.find('{'), to = type.rfind('}');
  if (from != std::string::npos && to != std::string::npos)
    for (std::size_t begin = from + 1; begin < to;) {
      const std::size_t end = std::min(type.find(',', begin), to);
      v.words.push_back(type.substr(begin, end - begin));
      begin = end + 1;
    }
  if (option.check_lname("device")) v.words = {"cpu", "cuda:0"};
  return v;
}

/// "--output", "-o".
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& n : option.get_lnames()) names.push_back("--" + n);
  for (const std::string& n : option.get_snames()) names.push_back("-" + n);
  return names;
}

/// The words a positional argument or a subcommand may be, and whether it may be a file.
values positionals_of(const CLI::App& app) {
  values v;
  for (const CLI::App* sub : app.get_subcommands({})) v.words.push_back(sub->get_name());
  for (const CLI::Option* o : app.get_options())
    if (o->get_positional() && o->get_name() != "FILTER") {
      const values its = values_of(*o);
      v.words.insert(v.words.end(), its.words.begin(), its.words.end());
      v.file = v.file || its.words.empty();
      v.ends.insert(v.ends.end(), its.ends.begin(), its.ends.end());
    }
  return v;
}

std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// The app and all below it, each with its words: "", "sim", "bench", "bench compare".
void visit(const CLI::App& app, const std::string& path,
           const std::function<void(const CLI::App&, const std::string&)>& see) {
  see(app, path);
  for (const CLI::App* sub : app.get_subcommands({}))
    visit(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name(), see);
}

std::string bash(const CLI::App& root) {
  std::string paths, options, follow;
  visit(root, "", [&](const CLI::App& app, const std::string& path) {
    if (!path.empty()) paths += fmt::format("{}{}", paths.empty() ? "" : "|", in_quotes(path));
    std::string words;
    for (const CLI::Option* o : app.get_options()) {
      const values v = values_of(*o);
      for (const std::string& name : names_of(*o)) {
        words += (words.empty() ? "" : " ") + name;
        if (!v.any) continue;
        const std::string reply =
            !v.words.empty() ? fmt::format("words={}", in_quotes(fmt::format("{}", fmt::join(v.words, " "))))
            : v.file ? fmt::format("files=yes ends={}", in_quotes(fmt::format("{}", fmt::join(v.ends, "|"))))
                     : ":";
        follow += fmt::format("    {}) {}; known=yes ;;\n", in_quotes(path + " " + name), reply);
      }
    }
    const values p = positionals_of(app);
    options += fmt::format("    {}) options={}; words={}; files={} ends={} ;;\n", in_quotes(path),
                           in_quotes(words), in_quotes(fmt::format("{}", fmt::join(p.words, " "))),
                           p.file ? "yes" : "no", in_quotes(fmt::format("{}", fmt::join(p.ends, "|"))));
  });
  return fmt::format(R"(# bash completion of warpband: source <(warpband completion bash)
_warpband() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} path= i try
  # A colon or an equals sign splits words: cuda:0 is three of them.
  if [[ $current == : && $before == cuda ]]; then COMPREPLY=(":0"); return; fi
  if [[ $before == : && ${{COMP_WORDS[COMP_CWORD-2]}} == cuda ]]; then COMPREPLY=("0"); return; fi
  if [[ $current == = ]]; then current=; elif [[ $before == = ]]; then before=${{COMP_WORDS[COMP_CWORD-2]}}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    try="${{path:+$path }}${{COMP_WORDS[i]}}"
    case $try in {paths}) path=$try ;; esac
  done
  local words= files=no ends= options= known=no
  case "$path $before" in
{follow}  esac
  if [[ $known == no ]]; then
    case $path in
{options}    esac
    if [[ $current == -* ]]; then words=$options files=no; fi
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  if [[ $files == yes ]]; then
    # Names that end as they should, and folders; where there are none, any.
    local found
    mapfile -t found < <(compgen -f -- "$current" |
      if [[ $ends ]]; then while read -r i; do [[ -d $i || $i =~ \.($ends)$ ]] && echo "$i"; done; else cat; fi)
    [[ ${{#found[@]}} == 0 ]] && mapfile -t found < <(compgen -f -- "$current")
    COMPREPLY+=("${{found[@]}}")
    compopt -o filenames 2> /dev/null
  fi
}}
complete -F _warpband warpband
)",
                     fmt::arg("paths", paths), fmt::arg("follow", follow), fmt::arg("options", options));
}

/// For zsh's _arguments, where brackets and colons mean something.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_files(const values& v) {
  return v.ends.empty() ? "_files" : fmt::format("_files -g \"*.({})\"", fmt::join(v.ends, "|"));
}

std::string zsh_action(const values& v) {
  if (!v.words.empty()) return fmt::format("({})", escaped(fmt::format("{}", fmt::join(v.words, " "))));
  return v.file ? zsh_files(v) : " ";
}

std::string zsh_name(const std::string& path) {
  std::string name = "_warpband";
  for (const char c : path.empty() ? path : " " + path) name += c == ' ' ? '_' : c;
  return name;
}

std::string zsh(const CLI::App& root) {
  std::string out = "#compdef warpband\n";
  visit(root, "", [&](const CLI::App& app, const std::string& path) {
    out += fmt::format("\n{}() {{\n  local context state line\n  _arguments -C", zsh_name(path));
    for (const CLI::Option* o : app.get_options()) {
      const values v = values_of(*o);
      for (const std::string& name : names_of(*o))
        out += " \\\n    " + in_quotes(fmt::format("{}[{}]{}", name, escaped(o->get_description()),
                                                   v.any ? ":value:" + zsh_action(v) : ""));
      if (o->get_positional() && app.get_subcommands({}).empty())  // else the subcommand has its place
        out += " \\\n    " + in_quotes(fmt::format(":{}:{}", escaped(o->get_name()),
                                                   v.words.empty() ? zsh_files(v) : zsh_action(v)));
    }
    const auto subs = app.get_subcommands({});
    if (subs.empty()) {
      out += "\n}\n";
      return;
    }
    out +=
        " \\\n    '1: :->command' '*:: :->rest'\n  case $state in\n    command)\n      local -a commands=(";
    for (const CLI::App* sub : subs)
      out += fmt::format("\n        {}", in_quotes(escaped(sub->get_name()) + ":" + sub->get_description()));
    out += ")\n      _describe command commands ;;\n    rest)\n      case $line[1] in";
    for (const CLI::App* sub : subs)
      out += fmt::format("\n        {}) {} ;;", sub->get_name(),
                         zsh_name(path.empty() ? sub->get_name() : path + " " + sub->get_name()));
    out += "\n      esac ;;\n  esac\n}\n";
  });
  return out +
         "\nif [[ $funcstack[1] == _warpband ]]; then _warpband \"$@\"; else compdef _warpband warpband; "
         "fi\n";
}

/// fish offers folders beside the names with an ending.
std::string fish_files(const values& v) {
  std::string calls;
  for (const std::string& end : v.ends)
    calls += (calls.empty() ? "" : "; ") + fmt::format("__fish_complete_suffix .{}", end);
  return " -k -a " + in_quotes("(" + calls + ")");
}

std::string fish(const CLI::App& root) {
  std::string out = "# fish completion of warpband\ncomplete -c warpband -f\n";
  visit(root, "", [&](const CLI::App& app, const std::string& path) {
    const std::size_t blank = path.find(' ');
    std::string when =
        path.empty() ? "__fish_use_subcommand" : "__fish_seen_subcommand_from " + path.substr(0, blank);
    if (blank != std::string::npos) when += "; and __fish_seen_subcommand_from " + path.substr(blank + 1);
    std::string below;  // once a subcommand is there, only its own options count
    for (const CLI::App* sub : app.get_subcommands({})) below += " " + sub->get_name();
    if (!path.empty() && !below.empty()) when += "; and not __fish_seen_subcommand_from" + below;
    const std::string line = fmt::format("complete -c warpband -n {}", in_quotes(when));
    for (const CLI::Option* o : app.get_options()) {
      const values v = values_of(*o);
      std::string flags;
      for (const std::string& n : o->get_lnames()) flags += " -l " + n;
      for (const std::string& n : o->get_snames()) flags += " -s " + n;
      if (flags.empty()) continue;
      if (v.any) flags += v.file ? v.ends.empty() ? " -r -F" : " -r -f" + fish_files(v) : " -x";
      if (!v.words.empty()) flags += " -a " + in_quotes(fmt::format("{}", fmt::join(v.words, " ")));
      out += fmt::format("{}{} -d {}\n", line, flags, in_quotes(o->get_description()));
    }
    const values p = positionals_of(app);
    for (const CLI::App* sub : app.get_subcommands({}))
      out += fmt::format("{} -a {} -d {}\n", line, sub->get_name(), in_quotes(sub->get_description()));
    if (app.get_subcommands({}).empty() && !p.words.empty())
      out += fmt::format("{} -a {}\n", line, in_quotes(fmt::format("{}", fmt::join(p.words, " "))));
    if (p.file) out += line + (p.ends.empty() ? " -F" : fish_files(p)) + "\n";
  });
  return out;
}

}  // namespace

command add_completion(CLI::App& app) {
  CLI::App* completion = app.add_subcommand("completion", "Print a completion script for a shell");
  const auto shell = std::make_shared<std::string>();
  completion->footer(completion_footer);
  completion->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->type_name("")
      ->transform(word_of({"bash", "zsh", "fish"}));
  return {completion, [&app, shell] {
            const std::string script = *shell == "bash" ? bash(app) : *shell == "zsh" ? zsh(app) : fish(app);
            std::fputs(script.c_str(), stdout);
            return done;
          }};
}
