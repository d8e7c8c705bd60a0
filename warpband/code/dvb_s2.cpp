#include <warpband/code/dvb_s2.hpp>

#include <algorithm>
#include <climits>

#include <warpband/code/decoder_choices.hpp>
#include <warpband/code/sparse_ldpc.hpp>
#include <warpband/core/check.hpp>
#include <warpband/fec/bch/bch.hpp>
#include <warpband/fec/sparse_ldpc/standard_matrix.hpp>

namespace wb {
namespace {

using settings = dvb_s2_settings;

constexpr const char* without_soft = "the BCH decoder";

/// "1/2" of "normal-1/2".
std::string rate_of(const dvb_s2_code& code) { return code.name.substr(code.name.find('-') + 1); }
int outer_k(const dvb_s2_code& code) { return code.k - code.field_degree * code.corrects; }

const dvb_s2_code& code_of(const settings& s) {
  std::vector<std::string> rates;
  for (const dvb_s2_code& code : dvb_s2_codes()) {
    if (code.n != s.n) continue;
    rates.push_back(rate_of(code));
    if (rates.back() == s.rate) return code;
  }
  if (rates.empty()) throw argument_error("n", std::to_string(s.n), "64800, 32400 or 16200");
  throw argument_error("rate", "\"" + s.rate + "\"", among(rates) + " with n = " + std::to_string(s.n));
}
bch_code outer_of(const dvb_s2_code& code) {
  return bch_code({.field_degree = code.field_degree, .corrects = code.corrects, .n = code.k});
}
parity_check_matrix inner_of(const dvb_s2_code& code) {
  return standard_parity_check_matrix("dvb-s2/" + code.name);
}
code_sizes sizes(const dvb_s2_code& code) {
  return {static_cast<std::size_t>(outer_k(code)), static_cast<std::size_t>(code.n)};
}

std::vector<setting_of<settings>> of_code() {
  using c = settings;
  std::vector<std::pair<std::string, std::string>> rates;
  for (const dvb_s2_code& code : dvb_s2_codes()) {
    const std::string rate = rate_of(code);
    if (std::none_of(rates.begin(), rates.end(), [&](const auto& r) { return r.first == rate; }))
      rates.emplace_back(rate, rate);
  }
  return {integer("k", &c::k, 1, INT_MAX, "Follows from n and the rate and may be left out.",
                  "an integer: that of n and rate"),
          one_of("n", &c::n, {64800, 32400, 16200}, "Bits of a frame: normal, medium or short."),
          words<c, std::string>("rate", &c::rate, rates,
                                "Rate of the LDPC code as the standard names it. The rates depend on n."),
          crc_setting(&c::crc)};
}
std::vector<setting_of<settings>> of_decoder() {
  return within<settings>([](settings& s) -> sparse_ldpc_config& { return s.decoder; },
                          sparse_ldpc_settings());
}

settings complete(settings s) {
  const dvb_s2_code& code = code_of(s);
  if (!s.k) s.k = outer_k(code);
  if (s.k != outer_k(code))
    throw argument_error(
        "k", std::to_string(*s.k),
        std::to_string(outer_k(code)) + ", as n = " + std::to_string(s.n) + " and rate " + s.rate + " give");
  check_settings(sparse_ldpc_settings(), s.decoder);
  return s;
}

class dvb_s2_codec final : public codec {
 public:
  dvb_s2_codec(const bch_code& outer, const parity_check_matrix& inner, const sparse_ldpc_config& config)
      : outer_encoder_(outer), outer_decoder_(outer), inner_encoder_(inner), inner_decoder_(inner, config) {}
  std::size_t k() const noexcept override { return static_cast<std::size_t>(outer_decoder_.code().k()); }
  std::size_t n() const noexcept override { return static_cast<std::size_t>(inner_decoder_.matrix().n()); }
  std::size_t working_bytes() const noexcept override { return outer_bits() + frame_bytes; }
  std::size_t thread_bytes(bool decodes) const noexcept override {
    return sparse_ldpc_thread_bytes(inner_decoder_.matrix(), decodes);
  }
  void encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const override {
    const auto outer = outer_words(exec, bits.items);
    outer_encoder_.run(exec, bits, outer);
    inner_encoder_.run(exec, outer, coded);
  }
  /// status_stopped: the BCH decoder gave a codeword. Where it finds too many errors, or too many bits are
  /// undecided, `bits` are the LDPC decoder's and the status is 0.
  void decode(executor& exec, view<const float> llr, const decoder_output& out) const override {
    check_optional_shape("bits", out.bits, llr.items, k());
    if (out.soft.data != nullptr)
      throw argument_error("code.type", "\"dvb-s2\"",
                           "\"ldpc\" with a matrix of DVB-S2 for soft output: the BCH decoder has none");
    check_optional_shape("iterations", out.iterations, llr.items, 1);
    check_optional_shape("status", out.status, llr.items, 1);
    check_apart({{"bits", out.bits}, {"iterations", out.iterations}, {"status", out.status}});
    const auto outer = outer_words(exec, llr.items);
    const auto undecided = make_view(reinterpret_cast<std::int32_t*>(outer.data) - llr.items, llr.items, 1);
    const auto status = make_view(outer.data + outer_bits() * llr.items, llr.items, 1);
    inner_decoder_.run(
        exec, llr, {.bits = outer, .iterations = out.iterations, .status = status, .undecided = undecided});
    // Decisions that nothing was received for may be a codeword too.
    outer_decoder_.run(exec, outer, {.bits = out.bits, .status = out.status}, status, undecided);
  }

 private:
  std::size_t outer_bits() const noexcept { return static_cast<std::size_t>(outer_decoder_.code().n()); }
  /// The workspace: undecided bits of each frame, the BCH code's words, and the status of each frame.
  static constexpr std::size_t frame_bytes = sizeof(std::int32_t) + 1;
  view<std::uint8_t> outer_words(executor& exec, std::size_t items) const {
    std::byte* memory = workspace_.on(exec, working_bytes() * items) + sizeof(std::int32_t) * items;
    return make_view(reinterpret_cast<std::uint8_t*>(memory), items, outer_bits());
  }

  bch_encoder outer_encoder_;
  bch_decoder outer_decoder_;
  sparse_ldpc_encoder inner_encoder_;
  sparse_ldpc_decoder inner_decoder_;
  kept_workspace workspace_;
};

/// n is that of the rows, unless it is given.
settings fit(settings s, const code_rows& rows) {
  const auto fits = [&](const code_sizes& z) { return rows.values == (rows.decodes ? z.n : z.k); };
  if (!rows.has("n")) {
    std::optional<int> found;
    for (const dvb_s2_code& code : dvb_s2_codes())
      if (rate_of(code) == s.rate && fits(sizes(code))) found = code.n;
    if (!found)
      rows.refuse(rows.decodes ? "[batch, n] with n = 64800, 32400 or 16200"
                               : "[batch, k] with the k of a frame of rate " + s.rate);
    s.n = *found;
  }
  const code_sizes z = sizes(code_of(s));
  if (!fits(z))
    rows.refuse("[batch, " + std::to_string(rows.decodes ? z.n : z.k) + "] for n = " + std::to_string(z.n) +
                ", rate " + s.rate);
  if (!rows.has("k")) s.k = static_cast<int>(z.k);
  return s;
}

std::vector<sparse_ldpc_config> candidates(const sparse_ldpc_config& base) {
  std::vector<sparse_ldpc_config> decoders(2, base);
  decoders[1].algorithm = ldpc_algorithm::sum_product;
  return with_iterations_of(decoders, {10, 20, 30, 50});
}

}  // namespace

std::vector<std::int32_t> dvb_s2_bit_order(const dvb_s2_settings& s, int bits_per_symbol) {
  check_range("bits_per_symbol", bits_per_symbol, 3, 5);
  const bool reversed = bits_per_symbol == 3 && s.rate == "3/5";
  const int rows = s.n / bits_per_symbol;
  std::vector<std::int32_t> order;
  for (int row = 0; row < rows; row++)
    for (int i = 0; i < bits_per_symbol; i++)
      order.push_back((reversed ? bits_per_symbol - 1 - i : i) * rows + row);
  return order;
}

code_kind dvb_s2_kind() {
  const auto s = [](const box& b) -> const settings& { return b.get<settings>(); };
  return {.name = "dvb-s2",
          .text =
              "DVB-S2 and DVB-S2X, EN 302 307, BCH and LDPC code: --n 64800, 32400 or 16200, --rate 1/2 "
              "(default), 3/4, 154/180 and others",
          .settings = code_and_decoder(of_code(), of_decoder()),
          .initial = box(settings{}),
          .complete = [=](const box& b) { return box(complete(s(b))); },
          .sizes = [=](const box& b) { return sizes(code_of(s(b))); },
          .make = [=](const box& b) -> std::unique_ptr<codec> {
            return std::make_unique<dvb_s2_codec>(outer_of(code_of(s(b))), inner_of(code_of(s(b))),
                                                  s(b).decoder);
          },
          .k_of = [=](const box& b, std::size_t n) -> std::optional<std::size_t> {
            for (const dvb_s2_code& code : dvb_s2_codes())
              if (static_cast<std::size_t>(code.n) == n && rate_of(code) == s(b).rate) return sizes(code).k;
            return std::nullopt;
          },
          .crc = [=](const box& b) { return s(b).crc; },
          .without_soft = [](const box&) { return std::string(without_soft); },
          .k_follows_from = {"n", "rate"},
          .candidates = [=](const box& b, bool) { return with_decoders(s(b), candidates(s(b).decoder)); },
          .fit = [=](const box& b, const code_rows& rows) { return box(fit(s(b), rows)); }};
}

}  // namespace wb
