#pragma once
// What coders of single blocks share: memory of a batch and coders, kept from one batch to the next.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <warpband/core/as_size.hpp>
#include <warpband/exec/executor.hpp>

namespace wb {

/// Memory of a batch that grows and is kept.
/// Threads: one at a time.
template <class T>
class kept_array {
 public:
  /// At least n values. Whether it grew: then its contents are lost.
  template <class Make>
  bool sized(std::size_t n, Make make) {
    if (array_.size() >= n) return false;
    array_ = {};
    array_ = make(n + n / 2);
    return true;
  }
  T* data() { return array_.data(); }
  std::size_t size() const { return array_.size(); }
  void drop() { array_ = {}; }

 private:
  array<T> array_;
};

/// A batch's data between host and executor: an input that is copied, and an output. On a CPU there is
/// nothing to copy. Kernels of a device write a small output to the host's memory themselves, which spares a
/// copy behind them: 4 to 6 us of a batch on an H200. Threads: one at a time.
class batch_memory {
 public:
  /// Starts a batch on `exec`. Memory of an earlier executor is given back.
  void begin(executor& exec) {
    const auto life = exec.life();
    if (life.owner_before(life_) || life_.owner_before(life)) {
      for (auto* kept : {&input_, &output_, &work_, &host_input_, &host_output_}) kept->drop();
      life_ = life;
    }
  }
  void reserve(executor& exec, std::size_t input, std::size_t output, std::size_t work) {
    const auto device = [&](std::size_t n) { return exec.make<std::byte>(1, n); };
    const auto host = [&](std::size_t n) { return exec.make_host<std::byte>(1, n); };
    output_bytes_ = output;
    input_bytes_ = input;
    input_.sized(input, device);
    const bool new_output = output_.sized(output, device), new_work = work_.sized(work, device);
    writes_host_ = false;
    if (!exec.is_device()) return;
    // Outputs are copied as a whole and rows of bits read in words, so gaps have to be initialised.
    if (new_output) exec.fill(output_.data(), 0, output_.size());
    if (new_work) exec.fill(work_.data(), 0, work_.size());
    host_input_.sized(input, host);
    host_output_.sized(output, host);
    writes_host_ = output <= most_written_to_host;
  }
  /// Where the host writes the input and reads the output, and where ops find them.
  std::byte* host_input(const executor& exec) {
    return exec.is_device() ? host_input_.data() : input_.data();
  }
  std::byte* host_output(const executor& exec) {
    return exec.is_device() ? host_output_.data() : output_.data();
  }
  std::byte* input() { return input_.data(); }
  std::byte* output() { return writes_host_ ? host_output_.data() : output_.data(); }
  std::byte* work() { return work_.data(); }
  void upload(executor& exec) { upload(exec, 0, input_bytes_); }
  /// Bytes `first` to before `last` of the input.
  void upload(executor& exec, std::size_t first, std::size_t last) {
    if (exec.is_device() && first < last)
      exec.upload(input_.data() + first, host_input_.data() + first, last - first);
  }
  void download(executor& exec) {
    if (exec.is_device() && !writes_host_) exec.download(host_output_.data(), output_.data(), output_bytes_);
  }

 private:
  static constexpr std::size_t most_written_to_host = 256 << 10;
  std::weak_ptr<const void> life_;
  std::size_t input_bytes_ = 0, output_bytes_ = 0;
  bool writes_host_ = false;
  kept_array<std::byte> input_, output_, work_, host_input_, host_output_;
};

/// Coders by key. Blocks of a batch that share an entry are coded together. At most `capacity` are kept: the
/// one that was not used for longest goes, but none of the batch that is queued. Threads: one at a time.
template <class Key, class Coder>
class coder_cache {
 public:
  static constexpr std::size_t capacity = 256;
  struct entry {
    Key key;
    Coder coder;
    std::uint64_t batch = 0;                        // that used it last
    std::size_t blocks = 0, first = 0, placed = 0;  // of the batch
  };
  /// `make()` where there is none yet. Stays where it is until it goes.
  template <class Make>
  entry& of(const Key& key, std::uint64_t batch, Make make) {
    for (auto& e : entries_)
      if (e->key == key) return used(*e, batch);
    while (entries_.size() >= capacity) {
      const auto oldest = std::min_element(entries_.begin(), entries_.end(),
                                           [](const auto& x, const auto& y) { return x->batch < y->batch; });
      if ((*oldest)->batch == batch) break;
      entries_.erase(oldest);
    }
    entries_.push_back(std::make_unique<entry>(entry{key, make()}));
    return used(*entries_.back(), batch);
  }

 private:
  entry& used(entry& e, std::uint64_t batch) {
    if (e.batch != batch) e.blocks = e.placed = 0;
    e.batch = batch;
    return e;
  }
  std::vector<std::unique_ptr<entry>> entries_;
};

/// Bytes of packed bits.
constexpr std::size_t bytes_of_bits(int bits) { return (as_size(bits) + 7) / 8; }
/// Throws shape_error where `length` is less than `least`, or nothing is there.
inline void check_length(const char* argument, const void* data, std::size_t length, std::size_t least,
                         const char* unit) {
  if (data == nullptr && least != 0) throw shape_error(argument, "null", "data");
  if (length < least)
    throw shape_error(argument, std::to_string(length) + unit, "at least " + std::to_string(least) + unit);
}

/// Throws error where it was moved from.
template <class State>
State& held(const std::unique_ptr<State>& state) {
  if (!state) refuse_moved_from();
  return *state;
}
// `current`: the executor of the batch under way, null between batches.
inline void begin_batch(const executor* current) {
  if (current != nullptr) throw error("a batch is under way: finish() comes before the next start()");
}
/// Waits for the batch and ends it. Throws shape_error where there is not a result for each block.
inline executor& end_batch(executor*& current, std::size_t results, std::size_t blocks) {
  if (current == nullptr) throw error("no batch is under way: start() comes before finish()");
  if (results != blocks)
    throw shape_error("results", std::to_string(results),
                      "one for each of " + std::to_string(blocks) + " blocks");
  executor& exec = *current;
  current = nullptr;
  exec.sync();
  return exec;
}
/// Queues a batch with `queue`. Where that throws, waits for what was queued, since its memory is used again.
template <class F>
void queue_batch(executor& exec, executor*& current, F queue) {
  current = &exec;
  try {
    queue();
  } catch (...) {
    current = nullptr;
    try {
      exec.sync();
    } catch (...) {  // the first error is the one to tell
    }
    throw;
  }
}
inline bool is_done(const executor* current) { return current == nullptr || current->idle(); }

}  // namespace wb
