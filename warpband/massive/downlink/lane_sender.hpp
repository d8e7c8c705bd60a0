#pragma once
// How a CPU sends the vectors of a frame: m = H x, normalised. Lanes are neighbouring antennas.
#include <warpband/massive/massive_op.hpp>

namespace wb {
inline namespace WB_ISA {

#if WB_WIDTH > 1
template <class Engine, class T>
struct lane_sender {
  const Engine& e;
  const massive_args& a;
  const massive_plan& p;

  WB_HD explicit lane_sender(const Engine& engine) : e(engine), a(engine.a), p(engine.p) {}

  /// Runs are summed whole: those of antennas that there are not, as zeros. Before the first `send`.
  WB_HD void clear() const {
    for (int k = 0; k < 2; k++)
      for (int i = 2 * a.antennas; i < p.sent_row; i++) e.memory[p.sent + k * p.sent_row + i] = 0.f;
  }
  /// From lanes of frames to rows of frames.
  WB_HD void solutions_by_frames(packed_vector<T> z, int count) const {
    const std::size_t row = static_cast<std::size_t>(p.solved_row);
    const view<float> to{e.memory + p.solved, row, static_cast<std::size_t>(width_of<T>), 1, row};
    // The last square may reach past the last vector, into what else is in scratch.
    for (int i = 0; i < 2 * count * e.n; i += width_of<T>)
      store_square(to, static_cast<std::size_t>(i), item<T>{0, e.valid}, z.data + i);
  }

  /// Frame f: H by columns, so that lanes are antennas and the sums come as they are stored.
  WB_HD void send(int f, int symbol, int count) const {
    constexpr int wide = columns<T>::count;
    const int n = e.n, row = p.turned_row;
    float *turned = e.memory + p.turned + (f % p.turned_frames) * p.turned_size, *sent = e.memory + p.sent;
    const bool once = a.symbols == 1, turn = !once && (symbol == 0 || p.turned_frames == 1);
    const antenna_rows<float> h = once || turn ? e.rows_for_sending(f) : antenna_rows<float>{};
    for (int b = 0; turn && b < a.antennas; b += wide)
      for (int u = 0; u < n; u += wide) {
        T square[wide];
        load_turned(h, b, u, square);
        WB_UNROLL for (int i = 0; i < wide; i++)
            __builtin_memcpy(turned + (u + i) * row + 2 * b, &square[i], sizeof(T));
      }
    const float* z = e.memory + p.solved + f * p.solved_row;
    const std::size_t vector = (e.first + static_cast<std::size_t>(f)) * static_cast<std::size_t>(a.symbols) +
                               static_cast<std::size_t>(symbol);
    // Two at a time, so that they are still near when their energy is known.
    const auto some = [&]<int S>(int k) WB_INLINE_LAMBDA {
      if (S == 1 && once)
        weigh_rows(n, h, z, sent);
      else
        weigh_sides<S>(n, turned, z + 2 * k * n, sent);
      float power[S];
      WB_UNROLL for (int s = 0; s < S; s++) power[s] = energy_of_runs(sent + s * p.sent_row);
      WB_UNROLL for (int s = 0; s < S; s++)
          store_sent(sent + s * p.sent_row, power[s], e.numbers[k + s].x[f] > 0.f,
                     vector + static_cast<std::size_t>(k + s));
    };
    int k = 0;
    for (; k + 2 <= count; k += 2) some.template operator()<2>(k);
    if (k < count) some.template operator()<1>(k);
  }

 private:
  /// Antennas b .. of users u .., lanes antennas.
  WB_HD void load_turned(const antenna_rows<float>& h, int b, int u, T (&square)[width_of<T> / 2]) const {
    WB_UNROLL for (int i = 0; i < columns<T>::count; i++) {
      if (b + i < a.antennas)
        __builtin_memcpy(&square[i], h.data + (b + i) * h.antenna + 2 * u, sizeof(T));
      else
        square[i] = T(0.f);
    }
    transpose_pairs(square);
  }
  /// m of one vector: sums over users of z[u] times column u, which is used as it is turned.
  WB_HD void weigh_rows(int n, const antenna_rows<float>& h, const float* z, float* to) const {
    constexpr int wide = columns<T>::count;
    for (int b = 0; b < a.antennas; b += wide) {
      columns<T> re{{T(0.f)}}, im{{T(0.f)}};
      for (int u = 0; u < n; u += wide) {
        T square[wide];
        load_turned(h, b, u, square);
        WB_UNROLL for (int i = 0; i < wide; i++) {
          if (u + i == n) break;
          re.v[0] = fma(T(z[2 * (u + i)]), square[i], re.v[0]);
          im.v[0] = fma(T(z[2 * (u + i) + 1]), square[i], im.v[0]);
        }
      }
      store_columns<T>(to + 2 * b, joined_product(re, im));
    }
  }
  /// The same of S vectors from columns that are kept.
  template <int S>
  WB_HD void weigh_sides(int n, const float* turned, const float* z, float* to) const {
    constexpr int wide = columns<T>::count, R = WB_WIDTH == 16 ? 4 : 2;
    const antenna_rows<float> sides{z, 2, 0, 2 * n};
    const auto part = [&]<int C>(int b) WB_INLINE_LAMBDA {
      columns<T> sum[S][C];
      run_sums<S, C, false, T, false>(sides, antenna_rows<float>{turned + 2 * b, p.turned_row, 0, 2}, 0, 0, n,
                                      sum);
      WB_UNROLL for (int s = 0; s < S; s++) {
        WB_UNROLL for (int c = 0; c < C; c++)
            store_columns<T>(to + s * p.sent_row + 2 * b + c * 2 * wide, sum[s][c]);
      }
    };
    int b = 0;
    for (; b + (R - 1) * wide < a.antennas; b += R * wide) part.template operator()<R>(b);
    for (; b < a.antennas; b += wide) part.template operator()<1>(b);
  }
  /// |m|^2 of a vector, whose runs are added as those of the Gram matrix. Lanes are runs.
  WB_HD float energy_of_runs(float* x) const {
    constexpr int wide = columns<T>::count;
    const int of_run = 1 << p.run_log2;
    float sums[2 * antenna_runs];
    if constexpr (antenna_runs % wide == 0) {
      if (of_run % wide == 0) {
        for (int run = 0; run < antenna_runs; run += wide) {
          T sum = T(0.f);
          for (int b = 0; b < of_run; b += wide) {
            T square[wide];
            WB_UNROLL for (int i = 0; i < wide; i++)
                __builtin_memcpy(&square[i], x + 2 * ((run + i) * of_run + b), sizeof(T));
            transpose_pairs(square);
            WB_UNROLL for (int i = 0; i < wide; i++) sum = fma(square[i], square[i], sum);
          }
          __builtin_memcpy(sums + 2 * run, &sum, sizeof(T));
        }
        return joined_energy(sums);
      }
    }
    for (int run = 0; run < antenna_runs; run++) {
      float re = 0.f, im = 0.f;
      for (int b = run * of_run; b < (run + 1) * of_run; b++) {
        re = fma(x[2 * b], x[2 * b], re);
        im = fma(x[2 * b + 1], x[2 * b + 1], im);
      }
      sums[2 * run] = re, sums[2 * run + 1] = im;
    }
    return joined_energy(sums);
  }
  WB_HD static float joined_energy(float (&s)[2 * antenna_runs]) {
    WB_UNROLL for (int i = 0; i < antenna_runs; i++) s[i] = s[i] + s[i + antenna_runs];
    WB_UNROLL for (int i = 0; i < antenna_runs / 2; i++) s[i] = s[i] + s[i + antenna_runs / 2];
    WB_UNROLL for (int i = 0; i < antenna_runs / 4; i++) s[i] = s[i] + s[i + antenna_runs / 4];
    return s[0] + s[1];
  }
  /// Normalised, to its place.
  WB_HD void store_sent(const float* x, float power, bool fine, std::size_t vector) const {
    const bool good = fine && power <= most_sent_energy;
    const float factor = factor_of_sent(a, power);
    cx_pair* to = a.out.data + vector * a.out.item_stride;
    int b = 0;
    if (a.out.element_stride == 1) {
      float* flat = reinterpret_cast<float*>(to);
      for (; 2 * b + width_of<T> <= 2 * a.antennas; b += columns<T>::count) {
        T value;
        __builtin_memcpy(&value, x + 2 * b, sizeof value);
        value = good ? T(factor) * value + T(0.f) : T(0.f);
        __builtin_memcpy(flat + 2 * b, &value, sizeof value);
      }
    }
    for (; b < a.antennas; b++)
      to[static_cast<std::size_t>(b) * a.out.element_stride] = {
          select(good, factor * x[2 * b], 0.f) + 0.f, select(good, factor * x[2 * b + 1], 0.f) + 0.f};
    if (a.status.data) a.status.data[vector * a.status.item_stride] = good ? std::uint8_t{0} : status_erased;
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
