#include <bench/bench.hpp>
#include <warpband/fec/bch/bch.hpp>
#include <warpband/link/source/source.hpp>

namespace {

using namespace wb;
using bench::figure;

/// Words without errors, as nearly all are behind an LDPC decoder.
const bench::group bch_benches{[] {
  for (const std::string& device : bench::devices())
    bench::add("bch", device, {{"n", 32400}, {"t", 12}}, {figure::kernel, figure::resident},
               [items = bench::batch_for(device, 32, 132 * 16)](executor& exec, figure) {
                 const bch_code code({.field_degree = 16, .corrects = 12, .n = 32400});
                 const auto n = static_cast<std::size_t>(code.n()), k = static_cast<std::size_t>(code.k());
                 auto sent = exec.make<std::uint8_t>(items, k), decided = exec.make<std::uint8_t>(items, k),
                      words = exec.make<std::uint8_t>(items, n);
                 random_bits(exec, sent, code.k(), {.seed = 1});
                 bch_encoder(code).run(exec, sent, words);
                 exec.sync();
                 return bench::job(static_cast<double>(items), static_cast<double>(k * items),
                                   [&exec, decoder = bch_decoder(code), words = std::move(words),
                                    decided = std::move(decided)]() mutable {
                                     decoder.run(exec, words, {.bits = decided});
                                   });
               });
}};

}  // namespace
