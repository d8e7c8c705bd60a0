// Matrices of CCSDS and DVB-S2: codewords and facts of the reference data, and what must hold without it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include <tests/scratch.hpp>
#include <tests/sparse_ldpc.hpp>
#include <warpband/core/status.hpp>
#include <warpband/fec/sparse_ldpc/standard_matrix.hpp>

namespace wb {
namespace standard_matrix_test {

using namespace testing;

class standard_matrix : public on_backend {};
WB_ON_ALL_BACKENDS(standard_matrix);

bytes encoded(executor& exec, const parity_check_matrix& h, const bytes& bits) {
  const auto k = static_cast<std::size_t>(h.k());
  const auto in = on_device(exec, bits, bits.size() / k, k);
  auto out = exec.make<std::uint8_t>(bits.size() / k, static_cast<std::size_t>(h.sent()));
  sparse_ldpc_encoder(h).run(exec, in, out);
  return exec.to_host(out);
}
/// Of all columns but shortened ones.
parity_check_matrix unpunctured(const parity_check_matrix& h) { return h.with({.shortened = h.shortened()}); }

/// Our name of "ar4ja_1_2_k1024", "c2_8176_7154" or "tc_128_64".
std::string ccsds_name(const std::string& code) {
  if (code.starts_with("ar4ja"))
    return "ccsds/ar4ja-" + code.substr(11) + "-" + code.substr(6, 1) + "/" + code.substr(8, 1);
  if (code.starts_with("c2")) return "ccsds/c2-" + code.substr(3, 4);
  return "ccsds/tc-" + code.substr(3, 3);
}
/// Our name of "s2x_normal_154_180".
std::string dvb_s2_name(const std::string& code) {
  const dvb_s2_frame f = dvb_s2_frame_of(code);
  return "dvb-s2/" + f.size + "-" + f.rate;
}

TEST_P(standard_matrix, codewords_of_ccsds_are_those_of_the_reference_data) {
  const auto vectors = satellite_json("ccsds/ccsds_vectors.json");
  SATELLITE_SKIP_WITHOUT(vectors);
  std::map<std::string, std::pair<bytes, bytes>> words;  // of each code, one after the other
  for (const auto& row : vectors["rows"]) {
    const bytes info = bits_of_hex(row["info_hex"], row["info_bits"]),
                word = bits_of_hex(row["codeword_hex"], row["codeword_bits"]);
    auto& of_code = words[row["code"]];
    of_code.first.insert(of_code.first.end(), info.begin(), info.end());
    of_code.second.insert(of_code.second.end(), word.begin(), word.end());
  }
  EXPECT_EQ(vectors["rows"].size(), 23u);
  EXPECT_EQ(words.size(), 14u);
  for (const auto& [code, w] : words) {
    if (code.ends_with("k16384") && small_scale()) continue;  // a second each
    const parity_check_matrix h = standard_parity_check_matrix(ccsds_name(code)), whole = unpunctured(h);
    ASSERT_EQ(w.first.size() % static_cast<std::size_t>(h.k()), 0u) << code;
    const std::size_t items = w.first.size() / static_cast<std::size_t>(h.k()),
                      columns = static_cast<std::size_t>(whole.sent()),
                      sent = static_cast<std::size_t>(h.sent());
    EXPECT_TRUE(encoded(exec(), whole, w.first) == w.second) << code;
    if (code.ends_with("k16384")) continue;
    const bytes coded = encoded(exec(), h, w.first);
    for (std::size_t i = 0; i < items; i++)
      for (std::size_t j = 0; j < sent; j++)
        ASSERT_EQ(coded[i * sent + j], w.second[i * columns + j]) << code;
  }
}

TEST_P(standard_matrix, codewords_of_dvb_s2_are_those_of_the_reference_data) {
  const auto vectors = satellite_json("dvb_s2/dvb_s2_vectors.json");
  SATELLITE_SKIP_WITHOUT(vectors);
  int compared = 0;
  for (const auto& row : vectors["rows"]) {
    const std::string code = row["code"];
    // One of the normal frames is enough under a sanitizer.
    if (small_scale() && dvb_s2_frame_of(code).n == 64800 && code != "s2x_normal_154_180") continue;
    const parity_check_matrix h = standard_parity_check_matrix(dvb_s2_name(code));
    const std::size_t k = row["bch_info_bits"];
    bytes word = bits_of_hex(row["bch_info_hex"], k);
    const bytes outer = bits_of_hex(row["bch_parity_hex"], static_cast<std::size_t>(h.k()) - k),
                parity = bits_of_hex(row["ldpc_parity_hex"], row["ldpc_parity_bits"]);
    word.insert(word.end(), outer.begin(), outer.end());
    const bytes info = word;
    word.insert(word.end(), parity.begin(), parity.end());
    EXPECT_EQ(encoded(exec(), h, info), word) << code;
    compared++;
  }
  EXPECT_EQ(compared, small_scale() ? 7 : 11);
}

TEST(standard_matrices, facts_of_the_reference_data) {
  const auto facts = satellite_json("ccsds/ccsds_facts.json"), codes = satellite_json("dvb_s2/codes.json");
  SATELLITE_SKIP_WITHOUT(facts);
  for (const auto& fact : facts["codes"]) {
    // Elimination takes a second each.
    if (fact["k"] == 16384 && small_scale()) continue;
    const parity_check_matrix h = standard_parity_check_matrix(ccsds_name(fact["name"]));
    EXPECT_EQ(h.n(), fact["n_all"]) << fact["name"];
    EXPECT_EQ(h.checks(), fact["checks"]) << fact["name"];
    EXPECT_EQ(h.ones(), fact["edges"]) << fact["name"];
  }
  std::set<std::string> names;
  for (const auto& fact : codes) {
    const std::string name = dvb_s2_name(fact["name"]);
    names.insert(name);
    const auto found = std::find_if(dvb_s2_codes().begin(), dvb_s2_codes().end(),
                                    [&](const dvb_s2_code& c) { return "dvb-s2/" + c.name == name; });
    ASSERT_NE(found, dvb_s2_codes().end()) << name;
    EXPECT_EQ(found->n, fact["n"]);
    EXPECT_EQ(found->k, fact["k"]);
    EXPECT_EQ(found->corrects, fact["bch_t"]);
    if (found->n == 64800 && small_scale()) continue;
    const parity_check_matrix h = standard_parity_check_matrix(name);
    EXPECT_EQ(h.ones(), fact["ones_in_H"]) << name;
    EXPECT_EQ(h.k(), fact["k"]) << name;
    std::set<std::size_t> weights;  // of information bits in a check: the first check lacks a parity bit
    for (const auto& row : h.rows())
      weights.insert(row.size() - static_cast<std::size_t>(std::count_if(row.begin(), row.end(),
                                                                         [&](int c) { return c >= h.k(); })));
    EXPECT_EQ(std::vector<std::size_t>(weights.begin(), weights.end()),
              fact["check_info_degrees"].get<std::vector<std::size_t>>())
        << name;
  }
  EXPECT_EQ(names.size(), dvb_s2_codes().size());
}

TEST_P(standard_matrix, codewords_are_systematic_and_satisfy_h) {
  for (const char* name : {"ccsds/ar4ja-1024-1/2", "ccsds/ar4ja-1024-4/5", "ccsds/c2-8176", "ccsds/c2-8160",
                           "ccsds/tc-128", "dvb-s2/short-1/2", "dvb-s2/short-32/45"}) {
    const parity_check_matrix h = standard_parity_check_matrix(name), whole = unpunctured(h);
    const auto k = static_cast<std::size_t>(h.k()), n = static_cast<std::size_t>(whole.sent());
    const int first = static_cast<int>(h.shortened().size());
    for (int i = 0; i < h.k(); i++)
      ASSERT_EQ(h.information_columns()[static_cast<std::size_t>(i)], first + i);
    const std::size_t items = 3;
    std::mt19937_64 random(7);
    const bytes bits = random_bits(items * k, random), coded = encoded(exec(), whole, bits);
    for (std::size_t i = 0; i < items; i++) {
      bytes word(static_cast<std::size_t>(first));
      const auto from = coded.begin() + static_cast<std::ptrdiff_t>(i * n);
      word.insert(word.end(), from, from + static_cast<std::ptrdiff_t>(n));
      EXPECT_EQ(oracle::syndrome(as_oracle(h), word), bytes(static_cast<std::size_t>(h.checks()))) << name;
      EXPECT_TRUE(std::equal(from, from + h.k(), bits.begin() + static_cast<std::ptrdiff_t>(i * k))) << name;
    }
  }
}

TEST_P(standard_matrix, noise_is_decoded) {
  // Es/N0 about 1.5 dB above the waterfall of each code.
  const std::map<std::string, double> codes{{"ccsds/ar4ja-1024-1/2", 0.},
                                            {"ccsds/ar4ja-1024-4/5", 4.},
                                            {"ccsds/c2-8160", 5.},
                                            {"ccsds/tc-256", 3.},
                                            {"dvb-s2/short-3/4", 3.}};
  std::mt19937_64 random(3);
  for (const auto& [name, snr_db] : codes) {
    const parity_check_matrix h = standard_parity_check_matrix(name);
    const auto k = static_cast<std::size_t>(h.k()), sent = static_cast<std::size_t>(h.sent());
    const std::size_t items = 4;
    const bytes bits = random_bits(items * k, random), coded = encoded(exec(), h, bits);
    const double n0 = std::pow(10., -snr_db / 10);
    std::normal_distribution<double> noise(0, std::sqrt(n0 / 2));
    std::vector<float> llr;
    for (const auto b : coded)
      llr.push_back(static_cast<float>(4 / n0 * ((b != 0 ? -1. : 1.) + noise(random))));
    const sparse_decoded got = decode_sparse(exec(), sparse_ldpc_decoder(h, {.iterations = 50}), llr);
    for (std::size_t i = 0; i < items; i++) {
      EXPECT_EQ(got.status[i], status_stopped) << name;
      for (std::size_t j = 0; j < k; j++)
        ASSERT_EQ(got.bits[i * static_cast<std::size_t>(h.n()) +
                           static_cast<std::size_t>(h.information_columns()[j])],
                  bits[i * k + j])
            << name << " bit " << j;
    }
    EXPECT_EQ(llr.size(), items * sent);
  }
}

/// A point of a curve of another program: its frames and how many of them were wrong.
struct curve_point {
  double frames = 0, errors = 0;
};
curve_point point_of(const std::string& curve, const std::string& ebn0_db) {
  std::ifstream in(satellite_folder + "curves/" + curve + ".csv");
  curve_point point;
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> columns;
    std::istringstream text(line);
    for (std::string column; std::getline(text, column, ',');) columns.push_back(column);
    if (columns.size() == 7 && columns[1] == ebn0_db)
      point = {static_cast<double>(std::stoll(columns[4])), static_cast<double>(std::stoll(columns[6]))};
  }
  return point;
}

TEST(standard_matrices, frame_error_rates_are_those_of_another_program) {
  cpu exec;  // the other backends give the same bits
  using enum ldpc_algorithm;
  using enum ldpc_schedule;
  struct published {
    const char *matrix, *curve, *ebn0_db;
    ldpc_algorithm algorithm;
    ldpc_schedule schedule;
    int iterations;
    std::size_t frames;
  };
  const published points[] = {
      {"dvb-s2/short-8/9", "ldpc_n16200_k14400_hlayered_nms_i10_dvb_s2", "3.80", normalised_min_sum, layered,
       10, 448},
      {"dvb-s2/short-3/4", "ldpc_n16200_k11880_hlayered_nms_i05_dvb_s2", "3.10", normalised_min_sum, layered,
       5, 320},
      {"dvb-s2/short-5/6", "ldpc_n16200_k13320_flooding_spa_i10_dvb_s2", "3.40", sum_product, flooding, 10,
       320},
      {"ccsds/tc-128", "ldpc_n128_k64_hlayered_spa_i50_ccsds", "3.00", sum_product, layered, 50, 4096}};
  std::mt19937_64 random(5);
  for (const published& p : points) {
    const curve_point theirs = point_of(p.curve, p.ebn0_db);
    if (theirs.frames == 0) GTEST_SKIP() << "no curve '" << p.curve << "' in '" << satellite_folder << "'";
    const parity_check_matrix h = standard_parity_check_matrix(p.matrix);
    const auto k = static_cast<std::size_t>(h.k()), sent = static_cast<std::size_t>(h.sent());
    const std::size_t batch = 64;
    // BPSK in real noise: Es/N0 = Eb/N0 times the rate.
    const double esn0 = std::pow(10., std::stoi(p.ebn0_db) / 10. + (std::string(p.ebn0_db)[2] - '0') / 100.) *
                        static_cast<double>(k) / static_cast<double>(sent);
    std::normal_distribution<double> noise(0, std::sqrt(1 / (2 * esn0)));
    const sparse_ldpc_encoder encoder(h);
    const sparse_ldpc_decoder decoder(
        h, {.algorithm = p.algorithm, .iterations = p.iterations, .schedule = p.schedule});
    double errors = 0;
    for (std::size_t frame = 0; frame < p.frames; frame += batch) {
      const bytes bits = random_bits(batch * k, random);
      const auto in = on_device(exec, bits, batch, k);
      auto coded = exec.make<std::uint8_t>(batch, sent), decided = exec.make<std::uint8_t>(batch, k);
      encoder.run(exec, in, coded);
      std::vector<float> llr;
      for (const auto b : exec.to_host(coded))
        llr.push_back(static_cast<float>(4 * esn0 * ((b != 0 ? -1. : 1.) + noise(random))));
      const auto received = on_device(exec, llr, batch, sent);
      decoder.run(exec, received, {.bits = decided});
      const bytes found = exec.to_host(decided);
      for (std::size_t i = 0; i < batch; i++) errors += row_of(found, i, k) != row_of(bits, i, k);
    }
    const double frames = static_cast<double>(p.frames),
                 rate = (errors + theirs.errors) / (frames + theirs.frames),
                 sigma = std::sqrt(rate * (1 - rate) * (1 / frames + 1 / theirs.frames));
    EXPECT_NEAR(errors / frames, theirs.errors / theirs.frames, 4 * sigma) << p.matrix;
    EXPECT_GT(errors, 0) << p.matrix;
  }
}

/// Rows of z x z circulants with two ones, or none.
std::vector<std::vector<int>> circulants(int block_rows, int block_columns, int z, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<int>> rows(static_cast<std::size_t>(block_rows * z));
  for (int r = 0; r < block_rows; r++)
    for (int c = 0; c < block_columns; c++)
      for (std::uint64_t ones = random() % 4, first = random(); ones > 0; ones--, first += 1 + random() % 9)
        for (int i = 0; i < z; i++) {
          auto& row = rows[static_cast<std::size_t>(r * z + i)];
          const int column = c * z + (static_cast<int>(first % static_cast<std::uint64_t>(z)) + i) % z;
          if (std::find(row.begin(), row.end(), column) == row.end()) row.push_back(column);
        }
  return rows;
}

TEST(standard_matrices, circulants_are_eliminated_as_bits_are) {
  cpu exec({.threads = 1});
  int polynomials = 0;
  for (std::uint64_t seed = 1; seed < 30; seed++) {
    const int z = seed % 3 == 0 ? 128 : 64, block_rows = 2 + static_cast<int>(seed % 4),
              block_columns = block_rows + 1 + static_cast<int>(seed % 3);
    auto rows = circulants(block_rows, block_columns, z, seed);
    if (seed % 5 == 0) std::copy(rows.begin(), rows.begin() + z, rows.end() - z);  // dependent rows
    const int n = block_columns * z;
    // A row of the encoder, even an empty one, leaves elimination to packed bits.
    const parity_check_matrix h(n, rows), by_bits(n, rows, {}, {{}});
    ASSERT_EQ(h.rank(), by_bits.rank()) << seed;
    ASSERT_EQ(h.information_columns(), by_bits.information_columns()) << seed;
    if (h.k() == 0) continue;
    std::mt19937_64 random(seed);
    const bytes bits = random_bits(static_cast<std::size_t>(h.k()), random), word = encoded(exec, h, bits);
    EXPECT_EQ(word, encoded(exec, by_bits, bits)) << seed;
    EXPECT_EQ(oracle::syndrome(as_oracle(h), word), bytes(static_cast<std::size_t>(h.checks()))) << seed;
    // Polynomials find the pivots of a block in another order.
    polynomials += h.parity_columns() != by_bits.parity_columns();
  }
  EXPECT_GE(polynomials, 8);
}

TEST(standard_matrices, rows_of_the_encoder_do_not_reach_the_decoder) {
  const parity_check_matrix h(6, {{0, 1, 2, 3}}, {}, {{3, 4}, {0, 5}});
  EXPECT_EQ(h.checks(), 1);
  EXPECT_EQ(h.rank(), 1);
  EXPECT_EQ(h.parity_columns().size(), 3u);
  EXPECT_EQ(h.k(), 3);
  EXPECT_EQ(h.encoder_rows().size(), 2u);
  EXPECT_EQ(h.with({}).k(), 3);
  cpu exec({.threads = 1});
  const bytes word = encoded(exec, h, {1, 1, 1});
  EXPECT_EQ(word[0] ^ word[1] ^ word[2] ^ word[3], 0);
  EXPECT_EQ(word[3], word[4]);
  EXPECT_EQ(word[0], word[5]);
  // The decoder takes a word that violates only the encoder's rows.
  const sparse_decoded got = decode_sparse(exec, sparse_ldpc_decoder(h), {5, 5, 5, 5, -5, 5});
  EXPECT_EQ(got.status[0], status_stopped);
  EXPECT_EQ(got.bits[4], 1);
  EXPECT_EQ(blamed([] { parity_check_matrix(3, {{0, 1}}, {}, {{1, 1}}); }), "encoder_rows");
  EXPECT_EQ(blamed([] { parity_check_matrix(3, {{0, 1}}, {}, {{3}}); }), "encoder_rows");
}

TEST(standard_matrices, a_name_comes_before_a_file) {
  const scratch_folder scratch;
  const std::string folder = scratch.path();
  std::filesystem::create_directory(scratch.path("ccsds"));
  for (const char* name : {"ccsds/tc-128", "ccsds/own"})
    scratch.write(name, "3 1\n1 3\n1 1 1\n3\n1\n1\n1\n1 2 3\n");
  EXPECT_EQ(parity_check_matrix_of("ccsds/tc-128", folder).n(), 128);
  EXPECT_EQ(parity_check_matrix_of("./ccsds/tc-128", folder).n(), 3);
  EXPECT_EQ(parity_check_matrix_of("ccsds/own", folder).n(), 3);
}

TEST(standard_matrices, unknown_names_are_refused) {
  for (const char* name :
       {"ccsds/ar4ja-1024-1/3", "dvb-s2/normal-1/7", "ccsds/", "dvb-s2/large-1/2", "wimax"})
    EXPECT_EQ(blamed([&] { (void)standard_parity_check_matrix(name); }), "matrix") << name;
  EXPECT_EQ(blamed([] { (void)parity_check_matrix_of("dvb-s2/short-9/10"); }), "matrix");
  try {
    (void)standard_parity_check_matrix("ccsds/tc-64");
    FAIL();
  } catch (const argument_error& e) {
    EXPECT_NE(std::string(e.what()).find("ccsds/tc-128"), std::string::npos) << e.what();
  }
  for (const char* name : {"ccsds/", "dvb-s2/x", "wimax"}) try {
      (void)standard_parity_check_matrix(name);
      FAIL() << name;
    } catch (const argument_error& e) {
      EXPECT_LT(std::string(e.what()).size(), 150u) << e.what();  // not all names
    }
  // A path that no system takes is no file either.
  EXPECT_EQ(blamed([] { (void)parity_check_matrix_of("ccsds/" + std::string(5000, 'a')); }), "matrix");
  EXPECT_EQ(standard_matrix_names().size(), 14u + 55u);
  EXPECT_EQ(std::set<std::string>(standard_matrix_names().begin(), standard_matrix_names().end()).size(),
            69u);
}

}  // namespace standard_matrix_test
}  // namespace wb
