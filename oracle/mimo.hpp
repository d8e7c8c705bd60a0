#pragma once

#include <complex>
#include <vector>

#include <oracle/modem.hpp>

/// Soft MIMO detectors by their definitions, for checking the library: complete candidates are compared by
/// the distance |y - H s|^2 itself, and triangular matrices only say which candidates there are.
///
/// All give max-log LLRs ln P(b = 0) - ln P(b = 1), stream after stream, b(0) of each symbol first. Every LLR
/// is limited to +-clip, and one of whose hypotheses there is no candidate is +-clip; infinity for no limit.
/// With priors the LLRs are a-posteriori. Shapes that do not match throw std::invalid_argument.
namespace oracle {

/// One use of the channel: y = H s + n, n ~ CN(0, n0) in each entry, s of points of `constellation(points)`.
struct mimo_use {
  int points = 4;
  std::vector<std::complex<double>> y;  ///< one per receive antenna
  std::vector<std::complex<double>> h;  ///< row after row; as many columns as streams
  double n0 = 1;
  std::vector<double> prior = {};  ///< ln P(b = 0) - ln P(b = 1); empty for none

  int streams() const;
  int bits() const;  ///< of all streams
};

/// Orders of the columns of H, the lower number first among equals.
enum class sorting {
  falling_norm,
  rising_norm,
  by_qr,  ///< next is always the column with the least part outside the span of those before it
};
std::vector<int> sorted_streams(const mimo_use& use, sorting rule);

/// L. Barbero, J. Thompson, "Fixing the complexity of the sphere decoder for MIMO detection", 2008. From the
/// top of the tree down it compares the rows of the pseudo-inverse of the streams left. A full level takes
/// the stream of the largest norm, any other that of the least. `full` has a level for each
/// stream, the lowest first. The order is that of detect_nway: entry 0 is on top, below it entries streams -
/// 1, streams - 2, ... 1.
std::vector<int> fsd_order(const mimo_use& use, const std::vector<bool>& full);

/// All points^streams candidates; at most 2^20.
std::vector<double> detect_ml(const mimo_use& use, double clip);

/// Breadth first from the last stream to the first, `survivors` a level. `real_valued`: a level for each real
/// dimension, the imaginary part of a stream before its real part.
std::vector<double> detect_kbest(const mimo_use& use, int survivors, bool real_valued, double clip);

/// M. Wu, "On the Application of Graphics Processor to Wireless Receiver Design", 2010, §3.2: stage t of the
/// trellis is stream streams - 1 - t. List t is made by edge reductions to stage t: each vertex keeps its
/// best incoming path. From there on it is made by path extensions: each path takes its best outgoing edge.
enum class trellis {
  one_pass,    ///< all LLRs from the last list
  multi_pass,  ///< the LLRs of stage t from list t
};
std::vector<double> detect_trellis(const mimo_use& use, trellis rule, double clip);

/// M. Wu, B. Yin, J. Cavallaro, "Flexible N-Way MIMO Detector on GPU", 2012: for p = 0 .. ways - 1 a tree
/// with stream p on top, and below it streams p - 1, p - 2, ... p + 1 (mod streams); the least metric of each
/// hypothesis over all passes. `spread`: best children that each path keeps at a level, the lowest level
/// first; empty for 1, ... 1, points.
std::vector<double> detect_nway(const mimo_use& use, int ways, double clip,
                                const std::vector<int>& spread = {});

/// C. Studer, A. Burg, H. Boelcskei, "Soft-output sphere decoding: algorithms and VLSI implementation", 2008,
/// single tree search, from the last stream to the first. Children of a node come with rising cost of their
/// real part, and for each of it with rising cost of their imaginary part. All points of stream 0 below a
/// path are one node. Priors cost what their bits contradict.
struct sphere {
  bool hard = false;   ///< only the best candidate, whose LLRs are +-clip
  double radius = 0;   ///< squared, in units of n0, with which the search begins; 0 for none
  int node_limit = 0;  ///< 0 for none
};
struct sphere_result {
  std::vector<double> llrs;
  int visited = 0;  ///< nodes
};
sphere_result detect_sphere(const mimo_use& use, const sphere& how, double clip);

/// One pass of detect_nway without priors, in real arithmetic of twice the size with rounding and clamping:
/// selective spanning with fast enumeration, stream `top` expanded in full.
std::vector<double> detect_ssfe(const mimo_use& use, int top, double clip);

enum class linear {
  mf,    ///< H^H
  zf,    ///< (H^H H)^-1 H^H
  mmse,  ///< (H^H H + n0)^-1 H^H
};
/// What a filter leaves of each stream: value = symbol + error, E|error|^2 = variance over noise and the
/// other streams.
struct filtered {
  std::vector<std::complex<double>> value;
  std::vector<double> variance;
};
filtered filter(const mimo_use& use, linear rule);
/// Each stream demapped as if the error were Gaussian and independent of the other streams'.
std::vector<double> detect_linear(const mimo_use& use, linear rule, double clip);

/// C. Studer, S. Fateh, D. Seethaler, "ASIC implementation of soft-input soft-output MIMO detection using
/// MMSE parallel interference cancellation", 2011: each stream by a filter of its own, for the covariance of
/// noise and of what the a-priori probabilities leave of the other streams.
std::vector<double> detect_pic(const mimo_use& use, demapper rule, double clip);

/// J. Cespedes, P. Olmos, M. Sanchez-Fernandez, F. Perez-Cruz, "Expectation propagation detection for
/// high-order high-dimensional MIMO systems", 2014, over real dimensions, with the moments of the true
/// posterior by inverse.
struct expectation_propagation {
  int iterations = 10;
  double damping = 0.9;       ///< share of the old parameters that an iteration keeps
  double start_variance = 1;  ///< in units of the a-priori variance
  double least_variance = 1e-6;
};
std::vector<double> detect_ep(const mimo_use& use, const expectation_propagation& how, demapper rule,
                              double clip);

}  // namespace oracle
