#pragma once
// Percentiles of times from counts in a fixed amount of memory, in the manner of HdrHistogram (G. Tene):
// cells grow with the time they stand for, so that the relative error is the same everywhere.
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace wb {

/// Counts times from 0 ns to about 73 min, 2^42 ns; longer ones count as that. A percentile is at least the
/// time it stands for and less than one part in 128 above it; the largest is exact.
/// Threads: one at a time.
class latency_histogram {
 public:
  void add(std::chrono::nanoseconds time) noexcept {
    const std::uint64_t ns =
        std::min<std::uint64_t>(static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0)), longest);
    cells_[cell_of(ns)]++;
    count_++;
    sum_ += ns;
    largest_ = std::max(largest_, ns);
  }
  std::uint64_t count() const noexcept { return count_; }
  double mean_us() const noexcept {
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_) * 1e-3;
  }
  double max_us() const noexcept { return static_cast<double>(largest_) * 1e-3; }
  /// The least time, to within the error above, that `percent` (0..100) of all do not exceed; 0 without any.
  double percentile_us(double percent) const noexcept {
    if (count_ == 0) return 0;
    const double wanted = percent * static_cast<double>(count_) / 100;  // exact for 99.9 of 1000
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < cells; i++) {
      seen += cells_[i];
      if (seen > 0 && static_cast<double>(seen) >= wanted)
        return static_cast<double>(std::min(last_of(i), largest_)) * 1e-3;
    }
    return max_us();
  }
  void add(const latency_histogram& other) noexcept {
    for (std::size_t i = 0; i < cells; i++) cells_[i] += other.cells_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    largest_ = std::max(largest_, other.largest_);
  }

 private:
  static constexpr int part_bits = 7, top_bits = 42;
  static constexpr std::uint64_t longest = std::uint64_t{1} << top_bits,
                                 parts = std::uint64_t{1} << part_bits;
  static constexpr std::size_t cells = (top_bits - part_bits + 2) << part_bits;
  /// Below 2 * parts a cell for each ns; from there on `parts` cells for each factor of two.
  static std::size_t cell_of(std::uint64_t ns) noexcept {
    const int shift = std::max(0, static_cast<int>(std::bit_width(ns)) - part_bits - 1);
    return (static_cast<std::size_t>(shift) << part_bits) + static_cast<std::size_t>(ns >> shift);
  }
  /// The longest time that counts in a cell.
  static std::uint64_t last_of(std::size_t cell) noexcept {
    if (cell < 2 * parts) return cell;
    const std::size_t shift = (cell >> part_bits) - 1;
    return ((static_cast<std::uint64_t>(cell) - (static_cast<std::uint64_t>(shift) << part_bits) + 1)
            << shift) -
           1;
  }

  std::array<std::uint64_t, cells> cells_{};
  std::uint64_t count_ = 0, sum_ = 0, largest_ = 0;
};

}  // namespace wb
