// The clusters of a base station on several executors, and on ranks: the results of one executor, and the
// bytes that the members exchange.
#include <gtest/gtest.h>

#include <thread>

#include <tests/failing_executor.hpp>
#include <tests/massive.hpp>
#include <tests/thread_ranks.hpp>
#include <warpband/exec/cuda.hpp>
#include <warpband/massive/cluster/cluster.hpp>

namespace cluster_group_test {

using namespace wb;
using wb::testing::blamed;
using wb::testing::massive_batch;
using wb::testing::massive_result;
using wb::testing::on_device;

clustered_uplink_config setting(const massive_batch& b, massive_cluster_method method, int clusters) {
  clustered_uplink_config c;
  c.detector.antennas = static_cast<int>(b.antennas), c.detector.users = static_cast<int>(b.users);
  c.clusters = clusters, c.cluster_method = method;
  if (method == massive_cluster_method::cg) {
    c.detector.solver = massive_solver::cg, c.detector.iterations = 4;
    c.detector.sinr = massive_sinr::approximate;
  }
  return c;
}
constexpr massive_cluster_method all_methods[] = {
    massive_cluster_method::exact, massive_cluster_method::local_mmse, massive_cluster_method::cg};

struct outputs {
  array<float> llr, sinr;
  array<std::complex<float>> x;
  array<std::uint8_t> status;
  outputs(executor& e, const massive_batch& b, std::size_t vectors)
      : llr(e.make<float>(vectors, 4 * b.users)),
        sinr(e.make<float>(vectors, b.users)),
        x(e.make<std::complex<float>>(vectors, b.users)),
        status(e.make<std::uint8_t>(vectors, 1)) {}
  uplink_output views() { return {.llr = llr, .equalized = x, .sinr = sinr, .status = status}; }
  void append_to(massive_result& result, executor& e) {
    const auto add = [&](auto& to, const auto& a) {
      const auto values = e.to_host(a);
      to.insert(to.end(), values.begin(), values.end());
    };
    add(result.llr, llr), add(result.sinr, sinr), add(result.x, x), add(result.status, status);
  }
};

massive_result detect(executor& e, const clustered_uplink_config& c, const massive_batch& b) {
  return wb::testing::detect_by(e, clustered_uplink_detector(c), b);
}

/// What a member has of a batch: its antennas of all frames.
struct member_data {
  array<std::complex<float>> h, y;
  array<float> n0;
  outputs out;
  member_data(executor_group& group, int i, const massive_batch& b)
      : out(group.member(i), b, group.share(b.frames, group.first() + i) * b.symbols) {
    const std::size_t rows = b.antennas / static_cast<std::size_t>(group.size()),
                      first = rows * static_cast<std::size_t>(group.first() + i);
    wb::testing::samples own_h, own_y;
    for (std::size_t f = 0; f < b.frames; f++)
      own_h.insert(own_h.end(), &b.h[(f * b.antennas + first) * b.users],
                   &b.h[(f * b.antennas + first) * b.users] + rows * b.users);
    for (std::size_t v = 0; v < b.vectors(); v++)
      own_y.insert(own_y.end(), &b.y[v * b.antennas + first], &b.y[v * b.antennas + first] + rows);
    executor& e = group.member(i);
    h = on_device(e, own_h, b.frames, rows * b.users);
    y = on_device(e, own_y, b.vectors(), rows);
    n0 = on_device(e, b.n0, b.frames, 1);
  }
  uplink_input input(const massive_batch& b) {
    return {.channel = h, .received = y, .noise_var = n0, .symbols = static_cast<int>(b.symbols)};
  }
};
/// Results of the frames that members of this process have.
massive_result detect(executor_group& group, const clustered_uplink_config& c, const massive_batch& b) {
  std::vector<member_data> data;
  std::vector<uplink_input> in;
  std::vector<uplink_output> out;
  for (int i = 0; i < group.local(); i++) data.emplace_back(group, i, b);
  for (member_data& m : data) in.push_back(m.input(b)), out.push_back(m.out.views());
  const clustered_uplink_detector detector(c);
  detector.run(group, in, out);
  group.sync();
  massive_result result;
  for (int i = 0; i < group.local(); i++)
    data[static_cast<std::size_t>(i)].out.append_to(result, group.member(i));
  return result;
}

/// The part of a result that a member has.
massive_result part_of(const massive_result& result, const massive_batch& b, const executor_group& group) {
  const std::size_t first = group.share_begin(b.frames, group.first()) * b.symbols,
                    count = group.share(b.frames, group.first()) * b.symbols;
  const auto cut = [&](auto v, std::size_t per_vector) {
    return decltype(v)(v.begin() + static_cast<std::ptrdiff_t>(first * per_vector),
                       v.begin() + static_cast<std::ptrdiff_t>((first + count) * per_vector));
  };
  massive_result part;
  part.llr = cut(result.llr, 4 * b.users), part.sinr = cut(result.sinr, b.users);
  part.x = cut(result.x, b.users), part.status = cut(result.status, 1);
  return part;
}

/// Local estimates are added member by member, and so in another order.
void expect_same(const massive_result& got, const massive_result& want, massive_cluster_method method) {
  if (method != massive_cluster_method::local_mmse) {
    EXPECT_TRUE(got == want);
    return;
  }
  EXPECT_EQ(got.status, want.status);
  EXPECT_LT(wb::testing::relative_error(got.x, want.x), 1e-6);
  EXPECT_LT(wb::testing::relative_error(got.sinr, want.sinr), 1e-6);
  EXPECT_LT(wb::testing::relative_error(got.llr, want.llr), 1e-5);
}

TEST(cluster_group, members_have_the_results_of_one_executor) {
  for (const massive_batch& b :
       {wb::testing::ugly_frames(64, 8, 3, 19), wb::testing::ugly_frames(48, 6, 1, 9)})
    for (const massive_cluster_method method : all_methods)
      for (const int size : {1, 2, 4, 8}) {
        SCOPED_TRACE(std::string(name_of(method)) + " " + std::to_string(size));
        const auto c = setting(b, method, 8);
        const wb::testing::cpu_members cpus(size);
        executor_group group(cpus.members);
        if (method == massive_cluster_method::local_mmse && b.antennas / 8 < b.users) continue;
        expect_same(detect(group, c, b), detect(*cpus.members[0], c, b), method);
      }
}

clustered_downlink_config sending(const massive_batch& b, massive_cluster_method method, int clusters) {
  const clustered_uplink_config up = setting(b, method, clusters);
  return {.precoder = {.antennas = up.detector.antennas,
                       .users = up.detector.users,
                       .solver = up.detector.solver,
                       .iterations = up.detector.iterations},
          .clusters = clusters,
          .cluster_method = method};
}
/// What each member sends, put together.
massive_result precode(executor_group& group, const clustered_downlink_config& c, const massive_batch& b) {
  struct arrays {
    array<std::complex<float>> s, x;
    array<std::uint8_t> status;
  };
  const std::size_t rows = b.antennas / static_cast<std::size_t>(group.size());
  std::vector<member_data> data;
  std::vector<arrays> more;
  std::vector<downlink_input> in;
  std::vector<view<std::complex<float>>> out;
  std::vector<view<std::uint8_t>> status;
  for (int i = 0; i < group.local(); i++) {
    executor& e = group.member(i);
    data.emplace_back(group, i, b);
    more.push_back({on_device(e, b.s, b.vectors(), b.users), e.make<std::complex<float>>(b.vectors(), rows),
                    e.make<std::uint8_t>(b.vectors(), 1)});
  }
  for (std::size_t i = 0; i < more.size(); i++) {
    in.push_back({.channel = data[i].h,
                  .sent = more[i].s,
                  .noise_var = data[i].n0,
                  .symbols = static_cast<int>(b.symbols)});
    out.push_back(more[i].x), status.push_back(more[i].status);
  }
  clustered_downlink_precoder(c).run(group, in, out, status);
  group.sync();
  massive_result result;
  result.x.resize(b.vectors() * b.antennas);
  for (int i = 0; i < group.local(); i++) {
    const auto x = group.member(i).to_host(more[static_cast<std::size_t>(i)].x);
    for (std::size_t v = 0; v < b.vectors(); v++)
      std::copy_n(&x[v * rows], rows,
                  &result.x[v * b.antennas + rows * static_cast<std::size_t>(group.first() + i)]);
    const auto states = group.member(i).to_host(more[static_cast<std::size_t>(i)].status);
    if (i > 0) {
      EXPECT_EQ(states, result.status);
    }
    result.status = states;
  }
  return result;
}
massive_result precode(executor& e, const clustered_downlink_config& c, const massive_batch& b) {
  return wb::testing::precode_by(e, clustered_downlink_precoder(c), b);
}

TEST(cluster_group, members_send_what_one_executor_does) {
  for (const massive_batch& b :
       {wb::testing::ugly_frames(64, 8, 3, 19), wb::testing::ugly_frames(48, 6, 1, 9)})
    for (const massive_cluster_method method : all_methods)
      for (const int size : {1, 2, 8}) {
        SCOPED_TRACE(std::string(name_of(method)) + " " + std::to_string(size));
        const wb::testing::cpu_members cpus(size);
        executor_group group(cpus.members);
        for (const auto normalization :
             {massive_normalization::unit_power, massive_normalization::unscaled}) {
          auto c = sending(b, method, 8);
          c.precoder.normalization = normalization;
          const massive_result got = precode(group, c, b), want = precode(*cpus.members[0], c, b);
          EXPECT_EQ(got.status, want.status);
          EXPECT_GE(count_erased(got.status), b.symbols * 3 + 1);
          EXPECT_LT(wb::testing::relative_error(got.x, want.x),
                    method == massive_cluster_method::local_mmse ? 1e-12 : 2e-6);
        }
      }
}

TEST(cluster_group, bytes_are_those_of_the_bound) {
  const massive_batch b = wb::testing::random_frames(64, 8, 3, 16, 0.1f);
  for (const massive_cluster_method method : all_methods)
    for (const int size : {2, 4}) {
      const auto c = setting(b, method, 4);
      const wb::testing::cpu_members cpus(size);
      executor_group group(cpus.members);
      detect(group, c, b);
      EXPECT_EQ(static_cast<double>(group.bytes_sent()),
                size * clustered_uplink_detector(c).bytes_sent(size, b.frames, 3))
          << name_of(method) << " " << size;
    }
}

TEST(cluster_group, ranks_have_the_results_of_one_executor) {
  const massive_batch b = wb::testing::ugly_frames(32, 4, 2, 11);
  const auto alone = open_executor("cpu", 1);
  for (const massive_cluster_method method : all_methods) {
    const auto c = setting(b, method, 4);
    const massive_result want = detect(*alone, c, b);
    wb::testing::post between;
    std::vector<std::thread> threads;
    for (int r = 0; r < 4; r++)
      threads.emplace_back([&, r] {
        wb::testing::thread_rank me(between, r, 4);
        const auto exec = open_executor("cpu", 1);
        executor_group group(me, *exec);
        expect_same(detect(group, c, b), part_of(want, b, group), method);
      });
    for (std::thread& t : threads) t.join();
  }
}

/// The ranks of mpirun: `mpirun -n 2 warpband_tests --gtest_filter=cluster_of_mpirun.*`, or 4.
TEST(cluster_of_mpirun, has_the_results_of_one_executor) {
  const auto world = ranks::built() ? ranks::join() : nullptr;
  if (!world) GTEST_SKIP() << "not started by mpirun, or built without MPI";
  const massive_batch b = wb::testing::ugly_frames(32, 4, 2, 11);
  const auto exec = open_executor("cpu", 1);
  executor_group group(*world, *exec, 60);
  for (const massive_cluster_method method : all_methods) {
    const auto c = setting(b, method, 4);
    expect_same(detect(group, c, b), part_of(detect(*exec, c, b), b, group), method);
  }
}

TEST(cluster_group, cuda_devices_have_the_results_of_one) {
  if (cuda_devices().size() < 2) GTEST_SKIP() << "needs two CUDA devices";
  cuda one({.device = 0}), two({.device = 1});
  std::unique_ptr<executor_group> made;
  try {
    made = std::make_unique<executor_group>(std::vector<executor*>{&one, &two});
  } catch (const device_error& e) {
    if (std::string(e.what()).starts_with("NCCL is not there")) GTEST_SKIP() << e.what();
    throw;
  }
  executor_group& group = *made;
  for (const massive_batch& b :
       {wb::testing::ugly_frames(256, 32, 1, 300), wb::testing::ugly_frames(256, 16, 14, 37)})
    for (const massive_cluster_method method : all_methods)
      for (const int clusters : {2, 8}) {
        const auto c = setting(b, method, clusters);
        expect_same(detect(group, c, b), detect(one, c, b), method);
        EXPECT_LT(wb::testing::relative_error(precode(group, sending(b, method, clusters), b).x,
                                              precode(one, sending(b, method, clusters), b).x),
                  2e-6);
      }
}

/// Whatever the members are at when it happens: each op of a call is the one that is not run.
TEST(cluster_group, a_device_that_fails_is_named) {
  const massive_batch b = wb::testing::random_frames(32, 4, 2, 5, 0.1f);
  const auto sound = open_executor("cpu", 1);
  for (const massive_cluster_method method : all_methods)
    for (const bool uplink : {true, false}) {
      bool failed = true;
      int ops = 0;
      for (; failed; ops++) {
        wb::testing::failing_executor device("cuda:1");
        executor_group group({sound.get(), &device});
        device.fail_after(ops);
        try {
          if (uplink)
            detect(group, setting(b, method, 4), b);
          else
            precode(group, sending(b, method, 4), b);
          failed = false;
        } catch (const device_error& e) {
          EXPECT_STREQ(e.what(), "cuda:1: an illegal memory access was encountered")
              << name_of(method) << " " << ops;
        }
        EXPECT_EQ(device.gone(), failed);
      }
      EXPECT_GT(ops, 3) << name_of(method);  // as many ops a call has at least
    }
}

TEST(cluster_group, what_does_not_fit_the_members_is_refused) {
  const massive_batch b = wb::testing::random_frames(32, 4, 1, 4, 0.1f);
  const auto one = open_executor("cpu", 1), two = open_executor("cpu", 1), three = open_executor("cpu", 1);
  executor_group pair({one.get(), two.get()}), triple({one.get(), two.get(), three.get()});
  EXPECT_EQ(blamed([&] { detect(pair, setting(b, massive_cluster_method::exact, 1), b); }), "clusters");
  EXPECT_EQ(blamed([&] { detect(triple, setting(b, massive_cluster_method::exact, 4), b); }), "clusters");
  EXPECT_EQ(blamed([&] { precode(triple, sending(b, massive_cluster_method::exact, 4), b); }), "clusters");
  const massive_batch crowded = wb::testing::random_frames(32, 20, 1, 4, 0.1f);
  EXPECT_EQ(blamed([&] { precode(pair, sending(crowded, massive_cluster_method::exact, 4), crowded); }),
            "members");
  const clustered_uplink_detector detector(setting(b, massive_cluster_method::exact, 2));
  EXPECT_EQ(blamed([&] { detector.run(pair, {{}}, {{}, {}}); }), "in");
  EXPECT_EQ(blamed([&] { detector.run(pair, {{}, {}}, {{}}); }), "out");
  EXPECT_EQ(blamed([&] { detector.run(pair, {{}, {}}, {{}, {}}); }), "channel");
  member_data first(pair, 0, b), second(pair, 1, b);
  const uplink_output out = first.out.views();
  uplink_input short_in = second.input(b);
  short_in.channel.items = 3, short_in.received.items = 3, short_in.noise_var.items = 3;
  EXPECT_NE(blamed([&] { detector.run(pair, {first.input(b), short_in}, {out, out}); }), "");
}

}  // namespace cluster_group_test
