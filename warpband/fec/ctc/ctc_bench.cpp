// Convolutional turbo codes: sizes of both standards, the algorithms, windows, and the encoder.
#include <algorithm>

#include <bench/bench.hpp>
#include <bench/noise.hpp>
#include <warpband/fec/ctc/ctc.hpp>
#include <warpband/link/source/source.hpp>

namespace {

using namespace wb;
using bench::figure;

bench::maker decode(const ctc_config& code, const ctc_decoder_config& config, std::size_t batch) {
  return [=](executor& exec, figure) {
    ctc_decoder decoder(code, config);
    const std::size_t k = decoder.k();
    auto llr = exec.make<float>(batch, decoder.n());
    auto bits = exec.make<std::uint8_t>(batch, k);
    bench::fill_llrs(exec, llr, static_cast<double>(k) / static_cast<double>(decoder.n()), 1.5);
    exec.sync();
    return bench::job(static_cast<double>(batch), static_cast<double>(k * batch),
                      [&exec, decoder = std::move(decoder), llr = std::move(llr),
                       bits = std::move(bits)]() mutable { decoder.run(exec, llr, {.bits = bits}); });
  };
}
bench::maker encode(const ctc_config& code, std::size_t batch) {
  return [=](executor& exec, figure) {
    ctc_encoder encoder(code);
    auto bits = exec.make<std::uint8_t>(batch, encoder.k()),
         coded = exec.make<std::uint8_t>(batch, encoder.n());
    random_bits(exec, bits, code.k, {.seed = 1});
    exec.sync();
    return bench::job(static_cast<double>(batch), static_cast<double>(encoder.k() * batch),
                      [&exec, encoder = std::move(encoder), bits = std::move(bits),
                       coded = std::move(coded)]() mutable { encoder.run(exec, bits, coded); });
  };
}

const bench::group ctc_benches{[] {
  const struct {
    const char* name;
    map_algorithm algorithm;
  } algorithms[] = {{"max_log_map", map_algorithm::max_log_map},
                    {"log_map", map_algorithm::log_map},
                    {"log_map_table", map_algorithm::log_map_table}};
  for (const std::string& device : bench::devices()) {
    const auto batch = [&](int k) {
      return bench::batch_for(device, 64, 132 * 32) * static_cast<std::size_t>(std::max(1, 480 / k));
    };
    for (const auto standard : {ctc_standard::wimax, ctc_standard::dvb_rcs})
      for (const int k :
           {standard == ctc_standard::wimax ? 480 : 440, standard == ctc_standard::wimax ? 4800 : 1728}) {
        const ctc_config code{.standard = standard, .k = k, .rate = ctc_rate::r1_2};
        const char* name = standard == ctc_standard::wimax ? "wimax" : "dvb_rcs";
        for (const auto& a : algorithms) {
          ctc_decoder_config config{.algorithm = a.algorithm, .iterations = 8};
          if (a.algorithm == map_algorithm::max_log_map) config.extrinsic_scale = 0.75f;
          bench::add("ctc", device,
                     {{"standard", name}, {"k", k}, {"map", a.name}, {"window_couples", "auto"}},
                     {figure::kernel, figure::resident}, decode(code, config, batch(k)));
          config.windows = 1;
          config.overlap = 0;
          bench::add("ctc", device,
                     {{"standard", name}, {"k", k}, {"map", a.name}, {"window_couples", k / 2}},
                     {figure::resident}, decode(code, config, batch(k)));
        }
        bench::add("ctc_encode", device, {{"standard", name}, {"k", k}}, {figure::kernel, figure::resident},
                   encode(code, 4 * batch(k)));
      }
  }
}};

}  // namespace
