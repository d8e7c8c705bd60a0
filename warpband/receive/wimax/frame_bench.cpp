// Table IV of Bollapalli et al.: whole WiMAX frames, from the received grid to the bits of their bursts. Of
// one modulation, Silver with hard decisions of all data tones. Also frames of 20 MHz and 5 ms, two thirds of
// them downlink, with bursts of all modulations, uncoded and with codes. Last their downlink with preamble,
// FCH and DL-MAP.
#include <algorithm>
#include <bench/bench.hpp>
#include <string>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/mimo/mimo.hpp>
#include <warpband/core/as_size.hpp>
#include <warpband/link/source/source.hpp>
#include <warpband/receive/wimax/chain.hpp>

namespace {

using namespace wb;
using bench::figure;
using complex = std::complex<float>;

/// The arrays of a direction of a frame, [symbols, tones, antennas], and its receiver.
struct direction {
  direction(executor& exec, const wimax_link_config& c) : receiver(c, exec) {
    wimax_transmitter transmitter(c, exec);
    std::vector<array<std::uint8_t>> bits;
    std::vector<view<const std::uint8_t>> views;
    for (const wimax_burst_sizes& s : transmitter.bursts()) {
      bits.push_back(exec.make<std::uint8_t>(s.blocks, s.k));
      random_bits(exec, bits.back(), static_cast<int>(s.k), {.seed = 1 + bits.size()});
      views.push_back(bits.back());
      decided += static_cast<double>(s.k * s.blocks);
      codewords += static_cast<double>(s.codewords);
    }
    const std::size_t symbols = as_size(c.frame.symbols()), tones = as_size(c.frame.profile.data_subcarriers),
                      rx = as_size(c.space_time.rx_antennas);
    // Time first, so that all symbols of a tone see one H.
    auto sent = exec.make_zeros<complex>(tones * symbols, 2),
         received = exec.make<complex>(tones * symbols, rx);
    frame_grid<complex> laid{sent.data(), 1, symbols, tones, 2, sent.size(), 2, 2 * symbols, 1};
    transmitter.run(views, laid);
    // With a preamble all tones share it too, so that neighbouring pilots say the same.
    const std::size_t shared = c.preamble ? tones * symbols : symbols;
    h = exec.make<complex>(tones * symbols / shared, 2 * rx);
    apply_mimo_rayleigh(exec, sent, received, h, shared, {.seed = 7});
    const auto samples = make_view(received.data(), received.size());
    add_awgn(exec, samples, samples, noise_var, {.seed = 8});
    const auto by_tone = exec.to_host(received);
    std::vector<complex> by_symbol(by_tone.size());
    for (std::size_t t = 0; t < tones; t++)
      for (std::size_t s = 0; s < symbols; s++)
        std::copy_n(by_tone.begin() + static_cast<std::ptrdiff_t>((t * symbols + s) * rx), rx,
                    by_symbol.begin() + static_cast<std::ptrdiff_t>((s * tones + t) * rx));
    // What the direction has of the grid: the bytes that travel.
    first = as_size(c.frame.first_symbol_of(c.direction)) * tones * rx;
    y = exec.make<complex>(tones * symbols, rx);
    exec.upload(y.data(), by_symbol.data(), y.bytes());
    part_bytes = as_size(c.frame.symbols_of(c.direction)) * tones * rx * sizeof(complex);
    n0 = exec.make_from(std::vector<float>{noise_var});
    exec.sync();
    grid = make_frame_grid<const complex>(y.data(), 1, symbols, tones, rx);
    if (!c.preamble) channel = make_frame_grid<const complex>(h.data(), 1, 1, tones, 2 * rx);
  }
  wimax_received input() const {
    return {.channel = channel, .received = grid, .noise_var = {n0.data(), 1, 1, 1, 0}};
  }

  static constexpr float noise_var = 0.01f;
  wimax_receiver receiver;
  array<complex> y, h;
  array<float> n0;
  frame_grid<const complex> grid, channel;
  std::size_t first = 0, part_bytes = 0;
  double decided = 0, codewords = 0;
};
/// The same on the host.
struct host_side {
  host_side(executor& exec, const direction& d)
      : y(exec.make_host<complex>(1, d.part_bytes / sizeof(complex))),
        h(exec.make_host<complex>(1, d.h.size())) {
    exec.download(y.data(), d.y.data() + d.first, y.bytes());
    exec.download(h.data(), d.h.data(), h.bytes());
    for (const wimax_burst_sizes& s : d.receiver.bursts())
      bits.push_back(exec.make_host<std::uint8_t>(s.blocks, s.k));
    exec.sync();
  }
  array<complex> y, h;
  std::vector<array<std::uint8_t>> bits;
};

bench::maker receive(const std::vector<wimax_link_config>& directions) {
  return [=](executor& exec, figure asked) {
    const bool fed = asked == figure::host_fed || asked == figure::sync;
    std::vector<std::unique_ptr<direction>> on_device;
    std::vector<host_side> on_host;
    double items = 0, bits = 0;
    for (const wimax_link_config& c : directions) {
      on_device.push_back(std::make_unique<direction>(exec, c));
      items += on_device.back()->codewords;
      bits += on_device.back()->decided;
      if (fed) on_host.emplace_back(exec, *on_device.back());
    }
    return bench::job(
        items, bits, [&exec, fed, on_device = std::move(on_device), on_host = std::move(on_host)]() mutable {
          for (std::size_t i = 0; i < on_device.size(); i++) {
            direction& d = *on_device[i];
            if (fed) {
              exec.upload(d.y.data() + d.first, on_host[i].y.data(), on_host[i].y.bytes());
              exec.upload(d.h.data(), on_host[i].h.data(), on_host[i].h.bytes());
            }
            const auto& results = d.receiver.run(d.input());
            if (!fed) continue;
            for (std::size_t b = 0; b < results.size(); b++)
              exec.download(on_host[i].bits[b].data(), results[b].bits.data, on_host[i].bits[b].bytes());
          }
        });
  };
}

std::vector<bench::axis> axes_of(const wimax_frame& f, bench::axis qam, const char* output) {
  return {{"code", "silver"},
          std::move(qam),
          {"output", output},
          {"profile", f.profile.name},
          {"symbols", f.symbols()}};
}

void add_frames(const std::string& device) {
  const std::vector<figure> figures{device == "cpu" ? figure::resident : figure::host_fed};
  for (const wimax_profile& p : wimax_profiles()) {
    std::vector<int> symbols;
    for (const double frame_ms : {4., 5., 10., 20.}) {
      if (device == "cpu" && frame_ms != 5) continue;  // the time is proportional there
      symbols.push_back(wimax_symbols(p, frame_ms));
      // Table IV counts the symbols of the fixed profile as if they were those of the mobile ones.
      if (p.fixed()) symbols.push_back(wimax_symbols(wimax_profile_of(1024), frame_ms));
    }
    for (const int n : symbols)
      for (const int qam : {4, 16, 64}) {
        wimax_link_config c;
        c.frame = make_wimax_frame(p, n, n);
        c.frame.bursts = {{wimax_direction::downlink, p.data_subcarriers, n, qam}};
        bench::add("wimax_frame", device, axes_of(c.frame, {"qam", qam}, "hard"), figures, receive({c}));
      }
  }
  for (const char* output : {"hard", "wimax_ldpc", "conv"}) {
    using enum wimax_direction;
    wimax_link_config down;
    const wimax_profile& p = wimax_profile_of(2048);
    down.frame = make_wimax_frame(p, wimax_symbols(p, 5), 32);
    int first = 0;
    for (const int qam : {4, 16, 64}) down.frame.bursts.push_back({downlink, 480, 32, qam, 480 * first++});
    first = 0;
    for (const int qam : {4, 16}) down.frame.bursts.push_back({uplink, 720, 16, qam, 720 * first++});
    code_config code(*output == 'h' ? "none" : *output == 'w' ? "wimax-ldpc" : "conv");
    if (code.type == "conv") {
      code.set("k", std::int64_t{288});  // 36 bytes, of the lengths that the standard has
      code.set("termination", "tail-biting");
      code.set("standard", "802.16");
    }
    wimax_link_config up = down;
    up.direction = uplink;
    down.codes.assign(3, code);
    up.codes.assign(2, code);
    bench::add("wimax_frame", device, axes_of(down.frame, {"qam", "mixed"}, output), figures,
               receive({down, up}));
  }
  wimax_frame_config estimated;  // a downlink from preamble to bursts
  estimated.fft_size = 2048;
  estimated.modulations = {"qpsk", "16qam", "64qam"};
  estimated.space_time = wimax_space_time::silver;
  const wimax_link_config link = wimax_link_of(estimated);
  bench::add("wimax_frame", device, axes_of(link.frame, {"qam", "mixed"}, "preamble_maps_hard"), figures,
             receive({link}));
}

const bench::group frame_benches{[] {
  for (const std::string& device : bench::devices()) add_frames(device);
}};

}  // namespace
