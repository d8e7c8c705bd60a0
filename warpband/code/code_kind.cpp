#include <warpband/code/code_kind.hpp>

#include <algorithm>
#include <cstdio>
#include <set>

#include <warpband/core/check.hpp>

namespace wb {
namespace {

const setting_of<box>& setting_named(const code_kind& kind, std::string_view name) {
  if (const auto* s = find_setting(kind.settings, name)) return *s;
  throw argument_error(std::string(name), "given", "a setting of \"" + kind.name + "\"");
}

/// Puts given values into settings, each after those that decide whether it has a meaning.
class settling {
 public:
  settling(const code_kind& kind, const setting_values& given, box& content)
      : kind_(kind), given_(given), content_(content) {
    for (const setting_of<box>& s : kind.settings) settle(s);
  }

 private:
  void settle(const setting_of<box>& s) {
    if (!settled_.insert(s.name).second) return;
    for (const setting_condition& c : s.conditions) settle(setting_named(kind_, c.setting));
    const auto given = given_.find(s.name);
    if (given != given_.end() && !idle_because(kind_.settings, s, content_)) s.set(content_, given->second);
  }

  const code_kind& kind_;
  const setting_values& given_;
  box& content_;
  std::set<std::string> settled_;
};

/// The encoder of a code, and a decoder of the program.
class decoded_by final : public codec {
 public:
  decoded_by(std::unique_ptr<codec> code, decode_function decode)
      : code_(std::move(code)), decode_(std::move(decode)) {}
  std::size_t k() const noexcept override { return code_->k(); }
  std::size_t n() const noexcept override { return code_->n(); }
  std::size_t thread_bytes(bool decodes) const noexcept override {
    return decodes ? 0 : code_->thread_bytes(false);
  }
  void encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const override {
    code_->encode(exec, bits, coded);
  }
  void decode(executor& exec, view<const float> llr, const decoder_output& out) const override {
    const std::size_t batch = llr.items;
    check_shape("llr", llr, batch, n());
    check_optional_shape("bits", out.bits, batch, k());
    check_optional_shape("iterations", out.iterations, batch, 1);
    check_optional_shape("status", out.status, batch, 1);
    if (out.soft.data != nullptr)
      throw argument_error("soft", "asked for", "none: this decoder gives decisions alone");
    decode_(exec, llr, out);
  }

 private:
  std::unique_ptr<codec> code_;
  decode_function decode_;
};

/// Checks that a decoder of the program can decode this code.
const decoder_kind& decoder_of(const code_config& config) {
  const decoder_kind& kind = decoders().get(config.decoder);
  if (is_uncoded(config) || is_transport(config))
    throw argument_error("decoder.type", '"' + kind.name + '"',
                         "none with code.type = \"" + config.type + '"');
  return kind;
}

}  // namespace

// ---- a configuration

code_config::code_config(std::string_view name) {
  const code_kind& kind = codes().get(name);
  type = kind.name;
  settings = kind.initial;
}
code_config::code_config(std::string_view name, box content) : code_config(name) {
  settings = std::move(content);
}
code_config::code_config(std::string_view name, const setting_values& given) : code_config(name) {
  settling(kind(), given, settings);
}
void code_config::set(std::string_view setting, const setting_value& value) {
  setting_named(kind(), setting).set(settings, value);
}
setting_value code_config::value_of(std::string_view setting) const {
  const auto* s = find_setting(kind().settings, setting);
  return s != nullptr ? s->written(settings) : setting_value{};
}

std::vector<setting_of<code_config>> settings_of(const code_kind& kind) {
  std::vector<setting_of<code_config>> settings;
  for (const setting_of<box>& s : kind.settings)
    settings.push_back({s.name, s.kind, s.allowed, s.text, s.words,
                        [name = kind.name, set = s.set](code_config& c, const setting_value& v) {
                          if (c.type != name) c = code_config(name);
                          set(c.settings, v);
                        },
                        [name = kind.name, initial = kind.initial, get = s.get](const code_config& c) {
                          return get(c.type == name ? c.settings : initial);
                        },
                        s.conditions, s.group, s.of_links, s.brief, s.open, s.absent});
  return settings;
}

// ---- what follows from it

code_config completed(const code_config& config) {
  if (const auto crc = crc_of(config))
    if (const std::size_t k = sizes_of(config).k; k <= static_cast<std::size_t>(crc->degree))
      throw argument_error("k", std::to_string(k),
                           "more than the " + std::to_string(crc->degree) + " bits of its CRC");
  code_config c = config;
  c.settings = config.kind().complete(config.settings);
  if (!c.decoder.empty()) c.decoder = decoder_of(c).name;
  return c;
}

std::unique_ptr<codec> make_codec(const code_config& config) {
  if (is_uncoded(config)) {
    std::vector<std::string> names;
    for (const code_kind& kind : codes())
      if (kind.make) names.push_back(kind.name);
    throw argument_error("code.type", '"' + config.type + '"', "a code: " + among(names));
  }
  const code_config c = completed(config);
  std::unique_ptr<codec> code = c.kind().make(c.settings);
  if (c.decoder.empty()) return code;
  return std::make_unique<decoded_by>(std::move(code), decoder_of(c).make(c));
}

code_sizes sizes_of(const code_config& config) { return config.kind().sizes(config.settings); }

std::optional<std::size_t> k_of_coded_bits(const code_config& config, std::size_t n) {
  const code_kind& kind = config.kind();
  return kind.k_of ? kind.k_of(config.settings, n) : std::nullopt;
}

std::optional<crc_polynomial> crc_of(const code_config& config) {
  const code_kind& kind = config.kind();
  return kind.crc ? kind.crc(config.settings) : std::nullopt;
}

int most_iterations(const code_config& config) {
  if (!config.decoder.empty()) return decoder_of(config).most_iterations;
  const setting_value iterations = config.value_of("iterations");
  if (const auto* number = std::get_if<std::int64_t>(&iterations)) return static_cast<int>(*number);
  return is_uncoded(config) ? 0 : 1;
}

code_config with_iterations(code_config config, int iterations) {
  if (config.decoder.empty() && find_setting(config.kind().settings, "iterations") != nullptr)
    config.set("iterations", std::int64_t{iterations});
  return config;
}

bool is_uncoded(const code_config& config) { return !config.kind().make; }
bool is_transport(const code_config& config) { return static_cast<bool>(config.kind().harq); }

harq_rule harq_of(const code_config& config) {
  if (!is_transport(config)) throw argument_error("code.type", '"' + config.type + '"', "transport blocks");
  return config.kind().harq(config.settings);
}

bool gives_extrinsic(const code_config& config) {
  const code_kind& kind = config.kind();
  return config.decoder.empty() && kind.make_soft &&
         (!kind.gives_extrinsic || kind.gives_extrinsic(config.settings));
}

code_config mapped_to(code_config config, int modulation_order, int layers) {
  if (const code_kind& kind = config.kind(); kind.mapped)
    config.settings = kind.mapped(config.settings, modulation_order, layers);
  return config;
}

std::vector<code_config> decoder_candidates(const code_config& base, bool on_device) {
  const code_kind& kind = base.kind();
  if (!kind.candidates || !base.decoder.empty()) return {base};
  std::vector<code_config> candidates;
  for (const box& settings : kind.candidates(base.settings, on_device)) {
    const code_config c(base.type, settings);
    if (std::find(candidates.begin(), candidates.end(), c) != candidates.end()) continue;
    try {
      (void)completed(c);
      candidates.push_back(c);
    } catch (const argument_error&) {  // the decoder does not have this
    }
  }
  return candidates;
}

std::uint64_t passes_of(const code_config& config) {
  if (!config.decoder.empty()) return 1;
  const code_kind& kind = config.kind();
  if (kind.passes) return kind.passes(config.settings);
  return static_cast<std::uint64_t>(std::max(1, most_iterations(config)));
}

// ---- what results hold

named_values values_in_results(const std::vector<setting_of<box>>& settings, const box& initial,
                               const box& content, std::string_view group) {
  named_values values;
  for (const auto& [s, value] : values_of(settings, content))
    if (s->group == group && s->of_links && (!s->brief || value != s->written(initial)))
      values.emplace_back(s->name, value);
  return values;
}

named_values described(const code_config& config) {
  const code_kind& kind = config.kind();
  if (kind.described) return kind.described(config.settings);
  const code_sizes sizes = sizes_of(config);
  named_values values{{"k", static_cast<std::int64_t>(sizes.k)}};
  values.emplace_back("crc", crc_name(crc_of(config)));
  if (!is_uncoded(config)) values.emplace_back("n", static_cast<std::int64_t>(sizes.n));
  for (auto& [name, value] : values_in_results(kind.settings, kind.initial, config.settings, "code"))
    if (name == "rate")
      values.emplace_back("rate_name", std::move(value));
    else if (name != "k" && name != "crc" && name != "n")
      values.emplace_back(std::move(name), std::move(value));
  return values;
}

std::string content_id(const std::vector<std::int32_t>& numbers) {
  std::uint32_t h = 2166136261u;
  for (const std::int32_t x : numbers)
    for (int byte = 0; byte < 4; byte++)
      h = (h ^ (static_cast<std::uint32_t>(x) >> 8 * byte & 255u)) * 16777619u;
  char text[9];
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(h));
  return text;
}

// ---- rows of an array

box fit_k(const code_kind& kind, const box& content, const code_rows& rows, const std::string& n_expected,
          const std::string& k_expected) {
  constexpr std::size_t max_k = 65536;
  if (rows.has("k")) {
    const code_sizes sizes = kind.sizes(content);
    const std::size_t wanted = rows.decodes ? sizes.n : sizes.k;
    if (rows.values != wanted)
      rows.refuse("[batch, " + std::to_string(wanted) + "] for k = " + std::to_string(sizes.k));
    return content;
  }
  const auto k = !rows.decodes ? std::optional(rows.values)
                 : kind.k_of   ? kind.k_of(content, rows.values)
                               : std::nullopt;
  if (!k || *k > max_k || *k == 0)
    rows.refuse(rows.decodes ? "[batch, n] with " + n_expected : "[batch, k], " + k_expected);
  box fitting = content;
  setting_named(kind, "k").set(fitting, static_cast<std::int64_t>(*k));
  return fitting;
}

code_config fit_to_rows(code_config config, const code_rows& rows) {
  const code_kind& kind = config.kind();
  config.settings = kind.fit ? kind.fit(config.settings, rows)
                             : fit_k(kind, config.settings, rows, "the n of the code for a k from 1 to 65536",
                                     "k from 1 to 65536");
  return config;
}

// ---- CRCs

const std::vector<std::string>& crc_names() {
  static const std::vector<std::string> names{"none", "crc24a", "crc24b"};
  return names;
}
std::string crc_name(const std::optional<crc_polynomial>& crc) {
  return !crc ? "none" : *crc == crc24a ? "crc24a" : *crc == crc24b ? "crc24b" : "other";
}
std::optional<crc_polynomial> crc_named(const setting_value& name) {
  const std::optional<crc_polynomial> polynomials[] = {std::nullopt, crc24a, crc24b};
  return polynomials[settings_detail::word("crc", name, crc_names(), among(crc_names()))];
}

}  // namespace wb
