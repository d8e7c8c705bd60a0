// Slots of PUSCH: channel estimation alone, and the whole receiver from the grid of a slot to its transport
// block, the chain of receive/pusch.hpp: estimation, detection, decoding. Mb/s are bits of transport blocks.
//
// nr_slot is one slot from host to host: its "small" figure copies the grid from page-locked memory,
// receives, copies transport block and CRC back and waits, again and again. The median is p50, and p99 stands
// beside it. "host_fed" overlaps the copies of several slots, "resident" leaves them out. nr_slot_full is the
// same with a decoder that does all its iterations, as peers' decoders do (bench/peers/sionna_pusch.py).
#include <memory>
#include <stdexcept>

#include <bench/bench.hpp>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/link/source/source.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/receive/pusch.hpp>

namespace {

using namespace wb;
using bench::figure;
using cf = std::complex<float>;

struct slot {
  int blocks, layers, mcs_table, mcs;
  pusch_chain_config chain(const estimator_config& config, const ldpc_decoder_config& ldpc) const {
    return {.channel = {.carrier = {.resource_blocks = blocks},
                        .layers = layers,
                        .dmrs = {.additional_positions = 1}},
            .mcs_table = mcs_table,
            .mcs = mcs,
            .estimator = config,
            .detector = {.rx_antennas = layers, .llr_clip = {}},
            .decoder = ldpc};
  }
};
constexpr float noise_var = 1e-3f;

/// Grids of slots as they are received, one antenna for each layer and H the identity.
array<cf> received_slots(executor& exec, const nr_shared_channel& channel,
                         const nr_transport_config& transport, std::size_t slots) {
  auto bits = exec.make<std::uint8_t>(slots, static_cast<std::size_t>(transport.transport_bits)),
       coded = exec.make<std::uint8_t>(slots, static_cast<std::size_t>(transport.coded_bits));
  random_bits(exec, bits, transport.transport_bits, {.seed = 1});
  nr_transport_encoder(transport).run(exec, bits, 0, coded);
  const qam_mapper mapper(1 << transport.modulation_order);
  auto symbols = exec.make<cf>(slots, channel.symbols_of(0)),
       grid = exec.make<cf>(slots * channel.elements(), channel.ports());
  mapper.run(exec,
             view<const std::uint8_t>(
                 make_view(coded.data(), symbols.size(), static_cast<std::size_t>(mapper.bits()))),
             make_view(symbols.data(), symbols.size()));
  channel.map(exec, {symbols}, grid);
  const auto received = make_view(grid.data(), grid.size());
  add_awgn(exec, received, received, noise_var, {.seed = 2});
  exec.sync();
  return grid;
}

/// Slots on an executor, as they are received and what becomes of them.
struct receiver {
  std::unique_ptr<frame_receiver> chain;
  frame_run run;
  nr_transport_config transport;
  array<cf> received;
  array<float> n0;
  array<std::uint8_t> bits, ok, status;

  receiver(executor& exec, const pusch_chain_config& c, std::size_t slots)
      : chain(make_pusch_chain(c)), run(chain->attach(exec, slots)) {
    const nr_shared_channel channel(c.channel);
    transport = channel.transport(c.mcs_table, c.mcs);
    received = received_slots(exec, channel, transport, slots);
    n0 = exec.make_from(std::vector<float>{noise_var});
    bits = exec.make<std::uint8_t>(slots, static_cast<std::size_t>(transport.transport_bits));
    ok = exec.make<std::uint8_t>(slots, 1);
    status = exec.make<std::uint8_t>(slots, 1);
    exec.sync();
  }
  void stages(std::size_t count) {
    frame_arrays f;
    f.inputs[0] = received.data(), f.inputs[1] = n0.data();
    f.outputs[0] = bits.data(), f.outputs[1] = ok.data(), f.outputs[2] = status.data();
    f.items = f.frame_items = ok.items();
    for (std::size_t stage = 0; stage < count; stage++) run(stage, f);
  }
  void estimate() { stages(1); }
  void receive() { stages(chain->stages().size()); }
  /// Host memory of what comes from there and goes back.
  array<cf> received_host;
  array<std::uint8_t> bits_host, ok_host;
  void take_to_host(executor& exec) {
    received_host = exec.make_host<cf>(received.items(), received.elements());
    bits_host = exec.make_host<std::uint8_t>(bits.items(), bits.elements());
    ok_host = exec.make_host<std::uint8_t>(ok.items(), 1);
    exec.download(received_host.data(), received.data(), received.bytes());
    exec.sync();
  }
  void receive_from_host(executor& exec) {
    exec.upload(received.data(), received_host.data(), received.bytes());
    receive();
    exec.download(bits_host.data(), bits.data(), bits.bytes());
    exec.download(ok_host.data(), ok.data(), ok.bytes());
  }
};

bench::maker made(const slot& s, const estimator_config& config, const ldpc_decoder_config& ldpc, bool whole,
                  std::size_t slots) {
  return [=](executor& exec, figure) {
    auto r = std::make_shared<receiver>(exec, s.chain(config, ldpc), slots);
    return bench::job(static_cast<double>(slots), static_cast<double>(slots) * r->transport.transport_bits,
                      [r, whole]() { whole ? r->receive() : r->estimate(); });
  };
}

/// Throws unless the slots' CRCs hold, before anything is timed.
bench::maker made_slot(const slot& s, const estimator_config& config, const ldpc_decoder_config& ldpc,
                       std::size_t slots) {
  return [=](executor& exec, figure kind) {
    auto r = std::make_shared<receiver>(exec, s.chain(config, ldpc), slots);
    r->take_to_host(exec);
    r->receive_from_host(exec);
    exec.sync();
    for (std::size_t i = 0; i < slots; i++)
      if (r->ok_host.data()[i] == 0) throw std::runtime_error("a slot's CRC does not hold");
    const bool resident = kind == figure::resident || kind == figure::kernel;
    return bench::job(static_cast<double>(slots), static_cast<double>(slots) * r->transport.transport_bits,
                      [&exec, r, resident] { resident ? r->receive() : r->receive_from_host(exec); });
  };
}

void add_full_slots(const std::string& device, ldpc_decoder_config ldpc) {
  const slot s{273, 4, 1, 20};
  ldpc.early_stop = ldpc_early_stop::none;
  for (const std::size_t slots : {std::size_t{1}, bench::batch_for(device, 1, 32)}) {
    bench::add("nr_slot_full", device,
               {{"resource_blocks", s.blocks},
                {"layers", s.layers},
                {"qam", 64},
                {"iterations", ldpc.iterations},
                {"slots", static_cast<int>(slots)}},
               {figure::resident}, made_slot(s, {}, ldpc, slots));
    if (device == "cpu") break;  // the same with any number of slots
  }
}

void add_slots(const std::string& device, const ldpc_decoder_config& ldpc) {
  const slot s{273, 4, 1, 20};
  for (const auto method : {estimate_method::ls, estimate_method::lmmse}) {
    const estimator_config config{
        .method = method, .noise_var = noise_var, .profile = {{0, 100, 300}, {1, 1, 1}}};
    for (const std::size_t slots : {std::size_t{1}, bench::batch_for(device, 1, 32)}) {
      std::vector<figure> figures{figure::resident, figure::host_fed};
      if (slots == 1) figures.push_back(figure::small);
      bench::add("nr_slot", device,
                 {{"resource_blocks", s.blocks},
                  {"layers", s.layers},
                  {"qam", 64},
                  {"method", method == estimate_method::ls ? "ls" : "lmmse"},
                  {"slots", static_cast<int>(slots)}},
                 figures, made_slot(s, config, ldpc, slots));
      if (device == "cpu") break;  // the same with any number of slots
    }
  }
}

const bench::group pusch_benches{[] {
  const std::vector<figure> figures{figure::kernel, figure::resident};
  for (const std::string& device : bench::devices()) {
    const ldpc_decoder_config ldpc{
        .iterations = 8, .precision = device == "cpu" ? ldpc_precision::int8 : ldpc_precision::float16};
    add_slots(device, ldpc);
    add_full_slots(device, ldpc);
    for (const slot& s : {slot{273, 4, 1, 20}, {51, 2, 1, 16}})
      for (const std::size_t slots : {std::size_t{1}, bench::batch_for(device, 2, 64)})
        for (const auto method : {estimate_method::ls, estimate_method::lmmse}) {
          const estimator_config config{
              .method = method, .noise_var = noise_var, .profile = {{0, 100, 300}, {1, 1, 1}}};
          const std::vector<bench::axis> axes{{"resource_blocks", s.blocks},
                                              {"layers", s.layers},
                                              {"method", method == estimate_method::ls ? "ls" : "lmmse"},
                                              {"slots", static_cast<int>(slots)}};
          bench::add("pusch_estimate", device, axes, figures, made(s, config, ldpc, false, slots));
          bench::add("pusch_receive", device, axes, figures, made(s, config, ldpc, true, slots));
        }
  }
}};

}  // namespace
