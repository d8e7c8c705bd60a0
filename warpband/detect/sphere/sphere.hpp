#pragma once
// Sphere detection: depth first through the tree of symbols, from the last antenna of the order to the first.
// With the QR decomposition H = Q R the distance of a candidate is a sum over the levels,
//
//   |y - H s|^2 = sum_k |z_k - sum_(j >= k) R_kj s_j|^2 + const,   z = Q^H y
//
// It only grows on the way down, so a path outside the sphere is not continued.
//
// Soft output comes from a single tree search (C. Studer, A. Burg, H. Boelcskei, "Soft-output sphere
// decoding: algorithms and VLSI implementation", IEEE JSAC 26(2), 2008, section III; with a-priori LLRs
// C. Studer, H. Boelcskei, "Soft-input soft-output single tree-search sphere decoding", IEEE Trans. Inf.
// Theory 56(10), 2010). The search keeps the best candidate, and for each of its bits the best one that has
// the other value. It enters a node only if something below could change one of them. LLRs equal those of
// exhaustive search. With a-priori LLRs a distance has N0 times those of the bits that contradict them.
//
// What ends the search earlier:
//
//   llr_clip     limits LLRs in the search already. Nothing farther than the best candidate and llr_clip * N0
//                counts. LLRs equal those of exhaustive search with the same clip.
//   hard_output  only the best candidate counts: the maximum-likelihood decision. Each LLR is +-llr_clip.
//   radius       the sphere of the beginning is |z - R s|^2 < radius * N0. If it is empty the search starts
//                again without it, so decisions stay the same. A bit gets llr_clip if no candidate inside has
//                its other value. With a prior the distance has its part.
//   node_limit   the candidates found after so many nodes stand, those of an empty sphere among them. The
//   first
//                path is always completed. Left out it is 2^24, which ends no search of up to 2^24
//                hypotheses.
//
// A node is a path down to some stream. All points of the last stream below a path are one node, since its
// dimensions separate. `detector_output::visited` has the nodes of each use; flops_per_use() are those of the
// first path.
//
// The order of the streams decides how many nodes a search visits. With sort = sqrd they are about half as
// many.
//
// When to use. If you want the error rates of exhaustive search. With a clip or hard output, from 4x4 16-QAM
// and about 15 dB on, it is faster than ml; docs/algorithms/sphere.md has both. Its time depends on the
// channel and the noise, and is that of exhaustive search in the worst case. kbest
// and nway take the same time for each use. With a tight node_limit they have fewer errors in the same time
// (curves/sphere_4x4_16qam.json): the nodes of a depth-first search all share the top of their path.
#include <optional>

#include <warpband/detect/detector_kind.hpp>
#include <warpband/detect/search_order.hpp>

namespace wb {

struct sphere_settings {
  bool hard_output = false;            // only the maximum-likelihood decision
  std::optional<float> radius = {};    // squared, in units of N0; above 0. Nothing: no sphere to begin with
  std::optional<int> node_limit = {};  // nodes of a use, 1..2^24. Nothing: 2^24
  search_order search = {};
  bool operator==(const sphere_settings&) const = default;
};

/// "sphere". Takes a prior. A hypothesis can be missing with hard_output, radius or node_limit, and with more
/// than 2^24 of them.
detector_kind sphere_kind();

}  // namespace wb
