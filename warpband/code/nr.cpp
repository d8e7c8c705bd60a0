#include <warpband/code/nr.hpp>

#include <algorithm>
#include <climits>

#include <warpband/code/ldpc.hpp>
#include <warpband/core/check.hpp>
#include <warpband/fec/nr/block.hpp>

namespace wb {
namespace {

code_sizes sizes(const nr_ldpc_settings& s) {
  const auto k = static_cast<std::size_t>(s.k);
  return {k, (s.n ? static_cast<std::size_t>(*s.n) : 2 * k) * s.redundancy_versions.size()};
}

nr_rate_matching_config matching_of(const nr_ldpc_settings& s) {
  nr_rate_matching_config m;
  m.k = s.k;
  const long long n = s.n ? *s.n : 2LL * s.k;
  check_range("n", n, 1,
              (1 << 24) / static_cast<long long>(std::max<std::size_t>(1, s.redundancy_versions.size())));
  m.sent_bits = static_cast<int>(n);
  m.base_graph = s.base_graph ? *s.base_graph : nr_base_graph_of_block(m.k, m.sent_bits);
  m.modulation_order = s.modulation_order;
  if (m.sent_bits % m.modulation_order != 0)
    throw argument_error("modulation_order", std::to_string(m.modulation_order),
                         "a divisor of n = " + std::to_string(m.sent_bits));
  return m;
}
nr_block_codec block_codec_of(const nr_ldpc_settings& s) {
  return nr_block_codec(matching_of(s), s.decoder, s.crc, s.redundancy_versions);
}

nr_ldpc_settings complete(nr_ldpc_settings s) {
  const nr_rate_matching_config m = matching_of(s);
  s.n = m.sent_bits;
  s.base_graph = m.base_graph;
  check(nr_code_of(s), s.decoder, s.crc.has_value());
  return s;
}

std::vector<setting_of<nr_ldpc_settings>> of_code() {
  using c = nr_ldpc_settings;
  return {
      integer("k", &c::k, 1, INT_MAX, "Bits of a code block, its CRC included.",
              "an integer from 5 to 8448, with base graph 2 to 3840"),
      integer("n", &c::n, 1, INT_MAX, "E: how many bits of a code block a transmission sends. Left out: 2 k.",
              "an integer from 1 to 16777216"),
      integers("redundancy_versions", &c::redundancy_versions, 0, 3,
               "Redundancy versions of the transmissions of a code block, which together are one frame: the "
               "decoder adds their LLRs. [0, 0]: the same bits twice (Chase combining).",
               "1 to 8 integers from 0 to 3")
          .left_out_by_default(),
      one_of("modulation_order", &c::modulation_order, {1, 2, 4, 6, 8, 10},
             "Q_m of the bit interleaver, TS 38.212 section 5.4.2.2: the modulation's bits of a symbol, so "
             "that the first bits are the most reliable ones. 1: not interleaved.")
          .left_out_by_default(),
      base_graph_setting(&c::base_graph),
      crc_setting(&c::crc)};
}

class nr_ldpc_codec final : public codec {
 public:
  explicit nr_ldpc_codec(const nr_ldpc_settings& s) : sizes_(sizes(s)), code_(block_codec_of(s)) {}
  std::size_t k() const noexcept override { return sizes_.k; }
  std::size_t n() const noexcept override { return sizes_.n; }
  std::size_t working_bytes() const noexcept override { return code_.working_bytes(); }
  std::size_t thread_bytes(bool decodes) const noexcept override {
    return ldpc_thread_bytes(code_.code(), decodes);
  }
  void encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const override {
    code_.encode(exec, bits, coded);
  }
  void decode(executor& exec, view<const float> llr, const decoder_output& out) const override {
    code_.decode(exec, llr,
                 {.bits = out.bits, .soft = out.soft, .iterations = out.iterations, .status = out.status});
  }

 private:
  code_sizes sizes_;
  nr_block_codec code_;
};

/// Of each bit that is sent, repeated ones too. It begins anew in each call.
class soft_nr final : public soft_decoder {
 public:
  explicit soft_nr(const nr_ldpc_settings& s) : code_(block_codec_of(s)) {}
  std::size_t k() const noexcept override { return static_cast<std::size_t>(code_.matcher().config().k); }
  std::size_t n() const noexcept override { return code_.sent_bits(); }
  int most_iterations() const noexcept override { return code_.ldpc().iterations; }
  bool stops_by_checks() const noexcept override { return code_.ldpc().early_stop != ldpc_early_stop::none; }
  void run(executor& exec, view<const float> llr, const soft_decoder_state&,
           const soft_decoder_output& out) const override {
    code_.decode(exec, llr,
                 {.bits = out.bits,
                  .soft = {},
                  .iterations = out.iterations,
                  .status = out.status,
                  .extrinsic = out.extrinsic});
  }

 private:
  nr_block_codec code_;
};

/// What is sent of a code block does not say its k: it is known, or that of rate 1/2.
nr_ldpc_settings fit(nr_ldpc_settings s, const code_rows& rows) {
  const int values = static_cast<int>(std::min<std::size_t>(rows.values, 1u << 30));
  if (!rows.decodes) {
    if (!rows.has("k")) s.k = values;
    if (s.k != values) rows.refuse("[batch, " + std::to_string(s.k) + "] for k = " + std::to_string(s.k));
    return s;
  }
  const int transmissions = std::max(1, static_cast<int>(s.redundancy_versions.size()));
  if (!rows.has("n") && values % transmissions == 0) s.n = values / transmissions;
  const int n = s.n.value_or(0);
  if (static_cast<long long>(n) * transmissions != values)
    rows.refuse(transmissions == 1
                    ? "[batch, " + std::to_string(n) + "] for n = " + std::to_string(n)
                    : "[batch, n] for each of " + std::to_string(transmissions) + " redundancy versions");
  if (rows.has("k")) return s;
  if (!rows.k && n % 2 != 0) rows.refuse("[batch, n] with n = 2 k, or --k");
  s.k = rows.k.value_or(n / 2);
  return s;
}

const nr_ldpc_settings& typed(const box& b) { return b.get<nr_ldpc_settings>(); }

}  // namespace

ldpc_code nr_code_of(const nr_ldpc_settings& s) {
  const nr_rate_matcher matcher(matching_of(s));
  return matcher.block().code(nr_block_rows(matcher, s.redundancy_versions));
}

code_kind nr_ldpc_kind() {
  const auto decoder = [](nr_ldpc_settings& s) -> ldpc_decoder_config& { return s.decoder; };
  return {.name = "nr-ldpc",
          .text =
              "a code block of 5G NR, 3GPP TS 38.212 sections 5.3.2 and 5.4.2: --k (5 to 8448), --n, the "
              "bits sent of it (default 2 k), --redundancy-versions, --modulation-order, --base-graph",
          .settings = code_and_decoder(of_code(), within<nr_ldpc_settings>(decoder, ldpc_decoder_settings())),
          .initial = box(nr_ldpc_settings{}),
          .complete = [](const box& b) { return box(complete(typed(b))); },
          .sizes = [](const box& b) { return sizes(typed(b)); },
          .make = [](const box& b) -> std::unique_ptr<codec> {
            return std::make_unique<nr_ldpc_codec>(typed(b));
          },
          .k_of =
              [](const box& b, std::size_t n) {  // where its own n is left out
                const std::size_t rate = 2 * typed(b).redundancy_versions.size();
                return rate != 0 && n % rate == 0 && n >= 5 * rate ? std::optional(n / rate) : std::nullopt;
              },
          .crc = [](const box& b) { return typed(b).crc; },
          .make_soft = [](const box& b) -> std::unique_ptr<soft_decoder> {
            return std::make_unique<soft_nr>(typed(b));
          },
          .candidates =
              [](const box& b, bool on_device) {
                return with_decoders(typed(b), ldpc_candidates(typed(b).decoder, on_device));
              },
          .fit = [](const box& b, const code_rows& rows) { return box(fit(typed(b), rows)); }};
}

}  // namespace wb
