#pragma once
// Operands for tensor cores of a frame of 16 or 32 users: step 1 of tensor_sums.hpp, which has the contract.
//
// By all threads that share the frame: the floats become operands, in the same memory. A thread takes two
// users of an octet of 8 antennas. Their 128 bytes become 8 rows of 16 bytes, each a row of an 8 x 8 operand:
// high and low of the real and the imaginary part. Of n octets, octet o has the antennas 2 (o + n k) and
// 2 (o + n k) + 1 for k = 0..3, so that neighbouring threads access neighbouring bytes. If H is in two
// buffers, k = 0, 1 are in the first and k = 2, 3 in the second; `gap` is the extra offset.
#include <warpband/core/group.hpp>
#include <warpband/core/half_lane.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/tensor_cores.hpp>
#include <warpband/massive/frame_tiles.hpp>
#include <warpband/massive/uplink/mapping.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// The largest exponent e for which values with this sum of squares, times 2^e, are below 2^15.
WB_HD int scale_exponent(float energy) {
  const int exponent = static_cast<int>(__float_as_uint(energy) >> 23 & 255) - 127;
  return 15 - ((exponent + 2) >> 1);
}
WB_HD float power_of_two(int exponent) {
  return __uint_as_float(static_cast<std::uint32_t>(127 + exponent) << 23);
}
/// High and low parts of two values, each as a pair of halves.
WB_HD void split_two(float a, float b, float scale, std::uint32_t& high, std::uint32_t& low) {
  a *= scale, b *= scale;
  high = to_half_pair(a, b);
  const float2 kept = to_floats(high);
  low = to_half_pair(a - kept.x, b - kept.y);
}
WB_HD void store_words(float* p, const uint4& x) { *reinterpret_cast<uint4*>(p) = x; }

/// High and low parts of eight values.
WB_HD void split_octet(const float (&x)[8], float scale, uint4& high, uint4& low) {
  split_two(x[0], x[1], scale, high.x, low.x);
  split_two(x[2], x[3], scale, high.y, low.y);
  split_two(x[4], x[5], scale, high.z, low.z);
  split_two(x[6], x[7], scale, high.w, low.w);
}

/// Makes operands of a frame. All threads that share it call each method.
template <int U, bool Many, bool Halves>
struct frame_operands {
  using Scratch = tensor_scratch<U, Many>;
  /// Pairs of antennas of an octet.
  static constexpr int parts = 4;
  const frame_samples& p;
  int antennas, rank, threads;
  float *h, *y;                  // operands; before, if not `Halves`, the floats
  const float *from_h, *from_y;  // if `Halves`: the samples
  float* scratch;
  int gap, from_gap;  // extra offset of antennas i >= 4 of an octet, in `h` and in `from_h`

  static constexpr int pairs = U / 2;  // of users; so many neighbouring threads have the same antennas
  WB_HD int first() const { return rank / pairs; }
  WB_HD int step() const { return threads / pairs; }
  WB_HD int pair() const { return rank % pairs; }
  WB_HD int antenna(int octet, int i) const { return 2 * (octet + p.octets * (i / 2)) + i % 2; }
  WB_HD float* row(int octet, int i) const {
    return h + 2 * U * antenna(octet, i) + 4 * pair() + (i < 4 ? 0 : gap);
  }
  WB_HD float* vector_part(int v, int octet, int part) const {
    return y + v * p.y_side + 4 * (octet + p.octets * part);
  }
  WB_HD bool ragged() const { return antennas < 8 * p.octets; }

  /// Partial energies of users and, for a single vector, partial H^H y. Halves need no scale: they become
  /// operands here. A barrier must follow before `split`.
  WB_HD void sum() const {
    const int stride = Scratch::fixed ? Scratch::subsets : step();
    WB_ROLL for (int subset = first(); subset < stride; subset += step()) {
      float energy[2][2] = {};
      four_sums filter[2];
      WB_ROLL for (int octet = subset; octet < p.octets; octet += stride) {
        float4 x[8];
        load_octet(octet, x);
        WB_UNROLL for (int i = 0; i < 8; i++) {
          energy[0][0] = fma(x[i].x, x[i].x, energy[0][0]);
          energy[0][1] = fma(x[i].y, x[i].y, energy[0][1]);
          energy[1][0] = fma(x[i].z, x[i].z, energy[1][0]);
          energy[1][1] = fma(x[i].w, x[i].w, energy[1][1]);
        }
        if constexpr (!Many) {
          WB_UNROLL for (int part = 0; part < parts; part++) {
            const float4 v = two_of_vector(0, octet, part);
            const float2 z[2] = {{v.x, v.y}, {v.z, v.w}};
            WB_UNROLL for (int e = 0; e < 2; e++) {
              const float4& a = x[2 * part + e];
              filter[0].add(z[e], {a.x, a.y});
              filter[1].add(z[e], {a.z, a.w});
            }
          }
        }
      }
      float2 energies = {energy[0][0] + energy[0][1], energy[1][0] + energy[1][1]};
      float both[4] = {};
      if constexpr (!Many) filter[0].join(both), filter[1].join(both + 2);
      int to = subset;
      if constexpr (!Scratch::fixed) {
        WB_UNROLL for (int lanes = pairs; lanes < 32; lanes *= 2) {
          energies.x += __shfl_xor_sync(0xffffffffu, energies.x, lanes);
          energies.y += __shfl_xor_sync(0xffffffffu, energies.y, lanes);
          if constexpr (!Many) {
            WB_UNROLL for (int i = 0; i < 4; i++) both[i] += __shfl_xor_sync(0xffffffffu, both[i], lanes);
          }
        }
        if (rank % 32 >= pairs) continue;
        to = rank / 32;
      }
      *reinterpret_cast<float2*>(scratch + Scratch::energies + U * to + 2 * pair()) = energies;
      if constexpr (!Many) store4(scratch + Scratch::filters + 2 * U * to + 4 * pair(), both);
    }
  }
  /// Adds the energies, sets the scales and splits H. A barrier must follow before the tiles.
  WB_HD void split() const {
    float2 energy = {0.f, 0.f};
    WB_UNROLL for (int subset = 0; subset < Scratch::subsets; subset++) {
      const float2 e =
          *reinterpret_cast<const float2*>(scratch + Scratch::energies + U * subset + 2 * pair());
      energy.x += e.x, energy.y += e.y;
    }
    const int by[2] = {scale_exponent(energy.x), scale_exponent(energy.y)};
    if (first() == 0) {
      *reinterpret_cast<float2*>(scratch + Scratch::energy + 2 * pair()) = energy;
      *reinterpret_cast<float2*>(scratch + Scratch::inverse + 2 * pair()) = {power_of_two(-by[0]),
                                                                             power_of_two(-by[1])};
    }
    if constexpr (!Halves) {
      const float scale[2] = {power_of_two(by[0]), power_of_two(by[1])};
      WB_ROLL for (int octet = first(); octet < p.octets; octet += step()) {
        float x[4][8];
        WB_UNROLL for (int i = 0; i < 8; i++) {
          const float4 z = *reinterpret_cast<const float4*>(row(octet, i));
          x[0][i] = z.x, x[1][i] = z.y, x[2][i] = z.z, x[3][i] = z.w;
        }
        WB_UNROLL for (int i = 0; i < 4; i++) {
          uint4 high, low;
          split_octet(x[i], scale[i / 2], high, low);
          store_words(row(octet, 4 * (i / 2) + i % 2), high);
          store_words(row(octet, 4 * (i / 2) + i % 2 + 2), low);
        }
      }
    }
  }
  /// Splits `count` vectors. 16 threads take one vector, whatever the number of threads: so the order of sums
  /// is fixed.
  WB_HD void split_vectors(int count) const {
    constexpr int lanes = 16;
    const int lane = rank % lanes;
    WB_ROLL for (int from = 0; from < count; from += threads / lanes) {
      const int v = from + rank / lanes;
      const bool exists = v < count;
      if constexpr (Halves) {
        if (!exists) continue;
        WB_ROLL for (int octet = lane; octet < p.octets; octet += lanes) {
          std::uint32_t halves[8];
          WB_UNROLL for (int part = 0; part < parts; part++) {
            const uint2 two = two_halves(v, octet, part);
            halves[2 * part] = two.x, halves[2 * part + 1] = two.y;
          }
          store_halves(halves, vector_part(v, octet, 0), vector_part(v, octet, 1));
        }
      } else {
        float energy[4] = {};
        if (exists) {
          WB_ROLL for (int octet = lane; octet < p.octets; octet += lanes) {
            WB_UNROLL for (int part = 0; part < parts; part++) {
              if (ragged() && antenna(octet, 2 * part) >= antennas)
                store_words(vector_part(v, octet, part), {0, 0, 0, 0});
              const float4 x = two_of_vector(v, octet, part);
              energy[part] = fma(x.x, x.x, energy[part]);
              energy[part] = fma(x.y, x.y, energy[part]);
              energy[part] = fma(x.z, x.z, energy[part]);
              energy[part] = fma(x.w, x.w, energy[part]);
            }
          }
        }
        float total_energy = (energy[0] + energy[1]) + (energy[2] + energy[3]);
        WB_UNROLL for (int i = 1; i < lanes; i *= 2) total_energy +=
            __shfl_xor_sync(0xffffffffu, total_energy, i);
        if (!exists) continue;
        const int by = scale_exponent(total_energy);
        const float scale = power_of_two(by);
        if (lane == 0) scratch[Scratch::vector_inverse + v] = power_of_two(-by);
        WB_ROLL for (int octet = lane; octet < p.octets; octet += lanes) {
          float x[2][8];
          WB_UNROLL for (int part = 0; part < parts; part++) {
            const float4 z = two_of_vector(v, octet, part);
            x[0][2 * part] = z.x, x[1][2 * part] = z.y, x[0][2 * part + 1] = z.z, x[1][2 * part + 1] = z.w;
          }
          WB_UNROLL for (int i = 0; i < 2; i++) {
            uint4 high, low;
            split_octet(x[i], scale, high, low);
            store_words(vector_part(v, octet, i), high);
            store_words(vector_part(v, octet, i + 2), low);
          }
        }
      }
    }
  }

 private:
  /// The floats of an octet, zeros past the last antenna. Halves become operands.
  WB_HD void load_octet(int octet, float4 (&x)[8]) const {
    if constexpr (Halves) {
      uint2 two[8];
      WB_UNROLL for (int i = 0; i < 8; i++) {
        two[i] = {0, 0};
        if (antenna(octet, i) < antennas)
          two[i] = *reinterpret_cast<const uint2*>(from_h + U * antenna(octet, i) + 2 * pair() +
                                                   (i < 4 ? 0 : from_gap));
        const float2 a = to_floats(two[i].x), b = to_floats(two[i].y);
        x[i] = {a.x, a.y, b.x, b.y};
      }
      std::uint32_t halves[8];
      WB_UNROLL for (int i = 0; i < 8; i++) halves[i] = two[i].x;
      store_halves(halves, row(octet, 0), row(octet, 1));
      WB_UNROLL for (int i = 0; i < 8; i++) halves[i] = two[i].y;
      store_halves(halves, row(octet, 4), row(octet, 5));
    } else {
      // Past the last antenna the buffer has operands of the frame before.
      if (ragged()) {
        WB_UNROLL for (int i = 0; i < 8; i++) {
          if (antenna(octet, i) >= antennas) store_words(row(octet, i), {0, 0, 0, 0});
        }
      }
      WB_UNROLL for (int i = 0; i < 8; i++) x[i] = *reinterpret_cast<const float4*>(row(octet, i));
    }
  }
  /// Stores the real and the imaginary parts of eight complex halves as two rows.
  WB_HD static void store_halves(const std::uint32_t (&x)[8], float* re, float* im) {
    const auto low = [](std::uint32_t a, std::uint32_t b) { return (a & 0xffffu) | b << 16; };
    const auto high = [](std::uint32_t a, std::uint32_t b) { return a >> 16 | (b & 0xffff0000u); };
    store_words(re, {low(x[0], x[1]), low(x[2], x[3]), low(x[4], x[5]), low(x[6], x[7])});
    store_words(im, {high(x[0], x[1]), high(x[2], x[3]), high(x[4], x[5]), high(x[6], x[7])});
  }
  /// Vector v at two antennas of an octet; zeros past the last antenna.
  WB_HD uint2 two_halves(int v, int octet, int part) const {
    const int index = antenna(octet, 2 * part);
    return index < antennas ? *reinterpret_cast<const uint2*>(from_y + v * antennas + index) : uint2{0, 0};
  }
  WB_HD float4 two_of_vector(int v, int octet, int part) const {
    if constexpr (Halves) {
      const uint2 two = two_halves(v, octet, part);
      const float2 a = to_floats(two.x), b = to_floats(two.y);
      return {a.x, a.y, b.x, b.y};
    } else {
      return *reinterpret_cast<const float4*>(vector_part(v, octet, part));
    }
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
