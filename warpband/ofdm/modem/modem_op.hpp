#pragma once
// Everything in a modulator and a demodulator that is no FFT: runs of neighbouring values are scaled and put
// elsewhere. Lanes, and the threads of a group, are values of one symbol.
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/ofdm/modem/modem_args.hpp>

namespace wb {
inline namespace WB_ISA {

struct ofdm_copy_op : parts_op<ofdm_copy_args> {
  // Plain arithmetic: host code calls no device function.
  int threads() const { return a.threads; }
  double flops() const {  // a product and a store
    double n = 0;
    for (const ofdm_run& r : a.others) n += r.zero ? 0 : r.count;
    return 4 * n;
  }
  double bytes() const {
    double n = 0;
    for (const ofdm_run& r : a.others) n += (r.zero ? 8.0 : 16.0) * r.count;
    return n;
  }

  template <class G>
  WB_HD void operator()(std::size_t number, int, G g, void*) const {
    run<lane>(number, g);
  }
  template <class T, class G>
  WB_HD void run(std::size_t number, G g) const {
    const std::size_t n = static_cast<std::size_t>(a.symbols), slot = number / n, symbol = number - slot * n;
    const cx_pair* in = a.in.data + slot * a.in.slot + symbol * a.in.symbol;
    cx_pair* out = a.out.data + slot * a.out.slot + symbol * a.out.symbol;
    cx_pair phase{1.f, 0.f};
    if (a.phases != 0) {
      const std::size_t row = a.phases_go_on ? slot * n : 0;
      phase = a.phase[(static_cast<std::size_t>(a.first_phase) + row + symbol) %
                      static_cast<std::size_t>(a.phases)];
    }
    for (int i = 0; i < ofdm_copy_args::most_runs; i++)
      copy<T>(symbol == 0 ? a.first[i] : a.others[i], phase, g, in, out);
  }

 private:
  template <class T, class G>
  WB_HD void copy(const ofdm_run& r, cx_pair phase, G g, const cx_pair* in, cx_pair* out) const {
    const std::size_t n = static_cast<std::size_t>(r.count);
    const view<const cx_pair> from{in + r.from * static_cast<std::ptrdiff_t>(a.in.stride), 1, n, 0,
                                   a.in.stride};
    const view<cx_pair> to{out + r.to * static_cast<std::ptrdiff_t>(a.out.stride), 1, n, 0, a.out.stride};
    const cx<T> zero{T(0.f), T(0.f)};
    const T scale(a.scale);
    for (int k = width_of<T> * g.rank; k < r.count; k += width_of<T> * g.size) {
      const item<T> samples{static_cast<std::size_t>(k),
                            r.count - k < width_of<T> ? r.count - k : width_of<T>};
      if (r.zero) {
        store_cx(to, 0, samples, zero);
      } else {
        cx<T> z = load_cx(from, 0, samples);
        if (a.phases != 0) z = cx<T>{T(phase.re), T(phase.im)} * z;
        store_cx(to, 0, samples, cx<T>{z.re * scale, z.im * scale});
      }
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
