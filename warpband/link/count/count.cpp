#include <warpband/link/count/count.hpp>

#include <warpband/core/check.hpp>

namespace wb {

WB_DECLARE_KERNEL(count)

void count_errors(executor& exec, view<const std::uint8_t> sent, view<const std::uint8_t> received,
                  view<std::int32_t> errors) {
  check_shape("sent", sent, sent.elements, sent.items);
  check_range("sent.elements", static_cast<long long>(sent.elements), 0, 1 << 30);
  check_shape("received", received, sent.elements, sent.items);
  check_shape("errors", errors, 1, sent.items);
  const count_args a{sent, received, {}, errors};
  exec.run(count_kernels(), &a, sent.items);
}
void count_errors(executor& exec, view<const std::uint8_t> sent, view<const float> llr,
                  view<std::int32_t> errors) {
  check_shape("sent", sent, sent.elements, sent.items);
  check_range("sent.elements", static_cast<long long>(sent.elements), 0, 1 << 30);
  check_shape("llr", llr, sent.elements, sent.items);
  check_shape("errors", errors, 1, sent.items);
  const count_args a{sent, {}, llr, errors};
  exec.run(count_kernels(), &a, sent.items);
}

}  // namespace wb
