#pragma once
// The setting that detectors with soft symbols have.
#include <string>

#include <warpband/core/error.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/modem/demap/demap.hpp>

namespace wb {

/// Throws argument_error for a demapper that is none.
template <class C>
const C& checked_demapper(const C& c) {
  if (c.demapper != demap_algorithm::max_log && c.demapper != demap_algorithm::exact)
    throw argument_error("demapper", std::to_string(static_cast<int>(c.demapper)), "max-log or exact");
  return c;
}
template <class C>
setting_of<C> soft_demapper_setting() {
  return words("demapper", &C::demapper,
               {{"max-log", demap_algorithm::max_log}, {"exact", demap_algorithm::exact}},
               "How LLRs come from the estimate of a symbol. The two are the same for QPSK.");
}

}  // namespace wb
