// A slot from its grid to its transport block: queued on an executor without a trip to the host. Through
// pipelines chains_test.cpp holds the chain against the direct calls.
#include <gtest/gtest.h>

#include <cmath>

#include <bench/meter.hpp>
#include <tests/nr.hpp>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/receive/pusch.hpp>
#include <warpband/receive/transport_loop.hpp>

namespace wb {
namespace pusch_test {

using namespace testing;
using cf = std::complex<float>;

const pusch_chain_config two_layers{
    .channel = {.carrier = {.resource_blocks = 12}, .layers = 2, .dmrs = {.additional_positions = 1}},
    .mcs = 20,
    .detector = {.rx_antennas = 2, .llr_clip = {}}};

pusch_chain_config in_a_loop() {
  pusch_chain_config c = two_layers;
  c.detector.type = "pic";
  c.receiver = receiver_config{.outer = 2};
  return c;
}
/// Slots with an antenna for each layer and H the identity.
struct slots_of_pusch {
  nr_shared_channel channel{two_layers.channel};
  nr_transport_config transport = channel.transport(two_layers.mcs_table, two_layers.mcs);
  std::unique_ptr<frame_receiver> chain;
  std::size_t slots;
  frame_run run;
  array<std::uint8_t> sent, bits, ok, status;
  array<cf> received;
  array<float> n0;

  slots_of_pusch(executor& exec, std::size_t count, std::size_t max_slots,
                 const pusch_chain_config& config = two_layers)
      : chain(make_pusch_chain(config)), slots(count), run(chain->attach(exec, max_slots)) {
    std::mt19937_64 random(5);
    const auto k = static_cast<std::size_t>(transport.transport_bits),
               n = static_cast<std::size_t>(transport.coded_bits);
    sent = given(exec, random_bits_of(slots * k, random), slots);
    auto coded = exec.make<std::uint8_t>(slots, n);
    nr_transport_encoder(transport).run(exec, sent, 0, coded);
    auto symbols = exec.make<cf>(slots, channel.symbols_of(0));
    qam_mapper(64).run(exec, view<const std::uint8_t>(make_view(coded.data(), symbols.size(), 6)),
                       make_view(symbols.data(), symbols.size()));
    received = exec.make<cf>(slots * channel.elements(), 2);
    channel.map(exec, {symbols}, received);
    const auto samples = make_view(received.data(), received.size());
    add_awgn(exec, samples, samples, 1e-3f, {.seed = 2});
    n0 = exec.make_from(std::vector<float>{1e-3f});
    bits = exec.make<std::uint8_t>(slots, k);
    ok = exec.make<std::uint8_t>(slots, 1);
    status = exec.make<std::uint8_t>(slots, 1);
    exec.sync();
  }
  void receive() {
    frame_arrays f;
    f.inputs[0] = received.data(), f.inputs[1] = n0.data();
    f.outputs[0] = bits.data(), f.outputs[1] = ok.data(), f.outputs[2] = status.data();
    f.items = f.frame_items = slots;
    for (std::size_t stage = 0; stage < chain->stages().size(); stage++) run(stage, f);
  }
  /// NaN in some of a slot's resource elements.
  void spoil(executor& exec, std::size_t slot, const std::vector<std::int32_t>& elements) {
    std::vector<cf> grid = exec.to_host(received);
    for (const std::int32_t e : elements)
      grid[2 * (slot * channel.elements() + static_cast<std::size_t>(e))] = {NAN, 0};
    exec.upload(received.data(), grid.data(), received.bytes());
    exec.sync();
  }
};

class pusch_slots : public on_backend {};
WB_ON_ALL_BACKENDS(pusch_slots);

TEST_P(pusch_slots, are_received_without_a_trip_to_the_host) {
  bench::meter exec(this->exec());
  slots_of_pusch slots(exec, 3, 3);
  slots.receive();  // the first call brings the tables
  exec.sync();
  exec.seen = {};
  slots.receive();
  EXPECT_EQ(exec.seen.in, 0);
  EXPECT_EQ(exec.seen.out, 0);
  EXPECT_EQ(exec.seen.waits, 0);
  EXPECT_GE(exec.seen.kernels.size(), 6u);
  EXPECT_EQ(exec.to_host(slots.bits), exec.to_host(slots.sent));
  EXPECT_EQ(exec.to_host(slots.ok), bits_t(3, 1));
  EXPECT_EQ(exec.to_host(slots.status), bits_t(3, 0));
}

/// Two antennas; in slot 1 a NaN costs an OFDM symbol, which the code makes up for.
TEST_P(pusch_slots, with_transform_precoding_are_received) {
  NR_SKIP_WITHOUT_FFT();
  const pusch_chain_config config{.channel = {.carrier = {.resource_blocks = 12},
                                              .dmrs = {.additional_positions = 1},
                                              .transform_precoding = true},
                                  .mcs = 11,
                                  .detector = {.rx_antennas = 2, .llr_clip = {}}};
  const nr_shared_channel channel(config.channel);
  const nr_transport_config transport = channel.transport(1, config.mcs);
  constexpr std::size_t slots = 3;
  std::mt19937_64 random(6);
  const auto k = static_cast<std::size_t>(transport.transport_bits);
  const bits_t sent = random_bits_of(slots * k, random);
  auto coded = exec().make<std::uint8_t>(slots, static_cast<std::size_t>(transport.coded_bits));
  nr_transport_encoder(transport).run(exec(), given(exec(), sent, slots), 0, coded);
  auto symbols = exec().make<cf>(slots, channel.symbols_of(0));
  const qam_mapper mapper(1 << transport.modulation_order);
  mapper.run(exec(),
             view<const std::uint8_t>(
                 make_view(coded.data(), symbols.size(), static_cast<std::size_t>(mapper.bits()))),
             make_view(symbols.data(), symbols.size()));
  auto grid = exec().make<cf>(slots * channel.elements(), 1);
  channel.map(exec(), {symbols}, grid);
  std::vector<cf> received;
  for (const cf z : exec().to_host(grid)) received.insert(received.end(), {0.5f * z, cf(0, 0.8f) * z});
  received[2 * (channel.elements() + static_cast<std::size_t>(channel.data_places()[7]))] = {NAN, 0};
  auto y = on_device(exec(), received, slots * channel.elements(), 2);
  add_awgn(exec(), make_view(y.data(), y.size()), make_view(y.data(), y.size()), 0.02f, {.seed = 3});
  const auto n0 = on_device(exec(), std::vector<float>{0.02f}, 1, 1);
  auto bits = exec().make<std::uint8_t>(slots, k), ok = exec().make<std::uint8_t>(slots, 1),
       status = exec().make<std::uint8_t>(slots, 1);
  const auto chain = make_pusch_chain(config);
  const frame_run run = chain->attach(exec(), slots);
  frame_arrays f;
  f.inputs[0] = y.data(), f.inputs[1] = n0.data();
  f.outputs[0] = bits.data(), f.outputs[1] = ok.data(), f.outputs[2] = status.data();
  f.items = f.frame_items = slots;
  for (std::size_t stage = 0; stage < chain->stages().size(); stage++) run(stage, f);
  EXPECT_EQ(exec().to_host(ok), bits_t(slots, 1));
  EXPECT_EQ(exec().to_host(bits), sent);
  pusch_chain_config refused = config;
  refused.channel.pi2_bpsk = true, refused.mcs = 1;
  EXPECT_EQ(blamed([&] { make_pusch_chain(refused); }), "pi2_bpsk");
}

/// On a device the loop only queues too; on a CPU it waits to know whether it is done.
TEST_P(pusch_slots, in_a_loop_are_received_without_a_trip_to_the_host) {
  bench::meter exec(this->exec());
  slots_of_pusch slots(exec, 3, 5, in_a_loop());  // in batches of 2 and 1
  EXPECT_EQ(slots.chain->stages(), (std::vector<std::string>{"estimate", "receive"}));
  slots.receive();
  exec.sync();
  exec.seen = {};
  slots.receive();
  EXPECT_EQ(exec.seen.in, 0);
  if (exec.is_device()) {
    EXPECT_EQ(exec.seen.out, 0);
    EXPECT_EQ(exec.seen.waits, 0);
  }
  EXPECT_EQ(exec.to_host(slots.bits), exec.to_host(slots.sent));
  EXPECT_EQ(exec.to_host(slots.ok), bits_t(3, 1));
  EXPECT_EQ(exec.to_host(slots.status), bits_t(3, 0));
}

TEST_P(pusch_slots, may_be_fewer_than_there_is_room_for) {
  for (const std::size_t count : {1, 2, 3, 4}) {
    slots_of_pusch slots(exec(), count, 5);
    slots.receive();
    EXPECT_EQ(exec().to_host(slots.bits), exec().to_host(slots.sent)) << count;
    EXPECT_EQ(exec().to_host(slots.ok), bits_t(count, 1)) << count;
  }
}

TEST_P(pusch_slots, that_are_erased_are_not_ok_and_leave_others_alone) {
  slots_of_pusch slots(exec(), 3, 3);
  std::vector<std::int32_t> entries(slots.channel.elements());
  for (std::size_t e = 0; e < entries.size(); e++) entries[e] = static_cast<std::int32_t>(e);
  slots.spoil(exec(), 1, entries);
  slots.spoil(exec(), 2, {slots.channel.data_places()[7]});  // LLRs of 0, which the code corrects
  slots.receive();
  EXPECT_EQ(exec().to_host(slots.ok), (bits_t{1, 0, 1}));
  const bits_t status = exec().to_host(slots.status);
  EXPECT_EQ(status[0], 0);
  EXPECT_EQ(status[1] & status_erased, status_erased);
  EXPECT_EQ(status[2], 0);
  const std::size_t k = slots.bits.elements();
  const bits_t sent = exec().to_host(slots.sent), bits = exec().to_host(slots.bits);
  for (const std::size_t slot : {0, 2})
    EXPECT_TRUE(std::equal(sent.begin() + static_cast<std::ptrdiff_t>(slot * k),
                           sent.begin() + static_cast<std::ptrdiff_t>((slot + 1) * k),
                           bits.begin() + static_cast<std::ptrdiff_t>(slot * k)));
}

TEST_P(pusch_slots, of_zeros_are_not_ok) {
  slots_of_pusch slots(exec(), 2, 2);
  const std::vector<cf> zeros(slots.received.size());
  exec().upload(slots.received.data(), zeros.data(), slots.received.bytes());
  slots.receive();
  EXPECT_EQ(exec().to_host(slots.ok), bits_t(2, 0));
}

TEST(pusch_chain, names_what_it_refuses) {
  const auto refused = [](auto change) {
    pusch_chain_config c = two_layers;
    change(c);
    return blamed([&] { (void)make_pusch_chain(c); });
  };
  EXPECT_EQ(refused([](auto&) {}), "");
  EXPECT_EQ(refused([](auto& c) { c.channel.first_block = 10, c.channel.blocks = 3; }), "blocks");
  EXPECT_EQ(refused([](auto& c) { c.channel.first_block = 12; }), "first_block");
  EXPECT_EQ(refused([](auto& c) { c.channel.layers = 5; }), "layers");
  EXPECT_EQ(refused([](auto& c) { c.channel.dmrs.ports = {0, 0}; }), "dmrs_ports");
  EXPECT_EQ(refused([](auto& c) { c.channel.direction = nr_direction::downlink; }), "channel");
  EXPECT_EQ(refused([](auto& c) { c.mcs = 29; }), "mcs");
  EXPECT_EQ(refused([](auto& c) { c.mcs_table = 0; }), "mcs_table");
  EXPECT_EQ(refused([](auto& c) { c.detector.rx_antennas = 1; }), "rx_antennas");
  EXPECT_EQ(refused([](auto& c) { c.estimator.noise_var = 0; }), "");  // of lmmse alone
  EXPECT_EQ(refused([](auto& c) {
              c.estimator.method = estimate_method::lmmse;
              c.estimator.profile.powers = {1, 1};
            }),
            "powers");
  EXPECT_EQ(refused([](auto& c) { c.estimator.method = estimate_method::lmmse; }), "");
  EXPECT_EQ(refused([](auto& c) { c.estimator.spacing_hz = 15e3; }), "spacing_hz");
  EXPECT_EQ(refused([](auto& c) { c.estimator.period_us = 71.4; }), "period_us");
  EXPECT_EQ(refused([](auto& c) { c.decoder.iterations = 0; }), "iterations");
  EXPECT_EQ(refused([](auto& c) { c.receiver = receiver_config{.outer = 17}; }), "outer");
  EXPECT_EQ(refused([](auto& c) { c.receiver = receiver_config{.outer = 2}; }), "outer");  // of mmse
}

TEST(pusch_chain, says_how_large_its_frames_are) {
  const nr_shared_channel channel(two_layers.channel);
  const auto chain = make_pusch_chain(two_layers);
  EXPECT_EQ(chain->inputs()[0].rows_of(3), 3 * channel.elements());
  EXPECT_EQ(chain->inputs()[0].bytes_of(3), 3 * channel.elements() * 2 * sizeof(cf));
  EXPECT_EQ(chain->inputs()[1].bytes_of(3), sizeof(float));
  EXPECT_EQ(chain->outputs()[0].rows_of(3), 3u);
  EXPECT_EQ(chain->outputs()[1].bytes_of(3), 3u);
  EXPECT_EQ(chain->bits_of(3), 3.0 * channel.transport(1, 20).transport_bits);
  EXPECT_EQ(blamed([&] { check_items(*chain, "items", 0); }), "items");
}

}  // namespace pusch_test
}  // namespace wb
