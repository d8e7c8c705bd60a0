#include <warpband/channel/matrix/matrix.hpp>
#include <warpband/channel/mimo/mimo.hpp>
#include <warpband/core/count.hpp>
#include <warpband/link/massive_channel.hpp>

namespace wb {
namespace {

using complex_view = view<std::complex<float>>;

/// Independent entries; fast: on every subcarrier other ones.
class rayleigh_matrices final : public massive_channel {
 public:
  rayleigh_matrices(const massive_link_config& c, fading_type fading)
      : config_(c), block_(fading == fading_type::block) {}
  std::size_t matrices() const noexcept override { return block_ ? 1 : size(config_.subcarriers); }
  void draw(executor& exec, complex_view h, random_range range) override {
    range.first *= matrices();
    draw_mimo_rayleigh(exec, h, config_.users, range);
  }
  void send(executor& exec, view<const std::complex<float>> x, complex_view y, complex_view h,
            random_range range) override {
    range.first *= matrices();
    apply_mimo_rayleigh(exec, x, y, h, x.items / h.items, range);
  }

 private:
  massive_link_config config_;
  bool block_;
};

/// Tapped delay lines, one for each pair of antennas, drawn for a user and up to 16 antennas at a time, which
/// have blocks of their own.
class tdl_matrices final : public massive_channel {
 public:
  tdl_matrices(const massive_link_config& c, const tdl_config& line) : config_(c), whole_(of(line, most)) {
    if (c.antennas % most != 0) rest_.emplace(of(line, c.antennas % most));
  }
  std::size_t matrices() const noexcept override { return size(config_.subcarriers); }
  void draw(executor& exec, complex_view h, random_range range) override {
    const std::size_t entries = size(config_.antennas * config_.users);
    for (int user = 0; user < config_.users; user++)
      for (int first = 0; first < config_.antennas; first += most) {
        const int antennas = std::min(most, config_.antennas - first);
        const std::uint64_t number = size(user) << 5 | size(first / most);  // below 2^11
        random_range of_pair = range;
        of_pair.first |= number << 48;
        const complex_view part{h.data + size(first * config_.users + user), size(antennas), h.items,
                                size(config_.users), entries};
        (antennas == most ? whole_ : *rest_).response(exec, part, of_pair);
      }
  }

 private:
  static constexpr int most = 16;
  static tdl_config of(tdl_config c, int antennas) {
    c.streams = 1;
    c.rx_antennas = antennas;
    c.grid.symbols = 1;  // those of a frame share H
    return c;
  }
  massive_link_config config_;
  tdl_channel whole_;
  std::optional<tdl_channel> rest_;
};

/// Clustered delay lines; a frame is a drop of theirs.
class cdl_matrices final : public massive_channel {
 public:
  explicit cdl_matrices(const cdl_config& c) : channel_(c) {}
  std::size_t matrices() const noexcept override { return size(channel_.config().grid.subcarriers); }
  std::size_t bytes_per_frame() const noexcept override {  // of a drop's rays, 20 a cluster at most
    const cdl_config& c = channel_.config();
    return 4 * (3 * (20 * c.profile.clusters.size() + 1) + 1) * size(c.users);
  }
  void draw(executor& exec, complex_view h, random_range range) override {
    channel_.response(exec, h, range);
  }

 private:
  cdl_channel channel_;
};

}  // namespace

void massive_channel::send(executor& exec, view<const std::complex<float>> x, complex_view y, complex_view h,
                           random_range range) {
  draw(exec, h, range);
  apply_channel(exec, h, x, y, x.items / h.items);
}

std::unique_ptr<massive_channel> make_massive_channel(const link_channel& channel,
                                                      const massive_link_config& m) {
  if (const auto* c = std::get_if<cdl_config>(&channel)) return std::make_unique<cdl_matrices>(*c);
  if (const auto* c = std::get_if<tdl_config>(&channel)) return std::make_unique<tdl_matrices>(m, *c);
  if (const auto* c = std::get_if<csi_channel_config>(&channel))
    return make_csi_channel(*c, m.antennas, m.users, m.subcarriers);
  return std::make_unique<rayleigh_matrices>(m, std::get<rayleigh_config>(channel).fading);
}

}  // namespace wb
