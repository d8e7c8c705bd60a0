#pragma once
// The op that the 16-bit decoders of convolutional codes derive from: windows of codewords are the lanes of
// values.
#include <warpband/fec/conv/conv_short_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Op derives from it and has flops(), decode_windows(), which decodes the windows of one value, and `scale`:
/// weights are multiples of 2^scale. Parts: its conv_parts.
template <class Op, class Parts, class V, class Code, class Args>
struct conv_short_op {
  static constexpr bool by_block = true;
  static constexpr int most_threads = 32, resident = 8;  // as many as shared memory holds of K = 7
  static constexpr int S = Parts::states, L = i16x::lanes, lanes = conv_short_lanes::count;
  /// Threads of a warp that share the windows of a value.
  static constexpr int members = Parts::count < 32 ? Parts::count : 32;
  static constexpr int codes_each = Parts::template code_count<Code>;

  Args a;
  int tiles;               // of a block; each has the windows of one value of lanes
  int at_once;             // codewords of a call
  std::size_t flag_bytes;  // before the first tile
  /// Of a tile. Tiles begin in different banks of shared memory.
  std::size_t tile_bytes = WB_WIDTH > 1 ? 0 : 16;
  std::size_t table_at, codes_at = 0, rows_at = 0, staged_at = 0;  // where these lie in a tile's bytes

  int threads() const { return tiles * members; }
  std::size_t scratch_bytes(int) const { return flag_bytes + tile_bytes * static_cast<std::size_t>(tiles); }
  double bytes() const {
    double outputs = (a.bits.data ? 1.0 : 0.0) * a.code.k;
    if constexpr (requires { a.soft; }) outputs += (a.soft.data ? 4.0 : 0.0) * a.code.k;
    return (a.llr8.data ? 1.0 * static_cast<double>(a.llr8.elements)
                        : 4.0 * static_cast<double>(a.llr.elements)) +
           outputs + (a.status.data ? 1 : 0);
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
               static_cast<char*>(scratch) + flag_bytes + tile_bytes * static_cast<std::size_t>(tile));
    g.sync();
    for (int q = 0; q < items; q++) {
      const int status = conv_short_status(a, usable[q], spoilt[q]);
      const std::size_t item = first + static_cast<std::size_t>(q);
      if (g.rank == 0 && a.status.data != nullptr)
        a.status.data[item * a.status.item_stride] = static_cast<std::uint8_t>(status);
      if (status == 0) continue;
      clear(a.bits, item, g);
      if constexpr (requires { a.soft; }) clear(a.soft, item, g);
    }
  }

 protected:
  explicit conv_short_op(const Args& args) : a(args), tiles(args.by_warp ? 32 / members : 1) {
    using branches = conv_short_branches<V, solo, Code>;
    const int windows = tiles * lanes;
    at_once = windows > a.windows ? windows / a.windows : 1;
    flag_bytes = (2 * static_cast<std::size_t>(at_once) * sizeof(std::int32_t) + 127) / 128 * 128;
    table_at = take(sizeof(short_element) * L * conv_run * branches::row_values(a.code.outputs));
    if (WB_WIDTH > 1 || i16x::items == 1) codes_at = take(sizeof(int) * Parts::count * codes_each);
    if (WB_WIDTH > 1) rows_at = take(L * branches::row_bytes), staged_at = take(L * branches::row_bytes);
  }
  /// So many more bytes of a tile: where they lie.
  std::size_t take(std::size_t size) {
    const std::size_t offset = tile_bytes;
    tile_bytes += (size + 63) / 64 * 64;
    return offset;
  }
  WB_HD static short_element* shorts(char* scratch, std::size_t offset) {
    return reinterpret_cast<short_element*>(scratch + offset);
  }

 private:
  template <class X, class G>
  WB_HD void clear(const view<X>& values, std::size_t item, G g) const {
    if (values.data == nullptr) return;
    for (int i = g.rank; i < a.code.k; i += g.size)
      values.data[static_cast<std::size_t>(i) * values.element_stride + item * values.item_stride] = X(0);
  }
  /// The windows of one value.
  template <class G>
  WB_HD void decode(std::size_t first, int items, int value, G g, std::int32_t* usable, std::int32_t* spoilt,
                    char* scratch) const {
    conv_short_lanes lane_map;
    bool bad[lanes];
    conv_short_fill(lane_map, bad, first, items, a.windows, value);
    constexpr int parts_each = (Parts::count + G::size - 1) / G::size;
#if defined(__CUDACC__)
    int codes[parts_each * codes_each];
#else
    int* codes = reinterpret_cast<int*>(scratch + codes_at) + g.rank * (parts_each * codes_each);
#endif
    WB_UNROLL_ON_DEVICE for (int i = 0; i < parts_each; i++)
        Parts::template find_codes<Code>(a.code, g.rank + i * G::size, codes + i * codes_each);
    conv_short_branches<V, G, Code> branches{a,
                                             lane_map,
                                             g,
                                             shorts(scratch, table_at),
                                             reinterpret_cast<signed char*>(scratch + rows_at),
                                             reinterpret_cast<byte_element*>(scratch + staged_at),
                                             bad,
                                             Op::scale,
                                             to_short(0)};
    static_cast<const Op&>(*this).decode_windows(lane_map, g, scratch, codes, branches, usable);
    WB_UNROLL_ON_DEVICE for (int l = 0; l < lanes; l++) if (bad[l] && lane_map.stores[l])
        set_flag(spoilt + lane_map.codeword[l]);
  }
};

}  // namespace WB_ISA
}  // namespace wb
