#include <warpband/link/massive_link.hpp>

#include <warpband/massive/cluster/cluster_settings.hpp>
#include <warpband/massive/massive_settings.hpp>
#include <warpband/receive/chains.hpp>

namespace wb {

const std::vector<setting_of<massive_link_config>>& massive_link_settings() {
  using c = massive_link_config;
  static const std::vector<setting_of<c>> settings{
      solver_setting(&c::solver),
      words("direction", &c::direction,
            {{"uplink", massive_direction::uplink}, {"downlink", massive_direction::downlink}},
            "uplink: y = H x + n at the base station and Es = 1 for each user; rx_antennas of ebn0_db and "
            "snr_db are the antennas, streams the users. downlink: y = H^H x' + n, each vector x' has energy "
            "1, Es = 1 / users for each user, and snr_db = 10 log10(1 / N0). The regularisation is users N0. "
            "Each user knows exactly its gain on every subcarrier and the mean power of its interference. It "
            "is told the factor that normalised a vector (docs/conventions.md). No pilots are sent or "
            "counted."),
      antennas_setting<c>(),
      users_setting<c>(),
      iterations_setting<c>(),
      residual_setting<c>(),
      words("sinr", &c::sinr, {{"exact", massive_sinr::exact}, {"approximate", massive_sinr::approximate}},
            "Where the SINR that scales LLRs comes from. exact: from the inverse of the Gram matrix. "
            "approximate: from its diagonal, all that solvers with iterations have. Left out: exact where "
            "the solver has it.")
          .only_with("direction", {"uplink"}),
      integer(
          "subcarriers", &c::subcarriers, 1, 4096,
          "Subcarriers of an OFDM symbol. The bits of a codeword fill them from the first on, and zeros "
          "fill the rest. Without a code, code.k left out is all their bits. Left out with channel.type = "
          "\"file\": all subcarriers of the file.",
          "an integer from 1 to 4096, enough for a codeword"),
      integer("symbols", &c::symbols, 1, 64,
              "OFDM symbols of a frame. They share one channel estimate per subcarrier."),
      words("csi", &c::csi, {{"perfect", massive_csi::perfect}, {"ls", massive_csi::ls}},
            "What the base station knows of the channel. perfect: H. ls: its least-squares estimate from "
            "orthogonal pilot sequences of the users. It uses the estimate as if it were H, and knows N0. "
            "Pilots take no time from the data.")
          .left_out_by_default(),
      integer("pilots", &c::pilots, 1, 4096,
              "Pilots of a user on each subcarrier, the length of its sequence. Left out: users.",
              "an integer from the users to 4096")
          .only_with("csi", {"ls"}),
      number("pilot_snr_db", &c::pilot_snr_db, -100, 300,
             "Es/N0 of a pilot at an antenna of the base station. Left out: 1 / N0, with the N0 of the data.")
          .only_with("csi", {"ls"}),
      integer("csi_delay", &c::csi_delay, 0, 100000,
              "OFDM symbols from the moment of the channel that the base station knows, or has pilots of, to "
              "the data of a frame. In that time each entry of H ages: its correlation is J0(2 pi fD t) with "
              "fD = channel.doppler_hz (Jakes). The symbols of a frame share the H of the data. With "
              "channel.type = \"tdl\" and no Rician tap.")
          .left_out_by_default(),
      clusters_setting<c>().left_out_by_default(),
      cluster_method_setting(&c::cluster_method).left_out_by_default()};
  return settings;
}

const char* name_of(massive_direction d) noexcept {
  return d == massive_direction::uplink ? "uplink" : "downlink";
}

uplink_config uplink_of(const massive_link_config& c, int qam) {
  return {.antennas = c.antennas,
          .users = c.users,
          .qam = qam,
          .solver = c.solver,
          .iterations = c.iterations,
          .residual = c.residual,
          .sinr = *c.sinr};
}
downlink_config downlink_of(const massive_link_config& c) {
  return {.antennas = c.antennas,
          .users = c.users,
          .solver = c.solver,
          .iterations = c.iterations,
          .residual = c.residual};
}
clustered_uplink_config clustered_uplink_of(const massive_link_config& c, int qam) {
  return {.detector = uplink_of(c, qam), .clusters = c.clusters, .cluster_method = c.cluster_method};
}
clustered_downlink_config clustered_downlink_of(const massive_link_config& c) {
  return {.precoder = downlink_of(c), .clusters = c.clusters, .cluster_method = c.cluster_method};
}

std::unique_ptr<frame_receiver> make_uplink_frames(const massive_link_config& c, int qam, int symbols) {
  return make_uplink_chain({.detector = uplink_of(c, qam),
                            .symbols = symbols,
                            .clusters = c.clusters,
                            .cluster_method = c.cluster_method});
}

}  // namespace wb
