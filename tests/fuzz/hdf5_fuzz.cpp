// hdf5_reader: every array is described and read, every attribute that commands ask for is too.
#include <warpband/io/hdf5.hpp>

#include "fuzz.hpp"
#include "memory_file.hpp"

namespace {

template <class T>
void read(const wb::hdf5_reader& file, const std::string& name) {
  answered([&] {
    const wb::hdf5_array a = file.describe(name);
    std::size_t row = 1;
    for (std::size_t i = 1; i < a.shape.size(); i++) row *= a.shape[i];
    const std::size_t rows = a.shape.empty() ? 1 : std::min<std::size_t>(a.shape[0], 3);
    if (row > (std::size_t{1} << 20)) return;
    std::vector<T> values(rows * row);
    (void)file.expect<T>(name, a.shape.size());
    file.read(name, 0, rows, values.data());
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const memory_file input(data, size);
  answered([&] {
    const wb::hdf5_reader file(input.path());
    std::vector<std::string> owners{""};
    answered([&] {
      for (const std::string& name : file.names()) owners.push_back(name);
    });
    for (const std::string& owner : owners)
      for (const char* name : {"code", "k", "n", "rate", "qam", "MATLAB_class", "FFT_SIZE"}) {
        answered([&] { (void)file.attribute(owner, name); });
        answered([&] { (void)file.attribute_numbers(owner, name); });
      }
    for (const std::string& name : owners) {
      if (name.empty()) continue;
      read<std::uint8_t>(file, name);
      read<std::int16_t>(file, name);
      read<float>(file, name);
      read<std::complex<float>>(file, name);
    }
    answered([&] { (void)file.describe("no such array"); });
  });
  return 0;
}
