#pragma once
// What transport blocks of LTE and 5G NR have alike: their transmissions, and a codec of all of them.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <warpband/code/code_kind.hpp>

namespace wb {

/// How a transport block of A bits is sent.
struct transport_settings {
  /// One of them: G, bits of one transmission, or the resource elements, uses of the channel, that it takes:
  /// G = resource_elements * layers * modulation_order.
  std::optional<int> coded_bits = {}, resource_elements = {};
  /// A block is sent until its CRCs hold, but no more often than this: 1..8.
  int transmissions = 4;
  /// Of its transmissions in order, and from the first again where there are more: 1 to 8 of 0..3.
  std::vector<int> redundancy_versions{0, 2, 3, 1};
  /// N_cb or N_ref, places of each code block's circular buffer that are kept. Absent: all.
  std::optional<int> soft_buffer = {};
  /// Q_m and N_L. A link puts its own in their place.
  int modulation_order = 1, layers = 1;
  bool operator==(const transport_settings&) const = default;

  /// G; more than an int where the settings ask for that, and 0 where they say neither.
  long long sent_bits() const {
    return coded_bits ? *coded_bits
                      : static_cast<long long>(resource_elements.value_or(0)) * modulation_order * layers;
  }
};

/// Those that links have of LTE and 5G NR.
const std::vector<setting_of<transport_settings>>& transport_settings_list();
/// Throws argument_error for what is not allowed of a block of A bits, at most `max_size`, with so many
/// resource elements or more.
void check(const transport_settings& settings, int transport_block_size, int max_size,
           int least_resource_elements);
/// Sets what follows from rows of A bits, or of the LLRs of all transmissions. If `transmissions` is not
/// given, an encoder makes one and a decoder takes as many as a row has.
void fit(transport_settings& settings, int& transport_block_size, const code_rows& rows);
/// What results hold of a kind of transport blocks.
named_values described_transport(const code_kind& kind, const box& content, int code_blocks);

/// All transmissions of a transport block, one after the other.
std::unique_ptr<codec> make_transport_codec(std::unique_ptr<transport_coder> coder, const harq_rule& rule,
                                            code_sizes sizes);

/// A transport_coder of an encoder and a decoder that have the interface of those in fec/lte and fec/nr.
/// Threads: one at a time.
template <class Encoder, class Decoder, class Output>
class transport_coder_of final : public transport_coder {
 public:
  /// `bytes`: that it keeps for each transport block; `block_bits`: of its largest code block.
  template <class Config>
  transport_coder_of(const Config& config, std::size_t bytes, std::size_t block_bits)
      : encoder_(config), decoder_(config), bytes_(bytes), block_bits_(block_bits) {}
  std::size_t bytes() const noexcept override { return bytes_; }
  std::size_t thread_bytes(bool decodes) const noexcept override {
    return (decodes ? 1024 : 128) * block_bits_;  // as of the codes inside
  }
  void encode(executor& exec, view<const std::uint8_t> bits, int version, view<std::uint8_t> coded) override {
    encoder_.run(exec, bits, version, coded);
  }
  void reset() noexcept override { decoder_.reset(); }
  void combine(executor& exec, view<const float> llr, int version) override {
    decoder_.combine(exec, llr, version);
  }
  void decode(executor& exec, const transport_output& out) override {
    Output o;
    o.bits = out.bits;
    o.ok = out.ok;
    o.iterations = out.iterations;
    o.status = out.status;
    decoder_.decode(exec, o);
  }

 private:
  Encoder encoder_;
  Decoder decoder_;
  std::size_t bytes_, block_bits_;
};

/// What the kinds of transport blocks have alike. T: settings with `transport_block_size` and `sent`.
template <class T>
code_kind transport_kind(std::string name, std::string text, std::vector<setting_of<box>> settings) {
  const auto typed = [](const box& b) -> const T& { return b.get<T>(); };
  code_kind kind{.name = name,
                 .text = std::move(text),
                 .settings = std::move(settings),
                 .initial = box(T{}),
                 .complete = {},
                 .sizes = [typed](const box& b) {
                   return code_sizes{static_cast<std::size_t>(typed(b).transport_block_size),
                                     static_cast<std::size_t>(std::max(0LL, typed(b).sent.sent_bits()))};
                 }};
  kind.make = [name](const box& b) {
    const code_kind& registered = codes().get(name);
    return make_transport_codec(registered.make_transport(b), registered.harq(b), registered.sizes(b));
  };
  kind.without_soft = [](const box&) { return "the decoder of transport blocks"; };
  kind.mapped = [typed](const box& b, int modulation_order, int layers) {
    T s = typed(b);
    s.sent.modulation_order = modulation_order;
    s.sent.layers = layers;
    return box(s);
  };
  kind.described = [name](const box& b) {
    const code_kind& registered = codes().get(name);
    return described_transport(registered, b, registered.harq(b).code_blocks);
  };
  kind.fit = [typed](const box& b, const code_rows& rows) {
    T s = typed(b);
    fit(s.sent, s.transport_block_size, rows);
    return box(s);
  };
  return kind;
}

}  // namespace wb
