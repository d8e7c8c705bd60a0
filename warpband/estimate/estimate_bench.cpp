// Slots of PUSCH: channel estimation alone, and the whole receiver from the grid of a slot to its transport
// block: estimation, detection, decoding. Mb/s are bits of transport blocks.
//
// nr_slot is one slot from host to host: its "small" figure copies the grid from page-locked memory,
// receives, copies transport block and CRC back and waits, again and again (the median is p50, and p99 stands
// beside it); "host_fed" overlaps the copies of several slots, "resident" leaves them out.
#include <memory>
#include <stdexcept>

#include <bench/bench.hpp>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/detect/detector.hpp>
#include <warpband/estimate/estimator.hpp>
#include <warpband/link/source/source.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace {

using namespace wb;
using bench::figure;
using cf = std::complex<float>;

struct slot {
  int blocks, layers, mcs_table, mcs;
  nr_shared_channel channel() const {
    return nr_shared_channel(
        {.carrier = {.resource_blocks = blocks}, .layers = layers, .dmrs = {.additional_positions = 1}});
  }
};
constexpr float noise_var = 1e-3f;

/// Grids of slots as they are received, one antenna for each layer and H the identity.
array<cf> received_slots(executor& exec, const nr_shared_channel& channel,
                         const nr_transport_config& transport, std::size_t slots) {
  auto bits = exec.make<std::uint8_t>(static_cast<std::size_t>(transport.transport_bits), slots),
       coded = exec.make<std::uint8_t>(static_cast<std::size_t>(transport.coded_bits), slots);
  random_bits(exec, bits, transport.transport_bits, {.seed = 1});
  nr_transport_encoder(transport).run(exec, bits, 0, coded);
  const qam_mapper mapper(1 << transport.modulation_order);
  auto symbols = exec.make<cf>(channel.symbols_of(0), slots),
       grid = exec.make<cf>(channel.ports(), slots * channel.elements());
  mapper.run(exec,
             view<const std::uint8_t>(
                 make_view(coded.data(), static_cast<std::size_t>(mapper.bits()), symbols.size())),
             make_view(symbols.data(), symbols.size()));
  channel.map(exec, {symbols}, grid);
  const auto all = make_view(grid.data(), grid.size());
  add_awgn(exec, all, all, noise_var, {.seed = 2});
  exec.sync();
  return grid;
}

/// What a receiver keeps of slots on its executor.
struct receiver {
  nr_shared_channel channel;
  nr_transport_config transport;
  channel_estimator estimator;
  std::unique_ptr<detector> detect;
  nr_transport_decoder decoder;
  array<cf> received, h, y;
  array<float> n0, trusted, llr;
  array<std::uint8_t> bits, ok;

  receiver(executor& exec, const slot& s, const estimator_config& config, const ldpc_decoder_config& ldpc,
           std::size_t slots)
      : channel(s.channel()),
        transport(with(channel.transport(s.mcs_table, s.mcs), ldpc)),
        estimator(pilots_of(channel), config, channel.data_places()),
        detect(make_detector({.streams = s.layers,
                              .rx_antennas = s.layers,
                              .qam = 1 << transport.modulation_order,
                              .llr_clip = {}})),
        decoder(transport),
        received(received_slots(exec, channel, transport, slots)) {
    const std::size_t uses = slots * channel.data_elements(), n = channel.layers();
    h = exec.make<cf>(n * n, uses);
    y = exec.make<cf>(n, uses);
    n0 = exec.make_from(std::vector<float>{noise_var});
    trusted = exec.make<float>(1, uses);
    llr = exec.make<float>(static_cast<std::size_t>(transport.coded_bits), slots);
    bits = exec.make<std::uint8_t>(static_cast<std::size_t>(transport.transport_bits), slots);
    ok = exec.make<std::uint8_t>(1, slots);
    exec.sync();
  }
  static nr_transport_config with(nr_transport_config t, const ldpc_decoder_config& ldpc) {
    t.ldpc = ldpc;
    return t;
  }
  void estimate(executor& exec) {
    estimator.run(exec, received, {n0.data(), 1, llr.items(), 1, 0}, {.channel = h, .noise_var = trusted});
  }
  /// Host memory of what comes from there and goes back.
  array<cf> received_host;
  array<std::uint8_t> bits_host, ok_host;
  void take_to_host(executor& exec) {
    received_host = exec.make_host<cf>(received.elements(), received.items());
    bits_host = exec.make_host<std::uint8_t>(bits.elements(), bits.items());
    ok_host = exec.make_host<std::uint8_t>(1, ok.items());
    exec.download(received_host.data(), received.data(), received.bytes());
    exec.sync();
  }
  void receive_from_host(executor& exec) {
    exec.upload(received.data(), received_host.data(), received.bytes());
    receive(exec);
    exec.download(bits_host.data(), bits.data(), bits.bytes());
    exec.download(ok_host.data(), ok.data(), ok.bytes());
  }
  void receive(executor& exec) {
    estimate(exec);
    channel.extract(exec, received, y);
    detect->run(exec, {y, h, 1, trusted, {}},
                {.llr = make_view(llr.data(), detect->bits_per_use(), y.items()), .bits = {}, .status = {}});
    decoder.reset();
    decoder.combine(exec, llr, 0);
    decoder.decode(exec, {.bits = bits, .ok = ok});
  }
};

bench::maker made(const slot& s, const estimator_config& config, const ldpc_decoder_config& ldpc, bool whole,
                  std::size_t slots) {
  return [=](executor& exec, figure) {
    auto r = std::make_shared<receiver>(exec, s, config, ldpc, slots);
    return bench::job(static_cast<double>(slots), static_cast<double>(slots) * r->transport.transport_bits,
                      [&exec, r, whole]() { whole ? r->receive(exec) : r->estimate(exec); });
  };
}

/// Throws unless the slots' CRCs hold, before anything is timed.
bench::maker made_slot(const slot& s, const estimator_config& config, const ldpc_decoder_config& ldpc,
                       std::size_t slots) {
  return [=](executor& exec, figure what) {
    auto r = std::make_shared<receiver>(exec, s, config, ldpc, slots);
    r->take_to_host(exec);
    r->receive_from_host(exec);
    exec.sync();
    for (std::size_t i = 0; i < slots; i++)
      if (r->ok_host.data()[i] == 0) throw std::runtime_error("a slot's CRC does not hold");
    const bool resident = what == figure::resident || what == figure::kernel;
    return bench::job(static_cast<double>(slots), static_cast<double>(slots) * r->transport.transport_bits,
                      [&exec, r, resident] { resident ? r->receive(exec) : r->receive_from_host(exec); });
  };
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
