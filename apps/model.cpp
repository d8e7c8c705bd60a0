// `warpband model`: what follows from formulas and from the operations that kernels state, without
// simulating.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <warpband/io/json_lines.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/massive/effective_capacity.hpp>
#include <warpband/massive/uplink/uplink.hpp>

#include "command.hpp"

namespace {

using json = nlohmann::ordered_json;

/// To a file, or for "-" to stdout in the place of the table.
void write_json(const std::string& path, const json& out) {
  if (path == "-")
    print_json(wb::json_lines(out));
  else
    wb::write_file(path, wb::json_lines(out));
}

struct capacity_options {
  wb::capacity_setting setting;
  std::vector<double> transport_gbps{40, 100, 500};
  double cholesky_us = 242, cg_us = 192, hop_us = 1, coherence_bandwidth_khz = 313;
  std::string json;
};

int run_capacity(const capacity_options& o) {
  const wb::precoder_model mf = wb::precoder_model::matched_filter(),
                           cholesky = wb::precoder_model::cholesky(o.cholesky_us * 1e-6),
                           cg = wb::precoder_model::cg(o.cg_us * 1e-6);
  wb::capacity_setting setting = o.setting;
  setting.hop_s = o.hop_us * 1e-6;
  setting.coherence_bandwidth_hz = o.coherence_bandwidth_khz * 1e3;
  json out{{"antennas", setting.antennas},
           {"users", setting.users},
           {"subcarriers", setting.subcarriers},
           {"coherence_bandwidth_khz", o.coherence_bandwidth_khz},
           {"hop_us", o.hop_us},
           {"bits_per_csi", setting.bits_per_csi},
           {"cholesky_us", o.cholesky_us},
           {"cg_us", o.cg_us},
           {"precoding_per_subcarrier", setting.precoding_per_subcarrier},
           {"transports", json::array()}};
  std::string table = fmt::format("{:>10}  {:>14}  {:>14}  {:>14}\n", "transport", "MF = Cholesky", "MF = CG",
                                  "CG = Cholesky");
  for (const double gbps : o.transport_gbps) {
    setting.transport_bps = gbps * 1e9;
    json crossovers;
    std::string line = fmt::format("{:>10}", fmt::format("{:g} Gb/s", gbps));
    const auto cross = [&](const char* name, const wb::precoder_model& a, const wb::precoder_model& b) {
      const std::optional<double> crossover = wb::capacity_crossover_s(setting, a, b);
      crossovers[name] = crossover ? json(*crossover * 1e3) : json();
      line += fmt::format("  {:>14}", crossover ? fmt::format("{:.3g} ms", *crossover * 1e3) : "none");
    };
    cross("mf_cholesky", mf, cholesky);
    cross("mf_cg", mf, cg);
    cross("cg_cholesky", cg, cholesky);
    table += line + "\n";
    json points = json::array();
    for (int i = 0; i <= 120; i++) {  // 0.1 to 100 ms
      const double coherence_s = std::pow(10, -4 + i / 40.);
      points.push_back({{"coherence_ms", coherence_s * 1e3},
                        {"mf", wb::effective_capacity(setting, mf, coherence_s)},
                        {"cholesky", wb::effective_capacity(setting, cholesky, coherence_s)},
                        {"cg", wb::effective_capacity(setting, cg, coherence_s)}});
    }
    out["transports"].push_back({{"gbps", gbps}, {"crossovers_ms", crossovers}, {"points", points}});
  }
  if (!o.json.empty()) write_json(o.json, out);
  if (o.json != "-") print_text(stdout, table);
  return done;
}

struct operations_options {
  int symbols = 1, qam = 16;
  std::string json;
};

double operations(const operations_options& o, int antennas, int users, wb::massive_solver solver,
                  std::optional<int> iterations) {
  wb::uplink_config c;
  c.antennas = antennas, c.users = users, c.qam = o.qam;
  c.solver = solver, c.iterations = iterations;
  c.sinr = solver == wb::massive_solver::cholesky ? wb::massive_sinr::exact : wb::massive_sinr::approximate;
  return wb::uplink_detector(c).flops(o.symbols);
}

/// Table 3.1: CG iterations that lose less than 1 dB.
struct configuration {
  int antennas, users, iterations;
};
constexpr configuration table_3_1[]{{128, 8, 3}, {128, 16, 3}, {128, 32, 5}, {128, 64, 8},
                                    {256, 8, 3}, {256, 16, 3}, {256, 32, 4}, {256, 64, 6},
                                    {512, 8, 3}, {512, 16, 3}, {512, 32, 4}, {512, 64, 5}};
constexpr int most_iterations = 16;

int run_operations(const operations_options& o) {
  using enum wb::massive_solver;
  json out{{"symbols", o.symbols}, {"qam", o.qam}, {"configurations", json::array()}};
  std::string table = fmt::format("{:>9}  {:>10}  {:>14}  {:>14}  {:>9}  {:>11}\n", "antennas", "iterations",
                                  "Cholesky", "CG", "reduction", "solver only");
  std::string solvers =
      fmt::format("Solvers only\n{:>9}  {:>10}  {:>14}  {:>12}  {:>12}  {:>12}  {:>12}\n", "antennas",
                  "iterations", "Cholesky", "CG", "Neumann", "Gauss-Seidel", "Chebyshev");
  for (const configuration& c : table_3_1) {
    // What is left without a solver: Gram matrix, matched filters, LLRs.
    const double rest = operations(o, c.antennas, c.users, mf, {}),
                 cholesky_all = operations(o, c.antennas, c.users, cholesky, {});
    const auto counts = [&](wb::massive_solver solver) {
      json list = json::array();
      for (int i = 1; i <= most_iterations; i++) {
        const double total = operations(o, c.antennas, c.users, solver, i);
        list.push_back({{"iterations", i}, {"operations", total}, {"solver", total - rest}});
      }
      return list;
    };
    const double cg_all = operations(o, c.antennas, c.users, cg, c.iterations);
    const double reduction = 1 - cg_all / cholesky_all, solver = 1 - (cg_all - rest) / (cholesky_all - rest);
    table += fmt::format("{:>9}  {:>10}  {:>14.0f}  {:>14.0f}  {:>8.1f}%  {:>10.1f}%\n",
                         fmt::format("{}x{}", c.antennas, c.users), c.iterations, cholesky_all, cg_all,
                         100 * reduction, 100 * solver);
    json row{{"antennas", c.antennas},
             {"users", c.users},
             {"cholesky", {{"operations", cholesky_all}, {"solver", cholesky_all - rest}}}};
    solvers += fmt::format("{:>9}  {:>10}  {:>14.0f}", fmt::format("{}x{}", c.antennas, c.users),
                           c.iterations, cholesky_all - rest);
    for (const wb::massive_solver iterative : {cg, jacobi_cg, neumann, gauss_seidel, chebyshev}) {
      row[name_of(iterative)] = counts(iterative);
      if (iterative != jacobi_cg)
        solvers +=
            fmt::format("  {:>12.0f}", operations(o, c.antennas, c.users, iterative, c.iterations) - rest);
    }
    solvers += "\n";
    row["table_3_1"] = {{"iterations", c.iterations}, {"reduction", reduction}, {"solver_reduction", solver}};
    out["configurations"].push_back(row);
  }
  if (!o.json.empty()) write_json(o.json, out);
  if (o.json != "-") print_text(stdout, table + "\n" + solvers);
  return done;
}

constexpr const char* model_footer = R"(Examples:
  warpband model capacity                   where MMSE precoding becomes better than a matched filter
  warpband model capacity --cholesky-us 9 --cg-us 7    with precoding times measured here
  warpband model operations --symbols 14    operations of the massive-MIMO detector by solver

`warpband reproduce li fig3.6 fig3.7 fig5.3` draws them (docs/li-thesis.md).)";

}  // namespace

command add_model(CLI::App& app) {
  CLI::App* model = app.add_subcommand("model", "Effective capacity and operation counts of massive MIMO");
  model->footer(model_footer);
  model->require_subcommand(1);

  CLI::App* capacity =
      model->add_subcommand("capacity", "Effective capacity of precoders over the coherence time");
  const auto c = std::make_shared<capacity_options>();
  const auto number = [](CLI::App* to, const char* name, double& value, double least, double greatest,
                         const char* text) {
    to->add_option(name, value, text)->type_name("X")->check(number_between(least, greatest));
  };
  capacity->add_option("--transport-gbps", c->transport_gbps, "Of the antennas' data; several, with commas")
      ->type_name("X,...")
      ->delimiter(',')
      ->check(number_between(1e-9, 1e9));
  number(capacity, "--cholesky-us", c->cholesky_us, 0, 1e9,
         "Precoding time of all subcarriers (default 242)");
  number(capacity, "--cg-us", c->cg_us, 0, 1e9, "The same of three CG iterations (default 192)");
  const auto integer = [&](const char* name, int& value, const char* text) {
    add_integer(*capacity, name, 1, 65536, text, [&value](std::int64_t n) { value = static_cast<int>(n); });
  };
  integer("--antennas", c->setting.antennas, "Of the base station (default 128)");
  integer("--users", c->setting.users, "Of one antenna each (default 16)");
  integer("--subcarriers", c->setting.subcarriers, "Default 128");
  number(capacity, "--coherence-bandwidth-khz", c->coherence_bandwidth_khz, 1e-3, 1e9, "Default 313");
  number(capacity, "--hop-us", c->hop_us, 0, 1e9, "Latency of a transport (default 1)");
  number(capacity, "--bits-per-csi", c->setting.bits_per_csi, 1, 1e6, "Of an entry of H (default 64)");
  capacity->add_flag("--per-subcarrier", c->setting.precoding_per_subcarrier,
                     "Count the precoding time once for each subcarrier, as eq. 5.2 is printed");
  capacity->add_option("--json", c->json, "Curves and crossovers to FILE; -: stdout")->type_name("FILE");

  CLI::App* counts = model->add_subcommand("operations", "Operations of the massive-MIMO detector by solver");
  const auto o = std::make_shared<operations_options>();
  add_integer(*counts, "--symbols", 1, 1 << 20, "Vectors that share an H (default 1)",
              [o](std::int64_t n) { o->symbols = static_cast<int>(n); });
  counts->add_option("--qam", o->qam, "4, 16 (default), 64 or 256")->check(CLI::IsMember({4, 16, 64, 256}));
  counts->add_option("--json", o->json, "All counts to FILE; -: stdout")->type_name("FILE");

  return {model, [=] { return capacity->parsed() ? run_capacity(*c) : run_operations(*o); }};
}
