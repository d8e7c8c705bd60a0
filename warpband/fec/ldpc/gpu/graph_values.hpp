#pragma once
// Values of two codewords of a 5G NR code that a CUDA block decodes: a row of each block row for each thread,
// with code of its own for every row of the base graph.
#include <utility>

#include <warpband/exec/async_copies.hpp>
#include <warpband/fec/ldpc/gpu/block_values.hpp>
#include <warpband/fec/ldpc/gpu/packed_messages.hpp>
#include <warpband/fec/ldpc/nr/base_graph.hpp>

namespace wb {
inline namespace WB_ISA {

/// A-posteriori LLRs in bit order, in shared memory. Messages of the first rows are in registers, those of
/// rows before InShared in shared memory, and those of the others packed in device memory. Z: the lifting
/// size where the compiler is to know it, or 0.
template <class T, int Graph, int Z, int InShared>
struct graph_values : block_values<T, 1> {  // the messages leave few registers
  using base = block_values<T, 1>;
  using element = typename base::element;
  using conversion = typename base::conversion;
  using graph = base_graph_rows<Graph>;
  static_assert(graph::edges <= ldpc_graph_blocks);
  using packed = packed_messages<T>;
  static constexpr bool keeps_messages = false;
  static constexpr int codewords = 2;
  /// What 168 registers of a thread have room for beside a row of 19 edges.
  static constexpr int in_registers = Graph == 1 ? 8 : 17, registers = graph::first(in_registers);
  /// Packed messages of an even and an odd row, read two rows ahead.
  using fetched_words = T[2][packed::words];
  static_assert(base::codewords == codewords && sizeof(element) == 4);

  T message[registers];
  element *in_shared, *in_memory;
  bool first_iteration = true;

  /// fetches: whether the call has room for fetch_channel.
  WB_HD graph_values(const ldpc_decode_args& args, void* shared, void* memory, bool fetches)
      : base(args, shared),
        in_shared(this->app + (fetches ? 1 + codewords : 1) * args.n),
        in_memory(static_cast<element*>(memory)) {
    WB_UNROLL for (int i = 0; i < registers; i++) message[i] = T{};
  }

  /// Words of a thread's rows before `row` that are in shared memory, or that are not.
  static constexpr int words_before(int row, bool shared) {
    int words = 0;
    for (int m = in_registers; m < row; m++)
      if ((m < InShared) == shared) words += shared ? graph::degree(m) : packed::words;
    return words;
  }
  static std::size_t shared_bytes(const ldpc_decode_args& a) {
    return sizeof(element) * static_cast<std::size_t>(a.n + words_before(a.rows, true) * a.z);
  }
  /// More bytes, for fetch_channel; 0 if the call's arrays do not lie so that it can copy.
  static std::size_t fetched_bytes(const ldpc_decode_args& a) {
    return a.n % 4 == 0 && lies_in_fours(a.llr) ? sizeof(float) * static_cast<std::size_t>(codewords * a.n)
                                                : 0;
  }
  /// Of device memory for a block; blocks begin where 128 bytes do.
  static std::size_t memory_bytes(const ldpc_decode_args& a) {
    return (sizeof(element) * static_cast<std::size_t>(words_before(a.rows, false) * a.z) + 127) / 128 * 128;
  }

  template <class G>
  WB_HD void clear_messages(G g) const {
    const int rows = ::min(this->a.rows, InShared), words = this->a.firsts[rows] - registers;
    if (has_row(g.rank)) {
      for (int i = 0; i < words; i++) store_message<T>(in_shared + i * z() + g.rank, T{});
    }
  }
  template <class Rule, class G>
  WB_HD void iterate(const Rule& rule, G g) {
    fetched_words fetched;
    update_rows(rule, g.rank, fetched, g, all_rows{});
    first_iteration = false;
  }

  template <class G>
  WB_HD unsigned violated(int, unsigned, G g) const {
    T bad = T{};
    if (has_row(g.rank)) add_parities(g.rank, bad, all_rows{});
    return this->any_of(conversion::sign_bits(bad), g);
  }

  /// Starts to copy the channel LLRs of two codewords, for the next load_channel. Each thread copies what it
  /// will read itself.
  template <class G>
  WB_HD void fetch_channel(std::size_t item, int items, G g) const {
    const auto& llr = this->a.llr;
    WB_UNROLL for (int w = 0; w < codewords; w++) {
      const float* const from =
          llr.data + (item + static_cast<std::size_t>(w < items ? w : 0)) * llr.item_stride;
      const std::uint32_t to = async_copies::address(fetched_channel() + w * this->a.n);
      WB_ROLL for (int e = 4 * g.rank; e < this->a.n; e += 4 * g.size) async_copies::copy16(
          to + static_cast<std::uint32_t>(sizeof(float)) * static_cast<unsigned>(e), from + e);
    }
  }
  /// As that of block_values, with fewer instructions for an LLR. Fetched: after fetch_channel.
  template <bool Fetched, class G>
  WB_HD unsigned load_channel(std::size_t item, int items, G g) const {
    const ldpc_decode_args& a = this->a;
    std::uint32_t largest[codewords] = {};
    f16x usable{0};  // a thread has at most 68 bits
    typename base::quantisers by;
    this->scale(item, items, by);
    const auto taken = [&](const float(&x)[codewords]) WB_INLINE_LAMBDA {
      WB_UNROLL for (int w = 0; w < codewords; w++) largest[w] =
          ::max(largest[w], as_uint(as_int(x[w])) & 0x7fffffffu);
      const T value = conversion::from(by, x);
      usable = sum(usable, to_half(__hne2(halves(f16x{value.x}), halves(f16x{0}))));
      return value;
    };
    if constexpr (Fetched) {
      async_copies::wait();
      WB_ROLL for (int e = 4 * g.rank; e < a.n; e += 4 * g.size) {
        const float* const from = fetched_channel() + e;
        float x[codewords][4];
        WB_UNROLL for (int w = 0; w < codewords; w++) load4(from + w * a.n, x[w]);
        T value[4];
        WB_UNROLL for (int i = 0; i < 4; i++) value[i] = taken({x[0][i], x[1][i]});
        *reinterpret_cast<uint4*>(this->app + e) = {value[0].x, value[1].x, value[2].x, value[3].x};
      }
    } else {
      const std::size_t first = static_cast<std::size_t>(g.rank) * a.llr.element_stride,
                        step = static_cast<std::size_t>(g.size) * a.llr.element_stride;
      const float* from[codewords];
      WB_UNROLL for (int w = 0; w < codewords; w++) from[w] =
          a.llr.data + first + (item + static_cast<std::size_t>(w < items ? w : 0)) * a.llr.item_stride;
      constexpr int ahead = 8;  // loads in flight
      for (int e = g.rank; e < a.n; e += ahead * g.size) {
        float x[ahead][codewords];
        WB_UNROLL for (int i = 0; i < ahead; i++) if (e + i * g.size < a.n) {
          WB_UNROLL for (int w = 0; w < codewords; w++) x[i][w] =
              __ldcs(from[w] + static_cast<std::size_t>(i) * step);
        }
        WB_UNROLL for (int i = 0; i < ahead; i++) if (e + i * g.size < a.n)
            store_message<T>(this->app + e + i * g.size, taken(x[i]));
        WB_UNROLL for (int w = 0; w < codewords; w++) from[w] += ahead * step;
      }
    }
    return check_channel(item, items, largest, usable, g);
  }

  template <class G>
  WB_HD void store(std::size_t item, unsigned leaving, unsigned erased, unsigned stopped, int iterations, int,
                   G g) const {
    const ldpc_decode_args& a = this->a;
    const bool fours = a.bits.elements % 4 == 0 && lies_in_fours(a.bits);
    if (a.bits.data && fours) store_four_bits(item, leaving, g);
    WB_UNROLL for (int w = 0; w < codewords; w++) {
      if ((leaving >> w & 1u) == 0) continue;
      const std::size_t i = item + static_cast<std::size_t>(w);
      const unsigned gone = erased >> 8 * w & 0xffu;
      if (a.bits.data && !fours) store_bits(i, w, g);
      if (a.soft.data) store_soft(i, w, g);
      if (a.extrinsic.data)
        this->each_channel(static_cast<int>(a.extrinsic.elements), i, g,
                           [&](int e, T c) { this->store_extrinsic(e, i, w, gone != 0, c); });
      if (g.rank == 0) this->store_counts(i, gone, (stopped >> w & 1u) != 0, iterations);
    }
  }

 private:
  // Constants of row M and of an edge. As variables, as device code does not call functions of the host.
  template <int M>
  static constexpr int degree = graph::degree(M);
  template <int M>
  static constexpr int first_edge = graph::first(M);
  template <int M>
  static constexpr int own_words_before = words_before(M, M < InShared);
  template <int M>
  static constexpr bool barrier_after = graph::barrier_after(M);
  template <int Edge>
  static constexpr int column_of = base_graphs::entry(Graph, Edge).column;

  WB_HD int z() const { return Z > 0 ? Z : this->a.z; }
  WB_HD bool has_row(int r) const { return r < this->a.z; }

  /// Where row r of a block row finds its bit of an edge's column. Shifts are arguments, in bytes: as
  /// constants they let the compiler compute addresses far ahead, which takes more registers than there are.
  template <int Edge>
  WB_HD element* place(int r) const {
    constexpr int bytes = sizeof(element), column = column_of<Edge>;
    const unsigned offset = static_cast<unsigned>(bytes * r + this->a.byte_shifts[Edge]),
                   wrapped = ::min(offset, offset - static_cast<unsigned>(bytes * z()));
    return reinterpret_cast<element*>(reinterpret_cast<char*>(this->app) + bytes * z() * column + wrapped);
  }

  /// This thread's words of a row behind those in registers, z() apart.
  template <int M>
  WB_HD element* words(int r) const {
    constexpr bool shared = M < InShared;
    return (shared ? in_shared : in_memory) + own_words_before<M> * z() + r;
  }
  template <int M>
  WB_HD void fetch(fetched_words& fetched, int r) const {
    if constexpr (M >= InShared && M < graph::rows) {
      if (M >= this->a.rows) return;
      WB_UNROLL for (int i = 0; i < packed::words; i++) fetched[M % 2][i] =
          first_iteration ? T{} : load_message<T>(words<M>(r) + i * z());
    }
  }
  template <int M>
  WB_HD T last_message(const fetched_words& fetched, int d, int r) const {
    constexpr int first = first_edge<M>;
    if constexpr (M < in_registers)
      return message[first + d];
    else if constexpr (M < InShared)
      return load_message<T>(words<M>(r) + d * z());
    else
      return packed::message(fetched[M % 2][0], fetched[M % 2][1], fetched[M % 2][2].x, d);
  }
  template <int M>
  WB_HD void keep_messages(const check_minima<T>& minima, const T* q, const T* back, int r) {
    constexpr int n = degree<M>, first = first_edge<M>;
    if constexpr (M < in_registers) {
      WB_UNROLL for (int d = 0; d < n; d++) message[first + d] = back[d];
    } else if constexpr (M < InShared) {
      WB_UNROLL for (int d = 0; d < n; d++) store_message<T>(words<M>(r) + d * z(), back[d]);
    } else {
      static_assert(n <= packed::most_edges);
      std::uint32_t bits = 0;
      WB_UNROLL for (int d = 0; d < n; d++) bits |= packed::mark(q[d], minima, d);
      store_message<T>(words<M>(r), minima.m1);
      store_message<T>(words<M>(r) + z(), minima.m2);
      store_message<T>(words<M>(r) + 2 * z(), T{bits});
    }
  }

  // Lists of rows and edges are arguments of functions: nvcc does not inline every lambda that has one, and
  // messages would be in local memory.
  using all_rows = std::make_integer_sequence<int, graph::rows>;
  template <int M>
  using all_edges = std::make_integer_sequence<int, degree<M>>;

  template <class Rule, class G, int... M>
  WB_HD void update_rows(const Rule& rule, int r, fetched_words& fetched, G g,
                         std::integer_sequence<int, M...>) {
    static_cast<void>((update_row<M>(rule, r, fetched, g) && ...));
  }
  /// Whether the code has row M.
  template <int M, class Rule, class G>
  WB_HD bool update_row(const Rule& rule, int r, fetched_words& fetched, G g) {
    if (M >= graph::least_rows && M >= this->a.rows) return false;
    if (has_row(r)) update_edges<M>(rule, r, fetched, all_edges<M>{});
    if (barrier_after<M> || M + 1 == this->a.rows) g.sync();
    return true;
  }
  template <int M, class Rule, int... D>
  WB_HD void update_edges(const Rule& rule, int r, fetched_words& fetched, std::integer_sequence<int, D...>) {
    constexpr int n = degree<M>, first = first_edge<M>;
    element* const app_values[n] = {place<first + D>(r)...};
    T q[n], back[n];
    const auto last_app = [&](int d) { return load_message<T>(app_values[d]); };
    const auto last = [&](int d) { return last_message<M>(fetched, d, r); };
    const auto keep_later = [](int, T) {};
    const auto store_app = [&](int d, T value) { store_message<T>(app_values[d], value); };
    variable_to_check(fixed<n>{}, q, last_app, last);
    fetch<M + 2>(fetched, r);
    const check_minima<T> minima = check_to_variable(rule, fixed<n>{}, q, back);
    posteriors(fixed<n>{}, q, back, keep_later, store_app);
    keep_messages<M>(minima, q, back, r);
  }

  template <int... M>
  WB_HD void add_parities(int r, T& bad, std::integer_sequence<int, M...>) const {
    static_cast<void>((add_parity<M>(r, bad, all_edges<M>{}) && ...));
  }
  template <int M, int... D>
  WB_HD bool add_parity(int r, T& bad, std::integer_sequence<int, D...>) const {
    if (M >= graph::least_rows && M >= this->a.rows) return false;
    constexpr int first = first_edge<M>;
    T odd = T{};
    ((odd = sign_product(odd, load_message<T>(place<first + D>(r)))), ...);
    bad = sign_union(bad, odd);
    return true;
  }

  /// Whether four neighbours of an item are loaded and stored at once.
  template <class X>
  __host__ __device__ static bool lies_in_fours(const view<X>& x) {
    return x.element_stride == 1 && x.item_stride % 4 == 0 &&
           reinterpret_cast<std::uintptr_t>(x.data) % (4 * sizeof(X)) == 0;
  }
  /// Where fetch_channel puts LLRs: behind the a-posteriori ones.
  WB_HD float* fetched_channel() const { return reinterpret_cast<float*>(this->app + this->a.n); }
  /// The end of load_channel: statuses, and zeros in place of erased codewords.
  template <class G>
  WB_HD unsigned check_channel(std::size_t item, int items, const std::uint32_t (&largest)[codewords],
                               f16x usable, G g) const {
    constexpr std::uint32_t infinity = 0x7f800000u;
    unsigned bad = 0, status = 0;
    WB_UNROLL for (int w = 0; w < codewords; w++) bad |= largest[w] >= infinity ? 1u << w : 0u;
    bad = this->any_of(bad, g);
    WB_UNROLL for (int w = 0; w < codewords; w++) {
      const int count = static_cast<int>(message_of<f16x>::get(usable, w));
      status |= ldpc_erasure(this->a, (bad >> w & 1u) == 0, g.sum_all(count)) << 8 * w;
      bad |= (status >> 8 * w & 1u) << w;
    }
    if (bad != 0) {
      for (int e = g.rank; e < this->a.n; e += g.size) {
        unsigned ignored = 0;
        this->put_bit(e, this->cleared(this->channel(e, item, items, ignored), bad));
      }
    }
    g.sync();
    return status;
  }
  /// Decisions of the half w. No a-posteriori LLR is -0.
  template <class G>
  WB_HD void store_bits(std::size_t i, int w, G g) const {
    const auto& bits = this->a.bits;
    const std::size_t step = static_cast<std::size_t>(g.size) * bits.element_stride;
    std::uint8_t* to =
        bits.data + i * bits.item_stride + static_cast<std::size_t>(g.rank) * bits.element_stride;
    for (int e = g.rank; e < static_cast<int>(bits.elements); e += g.size, to += step)
      *to = static_cast<std::uint8_t>(conversion::sign_bits(load_message<T>(this->app + e)) >> w & 1u);
  }
  /// Of all codewords that leave, four neighbours at once.
  template <class G>
  WB_HD void store_four_bits(std::size_t item, unsigned leaving, G g) const {
    const auto& bits = this->a.bits;
    for (int e = 4 * g.rank; e < static_cast<int>(bits.elements); e += 4 * g.size) {
      const uint4 x = *reinterpret_cast<const uint4*>(this->app + e);
      WB_UNROLL for (int w = 0; w < codewords; w++) {
        const auto bit = [&](std::uint32_t both, int i) { return (both >> (15 + 16 * w) & 1u) << 8 * i; };
        const std::uint32_t four = bit(x.x, 0) | bit(x.y, 1) | bit(x.z, 2) | bit(x.w, 3);
        if ((leaving >> w & 1u) != 0)
          *reinterpret_cast<std::uint32_t*>(
              bits.data + (item + static_cast<std::size_t>(w)) * bits.item_stride + e) = four;
      }
    }
  }
  template <class G>
  WB_HD void store_soft(std::size_t i, int w, G g) const {
    const auto& soft = this->a.soft;
    for (std::size_t e = static_cast<std::size_t>(g.rank); e < soft.elements;
         e += static_cast<std::size_t>(g.size))
      soft.data[e * soft.element_stride + i * soft.item_stride] = conversion::llr(
          llr_quantiser(this->a.quanta, i), conversion::get(load_message<T>(this->app + e), w));
  }
};

}  // namespace WB_ISA
}  // namespace wb
