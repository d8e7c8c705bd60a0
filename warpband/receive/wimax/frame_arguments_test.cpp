// WiMAX frames: what is said of bad settings and shapes.
#include <complex>

#include <tests/frame.hpp>
#include <tests/on_backends.hpp>

namespace frame_arguments_test {

using namespace wb;
using namespace wb::testing;
using complex = std::complex<float>;

TEST(frame_arguments, bad_settings_are_named) {
  const auto exec = open_scalar();
  const auto good = coded();
  const auto blames = [&](auto change) {
    auto c = good;
    change(c);
    const std::string a = blamed([&] { wimax_bursts_of(c); }), b = blamed([&] { wimax_receiver(c, *exec); }),
                      d = blamed([&] { wimax_transmitter(c, *exec); });
    return a == b && b == d ? a : a + "|" + b + "|" + d;
  };
  EXPECT_EQ(blames([](wimax_link_config&) {}), "");
  EXPECT_EQ(blames([](wimax_link_config& c) { c.frame.bursts[1].first_tone = 1; }), "bursts[2]");
  EXPECT_EQ(blames([](wimax_link_config& c) { c.frame.bursts[1].first_symbol = 7; }),
            "bursts[1].first_symbol");
  EXPECT_EQ(blames([](wimax_link_config& c) { c.frame.bursts[1].qam = 8; }), "bursts[1].qam");
  EXPECT_EQ(blames([](wimax_link_config& c) { c.codes.pop_back(); }), "codes");
  EXPECT_EQ(blames([](wimax_link_config& c) { c.codes.clear(); }), "");
  EXPECT_EQ(blames([](wimax_link_config& c) { n_in(c.codes[1]) = 2304; }), "codes[1]");
  EXPECT_EQ(blames([](wimax_link_config& c) { n_in(c.codes[1]) = 577; }), "codes[1].n");
  EXPECT_EQ(blames([](wimax_link_config& c) { c.codes[1] = code_config("lte-transport"); }),
            "codes[1].code.type");
  EXPECT_EQ(blames([](wimax_link_config& c) { c.space_time.rx_antennas = 5; }), "rx_antennas");
  EXPECT_EQ(blames([](wimax_link_config& c) { c.space_time.search = golden_search::slicing; }), "search");
  EXPECT_EQ(blames([](wimax_link_config& c) { c.space_time.qam = 3; }), "");  // each burst has its own
  EXPECT_EQ(blamed([&] { wimax_receiver(good, *exec, 0); }), "frames");
  EXPECT_EQ(blamed([&] { wimax_receiver(good, *exec, std::size_t{1} << 40); }), "frames");
}

TEST(frame_arguments, bad_shapes_are_named) {
  const auto exec = open_scalar();
  const auto c = coded();
  wimax_receiver receiver(c, *exec, 2);
  wimax_transmitter transmitter(c, *exec, 2);
  std::vector<complex> values(3 * 12 * 72 * 4);
  std::vector<float> n0(3, 0.1f);
  const auto y = make_frame_grid<const complex>(values.data(), 2, 12, 72, 2),
             h = make_frame_grid<const complex>(values.data(), 2, 1, 72, 4);
  const auto noise = make_view<const float>(n0.data(), 2);
  const auto blames = [&](auto change) {
    wimax_received in{.channel = h, .received = y, .noise_var = noise};
    change(in);
    return blamed([&] { receiver.run(in); });
  };
  EXPECT_EQ(blames([](wimax_received&) {}), "");
  EXPECT_EQ(blames([](wimax_received& in) { in.received.symbols = 11; }), "received");
  EXPECT_EQ(blames([](wimax_received& in) { in.received.tones = 71; }), "received");
  EXPECT_EQ(blames([](wimax_received& in) { in.received.antennas = 1; }), "received");
  EXPECT_EQ(blames([](wimax_received& in) { in.received.frames = 3; }), "frames");
  EXPECT_EQ(blames([](wimax_received& in) { in.received.frames = 1; }), "channel");
  EXPECT_EQ(blames([](wimax_received& in) { in.received.data = nullptr; }), "received");
  EXPECT_EQ(blames([](wimax_received& in) { in.channel.symbols = 12; }), "channel");
  EXPECT_EQ(blames([](wimax_received& in) { in.channel.antennas = 2; }), "channel");
  EXPECT_EQ(blames([](wimax_received& in) { in.noise_var.items = 1; }), "noise_var");
  std::vector<std::vector<std::uint8_t>> bits;
  std::vector<view<const std::uint8_t>> views;
  for (const wimax_burst_sizes& s : transmitter.bursts()) {
    bits.emplace_back(2 * s.blocks * s.k);
    views.push_back(make_view<const std::uint8_t>(bits.back().data(), 2 * s.blocks, s.k));
  }
  const auto out = make_frame_grid(values.data(), 2, 12, 72, 2);
  const auto sends = [&](auto change) {
    auto v = views;
    auto o = out;
    change(v, o);
    return blamed([&] { transmitter.run(v, o); });
  };
  EXPECT_EQ(sends([](auto&, auto&) {}), "");
  EXPECT_EQ(sends([](auto& v, auto&) { v.pop_back(); }), "bits");
  EXPECT_EQ(sends([](auto& v, auto&) { v[1].elements--; }), "bits");
  EXPECT_EQ(sends([](auto& v, auto&) { v[0].items--; }), "bits");
  EXPECT_EQ(sends([](auto&, auto& o) { o.antennas = 1; }), "out");
  EXPECT_EQ(sends([](auto&, auto& o) { o.tone_stride = 0; }), "out");
  EXPECT_EQ(sends([](auto&, auto& o) { o.frames = 3; }), "frames");
}

}  // namespace frame_arguments_test
