#pragma once
// A BBDEV queue. Code blocks of its operations run in a queue of the C library. Operations leave in the order
// in which they entered, each once its last code block is done.
#include <rte_bbdev.h>
#include <rte_bbdev_op.h>
#include <rte_bbdev_pmd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <warpband/c/warpband.h>

#include "harq_memory.hpp"
#include "operations.hpp"

namespace wb_bbdev {

/// What differs between the four operations.
struct ldpc_dec {
  using op = rte_bbdev_dec_op;
  using block = wb_ldpc_decode;
  static constexpr rte_bbdev_op_type type = RTE_BBDEV_OP_LDPC_DEC;
  static constexpr wb_operation operation = WB_LDPC_DECODE;
  static auto& parameters(op& o) { return o.ldpc_dec; }
  static auto& output(op& o) { return o.ldpc_dec.hard_output; }
  static constexpr auto submit = wb_submit_ldpc_decode;
};
struct ldpc_enc {
  using op = rte_bbdev_enc_op;
  using block = wb_ldpc_encode;
  static constexpr rte_bbdev_op_type type = RTE_BBDEV_OP_LDPC_ENC;
  static constexpr wb_operation operation = WB_LDPC_ENCODE;
  static auto& parameters(op& o) { return o.ldpc_enc; }
  static auto& output(op& o) { return o.ldpc_enc.output; }
  static constexpr auto submit = wb_submit_ldpc_encode;
};
struct turbo_dec {
  using op = rte_bbdev_dec_op;
  using block = wb_turbo_decode;
  static constexpr rte_bbdev_op_type type = RTE_BBDEV_OP_TURBO_DEC;
  static constexpr wb_operation operation = WB_TURBO_DECODE;
  static auto& parameters(op& o) { return o.turbo_dec; }
  static auto& output(op& o) { return o.turbo_dec.hard_output; }
  static constexpr auto submit = wb_submit_turbo_decode;
};
struct turbo_enc {
  using op = rte_bbdev_enc_op;
  using block = wb_turbo_encode;
  static constexpr rte_bbdev_op_type type = RTE_BBDEV_OP_TURBO_ENC;
  static constexpr wb_operation operation = WB_TURBO_ENCODE;
  static auto& parameters(op& o) { return o.turbo_enc; }
  static auto& output(op& o) { return o.turbo_enc.output; }
  static constexpr auto submit = wb_submit_turbo_encode;
};

/// Common to all queues, so that the device can release one without its type.
/// Threads: one that enqueues and one that dequeues, also at the same time.
class queue_base {
 public:
  virtual ~queue_base() = default;
  rte_bbdev_op_type type() const noexcept { return type_; }

 protected:
  explicit queue_base(rte_bbdev_op_type type) : type_(type) {}

 private:
  rte_bbdev_op_type type_;
};

template <class Kind>
class queue final : public queue_base {
 public:
  using op = typename Kind::op;
  using block = typename Kind::block;

  /// size: operations that fit, a power of two. batch: code blocks that start without a dequeue. Null, with
  /// wb_last_error(), if the C library has no such queue. Throws std::bad_alloc.
  static std::unique_ptr<queue> open(wb_device* device, harq_memory* memory, std::uint32_t size,
                                     std::uint32_t batch);
  ~queue() override;
  queue(const queue&) = delete;
  queue& operator=(const queue&) = delete;

  /// Takes operations from the first on until the queue is full. Those that contradict themselves are taken
  /// too and leave with an error status.
  std::uint16_t enqueue(op** ops, std::uint16_t n, rte_bbdev_queue_data& data);
  /// Never waits for a GPU.
  std::uint16_t dequeue(op** ops, std::uint16_t n, rte_bbdev_queue_data& data);

 private:
  struct entry {
    op* operation = nullptr;
    plan planned;
    std::atomic<std::uint32_t> pending = 0;  // code blocks that were not polled
    std::atomic<std::uint32_t> status = 0;   // of BBDEV
    std::uint32_t iterations = 0, harq_length = 0;
  };
  static constexpr unsigned gathered = 2 * most_blocks;  // code blocks submitted in one call

  queue(harq_memory* memory, std::uint32_t size);
  void submit(unsigned blocks);
  bool poll();
  void finish(entry& done);

  harq_memory* memory_;
  std::uint32_t mask_;
  std::uint64_t depth_;  // code blocks that fit
  std::vector<entry> entries_;
  wb_queue* blocks_ = nullptr;
  // Of the thread that enqueues.
  alignas(64) std::atomic<std::uint64_t> entered_ = 0;
  std::uint64_t submitted_ = 0;
  std::array<block, gathered> gather_;
  // Of the thread that dequeues.
  alignas(64) std::atomic<std::uint64_t> left_ = 0;
  std::atomic<std::uint64_t> polled_ = 0;
  std::array<wb_done, 64> done_;
};

extern template class queue<ldpc_dec>;
extern template class queue<ldpc_enc>;
extern template class queue<turbo_dec>;
extern template class queue<turbo_enc>;

}  // namespace wb_bbdev
