#include <warpband/fec/puncture/puncture.hpp>

#include <algorithm>

#include <warpband/core/check.hpp>

namespace wb {

WB_DECLARE_KERNEL(pick)

puncturer::puncturer(std::size_t n, const std::vector<std::int32_t>& sent) : sent_(sent) {
  if (n < 1 || n > 1 << 24) throw argument_error("n", std::to_string(n), "1 to " + std::to_string(1 << 24));
  std::vector<std::int32_t> from(n, -1);
  for (std::size_t i = 0; i < sent.size(); i++) {
    const std::int32_t position = sent[i];
    if (position < 0 || static_cast<std::size_t>(position) >= n ||
        from[static_cast<std::size_t>(position)] >= 0)
      throw argument_error("sent", "a list with " + std::to_string(position),
                           "places 0.." + std::to_string(n - 1) + ", each at most once");
    from[static_cast<std::size_t>(position)] = static_cast<std::int32_t>(i);
  }
  received_ = resident(std::move(from));
}

void puncturer::puncture(executor& exec, view<const std::uint8_t> coded, view<std::uint8_t> out) const {
  sent_.check_held();
  check_shape("coded", coded, coded.items, n());
  check_shape("out", out, coded.items, std::max(out.elements, sent()));
  pick_args a;
  a.bits_in = coded;
  a.bits_out = out;
  a.n = static_cast<int>(out.elements);
  a.places = static_cast<int>(sent());
  a.from = sent_.on(exec);
  exec.run(pick_kernels(), &a, coded.items);
}

namespace {

/// Queues out[i] = llr[from[i]].
void pick(executor& exec, view<const float> llr, view<float> out, const std::int32_t* from) {
  pick_args a;
  a.llr_in = llr;
  a.llr_out = out;
  a.n = a.places = static_cast<int>(out.elements);
  a.from = from;
  exec.run(pick_kernels(), &a, llr.items);
}

}  // namespace

void puncturer::puncture(executor& exec, view<const float> llr, view<float> out) const {
  sent_.check_held();
  check_shape("llr", llr, llr.items, n());
  check_shape("out", out, llr.items, sent());
  pick(exec, llr, out, sent_.on(exec));
}

void puncturer::restore(executor& exec, view<const float> llr, view<float> out) const {
  received_.check_held();
  check_shape("llr", llr, llr.items, sent());
  check_shape("out", out, llr.items, n());
  pick(exec, llr, out, received_.on(exec));
}

std::vector<std::int32_t> turbo_half_rate_places(std::size_t k) {
  const auto length = static_cast<std::int32_t>(k), stream = length + 4;
  std::vector<std::int32_t> places;
  for (std::int32_t i = 0; i < stream; i++) places.push_back(i);
  for (std::int32_t i = 0; i < length; i++) places.push_back((i % 2 == 0 ? stream : 2 * stream) + i);
  for (std::int32_t d = 1; d <= 2; d++)
    for (std::int32_t i = length; i < stream; i++) places.push_back(d * stream + i);
  return places;
}

}  // namespace wb
