// receive/downlink: system information of 5G NR.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <vector>

#include <warpband/receive/downlink.hpp>

#include "arrays.hpp"
#include "nr_objects.hpp"
#include "pbch_objects.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

using cf = std::complex<float>;

/// samples: one axis of neighbours.
nb::tuple receive_downlink(const nr_downlink& d, executor_ref& where, nb::handle samples) {
  const argument x("samples", samples, where);
  const auto in = x.as<const cf>(1);
  if (in.elements > 1 && in.element_stride != 1)
    throw argument_error("samples", "an array with gaps", "samples side by side");
  std::vector<nr_downlink_block> blocks;
  std::vector<nr_downlink_message> messages;
  where.run([&](executor& exec) {
    std::vector<cf> host(in.elements);
    exec.download(host.data(), in.data, sizeof(cf) * host.size());
    exec.sync();
    blocks = d.blocks(exec, host, in, host.size());
    messages = d.messages(exec, host, host.size(), blocks);
  });
  nb::list found, decoded;
  for (const nr_downlink_block& b : blocks)
    found.append(nb::make_tuple(nb::make_tuple(b.found.row, b.found.cell_id, b.found.first_sample,
                                               b.found.cfo_hz, b.found.snr_db, b.found.metric),
                                tuple_of(b.pbch)));
  for (const nr_downlink_message& m : messages)
    decoded.append(nb::make_tuple(m.cell_id, m.ssb_index, m.sfn, m.slot, m.first_sample, m.coreset_blocks,
                                  m.level, m.first_cce, m.snr_db, m.metric, bytes_of(m.bits), m.block.ok,
                                  bytes_of(m.block.bits)));
  return nb::make_tuple(found, decoded);
}

/// grid: one slot of CORESET 0's resource blocks, with neighbouring values.
nb::object decode_si(executor_ref& where, nb::handle grid, const dci_fields& dci, int cell_id, int slot,
                     int coreset_blocks, int spacing_khz, int dmrs_first_symbol,
                     std::optional<double> noise_var, const std::vector<int>& reserved, int dmrs_delay) {
  const nr_si_dci d = dci_of(dci);
  nr_si_dci_bits(coreset_blocks);
  nr_channel_config channel = nr_si_channel(
      d, {.spacing_khz = spacing_khz, .resource_blocks = coreset_blocks, .cell_id = cell_id, .slot = slot},
      dmrs_first_symbol);
  channel.reserved = nr_reserved_of(reserved);
  channel.dmrs.delay = dmrs_delay;
  const argument g("grid", grid, where);
  g.expect_item({14, static_cast<std::size_t>(12 * coreset_blocks)});
  const auto in = g.as<const cf>(2);
  nr_si_block block;
  where.run([&](executor& exec) { block = nr_si_decode(exec, in, channel, d.mcs, d.rv, noise_var); });
  if (!block.ok) return nb::none();
  return bytes_of(block.bits);
}

}  // namespace

void bind_downlink(nb::module_& m) {
  add_keywords(m, "NrDownlink", nr_downlink_settings());
  bind_settings(nb::class_<nr_downlink>(m, "NrDownlink"), &nr_downlink_settings)
      .def("run", &receive_downlink, nb::arg("executor"), nb::arg("samples"));
  m.def("nr_si_decode", &decode_si, nb::kw_only(), nb::arg("executor"), nb::arg("grid"), nb::arg("dci"),
        nb::arg("cell_id"), nb::arg("slot"), nb::arg("coreset_blocks"), nb::arg("spacing_khz"),
        nb::arg("dmrs_first_symbol"), nb::arg("noise_var").none(), nb::arg("reserved"),
        nb::arg("dmrs_delay"));
}

}  // namespace wb::python
