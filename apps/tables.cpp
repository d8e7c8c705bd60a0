// `warpband tables`: block error rates over the SNR for simulators of whole systems.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/link/result.hpp>

#include "command.hpp"
#include "setting_options.hpp"
#include "sim_workers.hpp"
#include "tables_file.hpp"
#include "tables_plan.hpp"

namespace {

namespace fs = std::filesystem;

struct tables_options {
  wb::tables_settings settings;
  std::string folder;
  device_options where;
  bool list = false, quiet = false;
};

struct export_options {
  std::string from, format, out;
  int mcs_table = 1, size = 0;
  double bler = 1e-3;
};

constexpr const char* tables_name = "tables.json";

/// "0-3,7" as numbers. Nothing where it is no such list.
std::optional<std::vector<int>> numbers_in(const std::string& text) {
  std::vector<int> numbers;
  for (const std::string& part : devices_in(text)) {
    const std::size_t dash = part.find('-');
    const auto first = decimal(part.substr(0, dash)),
               last = dash == std::string::npos ? first : decimal(part.substr(dash + 1));
    constexpr std::int64_t largest = 1'000'000, longest = 10'000;
    if (!first || !last || *first < 0 || *last < *first || *last > largest || *last - *first > longest)
      return std::nullopt;
    for (std::int64_t n = *first; n <= *last; n++) numbers.push_back(static_cast<int>(n));
  }
  return numbers;
}

void add_numbers(CLI::App& app, const std::string& name, const std::string& text, std::vector<int>& numbers) {
  app.add_option_function<std::string>(
         name, [&numbers](const std::string& word) { numbers = numbers_in(word).value(); }, text)
      ->type_name("LIST")
      ->check(CLI::Validator(
          [](const std::string& word) -> std::string {
            if (numbers_in(word)) return {};
            return "\"" + word + "\" is not allowed: expected integers and ranges, for instance 0-3,7";
          },
          "", "list"));
}

std::string file_in(const std::string& folder, const std::string& name) {
  return (fs::path(folder) / name).string();
}

bool is_there(const std::string& path) {
  std::error_code status;
  return fs::is_regular_file(path, status);
}

/// Makes the tables of a folder.
class table_maker {
 public:
  table_maker(const tables_options& options, std::vector<wb::table_scheme> schemes)
      : options_(options),
        settings_(options.settings),
        schemes_(std::move(schemes)),
        tables_(wb::empty_tables(settings_)),
        line_(options.quiet) {
    const std::string path = file_in(options_.folder, tables_name);
    if (is_there(path)) {
      wb::link_tables held = wb::load_tables(path);
      wb::check_same_kind(held, tables_, path);
      held.warpband = tables_.warpband;
      tables_ = std::move(held);
    }
    for (const wb::table_scheme& s : schemes_) cases_ += s.cases.size();
  }

  /// What is finished and what is left.
  void list() const {
    std::size_t finished = 0;
    print_to(stdout, "{:<32}  {:>5}  {:>8}  {:>5}\n", "file", "cases", "finished", "left");
    for (const wb::table_scheme& s : schemes_) {
      const std::size_t here = finished_in(s);
      finished += here;
      print_to(stdout, "{:<32}  {:>5}  {:>8}  {:>5}\n", s.name, s.cases.size(), here, s.cases.size() - here);
    }
    print_to(stdout, "{} of {} cases finished, {} left\n", finished, cases_, cases_ - finished);
  }

  void run() {
    sim_workers workers(options_.where.device, options_.where.threads, nullptr);
    workers_ = &workers;
    here_.machine = workers.machine();
    print_to(stdout, "{}\n{:<32}  {:>14}  {:>10}  {:>12}  {:>6}  {:>10}  {:>8}\n", tables_.decoder, "file",
             "case", "10 % at dB", fmt::format("{:g} at dB", settings_.target), "points", "blocks",
             "seconds");
    try {
      for (const wb::table_scheme& s : schemes_)
        if (!run_scheme(s)) {
          save_tables();
          throw wb::error(
              fmt::format("interrupted: {} of {} cases finished; the same command goes on", done_, cases_));
        }
    } catch (...) {
      line_.clear();
      throw;
    }
    save_tables();
    print_to(stdout, "{} of {} cases, {:.0f} s: {}\n", done_, cases_, seconds_since(begin_),
             file_in(options_.folder, tables_name));
  }

 private:
  using clock = std::chrono::steady_clock;
  static double seconds_since(clock::time_point t) {
    return std::chrono::duration<double>(clock::now() - t).count();
  }

  std::string path_of(const wb::table_scheme& s) const { return file_in(options_.folder, s.name + ".json"); }

  std::size_t finished_in(const wb::table_scheme& s) const {
    if (!is_there(path_of(s))) return 0;
    const wb::run_result held = wb::load_result(path_of(s), wb::result_use::show);
    const wb::stop_rule stop = wb::stop_of(settings_);
    return static_cast<std::size_t>(
        std::count_if(s.cases.begin(), s.cases.end(), [&](const wb::table_case& c) {
          return std::any_of(held.curves.begin(), held.curves.end(), [&](const wb::curve_result& r) {
            return r.label == wb::label_of(c) && wb::is_finished(r, stop);
          });
        }));
  }

  std::optional<double> start_of(const wb::table_scheme& s, const wb::table_case& c) {
    if (interrupted()) return std::nullopt;
    if (line_.due())
      line_.show(
          fmt::format("[{}/{}] {}, {}: searches its waterfall", done_, cases_, s.name, wb::label_of(c)));
    const auto frames = workers_->maker(0)(wb::link_of(settings_, s, c), 200);
    const auto start = wb::waterfall_start(*frames, wb::capacity_snr_db(c), settings_.step_db,
                                           [] { return !interrupted(); });
    if (!start && !interrupted())
      note(fmt::format("{}, {}: has no waterfall between -60 and 60 dB", s.name, wb::label_of(c)));
    return start;
  }

  void note(const std::string& text) {
    if (options_.quiet) return;
    line_.clear();
    print_note(text);
  }

  /// The result to go on with; nothing without a curve.
  std::optional<wb::run_result> started(const wb::table_scheme& s) {
    std::optional<wb::run_result> held;
    if (is_there(path_of(s))) held = wb::load_result(path_of(s));
    const std::string text = wb::scenario_of(settings_, s, held ? held->source.text : "",
                                             [&](const wb::table_case& c) { return start_of(s, c); });
    if (interrupted() || wb::labels_in(text).empty()) return std::nullopt;
    wb::scenario wanted = wb::parse_scenario(text, s.name);
    if (held) return wb::resumed(std::move(*held), std::move(wanted), path_of(s));
    wb::run_result fresh;
    fresh.source = std::move(wanted);
    for (const wb::curve_config& c : fresh.source.curves) fresh.curves.push_back({c.label, c, {}, {}, false});
    return fresh;
  }

  /// False if it was interrupted.
  bool run_scheme(const wb::table_scheme& s) {
    for (const std::string& why : s.left_out) note(fmt::format("{}: {}", s.name, why));
    if (s.cases.empty()) return true;
    std::optional<wb::run_result> result = started(s);
    if (!result) return !interrupted();
    bool begun = false, resumed = is_there(path_of(s));
    clock::time_point saved = clock::now();
    const auto save = [&] {
      wb::write_file(path_of(s), wb::result_json(*result));
      saved = clock::now();
    };
    try {
      for (std::size_t i = 0; i < result->curves.size(); i++) {
        wb::curve_result& curve = result->curves[i];
        if (std::none_of(s.cases.begin(), s.cases.end(),
                         [&](const wb::table_case& c) { return wb::label_of(c) == curve.label; }))
          continue;  // of an earlier run
        wb::curve_observer observer;
        observer.progress = [&](const wb::curve_result&, std::size_t index, const wb::point_counts& c) {
          if (!begun) {
            if (resumed)
              wb::add_origin(*result, here_);
            else
              result->origin = here_;
          }
          begun = true;
          if (seconds_since(saved) > 10) save();
          if (line_.due())
            line_.show(fmt::format("[{}/{}] {}, {}, Es/N0 {:.3g} dB: {} blocks, {} errors", done_, cases_,
                                   s.name, curve.label, curve.config.sweep_db[index], c.frames,
                                   c.frame_errors));
          return !interrupted();
        };
        wb::run_curve(curve, workers_->maker(i), observer);
        if (curve.cancelled || (interrupted() && !wb::is_finished(curve, curve.config.stop))) {
          if (begun) save();
          wb::put_result(tables_, s, *result);
          return false;
        }
        report(s, curve);
      }
    } catch (...) {
      if (begun) save();
      throw;
    }
    result->complete =
        std::all_of(result->curves.begin(), result->curves.end(),
                    [](const wb::curve_result& c) { return wb::is_finished(c, c.config.stop); });
    if (begun) save();
    wb::put_result(tables_, s, *result);
    if (begun && seconds_since(tables_saved_) > 10) save_tables();
    return !interrupted();
  }

  /// A row for a case of this run.
  void report(const wb::table_scheme& s, const wb::curve_result& r) {
    const auto c = std::find_if(s.cases.begin(), s.cases.end(),
                                [&](const wb::table_case& one) { return wb::label_of(one) == r.label; });
    if (c == s.cases.end()) return;  // of an earlier run
    done_++;
    wb::table_curve curve{*c, {}};
    double seconds = 0;
    std::uint64_t blocks = 0;
    for (const wb::point_result& p : r.points) {
      curve.points.push_back({p.sweep_db, p.counts.frames, p.counts.frame_errors});
      seconds += p.counts.seconds, blocks += p.counts.frames;
    }
    const auto db = [&](double bler) {
      const double x = wb::snr_of_bler(curve, bler);
      return std::isnan(x) ? std::string("-") : fmt::format("{:.2f}", x);
    };
    line_.clear();
    print_to(stdout, "{:<32}  {:>14}  {:>10}  {:>12}  {:>6}  {:>10}  {:>8.1f}\n", s.name, r.label, db(0.1),
             db(settings_.target), curve.points.size(), blocks, seconds);
    std::fflush(stdout);
  }

  void save_tables() {
    wb::write_file(file_in(options_.folder, tables_name), wb::tables_json(tables_));
#if WARPBAND_HDF5
    wb::write_tables_hdf5(tables_, file_in(options_.folder, "tables.h5"));
#endif
    tables_saved_ = clock::now();
  }

  const tables_options& options_;
  const wb::tables_settings& settings_;
  std::vector<wb::table_scheme> schemes_;
  wb::link_tables tables_;
  progress_line line_;
  sim_workers* workers_ = nullptr;
  wb::run_origin here_;
  std::size_t cases_ = 0, done_ = 0;
  clock::time_point begin_ = clock::now(), tables_saved_ = begin_;
};

int run_tables(const tables_options& options) {
  if (options.folder.empty()) throw usage_error("a folder is missing: -o DIR (see warpband tables --help)");
  std::vector<wb::table_scheme> schemes;
  try {
    schemes = wb::schemes_of(options.settings);
  } catch (const wb::argument_error& e) {
    const std::string name = e.argument() == "target"    ? "to"
                             : e.argument() == "step_db" ? "step"
                                                         : e.argument();
    throw usage_error(option_of_setting(name) + ": " +
                      wb::argument_error(name, e.value(), e.allowed()).what());
  }
  if (!options.list) {
    std::error_code status;
    fs::create_directories(options.folder, status);
    if (status) throw wb::file_error(options.folder, "cannot make the folder: " + status.message());
    claim_output(file_in(options.folder, tables_name));
    wb::check_writable(file_in(options.folder, tables_name));
  }
  table_maker maker(options, std::move(schemes));
  if (options.list) {
    maker.list();
    return done;
  }
  stop_on_interrupt();
  maker.run();
  return done;
}

int run_export(const export_options& o) {
  std::error_code status;
  const std::string path = fs::is_directory(o.from, status) ? file_in(o.from, tables_name) : o.from;
  const wb::link_tables tables = wb::load_tables(path);
  check_not_an_input(o.out, {path});
  if (o.format == "hdf5") {
#if WARPBAND_HDF5
    if (o.out.empty()) throw usage_error("--format hdf5 needs a file: -o FILE.h5");
    wb::write_tables_hdf5(tables, o.out);
    return done;
#else
    throw wb::error("this build has no HDF5: --format csv, or tables.json as it is");
#endif
  }
  std::string text;
  try {
    if (o.format == "sionna") text = wb::sionna_json(tables);
    if (o.format == "5g-lena") text = wb::lena_header(tables, o.mcs_table);
    if (o.format == "oai") text = wb::oai_header(tables, o.bler, o.size);
    if (o.format == "csv") text = wb::tables_csv(tables);
  } catch (const wb::argument_error& e) {
    throw wb::file_error(path, e.what());
  }
  if (o.out.empty())
    print_text(stdout, text);
  else
    wb::write_file(o.out, text);
  return done;
}

constexpr const char* tables_footer = R"(Synopsis:
  warpband tables nr [--mcs-table 1,2] [--mcs LIST] [--sizes LIST] [--harq ir --rounds N] -o DIR [OPTIONS]
  warpband tables lte [--mcs LIST] [--sizes LIST] [--harq ir --rounds N] -o DIR [OPTIONS]
  warpband tables wifi [--mcs LIST] [--sizes LIST] -o DIR [OPTIONS]
  warpband tables export DIR --format sionna|5g-lena|oai|csv|hdf5 [-o FILE]

What it does:
  Simulates blocks in white noise for each modulation and coding scheme (MCS), size and number of HARQ rounds: code
  blocks of 5G NR and WLAN without CRC, transport blocks of LTE. A curve starts where every block fails, has a point every 0.1 dB of Es/N0, and ends behind the first point
  below --to. docs/tables.md has the formats.

Output:
  stdout   a row for each case: SNR of BLER 0.1 and of --to, points, blocks, seconds
  stderr   progress

Files in DIR:
  tables.json, tables.h5   counts and intervals of all points, and the decoder; tables.h5 where this build has HDF5
  nr_pdsch_table1_mcs05.json, ...
                           results of warpband sim, one for each MCS: the state of the run, also for warpband plot

Going on:
  The same command goes on after an end of any kind, with the same counts. More MCSs and sizes, more --errors and a
  lower --to extend what is there. --list says what is left. Another decoder or other HARQ needs another folder.

Exit codes: 0 done, 1 failed or interrupted, 2 used wrongly.

Examples:
  warpband tables nr --mcs 5 --sizes 512 -o tables
      one curve: QPSK, R = 0.37, to a block error rate of 0.001
  warpband tables nr --mcs-table 1,2,3,4 --device cuda:0 --to 1e-5 --errors 20 -o tables
      all tables of PDSCH
  warpband tables nr --mcs 10 --sizes 1024 --harq ir --rounds 4 -o harq
      and after each of four transmissions
  warpband tables export tables --format sionna -o bler.json
      for Sionna SYS: PHYAbstraction(load_bler_tables_from="bler.json"))";

void add_run_options(CLI::App& app, tables_options& o) {
  const std::string& standard = o.settings.standard;
  add_numbers(app, "--mcs", "Indices of MCSs, default all", o.settings.mcs);
  add_numbers(app, "--sizes",
              standard == "nr"    ? "Bits of a code block, 5 to 8448, default 25 sizes from 24 to 8448"
              : standard == "lte" ? "Resource blocks: 6, 15, 25, 50, 75 or 100, default 6,25,50,100"
                                  : "Bits of a codeword: 648, 1296 and 1944, default all",
              o.settings.sizes);
  app.add_option("--demapper", o.settings.demapper, "exact (default) or max-log")
      ->type_name("NAME")
      ->transform(word_of({"exact", "max-log"}));
  const wb::code_kind& kind = o.settings.decoder.kind();
  for (const wb::setting_of<wb::code_config>& s : wb::settings_of(kind)) {
    if (s.group != "decoder") continue;
    const wb::code_config initial = o.settings.decoder;
    add_setting_option(app, {s.name, s.kind, s.text, s.initial(initial), s.allowed, s.words},
                       [&o, s](const wb::setting_value& value, bool dry) {
                         wb::code_config tried = o.settings.decoder;
                         s.set(dry ? tried : o.settings.decoder, value);
                       });
  }
  app.add_option("--to", o.settings.target, "Block error rate at which a curve ends, default 0.001")
      ->type_name("BLER")
      ->check(number_between(1e-9, 0.5));
  add_integer(app, "--errors", 1, 1'000'000, "Block errors of a point, default 100",
              [&o](std::int64_t n) { o.settings.errors = static_cast<std::uint64_t>(n); });
  app.add_option("--step", o.settings.step_db,
                 "Between points, default 0.1 dB; of curves that are new in DIR")
      ->type_name("DB")
      ->check(number_between(0.01, 1));
  add_integer(app, "--seed", 0, INT64_MAX, "Key of all random numbers, default 1",
              [&o](std::int64_t n) { o.settings.seed = static_cast<std::uint64_t>(n); });
  app.add_option("-o,--output", o.folder, "The folder of the tables")->type_name("DIR");
  add_device_options(app, o.where, true);
  app.add_flag("--list", o.list, "Say what is finished and what is left, and run nothing");
  app.add_flag("--quiet", o.quiet, "No progress and no notes on stderr");
}

void add_cellular_options(CLI::App& app, tables_options& o) {
  app.add_option_function<std::string>(
         "--link", [&o](const std::string& word) { o.settings.uplink = word == "pusch"; },
         "pdsch (default) or pusch")
      ->type_name("NAME")
      ->transform(word_of({"pdsch", "pusch"}));
  app.add_option("--harq", o.settings.harq, "none (default), ir (incremental redundancy) or chase")
      ->type_name("NAME")
      ->transform(word_of({"none", "ir", "chase"}));
  add_integer(app, "--rounds", 1, 8, "With --harq: transmissions at most, default 1",
              [&o](std::int64_t n) { o.settings.rounds = static_cast<int>(n); });
  add_numbers(app, "--redundancy-versions", "With --harq ir: of the rounds, default 0,2,3,1",
              o.settings.redundancy_versions);
}

void add_nr_options(CLI::App& app, tables_options& o) {
  add_numbers(app, "--mcs-table", "MCS tables of TS 38.214: 1 to 4, of PUSCH to 3, default 1",
              o.settings.mcs_tables);
  app.add_flag("--transform-precoding", o.settings.transform_precoding,
               "PUSCH: tables 6.1.4.1-1 and -2, as --mcs-table 1 and 2");
  app.add_flag("--pi2-bpsk", o.settings.pi2_bpsk,
               "With --transform-precoding: the lowest MCSs have pi/2-BPSK");
}

}  // namespace

command add_tables(CLI::App& app) {
  CLI::App* tables = app.add_subcommand("tables", "Make tables of block error rates for system simulators");
  tables->footer(tables_footer);
  const auto by_standard = std::make_shared<std::map<std::string, tables_options>>();
  std::vector<std::pair<CLI::App*, std::string>> runs;
  for (const auto& [standard, text] : {std::pair("nr", "Code blocks of 5G NR, PDSCH or PUSCH"),
                                       std::pair("lte", "Transport blocks of LTE, PDSCH or PUSCH"),
                                       std::pair("wifi", "LDPC codewords of IEEE 802.11n, ac and ax")}) {
    tables_options& o = (*by_standard)[standard];
    o.settings.standard = standard;
    o.settings.decoder = wb::default_tables_decoder(standard);
    CLI::App* run = tables->add_subcommand(standard, text);
    if (standard != std::string("wifi")) add_cellular_options(*run, o);
    if (standard == std::string("nr")) add_nr_options(*run, o);
    if (standard == std::string("lte"))
      add_integer(*run, "--elements-per-block", 12, 168,
                  "Resource elements for data of a resource block, default 144",
                  [&o](std::int64_t n) { o.settings.elements_per_block = static_cast<int>(n); });
    add_run_options(*run, o);
    runs.emplace_back(run, standard);
  }
  const auto exported = std::make_shared<export_options>();
  CLI::App* to = tables->add_subcommand("export", "Write tables in another program's format");
  to->add_option("DIR", exported->from, "The folder, or its tables.json")->required();
  to->add_option("--format", exported->format, "sionna, 5g-lena, oai, csv or hdf5")
      ->required()
      ->type_name("NAME")
      ->transform(word_of({"sionna", "5g-lena", "oai", "csv", "hdf5"}));
  to->add_option("-o,--output", exported->out, "The file, default standard output")->type_name("FILE");
  add_integer(*to, "--mcs-table", 1, 4, "5g-lena: the MCS table, default 1",
              [exported](std::int64_t n) { exported->mcs_table = static_cast<int>(n); });
  add_integer(*to, "--size", 0, 8448, "oai: bits of the code block, default 0: the largest",
              [exported](std::int64_t n) { exported->size = static_cast<int>(n); });
  to->add_option("--bler", exported->bler, "oai: the block error rate, default 0.001")
      ->type_name("BLER")
      ->check(number_between(1e-9, 0.5));
  return {tables, [runs, by_standard, to, exported] {
            if (to->parsed()) return run_export(*exported);
            for (const auto& [run, standard] : runs)
              if (run->parsed()) {
                check_device_options(*run, (*by_standard)[standard].where);
                return run_tables((*by_standard)[standard]);
              }
            throw usage_error("expected nr, lte, wifi or export (see warpband tables --help)");
          }};
}
