#include <warpband/link/codec_transport.hpp>

#include <algorithm>
#include <limits>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/fec/nr/tbs.hpp>
#include <warpband/link/count/count.hpp>

namespace wb {
namespace {

constexpr int usual_transport_bits = 6120;  // one code block of 6144
constexpr int usual_nr_bits = 8424;         // one code block of 8448

/// G; more than an int where the settings ask for that.
long long transport_coded_bits(const lte_transport_settings& t) {
  if (t.coded_bits != 0) return t.coded_bits;
  return static_cast<long long>(t.resource_elements) * t.modulation_order * t.layers;
}

void complete_transport(const code_config& c) {
  const lte_transport_settings& t = c.transport;
  const bool nr = is_nr_transport(c.type);
  check_range("transport_block_size", c.k, 1, nr ? nr_most_transport_bits : lte_most_transport_bits);
  if (c.crc) throw argument_error("crc", "given", "none: a transport block has CRCs of its own");
  check_range("transmissions", t.transmissions, 1, most_transmissions);
  const bool known = std::all_of(t.redundancy_versions.begin(), t.redundancy_versions.end(),
                                 [](int rv) { return rv >= 0 && rv <= 3; });
  if (!known || t.redundancy_versions.empty() ||
      t.redundancy_versions.size() > std::size_t{most_transmissions}) {
    std::string list;
    for (const int rv : t.redundancy_versions) list += (list.empty() ? "" : ", ") + std::to_string(rv);
    throw argument_error("redundancy_versions", "[" + list + "]",
                         "1 to " + std::to_string(most_transmissions) + " numbers from 0 to 3");
  }
  check_range("soft_buffer", t.soft_buffer, 0, std::numeric_limits<int>::max());
  if (t.coded_bits != 0 && t.resource_elements != 0)
    throw argument_error("coded_bits", std::to_string(t.coded_bits), "0 where resource_elements is given");
  if (t.coded_bits == 0 && t.resource_elements == 0)
    throw argument_error("resource_elements", "0", "at least 1, or coded_bits in its place");
  if (t.coded_bits == 0) {  // in the words of what was given
    const int symbol = std::max(1, t.modulation_order * t.layers);
    check_range("resource_elements", t.resource_elements, nr ? 1 : segment_transport_block(c.k).blocks,
                (1 << 28) / symbol);
  }
}

/// What LTE and NR have alike.
template <class T>
T sizes_in(const code_config& config) {
  code_config c = config;
  c.k = static_cast<int>(transport_sizes(c).k);
  complete_transport(c);
  T t;
  t.transport_bits = c.k;
  t.coded_bits = static_cast<int>(transport_coded_bits(c.transport));
  t.modulation_order = c.transport.modulation_order;
  t.layers = c.transport.layers;
  t.soft_buffer = c.transport.soft_buffer;
  return t;
}

/// What is refused is named as the settings name it.
void check_nr_transport(const code_config& c) {
  try {
    check(nr_transport_of(c));
  } catch (const argument_error& e) {
    if (e.argument() == "transport_bits")
      throw argument_error("transport_block_size", e.value(), e.allowed());
    if (e.argument() == "code_rate") throw argument_error("target_rate", e.value(), e.allowed());
    if (e.argument() == "coded_bits" && c.transport.coded_bits == 0)
      throw argument_error("resource_elements", std::to_string(c.transport.resource_elements),
                           "as many as the coded bits need: " + e.allowed());
    throw;
  }
}

}  // namespace

void check_transport(const code_config& c) {
  if (is_nr_transport(c.type))
    check_nr_transport(c);
  else
    check(transport_of(c));
}

code_sizes transport_sizes(const code_config& c) {
  const int usual = is_nr_transport(c.type) ? usual_nr_bits : usual_transport_bits;
  return {static_cast<std::size_t>(c.k != 0 ? c.k : usual),
          static_cast<std::size_t>(std::max(0LL, transport_coded_bits(c.transport)))};
}

lte_transport_config transport_of(const code_config& c) {
  auto t = sizes_in<lte_transport_config>(c);
  t.turbo = c.turbo.decoder;
  return t;
}

nr_transport_config nr_transport_of(const code_config& c) {
  auto t = sizes_in<nr_transport_config>(c);
  t.base_graph = c.ldpc.base_graph;
  t.code_rate = c.transport.target_rate;
  t.scrambling = c.transport.scrambling;
  t.ldpc = c.ldpc.decoder;
  if (c.transport.lbrm_resource_blocks == 0) return t;
  if (t.soft_buffer != 0)
    throw argument_error("soft_buffer", std::to_string(t.soft_buffer), "\"auto\" with lbrm_resource_blocks");
  check_range("lbrm_resource_blocks", c.transport.lbrm_resource_blocks, 1, 275);
  const int kept =
      nr_lbrm_transport_bits({c.transport.lbrm_resource_blocks, t.layers, std::max(6, t.modulation_order)});
  t.soft_buffer = nr_limited_buffer(kept, nr_transport_plan(t).segmentation().blocks);
  return t;
}

int code_blocks_of(const code_config& config) {
  if (is_nr_transport(config.type)) return nr_transport_plan(nr_transport_of(config)).segmentation().blocks;
  return segment_transport_block(static_cast<int>(sizes_of(config).k)).blocks;
}

std::size_t transport_bytes(const lte_segmentation& s) {
  std::size_t bytes = 0;
  for (int r = 0; r < s.blocks; r++)
    bytes += static_cast<std::size_t>(2 * s.k(r) + 5 * 3 * (s.k(r) + 4) + 17);
  return bytes;
}
std::size_t transport_bytes(const nr_segmentation& s) {
  return static_cast<std::size_t>(s.blocks) *
         static_cast<std::size_t>(2 * s.block.padded() + 5 * s.block.codeword() + 18);
}

namespace {

std::size_t block_bits(const lte_segmentation& s) { return static_cast<std::size_t>(s.k(s.blocks - 1)); }
std::size_t block_bits(const nr_segmentation& s) { return static_cast<std::size_t>(s.block.codeword()); }

/// All transmissions of a transport block, one after the other.
template <class Encoder, class Decoder>
class transport_codec final : public codec {
 public:
  template <class Config>
  transport_codec(const code_config& config, const Config& c)
      : config_(config), encoder_(c), decoder_(c), sent_(transport_sizes(config).n) {}
  std::size_t k() const noexcept override { return static_cast<std::size_t>(config_.k); }
  std::size_t n() const noexcept override {
    return sent_ * static_cast<std::size_t>(config_.transport.transmissions);
  }
  std::size_t working_bytes() const noexcept override {
    return transport_bytes(decoder_.segmentation()) + 4 * blocks() + 2;
  }
  std::size_t thread_bytes(bool decodes) const noexcept override {
    return (decodes ? 1024 : 128) * block_bits(decoder_.segmentation());  // as of the codes inside
  }
  const code_config& config() const noexcept override { return config_; }
  void encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const override {
    check_shape("coded", coded, n(), bits.items);
    for (int t = 0; t < config_.transport.transmissions; t++)
      encoder_.run(exec, bits, version(t), transmission(coded, t));
  }
  void decode(executor& exec, view<const float> llr, const decoder_output& out) const override {
    if (out.soft.data != nullptr)
      throw argument_error("code.type", "that of transport blocks",
                           "another code for soft output: their decoders have none");
    check_shape("llr", llr, n(), llr.items);
    check_optional_shape("iterations", out.iterations, 1, llr.items);
    check_optional_shape("status", out.status, 1, llr.items);
    decoder_.reset();
    for (int t = 0; t < config_.transport.transmissions; t++)
      decoder_.combine(exec, transmission(llr, t), version(t));
    auto each = exec.make<std::int32_t>(blocks(), llr.items);
    auto ok = exec.make<std::uint8_t>(1, llr.items), status = exec.make<std::uint8_t>(1, llr.items);
    decoder_.decode(exec, {.bits = out.bits, .ok = ok, .block_ok = {}, .iterations = each, .status = status});
    sum_up_blocks(exec, view<std::int32_t>(each), view<std::uint8_t>(ok), view<std::uint8_t>(status),
                  out.iterations, out.status);
  }

 private:
  std::size_t blocks() const { return static_cast<std::size_t>(decoder_.segmentation().blocks); }
  int version(int t) const {
    const std::vector<int>& all = config_.transport.redundancy_versions;
    return all[static_cast<std::size_t>(t) % all.size()];
  }
  template <class T>
  view<T> transmission(view<T> all, int t) const {
    return {all.data + static_cast<std::size_t>(t) * sent_ * all.element_stride, sent_, all.items,
            all.element_stride, all.item_stride};
  }

  code_config config_;
  mutable Encoder encoder_;
  mutable Decoder decoder_;
  std::size_t sent_;  // G
};

}  // namespace

std::unique_ptr<codec> make_transport(const code_config& config) {
  const code_config c = completed(config);
  if (is_nr_transport(c.type))
    return std::make_unique<transport_codec<nr_transport_encoder, nr_transport_decoder>>(c,
                                                                                         nr_transport_of(c));
  return std::make_unique<transport_codec<lte_transport_encoder, lte_transport_decoder>>(c, transport_of(c));
}

}  // namespace wb
