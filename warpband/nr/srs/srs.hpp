#pragma once
// Sounding reference signals (SRS) of 5G NR, 3GPP TS 38.211 section 6.4.1.4: sequences of low PAPR on a comb,
// from which a base station learns the channels of a terminal's antenna ports.
//
//   r_i(k', l') = exp(i alpha_i k') r_{u,v}(k'),  alpha_i = 2 pi n_i / n_max,  n_i = (n_cs + n_max i / ports)
//                                                                                     mod n_max
//   subcarrier K k' + k_i, K = 2 or 4 (comb), n_max = 8 or 12,  amplitude 1 / sqrt(ports)
//
// u and v are those of sequence_id. With hopping "group" u changes from symbol to symbol. With "sequence" v
// does, from 72 values on. Of four ports and n_cs >= n_max / 2, ports 1 and 3 have another comb offset.
//
// A bandwidth is a path in a tree: m_0 resource blocks have N_1 parts of m_1, each with N_2 parts of m_2, and
// those have N_3 parts of m_3 (table 6.4.1.4.3-1, row C_SRS). B_SRS is the depth, and n_RRC chooses the part.
// With hopping_bandwidth below B_SRS parts change with n_SRS below that depth. In a cycle of n_SRS each part
// is visited once.
#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/nr/carrier.hpp>
#include <warpband/nr/dmrs.hpp>

namespace wb {

struct srs_config {
  nr_carrier carrier = {};
  int ports = 1;                        // 1, 2, 4
  int symbols = 1;                      // N_symb: 1, 2, 4
  int first_symbol = 13;                // l_0
  int comb = 2;                         // K: 2, 4
  int comb_offset = 0;                  // 0..K - 1
  int cyclic_shift = 0;                 // n_cs: 0..7, with K = 4 0..11
  int bandwidth_config = 0;             // C_SRS: 0..63
  int bandwidth = 0;                    // B_SRS: 0..3
  int hopping_bandwidth = 0;            // b_hop: 0..3; no frequency hopping from `bandwidth` on
  int frequency_position = 0;           // n_RRC: 0..67
  int frequency_shift = 0;              // n_shift: 0..268 resource blocks
  int repetition = 1;                   // R, symbols with the same part: 1, 2, 4, at most `symbols`
  int count = 0;                        // n_SRS of the first symbol: 0..1048575
  std::optional<int> sequence_id = {};  // n_ID: 0..1023; absent: the cell's
  nr_dmrs_hopping hopping = nr_dmrs_hopping::none;
};
/// Its settings with those of the carrier: names, what is allowed, what they mean.
const std::vector<setting_of<srs_config>>& srs_settings();

/// m_SRS,b and N_b of a row C_SRS and a depth: table 6.4.1.4.3-1. Throws argument_error.
struct srs_bandwidth {
  int blocks = 4, parts = 1;
};
srs_bandwidth nr_srs_bandwidth(int bandwidth_config, int depth);

/// The SRS of a terminal in a slot. Tables are made once, on the host. Receivers estimate the channel with
/// channel_estimator and pilots_of (estimate/srs_pilots.hpp):
///
///   const nr_srs srs({.carrier = {.resource_blocks = 24}, .ports = 2, .bandwidth_config = 6});
///   srs.map(exec, grid);                                   // [slots * elements(), ports()]
///   const channel_estimator estimator(pilots_of(srs), {}, srs.places());
///
/// CPU and CUDA give the same bits. Threads: any number may call one object at once, each with an executor of
/// its own.
class nr_srs {
 public:
  /// Throws argument_error for settings that are not allowed, and for a band outside of the carrier
  /// ("frequency_shift").
  explicit nr_srs(const srs_config& config);
  /// With sequence_id chosen.
  const srs_config& config() const noexcept { return config_; }
  std::size_t elements() const noexcept { return config_.carrier.elements(); }
  std::size_t ports() const noexcept { return static_cast<std::size_t>(config_.ports); }
  /// M, values of a symbol and port.
  int length() const noexcept;
  /// Sounded bands of the slot, one after the other: symbols / repetition with frequency hopping, else 1.
  int bands() const noexcept;
  /// OFDM symbols of a band. Throws argument_error ("band").
  std::vector<int> band_symbols(int band) const;
  /// The lowest subcarrier of a band's resource blocks, in the carrier, and how many it has. Throws
  /// argument_error ("band").
  int first_subcarrier(int band) const;
  int band_subcarriers() const noexcept { return config_.comb * length(); }
  /// All subcarriers of a band in its first symbol, as channel_estimator takes them: symbol * subcarriers +
  /// subcarrier. Throws argument_error ("band").
  std::vector<std::int32_t> places(int band = 0) const;
  /// Comb offset of a port. Throws argument_error ("port").
  int comb_offset(int port) const;
  /// The slot of a port, [elements()], 0 where it has no SRS. Throws argument_error ("port").
  std::vector<std::complex<float>> values(int port) const;
  /// Queues: grids [slots * elements(), ports()] of slots with this SRS alone. Throws shape_error.
  void map(executor& exec, view<std::complex<float>> grid) const;

 private:
  int part(int band, int depth) const;  // n_b
  srs_config config_;
  resident<std::complex<float>> values_;  // [ports, elements]
  resident<std::int32_t> no_data_;        // [elements] -1
};

}  // namespace wb
