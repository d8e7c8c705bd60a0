#include <warpband/fec/lte/transport.hpp>

#include <algorithm>
#include <climits>

#include <warpband/core/check.hpp>
#include <warpband/fec/crc/crc.hpp>

namespace wb {

WB_DECLARE_KERNEL(lte_crc)
WB_DECLARE_KERNEL(lte_segment)
WB_DECLARE_KERNEL(lte_match)
WB_DECLARE_KERNEL(lte_combine)
WB_DECLARE_KERNEL(lte_assemble)
WB_DECLARE_KERNEL(lte_finish)

namespace {

constexpr int most_coded_bits = 1 << 28;

bool is_owner(const std::weak_ptr<const void>& owner, const executor& exec) {
  const auto life = exec.life();
  return !owner.owner_before(life) && !life.owner_before(owner);
}

lte_transport_config checked(const lte_transport_config& c) {
  check_settings(lte_transport_config_settings(), c);
  if (c.modulation_order != 1 &&
      (c.modulation_order < 1 || c.modulation_order > 10 || c.modulation_order % 2 != 0))
    throw argument_error("modulation_order", std::to_string(c.modulation_order), "1, 2, 4, 6, 8 or 10");
  const int symbol = c.layers * c.modulation_order, blocks = segment_transport_block(c.transport_bits).blocks;
  if (c.coded_bits < blocks * symbol || c.coded_bits % symbol != 0)
    throw argument_error("coded_bits", std::to_string(c.coded_bits),
                         "a multiple of layers * modulation_order = " + std::to_string(symbol) +
                             ", at least once for each of " + std::to_string(blocks) +
                             " code blocks, up to " + std::to_string(most_coded_bits));
  return c;
}

}  // namespace

const std::vector<setting_of<lte_transport_config>>& lte_transport_config_settings() {
  using c = lte_transport_config;
  static const std::vector<setting_of<c>> all{
      integer("transport_bits", &c::transport_bits, 1, lte_most_transport_bits,
              "A, bits of a transport block without CRCs."),
      integer("coded_bits", &c::coded_bits, 1, most_coded_bits, "G, bits of a transmission.",
              "a multiple of layers * modulation_order, at least once for each code block, up to 2^28"),
      integer("modulation_order", &c::modulation_order, 1, 10, "Q_m, bits of a symbol.",
              "1, 2, 4, 6, 8 or 10"),
      integer("layers", &c::layers, 1, 4, "That a transport block is mapped to; transmit diversity has 2."),
      integer_or_auto("soft_buffer", &c::soft_buffer, 0, 1, INT_MAX,
                      "N_cb, places that are kept of each code block's circular buffer. \"auto\": all.",
                      "an integer from 1 on"),
      boolean("crc_stop", &c::crc_stop, "A code block leaves the iterations once its CRC holds.")};
  return all;
}

lte_transport_plan::lte_transport_plan(const lte_transport_config& config)
    : config_(checked(config)), segmentation_(segment_transport_block(config.transport_bits)) {
  const lte_segmentation& s = segmentation_;
  at_.blocks = s.blocks;
  at_.minus = s.c_minus;
  at_.k[0] = s.k_minus;
  at_.k[1] = s.k_plus;
  at_.fillers = s.filler_bits;
  at_.block_crc_bits = s.block_crc_bits;
  at_.transport_bits = s.transport_bits;
  // §5.1.4.1.2: of G' = G / (N_L Q_m) symbols the last G' mod C code blocks send one more.
  const int symbol = config.layers * config.modulation_order, symbols = config.coded_bits / symbol;
  sent_ = {symbols / s.blocks * symbol, symbol, s.blocks - symbols % s.blocks};
  const auto tables = [&](int block_size, int fillers) {
    return lte_ring_tables(make_lte_circular_buffer(block_size, fillers, config.soft_buffer), block_size,
                           fillers);
  };
  rings_[0] = tables(s.k(0), s.filler_bits);
  if (s.c_minus > 0) rings_[1] = s.filler_bits == 0 ? rings_[0] : tables(s.k_minus, 0);
  rings_[2] = s.filler_bits == 0 && s.c_minus == 0 ? rings_[0] : tables(s.k_plus, 0);
  transport_weights_ = resident(crc_remainders(s.bits, crc24a));
  block_weights_ = resident(crc_remainders(s.block_crc_bits == 0 ? 0 : s.k_plus, crc24b));
}

float lte_transport_plan::code_rate(int kind) const noexcept {
  float highest = 0;
  const int first = kind == 0 ? 0 : at_.minus;
  const int end = kind == 0 ? at_.minus : at_.blocks;
  for (int r = first; r < end; r++) {
    const int information = at_.k[kind] - (r == 0 ? at_.fillers : 0);
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
  turbo.k = at_.k[kind];
  turbo.code_rate = code_rate(kind);
  turbo.crc_polynomial = crc.polynomial;
  turbo.crc_degree = crc.degree;
  if (config_.crc_stop) turbo.stop = early_stop::crc;
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
    if (rows(kind, 1) != 0) encoder_[kind].emplace(at_.k[kind]);
}

void lte_transport_encoder::run(executor& exec, view<const std::uint8_t> bits, int rv,
                                view<std::uint8_t> coded) {
  const std::size_t batch = bits.items, c = static_cast<std::size_t>(segmentation_.blocks);
  check_range("rv", rv, 0, 3);
  check_shape("bits", bits, static_cast<std::size_t>(config_.transport_bits), batch);
  check_shape("coded", coded, static_cast<std::size_t>(config_.coded_bits), batch);
  if (batch != batch_ || !is_owner(owner_, exec)) {
    owner_.reset();
    for (int kind = 0; kind < 2; kind++) {
      blocks_[kind] = exec.make<std::uint8_t>(k(kind), rows(kind, batch));
      codewords_[kind] = exec.make<std::uint8_t>(3 * (k(kind) + 4), rows(kind, batch));
    }
    part_ = exec.make<std::int32_t>(c, batch);
    owner_ = exec.life();
    batch_ = batch;
  }
  if (c > 1) {
    lte_crc_args a;
    a.at = at_;
    a.bits = bits;
    a.part = part_;
    a.transport_weights = transport_weights_.on(exec);
    exec.run(lte_crc_kernels(), &a, batch * c);
  }
  lte_segment_args cut;
  cut.at = at_;
  cut.bits = bits;
  cut.part = part_;
  cut.transport_weights = transport_weights_.on(exec);
  cut.block_weights = block_weights_.on(exec);
  lte_match_args match;
  match.at = at_;
  match.sent = sent_;
  match.out = coded;
  for (std::size_t i = 0; i < 3; i++)
    if (i != 1 || segmentation_.c_minus > 0) match.ring[i] = rings_[i].to_send(exec, rv);
  for (int kind = 0; kind < 2; kind++) {
    cut.blocks[kind] = blocks_[kind];
    match.coded[kind] = codewords_[kind];
  }
  exec.run(lte_segment_kernels(), &cut, batch * c);
  for (int kind = 0; kind < 2; kind++)
    if (encoder_[kind]) encoder_[kind]->run(exec, blocks_[kind], codewords_[kind]);
  exec.run(lte_match_kernels(), &match, batch * c);
}

lte_transport_decoder::lte_transport_decoder(const lte_transport_config& config)
    : lte_transport_plan(config) {
  for (int kind = 0; kind < 2; kind++)
    if (rows(kind, 1) != 0) least_ = decoder_[kind].emplace(turbo_of(kind)).least_llr();
}

void lte_transport_decoder::require_owner(executor& exec) const {
  if (!is_owner(owner_, exec))
    throw argument_error("exec", "\"" + exec.name() + "\"",
                         "the executor of the transmissions since reset()");
}

void lte_transport_decoder::combine(executor& exec, view<const float> llr, int rv) {
  const std::size_t c = static_cast<std::size_t>(segmentation_.blocks);
  const bool first = transmissions_ == 0;
  if (!first) require_owner(exec);
  const std::size_t batch = first ? llr.items : batch_;
  check_range("rv", rv, 0, 3);
  check_shape("llr", llr, static_cast<std::size_t>(config_.coded_bits), batch);
  if (first && (batch != batch_ || !is_owner(owner_, exec))) {
    owner_.reset();
    for (int kind = 0; kind < 2; kind++) {
      soft_[kind] = exec.make<float>(3 * (k(kind) + 4), rows(kind, batch));
      decided_[kind] = exec.make<std::uint8_t>(k(kind), rows(kind, batch));
      iterations_[kind] = exec.make<std::int32_t>(1, rows(kind, batch));
    }
    marks_ = exec.make<std::uint8_t>(c, batch);
    part_ = exec.make<std::int32_t>(c, batch);
    history_ = exec.make<std::int32_t>(c * std::size_t{lte_history_size}, batch);
    owner_ = exec.life();
    batch_ = batch;
  }
  lte_combine_args a;
  a.at = at_;
  a.sent = sent_;
  for (std::size_t i = 0; i < 3; i++)
    if (i != 1 || segmentation_.c_minus > 0) a.ring[i] = rings_[i].to_combine(exec, rv);
  a.llr = llr;
  for (int kind = 0; kind < 2; kind++) a.soft[kind] = soft_[kind];
  a.marks = marks_;
  a.history = history_;
  a.first = first;
  a.least = least_;
  a.rv = rv;
  a.modulation_order = config_.modulation_order;
  exec.run(lte_combine_kernels(), &a, batch * c);
  transmissions_++;
}

void lte_transport_decoder::decode(executor& exec, const lte_transport_output& out) {
  if (transmissions_ == 0) throw argument_error("transmissions", "0", "at least one since reset()");
  require_owner(exec);
  const std::size_t c = static_cast<std::size_t>(segmentation_.blocks), batch = batch_;
  check_optional_shape("bits", out.bits, static_cast<std::size_t>(config_.transport_bits), batch);
  check_optional_shape("ok", out.ok, 1, batch);
  check_optional_shape("block_ok", out.block_ok, c, batch);
  check_optional_shape("iterations", out.iterations, c, batch);
  check_optional_shape("status", out.status, 1, batch);
  check_apart({{"bits", out.bits},
               {"ok", out.ok},
               {"block_ok", out.block_ok},
               {"iterations", out.iterations},
               {"status", out.status}});
  lte_assemble_args a;
  a.at = at_;
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
  }
  for (std::size_t i = 0; i < 3; i++)
    if (i != 1 || segmentation_.c_minus > 0) {
      a.ring[i] = rings_[i].to_combine(exec, 0);
      for (int rv = 0; rv < 4; rv++) a.start[i][rv] = rings_[i].start(rv);
    }
  for (int kind = 0; kind < 2; kind++) a.soft[kind] = view<float>(soft_[kind]);
  a.sent = sent_;
  a.least = least_;
  a.marks = marks_;
  a.history = history_;
  a.bits = out.bits;
  a.block_ok = out.block_ok;
  a.iterations_used = out.iterations;
  a.part = part_;
  a.transport_weights = transport_weights_.on(exec);
  a.block_weights = block_weights_.on(exec);
  exec.run(lte_assemble_kernels(), &a, batch * c);
  const lte_finish_args finish{at_.blocks, part_, out.ok, out.status};
  exec.run(lte_finish_kernels(), &finish, batch);
}

}  // namespace wb
