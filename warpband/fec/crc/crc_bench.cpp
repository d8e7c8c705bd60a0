#include <bench/bench.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/link/source/source.hpp>

namespace {

using namespace wb;
using bench::figure;

const bench::group crc_benches{[] {
  for (const std::string& device : bench::devices())
    bench::add("crc_attach", device, {{"crc", "crc24a"}, {"k", 6144}}, {figure::kernel, figure::resident},
               [items = bench::batch_for(device, 64, 132 * 512)](executor& exec, figure) {
                 auto bits = exec.make<std::uint8_t>(items, 6144);
                 random_bits(exec, bits, 6144, {.seed = 1});
                 exec.sync();
                 return bench::job(static_cast<double>(items), 6144.0 * static_cast<double>(items),
                                   [&exec, attacher = crc_attacher(6144 - 24, crc24a),
                                    bits = std::move(bits)]() mutable { attacher.run(exec, bits); });
               });
}};

}  // namespace
