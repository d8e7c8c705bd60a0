#include <bench/bench.hpp>
#include <bench/noise.hpp>
#include <warpband/fec/short_block/short_block.hpp>

namespace {

using namespace wb;
using bench::figure;

const bench::group short_block_benches{[] {
  for (const std::string& device : bench::devices())
    for (const short_block_config& c :
         {short_block_config{.k = 4, .coded_bits = 32}, short_block_config{.k = 11, .coded_bits = 32}})
      bench::add("short_block", device, {{"k", c.k}, {"e", c.coded_bits}}, {figure::kernel, figure::resident},
                 [c, items = bench::batch_for(device, 4096, 132 * 4096)](executor& exec, figure) {
                   const auto k = static_cast<std::size_t>(c.k), e = static_cast<std::size_t>(c.coded_bits);
                   auto llr = exec.make<float>(items, e);
                   auto bits = exec.make<std::uint8_t>(items, k);
                   bench::fill_llrs(exec, llr, static_cast<double>(k) / static_cast<double>(e), 5);
                   exec.sync();
                   return bench::job(
                       static_cast<double>(items), static_cast<double>(k * items),
                       [&exec, decoder = short_block_decoder(c), llr = std::move(llr),
                        bits = std::move(bits)]() mutable { decoder.run(exec, llr, {.bits = bits}); });
                 });
}};

}  // namespace
