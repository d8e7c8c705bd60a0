// Belief propagation with ordered-statistics decoding of syndromes: the bivariate bicycle code [[144, 12,
// 12]] at an error rate of 0.05. Items are syndromes; Mb/s are bits of the error pattern.
#include <bench/bench.hpp>
#include <random>
#include <string>
#include <warpband/fec/osd/osd.hpp>

namespace {

using namespace wb;
using bench::figure;

/// S. Bravyi et al., "High-threshold and low-overhead fault-tolerant quantum memory", 2024. H = (B' | A')
/// with A = x^3 + y + y^2 and B = y^3 + x + x^2. x has the order 12 and y the order 6.
parity_check_matrix bicycle_matrix() {
  constexpr int l = 12, m = 6;
  const auto column = [](int i, int j) { return (i + l) % l * m + (j + m) % m; };
  std::vector<std::vector<int>> rows;
  for (int i = 0; i < l; i++)
    for (int j = 0; j < m; j++)
      rows.push_back({column(i, j - 3), column(i - 1, j), column(i - 2, j), l * m + column(i - 3, j),
                      l * m + column(i, j - 1), l * m + column(i, j - 2)});
  return {2 * l * m, rows};
}

bench::maker decode_bp_osd(const bp_osd_config& config, std::size_t batch) {
  return [=](executor& exec, figure) {
    const parity_check_matrix h = bicycle_matrix();
    const auto n = static_cast<std::size_t>(h.n()), checks = static_cast<std::size_t>(h.checks());
    std::mt19937_64 random(1);
    std::vector<std::uint8_t> sums(batch * checks), error(n);
    for (std::size_t i = 0; i < batch; i++) {
      for (auto& e : error) e = random() % 20 == 0;
      for (std::size_t r = 0; r < checks; r++)
        for (const int c : h.rows()[r]) sums[i * checks + r] ^= error[static_cast<std::size_t>(c)];
    }
    auto syndrome = exec.make<std::uint8_t>(batch, checks), bits = exec.make<std::uint8_t>(batch, n);
    exec.upload(syndrome.data(), sums.data(), syndrome.bytes());
    exec.sync();
    return bench::job(static_cast<double>(batch), static_cast<double>(n * batch),
                      [&exec, decoder = bp_osd(h, config, {0.05}), syndrome = std::move(syndrome),
                       bits = std::move(bits)]() mutable { decoder.run(exec, syndrome, {.bits = bits}); });
  };
}

const bench::group bp_osd_benches{[] {
  for (const std::string& device : bench::devices()) {
    const std::size_t batch = bench::batch_for(device, 4096, 132 * 512);
    for (const auto method : {ldpc_algorithm::sum_product, ldpc_algorithm::normalised_min_sum})
      for (const auto& [osd, order] : {std::pair{osd_method::off, 0}, std::pair{osd_method::osd_0, 0},
                                       std::pair{osd_method::osd_cs, 10}})
        bench::add("bp_osd", device,
                   {{"n", 144},
                    {"bp_method", method == ldpc_algorithm::sum_product ? "sum_product" : "min_sum"},
                    {"osd", osd == osd_method::off     ? "off"
                            : osd == osd_method::osd_0 ? "osd_0"
                                                       : "osd_cs"},
                    {"order", order}},
                   {figure::kernel, figure::resident},
                   decode_bp_osd({.bp_method = method, .osd_method = osd, .osd_order = order}, batch));
  }
}};

}  // namespace
