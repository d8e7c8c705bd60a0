#pragma once
// The physical downlink control channel (PDCCH) of 5G NR: encoder and decoder of candidates, 3GPP TS 38.211
// §7.3.2 and §7.4.1.3, TS 38.212 §7.3.
//
//   y(l, k) = h(k) exp(i phi l) x(l, k) + noise     symbols l and subcarriers k of a CORESET
//
// A candidate is 1 to 16 control channel elements (CCEs) of six resource-element groups. Bundles of groups
// may have different precoders, so that each bundle has a channel of its own.
//
// 1. The DMRS give phi and the mean delay, each by the phase of neighbouring values over all bundles.
// 2. In a bundle, h has the correlation R of a uniform delay profile around that delay. Four widths of the
//    profile and 14 ratios of signal and noise are compared by their likelihood over all bundles,
//      -n ln(sum z^H (1 + ratio R)^-1 z) - sum ln det(1 + ratio R),   n DMRS
//    in the eigenvectors of R. The best one gives N0 and a Wiener filter for h. The metric is its
//    log-likelihood less that of noise alone.
// 3. LLRs 2 sqrt 2 Re(conj(h) y) / N0 are descrambled and decoded by a CRC-aided list decoder (polar.hpp),
//    whose CRC is masked by the RNTI.
//
// Delays are within 1/8 symbol of the FFT window's start, profiles up to 0.08 symbols wide. phi may be any
// value. Candidates of one CCE with bundles of two groups have few DMRS a bundle; long bundles decode at
// lower SNR.
//
// Range: magnitudes up to 1e15, mean power above 1e-32. Cost for a level L with bundles of six groups: about
// 15 kflop L, and the list decoder. Tests hold the encoder against the standard in double and against another
// program.
#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/fec/polar/polar.hpp>
#include <warpband/nr/pdcch/pdcch_args.hpp>

namespace wb {

/// A CORESET of neighbouring resource blocks, and what is sent in it. CORESET 0 is interleaved in bundles of
/// six and two rows, with shift, dmrs_id and scrambling_id the cell's; its dmrs_first_block is 0.
struct pdcch_config {
  int blocks = 48;           // resource blocks of the CORESET: a multiple of 6, 6..270
  int symbols = 1;           // of the CORESET: 1..3
  int first_symbol = 0;      // of the CORESET in the slot: 0..13
  int dmrs_first_block = 0;  // the CORESET's first block, from where the sequence of DMRS begins: 0..2199
  bool interleaved = true;   // CCE-to-REG mapping
  int reg_bundle = 6;        // if interleaved: 2, 3, 6 groups; else 6
  int interleaver_rows = 2;  // 2, 3, 6
  int shift = 0;             // n_shift: 0..1007
  int dmrs_id = 0;           // N_ID: 0..65535
  int scrambling_id = 0;     // n_ID: 0..65535
  int scrambling_rnti = 0;   // n_RNTI: 0 in common search spaces, 0..65535
  int level = 4;             // CCEs of a candidate: 1, 2, 4, 8, 16
  int dci_bits = 39;         // 1..140, and at most 108 level - 24
  int rnti = 65535;          // that masks the CRC: 0..65535
  bool operator==(const pdcch_config&) const = default;

  int cces() const noexcept { return blocks * symbols / 6; }
  int coded_bits() const noexcept { return 108 * level; }
  /// Resource elements of the CORESET.
  std::size_t elements() const noexcept {
    return 12 * static_cast<std::size_t>(blocks) * static_cast<std::size_t>(symbols);
  }
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<pdcch_config>>& pdcch_settings();
/// Throws argument_error for what is not allowed.
void check(const pdcch_config& config);
/// The resource-element groups of a candidate, symbol + symbols * block, rising. first_cce is a multiple of
/// the level. Throws argument_error.
std::vector<int> pdcch_groups(const pdcch_config& config, int first_cce);

/// Tables that encoder and decoder share.
struct pdcch_tables {
  explicit pdcch_tables(const pdcch_config& config);
  pdcch_shape shape;
  resident<std::int32_t> first_blocks, block_rank;
  resident<std::uint32_t> dmrs, scrambling;
};

/// Makes PDCCH with its DMRS, of amplitude 1.
/// Threads: any number may call one object at once, each with an executor of its own.
class pdcch_encoder {
 public:
  /// Throws argument_error.
  explicit pdcch_encoder(const pdcch_config& config);
  const pdcch_config& config() const noexcept { return config_; }
  /// Writes a grid for each DCI: bits [items, dci_bits] to grids [items, elements()], element 12 blocks
  /// symbol + subcarrier. Elements outside the candidate are 0, so that grids of one slot add up. slots 0..79
  /// in the frame, and first CCEs, multiples of the level, are one for each item. Waits for the executor.
  /// Throws argument_error and shape_error.
  void run(executor& exec, view<const std::uint8_t> bits, const std::vector<int>& slots,
           const std::vector<int>& first_cces, view<std::complex<float>> grids) const;

 private:
  pdcch_config config_;
  pdcch_tables tables_;
  polar_encoder coder_;
  kept_workspace workspace_;
};

struct pdcch_decoder_config {
  pdcch_config channel = {};
  int list_size = 8;  // paths of the polar decoder: 1, 2, 4, 8, 16, 32
  bool operator==(const pdcch_decoder_config&) const = default;
};
/// Its settings with those of the channel: names, what is allowed, what they mean.
const std::vector<setting_of<pdcch_decoder_config>>& pdcch_decoder_settings();

struct nr_pdcch_candidate {
  int grid = 0;       // item of the grids
  int slot = 0;       // of that grid in its frame: 0..79
  int first_cce = 0;  // a multiple of the level
};

/// What became of a candidate.
struct nr_pdcch_result {
  bool ok = false;                      // the CRC holds for the RNTI
  bool erased = false;                  // a value that is not finite or above 1e15, or silence
  std::vector<std::uint8_t> bits = {};  // of the DCI; zeros if the CRC fails
  double metric = 0;                    // log-likelihood of the DMRS less that of noise; 0 if erased
  double snr_db = -40;                  // of a resource element: -40 to 60; -40 if erased
  // Residual frequency offset in subcarrier spacings, -0.467 to 0.467; 0 with one symbol.
  double cfo_spacings = 0;
  // Mean delay behind the FFT windows, in useful symbol durations: -1/8 to 1/8.
  double delay_symbols = 0;
};

/// Decodes candidates.
///
/// P(ok) of noise is at most list_size 2^-24 for each candidate.
///
/// CPU and CUDA, all instruction sets, batch sizes and numbers of threads give the same bits.
/// Threads: any number may call one object at once, each with an executor of its own.
class pdcch_decoder {
 public:
  /// Throws argument_error.
  explicit pdcch_decoder(const pdcch_decoder_config& config);
  const pdcch_decoder_config& config() const noexcept { return config_; }
  /// Decodes candidates of grids [grids, elements()], element 12 blocks symbol + subcarrier. Waits for the
  /// executor. Throws argument_error and shape_error.
  std::vector<nr_pdcch_result> run(executor& exec, view<const std::complex<float>> grids,
                                   const std::vector<nr_pdcch_candidate>& candidates) const;

 private:
  pdcch_decoder_config config_;
  pdcch_tables tables_;
  resident<float> vectors_, values_, spread_, volumes_, ratios_;
  polar_decoder coder_;
  kept_workspace workspace_;
};

struct pdcch_search_config {
  pdcch_decoder_config decoder = {};  // its level and dci_bits are not used
  std::vector<int> sizes = {39};      // bits of DCIs: each once, 1..140
  std::vector<int> candidates = {0, 0, 4, 2,
                                 1};   // of 1, 2, 4, 8, 16 CCEs: 0..6, 8; those of SIB1's search space
  std::optional<int> coreset_id = {};  // of a UE's search space: 0..15; absent: a common one
  int carrier = 0;                     // n_CI, of a UE's search space with cross-carrier scheduling: 0..7
  bool operator==(const pdcch_search_config&) const = default;
};
/// Its settings with those of the decoder: names, what is allowed, what they mean.
const std::vector<setting_of<pdcch_search_config>>& pdcch_search_settings();

/// A DCI whose CRC holds.
struct nr_pdcch_found {
  int grid = 0, slot = 0;
  int level = 0, first_cce = 0;
  nr_pdcch_result result = {};
};

/// Searches a search space for DCIs of an RNTI: all candidates of all sizes (TS 38.213 §10.1).
///
/// Levels above the CORESET's CCEs have no candidates, nor have levels whose coded bits are too few for a
/// size. Each size needs a level with candidates. P(found) of noise is at most list_size 2^-24 for each
/// candidate and size.
///
/// Threads: any number may call one object at once, each with an executor of its own.
class pdcch_search {
 public:
  /// Throws argument_error.
  explicit pdcch_search(const pdcch_search_config& config);
  const pdcch_search_config& config() const noexcept { return config_; }
  /// Searches grids as pdcch_decoder takes them, each of the slot of its number in `slots`. A DCI that
  /// several candidates of a grid give is that of the lowest level. DCIs are in the order of grids, sizes and
  /// levels. Waits for the executor. Throws argument_error and shape_error.
  std::vector<nr_pdcch_found> run(executor& exec, view<const std::complex<float>> grids,
                                  const std::vector<int>& slots) const;

 private:
  pdcch_search_config config_;
  std::vector<pdcch_decoder> decoders_;
};

}  // namespace wb
