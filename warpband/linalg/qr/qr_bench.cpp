#include <bench/bench.hpp>
#include <complex>
#include <type_traits>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/linalg/qr/qr.hpp>

namespace {

using namespace wb;
using bench::figure;

/// R and z of `ways` decompositions of the same matrices, their columns in as many cyclic orders.
template <class E>
bench::maker qr(int rows, int columns, qr_method method, layout order, int ways, std::size_t items) {
  return [=](executor& exec, figure kind) {
    const bool fed = kind == figure::host_fed;
    const basic_qr_decomposition<E> decomposition({.rows = rows, .columns = columns, .method = method});
    const auto m = static_cast<std::size_t>(rows), n = static_cast<std::size_t>(columns);
    auto h = exec.make<E>(items, m * n, order), y = exec.make<E>(items, m, order);
    const auto fill = [&](array<E>& a, std::uint64_t seed) {
      const std::size_t size = a.size() * sizeof(E) / sizeof(std::complex<float>);
      const auto zero = exec.make_zeros<std::complex<float>>(1, 1);
      const auto to = make_view(reinterpret_cast<std::complex<float>*>(a.data()), size, 1);
      add_awgn(exec, {zero.data(), 1, size, 1, 0}, to, 1.f, {.seed = seed});
      exec.sync();
    };
    fill(h, 1);
    fill(y, 2);
    std::vector<array<E>> r, z, host_r, host_z;
    const std::size_t copied = fed ? items : 0;
    for (int w = 0; w < ways; w++) {
      r.push_back(exec.make<E>(items, n * n, order));
      z.push_back(exec.make<E>(items, n, order));
      host_r.push_back(exec.make_host<E>(copied, n * n, order));
      host_z.push_back(exec.make_host<E>(copied, n, order));
    }
    auto host_h = exec.make_host<E>(copied, m * n, order), host_y = exec.make_host<E>(copied, m, order);
    if (fed) {
      exec.download(host_h.data(), h.data(), h.bytes());
      exec.download(host_y.data(), y.data(), y.bytes());
    }
    exec.sync();
    return bench::job(static_cast<double>(items), 0,
                      [=, &exec, h = std::move(h), y = std::move(y), r = std::move(r), z = std::move(z),
                       host_h = std::move(host_h), host_y = std::move(host_y), host_r = std::move(host_r),
                       host_z = std::move(host_z)]() mutable {
                        if (fed) {
                          exec.upload(h.data(), host_h.data(), h.bytes());
                          exec.upload(y.data(), host_y.data(), y.bytes());
                        }
                        for (int first = 0; first < ways; first++) {
                          const auto w = static_cast<std::size_t>(first);
                          decomposition.run(exec, {.h = h, .y = y, .first = first}, {.r = r[w], .z = z[w]});
                          if (!fed) continue;
                          exec.download(host_r[w].data(), r[w].data(), r[w].bytes());
                          exec.download(host_z[w].data(), z[w].data(), z[w].bytes());
                        }
                      });
  };
}

template <class E>
void add(const std::string& device, int rows, int columns, qr_method method,
         layout order = layout::row_major) {
  const bool real = std::is_same_v<E, float>;
  const std::vector<bench::axis> axes{{"entries", real ? "real" : "complex"},
                                      {"rows", rows},
                                      {"columns", columns},
                                      {"method", method == qr_method::cholesky      ? "cholesky"
                                                 : method == qr_method::householder ? "householder"
                                                                                    : "gram_schmidt"},
                                      {"layout", order == layout::row_major ? "row_major" : "batch_fastest"},
                                      {"ways", 1}};
  bench::add("qr", device, axes, {figure::kernel, figure::resident},
             qr<E>(rows, columns, method, order, 1, bench::batch_for(device, 1 << 11, 1 << 20)));
  if (rows == 4 && !real && order == layout::row_major)
    bench::add("qr", device, axes, {figure::host_fed}, qr<E>(rows, columns, method, order, 1, 1 << 18));
}

const bench::group qr_benches{[] {
  for (const std::string& device : bench::devices()) {
    for (const qr_method method : {qr_method::gram_schmidt, qr_method::householder, qr_method::cholesky}) {
      for (const int n : {2, 4, 8}) {
        add<std::complex<float>>(device, n, n, method);
        add<std::complex<float>>(device, n, n, method, layout::batch_fastest);
        add<float>(device, 2 * n, 2 * n, method);
      }
      add<std::complex<float>>(device, 8, 4, method);
      add<std::complex<float>>(device, 16, 8, method);
    }
    // wu2012 table I: the decompositions of N passes over a slot of LTE at 20 MHz.
    for (const int n : {2, 4})
      for (int ways = 1; ways <= n; ways++) {
        const std::vector<bench::axis> axes{
            {"entries", "complex"},  {"rows", n},    {"columns", n},    {"method", "gram_schmidt"},
            {"layout", "row_major"}, {"ways", ways}, {"matrices", 8400}};
        bench::add("qr", device, axes, {figure::kernel, figure::small},
                   qr<std::complex<float>>(n, n, qr_method::gram_schmidt, layout::row_major, ways, 8400));
      }
  }
}};

}  // namespace
