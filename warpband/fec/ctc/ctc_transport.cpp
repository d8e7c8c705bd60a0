#include <warpband/fec/ctc/ctc_transport.hpp>

#include <algorithm>
#include <numeric>
#include <string>

#include <warpband/fec/lte/transport_kernels.hpp>
#include <warpband/fec/transport/outputs_apart.hpp>

namespace wb {

namespace {

constexpr crc_polynomial crc = crc16;

ctc_config code_of(const ctc_transport_config& c) {
  return {.standard = ctc_standard::wimax, .k = c.transport_bits + crc.degree, .rate = ctc_rate::r1_3};
}
ctc_transport_config checked(const ctc_transport_config& c) {
  check_settings(ctc_transport_config_settings(), c);
  const std::vector<int> sizes = ctc_transport_sizes();
  if (std::find(sizes.begin(), sizes.end(), c.transport_bits) == sizes.end()) {
    std::string list;
    for (const int bits : sizes) list += (list.empty() ? "" : ", ") + std::to_string(bits);
    throw argument_error("transport_bits", std::to_string(c.transport_bits), "one of " + list);
  }
  check_coded_bits(c, 1);
  return c;
}
/// The places of a codeword in their order, and where each subpacket begins.
lte_circular_buffer buffer_of(const ctc_transport_config& c) {
  lte_circular_buffer b;
  b.size = 3 * code_of(c).k;
  b.places.resize(static_cast<std::size_t>(b.size));
  std::iota(b.places.begin(), b.places.end(), 0);
  for (std::size_t spid = 0; spid < b.start.size(); spid++)
    b.start[spid] = static_cast<int>(static_cast<std::int64_t>(spid) * c.coded_bits % b.size);
  return b;
}

}  // namespace

std::vector<int> ctc_transport_sizes() {
  std::vector<int> sizes = ctc_couples(ctc_standard::wimax);
  for (int& n : sizes) n = 2 * n - crc.degree;
  return sizes;
}

const std::vector<setting_of<ctc_transport_config>>& ctc_transport_config_settings() {
  using c = ctc_transport_config;
  static const std::vector<setting_of<c>> settings = [] {
    auto list = transport_settings_of<c>(ctc_transport_sizes().back(), "That a block is mapped to.");
    list.front().text = "A, bits of a block without CRC: k - 16 of a size k of the code.";
    return list;
  }();
  return settings;
}

ctc_transport_plan::ctc_transport_plan(const ctc_transport_config& config)
    : config_(checked(config)),
      code_(code_of(config)),
      // Tables count three streams of k + 4 places; here a stream has k.
      ring_(buffer_of(config), code_.k - 4, 0) {
  segments_.k[1] = code_.k;
  segments_.crc_bits = crc.degree;
  segments_.transport_bits = config.transport_bits;
  share_out(config, crc);
  harq_length_ = ring_.length();
}

void check(const ctc_transport_config& config) {
  const ctc_transport_plan plan(config);
  (void)completed(plan.code(), config.ctc);
}

ctc_transport_encoder::ctc_transport_encoder(const ctc_transport_config& config)
    : ctc_transport_plan(config), encoder_(code_) {}

void ctc_transport_encoder::run(executor& exec, view<const std::uint8_t> bits, int spid,
                                view<std::uint8_t> coded) {
  check_range("spid", spid, 0, 3);
  check_sent(config_, bits, spid, coded);
  if (owner_.changes(exec, bits.items)) {
    blocks_ = exec.make<std::uint8_t>(bits.items, k());
    codewords_ = exec.make<std::uint8_t>(bits.items, 3 * k());
    owner_.made(exec, bits.items);
  }
  lte_segment_args cut;
  cut.blocks[1] = blocks_;
  segment(exec, bits, {}, lte_crc_kernels(), lte_segment_kernels(), cut);
  encoder_.run(exec, blocks_, codewords_);
  lte_match_args match;
  match.segments = segments_;
  match.sent = sent_;
  match.ring[0] = ring_.to_send(exec, spid);
  match.coded[1] = codewords_;
  match.out = coded;
  exec.run(lte_match_kernels(), &match, bits.items);
}

ctc_transport_decoder::ctc_transport_decoder(const ctc_transport_config& config)
    : transport_receiver(config), decoder_(code_, config.ctc) {
  received_.least = decoder_.least_llr();
}

void ctc_transport_decoder::make_buffers(executor& exec, std::size_t batch) {
  soft_ = exec.make<float>(batch, 3 * k());
  decided_ = exec.make<std::uint8_t>(batch, k());
  decided_status_ = exec.make<std::uint8_t>(batch, 1);
  iterations_ = exec.make<std::int32_t>(batch, 1);
  received_.owner.made(exec, batch);
}

void ctc_transport_decoder::pass(executor& exec, const harq_memory& m, bool reads) {
  lte_harq_args a;
  a.ring[0] = ring_.to_send(exec, 0);
  a.soft[1] = soft_;
  pass_harq(received_, exec, m, reads, lte_harq_kernels(), a);
}

void ctc_transport_decoder::combine(executor& exec, const llr_batch& llr, int spid) {
  check_range("spid", spid, 0, 3);
  if (begins(received_, exec, config_, llr, spid)) make_buffers(exec, llr.items);
  lte_combine_args a;
  a.ring[0] = ring_.to_combine(exec, spid);
  a.soft[1] = soft_;
  lte_blocks streams = segments_;
  streams.k[1] = code_.k - 4;  // the kernel adds three streams of k + 4
  combine_into(received_, exec, config_, floats_.of(exec, llr), spid, lte_combine_kernels(), a, streams);
}

void ctc_transport_decoder::decode(executor& exec, const ctc_transport_output& out) {
  require(received_, exec);
  check_outputs(out, received_.owner.batch());
  check_outputs_apart(out);
  decoder_.run(exec, view<const float>(view<float>(soft_)),
               {.bits = decided_, .iterations = iterations_, .status = decided_status_});
  lte_assemble_args a;
  a.ring[0] = ring_.to_send(exec, 0);
  for (int spid = 0; spid < 4; spid++) a.start[0][spid] = ring_.start(spid);
  a.decided[1] = decided_;
  a.decided_status[1] = decided_status_;
  a.iterations[1] = iterations_;
  a.soft[1] = view<float>(soft_);
  assemble(received_, exec, out, lte_assemble_kernels(), transport_finish_kernels(), a);
}

}  // namespace wb
