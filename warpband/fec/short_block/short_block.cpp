#include <warpband/fec/short_block/short_block.hpp>

#include <algorithm>
#include <string>

#include <warpband/core/check.hpp>

namespace wb {

WB_DECLARE_KERNEL(short_block_encode)
WB_DECLARE_KERNEL(short_block_decode)

namespace {

/// TS 38.212 Table 5.3.3.3-1. A word for each coded bit: bit j is M(i, j).
constexpr std::int32_t basis[32] = {0x403, 0x607, 0x749, 0x50d, 0x48f, 0x5d3, 0x755, 0x599,
                                    0x69b, 0x65d, 0x6e5, 0x567, 0x7a9, 0x6ab, 0x4b1, 0x6f3,
                                    0x277, 0x139, 0x0fb, 0x061, 0x445, 0x60b, 0x591, 0x717,
                                    0x3df, 0x4e3, 0x32d, 0x3af, 0x175, 0x1fd, 0x7ff, 0x001};

/// short_block_encode_args::rows, of a period.
std::vector<std::int32_t> rows_of(const short_block_config& c) {
  constexpr std::int32_t x = -short_block_x, y = -short_block_y;
  const auto symbols = [&](const std::vector<std::vector<std::int32_t>>& bits) {
    std::vector<std::int32_t> rows;
    for (const auto& symbol : bits) {
      rows.insert(rows.end(), symbol.begin(), symbol.end());
      rows.resize(
          rows.size() - symbol.size() + std::max(symbol.size(), static_cast<std::size_t>(c.modulation_order)),
          x);
    }
    return rows;
  };
  if (c.k == 1) return c.modulation_order == 1 ? std::vector<std::int32_t>{1} : symbols({{1, y}});
  if (c.k == 2) {
    if (c.modulation_order <= 2) return {1, 2, 3};
    return symbols({{1, 2}, {3, 1}, {2, 3}});
  }
  std::vector<std::int32_t> rows(std::begin(basis), std::end(basis));
  for (std::int32_t& row : rows) row &= (1 << c.k) - 1;
  return rows;
}

/// Message bits that the first coded bits tell.
int rank_of(const short_block_config& c) {
  std::vector<std::int32_t> pivots;
  const std::vector<std::int32_t> rows = rows_of(c);
  for (int e = 0; e < std::min(c.coded_bits, static_cast<int>(rows.size())); e++) {
    std::int32_t row = std::max(rows[static_cast<std::size_t>(e)], 0);
    for (const std::int32_t p : pivots) row = std::min(row, row ^ p);
    if (row != 0) pivots.push_back(row);
  }
  return static_cast<int>(pivots.size());
}

/// short_block_decode_args::places.
std::vector<std::int32_t> places_of(const short_block_config& c) {
  const std::vector<std::int32_t> rows = rows_of(c);
  std::vector<std::int32_t> places(3 * 32, -1);
  std::int32_t row = 0;
  for (std::size_t e = 0; e < rows.size(); e++) {
    if (rows[e] == -short_block_x) continue;
    if (rows[e] != -short_block_y) row = rows[e];  // a y repeats the bit before it
    const bool by_sign = c.k > 2;
    const std::size_t sum = 3 * static_cast<std::size_t>(by_sign ? basis[e] >> 1 & 31 : row);
    places[sum + (places[sum] < 0 ? 0 : 1)] = static_cast<std::int32_t>(e);
    places[sum + 2] = by_sign ? basis[e] >> 6 : 0;
  }
  return places;
}

}  // namespace

const std::vector<setting_of<short_block_config>>& short_block_settings() {
  using c = short_block_config;
  static const std::vector<setting_of<c>> settings{
      integer("k", &c::k, 1, 11, "Bits of a message."),
      integer(
          "coded_bits", &c::coded_bits, 1, 16384, "E: bits sent for a message.",
          "an integer from k to 16384, for which messages differ; a multiple of modulation_order with k = "
          "1 or 2"),
      one_of("modulation_order", &c::modulation_order, {1, 2, 4, 6, 8},
             "Bits m of a symbol. With k = 1 a symbol carries one coded bit, with k = 2 two; placeholders "
             "fill the rest.")};
  return settings;
}

void check(const short_block_config& c) {
  check_settings(short_block_settings(), c);
  if (c.k <= 2 && c.coded_bits % c.modulation_order != 0)
    throw argument_error("coded_bits", std::to_string(c.coded_bits),
                         "a multiple of modulation_order, " + std::to_string(c.modulation_order));
  if (rank_of(c) < c.k)
    throw argument_error("coded_bits", std::to_string(c.coded_bits),
                         "so many that messages of " + std::to_string(c.k) + " bits differ");
}

short_block_encoder::short_block_encoder(const short_block_config& config) : config_(config) {
  check(config);
  rows_ = resident(rows_of(config));
}

void short_block_encoder::run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const {
  rows_.check_held();
  check_shape("bits", bits, bits.items, static_cast<std::size_t>(config_.k));
  check_shape("coded", coded, bits.items,
              std::max(coded.elements, static_cast<std::size_t>(config_.coded_bits)));
  short_block_encode_args a;
  a.bits = bits;
  a.coded = coded;
  a.rows = rows_.on(exec);
  a.k = config_.k;
  a.period = static_cast<std::int32_t>(rows_.host().size());
  a.coded_bits = config_.coded_bits;
  exec.run(short_block_encode_kernels(), &a, bits.items);
}

short_block_decoder::short_block_decoder(const short_block_config& config) : config_(config) {
  check(config);
  args_.k = config.k;
  args_.period = static_cast<std::int32_t>(rows_of(config).size());
  args_.coded_bits = config.coded_bits;
  args_.by_sign = config.k > 2;
  args_.transforms = 1 << std::max(0, config.k - 6);
  args_.transformed = args_.by_sign ? 1 << std::min(config.k - 1, 5) : 1 << config.k;
  places_ = resident(places_of(config));
}

void short_block_decoder::run(executor& exec, const llr_batch& llr, const short_block_output& out) const {
  places_.check_held();
  const std::size_t batch = llr.items;
  check_shape("llr", llr, batch, static_cast<std::size_t>(config_.coded_bits));
  check_optional_shape("bits", out.bits, batch, static_cast<std::size_t>(config_.k));
  check_optional_shape("status", out.status, batch, 1);
  check_optional_shape("margin", out.margin, batch, 1);
  check_optional_shape("agreement", out.agreement, batch, 1);
  check_apart(
      {{"bits", out.bits}, {"status", out.status}, {"margin", out.margin}, {"agreement", out.agreement}});
  short_block_decode_args a = args_;
  a.places = places_.on(exec);
  a.llr = floats_.of(exec, llr);
  a.bits = out.bits;
  a.status = out.status;
  a.margin = out.margin;
  a.agreement = out.agreement;
  exec.run(short_block_decode_kernels(), &a, batch);
}

}  // namespace wb
