// The `warpband` command. Exit codes: 0 done, 1 failed, 2 used wrongly. Errors are one line on stderr.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/nearest_name.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/link/config/renamed.hpp>
#include <warpband/link/result.hpp>
#include <warpband/link/scenario.hpp>

#include "command.hpp"
#include "setting_options.hpp"

namespace {

constexpr const char* main_footer = R"(Examples:
  warpband sim examples/quickstart.toml                     the table of error rates, on stdout
  warpband sim examples/quickstart.toml -o result.json --plot result.png
  warpband plot a.json b.json -o figure.pdf                 runs in one figure, those of the same settings added up
  warpband sim --resume result.json --frame-errors 400      go on with a run that ended or was killed
  warpband choose examples/mimo.toml --fer 0.1              the fastest detector and decoder within a loss, measured here
  warpband exit examples/exit.toml -o exit.png              EXIT charts of a detector and a decoder in a loop
  warpband decode recorded.h5 -o bits.h5 --code lte-turbo   LLRs of any receiver
  warpband detect recorded.h5 -o llr.h5 --detector nway --qam 64
                                                            soft MIMO detection of any recording
  warpband stream examples/stream/stream.toml               frames under a deadline: throughput and latency
  warpband bench turbo --json turbo.json                    how fast this machine is, and against which bound
  warpband model capacity                                   matched filter or MMSE, by coherence time
  warpband reproduce wu2010 fig4.5 --stored                 a figure of a paper, and what it states beside our result
  warpband tables nr --mcs 5 --sizes 512 -o tables          block error rates for simulators of whole systems
  warpband receive cell.sigmf-meta                          5G NR cells in a recording, and what they say
  warpband generate -o cell.sigmf-meta --snr 10             such a recording, of a cell with given contents
  warpband info                                             what this machine and this build can do
  source <(warpband completion bash)                        completion of commands and options

`warpband COMMAND --help` explains a command; docs/ explains file formats and conventions. Errors are one line on
stderr. Exit codes: 0 done, 1 failed, 2 used wrongly.)";

/// Standard streams that are closed become /dev/null: else the first file that is opened, a result perhaps,
/// would get the number of one, and with it what is written there.
void open_missing_streams() noexcept {
  for (int file = open("/dev/null", O_RDWR); file >= 0; file = dup(file))
    if (file > 2) {
      close(file);
      return;
    }
}

void say_out_of_memory() noexcept {
  constexpr char line[] = "warpband: error: out of memory\n";
  if (write(2, line, sizeof line - 1) < 0) return;  // nobody listens
}

/// Of an exception that nothing catches, in a thread or while another one is handled. Without memory that
/// may happen anywhere, and the command ends as always: one line, exit code 1. Others are faults of this
/// program.
[[noreturn]] void end_on_exception() noexcept {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    say_out_of_memory();
    _exit(failed);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "warpband: a fault of this program: %s\n", error.what());
  }
  std::abort();
}

/// Before the objects of files and libraries are made, which takes memory too.
[[gnu::constructor(101)]] void end_well() { std::set_terminate(end_on_exception); }

/// The error's line. What files and arguments hold is shown in it, and without memory a line all the same.
int report(int code, const char* message) noexcept {
  constexpr std::size_t max_length = 4000;
  try {
    std::string text = message;
    std::replace(text.begin(), text.end(), '\n', ' ');
    text = "warpband: error: " + wb::printable(text, max_length) + "\n";
    std::cout.flush();
    std::fflush(stdout);
    std::fputs(text.c_str(), stderr);
  } catch (const std::exception&) {
    say_out_of_memory();
  }
  return code;
}

/// "the following argument was not expected", with the option that was probably meant.
std::string explained(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* asked = &app;
  std::string path;  // "bench compare "
  while (!asked->get_subcommands().empty()) {
    asked = asked->get_subcommands().front();
    path += asked->get_name() + " ";
  }
  std::string message = error.what();
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    std::vector<std::string> names;
    for (const CLI::Option* o : asked->get_options())
      for (const std::string& n : o->get_lnames()) names.push_back("--" + n);
    for (const CLI::App* sub : asked->get_subcommands({})) names.push_back(sub->get_name());
    const std::vector<std::string> extras = app.remaining(true);
    const std::string word = extras.empty() ? "" : extras.front().substr(0, extras.front().find('='));
    message = "\"" + word + "\" is not known here";
    if (const std::string near = wb::nearest_name(word, names); !near.empty())
      message += ": did you mean " + near + "?";
  }
  return message + " (see warpband " + path + "--help)";
}

/// Replaces old names of options by today's (config/renamed.hpp) and prints a hint for each.
void rename_options(const CLI::App& app, std::vector<std::string>& words) {
  const CLI::App* asked = &app;
  std::vector<std::string> hints;
  const auto name_in = [](const std::string& word) { return word.substr(0, word.find('=')); };
  for (std::string& word : words) {
    for (const CLI::App* sub : asked->get_subcommands([&](const CLI::App* s) { return s->check_name(word); }))
      asked = sub;
    const std::string name = name_in(word);
    if (name == "--") break;
    for (const wb::config::renamed& r : wb::config::renamed_settings()) {
      if (r.before.find('.') == std::string::npos) continue;  // a keyword of Python alone
      const auto [before, today] = r.keywords();
      if (before == today || name != option_of_setting(before)) continue;
      const std::string option = option_of_setting(today);
      if (asked->get_option_no_throw(name) != nullptr || asked->get_option_no_throw(option) == nullptr)
        continue;
      if (std::any_of(words.begin(), words.end(), [&](const auto& w) { return name_in(w) == option; }))
        throw usage_error(name + " and " + option + " say the same: expected one of them");
      word.replace(0, name.size(), option);
      hints.push_back(name + " is now " + option);
      break;
    }
  }
  print_hints(hints);
}

/// What runs a command line; throws what goes wrong.
int run(int argc, char** argv) {
  CLI::App app("Warpband: the heavy work of wireless receivers and transmitters, on CPUs and GPUs.",
               "warpband");
  app.footer(main_footer);
  app.set_version_flag(
      "--version", [] { return std::string("warpband ") + wb::version() + " (commit " + wb::commit() + ")"; },
      "Print version and commit");
  const std::vector<command> commands{
      add_sim(app),     add_plot(app),     add_choose(app),    add_exit(app),
      add_encode(app),  add_decode(app),   add_detect(app),    add_stream(app),
      add_bench(app),   add_model(app),    add_reproduce(app), add_tables(app),
      add_receive(app), add_generate(app), add_info(app),      add_completion(app)};
  for (const command& c : commands)
    if (c.app->get_option_no_throw("--memory") == nullptr) add_memory_bound(*c.app);

  std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  rename_options(app, words);
  std::reverse(words.begin(), words.end());  // the last one is parsed first
  try {
    app.parse(std::move(words));
  } catch (const CLI::Success& asked) {  // --help, --version
    const int code = app.exit(asked);
    return std::cout.flush() ? code : report(failed, "cannot write to standard output");
  } catch (const CLI::ParseError& error) {
    return report(used_wrongly, explained(app, error).c_str());
  }

  for (const command& c : commands) {
    if (!c.app->parsed()) continue;
    const int code = c.run();
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
      return report(failed, "cannot write to standard output");
    return code;
  }
  std::string names;
  for (const command& c : commands) {
    const bool last = &c == &commands.back();
    names += (names.empty() ? "" : last ? " or " : ", ") + c.app->get_name();
  }
  throw usage_error("a command is missing: " + names + " (see warpband --help)");
}

}  // namespace

int main(int argc, char** argv) {
  open_missing_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file over the size limit is an error to report, like a full disk
  try {
    return run(argc, argv);
  } catch (const usage_error& error) {
    return report(used_wrongly, error.what());
  } catch (const std::bad_alloc&) {
    return report(failed, "out of memory");
  } catch (const std::exception& error) {
    return report(failed, error.what());
  }
}
