#pragma once
// Which detector, with which settings: a structure, and beside it the one list from which messages, scenario
// files, options, attributes of files, results and Python keywords come (core/setting.hpp). A new setting is
// a member and an entry here; its detector reads the member.
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/modem/demap/demap.hpp>

namespace wb {

/// How a search sorts the streams of each use by its channel. The order is then, of columns h_k of H:
enum class stream_sort {
  none,            // the caller's
  norm,            // by falling |h_k|
  norm_ascending,  // by rising |h_k|
  sqrd,  // as a sorted QR decomposition takes them: each the one with the least part outside the span
         // of those before it (Wübben et al., Electronics Letters 37(22), 2001)
};

/// Their names: "none", "norm", "norm-ascending", "sqrd".
const std::vector<std::pair<std::string, stream_sort>>& stream_sorts();

enum class detector_type {
  ml,     // exhaustive max-log
  mf,     // matched filter
  zf,     // zero forcing
  mmse,   // linear minimum mean square error
  ot,     // one-pass trellis
  mtt,    // multi-pass trellis traversal
  kbest,  // K-best
  nway,   // N-way parallel SSFE
  pic,    // MMSE with parallel interference cancellation
  ep,     // expectation propagation
};
/// Streams that pic and ep take; the other detectors take 8.
inline constexpr int most_soft_streams = 16;
/// No limit to the LLRs.
inline constexpr float no_clip = std::numeric_limits<float>::infinity();

/// A detector by name. Fields that its type does not have must keep their initial values.
struct detector_config {
  detector_type type = detector_type::mmse;
  int streams = 2;      // 1..8, with pic and ep to 16
  int rx_antennas = 2;  // streams..16
  int qam = 4;          // 4, 16, 64, 256
  /// LLRs are limited to +-llr_clip, which also stands for a missing hypothesis: above 0 and at most 1e6, or
  /// `no_clip` where no hypothesis can be missing: all but ot, kbest, and nway with fewer ways than streams.
  /// Nothing: no_clip for those, else 8.
  std::optional<float> llr_clip;
  int ways = 0;              // nway: passes, 1..streams; 0 is streams
  int survivors = 64;        // kbest: K, 1..4096
  bool real_valued = false;  // kbest: a tree of real dimensions
  bool extrinsic = false;    // the prior is taken off the output again
  /// ot, mtt, kbest and nway: the order of the streams in the search, each of 0 .. streams - 1 once; empty
  /// for 0, 1, 2, ... The result is, bit for bit, that of an H whose column k is column order[k] of the given
  /// one, with its LLRs and priors back in their places. ot, mtt and kbest begin with the last stream of the
  /// order (top of the tree, first stage of the trellis) and go down to the first. Pass p of nway has
  /// order[p] on top, below it order[p - 1], order[p - 2], ... order[p + 1] (mod streams). The other
  /// detectors look at all streams alike and take none. On a GPU ot and mtt are several times slower with an
  /// order of more than two streams: give them H with its columns in that order where speed matters.
  std::vector<int> order = {};
  /// ot, mtt, kbest and nway: the order sorted for each use by its H, instead of `order`. Among equals the
  /// stream of the lower number comes first. K-best searches best with sqrd (the strongest stream that is
  /// left on top of the tree); norm is what Sionna's K-best has (the weakest on top). On a GPU ot, mtt and
  /// nway are several times slower with it.
  stream_sort sort = stream_sort::none;
  demap_algorithm demapper = demap_algorithm::max_log;  // pic, ep: LLRs of a symbol from its estimate
  int iterations = 10;                                  // ep: 1..100
  float damping = 0.9f;                                 // ep: share of the old parameters, 0..0.999
  /// ep: variance of the symbols at the start, in units of that of the a-priori probabilities, 0.1..10.
  /// Nothing: P / (P - 1) with P = sqrt(qam) amplitudes of a dimension.
  std::optional<float> start_variance = {};
};

/// "ml", "mf", "zf", "mmse", "ot", "mtt", "kbest", "nway", "pic", "ep".
const char* name_of(detector_type type) noexcept;
/// In any case, also with hyphens: "K-best".
std::optional<detector_type> detector_named(const std::string& name) noexcept;
/// All names, in the order of the enumeration.
const std::vector<std::string>& detector_names();

/// The settings of a detector_config.
inline const std::vector<setting_of<detector_config>>& detector_settings() {
  using c = detector_config;
  const auto types = [] {
    std::vector<std::pair<std::string, detector_type>> named;
    for (const std::string& name : detector_names()) named.emplace_back(name, *detector_named(name));
    return named;
  };
  static const std::vector<setting_of<c>> all{
      words(
          "type", &c::type, types(),
          "Exhaustive max-log; matched filter, zero forcing and linear MMSE; one-pass trellis, multi-pass "
          "trellis traversal, K-best and N-way parallel search; MMSE with parallel interference cancellation "
          "(pic) and expectation propagation (ep)."),
      integer("streams", &c::streams, 1, most_soft_streams, "Transmit antennas.",
              "an integer from 1 to 8, with pic and ep to 16")
          .not_of_links(),
      integer("rx_antennas", &c::rx_antennas, 1, 16, "Receive antennas.", "an integer from the streams to 16")
          .not_of_links(),
      one_of("qam", &c::qam, {4, 16, 64, 256}, "Points of the constellation.").not_of_links(),
      integer_or_auto("ways", &c::ways, 0, 1, 8,
                      "Passes of the search, each with another stream at the top of the tree. \"auto\" (or "
                      "0): one for each stream.",
                      "an integer from 1 to the number of streams")
          .only_with("type", {"nway"}),
      integer("survivors", &c::survivors, 1, 4096, "K: paths kept at a level.").only_with("type", {"kbest"}),
      boolean("real_valued", &c::real_valued,
              "Search a tree with a level for each real dimension instead of each stream.")
          .only_with("type", {"kbest"}),
      integers("order", &c::order, 0, 7,
               "The search sees the columns of H in this order. ot, mtt and kbest begin with the last stream "
               "of it and end with the first; pass p of nway has entry p at the top of the tree and, below "
               "it, those before it in the list, cyclically. Left out: 0, 1, 2, ...",
               "a list with each of 0 to streams - 1 once")
          .only_with("sort", {"none"})
          .only_with("type", {"ot", "mtt", "kbest", "nway"}),
      words(
          "sort", &c::sort, stream_sorts(),
          "Sort the streams of each use instead of `order`: by falling or rising norm of their columns of H, "
          "or as a sorted QR decomposition takes them. With norm kbest begins with the weakest stream, as "
          "Sionna's does; with norm-ascending and sqrd with the strongest.")
          .only_with("type", {"ot", "mtt", "kbest", "nway"})
          .left_out_by_default(),
      number_or_word(
          "llr_clip", &c::llr_clip, "none", no_clip, 1e-6, 1e6,
          "LLRs are limited to this magnitude. A bit gets it if the search found no candidate with one of "
          "its values. Left out: 8 where a hypothesis can be missing, else \"none\".",
          "a number from 1e-6 to 1e6, or \"none\" where no hypothesis can be missing: with all but "
          "ot, kbest and nway with fewer ways than streams"),
      boolean("extrinsic", &c::extrinsic, "Take the a-priori LLRs off the output again.")
          .only_with("type", {"ml", "ot", "mtt", "kbest", "nway", "pic", "ep"})
          .not_of_links(),
      words("demapper", &c::demapper,
            {{"max-log", demap_algorithm::max_log}, {"exact", demap_algorithm::exact}},
            "How LLRs come from the estimate of a symbol. The two are the same for QPSK.")
          .only_with("type", {"pic", "ep"}),
      integer("iterations", &c::iterations, 1, 100, "Estimates of all symbols, refined between them.")
          .only_with("type", {"ep"}),
      number("damping", &c::damping, 0, 0.999,
             "beta: a refinement keeps this share of the old parameters. More damping converges more surely "
             "and takes more iterations.")
          .only_with("type", {"ep"}),
      number("start_variance", &c::start_variance, 0.1, 10,
             "Variance of the symbols before the first iteration, in units of that of their a-priori "
             "probabilities. Left out: P / (P - 1) with the P = sqrt(qam) amplitudes of a dimension; 1 in "
             "Cespedes et al.")
          .only_with("type", {"ep"})};
  return all;
}

}  // namespace wb
