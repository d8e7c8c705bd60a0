#include <warpband/link/codec_nr.hpp>

#include <climits>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/link/codec_conv.hpp>

namespace wb {
namespace {

constexpr int longest_block = 8448;

nr_rate_matching_config matching_of(const code_config& c) {
  const code_sizes sizes = nr_sizes(c);
  nr_rate_matching_config m;
  m.k = static_cast<int>(sizes.k);
  check_range("n", static_cast<long long>(sizes.n), 1, 1 << 24);
  m.sent_bits = static_cast<int>(sizes.n);
  m.base_graph = c.ldpc.base_graph != 0 ? c.ldpc.base_graph : nr_base_graph_of_block(m.k, m.sent_bits);
  m.modulation_order = 1;  // a link's mapper takes coded bits in their order
  return m;
}

class nr_ldpc_codec final : public codec {
 public:
  explicit nr_ldpc_codec(const code_config& config)
      : config_(completed(config)), code_(nr_codec_of(config_)) {}
  std::size_t k() const noexcept override { return static_cast<std::size_t>(config_.k); }
  std::size_t n() const noexcept override { return static_cast<std::size_t>(config_.ldpc.n); }
  std::size_t working_bytes() const noexcept override { return code_.working_bytes(); }
  std::size_t thread_bytes(bool decodes) const noexcept override {
    // As of other LDPC codes; and a float of the circular buffer.
    const std::size_t columns = static_cast<std::size_t>(code_.code().columns()),
                      blocks = static_cast<std::size_t>(code_.code().blocks()),
                      z = static_cast<std::size_t>(code_.code().z());
    return sizeof(float) * (decodes ? 2 * columns * (2 * z + 64) + (blocks + columns) * (z + 32)
                                    : widest * (columns + blocks) * z);
  }
  const code_config& config() const noexcept override { return config_; }
  void encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const override {
    code_.encode(exec, bits, coded);
  }
  void decode(executor& exec, view<const float> llr, const decoder_output& out) const override {
    code_.decode(exec, llr,
                 {.bits = out.bits, .soft = out.soft, .iterations = out.iterations, .status = out.status});
  }

 private:
  code_config config_;
  nr_block_codec code_;
};

}  // namespace

code_sizes nr_sizes(const code_config& c) {
  const auto k = static_cast<std::size_t>(c.k != 0 ? c.k : longest_block);
  return {k, c.ldpc.n != 0 ? static_cast<std::size_t>(c.ldpc.n) : 2 * k};
}

void complete_nr(code_config& c) {
  const nr_rate_matching_config m = matching_of(c);
  c.k = m.k;
  c.ldpc.n = m.sent_bits;
  c.ldpc.base_graph = m.base_graph;
  check(nr_code_of(c), c.ldpc.decoder, c.crc.has_value());
}

ldpc_code nr_code_of(const code_config& c) {
  const nr_rate_matcher matcher(matching_of(c));
  return matcher.block().code(matcher.rows(0));
}

nr_block_codec nr_codec_of(const code_config& c) {
  return nr_block_codec(matching_of(c), c.ldpc.decoder, c.crc);
}

std::unique_ptr<codec> make_nr(const code_config& config) { return std::make_unique<nr_ldpc_codec>(config); }

}  // namespace wb
