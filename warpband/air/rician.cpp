#include <warpband/air/rician.hpp>

namespace wb {

const std::vector<setting_of<rician_config>>& rician_settings() {
  using c = rician_config;
  static const std::vector<setting_of<c>> settings{
      words("fading", &c::fading, {{"fast", fading_type::fast}, {"block", fading_type::block}},
            "A new h or H for every use of the channel, with a space-time code for every codeword; or one "
            "for each frame."),
      number("rician_k_db", &c::rician_k_db, -100, 100,
             "K-factor: the power of the fixed part of h over that of the scattered one. Left out: 0.")
          .without_default()};
  return settings;
}

air_kind rician_air() {
  return {
      .name = "rician",
      .text =
          "Flat fading, known to the receiver, with a line of sight: h = sqrt(K / (K + 1)) exp(i phi) + "
          "sqrt(1 / (K + 1)) g, g the h of rayleigh. phi is uniform, another one for every h.",
      .keys = boxed(rician_settings()),
      .serves = [](const air_antennas& a) { return !a.in_slots(); },
      .complete = [](box& b, air_antennas&) { check_settings(rician_settings(), held<rician_config>(b)); },
      .fading = [](const box& b) { return fading_of(held<rician_config>(b).fading); },
      .results = [](const box& b) { return air_values(rician_settings(), held<rician_config>(b)); },
      .make = [](const box& b, const air_antennas& a) -> std::unique_ptr<air> {
        const rician_config& c = held<rician_config>(b);
        return make_flat_fading(a, c.fading, rician_of_db(c.rician_k_db));
      }};
}

}  // namespace wb
