// The turbo code. The windows, iterations and both MAPs of wu2010 table 5.3, with and without overlap. Other
// block sizes at the automatic setting, a few codewords for latency, and the encoder.
#include <algorithm>
#include <type_traits>

#include <bench/bench.hpp>
#include <bench/noise.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/fec/turbo/turbo.hpp>
#include <warpband/link/source/source.hpp>

namespace {

using namespace wb;
using bench::figure;

turbo_decoder_config setting(int k, map_algorithm algorithm, std::optional<int> windows,
                             std::optional<int> overlap, int iterations) {
  return with_usual_scale(
      {.k = k, .algorithm = algorithm, .iterations = iterations, .windows = windows, .overlap = overlap});
}

/// T: float, or std::int8_t with precision int16.
template <class T>
bench::maker decode(const turbo_decoder_config& config, std::size_t batch) {
  return [=](executor& exec, figure measured) {
    const bool fed = measured == figure::host_fed;
    const std::size_t k = static_cast<std::size_t>(config.k), n = 3 * (k + 4);
    array<T> llr = bench::make_llrs<T>(exec, n, batch, 1 / 3., 0.5, 8.f),
             host_llr = exec.make_host<T>(batch, fed ? n : 0);
    auto bits = exec.make<std::uint8_t>(batch, k),
         host_bits = exec.make_host<std::uint8_t>(batch, fed ? k : 0);
    if (fed) exec.download(host_llr.data(), llr.data(), llr.bytes());
    exec.sync();
    const std::pair<const void*, std::size_t> result{host_bits.data(), host_bits.bytes()};
    return bench::job(
        static_cast<double>(batch), static_cast<double>(k * batch),
        [=, &exec, decoder = turbo_decoder(config), llr = std::move(llr), host_llr = std::move(host_llr),
         bits = std::move(bits), host_bits = std::move(host_bits)]() mutable {
          if (fed) exec.upload(llr.data(), host_llr.data(), llr.bytes());
          decoder.run(exec, llr, {.bits = bits});
          if (fed) exec.download(host_bits.data(), bits.data(), bits.bytes());
        },
        result);
  };
}

bench::maker encode(int k, std::size_t batch) {
  return [=](executor& exec, figure) {
    const std::size_t n = static_cast<std::size_t>(k);
    auto bits = exec.make<std::uint8_t>(batch, n), coded = exec.make<std::uint8_t>(batch, 3 * (n + 4));
    random_bits(exec, bits, k, {.seed = 1});
    exec.sync();
    return bench::job(static_cast<double>(batch), static_cast<double>(n * batch),
                      [&exec, encoder = turbo_encoder(k), bits = std::move(bits),
                       coded = std::move(coded)]() mutable { encoder.run(exec, bits, coded); });
  };
}

const bench::group turbo_benches{[] {
  for (const std::string& device : bench::devices()) {
    for (const auto algorithm : {map_algorithm::max_log_map, map_algorithm::log_map}) {
      const std::size_t many = bench::batch_for(device, 32, 132 * 16);
      const std::string map = algorithm == map_algorithm::log_map ? "log_map" : "max_log_map";
      for (const int steps : {32, 64, 96, 128})
        for (const int overlap : {0, 16})
          for (const int iterations : {1, 2, 3, 4, 5, 6}) {
            if (overlap != 0 && iterations != 6) continue;
            std::vector<figure> figures{figure::resident};
            if (iterations == 6 && (steps == 32 || steps == 128)) figures.push_back(figure::kernel);
            bench::add("turbo", device,
                       {{"k", 6144},
                        {"map", map},
                        {"window_steps", steps},
                        {"overlap", overlap},
                        {"iterations", iterations}},
                       figures,
                       decode<float>(setting(6144, algorithm, 6144 / steps, overlap, iterations), many));
          }
      for (const int k : {512, 1024, 2048})  // whether the rate depends on the length of windows alone
        bench::add(
            "turbo", device,
            {{"k", k}, {"map", map}, {"window_steps", 32}, {"overlap", 0}, {"iterations", 6}},
            {figure::resident},
            decode<float>(setting(k, algorithm, k / 32, 0, 6), many * static_cast<std::size_t>(6144 / k)));
      for (const int k : {40, 512, 1024, 2048, 6144})
        bench::add(
            "turbo", device, {{"k", k}, {"map", map}, {"window_steps", "auto"}, {"iterations", 6}},
            {figure::kernel, figure::resident},
            decode<float>(setting(k, algorithm, {}, {}, 6), many * static_cast<std::size_t>(6144 / k)));
      bench::add("turbo", device, {{"k", 6144}, {"map", map}, {"window_steps", "auto"}, {"iterations", 6}},
                 {figure::host_fed}, decode<float>(setting(6144, algorithm, {}, {}, 6), many / 4));
      for (const int codewords : {1, 10, 100})
        bench::add("turbo", device,
                   {{"k", 6144},
                    {"map", map},
                    {"window_steps", "auto"},
                    {"iterations", 6},
                    {"codewords", codewords}},
                   {figure::small},
                   decode<float>(setting(6144, algorithm, {}, {}, 6), static_cast<std::size_t>(codewords)));
    }
    // max* from a table, beside the same decoder that computes it (wu2010 §5.1.5).
    for (const int steps : {32, 64, 96, 128})
      bench::add(
          "turbo", device,
          {{"k", 6144}, {"map", "log_map_table"}, {"window_steps", steps}, {"overlap", 0}, {"iterations", 6}},
          {figure::resident},
          decode<float>(setting(6144, map_algorithm::log_map_table, 6144 / steps, 0, 6),
                        bench::batch_for(device, 32, 132 * 16)));
    // Windows side by side.
    const std::size_t many = bench::batch_for(device, 64, 132 * 32);
    const struct {
      const char* name;
      turbo_precision precision;
      map_algorithm algorithm;
    } kinds[] = {{"int16", turbo_precision::int16, map_algorithm::max_log_map},
                 {"bfloat16", turbo_precision::bfloat16, map_algorithm::max_log_map},
                 {"bfloat16", turbo_precision::bfloat16, map_algorithm::log_map}};
    for (const auto& kind : kinds) {
      const auto config = [=](int k, std::optional<int> windows, std::optional<int> overlap) {
        auto c = setting(k, kind.algorithm, windows, overlap, 6);
        c.precision = kind.precision;
        return c;
      };
      const auto axes = [=](int k) {
        return std::vector<bench::axis>{
            {"k", k},
            {"precision", kind.name},
            {"map", kind.algorithm == map_algorithm::log_map ? "log_map" : "max_log_map"},
            {"iterations", 6}};
      };
      for (const int windows : {32, 64, 128})
        for (const int overlap : {0, 8, 16}) {
          std::vector<bench::axis> a = axes(6144);
          a.emplace_back("window_steps", 6144 / windows);
          a.emplace_back("overlap", overlap);
          bench::add("turbo", device, a, {figure::resident},
                     decode<std::int8_t>(config(6144, windows, overlap), many));
        }
      for (const int k : {40, 512, 1024, 2048, 6144})
        bench::add("turbo", device, axes(k), {figure::kernel, figure::resident},
                   decode<std::int8_t>(config(k, {}, {}), many * static_cast<std::size_t>(6144 / k)));
      {
        std::vector<bench::axis> a = axes(6144);
        a.emplace_back("input", "float32");
        bench::add("turbo", device, a, {figure::resident, figure::host_fed},
                   decode<float>(config(6144, {}, {}), many / 4));
        bench::add("turbo", device, axes(6144), {figure::host_fed},
                   decode<std::int8_t>(config(6144, {}, {}), many / 4));
        auto stopping = config(6144, {}, {});
        stopping.early_stop = turbo_early_stop::crc;
        stopping.crc_polynomial = crc24b.polynomial;
        stopping.crc_degree = crc24b.degree;
        a = axes(6144);
        a.emplace_back("early_stop", "crc");
        bench::add("turbo", device, a, {figure::resident, figure::host_fed},
                   decode<std::int8_t>(stopping, many / 4));
      }
      for (const int windows : {64, 128})
        for (const int codewords : {1, 10, 100}) {
          std::vector<bench::axis> a = axes(6144);
          a.emplace_back("window_steps", 6144 / windows);
          a.emplace_back("codewords", codewords);
          bench::add("turbo", device, a, {figure::small},
                     decode<std::int8_t>(config(6144, windows, 8), static_cast<std::size_t>(codewords)));
        }
    }
    bench::add("turbo_encode", device, {{"k", 6144}}, {figure::kernel, figure::resident},
               encode(6144, bench::batch_for(device, 64, 132 * 64)));
    bench::add("turbo_encode", device, {{"k", 6144}, {"codewords", 1}}, {figure::small}, encode(6144, 1));
  }
}};

}  // namespace
