#pragma once
// polar, 3GPP TS 38.212 §5.3.1 and general polar codes: k = A bits without the CRC, which the code adds, to n
// = E bits.
#include <string>
#include <vector>

#include <warpband/code/code_kind.hpp>
#include <warpband/fec/polar/polar.hpp>

namespace wb {

struct polar_code_settings {
  polar_config code = {};
  std::string folder = {};            // where a relative code.reliability_file starts
  std::vector<int> reliability = {};  // what `completed` has read of that file
  polar_decoder_config decoder = {};
  bool operator==(const polar_code_settings&) const = default;
};

code_kind polar_code_kind();

}  // namespace wb
