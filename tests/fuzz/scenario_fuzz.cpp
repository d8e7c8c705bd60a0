// parse_scenario, of text.
#include <warpband/link/scenario.hpp>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  answered(size, [&] { (void)wb::parse_scenario(text_of(data, size), "scenario.toml"); });
  return 0;
}
