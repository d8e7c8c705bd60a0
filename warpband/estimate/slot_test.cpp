// A slot from its grid to its transport block: queued on an executor without a trip to the host.
#include <gtest/gtest.h>

#include <bench/meter.hpp>
#include <tests/nr.hpp>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/detect/detector.hpp>
#include <warpband/estimate/estimator.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {
namespace {

using namespace testing;
using cf = std::complex<float>;

/// Slots with an antenna for each layer and H the identity.
struct slots_of_pusch {
  nr_shared_channel channel{
      {.carrier = {.resource_blocks = 12}, .layers = 2, .dmrs = {.additional_positions = 1}}};
  nr_transport_config transport = channel.transport(1, 20);
  channel_estimator estimator{pilots_of(channel), {}, channel.data_places()};
  std::unique_ptr<detector> detect =
      make_detector({.streams = 2, .rx_antennas = 2, .qam = 64, .llr_clip = {}});
  nr_transport_decoder decoder{transport};
  std::size_t slots = 3, uses = slots * channel.data_elements();
  array<std::uint8_t> sent, bits, ok;
  array<cf> received, h, y;
  array<float> n0, trusted, llr;

  explicit slots_of_pusch(executor& exec) {
    std::mt19937_64 random(5);
    const auto k = static_cast<std::size_t>(transport.transport_bits),
               n = static_cast<std::size_t>(transport.coded_bits);
    sent = given(exec, random_bits_of(slots * k, random), slots);
    auto coded = exec.make<std::uint8_t>(n, slots);
    nr_transport_encoder(transport).run(exec, sent, 0, coded);
    auto symbols = exec.make<cf>(channel.symbols_of(0), slots);
    qam_mapper(64).run(exec, view<const std::uint8_t>(make_view(coded.data(), 6, symbols.size())),
                       make_view(symbols.data(), symbols.size()));
    received = exec.make<cf>(2, slots * channel.elements());
    channel.map(exec, {symbols}, received);
    const auto all = make_view(received.data(), received.size());
    add_awgn(exec, all, all, 1e-3f, {.seed = 2});
    h = exec.make<cf>(4, uses);
    y = exec.make<cf>(2, uses);
    n0 = exec.make_from(std::vector<float>{1e-3f});
    trusted = exec.make<float>(1, uses);
    llr = exec.make<float>(n, slots);
    bits = exec.make<std::uint8_t>(k, slots);
    ok = exec.make<std::uint8_t>(1, slots);
    exec.sync();
  }
  void receive(executor& exec) {
    estimator.run(exec, received, {n0.data(), 1, slots, 1, 0}, {.channel = h, .noise_var = trusted});
    channel.extract(exec, received, y);
    detect->run(exec, {y, h, 1, trusted, {}},
                {.llr = make_view(llr.data(), detect->bits_per_use(), uses), .bits = {}, .status = {}});
    decoder.reset();
    decoder.combine(exec, llr, 0);
    decoder.decode(exec, {.bits = bits, .ok = ok});
  }
};

class slot_on : public on_backend {};
WB_ON_ALL_BACKENDS(slot_on);

TEST_P(slot_on, is_received_without_a_trip_to_the_host) {
  bench::meter exec(this->exec());
  slots_of_pusch slots(exec);
  slots.receive(exec);  // the first call brings the tables
  exec.sync();
  exec.seen = {};
  slots.receive(exec);
  EXPECT_EQ(exec.seen.in, 0);
  EXPECT_EQ(exec.seen.out, 0);
  EXPECT_EQ(exec.seen.waits, 0);
  EXPECT_GE(exec.seen.kernels.size(), 6u);
  EXPECT_EQ(exec.to_host(slots.bits), exec.to_host(slots.sent));
  EXPECT_EQ(exec.to_host(slots.ok), std::vector<std::uint8_t>(slots.slots, 1));
}

}  // namespace
}  // namespace wb
