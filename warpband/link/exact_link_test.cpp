// Links whose detectors find the same: their counts are the same.
#include <algorithm>

#include <tests/link.hpp>
#include <tests/on_backends.hpp>
#include <warpband/link/chain.hpp>

namespace wb {
namespace exact_link_test {

using namespace testing;

class exact_link_on : public on_backend {};
WB_ON_ALL_BACKENDS(exact_link_on);

TEST_P(exact_link_on, sphere_counts_the_errors_of_exhaustive_search) {
  const scenario s = load_scenario(std::string(WARPBAND_SOURCE_DIR) + "/curves/sphere_4x4_16qam.toml");
  const auto counts_of = [&](const std::string& label) {
    for (const curve_config& c : s.curves)
      if (c.label == label) {
        link_chain chain(c.link, exec());
        return chain.run(0, small_scale() ? 4 : 30, 12);
      }
    throw std::invalid_argument(label);
  };
  const frame_counts exhaustive = counts_of("ML, no code"), tree = counts_of("sphere, hard output, no code");
  EXPECT_GT(total(exhaustive.bit_errors), 0);
  EXPECT_EQ(tree.bit_errors, exhaustive.bit_errors);
  // Soft output: which frames fail. How many bits a decoder leaves wrong in them hangs on the last digits.
  const auto fails = [](const frame_counts& counts) {
    std::vector<bool> frames;
    for (const std::int32_t errors : counts.bit_errors) frames.push_back(errors != 0);
    return frames;
  };
  const std::vector<bool> expected = fails(counts_of("ML"));
  EXPECT_GT(std::count(expected.begin(), expected.end(), true), 0);
  EXPECT_EQ(fails(counts_of("sphere")), expected);
}

}  // namespace exact_link_test
}  // namespace wb
