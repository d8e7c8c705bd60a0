// Links of massive MIMO whose detector and decoder work in a loop.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include <tests/result.hpp>
#include <tests/scratch.hpp>
#include <warpband/core/status.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/receive/codewords.hpp>

namespace wb {
namespace iterative_massive_test {

using testing::blamed;
using testing::on_device;
using testing::open_reference;
using testing::open_scalar;
using testing::total;

/// As many users as antennas, each with a short LDPC code.
link_config loaded(int outer, int symbols = 1) {
  link_config c;
  c.code = code_config("wimax-ldpc");
  testing::n_in(c.code) = 576;
  testing::ldpc_decoder_in(c.code).iterations = 4;
  c.qam = 16;
  c.channel = rayleigh_config{};
  c.axis = snr_axis::snr_db;
  c.antennas = massive_link_config{.antennas = 8, .users = 6, .subcarriers = 144, .symbols = symbols};
  c.receiver = receiver_config{.outer = outer};
  return c;
}
/// A convolutional code whose 92 bits neither fill a symbol of 64-QAM nor all subcarriers.
link_config with_gaps(int outer) {
  link_config c = loaded(outer, 2);
  c.code = {};
  c.code = code_config("conv");
  testing::k_in(c.code) = 40;
  testing::conv_in(c.code).algorithm = conv_algorithm::log_map;
  c.qam = 64;
  massive_link_config& massive = c.antennas.edit<massive_link_config>();
  massive.antennas = 6, massive.users = 4, massive.subcarriers = 18;
  return c;
}
massive_link_config& massive_of(link_config& c) { return c.antennas.edit<massive_link_config>(); }

TEST(iterative_massive, more_iterations_win) {
  const auto exec = open_reference();
  for (const auto& [link, snr_db] : {std::pair{loaded(3), 9.}, {with_gaps(3), 11.}}) {
    link_chain chain(link, *exec);
    const frame_counts& c = chain.run(0, 30, snr_db);
    ASSERT_EQ(c.outer_codeword_errors.size(), 3u);
    EXPECT_LT(total(c.outer_codeword_errors[1]), total(c.outer_codeword_errors[0]));
    EXPECT_LE(total(c.outer_codeword_errors[2]), total(c.outer_codeword_errors[1]));
    EXPECT_LT(total(c.outer_bit_errors[2]), total(c.outer_bit_errors[0]));
    EXPECT_EQ(c.codeword_errors, c.outer_codeword_errors[2]);
    EXPECT_EQ(c.bit_errors, c.outer_bit_errors[2]);
  }
}

class iterative_massive_on : public testing::on_backend {};
WB_ON_ALL_BACKENDS(iterative_massive_on);

TEST(iterative_massive, without_noise_nothing_fails_and_a_diverging_loop_stays_finite) {
  const auto exec = open_reference();
  link_chain clean(with_gaps(3), *exec);
  const frame_counts& counts = clean.run(0, 5, 60);
  EXPECT_EQ(counts.bit_errors, std::vector<std::int32_t>(5));
  EXPECT_EQ(counts.erased_uses, std::vector<std::int32_t>(5));
  link_config c = loaded(6);
  c.receiver->scaling = 2;
  link_chain diverging(c, *exec);
  const frame_counts& lost = diverging.run(0, 4, 6);
  EXPECT_EQ(lost.erased, std::vector<std::uint8_t>(4));  // no LLR of a decoder was NaN or infinite
  EXPECT_EQ(lost.erased_uses, std::vector<std::int32_t>(4));
}

TEST(iterative_massive, what_cannot_be_looped_is_refused) {
  const auto with = [](auto change) {
    link_config c = loaded(2);
    change(c);
    return blamed([&] { (void)completed(c); });
  };
  EXPECT_EQ(with([](link_config&) {}), "");
  EXPECT_EQ(with([](link_config& c) { massive_of(c).solver = massive_solver::mf; }), "");
  EXPECT_EQ(with([](link_config& c) { massive_of(c).direction = massive_direction::downlink; }), "outer");
  EXPECT_EQ(with([](link_config& c) { c.code = code_config("none"); }), "outer");
  EXPECT_EQ(with([](link_config& c) { c.receiver->outer = 17; }), "outer");
  EXPECT_EQ(with([](link_config& c) { c.receiver->scaling = 3; }), "scaling");
  EXPECT_EQ(with([](link_config& c) {
              c.code = with_gaps(1).code;
              testing::conv_in(c.code).algorithm = conv_algorithm::viterbi;
            }),
            "outer");
}

const std::string scenario_text = R"(
code = { type = "wimax-ldpc", n = 576 }
decoder.iterations = 4
modem.modulation = "16qam"
channel.type = "rayleigh"
massive.solver = "cholesky"
massive.antennas = 8
massive.users = 6
massive.subcarriers = 144
sweep.snr_db = [11.0]
stop.max_frames = 5
receiver.outer = 2
receiver.interleaver = "random"
)";

TEST(iterative_massive, a_result_comes_back_with_its_codewords) {
  const run_result r = testing::ran(scenario_text, *open_scalar());
  const point_result& p = r.curves[0].points.at(0);
  EXPECT_GT(p.outer_bler(1), p.outer_bler(2));
  EXPECT_EQ(p.outer_bler(2), p.bler());
  const testing::scratch_folder folder;
  const std::string path = folder.path("outer");
  write_file(path, result_json(r));
  const run_result read = load_result(path);
  EXPECT_EQ(result_json(read), result_json(r));
  EXPECT_EQ(read.curves.at(0).points.at(0).counts, p.counts);
  const std::string good = result_json(r);
  const auto with_one_more = [&](const char* key) {
    std::string text = good;
    text.replace(text.find('[', text.find(key, text.find("\"outer\": {"))), 1, "[1,");
    EXPECT_NE(text, good);
    write_file(path, text);
    return load_result(path);
  };
  EXPECT_THROW((void)with_one_more("\"codeword_errors\""), file_error);
  EXPECT_EQ(result_json(with_one_more("\"bler\"")), good);  // follows from the counts
}

TEST(user_codewords, lie_subcarrier_after_subcarrier_and_user_after_user) {
  const user_codewords frame{.users = 3, .symbols = 2, .subcarriers = 4, .bits_per_symbol = 2};
  EXPECT_EQ(frame.codewords(), 6u);
  EXPECT_EQ(frame.places(), 8u);
  const std::vector<std::int32_t> plain = order_of(frame, bit_interleaver(7));
  ASSERT_EQ(plain.size(), 48u);
  for (int s = 0; s < 4; s++)
    for (int t = 0; t < 2; t++)
      for (int u = 0; u < 3; u++)
        for (int b = 0; b < 2; b++) {
          const auto i = static_cast<std::size_t>(((s * 2 + t) * 3 + u) * 2 + b);
          ASSERT_EQ(plain[i], (t * 3 + u) * 8 + s * 2 + b);
        }
  // A codeword's own order moves its 7 bits and leaves the place behind them.
  const std::vector<std::int32_t> permuted = order_of(frame, bit_interleaver({6, 5, 4, 3, 2, 1, 0}));
  for (std::size_t i = 0; i < permuted.size(); i++) {
    const std::int32_t place = plain[i] % 8;
    ASSERT_EQ(permuted[i], plain[i] - place + (place < 7 ? 6 - place : 7));
  }
  EXPECT_EQ(blamed([&] { order_of(frame, bit_interleaver(9)); }), "subcarriers");
  EXPECT_EQ(blamed([&] { order_of({64, 64, 4096, 256}, bit_interleaver(9)); }), "users");
}

TEST_P(iterative_massive_on, a_decoder_of_codewords_is_its_decoder_for_each) {
  code_config code("wimax-ldpc");
  testing::n_in(code) = 576;
  const std::shared_ptr<const soft_decoder> one = make_soft_decoder(code, 2);
  const auto decoder = make_codewords_decoder(one, 3, 580);
  EXPECT_EQ(decoder->k(), 3 * 288u);
  EXPECT_EQ(decoder->n(), 3 * 580u);
  EXPECT_EQ(decoder->state_size(), 3 * one->state_size());
  constexpr std::size_t frames = 4, rows = 3 * frames;
  std::mt19937 random(1);
  std::normal_distribution<float> noise(0, 1);
  std::vector<float> llr(rows * 580);  // of the codeword of zeros: the more surely the further on
  for (std::size_t i = 0; i < llr.size(); i++)
    llr[i] = static_cast<float>(i / 580) * 0.4f + 2 * noise(random);
  llr[4 * 580 + 7] = std::nanf("");  // a codeword of the second frame
  const auto in = on_device(exec(), llr, frames, 3 * 580);
  auto extrinsic = exec().make<float>(frames, 3 * 580), of_each = exec().make<float>(rows, 576);
  auto bits = exec().make<std::uint8_t>(frames, 3 * 288), of_rows = exec().make<std::uint8_t>(rows, 288);
  auto status = exec().make<std::uint8_t>(frames, 1), finished = exec().make<std::uint8_t>(frames, 1),
       row_status = exec().make<std::uint8_t>(rows, 1), row_finished = exec().make<std::uint8_t>(rows, 1);
  auto iterations = exec().make<std::int32_t>(frames, 1), row_iterations = exec().make<std::int32_t>(rows, 1);
  decoder->run(exec(), in, {}, {extrinsic, bits, iterations, status, finished});
  one->run(exec(), view<const float>{in.data(), 576, rows, 1, 580}, {},
           {of_each, of_rows, row_iterations, row_status, row_finished});
  EXPECT_EQ(exec().to_host(bits), exec().to_host(of_rows));
  const auto soft = exec().to_host(extrinsic), soft_rows = exec().to_host(of_each);
  for (std::size_t i = 0; i < soft.size(); i++)
    ASSERT_EQ(soft[i], i % 580 < 576 ? soft_rows[i / 580 * 576 + i % 580] : 0.f) << i;
  const auto says = exec().to_host(status), ended = exec().to_host(finished),
             single = exec().to_host(row_status), each_ended = exec().to_host(row_finished);
  const auto sum = exec().to_host(iterations), of_row = exec().to_host(row_iterations);
  for (std::size_t f = 0; f < frames; f++) {
    int erased = 0, stopped = status_stopped, done = 1;
    std::int32_t count = 0;
    for (std::size_t r = 3 * f; r < 3 * f + 3; r++) {
      erased |= single[r] & status_erased, stopped &= single[r], done &= each_ended[r];
      count += of_row[r];
    }
    EXPECT_EQ(says[f], erased | stopped) << f;
    EXPECT_EQ(ended[f], done) << f;
    EXPECT_EQ(sum[f], count) << f;
  }
  EXPECT_EQ(says[1] & status_erased, status_erased);
  EXPECT_EQ(ended, (std::vector<std::uint8_t>{0, 0, ended[2], 1}));
  EXPECT_EQ(blamed([&] { (void)make_codewords_decoder(one, 0, 576); }), "codewords");
  EXPECT_EQ(blamed([&] { (void)make_codewords_decoder(one, 2, 575); }), "places");
  EXPECT_EQ(blamed([&] { decoder->run(exec(), {in.data(), 3 * 576, 3, 1, 3 * 580}, {}, {}); }), "llr");
}

}  // namespace iterative_massive_test
}  // namespace wb
