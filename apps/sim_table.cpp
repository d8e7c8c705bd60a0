#include "sim_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <warpband/core/printable.hpp>

#include "command.hpp"

namespace {

std::string rate(double r) { return r == 0 ? "0" : fmt::format("{:.2e}", r); }
std::string rates(const wb::interval& i) { return fmt::format("{} .. {}", rate(i.low), rate(i.high)); }
std::string decibels(double x) { return fmt::format("{:.3f}", x); }

/// Uncoded bits that fail independently have an interval; of all others the frames have.
bool has_interval_of_bits(const wb::curve_config& c) {
  return wb::is_uncoded(c.link.code) && wb::point_of(wb::completed(c.link), 0).independent_bits;
}

bool is_over_probability(const wb::link_config& link) { return link.axis == wb::snr_axis::probability; }

std::vector<text_table::column> columns_for(const wb::curve_config& c) {
  // The axis of the sweep stays; a narrow terminal goes without the other one.
  const bool over_ebn0 = c.link.axis == wb::snr_axis::ebn0_db,
             of_antenna = wb::erases_uses(c.link) && c.link.axis != wb::snr_axis::esn0_db;
  std::vector<text_table::column> columns{{of_antenna ? "SNR dB" : "Es/N0 dB", 8, over_ebn0 ? 6 : 0},
                                          {"Eb/N0 dB", 8, over_ebn0 ? 0 : 6}};
  if (is_over_probability(c.link)) columns = {{"probability", 11, 0}};
  const auto add = [&](std::string title, std::size_t width, int dispensable) {
    columns.push_back({std::move(title), width, dispensable});
  };
  if (wb::is_transport(c.link.code)) {
    add("blocks", 10, 4);
    const int transmissions = wb::harq_of(c.link.code).transmissions;
    for (int n = 1; n <= transmissions; n++) add(fmt::format("BLER {}", n), 9, n == transmissions ? 0 : 3);
    add("transm.", 7, 5);
    add("bits/RE", 8, 0);
    add("95% interval", 16, 2);
  } else {
    const bool massive = wb::has_codewords(c.link), bits = has_interval_of_bits(c);
    add("frames", 10, massive ? 7 : 3);
    add(massive ? "codewords" : "bit errors", 11, 8);
    add(massive ? "cw. errors" : "fr. errors", 11, 2);
    if (c.link.receiver)
      for (int n = 1; n < c.link.receiver->outer; n++)
        add(fmt::format("{} {}", massive ? "BLER" : "FER", n), 9, 3);
    add("BER", 10, bits ? 0 : 5);
    add(massive ? "BLER" : "FER", 10, bits ? 4 : 0);
    if (c.link.mutual_information) add("MI bits", 7, 0);
    add(massive ? "95% interval of BLER" : bits ? "95% interval of BER" : "95% interval of FER", 22, 1);
  }
  add("Mb/s", 8, 9);
  add("time", 9, 7);
  return columns;
}

}  // namespace

curve_table::curve_table(std::FILE* out, const wb::curve_config& curve)
    : out_(out),
      of_bits_(has_interval_of_bits(curve)),
      axis_(curve.link.axis),
      table_(out, columns_for(curve)) {}

void curve_table::row(const wb::point_result& p) {
  std::vector<std::string> cells;
  const auto add = [&](std::string text) { cells.push_back(std::move(text)); };
  if (axis_ == wb::snr_axis::probability) {
    add(fmt::format("{:.5g}", p.sweep_db));
  } else {
    add(decibels(axis_ == wb::snr_axis::esn0_db ? p.esn0_db : p.snr_db));
    add(decibels(p.ebn0_db));
  }
  add(std::to_string(p.counts.frames));
  if (p.transmissions != 0) {
    for (int n = 1; n <= p.transmissions; n++) add(rate(p.bler(n)));
    add(fmt::format("{:.3f}", p.mean_transmissions()));
    add(fmt::format("{:.4f}", p.throughput()));
    const wb::interval i = p.throughput_interval();
    add(fmt::format("{:.4f} .. {:.4f}", i.low, i.high));
  } else {
    const bool massive = p.codewords != 0;
    add(std::to_string(massive ? p.counts.frames * p.codewords : p.counts.bit_errors));
    add(std::to_string(massive ? p.counts.codeword_errors : p.counts.frame_errors));
    for (int n = 1; n < p.outer; n++) add(rate(massive ? p.outer_bler(n) : p.outer_fer(n)));
    add(rate(p.ber()));
    add(rate(massive ? p.bler() : p.fer()));
    if (const auto information = p.mutual_information()) add(fmt::format("{:.4f}", *information));
    add(rates(massive ? p.bler_interval() : of_bits_ ? *p.ber_interval() : p.fer_interval()));
  }
  add(fmt::format("{:.4g}", p.mbps()));
  add(duration_text(p.counts.seconds));
  table_.row(cells);
  if (p.counts.undetected_errors != 0)
    print_to(out_, "  {} blocks with wrong bits that the CRCs did not tell\n", p.counts.undetected_errors);
  if (p.counts.erased_uses != 0)
    print_to(out_,
             "  {} uses of the channel without LLRs: singular, out of range, or in a frame without its map\n",
             p.counts.erased_uses);
}

namespace {

/// A row under construction: names and texts, in order.
using csv_row = std::vector<std::pair<std::string, std::string>>;

std::string in_csv(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

void add_rate(csv_row& row, const std::string& name, double value, const std::optional<wb::interval>& i) {
  row.emplace_back(name, fmt::format("{}", value));
  row.emplace_back(name + "_low", i ? fmt::format("{}", i->low) : "");
  row.emplace_back(name + "_high", i ? fmt::format("{}", i->high) : "");
}

csv_row row_of(const wb::curve_result& c, const wb::point_result& p) {
  csv_row row{{"label", wb::printable(c.label, std::string::npos)}};  // a table is shown on terminals
  for (const wb::swept_setting& s : c.config.parameters) row.emplace_back(s.key, wb::plain(s.value));
  const auto add = [&](const char* name, const auto& value) {
    row.emplace_back(name, fmt::format("{}", value));
  };
  if (is_over_probability(c.config.link))
    add("probability", p.sweep_db);
  else
    add("ebn0_db", p.ebn0_db), add("snr_db", p.snr_db), add("esn0_db", p.esn0_db);
  add("frames", p.counts.frames), add("bits", p.bits());
  add("bit_errors", p.counts.bit_errors), add("frame_errors", p.counts.frame_errors);
  add_rate(row, "ber", p.ber(), p.ber_interval());
  add_rate(row, "fer", p.fer(), p.fer_interval());
  if (const auto information = p.mutual_information()) add("mutual_information", *information);
  if (p.codewords != 0) add_rate(row, "bler", p.bler(), p.bler_interval());
  for (int n = 1; n <= p.outer; n++)
    add_rate(row, fmt::format("fer_outer_{}", n), p.outer_fer(n), p.outer_fer_interval(n));
  for (int n = 1; n <= p.transmissions; n++)
    add_rate(row, fmt::format("bler_{}", n), p.bler(n), p.bler_interval(n));
  if (p.transmissions != 0) add_rate(row, "throughput", p.throughput(), p.throughput_interval());
  return row;
}

}  // namespace

std::string result_csv(const wb::run_result& result) {
  std::vector<csv_row> rows;
  std::vector<std::string> names;
  for (const wb::curve_result& c : result.curves)
    for (const wb::point_result& p : c.points) {
      rows.push_back(row_of(c, p));
      for (const auto& [name, text] : rows.back())
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ",") + in_csv(name);
  for (const csv_row& row : rows) {
    const std::map<std::string, std::string> held(row.begin(), row.end());
    out += "\n";
    for (std::size_t i = 0; i < names.size(); i++) {
      const auto found = held.find(names[i]);
      out += (i == 0 ? "" : ",") + (found == held.end() ? "" : in_csv(found->second));
    }
  }
  return out + "\n";
}
