// Parity-check matrices of files, their rank and information columns, and the encoder: against H itself, a
// dense elimination of the oracle, and the reference data.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include <tests/sparse_ldpc.hpp>

namespace wb {
namespace parity_check_matrix_test {

using namespace testing;

class sparse_ldpc_encode : public on_backend {};
WB_ON_ALL_BACKENDS(sparse_ldpc_encode);

const std::string k4 =
    "6 4\n2 3\n2 2 2 2 2 2\n3 3 3 3\n1 2\n1 3\n1 4\n2 3\n2 4\n3 4\n1 2 3\n1 4 5\n2 4 6\n3 5 6\n";
using row_lists = std::vector<std::vector<int>>;
const row_lists k4_rows{{0, 1, 2}, {0, 3, 4}, {1, 3, 5}, {2, 4, 5}};

parity_check_matrix parsed(const std::string& text) { return parse_parity_check_matrix(text, "h.alist"); }
/// The message about a text; "" where it is read.
std::string refusal(const std::string& text) {
  try {
    (void)parsed(text);
  } catch (const file_error& e) {
    return e.what();
  }
  return "";
}
std::string replaced(std::string text, const std::string& old, const std::string& with) {
  text.replace(text.find(old), old.size(), with);
  return text;
}

TEST(parity_check_matrix, alists_are_read_with_their_quirks) {
  EXPECT_EQ(parsed(k4).rows(), k4_rows);
  EXPECT_EQ(parsed(k4.substr(0, k4.find("1 2 3\n"))).rows(), k4_rows) << "without lists of rows";
  EXPECT_EQ(parsed("# n m\r\n" + replaced(replaced(k4, "1 2\n", "1 2 0 \r\n"), "4 5\n", "5\t4 # any order\n"))
                .rows(),
            k4_rows);
  EXPECT_EQ(parsed("4 2\n1 3\n1 1 0 1\n3 0\n1\n1\n1\n1 2 4\n").rows(), (row_lists{{0, 1, 3}, {}}))
      << "an empty column without a list, and an empty row without one";
  EXPECT_EQ(parsed("4 2\n1 3\n1 1 0 1\n3 0\n1\n1\n0\n1\n1 2 4\n0 0 0\n").rows(), (row_lists{{0, 1, 3}, {}}));
}

TEST(parity_check_matrix, what_is_no_alist_is_refused_with_its_line) {
  EXPECT_EQ(refusal(replaced(k4, "2 4 6", "2 4 7")),
            "h.alist: no parity-check matrix: line 13: 7 is no place of a one: expected 1 to 6");
  EXPECT_EQ(refusal(replaced(k4, "1 4 5", "1 x 5")),
            "h.alist: no parity-check matrix: line 12: \"x\" is no integer");
  EXPECT_EQ(refusal(replaced(k4, "1 4 5", "1 4 4")),
            "h.alist: no parity-check matrix: line 12: row 1 has a one twice");
  EXPECT_EQ(refusal(replaced(k4, "2 4 6", "2 4 5")),
            "h.alist: no parity-check matrix: the lists of columns and of rows differ in row 2 of H");
  EXPECT_EQ(refusal(""), "h.alist: no parity-check matrix: it ends before n and m");
  EXPECT_NE(refusal("1000000 1000000\n3 6\n"), "");
}

TEST(parity_check_matrix, files_of_base_matrices_are_lifted) {
  const parity_check_matrix h = parsed("3 2 4\n\n0 1 -1\n2 -1 3\n\n1 0 1\n");
  ASSERT_EQ(h.n(), 12);
  EXPECT_EQ(h.rows()[0], (std::vector<int>{0, 5}));
  EXPECT_EQ(h.rows()[3], (std::vector<int>{3, 4}));
  EXPECT_EQ(h.rows()[5], (std::vector<int>{3, 8}));
  EXPECT_EQ(h.punctured(), (std::vector<int>{4, 5, 6, 7}));
  EXPECT_EQ(refusal("3 2 4\n0 1 -1\n2 -1 4\n"),
            "h.alist: no parity-check matrix: line 3: shift 4: expected -1 to 3");
}

TEST(parity_check_matrix, the_files_of_the_reference_data) {
  ANY_H_SKIP_WITHOUT(any_h_json("matrices.json"));
  int good = 0, bad = 0;
  for (const auto& file : std::filesystem::directory_iterator(any_h_folder + "bad")) {
    const std::string name = file.path().filename().string();
    if (name.starts_with("ok_")) {
      EXPECT_EQ(read_parity_check_matrix(file.path().string()).rows(), k4_rows) << name;
      good++;
    } else if (name.starts_with("bad_")) {
      EXPECT_THROW((void)read_parity_check_matrix(file.path().string()), file_error) << name;
      bad++;
    }
  }
  EXPECT_EQ(good, 5);
  EXPECT_EQ(bad, 10);
}

TEST(parity_check_matrix, wrong_arguments_are_named) {
  EXPECT_EQ(blamed([] { parity_check_matrix(0, {{}}); }), "n");
  EXPECT_EQ(blamed([] { parity_check_matrix(4, {}); }), "rows");
  EXPECT_EQ(blamed([] { parity_check_matrix(4, {{0, 4}}); }), "rows");
  EXPECT_EQ(blamed([] { parity_check_matrix(4, {{1, 0, 1}}); }), "rows");
  EXPECT_EQ(blamed([] { parity_check_matrix(4, {{0, 1}}, {.punctured = {4}}); }), "punctured");
  EXPECT_EQ(blamed([] { parity_check_matrix(4, {{0, 1}}, {.punctured = {1}, .shortened = {1}}); }),
            "shortened");
  EXPECT_EQ(blamed([] { parity_check_matrix(2, {{0, 1}}, {.punctured = {0, 1}}); }), "punctured");
}

/// The rank of a matrix by textbook elimination on rows of bits.
int dense_rank(const parity_check_matrix& h, const std::vector<int>& left_out = {}) {
  std::vector<std::vector<char>> m;
  for (const auto& row : h.rows()) {
    m.emplace_back(static_cast<std::size_t>(h.n()));
    for (const int c : row)
      if (std::find(left_out.begin(), left_out.end(), c) == left_out.end())
        m.back()[static_cast<std::size_t>(c)] = 1;
  }
  std::size_t rank = 0;
  for (std::size_t c = 0; c < static_cast<std::size_t>(h.n()); c++) {
    std::size_t pivot = rank;
    while (pivot < m.size() && m[pivot][c] == 0) pivot++;
    if (pivot == m.size()) continue;
    std::swap(m[pivot], m[rank]);
    for (std::size_t i = rank + 1; i < m.size(); i++)
      if (m[i][c] != 0)
        for (std::size_t j = 0; j < m[i].size(); j++) m[i][j] = static_cast<char>(m[i][j] ^ m[rank][j]);
    if (++rank == m.size()) break;
  }
  return static_cast<int>(rank);
}

struct sample {
  std::string name;
  parity_check_matrix h;
};
std::vector<sample> samples() {
  std::vector<sample> list;
  list.push_back({"K4", {6, k4_rows}});
  for (const auto& [n, checks, weight, seed] :
       {std::array{40, 20, 5, 1}, {96, 60, 4, 2}, {130, 100, 7, 3}, {33, 25, 6, 4}})
    list.push_back(
        {"random " + std::to_string(n), random_matrix(n, checks, weight, static_cast<std::uint64_t>(seed))});
  list.push_back(
      {"unsent", random_matrix(80, 40, 5, 5, {.punctured = {0, 41, 79}, .shortened = {3, 40, 78, 5}})});
  row_lists accumulator;
  for (int i = 0; i < 50; i++) accumulator.push_back({(7 * i) % 30, (11 * i + 3) % 30, 30 + i});
  for (int i = 1; i < 50; i++) accumulator[static_cast<std::size_t>(i)].push_back(29 + i);
  for (auto& row : accumulator) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
  }
  list.push_back({"accumulator", {80, accumulator}});
  return list;
}

TEST(parity_check_matrix, rank_is_that_of_dense_elimination) {
  for (const auto& [name, h] : samples()) {
    EXPECT_EQ(h.rank(), dense_rank(h, h.shortened())) << name;
    EXPECT_EQ(h.k() + h.rank() + static_cast<int>(h.shortened().size()), h.n()) << name;
    std::set<int> columns(h.information_columns().begin(), h.information_columns().end());
    columns.insert(h.parity_columns().begin(), h.parity_columns().end());
    columns.insert(h.shortened().begin(), h.shortened().end());
    EXPECT_EQ(columns.size(), static_cast<std::size_t>(h.n())) << name;
  }
  const auto accumulator = samples().back().h;
  EXPECT_EQ(accumulator.k(), 30);
  EXPECT_EQ(accumulator.information_columns().back(), 29) << "parity comes last";
}

TEST(parity_check_matrix, facts_of_the_reference_data) {
  const auto facts = any_h_json("matrices.json");
  ANY_H_SKIP_WITHOUT(facts);
  for (const auto& fact : facts) {
    const std::string name = fact["name"];
    const parity_check_matrix h = any_h_matrix(name);
    EXPECT_EQ(h.n(), fact["n"]) << name;
    EXPECT_EQ(h.checks(), fact["checks"]) << name;
    EXPECT_EQ(h.rank(), fact["rank"]) << name;
    EXPECT_EQ(h.k(), fact["k"]) << name;
    for (const auto& s : fact["syndromes"])
      EXPECT_EQ(oracle::syndrome(as_oracle(h), bits_of_text(s["word"])), bits_of_text(s["syndrome"])) << name;
  }
}

bytes encoded(executor& exec, const parity_check_matrix& h, const bytes& bits, std::size_t width) {
  const auto k = static_cast<std::size_t>(h.k());
  const auto in = on_device(exec, bits, bits.size() / k, k);
  auto out = exec.make<std::uint8_t>(bits.size() / k, width);
  sparse_ldpc_encoder(h).run(exec, in, out);
  return exec.to_host(out);
}

TEST_P(sparse_ldpc_encode, codewords_satisfy_h_and_hold_their_bits) {
  std::vector<sample> list = samples();
  const auto facts = any_h_json("matrices.json");
  if (!facts.is_null())
    for (const auto& fact : facts) list.push_back({fact["name"], any_h_matrix(fact["name"])});
  std::mt19937_64 random(6);
  for (const auto& [name, h] : list) {
    const std::size_t items = 19, k = static_cast<std::size_t>(h.k()),
                      sent = static_cast<std::size_t>(h.sent());
    bytes bits;
    for (std::size_t i = 0; i < items * k; i++) bits.push_back(static_cast<std::uint8_t>(random()));
    const bytes coded = encoded(exec(), h, bits, sent + 2);
    // The same with the punctured bits.
    const parity_check_matrix unpunctured = h.with({.shortened = h.shortened()});
    const std::size_t n = static_cast<std::size_t>(unpunctured.sent());
    const bytes whole = encoded(exec(), unpunctured, bits, n);
    for (std::size_t i = 0; i < items; i++) {
      bytes word(static_cast<std::size_t>(h.n()));
      for (std::size_t j = 0; j < n; j++)
        word[static_cast<std::size_t>(unpunctured.sent_columns()[j])] = whole[i * n + j];
      EXPECT_EQ(oracle::syndrome(as_oracle(h), word), bytes(static_cast<std::size_t>(h.checks()))) << name;
      for (std::size_t j = 0; j < k; j++)
        EXPECT_EQ(word[static_cast<std::size_t>(h.information_columns()[j])], bits[i * k + j] & 1) << name;
      for (std::size_t j = 0; j < sent; j++)
        EXPECT_EQ(coded[i * (sent + 2) + j], word[static_cast<std::size_t>(h.sent_columns()[j])]) << name;
      EXPECT_EQ(coded[i * (sent + 2) + sent] + coded[i * (sent + 2) + sent + 1], 0) << name;
    }
  }
}

TEST_P(sparse_ldpc_encode, codewords_of_the_reference_data_come_from_their_bits) {
  const auto facts = any_h_json("matrices.json");
  ANY_H_SKIP_WITHOUT(facts);
  for (const auto& fact : facts) {
    const parity_check_matrix h = any_h_matrix(fact["name"]);
    for (const auto& text : fact["codewords"]) {
      const bytes word = bits_of_text(text);
      bytes bits;
      for (const int c : h.information_columns()) bits.push_back(word[static_cast<std::size_t>(c)]);
      EXPECT_EQ(encoded(exec(), h, bits, word.size()), word) << fact["name"];
    }
  }
}

TEST(parity_check_matrix, shapes_are_checked) {
  const sparse_ldpc_encoder e({6, k4_rows});
  cpu exec({.threads = 1});
  bytes bits(6), coded(12);
  EXPECT_EQ(blamed([&] {
              e.run(exec, make_view<const std::uint8_t>(bits.data(), 2, 2), make_view(coded.data(), 2, 6));
            }),
            "bits");
  EXPECT_EQ(blamed([&] {
              e.run(exec, make_view<const std::uint8_t>(bits.data(), 2, 3), make_view(coded.data(), 2, 5));
            }),
            "coded");
}

}  // namespace parity_check_matrix_test
}  // namespace wb
