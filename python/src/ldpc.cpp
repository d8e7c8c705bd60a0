// fec/ldpc/, fec/sparse_ldpc/: LDPC codes, quasi-cyclic and of any sparse matrix.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <warpband/fec/ldpc/ldpc.hpp>
#include <warpband/fec/ldpc/ldpc_file.hpp>
#include <warpband/fec/sparse_ldpc/min_sum_backward.hpp>
#include <warpband/fec/sparse_ldpc/sparse_ldpc.hpp>
#include <warpband/fec/sparse_ldpc/standard_matrix.hpp>

#include "arrays.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

ldpc_code of_matrix(const std::vector<std::vector<int>>& rows, int z) {
  qc_matrix m;
  m.rows = static_cast<int>(rows.size());
  m.columns = rows.empty() ? 0 : static_cast<int>(rows[0].size());
  for (const auto& row : rows) {
    if (static_cast<int>(row.size()) != m.columns)
      throw argument_error("matrix", "rows of other lengths", "rows of the same length");
    m.shifts.insert(m.shifts.end(), row.begin(), row.end());
  }
  return ldpc_code(std::move(m), z);
}

ldpc_code wimax(int n, const std::string& rate) {
  return wimax_ldpc(n, named<wimax_rate>("rate", rate,
                                         {{"1/2", wimax_rate::r1_2},
                                          {"2/3A", wimax_rate::r2_3a},
                                          {"2/3B", wimax_rate::r2_3b},
                                          {"3/4A", wimax_rate::r3_4a},
                                          {"3/4B", wimax_rate::r3_4b},
                                          {"5/6", wimax_rate::r5_6}}));
}
ldpc_code wifi(int n, const std::string& rate) {
  return wifi_ldpc(n, named<wifi_rate>("rate", rate,
                                       {{"1/2", wifi_rate::r1_2},
                                        {"2/3", wifi_rate::r2_3},
                                        {"3/4", wifi_rate::r3_4},
                                        {"5/6", wifi_rate::r5_6}}));
}

std::vector<std::vector<int>> matrix_of(const ldpc_code& c) {
  std::vector<std::vector<int>> rows(static_cast<std::size_t>(c.rows()));
  for (int r = 0; r < c.rows(); r++)
    for (int i = 0; i < c.columns(); i++) rows[static_cast<std::size_t>(r)].push_back(c.shift(r, i));
  return rows;
}

void ldpc_decode(const ldpc_decoder& d, executor_ref& where, nb::handle llr, double llr_scale,
                 nb::handle bits, nb::handle soft, nb::handle extrinsic, nb::handle iterations,
                 nb::handle status) {
  const argument l("llr", llr, where), b("bits", bits, where, true), s("soft", soft, where, true),
      e("extrinsic", extrinsic, where, true), i("iterations", iterations, where, true),
      t("status", status, where, true);
  l.expect_item({static_cast<std::size_t>(d.code().n())});
  const llr_batch in = l.llrs(1, llr_scale);
  const ldpc_decoder_output out{.bits = b.as<std::uint8_t>(1),
                                .soft = s.as<float>(1),
                                .extrinsic = e.as<float>(1),
                                .iterations = i.as<std::int32_t>(0),
                                .status = t.as<std::uint8_t>(0)};
  where.run([&](executor& exec) { d.run(exec, in, out); });
}

void ldpc_encode(const ldpc_encoder& e, executor_ref& where, nb::handle bits, nb::handle coded) {
  const argument b("bits", bits, where), c("coded", coded, where, true);
  b.expect_item({static_cast<std::size_t>(e.k())});
  const auto in = b.bits(1);
  const auto out = c.as<std::uint8_t>(1);
  where.run([&](executor& exec) { e.run(exec, in, out); });
}

// ---- any sparse matrix

using columns = std::vector<int>;

parity_check_matrix sparse_of_rows(int n, const std::vector<columns>& rows, const columns& punctured,
                                   const columns& shortened, const std::vector<columns>& encoder_rows) {
  return {n, rows, {.punctured = punctured, .shortened = shortened}, encoder_rows};
}
parity_check_matrix sparse_of_name(const std::string& path, const columns& punctured,
                                   const columns& shortened) {
  return parity_check_matrix_of(path, {}, {.punctured = punctured, .shortened = shortened});
}

void sparse_decode(const sparse_ldpc_decoder& d, executor_ref& where, nb::handle llr, double llr_scale,
                   nb::handle syndrome, nb::handle bits, nb::handle all_bits, nb::handle soft,
                   nb::handle extrinsic, nb::handle iterations, nb::handle status) {
  const argument l("llr", llr, where), y("syndrome", syndrome, where), b("bits", bits, where, true),
      w("word", all_bits, where, true), s("soft", soft, where, true), e("extrinsic", extrinsic, where, true),
      i("iterations", iterations, where, true), t("status", status, where, true);
  l.expect_item({static_cast<std::size_t>(d.matrix().sent())});
  const llr_batch in = l.llrs(1, llr_scale);
  view<const std::uint8_t> sums;
  if (!syndrome.is_none()) {
    y.expect_item({static_cast<std::size_t>(d.matrix().checks())});
    y.expect_batch(1, l.batch(1));
    sums = y.bits(1);
  }
  const auto some = b.as<std::uint8_t>(1), whole = w.as<std::uint8_t>(1);
  if (some.data != nullptr && whole.data != nullptr)
    throw argument_error("outputs", "bits and word", "one of the two");
  const sparse_ldpc_output out{.bits = some.data != nullptr ? some : whole,
                               .soft = s.as<float>(1),
                               .extrinsic = e.as<float>(1),
                               .iterations = i.as<std::int32_t>(0),
                               .status = t.as<std::uint8_t>(0)};
  where.run([&](executor& exec) { d.run(exec, in, out, sums); });
}

void sparse_encode(const sparse_ldpc_encoder& e, executor_ref& where, nb::handle bits, nb::handle coded) {
  const argument b("bits", bits, where), c("coded", coded, where, true);
  b.expect_item({static_cast<std::size_t>(e.matrix().k())});
  const auto in = b.bits(1);
  const auto out = c.as<std::uint8_t>(1);
  where.run([&](executor& exec) { e.run(exec, in, out); });
}

void bind_sparse_ldpc(nb::module_& m) {
  using matrix = parity_check_matrix;
  nb::class_<matrix>(m, "ParityCheckMatrix")
      .def_static("of_rows", &sparse_of_rows, nb::arg("n"), nb::arg("rows"), nb::arg("punctured"),
                  nb::arg("shortened"), nb::arg("encoder_rows"))
      .def_static("named", &sparse_of_name, nb::arg("path"), nb::arg("punctured"), nb::arg("shortened"))
      .def_prop_ro("n", &matrix::n)
      .def_prop_ro("checks", &matrix::checks)
      .def_prop_ro("rank", &matrix::rank)
      .def_prop_ro("k", &matrix::k)
      .def_prop_ro("sent", &matrix::sent)
      .def_prop_ro("rows", &matrix::rows)
      .def_prop_ro("encoder_rows", &matrix::encoder_rows)
      .def_prop_ro("information_columns", &matrix::information_columns)
      .def_prop_ro("sent_columns", &matrix::sent_columns)
      .def_prop_ro("punctured", &matrix::punctured)
      .def_prop_ro("shortened", &matrix::shortened);
  add_keywords(m, "SparseLdpcDecoder", sparse_ldpc_settings());
  nb::class_<sparse_ldpc_decoder>(m, "SparseLdpcDecoder")
      .def(
          "__init__",
          [](sparse_ldpc_decoder* self, const matrix& h, const nb::dict& settings) {
            new (self) sparse_ldpc_decoder(h, with_settings(sparse_ldpc_settings(), settings));
          },
          nb::kw_only(), nb::arg("matrix"), nb::arg("settings"))
      .def_prop_ro(
          "settings",
          [](const sparse_ldpc_decoder& d) { return settings_in(sparse_ldpc_settings(), d.config()); })
      .def_prop_ro("layers", &sparse_ldpc_decoder::layers)
      .def("run", &sparse_decode, nb::arg("executor"), nb::arg("llr"), nb::arg("llr_scale"),
           optional("syndrome"), optional("bits"), optional("word"), optional("soft"), optional("extrinsic"),
           optional("iterations"), optional("status"));
  nb::class_<sparse_ldpc_encoder>(m, "SparseLdpcEncoder")
      .def(nb::init<const matrix&>(), nb::arg("matrix"))
      .def("run", &sparse_encode, nb::arg("executor"), nb::arg("bits"), nb::arg("coded"));
}

void min_sum_gradient(const min_sum_backward& d, executor_ref& where, nb::handle llr,
                      nb::handle soft_gradient, nb::handle llr_gradient, nb::handle correction_gradient) {
  const argument l("llr", llr, where), s("soft_gradient", soft_gradient, where),
      of_llr("llr_gradient", llr_gradient, where, true),
      of_correction("correction_gradient", correction_gradient, where, true);
  const auto in = l.as<const float>(1), given = s.as<const float>(1);
  const min_sum_gradients out{of_llr.as<float>(1), of_correction.as<float>(1)};
  where.run([&](executor& exec) { d.run(exec, in, given, out); });
}

void bind_min_sum_backward(nb::module_& m) {
  nb::class_<min_sum_backward>(m, "MinSumBackward")
      .def_static(
          "of_code",
          [](const ldpc_code& code, const nb::dict& settings) {
            return min_sum_backward(code, with_settings(ldpc_decoder_settings(), settings));
          },
          nb::kw_only(), nb::arg("code"), nb::arg("settings"))
      .def_static(
          "of_matrix",
          [](const parity_check_matrix& matrix, const nb::dict& settings) {
            return min_sum_backward(matrix, with_settings(sparse_ldpc_settings(), settings));
          },
          nb::kw_only(), nb::arg("matrix"), nb::arg("settings"))
      .def("run", &min_sum_gradient, nb::arg("executor"), nb::arg("llr"), nb::arg("soft_gradient"),
           optional("llr_gradient"), optional("correction_gradient"));
}

}  // namespace

void bind_ldpc(nb::module_& m) {
  nb::class_<ldpc_code>(m, "LdpcCode")
      .def_static("of_matrix", &of_matrix, nb::arg("matrix"), nb::arg("z"))
      .def_static("wimax", &wimax, nb::arg("n"), nb::arg("rate"))
      .def_static("wifi", &wifi, nb::arg("n"), nb::arg("rate"))
      .def_static("read", &read_ldpc_code, nb::arg("path"), nb::arg("lifting_size"))
      .def_prop_ro("k", &ldpc_code::k)
      .def_prop_ro("n", &ldpc_code::n)
      .def_prop_ro("z", &ldpc_code::z)
      .def_prop_ro("matrix", &matrix_of);
  add_keywords(m, "LdpcDecoder", ldpc_decoder_settings());
  nb::class_<ldpc_decoder>(m, "LdpcDecoder")
      .def(
          "__init__",
          [](ldpc_decoder* self, const ldpc_code& code, const nb::dict& settings) {
            new (self) ldpc_decoder(code, with_settings(ldpc_decoder_settings(), settings));
          },
          nb::kw_only(), nb::arg("code"), nb::arg("settings"))
      .def_prop_ro("settings",
                   [](const ldpc_decoder& d) { return settings_in(ldpc_decoder_settings(), d.config()); })
      .def("run", &ldpc_decode, nb::arg("executor"), nb::arg("llr"), nb::arg("llr_scale"), optional("bits"),
           optional("soft"), optional("extrinsic"), optional("iterations"), optional("status"));
  nb::class_<ldpc_encoder>(m, "LdpcEncoder")
      .def(nb::init<const ldpc_code&>(), nb::arg("code"))
      .def("run", &ldpc_encode, nb::arg("executor"), nb::arg("bits"), nb::arg("coded"));
  bind_sparse_ldpc(m);
  bind_min_sum_backward(m);
}

}  // namespace wb::python
