// Base matrices from files: what is read, and why what is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include <tests/on_backends.hpp>
#include <tests/scratch.hpp>
#include <warpband/fec/ldpc/ldpc_file.hpp>

namespace wb {
namespace ldpc_file_test {

/// The alist of H, with the short lists filled up or not.
std::string alist_of(const std::vector<std::vector<int>>& h, bool filled) {
  const std::size_t m = h.size(), n = h[0].size();
  std::vector<std::vector<std::size_t>> columns(n), rows(m);
  for (std::size_t r = 0; r < m; r++)
    for (std::size_t c = 0; c < n; c++)
      if (h[r][c] != 0) columns[c].push_back(r + 1), rows[r].push_back(c + 1);
  std::size_t max_degrees[2] = {0, 0};
  for (const auto& c : columns) max_degrees[0] = std::max(max_degrees[0], c.size());
  for (const auto& r : rows) max_degrees[1] = std::max(max_degrees[1], r.size());
  std::ostringstream out;
  out << n << ' ' << m << '\n' << max_degrees[0] << ' ' << max_degrees[1] << " \n";
  for (const auto& c : columns) out << c.size() << ' ';
  out << "\r\n";
  for (const auto& r : rows) out << r.size() << ' ';
  out << '\n';
  for (const auto* lists : {&columns, &rows})
    for (auto list : *lists) {
      if (filled) list.resize(max_degrees[lists == &rows ? 1 : 0]);
      for (const std::size_t x : list) out << x << ' ';
      out << '\n';
    }
  return out.str();
}
/// H of shifts, block by block as ldpc_code.hpp says.
std::vector<std::vector<int>> expanded(const std::vector<std::vector<int>>& shifts, int z) {
  const std::size_t lift = static_cast<std::size_t>(z);
  std::vector<std::vector<int>> h(shifts.size() * lift, std::vector<int>(shifts[0].size() * lift));
  for (std::size_t i = 0; i < shifts.size(); i++)
    for (std::size_t j = 0; j < shifts[i].size(); j++)
      for (std::size_t r = 0; r < lift && shifts[i][j] >= 0; r++)
        h[i * lift + r][j * lift + (r + static_cast<std::size_t>(shifts[i][j])) % lift] = 1;
  return h;
}
std::vector<std::vector<int>> shifts_of(const ldpc_code& c) {
  std::vector<std::vector<int>> shifts(static_cast<std::size_t>(c.rows()));
  for (int i = 0; i < c.rows(); i++)
    for (int j = 0; j < c.columns(); j++) shifts[static_cast<std::size_t>(i)].push_back(c.shift(i, j));
  return shifts;
}

const std::vector<std::vector<int>> small{{1, 4, 2, 0, -1}, {0, 3, -1, 2, 0}};

TEST(ldpc_file, lists_of_shifts_are_read) {
  for (const std::string text :
       {"# z = 5\n1,4,2,0,-1\n0,3,-1,2,0\n", "1 4 2 0 -\n0 3 - 2 0 # of the standard, Z: 5\n",
        "1; 4; 2; 0; \r\n\r\n0; 3; ; 2; 0 \r\n# for z=5",
        "\t1,4,2,0,\n0,3,-,2,0\n#a comment\n#z = 5 (prime)"}) {
    const ldpc_code code = parse_ldpc_code(text, "m.csv");
    EXPECT_EQ(code.z(), 5) << text;
    EXPECT_EQ(shifts_of(code), small) << text;
  }
  EXPECT_EQ(parse_ldpc_code("1,4,2,0,-1\n0,3,-1,2,0\n", "m.csv", 7).z(), 7);
  EXPECT_EQ(parse_ldpc_code("# z = 5\n1,4,2,0,-1\n0,3,-1,2,0\n", "m.csv", 5).n(), 25);
}

TEST(ldpc_file, blocks_of_alists_are_found) {
  const ldpc_code wifi = wifi_ldpc(648, wifi_rate::r1_2), wimax = wimax_ldpc(576, wimax_rate::r2_3a);
  for (const bool filled : {true, false}) {
    for (const ldpc_code* code : {&wifi, &wimax}) {
      const ldpc_code got =
          parse_ldpc_code(alist_of(expanded(shifts_of(*code), code->z()), filled), "m.alist");
      EXPECT_EQ(got.z(), code->z());
      EXPECT_EQ(shifts_of(got), shifts_of(*code));
    }
    const ldpc_code got = parse_ldpc_code(alist_of(expanded(small, 5), filled), "m.alist");
    EXPECT_EQ(got.z(), 5);
    EXPECT_EQ(shifts_of(got), small);
  }
  // With a divisor of its z a code is quasi-cyclic too: the largest is taken unless another is asked for.
  const std::string text = alist_of(expanded({{1, 4, 2, 0, -1}, {0, 3, -1, 2, 0}}, 6), true);
  EXPECT_EQ(parse_ldpc_code(text, "m.alist").z(), 6);
  EXPECT_EQ(parse_ldpc_code(text, "m.alist", 6).rows(), 2);
}

/// Why a text is refused, behind "m: no base matrix: ".
std::string reason(const std::string& text, int z = 0) {
  try {
    (void)parse_ldpc_code(text, "m", z);
  } catch (const file_error& e) {
    const std::string message = e.what(), begin = "m: no base matrix: ";
    EXPECT_EQ(e.path(), "m");
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_TRUE(message.starts_with(begin)) << message;
    return message.substr(std::min(begin.size(), message.size()));
  }
  ADD_FAILURE() << "not refused: " << text.substr(0, 200);
  return "";
}
#define EXPECT_REASON(part, ...) \
  EXPECT_NE(reason(__VA_ARGS__).find(part), std::string::npos) << reason(__VA_ARGS__)

TEST(ldpc_file, lists_that_are_no_base_matrix_are_named) {
  EXPECT_REASON("it has no rows", "");
  EXPECT_REASON("it has no rows", "# z = 4\n\n");
  EXPECT_REASON("it does not say its lifting size", "1,0,0\n");
  EXPECT_REASON("line 2: says z = 6, an earlier line 5", "# z = 5\n1,0,0 # z = 6\n");
  EXPECT_REASON("it says z = 5, but lifting size 6 is asked for", "# z = 5\n1,0,0\n", 6);
  EXPECT_REASON("lifting size 5000: expected 1 to 4096", "1,0,0\n", 5000);
  EXPECT_REASON("lifting size -1: expected 1 to 4096", "1,0,0\n", -1);
  EXPECT_REASON("line 2: 2 shifts, but 3 in the row before", "1,0,0\n1,0\n", 4);
  EXPECT_REASON("line 1: \"a\" in column 1 is no shift", "1,a,0\n", 4);
  EXPECT_REASON("line 1: \"1.5\" in column 0 is no shift", "1.5,0,0\n", 4);
  EXPECT_REASON("line 1: \"99999999999\" in column 2 is no shift", "1,0,99999999999\n", 4);
  EXPECT_REASON("one with shift 4 in row 0, column 1", "1,4,0\n", 4);
  EXPECT_REASON("one with shift -2 in row 0, column 0", "-2,3,0\n", 4);
  EXPECT_REASON("one with 1 blocks in row 0", "-1,-1,0\n", 4);
  EXPECT_REASON("one without a block in column 1", "1,-1,0\n", 4);
  EXPECT_REASON("2 is not allowed as its matrix.columns", "1,0\n0,1\n", 4);
  std::string dense;  // a core of 4 columns leaves a row two unknowns
  for (int i = 0; i < 6; i++) dense += "0,1,2,3,0,1,2,3\n";
  EXPECT_REASON("a parity part that is not triangular at row 0", dense, 4);
  EXPECT_REASON("a singular core", "0,0,-1,-1\n0,-1,0,0\n", 4);
  EXPECT_REASON("a singular core", "0,0,0,0\n0,1,0,0\n", 4);
  EXPECT_REASON("is no shift", std::string("\0\1\2,3", 5), 4);
  EXPECT_THROW((void)read_ldpc_code("/nowhere/m.csv"), file_error);
  EXPECT_THROW((void)read_ldpc_code("/"), file_error);
}

TEST(ldpc_file, alists_that_are_no_base_matrix_are_named) {
  const auto good = expanded(small, 5);
  const std::string text = alist_of(good, true);
  const auto with = [&](std::size_t row, std::size_t column) {
    auto h = good;
    h[row][column] ^= 1;
    return alist_of(h, true);
  };
  EXPECT_REASON(
      "it is not quasi-cyclic with any lifting size above 1: with z = 5 the block in row 0, column 0 has "
      "several ones in a row",
      with(0, 4));
  EXPECT_REASON("with z = 5 the block in row 1, column 1 is no rotated identity", with(7, 5));
  EXPECT_REASON("the block in row 0, column 4 is no rotated identity", with(3, 22));
  EXPECT_REASON("lifting size 3 does not divide n = 25 and m = 10", text, 3);
  EXPECT_REASON("one without a block", alist_of(expanded({{0, 1, -1, 0}}, 5), true));
  EXPECT_REASON("as none that divides n = 3 and m = 2", alist_of({{1, 1, 0}, {0, 1, 1}}, true));
  // The list itself.
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    other.replace(other.find(from), from.size(), to);
    return other;
  };
  EXPECT_REASON("it ends before row 9", text.substr(0, text.rfind('\n', text.size() - 2) + 1));
  EXPECT_REASON("more than the list should hold", text + "1 2\n");
  EXPECT_REASON("line 1: n and m: expected two numbers", changed("25 10", "10 10"));
  EXPECT_REASON("ones of 24 columns: expected 25", changed("2 2 2", "2 2"));
  EXPECT_REASON("a column of 3 ones: expected 0 to 2", changed("2 2 2", "3 2 2"));
  EXPECT_REASON("column 0 has 2 ones, but 1 are announced", changed("2 2 2", "1 2 2"));
  EXPECT_REASON("11 is no place of a one: expected 1 to 10", changed("\n5 6", "\n5 11"));
  EXPECT_REASON("column 0 has a one twice", changed("\n5 6", "\n5 5"));
  EXPECT_REASON("the lists of columns and of rows differ in row", changed("\n5 6", "\n5 7"));
  EXPECT_REASON("\"x\" is no integer", changed("\n5 6", "\n5 x"));
}

TEST(ldpc_file, is_read_from_a_folder) {
  const testing::scratch_folder folder;
  const std::string path = folder.path("m.csv");
  std::ofstream(path) << "# z = 5\n1,4,2,0,-1\n0,3,-1,2,0\n";
  EXPECT_EQ(shifts_of(read_ldpc_code(path)), small);
}

}  // namespace ldpc_file_test
}  // namespace wb

#undef EXPECT_REASON
