#pragma once
// The two halves of an iterative receiver, each with soft input and soft output. `iterative_receiver`
// (receive/iterative.hpp) runs any pair of them. A pair of one's own derives from these interfaces.
//
// LLRs are ln P(b = 0) - ln P(b = 1). Extrinsic means: what is known of a bit from all others, without the
// LLR that was given for the bit itself.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <warpband/code/code_kind.hpp>
#include <warpband/code/soft_decoder.hpp>
#include <warpband/detect/detector.hpp>
#include <warpband/massive/soft_uplink/soft_uplink.hpp>
#include <warpband/massive/uplink/uplink.hpp>
#include <warpband/modem/constellation/constellation.hpp>
#include <warpband/modem/demap/demap.hpp>
#include <warpband/receive/interleaver.hpp>
#include <warpband/stbc/stbc.hpp>

namespace wb {

/// A detector or demapper with a-priori LLRs. Every call queues one batch on an executor.
/// Threads: any number may call one object at once, each with an executor of its own.
class soft_detector {
 public:
  virtual ~soft_detector() = default;
  /// LLRs of a use. A use is what the detector takes at once: a vector, or a codeword of a space-time code.
  virtual std::size_t bits_per_use() const noexcept = 0;
  /// Whether it takes a-priori LLRs. One that does not serves a receiver with one outer iteration.
  virtual bool takes_prior() const noexcept = 0;
  /// Extrinsic LLRs of the uses of in.received. A use with an a-priori LLR that is NaN or infinite is erased:
  /// LLRs of 0 and status_erased. Outputs without data are not computed. Throws shape_error.
  virtual void run(executor& exec, const detector_input& in, const detector_output& out) const = 0;
};

/// The detector of a configuration, with extrinsic LLRs where it takes a-priori ones. Throws argument_error.
std::unique_ptr<soft_detector> make_soft_detector(const detector_config& config);
/// The decoder of a space-time code. A use is a codeword: received [codewords, uses * rx_antennas] and
/// channel as stbc_input has them, with uses_per_channel for codewords_per_channel.
std::unique_ptr<soft_detector> make_soft_detector(const stbc_config& config);
/// The massive-MIMO uplink: with a-priori LLRs, or where decisions are asked for, the detector of
/// massive/soft_uplink, else that of the configuration. A use is a vector. Calls have a multiple of
/// uses_per_channel vectors; N0 is that of the first vector of an H.
std::unique_ptr<soft_detector> make_soft_detector(const uplink_config& config);
/// The same with the detector of massive/soft_uplink in every call.
std::unique_ptr<soft_detector> make_soft_detector(const soft_uplink_config& config);

/// The detector as it is configured, without feedback: a-posteriori LLRs.
std::unique_ptr<soft_detector> make_open_detector(const detector_config& config);
std::unique_ptr<soft_detector> make_open_detector(const stbc_config& config);
/// A demapper of symbols of one antenna.
std::unique_ptr<soft_detector> make_open_detector(const demapper_config& config);
std::unique_ptr<soft_detector> make_open_detector(const constellation_demapper& demapper);

/// The decoder of a code with a CRC or without: `inner` iterations a call, 0 for those of the configuration.
/// A frame is finished where the checks of an LDPC code hold (early_stop = "syndrome") and the CRC, if there
/// is one. Agreement of a turbo decoder's decisions is no check. `gives_extrinsic` says which codes have
/// extrinsic LLRs of coded bits; nr-ldpc has those of the sent bits. Throws argument_error.
std::unique_ptr<soft_decoder> make_soft_decoder(const code_config& config, std::optional<int> inner = {});
/// What `code` decodes, without extrinsic LLRs and `finished`.
std::unique_ptr<soft_decoder> make_hard_decoder(std::shared_ptr<const codec> code);
/// The same, for LLRs in the order in which `interleaver` sends the coded bits.
std::unique_ptr<soft_decoder> make_hard_decoder(std::shared_ptr<const codec> code,
                                                const bit_interleaver& interleaver);
/// The same of an LDPC code of one's own. `crc`: the last of its k bits are this CRC of the others.
std::unique_ptr<soft_decoder> make_soft_decoder(const ldpc_code& code, const ldpc_decoder_config& config,
                                                std::optional<crc_polynomial> crc = {});
/// The same of a turbo decoder, with LLRs of all 3 (k + 4) bits.
std::unique_ptr<soft_decoder> make_soft_decoder(const turbo_decoder& decoder,
                                                std::optional<crc_polynomial> crc = {});
/// The same of a convolutional code.
std::unique_ptr<soft_decoder> make_soft_decoder(const bcjr_decoder& decoder,
                                                std::optional<crc_polynomial> crc = {});
/// The same of a convolutional turbo code.
std::unique_ptr<soft_decoder> make_soft_decoder(const ctc_decoder& decoder,
                                                std::optional<crc_polynomial> crc = {});

}  // namespace wb
