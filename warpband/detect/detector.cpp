#include <warpband/detect/detector.hpp>

#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/detect/kernel_detector.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {

detector::detector(const detector_config& c, bool takes_prior)
    : streams_(c.streams),
      rx_antennas_(c.rx_antennas),
      qam_(c.qam),
      bits_per_use_(0),
      takes_prior_(takes_prior) {
  check_sizes(c);
  bits_per_use_ = static_cast<std::size_t>(bits_per_symbol(qam_) * streams_);
}

void detector::run(executor& exec, const detector_input& in, const detector_output& out) const {
  const std::size_t uses = in.received.items, shared = in.uses_per_channel,
                    rx = static_cast<std::size_t>(rx_antennas_), bits = bits_per_use();
  if (shared == 0) throw argument_error("uses_per_channel", "0", "1 or more");
  check_shape("received", in.received, uses, rx);
  check_shape("channel", in.channel, uses / shared + (uses % shared != 0),
              rx * static_cast<std::size_t>(streams_));
  check_shape("noise_var", in.noise_var, uses, 1);
  check_optional_shape("prior", in.prior, uses, bits);
  if (in.prior.data != nullptr && !takes_prior_)
    throw argument_error("prior", "given", "none: this detector takes no a-priori LLRs");
  check_optional_shape("llr", out.llr, uses, bits);
  check_optional_shape("bits", out.bits, uses, bits);
  check_optional_shape("status", out.status, uses, 1);
  check_optional_shape("visited", out.visited, uses, 1);
  if (out.visited.data != nullptr && !counts_visited())
    throw argument_error("visited", "given", "none: this detector counts no nodes");
  check_apart({{"llr", out.llr}, {"bits", out.bits}, {"status", out.status}, {"visited", out.visited}});
  compute(exec, in, out);
}

void describe_call(detect_call& call, const detector_config& c) {
  call.streams = c.streams;
  call.rx_antennas = c.rx_antennas;
  call.pam_bits = bits_per_symbol(c.qam) / 2;
  call.clip = *c.llr_clip;
  call.extrinsic = c.extrinsic;
}

void attach_arrays(detect_call& call, const detector_input& in, const detector_output& out) {
  call.uses_per_channel = in.uses_per_channel;
  call.received = as_pairs(in.received);
  call.channel = as_pairs(in.channel);
  call.noise_var = in.noise_var;
  call.prior = in.prior;
  call.llr = out.llr;
  call.bits = out.bits;
  call.status = out.status;
}

}  // namespace wb
