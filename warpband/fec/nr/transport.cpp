#include <warpband/fec/nr/transport.hpp>

#include <algorithm>
#include <climits>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/fec/nr/scrambling.hpp>
#include <warpband/fec/nr/tbs.hpp>

namespace wb {

WB_DECLARE_KERNEL(nr_crc)
WB_DECLARE_KERNEL(nr_segment)
WB_DECLARE_KERNEL(nr_match)
WB_DECLARE_KERNEL(nr_combine)
WB_DECLARE_KERNEL(nr_assemble)
WB_DECLARE_KERNEL(nr_feedback)
WB_DECLARE_KERNEL(lte_finish)

namespace {

constexpr int most_coded_bits = 1 << 28;

bool is_owner(const std::weak_ptr<const void>& owner, const executor& exec) {
  const auto life = exec.life();
  return !owner.owner_before(life) && !life.owner_before(owner);
}

int base_graph_of(const nr_transport_config& c) {
  if (c.base_graph != 0) return c.base_graph;
  const double rate =
      c.code_rate != 0 ? c.code_rate : std::min(1., static_cast<double>(c.transport_bits) / c.coded_bits);
  return nr_base_graph(c.transport_bits, rate);
}

nr_transport_config checked(const nr_transport_config& c) {
  check_settings(nr_transport_config_settings(), c);
  const int symbol = c.layers * c.modulation_order;
  const int blocks = segment_nr_transport_block(c.transport_bits, base_graph_of(c)).blocks;
  if (c.coded_bits / symbol < blocks || c.coded_bits % symbol != 0)
    throw argument_error("coded_bits", std::to_string(c.coded_bits),
                         "a multiple of layers * modulation_order = " + std::to_string(symbol) +
                             ", at least once for each of " + std::to_string(blocks) +
                             " code blocks, up to " + std::to_string(most_coded_bits));
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
      return 0.5f / c.int8_steps;
  }
  return 0.f;
}

}  // namespace

const std::vector<setting_of<nr_transport_config>>& nr_transport_config_settings() {
  using c = nr_transport_config;
  static const std::vector<setting_of<c>> all{
      integer("transport_bits", &c::transport_bits, 1, nr_most_transport_bits,
              "A, bits of a transport block without CRCs."),
      integer("coded_bits", &c::coded_bits, 1, most_coded_bits, "G, bits of a transmission.",
              "a multiple of layers * modulation_order, at least once for each code block, up to 2^28"),
      one_of("modulation_order", &c::modulation_order, {1, 2, 4, 6, 8, 10}, "Q_m, bits of a symbol."),
      integer("layers", &c::layers, 1, 4, "That a transport block is mapped to."),
      integer_or_auto("base_graph", &c::base_graph, 0, 1, 2,
                      "Of the LDPC code. \"auto\": by transport_bits and code_rate.", "1 or 2"),
      number_or_word("code_rate", &c::code_rate, "auto", 0, 0, 1,
                     "Target code rate, which chooses the base graph. \"auto\": transport_bits / coded_bits.",
                     "a number from 0 to 1"),
      integer_or_auto("soft_buffer", &c::soft_buffer, 0, 1, INT_MAX,
                      "N_ref, places that are kept of each code block's circular buffer. \"auto\": all.",
                      "an integer from 1 on"),
      integer("scrambling", &c::scrambling, -1, INT_MAX, "c_init of the scrambling sequence; -1: none.")};
  return all;
}

nr_transport_plan::nr_transport_plan(const nr_transport_config& config)
    : config_(checked(config)),
      segmentation_(segment_nr_transport_block(config.transport_bits, base_graph_of(config))),
      buffer_(make_nr_circular_buffer(segmentation_.block, config.soft_buffer)) {
  const nr_segmentation& s = segmentation_;
  config_.base_graph = s.block.base_graph;
  at_.blocks = s.blocks;
  at_.k = s.block.k;
  at_.padded = s.block.padded();
  at_.codeword = s.block.codeword();
  at_.punctured = 2 * s.block.z;
  at_.block_crc_bits = s.block_crc_bits;
  at_.crc_bits = s.crc_bits;
  at_.transport_bits = s.transport_bits;
  // §5.4.2.1: of G / (N_L Q_m) symbols the last G / (N_L Q_m) mod C code blocks send one more.
  const int symbol = config.layers * config.modulation_order, symbols = config.coded_bits / symbol;
  sent_ = {symbols / s.blocks * symbol, symbol, s.blocks - symbols % s.blocks};
  transport_weights_ = resident(crc_remainders(s.bits, s.crc()));
  block_weights_ = resident(crc_remainders(s.block_crc_bits == 0 ? 0 : s.block.k, crc24b));
  if (config.scrambling >= 0)
    scrambling_ =
        resident(nr_scrambling_sequence(config.scrambling, static_cast<std::size_t>(config.coded_bits)));
}

int nr_transport_plan::rows(int rv) const {
  check_range("rv", rv, 0, 3);
  const int start = buffer_.start[static_cast<std::size_t>(rv)];
  return nr_rows_sent(segmentation_.block, buffer_, start, sent_bits(segmentation_.blocks - 1));
}

void check(const nr_transport_config& config) {
  check(nr_transport_plan(config).segmentation().block.code(nr_core_rows), config.ldpc);
}

void nr_transport_encoder::run(executor& exec, view<const std::uint8_t> bits, int rv,
                               view<std::uint8_t> coded) {
  const std::size_t batch = bits.items, c = static_cast<std::size_t>(segmentation_.blocks);
  check_range("rv", rv, 0, 3);
  check_shape("bits", bits, static_cast<std::size_t>(config_.transport_bits), batch);
  check_shape("coded", coded, static_cast<std::size_t>(config_.coded_bits), batch);
  if (batch != batch_ || !is_owner(owner_, exec)) {
    owner_.reset();
    blocks_ = exec.make<std::uint8_t>(padded(), blocks(batch));
    codewords_ = exec.make<std::uint8_t>(codeword(), blocks(batch));
    part_ = exec.make<std::int32_t>(c, batch);
    owner_ = exec.life();
    batch_ = batch;
  }
  if (c > 1) {
    nr_crc_args a;
    a.at = at_;
    a.bits = bits;
    a.part = part_;
    a.transport_weights = transport_weights_.on(exec);
    exec.run(nr_crc_kernels(), &a, blocks(batch));
  }
  nr_segment_args cut;
  cut.at = at_;
  cut.bits = bits;
  cut.part = part_;
  cut.blocks = blocks_;
  cut.transport_weights = transport_weights_.on(exec);
  cut.block_weights = block_weights_.on(exec);
  exec.run(nr_segment_kernels(), &cut, blocks(batch));

  const int needed = rows(rv);
  auto encoder = encoders_.find(needed);
  if (encoder == encoders_.end())
    encoder = encoders_.emplace(needed, ldpc_encoder(segmentation_.block.code(needed))).first;
  view<std::uint8_t> sent_part = codewords_;  // the columns of these rows
  sent_part.elements = static_cast<std::size_t>(encoder->second.n());
  encoder->second.run(exec, blocks_, sent_part);

  nr_match_args match;
  match.at = at_;
  match.sent = sent_;
  match.ring = {buffer_.length, buffer_.start[static_cast<std::size_t>(rv)]};
  match.modulation_order = config_.modulation_order;
  match.scrambling = scrambling_on(exec);
  match.coded = codewords_;
  match.out = coded;
  exec.run(nr_match_kernels(), &match, blocks(batch));
}

nr_transport_decoder::nr_transport_decoder(const nr_transport_config& config)
    : nr_transport_plan(config), least_(least_llr(config.ldpc)) {
  check(segmentation_.block.code(nr_core_rows), config.ldpc);
}

void nr_transport_decoder::require_owner(executor& exec) const {
  if (!is_owner(owner_, exec))
    throw argument_error("exec", "\"" + exec.name() + "\"",
                         "the executor of the transmissions since reset()");
}

void nr_transport_decoder::combine(executor& exec, view<const float> llr, int rv) {
  const std::size_t c = static_cast<std::size_t>(segmentation_.blocks);
  const bool first = transmissions_ == 0;
  if (!first) require_owner(exec);
  const std::size_t batch = first ? llr.items : batch_;
  check_range("rv", rv, 0, 3);
  check_shape("llr", llr, static_cast<std::size_t>(config_.coded_bits), batch);
  if (first && (batch != batch_ || !is_owner(owner_, exec))) {
    owner_.reset();
    soft_ = exec.make<float>(codeword(), blocks(batch));
    decided_ = exec.make<std::uint8_t>(padded(), blocks(batch));
    decided_status_ = exec.make<std::uint8_t>(1, blocks(batch));
    iterations_ = exec.make<std::int32_t>(1, blocks(batch));
    marks_ = exec.make<std::uint8_t>(c, batch);
    part_ = exec.make<std::int32_t>(c, batch);
    history_ = exec.make<std::int32_t>(c * std::size_t{lte_history_size}, batch);
    owner_ = exec.life();
    batch_ = batch;
  }
  nr_combine_args a;
  a.at = at_;
  a.sent = sent_;
  a.ring = {buffer_.length, buffer_.start[static_cast<std::size_t>(rv)]};
  a.modulation_order = config_.modulation_order;
  a.rv = rv;
  a.scrambling = scrambling_on(exec);
  a.llr = llr;
  a.soft = soft_;
  a.marks = marks_;
  a.history = history_;
  a.first = first;
  a.least = least_;
  exec.run(nr_combine_kernels(), &a, blocks(batch));
  transmissions_++;
  rows_ = std::max(rows_, rows(rv));
}

void nr_transport_decoder::decode(executor& exec, const nr_transport_output& out) {
  if (transmissions_ == 0) throw argument_error("transmissions", "0", "at least one since reset()");
  require_owner(exec);
  const std::size_t c = static_cast<std::size_t>(segmentation_.blocks), batch = batch_;
  check_optional_shape("bits", out.bits, static_cast<std::size_t>(config_.transport_bits), batch);
  check_optional_shape("ok", out.ok, 1, batch);
  check_optional_shape("block_ok", out.block_ok, c, batch);
  check_optional_shape("iterations", out.iterations, c, batch);
  check_optional_shape("status", out.status, 1, batch);
  check_optional_shape("extrinsic", out.extrinsic, columns(), blocks(batch));
  check_apart({{"bits", out.bits},
               {"ok", out.ok},
               {"block_ok", out.block_ok},
               {"iterations", out.iterations},
               {"status", out.status},
               {"extrinsic", out.extrinsic}});
  auto decoder = decoders_.find(rows_);
  if (decoder == decoders_.end())
    decoder = decoders_.emplace(rows_, ldpc_decoder(segmentation_.block.code(rows_), config_.ldpc)).first;
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
  a.at = at_;
  a.sent = sent_;
  a.ring = {buffer_.length, 0};
  for (std::size_t rv = 0; rv < 4; rv++) a.start[rv] = buffer_.start[rv];
  a.least = least_;
  a.decided = decided_;
  a.decided_status = decided_status_;
  a.iterations = iterations_;
  a.marks = marks_;
  a.history = history_;
  a.soft = view<float>(soft_);
  a.bits = out.bits;
  a.block_ok = out.block_ok;
  a.iterations_used = out.iterations;
  a.part = part_;
  a.transport_weights = transport_weights_.on(exec);
  a.block_weights = block_weights_.on(exec);
  exec.run(nr_assemble_kernels(), &a, blocks(batch));
  const lte_finish_args finish{segmentation_.blocks, part_, out.ok, out.status};
  exec.run(lte_finish_kernels(), &finish, batch);
}

void nr_transport_decoder::feed_back(executor& exec, view<const float> extrinsic, view<const float> llr,
                                     int rv, view<float> prior) const {
  if (transmissions_ == 0) throw argument_error("transmissions", "0", "at least one since reset()");
  require_owner(exec);
  check_range("rv", rv, 0, 3);
  check_shape("extrinsic", extrinsic, columns(), blocks(batch_));
  check_shape("llr", llr, static_cast<std::size_t>(config_.coded_bits), batch_);
  check_shape("prior", prior, static_cast<std::size_t>(config_.coded_bits), batch_);
  nr_feedback_args a;
  a.at = at_;
  a.sent = sent_;
  a.ring = {buffer_.length, buffer_.start[static_cast<std::size_t>(rv)]};
  a.modulation_order = config_.modulation_order;
  a.scrambling = scrambling_on(exec);
  a.extrinsic = extrinsic;
  a.llr = llr;
  a.soft = {soft_.data(), codeword(), blocks(batch_), 1, codeword()};
  a.prior = prior;
  exec.run(nr_feedback_kernels(), &a, blocks(batch_));
}

}  // namespace wb
