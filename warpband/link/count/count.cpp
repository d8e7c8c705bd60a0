#include <warpband/link/count/count.hpp>

#include <warpband/core/check.hpp>
#include <warpband/core/status.hpp>
#include <warpband/link/exit/exit_args.hpp>

namespace wb {

WB_DECLARE_KERNEL(count)
WB_DECLARE_KERNEL(count_erased)
WB_DECLARE_KERNEL(exit_loss)

void count_errors(executor& exec, view<const std::uint8_t> sent, view<const std::uint8_t> received,
                  view<std::int32_t> errors) {
  check_shape("sent", sent, sent.items, sent.elements);
  check_range("sent.elements", static_cast<long long>(sent.elements), 0, 1 << 30);
  check_shape("received", received, sent.items, sent.elements);
  check_shape("errors", errors, sent.items, 1);
  const count_args a{sent, received, {}, errors};
  exec.run(count_kernels(), &a, sent.items);
}
void count_errors(executor& exec, view<const std::uint8_t> sent, view<const float> llr,
                  view<std::int32_t> errors) {
  check_shape("sent", sent, sent.items, sent.elements);
  check_range("sent.elements", static_cast<long long>(sent.elements), 0, 1 << 30);
  check_shape("llr", llr, sent.items, sent.elements);
  check_shape("errors", errors, sent.items, 1);
  const count_args a{sent, {}, llr, errors};
  exec.run(count_kernels(), &a, sent.items);
}
void count_erased(executor& exec, view<const std::uint8_t> status, int weight, view<std::int32_t> erased) {
  static_assert(status_erased == 1);  // the bit that the kernel counts
  check_shape("status", status, status.items, status.elements);
  check_range("status.elements", static_cast<long long>(status.elements), 0, 1 << 30);
  check_range("weight", weight, 1, 1 << 20);
  check_shape("erased", erased, status.items, 1);
  const count_erased_args a{status, weight, erased};
  exec.run(count_erased_kernels(), &a, status.items);
}
void lost_information(executor& exec, view<const std::uint8_t> sent, view<const float> llr,
                      view<float> lost) {
  check_shape("sent", sent, sent.items, sent.elements);
  check_range("sent.elements", static_cast<long long>(sent.elements), 0, 1 << 30);
  check_shape("llr", llr, sent.items, sent.elements);
  check_shape("lost", lost, sent.items, 1);
  exit_loss_args a;
  a.bits = sent;
  a.llr = llr;
  a.limit = 1e6f;
  a.loss = lost;
  exec.run(exit_loss_kernels(), &a, sent.items);
}

}  // namespace wb
