// The `warpband` command. Exit codes: 0 done, 1 failed, 2 used wrongly. Errors are one line on stderr.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <new>
#include <optional>
#include <string>

#include <warpband/core/error.hpp>
#include <warpband/link/scenario.hpp>

#include "info.hpp"
#include "sim.hpp"

namespace {

constexpr int done = 0, failed = 1, used_wrongly = 2;

constexpr const char* main_footer = R"(Examples:
  warpband sim examples/quickstart.toml                     the table of error rates, on stdout
  warpband sim examples/quickstart.toml -o result.json --plot result.png
  warpband sim --help-scenario                              every key of a scenario file
  warpband info                                             what this machine and this build can do

`warpband COMMAND --help` explains a command. Exit codes: 0 done, 1 failed, 2 used wrongly.)";

constexpr const char* sim_footer = R"(Examples:
  warpband sim examples/quickstart.toml
      prints a row for each point as it is finished; progress goes to stderr
  warpband sim examples/quickstart.toml -o result.json --plot result.svg --metric fer
      and saves raw counts, configuration and machine, and a plot of the frame error rates
  warpband sim examples/quickstart.toml --plot check.png --reference old.csv:"as measured"
      with a curve from a file beside (columns ebn0_db, ber, fer)
  warpband sim examples/quickstart.toml --device cuda:0 --seed 7
      on a GPU, with other random numbers; the counts are the same on every device

The result is rewritten after each point, in full or not at all. Ctrl-C ends the run and keeps the finished points.
Plots need Python with matplotlib: scripts/setup.sh installs it; WARPBAND_PYTHON names another Python.)";

constexpr const char* info_footer = R"(Examples:
  warpband info                   version, build, CPU, instruction sets, CUDA devices
  warpband info --json            the same for programs
  WARPBAND_ISA=avx2 warpband info    with a forced instruction set, as `warpband sim` would run)";

int report(int code, std::string what) {
  std::replace(what.begin(), what.end(), '\n', ' ');
  std::cout.flush();
  std::fflush(stdout);
  std::fprintf(stderr, "warpband: error: %s\n", what.c_str());
  return code;
}

std::string check_device(const std::string& device) {
  if (device == "cpu" || device == "cuda") return {};
  const std::string index = device.starts_with("cuda:") ? device.substr(5) : "";
  if (!index.empty() && index.size() < 6 && index.find_first_not_of("0123456789") == std::string::npos)
    return {};
  return "\"" + device + "\" is not allowed: expected cpu or cuda:N";
}

/// A decimal number and nothing else.
template <class N>
std::optional<N> number(const std::string& text) {
  N value{};
  const char* last = text.data() + text.size();
  const auto [end, status] = std::from_chars(text.data(), last, value);
  if (status != std::errc{} || end != last) return std::nullopt;
  return value;
}

std::string check_seed(const std::string& seed) {
  if (const auto n = number<std::int64_t>(seed); n && *n >= 0) return {};
  return "\"" + seed + "\" is not allowed: expected an integer from 0 to 9223372036854775807";
}

std::string check_threads(const std::string& threads) {
  if (const auto n = number<int>(threads); n && *n >= 0 && *n <= 4096) return {};
  return "\"" + threads + "\" is not allowed: expected an integer from 0 (all cores) to 4096";
}

std::string check_picture(const std::string& path) {
  if (path.ends_with(".png") || path.ends_with(".svg")) return {};
  return "\"" + path + "\" is not allowed: expected a name that ends in .png or .svg";
}

/// "the following argument was not expected", with the option that was probably meant.
std::string explained(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* asked = &app;
  for (const CLI::App* sub : app.get_subcommands()) asked = sub;
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
  return what + " (see warpband " + (asked == &app ? "" : asked->get_name() + " ") + "--help)";
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Warpband: simulation of wireless links on CPUs and GPUs.", "warpband");
  app.footer(main_footer);
  app.set_version_flag("--version", [] { return version_text(); }, "Print version and commit");

  sim_options sim;
  bool help_scenario = false, as_json = false;
  std::string seed, threads_text;  // as words: CLI11 would read 010 as octal
  CLI::App* sim_command = app.add_subcommand("sim", "Run a link over Eb/N0 and count errors");
  sim_command->footer(sim_footer);
  sim_command->add_option("SCENARIO", sim.scenario, "What to run, in TOML: see --help-scenario");
  sim_command->add_option("-o,--output", sim.out, "Write the result here, in JSON")->type_name("FILE");
  sim_command->add_option("--plot", sim.plot, "Draw the error rates: .png or .svg")
      ->type_name("FILE")
      ->check(CLI::Validator(check_picture, "", "picture"));
  CLI::Option* reference =
      sim_command
          ->add_option("--reference", sim.references, "Draw this curve beside; may be given several times")
          ->type_name("CSV[:LABEL]")
          ->allow_extra_args(false);
  CLI::Option* metric =
      sim_command->add_option("--metric", sim.metric, "What to draw: ber, fer or both (default)")
          ->type_name("NAME")
          ->check(CLI::IsMember({"ber", "fer", "both"}));
  sim_command->add_option("--device", sim.device, "Where to run: cpu (default) or cuda:N")
      ->type_name("NAME")
      ->check(CLI::Validator(check_device, "", "device"));
  CLI::Option* threads =
      sim_command->add_option("--threads", threads_text, "CPU threads; 0, the default: all cores")
          ->type_name("N")
          ->check(CLI::Validator(check_threads, "", "threads"));
  CLI::Option* seed_option = sim_command->add_option("--seed", seed, "Instead of the scenario's seed")
                                 ->type_name("N")
                                 ->check(CLI::Validator(check_seed, "", "seed"));
  sim_command->add_flag("--quiet", sim.quiet, "No progress on stderr");
  sim_command->add_flag("--help-scenario", help_scenario, "Explain every key of a scenario file");

  CLI::App* info_command = app.add_subcommand("info", "Show version, build, CPU and CUDA devices");
  info_command->footer(info_footer);
  info_command->add_flag("--json", as_json, "In JSON");

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    return report(used_wrongly, explained(app, error));
  }

  try {
    int code = done;
    if (info_command->parsed()) {
      code = run_info(as_json);
    } else if (!sim_command->parsed()) {
      return report(used_wrongly, "a command is missing: sim or info (see warpband --help)");
    } else if (help_scenario) {
      std::fputs(wb::scenario_help().c_str(), stdout);
    } else {
      if (sim.scenario.empty())
        return report(used_wrongly,
                      "a scenario is missing: warpband sim SCENARIO.toml (see warpband sim --help)");
      if (sim.plot.empty() && (*reference || *metric))
        return report(used_wrongly, "--reference and --metric are for --plot: add --plot FILE.png");
      if (!sim.out.empty() && sim.out == sim.plot)
        return report(used_wrongly, "--output and --plot name the same file: give each its own");
      if (*threads && sim.device != "cpu")
        return report(used_wrongly, "--threads is for --device cpu: leave one of them out");
      if (*seed_option) sim.seed = number<std::uint64_t>(seed);
      if (*threads) sim.threads = *number<int>(threads_text);
      code = run_sim(sim);
    }
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
      return report(failed, "cannot write to standard output");
    return code;
  } catch (const std::bad_alloc&) {
    return report(failed, "out of memory");
  } catch (const std::exception& error) {
    return report(failed, error.what());
  }
}
