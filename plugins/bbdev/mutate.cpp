// Sends operations that contradict themselves or their buffers to a BBDEV device: wrong sizes, offsets,
// lengths and flags, missing and chained mbufs. Each must come back once, in order, with a status.
//   bbdev_mutate [EAL options] -- OPERATIONS [SEED]
// Buffers are on the heap and as long as their mbuf says, so that AddressSanitizer sees an access beyond
// them.
#include <rte_bbdev.h>
#include <rte_bbdev_op.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <type_traits>
#include <vector>

namespace {

constexpr std::uint32_t bit(unsigned place) { return 1u << place; }
constexpr std::uint32_t slot = 32768;

class source {
 public:
  explicit source(std::uint64_t seed) : bits_(seed) {}
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(bits_() % n); }
  bool chance(std::uint32_t of_100) { return below(100) < of_100; }
  template <class T, std::size_t N>
  T one_of(const T (&list)[N]) {
    return list[below(N)];
  }
  /// Limits of the type, small numbers, or any.
  template <class T>
  T odd() {
    const T list[] = {
        0, 1, 2, 3, 7, 8, 24, std::numeric_limits<T>::max(), T(std::numeric_limits<T>::max() - 7)};
    return chance(60) ? one_of(list) : static_cast<T>(bits_());
  }
  void fill(std::vector<std::uint8_t>& bytes) {
    for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(bits_());
  }

 private:
  std::mt19937_64 bits_;
};

/// An mbuf with a buffer of exactly the size that it states.
struct message {
  std::vector<rte_mbuf> mbufs = std::vector<rte_mbuf>(2);
  std::vector<std::uint8_t> bytes;
  std::uint16_t length_before = 0;

  rte_mbuf* make(source& random, std::uint32_t headroom, std::uint32_t length, std::uint32_t tailroom) {
    const std::uint32_t size = std::min(headroom + length + tailroom, 65535u);
    bytes.resize(size);
    bytes.shrink_to_fit();
    random.fill(bytes);
    rte_mbuf& head = mbufs[0];
    head.buf_addr = bytes.data();
    head.buf_len = static_cast<std::uint16_t>(size);
    head.data_off = static_cast<std::uint16_t>(std::min(headroom, size));
    head.data_len = length_before = static_cast<std::uint16_t>(std::min(length, size - head.data_off));
    head.pkt_len = head.data_len;
    head.nb_segs = 1;
    return &head;
  }
  const rte_mbuf& head() const { return mbufs[0]; }
  bool fits() const { return std::uint32_t{head().data_off} + head().data_len <= head().buf_len; }
};

/// An operation with its five buffers.
template <class Op>
struct trial {
  Op op{};
  std::array<message, 5> messages;
  unsigned returned = 0;
};

rte_bbdev_op_data input(source& random, message& m, std::uint32_t bytes) {
  const std::uint32_t offset = random.chance(20) ? random.below(9) : 0;
  return {.data = m.make(random, random.below(3) * 64, offset + bytes, random.below(3)),
          .offset = offset,
          .length = bytes};
}
rte_bbdev_op_data output(source& random, message& m, std::uint32_t bytes) {
  const std::uint32_t offset = random.chance(20) ? random.below(9) : 0;
  return {.data = m.make(random, random.below(3) * 64, 0, offset + bytes + random.below(3)),
          .offset = offset,
          .length = 0};
}
/// Breaks one thing of a buffer.
void mutate(source& random, rte_bbdev_op_data& data, message& m) {
  switch (random.below(7)) {
    case 0:
      data.data = nullptr;
      break;
    case 1:
      data.offset = random.odd<std::uint32_t>();
      break;
    case 2:
      data.length = random.odd<std::uint32_t>();
      break;
    case 3:
      m.mbufs[0].next = &m.mbufs[1];
      m.mbufs[0].nb_segs = 2;
      break;
    case 4:  // shorter
      m.make(random, 0, random.below(m.head().data_len + 1u), 0);
      break;
    case 5:
      m.make(random, 0, 0, random.below(64));
      break;
    default:
      m.make(random, random.below(128), random.below(2048), random.below(2048));
  }
}

struct code {
  std::uint32_t graph, z, k, n;
};
code any_code(source& random) {
  static constexpr std::uint32_t small[] = {2, 3, 4, 5, 7, 8, 9, 10, 11, 13, 15, 16, 20, 24, 32},
                                 large[] = {64, 112, 208, 240, 288, 320, 352, 384};
  const std::uint32_t graph = 1 + random.below(2),
                      z = random.chance(95) ? random.one_of(small) : random.one_of(large);
  return {graph, z, (graph == 1 ? 22 : 10) * z, (graph == 1 ? 66 : 50) * z};
}
std::uint32_t any_turbo_size(source& random) {
  return random.chance(95)   ? 40 + 8 * random.below(20)
         : random.chance(50) ? 512 + 16 * random.below(33)
                             : 2112 + 64 * random.below(64);
}
/// Fields that both LDPC operations have.
template <class Ldpc>
void mutate_code(source& random, Ldpc& op) {
  switch (random.below(9)) {
    case 0:
      op.basegraph = random.odd<std::uint8_t>();
      break;
    case 1:
      op.z_c = random.odd<std::uint16_t>();
      break;
    case 2:
      op.n_cb = random.odd<std::uint16_t>();
      break;
    case 3:
      op.q_m = random.odd<std::uint8_t>();
      break;
    case 4:
      op.n_filler = random.odd<std::uint16_t>();
      break;
    case 5:
      op.rv_index = random.odd<std::uint8_t>();
      break;
    case 6:
      op.code_block_mode = random.odd<std::uint8_t>();
      break;
    case 7:
      op.op_flags = random.chance(50) ? op.op_flags ^ bit(random.below(32)) : random.odd<std::uint32_t>();
      break;
    default:
      if (op.code_block_mode == RTE_BBDEV_CODE_BLOCK) {
        op.cb_params.e = random.odd<std::uint32_t>();
      } else {
        auto& tb = op.tb_params;
        const std::uint32_t which = random.below(5);
        if (which == 0) tb.ea = random.odd<std::uint32_t>();
        if (which == 1) tb.eb = random.odd<std::uint32_t>();
        if (which == 2) tb.c = random.odd<std::uint8_t>();
        if (which == 3) tb.r = random.odd<std::uint8_t>();
        if (which == 4) tb.cab = random.odd<std::uint8_t>();
      }
  }
}
template <class Ldpc>
void set_code(source& random, Ldpc& op, const code& c, std::uint32_t e, std::uint32_t blocks) {
  op.basegraph = static_cast<std::uint8_t>(c.graph);
  op.z_c = static_cast<std::uint16_t>(c.z);
  op.n_cb = static_cast<std::uint16_t>(random.chance(70) ? c.n : c.k + random.below(c.n - c.k) + 1);
  op.rv_index = static_cast<std::uint8_t>(random.below(4));
  op.code_block_mode = blocks == 0 ? RTE_BBDEV_CODE_BLOCK : RTE_BBDEV_TRANSPORT_BLOCK;
  if (blocks == 0) {
    op.cb_params.e = e;
  } else {
    op.tb_params = {.ea = e, .eb = e, .c = static_cast<std::uint8_t>(blocks), .r = 0, .cab = 1};
  }
}
/// A length that Qm divides.
std::uint32_t any_length(source& random, const code& c, std::uint32_t order) {
  return order * (1 + (c.k + random.below(2 * c.n)) / order);
}

void make(source& random, bool memory, trial<rte_bbdev_dec_op>& t,
          std::integral_constant<int, RTE_BBDEV_OP_LDPC_DEC>) {
  rte_bbdev_op_ldpc_dec& op = t.op.ldpc_dec;
  const code c = any_code(random);
  static constexpr std::uint32_t orders[] = {1, 2, 4, 6, 8};
  const std::uint32_t order = random.one_of(orders),
                      e = std::min(any_length(random, c, order), 60000u / order * order);
  const std::uint32_t blocks = random.chance(80) ? 0 : 1 + random.below(3);
  set_code(random, op, c, e, blocks);
  op.q_m = static_cast<std::uint8_t>(order);
  op.n_filler =
      static_cast<std::uint16_t>(random.chance(50) ? c.k % 8 : c.k % 8 + 8 * random.below(1 + c.k / 32));
  op.iter_max = static_cast<std::uint8_t>(1 + random.below(8));
  for (const std::uint32_t flag : {0, 1, 2, 3, 4, 5, 6, 11})
    if (random.chance(flag == 11 ? 80 : 25)) op.op_flags |= bit(flag);
  const std::uint32_t n = blocks == 0 ? 1 : blocks;
  op.input = input(random, t.messages[0], n * e);
  op.hard_output = output(random, t.messages[1], n * (c.k / 8 + 1));
  op.harq_combined_input = input(random, t.messages[2], random.below(c.n) + 1);
  op.harq_combined_output = output(random, t.messages[3], c.n);
  if (memory) {
    op.harq_combined_input.offset = slot * random.below(40);
    op.harq_combined_output.offset = slot * random.below(40);
    if (random.chance(20)) op.op_flags |= bit(16) | bit(17);
    if (random.chance(10)) {
      op.op_flags = bit(18) | bit(random.chance(50) ? 16 : 17);
      (random.chance(50) ? op.harq_combined_input : op.harq_combined_output).offset = 0;
    }
  }
  for (unsigned faults = random.below(4); faults != 0; --faults) {
    switch (random.below(8)) {
      case 0:
        mutate(random, op.input, t.messages[0]);
        break;
      case 1:
        mutate(random, op.hard_output, t.messages[1]);
        break;
      case 2:
        mutate(random, op.harq_combined_input, t.messages[2]);
        break;
      case 3:
        mutate(random, op.harq_combined_output, t.messages[3]);
        break;
      case 4:
        op.iter_max = random.one_of({std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{64}, std::uint8_t{255}});
        break;
      default:
        mutate_code(random, op);
    }
  }
}

void make(source& random, bool, trial<rte_bbdev_enc_op>& t,
          std::integral_constant<int, RTE_BBDEV_OP_LDPC_ENC>) {
  rte_bbdev_op_ldpc_enc& op = t.op.ldpc_enc;
  const code c = any_code(random);
  static constexpr std::uint32_t orders[] = {1, 2, 4, 6, 8, 10};
  const std::uint32_t order = random.one_of(orders), e = any_length(random, c, order);
  const std::uint32_t blocks = random.chance(70) ? 0 : 1 + random.below(4);
  set_code(random, op, c, e, blocks);
  op.q_m = static_cast<std::uint8_t>(order);
  op.n_filler =
      static_cast<std::uint16_t>(random.chance(50) ? c.k % 8 : c.k % 8 + 8 * random.below(1 + c.k / 32));
  for (const std::uint32_t flag : {0, 1, 2, 3, 4})
    if (random.chance(flag == 1 ? 90 : 25)) op.op_flags |= bit(flag);
  const std::uint32_t n = blocks == 0 ? 1 : blocks;
  op.input = input(random, t.messages[0], n * (c.k / 8 + 1));
  op.output = output(random, t.messages[1], n * (e / 8 + 1));
  for (unsigned faults = random.below(4); faults != 0; --faults) {
    switch (random.below(5)) {
      case 0:
        mutate(random, op.input, t.messages[0]);
        break;
      case 1:
        mutate(random, op.output, t.messages[1]);
        break;
      default:
        mutate_code(random, op);
    }
  }
}

void make(source& random, bool, trial<rte_bbdev_dec_op>& t,
          std::integral_constant<int, RTE_BBDEV_OP_TURBO_DEC>) {
  rte_bbdev_op_turbo_dec& op = t.op.turbo_dec;
  const std::uint32_t k = any_turbo_size(random), k_other = any_turbo_size(random),
                      blocks = random.chance(70) ? 0 : 1 + random.below(3), n = blocks == 0 ? 1 : blocks;
  op.code_block_mode = blocks == 0 ? RTE_BBDEV_CODE_BLOCK : RTE_BBDEV_TRANSPORT_BLOCK;
  std::uint32_t places = 0, bits = 0;
  for (std::uint32_t r = 0; r < n; ++r) {
    const std::uint32_t k_r = r == 0 ? k : k_other;
    places += 3 * 32 * ((k_r + 35) / 32);
    bits += k_r + 32;
  }
  if (blocks == 0) {
    op.cb_params = {.k = static_cast<std::uint16_t>(k), .e = places};
  } else {
    op.tb_params = {.k_neg = static_cast<std::uint16_t>(k),
                    .k_pos = static_cast<std::uint16_t>(k_other),
                    .c_neg = 1,
                    .c = static_cast<std::uint8_t>(blocks),
                    .cab = 1,
                    .ea = places,
                    .eb = places,
                    .r = 0};
  }
  op.iter_min = random.below(3) & 15u;
  op.iter_max = (2 + random.below(6)) & 15u;
  for (const std::uint32_t flag : {0, 1, 6, 7, 10, 11, 12, 13, 16, 17})
    if (random.chance(flag == 0 ? 80 : 25)) op.op_flags |= bit(flag);
  op.input = input(random, t.messages[0], places);
  op.hard_output = output(random, t.messages[1], bits / 8);
  op.soft_output = output(random, t.messages[2], 3 * bits);
  for (unsigned faults = random.below(4); faults != 0; --faults) {
    switch (random.below(8)) {
      case 0:
        mutate(random, op.input, t.messages[0]);
        break;
      case 1:
        mutate(random, op.hard_output, t.messages[1]);
        break;
      case 2:
        mutate(random, op.soft_output, t.messages[2]);
        break;
      case 3:
        op.iter_min = random.below(16) & 15u;
        op.iter_max = random.below(16) & 15u;
        break;
      case 4:
        op.op_flags = random.chance(50) ? op.op_flags ^ bit(random.below(32)) : random.odd<std::uint32_t>();
        break;
      case 5:
        op.code_block_mode = random.odd<std::uint8_t>();
        break;
      default:
        if (blocks == 0) {
          op.cb_params.k = random.odd<std::uint16_t>();
        } else {
          auto& tb = op.tb_params;
          const std::uint32_t which = random.below(6);
          if (which == 0) tb.k_neg = random.odd<std::uint16_t>();
          if (which == 1) tb.k_pos = random.odd<std::uint16_t>();
          if (which == 2) tb.c_neg = random.odd<std::uint8_t>();
          if (which == 3) tb.c = random.odd<std::uint8_t>();
          if (which == 4) tb.r = random.odd<std::uint8_t>();
          if (which == 5) tb.ea = random.odd<std::uint32_t>();
        }
    }
  }
}

void make(source& random, bool, trial<rte_bbdev_enc_op>& t,
          std::integral_constant<int, RTE_BBDEV_OP_TURBO_ENC>) {
  rte_bbdev_op_turbo_enc& op = t.op.turbo_enc;
  const std::uint32_t k = any_turbo_size(random), k_other = any_turbo_size(random),
                      blocks = random.chance(70) ? 0 : 1 + random.below(3), n = blocks == 0 ? 1 : blocks;
  op.code_block_mode = blocks == 0 ? RTE_BBDEV_CODE_BLOCK : RTE_BBDEV_TRANSPORT_BLOCK;
  const auto buffer = [](std::uint32_t k_r) {
    return static_cast<std::uint16_t>(3 * 32 * ((k_r + 35) / 32));
  };
  const std::uint32_t e = 1 + random.below(4 * k);
  if (blocks == 0) {
    op.cb_params = {.k = static_cast<std::uint16_t>(k), .e = e, .ncb = buffer(k)};
    if (random.chance(30)) op.cb_params.ncb = static_cast<std::uint16_t>(k + random.below(2 * k));
  } else {
    op.tb_params = {.k_neg = static_cast<std::uint16_t>(k),
                    .k_pos = static_cast<std::uint16_t>(k_other),
                    .c_neg = 1,
                    .c = static_cast<std::uint8_t>(blocks),
                    .cab = 1,
                    .ea = e,
                    .eb = e + 8,
                    .ncb_neg = buffer(k),
                    .ncb_pos = buffer(k_other),
                    .r = 0};
  }
  op.rv_index = static_cast<std::uint8_t>(random.below(4));
  for (const std::uint32_t flag : {0, 1, 2, 3})
    if (random.chance(flag == 1 ? 80 : 25)) op.op_flags |= bit(flag);
  op.input = input(random, t.messages[0], (k + (n - 1) * k_other) / 8);
  op.output = output(random, t.messages[1], n * std::max(e / 8 + 2, (3 * std::max(k, k_other) + 12) / 8 + 1));
  for (unsigned faults = random.below(4); faults != 0; --faults) {
    switch (random.below(6)) {
      case 0:
        mutate(random, op.input, t.messages[0]);
        break;
      case 1:
        mutate(random, op.output, t.messages[1]);
        break;
      case 2:
        op.rv_index = random.odd<std::uint8_t>();
        break;
      case 3:
        op.op_flags = random.chance(50) ? op.op_flags ^ bit(random.below(32)) : random.odd<std::uint32_t>();
        break;
      case 4:
        op.code_block_mode = random.odd<std::uint8_t>();
        break;
      default:
        if (blocks == 0) {
          const std::uint32_t which = random.below(3);
          if (which == 0) op.cb_params.k = random.odd<std::uint16_t>();
          if (which == 1) op.cb_params.e = random.odd<std::uint32_t>();
          if (which == 2) op.cb_params.ncb = random.odd<std::uint16_t>();
        } else {
          auto& tb = op.tb_params;
          const std::uint32_t which = random.below(6);
          if (which == 0) tb.k_neg = random.odd<std::uint16_t>();
          if (which == 1) tb.k_pos = random.odd<std::uint16_t>();
          if (which == 2) tb.c = random.odd<std::uint8_t>();
          if (which == 3) tb.r = random.odd<std::uint8_t>();
          if (which == 4) tb.eb = random.odd<std::uint32_t>();
          if (which == 5) tb.ncb_pos = random.odd<std::uint16_t>();
        }
    }
  }
}

struct counts {
  std::uint64_t sent = 0, good = 0, refused = 0, undecoded = 0;
};

[[noreturn]] void fail(const char* why, std::uint64_t operation) {
  std::fprintf(stderr, "operation %llu: %s\n", static_cast<unsigned long long>(operation), why);
  std::exit(1);
}

/// Sends a burst and takes all of it back.
template <int Type, class Op, class Enqueue, class Dequeue>
void burst(source& random, bool memory, std::uint16_t dev, std::uint16_t queue, std::uint32_t n,
           Enqueue enqueue, Dequeue dequeue, counts& count) {
  std::vector<std::unique_ptr<trial<Op>>> trials;
  std::vector<Op*> ops;
  for (std::uint32_t i = 0; i < n; ++i) {
    trials.push_back(std::make_unique<trial<Op>>());
    make(random, memory, *trials.back(), std::integral_constant<int, Type>{});
    for (message& m : trials.back()->messages) m.length_before = m.head().data_len;
    trials.back()->op.status = -1;
    ops.push_back(&trials.back()->op);
  }
  const std::uint64_t give_up = rte_rdtsc() + 120 * rte_get_tsc_hz();  // a device that hangs
  std::uint16_t sent = 0, back = 0;
  std::array<Op*, 16> returned;
  while (back < n) {
    if (sent < n)
      sent = static_cast<std::uint16_t>(
          sent + enqueue(dev, queue, ops.data() + sent, static_cast<std::uint16_t>(n - sent)));
    const std::uint16_t came =
        dequeue(dev, queue, returned.data(), static_cast<std::uint16_t>(1 + random.below(returned.size())));
    for (std::uint16_t i = 0; i < came; ++i, ++back) {
      const std::uint64_t number = count.sent + back;
      if (back >= n || returned[i] != ops[back]) fail("came back out of order or twice", number);
      trial<Op>& t = *trials[back];
      const int status = t.op.status;
      if (status < 0 || status >= 16) fail("has no status", number);
      if ((status & (1 << RTE_BBDEV_DRV_ERROR)) != 0) fail("the device failed", number);
      const bool bad = (status & (1 << RTE_BBDEV_DATA_ERROR)) != 0;
      for (const message& m : t.messages) {
        if (!m.fits()) fail("an mbuf has more data than its buffer", number);
        if (bad && m.head().data_len != m.length_before) fail("a refused operation changed an mbuf", number);
      }
      count.good += status == 0;
      count.refused += bad;
      count.undecoded += status != 0 && !bad;
    }
    if (rte_rdtsc() > give_up) fail("did not come back within 120 s", count.sent + back);
  }
  if (dequeue(dev, queue, returned.data(), 1) != 0) fail("came back twice", count.sent + back);
  count.sent += n;
}

}  // namespace

int main(int argc, char** argv) {
  const int used = rte_eal_init(argc, argv);
  if (used < 0 || argc - used < 2) {
    std::fprintf(stderr, "usage: %s [EAL options] -- OPERATIONS [SEED]\n", argv[0]);
    return 2;
  }
  const std::uint64_t operations = std::strtoull(argv[used + 1], nullptr, 10);
  source random(argc - used > 2 ? std::strtoull(argv[used + 2], nullptr, 10) : 1);
  const std::uint16_t dev = rte_bbdev_find_next(static_cast<std::uint16_t>(-1));
  if (dev >= RTE_BBDEV_MAX_DEVS) {
    std::fputs("no BBDEV device\n", stderr);
    return 2;
  }
  rte_bbdev_info info;
  rte_bbdev_info_get(dev, &info);
  const bool memory = info.drv.harq_buffer_size != 0;
  constexpr rte_bbdev_op_type types[] = {RTE_BBDEV_OP_LDPC_DEC, RTE_BBDEV_OP_LDPC_ENC, RTE_BBDEV_OP_TURBO_DEC,
                                         RTE_BBDEV_OP_TURBO_ENC};
  if (rte_bbdev_setup_queues(dev, std::size(types), info.socket_id) != 0) return 2;
  for (std::uint16_t q = 0; q < std::size(types); ++q) {
    rte_bbdev_queue_conf conf = info.drv.default_queue_conf;
    conf.queue_size = 16;
    conf.op_type = types[q];
    if (rte_bbdev_queue_configure(dev, q, &conf) != 0) return 2;
  }
  if (rte_bbdev_start(dev) != 0) return 2;

  counts count;
  while (count.sent < operations) {
    const auto n =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(1 + random.below(24), operations - count.sent));
    switch (random.below(4)) {
      case 0:
        burst<RTE_BBDEV_OP_LDPC_DEC, rte_bbdev_dec_op>(
            random, memory, dev, 0, n, rte_bbdev_enqueue_ldpc_dec_ops, rte_bbdev_dequeue_ldpc_dec_ops, count);
        break;
      case 1:
        burst<RTE_BBDEV_OP_LDPC_ENC, rte_bbdev_enc_op>(
            random, memory, dev, 1, n, rte_bbdev_enqueue_ldpc_enc_ops, rte_bbdev_dequeue_ldpc_enc_ops, count);
        break;
      case 2:
        burst<RTE_BBDEV_OP_TURBO_DEC, rte_bbdev_dec_op>(random, memory, dev, 2, n, rte_bbdev_enqueue_dec_ops,
                                                        rte_bbdev_dequeue_dec_ops, count);
        break;
      default:
        burst<RTE_BBDEV_OP_TURBO_ENC, rte_bbdev_enc_op>(random, memory, dev, 3, n, rte_bbdev_enqueue_enc_ops,
                                                        rte_bbdev_dequeue_enc_ops, count);
    }
  }
  rte_bbdev_stats stats;
  rte_bbdev_stats_get(dev, &stats);
  if (stats.enqueued_count != count.sent || stats.dequeued_count != count.sent)
    fail("the statistics differ", count.sent);
  std::printf("%llu operations came back: %llu succeeded, %llu not decoded, %llu refused\n",
              static_cast<unsigned long long>(count.sent), static_cast<unsigned long long>(count.good),
              static_cast<unsigned long long>(count.undecoded),
              static_cast<unsigned long long>(count.refused));
  rte_bbdev_close(dev);
  return rte_eal_cleanup() == 0 ? 0 : 1;
}
