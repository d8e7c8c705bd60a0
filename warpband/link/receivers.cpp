// The receivers of links.
#include <warpband/code/nr_transport.hpp>
#include <warpband/link/regroup/regroup.hpp>
#include <warpband/link/stages.hpp>
#include <warpband/link/transmitter.hpp>
#include <warpband/massive/cluster/cluster.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/receive/codewords.hpp>
#include <warpband/receive/open_loop.hpp>
#include <warpband/receive/transport_loop.hpp>

namespace wb {
namespace {

/// The massive-MIMO uplink, whole or in clusters, with LLRs codeword after codeword.
class codeword_uplink final : public soft_detector {
 public:
  codeword_uplink(const massive_link_config& c, int qam)
      : config_(c), m_(bits_per_symbol(qam)), detector_(uplink_of(c, qam)) {
    if (c.clusters > 1 || c.clustering != cluster_method::exact)
      clustered_.emplace(clustered_uplink_of(c, qam));
  }
  std::size_t bits_per_use() const noexcept override { return static_cast<std::size_t>(config_.users * m_); }
  bool takes_prior() const noexcept override { return false; }
  void run(executor& exec, const detector_input& in, const detector_output& out) const override {
    const std::size_t vectors = in.received.items, n = bits_per_use(),
                      of_frame = static_cast<std::size_t>(config_.subcarriers * config_.symbols);
    view<const float> n0 = in.noise_var;  // one of each channel matrix
    n0.items = in.channel.items;
    n0.item_stride *= in.uses_per_channel;
    const auto llr =
        make_view(reinterpret_cast<float*>(llr_.on(exec, vectors * n * sizeof(float))), n, vectors);
    const uplink_input frames{in.channel, in.received, n0, static_cast<int>(in.uses_per_channel)};
    const uplink_output found{.llr = llr, .llr_int8 = {}, .equalized = {}, .sinr = {}, .status = out.status};
    if (clustered_)
      clustered_->run(exec, frames, found);
    else
      detector_.run(exec, frames, found);
    const std::size_t cells = of_frame * n, count = vectors / of_frame;
    regroup(exec, view<const float>(make_view(llr.data, cells, count)), make_view(out.llr.data, cells, count),
            config_.subcarriers, static_cast<int>(config_.codewords()), m_);
  }

 private:
  massive_link_config config_;
  int m_;
  uplink_detector detector_;
  std::optional<clustered_uplink_detector> clustered_;  // in its place
  kept_workspace llr_;
};

std::unique_ptr<soft_detector> open_detector_of(const link_config& c) {
  if (const auto* d = std::get_if<detector_config>(&c.antennas)) return make_open_detector(*d);
  if (const auto* code = std::get_if<stbc_config>(&c.antennas)) return make_open_detector(*code);
  if (const auto* nr = std::get_if<nr_link_config>(&c.antennas)) return make_open_detector(nr->detector);
  const auto* massive = std::get_if<massive_link_config>(&c.antennas);
  if (massive != nullptr && massive->direction == massive_direction::uplink)
    return std::make_unique<codeword_uplink>(*massive, c.qam);
  return make_open_detector(demapper_config{
      c.qam, massive != nullptr ? massive->demapper : std::get<single_antenna>(c.antennas).demapper});
}

std::unique_ptr<soft_detector> loop_detector_of(const link_config& c) {
  if (const auto* code = std::get_if<stbc_config>(&c.antennas)) return make_soft_detector(*code);
  if (const auto* massive = std::get_if<massive_link_config>(&c.antennas))
    return make_soft_detector(uplink_of(*massive, c.qam));
  return make_soft_detector(std::get<detector_config>(c.antennas));
}

/// Uses of the channel that a receiver takes at once.
std::size_t uses_at_once(const link_config& c) noexcept {
  return std::holds_alternative<stbc_config>(c.antennas) ? 2 : 1;
}

/// Of massive MIMO the interleaver also brings the codewords of all users into the order of vectors.
std::unique_ptr<receiver> loop_of(const link_config& c) {
  const frame_sizes size(c);
  const std::size_t at_once = uses_at_once(c), uses = size.uses / at_once;
  const auto made = [&](std::shared_ptr<const soft_decoder> decoder, const receiver_config& loop,
                        std::size_t uses_per_channel) {
    iterative_receiver receiver(loop_detector_of(c), std::move(decoder), loop, uses);
    const auto rx = static_cast<std::size_t>(rx_antennas_of(c)), tx = static_cast<std::size_t>(streams_of(c));
    const std::size_t bytes = receiver.working_bytes(rx * at_once, rx * tx, uses_per_channel);
    return make_loop(std::move(receiver), true, bytes);
  };
  std::unique_ptr<soft_decoder> one = make_soft_decoder(c.code, c.receiver->inner);
  receiver_config loop = *c.receiver;
  loop.inner = 0;  // the decoder has it
  const auto* massive = std::get_if<massive_link_config>(&c.antennas);
  if (massive == nullptr) return made(std::move(one), loop, 1);
  const auto of = [](int n) { return static_cast<std::size_t>(n); };
  const user_codewords frame{of(massive->users), of(massive->symbols), of(massive->subcarriers),
                             of(bits_per_symbol(c.qam))};
  loop.interleaver = receiver_interleaver::none;
  loop.permutation = order_of(frame, interleaver_of(*c.receiver, size.sent));
  return made(make_codewords_decoder(std::move(one), frame.codewords(), frame.places()), loop, frame.symbols);
}

}  // namespace

std::unique_ptr<receiver> make_receiver(const link_config& c) {
  if (c.receiver && is_transport(c.code))
    return std::make_unique<transport_loop>(std::get<nr_link_config>(c.antennas).detector,
                                            nr_transport_of(c.code.get<nr_transport_settings>()), *c.receiver,
                                            versions_of(harq_of(c.code)), true);
  if (c.receiver) return loop_of(c);
  const frame_sizes size(c);
  std::shared_ptr<const soft_detector> detector = open_detector_of(c);
  const std::size_t uses = size.codewords * size.padded / detector->bits_per_use();
  if (is_transport(c.code))
    return make_open_loop(
        std::move(detector), [code = c.code] { return code.kind().make_transport(code.settings); },
        versions_of(harq_of(c.code)), size.sent, uses);
  std::shared_ptr<const soft_decoder> decoder;
  if (!is_uncoded(c.code)) decoder = make_hard_decoder(make_codec(c.code));
  return make_open_loop(std::move(detector), std::move(decoder), uses, size.padded);
}

}  // namespace wb
