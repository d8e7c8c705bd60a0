#include <warpband/nr/sync/ssb.hpp>

#include <string>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>

namespace wb {
namespace {

/// x(i + 7) = x(i + tap) + x(i) modulo 2 as 1 - 2 x, from the bits `start`, x(0) the lowest.
std::vector<float> m_sequence(unsigned start, int tap) {
  std::vector<int> x;
  for (int i = 0; i < sync_length; i++)
    x.push_back(i < 7 ? static_cast<int>(start >> i & 1) : (x[as_size(i - 7 + tap)] + x[as_size(i - 7)]) % 2);
  std::vector<float> d;
  for (const int bit : x) d.push_back(static_cast<float>(1 - 2 * bit));
  return d;
}

}  // namespace

std::vector<float> nr_pss(int n_id2) {
  check_range("n_id2", n_id2, 0, 2);
  static const std::vector<float> sequence = m_sequence(0b1110110, 4);
  std::vector<float> d;
  for (int n = 0; n < sync_length; n++) d.push_back(sequence[as_size((n + 43 * n_id2) % sync_length)]);
  return d;
}

const sss_parts& nr_sss_parts() {
  static const sss_parts parts{m_sequence(1, 4), m_sequence(1, 1)};
  return parts;
}

std::vector<float> nr_sss(int cell_id) {
  check_range("cell_id", cell_id, 0, nr_cell_ids - 1);
  const sss_parts& p = nr_sss_parts();
  const int m0 = nr_sss_shift0(cell_id / 3, cell_id % 3), m1 = nr_sss_shift1(cell_id / 3);
  std::vector<float> d;
  for (int n = 0; n < sync_length; n++)
    d.push_back(p.first[as_size((n + m0) % sync_length)] * p.second[as_size((n + m1) % sync_length)]);
  return d;
}

int ssb_spacing_khz(ssb_case pattern) noexcept {
  switch (pattern) {
    case ssb_case::a:
      return 15;
    case ssb_case::b:
    case ssb_case::c:
      return 30;
    case ssb_case::d:
      return 120;
    case ssb_case::e:
      break;
  }
  return 240;
}

std::vector<int> nr_ssb_first_symbols(ssb_case pattern, int l_max) {
  const bool high = pattern == ssb_case::d || pattern == ssb_case::e;
  if (high ? l_max != 64 : l_max != 4 && l_max != 8)
    throw argument_error("l_max", std::to_string(l_max),
                         high ? "64 with the cases D and E" : "4 or 8 with the cases A, B and C");
  std::vector<int> starts;
  int period = 0;
  switch (pattern) {
    case ssb_case::a:
    case ssb_case::c:
      starts = {2, 8}, period = 14;
      break;
    case ssb_case::b:
    case ssb_case::d:
      starts = {4, 8, 16, 20}, period = 28;
      break;
    case ssb_case::e:
      starts = {8, 12, 16, 20, 32, 36, 40, 44}, period = 56;
      break;
  }
  std::vector<int> symbols;
  for (int n = 0; static_cast<int>(symbols.size()) < l_max; n++) {
    // Case D leaves out n = 4, 9 and 14, case E n = 4: these slots are for other uses.
    if (high && n % 5 == 4) continue;
    for (const int s : starts) symbols.push_back(s + period * n);
  }
  return symbols;
}

}  // namespace wb
