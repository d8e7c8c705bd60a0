#include <warpband/receive/interleaver.hpp>

#include <numeric>
#include <random>
#include <string>
#include <utility>

#include <warpband/core/check.hpp>
#include <warpband/receive/frames.hpp>

namespace wb {
namespace {

/// A frame has at least n places.
template <class T>
void check_frame(const view<T>& frame, std::size_t n, std::size_t items) {
  if (frame.elements < n)
    throw shape_error("frame", shape_text(frame.items, frame.elements),
                      "rows of at least " + std::to_string(n));
  check_shape("frame", frame, items, frame.elements);
}

}  // namespace

std::vector<std::int32_t> random_permutation(std::size_t n, std::uint64_t seed) {
  check_range("n", static_cast<long long>(n), 0, 1 << 30);
  std::vector<std::int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(seed);
  for (std::size_t i = n; i > 1; i--) std::swap(order[i - 1], order[(random() >> 32) * i >> 32]);
  return order;
}

bit_interleaver::bit_interleaver(std::vector<std::int32_t> permutation) : n_(permutation.size()) {
  std::vector<std::int32_t> inverse(n_, -1);
  for (std::size_t i = 0; i < n_; i++) {
    const std::int32_t bit = permutation[i];
    const std::string entry = "entry " + std::to_string(i) + " = " + std::to_string(bit);
    if (bit < 0 || static_cast<std::size_t>(bit) >= n_)
      throw argument_error("interleaver", entry,
                           "a permutation: entries from 0 to " + std::to_string(n_ - 1));
    std::int32_t& place = inverse[static_cast<std::size_t>(bit)];
    if (place >= 0)
      throw argument_error("interleaver", entry,
                           "a permutation: entry " + std::to_string(place) + " has this value already");
    place = static_cast<std::int32_t>(i);
  }
  order_ = resident<std::int32_t>(std::move(permutation));
  inverse_ = resident<std::int32_t>(std::move(inverse));
}

void bit_interleaver::interleave(executor& exec, view<const std::uint8_t> coded,
                                 view<std::uint8_t> frame) const {
  check_shape("coded", coded, coded.items, n_);
  check_frame(frame, n_, coded.items);
  run_frames_arrange(exec, {.elements = n_, .order = order_on(exec), .in_bytes = coded, .out_bytes = frame},
                     coded.items);
}
void bit_interleaver::interleave(executor& exec, view<const float> coded, view<float> frame) const {
  check_shape("coded", coded, coded.items, n_);
  check_frame(frame, n_, coded.items);
  run_frames_arrange(exec, {.elements = n_, .order = order_on(exec), .in = coded, .out = frame}, coded.items);
}
void bit_interleaver::deinterleave(executor& exec, view<const float> frame, view<float> coded) const {
  check_frame(frame, n_, coded.items);
  check_shape("coded", coded, coded.items, n_);
  run_frames_arrange(exec, {.elements = n_, .order = inverse_on(exec), .in = frame, .out = coded},
                     coded.items);
}

}  // namespace wb
