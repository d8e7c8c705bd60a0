#include <warpband/stbc/stbc.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/stbc/mapping.hpp>
#include <warpband/stbc/stbc_args.hpp>

namespace wb {

WB_DECLARE_KERNEL(stbc_encode)
WB_DECLARE_KERNEL(alamouti)
WB_DECLARE_KERNEL(stbc_pair)
WB_DECLARE_KERNEL(golden)
WB_DECLARE_KERNEL(golden_slicing)
WB_DECLARE_KERNEL(alamouti_prior)
WB_DECLARE_KERNEL(stbc_pair_prior)
WB_DECLARE_KERNEL(golden_prior)
WB_DECLARE_KERNEL(stbc_exhaustive)
WB_DECLARE_KERNEL(sfbc)
WB_DECLARE_KERNEL(sfbc_prior)

namespace {

int pam_bits_of(int qam) {
  if (qam != 4 && qam != 16 && qam != 64 && qam != 256)
    throw argument_error("qam", std::to_string(qam), "4, 16, 64 or 256");
  return bits_per_symbol(qam) / 2;
}
std::string number_text(double x) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}
void copy_matrix(const space_time_code& code, cx_pair (&v)[4]) {
  for (std::size_t i = 0; i < 4; i++)
    v[i] = {static_cast<float>(code.v()[i].real()), static_cast<float>(code.v()[i].imag())};
}

const kernel_set& kernels_of(const stbc_config& c, bool prior) {
  if (c.method == stbc_method::exhaustive) return stbc_exhaustive_kernels();
  if (c.code.over_subcarriers()) return prior ? sfbc_prior_kernels() : sfbc_kernels();
  if (c.code.kind() == space_time_kind::alamouti)
    return prior ? alamouti_prior_kernels() : alamouti_kernels();
  if (c.code.kind() == space_time_kind::pair) return prior ? stbc_pair_prior_kernels() : stbc_pair_kernels();
  if (c.search == golden_search::slicing) return golden_slicing_kernels();
  return prior ? golden_prior_kernels() : golden_kernels();
}

}  // namespace

const char* name_of(const space_time_code& c) noexcept {
  if (c.kind() == space_time_kind::alamouti) return "alamouti";
  if (c.kind() == space_time_kind::golden) return "golden";
  if (c.kind() == space_time_kind::sfbc) return "sfbc";
  if (c.kind() == space_time_kind::fstd) return "fstd";
  return c.v() == space_time_code::silver().v() ? "silver" : "pair";
}

namespace {

setting_of<stbc_config> type_setting() {
  const std::vector<std::string> names{"alamouti", "silver", "pair", "golden", "sfbc", "fstd"};
  return {
      "type",
      "word",
      among(names),
      "Space-time code (docs/bollapalli.md). Over two slots with one H, two antennas: Alamouti (2 symbols), "
      "Silver, Golden or a pair of Alamouti blocks with your matrix (4 symbols). Over subcarriers with an H "
      "each, of LTE: SFBC (2 antennas, 2 symbols) and FSTD (4 antennas, 4 symbols).",
      names,
      [=](stbc_config& c, const setting_value& v) {
        const space_time_code codes[] = {
            space_time_code::alamouti(), space_time_code::silver(), space_time_code::pair({1, 0, 0, 1}),
            space_time_code::golden(),   space_time_code::sfbc(),   space_time_code::fstd()};
        c.code = codes[settings_detail::word("type", v, names, among(names))];
      },
      [](const stbc_config& c) -> setting_value { return std::string(name_of(c.code)); }};
}

/// V of a pair.
setting_of<stbc_config> matrix_setting() {
  const std::string allowed =
      "the four entries of a unitary matrix, row after row, each as [real, imaginary]";
  return setting_of<stbc_config>{
      "v",
      "list of pairs of numbers",
      allowed,
      "V of the codewords (A(x1, x2) + V A(x3, x4)) / sqrt 2, A an Alamouti block (stbc.hpp). V^H V is the "
      "identity within 1e-6. With determinant 1 V A is an Alamouti block too, and codewords coincide.",
      {},
      [=](stbc_config& c, const setting_value& value) {
        const auto* list = std::get_if<std::vector<std::complex<double>>>(&value);
        if (list == nullptr) settings_detail::refuse("v", value, allowed);
        if (list->size() != 4)
          throw argument_error("v", "a list of " + std::to_string(list->size()), allowed);
        space_time_code::matrix v;
        std::copy(list->begin(), list->end(), v.begin());
        for (const std::complex<double>& z : v)
          for (const double x : {z.real(), z.imag()}) settings_detail::real("v", x, -2, 2, false, allowed);
        c.code = space_time_code::pair(v);
      },
      [](const stbc_config& c) -> setting_value {
        return std::vector<std::complex<double>>(c.code.v().begin(), c.code.v().end());
      }}
      .without_default()
      .only_with("type", {"pair"});
}

}  // namespace

const std::vector<setting_of<stbc_config>>& stbc_settings() {
  using c = stbc_config;
  static const std::vector<setting_of<c>> settings{
      type_setting(),
      matrix_setting(),
      words("search", &c::search, {{"exact", golden_search::exact}, {"slicing", golden_search::slicing}},
            "Maximum likelihood in O(M^2.5), or the O(M^2) slicing of the literature.")
          .only_with("type", {"golden"}),
      words(
          "method", &c::method,
          {{"conditional", stbc_method::conditional}, {"exhaustive", stbc_method::exhaustive}},
          "conditional: for each pair of symbols only the best codeword. exhaustive: all codewords, at most "
          "65536 (four symbols of 16-QAM); not with sfbc and fstd. Both give the same results up to "
          "rounding.")
          .left_out_by_default(),
      one_of("qam", &c::qam, {4, 16, 64, 256}, "Points of the constellation.").not_of_links(),
      integer("rx_antennas", &c::rx_antennas, 1, 4, "Receive antennas.").not_of_links(),
      number("llr_clip", &c::llr_clip, 1e-6, 1e6, "LLRs are limited to this.", false,
             "a number from 1e-6 to 1e6, or \"none\"")
          .absent_as("none")
          .left_out_by_default(),
      boolean("extrinsic", &c::extrinsic, "Take the a-priori LLRs off the output again.").not_of_links()};
  return settings;
}

space_time_code space_time_code::silver() {
  const double r = 1 / std::sqrt(7.0);
  return {space_time_kind::pair, {{{r, -r}, {r, -2 * r}, {r, 2 * r}, {-r, -r}}}};
}
space_time_code space_time_code::pair(const matrix& v) {
  for (std::size_t i = 0; i < 2; i++)
    for (std::size_t j = 0; j < 2; j++) {
      const std::complex<double> entry = std::conj(v[i]) * v[j] + std::conj(v[2 + i]) * v[2 + j];
      if (!(std::abs(entry - (i == j ? 1.0 : 0.0)) <= 1e-6))
        throw argument_error(
            "v",
            "with " + number_text(entry.real()) + " + " + number_text(entry.imag()) + "i as entry (" +
                std::to_string(i) + ", " + std::to_string(j) + ") of V^H V",
            std::string("a unitary matrix: ") + (i == j ? "1" : "0") + " there, within 1e-6");
    }
  return {space_time_kind::pair, v};
}

stbc_encoder::stbc_encoder(const space_time_code& code, int qam) : code_(code), pam_bits_(pam_bits_of(qam)) {}

void stbc_encoder::run(executor& exec, view<const std::uint8_t> bits, view<std::complex<float>> out) const {
  check_shape("bits", bits, bits.items, bits_per_codeword());
  check_shape("out", out, bits.items, as_size(code_.uses() * code_.tx_antennas()));
  stbc_encode_args a;
  a.kind = static_cast<int>(code_.kind());
  a.pam_bits = pam_bits_;
  copy_matrix(code_, a.v);
  a.bits = bits;
  a.codewords = as_pairs(out);
  exec.run(stbc_encode_kernels(), &a, bits.items);
}
void stbc_encoder::run_symbols(executor& exec, view<const std::complex<float>> symbols,
                               view<std::complex<float>> out) const {
  check_shape("symbols", symbols, symbols.items, as_size(code_.symbols()));
  check_shape("out", out, symbols.items, as_size(code_.uses() * code_.tx_antennas()));
  stbc_encode_args a;
  a.kind = static_cast<int>(code_.kind());
  copy_matrix(code_, a.v);
  a.symbols = as_pairs(symbols);
  a.codewords = as_pairs(out);
  exec.run(stbc_encode_kernels(), &a, symbols.items);
}

void check(const stbc_config& config) {
  (void)pam_bits_of(config.qam);
  check_range("rx_antennas", config.rx_antennas, 1, 4);
  if (config.search == golden_search::slicing && config.code.kind() != space_time_kind::golden)
    throw argument_error("search", "slicing", "exact: only the Golden code has another");
  if (config.extrinsic && !takes_prior(config))
    throw argument_error("extrinsic", "true", "false: slicing takes no a-priori LLRs");
  if (config.method == stbc_method::exhaustive) {
    if (config.code.over_subcarriers())
      throw argument_error(
          "method", "\"exhaustive\"",
          "\"conditional\" with \"" + std::string(name_of(config.code)) + "\", which is combined");
    if (config.search == golden_search::slicing)
      throw argument_error("search", "\"slicing\"", "\"exact\" with method = \"exhaustive\"");
    if (2 * pam_bits_of(config.qam) * config.code.symbols() > 16)
      throw argument_error("qam", std::to_string(config.qam),
                           "4 or 16 with method = \"exhaustive\" and four symbols in a codeword");
  }
  if (const auto clip = config.llr_clip; clip && !(*clip > 0 && *clip <= 1e6f))
    throw argument_error("llr_clip", number_text(static_cast<double>(*clip)),
                         "above 0 and at most 1e6, or none");
}

bool takes_prior(const stbc_config& config) noexcept { return config.search == golden_search::exact; }

stbc_decoder::stbc_decoder(const stbc_config& config)
    : config_((check(config), config)), pam_bits_(pam_bits_of(config.qam)) {}

void stbc_decoder::run(executor& exec, const stbc_input& in, const stbc_output& out) const {
  const std::size_t n = in.received.items, shared = in.codewords_per_channel, bits = bits_per_codeword(),
                    rx = as_size(config_.rx_antennas), uses = as_size(config_.code.uses()),
                    gains = as_size(config_.code.channels() * config_.code.tx_antennas()) * rx;
  if (shared == 0) throw argument_error("codewords_per_channel", "0", "1 or more");
  check_shape("received", in.received, n, uses * rx);
  check_shape("channel", in.channel, n / shared + (n % shared != 0), gains);
  check_shape("noise_var", in.noise_var, n, 1);
  check_optional_shape("prior", in.prior, n, bits);
  const bool prior = in.prior.data != nullptr;
  if (prior && !takes_prior(config_))
    throw argument_error("prior", "given", "none: the search \"slicing\" takes no a-priori LLRs");
  check_optional_shape("llr", out.llr, n, bits);
  check_optional_shape("bits", out.bits, n, bits);
  check_optional_shape("status", out.status, n, 1);
  check_apart({{"llr", out.llr}, {"bits", out.bits}, {"status", out.status}});
  const bool golden = config_.code.kind() == space_time_kind::golden;
  stbc_decode_args a;
  a.pam_bits = pam_bits_;
  a.rx_antennas = config_.rx_antennas;
  a.tile = stbc_tile(exec, golden, pam_bits_, n);
  a.slicing = config_.search == golden_search::slicing;
  a.clip = config_.llr_clip.value_or(std::numeric_limits<float>::infinity());
  copy_matrix(config_.code, a.v);
  a.kind = static_cast<int>(config_.code.kind());
  a.extrinsic = config_.extrinsic && prior;
  a.codewords_per_channel = shared;
  a.received = as_pairs(in.received);
  a.channel = as_pairs(in.channel);
  a.noise_var = in.noise_var;
  a.prior = in.prior;
  a.llr = out.llr;
  a.bits = out.bits;
  a.status = out.status;
  exec.run(kernels_of(config_, prior), &a, n);
}

}  // namespace wb
