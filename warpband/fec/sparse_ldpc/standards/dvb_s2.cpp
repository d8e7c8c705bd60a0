#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

#include <warpband/core/as_size.hpp>
#include <warpband/fec/sparse_ldpc/standard_matrix.hpp>
#include <warpband/fec/sparse_ldpc/standards/standards.hpp>

namespace wb {
namespace {

constexpr int bits_of_a_row = 360;

struct weight_run {
  int count, weight;
};
struct dvb_s2_table {
  const char* name;
  int n, k, corrects;
  weight_run runs[7];  // count 0: no more
  std::span<const std::uint16_t> addresses;
};

#include <warpband/fec/sparse_ldpc/standards/dvb_s2_tables.inc>

}  // namespace

const std::vector<dvb_s2_code>& dvb_s2_codes() {
  static const std::vector<dvb_s2_code> codes = [] {
    std::vector<dvb_s2_code> list;
    for (const dvb_s2_table& t : dvb_s2_tables) {
      const int field_degree = t.n == 64800 ? 16 : t.n == 32400 ? 15 : 14;
      list.push_back({t.name, t.n, t.k, field_degree, t.corrects});
    }
    return list;
  }();
  return codes;
}

parity_check_matrix dvb_s2_matrix(std::string_view name, const unsent_columns& unsent) {
  const auto table = std::find_if(std::begin(dvb_s2_tables), std::end(dvb_s2_tables),
                                  [&](const dvb_s2_table& t) { return t.name == name; });
  if (table == std::end(dvb_s2_tables))
    throw argument_error("matrix", "\"" + std::string(name) + "\"", "a name of dvb_s2_codes");
  const int checks = table->n - table->k, q = checks / bits_of_a_row;
  // Check r + q s is row 360 r + s.
  const auto row_of = [=](int check) { return as_size(check % q * bits_of_a_row + check / q); };
  std::vector<std::vector<int>> rows(as_size(checks));
  int first = 0;  // information bit of the row of addresses
  std::size_t next = 0;
  for (const weight_run& run : table->runs)
    for (int i = 0; i < run.count; i++, first += bits_of_a_row)
      for (int j = 0; j < run.weight; j++, next++)
        for (int w = 0; w < bits_of_a_row; w++)
          rows[row_of((table->addresses[next] + w * q) % checks)].push_back(first + w);
  for (int c = 0; c < checks; c++) {
    if (c > 0) rows[row_of(c)].push_back(table->k + c - 1);
    rows[row_of(c)].push_back(table->k + c);
  }
  return {table->n, std::move(rows), unsent};
}

}  // namespace wb
