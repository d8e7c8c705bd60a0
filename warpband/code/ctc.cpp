#include <warpband/code/ctc.hpp>

#include <algorithm>
#include <utility>

#include <warpband/code/decoder_choices.hpp>

namespace wb {
namespace {

const ctc_code_settings& typed(const box& b) { return b.get<ctc_code_settings>(); }

class ctc final : public codec {
 public:
  explicit ctc(const ctc_code_settings& s) : encoder_(s.code), decoder_(s.code, s.decoder) {}
  std::size_t k() const noexcept override { return encoder_.k(); }
  std::size_t n() const noexcept override { return encoder_.n(); }
  std::size_t thread_bytes(bool decodes) const noexcept override {
    return decodes ? 1024 * k() : 0;  // 16 codewords of 28 floats a couple and their windows' borders
  }
  void encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const override {
    encoder_.run(exec, bits, coded);
  }
  void decode(executor& exec, view<const float> llr, const decoder_output& out) const override {
    decoder_.run(exec, llr,
                 {.bits = out.bits, .soft = out.soft, .iterations = out.iterations, .status = out.status});
  }

 private:
  ctc_encoder encoder_;
  ctc_decoder decoder_;
};

class soft_ctc final : public soft_decoder {
 public:
  explicit soft_ctc(const ctc_decoder& decoder) : decoder_(decoder) {}
  std::size_t k() const noexcept override { return decoder_.k(); }
  std::size_t n() const noexcept override { return decoder_.n(); }
  int most_iterations() const noexcept override { return decoder_.config().iterations; }
  void run(executor& exec, view<const float> llr, const soft_decoder_state&,
           const soft_decoder_output& out) const override {
    decoder_.run(exec, llr,
                 {.bits = out.bits,
                  .coded_extrinsic = out.extrinsic,
                  .iterations = out.iterations,
                  .status = out.status});
  }

 private:
  ctc_decoder decoder_;
};

/// The k of the standard for which n bits are sent.
std::optional<std::size_t> k_of(const ctc_config& code, std::size_t n) {
  for (const int couples : ctc_couples(code.standard)) {
    ctc_config c = code;
    c.k = 2 * couples;
    if (static_cast<std::size_t>(ctc_sent_bits(c)) == n) return static_cast<std::size_t>(c.k);
  }
  return std::nullopt;
}

}  // namespace

std::vector<ctc_decoder_config> ctc_candidates(const ctc_decoder_config& base) {
  std::vector<ctc_decoder_config> decoders{base};
  for (const auto algorithm : {map_algorithm::max_log_map, map_algorithm::log_map}) {
    ctc_decoder_config d = base;
    if (algorithm != d.algorithm) d.extrinsic_scale = algorithm == map_algorithm::max_log_map ? 0.75f : 1.f;
    d.algorithm = algorithm;
    decoders.push_back(d);
  }
  return with_iterations_of(decoders, {2, 3, 4, 6, 8});
}

std::unique_ptr<soft_decoder> make_soft_ctc(const ctc_decoder& decoder) {
  return std::make_unique<soft_ctc>(decoder);
}

code_kind ctc_code_kind() {
  const auto code = [](ctc_code_settings& s) -> ctc_config& { return s.code; };
  const auto decoder = [](ctc_code_settings& s) -> ctc_decoder_config& { return s.decoder; };
  return {
      .name = "ctc",
      .text =
          "duo-binary turbo codes of IEEE 802.16 (--standard wimax, default) and ETSI EN 301 790 (dvb-rcs): "
          "--k, --rate",
      .settings = code_and_decoder(within<ctc_code_settings>(code, ctc_settings()),
                                   within<ctc_code_settings>(decoder, ctc_decoder_settings())),
      .initial = box(ctc_code_settings{}),
      .complete =
          [](const box& b) {
            ctc_code_settings s = typed(b);
            s.decoder = completed(s.code, s.decoder);
            return box(s);
          },
      .sizes =
          [](const box& b) {
            const ctc_config& c = typed(b).code;
            return code_sizes{static_cast<std::size_t>(c.k), static_cast<std::size_t>(ctc_sent_bits(c))};
          },
      .make = [](const box& b) -> std::unique_ptr<codec> { return std::make_unique<ctc>(typed(b)); },
      .k_of = [](const box& b, std::size_t n) { return k_of(typed(b).code, n); },
      .make_soft = [](const box& b) { return make_soft_ctc(ctc_decoder(typed(b).code, typed(b).decoder)); },
      .candidates = [](const box& b,
                       bool) { return with_decoders(typed(b), ctc_candidates(typed(b).decoder)); },
      .fit =
          [](const box& b, const code_rows& rows) {
            return fit_k(codes().get("ctc"), b, rows, "n = k over the rate, k of the standard",
                         "twice a number of couples of the standard");
          }};
}

}  // namespace wb
