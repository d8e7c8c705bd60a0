#pragma once
// The kernels of the thesis' design that are no library calls (docs/li-thesis.md,
// bench/peers/blas_frames.cpp). Matrices lie by columns, batches one after the other.
#include <cuda_runtime_api.h>

#include <cstddef>

namespace wb::bench {

/// Adds N0 to the diagonals of `count` matrices.
void regularise(cudaStream_t stream, float2* a, const float* n0, int users, std::size_t count);
/// `count` matrices to the identity.
void make_identities(cudaStream_t stream, float2* a, int users, std::size_t count);
/// Where each of `count` matrices begins.
void make_pointers(cudaStream_t stream, float2** pointers, float2* first, std::size_t entries,
                   std::size_t count);
/// x = 0, r = t = b, and energies |b|^2.
void start_cg(cudaStream_t stream, const float2* b, float2* x, float2* r, float2* t, float2* energies,
              int users, std::size_t vectors);
/// Lines 10 to 14 of algorithm 1, with s = A t: a thread for each entry, as many neighbouring ones as there
/// are users for a vector.
void step_cg(cudaStream_t stream, const float2* s, float2* x, float2* r, float2* t, float2* energies,
             int users, std::size_t vectors);
/// Estimates to LLRs of 16-QAM, a thread for each symbol. `exact`: `a` holds A^-1, or with `factor` L^-1,
/// lower, of A = L L^H; else A.
void soften(cudaStream_t stream, const float2* x, const float2* a, const float* n0, float4* llr, bool exact,
            bool factor, int users, int vectors_of_matrix, std::size_t vectors);
/// x' = m / |m|, a warp for each vector.
void normalise(cudaStream_t stream, float2* m, int antennas, std::size_t vectors);

}  // namespace wb::bench
