// Tables in the formats of other programs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include <warpband/core/decimal.hpp>
#include <warpband/core/error.hpp>
#include <warpband/fec/nr/code_block.hpp>
#include <warpband/fec/nr/tbs.hpp>
#include <warpband/io/json_lines.hpp>

#include "tables_file.hpp"

namespace wb {
namespace {

using nlohmann::ordered_json;

/// Whether a curve is one of the first transmission of a table without transform precoding.
bool is_plain(const table_curve& c) {
  return c.of_case.round == 1 && c.of_case.transform_precoding == 0 && !c.points.empty();
}

/// PUSCH without transform precoding has PDSCH's tables 1 to 3.
bool shared_by_links(int mcs_table) { return mcs_table <= 3; }

/// A point's BLER in thousandths of dB around it: 1 below the curve, 0 above it.
double bler_at(const table_curve& c, double snr_db) {
  const auto above = std::find_if(c.points.begin(), c.points.end(),
                                  [&](const table_point& p) { return p.snr_db > snr_db - 1e-6; });
  if (above == c.points.end()) return 0;
  if (above->snr_db < snr_db + 1e-6) return above->bler();
  if (above == c.points.begin()) return 1;
  const table_point& below = *(above - 1);
  const double part = (snr_db - below.snr_db) / (above->snr_db - below.snr_db);
  if (below.errors == 0 || above->errors == 0) return below.bler() + part * (above->bler() - below.bler());
  return std::pow(10., (1 - part) * std::log10(below.bler()) + part * std::log10(above->bler()));
}

std::string about(const link_tables& t) {
  return fmt::format("made by warpband {}; {}; one code block without CRC in AWGN, SNR is Es/N0", t.warpband,
                     t.decoder);
}

/// The indices of a table with a rate.
int schemes_of(int mcs_table) {
  int n = 0;
  while (n < 32 && nr_mcs_of(mcs_table, n).rate_x1024 > 0) n++;
  return n;
}

}  // namespace

std::string sionna_json(const link_tables& t) {
  // [category][table][mcs] -> curves
  std::map<int, std::map<int, std::map<int, std::vector<const table_curve*>>>> sorted;
  for (const table_curve& c : t.curves) {
    if (!is_plain(c)) continue;
    const table_case& k = c.of_case;
    sorted[k.link][k.mcs_table][k.mcs].push_back(&c);
    if (!shared_by_links(k.mcs_table)) continue;
    auto& other = sorted[1 - k.link][k.mcs_table][k.mcs];
    if (std::none_of(t.curves.begin(), t.curves.end(), [&](const table_curve& o) {
          table_case same = k;
          same.link = 1 - k.link;
          return same_row(o.of_case, same);
        }))
      other.push_back(&c);
  }
  if (sorted.empty() || t.standard != "nr")
    throw argument_error("tables", t.standard, "tables of 5G NR without transform precoding");
  ordered_json root;
  root["_comment"] = about(t);
  for (const auto& [link, tables] : sorted)
    for (const auto& [table, schemes] : tables)
      for (const auto& [mcs, curves] : schemes) {
        if (curves.empty()) continue;
        std::set<double> snrs;
        for (const table_curve* c : curves)
          for (const table_point& p : c->points) snrs.insert(p.snr_db);
        ordered_json& entry = root["category"][std::to_string(link)]["index"][std::to_string(table)]["MCS"]
                                  [std::to_string(mcs)];
        entry["SNR_db"] = snrs;
        for (const table_curve* c : curves) {
          ordered_json& bler = entry["CBS"][std::to_string(c->of_case.size)]["BLER"] = ordered_json::array();
          for (const double snr : snrs) bler.push_back(bler_at(*c, snr));
        }
      }
  return root.dump(1) + "\n";
}

void check_standard(const link_tables& t) {
  if (t.standard != "nr") throw argument_error("tables", t.standard, "tables of 5G NR");
}

std::string lena_header(const link_tables& t, int mcs_table) {
  check_standard(t);
  // [graph][mcs][K] -> curve; of two sizes with one K the larger one.
  std::map<int, std::map<int, std::map<int, const table_curve*>>> sorted;
  for (const table_curve& c : t.curves)
    if (is_plain(c) && c.of_case.mcs_table == mcs_table && c.of_case.base_graph != 0)
      sorted[c.of_case.base_graph][c.of_case.mcs]
            [make_nr_code_block(c.of_case.base_graph, c.of_case.size).standard_k()] = &c;
  if (sorted.empty())
    throw argument_error("mcs_table", std::to_string(mcs_table), "a table of which there are curves");
  std::string out = fmt::format("// Block error rates of MCS table {}: {}.\n", mcs_table, about(t));
  out +=
      "// By base graph, MCS and code block size K with fillers: SNRs in dB and BLERs. {0U, {{0.0}, {0.0}}}: "
      "an MCS\n"
      "// that has no curve with this base graph.\n#pragma once\n\n";
  out += fmt::format("static const NrEesmErrorModel::SimulatedBlerFromSINR BlerForSinr{} = {{\n", mcs_table);
  const int schemes = schemes_of(mcs_table);
  for (int graph = 1; graph <= 2; graph++) {
    out += fmt::format("  {{  // BG {}\n", graph);
    for (int mcs = 0; mcs < schemes; mcs++) {
      const auto& sizes = sorted[graph][mcs];
      out += "    {";
      if (sizes.empty()) out += "{0U, NrEesmErrorModel::DoubleTuple{{0.0}, {0.0}}}";
      bool first = true;
      for (const auto& [k, curve] : sizes) {
        std::vector<std::string> snr, bler;
        for (const table_point& p : curve->points) {
          snr.push_back(fmt::format("{:.6g}", p.snr_db));
          bler.push_back(fmt::format("{:.6g}", p.bler()));
        }
        out += fmt::format("{}{{{}U, NrEesmErrorModel::DoubleTuple{{{{{}}}, {{{}}}}}}}",
                           first ? "" : ",\n     ", k, fmt::join(snr, ", "), fmt::join(bler, ", "));
        first = false;
      }
      out += fmt::format("}}{}  // MCS {}\n", mcs + 1 < schemes ? "," : "", mcs);
    }
    out += graph == 1 ? "  },\n" : "  }};\n";
  }
  std::vector<std::string> rates, orders;
  for (int mcs = 0; mcs < schemes; mcs++) {
    rates.push_back(fmt::format("{:.4g}", nr_mcs_of(mcs_table, mcs).code_rate()));
    orders.push_back(std::to_string(nr_mcs_of(mcs_table, mcs).modulation_order));
  }
  out += fmt::format("static const std::vector<double> McsEcrTable{} = {{{}}};\n", mcs_table,
                     fmt::join(rates, ", "));
  out += fmt::format("static const std::vector<uint8_t> McsMTable{} = {{{}}};\n", mcs_table,
                     fmt::join(orders, ", "));
  return out;
}

std::string oai_header(const link_tables& t, double bler, int size) {
  check_standard(t);
  if (!(bler > 0 && bler < 1)) throw argument_error("bler", decimal(bler), "above 0 and below 1");
  std::map<int, std::map<int, const table_curve*>> sorted;  // [table][mcs], the largest size
  for (const table_curve& c : t.curves)
    if (is_plain(c) && (size == 0 || c.of_case.size == size)) sorted[c.of_case.mcs_table][c.of_case.mcs] = &c;
  if (sorted.empty())
    throw argument_error("size", std::to_string(size), "a size of which there are curves, or 0: the largest");
  std::string rows, sizes;
  constexpr int columns = 29;
  for (const auto& [table, schemes] : sorted) {
    std::vector<std::string> row;
    for (int mcs = 0; mcs < schemes_of(table); mcs++) {
      const auto i = schemes.find(mcs);
      if (i == schemes.end())
        throw argument_error("mcs", std::to_string(mcs),
                             fmt::format("curves of all MCSs of table {}: there is none of this one", table));
      const double snr = snr_of_bler(*i->second, bler);
      if (std::isnan(snr))
        throw argument_error(
            "bler", decimal(bler),
            fmt::format("a rate that all curves cross: MCS {} of table {} with {} bits does not", mcs, table,
                        i->second->of_case.size));
      row.push_back(std::to_string(static_cast<int>(std::ceil(10 * snr - 1e-9))));
      if (mcs == 0 || sizes.empty())
        sizes += fmt::format("//   table {}: {} bits at MCS 0\n", table, i->second->of_case.size);
    }
    row.resize(columns, "0");
    rows += fmt::format("  {{{}}},\n", fmt::join(row, ", "));
  }
  std::vector<int> tables;
  for (const auto& [table, schemes] : sorted) tables.push_back(table);
  return fmt::format(
      "// SNR in tenths of dB at which one transmission has BLER {:g}: {}.\n// Rows: MCS tables {}. Code "
      "blocks:\n{}"
      "#pragma once\n\nstatic const int SINRx10_MCS_mapping[{}][{}] = {{\n{}}};\n",
      bler, about(t), fmt::join(tables, ", "), sizes, sorted.size(), columns, rows);
}

}  // namespace wb
