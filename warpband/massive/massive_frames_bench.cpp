// The frames of the thesis' tables 5.1 to 5.3 and figures 5.1 and 5.2 (docs/li-thesis.md), by this library;
// with WARPBAND_PEERS bench/peers/ has the same ones by others.
#include <bench/frames.hpp>

namespace {

using namespace wb;
using bench::figure;

const bench::group massive_frame_benches{[] {
  for (const std::string& device : bench::devices())
    for (const auto& [shape, figures] : bench::thesis_frames(device)) {
      std::vector<figure> chosen = figures;
      // Symbols that are copies of one another need no copies here: they share an estimate.
      if (shape.per_vector)
        std::erase_if(chosen, [](figure f) { return f == figure::sync || f == figure::host_fed; });
      bench::add_frames(device, shape, "warpband", chosen, false, bench::warpband_design);
    }
  for (const std::string& device : bench::devices())
    for (const auto& frames : {bench::half_frames(device), bench::split_frames(device)})
      for (const auto& [shape, figures] : frames)
        bench::add_frames(device, shape, "warpband", figures, false, bench::warpband_design);
}};

}  // namespace
