// Tables of block error rates: their file, what other programs load, and the plan of a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <tests/json.hpp>
#include <tests/on_backends.hpp>
#include <tests/scratch.hpp>
#include <warpband/code/nr.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/link/chain.hpp>

#include "tables_file.hpp"
#include "tables_plan.hpp"
#if WARPBAND_HDF5
#include <warpband/io/hdf5.hpp>
#endif

namespace wb {
namespace tables_test {

using testing::blamed;

table_case case_of(int mcs, int size, int round = 1) {
  table_case c;
  c.mcs = mcs, c.size = size, c.round = round;
  c.modulation_order = 2, c.rate = 0.3, c.sent_bits = 4 * size, c.base_graph = 2;
  return c;
}

/// Numbers of no simulation.
link_tables small_tables() {
  link_tables t;
  t.decoder = "exact demapper; nr-ldpc, iterations 20", t.warpband = "0.0.0 (commit none)";
  put(t, {case_of(5, 320), {{-1, 100, 91}, {-0.5, 200, 84}, {0, 1000, 60}, {0.5, 10000, 4}}});
  put(t, {case_of(5, 1000), {{-0.5, 100, 50}, {0, 1000, 1}}});
  put(t, {case_of(4, 320), {{-2, 100, 100}, {-1.5, 1000, 10}}});
  put(t, {case_of(5, 320, 2), {{-4, 100, 99}, {-3.5, 1000, 10}}});
  return t;
}

TEST(link_tables_of, cases_are_sorted_and_there_once) {
  link_tables t = small_tables();
  ASSERT_EQ(t.curves.size(), 4u);
  EXPECT_EQ(t.curves[0].of_case.mcs, 4);
  EXPECT_EQ(t.curves[1].of_case.round, 1);
  EXPECT_EQ(t.curves[2].of_case.round, 2);
  EXPECT_EQ(t.curves[3].of_case.size, 1000);
  put(t, {case_of(5, 1000), {{1, 10, 1}}});
  ASSERT_EQ(t.curves.size(), 4u);
  EXPECT_EQ(t.curves[3].points, (std::vector<table_point>{{1, 10, 1}}));
}

TEST(link_tables_of, files_come_back) {
  const link_tables t = small_tables();
  const std::string text = tables_json(t);
  EXPECT_EQ(parse_tables(text, "t.json"), t);
  const auto root = testing::parse_json(text);
  EXPECT_EQ(root["attributes"]["format"], "warpband-tables");
  EXPECT_EQ(root["first"], (std::vector<int>{0, 2, 6, 8}));
  EXPECT_EQ(root["points"], (std::vector<int>{2, 4, 2, 2}));
  ASSERT_EQ(root["low"].size(), 10u);
  const interval exact = clopper_pearson(91, 100);
  EXPECT_EQ(root["low"][2], exact.low);
  EXPECT_EQ(root["high"][2], exact.high);
}

TEST(link_tables_of, damaged_files_are_refused) {
  const std::string text = tables_json(small_tables());
  const auto refused = [](const std::string& damaged) {
    try {
      parse_tables(damaged, "t.json");
    } catch (const file_error& e) {
      EXPECT_NE(std::string(e.what()).find("t.json"), std::string::npos) << e.what();
      return true;
    }
    return false;
  };
  const auto with = [&](const std::string& before, const std::string& after) {
    std::string changed = text;
    const std::size_t i = changed.find(before);
    EXPECT_NE(i, std::string::npos) << before;
    return changed.replace(i, before.size(), after);
  };
  EXPECT_TRUE(refused(""));
  EXPECT_TRUE(refused("[]"));
  EXPECT_TRUE(refused("{}"));
  EXPECT_TRUE(refused(text.substr(0, text.size() / 2)));
  EXPECT_TRUE(refused(with("warpband-tables", "tables")));
  EXPECT_TRUE(refused(with("\"version\": 1", "\"version\": 2")));
  EXPECT_TRUE(refused(with("\"errors\"", "\"errrors\"")));
  auto root = testing::parse_json(text);
  const auto changed = [&](const char* key, std::size_t i, const nlohmann::json& value) {
    auto copy = root;
    copy[key][i] = value;
    return copy.dump();
  };
  EXPECT_FALSE(refused(root.dump()));
  EXPECT_TRUE(refused(changed("errors", 2, 101)));  // of 100 blocks
  EXPECT_TRUE(refused(changed("errors", 2, -1)));
  EXPECT_TRUE(refused(changed("errors", 2, 1.5)));
  EXPECT_TRUE(refused(changed("blocks", 2, 0)));
  EXPECT_TRUE(refused(changed("snr_db", 3, -1)));  // does not rise
  EXPECT_TRUE(refused(changed("first", 1, 3)));
  EXPECT_TRUE(refused(changed("points", 3, 3)));
  EXPECT_TRUE(refused(changed("rate", 0, 1.5)));
  EXPECT_TRUE(refused(changed("mcs", 0, "5")));
  EXPECT_TRUE(refused(changed("round", 2, 1)));  // a case twice
}

TEST(link_tables_of, different_decoders_make_no_common_file) {
  link_tables a = small_tables(), b = a;
  b.warpband = "another";
  check_same_kind(a, b, "t.json");
  b.decoder += ", precision int8";
  EXPECT_THROW(check_same_kind(a, b, "t.json"), file_error);
}

TEST(link_tables_of, crossings_lie_between_points) {
  const link_tables t = small_tables();
  const table_curve& c = t.curves[1];
  EXPECT_NEAR(snr_of_bler(c, 0.91), -1, 1e-9);
  EXPECT_NEAR(snr_of_bler(c, 0.06), 0, 1e-9);
  EXPECT_NEAR(snr_of_bler(c, std::sqrt(0.06 * 4e-4)), 0.25, 1e-9);
  EXPECT_TRUE(std::isnan(snr_of_bler(c, 1e-4)));
  EXPECT_TRUE(std::isnan(snr_of_bler(c, 0.95)));
}

TEST(link_tables_of, sionna_has_its_keys) {
  const auto root = testing::parse_json(sionna_json(small_tables()));
  std::set<std::string> keys;
  for (const auto& [key, value] : root.items()) keys.insert(key);
  EXPECT_EQ(keys, (std::set<std::string>{"_comment", "category"}));
  for (const char* link : {"0", "1"}) {  // tables 1 to 3 are common
    const auto& mcs = root["category"][link]["index"]["1"]["MCS"];
    EXPECT_EQ(mcs.size(), 2u);
    EXPECT_EQ(mcs["5"]["SNR_db"], (std::vector<double>{-1, -0.5, 0, 0.5}));
    EXPECT_EQ(mcs["5"]["CBS"].size(), 2u);
    EXPECT_EQ(mcs["5"]["CBS"]["320"]["BLER"], (std::vector<double>{0.91, 0.42, 0.06, 4e-4}));
    EXPECT_EQ(mcs["5"]["CBS"]["1000"]["BLER"], (std::vector<double>{1, 0.5, 1e-3, 0}));
    EXPECT_EQ(mcs["4"]["CBS"]["320"]["BLER"], (std::vector<double>{1, 0.01}));
  }
  link_tables fourth = small_tables();
  for (table_curve& c : fourth.curves) c.of_case.mcs_table = 4;
  const auto of_fourth = testing::parse_json(sionna_json(fourth));
  EXPECT_TRUE(of_fourth["category"].contains("1"));
  EXPECT_FALSE(of_fourth["category"].contains("0"));
  EXPECT_EQ(blamed([] { sionna_json({}); }), "tables");
}

TEST(link_tables_of, lena_has_graphs_schemes_and_blocks_with_fillers) {
  const std::string text = lena_header(small_tables(), 1);
  EXPECT_NE(text.find("BlerForSinr1 = {"), std::string::npos);
  // K = 10 Z: 320 bits take 8 columns of 40, 1000 bits ten of 104.
  EXPECT_NE(
      text.find("{400U, NrEesmErrorModel::DoubleTuple{{-1, -0.5, 0, 0.5}, {0.91, 0.42, 0.06, 0.0004}}}"),
      std::string::npos)
      << text.substr(0, 2000);
  EXPECT_NE(text.find("{1040U, "), std::string::npos);
  EXPECT_NE(text.find("McsMTable1 = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 4,"), std::string::npos);
  const auto count = [&](const std::string& part) {
    std::size_t n = 0;
    for (std::size_t i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) n++;
    return n;
  };
  EXPECT_EQ(count("{0U, NrEesmErrorModel::DoubleTuple{{0.0}, {0.0}}}"), 29u + 27u);
  EXPECT_EQ(count("{"), count("}"));
  EXPECT_EQ(blamed([] { lena_header(small_tables(), 2); }), "mcs_table");
}

TEST(link_tables_of, oai_has_tenths_of_decibels) {
  link_tables t;
  for (int mcs = 0; mcs < 29; mcs++) {
    put(t, {case_of(mcs, 320), {{0.1 * mcs, 100, 90}, {0.1 * mcs + 0.2, 1000000, 1}}});
    put(t, {case_of(mcs, 8448), {{1. * mcs, 1000, 10}, {1. * mcs + 0.2, 100000, 10}}});
  }
  const std::string text = oai_header(t, 1e-3);
  EXPECT_NE(text.find("SINRx10_MCS_mapping[1][29] = {\n  {1, 11, 21, 31,"), std::string::npos) << text;
  EXPECT_NE(oai_header(t, 1e-3, 320).find("{1, 2, 3,"), std::string::npos) << oai_header(t, 1e-3, 320);
  EXPECT_EQ(blamed([&] { oai_header(t, 1e-6, 8448); }), "bler");
  EXPECT_EQ(blamed([&] { oai_header(t, 0); }), "bler");
  EXPECT_EQ(blamed([&] { oai_header(t, 1e-3, 100); }), "size");
  EXPECT_EQ(blamed([&] { oai_header(small_tables(), 1e-2); }), "mcs");
}

TEST(link_tables_of, csv_has_a_row_for_each_point) {
  const std::string text = tables_csv(small_tables());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2 + 10);
  EXPECT_NE(text.find("iterations 20"), std::string::npos);
  EXPECT_NE(text.find("\n1,0,1,5,2,320,1280,2,1,0.3,-0.5,200,84,0.42,"), std::string::npos) << text;
}

#if WARPBAND_HDF5
TEST(link_tables_of, hdf5_has_the_same_columns) {
  const testing::scratch_folder folder;
  const link_tables t = small_tables();
  write_tables_hdf5(t, folder.path("t.h5"));
  const hdf5_reader file(folder.path("t.h5"));
  const auto root = testing::parse_json(tables_json(t));
  EXPECT_EQ(std::get<std::string>(file.attribute("", "decoder").value()), t.decoder);
  EXPECT_EQ(std::get<std::int64_t>(file.attribute("", "version").value()), 1);
  for (const char* name :
       {"link", "mcs_table", "mcs", "size", "sent_bits", "base_graph", "round", "first", "points"})
    EXPECT_EQ(file.read<std::int32_t>(name), root[name].get<std::vector<std::int32_t>>()) << name;
  for (const char* name : {"blocks", "errors"})
    EXPECT_EQ(file.read<std::int64_t>(name), root[name].get<std::vector<std::int64_t>>()) << name;
  for (const char* name : {"rate", "snr_db", "low", "high"})
    EXPECT_EQ(file.read<double>(name), root[name].get<std::vector<double>>()) << name;
  EXPECT_EQ(file.names().size(), root.size() - 1);
}
#endif

// ---- the plan

TEST(tables_plan, has_the_cases_of_the_standard) {
  tables_settings s;
  s.mcs_tables = {1, 2, 3, 4};
  s.sizes = {24, 3824, 3840, 8448};
  const auto schemes = schemes_of(s);
  EXPECT_EQ(schemes.size(), 29u + 28u + 29u + 27u);
  std::set<std::string> names;
  std::size_t left_out = 0;
  for (const table_scheme& scheme : schemes) {
    names.insert(scheme.name);
    left_out += scheme.left_out.size();
    EXPECT_EQ(scheme.cases.size() + scheme.left_out.size(), 4u);
    for (const table_case& c : scheme.cases) {
      EXPECT_EQ(c.sent_bits % c.modulation_order, 0);
      EXPECT_LE(static_cast<double>(c.size) / c.sent_bits, c.rate + 1e-12);
      EXPECT_GT(c.size / static_cast<double>(c.sent_bits - c.modulation_order), c.rate - 1e-12);
      const bool second = c.size <= 292 || (c.size <= 3824 && c.rate <= 0.67) || c.rate <= 0.25;
      EXPECT_EQ(c.base_graph, second ? 2 : 1) << scheme.name << ", " << c.size;
    }
  }
  EXPECT_EQ(names.size(), schemes.size());
  EXPECT_EQ(schemes[5].name, "nr_pdsch_table1_mcs05");
  // R up to 0.25: 4 schemes of table 1, 2 of table 2, 10 of table 3, 2 of table 4. Base graph 2 has no 8448
  // bits.
  EXPECT_EQ(left_out, 18u);

  s.sizes = {500};
  s.mcs_tables = {1}, s.mcs = {4};
  const table_case c = schemes_of(s).front().cases.front();
  EXPECT_EQ(c.sent_bits, 1664);  // ceil(500 / (308 / 1024) / 2) 2
  EXPECT_EQ(c.base_graph, 2);
  EXPECT_EQ(c.rate, 308. / 1024);
}

TEST(tables_plan, has_rounds_precoding_and_wlan) {
  tables_settings s;
  s.mcs = {10}, s.sizes = {100, 50, 100}, s.harq = "ir", s.rounds = 3;
  auto cases = schemes_of(s).front().cases;
  ASSERT_EQ(cases.size(), 6u);
  EXPECT_EQ(cases[0].size, 50);
  EXPECT_EQ(cases[2].round, 3);
  EXPECT_EQ(empty_tables(s).redundancy_versions, "0, 2, 3");
  EXPECT_EQ(link_of(s, schemes_of(s).front(), cases[2]).code.get<nr_ldpc_settings>().redundancy_versions,
            (std::vector<int>{0, 2, 3}));
  s.harq = "chase";
  EXPECT_EQ(link_of(s, schemes_of(s).front(), cases[2]).code.get<nr_ldpc_settings>().redundancy_versions,
            (std::vector<int>{0, 0, 0}));

  tables_settings precoded;
  precoded.uplink = precoded.transform_precoding = precoded.pi2_bpsk = true;
  precoded.mcs_tables = {1, 2};
  const auto schemes = schemes_of(precoded);
  EXPECT_EQ(schemes.size(), 56u);
  EXPECT_EQ(schemes[0].cases[0].modulation_order, 1);
  EXPECT_EQ(schemes[0].cases[0].link, 0);
  EXPECT_EQ(schemes[0].name, "nr_pusch_precoded_table1_mcs00");

  tables_settings wlan;
  wlan.standard = "wifi", wlan.decoder = default_tables_decoder("wifi");
  const auto of_wlan = schemes_of(wlan);
  ASSERT_EQ(of_wlan.size(), 12u);
  EXPECT_EQ(of_wlan[7].cases[2].size, 1620);  // 5/6 of 1944
  for (const table_scheme& scheme : of_wlan)
    for (const table_case& one : scheme.cases) {
      const code_sizes sizes = sizes_of(completed(link_of(wlan, scheme, one)).code);
      EXPECT_EQ(sizes.k, static_cast<std::size_t>(one.size)) << scheme.name;
      EXPECT_EQ(sizes.n, static_cast<std::size_t>(one.sent_bits)) << scheme.name;
    }
}

TEST(tables_plan, has_transport_blocks_of_lte) {
  tables_settings s;
  s.standard = "lte", s.decoder = default_tables_decoder("lte");
  const auto schemes = schemes_of(s);
  ASSERT_EQ(schemes.size(), 29u);
  EXPECT_EQ(schemes[28].name, "lte_pdsch_mcs28");
  EXPECT_EQ(schemes[28].cases.back().size, 75376);  // R = 0.87 on 100 resource blocks
  EXPECT_TRUE(schemes[28].left_out.empty());
  s.elements_per_block = 120;
  EXPECT_EQ(schemes_of(s)[28].left_out.size(), 4u);
  s.elements_per_block = 144;
  s.harq = "ir", s.rounds = 2, s.mcs = {4}, s.sizes = {25};
  const table_scheme scheme = schemes_of(s).front();
  ASSERT_EQ(scheme.cases.size(), 2u);
  EXPECT_EQ(scheme.cases[0].size, 1800);
  EXPECT_EQ(scheme.cases[0].sent_bits, 7200);
  const link_config link = completed(link_of(s, scheme, scheme.cases[1]));
  EXPECT_EQ(harq_of(link.code).transmissions, 2);
  EXPECT_EQ(sizes_of(link.code).k, 1800u);
  EXPECT_EQ(sizes_of(link.code).n, 7200u);
  s.sizes = {26};
  EXPECT_EQ(blamed([&] { schemes_of(s); }), "sizes");
}

TEST(tables_plan, every_scheme_makes_a_scenario) {
  tables_settings s;
  s.mcs_tables = {1, 4}, s.sizes = {24, 3840}, s.harq = "ir", s.rounds = 2;
  for (const table_scheme& scheme : schemes_of(s)) {
    const std::string text =
        scenario_of(s, scheme, "", [](const table_case& c) { return -7.3 + 0.1 * c.round; });
    const scenario parsed = parse_scenario(text, scheme.name);
    ASSERT_EQ(parsed.curves.size(), scheme.cases.size());
    for (std::size_t i = 0; i < parsed.curves.size(); i++) {
      const table_case& c = scheme.cases[i];
      const curve_config& curve = parsed.curves[i];
      EXPECT_EQ(curve.label, label_of(c));
      EXPECT_EQ(curve.link.axis, snr_axis::esn0_db);
      EXPECT_EQ(curve.link.qam, 1 << c.modulation_order);
      EXPECT_EQ(curve.stop, stop_of(s));
      EXPECT_EQ(curve.sweep_db.size(), 201u);
      EXPECT_EQ(curve.sweep_db[1], c.round == 1 ? -7.1 : -7.0);
      const code_config code = completed(curve.link).code;
      EXPECT_EQ(code.get<nr_ldpc_settings>().n, c.sent_bits);
      EXPECT_EQ(code.get<nr_ldpc_settings>().base_graph, c.base_graph);
      EXPECT_EQ(code.get<nr_ldpc_settings>().modulation_order, c.modulation_order);
      EXPECT_EQ(code.get<nr_ldpc_settings>().decoder.algorithm, ldpc_algorithm::sum_product);
      EXPECT_EQ(sizes_of(code).n, static_cast<std::size_t>(c.sent_bits * c.round));
    }
  }
}

TEST(tables_plan, curves_held_keep_their_points) {
  tables_settings s;
  s.mcs = {3}, s.sizes = {100};
  const table_scheme one = schemes_of(s).front();
  const std::string first = scenario_of(s, one, "", [](const table_case&) { return -3.; });
  s.sizes = {50, 100, 200}, s.target = 1e-4;
  std::vector<int> asked;
  const std::string second = scenario_of(s, schemes_of(s).front(), first, [&](const table_case& c) {
    asked.push_back(c.size);
    return c.size == 50 ? std::optional<double>() : 2.;
  });
  EXPECT_EQ(asked, (std::vector<int>{50, 200}));
  EXPECT_EQ(labels_in(second), (std::vector<std::string>{"k = 100", "k = 200"}));
  const scenario parsed = parse_scenario(second, "second");
  EXPECT_EQ(parsed.curves[0].sweep_db.front(), -3);
  EXPECT_EQ(parsed.curves[0].stop.below_fer, 1e-4);
  EXPECT_EQ(parsed.curves[1].sweep_db.front(), 2);
}

TEST(tables_plan, settings_that_are_not_allowed_are_named) {
  const auto blames = [](auto change) {
    tables_settings s;
    change(s);
    return blamed([&] { schemes_of(s); });
  };
  EXPECT_EQ(blames([](auto& s) { s.standard = "umts"; }), "standard");
  EXPECT_EQ(blames([](auto& s) { s.harq = "all"; }), "harq");
  EXPECT_EQ(blames([](auto& s) { s.rounds = 2; }), "rounds");
  EXPECT_EQ(blames([](auto& s) { s.harq = "ir", s.rounds = 9; }), "rounds");
  EXPECT_EQ(blames([](auto& s) { s.redundancy_versions = {4}; }), "redundancy_versions");
  EXPECT_EQ(blames([](auto& s) { s.transform_precoding = true; }), "transform_precoding");
  EXPECT_EQ(blames([](auto& s) { s.pi2_bpsk = true; }), "pi2_bpsk");
  EXPECT_EQ(blames([](auto& s) { s.mcs_tables = {5}; }), "mcs_table");
  EXPECT_EQ(blames([](auto& s) { s.uplink = true, s.mcs_tables = {4}; }), "mcs_table");
  EXPECT_EQ(blames([](auto& s) { s.mcs = {29}; }), "mcs");
  EXPECT_EQ(blames([](auto& s) { s.mcs = {32}; }), "mcs");
  EXPECT_EQ(blames([](auto& s) { s.sizes = {4}; }), "sizes");
  EXPECT_EQ(blames([](auto& s) { s.sizes = {8449}; }), "sizes");
  EXPECT_EQ(blames([](auto& s) { s.standard = "wifi", s.sizes = {640}; }), "sizes");
  EXPECT_EQ(blames([](auto& s) { s.standard = "wifi", s.harq = "ir"; }), "harq");
  EXPECT_EQ(blames([](auto& s) { s.elements_per_block = 0; }), "elements_per_block");
  EXPECT_EQ(blames([](auto& s) { s.step_db = 0; }), "step_db");
  EXPECT_EQ(blames([](auto& s) { s.target = NAN; }), "target");
  EXPECT_EQ(blames([](auto& s) { s.errors = 0; }), "errors");
  EXPECT_EQ(blames([](auto& s) { s.demapper = "log"; }), "demapper");
}

TEST(tables_plan, a_curve_starts_where_all_blocks_fail) {
  tables_settings s;
  s.mcs = {8}, s.sizes = {120};
  const table_scheme scheme = schemes_of(s).front();
  const auto exec = testing::open_scalar();
  link_chain chain(link_of(s, scheme, scheme.cases.front()), *exec, 200);
  const auto failed = [&](double db) {
    return run_point(chain, db, {.frame_errors = 0, .max_frames = 200}).counts.frame_errors;
  };
  const std::optional<double> start = waterfall_start(chain, capacity_snr_db(scheme.cases.front()), 0.1);
  ASSERT_TRUE(start);
  EXPECT_EQ(failed(std::round((*start + 0.1) * 10) / 10), 200u);
  EXPECT_LT(failed(std::round((*start + 0.2) * 10) / 10), 200u);
  EXPECT_EQ(std::round(*start * 10) / 10, *start);
  // From below and from above: errors of 200 frames need not fall at every step, so that it is near.
  for (const double near : {-6., 12.})
    EXPECT_NEAR(waterfall_start(chain, near, 0.1).value(), *start, 1) << near;
  EXPECT_FALSE(waterfall_start(chain, 0, 0.1, [] { return false; }));
}

/// A link whose frames fail as they are told to.
class made_frames final : public frame_runner {
 public:
  explicit made_frames(bool fails) : fails_(fails) { config_.code = code_config("none"); }
  const frame_counts& run(std::uint64_t, std::size_t frames, double) override {
    counts_.bit_errors.assign(frames, fails_ ? 1 : 0);
    return counts_;
  }
  const link_config& config() const noexcept override { return config_; }
  std::size_t max_batch() const noexcept override { return 200; }
  std::size_t preferred_frames() const override { return 200; }

 private:
  bool fails_;
  link_config config_;
  frame_counts counts_;
};

TEST(tables_plan, a_link_without_a_waterfall_has_no_start) {
  for (const bool fails : {false, true}) {
    made_frames frames(fails);
    EXPECT_FALSE(waterfall_start(frames, 0, 0.5)) << fails;
  }
}

TEST(tables_plan, a_finished_curve_ends_below_the_target) {
  curve_result r;
  r.config.sweep_db = {0, 1, 2, 3};
  const stop_rule stop{.frame_errors = 10, .max_frames = 1000, .max_seconds = {}, .below_fer = 0.01};
  const auto add = [&](double db, std::uint64_t frames, std::uint64_t errors) {
    point_result p;
    p.sweep_db = db, p.counts.frames = frames, p.counts.frame_errors = errors;
    r.points.push_back(p);
  };
  EXPECT_FALSE(is_finished(r, stop));
  add(0, 20, 10);
  add(1, 200, 10);
  EXPECT_FALSE(is_finished(r, stop));
  add(2, 1000, 9);
  EXPECT_TRUE(is_finished(r, stop));
  stop_rule more = stop;
  more.frame_errors = 11;
  EXPECT_FALSE(is_finished(r, more));
  more = stop;
  more.below_fer = 0.001;
  EXPECT_FALSE(is_finished(r, more));
}

}  // namespace tables_test
}  // namespace wb
