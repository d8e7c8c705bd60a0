#include <oracle/cdl.hpp>
#include <oracle/philox.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

namespace oracle {

namespace {
constexpr double word = 4294967296.0;
constexpr double turn = 2 * std::numbers::pi;
constexpr double degree = turn / 360;

/// Offset of ray m = 1..20 in units of the cluster's angle spread.
double offset_of_ray(int m) {
  const double pairs[] = {0.0447, 0.1413, 0.2492, 0.3715, 0.5129, 0.6797, 0.8844, 1.1481, 1.5195, 2.1551};
  return m % 2 == 1 ? pairs[(m - 1) / 2] : -pairs[(m - 1) / 2];
}

struct path {
  double delay_s, power;
  const cdl_cluster* cluster;
  std::vector<double> offsets;
};

std::vector<path> paths_of(const cdl_model& model) {
  std::vector<path> paths;
  double total = 0;
  for (const cdl_cluster& c : model.clusters) total += c.power;
  const double k = std::max(model.rician_k, 0.0);
  if (model.rician_k >= 0) paths.push_back({model.clusters[0].delay_s, k / (k + 1), &model.clusters[0], {0}});
  for (const cdl_cluster& c : model.clusters) {
    const double power = c.power / total / (k + 1);
    std::vector<std::vector<int>> groups{
        {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}};
    std::vector<double> shares{1}, later{0};
    if (c.split) {
      groups = {{1, 2, 3, 4, 5, 6, 7, 8, 19, 20}, {9, 10, 11, 12, 17, 18}, {13, 14, 15, 16}};
      shares = {10.0 / 20, 6.0 / 20, 4.0 / 20};
      later = {0, 5e-9, 10e-9};
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      path p{c.delay_s + later[g], power * shares[g], &c, {}};
      for (const int m : groups[g]) p.offsets.push_back(offset_of_ray(m));
      paths.push_back(p);
    }
  }
  return paths;
}

std::array<std::uint32_t, 4> words(std::uint64_t seed, std::uint64_t index, std::uint32_t point, int user,
                                   int number) {
  return philox4x32_10(
      {static_cast<std::uint32_t>(index % (1ULL << 32)), static_cast<std::uint32_t>(index / (1ULL << 32)),
       static_cast<std::uint32_t>(6 * 16777216 + user * 2048 + number), point},
      {static_cast<std::uint32_t>(seed % (1ULL << 32)), static_cast<std::uint32_t>(seed / (1ULL << 32))});
}
}  // namespace

cdl_user draw_cdl_user(const cdl_model& model, std::uint64_t seed, std::uint64_t index, std::uint32_t point,
                       int user, double lowest_direction, double highest_direction) {
  cdl_user drawn;
  const auto first = words(seed, index, point, user, 0);
  drawn.direction = lowest_direction + (highest_direction - lowest_direction) * first[0] / word;
  drawn.heading = turn * first[1] / word;
  int number = 2;
  for (const path& p : paths_of(model)) {
    const std::size_t rays = p.offsets.size();
    std::vector<std::array<std::uint32_t, 4>> w;
    for (std::size_t m = 0; m < rays; ++m) w.push_back(words(seed, index, point, user, number++));
    // Rays in the order of a key: who is n-th takes the n-th angle.
    const auto shuffled = [&](std::size_t key) {
      std::vector<std::size_t> order(rays);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return w[a][key] < w[b][key]; });
      std::vector<double> offsets(rays);
      for (std::size_t n = 0; n < rays; ++n) offsets[order[n]] = p.offsets[n];
      return offsets;
    };
    const auto arrival = shuffled(1), departure_zenith = shuffled(2), arrival_zenith = shuffled(3);
    for (std::size_t m = 0; m < rays; ++m)
      drawn.rays.push_back({p.delay_s, std::sqrt(p.power / static_cast<double>(rays)), turn * w[m][0] / word,
                            drawn.direction + degree * (p.cluster->aod + model.asd * p.offsets[m]),
                            degree * (p.cluster->aoa + model.asa * arrival[m]),
                            degree * (p.cluster->zod + model.zsd * departure_zenith[m]),
                            degree * (p.cluster->zoa + model.zsa * arrival_zenith[m])});
  }
  return drawn;
}

double draw_cdl_shadowing(std::uint64_t seed, std::uint64_t index, std::uint32_t point, int user,
                          double sigma_db) {
  const auto w = words(seed, index, point, user, 1);
  return sigma_db * std::sqrt(-2 * std::log((w[0] + 0.5) / word)) * std::cos(turn * w[1] / word);
}

std::complex<double> cdl_response(const cdl_user& user, int antenna, double spacing, double speed,
                                  double time_s, double frequency_hz) {
  std::complex<double> sum = 0;
  for (const cdl_ray& r : user.rays)
    sum += std::polar(r.amplitude,
                      r.phase + turn * (antenna * spacing * std::sin(r.zod) * std::sin(r.aod) +
                                        time_s * speed * std::sin(r.zoa) * std::cos(r.aoa - user.heading) -
                                        frequency_hz * r.delay_s));
  return sum;
}

std::complex<double> cdl_panel_response(const cdl_user& user, int row, int column, double row_spacing,
                                        double column_spacing, double speed, double time_s,
                                        double frequency_hz) {
  const std::array<double, 3> place{0, column * column_spacing, row * row_spacing};
  std::complex<double> sum = 0;
  for (const cdl_ray& r : user.rays) {
    const std::array<double, 3> departure{std::sin(r.zod) * std::cos(r.aod),
                                          std::sin(r.zod) * std::sin(r.aod), std::cos(r.zod)},
        arrival{std::sin(r.zoa) * std::cos(r.aoa), std::sin(r.zoa) * std::sin(r.aoa), std::cos(r.zoa)},
        velocity{speed * std::cos(user.heading), speed * std::sin(user.heading), 0};
    const double steering = std::inner_product(place.begin(), place.end(), departure.begin(), 0.),
                 doppler = std::inner_product(velocity.begin(), velocity.end(), arrival.begin(), 0.);
    sum += std::polar(r.amplitude, r.phase + turn * (steering + time_s * doppler - frequency_hz * r.delay_s));
  }
  return sum;
}

std::complex<double> cdl_correlation(const cdl_model& model, double direction, double heading, int antennas,
                                     double spacing, double speed, double dt, double df) {
  std::complex<double> sum = 0;
  for (const path& p : paths_of(model)) {
    // Every zenith goes with every azimuth equally often.
    std::complex<double> space = 0, time = 0;
    for (const double azimuth : p.offsets)
      for (const double zenith : p.offsets) {
        space += std::polar(1.0, turn * antennas * spacing *
                                     std::sin(degree * (p.cluster->zod + model.zsd * zenith)) *
                                     std::sin(direction + degree * (p.cluster->aod + model.asd * azimuth)));
        time += std::polar(1.0, turn * dt * speed * std::sin(degree * (p.cluster->zoa + model.zsa * zenith)) *
                                    std::cos(degree * (p.cluster->aoa + model.asa * azimuth) - heading));
      }
    const double pairs = static_cast<double>(p.offsets.size() * p.offsets.size());
    sum += p.power * (space / pairs) * (time / pairs) * std::polar(1.0, -turn * df * p.delay_s);
  }
  return sum;
}

double cdl_fourth_moment(const cdl_model& model) {
  // Of a sum of constant amplitudes with independent phases: twice the square of the power, but for each ray
  // with itself once.
  double moment = 2;
  for (const path& p : paths_of(model)) moment -= p.power * p.power / static_cast<double>(p.offsets.size());
  return moment;
}

}  // namespace oracle
