// linalg/: decompositions of small matrices.
#include <complex>
#include <cstdint>
#include <string>

#include <nanobind/stl/string.h>

#include <warpband/linalg/cholesky/cholesky.hpp>
#include <warpband/linalg/qr/qr.hpp>

#include "arrays.hpp"
#include "rooms.hpp"

namespace wb::python {
namespace {

template <class E>
void qr(executor_ref& where, const std::string& method, nb::handle matrices, nb::handle right, nb::handle q,
        nb::handle r, nb::handle z, nb::handle status) {
  const argument a("a", matrices, where), y("y", right, where), q_out("q", q, where, true),
      r_out("r", r, where, true), z_out("z", z, where, true), s("status", status, where, true);
  const auto in = a.as<const E>(2);
  const auto batch = a.batch(2);
  const std::size_t rows = static_cast<std::size_t>(a.extent(a.axes() - 2)),
                    columns = static_cast<std::size_t>(a.extent(a.axes() - 1));
  if (y) y.expect_item({rows}), y.expect_batch(1, batch);
  const basic_qr_decomposition<E> decomposition(
      {.rows = static_cast<int>(rows),
       .columns = static_cast<int>(columns),
       .method = named<qr_method>("method", method,
                                  {{"gram-schmidt", qr_method::gram_schmidt},
                                   {"householder", qr_method::householder},
                                   {"cholesky", qr_method::cholesky}})});
  const qr_input<E> from{.h = in, .y = y.as<const E>(1)};
  const qr_output<E> to{
      .r = r_out.as<E>(2), .q = q_out.as<E>(2), .z = z_out.as<E>(1), .status = s.as<std::uint8_t>(0)};
  where.run([&](executor& exec) { decomposition.run(exec, from, to); });
}

void cholesky(executor_ref& where, nb::handle matrices, nb::handle right, nb::handle r, nb::handle x,
              nb::handle status) {
  using cf = std::complex<float>;
  const argument a("a", matrices, where), b("b", right, where), r_out("r", r, where, true),
      x_out("x", x, where, true), s("status", status, where, true);
  const auto in = a.as<const cf>(2);
  const std::size_t size = static_cast<std::size_t>(a.extent(a.axes() - 1));
  if (b) b.expect_item({size}), b.expect_batch(1, a.batch(2));
  const cholesky_solver solver(static_cast<int>(size));
  const cholesky_input from{.a = in, .b = b.as<const cf>(1)};
  const cholesky_output to{.r = r_out.as<cf>(2), .x = x_out.as<cf>(1), .status = s.as<std::uint8_t>(0)};
  where.run([&](executor& exec) { solver.run(exec, from, to); });
}

}  // namespace

void bind_linalg(nb::module_& m) {
  const auto add_qr = [&](const char* name, auto* f) {
    m.def(name, f, nb::arg("executor"), nb::arg("method"), nb::arg("a"), optional("y"), optional("q"),
          optional("r"), optional("z"), optional("status"));
  };
  add_qr("qr", &qr<std::complex<float>>);
  add_qr("real_qr", &qr<float>);
  m.def("cholesky", &cholesky, nb::arg("executor"), nb::arg("a"), optional("b"), optional("r"), optional("x"),
        optional("status"));
}

}  // namespace wb::python
