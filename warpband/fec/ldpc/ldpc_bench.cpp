// LDPC codes. The decoder at a fixed number of iterations, with early stop at a working point, and a single
// codeword for latency; the encoder. Mb/s are information bits.
#include <bench/bench.hpp>
#include <cmath>
#include <complex>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>
#include <warpband/link/source/source.hpp>
#include <warpband/modem/demap/demap.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace {

using namespace wb;
using bench::figure;

/// Random codewords over BPSK and AWGN. With early stop they say how long decoding takes.
void fill_llrs(executor& exec, const ldpc_code& code, double ebn0_db, array<float>& llr) {
  const std::size_t n = static_cast<std::size_t>(code.n()), k = static_cast<std::size_t>(code.k()),
                    batch = llr.items();
  auto bits = exec.make<std::uint8_t>(batch, k), coded = exec.make<std::uint8_t>(batch, n);
  random_bits(exec, bits, code.k(), {.seed = 1});
  ldpc_encoder(code).run(exec, bits, coded);
  auto symbols = exec.make<std::complex<float>>(llr.size(), 1);
  qam_mapper(2).run(exec, make_view(std::as_const(coded).data(), llr.size(), 1), symbols);
  const double rate = static_cast<double>(code.k()) / code.n();
  const float n0 = static_cast<float>(std::pow(10, -ebn0_db / 10) / rate);
  const auto noise_var = exec.make_from(std::vector<float>{n0});
  add_awgn(exec, symbols, symbols, n0, {.seed = 1});
  demapper(2).run(exec, {{}, symbols, {noise_var.data(), 1, llr.size(), 1, 0}},
                  make_view(llr.data(), llr.size(), 1));
  exec.sync();
}

bench::maker decode(const ldpc_code& code, const ldpc_decoder_config& config, double ebn0_db,
                    std::size_t batch) {
  return [=](executor& exec, figure measured) {
    const bool fed = measured == figure::host_fed;
    const std::size_t k = static_cast<std::size_t>(code.k()), n = static_cast<std::size_t>(code.n());
    auto llr = exec.make<float>(batch, n), host_llr = exec.make_host<float>(batch, fed ? n : 0);
    auto bits = exec.make<std::uint8_t>(batch, k),
         host_bits = exec.make_host<std::uint8_t>(batch, fed ? k : 0);
    fill_llrs(exec, code, ebn0_db, llr);
    if (fed) exec.download(host_llr.data(), llr.data(), llr.bytes());
    exec.sync();
    return bench::job(
        static_cast<double>(batch), static_cast<double>(k * batch),
        [=, &exec, decoder = ldpc_decoder(code, config), llr = std::move(llr), host_llr = std::move(host_llr),
         bits = std::move(bits), host_bits = std::move(host_bits)]() mutable {
          if (fed) exec.upload(llr.data(), host_llr.data(), llr.bytes());
          decoder.run(exec, llr, {.bits = bits});
          if (fed) exec.download(host_bits.data(), bits.data(), bits.bytes());
        });
  };
}

bench::maker encode(const ldpc_code& code, std::size_t batch) {
  return [=](executor& exec, figure) {
    const std::size_t k = static_cast<std::size_t>(code.k()), n = static_cast<std::size_t>(code.n());
    auto bits = exec.make<std::uint8_t>(batch, k), coded = exec.make<std::uint8_t>(batch, n);
    random_bits(exec, bits, code.k(), {.seed = 1});
    exec.sync();
    return bench::job(static_cast<double>(batch), static_cast<double>(k * batch),
                      [&exec, encoder = ldpc_encoder(code), bits = std::move(bits),
                       coded = std::move(coded)]() mutable { encoder.run(exec, bits, coded); });
  };
}

struct benched_code {
  const char *family, *rate;
  ldpc_code code;
  double ebn0_db;  // where a frame in a hundred or fewer is wrong
};

std::vector<bench::axis> axes_of(const benched_code& c) {
  return {{"code", c.family}, {"n", c.code.n()}, {"rate", c.rate}};
}
std::vector<bench::axis> axes_of(const benched_code& c, const ldpc_decoder_config& config) {
  const char* algorithms[] = {"min_sum", "normalised_min_sum", "offset_min_sum", "sum_product"};
  const char* precisions[] = {"float32", "float16", "int8"};
  auto axes = axes_of(c);
  axes.emplace_back("algorithm", algorithms[static_cast<int>(config.algorithm)]);
  axes.emplace_back("precision", precisions[static_cast<int>(config.precision)]);
  axes.emplace_back("schedule", config.schedule == ldpc_schedule::layered ? "layered" : "flooding");
  axes.emplace_back("iterations", config.iterations);
  axes.emplace_back("early_stop", config.early_stop != ldpc_early_stop::none ? "yes" : "no");
  return axes;
}

const bench::group ldpc_benches{[] {
  const benched_code half{"wimax", "1_2", wimax_ldpc(2304, wimax_rate::r1_2), 2.0},
      fast{"wimax", "5_6", wimax_ldpc(2304, wimax_rate::r5_6), 3.6},
      small{"wimax", "5_6", wimax_ldpc(576, wimax_rate::r5_6), 4.5},
      wifi{"wifi", "1_2", wifi_ldpc(1944, wifi_rate::r1_2), 2.0};
  constexpr auto min_sum = ldpc_algorithm::normalised_min_sum, sum_product = ldpc_algorithm::sum_product;
  constexpr auto float32 = ldpc_precision::float32;
  for (const std::string& device : bench::devices()) {
    // As many bits for every code.
    const auto many = [&](const benched_code& c) {
      return bench::batch_for(device, 64, 132 * 160) * 2304 / static_cast<std::size_t>(c.code.n());
    };
    const auto add = [&](const benched_code& c, const ldpc_decoder_config& config,
                         const std::vector<figure>& figures, std::size_t batch) {
      bench::add("ldpc", device, axes_of(c, config), figures, decode(c.code, config, c.ebn0_db, batch));
    };
    const auto setting = [](ldpc_algorithm algorithm, ldpc_precision precision, int iterations, bool stop) {
      return ldpc_decoder_config{.algorithm = algorithm,
                                 .iterations = iterations,
                                 .precision = precision,
                                 .early_stop = stop ? ldpc_early_stop::syndrome : ldpc_early_stop::none};
    };
    for (const benched_code* c : {&half, &fast, &small, &wifi}) {
      for (const auto precision : {float32, ldpc_precision::float16, ldpc_precision::int8}) {
        add(*c, setting(min_sum, precision, 15, false), {figure::kernel, figure::resident}, many(*c));
        add(*c, setting(min_sum, precision, 15, true), {figure::resident}, many(*c));
      }
      add(*c, setting(sum_product, float32, 20, false), {figure::kernel, figure::resident}, many(*c));
      add(*c, setting(sum_product, float32, 20, true), {figure::resident}, many(*c));
      bench::add("ldpc_encode", device, axes_of(*c), {figure::kernel, figure::resident},
                 encode(c->code, many(*c)));
    }
    for (const int iterations : {5, 10})
      add(half, setting(min_sum, float32, iterations, false), {figure::resident}, many(half));
    for (const auto algorithm : {min_sum, sum_product})
      add(half,
          {.algorithm = algorithm,
           .iterations = 15,
           .schedule = ldpc_schedule::flooding,
           .early_stop = ldpc_early_stop::none},
          {figure::resident}, many(half));
    const auto precisions = {float32, ldpc_precision::float16, ldpc_precision::int8};
    for (const auto precision : precisions)
      add(half, setting(min_sum, precision, 15, false), {figure::host_fed}, many(half) / 4);
    for (const int codewords : {1, 10, 100})
      for (const auto precision : precisions) {
        const auto config = setting(min_sum, precision, 15, false);
        auto axes = axes_of(half, config);
        axes.emplace_back("codewords", codewords);
        bench::add("ldpc", device, axes, {figure::small},
                   decode(half.code, config, half.ebn0_db, static_cast<std::size_t>(codewords)));
      }
    auto axes = axes_of(half);
    axes.emplace_back("codewords", 1);
    bench::add("ldpc_encode", device, axes, {figure::small}, encode(half.code, 1));
  }
}};

}  // namespace
