#pragma once
// Several executors, or processes, that run the frames of one link together.
//
// A run's frames are handed out in one piece each, in the order of the members and in proportion to their
// speed so far. The counts are put together in the order of the frames. So the counts are those of one
// executor, whatever the members are.
#include <memory>
#include <string>
#include <vector>

#include <warpband/exec/executor.hpp>
#include <warpband/link/frame_runner.hpp>

namespace wb {

/// One of a team. Its calls come from one thread.
class team_member {
 public:
  virtual ~team_member() = default;
  virtual const std::string& name() const noexcept = 0;  // for messages: "cuda:1", "rank 3 on node7"
  virtual std::size_t max_batch() const noexcept = 0;
  virtual std::size_t preferred_frames() const = 0;
  /// Begins to run frames, as frame_runner::run; at most max_batch().
  virtual void begin(std::uint64_t first_frame, std::size_t frames, double point_db) = 0;
  /// Waits for what was begun. The counts stay valid until the next `begin`. Throws what went wrong there.
  virtual const frame_counts& wait() = 0;
  /// Seconds that the last run took.
  virtual double seconds() const noexcept = 0;
};

/// A member on an executor of this process, with a thread of its own. Holds on to the executor.
std::unique_ptr<team_member> make_local_member(const link_config& config, executor& exec,
                                               std::size_t max_batch);

/// What decides on a member's share of a run's frames.
struct member_pace {
  double speed = 1;            // frames a second, or in proportion to it
  std::size_t max_frames = 0;  // frames that it takes at once
  std::size_t unit = 1;        // frames that it runs side by side: one more takes as long as that many
};

/// Threads: one at a time.
class link_team final : public frame_runner {
 public:
  /// `members`: at least one, all of the link `config`, which is completed.
  link_team(link_config config, std::vector<std::unique_ptr<team_member>> members);

  /// Throws an error that begins with the member's name where one fails; the others have ended their part
  /// then. What was counted before stays valid: a run goes on from it on another team.
  const frame_counts& run(std::uint64_t first_frame, std::size_t frames, double point_db) override;
  const link_config& config() const noexcept override { return config_; }
  std::size_t max_batch() const noexcept override { return max_batch_; }
  std::size_t preferred_frames() const override;

 private:
  /// The speed of one that has not run yet is what its size lets expect.
  std::vector<member_pace> paces() const;

  link_config config_;
  std::vector<std::unique_ptr<team_member>> members_;
  // Of each member's runs, where a run counts half of the one after it.
  std::vector<double> frames_, seconds_;
  std::size_t max_batch_ = 0;
  frame_counts counts_;
};

/// Frames of each member: all of `frames`, in proportion to speed, and no more than each takes. Shares are in
/// whole units where that changes a share by at most an eighth. What the members take must be enough
/// together.
std::vector<std::size_t> shares_of(std::size_t frames, const std::vector<member_pace>& members);

}  // namespace wb
