#include <tests/emulation/emulated_block.hpp>

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace wb::emulation {

index3 thread_index, block_index, block_size, grid_size;
float* shared = nullptr;

namespace {

constexpr std::size_t stack_bytes = 1 << 18;

struct copy {
  void* to;
  const void* from;
  std::size_t bytes;
};
struct fibre {
  ucontext_t begin;
  jmp_buf place;  // where it gave way: unlike swapcontext, a jump makes no system call
  std::unique_ptr<char[]> stack = std::make_unique_for_overwrite<char[]>(stack_bytes);
  bool begun, done;
  const int* waits_for;  // if not null: goes on when this is another number than `seen`
  int seen;
  std::vector<copy> copies;  // begun, and no barrier knows them
};
/// Where threads meet: what they brought last time and this time.
struct meeting {
  int here = 0, times = 0;
  std::uint64_t brought[2][32] = {};
};
struct barrier {
  int arrivals, left, turn, copies;  // copies: of the engine, that have not ended
  int seen;                          // the last turn that a thread knows to be over
};
struct deferred {
  std::vector<copy> copies;
  std::uint64_t* barrier;
  bool by_engine;
};

/// Of the block that runs.
struct state {
  std::vector<fibre> fibres;
  jmp_buf scheduler;
  const std::function<void()>* kernel;
  std::map<std::pair<unsigned, unsigned>, meeting> of_warps;  // by warp and lanes
  std::map<int, meeting> of_block;
  std::map<std::uint64_t*, barrier> barriers;
  std::vector<deferred> later;
  std::mt19937 random;
  std::uint64_t progress = 0;
  std::string failed;
};
state current;

fibre& mine() { return current.fibres[thread_index.x]; }
void give_way() {
  if (_setjmp(mine().place) == 0) _longjmp(current.scheduler, 1);
}
/// Gives way until x is another number.
void wait_for_change(const int& x) {
  mine().waits_for = &x;
  mine().seen = x;
  give_way();
  mine().waits_for = nullptr;
}
/// Runs a fibre until it gives way.
void go_on(fibre& f) {
  if (_setjmp(current.scheduler) != 0) return;
  if (f.begun) _longjmp(f.place, 1);
  f.begun = true;
  setcontext(&f.begin);
}
/// A fibre that failed never goes on: exceptions do not cross contexts.
void fail(const std::string& why) {
  current.failed = why;
  for (;;) give_way();
}
void wait_in(meeting& m, int threads) {
  if (++m.here == threads) {
    m.here = 0;
    m.times++;
    current.progress++;
  } else {
    wait_for_change(m.times);
  }
}
barrier& known(std::uint64_t* b) {
  const auto found = current.barriers.find(b);
  if (found == current.barriers.end()) fail("a barrier is used that nobody made");
  return found->second;
}
void finish(const std::vector<copy>& copies) {
  for (const copy& c : copies) std::memcpy(c.to, c.from, c.bytes);
}
void end_turn(std::uint64_t* b) {
  barrier& x = known(b);
  current.progress++;
  if (x.left > 0 || x.copies > 0) return;
  if (x.seen < x.turn - 1) fail("a turn ends before anyone waited for the one before it");
  x.left = x.arrivals;
  x.turn++;
}
void end_deferred(std::size_t i) {
  const deferred d = std::move(current.later[i]);
  current.later.erase(current.later.begin() + static_cast<std::ptrdiff_t>(i));
  finish(d.copies);
  if (d.by_engine) {
    known(d.barrier).copies--;
    end_turn(d.barrier);
  } else {
    arrive(d.barrier);
  }
}
void body() {
  (*current.kernel)();
  mine().done = true;
  give_way();
}
std::size_t draw(std::size_t below) { return current.random() % below; }

void run_block(unsigned threads) {
  current.of_warps.clear(), current.of_block.clear(), current.barriers.clear(), current.later.clear();
  std::fill_n(shared, shared_bytes / sizeof(float), std::numeric_limits<float>::quiet_NaN());
  for (fibre& f : current.fibres) {
    f.begun = f.done = false;
    f.waits_for = nullptr;
    f.copies.clear();
    getcontext(&f.begin);
    f.begin.uc_stack.ss_sp = f.stack.get();
    f.begin.uc_stack.ss_size = stack_bytes;
    f.begin.uc_link = nullptr;
    makecontext(&f.begin, body, 0);
  }
  std::uint64_t before = current.progress;
  unsigned left = threads;
  int idle = 0;
  // In every other block one warp hardly gets on.
  const std::size_t slow = draw(2 * (threads / 32));
  while (left > 0) {
    const std::size_t warp = draw(threads / 32);
    if (warp == slow && draw(100) != 0) continue;
    const std::size_t rounds = 1 + draw(40), begin = draw(32);
    for (std::size_t r = 0; r < rounds; r++)
      for (std::size_t l = 0; l < 32; l++) {
        const std::size_t t = 32 * warp + (begin + 7 * l) % 32;
        fibre& f = current.fibres[t];
        if (f.done || (f.waits_for != nullptr && *f.waits_for == f.seen)) continue;
        thread_index.x = static_cast<unsigned>(t);
        go_on(f);
        if (f.done) left--;
        if (!current.failed.empty()) throw std::logic_error(current.failed);
      }
    if (draw(3) == 0)
      for (int i = 0; i < 40 && !current.later.empty(); i++) end_deferred(draw(current.later.size()));
    idle = current.progress == before ? idle + 1 : 0;
    before = current.progress;
    if (idle > 20000) throw std::logic_error(std::to_string(left) + " threads of a block wait for ever");
  }
}

}  // namespace

void run(unsigned blocks, unsigned threads, unsigned seed, float* memory,
         const std::function<void()>& kernel) {
  current = {};
  shared = memory;
  current.fibres.resize(threads);
  current.kernel = &kernel;
  current.random.seed(seed);
  block_size.x = threads, grid_size.x = blocks;
  for (block_index.x = 0; block_index.x < blocks; block_index.x++) run_block(threads);
}

const std::uint64_t* exchange(unsigned lanes, std::uint64_t x) {
  const unsigned lane = thread_index.x % 32;
  if ((lanes >> lane & 1) == 0) fail("a lane meets lanes it does not belong to");
  meeting& m = current.of_warps[{thread_index.x / 32, lanes}];
  const int which = m.times & 1;
  m.brought[which][lane] = x;
  wait_in(m, __builtin_popcount(lanes));
  return m.brought[which];
}
void meet(int barrier, int threads) { wait_in(current.of_block[barrier], threads); }
bool any_of_block(bool x) {
  meeting& m = current.of_block[0];
  const int which = m.times & 1;
  if (m.here == 0) m.brought[which][0] = 0;
  if (x) m.brought[which][0] = 1;
  wait_in(m, static_cast<int>(block_size.x));
  return m.brought[which][0] != 0;
}

copy begun(void* to, const void* from, std::size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(to) % 16 != 0 || reinterpret_cast<std::uintptr_t>(from) % 16 != 0 ||
      bytes % 16 != 0 || bytes == 0)
    fail("a copy is not of a multiple of 16 bytes");
  std::memset(to, 0xff, bytes);
  return {to, from, bytes};
}
void copy16(void* to, const void* from) { mine().copies.push_back(begun(to, from, 16)); }
void copy_by_engine(std::uint64_t* b, void* to, const void* from, int bytes) {
  // Later, an arrival may have ended the turn.
  if (known(b).left == 0) fail("a copy begins after all threads of the turn arrived");
  known(b).copies++;
  current.later.push_back({{begun(to, from, static_cast<std::size_t>(bytes))}, b, true});
}
void wait_for_copies() {
  finish(mine().copies);
  mine().copies.clear();
}
void init_barrier(std::uint64_t* b, int arrivals) { current.barriers[b] = {arrivals, arrivals, 0, 0, -1}; }
void arrive(std::uint64_t* b) {
  if (known(b).left == 0) fail("more threads arrive than a turn has arrivals");
  known(b).left--;
  end_turn(b);
}
void arrive_after_copies(std::uint64_t* b) {
  current.later.push_back({std::move(mine().copies), b, false});
  mine().copies.clear();
}
void wait_for_turn(std::uint64_t* b, int turn) {
  for (;;) {
    barrier& x = known(b);
    // A device sees no more than whether an even or an odd turn is over.
    if (turn > x.turn || turn < x.turn - 1) fail("a turn is waited for that looks like another one");
    if (turn < x.turn) {
      x.seen = std::max(x.seen, turn);
      return;
    }
    wait_for_change(x.turn);
  }
}

}  // namespace wb::emulation
