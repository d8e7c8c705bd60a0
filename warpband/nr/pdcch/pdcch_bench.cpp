// PDCCH candidates to their DCI. Items are candidates, in noise of 0 dB.
#include <bench/bench.hpp>
#include <complex>
#include <vector>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/nr/pdcch/pdcch.hpp>

namespace {

using namespace wb;
using bench::figure;

bench::maker decode_pdcch(int level, int list_size) {
  return [=](executor& exec, figure) {
    constexpr std::size_t grids = 1024;
    const pdcch_config c{.blocks = 48, .symbols = 2, .level = level};
    const pdcch_decoder d({.channel = c, .list_size = list_size});
    std::vector<nr_pdcch_candidate> candidates;
    std::vector<int> slots, cces(grids, 0);
    for (std::size_t i = 0; i < grids; i++) {
      slots.push_back(static_cast<int>(i % 20));
      for (int first = 0; first < c.cces(); first += level)
        candidates.push_back({static_cast<int>(i), slots.back(), first});
    }
    auto bits = exec.make<std::uint8_t>(grids, static_cast<std::size_t>(c.dci_bits));
    exec.fill(bits.data(), 0, bits.size());
    auto values = exec.make<std::complex<float>>(grids, c.elements());
    pdcch_encoder(c).run(exec, bits, slots, cces, values);
    const view<std::complex<float>> elements = make_view(values.data(), grids * c.elements());
    add_awgn(exec, elements, elements, 1.f, {.seed = 1});
    exec.sync();
    return bench::job(
        static_cast<double>(candidates.size()), 0,
        [&exec, d, candidates, values = std::move(values)]() mutable { d.run(exec, values, candidates); });
  };
}

const bench::group pdcch_benches{[] {
  for (const std::string& device : bench::devices())
    for (const int level : {4, 16})
      for (const int list_size : {1, 8})
        bench::add("pdcch", device, {{"level", level}, {"list_size", list_size}}, {figure::small},
                   decode_pdcch(level, list_size));
}};

}  // namespace
