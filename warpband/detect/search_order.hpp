#pragma once
// The order in which detectors that search stream after stream take the streams.
#include <string>
#include <utility>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/detect/search_args.hpp>

namespace wb {

/// How a search sorts the streams of each use by its channel. The order is then, of columns h_k of H:
enum class stream_sort {
  none,            // the caller's
  norm,            // by falling |h_k|
  norm_ascending,  // by rising |h_k|
  sqrd,  // as a sorted QR decomposition takes them: each the one with the least part outside the span
         // of those before it (Wübben et al., Electronics Letters 37(22), 2001)
  fsd,   // of nway alone: that of a fixed-complexity sphere decoder (Barbero, Thompson, IEEE Trans. Wireless
         // Commun. 7(6), 2008), for pass 0. Later passes turn it.
};

/// Their names: "none", "norm", "norm-ascending", "sqrd", "fsd".
const std::vector<std::pair<std::string, stream_sort>>& stream_sorts();

/// The order of ot, mtt, kbest, nway and sphere.
struct search_order {
  /// Each of 0 .. streams - 1 once; empty for 0, 1, 2, ... The result is, bit for bit, that of an H whose
  /// column k is column order[k] of the given one. LLRs and priors have the streams of the given H. ot, mtt,
  /// kbest and sphere begin with the last stream of the order (top of the tree, first stage of the trellis).
  /// They go down to the first. Pass p of nway has order[p] on top. Below it are order[p - 1], order[p - 2],
  /// ... order[p + 1] (mod streams). On a GPU ot and mtt are several times slower with an order of more than
  /// two streams: give them H with its columns in that order where speed matters.
  std::vector<int> order = {};
  /// The order sorted for each use by its H, instead of `order`. Among equals the stream of the lower number
  /// comes first. K-best and sphere search best with sqrd (the strongest remaining stream on top of the
  /// tree). norm is the sort of Sionna's K-best (the weakest on top). On a GPU ot, mtt and nway are several
  /// times slower with it.
  stream_sort sort = stream_sort::none;

  bool operator==(const search_order&) const = default;
};

const std::vector<setting_of<search_order>>& search_order_settings();
/// Without an order that is 0, 1, 2, ... `has_full_levels`: the search has levels that keep all points, as
/// fsd needs. Throws argument_error ("order", "sort").
search_order completed(const search_order& s, int streams, bool has_full_levels = false);
/// Puts a completed order into a call.
void set_order(search_args& call, const search_order& s);
/// "2,0,1"
std::string text_of_order(const std::vector<int>& order);

}  // namespace wb
