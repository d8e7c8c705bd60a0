// Codes in the list of contracts: encoders, decoders and puncturing.
#include <numeric>

#include <tests/contract.hpp>
#include <tests/conv.hpp>
#include <tests/ctc.hpp>
#include <tests/ldpc.hpp>
#include <tests/polar.hpp>
#include <tests/sparse_ldpc.hpp>
#include <tests/turbo.hpp>
#include <warpband/fec/bch/bch.hpp>
#include <warpband/fec/bcjr/bcjr.hpp>
#include <warpband/fec/osd/osd.hpp>
#include <warpband/fec/puncture/puncture.hpp>
#include <warpband/fec/short_block/short_block.hpp>
#include <warpband/fec/sparse_ldpc/min_sum_backward.hpp>
#include <warpband/fec/viterbi/viterbi.hpp>

namespace wb {
namespace contract_fec_test {

using namespace testing;
using algorithms = std::vector<algorithm>;
using byte = std::uint8_t;

constexpr map_algorithm both_algorithms[] = {map_algorithm::max_log_map, map_algorithm::log_map};

bit_vector random_bits(std::size_t count) {
  std::mt19937_64 random(1);
  return random_bit_vector(count, random);
}
/// Rows of n LLRs: some as they are, others large, small or zero.
std::vector<float> of_mixed_scales(std::vector<float> llr, std::size_t n) {
  constexpr float factors[] = {1, 1, 50, 0.01f, 1, 0x1p5f, 0x1p-9f, 1, 0, 1, 1};
  for (std::size_t i = 0; i < llr.size(); i++) llr[i] *= factors[i / n % std::size(factors)];
  return llr;
}
/// The LLRs from `first` on are `value`, which leaves too few.
fault too_few(std::size_t first, float value = 0) {
  return {"LLRs of " + std::to_string(value), "llr",
          [=](std::span<float> row) {
            std::fill(row.begin() + static_cast<std::ptrdiff_t>(first), row.end(), value);
          },
          status_erased | status_insufficient};
}

// ---- convolutional codes

std::vector<float> conv_llrs(const conv_code& code, std::size_t k, std::size_t items, double esn0_db) {
  return of_mixed_scales(make_conv_codewords(code, k, items, esn0_db, 5).llr,
                         conv_frame(code, static_cast<int>(k)).n());
}
/// LLRs of 8 bits.
steps_t some_steps(std::size_t count) {
  std::mt19937_64 random(7);
  steps_t r(count);
  for (auto& x : r) x = static_cast<std::int8_t>(static_cast<int>(random() % 181) - 90);
  return r;
}

algorithm viterbi(const viterbi_config& config, std::size_t items = 35, bool in_steps = false) {
  const viterbi_decoder d(config);
  const auto k = static_cast<std::size_t>(config.k), n = d.frame().n();
  algorithm a{.text = name_of(config.code) + " k=" + std::to_string(k) +
                      " overlap=" + std::to_string(d.config().overlap.value()) +
                      " windows=" + std::to_string(config.windows.value_or(1)),
              .items = items};
  a.outputs = {output<byte>("bits", k), status_output()};
  a.draw = [=](std::size_t count) {
    return operands{in_steps ? input("llr", n, some_steps(n * count))
                             : input("llr", n, conv_llrs(config.code, k, count, -3))};
  };
  a.run = [=](executor& e, const call& c) {
    const viterbi_output out{.bits = c["bits"], .metric = c["metric"], .status = c["status"]};
    in_steps ? d.run(e, c.get<const std::int8_t>("llr"), out) : d.run(e, c.get<const float>("llr"), out);
  };
  if (in_steps) return a;
  a.faults = {too_few(0), too_few(k - 1)};
  if (config.precision == conv_precision::int16)
    a.faults.push_back(too_few(0, 0.0624f));  // of steps of 1/8
  else
    a.outputs.insert(a.outputs.begin() + 1, output<float>("metric", 1));
  return a;
}
algorithms viterbi_of_each_code() {
  algorithms list;
  for (const conv_code& code : many_codes()) list.push_back(viterbi({.code = code, .k = 61}));
  return list;
}
/// Codes that have CUDA kernels: all endings, numbers of steps and overlaps.
algorithms viterbi_of_known_codes() {
  algorithms list;
  for (conv_code code : {conv_80211(conv_rate::r1_2), conv_80211(conv_rate::r3_4), conv_lte()})
    for (const auto ending : {conv_ending::zero_tail, conv_ending::truncated, conv_ending::tail_biting}) {
      code.ending = ending;
      for (const int k : {6, 15, 58, 1027})
        for (const std::optional<int> overlap : {std::optional<int>(), {0}, {55}, {500}})
          if (!overlap || (ending == conv_ending::tail_biting && (k < 100 || overlap == 500)))
            list.push_back(viterbi({.code = code, .k = k, .overlap = overlap}, k > 1000 ? 9 : 35));
      list.push_back(viterbi({.code = code, .k = small_scale() ? 2203 : 5001}, 9));
    }
  return list;
}
/// Codes, lengths and windows of the 16-bit decoders; n + 3 is odd where rows of bytes are to begin anywhere.
struct windowed {
  conv_code code;
  int k, windows;
};
const std::vector<windowed>& all_windowed() {
  static const std::vector<windowed> list{{conv_80211(conv_rate::r1_2), 1000, 1},
                                          {conv_80211(conv_rate::r1_2), 1000, 9},
                                          {conv_80216(conv_rate::r3_4, conv_ending::tail_biting), 601, 3},
                                          {conv_lte(), 40, 1},
                                          {conv_lte(), 500, 5},
                                          {conv_lte(), 300, 4},
                                          {conv_80211(conv_rate::r1_2), 203, 1},
                                          {conv_80211(conv_rate::r1_2), 403, 3},
                                          {{.constraint_length = 4, .generators = {016, 013}}, 300, 4},
                                          {{.constraint_length = 9, .generators = {0561, 0753}}, 300, 2}};
  return list;
}
algorithms viterbi_of_16_bits() {
  algorithms list;
  for (const auto& [code, k, windows] : all_windowed())
    list.push_back(viterbi(
        {.code = code, .k = k, .precision = conv_precision::int16, .llr_steps = 8, .windows = windows}));
  list.push_back(viterbi({.code = conv_recursive(4, 013, {015}),
                          .k = 300,
                          .precision = conv_precision::int16,
                          .llr_steps = 8,
                          .windows = 4}));
  return list;
}
algorithms viterbi_in_bytes() {
  algorithms list;
  for (const auto& [code, k, windows] : all_windowed())
    list.push_back(viterbi(
        {.code = code, .k = k, .precision = conv_precision::int16, .llr_steps = 8, .windows = windows}, 35,
        true));
  return list;
}

algorithm bcjr(const bcjr_config& config, bool with_prior, bool with_coded, std::size_t items = 35) {
  const bcjr_decoder d(config);
  const auto k = static_cast<std::size_t>(config.k), n = d.frame().n();
  const bool int16 = config.precision == conv_precision::int16;
  algorithm a{.text = name_of(config.code) + " k=" + std::to_string(k) + " algorithm " +
                      std::to_string(static_cast<int>(config.algorithm)) + " windows=" +
                      std::to_string(config.windows.value_or(1)) + " prior " + std::to_string(with_prior),
              .items = items};
  a.outputs = {output<byte>("bits", k), output<float>("soft", k)};
  if (!int16) a.outputs.push_back(output<float>("extrinsic", k));
  if (with_coded) a.outputs.push_back(output<float>("coded_extrinsic", n));
  a.outputs.push_back(status_output());
  a.draw = [=](std::size_t count) {
    operands in{input("llr", n, conv_llrs(config.code, k, count, -3))};
    std::mt19937_64 random(6);
    if (with_prior) in.push_back(input("prior", k, noisy_llrs(random_bits(k * count), -6, random)));
    return in;
  };
  a.run = [=](executor& e, const call& c) {
    const bcjr_output out{.bits = c["bits"],
                          .soft = c["soft"],
                          .extrinsic = c["extrinsic"],
                          .coded_extrinsic = c["coded_extrinsic"],
                          .status = c["status"]};
    const auto llr = c.get<const float>("llr");
    with_prior ? d.run(e, llr, c["prior"], out) : d.run(e, llr, out);
  };
  if (!with_prior) a.faults = {too_few(0), too_few(k - 1)};
  if (int16) a.faults.push_back(too_few(0, 0.0624f));
  return a;
}
algorithms bcjr_of_each_code() {
  algorithms list;
  for (const conv_code& code : many_codes())
    for (const auto algorithm : both_algorithms) {
      list.push_back(bcjr({.code = code, .k = 61, .algorithm = algorithm}, false, false));
      list.push_back(bcjr({.code = code, .k = 61, .algorithm = algorithm}, true, true, 17));
    }
  return list;
}
/// max* from a table.
algorithms bcjr_by_table() {
  constexpr auto table = map_algorithm::log_map_table;
  algorithms list;
  for (const conv_code& code : many_codes()) {
    list.push_back(bcjr({.code = code, .k = 61, .algorithm = table}, false, false));
    list.push_back(bcjr({.code = code, .k = 61, .algorithm = table}, true, true, 17));
  }
  return list;
}
/// Codes that have CUDA kernels: runs and stages that end early, every ending, more than a warp's codewords.
algorithms bcjr_of_known_codes() {
  algorithms list;
  for (conv_code code : {conv_80211(conv_rate::r1_2), conv_80211(conv_rate::r3_4), conv_lte()})
    for (const auto ending : {conv_ending::zero_tail, conv_ending::tail_biting, conv_ending::truncated})
      for (const int k : {6, 9, 16, 90, 131})
        for (const auto algorithm : both_algorithms) {
          code.ending = ending;
          for (const bool with_prior : {false, true})
            list.push_back(bcjr({.code = code, .k = k, .algorithm = algorithm}, with_prior, false, 19));
        }
  return list;
}
algorithms bcjr_of_16_bits() {
  algorithms list;
  for (const auto& [code, k, windows] : all_windowed())
    list.push_back(bcjr({.code = code,
                         .k = k,
                         .algorithm = map_algorithm::max_log_map,
                         .precision = conv_precision::int16,
                         .llr_steps = 8,
                         .windows = windows},
                        false, false));
  return list;
}
algorithms conv_encoders() {
  algorithms list;
  for (const conv_code& code : many_codes()) {
    const conv_encoder encoder(code, 31);
    algorithm a{.text = name_of(code), .outputs = {output<byte>("coded", encoder.n())}};
    a.draw = [](std::size_t items) { return operands{input("bits", 31, random_bits(31 * items))}; };
    a.run = [=](executor& e, const call& c) { encoder.run(e, c["bits"], c["coded"]); };
    list.push_back(a);
  }
  return list;
}

// ---- turbo codes

std::vector<float> turbo_llrs(int k, std::size_t items, double ebn0_db) {
  return make_codewords(k, static_cast<int>(items), ebn0_db, 16, &crc24b).llr;
}
/// float32, with all outputs.
algorithm turbo(turbo_decoder_config config, std::size_t items = 21) {
  config.crc_polynomial = crc24b.polynomial, config.crc_degree = crc24b.degree;
  if (config.algorithm == map_algorithm::max_log_map) config.extrinsic_scale = 0.75f;
  const turbo_decoder d(config);
  const auto k = static_cast<std::size_t>(config.k), n = 3 * (k + 4);
  algorithm a{.text = "k=" + std::to_string(k) + " windows=" + std::to_string(d.config().windows.value()) +
                      " log-MAP " + std::to_string(config.algorithm == map_algorithm::log_map),
              .items = items};
  a.outputs = {output<byte>("bits", k),
               output<float>("soft", k),
               output<float>("extrinsic", k),
               output<float>("coded_extrinsic", n),
               output<std::int32_t>("iterations", 1),
               status_output()};
  a.draw = [=](std::size_t count) {
    return operands{input("llr", n, of_mixed_scales(turbo_llrs(config.k, count, 1), n))};
  };
  a.run = [=](executor& e, const call& c) {
    d.run(e, c.get<const float>("llr"),
          {.bits = c["bits"],
           .soft = c["soft"],
           .extrinsic = c["extrinsic"],
           .coded_extrinsic = c["coded_extrinsic"],
           .iterations = c["iterations"],
           .status = c["status"]});
  };
  a.faults = {too_few(0), too_few(k - 1)};
  return a;
}
algorithms turbo_of_float32(bool longest) {
  algorithms list;
  using enum turbo_early_stop;
  for (const auto algorithm : both_algorithms) {
    const auto add = [&](int k, std::optional<int> windows, std::optional<int> overlap, int iterations,
                         turbo_early_stop stop, std::size_t items) {
      list.push_back(turbo({.k = k,
                            .algorithm = algorithm,
                            .iterations = iterations,
                            .windows = windows,
                            .overlap = overlap,
                            .early_stop = stop},
                           items));
    };
    for (const int windows : {1, 32, 64, 96, 128, 192, 768})
      if (longest && !small_scale()) add(6144, windows, windows == 96 ? 16 : 0, 2, none, 2);
    if (longest) continue;
    add(40, 1, 0, 2, none, 35);
    add(40, 5, 0, 2, none, 21);
    add(40, {}, {}, 4, sign_agreement, 21);
    add(104, 4, 3, 3, sign_agreement, 21);
    add(104, 7, 5, 3, none, 21);
    add(256, {}, {}, 8, crc, 35);
    add(512, 64, 0, 3, crc, 9);
    add(1056, 32, {}, 3, sign_agreement, 4);
    add(2048, {}, {}, 6, crc, 3);
  }
  return list;
}
/// max* from a table.
algorithms turbo_by_table() {
  constexpr auto table = map_algorithm::log_map_table;
  return {turbo({.k = 40, .algorithm = table, .iterations = 2, .windows = 5, .overlap = 0}),
          turbo({.k = 104, .algorithm = table, .iterations = 3, .windows = 7, .overlap = 5}),
          turbo({.k = 256, .algorithm = table, .iterations = 8, .early_stop = turbo_early_stop::crc}, 35)};
}
/// Decoders with windows side by side, of LLRs as floats and as bytes.
algorithm turbo_windows(const windows_kind& kind, int k, std::optional<int> overlap, std::size_t items,
                        bool in_steps) {
  auto config = setting(kind, k, {}, overlap, 2);
  config.llr_steps = 8;
  const turbo_decoder d(config);
  const auto size = static_cast<std::size_t>(k), n = 3 * (size + 4);
  algorithm a{.text = kind.name + (" k=" + std::to_string(k)), .items = items};
  a.outputs = {output<byte>("bits", size), output<std::int32_t>("iterations", 1), status_output()};
  a.draw = [=](std::size_t count) {
    const auto llr = turbo_llrs(k, count, 0.2);
    return operands{in_steps ? input("llr", n, steps_of(llr)) : input("llr", n, llr)};
  };
  a.run = [=](executor& e, const call& c) {
    const turbo_decoder_output out{.bits = c["bits"], .iterations = c["iterations"], .status = c["status"]};
    in_steps ? d.run(e, c.get<const std::int8_t>("llr"), out) : d.run(e, c.get<const float>("llr"), out);
  };
  if (!in_steps) a.faults = {too_few(0), too_few(size - 1)};
  return a;
}
algorithms turbo_of_windows(bool in_steps) {
  algorithms list;
  for (const auto& kind : {int16_kind, bfloat_max_log, bfloat_log_map})
    for (const auto& [k, overlap, items] : {std::tuple{40, std::optional(0), 67},
                                            {200, 0, 67},
                                            {256, {}, 35},
                                            {512, {}, 19},
                                            {1024, 16, 9},
                                            {6144, {}, 3}})
      list.push_back(turbo_windows(kind, k, overlap, static_cast<std::size_t>(items), in_steps));
  return list;
}
algorithms turbo_encoders() {
  algorithms list;
  for (const int k : {40, 104, 1056}) {
    const turbo_encoder encoder(k);
    const auto size = static_cast<std::size_t>(k);
    algorithm a{.text = "k=" + std::to_string(k), .outputs = {output<byte>("coded", 3 * (size + 4))}};
    a.draw = [=](std::size_t items) { return operands{input("bits", size, random_bits(size * items))}; };
    a.run = [=](executor& e, const call& c) { encoder.run(e, c["bits"], c["coded"]); };
    list.push_back(a);
  }
  return list;
}

// ---- convolutional turbo codes over couples of bits

algorithm ctc(const ctc_config& code, const ctc_decoder_config& config, std::size_t items,
              bool with_coded = false) {
  const ctc_decoder d(code, config);
  const std::size_t k = d.k(), n = d.n();
  algorithm a{.text = "k=" + std::to_string(k) + " n=" + std::to_string(n) +
                      " windows=" + std::to_string(d.config().windows.value()) + " algorithm " +
                      std::to_string(static_cast<int>(config.algorithm)),
              .items = items};
  a.outputs = {output<byte>("bits", k), output<float>("soft", k)};
  if (with_coded) a.outputs.push_back(output<float>("coded_extrinsic", n));
  a.outputs.push_back(output<std::int32_t>("iterations", 1));
  a.outputs.push_back(status_output());
  a.draw = [=](std::size_t count) {
    return operands{input("llr", n, of_mixed_scales(make_ctc_words(code, count, -1, 12).llr, n))};
  };
  a.run = [=](executor& e, const call& c) {
    d.run(e, c.get<const float>("llr"),
          {.bits = c["bits"],
           .soft = c["soft"],
           .coded_extrinsic = c["coded_extrinsic"],
           .iterations = c["iterations"],
           .status = c["status"]});
  };
  a.faults = {too_few(0), too_few(k - 1)};
  return a;
}
algorithms ctc_decoders() {
  algorithms list;
  for (const auto algorithm :
       {map_algorithm::max_log_map, map_algorithm::log_map, map_algorithm::log_map_table}) {
    const auto stop = ctc_early_stop::sign_agreement;
    list.push_back(ctc({.k = 48}, {.algorithm = algorithm, .windows = 3, .overlap = 5}, 35));
    list.push_back(ctc({.k = 480, .rate = ctc_rate::r5_6}, {.algorithm = algorithm, .early_stop = stop}, 21));
    list.push_back(ctc({.standard = ctc_standard::dvb_rcs, .k = 440, .rate = ctc_rate::r2_5},
                       {.algorithm = algorithm, .iterations = 3, .windows = 9, .overlap = 0}, 9));
    list.push_back(ctc({.k = 96, .rate = ctc_rate::r2_3},
                       {.algorithm = algorithm, .iterations = 5, .windows = 4, .early_stop = stop}, 35,
                       true));
  }
  return list;
}
algorithms ctc_encoders() {
  algorithms list;
  for (const ctc_config& code : some_ctcs()) {
    const ctc_encoder encoder(code);
    algorithm a{.text = "k=" + std::to_string(encoder.k()) + " n=" + std::to_string(encoder.n()),
                .outputs = {output<byte>("coded", encoder.n())}};
    a.draw = [k = encoder.k()](std::size_t items) {
      return operands{input("bits", k, random_bits(k * items))};
    };
    a.run = [=](executor& e, const call& c) { encoder.run(e, c["bits"], c["coded"]); };
    list.push_back(a);
  }
  return list;
}

// ---- LDPC codes

/// The zero word in noise, of all scales; in some rows with zeros and with ties.
std::vector<float> ldpc_llrs(const ldpc_code& code, std::size_t items, double esn0_db) {
  const auto n = static_cast<std::size_t>(code.n());
  std::mt19937_64 random(30);
  auto llr = testing::noisy(bytes(n * items), esn0_db, random);
  for (std::size_t i = 0; i < llr.size(); i++) {
    if (i / n % 7 == 2) llr[i] = std::clamp(std::nearbyint(llr[i]), -3.f, 3.f) / 2;
    if (i / n % 7 == 5) llr[i] *= i % 7 == 0 ? 1e30f : 30.f;
  }
  return of_mixed_scales(llr, n);
}
/// Outputs of all n bits, or of the k information bits.
algorithm ldpc(const ldpc_sample& s, const ldpc_decoder_config& config, bool all_bits, std::size_t items) {
  const ldpc_decoder d(s.code, config);
  const auto n = static_cast<std::size_t>(s.code.n()), k = static_cast<std::size_t>(s.code.k());
  const std::size_t width = all_bits ? n : k;
  algorithm a{.text = s.name + " algorithm " + std::to_string(static_cast<int>(config.algorithm)) +
                      " schedule " + std::to_string(static_cast<int>(config.schedule)) + " precision " +
                      std::to_string(static_cast<int>(config.precision)),
              .items = items};
  a.outputs = {output<byte>("bits", width), output<float>("soft", width), output<float>("extrinsic", width),
               output<std::int32_t>("iterations", 1), status_output()};
  a.draw = [=, code = s.code, esn0_db = s.esn0_db](std::size_t count) {
    return operands{input("llr", n, ldpc_llrs(code, count, esn0_db))};
  };
  a.run = [=](executor& e, const call& c) {
    d.run(e, c["llr"],
          {.bits = c["bits"],
           .soft = c["soft"],
           .extrinsic = c["extrinsic"],
           .iterations = c["iterations"],
           .status = c["status"]});
  };
  a.faults = {too_few(0), too_few(k - 1)};
  return a;
}
algorithms ldpc_of_each_code() {
  algorithms list;
  for (const ldpc_sample& s : ldpc_samples())
    for (const auto schedule : {ldpc_schedule::layered, ldpc_schedule::flooding}) {
      ldpc_decoder_config c{.algorithm = ldpc_algorithm::sum_product, .iterations = 6, .schedule = schedule};
      const std::size_t items = s.code.n() > 1000 ? 3 : s.name == "WiMAX 576 5/6" ? 67 : 19;
      list.push_back(ldpc(s, c, true, items));
      c.algorithm = ldpc_algorithm::normalised_min_sum;
      for (const auto precision : {ldpc_precision::float32, ldpc_precision::float16, ldpc_precision::int8}) {
        c.precision = precision;
        list.push_back(ldpc(s, c, schedule == ldpc_schedule::layered, items));
      }
    }
  return list;
}

// ---- LDPC codes of any sparse matrix

algorithm sparse_ldpc(const parity_check_matrix& h, const sparse_ldpc_config& config) {
  const sparse_ldpc_decoder d(h, config);
  const auto n = static_cast<std::size_t>(h.n()), k = static_cast<std::size_t>(h.k()),
             sent = static_cast<std::size_t>(h.sent()), checks = static_cast<std::size_t>(h.checks());
  algorithm a{.text = "sparse, n=" + std::to_string(n) + " algorithm " +
                      std::to_string(static_cast<int>(config.algorithm)) + " schedule " +
                      std::to_string(static_cast<int>(config.schedule)),
              .items = 37};
  a.outputs = {output<byte>("bits", k), output<float>("soft", n), output<float>("extrinsic", sent),
               output<std::int32_t>("iterations", 1), status_output()};
  a.draw = [=](std::size_t items) {
    std::mt19937_64 random(31);
    const auto llr = testing::noisy(bytes(sent * items), 1, random);
    bytes syndrome(items * checks);
    for (auto& s : syndrome) s = random() % 16 == 0;
    return operands{input("llr", sent, of_mixed_scales(llr, sent)), input("syndrome", checks, syndrome)};
  };
  a.run = [=](executor& e, const call& c) {
    d.run(e, c["llr"],
          {.bits = c["bits"],
           .soft = c["soft"],
           .extrinsic = c["extrinsic"],
           .iterations = c["iterations"],
           .status = c["status"]},
          c.get<const byte>("syndrome"));
  };
  a.faults = {too_few(0), too_few(k - 1)};
  return a;
}
algorithms sparse_ldpc_encoders() {
  const parity_check_matrix h = random_matrix(96, 48, 6, 51, {.punctured = {3}});
  const sparse_ldpc_encoder encoder(h);
  const auto k = static_cast<std::size_t>(h.k());
  algorithm a{.text = "sparse, n=96", .outputs = {output<byte>("coded", static_cast<std::size_t>(h.sent()))}};
  a.draw = [=](std::size_t items) { return operands{input("bits", k, random_bits(k * items))}; };
  a.run = [=](executor& e, const call& c) { encoder.run(e, c.get<const byte>("bits"), c["coded"]); };
  a.free_widths = {"coded"};
  return {a};
}
algorithms sparse_ldpc_decoders() {
  algorithms list;
  const parity_check_matrix matrices[] = {
      random_matrix(96, 48, 6, 51),
      random_matrix(300, 30, 40, 52, {.punctured = {7, 299}, .shortened = {0}})};
  for (const parity_check_matrix& h : matrices)
    for (const auto algorithm : {ldpc_algorithm::sum_product, ldpc_algorithm::normalised_min_sum})
      for (const auto schedule : {ldpc_schedule::layered, ldpc_schedule::flooding})
        list.push_back(sparse_ldpc(h, {.algorithm = algorithm, .iterations = 8, .schedule = schedule}));
  return list;
}

algorithms min_sum_gradients_of_codes() {
  algorithms list;
  const parity_check_matrix h = random_matrix(96, 48, 6, 51, {.punctured = {7}, .shortened = {0}}, false);
  const min_sum_backward layers[] = {
      {wimax_ldpc(576, wimax_rate::r5_6), {.iterations = 3, .factors = {0.5, 0.75}}},
      {h, {.algorithm = ldpc_algorithm::offset_min_sum, .iterations = 5}}};
  for (const min_sum_backward& d : layers) {
    const auto n = static_cast<std::size_t>(d.n()), sent = static_cast<std::size_t>(d.sent());
    algorithm a{.text = "n=" + std::to_string(n), .items = 37};
    a.outputs = {output<float>("llr_gradient", sent),
                 output<float>("correction_gradient", static_cast<std::size_t>(d.iterations())),
                 status_output()};
    a.draw = [=](std::size_t items) {
      std::mt19937_64 random(31);
      const auto llr = testing::noisy(bytes(sent * items), 1, random),
                 given = testing::noisy(bytes(n * items), -3, random);
      return operands{input("llr", sent, llr), input("soft_gradient", n, given)};
    };
    a.run = [=](executor& e, const call& c) {
      d.run(e, c["llr"], c["soft_gradient"], {c["llr_gradient"], c["correction_gradient"], c["status"]});
    };
    list.push_back(a);
  }
  return list;
}

// ---- ordered-statistics decoding

algorithms bp_osd_decoders() {
  algorithms list;
  const parity_check_matrix h = random_matrix(96, 48, 6, 51);
  const auto n = static_cast<std::size_t>(h.n()), k = static_cast<std::size_t>(h.k()),
             checks = static_cast<std::size_t>(h.checks());
  for (const auto method : {osd_method::osd_0, osd_method::osd_e, osd_method::osd_cs})
    for (const bool words : {false, true}) {
      const bp_osd d(h, {.max_iter = 3, .osd_method = method, .osd_order = 6});
      algorithm a{.text = "method " + std::to_string(static_cast<int>(method)) + (words ? " words" : ""),
                  .items = 37};
      a.outputs = {output<byte>("bits", n), output<float>("soft", n), output<std::int32_t>("iterations", 1),
                   status_output()};
      a.draw = [=](std::size_t items) {
        std::mt19937_64 random(32);
        const auto llr = testing::noisy(bytes(n * items), 1, random);
        operands in{input("llr", n, of_mixed_scales(llr, n))};
        bytes syndrome(items * checks);
        for (auto& s : syndrome) s = random() % 16 == 0;
        if (!words) in.push_back(input("syndrome", checks, syndrome));
        return in;
      };
      a.run = [=](executor& e, const call& c) {
        d.run(e, c["llr"],
              {.bits = c["bits"], .soft = c["soft"], .iterations = c["iterations"], .status = c["status"]},
              words ? view<const byte>{} : c.get<const byte>("syndrome"));
      };
      a.faults = {too_few(0), too_few(k - 1)};
      list.push_back(a);
    }
  return list;
}

// ---- polar codes

algorithm polar(const polar_config& code, const polar_decoder_config& config) {
  const polar_decoder d(code, config);
  const std::size_t k = d.code().k(), n = d.code().coded_bits();
  algorithm a{.text = "k=" + std::to_string(k) + " n=" + std::to_string(n) + " list " +
                      std::to_string(config.list_size) + " precision " +
                      std::to_string(static_cast<int>(config.precision)),
              .items = 19};
  a.outputs = {output<byte>("bits", k), status_output()};
  a.draw = [=](std::size_t items) {
    const double rate = static_cast<double>(k) / static_cast<double>(n);
    return operands{
        input("llr", n, of_mixed_scales(make_messages(code, items, 10 * std::log10(rate) + 1, 5).llr, n))};
  };
  a.run = [=](executor& e, const call& c) { d.run(e, c["llr"], {.bits = c["bits"], .status = c["status"]}); };
  a.finite = {"llr"};  // two blocks leave out the last one of an odd number
  a.faults = {too_few(0),
              too_few(static_cast<std::size_t>(d.code().blocks()[0].payload) - 1),
              {"NaN", "llr", [](std::span<float> row) { row[row.size() / 2] = std::nanf(""); }},
              {"infinity", "llr", [](std::span<float> row) { row[0] = INFINITY; }}};
  return a;
}
algorithms polar_decoders() {
  algorithms list;
  for (const polar_config& code : polar_codes())
    for (const int list_size : list_sizes)
      for (const polar_precision precision : precisions)
        list.push_back(polar(code, {.list_size = list_size, .precision = precision}));
  return list;
}
algorithms polar_encoders() {
  algorithms list;
  for (const polar_config& code : polar_codes()) {
    const polar_encoder encoder(code);
    const std::size_t k = encoder.code().k();
    algorithm a{.text = "k=" + std::to_string(k),
                .items = 19,
                .outputs = {output<byte>("coded", encoder.code().coded_bits())}};
    a.draw = [=](std::size_t items) { return operands{input("bits", k, random_bits(k * items))}; };
    a.run = [=](executor& e, const call& c) { encoder.run(e, c["bits"], c["coded"]); };
    list.push_back(a);
  }
  return list;
}

// ---- short block codes

algorithms short_block_decoders() {
  algorithms list;
  for (const short_block_config& c :
       {short_block_config{.k = 1, .coded_bits = 12},
        short_block_config{.k = 2, .coded_bits = 9, .modulation_order = 1},
        short_block_config{.k = 5, .coded_bits = 20}, short_block_config{.k = 11, .coded_bits = 70}}) {
    const short_block_decoder d(c);
    const auto k = static_cast<std::size_t>(c.k), n = static_cast<std::size_t>(c.coded_bits);
    algorithm a{.text = "k=" + std::to_string(k) + " n=" + std::to_string(n), .items = 19};
    a.outputs = {output<byte>("bits", k), status_output(), output<float>("margin", 1),
                 output<float>("agreement", 1)};
    a.draw = [=](std::size_t items) {
      std::mt19937_64 random(2);
      return operands{input("llr", n, noisy_llrs(random_bits(n * items), 0, random))};
    };
    a.run = [=](executor& e, const call& arrays) {
      d.run(e, arrays["llr"],
            {.bits = arrays["bits"],
             .status = arrays["status"],
             .margin = arrays["margin"],
             .agreement = arrays["agreement"]});
    };
    a.faults = {too_few(0),
                {"NaN", "llr", [](std::span<float> row) { row[0] = std::nanf(""); }},
                {"infinity", "llr", [](std::span<float> row) { row[4] = INFINITY; }}};
    list.push_back(a);
  }
  return list;
}
algorithms short_block_encoders() {
  algorithms list;
  for (const int k : {1, 2, 11}) {
    const short_block_encoder encoder({.k = k, .coded_bits = 48, .modulation_order = 4});
    const auto bits = static_cast<std::size_t>(k);
    algorithm a{.text = "k=" + std::to_string(k), .items = 19, .outputs = {output<byte>("coded", 48)}};
    a.draw = [=](std::size_t items) { return operands{input("bits", bits, random_bits(bits * items))}; };
    a.run = [=](executor& e, const call& c) { encoder.run(e, c["bits"], c["coded"]); };
    list.push_back(a);
  }
  return list;
}

// ---- BCH codes

const bch_config bch_configs[] = {{.field_degree = 5, .corrects = 3, .n = 31},
                                  {.field_degree = 9, .corrects = 7, .n = 400}};

algorithms bch_decoders() {
  algorithms list;
  for (const bch_config& config : bch_configs) {
    const bch_decoder d(config);
    const auto n = static_cast<std::size_t>(d.code().n()), k = static_cast<std::size_t>(d.code().k());
    algorithm a{.text = "BCH, n=" + std::to_string(n)};
    a.outputs = {output<byte>("bits", k), output<std::int32_t>("corrected", 1), status_output()};
    a.draw = [=](std::size_t items) {
      cpu exec({.threads = 1});
      const bit_vector bits = random_bits(k * items);
      auto words = exec.make<byte>(items, n);
      bch_encoder(config).run(exec, make_view(bits.data(), items, k), words);
      bit_vector received = exec.to_host(words), erased(items);
      for (std::size_t i = 0; i < items; i++) {  // up to two errors too many
        for (std::size_t e = 0; e < i % static_cast<std::size_t>(config.corrects + 3); e++)
          received[i * n + (37 * i + 11 * e) % n] ^= 1;
        erased[i] = i % 7 == 3 ? status_erased : 0;
      }
      return operands{input("received", n, received), input("erased", 1, erased)};
    };
    a.run = [=](executor& e, const call& c) {
      d.run(e, c.get<const byte>("received"),
            {.bits = c["bits"], .corrected = c["corrected"], .status = c["status"]},
            c.get<const byte>("erased"));
    };
    list.push_back(a);
  }
  return list;
}
algorithms bch_encoders() {
  algorithms list;
  for (const bch_config& config : bch_configs) {
    const bch_encoder encoder(config);
    const auto n = static_cast<std::size_t>(encoder.code().n()),
               k = static_cast<std::size_t>(encoder.code().k());
    algorithm a{.text = "BCH, n=" + std::to_string(n), .outputs = {output<byte>("coded", n)}};
    a.draw = [=](std::size_t items) { return operands{input("bits", k, random_bits(k * items))}; };
    a.run = [=](executor& e, const call& c) { encoder.run(e, c.get<const byte>("bits"), c["coded"]); };
    a.free_widths = {"coded"};
    list.push_back(a);
  }
  return list;
}

// ---- puncturing

algorithms punctured(bool restored) {
  algorithms list;
  for (const std::size_t n : {1, 7, 132, 500}) {
    std::vector<std::int32_t> places(n);
    std::iota(places.begin(), places.end(), 0);
    std::shuffle(places.begin(), places.end(), std::mt19937(1));
    places.resize(std::max<std::size_t>(1, 2 * n / 3));
    const puncturer p(n, places);
    algorithm a{.text = "n=" + std::to_string(n)};
    a.outputs = {restored ? output<float>("out", n) : output<byte>("out", p.sent())};
    a.draw = [=](std::size_t items) {
      std::mt19937_64 random(2);
      return operands{restored ? input("llr", p.sent(), noisy_llrs(random_bits(p.sent() * items), 0, random))
                               : input("coded", n, random_bits(n * items))};
    };
    a.run = [=](executor& e, const call& c) {
      restored ? p.restore(e, c["llr"], c["out"]) : p.puncture(e, c.get<const byte>("coded"), c["out"]);
    };
    list.push_back(a);
  }
  return list;
}

const std::vector<contract_case> decoders{
    {"viterbi", viterbi_of_each_code},
    {"viterbi_of_known_codes", viterbi_of_known_codes},
    {"viterbi_int16", viterbi_of_16_bits},
    {"bcjr", bcjr_of_each_code},
    {"bcjr_of_known_codes", bcjr_of_known_codes},
    {"bcjr_by_table", bcjr_by_table},
    {"bcjr_int16", bcjr_of_16_bits},
    {"turbo", [] { return turbo_of_float32(false); }},
    {"turbo_windows", [] { return turbo_of_windows(false); }},
    {"turbo_by_table", turbo_by_table},
    {"ctc", ctc_decoders},
    {"ldpc", ldpc_of_each_code},
    {"sparse_ldpc", sparse_ldpc_decoders},
    {"min_sum_backward", min_sum_gradients_of_codes},
    {"bp_osd", bp_osd_decoders},
    {"polar", polar_decoders},
    {"short_block", short_block_decoders},
};
const std::vector<contract_case> others{
    {"viterbi_in_bytes", viterbi_in_bytes},
    {"turbo_of_6144", [] { return turbo_of_float32(true); }},
    {"turbo_windows_in_bytes", [] { return turbo_of_windows(true); }},
    {"conv_encoder", conv_encoders},
    {"turbo_encoder", turbo_encoders},
    {"ctc_encoder", ctc_encoders},
    {"polar_encoder", polar_encoders},
    {"short_block_encoder", short_block_encoders},
    {"sparse_ldpc_encoder", sparse_ldpc_encoders},
    {"bch_encoder", bch_encoders},
    {"bch", bch_decoders},  // no input is of floating point: its test gives it erased words
    {"puncture", [] { return punctured(false); }},
    {"restore", [] { return punctured(true); }},
};
WB_CONTRACTS(fec, decoders, others);

}  // namespace contract_fec_test
}  // namespace wb
