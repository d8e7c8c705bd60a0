// channel/file: channel estimates from HDF5 files, where this build has HDF5.
#include <string>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "rooms.hpp"

#if WARPBAND_HDF5
#include <warpband/channel/file/csi_file.hpp>
#endif

namespace wb::python {

#if WARPBAND_HDF5
namespace {

void read(const csi_file& f, executor_ref& where, std::size_t first, nb::handle channel, nb::handle status) {
  const argument h("channel", channel, where, true), s("status", status, where, true);
  h.expect_item({f.subcarriers(), f.rx_antennas(), f.streams()});
  s.expect_item({f.subcarriers()});
  s.expect_batch(1, h.batch(3));
  const auto to = h.as<std::complex<float>>(3);
  const auto erased = s.as<std::uint8_t>(1);
  if (to.items == 0) return;
  const auto dense = [](const auto& v) {
    return (v.elements == 1 || v.element_stride == 1) && (v.items == 1 || v.item_stride == v.elements);
  };
  if (!dense(to) || !dense(erased)) throw shape_error("channel", "an array with gaps", "contiguous arrays");
  nb::gil_scoped_release released;
  f.read(first, to.items, to.data, erased.data);
}

}  // namespace

void bind_csi(nb::module_& m) {
  m.def("has_hdf5", [] { return true; });
  nb::class_<csi_file>(m, "CsiFile")
      .def(
          "__init__",
          [](csi_file* self, const std::string& path, const std::string& scale, int cell,
             std::optional<int> first_sample, std::optional<bool> shifted_pilot, bool trusted) {
            csi_options o;
            o.scale = named<csi_scale>(
                "scale", scale,
                {{"none", csi_scale::none}, {"snapshot", csi_scale::snapshot}, {"file", csi_scale::file}});
            o.cell = cell, o.first_sample = first_sample, o.shifted_pilot = shifted_pilot;
            o.trusted = trusted;
            nb::gil_scoped_release released;
            new (self) csi_file(path, o);
          },
          nb::kw_only(), nb::arg("path"), nb::arg("scale"), nb::arg("cell"), optional("first_sample"),
          optional("shifted_pilot"), nb::arg("trusted"))
      .def("read", &read, nb::arg("executor"), nb::arg("first"), nb::arg("channel"), nb::arg("status"))
      .def_prop_ro("layout", [](const csi_file& f) { return name_of(f.layout()); })
      .def_prop_ro("shape",
                   [](const csi_file& f) {
                     return nb::make_tuple(f.snapshots(), f.subcarriers(), f.rx_antennas(), f.streams());
                   })
      .def_prop_ro("remark", [](const csi_file& f) { return f.remark(); })
      .def_prop_ro("carrier_hz", [](const csi_file& f) { return f.carrier_hz(); })
      .def_prop_ro("spacing_hz", [](const csi_file& f) { return f.spacing_hz(); });
}

#else

void bind_csi(nb::module_& m) {
  m.def("has_hdf5", [] { return false; });
}

#endif

}  // namespace wb::python
