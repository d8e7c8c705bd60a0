#pragma once
// Processes that `mpirun` started together. Rank 0 leads: it sends bytes to the others and takes theirs.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace wb {

/// What one rank sends another.
using message = std::vector<std::byte>;

/// The ranks of this run. All calls come from the thread that called `join`.
class ranks {
 public:
  /// Whether this library was built with MPI (-DWARPBAND_MPI=ON).
  static bool built() noexcept;
  /// Nothing where MPI started no other process beside this one. Throws device_error where it did and the
  /// library was built without MPI.
  static std::unique_ptr<ranks> join();
  /// Ends MPI. Where a rank did not answer in time it does not: the launcher ends all when this process ends.
  virtual ~ranks() = default;

  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;
  /// The same among the ranks of this machine.
  virtual int local_rank() const noexcept = 0;
  virtual int local_size() const noexcept = 0;
  /// "rank 3 on node7", for messages.
  virtual const std::string& name(int rank) const = 0;

  /// Sends to a rank and does not wait for it. Of messages between two ranks the first sent is the first
  /// received.
  virtual void send(int to, message bytes) = 0;
  /// Waits for a message, without keeping a core busy. Throws device_error with the rank's name after so many
  /// seconds; 0: waits for ever.
  virtual message receive(int from, double seconds = 0) = 0;
};

}  // namespace wb
