#pragma once
// What runs the frames of `warpband sim`: the devices of --device, and the ranks that mpirun started.
#include <memory>
#include <string>
#include <vector>

#include <warpband/exec/ranks.hpp>
#include <warpband/link/rank_members.hpp>
#include <warpband/link/result.hpp>

/// "cuda:0,cuda:1" as its parts.
std::vector<std::string> devices_in(const std::string& list);

class sim_workers {
 public:
  /// Opens the devices; one of them on each rank, by its number on the machine. `devices`: "cpu,cuda:0", and
  /// with ranks "cuda": as many as there are. `ranks`: those of this run, of which this is rank 0, or
  /// nothing.
  sim_workers(const std::string& devices, int threads, std::unique_ptr<wb::ranks> ranks);
  /// Tells ranks that nothing is to come.
  ~sim_workers();

  /// Before the first curve: the scenario that all ranks read, and how long one may take to answer (seconds,
  /// 0: for ever).
  void begin(const wb::scenario& source, double deadline);
  /// What runs the frames of curve `curve` of the scenario.
  wb::runner_maker maker(std::size_t curve);
  wb::machine_info machine() const;

 private:
  std::unique_ptr<wb::ranks> ranks_;
  std::vector<std::unique_ptr<wb::executor>> executors_;
  std::unique_ptr<wb::rank_crew> crew_;
};

/// On the other ranks: runs frames until rank 0 has no more.
void run_rank(wb::ranks& ranks, const std::string& devices, int threads);
