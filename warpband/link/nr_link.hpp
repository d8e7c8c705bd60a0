#pragma once
// PUSCH and PDSCH as antennas of a link: frames are transport blocks in slots of 5G NR
// (nr/shared_channel.hpp), whose channel the receiver knows or estimates from DMRS (estimate/). Code and
// constellation follow from the MCS.
//
// The SNR is that of a receive antenna at a resource element with data, all layers together; DMRS have more
// power (nr_dmrs_config::beta). A slot is a block of the delay line, a new one for each transmission. Its
// cyclic prefix is as long as the longest delay where the numerology's is shorter: what is not modelled is
// interference between symbols.
//
// Antenna ports are layers, or those of a codebook's precoder. A tapped delay line has the ports as antennas
// of one terminal. In a clustered one users have one antenna each, and each port is a user.
#include <optional>
#include <string>
#include <vector>

#include <warpband/code/code_kind.hpp>
#include <warpband/detect/detector.hpp>
#include <warpband/estimate/filters.hpp>
#include <warpband/link/link_antennas.hpp>
#include <warpband/nr/shared_channel.hpp>

namespace wb {

/// What the receiver knows of the channel.
enum class csi_type {
  perfect,  // H at every resource element
  ls,     // least squares at DMRS, linear interpolation; N0, and with DMRS at one time the Doppler frequency
  lmmse,  // Wiener filters that know the delay line, its Doppler frequency and N0
};

enum class nr_precoding { none, codebook };

struct nr_link_config {
  /// A reference channel of TS 38.104 (nr/frc.hpp). Absent: what follows.
  std::optional<std::string> frc = {};
  /// Layers 1..4. Only without frc: spacing, resource blocks, layers, DMRS positions. antenna_ports and
  /// tpmi are left to `completed`.
  nr_channel_config channel = {};
  nr_precoding precoder = nr_precoding::none;
  int ports = 2, tpmi = 0;      // of the codebook, nr/codebook.hpp: 2 or 4; PUSCH alone
  int mcs_table = 1, mcs = 16;  // of the channel's nr_mcs_of; not of a reserved index
  csi_type csi = csi_type::ls;
  int taps = 16;                  // lmmse, as estimator_config's
  detector_config detector = {};  // streams and rx_antennas, the former left to `completed`
};
template <>
inline constexpr std::string_view antennas_name<nr_link_config> = "nr";
/// Its settings but for the detector: names, what is allowed, what they mean.
const std::vector<setting_of<nr_link_config>>& nr_link_settings();

/// With the reference channel's settings in their places and all that slots leave open chosen. Throws
/// argument_error.
nr_link_config completed(const nr_link_config& config);
/// The code of a completed link's transport blocks: `code` with type, sizes and target rate put in.
code_config code_of(const nr_link_config& config, code_config code);
/// Its constellation.
int qam_of(const nr_link_config& config);
/// Its detector: with transform precoding behind the equaliser, which leaves it one antenna.
detector_config detector_of(const nr_link_config& config);
/// Power of a completed link's antenna ports together where all layers have unit power.
double sent_power(const nr_link_config& config);
/// Estimator of a completed link at an N0, in a channel of that profile, whose entries have unit power. Its
/// numerology is that of the pilots.
estimator_config estimator_of(const nr_link_config& config, const delay_profile& profile, double doppler_hz,
                              double noise_var);

}  // namespace wb
