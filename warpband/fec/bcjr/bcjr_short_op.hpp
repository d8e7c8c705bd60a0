#pragma once
// The 16-bit BCJR decoder as an op: windows of codewords are the lanes of values.
#include <warpband/fec/bcjr/bcjr_short_windows.hpp>

namespace wb {
inline namespace WB_ISA {

/// Where everything of a tile lies in scratch, in bytes.
struct bcjr_short_plan {
  std::size_t metrics = 0, runs = 0, stages = 0, ratios = 0, table = 0, codes = 0, rows = 0, staged = 0;
  std::size_t bytes = 0;
  std::size_t flags = 0;  // bytes before the first tile
};

/// Steps of a stage. A CPU's registers hold four states at a time; on CUDA more threads share what shared
/// memory holds the smaller a part is.
template <int Memory>
inline constexpr int bcjr_short_steps = WB_WIDTH > 1 || Memory < 3 || i16x::items == 1 ? 2 : 3;

template <int Memory, bool Paired, class V = i16x, int Steps = bcjr_short_steps<Memory>,
          class Code = conv_any_code>
struct bcjr_short_op {
  using parts = bcjr_parts<Memory, Steps>;
  static constexpr bool by_block = true;
  static constexpr int most_threads = 32, resident = 8;
  static constexpr int S = parts::states, L = i16x::lanes, lanes = conv_short_lanes::count;
  /// Threads of a warp that share the windows of a value.
  static constexpr int members = parts::count < 32 ? parts::count : 32;
  static constexpr int codes_each = parts::template code_count<Code>;

  bcjr_short_args a;
  int tiles;        // of a block; each has the windows of one value of lanes
  int at_once = 1;  // codewords of a call
  bcjr_short_plan plan = {};

  explicit bcjr_short_op(const bcjr_short_args& args) : a(args), tiles(args.by_warp ? 32 / members : 1) {
    const int windows = tiles * lanes;
    at_once = windows > a.windows ? windows / a.windows : 1;
    plan.flags = (2 * static_cast<std::size_t>(at_once) * sizeof(std::int32_t) + 127) / 128 * 128;
    constexpr std::size_t each = sizeof(short_element) * L, set = each * parts::room;
    const auto take = [&](std::size_t size) {
      const std::size_t at = plan.bytes;
      plan.bytes += (size + 63) / 64 * 64;
      return at;
    };
    plan.metrics = take(2 * set);
    plan.runs = take(set * (static_cast<std::size_t>(a.length / parts::run) + 5));  // of two segments
    plan.stages = take(set * (parts::run / Steps));
    plan.ratios = take(each * conv_run);
    plan.table = take(each * conv_run * conv_short_branches<V, solo, Code>::row_values(a.code.outputs));
    if (WB_WIDTH > 1 || i16x::items == 1) plan.codes = take(sizeof(int) * parts::count * codes_each);
    if (WB_WIDTH > 1) {
      plan.rows = take(L * conv_short_branches<V, solo, Code>::row_bytes);
      plan.staged = take(L * conv_short_branches<V, solo, Code>::row_bytes);
    } else {
      plan.bytes = (plan.bytes + 31) / 32 * 32 + 16;  // tiles begin in different banks of shared memory
    }
  }
  int threads() const { return tiles * members; }
  std::size_t scratch_bytes(int) const { return plan.flags + plan.bytes * static_cast<std::size_t>(tiles); }
  /// Of packed numbers together: three for a state and step of a recursion, of which alpha has up to three
  /// passes, and one for a state and stage; two for a state and step of the ratios; of the weights and of the
  /// LLRs that count.
  double flops() const {
    constexpr double packed = static_cast<double>(lanes) / WB_WIDTH, run = parts::run;
    const double weights = 1 << a.code.outputs, window = a.length, overlap = a.overlap;
    const double forward = window > run ? overlap + window - run : overlap, back = window + overlap,
                 again = window * (1 - Steps / run), inside = window;
    return a.windows *
               ((forward + again + inside + back) * (3.0 + 1.0 / Steps) * S + 2.0 * S * window +
                (forward + back) * (weights + 1 + 4.0 * a.code.outputs)) /
               packed +
           (a.soft.data ? a.code.k : 0) + (a.llr8.data ? 0 : 6) * static_cast<double>(a.llr.elements);
  }
  double bytes() const {
    return (a.llr8.data ? 1.0 * static_cast<double>(a.llr8.elements)
                        : 4.0 * static_cast<double>(a.llr.elements)) +
           (a.bits.data ? 1.0 : 0.0) * a.code.k + (a.soft.data ? 4.0 : 0.0) * a.code.k +
           (a.status.data ? 1 : 0);
  }

  template <class G>
  WB_HD void operator()(std::size_t first, int items, G g, void* scratch) const {
    std::int32_t *usable = static_cast<std::int32_t*>(scratch), *spoilt = usable + at_once;
    for (int q = g.rank; q < 2 * at_once; q += g.size) usable[q] = 0;
    g.sync();
    constexpr int together = std::is_same_v<G, solo> ? 1 : members;
    const int tile = g.rank / together;
    if (tile < tiles)
      for (int value = 0; value * lanes < at_once * a.windows; value += tiles)  // of all tiles alike
        decode(first, items, value + tile, typename conv_short_team<together, G>::type{}, usable, spoilt,
               static_cast<char*>(scratch) + plan.flags + plan.bytes * static_cast<std::size_t>(tile));
    g.sync();
    for (int q = 0; q < items; q++) {
      const int status = conv_short_status(a, usable[q], spoilt[q]);
      const std::size_t item = first + static_cast<std::size_t>(q);
      if (g.rank == 0 && a.status.data != nullptr)
        a.status.data[item * a.status.item_stride] = static_cast<std::uint8_t>(status);
      if (status == 0) continue;
      for (int i = g.rank; i < a.code.k; i += g.size) {
        const auto t = static_cast<std::size_t>(i);
        if (a.bits.data != nullptr) a.bits.data[t * a.bits.element_stride + item * a.bits.item_stride] = 0;
        if (a.soft.data != nullptr) a.soft.data[t * a.soft.element_stride + item * a.soft.item_stride] = 0.f;
      }
    }
  }

 private:
  /// The windows of one value.
  template <class G>
  WB_HD void decode(std::size_t first, int items, int value, G g, std::int32_t* usable, std::int32_t* spoilt,
                    char* scratch) const {
    conv_short_lanes of;
    bool bad[lanes];
    conv_short_fill(of, bad, first, items, a.windows, value);
    const auto at = [&](std::size_t place)
                        WB_INLINE_LAMBDA { return reinterpret_cast<short_element*>(scratch + place); };
    constexpr int parts_each = (parts::count + G::size - 1) / G::size;
#if defined(__CUDACC__)
    int codes[parts_each * codes_each];
#else
    int* codes = reinterpret_cast<int*>(scratch + plan.codes) + g.rank * (parts_each * codes_each);
#endif
    WB_UNROLL_ON_DEVICE for (int i = 0; i < parts_each; i++)
        parts::template find_codes<Code>(a.code, g.rank + i * G::size, codes + i * codes_each);
    conv_short_branches<V, G, Code> branches{a,
                                             of,
                                             g,
                                             at(plan.table),
                                             reinterpret_cast<signed char*>(scratch + plan.rows),
                                             reinterpret_cast<byte_element*>(scratch + plan.staged),
                                             bad,
                                             0,
                                             to_short(0)};
    const bcjr_short_space space{at(plan.metrics), at(plan.runs), at(plan.stages), at(plan.ratios)};
    bcjr_windows<Memory, Steps, Paired, Code, V, G>{a, of, g, space, codes, branches, usable}.run();
    WB_UNROLL_ON_DEVICE for (int l = 0; l < lanes; l++) if (bad[l] && of.stores[l])
        set_flag(spoilt + of.codeword[l]);
  }
};

}  // namespace WB_ISA
}  // namespace wb
