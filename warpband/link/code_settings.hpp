#pragma once
// A code and its decoder in the words of those who write them down: keys of scenario files (code.rate,
// decoder.algorithm), options of the command (--rate), attributes of files (`rate`). A setting has the same
// name in all of them; which ones a code has, and what their words mean, follows from its type.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <warpband/link/codec.hpp>

namespace wb {

/// What is left out stays as the code has it.
struct code_settings {
  code_type type = code_type::lte_turbo;
  std::optional<int> k, n;
  std::optional<int> transport_block_size, resource_elements, coded_bits, transmissions, soft_buffer;
  std::optional<std::vector<int>> redundancy_versions;
  std::optional<std::string> rate;
  std::optional<crc_polynomial> crc;
  std::optional<interleaver_coefficients> interleaver;
  std::optional<std::string> termination;  // "zero-tail", "tail-biting"
  std::optional<int> constraint_length;
  std::optional<std::vector<std::string>> generators;  // octal
  std::optional<std::string> feedback;                 // octal
  std::optional<std::string> standard;                 // "802.11", "802.16"
  std::optional<std::string> order;                    // "serial", "streams"
  std::optional<std::string> algorithm;
  std::optional<int> iterations, windows, overlap;  // 0, -1: chosen
  std::optional<float> extrinsic_scale, scale, offset, int8_steps, llr_steps, code_rate;
  std::optional<std::string> schedule, precision, early_stop;
};

/// Calls f(name, setting) with each setting but `type`, `crc` and `interleaver`.
template <class Settings, class F>
void for_each_setting(Settings& s, F f) {
  f("k", s.k), f("n", s.n), f("rate", s.rate);
  f("transport_block_size", s.transport_block_size), f("resource_elements", s.resource_elements);
  f("coded_bits", s.coded_bits), f("transmissions", s.transmissions), f("soft_buffer", s.soft_buffer);
  f("redundancy_versions", s.redundancy_versions);
  f("termination", s.termination), f("constraint_length", s.constraint_length);
  f("generators", s.generators), f("feedback", s.feedback), f("standard", s.standard), f("order", s.order);
  f("algorithm", s.algorithm), f("iterations", s.iterations), f("windows", s.windows);
  f("overlap", s.overlap), f("extrinsic_scale", s.extrinsic_scale), f("scale", s.scale);
  f("offset", s.offset), f("schedule", s.schedule), f("precision", s.precision);
  f("int8_steps", s.int8_steps), f("llr_steps", s.llr_steps), f("early_stop", s.early_stop);
  f("code_rate", s.code_rate);
}

/// The types whose codes have a setting; empty for a name that is none.
std::vector<code_type> types_with(std::string_view setting);

/// The words that a setting of a type takes, its default first; empty where it takes numbers or is not one of
/// the type's.
std::vector<std::string> words_of(code_type type, std::string_view setting);

/// A choice that leaves a setting without a meaning.
struct code_choice {
  std::string setting, value;  // {"type", "none"}, {"algorithm", "min-sum"}
};
/// The choice among `s` with which a setting has no meaning; nothing where it has one.
std::optional<code_choice> idle_with(const code_settings& s, std::string_view setting);

/// The configuration of what is given. Settings without a meaning are not looked at. Throws argument_error,
/// with the setting's name, for a word that the type does not have; `completed` checks the rest.
code_config config_of(const code_settings& s);

/// A word with - where it has _: scenarios take both.
std::string hyphened(std::string word);

}  // namespace wb
