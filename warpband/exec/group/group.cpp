#include <warpband/exec/group/group.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include <warpband/core/as_size.hpp>
#include <warpband/core/error.hpp>
#include <warpband/exec/cuda.hpp>
#include <warpband/exec/group/group_args.hpp>
#include <warpband/exec/group/nccl.hpp>

namespace wb {

WB_DECLARE_KERNEL(group_sum)

namespace {

/// Pieces pass through host memory of the members' process.
class host_carrier final : public group_carrier {
 public:
  explicit host_carrier(std::vector<executor*> members)
      : members_(std::move(members)), staging_(members_.size()) {}
  std::string name() const override { return "host"; }
  void exchange(const std::vector<std::vector<group_piece>>& sends,
                const std::vector<std::vector<group_piece>>& receives) override {
    std::vector<std::vector<const std::byte*>> held(members_.size());  // of each member its pieces
    for (std::size_t m = 0; m < members_.size(); m++) {
      std::size_t bytes = 0;
      for (const group_piece& p : sends[m]) bytes += p.bytes;
      if (staging_[m].size() < bytes) staging_[m] = members_[m]->make_host<std::byte>(1, bytes);
      std::byte* staged = staging_[m].data();
      for (const group_piece& p : sends[m]) {
        on_member(*members_[m], [&] { members_[m]->download(staged, p.data, p.bytes); });
        held[m].push_back(staged);
        staged += p.bytes;
      }
    }
    sync();
    for (std::size_t m = 0; m < members_.size(); m++) {
      std::vector<std::size_t> next(members_.size());  // piece of each peer
      for (const group_piece& p : receives[m]) {
        const std::size_t peer = as_size(p.peer);
        std::size_t& i = next[peer];
        while (as_size(sends[peer][i].peer) != m) i++;
        on_member(*members_[m], [&] { members_[m]->upload(p.data, held[peer][i++], p.bytes); });
      }
    }
    sync();
  }

 private:
  void sync() {
    for (executor* e : members_) on_member(*e, [&] { e->sync(); });
  }

  std::vector<executor*> members_;
  std::vector<array<std::byte>> staging_;  // of each member, as large as its largest exchange
};

/// Pieces are messages between ranks.
class rank_carrier final : public group_carrier {
 public:
  rank_carrier(ranks& world, executor& member, double deadline)
      : all_(world), mine_(member), deadline_(deadline) {}
  std::string name() const override { return "mpi"; }
  void exchange(const std::vector<std::vector<group_piece>>& sends,
                const std::vector<std::vector<group_piece>>& receives) override {
    std::vector<message> held, local;
    for (const group_piece& p : sends[0]) {
      held.emplace_back(p.bytes);
      on_member(mine_, [&] { mine_.download(held.back().data(), p.data, p.bytes); });
    }
    on_member(mine_, [&] { mine_.sync(); });
    for (std::size_t i = 0; i < held.size(); i++) {
      if (sends[0][i].peer == all_.rank())
        local.push_back(std::move(held[i]));
      else
        all_.send(sends[0][i].peer, std::move(held[i]));
    }
    std::vector<message> arrived;  // until they are where they belong
    std::size_t next = 0;
    for (const group_piece& p : receives[0]) {
      arrived.push_back(p.peer == all_.rank() ? std::move(local[next++]) : all_.receive(p.peer, deadline_));
      if (arrived.back().size() != p.bytes)
        throw device_error(all_.name(p.peer) + ": sent " + std::to_string(arrived.back().size()) +
                           " bytes where " + std::to_string(p.bytes) + " were due");
      on_member(mine_, [&] { mine_.upload(p.data, arrived.back().data(), p.bytes); });
    }
    on_member(mine_, [&] { mine_.sync(); });
  }

 private:
  ranks& all_;
  executor& mine_;
  double deadline_;
};

std::unique_ptr<group_carrier> carrier_for(const std::vector<executor*>& members, group_transport transport) {
  if (members.empty()) throw argument_error("members", "0", "at least 1");
  if (std::set<executor*>(members.begin(), members.end()).size() != members.size())
    throw argument_error("members", "an executor twice", "executors of which no two are the same");
  std::vector<cuda*> devices;
  std::set<int> numbers;
  for (executor* e : members)
    if (auto* device = dynamic_cast<cuda*>(e)) {
      devices.push_back(device);
      numbers.insert(device->device().index);
    }
  const bool distinct = numbers.size() == members.size();
  if (transport == group_transport::nccl && !distinct)
    throw argument_error("transport", "nccl", "host, or CUDA devices of which no two are the same");
  if (transport == group_transport::nccl ||
      (transport == group_transport::automatic && distinct && members.size() > 1))
    return make_nccl_carrier(devices);
  return std::make_unique<host_carrier>(members);
}

}  // namespace

const char* name_of(group_transport t) noexcept {
  return t == group_transport::nccl ? "nccl" : t == group_transport::host ? "host" : "automatic";
}

executor_group::executor_group(std::vector<executor*> members, group_transport transport)
    : members_(std::move(members)),
      size_(static_cast<int>(members_.size())),
      carrier_(carrier_for(members_, transport)) {}
executor_group::executor_group(ranks& world, executor& member, double deadline_seconds)
    : members_{&member},
      size_(world.size()),
      first_(world.rank()),
      carrier_(std::make_unique<rank_carrier>(world, member, deadline_seconds)) {}
executor_group::~executor_group() = default;

std::size_t executor_group::share_begin(std::size_t items, int m) const noexcept {
  const std::size_t quotient = items / as_size(size_), more = items % as_size(size_);
  return quotient * as_size(m) + std::min(more, as_size(m));
}
std::size_t executor_group::share(std::size_t items, int m) const noexcept {
  return share_begin(items, m + 1) - share_begin(items, m);
}

void executor_group::exchange(const std::vector<std::vector<group_piece>>& sends,
                              const std::vector<std::vector<group_piece>>& receives) {
  carrier_->exchange(sends, receives);
  for (int i = 0; i < local(); i++)
    for (const group_piece& p : sends[as_size(i)])
      if (p.peer != first_ + i) bytes_sent_ += p.bytes;
}

void executor_group::all_to_all(const std::vector<const void*>& from, const std::vector<void*>& to,
                                std::size_t items, std::size_t bytes) {
  std::vector<std::vector<group_piece>> sends(members_.size()), receives(members_.size());
  for (std::size_t i = 0; i < members_.size(); i++) {
    auto* const source = const_cast<std::byte*>(static_cast<const std::byte*>(from.at(i)));
    auto* const target = static_cast<std::byte*>(to.at(i));
    const std::size_t share_bytes = share(items, first_ + static_cast<int>(i)) * bytes;
    for (int peer = 0; peer < size_; peer++) {
      if (share(items, peer) != 0)
        sends[i].push_back({source + share_begin(items, peer) * bytes, share(items, peer) * bytes, peer});
      if (share_bytes != 0) receives[i].push_back({target + as_size(peer) * share_bytes, share_bytes, peer});
    }
  }
  exchange(sends, receives);
}

void executor_group::all_gather(const std::vector<void*>& data, std::size_t items, std::size_t bytes) {
  std::vector<std::vector<group_piece>> sends(members_.size()), receives(members_.size());
  for (std::size_t i = 0; i < members_.size(); i++) {
    auto* const items_base = static_cast<std::byte*>(data.at(i));
    const auto part = [&](int sender, int peer) {
      return group_piece{items_base + share_begin(items, sender) * bytes, share(items, sender) * bytes, peer};
    };
    const int sender = first_ + static_cast<int>(i);
    for (int peer = 0; peer < size_; peer++) {
      if (peer == sender) continue;
      if (share(items, sender) != 0) sends[i].push_back(part(sender, peer));
      if (share(items, peer) != 0) receives[i].push_back(part(peer, peer));
    }
  }
  exchange(sends, receives);
}

void executor_group::all_reduce(const std::vector<float*>& data, std::size_t values) {
  if (size_ == 1) return;
  std::vector<const void*> from(data.begin(), data.end());
  std::vector<void*> parts, wholes(data.begin(), data.end());
  for (int i = 0; i < local(); i++) {
    const std::size_t count = share(values, first_ + i);
    parts.push_back(
        workspace_.on(member(i), std::max<std::size_t>(count, 1) * as_size(size_) * sizeof(float)));
  }
  all_to_all(from, parts, values, sizeof(float));
  each([&](executor& e, std::size_t i) {
    const int m = first_ + static_cast<int>(i);
    const std::size_t count = share(values, m);
    sum_of_members(e, static_cast<const float*>(parts[i]), size_, count, count,
                   data[i] + share_begin(values, m));
  });
  all_gather(wholes, values, sizeof(float));
}

void executor_group::sync() {
  each([](executor& e, std::size_t) { e.sync(); });
}

void sum_of_members(executor& exec, const float* first, int count, std::size_t distance, std::size_t values,
                    float* out) {
  const group_sum_args args{first, count, distance, values, out};
  exec.run(group_sum_kernels(), &args, values);
}

}  // namespace wb
