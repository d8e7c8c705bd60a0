// Exchanges over antennas that are not a channel at all: what comes back is set by the test.
#include <gtest/gtest.h>

#include <tests/on_backends.hpp>
#include <warpband/link/stages.hpp>

namespace stages_test {

using namespace wb;

/// Gives every bit back as an LLR of +-4, from `clean` on of its transmissions, and the opposite before.
class wire final : public antenna_system {
 public:
  wire(const link_config& c, int clean) : size_(c), clean_(clean) {}
  std::size_t bytes_per_frame() const noexcept override { return 1; }
  void allocate(executor&, std::size_t) override {}
  samples send(executor& exec, const std::uint8_t* bits, const frame_batch& batch) override {
    const std::size_t n = batch.frames * size_.codewords * size_.padded;
    std::vector<std::uint8_t> sent(n);
    exec.download(sent.data(), bits, n);
    exec.sync();
    llr_.resize(n);
    for (std::size_t i = 0; i < n; i++)
      llr_[i] = (sent[i] != 0) == (batch.transmission >= clean_) ? -4.f : 4.f;
    last = batch;
    return {};
  }
  void detect(executor& exec, std::size_t frames, const heard& out) override {
    exec.upload(out.llr, llr_.data(), frames * size_.codewords * size_.padded * sizeof(float));
    exec.sync();
  }
  frame_batch last;

 private:
  std::vector<float> llr_;
  frame_sizes size_;
  int clean_;
};

frame_counts counts_over(executor& exec, const link_config& config, wire& antennas, std::size_t frames) {
  const link_config c = completed(config);
  const auto exchange = make_exchange(c);
  exchange->allocate(exec, frames);
  frame_counts counts;
  exchange->run(exec, antennas, {.first = 7, .frames = frames, .point_db = 3}, counts);
  return counts;
}

class stages : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(stages);

TEST_P(stages, an_uncoded_exchange_counts_what_the_antennas_give) {
  code_config code;
  code.type = code_type::none;
  code.k = 37;
  const link_config c = completed({.code = code, .qam = 16});
  wire same(c, 0), opposite(c, 1);
  EXPECT_EQ(counts_over(exec(), c, same, 5).bit_errors, std::vector<std::int32_t>(5, 0));
  EXPECT_EQ(counts_over(exec(), c, opposite, 5).bit_errors, std::vector<std::int32_t>(5, 37));
  EXPECT_EQ(same.last.first, 7u);
  EXPECT_EQ(same.last.point_db, 3);
}

TEST_P(stages, a_coded_exchange_decodes_what_the_antennas_give) {
  code_config code;
  code.type = code_type::wimax_ldpc;
  code.ldpc.n = 576;
  const link_config c = completed({.code = code, .qam = 64});
  wire same(c, 0);
  const frame_counts counts = counts_over(exec(), c, same, 3);
  EXPECT_EQ(counts.bit_errors, std::vector<std::int32_t>(3, 0));
  EXPECT_EQ(counts.erased, std::vector<std::uint8_t>(3, 0));
  EXPECT_TRUE(counts.erased_uses.empty());
  EXPECT_TRUE(counts.transmissions.empty());
}

TEST_P(stages, harq_sends_until_the_antennas_give_a_block_that_passes) {
  code_config code;
  code.type = code_type::lte_transport;
  code.k = 104;
  code.transport.coded_bits = 480;
  code.transport.transmissions = 4;
  code.transport.redundancy_versions = {0};  // opposite LLRs of one version add up to 0
  const link_config c = completed({.code = code, .qam = 4});
  wire at_once(c, 0), third(c, 1), never(c, 4);
  EXPECT_EQ(counts_over(exec(), c, at_once, 2).transmissions, std::vector<std::uint8_t>(2, 1));
  EXPECT_EQ(counts_over(exec(), c, third, 2).transmissions, std::vector<std::uint8_t>(2, 3));
  EXPECT_EQ(third.last.transmission, 2);
  const frame_counts failed = counts_over(exec(), c, never, 2);
  EXPECT_EQ(failed.transmissions, std::vector<std::uint8_t>(2, 4));
  EXPECT_EQ(failed.passed, std::vector<std::uint8_t>(2, 0));
}

TEST(frame_batch, random_numbers_follow_from_frame_point_and_transmission) {
  const frame_batch a{.first = 10, .frames = 4, .point_db = 2.5};
  EXPECT_EQ(a.random(9, 3).seed, 9u);
  EXPECT_EQ(a.random(9, 3).first, 30u);
  EXPECT_EQ(a.random(9, 3).point, 2500u);
  frame_batch again = a;
  again.transmission = 2;
  EXPECT_EQ(again.random(9, 3).first, 30u);
  EXPECT_EQ(again.random(9, 3).point, 2500u + (2u << 20));
}

}  // namespace stages_test
