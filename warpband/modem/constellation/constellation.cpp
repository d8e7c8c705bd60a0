#include <warpband/modem/constellation/constellation.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numbers>

#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>

namespace wb {

WB_DECLARE_KERNEL(constellation_map)
WB_DECLARE_KERNEL(constellation_demap)

namespace {

using complex = std::complex<double>;

/// A point of a standard's figure: its ring, from the inside, and its angle in units of pi / 24.
struct polar_point {
  int ring, angle;
};
// EN 302 307-1, figures 10, 11 and 12, by label.
constexpr polar_point psk8[]{{0, 6}, {0, 0}, {0, 24}, {0, 30}, {0, 12}, {0, -6}, {0, 18}, {0, -12}};
constexpr polar_point apsk16[]{{1, 6},  {1, -6},  {1, 18}, {1, -18}, {1, 2}, {1, -2}, {1, 22}, {1, -22},
                               {1, 10}, {1, -10}, {1, 14}, {1, -14}, {0, 6}, {0, -6}, {0, 18}, {0, -18}};
constexpr polar_point apsk32[]{{1, 6}, {1, 10}, {1, -6}, {1, -10}, {1, 18}, {1, 14}, {1, -18}, {1, -14},
                               {2, 3}, {2, 9},  {2, -6}, {2, -12}, {2, 18}, {2, 12}, {2, -21}, {2, -15},
                               {1, 2}, {0, 6},  {1, -2}, {0, -6},  {1, 22}, {0, 18}, {1, -22}, {0, -18},
                               {2, 0}, {2, 6},  {2, -3}, {2, -9},  {2, 21}, {2, 15}, {2, 24},  {2, -18}};

template <std::size_t N>
std::vector<complex> points_of(const polar_point (&points)[N], const std::vector<double>& ring_ratios) {
  std::vector<complex> list;
  for (const polar_point& p : points)
    list.push_back(std::polar(p.ring == 0 ? 1.0 : ring_ratios[static_cast<std::size_t>(p.ring - 1)],
                              p.angle * std::numbers::pi / 24));
  return list;
}

void check_rings(const constellation_config& c, std::size_t count) {
  bool rising = c.ring_ratios.size() == count;
  double before = 1;
  for (const double ratio : c.ring_ratios) {
    rising = rising && ratio > before;
    before = ratio;
  }
  if (rising) return;
  const std::string given = as_message(setting_value(c.ring_ratios));
  throw argument_error(
      "ring_ratios", c.ring_ratios.empty() ? "none" : given,
      (count == 1 ? "a number above 1 with \"" : "two rising numbers above 1 with \"") + c.type + '"');
}

std::vector<complex> own_points(const constellation_config& c) {
  const std::size_t count = c.points.size();
  if (count < 2 || count > 4096 || !std::has_single_bit(count))
    throw argument_error("points", std::to_string(count) + " points", "2, 4, 8, ... or 4096 points");
  if (!c.labels.empty() && c.labels.size() != count)
    throw argument_error("labels", std::to_string(c.labels.size()) + " labels",
                         "one for each of the " + std::to_string(count) + " points");
  std::vector<complex> by_label(count);
  std::vector<bool> taken(count);
  for (std::size_t i = 0; i < count; i++) {
    const int label = c.labels.empty() ? static_cast<int>(i) : c.labels[i];
    if (label < 0 || static_cast<std::size_t>(label) >= count || taken[static_cast<std::size_t>(label)])
      throw argument_error("labels", "entry " + std::to_string(i) + " = " + std::to_string(label),
                           "each number from 0 to " + std::to_string(count - 1) + " once");
    taken[static_cast<std::size_t>(label)] = true;
    by_label[static_cast<std::size_t>(label)] = c.points[i];
  }
  return by_label;
}

std::vector<complex> points_of(const constellation_config& c) {
  if (c.type == "8psk") return points_of(psk8, {});
  if (c.type == "points") return own_points(c);
  check_rings(c, c.type == "16apsk" ? 1 : 2);
  return c.type == "16apsk" ? points_of(apsk16, c.ring_ratios) : points_of(apsk32, c.ring_ratios);
}

/// Largest magnitude first, so that neither tiny nor huge points lose their energy.
void normalise(std::vector<complex>& points) {
  double largest = 0, energy = 0;
  for (const complex& s : points) {
    if (!std::isfinite(s.real()) || !std::isfinite(s.imag()))
      throw argument_error("points", "one that is NaN or infinite", "finite points");
    largest = std::max({largest, std::fabs(s.real()), std::fabs(s.imag())});
  }
  if (largest == 0) throw argument_error("points", "all 0", "a point other than 0");
  for (complex& s : points) {
    s /= largest;
    energy += std::norm(s);
  }
  const double scale = std::sqrt(static_cast<double>(points.size()) / energy);
  for (complex& s : points) s *= scale;
}

}  // namespace

const std::vector<setting_of<constellation_config>>& constellation_settings() {
  using c = constellation_config;
  static const std::vector<setting_of<c>> settings{
      words<c, std::string>(
          "type", &c::type,
          {{"points", "points"}, {"8psk", "8psk"}, {"16apsk", "16apsk"}, {"32apsk", "32apsk"}},
          "Points of your own, or a constellation of DVB-S2 (EN 302 307-1 clause 5.4)."),
      numbers("ring_ratios", &c::ring_ratios, 1, 100,
              "Radii of the outer rings divided by the radius of the innermost: one for 16APSK, two for "
              "32APSK.",
              "one or two numbers above 1, up to 100")
          .only_with("type", {"16apsk", "32apsk"}),
      list("points", &c::points, "list of pairs of numbers",
           "Points as pairs [re, im]. They are scaled to a mean energy of 1.",
           "2 to 4096 pairs of numbers, a power of two",
           [](const setting_value& v) {
             if (const auto* points = std::get_if<std::vector<complex>>(&v)) return *points;
             settings_detail::refuse("points", v, "2 to 4096 pairs of numbers, a power of two");
           })
          .only_with("type", {"points"}),
      integers("labels", &c::labels, 0, 4095,
               "The label of each point, whose most significant bit is the symbol's first bit. Left out: 0, "
               "1, 2, ...",
               "each integer from 0 to the number of points - 1 once")
          .only_with("type", {"points"})};
  return settings;
}

std::vector<double> dvb_s2_ring_ratios(const std::string& type, const std::string& rate) {
  using table = std::vector<std::pair<std::string, std::vector<double>>>;
  static const std::map<std::string, table> tables{
      {"8psk", {{"3/5", {}}, {"2/3", {}}, {"3/4", {}}, {"5/6", {}}, {"8/9", {}}, {"9/10", {}}}},
      {"16apsk",
       {{"2/3", {3.15}},
        {"3/4", {2.85}},
        {"4/5", {2.75}},
        {"5/6", {2.70}},
        {"8/9", {2.60}},
        {"9/10", {2.57}}}},
      {"32apsk",
       {{"3/4", {2.84, 5.27}},
        {"4/5", {2.72, 4.87}},
        {"5/6", {2.64, 4.64}},
        {"8/9", {2.54, 4.33}},
        {"9/10", {2.53, 4.30}}}}};
  const auto found = tables.find(type);
  if (found == tables.end())
    throw argument_error("type", '"' + type + '"', among({"8psk", "16apsk", "32apsk"}));
  std::vector<std::string> rates;
  for (const auto& [r, ratios] : found->second) {
    if (r == rate) return ratios;
    rates.push_back(r);
  }
  throw argument_error("rate", '"' + rate + '"', among(rates) + " with " + type + " in DVB-S2");
}

int bits_per_symbol(const constellation_config& c) noexcept {
  if (same_word(c.type, "points")) return std::max(1, static_cast<int>(std::bit_width(c.points.size())) - 1);
  return same_word(c.type, "8psk") ? 3 : same_word(c.type, "16apsk") ? 4 : 5;
}

constellation::constellation(const constellation_config& config)
    : config_(without_idle(constellation_settings(), config)),
      points_(points_of(config_)),
      bits_(bits_per_symbol(config_)) {
  normalise(points_);
}

namespace {

cx_pair pair_of(complex s) { return {static_cast<float>(s.real()), static_cast<float>(s.imag())}; }

resident<cx_pair> pairs_of(const constellation& c) {
  std::vector<cx_pair> table;
  for (const complex& s : c.points()) table.push_back(pair_of(s));
  return resident<cx_pair>(std::move(table));
}
resident<point_entry> entries_of(const constellation& c) {
  std::vector<point_entry> table;
  for (const complex& s : c.points()) {
    const cx_pair p = pair_of(s);
    table.push_back({p.re, p.im, static_cast<float>(double{p.re} * p.re + double{p.im} * p.im)});
  }
  return resident<point_entry>(std::move(table));
}

}  // namespace

constellation_mapper::constellation_mapper(const constellation& c) : bits_(c.bits()), points_(pairs_of(c)) {}

void constellation_mapper::run(executor& exec, view<const std::uint8_t> bits,
                               view<std::complex<float>> symbols) const {
  check_shape("bits", bits, bits.items, static_cast<std::size_t>(bits_));
  check_shape("symbols", symbols, bits.items, 1);
  const constellation_map_args a{bits_, points_.on(exec), bits, as_pairs(symbols)};
  exec.run(constellation_map_kernels(), &a, bits.items);
}

constellation_demapper::constellation_demapper(const constellation& c, demap_algorithm algorithm)
    : bits_(c.bits()), exact_(algorithm == demap_algorithm::exact), points_(entries_of(c)) {
  check_settings(demapper_settings(), demapper_config{4, algorithm});
}

void constellation_demapper::run(executor& exec, const demap_input& in, view<float> llr,
                                 view<std::uint8_t> status) const {
  const std::size_t n = in.received.items;
  check_shape("received", in.received, n, 1);
  check_optional_shape("channel", in.channel, n, 1);
  check_shape("noise_var", in.noise_var, n, 1);
  check_optional_shape("llr", llr, n, static_cast<std::size_t>(bits_));
  check_optional_shape("status", status, n, 1);
  check_apart({{"llr", llr}, {"status", status}});
  const constellation_demap_args a{
      bits_, exact_, points_.on(exec), as_pairs(in.received), as_pairs(in.channel), in.noise_var,
      llr,   status};
  exec.run(constellation_demap_kernels(), &a, n);
}

}  // namespace wb
