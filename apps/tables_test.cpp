// `warpband tables` as a user meets it.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include <tests/command.hpp>
#include <tests/json.hpp>

namespace tables_command_test {

using wb::testing::outcome;

/// A curve of a second: 48 bits, QPSK.
constexpr const char* small =
    "tables nr --mcs 9 --sizes 48 --errors 20 --to 0.05 --iterations 8 -o t --quiet";

class tables_command : public ::testing::Test, protected wb::testing::command_folder {
 protected:
  nlohmann::json tables(const std::string& folder = "t") const {
    return wb::testing::parse_json(content(path(folder + "/tables.json")));
  }
};

TEST_F(tables_command, makes_a_curve_down_to_the_target) {
  const outcome o = run(small);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  EXPECT_NE(o.out.find("exact demapper; nr-ldpc, algorithm sum-product, iterations 8, schedule flooding"),
            std::string::npos)
      << o.out;
  EXPECT_NE(o.out.find("1 of 1 cases"), std::string::npos) << o.out;
  const auto t = tables();
  EXPECT_EQ(t["mcs"], std::vector<int>{9});
  EXPECT_EQ(t["size"], std::vector<int>{48});
  const auto blocks = t["blocks"].get<std::vector<int>>(), errors = t["errors"].get<std::vector<int>>();
  const auto snr = t["snr_db"].get<std::vector<double>>();
  ASSERT_GT(blocks.size(), 10u);
  EXPECT_EQ(errors.front(), 20);
  EXPECT_LE(blocks.front(), 22);
  for (std::size_t i = 0; i < blocks.size(); i++) {
    const bool last = i + 1 == blocks.size();
    if (i != 0) {
      EXPECT_NEAR(snr[i], snr[i - 1] + 0.1, 1e-9);
    }
    EXPECT_EQ(errors[i] < 0.05 * blocks[i], last) << i;
    if (!last) {
      EXPECT_EQ(errors[i], 20);
    }
    EXPECT_LT(t["low"][i], errors[i] / static_cast<double>(blocks[i]));
    EXPECT_GE(t["high"][i], errors[i] / static_cast<double>(blocks[i]));
  }
}

TEST_F(tables_command, goes_on_to_what_one_run_gives) {
  ASSERT_EQ(run(small).code, 0);
  const auto first = tables();
  // Nothing is left: nothing changes.
  const auto written = std::filesystem::last_write_time(path("t/nr_pdsch_table1_mcs09.json"));
  ASSERT_EQ(run(small).code, 0);
  EXPECT_EQ(std::filesystem::last_write_time(path("t/nr_pdsch_table1_mcs09.json")), written);
  EXPECT_EQ(tables(), first);
  const outcome listed = run(std::string(small) + " --list");
  EXPECT_NE(listed.out.find("1 of 1 cases finished, 0 left"), std::string::npos) << listed.out << listed.err;
  // More errors, a lower target and another size.
  const std::string more = "tables nr --mcs 9 --sizes 32,48 --errors 30 --to 0.02 --iterations 8 --quiet -o ";
  EXPECT_NE(run(more + "t --list").out.find("0 of 2 cases finished, 2 left"), std::string::npos);
  ASSERT_EQ(run(more + "t").code, 0);
  ASSERT_EQ(run(more + "once").code, 0);
  EXPECT_EQ(tables("t"), tables("once"));
  EXPECT_EQ(tables("t")["size"], (std::vector<int>{32, 48}));
  // A result of the run is one of `warpband sim`.
  ASSERT_EQ(run("sim --resume t/nr_pdsch_table1_mcs09.json --quiet").code, 0);
}

TEST_F(tables_command, rounds_need_less_signal_than_one_transmission) {
  const std::string base = "tables nr --mcs 9 --sizes 64 --errors 20 --to 0.1 --rounds 2 --quiet ";
  ASSERT_EQ(run(base + "--harq ir -o ir").code, 0);
  ASSERT_EQ(run(base + "--harq chase -o chase").code, 0);
  const auto db = [&](const std::string& folder, std::size_t i) {  // the last point
    const auto t = tables(folder);
    return t["snr_db"][t["first"][i].get<std::size_t>() + t["points"][i].get<std::size_t>() - 1]
        .get<double>();
  };
  EXPECT_EQ(tables("ir")["round"], (std::vector<int>{1, 2}));
  EXPECT_EQ(db("ir", 0), db("chase", 0));
  EXPECT_NEAR(db("chase", 1), db("chase", 0) - 3, 0.6);  // twice the energy
  EXPECT_LT(db("ir", 1), db("chase", 1) - 0.4);          // and parity that was not sent before
}

TEST_F(tables_command, wlan_and_precoded_pusch) {
  ASSERT_EQ(run("tables wifi --mcs 0 --sizes 648 --errors 10 --to 0.2 --quiet -o w").code, 0);
  EXPECT_EQ(tables("w")["size"], std::vector<int>{324});
  EXPECT_EQ(tables("w")["modulation_order"], std::vector<int>{1});
  const std::string pusch =
      "tables nr --link pusch --transform-precoding --mcs 0 --sizes 40 --errors 10 --to 0.2 --quiet ";
  ASSERT_EQ(run(pusch + "--pi2-bpsk -o p").code, 0);
  EXPECT_EQ(tables("p")["modulation_order"], std::vector<int>{1});
  EXPECT_EQ(tables("p")["link"], std::vector<int>{0});
  EXPECT_EQ(tables("p")["transform_precoding"], std::vector<int>{1});
}

TEST_F(tables_command, transport_blocks_of_lte) {
  ASSERT_EQ(
      run("tables lte --mcs 4 --sizes 6 --harq chase --rounds 2 --errors 10 --to 0.2 --quiet -o l").code, 0);
  const auto t = tables("l");
  EXPECT_EQ(t["attributes"]["standard"], "lte");
  EXPECT_EQ(t["size"], (std::vector<int>{408, 408}));
  EXPECT_EQ(t["sent_bits"], (std::vector<int>{1728, 1728}));
  EXPECT_EQ(t["round"], (std::vector<int>{1, 2}));
  const auto snr = t["snr_db"].get<std::vector<double>>();
  const std::size_t second = t["first"][1];
  EXPECT_NEAR(snr.back(), snr[second - 1] - 3, 0.6);  // twice the energy
}

TEST_F(tables_command, exports_what_others_load) {
  ASSERT_EQ(run(small).code, 0);
  const outcome sionna = run("tables export t --format sionna");
  ASSERT_EQ(sionna.code, 0) << sionna.err;
  EXPECT_TRUE(
      wb::testing::parse_json(sionna.out)["category"]["1"]["index"]["1"]["MCS"]["9"]["CBS"].contains("48"));
  ASSERT_EQ(run("tables export t/tables.json --format 5g-lena -o lena.h").code, 0);
  EXPECT_NE(content(path("lena.h")).find("BlerForSinr1"), std::string::npos);
  EXPECT_NE(run("tables export t --format csv").out.find("\n1,0,1,9,2,48,"), std::string::npos);
  expect_error(1, "tables export t --format oai", "there is none of this one");
  expect_error(1, "tables export t --format 5g-lena --mcs-table 2", "mcs_table");
  expect_error(1, "tables export t/tables.json --format csv -o t/tables.json", "t/tables.json");
#if WARPBAND_HDF5
  ASSERT_EQ(run("tables export t --format hdf5 -o t.h5").code, 0);
  EXPECT_TRUE(std::filesystem::exists(path("t.h5")));
  EXPECT_TRUE(std::filesystem::exists(path("t/tables.h5")));
#endif
}

TEST_F(tables_command, what_is_not_allowed_is_named) {
  expect_error(2, "tables", "expected nr, lte, wifi or export");
  expect_error(2, "tables nr --mcs 3", "-o DIR");
  expect_error(2, "tables nr --mcs 3-1 -o t", "integers and ranges");
  expect_error(2, "tables nr --mcs 29 -o t", "--mcs");
  expect_error(2, "tables nr --sizes 9000 -o t", "--sizes");
  expect_error(2, "tables nr --mcs-table 5 -o t", "--mcs-table");
  expect_error(2, "tables nr --rounds 2 -o t", "--rounds");
  expect_error(2, "tables nr --transform-precoding -o t", "--transform-precoding");
  expect_error(2, "tables nr --to 0.6 -o t", "--to");
  expect_error(2, "tables nr --iterations 0 -o t", "--iterations");
  expect_error(1, "tables export nothing --format csv", "nothing");
  EXPECT_FALSE(std::filesystem::exists(path("t")));
  ASSERT_EQ(run(small).code, 0);
  expect_error(1, "tables nr --mcs 9 --sizes 48 --iterations 9 -o t", "another folder");
  write("t/tables.json", "{}");
  expect_error(1, small, "not a file of tables");
}

}  // namespace tables_command_test
