#pragma once
#include <complex>
#include <cstddef>

#include <warpband/channel/random.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/link/link.hpp>

namespace wb {

/// Channel matrices of frames. A frame has one for every subcarrier, or one alone.
/// Threads: one at a time.
class massive_channel {
 public:
  massive_channel(const massive_channel&) = delete;
  massive_channel& operator=(const massive_channel&) = delete;
  virtual ~massive_channel() = default;
  /// 1 or the subcarriers.
  virtual std::size_t matrices() const noexcept = 0;
  /// What it needs beside H.
  virtual std::size_t bytes_per_frame() const noexcept { return 0; }
  /// Queues H of frames range.first, range.first + 1, ... to [frames * matrices(), B * U].
  virtual void draw(executor& exec, view<std::complex<float>> h, random_range range) = 0;
  /// The same, and sends x [vectors, U] to y [vectors, B].
  virtual void send(executor& exec, view<const std::complex<float>> x, view<std::complex<float>> y,
                    view<std::complex<float>> h, random_range range);

 protected:
  massive_channel() = default;
};

/// Of a completed link.
std::unique_ptr<massive_channel> make_massive_channel(const link_channel& channel,
                                                      const massive_link_config& config);

}  // namespace wb
