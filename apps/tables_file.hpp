#pragma once
// Tables of block error rates over the SNR, as simulators of whole systems read them (docs/tables.md).
//
// A case is a modulation and coding scheme (MCS) with a block size and a number of HARQ rounds. Its curve has
// the counts of each point. All cases of a file have one decoder, which the file names.
#include <cstdint>
#include <string>
#include <vector>

#include <warpband/link/interval.hpp>

namespace wb {

/// Columns of a case, by which cases are also sorted, `modulation_order` to `base_graph` apart.
struct table_case {
  int link = 1;                 // 0 PUSCH, 1 PDSCH; 1 of other standards
  int transform_precoding = 0;  // 1: of tables 6.1.4.1-1 and -2
  int mcs_table = 1;            // from 1; of WLAN 1
  int mcs = 0;                  // index in its table
  int modulation_order = 2;     // Q_m
  double rate = 0;              // target code rate R
  int size = 0;                 // k, bits of a block
  int sent_bits = 0;            // n of one transmission
  int base_graph = 0;           // 1 or 2 with 5G NR, else 0
  int round = 1;                // transmissions that are combined
  bool operator==(const table_case&) const = default;
};

/// Whether two cases are the same row, whatever their rate and base graph.
bool same_row(const table_case& a, const table_case& b) noexcept;

struct table_point {
  double snr_db = 0;  // Es/N0
  std::uint64_t blocks = 0, errors = 0;
  double bler() const noexcept {
    return blocks == 0 ? 0 : static_cast<double>(errors) / static_cast<double>(blocks);
  }
  interval bler_interval() const { return clopper_pearson(errors, blocks); }  // 95 %
  bool operator==(const table_point&) const = default;
};

struct table_curve {
  table_case of_case;
  std::vector<table_point> points;  // in rising SNR
  bool operator==(const table_curve&) const = default;
};

/// What a file of tables holds.
struct link_tables {
  std::string standard = "nr";            // "nr", "lte", "wifi"
  std::string decoder;                    // demapper and decoder with all settings, a line
  std::string harq = "none";              // "none", "ir", "chase"
  std::string redundancy_versions = "0";  // of the rounds
  std::string warpband;                   // version and commit of the latest run
  std::vector<table_curve> curves;        // sorted, none twice

  bool operator==(const link_tables&) const = default;
};

/// Puts a curve in its place; one of the same row is replaced.
void put(link_tables& tables, table_curve curve);
/// Throws file_error, named `path`, if two files of tables cannot be one: standard, decoder or HARQ differ.
void check_same_kind(const link_tables& held, const link_tables& wanted, const std::string& path);

/// The SNR of a block error rate, by a line of log10 through the two points around it. Nothing where the
/// curve does not cross it. A point without an error takes no part.
double no_crossing() noexcept;  // NaN
double snr_of_bler(const table_curve& curve, double bler);

/// The file's text, and back: throws file_error, named `path`, for what is no file of tables or contradicts
/// itself.
std::string tables_json(const link_tables& tables);
link_tables parse_tables(const std::string& text, const std::string& path);
link_tables load_tables(const std::string& path);
#if WARPBAND_HDF5
/// The same columns and attributes in HDF5. Throws file_error.
void write_tables_hdf5(const link_tables& tables, const std::string& path);
#endif

// ---- what other programs load

/// Sionna SYS: `PHYAbstraction(load_bler_tables_from=FILE)`. Round 1, without transform precoding. All sizes
/// of an MCS have one list of SNRs. A size has BLER 1 below its points, 0 above them, and between them a line
/// of log10. PUSCH and PDSCH share the tables that they have in common. Throws argument_error ("tables") if
/// nothing is left.
std::string sionna_json(const link_tables& tables);
/// 5G-LENA's error model: C++ arrays of one MCS table, by base graph, MCS and K = 22 Z or 10 Z bits. Round 1.
/// Throws argument_error ("mcs_table") if there is none of it.
std::string lena_header(const link_tables& tables, int mcs_table);
/// OpenAirInterface's SINRx10_MCS_mapping: tenths of dB at which the BLER is `bler`, of the largest size, or
/// the one given (size > 0). Rounded up. Throws argument_error for a table of which an MCS is missing ("mcs")
/// or does not reach the BLER ("bler").
std::string oai_header(const link_tables& tables, double bler, int size = 0);
/// A row a point; the first line, a comment, names standard, decoder and HARQ.
std::string tables_csv(const link_tables& tables);

}  // namespace wb
