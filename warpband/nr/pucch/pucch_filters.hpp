#pragma once
// Wiener filters of a channel, in the coordinates of its eigenvectors. The channel of mean power S has a
// uniform delay spectrum, and a uniform Doppler spectrum over time. Where pilots are, its correlation is
// sum_i g_i u_i u_i^H. With c_i = u_i^H y of pilots y of noise N0,
//
//   h(k) = sum_i S / (S g_i + N0) c_i f_i(k),   f_i(k) = sum over pilots p of R(k, p) u_i(p)
//
// so that one set of eigenvectors serves all S and N0.
#include <complex>
#include <vector>

namespace wb {

struct pucch_filter {
  std::vector<double> gains;  // g_i, falling; their sum is nearly that of pilots
  std::vector<std::vector<std::complex<double>>> analysis;   // [i][pilot] conj(u_i)
  std::vector<std::vector<std::complex<double>>> synthesis;  // [i][k] f_i
};

/// Of pilots at positions x_p, for positions z_k. The correlation at a distance d is
/// sin(pi d width) / (pi d width) exp(-2 pi i d middle). Eigenvectors count until `share` of the power is
/// theirs, and at most `most_ranks`.
pucch_filter make_pucch_filter(const std::vector<double>& pilots, const std::vector<double>& positions,
                               double middle, double width, double share, int most_ranks);

}  // namespace wb
