#pragma once
// Sums over antennas of a tall matrix of complex values: sum over b of x[b][r] conj(h[b][c]). With x = h that
// is the transposed Gram matrix, with x = y the matched filter.
//
// Lanes hold neighbouring columns as memory has them, real and imaginary parts in turn; a row's two parts are
// in all lanes. So nothing is shuffled inside the sums: each has four, of re re, re im, im re and im im,
// which come together at the end.
//
// Every build adds in the same order, however many threads share the work: the antennas lie in eight runs,
// each is summed from its first to its last, and then ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)).
#include <type_traits>
#include <warpband/core/cx.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>

namespace wb {
inline namespace WB_ISA {

inline constexpr int antenna_runs = 8;

/// What matrices are stored as while lanes are parts of them.
template <class T>
using plain = std::conditional_t<width_of<T> == 1, T, float>;

/// Distances in memory: of a caller's array on a CPU, within shared memory on a CUDA device.
#if defined(__CUDACC__)
using antenna_stride = int;
#else
using antenna_stride = std::ptrdiff_t;
#endif
/// Entry r of antenna b: its two parts begin at data[b * antenna + (b >> run_log2) * pad + r * entry].
template <class E>
struct antenna_rows {
  const E* data;
  antenna_stride antenna, pad, entry;
};

/// Neighbouring columns: a vector of both parts of several, or one.
template <class T>
struct columns {
  static constexpr int values = width_of<T> == 1 ? 2 : 1;
  static constexpr int count = width_of<T> == 1 ? 1 : width_of<T> / 2;
  T v[values];
};
template <class T>
WB_HD columns<T> operator+(columns<T> a, columns<T> b) {
  WB_UNROLL for (int i = 0; i < columns<T>::values; i++) a.v[i] = a.v[i] + b.v[i];
  return a;
}
template <int C, class T>
WB_HD void load_columns(const plain<T>* p, columns<T> (&x)[C]) {
  if constexpr (width_of<T> > 1) {
    WB_UNROLL for (int c = 0; c < C; c++) __builtin_memcpy(&x[c].v[0], p + c * width_of<T>, sizeof(T));
  } else if constexpr (C % 2 == 0) {
    WB_UNROLL for (int c = 0; c < C; c += 2) {
      T four[4];
      load4(p + 2 * c, four);
      x[c] = {{four[0], four[1]}};
      x[c + 1] = {{four[2], four[3]}};
    }
  } else {
    WB_UNROLL for (int c = 0; c < C; c++) x[c] = {{p[2 * c], p[2 * c + 1]}};
  }
}
template <class T>
WB_HD void store_columns(plain<T>* p, const columns<T>& x) {
  if constexpr (width_of<T> > 1)
    __builtin_memcpy(p, &x.v[0], sizeof(T));
  else
    p[0] = x.v[0], p[1] = x.v[1];
}
#if WB_WIDTH > 1
/// Pair i of the lanes of x[j] becomes pair j of x[i].
template <class T>
WB_HD void transpose_pairs(T (&x)[width_of<T> / 2]) {
  using I = typename rebind<T>::i32;
  const I lane_number = as_int(iota<typename rebind<T>::u32>());
  WB_UNROLL for (int step = 1; step < width_of<T> / 2; step *= 2) {
    const I upper = select((lane_number & I(2 * step)) != I(0), I(-1), I(0));
    WB_UNROLL for (int i = 0; i < width_of<T> / 2; i++) {
      if ((i & step) == 0) {
        const T a = x[i], b = x[i + step];
        x[i] = T(WB_SHUFFLE(a.x, b.x, (lane_number + (upper & I(width_of<T> - 2 * step))).x));
        x[i + step] =
            T(WB_SHUFFLE(a.x, b.x, (lane_number + I(2 * step) + (upper & I(width_of<T> - 2 * step))).x));
      }
    }
  }
}
#endif
/// x conj(h), from re(x) h and im(x) h.
template <class T>
WB_HD columns<T> joined(const columns<T>& re, const columns<T>& im) {
#if WB_WIDTH > 1
  if constexpr (width_of<T> > 1) {
    using I = typename rebind<T>::i32;
    const I number = as_int(iota<typename rebind<T>::u32>());
    const T swapped = T(WB_SHUFFLE(im.v[0].x, (number ^ I(1)).x));
    return {{swapped + as_float(as_int(re.v[0]) ^ ((number & I(1)) << 31))}};
  }
#endif
  if constexpr (width_of<T> == 1) return {{re.v[0] + im.v[1], im.v[0] - re.v[1]}};
}

/// x h, from re(x) h and im(x) h.
template <class T>
WB_HD columns<T> joined_product(const columns<T>& re, const columns<T>& im) {
#if WB_WIDTH > 1
  if constexpr (width_of<T> > 1) {
    using I = typename rebind<T>::i32;
    const I number = as_int(iota<typename rebind<T>::u32>());
    const I swapped = as_int(T(WB_SHUFFLE(im.v[0].x, (number ^ I(1)).x)));
    return {{re.v[0] + as_float(swapped ^ (((number & I(1)) ^ I(1)) << 31))}};
  }
#endif
  if constexpr (width_of<T> == 1) return {{re.v[0] - im.v[1], re.v[1] + im.v[0]}};
}

/// A tile of R rows and C columns, summed over the antennas first .. last - 1 of one run. Packed: the rows
/// lie side by side, on multiples of 16 bytes. Not Conjugate: sums of x h.
template <int R, int C, bool Packed, class T, bool Conjugate = true, class X = plain<T>>
WB_HD void run_sums(const antenna_rows<X>& x, const antenna_rows<plain<T>>& h, int run, int first, int last,
                    columns<T> (&sum)[R][C]) {
  constexpr int V = columns<T>::values;
  columns<T> re[R][C], im[R][C];
  WB_UNROLL for (int r = 0; r < R; r++) {
    WB_UNROLL for (int c = 0; c < C; c++) {
      WB_UNROLL for (int i = 0; i < V; i++) re[r][c].v[i] = im[r][c].v[i] = T(0.f);
    }
  }
  const X* px = x.data + first * x.antenna + run * x.pad;
  const plain<T>* ph = h.data + first * h.antenna + run * h.pad;
  WB_ROLL for (int b = first; b < last; b++, px += x.antenna, ph += h.antenna) {
    columns<T> column[C];
    load_columns(ph, column);
    T parts[R][2];
    if constexpr (Packed && R % 2 == 0) {
      WB_UNROLL for (int r = 0; r < R; r += 2) {
        T four[4];
        load4(px + 2 * r, four);
        parts[r][0] = four[0], parts[r][1] = four[1], parts[r + 1][0] = four[2], parts[r + 1][1] = four[3];
      }
    } else {
      WB_UNROLL for (int r = 0; r < R; r++) {
        parts[r][0] = T(px[r * x.entry]);
        parts[r][1] = T(px[r * x.entry + 1]);
      }
    }
    WB_UNROLL for (int r = 0; r < R; r++) {
      WB_UNROLL for (int c = 0; c < C; c++) {
        WB_UNROLL for (int i = 0; i < V; i++) {
          re[r][c].v[i] = fma(parts[r][0], column[c].v[i], re[r][c].v[i]);
          im[r][c].v[i] = fma(parts[r][1], column[c].v[i], im[r][c].v[i]);
        }
      }
    }
  }
  WB_UNROLL for (int r = 0; r < R; r++) {
    WB_UNROLL for (int c = 0; c < C; c++) {
      if constexpr (Conjugate)
        sum[r][c] = joined(re[r][c], im[r][c]);
      else
        sum[r][c] = joined_product(re[r][c], im[r][c]);
    }
  }
}

/// Memory that is read soon: tiles ask for it bit by bit, so that it comes while they are summed. On a CPU.
struct read_ahead {
  const char *next, *end;
  int lines;  // of 64 bytes, at a time
  bool near;  // into the nearest cache
  WB_HD void step() {
#if !defined(__CUDACC__)
    if (near)
      for (int i = 0; i < lines && next < end; i++, next += 64) __builtin_prefetch(next, 0, 3);
    else
      for (int i = 0; i < lines && next < end; i++, next += 64) __builtin_prefetch(next, 0, 2);
#endif
  }
};

/// A tile over all antennas by one thread, to out[r * row + c * (values of a column)].
template <int R, int C, class T, class X>
WB_HD void tile_sums(const antenna_rows<X>& x, const antenna_rows<plain<T>>& h, int antennas, int run_log2,
                     plain<T>* out, int row, read_ahead& ahead) {
  columns<T> kept[3][R][C], sum[R][C];
  WB_ROLL for (int n = 0; n < antenna_runs; n++) {
    const int run = (n & 1) << 2 | (n & 2) | n >> 2, first = run << run_log2, end = first + (1 << run_log2),
              last = end < antennas ? end : antennas;
    ahead.step();
    run_sums<R, C, false, T>(x, h, run, first, last, sum);
    const int level = (n & 1) == 0 ? 0 : (n & 3) == 1 ? 1 : 2;
    WB_UNROLL for (int r = 0; r < R; r++) {
      WB_UNROLL for (int c = 0; c < C; c++) {
        columns<T> s = sum[r][c];
        if (level > 0) s = kept[0][r][c] + s;
        if (level > 1) s = kept[1][r][c] + s;
        if (n == antenna_runs - 1)
          store_columns<T>(out + r * row + c * 2 * columns<T>::count, kept[2][r][c] + s);
        else
          kept[level][r][c] = s;
      }
    }
  }
}

/// A tile over the `n`-th of the runs, n in the order of the tree, and how it joins those before it: what
/// waits for others is in `kept`, three planes that lie as `out` does. After the last run `out` has the sums.
/// So all tiles can pass over a run before the next one is read.
template <int R, int C, class T, class X>
WB_HD void fold_run(const antenna_rows<X>& x, const antenna_rows<plain<T>>& h, int antennas, int run_log2,
                    int n, plain<T>* out, int row, plain<T>* kept, int plane) {
  const int run = (n & 1) << 2 | (n & 2) | n >> 2, first = run << run_log2, end = first + (1 << run_log2),
            last = end < antennas ? end : antennas;
  columns<T> sum[R][C];
  run_sums<R, C, false, T>(x, h, run, first, last, sum);
  const int level = (n & 1) == 0 ? 0 : (n & 3) == 1 ? 1 : 2;
  plain<T>* to = n == antenna_runs - 1 ? out : kept + level * plane;
  WB_UNROLL for (int r = 0; r < R; r++) {
    WB_UNROLL for (int c = 0; c < C; c++) {
      const int offset = r * row + c * 2 * columns<T>::count;
      columns<T> before[1];
      for (int i = 0; i < level + (n == antenna_runs - 1); i++) {
        load_columns(kept + i * plane + offset, before);
        sum[r][c] = before[0] + sum[r][c];
      }
      store_columns<T>(to + offset, sum[r][c]);
    }
  }
}

#if defined(__CUDACC__)
/// Sums each value over eight threads, `g.rank` of them this one: afterwards thread p has those from p * N /
/// 8 on in x[0 .. N/8-1].
template <int N, class G>
WB_HD void sum_over_runs(const G& g, float (&x)[N]) {
  int rest = N;
  WB_UNROLL for (int step = antenna_runs / 2; step > 0; step /= 2) {
    rest /= 2;
    const bool upper = (g.rank & step) != 0;
    WB_UNROLL for (int i = 0; i < N / 2; i++) {
      if (i >= rest) break;
      const float kept_value = upper ? x[i + rest] : x[i], other = upper ? x[i] : x[i + rest];
      x[i] = kept_value + g.exchange(other, step);
    }
  }
}
/// A tile of R x 4 by eight neighbouring threads, a run each. `put(r, c, part, value)` gets every value once.
template <int R, class Put>
WB_HD void shared_tile_sums(const antenna_rows<float>& x, const antenna_rows<float>& h, int antennas,
                            int run_log2, Put put) {
  const tile<antenna_runs> g;
  const int first = g.rank << run_log2, end = first + (1 << run_log2), last = end < antennas ? end : antennas;
  columns<float> sum[R][4];
  run_sums<R, 4, true, float>(x, h, g.rank, first, last, sum);
  float flat[8 * R];
  WB_UNROLL for (int i = 0; i < 8 * R; i++) flat[i] = sum[i / 8][i % 8 / 2].v[i % 2];
  sum_over_runs(g, flat);
  WB_UNROLL for (int i = 0; i < R; i++) {
    const int index = g.rank * R + i;
    put(index / 8, index % 8 / 2, index % 2, flat[i]);
  }
}
#endif

}  // namespace WB_ISA
}  // namespace wb
