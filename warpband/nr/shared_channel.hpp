#pragma once
// Where PUSCH and PDSCH put their symbols in a slot of 5G NR, and where a receiver finds them:
// 3GPP TS 38.211 §6.3.1.3 to §6.3.1.7 and §7.3.1.3 to §7.3.1.6, with DMRS as nr/dmrs.hpp has them.
//
//   layers      x_i(j) = d(L j + i) of a codeword d with L layers; from five layers on the downlink has two
//               codewords, of floor(layers / 2) and the rest
//   transform   PUSCH with transform precoding (DFT-s-OFDM), over the M subcarriers of an OFDM symbol,
//                 x(l M + k) = (1 / sqrt M) sum over n of d(l M + n) exp(-2 pi i k n / M)
//   precoding   z = W x, W of the codebook (nr/codebook.hpp) or, without one, the identity; DMRS the same
//   mapping     frequency first, then OFDM symbol after OFDM symbol, over the resource elements of the
//               allocation that carry data: none of DMRS and PTRS, and none that is reserved
//   PTRS        beta r(2 n + k') of the first DMRS symbol at the same subcarrier (§6.4.1.2, §7.4.1.2)
//
// A grid is [slots * elements, ports]: element symbol * subcarriers + subcarrier of a slot is a use of the
// channel, as channels and detectors take them. What is not allocated is 0.
#include <complex>
#include <optional>
#include <span>
#include <vector>

#include <warpband/exec/executor.hpp>
#include <warpband/fec/nr/tbs.hpp>
#include <warpband/fec/nr/transport.hpp>
#include <warpband/nr/dmrs.hpp>
#include <warpband/ofdm/fft/fft.hpp>

namespace wb {

/// Resource blocks x OFDM symbols that PDSCH is mapped round, TS 38.214 §5.1.4: of SS/PBCH blocks, CORESETs
/// or another rate-matching pattern. The PDCCH that schedules it has a block x symbol for each of its
/// resource-element groups.
struct nr_reserved {
  int first_block = 0;   // of the carrier
  int blocks = 1;        // resource blocks
  int first_symbol = 0;  // of the slot
  int symbols = 1;
  bool operator==(const nr_reserved&) const = default;
};
/// Parts of four numbers each, in the order of the members. Throws argument_error ("reserved") for another
/// number of them.
std::vector<nr_reserved> nr_reserved_of(const std::vector<int>& numbers);

/// Phase-tracking reference signals (PTRS), of one port. Other layers are 0 in their resource elements.
struct nr_ptrs_config {
  std::optional<int> time_density = {};  // L_PT-RS: every 1, 2, 4 symbols; absent: no PTRS
  int frequency_density = 2;             // K_PT-RS: every 2, 4 resource blocks
  int offset = 0;                        // resourceElementOffset: 0..3
  int layer = 0;                         // whose DMRS port it has
  double power_db = 0;                   // 20 log10 beta: -20..20
  bool operator==(const nr_ptrs_config&) const = default;
};

struct nr_channel_config {
  nr_direction direction = nr_direction::uplink;
  nr_carrier carrier = {};
  /// Resource blocks allocated, of the carrier; absent: all from the first on.
  int first_block = 0;
  std::optional<int> blocks = {};
  /// For interleaved mapping (§7.3.1.6): the resource block of the carrier of each of `blocks` virtual ones.
  /// first_block is then 0. Empty: first_block, first_block + 1, ...
  std::vector<int> physical_blocks = {};
  nr_mapping mapping = nr_mapping::type_a;
  /// OFDM symbols allocated; absent: all from the first on.
  int first_symbol = 0;
  std::optional<int> symbols = {};
  int layers = 1;                         // 1..4, downlink 1..8
  std::optional<int> antenna_ports = {};  // of the grid: with a codebook 1, 2, 4; absent: the layers
  std::optional<int> tpmi = {};           // precoder of the codebook, uplink; absent: no codebook
  nr_dmrs_config dmrs = {};
  nr_ptrs_config ptrs = {};
  std::vector<nr_reserved> reserved = {};  // downlink
  int rnti = 1;                            // 0..65535
  std::optional<int> scrambling_id = {};   // n_ID of scrambling, 0..1023; absent: the cell's
  /// PUSCH of one layer: DFT-s-OFDM with DMRS of low PAPR, on 2^a 3^b 5^c resource blocks.
  bool transform_precoding = false;
  /// With it: symbols of BPSK become those of pi/2-BPSK, d(2 i + 1) times the imaginary unit.
  bool pi2_bpsk = false;
};
/// Its settings with those of carrier and DMRS: names, what is allowed, what they mean.
const std::vector<setting_of<nr_channel_config>>& nr_channel_settings();
/// The configuration with all that it leaves open chosen: blocks, symbols, antenna_ports, DMRS ports and
/// identities, scrambling_id. physical_blocks stays as it is. Throws argument_error for what is not allowed.
/// It names resource blocks outside the carrier, DMRS ports of a CDM group that carries data or that two
/// layers share, and layers beyond ports. With transform precoding it also names a second layer, DMRS of
/// type 2, PTRS and data beside DMRS. Resource blocks must then be a product of 2, 3 and 5. "reserved" may
/// not have DMRS.
nr_channel_config completed(const nr_channel_config& config);
/// Interleaved mapping (§7.3.1.6) of a bandwidth part: the physical resource block of each virtual one, both
/// counted in the part. first_resource_block is the part's in common resource blocks, 0..2199, blocks
/// 1..275, bundle 2 or 4. Throws argument_error.
std::vector<int> nr_interleaved_blocks(int first_resource_block, int blocks, int bundle);
/// OFDM symbols with PTRS of an allocation of `symbols` from `first` on with these DMRS symbols (§7.4.1.2.2).
/// dmrs_symbols rise, and with dmrs_length 2 they are pairs. time_density 1, 2, 4. Throws argument_error.
std::vector<int> nr_ptrs_symbols(int first, int symbols, const std::vector<int>& dmrs_symbols,
                                 int time_density, int dmrs_length);
/// Whether the reserved parts of a completed configuration leave DMRS whole, and resource elements for data.
/// Else the PDSCH is never sent (TS 38.214 §5.1.4). Throws argument_error ("symbols", "reserved") for a
/// configuration that is not completed and for parts outside the carrier.
bool nr_can_be_mapped(const nr_channel_config& config);
/// The allocation's resource blocks in the carrier, in the order of the virtual ones.
std::vector<int> nr_blocks_of(const nr_channel_config& config);
/// An MCS of a channel: with transform precoding of TS 38.214 tables 6.1.4.1-1 and -2, else of 5.1.3.1-1 to
/// -4. Throws argument_error ("table", "index"; "mcs" with pi2_bpsk for an index without pi/2-BPSK).
nr_mcs nr_mcs_of(const nr_channel_config& config, int table, int index);

/// What an equaliser takes and gives, of uses.
struct nr_equaliser_input {
  view<const std::complex<float>> channel, received;  // [uses, R]: H with W, and y
  view<const float> noise_var;                        // [uses, 1]: N0
};
struct nr_equaliser_output {
  view<std::complex<float>> symbols;  // [uses, 1]
  view<std::complex<float>> channel;  // [uses, 1]: 1. Data may be null
  view<float> noise_var;              // [uses, 1]: N0'
};

/// A slot's resource elements: what each carries. Tables are made once, on the host; all copying is done on
/// the executor. Safe to use from several threads.
///
///   nr_shared_channel pusch({.carrier = {.resource_blocks = 51}, .layers = 2});
///   nr_transport_encoder encoder(pusch.transport(1, 16));       // MCS 16 of table 1
///   pusch.map(exec, {symbols}, grid);                           // [slots, symbols_of(0)] -> [uses, ports]
///   pusch.extract(exec, received, y);                           // [uses, antennas] -> [slots * data,
///   antennas]
class nr_shared_channel {
 public:
  /// Throws argument_error as `completed` does.
  explicit nr_shared_channel(const nr_channel_config& config);
  /// The completed configuration.
  const nr_channel_config& config() const noexcept { return config_; }

  /// Resource elements of a slot, and those of them that carry data.
  std::size_t elements() const noexcept { return config_.carrier.elements(); }
  std::size_t data_elements() const noexcept { return entries_.host().size(); }
  /// Their numbers in the slot, symbol * subcarriers + subcarrier, in the order of the mapping.
  const std::vector<std::int32_t>& data_places() const noexcept { return entries_.host(); }
  std::size_t ports() const noexcept { return static_cast<std::size_t>(*config_.antenna_ports); }
  std::size_t layers() const noexcept { return static_cast<std::size_t>(config_.layers); }
  int codewords() const noexcept { return config_.layers > 4 ? 2 : 1; }
  /// Layers of codeword 0 or 1, its first layer, and its symbols in a slot.
  int layers_of(int codeword) const noexcept;
  int first_layer_of(int codeword) const noexcept { return codeword == 0 ? 0 : layers_of(0); }
  std::size_t symbols_of(int codeword) const noexcept {
    return data_elements() * static_cast<std::size_t>(layers_of(codeword));
  }
  /// W [ports, layers], row after row.
  const std::vector<std::complex<float>>& precoder() const noexcept { return precoder_.host(); }
  /// OFDM symbols of the slot with DMRS.
  const std::vector<int>& dmrs_symbols() const noexcept { return dmrs_symbols_; }
  /// DMRS of a layer before precoding, [elements], 0 where it has none.
  std::vector<std::complex<float>> dmrs(int layer) const;
  /// PTRS before precoding, of their layer, [elements], 0 where there are none.
  std::vector<std::complex<float>> ptrs() const;

  /// What nr_transport_encoder and nr_transport_decoder take for codeword 0 or 1 with an MCS: transport block
  /// size (TS 38.214 §5.1.3.2, without overhead), G, layers, code rate and scrambling. Throws argument_error
  /// ("table", "index", "mcs", "rate_x1024" where the MCS is reserved, "codeword").
  nr_transport_config transport(int mcs_table, int mcs, int codeword = 0) const;

  /// Queues: symbols of each codeword, [slots, symbols_of(codeword)], to grids [slots * elements(), ports()]
  /// with their DMRS and PTRS. With pi2_bpsk symbols are those of BPSK. Throws shape_error, and
  /// argument_error for another number of codewords.
  void map(executor& exec, const std::vector<view<const std::complex<float>>>& symbols,
           view<std::complex<float>> grid) const;
  /// Queues the inverse: of grids [slots * elements(), n], whatever n values an element has, those of
  /// elements with data, [slots * data_elements(), n]. Throws shape_error.
  void extract(executor& exec, view<const std::complex<float>> grid, view<std::complex<float>> data) const;
  /// Queues the receiver's part of transform precoding: an MMSE equaliser and the inverse DFT, of R antennas.
  ///
  ///   rho = (1 / M) sum over k of |h_k|^2 / (|h_k|^2 + N0_k)
  ///   d'(n) = (1 / (rho sqrt M)) sum over k of h_k^H y_k / (|h_k|^2 + N0_k) exp(2 pi i k n / M)
  ///
  /// d' = d + noise of variance N0' = (1 - rho) / rho, so that any detector of one antenna with H = 1 takes
  /// it. With pi2_bpsk d' is turned back to BPSK. Inputs and outputs are of the slots' resource elements with
  /// data, [slots * data_elements(), n]. A NaN or a negative N0, and a use with H = 0 and N0 = 0, make the
  /// values of their OFDM symbol NaN, which detectors erase. Throws shape_error, and argument_error without
  /// transform precoding.
  void equalise(executor& exec, const nr_equaliser_input& in, const nr_equaliser_output& out) const;

 private:
  view<const cx_pair> transformed(executor& exec, view<const cx_pair> symbols) const;

  nr_channel_config config_;
  std::vector<int> dmrs_symbols_;
  resident<std::int32_t> entries_;                     // of data
  resident<std::int32_t> number_;                      // of every element: of its data, or -1
  resident<std::complex<float>> precoder_, precoded_;  // DMRS and PTRS, [ports, elements]
  std::optional<fft> forward_, inverse_;               // with transform precoding
  kept_workspace workspace_;
};

}  // namespace wb
