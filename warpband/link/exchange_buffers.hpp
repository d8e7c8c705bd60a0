#pragma once
// What the exchanges of a link have in common: the bits of frames, and the way of arrays to and from the
// host.
#include <optional>

#include <warpband/fec/crc/crc.hpp>
#include <warpband/link/source/source.hpp>
#include <warpband/link/stages.hpp>

namespace wb {

/// Draws the bits of frames and attaches their CRC.
/// Threads: one at a time.
class frame_source {
 public:
  explicit frame_source(const link_config& c)
      : seed_(c.seed), codewords_(codewords_per_frame(c)), drawn_(c.code.k) {
    if (!c.code.crc) return;
    drawn_ -= c.code.crc->degree;
    crc_.emplace(drawn_, *c.code.crc);
  }
  /// Queues bits [frames * codewords, k].
  void run(executor& exec, view<std::uint8_t> bits, const frame_batch& batch) const {
    random_bits(exec, bits, drawn_, batch.random(seed_, codewords_));
    if (crc_) crc_->run(exec, bits);
  }

 private:
  std::uint64_t seed_;
  std::size_t codewords_;
  int drawn_;
  std::optional<crc_attacher> crc_;
};

/// Queues the first `n` elements of an array to the host.
template <class T>
void download(executor& exec, std::vector<T>& to, const array<T>& from, std::size_t n) {
  to.resize(n);
  exec.download(to.data(), from.data(), n * sizeof(T));
}

/// Zeros, where those who write to the array leave a part of it alone.
inline void clear(executor& exec, array<std::uint8_t>& a) {
  const std::vector<std::uint8_t> zeros(a.size());
  exec.upload(a.data(), zeros.data(), a.bytes());
  exec.sync();
}

}  // namespace wb
