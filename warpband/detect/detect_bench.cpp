// Soft MIMO detectors: batches that fill the device, and 8400 and 1200 uses, which are a slot and an OFDM
// symbol of LTE at 20 MHz (wu2012 tables II and III). Also wu2010's batches of 8 x 16384 uses for 2x2 and 8 x
// 8192 for 4x4 (tables 4.1 and 4.2). Rayleigh fading, every use with its own H. The time of a sphere search
// depends on the SNR, so it has an axis for it. Its operations are those of the first path alone, and its
// share of the bound says how much the search adds.
#include <bench/bench.hpp>
#include <cmath>
#include <complex>
#include <optional>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/mimo/mimo.hpp>
#include <warpband/detect/detector.hpp>
#include <warpband/detect/ep/ep.hpp>
#include <warpband/detect/kbest/kbest.hpp>
#include <warpband/detect/nway/nway.hpp>
#include <warpband/detect/sphere/sphere.hpp>
#include <warpband/link/source/source.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace {

using namespace wb;
using bench::figure;

/// Random symbols through Rayleigh fading and noise of variance n0.
void send(executor& exec, const detector_config& c, std::size_t uses, array<std::complex<float>>& h,
          array<std::complex<float>>& y, float n0) {
  const qam_mapper mapper(c.qam);
  const auto n = static_cast<std::size_t>(c.streams), m = static_cast<std::size_t>(mapper.bits());
  auto bits = exec.make<std::uint8_t>(n * uses, m);
  auto symbols = exec.make<std::complex<float>>(uses, n);
  random_bits(exec, bits, mapper.bits(), {.seed = 1});
  mapper.run(exec, bits, make_view(symbols.data(), n * uses));
  apply_mimo_rayleigh(exec, symbols, y, h, 1, {.seed = 2});
  const auto received = make_view(y.data(), y.size());
  add_awgn(exec, received, received, n0, {.seed = 3});
  exec.sync();
}

/// `informed`: with a-priori LLRs, between -4 and 4.
bench::maker detect(const detector_config& config, std::size_t uses, layout order, bool informed,
                    float noise_var) {
  return [=](executor& exec, figure kind) {
    const bool fed = kind == figure::host_fed || kind == figure::sync;
    auto detector = make_detector(config);
    const auto rx = static_cast<std::size_t>(config.rx_antennas),
               gains = rx * static_cast<std::size_t>(config.streams), bits = detector->bits_per_use();
    auto y = exec.make<std::complex<float>>(uses, rx, order),
         h = exec.make<std::complex<float>>(uses, gains, order);
    send(exec, config, uses, h, y, noise_var);
    auto n0 = exec.make_from(std::vector<float>{noise_var});
    auto llr = exec.make<float>(uses, bits, order);
    std::vector<float> known(informed ? bits * uses : 0);
    for (std::size_t i = 0; i < known.size(); i++) known[i] = 0.25f * static_cast<float>(i * 37 % 33) - 4;
    auto prior = exec.make_from(known);
    const std::size_t copied = fed ? uses : 0;
    auto host_y = exec.make_host<std::complex<float>>(copied, rx),
         host_h = exec.make_host<std::complex<float>>(copied, gains);
    auto host_llr = exec.make_host<float>(copied, bits);
    if (fed) {
      exec.download(host_y.data(), y.data(), y.bytes());
      exec.download(host_h.data(), h.data(), h.bytes());
    }
    exec.sync();
    return bench::job(
        static_cast<double>(uses), static_cast<double>(bits * uses),
        [=, &exec, detector = std::move(detector), y = std::move(y), h = std::move(h), n0 = std::move(n0),
         llr = std::move(llr), prior = std::move(prior), host_y = std::move(host_y),
         host_h = std::move(host_h), host_llr = std::move(host_llr)]() mutable {
          if (fed) {
            exec.upload(y.data(), host_y.data(), y.bytes());
            exec.upload(h.data(), host_h.data(), h.bytes());
          }
          detector_input in{.channel = h, .received = y, .noise_var = {n0.data(), 1, uses, 1, 0}};
          if (informed) in.prior = make_view<const float>(prior.data(), uses, bits);
          detector->run(exec, in, {.llr = llr});
          if (fed) exec.download(host_llr.data(), llr.data(), llr.bytes());
        });
  };
}

/// `uses`: 0 for a batch that fills the device. `snr_db`: at a receive antenna; nothing for N0 = 0.05.
void add(const std::string& device, const detector_config& c, const std::vector<figure>& figures,
         std::size_t uses = 0, layout order = layout::row_major, bool informed = false,
         std::optional<int> snr_db = {}) {
  std::vector<bench::axis> axes{{"detector", c.type},
                                {"antennas", std::to_string(c.rx_antennas) + "x" + std::to_string(c.streams)},
                                {"qam", c.qam}};
  if (c.type == "nway") axes.emplace_back("ways", c.get<nway_settings>().ways.value_or(c.streams));
  if (c.type == "kbest") axes.emplace_back("survivors", c.get<kbest_settings>().survivors);
  if (c.type == "sphere") {
    axes.emplace_back("output", c.get<sphere_settings>().hard_output ? "hard" : "soft");
    axes.emplace_back("sort", plain(c.value_of("sort")));
  }
  if (c.type == "ep") axes.emplace_back("iterations", c.get<ep_settings>().iterations);
  if (informed) axes.emplace_back("prior", 1);
  if (snr_db) axes.emplace_back("snr_db", *snr_db);
  if (order == layout::batch_fastest) axes.emplace_back("layout", "batch_fastest");
  if (uses != 0) axes.emplace_back("uses", static_cast<int>(uses));
  const float noise_var =
      snr_db ? static_cast<float>(c.streams) * std::pow(10.f, -static_cast<float>(*snr_db) / 10) : 0.05f;
  const bool slow = c.type == "kbest" || c.type == "ep" || c.type == "sphere" ||
                    (c.type == "ml" && c.streams == 4 && c.qam > 4);
  const std::size_t many = bench::batch_for(device, slow ? 512 : 4096, std::size_t{1} << (slow ? 17 : 20));
  for (const figure f : figures) {
    const std::size_t filling = f == figure::host_fed ? std::size_t{1} << 17 : many;
    bench::add("detect", device, axes, {f},
               detect(c, uses != 0 ? uses : filling, order, informed, noise_var));
  }
}

detector_config of(const std::string& type, int antennas, int qam) {
  detector_config c;
  c.type = type;
  c.streams = c.rx_antennas = antennas;
  c.qam = qam;
  return c;
}
detector_config nway_of(int antennas, int qam, int ways) {
  detector_config c = of("nway", antennas, qam);
  c.edit<nway_settings>().ways = ways;
  return c;
}
detector_config kbest_of(int qam, int survivors) {
  detector_config c = of("kbest", 4, qam);
  c.edit<kbest_settings>().survivors = survivors;
  return c;
}

detector_config sphere_of(int qam, bool hard) {
  detector_config c = of("sphere", 4, qam);
  c.llr_clip = 8;
  c.edit<sphere_settings>() = {.hard_output = hard, .search = {.sort = stream_sort::sqrd}};
  return c;
}

const bench::group detect_benches{[] {
  for (const std::string& device : bench::devices()) {
    // On a CUDA device the host's clock shows the same where calls are queued: for a few only.
    const std::vector<figure> alone{device == "cpu" ? figure::resident : figure::kernel};
    const auto filling = [&](const detector_config& c, bool host_figures) {
      add(device, c, alone);
      if (host_figures && device != "cpu") add(device, c, {figure::resident, figure::host_fed});
    };
    for (const int antennas : {2, 4})
      for (const int qam : {4, 16, 64})
        for (int ways = 1; ways <= antennas; ways++)
          filling(nway_of(antennas, qam, ways),
                  antennas == 4 && ((qam == 16 && ways == 1) || (qam == 64 && ways == 4)));
    for (const std::string type : {"ot", "mtt"})
      for (const int antennas : {2, 4})
        for (const int qam : {4, 16, 64})
          filling(of(type, antennas, qam), type == "mtt" && antennas == 4 && qam == 16);
    for (const int qam : {16, 64}) filling(of("ml", 2, qam), false);
    for (const int qam : {4, 16}) filling(of("ml", 4, qam), false);
    for (const int survivors : {16, 64}) filling(kbest_of(16, survivors), survivors == 64);
    for (const int survivors : {16, 64, 256}) filling(kbest_of(64, survivors), false);
    for (const int qam : {16, 64})
      for (const bool hard : {true, false})
        for (const int snr_db : {10, 15, 20, 25, 30})
          add(device, sphere_of(qam, hard), alone, 0, layout::row_major, false, snr_db);
    for (const std::string type : {"mf", "zf", "mmse"}) {
      for (const int qam : {16, 64}) filling(of(type, 4, qam), type == "mmse" && qam == 64);
      filling(of(type, 8, 64), false);
    }
    for (const int antennas : {4, 8, 16}) filling(of("ep", antennas, 16), false);
    for (const int antennas : {4, 8, 16}) filling(of("pic", antennas, 16), false);
    filling(of("pic", 4, 64), false);
    for (const detector_config& c : {of("pic", 4, 16), of("pic", 4, 64), of("pic", 8, 16), of("mtt", 4, 16)})
      add(device, c, alone, 0, layout::row_major, true);
    for (const detector_config& c : {nway_of(4, 16, 1), of("mmse", 4, 64)})
      add(device, c, alone, 0, layout::batch_fastest);

    for (const std::size_t uses : {std::size_t{1200}, std::size_t{8400}})
      for (const detector_config& c :
           {nway_of(4, 16, 1), nway_of(4, 64, 4), of("mtt", 4, 16), of("mmse", 4, 64), kbest_of(16, 64)})
        add(device, c, {figure::small}, uses);
    if (device == "cpu") continue;  // of the papers' tables: the figures above say it all
    for (const int antennas : {2, 4})
      for (const int qam : {16, 64})
        for (int ways = 1; ways <= antennas; ways++)
          add(device, nway_of(antennas, qam, ways), {figure::kernel, figure::sync}, 8400);
    for (const int antennas : {2, 4})
      for (const int qam : {4, 16, 64})
        add(device, of("mtt", antennas, qam), {figure::kernel, figure::host_fed, figure::sync},
            antennas == 2 ? 8 * 16384 : 8 * 8192);
    for (const int qam : {4, 16, 64}) add(device, of("mtt", 2, qam), {figure::kernel}, 16800);
    for (const int antennas : {2, 4}) add(device, of("mtt", antennas, 64), {figure::sync}, 8400);
  }
}};

}  // namespace
