#include <warpband/channel/recorded/recorded.hpp>

#include <warpband/core/check.hpp>

namespace wb {

WB_DECLARE_KERNEL(recorded)

void draw_recorded(executor& exec, view<const std::complex<float>> table, view<std::complex<float>> h,
                   const recorded_frames& frames) {
  constexpr std::size_t limit = std::size_t{1} << 30, most_entries = 1 << 15;
  const auto check_count = [](const char* argument, std::size_t n) {
    if (n < 1 || n > limit) throw argument_error(argument, std::to_string(n), "1 to 2^30");
  };
  check_count("per_frame", frames.per_frame);
  check_count("rows", frames.rows);
  if (table.items == 0 || table.items % frames.rows != 0 || table.elements < 1 ||
      table.elements > most_entries)
    throw shape_error("table", shape_text(table.items, table.elements),
                      "snapshots of " + std::to_string(frames.rows) + " rows of 1 to 32768 entries");
  check_shape("h", h, h.items, table.elements);
  const auto check_packed = [](const char* argument, const auto& v) {
    if (v.element_stride != 1 || (v.items > 1 && v.item_stride != v.elements))
      throw shape_error(argument, "a view with strides", "rows side by side");
  };
  check_packed("table", table);
  check_packed("h", h);
  const recorded_args a{static_cast<int>(2 * table.elements),
                        frames.first,
                        frames.per_frame,
                        frames.rows,
                        table.items / frames.rows,
                        reinterpret_cast<const float*>(table.data),
                        reinterpret_cast<float*>(h.data)};
  exec.run(recorded_kernels(), &a, h.items);
}

}  // namespace wb
