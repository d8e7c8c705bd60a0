#pragma once

/// Density evolution of regular LDPC ensembles with sum-product decoding: what happens in codes of infinite
/// length (T. Richardson, R. Urbanke, "The capacity of low-density parity-check codes under message-passing
/// decoding", IEEE Trans. IT 47(2), 2001).
namespace oracle {

/// The largest erasure probability of a binary erasure channel at which all erasures are resolved: of the
/// recursion x <- p (1 - (1 - x)^(check_weight - 1))^(bit_weight - 1).
double erasure_threshold(int bit_weight, int check_weight);

/// Whether the error probability on a binary symmetric channel falls below 1e-6 within so many iterations.
/// Densities have steps of a twentieth of the channel's LLR (discretised density evolution).
bool corrects_flips(int bit_weight, int check_weight, double probability, int iterations = 300);

}  // namespace oracle
