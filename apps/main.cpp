// The `warpband` command. Exit codes: 0 done, 1 failed, 2 used wrongly. Errors are one line on stderr.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/link/result.hpp>
#include <warpband/link/scenario.hpp>

#include "command.hpp"

namespace {

constexpr const char* main_footer = R"(Examples:
  warpband sim examples/quickstart.toml                     the table of error rates, on stdout
  warpband sim examples/quickstart.toml -o result.json --plot result.png
  warpband plot a.json b.json -o figure.pdf                 runs in one figure, those of the same settings added up
  warpband sim --resume result.json --frame-errors 400      go on with a run that ended or was killed
  warpband choose examples/mimo.toml --fer 0.1              the fastest detector and decoder within a loss, measured here
  warpband decode recorded.h5 -o bits.h5 --code lte-turbo   LLRs of any receiver
  warpband detect recorded.h5 -o llr.h5 --detector nway --qam 64
                                                            soft MIMO detection of any recording
  warpband stream examples/stream/stream.toml               frames under a deadline: throughput and latency
  warpband bench turbo --json turbo.json                    how fast this machine is, and against which bound
  warpband model capacity                                   matched filter or MMSE, by coherence time
  warpband reproduce wu2010 fig4.5 --stored                 a figure of a paper, and what it states beside our result
  warpband info                                             what this machine and this build can do
  source <(warpband completion bash)                        completion of commands and options

`warpband COMMAND --help` explains a command; docs/ explains file formats and conventions. Errors are one line on
stderr. Exit codes: 0 done, 1 failed, 2 used wrongly.)";

int report(int code, std::string what) {
  std::replace(what.begin(), what.end(), '\n', ' ');
  // What files and arguments hold may be shown in it: nothing of that is for the terminal to obey.
  std::string shown;
  for (const char c : what) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  constexpr std::size_t most = 4000;
  if (shown.size() > most) {
    shown.resize(most);
    shown += "...";
  }
  std::cout.flush();
  std::fflush(stdout);
  std::fprintf(stderr, "warpband: error: %s\n", shown.c_str());
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
  std::string what = error.what();
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    std::vector<std::string> names;
    for (const CLI::Option* o : asked->get_options())
      for (const std::string& n : o->get_lnames()) names.push_back("--" + n);
    for (const CLI::App* sub : asked->get_subcommands({})) names.push_back(sub->get_name());
    const std::vector<std::string> extras = app.remaining(true);
    const std::string word = extras.empty() ? "" : extras.front().substr(0, extras.front().find('='));
    what = "\"" + word + "\" is not known here";
    if (const std::string near = wb::nearest_name(word, names); !near.empty())
      what += ": did you mean " + near + "?";
  }
  return what + " (see warpband " + path + "--help)";
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file over the size limit is an error to report, like a full disk
  CLI::App app("Warpband: the heavy work of wireless receivers and transmitters, on CPUs and GPUs.",
               "warpband");
  app.footer(main_footer);
  app.set_version_flag(
      "--version", [] { return std::string("warpband ") + wb::version() + " (commit " + wb::commit() + ")"; },
      "Print version and commit");
  const std::vector<command> commands{add_sim(app),       add_plot(app),   add_choose(app),
                                      add_encode(app),    add_decode(app), add_detect(app),
                                      add_stream(app),    add_bench(app),  add_model(app),
                                      add_reproduce(app), add_info(app),   add_completion(app)};
  for (const command& c : commands)
    if (c.app->get_option_no_throw("--memory") == nullptr) add_memory_bound(*c.app);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    const int code = app.exit(asked);
    return std::cout.flush() ? code : report(failed, "cannot write to standard output");
  } catch (const CLI::ParseError& error) {
    return report(used_wrongly, explained(app, error));
  } catch (const usage_error& error) {
    return report(used_wrongly, error.what());
  } catch (const std::exception& error) {
    return report(failed, error.what());
  }

  try {
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
    return report(used_wrongly, "a command is missing: " + names + " (see warpband --help)");
  } catch (const usage_error& error) {
    return report(used_wrongly, error.what());
  } catch (const std::bad_alloc&) {
    return report(failed, "out of memory");
  } catch (const std::exception& error) {
    return report(failed, error.what());
  }
}
