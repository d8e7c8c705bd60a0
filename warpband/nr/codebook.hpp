#pragma once
// Precoding of the physical uplink shared channel by a codebook, 3GPP TS 38.211 §6.3.1.5: z = W y takes
// layers y to antenna ports z.
#include <complex>
#include <vector>

namespace wb {

/// Matrices that the codebook of so many antenna ports has for so many layers: 0 where it has none.
int nr_precoders(int ports, int layers) noexcept;

/// W of a transmitted precoding matrix indicator, tables 6.3.1.5-1 to -7: row after row, element p *
/// layers + l takes layer l to port p. The sum of |w|^2 is at most 1. ports: 1 (W = 1), 2, 4; layers: 1 to
/// ports. With transform precoding, which has one layer, four ports have table -2 in place of -3. Throws
/// argument_error ("antenna_ports", "layers", "tpmi").
///   nr_precoder(2, 1, 2);  // (1, 1) / sqrt 2
std::vector<std::complex<float>> nr_precoder(int ports, int layers, int tpmi,
                                             bool transform_precoding = false);

}  // namespace wb
