#include <warpband/detect/linear/mmse_backward.hpp>

#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/detect/kernel_detector.hpp>
#include <warpband/detect/linear/linear.hpp>
#include <warpband/detect/linear/mmse_backward_args.hpp>

namespace wb {

WB_DECLARE_KERNEL(mmse_backward)

mmse_backward::mmse_backward(const detector_config& config) {
  const detector_config c = completed(config);
  if (c.type != "mmse") throw argument_error("type", c.type, "\"mmse\"");
  const word_settings& words = c.get<mmse_settings>().words;
  if (words.word_length)
    throw argument_error("word_length", std::to_string(*words.word_length), "none: gradients are of float32");
  check_sizes(c);
  detect_call call;
  describe_call(call, c);
  streams_ = call.streams;
  rx_antennas_ = call.rx_antennas;
  pam_bits_ = call.pam_bits;
  clip_ = call.clip;
}

void mmse_backward::run(executor& exec, const detector_input& in, view<const float> llr_gradient,
                        const mmse_gradients& out) const {
  const std::size_t uses = in.received.items, shared = in.uses_per_channel,
                    rx = static_cast<std::size_t>(rx_antennas_),
                    gains = rx * static_cast<std::size_t>(streams_);
  if (shared == 0) throw argument_error("uses_per_channel", "0", "1 or more");
  if (in.prior.data != nullptr)
    throw argument_error("prior", "given", "none: this detector takes no a-priori LLRs");
  check_shape("received", in.received, uses, rx);
  check_shape("channel", in.channel, uses / shared + (uses % shared != 0), gains);
  check_shape("noise_var", in.noise_var, uses, 1);
  check_shape("llr_gradient", llr_gradient, uses, bits_per_use());
  check_optional_shape("channel_gradient", out.channel, uses, gains);
  check_optional_shape("received_gradient", out.received, uses, rx);
  check_optional_shape("noise_var_gradient", out.noise_var, uses, 1);
  check_optional_shape("status", out.status, uses, 1);
  check_apart({{"channel_gradient", out.channel},
               {"received_gradient", out.received},
               {"noise_var_gradient", out.noise_var},
               {"status", out.status}});
  mmse_backward_args a;
  a.streams = streams_;
  a.rx_antennas = rx_antennas_;
  a.pam_bits = pam_bits_;
  a.clip = clip_;
  attach_arrays(a, in, {.status = out.status});
  a.llr_gradient = llr_gradient;
  a.channel_gradient = as_pairs(out.channel);
  a.received_gradient = as_pairs(out.received);
  a.noise_var_gradient = out.noise_var;
  exec.run(mmse_backward_kernels(), &a, uses);
}

}  // namespace wb
