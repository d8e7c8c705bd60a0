// A whole link, as `warpband sim` runs it: random bits, turbo code, BPSK, AWGN, demapper, decoder, counts.
// Mb/s are information bits.
#include <bench/bench.hpp>
#include <memory>
#include <tests/codes.hpp>
#include <warpband/link/chain.hpp>

namespace {

using namespace wb;
using bench::figure;

const bench::group link_benches{[] {
  for (const std::string& device : bench::devices())
    for (const auto algorithm : {map_algorithm::max_log_map, map_algorithm::log_map}) {
      const bool exact = algorithm == map_algorithm::log_map;
      bench::add("link", device,
                 {{"k", 6144}, {"map", exact ? "log_map" : "max_log_map"}, {"iterations", 6}, {"points", 2}},
                 {figure::resident},
                 [=, max_batch = bench::batch_for(device, 32, SIZE_MAX)](executor& exec, figure) {
                   link_config config;
                   testing::turbo_decoder_in(config.code) = with_usual_scale({.algorithm = algorithm});
                   auto chain = std::make_unique<link_chain>(config, exec, max_batch);
                   const std::size_t frames = chain->max_batch();
                   return bench::job(static_cast<double>(frames), 6144.0 * static_cast<double>(frames),
                                     [=, chain = std::move(chain)] { chain->run(0, frames, 0.5); });
                 });
    }
}};

}  // namespace
