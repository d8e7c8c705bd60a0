#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <oracle/ldpc.hpp>

/// Ordered-statistics decoding by its definition: dense elimination in the order of the LLRs, and every
/// candidate solved anew.
namespace oracle {

struct osd_options {
  int order = 0;
  bool exhaustive = false;  ///< all patterns of the first free columns, else single columns and pairs
};
struct osd_result {
  std::vector<std::uint8_t> error;
  double cost = 0;
  double margin = 0;  ///< the next larger cost of a candidate less this one
};
/// The error of the syndrome with the least cost. `posterior` orders columns, `cost` is that of each one.
/// Nothing where no error has the syndrome.
std::optional<osd_result> osd(const parity_checks& h, const std::vector<std::uint8_t>& syndrome,
                              const std::vector<double>& posterior, const std::vector<double>& cost,
                              const osd_options& options);

/// The least cost of all 2^n errors of the syndrome; nothing where there is none.
std::optional<osd_result> cheapest_error(const parity_checks& h, const std::vector<std::uint8_t>& syndrome,
                                         const std::vector<double>& cost);

}  // namespace oracle
