#pragma once
// Channel codes by name: one face for what `encode`, `decode` and the links run.
//
//   lte-turbo   3GPP TS 36.212 §5.1.3: k bits to n = 3 (k + 4), the streams d0, d1, d2 one after the other;
//               or, at rate 1/2, punctured to n = 2 k + 12 (fec/puncture/puncture.hpp says which)
//   lte-transport  3GPP TS 36.212 §5.1.1 to §5.1.4: a transport block of k = A bits to the n = G bits of each
//               of its transmissions (fec/lte/transport.hpp). A link sends it with HARQ
//   wimax-ldpc  IEEE 802.16e: n = 576, 672, ... 2304, the k information bits first
//   wifi-ldpc   IEEE 802.11n: n = 648, 1296 or 1944, the same
//   nr-ldpc     3GPP TS 38.212 §5.3.2 and §5.4.2: a code block of k bits to n = E bits of a transmission
//   nr-dlsch    3GPP TS 38.212 §7.2: a transport block of DL-SCH, sent as those of lte-transport are
//   nr-ulsch    (fec/nr/transport.hpp); §6.2: of UL-SCH
//   qc-ldpc     any quasi-cyclic base matrix of a file (fec/ldpc/ldpc_file.hpp), the k information bits first
//   conv        convolutional codes of K = 3..9, punctured if need be: n as many as are sent, with a zero
//               tail the bits of the tail among them
//   polar       3GPP TS 38.212 §5.3.1: k = A bits without the CRC, which the code adds, to n = E bits
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <warpband/exec/executor.hpp>
#include <warpband/fec/conv/conv.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>
#include <warpband/fec/lte/transport.hpp>
#include <warpband/fec/nr/transport.hpp>
#include <warpband/fec/polar/polar.hpp>
#include <warpband/fec/turbo/turbo.hpp>
#include <warpband/fec/viterbi/viterbi.hpp>

namespace wb {

enum class code_type {
  none,
  lte_turbo,
  lte_transport,
  wimax_ldpc,
  wifi_ldpc,
  nr_ldpc,
  nr_dlsch,
  nr_ulsch,
  qc_ldpc,
  conv,
  polar
};
constexpr bool is_nr_transport(code_type t) noexcept {
  return t == code_type::nr_dlsch || t == code_type::nr_ulsch;
}
/// Whether frames are transport blocks, which a link sends again until their CRCs hold.
constexpr bool is_transport(code_type t) noexcept {
  return t == code_type::lte_transport || is_nr_transport(t);
}
/// Of the turbo code, but for its tail bits.
enum class turbo_rate { third, half };

/// Coefficients of a QPP interleaver, see qpp_parameters.
struct interleaver_coefficients {
  int f1 = 0, f2 = 0;
};

struct turbo_settings {
  turbo_rate rate = turbo_rate::third;
  /// Instead of the standard's; any k from 40 to 65536 is then allowed.
  std::optional<interleaver_coefficients> interleaver;
  /// Its k, crc_polynomial and crc_degree are not looked at: they follow from the code's `k` and `crc`.
  /// Its code_rate is k / n or more: more where some of the n LLRs are 0.
  turbo_decoder_config decoder;
};

/// The most that a transport block is sent.
inline constexpr int most_transmissions = 8;

/// Of lte-transport, whose turbo decoder is set as lte-turbo's, and of nr-dlsch and nr-ulsch, whose LDPC
/// decoder and base graph are set as nr-ldpc's.
struct lte_transport_settings {
  /// G, bits of one transmission; or, and then it is 0, the resource elements, uses of the channel, that one
  /// takes: G = resource_elements * layers * modulation_order.
  int coded_bits = 0, resource_elements = 0;
  /// A block is sent until its CRCs hold, but no more often than this: 1..8.
  int transmissions = 4;
  /// Of its transmissions in order, and from the first again where there are more: 1 to 8 of 0..3.
  std::vector<int> redundancy_versions{0, 2, 3, 1};
  /// N_cb or N_ref, places of each code block's circular buffer that are kept. 0: all.
  int soft_buffer = 0;
  /// The others of nr-dlsch and nr-ulsch. The target code rate, by which the base graph is chosen. 0: A / G.
  double target_rate = 0;
  /// Limited buffers of a carrier of so many resource blocks, in place of soft_buffer: N_ref of TBS_LBRM with
  /// these layers and 64-QAM, or the modulation if it is larger (nr_lbrm_transport_bits). 0: none.
  int lbrm_resource_blocks = 0;
  std::int64_t scrambling = -1;  // c_init; -1: none. Of no link
  /// Q_m and N_L. A link puts its own in their place.
  int modulation_order = 1, layers = 1;
};

struct ldpc_settings {
  /// 0: the longest, 2304 (wimax-ldpc) or 1944 (wifi-ldpc); nr-ldpc, n = E: 2 k.
  int n = 0;
  /// wimax-ldpc: 1/2, 2/3A, 2/3B, 3/4A, 3/4B, 5/6; wifi-ldpc: 1/2, 2/3, 3/4, 5/6.
  std::string rate = "1/2";
  /// nr-ldpc: 1 or 2; 0: by k and k / n (nr_base_graph_of_block).
  int base_graph = 0;
  /// qc-ldpc: the file, from `folder` on if it is not absolute, and its lifting size; 0: what the file says.
  std::string base_matrix = {}, folder = {};
  int lifting_size = 0;
  std::shared_ptr<const ldpc_code> matrix = nullptr;  // what `completed` has read
  ldpc_decoder_config decoder;
};

enum class conv_algorithm { viterbi, max_log_map, log_map };
/// Whose generators, where none are given, and whose puncturing.
enum class conv_standard {
  ieee_802_11,  // (133, 171)
  ieee_802_16,  // (171, 133); of a punctured pair the other bit stays
};

struct conv_settings {
  /// 0: what the largest generator needs.
  int constraint_length = 0;
  /// Empty: the standard's pair, or of rate 1/3 (133, 171, 165).
  std::vector<int> generators;
  /// 0: feed-forward. Else the feedback polynomial, see conv.hpp.
  int feedback = 0;
  /// Two generators: 1/2, 2/3, 3/4 or 5/6, the last three punctured. More: 1 / their number. Empty: 1 / the
  /// number of generators, which is 1/2 where none are given.
  std::string rate;
  conv_ending termination = conv_ending::zero_tail;
  conv_order order = conv_order::serial;
  conv_standard standard = conv_standard::ieee_802_11;
  conv_algorithm algorithm = conv_algorithm::viterbi;
  /// Tail-biting: steps around the circle, see viterbi.hpp and bcjr.hpp; -1 chooses.
  int overlap = -1;
  tail_biting_search tail_biting = tail_biting_search::overlap;  // viterbi, see viterbi.hpp
  conv_precision precision = conv_precision::float32;            // viterbi and max-log-map
  float llr_steps = automatic_steps;                             // of int16, see viterbi.hpp and bcjr.hpp
  int windows = 0;
};

struct polar_code_settings {
  polar_config code;  // its k is not looked at: it is the code's `k`
  polar_decoder_config decoder;
};

struct code_config {
  code_type type = code_type::lte_turbo;
  /// Bits into the encoder, CRC included; of transport blocks and polar A, without it. 0: of an LDPC code
  /// what n and the rate give, of lte-transport 6120, of nr-ldpc 8448, of nr-dlsch and nr-ulsch 8424, of
  /// polar 64, else 6144.
  int k = 0;
  /// The last of the k bits are this CRC. Not of transport blocks and polar, which have their own.
  std::optional<crc_polynomial> crc;
  // Of these the one that belongs to the type is looked at.
  turbo_settings turbo;  // lte-transport: its decoder alone
  lte_transport_settings transport;
  ldpc_settings ldpc;
  conv_settings conv;
  polar_code_settings polar;
};

struct decoder_output {
  view<std::uint8_t> bits = {};  // [batch, k] hard decisions
  view<float> soft = {};         // [batch, k] a-posteriori LLRs; not of viterbi, polar and transport blocks
  /// [batch] iterations done; conv, polar: 1, of an erased codeword 0; transport: of all code blocks together
  view<std::int32_t> iterations = {};
  view<std::uint8_t> status = {};  // [batch] status_erased, status_insufficient, status_stopped
};

/// An encoder and its decoder. Every call queues one batch on an executor. Of transport blocks n is all
/// `transmissions`, G bits of each one after the other.
/// Threads: any number may call one object at once, each with an executor of its own; one of transport blocks
/// one at a time.
class codec {
 public:
  virtual ~codec() = default;
  /// Bits into the encoder and out of it.
  virtual std::size_t k() const noexcept = 0;
  virtual std::size_t n() const noexcept = 0;
  /// Memory that a call takes on its executor meanwhile, for each codeword.
  virtual std::size_t working_bytes() const noexcept = 0;
  /// Memory that each thread of a CPU takes meanwhile, at most: of an encoder, of a decoder.
  virtual std::size_t thread_bytes(bool decodes) const noexcept = 0;
  /// The configuration in force, see `completed`.
  virtual const code_config& config() const noexcept = 0;
  /// bits [batch, k] to coded [batch, >= n], zeros behind the first n; of transport blocks [batch, n]. Throws
  /// shape_error.
  virtual void encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const = 0;
  /// llr [batch, n]. Outputs without data are not computed. Throws shape_error, and argument_error where
  /// `soft` is asked of the Viterbi algorithm, a polar code or transport blocks.
  virtual void decode(executor& exec, view<const float> llr, const decoder_output& out) const = 0;
};

/// The configuration with everything chosen that it leaves open: k, n, the generators, windows and overlap,
/// and the k and the CRC of the turbo decoder; of qc-ldpc the code. Throws argument_error for what is not
/// allowed, file_error for a base matrix that is none.
code_config completed(const code_config& config);

/// The code of a configuration. Throws argument_error for what is not allowed, and for code_type::none.
std::unique_ptr<codec> make_codec(const code_config& config);

/// What the encoder and the decoder of lte-transport take. Throws argument_error for what is not allowed, as
/// `completed` does: transport_block_size, coded_bits, resource_elements, transmissions, redundancy_versions,
/// soft_buffer, crc, or a setting of the turbo decoder.
lte_transport_config transport_of(const code_config& config);

/// The same of nr-dlsch and nr-ulsch. Throws argument_error.
nr_transport_config nr_transport_of(const code_config& config);
/// Code blocks of a transport block.
int code_blocks_of(const code_config& config);

/// Bits into the encoder and bits sent for them; of a transport block in one transmission.
struct code_sizes {
  std::size_t k = 0, n = 0;
};
/// Of a configuration that may leave things open; uncoded n = k. Throws argument_error for settings of which
/// no code can be made.
code_sizes sizes_of(const code_config& config);
/// The k of the configuration, whose own k is not looked at, with which it sends n bits; nothing where there
/// is none. Of an LDPC code n is looked at alone: its own is not.
std::optional<std::size_t> k_of_coded_bits(const code_config& config, std::size_t n);

/// The most iterations that a decoder does, lte-transport for each code block: conv and polar 1, uncoded 0.
int most_iterations(const code_config& config) noexcept;

/// The code of wimax-ldpc, wifi-ldpc, qc-ldpc and nr-ldpc, of this the rows and columns that k and n need.
/// Throws argument_error, and of qc-ldpc that is not completed file_error.
ldpc_code ldpc_code_of(const code_config& config);
/// Of lte-turbo with k chosen: bit i into its second encoder is bit permutation_of(c)[i]. Throws
/// argument_error.
std::vector<std::int32_t> permutation_of(const code_config& config);
/// The convolutional code of the settings. Throws argument_error.
conv_code conv_code_of(const conv_settings& settings);
/// The names of the rates that a type of code has; empty for none.
std::vector<std::string> rates_of(code_type type);

}  // namespace wb
