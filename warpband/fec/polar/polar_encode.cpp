#include <algorithm>

#include <warpband/core/check.hpp>
#include <warpband/fec/polar/polar.hpp>

namespace wb {

WB_DECLARE_KERNEL(polar_encode)

namespace {

/// polar_encode_args::c_index.
std::vector<std::int32_t> c_index_of(const polar_block& b) {
  std::vector<std::int32_t> index(static_cast<std::size_t>(b.n), -1);
  for (std::size_t i = 0; i < b.place.size(); i++)
    index[static_cast<std::size_t>(b.place[i])] = static_cast<std::int32_t>(i);
  return index;
}

/// polar_encode_args::parity_checks.
std::vector<std::int32_t> parity_check_rows(const polar_block& b, const std::vector<std::int32_t>& c_index) {
  std::vector<std::int32_t> rows;
  for (const std::int32_t check : b.parity_checks) {
    std::vector<std::uint32_t> mask(static_cast<std::size_t>(b.n) / 32);
    for (int u = check - 5; u >= 0; u -= 5)
      if (c_index[static_cast<std::size_t>(u)] >= 0) mask[static_cast<std::size_t>(u / 32)] |= 1u << (u % 32);
    rows.push_back(check);
    for (const std::uint32_t word : mask) rows.push_back(static_cast<std::int32_t>(word));
  }
  return rows;
}

}  // namespace

polar_encoder::polar_encoder(const polar_code& code) : code_(code) {
  for (const polar_block& b : code_.blocks()) {
    const std::vector<std::int32_t> c_index = c_index_of(b);
    tables_.push_back({polar_shape_of(b), resident(b.place), resident(b.crc_weights), resident(b.sent),
                       resident(c_index), resident(parity_check_rows(b, c_index))});
  }
}

void polar_encoder::run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const {
  const std::size_t blocks = tables_.size();
  check_shape("bits", bits, bits.items, code_.k());
  check_shape("coded", coded, bits.items, std::max(coded.elements, code_.coded_bits()));
  if (blocks == 0) refuse_moved_from();
  for (std::size_t r = 0; r < blocks; r++) {
    const tables& t = tables_[r];
    polar_encode_args a;
    a.block = t.shape;
    a.block.information_set = t.information_set.on(exec);
    a.block.crc_weights = t.crc_weights.on(exec);
    a.coded_index = t.coded_index.on(exec);
    a.c_index = t.c_index.on(exec);
    a.parity_check_count = static_cast<int>(code_.blocks()[r].parity_checks.size());
    if (a.parity_check_count > 0) a.parity_checks = t.parity_checks.on(exec);
    if (r + 1 == blocks) {
      a.padding_begin = t.shape.first_sent + t.shape.e;
      a.padding_end = static_cast<int>(coded.elements);
    }
    a.bits = bits;
    a.coded = coded;
    exec.run(polar_encode_kernels(), &a, bits.items);
  }
}

}  // namespace wb
