#include <algorithm>

#include <warpband/core/check.hpp>
#include <warpband/fec/polar/polar.hpp>

namespace wb {

WB_DECLARE_KERNEL(polar_encode)

namespace {

/// Of each u the bit of c that it carries; -1 where it carries none.
std::vector<std::int32_t> carried(const polar_block& b) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(b.n), -1);
  for (std::size_t i = 0; i < b.place.size(); i++)
    all[static_cast<std::size_t>(b.place[i])] = static_cast<std::int32_t>(i);
  return all;
}

/// polar_encode_args::parity_checks.
std::vector<std::int32_t> check_rows(const polar_block& b, const std::vector<std::int32_t>& carries) {
  std::vector<std::int32_t> rows;
  for (const std::int32_t check : b.parity_checks) {
    std::vector<std::uint32_t> sums(static_cast<std::size_t>(b.n) / 32);
    for (int u = check - 5; u >= 0; u -= 5)
      if (carries[static_cast<std::size_t>(u)] >= 0) sums[static_cast<std::size_t>(u / 32)] |= 1u << (u % 32);
    rows.push_back(check);
    for (const std::uint32_t word : sums) rows.push_back(static_cast<std::int32_t>(word));
  }
  return rows;
}

}  // namespace

polar_encoder::polar_encoder(const polar_config& config) : code_(config) {
  for (const polar_block& b : code_.blocks()) {
    const std::vector<std::int32_t> carries = carried(b);
    tables_.push_back({polar_shape_of(b), resident(b.place), resident(b.crc_weights), resident(b.sent),
                       resident(carries), resident(check_rows(b, carries))});
  }
}

void polar_encoder::run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const {
  const std::size_t blocks = tables_.size();
  check_shape("bits", bits, code_.k(), bits.items);
  check_shape("coded", coded, std::max(coded.elements, code_.coded_bits()), bits.items);
  if (blocks == 0) refuse_moved_from();
  for (std::size_t r = 0; r < blocks; r++) {
    const tables& t = tables_[r];
    polar_encode_args a;
    a.at = t.shape;
    a.at.place = t.place.on(exec);
    a.at.crc_weights = t.crc_weights.on(exec);
    a.sent = t.sent.on(exec);
    a.carries = t.carries.on(exec);
    a.parity_check_count = static_cast<int>(code_.blocks()[r].parity_checks.size());
    if (a.parity_check_count > 0) a.parity_checks = t.parity_checks.on(exec);
    if (r + 1 == blocks) {
      a.zeros_from = t.shape.first_sent + t.shape.e;
      a.zeros_to = static_cast<int>(coded.elements);
    }
    a.bits = bits;
    a.coded = coded;
    exec.run(polar_encode_kernels(), &a, bits.items);
  }
}

}  // namespace wb
