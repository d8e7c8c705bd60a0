#pragma once
// Several executors that work on one problem: those of one process, or one of each rank of MPI. Members
// exchange arrays, and sums have the order of the members, so that they are the same in every run:
//
//   all_to_all   member m gets part m of every member's array
//   all_gather   every member gets part m of member m's array
//   all_reduce   every member gets the sum of all arrays: all_to_all, sums of the own part, all_gather. Each
//                member sends 2 (D - 1) / D of an array of D members, the least there is (P. Patarasuk, X.
//                Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 69(2),
//                2009)
//
// CUDA devices of one process exchange by NCCL (NVLink where they have it), which is loaded at first use.
// Work queued on their streams waits for it, the host does not. Otherwise arrays pass through host memory,
// and calls wait: between ranks as messages of MPI.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/named.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/exec/ranks.hpp>

namespace wb {

/// How the members of one process exchange.
enum class group_transport {
  automatic,  // nccl where all are CUDA devices, no two the same; else host
  nccl,
  host,
};
/// "automatic", "nccl", "host".
const char* name_of(group_transport transport) noexcept;

/// Calls f(), and throws a device_error of it again with the executor's name: "cuda:1: ...".
template <class F>
void on_member(const executor& exec, const F& f) {
  try {
    f();
  } catch (const device_error& e) {
    throw device_error(named(exec.name(), e.what()));
  }
}

/// A piece of a member's memory that goes to another member, or comes from one. Of the pieces from one member
/// to another the n-th that is sent is the n-th that is received, and both have the same bytes.
struct group_piece {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  int peer = 0;
};

/// What carries pieces; `sends` and `receives` are those of each member of this process.
/// Threads: one at a time.
class group_carrier {
 public:
  virtual ~group_carrier() = default;
  virtual std::string name() const = 0;  // "nccl", "host", "mpi"
  virtual void exchange(const std::vector<std::vector<group_piece>>& sends,
                        const std::vector<std::vector<group_piece>>& receives) = 0;
};

/// Calls are made by one thread. Where several processes are members all of them make the same calls. A
/// device_error of a member of this process begins with its name, one of another rank with the rank's;
/// one of NCCL names no member.
class executor_group {
 public:
  /// Members of this process, which outlive the group. Throws argument_error for no member or a member twice,
  /// and for nccl with a member that is no CUDA device or with a device twice. Throws device_error if NCCL is
  /// not there.
  explicit executor_group(std::vector<executor*> members,
                          group_transport transport = group_transport::automatic);
  /// This process has the member of its rank. A rank that does not answer within so many seconds is named by
  /// a device_error; 0: it is waited for.
  executor_group(ranks& world, executor& member, double deadline_seconds = 0);
  ~executor_group();

  int size() const noexcept { return size_; }
  /// The first member of this process, and how many it has.
  int first() const noexcept { return first_; }
  int local() const noexcept { return static_cast<int>(members_.size()); }
  /// Member first() + i.
  executor& member(int i) const { return *members_.at(static_cast<std::size_t>(i)); }
  /// Calls f(member(i), i) for each member of this process in order.
  template <class F>
  void each(const F& f) const {
    for (std::size_t i = 0; i < members_.size(); i++) on_member(*members_[i], [&] { f(*members_[i], i); });
  }
  /// "nccl", "host" or "mpi".
  std::string transport() const { return carrier_->name(); }

  /// Of `items`, how many member m has, of which the first ones are those of the members before it: as many
  /// each as goes.
  std::size_t share(std::size_t items, int m) const noexcept;
  std::size_t share_begin(std::size_t items, int m) const noexcept;

  /// `from[i]`, of member first() + i: `items` items of `bytes` bytes. `to[i]`: the member's share of items
  /// as each of the members has it, the members' one after the other.
  void all_to_all(const std::vector<const void*>& from, const std::vector<void*>& to, std::size_t items,
                  std::size_t bytes);
  /// `data[i]`: `items` items, of which each member has its share in place already.
  void all_gather(const std::vector<void*>& data, std::size_t items, std::size_t bytes);
  /// `data[i]`: `values` values each, which become the sums over all members, in pairs of neighbours
  /// (core/sum_in_pairs.hpp).
  void all_reduce(const std::vector<float*>& data, std::size_t values);
  /// Waits for all members of this process.
  void sync();

  /// Bytes that members of this process have sent to other members so far.
  std::uint64_t bytes_sent() const noexcept { return bytes_sent_; }

 private:
  void exchange(const std::vector<std::vector<group_piece>>& sends,
                const std::vector<std::vector<group_piece>>& receives);

  std::vector<executor*> members_;
  int size_ = 1, first_ = 0;
  std::unique_ptr<group_carrier> carrier_;
  std::uint64_t bytes_sent_ = 0;
  kept_workspace workspace_;
};

/// Queues out[i] = sum of `count` arrays, `distance` values apart, in pairs of neighbours. `out` may be the
/// first of them.
void sum_of_members(executor& exec, const float* first, int count, std::size_t distance, std::size_t values,
                    float* out);

}  // namespace wb
