#include <warpband/channel/tdl/profile.hpp>

#include <algorithm>
#include <cmath>

#include <warpband/channel/profile_list.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>

namespace wb {
namespace {

struct tdl_profile_entry {
  const char* name;
  bool scaled;  // delays in units of the delay spread, else in ns
  tdl_profile profile;
};

const std::vector<tdl_profile_entry>& tdl_profiles() {
  static const std::vector<tdl_profile_entry> entries{
      {"epa", false, {{{0, 0}, {30, -1}, {70, -2}, {90, -3}, {110, -8}, {190, -17.2}, {410, -20.8}}}},
      {"eva",
       false,
       {{{0, 0},
         {30, -1.5},
         {150, -1.4},
         {310, -3.6},
         {370, -0.6},
         {710, -9.1},
         {1090, -7},
         {1730, -12},
         {2510, -16.9}}}},
      {"etu",
       false,
       {{{0, -1}, {50, -1}, {120, -1}, {200, 0}, {230, 0}, {500, 0}, {1600, -3}, {2300, -5}, {5000, -7}}}},
      {"tdl-a", true, {{{0, -13.4},      {0.3819, 0},     {0.4025, -2.2},  {0.5868, -4},    {0.4610, -6},
                        {0.5375, -8.2},  {0.6708, -9.9},  {0.5750, -10.5}, {0.7618, -7.5},  {1.5375, -15.9},
                        {1.8978, -6.6},  {2.2242, -16.7}, {2.1718, -12.4}, {2.4942, -15.2}, {2.5119, -10.8},
                        {3.0582, -11.3}, {4.0810, -12.7}, {4.4579, -16.2}, {4.5695, -18.3}, {4.7966, -18.9},
                        {5.0066, -16.6}, {5.3043, -19.9}, {9.6586, -29.7}}}},
      {"tdl-b", true, {{{0, 0},          {0.1072, -2.2}, {0.2155, -4},    {0.2095, -3.2}, {0.2870, -9.8},
                        {0.2986, -1.2},  {0.3752, -3.4}, {0.5055, -5.2},  {0.3681, -7.6}, {0.3697, -3},
                        {0.5700, -8.9},  {0.5283, -9},   {1.1021, -4.8},  {1.2756, -5.7}, {1.5474, -7.5},
                        {1.7842, -1.9},  {2.0169, -7.6}, {2.8294, -12.2}, {3.0219, -9.8}, {3.6187, -11.4},
                        {4.1067, -14.9}, {4.2790, -9.2}, {4.7834, -11.3}}}},
      {"tdl-c", true, {{{0, -4.4},       {0.2099, -1.2},  {0.2219, -3.5},  {0.2329, -5.2},  {0.2176, -2.5},
                        {0.6366, 0},     {0.6448, -2.2},  {0.6560, -3.9},  {0.6584, -7.4},  {0.7935, -7.1},
                        {0.8213, -10.7}, {0.9336, -11.1}, {1.2285, -5.1},  {1.3083, -6.8},  {2.1704, -8.7},
                        {2.7105, -13.2}, {4.2589, -13.9}, {4.6003, -13.9}, {5.4902, -15.8}, {5.6077, -17.1},
                        {6.3065, -16},   {6.6374, -15.7}, {7.0427, -21.6}, {8.6523, -22.8}}}},
      // The first tap of D and E: -0.2 and -0.03 dB fixed, -13.5 and -22.03 dB fading, together 0 dB.
      {"tdl-d",
       true,
       {{{0, 0},
         {0.035, -18.8},
         {0.612, -21},
         {1.363, -22.8},
         {1.405, -17.9},
         {1.804, -20.1},
         {2.596, -21.9},
         {1.775, -22.9},
         {4.042, -27.8},
         {7.937, -23.6},
         {9.424, -24.8},
         {9.708, -30},
         {12.525, -27.7}},
        13.3}},
      {"tdl-e",
       true,
       {{{0, 0},
         {0.5133, -15.8},
         {0.5440, -18.1},
         {0.5630, -19.8},
         {0.5440, -22.9},
         {0.7112, -22.4},
         {1.9092, -18.6},
         {1.9293, -20.8},
         {1.9589, -22.6},
         {2.6426, -22.3},
         {3.7136, -25.6},
         {5.4524, -20.2},
         {12.0034, -29.8},
         {20.6519, -29.2}},
        22}},
      {"tdla30",
       false,
       {{{0, -15.5},
         {10, 0},
         {15, -5.1},
         {20, -5.1},
         {25, -9.6},
         {50, -8.2},
         {65, -13.1},
         {75, -11.5},
         {105, -11},
         {135, -16.2},
         {150, -16.6},
         {290, -26.2}}}},
      {"tdlb100",
       false,
       {{{0, 0},
         {10, -2.2},
         {20, -0.6},
         {30, -0.6},
         {35, -0.3},
         {45, -1.2},
         {55, -5.9},
         {120, -2.2},
         {170, -0.8},
         {245, -6.3},
         {330, -7.5},
         {480, -7.1}}}},
      {"tdlc300",
       false,
       {{{0, -6.9},
         {65, 0},
         {70, -7.7},
         {190, -2.5},
         {195, -2.4},
         {200, -9.9},
         {240, -8},
         {325, -6.6},
         {520, -7.1},
         {1045, -13},
         {1510, -14.2},
         {2595, -16}}}},
  };
  return entries;
}

}  // namespace

void check(const tdl_profile& p) {
  if (p.taps.empty() || p.taps.size() > 64)
    throw argument_error("profile", std::to_string(p.taps.size()) + " taps", "1 to 64 taps");
  for (const tdl_tap& t : p.taps) {
    check_number("delay_ns", t.delay_ns, 0, 1e9);
    check_number("power_db", t.power_db, -200, 200);
  }
  if (p.rician_k_db) check_number("rician_k_db", *p.rician_k_db, -100, 100);
}

tdl_profile tdl_profile_named(const std::string& name, double delay_spread_ns) {
  const tdl_profile_entry& found = profile_named(tdl_profiles(), name);
  tdl_profile p = found.profile;
  if (found.scaled) scale_delays(p.taps, delay_spread_ns);
  return p;
}

const std::vector<std::string>& tdl_profile_names() {
  static const std::vector<std::string> names = profile_names(tdl_profiles());
  return names;
}

const std::vector<setting_of<tdl_profile_choice>>& tdl_profile_settings() {
  using c = tdl_profile_choice;
  static const std::vector<setting_of<c>> settings{
      profile_setting(
          tdl_profiles(), &c::name,
          "Extended pedestrian A, vehicular A and typical urban of LTE (3GPP TS 36.101 annex B.2.1), TDL-A "
          "to TDL-E of TR 38.901 clause 7.7.2, or those of TS 38.101-4 annex B.2.1. etu is longer than the "
          "normal cyclic prefix."),
      delay_spread_setting(tdl_profiles(), &c::delay_spread_ns),
      numbers("delays_ns", &c::delays_ns, 0, 1e9,
              "In place of profile: the delays of the taps of a profile of your own.",
              "1 to 64 numbers from 0 to 1e9, together with powers_db"),
      numbers("powers_db", &c::powers_db, -200, 200,
              "Relative mean powers of those taps; h has unit mean power.",
              "as many numbers from -200 to 200 as delays_ns has"),
      number("rician_k_db", &c::rician_k_db, -100, 100,
             "The first of those taps is Rician with this K-factor. Left out: Rayleigh, as the others are.",
             false, "a number from -100 to 100, together with delays_ns")};
  return settings;
}

tdl_profile profile_of(const tdl_profile_choice& choice) {
  const std::size_t taps = choice.delays_ns.size();
  if (taps == 0) {
    if (!choice.powers_db.empty()) throw argument_error("powers_db", "given", "none without delays_ns");
    if (choice.rician_k_db) throw argument_error("rician_k_db", "given", "none without delays_ns");
    return tdl_profile_named(choice.name, choice.delay_spread_ns);
  }
  if (taps > 64) throw argument_error("delays_ns", std::to_string(taps) + " taps", "1 to 64 taps");
  if (choice.powers_db.size() != taps)
    throw argument_error("powers_db", std::to_string(choice.powers_db.size()) + " numbers",
                         std::to_string(taps) + ", as many as delays_ns has");
  tdl_profile profile;
  for (std::size_t i = 0; i < taps; i++) profile.taps.push_back({choice.delays_ns[i], choice.powers_db[i]});
  profile.rician_k_db = choice.rician_k_db;
  return profile;
}

bool has_delay_spread(const std::string& name) noexcept { return is_scaled(tdl_profiles(), name); }

std::vector<double> tap_powers(const tdl_profile& p) {
  std::vector<double> powers;
  double sum = 0;
  for (const tdl_tap& t : p.taps) {
    powers.push_back(std::pow(10, t.power_db / 10));
    sum += powers.back();
  }
  for (double& x : powers) x /= sum;
  return powers;
}

double longest_delay_ns(const tdl_profile& p) noexcept {
  double longest = 0;
  for (const tdl_tap& t : p.taps) longest = std::max(longest, t.delay_ns);
  return longest;
}

double rms_delay_spread_ns(const tdl_profile& p) {
  const std::vector<double> powers = tap_powers(p);
  double mean = 0, square = 0;
  for (std::size_t i = 0; i < powers.size(); i++) mean += powers[i] * p.taps[i].delay_ns;
  for (std::size_t i = 0; i < powers.size(); i++)
    square += powers[i] * (p.taps[i].delay_ns - mean) * (p.taps[i].delay_ns - mean);
  return std::sqrt(square);
}

}  // namespace wb
