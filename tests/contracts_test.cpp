// What objects do that were moved from, and outputs that overlap.
#include <gtest/gtest.h>

#include <complex>
#include <utility>
#include <vector>

#include <warpband/channel/kronecker/kronecker.hpp>
#include <warpband/channel/mimo/mimo.hpp>
#include <warpband/channel/rayleigh/rayleigh.hpp>
#include <warpband/channel/tdl/tdl.hpp>
#include <warpband/estimate/estimator.hpp>
#include <warpband/estimate/noise.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/fec/bcjr/bcjr.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>
#include <warpband/fec/polar/polar.hpp>
#include <warpband/fec/turbo/turbo.hpp>
#include <warpband/fec/viterbi/viterbi.hpp>
#include <warpband/massive/cluster/cluster.hpp>
#include <warpband/modem/demap/demap.hpp>
#include <warpband/nr/shared_channel.hpp>
#include <warpband/receive/interleaver.hpp>

namespace wb {
namespace contracts_test {

using bytes = std::vector<std::uint8_t>;
using symbols = std::vector<std::complex<float>>;
const tdl_config one_tap{.profile = {.taps = {{0, 0}}}, .grid = {.subcarriers = 1, .symbols = 1}};

cpu& exec() {
  static cpu one({.threads = 1});
  return one;
}

/// `call` works with an object, with the one that it was moved to, and throws error with what is left.
template <class T, class F>
void expect_moved_from_throws(const char* name, T first, F call) {
  EXPECT_NO_THROW(call(first)) << name;
  const T second = std::move(first);
  EXPECT_NO_THROW(call(second)) << name;
  EXPECT_THROW(call(first), error) << name;
}

TEST(contracts, an_object_that_was_moved_from_throws) {
  const bytes bits(128);
  const std::vector<float> llr(4096, 1.f);
  bytes out(4096);
  const auto rows = [](auto& v, std::size_t n) { return make_view(v.data(), n, 1); };
  const auto decode = [&](const auto& d) { d.run(exec(), rows(llr, 132), {.bits = rows(out, 40)}); };
  expect_moved_from_throws("turbo", turbo_decoder({.k = 40}), decode);
  for (const auto p : {turbo_precision::bfloat16, turbo_precision::int16})
    expect_moved_from_throws(
        "turbo windows", turbo_decoder({.k = 40, .algorithm = map_algorithm::max_log_map, .precision = p}),
        decode);
  const ldpc_code code = wimax_ldpc(576, wimax_rate::r1_2);
  expect_moved_from_throws("ldpc", ldpc_decoder(code, {}), [&](const ldpc_decoder& d) {
    d.run(exec(), rows(llr, 576), {.bits = rows(out, 288)});
  });
  expect_moved_from_throws(
      "viterbi", viterbi_decoder({.code = conv_lte(), .k = 40}),
      [&](const viterbi_decoder& d) { d.run(exec(), rows(llr, 120), {.bits = rows(out, 40)}); });
  expect_moved_from_throws("polar encoder", polar_encoder({.k = 64, .coded_bits = 128}),
                           [&](const polar_encoder& e) { e.run(exec(), rows(bits, 64), rows(out, 128)); });
  expect_moved_from_throws("workspace", kept_workspace(), [](const kept_workspace& w) { w.on(exec(), 64); });
}

TEST(contracts, a_channel_that_was_moved_from_is_not_another_channel) {
  symbols h(4);
  const correlation_matrix half = exponential_correlation(2, 0.5);
  for (const auto& [rx, tx] : {std::pair{half, half}, {half, {}}, {{}, half}, {{}, {}}})
    expect_moved_from_throws(
        "kronecker",
        kronecker_channel({.streams = 2, .rx_antennas = 2, .rx_correlation = rx, .tx_correlation = tx}),
        [&](const kronecker_channel& c) { c.response(exec(), make_view(h.data(), 4, 1), {}); });
  expect_moved_from_throws("tdl", tdl_channel(one_tap),
                           [&](const tdl_channel& c) { c.response(exec(), make_view(h.data(), 1, 1), {}); });
}

TEST(contracts, a_slot_and_its_estimators_that_were_moved_from_throw) {
  const nr_channel_config config{.carrier = {.resource_blocks = 1}};
  expect_moved_from_throws("dmrs", nr_shared_channel(config), [](const nr_shared_channel& c) { c.dmrs(0); });
  expect_moved_from_throws("transport", nr_shared_channel(config),
                           [](const nr_shared_channel& c) { c.transport(1, 5); });
  const pilot_pattern pilots = pilots_of(nr_shared_channel(config));
  const symbols y(pilots.elements(), 1.f);
  symbols h(pilots.elements());
  const float n0 = 1;
  const auto received = make_view(y.data(), 1, y.size());
  const auto estimate = [&](const channel_estimator& e) {
    e.run(exec(), received, make_view(&n0, 1, 1), {.channel = make_view(h.data(), 1, h.size())});
  };
  expect_moved_from_throws("estimator", channel_estimator(pilots, {}), estimate);
  expect_moved_from_throws("error_variance", channel_estimator(pilots, {}),
                           [](const channel_estimator& e) { e.error_variance(0, 1); });
  expect_moved_from_throws("noise", noise_estimator(pilots), [&](const noise_estimator& e) {
    e.run(exec(), received, {.covariance = make_view(h.data(), 1, 1)});
  });
}

TEST(contracts, an_interleaver_that_was_moved_from_still_permutes) {
  bit_interleaver first(random_permutation(16, 1));
  const bit_interleaver second = std::move(first);
  EXPECT_EQ(first.permutation(), second.permutation());
  EXPECT_TRUE(first.permutes());
}

/// The argument that a shape_error names.
template <class F>
std::string refused(F call) {
  try {
    call();
  } catch (const shape_error& e) {
    return e.argument();
  }
  return "nothing";
}

TEST(contracts, outputs_that_overlap_are_refused) {
  symbols x(10), y(10);
  const auto at = [](auto& v, std::size_t first, std::size_t n) { return make_view(v.data() + first, n); };
  const auto fade = [&](view<std::complex<float>> out, view<std::complex<float>> gain) {
    apply_rayleigh(exec(), at(std::as_const(x), 0, 5), out, gain, 1, {});
  };
  EXPECT_EQ(refused([&] { fade(at(y, 0, 5), at(y, 0, 5)); }), "gain");
  EXPECT_EQ(refused([&] { fade(at(y, 0, 5), at(y, 4, 5)); }), "gain");
  EXPECT_EQ(refused([&] { fade(at(y, 0, 5), at(y, 5, 5)); }), "nothing");

  const turbo_decoder decoder({.k = 40});
  const std::vector<float> llr(3 * 132, 1.f);
  std::vector<float> soft(120);
  const auto decode = [&](const turbo_decoder_output& out) {
    decoder.run(exec(), make_view(llr.data(), 132, 3), out);
  };
  const auto all = make_view(soft.data(), 40, 3);
  EXPECT_EQ(refused([&] { decode({.soft = all, .extrinsic = all}); }), "extrinsic");
  EXPECT_EQ(refused([&] { decode({.soft = all}); }), "nothing");
  // Rows of 40 values, 39 apart.
  EXPECT_EQ(refused([&] { decode({.soft = view<float>{soft.data(), 40, 3, 1, 39}}); }), "soft");
}

TEST(contracts, outputs_of_16_bit_decoders_do_not_overlap) {
  const std::vector<float> llr(120);
  std::vector<std::uint8_t> out(41);
  const auto in = make_view(llr.data(), 120, 1);
  const auto bits = make_view(out.data(), 40, 1);
  const auto status = [&](std::size_t at) { return make_view(out.data() + at, 1, 1); };
  const viterbi_decoder viterbi({.code = conv_lte(), .k = 40, .precision = conv_precision::int16});
  const bcjr_decoder bcjr({.code = conv_lte(),
                           .k = 40,
                           .algorithm = map_algorithm::max_log_map,
                           .precision = conv_precision::int16});
  for (const std::size_t at : {39U, 40U}) {
    const char* const blamed = at < 40 ? "status" : "nothing";
    EXPECT_EQ(refused([&] { viterbi.run(exec(), in, {.bits = bits, .status = status(at)}); }), blamed);
    EXPECT_EQ(refused([&] { bcjr.run(exec(), in, {}, {.bits = bits, .status = status(at)}); }), blamed);
  }
}

TEST(contracts, what_a_channel_sends_does_not_overlap_its_gains) {
  const symbols x(8);
  symbols y(16);
  const auto in = make_view(x.data(), 1, 8);
  const auto at = [&](std::size_t first) { return make_view(y.data() + first, 1, 8); };
  const kronecker_channel kronecker(kronecker_config{});
  const tdl_channel tdl(one_tap);
  for (const std::size_t first : {0U, 7U, 8U}) {
    const char* const blamed = first < 8 ? "channel" : "nothing";
    EXPECT_EQ(refused([&] { apply_mimo_rayleigh(exec(), in, at(0), at(first), 1, {}); }), blamed);
    EXPECT_EQ(refused([&] { kronecker.apply(exec(), in, at(0), at(first), 1, {}); }), blamed);
    EXPECT_EQ(refused([&] { tdl.apply(exec(), in, at(0), at(first), {}); }), blamed);
  }
}

TEST(contracts, what_an_estimator_tells_does_not_overlap) {
  const pilot_pattern pilots = pilots_of(nr_shared_channel({.carrier = {.resource_blocks = 1}}));
  const std::size_t n = pilots.elements();
  const symbols y(n, 1.f), one(1, 1.f);
  symbols h(2 * n);
  const float n0 = 1;
  const auto received = make_view(y.data(), 1, n);
  const view<float> part{reinterpret_cast<float*>(h.data()), 1, n, 1, 2};  // the real parts of h
  const view<float> apart{part.data + 2 * n, 1, n, 1, 2};
  const channel_estimator estimator(pilots, {});
  const auto estimate = [&](view<float> noise) {
    estimator.run(exec(), received, make_view(&n0, 1, 1),
                  {.channel = make_view(h.data(), 1, n), .noise_var = noise});
  };
  EXPECT_EQ(refused([&] { estimate(part); }), "noise_var");
  EXPECT_EQ(refused([&] { estimate(apart); }), "nothing");
  const noise_estimator noise(pilots);
  const auto covariance = [&](view<float> mean) {
    noise.run(exec(), received, {.covariance = make_view(h.data(), 1, 1), .noise_var = mean});
  };
  EXPECT_EQ(refused([&] { covariance({part.data + 1, 1, 1, 1, 1}); }), "noise_var");
  EXPECT_EQ(refused([&] { covariance({part.data + 2, 1, 1, 1, 1}); }), "nothing");
  const whitener whiten;
  const auto whitened = [&](std::size_t first) {
    whiten.run(exec(), make_view(one.data(), 1, 1), 0, received, received, make_view(h.data(), 1, n),
               make_view(h.data() + first, 1, n));
  };
  EXPECT_EQ(refused([&] { whitened(n - 1); }), "out_channel");
  EXPECT_EQ(refused([&] { whitened(n); }), "nothing");
}

TEST(contracts, outputs_of_clusters_do_not_overlap) {
  const symbols h(8, 1.f), y(4, 1.f);
  const float n0 = 1;
  std::vector<float> llr(16);
  const clustered_uplink_detector detector({.detector = {.antennas = 4, .users = 2}, .clusters = 2});
  const auto detect = [&](view<float> sinr) {
    detector.run(exec(),
                 {.channel = make_view(h.data(), 8, 1),
                  .received = make_view(y.data(), 4, 1),
                  .noise_var = make_view(&n0, 1, 1)},
                 {.llr = make_view(llr.data(), detector.bits_per_vector(), 1), .sinr = sinr});
  };
  EXPECT_EQ(refused([&] { detect(make_view(llr.data() + 1, 2, 1)); }), "sinr");
  EXPECT_EQ(refused([&] { detect(make_view(llr.data() + 14, 2, 1)); }), "nothing");
}

}  // namespace contracts_test
}  // namespace wb
