// load_result, of a file; what it takes is written and read again.
#include <warpband/link/result.hpp>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const memory_file input(data, size);
  answered([&] {
    const std::string again = wb::result_json(wb::load_result(input.path()));
    const memory_file written(reinterpret_cast<const std::uint8_t*>(again.data()), again.size());
    (void)wb::load_result(written.path());
  });
  return 0;
}
