// Code blocks through the C library, at once and in queues.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <warpband/c/warpband.h>
#include <tests/allocations.hpp>
#include <tests/executors.hpp>
#include <warpband/exec/cuda.hpp>
#include <warpband/fec/blocks/ldpc_blocks.hpp>
#include <warpband/fec/blocks/turbo_blocks.hpp>

namespace wb {
namespace c_blocks_test {

using bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t minute = 60'000'000'000;

/// Operations of one kind, with the memory that they name.
template <class Op>
struct batch {
  std::vector<Op> ops;
  std::vector<bytes> in, out;
  std::vector<std::vector<std::int8_t>> llr, more;
  std::vector<wb_done> done;
};

bytes random_bytes(std::size_t n, std::mt19937& random) {
  bytes b(n);
  for (auto& x : b) x = static_cast<std::uint8_t>(random());
  return b;
}

/// LDPC encodings of some sizes.
batch<wb_ldpc_encode> ldpc_encodings(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  batch<wb_ldpc_encode> b;
  for (std::size_t i = 0; i < n; i++) {
    wb_ldpc_encode op = WB_LDPC_ENCODE_INIT;
    const std::uint32_t z = std::vector<std::uint32_t>{16, 24, 52}[random() % 3];
    op.base_graph = static_cast<std::uint16_t>(1 + random() % 2);
    op.lifting_size = static_cast<std::uint16_t>(z);
    const std::uint32_t k = (op.base_graph == 1 ? 22 : 10) * z;
    op.fillers = 8 * (random() % 2);
    op.crc = WB_CRC_24B;
    op.modulation_order = 4;
    op.sent_bits = (k * 2 + 3) / 4 * 4;
    op.tag = 1000 + i;
    EXPECT_EQ(wb_nr_first_place(op.base_graph, z, 0, 3 * (random() % 2), &op.first), WB_OK);
    b.in.push_back(random_bytes((k - op.fillers - 24 + 7) / 8, random));
    b.out.emplace_back((op.sent_bits + 7) / 8, std::uint8_t{0xaa});
    op.bits = b.in.back().data();
    op.bits_bytes = b.in.back().size();
    op.out = b.out.back().data();
    op.out_bytes = b.out.back().size();
    b.ops.push_back(op);
  }
  b.done.resize(n);
  return b;
}

/// Decodings of what was encoded, with errors.
batch<wb_ldpc_decode> ldpc_decodings(const batch<wb_ldpc_encode>& sent, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 5);
  batch<wb_ldpc_decode> b;
  for (std::size_t i = 0; i < sent.ops.size(); i++) {
    const wb_ldpc_encode& from = sent.ops[i];
    wb_ldpc_decode op = WB_LDPC_DECODE_INIT;
    op.base_graph = from.base_graph;
    op.lifting_size = from.lifting_size;
    op.fillers = from.fillers;
    op.first = from.first;
    op.sent_bits = from.sent_bits;
    op.modulation_order = from.modulation_order;
    op.crc = from.crc;
    op.flags |= WB_DROP_CRC;
    op.tag = from.tag;
    std::vector<std::int8_t> llr(op.sent_bits);
    for (std::size_t j = 0; j < llr.size(); j++) {
      const float mean = sent.out[i][j / 8] >> (7 - j % 8) & 1 ? -10.f : 10.f;
      llr[j] = static_cast<std::int8_t>(std::clamp(mean + normal(random), -127.f, 127.f));
    }
    b.llr.push_back(std::move(llr));
    b.more.emplace_back(66u * op.lifting_size);
    b.out.emplace_back(sent.in[i].size(), std::uint8_t{0xaa});
    op.llr = b.llr.back().data();
    op.harq_out = b.more.back().data();
    op.harq_out_length = b.more.back().size();
    op.bits = b.out.back().data();
    op.bits_bytes = b.out.back().size();
    b.ops.push_back(op);
  }
  b.done.resize(sent.ops.size());
  return b;
}

batch<wb_turbo_encode> turbo_encodings(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  batch<wb_turbo_encode> b;
  for (std::size_t i = 0; i < n; i++) {
    wb_turbo_encode op = WB_TURBO_ENCODE_INIT;
    op.k = std::vector<std::uint32_t>{40, 104, 1024}[random() % 3];
    op.crc = random() % 2 == 0 ? WB_CRC_24B : WB_CRC_NONE;
    op.sent_bits = random() % 2 == 0 ? 0 : 2 * op.k;
    op.tag = 1000 + i;
    b.in.push_back(random_bytes((op.k - (op.crc != WB_CRC_NONE ? 24 : 0)) / 8, random));
    b.out.emplace_back(((op.sent_bits != 0 ? op.sent_bits : 3 * op.k + 12) + 7) / 8, std::uint8_t{0xaa});
    op.bits = b.in.back().data();
    op.bits_bytes = b.in.back().size();
    op.out = b.out.back().data();
    op.out_bytes = b.out.back().size();
    b.ops.push_back(op);
  }
  b.done.resize(n);
  return b;
}

/// Decodings of blocks without rate matching: streams d0, d1, d2.
batch<wb_turbo_decode> turbo_decodings(std::size_t n, unsigned seed, wb_device* device) {
  std::mt19937 random(seed);
  batch<wb_turbo_encode> sent = turbo_encodings(n, seed);
  for (auto& op : sent.ops) op.sent_bits = 0;
  for (std::size_t i = 0; i < n; i++) {
    sent.out[i].assign((3 * sent.ops[i].k + 12 + 7) / 8, 0);
    sent.ops[i].out = sent.out[i].data();
    sent.ops[i].out_bytes = sent.out[i].size();
  }
  EXPECT_EQ(wb_turbo_encode_run(device, sent.ops.data(), n, sent.done.data()), WB_OK) << wb_last_error();
  std::normal_distribution<float> normal(0, 5);
  batch<wb_turbo_decode> b;
  b.in = sent.in;
  for (std::size_t i = 0; i < n; i++) {
    EXPECT_EQ(sent.done[i].status, 0u);
    wb_turbo_decode op = WB_TURBO_DECODE_INIT;
    op.k = sent.ops[i].k;
    op.crc = sent.ops[i].crc;
    op.tag = sent.ops[i].tag;
    op.flags |= WB_STREAMS | (op.crc != WB_CRC_NONE ? WB_DROP_CRC : 0);
    const std::size_t places = (op.k + 4 + 31) / 32 * 32;
    std::vector<std::int8_t> llr(3 * places);
    for (std::size_t d = 0; d < 3; d++)
      for (std::size_t j = 0; j < op.k + 4; j++) {
        const std::size_t bit = d * (op.k + 4) + j;
        const float mean = sent.out[i][bit / 8] >> (7 - bit % 8) & 1 ? -10.f : 10.f;
        llr[d * places + j] = static_cast<std::int8_t>(std::clamp(mean + normal(random), -127.f, 127.f));
      }
    b.llr.push_back(std::move(llr));
    b.more.emplace_back(3 * (op.k + 4));
    b.out.emplace_back(sent.in[i].size(), std::uint8_t{0xaa});
    op.llr = b.llr.back().data();
    op.llr_count = b.llr.back().size();
    op.soft = b.more.back().data();
    op.soft_length = b.more.back().size();
    op.bits = b.out.back().data();
    op.bits_bytes = b.out.back().size();
    b.ops.push_back(op);
  }
  b.done.resize(n);
  return b;
}

template <class Op>
bool same_results(const batch<Op>& a, const batch<Op>& b) {
  for (std::size_t i = 0; i < a.done.size(); i++) {
    const wb_done &x = a.done[i], &y = b.done[i];
    if (x.tag != y.tag || x.status != y.status || x.iterations != y.iterations || x.bytes != y.bytes ||
        x.harq_length != y.harq_length)
      return false;
  }
  return a.out == b.out && a.more == b.more;
}

class c_blocks : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().starts_with("cuda") && cuda_devices().empty()) GTEST_SKIP() << "no CUDA device here";
    ASSERT_EQ(wb_device_open(GetParam().c_str(), &device), WB_OK) << wb_last_error();
  }
  void TearDown() override { wb_device_close(device); }
  wb_queue* open_queue(wb_operation operation, std::uint32_t depth, std::uint32_t together) {
    wb_queue_config config = WB_QUEUE_CONFIG_INIT;
    config.operation = operation;
    config.depth = depth;
    config.batch = together;
    wb_queue* queue = nullptr;
    EXPECT_EQ(wb_queue_open(device, &config, &queue), WB_OK) << wb_last_error();
    return queue;
  }
  wb_device* device = nullptr;
};
std::string test_name(const ::testing::TestParamInfo<std::string>& device) {
  std::string name = device.param;
  name[name.find(':')] = '_';
  return name;
}
INSTANTIATE_TEST_SUITE_P(backends, c_blocks, ::testing::Values("cpu:1", "cpu:2", "cuda:0"), test_name);

// ---- at once

TEST_P(c_blocks, ldpc_comes_back) {
  auto sent = ldpc_encodings(40, 1);
  ASSERT_EQ(wb_ldpc_encode_run(device, sent.ops.data(), sent.ops.size(), sent.done.data()), WB_OK)
      << wb_last_error();
  for (std::size_t i = 0; i < sent.ops.size(); i++) {
    EXPECT_EQ(sent.done[i].status, 0u);
    EXPECT_EQ(sent.done[i].tag, 1000 + i);
    EXPECT_EQ(sent.done[i].bytes, sent.out[i].size());
  }
  auto heard = ldpc_decodings(sent, 2);
  ASSERT_EQ(wb_ldpc_decode_run(device, heard.ops.data(), heard.ops.size(), heard.done.data()), WB_OK);
  for (std::size_t i = 0; i < sent.ops.size(); i++) {
    EXPECT_EQ(heard.done[i].status, 0u);
    EXPECT_GT(heard.done[i].iterations, 0u);
    EXPECT_GT(heard.done[i].harq_length, 0u);
    EXPECT_EQ(heard.out[i], sent.in[i]);
  }
}

TEST_P(c_blocks, ldpc_equals_the_class) {
  auto sent = ldpc_encodings(12, 3);
  ASSERT_EQ(wb_ldpc_encode_run(device, sent.ops.data(), sent.ops.size(), sent.done.data()), WB_OK);
  auto heard = ldpc_decodings(sent, 4), expected = ldpc_decodings(sent, 4);
  ASSERT_EQ(wb_ldpc_decode_run(device, heard.ops.data(), heard.ops.size(), heard.done.data()), WB_OK);
  std::vector<ldpc_decode_block> blocks;
  for (std::size_t i = 0; i < sent.ops.size(); i++) {
    const wb_ldpc_decode& op = expected.ops[i];
    blocks.push_back(
        {.shape = {op.base_graph, op.lifting_size, static_cast<int>(op.fillers), 0,
                   static_cast<int>(op.first), static_cast<int>(op.sent_bits), op.modulation_order},
         .llr = {op.llr, op.sent_bits},
         .crc = crc24b,
         .drop_crc = true,
         .harq_out = op.harq_out,
         .harq_out_length = op.harq_out_length,
         .bits = {op.bits, op.bits_bytes}});
  }
  ldpc_block_decoder decoder;
  std::vector<block_result> results(blocks.size());
  const auto exec = open_executor("cpu", 1);
  decoder.start(*exec, blocks);
  decoder.finish(results);
  for (std::size_t i = 0; i < blocks.size(); i++)
    expected.done[i] = {
        1000 + i, results[i].status, results[i].iterations, results[i].bytes, results[i].harq_length, 0, 0};
  EXPECT_TRUE(same_results(heard, expected));
}

TEST_P(c_blocks, turbo_comes_back) {
  auto heard = turbo_decodings(40, 1, device);
  ASSERT_EQ(wb_turbo_decode_run(device, heard.ops.data(), heard.ops.size(), heard.done.data()), WB_OK);
  for (std::size_t i = 0; i < heard.ops.size(); i++) {
    EXPECT_EQ(heard.done[i].status, 0u);
    EXPECT_EQ(heard.out[i], heard.in[i]);
  }
}

TEST_P(c_blocks, a_fault_is_of_its_operation) {
  auto right = turbo_encodings(6, 1), wrong = turbo_encodings(6, 1);
  ASSERT_EQ(wb_turbo_encode_run(device, right.ops.data(), 6, right.done.data()), WB_OK);
  wrong.ops[0].flags = 1u << 9;
  wrong.ops[1].k = 41;
  wrong.ops[2].bits = nullptr;
  wrong.ops[3].size += 8;
  wrong.ops[4].out_bytes--;
  for (std::size_t i = 0; i < 5; i++) wrong.done[i] = {};
  ASSERT_EQ(wb_turbo_encode_run(device, wrong.ops.data(), 6, wrong.done.data()), WB_OK) << wb_last_error();
  for (std::size_t i = 0; i < 5; i++) {
    EXPECT_EQ(wrong.done[i].status, WB_DONE_REFUSED) << i;
    EXPECT_EQ(wrong.done[i].tag, 1000 + i);
    EXPECT_EQ(wrong.done[i].bytes, 0u);
    EXPECT_TRUE(std::all_of(wrong.out[i].begin(), wrong.out[i].end(), [](int x) { return x == 0xaa; }));
  }
  EXPECT_EQ(wrong.done[5].status, 0u);
  EXPECT_EQ(wrong.out[5], right.out[5]);

  EXPECT_EQ(wb_turbo_encode_check(&right.ops[0]), WB_OK);
  EXPECT_EQ(wb_turbo_encode_check(&wrong.ops[0]), WB_INVALID_ARGUMENT);
  EXPECT_NE(std::string(wb_last_error()).find("flags = 512"), std::string::npos) << wb_last_error();
  EXPECT_EQ(wb_turbo_encode_check(&wrong.ops[1]), WB_INVALID_ARGUMENT);
  EXPECT_NE(std::string(wb_last_error()).find("k = 41"), std::string::npos) << wb_last_error();
  EXPECT_EQ(wb_turbo_encode_check(nullptr), WB_INVALID_ARGUMENT);
}

TEST_P(c_blocks, structures_of_other_versions) {
  auto expected = turbo_encodings(3, 1);
  ASSERT_EQ(wb_turbo_encode_run(device, expected.ops.data(), 3, expected.done.data()), WB_OK);
  // Longer ones, whose new fields are 0
  struct longer {
    wb_turbo_encode op;
    std::uint64_t news[2];
  };
  auto b = turbo_encodings(3, 1);
  std::vector<longer> ops;
  for (auto& op : b.ops) {
    op.size = sizeof(longer);
    ops.push_back({op, {0, 0}});
  }
  const auto run = [&] {
    return wb_turbo_encode_run(device, reinterpret_cast<const wb_turbo_encode*>(ops.data()), 3,
                               b.done.data());
  };
  ASSERT_EQ(run(), WB_OK) << wb_last_error();
  EXPECT_TRUE(same_results(b, expected));
  ops[1].news[1] = 1;  // what this version cannot know
  ASSERT_EQ(run(), WB_OK);
  EXPECT_EQ(b.done[0].status, 0u);
  EXPECT_EQ(b.done[1].status, WB_DONE_REFUSED);
  EXPECT_EQ(b.done[2].status, 0u);
  // A shorter one, of a caller whose version had no outputs to give: zeros stand behind it
  wb_turbo_encode shorter = expected.ops[0];
  shorter.size = offsetof(wb_turbo_encode, out);
  ASSERT_EQ(wb_turbo_encode_run(device, &shorter, 1, b.done.data()), WB_OK);
  EXPECT_EQ(b.done[0].status, WB_DONE_REFUSED);
  wb_turbo_decode soft = turbo_decodings(1, 1, device).ops[0];
  soft.size = offsetof(wb_turbo_decode, soft);
  auto heard = turbo_decodings(1, 1, device);
  heard.ops[0].size = soft.size;
  ASSERT_EQ(wb_turbo_decode_run(device, heard.ops.data(), 1, heard.done.data()), WB_OK);
  EXPECT_EQ(heard.done[0].status, 0u);
  EXPECT_EQ(heard.out[0], heard.in[0]);
  EXPECT_EQ(heard.more[0], std::vector<std::int8_t>(heard.more[0].size()));  // its fields are not read
  for (const std::uint32_t size : {0u, 15u, 4097u, 4000000000u}) {
    shorter.size = size;
    EXPECT_EQ(wb_turbo_encode_run(device, &shorter, 1, b.done.data()), WB_INVALID_ARGUMENT) << size;
  }
  shorter.size = sizeof shorter;
  EXPECT_EQ(wb_turbo_encode_run(device, &shorter, SIZE_MAX, b.done.data()), WB_INVALID_SHAPE);
}

TEST(c_blocks_places, are_those_of_the_tables) {
  std::uint32_t first = 7;
  EXPECT_EQ(wb_nr_first_place(1, 384, 0, 2, &first), WB_OK);
  EXPECT_EQ(first, 33u * 384);
  EXPECT_EQ(wb_nr_first_place(3, 384, 0, 2, &first), WB_INVALID_ARGUMENT);
  EXPECT_EQ(wb_nr_first_place(1, 384, 0, 4, &first), WB_INVALID_ARGUMENT);
  EXPECT_EQ(wb_nr_first_place(1, 384, 4000000000u, 0, &first), WB_INVALID_ARGUMENT);
  EXPECT_EQ(wb_nr_first_place(1, 384, 0, 0, nullptr), WB_INVALID_ARGUMENT);
  EXPECT_EQ(wb_lte_first_place(40, 0, 0, &first), WB_OK);
  EXPECT_EQ(wb_lte_first_place(41, 0, 0, &first), WB_INVALID_ARGUMENT);
}

TEST_P(c_blocks, many_threads_share_a_device) {
  auto expected = turbo_encodings(30, 1);
  ASSERT_EQ(wb_turbo_encode_run(device, expected.ops.data(), 30, expected.done.data()), WB_OK);
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&] {
      for (int round = 0; round < 5; round++) {
        auto b = turbo_encodings(30, 1);
        if (wb_turbo_encode_run(device, b.ops.data(), 30, b.done.data()) == WB_OK &&
            same_results(b, expected))
          right++;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(right, 20);
}

// ---- queues

TEST_P(c_blocks, queue_gives_results_in_order) {
  auto expected = turbo_encodings(100, 1), b = turbo_encodings(100, 1);
  ASSERT_EQ(wb_turbo_encode_run(device, expected.ops.data(), 100, expected.done.data()), WB_OK);
  for (const std::uint32_t together : {1u, 7u, 64u, 1000u}) {
    wb_queue* queue = open_queue(WB_TURBO_ENCODE, 40, together);
    EXPECT_EQ(wb_wait(queue, 0), WB_OK);  // nothing is under way
    std::size_t submitted = 0, polled = 0;
    while (polled < 100) {
      wb_status why = WB_FAILED;
      const std::size_t taken =
          wb_submit_turbo_encode(queue, b.ops.data() + submitted, 100 - submitted, &why);
      EXPECT_EQ(why, submitted + taken < 100 ? WB_BUSY : WB_OK);
      submitted += taken;
      ASSERT_EQ(wb_wait(queue, minute), WB_OK);
      const std::size_t n = wb_poll(queue, b.done.data() + polled, std::min<std::size_t>(9, 100 - polled));
      EXPECT_GT(n, 0u);
      polled += n;
    }
    wb_done more;
    EXPECT_EQ(wb_poll(queue, &more, 1), 0u);
    EXPECT_TRUE(same_results(b, expected)) << together;
    wb_queue_close(queue);
  }
}

TEST_P(c_blocks, queues_of_every_operation) {
  auto sent = ldpc_encodings(20, 1), ldpc_expected = ldpc_encodings(20, 1);
  ASSERT_EQ(wb_ldpc_encode_run(device, ldpc_expected.ops.data(), 20, ldpc_expected.done.data()), WB_OK);
  const auto pass = [&](auto& b, auto submit, wb_operation operation) {
    wb_queue* queue = open_queue(operation, 20, 8);
    EXPECT_EQ(submit(queue, b.ops.data(), b.ops.size(), nullptr), b.ops.size());
    for (std::size_t polled = 0; polled < b.ops.size();) {
      ASSERT_EQ(wb_wait(queue, minute), WB_OK);
      polled += wb_poll(queue, b.done.data() + polled, b.ops.size() - polled);
    }
    wb_queue_close(queue);
  };
  pass(sent, wb_submit_ldpc_encode, WB_LDPC_ENCODE);
  EXPECT_TRUE(same_results(sent, ldpc_expected));
  auto heard = ldpc_decodings(sent, 2), heard_expected = ldpc_decodings(sent, 2);
  ASSERT_EQ(wb_ldpc_decode_run(device, heard_expected.ops.data(), 20, heard_expected.done.data()), WB_OK);
  pass(heard, wb_submit_ldpc_decode, WB_LDPC_DECODE);
  EXPECT_TRUE(same_results(heard, heard_expected));
  auto turbo = turbo_decodings(20, 3, device), turbo_expected = turbo_decodings(20, 3, device);
  ASSERT_EQ(wb_turbo_decode_run(device, turbo_expected.ops.data(), 20, turbo_expected.done.data()), WB_OK);
  pass(turbo, wb_submit_turbo_decode, WB_TURBO_DECODE);
  EXPECT_TRUE(same_results(turbo, turbo_expected));
}

TEST_P(c_blocks, a_queue_refuses) {
  wb_queue* queue = nullptr;
  wb_queue_config config = WB_QUEUE_CONFIG_INIT;
  config.operation = 5;
  EXPECT_EQ(wb_queue_open(device, &config, &queue), WB_INVALID_ARGUMENT);
  config.operation = WB_TURBO_ENCODE;
  config.depth = 0;
  EXPECT_EQ(wb_queue_open(device, &config, &queue), WB_INVALID_ARGUMENT);
  config.depth = 1u << 21;
  EXPECT_EQ(wb_queue_open(device, &config, &queue), WB_INVALID_ARGUMENT);
  config.depth = 4;
  config.size = 8;
  EXPECT_EQ(wb_queue_open(device, &config, &queue), WB_INVALID_ARGUMENT);
  EXPECT_EQ(wb_queue_open(device, nullptr, &queue), WB_INVALID_ARGUMENT);
  EXPECT_EQ(queue, nullptr);
  config.size = sizeof config;
  ASSERT_EQ(wb_queue_open(device, &config, &queue), WB_OK) << wb_last_error();
  auto b = turbo_encodings(6, 1);
  const wb_ldpc_encode other = WB_LDPC_ENCODE_INIT;
  wb_status why = WB_OK;
  EXPECT_EQ(wb_submit_ldpc_encode(queue, &other, 1, &why), 0u);
  EXPECT_EQ(why, WB_INVALID_ARGUMENT);
  EXPECT_EQ(wb_submit_turbo_encode(queue, nullptr, 1, &why), 0u);
  EXPECT_EQ(why, WB_INVALID_ARGUMENT);
  b.ops[1].flags = 2;
  EXPECT_EQ(wb_submit_turbo_encode(queue, b.ops.data(), 6, &why), 4u);
  EXPECT_EQ(why, WB_BUSY);
  EXPECT_EQ(wb_submit_turbo_encode(queue, b.ops.data(), 6, &why), 0u);
  for (std::size_t polled = 0; polled < 4;) {
    ASSERT_EQ(wb_wait(queue, minute), WB_OK);
    polled += wb_poll(queue, b.done.data() + polled, 4 - polled);
  }
  EXPECT_EQ(b.done[0].status, 0u);
  EXPECT_EQ(b.done[1].status, WB_DONE_REFUSED);
  EXPECT_EQ(b.done[3].status, 0u);
  EXPECT_EQ(wb_poll(queue, nullptr, 4), 0u);
  wb_queue_close(queue);
}

TEST_P(c_blocks, a_queue_closes_with_work_under_way) {
  for (const std::size_t polled : {0u, 1u}) {
    auto b = turbo_encodings(64, 1);
    wb_queue* queue = open_queue(WB_TURBO_ENCODE, 64, 8);
    EXPECT_EQ(wb_submit_turbo_encode(queue, b.ops.data(), 64, nullptr), 64u);
    EXPECT_LE(wb_poll(queue, b.done.data(), polled), polled);
    wb_queue_close(queue);
  }
}

TEST_P(c_blocks, one_thread_submits_and_one_polls) {
  constexpr std::size_t rounds = 20, n = 100;
  auto expected = turbo_encodings(n, 1);
  ASSERT_EQ(wb_turbo_encode_run(device, expected.ops.data(), n, expected.done.data()), WB_OK);
  auto b = turbo_encodings(n, 1);
  wb_queue* queue = open_queue(WB_TURBO_ENCODE, 37, 5);
  std::thread submitter([&] {
    std::mt19937 random(1);
    for (std::size_t i = 0; i < rounds * n;) {
      const std::size_t wanted = std::min<std::size_t>(1 + random() % 11, n - i % n);
      const std::size_t taken = wb_submit_turbo_encode(queue, b.ops.data() + i % n, wanted, nullptr);
      i += taken;
      if (taken == 0) std::this_thread::yield();
    }
  });
  std::size_t polled = 0, wrong = 0;
  std::vector<wb_done> done(13);
  while (polled < rounds * n) {
    const std::size_t count = wb_poll(queue, done.data(), done.size());
    for (std::size_t i = 0; i < count; i++, polled++)
      wrong += done[i].tag != 1000 + polled % n || done[i].status != 0;
    if (count == 0) std::this_thread::yield();
  }
  submitter.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(b.out, expected.out);
  wb_queue_close(queue);
}

TEST_P(c_blocks, nothing_is_allocated_after_a_batch) {
  auto b = turbo_encodings(16, 1);
  auto heard = turbo_decodings(16, 1, device);
  wb_queue* queue = open_queue(WB_TURBO_ENCODE, 64, 16);
  const auto once = [&] {
    EXPECT_EQ(wb_turbo_encode_run(device, b.ops.data(), 16, b.done.data()), WB_OK);
    EXPECT_EQ(wb_turbo_decode_run(device, heard.ops.data(), 16, heard.done.data()), WB_OK);
    EXPECT_EQ(wb_submit_turbo_encode(queue, b.ops.data(), 16, nullptr), 16u);
    for (std::size_t polled = 0; polled < 16;) polled += wb_poll(queue, b.done.data() + polled, 16 - polled);
  };
  for (int i = 0; i < 6; i++) once();
  const auto before = testing::allocations();
  for (int i = 0; i < 3; i++) once();
  EXPECT_EQ(before, testing::allocations());
  wb_queue_close(queue);
}

// ---- descriptions of others

/// A field changed at random, pointers only to null, lengths never to more than there is.
template <class Op>
void mutate(Op& op, std::mt19937& random, std::size_t fixed_from, std::size_t fixed_to) {
  const std::size_t place = random() % sizeof(Op);
  if (place >= fixed_from && place < fixed_to) return;
  unsigned char* const p = reinterpret_cast<unsigned char*>(&op) + place;
  switch (random() % 3) {
    case 0:
      *p = static_cast<unsigned char>(random());
      break;
    case 1:
      *p = static_cast<unsigned char>(*p ^ 1u << random() % 8);
      break;
    default:
      *p = random() % 2 == 0 ? 0 : 255;
  }
}
/// Runs an operation whose size may be wrong: behind it are as many zeros as a size may claim.
template <class Op>
wb_status run_one(wb_status (*run)(wb_device*, const Op*, std::size_t, wb_done*), wb_device* device,
                  const Op& op, wb_done& done) {
  alignas(Op) static unsigned char room[4096];
  std::memcpy(room, &op, sizeof op);
  return run(device, reinterpret_cast<const Op*>(room), 1, &done);
}
template <class T>
void null_sometimes(T*& p, std::mt19937& random) {
  if (random() % 16 == 0) p = nullptr;
}
void shorten_sometimes(std::size_t& length, std::mt19937& random) {
  if (random() % 8 == 0) length = random() % (length + 1);
}

constexpr std::uint32_t valid_status = WB_DONE_REFUSED | WB_DONE_SYNDROME | WB_DONE_CRC;
std::size_t mutations() { return testing::small_scale() ? 2'500 : 25'000; }  // of each of four operations

TEST_P(c_blocks, changed_descriptions_of_ldpc_decoding) {
  std::mt19937 random(1);
  auto sent = ldpc_encodings(8, 1);
  ASSERT_EQ(wb_ldpc_encode_run(device, sent.ops.data(), 8, sent.done.data()), WB_OK);
  auto b = ldpc_decodings(sent, 2);
  constexpr std::size_t room = 1 << 16;  // of LLRs: what one operation says that it has
  const std::vector<float> llr(room, 1.5f);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < mutations(); i++) {
    wb_ldpc_decode op = b.ops[random() % 8];
    const std::uint32_t sent_bits = op.sent_bits;
    for (unsigned j = random() % 4; j > 0; j--) mutate(op, random, offsetof(wb_ldpc_decode, llr), sizeof op);
    if (op.sent_bits > room && op.sent_bits <= INT32_MAX) op.sent_bits = room;
    if (op.sent_bits != sent_bits || op.llr_format != WB_LLR_INT8 || random() % 4 == 0) op.llr = llr.data();
    null_sometimes(op.llr, random);
    null_sometimes(op.bits, random);
    null_sometimes(op.harq_out, random);
    shorten_sometimes(op.bits_bytes, random);
    shorten_sometimes(op.harq_out_length, random);
    if (op.harq_format == WB_HARQ_FLOAT16) op.harq_out_length /= 2;  // of the same bytes
    if (random() % 4 == 0) {
      op.harq_in = op.harq_out;
      op.harq_in_length = op.harq_out_length;
    }
    wb_done done = {1, 99, 0, 0, 0, 0, 0};
    const wb_status status = run_one(wb_ldpc_decode_run, device, op, done);
    ASSERT_TRUE(status == WB_OK || status == WB_INVALID_ARGUMENT) << wb_last_error();
    if (status != WB_OK) continue;
    ASSERT_EQ(done.status & ~valid_status, 0u);
    ASSERT_LE(done.bytes, op.bits_bytes);
    refused += done.status == WB_DONE_REFUSED;
  }
  EXPECT_GT(refused, 0u);
  EXPECT_LT(refused, mutations());
}

TEST_P(c_blocks, changed_descriptions_of_ldpc_encoding) {
  std::mt19937 random(2);
  auto b = ldpc_encodings(8, 1);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < mutations(); i++) {
    wb_ldpc_encode op = b.ops[random() % 8];
    for (unsigned j = random() % 4; j > 0; j--) mutate(op, random, offsetof(wb_ldpc_encode, bits), sizeof op);
    null_sometimes(op.bits, random);
    null_sometimes(op.out, random);
    shorten_sometimes(op.bits_bytes, random);
    shorten_sometimes(op.out_bytes, random);
    wb_done done = {1, 99, 0, 0, 0, 0, 0};
    const wb_status status = run_one(wb_ldpc_encode_run, device, op, done);
    ASSERT_TRUE(status == WB_OK || status == WB_INVALID_ARGUMENT) << wb_last_error();
    if (status != WB_OK) continue;
    ASSERT_TRUE(done.status == 0 || done.status == WB_DONE_REFUSED);
    ASSERT_LE(done.bytes, op.out_bytes);
    refused += done.status != 0;
  }
  EXPECT_GT(refused, 0u);
  EXPECT_LT(refused, mutations());
}

TEST_P(c_blocks, changed_descriptions_of_turbo_decoding) {
  std::mt19937 random(3);
  auto b = turbo_decodings(8, 1, device);
  const std::vector<float> llr(3 * 6176, 1.5f);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < mutations(); i++) {
    wb_turbo_decode op = b.ops[random() % 8];
    for (unsigned j = random() % 4; j > 0; j--) mutate(op, random, offsetof(wb_turbo_decode, llr), sizeof op);
    if (op.llr_format != WB_LLR_INT8 || random() % 4 == 0) {
      op.llr = llr.data();
      op.llr_count = llr.size();
      if (random() % 2 == 0) op.llr_count = 3 * ((op.k + 4 + 31) / 32 * 32) % (llr.size() + 1);
    }
    null_sometimes(op.llr, random);
    null_sometimes(op.bits, random);
    null_sometimes(op.soft, random);
    shorten_sometimes(op.bits_bytes, random);
    shorten_sometimes(op.soft_length, random);
    wb_done done = {1, 99, 0, 0, 0, 0, 0};
    const wb_status status = run_one(wb_turbo_decode_run, device, op, done);
    ASSERT_TRUE(status == WB_OK || status == WB_INVALID_ARGUMENT) << wb_last_error();
    if (status != WB_OK) continue;
    ASSERT_EQ(done.status & ~valid_status, 0u);
    ASSERT_LE(done.bytes, op.bits_bytes);
    refused += done.status == WB_DONE_REFUSED;
  }
  EXPECT_GT(refused, 0u);
  EXPECT_LT(refused, mutations());
}

TEST_P(c_blocks, changed_descriptions_of_turbo_encoding) {
  std::mt19937 random(4);
  auto b = turbo_encodings(8, 1);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < mutations(); i++) {
    wb_turbo_encode op = b.ops[random() % 8];
    for (unsigned j = random() % 4; j > 0; j--)
      mutate(op, random, offsetof(wb_turbo_encode, bits), sizeof op);
    null_sometimes(op.bits, random);
    null_sometimes(op.out, random);
    shorten_sometimes(op.bits_bytes, random);
    shorten_sometimes(op.out_bytes, random);
    wb_done done = {1, 99, 0, 0, 0, 0, 0};
    const wb_status status = run_one(wb_turbo_encode_run, device, op, done);
    ASSERT_TRUE(status == WB_OK || status == WB_INVALID_ARGUMENT) << wb_last_error();
    if (status != WB_OK) continue;
    ASSERT_TRUE(done.status == 0 || done.status == WB_DONE_REFUSED);
    ASSERT_LE(done.bytes, op.out_bytes);
    refused += done.status != 0;
  }
  EXPECT_GT(refused, 0u);
  EXPECT_LT(refused, mutations());
}

}  // namespace c_blocks_test
}  // namespace wb
