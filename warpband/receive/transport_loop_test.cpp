// Transport blocks whose detector and decoder exchange LLRs, against the same recursion written on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include <tests/nr.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/receive/transport_loop.hpp>

namespace wb {
namespace transport_loop_test {

using namespace testing;
using cf = std::complex<float>;

constexpr std::size_t k = 1160, g = 2400, blocks = 12, uses = g / 8;
const nr_transport_config transport{.transport_bits = static_cast<int>(k),
                                    .coded_bits = static_cast<int>(g),
                                    .modulation_order = 4,
                                    .layers = 2,
                                    .scrambling = 77,
                                    .ldpc = {.iterations = 6}};
const detector_config pic{.type = "pic", .streams = 2, .rx_antennas = 2, .qam = 16, .llr_clip = {}};

/// Two layers to two antennas, an H of its own in each use.
struct received_blocks {
  bits_t sent;
  std::vector<cf> y, h;
  std::vector<float> n0;

  explicit received_blocks(float noise_var, int rv = 0, std::uint64_t seed = 3) {
    const auto exec = open_scalar();
    std::mt19937_64 random(1);  // the same bits in every transmission
    sent = random_bits_of(blocks * k, random);
    auto coded = exec->make<std::uint8_t>(blocks, g);
    nr_transport_encoder(transport).run(*exec, given(*exec, sent, blocks), rv, coded);
    std::vector<cf> s(blocks * uses * 2);
    qam_mapper(16).run(*exec, make_view(static_cast<const std::uint8_t*>(coded.data()), s.size(), 4),
                       make_view(s.data(), s.size()));
    std::mt19937_64 air(seed);
    std::normal_distribution<float> normal(0, std::sqrt(0.5f));
    const auto gain = [&](float power) {
      const float re = normal(air), im = normal(air);
      return std::sqrt(power) * cf(re, im);
    };
    for (std::size_t u = 0; u < blocks * uses; u++)
      for (std::size_t r = 0; r < 2; r++) {
        const cf a = gain(1), b = gain(1);
        h.push_back(a), h.push_back(b);
        y.push_back(a * s[2 * u] + b * s[2 * u + 1] + gain(noise_var));
      }
    n0.assign(blocks * uses, noise_var);
  }
};

/// What was received, on an executor.
struct arrays_of {
  array<cf> y, h;
  array<float> n0;
  arrays_of(executor& exec, const received_blocks& b)
      : y(given(exec, b.y, blocks * uses)),
        h(given(exec, b.h, blocks * uses)),
        n0(given(exec, b.n0, blocks * uses)) {}
  heard in(std::size_t n = blocks) const {
    return {.channel = make_view(h.data(), n * uses, 4),
            .uses_per_channel = 1,
            .received = make_view(y.data(), n * uses, 2),
            .noise_var = make_view(n0.data(), n * uses),
            .prior = {}};
  }
};

struct decisions {
  bits_t bits, ok, status;
  bool operator==(const decisions&) const = default;
};

/// Bits, ok and status on an executor.
struct outputs_of {
  array<std::uint8_t> bits, ok, status;
  explicit outputs_of(executor& exec, std::size_t n = blocks)
      : bits(exec.make<std::uint8_t>(n, k)),
        ok(exec.make<std::uint8_t>(n, 1)),
        status(exec.make<std::uint8_t>(n, 1)) {}
  decided out() { return {.bits = bits, .ok = ok, .iterations = {}, .status = status}; }
  decisions to_host(executor& exec) const {
    return {exec.to_host(bits), exec.to_host(ok), exec.to_host(status)};
  }
};

decisions received(executor& exec, const received_blocks& b, const receiver_config& c,
                   std::size_t n = blocks) {
  const arrays_of a(exec, b);
  outputs_of o(exec, n);
  transport_loop loop(pic, transport, c);
  loop.allocate(exec, n);
  loop.run(exec, a.in(n), o.out());
  return o.to_host(exec);
}

void limit(std::vector<float>& llr, float factor, float greatest) {
  for (float& x : llr) x = std::clamp(factor * x, -greatest, greatest) + 0.f;
}

/// The recursion with detector and decoder alone. Decisions after every outer iteration.
std::vector<decisions> expected(const received_blocks& b, const receiver_config& c) {
  const auto exec = open_scalar();
  const arrays_of a(*exec, b);
  detector_config less_prior = pic;
  less_prior.extrinsic = true;
  const auto detector = make_detector(less_prior);
  nr_transport_config t = transport;
  if (c.inner) t.ldpc.iterations = *c.inner;
  nr_transport_decoder decoder(t);
  const std::size_t codewords = blocks * static_cast<std::size_t>(decoder.segmentation().blocks);
  auto extrinsic = exec->make<float>(codewords, decoder.columns());
  std::vector<float> llr(blocks * g), prior(blocks * g);
  std::vector<decisions> results;
  for (int j = 0; j < c.outer; j++) {
    const heard y = a.in();
    detector_input in{y.channel, y.uses_per_channel, y.received, y.noise_var, {}};
    if (j > 0) in.prior = make_view(static_cast<const float*>(prior.data()), blocks * uses, 8);
    detector->run(*exec, in, {.llr = make_view(llr.data(), blocks * uses, 8), .bits = {}, .status = {}});
    exec->sync();
    if (c.detector_clip) limit(llr, 1, *c.detector_clip);
    const auto coded = make_view(static_cast<const float*>(llr.data()), blocks, g);
    outputs_of o(*exec);
    const nr_transport_output out{.bits = o.bits, .ok = o.ok, .status = o.status, .extrinsic = extrinsic};
    decoder.reset();
    decoder.combine(*exec, coded, 0);
    decoder.decode(*exec, out);
    decoder.feed_back(*exec, extrinsic, coded, 0, make_view(prior.data(), blocks, g));
    decisions latest = o.to_host(*exec);
    limit(prior, c.scaling, 100);
    for (std::size_t i = 0; j > 0 && i < blocks; i++) {  // finished blocks stay as they are
      const decisions& before = results.back();
      if (before.ok[i] == 0) continue;
      latest.ok[i] = 1, latest.status[i] = before.status[i];
      std::copy_n(before.bits.begin() + static_cast<std::ptrdiff_t>(i * k), k,
                  latest.bits.begin() + static_cast<std::ptrdiff_t>(i * k));
    }
    results.push_back(latest);
  }
  return results;
}
std::ptrdiff_t passed(const decisions& d) { return std::count(d.ok.begin(), d.ok.end(), 1); }

class transport_loop_on : public on_backend {};
WB_ON_ALL_BACKENDS(transport_loop_on);

TEST_P(transport_loop_on, equals_the_recursion_on_the_host) {
  const received_blocks b(0.19f);
  for (const receiver_config& c :
       {receiver_config{.outer = 4, .inner = 3},
        receiver_config{.outer = 3, .inner = 4, .scaling = 0.75f, .detector_clip = 6.f}}) {
    const std::vector<decisions> results = expected(b, c);
    EXPECT_GT(passed(results.back()), passed(results.front()));
    for (int outer = 1; outer <= c.outer; outer++) {
      receiver_config shorter = c;
      shorter.outer = outer;
      const decisions got = received(exec(), b, shorter),
                      &wanted = results[static_cast<std::size_t>(outer - 1)];
      EXPECT_EQ(got.ok, wanted.ok) << outer;
      EXPECT_EQ(got.status, wanted.status) << outer;
      EXPECT_EQ(got.bits == wanted.bits, true) << outer;
    }
  }
}

/// Also once all blocks are finished, whether it waits to know that or not.
TEST_P(transport_loop_on, gives_the_results_of_every_outer_iteration) {
  for (const float noise_var : {0.19f, 0.01f})
    for (const bool waits : {false, true}) {
      const received_blocks b(noise_var);
      const receiver_config c{.outer = 4, .inner = 3};
      const arrays_of a(exec(), b);
      outputs_of o(exec(), 4 * blocks);
      auto iterations = exec().make<std::int32_t>(blocks, 1);
      transport_loop loop(pic, transport, c, {0}, waits);
      loop.allocate(exec(), blocks);
      decided out = o.out();
      out.iterations = iterations;
      loop.run(exec(), a.in(), out);
      decisions results = o.to_host(exec());
      const std::vector<decisions> wanted = expected(b, c);
      for (std::size_t j = 0; j < wanted.size(); j++) {
        const auto from = [&](const bits_t& x, std::size_t n) {
          const auto first = x.begin() + static_cast<std::ptrdiff_t>(j * blocks * n);
          return bits_t(first, first + static_cast<std::ptrdiff_t>(blocks * n));
        };
        EXPECT_EQ(from(results.ok, 1), wanted[j].ok) << j;
        EXPECT_EQ(from(results.status, 1), wanted[j].status) << j;
        EXPECT_EQ(from(results.bits, k) == wanted[j].bits, true) << j;
      }
      const std::vector<std::int32_t> used = exec().to_host(iterations);
      for (std::size_t i = 0; i < blocks; i++)
        EXPECT_EQ(used[i] > 3, wanted[0].ok[i] == 0) << i;  // 3 an outer iteration
    }
}

TEST_P(transport_loop_on, does_not_depend_on_other_blocks) {
  const received_blocks b(0.19f);
  const receiver_config c{.outer = 3, .inner = 3};
  const decisions whole = received(exec(), b, c);
  for (const std::size_t n : {1, 5}) {
    const decisions some = received(exec(), b, c, n);
    EXPECT_TRUE(std::equal(some.bits.begin(), some.bits.end(), whole.bits.begin())) << n;
    EXPECT_TRUE(std::equal(some.ok.begin(), some.ok.end(), whole.ok.begin())) << n;
  }
}

TEST_P(transport_loop_on, serves_one_batch_after_another) {
  const received_blocks noisy(0.3f), clean(0.01f);
  const receiver_config c{.outer = 2};
  const arrays_of first(exec(), noisy), second(exec(), clean);
  outputs_of o(exec());
  transport_loop loop(pic, transport, c);
  loop.allocate(exec(), blocks);
  loop.run(exec(), first.in(), o.out());
  EXPECT_EQ(exec().to_host(o.ok), bits_t(blocks, 0));
  loop.run(exec(), second.in(), o.out());
  EXPECT_EQ(exec().to_host(o.ok), bits_t(blocks, 1));
  EXPECT_EQ(exec().to_host(o.bits), clean.sent);
}

TEST_P(transport_loop_on, tells_erased_blocks) {
  received_blocks b(0.01f);
  std::fill_n(b.y.begin() + 2 * uses, 2 * uses, cf(NAN, 0));  // all of the second block
  b.y[4 * uses] = {INFINITY, 0};                              // a use of the third, which the code corrects
  const decisions d = received(exec(), b, {.outer = 3});
  EXPECT_EQ(passed(d), static_cast<std::ptrdiff_t>(blocks) - 1);
  EXPECT_EQ(d.ok[1], 0);
  EXPECT_EQ(d.status[1], expected(b, {.outer = 3}).back().status[1]);
}

TEST_P(transport_loop_on, joins_transmissions) {
  const received_blocks first(0.3f), second(0.3f, 2, 4);
  const arrays_of a(exec(), first), b(exec(), second);
  outputs_of o(exec());
  transport_loop loop(pic, transport, {.outer = 2}, {0, 2});
  loop.allocate(exec(), blocks);
  loop.run(exec(), a.in(), o.out());
  EXPECT_EQ(exec().to_host(o.ok), bits_t(blocks, 0));
  loop.run(exec(), b.in(), o.out(), 1);
  EXPECT_EQ(exec().to_host(o.ok), bits_t(blocks, 1));
  EXPECT_EQ(exec().to_host(o.bits), first.sent);
}

TEST(transport_loop, names_what_it_refuses) {
  const auto refused = [](const std::string& type, auto change) {
    receiver_config c;
    change(c);
    detector_config d = pic;
    d.type = type;
    return blamed([&] { check_transport_loop(c, d); }, [&] { transport_loop(d, transport, c); });
  };
  EXPECT_EQ(refused("pic", [](auto& c) { c.outer = 16; }), "");
  EXPECT_EQ(refused("mmse", [](auto&) {}), "");
  EXPECT_EQ(refused("mmse", [](auto& c) { c.outer = 2; }), "outer");
  EXPECT_EQ(refused("pic", [](auto& c) { c.outer = 17; }), "outer");
  EXPECT_EQ(refused("pic", [](auto& c) { c.scaling = 0; }), "scaling");
  EXPECT_EQ(refused("pic", [](auto& c) { c.interleaver = receiver_interleaver::random; }), "interleaver");
  const auto made = [](const nr_transport_config& t, std::vector<int> versions) {
    return blamed([&] { transport_loop(pic, t, {}, versions); });
  };
  EXPECT_EQ(made(transport, {}), "versions");
  EXPECT_EQ(made(transport, {4}), "versions");
  nr_transport_config odd = transport;
  odd.coded_bits = 2404, odd.layers = 1;
  EXPECT_EQ(made(odd, {0}), "coded_bits");

  const auto exec = open_scalar();
  const received_blocks b(0.1f);
  const arrays_of a(*exec, b);
  outputs_of o(*exec);
  transport_loop loop(pic, transport, {.outer = 2});
  EXPECT_EQ(blamed([&] { loop.run(*exec, a.in(), o.out()); }), "received");
  loop.allocate(*exec, 1);
  EXPECT_EQ(blamed([&] { loop.run(*exec, a.in(), o.out()); }), "received");
  loop.allocate(*exec, blocks);
  EXPECT_EQ(blamed([&] { loop.run(*exec, a.in(), o.out(), 1); }), "transmission");
  decided out = o.out();
  out.ok.item_stride = 2;
  EXPECT_EQ(blamed([&] { loop.run(*exec, a.in(), out); }), "ok");
  EXPECT_THROW(loop.run(*exec, a.in(3), o.out()), shape_error);
}

}  // namespace transport_loop_test
}  // namespace wb
