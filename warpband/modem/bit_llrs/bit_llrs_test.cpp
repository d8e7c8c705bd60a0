// LLRs of received bits. Batches, layouts and backends are tested by tests/contract_test.cpp.
#include <gtest/gtest.h>

#include <tests/on_backends.hpp>
#include <warpband/modem/bit_llrs/bit_llrs.hpp>

namespace wb {
namespace bit_llrs_test {

class bit_llrs_on : public testing::on_backend {};
WB_ON_ALL_BACKENDS(bit_llrs_on);

TEST_P(bit_llrs_on, each_value_has_its_llr_and_all_others_are_erasures) {
  const auto in = testing::on_device(exec(), std::vector<std::uint8_t>{0, 1, 2, 77, 255, 0}, 6, 1);
  auto out = exec().make<float>(6, 1);
  llrs_of_bits(exec(), {1.5f, -2.5f, 0.25f}, in, out);
  EXPECT_EQ(exec().to_host(out), (std::vector<float>{1.5f, -2.5f, 0.25f, 0.25f, 0.25f, 1.5f}));
}

TEST(bit_llrs, wrong_shapes_are_named) {
  const auto exec = testing::open_scalar();
  const auto received = exec->make_zeros<std::uint8_t>(5, 1);
  auto llr = exec->make<float>(4, 1);
  EXPECT_EQ(testing::blamed([&] { llrs_of_bits(*exec, {}, received, llr); }), "llr");
}

}  // namespace bit_llrs_test
}  // namespace wb
