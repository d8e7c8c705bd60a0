// SS/PBCH blocks to their MIB. Items are blocks, in noise of 0 dB.
#include <bench/bench.hpp>
#include <complex>
#include <vector>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/nr/pbch/pbch.hpp>

namespace {

using namespace wb;
using bench::figure;

bench::maker decode_ssb(int list_size) {
  return [=](executor& exec, figure) {
    constexpr std::size_t blocks = 2048, values = 960 * blocks;
    const pbch_decoder d({.list_size = list_size});
    std::vector<nr_ssb_content> contents(blocks);
    std::vector<int> cells(blocks);
    for (std::size_t i = 0; i < blocks; i++) {
      contents[i].sfn = static_cast<int>(i % 1024);
      cells[i] = static_cast<int>(i % 1008);
    }
    auto grids = exec.make<std::complex<float>>(blocks, 960);
    pbch_encoder({}).run(exec, contents, cells, grids);
    const view<std::complex<float>> elements = make_view(grids.data(), values);
    add_awgn(exec, elements, elements, 1.f, {.seed = 1});
    exec.sync();
    return bench::job(static_cast<double>(blocks), 0,
                      [&exec, d, cells, grids = std::move(grids)]() mutable { d.run(exec, grids, cells); });
  };
}

const bench::group pbch_benches{[] {
  for (const std::string& device : bench::devices())
    for (const int list_size : {1, 8})
      bench::add("pbch", device, {{"list_size", list_size}}, {figure::small}, decode_ssb(list_size));
}};

}  // namespace
