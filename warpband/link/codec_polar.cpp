#include <string>

#include <warpband/core/check.hpp>
#include <warpband/fec/polar/polar.hpp>
#include <warpband/link/codec_conv.hpp>
#include <warpband/link/count/count.hpp>

namespace wb {

polar_config polar_of(const code_config& config) {
  polar_config c = config.polar.code;
  c.k = config.k;
  return c;
}

void check_polar(const code_config& config) {
  if (config.crc) throw argument_error("crc", "given", "none: a polar code has a CRC of its own");
  check(polar_of(config), config.polar.decoder);
}

namespace {

class polar final : public codec {
 public:
  explicit polar(const code_config& config)
      : config_(completed(config)),
        encoder_(polar_of(config_)),
        decoder_(polar_of(config_), config_.polar.decoder),
        one_(std::vector<std::uint8_t>{1}) {}
  std::size_t k() const noexcept override { return encoder_.code().k(); }
  std::size_t n() const noexcept override { return encoder_.code().coded_bits(); }
  std::size_t working_bytes() const noexcept override { return 1; }
  std::size_t thread_bytes(bool decodes) const noexcept override {
    const std::size_t mother = static_cast<std::size_t>(encoder_.code().blocks().front().n),
                      paths = static_cast<std::size_t>(config_.polar.decoder.list_size);
    const std::size_t values = paths > widest ? paths : widest;
    return sizeof(float) * values * (decodes ? 3 * mother : mother / 32);
  }
  const code_config& config() const noexcept override { return config_; }
  void encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const override {
    encoder_.run(exec, bits, coded);
  }
  void decode(executor& exec, view<const float> llr, const decoder_output& out) const override {
    if (out.soft.data != nullptr)
      throw argument_error("code.type", "\"polar\"",
                           "another code for soft output: polar decoders have none");
    check_optional_shape("iterations", out.iterations, 1, llr.items);
    view<std::uint8_t> status = out.status;
    if (status.data == nullptr)
      status = make_view(reinterpret_cast<std::uint8_t*>(workspace_.on(exec, llr.items)), std::size_t{1},
                         llr.items);
    decoder_.run(exec, llr, {.bits = out.bits, .status = status});
    // One pass for each codeword, none for an erased one.
    static_assert(status_erased == 1);
    if (out.iterations.data != nullptr)
      count_errors(exec, view<const std::uint8_t>{one_.on(exec), 1, llr.items, 1, 0},
                   view<const std::uint8_t>(status), out.iterations);
  }

 private:
  code_config config_;
  polar_encoder encoder_;
  polar_decoder decoder_;
  resident<std::uint8_t> one_;
  kept_workspace workspace_;
};

}  // namespace

std::unique_ptr<codec> make_polar(const code_config& config) { return std::make_unique<polar>(config); }

}  // namespace wb
