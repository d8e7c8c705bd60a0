#include <warpband/link/rank_members.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/named.hpp>
#include <warpband/core/packed.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/result.hpp>

namespace wb {
namespace {

enum class order : std::uint8_t { open, run, end };
enum class answer : std::uint8_t { ok, failed };

using writer = packer<message>;
using reader = unpacker<message>;

reader read_back(message bytes) {
  return {std::move(bytes), "a message between ranks is not as it was sent"};
}

void write_counts(writer& out, const frame_counts& c, double seconds) {
  out << seconds << c.bit_errors << c.iterations << c.erased << c.erased_uses << c.codeword_errors
      << c.information_lost << c.transmissions << c.passed << c.outer_bit_errors << c.outer_erased
      << c.outer_codeword_errors;
}
/// What is left of a message.
frame_counts counts_of(reader& in, double& seconds) {
  frame_counts c;
  in >> seconds >> c.bit_errors >> c.iterations >> c.erased >> c.erased_uses >> c.codeword_errors >>
      c.information_lost >> c.transmissions >> c.passed >> c.outer_bit_errors >> c.outer_erased >>
      c.outer_codeword_errors;
  in.finish();
  return c;
}

/// An answer that tells of success; throws what failed, with the rank's name.
reader checked(message bytes, const std::string& name) {
  reader in = read_back(std::move(bytes));
  if (in.get<answer>() == answer::ok) return in;
  throw error(named(name, in.get<std::string>()));
}

class rank_member final : public team_member {
 public:
  rank_member(ranks& world, int rank, double deadline, reader opened)
      : all_(world), rank_(rank), deadline_(deadline) {
    opened >> max_batch_ >> preferred_;
  }
  const std::string& name() const noexcept override { return all_.name(rank_); }
  std::size_t max_batch() const noexcept override { return static_cast<std::size_t>(max_batch_); }
  std::size_t preferred_frames() const override { return static_cast<std::size_t>(preferred_); }
  double seconds() const noexcept override { return seconds_; }
  void begin(std::uint64_t first_frame, std::size_t frames, double point_db) override {
    all_.send(
        rank_,
        (writer() << order::run << first_frame << static_cast<std::uint64_t>(frames) << point_db).take());
  }
  const frame_counts& wait() override {
    reader in = read_back(all_.receive(rank_, deadline_));
    if (in.get<answer>() == answer::failed) throw error(in.get<std::string>());  // the team adds the name
    counts_ = counts_of(in, seconds_);
    return counts_;
  }

 private:
  ranks& all_;
  int rank_;
  double deadline_, seconds_ = 0;
  std::uint64_t max_batch_ = 0, preferred_ = 0;
  frame_counts counts_;
};

/// One of the ranks that run frames.
class server {
 public:
  server(ranks& world, const std::function<std::unique_ptr<executor>()>& open) : all_(world) {
    message bytes = all_.receive(0);
    if (bytes.empty()) {
      dismissed_ = true;
      return;
    }
    reader hello = read_back(std::move(bytes));
    std::string version_there, commit_there;
    hello >> version_there >> commit_there;
    answered([&](writer& out) {
      if (version_there != version() || commit_there != commit())
        throw device_error("is version " + std::string(version()) + " (commit " + commit() + "), rank 0 is " +
                           version_there + " (commit " + commit_there + ")");
      exec_ = open();
      out << exec_->name();
    });
  }

  void serve() {
    while (!dismissed_) {
      reader in = read_back(all_.receive(0));
      const auto request = in.get<order>();
      if (request == order::end) return;
      if (request == order::open)
        answered([&](writer& out) { begin_curve(in, out); });
      else
        run(in);
    }
  }

 private:
  template <class F>
  void answered(const F& work) {
    writer out;
    out << answer::ok;
    try {
      work(out);
    } catch (const std::exception& e) {
      all_.send(0, (writer() << answer::failed << std::string(e.what())).take());
      return;
    }
    all_.send(0, out.take());
  }

  void begin_curve(reader& in, writer& out) {
    std::string keys, file;
    std::uint64_t seed = 0, max_batch = 0;
    in >> keys >> file >> seed >> max_batch;
    config::curve_tree tree;
    tree.keys = config::from_json(keys);
    link_config link = config::curve_of(tree, file).link;
    link.seed = seed;
    chain_.reset();
    chain_.emplace(link, *exec_, static_cast<std::size_t>(max_batch));
    out << static_cast<std::uint64_t>(chain_->max_batch())
        << static_cast<std::uint64_t>(chain_->preferred_frames());
  }

  void run(reader& in) {
    std::uint64_t first = 0, frames = 0;
    double point_db = 0;
    in >> first >> frames >> point_db;
    answered([&](writer& out) {
      const auto start = std::chrono::steady_clock::now();
      const frame_counts& counts = chain_.value().run(first, static_cast<std::size_t>(frames), point_db);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      write_counts(out, counts, seconds);
    });
  }

  ranks& all_;
  std::unique_ptr<executor> exec_;
  std::optional<link_chain> chain_;
  bool dismissed_ = false;
};

}  // namespace

rank_crew::rank_crew(ranks& world, const scenario& source, double deadline_seconds)
    : all_(world), source_(source), deadline_(deadline_seconds) {
  for (int r = 1; r < all_.size(); r++)
    all_.send(r, (writer() << std::string(version()) << std::string(commit())).take());
  std::string failed;
  for (int r = 1; r < all_.size(); r++) {
    try {
      checked(all_.receive(r, deadline_), all_.name(r)) >> devices_.emplace_back();
    } catch (const error& e) {
      if (failed.empty()) failed = e.what();
    }
  }
  if (failed.empty()) return;
  for (int r = 1; r < all_.size(); r++) all_.send(r, (writer() << order::end).take());
  throw device_error(failed);
}

void dismiss(ranks& world) {
  for (int r = 1; r < world.size(); r++) world.send(r, {});
}

rank_crew::~rank_crew() {
  try {
    for (int r = 1; r < all_.size(); r++) all_.send(r, (writer() << order::end).take());
  } catch (const std::exception&) {  // a rank that is gone is told nothing
  }
}

std::vector<std::unique_ptr<team_member>> rank_crew::members(std::size_t curve, std::size_t max_batch) {
  if (curve >= source_.trees.size())
    throw argument_error("curve", std::to_string(curve),
                         "less than " + std::to_string(source_.trees.size()) + ", the number of curves");
  const std::string keys = config::to_json(source_.trees[curve].keys);
  for (int r = 1; r < all_.size(); r++)
    all_.send(r, (writer() << order::open << keys << source_.file << source_.curves[curve].link.seed
                           << static_cast<std::uint64_t>(max_batch))
                     .take());
  std::vector<std::unique_ptr<team_member>> members;
  std::string failed;
  for (int r = 1; r < all_.size(); r++) {
    try {
      members.push_back(std::make_unique<rank_member>(all_, r, deadline_,
                                                      checked(all_.receive(r, deadline_), all_.name(r))));
    } catch (const error& e) {
      if (failed.empty()) failed = e.what();
    }
  }
  if (!failed.empty()) throw error(failed);
  return members;
}

void serve_frames(ranks& world, const std::function<std::unique_ptr<executor>()>& open) {
  server(world, open).serve();
}

message pack_counts(const frame_counts& counts, double seconds) {
  writer out;
  write_counts(out, counts, seconds);
  return out.take();
}

frame_counts unpack_counts(const message& bytes, double& seconds) {
  reader in = read_back(bytes);
  return counts_of(in, seconds);
}

}  // namespace wb
