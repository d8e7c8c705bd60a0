#pragma once
// Rows of packed bits, the first in the most significant place, as an executor's arrays of a byte for each
// bit.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <warpband/c/transfer.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/fec/format/format.hpp>

namespace wb::c {

static_assert(std::endian::native == std::endian::little);  // eight bytes are handled as an integer

inline void unpack_bits(const std::uint8_t* packed, std::size_t bits, std::uint8_t* to) noexcept {
  constexpr std::uint64_t ones_of_bytes = 0x0101010101010101;
  std::size_t i = 0;
  for (; i + 8 <= bits; i += 8) {
    const std::uint64_t spread =
        packed[i / 8] * ones_of_bytes & 0x0102040810204080;  // byte j: bit 7 - j or 0
    const std::uint64_t ones = (spread + 0x7f * ones_of_bytes) >> 7 & ones_of_bytes;
    std::memcpy(to + i, &ones, 8);
  }
  for (; i < bits; i++) to[i] = static_cast<std::uint8_t>(packed[i / 8] >> (7 - i % 8) & 1);
}

/// An array of `n` rows of bits, kept from call to call.
/// Threads: one at a time.
class packed_rows {
 public:
  view<const std::uint8_t> input(executor& exec, const std::uint8_t* packed, std::size_t n,
                                 std::size_t bits) {
    const view<std::uint8_t> rows = room(exec, n, bits, true);
    for (std::size_t i = 0; i < n; i++)
      unpack_bits(packed + i * ((bits + 7) / 8), bits, host_.data() + i * bits);
    if (exec.is_device()) exec.upload(rows.data, host_.data(), n * bits);
    return rows;
  }
  /// Where results go; no data where they are not wanted.
  view<std::uint8_t> output(executor& exec, const std::uint8_t* packed, std::size_t n, std::size_t bits) {
    return packed == nullptr ? view<std::uint8_t>{} : room(exec, n, bits);
  }
  /// Packs what came to `output`. Waits.
  void fetch(executor& exec, std::uint8_t* packed, const view<std::uint8_t>& rows) {
    if (packed == nullptr) return;
    const view<std::uint8_t> out = packed_.output(exec, packed, rows.items, packed_bytes(rows.elements));
    pack_bits(exec, rows, out);
    packed_.fetch(exec, packed, out);
    exec.sync();
  }

  /// Memory of the executor. `staged`: and host memory for what is copied there.
  view<std::uint8_t> room(executor& exec, std::size_t n, std::size_t bits, bool staged = false) {
    if ((staged || !exec.is_device()) && host_.size() < n * bits) {
      host_ = {};
      host_ = exec.make_host<std::uint8_t>(1, n * bits);
    }
    if (exec.is_device() && device_.size() < n * bits) {
      device_ = {};
      device_ = exec.make<std::uint8_t>(1, n * bits);
    }
    return make_view(exec.is_device() ? device_.data() : host_.data(), n, bits);
  }

 private:
  array<std::uint8_t> host_, device_;
  transfer<std::uint8_t> packed_;
};

}  // namespace wb::c
