#include <algorithm>
#include <string>
#include <utility>

#include <warpband/core/check.hpp>
#include <warpband/fec/puncture/puncture.hpp>
#include <warpband/link/codec_nr.hpp>
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
    std::byte* own = workspace_.on(exec, frames * (1 + (has_crc() ? k_ : 0)));
    if (out.status.data == nullptr) out.status = make_view(reinterpret_cast<std::uint8_t*>(own), frames);
    if (has_crc() && out.bits.data == nullptr)
      out.bits = make_view(reinterpret_cast<std::uint8_t*>(own) + frames, k_, frames);
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

class soft_ldpc final : public soft_decoder {
 public:
  soft_ldpc(const ldpc_code& code, const ldpc_decoder_config& config, std::optional<crc_polynomial> crc)
      : decoder_(code, config, as_ldpc_crc(crc)),
        check_(config.early_stop ? status_stopped : std::uint8_t{0}, static_cast<std::size_t>(code.k()),
               crc) {}
  std::size_t k() const noexcept override { return static_cast<std::size_t>(decoder_.code().k()); }
  std::size_t n() const noexcept override { return static_cast<std::size_t>(decoder_.code().n()); }
  int most_iterations() const noexcept override { return decoder_.config().iterations; }
  std::size_t state_size() const noexcept override { return decoder_.state_values(); }
  void run(executor& exec, view<const float> llr, const soft_decoder_state& state,
           const soft_decoder_output& out) const override {
    check_optional_shape("bits", out.bits, k(), llr.items);
    check_optional_shape("extrinsic", out.extrinsic, n(), llr.items);
    check_optional_shape("state", state.values, state_size(), llr.items);
    check_.run(exec, llr.items, out, [&](const soft_decoder_output& o) {
      decoder_.run(exec, llr,
                   {.bits = o.bits,
                    .soft = {},
                    .extrinsic = o.extrinsic,
                    .messages = {},
                    .state = state.values,
                    .reads_messages = !state.fresh,
                    .writes_messages = !state.last,
                    .iterations = o.iterations,
                    .status = o.status});
    });
  }

 private:
  ldpc_decoder decoder_;
  frame_check check_;
};

/// Of each bit that is sent, repeated ones too. It begins anew in each call.
class soft_nr final : public soft_decoder {
 public:
  explicit soft_nr(const code_config& config)
      : code_(nr_codec_of(config)),
        check_(config.ldpc.decoder.early_stop ? status_stopped : std::uint8_t{0}, k(), config.crc) {}
  std::size_t k() const noexcept override { return static_cast<std::size_t>(code_.matcher().config().k); }
  std::size_t n() const noexcept override {
    return static_cast<std::size_t>(code_.matcher().config().sent_bits);
  }
  int most_iterations() const noexcept override { return code_.ldpc().iterations; }
  void run(executor& exec, view<const float> llr, const soft_decoder_state&,
           const soft_decoder_output& out) const override {
    check_.run(exec, llr.items, out, [&](const soft_decoder_output& o) {
      code_.decode(exec, llr,
                   {.bits = o.bits,
                    .soft = {},
                    .iterations = o.iterations,
                    .status = o.status,
                    .extrinsic = o.extrinsic});
    });
  }

 private:
  nr_block_codec code_;
  frame_check check_;
};

class soft_turbo final : public soft_decoder {
 public:
  /// `sent`: the place in the codeword of each bit that is sent; empty for all.
  soft_turbo(const turbo_decoder& decoder, std::vector<std::int32_t> sent, std::optional<crc_polynomial> crc)
      : decoder_(decoder), check_(0, k(), crc), sent_(std::move(sent)) {
    if (!sent_.host().empty()) puncturer_.emplace(all(), sent_.host());
  }
  std::size_t k() const noexcept override { return static_cast<std::size_t>(decoder_.config().k); }
  std::size_t n() const noexcept override { return puncturer_ ? puncturer_->sent() : all(); }
  int most_iterations() const noexcept override { return decoder_.config().iterations; }
  bool gives_extrinsic() const noexcept override {
    return decoder_.config().precision == turbo_precision::float32;
  }
  void run(executor& exec, view<const float> llr, const soft_decoder_state&,
           const soft_decoder_output& out) const override {
    check_shape("llr", llr, n(), llr.items);
    check_optional_shape("extrinsic", out.extrinsic, n(), llr.items);
    const view<float> whole = puncturer_ ? codewords(exec, llr.items) : view<float>{};
    if (puncturer_) puncturer_->restore(exec, llr, whole);
    const bool part = puncturer_ && out.extrinsic.data != nullptr;
    view<float> extrinsic = out.extrinsic;
    if (part) extrinsic = {whole.data + all() * llr.items, all(), llr.items, 1, all()};
    check_.run(exec, llr.items, out, [&](const soft_decoder_output& o) {
      decoder_.run(exec, puncturer_ ? view<const float>(whole) : llr,
                   {.bits = o.bits,
                    .soft = {},
                    .extrinsic = {},
                    .coded_extrinsic = extrinsic,
                    .iterations = o.iterations,
                    .status = o.status});
    });
    if (!part) return;
    frames_arrange_args a;
    a.elements = n();
    a.order = sent_.on(exec);
    a.in = extrinsic;
    a.out = out.extrinsic;
    run_frames_arrange(exec, a, llr.items);
  }

 private:
  std::size_t all() const noexcept { return 3 * (k() + 4); }
  /// Room for LLRs of whole codewords, and as much behind it for extrinsic ones.
  view<float> codewords(executor& exec, std::size_t frames) const {
    std::byte* own = workspace_.on(exec, 2 * all() * frames * sizeof(float));
    return make_view(reinterpret_cast<float*>(own), all(), frames);
  }

  turbo_decoder decoder_;
  frame_check check_;
  resident<std::int32_t> sent_;
  std::optional<puncturer> puncturer_;
  kept_workspace workspace_;
};

class soft_bcjr final : public soft_decoder {
 public:
  soft_bcjr(const bcjr_decoder& decoder, std::optional<crc_polynomial> crc)
      : decoder_(decoder), check_(0, k(), crc) {}
  std::size_t k() const noexcept override { return static_cast<std::size_t>(decoder_.config().k); }
  std::size_t n() const noexcept override { return decoder_.frame().n(); }
  void run(executor& exec, view<const float> llr, const soft_decoder_state&,
           const soft_decoder_output& out) const override {
    check_optional_shape("iterations", out.iterations, 1, llr.items);
    soft_decoder_output wanted = out;
    if (out.iterations.data != nullptr && out.status.data == nullptr)
      wanted.status = make_view(reinterpret_cast<std::uint8_t*>(workspace_.on(exec, llr.items)), llr.items);
    check_.run(exec, llr.items, wanted, [&](const soft_decoder_output& o) {
      decoder_.run(
          exec, llr,
          {.bits = o.bits, .soft = {}, .extrinsic = {}, .coded_extrinsic = o.extrinsic, .status = o.status});
    });
    if (out.iterations.data == nullptr) return;
    frames_check_args a;
    a.status = wanted.status;
    a.passes = out.iterations;
    run_frames_check(exec, a, llr.items);
  }

 private:
  bcjr_decoder decoder_;
  frame_check check_;
  kept_workspace workspace_;
};

/// A code by name, for the open loop.
class hard_decoder final : public soft_decoder {
 public:
  explicit hard_decoder(std::shared_ptr<const codec> code)
      : codec_(std::move(code)), check_(0, codec_->k(), codec_->config().crc) {}
  std::size_t k() const noexcept override { return codec_->k(); }
  std::size_t n() const noexcept override { return codec_->n(); }
  bool gives_extrinsic() const noexcept override { return false; }
  int most_iterations() const noexcept override { return wb::most_iterations(codec_->config()); }
  void run(executor& exec, view<const float> llr, const soft_decoder_state&,
           const soft_decoder_output& out) const override {
    if (out.extrinsic.data != nullptr)
      throw argument_error("extrinsic", "asked for", "none: this decoder gives no extrinsic LLRs");
    check_.run(exec, llr.items, out, [&](const soft_decoder_output& o) {
      codec_->decode(exec, llr, {.bits = o.bits, .soft = {}, .iterations = o.iterations, .status = o.status});
    });
  }

 private:
  std::shared_ptr<const codec> codec_;
  frame_check check_;
};

}  // namespace

std::unique_ptr<soft_decoder> make_soft_decoder(const ldpc_code& code, const ldpc_decoder_config& config,
                                                std::optional<crc_polynomial> crc) {
  if (crc) check_range("crc.degree", crc->degree, 1, code.k() - 1);
  return std::make_unique<soft_ldpc>(code, config, crc);
}

std::unique_ptr<soft_decoder> make_soft_decoder(const turbo_decoder& decoder,
                                                std::optional<crc_polynomial> crc) {
  if (crc) check_range("crc.degree", crc->degree, 1, decoder.config().k - 1);
  return std::make_unique<soft_turbo>(decoder, std::vector<std::int32_t>(), crc);
}

std::unique_ptr<soft_decoder> make_soft_decoder(const bcjr_decoder& decoder,
                                                std::optional<crc_polynomial> crc) {
  if (crc) check_range("crc.degree", crc->degree, 1, decoder.config().k - 1);
  return std::make_unique<soft_bcjr>(decoder, crc);
}

bool gives_extrinsic(const code_config& c) noexcept {
  switch (c.type) {
    case code_type::wimax_ldpc:
    case code_type::wifi_ldpc:
    case code_type::qc_ldpc:
    case code_type::nr_ldpc:
      return true;
    case code_type::lte_turbo:
      return c.turbo.decoder.precision == turbo_precision::float32;
    case code_type::conv:
      return c.conv.algorithm != conv_algorithm::viterbi && c.conv.precision == conv_precision::float32;
    case code_type::lte_transport:
    case code_type::nr_dlsch:
    case code_type::nr_ulsch:
    case code_type::polar:
    case code_type::none:
      break;
  }
  return false;
}

std::unique_ptr<soft_decoder> make_soft_decoder(const code_config& config, int inner) {
  check_range("inner", inner, 0, 1000);
  code_config c = config;
  if (inner != 0) {
    c.ldpc.decoder.iterations = inner;
    c.turbo.decoder.iterations = inner;
  }
  c = completed(c);
  if (c.type == code_type::wimax_ldpc || c.type == code_type::wifi_ldpc || c.type == code_type::qc_ldpc)
    return make_soft_decoder(ldpc_code_of(c), c.ldpc.decoder, c.crc);
  if (c.type == code_type::nr_ldpc) return std::make_unique<soft_nr>(c);
  if (c.type == code_type::lte_turbo)
    return std::make_unique<soft_turbo>(turbo_decoder(c.turbo.decoder, permutation_of(c)),
                                        c.turbo.rate == turbo_rate::half
                                            ? turbo_half_rate_places(static_cast<std::size_t>(c.k))
                                            : std::vector<std::int32_t>(),
                                        c.crc);
  if (c.type == code_type::conv && gives_extrinsic(c)) {
    const bool exact = c.conv.algorithm == conv_algorithm::log_map;
    return make_soft_decoder(
        bcjr_decoder({conv_code_of(c.conv), c.k, exact ? map_algorithm::log_map : map_algorithm::max_log_map,
                      c.conv.overlap}),
        c.crc);
  }
  return make_hard_decoder(make_codec(c));
}

std::unique_ptr<soft_decoder> make_hard_decoder(std::shared_ptr<const codec> code) {
  return std::make_unique<hard_decoder>(std::move(code));
}

}  // namespace wb
