#include "sim_workers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <thread>
#include <utility>

#include <warpband/core/error.hpp>
#include <warpband/exec/cuda.hpp>
#include <warpband/link/chain.hpp>

namespace {

/// The device of a rank of this machine: of a list by turns, of "cuda" that of its number.
std::unique_ptr<wb::executor> open_local(const wb::ranks& ranks, const std::string& devices, int threads) {
  const std::vector<std::string> names = devices_in(devices);
  std::string device = names[static_cast<std::size_t>(ranks.local_rank()) % names.size()];
  if (devices == "cuda") {
    const auto found = wb::cuda_devices();
    if (found.empty()) throw wb::device_error("cuda: no device was found on this machine");
    device = fmt::format("cuda:{}", found[static_cast<std::size_t>(ranks.local_rank()) % found.size()].index);
  }
  // The cores of a machine are shared by its ranks.
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return wb::open_executor(device, threads != 0 ? threads : std::max(1, cores / ranks.local_size()));
}

}  // namespace

std::vector<std::string> devices_in(const std::string& list) {
  std::vector<std::string> parts(1);
  for (const char c : list) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

sim_workers::sim_workers(const std::string& devices, int threads, std::unique_ptr<wb::ranks> ranks)
    : ranks_(std::move(ranks)) {
  try {
    if (ranks_)
      executors_.push_back(open_local(*ranks_, devices, threads));
    else
      for (const std::string& d : devices_in(devices)) executors_.push_back(wb::open_executor(d, threads));
  } catch (...) {
    if (ranks_) wb::dismiss(*ranks_);
    throw;
  }
}

sim_workers::~sim_workers() {
  if (ranks_ && !crew_) wb::dismiss(*ranks_);
}

void sim_workers::begin(const wb::scenario& source, double deadline) {
  if (ranks_) crew_ = std::make_unique<wb::rank_crew>(*ranks_, source, deadline);
}

wb::runner_maker sim_workers::maker(std::size_t curve) {
  return
      [this, curve](const wb::link_config& link, std::size_t max_batch) -> std::unique_ptr<wb::frame_runner> {
        if (!crew_ && executors_.size() == 1)
          return std::make_unique<wb::link_chain>(link, *executors_[0], max_batch);
        std::vector<std::unique_ptr<wb::team_member>> members;
        for (const auto& e : executors_) members.push_back(wb::make_local_member(link, *e, max_batch));
        if (crew_)
          for (auto& m : crew_->members(curve, max_batch)) members.push_back(std::move(m));
        return std::make_unique<wb::link_team>(wb::completed(link), std::move(members));
      };
}

wb::machine_info sim_workers::machine() const {
  wb::machine_info m = wb::describe_machine(*executors_[0]);
  for (std::size_t i = 1; i < executors_.size(); i++)
    m = wb::joined(std::move(m), wb::describe_machine(*executors_[i]));
  if (!crew_) return m;
  std::map<std::string, int> counted;
  for (const std::string& device : crew_->devices()) counted[device]++;
  for (const auto& [device, ranks] : counted)
    m.device += fmt::format(" and {} rank{} with {}", ranks, ranks == 1 ? "" : "s", device);
  return m;
}

void run_rank(wb::ranks& ranks, const std::string& devices, int threads) {
  // mpirun passes signals on to all; rank 0 alone decides when a run ends, and says so.
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) std::signal(s, SIG_IGN);
  wb::serve_frames(ranks, [&] { return open_local(ranks, devices, threads); });
}
