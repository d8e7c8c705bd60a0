#pragma once
// What users of a downlink know of y = f H^H m + n: m = P(s) is what a precoder makes of the symbols s, and f
// is the factor that gives the vector the energy 1. User u sees y_u = f (g_u s_u + e_u) + n_u. It knows
//
//   g_u        its gain, one for each channel matrix: the diagonal of H^H P, exactly
//   E |e_u|^2  the mean power of the interference
//   f          the factor of each vector, which depends on the symbols of all users
//
// g_u and E |e_u|^2 are what U reference vectors show that have no noise. Their symbols are orthogonal
// between users, and they are precoded as all vectors. For a linear precoder both are exact: column u of H^H
// P is the mean of conj(s_u) y over them. For conjugate gradients, whose steps depend on s, they are the
// means of U vectors. Neither depends on the symbols or on the noise that are sent later.
#include <complex>
#include <vector>

#include <warpband/exec/executor.hpp>
#include <warpband/link/gain/gain_args.hpp>

namespace wb {

/// Symbols of the U reference vectors for U users, [U, U]: element u of vector t is exp(2 pi i u t / U).
std::vector<std::complex<float>> reference_vectors(int users);

/// Gives each of [vectors, B] the energy 1, in place: each of `parts` equal parts of neighbours gets 1 /
/// parts of it. A part whose energy is at most 1e-30 becomes zeros. To `factor` [vectors, 1] goes what the
/// elements were multiplied with, the mean over the parts. Throws argument_error for parts that do not divide
/// B.
void normalize_vectors(executor& exec, view<std::complex<float>> sent, int parts, view<float> factor);

/// `gain` and `interference` [matrices, U] of each matrix, from its reference vectors without noise in
/// `received` [matrices, U * U], vector after vector. `reference` is [1, U * U]; `factor` [matrices, U], what
/// the vectors were normalised with, may be left out.
void effective_gains(executor& exec, view<const std::complex<float>> reference,
                     view<const std::complex<float>> received, view<const float> factor,
                     view<std::complex<float>> gain, view<float> interference);

/// y / (f g) and its noise variance (N0 / f^2 + E |e|^2) / |g|^2, within 1e-12..1e12. y is in `received`
/// [matrices, vectors * U], f in `factor` [matrices, vectors] and N0 in `noise_var` [matrices, 1]. `out` may
/// be y. A symbol with f outside 1e-12..1e12 or |g|^2 outside 1e-24..1e24 gives zero and 1e12.
void divide_by_gains(executor& exec, view<const std::complex<float>> gain, view<const float> interference,
                     view<const float> factor, view<const float> noise_var,
                     view<const std::complex<float>> received, view<std::complex<float>> out,
                     view<float> out_noise_var);

}  // namespace wb
