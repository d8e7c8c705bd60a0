// The LTE transport channel: rate matching of code blocks each way, punctured and repeated, first and later
// transmissions; whole transport blocks each way.
#include <bench/bench.hpp>
#include <bench/noise.hpp>
#include <warpband/fec/lte/rate_matching.hpp>
#include <warpband/fec/lte/transport.hpp>
#include <warpband/link/source/source.hpp>

namespace {

using namespace wb;
using bench::figure;

/// Rated by the bits sent.
bench::maker match(lte_rate_matching_config config, std::size_t batch) {
  return [=](executor& exec, figure) {
    const std::size_t n = 3 * (static_cast<std::size_t>(config.k) + 4),
                      e = static_cast<std::size_t>(config.sent_bits);
    auto coded = exec.make<std::uint8_t>(batch, n), out = exec.make<std::uint8_t>(batch, e);
    random_bits(exec, coded, static_cast<int>(n), {.seed = 1});
    exec.sync();
    return bench::job(static_cast<double>(batch), static_cast<double>(e * batch),
                      [&exec, matcher = lte_rate_matcher(config), coded = std::move(coded),
                       out = std::move(out)]() mutable { matcher.match(exec, coded, 0, out); });
  };
}
bench::maker combine(lte_rate_matching_config config, bool first, std::size_t batch) {
  return [=](executor& exec, figure) {
    const std::size_t n = 3 * (static_cast<std::size_t>(config.k) + 4),
                      e = static_cast<std::size_t>(config.sent_bits);
    auto llr = exec.make<float>(batch, e), soft = exec.make<float>(batch, n);
    bench::fill_llrs(exec, llr, 0.5);
    lte_rate_matcher matcher(config);
    matcher.combine(exec, llr, 0, true, soft);
    exec.sync();
    return bench::job(static_cast<double>(batch), static_cast<double>(e * batch),
                      [&exec, first, matcher, llr = std::move(llr), soft = std::move(soft)]() mutable {
                        matcher.combine(exec, llr, 0, first, soft);
                      });
  };
}

/// Rated by the bits of the transport block.
bench::maker encode(lte_transport_config config, std::size_t batch) {
  return [=](executor& exec, figure) {
    const std::size_t a = static_cast<std::size_t>(config.transport_bits);
    auto bits = exec.make<std::uint8_t>(batch, a),
         coded = exec.make<std::uint8_t>(batch, static_cast<std::size_t>(config.coded_bits));
    random_bits(exec, bits, config.transport_bits, {.seed = 1});
    exec.sync();
    return bench::job(static_cast<double>(batch), static_cast<double>(a * batch),
                      [&exec, encoder = lte_transport_encoder(config), bits = std::move(bits),
                       coded = std::move(coded)]() mutable { encoder.run(exec, bits, 0, coded); });
  };
}
/// One transmission and its decoding, with all iterations.
bench::maker decode(lte_transport_config config, std::size_t batch) {
  return [=](executor& exec, figure) {
    const std::size_t a = static_cast<std::size_t>(config.transport_bits);
    auto llr = exec.make<float>(batch, static_cast<std::size_t>(config.coded_bits));
    auto bits = exec.make<std::uint8_t>(batch, a), ok = exec.make<std::uint8_t>(batch, 1);
    bench::fill_llrs(exec, llr, static_cast<double>(config.transport_bits) / config.coded_bits, 1.5);
    return bench::job(static_cast<double>(batch), static_cast<double>(a * batch),
                      [&exec, decoder = lte_transport_decoder(config), llr = std::move(llr),
                       bits = std::move(bits), ok = std::move(ok)]() mutable {
                        decoder.reset();
                        decoder.combine(exec, llr, 0);
                        decoder.decode(exec, {.bits = bits, .ok = ok});
                      });
  };
}

const bench::group lte_benches{[] {
  const std::vector<figure> figures{figure::kernel, figure::resident};
  for (const std::string& device : bench::devices()) {
    const std::size_t many = bench::batch_for(device, 64, 132 * 16);
    for (const int sent : {8192, 12288, 36864}) {  // rates 3/4, 1/2 and 1/6
      const lte_rate_matching_config config{.k = 6144, .sent_bits = sent};
      bench::add("lte_rate_match", device, {{"k", 6144}, {"sent_bits", sent}}, figures, match(config, many));
      for (const bool first : {true, false})
        bench::add("lte_combine", device,
                   {{"k", 6144}, {"sent_bits", sent}, {"transmission", first ? "first" : "later"}}, figures,
                   combine(config, first, many));
    }
    for (const int a : {1000, 75376}) {
      const lte_transport_config config{
          .transport_bits = a,
          .coded_bits = 2 * (a + 24),
          .modulation_order = 4,
          .turbo = with_usual_scale({.algorithm = map_algorithm::max_log_map, .iterations = 6})};
      const std::size_t batch = many * 6144 / static_cast<std::size_t>(a);
      bench::add("lte_transport_encode", device, {{"transport_bits", a}}, figures, encode(config, batch));
      bench::add("lte_transport_decode", device, {{"transport_bits", a}, {"iterations", 6}}, figures,
                 decode(config, batch));
    }
    bench::add("lte_transport_decode", device, {{"transport_bits", 75376}, {"iterations", 6}, {"blocks", 1}},
               {figure::small},
               decode({.transport_bits = 75376,
                       .coded_bits = 150800,
                       .modulation_order = 4,
                       .turbo = with_usual_scale({.algorithm = map_algorithm::max_log_map})},
                      1));
  }
}};

}  // namespace
