#pragma once
// The turbo decoder with windows side by side as an op: load, iterations, store. IO is the part that depends
// on the numbers: turbo_windows_io of their weights.
#include <warpband/core/large_llr.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/fec/turbo/turbo_windows_body.hpp>
#include <warpband/fec/usable.hpp>

namespace wb {
inline namespace WB_ISA {

/// Arguments, and where everything lies in scratch.
template <class C, class V>
struct turbo_windows_setup {
  using values = turbo_windows<C, V>;
  using numbers = V;
  static constexpr int S = C::states, L = V::lanes;
  /// Whether codewords of large LLRs (are_large) have numbers of their own.
  static constexpr bool has_large = requires { typename V::semiring::of_large_llrs; };
  turbo_windows_args a;
  int at_once;
  turbo_windows_plan plan;

  /// On the host.
  explicit turbo_windows_setup(const turbo_windows_args& args) : a(args), plan{} {
    const turbo_lanes& layout = a.lanes;
    at_once = a.groups * layout.codewords * V::items;
    plan.steps = a.k / a.windows;
    plan.columns = a.groups * layout.vectors;
    plan.codewords = at_once;
    std::size_t used = 64;  // a vector's neighbour is read one value before and behind its array
    auto take = [&](std::size_t count, std::size_t size) {
      const std::size_t place = used;
      used = (used + count * size + 127) / 64 * 64;
      return place;
    };
    const auto groups = static_cast<std::size_t>(a.groups), steps = static_cast<std::size_t>(plan.steps),
               columns = static_cast<std::size_t>(plan.columns),
               stride = static_cast<std::size_t>(layout.stride), lanes = static_cast<std::size_t>(L);
    constexpr std::size_t Seg = values::Seg;
    constexpr std::size_t m = sizeof(typename V::metric_element), c = sizeof(typename V::channel_element);
    plan.prior = take(groups * steps * stride, sizeof(typename V::prior_element));
    plan.borders = take(groups * 4 * S * stride, m);
    plan.warm = take(2 * S * columns * lanes, m);
    plan.tails = take(groups * 2 * S * lanes, m);
    // on a CPU of one column at a time, and the weights kept of it
    const std::size_t states = (steps + Seg - 1) / Seg * static_cast<std::size_t>(S / V::together);
    plan.checkpoints = take(V::on_cuda ? states * columns : states + steps, sizeof(typename V::checkpoint));
    plan.systematic = take(groups * steps * stride, c);
    plan.parity = take(2 * groups * steps * stride, c);
    plan.flags = take(3 * static_cast<std::size_t>(plan.codewords), sizeof(std::int32_t));
    plan.large = take(static_cast<std::size_t>(plan.codewords), sizeof(std::int32_t));
    plan.bytes = used;
  }
  /// With the places of another set of numbers of the same sizes.
  WB_HD turbo_windows_setup(const turbo_windows_args& args, int together, const turbo_windows_plan& places)
      : a(args), at_once(together), plan(places) {}
};

template <class IO>
struct turbo_windows_op : IO {
  using values = typename IO::values;
  using V = typename IO::numbers;
  using IO::a;
  using IO::has_large;
  using IO::plan;
  static constexpr bool by_block = true;
  static constexpr int most_threads = 128, resident = V::resident;
  static constexpr int L = V::lanes;

  using IO::IO;

  int threads() const { return a.windows * a.groups; }
  std::size_t scratch_bytes(int) const { return plan.bytes; }
  /// Of a codeword that does all its iterations; of one with stop by CRC that leaves as soon as it may. A
  /// half-iteration steps alpha forward twice and beta back once with an output, and both over the overlaps.
  /// The second pass of alpha starts from the checkpoints, without the last step before each. Packed numbers
  /// count once together. Counted by bench/flops_*_test.cpp.
  double flops() const {
    using M = typename V::semiring;
    constexpr int Seg = values::Seg, Each = M::interval;
    const int steps = plan.steps, segments = steps / Seg, rest = steps % Seg, whole = segments * Seg;
    const auto scalings = [](int n) { return (n + Each - 1) / Each; };  // of n steps from a segment's begin
    // How often alpha steps, beta steps, either is scaled, and the weight of a step is made of two. A short
    // segment begins at its checkpoint for each output.
    double forward = steps + whole - segments + rest * (rest - 1) / 2;
    double backward = steps;
    double normalised = 3.0 * segments * (Seg / Each) - segments + 2.0 * scalings(rest);
    for (int j = 1; j < rest; j++) normalised += scalings(j + 1) - 1;
    double weights = (V::on_cuda ? 2.0 : 1.0) * whole + rest + rest * (rest + 1) / 2;
    if (a.overlap == 0) {
      normalised += 1;
    } else {
      const int before = steps - (steps - a.overlap) / Seg * Seg, behind = (a.overlap + Seg - 1) / Seg * Seg,
                read = (before + Seg - 1) / Seg * Seg + behind;
      forward += before;
      backward += behind;
      normalised += read / Each;
      weights += read;
    }
    const double both = M::forward_flops * forward + M::backward_flops * backward +
                        M::normalise_flops * normalised + (M::output_flops + M::passed_on_flops + 1) * steps;
    constexpr double packed = static_cast<double>(L * V::items) / WB_WIDTH;
    const double iteration = a.windows * (2 * both + weights + M::decision_flops * steps);
    return (a.stop_by_crc ? a.least_iterations : a.iterations) * iteration / packed +
           (a.llr8.data ? V::step_flops : V::float_flops) * 3 * (a.k + 4);
  }
  double bytes() const {
    return (a.llr8.data ? 1.0 : 4.0) * 3 * (a.k + 4) + (a.bits.data ? 1.0 : 0.0) * a.k +
           (a.iterations_used.data ? 4 : 0) + (a.status.data ? 1 : 0);
  }

  template <class G>
  WB_HD void operator()(std::size_t first, int items, G g, void* scratch) const {
    const values w{a, a.lanes, plan, static_cast<char*>(scratch)};
    for (int q = g.rank; q < plan.codewords; q += g.size) {
      erased(w)[q] = 0;
      done(w)[q] = q < items ? 0 : 1;
      *w.large(q) = 0;
    }
    g.sync();
    decode(first, items, g, scratch);
    if constexpr (has_large) {
      bool some = false;
      for (int q = 0; q < items; q++) some = some || is_of_large_llrs(w, q);
      if (!some) return;
      g.sync();
      for (int q = g.rank; q < plan.codewords; q += g.size)
        done(w)[q] = q < items && is_of_large_llrs(w, q) ? 0 : 1;
      g.sync();
      using others = typename IO::template with_semiring<typename V::semiring::of_large_llrs>;
      turbo_windows_op<others>(a, this->at_once, plan).decode(first, items, g, scratch);
    }
  }

  /// Decodes the codewords that are not done, but for those whose LLRs are too large for these numbers.
  template <class G>
  WB_HD_CALL void decode(std::size_t first, int items, G g, void* scratch) const {
    const values w{a, a.lanes, plan, static_cast<char*>(scratch)};
    std::int32_t *const erased = this->erased(w), *const done = this->done(w),
                        *const leaving = done + plan.codewords;
    load(w, first, items, erased, g);
    g.sync();
    count_usable(w, g);
    g.sync();
    for (int q = g.rank; q < plan.codewords; q += g.size)
      if (erased[q] == 0 && usable(w, q, first + static_cast<std::size_t>(q < items ? q : 0)) < a.k)
        erased[q] = status_erased | status_insufficient;
    g.sync();
    if constexpr (has_large) {
      bool some = false;
      for (int q = g.rank; q < plan.codewords; q += g.size) {
        if (is_of_large_llrs(w, q)) done[q] = 1;
        some = some || done[q] == 0;
      }
      if (!g.any(some)) return;
    }
    for (int it = 0;; it++) {
      const bool last = it + 1 == a.iterations;
      w.template begin<0>(g);
      g.sync();
      w.template half_iteration<0>(g, last);
      g.sync();
      w.template begin<1>(g);
      g.sync();
      w.template half_iteration<1>(g, last);
      g.sync();
      const bool may_stop = a.stop_by_crc && it + 1 >= a.least_iterations;
      if (may_stop) {
        remainders(w, g);
        g.sync();
      }
      bool rest = false;
      for (int q = g.rank; q < plan.codewords; q += g.size) {
        const bool stopped = may_stop && remainder(w, q) == 0;
        const bool doubted = stopped && a.doubts_zeros && erased[q] == 0 && all_zeros(w, q);
        leaving[q] = done[q] != 0 ? 0 : doubted ? 3 : stopped ? 2 : last ? 1 : 0;
        if (leaving[q] != 0) done[q] = 1;
        rest = rest || done[q] == 0;
      }
      const bool more = g.any(rest);
      if (may_stop && a.doubts_zeros) {
        for (int q = 0; q < items; q++)
          if (leaving[q] == 3 && !supports_zeros(first + static_cast<std::size_t>(q), g) && g.rank == 0)
            erased[q] = status_erased | status_insufficient;
        g.sync();
      }
      if (last || may_stop) store(w, first, items, erased, leaving, it + 1, g);
      if (!more) break;
      g.sync();
    }
  }

 private:
  WB_HD std::int32_t* erased(const values& w) const {
    return reinterpret_cast<std::int32_t*>(w.scratch + plan.flags);
  }
  WB_HD std::int32_t* done(const values& w) const { return erased(w) + plan.codewords; }
  WB_HD bool is_of_large_llrs(const values& w, int q) const { return are_large(*w.large(q), 3 * (a.k + 4)); }

  template <class G>
  WB_HD void load(const values& w, std::size_t first, int items, std::int32_t* erased, G g) const {
    for (int i = g.rank; i < 2 * plan.codewords; i += g.size) {
      const int q = i / 2;
      const std::size_t item = first + static_cast<std::size_t>(q < items ? q : 0);
      if (!this->load_tail(w, i % 2, q, item)) set_flag(erased + q);
    }
    for (int i = g.rank; i < a.groups * 4 * IO::S * w.layout.stride; i += g.size)
      w.border(0, 0, 0)[i] = V::template alone<typename V::metric_element>();
    for (int i = g.rank; i < a.groups * w.array(); i += g.size)
      w.prior(0)[i] = V::template alone<typename V::prior_element>();
    for (int stream = 0; stream < 3; stream++) this->load_stream(w, stream, first, items, erased, g);
  }

  // What a column has of its codewords is kept in rows, where its metrics of the last half-iteration lay.
  WB_HD auto* kept(const values& w, int row, int column) const {
    return w.metrics(plan.warm) + (row * plan.columns + column) * L;
  }
  /// f(x) of the numbers that a row has of codeword q.
  template <class F>
  WB_HD void each_kept(const values& w, int row, int q, F f) const {
    const turbo_lanes& layout = w.layout;
    const int group = q / (layout.codewords * V::items), within = q % (layout.codewords * V::items);
    const int share = L / layout.codewords;  // lanes of a codeword, or numbers packed in one
    for (int v = 0; v < layout.vectors; v++)
      for (int l = within * share; l < (within + 1) * share; l++)
        f(V::stored_bits(kept(w, row, group * layout.vectors + v), l));
  }

  /// Rows: of each stream the weights that say anything.
  template <class G>
  WB_HD void count_usable(const values& w, G g) const {
    for (int u = g.rank; u < plan.columns; u += g.size) {
      const int group = u / w.layout.vectors, v = u % w.layout.vectors;
      for (int stream = 0; stream < 3; stream++) {
        const auto* x = (stream == 0 ? w.systematic(group) : w.parity(group, stream - 1)) + v * L;
        auto count = V::no_bits();
        for (int j = 0; j < plan.steps; j++) count = count + V::tells(x + j * w.layout.stride);
        V::store_bits(kept(w, stream, u), count);
      }
    }
  }
  /// All of codeword q, with its tails.
  WB_HD int usable(const values& w, int q, std::size_t item) const {
    int n = 0;
    for (int stream = 0; stream < 3; stream++) {
      each_kept(w, stream, q, [&](std::uint32_t x) { n += static_cast<int>(x); });
      for (int i = a.k; i < a.k + 4; i++) n += magnitude(stream * (a.k + 4) + i, item) > a.least ? 1 : 0;
    }
    return n;
  }
  /// Of an LLR as it came.
  WB_HD float magnitude(int element, std::size_t item) const {
    const auto e = static_cast<std::size_t>(element);
    if (a.llr8.data != nullptr)
      return abs(to_float(a.llr8.data[e * a.llr8.element_stride + item * a.llr8.item_stride]) * a.step);
    return abs(a.llr.data[e * a.llr.element_stride + item * a.llr.item_stride]);
  }
  /// Whether enough of the systematic LLRs support an all-zero word (usable.hpp).
  template <class G>
  WB_HD bool supports_zeros(std::size_t item, G g) const {
    float largest = 0.f;
    for (int i = g.rank; i < a.k; i += g.size) largest = max(largest, unless_known(magnitude(i, item)));
    const float least = max(g.max_all(largest) * zeros_least, a.least);
    int n = 0;
    for (int i = g.rank; i < a.k; i += g.size) n += magnitude(i, item) > least ? 1 : 0;
    return zeros_share * a.k <= zeros_whole * g.sum_all(n);
  }

  /// Rows: the remainder of each column's decisions, its lower and upper bits, and whether any is a one.
  template <class G>
  WB_HD void remainders(const values& w, G g) const {
    for (int u = g.rank; u < plan.columns; u += g.size) {
      const int group = u / w.layout.vectors, v = u % w.layout.vectors;
      const auto* x = w.prior(group) + v * L;
      auto low = V::no_bits(), high = V::no_bits(), ones = V::no_bits();
      for (int j = 0; j < plan.steps; j++) {
        const auto one = V::decided(x + j * w.layout.stride);
        low = low ^ (one & V::table_row(w.layout.crc_low + j * w.layout.stride + v * L));
        high = high ^ (one & V::table_row(w.layout.crc_high + j * w.layout.stride + v * L));
        ones = ones | one;
      }
      V::store_bits(kept(w, 0, u), low);
      V::store_bits(kept(w, 1, u), high);
      V::store_bits(kept(w, 2, u), ones);
    }
  }
  WB_HD std::int32_t remainder(const values& w, int q) const {
    std::uint32_t r = 0;
    each_kept(w, 0, q, [&](std::uint32_t x) { r ^= x; });
    each_kept(w, 1, q, [&](std::uint32_t x) { r ^= x << 16; });
    return as_int(r);
  }
  WB_HD bool all_zeros(const values& w, int q) const {
    std::uint32_t ones = 0;
    each_kept(w, 2, q, [&](std::uint32_t x) { ones |= x; });
    return ones == 0;
  }

  template <class G>
  WB_HD void store(const values& w, std::size_t first, int items, const std::int32_t* erased,
                   const std::int32_t* leaving, int iterations, G g) const {
    if (a.bits.data != nullptr) this->store_bits(w, first, items, erased, leaving, g);
    for (int q = g.rank; q < items; q += g.size) {
      if (leaving[q] == 0) continue;
      const std::size_t item = first + static_cast<std::size_t>(q);
      const bool gone = erased[q] != 0;
      if (a.iterations_used.data != nullptr)
        a.iterations_used.data[item * a.iterations_used.item_stride] = gone ? 0 : iterations;
      if (a.status.data != nullptr)
        a.status.data[item * a.status.item_stride] =
            static_cast<std::uint8_t>(gone              ? erased[q]
                                      : leaving[q] >= 2 ? status_stopped
                                                        : 0);
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
