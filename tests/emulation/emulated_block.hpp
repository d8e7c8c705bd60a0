#pragma once
// A CUDA thread block on one thread of the host. Its threads are fibres, which switch only at barriers and
// waits. The next warp is drawn at random, one warp may be much slower than the others, and copies end in any
// order. So a seed is one of the many orders that a device may take.
#include <cstddef>
#include <cstdint>
#include <functional>

namespace wb::emulation {

struct index3 {
  unsigned x = 0, y = 0, z = 0;
};
extern index3 thread_index, block_index, block_size, grid_size;

/// Shared memory of the block, that of an H100; not a number anywhere when a block begins.
inline constexpr std::size_t shared_bytes = 232448;
extern float* shared;

/// Runs `kernel` for all threads of all blocks, one block after the other, with `shared_bytes` of shared
/// memory at `memory`. Throws std::logic_error if threads wait for ever, if a barrier gets more arrivals than
/// it was made for, or if a phase ends before a thread has waited for the one before it. So it does if a
/// thread waits for a phase whose parity is that of another one.
void run(unsigned blocks, unsigned threads, unsigned seed, float* memory,
         const std::function<void()>& kernel);

/// Whether the device has an engine that copies (cp.async.bulk).
#if defined(WB_EMULATED_ENGINE)
inline constexpr bool engine = WB_EMULATED_ENGINE;
#endif

// For the thread that runs.

/// x of all lanes of a warp in `lanes`, which meet.
const std::uint64_t* exchange(unsigned lanes, std::uint64_t x);
/// `threads` threads of the block meet; barriers have numbers.
void meet(int barrier, int threads);
/// Whether x is true for any thread of the block; all meet.
bool any_of_block(bool x);

/// Starts to copy 16 bytes; what is there before it ends is not a number.
void copy16(void* to, const void* from);
void wait_for_copies();
/// Starts to copy, which the barrier's turn waits for: before all of that turn arrived.
void copy_by_engine(std::uint64_t* barrier, void* to, const void* from, int bytes);
void init_barrier(std::uint64_t* barrier, int arrivals);
void arrive(std::uint64_t* barrier);
void arrive_after_copies(std::uint64_t* barrier);
void wait_for_turn(std::uint64_t* barrier, int turn);

}  // namespace wb::emulation
