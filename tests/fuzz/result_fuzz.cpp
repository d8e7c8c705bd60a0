// parse_result, of text; what it takes is written and read again.
#include <warpband/link/result.hpp>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  answered(size, [&] {
    const std::string again = wb::result_json(wb::parse_result(text_of(data, size), "result.json"));
    (void)wb::parse_result(again, "result.json");
  });
  return 0;
}
