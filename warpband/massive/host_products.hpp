#pragma once
// Gram matrix and matched filters on a CPU, frame by frame, lanes being neighbouring columns. Then the small
// matrices are transposed, so that for all that follows lanes are frames.
#include <warpband/massive/massive_frames.hpp>

namespace wb {
inline namespace WB_ISA {

template <class Users, class T, class G>
struct massive_products : massive_frames<Users, T, G> {
  using frames = massive_frames<Users, T, G>;
  using frames::a, frames::p, frames::g, frames::first, frames::valid, frames::n, frames::m, frames::b;
  using frames::channel_of, frames::vector_of, frames::width;
  using frames::massive_frames;
  using frames::memory, frames::half_channel, frames::half_in, frames::row_of, frames::vector_number;
  using typename frames::E;

  /// The rows of H again, of frame f of the call.
  WB_HD antenna_rows<E> rows_for_sending(int f) const { return rows_of(first + static_cast<std::size_t>(f)); }
  /// With `gram` the Gram matrix and, for the detector, the matched filters of `count` vectors from `symbol`
  /// on.
  template <bool Filter>
  WB_HD void products(int symbol, int count, bool gram) const {
    for (int f = 0; f < valid; f++) {
      const std::size_t frame = first + static_cast<std::size_t>(f);
      const antenna_rows<E> h = rows_of(frame);
      antenna_rows<float> y{};
      if constexpr (Filter) y = vectors_of(frame, symbol, count);
      read_ahead ahead = next_channel(frame, symbol);
      // Sums of lanes of columns go to a place of the frame's own first.
      E *square, *filtered;
      int row = 2 * p.ld, side = 2 * n;
      if constexpr (width == 1) {
        square = m.data;
        filtered = b.data;
      } else {
        square = memory + p.frame_sums + f * (n + p.sides) * p.frame_row;
        filtered = square + n * p.frame_row;
        row = side = p.frame_row;
        if (!small_channel()) {
          read_ahead vectors_ahead{};
          if constexpr (Filter) vectors_ahead = next_vectors(frame, symbol, count);
          run_by_run<Filter>(h, y, gram, count, square, ahead, vectors_ahead);
          continue;
        }
      }
      if (gram)
        in_parts<false>(n, [&]<int R>(int r) WB_INLINE_LAMBDA {
          tiles<R, E>(entries_from(h, r), h, r + R, square + r * row, row, ahead);
        });
      if constexpr (Filter) {
        ahead = next_vectors(frame, symbol, count);
        in_parts(count, [&]<int R>(int k) WB_INLINE_LAMBDA {
          tiles<R, float>(entries_from(y, k), h, n, filtered + k * side, side, ahead);
        });
      }
    }
    if constexpr (width > 1) {
      if (gram)
        for (int r = 0; r < n; r++) turn(r, r + 1, m.data + 2 * r * p.ld);
      if constexpr (Filter)
        for (int k = 0; k < count; k++) turn(n + k, n, b.data + 2 * k * n);
    }
  }

 private:
  /// The rows of H in memory, or a copy of them where lanes cannot read them as they lie.
  WB_HD antenna_rows<E> rows_of(std::size_t frame) const {
    if (half_channel()) return copy_of(row_of(a.half_channel, frame), a.half_channel.element_stride);
    if constexpr (width > 1)
      if (a.channel.element_stride == 1 && n % columns<T>::count == 0)
        return {reinterpret_cast<const float*>(channel_of(frame)), 2 * n, 0, 2};
    return copy_of(channel_of(frame), a.channel.element_stride);
  }
  template <class S>
  WB_HD antenna_rows<E> copy_of(const S* h, std::size_t stride) const {
    if (p.h_row == 2 * n) {
      floats_of(h, stride, memory, a.antennas * n);
    } else {
      for (int k = 0; k < a.antennas; k++) {
        E* row = memory + k * p.h_row;
        floats_of(h + static_cast<std::size_t>(k * n) * stride, stride, row, n);
        for (int i = 2 * n; i < p.h_row; i++) row[i] = E(0.f);
      }
    }
    return {memory, p.h_row, 0, 2};
  }
  /// The received vectors in memory, or, if they came as halves, in scratch memory.
  WB_HD antenna_rows<float> vectors_of(std::size_t frame, int symbol, int count) const {
    if (!half_in())
      return {reinterpret_cast<const float*>(vector_of(frame, symbol)),
              static_cast<antenna_stride>(2 * a.in.element_stride), 0,
              static_cast<antenna_stride>(2 * a.in.item_stride)};
    auto* y = reinterpret_cast<float*>(memory + p.staged_y);
    for (int k = 0; k < count; k++)
      floats_of(row_of(a.half_in, vector_number(frame, symbol + k)), a.half_in.element_stride,
                y + k * p.y_row, a.antennas);
    return {y, 2, 0, p.y_row};
  }
  /// Entries from number i on.
  template <class X>
  WB_HD static antenna_rows<X> entries_from(const antenna_rows<X>& x, int i) {
    return {x.data + i * x.entry, x.antenna, x.pad, x.entry};
  }

  /// `products` of a frame whose H is larger than the nearest cache: all tiles pass over a run of antennas
  /// before the next one is read.
  template <bool Filter>
  WB_HD void run_by_run(const antenna_rows<float>& h, const antenna_rows<float>& y, bool gram, int count,
                        float* sums, read_ahead& ahead, read_ahead& vectors_ahead) const {
    float* kept = memory + p.kept;
    for (int i = 0; i < antenna_runs; i++) {
      if (gram)
        in_parts<false>(n, [&]<int R>(int r) WB_INLINE_LAMBDA {
          if (R == 4) ahead.step();
          strip<R>(entries_from(h, r), h, r + R, i, sums + r * p.frame_row, kept + r * p.frame_row);
        });
      if constexpr (Filter)
        in_parts(count, [&]<int R>(int k) WB_INLINE_LAMBDA {
          vectors_ahead.step();
          const int offset = (n + k) * p.frame_row;
          strip<R>(entries_from(y, k), h, n, i, sums + offset, kept + offset);
        });
    }
  }
  /// Tiles of R rows and all columns up to `last`.
  template <int R, class X>
  WB_HD void tiles(const antenna_rows<X>& x, const antenna_rows<E>& h, int last, E* out, int row,
                   read_ahead& ahead) const {
    constexpr int wide = columns<T>::count;
    int c = 0;
    if constexpr (WB_WIDTH == 16 || (R == 1 && width > 1))
      for (; c + wide < last; c += 2 * wide)
        tile_sums<R, 2, T>(x, entries_from(h, c), a.antennas, p.run_log2, out + 2 * c, row, ahead);
    for (; c < last; c += wide)
      tile_sums<R, 1, T>(x, entries_from(h, c), a.antennas, p.run_log2, out + 2 * c, row, ahead);
  }
  /// The same of the i-th run alone. Loads are what holds it up, so they are as wide as there are columns.
  template <int R>
  WB_HD_CALL void strip(const antenna_rows<float>& x, const antenna_rows<float>& h, int last, int i,
                        float* out, float* kept) const {
    constexpr int wide = columns<T>::count;
    const int row = p.frame_row, plane = (n + p.sides) * row;
    const auto from = [&](int c) { return entries_from(h, c); };
    int c = 0;
    if constexpr (WB_WIDTH == 16) {
      constexpr int rows = R > 2 ? R / 2 : R;
      for (; c + 2 * wide < last; c += 4 * wide) {
        WB_ROLL for (int r = 0; r < R; r += rows) {
          const antenna_rows<float> part = entries_from(x, r);
          const int offset = r * row + 2 * c;
          if (c + 3 * wide < last)
            fold_run<rows, 4, T>(part, from(c), a.antennas, p.run_log2, i, out + offset, row, kept + offset,
                                 plane);
          else
            fold_run<rows, 3, T>(part, from(c), a.antennas, p.run_log2, i, out + offset, row, kept + offset,
                                 plane);
        }
      }
      for (; c + wide < last; c += 2 * wide)
        fold_run<R, 2, T>(x, from(c), a.antennas, p.run_log2, i, out + 2 * c, row, kept + 2 * c, plane);
    }
    for (; c < last; c += wide)
      fold_run<R, 1, T>(x, from(c), a.antennas, p.run_log2, i, out + 2 * c, row, kept + 2 * c, plane);
  }

  /// Complex values in memory, `stride` apart, as floats side by side.
  template <class S, class X>
  WB_HD static void floats_of(const S* from, std::size_t stride, X* to, int count) {
#if !defined(__CUDACC__)
    if constexpr (std::is_same_v<X, float> && std::is_same_v<S, half_complex>)
      if (stride == 1) return halves_to_floats(from, to, count);
#endif
    for (int i = 0; i < count; i++) {
      const float_pair z = frames::parts_of(from[static_cast<std::size_t>(i) * stride]);
      to[2 * i] = z.re;
      to[2 * i + 1] = z.im;
    }
  }

  WB_HD bool small_channel() const { return a.antennas * p.h_row <= most_floats_near; }
  /// What the next frame will read, where it lies in one piece.
  WB_HD read_ahead next_channel(std::size_t frame, int symbol) const {
    const auto ahead = [&](const auto& h) WB_INLINE_LAMBDA -> read_ahead {
      if (h.element_stride != 1 || frame + 1 >= h.items || symbol != 0) return {};
      return ahead_of(row_of(h, frame + 1), n, (n + 3) / 4);
    };
    return half_channel() ? ahead(a.half_channel) : ahead(a.channel);
  }
  WB_HD read_ahead next_vectors(std::size_t frame, int symbol, int count) const {
    const auto ahead = [&](const auto& y) WB_INLINE_LAMBDA -> read_ahead {
      if (y.element_stride != 1 || y.item_stride != static_cast<std::size_t>(a.antennas) ||
          vector_number(frame + 1, 0) >= y.items)
        return {};
      return ahead_of(row_of(y, vector_number(frame + 1, symbol)), count,
                      count / 4 + count % 4 / 2 + count % 2);
    };
    return half_in() ? ahead(a.half_in) : ahead(a.in);
  }
  /// `wide` values of each antenna, by so many rows of tiles.
  template <class S>
  WB_HD read_ahead ahead_of(const S* from, int wide, int tiles_down) const {
    const int bytes = static_cast<int>(sizeof(S)) * a.antennas * wide;
    const char* begin = reinterpret_cast<const char*>(from);
    return {begin, begin + bytes, bytes / (64 * antenna_runs * tiles_down) + 1, small_channel()};
  }

  /// Row `row` of the sums of all frames, `entries` of it, to lanes of frames.
  WB_HD void turn(int row, int entries, T* to) const {
    if constexpr (width > 1) {
      const std::size_t stride = static_cast<std::size_t>((n + p.sides) * p.frame_row);
      const view<const float> sums{memory + p.frame_sums + row * p.frame_row, stride,
                                   static_cast<std::size_t>(valid), 1, stride};
      for (int i = 0; i < 2 * entries; i += width) {
        T x[width];
        load_square(sums, static_cast<std::size_t>(i), item<T>{0, valid}, x);
        for (int j = 0; j < width && i + j < 2 * entries; j++) to[i + j] = x[j];
      }
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
