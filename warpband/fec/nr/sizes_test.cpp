// Every transport block size that an allocation of TS 38.214 can have, there and back.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <utility>

#include <tests/nr.hpp>
#include <warpband/fec/nr/tbs.hpp>
#include <warpband/fec/nr/transport.hpp>

namespace wb {
namespace sizes_test {

using namespace testing;

/// An allocation that has a size.
struct sent_on {
  nr_mcs mcs;
  int elements = 0, layers = 0;
  int coded_bits() const { return elements * mcs.modulation_order * layers; }
  /// Whether a tenth of the coded bits is parity.
  bool roomy(int size) const { return 9 * coded_bits() > 10 * (size + 24); }
};
/// Sizes with their base graphs, and what each is sent on.
using size_list = std::map<std::pair<int, int>, sent_on>;

/// All sizes of 1 to 275 resource blocks of 1 to 156 elements each, 1 to 4 layers and all indices of the four
/// MCS tables. Of the allocations of a size the roomy one with the fewest coded bits; where none is roomy,
/// the one with the most.
size_list every_size() {
  std::set<int> elements;
  for (int blocks = 1; blocks <= 275; blocks++)
    for (int per_block = 1; per_block <= 156; per_block++) elements.insert(blocks * per_block);
  std::set<std::pair<int, double>> schemes;
  for (int table = 1; table <= 4; table++)
    for (int i = 0; i < 32; i++)
      if (const nr_mcs mcs = nr_mcs_of(table, i); mcs.rate_x1024 > 0)
        schemes.emplace(mcs.modulation_order, mcs.rate_x1024);
  size_list sizes;
  for (const auto& [order, rate_x1024] : schemes)
    for (int layers = 1; layers <= 4; layers++)
      for (const int count : elements) {
        const sent_on candidate{{order, rate_x1024}, count, layers};
        const int size = nr_transport_block_size(count, candidate.mcs, layers);
        sent_on& on = sizes[{size, nr_base_graph(size, candidate.mcs.code_rate())}];
        const bool fewer = candidate.coded_bits() < on.coded_bits();
        if (candidate.roomy(size) ? !on.roomy(size) || fewer : !on.roomy(size) && !fewer) on = candidate;
      }
  return sizes;
}

/// Those above 3824 bits by the formula of 38.214 5.1.3.2: of each value that N_info is rounded to, up to
/// `limit` bits. low_rate: R <= 1/4.
std::set<int> sizes_of_formula(int limit, bool low_rate) {
  std::set<int> sizes;
  for (int n = 6; n <= 15; n++)
    for (int k = 32; k <= 64; k++) {
      const int info = k << n, bits = info + 24;
      if (info < 3840) continue;
      const int largest = low_rate ? 3816 : info > 8424 ? 8424 : bits;
      const int blocks = (bits + largest - 1) / largest;
      const int size = 8 * blocks * ((bits + 8 * blocks - 1) / (8 * blocks)) - 24;
      if (size <= limit) sizes.insert(size);
    }
  return sizes;
}

TEST(nr_sizes, are_all_that_the_formula_has) {
  std::set<int> of_graph[2], shorter;
  for (const auto& [key, on] : every_size()) {
    EXPECT_GT(0.95 * on.coded_bits(), key.first) << "A " << key.first << ", base graph " << key.second;
    (key.first > 3824 ? of_graph[key.second - 1] : shorter).insert(key.first);
  }
  for (const int graph : {1, 2}) {
    const std::set<int>& sizes = of_graph[graph - 1];
    EXPECT_EQ(sizes, sizes_of_formula(*sizes.rbegin(), graph == 2));
    EXPECT_EQ(sizes.size(), graph == 1 ? 277U : 142U);
  }
  EXPECT_EQ(shorter.size(), 93U);
  EXPECT_EQ(*of_graph[0].rbegin(), 1573768);
}

class nr_sizes_on : public on_backend {};
WB_ON_ALL_BACKENDS(nr_sizes_on);

/// Where code is slow, of those above 3824 bits only some.
TEST_P(nr_sizes_on, come_back) {
  std::mt19937_64 random(11);
  const bool slow = GetParam().name == "scalar" || small_scale();
  int longer = 0;
  for (const auto& [key, on] : every_size()) {
    const auto [size, graph] = key;
    if (slow && size > 3824 && (size > 30000 || longer++ % 16 != 0)) continue;
    const nr_transport_config config{.transport_bits = size,
                                     .coded_bits = on.coded_bits(),
                                     .modulation_order = on.mcs.modulation_order,
                                     .layers = on.layers,
                                     .code_rate = on.mcs.code_rate(),
                                     .scrambling = size};
    const bits_t sent = random_bits_of(static_cast<std::size_t>(size), random);
    auto coded = exec().make<std::uint8_t>(1, static_cast<std::size_t>(config.coded_bits));
    nr_transport_encoder encoder(config);
    encoder.run(exec(), given(exec(), sent, 1), 0, coded);
    nr_transport_decoder decoder(config);
    ASSERT_EQ(decoder.segmentation().block.base_graph, graph);
    decoder.combine(exec(), given(exec(), noise_free(exec().to_host(coded), 6.f), 1), 0);
    auto bits = exec().make<std::uint8_t>(1, sent.size()), ok = exec().make<std::uint8_t>(1, 1);
    decoder.decode(exec(), {.bits = bits, .ok = ok});
    ASSERT_EQ(exec().to_host(ok), bits_t{1}) << "A " << size << ", G " << config.coded_bits;
    ASSERT_TRUE(exec().to_host(bits) == sent) << "A " << size << ", G " << config.coded_bits;
  }
}

}  // namespace sizes_test
}  // namespace wb
