#pragma once
// What a detector takes of received slots of 5G NR: y, H and N0 of the resource elements with data. With
// transform precoding they are what the equaliser leaves: one antenna with H = 1.
#include <optional>

#include <warpband/estimate/estimator.hpp>
#include <warpband/nr/shared_channel.hpp>
#include <warpband/receive/receiver.hpp>

namespace wb {

/// These arrays of a batch of slots on an executor.
/// Threads: one at a time.
class slot_arrays {
 public:
  slot_arrays(const nr_shared_channel& channel, std::size_t rx_antennas)
      : channel_(channel), rx_(rx_antennas) {}
  slot_arrays(const slot_arrays&) = delete;
  slot_arrays& operator=(const slot_arrays&) = delete;
  /// Memory for each slot.
  std::size_t bytes_per_slot() const noexcept {
    return data() * (8 * rx_ * (1 + channel_.layers()) + 4 + (precoded() ? 40 : 0));
  }
  /// Buffers for so many slots. Throws memory_error.
  void allocate(executor& exec, std::size_t slots) {
    y_ = exec.make<std::complex<float>>(slots * data(), rx_);
    h_ = exec.make<std::complex<float>>(slots * data(), rx_ * channel_.layers());
    n0_ = exec.make<float>(slots * data(), 1);
    if (!precoded()) return;
    d_ = exec.make<std::complex<float>>(slots * data(), 1);
    ones_ = exec.make<std::complex<float>>(slots * data(), 1);
    rest_ = exec.make<float>(slots * data(), 1);
  }
  /// Queues H and N0 of received [slots * elements, rx_antennas] from its pilots; noise_var [slots]: N0.
  void estimate(executor& exec, const channel_estimator& estimator, view<const std::complex<float>> received,
                view<const float> noise_var) {
    const std::size_t uses = noise_var.items * data();
    estimator.run(exec, received, noise_var,
                  {.channel = channel(uses), .noise_var = make_view(n0_.data(), uses)});
  }
  /// Queues y of `slots` slots.
  void extract(executor& exec, view<const std::complex<float>> received, std::size_t slots) {
    channel_.extract(exec, received, make_view(y_.data(), slots * data(), rx_));
  }
  /// Queues, with transform precoding, the equaliser of `slots` slots; else nothing. noise_var: N0 of their
  /// uses, or that of `estimate`.
  void equalise(executor& exec, std::size_t slots, std::optional<view<const float>> noise_var = {}) {
    if (!precoded()) return;
    const std::size_t uses = slots * data();
    channel_.equalise(
        exec,
        {.channel = channel(uses),
         .received = make_view(static_cast<const std::complex<float>*>(y_.data()), uses, rx_),
         .noise_var = noise_var ? *noise_var : make_view(static_cast<const float*>(n0_.data()), uses)},
        {.symbols = make_view(d_.data(), uses),
         .channel = make_view(ones_.data(), uses),
         .noise_var = make_view(rest_.data(), uses)});
  }
  /// H of so many uses, for who knows it.
  view<std::complex<float>> channel(std::size_t uses) {
    return make_view(h_.data(), uses, rx_ * channel_.layers());
  }
  /// What is heard of `slots` slots from slot `first` on.
  heard slots(std::size_t first, std::size_t slots) const {
    const auto from = [&](const auto& a) {
      return make_view(a.data() + first * data() * a.elements(), slots * data(), a.elements());
    };
    if (precoded())
      return {.channel = from(ones_), .uses_per_channel = 1, .received = from(d_), .noise_var = from(rest_)};
    return {.channel = from(h_), .uses_per_channel = 1, .received = from(y_), .noise_var = from(n0_)};
  }

 private:
  std::size_t data() const noexcept { return channel_.data_elements(); }
  bool precoded() const noexcept { return channel_.config().transform_precoding; }
  nr_shared_channel channel_;
  std::size_t rx_;
  array<std::complex<float>> y_, h_, d_, ones_;
  array<float> n0_, rest_;
};

}  // namespace wb
