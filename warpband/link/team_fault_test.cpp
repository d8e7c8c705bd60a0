// A device that fails and a rank that hangs in the middle of a point: the error names it, the result holds
// what was counted, and a run that goes on from its file comes to the counts of one that nothing happened to.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include <tests/failing_executor.hpp>
#include <tests/link.hpp>
#include <tests/on_backends.hpp>
#include <tests/scratch.hpp>
#include <tests/thread_ranks.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/rank_members.hpp>
#include <warpband/link/result.hpp>
#include <warpband/link/team.hpp>

namespace wb {
namespace team_fault_test {

using testing::expect_same;
using testing::failing_executor;

/// Of which the second point is the one where something happens: it takes four batches of six frames or more.
constexpr const char* links[] = {
    "[code]\ntype = \"lte-turbo\"\nk = 104\n[sweep]\nebn0_db = [0.5, 1]\n",
    "[code]\ntype = \"none\"\nk = 32\n[modem]\nmodulation = \"16qam\"\n[channel]\ntype = \"rayleigh\"\n"
    "[massive]\nsolver = \"cholesky\"\nantennas = 16\nusers = 4\nsubcarriers = 8\nclusters = 4\n"
    "[sweep]\nsnr_db = [1, 2]\n",
};
scenario scenario_of(const std::string& link) {
  return parse_scenario(link + "[stop]\nframe_errors = 23\nmax_frames = 400\n", "test.toml");
}

/// A member whose speed is that of all, so that the first one of a team always has a share.
class even_member final : public team_member {
 public:
  explicit even_member(std::unique_ptr<team_member> member) : of_(std::move(member)) {}
  const std::string& name() const noexcept override { return of_->name(); }
  std::size_t max_batch() const noexcept override { return of_->max_batch(); }
  std::size_t preferred_frames() const override { return of_->preferred_frames(); }
  void begin(std::uint64_t first_frame, std::size_t frames, double point_db) override {
    frames_ = frames;
    of_->begin(first_frame, frames, point_db);
  }
  const frame_counts& wait() override { return of_->wait(); }
  double seconds() const noexcept override { return static_cast<double>(frames_); }

 private:
  std::unique_ptr<team_member> of_;
  std::size_t frames_ = 0;
};
std::unique_ptr<link_team> team_of(const link_config& link,
                                   std::vector<std::unique_ptr<team_member>> members) {
  for (auto& m : members) m = std::make_unique<even_member>(std::move(m));
  return std::make_unique<link_team>(completed(link), std::move(members));
}

run_result begun(const scenario& source, const executor& exec) {
  run_result r;
  r.source = source;
  r.origin.machine = describe_machine(exec);
  r.curves.push_back({source.curves[0].label, source.curves[0], {}, {}, false});
  return r;
}

class team_fault : public ::testing::Test, protected testing::scratch_folder {
 protected:
  /// Runs the curve until `happen`, called after the second batch of its second point, has taken effect.
  /// Returns the text of the error.
  static std::string run_into(curve_result& curve, const runner_maker& make,
                              const std::function<void()>& happen) {
    int batches = 0;
    const auto progress = [&](const curve_result&, std::size_t index, const point_counts&) {
      if (index == 1 && ++batches == 2) happen();
      return true;
    };
    try {
      run_curve(curve, make, {progress, {}});
    } catch (const error& e) {
      return e.what();
    }
    return "";
  }
  /// Goes on from the file of `held` on one executor.
  void expect_nothing_lost(const run_result& held) {
    const auto exec = testing::open_reference();
    const curve_result& curve = held.curves[0];
    ASSERT_EQ(curve.points.size(), 1U);
    ASSERT_EQ(curve.unfinished.size(), 1U);
    const std::uint64_t kept = curve.unfinished[0].counts.frames;
    EXPECT_GT(kept, 0U);
    write_file(path("r.json"), result_json(held));
    run_result back = resumed(load_result(path("r.json")), held.source, path("r.json"));
    EXPECT_EQ(back.curves[0].counts_at(curve.unfinished[0].sweep_db).frames, kept);
    const curve_result whole = run_curve(held.source.curves[0], *exec);
    run_curve(back.curves[0], *exec);
    ASSERT_EQ(back.curves[0].points.size(), 2U);
    for (std::size_t i = 0; i < 2; i++) expect_same(back.curves[0].points[i].counts, whole.points[i].counts);
    EXPECT_GT(whole.points[1].counts.frames, kept);
  }
};

TEST_F(team_fault, a_device_that_fails_in_a_point_is_named_and_costs_no_count) {
  for (const char* link : links)
    for (const int ops : {0, 1}) {  // before its first op of a batch, or within it
      SCOPED_TRACE(std::string(link) + " " + std::to_string(ops));
      const auto sound = open_executor("cpu", 1);
      failing_executor device("cuda:1");
      run_result r = begun(scenario_of(link), *sound);
      const auto make = [&](const link_config& config, std::size_t) {
        std::vector<std::unique_ptr<team_member>> members;
        members.push_back(make_local_member(config, device, 3));
        members.push_back(make_local_member(config, *sound, 3));
        return team_of(config, std::move(members));
      };
      EXPECT_EQ(run_into(r.curves[0], make, [&] { device.fail_after(ops); }),
                "cuda:1: an illegal memory access was encountered");
      EXPECT_TRUE(device.gone());
      expect_nothing_lost(r);
    }
}

/// Rank 0 of ranks of which one stops answering.
class waiting_rank final : public testing::thread_rank {
 public:
  using thread_rank::thread_rank;
  int hanging = -1;
  message receive(int from, double seconds) override {
    if (from == hanging)  // as MPI's ranks say it
      throw device_error(name(from) + ": no answer within " + std::to_string(static_cast<int>(seconds)) +
                         " s");
    return thread_rank::receive(from, seconds);
  }
};

TEST_F(team_fault, a_rank_that_hangs_in_a_point_is_named_and_costs_no_count) {
  const auto sound = open_executor("cpu", 1);
  testing::post between;
  std::vector<std::thread> others;
  for (int rank = 1; rank < 3; rank++)
    others.emplace_back([&between, rank] {
      testing::thread_rank me(between, rank, 3);
      serve_frames(me, [] { return open_executor("cpu", 1); });
    });
  waiting_rank me(between, 0, 3);
  run_result r = begun(scenario_of(links[0]), *sound);
  {
    rank_crew crew(me, r.source, 30);
    const auto make = [&](const link_config& config, std::size_t) {
      auto members = crew.members(0, 2);
      members.push_back(make_local_member(config, *sound, 2));
      return team_of(config, std::move(members));
    };
    EXPECT_EQ(run_into(r.curves[0], make, [&] { me.hanging = 1; }), "rank 1 on here: no answer within 30 s");
  }
  for (std::thread& t : others) t.join();
  expect_nothing_lost(r);
}

}  // namespace team_fault_test
}  // namespace wb
