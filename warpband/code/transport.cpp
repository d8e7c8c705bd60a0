#include <warpband/code/transport.hpp>

#include <climits>

#include <warpband/code/passes/passes.hpp>
#include <warpband/core/check.hpp>

namespace wb {
namespace {

class transport_codec final : public codec {
 public:
  transport_codec(std::unique_ptr<transport_coder> coder, const harq_rule& rule, code_sizes sizes)
      : coder_(std::move(coder)), rule_(rule), sizes_(sizes) {}
  std::size_t k() const noexcept override { return sizes_.k; }
  std::size_t n() const noexcept override { return sizes_.n * static_cast<std::size_t>(rule_.transmissions); }
  std::size_t working_bytes() const noexcept override { return coder_->bytes() + 4 * blocks() + 2; }
  std::size_t thread_bytes(bool decodes) const noexcept override { return coder_->thread_bytes(decodes); }
  void encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const override {
    check_shape("coded", coded, bits.items, n());
    for (int t = 0; t < rule_.transmissions; t++)
      coder_->encode(exec, bits, rule_.version(t), transmission(coded, t));
  }
  void decode(executor& exec, view<const float> llr, const decoder_output& out) const override {
    if (out.soft.data != nullptr)
      throw argument_error("code.type", "that of transport blocks",
                           "another code for soft output: their decoders have none");
    check_shape("llr", llr, llr.items, n());
    check_optional_shape("iterations", out.iterations, llr.items, 1);
    check_optional_shape("status", out.status, llr.items, 1);
    coder_->reset();
    for (int t = 0; t < rule_.transmissions; t++)
      coder_->combine(exec, transmission(llr, t), rule_.version(t));
    auto block_iterations = exec.make<std::int32_t>(llr.items, blocks());
    auto ok = exec.make<std::uint8_t>(llr.items, 1), status = exec.make<std::uint8_t>(llr.items, 1);
    coder_->decode(exec, {.bits = out.bits, .ok = ok, .iterations = block_iterations, .status = status});
    sum_up_blocks(exec, view<std::int32_t>(block_iterations), view<std::uint8_t>(ok),
                  view<std::uint8_t>(status), out.iterations, out.status);
  }

 private:
  std::size_t blocks() const { return static_cast<std::size_t>(rule_.code_blocks); }
  template <class T>
  view<T> transmission(view<T> transmissions, int t) const {
    return {transmissions.data + static_cast<std::size_t>(t) * sizes_.n * transmissions.element_stride,
            sizes_.n, transmissions.items, transmissions.element_stride, transmissions.item_stride};
  }

  std::unique_ptr<transport_coder> coder_;
  harq_rule rule_;
  code_sizes sizes_;
};

}  // namespace

const std::vector<setting_of<transport_settings>>& transport_settings_list() {
  using c = transport_settings;
  static const std::vector<setting_of<c>> settings{
      integer("resource_elements", &c::resource_elements, 1, INT_MAX,
              "Resource elements, uses of the channel, that one transmission of a transport block takes: G = "
              "resource_elements mimo.streams log2(points of the modulation). This or coded_bits is needed.",
              "an integer from 1 on, at least one for each code block"),
      integer(
          "coded_bits", &c::coded_bits, 1, INT_MAX,
          "In place of resource_elements: G, bits of one transmission. R = A / G, and Eb/N0 is that of one "
          "transmission.",
          "a multiple of the bits of a resource element, up to 268435456"),
      integer("transmissions", &c::transmissions, 1, most_transmissions,
              "HARQ: the most transmissions of a transport block, which is sent again while its CRCs fail. "
              "Each transmission has noise and a channel of its own; the LLRs of all are added."),
      integers("redundancy_versions", &c::redundancy_versions, 0, 3,
               "Redundancy versions of the first, second, ... transmission. A shorter list begins again at "
               "its end. [0]: the same bits every time (Chase combining).",
               "1 to 8 integers from 0 to 3"),
      integer_or_auto(
          "soft_buffer", &c::soft_buffer, 1, INT_MAX,
          "N_cb: how many bits of each code block's circular buffer are sent and kept. \"auto\": all.",
          "an integer from 1 on"),
      integer("modulation_order", &c::modulation_order, 1, 10, "Q_m, bits of a symbol.",
              "1, 2, 4, 6, 8, with 5G NR also 10")
          .not_of_links(),
      integer("layers", &c::layers, 1, 4, "N_L, that a transport block is mapped to.").not_of_links()};
  return settings;
}

void check(const transport_settings& s, int transport_block_size, int max_size, int least_resource_elements) {
  check_range("transport_block_size", transport_block_size, 1, max_size);
  check_range("transmissions", s.transmissions, 1, most_transmissions);
  const bool known = std::all_of(s.redundancy_versions.begin(), s.redundancy_versions.end(),
                                 [](int rv) { return rv >= 0 && rv <= 3; });
  if (!known || s.redundancy_versions.empty() ||
      s.redundancy_versions.size() > std::size_t{most_transmissions}) {
    std::string list;
    for (const int rv : s.redundancy_versions) list += (list.empty() ? "" : ", ") + std::to_string(rv);
    throw argument_error("redundancy_versions", "[" + list + "]",
                         "1 to " + std::to_string(most_transmissions) + " numbers from 0 to 3");
  }
  if (s.soft_buffer) check_range("soft_buffer", *s.soft_buffer, 1, INT_MAX);
  if (s.coded_bits && s.resource_elements)
    throw argument_error("coded_bits", std::to_string(*s.coded_bits),
                         "none where resource_elements is given");
  if (!s.coded_bits && !s.resource_elements)
    throw argument_error("resource_elements", "none", "at least 1, or coded_bits in its place");
  if (!s.coded_bits)  // in the words of what was given
    check_range("resource_elements", *s.resource_elements, least_resource_elements,
                (1 << 28) / std::max(1, s.modulation_order * s.layers));
}

void fit(transport_settings& s, int& transport_block_size, const code_rows& rows) {
  const bool counted = rows.has("transmissions");
  const int values = static_cast<int>(std::min<std::size_t>(rows.values, 1u << 30));
  const bool sized = rows.has("transport_block_size") || rows.k;
  if (!rows.has("transport_block_size") && rows.k) transport_block_size = *rows.k;
  if (!rows.decodes) {
    if (!counted) s.transmissions = 1;
    if (s.sent_bits() == 0) rows.miss("coded_bits", "the bits of a transmission");
    if (!sized) transport_block_size = values;
    if (transport_block_size != values) {
      const std::string size = std::to_string(transport_block_size);
      rows.refuse("[batch, " + size + "] for transport_block_size = " + size);
    }
    return;
  }
  if (!sized) rows.miss("transport_block_size", "G bits may be those of any A");
  if (s.sent_bits() == 0) s.coded_bits = values / (counted ? s.transmissions : 1);
  const auto sent = static_cast<std::size_t>(std::max(1LL, s.sent_bits()));
  if (!counted) s.transmissions = static_cast<int>(std::clamp<std::size_t>(rows.values / sent, 1, 1000));
  if (s.transmissions <= most_transmissions &&
      rows.values == sent * static_cast<std::size_t>(s.transmissions))
    return;
  const std::string sent_in_all = counted ? std::to_string(sent * static_cast<std::size_t>(s.transmissions))
                                          : std::to_string(sent) + " or a multiple";
  rows.refuse("[batch, " + sent_in_all + "], " + std::to_string(sent) + " bits for each of 1 to " +
              std::to_string(most_transmissions) + " transmissions");
}

named_values described_transport(const code_kind& kind, const box& content, int code_blocks) {
  const code_sizes sizes = kind.sizes(content);
  named_values values{{"transport_block_size", static_cast<std::int64_t>(sizes.k)},
                      {"resource_elements", std::int64_t{0}},  // those of the link
                      {"coded_bits", static_cast<std::int64_t>(sizes.n)}};
  for (auto& [name, value] : values_in_results(kind.settings, kind.initial, content, "code"))
    if (name != values[0].first && name != values[1].first && name != values[2].first)
      values.emplace_back(std::move(name), std::move(value));
  values.emplace_back("code_blocks", std::int64_t{code_blocks});
  return values;
}

std::unique_ptr<codec> make_transport_codec(std::unique_ptr<transport_coder> coder, const harq_rule& rule,
                                            code_sizes sizes) {
  return std::make_unique<transport_codec>(std::move(coder), rule, sizes);
}

}  // namespace wb
