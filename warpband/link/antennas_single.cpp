// One antenna to one antenna, with a demapper; or a channel of bits.
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/config/link_schema.hpp>
#include <warpband/link/link_settings.hpp>
#include <warpband/receive/open_loop.hpp>

namespace wb {
namespace {

const single_antenna& settings_of(const link_config& c) { return c.antennas.get<single_antenna>(); }

/// The demappers differ from 16-QAM on, and for lists of more than two points.
std::vector<link_antennas> single_candidates(const link_config& c) {
  std::vector<link_antennas> candidates{c.antennas};
  if (c.constellation ? bits_per_symbol(c) > 1 : c.qam > 4)
    for (const demap_algorithm a : {demap_algorithm::max_log, demap_algorithm::exact})
      if (settings_of(c).demapper != a) candidates.emplace_back(single_antenna{a});
  return candidates;
}

/// Coded bits to a channel of bits.
class bits_in_uses final : public antenna_system {
 public:
  explicit bits_in_uses(const link_config& c) : config_(c), size_(c) {}
  std::size_t bytes_per_frame() const noexcept override { return size_.uses; }
  void allocate(executor& exec, std::size_t frames) override {
    received_ = exec.make<std::uint8_t>(frames * size_.uses, 1);
  }
  samples send(executor& exec, const std::uint8_t* bits, const frame_batch& batch) override {
    const std::size_t uses = batch.frames * size_.uses;
    const binary_channel channel = bits_at(config_.channel, batch.point_db);
    const auto received = make_view(received_.data(), uses);
    send_bits(exec, channel, make_view(bits, uses), received, batch.random(config_.seed, size_.uses));
    return {.bits = received, .llr_of_bit = channel.llr};
  }

 private:
  link_config config_;
  frame_sizes size_;
  array<std::uint8_t> received_;
};

}  // namespace

antenna_kind single_antenna_kind() {
  return {
      .name = "single",
      .takes_constellations = true,
      .complete = complete_uses,
      .check_loop =
          [](const link_config& c) {
            refuse_loop(c, "unset without a detector of streams, a space-time code or massive MIMO");
          },
      .erases_uses = false,
      .results =
          [](const link_config& c) {
            named_values values;
            if (is_of_bits(c.channel)) return values;  // nothing is demapped
            add_values(values, "modem", config::demapper_settings(), settings_of(c));
            return values;
          },
      .make = [](const link_config& c) -> std::unique_ptr<antenna_system> {
        if (is_of_bits(c.channel)) return std::make_unique<bits_in_uses>(c);
        return make_symbols_in_uses(c, true);
      },
      .make_detector = [](const link_config& c) -> std::unique_ptr<soft_detector> {
        if (is_of_bits(c.channel)) return nullptr;
        const demap_algorithm algorithm = settings_of(c).demapper;
        if (c.constellation)
          return make_open_detector(constellation_demapper(constellation(*c.constellation), algorithm));
        return make_open_detector(demapper_config{c.qam, algorithm});
      },
      .candidates = single_candidates,
      .receiver_name =
          [](const link_antennas& a) {
            return std::string("demapper ") + name_of(a.get<single_antenna>().demapper);
          },
  };
}

}  // namespace wb
