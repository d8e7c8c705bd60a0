// The receivers of links.
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/transmitter.hpp>
#include <warpband/receive/open_loop.hpp>

namespace wb {

std::unique_ptr<receiver> make_bit_loop(const link_config& c, std::unique_ptr<soft_detector> detector) {
  return make_bit_loop(c, std::move(detector), make_soft_decoder(c.code, c.receiver->inner), *c.receiver, 1);
}

std::unique_ptr<receiver> make_bit_loop(const link_config& c, std::unique_ptr<soft_detector> detector,
                                        std::shared_ptr<const soft_decoder> decoder, receiver_config loop,
                                        std::size_t uses_per_channel) {
  const antenna_kind& kind = c.antennas.kind();
  const auto together = static_cast<std::size_t>(kind.uses_at_once(c)),
             channels = static_cast<std::size_t>(kind.channels_at_once(c)),
             rx = static_cast<std::size_t>(rx_antennas_of(c)), tx = static_cast<std::size_t>(streams_of(c));
  loop.inner.reset();  // the decoder has it
  iterative_receiver receiver(std::move(detector), std::move(decoder), loop, uses_per_frame(c) / together);
  const std::size_t bytes = receiver.working_bytes(rx * together, rx * tx * channels, uses_per_channel);
  return make_loop(std::move(receiver), true, bytes);
}

std::unique_ptr<receiver> make_receiver(const link_config& c) {
  const antenna_kind& kind = c.antennas.kind();
  if (c.receiver) return kind.make_loop(c);
  if (kind.make_receiver != nullptr) return kind.make_receiver(c);
  const frame_sizes size(c);
  std::shared_ptr<const soft_detector> detector = kind.make_detector(c);
  const std::size_t uses = size.codewords * size.padded / (detector ? detector->bits_per_use() : 1);
  if (is_transport(c.code))
    return make_open_loop(
        std::move(detector), [code = c.code] { return code.kind().make_transport(code.settings); },
        versions_of(harq_of(c.code)), size.sent, uses);
  std::shared_ptr<const soft_decoder> decoder;
  if (!is_uncoded(c.code)) {
    std::vector<std::int32_t> order = bit_order_of(c);
    decoder = order.empty() ? make_hard_decoder(make_codec(c.code))
                            : make_hard_decoder(make_codec(c.code), bit_interleaver(std::move(order)));
  }
  return make_open_loop(std::move(detector), std::move(decoder), uses, size.padded);
}

}  // namespace wb
