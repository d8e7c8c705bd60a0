// The whole iterative receiver: 4x4, 802.16e 2304 r1/2, three outer iterations of five inner ones, at a
// working point. Mb/s are information bits.
#include <bench/bench.hpp>
#include <cmath>
#include <complex>
#include <memory>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/mimo/mimo.hpp>
#include <warpband/link/receive/iterative.hpp>
#include <warpband/link/source/source.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace {

using namespace wb;
using bench::figure;

code_config benched_code() {
  code_config c;
  c.type = code_type::wimax_ldpc;
  return c;
}

/// What a batch of frames leaves on an executor.
struct received_batch {
  array<std::complex<float>> y, h;
  array<float> n0;
};
received_batch received(executor& exec, const detector_config& d, const iterative_receiver& receiver,
                        std::size_t frames, double snr_db) {
  const auto code = make_codec(benched_code());
  const std::size_t uses = frames * receiver.uses_per_frame(), streams = static_cast<std::size_t>(d.streams),
                    rx = static_cast<std::size_t>(d.rx_antennas),
                    m = static_cast<std::size_t>(bits_per_symbol(d.qam));
  auto bits = exec.make<std::uint8_t>(code->k(), frames), coded = exec.make<std::uint8_t>(code->n(), frames);
  random_bits(exec, bits, static_cast<int>(code->k()), {.seed = 1});
  code->encode(exec, view<const std::uint8_t>(bits), coded);
  received_batch b{
      exec.make<std::complex<float>>(rx, uses), exec.make<std::complex<float>>(rx * streams, uses), {}};
  auto symbols = exec.make<std::complex<float>>(streams, uses);
  qam_mapper(d.qam).run(exec, make_view(std::as_const(coded).data(), m, uses * streams),
                        make_view(symbols.data(), uses * streams));
  apply_mimo_rayleigh(exec, view<const std::complex<float>>(symbols), b.y, b.h, 1, {.seed = 1});
  const std::vector<float> n0{static_cast<float>(d.streams * std::pow(10, -snr_db / 10))};
  const auto entries = make_view(b.y.data(), uses * rx);
  add_awgn(exec, entries, entries, n0[0], {.seed = 1});
  b.n0 = exec.make_from(n0);
  exec.sync();
  return b;
}

bench::maker loop(const detector_config& d, const receiver_config& config, double snr_db,
                  std::size_t frames) {
  return [=](executor& exec, figure) {
    auto receiver = std::make_unique<iterative_receiver>(d, benched_code(), config);
    auto in = received(exec, d, *receiver, frames, snr_db);
    auto bits = exec.make<std::uint8_t>(receiver->k(), frames);
    const std::size_t uses = frames * receiver->uses_per_frame();
    const double information = static_cast<double>(frames * receiver->k());
    return bench::job(
        static_cast<double>(frames), information,
        [=, &exec, receiver = std::move(receiver), in = std::move(in), bits = std::move(bits)]() mutable {
          receiver_output out;
          out.bits = bits;
          receiver->run(exec, {in.y, in.h, 1, {in.n0.data(), 1, uses, 1, 0}, {}}, out);
        });
  };
}

const bench::group receive_benches{[] {
  struct case_of {
    detector_type type;
    int qam, outer;
    double snr_db;  // a frame in a hundred to one in twenty is wrong after three outer iterations
  };
  for (const std::string& device : bench::devices())
    for (const case_of& c :
         {case_of{detector_type::nway, 16, 1, 13.}, case_of{detector_type::nway, 16, 3, 13.},
          case_of{detector_type::nway, 64, 3, 19.}, case_of{detector_type::pic, 16, 3, 12.},
          case_of{detector_type::pic, 64, 3, 18.}}) {
      detector_config d;
      d.type = c.type;
      d.streams = d.rx_antennas = 4;
      d.qam = c.qam;
      if (c.type == detector_type::nway) d.ways = 1;
      receiver_config config;
      config.outer = c.outer;
      config.inner = 5;
      bench::add("receive", device,
                 {{"detector", name_of(c.type)},
                  {"antennas", "4x4"},
                  {"qam", c.qam},
                  {"n", 2304},
                  {"rate", "1_2"},
                  {"outer", c.outer},
                  {"inner", 5}},
                 {figure::resident}, loop(d, config, c.snr_db, bench::batch_for(device, 32, 4096)));
    }
}};

}  // namespace
