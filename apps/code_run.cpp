#include "code_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include <warpband/core/error.hpp>
#include <warpband/link/result.hpp>

#if WARPBAND_HDF5

namespace {

bool is_ldpc(wb::code_type t) { return t == wb::code_type::wimax_ldpc || t == wb::code_type::wifi_ldpc; }
std::string octal_text(int x) { return fmt::format("{:o}", x); }

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
    if (e.argument() == "early_stop")  // in the words of this command
      throw usage_error("--early-stop = crc is not allowed: expected --crc crc24a or --crc crc24b with it");
    std::vector<std::string> given = options.options;
    if (settings_.precision) given.push_back("--algorithm");  // which may not allow its default
    const std::string setting = e.argument() == "stop"     ? "early_stop"
                                : e.argument() == "f1, f2" ? "interleaver"
                                                           : e.argument();
    refuse_option({setting, e.value(), e.allowed()}, given);
    if (e.argument() != "k" || options.settings.k) throw;
    wrong_shape(array_, fmt::format("a k of the code, but {}", e.what()));
  }
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
  if (c.type == wb::code_type::lte_turbo) {
    a["rate"] = wb::name_of(c.turbo.rate);
    if (c.turbo.interleaver) {
      a["interleaver_f1"] = std::int64_t{c.turbo.interleaver->f1};
      a["interleaver_f2"] = std::int64_t{c.turbo.interleaver->f2};
    }
  } else if (is_ldpc(c.type)) {
    a["rate"] = c.ldpc.rate;
  } else {
    const wb::conv_settings& s = c.conv;
    std::vector<std::string> generators;
    for (const int g : s.generators) generators.push_back(octal_text(g));
    a["rate"] = s.rate;
    a["termination"] = wb::name_of(s.termination);
    a["constraint_length"] = std::int64_t{s.constraint_length};
    a["generators"] = fmt::format("{}", fmt::join(generators, ","));
    a["feedback"] = octal_text(s.feedback);
    a["standard"] = wb::name_of(s.standard);
    a["order"] = wb::name_of(s.order);
  }
  return a;
}

void code_run::add_decoder(wb::hdf5_attributes& a) const {
  const wb::code_config& c = code_->config();
  a["crc"] = wb::name_of(c.crc);
  if (c.type == wb::code_type::lte_turbo) {
    const wb::turbo_decoder_config& d = c.turbo.decoder;
    a["algorithm"] = wb::name_of(d.algorithm);
    a["iterations"] = std::int64_t{d.iterations};
    a["windows"] = std::int64_t{d.windows};
    a["overlap"] = std::int64_t{d.overlap};
    a["extrinsic_scale"] = double{d.extrinsic_scale};
    a["early_stop"] = wb::name_of(d.stop);
    a["precision"] = wb::name_of(d.precision);
    if (d.precision == wb::turbo_precision::int16) a["llr_steps"] = double{d.llr_steps};
  } else if (is_ldpc(c.type)) {
    const wb::ldpc_decoder_config& d = c.ldpc.decoder;
    a["algorithm"] = wb::name_of(d.algorithm);
    if (d.algorithm == wb::ldpc_algorithm::normalised_min_sum) a["scale"] = double{d.scale};
    if (d.algorithm == wb::ldpc_algorithm::offset_min_sum) a["offset"] = double{d.offset};
    a["iterations"] = std::int64_t{d.iterations};
    a["schedule"] = wb::name_of(d.schedule);
    a["precision"] = wb::name_of(d.precision);
    if (d.precision == wb::ldpc_precision::int8) a["int8_steps"] = double{d.int8_steps};
    a["early_stop"] = d.early_stop ? "syndrome" : "none";
  } else {
    a["algorithm"] = wb::name_of(c.conv.algorithm);
    if (c.conv.termination == wb::conv_ending::tail_biting) a["overlap"] = std::int64_t{c.conv.overlap};
  }
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
  if (options_.code.empty() && said.empty())
    throw usage_error("a code is missing: --code lte-turbo, wimax-ldpc, wifi-ldpc or conv (" + options_.in +
                      " names none)");
  if (!options_.code.empty() && !said.empty() && options_.code != said)
    throw wb::file_error(options_.in, "is of code " + said + ", not " + options_.code);
  const std::string name = options_.code.empty() ? said : options_.code;
  const std::vector<std::string> names = code_names();
  const auto i = std::find(names.begin(), names.end(), name);
  if (i == names.end())
    throw wb::file_error(options_.in,
                         "is of code \"" + name + "\": expected lte-turbo, wimax-ldpc, wifi-ldpc or conv");
  settings_.type = all_codes[static_cast<std::size_t>(i - names.begin())];
}

void code_run::check_meanings() const {
  const auto check = [&](const std::string& setting) {
    const std::string option = option_of(setting);
    if (std::find(options_.options.begin(), options_.options.end(), option) == options_.options.end()) return;
    if (const auto choice = wb::idle_with(settings_, setting))
      throw usage_error(
          fmt::format("{} has no meaning with {} {}", option, option_of(choice->setting), choice->value));
  };
  check("interleaver");
  wb::for_each_setting(settings_, [&](const char* setting, const auto& value) {
    check(setting);
    if constexpr (std::is_same_v<decltype(value), const std::optional<std::string>&>) {
      const std::vector<std::string> words = wb::words_of(settings_.type, setting);
      if (value && !words.empty() && std::find(words.begin(), words.end(), *value) == words.end())
        throw usage_error(fmt::format("{} {} has no meaning with --code {}: expected {}", option_of(setting),
                                      *value, wb::name_of(settings_.type), fmt::join(words, ", ")));
    }
  });
  if (options_.soft && settings_.type == wb::code_type::conv &&
      settings_.algorithm.value_or("viterbi") == "viterbi")
    throw usage_error(
        "--soft: the Viterbi algorithm has no soft output: add --algorithm max-log-map or log-map");
}

void code_run::settle_settings() {
  const auto said_of = [&](const char* setting) {
    const std::vector<wb::code_type> types = wb::types_with(setting);
    return std::find(types.begin(), types.end(), settings_.type) == types.end() ? std::string()
                                                                                : held(setting);
  };
  const auto disagree = [&](const char* setting, const std::string& said, const std::string& given) {
    throw wb::file_error(options_.in, fmt::format("is of {} {}, not {}", setting, said, given));
  };
  const auto odd = [&](const char* setting, const std::string& said, const std::string& expected) {
    throw wb::file_error(options_.in,
                         fmt::format("its attribute {} is \"{}\": expected {}", setting, said, expected));
  };
  const auto number = [&](const char* setting, std::optional<int>& value) {
    const std::string said = said_of(setting);
    if (said.empty()) return;
    const auto n = decimal(said);
    if (!n || *n < 1 || *n > INT32_MAX) odd(setting, said, "an integer above 0");
    if (value && *value != *n) disagree(setting, said, std::to_string(*value));
    value = static_cast<int>(*n);
  };
  const auto word = [&](const char* setting, std::optional<std::string>& value) {
    const std::string said = said_of(setting);
    if (said.empty()) return;
    const std::vector<std::string> words = wb::words_of(settings_.type, setting);
    if (std::find(words.begin(), words.end(), said) == words.end() &&
        !(settings_.type == wb::code_type::conv && said.starts_with("1/")))
      odd(setting, said, fmt::format("{}", fmt::join(words, ", ")));
    if (value && *value != said) disagree(setting, said, *value);
    value = said;
  };
  if (is_ldpc(settings_.type)) number("n", settings_.n);
  word("rate", settings_.rate);
  word("termination", settings_.termination);
  word("standard", settings_.standard);
  word("order", settings_.order);
  number("constraint_length", settings_.constraint_length);
  if (const std::string said = said_of("generators"); !said.empty()) {
    const auto list = octal_list(said);
    if (!list) odd("generators", said, "octal numbers, such as 133,171");
    if (settings_.generators && *settings_.generators != *list)
      disagree("generators", said, fmt::format("{}", fmt::join(*settings_.generators, ",")));
    settings_.generators = list;
  }
  if (const std::string said = said_of("feedback"); !said.empty()) {
    const auto value = octal_number(said);
    if (!value) odd("feedback", said, "an octal number");
    if (settings_.feedback && *settings_.feedback != *value) disagree("feedback", said, *settings_.feedback);
    settings_.feedback = value;
  }
  settle_interleaver();
}

void code_run::settle_interleaver() {
  const std::string f1 = held("interleaver_f1"), f2 = held("interleaver_f2");
  if (settings_.type != wb::code_type::lte_turbo || (f1.empty() && f2.empty())) return;
  const auto n1 = decimal(f1), n2 = decimal(f2);
  const auto fits = [](const auto& n) { return n && *n >= INT32_MIN && *n <= INT32_MAX; };
  if (!fits(n1) || !fits(n2))
    throw wb::file_error(options_.in, "its attributes interleaver_f1 and interleaver_f2 are no two integers");
  const wb::interleaver_coefficients both{static_cast<int>(*n1), static_cast<int>(*n2)};
  const auto& given = settings_.interleaver;
  if (given && (given->f1 != both.f1 || given->f2 != both.f2))
    throw wb::file_error(options_.in, fmt::format("is of interleaver {},{}, not {},{}", both.f1, both.f2,
                                                  given->f1, given->f2));
  settings_.interleaver = both;
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
