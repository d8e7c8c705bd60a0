// Throughput of the turbo decoder.
//   turbo/...  data in the executor's memory: wu2010 table 5.3 (K = 6144, windows of W steps, both MAPs) with
//              and without overlap, and other block sizes at the automatic setting
//   turbo_small/...    a few codewords: latency
//   turbo_host_fed/... LLRs from page-locked host memory, decisions back to it, on one stream (not
//   overlapped)
#include <bench/bench.hpp>
#include <cmath>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/fec/turbo/turbo.hpp>
#include <warpband/modem/demap/demap.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace {

using namespace wb;

/// LLRs of all-zero codewords over AWGN at Eb/N0 = 0.5 dB. Decoding takes the same time for any data.
void fill_llrs(executor& exec, array<float>& llr) {
  const std::size_t n = llr.size();
  const std::vector<std::uint8_t> zeros(n);
  auto coded = exec.make<std::uint8_t>(1, n);
  auto symbols = exec.make<std::complex<float>>(1, n);
  const float n0 = static_cast<float>(3 * std::pow(10, -0.05));
  const auto noise_var = exec.make_from(std::vector<float>{n0});
  exec.upload(coded.data(), zeros.data(), coded.bytes());
  qam_mapper(2).run(exec, coded, symbols);
  add_awgn(exec, symbols, symbols, n0, {.seed = 1});
  demapper(2).run(exec, {symbols, {}, {noise_var.data(), 1, n, 1, 0}}, make_view(llr.data(), 1, n));
  exec.sync();
}

turbo_decoder_config setting(int k, map_algorithm algorithm, int windows, int overlap, int iterations) {
  return {.k = k,
          .algorithm = algorithm,
          .iterations = iterations,
          .windows = windows,
          .overlap = overlap,
          .extrinsic_scale = algorithm == map_algorithm::log_map ? 1.f : 0.75f};
}

enum class feed { resident, host };

void decode(bench::session& s, const turbo_decoder_config& config, std::size_t batch, feed from) {
  const turbo_decoder decoder(config);
  const std::size_t k = static_cast<std::size_t>(config.k), n = 3 * (k + 4);
  executor& exec = s.exec();
  auto llr = exec.make<float>(n, batch), host_llr = exec.make_host<float>(from == feed::host ? n : 0, batch);
  auto bits = exec.make<std::uint8_t>(k, batch), host_bits = exec.make_host<std::uint8_t>(k, batch);
  fill_llrs(exec, llr);
  if (from == feed::host) exec.download(host_llr.data(), llr.data(), llr.bytes());
  exec.sync();
  const turbo_decoder_output out{.bits = bits, .soft = {}, .extrinsic = {}, .iterations = {}, .status = {}};
  s.measure({.items = batch, .bits = static_cast<double>(k * batch)}, [&](executor& e) {
    if (from == feed::host) e.upload(llr.data(), host_llr.data(), llr.bytes());
    decoder.run(e, llr, out);
    if (from == feed::host) e.download(host_bits.data(), bits.data(), bits.bytes());
  });
}

const char* name_of(map_algorithm a) { return a == map_algorithm::log_map ? "log_map" : "max_log_map"; }

const bench::group turbo_benches{[] {
  for (const std::string& device : bench::devices()) {
    for (const auto algorithm : {map_algorithm::max_log_map, map_algorithm::log_map}) {
      const std::size_t many = bench::batch_for(device, 32, 132 * 16);
      const std::string map = name_of(algorithm);
      for (const int steps : {32, 64, 96, 128})
        for (const int overlap : {0, 16})
          for (const int iterations : {1, 2, 3, 4, 5, 6})
            if (overlap == 0 || iterations == 6)
              bench::add("turbo", device,
                         {{"k", 6144},
                          {"map", map},
                          {"window_steps", steps},
                          {"overlap", overlap},
                          {"iterations", iterations}},
                         [=](bench::session& s) {
                           decode(s, setting(6144, algorithm, 6144 / steps, overlap, iterations), many,
                                  feed::resident);
                         });
      for (const int k : {40, 512, 1024, 2048, 6144})
        bench::add("turbo", device, {{"k", k}, {"map", map}, {"window_steps", "auto"}, {"iterations", 6}},
                   [=](bench::session& s) {
                     decode(s, setting(k, algorithm, 0, -1, 6), many * static_cast<std::size_t>(6144 / k),
                            feed::resident);
                   });
      for (const int batch : {1, 10, 100})
        bench::add("turbo_small", device, {{"k", 6144}, {"map", map}, {"batch", batch}, {"iterations", 6}},
                   [=](bench::session& s) {
                     decode(s, setting(6144, algorithm, 0, -1, 6), static_cast<std::size_t>(batch),
                            feed::resident);
                   });
      if (device != "cpu")
        bench::add(
            "turbo_host_fed", device, {{"k", 6144}, {"map", map}, {"iterations", 6}},
            [=](bench::session& s) { decode(s, setting(6144, algorithm, 0, -1, 6), many, feed::host); });
    }
  }
}};

}  // namespace
