#include <warpband/nr/codebook.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <warpband/core/check.hpp>

namespace wb {
namespace {

/// Rows of a matrix, a row for each port: + is 1, - is -1, j is i, J is -i.
using matrices = std::vector<std::string>;

const matrices& codebook(int ports, int layers) {
  static const matrices none, trivial{"+"},
      two_one{"+ 0", "0 +", "+ +", "+ -", "+ j", "+ J"},  // table 6.3.1.5-1
      two_two{"+0 0+", "++ +-", "++ jJ"},                 // -4
      four_one{"+ 0 0 0", "0 + 0 0", "0 0 + 0", "0 0 0 +", "+ 0 + 0", "+ 0 - 0", "+ 0 j 0",  // -3
               "+ 0 J 0", "0 + 0 +", "0 + 0 -", "0 + 0 j", "0 + 0 J", "+ + + +", "+ + j j",
               "+ + - -", "+ + J J", "+ j + j", "+ j j -", "+ j - J", "+ j J +", "+ - + -",
               "+ - j J", "+ - - +", "+ - J j", "+ J + J", "+ J j +", "+ J - j", "+ J J -"},
      four_two{"+0 0+ 00 00", "+0 00 0+ 00", "+0 00 00 0+", "00 +0 0+ 00", "00 +0 00 0+",  // -5
               "00 00 +0 0+", "+0 0+ +0 0J", "+0 0+ +0 0j", "+0 0+ J0 0+", "+0 0+ J0 0-", "+0 0+ -0 0J",
               "+0 0+ -0 0j", "+0 0+ j0 0+", "+0 0+ j0 0-", "++ ++ +- +-", "++ ++ jJ jJ", "++ jj +- jJ",
               "++ jj jJ -+", "++ -- +- -+", "++ -- jJ Jj", "++ JJ +- Jj", "++ JJ jJ +-"},
      four_three{"+00 0+0 00+ 000", "+00 0+0 +00 00+", "+00 0+0 -00 00+", "+++ +-+ ++- +--",  // -6
                 "+++ +-+ jjJ jJJ", "+++ -+- ++- -++", "+++ -+- jjJ Jjj"},
      four_four{"+000 0+00 00+0 000+", "++00 00++ +-00 00+-", "++00 00++ jJ00 00jJ",  // -7
                "++++ +-+- ++-- +--+", "++++ +-+- jjJJ jJJj"};
  switch (8 * ports + layers) {
    case 8 * 1 + 1:
      return trivial;
    case 8 * 2 + 1:
      return two_one;
    case 8 * 2 + 2:
      return two_two;
    case 8 * 4 + 1:
      return four_one;
    case 8 * 4 + 2:
      return four_two;
    case 8 * 4 + 3:
      return four_three;
    case 8 * 4 + 4:
      return four_four;
    default:
      return none;
  }
}

std::complex<float> value_of(char c, float scale) {
  switch (c) {
    case '+':
      return {scale, 0};
    case '-':
      return {-scale, 0};
    case 'j':
      return {0, scale};
    case 'J':
      return {0, -scale};
    default:
      return {0, 0};
  }
}

}  // namespace

int nr_precoders(int ports, int layers) noexcept { return static_cast<int>(codebook(ports, layers).size()); }

std::vector<std::complex<float>> nr_precoder(int ports, int layers, int tpmi, bool transform_precoding) {
  if (ports != 1 && ports != 2 && ports != 4)
    throw argument_error("antenna_ports", std::to_string(ports), "1, 2 or 4 with a codebook");
  check_range("layers", layers, 1, ports);
  if (transform_precoding) check_range("layers", layers, 1, 1);
  check_range("tpmi", tpmi, 0, nr_precoders(ports, layers) - 1);
  const std::string& rows = codebook(ports, layers)[static_cast<std::size_t>(tpmi)];
  // Every port that sends has the same power: the matrix is scaled by the layers that it carries.
  long carried = 1;
  for (auto row = rows.begin(); row < rows.end(); row += layers + 1)
    carried = std::max(carried, layers - std::count(row, row + layers, '0'));
  const float scale = 1 / std::sqrt(static_cast<float>(ports) * static_cast<float>(carried));
  std::vector<std::complex<float>> w;
  for (const char c : rows)
    if (c != ' ') w.push_back(value_of(c, scale));
  // Table 6.3.1.5-2 differs from -3 in the sign of a fourth port.
  if (transform_precoding && ports == 4 && layers == 1 && tpmi >= 12 && (tpmi + tpmi / 4) % 2 == 1)
    w[3] = -w[3];
  return w;
}

}  // namespace wb
