// WiMAX frames with preamble, FCH and DL-MAP: what is sent against the oracle, what the receiver reads and
// estimates, frames whose maps fail, the chain, error rates, bad settings.
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include <oracle/modem.hpp>
#include <oracle/stbc.hpp>
#include <oracle/theory.hpp>
#include <oracle/wimax.hpp>
#include <tests/codes.hpp>
#include <tests/on_backends.hpp>
#include <warpband/core/as_size.hpp>
#include <warpband/core/status.hpp>
#include <warpband/receive/wimax/chain.hpp>

namespace wimax_chain_test {

using namespace wb;
using namespace wb::testing;
using complex = std::complex<float>;
using bytes = std::vector<std::uint8_t>;

/// Three users in a mobile profile with few symbols.
wimax_frame_config three_users() {
  wimax_frame_config c;
  c.fft_size = 128;
  c.frame_ms = 5;
  c.downlink_share = 0.5;
  c.modulations = {"qpsk", "16qam", "64qam"};
  c.shares = {2, 1, 1};
  return c;
}
code_config short_code() {
  code_config code("conv");
  k_in(code) = 60;
  conv_in(code).termination = conv_ending::tail_biting;
  conv_in(code).standard = conv_standard::ieee_802_16;
  return code;
}

/// Frames as a transmitter sends them, and what arrives of them. H of a tone is that of a line of `taps`; 0:
/// each tone has an H of its own.
struct transmission {
  wimax_link_config link;
  std::size_t frames, symbols, tones, rx;
  std::vector<bytes> bits;  // of each burst
  std::vector<complex> sent, h, y;
  float n0;

  transmission(const wimax_link_config& c, std::size_t count, float noise, std::uint64_t seed, int taps)
      : link(c),
        frames(count),
        symbols(as_size(c.frame.symbols())),
        tones(as_size(c.frame.profile.data_subcarriers)),
        rx(as_size(c.space_time.rx_antennas)),
        n0(noise > 0 ? noise : 1e-4f) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> part(0, std::sqrt(0.5f));
    const auto normal = [&] {
      const float re = part(random);
      return complex(re, part(random));
    };
    const auto exec = open_scalar();
    wimax_transmitter transmitter(c, *exec, frames);
    std::vector<view<const std::uint8_t>> views;
    for (const wimax_burst_sizes& s : transmitter.bursts()) {
      bits.emplace_back(frames * s.blocks * s.k);
      for (std::uint8_t& b : bits.back()) b = random() & 1;
    }
    for (std::size_t i = 0; i < bits.size(); i++) {
      const wimax_burst_sizes& s = transmitter.bursts()[i];
      views.push_back(make_view<const std::uint8_t>(bits[i].data(), frames * s.blocks, s.k));
    }
    sent.resize(frames * symbols * tones * 2);
    transmitter.run(views, make_frame_grid(sent.data(), frames, symbols, tones, 2));
    h.resize(frames * tones * 2 * rx);
    if (taps == 0)
      for (complex& x : h) x = normal();
    else
      for (std::size_t f = 0; f < frames; f++)
        for (int tap = 0; tap < taps; tap++)
          for (std::size_t e = 0; e < 2 * rx; e++) {
            const complex gain = normal() / std::sqrt(static_cast<float>(taps));
            for (std::size_t t = 0; t < tones; t++)
              h[(f * tones + t) * 2 * rx + e] +=
                  gain * std::polar(1.f, -2 * std::numbers::pi_v<float> * static_cast<float>(tap) *
                                             static_cast<float>(t) / 1024.f);
          }
    y.resize(frames * symbols * tones * rx);
    for (std::size_t f = 0; f < frames; f++)
      for (std::size_t s = 0; s < symbols; s++)
        for (std::size_t t = 0; t < tones; t++)
          for (std::size_t r = 0; r < rx; r++) {
            const complex* const gain = &h[(f * tones + t) * 2 * rx + 2 * r];
            const complex* const x = &sent[((f * symbols + s) * tones + t) * 2];
            y[place(f, s, t) + r] = gain[0] * x[0] + gain[1] * x[1] + std::sqrt(noise) * normal();
          }
  }
  std::size_t place(std::size_t frame, std::size_t symbol, std::size_t tone) const {
    return ((frame * symbols + symbol) * tones + tone) * rx;
  }
};

struct answer {
  std::vector<bytes> bits;  // of each burst
  std::vector<bytes> codeword_status;
  bytes map_status;
  std::vector<complex> channel;
  std::vector<float> noise;
  bool operator==(const answer&) const = default;
};
template <class T>
std::vector<T> fetch(executor& exec, view<const T> v) {
  std::vector<T> out(v.data == nullptr ? 0 : v.elements * v.items);
  exec.download(out.data(), v.data, out.size() * sizeof(T));
  exec.sync();
  return out;
}
/// By a receiver whose bursts are those of `known`, of frames first, first + 1, ...
answer receive(executor& exec, const wimax_link_config& known, const transmission& x, std::size_t first,
               std::size_t count) {
  wimax_receiver receiver(known, exec, count);
  const auto part = [&](const std::vector<complex>& v) {
    const auto n = static_cast<std::ptrdiff_t>(v.size() / x.frames);
    const auto begin = v.begin() + static_cast<std::ptrdiff_t>(first) * n;
    return std::vector<complex>(begin, begin + static_cast<std::ptrdiff_t>(count) * n);
  };
  const auto y = on_device(exec, part(x.y), count * x.symbols * x.tones, x.rx);
  const auto h = on_device(exec, part(x.h), count * x.tones, 2 * x.rx);
  const auto n0 = on_device(exec, std::vector<float>{x.n0}, 1, 1);
  const auto& results = receiver.run({make_frame_grid(h.data(), count, 1, x.tones, 2 * x.rx),
                                      make_frame_grid(y.data(), count, x.symbols, x.tones, x.rx),
                                      {n0.data(), 1, count, 1, 0}});
  answer a;
  for (const wimax_burst_result& r : results) {
    a.bits.push_back(fetch(exec, r.bits));
    a.codeword_status.push_back(fetch(exec, r.codeword_status));
  }
  a.map_status = fetch(exec, receiver.map_status());
  a.channel = fetch(exec, receiver.channel());
  a.noise = fetch(exec, receiver.noise_var());
  return a;
}
answer receive(executor& exec, const transmission& x) { return receive(exec, x.link, x, 0, x.frames); }

std::size_t differing(const bytes& a, const bytes& b) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < a.size(); i++) n += a[i] != b[i];
  return n;
}

class wimax_chain_on : public on_backend {};
WB_ON_ALL_BACKENDS(wimax_chain_on);

TEST_P(wimax_chain_on, without_noise_the_bits_come_back) {
  for (const wimax_csi csi : {wimax_csi::preamble, wimax_csi::perfect})
    for (const wimax_direction direction : {wimax_direction::downlink, wimax_direction::uplink})
      for (const bool coded : {false, true}) {
        wimax_frame_config c = three_users();
        c.csi = csi;
        c.direction = direction;
        c.space_time = coded ? wimax_space_time::silver : wimax_space_time::alamouti;
        if (coded) c.code = short_code();
        const transmission x(wimax_link_of(c), 2, 0, 3, 1);
        const answer got = receive(exec(), x);
        for (std::size_t i = 0; i < got.bits.size(); i++) {
          EXPECT_EQ(got.bits[i], x.bits[i]) << i;
          EXPECT_EQ(count_erased(got.codeword_status[i]), 0u);
        }
        EXPECT_EQ(got.map_status, bytes(direction == wimax_direction::downlink ? 2 : 0, 0));
      }
}

TEST_P(wimax_chain_on, a_carrier_of_frequency_division_has_one_direction) {
  for (const wimax_direction direction : {wimax_direction::downlink, wimax_direction::uplink}) {
    wimax_frame_config c = three_users();
    c.direction = direction;
    c.downlink_share = direction == wimax_direction::downlink ? 1 : 0;
    const wimax_link_config link = wimax_link_of(c);
    EXPECT_EQ(link.frame.symbols(), wimax_symbols(link.frame.profile, c.frame_ms));
    const transmission x(link, 2, 0, 3, 1);
    EXPECT_EQ(receive(exec(), x).bits, x.bits);
    c.direction =
        direction == wimax_direction::downlink ? wimax_direction::uplink : wimax_direction::downlink;
    EXPECT_THROW(wimax_transmitter(wimax_link_of(c), exec(), 1), argument_error);  // it has no symbol
  }
}

TEST_P(wimax_chain_on, bursts_are_where_the_map_says) {
  const wimax_frame_config c = three_users();
  const wimax_link_config known = wimax_link_of(c);
  for (const std::vector<std::size_t>& order : {std::vector<std::size_t>{1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
    const transmission x(wimax_link_of(c, order), 2, 0, 4, 1);
    ASSERT_NE(x.link.frame.bursts[0].first_tone, known.frame.bursts[0].first_tone);
    const answer got = receive(exec(), known, x, 0, 2);
    EXPECT_EQ(got.bits, x.bits);
    EXPECT_EQ(got.map_status, bytes(2, 0));
  }
}

TEST_P(wimax_chain_on, a_map_of_other_bursts_erases_what_it_does_not_know) {
  wimax_frame_config c = three_users();
  const wimax_link_config known = wimax_link_of(c);
  c.modulations[1] = "qpsk";
  const transmission x(wimax_link_of(c), 1, 0, 5, 1);
  const answer got = receive(exec(), known, x, 0, 1);
  EXPECT_EQ(got.bits[0], x.bits[0]);
  EXPECT_EQ(got.bits[2], x.bits[2]);
  EXPECT_EQ(got.bits[1], bytes(got.bits[1].size(), 0));
  EXPECT_EQ(count_erased(got.codeword_status[1]), got.codeword_status[1].size());
  EXPECT_EQ(got.map_status, bytes{status_erased});
}

TEST_P(wimax_chain_on, a_frame_whose_maps_fail_is_erased_alone) {
  for (const bool header : {true, false}) {
    transmission x(wimax_link_of(three_users()), 3, 0.01f, 6, 1);
    const transmission good = x;
    const std::size_t first = as_size(wimax_first_data_symbol(x.link)), steps = (first - 1) / 2;
    // Of frame 1 the FCH, which has the first 64 codewords, or what follows it, with the wrong sign.
    for (std::size_t s = 1; s < first; s++)
      for (std::size_t t = 0; t < x.tones; t++)
        if ((t * steps + (s - 1) / 2 < 64) == header)
          for (std::size_t r = 0; r < x.rx; r++) x.y[x.place(1, s, t) + r] *= -1;
    const answer got = receive(exec(), x), expected = receive(exec(), good);
    EXPECT_EQ(got.map_status, (bytes{0, status_erased, 0}));
    EXPECT_EQ(expected.map_status, bytes(3, 0));
    for (std::size_t i = 0; i < got.bits.size(); i++) {
      const std::size_t of_frame = got.bits[i].size() / 3;
      EXPECT_EQ(row_of(got.bits[i], 0, of_frame), row_of(expected.bits[i], 0, of_frame));
      EXPECT_EQ(row_of(got.bits[i], 1, of_frame), bytes(of_frame, 0));
      EXPECT_EQ(row_of(got.bits[i], 2, of_frame), row_of(expected.bits[i], 2, of_frame));
      EXPECT_EQ(3 * count_erased(got.codeword_status[i]), got.codeword_status[i].size());
    }
  }
}

TEST_P(wimax_chain_on, frames_of_a_batch_are_those_alone) {
  wimax_frame_config c = three_users();
  c.code = short_code();
  c.space_time = wimax_space_time::silver;
  c.modulations = {"16qam", "qpsk"};
  c.shares = {};
  const transmission x(wimax_link_of(c), 3, 0.3f, 7, 2);
  const answer whole = receive(exec(), x);
  for (std::size_t f = 0; f < 3; f++) {
    const answer alone = receive(exec(), x.link, x, f, 1);
    for (std::size_t i = 0; i < alone.bits.size(); i++) {
      EXPECT_EQ(alone.bits[i], row_of(whole.bits[i], f, alone.bits[i].size()));
      EXPECT_EQ(alone.codeword_status[i],
                row_of(whole.codeword_status[i], f, alone.codeword_status[i].size()));
    }
    EXPECT_EQ(alone.channel, row_of(whole.channel, f, alone.channel.size()));
    EXPECT_EQ(alone.noise, row_of(whole.noise, f, alone.noise.size()));
  }
  const auto scalar = open_scalar();
  EXPECT_EQ(receive(*scalar, x), whole);
  cpu threads(cpu_options{.threads = 3});
  EXPECT_EQ(receive(threads, x), whole);
}

TEST_P(wimax_chain_on, estimates_are_the_oracles) {
  wimax_frame_config c = three_users();
  c.fft_size = 512;
  const transmission x(wimax_link_of(c), 2, 0.1f, 8, 3);
  const answer got = receive(exec(), x);
  for (std::size_t f = 0; f < 2; f++)
    for (std::size_t r = 0; r < x.rx; r++)
      for (int a = 0; a < 2; a++) {
        std::vector<std::complex<double>> y;
        for (std::size_t t = 0; t < x.tones; t++) y.emplace_back(x.y[x.place(f, 0, t) + r]);
        const auto expected = oracle::wimax_least_squares(y, a);
        for (std::size_t t = 0; t < x.tones; t++)
          EXPECT_LT(
              std::abs(std::complex<double>(got.channel[(f * x.tones + t) * 2 * x.rx + 2 * r + as_size(a)]) -
                       expected[t]),
              1e-5)
              << t;
      }
}

TEST_P(wimax_chain_on, the_chain_gives_what_the_receiver_gives) {
  for (const bool preamble : {true, false}) {
    wimax_frame_config c = three_users();
    c.csi = preamble ? wimax_csi::preamble : wimax_csi::perfect;
    const transmission x(wimax_link_of(c), 2, 0.2f, 9, 1);
    const answer expected = receive(exec(), x);
    const auto chain = make_wimax_chain(c);
    const frame_run run = chain->attach(exec(), 2);
    const auto y = on_device(exec(), x.y, 2 * x.symbols * x.tones, x.rx);
    const auto h = on_device(exec(), x.h, 2 * x.tones, 2 * x.rx);
    const auto n0 = on_device(exec(), std::vector<float>{x.n0}, 1, 1);
    frame_arrays f{.items = 2, .frame_items = 2};
    std::size_t input = 0;
    if (!preamble) f.inputs[input++] = h.data();
    f.inputs[input++] = y.data();
    f.inputs[input] = n0.data();
    std::vector<array<std::uint8_t>> out;
    for (const frame_port& p : chain->outputs()) {
      out.push_back(exec().make<std::uint8_t>(p.rows_of(2), p.elements));
      f.outputs[out.size() - 1] = out.back().data();
    }
    for (std::size_t s = 0; s < chain->stages().size(); s++) run(s, f);
    for (std::size_t i = 0; i < x.bits.size(); i++) EXPECT_EQ(exec().to_host(out[i]), expected.bits[i]);
    EXPECT_EQ(exec().to_host(out.back()), expected.map_status);
  }
}

/// Estimates and LLRs go where the caller says. With LLRs an uncoded burst's decisions are theirs.
TEST_P(wimax_chain_on, results_go_to_the_caller) {
  for (const bool coded : {false, true}) {
    wimax_frame_config c = three_users();
    if (coded) c.code = short_code();
    const transmission x(wimax_link_of(c), 2, 0.3f, 11, 2);
    const answer expected = receive(exec(), x);
    wimax_link_config soft = x.link;
    soft.soft = true;
    wimax_receiver receiver(x.link, exec(), 2), with_llrs(soft, exec(), 2);
    const auto y = on_device(exec(), x.y, 2 * x.symbols * x.tones, x.rx);
    const auto n0 = on_device(exec(), std::vector<float>{x.n0}, 1, 1);
    const wimax_received in{
        {}, make_frame_grid(y.data(), 2, x.symbols, x.tones, x.rx), {n0.data(), 1, 2, 1, 0}};
    auto h = exec().make<complex>(2 * x.tones, 2 * x.rx);
    auto noise = exec().make<float>(2 * x.tones, 1);
    std::vector<array<float>> llr;
    std::vector<array<std::uint8_t>> bits;
    std::vector<wimax_burst_output> to;
    for (const wimax_burst_sizes& s : receiver.bursts()) {
      llr.push_back(exec().make<float>(2 * s.codewords, s.bits_per_codeword));
      bits.push_back(exec().make<std::uint8_t>(2 * s.blocks, s.k));
      to.push_back({.bits = bits.back(), .llr = llr.back()});
    }
    const auto& results =
        receiver.run(in, {.bursts = to, .map_status = {}, .channel = h, .noise_var = noise});
    EXPECT_EQ(exec().to_host(h), expected.channel);
    EXPECT_EQ(exec().to_host(noise), expected.noise);
    EXPECT_EQ(fetch(exec(), receiver.channel()), expected.channel);
    EXPECT_EQ(receiver.channel().data, h.data());
    const auto& kept = with_llrs.run(in);
    for (std::size_t i = 0; i < to.size(); i++) {
      const std::vector<float> found = exec().to_host(llr[i]);
      EXPECT_EQ(results[i].llr.data, llr[i].data());
      EXPECT_EQ(found, fetch(exec(), kept[i].llr)) << i;
      bytes signs;
      for (const float l : found) signs.push_back(l < 0);
      EXPECT_EQ(exec().to_host(bits[i]), coded ? expected.bits[i] : signs) << i;
    }
  }
}

TEST(wimax_frames, control_symbols_are_the_oracles) {
  for (const wimax_map_modulation modulation : {wimax_map_modulation::bpsk, wimax_map_modulation::qpsk})
    for (const int repetition : {1, 2, 4, 6}) {
      wimax_frame_config c = three_users();
      c.fft_size = 512;
      c.map = {modulation, repetition};
      const transmission x(wimax_link_of(c), 2, 0, 10, 1);
      const std::size_t first = as_size(wimax_first_data_symbol(x.link));
      std::vector<oracle::wimax_entry> entries;
      for (const wimax_burst& b : x.link.frame.bursts)
        entries.push_back({b.qam == 4    ? 0
                           : b.qam == 16 ? 1
                                         : 2,
                           b.first_symbol, b.first_tone, b.symbols, b.tones});
      const bytes map = oracle::wimax_dl_map(entries);
      bytes bits =
          oracle::wimax_protected(oracle::wimax_fch(repetition / 2, static_cast<int>(map.size() / 8)), 4, 1);
      const bytes rest =
          oracle::wimax_protected(map, repetition, modulation == wimax_map_modulation::bpsk ? 2 : 1);
      bits.insert(bits.end(), rest.begin(), rest.end());
      const std::size_t steps = (first - 1) / 2;
      ASSERT_EQ(steps, (bits.size() + 4 * x.tones - 1) / (4 * x.tones));
      bits.resize(steps * x.tones * 4);
      const auto points = oracle::constellation(4);
      const oracle::space_time_block alamouti{.kind = oracle::space_time::alamouti};
      for (std::size_t f = 0; f < 2; f++) {
        for (int a = 0; a < 2; a++) {
          const auto pilots = oracle::wimax_preamble(static_cast<int>(x.tones), a);
          for (std::size_t t = 0; t < x.tones; t++)
            ASSERT_NEAR(std::abs(x.sent[(f * x.symbols * x.tones + t) * 2 + as_size(a)] -
                                 complex(static_cast<float>(pilots[t]))),
                        0, 1e-6);
        }
        for (std::size_t n = 0; n < steps * x.tones; n++) {
          const std::uint8_t* const b = &bits[4 * n];
          const auto s =
              oracle::space_time_matrix(alamouti, {points[2u * b[0] + b[1]], points[2u * b[2] + b[3]]});
          for (std::size_t slot = 0; slot < 2; slot++)
            for (std::size_t a = 0; a < 2; a++) {
              const std::size_t symbol = 1 + 2 * (n % steps) + slot;
              const complex got = x.sent[((f * x.symbols + symbol) * x.tones + n / steps) * 2 + a];
              ASSERT_LT(std::abs(std::complex<double>(got) - s[2 * a + slot]), 1e-6) << n;
            }
        }
      }
    }
}

TEST(wimax_frames, checks_are_those_of_the_standards) {
  bytes bits;  // the check value of CRC-32 for "123456789", whose bits go least significant first
  for (const char c : std::string("123456789"))
    for (int i = 0; i < 8; i++) bits.push_back((c >> i) & 1);
  std::uint32_t crc = 0;
  const bytes rest = oracle::remainder_of(bits, 0x04C11DB7, 32, true);
  for (std::size_t i = 0; i < 32; i++) crc |= static_cast<std::uint32_t>(rest[i]) << i;
  EXPECT_EQ(crc, 0xCBF43926u);
}

TEST(wimax_frames, estimates_with_little_noise_decide_as_the_known_channel) {
  wimax_frame_config c = three_users();
  c.maps = false;
  cpu exec;
  std::size_t errors[2][2] = {};  // by noise and knowledge
  for (const bool noisy : {false, true})
    for (const bool known : {false, true}) {
      c.csi = known ? wimax_csi::perfect : wimax_csi::preamble;
      const transmission x(wimax_link_of(c), 8, noisy ? 0.3f : 1e-3f, 11, 1);
      const answer got = receive(exec, x);
      for (std::size_t i = 0; i < got.bits.size(); i++)
        errors[noisy][known] += differing(got.bits[i], x.bits[i]);
    }
  EXPECT_EQ(errors[0][0], errors[0][1]);
  EXPECT_GT(errors[1][0], errors[1][1]);
  EXPECT_GT(errors[1][1], 100u);
}

TEST(wimax_frames, error_rate_of_alamouti_is_that_of_combined_branches) {
  wimax_frame_config c = three_users();
  c.maps = false;
  c.csi = wimax_csi::perfect;
  c.fft_size = 2048;
  c.modulations = {"qpsk"};
  c.shares = {};
  cpu exec;
  for (const int rx : {1, 2}) {
    c.rx_antennas = rx;
    const float n0 = rx == 1 ? 0.3f : 0.8f;
    const transmission x(wimax_link_of(c), 4, n0, 12, 0);
    const answer got = receive(exec, x);
    const double rate = static_cast<double>(differing(got.bits[0], x.bits[0])) /
                        static_cast<double>(x.bits[0].size()),
                 // A bit has half the energy of its symbol.
        expected = oracle::bpsk_combined_rayleigh_ber(0.5 / n0, 2 * rx);
    // Symbols of a tone share H: as many independent ones as tones in all frames.
    const double independent = static_cast<double>(x.frames * x.tones),
                 deviation = std::sqrt(expected * (1 - expected) / independent);
    EXPECT_NEAR(rate, expected, 4 * deviation) << rx;
    EXPECT_GT(expected, 20 / independent);
  }
}

TEST(wimax_frames, bad_settings_are_named) {
  const auto blames = [](auto change) {
    wimax_frame_config c = three_users();
    change(c);
    const std::string a = blamed([&] { (void)wimax_link_of(c); }),
                      b = blamed([&] { (void)make_wimax_chain(c); });
    return a.empty() || a == b ? b : a + "|" + b;
  };
  EXPECT_EQ(blames([](auto&) {}), "");
  EXPECT_EQ(blames([](auto& c) { c.fft_size = 64; }), "profile");
  EXPECT_EQ(blames([](auto& c) { c.frame_ms = 6; }), "frame_ms");
  EXPECT_EQ(blames([](auto& c) { c.downlink_share = 1.5; }), "downlink_share");
  EXPECT_EQ(blames([](auto& c) { c.downlink_share = 0.1; }), "downlink_share");
  EXPECT_EQ(blames([](auto& c) { c.modulations = {}; }), "modulations");
  EXPECT_EQ(blames([](auto& c) { c.modulations[1] = "bpsk"; }), "modulations");
  EXPECT_EQ(blames([](auto& c) { c.shares = {1, 2}; }), "shares");
  EXPECT_EQ(blames([](auto& c) { c.shares = {1, 1, 1e-3}; }), "shares");
  EXPECT_EQ(blames([](auto& c) { c.map.repetition = 3; }), "map_repetition");
  EXPECT_EQ(blames([](auto& c) { c.rx_antennas = 5; }), "rx_antennas");
  EXPECT_EQ(blames([](auto& c) { c.code = code_config("lte-transport"); }), "code.type");
  EXPECT_EQ(blames([](auto& c) { c.code = code_config("lte-turbo"); }), "code");
  EXPECT_EQ(blames([](auto& c) {
              c.fft_size = 512;
              c.modulations.assign(8, "qpsk");
              c.shares = {};
            }),
            "modulations");
}

TEST(wimax_frames, bursts_stay_behind_preamble_and_maps) {
  wimax_link_config c = wimax_link_of(three_users());
  const auto blames = [&](auto change) {
    wimax_link_config changed = c;
    change(changed);
    return blamed([&] { (void)wimax_bursts_of(changed); });
  };
  EXPECT_EQ(blames([](auto&) {}), "");
  EXPECT_EQ(blames([](auto& x) { x.frame.bursts[1].first_symbol = 1; }), "bursts[1].first_symbol");
  EXPECT_EQ(blames([](auto& x) { x.frame.bursts.clear(); }), "maps");
  EXPECT_EQ(blames([](auto& x) { x.frame.profile.data_subcarriers = 73; }), "data_subcarriers");
  EXPECT_EQ(blames([](auto& x) {
              x.direction = wimax_direction::uplink;
              x.frame.bursts.clear();
            }),
            "maps");
}

}  // namespace wimax_chain_test
