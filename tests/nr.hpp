#pragma once
// Reference vectors for the tests of 5G NR.
#include <fstream>
#include <iterator>

#include <tests/json.hpp>
#include <tests/ldpc.hpp>
#include <tests/transport.hpp>
#include <warpband/ofdm/fft/fft.hpp>

#ifndef WARPBAND_REFDATA
#define WARPBAND_REFDATA ""
#endif

namespace wb::testing {

/// A file of vectors, or null without the reference data.
inline auto nr_vectors(const std::string& file, const std::string& folder = "nr") {
  std::ifstream in(std::string(WARPBAND_REFDATA) + "/" + folder + "/vectors/" + file);
  return parse_json(in ? std::string(std::istreambuf_iterator<char>(in), {}) : std::string("null"));
}
#define NR_SKIP_WITHOUT(document) \
  if ((document).is_null()) GTEST_SKIP() << "no refdata in '" << WARPBAND_REFDATA << "'"
/// In a test on all backends: skips it where the build lacks the DFTs of transform precoding.
#define NR_SKIP_WITHOUT_FFT()                                       \
  if (!GetParam().name.starts_with("cuda") && !::wb::has_cpu_fft()) \
  GTEST_SKIP() << "this build has no FFT for CPUs (WARPBAND_KISSFFT)"

}  // namespace wb::testing
