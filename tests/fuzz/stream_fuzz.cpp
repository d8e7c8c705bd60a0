// parse_stream_scenario, of text.
#include "apps/stream_runs.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  answered(size, [&] { (void)parse_stream_scenario(text_of(data, size), "scenario.toml"); });
  return 0;
}
