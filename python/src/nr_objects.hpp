#pragma once
// DCIs and bits, as python/warpband/pdcch.py takes them.
#include <array>
#include <cstdint>
#include <vector>

#include <warpband/nr/pdcch/dci.hpp>

#include "arrays.hpp"

namespace wb::python {

using dci_fields = std::array<int, 7>;  // in the order of nr_si_dci

inline nr_si_dci dci_of(const dci_fields& f) {
  return {.first_block = f[0],
          .blocks = f[1],
          .time_domain = f[2],
          .interleaved = f[3] != 0,
          .mcs = f[4],
          .rv = f[5],
          .other_information = f[6] != 0};
}

inline nanobind::bytes bytes_of(const std::vector<std::uint8_t>& bits) {
  return nanobind::bytes(reinterpret_cast<const char*>(bits.data()), bits.size());
}

}  // namespace wb::python
