// `warpband model` as a user meets it.
#include <gtest/gtest.h>

#include <string>

#include <tests/command.hpp>
#include <tests/json.hpp>

namespace model_test {

using wb::testing::outcome;

outcome model(const std::string& arguments) {
  return wb::testing::command_folder().run("model " + arguments);
}

TEST(model_command, prints_the_crossovers_of_fig_5_3) {
  const outcome o = model("capacity");
  EXPECT_EQ(o.code, 0) << o.err;
  for (const char* part :
       {"40 Gb/s         4.04 ms         3.96 ms", "100 Gb/s         2.19 ms         2.05 ms",
        "500 Gb/s          1.2 ms         1.04 ms"})
    EXPECT_NE(o.out.find(part), std::string::npos) << part << "\n" << o.out;
}

TEST(model_command, takes_a_precoding_time_and_a_transport) {
  const outcome o = model("capacity --transport-gbps 100 --cholesky-us 0 --cg-us 10 --json -");
  ASSERT_EQ(o.code, 0) << o.err;
  const auto result = wb::testing::parse_json(o.out);
  ASSERT_EQ(result["transports"].size(), 1u);
  const auto& transport = result["transports"][0];
  EXPECT_NEAR(transport["crossovers_ms"]["mf_cholesky"].get<double>(), 1.29, 0.005);
  EXPECT_TRUE(transport["crossovers_ms"]["cg_cholesky"].is_null());  // Cholesky is quicker here, and better
  EXPECT_EQ(transport["points"].size(), 121u);
  EXPECT_NEAR(transport["points"][120]["coherence_ms"].get<double>(), 100, 1e-9);
}

TEST(model_command, counts_operations) {
  const outcome o = model("operations --json -");
  ASSERT_EQ(o.code, 0) << o.err;
  const auto result = wb::testing::parse_json(o.out);
  ASSERT_EQ(result["configurations"].size(), 12u);
  for (const auto& c : result["configurations"]) {
    const auto& cg = c["cg"];
    // An iteration is 4 U^2 + 10 U and two divisions, of five each.
    const double users = c["users"].get<double>();
    EXPECT_NEAR(cg[5]["operations"].get<double>() - cg[4]["operations"].get<double>(),
                4 * users * users + 10 * users + 10, 1e-6);
    EXPECT_NEAR(c["gauss_seidel"][5]["solver"].get<double>() - c["gauss_seidel"][4]["solver"].get<double>(),
                4 * users * users - 2 * users, 1e-6);
    EXPECT_LT(c["neumann"][2]["operations"], c["cg"][2]["operations"]);
    EXPECT_LT(c["neumann"][2]["operations"], c["chebyshev"][2]["operations"]);
    EXPECT_GT(c["table_3_1"]["solver_reduction"], c["table_3_1"]["reduction"]);
  }
  EXPECT_EQ(model("operations --symbols 14 --qam 64").code, 0);
}

TEST(model_command, names_what_is_wrong) {
  for (const auto& [arguments, code, part] :
       {std::tuple{"", 2, "ubcommand"},
        {"capacity --users 0", 2, "--users"},
        {"capacity --users 200", 1, "users = 200"},
        {"capacity --cg-us -1", 2, "--cg-us"},
        {"capacity --cholesky-us nan", 2,
         "--cholesky-us: \"nan\" is not allowed: expected a number from 0 to 1e+09"},
        {"capacity --transport-gbps 0", 2, "--transport-gbps"},
        {"capacity --transport-gbps 1,nan", 2, "--transport-gbps: \"nan\" is not allowed"},
        {"capacity --coherence-bandwidth-khz 0", 2, "--coherence-bandwidth-khz"},
        {"operations --qam 8", 2, "--qam"},
        {"capacity --json /nowhere/x.json", 1, "/nowhere/x.json"}}) {
    const outcome o = model(arguments);
    EXPECT_EQ(o.code, code) << arguments;
    EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
  }
}

}  // namespace model_test
