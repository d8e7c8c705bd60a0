#include <warpband/fec/lte/rate_matching.hpp>

#include <algorithm>
#include <climits>

#include <warpband/core/check.hpp>
#include <warpband/fec/lte/match_kernels.hpp>

namespace wb {

namespace {

/// Table 5.1.4-1: column c of the interleaver's output is column P(c) of its input, c with its bits reversed.
int permuted_column(int c) { return (c & 1) << 4 | (c & 2) << 2 | (c & 4) | (c & 8) >> 2 | (c & 16) >> 4; }

lte_blocks one_block(int k) {
  lte_blocks segments;
  segments.k[1] = k;
  return segments;
}

}  // namespace

int lte_buffer_start(int k, int size, int rv) {
  const int rows = lte_interleaver_rows(k);
  return rows * (2 * ((size + 8 * rows - 1) / (8 * rows)) * rv + 2) % size;
}

lte_circular_buffer make_lte_circular_buffer(int k, int fillers, std::optional<int> soft_buffer) {
  check_range("k", k, 40, 65536);
  check_range("fillers", fillers, 0, k);
  if (soft_buffer && *soft_buffer < 1)
    throw argument_error("soft_buffer", std::to_string(*soft_buffer), "N_cb >= 1, or absent");
  const int stream = k + 4, rows = lte_interleaver_rows(k), padded = 32 * rows, padding = padded - stream;
  const int n_cb = std::min(soft_buffer.value_or(3 * padded), 3 * padded);

  lte_circular_buffer b;
  b.size = n_cb;
  std::array<int, 4> k0;
  for (int rv = 0; rv < 4; rv++) k0[static_cast<std::size_t>(rv)] = lte_buffer_start(k, n_cb, rv);
  for (int w = 0; w < n_cb; w++) {
    for (std::size_t rv = 0; rv < 4; rv++)
      if (w == k0[rv]) b.start[rv] = static_cast<int>(b.places.size());
    const int d = w < padded ? 0 : 1 + (w - padded) % 2, v = w < padded ? w : (w - padded) / 2;
    const int y = (permuted_column(v / rows) + 32 * (v % rows) + (d == 2 ? 1 : 0)) % padded;
    const int i = y - padding;
    if (i < 0 || (d != 2 && i < fillers)) continue;
    b.places.push_back(d * stream + i);
  }
  if (b.places.empty())
    throw argument_error("soft_buffer", std::to_string(*soft_buffer),
                         "a circular buffer with a coded bit in it: the first places hold none");
  for (int& start : b.start) start %= static_cast<int>(b.places.size());  // NULLs up to the end of the buffer
  return b;
}

lte_ring_tables::lte_ring_tables(const lte_circular_buffer& buffer, int k, int fillers)
    : length_(static_cast<int>(buffer.places.size())), start_(buffer.start) {
  const std::size_t stream = static_cast<std::size_t>(k) + 4;
  std::vector<std::int32_t> numbers(3 * stream, length_);
  for (std::size_t i = 0; i < static_cast<std::size_t>(fillers); i++)
    numbers[i] = numbers[stream + i] = length_ + 1;
  for (std::size_t i = 0; i < buffer.places.size(); i++)
    numbers[static_cast<std::size_t>(buffer.places[i])] = static_cast<std::int32_t>(i);
  places_ = resident(buffer.places);
  numbers_ = resident(std::move(numbers));
}

const std::vector<setting_of<lte_rate_matching_config>>& lte_rate_matching_settings() {
  using c = lte_rate_matching_config;
  static const std::vector<setting_of<c>> settings{
      integer("k", &c::k, 40, 65536, "Bits of a code block."),
      integer("sent_bits", &c::sent_bits, 1, 1 << 28, "E, bits of a transmission."),
      integer("fillers", &c::fillers, 0, 65536, "How many of the k, at the front, are filler bits.",
              "an integer from 0 to k"),
      integer_or_auto("soft_buffer", &c::soft_buffer, 1, INT_MAX,
                      "N_cb, places that are kept of the circular buffer. \"auto\": all.",
                      "an integer from 1 on")};
  return settings;
}

lte_rate_matcher::lte_rate_matcher(const lte_rate_matching_config& config)
    : config_(config),
      tables_(make_lte_circular_buffer(config.k, config.fillers, config.soft_buffer), config.k,
              config.fillers) {
  check_settings(lte_rate_matching_settings(), config);
}

void lte_rate_matcher::match(executor& exec, view<const std::uint8_t> coded, int rv,
                             view<std::uint8_t> out) const {
  check_range("rv", rv, 0, 3);
  check_shape("coded", coded, coded.items, 3 * (static_cast<std::size_t>(config_.k) + 4));
  check_shape("out", out, coded.items, static_cast<std::size_t>(config_.sent_bits));
  lte_match_args a;
  a.segments = one_block(config_.k);
  a.sent = {config_.sent_bits, 0, 0};
  a.ring[0] = tables_.to_send(exec, rv);
  a.coded[1] = coded;
  a.out = out;
  exec.run(lte_match_kernels(), &a, coded.items);
}

void lte_rate_matcher::combine(executor& exec, const llr_batch& llr, int rv, bool first, view<float> soft,
                               view<std::uint8_t> marks) const {
  check_range("rv", rv, 0, 3);
  check_shape("llr", llr, llr.items, static_cast<std::size_t>(config_.sent_bits));
  check_shape("soft", soft, llr.items, 3 * (static_cast<std::size_t>(config_.k) + 4));
  check_optional_shape("marks", marks, llr.items, 1);
  check_apart({{"soft", soft}, {"marks", marks}});
  lte_combine_args a;
  a.segments = one_block(config_.k);
  a.sent = {config_.sent_bits, 0, 0};
  a.ring[0] = tables_.to_combine(exec, rv);
  a.llr = floats_.of(exec, llr);
  a.soft[1] = soft;
  a.marks = marks;
  a.first = first;
  exec.run(lte_combine_kernels(), &a, llr.items);
}

}  // namespace wb
