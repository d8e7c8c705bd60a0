// What decoders take as received: too few usable LLRs make an erasure, and all-zero bits, which satisfy every
// CRC, need more of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include <tests/conv.hpp>
#include <tests/turbo.hpp>
#include <warpband/fec/bcjr/bcjr.hpp>
#include <warpband/fec/ctc/ctc_transport.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>
#include <warpband/fec/lte/transport.hpp>
#include <warpband/fec/nr/transport.hpp>
#include <warpband/fec/viterbi/viterbi.hpp>

namespace wb {
namespace usable_test {

using testing::bits_t;
using testing::many_codes;
using testing::name_of;
using testing::on_device;
using llrs_t = std::vector<float>;

constexpr std::uint8_t insufficient = status_erased | status_insufficient;

class usable : public testing::on_backend {};
WB_ON_ALL_BACKENDS(usable);

/// Rows of n LLRs of magnitude `large` with random signs: counts[i] of row i, at random places, and
/// `small` at the others.
llrs_t rows_with(const std::vector<std::size_t>& counts, std::size_t n, float large, float small) {
  std::mt19937_64 random(n);
  llrs_t llrs;
  for (const std::size_t count : counts) {
    llrs_t row(n, small);
    std::fill_n(row.begin(), count, large);
    for (auto& x : row)
      if ((random() & 1) != 0) x = -x;
    std::shuffle(row.begin(), row.end(), random);
    llrs.insert(llrs.end(), row.begin(), row.end());
  }
  return llrs;
}
/// Of words with none, k - 1, k and n usable LLRs the first two are erased, the others have no such status.
const auto counts_of = [](std::size_t k, std::size_t n) { return std::vector<std::size_t>{0, k - 1, k, n}; };
void expect_two_erased(const bits_t& status, const std::string& label) {
  ASSERT_EQ(status.size(), 4U);
  for (std::size_t i = 0; i < 4; i++)
    EXPECT_EQ(status[i] & ~status_stopped, i < 2 ? insufficient : 0) << label << ", word " << i;
}

TEST_P(usable, convolutional_decoders_erase_words_with_fewer_llrs_than_bits) {
  for (const conv_code& code : many_codes()) {
    const int k = 90;
    const viterbi_decoder viterbi({.code = code, .k = k});
    const std::size_t n = viterbi.frame().n();
    if (n < static_cast<std::size_t>(k)) continue;
    const auto llr = on_device(exec(), rows_with(counts_of(90, n), n, 2.f, 0.f), 4, n);
    auto status = exec().make<std::uint8_t>(4, 1), bits = exec().make<std::uint8_t>(4, 90);
    viterbi.run(exec(), llr, {.bits = bits, .metric = {}, .status = status});
    expect_two_erased(exec().to_host(status), "Viterbi " + name_of(code));
    bits_t decided = exec().to_host(bits);
    EXPECT_EQ(bits_t(decided.begin(), decided.begin() + 180), bits_t(180)) << name_of(code);
    const auto rounded = on_device(exec(), rows_with(counts_of(90, n), n, 2.f, 0.062f), 4, n);
    viterbi_decoder({.code = code, .k = k, .precision = conv_precision::int16, .llr_steps = 8})
        .run(exec(), rounded, {.bits = bits, .metric = {}, .status = status});
    expect_two_erased(exec().to_host(status), "16-bit Viterbi " + name_of(code));
    decided = exec().to_host(bits);
    EXPECT_EQ(bits_t(decided.begin(), decided.begin() + 180), bits_t(180)) << name_of(code);
    for (const auto algorithm : {map_algorithm::log_map, map_algorithm::max_log_map}) {
      const bcjr_decoder bcjr({.code = code, .k = k, .algorithm = algorithm});
      auto soft = exec().make<float>(4, 90);
      const float small = algorithm == map_algorithm::log_map ? 1e-9f : 0.f;  // e^-1e-9 is 1 in float32
      const auto few = on_device(exec(), rows_with(counts_of(90, n), n, 2.f, small), 4, n);
      bcjr.run(exec(), few, {.bits = bits, .soft = soft, .extrinsic = {}, .status = status});
      expect_two_erased(exec().to_host(status), "BCJR " + name_of(code));
      const llrs_t ratios = exec().to_host(soft);
      EXPECT_EQ(llrs_t(ratios.begin(), ratios.begin() + 180), llrs_t(180)) << name_of(code);
      // What is known of a bit before counts as well.
      const auto prior = on_device(exec(), llrs_t(4 * 90, 1.f), 4, 90);
      bcjr.run(exec(), llr, prior, {.bits = {}, .soft = {}, .extrinsic = {}, .status = status});
      EXPECT_EQ(exec().to_host(status), bits_t(4)) << name_of(code);
    }
  }
}

TEST_P(usable, ldpc_decoders_erase_words_with_fewer_llrs_than_bits) {
  const ldpc_code hamming({3, 7, {0, 0, 0, -1, 0, -1, -1, 0, 0, -1, 0, -1, 0, -1, 0, -1, 0, 0, -1, -1, 0}},
                          1);
  for (const auto& code : {wimax_ldpc(576, wimax_rate::r1_2), wifi_ldpc(648, wifi_rate::r5_6), hamming})
    for (const auto precision : {ldpc_precision::float32, ldpc_precision::float16, ldpc_precision::int8})
      for (const auto schedule : {ldpc_schedule::layered, ldpc_schedule::flooding})
        for (const auto algorithm : {ldpc_algorithm::normalised_min_sum, ldpc_algorithm::sum_product}) {
          if (algorithm == ldpc_algorithm::sum_product && precision != ldpc_precision::float32) continue;
          const ldpc_decoder decoder(code, {.algorithm = algorithm,
                                            .iterations = 3,
                                            .schedule = schedule,
                                            .precision = precision,
                                            .llr_steps = 3});
          const auto k = static_cast<std::size_t>(code.k()), n = static_cast<std::size_t>(code.n());
          // What rounds to 0 is not usable: half a step of int8, and what a half number cannot be.
          const float small = precision == ldpc_precision::int8      ? 0.16f
                              : precision == ldpc_precision::float16 ? 1e-8f
                                                                     : 0.f;
          const auto llr = on_device(exec(), rows_with(counts_of(k, n), n, 2.f, small), 4, n);
          auto status = exec().make<std::uint8_t>(4, 1), bits = exec().make<std::uint8_t>(4, n);
          auto iterations = exec().make<std::int32_t>(4, 1);
          decoder.run(
              exec(), llr,
              {.bits = bits, .soft = {}, .extrinsic = {}, .iterations = iterations, .status = status});
          const std::string label = "n = " + std::to_string(n) + ", precision " +
                                    std::to_string(static_cast<int>(precision)) + ", schedule " +
                                    std::to_string(static_cast<int>(schedule));
          expect_two_erased(exec().to_host(status), label);
          EXPECT_EQ(exec().to_host(iterations)[1], 0) << label;
          const bits_t decided = exec().to_host(bits);
          EXPECT_EQ(bits_t(decided.begin(), decided.begin() + static_cast<std::ptrdiff_t>(2 * n)),
                    bits_t(2 * n))
              << label;
        }
}

/// All precisions and algorithms of the turbo decoder, with a magnitude that each takes as 0: e^-1e-9 is 1 in
/// float32.
struct turbo_numbers {
  turbo_precision precision;
  map_algorithm algorithm;
  float small;
  std::optional<float> llr_steps = {};
};
constexpr turbo_numbers all_numbers[] = {{turbo_precision::float32, map_algorithm::log_map, 1e-9f},
                                         {turbo_precision::float32, map_algorithm::max_log_map, 0.f},
                                         {turbo_precision::bfloat16, map_algorithm::log_map, 1e-3f},
                                         {turbo_precision::bfloat16, map_algorithm::max_log_map, 0.f},
                                         {turbo_precision::int16, map_algorithm::max_log_map, 0.f},
                                         {turbo_precision::int16, map_algorithm::max_log_map, 0.062f, 8.f}};

TEST_P(usable, turbo_decoders_erase_words_with_fewer_llrs_than_bits) {
  for (const auto& [precision, algorithm, small, llr_steps] : all_numbers)
    for (const int k : {40, 104, 1024})
      for (const auto stop :
           {turbo_early_stop::none, turbo_early_stop::crc, turbo_early_stop::sign_agreement}) {
        if (precision != turbo_precision::float32 && stop == turbo_early_stop::sign_agreement) continue;
        const turbo_decoder decoder({.k = k,
                                     .algorithm = algorithm,
                                     .iterations = 3,
                                     .early_stop = stop,
                                     .crc_polynomial = crc24a.polynomial,
                                     .crc_degree = 24,
                                     .precision = precision,
                                     .llr_steps = llr_steps});
        const auto bits_of = static_cast<std::size_t>(k), n = 3 * (bits_of + 4);
        const auto llr = on_device(exec(), rows_with(counts_of(bits_of, n), n, 2.f, small), 4, n);
        auto status = exec().make<std::uint8_t>(4, 1), bits = exec().make<std::uint8_t>(4, bits_of);
        auto iterations = exec().make<std::int32_t>(4, 1);
        const turbo_decoder_output out{
            .bits = bits, .soft = {}, .extrinsic = {}, .iterations = iterations, .status = status};
        const std::string label = "k = " + std::to_string(k) + ", precision " +
                                  std::to_string(static_cast<int>(precision)) + ", algorithm " +
                                  std::to_string(static_cast<int>(algorithm));
        decoder.run(exec(), llr, out);
        expect_two_erased(exec().to_host(status), label);
        EXPECT_EQ(exec().to_host(iterations)[1], 0) << label;
        const bits_t decided = exec().to_host(bits);
        EXPECT_EQ(bits_t(decided.begin(), decided.begin() + static_cast<std::ptrdiff_t>(2 * bits_of)),
                  bits_t(2 * bits_of))
            << label;
        if (precision == turbo_precision::float32) continue;
        const auto steps =
            on_device(exec(), testing::steps_of(rows_with(counts_of(bits_of, n), n, 2.f, 0.f)), 4, n);
        decoder.run(exec(), steps, out);
        expect_two_erased(exec().to_host(status), label + ", 8-bit LLRs");
      }
}

TEST_P(usable, zeros_stop_the_turbo_decoder_only_where_the_systematic_llrs_tell_them) {
  const int k = 104;
  const std::size_t n = 3 * (104 + 4);
  llrs_t llrs;
  const auto add = [&](auto value) {
    for (std::size_t i = 0; i < n; i++) llrs.push_back(value(i));
  };
  const auto is_sign = [](std::size_t i) { return i % 4 < 2; };           // of a symbol of 16-QAM
  add([&](std::size_t) { return 2.f; });                                  // a word of zeros
  add([&](std::size_t i) { return i < 104 || i % 3 == 0 ? 2.f : 0.f; });  // the same, punctured
  add([&](std::size_t i) { return is_sign(i) ? 0.f : 8.f; });             // nothing but amplitudes
  add([&](std::size_t i) { return is_sign(i) ? 1e-5f : 8.f; });           // y is small, not 0
  for (const auto& [precision, algorithm, small, llr_steps] : all_numbers) {
    const turbo_decoder decoder({.k = k,
                                 .algorithm = algorithm,
                                 .iterations = 3,
                                 .early_stop = turbo_early_stop::crc,
                                 .crc_polynomial = crc24a.polynomial,
                                 .crc_degree = 24,
                                 .precision = precision,
                                 .llr_steps = llr_steps});
    auto status = exec().make<std::uint8_t>(4, 1);
    decoder.run(exec(), on_device(exec(), llrs, 4, n),
                {.bits = {}, .soft = {}, .extrinsic = {}, .iterations = {}, .status = status});
    EXPECT_EQ(exec().to_host(status), (bits_t{status_stopped, status_stopped, insufficient, insufficient}))
        << static_cast<int>(precision) << ", " << static_cast<int>(algorithm);
  }
}

// ---------------------------------------------------------------- transport blocks

struct verdict {
  bits_t ok, status;
  bool operator==(const verdict&) const = default;
};
verdict decided(executor& exec, lte_transport_decoder& decoder, std::size_t batch) {
  auto ok = exec.make<std::uint8_t>(batch, 1), status = exec.make<std::uint8_t>(batch, 1);
  decoder.decode(exec, {.bits = {}, .ok = ok, .block_ok = {}, .iterations = {}, .status = status});
  return {exec.to_host(ok), exec.to_host(status)};
}
/// One transmission of redundancy version 0.
verdict received(executor& exec, const lte_transport_config& config, const llrs_t& llr) {
  const auto g = static_cast<std::size_t>(config.coded_bits);
  lte_transport_decoder decoder(config);
  decoder.combine(exec, on_device(exec, llr, llr.size() / g, g), 0);
  return decided(exec, decoder, llr.size() / g);
}
turbo_decoder_config turbo_of(const turbo_numbers& n) {
  return {.algorithm = n.algorithm, .iterations = 4, .precision = n.precision, .llr_steps = n.llr_steps};
}

TEST_P(usable, transport_blocks_of_which_too_little_arrived_are_not_ok) {
  // 1 bit and its CRC: 15 of K = 40 bits are fillers. Zeros are what these LLRs tell.
  for (const auto& numbers : all_numbers) {
    const lte_transport_config config{.transport_bits = 1, .coded_bits = 60, .turbo = turbo_of(numbers)};
    llrs_t llr;
    for (const std::size_t heard : {0U, 24U, 60U})
      for (std::size_t i = 0; i < 60; i++) llr.push_back(i < heard ? 4.f : numbers.small);
    EXPECT_EQ(received(exec(), config, llr), (verdict{{0, 0, 1}, {insufficient, insufficient, 0}}));
  }
}

TEST_P(usable, zeros_are_acknowledged_only_where_signs_tell_them) {
  std::mt19937_64 random(3);
  for (const auto& numbers : all_numbers)
    for (const int order : {4, 6, 8}) {
      lte_transport_config config{.transport_bits = 500,
                                  .coded_bits = order == 6 ? 1602 : 1600,
                                  .modulation_order = order,
                                  .turbo = turbo_of(numbers)};
      llrs_t llr;
      const auto add = [&](auto sign) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(config.coded_bits); i++)
          llr.push_back(i % static_cast<std::size_t>(order) < 2 ? sign() : 10.f);
      };
      add([&] { return 0.f; });                                   // y = 0
      add([&] { return 1e-5f; });                                 // y = 1e-6 (1 + j)
      add([&] { return (random() & 1) != 0 ? 0.02f : -0.02f; });  // weak noise
      add([&] { return (random() & 1) != 0 ? 0.4f : -0.4f; });    // noise
      add([&] { return 10.f; });                                  // zeros
      EXPECT_EQ(received(exec(), config, llr).ok, (bits_t{0, 0, 0, 0, 1})) << order;
    }
}

/// LLRs of the all-zero codeword where bits of a symbol differ in reliability: means of `order` LLRs.
llrs_t zeros_over(std::size_t n, const std::vector<float>& means, std::mt19937_64& random) {
  std::normal_distribution<float> normal;
  llrs_t llr(n);
  for (std::size_t i = 0; i < n; i++) {
    const float mean = means[i % means.size()];
    llr[i] = mean + std::sqrt(2 * mean) * normal(random);
  }
  return llr;
}

TEST_P(usable, zeros_that_were_sent_are_acknowledged) {
  std::mt19937_64 random(4);
  // Not far from what decoding allows: rate 1/3 at Es/N0 = -2.2 dB, 1/2 of 16-QAM, 1/3 of 64- and 256-QAM;
  // and eight repetitions.
  struct sent {
    int a, g, order;
    std::vector<float> means;
  };
  const sent cases[] = {{500, 1600, 2, {2.4f}},
                        {500, 12800, 2, {0.3f}},
                        {16, 132, 2, {5.f}},
                        {500, 1100, 4, {7.f, 7.f, 2.2f, 2.2f}},
                        {500, 1602, 6, {8.f, 8.f, 2.2f, 2.2f, 0.4f, 0.4f}},
                        {500, 1600, 8, {11.f, 11.f, 3.4f, 3.4f, 0.7f, 0.7f, 0.12f, 0.12f}},
                        {6200, 18900, 4, {3.f, 3.f, 0.9f, 0.9f}}};
  for (const auto& numbers : all_numbers)
    for (const sent& s : cases) {
      const std::size_t batch = s.a > 1000 ? 2 : 20;
      const lte_transport_config config{
          .transport_bits = s.a, .coded_bits = s.g, .modulation_order = s.order, .turbo = turbo_of(numbers)};
      const auto llr = zeros_over(batch * static_cast<std::size_t>(s.g), s.means, random);
      const verdict v = received(exec(), config, llr);
      EXPECT_EQ(v.ok, bits_t(batch, 1))
          << s.a << ", " << s.g << ", " << s.order << ", precision " << static_cast<int>(numbers.precision);
      EXPECT_EQ(v.status, bits_t(batch)) << s.a << ", " << s.g << ", " << s.order;
    }
}

TEST_P(usable, a_further_transmission_makes_up_for_what_was_too_little) {
  std::mt19937_64 random(5);
  const std::size_t batch = 6, a = 40, g = 48;  // K = 64
  bits_t bits(batch * a);
  for (std::size_t i = a; i < bits.size(); i++) bits[i] = static_cast<std::uint8_t>(random() & 1);
  for (const auto& numbers : all_numbers) {
    const lte_transport_config config{.transport_bits = 40, .coded_bits = 48, .turbo = turbo_of(numbers)};
    lte_transport_encoder encoder(config);
    lte_transport_decoder decoder(config);
    auto coded = exec().make<std::uint8_t>(batch, g);
    for (int round = 0; round < 2; round++) {
      for (const int rv : {0, 2}) {
        encoder.run(exec(), on_device(exec(), bits, batch, a), rv, coded);
        llrs_t llr;
        for (const auto bit : exec().to_host(coded)) llr.push_back(bit == 0 ? 6.f : -6.f);
        decoder.combine(exec(), on_device(exec(), llr, batch, g), rv);
        EXPECT_EQ(decided(exec(), decoder, batch),
                  (rv == 0 ? verdict{bits_t(batch), bits_t(batch, insufficient)}
                           : verdict{bits_t(batch, 1), bits_t(batch)}));
      }
      decoder.reset();
    }
  }
}

/// Words that one transmission of redundancy version rv makes ok, without noise. The last word is all zeros.
template <class Encoder, class Decoder, class Config>
bits_t right_words(executor& exec, const Config& config, int rv) {
  constexpr std::size_t batch = 9;
  const auto a = static_cast<std::size_t>(config.transport_bits),
             g = static_cast<std::size_t>(config.coded_bits);
  std::mt19937_64 random(8);
  bits_t bits(batch * a);
  for (std::size_t i = 0; i < (batch - 1) * a; i++) bits[i] = static_cast<std::uint8_t>(random() & 1);
  auto coded = exec.make<std::uint8_t>(batch, g), found = exec.make<std::uint8_t>(batch, a);
  auto ok = exec.make<std::uint8_t>(batch, 1);
  Encoder(config).run(exec, on_device(exec, bits, batch, a), rv, coded);
  llrs_t llr;
  for (const auto bit : exec.to_host(coded)) llr.push_back(bit == 0 ? 6.f : -6.f);
  Decoder decoder(config);
  decoder.combine(exec, on_device(exec, llr, batch, g), rv);
  decoder.decode(exec, {.bits = found, .ok = ok});
  const bits_t good = exec.to_host(ok), decided = exec.to_host(found);
  for (std::size_t i = 0; i < batch; i++) {
    if (good[i] == 0) continue;
    const auto first = static_cast<std::ptrdiff_t>(i * a), end = static_cast<std::ptrdiff_t>((i + 1) * a);
    EXPECT_TRUE(std::equal(decided.begin() + first, decided.begin() + end, bits.begin() + first))
        << "word " << i << " is wrong and ok, rv " << rv;
  }
  return good;
}

TEST_P(usable, versions_that_give_a_decoder_no_start_are_not_ok) {
  const bits_t every_word(9, 1);
  bits_t only_zeros(9);  // which the parity bits support
  only_zeros.back() = 1;
  for (const int order : {1, 2, 4})
    for (const int rv : {0, 1, 2, 3}) {
      const nr_transport_config nr{
          .transport_bits = 1032, .coded_bits = 1944, .modulation_order = order, .scrambling = 99};
      const auto good = right_words<nr_transport_encoder, nr_transport_decoder>(exec(), nr, rv);
      if (rv == 0) {
        EXPECT_EQ(good, every_word) << order;
      }
      if (rv == 2) {
        EXPECT_EQ(good, only_zeros) << order;
      }
      const lte_transport_config lte{
          .transport_bits = 1032, .coded_bits = 1944, .modulation_order = order, .turbo = {.iterations = 4}};
      const auto of_lte = right_words<lte_transport_encoder, lte_transport_decoder>(exec(), lte, rv);
      if (rv == 0) {
        EXPECT_EQ(of_lte, every_word) << order;
      }
      const ctc_transport_config ctc{.transport_bits = 80, .coded_bits = 144, .modulation_order = order};
      const auto of_ctc = right_words<ctc_transport_encoder, ctc_transport_decoder>(exec(), ctc, rv);
      if (rv == 0) {
        EXPECT_EQ(of_ctc, every_word) << order;
      }
    }
}

}  // namespace usable_test
}  // namespace wb
