#include "tables_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/fec/lte/tbs.hpp>
#include <warpband/fec/nr/tbs.hpp>
#include <warpband/link/link_settings.hpp>
#include <warpband/link/point.hpp>

namespace wb {
namespace {

constexpr double sweep_width_db = 20;  // the longest curve
constexpr std::uint64_t search_frames = 200;
constexpr double lowest_db = -60, highest_db = 60;
constexpr const char* curve_mark = "[[curve]]\n";

/// A scheme of WLAN, IEEE 802.11-2020 §19.5 and §21.5, with 1024-QAM of IEEE 802.11ax §27.5.
struct wifi_mcs {
  int modulation_order;
  const char* rate;
  int dividend, divisor;
};
constexpr wifi_mcs wifi_schemes[] = {{1, "1/2", 1, 2}, {2, "1/2", 1, 2},  {2, "3/4", 3, 4},
                                     {4, "1/2", 1, 2}, {4, "3/4", 3, 4},  {6, "2/3", 2, 3},
                                     {6, "3/4", 3, 4}, {6, "5/6", 5, 6},  {8, "3/4", 3, 4},
                                     {8, "5/6", 5, 6}, {10, "3/4", 3, 4}, {10, "5/6", 5, 6}};

std::vector<int> versions_of(const tables_settings& s, int rounds) {
  std::vector<int> versions;
  for (int i = 0; i < rounds; i++)
    versions.push_back(s.harq == "ir"
                           ? s.redundancy_versions[static_cast<std::size_t>(i) % s.redundancy_versions.size()]
                           : 0);
  return versions;
}

std::string list_text(const std::vector<int>& numbers) { return fmt::format("{}", fmt::join(numbers, ", ")); }

const char* link_word(bool uplink) { return uplink ? "pusch" : "pdsch"; }

std::string modulation_of(const table_case& c) { return name_of_modulation(1 << c.modulation_order); }

void add_rounds(const tables_settings& s, table_case c, table_scheme& scheme) {
  for (c.round = 1; c.round <= s.rounds; c.round++) scheme.cases.push_back(c);
}

/// The cases of an NR scheme: TS 38.212 §6.2.2 chooses the base graph, and bounds the block by it.
void add_nr_sizes(const tables_settings& s, const nr_mcs& mcs, table_case c, table_scheme& scheme) {
  for (const int size : s.sizes.empty() ? default_table_sizes("nr") : s.sizes) {
    c.size = size;
    c.base_graph = nr_base_graph(size, mcs.code_rate());
    if (c.base_graph == 2 && size > 3840) {
      scheme.left_out.push_back(fmt::format(
          "k = {}: base graph 2, R = {:.3g} up to 0.25, has blocks up to 3840 bits", size, mcs.code_rate()));
      continue;
    }
    const double symbols = std::ceil(size / (mcs.code_rate() * mcs.modulation_order) - 1e-9);
    c.sent_bits = static_cast<int>(symbols) * mcs.modulation_order;
    add_rounds(s, c, scheme);
  }
}

std::vector<table_scheme> nr_schemes(const tables_settings& s) {
  std::vector<table_scheme> schemes;
  for (const int table : s.mcs_tables)
    for (int index = 0; index < 32; index++) {
      const nr_mcs mcs =
          s.transform_precoding ? nr_precoded_mcs_of(table, index, s.pi2_bpsk) : nr_mcs_of(table, index);
      const bool wanted = s.mcs.empty() || std::find(s.mcs.begin(), s.mcs.end(), index) != s.mcs.end();
      if (!(mcs.rate_x1024 > 0) || !wanted) continue;
      table_case c;
      c.link = s.uplink ? 0 : 1, c.transform_precoding = s.transform_precoding;
      c.mcs_table = table, c.mcs = index;
      c.modulation_order = mcs.modulation_order, c.rate = mcs.code_rate();
      table_scheme scheme;
      const char* precoded = s.transform_precoding ? "_precoded" : "";
      scheme.name = fmt::format("nr_{}{}_table{}_mcs{:02}", link_word(s.uplink), precoded, table, index);
      scheme.title = fmt::format(
          "5G NR {}{}, MCS table {}, MCS {}: {}, R = {:.4g}", s.uplink ? "PUSCH" : "PDSCH",
          s.transform_precoding ? " with transform precoding" : "", table, index, modulation_of(c), c.rate);
      add_nr_sizes(s, mcs, c, scheme);
      schemes.push_back(std::move(scheme));
    }
  return schemes;
}

std::vector<table_scheme> wifi_schemes_of(const tables_settings& s) {
  std::vector<table_scheme> schemes;
  int index = -1;
  for (const wifi_mcs& mcs : wifi_schemes) {
    index++;
    if (!s.mcs.empty() && std::find(s.mcs.begin(), s.mcs.end(), index) == s.mcs.end()) continue;
    table_case c;
    c.mcs = index, c.modulation_order = mcs.modulation_order;
    c.rate = static_cast<double>(mcs.dividend) / mcs.divisor;
    table_scheme scheme;
    scheme.name = fmt::format("wifi_mcs{:02}", index);
    scheme.title = fmt::format("WLAN, MCS {}: {}, R = {}", index, modulation_of(c), mcs.rate);
    for (const int n : s.sizes.empty() ? default_table_sizes("wifi") : s.sizes) {
      c.sent_bits = n, c.size = n / mcs.divisor * mcs.dividend;
      add_rounds(s, c, scheme);
    }
    schemes.push_back(std::move(scheme));
  }
  return schemes;
}

/// R above which a receiver of LTE may skip a transport block, TS 36.213 §7.1.7.
constexpr double lte_highest_rate = 0.93;

std::vector<table_scheme> lte_schemes(const tables_settings& s) {
  std::vector<table_scheme> schemes;
  for (int index = 0; index < 32; index++) {
    const lte_mcs mcs = lte_mcs_of(s.uplink, index);
    const bool wanted = s.mcs.empty() || std::find(s.mcs.begin(), s.mcs.end(), index) != s.mcs.end();
    if (mcs.modulation_order == 0 || !wanted) continue;
    table_case c;
    c.link = s.uplink ? 0 : 1, c.mcs = index, c.modulation_order = mcs.modulation_order;
    table_scheme scheme;
    scheme.name = fmt::format("lte_{}_mcs{:02}", link_word(s.uplink), index);
    scheme.title = fmt::format("LTE {}, MCS {}: {}, TBS index {}", s.uplink ? "PUSCH" : "PDSCH", index,
                               modulation_of(c), mcs.tbs_index);
    for (const int blocks : s.sizes.empty() ? default_table_sizes("lte") : s.sizes) {
      c.size = lte_transport_block_size(mcs.tbs_index, blocks);
      c.sent_bits = blocks * s.elements_per_block * mcs.modulation_order;
      c.rate = static_cast<double>(c.size) / c.sent_bits;
      if (const double with_crc = static_cast<double>(c.size + 24) / c.sent_bits;
          with_crc > lte_highest_rate) {
        scheme.left_out.push_back(
            fmt::format("k = {}: R = {:.3g} on {} resource blocks is above 0.93", c.size, with_crc, blocks));
        continue;
      }
      add_rounds(s, c, scheme);
    }
    schemes.push_back(std::move(scheme));
  }
  return schemes;
}

/// The settings of the decoder that have a meaning, with their values as TOML writes them.
std::vector<std::pair<std::string, std::string>> decoder_values(const code_config& code) {
  std::vector<std::pair<std::string, std::string>> values;
  std::vector<setting_of<box>> settings = code.kind().settings;
  std::erase_if(settings, [](const setting_of<box>& s) { return s.group != "decoder"; });
  for (const auto& [setting, value] : values_of(settings, code.settings))
    values.emplace_back(setting->name, as_message(value));
  return values;
}

std::string code_text(const tables_settings& s, const table_case& c) {
  if (s.standard == "wifi") {
    const wifi_mcs& mcs = wifi_schemes[c.mcs];
    return fmt::format("code.n = {}\ncode.rate = \"{}\"\n", c.sent_bits, mcs.rate);
  }
  if (s.standard == "lte")
    return fmt::format(
        "code.transport_block_size = {}\ncode.coded_bits = {}\ncode.transmissions = {}\n"
        "code.redundancy_versions = [{}]\n",
        c.size, c.sent_bits, c.round, list_text(versions_of(s, c.round)));
  return fmt::format("code.k = {}\ncode.n = {}\ncode.base_graph = {}\ncode.redundancy_versions = [{}]\n",
                     c.size, c.sent_bits, c.base_graph, list_text(versions_of(s, c.round)));
}

std::string base_text(const tables_settings& s, const table_scheme& scheme) {
  const table_case& c = scheme.cases.front();
  std::string text = fmt::format("# Made by warpband tables {}: a scenario of warpband sim.\n", s.standard);
  text += fmt::format("title = \"{}\"\nseed = {}\n\n[code]\ntype = \"{}\"\n", scheme.title, s.seed,
                      s.decoder.type);
  if (s.standard == "nr") text += fmt::format("modulation_order = {}\n", c.modulation_order);
  text += "\n[decoder]\n";
  for (const auto& [name, value] : decoder_values(s.decoder)) text += fmt::format("{} = {}\n", name, value);
  text += fmt::format("\n[modem]\nmodulation = \"{}\"\ndemapper = \"{}\"\n", modulation_of(c), s.demapper);
  const stop_rule stop = stop_of(s);
  text += fmt::format("\n[stop]\nframe_errors = {}\nmax_frames = {}\nbelow_fer = {}\n", stop.frame_errors,
                      stop.max_frames, decimal(stop.below_fer));
  return text;
}

/// Numbers with a decimal point, as TOML takes them for dB, without the noise of floats.
std::string db_text(double x) { return fmt::format("{:.3f}", std::round(x * 1e3) / 1e3 + 0.); }

std::string curve_text(const tables_settings& s, const table_case& c, double start_db) {
  const double last = std::floor(sweep_width_db / s.step_db + 1e-6) * s.step_db;
  return fmt::format("{}label = \"{}\"\n{}sweep.esn0_db = {{ from = {}, to = {}, step = {} }}\n\n",
                     curve_mark, label_of(c), code_text(s, c), db_text(start_db), db_text(start_db + last),
                     db_text(s.step_db));
}

std::string label_in(const std::string& curve) {
  constexpr std::string_view before = "label = \"";
  const std::size_t found = curve.find(before);
  if (found == std::string::npos) return {};
  const std::size_t first = found + before.size();
  return curve.substr(first, curve.find('"', first) - first);
}

/// The curves of a text that scenario_of made, with their marks.
std::vector<std::string> curves_in(const std::string& text) {
  std::vector<std::string> curves;
  for (std::size_t i = text.find(curve_mark); i != std::string::npos;) {
    const std::size_t next = text.find(curve_mark, i + 1);
    curves.push_back(text.substr(i, next == std::string::npos ? next : next - i));
    i = next;
  }
  return curves;
}

}  // namespace

code_config default_tables_decoder(const std::string& standard) {
  if (standard == "lte") return code_config("lte-transport", {{"algorithm", "log-map"}, {"iterations", 8}});
  code_config code(standard == "wifi" ? "wifi-ldpc" : "nr-ldpc");
  code.set("algorithm", std::string("sum-product"));
  code.set("schedule", std::string("flooding"));
  code.set("iterations", std::int64_t{20});
  return code;
}

std::vector<int> default_table_sizes(const std::string& standard) {
  if (standard == "wifi") return {648, 1296, 1944};
  if (standard == "lte") return {6, 25, 50, 100};
  return {24,   32,   48,   64,   96,   128,  192,  256,  384,  512,  640,  768, 1024,
          1280, 1536, 2048, 2560, 3072, 3824, 4480, 5120, 5632, 6656, 7680, 8448};
}

void check(const tables_settings& s) {
  if (s.standard != "nr" && s.standard != "lte" && s.standard != "wifi")
    throw argument_error("standard", s.standard, "nr, lte or wifi");
  if (s.harq != "none" && s.harq != "ir" && s.harq != "chase")
    throw argument_error("harq", s.harq, "none, ir or chase");
  check_range("rounds", s.rounds, 1, 8);
  if (s.harq == "none" && s.rounds != 1)
    throw argument_error("rounds", std::to_string(s.rounds), "1 without HARQ: harq ir or chase");
  if (s.redundancy_versions.empty() || s.redundancy_versions.size() > 8)
    throw argument_error("redundancy_versions", list_text(s.redundancy_versions),
                         "1 to 8 integers from 0 to 3");
  for (const int v : s.redundancy_versions) check_range("redundancy_versions", v, 0, 3);
  if (s.transform_precoding && (!s.uplink || s.standard != "nr"))
    throw argument_error("transform_precoding", "true", "false but with PUSCH of 5G NR");
  if (s.pi2_bpsk && !s.transform_precoding)
    throw argument_error("pi2_bpsk", "true", "false without transform precoding");
  if (s.mcs_tables.empty()) throw argument_error("mcs_table", "", "one table or more");
  for (const int table : s.mcs_tables)
    check_range("mcs_table", table, 1, s.transform_precoding ? 2 : s.uplink ? 3 : 4);
  for (const int index : s.mcs) check_range("mcs", index, 0, 31);
  for (const int size : s.sizes)
    if (s.standard == "wifi") {
      if (size != 648 && size != 1296 && size != 1944)
        throw argument_error("sizes", std::to_string(size), "648, 1296 or 1944");
    } else if (s.standard == "lte") {
      const auto known = lte_resource_blocks();
      if (std::find(known.begin(), known.end(), size) == known.end())
        throw argument_error("sizes", std::to_string(size), "6, 15, 25, 50, 75 or 100 resource blocks");
    } else {
      check_range("sizes", size, 5, 8448);
    }
  if (s.standard == "wifi" && (s.uplink || s.harq != "none"))
    throw argument_error(s.uplink ? "uplink" : "harq", s.uplink ? "true" : s.harq, "none with WLAN");
  check_range("elements_per_block", s.elements_per_block, 12, 168);
  check_number("step_db", s.step_db, 0.01, 1);
  check_number("target", s.target, 1e-9, 0.5);
  if (s.errors < 1 || s.errors > 1'000'000)
    throw argument_error("errors", std::to_string(s.errors), "an integer from 1 to 1000000");
  if (s.demapper != "exact" && s.demapper != "max-log")
    throw argument_error("demapper", s.demapper, "exact or max-log");
}

std::vector<table_scheme> schemes_of(const tables_settings& given) {
  check(given);
  tables_settings s = given;
  std::sort(s.sizes.begin(), s.sizes.end());
  s.sizes.erase(std::unique(s.sizes.begin(), s.sizes.end()), s.sizes.end());
  std::vector<table_scheme> schemes = s.standard == "wifi"  ? wifi_schemes_of(s)
                                      : s.standard == "lte" ? lte_schemes(s)
                                                            : nr_schemes(s);
  if (schemes.empty()) throw argument_error("mcs", list_text(s.mcs), "indices that the table has a rate for");
  return schemes;
}

link_tables empty_tables(const tables_settings& s) {
  link_tables t;
  t.standard = s.standard;
  t.decoder = fmt::format("{} demapper; {}", s.demapper, s.decoder.type);
  for (const auto& [name, value] : decoder_values(s.decoder)) {
    std::string word = value;
    std::erase(word, '"');
    t.decoder += fmt::format(", {} {}", name, word);
  }
  t.harq = s.harq;
  t.redundancy_versions = list_text(versions_of(s, s.rounds));
  t.warpband = fmt::format("{} (commit {})", version(), commit());
  return t;
}

std::string label_of(const table_case& c) {
  return c.round == 1 ? fmt::format("k = {}", c.size) : fmt::format("k = {}, round {}", c.size, c.round);
}

double capacity_snr_db(const table_case& c) {
  const double bits =
      static_cast<double>(c.size) * c.modulation_order / (static_cast<double>(c.sent_bits) * c.round);
  // BPSK sends on one of two axes.
  const double snr = c.modulation_order == 1 ? (std::exp2(2 * bits) - 1) / 2 : std::exp2(bits) - 1;
  return 10 * std::log10(snr);
}

std::optional<double> waterfall_start(frame_runner& frames, double near_db, double step_db,
                                      const std::function<bool()>& go_on) {
  // Points are numbers of steps, so that every search has the same lattice.
  const auto steps = [&](double db) { return std::llround(db / step_db); };
  bool stopped = false;
  const auto all_fail = [&](long long point) {
    if (go_on && !go_on()) stopped = true;
    if (stopped) return true;
    const double db = std::round(static_cast<double>(point) * step_db * 1e6) / 1e6;
    const point_result p = run_point(frames, db, {.frame_errors = 0, .max_frames = search_frames});
    return p.counts.frame_errors == search_frames;
  };
  const long long stride = std::max(1LL, steps(1)), lowest = steps(lowest_db), highest = steps(highest_db);
  long long fails = std::clamp(steps(near_db), lowest, highest), works = fails;
  if (all_fail(fails)) {
    do {
      if (stopped || works >= highest) return std::nullopt;
      works = std::min(works + stride, highest);
      if (all_fail(works))
        fails = works;
      else
        break;
    } while (true);
  } else {
    do {
      if (fails <= lowest) return std::nullopt;
      fails = std::max(fails - stride, lowest);
      if (all_fail(fails)) break;
      works = fails;
    } while (true);
  }
  while (works - fails > 1 && !stopped) {
    const long long middle = fails + (works - fails) / 2;
    (all_fail(middle) ? fails : works) = middle;
  }
  if (stopped) return std::nullopt;
  return std::round(static_cast<double>(fails - 1) * step_db * 1e6) / 1e6;
}

link_config link_of(const tables_settings& s, const table_scheme& scheme, const table_case& c) {
  return parse_scenario(base_text(s, scheme) + "\n" + curve_text(s, c, 0), scheme.name).curves.front().link;
}

std::string scenario_of(const tables_settings& s, const table_scheme& scheme, const std::string& held,
                        const std::function<std::optional<double>(const table_case&)>& start) {
  std::string text = base_text(s, scheme) + "\n";
  const std::vector<std::string> known = curves_in(held);
  for (const std::string& curve : known) text += curve;
  for (const table_case& c : scheme.cases) {
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const std::string& curve) { return label_in(curve) == label_of(c); });
    if (found != known.end()) {
      if (found->find("\"\n" + code_text(s, c) + "sweep.") == std::string::npos)
        throw argument_error(s.standard == "lte" ? "elements_per_block" : "harq", label_of(c),
                             "the code that this curve has in the folder, or another folder");
      continue;
    }
    if (const std::optional<double> db = start(c)) text += curve_text(s, c, *db);
  }
  return text;
}

std::vector<std::string> labels_in(const std::string& scenario_text) {
  std::vector<std::string> labels;
  for (const std::string& curve : curves_in(scenario_text)) labels.push_back(label_in(curve));
  return labels;
}

bool is_finished(const curve_result& curve, const stop_rule& stop) {
  for (const double db : curve.config.sweep_db) {
    const point_counts counts = curve.counts_at(db);
    if (!has_enough(counts, stop)) return false;
    if (static_cast<double>(counts.frame_errors) < stop.below_fer * static_cast<double>(counts.frames))
      return true;
  }
  return true;
}

stop_rule stop_of(const tables_settings& s) {
  return {.frame_errors = s.errors,
          .max_frames = static_cast<std::uint64_t>(std::ceil(static_cast<double>(s.errors) / s.target)),
          .max_seconds = {},
          .below_fer = s.target};
}

void put_result(link_tables& tables, const table_scheme& scheme, const run_result& result) {
  for (const table_case& c : scheme.cases) {
    const auto held = std::find_if(result.curves.begin(), result.curves.end(),
                                   [&](const curve_result& r) { return r.label == label_of(c); });
    if (held == result.curves.end()) continue;
    table_curve curve{c, {}};
    for (const double db : held->config.sweep_db) {
      const point_counts counts = held->counts_at(db);
      if (counts.frames != 0) curve.points.push_back({db, counts.frames, counts.frame_errors});
    }
    if (!curve.points.empty()) put(tables, std::move(curve));
  }
}

}  // namespace wb
