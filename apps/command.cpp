#include "command.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>

#include <warpband/core/error.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/io/hdf5.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/link/scenario.hpp>

namespace {

std::atomic<std::int64_t> first_interrupt{0};                   // in ms; 0: none
static_assert(std::atomic<std::int64_t>::is_always_lock_free);  // a signal handler may use it

extern "C" void on_interrupt(int signal) {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  const std::int64_t ms = time.tv_sec * std::int64_t{1000} + time.tv_nsec / 1000000 + 1;
  std::int64_t first = 0;
  if (first_interrupt.compare_exchange_strong(first, ms)) return;
  if (ms - first < 500) return;  // timeout(1) sends one signal twice: to the process and to its group
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

std::string check_device(const std::string& device) {
  if (device == "cpu" || device == "cuda") return {};
  const std::string index = device.starts_with("cuda:") ? device.substr(5) : "";
  if (!index.empty() && index.size() < 6 && index.find_first_not_of("0123456789") == std::string::npos)
    return {};
  return "\"" + device + "\" is not allowed: expected cpu or cuda:N";
}

/// Of "cpu,cuda:0", where no device stands twice.
std::string check_devices(const std::string& list) {
  std::set<std::string> devices_seen;
  std::istringstream in(list + ",");
  for (std::string device; std::getline(in, device, ',');) {
    if (std::string wrong = check_device(device); !wrong.empty())
      return wrong + (list.find(',') == std::string::npos ? ", or several with commas between them" : "");
    if (!devices_seen.insert(device == "cuda" ? "cuda:0" : device).second)
      return "\"" + list + "\" is not allowed: it names " + device + " twice";
  }
  return {};
}

}  // namespace

std::optional<std::int64_t> decimal(const std::string& text) {
  std::int64_t value{};
  const char* last = text.data() + text.size();
  const auto [end, status] = std::from_chars(text.data(), last, value);
  if (status != std::errc{} || end != last) return std::nullopt;
  return value;
}

CLI::Validator word_of(const std::vector<std::string>& words) {
  return {[words](std::string& given) -> std::string {
            const auto index = wb::find_word(words, given);
            if (!index) return "\"" + given + "\" is not allowed: expected " + wb::among(words);
            given = words[*index];
            return {};
          },
          fmt::format("{{{}}}", fmt::join(words, ",")), "word"};
}

CLI::Option* add_integer(CLI::App& app, const std::string& name, std::int64_t least, std::int64_t greatest,
                         const std::string& text, std::function<void(std::int64_t)> take,
                         const std::string& allowed) {
  const std::string range = allowed.empty() ? fmt::format("{} to {}", least, greatest) : allowed;
  const auto check = [=](const std::string& word) -> std::string {
    if (const auto n = decimal(word); n && *n >= least && *n <= greatest) return {};
    return "\"" + word + "\" is not allowed: expected an integer from " + range;
  };
  return app
      .add_option_function<std::string>(
          name, [take = std::move(take)](const std::string& word) { take(decimal(word).value()); }, text)
      ->type_name("N")
      ->check(CLI::Validator(check, "", "integer"));
}

void add_device_options(CLI::App& app, device_options& options, bool several) {
  app.add_option("--device", options.device,
                 several ? "Where to run: cpu (default) or cuda:N, or several: cuda:0,cuda:1"
                         : "Where to run: cpu (default) or cuda:N")
      ->type_name(several ? "NAMES" : "NAME")
      ->check(CLI::Validator(several ? check_devices : check_device, "", "device"));
  add_integer(
      app, "--threads", 0, 4096, "CPU threads; 0, the default: all cores",
      [&options](std::int64_t n) { options.threads = static_cast<int>(n); }, "0 (all cores) to 4096");
}
void check_device_options(const CLI::App& app, const device_options& options) {
  if (app.count("--threads") != 0 && options.device != "cpu" && !options.device.starts_with("cpu,") &&
      options.device.find(",cpu") == std::string::npos)
    throw usage_error("--threads is for --device cpu: leave one of them out");
}

void add_trusted(CLI::App& app) {
#if WARPBAND_HDF5
  app.add_flag_callback(
      "--trusted", [] { wb::set_default_hdf5_access({.trusted = true}); },
      "Read HDF5 files in this process, without bounds on memory and time: for files that you wrote");
  app.add_flag_callback("--untrusted", [] {}, "Changes nothing: files are not trusted by default");
#else
  (void)app;
#endif
}
void add_memory_bound(CLI::App& app) {
  app.add_option_function<std::string>(
         "--memory", [](const std::string& text) { bound_memory(bytes_from("--memory", text)); },
         "Memory that the command may take: 512M, 2G; more is an error (default: no bound)")
      ->type_name("SIZE")
      ->trigger_on_parse();
}
void bound_memory([[maybe_unused]] std::uint64_t bytes) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose own memory is not meant
  std::uint64_t data_kib = 0;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmData:")) data_kib = std::strtoull(line.c_str() + 7, nullptr, 10);
  rlimit stack{}, data{};
  if (data_kib == 0 || getrlimit(RLIMIT_STACK, &stack) != 0 || getrlimit(RLIMIT_DATA, &data) != 0)
    throw wb::error("--memory: the system bounds no memory here");
  const rlim_t stacks =
      (std::min<rlim_t>(stack.rlim_cur, 8 << 20) + 4096) * (std::thread::hardware_concurrency() + 8);
  data.rlim_cur = std::min<rlim_t>(data.rlim_max, (data_kib << 10) + stacks + bytes);
  setrlimit(RLIMIT_DATA, &data);
#endif
}

void claim_output(const std::string& path) {
  static std::vector<wb::output_claim> claims;  // until the process ends
  claims.emplace_back(path);
}

void claim_outputs(const std::vector<std::string>& files, const std::string& input) {
  for (std::size_t i = 0; i < files.size(); i++) {
    if (files[i].empty()) continue;
    check_not_an_input(files[i], {input});
    for (std::size_t j = 0; j < i; j++)
      if (!files[j].empty() && wb::same_place(files[i], files[j]))
        throw usage_error(files[i] + " is named twice: give each file its own name");
    claim_output(files[i]);
    wb::check_writable(files[i]);
  }
}

std::size_t curve_named(const wb::scenario& s, const std::string& label) {
  std::string labels;
  for (std::size_t i = 0; i < s.curves.size(); i++) {
    if (s.curves[i].label == label || (label.empty() && s.curves.size() == 1)) return i;
    labels += (labels.empty() ? "\"" : ", \"") + s.curves[i].label + "\"";
  }
  if (label.empty())
    throw usage_error(
        fmt::format("{} has {} curves: --curve LABEL names one of {}", s.file, s.curves.size(), labels));
  throw usage_error(fmt::format("--curve \"{}\" is not allowed: expected one of {}", label, labels));
}

std::vector<std::string> options_given(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* given : app.parse_order())
    for (const std::string& name : given->get_lnames()) names.push_back("--" + name);
  return names;
}
void refuse_option(const wb::argument_error& error, const std::vector<std::string>& given) {
  std::string option = "--" + error.argument();
  std::replace(option.begin(), option.end(), '_', '-');
  if (std::find(given.begin(), given.end(), option) != given.end())
    throw usage_error(wb::argument_error(option, error.value(), error.allowed()).what());
}

std::uint64_t bytes_from(const std::string& option, const std::string& text) {
  const auto refuse = [&]() -> std::uint64_t {
    throw usage_error(option + ": \"" + text +
                      "\" is not allowed: expected a size like 512M or 2G, at least 1M");
  };
  double value{};
  const char* last = text.data() + text.size();
  const auto [end, status] = std::from_chars(text.data(), last, value, std::chars_format::fixed);
  if (status != std::errc{} || !(value > 0)) return refuse();
  std::string unit(end, last);
  if (unit.ends_with("iB")) unit.resize(unit.size() - 2);
  const std::string units = "KMGT";
  if (!unit.empty()) {
    const std::size_t power = units.find(unit);
    if (unit.size() != 1 || power == std::string::npos) return refuse();
    value = std::ldexp(value, 10 * static_cast<int>(power + 1));
  }
  if (!(value >= 1 << 20 && value < 9.2e18)) return refuse();
  return static_cast<std::uint64_t>(value);
}

CLI::Validator number_between(double least, double greatest) {
  const auto check = [=](const std::string& word) -> std::string {
    double value{};
    if (CLI::detail::lexical_cast(word, value) && value >= least && value <= greatest) return {};
    return fmt::format("\"{}\" is not allowed: expected a number from {:g} to {:g}", word, least, greatest);
  };
  return CLI::Validator(check, "", "number");
}

void check_not_an_input(const std::string& out, const std::vector<std::string>& inputs) {
  std::error_code none;
  for (const std::string& in : inputs)
    if (!out.empty() && std::filesystem::equivalent(out, in, none))
      throw wb::file_error(out, "is read by this run: give the result another name");
}

void check_not_another_result(const std::string& out, const std::string& others) {
  std::error_code status;
  if (!out.empty() && std::filesystem::is_regular_file(out, status) &&
      !std::filesystem::is_empty(out, status))
    throw wb::file_error(out, "is there already: " + others);
}

std::string duration_text(double seconds) {
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  if (seconds < 99.5) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5970) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 360000) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.0f} days", seconds / 86400);
}

void print_remark(const std::string& path, const std::string& remark) {
  if (!remark.empty()) print_note(fmt::format("{}: {}", path, remark));
}

void stop_on_interrupt() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}
bool interrupted() noexcept { return first_interrupt != 0; }
