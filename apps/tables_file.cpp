#include "tables_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include <warpband/core/error.hpp>
#include <warpband/core/text_file.hpp>
#include <warpband/io/json_lines.hpp>
#include <warpband/link/json_text.hpp>
#if WARPBAND_HDF5
#include <warpband/io/hdf5.hpp>
#endif

namespace wb {
namespace {

using nlohmann::ordered_json;

auto row_of(const table_case& c) {
  return std::tuple(c.link, c.transform_precoding, c.mcs_table, c.mcs, c.size, c.round);
}

/// Columns of cases but for the rate, which is no integer.
const std::vector<std::pair<const char*, int table_case::*>>& case_columns() {
  static const std::vector<std::pair<const char*, int table_case::*>> columns{
      {"link", &table_case::link},
      {"transform_precoding", &table_case::transform_precoding},
      {"mcs_table", &table_case::mcs_table},
      {"mcs", &table_case::mcs},
      {"modulation_order", &table_case::modulation_order},
      {"size", &table_case::size},
      {"sent_bits", &table_case::sent_bits},
      {"base_graph", &table_case::base_graph},
      {"round", &table_case::round}};
  return columns;
}

/// Text attributes.
const std::vector<std::pair<const char*, std::string link_tables::*>>& attributes() {
  static const std::vector<std::pair<const char*, std::string link_tables::*>> names{
      {"standard", &link_tables::standard},
      {"decoder", &link_tables::decoder},
      {"harq", &link_tables::harq},
      {"redundancy_versions", &link_tables::redundancy_versions},
      {"warpband", &link_tables::warpband}};
  return names;
}

constexpr const char* format_name = "warpband-tables";
constexpr const char* snr_name = "Es/N0 in dB";

struct columns_reader {
  const ordered_json& root;
  const std::string& path;

  [[noreturn]] void fail(const std::string& why) const {
    throw file_error(path, "not a file of tables: " + why);
  }
  const ordered_json& list(const char* name, std::size_t length) const {
    const auto i = root.find(name);
    if (i == root.end()) fail(std::string(name) + " is missing");
    if (!i->is_array() || i->size() != length)
      fail(std::string(name) + ": expected a list of " + std::to_string(length));
    return *i;
  }
  std::size_t length(const char* name) const {
    const auto i = root.find(name);
    if (i == root.end() || !i->is_array()) fail(std::string(name) + ": expected a list");
    return i->size();
  }
  std::int64_t whole(const char* name, const ordered_json& v, std::int64_t least,
                     std::int64_t greatest) const {
    if (!v.is_number_integer() || v.get<std::int64_t>() < least || v.get<std::int64_t>() > greatest)
      fail(std::string(name) + ": expected integers from " + std::to_string(least) + " to " +
           std::to_string(greatest));
    return v.get<std::int64_t>();
  }
  double real(const char* name, const ordered_json& v, double least, double greatest) const {
    if (!v.is_number() || !(v.get<double>() >= least && v.get<double>() <= greatest))
      fail(fmt::format("{}: expected numbers from {:g} to {:g}", name, least, greatest));
    return v.get<double>();
  }
};

std::size_t points_of(const link_tables& t) {
  std::size_t n = 0;
  for (const table_curve& c : t.curves) n += c.points.size();
  return n;
}

}  // namespace

bool same_row(const table_case& a, const table_case& b) noexcept { return row_of(a) == row_of(b); }

void put(link_tables& tables, table_curve curve) {
  const auto i = std::lower_bound(
      tables.curves.begin(), tables.curves.end(), curve,
      [](const table_curve& a, const table_curve& b) { return row_of(a.of_case) < row_of(b.of_case); });
  if (i != tables.curves.end() && same_row(i->of_case, curve.of_case))
    *i = std::move(curve);
  else
    tables.curves.insert(i, std::move(curve));
}

void check_same_kind(const link_tables& held, const link_tables& wanted, const std::string& path) {
  for (const auto& [name, member] : attributes())
    if (std::string(name) != "warpband" && held.*member != wanted.*member)
      throw file_error(
          path, fmt::format("has tables with {} \"{}\", wanted is \"{}\": expected the same, or another "
                            "folder",
                            name, held.*member, wanted.*member));
}

double no_crossing() noexcept { return std::numeric_limits<double>::quiet_NaN(); }

double snr_of_bler(const table_curve& curve, double bler) {
  const table_point* above = nullptr;
  for (const table_point& p : curve.points) {
    if (p.errors == 0) continue;
    if (p.bler() > bler) {
      above = &p;
      continue;
    }
    if (above == nullptr) return p.bler() == bler ? p.snr_db : no_crossing();
    const double high = std::log10(above->bler()), low = std::log10(p.bler());
    return above->snr_db + (high - std::log10(bler)) / (high - low) * (p.snr_db - above->snr_db);
  }
  return no_crossing();
}

std::string tables_json(const link_tables& t) {
  ordered_json root;
  ordered_json& about = root["attributes"];
  about["format"] = format_name;
  about["version"] = 1;
  for (const auto& [name, member] : attributes()) about[name] = t.*member;
  about["snr"] = snr_name;
  for (const auto& [name, member] : case_columns()) {
    ordered_json& column = root[name] = ordered_json::array();
    for (const table_curve& c : t.curves) column.push_back(c.of_case.*member);
  }
  for (const char* name : {"rate", "first", "points", "snr_db", "blocks", "errors", "low", "high"})
    root[name] = ordered_json::array();
  std::size_t first = 0;
  for (const table_curve& c : t.curves) {
    root["rate"].push_back(c.of_case.rate);
    root["first"].push_back(first);
    root["points"].push_back(c.points.size());
    first += c.points.size();
    for (const table_point& p : c.points) {
      const interval i = p.bler_interval();
      root["snr_db"].push_back(p.snr_db);
      root["blocks"].push_back(p.blocks);
      root["errors"].push_back(p.errors);
      root["low"].push_back(i.low);
      root["high"].push_back(i.high);
    }
  }
  return json_lines(root);
}

link_tables parse_tables(const std::string& text, const std::string& path) {
  const ordered_json root = parse_json(
      text, [&](const std::string& why) { throw file_error(path, "not a file of tables: " + why); });
  const columns_reader r{root, path};
  if (!root.is_object() || !root.contains("attributes") || !root["attributes"].is_object())
    r.fail("attributes are missing");
  const ordered_json& about = root["attributes"];
  const auto text_of = [&](const char* name) {
    const auto i = about.find(name);
    if (i == about.end() || !i->is_string()) r.fail(std::string("attributes.") + name + ": expected text");
    return i->get<std::string>();
  };
  if (text_of("format") != format_name) r.fail(std::string("attributes.format: expected ") + format_name);
  if (const auto i = about.find("version"); i == about.end() || *i != 1)
    r.fail("attributes.version: expected 1");
  link_tables t;
  for (const auto& [name, member] : attributes()) t.*member = text_of(name);
  const std::size_t cases = r.length("mcs"), points = r.length("snr_db");
  std::vector<table_curve> curves(cases);
  for (const auto& [name, member] : case_columns()) {
    const ordered_json& column = r.list(name, cases);
    for (std::size_t i = 0; i < cases; i++)
      curves[i].of_case.*member = static_cast<int>(r.whole(name, column[i], 0, 1 << 30));
  }
  const ordered_json &rate = r.list("rate", cases), &first = r.list("first", cases),
                     &count = r.list("points", cases), &snr = r.list("snr_db", points),
                     &blocks = r.list("blocks", points), &errors = r.list("errors", points);
  std::size_t next = 0;
  for (std::size_t i = 0; i < cases; i++) {
    table_curve& c = curves[i];
    c.of_case.rate = r.real("rate", rate[i], 0, 1);
    const auto start = static_cast<std::size_t>(r.whole("first", first[i], 0, INT64_MAX)),
               n = static_cast<std::size_t>(r.whole("points", count[i], 0, INT64_MAX));
    if (start != next || n > points - next) r.fail("first: expected the sum of points before");
    for (std::size_t j = next; j < next + n; j++) {
      table_point p;
      p.snr_db = r.real("snr_db", snr[j], -100, 100);
      p.blocks = static_cast<std::uint64_t>(r.whole("blocks", blocks[j], 1, INT64_MAX));
      p.errors =
          static_cast<std::uint64_t>(r.whole("errors", errors[j], 0, static_cast<std::int64_t>(p.blocks)));
      if (!c.points.empty() && !(p.snr_db > c.points.back().snr_db))
        r.fail("snr_db: expected rising SNRs of a case");
      c.points.push_back(p);
    }
    next += n;
  }
  if (next != points) r.fail("points: expected as many as snr_db has");
  for (table_curve& c : curves) {
    const std::size_t before = t.curves.size();
    put(t, std::move(c));
    if (t.curves.size() == before) r.fail("a case is there twice");
  }
  return t;
}

link_tables load_tables(const std::string& path) {
  return parse_tables(read_file(path, 256, "not a file of tables"), path);
}

#if WARPBAND_HDF5
void write_tables_hdf5(const link_tables& t, const std::string& path) {
  hdf5_writer file(path);
  hdf5_attributes about{
      {"format", std::string(format_name)}, {"version", std::int64_t{1}}, {"snr", std::string(snr_name)}};
  for (const auto& [name, member] : attributes()) about[name] = t.*member;
  file.set(about);
  const auto write = [&]<class T>(const char* name, const std::vector<T>& column) {
    file.create<T>(name, {column.size()});
    if (!column.empty()) file.write<T>(name, 0, column.size(), column.data());
  };
  for (const auto& [name, member] : case_columns()) {
    std::vector<std::int32_t> column;
    for (const table_curve& c : t.curves) column.push_back(c.of_case.*member);
    write(name, column);
  }
  std::vector<double> rate, snr, low, high;
  std::vector<std::int32_t> first, count;
  std::vector<std::int64_t> blocks, errors;
  for (const table_curve& c : t.curves) {
    rate.push_back(c.of_case.rate);
    first.push_back(static_cast<std::int32_t>(snr.size()));
    count.push_back(static_cast<std::int32_t>(c.points.size()));
    for (const table_point& p : c.points) {
      const interval i = p.bler_interval();
      snr.push_back(p.snr_db), low.push_back(i.low), high.push_back(i.high);
      blocks.push_back(static_cast<std::int64_t>(p.blocks));
      errors.push_back(static_cast<std::int64_t>(p.errors));
    }
  }
  write("rate", rate), write("first", first), write("points", count);
  write("snr_db", snr), write("blocks", blocks), write("errors", errors);
  write("low", low), write("high", high);
  file.commit();
}
#endif

std::string tables_csv(const link_tables& t) {
  std::string out = fmt::format("# standard {}; {}; HARQ {}, redundancy versions {}; Warpband {}\n",
                                t.standard, t.decoder, t.harq, t.redundancy_versions, t.warpband);
  for (const auto& [name, member] : case_columns()) out += std::string(name) + ",";
  out += "rate,snr_db,blocks,errors,bler,low,high\n";
  out.reserve(out.size() + 100 * points_of(t));
  for (const table_curve& c : t.curves)
    for (const table_point& p : c.points) {
      const interval i = p.bler_interval();
      for (const auto& [name, member] : case_columns()) out += std::to_string(c.of_case.*member) + ",";
      out += fmt::format("{},{},{},{},{:.6g},{:.6g},{:.6g}\n", c.of_case.rate, p.snr_db, p.blocks, p.errors,
                         p.bler(), i.low, i.high);
    }
  return out;
}

}  // namespace wb
