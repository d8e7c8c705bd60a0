#include <warpband/air/cdl.hpp>

#include <warpband/air/tdl.hpp>
#include <warpband/core/as_size.hpp>

namespace wb {
namespace {

class clusters final : public air {
 public:
  clusters(const air_antennas& a, const cdl_config& c) : air(a), channel_(c) {}
  std::size_t matrices() const noexcept override { return channel_.config().grid.elements(); }
  std::size_t bytes_per_frame() const noexcept override {  // of a drop's rays, 20 a cluster at most
    const cdl_config& c = channel_.config();
    return 4 * ((c.rows > 1 ? 4 : 3) * (20 * c.profile.clusters.size() + 1) + 1) * as_size(c.users);
  }
  void draw(executor& exec, values h, random_range range) override { channel_.response(exec, h, range); }
  channel_statistics statistics() const override {
    const cdl_config& c = channel_.config();
    channel_statistics s{{}, {}, c.speed_kmh / 3.6 / wavelength_m(c.carrier_hz), c.grid};
    for (const cdl_path& p : cdl_paths(c.profile)) {
      s.delays_ns.push_back(p.delay_ns);
      s.powers.push_back(p.power);
    }
    return s;
  }

 private:
  cdl_channel channel_;
};

std::vector<setting_of<box>> keys() {
  auto settings = within<cdl_keys>([](cdl_keys& k) -> auto& { return k.profile; }, cdl_profile_settings());
  for (auto& s : within<cdl_keys>([](cdl_keys& k) -> auto& { return k.lines; }, cdl_settings())) {
    if (!s.of_links) continue;
    if (find_setting(grid_settings(), s.name) != nullptr) s = std::move(s).only_with("nr.channel", {"none"});
    if (s.name == "speed_kmh") s = std::move(s).only_with("nr.channel", {"pusch", "pdsch"});
    settings.push_back(std::move(s));
  }
  return boxed(settings);
}

void complete_lines(box& b, air_antennas& a) {
  cdl_config c = held<cdl_config>(b);
  c.antennas = a.rx;
  c.users = a.tx;
  if (a.in_slots()) {
    c.grid = with_prefix(a.grid, longest_delay_ns(c.profile));
  } else {
    c.grid.subcarriers = a.grid.subcarriers;
    c.grid.symbols = 1;  // those of a frame share H
    check_still("speed_kmh", c.speed_kmh);
  }
  check(c);
  b = box(std::move(c));
}

air_values results(const box& b) {
  const cdl_config& c = held<cdl_config>(b);
  air_values values;
  std::vector<std::vector<double>> clusters;  // delay, power, four angles
  std::vector<std::int64_t> split;
  for (const cdl_cluster& x : c.profile.clusters) {
    if (x.split) split.push_back(static_cast<std::int64_t>(clusters.size()));
    clusters.push_back({x.delay_ns, x.power_db, x.aod_deg, x.aoa_deg, x.zod_deg, x.zoa_deg});
  }
  values.set("clusters", clusters);
  values.set("split_clusters", split);
  values.set("spreads_deg",
             std::vector{c.profile.asd_deg, c.profile.asa_deg, c.profile.zsd_deg, c.profile.zsa_deg});
  if (c.profile.rician_k_db) values.set("rician_k_db", *c.profile.rician_k_db);
  cdl_config whole = c;
  if (!c.spacing_wavelengths && c.spacing_m > 0)
    whole.spacing_wavelengths = c.spacing_m / wavelength_m(c.carrier_hz);
  values.add(cdl_settings(), whole);
  values.erase_name("antenna_spacing_m");
  return values;
}

}  // namespace

air_kind cdl_air() {
  return {
      .name = "cdl",
      .text =
          "For massive MIMO and PUSCH: clustered delay lines between a linear or planar array and users in "
          "directions of their own, of WINNER II and TR 38.901.",
      .keys = keys(),
      .read =
          [](const box& b) {
            const cdl_keys& k = held<cdl_keys>(b);
            cdl_config c = k.lines;
            c.profile = profile_of(k.profile);
            return box(std::move(c));
          },
      .serves =
          [](const air_antennas& a) {
            return a.system == air_system::massive || a.system == air_system::pusch;
          },
      .complete = complete_lines,
      .results = results,
      .make = [](const box& b, const air_antennas& a) -> std::unique_ptr<air> {
        return std::make_unique<clusters>(a, held<cdl_config>(b));
      }};
}

}  // namespace wb
