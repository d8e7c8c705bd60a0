#pragma once
// The automatic scale of decoders that compute on integers.
//
//   quanta = min(c / (1 - R), 96) / upper quartile of |L|
//
// of one item: a codeword, after all transmissions of its bits were added up. L are at most 32 of its LLRs,
// spread evenly over it, without zeros and known bits. R is the rate, its information bits over its LLRs that
// are not 0. Integers then are round(L quanta), limited to the decoder's range; an LLR of at least 1/1024 of
// a quantum becomes +-1 or more. So decisions do not depend on a common factor of an item's LLRs, and signs
// stay. A quartile is one of the LLRs, so it is the same in every order of computation. A few LLRs of any
// size do not move it. It is the upper one, as up to three fourths of the LLRs may tell next to nothing: a
// later transmission at a low SNR must not limit the LLRs of the first.
//
// c is `fineness`, of each decoder. Weak codes need fine steps: their few checks correct little of the
// rounding. Strong codes add up many messages and saturate if steps are fine.
#include <optional>
#include <string>
#include <utility>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/fec/quantise/quantise_args.hpp>

namespace wb {

/// How a decoder that computes on integers scales batches of LLRs: by a number of its settings, or
/// automatically. CPU and CUDA give the same bits.
///
/// Threads: any number may call one object at once, each with an executor of its own.
class llr_scale {
 public:
  /// quanta: what an LLR of 1 becomes; absent: it follows from `fineness`, c above, and the information bits
  /// of an item.
  llr_scale(std::optional<float> quanta, float fineness, float information)
      : quanta_(quanta), fineness_(fineness), information_(information) {}
  /// Queues the choice for each item; kept until the next call with this executor.
  llr_quanta of(executor& exec, view<const float> llr) const;
  /// Of a caller's integers, which stay as they are: in what unit soft outputs are.
  llr_quanta of_integers() const noexcept { return {.fixed = quanta_.value_or(1.f)}; }

 private:
  std::optional<float> quanta_;
  float fineness_, information_;
  kept_workspace workspace_;
};

/// The setting: what an LLR of 1 becomes, or "auto".
template <class C>
setting_of<C> llr_steps_setting(std::string name, std::optional<float> C::*member, const std::string& text) {
  return number(std::move(name), member, 0.25, 64,
                text +
                    " \"auto\": by the upper quartile of each codeword's magnitudes, so that a common "
                    "factor of them does not matter.",
                false, "\"auto\" or a number from 0.25 to 64")
      .absent_as("auto");
}

}  // namespace wb
