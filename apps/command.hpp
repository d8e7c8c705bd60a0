#pragma once
// What the subcommands of `warpband` share. Each has one file: `add_NAME` puts its options under the app and
// returns what runs it.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <warpband/core/error.hpp>

#include "terminal.hpp"

namespace wb {
struct scenario;
}

/// Exit codes.
inline constexpr int done = 0, failed = 1, used_wrongly = 2;

/// A subcommand. `run` is called once the options are parsed, if it was asked for; it returns the exit code
/// and throws usage_error or wb::error.
struct command {
  CLI::App* app;
  std::function<int()> run;
};

/// Options that do not go together: exit code 2.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

command add_info(CLI::App& app);
command add_sim(CLI::App& app);
command add_plot(CLI::App& app);
command add_choose(CLI::App& app);
command add_exit(CLI::App& app);
command add_encode(CLI::App& app);
command add_decode(CLI::App& app);
command add_detect(CLI::App& app);
command add_model(CLI::App& app);
command add_reproduce(CLI::App& app);
command add_completion(CLI::App& app);
command add_bench(CLI::App& app);
command add_stream(CLI::App& app);
command add_tables(CLI::App& app);
command add_receive(CLI::App& app);
command add_generate(CLI::App& app);

/// Takes one of the words whatever its case and hyphens, as settings do, and hands on the listed one. For
/// `transform` of an option.
CLI::Validator word_of(const std::vector<std::string>& words);

/// Where to run: the options --device and --threads.
struct device_options {
  std::string device = "cpu";
  int threads = 0;  // 0: all cores
};
/// Adds --device, with `several` a list of them, and --threads. After parsing, check_device_options refuses
/// --threads for another device than cpu.
void add_device_options(CLI::App& app, device_options& options, bool several = false);
void check_device_options(const CLI::App& app, const device_options& options);

/// Adds --trusted, and --untrusted which changes nothing: how HDF5 files are read, see hdf5_access.
void add_trusted(CLI::App& app);
/// Adds --memory to a command that does not share it out itself: bound_memory.
void add_memory_bound(CLI::App& app);
/// From here on the data of this process may grow by so many bytes, the stacks of its threads not counted.
/// What needs more fails with "out of memory".
void bound_memory(std::uint64_t bytes);

/// Names of the options that were given, as "--ways".
std::vector<std::string> options_given(const CLI::App& app);
/// Throws usage_error, with the option's name, for a setting that one of the options `given` has.
void refuse_option(const wb::argument_error& error, const std::vector<std::string>& given);

/// A decimal integer and nothing else.
std::optional<std::int64_t> decimal(const std::string& text);

/// Adds an option that takes a decimal integer of a range and nothing else (CLI11 alone would read 010 as
/// octal). `allowed` explains the range in messages where its two ends would not.
CLI::Option* add_integer(CLI::App& app, const std::string& name, std::int64_t least, std::int64_t greatest,
                         const std::string& text, std::function<void(std::int64_t)> take,
                         const std::string& allowed = "");

/// Bytes of a title or label that a command prints.
inline constexpr std::size_t most_shown = 1000;

/// Takes a number of a range. CLI::Range would take NaN too.
CLI::Validator number_between(double least, double greatest);

/// "512M", "2G", "1.5G", "65536": bytes; K, M, G and T are powers of 1024. Throws usage_error naming
/// `option`.
std::uint64_t bytes_from(const std::string& option, const std::string& text);

/// Throws file_error where `out` holds something already that this run would replace: `others` says how to go
/// on, "--force replaces it". Empty files and what is no file (a pipe, /dev/null) hold nothing.
void check_not_another_result(const std::string& out, const std::string& others);

/// Throws file_error if `out` (which may be empty) names one of the files that are read.
void check_not_an_input(const std::string& out, const std::vector<std::string>& inputs);

/// The curve of a scenario with this label; of a scenario with one curve "" is this one. Throws usage_error
/// with the labels that there are.
std::size_t curve_named(const wb::scenario& s, const std::string& label);

/// From here to the end of the process no other process can claim the file that `path` names or will name:
/// wb::output_claim. Throws file_error where one has. Nothing is claimed of what is no file (a pipe,
/// /dev/null).
void claim_output(const std::string& path);

/// Claims the files that a run writes, those named "" left out. Throws usage_error where two are the same,
/// and file_error for one that is `input` or cannot be written.
void claim_outputs(const std::vector<std::string>& files, const std::string& input);

/// "1.2 s", "15 min", "2.5 h".
std::string duration_text(double seconds);

/// A line on stderr: how the file `path` is read where that is not as it stands; nothing without a `remark`.
void print_remark(const std::string& path, const std::string& remark);

/// The first Ctrl-C (or SIGTERM, or SIGHUP: the terminal is closed) sets a flag that `interrupted` tells, a
/// later one ends the program at once. A caller that has the signal ignored is left alone.
void stop_on_interrupt();
bool interrupted() noexcept;
