#include <warpband/link/stages.hpp>

#include <algorithm>
#include <cmath>

#include <warpband/channel/awgn/awgn.hpp>

namespace wb {

// A point's number follows from its value alone, so that its result does not depend on which others are in
// the sweep. It is at most 100000 in size: the numbers of transmissions, 2^20 apart, do not meet. Of
// probabilities the logarithm counts: points 0.1 % apart have numbers of their own, down to 1e-20.
random_range frame_batch::random(std::uint64_t seed, std::uint64_t items_per_frame) const noexcept {
  static_assert(most_transmissions << 20 < 1 << 30);
  const double in_steps =
      axis == snr_axis::probability ? 5000 * std::log10(std::max(point_db, 1e-20)) : 1000 * point_db;
  const auto number = static_cast<std::int32_t>(std::llround(in_steps)) + (transmission << 20);
  return {seed, first * items_per_frame, static_cast<std::uint32_t>(number)};
}

frame_sizes::frame_sizes(const link_config& c)
    : k(sizes_of(c.code).k),
      sent(sizes_of(c.code).n),
      padded(symbols_per_frame(c) * static_cast<std::size_t>(bits_per_symbol(c)) / codewords_per_frame(c)),
      codewords(codewords_per_frame(c)),
      uses(uses_per_frame(c)),
      symbols(symbols_per_frame(c)) {}

namespace {

/// Lists without an entry for each frame are empty.
template <class T>
void append_part(std::vector<T>& to, const std::vector<T>& more, std::size_t first, std::size_t count) {
  if (more.empty()) return;
  const auto begin = more.begin() + static_cast<std::ptrdiff_t>(first);
  to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
}
template <class T>
void append_part(std::vector<std::vector<T>>& to, const std::vector<std::vector<T>>& more, std::size_t first,
                 std::size_t count) {
  to.resize(more.size());
  for (std::size_t i = 0; i < more.size(); i++) append_part(to[i], more[i], first, count);
}

}  // namespace

void append(frame_counts& counts, const frame_counts& more, std::size_t first, std::size_t count) {
  const auto add = [&](auto& to, const auto& from) { append_part(to, from, first, count); };
  add(counts.bit_errors, more.bit_errors);
  add(counts.iterations, more.iterations);
  add(counts.erased, more.erased);
  add(counts.erased_uses, more.erased_uses);
  add(counts.codeword_errors, more.codeword_errors);
  add(counts.information_lost, more.information_lost);
  add(counts.transmissions, more.transmissions);
  add(counts.passed, more.passed);
  add(counts.outer_bit_errors, more.outer_bit_errors);
  add(counts.outer_erased, more.outer_erased);
  add(counts.outer_codeword_errors, more.outer_codeword_errors);
}

void noise_of_link::set(executor& exec, double point_db) {
  n0_ = static_cast<float>(noise_var_at(config_, point_db));
  exec.upload(on_device_.data(), &n0_, sizeof n0_);
}

void noise_of_link::add(executor& exec, std::complex<float>* samples, std::size_t per_frame,
                        const frame_batch& batch) const {
  const auto values = make_view(samples, batch.frames * per_frame);
  add_awgn(exec, values, values, n0_, batch.random(config_.seed, per_frame));
}

}  // namespace wb
