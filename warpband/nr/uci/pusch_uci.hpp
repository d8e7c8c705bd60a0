#pragma once
// Uplink control information (UCI) on PUSCH, 3GPP TS 38.212 §6.3.2.4 (how many bits) and §6.2.7 (where):
// HARQ-ACK and CSI parts 1 and 2, with data (UL-SCH) or without, one codeword, no frequency hopping and no
// CG-UCI.
//
//   Q' = min(ceil((O + L) beta N / sum K), rest)   symbols of a part with O bits and L bits of CRC, with data
//   Q' = min(ceil((O + L) beta / (R Qm)), rest)    without
//
// N are the resource elements that may carry UCI, those of OFDM symbols without DMRS, and K the sizes of code
// blocks. `rest` is ceil(alpha N) less the elements of earlier parts. For HARQ-ACK, N counts only OFDM
// symbols after the first DMRS. Without data the last CSI part takes all remaining elements. If 0 or 1 bits
// of HARQ-ACK leave reserved elements empty, the constructor refuses them ("data").
//
// HARQ-ACK begins after the first DMRS, CSI in the first symbol without DMRS. In an OFDM symbol that a part
// does not fill it has every d-th free element. 1 and 2 bits of HARQ-ACK puncture elements that CSI part 1
// leaves free. They are sized for 2 bits, also where there is none. More bits are rate matched.
#include <array>
#include <cstdint>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/nr/shared_channel.hpp>
#include <warpband/nr/uci/pusch_uci_args.hpp>

namespace wb {

struct pusch_uci_config {
  int ack_bits = 0, csi1_bits = 0, csi2_bits = 0;             // O: 0..1706
  double beta_ack = 1, beta_csi1 = 1.125, beta_csi2 = 1.125;  // 1..126 in eighths: TS 38.213 tables 9.3-1, -2
  double alpha = 1;                                           // 0.5, 0.65, 0.8, 1
  int mcs_table = 1, mcs = 0;                                 // of the channel; not reserved
  bool data = true;                                           // UL-SCH
};
/// Names, ranges and descriptions of the settings.
const std::vector<setting_of<pusch_uci_config>>& pusch_uci_settings();

/// Coded bits of each part: [slots, n], where n is pusch_uci::coded_bits of the part. Parts without bits may
/// be left out.
template <class T>
struct pusch_uci_views {
  view<T> data = {}, ack = {}, csi1 = {}, csi2 = {};
};

/// The parts of a PUSCH with UCI. What encodes and decodes them are nr_transport_encoder,
/// short_block_encoder, polar_encoder with kind "uci", and their decoders.
///
///   const nr_shared_channel pusch({.carrier = {.resource_blocks = 20}});
///   const pusch_uci uci(pusch, {.ack_bits = 2, .csi1_bits = 4, .beta_ack = 8, .mcs = 4});
///   short_block_encoder ack({.k = 2, .coded_bits = uci.coded_bits()[1], .modulation_order = 2});
///   uci.multiplex(exec, {.data = data, .ack = ack_bits, .csi1 = csi1_bits}, codeword);
///
/// CPU and CUDA give the same bits. Threads: any number may call one object at once, each with an executor of
/// its own.
class pusch_uci {
 public:
  /// Throws argument_error: as nr_shared_channel::transport does, for settings that are not allowed, and for
  /// parts for which no bits are left, by the setting of their bits.
  pusch_uci(const nr_shared_channel& channel, const pusch_uci_config& config);
  const pusch_uci_config& config() const noexcept { return config_; }
  /// G of data, HARQ-ACK, CSI part 1 and CSI part 2, in this order: 0 for a part that is not there.
  const std::array<int, pusch_uci_parts>& coded_bits() const noexcept { return coded_bits_; }
  /// Where the coded bits of a part, 0..3 in that order, are in the codeword. Bits of data and of CSI part 2
  /// that HARQ-ACK punctures have -1. Throws argument_error ("part").
  std::vector<std::int32_t> places(int part) const;
  /// Bits of a codeword.
  int codeword_bits() const noexcept { return static_cast<int>(source_.host().size()); }
  /// The code of the data, without scrambling: multiplex has that. Throws argument_error ("data") without
  /// data.
  nr_transport_config transport() const;

  /// Queues: coded bits of the parts, each 0, 1, short_block_x or short_block_y, to scrambled codewords
  /// [slots, codeword_bits()]. Throws shape_error.
  void multiplex(executor& exec, const pusch_uci_views<const std::uint8_t>& coded,
                 view<std::uint8_t> codeword) const;
  /// Queues: LLRs of codewords to those of the parts before scrambling, as their decoders take them.
  /// Punctured bits have LLRs of 0. Parts without data pointers are not written. Throws shape_error.
  void demultiplex(executor& exec, view<const float> codeword, const pusch_uci_views<float>& llr) const;

 private:
  pusch_uci_config config_;
  nr_transport_config transport_;
  std::array<int, pusch_uci_parts> coded_bits_ = {};
  resident<std::int32_t> source_, place_;
  resident<std::uint8_t> scramble_;
  resident<float> sign_;
};

}  // namespace wb
