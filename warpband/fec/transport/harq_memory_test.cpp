// HARQ memory of the caller: what it holds, that decoders go on from it, and that series do not mix.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <tests/transport.hpp>
#include <warpband/core/half.hpp>
#include <warpband/fec/lte/transport.hpp>
#include <warpband/fec/nr/transport.hpp>

namespace wb {
namespace harq_memory_test {

using testing::bits_t;
using testing::blamed;
using testing::decode;
using testing::decoded;
using testing::given;
using testing::llrs_t;
using testing::random_bits_of;

struct nr {
  using encoder = nr_transport_encoder;
  using decoder = nr_transport_decoder;
  static nr_transport_config config() {
    return {.transport_bits = 8424,
            .coded_bits = 9000,
            .modulation_order = 4,
            .scrambling = 3,
            .ldpc = {.iterations = 6}};
  }
  static nr_transport_config one_block() {
    return {.transport_bits = 104, .coded_bits = 132, .modulation_order = 2, .base_graph = 2};
  }
};
struct lte {  // fillers and two sizes of code blocks
  using encoder = lte_transport_encoder;
  using decoder = lte_transport_decoder;
  static lte_transport_config config() {
    return {.transport_bits = 6300,
            .coded_bits = 7600,
            .modulation_order = 2,
            .turbo = {.iterations = 3, .early_stop = turbo_early_stop::crc}};
  }
  static lte_transport_config one_block() { return {.transport_bits = 16, .coded_bits = 132}; }
};

/// LLRs of transmissions of transport blocks, in quarters.
template <class Channel>
struct transmissions {
  std::size_t batch;
  bits_t bits;
  std::vector<llrs_t> llrs;  // by transmission
  transmissions(std::size_t n, std::initializer_list<int> versions, float deviation, unsigned seed)
      : batch(n) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> noise(0.f, deviation);
    const auto exec = testing::open_scalar();
    typename Channel::encoder encoder(Channel::config());
    bits = random_bits_of(n * static_cast<std::size_t>(Channel::config().transport_bits), random);
    const auto in = given(*exec, bits, n);
    auto coded = exec->make<std::uint8_t>(n, static_cast<std::size_t>(Channel::config().coded_bits));
    for (const int rv : versions) {
      encoder.run(*exec, in, rv, coded);
      llrs_t llr;
      for (const auto b : exec->to_host(coded))
        llr.push_back(std::round(8 * ((b == 0 ? 1.f : -1.f) + noise(random))) / 4);
      llrs.push_back(llr);
    }
  }
};

template <class Decoder>
array<std::uint8_t> memory_of(executor& exec, const Decoder& decoder, std::size_t batch, harq_format format) {
  auto memory = exec.make<std::uint8_t>(batch, decoder.harq_bytes(format));
  exec.fill(memory.data(), 0xab, memory.bytes());
  return memory;
}

class harq_buffers : public testing::on_backend {
 protected:
  /// Sums that the memory can hold leave no trace: results are those of the decoder's own soft buffers.
  template <class Channel>
  void goes_on(harq_format format) {
    constexpr std::size_t batch = 3;
    constexpr int versions[] = {0, 2, 3};
    const transmissions<Channel> sent(batch, {0, 2, 3}, 0.9f, 1);
    typename Channel::decoder unshared(Channel::config()), shared(Channel::config());
    auto memory = memory_of(exec(), shared, batch, format);
    bool failed = false, good = false;
    for (std::size_t t = 0; t < 3; t++) {
      const auto llr = given(exec(), sent.llrs[t], batch);
      unshared.combine(exec(), llr, versions[t]);
      const decoded wanted = decode(exec(), unshared, batch);
      // A decoder that has meanwhile seen others.
      shared.reset();
      shared.combine(exec(), given(exec(), llrs_t(sent.llrs[t].size() / batch, -3.f), 1), 1);
      if (t == 0)
        shared.reset();
      else
        shared.resume(exec(), {memory, format, 0.25f});
      shared.combine(exec(), llr, versions[t]);
      shared.keep(exec(), {memory, format, 0.25f});
      const decoded got = decode(exec(), shared, batch);
      EXPECT_EQ(got.bits, wanted.bits) << t;
      EXPECT_EQ(got.ok, wanted.ok) << t;
      EXPECT_EQ(got.block_ok, wanted.block_ok) << t;
      EXPECT_EQ(got.status, wanted.status) << t;
      failed = failed || std::count(got.ok.begin(), got.ok.end(), 0) > 0;
      good = good || std::count(got.ok.begin(), got.ok.end(), 1) > 0;
    }
    EXPECT_TRUE(failed && good);  // else the memory would not matter
  }

  /// The first LLRs of the memory are rounded and saturated sums.
  template <class Channel>
  void holds_sums(int places) {
    const auto config = Channel::one_block();
    const auto n = static_cast<std::size_t>(config.coded_bits);
    std::mt19937_64 random(3);
    std::normal_distribution<float> normal(0.f, 10.f);
    typename Channel::decoder decoder(config);
    ASSERT_GE(places, 100);
    for (const harq_format format : {harq_format::int8, harq_format::float16})
      for (const float scale : {0.25f, 0.3f}) {
        auto memory = memory_of(exec(), decoder, 1, format);
        llrs_t sums(static_cast<std::size_t>(places), 0.f);
        for (int t = 0; t < 3; t++) {
          llrs_t llr(n);
          for (auto& x : llr) x = normal(random) * (t == 2 ? 1e6f : 1.f);
          if (t == 0)
            decoder.reset();
          else
            decoder.resume(exec(), {memory, format, scale});
          decoder.combine(exec(), given(exec(), llr, 1), 0);
          decoder.keep(exec(), {memory, format, scale});
          const auto bytes = exec().to_host(memory);
          const auto sent = sent_first<Channel>(llr);
          for (std::size_t i = 0; i < sums.size(); i++) {
            const float steps = (sums[i] + sent[i]) / scale;
            float held, wanted;
            if (format == harq_format::int8) {
              held = static_cast<float>(static_cast<std::int8_t>(bytes[i]));
              wanted = std::nearbyint(std::clamp(steps, -127.f, 127.f));
            } else {
              std::uint16_t half = 0;
              std::memcpy(&half, &bytes[2 * i], 2);
              held = from_half_bits(half);
              wanted = from_half_bits(to_half_bits(std::clamp(steps, -65504.f, 65504.f)));
            }
            ASSERT_EQ(held, wanted) << i << " of transmission " << t;
            sums[i] = wanted * scale;
          }
        }
      }
  }
  /// The LLRs of the ring's first places, of a transmission of redundancy version 0.
  template <class Channel>
  llrs_t sent_first(const llrs_t& llr) {
    llrs_t out;
    if constexpr (std::is_same_v<Channel, nr>) {  // bit interleaver of 2 rows; it starts with place 0
      for (std::size_t p = 0; p < llr.size(); p++) {
        const std::size_t columns = llr.size() / 2;
        out.push_back(llr[p / columns + p % columns * 2]);
      }
    } else {  // it starts behind two columns of the interleaver, here of 40 bits in 2 rows
      const auto start = static_cast<std::size_t>(make_lte_circular_buffer(40, 0).start[0]);
      for (std::size_t p = 0; p < llr.size(); p++) out.push_back(llr[(p + llr.size() - start) % llr.size()]);
    }
    return out;
  }

  /// Bytes of the memory, after transmissions of which one is erased.
  template <class Channel>
  bits_t bytes_after_erasure(executor& on, harq_format format) {
    transmissions<Channel> sent(2, {0, 2}, 0.5f, 4);
    sent.llrs[0][5] = std::numeric_limits<float>::quiet_NaN();
    typename Channel::decoder decoder(Channel::config());
    auto memory = memory_of(on, decoder, 2, format);
    for (std::size_t t = 0; t < 2; t++) {
      if (t == 1) decoder.resume(on, {memory, format});
      decoder.combine(on, given(on, sent.llrs[t], 2), t == 0 ? 0 : 2);
      decoder.keep(on, {memory, format});
      const decoded d = decode(on, decoder, 2);
      EXPECT_EQ(d.status[0] & status_erased, status_erased);
      EXPECT_EQ(t == 1 ? d.status[1] : 0, 0);
    }
    return on.to_host(memory);
  }
};
WB_ON_ALL_BACKENDS(harq_buffers);

TEST_P(harq_buffers, decoders_go_on_from_it) {
  goes_on<nr>(harq_format::float16);
  goes_on<lte>(harq_format::int8);
  goes_on<lte>(harq_format::float16);
  goes_on<nr>(harq_format::int8);
}

TEST_P(harq_buffers, holds_rounded_and_saturated_sums) {
  holds_sums<nr>(132);
  holds_sums<lte>(132);
}

TEST_P(harq_buffers, erasures_stay_and_bytes_equal_those_of_scalar_code) {
  const auto scalar = testing::open_scalar();
  for (const harq_format format : {harq_format::int8, harq_format::float16}) {
    EXPECT_EQ(bytes_after_erasure<nr>(exec(), format), bytes_after_erasure<nr>(*scalar, format));
    EXPECT_EQ(bytes_after_erasure<lte>(exec(), format), bytes_after_erasure<lte>(*scalar, format));
  }
}

template <class Channel>
void expect_refusals() {
  const auto exec = testing::open_scalar();
  typename Channel::decoder decoder(Channel::one_block());
  const std::size_t bytes = decoder.harq_bytes(harq_format::int8),
                    halves = decoder.harq_bytes(harq_format::float16);
  EXPECT_GT(halves, bytes);
  auto memory = exec->make_zeros<std::uint8_t>(2, halves + 1);
  const auto part = [&](std::size_t n, std::size_t first = 0, std::size_t step = 1) {
    return view<std::uint8_t>{memory.data() + first, n, 2, step, memory.elements()};
  };
  EXPECT_EQ(blamed([&] { decoder.keep(*exec, {part(bytes)}); }), "transmissions");
  EXPECT_EQ(blamed([&] { decoder.resume(*exec, {part(bytes - 1)}); }), "harq");
  EXPECT_EQ(blamed([&] { decoder.resume(*exec, {part(bytes, 0, 0)}); }), "harq");
  EXPECT_EQ(blamed([&] { decoder.resume(*exec, {{}}); }), "harq");
  EXPECT_EQ(blamed([&] { decoder.resume(*exec, {part(halves, 0), harq_format::float16}); }),
            "harq");  // odd rows
  for (const float scale : {0.f, -1.f, std::nanf(""), std::numeric_limits<float>::infinity()})
    EXPECT_EQ(blamed([&] { decoder.resume(*exec, {part(bytes), harq_format::int8, scale}); }), "harq_scale");
  decoder.resume(*exec, {part(bytes)});
  auto one = exec->make_zeros<std::uint8_t>(1, bytes);
  EXPECT_EQ(blamed([&] { decoder.keep(*exec, {one}); }), "harq");
  auto llr = exec->make_zeros<float>(1, static_cast<std::size_t>(Channel::one_block().coded_bits));
  EXPECT_EQ(blamed([&] { decoder.combine(*exec, llr, 0); }), "llr");  // of two blocks
}
TEST(harq_buffers_refuse, what_does_not_fit) {
  expect_refusals<nr>();
  expect_refusals<lte>();
}

TEST(harq_buffers_refuse, nothing_of_what_is_in_it) {
  const auto exec = testing::open_scalar();
  std::mt19937_64 random(9);
  for (int i = 0; i < 200; i++) {
    nr_transport_decoder decoder(nr::one_block());
    auto memory = exec->make<std::uint8_t>(2, decoder.harq_bytes(harq_format::float16) + 1);
    for (std::size_t j = 0; j < memory.bytes(); j++) memory.data()[j] = static_cast<std::uint8_t>(random());
    const harq_memory any{{memory.data(), memory.elements() - 1, 1, 1, memory.elements()},
                          harq_format::float16};
    decoder.resume(*exec, any);
    decoder.combine(*exec, given(*exec, llrs_t(132, 1.f), 1), 1);
    decoder.keep(*exec, any);
    (void)decode(*exec, decoder, 1);
    for (std::size_t j = 0; j < 132; j++) {  // no NaN and no infinity: exponents below the greatest
      std::uint16_t half = 0;
      std::memcpy(&half, memory.data() + 2 * j, 2);
      ASSERT_NE(half & 0x7c00, 0x7c00) << j;
    }
  }
}

}  // namespace harq_memory_test
}  // namespace wb
