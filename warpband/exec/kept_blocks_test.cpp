// Memory that is kept, and what holds keep from being given out again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include <warpband/exec/kept_blocks.hpp>

namespace kept_blocks_test {

using wb::kept_blocks;

/// kept_blocks over malloc, which knows what is allocated.
struct store {
  kept_blocks blocks;
  std::set<void*> allocated;
  int allocations = 0;
  bool full = false;

  void* take(std::size_t bytes) {
    return blocks.take(bytes, [&](std::size_t rounded) -> void* {
      EXPECT_GE(rounded, bytes);
      if (full) return nullptr;
      allocations++;
      return *allocated.insert(std::malloc(rounded)).first;
    });
  }
  void clear() {
    blocks.clear([&](void* p) {
      EXPECT_EQ(allocated.erase(p), 1U);
      std::free(p);
    });
  }
  ~store() {
    clear();
    for (void* p : allocated) std::free(p);
  }
};

TEST(kept_blocks, what_is_given_back_is_given_out_again) {
  store s;
  void* a = s.take(1000);
  void* b = s.take(1000);
  EXPECT_NE(a, b);
  EXPECT_TRUE(s.blocks.give(a, 1000));
  EXPECT_EQ(s.take(1020), a);  // rounded to the same size
  EXPECT_NE(s.take(5000), nullptr);
  EXPECT_EQ(s.allocations, 3);
  EXPECT_TRUE(s.blocks.give(b, 1000));
  s.clear();
  EXPECT_TRUE(s.blocks.empty());
  EXPECT_EQ(s.allocated.count(b), 0U);
}

TEST(kept_blocks, sizes_are_little_too_large) {
  for (std::size_t bytes : {1UL, 511UL, 512UL, 513UL, 5000UL, 123456UL, 1UL << 30, (1UL << 40) + 1}) {
    const std::size_t rounded = kept_blocks::rounded(bytes);
    EXPECT_GE(rounded, bytes);
    EXPECT_LE(rounded, std::max<std::size_t>(bytes + bytes / 4, 1024)) << bytes;
  }
}

TEST(kept_blocks, without_memory_nothing_is_taken) {
  store s;
  s.full = true;
  EXPECT_EQ(s.take(100), nullptr);
  s.full = false;
  EXPECT_NE(s.take(100), nullptr);
}

TEST(kept_blocks, a_hold_keeps_what_was_out_when_it_began) {
  store s;
  void* before = s.take(1000);
  s.blocks.hold();
  void* after = s.take(1000);
  s.blocks.give(before, 1000);
  s.blocks.give(after, 1000);
  EXPECT_EQ(s.take(1000), after);
  void* third = s.take(1000);
  EXPECT_NE(third, before);
  EXPECT_EQ(s.allocations, 3);
  s.clear();
  EXPECT_EQ(s.allocated.count(before), 1U) << "a block that is held was freed";
  s.blocks.release();
  EXPECT_EQ(s.take(1000), before);
}

TEST(kept_blocks, what_was_kept_when_a_hold_began_is_nobodys) {
  store s;
  void* a = s.take(1000);
  s.blocks.give(a, 1000);
  s.blocks.hold();
  EXPECT_EQ(s.take(1000), a);
  s.blocks.give(a, 1000);
  EXPECT_EQ(s.take(1000), a);  // it came after the hold began
  s.blocks.release();
}

TEST(kept_blocks, several_holds_end_with_the_last) {
  store s;
  void* first = s.take(1000);
  s.blocks.hold();
  void* second = s.take(1000);
  s.blocks.hold();
  s.blocks.give(first, 1000);
  s.blocks.give(second, 1000);
  s.blocks.release();
  EXPECT_EQ(s.allocations, 2);
  void* third = s.take(1000);
  EXPECT_TRUE(third != first && third != second);
  s.blocks.release();
  const std::set<void*> reused{s.take(1000), s.take(1000)};
  EXPECT_EQ(reused, (std::set<void*>{first, second}));
  EXPECT_EQ(s.allocations, 3);
}

}  // namespace kept_blocks_test
