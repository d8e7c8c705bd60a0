#include <warpband/air/rayleigh.hpp>

#include <warpband/channel/mimo/mimo.hpp>
#include <warpband/channel/rayleigh/rayleigh.hpp>

namespace wb {
namespace {

class flat_matrices final : public air {
 public:
  flat_matrices(const air_antennas& a, fading_type fading, rician_amplitudes rice)
      : air(a), matrices_(matrices_of(fading, a)), rice_(rice) {}
  std::size_t matrices() const noexcept override { return matrices_; }
  void draw(executor& exec, values h, random_range range) override {
    range.first *= matrices_;
    draw_mimo_rayleigh(exec, h, antennas_.tx, range, rice_);
  }
  void send(executor& exec, symbols x, values y, values h, random_range range) override {
    range.first *= matrices_;
    apply_mimo_rayleigh(exec, x, y, h, x.items / h.items, range, rice_);
  }

 private:
  std::size_t matrices_;
  rician_amplitudes rice_;
};

/// One antenna to one: h of every use, from random numbers of its own.
class flat_gains final : public air {
 public:
  flat_gains(const air_antennas& a, fading_type fading, rician_amplitudes rice)
      : air(a), shared_(a.uses / matrices_of(fading, a)), rice_(rice) {}
  std::size_t matrices() const noexcept override { return antennas_.uses; }
  void draw(executor& exec, values h, random_range range) override {
    if (unused_.items() < h.items) unused_ = exec.make<std::complex<float>>(h.items, 1);
    const values y = make_view(unused_.data(), h.items);
    send(exec, y, y, h, range);
  }
  void send(executor& exec, symbols x, values y, values h, random_range range) override {
    range.first *= antennas_.uses / shared_;
    apply_rayleigh(exec, x, y, h, static_cast<int>(shared_), range, rice_);
  }

 private:
  std::size_t shared_;
  rician_amplitudes rice_;
  array<std::complex<float>> unused_;
};

}  // namespace

const char* name_of(fading_type f) noexcept { return f == fading_type::fast ? "fast" : "block"; }

const std::vector<setting_of<rayleigh_config>>& rayleigh_settings() {
  static const std::vector<setting_of<rayleigh_config>> settings{
      words("fading", &rayleigh_config::fading, {{"fast", fading_type::fast}, {"block", fading_type::block}},
            "A new h or H for every use of the channel, with a space-time code for every codeword; or one "
            "for each frame.")};
  return settings;
}

std::unique_ptr<air> make_flat_fading(const air_antennas& a, fading_type fading, rician_amplitudes rice) {
  if (a.system == air_system::single) return std::make_unique<flat_gains>(a, fading, rice);
  return std::make_unique<flat_matrices>(a, fading, rice);
}

air_kind rayleigh_air() {
  return {.name = "rayleigh",
          .text =
              "Flat fading, known to the receiver: y = h s + n with h ~ CN(0, 1); with several antennas y "
              "= H s + n, every entry of H like h.",
          .keys = boxed(rayleigh_settings()),
          .serves = [](const air_antennas& a) { return !a.in_slots(); },
          .fading = [](const box& b) { return fading_of(held<rayleigh_config>(b).fading); },
          .results = [](const box& b) { return air_values(rayleigh_settings(), held<rayleigh_config>(b)); },
          .make = [](const box& b, const air_antennas& a) -> std::unique_ptr<air> {
            return make_flat_fading(a, held<rayleigh_config>(b).fading);
          }};
}

}  // namespace wb
