// load_stream_scenario, of a file.
#include "apps/stream_scenario.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const memory_file input(data, size);
  answered([&] { (void)load_stream_scenario(input.path()); });
  return 0;
}
