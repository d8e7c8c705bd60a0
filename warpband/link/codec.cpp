#include <warpband/link/codec.hpp>

#include <algorithm>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/fec/lte/qpp.hpp>
#include <warpband/fec/puncture/puncture.hpp>

namespace wb {
namespace {

constexpr int most_uncoded_bits = 1 << 24;  // what random_bits, block fading and an int32 of errors take

std::vector<std::int32_t> permutation_of(const code_config& c) {
  if (!c.interleaver) return qpp_permutation(qpp_for(c.k));
  return qpp_permutation({c.k, c.interleaver->f1, c.interleaver->f2});
}

class lte_turbo final : public codec {
 public:
  explicit lte_turbo(const code_config& config)
      : config_(completed(config)),
        encoder_(permutation_of(config_)),
        decoder_(config_.decoder, permutation_of(config_)) {
    if (config_.rate == turbo_rate::half)
      puncturer_.emplace(coded_bits(code_type::lte_turbo, k()), turbo_half_rate_places(k()));
  }
  std::size_t k() const noexcept override { return static_cast<std::size_t>(config_.k); }
  std::size_t n() const noexcept override { return coded_bits(code_type::lte_turbo, k(), config_.rate); }
  std::size_t working_bytes() const noexcept override {
    return puncturer_ ? puncturer_->n() * (sizeof(std::uint8_t) + sizeof(float)) : 0;
  }
  const code_config& config() const noexcept override { return config_; }
  void encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const override {
    if (!puncturer_) return encoder_.run(exec, bits, coded);
    check_shape("coded", coded, std::max(coded.elements, n()), bits.items);
    auto all = exec.make<std::uint8_t>(puncturer_->n(), bits.items);
    encoder_.run(exec, bits, all);
    puncturer_->puncture(exec, all, coded);
  }
  void decode(executor& exec, view<const float> llr, const decoder_output& out) const override {
    const turbo_decoder_output decided{.bits = out.bits,
                                       .soft = out.soft,
                                       .extrinsic = {},
                                       .iterations = out.iterations,
                                       .status = out.status};
    if (!puncturer_) return decoder_.run(exec, llr, decided);
    check_shape("llr", llr, n(), llr.items);
    auto all = exec.make<float>(puncturer_->n(), llr.items);
    puncturer_->restore(exec, llr, all);
    decoder_.run(exec, all, decided);
  }

 private:
  code_config config_;
  turbo_encoder encoder_;
  turbo_decoder decoder_;
  std::optional<puncturer> puncturer_;  // none at rate 1/3
};

}  // namespace

code_config completed(const code_config& config) {
  code_config c = config;
  if (c.crc && c.k <= c.crc->degree)
    throw argument_error("k", std::to_string(c.k),
                         "more than the " + std::to_string(c.crc->degree) + " bits of its CRC");
  if (c.type == code_type::none) {
    check_range("k", c.k, 1, most_uncoded_bits);
    return c;
  }
  if (c.rate != turbo_rate::third && c.rate != turbo_rate::half)
    throw argument_error("rate", std::to_string(static_cast<int>(c.rate)), "third or half");
  if (c.interleaver) check_range("k", c.k, 40, 65536);
  c.decoder.k = c.k;
  c.decoder.crc_polynomial = 0;
  c.decoder.crc_degree = 0;
  if (c.crc) {
    c.decoder.crc_polynomial = c.crc->polynomial;
    c.decoder.crc_degree = c.crc->degree;
  } else if (c.decoder.stop == early_stop::crc) {
    throw argument_error("early_stop", "\"crc\"",
                         "a code with a CRC (code.crc), \"sign-agreement\" or \"none\"");
  }
  c.decoder = turbo_decoder(c.decoder, permutation_of(c)).config();
  return c;
}

std::unique_ptr<codec> make_codec(const code_config& config) {
  if (config.type == code_type::lte_turbo) return std::make_unique<lte_turbo>(config);
  throw argument_error("code.type", "\"none\"", "a code: \"lte-turbo\"");
}

std::size_t coded_bits(code_type code, std::size_t k, turbo_rate rate) noexcept {
  if (code == code_type::none) return k;
  return rate == turbo_rate::half ? 2 * k + 12 : 3 * (k + 4);
}

std::optional<std::size_t> k_of_coded_bits(code_type code, std::size_t n) noexcept {
  if (code == code_type::none) return n;
  if (n % 3 != 0 || n < 3 * 4 + 3) return std::nullopt;
  return n / 3 - 4;
}

}  // namespace wb
