// The search for receivers that no other beats: dominance, candidates, and a whole search.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include <tests/codes.hpp>
#include <tests/detectors.hpp>
#include <tests/on_backends.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/scenario.hpp>
#include <warpband/link/tradeoff.hpp>

namespace wb {
namespace tradeoff_test {

using testing::blamed;
using testing::small_scale;

// ---- dominance

TEST(tradeoff, one_setting_dominates_another) {
  const cost_and_need a{1, 10};
  EXPECT_TRUE(dominates(a, {2, 11}));
  EXPECT_TRUE(dominates(a, {1, 11}));
  EXPECT_TRUE(dominates(a, {2, 10}));
  EXPECT_FALSE(dominates(a, a));
  EXPECT_FALSE(dominates(a, {2, 9}));
  EXPECT_FALSE(dominates(a, {0.5, 11}));
  EXPECT_FALSE(dominates(a, {0.5, 9}));
}

TEST(tradeoff, front_is_what_nothing_dominates) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; round++) {
    std::vector<cost_and_need> costs(static_cast<std::size_t>(round % 30));
    for (cost_and_need& c : costs)  // few values, so that some are equal
      c = {1 + static_cast<double>(random() % 12), static_cast<double>(random() % 12)};
    const std::vector<std::size_t> front = front_of(costs);
    for (std::size_t i = 0; i < costs.size(); i++) {
      const bool dominated = std::any_of(costs.begin(), costs.end(),
                                         [&](const cost_and_need& c) { return dominates(c, costs[i]); });
      const bool on_front = std::any_of(front.begin(), front.end(), [&](std::size_t f) {
        return costs[f].seconds == costs[i].seconds && costs[f].db == costs[i].db;
      });
      EXPECT_EQ(on_front, !dominated);
    }
    for (std::size_t i = 1; i < front.size(); i++) {
      EXPECT_LT(costs[front[i - 1]].seconds, costs[front[i]].seconds);
      EXPECT_GT(costs[front[i - 1]].db, costs[front[i]].db);
    }
  }
  EXPECT_TRUE(front_of({}).empty());
  const std::vector<cost_and_need> twice{{1, 2}, {1, 2}};
  EXPECT_EQ(front_of(twice), std::vector<std::size_t>{0});
}

TEST(tradeoff, fastest_within_a_loss) {
  const std::vector<cost_and_need> costs{{4, 10}, {1, 13}, {2, 10.4}, {9, 20}};
  const std::vector<std::size_t> front = front_of(costs);
  EXPECT_EQ(front, (std::vector<std::size_t>{1, 2, 0}));
  EXPECT_EQ(fastest_within(costs, front, 0), 0U);
  EXPECT_EQ(fastest_within(costs, front, 0.39), 0U);
  EXPECT_EQ(fastest_within(costs, front, 0.5), 2U);
  EXPECT_EQ(fastest_within(costs, front, 3), 1U);
  EXPECT_FALSE(fastest_within({}, {}, 1));
}

// ---- candidates

TEST(tradeoff, candidates_are_allowed_differ_and_begin_with_what_is_given) {
  for (const int streams : {1, 2, 4, 8})
    for (const int qam : {4, 16, 64, 256}) {
      SCOPED_TRACE(::testing::Message() << streams << " streams, " << qam << "-QAM");
      const detector_config base{.type = "kbest",
                                 .streams = streams,
                                 .rx_antennas = streams + 1,
                                 .qam = qam,
                                 .settings = box(kbest_settings{.survivors = 12})};
      const std::vector<detector_config> candidates = detector_candidates(base);
      EXPECT_EQ(label_of(candidates.front()), "kbest K = 12, clip 8");
      std::set<std::string> names;
      std::set<std::string> types;
      for (const detector_config& d : candidates) {
        EXPECT_NO_THROW(make_detector(d)) << label_of(d);
        EXPECT_EQ(d.streams, streams);
        EXPECT_EQ(d.rx_antennas, streams + 1);
        EXPECT_EQ(d.qam, qam);
        EXPECT_TRUE(names.insert(label_of(d)).second) << label_of(d);
        types.insert(d.type);
        for (const float clip : clip_candidates(clip_of(d), may_miss(d))) {
          detector_config limited = d;
          limited.llr_clip = clip;
          EXPECT_NO_THROW(make_detector(limited)) << label_of(limited);
        }
      }
      const double hypotheses = std::pow(qam, streams);
      EXPECT_EQ(types.size(), hypotheses <= (1 << 24) ? 10U : 9U);
    }
  EXPECT_EQ(clip_candidates(no_clip, false), (std::vector{no_clip, 4.f, 8.f, 16.f}));
  EXPECT_EQ(clip_candidates(8, false), (std::vector{8.f, 4.f, 16.f, no_clip}));
  EXPECT_EQ(clip_candidates(8, true), (std::vector{8.f, 4.f, 16.f}));
  EXPECT_EQ(clip_candidates(5, true), (std::vector{5.f, 4.f, 8.f, 16.f}));
  // "none" stays with those that allow it.
  for (const detector_config& d : detector_candidates({.type = "ml", .llr_clip = no_clip}))
    EXPECT_NO_THROW(make_detector(d));
}

TEST(tradeoff, decoders_are_allowed_differ_and_begin_with_what_is_given) {
  const auto check = [](code_config base, bool on_device) {
    const std::vector<code_config> candidates = decoder_candidates(base, on_device);
    std::set<std::string> names;
    EXPECT_EQ(decoder_name(candidates.front()), decoder_name(base));
    for (const code_config& c : candidates) {
      EXPECT_NO_THROW(make_codec(completed(c))) << decoder_name(c);
      EXPECT_EQ(sizes_of(completed(c)).n, sizes_of(completed(base)).n);
      EXPECT_TRUE(names.insert(decoder_name(c)).second) << decoder_name(c);
    }
    return names;
  };
  code_config c("wifi-ldpc");
  testing::ldpc_decoder_in(c).iterations = 12;
  EXPECT_TRUE(check(c, false).contains("normalised-min-sum int8, 12 iterations"));
  EXPECT_FALSE(check(c, false).contains("normalised-min-sum float16, 10 iterations"));
  EXPECT_TRUE(check(c, true).contains("normalised-min-sum float16, 10 iterations"));
  c = code_config("lte-turbo");
  EXPECT_TRUE(check(c, false).contains("max-log-map int16, 4 iterations"));
  testing::turbo_decoder_in(c).windows = 6;  // no power of two: float32 alone
  EXPECT_FALSE(check(c, false).contains("max-log-map int16, 4 iterations"));
  c = {};
  c = code_config("conv");
  EXPECT_EQ(check(c, false), (std::set<std::string>{"viterbi int16", "max-log-map int16", "viterbi float32",
                                                    "max-log-map float32", "log-map float32"}));
  c = code_config("none");
  EXPECT_EQ(decoder_candidates(c, false).size(), 1U);
  EXPECT_EQ(decoder_name(c), "none");
}

// ---- times

link_config small_link() {
  link_config c;
  c.code = code_config("wifi-ldpc");
  testing::n_in(c.code) = 648;
  c.qam = 4;
  c.channel = rayleigh_config{};
  c.antennas = detector_config{};
  return c;
}

class receiver_clock_on : public testing::on_backend {};
WB_ON_ALL_BACKENDS(receiver_clock_on);

// What the clock decodes is what a link decodes: where nothing fails a codeword takes one iteration.
TEST_P(receiver_clock_on, receives_what_a_link_does) {
  std::vector<link_config> links(4, small_link());
  links[1].channel = rayleigh_config{fading_type::block};
  links[2].antennas = single_antenna{};
  links[2].channel = awgn_config{};
  links[2].code = code_config("lte-turbo");
  testing::k_in(links[2].code) = 40;
  testing::crc_in(links[2].code) = crc24b;
  testing::turbo_decoder_in(links[2].code).early_stop = turbo_early_stop::crc;
  links[3].receiver.emplace();  // its interleaver is not of what is timed
  links[3].receiver->outer = 1;
  links[3].receiver->interleaver = receiver_interleaver::random;
  for (const link_config& c : links) {
    receiver_clock clock(c, exec());
    const receiver_times good = clock.measure(c, 90), bad = clock.measure(c, -20);
    EXPECT_GT(good.detect, 0);
    EXPECT_GT(good.decode, 0);
    EXPECT_EQ(good.iterations, 1);
    EXPECT_GT(bad.iterations, 1);
  }
}

/// Links of other kinds than streams.
const std::string space_time =
                      "code = { type = \"conv\", k = 60 }\nmodem.modulation = \"qpsk\"\n"
                      "channel.type = \"rayleigh\"\nstbc.type = \"golden\"\n"
                      "mimo.rx_antennas = 2\nsweep.snr_db = 5\n",
                  massive =
                      "code = { type = \"conv\", k = 20 }\nmodem.modulation = \"qpsk\"\n"
                      "channel.type = \"rayleigh\"\nsweep.snr_db = 5\n"
                      "massive = { solver = \"cholesky\", antennas = 8, users = 2, subcarriers = 32 }\n",
                  transport =
                      "code = { type = \"lte-transport\", transport_block_size = 40, "
                      "resource_elements = 66, transmissions = 2 }\nsweep.snr_db = 5\n",
                  slots =
                      "nr = { channel = \"pusch\", resource_blocks = 1, layers = 2, mcs = 4, csi = \"ls\" }\n"
                      "channel = { type = \"tdl\", profile = \"tdlc300\", doppler_hz = 100 }\n"
                      "mimo.rx_antennas = 2\nsweep.snr_db = 5\n";
link_config link_of(const std::string& text) { return parse_scenario(text, "link").curves.at(0).link; }

TEST_P(receiver_clock_on, times_links_of_every_kind) {
  for (const std::string& text : {space_time, massive, transport, slots}) {
    SCOPED_TRACE(text);
    const link_config c = link_of(text);
    receiver_clock clock(c, exec());
    const receiver_times times = clock.measure(c, 30);
    EXPECT_GT(times.detect, 0);
    EXPECT_GT(times.decode, 0);
    EXPECT_GE(times.iterations, 1);
  }
}

TEST(receiver_clock, refuses_what_it_does_not_time) {
  cpu exec;
  link_config c = link_of(massive);
  c.antennas.edit<massive_link_config>().direction = massive_direction::downlink;
  EXPECT_EQ(blamed([&] { receiver_clock(c, exec); }), "massive.direction");
  EXPECT_EQ(blamed([&] { check_choices(c); }), "massive.direction");
  receiver_clock clock(small_link(), exec);
  link_config other = small_link();
  other.qam = 16;
  EXPECT_EQ(blamed([&] { clock.measure(other, 10); }), "link");
  EXPECT_EQ(blamed([&] { clock.measure(small_link(), 101); }), "point_db");
}

// ---- the search

/// With few decoders, so that a search is short.
link_config convolutional_link() {
  link_config c = small_link();
  c.code = {};
  c.code = code_config("conv");
  testing::k_in(c.code) = 200;
  return c;
}

TEST(tradeoff, measures_a_front) {
  cpu exec;
  std::uint64_t calls = 0;
  const tradeoff_config config{.fer = 0.2, .width_db = 0.5};
  const tradeoff_result r = run_tradeoff(convolutional_link(), config, exec,
                                         [&](const tradeoff_result&, const tradeoff_entry&, std::uint64_t) {
                                           calls++;
                                           return true;
                                         });
  EXPECT_GT(calls, r.entries.size());
  EXPECT_FALSE(r.cancelled);
  ASSERT_FALSE(r.front.empty());
  std::vector<cost_and_need> costs;
  for (const tradeoff_entry& e : r.entries) {
    if (e.fate == tradeoff_fate::measured) {
      EXPECT_TRUE(e.db) << e.detector;
    }
    if (!e.db) continue;
    EXPECT_GT(e.times.detect, 0);
    EXPECT_GT(e.times.decode, 0);
    EXPECT_LE(*e.low_db, *e.db);
    EXPECT_GE(*e.high_db, *e.db);
    if (e.fate == tradeoff_fate::measured) {
      EXPECT_LE(*e.high_db - *e.low_db, 0.5);
    }
    costs.push_back({e.times.seconds(), *e.db});
  }
  EXPECT_EQ(front_of(costs).size(), r.front.size());
  EXPECT_EQ(loss_of(r, r.front.back()), 0);
  for (std::size_t i = 1; i < r.front.size(); i++)
    EXPECT_GT(loss_of(r, r.front[i - 1]), loss_of(r, r.front[i]));
  EXPECT_EQ(chosen_of(r, 100), r.front.front());
  EXPECT_EQ(chosen_of(r, 0), r.front.back());
  // The chosen setting is at its SNR what the search says: well above the target half a dB below, and well
  // below it as far above.
  const tradeoff_entry& best = r.entries[r.front.back()];
  link_chain chain(best.link, exec);
  const auto fer_at = [&](double db) {
    return run_point(chain, db, {.frame_errors = 0, .max_frames = small_scale() ? 500U : 3000U}).fer();
  };
  EXPECT_GT(fer_at(*best.low_db - 0.5), 0.2);
  EXPECT_LT(fer_at(*best.high_db + 0.5), 0.2);
}

TEST(tradeoff, of_one_antenna_and_uncoded) {
  cpu exec;
  link_config c;
  c.code = code_config("none");
  testing::k_in(c.code) = 100;
  c.qam = 16;
  const tradeoff_result r = run_tradeoff(c, {.fer = 0.3, .width_db = 1}, exec);
  ASSERT_FALSE(r.front.empty());
  EXPECT_EQ(r.entries.size(), 2U);  // both demappers
  EXPECT_EQ(r.entries[0].times.decode, 0);
}

/// The receivers that a search tried.
std::set<std::string> receivers_of(const std::string& scenario) {
  cpu exec;
  const tradeoff_result r = run_tradeoff(link_of(scenario), {.fer = 0.3, .width_db = 1}, exec);
  EXPECT_FALSE(r.front.empty());
  std::set<std::string> names;
  for (const tradeoff_entry& e : r.entries) {
    const receiver_rates rates = rates_of(e);
    EXPECT_GT(rates.information, 0);
    EXPECT_GT(rates.coded, rates.information);
    EXPECT_GE(e.transmissions, 1);
    names.insert(e.detector.substr(0, e.detector.find(", clip")));
  }
  return names;
}

TEST(tradeoff, of_a_space_time_code) {
  EXPECT_EQ(receivers_of(space_time), (std::set<std::string>{"golden exact", "golden slicing"}));
}

TEST(tradeoff, of_massive_mimo) {
  const std::set<std::string> names = receivers_of(massive);
  for (const char* name : {"cholesky", "cholesky, approximate SINR", "zf", "mf", "cg I = 1", "cg I = 2",
                           "jacobi_cg I = 1", "neumann I = 2", "gauss_seidel I = 1", "chebyshev I = 2"})
    EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_FALSE(names.contains("cg I = 3"));  // there are two users
}

TEST(tradeoff, of_transport_blocks) {
  EXPECT_EQ(receivers_of(transport), (std::set<std::string>{"demapper max-log"}));
}

TEST(tradeoff, of_slots) {
  const link_config c = link_of(slots);
  const std::vector<link_antennas> candidates = c.antennas.kind().candidates(c);
  std::set<std::string> names;
  for (const link_antennas& a : candidates) {
    link_config tried = c;
    tried.antennas = a;
    EXPECT_NO_THROW((void)completed(tried));
    EXPECT_TRUE(names.insert(a.kind().receiver_name(a)).second) << a.kind().receiver_name(a);
  }
  EXPECT_TRUE(names.contains("mmse"));
  EXPECT_TRUE(names.contains("ml"));
}

// A limit of 0.01 leaves hard decisions, and an Alamouti code misses no hypothesis.
TEST(tradeoff, tries_other_limits_where_no_hypothesis_is_missing) {
  cpu exec;
  link_config c = link_of(space_time);
  c.antennas = stbc_config{.code = space_time_code::alamouti(), .llr_clip = 0.01f};
  const tradeoff_result r = run_tradeoff(c, {.fer = 0.3, .width_db = 1}, exec);
  ASSERT_FALSE(r.front.empty());
  for (const tradeoff_entry& e : r.entries) EXPECT_NE(e.detector, "alamouti, clip 0.01") << e.decoder;
}

TEST(tradeoff, can_be_cancelled) {
  cpu exec;
  int calls = 0;
  const tradeoff_result r = run_tradeoff(
      small_link(), {.fer = 0.2}, exec,
      [&](const tradeoff_result&, const tradeoff_entry&, std::uint64_t) { return ++calls < 30; });
  EXPECT_EQ(calls, 30);
  EXPECT_TRUE(r.cancelled);
}

TEST(tradeoff, refuses_what_means_nothing) {
  cpu exec;
  const auto with = [&](auto change) {
    tradeoff_config c;
    change(c);
    return blamed([&] { run_tradeoff(small_link(), c, exec); });
  };
  EXPECT_EQ(with([](tradeoff_config& c) { c.fer = 0; }), "fer");
  EXPECT_EQ(with([](tradeoff_config& c) { c.width_db = 0; }), "width_db");
  EXPECT_EQ(with([](tradeoff_config& c) { c.loss_db = -1; }), "loss_db");
  EXPECT_EQ(with([](tradeoff_config& c) { c.max_frames = 0; }), "max_frames");
  EXPECT_EQ(with([](tradeoff_config& c) { c.max_seconds = -1; }), "max_seconds");
}

}  // namespace tradeoff_test
}  // namespace wb
