// 5G NR. The LDPC decoder at fixed iterations on the rows that a rate needs. Rate matching and soft combining
// of code blocks. Whole transport blocks each way. Mb/s are information bits, of rate matching sent bits.
#include <bench/bench.hpp>
#include <bench/noise.hpp>
#include <warpband/fec/nr/tbs.hpp>
#include <warpband/fec/nr/transport.hpp>
#include <warpband/link/source/source.hpp>

namespace {

using namespace wb;
using bench::figure;

bench::maker decode_blocks(const ldpc_code& code, const ldpc_decoder_config& config, std::size_t batch) {
  return [=](executor& exec, figure) {
    const std::size_t k = static_cast<std::size_t>(code.k()), n = static_cast<std::size_t>(code.n());
    auto llr = exec.make<float>(batch, n);
    auto bits = exec.make<std::uint8_t>(batch, k);
    bench::fill_llrs(exec, llr, static_cast<double>(code.k()) / code.n(), 2.);
    return bench::job(static_cast<double>(batch), static_cast<double>(k * batch),
                      [&exec, decoder = ldpc_decoder(code, config), llr = std::move(llr),
                       bits = std::move(bits)]() mutable { decoder.run(exec, llr, {.bits = bits}); });
  };
}
bench::maker encode_blocks(const ldpc_code& code, std::size_t batch) {
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
bench::maker match(const nr_rate_matching_config& config, std::size_t batch) {
  return [=](executor& exec, figure) {
    const nr_rate_matcher matcher(config);
    const std::size_t n = static_cast<std::size_t>(matcher.block().codeword()),
                      e = static_cast<std::size_t>(config.sent_bits);
    auto coded = exec.make<std::uint8_t>(batch, n), out = exec.make<std::uint8_t>(batch, e);
    random_bits(exec, coded, static_cast<int>(n), {.seed = 1});
    exec.sync();
    return bench::job(static_cast<double>(batch), static_cast<double>(e * batch),
                      [&exec, matcher, coded = std::move(coded), out = std::move(out)]() mutable {
                        matcher.match(exec, coded, 0, out);
                      });
  };
}
bench::maker combine(const nr_rate_matching_config& config, bool first, std::size_t batch) {
  return [=](executor& exec, figure) {
    const nr_rate_matcher matcher(config);
    const std::size_t n = static_cast<std::size_t>(matcher.block().codeword()),
                      e = static_cast<std::size_t>(config.sent_bits);
    auto llr = exec.make<float>(batch, e), soft = exec.make<float>(batch, n);
    bench::fill_llrs(exec, llr, 0.5);
    matcher.combine(exec, llr, 0, true, soft);
    exec.sync();
    return bench::job(static_cast<double>(batch), static_cast<double>(e * batch),
                      [&exec, first, matcher, llr = std::move(llr), soft = std::move(soft)]() mutable {
                        matcher.combine(exec, llr, 0, first, soft);
                      });
  };
}
bench::maker encode(const nr_transport_config& config, std::size_t batch) {
  return [=](executor& exec, figure) {
    const std::size_t a = static_cast<std::size_t>(config.transport_bits);
    auto bits = exec.make<std::uint8_t>(batch, a),
         coded = exec.make<std::uint8_t>(batch, static_cast<std::size_t>(config.coded_bits));
    random_bits(exec, bits, config.transport_bits, {.seed = 1});
    exec.sync();
    return bench::job(static_cast<double>(batch), static_cast<double>(a * batch),
                      [&exec, encoder = nr_transport_encoder(config), bits = std::move(bits),
                       coded = std::move(coded)]() mutable { encoder.run(exec, bits, 0, coded); });
  };
}
/// One transmission and its decoding, with all iterations.
bench::maker decode(const nr_transport_config& config, std::size_t batch) {
  return [=](executor& exec, figure) {
    const std::size_t a = static_cast<std::size_t>(config.transport_bits);
    auto llr = exec.make<float>(batch, static_cast<std::size_t>(config.coded_bits));
    auto bits = exec.make<std::uint8_t>(batch, a), ok = exec.make<std::uint8_t>(batch, 1);
    bench::fill_llrs(exec, llr, static_cast<double>(config.transport_bits) / config.coded_bits, 2.);
    return bench::job(static_cast<double>(batch), static_cast<double>(a * batch),
                      [&exec, decoder = nr_transport_decoder(config), llr = std::move(llr),
                       bits = std::move(bits), ok = std::move(ok)]() mutable {
                        decoder.reset();
                        decoder.combine(exec, llr, 0);
                        decoder.decode(exec, {.bits = bits, .ok = ok});
                      });
  };
}

/// The same of random blocks in so much noise that they need some of their iterations.
bench::maker decode_sent(const nr_transport_config& config, std::size_t batch) {
  return [=](executor& exec, figure) {
    const std::size_t a = static_cast<std::size_t>(config.transport_bits),
                      g = static_cast<std::size_t>(config.coded_bits);
    auto llr = exec.make<float>(batch, g);
    auto bits = exec.make<std::uint8_t>(batch, a), ok = exec.make<std::uint8_t>(batch, 1),
         coded = exec.make<std::uint8_t>(batch, g);
    random_bits(exec, bits, config.transport_bits, {.seed = 1});
    nr_transport_encoder(config).run(exec, bits, 0, coded);
    const auto sent = exec.to_host(coded);
    const double rate = static_cast<double>(a) / static_cast<double>(g);
    bench::fill_llrs(exec, llr, rate, rate > 0.6 ? 7.4 : 5.6);
    auto values = exec.to_host(llr);
    for (std::size_t i = 0; i < values.size(); i++)
      if (sent[i] != 0) values[i] = -values[i];
    exec.upload(llr.data(), values.data(), llr.bytes());
    exec.sync();
    return bench::job(static_cast<double>(batch), static_cast<double>(a * batch),
                      [&exec, decoder = nr_transport_decoder(config), llr = std::move(llr),
                       bits = std::move(bits), ok = std::move(ok)]() mutable {
                        decoder.reset();
                        decoder.combine(exec, llr, 0);
                        decoder.decode(exec, {.bits = bits, .ok = ok});
                      });
  };
}

const bench::group nr_benches{[] {
  const std::vector<figure> figures{figure::kernel, figure::resident};
  const char* precisions[] = {"float32", "float16", "int8"};
  struct benched {
    int base_graph, z, rows, iterations;
  };
  for (const std::string& device : bench::devices()) {
    const std::size_t many = bench::batch_for(device, 16, 132 * 32);
    // BG1 with 8 parity columns, as cuPHY's open kernel is measured; all rows, as published for (26112,
    // 8448).
    for (const benched& c : {benched{1, 384, 8, 10},
                             {1, 384, 46, 5},
                             {1, 96, 22, 10},
                             {2, 384, 42, 10},
                             {2, 52, 20, 10},
                             {2, 15, 20, 10}}) {
      const ldpc_code code = nr_ldpc(c.base_graph, c.z, c.rows);
      const std::size_t batch = many * 384 / static_cast<std::size_t>(c.z);
      const std::vector<bench::axis> axes{{"base_graph", c.base_graph}, {"z", c.z}, {"rows", c.rows}};
      for (const auto precision : {ldpc_precision::float32, ldpc_precision::float16, ldpc_precision::int8}) {
        auto decoder_axes = axes;
        decoder_axes.emplace_back("precision", precisions[static_cast<int>(precision)]);
        decoder_axes.emplace_back("iterations", c.iterations);
        bench::add(
            "nr_ldpc", device, decoder_axes, figures,
            decode_blocks(
                code,
                {.iterations = c.iterations, .precision = precision, .early_stop = ldpc_early_stop::none},
                batch));
      }
      bench::add("nr_ldpc_encode", device, axes, figures, encode_blocks(code, batch));
    }
    for (const int sent : {9936, 16896, 33792}) {  // rates 0.85, 1/2 and 1/4, which repeats
      const nr_rate_matching_config config{.sent_bits = sent, .modulation_order = 6};
      bench::add("nr_rate_match", device, {{"k", 8448}, {"sent_bits", sent}}, figures, match(config, many));
      for (const bool first : {true, false})
        bench::add("nr_combine", device,
                   {{"k", 8448}, {"sent_bits", sent}, {"transmission", first ? "first" : "later"}}, figures,
                   combine(config, first, many));
    }
    // 273 resource blocks, 4 layers, 256-QAM of rate 0.78; and 25 resource blocks of QPSK.
    for (const auto& [elements, mcs, layers] :
         {std::tuple{39312, nr_mcs_of(2, 23), 4}, {3600, nr_mcs_of(1, 4), 1}}) {
      const int a = nr_transport_block_size(elements, mcs, layers);
      const nr_transport_config config{
          .transport_bits = a,
          .coded_bits = elements * mcs.modulation_order * layers,
          .modulation_order = mcs.modulation_order,
          .layers = layers,
          .code_rate = mcs.code_rate(),
          .scrambling = 1,
          .ldpc = {.iterations = 8,
                   .precision = device == "cpu" ? ldpc_precision::int8 : ldpc_precision::float16,
                   .early_stop = ldpc_early_stop::none}};
      const std::size_t batch = std::max<std::size_t>(1, many * 8448 / static_cast<std::size_t>(a));
      bench::add("nr_transport_encode", device, {{"transport_bits", a}}, figures, encode(config, batch));
      bench::add("nr_transport_decode", device, {{"transport_bits", a}, {"iterations", 8}}, figures,
                 decode(config, batch));
      for (const bool crc : {false, true}) {
        nr_transport_config stops = config;
        stops.ldpc.early_stop = crc ? ldpc_early_stop::crc : ldpc_early_stop::syndrome;
        bench::add("nr_transport_decode", device,
                   {{"transport_bits", a}, {"iterations", 8}, {"early_stop", crc ? "crc" : "syndrome"}},
                   figures, decode_sent(stops, batch));
      }
    }
  }
}};

}  // namespace
