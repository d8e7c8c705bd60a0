#pragma once
// Channel estimation as ops. Each value is made by one thread, of values that tables point to: lanes would
// gather them.
#include <warpband/core/cx.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/math.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/status.hpp>
#include <warpband/estimate/estimate_args.hpp>

namespace wb {
inline namespace WB_ISA {

WB_HD cx<float> value_of(cx_pair z) { return {z.re, z.im}; }
WB_HD cx_pair pair_of(cx<float> z) { return {z.re + 0.f, z.im + 0.f}; }

/// What these ops have in common: one(i) for each item.
template <class Op>
struct scalar_op {
  static constexpr bool by_block = false;
  int threads() const { return 1; }
  std::size_t scratch(int) const { return 0; }
  template <class T, class G>
  WB_HD void operator()(item<T> items, G, T*) const {
    for (int i = 0; i < items.valid; i++)
      static_cast<const Op*>(this)->one(items.first + static_cast<std::size_t>(i));
  }
};

struct estimate_cells_op : scalar_op<estimate_cells_op> {
  estimate_cells_args a;
  explicit estimate_cells_op(const estimate_cells_args& args) : a(args) {}
  double flops() const { return 8.0 * cell_elements; }
  double bytes() const { return 8 + 20.0 * cell_elements; }
  WB_HD void one(std::size_t i) const {
    const std::size_t of_port = static_cast<std::size_t>(a.sizes.rows * a.sizes.cells),
                      of_antenna = of_port * static_cast<std::size_t>(a.sizes.ports), outer = i / of_antenna,
                      inner = i - outer * of_antenna, rx = static_cast<std::size_t>(a.sizes.rx),
                      slot = outer / rx;
    const cx_pair* y = a.received.data + (outer - slot * rx) * a.received.element_stride +
                       slot * static_cast<std::size_t>(a.sizes.elements) * a.received.item_stride;
    cx<float> sum{0.f, 0.f};
    for (std::size_t e = inner * cell_elements; e < (inner + 1) * cell_elements; e++)
      sum = fma(value_of(a.weight[e]),
                value_of(y[static_cast<std::size_t>(a.element[e]) * a.received.item_stride]), sum);
    a.out[i] = pair_of(sum);
  }
};

struct estimate_frequency_op : scalar_op<estimate_frequency_op> {
  estimate_frequency_args a;
  explicit estimate_frequency_op(const estimate_frequency_args& args) : a(args) {}
  double flops() const { return 8.0 * a.taps; }
  double bytes() const { return 12 + 16.0 * a.taps; }
  WB_HD void one(std::size_t i) const {
    const std::size_t subcarriers = static_cast<std::size_t>(a.sizes.subcarriers), row = i / subcarriers,
                      rows = static_cast<std::size_t>(a.sizes.ports * a.sizes.rows),
                      filter_index = row % rows * subcarriers + (i - row * subcarriers);
    const cx_pair *cells = a.in + row * static_cast<std::size_t>(a.sizes.cells) + a.start[filter_index],
                  *f = a.filter + filter_index * static_cast<std::size_t>(a.taps);
    cx<float> sum{0.f, 0.f};
    for (int n = 0; n < a.taps; n++) sum = fma(value_of(f[n]), value_of(cells[n]), sum);
    a.out[i] = pair_of(sum);
  }
};

struct estimate_time_op : scalar_op<estimate_time_op> {
  estimate_time_args a;
  explicit estimate_time_op(const estimate_time_args& args) : a(args) {}
  double flops() const { return 4.0 * a.sizes.rows * a.sizes.rx * a.sizes.ports + 2.0 * a.terms + 2; }
  double bytes() const { return 8.0 * a.sizes.rx * a.sizes.ports * (a.sizes.rows + 1) + 12 + 4.0 * a.terms; }
  WB_HD void one(std::size_t i) const {
    const std::size_t places = static_cast<std::size_t>(a.places), slot = i / places, p = i - slot * places,
                      subcarriers = static_cast<std::size_t>(a.sizes.subcarriers);
    const std::size_t element = static_cast<std::size_t>(a.place[p]), symbol = element / subcarriers,
                      k = element - symbol * subcarriers, rows = static_cast<std::size_t>(a.sizes.rows),
                      pairs = static_cast<std::size_t>(a.sizes.rx * a.sizes.ports);
    if (a.channel.data != nullptr)
      for (std::size_t e = 0; e < pairs; e++) {
        const cx_pair* in = a.in + (slot * pairs + e) * rows * subcarriers + k;
        cx<float> sum{0.f, 0.f};
        for (std::size_t t = 0; t < rows; t++) {
          const float w = a.filter[symbol * rows + t];
          const cx_pair z = in[t * subcarriers];
          sum = {fma(w, z.re, sum.re), fma(w, z.im, sum.im)};
        }
        a.channel.data[e * a.channel.element_stride + i * a.channel.item_stride] = pair_of(sum);
      }
    if (a.noise.data != nullptr) {
      const float n0 = a.noise_var.data[slot * a.noise_var.item_stride];
      const std::size_t terms = static_cast<std::size_t>(a.terms);
      float sum = 0.f;
      for (std::size_t j = 0; j < terms; j++)
        sum = fma(a.weight[p * terms + j], a.term == nullptr ? 1.f : a.term[slot * terms + j], sum);
      a.noise.data[i * a.noise.item_stride] = fma(n0, a.gain[p], n0 + (sum < 0.f ? 0.f : sum)) + 0.f;
    }
  }
};

struct spread_part_op : scalar_op<spread_part_op> {
  spread_part_args a;
  explicit spread_part_op(const spread_part_args& args) : a(args) {}
  double flops() const { return 60.0 * spread_chunk; }
  double bytes() const { return 48.0 * spread_chunk + 8.0 * spread_sums; }
  WB_HD void one(std::size_t i) const {
    const std::size_t chunks = static_cast<std::size_t>(a.chunks), line = i / chunks,
                      rows = static_cast<std::size_t>(a.sizes.rows), t = line % rows;
    const int cells = a.sizes.cells, first = static_cast<int>(i - line * chunks) * spread_chunk,
              last = first + spread_chunk < cells ? first + spread_chunk : cells;
    const cx_pair* c = a.cells + line * static_cast<std::size_t>(cells);
    const int one_on = a.next[2 * t], two_on = a.next[2 * t + 1];
    const auto row = [&](int other) {
      return other < 0 ? c : c + static_cast<std::ptrdiff_t>(other - static_cast<int>(t)) * cells;
    };
    const cx_pair *c1 = row(one_on), *c2 = row(two_on);
    const float* w = a.divided + 4 * t;
    spread_sum s[spread_sums] = {};
    for (int n = first; n < last; n++) {
      const cx<float> h = value_of(c[n]);
      add(s[0], h);
      if (n + 1 < cells) {
        const cx<float> h1 = value_of(c[n + 1]), d1 = h1 - h, product = conj_fma(h, h1, cx<float>{0.f, 0.f});
        add(s[1], d1);
        if (finite(product.re) && finite(product.im)) {
          s[6] = {s[6].sum + product.re, s[6].count + 1.f};
          s[7] = {s[7].sum + product.im, s[7].count + 1.f};
        }
        if (n + 2 < cells) {
          const cx<float> h2 = value_of(c[n + 2]), d2 = (h2 - h1) - d1;
          add(s[2], d2);
          if (n + 3 < cells) add(s[3], ((value_of(c[n + 3]) - h2) - (h2 - h1)) - d2);
        }
      }
      if (one_on >= 0) {
        const cx<float> h1 = value_of(c1[n]), d = h1 - h;
        add(s[4], {w[0] * d.re, w[0] * d.im});
        if (two_on >= 0) {
          const cx<float> h2 = value_of(c2[n]);
          add(s[5], {fma(w[3], h2.re, fma(w[2], h1.re, w[1] * h.re)),
                     fma(w[3], h2.im, fma(w[2], h1.im, w[1] * h.im))});
        }
      }
    }
    for (int j = 0; j < spread_sums; j++) a.out[i * spread_sums + static_cast<std::size_t>(j)] = s[j];
  }

 private:
  WB_HD static bool finite(float x) { return x <= 3e38f && x >= -3e38f; }
  WB_HD static void add(spread_sum& s, cx<float> z) {
    const float e = fma(z.re, z.re, z.im * z.im);
    if (finite(e)) s = {s.sum + e, s.count + 1.f};
  }
};

struct spread_total_op : scalar_op<spread_total_op> {
  spread_total_args a;
  explicit spread_total_op(const spread_total_args& args) : a(args) {}
  double flops() const { return 2.0 * a.parts; }
  double bytes() const { return 8.0 * a.parts + 4; }
  WB_HD void one(std::size_t i) const {
    const std::size_t slot = i / spread_sums, parts = static_cast<std::size_t>(a.parts);
    const spread_sum* in = a.in + slot * parts * spread_sums + (i - slot * spread_sums);
    spread_sum total{0.f, 0.f};
    for (std::size_t p = 0; p < parts; p++)
      total = {total.sum + in[p * spread_sums].sum, total.count + in[p * spread_sums].count};
    a.out[i] = total.count > 0.f ? total.sum / total.count : 0.f;
  }
};

struct spread_terms_op : scalar_op<spread_terms_op> {
  spread_terms_args a;
  explicit spread_terms_op(const spread_terms_args& args) : a(args) {}
  double flops() const { return 60; }
  double bytes() const { return 4.0 * (spread_sums + spread_terms + 1); }
  WB_HD void one(std::size_t slot) const {
    const float* in = a.in + slot * spread_sums;
    const float n0 = a.noise_var.data[slot * a.noise_var.item_stride];
    float mean[spread_sums];
    for (int j = 0; j < spread_sums; j++) mean[j] = fma(-n0, a.noise[j], in[j]);
    const float power = mean[0] > 0.f ? mean[0] : 0.f;
    float term[spread_terms] = {mean[1], mean[2], mean[3]};
    if (a.known == spread_times::one)
      term[3] = power;
    else {
      float slope = power > 0.f ? mean[4] / power : 0.f;  // T1 / P
      slope = slope < 0.f ? 0.f : slope > a.most_slope ? a.most_slope : slope;
      term[3] = mean[4];
      term[4] = a.known == spread_times::more ? mean[5] : bent(mean, power, slope);
      term[5] = mean[1] * slope;
      term[6] = mean[2] * slope;
    }
    for (int j = 0; j < spread_terms; j++) a.out[slot * spread_terms + static_cast<std::size_t>(j)] = term[j];
  }

 private:
  /// T1^2 / P, less what a mean of few squares is too large.
  WB_HD float bent(const float* mean, float power, float slope) const {
    const float together = fma(mean[6], mean[6], mean[7] * mean[7]), power_squared = power * power,
                cells = static_cast<float>(a.sizes.cells);
    const float steep = together > 0.f && power_squared > together
                            ? (power_squared - together) / together * (cells * cells)
                            : 0.f;
    float independent = 1.f + steep / (6.f * (1.f + sqrt(steep) / 1.9f));
    independent = independent < cells ? independent : cells;
    // Two rows that differ are more than one.
    const float apart = clarke_step * (slope / a.most_slope);
    independent = independent * static_cast<float>(a.sizes.rx * a.sizes.ports) * (1.f + apart);
    return (mean[4] < 0.f ? 0.f : mean[4]) * slope * ((independent - 0.9f) / (independent + 1.2f));
  }
};

struct noise_sample_op : scalar_op<noise_sample_op> {
  noise_sample_args a;
  explicit noise_sample_op(const noise_sample_args& args) : a(args) {}
  double flops() const { return 8.0 * a.taps + 2; }
  double bytes() const { return 16.0 * a.taps + 8; }
  WB_HD void one(std::size_t i) const {
    const std::size_t samples = static_cast<std::size_t>(a.samples), antenna = i / samples;
    const int s = static_cast<int>(i - antenna * samples), f = s % a.filters, place = s / a.filters,
              row = place / a.starts, start = a.start[place - row * a.starts];
    const cx_pair *c = cells(antenna, a.row[2 * row], start), *g = a.filter + f * a.taps;
    cx<float> sum{0.f, 0.f};
    for (int n = 0; n < a.taps; n++) sum = fma(value_of(g[n]), value_of(c[n]), sum);
    if (a.row[2 * row + 1] >= 0) {
      c = cells(antenna, a.row[2 * row + 1], start);
      for (int n = 0; n < a.taps; n++) sum = fnma(value_of(g[n]), value_of(c[n]), sum);
    }
    const float scale = a.scale[row];
    a.out[i] = pair_of({scale * sum.re, scale * sum.im});
  }

 private:
  WB_HD const cx_pair* cells(std::size_t antenna, int row, int start) const {
    return a.cells +
           (antenna * static_cast<std::size_t>(a.sizes.ports * a.sizes.rows) +
            static_cast<std::size_t>(row)) *
               static_cast<std::size_t>(a.sizes.cells) +
           start;
  }
};

struct covariance_sum_op : scalar_op<covariance_sum_op> {
  covariance_sum_args a;
  explicit covariance_sum_op(const covariance_sum_args& args) : a(args) {}
  double flops() const { return 8.0 * covariance_chunk; }
  double bytes() const { return 16.0 * covariance_chunk; }
  WB_HD void one(std::size_t i) const {
    const std::size_t chunks = static_cast<std::size_t>(a.chunks), rx = static_cast<std::size_t>(a.sizes.rx),
                      pair = i / chunks, slot = pair / (rx * rx), entry = pair - slot * rx * rx;
    const int first = static_cast<int>(i - pair * chunks) * covariance_chunk,
              last = first + covariance_chunk < a.samples ? first + covariance_chunk : a.samples;
    cx<float> sum{0.f, 0.f};
    for (int s = first; s < last; s++)
      sum = conj_fma(sample(slot, entry % rx, s), sample(slot, entry / rx, s), sum);
    a.out[i] = pair_of(sum);
  }

 private:
  WB_HD cx<float> sample(std::size_t slot, std::size_t antenna, int s) const {
    if (a.silent != nullptr)
      return value_of(a.received.data[antenna * a.received.element_stride +
                                      (slot * static_cast<std::size_t>(a.sizes.elements) +
                                       static_cast<std::size_t>(a.silent[s])) *
                                          a.received.item_stride]);
    const std::size_t row = slot * static_cast<std::size_t>(a.sizes.rx) + antenna;
    return value_of(a.filtered[row * static_cast<std::size_t>(a.samples) + static_cast<std::size_t>(s)]);
  }
};

struct covariance_op : scalar_op<covariance_op> {
  covariance_args a;
  explicit covariance_op(const covariance_args& args) : a(args) {}
  double flops() const { return 2.0 * a.rx * a.rx * (a.chunks + 1); }
  double bytes() const { return 8.0 * a.rx * a.rx * (a.chunks + 1) + 4; }
  WB_HD void one(std::size_t slot) const {
    const std::size_t entries = static_cast<std::size_t>(a.rx * a.rx),
                      chunks = static_cast<std::size_t>(a.chunks);
    float trace = 0.f;
    for (std::size_t e = 0; e < entries; e++) {
      const bool diagonal = e % static_cast<std::size_t>(a.rx + 1) == 0;
      if (a.covariance.data == nullptr && !diagonal) continue;
      cx<float> sum{0.f, 0.f};
      for (std::size_t c = 0; c < chunks; c++)
        sum = sum + value_of(a.sums[(slot * entries + e) * chunks + c]);
      sum = {a.scale * sum.re, diagonal ? 0.f : a.scale * sum.im};
      if (diagonal) trace = trace + sum.re;
      if (a.covariance.data != nullptr)
        a.covariance.data[e * a.covariance.element_stride + slot * a.covariance.item_stride] = pair_of(sum);
    }
    if (a.noise.data != nullptr)
      a.noise.data[slot * a.noise.item_stride] = trace / static_cast<float>(a.rx) + 0.f;
  }
};

struct whitener_op : scalar_op<whitener_op> {
  whitener_args a;
  explicit whitener_op(const whitener_args& args) : a(args) {}
  double flops() const { return 8.0 * a.rx * a.rx * a.rx / 3; }
  double bytes() const { return 16.0 * a.rx * a.rx; }
  /// L below the diagonal and 1 / L on it, then L^-1, in place; zeros above. All zeros if R is not positive
  /// definite.
  WB_HD void one(std::size_t slot) const {
    const int n = a.rx;
    cx_pair* l = a.out + slot * static_cast<std::size_t>(n * n);
    const cx_pair* r = a.covariance.data + slot * a.covariance.item_stride;
    bool definite = true;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        if (j > i) {
          l[i * n + j] = {0.f, 0.f};
          continue;
        }
        cx<float> s = value_of(r[static_cast<std::size_t>(i * n + j) * a.covariance.element_stride]);
        if (i == j) s.re = s.re + a.added;
        const float least = static_cast<float>(n) * 0x1p-23f * s.re;
        for (int k = 0; k < j; k++) s = fnma(value_of(l[i * n + k]), conj(value_of(l[j * n + k])), s);
        if (i == j) {
          definite = definite && s.re > least && is_finite(s.re);
          l[i * n + j] = {definite ? 1.f / sqrt(s.re) : 0.f, 0.f};
        } else {
          l[i * n + j] = pair_of(l[j * n + j].re * s);
        }
      }
    if (!definite) {
      for (int i = 0; i < n * n; i++) l[i] = {0.f, 0.f};
      return;
    }
    for (int j = 0; j < n; j++)
      for (int i = j + 1; i < n; i++) {
        cx<float> s{0.f, 0.f};
        for (int k = j; k < i; k++) s = fnma(value_of(l[i * n + k]), value_of(l[k * n + j]), s);
        l[i * n + j] = pair_of(l[i * n + i].re * s);
      }
  }
};

struct whiten_op : scalar_op<whiten_op> {
  whiten_args a;
  explicit whiten_op(const whiten_args& args) : a(args) {}
  double flops() const { return 4.0 * a.rx * (a.rx + 1) * (a.columns + 1); }
  double bytes() const { return 16.0 * a.rx * (a.columns + 1); }
  WB_HD void one(std::size_t use) const {
    const cx_pair* l = a.factor + use / a.uses * static_cast<std::size_t>(a.rx * a.rx);
    bool erased = l[0].re == 0.f;
    for (int r = a.rx - 1; r >= 0; r--)
      for (int c = 0; c <= a.columns; c++) {
        cx<float> sum{0.f, 0.f};
        for (int k = 0; k <= r; k++) {
          const cx_pair x =
              c == a.columns
                  ? a.received.data[static_cast<std::size_t>(k) * a.received.element_stride +
                                    use * a.received.item_stride]
                  : a.channel.data[static_cast<std::size_t>(k * a.columns + c) * a.channel.element_stride +
                                   use * a.channel.item_stride];
          sum = fma(value_of(l[r * a.rx + k]), value_of(x), sum);
        }
        erased = erased || !is_finite(sum.re) || !is_finite(sum.im);
        out(use, r, c) = pair_of(sum);
      }
    if (erased)
      for (int r = 0; r < a.rx; r++)
        for (int c = 0; c <= a.columns; c++) out(use, r, c) = {0.f, 0.f};
    if (a.status.data != nullptr)
      a.status.data[use * a.status.item_stride] = erased ? status_erased : std::uint8_t{0};
  }
  /// Entry (r, c) of L^-1 [H y].
  WB_HD cx_pair& out(std::size_t use, int r, int c) const {
    if (c == a.columns)
      return a.out_received.data[static_cast<std::size_t>(r) * a.out_received.element_stride +
                                 use * a.out_received.item_stride];
    return a.out_channel.data[static_cast<std::size_t>(r * a.columns + c) * a.out_channel.element_stride +
                              use * a.out_channel.item_stride];
  }
};

}  // namespace WB_ISA
}  // namespace wb
