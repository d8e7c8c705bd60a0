// Links over channels of bits: closed forms, exact error rates of small codes, density evolution, every code,
// scenarios, results.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include <oracle/density_evolution.hpp>
#include <tests/result.hpp>
#include <tests/scenario.hpp>
#include <tests/sparse_ldpc.hpp>
#include <warpband/core/status.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/scenario_write.hpp>
#include <warpband/link/tradeoff.hpp>

namespace wb {
namespace binary_link_test {

using namespace testing;

link_config link_over(air_config channel, code_config code) {
  link_config c;
  c.channel = std::move(channel);
  c.code = std::move(code);
  c.axis = snr_axis::probability;
  return c;
}
link_config matrix_link(air_config channel, const parity_check_matrix& h, const sparse_ldpc_config& decoder) {
  sparse_ldpc_code_settings s;
  s.read = std::make_shared<const parity_check_matrix>(h);
  s.decoder = decoder;
  return link_over(std::move(channel), code_config("ldpc", box(s)));
}
point_counts counted(const link_config& c, double probability, std::uint64_t frames) {
  cpu exec;
  link_chain chain(c, exec);
  return run_point(chain, probability, {.frame_errors = 0, .max_frames = frames}).counts;
}
/// Within 4.5 standard deviations.
void expect_rate(std::uint64_t events, std::uint64_t trials, double rate) {
  const auto n = static_cast<double>(trials);
  EXPECT_LT(std::abs(static_cast<double>(events) - n * rate), 4.5 * std::sqrt(n * rate * (1 - rate)) + 1)
      << events << " of " << trials << ", expected " << rate;
}

TEST(binary_link, uncoded_bit_error_rates_are_closed_forms) {
  const std::uint64_t frames = small_scale() ? 300 : 10'000;
  const auto expect = [&](air_config channel, double p, double ber) {
    const link_config c = link_over(channel, uncoded_link(1000).code);
    expect_rate(counted(c, p, frames).bit_errors, frames * 1000, ber);
  };
  for (const double p : {0.5, 0.1, 0.01, 1e-4}) {
    SCOPED_TRACE(p);
    expect(bsc_config{}, p, p);
    expect(bec_config{}, p, p / 2);  // an erased bit is decided as 0
    expect(z_config{}, p, p / 2);
  }
  expect(bsc_config{}, 0.9, 0.1);  // the receiver knows p
  for (const air_config& channel :
       {air_config(bsc_config{}), air_config(bec_config{}), air_config(z_config{})})
    EXPECT_EQ(counted(link_over(channel, uncoded_link(1000).code), 0, 300).bit_errors, 0u);
}

TEST(binary_link, llrs_tell_what_the_capacity_is) {
  const auto entropy = [](double p) { return -p * std::log2(p) - (1 - p) * std::log2(1 - p); };
  const auto information = [](air_config channel, double p) {
    link_config c = link_over(std::move(channel), uncoded_link(1000).code);
    c.mutual_information = true;
    return 1 - counted(c, p, 300).information_lost / 300'000;
  };
  const double p = 0.2;
  EXPECT_NEAR(information(bsc_config{}, p), 1 - entropy(p), 0.01);
  EXPECT_NEAR(information(bec_config{}, p), 1 - p, 0.01);
  EXPECT_NEAR(information(z_config{}, p), entropy((1 - p) / 2) - entropy(p) / 2,
              0.01);  // of equally likely bits
}

TEST(binary_link, points_have_random_numbers_of_their_own) {
  frame_batch a{.first = 1, .frames = 1, .point_db = 0.1, .axis = snr_axis::probability}, b = a;
  b.point_db = 0.1001;
  EXPECT_NE(a.random(1).point, b.random(1).point);
  b.point_db = 1e-9;
  EXPECT_EQ(b.random(1).point, static_cast<std::uint32_t>(-45'000));
  b.point_db = 0;
  EXPECT_EQ(b.random(1).point, static_cast<std::uint32_t>(-100'000));
}

// ---- exact frame error rates

/// Decisions for every syndrome with the priors of a BSC: what a symmetric decoder does with all received
/// words.
std::vector<bytes> estimates_of_syndromes(const parity_check_matrix& h, const sparse_ldpc_config& config,
                                          double p) {
  const auto n = static_cast<std::size_t>(h.n()), checks = static_cast<std::size_t>(h.checks()),
             syndromes = std::size_t{1} << checks;
  bytes s(syndromes * checks);
  for (std::size_t i = 0; i < s.size(); i++) s[i] = static_cast<std::uint8_t>(i / checks >> i % checks & 1);
  cpu exec;
  const sparse_ldpc_decoder decoder(h, config);
  const std::vector<float> prior(n, binary_symmetric_channel(p).llr.zero);
  const auto priors = on_device(exec, prior, 1, n);
  const auto wanted = on_device(exec, s, syndromes, checks);
  auto bits = exec.make<std::uint8_t>(syndromes, n);
  decoder.run(exec, view<const float>{priors.data(), n, syndromes, 1, 0}, {.bits = bits},
              view<const std::uint8_t>(wanted));
  const bytes decisions = exec.to_host(bits);
  std::vector<bytes> estimates;
  for (std::size_t i = 0; i < syndromes; i++)
    estimates.emplace_back(decisions.begin() + static_cast<std::ptrdiff_t>(i * n),
                           decisions.begin() + static_cast<std::ptrdiff_t>((i + 1) * n));
  return estimates;
}
std::size_t syndrome_of(const parity_check_matrix& h, const bytes& word) {
  std::size_t s = 0;
  for (std::size_t i = 0; i < h.rows().size(); i++) {
    int sum = 0;
    for (const int c : h.rows()[i]) sum ^= word[static_cast<std::size_t>(c)];
    s |= static_cast<std::size_t>(sum) << i;
  }
  return s;
}
double chance_of(const bytes& error, double p) {
  const auto weight = std::accumulate(error.begin(), error.end(), 0);
  return std::pow(p, weight) * std::pow(1 - p, static_cast<double>(error.size()) - weight);
}

struct frame_error_rates {
  double of_codewords = 1, of_information = 1;
};
/// A word is decoded where its error is the estimate. Its information bits are right where the error has
/// their estimate, which one error of each syndrome has.
frame_error_rates exact_rates(const parity_check_matrix& h, const sparse_ldpc_config& config, double p) {
  const std::vector<bytes> estimates = estimates_of_syndromes(h, config, p);
  const auto k = static_cast<std::size_t>(h.k()), n = static_cast<std::size_t>(h.n());
  // An error with the syndrome s and no information bits: of each unit syndrome, from the codeword-free
  // columns.
  std::vector<std::size_t> column(n);
  for (std::size_t i = 0; i < h.rows().size(); i++)
    for (const int c : h.rows()[i]) column[static_cast<std::size_t>(c)] |= std::size_t{1} << i;
  std::vector<bool> informs(n);
  for (const int c : h.information_columns()) informs[static_cast<std::size_t>(c)] = true;
  struct pivot {
    std::size_t syndrome;
    bytes error;
  };
  std::vector<pivot> pivots;  // reduced: the lowest bit of each is in no other
  for (std::size_t c = 0; c < n; c++) {
    if (informs[c]) continue;
    pivot next{column[c], bytes(n)};
    next.error[c] = 1;
    for (const pivot& other : pivots)
      if (next.syndrome & other.syndrome & (~other.syndrome + 1)) {
        next.syndrome ^= other.syndrome;
        for (std::size_t i = 0; i < n; i++) next.error[i] ^= other.error[i];
      }
    if (next.syndrome != 0) pivots.push_back(next);
  }
  EXPECT_EQ(pivots.size(), n - k);
  frame_error_rates rates;
  for (std::size_t s = 0; s < estimates.size(); s++) {
    std::size_t missing = syndrome_of(h, estimates[s]) ^ s;
    if (missing == 0) rates.of_codewords -= chance_of(estimates[s], p);
    bytes error = estimates[s];
    for (const pivot& x : pivots)
      if (missing & x.syndrome & (~x.syndrome + 1)) {
        missing ^= x.syndrome;
        for (std::size_t i = 0; i < n; i++) error[i] ^= x.error[i];
      }
    if (missing == 0) rates.of_information -= chance_of(error, p);  // else no word has the syndrome
  }
  return rates;
}

sparse_ldpc_config decoder_named(const std::string& text) {
  sparse_ldpc_config c{.iterations = 20, .schedule = ldpc_schedule::flooding};
  EXPECT_NE(text.find("flooding, 20 iterations"), std::string::npos) << text;
  if (text.starts_with("sum-product")) c.algorithm = ldpc_algorithm::sum_product;
  return c;
}

TEST(binary_link, frame_error_rates_on_the_bsc_are_exact) {
  const auto document = any_h_json("../rare/exact_bsc.json");
  ANY_H_SKIP_WITHOUT(document);
  for (const auto& code : document["rows"]) {
    const auto name = code["code"].get<std::string>();
    const bool in_any_h = name.starts_with("small");
    if (small_scale() && !in_any_h) continue;
    const parity_check_matrix h =
        in_any_h ? any_h_matrix(name) : read_parity_check_matrix(any_h_folder + "../rare/" + name + ".alist");
    for (const auto& result : code["results"]) {
      const sparse_ldpc_config decoder = decoder_named(result["decoder"]);
      for (const auto& row : result["rows"]) {
        const double p = row["p"], fer = row["fer"];
        SCOPED_TRACE(name + ", p = " + std::to_string(p));
        const frame_error_rates ours = exact_rates(h, decoder, p);
        EXPECT_NEAR(ours.of_codewords, fer,
                    row["tie_probability_at_most"].get<double>() + 1e-5 * fer + 1e-13);
        EXPECT_LE(ours.of_information, ours.of_codewords + 1e-12);
        if (p < 0.02) continue;
        const std::uint64_t frames = small_scale() ? 2000 : 40'000;
        expect_rate(counted(matrix_link(bsc_config{}, h, decoder), p, frames).frame_errors, frames,
                    ours.of_information);
      }
    }
  }
}

/// Bits that peeling leaves erased: a check with one erased bit gives it.
std::uint32_t peeled(const parity_check_matrix& h, std::uint32_t erased) {
  for (bool more = true; more;) {
    more = false;
    for (const auto& row : h.rows()) {
      std::uint32_t of_row = 0;
      for (const int c : row) of_row |= 1U << c;
      if (std::popcount(of_row & erased) != 1) continue;
      erased &= ~of_row;
      more = true;
    }
  }
  return erased;
}

TEST(binary_link, frame_error_rates_on_the_bec_are_those_of_peeling) {
  const parity_check_matrix h(
      14,
      {{0, 1, 3, 7}, {1, 2, 4, 8}, {2, 3, 5, 9}, {0, 4, 6, 10}, {1, 5, 6, 11}, {0, 2, 6, 12}, {3, 4, 5, 13}});
  ASSERT_EQ(h.k(), 7);
  std::uint32_t information = 0;
  for (const int c : h.information_columns()) information |= 1U << c;
  const double p = 0.3;
  double fer = 0;
  for (std::uint32_t erased = 0; erased < 1U << 14; erased++) {
    const int weight = std::popcount(erased), left = std::popcount(peeled(h, erased) & information);
    // A decoder gets k LLRs at least, or erases the frame. Bits that are left are decided as 0.
    fer +=
        std::pow(p, weight) * std::pow(1 - p, 14 - weight) * (14 - weight < 7 ? 1 : 1 - std::ldexp(1, -left));
  }
  const std::uint64_t frames = small_scale() ? 2000 : 100'000;
  for (const ldpc_algorithm algorithm : {ldpc_algorithm::sum_product, ldpc_algorithm::min_sum})
    for (const ldpc_schedule schedule : {ldpc_schedule::layered, ldpc_schedule::flooding})
      expect_rate(counted(matrix_link(bec_config{}, h,
                                      {.algorithm = algorithm, .iterations = 14, .schedule = schedule}),
                          p, frames)
                      .frame_errors,
                  frames, fer);
}

// ---- long codes

/// A random matrix with 3 ones in each column and 6 in each row.
parity_check_matrix regular_matrix(int n) {
  std::mt19937 random(3);
  std::vector<int> ends;
  for (int i = 0; i < 3 * n; i++) ends.push_back(i / 3);
  std::shuffle(ends.begin(), ends.end(), random);
  std::vector<std::vector<int>> rows(static_cast<std::size_t>(n / 2));
  const auto holds = [&](std::size_t row, int c) {
    return std::find(rows[row].begin(), rows[row].end(), c) != rows[row].end();
  };
  for (const int c : ends) {  // the first row from a random one on that has room and not the column
    std::size_t row = random() % rows.size();
    for (std::size_t tried = 0; tried < rows.size() && (rows[row].size() == 6 || holds(row, c)); tried++)
      row = (row + 1) % rows.size();
    rows[row].push_back(c);
  }
  for (auto& row : rows) std::sort(row.begin(), row.end());
  return {n, rows};
}

TEST(density_evolution, has_the_thresholds_of_the_literature) {
  EXPECT_NEAR(oracle::erasure_threshold(3, 6), 0.4294, 1e-4);
  EXPECT_NEAR(oracle::erasure_threshold(3, 4), 0.6474, 1e-4);
  EXPECT_NEAR(oracle::erasure_threshold(4, 8), 0.3834, 1e-4);
  EXPECT_TRUE(oracle::corrects_flips(3, 6, 0.082));  // threshold 0.084
  EXPECT_FALSE(oracle::corrects_flips(3, 6, 0.086));
}

TEST(binary_link, long_regular_codes_fail_beyond_the_threshold_of_density_evolution) {
  if (small_scale()) GTEST_SKIP() << "takes long codewords";
  const parity_check_matrix h = regular_matrix(6000);
  const sparse_ldpc_config decoder{
      .algorithm = ldpc_algorithm::sum_product, .iterations = 150, .schedule = ldpc_schedule::flooding};
  const auto ber = [&](air_config channel, double p) {
    const link_config c = matrix_link(std::move(channel), h, decoder);
    return static_cast<double>(counted(c, p, 32).bit_errors) / (32.0 * h.k());
  };
  const double threshold = oracle::erasure_threshold(3, 6);
  EXPECT_LT(ber(bec_config{}, threshold - 0.025), 1e-3);
  EXPECT_GT(ber(bec_config{}, threshold + 0.025), 0.02);
  EXPECT_LT(ber(bsc_config{}, 0.072), 1e-3);  // threshold 0.084
  EXPECT_GT(ber(bsc_config{}, 0.092), 0.01);
}

// ---- scenarios and results

TEST(binary_link, serves_every_code) {
  const scratch_folder folder;
  std::ofstream(folder.path("m.alist"))
      << "6 3\n2 3\n1 1 1 2 2 2\n3 3 3\n1 0\n2 0\n3 0\n1 2\n2 3\n1 3\n1 4 6\n"
         "2 4 5\n3 5 6\n";
  std::ofstream(folder.path("m.csv")) << "# z = 16\n3,1,0,-1\n5,9,0,0\n";
  for (const char* code :
       {"type = \"none\", k = 100", "k = 104", "type = \"wimax-ldpc\", n = 576",
        "type = \"wifi-ldpc\", n = 648", "type = \"nr-ldpc\", k = 100, n = 200", "type = \"conv\", k = 100",
        "type = \"polar\", k = 40, coded_bits = 96", "type = \"ctc\", k = 96",
        "type = \"ldpc\", matrix = \"m.alist\"", "type = \"qc-ldpc\", base_matrix = \"m.csv\"",
        "type = \"lte-transport\", transport_block_size = 104, coded_bits = 480, transmissions = 2",
        "type = \"nr-dlsch\", transport_block_size = 104, coded_bits = 480",
        "type = \"nr-ulsch\", transport_block_size = 104, coded_bits = 480",
        "type = \"ctc-harq\", transport_block_size = 80, coded_bits = 240"}) {
    SCOPED_TRACE(code);
    for (const char* channel : {"bsc", "bec", "z"}) {
      const std::string text = std::string("code = { ") + code + " }\nchannel.type = \"" + channel +
                               "\"\nsweep.probability = [1e-6, " +
                               (channel == std::string("bsc") ? "0.5" : "0.98") + "]\nstop.max_frames = 30\n";
      const run_result r = ran(text, *open_scalar(), folder.path("s.toml"));
      ASSERT_EQ(r.curves[0].points.size(), 2u);
      EXPECT_EQ(r.curves[0].points[0].counts.frame_errors, 0u) << channel;
      EXPECT_GT(r.curves[0].points[1].counts.frame_errors, 10u) << channel;
    }
  }
}

const std::string over_bsc = "code = { type = \"none\", k = 64 }\nchannel.type = \"bsc\"\n";

TEST(binary_link, sweeps_take_probabilities) {
  EXPECT_EQ(only_curve(over_bsc + "sweep.probability = [1e-9, 0.02, 0.5]\n").sweep_db,
            (std::vector{1e-9, 0.02, 0.5}));
  EXPECT_EQ(only_curve(over_bsc + "sweep.probability = { from = 0.1, to = 0.3, step = 0.1 }\n").sweep_db,
            (std::vector{0.1, 0.2, 0.3}));
  EXPECT_EQ(only_curve(over_bsc + "sweep.probability = 0\n").link.axis, snr_axis::probability);
  EXPECT_REFUSED(over_bsc, "sweep.probability is missing: add, for instance, [sweep] probability = ");
  EXPECT_REFUSED(
      over_bsc + "sweep.ebn0_db = 1\n",
      "line 3: sweep.ebn0_db has no meaning with channel.type = \"bsc\": expected sweep.probability");
  EXPECT_REFUSED(over_bsc + "sweep.probability = 1.5\n", "line 3: sweep.probability = 1.5 is not allowed");
  EXPECT_REFUSED(over_bsc + "sweep.probability = [0.1, 0.10001]\n", "rising list, in steps of at least 0.1%");
  EXPECT_REFUSED(over_bsc + "sweep = { probability = 0.1, snr_db = 1 }\n",
                 "sweep has both snr_db and probability: expected one of them");
  EXPECT_REFUSED("sweep.probability = 0.1\n",
                 "sweep.probability has no meaning with channel.type = \"awgn\"");
  EXPECT_REFUSED(over_bsc + "sweep.probability = 0.1\nstop.below_fer = 0.1\n",
                 "stop.below_fer has no meaning with sweep.probability");
  EXPECT_REFUSED(over_bsc + "sweep = { probability = 0.1, target_fer = 0.1 }\n",
                 "sweep.target_fer has no meaning with sweep.probability");
  EXPECT_REFUSED(over_bsc + "sweep.probability = 0.1\nmodem.modulation = \"qpsk\"\n",
                 "modem.modulation = \"qpsk\" is not allowed: expected \"bpsk\" with");
  EXPECT_REFUSED(over_bsc + "sweep.probability = 0.1\nmimo = { streams = 2, rx_antennas = 2 }\n",
                 "channel.type = \"bsc\" is not allowed");
}

TEST(binary_link, curves_over_bits_and_symbols_share_a_scenario) {
  const scenario s = parse_scenario(
      "code = { type = \"none\", k = 64 }\nsweep.ebn0_db = 1\n[[curve]]\nlabel = \"awgn\"\n[[curve]]\nlabel "
      "= "
      "\"z\"\nchannel.type = \"z\"\nsweep.probability = [0.1, 0.2]\n",
      "s.toml");
  EXPECT_EQ(s.curves[0].link.axis, snr_axis::ebn0_db);
  EXPECT_EQ(s.curves[1].link.axis, snr_axis::probability);
  EXPECT_EQ(s.curves[1].sweep_db.size(), 2u);
}

TEST(binary_link, results_name_the_probability_and_go_on) {
  const scratch_folder folder;
  const std::string rest = "sweep.probability = [1e-7, 0.01]\nstop = { max_frames = 50, frame_errors = 5 }\n";
  run_result r = ran(over_bsc + rest, *open_scalar());
  const std::string path = folder.path("r.json");
  write_file(path, result_json(r));
  const auto json = nlohmann::ordered_json::parse(result_json(r));
  const auto& point = json["curves"][0]["points"][0];
  EXPECT_EQ(point["probability"], 1e-7);
  EXPECT_FALSE(point.contains("ebn0_db"));
  EXPECT_EQ(json["curves"][0]["config"]["sweep"]["probability"][1], 0.01);
  run_result back = load_result(path);
  EXPECT_EQ(result_json(back), result_json(r));
  const run_result more = resumed(
      std::move(back),
      parse_scenario(over_bsc + "sweep.probability = [1e-7, 0.01, 0.1]\nstop.max_frames = 90\n", "s.toml"),
      path);
  curve_result curve = more.curves[0];
  run_curve(curve, *open_scalar());
  const curve_result whole =
      ran(over_bsc + "sweep.probability = [1e-7, 0.01, 0.1]\nstop.max_frames = 90\n", *open_scalar())
          .curves[0];
  ASSERT_EQ(curve.points.size(), 3u);
  for (std::size_t i = 0; i < 3; i++) {
    EXPECT_EQ(curve.points[i].counts.frames, whole.points[i].counts.frames);
    EXPECT_EQ(curve.points[i].counts.bit_errors, whole.points[i].counts.bit_errors);
  }
  EXPECT_NE(scenario_of_curve(r.source, 0, r.curves[0].config).find("probability = [1e-07, 0.01]"),
            std::string::npos)
      << scenario_of_curve(r.source, 0, r.curves[0].config);
}

TEST(binary_link, what_needs_an_snr_is_refused) {
  const link_config good = link_over(bsc_config{}, uncoded_link(64).code);
  EXPECT_NO_THROW((void)completed(good));
  link_config wrong = good;
  wrong.axis = snr_axis::snr_db;
  EXPECT_EQ(blamed([&] { (void)completed(wrong); }), "axis");
  wrong = good;
  wrong.qam = 4;
  EXPECT_EQ(blamed([&] { (void)completed(wrong); }), "modulation");
  wrong = good;
  wrong.channel = {};
  EXPECT_EQ(blamed([&] { (void)completed(wrong); }), "axis");
  const auto exec = open_scalar();
  link_chain chain(good, *exec, 10);
  EXPECT_EQ(blamed([&] { (void)chain.run(0, 1, 1.5); }), "probability");
  EXPECT_EQ(blamed([&] { (void)find_fer(chain, {}); }), "axis");
  EXPECT_EQ(blamed([&] { check_choices(good); }), "channel.type");
  curve_config curve;
  curve.link = good;
  curve.sweep_db = {0.1};
  curve.stop.below_fer = 0.5;
  EXPECT_EQ(blamed([&] { (void)run_curve(curve, *exec, {}); }), "below_fer");
}

}  // namespace binary_link_test
}  // namespace wb
