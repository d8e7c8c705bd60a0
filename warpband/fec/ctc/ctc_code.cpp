#include <warpband/fec/ctc/ctc_code.hpp>

#include <algorithm>
#include <iterator>
#include <span>
#include <string>

#include <warpband/core/error.hpp>

namespace wb {
namespace {

struct row {
  int couples, p0, p1, p2, p3;
};
/// IEEE 802.16-2009 tables 502 and 503.
constexpr row wimax_rows[] = {{24, 5, 0, 0, 0},       {36, 11, 18, 0, 18},     {48, 13, 24, 0, 24},
                              {72, 11, 6, 0, 6},      {96, 7, 48, 24, 72},     {108, 11, 54, 56, 2},
                              {120, 13, 60, 0, 60},   {144, 17, 74, 72, 2},    {180, 11, 90, 0, 90},
                              {192, 11, 96, 48, 144}, {216, 13, 108, 0, 108},  {240, 13, 120, 60, 180},
                              {480, 53, 62, 12, 2},   {960, 43, 64, 300, 824}, {1440, 43, 720, 360, 540},
                              {1920, 31, 8, 24, 16},  {2400, 53, 66, 24, 2}};
/// EN 301 790, turbo code permutation parameters.
constexpr row dvb_rcs_rows[] = {{48, 11, 24, 0, 24},    {64, 7, 34, 32, 2},       {212, 13, 106, 108, 2},
                                {220, 23, 112, 4, 116}, {228, 17, 116, 72, 188},  {424, 11, 6, 8, 2},
                                {432, 13, 0, 4, 8},     {440, 13, 10, 4, 2},      {752, 19, 376, 224, 600},
                                {848, 19, 2, 16, 6},    {856, 19, 428, 224, 652}, {864, 19, 2, 16, 6}};

/// IEEE 802.16-2009 table 505: m and J of the subblock interleaver, in the order of wimax_rows.
struct subblock {
  int m, j;
};
constexpr subblock subblocks[] = {{3, 3}, {4, 3}, {4, 3}, {5, 3}, {5, 3}, {5, 4}, {6, 2},  {6, 3}, {6, 3},
                                  {6, 3}, {6, 4}, {7, 2}, {8, 2}, {9, 2}, {9, 3}, {10, 2}, {10, 3}};
static_assert(std::size(subblocks) == std::size(wimax_rows));

std::span<const row> rows_of(ctc_standard standard) {
  if (standard == ctc_standard::wimax) return wimax_rows;
  if (standard == ctc_standard::dvb_rcs) return dvb_rcs_rows;
  throw argument_error("standard", std::to_string(static_cast<int>(standard)), "wimax or dvb_rcs");
}
const row& row_for(ctc_standard standard, int k) {
  const std::span<const row> rows = rows_of(standard);
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const row& r) { return 2 * r.couples == k; });
  if (found != rows.end()) return *found;
  std::string allowed;
  for (const row& r : rows) allowed += (allowed.empty() ? "" : ", ") + std::to_string(2 * r.couples);
  throw argument_error("k", std::to_string(k), "one of " + allowed);
}

struct fraction {
  int numerator, denominator;
};
constexpr fraction rates[] = {{1, 3}, {2, 5}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}};

fraction fraction_of(ctc_rate rate) {
  const auto i = static_cast<std::size_t>(rate);
  if (i >= std::size(rates))
    throw argument_error("rate", std::to_string(static_cast<int>(rate)), "a ctc_rate");
  return rates[i];
}
std::string text_of(ctc_rate rate) {
  const fraction f = fraction_of(rate);
  return std::to_string(f.numerator) + "/" + std::to_string(f.denominator);
}

/// Which parity bits of a period are sent, EN 301 790; 1 in bit i: that of step i of the period.
struct pattern {
  int period, y, w;
};
pattern pattern_of(ctc_rate rate) {
  switch (rate) {
    case ctc_rate::r1_3:
      return {1, 1, 1};
    case ctc_rate::r2_5:
      return {2, 3, 1};
    case ctc_rate::r1_2:
      return {1, 1, 0};
    case ctc_rate::r2_3:
      return {2, 1, 0};
    case ctc_rate::r3_4:
      return {3, 1, 0};
    case ctc_rate::r4_5:
      return {4, 1, 0};
    default:
      return {6, 1, 0};
  }
}

/// The order in which the bits of a stream leave its subblock interleaver.
std::vector<std::int32_t> subblock_order(int couples) {
  const auto found = std::find_if(std::begin(wimax_rows), std::end(wimax_rows),
                                  [&](const row& r) { return r.couples == couples; });
  const auto [m, j] = subblocks[found - std::begin(wimax_rows)];
  std::vector<std::int32_t> order;
  for (int i = 0; static_cast<int>(order.size()) < couples; i++) {
    int reversed = 0;
    for (int b = 0; b < m; b++) reversed |= (i / j >> b & 1) << (m - 1 - b);
    if (const int bit = (i % j << m) + reversed; bit < couples) order.push_back(bit);
  }
  return order;
}

}  // namespace

const std::vector<setting_of<ctc_config>>& ctc_settings() {
  using c = ctc_config;
  static const std::vector<setting_of<c>> settings{
      words<c, ctc_standard>(
          "standard", &c::standard, {{"wimax", ctc_standard::wimax}, {"dvb-rcs", ctc_standard::dvb_rcs}},
          "Standard that defines block sizes, interleaver and puncturing: IEEE 802.16 section 8.4.9.2.3, or "
          "ETSI EN 301 790."),
      integer("k", &c::k, 1, INT32_MAX, "Bits of a frame into the encoder, two for each of its N couples.",
              "an integer: twice a number of couples of the standard, 48 to 4800 (wimax) or 96 to 1728 "
              "(dvb-rcs)"),
      words<c, ctc_rate>(
          "rate", &c::rate,
          {{"1/3", ctc_rate::r1_3},
           {"2/5", ctc_rate::r2_5},
           {"1/2", ctc_rate::r1_2},
           {"2/3", ctc_rate::r2_3},
           {"3/4", ctc_rate::r3_4},
           {"4/5", ctc_rate::r4_5},
           {"5/6", ctc_rate::r5_6},
           {"6/7", ctc_rate::r6_7}},
          "Code rate, by puncturing. wimax has 1/3, 1/2, 2/3, 3/4 and 5/6; dvb-rcs all but 5/6.")};
  return settings;
}

std::vector<int> ctc_couples(ctc_standard standard) {
  std::vector<int> couples;
  for (const row& r : rows_of(standard)) couples.push_back(r.couples);
  return couples;
}

std::vector<std::int32_t> ctc_permutation(ctc_standard standard, int k) {
  const auto [n, p0, p1, p2, p3] = row_for(standard, k);
  const int more[] = {1, 1 + n / 2 + p1, 1 + p2, 1 + n / 2 + p3};
  std::vector<std::int32_t> permutation;
  for (int j = 0; j < n; j++) permutation.push_back((p0 * j + more[j % 4]) % n);
  return permutation;
}

void check(const ctc_config& c) {
  check_settings(ctc_settings(), c);
  const row& r = row_for(c.standard, c.k);
  const fraction f = fraction_of(c.rate);
  const bool wimax = c.standard == ctc_standard::wimax;
  if (wimax ? c.rate == ctc_rate::r2_5 || c.rate == ctc_rate::r4_5 || c.rate == ctc_rate::r6_7
            : c.rate == ctc_rate::r5_6)
    throw argument_error(
        "rate", '"' + text_of(c.rate) + '"',
        wimax ? "\"1/3\", \"1/2\", \"2/3\", \"3/4\" or \"5/6\" with standard \"wimax\""
              : "\"1/3\", \"2/5\", \"1/2\", \"2/3\", \"3/4\", \"4/5\" or \"6/7\" with standard "
                "\"dvb-rcs\"");
  if (wimax ? c.k * f.denominator % f.numerator != 0 : r.couples % pattern_of(c.rate).period != 0)
    throw argument_error("rate", '"' + text_of(c.rate) + '"',
                         "one that divides the " + std::to_string(c.k) + " bits evenly");
}

int ctc_sent_bits(const ctc_config& c) {
  const fraction f = fraction_of(c.rate);
  return static_cast<int>(static_cast<std::int64_t>(c.k) * f.denominator / f.numerator);
}

std::vector<std::int32_t> ctc_sent_places(const ctc_config& c) {
  check(c);
  const int n = c.k / 2;
  std::vector<std::int32_t> places;
  if (c.standard == ctc_standard::wimax) {
    const std::vector<std::int32_t> order = subblock_order(n);
    for (const int stream : {0, 1})
      for (const int i : order) places.push_back(stream * n + i);
    for (const int stream : {2, 4})
      for (const int i : order)
        for (const int encoder : {0, 1}) places.push_back((stream + encoder) * n + i);
    places.resize(static_cast<std::size_t>(ctc_sent_bits(c)));
    return places;
  }
  const pattern sent = pattern_of(c.rate);
  const auto add = [&](int stream, int period, int which) {
    for (int i = 0; i < n; i++)
      if ((which >> i % period & 1) != 0)
        for (const int encoder : {0, 1}) places.push_back((stream + encoder) * n + i);
  };
  add(0, 1, 1);
  add(2, sent.period, sent.y);
  add(4, sent.period, sent.w);
  return places;
}

std::array<int, 3> ctc_circulation(int couples) {
  // Without input a state becomes another after N steps. The circulation state differs from what becomes of
  // it by the state in which an encoder that began in 0 ends.
  const auto moved = [&](int s) {
    for (int i = 0; i < couples % 7; i++) s = ((s >> 2 ^ s) & 1) << 2 | s >> 1;
    return s;
  };
  std::array<int, 3> columns{};
  for (int s = 0; s < 8; s++)
    for (std::size_t b = 0; b < 3; b++)
      if ((s ^ moved(s)) == 1 << b) columns[b] = s;
  return columns;
}

}  // namespace wb
