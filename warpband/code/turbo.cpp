#include <warpband/code/turbo.hpp>

#include <algorithm>

#include <warpband/code/decoder_choices.hpp>
#include <warpband/core/check.hpp>
#include <warpband/fec/lte/qpp.hpp>
#include <warpband/fec/puncture/puncture.hpp>
#include <warpband/fec/umts/interleaver.hpp>

namespace wb {

std::vector<std::int32_t> permutation_of(const turbo_settings& s) {
  if (s.standard == turbo_standard::umts) return umts_permutation(s.k);
  if (!s.interleaver) return qpp_permutation(qpp_for(s.k));
  return qpp_permutation({s.k, s.interleaver->f1, s.interleaver->f2});
}

namespace {

std::size_t sent_bits(std::size_t k, turbo_rate rate) {
  return rate == turbo_rate::half ? 2 * k + 12 : 3 * (k + 4);
}
code_sizes sizes(const turbo_settings& s) {
  const auto k = static_cast<std::size_t>(s.k);
  return {k, sent_bits(k, s.rate)};
}

setting_of<turbo_settings> interleaver_setting() {
  return {"interleaver",
          "list of integers",
          "two integers, f1 and f2",
          "Coefficients of the QPP interleaver pi(i) = (f1 i + f2 i^2) mod k, in place of the standard's.",
          {"f1", "f2"},
          [](turbo_settings& s, const setting_value& v) {
            const auto* f = std::get_if<std::vector<std::int64_t>>(&v);
            if (f == nullptr || f->size() != 2) settings_detail::refuse("interleaver", v, "two integers");
            const auto coefficient = [&](std::int64_t x) {
              return static_cast<int>(
                  settings_detail::whole("interleaver", x, INT32_MIN, INT32_MAX, "two integers"));
            };
            s.interleaver = {coefficient((*f)[0]), coefficient((*f)[1])};
          },
          [](const turbo_settings& s) -> setting_value {
            if (!s.interleaver) return std::vector<std::int64_t>();
            return std::vector<std::int64_t>{s.interleaver->f1, s.interleaver->f2};
          }};
}
std::vector<setting_of<turbo_settings>> of_code() {
  using c = turbo_settings;
  return {
      integer("k", &c::k, 1, INT32_MAX, "Bits of a frame into the encoder, its CRC included.",
              "an integer: one of the 188 LTE block sizes, 40 to 6144; with an interleaver any from 40 to "
              "65536, of standard \"umts\" any from 40 to 5114"),
      words<c, turbo_rate>("rate", &c::rate, {{"1/3", turbo_rate::third}, {"1/2", turbo_rate::half}},
                           "With \"1/3\" all 3 k + 12 coded bits are sent, R = k / (3 k + 12). With \"1/2\" "
                           "the systematic bits are sent, the parity bits of the first encoder at even steps "
                           "and of the second at odd steps, and all 12 tail bits: R = k / (2 k + 12)."),
      crc_setting(&c::crc),
      words<c, turbo_standard>("standard", &c::standard,
                               {{"lte", turbo_standard::lte}, {"umts", turbo_standard::umts}},
                               "Standard of the interleaver: the QPP of 3GPP TS 36.212, or that of UMTS and "
                               "HSPA, TS 25.212 section 4.2.3.2.3. Their constituent codes are the same.")
          .left_out_by_default(),
      interleaver_setting().without_default()};
}
std::vector<setting_of<turbo_settings>> of_decoder() {
  const auto decoder = [](turbo_settings& s) -> turbo_decoder_config& { return s.decoder; };
  auto settings = within<turbo_settings>(decoder, turbo_decoder_settings());
  auto rate = within<turbo_settings>(decoder, std::vector{turbo_code_rate_setting()}).front();
  settings.push_back(std::move(rate).not_of_links().without_default());
  return settings;
}

turbo_settings complete(turbo_settings s) {
  turbo_decoder_config& d = s.decoder;
  if (s.rate != turbo_rate::third && s.rate != turbo_rate::half)
    throw argument_error("rate", std::to_string(static_cast<int>(s.rate)), "third or half");
  if (s.standard != turbo_standard::lte && s.standard != turbo_standard::umts)
    throw argument_error("standard", std::to_string(static_cast<int>(s.standard)), "lte or umts");
  if (s.interleaver && s.standard == turbo_standard::umts)
    throw argument_error("standard", "\"umts\"", "\"lte\" with coefficients of a QPP interleaver");
  if (s.interleaver) check_range("k", s.k, 40, 65536);
  d.k = s.k;
  // No more LLRs than were sent are received. A rate that is none the decoder refuses.
  const auto sent = static_cast<float>(sizes(s).n);
  if (d.code_rate > 0) d.code_rate = std::max(d.code_rate, static_cast<float>(s.k) / sent);
  d.crc_polynomial = s.crc ? s.crc->polynomial : 0;
  d.crc_degree = s.crc ? s.crc->degree : 0;
  if (!s.crc && d.early_stop == turbo_early_stop::crc)
    throw argument_error("early_stop", "\"crc\"",
                         "a code with a CRC (code.crc), \"sign-agreement\" or \"none\"");
  d = completed(d, permutation_of(s));
  return s;
}

class lte_turbo final : public codec {
 public:
  explicit lte_turbo(const turbo_settings& s)
      : sizes_(sizes(s)), encoder_(permutation_of(s)), decoder_(s.decoder, permutation_of(s)) {
    if (s.rate == turbo_rate::half)
      puncturer_.emplace(sent_bits(k(), turbo_rate::third), turbo_half_rate_places(k()));
  }
  std::size_t k() const noexcept override { return sizes_.k; }
  std::size_t n() const noexcept override { return sizes_.n; }
  std::size_t working_bytes() const noexcept override {
    return puncturer_ ? puncturer_->n() * (sizeof(std::uint8_t) + sizeof(float)) : 0;
  }
  std::size_t thread_bytes(bool decodes) const noexcept override {
    return (decodes ? 1024 : 128) * k();  // 16 codewords of 5 floats a bit and their windows' borders
  }
  void encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const override {
    if (!puncturer_) return encoder_.run(exec, bits, coded);
    check_shape("coded", coded, bits.items, std::max(coded.elements, n()));
    auto unpunctured = exec.make<std::uint8_t>(bits.items, puncturer_->n());
    encoder_.run(exec, bits, unpunctured);
    puncturer_->puncture(exec, unpunctured, coded);
  }
  void decode(executor& exec, view<const float> llr, const decoder_output& out) const override {
    const turbo_decoder_output decided{.bits = out.bits,
                                       .soft = out.soft,
                                       .extrinsic = {},
                                       .iterations = out.iterations,
                                       .status = out.status};
    if (!puncturer_) return decoder_.run(exec, llr, decided);
    check_shape("llr", llr, llr.items, n());
    const view<float> unpunctured =
        make_view(reinterpret_cast<float*>(workspace_.on(exec, puncturer_->n() * llr.items * sizeof(float))),
                  llr.items, puncturer_->n());
    puncturer_->restore(exec, llr, unpunctured);
    decoder_.run(exec, view<const float>(unpunctured), decided);
  }

 private:
  code_sizes sizes_;
  turbo_encoder encoder_;
  turbo_decoder decoder_;
  std::optional<puncturer> puncturer_;  // none at rate 1/3
  kept_workspace workspace_;
};

class soft_turbo final : public soft_decoder {
 public:
  soft_turbo(const turbo_decoder& decoder, const std::vector<std::int32_t>& sent) : decoder_(decoder) {
    if (!sent.empty()) puncturer_.emplace(all(), sent);
  }
  std::size_t k() const noexcept override { return static_cast<std::size_t>(decoder_.config().k); }
  std::size_t n() const noexcept override { return puncturer_ ? puncturer_->sent() : all(); }
  int most_iterations() const noexcept override { return decoder_.config().iterations; }
  bool gives_extrinsic() const noexcept override {
    return decoder_.config().precision == turbo_precision::float32;
  }
  void run(executor& exec, view<const float> llr, const soft_decoder_state&,
           const soft_decoder_output& out) const override {
    check_shape("llr", llr, llr.items, n());
    check_optional_shape("extrinsic", out.extrinsic, llr.items, n());
    const view<float> whole = puncturer_ ? codewords(exec, llr.items) : view<float>{};
    if (puncturer_) puncturer_->restore(exec, llr, whole);
    const bool part = puncturer_ && out.extrinsic.data != nullptr;
    view<float> extrinsic = out.extrinsic;
    if (part) extrinsic = {whole.data + all() * llr.items, all(), llr.items, 1, all()};
    decoder_.run(exec, puncturer_ ? view<const float>(whole) : llr,
                 {.bits = out.bits,
                  .soft = {},
                  .extrinsic = {},
                  .coded_extrinsic = extrinsic,
                  .iterations = out.iterations,
                  .status = out.status});
    if (part) puncturer_->puncture(exec, view<const float>(extrinsic), out.extrinsic);
  }

 private:
  std::size_t all() const noexcept { return 3 * (k() + 4); }
  /// Room for LLRs of whole codewords, and as much behind it for extrinsic ones.
  view<float> codewords(executor& exec, std::size_t frames) const {
    std::byte* memory = workspace_.on(exec, 2 * all() * frames * sizeof(float));
    return make_view(reinterpret_cast<float*>(memory), frames, all());
  }

  turbo_decoder decoder_;
  std::optional<puncturer> puncturer_;
  kept_workspace workspace_;
};

std::optional<std::size_t> k_of(const turbo_settings& s, std::size_t n) {
  if (s.rate == turbo_rate::half) return n % 2 == 0 && n > 12 ? std::optional(n / 2 - 6) : std::nullopt;
  return n % 3 == 0 && n > 12 ? std::optional(n / 3 - 4) : std::nullopt;
}

/// Results hold the coefficients of the standard's interleaver too, and the rate as a number alone.
named_values describe(const turbo_settings& s) {
  if (s.standard == turbo_standard::umts)
    return {{"k", std::int64_t{s.k}}, {"crc", crc_name(s.crc)}, {"standard", std::string("umts")}};
  const auto qpp = s.interleaver ? qpp_parameters{s.k, s.interleaver->f1, s.interleaver->f2} : qpp_for(s.k);
  return {{"k", std::int64_t{s.k}},
          {"crc", crc_name(s.crc)},
          {"interleaver.f1", std::int64_t{qpp.f1}},
          {"interleaver.f2", std::int64_t{qpp.f2}}};
}

const turbo_settings& typed(const box& b) { return b.get<turbo_settings>(); }

}  // namespace

std::vector<turbo_decoder_config> turbo_candidates(const turbo_decoder_config& base) {
  std::vector<turbo_decoder_config> decoders{base};
  const auto add = [&](map_algorithm algorithm, turbo_precision precision) {
    turbo_decoder_config d = base;
    if (algorithm != d.algorithm) {
      d.algorithm = algorithm;
      d = with_usual_scale(d);
    }
    d.precision = precision;
    decoders.push_back(d);
  };
  add(map_algorithm::max_log_map, turbo_precision::int16);
  add(map_algorithm::max_log_map, turbo_precision::float32);
  add(map_algorithm::log_map, turbo_precision::bfloat16);
  add(map_algorithm::log_map, turbo_precision::float32);
  return with_iterations_of(decoders, {2, 3, 4, 5, 6, 8});
}

std::unique_ptr<soft_decoder> make_soft_turbo(const turbo_decoder& decoder,
                                              const std::vector<std::int32_t>& sent) {
  return std::make_unique<soft_turbo>(decoder, sent);
}

code_kind lte_turbo_kind() {
  return {
      .name = "lte-turbo",
      .text =
          "3GPP TS 36.212 section 5.1.3: --k (one of its 188 sizes), --rate 1/3 (default) or 1/2, "
          "--interleaver; --standard umts has the interleaver of TS 25.212",
      .settings = code_and_decoder(of_code(), of_decoder()),
      .initial = box(turbo_settings{}),
      .complete = [](const box& b) { return box(complete(typed(b))); },
      .sizes = [](const box& b) { return sizes(typed(b)); },
      .make = [](const box& b) -> std::unique_ptr<codec> { return std::make_unique<lte_turbo>(typed(b)); },
      .k_of = [](const box& b, std::size_t n) { return k_of(typed(b), n); },
      .crc = [](const box& b) { return typed(b).crc; },
      .make_soft =
          [](const box& b) {
            const turbo_settings& s = typed(b);
            return make_soft_turbo(turbo_decoder(s.decoder, permutation_of(s)),
                                   s.rate == turbo_rate::half ? turbo_half_rate_places(sizes(s).k)
                                                              : std::vector<std::int32_t>());
          },
      .gives_extrinsic = [](const box& b) { return typed(b).decoder.precision == turbo_precision::float32; },
      .candidates = [](const box& b,
                       bool) { return with_decoders(typed(b), turbo_candidates(typed(b).decoder)); },
      .described = [](const box& b) { return describe(typed(b)); },
      .fit =
          [](const box& b, const code_rows& rows) {
            const bool half = typed(b).rate == turbo_rate::half;
            return fit_k(codes().get("lte-turbo"), b, rows,
                         std::string(half ? "n = 2 k + 12" : "n = 3 (k + 4)") + ", k from 40 to 65536",
                         "k from 40 to 65536");
          }};
}

}  // namespace wb
