// How ops run: the thread pool, memory, the choice of instruction set, loads and stores at the edges of a
// batch.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tests/core_args.hpp>
#include <tests/on_backends.hpp>
#include <warpband/exec/forwarding.hpp>
#include <warpband/exec/pool.hpp>

namespace wb {
WB_DECLARE_KERNEL(copy_test)
WB_DECLARE_KERNEL(group_test)
}  // namespace wb

namespace exec_test {

using wb::layout;
using wb::testing::blamed;
using wb::testing::on_device;

/// Does nothing, without scratch memory.
const wb::kernel idle{"",
                      1,
                      [](const void*, const wb::device_limits&, std::size_t) { return std::size_t{0}; },
                      [](const void*) { return 1.0; },
                      [](const void*) { return 1.0; },
                      [](const void*) { return std::size_t{1}; },
                      [](const void*, const wb::place&) { return 0; }};

// ---------------------------------------------------------------------------------------------- thread pool

TEST(thread_pool, covers_each_index_exactly_once) {
  for (const int threads : {1, 2, 3, 8}) {
    wb::thread_pool pool(threads);
    ASSERT_EQ(pool.threads(), threads);
    for (const std::size_t items : {0, 1, 2, 7, 8, 9, 63, 1000, 1001})
      for (const std::size_t grain : {1, 3, 8, 64, 5000}) {
        std::vector<std::atomic<int>> visits(items);
        std::atomic<int> too_long = 0, bad_thread = 0, empty = 0;
        pool.for_each_piece(items, grain, [&](int thread, std::size_t first, std::size_t last) {
          if (thread < 0 || thread >= threads) bad_thread++;
          if (first >= last || last > items) {
            empty++;
            return;
          }
          // A pool of one gets everything at once.
          if (last - first > grain && threads > 1) too_long++;
          for (std::size_t i = first; i < last; i++) visits[i]++;
        });
        EXPECT_EQ(too_long, 0);
        EXPECT_EQ(bad_thread, 0);
        EXPECT_EQ(empty, 0);
        for (std::size_t i = 0; i < items; i++)
          ASSERT_EQ(visits[i], 1) << i << " of " << items << ", grain " << grain << ", threads " << threads;
      }
  }
}

TEST(thread_pool, begins_no_further_piece_once_told_to_stop) {
  for (const int threads : {1, 4}) {
    wb::thread_pool pool(threads);
    std::atomic<int> visits = 0;
    int asked = 0;
    const auto visit = [&](int, std::size_t first, std::size_t last) {
      visits += static_cast<int>(last - first);
    };
    EXPECT_TRUE(pool.for_each_piece(100, 1, visit, [] { return false; }));
    EXPECT_EQ(visits, 100);
    EXPECT_FALSE(pool.for_each_piece(100, 1, visit, [&] { return ++asked == 1; }));
    EXPECT_EQ(asked, 1);
    EXPECT_TRUE(threads > 1 || visits == 100);
    visits = 0;
    EXPECT_TRUE(pool.for_each_piece(100, 1, visit));  // and is whole again
    EXPECT_EQ(visits, 100);
  }
}

TEST(thread_pool, survives_many_rounds) {
  wb::thread_pool pool(4);
  const int rounds = wb::testing::small_scale() ? 300 : 20000;
  std::vector<int> sums(101);  // plain integers: a round must be over, and seen, before the next begins
  for (int r = 0; r < rounds; r++)
    pool.for_each_piece(sums.size(), 1 + static_cast<std::size_t>(r % 7),
                        [&](int, std::size_t first, std::size_t last) {
                          for (std::size_t i = first; i < last; i++) sums[i]++;
                        });
  for (const int s : sums) EXPECT_EQ(s, rounds);
}

TEST(thread_pool, gives_each_running_thread_its_own_index) {
  wb::thread_pool pool(4);
  std::vector<std::atomic<int>> inside(4);
  std::atomic<int> clashes = 0;
  for (int r = 0; r < 200; r++)
    pool.for_each_piece(64, 1, [&](int thread, std::size_t, std::size_t) {
      if (inside[static_cast<std::size_t>(thread)]++ != 0) clashes++;
      inside[static_cast<std::size_t>(thread)]--;
    });
  EXPECT_EQ(clashes, 0);
}

TEST(thread_pool, a_second_thread_is_refused_while_one_runs) {
  for (const int threads : {1, 3}) {
    wb::thread_pool pool(threads);
    std::string message;
    pool.for_each_piece(1, 1, [&](int, std::size_t, std::size_t) {
      std::thread([&] {
        try {
          pool.for_each_piece(10, 1, [](int, std::size_t, std::size_t) {});
        } catch (const wb::error& e) {
          message = e.what();
        }
      }).join();
    });
    EXPECT_EQ(message, "two threads use one executor at once: give each thread its own");
    std::atomic<int> calls = 0;
    pool.for_each_piece(
        10, 1, [&](int, std::size_t first, std::size_t last) { calls += static_cast<int>(last - first); });
    EXPECT_EQ(calls, 10);  // one after the other is fine
  }
}

TEST(thread_pool, a_refused_call_leaves_the_scratch_memory_of_the_running_one) {
  static wb::cpu* shared = nullptr;
  static std::string message;
  static std::atomic<int> asked = 0;
  static wb::kernel large = idle;
  large.scratch = [](const void*, const wb::device_limits&, std::size_t) {
    asked++;
    return std::size_t{1} << 20;
  };
  static const wb::kernel_set large_set{"large", {&large, &large, &large, &large}, nullptr};
  wb::kernel small = large;
  small.scratch = [](const void*, const wb::device_limits&, std::size_t) { return std::size_t{64}; };
  small.run = [](const void*, const wb::place& where) {
    std::thread([] {
      try {
        shared->run(large_set, nullptr, 1);
      } catch (const wb::error& e) {
        message = e.what();
      }
    }).join();
    std::memset(where.scratch, 1, 64);  // which the second call must not have replaced
    return 0;
  };
  const wb::kernel_set small_set{"small", {&small, &small, &small, &small}, nullptr};
  wb::cpu exec({.threads = 1});
  shared = &exec;
  exec.run(small_set, nullptr, 1);
  EXPECT_EQ(message, "two threads use one executor at once: give each thread its own");
  EXPECT_EQ(asked, 0);
  exec.run(large_set, nullptr, 1);
  EXPECT_EQ(asked, 1);
}

TEST(thread_pool, a_fork_is_told_that_the_threads_stayed_behind) {
  wb::kernel costly = idle;
  costly.flops = [](const void*) { return 1e6; };  // pieces of one item, for all threads
  const wb::kernel_set costly_set{"costly", {&costly, &costly, &costly, &costly}, nullptr};
  auto exec = std::make_unique<wb::cpu>(wb::cpu_options{.threads = 2});
  wb::thread_pool pool(2);
  // All threads take part in each call. A thread that is only starting may hold locks of AddressSanitizer's
  // allocator, which nobody would release in the fork.
  exec->run(costly_set, nullptr, 10);
  pool.for_each_piece(10, 1, [](int, std::size_t, std::size_t) {});
  const pid_t child = fork();
  if (child == 0) {
    int code = 1;
    try {
      pool.for_each_piece(10, 1, [](int, std::size_t, std::size_t) {});
    } catch (const wb::device_error& e) {
      if (std::string(e.what()).starts_with("this process is a fork")) code = 7;
    }
    exec.reset();            // waits for nobody
#ifndef __SANITIZE_THREAD__  // which starts no threads in a fork
    wb::thread_pool local_pool(2);
    local_pool.for_each_piece(10, 1, [](int, std::size_t, std::size_t) {});
#endif
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  pool.for_each_piece(10, 1, [](int, std::size_t, std::size_t) {});  // here they are
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which need more address space
/// Under a bound of memory some of the threads start: those end, and the process goes on with fewer.
TEST(thread_pool, threads_that_do_not_start_are_an_error) {
  const pid_t child = fork();
  if (child == 0) {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit bound{};
    getrlimit(RLIMIT_AS, &bound);
    bound.rlim_cur = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + (std::size_t{200} << 20);
    if (setrlimit(RLIMIT_AS, &bound) != 0) _exit(3);
    for (int round = 0; round < 3; round++) try {
        wb::cpu many({.threads = 512, .instructions = {}});
        _exit(4);
      } catch (const wb::device_error& e) {
        if (std::string(e.what()) != "the system does not start 512 threads: ask for fewer") _exit(5);
      }
    wb::thread_pool few(2);
    std::atomic<int> visits{0};
    few.for_each_piece(
        100, 1, [&](int, std::size_t first, std::size_t last) { visits += static_cast<int>(last - first); });
    _exit(visits == 100 ? 0 : 6);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0);
}
#endif

TEST(thread_pool, starts_and_stops) {
  for (int i = 0; i < 50; i++) {
    std::atomic<int> visits = 0;
    {
      wb::thread_pool pool(3);
      if (i % 2 == 0)
        pool.for_each_piece(5, 1, [&](int, std::size_t first, std::size_t last) {
          visits += static_cast<int>(last - first);
        });
    }
    EXPECT_EQ(visits, i % 2 == 0 ? 5 : 0);
  }
}

// ---------------------------------------------------------------------------------------------------- views

TEST(view, strides_of_the_layouts) {
  std::vector<int> values(12);
  std::iota(values.begin(), values.end(), 0);
  const auto element_of = [](const wb::view<int>& v, std::size_t item, std::size_t element) {
    return v.data[element * v.element_stride + item * v.item_stride];
  };
  const auto rows = wb::make_view(values.data(), 3, 4);
  EXPECT_EQ(rows.elements, 4U);
  EXPECT_EQ(rows.items, 3U);
  EXPECT_EQ(element_of(rows, 2, 1), 9);
  const auto columns = wb::make_view(values.data(), 3, 4, layout::batch_fastest);
  EXPECT_EQ(columns.elements, 4U);
  EXPECT_EQ(columns.items, 3U);
  EXPECT_EQ(element_of(columns, 2, 1), 5);
  const auto line = wb::make_view(values.data(), 12);
  EXPECT_EQ(line.elements, 1U);
  EXPECT_EQ(line.items, 12U);
  EXPECT_EQ(element_of(line, 7, 0), 7);
  const wb::view<const int> read_only = columns;
  EXPECT_EQ(read_only.data, columns.data);
  EXPECT_EQ(read_only.element_stride, columns.element_stride);
  EXPECT_EQ(read_only.item_stride, columns.item_stride);
}

// ---------------------------------------------------------------------------------------- executors, memory

class execution : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(execution);

TEST_P(execution, names_itself) {
  const std::string name = GetParam().name;
  if (name.starts_with("cuda")) {
    EXPECT_EQ(exec().name(), name);
  } else {
    EXPECT_EQ(exec().name(), "cpu");
    EXPECT_EQ(exec().description(), name + ", 1 thread");
    EXPECT_EQ(GetParam().open(3)->description(), name + ", 3 threads");
  }
  const wb::kernel& k = exec().build_of(wb::copy_test_kernels());
  EXPECT_EQ(std::string(k.isa), name.starts_with("cuda") ? "cuda_device" : name);
  EXPECT_GE(exec().preferred_items(), static_cast<std::size_t>(k.lanes));
  EXPECT_GE(exec().preferred_blocks(), 1U);
}

TEST_P(execution, a_second_thread_is_refused_while_one_runs) {
  static wb::executor* shared = nullptr;
  static std::string message;
  static const wb::kernel_set inner_set{"inner", {&idle, &idle, &idle, &idle}, &idle};
  wb::kernel outer = idle;
  outer.run = [](const void*, const wb::place&) {
    std::thread([] {
      try {
        shared->run(inner_set, nullptr, 1);
      } catch (const wb::error& e) {
        message = e.what();
      }
    }).join();
    return 0;
  };
  const wb::kernel_set outer_set{"outer", {&outer, &outer, &outer, &outer}, &outer};
  shared = &exec();
  message.clear();
  exec().run(outer_set, nullptr, 1);
  EXPECT_EQ(message, "two threads use one executor at once: give each thread its own");
  EXPECT_NO_THROW(exec().run(inner_set, nullptr, 1));
}

TEST_P(execution, arrays_keep_their_values_through_moves) {
  const std::vector<int> values{1, 2, 3, 4, 5, 6};
  auto a = on_device(exec(), values, 2, 3);
  const int* data = a.data();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0U);
  EXPECT_EQ(a.elements(), 3U);
  EXPECT_EQ(a.items(), 2U);
  EXPECT_EQ(a.size(), 6U);
  EXPECT_EQ(a.bytes(), 24U);

  wb::array<int> b = std::move(a);
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(a.data(), nullptr);
  EXPECT_EQ(a.size(), 0U);
  auto c = exec().make<int>(1, 1);
  c = std::move(b);
  EXPECT_EQ(c.data(), data);
  EXPECT_EQ(b.data(), nullptr);
  wb::array<int>& same = c;
  c = std::move(same);
  EXPECT_EQ(c.data(), data);
  EXPECT_EQ(exec().to_host(c), values);

  const wb::view<int> v = c;
  EXPECT_EQ(v.elements, 3U);
  EXPECT_EQ(v.items, 2U);
  EXPECT_EQ(v.item_stride, 3U);
  const wb::view<int> w = exec().make<int>(2, 3, layout::batch_fastest);
  EXPECT_EQ(w.element_stride, 2U);
  EXPECT_EQ(w.item_stride, 1U);
}

TEST_P(execution, fills_bytes_and_makes_zeros) {
  auto a = exec().make<std::uint8_t>(3, 7);
  exec().fill(a.data(), 0xa5, a.bytes());
  exec().fill(a.data() + 7, 0, 7);
  exec().fill(a.data(), 1, 0);
  std::vector<std::uint8_t> expected(21, 0xa5);
  std::fill_n(expected.begin() + 7, 7, std::uint8_t{0});
  EXPECT_EQ(exec().to_host(a), expected);
  EXPECT_EQ(exec().to_host(exec().make_zeros<float>(5, 3)), std::vector<float>(15));
  EXPECT_EQ(exec().make_zeros<float>(0, 3).size(), 0U);
}

TEST_P(execution, times_what_is_queued_and_waits_for_others) {
  const auto timer = exec().make_timer();
  auto a = exec().make<std::uint8_t>(1, 1 << 20);
  for (int round = 0; round < 2; round++) {
    timer->hold();
    timer->start();
    exec().fill(a.data(), 3, a.bytes());
    timer->stop();
    timer->release();
    EXPECT_GE(timer->seconds(), 0);
  }
  const auto other = GetParam().open(1);
  other->fill(a.data(), 5, a.bytes());
  exec().wait_for(*other);
  EXPECT_EQ(exec().to_host(a), std::vector<std::uint8_t>(1 << 20, 5));
  EXPECT_TRUE(other->idle());
  EXPECT_TRUE(exec().idle());
  EXPECT_EQ(exec().memory_used() > 0, exec().is_device());
}

TEST_P(execution, a_forwarding_executor_is_another_one_in_its_place) {
  wb::forwarding_executor forwards(exec());
  EXPECT_EQ(forwards.name(), exec().name());
  EXPECT_EQ(forwards.description(), exec().description());
  EXPECT_EQ(forwards.is_device(), exec().is_device());
  EXPECT_EQ(forwards.preferred_items(), exec().preferred_items());
  EXPECT_EQ(forwards.preferred_blocks(), exec().preferred_blocks());
  EXPECT_EQ(&forwards.build_of(wb::copy_test_kernels()), &exec().build_of(wb::copy_test_kernels()));
  const auto copy = forwards.make_from(std::vector<int>{1, 2, 3});
  forwards.sync();
  EXPECT_TRUE(forwards.idle());
  EXPECT_EQ(exec().to_host(copy), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(forwards.to_host(copy), (std::vector<int>{1, 2, 3}));
}

TEST_P(execution, arrays_outlive_their_executor) {
  std::optional<wb::array<int>> device, host;
  {
    const auto other = GetParam().open();
    device = on_device(*other, std::vector<int>{1, 2, 3}, 1, 3);
    host = other->make_host<int>(1, 3);
  }
  for (std::size_t i = 0; i < 3; i++)
    host->data()[i] = static_cast<int>(i) + 7;  // host memory stays writable
  EXPECT_EQ(host->data()[2], 9);
  EXPECT_EQ(exec().to_host(*device), (std::vector<int>{1, 2, 3}));
}

TEST_P(execution, empty_arrays_and_empty_batches) {
  auto none = exec().make<float>(0, 4);
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_TRUE(exec().to_host(none).empty());
  EXPECT_TRUE(exec().to_host(exec().make_from(std::vector<int>{})).empty());
  const wb::copy_args args{none, none, {}, {}, {}};
  exec().run(wb::copy_test_kernels(), &args, 0);
  EXPECT_NO_THROW(exec().sync());
}

TEST_P(execution, absurd_sizes_throw_and_leave_it_usable) {
  const std::size_t max_size = SIZE_MAX;
  EXPECT_THROW(exec().make<double>(1, max_size / 8 + 1), wb::memory_error);  // more bytes than a size can say
  EXPECT_THROW(exec().make<double>(3, max_size / 16), wb::memory_error);
  EXPECT_THROW(exec().make<char>(1, std::size_t{1} << 60), wb::memory_error);
  for (const std::size_t off : {0, 1, 63, 64, 511, 100000})  // rounding up to whole blocks must not wrap
    EXPECT_THROW(exec().make<char>(1, max_size - off), wb::memory_error) << off;
  EXPECT_THROW(exec().make_host<char>(1, max_size - 10), wb::memory_error);
  EXPECT_THROW(exec().make_host<char>(1, std::size_t{1} << 60), wb::memory_error);
  try {
    exec().make<char>(1, std::size_t{1} << 60);
  } catch (const wb::memory_error& e) {
    EXPECT_GE(e.bytes(), std::size_t{1} << 60);
    EXPECT_NE(std::string(e.what()).find("out of memory"), std::string::npos);
  }
  const auto a = on_device(exec(), std::vector<int>{4, 5}, 1, 2);
  EXPECT_EQ(exec().to_host(a), (std::vector<int>{4, 5}));
}

TEST_P(execution, kept_memory_makes_room) {
  if (!GetParam().name.starts_with("cuda")) GTEST_SKIP() << "the heap is the leak checker's (preset asan)";
  // One array at a time, each larger than all before: together more than any device has, so that what is kept
  // for reuse must be let go.
  for (std::size_t i = 0; i < 400; i++) {
    const auto a = exec().make<char>(1, (std::size_t{1} << 28) + (i << 23));
    ASSERT_NE(a.data(), nullptr);
  }
}

TEST_P(execution, resident_tables_are_copied_once_per_executor) {
  const std::vector<int> values{3, 1, 4, 1, 5};
  const wb::resident<int> table(values);
  const wb::resident<int> shared = table;
  EXPECT_EQ(table.host(), values);
  const int* first = table.on(exec());
  EXPECT_EQ(table.on(exec()), first);
  EXPECT_EQ(shared.on(exec()), first);
  EXPECT_NE(first, values.data());

  const auto other = GetParam().open();
  const int* theirs = table.on(*other);
  EXPECT_NE(theirs, first);
  EXPECT_EQ(table.on(exec()), first);
  for (const int* copy : {first, theirs}) {
    std::vector<int> back(values.size());
    exec().download(back.data(), copy, back.size() * sizeof(int));
    exec().sync();
    EXPECT_EQ(back, values);
  }
}

TEST(cuda_event, tells_microseconds_between_two_places) {
  if (wb::cuda_devices().empty()) GTEST_SKIP() << "no CUDA device here";
  wb::cuda exec;
  constexpr std::size_t bytes = 50'000'000;  // half a millisecond at least
  const auto from = exec.make_host<std::byte>(1, bytes);
  auto to = exec.make<std::byte>(1, bytes);
  wb::cuda_event begun(0, true), ended(0, true), untimed(0);
  exec.upload(to.data(), from.data(), bytes);
  exec.sync();
  const auto start = std::chrono::steady_clock::now();
  begun.record(exec);
  exec.upload(to.data(), from.data(), bytes);
  ended.record(exec);
  untimed.record(exec);
  exec.sync();
  const std::chrono::duration<double, std::micro> host = std::chrono::steady_clock::now() - start;
  EXPECT_GT(ended.us_since(begun), 100);
  EXPECT_LT(ended.us_since(begun), host.count() + 1);
  EXPECT_EQ(begun.us_since(ended), -ended.us_since(begun));
  EXPECT_THROW((void)untimed.us_since(begun), wb::device_error);
}

TEST(cuda_graph, outlives_a_workspace_that_grows) {
  if (wb::cuda_devices().empty()) GTEST_SKIP() << "no CUDA device here";
  wb::cuda exec;
  constexpr std::size_t bytes = 4096;
  auto from = exec.make_host<std::byte>(1, bytes), to = exec.make_host<std::byte>(1, bytes);
  std::memset(from.data(), 7, bytes);
  const wb::kept_workspace kept;
  const auto queue = [&] {
    std::byte* const workspace = kept.on(exec, bytes);
    exec.upload(workspace, from.data(), bytes);
    exec.download(to.data(), workspace, bytes);
  };
  queue();
  std::set<const std::byte*> once;  // what the graph kept
  {
    wb::cuda_graph graph;
    graph.record(exec, queue);
    const std::byte* const before = kept.on(exec, bytes);
    EXPECT_NE(kept.on(exec, 64 * bytes), before);  // a larger call of somebody
    // Another's memory, which without the graph would be what the workspace was.
    auto other = exec.make<std::byte>(1, bytes);
    EXPECT_NE(other.data(), before);
    once = {before, other.data()};
    const std::vector<std::byte> threes(bytes, std::byte{3}), sevens(bytes, std::byte{7});
    exec.upload(other.data(), threes.data(), bytes);
    std::memset(to.data(), 0, bytes);
    graph.run(exec);
    EXPECT_EQ(exec.to_host(other), threes);
    EXPECT_EQ(std::memcmp(to.data(), sevens.data(), bytes), 0);
    wb::cuda another;
    EXPECT_THROW(graph.run(another), wb::error);
  }
  // Without it the workspace's first memory is there for others.
  const auto next = exec.make<std::byte>(1, bytes), last = exec.make<std::byte>(1, bytes);
  EXPECT_EQ((std::set<const std::byte*>{next.data(), last.data()}), once);
}

/// Counts what it has lent.
struct counting_memory final : wb::memory {
  int lent = 0;
  void* take(std::size_t bytes) override {
    lent++;
    return std::malloc(bytes);
  }
  void give(void* p, std::size_t) noexcept override {
    lent--;
    std::free(p);
  }
};
class counting_executor final : public wb::executor {
 public:
  explicit counting_executor(std::shared_ptr<counting_memory> m) : executor(m, m) {}
  std::string name() const override { return "counting"; }
  bool is_device() const noexcept override { return false; }
  std::string description() const override { return "counting"; }
  std::size_t preferred_items() const override { return 1; }
  std::size_t preferred_blocks() const override { return 1; }
  void run(const wb::kernel_set&, const void*, std::size_t) override {}
  void sync() override {}
  void upload(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void download(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void fill(void* to, unsigned char value, std::size_t bytes) override { std::memset(to, value, bytes); }
  const wb::kernel& build_of(const wb::kernel_set& op) const override { return *op.cpu[0]; }
};

TEST(resident, drops_the_copies_of_dead_executors) {
  const auto first = std::make_shared<counting_memory>(), second = std::make_shared<counting_memory>();
  {
    const wb::resident<int> table({1, 2, 3});
    auto dead = std::make_unique<counting_executor>(first);
    counting_executor living(second);
    table.on(*dead);
    table.on(living);
    EXPECT_EQ(first->lent, 1);
    EXPECT_EQ(second->lent, 1);
    dead.reset();
    table.on(living);
    EXPECT_EQ(first->lent, 0);
    EXPECT_EQ(second->lent, 1);
    // An executor that comes to lie where the dead one lay is another one.
    auto again = std::make_unique<counting_executor>(first);
    table.on(*again);
    EXPECT_EQ(first->lent, 1);
  }
  EXPECT_EQ(first->lent, 0);
  EXPECT_EQ(second->lent, 0);
}

TEST_P(execution, resident_tables_serve_several_threads) {
  const wb::resident<int> table(std::vector<int>(1000, 7));
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&] {
      const auto executor = GetParam().open();
      const int* p = table.on(*executor);
      std::vector<int> back(1000);
      executor->download(back.data(), p, back.size() * sizeof(int));
      executor->sync();
      if (table.on(*executor) == p && back == table.host()) good++;
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(good, 4);
}

// ------------------------------------------------------------------------------------------------- choosing

/// Sets an environment variable for a scope.
class environment {
 public:
  environment(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value != nullptr ? setenv(name, value, 1) : unsetenv(name);
  }
  ~environment() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(instruction_sets, the_environment_forces_one) {
  for (const wb::isa i : wb::available_isas()) {
    EXPECT_EQ(wb::isa_from_name(wb::isa_name(i)), i);
    const environment forced("WARPBAND_ISA", wb::isa_name(i));
    EXPECT_EQ(wb::cpu({.threads = 1, .instructions = {}}).instructions(), i);
  }
  {
    const environment forced("WARPBAND_ISA", "scalar");  // an option counts more
    const wb::isa widest = wb::available_isas().back();
    EXPECT_EQ(wb::cpu({.threads = 1, .instructions = widest}).instructions(), widest);
  }
  for (const char* value : {static_cast<const char*>(nullptr), ""}) {
    const environment unset("WARPBAND_ISA", value);
    EXPECT_EQ(wb::cpu({.threads = 1, .instructions = {}}).instructions(), wb::available_isas().back());
  }
}

TEST(instruction_sets, an_unknown_name_is_refused) {
  for (const char* bad : {"sse9", "AVX2", "scalar ", "cuda"}) {
    const environment forced("WARPBAND_ISA", bad);
    try {
      wb::cpu executor;
      ADD_FAILURE() << bad << " was accepted";
    } catch (const wb::argument_error& e) {
      EXPECT_EQ(e.argument(), "WARPBAND_ISA");
      EXPECT_EQ(e.value(), "\"" + std::string(bad) + "\"");
      EXPECT_NE(e.allowed().find("scalar"), std::string::npos);
    }
  }
}

TEST(instruction_sets, one_that_is_not_here_is_a_device_error) {
  const auto here = wb::available_isas();
  ASSERT_FALSE(here.empty());
  EXPECT_EQ(here.front(), wb::isa::scalar);
  int missing = 0;
  for (const wb::isa i : {wb::isa::base, wb::isa::avx2, wb::isa::avx512})
    if (std::find(here.begin(), here.end(), i) == here.end()) {
      EXPECT_THROW(wb::cpu({.threads = 1, .instructions = i}), wb::device_error);
      EXPECT_THROW(wb::isa_from_name(wb::isa_name(i)), wb::device_error);
      missing++;
    }
  if (missing == 0) GTEST_SKIP() << "this machine has every instruction set";
}

TEST(open_executor, opens_by_name_and_refuses_the_rest) {
  EXPECT_EQ(wb::open_executor("cpu", 2)->description().find(", 2 threads") != std::string::npos, true);
  for (const char* bad : {"", "gpu", "CPU", "cpu:0", "cuda:", "cuda:x", "cuda:1x", "cuda:-1", "cuda: 0",
                          "cuda0", "cuda:99999999999"})
    EXPECT_EQ(blamed([&] { wb::open_executor(bad); }), "device") << bad;
  try {
    wb::open_executor(std::string("cpu\0\n", 5));
    ADD_FAILURE() << "was opened";
  } catch (const wb::argument_error& e) {
    EXPECT_STREQ(e.what(), "device = \"cpu\\x00\\n\" is not allowed: expected \"cpu\" or \"cuda:N\"");
  }
  EXPECT_EQ(blamed([] { wb::open_executor("cpu", -1); }), "threads");
  EXPECT_EQ(blamed([] { wb::open_executor("cpu", 5000); }), "threads");
}

TEST(open_executor, a_missing_device_is_a_device_error) {
  const std::string missing = "cuda:" + std::to_string(std::max<std::size_t>(99, wb::cuda_devices().size()));
  std::vector<std::string> names{missing};
  if (wb::cuda_devices().empty()) names.insert(names.end(), {"cuda", "cuda:0"});
  for (const std::string& name : names) {
    try {
      wb::open_executor(name);
      ADD_FAILURE() << name << " was opened";
    } catch (const wb::device_error& e) {
      EXPECT_NE(std::string(e.what()).find("cpu"), std::string::npos) << "no cure named: " << e.what();
    }
  }
}

TEST(kernels, an_op_without_a_build_is_a_device_error) {
  const wb::kernel_set nothing{"nothing", {}, nullptr};
  wb::cpu executor({.threads = 1, .instructions = {}});
  EXPECT_THROW(executor.build_of(nothing), wb::device_error);
  EXPECT_THROW(executor.run(nothing, nullptr, 5), wb::device_error);
}

// ------------------------------------------------------------------------------------------ loads and stores

/// A batch with room around and between what the view names.
template <class T>
struct padded {
  std::vector<T> storage;
  std::size_t offset = 0, elements = 0, items = 0, element_stride = 0, item_stride = 0;

  padded(std::size_t e, std::size_t n, int order) : elements(e), items(n) {
    switch (order) {
      case 0:  // row-major
        item_stride = e, element_stride = 1;
        break;
      case 1:  // batch fastest
        item_stride = 1, element_stride = n;
        break;
      case 2:  // row-major, a gap behind each row
        item_stride = e + 3, element_stride = 1;
        break;
      case 3:  // batch fastest, a gap behind each element
        item_stride = 1, element_stride = n + 5;
        break;
      default:  // gaps in both directions
        item_stride = 2, element_stride = 2 * n + 7;
        break;
    }
    offset = 37;  // not a multiple of a vector: no load or store may count on alignment
    storage.resize(offset + e * element_stride + n * item_stride + 41);
  }
  std::size_t index(std::size_t item, std::size_t element) const {
    return offset + element * element_stride + item * item_stride;
  }
  wb::view<T> on(wb::array<T>& a) const {
    return {a.data() + offset, elements, items, element_stride, item_stride};
  }
};

template <class T>
void fill(std::vector<T>& v, std::mt19937& random) {
  for (T& x : v) x = static_cast<T>(static_cast<int>(random() % 250) + 1);
}

TEST_P(execution, strided_copies_with_tails_touch_nothing_else) {
  const auto w = static_cast<std::size_t>(exec().build_of(wb::copy_test_kernels()).lanes);
  std::mt19937 random(1);
  std::vector<std::size_t> counts{1, w, w + 1, 2 * w + 3, 67};
  if (w > 1) counts.push_back(w - 1);
  for (const std::size_t n : counts)
    for (int from_order = 0; from_order < 5; from_order++)
      for (int to_order = 0; to_order < 5; to_order++)
        for (const bool masked : {false, true}) {
          padded<float> in(5, n, from_order), out(5, n, to_order);
          padded<std::uint8_t> bytes_in(3, n, to_order), bytes_out(3, n, from_order);
          fill(in.storage, random);
          fill(out.storage, random);
          fill(bytes_in.storage, random);
          fill(bytes_out.storage, random);
          in.storage[in.index(n - 1, 2)] = -0.f;  // stored as +0
          std::vector<std::int32_t> mask(n);
          for (auto& m : mask) m = static_cast<std::int32_t>(random() % 2);

          auto expected = out.storage;
          auto expected_bytes = bytes_out.storage;
          for (std::size_t i = 0; i < n; i++)
            if (!masked || mask[i] != 0) {
              for (std::size_t e = 0; e < 5; e++)
                expected[out.index(i, e)] = in.storage[in.index(i, e)] + 0.f;
              for (std::size_t e = 0; e < 3; e++)
                expected_bytes[bytes_out.index(i, e)] = bytes_in.storage[bytes_in.index(i, e)];
            }

          auto a = exec().make_from(in.storage), b = exec().make_from(out.storage);
          auto c = exec().make_from(bytes_in.storage), d = exec().make_from(bytes_out.storage);
          auto m = exec().make_from(mask);
          wb::copy_args args{in.on(a), out.on(b), bytes_in.on(c), bytes_out.on(d), {}};
          if (masked) args.mask = wb::make_view(m.data(), n);
          exec().run(wb::copy_test_kernels(), &args, n);
          const auto got = exec().to_host(b);
          ASSERT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)), 0)
              << n << " items, orders " << from_order << " to " << to_order << ", masked " << masked;
          ASSERT_EQ(exec().to_host(d), expected_bytes)
              << n << " items, orders " << to_order << " to " << from_order << ", masked " << masked;
          ASSERT_EQ(exec().to_host(a), in.storage);
        }
}

TEST_P(execution, loads_stay_inside_the_view) {
  if (GetParam().name.starts_with("cuda")) GTEST_SKIP() << "compute-sanitizer watches device memory";
  // The views end where a page begins that may not be touched.
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const pages = mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  auto* const in_end = static_cast<unsigned char*>(pages) + page;
  auto* const out_end = in_end + 2 * page;
  ASSERT_EQ(mprotect(in_end, page, PROT_NONE), 0);
  ASSERT_EQ(mprotect(out_end, page, PROT_NONE), 0);
  for (std::size_t n = 1; n <= 35; n++)
    for (const layout order : {layout::row_major, layout::batch_fastest}) {
      float* in = reinterpret_cast<float*>(in_end) - 3 * n;
      float* out = reinterpret_cast<float*>(out_end) - 3 * n;
      for (std::size_t i = 0; i < 3 * n; i++) in[i] = static_cast<float>(i + 1);
      wb::copy_args args{
          wb::make_view<const float>(in, n, 3, order), wb::make_view(out, n, 3, order), {}, {}, {}};
      exec().run(wb::copy_test_kernels(), &args, n);
      ASSERT_EQ(std::memcmp(in, out, 3 * n * sizeof(float)), 0) << n;

      std::uint8_t* bytes_in = in_end - 3 * n;
      std::uint8_t* bytes_out = out_end - 3 * n;
      std::fill_n(bytes_in, 3 * n, std::uint8_t{5});
      args = {{},
              {},
              wb::make_view<const std::uint8_t>(bytes_in, n, 3, order),
              wb::make_view(bytes_out, n, 3, order),
              {}};
      exec().run(wb::copy_test_kernels(), &args, n);
      ASSERT_EQ(std::memcmp(bytes_in, bytes_out, 3 * n), 0) << n;
    }
  munmap(pages, 4 * page);
}

TEST_P(execution, a_stride_of_zero_shares_one_item) {
  for (const std::size_t n : {1, 5, 16, 35}) {
    const auto a = on_device(exec(), std::vector<float>{2.f, 3.f}, 1, 2);
    auto b = exec().make<float>(n, 2);
    const wb::copy_args args{{a.data(), 2, n, 1, 0}, b, {}, {}, {}};
    exec().run(wb::copy_test_kernels(), &args, n);
    const auto got = exec().to_host(b);
    for (std::size_t i = 0; i < n; i++) {
      EXPECT_EQ(got[2 * i], 2.f);
      EXPECT_EQ(got[2 * i + 1], 3.f);
    }
  }
}

TEST_P(execution, any_number_of_threads_gives_the_same_batch) {
  const std::size_t n = 10007;
  std::mt19937 random(2);
  std::vector<float> values(3 * n);
  fill(values, random);
  for (const int threads : {1, 2, 3, 7}) {
    const auto many = GetParam().open(threads);
    const auto a = on_device(*many, values, n, 3);
    auto b = many->make<float>(n, 3);
    const wb::copy_args args{a, b, {}, {}, {}};
    many->run(wb::copy_test_kernels(), &args, n);
    ASSERT_EQ(many->to_host(b), values) << threads;
  }
}

TEST_P(execution, arguments_are_copied_before_run_returns) {
  const auto a = on_device(exec(), std::vector<float>{1, 2, 3}, 3, 1);
  auto b = exec().make<float>(3, 1);
  wb::copy_args args{a, b, {}, {}, {}};
  exec().run(wb::copy_test_kernels(), &args, 3);
  args = {};
  EXPECT_EQ(exec().to_host(b), (std::vector<float>{1, 2, 3}));
}

TEST_P(execution, groups_share_scratch_and_reduce) {
  // Rows from a few values to more than the shared memory of any device holds.
  std::vector<std::size_t> lengths{1, 2, 31, 32, 33, 255, 1000, 100003};
  for (const std::size_t n : lengths)
    for (const std::size_t items : {1, 3, 18})
      for (const int threads : {1, 32, 100, 256}) {
        if (n > 1000 && threads != 256) continue;
        std::mt19937 random(3);
        std::vector<float> values(n * items);
        for (auto& x : values) x = static_cast<float>(random() % 1000);
        values[random() % values.size()] = 1001.f;
        const auto a = on_device(exec(), values, items, n);
        auto out = exec().make<float>(items, n);
        auto sum = exec().make<std::int32_t>(items, 3);
        const wb::group_args args{a, out, sum, threads};
        exec().run(wb::group_test_kernels(), &args, items);
        const auto reversed = exec().to_host(out);
        const auto sums = exec().to_host(sum);
        for (std::size_t i = 0; i < items; i++) {
          std::uint32_t total = 0, parity = 0;
          std::int32_t large = 0;
          for (std::size_t k = 0; k < n; k++) {
            const float x = values[i * n + k];
            ASSERT_EQ(reversed[i * n + n - 1 - k], x);
            const auto bits = std::bit_cast<std::uint32_t>(x);
            total += bits >> 18;
            parity ^= bits;
            large = x > 1000.f ? 1 : large;
          }
          ASSERT_EQ(static_cast<std::uint32_t>(sums[3 * i]), total)
              << n << " values, " << threads << " threads";
          ASSERT_EQ(static_cast<std::uint32_t>(sums[3 * i + 1]), parity);
          ASSERT_EQ(sums[3 * i + 2], large);
        }
      }
}

}  // namespace exec_test
