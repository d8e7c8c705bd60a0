#include "queue.hpp"

#include <rte_cycles.h>

#include <algorithm>
#include <type_traits>

namespace wb_bbdev {
namespace {

std::uint32_t bbdev_status(std::uint32_t done) {
  std::uint32_t status = 0;
  if ((done & WB_DONE_REFUSED) != 0) status |= 1u << RTE_BBDEV_DATA_ERROR;
  if ((done & WB_DONE_FAILED) != 0) status |= 1u << RTE_BBDEV_DRV_ERROR;
  if ((done & WB_DONE_SYNDROME) != 0) status |= 1u << RTE_BBDEV_SYNDROME_ERROR;
  if ((done & WB_DONE_CRC) != 0) status |= 1u << RTE_BBDEV_CRC_ERROR;
  return status;
}
constexpr std::uint32_t nothing_written = 1u << RTE_BBDEV_DATA_ERROR | 1u << RTE_BBDEV_DRV_ERROR;

}  // namespace

template <class Kind>
queue<Kind>::queue(harq_memory* memory, std::uint32_t size)
    : queue_base(Kind::type),
      memory_(memory),
      mask_(size - 1),
      depth_(4ull * size + most_blocks),
      entries_(size) {}

template <class Kind>
queue<Kind>::~queue() {
  wb_queue_close(blocks_);
}

template <class Kind>
std::unique_ptr<queue<Kind>> queue<Kind>::open(wb_device* device, harq_memory* memory, std::uint32_t size,
                                               std::uint32_t batch) {
  std::unique_ptr<queue> made(new queue(memory, size));
  wb_queue_config config = WB_QUEUE_CONFIG_INIT;
  config.operation = Kind::operation;
  config.depth = static_cast<std::uint32_t>(made->depth_);
  config.batch = batch;
  if (wb_queue_open(device, &config, &made->blocks_) != WB_OK) return nullptr;
  return made;
}

template <class Kind>
std::uint16_t queue<Kind>::enqueue(op** ops, std::uint16_t n, rte_bbdev_queue_data& data) {
  data.queue_stats.acc_offload_cycles = 0;
  const std::uint64_t entered = entered_.load(std::memory_order_relaxed);
  const std::uint64_t places = entries_.size() - (entered - left_.load(std::memory_order_acquire));
  std::uint64_t room = depth_ - (submitted_ - polled_.load(std::memory_order_acquire));
  const auto submit_gathered = [&](unsigned blocks) {
    const std::uint64_t start = rte_rdtsc_precise();
    submit(blocks);
    data.queue_stats.acc_offload_cycles += rte_rdtsc_precise() - start;
  };

  unsigned blocks = 0;
  std::uint16_t taken = 0;
  rte_bbdev_enqueue_status why = RTE_BBDEV_ENQ_STATUS_NONE;
  for (; taken < n; ++taken) {
    if (taken == places || room < most_blocks) {
      why = RTE_BBDEV_ENQ_STATUS_QUEUE_FULL;
      break;
    }
    if (ops[taken] == nullptr) {
      why = RTE_BBDEV_ENQ_STATUS_INVALID_OP;
      break;
    }
    if (gathered - blocks < most_blocks) {
      submit_gathered(blocks);
      blocks = 0;
    }
    const std::uint64_t place = entered + taken;
    entry& next = entries_[place & mask_];
    next.operation = ops[taken];
    next.planned = describe(Kind::parameters(*ops[taken]), memory_, &gather_[blocks]);
    next.pending.store(next.planned.blocks, std::memory_order_relaxed);
    next.status.store(next.planned.error ? 1u << RTE_BBDEV_DATA_ERROR : 0, std::memory_order_relaxed);
    next.iterations = next.harq_length = 0;
    for (unsigned b = 0; b < next.planned.blocks; ++b) gather_[blocks + b].tag = place;
    blocks += next.planned.blocks;
    room -= next.planned.blocks;
  }
  submit_gathered(blocks);
  entered_.store(entered + taken, std::memory_order_release);

  data.enqueue_status = why;
  data.queue_stats.enqueued_count += taken;
  data.queue_stats.enqueue_err_count += n - taken;
  if (taken < n) ++data.queue_stats.enqueue_status_count[why];
  return taken;
}

template <class Kind>
void queue<Kind>::submit(unsigned blocks) {
  if (blocks == 0) return;
  const std::size_t taken = Kind::submit(blocks_, gather_.data(), blocks, nullptr);
  submitted_ += taken;
  for (std::size_t b = taken; b < blocks; ++b) {  // the device failed
    entry& lost = entries_[gather_[b].tag & mask_];
    lost.status.fetch_or(1u << RTE_BBDEV_DRV_ERROR, std::memory_order_relaxed);
    lost.pending.fetch_sub(1, std::memory_order_release);
  }
}

template <class Kind>
bool queue<Kind>::poll() {
  const std::size_t n = wb_poll(blocks_, done_.data(), done_.size());
  for (std::size_t d = 0; d < n; ++d) {
    entry& e = entries_[done_[d].tag & mask_];
    std::uint32_t status = bbdev_status(done_[d].status);
    if (e.planned.ignore_crc) status &= ~(1u << RTE_BBDEV_CRC_ERROR);
    if (status != 0) e.status.fetch_or(status, std::memory_order_relaxed);
    e.iterations = std::max(e.iterations, done_[d].iterations);
    e.harq_length = done_[d].harq_length;
    e.pending.fetch_sub(1, std::memory_order_release);
  }
  polled_.store(polled_.load(std::memory_order_relaxed) + n, std::memory_order_release);
  return n != 0;
}

template <class Kind>
void queue<Kind>::finish(entry& done) {
  auto& parameters = Kind::parameters(*done.operation);
  std::uint32_t status = done.status.load(std::memory_order_relaxed);
  if constexpr (std::is_same_v<Kind, ldpc_dec>)
    if (done.planned.loopback && status == 0) status |= finish_loopback(parameters, done.planned, *memory_);
  if ((status & nothing_written) == 0 && !done.planned.loopback) {
    set_output(Kind::output(*done.operation), done.planned.bytes);
    if constexpr (requires { parameters.iter_count; })
      parameters.iter_count = static_cast<std::uint8_t>(done.iterations);
    if constexpr (std::is_same_v<Kind, turbo_dec>)
      if (done.planned.soft_bytes != 0) set_output(parameters.soft_output, done.planned.soft_bytes);
    if constexpr (std::is_same_v<Kind, ldpc_dec>)
      if (done.planned.harq_out) {
        if (memory_ != nullptr) {
          memory_->set_length(parameters.harq_combined_output.offset, done.harq_length);
          parameters.harq_combined_output.length = done.harq_length;
        } else {
          set_output(parameters.harq_combined_output, done.harq_length);
        }
      }
  }
  done.operation->status = static_cast<int>(status);
}

template <class Kind>
std::uint16_t queue<Kind>::dequeue(op** ops, std::uint16_t n, rte_bbdev_queue_data& data) {
  const std::uint64_t left = left_.load(std::memory_order_relaxed);
  const std::uint64_t waiting = entered_.load(std::memory_order_acquire) - left;
  const auto wanted = static_cast<std::uint16_t>(std::min<std::uint64_t>(n, waiting));
  std::uint16_t given = 0;
  while (given < wanted) {
    entry& oldest = entries_[(left + given) & mask_];
    if (oldest.pending.load(std::memory_order_acquire) != 0) {
      if (!poll()) break;
      continue;
    }
    finish(oldest);
    if ((oldest.status.load(std::memory_order_relaxed) & nothing_written) != 0)
      ++data.queue_stats.dequeue_err_count;
    ops[given++] = oldest.operation;
  }
  left_.store(left + given, std::memory_order_release);
  data.queue_stats.dequeued_count += given;
  return given;
}

template class queue<ldpc_dec>;
template class queue<ldpc_enc>;
template class queue<turbo_dec>;
template class queue<turbo_enc>;

}  // namespace wb_bbdev
