#include <warpband/link/codec_conv.hpp>

#include <algorithm>
#include <bit>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/fec/bcjr/bcjr.hpp>
#include <warpband/fec/conv/conv_runs.hpp>
#include <warpband/fec/puncture/puncture.hpp>
#include <warpband/fec/viterbi/viterbi.hpp>
#include <warpband/link/count/count.hpp>

namespace wb {
namespace {

viterbi_config viterbi_of(const conv_settings& s, const conv_code& code, int k) {
  return {code, k, s.overlap, s.tail_biting, s.precision, s.llr_steps, s.windows};
}
bcjr_config bcjr_of(const conv_settings& s, const conv_code& code, int k) {
  const bool exact = s.algorithm == conv_algorithm::log_map;
  return {code,      k,           exact ? map_algorithm::log_map : map_algorithm::max_log_map,
          s.overlap, s.precision, s.llr_steps,
          s.windows};
}

class convolutional final : public codec {
 public:
  explicit convolutional(const code_config& config)
      : config_(completed(config)),
        encoder_(conv_code_of(config_.conv), config_.k),
        one_(std::vector<std::uint8_t>{1}) {
    const conv_settings& c = config_.conv;
    const conv_code& code = encoder_.frame().code();
    if (c.algorithm == conv_algorithm::viterbi)
      viterbi_.emplace(viterbi_of(c, code, config_.k));
    else
      bcjr_.emplace(bcjr_of(c, code, config_.k));
  }
  std::size_t k() const noexcept override { return static_cast<std::size_t>(config_.k); }
  std::size_t n() const noexcept override { return encoder_.n(); }
  std::size_t working_bytes() const noexcept override { return 1; }
  std::size_t thread_bytes(bool decodes) const noexcept override {
    const std::size_t tail = 2 * static_cast<std::size_t>(config_.conv.constraint_length - 1);
    if (!decodes) return sizeof(float) * widest * (k() + tail);
    // Of each of a lane's codewords: decisions, a bit a state, or metrics at every 16th step; and what a run
    // of steps takes.
    const std::size_t states = std::size_t{1} << (config_.conv.constraint_length - 1);
    const std::size_t steps = k() + states + 2 * static_cast<std::size_t>(config_.conv.overlap);
    const std::size_t kept = viterbi_ ? (states + 31) / 32 * steps : states * (steps / conv_run + 1);
    return sizeof(float) * widest * (kept + (conv_run + 4) * states + 64 * conv_run);
  }
  const code_config& config() const noexcept override { return config_; }
  void encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const override {
    encoder_.run(exec, bits, coded);
  }
  void decode(executor& exec, view<const float> llr, const decoder_output& out) const override {
    if (viterbi_ && out.soft.data != nullptr)
      throw argument_error("algorithm", "\"viterbi\"",
                           "\"max-log-map\" or \"log-map\" for soft output: the Viterbi algorithm has none");
    check_optional_shape("iterations", out.iterations, 1, llr.items);
    view<std::uint8_t> status = out.status;
    if (out.iterations.data != nullptr && status.data == nullptr)
      status = make_view(reinterpret_cast<std::uint8_t*>(workspace_.on(exec, llr.items)), std::size_t{1},
                         llr.items);
    if (viterbi_)
      viterbi_->run(exec, llr, {.bits = out.bits, .metric = {}, .status = status});
    else
      bcjr_->run(exec, llr, {.bits = out.bits, .soft = out.soft, .extrinsic = {}, .status = status});
    // One pass for each codeword, none for an erased one.
    static_assert(status_erased == 1);
    if (out.iterations.data != nullptr)
      count_errors(exec, view<const std::uint8_t>{one_.on(exec), 1, llr.items, 1, 0},
                   view<const std::uint8_t>(status), out.iterations);
  }

 private:
  code_config config_;
  conv_encoder encoder_;
  resident<std::uint8_t> one_;
  kept_workspace workspace_;
  std::optional<viterbi_decoder> viterbi_;  // one of them
  std::optional<bcjr_decoder> bcjr_;
};

}  // namespace

std::size_t conv_bits(const conv_code& code, std::size_t k) {
  const std::size_t tail =
      code.ending == conv_ending::zero_tail ? static_cast<std::size_t>(code.constraint_length - 1) : 0;
  const std::size_t all = (k + tail) * code.generators.size(), period = code.sent.size();
  if (period == 0) return all;
  const auto ones = [&](std::size_t of) {
    return static_cast<std::size_t>(
        std::count(code.sent.begin(), code.sent.begin() + static_cast<std::ptrdiff_t>(of), 1));
  };
  return all / period * ones(period) + ones(all % period);
}

void complete_conv(code_config& c) {
  conv_settings& s = c.conv;
  const conv_code code = conv_code_of(s);
  s.constraint_length = code.constraint_length;
  s.generators = code.generators;
  if (s.rate.empty()) s.rate = "1/" + std::to_string(s.generators.size());
  if (static_cast<int>(s.algorithm) < 0 || s.algorithm > conv_algorithm::log_map)
    throw argument_error("algorithm", std::to_string(static_cast<int>(s.algorithm)),
                         "viterbi, max-log-map or log-map");
  if (s.tail_biting == tail_biting_search::exact && s.algorithm != conv_algorithm::viterbi)
    throw argument_error("tail_biting", "\"exact\"", "\"overlap\": only viterbi has another search");
  const auto chosen_by = [&](const auto& config) {
    s.overlap = config.overlap;
    s.windows = config.windows;
  };
  if (s.algorithm == conv_algorithm::viterbi)
    chosen_by(completed(viterbi_of(s, code, c.k)));
  else
    chosen_by(completed(bcjr_of(s, code, c.k)));
}

std::unique_ptr<codec> make_convolutional(const code_config& config) {
  return std::make_unique<convolutional>(config);
}

conv_code conv_code_of(const conv_settings& s) {
  const bool other = s.standard == conv_standard::ieee_802_16;
  conv_code c = other ? conv_80216(conv_rate::r1_2) : conv_80211(conv_rate::r1_2);
  if (!s.generators.empty())
    c.generators = s.generators;
  else if (s.rate == "1/3")
    c.generators = conv_lte().generators;
  const std::string whole = "1/" + std::to_string(c.generators.size());
  const std::vector<std::string> names =
      c.generators.size() == 2 ? std::vector<std::string>{"1/2", "2/3", "3/4", "5/6"} : std::vector{whole};
  if (!s.rate.empty() && s.rate != whole) {
    const auto i = std::find(names.begin(), names.end(), s.rate);
    if (i == names.end())
      throw argument_error("rate", "\"" + s.rate + "\"",
                           s.generators.empty()
                               ? among(rates_of(code_type::conv))
                               : among(names) + " with " + std::to_string(c.generators.size()) +
                                     (c.generators.size() == 1 ? " generator" : " generators"));
    const auto rate = static_cast<conv_rate>(i - names.begin());
    c.sent = (other ? conv_80216(rate) : conv_80211(rate)).sent;
  }
  int largest = std::max(s.feedback, 0);
  for (const int g : c.generators) largest = std::max(largest, g);
  c.constraint_length = s.constraint_length != 0
                            ? s.constraint_length
                            : std::max(3, static_cast<int>(std::bit_width(static_cast<unsigned>(largest))));
  c.feedback = s.feedback;
  c.ending = s.termination;
  c.order = s.order;
  if (c.feedback != 0 && c.ending == conv_ending::tail_biting)
    throw argument_error("termination", "\"tail-biting\"", "\"zero-tail\" with feedback");
  (void)conv_frame(c, 1024);  // throws for what is not allowed
  return c;
}

}  // namespace wb
