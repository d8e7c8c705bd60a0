#include <warpband/linalg/qr/qr.hpp>

#include <type_traits>

#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>

namespace wb {

WB_DECLARE_KERNEL(qr)
WB_DECLARE_KERNEL(real_qr)

namespace {

view<const cx_pair> as_stored(view<const std::complex<float>> v) { return as_pairs(v); }
view<cx_pair> as_stored(view<std::complex<float>> v) { return as_pairs(v); }
view<const float> as_stored(view<const float> v) { return v; }
view<float> as_stored(view<float> v) { return v; }

/// Writes the order of the columns: `order`, or from `first` on cyclically.
void set_order(std::int32_t (&to)[qr_args<float>::max_columns], int columns, int first,
               std::span<const int> order) {
  check_range("first", first, 0, columns - 1);
  if (order.empty()) {
    for (int k = 0; k < columns; k++) to[k] = (first + k) % columns;
    return;
  }
  if (first != 0) throw argument_error("first", std::to_string(first), "0 where an order is given");
  std::string text;
  bool seen[qr_args<float>::max_columns] = {}, good = order.size() == static_cast<std::size_t>(columns);
  for (const int c : order) {
    text += (text.empty() ? "" : " ") + std::to_string(c);
    good = good && c >= 0 && c < columns && !seen[c];
    if (good) seen[c] = true;
  }
  if (!good) throw argument_error("order", text, "each of 0 to " + std::to_string(columns - 1) + " once");
  for (int k = 0; k < columns; k++) to[k] = order[static_cast<std::size_t>(k)];
}

}  // namespace

template <class E>
basic_qr_decomposition<E>::basic_qr_decomposition(const qr_config& config) : config_(config) {
  check_range("columns", config.columns, 1, std::is_same_v<E, float> ? 16 : 8);
  check_range("rows", config.rows, config.columns, 16);
  if (config.method != qr_method::gram_schmidt && config.method != qr_method::householder &&
      config.method != qr_method::cholesky)
    throw argument_error("method", std::to_string(static_cast<int>(config.method)),
                         "gram_schmidt, householder or cholesky");
}

template <class E>
void basic_qr_decomposition<E>::run(executor& exec, const qr_input<E>& in, const qr_output<E>& out) const {
  constexpr bool real = std::is_same_v<E, float>;
  const std::size_t items = in.h.items, m = static_cast<std::size_t>(config_.rows),
                    n = static_cast<std::size_t>(config_.columns);
  check_shape("h", in.h, items, m * n);
  check_optional_shape("y", in.y, items, m);
  check_shape("r", out.r, items, n * n);
  check_optional_shape("q", out.q, items, m * n);
  check_optional_shape("z", out.z, items, n);
  check_optional_shape("status", out.status, items, 1);
  check_apart({{"r", out.r}, {"q", out.q}, {"z", out.z}, {"status", out.status}});
  if (out.q.data != nullptr && config_.method == qr_method::cholesky)
    throw argument_error("q", "given", "none: method cholesky has no Q");
  if (out.z.data != nullptr && in.y.data == nullptr)
    throw argument_error("z", "given", "none without a right side y");

  qr_args<std::conditional_t<real, float, cx_pair>> args;
  args.rows = config_.rows;
  args.columns = config_.columns;
  args.method = config_.method;
  set_order(args.order, config_.columns, in.first, in.order);
  args.h = as_stored(in.h);
  args.y = as_stored(in.y);
  args.r = as_stored(out.r);
  args.q = as_stored(out.q);
  args.z = as_stored(out.z);
  args.status = out.status;
  exec.run(real ? real_qr_kernels() : qr_kernels(), &args, items);
}

template class basic_qr_decomposition<std::complex<float>>;
template class basic_qr_decomposition<float>;

}  // namespace wb
