#pragma once
// Fixed reference channels of base stations' tests in FR1, 3GPP TS 38.104 annexes A.1 to A.5 and A.7: whole
// carriers with one MCS, mapping type A, DMRS of type 1 and single symbols in symbol 2.
#include <string>
#include <vector>

#include <warpband/nr/shared_channel.hpp>

namespace wb {

/// A reference channel: its allocation and, of MCS table 1, its MCS.
struct nr_reference_channel {
  std::string name;
  int spacing_khz = 15, resource_blocks = 25, layers = 1, additional_positions = 0, mcs = 0;
  bool transform_precoding = false;
  /// Its slot of PUSCH.
  nr_channel_config channel() const;
};

/// "G-FR1-A1-1" to -9 (QPSK, R = 308/1024), "G-FR1-A2-1" to -6 (16-QAM, 658/1024), "G-FR1-A3-1" to -28 (QPSK,
/// 193/1024), "G-FR1-A4-1" to -28 (16-QAM, 658/1024), "G-FR1-A5-1" to -14 (64-QAM, 567/1024).
/// With transform precoding: "G-FR1-A3-31", -32 (QPSK, 193/1024).
/// With four layers: "G-FR1-A3-39", -41, -42 (QPSK, 193/1024), "G-FR1-A7-1", -3, -4 (16-QAM, 434/1024).
const std::vector<nr_reference_channel>& nr_reference_channels();
/// In any case. Throws argument_error ("frc").
const nr_reference_channel& nr_reference_channel_named(const std::string& name);

}  // namespace wb
