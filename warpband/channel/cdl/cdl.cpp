#include <warpband/channel/cdl/cdl.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/core/pairs.hpp>

namespace wb {

WB_DECLARE_KERNEL(cdl_rays)
WB_DECLARE_KERNEL(cdl_power)
WB_DECLARE_KERNEL(cdl)

namespace {

constexpr double most_turns = 1000;  // of a ray's phase in a drop
constexpr double most_spacing = 16;  // wavelengths
constexpr double light_speed = 299792458;

double spacing_of(const cdl_config& c) {
  return c.spacing_wavelengths.value_or(c.spacing_m / wavelength_m(c.carrier_hz));
}
double row_spacing_of(const cdl_config& c) { return c.row_spacing_wavelengths.value_or(spacing_of(c)); }
double doppler_hz(const cdl_config& c) { return c.speed_kmh / 3.6 / wavelength_m(c.carrier_hz); }

/// Degrees in units of 2^-32 of a turn.
std::uint32_t turns(double degrees) {
  const double part = degrees / 360 - std::floor(degrees / 360);
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(std::llround(part * 4294967296.)));
}
/// Of an interval of so many degrees; the whole circle is the most.
std::uint32_t width(double degrees) {
  return static_cast<std::uint32_t>(std::min(degrees / 360 * 4294967296., 4294967295.));
}

std::vector<cdl_ray> rays_of(const cdl_profile& p, const std::vector<cdl_path>& paths) {
  std::vector<cdl_ray> rays;
  for (const cdl_path& path : paths) {
    const auto first = static_cast<std::int32_t>(rays.size());
    const cdl_cluster& c = p.clusters[static_cast<std::size_t>(path.cluster)];
    for (const double x : path.offsets)
      rays.push_back({turns(c.aod_deg + x * p.asd_deg), turns(c.aoa_deg + x * p.asa_deg),
                      turns(c.zod_deg + x * p.zsd_deg), turns(c.zoa_deg + x * p.zsa_deg), first,
                      static_cast<std::int32_t>(path.offsets.size())});
  }
  return rays;
}
std::vector<std::int32_t> starts_of(const std::vector<cdl_path>& paths) {
  std::vector<std::int32_t> starts{0};
  for (const cdl_path& p : paths)
    starts.push_back(starts.back() + static_cast<std::int32_t>(p.offsets.size()));
  return starts;
}
std::vector<float> amplitudes_of(const std::vector<cdl_path>& paths) {
  std::vector<float> amplitudes;
  for (const cdl_path& p : paths)
    amplitudes.push_back(static_cast<float>(std::sqrt(p.power / static_cast<double>(p.offsets.size()))));
  return amplitudes;
}
std::complex<double> rotation(const ofdm_grid& grid, int subcarrier, double delay_ns) {
  const double turn = subcarrier * grid.spacing_hz * delay_ns * 1e-9;
  return std::polar(1., -2 * std::numbers::pi * (turn - std::floor(turn)));
}
std::vector<float> rotations_of(const ofdm_grid& grid, const std::vector<cdl_path>& paths) {
  std::vector<float> rotations;
  for (int block = 0; block * cdl_side < grid.subcarriers; block++)
    for (const cdl_path& p : paths)
      for (const bool imaginary : {false, true})
        for (int k = 0; k < cdl_side; k++) {
          const std::complex<double> x = rotation(grid, block * cdl_side + k, p.delay_ns);
          rotations.push_back(static_cast<float>(imaginary ? x.imag() : x.real()));
        }
  return rotations;
}
std::vector<float> overlaps_of(const ofdm_grid& grid, const std::vector<cdl_path>& paths) {
  std::vector<float> overlaps;
  for (const cdl_path& p : paths)
    for (const cdl_path& q : paths) {
      std::complex<double> sum = 0;
      for (int k = 0; k < grid.subcarriers; k++) sum += rotation(grid, k, p.delay_ns - q.delay_ns);
      sum /= grid.subcarriers;
      overlaps.insert(overlaps.end(), {static_cast<float>(sum.real()), static_cast<float>(sum.imag())});
    }
  return overlaps;
}
std::vector<std::uint32_t> turns_of(const cdl_config& c) {
  std::vector<std::uint32_t> angles;
  for (std::size_t u = 0; u < static_cast<std::size_t>(c.users); u++) {
    if (c.directions_deg.empty())
      angles.insert(angles.end(), {turns(-c.sector_deg), width(2 * c.sector_deg)});
    else
      angles.insert(angles.end(), {turns(c.directions_deg[u]), 0});
    angles.insert(angles.end(), {turns(c.heading_deg.value_or(0)), c.heading_deg ? 0 : width(360)});
  }
  return angles;
}
bool is_tilted(const cdl_profile& p) {
  for (const cdl_cluster& c : p.clusters)
    if (c.zod_deg != 90 || c.zoa_deg != 90) return true;
  return p.zsd_deg > 0 || p.zsa_deg > 0;
}

}  // namespace

double wavelength_m(double carrier_hz) noexcept { return light_speed / carrier_hz; }

const std::vector<setting_of<cdl_config>>& cdl_settings() {
  using c = cdl_config;
  static const std::vector<setting_of<c>> settings = [] {
    std::vector<setting_of<c>> list{
        integer("antennas", &c::antennas, 1, 512, "B, of the base station.").not_of_links(),
        integer("users", &c::users, 1, 64, "U, of one antenna each.").not_of_links(),
        number("carrier_hz", &c::carrier_hz, 1e6, 1e12, "The carrier frequency."),
        number("antenna_spacing_m", &c::spacing_m, 0, 1e4,
               "Distance of neighbouring antennas in a row of the base station's array. The default, 10 m / "
               "128, is that of docs/li-thesis.md.",
               false, "a number from 0 to 16 wavelengths"),
        number("antenna_spacing_wavelengths", &c::spacing_wavelengths, 0, 16,
               "The same in wavelengths, in the place of antenna_spacing_m."),
        integer(
            "antenna_rows", &c::rows, 1, 512,
            "Rows of the base station's array, one above the other, of equally many antennas. 1: a linear "
            "array. Antenna b is in row b / columns.",
            "an integer from 1 to 512 that divides the antennas")
            .left_out_by_default(),
        number("row_spacing_wavelengths", &c::row_spacing_wavelengths, 0, 16,
               "Distance of neighbouring rows in wavelengths, of several rows. Left out: that of antennas in "
               "a row."),
        number("speed_kmh", &c::speed_kmh, 0, 1e6, "Speed of the users.", false,
               "a number from 0, up to 1000 periods of the Doppler shift in a drop")
            .left_out_by_default(),
        number("heading_deg", &c::heading_deg, -360, 360,
               "Direction in which users move, as an azimuth of arrival. Left out: a random one for each.")
            .not_of_links(),
        number("sector_deg", &c::sector_deg, 0, 180,
               "Users stand in random directions, uniform within +- this angle of the array's normal and new "
               "in every frame."),
        numbers("directions_deg", &c::directions_deg, -180, 180,
                "The users' directions, in place of random ones.", "a number from -180 to 180 for each user")
            .not_of_links(),
        boolean("power_control", &c::power_control,
                "true: the mean power of each user's channel is 1 in every frame. false: over many frames."),
        number("shadowing_db", &c::shadowing_db, 0, 40,
               "Standard deviation of the users' mean powers, without power_control.")
            .not_of_links()};
    for (auto& s : within<c>([](c& t) -> ofdm_grid& { return t.grid; }, grid_settings())) {
      s.of_links = s.name == "spacing_hz" || s.name == "cyclic_prefix_us";  // the rest is massive MIMO's
      list.push_back(std::move(s));
    }
    return list;
  }();
  return settings;
}

void check(const cdl_config& c) {
  check(c.profile);
  check(c.grid);
  check_delay(c.grid, longest_delay_ns(c.profile));
  check_range("antennas", c.antennas, 1, 512);
  check_range("users", c.users, 1, 64);
  check_number("carrier_hz", c.carrier_hz, 1e6, 1e12);
  if (c.spacing_wavelengths)
    check_number("antenna_spacing_wavelengths", *c.spacing_wavelengths, 0, most_spacing);
  else
    check_number("antenna_spacing_m", c.spacing_m, 0, most_spacing * wavelength_m(c.carrier_hz));
  check_range("antenna_rows", c.rows, 1, c.antennas);
  if (c.antennas % c.rows != 0)
    throw argument_error("antenna_rows", std::to_string(c.rows),
                         "a divisor of antennas = " + std::to_string(c.antennas));
  if (c.row_spacing_wavelengths) {
    check_number("row_spacing_wavelengths", *c.row_spacing_wavelengths, 0, most_spacing);
    if (c.rows == 1)
      throw argument_error("row_spacing_wavelengths", decimal(*c.row_spacing_wavelengths),
                           "none: there is one row");
  }
  const double seconds = c.grid.period_us() * 1e-6 * c.grid.symbols;
  const double fastest = most_turns / seconds * wavelength_m(c.carrier_hz) * 3.6;
  if (!(c.speed_kmh >= 0 && c.speed_kmh <= fastest))
    throw argument_error(
        "speed_kmh", decimal(c.speed_kmh),
        "0 to " + decimal(fastest) + ", 1000 wavelengths in a drop of " + decimal(seconds) + " s");
  if (c.heading_deg) check_number("heading_deg", *c.heading_deg, -360, 360);
  check_number("sector_deg", c.sector_deg, 0, 180);
  if (!c.directions_deg.empty() && c.directions_deg.size() != static_cast<std::size_t>(c.users))
    throw argument_error("directions_deg", std::to_string(c.directions_deg.size()) + " directions",
                         "one for each of " + std::to_string(c.users) + " users, or none");
  for (const double x : c.directions_deg) check_number("directions_deg", x, -180, 180);
  check_number("shadowing_db", c.shadowing_db, 0, 40);
  if (c.power_control && c.shadowing_db > 0)
    throw argument_error("shadowing_db", decimal(c.shadowing_db), "0 with power_control, which undoes it");
}

cdl_channel::cdl_channel(const cdl_config& config)
    : config_((check(config), config)), paths_(cdl_paths(config.profile)) {
  const cdl_config& c = config_;
  rays_ = resident<cdl_ray>(rays_of(c.profile, paths_));
  starts_ = resident<std::int32_t>(starts_of(paths_));
  amplitudes_ = resident<float>(amplitudes_of(paths_));
  rotations_ = resident<float>(rotations_of(c.grid, paths_));
  if (c.power_control) overlaps_ = resident<float>(overlaps_of(c.grid, paths_));
  turns_ = resident<std::uint32_t>(turns_of(c));
  args_.subcarriers = c.grid.subcarriers;
  args_.symbols = c.grid.symbols;
  args_.antennas = c.antennas;
  args_.users = c.users;
  args_.paths = static_cast<int>(paths_.size());
  args_.rays = static_cast<int>(rays_.host().size());
  args_.moving = c.speed_kmh > 0 && c.grid.symbols > 1;
  args_.times = args_.moving ? c.grid.symbols : 1;
  args_.tilted = is_tilted(c.profile);
  args_.columns = c.antennas / c.rows;
  if (c.rows > 1) {
    args_.numbers = 4;
    args_.row_spacing = static_cast<float>(row_spacing_of(c));
    if (args_.columns > 1)
      args_.reciprocal = static_cast<std::uint32_t>((std::uint64_t{1} << 32) / as_size(args_.columns) + 1);
  }
  args_.spacing = static_cast<float>(spacing_of(c));
  args_.doppler = static_cast<float>(doppler_hz(c) * c.grid.period_us() * 1e-6);
  args_.shadowing = static_cast<float>(c.shadowing_db * std::numbers::ln10 / 20 * std::numbers::sqrt2);
}

void cdl_channel::response(executor& exec, view<std::complex<float>> channel, random_range range) const {
  const cdl_config& c = config_;
  const std::size_t rows = channel.items;
  if (rows % c.grid.elements() != 0)
    throw shape_error("channel", shape_text(rows, channel.elements),
                      "whole drops of symbols * subcarriers = " + std::to_string(c.grid.elements()));
  const std::size_t users = static_cast<std::size_t>(c.users),
                    antennas = static_cast<std::size_t>(c.antennas);
  check_shape("channel", channel, rows, antennas * users);
  cdl_args a = args_;
  a.channel = as_pairs(channel);
  a.angles = rays_.on(exec);
  a.starts = starts_.on(exec);
  a.amplitudes = amplitudes_.on(exec);
  a.rotations = rotations_.on(exec);
  if (c.power_control) a.overlaps = overlaps_.on(exec);
  a.turns = turns_.on(exec);
  a.seed = range.seed;
  a.first = range.first;
  a.point = range.point;
  const std::size_t drops = rows / c.grid.elements();
  auto drawn = exec.make<std::uint32_t>(drops, static_cast<std::size_t>(a.numbers * a.rays + 1) * users);
  a.drawn = drawn.data();
  exec.run(cdl_rays_kernels(), &a, drops * users);
  if (c.power_control) exec.run(cdl_power_kernels(), &a, drops * users);
  exec.run(cdl_kernels(), &a, drops * static_cast<std::size_t>(a.times) * antennas);
}

}  // namespace wb
