#include <warpband/fec/nr/transport.hpp>

#include <algorithm>
#include <climits>

#include <warpband/fec/nr/match_kernels.hpp>
#include <warpband/fec/nr/scrambling.hpp>
#include <warpband/fec/nr/tbs.hpp>
#include <warpband/fec/transport/finish_kernels.hpp>
#include <warpband/fec/transport/outputs_apart.hpp>

namespace wb {

WB_DECLARE_KERNEL(nr_crc)
WB_DECLARE_KERNEL(nr_segment)
WB_DECLARE_KERNEL(nr_assemble)
WB_DECLARE_KERNEL(nr_harq)

namespace {

int base_graph_of(const nr_transport_config& c) {
  if (c.base_graph) return *c.base_graph;
  const double rate =
      c.code_rate.value_or(std::min(1., static_cast<double>(c.transport_bits) / c.coded_bits));
  return nr_base_graph(c.transport_bits, rate);
}

nr_transport_config checked(const nr_transport_config& c) {
  check_settings(nr_transport_config_settings(), c);
  check_coded_bits(c, segment_nr_transport_block(c.transport_bits, base_graph_of(c)).blocks);
  return c;
}

/// The largest LLR that is 0 in the decoder's numbers.
float least_llr(const ldpc_decoder_config& c) {
  switch (c.precision) {
    case ldpc_precision::float32:
      return 0.f;
    case ldpc_precision::float16:
      return 0x1p-25f;
    case ldpc_precision::int8:
      return c.llr_steps ? 0.5f / *c.llr_steps : 0.f;
  }
  return 0.f;
}

}  // namespace

const std::vector<setting_of<nr_transport_config>>& nr_transport_config_settings() {
  using c = nr_transport_config;
  static const std::vector<setting_of<c>> settings = [] {
    auto list = transport_settings_of<c>(nr_most_transport_bits, "That a transport block is mapped to.");
    const std::vector<setting_of<c>> of_nr{
        integer_or_auto("base_graph", &c::base_graph, 1, 2,
                        "Of the LDPC code. \"auto\": by transport_bits and code_rate.", "1 or 2"),
        number("code_rate", &c::code_rate, 0, 1,
               "Target code rate, which chooses the base graph. \"auto\": transport_bits / coded_bits.", true,
               "\"auto\" or a number above 0, up to 1")
            .absent_as("auto"),
        integer_or_auto("soft_buffer", &c::soft_buffer, 1, INT_MAX,
                        "N_ref, places that are kept of each code block's circular buffer. \"auto\": all.",
                        "an integer from 1 on"),
        integer("scrambling", &c::scrambling, 0, INT_MAX,
                "c_init of the scrambling sequence. Absent: not scrambled.")};
    list.insert(list.end(), of_nr.begin(), of_nr.end());
    return list;
  }();
  return settings;
}

nr_transport_plan::nr_transport_plan(const nr_transport_config& config)
    : config_(checked(config)),
      segmentation_(segment_nr_transport_block(config.transport_bits, base_graph_of(config))),
      buffer_(make_nr_circular_buffer(segmentation_.block, config.soft_buffer)) {
  const nr_segmentation& s = segmentation_;
  config_.base_graph = s.block.base_graph;
  segments_.blocks = s.blocks;
  segments_.k = s.block.k;
  segments_.padded = s.block.padded();
  segments_.codeword = s.block.codeword();
  segments_.punctured = 2 * s.block.z;
  segments_.block_crc_bits = s.block_crc_bits;
  segments_.crc_bits = s.crc_bits;
  segments_.transport_bits = s.transport_bits;
  share_out(config, s.crc());
  harq_length_ = buffer_.length;
  if (config.scrambling)
    scrambling_ =
        resident(nr_scrambling_sequence(*config.scrambling, static_cast<std::size_t>(config.coded_bits)));
}

int nr_transport_plan::rows(int rv) const {
  check_range("rv", rv, 0, 3);
  const int start = buffer_.start[static_cast<std::size_t>(rv)];
  return nr_rows_sent(segmentation_.block, buffer_, start, sent_bits(segmentation_.blocks - 1));
}

void check(const nr_transport_config& config) {
  check(nr_transport_plan(config).segmentation().block.code(nr_core_rows), config.ldpc, true);
}

void nr_transport_encoder::run(executor& exec, view<const std::uint8_t> bits, int rv,
                               view<std::uint8_t> coded) {
  check_sent(config_, bits, rv, coded);
  const std::size_t batch = bits.items;
  if (owner_.changes(exec, batch)) {
    blocks_ = exec.make<std::uint8_t>(blocks(batch), padded());
    codewords_ = exec.make<std::uint8_t>(blocks(batch), codeword());
    part_ = exec.make<std::int32_t>(batch, static_cast<std::size_t>(segments_.blocks));
    owner_.made(exec, batch);
  }
  nr_segment_args cut;
  cut.blocks[0] = blocks_;
  segment(exec, bits, part_, nr_crc_kernels(), nr_segment_kernels(), cut);

  const int needed = rows(rv);
  auto encoder = encoders_.find(needed);
  if (encoder == encoders_.end())
    encoder = encoders_.emplace(needed, ldpc_encoder(segmentation_.block.code(needed))).first;
  view<std::uint8_t> sent_part = codewords_;  // the columns of these rows
  sent_part.elements = static_cast<std::size_t>(encoder->second.n());
  encoder->second.run(exec, blocks_, sent_part);

  nr_match_args match;
  match.segments = segments_;
  match.sent = sent_;
  match.ring = {buffer_.length, buffer_.start[static_cast<std::size_t>(rv)]};
  match.modulation_order = config_.modulation_order;
  match.scrambling = scrambling_on(exec);
  match.coded = codewords_;
  match.out = coded;
  exec.run(nr_match_kernels(), &match, blocks(batch));
}

nr_transport_decoder::nr_transport_decoder(const nr_transport_config& config) : transport_receiver(config) {
  check(segmentation_.block.code(nr_core_rows), config.ldpc, true);
  received_.least = least_llr(config.ldpc);
}

void nr_transport_decoder::make_buffers(executor& exec, std::size_t batch) {
  soft_ = exec.make<float>(blocks(batch), codeword());
  decided_ = exec.make<std::uint8_t>(blocks(batch), padded());
  decided_status_ = exec.make<std::uint8_t>(blocks(batch), 1);
  iterations_ = exec.make<std::int32_t>(blocks(batch), 1);
  received_.owner.made(exec, batch);
}

void nr_transport_decoder::pass(executor& exec, const harq_memory& m, bool reads) {
  nr_harq_args a;
  a.ring[0] = {buffer_.length, 0};
  a.soft[0] = soft_;
  pass_harq(received_, exec, m, reads, nr_harq_kernels(), a);
  if (reads)
    for (const int rv : {0, 1, 2, 3}) rows_ = std::max(rows_, rows(rv));
}

void nr_transport_decoder::combine(executor& exec, const llr_batch& llr, int rv) {
  if (begins(received_, exec, config_, llr, rv)) make_buffers(exec, llr.items);
  if (transmissions() == 0) rows_ = 0;
  nr_combine_args a;
  a.ring = {buffer_.length, buffer_.start[static_cast<std::size_t>(rv)]};
  a.scrambling = scrambling_on(exec);
  a.soft = soft_;
  combine_into(received_, exec, config_, floats_.of(exec, llr), rv, nr_combine_kernels(), a);
  rows_ = std::max(rows_, rows(rv));
}

void nr_transport_decoder::decode(executor& exec, const nr_transport_output& out) {
  require(received_, exec);
  check_outputs(out, received_.owner.batch());
  check_optional_shape("extrinsic", out.extrinsic, blocks(received_.owner.batch()), columns());
  check_outputs_apart(out);
  auto decoder = decoders_.find(rows_);
  if (decoder == decoders_.end())
    decoder =
        decoders_.emplace(rows_, ldpc_decoder(segmentation_.block.code(rows_), config_.ldpc, block_crc()))
            .first;
  view<const float> received = view<float>(soft_);  // the columns of these rows
  received.elements = static_cast<std::size_t>(decoder->second.code().n());
  view<float> extrinsic = out.extrinsic;
  if (extrinsic.data != nullptr) extrinsic.elements = received.elements;
  decoder->second.run(exec, received,
                      {.bits = decided_,
                       .soft = {},
                       .extrinsic = extrinsic,
                       .messages = {},
                       .iterations = iterations_,
                       .status = decided_status_});
  nr_assemble_args a;
  a.ring[0] = {buffer_.length, 0};
  for (std::size_t rv = 0; rv < 4; rv++) a.start[0][rv] = buffer_.start[rv];
  a.decided[0] = decided_;
  a.decided_status[0] = decided_status_;
  a.iterations[0] = iterations_;
  a.soft[0] = view<float>(soft_);
  assemble(received_, exec, out, nr_assemble_kernels(), transport_finish_kernels(), a);
}

void nr_transport_decoder::feed_back(executor& exec, view<const float> extrinsic, const llr_batch& llr,
                                     int rv, view<float> prior) const {
  require(received_, exec);
  const std::size_t batch = received_.owner.batch();
  check_range("rv", rv, 0, 3);
  check_shape("extrinsic", extrinsic, blocks(batch), columns());
  check_shape("llr", llr, batch, static_cast<std::size_t>(config_.coded_bits));
  check_shape("prior", prior, batch, static_cast<std::size_t>(config_.coded_bits));
  nr_feedback_args a;
  a.segments = segments_;
  a.sent = sent_;
  a.ring = {buffer_.length, buffer_.start[static_cast<std::size_t>(rv)]};
  a.modulation_order = config_.modulation_order;
  a.scrambling = scrambling_on(exec);
  a.extrinsic = extrinsic;
  a.llr = floats_.of(exec, llr);
  a.soft = {soft_.data(), codeword(), blocks(batch), 1, codeword()};
  a.prior = prior;
  exec.run(nr_feedback_kernels(), &a, blocks(batch));
}

}  // namespace wb
