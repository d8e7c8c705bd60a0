#pragma once
// A detector that is an op with a build for every backend.
#include <memory>
#include <type_traits>

#include <warpband/detect/detect_call.hpp>
#include <warpband/detect/detector.hpp>
#include <warpband/exec/kernel.hpp>

namespace wb {

/// The op of a kind. Call derives from detect_call.
template <class Call>
struct detector_op {
  /// The op that serves a call.
  const kernel_set& (*kernels)(const Call&);
  /// Sets `tile` for an executor and a number of uses. None: 1.
  void (*share)(const executor& exec, std::size_t uses, Call&) = nullptr;
};

/// Puts the common part of a completed configuration into a call.
void describe_call(detect_call& call, const detector_config& c);
/// Puts the arrays into a call.
void attach_arrays(detect_call& call, const detector_input& in, const detector_output& out);

/// Threads: any number may call one object at once, each with an executor of its own.
template <class Call>
class kernel_detector final : public detector {
 public:
  kernel_detector(const detector_config& c, bool takes_prior, const Call& call, const detector_op<Call>& op)
      : detector(c, takes_prior), call_(call), op_(op) {
    describe_call(call_, c);
  }
  bool counts_visited() const noexcept override {
    return requires(Call c) { c.visited; };
  }
  double flops_per_use() const override { return any_build_of(op_.kernels(call_))->flops(&call_); }

 private:
  void compute(executor& exec, const detector_input& in, const detector_output& out) const override {
    Call call = call_;
    attach_arrays(call, in, out);
    if constexpr (requires { call.visited; }) call.visited = out.visited;
    if (op_.share != nullptr) op_.share(exec, in.received.items, call);
    exec.run(op_.kernels(call), &call, in.received.items);
  }

  Call call_;  // without arrays
  detector_op<Call> op_;
};

/// Of a completed configuration. `call`: what the kind's settings decide.
template <class Call>
std::unique_ptr<detector> make_kernel_detector(const detector_config& c, bool takes_prior, const Call& call,
                                               const std::type_identity_t<detector_op<Call>>& op) {
  return std::make_unique<kernel_detector<Call>>(c, takes_prior, call, op);
}

}  // namespace wb
