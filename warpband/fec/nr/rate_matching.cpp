#include <warpband/fec/nr/rate_matching.hpp>

#include <algorithm>
#include <climits>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/fec/nr/match_kernels.hpp>
#include <warpband/fec/nr/segmentation.hpp>

namespace wb {

namespace {

nr_blocks one_block(const nr_code_block& b) {
  nr_blocks segments;
  segments.k = b.k;
  segments.padded = b.padded();
  segments.codeword = b.codeword();
  segments.punctured = 2 * b.z;
  return segments;
}

nr_rate_matching_config checked(const nr_rate_matching_config& c) {
  check_settings(nr_rate_matching_settings(), c);
  if (c.sent_bits % c.modulation_order != 0)
    throw argument_error("sent_bits", std::to_string(c.sent_bits),
                         "a multiple of modulation_order = " + std::to_string(c.modulation_order));
  return c;
}

}  // namespace

int nr_ring_number(const nr_code_block& block, int place) {
  const int information = block.k - 2 * block.z, fillers = block.standard_k() - block.k;
  return place <= information ? place : std::max(information, place - fillers);
}

nr_circular_buffer make_nr_circular_buffer(const nr_code_block& block, std::optional<int> soft_buffer) {
  if (soft_buffer && *soft_buffer < 1)
    throw argument_error("soft_buffer", std::to_string(*soft_buffer), "N_ref >= 1, or absent");
  const int n = block.standard_n(), z = block.z;
  nr_circular_buffer b;
  b.size = std::min(soft_buffer.value_or(n), n);
  b.length = nr_ring_number(block, b.size);
  const int parts = nr_rows(block.base_graph) - 2 + nr_systematic(block.base_graph);  // 66 or 50
  const std::array<int, 4> numerators =
      block.base_graph == 1 ? std::array{0, 17, 33, 56} : std::array{0, 13, 25, 43};
  for (std::size_t rv = 0; rv < 4; rv++) {
    const std::int64_t of_buffer = std::int64_t{numerators[rv]} * b.size;
    b.first[rv] = static_cast<int>(of_buffer / (std::int64_t{parts} * z)) * z;
    b.start[rv] =
        nr_ring_number(block, b.first[rv]) % b.length;  // fillers up to the end of the buffer: from the front
  }
  return b;
}

int nr_limited_buffer(int lbrm_transport_bits, int blocks) {
  check_range("lbrm_transport_bits", lbrm_transport_bits, 1, nr_most_transport_bits);
  check_range("blocks", blocks, 1, 1 << 20);
  const int kept = static_cast<int>(3LL * lbrm_transport_bits / (2LL * blocks));
  if (kept == 0)
    throw argument_error("lbrm_transport_bits", std::to_string(lbrm_transport_bits),
                         "at least one bit for each code block");
  return kept;
}

int nr_rows_sent(const nr_code_block& block, const nr_circular_buffer& buffer, int start, int sent_bits) {
  const bool around = sent_bits > buffer.length - start;
  const int last = around ? buffer.length - 1 : start + sent_bits - 1;
  const int parity = last - (block.k - 2 * block.z);  // its number among the parity bits
  return parity < 0 ? nr_core_rows : std::max(nr_core_rows, parity / block.z + 1);
}

const std::vector<setting_of<nr_rate_matching_config>>& nr_rate_matching_settings() {
  using c = nr_rate_matching_config;
  static const std::vector<setting_of<c>> settings{
      integer("base_graph", &c::base_graph, 1, 2, "Of the LDPC code."),
      integer("k", &c::k, 5, 22 * nr_most_lifting, "K', bits of a code block, CRC included."),
      integer_or_auto("lifting_size", &c::lifting_size, 2, nr_most_lifting,
                      "Z. \"auto\": the least that k needs.", "one of the 51 lifting sizes"),
      integer("sent_bits", &c::sent_bits, 1, 1 << 28, "E, bits of a transmission.",
              "a multiple of modulation_order, up to 2^28"),
      one_of("modulation_order", &c::modulation_order, {1, 2, 4, 6, 8, 10}, "Q_m, bits of a symbol."),
      integer_or_auto("soft_buffer", &c::soft_buffer, 1, INT_MAX,
                      "N_ref, places that are kept of the circular buffer. \"auto\": all.",
                      "an integer from 1 on")};
  return settings;
}

nr_rate_matcher::nr_rate_matcher(const nr_rate_matching_config& config)
    : config_(checked(config)),
      block_(config.lifting_size ? nr_code_block_of(config.base_graph, config.k, *config.lifting_size)
                                 : make_nr_code_block(config.base_graph, config.k)),
      buffer_(make_nr_circular_buffer(block_, config.soft_buffer)) {}

int nr_rate_matcher::rows(int rv) const {
  check_range("rv", rv, 0, 3);
  return nr_rows_sent(block_, buffer_, buffer_.start[static_cast<std::size_t>(rv)], config_.sent_bits);
}

void nr_rate_matcher::match(executor& exec, view<const std::uint8_t> coded, int rv,
                            view<std::uint8_t> out) const {
  check_range("rv", rv, 0, 3);
  check_shape("coded", coded, coded.items, static_cast<std::size_t>(block_.codeword()));
  check_shape("out", out, coded.items, static_cast<std::size_t>(config_.sent_bits));
  nr_match_args a;
  a.segments = one_block(block_);
  a.sent = {config_.sent_bits, 0, 0};
  a.ring = {buffer_.length, buffer_.start[static_cast<std::size_t>(rv)]};
  a.modulation_order = config_.modulation_order;
  a.coded = coded;
  a.out = out;
  exec.run(nr_match_kernels(), &a, coded.items);
}

void nr_rate_matcher::combine(executor& exec, const llr_batch& llr, int rv, bool first, view<float> soft,
                              view<std::uint8_t> marks) const {
  check_range("rv", rv, 0, 3);
  check_shape("llr", llr, llr.items, static_cast<std::size_t>(config_.sent_bits));
  check_shape("soft", soft, llr.items, static_cast<std::size_t>(block_.codeword()));
  check_optional_shape("marks", marks, llr.items, 1);
  check_apart({{"soft", soft}, {"marks", marks}});
  nr_combine_args a;
  a.segments = one_block(block_);
  a.sent = {config_.sent_bits, 0, 0};
  a.ring = {buffer_.length, buffer_.start[static_cast<std::size_t>(rv)]};
  a.modulation_order = config_.modulation_order;
  a.rv = rv;
  a.llr = floats_.of(exec, llr);
  a.soft = soft;
  a.marks = marks;
  a.first = first;
  exec.run(nr_combine_kernels(), &a, llr.items);
}

void nr_rate_matcher::feed_back(executor& exec, view<const float> extrinsic, view<const float> soft,
                                view<const float> llr, int rv, view<float> prior,
                                view<const std::uint8_t> status, view<const std::uint8_t> marks) const {
  const auto sent = static_cast<std::size_t>(config_.sent_bits),
             lowest = static_cast<std::size_t>(block_.padded() + rows(rv) * block_.z),
             highest = static_cast<std::size_t>(block_.codeword());
  check_shape("llr", llr, llr.items, sent);
  check_shape("prior", prior, llr.items, sent);
  check_shape("extrinsic", extrinsic, llr.items, std::clamp(extrinsic.elements, lowest, highest));
  check_shape("soft", soft, llr.items, std::clamp(soft.elements, lowest, highest));
  check_optional_shape("status", status, llr.items, 1);
  check_optional_shape("marks", marks, llr.items, 1);
  nr_feedback_args a;
  a.segments = one_block(block_);
  a.sent = {config_.sent_bits, 0, 0};
  a.ring = {buffer_.length, buffer_.start[static_cast<std::size_t>(rv)]};
  a.modulation_order = config_.modulation_order;
  a.extrinsic = extrinsic;
  a.soft = soft;
  a.llr = llr;
  a.prior = prior;
  a.status = status;
  a.marks = marks;
  exec.run(nr_feedback_kernels(), &a, llr.items);
}

}  // namespace wb
