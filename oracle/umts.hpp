#pragma once

#include <vector>

namespace oracle {

/// The interleaver of the UMTS turbo code as 3GPP TS 25.212 §4.2.3.2.3 describes it, with its table 2 as
/// printed: bit i into encoder 2 is input bit umts(k)[i]. Throws std::invalid_argument unless k is 40..5114.
std::vector<int> umts(int k);

}  // namespace oracle
