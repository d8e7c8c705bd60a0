#include <warpband/link/nr_link.hpp>

#include <warpband/code/nr_transport.hpp>

#include <algorithm>

#include <warpband/core/check.hpp>
#include <warpband/fec/nr/tbs.hpp>
#include <warpband/nr/codebook.hpp>
#include <warpband/nr/frc.hpp>

namespace wb {
namespace {

/// What a reference channel says.
bool is_of_frc(const std::string& name) {
  const std::vector<std::string> names{"spacing_khz",
                                       "resource_blocks",
                                       "first_block",
                                       "blocks",
                                       "mapping",
                                       "first_symbol",
                                       "symbols",
                                       "layers",
                                       "dmrs_type",
                                       "dmrs_length",
                                       "dmrs_additional_positions",
                                       "dmrs_first_symbol",
                                       "dmrs_cdm_groups",
                                       "dmrs_ports",
                                       "extended_prefix",
                                       "transform_precoding",
                                       "mcs_table",
                                       "mcs"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<setting_of<nr_link_config>> precoder_settings() {
  using c = nr_link_config;
  return {
      words("precoder", &c::precoder, {{"none", nr_precoding::none}, {"codebook", nr_precoding::codebook}},
            "none: an antenna port for each layer. codebook: a matrix of TS 38.211 section 6.3.1.5 takes "
            "layers to ports, of PUSCH alone. The receiver detects and estimates what layers see.")
          .left_out_by_default(),
      integer("ports", &c::ports, 2, 4, "Antenna ports of the codebook.", "2 or 4")
          .only_with("precoder", {"codebook"}),
      integer("tpmi", &c::tpmi, 0, 27,
              "Transmitted precoding matrix indicator: which matrix. How many there are depends on ports "
              "and layers.")
          .only_with("precoder", {"codebook"})};
}

/// Ports and matrix of the codebook to where the channel has them.
void complete_precoder(nr_link_config& c) {
  const bool codebook = c.precoder == nr_precoding::codebook;
  if (c.channel.tpmi && !(codebook && c.channel.tpmi == c.tpmi))
    throw argument_error("tpmi", std::to_string(*c.channel.tpmi), "that of a link's precoder");
  if (!codebook) return;
  if (c.channel.direction != nr_direction::uplink)
    throw argument_error("precoder", "\"codebook\"", "\"none\" with channel = \"pdsch\"");
  if (c.ports != 2 && c.ports != 4) throw argument_error("ports", std::to_string(c.ports), "2 or 4");
  check_range("layers", c.channel.layers, 1, c.ports);
  check_range("tpmi", c.tpmi, 0, nr_precoders(c.ports, c.channel.layers) - 1);
  c.channel.antenna_ports = c.ports;
  c.channel.tpmi = c.tpmi;
}

/// Settings of a slot that links do not take.
bool is_left_to_channels(const std::string& name) {
  for (const char* left :
       {"channel", "antenna_ports", "tpmi", "pi2_bpsk", "physical_blocks", "dmrs_delay", "reserved"})
    if (name == left) return true;
  return name.starts_with("ptrs_");
}

/// N0 that Wiener filters are made for.
constexpr double least_noise = 1e-6, most_noise = 1e6;

}  // namespace

const std::vector<setting_of<nr_link_config>>& nr_link_settings() {
  using c = nr_link_config;
  static const std::vector<setting_of<c>> settings = [] {
    std::vector<setting_of<c>> list;
    const auto channel =
        within<c>([](c& x) -> nr_channel_config& { return x.channel; }, nr_channel_settings());
    list.push_back(channel.front());  // "channel" first
    list.push_back(text("frc", &c::frc,
                        "A fixed reference channel of TS 38.104 by name, \"G-FR1-A4-14\": spacing, resource "
                        "blocks, layers, DMRS and MCS.",
                        "\"none\", or a name from \"G-FR1-A1-1\" to \"G-FR1-A7-4\"")
                       .absent_as("none"));
    list.push_back(words(
        "csi", &c::csi, {{"perfect", csi_type::perfect}, {"ls", csi_type::ls}, {"lmmse", csi_type::lmmse}},
        "What the receiver knows of the channel: all, or what it estimates from DMRS by least "
        "squares with linear interpolation, or by Wiener filters that know the delay line, "
        "its Doppler frequency and N0. ls knows N0, and the Doppler frequency where DMRS are at "
        "one time; what else it misses it measures in each slot."));
    list.push_back(integer("taps", &c::taps, 1, 64, "Pairs of DMRS that a subcarrier is filtered of.")
                       .only_with("csi", {"lmmse"}));
    list.push_back(integer(
        "mcs_table", &c::mcs_table, 1, 3,
        "MCS table of TS 38.214: 2 has 256-QAM. With transform_precoding 1 and 2 are of section 6.1.4.1."));
    list.push_back(integer("mcs", &c::mcs, 0, 28, "Index of the modulation and coding scheme."));
    for (auto& s : precoder_settings()) list.push_back(std::move(s));
    for (auto s : channel)
      if (!is_left_to_channels(s.name)) list.push_back(std::move(s));
    for (auto& s : list)
      if (is_of_frc(s.name)) s = std::move(s).only_with("frc", {"none"});
    return list;
  }();
  return settings;
}

nr_link_config completed(const nr_link_config& config) {
  nr_link_config c = config;
  check_settings(nr_link_settings(), c);
  if (c.frc) {
    const nr_reference_channel& r = nr_reference_channel_named(*c.frc);
    nr_channel_config channel = r.channel();
    channel.direction = c.channel.direction;
    channel.carrier.cell_id = c.channel.carrier.cell_id;
    channel.carrier.slot = c.channel.carrier.slot;
    channel.carrier.first_resource_block = c.channel.carrier.first_resource_block;
    channel.rnti = c.channel.rnti;
    channel.scrambling_id = c.channel.scrambling_id;
    channel.dmrs.scid = c.channel.dmrs.scid;
    channel.dmrs.ids = c.channel.dmrs.ids;
    channel.dmrs.hopping = c.channel.dmrs.hopping;
    channel.dmrs.low_papr_id = c.channel.dmrs.low_papr_id;
    channel.tpmi = c.channel.tpmi;
    c.channel = channel;
    c.mcs_table = 1;
    c.mcs = r.mcs;
    c.frc = r.name;
  }
  check_range("layers", c.channel.layers, 1, 4);
  complete_precoder(c);
  if (c.channel.pi2_bpsk) throw argument_error("pi2_bpsk", "true", "false, as detectors have no BPSK");
  c.channel = completed(c.channel);
  check_range("mcs_table", c.mcs_table, 1, c.channel.transform_precoding ? 2 : 3);
  const nr_mcs mcs = nr_mcs_of(c.channel, c.mcs_table, c.mcs);
  if (mcs.rate_x1024 == 0)
    throw argument_error("mcs", std::to_string(c.mcs), "one that is not reserved for retransmissions");
  c.detector.streams = c.channel.layers;
  c.detector.qam = 1 << mcs.modulation_order;
  check_range("rx_antennas", c.detector.rx_antennas, c.detector.streams, 16);
  c.detector = completed(c.detector);
  return c;
}

code_config code_of(const nr_link_config& config, code_config code) {
  const nr_transport_config t = nr_shared_channel(config.channel).transport(config.mcs_table, config.mcs);
  auto& s = code.edit<nr_transport_settings>();
  s.transport_block_size = t.transport_bits;
  s.sent.coded_bits = t.coded_bits;
  s.sent.resource_elements.reset();
  s.sent.modulation_order = t.modulation_order;
  s.sent.layers = t.layers;
  s.target_rate = t.code_rate;
  return code;
}

int qam_of(const nr_link_config& config) {
  return 1 << nr_mcs_of(config.channel, config.mcs_table, config.mcs).modulation_order;
}

detector_config detector_of(const nr_link_config& config) {
  detector_config c = config.detector;
  if (config.channel.transform_precoding) c.rx_antennas = 1;
  return c;
}

double sent_power(const nr_link_config& config) {
  if (config.precoder == nr_precoding::none) return config.channel.layers;
  double power = 0;
  for (const std::complex<float> w :
       nr_precoder(config.ports, config.channel.layers, config.tpmi, config.channel.transform_precoding))
    power += std::norm(std::complex<double>(w));
  return power;
}

estimator_config estimator_of(const nr_link_config& config, const delay_profile& profile, double doppler_hz,
                              double noise_var) {
  if (config.csi != csi_type::lmmse) return {.doppler_hz = doppler_hz};
  return {.method = estimate_method::lmmse,
          .taps = config.taps,
          .noise_var = std::clamp(noise_var, least_noise, most_noise),
          .channel_power = sent_power(config) / config.channel.layers,
          .doppler_hz = doppler_hz,
          .profile = profile};
}

}  // namespace wb
