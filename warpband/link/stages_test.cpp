// Links over antennas that are not a channel at all: what comes back is set by the test.
#include <gtest/gtest.h>

#include <tests/codes.hpp>
#include <tests/on_backends.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace stages_test {

using namespace wb;

/// Gives the symbols of all bits back, from `clean` on of its transmissions, and those of the opposite bits
/// before.
class wire final : public antenna_system {
 public:
  wire(const link_config& c, int clean, frame_batch& last)
      : size_(c), mapper_(c.qam), clean_(clean), last_(last) {}
  std::size_t bytes_per_frame() const noexcept override { return 1; }
  void allocate(executor& exec, std::size_t) override { n0_ = exec.make_from(std::vector<float>{0.1f}); }
  samples send(executor& exec, const std::uint8_t* bits, const frame_batch& batch) override {
    std::vector<std::uint8_t> sent(batch.frames * size_.codewords * size_.padded);
    exec.download(sent.data(), bits, sent.size());
    exec.sync();
    if (batch.transmission < clean_)
      for (std::uint8_t& bit : sent) bit ^= 1;
    const auto m = static_cast<std::size_t>(mapper_.bits()), n = sent.size() / m;
    bits_ = exec.make_from(sent);
    symbols_ = exec.make<std::complex<float>>(n, 1);
    mapper_.run(exec, view<const std::uint8_t>(make_view(bits_.data(), n, m)), symbols_);
    last_ = batch;
    return {.received = symbols_, .noise_var = {n0_.data(), 1, n, 1, 0}};
  }

 private:
  frame_sizes size_;
  qam_mapper mapper_;
  int clean_;
  frame_batch& last_;
  array<std::uint8_t> bits_;
  array<std::complex<float>> symbols_;
  array<float> n0_;
};

/// What a link counts whose antennas are clean from a transmission on, and the batch that they got last.
struct counted {
  frame_counts counts;
  frame_batch last;
  counted(executor& exec, const link_config& c, int clean, std::size_t frames) {
    link_chain chain(c, exec, frames, std::make_unique<wire>(c, clean, last));
    counts = chain.run(7, frames, 3);
  }
};

class stages : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(stages);

TEST_P(stages, an_uncoded_link_counts_what_the_antennas_give) {
  code_config code("none");
  wb::testing::k_in(code) = 37;
  const link_config c = completed({.code = code, .qam = 16});
  const counted same(exec(), c, 0, 5), opposite(exec(), c, 1, 5);
  EXPECT_EQ(same.counts.bit_errors, std::vector<std::int32_t>(5, 0));
  EXPECT_EQ(opposite.counts.bit_errors, std::vector<std::int32_t>(5, 37));
  EXPECT_EQ(same.last.first, 7u);
  EXPECT_EQ(same.last.point_db, 3);
}

TEST_P(stages, a_coded_link_decodes_what_the_antennas_give) {
  code_config code("wimax-ldpc");
  wb::testing::n_in(code) = 576;
  const link_config c = completed({.code = code, .qam = 64});
  const frame_counts counts = counted(exec(), c, 0, 3).counts;
  EXPECT_EQ(counts.bit_errors, std::vector<std::int32_t>(3, 0));
  EXPECT_EQ(counts.erased, std::vector<std::uint8_t>(3, 0));
  EXPECT_TRUE(counts.erased_uses.empty());
  EXPECT_TRUE(counts.transmissions.empty());
}

TEST_P(stages, harq_sends_until_the_antennas_give_a_block_that_passes) {
  code_config code("lte-transport");
  wb::testing::k_in(code) = 104;
  wb::testing::sent_in(code).coded_bits = 480;
  wb::testing::sent_in(code).transmissions = 4;
  wb::testing::sent_in(code).redundancy_versions = {0};  // opposite LLRs of one version add up to 0
  const link_config c = completed({.code = code, .qam = 4});
  const counted third(exec(), c, 1, 2);
  EXPECT_EQ(counted(exec(), c, 0, 2).counts.transmissions, std::vector<std::uint8_t>(2, 1));
  EXPECT_EQ(third.counts.transmissions, std::vector<std::uint8_t>(2, 3));
  EXPECT_EQ(third.last.transmission, 2);
  const frame_counts failed = counted(exec(), c, 4, 2).counts;
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
