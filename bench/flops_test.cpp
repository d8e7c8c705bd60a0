// Holds what the ops state as flops() against the arithmetic that their bodies do: the bodies run here over a
// lane type that counts.
#define WB_ISA counting
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <warpband/channel/awgn/awgn_op.hpp>
#include <warpband/channel/cdl/cdl_op.hpp>
#include <warpband/channel/cdl/cdl_power_op.hpp>
#include <warpband/channel/cdl/cdl_rays_op.hpp>
#include <warpband/channel/mimo/mimo_op.hpp>
#include <warpband/channel/rayleigh/rayleigh_op.hpp>
#include <warpband/channel/tdl/tdl_op.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/detect/kbest/kbest_op.hpp>
#include <warpband/detect/linear/linear_op.hpp>
#include <warpband/detect/ml/ml_op.hpp>
#include <warpband/detect/nway/nway_op.hpp>
#include <warpband/detect/trellis/trellis_op.hpp>
#include <warpband/exec/kernel.hpp>
#include <warpband/fec/bcjr/bcjr_op.hpp>
#include <warpband/fec/conv/conv.hpp>
#include <warpband/fec/conv/conv_runs.hpp>
#include <warpband/fec/ldpc/ldpc_op.hpp>
#include <warpband/fec/puncture/puncture_op.hpp>
#include <warpband/fec/turbo/turbo_bfloat.hpp>
#include <warpband/fec/turbo/turbo_op.hpp>
#include <warpband/fec/turbo/turbo_short.hpp>
#include <warpband/fec/viterbi/viterbi_op.hpp>
#include <warpband/linalg/cholesky/cholesky_op.hpp>
#include <warpband/linalg/qr/qr_op.hpp>
#include <warpband/massive/downlink/downlink_op.hpp>
#include <warpband/massive/uplink/uplink_op.hpp>
#include <warpband/modem/demap/demap_op.hpp>
#include <warpband/modem/qam/qam_op.hpp>
#include <warpband/stbc/alamouti_op.hpp>
#include <warpband/stbc/golden_op.hpp>
#include <warpband/stbc/pair_op.hpp>
#include <warpband/stbc/stbc_encode_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// A float that counts operations as kernel.hpp defines them. What a compiler computes, arithmetic of
/// constants, costs nothing.
struct counted {
  float x;
  bool constant;
  static inline double operations = 0;

  counted() : x(0), constant(false) {}
  explicit counted(float v) : x(v), constant(true) {}  // T(0.5f)
  template <class F>
    requires std::is_same_v<F, float>
  counted(F v) : x(v), constant(false) {}  // what was loaded or taken from bits

  static counted made(float v, double cost, bool constants) {
    counted r(v);
    r.constant = constants;
    if (!constants) operations += cost;
    return r;
  }
  friend counted operator+(counted a, counted b) { return made(a.x + b.x, 1, a.constant && b.constant); }
  friend counted operator-(counted a, counted b) { return made(a.x - b.x, 1, a.constant && b.constant); }
  friend counted operator*(counted a, counted b) { return made(a.x * b.x, 1, a.constant && b.constant); }
  friend counted operator-(counted a) { return made(-a.x, 0, a.constant); }  // a part of what uses it
  friend counted operator/(counted a, counted b) {
    return made(a.x / b.x, division_flops, a.constant && b.constant);
  }
  friend bool operator<(counted a, counted b) { return a.x < b.x; }
  friend bool operator>(counted a, counted b) { return a.x > b.x; }
  friend bool operator<=(counted a, counted b) { return a.x <= b.x; }
  friend bool operator>=(counted a, counted b) { return a.x >= b.x; }
  friend bool operator==(counted a, counted b) { return a.x == b.x; }
};
inline counted fma(counted a, counted b, counted c) {
  return counted::made(fma(a.x, b.x, c.x), 1, a.constant && b.constant && c.constant);
}
inline counted fnma(counted a, counted b, counted c) { return fma(-a, b, c); }
inline counted abs(counted a) { return counted::made(abs(a.x), 0, a.constant); }
inline counted unit_clamp(counted a) { return counted::made(unit_clamp(a.x), 0, a.constant); }
inline counted max(counted a, counted b) { return counted::made(max(a.x, b.x), 1, a.constant && b.constant); }
inline counted min(counted a, counted b) { return counted::made(min(a.x, b.x), 1, a.constant && b.constant); }
inline counted min_where(std::int32_t word, std::int32_t bit, counted a, counted b) {
  const counted r = min(a, b);
  return (word & bit) != 0 ? r : a;
}
inline counted sqrt(counted a) { return counted::made(sqrt(a.x), square_root_flops, a.constant); }
inline std::int32_t as_int(counted a) { return as_int(a.x); }
inline counted select(bool m, counted a, counted b) { return counted::made(m ? a.x : b.x, 0, false); }
/// Loaded values are no constants, whatever the body calls them.
template <>
counted load<counted>(const view<const float>& v, std::size_t element, item<counted> b) {
  return counted::made(v.data[element * v.element_stride + b.first * v.item_stride], 0, false);
}
template <>
void store<counted>(const view<float>& v, std::size_t element, item<counted> b, counted x) {
  v.data[element * v.element_stride + b.first * v.item_stride] = (x + counted(0.f)).x;
}
template <>
void store<counted>(const view<float>& v, std::size_t element, item<counted> b, counted x, bool m) {
  x = x + counted(0.f);
  if (m) v.data[element * v.element_stride + b.first * v.item_stride] = x.x;
}
/// Bit patterns, which as_float makes a float of.
inline void store_at(counted* table, std::int32_t place, float x, bool m) {
  if (m) table[place] = x;
}

/// The same of the 16-bit integers that flops() counts like float32.
struct counted_short {
  i16x x;
  counted_short() = default;
  counted_short(i16x v) : x(v) {}
  static counted_short made(i16x v, double cost) {
    counted::operations += cost;
    return v;
  }
  friend counted_short operator+(counted_short a, counted_short b) { return made(a.x + b.x, 1); }
  friend counted_short operator-(counted_short a, counted_short b) { return made(a.x - b.x, 1); }
  friend counted_short operator&(counted_short a, counted_short b) { return a.x & b.x; }
  friend counted_short operator|(counted_short a, counted_short b) { return a.x | b.x; }
};
inline counted_short max(counted_short a, counted_short b) { return counted_short::made(max(a.x, b.x), 1); }
inline counted_short min(counted_short a, counted_short b) { return counted_short::made(min(a.x, b.x), 1); }
inline counted_short add_max(counted_short a, counted_short b, counted_short c) { return max(a + b, c); }
inline counted_short sign_bit(counted_short a) { return sign_bit(a.x); }
inline counted_short scaled(counted_short a, int eighths) {  // a product and a sum
  return counted_short::made(scaled(a.x, eighths), 2);
}
inline void store_short(short_element* p, counted_short a) { store_short(p, a.x); }

inline counted difference(counted a, counted b) { return a - b; }
inline counted sum(counted a, counted b) { return a + b; }
inline counted product(counted a, counted b) { return a * b; }
inline counted magnitude(counted a) { return abs(a); }
inline counted where_equal(counted a, counted b, counted x, counted y) { return select(a == b, x, y); }
inline counted sign_product(counted a, counted) { return a; }
inline counted with_sign(counted m, counted) { return m; }

}  // namespace WB_ISA

namespace {

template <class Op>
double operations_of(const Op& op, std::size_t scratch_values = 0) {
  std::vector<counted> scratch(scratch_values);
  counted::operations = 0;
  op(item<counted>{0, 1}, solo{}, scratch.data());
  return counted::operations;
}

/// The steps whose second alpha nobody reads: the last before each checkpoint. A body that is not unrolled
/// does them all the same.
double steps_for_nothing(const turbo_decode_args& a) {
  double steps = 0;
  for (int w = 0; w < a.windows; w++) steps += ((w + 1) * a.k / a.windows - w * a.k / a.windows + 7) / 8;
  return 2 * a.iterations * steps * (a.log_map ? 38 : 21);
}

void expect_counted(turbo_decode_args a) {
  const auto expect = [&](const auto& op) {
    const double did = operations_of(op, op.scratch(1)) - steps_for_nothing(a);
    // Apart: the tail bits, and border metrics that are constants in the first iteration.
    EXPECT_NEAR(op.flops(), did, 0.005 * did + 300)
        << "log_map " << a.log_map << ", k " << a.k << ", windows " << a.windows << ", overlap " << a.overlap
        << ", iterations " << a.iterations;
  };
  if (a.log_map)
    expect(turbo_decode_op<lte_rsc, wb::counting::log_map>{a});
  else
    expect(turbo_decode_op<lte_rsc, max_log>{a});
}

TEST(flops, of_the_turbo_decoder) {
  for (const bool log_map : {false, true})
    for (const int k : {40, 1024, 6144})
      for (const int windows : {1, k / 32, k / 96})
        for (const int overlap : {0, 16})
          for (const int iterations : {1, 6}) {
            if (windows < 1 || (windows == 1 && overlap > 0)) continue;
            if (windows > 1 && overlap >= k / windows) continue;
            const std::vector<float> llr(static_cast<std::size_t>(3 * (k + 4)), 1.f);
            std::vector<std::uint8_t> bits(static_cast<std::size_t>(k));
            std::vector<float> soft(static_cast<std::size_t>(k)), extrinsic(static_cast<std::size_t>(k));
            const std::vector<std::int32_t> table(static_cast<std::size_t>(2 * k + windows));
            turbo_decode_args a;
            a.k = k, a.windows = windows, a.overlap = overlap, a.iterations = iterations;
            a.log_map = log_map;
            a.llr = make_view(llr.data(), llr.size(), 1);
            a.bits = make_view(bits.data(), bits.size(), 1);
            a.interleaved = table.data();
            expect_counted(a);
            a.soft = make_view(soft.data(), soft.size(), 1);
            a.extrinsic = make_view(extrinsic.data(), extrinsic.size(), 1);
            expect_counted(a);
          }
}

/// One codeword through a decoder with windows side by side.
template <class Op>
void expect_counted(const turbo_windows_args& a, const char* name) {
  const Op op{a};
  std::vector<std::max_align_t> scratch(op.scratch_bytes(1) / sizeof(std::max_align_t) + 1);
  counted::operations = 0;
  op(0, 1, solo{}, scratch.data());
  // Apart: the tail bits.
  EXPECT_NEAR(op.flops(), counted::operations, 80)
      << name << ", k " << a.k << ", windows " << a.windows << ", overlap " << a.overlap << ", iterations "
      << a.iterations << (a.llr8.data ? ", in steps" : "");
}

TEST(flops, of_the_turbo_decoders_with_windows_side_by_side) {
  const struct {
    int k, windows, overlap;
  } cases[] = {{40, 1, 0}, {40, 4, 0}, {104, 4, 8}, {1008, 8, 56}, {1024, 16, 0}, {6144, 128, 40}};
  for (const auto& c : cases)
    for (const int iterations : {1, 3})
      for (const bool in_steps : {false, true}) {
        const std::size_t k = static_cast<std::size_t>(c.k), n = 3 * (k + 4);
        const std::vector<float> llr(n, 1.f);
        const std::vector<std::int8_t> llr8(n, 8);
        std::vector<std::uint8_t> bits(k);
        std::vector<std::uint16_t> places(k);  // where they lie does not matter here
        turbo_windows_args a;
        a.k = c.k, a.windows = c.windows, a.overlap = c.overlap, a.iterations = iterations;
        a.lanes.stride = a.lanes.vectors = c.windows;
        a.lanes.places = places.data();
        if (in_steps)
          a.llr8 = make_view(llr8.data(), n, 1);
        else
          a.llr = make_view(llr.data(), n, 1);
        a.bits = make_view(bits.data(), k, 1);
        expect_counted<turbo_windows_op<turbo_bfloat_io<lte_rsc, max_log_bfloat, counted>>>(a, "max-log");
        expect_counted<turbo_windows_op<turbo_bfloat_io<lte_rsc, log_map_bfloat, counted>>>(a, "log-MAP");
        // Floats become steps outside of the numbers that count.
        if (in_steps) expect_counted<turbo_windows_op<turbo_short_io<lte_rsc, counted_short>>>(a, "int16");
      }
}

template <int B, bool Exact>
void expect_demap() {
  const std::vector<cx_pair> y{{0.3f, -0.2f}}, h{{0.9f, 0.4f}};
  const std::vector<float> n0{0.1f};
  std::vector<float> out(8);
  demap_args a;
  a.received = make_view(y.data(), 1);
  a.channel = make_view(h.data(), 1);
  a.noise_var = make_view(n0.data(), 1);
  a.llr = make_view(out.data(), 8, 1);
  const demap_op<B, Exact> op{a};
  EXPECT_EQ(op.flops(), operations_of(op)) << B << (Exact ? " exact" : " max-log");
}

TEST(flops, of_the_demapper) {
  expect_demap<0, false>();
  expect_demap<1, false>();
  expect_demap<2, false>();
  expect_demap<3, false>();
  expect_demap<4, false>();
  expect_demap<1, true>();
  expect_demap<2, true>();
  expect_demap<3, true>();
  expect_demap<4, true>();
}

template <int B>
void expect_qam() {
  const std::vector<std::uint8_t> bits(8);
  std::vector<cx_pair> out(1);
  qam_map_args a;
  a.bits = make_view(bits.data(), 8, 1);
  a.symbols = make_view(out.data(), 1);
  const qam_map_op<B> op{a};
  // The compiler sees that the products are no -0 and leaves out the sums at the store; BPSK and QPSK choose
  // between constants.
  const double seen = B == 0 ? 2 : B == 1 ? 4 : 2;
  EXPECT_EQ(op.flops(), operations_of(op) - seen) << B;
}

TEST(flops, of_the_mapper) {
  expect_qam<0>();
  expect_qam<1>();
  expect_qam<2>();
  expect_qam<3>();
  expect_qam<4>();
}

TEST(flops, of_the_channels) {
  const std::vector<cx_pair> in(10, {1.f, 1.f});
  std::vector<cx_pair> out(10), gain(10);
  awgn_args a;
  a.in = make_view(in.data(), 1);
  a.out = make_view(out.data(), 1);
  const awgn_op noise{a};
  EXPECT_EQ(noise.flops(), operations_of(noise));
  rayleigh_args r;
  r.in = make_view(in.data(), 10);
  r.out = make_view(out.data(), 10);
  r.gain = make_view(gain.data(), 10);
  const rayleigh_op<false> fast{r};
  EXPECT_EQ(fast.flops(), operations_of(fast));
  r.block = 10;
  const rayleigh_op<true> block{r};
  EXPECT_EQ(block.flops(), operations_of(block));
}

TEST(flops, of_clustered_delay_lines) {
  for (const bool moving : {false, true})
    for (const bool tilted : {false, true}) {
      std::vector<cdl_ray> angles;
      const std::vector<std::int32_t> starts{0, 1, 21, 41};
      for (std::int32_t p = 0; p < 3; p++)
        for (std::int32_t r = starts[static_cast<std::size_t>(p)];
             r < starts[static_cast<std::size_t>(p) + 1]; r++)
          angles.push_back(
              {1u << 28, 1u << 29, 1u << 30, 1u << 27, starts[static_cast<std::size_t>(p)], p == 0 ? 1 : 20});
      const std::vector<float> amplitudes(3, 0.3f), rotations(3 * 2 * 8, 0.5f), overlaps(18, 0.5f);
      const std::vector<std::uint32_t> turns{0, 1u << 30, 0, UINT32_MAX};
      std::vector<std::uint32_t> drawn(3 * 41 + 1);
      std::vector<cx_pair> h(6 * 7 * 5);
      cdl_args a;
      a.subcarriers = 6, a.symbols = 5, a.times = moving ? 5 : 1, a.antennas = 7, a.paths = 3, a.rays = 41;
      a.moving = moving, a.tilted = tilted, a.spacing = 0.5f, a.doppler = 0.1f;
      a.angles = angles.data(), a.starts = starts.data(), a.amplitudes = amplitudes.data();
      a.rotations = rotations.data(), a.overlaps = overlaps.data(), a.turns = turns.data();
      a.drawn = drawn.data();
      a.channel = make_view(h.data(), 7, 30);
      std::vector<float> scratch(4096);
      const auto expect = [&](const auto& op, int items, const char* name) {
        counted::operations = 0;
        op.template run<counted>(0, items, solo{}, scratch.data());
        const double did = counted::operations / items;
        EXPECT_NEAR(op.flops(), did, 0.03 * did + 8)
            << name << ", moving " << moving << ", tilted " << tilted;
      };
      const auto draw = [&](const char* name) {
        const cdl_rays_op op{a};
        counted::operations = 0;
        op.run<counted>(0, solo{}, reinterpret_cast<std::uint32_t*>(scratch.data()));
        EXPECT_NEAR(op.flops(), counted::operations, 1)
            << name << ", moving " << moving << ", tilted " << tilted;
      };
      draw("rays");
      a.shadowing = 0.5f;
      draw("rays and shadowing");
      counted::operations = 0;
      const cdl_power_op power{a};
      power.run<counted>(0, solo{}, scratch.data());
      // The sums of antennas are of floats, which are not counted here.
      EXPECT_NEAR(power.flops(), counted::operations, 0.03 * counted::operations) << "power";
      expect(cdl_op{a}, 7, "response");
    }
}

/// A use of a detector over the sizes S: with and without LLRs, and with a prior where S takes one.
template <class S, class Op>
void expect_detector(int streams, int rx, int pam_bits, int ways, const char* name, int survivors = 0,
                     bool real_valued = false) {
  const auto n = static_cast<std::size_t>(streams), m = static_cast<std::size_t>(rx),
             bits = 2 * n * static_cast<std::size_t>(pam_bits);
  std::vector<cx_pair> y(m, {0.3f, -0.2f}), h(m * n);
  for (std::size_t i = 0; i < h.size(); i++)
    h[i] = {static_cast<float>(i % 5) - 1.7f, static_cast<float>(i % 7) - 2.2f};
  const std::vector<float> n0{0.1f}, prior(bits, 0.5f);
  std::vector<float> llr(bits);
  std::vector<std::uint8_t> hard(bits);
  detect_args a;
  a.streams = streams, a.rx_antennas = rx, a.pam_bits = pam_bits, a.ways = ways, a.clip = 8;
  a.survivors = survivors, a.algorithm = real_valued;
  a.received = make_view(y.data(), m, 1);
  a.channel = make_view(h.data(), h.size(), 1);
  a.noise_var = make_view(n0.data(), 1);
  const auto expect = [&](const char* what) {
    const Op op{a};
    // Not on a CUDA device: LLRs limited twice; those of the linear ones times a constant 1; in the trellis
    // what is the same in all rounds of a loop.
    const std::string kind(name);
    double seen = 2.0 * static_cast<double>(bits);
    if (kind == "linear") seen += static_cast<double>(bits);
    if (kind == "trellis") seen += (streams - 1) * (1 + std::exp2(2 * pam_bits) + std::exp2(4 * pam_bits));
    const double did = operations_of(op, op.scratch(1)) - seen;
    const std::string setting = kind + " " + std::to_string(streams) + "x" + std::to_string(rx) + ", " +
                                std::to_string(pam_bits) + ", ways " + std::to_string(ways) + ", survivors " +
                                std::to_string(survivors) + what;
    if (survivors != 0 && (bits > 6 || survivors < 1 << bits))
      EXPECT_LE(op.flops(), did) << setting;  // more rounds
    else
      EXPECT_EQ(op.flops(), did) << setting;
  };
  a.bits = make_view(hard.data(), bits, 1);
  expect(", decisions");
  a.llr = make_view(llr.data(), bits, 1);
  expect("");
  if constexpr (!S::streams::known) {
    if (ways == 0) return;  // takes no prior
    a.prior = make_view(prior.data(), bits, 1);
    expect(", prior");
    a.extrinsic = true;
    expect(", extrinsic");
  }
}

template <class S>
void expect_detectors(int streams, int rx, int pam_bits) {
  expect_detector<S, linear_op<S, linear_algorithm::mf>>(streams, rx, pam_bits, 0, "linear");
  expect_detector<S, linear_op<S, linear_algorithm::zf>>(streams, rx, pam_bits, 0, "linear");
  expect_detector<S, linear_op<S, linear_algorithm::mmse>>(streams, rx, pam_bits, 0, "linear");
  expect_detector<S, trellis_op<S, trellis_algorithm::one_pass, 1>>(streams, rx, pam_bits, 0, "trellis");
  expect_detector<S, trellis_op<S, trellis_algorithm::multi_pass, 1>>(streams, rx, pam_bits, 0, "trellis");
  for (int ways = 1; ways <= streams; ways += streams > 4 ? 7 : 1)
    expect_detector<S, nway_op<S, 1>>(streams, rx, pam_bits, ways, "nway");
  for (const bool real_valued : {false, true})
    for (const int survivors : {1, 5, 64})
      expect_detector<S, kbest_op<S, 1>>(streams, rx, pam_bits, 1, "kbest", survivors, real_valued);
  if (2 * pam_bits * streams <= 16) expect_detector<S, ml_op<S, 1>>(streams, rx, pam_bits, 1, "ml");
}

TEST(flops, of_the_detectors) {
  for (const int pam_bits : {1, 2, 3}) {
    expect_detectors<square_sizes<2>>(2, 2, pam_bits);
    expect_detectors<square_sizes<4>>(4, 4, pam_bits);
    expect_detectors<any_sizes>(1, 1, pam_bits);
    expect_detectors<any_sizes>(3, 5, pam_bits);
    expect_detectors<any_sizes>(8, 8, pam_bits);
  }
  expect_detectors<square_sizes<2>>(2, 2, 4);
  expect_detectors<any_sizes>(2, 3, 4);
}

template <class Op>
void expect_codeword(int rx, bool soft, const char* name) {
  const auto n = static_cast<std::size_t>(2 * rx);
  std::vector<cx_pair> y(n), h(n, cx_pair{1, 0.5f});
  std::vector<float> llr(24);
  std::vector<std::uint8_t> bits(24);
  const float n0 = 1;
  stbc_decode_args a;
  a.rx_antennas = rx;
  a.clip = 8;
  a.v[0] = a.v[3] = {1, 0};
  a.received = make_view<const cx_pair>(y.data(), n, 1);
  a.channel = make_view<const cx_pair>(h.data(), n, 1);
  a.noise_var = make_view(&n0, 1);
  a.bits = make_view(bits.data(), 24, 1);
  if (soft) a.llr = make_view(llr.data(), 24, 1);
  const Op op{a};
  EXPECT_EQ(op.flops(), operations_of(op)) << name << ", " << rx << " antennas, soft " << soft;
}
template <int B, bool Soft>
void expect_codewords() {
  for (const int rx : {1, 2, 4}) {
    expect_codeword<alamouti_op<B, Soft>>(rx, Soft, "Alamouti");
    expect_codeword<pair_op<B, Soft, 1>>(rx, Soft, "pair");
    expect_codeword<golden_op<enumerated, B, Soft, 1>>(rx, Soft, "Golden");
    expect_codeword<golden_op<sliced_twice, B, Soft, 1>>(rx, Soft, "Golden, slicing");
  }
}
template <int Kind, int B>
void expect_encoded() {
  std::vector<std::uint8_t> bits(24);
  std::vector<cx_pair> symbols(4), codeword(4);
  stbc_encode_args a;
  a.bits = make_view<const std::uint8_t>(bits.data(), 24, 1);
  a.symbols = make_view<const cx_pair>(symbols.data(), 4, 1);
  a.codewords = make_view(codeword.data(), 4, 1);
  const stbc_encode_op<Kind, B> op{a};
  EXPECT_EQ(op.flops(), operations_of(op)) << "kind " << Kind << ", bits " << B;
}

TEST(flops, of_space_time_codes) {
  expect_codewords<1, true>();
  expect_codewords<1, false>();
  expect_codewords<2, true>();
  expect_codewords<2, false>();
  expect_codewords<3, true>();
  expect_codewords<3, false>();
  expect_encoded<0, 0>();
  expect_encoded<0, 3>();
  expect_encoded<1, 0>();
  expect_encoded<1, 1>();
  expect_encoded<2, 0>();
  expect_encoded<2, 2>();
}

template <class P, class S, qr_method Method>
void expect_qr(int rows, int columns) {
  const auto m = static_cast<std::size_t>(rows), n = static_cast<std::size_t>(columns);
  std::vector<P> h(m * n), y(m), r(n * n), q(m * n), z(n);
  for (std::size_t k = 0; k < n; k++) reinterpret_cast<float&>(h[k * n + k]) = 1;
  qr_args<P> a;
  a.rows = rows;
  a.columns = columns;
  a.cholesky = Method == qr_method::cholesky;
  for (int k = 0; k < columns; k++) a.order[k] = k;
  a.h = make_view<const P>(h.data(), m * n, 1);
  a.r = make_view(r.data(), n * n, 1);
  const qr_op<P, S, Method> least{a};
  EXPECT_EQ(least.flops(), operations_of(least)) << rows << "x" << columns;
  a.y = make_view<const P>(y.data(), m, 1);
  a.z = make_view(z.data(), n, 1);
  a.q = make_view(q.data(), m * n, 1);
  const qr_op<P, S, Method> most{a};
  EXPECT_EQ(most.flops(), operations_of(most)) << rows << "x" << columns;
}
template <class P>
void expect_qr_of() {
  expect_qr<P, square_matrix<2>, qr_method::gram_schmidt>(2, 2);
  expect_qr<P, square_matrix<2>, qr_method::cholesky>(2, 2);
  expect_qr<P, square_matrix<4>, qr_method::gram_schmidt>(4, 4);
  expect_qr<P, square_matrix<4>, qr_method::cholesky>(4, 4);
  for (const int columns : {1, 3, 8})
    for (const int rows : {columns, 16}) {
      expect_qr<P, any_matrix<16, 8>, qr_method::gram_schmidt>(rows, columns);
      expect_qr<P, any_matrix<16, 8>, qr_method::cholesky>(rows, columns);
    }
}

TEST(flops, of_the_qr_decompositions) {
  expect_qr_of<cx_pair>();
  expect_qr_of<float>();
}

template <class S>
void expect_cholesky(int size) {
  const auto n = static_cast<std::size_t>(size);
  std::vector<cx_pair> m(n * n), b(n), x(n);
  for (std::size_t k = 0; k < n; k++) m[k * n + k].re = 1;
  cholesky_args a;
  a.size = size;
  a.a = make_view<const cx_pair>(m.data(), n * n, 1);
  a.b = make_view<const cx_pair>(b.data(), n, 1);
  a.x = make_view(x.data(), n, 1);
  const cholesky_op<S> op{a};
  EXPECT_EQ(op.flops(), operations_of(op)) << size;
}

TEST(flops, of_the_cholesky_solver) {
  expect_cholesky<square_matrix<2>>(2);
  expect_cholesky<square_matrix<4>>(4);
  for (const int size : {1, 5, 8}) expect_cholesky<any_matrix<8, 8>>(size);
}

TEST(flops, of_tapped_delay_lines) {
  for (const bool apply : {false, true})
    for (const int times : {1, 7})
      for (const bool has_fixed : {false, true}) {
        tdl_args a;
        a.subcarriers = 12, a.symbols = 7, a.taps = 5, a.streams = 3, a.rx_antennas = 2;
        a.times = times, a.sinusoids = times > 1 ? 9 : 1, a.fixed = has_fixed;
        a.turn = 0.1f, a.fixed_turn = 0.07f, a.sector = 1u << 28;
        const std::size_t uses = 84, paths = 32, subcarriers = 16;
        a.padded_paths = 32;
        const std::vector<float> amplitudes(2 * paths, 1.f), rotations(10 * subcarriers, 1.f);
        const std::vector<std::uint32_t> numbers(paths);
        a.amplitudes = amplitudes.data(), a.rotations = rotations.data(), a.numbers = numbers.data();
        std::vector<cx_pair> in(uses * 3), out(uses * 2), channel(uses * 6);
        if (apply) a.in = make_view<const cx_pair>(in.data(), 3, uses);
        a.out = make_view(out.data(), 2, uses);
        a.channel = make_view(channel.data(), 6, uses);
        const tdl_op op{a};
        std::vector<counted> scratch(op.scratch_bytes(1) / sizeof(float));
        counted::operations = 0;
        op.run<counted>(0, solo{}, scratch.data());
        EXPECT_EQ(op.flops(), counted::operations) << apply << " " << times << " " << has_fixed;
      }
}

TEST(flops, of_the_mimo_channel) {
  for (const auto& [streams, rx] : {std::pair{1, 1}, std::pair{2, 3}, std::pair{4, 4}, std::pair{3, 5}}) {
    const std::size_t n = static_cast<std::size_t>(streams), m = static_cast<std::size_t>(rx);
    const std::vector<cx_pair> in(10 * n, {1.f, 1.f});
    std::vector<cx_pair> out(10 * m), channel(10 * m * n);
    mimo_rayleigh_args a;
    a.streams = streams;
    a.rx_antennas = rx;
    a.in = make_view(in.data(), n, 10);
    a.out = make_view(out.data(), m, 10);
    a.channel = make_view(channel.data(), m * n, 10);
    // What the last draw makes of an odd number of entries: one more than is used.
    const double more = streams * rx % 2 * 41;
    const mimo_rayleigh_op<false> fast{a};
    EXPECT_EQ(fast.flops(), operations_of(fast) - more);
    a.uses_per_channel = 10;
    const mimo_rayleigh_op<true> block{a};
    EXPECT_EQ(block.flops(), operations_of(block, block.scratch(1)) - more);
  }
}

TEST(flops, of_puncturing) {
  const std::vector<std::int32_t> from{2, -1, 0, 1};
  const std::vector<float> in(3, 1.f);
  std::vector<float> out(4);
  pick_args a;
  a.n = a.places = 4;
  a.from = from.data();
  a.llr_in = make_view(in.data(), 3, 1);
  a.llr_out = make_view(out.data(), 4, 1);
  const pick_op<true> soft{a};
  EXPECT_EQ(soft.flops(), operations_of(soft) + 1);  // the zero is a constant
}

template <int Memory, bool Paired>
void expect_viterbi(const conv_code& code, int k, int overlap) {
  const conv_frame frame(code, k);
  const std::vector<float> llr(frame.n(), 1.f);
  std::vector<std::uint8_t> bits(static_cast<std::size_t>(k));
  std::vector<float> metric(1);
  viterbi_args a;
  a.code = frame.on_host();
  a.code.older &= (1 << a.code.outputs) - 1;
  a.code.newer &= (1 << a.code.outputs) - 1;
  EXPECT_EQ(a.code.older == a.code.newer, Paired);
  a.overlap = overlap;
  add_forward(a.work, a.code, -overlap, a.code.steps + overlap);
  a.llr = make_view(llr.data(), llr.size(), 1);
  a.bits = make_view(bits.data(), bits.size(), 1);
  // What counts as a constant here, metrics at the start and weights of bits that were not sent, lies in
  // memory.
  const double punctured = a.work.steps * a.code.outputs - a.work.values;
  const viterbi_op<Memory, Paired, 1> least{a};
  EXPECT_NEAR(least.flops(), operations_of(least, least.scratch(1)), (2 << Memory) + punctured) << Memory;
  a.metric = make_view(metric.data(), 1);
  const viterbi_op<Memory, Paired, 1> most{a};
  EXPECT_NEAR(most.flops(), operations_of(most, most.scratch(1)), (2 << Memory) + punctured) << Memory;
}

TEST(flops, of_the_viterbi_decoder) {
  expect_viterbi<2, true>({.constraint_length = 3, .generators = {07, 05}}, 50, 0);
  expect_viterbi<6, true>(conv_80211(conv_rate::r1_2), 100, 0);
  expect_viterbi<6, true>(conv_80211(conv_rate::r3_4), 100, 0);
  expect_viterbi<6, true>(conv_lte(), 100, 48);
  expect_viterbi<8, true>({.constraint_length = 9, .generators = {0561, 0753}}, 40, 0);
  expect_viterbi<3, false>({.constraint_length = 4, .generators = {016, 013}}, 50, 0);
}

template <int Memory, class M, bool Recursive>
void expect_bcjr(const conv_code& code, int k, int overlap) {
  const conv_frame frame(code, k);
  const std::size_t n = static_cast<std::size_t>(k);
  const std::vector<float> llr(frame.n(), 1.f), prior(n, 0.5f);
  std::vector<std::uint8_t> bits(n);
  std::vector<float> soft(n), extrinsic(n);
  bcjr_args a;
  a.code = frame.on_host();
  a.overlap = overlap;
  add_forward(a.work, a.code, -overlap, (a.code.steps - 1) / conv_run * conv_run);
  add_backward(a.work, a.code, a.code.steps + overlap);
  if (a.code.systematic >= 0)
    for (int t = 0; t < k; t++) a.systematic += a.code.places[t * a.code.outputs + a.code.systematic] >= 0;
  a.llr = make_view(llr.data(), llr.size(), 1);
  const auto expect = [&](const char* what) {
    const bcjr_op<Memory, M, Recursive, 1> op{a};
    // What depends on the constants that the recursions start with is computed before.
    const double did = operations_of(op, op.scratch(1));
    EXPECT_NEAR(op.flops(), did, 4 * (1 << Memory) + 8) << Memory << what;
  };
  a.bits = make_view(bits.data(), n, 1);
  expect(", decisions");
  a.soft = make_view(soft.data(), n, 1);
  expect(", soft");
  a.extrinsic = make_view(extrinsic.data(), n, 1);
  expect(", extrinsic");
  a.prior = make_view(prior.data(), n, 1);
  expect(", prior");
}
template <class M>
void expect_bcjrs() {
  expect_bcjr<2, M, false>({.constraint_length = 3, .generators = {07, 05}}, 150, 0);
  expect_bcjr<6, M, false>(conv_80211(conv_rate::r1_2), 300, 0);
  expect_bcjr<6, M, false>(conv_80211(conv_rate::r3_4), 100, 0);
  expect_bcjr<6, M, false>(conv_lte(), 100, 48);
  expect_bcjr<8, M, false>({.constraint_length = 9, .generators = {0561, 0753}}, 40, 0);
  expect_bcjr<4, M, true>(conv_recursive(5, 023, {033}), 200, 0);
  expect_bcjr<6, M, true>(conv_recursive(7, 0133, {0171, 0165}), 100, 0);
}

TEST(flops, of_the_bcjr_decoder) {
  expect_bcjrs<max_log>();
  expect_bcjrs<wb::counting::log_map>();
}

/// A check of D edges, from A and R to the new A.
template <int D, class Rule>
void expect_check(const Rule& rule) {
  counted a[D], r[D], q[D], back[D];
  for (int d = 0; d < D; d++) {
    a[d] = counted::made(0.3f * static_cast<float>(d) - 0.5f, 0, false);
    r[d] = counted::made(0.1f, 0, false);
  }
  counted::operations = 0;
  for (int d = 0; d < D; d++) q[d] = difference(a[d], r[d]);
  check_messages(rule, fixed<D>{}, q, back);
  for (int d = 0; d < D; d++) a[d] = sum(q[d], back[d]);
  using cost = check_operations<Rule>;
  // The first and the last edge meet constants.
  EXPECT_NEAR(counted::operations, cost::edge * D + cost::row, 8) << D;
  EXPECT_LE(counted::operations, cost::edge * D + cost::row);
}

TEST(flops, of_an_ldpc_check) {
  const min_sum<counted> rule{counted::made(0.75f, 0, false), counted::made(0.f, 0, false)};
  expect_check<7>(rule);
  expect_check<20>(rule);
  expect_check<7>(sum_product<counted>{});
  expect_check<20>(sum_product<counted>{});
}

template <class Op>
double massive_operations_of(const Op& op) {
  std::vector<counted> scratch(op.scratch_bytes(1) / sizeof(float) + 64);
  counted::operations = 0;
  op.template run<counted>(0, 1, solo{}, scratch.data());
  return counted::operations;
}
TEST(flops, of_massive_mimo) {
  for (const auto& [antennas, users, symbols] :
       {std::tuple{32, 8, 1}, std::tuple{16, 16, 4}, std::tuple{15, 7, 3}})
    for (const massive_mode mode : {massive_mode::cholesky, massive_mode::zf, massive_mode::mf,
                                    massive_mode::cg, massive_mode::jacobi_cg}) {
      const auto b = static_cast<std::size_t>(antennas), u = static_cast<std::size_t>(users),
                 vectors = static_cast<std::size_t>(symbols);
      std::vector<cx_pair> h(b * u), y(b * vectors, {0.3f, -0.2f}), x(b * vectors);
      for (std::size_t i = 0; i < h.size(); i++)
        h[i] = {static_cast<float>(i * 7 % 11) - 4.7f, static_cast<float>(i * 5 % 13) - 6.2f};
      const std::vector<float> n0{0.1f};
      std::vector<float> llr(4 * u * vectors);
      massive_args a;
      a.antennas = antennas, a.users = users, a.symbols = symbols;
      a.mode = mode;
      a.iterations = is_iterative(mode) ? 3 : 0;
      a.exact_sinr = !is_iterative(mode);
      a.pam_bits = 2;
      a.clip = 8;
      a.channel = make_view<const cx_pair>(h.data(), b * u, 1);
      a.in = make_view<const cx_pair>(y.data(), b, vectors);
      a.noise_var = make_view(n0.data(), 1);
      a.llr = make_view(llr.data(), 4 * u, vectors);
      const uplink_op<upto<64>> up(a);
      // Checks of what comes in, and what is done for constants, are left out.
      const double did = massive_operations_of(up);
      EXPECT_NEAR(up.flops() / did, 1, 0.03) << name_of(mode) << " " << antennas << "x" << users;
      a.out = make_view(x.data(), b, vectors);
      const downlink_op<upto<64>> down(a);
      const double sent = massive_operations_of(down);
      EXPECT_NEAR(down.flops() / sent, 1, 0.03) << name_of(mode) << " " << antennas << "x" << users;
    }
}

}  // namespace
}  // namespace wb
