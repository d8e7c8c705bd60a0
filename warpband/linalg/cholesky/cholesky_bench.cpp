#include <bench/bench.hpp>
#include <complex>
#include <vector>
#include <warpband/linalg/cholesky/cholesky.hpp>

namespace {

using namespace wb;
using bench::figure;
using complex = std::complex<float>;

/// R of Hermitian matrices, or the solution of a system with each.
bench::maker cholesky(int size, bool solves, layout order, std::size_t items) {
  return [=](executor& exec, figure) {
    const cholesky_solver solver(size);
    const auto n = static_cast<std::size_t>(size);
    auto a = exec.make<complex>(items, n * n, order), b = exec.make<complex>(items, n, order),
         out = exec.make<complex>(items, solves ? n : n * n, order);
    auto host_a = exec.make_host<complex>(items, n * n, order),
         host_b = exec.make_host<complex>(items, n, order);
    const auto entry_of = [&](array<complex>& to, std::size_t item, std::size_t element) -> complex& {
      const view<complex> v = to;
      return v.data[item * v.item_stride + element * v.element_stride];
    };
    for (std::size_t i = 0; i < items; i++)
      for (std::size_t r = 0; r < n; r++) {
        entry_of(host_b, i, r) = {1, static_cast<float>(r)};
        for (std::size_t c = 0; c < n; c++)
          entry_of(host_a, i, r * n + c) =
              r == c ? complex(2 * static_cast<float>(n)) : complex(1, r < c ? 1.f : -1.f);
      }
    exec.upload(a.data(), host_a.data(), a.bytes());
    exec.upload(b.data(), host_b.data(), b.bytes());
    exec.sync();
    return bench::job(static_cast<double>(items), 0,
                      [=, &exec, a = std::move(a), b = std::move(b), out = std::move(out)]() mutable {
                        if (solves)
                          solver.run(exec, {.a = a, .b = b}, {.x = out});
                        else
                          solver.run(exec, {.a = a}, {.r = out});
                      });
  };
}

const bench::group cholesky_benches{[] {
  for (const std::string& device : bench::devices())
    for (const int n : {2, 4, 8})
      for (const bool solves : {false, true})
        for (const layout order : {layout::row_major, layout::batch_fastest})
          bench::add("cholesky", device,
                     {{"size", n},
                      {"result", solves ? "x" : "r"},
                      {"layout", order == layout::row_major ? "row_major" : "batch_fastest"}},
                     {figure::kernel, figure::resident},
                     cholesky(n, solves, order, bench::batch_for(device, 1 << 11, 1 << 20)));
}};

}  // namespace
