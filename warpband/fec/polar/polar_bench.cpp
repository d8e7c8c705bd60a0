// The polar encoder and the list decoder. The number of forks depends on the noise: at Eb/N0 a list of 8 has
// a frame error rate near 1e-3.
#include <bench/bench.hpp>
#include <bench/noise.hpp>
#include <warpband/fec/polar/polar.hpp>

namespace {

using namespace wb;
using bench::figure;

bench::maker decode(const polar_config& code, const polar_decoder_config& config, double ebn0_db,
                    std::size_t batch) {
  return [=](executor& exec, figure measured) {
    const bool host_fed = measured == figure::host_fed;
    polar_decoder decoder(code, config);
    const std::size_t k = decoder.code().k(), n = decoder.code().coded_bits();
    auto llr = exec.make<float>(batch, n), host_llr = exec.make_host<float>(batch, host_fed ? n : 0);
    auto bits = exec.make<std::uint8_t>(batch, k),
         host_bits = exec.make_host<std::uint8_t>(batch, host_fed ? k : 0);
    bench::fill_llrs(exec, llr, static_cast<double>(k) / static_cast<double>(n), ebn0_db);
    if (host_fed) exec.download(host_llr.data(), llr.data(), llr.bytes());
    exec.sync();
    return bench::job(
        static_cast<double>(batch), static_cast<double>(k * batch),
        [=, &exec, decoder = std::move(decoder), llr = std::move(llr), host_llr = std::move(host_llr),
         bits = std::move(bits), host_bits = std::move(host_bits)]() mutable {
          if (host_fed) exec.upload(llr.data(), host_llr.data(), llr.bytes());
          decoder.run(exec, llr, {.bits = bits, .status = {}});
          if (host_fed) exec.download(host_bits.data(), bits.data(), bits.bytes());
        });
  };
}

bench::maker encode(const polar_config& code, std::size_t batch) {
  return [=](executor& exec, figure) {
    polar_encoder encoder(code);
    const std::size_t k = encoder.code().k();
    auto bits = exec.make<std::uint8_t>(batch, k),
         coded = exec.make<std::uint8_t>(batch, encoder.code().coded_bits());
    random_bits(exec, bits, static_cast<int>(k), {.seed = 1});
    exec.sync();
    return bench::job(static_cast<double>(batch), static_cast<double>(k * batch),
                      [&exec, encoder = std::move(encoder), bits = std::move(bits),
                       coded = std::move(coded)]() mutable { encoder.run(exec, bits, coded); });
  };
}

const bench::group polar_benches{[] {
  using enum polar_kind;
  for (const std::string& device : bench::devices()) {
    const std::size_t batch = bench::batch_for(device, 64, 132 * 256);
    const polar_config half{.kind = plain, .k = 245, .coded_bits = 512, .crc_bits = 11};
    const auto add = [&](const char* name, const polar_config& code, int list, polar_algorithm algorithm,
                         double ebn0_db, std::vector<figure> figures, std::size_t items) {
      bench::add("polar", device,
                 {{"code", name},
                  {"k", code.k},
                  {"e", code.coded_bits},
                  {"list", list},
                  {"algorithm", algorithm == polar_algorithm::min_sum ? "min_sum" : "sum_product"}},
                 figures, decode(code, {.algorithm = algorithm, .list_size = list}, ebn0_db, items));
    };
    const std::vector<figure> in_place{figure::kernel, figure::resident};
    add("plain", half, 8, polar_algorithm::min_sum, 2.5, {figure::kernel, figure::resident, figure::host_fed},
        batch);
    for (const int list : {1, 2, 4, 16, 32})
      add("plain", half, list, polar_algorithm::min_sum, 2.5, in_place, batch / (list > 8 ? 4 : 1));
    add("plain", half, 8, polar_algorithm::sum_product, 2.5, in_place, batch);
    for (const int list : {8, 32})
      bench::add("polar", device,
                 {{"code", "plain"},
                  {"k", half.k},
                  {"e", half.coded_bits},
                  {"list", list},
                  {"algorithm", "min_sum"},
                  {"adaptive", "yes"}},
                 in_place, decode(half, {.list_size = list, .adaptive = true}, 2.5, batch));
    for (const auto& [list, adaptive, precision] : {std::tuple{1, false, polar_precision::int16},
                                                    {2, false, polar_precision::int16},
                                                    {4, false, polar_precision::int16},
                                                    {8, false, polar_precision::int16},
                                                    {16, false, polar_precision::int16},
                                                    {32, false, polar_precision::int16},
                                                    {8, false, polar_precision::int8},
                                                    {8, true, polar_precision::int16}}) {
      std::vector<bench::axis> axes{
          {"code", "plain"}, {"k", half.k}, {"e", half.coded_bits}, {"list", list}, {"algorithm", "min_sum"}};
      if (adaptive) axes.emplace_back("adaptive", "yes");
      axes.emplace_back("precision", precision == polar_precision::int16 ? "int16" : "int8");
      bench::add("polar", device, axes, in_place,
                 decode(half, {.list_size = list, .adaptive = adaptive, .precision = precision}, 2.5,
                        batch / (list > 8 ? 4 : 1)));
    }
    // What papers measure on CPUs: 2048 bits, of which 1723 are information bits.
    const auto add_2048 = [&](int list, bool adaptive, bool growing, polar_precision precision,
                              double ebn0_db) {
      const polar_config code{
          .kind = general, .k = adaptive ? 1699 : 1723, .coded_bits = 2048, .crc_bits = adaptive ? 24 : 0};
      std::vector<bench::axis> axes{{"code", "general"},
                                    {"k", code.k},
                                    {"e", code.coded_bits},
                                    {"list", list},
                                    {"algorithm", "min_sum"}};
      if (adaptive) axes.emplace_back("adaptive", growing ? "growing" : "yes");
      if (precision == polar_precision::int16) axes.emplace_back("precision", "int16");
      bench::add(
          "polar", device, axes, in_place,
          decode(code, {.list_size = list, .adaptive = adaptive, .growing = growing, .precision = precision},
                 ebn0_db, bench::batch_for(device, 256, 132 * 64)));
    };
    for (const polar_precision precision : {polar_precision::float32, polar_precision::int16}) {
      for (const int list : {1, 8, 32}) add_2048(list, false, false, precision, 4.5);
      for (const int list : {8, 32}) add_2048(list, true, false, precision, 4.5);
      add_2048(32, true, true, precision, 4.5);
    }
    add("uci", {.kind = uci, .k = 64, .coded_bits = 128}, 8, polar_algorithm::min_sum, 3.5, in_place,
        batch * 4);
    add("dci", {.kind = dci, .k = 40, .coded_bits = 432}, 8, polar_algorithm::min_sum, 3.5, in_place, batch);
    add("plain", half, 8, polar_algorithm::min_sum, 2.5, {figure::small}, 16);
    bench::add("polar_encode", device, {{"code", "plain"}, {"k", 245}, {"e", 512}}, in_place,
               encode(half, batch));
    bench::add("polar_encode", device, {{"code", "dci"}, {"k", 40}, {"e", 432}}, in_place,
               encode({.kind = dci, .k = 40, .coded_bits = 432}, batch));
  }
}};

}  // namespace
