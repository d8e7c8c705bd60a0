#include "code_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <warpband/core/error.hpp>
#include <warpband/link/result.hpp>

#include "setting_options.hpp"

#if WARPBAND_HDF5

namespace {

bool is_ldpc(wb::code_type t) { return t == wb::code_type::wimax_ldpc || t == wb::code_type::wifi_ldpc; }

}  // namespace

code_run::code_run(const code_options& options, const char* array, bool decodes)
    : array_run(options, "blocks"), options_(options), array_(array), decodes_(decodes) {
  settings_ = options.settings;
  settle_type();
  settle_settings();
  check_meanings();
  shape_ = decodes ? file().expect<float>(array, 2) : file().expect<std::uint8_t>(array, 2);
  wb::code_config config = configured();
  settle_sizes(config);
  try {
    code_ = wb::make_codec(config);
  } catch (const wb::argument_error& e) {
    if (e.argument() == "early_stop" && e.value() == "\"crc\"")  // in the words of this command
      throw usage_error("--early-stop = crc is not allowed: expected --crc crc24a or --crc crc24b with it");
    std::vector<std::string> given = options.options;
    if (settings_.has("precision")) given.push_back("--algorithm");  // which may not allow its default
    const std::string setting = e.argument() == "f1, f2" ? "interleaver" : e.argument();
    refuse_option({setting, e.value(), e.allowed()}, given);
    if (e.argument() != "k" || options.settings.has("k")) throw;
    wrong_shape(array_, fmt::format("a k of the code, but {}", e.what()));
  }
  if (const std::string said = held("n"); !said.empty() && said != std::to_string(code_->n()))
    throw wb::file_error(options_.in,
                         fmt::format("says that n = {}, but {} has {} values a row, for which n = {}", said,
                                     array_, shape_[1], code_->n()));
  items_ = shape_[0];
  item_bits_ = code_->k();
  open();
}

std::size_t code_run::piece_of(std::size_t item) const {
  return piece({.arrays = {array_},
                .item = item + code_->working_bytes(),
                .thread = code_->thread_bytes(decodes_) + mebibyte / 4});
}

wb::hdf5_attributes code_run::attributes() const {
  const wb::code_config& c = code_->config();
  wb::hdf5_attributes a{{"code", wb::name_of(c.type)},
                        {"k", std::int64_t{c.k}},
                        {"n", static_cast<std::int64_t>(code_->n())},
                        {"warpband_version", wb::version()},
                        {"warpband_commit", wb::commit()}};
  for (const auto& [setting, value] : wb::values_of(wb::settings_of(c.type), c))
    if (setting->group == "code" && setting->name != "crc" && setting->name != "interleaver" &&
        !(setting->name == "resource_elements" && c.transport.resource_elements == 0) &&
        !(setting->name == "coded_bits" && wb::is_transport(c.type) && c.transport.coded_bits == 0))
      set_attribute(a, setting->name, value);
  if (c.turbo.interleaver) {
    a["interleaver_f1"] = std::int64_t{c.turbo.interleaver->f1};
    a["interleaver_f2"] = std::int64_t{c.turbo.interleaver->f2};
  }
  return a;
}

void code_run::add_decoder(wb::hdf5_attributes& a) const {
  const wb::code_config& c = code_->config();
  a["crc"] = wb::name_of(c.crc);
  for (const auto& [setting, value] : wb::values_of(wb::settings_of(c.type), c))
    if (setting->group == "decoder" && setting->of_links) set_attribute(a, setting->name, value);
}

void code_run::report_code(const char* command, clock::time_point start, const nlohmann::ordered_json& extra,
                           const std::string& text) const {
  nlohmann::ordered_json record = record_of(command);
  record["code"] = wb::name_of(code_->config().type);
  record["k"] = code_->k();
  record["n"] = code_->n();
  record["items"] = items();
  record.update(extra);
  report(record, start, fmt::format("of k = {}, {}", code_->k(), text));
}

void code_run::settle_type() {
  const std::string said = held("code");
  const std::vector<std::string> names = code_names();
  if (options_.code.empty() && said.empty())
    throw usage_error("a code is missing: --code " + wb::among(names) + " (" + options_.in + " names none)");
  std::string given = options_.code;
  if (is_matrix_file(given)) {
    if (settings_.has("base_matrix")) throw usage_error("--base-matrix has no meaning with --code " + given);
    settings_.values["base_matrix"] = given;
    given = wb::name_of(wb::code_type::qc_ldpc);
  }
  if (!given.empty() && !said.empty() && given != said)
    throw wb::file_error(options_.in, "is of code " + said + ", not " + given);
  const std::string name = given.empty() ? said : given;
  const auto i = std::find(names.begin(), names.end(), name);
  if (i == names.end())
    throw wb::file_error(options_.in, "is of code \"" + name + "\": expected " + wb::among(names));
  settings_.type = all_codes[static_cast<std::size_t>(i - names.begin())];
}

void code_run::check_meanings() const {
  for (const auto& [name, value] : settings_.values) {
    const std::string option = option_of(name);
    if (std::find(options_.options.begin(), options_.options.end(), option) == options_.options.end())
      continue;
    if (const auto choice = wb::idle_with(settings_, name))
      throw usage_error(
          fmt::format("{} has no meaning with {} {}", option, option_of(choice->setting), choice->value));
    try {
      (void)wb::as_kept(settings_.type, *wb::find_setting(wb::settings_of(settings_.type), name), value);
    } catch (const wb::argument_error& e) {
      throw usage_error(fmt::format("{} {} has no meaning with --code {}: expected {}", option,
                                    wb::plain(value), wb::name_of(settings_.type), e.allowed()));
    }
  }
  if (options_.soft && settings_.type == wb::code_type::conv &&
      wb::config_of(settings_).conv.algorithm == wb::conv_algorithm::viterbi)
    throw usage_error(
        "--soft: the Viterbi algorithm has no soft output: add --algorithm max-log-map or log-map");
  if (options_.soft && settings_.type == wb::code_type::polar)
    throw usage_error("--soft: the decoder of polar codes has no soft output");
  if (options_.soft && wb::is_transport(settings_.type))
    throw usage_error("--soft: the decoder of transport blocks has no soft output");
}

std::string code_run::said_of(const std::string& setting) const {
  if (setting != "interleaver") return held(setting.c_str());
  const std::string f1 = held("interleaver_f1"), f2 = held("interleaver_f2");
  return f1.empty() && f2.empty() ? "" : f1 + "," + f2;
}

void code_run::settle_settings() {
  for (const auto& s : wb::settings_of(settings_.type)) {
    if (s.group != "code" || s.name == "k" || s.name == "crc") continue;
    const std::string said = said_of(s.name);
    if (said.empty()) continue;
    try {
      const wb::setting_value kept = wb::as_kept(settings_.type, s, wb::from_text(s.kind, said));
      if (const wb::setting_value* given = settings_.find(s.name);
          given != nullptr && wb::as_kept(settings_.type, s, *given) != kept)
        throw wb::file_error(options_.in,
                             fmt::format("is of {} {}, not {}", s.name, said, wb::plain(*given)));
      settings_.values[s.name] = kept;
    } catch (const wb::argument_error& e) {
      throw wb::file_error(options_.in,
                           fmt::format("its attribute {} is \"{}\": expected {}", s.name, said, e.allowed()));
    }
  }
}

wb::code_config code_run::configured() const {
  try {
    return wb::config_of(settings_);
  } catch (const wb::argument_error& e) {
    refuse_option(e, options_.options);
    throw wb::argument_error(option_of(e.argument()), e.value(), e.allowed());
  }
}

void code_run::settle_sizes(wb::code_config& config) const {
  const std::size_t row = shape_[1];
  if (is_ldpc(config.type))
    settle_ldpc(config, row);
  else if (config.type == wb::code_type::nr_ldpc)
    settle_nr(config, row);
  else if (config.type == wb::code_type::polar)
    settle_polar(config, row);
  else if (config.type == wb::code_type::qc_ldpc)
    settle_matrix(config, row);
  else if (wb::is_transport(config.type))
    settle_transport(config, row);
  else
    settle_k(config, row);
  const std::string said = held("k");
  if (!said.empty() && said != std::to_string(config.k))
    throw wb::file_error(
        options_.in, fmt::format("says that it holds k = {}, but {} is {} values a row", said, array_, row));
}

void code_run::settle_k(wb::code_config& config, std::size_t row) const {
  if (config.k != 0) {
    const std::size_t wanted = decodes_ ? wb::sizes_of(config).n : static_cast<std::size_t>(config.k);
    if (row != wanted) wrong_shape(array_, fmt::format("[batch, {}] for k = {}", wanted, config.k));
    return;
  }
  const auto k = decodes_ ? wb::k_of_coded_bits(config, row) : std::optional(row);
  const bool turbo = config.type == wb::code_type::lte_turbo;
  if (!k || *k > 65536 || *k == 0) {
    const char* range = turbo ? "k from 40 to 65536" : "k from 1 to 65536";
    const char* n = !turbo                                      ? "the n of the code for a "
                    : config.turbo.rate == wb::turbo_rate::half ? "n = 2 k + 12, "
                                                                : "n = 3 (k + 4), ";
    wrong_shape(array_, decodes_ ? fmt::format("[batch, n] with {}{}", n, range)
                                 : fmt::format("[batch, k], {}", range));
  }
  config.k = static_cast<int>(*k);
}

void code_run::settle_matrix(wb::code_config& config, std::size_t row) const {
  const wb::code_sizes sizes = wb::sizes_of(config);
  if (row != (decodes_ ? sizes.n : sizes.k))
    wrong_shape(array_, fmt::format("[batch, {}], the {} of the base matrix", decodes_ ? sizes.n : sizes.k,
                                    decodes_ ? "n" : "k"));
  config.k = static_cast<int>(sizes.k);
}

/// A is that of the option or the file; a row holds all transmissions, one unless they are told.
void code_run::settle_transport(wb::code_config& config, std::size_t row) const {
  wb::lte_transport_settings& t = config.transport;
  const bool told = settings_.has("transmissions");
  const std::string said = held("k");
  if (config.k == 0 && !said.empty())
    config.k = static_cast<int>(std::get<std::int64_t>(wb::from_text("integer", said)));
  const int values = static_cast<int>(std::min<std::size_t>(row, 1u << 30));
  if (!decodes_) {
    if (!told) t.transmissions = 1;
    if (t.coded_bits == 0 && t.resource_elements == 0)
      throw usage_error("--coded-bits is missing: the bits of a transmission");
    if (config.k == 0) config.k = values;
    if (config.k != values)
      wrong_shape(array_, fmt::format("[batch, {}] for transport_block_size = {}", config.k, config.k));
    return;
  }
  if (config.k == 0)
    throw usage_error("--transport-block-size is missing: G bits may be those of any A (" + options_.in +
                      " names none)");
  if (t.coded_bits == 0 && t.resource_elements == 0) t.coded_bits = values / (told ? t.transmissions : 1);
  const std::size_t sent = std::max<std::size_t>(wb::sizes_of(config).n, 1);
  if (!told) t.transmissions = static_cast<int>(std::clamp<std::size_t>(row / sent, 1, 1000));
  if (t.transmissions > wb::most_transmissions || row != sent * static_cast<std::size_t>(t.transmissions))
    wrong_shape(array_, fmt::format("[batch, {}], {} bits for each of 1 to {} transmissions",
                                    told ? std::to_string(sent * static_cast<std::size_t>(t.transmissions))
                                         : fmt::format("{} or a multiple", sent),
                                    sent, wb::most_transmissions));
}

/// What is sent of a code block does not say its k: it is that of the option or the file, or of rate 1/2.
void code_run::settle_nr(wb::code_config& config, std::size_t row) const {
  const int values = static_cast<int>(std::min<std::size_t>(row, 1u << 30));
  if (!decodes_) {
    if (config.k == 0) config.k = values;
    if (config.k != values) wrong_shape(array_, fmt::format("[batch, {}] for k = {}", config.k, config.k));
    return;
  }
  if (config.ldpc.n == 0) config.ldpc.n = values;
  if (config.ldpc.n != values)
    wrong_shape(array_, fmt::format("[batch, {}] for n = {}", config.ldpc.n, config.ldpc.n));
  if (config.k != 0) return;
  const std::string said = held("k");
  if (!said.empty()) {
    config.k = static_cast<int>(std::get<std::int64_t>(wb::from_text("integer", said)));
  } else {
    if (row % 2 != 0) wrong_shape(array_, "[batch, n] with n = 2 k, or --k");
    config.k = values / 2;
  }
}

void code_run::settle_polar(wb::code_config& config, std::size_t row) const {
  const std::string said = held("k");
  if (config.k == 0 && !said.empty()) config.k = static_cast<int>(std::strtol(said.c_str(), nullptr, 10));
  if (!decodes_ && config.k == 0) config.k = static_cast<int>(std::min<std::size_t>(row, 65536));
  if (config.k == 0)
    throw usage_error("--k is missing: E bits may be those of any k (" + options_.in + " names none)");
  int& e = config.polar.code.coded_bits;
  if (settings_.find("coded_bits") == nullptr) {
    if (!decodes_)
      throw usage_error("--coded-bits is missing: the bits that are sent for k = " +
                        std::to_string(config.k));
    e = static_cast<int>(std::min<std::size_t>(row, 65536));
  }
  const std::size_t wanted = static_cast<std::size_t>(decodes_ ? e : config.k);
  if (row != wanted)
    wrong_shape(array_, fmt::format("[batch, {}] for k = {}, coded_bits = {}", wanted, config.k, e));
}

void code_run::settle_ldpc(wb::code_config& config, std::size_t row) const {
  const auto fits = [&](const wb::code_sizes& s) { return row == (decodes_ ? s.n : s.k); };
  if (config.ldpc.n == 0) {
    const bool wimax = config.type == wb::code_type::wimax_ldpc;
    for (int n = wimax ? 576 : 648; n <= (wimax ? 2304 : 1944); n += wimax ? 96 : 648) {
      wb::code_config c = config;
      c.ldpc.n = n;
      if (fits(wb::sizes_of(c))) config.ldpc.n = n;
    }
    if (config.ldpc.n == 0)
      wrong_shape(
          array_,
          decodes_ ? fmt::format("[batch, n] with n = {}", wimax ? "576, 672, ... 2304" : "648, 1296 or 1944")
                   : fmt::format("[batch, k] with the k of a code of rate {}, {}", config.ldpc.rate,
                                 wimax ? "n = 576, 672, ... 2304" : "n = 648, 1296 or 1944"));
  }
  const wb::code_sizes sizes = wb::sizes_of(config);
  if (!fits(sizes))
    wrong_shape(array_, fmt::format("[batch, {}] for n = {}, rate {}", decodes_ ? sizes.n : sizes.k, sizes.n,
                                    config.ldpc.rate));
  if (config.k == 0) config.k = static_cast<int>(sizes.k);
}

#endif
