#pragma once
#include <cstddef>
#include <cstdint>

#include <warpband/massive/massive_args.hpp>

namespace wb {

/// Of clusters that a kernel sums over.
inline constexpr int most_clusters = 64;

/// Several arrays of one shape, `distance` values apart.
template <class T>
struct cluster_terms {
  view<T> first;
  int count = 1;
  std::size_t distance = 0;
};

/// The sums of a frame over the antennas of a cluster, as real numbers: U^2 of the Gram matrix row by row, of
/// row r the real and imaginary parts left of the diagonal and then the diagonal. Then 2 U of each matched
/// filter.
inline std::size_t gram_values(int users) {
  return static_cast<std::size_t>(users) * static_cast<std::size_t>(users);
}
inline std::size_t sums_values(int users, int symbols) {
  return gram_values(users) + 2 * static_cast<std::size_t>(users) * static_cast<std::size_t>(symbols);
}

/// Partial sums of one cluster. `massive` has the cluster's antennas and its parts of H and y.
struct cluster_sums_args {
  massive_args massive;
  bool filter = true;  // matched filters too
  view<float> sums;    // [frames, sums_values], or gram_values of it
};

/// Detects from sums, or, with `massive.in` the symbols to send, solves A z = s.
struct cluster_solve_args {
  massive_args massive;
  cluster_terms<const float> sums;
};

/// Stages of decentralised conjugate gradients. What members exchange is between them.
enum class cluster_cg_stage {
  begin,  // sums over the own clusters of what is exchanged first: `start`
  first,  // from the members' `start`: the residuals; then the products with the own clusters' Gram matrices
  step,   // from the members' products: an iteration; then the next products
  last,   // the last iteration, and the results
};
struct cluster_cg_args {
  massive_args massive;  // with `in`: the symbols to send in the place of matched filters
  cluster_cg_stage stage = cluster_cg_stage::begin;
  cluster_terms<const float> sums;      // of the own clusters
  view<float> start;                    // [frames, U + 2 U symbols]: diagonal of G, matched filters
  cluster_terms<const float> starts;    // of all members
  view<float> product;                  // [frames, 2 U symbols]: G_c t of the own clusters
  cluster_terms<const float> products;  // of all members
  view<float> x, r, t;                  // [frames, 2 U symbols]
  view<float> energy, least;            // [frames, symbols]
};

/// Weighted sum of the clusters' estimates, and its LLRs. Items are vectors.
struct cluster_fuse_args {
  int users = 1, pam_bits = 1;
  float clip = 0, steps = 8;
  cluster_terms<const cx_pair> estimates;    // [vectors, U]
  cluster_terms<const float> sinrs;          // [vectors, U]
  cluster_terms<const std::uint8_t> states;  // [vectors, 1]
  view<float> llr, sinr;
  view<std::int8_t> llr8;
  view<cx_pair> out;
  view<std::uint8_t> status;
};

/// |H_c z|^2 = z^H G_c z of the own clusters. Items are frames.
struct cluster_energy_args {
  int users = 1, symbols = 1;
  view<const float> gram;                   // [frames, U^2]: of the own clusters together
  view<const cx_pair> z;                    // [frames * symbols, U]
  view<float> member_energy, total_energy;  // [frames * symbols, 1]: the same in both
};

/// What the clusters send, together: scaled, and erased where one of them is. Items are vectors.
struct cluster_join_args {
  float factor = 1;
  // With data the factor is sqrt(member_energy / total_energy), energies of a vector.
  view<const float> member_energy = {}, total_energy = {};
  cluster_terms<const std::uint8_t> states = {};
  view<cx_pair> sent = {};  // [vectors, B], in place
  view<std::uint8_t> status = {};
};

}  // namespace wb
