#pragma once
// Settings of what a check node computes, which all LDPC decoders have.
#include <string>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>

namespace wb {

/// algorithm, scale and offset of a configuration, then `others`. `limits_of_scale` ends the text of scale.
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
  return settings;
}

}  // namespace wb
