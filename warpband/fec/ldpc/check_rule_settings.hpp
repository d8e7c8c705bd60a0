#pragma once
// Settings of what a check node computes, which all LDPC decoders have.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <warpband/core/half.hpp>
#include <warpband/core/numbers_or_file.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>
#include <warpband/fec/ldpc/ldpc_factors.hpp>

namespace wb {

/// algorithm, scale and offset of a configuration and their lists, then `others`. `limits_of_scale` ends the
/// text of scale.
template <class Config>
std::vector<setting_of<Config>> with_check_rule(const std::string& limits_of_scale,
                                                std::vector<setting_of<Config>> others) {
  using algorithm = ldpc_algorithm;
  std::vector<setting_of<Config>> settings{
      words<Config, algorithm>(
          "algorithm", &Config::algorithm,
          {{"normalised-min-sum", algorithm::normalised_min_sum},
           {"min-sum", algorithm::min_sum},
           {"offset-min-sum", algorithm::offset_min_sum},
           {"sum-product", algorithm::sum_product}},
          "sum-product is exact belief propagation; the min-sum algorithms approximate it."),
      number("scale", &Config::scale, 0, 1, "Factor on the messages of checks." + limits_of_scale, true)
          .only_with("algorithm", {"normalised-min-sum"}),
      number("offset", &Config::offset, 0, 8,
             "What is subtracted from the magnitudes of the messages of checks, in units of LLRs.")
          .only_with("algorithm", {"offset-min-sum"})};
  for (setting_of<Config>& s : others) settings.push_back(std::move(s));
  settings.push_back(numbers_or_file("factors", &Config::factors, 0, 1, most_ldpc_factors,
                                     "In place of scale, a factor for each iteration. The last one holds for "
                                     "all further iterations. A file is JSON, as docs/ldpc.md describes it." +
                                         limits_of_scale,
                                     "1 to 1000 numbers from 0 to 1, or a file of them",
                                     [](const std::string& path) { return read_ldpc_factors(path).factors; })
                         .only_with("algorithm", {"normalised-min-sum"})
                         .left_out_by_default());
  settings.push_back(numbers_or_file("offsets", &Config::offsets, 0, 8, most_ldpc_factors,
                                     "In place of offset, one for each iteration. The last one holds for all "
                                     "further iterations. A file is JSON, as docs/ldpc.md describes it.",
                                     "1 to 1000 numbers from 0 to 8, or a file of them",
                                     [](const std::string& path) { return read_ldpc_factors(path).offsets; })
                         .only_with("algorithm", {"offset-min-sum"})
                         .left_out_by_default());
  return settings;
}

/// Throws argument_error for a factor that is given beside a list, and for what int8 does not allow.
template <class Config>
void check_corrections(const Config& c, bool int8) {
  const Config defaults;
  const auto alone = [](const char* name, float value, float initial, const char* list) {
    if (value != initial) throw argument_error(name, as_message(value), std::string("none with ") + list);
  };
  if (c.algorithm == ldpc_algorithm::offset_min_sum && !c.offsets.empty())
    alone("offset", c.offset, defaults.offset, "offsets");
  if (c.algorithm != ldpc_algorithm::normalised_min_sum) return;
  if (!c.factors.empty()) alone("scale", c.scale, defaults.scale, "factors");
  const auto whole = [](double x) { return 8 * x == std::floor(8 * x); };
  if (!int8) return;
  if (c.factors.empty() && !whole(c.scale))
    throw argument_error("scale", as_message(c.scale), "a multiple of 0.125 with int8");
  for (std::size_t i = 0; i < c.factors.size(); i++)
    if (!whole(c.factors[i]))
      throw argument_error("factors[" + std::to_string(i) + "]", as_message(setting_value(c.factors[i])),
                           "a multiple of 0.125 with int8");
}

/// What a configuration does to a minimum: one correction for all iterations, or one for each.
/// steps: of an offset in an LLR of 1, with int8.
template <class Config>
std::vector<ldpc_correction> corrections_of(const Config& c, std::optional<float> steps) {
  const bool normalised = c.algorithm == ldpc_algorithm::normalised_min_sum,
             offset = c.algorithm == ldpc_algorithm::offset_min_sum;
  const auto correction = [&](float scale, float subtracted) {
    if (steps) subtracted = std::min(std::nearbyint(subtracted * *steps), 127.f);
    const auto twice = [](float x) { return 0x10001u * to_half_bits(x); };
    return ldpc_correction{scale, subtracted, static_cast<std::int32_t>(8 * scale), twice(scale),
                           twice(1536.f + subtracted)};
  };
  std::vector<ldpc_correction> corrections;
  if (normalised)
    for (const double x : c.factors) corrections.push_back(correction(static_cast<float>(x), 0.f));
  if (offset)
    for (const double x : c.offsets) corrections.push_back(correction(1.f, static_cast<float>(x)));
  if (corrections.empty())
    corrections.push_back(correction(normalised ? c.scale : 1.f, offset ? c.offset : 0.f));
  return corrections;
}

}  // namespace wb
