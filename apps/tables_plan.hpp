#pragma once
// What `warpband tables` simulates: cases, the scenario of each modulation and coding scheme (MCS), and where
// the points of its curves lie. A scenario runs as any other (link/sweep.hpp); its result is the state of a
// run.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <warpband/code/code_kind.hpp>
#include <warpband/link/frame_runner.hpp>
#include <warpband/link/result.hpp>
#include <warpband/link/scenario.hpp>
#include "tables_file.hpp"

namespace wb {

/// 20 iterations of sum-product, flooding, with nr-ldpc or wifi-ldpc; 8 of log-MAP with lte-transport.
code_config default_tables_decoder(const std::string& standard);

struct tables_settings {
  std::string standard = "nr";                         // "nr", "lte", "wifi"
  bool uplink = false;                                 // PUSCH in place of PDSCH, of 5G NR and LTE
  bool transform_precoding = false, pi2_bpsk = false;  // of PUSCH in 5G NR
  std::vector<int> mcs_tables = {1};                   // of 5G NR
  std::vector<int> mcs = {};                           // empty: all with a rate
  /// 5G NR: bits of a code block, 5..8448. LTE: resource blocks, of lte_resource_blocks(). WLAN: bits of a
  /// codeword, 648, 1296 or 1944. Empty: default_table_sizes.
  std::vector<int> sizes = {};
  std::string harq = "none";  // "ir", "chase"
  int rounds = 1;             // transmissions at most, 1..8; each number of them is a case
  std::vector<int> redundancy_versions = {0, 2, 3,
                                          1};  // with "ir", from the first again where rounds are more
  int elements_per_block = 144;                // LTE: resource elements for data of a resource block
  code_config decoder = default_tables_decoder("nr");  // its kind, and the settings of its decoder
  std::string demapper = "exact";                      // "max-log"
  double step_db = 0.1;                                // between points, 0.01..1
  double target = 1e-3;                                // a curve ends behind the first point below it
  std::uint64_t errors = 100;                          // of a point
  std::uint64_t seed = 1;
};
/// Throws argument_error that names the setting.
void check(const tables_settings& settings);
/// Sizes where none are given.
std::vector<int> default_table_sizes(const std::string& standard);

/// What the cases of a modulation and coding scheme have in common: one file of results.
struct table_scheme {
  std::string name;  // "nr_pdsch_table1_mcs05": of its file
  std::string title;
  std::vector<table_case> cases;      // by size, then round
  std::vector<std::string> left_out;  // why sizes are not among them, a line each
};
/// All of them. Throws argument_error as `check` does.
std::vector<table_scheme> schemes_of(const tables_settings& settings);

/// The tables that a run with these settings fills, without a curve.
link_tables empty_tables(const tables_settings& settings);

/// "k = 1024", "k = 1024, round 2": the label of a case's curve.
std::string label_of(const table_case& c);

/// The Es/N0 at which a curve starts: on the lattice of `step_db`, one step below the highest point that was
/// tried where all of 200 frames fail. Found by bisection, from `near_db` on. Nothing if the frames do not
/// fail at -60 dB, or fail at 60 dB. `go_on`, asked before each point, ends the search with false.
std::optional<double> waterfall_start(frame_runner& frames, double near_db, double step_db,
                                      const std::function<bool()>& go_on = {});
/// Where Gaussian signals have the capacity of a case: a place to start the search.
double capacity_snr_db(const table_case& c);

/// The scenario of a scheme. `held` is the text of an earlier one, "" for none: its curves stay as they are,
/// with their points. `start` gives the first point of each other case, nothing to leave the case out.
std::string scenario_of(const tables_settings& settings, const table_scheme& scheme, const std::string& held,
                        const std::function<std::optional<double>(const table_case&)>& start);
/// The link of a case, as its scenario has it.
link_config link_of(const tables_settings& settings, const table_scheme& scheme, const table_case& c);

/// The labels of the curves of such a scenario.
std::vector<std::string> labels_in(const std::string& scenario_text);

/// When a point of a curve has enough, and when the curve ends.
stop_rule stop_of(const tables_settings& settings);
/// Whether a curve has all points that the rule asks for.
bool is_finished(const curve_result& curve, const stop_rule& stop);

/// Copies the cases of a scheme from a result into tables, with unfinished points.
void put_result(link_tables& tables, const table_scheme& scheme, const run_result& result);

}  // namespace wb
