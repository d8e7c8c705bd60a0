// The BCJR decoder: constraint lengths, rates, both algorithms, 16-bit metrics.
#include <bench/bench.hpp>
#include <bench/noise.hpp>
#include <warpband/fec/bcjr/bcjr.hpp>

namespace {

using namespace wb;
using bench::figure;

/// T: float, or std::int8_t with precision int16.
template <class T = float>
bench::maker decode(const bcjr_config& config, std::size_t batch) {
  return [=](executor& exec, figure measured) {
    const bool fed = measured == figure::host_fed;
    bcjr_decoder decoder(config);
    const std::size_t k = static_cast<std::size_t>(config.k), n = decoder.frame().n();
    array<T> llr = bench::make_llrs<T>(exec, n, batch, decoder.frame().rate(), 4, 8.f),
             host_llr = exec.make_host<T>(batch, fed ? n : 0);
    auto soft = exec.make<float>(batch, k), host_soft = exec.make_host<float>(batch, fed ? k : 0);
    if (fed) exec.download(host_llr.data(), llr.data(), llr.bytes());
    exec.sync();
    return bench::job(
        static_cast<double>(batch), static_cast<double>(k * batch),
        [=, &exec, decoder = std::move(decoder), llr = std::move(llr), host_llr = std::move(host_llr),
         soft = std::move(soft), host_soft = std::move(host_soft)]() mutable {
          if (fed) exec.upload(llr.data(), host_llr.data(), llr.bytes());
          decoder.run(exec, llr, {.soft = soft});
          if (fed) exec.download(host_soft.data(), soft.data(), soft.bytes());
        });
  };
}

const bench::group bcjr_benches{[] {
  for (const std::string& device : bench::devices()) {
    const std::size_t many = bench::batch_for(device, 32, 132 * 64);
    for (const auto& [name, algorithm] : {std::pair{"max_log_map", map_algorithm::max_log_map},
                                          {"log_map", map_algorithm::log_map},
                                          {"log_map_table", map_algorithm::log_map_table}}) {
      const auto add = [&](const std::string& code, const conv_code& c, int k,
                           const std::vector<figure>& figures, std::size_t batch) {
        bench::add("bcjr", device, {{"K", c.constraint_length}, {"code", code}, {"k", k}, {"map", name}},
                   figures, decode({.code = c, .k = k, .algorithm = algorithm}, batch));
      };
      const std::vector<figure> both{figure::kernel, figure::resident};
      add("133,171", conv_80211(conv_rate::r1_2), 1024, {figure::kernel, figure::resident, figure::host_fed},
          many);
      add("802.11 r3/4", conv_80211(conv_rate::r3_4), 1024, both, many);
      add("lte", conv_lte(), 1024, both, many);
      add("5,7", {.constraint_length = 3, .generators = {05, 07}}, 1024, both, many);
      add("rsc 23,33", conv_recursive(5, 023, {033}), 1024, both, many);
      add("561,753", {.constraint_length = 9, .generators = {0561, 0753}}, 1024, both, many / 2);
      add("133,171", conv_80211(conv_rate::r1_2), 1024, {figure::small}, 16);
    }
    const auto add_int16 = [&](const std::string& code, const conv_code& c, int k, std::size_t batch) {
      bench::add("bcjr", device,
                 {{"K", c.constraint_length},
                  {"code", code},
                  {"k", k},
                  {"map", "max_log_map"},
                  {"precision", "int16"},
                  {"input", "int8"}},
                 {figure::kernel, figure::resident},
                 decode<std::int8_t>({.code = c,
                                      .k = k,
                                      .algorithm = map_algorithm::max_log_map,
                                      .precision = conv_precision::int16},
                                     batch));
    };
    add_int16("133,171", conv_80211(conv_rate::r1_2), 1024, many);
    add_int16("133,171", conv_80211(conv_rate::r1_2), 12000, many / 4);
    add_int16("802.11 r3/4", conv_80211(conv_rate::r3_4), 1024, many);
    add_int16("lte", conv_lte(), 1024, many);
  }
}};

}  // namespace
