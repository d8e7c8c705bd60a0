// WiMAX frames: bits to a grid and back on every backend; what a burst decides against the space-time decoder
// called by hand and the oracle; the code of a burst; bad elements.
#include <cstring>
#include <limits>

#include <tests/frame.hpp>
#include <tests/stbc.hpp>
#include <warpband/core/as_size.hpp>

namespace frame_test {

using namespace wb;
using namespace wb::testing;
using complex = std::complex<float>;
using enum wimax_direction;

/// How a grid lies in memory.
enum class order { frequency_first, antennas_apart, time_first };
constexpr order orders[]{order::frequency_first, order::antennas_apart, order::time_first};

template <class T>
frame_grid<T> lay(T* data, order how, std::size_t frames, std::size_t symbols, std::size_t tones,
                  std::size_t antennas) {
  frame_grid<T> g = make_frame_grid(data, frames, symbols, tones, antennas);
  if (how == order::antennas_apart) {  // [frames, symbols, antennas, tones]
    g.tone_stride = 1;
    g.antenna_stride = tones;
  } else if (how == order::time_first) {  // [frames, tones, symbols, antennas]
    g.symbol_stride = antennas;
    g.tone_stride = symbols * antennas;
  }
  return g;
}

/// A frame of a profile with a few symbols: bursts of every modulation beside and behind one another, of odd
/// and even lengths, from odd and even symbols on, tones between them left empty; and the uplink.
wimax_link_config mixed(int fft_size, const space_time_code& code, int rx = 2) {
  wimax_link_config c;
  c.frame = make_wimax_frame(wimax_profile_of(fft_size), 16, 11);
  const int tones = c.frame.profile.data_subcarriers;
  c.frame.bursts = {{downlink, tones, 2, 4, 0, 0},  // in place where tones lie side by side
                    {downlink, tones / 2, 5, 16, 0, 3},
                    {uplink, tones, 5, 4, 0, 0},
                    {downlink, 5, 7, 64, tones - 6, 3},
                    {downlink, tones / 2, 3, 4, 0, 8}};
  c.space_time.code = code;
  c.space_time.rx_antennas = rx;
  return c;
}

/// Frames as sent by the encoder and the definition of the grid alone, and what arrives of them.
struct transmission {
  wimax_link_config config;
  std::size_t frames = 1;
  float n0 = 0.05f;
  std::vector<std::vector<std::uint8_t>> bits;  // of each burst
  std::vector<complex> h;                       // [frames, tones, 2 rx]
  std::vector<complex> y;                       // [frames, symbols, tones, rx]

  std::size_t symbols() const { return static_cast<std::size_t>(config.frame.symbols()); }
  std::size_t tones() const { return static_cast<std::size_t>(config.frame.profile.data_subcarriers); }
  std::size_t rx() const { return static_cast<std::size_t>(config.space_time.rx_antennas); }
  std::size_t place(std::size_t frame, std::size_t symbol, std::size_t tone) const {
    return ((frame * symbols() + symbol) * tones() + tone) * rx();
  }
};

std::vector<std::vector<std::uint8_t>> draw_bits(const wimax_link_config& c, std::size_t frames,
                                                 std::mt19937_64& random) {
  std::vector<std::vector<std::uint8_t>> bits;
  for (const wimax_burst_sizes& s : wimax_bursts_of(c)) {
    bits.emplace_back(frames * s.blocks * s.k);
    for (std::uint8_t& b : bits.back()) b = random() & 1;
  }
  return bits;
}
std::vector<complex> send(executor& exec, const wimax_link_config& c, std::size_t frames,
                          const std::vector<std::vector<std::uint8_t>>& bits, order how,
                          complex before = complex(9, 9)) {
  wimax_transmitter transmitter(c, exec, frames);
  const auto symbols = static_cast<std::size_t>(c.frame.symbols()),
             tones = static_cast<std::size_t>(c.frame.profile.data_subcarriers);
  auto sent = on_device(exec, std::vector<complex>(frames * symbols * tones * 2, before),
                        frames * symbols * tones, 2);
  std::vector<array<std::uint8_t>> stored;
  std::vector<view<const std::uint8_t>> views;
  for (std::size_t i = 0; i < bits.size(); i++) {
    const wimax_burst_sizes& s = transmitter.bursts()[i];
    stored.push_back(on_device(exec, bits[i], frames * s.blocks, s.k));
    views.push_back(stored.back());
  }
  transmitter.run(views, lay(sent.data(), how, frames, symbols, tones, 2));
  const auto flat = exec.to_host(sent);
  std::vector<complex> out(flat.size());
  const auto from = lay(flat.data(), how, frames, symbols, tones, 2);
  const auto to = make_frame_grid(out.data(), frames, symbols, tones, 2);
  for (std::size_t f = 0; f < frames; f++)
    for (std::size_t s = 0; s < symbols; s++)
      for (std::size_t t = 0; t < tones; t++)
        for (std::size_t a = 0; a < 2; a++)
          to.data[f * to.frame_stride + s * to.symbol_stride + t * to.tone_stride + a] =
              from.data[f * from.frame_stride + s * from.symbol_stride + t * from.tone_stride +
                        a * from.antenna_stride];
  return out;
}
/// One H for each tone and frame; `n0` 0 for no noise.
transmission transmit(const wimax_link_config& c, std::size_t frames, float n0, std::uint64_t seed) {
  transmission x{.config = c, .frames = frames, .n0 = n0 > 0 ? n0 : 1e-3f, .bits = {}, .h = {}, .y = {}};
  std::mt19937_64 random(seed);
  std::normal_distribution<float> part(0, std::sqrt(0.5f));
  const auto normal = [&] {
    const float re = part(random);
    return complex(re, part(random));
  };
  cpu exec(cpu_options{.threads = 1, .instructions = isa::scalar});
  x.bits = draw_bits(c, frames, random);
  const auto sent = send(exec, c, frames, x.bits, order::frequency_first);
  x.h.resize(frames * x.tones() * 2 * x.rx());
  for (complex& h : x.h) h = normal();
  x.y.resize(frames * x.symbols() * x.tones() * x.rx());
  for (std::size_t f = 0; f < frames; f++)
    for (std::size_t s = 0; s < x.symbols(); s++)
      for (std::size_t t = 0; t < x.tones(); t++)
        for (std::size_t r = 0; r < x.rx(); r++) {
          const complex* const h = &x.h[(f * x.tones() + t) * 2 * x.rx() + 2 * r];
          const complex* const symbols = &sent[((f * x.symbols() + s) * x.tones() + t) * 2];
          x.y[x.place(f, s, t) + r] = h[0] * symbols[0] + h[1] * symbols[1] + std::sqrt(n0) * normal();
        }
  return x;
}

struct decided {
  std::vector<std::uint8_t> bits, codeword_status, status;
  std::vector<float> llr;
  std::vector<std::int32_t> iterations;
};
template <class T>
std::vector<T> fetch(executor& exec, view<const T> v) {
  std::vector<T> out(v.data == nullptr ? 0 : v.elements * v.items);
  exec.download(out.data(), v.data, out.size() * sizeof(T));
  exec.sync();
  return out;
}
std::vector<decided> receive(executor& exec, const transmission& x, order how = order::frequency_first,
                             bool own_n0 = false) {
  wimax_receiver receiver(x.config, exec, x.frames);
  std::vector<complex> laid(x.y.size());
  const auto grid = lay(laid.data(), how, x.frames, x.symbols(), x.tones(), x.rx());
  for (std::size_t f = 0; f < x.frames; f++)
    for (std::size_t s = 0; s < x.symbols(); s++)
      for (std::size_t t = 0; t < x.tones(); t++)
        for (std::size_t r = 0; r < x.rx(); r++)
          laid[f * grid.frame_stride + s * grid.symbol_stride + t * grid.tone_stride +
               r * grid.antenna_stride] = x.y[x.place(f, s, t) + r];
  const auto y = on_device(exec, laid, laid.size() / x.rx(), x.rx());
  const auto h = on_device(exec, x.h, x.frames * x.tones(), 2 * x.rx());
  const auto n0 = on_device(exec, std::vector<float>(x.frames, x.n0), x.frames, 1);
  const auto& results = receiver.run({make_frame_grid(h.data(), x.frames, 1, x.tones(), 2 * x.rx()),
                                      lay(y.data(), how, x.frames, x.symbols(), x.tones(), x.rx()),
                                      {n0.data(), 1, x.frames, 1, own_n0 ? std::size_t{1} : std::size_t{0}}});
  std::vector<decided> out;
  for (const wimax_burst_result& r : results)
    out.push_back({fetch(exec, r.bits), fetch(exec, r.codeword_status), fetch(exec, r.status),
                   fetch(exec, r.llr), fetch(exec, r.iterations)});
  return out;
}
bool same(const decided& a, const decided& b) {
  return a.bits == b.bits && a.codeword_status == b.codeword_status && a.status == b.status &&
         a.iterations == b.iterations && a.llr.size() == b.llr.size() &&
         (a.llr.empty() || std::memcmp(a.llr.data(), b.llr.data(), a.llr.size() * sizeof(float)) == 0);
}
/// The codewords of a burst by the definition of the grid.
stbc_batch batch_of(const transmission& x, std::size_t index) {
  const wimax_burst_sizes s = wimax_bursts_of(x.config)[index];
  stbc_batch b;
  b.config = x.config.space_time;
  b.config.qam = s.burst.qam;
  b.per_channel = static_cast<std::size_t>(s.burst.symbols / 2);
  const std::size_t from = as_size(x.config.frame.first_symbol_of(x.config.direction) + s.burst.first_symbol);
  for (std::size_t f = 0; f < x.frames; f++)
    for (std::size_t t = as_size(s.burst.first_tone); t < as_size(s.burst.first_tone + s.burst.tones); t++) {
      for (std::size_t e = 0; e < 2 * x.rx(); e++) b.h.push_back(x.h[(f * x.tones() + t) * 2 * x.rx() + e]);
      for (std::size_t p = 0; p < b.per_channel; p++) {
        for (std::size_t slot = 0; slot < 2; slot++)
          for (std::size_t r = 0; r < x.rx(); r++) b.y.push_back(x.y[x.place(f, from + 2 * p + slot, t) + r]);
        b.n0.push_back(x.n0);
      }
    }
  return b;
}

class frame_on : public on_backend {};
WB_ON_ALL_BACKENDS(frame_on);

TEST_P(frame_on, without_noise_the_bits_of_every_profile_come_back) {
  for (const wimax_profile& p : wimax_profiles())
    for (const wimax_direction direction : {downlink, uplink}) {
      auto c = mixed(p.fft_size, space_time_code::silver());
      c.direction = direction;
      const auto x = transmit(c, 1, 0, static_cast<std::uint64_t>(p.fft_size));
      const auto got = receive(exec(), x);
      ASSERT_EQ(got.size(), direction == downlink ? 4u : 1u);
      for (std::size_t i = 0; i < got.size(); i++) {
        EXPECT_EQ(got[i].bits, x.bits[i]) << p.name << ", burst " << i;
        EXPECT_EQ(std::count(got[i].codeword_status.begin(), got[i].codeword_status.end(), 0),
                  static_cast<std::ptrdiff_t>(got[i].codeword_status.size()));
        EXPECT_TRUE(got[i].llr.empty());
      }
    }
}

TEST_P(frame_on, a_grid_holds_what_the_encoder_sends_at_its_places_and_zeros_elsewhere) {
  for (const space_time_code& code :
       {space_time_code::alamouti(), space_time_code::silver(), space_time_code::golden()})
    for (const std::size_t frames : {1, 3}) {
      const auto c = mixed(128, code);
      std::mt19937_64 random(5);
      const auto bits = draw_bits(c, frames, random);
      const auto symbols = static_cast<std::size_t>(c.frame.symbols());
      std::vector<complex> expected(frames * symbols * 72 * 2);
      const auto sizes = wimax_bursts_of(c);
      for (std::size_t i = 0; i < sizes.size(); i++) {
        const stbc_encoder encoder(code, sizes[i].burst.qam);
        const auto b = on_device(exec(), bits[i], frames * sizes[i].codewords, sizes[i].bits_per_codeword);
        auto codewords = exec().make<complex>(frames * sizes[i].codewords, 4);
        encoder.run(exec(), b, codewords);
        const auto sent = exec().to_host(codewords);
        const wimax_burst& burst = sizes[i].burst;
        std::size_t n = 0;
        for (std::size_t f = 0; f < frames; f++)
          for (int t = 0; t < burst.tones; t++)
            for (int p = 0; p < burst.symbols / 2; p++)
              for (int slot = 0; slot < 2; slot++)
                for (std::size_t a = 0; a < 2; a++)
                  expected[((f * symbols + static_cast<std::size_t>(burst.first_symbol + 2 * p + slot)) * 72 +
                            static_cast<std::size_t>(burst.first_tone + t)) *
                               2 +
                           a] = sent[n++];
      }
      // The uplink's symbols are another link's: as they were.
      for (std::size_t f = 0; f < frames; f++)
        std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>((f * symbols + 11) * 72 * 2), 5 * 72 * 2,
                    complex(9, 9));
      for (const order how : orders)
        EXPECT_EQ(send(exec(), c, frames, bits, how), expected) << static_cast<int>(how) << ", " << frames;
    }
}

TEST_P(frame_on, decisions_and_llrs_are_those_of_the_decoder_called_by_hand) {
  for (const space_time_code& code :
       {space_time_code::alamouti(), space_time_code::silver(), turned_pair(), space_time_code::golden()})
    for (const bool soft : {false, true}) {
      auto c = mixed(128, code, code.kind() == space_time_kind::golden ? 3 : 2);
      c.soft = soft;
      c.frame.bursts[3].tones = 2;  // 64-QAM takes its time
      c.space_time.llr_clip = 20;
      const auto x = transmit(c, 2, 0.05f, 11);
      for (const order how : orders) {
        const auto got = receive(exec(), x, how);
        for (std::size_t i = 0; i < got.size(); i++) {
          const auto expected = decode(exec(), batch_of(x, i), soft ? wanted::llr : wanted::decisions);
          EXPECT_TRUE(same(got[i], {expected.bits, expected.status, {}, expected.llr, {}}))
              << "burst " << i << ", order " << static_cast<int>(how);
        }
      }
    }
}

TEST_P(frame_on, a_burst_of_the_whole_frame_is_the_same_in_every_order) {
  // Time first its codewords are a batch as they lie, over both frames; H is, in every order.
  wimax_link_config c;
  c.frame = make_wimax_frame(wimax_profile_of(128), 6, 6);
  c.frame.bursts = {{downlink, 72, 6, 16}};
  const auto x = transmit(c, 2, 0.05f, 16);
  const auto expected = decode(exec(), batch_of(x, 0), wanted::decisions);
  for (const order how : orders) {
    const auto got = receive(exec(), x, how);
    EXPECT_EQ(got[0].bits, expected.bits) << static_cast<int>(how);
    EXPECT_EQ(send(exec(), c, 2, x.bits, how), send(exec(), c, 2, x.bits, order::frequency_first));
  }
}

TEST_P(frame_on, frames_of_a_batch_are_those_alone) {
  auto c = mixed(128, space_time_code::silver());
  c.soft = true;
  c.codes.resize(4);
  for (code_config& code : c.codes) code = code_config("none");
  c.codes[1] = code_config("wimax-ldpc");
  n_in(c.codes[1]) = 576;
  c.codes[3] = code_config("conv");
  k_in(c.codes[3]) = 40;
  const auto x = transmit(c, 3, 0.3f, 12);
  for (const order how : {order::frequency_first, order::antennas_apart})
    for (const bool own_n0 : {false, true}) {
      const auto whole = receive(exec(), x, how, own_n0);
      for (std::size_t f = 0; f < 3; f++) {
        transmission one = x;
        one.frames = 1;
        const auto cut = [f](auto& values) {
          const auto n = static_cast<std::ptrdiff_t>(values.size() / 3),
                     from = static_cast<std::ptrdiff_t>(f) * n;
          values = {values.begin() + from, values.begin() + from + n};
        };
        cut(one.y);
        cut(one.h);
        const auto alone = receive(exec(), one, how, own_n0);
        for (std::size_t i = 0; i < whole.size(); i++) {
          decided part = whole[i];
          cut(part.bits), cut(part.codeword_status), cut(part.llr), cut(part.status), cut(part.iterations);
          EXPECT_TRUE(same(part, alone[i])) << "burst " << i << ", frame " << f;
        }
      }
    }
}

TEST_P(frame_on, codes_of_bursts_take_their_llrs_in_turn) {
  const auto c = coded();
  const auto sizes = wimax_bursts_of(c);
  EXPECT_EQ(sizes[0].blocks, sizes[0].capacity() / sizes[0].n);
  EXPECT_GT(sizes[0].blocks, 5u);
  EXPECT_GT(sizes[1].blocks, 1u);
  EXPECT_EQ(sizes[2].blocks, 1u);
  EXPECT_EQ(sizes[3].k, 8u);
  for (const std::size_t frames : {1, 2}) {
    const auto x = transmit(c, frames, 0.02f, 13);
    const auto got = receive(exec(), x);
    for (std::size_t i = 0; i < 3; i++) {
      EXPECT_EQ(got[i].bits, x.bits[i]) << i;
      // The LLRs are the space-time decoder's; each block's, taken out one by one, give what came back.
      const auto soft = decode(exec(), batch_of(x, i), wanted::llr);
      ASSERT_EQ(soft.llr.size(), got[i].llr.size());
      EXPECT_EQ(std::memcmp(soft.llr.data(), got[i].llr.data(), soft.llr.size() * sizeof(float)), 0);
      const auto code = make_codec(c.codes[i]);
      for (std::size_t b = 0; b < frames * sizes[i].blocks; b++) {
        std::vector<float> llr;
        for (std::size_t j = 0; j < sizes[i].n; j++)
          llr.push_back(soft.llr[b / sizes[i].blocks * sizes[i].capacity() + j * sizes[i].blocks +
                                 b % sizes[i].blocks]);
        const auto in = on_device(exec(), llr, 1, llr.size());
        auto bits = exec().make<std::uint8_t>(1, sizes[i].k), status = exec().make<std::uint8_t>(1, 1);
        auto iterations = exec().make<std::int32_t>(1, 1);
        code->decode(exec(), in, {.bits = bits, .soft = {}, .iterations = iterations, .status = status});
        const auto one = exec().to_host(bits);
        EXPECT_TRUE(std::equal(one.begin(), one.end(),
                               got[i].bits.begin() + static_cast<std::ptrdiff_t>(b * sizes[i].k)));
        EXPECT_EQ(exec().to_host(iterations)[0], got[i].iterations[b]);
        EXPECT_EQ(exec().to_host(status)[0], got[i].status[b]);
      }
    }
    EXPECT_TRUE(got[3].llr.empty());
    EXPECT_TRUE(got[3].status.empty());
  }
}

TEST_P(frame_on, bad_elements_erase_their_codewords_alone) {
  constexpr float bad = std::numeric_limits<float>::quiet_NaN();
  auto c = mixed(128, space_time_code::silver());
  c.frame.bursts[3].tones = 2;
  c.soft = true;
  const auto good = transmit(c, 1, 0.05f, 14);
  const auto expected = receive(exec(), good);
  auto x = good;
  x.y[x.place(0, 4, 7) + 1] = bad;                           // burst 1, tone 7, its first codeword
  x.y[x.place(0, 2, 5)] = x.y[x.place(0, 7, 9)] = bad;       // no burst; the odd symbol of burst 1
  x.y[x.place(0, 12, 3)] = bad;                              // the uplink
  x.h[67 * 4 + 2] = std::numeric_limits<float>::infinity();  // a tone of burst 3, which burst 0 has too
  const auto got = receive(exec(), x);
  for (std::size_t i = 0; i < got.size(); i++) {
    const std::size_t steps = static_cast<std::size_t>(wimax_bursts_of(c)[i].burst.symbols / 2);
    const std::size_t width = wimax_bursts_of(c)[i].bits_per_codeword;
    for (std::size_t n = 0; n < got[i].codeword_status.size(); n++) {
      const bool erased = (i == 0 && n == 67) || (i == 1 && n == 7 * steps) || (i == 2 && n / steps == 1);
      ASSERT_EQ(got[i].codeword_status[n], erased ? status_erased : 0) << i << ", " << n;
      for (std::size_t e = n * width; e < (n + 1) * width; e++) {
        ASSERT_EQ(got[i].llr[e], erased ? 0.f : expected[i].llr[e]);
        ASSERT_EQ(got[i].bits[e], erased ? 0 : expected[i].bits[e]);
      }
    }
  }
  x.n0 = bad;
  for (const decided& d : receive(exec(), x))
    EXPECT_EQ(count_erased(d.codeword_status), d.codeword_status.size());
}

TEST(frame_oracle, decisions_are_the_most_likely_codewords) {
  cpu exec;
  auto c = mixed(128, space_time_code::silver());
  c.frame.bursts[1].tones = 10;
  c.frame.bursts[3].tones = 1;
  const auto x = transmit(c, 1, 0.2f, 15);
  const auto got = receive(exec, x);
  std::size_t errors = 0, expected_errors = 0;
  disagreement d;
  for (std::size_t i = 0; i < got.size(); i++) {
    const auto b = batch_of(x, i);
    for (std::size_t n = 0; n < b.codewords(); n++) {
      const auto use = oracle_use(b, n);
      const auto best = oracle::stbc_conditional(use);
      compare_decisions(b, n, got[i].bits, use, best, d);
      const auto sent = symbols_of(b, x.bits[i], n);
      errors += symbols_of(b, got[i].bits, n) != sent;
      expected_errors += best.symbols != sent;
    }
  }
  EXPECT_EQ(d.wrong, 0u);
  EXPECT_GT(errors, 20u);
  EXPECT_LE(d.ties, 1u);
  EXPECT_NEAR(static_cast<double>(errors), static_cast<double>(expected_errors), 1.0);
}

}  // namespace frame_test
