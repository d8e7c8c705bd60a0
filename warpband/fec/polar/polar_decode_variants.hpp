#pragma once
// Ops of the list decoder and the list sizes that are built, for polar_decode_kernels.cpp. Short lists have
// up to 8 paths, long lists 16 or 32. "whole" means 16-bit integers (whole16). Separate units keep
// compilation short.
#include <warpband/exec/launch.hpp>
#include <warpband/fec/polar/polar_decode_op.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
template <class T, int L>
inline constexpr int polar_threads = polar_tile<T, L>;
#else
template <class T, int L>
inline constexpr int polar_threads = 1;
#endif

/// float32. A tile of threads has a codeword, with its scratch in shared memory.
template <int L, bool Exact, int Tile>
struct polar_decode_op : polar_decoding<L, Exact> {
  static constexpr bool by_block = false;
  static constexpr int tile = Tile;
  static constexpr bool tiles_in_shared = true;
  std::size_t scratch(int group) const { return this->template values<lane>(group); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    this->template decode_all<T>(item.first, item.valid, g, scratch);
  }
};
/// 16-bit integers. CUDA: as in float32. CPU: a call has the codewords that share vectors.
template <int L, int Tile>
struct polar_whole_op : polar_decoding<L, false> {
#if defined(__CUDACC__)
  static constexpr bool by_block = false;
  static constexpr int tile = Tile;
  static constexpr bool tiles_in_shared = true;
  std::size_t scratch(int group) const { return (this->template values<whole16>(group) + 1) / 2; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    this->template decode_all<whole16>(item.first, item.valid, g, reinterpret_cast<std::int16_t*>(scratch));
  }
#else
  static constexpr bool by_block = true;
  static constexpr int at_once = polar_paths<whole16, solo, L>::codewords;
  std::size_t scratch_bytes(int group) const {
    return sizeof(polar_element<whole16>) * this->template values<whole16>(group);
  }

  template <class G>
  WB_HD void operator()(std::size_t first, int items, G g, void* scratch) const {
    this->template decode_all<whole16>(first, items, g, static_cast<polar_element<whole16>*>(scratch));
  }
#endif
};

template <bool Exact, class F>
static auto with_short_list(const polar_decode_args& a, F f) {
  switch (a.list_size) {
    case 1:
      return f(polar_decode_op<1, Exact, polar_threads<lane, 1>>{{{a}}});
    case 2:
      return f(polar_decode_op<2, Exact, polar_threads<lane, 2>>{{{a}}});
    case 4:
      return f(polar_decode_op<4, Exact, polar_threads<lane, 4>>{{{a}}});
    default:
      return f(polar_decode_op<8, Exact, polar_threads<lane, 8>>{{{a}}});
  }
}
template <bool Exact, class F>
static auto with_long_list(const polar_decode_args& a, F f) {
  return a.list_size == 16 ? f(polar_decode_op<16, Exact, polar_threads<lane, 16>>{{{a}}})
                           : f(polar_decode_op<32, Exact, polar_threads<lane, 32>>{{{a}}});
}

template <class F>
static auto with_short_whole_list(const polar_decode_args& a, F f) {
  switch (a.list_size) {
    case 1:
      return f(polar_whole_op<1, polar_threads<whole16, 1>>{{{a}}});
    case 2:
      return f(polar_whole_op<2, polar_threads<whole16, 2>>{{{a}}});
    case 4:
      return f(polar_whole_op<4, polar_threads<whole16, 4>>{{{a}}});
    default:
      return f(polar_whole_op<8, polar_threads<whole16, 8>>{{{a}}});
  }
}
template <class F>
static auto with_long_whole_list(const polar_decode_args& a, F f) {
  return a.list_size == 16 ? f(polar_whole_op<16, polar_threads<whole16, 16>>{{{a}}})
                           : f(polar_whole_op<32, polar_threads<whole16, 32>>{{{a}}});
}

}  // namespace WB_ISA
}  // namespace wb
