#include <warpband/channel/cdl/profile.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <warpband/channel/profile_list.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>

namespace wb {
namespace {

struct cdl_profile_entry {
  const char* name;
  bool scaled;  // delays in units of the delay spread, else in ns
  cdl_profile profile;
  /// TR 38.901 states the power of the line of sight as it states those of clusters.
  std::optional<double> sight_power_db = {};
};

const std::vector<cdl_profile_entry>& cdl_profiles() {
  static const std::vector<cdl_profile_entry> entries{
      {"a1-los",
       false,
       {{{0, -9.9, 0, 0, 90, 90, true},
         {10, -15.8, -107, -110},
         {25, -13.5, -100, 102},
         {50, -12.1, 131, -134, 90, 90, true},
         {65, -19.2, 118, 121},
         {75, -23.5, 131, -134},
         {75, -18.3, 116, -118},
         {115, -23.4, 131, -134},
         {115, -29.2, 146, 149},
         {145, -14.2, 102, 105},
         {195, -21.6, -126, 129},
         {350, -23.4, 131, -134}},
        5,
        5,
        0,
        0,
        4.7}},
      {"a1-nlos",
       false,
       {{{0, -2.2, 45, 41},
         {5, -6.7, 77, -70},
         {5, -2.1, 43, 39},
         {5, -5.8, 72, 66},
         {15, -3.3, 54, -49},
         {15, -4.7, -65, 59},
         {15, -4.1, -60, -55},
         {20, -8.2, 85, -78},
         {20, 0, 0, 0, 90, 90, true},
         {35, -1.6, -104, 95, 90, 90, true},
         {80, -10, 95, 86},
         {85, -12.1, -104, 95},
         {110, -12.4, -105, -96},
         {115, -11.8, 103, -94},
         {150, -20.4, -135, 123},
         {175, -16.6, -122, -111}},
        5,
        5,
        0,
        0}},
      {"b1-los",
       false,
       {{{0, -11.7, 0, 0},
         {30, -7.5, 5, 45, 90, 90, true},
         {55, -14.8, 8, 63},
         {60, -10.6, 8, -69, 90, 90, true},
         {105, -13.9, 7, 61},
         {115, -17.8, 8, -69},
         {250, -19.6, -9, -73},
         {460, -31.4, 11, 92}},
        3,
        18,
        0,
        0,
        3.3}},
      {"b1-nlos",
       false,
       {{{0, -1, 8, -20},
         {90, 0, 0, 0, 90, 90, true},
         {100, -0.9, -24, 57, 90, 90, true},
         {115, -8.1, -24, -55},
         {230, -8.6, -24, 57},
         {240, -11.7, 29, 67},
         {245, -12, 29, -68},
         {285, -12.9, 30, 70},
         {390, -19.6, -37, -86},
         {430, -23.9, 41, -95},
         {460, -22.1, -39, -92},
         {505, -25.6, -42, -99},
         {515, -23.4, -40, 94},
         {595, -32.2, 47, 111},
         {600, -31.7, 47, 110},
         {615, -29.9, 46, -107}},
        10,
        22,
        0,
        0}},
      {"c1-los",
       false,
       {{{0, -20.1, 0, 0, 90, 90, true},
         {85, -21.7, -29, -144},
         {135, -26.3, -32, -159},
         {135, -25.1, -31, 155},
         {170, -25.4, 31, 156},
         {190, -22, 29, -146},
         {275, -29.2, -33, 168},
         {290, -21.3, 35, -176, 90, 90, true},
         {290, -23.2, -30, 149},
         {410, -32.2, 35, -176},
         {445, -26.5, -32, -159},
         {500, -32.1, 35, -176},
         {620, -28.5, 33, -165},
         {655, -30.5, 34, -171},
         {960, -32.6, 35, 177}},
        5,
        5,
        0,
        0,
        12.9}},
      {"c1-nlos",
       false,
       {{{0, 0, 0, 0, 90, 90, true},
         {25, -7.5, 13, -71},
         {35, -10.5, -15, -84},
         {35, -3.2, -8, 46},
         {45, -3.1, 12, -66, 90, 90, true},
         {65, -14, -17, -97},
         {65, -6.4, 12, -66},
         {75, -3.1, -8, -46},
         {145, -4.6, -10, -56},
         {160, -8, -13, 73},
         {195, -7.2, 12, 70},
         {200, -3.1, 8, -46},
         {205, -9.5, 14, -80},
         {770, -22.4, 22, 123}},
        2,
        10,
        0,
        0}},
      {"c2-los",
       false,
       {{{0, -17.6, 0, 0},
         {0, -13.2, -24, -120, 90, 90, true},
         {30, -15.3, 26, 129},
         {85, -16.7, -27, -135},
         {145, -15.2, 26, -129, 90, 90, true},
         {150, -18.2, 28, 141},
         {160, -15.3, 26, -129},
         {220, -23.1, -32, -158}},
        6,
        12,
        0,
        0,
        7}},
      {"c2-nlos",
       false,
       {{{0, -6.5, 11, 61},
         {60, -3.4, -8, 44},
         {75, -2, -6, -34},
         {145, 0, 0, 0, 90, 90, true},
         {150, -1.9, 6, 33},
         {190, -3.4, 8, -44},
         {220, -0.4, -12, -67, 90, 90, true},
         {335, -4.7, -9, 52},
         {370, -7.8, -12, -67},
         {430, -7.8, -12, -67},
         {510, -9.3, 13, -73},
         {685, -12, 15, -83},
         {725, -8.5, -12, -70},
         {735, -13.2, -15, 87},
         {800, -11.2, -14, 80},
         {960, -20.8, 19, 109},
         {1020, -14.5, -16, 91},
         {1100, -11.7, 15, -82},
         {1210, -17.2, 18, 99},
         {1845, -16.7, 17, 98}},
        2,
        15,
        0,
        0}},
      {"cdl-a",
       true,
       {{{0, -13.4, -178.1, 51.3, 50.2, 125.4},     {0.3819, 0, -4.2, -152.7, 93.2, 91.3},
         {0.4025, -2.2, -4.2, -152.7, 93.2, 91.3},  {0.5868, -4, -4.2, -152.7, 93.2, 91.3},
         {0.461, -6, 90.2, 76.6, 122, 94},          {0.5375, -8.2, 90.2, 76.6, 122, 94},
         {0.6708, -9.9, 90.2, 76.6, 122, 94},       {0.575, -10.5, 121.5, -1.8, 150.2, 47.1},
         {0.7618, -7.5, -81.7, -41.9, 55.2, 56},    {1.5375, -15.9, 158.4, 94.2, 26.4, 30.1},
         {1.8978, -6.6, -83, 51.9, 126.4, 58.8},    {2.2242, -16.7, 134.8, -115.9, 171.6, 26},
         {2.1718, -12.4, -153, 26.6, 151.4, 49.2},  {2.4942, -15.2, -172, 76.6, 157.2, 143.1},
         {2.5119, -10.8, -129.9, -7, 47.2, 117.4},  {3.0582, -11.3, -136, -23, 40.4, 122.7},
         {4.081, -12.7, 165.4, -47.2, 43.3, 123.2}, {4.4579, -16.2, 148.4, 110.4, 161.8, 32.6},
         {4.5695, -18.3, 132.7, 144.5, 10.8, 27.2}, {4.7966, -18.9, -118.6, 155.3, 16.7, 15.2},
         {5.0066, -16.6, -154.1, 102, 171.7, 146},  {5.3043, -19.9, 126.5, -151.8, 22.7, 150.7},
         {9.6586, -29.7, -56.2, 55.2, 144.9, 156.1}},
        5,
        11,
        3,
        3}},
      {"cdl-b",
       true,
       {{{0, 0, 9.3, -173.3, 105.8, 78.9},           {0.1072, -2.2, 9.3, -173.3, 105.8, 78.9},
         {0.2155, -4, 9.3, -173.3, 105.8, 78.9},     {0.2095, -3.2, -34.1, 125.5, 115.3, 63.3},
         {0.287, -9.8, -65.4, -88, 119.3, 59.9},     {0.2986, -1.2, -11.4, 155.1, 103.2, 67.5},
         {0.3752, -3.4, -11.4, 155.1, 103.2, 67.5},  {0.5055, -5.2, -11.4, 155.1, 103.2, 67.5},
         {0.3681, -7.6, -67.2, -89.8, 118.2, 82.6},  {0.3697, -3, 52.5, 132.1, 102, 66.3},
         {0.57, -8.9, -72, -83.6, 100.4, 61.6},      {0.5283, -9, 74.3, 95.3, 98.3, 58},
         {1.1021, -4.8, -52.2, 103.7, 103.4, 78.2},  {1.2756, -5.7, -50.5, -87.8, 102.5, 82},
         {1.5474, -7.5, 61.4, -92.5, 101.4, 62.4},   {1.7842, -1.9, 30.6, -139.1, 103, 78},
         {2.0169, -7.6, -72.5, -90.6, 100, 60.9},    {2.8294, -12.2, -90.6, 58.6, 115.2, 82.9},
         {3.0219, -9.8, -77.6, -79, 100.5, 60.8},    {3.6187, -11.4, -82.6, 65.8, 119.6, 57.3},
         {4.1067, -14.9, -103.6, 52.7, 118.7, 59.9}, {4.279, -9.2, 75.6, 88.7, 117.8, 60.1},
         {4.7834, -11.3, -77.6, -60.4, 115.7, 62.3}},
        10,
        22,
        3,
        7}},
      {"cdl-c",
       true,
       {{{0, -4.4, -46.6, -101, 97.2, 87.6},         {0.2099, -1.2, -22.8, 120, 98.6, 72.1},
         {0.2219, -3.5, -22.8, 120, 98.6, 72.1},     {0.2329, -5.2, -22.8, 120, 98.6, 72.1},
         {0.2176, -2.5, -40.7, -127.5, 100.6, 70.1}, {0.6366, 0, 0.3, 170.4, 99.2, 75.3},
         {0.6448, -2.2, 0.3, 170.4, 99.2, 75.3},     {0.656, -3.9, 0.3, 170.4, 99.2, 75.3},
         {0.6584, -7.4, 73.1, 55.4, 105.2, 67.4},    {0.7935, -7.1, -64.5, 66.5, 95.3, 63.8},
         {0.8213, -10.7, 80.2, -48.1, 106.1, 71.4},  {0.9336, -11.1, -97.1, 46.9, 93.5, 60.5},
         {1.2285, -5.1, -55.3, 68.1, 103.7, 90.6},   {1.3083, -6.8, -64.3, -68.7, 104.2, 60.1},
         {2.1704, -8.7, -78.5, 81.5, 93, 61},        {2.7105, -13.2, 102.7, 30.7, 104.2, 100.7},
         {4.2589, -13.9, 99.2, -16.4, 94.9, 62.3},   {4.6003, -13.9, 88.8, 3.8, 93.1, 66.7},
         {5.4902, -15.8, -101.9, -13.7, 92.2, 52.9}, {5.6077, -17.1, 92.2, 9.7, 106.7, 61.8},
         {6.3065, -16, 93.3, 5.6, 93, 51.9},         {6.6374, -15.7, 106.6, 0.7, 92.9, 61.7},
         {7.0427, -21.6, 119.5, -21.9, 105.2, 58},   {8.6523, -22.8, -123.8, 33.6, 107.8, 57}},
        2,
        15,
        3,
        7}},
      {"cdl-d",
       true,
       {{{0, -13.5, 0, -180, 98.5, 81.5},
         {0.035, -18.8, 89.2, 89.2, 85.5, 86.9},
         {0.612, -21, 89.2, 89.2, 85.5, 86.9},
         {1.363, -22.8, 89.2, 89.2, 85.5, 86.9},
         {1.405, -17.9, 13, 163, 97.5, 79.4},
         {1.804, -20.1, 13, 163, 97.5, 79.4},
         {2.596, -21.9, 13, 163, 97.5, 79.4},
         {1.775, -22.9, 34.6, -137, 98.5, 78.2},
         {4.042, -27.8, -64.5, 74.5, 88.4, 73.6},
         {7.937, -23.6, -32.9, 127.7, 91.3, 78.3},
         {9.424, -24.8, 52.6, -119.6, 103.8, 87},
         {9.708, -30, -132.1, -9.1, 80.3, 70.6},
         {12.525, -27.7, 77.2, -83.8, 86.5, 72.9}},
        5,
        8,
        3,
        3},
       -0.2},
      {"cdl-e",
       true,
       {{{0, -22.03, 0, -180, 99.6, 80.4},
         {0.5133, -15.8, 57.5, 18.2, 104.2, 80.4},
         {0.544, -18.1, 57.5, 18.2, 104.2, 80.4},
         {0.563, -19.8, 57.5, 18.2, 104.2, 80.4},
         {0.544, -22.9, -20.1, 101.8, 99.4, 80.8},
         {0.7112, -22.4, 16.2, 112.9, 100.8, 86.3},
         {1.9092, -18.6, 9.3, -155.5, 98.8, 82.7},
         {1.9293, -20.8, 9.3, -155.5, 98.8, 82.7},
         {1.9589, -22.6, 9.3, -155.5, 98.8, 82.7},
         {2.6426, -22.3, 19, -143.3, 100.8, 82.9},
         {3.7136, -25.6, 32.7, -94.7, 96.4, 88},
         {5.4524, -20.2, 0.5, 147, 98.9, 81},
         {12.0034, -29.8, 55.9, -36.2, 95.6, 88.6},
         {20.6419, -29.2, 57.6, -26, 104.6, 78.3}},
        5,
        11,
        3,
        7},
       -0.03},
  };
  return entries;
}

double linear(double db) { return std::pow(10, db / 10); }

double power_of_clusters(const cdl_profile& p) {
  double sum = 0;
  for (const cdl_cluster& c : p.clusters) sum += linear(c.power_db);
  return sum;
}

/// Offsets of ten pairs of rays on either side, for a root mean square of 1 (TR 38.901 table 7.5-3).
constexpr std::array<double, 10> offsets{0.0447, 0.1413, 0.2492, 0.3715, 0.5129,
                                         0.6797, 0.8844, 1.1481, 1.5195, 2.1551};
/// Pairs of the groups of a split cluster: rays 1-8 and 19-20, 9-12 and 17-18, 13-16.
constexpr std::array<std::array<bool, 10>, 3> groups{
    {{true, true, true, true, false, false, false, false, false, true},
     {false, false, false, false, true, true, false, false, true, false},
     {false, false, false, false, false, false, true, true, false, false}}};

using choice_setting = setting_of<cdl_profile_choice>;

choice_setting own_angles(const char* name, std::vector<double> cdl_profile_choice::*member, double least,
                          double greatest, const char* text) {
  return numbers(name, member, least, greatest, std::string("With delays_ns: ") + text,
                 "a number from " + decimal(least) + " to " + decimal(greatest) + " for each of delays_ns");
}
choice_setting own_spread(const char* name, std::optional<double> cdl_profile_choice::*member,
                          const char* angles) {
  return number(name, member, 0, 60,
                std::string("With delays_ns: spread of the ") + angles +
                    " of the rays of a cluster about its own, as root mean square. Left out: 0.",
                false, "a number from 0 to 60, together with delays_ns");
}

/// Refuses what one's own clusters have, of a choice without them.
void refuse_own(const cdl_profile_choice& choice) {
  cdl_profile_choice named;
  named.name = choice.name, named.delay_spread_ns = choice.delay_spread_ns;
  for (const choice_setting& s : cdl_profile_settings())
    if (s.get(choice) != s.get(named)) throw argument_error(s.name, "given", "none without delays_ns");
}
/// Refuses lists of another length than the delays.
void check_lengths(const cdl_profile_choice& choice) {
  const std::size_t n = choice.delays_ns.size();
  const auto expect = [n](const char* name, std::size_t size, bool may_be_left_out) {
    if (size != n && !(may_be_left_out && size == 0))
      throw argument_error(
          name, std::to_string(size) + " values",
          std::to_string(n) + ", as many as delays_ns has" + (may_be_left_out ? ", or none" : ""));
  };
  expect("powers_db", choice.powers_db.size(), false);
  expect("aod_deg", choice.aod_deg.size(), true), expect("aoa_deg", choice.aoa_deg.size(), true);
  expect("zod_deg", choice.zod_deg.size(), true), expect("zoa_deg", choice.zoa_deg.size(), true);
  expect("split", choice.split.size(), true);
}

}  // namespace

void check(const cdl_profile& p) {
  if (p.clusters.empty() || p.clusters.size() > 32)
    throw argument_error("profile", std::to_string(p.clusters.size()) + " clusters", "1 to 32 clusters");
  for (const cdl_cluster& c : p.clusters) {
    check_number("delay_ns", c.delay_ns, 0, 1e9);
    check_number("power_db", c.power_db, -200, 200);
    check_number("aod_deg", c.aod_deg, -360, 360);
    check_number("aoa_deg", c.aoa_deg, -360, 360);
    check_number("zod_deg", c.zod_deg, 0, 180);
    check_number("zoa_deg", c.zoa_deg, 0, 180);
  }
  check_number("asd_deg", p.asd_deg, 0, 60);
  check_number("asa_deg", p.asa_deg, 0, 60);
  check_number("zsd_deg", p.zsd_deg, 0, 60);
  check_number("zsa_deg", p.zsa_deg, 0, 60);
  if (p.rician_k_db) check_number("rician_k_db", *p.rician_k_db, -100, 100);
}

cdl_profile cdl_profile_named(const std::string& name, double delay_spread_ns) {
  const cdl_profile_entry& found = profile_named(cdl_profiles(), name);
  cdl_profile p = found.profile;
  if (found.sight_power_db) p.rician_k_db = *found.sight_power_db - 10 * std::log10(power_of_clusters(p));
  if (found.scaled) scale_delays(p.clusters, delay_spread_ns);
  return p;
}

const std::vector<std::string>& cdl_profile_names() {
  static const std::vector<std::string> names = profile_names(cdl_profiles());
  return names;
}

const std::vector<setting_of<cdl_profile_choice>>& cdl_profile_settings() {
  using c = cdl_profile_choice;
  static const std::vector<setting_of<c>> settings{
      profile_setting(
          cdl_profiles(), &c::name,
          "Indoor office, urban microcell, suburban and urban macrocell of WINNER II (D1.1.2 clause 6.8) "
          "with and without a line of sight, or TR 38.901 clause 7.7.1."),
      delay_spread_setting(cdl_profiles(), &c::delay_spread_ns),
      numbers("delays_ns", &c::delays_ns, 0, 1e9,
              "In place of profile: the delays of the clusters of a profile of your own.",
              "1 to 32 numbers from 0 to 1e9, together with powers_db"),
      numbers("powers_db", &c::powers_db, -200, 200, "Relative mean powers of those clusters.",
              "as many numbers from -200 to 200 as delays_ns has"),
      own_angles("aod_deg", &c::aod_deg, -360, 360,
                 "azimuths of departure of the clusters, from the line of sight. Left out: 0."),
      own_angles("aoa_deg", &c::aoa_deg, -360, 360,
                 "azimuths of arrival of the clusters, from the line of sight. Left out: 0."),
      own_angles("zod_deg", &c::zod_deg, 0, 180,
                 "zeniths of departure of the clusters. Left out: 90, the horizon."),
      own_angles("zoa_deg", &c::zoa_deg, 0, 180,
                 "zeniths of arrival of the clusters. Left out: 90, the horizon."),
      integers("split", &c::split, 0, 1,
               "1: the rays of this cluster arrive in three groups, 0, 5 and 10 ns late. Left out: 0.",
               "0 or 1 for each of delays_ns"),
      own_spread("asd_deg", &c::asd_deg, "azimuths of departure"),
      own_spread("asa_deg", &c::asa_deg, "azimuths of arrival"),
      own_spread("zsd_deg", &c::zsd_deg, "zeniths of departure"),
      own_spread("zsa_deg", &c::zsa_deg, "zeniths of arrival"),
      number(
          "rician_k_db", &c::rician_k_db, -100, 100,
          "With delays_ns: power of the line of sight over that of all clusters. Left out: no line of sight.",
          false, "a number from -100 to 100, together with delays_ns")};
  return settings;
}

cdl_profile profile_of(const cdl_profile_choice& choice) {
  if (choice.delays_ns.empty()) {
    refuse_own(choice);
    return cdl_profile_named(choice.name, choice.delay_spread_ns);
  }
  const std::size_t n = choice.delays_ns.size();
  if (n > 32) throw argument_error("delays_ns", std::to_string(n) + " clusters", "1 to 32 clusters");
  check_lengths(choice);
  cdl_profile p;
  for (std::size_t i = 0; i < n; i++) {
    cdl_cluster c{.delay_ns = choice.delays_ns[i], .power_db = choice.powers_db[i]};
    if (!choice.aod_deg.empty()) c.aod_deg = choice.aod_deg[i];
    if (!choice.aoa_deg.empty()) c.aoa_deg = choice.aoa_deg[i];
    if (!choice.zod_deg.empty()) c.zod_deg = choice.zod_deg[i];
    if (!choice.zoa_deg.empty()) c.zoa_deg = choice.zoa_deg[i];
    if (!choice.split.empty()) c.split = choice.split[i] != 0;
    p.clusters.push_back(c);
  }
  p.asd_deg = choice.asd_deg.value_or(0), p.asa_deg = choice.asa_deg.value_or(0);
  p.zsd_deg = choice.zsd_deg.value_or(0), p.zsa_deg = choice.zsa_deg.value_or(0);
  p.rician_k_db = choice.rician_k_db;
  return p;
}

bool has_cdl_delay_spread(const std::string& name) noexcept { return is_scaled(cdl_profiles(), name); }

std::vector<cdl_path> cdl_paths(const cdl_profile& p) {
  std::vector<cdl_path> paths;
  const double k = p.rician_k_db ? linear(*p.rician_k_db) : 0;
  if (p.rician_k_db) paths.push_back({p.clusters[0].delay_ns, k / (1 + k), 0, {0}});
  const double scale = 1 / (power_of_clusters(p) * (1 + k));
  for (std::size_t n = 0; n < p.clusters.size(); n++) {
    const cdl_cluster& c = p.clusters[n];
    for (std::size_t group = 0; group < (c.split ? groups.size() : 1); group++) {
      cdl_path path{c.delay_ns + 5. * static_cast<double>(group), 0, static_cast<int>(n), {}};
      for (std::size_t i = 0; i < offsets.size(); i++)
        if (!c.split || groups[group][i]) path.offsets.insert(path.offsets.end(), {offsets[i], -offsets[i]});
      path.power = scale * linear(c.power_db) * static_cast<double>(path.offsets.size()) /
                   static_cast<double>(2 * offsets.size());
      paths.push_back(std::move(path));
    }
  }
  return paths;
}

double longest_delay_ns(const cdl_profile& p) noexcept {
  double longest = 0;
  for (const cdl_cluster& c : p.clusters) longest = std::max(longest, c.delay_ns + (c.split ? 10 : 0));
  return longest;
}

double rms_delay_spread_ns(const cdl_profile& p) {
  double mean = 0, square = 0;
  const std::vector<cdl_path> paths = cdl_paths(p);
  for (const cdl_path& x : paths) mean += x.power * x.delay_ns;
  for (const cdl_path& x : paths) square += x.power * (x.delay_ns - mean) * (x.delay_ns - mean);
  return std::sqrt(square);
}

}  // namespace wb
