// Records of `warpband bench`, as `bench compare` reads them.
#include <bench/compare.hpp>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const wb::bench::record_text record{"record.json", text_of(data, size)};
  answered(size, [&] { (void)wb::bench::compare(record, record); });
  return 0;
}
