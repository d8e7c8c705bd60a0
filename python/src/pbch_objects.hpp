#pragma once
// What became of SS/PBCH blocks, as python/warpband/pbch.py takes it.
#include <array>

#include <warpband/nr/pbch/pbch.hpp>

#include "arrays.hpp"

namespace wb::python {

using content_fields = std::array<int, 10>;  // in the order of nr_ssb_content

inline nanobind::tuple tuple_of(const nr_pbch_block& b) {
  nanobind::object content = nanobind::none();
  if (b.content) {
    const nr_ssb_content& c = *b.content;
    content = nanobind::make_tuple(c.sfn, c.half_frame, c.ssb_index, c.k_ssb, c.common_spacing_khz,
                                   c.dmrs_first_symbol, c.coreset0, c.search_space0, c.cell_barred ? 1 : 0,
                                   c.intra_frequency ? 1 : 0);
  }
  return nanobind::make_tuple(
      b.ok, b.erased, content,
      nanobind::bytes(reinterpret_cast<const char*>(b.payload.data()), b.payload.size()), b.dmrs_index,
      b.snr_db, b.cfo_spacings, b.delay_symbols);
}

}  // namespace wb::python
