#include <warpband/link/codec.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/fec/ldpc/ldpc_file.hpp>
#include <warpband/fec/lte/qpp.hpp>
#include <warpband/fec/puncture/puncture.hpp>
#include <warpband/link/codec_conv.hpp>
#include <warpband/link/codec_nr.hpp>
#include <warpband/link/codec_transport.hpp>
#include <warpband/link/count/count.hpp>

namespace wb {
namespace {

constexpr int most_uncoded_bits = 1 << 24;  // what random_bits, block fading and an int32 of errors take
constexpr int usual_k = 6144;
constexpr int usual_polar_bits = 64;

}  // namespace

// ---- lte-turbo

std::vector<std::int32_t> permutation_of(const code_config& c) {
  if (!c.turbo.interleaver) return qpp_permutation(qpp_for(c.k));
  return qpp_permutation({c.k, c.turbo.interleaver->f1, c.turbo.interleaver->f2});
}

namespace {

std::size_t turbo_bits(std::size_t k, turbo_rate rate) {
  return rate == turbo_rate::half ? 2 * k + 12 : 3 * (k + 4);
}

class lte_turbo final : public codec {
 public:
  explicit lte_turbo(const code_config& config)
      : config_(completed(config)),
        encoder_(permutation_of(config_)),
        decoder_(config_.turbo.decoder, permutation_of(config_)) {
    if (config_.turbo.rate == turbo_rate::half)
      puncturer_.emplace(turbo_bits(k(), turbo_rate::third), turbo_half_rate_places(k()));
  }
  std::size_t k() const noexcept override { return static_cast<std::size_t>(config_.k); }
  std::size_t n() const noexcept override { return turbo_bits(k(), config_.turbo.rate); }
  std::size_t working_bytes() const noexcept override {
    return puncturer_ ? puncturer_->n() * (sizeof(std::uint8_t) + sizeof(float)) : 0;
  }
  std::size_t thread_bytes(bool decodes) const noexcept override {
    return (decodes ? 1024 : 128) * k();  // 16 codewords of 5 floats a bit and their windows' borders
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
    const view<float> all =
        make_view(reinterpret_cast<float*>(workspace_.on(exec, puncturer_->n() * llr.items * sizeof(float))),
                  puncturer_->n(), llr.items);
    puncturer_->restore(exec, llr, all);
    decoder_.run(exec, view<const float>(all), decided);
  }

 private:
  code_config config_;
  turbo_encoder encoder_;
  turbo_decoder decoder_;
  std::optional<puncturer> puncturer_;  // none at rate 1/3
  kept_workspace workspace_;
};

void complete_turbo(code_config& c) {
  turbo_settings& t = c.turbo;
  if (t.rate != turbo_rate::third && t.rate != turbo_rate::half)
    throw argument_error("rate", std::to_string(static_cast<int>(t.rate)), "third or half");
  if (t.interleaver) check_range("k", c.k, 40, 65536);
  t.decoder.k = c.k;
  // No more LLRs than were sent are received. A rate that is none the decoder refuses.
  const float sent = static_cast<float>(turbo_bits(static_cast<std::size_t>(c.k), t.rate));
  if (t.decoder.code_rate > 0)
    t.decoder.code_rate = std::max(t.decoder.code_rate, static_cast<float>(c.k) / sent);
  t.decoder.crc_polynomial = 0;
  t.decoder.crc_degree = 0;
  if (c.crc) {
    t.decoder.crc_polynomial = c.crc->polynomial;
    t.decoder.crc_degree = c.crc->degree;
  } else if (t.decoder.stop == early_stop::crc) {
    throw argument_error("early_stop", "\"crc\"",
                         "a code with a CRC (code.crc), \"sign-agreement\" or \"none\"");
  }
  t.decoder = completed(t.decoder, permutation_of(c));
}

// ---- wimax-ldpc, wifi-ldpc

/// The rate's place among those of the type.
int rate_index(code_type type, const std::string& rate) {
  const std::vector<std::string> names = rates_of(type);
  const auto i = std::find(names.begin(), names.end(), rate);
  if (i == names.end()) throw argument_error("rate", "\"" + rate + "\"", among(names));
  return static_cast<int>(i - names.begin());
}

int longest(code_type type) { return type == code_type::wimax_ldpc ? 2304 : 1944; }

}  // namespace

namespace {

/// The code of a file, which is read once.
ldpc_code matrix_of(const ldpc_settings& s) {
  if (s.matrix) return *s.matrix;
  if (s.base_matrix.empty())
    throw argument_error("base_matrix", "\"\"", "a file: a list of shifts (CSV) or an alist");
  return read_ldpc_code((std::filesystem::path(s.folder) / s.base_matrix).string(), s.lifting_size);
}

}  // namespace

ldpc_code ldpc_code_of(const code_config& c) {
  if (c.type == code_type::nr_ldpc) return nr_code_of(c);
  if (c.type == code_type::qc_ldpc) return matrix_of(c.ldpc);
  const int n = c.ldpc.n == 0 ? longest(c.type) : c.ldpc.n, rate = rate_index(c.type, c.ldpc.rate);
  return c.type == code_type::wimax_ldpc ? wimax_ldpc(n, static_cast<wimax_rate>(rate))
                                         : wifi_ldpc(n, static_cast<wifi_rate>(rate));
}

namespace {

class ldpc final : public codec {
 public:
  explicit ldpc(const code_config& config)
      : config_(completed(config)),
        code_(ldpc_code_of(config_)),
        encoder_(code_),
        decoder_(code_, config_.ldpc.decoder, as_ldpc_crc(config_.crc)) {}
  std::size_t k() const noexcept override { return static_cast<std::size_t>(code_.k()); }
  std::size_t n() const noexcept override { return static_cast<std::size_t>(code_.n()); }
  std::size_t working_bytes() const noexcept override { return 0; }
  std::size_t thread_bytes(bool decodes) const noexcept override {
    // A bit of each of a lane's codewords; or of one codeword A twice in padded columns, and its messages.
    const std::size_t columns = static_cast<std::size_t>(code_.columns()),
                      blocks = static_cast<std::size_t>(code_.blocks()),
                      z = static_cast<std::size_t>(code_.z());
    return sizeof(float) * (decodes ? 2 * columns * (2 * z + 64) + (blocks + columns) * (z + 32)
                                    : widest * (columns + blocks) * z);
  }
  const code_config& config() const noexcept override { return config_; }
  void encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const override {
    encoder_.run(exec, bits, coded);
  }
  void decode(executor& exec, view<const float> llr, const decoder_output& out) const override {
    check_optional_shape("bits", out.bits, k(), llr.items);  // the decoder gives all n too
    check_optional_shape("soft", out.soft, k(), llr.items);
    decoder_.run(exec, llr,
                 {.bits = out.bits,
                  .soft = out.soft,
                  .extrinsic = {},
                  .iterations = out.iterations,
                  .status = out.status});
  }

 private:
  code_config config_;
  ldpc_code code_;
  ldpc_encoder encoder_;
  ldpc_decoder decoder_;
};

void complete_ldpc(code_config& c) {
  const ldpc_code code = ldpc_code_of(c);
  c.ldpc.n = code.n();
  if (c.type == code_type::qc_ldpc && !c.ldpc.matrix) {
    c.ldpc.matrix = std::make_shared<const ldpc_code>(code);
    c.ldpc.lifting_size = code.z();
  }
  if (c.k != code.k())
    throw argument_error("k", std::to_string(c.k),
                         std::to_string(code.k()) + ", as n = " + std::to_string(code.n()) + " and " +
                             (c.type == code_type::qc_ldpc ? "its base matrix" : "rate " + c.ldpc.rate) +
                             " give");
  check(code, c.ldpc.decoder, c.crc.has_value());
}

}  // namespace

std::vector<std::string> rates_of(code_type type) {
  switch (type) {
    case code_type::none:
      break;
    case code_type::lte_transport:
    case code_type::polar:
    case code_type::nr_ldpc:
    case code_type::nr_dlsch:
    case code_type::nr_ulsch:
    case code_type::qc_ldpc:
      break;
    case code_type::lte_turbo:
      return {"1/3", "1/2"};
    case code_type::wimax_ldpc:
      return {"1/2", "2/3A", "2/3B", "3/4A", "3/4B", "5/6"};
    case code_type::wifi_ldpc:
      return {"1/2", "2/3", "3/4", "5/6"};
    case code_type::conv:
      return {"1/2", "1/3", "2/3", "3/4", "5/6"};
  }
  return {};
}

code_config completed(const code_config& config) {
  code_config c = config;
  if (c.k == 0) c.k = static_cast<int>(sizes_of(c).k);
  if (c.crc && c.k <= c.crc->degree)
    throw argument_error("k", std::to_string(c.k),
                         "more than the " + std::to_string(c.crc->degree) + " bits of its CRC");
  switch (c.type) {
    case code_type::none:
      check_range("k", c.k, 1, most_uncoded_bits);
      break;
    case code_type::lte_turbo:
      complete_turbo(c);
      break;
    case code_type::lte_transport:
    case code_type::nr_dlsch:
    case code_type::nr_ulsch:
      check_transport(c);
      break;
    case code_type::wimax_ldpc:
    case code_type::wifi_ldpc:
    case code_type::qc_ldpc:
      complete_ldpc(c);
      break;
    case code_type::nr_ldpc:
      complete_nr(c);
      break;
    case code_type::conv:
      complete_conv(c);
      break;
    case code_type::polar:
      check_polar(c);
      break;
  }
  return c;
}

std::unique_ptr<codec> make_codec(const code_config& config) {
  switch (config.type) {
    case code_type::none:
      break;
    case code_type::lte_transport:
    case code_type::nr_dlsch:
    case code_type::nr_ulsch:
      return make_transport(config);
    case code_type::lte_turbo:
      return std::make_unique<lte_turbo>(config);
    case code_type::wimax_ldpc:
    case code_type::wifi_ldpc:
    case code_type::qc_ldpc:
      return std::make_unique<ldpc>(config);
    case code_type::nr_ldpc:
      return make_nr(config);
    case code_type::conv:
      return make_convolutional(config);
    case code_type::polar:
      return make_polar(config);
  }
  throw argument_error(
      "code.type", "\"none\"",
      "a code: \"lte-turbo\", \"wimax-ldpc\", \"wifi-ldpc\", \"nr-ldpc\", \"conv\" or \"polar\"");
}

code_sizes sizes_of(const code_config& c) {
  const std::size_t k = static_cast<std::size_t>(c.k != 0 ? c.k : usual_k);
  switch (c.type) {
    case code_type::none:
      break;
    case code_type::lte_turbo:
      return {k, turbo_bits(k, c.turbo.rate)};
    case code_type::lte_transport:
    case code_type::nr_dlsch:
    case code_type::nr_ulsch:
      return transport_sizes(c);
    case code_type::wimax_ldpc:
    case code_type::wifi_ldpc:
    case code_type::qc_ldpc: {
      const ldpc_code code = ldpc_code_of(c);
      return {static_cast<std::size_t>(code.k()), static_cast<std::size_t>(code.n())};
    }
    case code_type::nr_ldpc:
      return nr_sizes(c);
    case code_type::conv:
      return {k, conv_bits(conv_code_of(c.conv), k)};
    case code_type::polar:
      return {static_cast<std::size_t>(c.k != 0 ? c.k : usual_polar_bits),
              static_cast<std::size_t>(std::max(0, c.polar.code.coded_bits))};
  }
  return {k, k};
}

std::optional<std::size_t> k_of_coded_bits(const code_config& config, std::size_t n) {
  switch (config.type) {
    case code_type::none:
      return n;
    case code_type::lte_transport:  // any k: n says nothing of it
    case code_type::polar:
    case code_type::nr_dlsch:
    case code_type::nr_ulsch:
      return std::nullopt;
    case code_type::qc_ldpc: {
      const code_sizes own = sizes_of(config);
      return n == own.n ? std::optional(own.k) : std::nullopt;
    }
    case code_type::nr_ldpc:  // where its own n is left out
      return n % 2 == 0 && n >= 10 ? std::optional(n / 2) : std::nullopt;
    case code_type::lte_turbo:
      if (config.turbo.rate == turbo_rate::half)
        return n % 2 == 0 && n > 12 ? std::optional(n / 2 - 6) : std::nullopt;
      return n % 3 == 0 && n > 12 ? std::optional(n / 3 - 4) : std::nullopt;
    case code_type::wimax_ldpc:
    case code_type::wifi_ldpc: {
      if (n == 0 || n > static_cast<std::size_t>(longest(config.type))) return std::nullopt;
      code_config c = config;
      c.ldpc.n = static_cast<int>(n);
      (void)rate_index(c.type, c.ldpc.rate);
      try {
        return sizes_of(c).k;
      } catch (const argument_error&) {
        return std::nullopt;
      }
    }
    case code_type::conv: {
      const conv_code code = conv_code_of(config.conv);
      std::size_t least = 1, most = 65536;  // every step sends a bit: n rises with k
      while (least < most) {
        const std::size_t middle = (least + most) / 2;
        if (conv_bits(code, middle) < n)
          least = middle + 1;
        else
          most = middle;
      }
      return conv_bits(code, least) == n ? std::optional(least) : std::nullopt;
    }
  }
  return std::nullopt;
}

int most_iterations(const code_config& c) noexcept {
  switch (c.type) {
    case code_type::none:
      break;
    case code_type::lte_turbo:
    case code_type::lte_transport:
      return c.turbo.decoder.iterations;
    case code_type::wimax_ldpc:
    case code_type::wifi_ldpc:
    case code_type::nr_ldpc:
    case code_type::nr_dlsch:
    case code_type::nr_ulsch:
    case code_type::qc_ldpc:
      return c.ldpc.decoder.iterations;
    case code_type::conv:
    case code_type::polar:
      return 1;
  }
  return 0;
}

}  // namespace wb
