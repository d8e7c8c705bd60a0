#pragma once
// Sizes of the ops of detectors, and which of them serve a call.
#include <warpband/core/size.hpp>
#include <warpband/detect/search_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// Sizes of an op: streams, antennas and bits per dimension, and whether there may be a prior. Exact ones are
/// known when it is compiled.
template <int S, int B>
struct exact_sizes {
  static constexpr bool takes_prior = false;
  using streams = fixed<S>;
  using rows = fixed<S>;
  using pam = fixed<B>;
  explicit WB_HD exact_sizes(const detect_call&) {}
  static constexpr streams n{};
  static constexpr rows rx{};
  static constexpr pam b{};
};
/// The same with a prior.
template <int S, int B>
struct informed_sizes : exact_sizes<S, B> {
  static constexpr bool takes_prior = true;
  using exact_sizes<S, B>::exact_sizes;
};
/// Up to S streams and any number of points, known when an op runs.
template <int S>
struct sizes_up_to {
  static constexpr bool takes_prior = true;
  using streams = upto<S>;
  using rows = upto<16>;
  using pam = upto<4>;
  explicit WB_HD sizes_up_to(const detect_call& a) : n{a.streams}, rx{a.rx_antennas}, b{a.pam_bits} {}
  streams n;
  rows rx;
  pam b;
};
using any_sizes = sizes_up_to<8>;
/// The same for kernels that can sort by noise amplification, which would cost others registers.
struct fsd_sizes : any_sizes {
  static constexpr bool by_amplification = true;
  using any_sizes::any_sizes;
};
/// As many antennas as streams, known when an op is compiled, and any number of points.
template <int S>
struct square_sizes {
  static constexpr bool takes_prior = false;
  using streams = fixed<S>;
  using rows = fixed<S>;
  using pam = upto<4>;
  explicit WB_HD square_sizes(const detect_call& a) : b{a.pam_bits} {}
  static constexpr streams n{};
  static constexpr rows rx{};
  pam b;
};
/// Calls f with the sizes that serve the arguments: those of 2x2, 4x4 and 8x8, or any.
template <class F>
auto with_square_sizes(const detect_call& a, F f) {
  switch (a.streams == a.rx_antennas ? a.streams : 0) {
    case 2:
      return f.template operator()<square_sizes<2>>();
    case 4:
      return f.template operator()<square_sizes<4>>();
    case 8:
      return f.template operator()<square_sizes<8>>();
    default:
      return f.template operator()<any_sizes>();
  }
}
/// Whether a call sorts the streams of each use.
inline bool sorts_streams(const detect_call&) { return false; }
inline bool sorts_streams(const search_args& a) { return a.sort != sort_none; }
/// Calls f with the sizes that serve the arguments: of 2x2, 4x4 and 8x8 without prior, or any. On a CUDA
/// device the number of points of 2x2 and 4x4 is known too, which keeps the bits' minima in registers.
/// Elsewhere they lie in the cache. Its kernels for known sizes sort no streams.
template <class Call, class F>
auto with_sizes(const Call& a, F f) {
  if (a.prior.data != nullptr) return f.template operator()<any_sizes>();
#if defined(__CUDACC__)
  if (sorts_streams(a)) return f.template operator()<any_sizes>();
  switch (a.streams == a.rx_antennas ? a.streams * 8 + a.pam_bits : 0) {
    case 2 * 8 + 1:
      return f.template operator()<exact_sizes<2, 1>>();
    case 2 * 8 + 2:
      return f.template operator()<exact_sizes<2, 2>>();
    case 2 * 8 + 3:
      return f.template operator()<exact_sizes<2, 3>>();
    case 2 * 8 + 4:
      return f.template operator()<exact_sizes<2, 4>>();
    case 4 * 8 + 1:
      return f.template operator()<exact_sizes<4, 1>>();
    case 4 * 8 + 2:
      return f.template operator()<exact_sizes<4, 2>>();
    case 4 * 8 + 3:
      return f.template operator()<exact_sizes<4, 3>>();
    case 4 * 8 + 4:
      return f.template operator()<exact_sizes<4, 4>>();
    case 8 * 8 + 1:
    case 8 * 8 + 2:
    case 8 * 8 + 3:
    case 8 * 8 + 4:
      return f.template operator()<square_sizes<8>>();
    default:
      return f.template operator()<any_sizes>();
  }
#else
  return with_square_sizes(a, f);
#endif
}

}  // namespace WB_ISA
}  // namespace wb
