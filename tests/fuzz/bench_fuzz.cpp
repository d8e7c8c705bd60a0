// Records of `warpband bench`, as `bench compare` reads them.
#include <bench/compare.hpp>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const memory_file input(data, size);
  answered([&] { (void)wb::bench::compare(input.path(), input.path()); });
  return 0;
}
