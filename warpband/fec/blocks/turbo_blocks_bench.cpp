// Single code blocks of LTE, from the call that reads a caller's memory to the end of the one that writes it.
#include <vector>

#include <bench/bench.hpp>
#include <bench/noise.hpp>
#include <warpband/core/as_size.hpp>
#include <warpband/fec/blocks/turbo_blocks.hpp>

namespace {

using namespace wb;
using bench::figure;

/// All iterations, and the CRC looked at after the last.
bench::maker decode_turbo(int k, int count) {
  return [=](executor& exec, figure) {
    const std::size_t n = 3 * ((as_size(k) + 4 + 31) / 32 * 32), blocks = as_size(count);
    auto made = bench::make_llrs<std::int8_t>(exec, n, blocks, 1 / 3., 0.5, 8.f);
    std::vector<std::int8_t> llr = exec.to_host(made);
    std::vector<std::uint8_t> bits(blocks * as_size(k) / 8);
    std::vector<turbo_decode_block> list(blocks);
    for (std::size_t i = 0; i < blocks; i++) {
      list[i].k = k;
      list[i].llr = {.data = llr.data() + i * n, .count = n};
      list[i].early_stop = false;
      list[i].crc = crc24b;
      list[i].bits = {bits.data() + i * as_size(k) / 8, as_size(k) / 8};
    }
    return bench::job(
        static_cast<double>(count), static_cast<double>(k) * count,
        [&exec, llr = std::move(llr), bits = std::move(bits), list = std::move(list),
         results = std::vector<block_result>(blocks), decoder = turbo_block_decoder()]() mutable {
          decoder.start(exec, list);
          decoder.finish(results);
        });
  };
}

/// Rate 1/2 with CRC-24B.
bench::maker encode_turbo(int k, int count) {
  return [=](executor& exec, figure) {
    const std::size_t blocks = as_size(count), bytes = as_size(k) / 8;
    std::vector<std::uint8_t> bits(blocks * bytes, 0x5A), out(2 * blocks * bytes);
    std::vector<turbo_encode_block> list(blocks);
    for (std::size_t i = 0; i < blocks; i++) {
      list[i].k = k;
      list[i].bits = {bits.data() + i * bytes, bytes};
      list[i].crc = crc24b;
      list[i].sent_bits = 2 * k;
      list[i].first = lte_first_place(k, 0, 0);
      list[i].out = {out.data() + 2 * i * bytes, 2 * bytes};
    }
    return bench::job(
        static_cast<double>(count), static_cast<double>(k) * count,
        [&exec, bits = std::move(bits), out = std::move(out), list = std::move(list),
         results = std::vector<block_result>(blocks), encoder = turbo_block_encoder()]() mutable {
          encoder.start(exec, list);
          encoder.finish(results);
        });
  };
}

const bench::group turbo_block_benches{[] {
  for (const std::string& device : bench::devices())
    for (const int blocks : {1, 8, 64}) {
      bench::add("turbo_blocks_decode", device, {{"k", 6144}, {"iterations", 8}, {"blocks", blocks}},
                 {figure::small}, decode_turbo(6144, blocks));
      bench::add("turbo_blocks_encode", device, {{"k", 6144}, {"sent_bits", 12288}, {"blocks", blocks}},
                 {figure::small}, encode_turbo(6144, blocks));
    }
}};

}  // namespace
