// Rings in shared memory (exec/ring.hpp) in emulated blocks: consumers read what producers put there, in any
// order in which warps and copies may run, and wrong uses are seen.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#define WB_EMULATED_ENGINE true
#define WB_ISA emulated_ring
#define WB_WIDTH 1
// clang-format off
#include <tests/emulation/cuda_words.hpp>
#include <warpband/exec/ring.hpp>
#include <warpband/exec/warp_roles.hpp>
// clang-format on

namespace wb {
inline namespace WB_ISA {
alignas(128) float shared[emulation::shared_bytes / sizeof(float)];
}
}  // namespace wb

namespace {

using namespace wb;

constexpr int stage_floats = 64, most_stages = 8;
enum class filling { engine, copies, stores };

/// Warps 0 .. producers - 1 fill stages, the others read them. If `in_turn`, each item has one producer and
/// one consumer; otherwise all work on all items. An item takes `parts` stages.
struct ring_use {
  filling by;
  int stages, producers, consumers, items, parts;
  bool in_turn;
  bool waits_in_turn, releases;  // false: as it must not be

  int warps() const { return producers + consumers; }
  std::string name() const {
    return "filling " + std::to_string(static_cast<int>(by)) + ", stages " + std::to_string(stages) +
           ", producers " + std::to_string(producers) + ", consumers " + std::to_string(consumers) +
           ", parts " + std::to_string(parts) + (in_turn ? ", in turn" : "");
  }
};

/// Value `i` of part `part` of an item.
float value_of(int item, int part, int i) { return static_cast<float>(1000 * item + 100 * part + i); }
std::vector<float4> source_of(const ring_use& use) {
  std::vector<float4> source(static_cast<std::size_t>(use.items * use.parts * stage_floats / 4));
  auto* to = reinterpret_cast<float*>(source.data());
  for (int item = 0; item < use.items; item++)
    for (int part = 0; part < use.parts; part++)
      for (int i = 0; i < stage_floats; i++) *to++ = value_of(item, part, i);
  return source;
}

void produce(const ring& r, const ring_use& use, const float* source, int producer) {
  const int lane = static_cast<int>(threadIdx.x) % 32, step = use.in_turn ? use.producers : 1;
  // Where several producers fill a stage together, each writes other pieces.
  const int piece = use.in_turn ? lane : lane + 32 * producer, pieces = use.in_turn ? 32 : 32 * use.producers;
  const int begin = use.in_turn ? producer : 0;
  ring_position first{use.parts * begin};
  for (int item = begin; item < use.items; item += step) {
    for (int part = 0; part < use.parts; part++) {
      const ring_position position = r.after(first, part);
      const float* from = source + (item * use.parts + part) * stage_floats;
      float* const to = r[position.stage];
      const bool touches = use.by != filling::engine || lane == 0;
      if (touches && use.in_turn && use.waits_in_turn)
        r.acquire_in_turn(position);
      else if (touches)
        r.acquire(position);
      if (use.by == filling::engine) {
        if (touches) {
          r.copy(position, to, from, 3 * 16);
          r.copy(position, to + 12, from + 12, 4 * stage_floats - 3 * 16);
          r.commit(position);
        }
      } else if (use.by == filling::copies) {
        for (int i = piece; i < stage_floats / 4; i += pieces)
          async_copies::copy16(async_copies::address(to + 4 * i), from + 4 * i);
        r.commit_copies(position);
      } else {
        for (int i = piece; i < stage_floats; i += pieces) to[i] = from[i];
        r.commit(position);
      }
      __syncwarp();
    }
    r.advance(first, use.parts * step);
  }
}
void consume(const ring& r, const ring_use& use, std::vector<int>& wrong, int consumer) {
  const int lane = static_cast<int>(threadIdx.x) % 32, step = use.in_turn ? use.consumers : 1;
  const int begin = use.in_turn ? consumer : 0;
  ring_position first{use.parts * begin};
  for (int item = begin; item < use.items; item += step) {
    for (int part = 0; part < use.parts; part++) {
      const ring_position position = r.after(first, part);
      if (use.in_turn && use.waits_in_turn)
        r.wait_in_turn(position);
      else
        r.wait(position);
      for (int i = lane; i < stage_floats; i += 32)
        wrong[static_cast<std::size_t>(item)] += r[position.stage][i] != value_of(item, part, i);
      if (use.releases) r.release(position);
      __syncwarp();
    }
    r.advance(first, use.parts * step);
  }
}

/// Values that a consumer did not find.
int wrong_values(const ring_use& use, unsigned seed) {
  const std::vector<float4> source = source_of(use);
  std::vector<int> wrong(static_cast<std::size_t>(use.items));
  emulation::run(1, static_cast<unsigned>(32 * use.warps()), seed, shared, [&] {
    const ring r{shared + 2 * 2 * most_stages, reinterpret_cast<std::uint64_t*>(shared), use.stages,
                 stage_floats};
    const int per_phase = use.in_turn ? 1 : use.producers;
    r.init(use.by == filling::engine ? 1 : 32 * per_phase, 32 * (use.in_turn ? 1 : use.consumers));
    __syncthreads();
    const int warp = warp_of_block();
    if (warp < use.producers)
      produce(r, use, reinterpret_cast<const float*>(source.data()), warp);
    else
      consume(r, use, wrong, warp - use.producers);
  });
  int total = 0;
  for (const int w : wrong) total += w;
  return total;
}

TEST(emulated_ring, consumers_read_what_producers_wrote) {
  for (const filling by : {filling::engine, filling::copies, filling::stores})
    for (const int stages : {1, 2, 3, 5})
      for (const int producers : {1, 2})
        for (const int consumers : {1, 3})
          for (const int parts : {1, 2}) {
            if (parts > stages || (by == filling::engine && producers > 1)) continue;
            const ring_use use{by, stages, producers, consumers, 13, parts, false, true, true};
            SCOPED_TRACE(use.name());
            for (unsigned seed = 0; seed < 4; seed++) EXPECT_EQ(wrong_values(use, seed), 0) << seed;
          }
}

// Of two producers and two consumers: who fills and who reads a stage changes from phase to phase if their
// number does not divide that of the stages.
TEST(emulated_ring, stages_change_hands) {
  for (const filling by : {filling::engine, filling::copies, filling::stores})
    for (const int stages : {3, 4, 5})
      for (const int producers : {1, 2})
        for (const int consumers : {1, 2})
          for (const int parts : {1, 2}) {
            if (2 * parts > stages || (producers == 2 && by != filling::stores)) continue;
            const ring_use use{by, stages, producers, consumers, 17, parts, true, true, true};
            SCOPED_TRACE(use.name());
            for (unsigned seed = 0; seed < 4; seed++) EXPECT_EQ(wrong_values(use, seed), 0) << seed;
          }
}

TEST(emulated_ring, wrong_uses_are_seen) {
  // Nobody releases: the producer waits for ever.
  const ring_use held{filling::stores, 2, 1, 1, 5, 1, false, true, false};
  EXPECT_THROW(wrong_values(held, 1), std::logic_error);
  // Two producers in turn that do not wait in turn: in some order one sees the parity of an older phase.
  const ring_use hasty{filling::stores, 3, 2, 2, 40, 1, true, false, true};
  int seen = 0;
  for (unsigned seed = 0; seed < 20; seed++) {
    try {
      seen += wrong_values(hasty, seed) != 0;
    } catch (const std::logic_error&) {
      seen++;
    }
  }
  EXPECT_GT(seen, 0);
}

TEST(emulated_ring, positions_go_round) {
  const ring r{nullptr, nullptr, 5, 0};
  ring_position position{3};
  EXPECT_EQ(r.after(position, 1).stage, 4);
  EXPECT_EQ(r.after(position, 2).stage, 0);
  EXPECT_EQ(r.after(position, 2).phase, 1);
  EXPECT_EQ(r.once_more(position).stage, 3);
  EXPECT_EQ(r.once_more(position).phase, 1);
  r.advance(position, 5);
  EXPECT_EQ(position.stage, 3);
  EXPECT_EQ(position.phase, 1);
  r.advance(position, 4, 3);
  EXPECT_EQ(position.stage, 2);
  EXPECT_EQ(position.phase, 4);
}

}  // namespace
