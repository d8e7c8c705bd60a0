#pragma once
// Ranks of MPI as members of a team: rank 0 runs curves, the others run frames for it.
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <warpband/exec/executor.hpp>
#include <warpband/exec/ranks.hpp>
#include <warpband/link/scenario.hpp>
#include <warpband/link/team.hpp>

namespace wb {

/// Rank 0's side: the other ranks, which all run `serve_frames`.
/// Threads: one at a time.
class rank_crew {
 public:
  /// Ranks get the keys of each curve that they run. `deadline_seconds`: how long a rank may take to answer;
  /// 0: for ever. Throws device_error where a rank is of another version or commit, or cannot open its
  /// device.
  rank_crew(ranks& world, const scenario& source, double deadline_seconds);
  /// Tells the ranks that no more is to come.
  ~rank_crew();
  rank_crew(const rank_crew&) = delete;
  rank_crew& operator=(const rank_crew&) = delete;

  /// The others' members for curve `curve` of the scenario, and at most so many frames in one run. Those of
  /// an earlier curve must be gone. Throws what goes wrong there, and argument_error for a curve that the
  /// scenario does not have.
  std::vector<std::unique_ptr<team_member>> members(std::size_t curve, std::size_t max_batch);
  /// The devices of all other ranks, in their order: "cpu", "cuda:1".
  const std::vector<std::string>& devices() const noexcept { return devices_; }

 private:
  ranks& all_;
  scenario source_;
  double deadline_;
  std::vector<std::string> devices_;
};

/// Rank 0's side where no crew was made: tells the ranks that nothing is to come.
void dismiss(ranks& world);

/// The other ranks' side: opens the device and runs frames until rank 0 says that no more is to come.
/// `open`: makes the executor; what it throws is told to rank 0.
void serve_frames(ranks& world, const std::function<std::unique_ptr<executor>()>& open);

/// Counts as bytes and back, between processes of one build. `unpack_counts` throws error for bytes that
/// `pack_counts` did not make.
message pack_counts(const frame_counts& counts, double seconds);
frame_counts unpack_counts(const message& bytes, double& seconds);

}  // namespace wb
