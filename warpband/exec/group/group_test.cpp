// Groups of executors and of ranks: what every member gets, sums in a fixed order, bytes, and what goes
// wrong.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <random>
#include <thread>

#include <tests/on_backends.hpp>
#include <tests/thread_ranks.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/exec/cuda.hpp>
#include <warpband/exec/group/group.hpp>

namespace wb {
namespace group_test {

using testing::blamed;
using members = testing::cpu_members;

std::vector<float> random_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& v : values) v = normal(random);
  return values;
}
/// Sums in pairs of neighbours, written as the page has them.
float pairs(const std::vector<float>& x) {
  if (x.size() == 1) return x[0];
  std::size_t half = 1;
  while (2 * half < x.size()) half *= 2;
  return pairs({x.begin(), x.begin() + static_cast<std::ptrdiff_t>(half)}) +
         pairs({x.begin() + static_cast<std::ptrdiff_t>(half), x.end()});
}

class group_on : public testing::on_backend {};
WB_ON_ALL_BACKENDS(group_on);

TEST_P(group_on, sums_have_the_order_of_pairs) {
  for (const std::size_t count : {1, 2, 3, 4, 5, 7, 8, 11, 64}) {
    const std::vector<float> terms = random_values(count * 37, 3);
    const auto in = testing::on_device(exec(), terms, 1, terms.size());
    auto out = exec().make<float>(1, 37);
    sum_of_members(exec(), in.data(), static_cast<int>(count), 37, 37, out.data());
    const std::vector<float> got = exec().to_host(out);
    for (std::size_t i = 0; i < 37; i++) {
      std::vector<float> column;
      for (std::size_t m = 0; m < count; m++) column.push_back(terms[m * 37 + i]);
      ASSERT_EQ(got[i], pairs(column)) << count;
    }
  }
}

/// Each member's own call of everything, in a group of which it may have one member or all.
void check_group(executor_group& group) {
  const std::size_t items = 11, size = static_cast<std::size_t>(group.size());
  std::vector<std::vector<float>> in;  // of every member
  for (std::size_t m = 0; m < size; m++) in.push_back(random_values(3 * items, static_cast<unsigned>(m)));
  std::vector<array<float>> from, to;
  std::vector<const void*> sources;
  std::vector<void*> targets;
  const auto index = [&](int i) { return static_cast<std::size_t>(group.first() + i); };
  for (int i = 0; i < group.local(); i++) {
    from.push_back(testing::on_device(group.member(i), in[index(i)], items, 3));
    to.push_back(group.member(i).make<float>(size, 3 * group.share(items, group.first() + i)));
  }
  for (auto& a : from) sources.push_back(a.data());
  for (auto& a : to) targets.push_back(a.data());
  group.all_to_all(sources, targets, items, 3 * sizeof(float));
  group.sync();
  for (int i = 0; i < group.local(); i++) {
    const std::size_t begin = 3 * group.share_begin(items, group.first() + i),
                      count = 3 * group.share(items, group.first() + i);
    const std::vector<float> got = group.member(i).to_host(to[static_cast<std::size_t>(i)]);
    for (std::size_t m = 0; m < size; m++)
      for (std::size_t k = 0; k < count; k++) ASSERT_EQ(got[m * count + k], in[m][begin + k]) << m;
  }

  std::vector<float*> data;
  std::vector<void*> gathered;
  for (auto& a : from) data.push_back(a.data());
  group.all_reduce(data, 3 * items);
  group.sync();
  std::vector<float> sums;
  for (std::size_t k = 0; k < 3 * items; k++) {
    std::vector<float> column;
    for (std::size_t m = 0; m < size; m++) column.push_back(in[m][k]);
    sums.push_back(pairs(column));
  }
  for (int i = 0; i < group.local(); i++)
    ASSERT_EQ(group.member(i).to_host(from[static_cast<std::size_t>(i)]), sums) << i;

  for (int i = 0; i < group.local(); i++) {  // of which each member keeps its share
    std::vector<float> part(3 * items, -1.f);
    const std::size_t begin = 3 * group.share_begin(items, group.first() + i),
                      end = begin + 3 * group.share(items, group.first() + i);
    for (std::size_t k = begin; k < end; k++) part[k] = sums[k];
    group.member(i).upload(data[static_cast<std::size_t>(i)], part.data(), part.size() * sizeof(float));
    group.member(i).sync();
    gathered.push_back(data[static_cast<std::size_t>(i)]);
  }
  group.all_gather(gathered, items, 3 * sizeof(float));
  group.sync();
  for (int i = 0; i < group.local(); i++)
    ASSERT_EQ(group.member(i).to_host(from[static_cast<std::size_t>(i)]), sums) << i;
}

TEST(group, every_member_gets_its_part_and_all_sums) {
  for (const int size : {1, 2, 3, 5, 13}) {
    const members m(size);
    executor_group group(m.members);
    EXPECT_EQ(group.size(), size);
    EXPECT_EQ(group.local(), size);
    EXPECT_EQ(group.transport(), "host");
    check_group(group);
  }
}

/// Runs `work` on each of several ranks, which are threads here.
void on_ranks(int size, const std::function<void(ranks&)>& work) {
  testing::post between;
  std::vector<std::thread> others;
  for (int r = 0; r < size; r++)
    others.emplace_back([&between, &work, r, size] {
      testing::thread_rank me(between, r, size);
      work(me);
    });
  for (std::thread& t : others) t.join();
}

TEST(group, ranks_get_the_same) {
  for (const int size : {2, 3, 5})
    on_ranks(size, [&](ranks& me) {
      const auto exec = open_executor("cpu", 1);
      executor_group group(me, *exec);
      EXPECT_EQ(group.first(), me.rank());
      EXPECT_EQ(group.local(), 1);
      EXPECT_EQ(group.transport(), "mpi");
      check_group(group);
    });
}

/// The ranks of mpirun: `mpirun -n 3 warpband_tests --gtest_filter=group_of_mpirun.*`.
TEST(group_of_mpirun, gets_the_same) {
  const auto world = ranks::built() ? ranks::join() : nullptr;
  if (!world) GTEST_SKIP() << "not started by mpirun, or built without MPI";
  const auto exec = open_executor("cpu", 1);
  executor_group group(*world, *exec, 60);
  check_group(group);
}

TEST(group, bytes_are_the_least_that_an_all_reduce_takes) {
  for (const std::size_t size : {2, 4, 8}) {
    const members m(static_cast<int>(size));
    executor_group group(m.members);
    std::vector<array<float>> arrays;
    std::vector<float*> data;
    for (executor* e : m.members) {
      arrays.push_back(testing::on_device(*e, random_values(800, 1), 1, 800));
      data.push_back(arrays.back().data());
    }
    group.all_reduce(data, 800);
    EXPECT_EQ(group.bytes_sent(), size * (2 * (size - 1) * 800 * sizeof(float) / size));
  }
}

TEST(group, a_rank_that_does_not_answer_is_named) {
  struct hanging : testing::thread_rank {
    using thread_rank::thread_rank;
    message receive(int from, double seconds) override {
      throw device_error(name(from) + ": no answer within " + std::to_string(static_cast<int>(seconds)) +
                         " s");
    }
  };
  testing::post between;
  hanging me(between, 0, 2);
  const auto exec = open_executor("cpu", 1);
  executor_group group(me, *exec, 30);
  std::vector<float> values(4);
  try {
    group.all_reduce({values.data()}, 4);
    FAIL() << "expected an error";
  } catch (const device_error& e) {
    EXPECT_STREQ(e.what(), "rank 1 on here: no answer within 30 s");
  }
}

TEST(group, a_rank_that_sends_something_else_is_named) {
  testing::post between;
  testing::thread_rank me(between, 0, 2), other(between, 1, 2);
  other.send(0, message(3));
  const auto exec = open_executor("cpu", 1);
  executor_group group(me, *exec);
  std::vector<float> values(4);
  try {
    group.all_reduce({values.data()}, 4);
    FAIL() << "expected an error";
  } catch (const device_error& e) {
    EXPECT_STREQ(e.what(), "rank 1 on here: sent 3 bytes where 8 were due");
  }
}

TEST(group, bad_members_are_refused) {
  const members m(2);
  EXPECT_EQ(blamed([] { executor_group({}); }), "members");
  EXPECT_EQ(blamed([&] { executor_group({m.members[0], m.members[0]}); }), "members");
  EXPECT_EQ(blamed([&] { executor_group(m.members, group_transport::nccl); }), "transport");
  EXPECT_EQ(blamed([&] { executor_group(m.members, group_transport::host); }), "");
}

TEST(group, cuda_devices_exchange_by_nccl) {
  const auto devices = cuda_devices();
  if (devices.size() < 2) GTEST_SKIP() << "needs two CUDA devices";
  cuda one({.device = 0}), two({.device = 1});
  try {
    executor_group({&one, &two}, group_transport::nccl);
  } catch (const device_error& e) {
    if (std::string(e.what()).starts_with("NCCL is not there")) GTEST_SKIP() << e.what();
    throw;
  }
  for (const group_transport transport : {group_transport::automatic, group_transport::host}) {
    executor_group group({&one, &two}, transport);
    EXPECT_EQ(group.transport(), transport == group_transport::host ? "host" : "nccl");
    check_group(group);
  }
}

TEST(group, a_cpu_and_a_cuda_device_exchange_through_the_host) {
  if (cuda_devices().empty()) GTEST_SKIP() << "needs a CUDA device";
  const auto core = open_executor("cpu", 1), device = open_executor("cuda:0");
  executor_group group({core.get(), device.get()});
  EXPECT_EQ(group.transport(), "host");
  check_group(group);
}

}  // namespace group_test
}  // namespace wb
