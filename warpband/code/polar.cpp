#include <warpband/code/polar.hpp>

#include <algorithm>
#include <filesystem>

#include <warpband/code/passes/passes.hpp>
#include <warpband/core/check.hpp>
#include <warpband/fec/polar/polar_order.hpp>

namespace wb {
namespace {

const polar_code_settings& typed(const box& b) { return b.get<polar_code_settings>(); }

/// The code with what its file has, which `completed` has read once.
polar_config polar_config_of(const polar_code_settings& s) {
  polar_config c = s.code;
  if (c.kind == polar_kind::general && c.construction == polar_construction::custom &&
      c.reliability.empty() && !c.reliability_file.empty())
    c.reliability = s.reliability.empty()
                        ? read_polar_order((std::filesystem::path(s.folder) / c.reliability_file).string())
                        : s.reliability;
  return c;
}

class polar final : public codec {
 public:
  explicit polar(const polar_code_settings& s) : polar(polar_code(polar_config_of(s)), s) {}
  std::size_t k() const noexcept override { return encoder_.code().k(); }
  std::size_t n() const noexcept override { return encoder_.code().coded_bits(); }
  std::size_t working_bytes() const noexcept override { return 1; }
  std::size_t thread_bytes(bool decodes) const noexcept override {
    constexpr std::size_t widest = 16;  // values in a lane of any instruction set
    const auto mother = static_cast<std::size_t>(encoder_.code().blocks().front().n);
    return sizeof(float) * std::max(list_size_, widest) * (decodes ? 3 * mother : mother / 32);
  }
  void encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const override {
    encoder_.run(exec, bits, coded);
  }
  void decode(executor& exec, view<const float> llr, const decoder_output& out) const override {
    if (out.soft.data != nullptr)
      throw argument_error("code.type", "\"polar\"",
                           "another code for soft output: polar decoders have none");
    check_optional_shape("iterations", out.iterations, llr.items, 1);
    view<std::uint8_t> status = out.status;
    if (status.data == nullptr)
      status = make_view(reinterpret_cast<std::uint8_t*>(workspace_.on(exec, llr.items)), llr.items,
                         std::size_t{1});
    decoder_.run(exec, llr, {.bits = out.bits, .status = status});
    if (out.iterations.data != nullptr) count_pass(exec, view<const std::uint8_t>(status), out.iterations);
  }

 private:
  polar(const polar_code& code, const polar_code_settings& s)
      : encoder_(code),
        decoder_(code, s.decoder),
        list_size_(static_cast<std::size_t>(s.decoder.list_size)) {}

  polar_encoder encoder_;
  polar_decoder decoder_;
  std::size_t list_size_;
  kept_workspace workspace_;
};

std::vector<setting_of<polar_code_settings>> of_code() {
  auto settings = within<polar_code_settings>([](polar_code_settings& s) -> polar_config& { return s.code; },
                                              polar_settings());
  const auto k = std::find_if(settings.begin(), settings.end(), [](const auto& s) { return s.name == "k"; });
  k->text = "A: bits of a message, a frame, without its CRC.";
  std::rotate(settings.begin(), k, k + 1);
  std::erase_if(settings, [](const auto& s) { return s.name == "reliability"; });  // the file has it
  return settings;
}

box fit(const box& b, const code_rows& rows) {
  polar_code_settings s = typed(b);
  const int values = static_cast<int>(std::min<std::size_t>(rows.values, 65536));
  if (!rows.has("k")) {
    if (!rows.k && rows.decodes) rows.miss("k", "E bits may be those of any k");
    s.code.k = rows.k.value_or(values);
  }
  if (!rows.has("coded_bits")) {
    if (!rows.decodes) rows.miss("coded_bits", "the bits that are sent for k = " + std::to_string(s.code.k));
    s.code.coded_bits = values;
  }
  const auto wanted = static_cast<std::size_t>(rows.decodes ? s.code.coded_bits : s.code.k);
  if (rows.values != wanted)
    rows.refuse("[batch, " + std::to_string(wanted) + "] for k = " + std::to_string(s.code.k) +
                ", coded_bits = " + std::to_string(s.code.coded_bits));
  return box(s);
}

}  // namespace

code_kind polar_code_kind() {
  const auto decoder = [](polar_code_settings& s) -> polar_decoder_config& { return s.decoder; };
  return {
      .name = "polar",
      .text =
          "3GPP TS 38.212 section 5.3.1: --kind uci (default), dci, pbch or plain, --k, --coded-bits, "
          "--rnti, --crc-bits; the code adds the CRC. Or --kind general, --construction gaussian, nr or "
          "custom, "
          "--design-esn0-db, --reliability-file",
      .settings = code_and_decoder(of_code(), within<polar_code_settings>(decoder, polar_decoder_settings())),
      .initial = box(polar_code_settings{}),
      .complete =
          [](const box& b) {
            polar_code_settings s = typed(b);
            const polar_config code = polar_config_of(s);
            check(code, s.decoder);
            s.reliability = code.reliability;
            return box(s);
          },
      .sizes =
          [](const box& b) {
            const polar_config& c = typed(b).code;
            return code_sizes{static_cast<std::size_t>(c.k),
                              static_cast<std::size_t>(std::max(0, c.coded_bits))};
          },
      .make = [](const box& b) -> std::unique_ptr<codec> { return std::make_unique<polar>(typed(b)); },
      .without_soft = [](const box&) { return "the decoder of polar codes"; },
      .in_folder =
          [](const box& b, const std::string& folder) {
            polar_code_settings moved = typed(b);
            moved.folder = folder;
            return box(moved);
          },
      .described =
          [](const box& b) {
            const code_kind& kind = codes().get("polar");
            named_values values = values_in_results(kind.settings, kind.initial, b, "code");
            if (typed(b).code.kind == polar_kind::general)
              values.emplace_back("information_set_id",
                                  content_id(polar_code(polar_config_of(typed(b))).blocks().front().place));
            return values;
          },
      // An iteration of the turbo code is 32 sums a bit, f or g two.
      .passes =
          [](const box& b) { return static_cast<std::uint64_t>(std::max(1, typed(b).decoder.list_size)); },
      .fit = fit};
}

}  // namespace wb
