#include <warpband/link/regroup/regroup.hpp>

#include <warpband/core/check.hpp>

namespace wb {

WB_DECLARE_KERNEL(regroup)

namespace {

/// Side by side, or a view that is not what this moves.
template <class T>
void check_rows(const char* argument, const view<T>& v, std::size_t items, std::size_t elements) {
  check_shape(argument, v, items, elements);
  if (v.element_stride != 1 || (items > 1 && v.item_stride != elements))
    throw shape_error(argument, "a view with strides", "rows side by side");
}

}  // namespace

void regroup(executor& exec, view<const float> in, view<float> out, int rows, int columns, int width) {
  check_range("rows", rows, 1, 1 << 24);
  check_range("columns", columns, 1, 1 << 24);
  check_range("width", width, 1, 64);
  check_range("rows", rows, 1, INT32_MAX / width);
  const std::size_t cells =
      static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) * static_cast<std::size_t>(width);
  check_rows("in", in, in.items, cells);
  check_rows("out", out, in.items, cells);
  const regroup_args a{rows, columns, width, in.data, out.data};
  exec.run(regroup_kernels(), &a, in.items * static_cast<std::size_t>(columns));
}

void regroup(executor& exec, view<const std::complex<float>> in, view<std::complex<float>> out, int rows,
             int columns) {
  const auto halves = [](const auto& v, auto* data) { return make_view(data, v.items, 2 * v.elements); };
  check_rows("in", in, in.items, in.elements);
  check_rows("out", out, in.items, in.elements);
  regroup(exec, view<const float>(halves(in, reinterpret_cast<const float*>(in.data))),
          halves(out, reinterpret_cast<float*>(out.data)), rows, columns, 2);
}

}  // namespace wb
