#include <algorithm>
#include <string>
#include <utility>

#include <warpband/core/check.hpp>
#include <warpband/receive/frames.hpp>
#include <warpband/receive/soft.hpp>

namespace wb {
namespace {

/// Tells which frames are finished: by a bit of the status, by a CRC, or by both.
class frame_check {
 public:
  /// `needed`: the bit of the status, 0 for none. `crc`: of the k bits.
  frame_check(std::uint8_t needed, std::size_t k, std::optional<crc_polynomial> crc)
      : needed_(needed), k_(k) {
    if (crc) weights_ = resident<std::int32_t>(crc_remainders(static_cast<int>(k), *crc));
  }
  bool has_crc() const noexcept { return !weights_.host().empty(); }
  /// `decode` runs a decoder with outputs whose status and bits are there where this needs them.
  template <class Decode>
  void run(executor& exec, std::size_t frames, soft_decoder_output out, Decode decode) const {
    if (out.finished.data == nullptr) return decode(out);
    std::byte* memory = workspace_.on(exec, frames * (1 + (has_crc() ? k_ : 0)));
    if (out.status.data == nullptr) out.status = make_view(reinterpret_cast<std::uint8_t*>(memory), frames);
    if (has_crc() && out.bits.data == nullptr)
      out.bits = make_view(reinterpret_cast<std::uint8_t*>(memory) + frames, frames, k_);
    decode(out);
    frames_check_args a;
    a.needed = needed_;
    a.status = out.status;
    if (has_crc()) {
      a.bits = out.bits;
      a.weights = weights_.on(exec);
    }
    a.finished = out.finished;
    run_frames_check(exec, a, frames);
  }

 private:
  std::uint8_t needed_;
  std::size_t k_;
  resident<std::int32_t> weights_;
  kept_workspace workspace_;
};

/// A code without extrinsic LLRs of its coded bits, for the open loop.
class hard_decoder final : public soft_decoder {
 public:
  hard_decoder(std::shared_ptr<const codec> code, int iterations)
      : codec_(std::move(code)), most_(iterations) {}
  std::size_t k() const noexcept override { return codec_->k(); }
  std::size_t n() const noexcept override { return codec_->n(); }
  bool gives_extrinsic() const noexcept override { return false; }
  int most_iterations() const noexcept override { return most_; }
  void run(executor& exec, view<const float> llr, const soft_decoder_state&,
           const soft_decoder_output& out) const override {
    if (out.extrinsic.data != nullptr)
      throw argument_error("extrinsic", "asked for", "none: this decoder gives no extrinsic LLRs");
    codec_->decode(exec, llr,
                   {.bits = out.bits, .soft = {}, .iterations = out.iterations, .status = out.status});
  }

 private:
  std::shared_ptr<const codec> codec_;
  int most_;
};

/// A decoder of frames whose coded bits come in another order.
class deinterleaving_decoder final : public soft_decoder {
 public:
  deinterleaving_decoder(std::unique_ptr<soft_decoder> decoder, const bit_interleaver& order)
      : decoder_(std::move(decoder)), order_(order) {}
  std::size_t k() const noexcept override { return decoder_->k(); }
  std::size_t n() const noexcept override { return decoder_->n(); }
  bool gives_extrinsic() const noexcept override { return decoder_->gives_extrinsic(); }
  int most_iterations() const noexcept override { return decoder_->most_iterations(); }
  void run(executor& exec, view<const float> llr, const soft_decoder_state& state,
           const soft_decoder_output& out) const override {
    auto* memory = reinterpret_cast<float*>(workspace_.on(exec, sizeof(float) * llr.items * n()));
    const auto coded = make_view(memory, llr.items, n());
    order_.deinterleave(exec, llr, coded);
    decoder_->run(exec, coded, state, out);
  }

 private:
  std::unique_ptr<soft_decoder> decoder_;
  bit_interleaver order_;
  kept_workspace workspace_;
};

/// A decoder that also gives `finished`.
class checked_decoder final : public soft_decoder {
 public:
  checked_decoder(std::unique_ptr<soft_decoder> decoder, std::optional<crc_polynomial> crc)
      : decoder_(std::move(decoder)),
        check_(decoder_->stops_by_checks() ? status_stopped : std::uint8_t{0}, decoder_->k(), crc) {}
  std::size_t k() const noexcept override { return decoder_->k(); }
  std::size_t n() const noexcept override { return decoder_->n(); }
  bool gives_extrinsic() const noexcept override { return decoder_->gives_extrinsic(); }
  int most_iterations() const noexcept override { return decoder_->most_iterations(); }
  std::size_t state_size() const noexcept override { return decoder_->state_size(); }
  bool stops_by_checks() const noexcept override { return decoder_->stops_by_checks(); }
  void run(executor& exec, view<const float> llr, const soft_decoder_state& state,
           const soft_decoder_output& out) const override {
    check_.run(exec, llr.items, out,
               [&](const soft_decoder_output& o) { decoder_->run(exec, llr, state, o); });
  }

 private:
  std::unique_ptr<soft_decoder> decoder_;
  frame_check check_;
};

std::unique_ptr<soft_decoder> checked(std::unique_ptr<soft_decoder> decoder,
                                      const std::optional<crc_polynomial>& crc) {
  return std::make_unique<checked_decoder>(std::move(decoder), crc);
}
void check_degree(const std::optional<crc_polynomial>& crc, int k) {
  if (crc) check_range("crc.degree", crc->degree, 1, k - 1);
}

}  // namespace

std::unique_ptr<soft_decoder> make_soft_decoder(const ldpc_code& code, const ldpc_decoder_config& config,
                                                std::optional<crc_polynomial> crc) {
  check_degree(crc, code.k());
  return checked(make_soft_ldpc(code, config, crc), crc);
}
std::unique_ptr<soft_decoder> make_soft_decoder(const turbo_decoder& decoder,
                                                std::optional<crc_polynomial> crc) {
  check_degree(crc, decoder.config().k);
  return checked(make_soft_turbo(decoder), crc);
}
std::unique_ptr<soft_decoder> make_soft_decoder(const bcjr_decoder& decoder,
                                                std::optional<crc_polynomial> crc) {
  check_degree(crc, decoder.config().k);
  return checked(make_soft_bcjr(decoder), crc);
}
std::unique_ptr<soft_decoder> make_soft_decoder(const ctc_decoder& decoder,
                                                std::optional<crc_polynomial> crc) {
  check_degree(crc, decoder.code().k);
  return checked(make_soft_ctc(decoder), crc);
}

std::unique_ptr<soft_decoder> make_soft_decoder(const code_config& config, std::optional<int> inner) {
  if (inner) check_range("inner", *inner, 1, 1000);
  const code_config c = completed(inner ? with_iterations(config, *inner) : config);
  if (gives_extrinsic(c)) return checked(c.kind().make_soft(c.settings), crc_of(c));
  return checked(std::make_unique<hard_decoder>(make_codec(c), most_iterations(c)), crc_of(c));
}

std::unique_ptr<soft_decoder> make_hard_decoder(std::shared_ptr<const codec> code) {
  return std::make_unique<hard_decoder>(std::move(code), 1);
}
std::unique_ptr<soft_decoder> make_hard_decoder(std::shared_ptr<const codec> code,
                                                const bit_interleaver& interleaver) {
  return std::make_unique<deinterleaving_decoder>(make_hard_decoder(std::move(code)), interleaver);
}

}  // namespace wb
