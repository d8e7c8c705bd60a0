// Transport blocks through the face of all codes: their transmissions, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include <tests/codes.hpp>
#include <tests/on_backends.hpp>
#include <warpband/core/status.hpp>

namespace wb {
namespace codec_transport_test {

using testing::blamed;

code_config transport_named(const std::string& type, int a, int coded_bits, int transmissions) {
  code_config c(type,
                {{"transport_block_size", a}, {"coded_bits", coded_bits}, {"transmissions", transmissions}});
  if (type == "nr-ulsch") testing::ldpc_decoder_in(c).early_stop = ldpc_early_stop::crc;
  return c;
}

class transport_codec_on : public testing::on_backend {};
WB_ON_ALL_BACKENDS(transport_codec_on);

TEST_P(transport_codec_on, sends_and_combines_transport_blocks) {
  constexpr std::size_t items = 5, bad = 2;
  std::mt19937 random(4);
  for (const code_config& config :
       {transport_named("lte-transport", 7000, 12000, 2), transport_named("nr-dlsch", 9000, 10000, 3),
        transport_named("nr-ulsch", 500, 510, 2), transport_named("ctc-harq", 944, 1500, 3)}) {
    SCOPED_TRACE(config.type);
    const auto code = make_codec(config);
    const std::size_t k = code->k(), n = code->n(), sent = sizes_of(config).n;
    ASSERT_EQ(n, sent * static_cast<std::size_t>(testing::sent_in(config).transmissions));
    std::vector<std::uint8_t> bits(items * k);
    for (auto& b : bits) b = static_cast<std::uint8_t>(random() & 1);
    auto coded = exec().make<std::uint8_t>(items, n);
    code->encode(exec(), testing::on_device(exec(), bits, items, k), coded);
    const auto words = exec().to_host(coded);
    std::vector<float> llr(items * n);
    for (std::size_t i = 0; i < items * n; i++) llr[i] = words[i] != 0 ? -4.f : 4.f;
    // A tenth of what is sent is wrong: one transmission alone would not do.
    for (std::size_t i = 0; i < items * n; i += 10) llr[i] *= -0.1f;
    llr[bad * n + sent + 7] = NAN;
    auto decided = exec().make<std::uint8_t>(items, k), status = exec().make<std::uint8_t>(items, 1);
    auto iterations = exec().make<std::int32_t>(items, 1);
    const auto received = testing::on_device(exec(), llr, items, n);
    code->decode(exec(), received, {.bits = decided, .soft = {}, .iterations = iterations, .status = status});
    const auto got = exec().to_host(decided);
    const auto states = exec().to_host(status);
    const auto used = exec().to_host(iterations);
    for (std::size_t i = 0; i < items; i++) {
      if (i == bad) {
        EXPECT_NE(states[i] & status_erased, 0);
        continue;
      }
      EXPECT_EQ(states[i], status_stopped) << i;
      EXPECT_GE(used[i], harq_of(config).code_blocks);
      EXPECT_TRUE(std::equal(got.begin() + static_cast<std::ptrdiff_t>(i * k),
                             got.begin() + static_cast<std::ptrdiff_t>((i + 1) * k),
                             bits.begin() + static_cast<std::ptrdiff_t>(i * k)))
          << i;
    }
    auto soft = exec().make<float>(items, k);
    EXPECT_EQ(blamed([&] { code->decode(exec(), received, {.bits = decided, .soft = soft}); }), "code.type");
  }
}

TEST(transport_codec, limited_buffers_are_those_of_the_standard) {
  // TBS_LBRM of 32 resource blocks, one layer, 64-QAM: N_ref = floor(3 TBS / (2 C)).
  code_config c = transport_named("nr-ulsch", 25456, 40000, 1);
  const auto without = c.get<nr_transport_settings>();
  c.edit<nr_transport_settings>().lbrm_resource_blocks = 20;
  const int limit = nr_transport_of(c.get<nr_transport_settings>()).soft_buffer.value(),
            blocks = harq_of(c).code_blocks;
  EXPECT_EQ(limit, 3 * 27656 / (2 * blocks));
  EXPECT_LT(nr_transport_plan(nr_transport_of(c.get<nr_transport_settings>())).buffer().size,
            nr_transport_plan(nr_transport_of(without)).buffer().size);
  testing::sent_in(c).modulation_order = 8;
  EXPECT_GT(nr_transport_of(c.get<nr_transport_settings>()).soft_buffer, limit);
}

TEST(transport_codec, refuses_what_is_not_allowed) {
  const auto blames = [](code_config c, auto change) {
    return blamed([&] {
      change(c);
      make_codec(c);
    });
  };
  for (const char* type : {"lte-transport", "nr-dlsch", "nr-ulsch"}) {
    const code_config block = transport_named(type, 1000, 2000, 2);
    EXPECT_EQ(blames(block, [](code_config&) {}), "");
    EXPECT_EQ(blames(block, [](code_config& c) { testing::sent_in(c).coded_bits.reset(); }),
              "resource_elements");
    EXPECT_EQ(blames(block, [](code_config& c) { testing::sent_in(c).transmissions = 9; }), "transmissions");
    EXPECT_EQ(blames(block, [](code_config& c) { testing::sent_in(c).redundancy_versions = {4}; }),
              "redundancy_versions");
    EXPECT_EQ(blames(block, [](code_config& c) { testing::k_in(c) = 1 << 22; }), "transport_block_size");
    EXPECT_EQ(blames(block, [](code_config& c) { testing::crc_in(c) = crc24a; }), "crc");
  }
  const code_config harq = transport_named("ctc-harq", 464, 960, 2);
  EXPECT_EQ(blames(harq, [](code_config&) {}), "");
  EXPECT_EQ(blames(harq, [](code_config& c) { testing::k_in(c) = 465; }), "transport_block_size");
  EXPECT_EQ(blames(harq, [](code_config& c) { testing::sent_in(c).redundancy_versions = {4}; }),
            "redundancy_versions");
  const code_config up = transport_named("nr-ulsch", 1000, 2000, 1);
  EXPECT_EQ(blames(up, [](code_config& c) { c.edit<nr_transport_settings>().lbrm_resource_blocks = 300; }),
            "lbrm_resource_blocks");
  EXPECT_EQ(blames(up,
                   [](code_config& c) {
                     c.edit<nr_transport_settings>().lbrm_resource_blocks = 30;
                     testing::sent_in(c).soft_buffer = 1000;
                   }),
            "soft_buffer");
}

}  // namespace codec_transport_test
}  // namespace wb
