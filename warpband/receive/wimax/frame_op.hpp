#pragma once
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/status.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/receive/wimax/frame_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// The place of a burst in a frame, 0 where there is none.
WB_HD std::int32_t place_of(const burst_places& places, std::size_t frame) {
  if (places.data == nullptr) return 0;
  const std::int32_t place = places.data[frame * places.stride];
  return place < 0 ? 0 : place;
}

/// Nothing is computed: every build moves the same values one by one.
struct grid_copy_op : thread_op<grid_copy_args> {
  double flops() const { return 0; }
  double bytes() const { return 16.0 * a.piece.slots * a.piece.antennas; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    const grid_piece& p = a.piece;
    const std::uint32_t first = static_cast<std::uint32_t>(item.first), row = first / p.steps;
    std::uint32_t step = first % p.steps, tone = row % p.tones, frame = row / p.tones;
    for (int lane = 0; lane < item.valid; lane++) {
      const std::size_t offset = frame * p.frame_stride + tone * p.tone_stride + step * p.step_stride;
      const std::size_t i = item.first + static_cast<std::size_t>(lane);
      if (a.from_grid != nullptr)
        copy(p, a.from_grid + offset + offset_of_place(frame), p.slot_stride, p.antenna_stride,
             a.to.data + i * a.to.item_stride, p.antennas * a.to.element_stride, a.to.element_stride);
      else
        copy(p, a.from.data + i * a.from.item_stride, p.antennas * a.from.element_stride,
             a.from.element_stride, a.to_grid + offset, p.slot_stride, p.antenna_stride);
      if (++step < p.steps) continue;
      step = 0;
      if (++tone < p.tones) continue;
      tone = 0;
      frame++;
    }
  }

 private:
  WB_HD std::size_t offset_of_place(std::size_t frame) const {
    const std::uint32_t place = static_cast<std::uint32_t>(place_of(a.places, frame));
    return (place >> 16) * a.symbol_stride + (place & 65535u) * a.piece.tone_stride;
  }
  static WB_HD void copy(const grid_piece& p, const cx_pair* from, std::size_t from_slot,
                         std::size_t from_antenna, cx_pair* to, std::size_t to_slot, std::size_t to_antenna) {
    const bool pairs = p.antennas == 2 && from_antenna == 1 && to_antenna == 1;
    for (std::uint32_t slot = 0; slot < p.slots; slot++, from += from_slot, to += to_slot) {
      if (pairs) {
        const cx_pair one = from[0], two = from[1];
        to[0] = one;
        to[1] = two;
        continue;
      }
      for (std::uint32_t r = 0; r < p.antennas; r++) to[r * to_antenna] = from[r * from_antenna];
    }
  }
};

/// An item is a codeword.
struct burst_noise_op : thread_op<burst_noise_args> {
  double flops() const { return 0; }
  double bytes() const { return 8; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    const grid_piece& p = a.piece;
    for (int lane = 0; lane < item.valid; lane++) {
      const std::size_t i = item.first + static_cast<std::size_t>(lane), row = i / p.steps,
                        frame = row / p.tones, tone = row - frame * p.tones;
      const bool placed = a.places.data == nullptr || a.places.data[frame * a.places.stride] >= 0;
      const std::size_t first = static_cast<std::uint32_t>(place_of(a.places, frame)) & 65535u;
      a.out[i] = placed ? a.noise[frame * p.frame_stride + (first + tone) * p.tone_stride] : 0.f;
    }
  }
};

/// An item is a coded bit. The copies add up in their order.
struct map_combine_op : thread_op<map_combine_args> {
  double flops() const { return double(a.copies) * a.halves; }
  double bytes() const { return 4.0 * a.copies * a.halves + 4; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    for (int lane = 0; lane < item.valid; lane++) {
      const std::size_t i = item.first + static_cast<std::size_t>(lane), frame = i / a.n,
                        bit = i - frame * a.n;
      const float* const llr = a.llr + frame * a.frame_stride;
      float sum = 0;
      for (std::uint32_t c = 0; c < a.copies; c++)
        for (std::uint32_t h = 0; h < a.halves; h++)
          sum += llr[(static_cast<std::size_t>(c) * a.n + bit) * a.halves + h];
      a.out[i] = sum;
    }
  }
};

/// An item is a frame.
struct map_read_op : thread_op<map_read_args> {
  double flops() const { return 0; }
  double bytes() const { return a.header_bits + a.map_bits + 4.0 * a.count + 1; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    for (int lane = 0; lane < item.valid; lane++) read(item.first + static_cast<std::size_t>(lane));
  }

 private:
  WB_HD void read(std::size_t frame) const {
    const std::uint8_t* const header = a.header + frame * static_cast<std::size_t>(a.header_bits);
    const std::uint8_t* const map = a.map + frame * static_cast<std::size_t>(a.map_bits);
    std::int32_t* const places = a.places + frame * static_cast<std::size_t>(a.count);
    bool good = residue(header, a.header_weights, a.header_bits) == a.header_residue &&
                residue(map, a.map_weights, a.map_bits) == a.map_residue;
    for (int i = 0; i < a.header_bits; i++) good = good && header[i] == a.expected_header[i];
    good = good && number(map, 0, 8) == 2 && number(map, 8, 8) == a.count;
    bool all_placed = good;
    for (int b = 0; b < a.count; b++) {
      places[b] = good ? place(map + 16 + 72 * b, b) : -1;
      all_placed = all_placed && places[b] >= 0;
    }
    a.status[frame] = all_placed ? std::uint8_t{0} : status_erased;
  }
  WB_HD std::int32_t place(const std::uint8_t* entry, int b) const {
    const std::int32_t symbol = number(entry, 20, 12), tone = number(entry, 32, 12),
                       symbols = number(entry, 44, 12), tones = number(entry, 56, 12);
    const bool known = number(entry, 0, 4) == a.bursts[3 * b] && number(entry, 4, 16) == b + 1 &&
                       symbols == a.bursts[3 * b + 1] && tones == a.bursts[3 * b + 2];
    const bool inside = symbol >= a.first_symbol && symbol + symbols <= a.symbols && tone + tones <= a.tones;
    return known && inside ? symbol * 65536 + tone : -1;
  }
  static WB_HD std::int32_t number(const std::uint8_t* bits, int first, int count) {
    std::int32_t value = 0;
    for (int i = first; i < first + count; i++) value = value * 2 + (bits[i] & 1);
    return value;
  }
  static WB_HD std::int32_t residue(const std::uint8_t* bits, const std::int32_t* weights, int n) {
    std::int32_t sum = 0;
    for (int i = 0; i < n; i++) sum ^= (bits[i] & 1) != 0 ? weights[i] : 0;
    return sum;
  }
};

}  // namespace WB_ISA
}  // namespace wb
