#include <warpband/link/frame_runner.hpp>

#include <string>

#include <warpband/core/decimal.hpp>
#include <warpband/core/error.hpp>

namespace wb {

void frame_runner::check_run(std::size_t frames, double point_db) const {
  if (frames > max_batch())
    throw argument_error("frames", std::to_string(frames),
                         "at most max_batch = " + std::to_string(max_batch()));
  if (config().axis == snr_axis::probability && !(point_db >= 0 && point_db <= 1))
    throw argument_error("probability", decimal(point_db), "0 to 1");
  if (!(point_db >= -100 && point_db <= 100))
    throw argument_error(name_of(config().axis), decimal(point_db), "-100 to 100 dB");
}

}  // namespace wb
