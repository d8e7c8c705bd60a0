#include "command.hpp"

#if defined(WARPBAND_HAS_BENCH)

#include <fmt/format.h>

#include <bench/compare.hpp>
#include <bench/run.hpp>
#include <charconv>
#include <cstdio>
#include <memory>
#include <warpband/core/error.hpp>
#include <warpband/io/replacement.hpp>

namespace {

struct bench_options {
  wb::bench::run_options run;
  std::string json, before, after;
  device_options where;
  int profile = 0;
  double duration = 0;  // seconds; 0: no such run
  bool list = false, quiet = false, check = false;
};

/// "0.1": more than nothing, at most an hour; else 0.
double seconds_from(const std::string& text) {
  double x = 0;
  const char* last = text.data() + text.size();
  const auto [end, status] = std::from_chars(text.data(), last, x);
  return status == std::errc{} && end == last && x > 0 && x <= 3600 ? x : 0;
}
std::string check_seconds(const std::string& text) {
  if (seconds_from(text) > 0) return {};
  return "\"" + text + "\" is not allowed: expected seconds, more than 0 and at most 3600";
}
/// Counters of energy change some ten times a second.
std::string check_energy_seconds(const std::string& text) {
  if (seconds_from(text) >= 5) return {};
  return "\"" + text + "\" is not allowed: expected seconds, 5 to 3600";
}
std::string check_filter(const std::string& text) {
  if (wb::bench::is_filter(text)) return {};
  return "\"" + text + "\" is not allowed: expected a regular expression";
}

void check_json(const bench_options& options) {
  if (!options.json.empty() && options.json != "-") wb::check_writable(options.json);
}
/// The table on standard output and the JSON in its file, or the JSON in place of the table.
void show(const bench_options& options, const std::string& table, const std::string& json) {
  if (options.json == "-")
    print_json(json);
  else
    print_text(stdout, table);
  if (!options.json.empty() && options.json != "-") wb::write_file(options.json, json);
}

/// Adds what measuring takes: device, threads, record.
void add_where(CLI::App& app, bench_options& options) {
  add_device_options(app, options.where);
  app.get_option("--device")
      ->description("Where to run: cpu or cuda:N; default: cpu, and cuda:0 where there is one");
  app.add_option("--json", options.json, "Write the record here, in JSON; - for standard output")
      ->type_name("FILE");
}
/// What was asked for, once it is parsed.
void take_where(const CLI::App& app, bench_options& options) {
  check_device_options(app, options.where);
  options.run.threads = options.where.threads;
  if (app.count("--device") == 0) return;
  const std::string device = options.where.device == "cuda" ? "cuda:0" : options.where.device;
  (void)wb::open_executor(device, 1);  // is it there?
  options.run.devices = {device};
}

int run_benchmarks(bench_options& options) {
  const std::vector<std::string> names = wb::bench::list(options.run);
  if (names.empty())
    throw usage_error("no benchmark matches \"" + options.run.filter + "\": warpband bench --list shows all");
  if (options.list) {
    for (const std::string& name : names) print_to(stdout, "{}\n", name);
    return done;
  }
  if (options.profile > 0) {
    wb::bench::call_only(options.run, options.profile);
    return done;
  }
  check_json(options);
  stop_on_interrupt();
  progress_line line(options.quiet);
  if (options.duration > 0) {
    options.run.watch = [&](const wb::bench::progress& p) {
      if (line.due()) line.show(fmt::format("{}, {} left", p.name, duration_text(p.seconds_left)));
      return !interrupted();
    };
    const wb::bench::report report = wb::bench::endure(options.run, options.duration);
    line.clear();
    show(options, report.table, report.json);
    if (report.failed != 0)
      throw wb::error(fmt::format("{} samples had other results than the first call", report.failed));
    return done;
  }
  options.run.watch = [&](const wb::bench::progress& p) {
    if (line.due())
      line.show(
          fmt::format("[{}/{}] {}, about {} left", p.done, p.total, p.name, duration_text(p.seconds_left)));
    return !interrupted();
  };
  const wb::bench::report report = wb::bench::run(options.run);
  line.clear();
  show(options, report.table, report.json);
  if (report.failed != 0) throw wb::error(fmt::format("{} benchmarks failed", report.failed));
  return done;
}

int run_ceilings(const bench_options& options) {
  check_json(options);
  const wb::bench::report report = wb::bench::run_ceilings(options.run);
  show(options, report.table, report.json);
  return done;
}

int run_compare(const bench_options& options) {
  const wb::bench::comparison c = wb::bench::compare(options.before, options.after);
  if (options.json != "-") check_not_an_input(options.json, {options.before, options.after});
  check_json(options);
  show(options, c.table, c.json);
  return options.check && c.worse ? failed : done;
}

constexpr const char* bench_footer = R"(Names
  A benchmark is called OP/AXIS=VALUE/.../figure=FIGURE/device=DEVICE. FILTER is a regular expression (ECMAScript) that
  is looked for anywhere in the name: turbo, '^demap/points=16', 'figure=kernel', 'turbo.*log_map.*figure=small'.

Figures
  kernel     data in the device's memory, timed by the device's clock, launches queued ahead of it: the kernel alone
  resident   data in the device's memory, timed by the host's clock: many calls, one wait
  host_fed   data in page-locked host memory; copies in and out on three streams that overlap with the kernels
  sync       the same without overlap: copies in, the call, copies out and a wait, one after the other
  small      a few items: one call and its wait, again and again; the time is the latency
  On the CPU a call is its kernel and nothing is copied: there is resident and small.

Columns
  us a call  the median of the repetitions; of `small`, the median call
  spread     from where to where the median of another run may fall: all repetitions and a quarter of their range more to
             either side, at least 1 %. Each repetition is a whole round of all benchmarks in a new order, so a machine
             that drifts shows in it
  us, 99 %   of `small`: the slowest call but one in a hundred
  Mb/s       10^6 bits a second: of information (turbo, ldpc, viterbi, bcjr, lte_transport, link, crc_attach), of coded
             bits (demap, qam_map, detect, stbc, lte_rate_match, lte_combine)
  % bound    the shortest time that the call can take on this device, over the time it took
  bound by   what makes that time: fp32 operations, memory, copies
  The bound is made of the operations and bytes that each kernel states, max(operations / fp32, bytes / memory), summed
  over the kernels of a call, and of the device's ceilings, measured before and after the benchmarks of the same run
  (`warpband bench ceilings` shows them). host_fed is also bound by its copies, each way and both;
  sync by the sum of all.
  An operation is one float32 add, multiply, fma, max or min; a division counts 5 and a square root 4; integer work is
  not counted.

Duration
  With --duration the one benchmark that FILTER leaves runs without a pause (an hour: --duration 3600). Every second (every
  600th of a longer run) its rate, the memory of process and device, and whether its results are still those of the first
  call (of host_fed turbo) are looked at; other results are an error. host_fed keeps three calls under way, the other
  figures one.

Energy
  With --energy S each benchmark runs S seconds more. Before that each device rests for 5 seconds and idles for S. NVML
  counts the energy of a GPU's board, RAPL that of all packages of a CPU. What the idle device takes is subtracted and stated; the rest is
  shown for a bit and an item. What other programs cause is counted too. Linux lets only root read RAPL by default. The
  environment variable WARPBAND_POWERCAP names another folder than /sys/class/powercap.

Budget
  Below the figures of MIMO detectors: the rate that each has with its data in place (kernel, on a CPU resident) and fed
  from the host, in 10^6 uses of the channel a second, and the widest carrier whose every resource element it detects in
  real time: LTE of 5, 10, 15 or 20 MHz (300, 600, 900, 1200 subcarriers x 14 symbols a millisecond) or NR of 100 MHz at
  30 kHz (3276 x 28); x 3.1 says that it is 3.1 times as fast as that carrier asks.

Files
  --json writes the record: version, commit, date, machine, ceilings, and for each benchmark all repetitions, the median
  and its spread, rates, operations, bytes and bound. It is written at the end, in full or not at all. With --json - it
  goes to standard output in place of the table.
  bench/results/ holds the records of named machines; scripts/performance_report.py makes docs/performance.md of them.

Examples:
  warpband bench turbo --json turbo.json         the turbo code on the CPU and the first GPU
  warpband bench --list                          all names
  warpband bench demap --device cpu --threads 1  one core
  WARPBAND_ISA=avx2 warpband bench demap         with another instruction set
  ncu --kernel-name-base demangled -k regex:demap_op warpband bench demap/points=16/.*kernel --profile 3
  warpband bench 'turbo.*int16.*early_stop.*host_fed' --duration 480 --json endurance.json
  warpband bench 'turbo.*resident' --energy 5     also the energy of a bit
  warpband bench ceilings                        what this machine can do at most
  warpband bench compare old.json new.json       which figures changed by more than their noise

A benchmark that fails is recorded with its error, and the exit code is 1.)";

constexpr const char* ceilings_footer = R"(For each device:
  fp32      float32 operations a second in registers, on all threads, in several mixes of fma, add, multiply and max;
            an fma counts once. The best mix is the ceiling
  memory    bytes a second, copied (read and written) or only read, by how many bytes are gone through: a call that fits
            into a cache is held against the cache
  host to device, device to host, both at once    page-locked memory
  smallest call    an operation on one item: queued one after the other, and with a wait each
Best of several attempts. It takes a few seconds.

Examples:
  warpband bench ceilings
  warpband bench ceilings --device cpu --threads 1 --json ceilings.json)";

constexpr const char* compare_footer = R"(Columns
  time      by how much the median moved; + is slower
  noise     how far the spreads of both records reach from their medians, added up
  verdict   slower or faster where the time moved by more than the noise; failed if NEW holds no time for it
            but an error, failed before if only OLD does
The last line counts the figures that are slower, faster, within noise, failed, and missing: only in OLD.
With --json - the comparison in JSON takes the place of the table.
Warnings say what else differs: machine, device, threads, version, ceilings.

Examples:
  warpband bench compare bench/results/turbo_h100.json new.json
  warpband bench compare old.json new.json --check      exit code 1 if anything is slower, failed or missing)";

/// Options that do not go together.
void check_options(const CLI::App& asked, const bench_options& o) {
  const bool unmeasured = o.list || o.profile > 0;
  if (asked.count("--json") != 0 && o.json.empty())
    throw usage_error("--json \"\" names no file: give it a name, or - for standard output");
  if (asked.count("--json") != 0 && unmeasured)
    throw usage_error(std::string(o.list ? "--list" : "--profile") + " makes no record: leave out --json");
  if (o.duration > 0 && unmeasured) throw usage_error("--duration does not go with --list or --profile");
  if (o.run.energy > 0 && (unmeasured || o.duration > 0))
    throw usage_error("--energy does not go with --list, --profile or --duration");
}

}  // namespace

command add_bench(CLI::App& app) {
  CLI::App* bench = app.add_subcommand("bench", "Measure speed, and compare it with what the device can do");
  const auto options = std::make_shared<bench_options>();
  bench->footer(bench_footer);
  bench->add_option("FILTER", options->run.filter, "Which benchmarks: a regular expression; all without it")
      ->check(CLI::Validator(check_filter, "", "filter"));
  bench->add_flag("--list", options->list, "Print the names only");
  add_where(*bench, *options);
  add_integer(*bench, "--repetitions", 1, 1000, "Rounds; default 9",
              [options](std::int64_t n) { options->run.repetitions = static_cast<int>(n); });
  bench
      ->add_option_function<std::string>(
          "--min-time", [options](const std::string& s) { options->run.min_time = seconds_from(s); },
          "Seconds of one repetition; default 0.1")
      ->type_name("SECONDS")
      ->check(CLI::Validator(check_seconds, "", "seconds"));
  bench
      ->add_option_function<std::string>(
          "--duration", [options](const std::string& s) { options->duration = seconds_from(s); },
          "Run the one benchmark of FILTER without a pause for so long")
      ->type_name("SECONDS")
      ->check(CLI::Validator(check_seconds, "", "seconds"));
  bench
      ->add_option_function<std::string>(
          "--energy", [options](const std::string& s) { options->run.energy = seconds_from(s); },
          "Also count the energy of each benchmark, in a further run of this many seconds")
      ->type_name("SECONDS")
      ->check(CLI::Validator(check_energy_seconds, "", "seconds"));
  add_integer(*bench, "--profile", 1, 1000000, "Only make N calls of each, for a profiler: nothing is timed",
              [options](std::int64_t n) { options->profile = static_cast<int>(n); });
  bench->add_flag("--quiet", options->quiet, "No progress on stderr");

  CLI::App* ceilings = bench->add_subcommand("ceilings", "Measure what the devices can do at most");
  ceilings->footer(ceilings_footer);
  add_where(*ceilings, *options);

  CLI::App* compare =
      bench->add_subcommand("compare", "Say which figures of two records differ beyond their noise");
  compare->footer(compare_footer);
  compare->add_option("OLD", options->before, "A record of warpband bench --json")->required();
  compare->add_option("NEW", options->after, "Another")->required();
  compare->add_option("--json", options->json, "Write the comparison here, in JSON; - for standard output")
      ->type_name("FILE");
  compare->add_flag("--check", options->check,
                    "Exit with 1 if a figure became slower, failed in NEW or is missing there");

  return {bench, [bench, ceilings, compare, options] {
            const bool measures = ceilings->parsed(), compares = compare->parsed();
            if (measures || compares)
              for (const CLI::Option* o : bench->get_options())
                if (o->count() != 0)
                  throw usage_error("\"" + o->get_name() + "\" does not go before " +
                                    (measures ? "ceilings" : "compare") + ": put options behind it");
            const CLI::App& asked = compares ? *compare : measures ? *ceilings : *bench;
            check_options(asked, *options);
            if (compares) return run_compare(*options);
            take_where(asked, *options);
            return measures ? run_ceilings(*options) : run_benchmarks(*options);
          }};
}

#else

#include <warpband/core/error.hpp>

command add_bench(CLI::App& app) {
  CLI::App* bench = app.add_subcommand("bench", "Measure speed (not in this build)");
  bench->prefix_command();  // whatever follows
  return {bench, []() -> int {
            throw wb::error("this build has no benchmarks: configure it with -DWARPBAND_BENCH=ON");
          }};
}

#endif
