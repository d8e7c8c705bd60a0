// The Viterbi decoder and the encoder: constraint lengths, rates, punctured and tail-biting codes, 16-bit
// metrics.
#include <algorithm>
#include <type_traits>

#include <bench/bench.hpp>
#include <bench/noise.hpp>
#include <warpband/fec/viterbi/viterbi.hpp>

namespace {

using namespace wb;
using bench::figure;

/// T: float, or std::int8_t with precision int16.
template <class T>
bench::maker decode(const viterbi_config& config, std::size_t batch) {
  return [=](executor& exec, figure measured) {
    const bool fed = measured == figure::host_fed;
    viterbi_decoder decoder(config);
    const std::size_t k = static_cast<std::size_t>(config.k), n = decoder.frame().n();
    array<T> llr = bench::make_llrs<T>(exec, n, batch, decoder.frame().rate(), 4, 8.f),
             host_llr = exec.make_host<T>(batch, fed ? n : 0);
    auto bits = exec.make<std::uint8_t>(batch, k),
         host_bits = exec.make_host<std::uint8_t>(batch, fed ? k : 0);
    if (fed) exec.download(host_llr.data(), llr.data(), llr.bytes());
    exec.sync();
    return bench::job(
        static_cast<double>(batch), static_cast<double>(k * batch),
        [=, &exec, decoder = std::move(decoder), llr = std::move(llr), host_llr = std::move(host_llr),
         bits = std::move(bits), host_bits = std::move(host_bits)]() mutable {
          if (fed) exec.upload(llr.data(), host_llr.data(), llr.bytes());
          decoder.run(exec, llr, {.bits = bits});
          if (fed) exec.download(host_bits.data(), bits.data(), bits.bytes());
        });
  };
}

bench::maker encode(const conv_code& code, int k, std::size_t batch) {
  return [=](executor& exec, figure) {
    conv_encoder encoder(code, k);
    auto bits = exec.make<std::uint8_t>(batch, static_cast<std::size_t>(k)),
         coded = exec.make<std::uint8_t>(batch, encoder.n());
    random_bits(exec, bits, k, {.seed = 1});
    exec.sync();
    return bench::job(static_cast<double>(batch), static_cast<double>(k) * static_cast<double>(batch),
                      [&exec, encoder = std::move(encoder), bits = std::move(bits),
                       coded = std::move(coded)]() mutable { encoder.run(exec, bits, coded); });
  };
}

const bench::group viterbi_benches{[] {
  for (const std::string& device : bench::devices()) {
    const std::size_t many = bench::batch_for(device, 64, 132 * 128);
    const auto add = [&](const std::string& code, const conv_code& c, int k, std::vector<figure> figures,
                         std::size_t batch) {
      bench::add("viterbi", device, {{"K", c.constraint_length}, {"code", code}, {"k", k}}, figures,
                 decode<float>({.code = c, .k = k}, batch));
    };
    const std::vector<figure> both{figure::kernel, figure::resident};
    conv_code third = conv_lte();
    third.ending = conv_ending::zero_tail;
    third.order = conv_order::serial;
    add("133,171,165", third, 1024, {figure::kernel, figure::resident, figure::host_fed}, many);
    add("lte", conv_lte(), 1024, both, many);
    add("lte", conv_lte(), 40, both, many * 16);
    add("802.11 r1/2", conv_80211(conv_rate::r1_2), 1024, both, many);
    add("802.11 r3/4", conv_80211(conv_rate::r3_4), 1024, both, many);
    add("802.11 r1/2", conv_80211(conv_rate::r1_2), 12000, both, many / 4);
    add("5,7", {.constraint_length = 3, .generators = {05, 07}}, 1024, both, many);
    add("23,35", {.constraint_length = 5, .generators = {023, 035}}, 1024, both, many);
    add("561,753", {.constraint_length = 9, .generators = {0561, 0753}}, 1024, both, many / 2);
    add("133,171,165", third, 1024, {figure::small}, 16);
    const auto add_int16 = [&](const std::string& code, const conv_code& c, int k, const std::string& input,
                               std::vector<figure> figures, std::size_t batch) {
      const viterbi_config config{.code = c, .k = k, .precision = conv_precision::int16};
      bench::add(
          "viterbi", device,
          {{"K", c.constraint_length}, {"code", code}, {"k", k}, {"precision", "int16"}, {"input", input}},
          figures, input == "int8" ? decode<std::int8_t>(config, batch) : decode<float>(config, batch));
    };
    add_int16("802.11 r1/2", conv_80211(conv_rate::r1_2), 1024, "int8",
              {figure::kernel, figure::resident, figure::host_fed}, many);
    add_int16("802.11 r1/2", conv_80211(conv_rate::r1_2), 1024, "float32", both, many);
    add_int16("802.11 r1/2", conv_80211(conv_rate::r1_2), 12000, "int8", both, many / 4);
    add_int16("802.11 r3/4", conv_80211(conv_rate::r3_4), 1024, "int8", both, many);
    add_int16("lte", conv_lte(), 1024, "int8", both, many);
    add_int16("lte", conv_lte(), 40, "int8", both, many * 16);
    add_int16("561,753", {.constraint_length = 9, .generators = {0561, 0753}}, 1024, "int8", both, many / 2);
    bench::add("conv_encode", device, {{"K", 7}, {"code", "lte"}, {"k", 1024}}, both,
               encode(conv_lte(), 1024, many));
    bench::add("conv_encode", device, {{"K", 5}, {"code", "rsc 23,33"}, {"k", 1024}}, both,
               encode(conv_recursive(5, 023, {033}), 1024, many));
  }
}};

}  // namespace
