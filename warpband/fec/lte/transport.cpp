#include <warpband/fec/lte/transport.hpp>

#include <algorithm>
#include <climits>

#include <warpband/fec/lte/transport_kernels.hpp>
#include <warpband/fec/transport/outputs_apart.hpp>

namespace wb {

namespace {

lte_transport_config checked(const lte_transport_config& c) {
  check_settings(lte_transport_config_settings(), c);
  check_coded_bits(c, segment_transport_block(c.transport_bits).blocks);
  return c;
}

}  // namespace

const std::vector<setting_of<lte_transport_config>>& lte_transport_config_settings() {
  using c = lte_transport_config;
  static const std::vector<setting_of<c>> settings = [] {
    auto list = transport_settings_of<c>(lte_most_transport_bits,
                                         "That a transport block is mapped to; transmit diversity has 2.");
    list.push_back(
        integer_or_auto("soft_buffer", &c::soft_buffer, 1, INT_MAX,
                        "N_cb, places that are kept of each code block's circular buffer. \"auto\": all.",
                        "an integer from 1 on"));
    return list;
  }();
  return settings;
}

lte_transport_plan::lte_transport_plan(const lte_transport_config& config)
    : config_(checked(config)), segmentation_(segment_transport_block(config.transport_bits)) {
  const lte_segmentation& s = segmentation_;
  segments_.blocks = s.blocks;
  segments_.minus = s.c_minus;
  segments_.k[0] = s.k_minus;
  segments_.k[1] = s.k_plus;
  segments_.fillers = s.filler_bits;
  segments_.block_crc_bits = s.block_crc_bits;
  segments_.transport_bits = s.transport_bits;
  share_out(config, crc24a);
  const auto tables = [&](int block_size, int fillers) {
    return lte_ring_tables(make_lte_circular_buffer(block_size, fillers, config.soft_buffer), block_size,
                           fillers);
  };
  rings_[0] = tables(s.k(0), s.filler_bits);
  if (s.c_minus > 0) rings_[1] = s.filler_bits == 0 ? rings_[0] : tables(s.k_minus, 0);
  rings_[2] = s.filler_bits == 0 && s.c_minus == 0 ? rings_[0] : tables(s.k_plus, 0);
  for (const lte_ring_tables& ring : rings_) harq_length_ = std::max(harq_length_, ring.length());
}

float lte_transport_plan::code_rate(int kind) const noexcept {
  float highest = 0;
  const int first = kind == 0 ? 0 : segments_.minus;
  const int end = kind == 0 ? segments_.minus : segments_.blocks;
  for (int r = first; r < end; r++) {
    const int information = segments_.k[kind] - (r == 0 ? segments_.fillers : 0);
    const int kept = rings_[r == 0 ? 0 : kind == 0 ? 1 : 2].length(), sent = sent_bits(r);
    // A block is decoded once more coded bits than its own have come, after so many transmissions.
    const int received = std::min(kept, (information / sent + 1) * sent);
    highest = std::max(highest, static_cast<float>(information) / static_cast<float>(received));
  }
  return std::min(1.f, highest);
}

turbo_decoder_config lte_transport_plan::turbo_of(int kind) const {
  turbo_decoder_config turbo = config_.turbo;
  const crc_polynomial crc = segmentation_.blocks == 1 ? crc24a : crc24b;
  turbo.k = segments_.k[kind];
  turbo.code_rate = code_rate(kind);
  turbo.crc_polynomial = crc.polynomial;
  turbo.crc_degree = crc.degree;
  turbo.doubts_zeros = false;  // lte_assemble_op knows what was received
  return turbo;
}

void check(const lte_transport_config& config) {
  const lte_transport_plan plan(config);
  if (plan.segmentation().c_minus > 0) (void)completed(plan.turbo_of(0));
  if (plan.segmentation().c_plus > 0) (void)completed(plan.turbo_of(1));
}

lte_transport_encoder::lte_transport_encoder(const lte_transport_config& config)
    : lte_transport_plan(config) {
  for (int kind = 0; kind < 2; kind++)
    if (rows(kind, 1) != 0) encoder_[kind].emplace(segments_.k[kind]);
}

void lte_transport_encoder::run(executor& exec, view<const std::uint8_t> bits, int rv,
                                view<std::uint8_t> coded) {
  check_sent(config_, bits, rv, coded);
  const std::size_t batch = bits.items;
  if (owner_.changes(exec, batch)) {
    for (int kind = 0; kind < 2; kind++) {
      blocks_[kind] = exec.make<std::uint8_t>(rows(kind, batch), k(kind));
      codewords_[kind] = exec.make<std::uint8_t>(rows(kind, batch), 3 * (k(kind) + 4));
    }
    part_ = exec.make<std::int32_t>(batch, static_cast<std::size_t>(segments_.blocks));
    owner_.made(exec, batch);
  }
  lte_segment_args cut;
  lte_match_args match;
  match.segments = segments_;
  match.sent = sent_;
  match.out = coded;
  for (std::size_t i = 0; i < 3; i++)
    if (has_ring(i)) match.ring[i] = rings_[i].to_send(exec, rv);
  for (int kind = 0; kind < 2; kind++) {
    cut.blocks[kind] = blocks_[kind];
    match.coded[kind] = codewords_[kind];
  }
  segment(exec, bits, part_, lte_crc_kernels(), lte_segment_kernels(), cut);
  for (int kind = 0; kind < 2; kind++)
    if (encoder_[kind]) encoder_[kind]->run(exec, blocks_[kind], codewords_[kind]);
  exec.run(lte_match_kernels(), &match, blocks(batch));
}

lte_transport_decoder::lte_transport_decoder(const lte_transport_config& config)
    : transport_receiver(config) {
  for (int kind = 0; kind < 2; kind++)
    if (rows(kind, 1) != 0) received_.least = decoder_[kind].emplace(turbo_of(kind)).least_llr();
}

void lte_transport_decoder::make_buffers(executor& exec, std::size_t batch) {
  for (int kind = 0; kind < 2; kind++) {
    soft_[kind] = exec.make<float>(rows(kind, batch), 3 * (k(kind) + 4));
    decided_[kind] = exec.make<std::uint8_t>(rows(kind, batch), k(kind));
    iterations_[kind] = exec.make<std::int32_t>(rows(kind, batch), 1);
  }
  received_.owner.made(exec, batch);
}

void lte_transport_decoder::pass(executor& exec, const harq_memory& m, bool reads) {
  lte_harq_args a;
  for (std::size_t i = 0; i < 3; i++)
    if (has_ring(i)) a.ring[i] = rings_[i].to_send(exec, 0);
  for (int kind = 0; kind < 2; kind++) a.soft[kind] = soft_[kind];
  pass_harq(received_, exec, m, reads, lte_harq_kernels(), a);
}

void lte_transport_decoder::combine(executor& exec, const llr_batch& llr, int rv) {
  if (begins(received_, exec, config_, llr, rv)) make_buffers(exec, llr.items);
  lte_combine_args a;
  for (std::size_t i = 0; i < 3; i++)
    if (has_ring(i)) a.ring[i] = rings_[i].to_combine(exec, rv);
  for (int kind = 0; kind < 2; kind++) a.soft[kind] = soft_[kind];
  combine_into(received_, exec, config_, floats_.of(exec, llr), rv, lte_combine_kernels(), a);
}

void lte_transport_decoder::decode(executor& exec, const lte_transport_output& out) {
  require(received_, exec);
  check_outputs(out, received_.owner.batch());
  check_outputs_apart(out);
  lte_assemble_args a;
  for (int kind = 0; kind < 2; kind++) {
    if (decoder_[kind])
      decoder_[kind]->run(exec, soft_[kind],
                          {.bits = decided_[kind],
                           .soft = {},
                           .extrinsic = {},
                           .iterations = iterations_[kind],
                           .status = {}});
    a.decided[kind] = decided_[kind];
    a.iterations[kind] = iterations_[kind];
    a.soft[kind] = view<float>(soft_[kind]);
  }
  for (std::size_t i = 0; i < 3; i++)
    if (has_ring(i)) {
      a.ring[i] = rings_[i].to_send(exec, 0);
      for (int rv = 0; rv < 4; rv++) a.start[i][rv] = rings_[i].start(rv);
    }
  assemble(received_, exec, out, lte_assemble_kernels(), transport_finish_kernels(), a);
}

}  // namespace wb
