// Iterative receivers against their parts run by hand, and in limit cases.
#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include <tests/receive.hpp>
#include <warpband/fec/nr/block.hpp>
#include <warpband/fec/puncture/puncture.hpp>

namespace iterative_test {

using namespace wb::testing;
using wb::code_config;
using wb::detector_config;
using wb::iterative_receiver;
using wb::receiver_config;

/// Detector and decoder one after the other, without a receiver.
received_frames open_loop(wb::executor& exec, detector_config d, const code_config& code,
                          const iterative_receiver& receiver, const sent_frames& f) {
  const auto codec = make_codec(code);
  const auto detector = make_detector(d);
  const std::size_t uses = f.frames * receiver.uses_per_frame(), m = detector->bits_per_use();
  const auto y = on_device(exec, f.y, uses, f.rx);
  const auto h = on_device(exec, f.h, uses / f.uses_per_channel, f.gains);
  const auto n0 = on_device(exec, f.n0, uses, 1);
  auto llr = exec.make<float>(uses, m), coded = exec.make<float>(f.frames, codec->n());
  auto bits = exec.make<std::uint8_t>(f.frames, codec->k()), status = exec.make<std::uint8_t>(f.frames, 1),
       use_status = exec.make<std::uint8_t>(uses, 1);
  auto iterations = exec.make<std::int32_t>(f.frames, 1);
  detector->run(exec, {h, f.uses_per_channel, y, n0, {}}, {llr, {}, use_status});
  const std::size_t places = receiver.uses_per_frame() * m;
  receiver.interleaver().deinterleave(
      exec, wb::make_view(static_cast<const float*>(llr.data()), f.frames, places), coded);
  codec->decode(exec, wb::view<const float>(coded),
                {.bits = bits, .soft = {}, .iterations = iterations, .status = status});
  return {exec.to_host(bits),       exec.to_host(status), exec.to_host(use_status),
          exec.to_host(iterations), exec.to_host(coded),  {}};
}

class receive_on : public on_backend {};
WB_ON_ALL_BACKENDS(receive_on);

TEST_P(receive_on, one_outer_iteration_is_the_open_loop_bit_for_bit) {
  std::vector<code_config> codes{ldpc_of(576)};
  codes.push_back(code_of("lte-turbo", 104));
  codes.push_back(code_of("conv", 101));
  codes.push_back(code_of("conv", 101));
  conv_in(codes.back()).algorithm = wb::conv_algorithm::log_map;
  codes.push_back(code_of("wifi-ldpc"));
  wb::testing::crc_in(codes.back()) = wb::crc24a;
  for (const code_config& code : codes)
    for (const std::string type : {"nway", "kbest", "ml", "mmse"})
      for (const auto order : {wb::receiver_interleaver::none, wb::receiver_interleaver::random}) {
        const detector_config d = detector_of(type);
        const iterative_receiver receiver(d, code, loop_of(1, order));
        const sent_frames f = send(exec(), d, code, receiver, 9, {.snr_db = 10});
        received_frames got = receive(exec(), receiver, f);
        const received_frames expected = open_loop(exec(), d, code, receiver, f);
        got.extrinsic.clear();
        EXPECT_TRUE(same(got, expected)) << type;
      }
}

/// Decodes LLRs of all frames; the outputs are those of ldpc_decoder.
using decode_frames = std::function<void(wb::view<const float> llr, wb::ldpc_decoder_output out)>;

decode_frames ldpc_decode(wb::executor& exec, const code_config& code, const receiver_config& c,
                          std::size_t frames) {
  wb::ldpc_decoder_config settings = ldpc_decoder_in(completed(code));
  if (c.inner) settings.iterations = *c.inner;
  const auto decoder = std::make_shared<wb::ldpc_decoder>(ldpc_code_of(completed(code)), settings);
  const std::size_t values = decoder->message_values();
  const auto kept = std::make_shared<wb::array<float>>(
      on_device(exec, std::vector<float>(frames * values), frames, values));
  const bool keeps = c.decoder_state == wb::receiver_state::keep;
  return [=, &exec](wb::view<const float> llr, wb::ldpc_decoder_output out) {
    if (keeps) out.messages = *kept;
    decoder->run(exec, llr, out);
  };
}

/// The loop on the host, with all frames in each outer iteration and their own decisions.
received_frames by_hand(wb::executor& exec, detector_config d, const decode_frames& decode,
                        const iterative_receiver& receiver, const sent_frames& f,
                        const std::vector<float>& first_prior = {}) {
  const receiver_config& c = receiver.config();
  d.extrinsic = true;
  const auto detector = make_detector(d);
  const std::size_t n = receiver.n(), k = receiver.k(), frames = f.frames,
                    per_frame = receiver.uses_per_frame(), uses = frames * per_frame,
                    m = detector->bits_per_use(), places = per_frame * m;
  std::vector<std::int32_t> order = receiver.interleaver().permutation();
  if (order.empty()) order.resize(n), std::iota(order.begin(), order.end(), 0);
  const auto y = on_device(exec, f.y, uses, f.rx);
  const auto h = on_device(exec, f.h, uses / f.uses_per_channel, f.gains);
  const auto n0 = on_device(exec, f.n0, uses, 1);
  std::vector<float> prior(frames * places);
  for (std::size_t i = 0; i < frames && !first_prior.empty(); i++)
    for (std::size_t e = 0; e < n; e++)
      prior[i * places + e] = first_prior[i * n + static_cast<std::size_t>(order[e])];
  std::vector<bool> finished(frames);
  received_frames r;
  for (int j = 0; j < c.outer; j++) {
    const auto a = on_device(exec, prior, uses, m);
    auto llr = exec.make<float>(uses, m), extrinsic = exec.make<float>(frames, n);
    auto bits = exec.make<std::uint8_t>(frames, k), status = exec.make<std::uint8_t>(frames, 1),
         use_status = exec.make<std::uint8_t>(uses, 1);
    auto iterations = exec.make<std::int32_t>(frames, 1);
    detector->run(exec, {h, f.uses_per_channel, y, n0, a}, {llr, {}, use_status});
    if (j == 0) r.use_status = exec.to_host(use_status);
    const std::vector<float> frame = exec.to_host(llr);
    std::vector<float> coded(frames * n);
    for (std::size_t i = 0; i < frames; i++)
      for (std::size_t e = 0; e < n; e++)
        coded[i * n + static_cast<std::size_t>(order[e])] =
            std::clamp(frame[i * places + e], -c.detector_clip.value_or(wb::no_clip),
                       c.detector_clip.value_or(wb::no_clip));
    const auto in = on_device(exec, coded, frames, n);
    decode(wb::view<const float>(in),
           {.bits = bits, .extrinsic = extrinsic, .iterations = iterations, .status = status});
    const auto decided = exec.to_host(bits), states = exec.to_host(status);
    const auto used = exec.to_host(iterations);
    const auto told = exec.to_host(extrinsic);
    for (std::size_t i = 0; i < frames; i++) {
      const auto push = [&](auto& results, const auto& latest, std::size_t width) {
        const std::size_t last = results.size() - (finished[i] ? frames * width : 0);
        for (std::size_t e = 0; e < width; e++)
          results.push_back(finished[i] ? results[last + e] : latest[i * width + e]);
      };
      push(r.bits, decided, k);
      push(r.status, states, 1);
      push(r.detected, coded, n);
      push(r.extrinsic, told, n);
      const std::int32_t before = j == 0 ? 0 : r.iterations[r.iterations.size() - frames];
      r.iterations.push_back(before + (finished[i] ? 0 : used[i]));
      for (std::size_t e = 0; e < n; e++)
        prior[i * places + e] = std::clamp(c.scaling * told[i * n + static_cast<std::size_t>(order[e])],
                                           -wb::most_feedback, wb::most_feedback) +
                                0.f;
      finished[i] = finished[i] || (states[i] & wb::status_stopped) != 0;
    }
  }
  return r;
}

/// Settings that differ in everything.
struct loop_case {
  detector_config detector;
  code_config code;
  receiver_config config;
  double snr_db;
  std::size_t uses_per_channel = 1, uses_per_frame = 0;
};
std::vector<loop_case> loop_cases() {
  using order = wb::receiver_interleaver;
  std::vector<loop_case> cases;
  const auto add = [&](const std::string& type, int streams, int qam, int n, receiver_config c, double snr_db,
                       std::size_t uses_per_channel = 1) {
    cases.push_back({detector_of(type, streams, qam), ldpc_of(n), c, snr_db, uses_per_channel, 0});
  };
  add(nway, 2, 16, 576, {.outer = 4, .scaling = 0.8f, .interleaver = order::random}, 10);
  cases.push_back(cases.back());
  cases.back().config.decoder_state = wb::receiver_state::reset;
  cases.back().uses_per_frame = 75;                       // three more than the coded bits take
  add(kbest, 4, 4, 672, {.outer = 3, .inner = 2}, 6, 7);  // padded, channels that uses share
  ldpc_decoder_in(cases.back().code).schedule = wb::ldpc_schedule::flooding;
  ldpc_decoder_in(cases.back().code).algorithm = wb::ldpc_algorithm::sum_product;
  cases.push_back(cases.back());
  cases.back().config.decoder_state = wb::receiver_state::reset;
  add(ml, 3, 4, 576, {.outer = 5, .interleaver = order::random, .detector_clip = 6}, 5, 96);
  add(nway, 4, 16, 1152, {.outer = 3, .interleaver = order::random, .interleaver_seed = 7}, 12, 144);
  cases.back().detector.edit<wb::nway_settings>().ways = 4;
  add(nway, 2, 16, 576, {.outer = 4, .scaling = 0.8f, .interleaver = order::random}, 10);
  ldpc_decoder_in(cases.back().code).precision = wb::ldpc_precision::float16;
  return cases;
}

TEST_P(receive_on, equals_its_parts_run_by_hand) {
  for (const loop_case& c : loop_cases()) {
    const iterative_receiver receiver(c.detector, c.code, c.config, c.uses_per_frame);
    const std::size_t frames = 24;
    const sent_frames f = send(exec(), c.detector, c.code, receiver, frames,
                               {.snr_db = c.snr_db, .uses_per_channel = c.uses_per_channel});
    const received_frames got = receive(exec(), receiver, f);
    EXPECT_TRUE(
        same(got, by_hand(exec(), c.detector, ldpc_decode(exec(), c.code, c.config, frames), receiver, f)))
        << c.detector.type;
    // The case is one where some frames are finished early, and some not.
    const auto first = got.status.begin();
    const auto done = std::count_if(first, first + frames, [](int s) { return s & wb::status_stopped; });
    const auto last = std::count_if(got.status.end() - frames, got.status.end(),
                                    [](int s) { return s & wb::status_stopped; });
    EXPECT_LT(done, last) << c.detector.type;
    EXPECT_GT(last, 0);
    // Results of the last outer iteration alone are the same.
    const received_frames only = receive(exec(), receiver, f, {}, false);
    EXPECT_TRUE(std::equal(only.bits.rbegin(), only.bits.rend(), got.bits.rbegin()));
    EXPECT_TRUE(std::equal(only.iterations.rbegin(), only.iterations.rend(), got.iterations.rbegin()));
    EXPECT_TRUE(std::equal(only.detected.rbegin(), only.detected.rend(), got.detected.rbegin()));
    EXPECT_TRUE(std::equal(only.extrinsic.rbegin(), only.extrinsic.rend(), got.extrinsic.rbegin()));
    EXPECT_TRUE(std::equal(only.status.rbegin(), only.status.rend(), got.status.rbegin()));
  }
}

TEST_P(receive_on, takes_turbo_codes) {
  for (const wb::turbo_rate rate : {wb::turbo_rate::third, wb::turbo_rate::half})
    for (const auto algorithm : {wb::map_algorithm::max_log_map, wb::map_algorithm::log_map}) {
      code_config code = code_of("lte-turbo", 264);
      turbo_in(code).rate = rate;
      turbo_decoder_in(code).algorithm = algorithm;
      turbo_decoder_in(code).iterations = 2;
      turbo_decoder_in(code).early_stop = wb::turbo_early_stop::crc;
      wb::testing::crc_in(code) = wb::crc24a;
      const detector_config d = detector_of("nway");
      receiver_config c = loop_of(3);
      c.scaling = 0.8f;
      const iterative_receiver receiver(d, code, c);
      const wb::turbo_decoder decoder(turbo_decoder_in(completed(code)),
                                      wb::permutation_of(completed(code).get<wb::turbo_settings>()));
      const std::size_t frames = 20, coded = 3 * (264 + 4);
      const bool half = rate == wb::turbo_rate::half;
      const auto places = wb::turbo_half_rate_places(264);
      const wb::puncturer puncturer(coded, places);
      const auto decode = [&](wb::view<const float> llr, const wb::ldpc_decoder_output& out) {
        auto whole = exec().make<float>(frames, coded), extrinsic = exec().make<float>(frames, coded);
        if (half) puncturer.restore(exec(), llr, whole);
        decoder.run(exec(), half ? wb::view<const float>(whole) : llr,
                    {.bits = out.bits,
                     .coded_extrinsic = extrinsic,
                     .iterations = out.iterations,
                     .status = out.status});
        const std::vector<float> told = exec().to_host(extrinsic);
        std::vector<float> sent;
        for (std::size_t i = 0; i < frames; i++)
          for (std::size_t e = 0; e < out.extrinsic.elements; e++)
            sent.push_back(told[i * coded + (half ? static_cast<std::size_t>(places[e]) : e)]);
        exec().upload(out.extrinsic.data, sent.data(), sent.size() * sizeof(float));
        exec().sync();
      };
      const sent_frames f = send(exec(), d, code, receiver, frames, {.snr_db = half ? 9.5 : 7.5});
      const received_frames got = receive(exec(), receiver, f);
      EXPECT_TRUE(same(got, by_hand(exec(), d, decode, receiver, f)));
      const std::vector<int> errors = errors_of(got, f);
      const auto wrong = [&](std::size_t j) {
        return std::count_if(errors.begin() + static_cast<std::ptrdiff_t>(j * frames),
                             errors.begin() + static_cast<std::ptrdiff_t>((j + 1) * frames),
                             [](int e) { return e != 0; });
      };
      EXPECT_GT(wrong(0), wrong(2));
    }
}

TEST_P(receive_on, takes_code_blocks_of_5g_nr) {
  // Punctured, and with repetitions.
  for (const int n : {336, 1200}) {
    code_config code = code_of("nr-ldpc", 168);
    n_in(code) = n;
    ldpc_decoder_in(code).iterations = 5;
    const detector_config d = detector_of("nway");
    const iterative_receiver receiver(d, code, loop_of(3));
    const wb::nr_block_codec codec({.base_graph = 2, .k = 168, .sent_bits = n, .modulation_order = 1},
                                   ldpc_decoder_in(completed(code)));
    const auto decode = [&](wb::view<const float> llr, const wb::ldpc_decoder_output& out) {
      codec.decode(
          exec(), llr,
          {.bits = out.bits, .iterations = out.iterations, .status = out.status, .extrinsic = out.extrinsic});
    };
    const std::size_t frames = 40;
    const sent_frames f = send(exec(), d, code, receiver, frames, {.snr_db = n < 1000 ? 10.5 : 4.});
    const received_frames got = receive(exec(), receiver, f);
    EXPECT_TRUE(same(got, by_hand(exec(), d, decode, receiver, f)));
    const std::vector<int> errors = errors_of(got, f);
    const auto wrong = [&](std::size_t j) {
      return std::accumulate(errors.begin() + static_cast<std::ptrdiff_t>(j * frames),
                             errors.begin() + static_cast<std::ptrdiff_t>((j + 1) * frames), 0);
    };
    EXPECT_GT(wrong(0), wrong(2)) << n;
  }
}

TEST_P(receive_on, takes_convolutional_turbo_codes) {
  for (const auto algorithm : {wb::map_algorithm::log_map, wb::map_algorithm::log_map_table}) {
    code_config code = code_of("ctc", 96);
    auto& settings = code.edit<wb::ctc_code_settings>();
    settings.code.rate = wb::ctc_rate::r1_2;
    settings.decoder.algorithm = algorithm;
    settings.decoder.iterations = 3;
    const detector_config d = detector_of("nway");
    const iterative_receiver receiver(d, code, loop_of(3));
    const auto whole = completed(code).get<wb::ctc_code_settings>();
    const wb::ctc_decoder decoder(whole.code, whole.decoder);
    const auto decode = [&](wb::view<const float> llr, const wb::ldpc_decoder_output& out) {
      decoder.run(exec(), llr,
                  {.bits = out.bits,
                   .coded_extrinsic = out.extrinsic,
                   .iterations = out.iterations,
                   .status = out.status});
    };
    const std::size_t frames = 60;
    const sent_frames f = send(exec(), d, code, receiver, frames, {.snr_db = 11});
    const received_frames got = receive(exec(), receiver, f);
    EXPECT_TRUE(same(got, by_hand(exec(), d, decode, receiver, f)));
    const std::vector<int> errors = errors_of(got, f);
    const auto wrong = [&](std::size_t j) {
      return std::accumulate(errors.begin() + static_cast<std::ptrdiff_t>(j * frames),
                             errors.begin() + static_cast<std::ptrdiff_t>((j + 1) * frames), 0);
    };
    EXPECT_GT(wrong(0), wrong(2)) << static_cast<int>(algorithm);
  }
}

TEST_P(receive_on, takes_convolutional_codes) {
  for (const auto algorithm : {wb::conv_algorithm::max_log_map, wb::conv_algorithm::log_map}) {
    code_config code = code_of("conv", 200);
    conv_in(code).algorithm = algorithm;
    wb::testing::crc_in(code) = wb::crc16;
    const detector_config d = detector_of("nway");
    const iterative_receiver receiver(d, code, loop_of(3));
    const bool exact = algorithm == wb::conv_algorithm::log_map;
    const wb::bcjr_decoder decoder({wb::conv_code_of(conv_in(completed(code))), 200,
                                    exact ? wb::map_algorithm::log_map : wb::map_algorithm::max_log_map});
    const std::size_t frames = 20;
    const auto decode = [&](wb::view<const float> llr, const wb::ldpc_decoder_output& out) {
      decoder.run(exec(), llr, {.bits = out.bits, .coded_extrinsic = out.extrinsic, .status = out.status});
      // No stop rule is told by the decoder: the CRC is.
      std::vector<std::uint8_t> bits(frames * 200), status(frames);
      exec().download(bits.data(), out.bits.data, bits.size());
      exec().download(status.data(), out.status.data, status.size());
      exec().sync();
      const auto weights = wb::crc_remainders(200, wb::crc16);
      std::vector<std::int32_t> one(frames, 1);
      for (std::size_t i = 0; i < frames; i++) {
        std::int32_t parity = 0;
        for (std::size_t b = 0; b < 200; b++) parity ^= bits[i * 200 + b] != 0 ? weights[b] : 0;
        if (parity == 0) status[i] |= wb::status_stopped;
      }
      exec().upload(out.status.data, status.data(), status.size());
      exec().upload(out.iterations.data, one.data(), frames * sizeof(std::int32_t));
      exec().sync();
    };
    const sent_frames f = send(exec(), d, code, receiver, frames, {.snr_db = 9.5});
    received_frames got = receive(exec(), receiver, f), expected = by_hand(exec(), d, decode, receiver, f);
    for (std::uint8_t& s : expected.status) s &= wb::status_erased;
    EXPECT_TRUE(same(got, expected));
    EXPECT_LT(*std::min_element(got.iterations.end() - frames, got.iterations.end()), 3);
    EXPECT_EQ(*std::max_element(got.iterations.end() - frames, got.iterations.end()), 3);
  }
}

TEST_P(receive_on, is_the_same_in_any_batch_with_any_threads_and_on_a_scalar_cpu) {
  const auto reference = open_reference();
  for (const loop_case& c : loop_cases()) {
    const iterative_receiver receiver(c.detector, c.code, c.config, c.uses_per_frame);
    const std::size_t frames = 22, outer = static_cast<std::size_t>(c.config.outer);
    const sent_frames f = send(exec(), c.detector, c.code, receiver, frames,
                               {.snr_db = c.snr_db, .uses_per_channel = c.uses_per_channel});
    const received_frames whole = receive(exec(), receiver, f);
    EXPECT_TRUE(same(whole, receive(*reference, receiver, f))) << c.detector.type;
    EXPECT_TRUE(same(whole, receive(*GetParam().open(3), receiver, f)));
    for (const std::size_t piece : {1, 2, 6}) {
      if (piece * receiver.uses_per_frame() < c.uses_per_channel) continue;  // frames share channels
      received_frames joined = whole;
      for (std::size_t first = 0; first < frames; first += piece) {
        const std::size_t count = std::min(piece, frames - first);
        const received_frames part = receive(exec(), receiver, part_of(f, first, count));
        const auto put = [&](auto& whole_rows, const auto& some) {
          const std::size_t width = whole_rows.size() / (outer * frames);
          for (std::size_t j = 0; j < outer; j++)
            std::copy_n(some.begin() + static_cast<std::ptrdiff_t>(j * count * width), count * width,
                        whole_rows.begin() + static_cast<std::ptrdiff_t>((j * frames + first) * width));
        };
        put(joined.bits, part.bits);
        put(joined.status, part.status);
        put(joined.iterations, part.iterations);
        put(joined.detected, part.detected);
        put(joined.extrinsic, part.extrinsic);
      }
      EXPECT_TRUE(same(whole, joined)) << c.detector.type << " by " << piece;
    }
  }
}

TEST_P(receive_on, takes_priors_and_erases_uses_with_nan_or_infinite_ones) {
  loop_case c = loop_cases()[0];
  const iterative_receiver receiver(c.detector, c.code, c.config);
  const sent_frames f = send(exec(), c.detector, c.code, receiver, 8, {.snr_db = c.snr_db});
  std::vector<float> prior(f.coded.size());
  for (std::size_t i = 0; i < prior.size(); i++)
    prior[i] = (f.coded[i] != 0 ? -1.f : 1.f) * static_cast<float>(i % 7);
  EXPECT_TRUE(
      same(receive(exec(), receiver, f, prior),
           by_hand(exec(), c.detector, ldpc_decode(exec(), c.code, c.config, 8), receiver, f, prior)));
  EXPECT_TRUE(
      same(receive(exec(), receiver, f, std::vector<float>(prior.size())), receive(exec(), receiver, f)));

  const float bad[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                       -std::numeric_limits<float>::infinity()};
  const std::size_t n = receiver.n(), m = receiver.detector().bits_per_use();
  std::vector<std::uint8_t> erased(f.frames * receiver.uses_per_frame());
  const std::vector<std::int32_t>& order = receiver.interleaver().permutation();
  for (const std::size_t frame : {1, 4})
    for (std::size_t e = 5; e < n; e += 211) {  // bit e of the frame is in use e / m
      prior[frame * n + static_cast<std::size_t>(order[e])] = bad[e % 3];
      erased[frame * receiver.uses_per_frame() + e / m] = wb::status_erased;
    }
  const received_frames got = receive(exec(), receiver, f, prior);
  EXPECT_EQ(got.use_status, erased);
  for (const float x : got.detected) ASSERT_TRUE(std::isfinite(x));
  for (const float x : got.extrinsic) ASSERT_TRUE(std::isfinite(x));
  for (std::size_t e = 0; e < n; e++)
    if (erased[receiver.uses_per_frame() + e / m] != 0) {
      EXPECT_EQ(got.detected[n + static_cast<std::size_t>(order[e])], 0);
    }
  EXPECT_TRUE(
      same(got, by_hand(exec(), c.detector, ldpc_decode(exec(), c.code, c.config, 8), receiver, f, prior)));
}

TEST_P(receive_on, makes_no_errors_without_noise_and_finishes_at_once) {
  for (const std::string type : {"ml", "kbest", "nway"})
    for (const int qam : {4, 16, 64}) {
      detector_config d = detector_of(type, 2, qam);
      if (type == "nway") d.edit<wb::nway_settings>().ways = 2;
      if (type == "kbest") d.edit<wb::kbest_settings>().survivors = 16;
      const iterative_receiver receiver(d, ldpc_of(768), loop_of(4));
      const sent_frames f = send(exec(), d, ldpc_of(768), receiver, 6, {.snr_db = 90});
      const received_frames got = receive(exec(), receiver, f);
      EXPECT_EQ(errors_of(got, f), std::vector<int>(4 * 6)) << type << " " << qam;
      EXPECT_EQ(got.iterations, std::vector<std::int32_t>(4 * 6, 1));
      EXPECT_EQ(got.status, std::vector<std::uint8_t>(4 * 6, wb::status_stopped));
    }
}

TEST_P(receive_on, stays_finite_where_the_loop_diverges) {
  for (const auto stops : {wb::ldpc_early_stop::none, wb::ldpc_early_stop::syndrome})
    for (const double snr_db : {-10., 3., 30.}) {
      code_config code = ldpc_of(576, 3);
      ldpc_decoder_in(code).algorithm = wb::ldpc_algorithm::min_sum;
      ldpc_decoder_in(code).early_stop = stops;
      const detector_config d = detector_of("ml", 2, 4);
      const iterative_receiver receiver(d, code, {.outer = 16, .scaling = 1.5f});
      const sent_frames f = send(exec(), d, code, receiver, 5, {.snr_db = snr_db});
      const received_frames got = receive(exec(), receiver, f);
      for (const float x : got.detected) ASSERT_TRUE(std::isfinite(x));
      for (const float x : got.extrinsic) ASSERT_TRUE(std::isfinite(x));
      if (snr_db == 30) {
        EXPECT_EQ(errors_of(got, f), std::vector<int>(16 * 5));
      }
    }
}

TEST_P(receive_on, finishes_frames_whose_crc_holds) {
  code_config code = ldpc_of(576, 3);
  wb::testing::crc_in(code) = wb::crc16;
  ldpc_decoder_in(code).early_stop = wb::ldpc_early_stop::none;  // the CRC alone tells
  const detector_config d = detector_of("nway");
  const iterative_receiver receiver(d, code, loop_of(4));
  const std::size_t frames = 30;
  const sent_frames f = send(exec(), d, code, receiver, frames, {.snr_db = 10});
  const received_frames got = receive(exec(), receiver, f);
  const std::vector<int> errors = errors_of(got, f);
  int finished = 0;
  for (std::size_t i = 0; i < 3 * frames; i++) {  // one that is right has its CRC: 3 iterations to here
    const bool stays = got.iterations[i + frames] == got.iterations[i];
    EXPECT_EQ(stays, errors[i] == 0);
    finished += stays;
  }
  EXPECT_GT(finished, 0);
  EXPECT_LT(finished, static_cast<int>(3 * frames));
}

}  // namespace iterative_test
