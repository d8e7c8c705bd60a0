// Frames of one link on several executors and on ranks: the counts of one executor.
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include <tests/link.hpp>
#include <tests/on_backends.hpp>
#include <tests/scenario.hpp>
#include <tests/thread_ranks.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/rank_members.hpp>
#include <warpband/link/result.hpp>
#include <warpband/link/team.hpp>

namespace wb {
namespace team_test {

using testing::expect_same;
using testing::open_reference;
using testing::post;
using testing::thread_rank;

/// A link of each kind of exchange and of antennas, short enough for a test, with a point where frames fail.
constexpr const char* links[] = {
    "[code]\ntype = \"none\"\nk = 200\n[modem]\nmodulation = \"qpsk\"\n[sweep]\nebn0_db = [4]\n",
    "[code]\ntype = \"lte-turbo\"\nk = 104\n[sweep]\nebn0_db = [1]\n",
    "[code]\ntype = \"wimax-ldpc\"\nn = 576\n[modem]\nmodulation = \"16qam\"\n[channel]\ntype = "
    "\"rayleigh\"\n[mimo]\n"
    "streams = 2\nrx_antennas = 2\n[detector]\ntype = \"pic\"\n[receiver]\nouter = 3\n[sweep]\nsnr_db = "
    "[2]\n",
    "[code]\ntype = \"lte-transport\"\ntransport_block_size = 104\nresource_elements = "
    "60\n[modem]\nmodulation = \"16qam\"\n"
    "[sweep]\nsnr_db = [-1]\n",
    "[code]\ntype = \"conv\"\nk = 100\n[modem]\nmodulation = \"16qam\"\n[channel]\ntype = "
    "\"rayleigh\"\n[stbc]\ntype = \"golden\"\n"
    "[sweep]\nsnr_db = [12]\n",
    "[code]\ntype = \"none\"\nk = 32\n[modem]\nmodulation = \"16qam\"\n[channel]\ntype = "
    "\"rayleigh\"\n[massive]\nsolver = \"cholesky\"\n"
    "antennas = 16\nusers = 4\nsubcarriers = 8\n[sweep]\nsnr_db = [2]\n",
};
const std::string stop_text = "[stop]\nframe_errors = 23\nmax_frames = 400\n";

scenario scenario_of(const std::string& link) { return parse_scenario(link + stop_text, "test.toml"); }

point_counts alone(const curve_config& curve) {
  const auto exec = open_reference();
  link_chain chain(curve.link, *exec);
  return run_point(chain, curve.sweep_db[0], curve.stop).counts;
}

TEST(link_team, shares_are_all_frames_by_speed_and_room) {
  const std::vector<member_pace> members{{3, 500}, {1, 400}, {0.001, 100}};
  for (const std::size_t frames :
       {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{400}, std::size_t{1000}}) {
    const std::vector<std::size_t> shares = shares_of(frames, members);
    EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), std::size_t{0}), frames);
    for (std::size_t i = 0; i < 3; i++) EXPECT_LE(shares[i], members[i].max_frames);
  }
  EXPECT_EQ(shares_of(400, members), (std::vector<std::size_t>{300, 100, 0}));
  EXPECT_EQ(shares_of(1000, members), (std::vector<std::size_t>{500, 400, 100}));
}

TEST(link_team, shares_are_whole_units_where_they_have_several) {
  using shares = std::vector<std::size_t>;
  EXPECT_EQ(shares_of(128, {{1.03, 1000, 8}, {0.97, 1000, 8}}), (shares{64, 64}));
  EXPECT_EQ(shares_of(128, {{1.1, 1000, 8}, {0.9, 1000, 8}}), (shares{72, 56}));
  EXPECT_EQ(shares_of(100, {{1, 1000, 8}, {1, 1000, 8}}), (shares{52, 48}));
  EXPECT_EQ(shares_of(16, {{1, 1000, 8}, {1, 1000, 8}}), (shares{8, 8}));
  // A small one beside a large one whose unit is most of the run: in proportion.
  EXPECT_EQ(shares_of(20000, {{1000, 20000, 16000}, {1, 1000, 8}}), (shares{19981, 19}));
}

TEST(link_team, counts_are_those_of_one_executor) {
  for (const char* link : links) {
    SCOPED_TRACE(link);
    const curve_config curve = scenario_of(link).curves[0];
    const point_counts expected = alone(curve);
    EXPECT_EQ(expected.frame_errors, 23u);
    for (const std::size_t max_batch : {std::size_t{3}, std::size_t{64}}) {
      const auto one = open_executor("cpu", 1), two = open_executor("cpu", 2);
      std::vector<std::unique_ptr<team_member>> members;
      members.push_back(make_local_member(curve.link, *one, max_batch));
      members.push_back(make_local_member(curve.link, *two, 2 * max_batch));
      link_team team(completed(curve.link), std::move(members));
      EXPECT_EQ(team.max_batch(), 3 * max_batch);
      expect_same(run_point(team, curve.sweep_db[0], curve.stop).counts, expected);
    }
  }
}

TEST(link_team, names_the_member_that_fails_and_waits_for_the_others) {
  struct failing : team_member {
    const std::string& name() const noexcept override { return name_; }
    std::size_t max_batch() const noexcept override { return 8; }
    std::size_t preferred_frames() const override { return 8; }
    void begin(std::uint64_t, std::size_t, double) override {}
    const frame_counts& wait() override { throw device_error("an illegal address was met"); }
    double seconds() const noexcept override { return 0; }
    std::string name_ = "cuda:1";
  };
  const curve_config curve = scenario_of(links[0]).curves[0];
  const auto exec = open_reference();
  std::vector<std::unique_ptr<team_member>> members;
  members.push_back(std::make_unique<failing>());
  members.push_back(make_local_member(curve.link, *exec, 8));
  link_team team(completed(curve.link), std::move(members));
  for (int again = 0; again < 2; again++) {
    try {
      team.run(0, 16, 4);
      FAIL() << "expected an error";
    } catch (const error& e) {
      EXPECT_STREQ(e.what(), "cuda:1: an illegal address was met");
    }
  }
}

TEST(link_team, refuses_what_a_chain_refuses) {
  const curve_config curve = scenario_of(links[0]).curves[0];
  const auto exec = open_reference();
  std::vector<std::unique_ptr<team_member>> members;
  members.push_back(make_local_member(curve.link, *exec, 8));
  link_team team(completed(curve.link), std::move(members));
  EXPECT_THROW(team.run(0, 9, 4), argument_error);
  EXPECT_THROW(team.run(0, 8, 101), argument_error);
  EXPECT_THROW(link_team(completed(curve.link), {}), argument_error);
}

// ---- ranks

/// Runs `leader` on rank 0 of so many.
template <class F>
void with_ranks(int size, const F& leader, const std::function<std::unique_ptr<executor>()>& open) {
  post between;
  std::vector<std::thread> others;
  for (int r = 1; r < size; r++)
    others.emplace_back([&between, r, size, &open] {
      thread_rank me(between, r, size);
      serve_frames(me, open);
    });
  thread_rank me(between, 0, size);
  leader(me);
  for (std::thread& t : others) t.join();
}
std::unique_ptr<executor> one_thread() { return open_executor("cpu", 1); }

TEST(link_team, counts_of_ranks_are_those_of_one_executor) {
  for (const char* link : links) {
    SCOPED_TRACE(link);
    const scenario source = scenario_of(link);
    const curve_config& curve = source.curves[0];
    const point_counts expected = alone(curve);
    for (const int size : {2, 4}) {
      with_ranks(
          size,
          [&](ranks& world) {
            const auto exec = one_thread();
            rank_crew crew(world, source, 0);
            EXPECT_EQ(crew.devices(), std::vector<std::string>(static_cast<std::size_t>(size - 1), "cpu"));
            auto members = crew.members(0, 16);
            members.insert(members.begin(), make_local_member(curve.link, *exec, 16));
            link_team team(completed(curve.link), std::move(members));
            expect_same(run_point(team, curve.sweep_db[0], curve.stop).counts, expected);
          },
          one_thread);
    }
  }
}

TEST(link_team, a_rank_reads_the_seed_of_the_command) {
  scenario source = scenario_of(links[1]);
  apply_overrides(source, {.seed = 77, .frame_errors = {}, .max_frames = {}, .max_seconds = {}});
  with_ranks(
      2,
      [&](ranks& world) {
        rank_crew crew(world, source, 0);
        link_team team(completed(source.curves[0].link), crew.members(0, 16));
        expect_same(run_point(team, 1, source.curves[0].stop).counts, alone(source.curves[0]));
      },
      one_thread);
}

TEST(link_team, what_goes_wrong_on_a_rank_is_told_with_its_name) {
  with_ranks(
      2,
      [&](ranks& world) {
        try {
          rank_crew crew(world, scenario_of(links[0]), 0);
          ADD_FAILURE() << "expected an error";
        } catch (const device_error& e) {
          EXPECT_STREQ(e.what(), "rank 1 on here: cuda:7: no such device");
        }
      },
      []() -> std::unique_ptr<executor> { throw device_error("cuda:7: no such device"); });
  with_ranks(
      2,
      [&](ranks& world) {
        scenario source = scenario_of(links[0]);
        source.curves.push_back(source.curves[0]);
        source.trees.push_back(source.trees[0]);
        source.trees[1].keys.set("code.k", {std::int64_t{-1}, {}});
        rank_crew crew(world, source, 0);
        EXPECT_THROW(crew.members(2, 16), argument_error);  // there are two curves
        try {
          crew.members(1, 16);
          ADD_FAILURE() << "expected an error";
        } catch (const error& e) {
          EXPECT_TRUE(std::string(e.what()).starts_with("rank 1 on here: ")) << e.what();
          EXPECT_NE(std::string(e.what()).find("k = -1 is not allowed"), std::string::npos) << e.what();
        }
        link_team team(completed(source.curves[0].link), crew.members(0, 16));
        EXPECT_EQ(team.run(0, 4, 4).bit_errors.size(), 4u);  // and it goes on
      },
      one_thread);
  with_ranks(3, [&](ranks& world) { dismiss(world); }, one_thread);
}

TEST(link_team, counts_survive_the_way_between_ranks) {
  frame_counts c{.bit_errors = {1, 2},
                 .iterations = {3, 4},
                 .erased = {0, 1},
                 .erased_uses = {5, 6},
                 .codeword_errors = {7, 8},
                 .information_lost = {0.5f, 1.5f},
                 .transmissions = {1, 2},
                 .passed = {1, 0},
                 .outer_bit_errors = {{1, 2}, {3, 4}},
                 .outer_erased = {{0, 0}, {1, 1}},
                 .outer_codeword_errors = {{9, 10}, {7, 8}}};
  const message bytes = pack_counts(c, 0.5);
  double seconds = 0;
  const frame_counts back = unpack_counts(bytes, seconds);
  EXPECT_EQ(seconds, 0.5);
  EXPECT_EQ(pack_counts(back, seconds), bytes);
  EXPECT_EQ(back.outer_bit_errors, c.outer_bit_errors);
  EXPECT_EQ(back.outer_codeword_errors, c.outer_codeword_errors);
  EXPECT_EQ(back.information_lost, c.information_lost);
  for (std::size_t n = 0; n < bytes.size(); n++)
    EXPECT_THROW(unpack_counts({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n)}, seconds),
                 error);
  message longer = bytes;
  longer.push_back(std::byte{});
  EXPECT_THROW(unpack_counts(longer, seconds), error);
  frame_counts twice = c;
  append(twice, c);
  EXPECT_EQ(twice.erased_uses, (std::vector<std::int32_t>{5, 6, 5, 6}));
  EXPECT_EQ(twice.outer_erased[1], (std::vector<std::uint8_t>{1, 1, 1, 1}));
  EXPECT_EQ(twice.outer_codeword_errors[0], (std::vector<std::int32_t>{9, 10, 9, 10}));
  EXPECT_EQ(twice.information_lost, (std::vector<float>{0.5f, 1.5f, 0.5f, 1.5f}));
}

}  // namespace team_test
}  // namespace wb
