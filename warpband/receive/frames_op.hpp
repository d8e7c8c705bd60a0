#pragma once
// Kernels that move frames between the iterations of a receiver. Nothing is computed in lanes: an item is a
// frame, whose elements the threads of a block share.
#include <warpband/core/group.hpp>
#include <warpband/core/llr.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/status.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/receive/frames_args.hpp>

namespace wb {
inline namespace WB_ISA {

inline int threads_of(std::size_t elements) { return elements < 1024 ? 64 : 256; }

template <class T>
WB_HD T* row_of(const view<T>& v, std::size_t item) {
  return v.data + item * v.item_stride;
}

template <bool Bytes>
struct frames_arrange_op : parts_op<frames_arrange_args> {
  int threads() const { return threads_of(a.elements); }
  double flops() const { return a.scaled ? 3.0 * static_cast<double>(a.elements) : 0; }
  double bytes() const { return (Bytes ? 2.0 : 8.0) * static_cast<double>(a.elements); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const std::size_t row = a.row == nullptr ? first : static_cast<std::size_t>(a.row[first]);
    const auto in = [&] {
      if constexpr (Bytes)
        return a.in_bytes;
      else
        return a.in;
    }();
    const auto out = [&] {
      if constexpr (Bytes)
        return a.out_bytes;
      else
        return a.out;
    }();
    const auto* from = row_of(in, row);
    auto* to = row_of(out, first);
    const std::size_t step = static_cast<std::size_t>(g.size);
    for (std::size_t e = static_cast<std::size_t>(g.rank); e < out.elements; e += step) {
      auto x = from[0];
      x = 0;
      if (e < a.elements) {
        x = from[(a.order == nullptr ? e : static_cast<std::size_t>(a.order[e])) * in.element_stride];
        if constexpr (!Bytes)
          if (a.scaled) x = saturate(a.factor * x, a.limit) + 0.f;
      }
      to[e * out.element_stride] = x;
    }
  }
};

struct frames_gather_op : parts_op<frames_gather_args> {
  int threads() const { return threads_of(a.rows * a.elements * static_cast<std::size_t>(a.width)); }
  double flops() const { return 0; }
  double bytes() const { return 8.0 * static_cast<double>(a.rows * a.elements) * a.width; }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const std::size_t frame = static_cast<std::size_t>(a.frame[first]),
                      width = static_cast<std::size_t>(a.width), of_row = a.elements * width,
                      values = a.rows * of_row, step = static_cast<std::size_t>(g.size);
    float* out = a.out + first * values;
    if (side_by_side(of_row)) {
      copy(a.in + frame * a.of_frame / a.shared * a.row_stride, out, values, g);
      return;
    }
    for (std::size_t i = static_cast<std::size_t>(g.rank); i < values; i += step) {
      const std::size_t row = i / of_row, e = (i - row * of_row) / width, part = i % width;
      const std::size_t source = (frame * a.of_frame + row * a.step) / a.shared;
      out[i] = a.in[source * a.row_stride + e * a.element_stride + part];
    }
  }

 private:
  /// Whether the rows of a frame are one piece of `in`.
  WB_HD bool side_by_side(std::size_t of_row) const {
    if (a.element_stride != static_cast<std::size_t>(a.width)) return false;
    if (a.rows == 1) return true;
    return a.row_stride == of_row && a.step == a.shared && (a.shared == 1 || a.of_frame % a.shared == 0);
  }
  template <class G>
  WB_HD static void copy(const float* from, float* to, std::size_t count, G g) {
    std::size_t done = 0;
#if defined(__CUDACC__)
    if ((reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to)) % sizeof(float4) ==
        0) {
      constexpr std::size_t ahead = 4;  // loads in flight
      const std::size_t pieces = count / 4, step = static_cast<std::size_t>(g.size);
      const auto* source = reinterpret_cast<const float4*>(from);
      for (std::size_t i = static_cast<std::size_t>(g.rank); i < pieces; i += ahead * step) {
        float4 x[ahead];
        WB_UNROLL for (std::size_t k = 0; k < ahead; k++) {
          if (i + k * step < pieces) x[k] = source[i + k * step];
        }
        WB_UNROLL for (std::size_t k = 0; k < ahead; k++) {
          if (i + k * step < pieces) reinterpret_cast<float4*>(to)[i + k * step] = x[k];
        }
      }
      done = 4 * pieces;
    }
#endif
    for (std::size_t i = done + static_cast<std::size_t>(g.rank); i < count;
         i += static_cast<std::size_t>(g.size))
      to[i] = from[i];
  }
};

/// One item. Each thread counts in a run of the list; a new list has behind each other what they counted.
struct frames_list_op : parts_op<frames_list_args> {
  int threads() const { return 256; }
  std::size_t scratch_bytes(int group) const {
    return sizeof(std::int32_t) * static_cast<std::size_t>(group + 1);
  }
  double flops() const { return 0; }
  double bytes() const { return 19.0 * a.listed; }

  template <class G>
  WB_HD void operator()(std::size_t, int, G g, void* scratch) const {
    auto* counts = static_cast<std::int32_t*>(scratch);
    const std::int32_t run = (a.listed + g.size - 1) / g.size, begin = g.rank * run,
                       end = begin + run < a.listed ? begin + run : a.listed;
    std::int32_t unfinished = 0;
    for (std::int32_t i = begin; i < end; i++) {
      const bool done = a.finished[i] != 0 || (!a.first && a.done[i] != 0);
      a.done[i] = done ? 1 : 0;
      unfinished += done ? 0 : 1;
    }
    counts[g.rank] = unfinished;
    g.sync();
    std::int32_t position = 0, left = 0;
    for (int t = 0; t < g.size; t++) {
      if (t == g.rank) position = left;
      left += counts[t];
    }
    if (g.rank == 0) *a.count = left;
    const bool anew = left < a.enough;
    for (std::int32_t i = begin; i < end; i++) {
      const std::int32_t frame = a.before == nullptr ? i : a.before[i];
      const bool stays = a.done[i] == 0;
      a.place[frame] = !stays ? -1 : anew ? position : i;
      if (!stays || !anew) continue;
      a.list[position] = frame;
      a.from[position] = i;
      position++;
    }
    if (!anew) return;
    for (std::int32_t i = begin; i < end; i++) a.done[i] = 0;
  }
};

struct frames_keep_op : parts_op<frames_keep_args> {
  int threads() const {
    return threads_of(a.bits_out.elements + a.extrinsic_out.elements + a.detected_out.elements);
  }
  double flops() const { return 0; }
  double bytes() const {
    return 2.0 * static_cast<double>(a.bits_out.elements) +
           8.0 * static_cast<double>(a.extrinsic_out.elements + a.detected_out.elements) + 10;
  }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    const std::int32_t place = a.place == nullptr ? static_cast<std::int32_t>(first) : a.place[first];
    copy(g, a.bits, a.bits_before, a.bits_out, first, place);
    copy(g, a.ok, a.ok_before, a.ok_out, first, place);
    copy(g, a.status, a.status_before, a.status_out, first, place);
    copy(g, a.extrinsic, a.extrinsic_before, a.extrinsic_out, first, place);
    copy(g, a.detected, a.detected_before, a.detected_out, first, place);
    if (a.iterations_out.data == nullptr || g.rank != 0) return;
    const std::int32_t before = *row_of(a.iterations_before, first);
    *row_of(a.iterations_out, first) =
        place < 0 ? before : before + *row_of(a.iterations, static_cast<std::size_t>(place));
  }

 private:
  template <class G, class X>
  WB_HD static void copy(G g, const view<const X>& latest, const view<const X>& before, const view<X>& out,
                         std::size_t frame, std::int32_t place) {
    if (out.data == nullptr || (place < 0 && before.data == out.data)) return;
    const view<const X>& source = place < 0 ? before : latest;
    const X* from = row_of(source, place < 0 ? frame : static_cast<std::size_t>(place));
    X* to = row_of(out, frame);
    const std::size_t step = static_cast<std::size_t>(g.size);
    for (std::size_t e = static_cast<std::size_t>(g.rank); e < out.elements; e += step)
      to[e * out.element_stride] = from[e * source.element_stride];
  }
};

struct frames_check_op : parts_op<frames_check_args> {
  int threads() const { return a.weights == nullptr ? 32 : threads_of(a.bits.elements); }
  double flops() const { return 0; }
  double bytes() const { return 2.0 + (a.weights == nullptr ? 0. : static_cast<double>(a.bits.elements)); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    std::int32_t parity = 0;
    if (a.weights != nullptr) {
      const std::uint8_t* bits = row_of(a.bits, first);
      const int n = static_cast<int>(a.bits.elements);
      for (int i = g.rank; i < n; i += g.size)
        if (bits[static_cast<std::size_t>(i) * a.bits.element_stride] & 1) parity ^= a.weights[i];
      parity = g.xor_all(parity);
    }
    if (g.rank != 0) return;
    const int status = *row_of(a.status, first);
    const bool checked = (a.needed != 0 || a.weights != nullptr) && (status & a.needed) == a.needed &&
                         (status & status_erased) == 0 && parity == 0;
    if (a.finished.data != nullptr) *row_of(a.finished, first) = checked ? 1 : 0;
    if (a.passes.data != nullptr) *row_of(a.passes, first) = (status & status_erased) == 0 ? 1 : 0;
  }
};

struct frames_join_op : parts_op<frames_join_args> {
  int threads() const { return a.codewords <= 32 ? 32 : 128; }
  double flops() const { return 0; }
  double bytes() const { return 6.0 * static_cast<double>(a.codewords + 1); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void*) const {
    constexpr std::uint8_t others[] = {status_erased, status_insufficient};
    std::int32_t unfinished = 0, running = 0, iterations = 0, with[2] = {0, 0};
    for (std::size_t i = static_cast<std::size_t>(g.rank); i < a.codewords;
         i += static_cast<std::size_t>(g.size)) {
      const std::size_t codeword = first * a.codewords + i;
      if (a.finished != nullptr) unfinished += a.finished[codeword] == 0;
      if (a.iterations != nullptr) iterations += a.iterations[codeword];
      if (a.status == nullptr) continue;
      running += (a.status[codeword] & status_stopped) == 0;
      for (int o = 0; o < 2; o++) with[o] += (a.status[codeword] & others[o]) != 0;
    }
    unfinished = g.sum_all(unfinished), running = g.sum_all(running), iterations = g.sum_all(iterations);
    int status = running == 0 ? status_stopped : 0;
    for (int o = 0; o < 2; o++)
      if (g.sum_all(with[o]) != 0) status |= others[o];
    if (g.rank != 0) return;
    if (a.finished_out.data != nullptr) *row_of(a.finished_out, first) = unfinished == 0 ? 1 : 0;
    if (a.status_out.data != nullptr) *row_of(a.status_out, first) = static_cast<std::uint8_t>(status);
    if (a.iterations_out.data != nullptr) *row_of(a.iterations_out, first) = iterations;
  }
};

}  // namespace WB_ISA
}  // namespace wb
