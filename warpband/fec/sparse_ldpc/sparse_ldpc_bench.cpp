// LDPC codes of any sparse matrix: the decoder at a fixed number of iterations and with early stop at a
// working point, and from syndromes; the encoder. Mb/s are information bits. The matrix is regular, with
// columns of weight 3 and rows of weight 6, drawn at random.
#include <algorithm>
#include <bench/bench.hpp>
#include <cmath>
#include <random>
#include <string>
#include <warpband/fec/sparse_ldpc/sparse_ldpc.hpp>

namespace {

using namespace wb;
using bench::figure;

parity_check_matrix regular_matrix(int n) {
  std::mt19937_64 random(1);
  std::vector<std::vector<int>> rows(static_cast<std::size_t>(n / 2));
  const std::size_t part = rows.size() / 3;  // n is a multiple of 6
  std::vector<int> order(static_cast<std::size_t>(n));
  for (std::size_t c = 0; c < order.size(); c++) order[c] = static_cast<int>(c);
  for (std::size_t p = 0; p < 3; p++) {  // R. G. Gallager: three parts, each with a one in each column
    for (std::size_t c = 0; c < order.size(); c++) rows[p * part + c / 6].push_back(order[c]);
    std::shuffle(order.begin(), order.end(), random);
  }
  return {n, rows};
}

bench::maker decode_sparse(int n, const sparse_ldpc_config& config, bool syndromes, double ebn0_db,
                           std::size_t batch) {
  return [=](executor& exec, figure) {
    const parity_check_matrix h = regular_matrix(n);
    const auto k = static_cast<std::size_t>(h.k()), columns = static_cast<std::size_t>(n),
               checks = static_cast<std::size_t>(h.checks());
    // The zero word, whose LLRs have the distribution of any word's.
    std::mt19937_64 random(2);
    const double rate = static_cast<double>(k) / n, variance = std::pow(10, -ebn0_db / 10) / (2 * rate);
    std::normal_distribution<float> received(1, static_cast<float>(std::sqrt(variance)));
    std::vector<float> values(batch * columns);
    std::vector<std::uint8_t> sums(syndromes ? batch * checks : 0);
    for (float& x : values) x = syndromes ? 2.9f : static_cast<float>(2 / variance) * received(random);
    for (std::size_t i = 0; syndromes && i < batch; i++) {
      std::vector<std::uint8_t> error(columns);
      for (auto& e : error) e = random() % 20 == 0;
      for (std::size_t r = 0; r < checks; r++)
        for (const int c : h.rows()[r]) sums[i * checks + r] ^= error[static_cast<std::size_t>(c)];
    }
    auto llr = exec.make<float>(batch, columns);
    auto syndrome = exec.make<std::uint8_t>(syndromes ? batch : 0, checks);
    auto bits = exec.make<std::uint8_t>(batch, k);
    exec.upload(llr.data(), values.data(), llr.bytes());
    exec.upload(syndrome.data(), sums.data(), syndrome.bytes());
    exec.sync();
    return bench::job(static_cast<double>(batch), static_cast<double>(k * batch),
                      [=, &exec, decoder = sparse_ldpc_decoder(h, config), llr = std::move(llr),
                       syndrome = std::move(syndrome), bits = std::move(bits)]() mutable {
                        decoder.run(
                            exec, llr, {.bits = bits},
                            syndromes ? view<const std::uint8_t>(syndrome) : view<const std::uint8_t>());
                      });
  };
}

bench::maker encode_sparse(int n, std::size_t batch) {
  return [=](executor& exec, figure) {
    const parity_check_matrix h = regular_matrix(n);
    auto bits = exec.make_zeros<std::uint8_t>(batch, static_cast<std::size_t>(h.k())),
         coded = exec.make<std::uint8_t>(batch, static_cast<std::size_t>(n));
    exec.sync();
    return bench::job(static_cast<double>(batch), static_cast<double>(batch) * h.k(),
                      [&exec, encoder = sparse_ldpc_encoder(h), bits = std::move(bits),
                       coded = std::move(coded)]() mutable { encoder.run(exec, bits, coded); });
  };
}

const bench::group sparse_ldpc_benches{[] {
  const char* algorithms[] = {"min_sum", "normalised_min_sum", "offset_min_sum", "sum_product"};
  for (const std::string& device : bench::devices())
    for (const int n : {1008, 8004}) {
      const std::size_t batch = bench::batch_for(device, 256, 132 * 64);
      for (const auto algorithm : {ldpc_algorithm::normalised_min_sum, ldpc_algorithm::sum_product})
        for (const auto schedule : {ldpc_schedule::layered, ldpc_schedule::flooding})
          for (const bool stop : {false, true})
            bench::add(
                "sparse_ldpc", device,
                {{"n", n},
                 {"algorithm", algorithms[static_cast<int>(algorithm)]},
                 {"schedule", schedule == ldpc_schedule::layered ? "layered" : "flooding"},
                 {"iterations", 20},
                 {"early_stop", stop ? "yes" : "no"}},
                {figure::kernel, figure::resident},
                decode_sparse(
                    n, {.algorithm = algorithm, .iterations = 20, .schedule = schedule, .early_stop = stop},
                    false, 2.5, batch));
      bench::add("sparse_ldpc_encode", device, {{"n", n}}, {figure::kernel, figure::resident},
                 encode_sparse(n, batch));
      if (n == 1008)
        bench::add("sparse_ldpc_syndrome", device,
                   {{"n", n}, {"algorithm", "sum_product"}, {"iterations", 30}},
                   {figure::kernel, figure::resident},
                   decode_sparse(n,
                                 {.algorithm = ldpc_algorithm::sum_product,
                                  .iterations = 30,
                                  .schedule = ldpc_schedule::flooding},
                                 true, 0, batch));
    }
}};

}  // namespace
