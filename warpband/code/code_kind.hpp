#pragma once
// Channel codes by name. A kind of code is one file that describes it, and one line in codes.cpp:
//
//   code_config c("lte-turbo", {{"k", 1024}, {"iterations", 8}});
//   c.edit<turbo_settings>().rate = turbo_rate::half;    // the same, typed: code/turbo.hpp
//   const auto code = make_codec(c);                     // code->encode(...), code->decode(...)
//
// A program adds its kinds with codes().add(kind) before it reads a scenario. The command, scenarios, results
// and links use a code only through its kind.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <warpband/code/codec.hpp>
#include <warpband/code/soft_decoder.hpp>
#include <warpband/core/box.hpp>
#include <warpband/core/kind_list.hpp>
#include <warpband/fec/crc/crc.hpp>

namespace wb {

/// Values in an order, under their names; those of a part are "interleaver.f1".
using named_values = std::vector<std::pair<std::string, setting_value>>;

/// The rows of an array, from which settings of a code follow. A row has k bits or n LLRs.
struct code_rows {
  bool decodes = false;       // rows are LLRs, else bits
  std::size_t values = 0;     // of a row
  std::optional<int> k{};     // if it is known from elsewhere
  setting_values given = {};  // settings that the user gave

  bool has(std::string_view setting) const { return given.find(setting) != given.end(); }
  /// Throws argument_error of "rows": what shape was expected.
  [[noreturn]] void refuse(const std::string& expected) const {
    throw argument_error("rows", std::to_string(values), expected);
  }
  /// Throws argument_error with an empty value: the setting is missing, and why.
  [[noreturn]] void miss(const std::string& setting, const std::string& why) const {
    throw argument_error(setting, "", why);
  }
};

/// A kind of channel code. Functions get its settings in a box: the type that `initial` has.
struct code_kind {
  std::string name;  // "wimax-ldpc"
  std::string text;  // what it is, and its options: for `warpband encode --help`
  /// Each of group "code" or "decoder". Links know two of them by name: "crc", the CRC at the end of the k
  /// bits, and "iterations", the most iterations of the decoder on a codeword.
  std::vector<setting_of<box>> settings;
  box initial;
  /// The settings with everything chosen that they leave open. Throws argument_error, file_error.
  std::function<box(const box&)> complete;
  /// Also of settings that leave things open. Throws argument_error.
  std::function<code_sizes(const box&)> sizes;
  /// Of completed settings. None: frames are sent uncoded, n = k.
  std::function<std::unique_ptr<codec>(const box&)> make = {};

  // What a kind may leave out.
  /// The k for which the code sends n bits, whatever k the settings have. Nothing if no k does.
  std::function<std::optional<std::size_t>(const box&, std::size_t n)> k_of = {};
  /// The CRC at the end of the k bits.
  std::function<std::optional<crc_polynomial>(const box&)> crc = {};
  /// A decoder with extrinsic LLRs, of completed settings: for loops of detector and decoder.
  std::function<std::unique_ptr<soft_decoder>(const box&)> make_soft = {};
  /// Whether these settings have such a decoder. None: all have.
  std::function<bool(const box&)> gives_extrinsic = {};
  /// The decoder that has no soft output, "the Viterbi algorithm"; "" where it has.
  std::function<std::string(const box&)> without_soft = {};
  /// Of transport blocks, which a link sends again until their CRCs hold.
  std::function<harq_rule(const box&)> harq = {};
  std::function<std::unique_ptr<transport_coder>(const box&)> make_transport = {};
  /// The settings for a number of bits per symbol and of layers. None: they do not depend on them.
  std::function<box(const box&, int modulation_order, int layers)> mapped = {};
  /// The settings with relative paths of files starting at this folder.
  std::function<box(const box&, const std::string& folder)> in_folder = {};
  /// The settings from which k follows; none: it is free.
  std::vector<std::string> k_follows_from = {};
  /// Settings that `warpband choose` may try, these among them. Those that are not allowed are skipped. None:
  /// these alone.
  std::function<std::vector<box>(const box&, bool on_device)> candidates = {};
  /// Entries of the code in results, without its type and rate. None: k, crc, n, rate_name and its other
  /// settings.
  std::function<named_values(const box&)> described = {};
  /// Work for a bit, in iterations of the LTE turbo code. None: the most iterations.
  std::function<std::uint64_t(const box&)> passes = {};
  /// The settings that match rows of an array. None: k follows from the rows, or, if "k" is given, the rows
  /// must match it.
  std::function<box(const box&, const code_rows&)> fit = {};
};

/// All kinds: those of the library in the order in which pages name them, then those of the program.
kind_list<code_kind>& codes();

struct code_config;

/// Queues the decoding of llr [batch, n], as codec::decode does. `soft` is never asked for.
using decode_function = std::function<void(executor&, view<const float> llr, const decoder_output&)>;

/// A decoder that replaces the built-in one of a code; the code still encodes. Not of transport blocks.
struct decoder_kind {
  std::string name;
  std::string text;             // what it does, a sentence
  int most_iterations = 65535;  // that it may report for a codeword
  /// Of a completed code, whose k and n `sizes_of` gives. Throws argument_error.
  std::function<decode_function(const code_config&)> make;
};

/// Those of the program: the library has none. While there are any, decoder.type is a key of scenarios.
kind_list<decoder_kind>& decoders();

/// A code: its kind and its settings.
struct code_config {
  std::string type;     // the name of a kind
  box settings;         // of the type that this kind has
  std::string decoder;  // the name of a decoder_kind that decodes; empty: the code's

  /// lte-turbo.
  code_config() : code_config("lte-turbo") {}
  /// What the kind has where nothing is given. Throws argument_error for a name that is none.
  explicit code_config(std::string_view type);
  code_config(std::string_view type, box settings);
  /// Settings that are left out keep their defaults. Those that have no meaning are ignored. Throws
  /// argument_error, with the setting's name, for a value that is not allowed. `completed` checks settings
  /// that depend on each other.
  code_config(std::string_view type, const setting_values& given);

  const code_kind& kind() const { return codes().get(type); }
  template <class T>
  const T& get() const {
    return settings.get<T>();
  }
  /// To be changed before the configuration is copied.
  template <class T>
  T& edit() {
    return settings.edit<T>();
  }
  /// Throws argument_error for a value that is not allowed, or a setting that the kind lacks.
  void set(std::string_view setting, const setting_value& value);
  /// Nothing where the kind lacks the setting or it is left open.
  setting_value value_of(std::string_view setting) const;

  bool operator==(const code_config&) const = default;
};

/// The settings of a kind, as those of a configuration: to set one makes the configuration one of the kind.
std::vector<setting_of<code_config>> settings_of(const code_kind& kind);

/// The configuration with everything chosen that it leaves open. Throws argument_error for what is not
/// allowed, file_error for a file that is not.
code_config completed(const code_config& config);
/// Throws argument_error for what is not allowed, and for "none".
std::unique_ptr<codec> make_codec(const code_config& config);
/// Of a configuration that may leave things open; uncoded n = k. Throws argument_error for settings of which
/// no code can be made.
code_sizes sizes_of(const code_config& config);
/// The k for which the code sends n bits, whatever k the settings have. Nothing if no k does.
std::optional<std::size_t> k_of_coded_bits(const code_config& config, std::size_t n);
/// The CRC at the end of the k bits.
std::optional<crc_polynomial> crc_of(const code_config& config);
/// The most iterations that a decoder does, of transport blocks for each code block: without iterations 1,
/// uncoded 0.
int most_iterations(const code_config& config);
/// With so many iterations, if the decoder has any.
code_config with_iterations(code_config config, int iterations);
/// Whether frames are sent as they are.
bool is_uncoded(const code_config& config);
/// Whether frames are transport blocks, which a link sends again until their CRCs hold; and how. Throws
/// argument_error where they are not.
bool is_transport(const code_config& config);
harq_rule harq_of(const code_config& config);
/// Whether the decoder of a code gives extrinsic LLRs of its coded bits.
bool gives_extrinsic(const code_config& config);
/// The configuration for symbols of so many bits on so many layers.
code_config mapped_to(code_config config, int modulation_order, int layers);
/// What `warpband choose` may try in its place.
std::vector<code_config> decoder_candidates(const code_config& base, bool on_device);
/// Work for a bit, in iterations of the LTE turbo code.
std::uint64_t passes_of(const code_config& config);
/// What results hold of the code but for its type and rate.
named_values described(const code_config& config);
/// The configuration of rows of an array. Throws argument_error as code_rows does.
code_config fit_to_rows(code_config config, const code_rows& rows);

// ---- for descriptions of kinds

/// Settings of a code, then those of its decoder, for a box of T.
template <class T>
std::vector<setting_of<box>> code_and_decoder(std::vector<setting_of<T>> code,
                                              std::vector<setting_of<T>> decoder) {
  for (setting_of<T>& s : code) s.group = "code";
  for (setting_of<T>& s : decoder) s.group = "decoder";
  std::move(decoder.begin(), decoder.end(), std::back_inserter(code));
  return boxed(code);
}
/// The settings with each of these decoders, for the kind's `candidates`.
template <class T, class Decoder>
std::vector<box> with_decoders(T settings, const std::vector<Decoder>& decoders) {
  std::vector<box> candidates;
  for (const Decoder& decoder : decoders) {
    settings.decoder = decoder;
    candidates.emplace_back(settings);
  }
  return candidates;
}
/// Names of the CRCs that the k bits may end with: "none", "crc24a", "crc24b".
const std::vector<std::string>& crc_names();
std::string crc_name(const std::optional<crc_polynomial>& crc);
std::optional<crc_polynomial> crc_named(const setting_value& name);
template <class T>
setting_of<T> crc_setting(std::optional<crc_polynomial> T::*member) {
  return {"crc",
          "word",
          among(crc_names()),
          "The last 24 of the k bits are this CRC of the others. Its bits count as information.",
          crc_names(),
          [=](T& c, const setting_value& v) { c.*member = crc_named(v); },
          [=](const T& c) -> setting_value { return crc_name(c.*member); }};
}
/// The settings of a group and their values, as results hold them.
named_values values_in_results(const std::vector<setting_of<box>>& settings, const box& initial,
                               const box& content, std::string_view group);
/// Tells contents of files apart in results (FNV-1a): eight hexadecimal digits.
std::string content_id(const std::vector<std::int32_t>& numbers);
/// The usual `fit`: k follows from the rows. `n_expected` and `k_expected` end the messages about rows of n
/// LLRs or k bits that no k matches.
box fit_k(const code_kind& kind, const box& content, const code_rows& rows, const std::string& n_expected,
          const std::string& k_expected);

}  // namespace wb
