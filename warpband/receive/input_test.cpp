// What iterative receivers refuse, and their settings by name.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <tests/receive.hpp>

namespace receive_input_test {

using namespace wb::testing;
using wb::detector_config;
using wb::iterative_receiver;
using wb::receiver_config;

TEST(receiver_arguments, bad_ones_are_named) {
  const detector_config d = detector_of("nway");
  const auto receiver = [&](receiver_config c) { iterative_receiver(d, ldpc_of(576), c); };
  EXPECT_EQ(blamed([&] { receiver({}); }), "");
  EXPECT_EQ(blamed([&] { receiver({.outer = 0}); }), "outer");
  EXPECT_EQ(blamed([&] { iterative_receiver(d, ldpc_of(576), {}, 71); }), "uses_per_frame");
  EXPECT_EQ(blamed([&] { iterative_receiver(d, ldpc_of(576), {}, 72); }), "");
  EXPECT_EQ(blamed([&] { receiver({.outer = 17}); }), "outer");
  EXPECT_EQ(blamed([&] { receiver({.inner = -1}); }), "inner");
  EXPECT_EQ(blamed([&] { receiver({.inner = 1001}); }), "inner");
  EXPECT_EQ(blamed([&] { receiver({.scaling = 0}); }), "scaling");
  EXPECT_EQ(blamed([&] { receiver({.scaling = 2.1f}); }), "scaling");
  EXPECT_EQ(blamed([&] { receiver({.scaling = std::nanf("")}); }), "scaling");
  EXPECT_EQ(blamed([&] { receiver({.detector_clip = 0}); }), "detector_clip");
  EXPECT_EQ(
      blamed([&] { receiver({.interleaver = wb::receiver_interleaver::random, .interleaver_seed = -1}); }),
      "interleaver_seed");
  std::vector<std::int32_t> order(576);
  std::iota(order.rbegin(), order.rend(), 0);
  EXPECT_EQ(blamed([&] { receiver({.permutation = order}); }), "");
  EXPECT_EQ(
      blamed([&] { receiver({.interleaver = wb::receiver_interleaver::random, .permutation = order}); }),
      "interleaver");
  order[3] = order[9];
  EXPECT_EQ(blamed([&] { receiver({.permutation = order}); }), "interleaver");
  order[3] = 576;
  EXPECT_EQ(blamed([&] { receiver({.permutation = order}); }), "interleaver");
  order[3] = -1;
  EXPECT_EQ(blamed([&] { receiver({.permutation = order}); }), "interleaver");
  order.resize(575);
  EXPECT_EQ(blamed([&] { receiver({.permutation = order}); }), "interleaver");

  const detector_config linear = detector_of("mmse");
  EXPECT_EQ(blamed([&] { iterative_receiver(linear, ldpc_of(576), loop_of(2)); }), "detector");
  EXPECT_EQ(blamed([&] { iterative_receiver(d, code_of("conv", 100), loop_of(2)); }), "decoder");
  const std::shared_ptr<wb::soft_detector> detector = wb::make_soft_detector(d);
  const std::shared_ptr<wb::soft_decoder> decoder = wb::make_soft_decoder(ldpc_of(576), 3);
  EXPECT_EQ(blamed([&] { iterative_receiver(detector, decoder, {.inner = 2}); }), "inner");
  EXPECT_EQ(blamed([&] { iterative_receiver(detector, decoder, {.outer = 2}); }), "");
}

TEST(receiver_arguments, shapes_that_do_not_match_are_named) {
  const auto exec = wb::open_executor("cpu");
  const detector_config d = detector_of("nway");
  const iterative_receiver receiver(d, ldpc_of(576), loop_of(2));
  const sent_frames f = send(*exec, d, ldpc_of(576), receiver, 2);
  const std::size_t uses = 2 * receiver.uses_per_frame();
  const auto y = on_device(*exec, f.y, uses, 2), h = on_device(*exec, f.h, uses, 4);
  const auto n0 = on_device(*exec, f.n0, uses, 1);
  const auto prior = exec->make<float>(2, 576);
  auto bits = exec->make<std::uint8_t>(4, 288);
  auto llr = exec->make<float>(3, 576);
  const auto blames = [&](auto change, wb::decided out) {
    wb::heard in{h, 1, y, n0, {}};
    change(in);
    try {
      receiver.run(*exec, in, out);
    } catch (const wb::argument_error& e) {
      return e.argument();
    }
    return std::string();
  };
  const auto nothing = [](wb::heard&) {};
  EXPECT_EQ(blames(nothing, {.bits = bits}), "");
  EXPECT_EQ(blames([](auto& in) { in.received.items--; }, {}), "received");
  EXPECT_EQ(blames([](auto& in) { in.channel.items--; }, {}), "channel");
  EXPECT_EQ(blames([](auto& in) { in.uses_per_channel = 0; }, {}), "uses_per_channel");
  EXPECT_EQ(blames([](auto& in) { in.noise_var.items = 1; }, {}), "noise_var");
  EXPECT_EQ(blames([&](auto& in) { in.prior = prior, in.prior.items = 3; }, {}), "prior");
  EXPECT_EQ(blames(nothing, {.bits = wb::make_view(bits.data(), 3, 288)}), "bits");
  EXPECT_EQ(blames(nothing, {.bits = wb::make_view(bits.data(), 4, 287)}), "bits");
  EXPECT_EQ(blames(nothing, {.detected = llr}), "detected");
  EXPECT_EQ(blames(nothing, {.extrinsic = llr}), "extrinsic");
  EXPECT_EQ(blames(nothing, {.status = wb::make_view(bits.data(), 3)}), "status");
  EXPECT_EQ(blames(nothing, {.use_status = wb::make_view(bits.data(), 3)}), "use_status");
}

TEST(random_permutation, is_fixed_by_its_seed) {
  const auto a = wb::random_permutation(1000, 5), b = wb::random_permutation(1000, 6);
  EXPECT_EQ(a, wb::random_permutation(1000, 5));
  EXPECT_NE(a, b);
  for (const auto& order : {a, b}) {
    std::vector<std::int32_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::int32_t i = 0; i < 1000; i++) EXPECT_EQ(sorted[static_cast<std::size_t>(i)], i);
  }
  EXPECT_TRUE(wb::random_permutation(0, 1).empty());
  EXPECT_EQ(wb::random_permutation(1, 1), std::vector<std::int32_t>{0});
}

TEST(receiver_settings, are_read_and_written_by_name) {
  receiver_config c;
  const auto set = [&](const char* name, wb::setting_value v) {
    find_setting(wb::receiver_settings(), name)->set(c, v);
  };
  set("outer", std::int64_t{3});
  set("inner", std::string("auto"));
  set("scaling", 0.75);
  set("interleaver", std::string("Random"));
  set("interleaver_seed", std::int64_t{9});
  set("decoder_state", std::string("reset"));
  set("detector_clip", std::string("none"));
  EXPECT_EQ(c.outer, 3);
  EXPECT_EQ(c.inner, std::nullopt);
  EXPECT_EQ(c.scaling, 0.75f);
  EXPECT_EQ(c.interleaver, wb::receiver_interleaver::random);
  EXPECT_EQ(c.interleaver_seed, 9);
  EXPECT_EQ(c.decoder_state, wb::receiver_state::reset);
  EXPECT_EQ(c.detector_clip, std::nullopt);
  EXPECT_EQ(blamed([&] { set("outer", std::int64_t{17}); }), "outer");
  EXPECT_EQ(blamed([&] { set("interleaver", std::string("permutation")); }), "interleaver");
}

}  // namespace receive_input_test
