// Transport blocks through the face of all codes: their transmissions, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include <tests/on_backends.hpp>
#include <warpband/core/status.hpp>
#include <warpband/link/codec.hpp>
#include <warpband/link/names.hpp>

namespace wb {
namespace codec_transport_test {

using testing::blamed;

code_config transport_named(code_type type, int a, int coded_bits, int transmissions) {
  code_config c;
  c.type = type;
  c.k = a;
  c.transport.coded_bits = coded_bits;
  c.transport.transmissions = transmissions;
  c.turbo.decoder.stop = early_stop::crc;
  c.ldpc.decoder.crc_stop = type == code_type::nr_ulsch;
  return c;
}

class transport_codec_on : public testing::on_backend {};
WB_ON_ALL_BACKENDS(transport_codec_on);

TEST_P(transport_codec_on, sends_and_combines_transport_blocks) {
  constexpr std::size_t items = 5, bad = 2;
  std::mt19937 random(4);
  for (const code_config& config : {transport_named(code_type::lte_transport, 7000, 12000, 2),
                                    transport_named(code_type::nr_dlsch, 9000, 10000, 3),
                                    transport_named(code_type::nr_ulsch, 500, 510, 2)}) {
    SCOPED_TRACE(name_of(config.type));
    const auto code = make_codec(config);
    const std::size_t k = code->k(), n = code->n(), sent = sizes_of(config).n;
    ASSERT_EQ(n, sent * static_cast<std::size_t>(config.transport.transmissions));
    std::vector<std::uint8_t> bits(items * k);
    for (auto& b : bits) b = static_cast<std::uint8_t>(random() & 1);
    auto coded = exec().make<std::uint8_t>(n, items);
    code->encode(exec(), testing::on_device(exec(), bits, k, items), coded);
    const auto words = exec().to_host(coded);
    std::vector<float> llr(items * n);
    for (std::size_t i = 0; i < items * n; i++) llr[i] = words[i] != 0 ? -4.f : 4.f;
    // A tenth of what is sent is wrong: one transmission alone would not do.
    for (std::size_t i = 0; i < items * n; i += 10) llr[i] *= -0.1f;
    llr[bad * n + sent + 7] = NAN;
    auto decided = exec().make<std::uint8_t>(k, items), status = exec().make<std::uint8_t>(1, items);
    auto iterations = exec().make<std::int32_t>(1, items);
    const auto received = testing::on_device(exec(), llr, n, items);
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
      EXPECT_GE(used[i], code_blocks_of(config));
      EXPECT_TRUE(std::equal(got.begin() + static_cast<std::ptrdiff_t>(i * k),
                             got.begin() + static_cast<std::ptrdiff_t>((i + 1) * k),
                             bits.begin() + static_cast<std::ptrdiff_t>(i * k)))
          << i;
    }
    auto soft = exec().make<float>(k, items);
    EXPECT_EQ(blamed([&] { code->decode(exec(), received, {.bits = decided, .soft = soft}); }), "code.type");
  }
}

TEST(transport_codec, limited_buffers_are_those_of_the_standard) {
  // TBS_LBRM of 32 resource blocks, one layer, 64-QAM: N_ref = floor(3 TBS / (2 C)).
  code_config c = transport_named(code_type::nr_ulsch, 25456, 40000, 1);
  c.transport.lbrm_resource_blocks = 20;
  const int limit = nr_transport_of(c).soft_buffer, blocks = code_blocks_of(c);
  EXPECT_EQ(limit, 3 * 27656 / (2 * blocks));
  EXPECT_LT(nr_transport_plan(nr_transport_of(c)).buffer().size,
            nr_transport_plan(nr_transport_of(transport_named(code_type::nr_ulsch, 25456, 40000, 1)))
                .buffer()
                .size);
  c.transport.modulation_order = 8;
  EXPECT_GT(nr_transport_of(c).soft_buffer, limit);
}

TEST(transport_codec, refuses_what_is_not_allowed) {
  const auto blames = [](code_config c, auto change) {
    return blamed([&] {
      change(c);
      make_codec(c);
    });
  };
  for (const code_type type : {code_type::lte_transport, code_type::nr_dlsch, code_type::nr_ulsch}) {
    const code_config block = transport_named(type, 1000, 2000, 2);
    EXPECT_EQ(blames(block, [](code_config&) {}), "");
    EXPECT_EQ(blames(block, [](code_config& c) { c.transport.coded_bits = 0; }), "resource_elements");
    EXPECT_EQ(blames(block, [](code_config& c) { c.transport.transmissions = 9; }), "transmissions");
    EXPECT_EQ(blames(block, [](code_config& c) { c.transport.redundancy_versions = {4}; }),
              "redundancy_versions");
    EXPECT_EQ(blames(block, [](code_config& c) { c.k = 1 << 22; }), "transport_block_size");
    EXPECT_EQ(blames(block, [](code_config& c) { c.crc = crc24a; }), "crc");
  }
  const code_config up = transport_named(code_type::nr_ulsch, 1000, 2000, 1);
  EXPECT_EQ(blames(up, [](code_config& c) { c.transport.lbrm_resource_blocks = 300; }),
            "lbrm_resource_blocks");
  EXPECT_EQ(blames(up,
                   [](code_config& c) {
                     c.transport.lbrm_resource_blocks = 30;
                     c.transport.soft_buffer = 1000;
                   }),
            "soft_buffer");
}

}  // namespace codec_transport_test
}  // namespace wb
