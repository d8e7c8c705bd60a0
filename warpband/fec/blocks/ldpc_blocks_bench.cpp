// Single LDPC code blocks, from the caller's int8 LLRs to packed bits and back: what a batch of 1 to 64
// blocks takes from start to finish. The decoder does 10 iterations without early stop; Mb/s are information
// bits.
#include <bench/bench.hpp>
#include <random>
#include <warpband/fec/blocks/ldpc_blocks.hpp>

namespace {

using namespace wb;
using bench::figure;

constexpr int bits_of_block = 22 * 384, iterations = 10, order = 6;

/// E with which a block needs so many rows.
ldpc_block_shape shape_of(int rows) {
  ldpc_block_shape s;
  s.modulation_order = order;
  s.sent_bits = (22 - 2 + rows) * 384 / order * order;
  return s;
}

bench::maker decode(int rows, int count, bool early_stop) {
  return [=](executor& exec, figure) {
    const ldpc_block_shape shape = shape_of(rows);
    std::mt19937 rng(1);
    std::normal_distribution<float> normal(0, early_stop ? 6.5f : 8.f);
    std::vector<std::int8_t> llr(static_cast<std::size_t>(shape.sent_bits * count));
    for (auto& x : llr) x = static_cast<std::int8_t>(10 + normal(rng));
    std::vector<std::uint8_t> bits(static_cast<std::size_t>(bits_of_block / 8 * count));
    std::vector<ldpc_decode_block> blocks(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < blocks.size(); i++) {
      ldpc_decode_block& b = blocks[i];
      b.shape = shape;
      const auto sent = static_cast<std::size_t>(shape.sent_bits);
      b.llr = {.data = llr.data() + i * sent, .count = sent};
      b.iterations = iterations;
      b.early_stop = early_stop;
      b.crc = crc24b;
      b.bits = {bits.data() + i * (bits_of_block / 8), bits_of_block / 8};
    }
    return bench::job(count, static_cast<double>(bits_of_block) * count,
                      [&exec, decoder = ldpc_block_decoder(), llr = std::move(llr), bits = std::move(bits),
                       blocks = std::move(blocks),
                       results = std::vector<block_result>(static_cast<std::size_t>(count))]() mutable {
                        decoder.start(exec, blocks);
                        decoder.finish(results);
                      });
  };
}

bench::maker encode(int rows, int count) {
  return [=](executor& exec, figure) {
    const ldpc_block_shape shape = shape_of(rows);
    std::mt19937 rng(1);
    std::vector<std::uint8_t> in(static_cast<std::size_t>(bits_of_block / 8 * count));
    for (auto& x : in) x = static_cast<std::uint8_t>(rng());
    const auto out_bytes = static_cast<std::size_t>((shape.sent_bits + 7) / 8);
    std::vector<std::uint8_t> out(out_bytes * static_cast<std::size_t>(count));
    std::vector<ldpc_encode_block> blocks(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < blocks.size(); i++) {
      ldpc_encode_block& b = blocks[i];
      b.shape = shape;
      b.bits = {in.data() + i * (bits_of_block / 8), bits_of_block / 8};
      b.crc = crc24b;
      b.out = {out.data() + i * out_bytes, out_bytes};
    }
    return bench::job(count, static_cast<double>(bits_of_block) * count,
                      [&exec, encoder = ldpc_block_encoder(), in = std::move(in), out = std::move(out),
                       blocks = std::move(blocks),
                       results = std::vector<block_result>(static_cast<std::size_t>(count))]() mutable {
                        encoder.start(exec, blocks);
                        encoder.finish(results);
                      });
  };
}

const bench::group block_benches{[] {
  for (const std::string& device : bench::devices())
    for (const int rows : {8, 46})
      for (const int count : {1, 8, 64}) {
        const std::vector<bench::axis> axes{{"k", bits_of_block}, {"rows", rows}, {"blocks", count}};
        bench::add("ldpc_block_decode", device, axes, {figure::small}, decode(rows, count, false));
        bench::add("ldpc_block_encode", device, axes, {figure::small}, encode(rows, count));
      }
  // A slot of 273 resource blocks, 4 layers, 64-QAM.
  for (const std::string& device : bench::devices())
    bench::add("ldpc_block_decode", device,
               {{"k", bits_of_block}, {"rows", 22}, {"blocks", 63}, {"early_stop", "crc"}}, {figure::small},
               decode(22, 63, true));
}};

}  // namespace
