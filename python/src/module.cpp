// The extension module warpband._core: thin calls that the classes of python/warpband/ make.
#include <new>

#include <nanobind/nanobind.h>

#include <warpband/core/printable.hpp>
#include <warpband/link/result.hpp>

#include "rooms.hpp"
#include "settings.hpp"

namespace nb = nanobind;

NB_MODULE(_core, m) {
  m.doc() = "Internal: the compiled part of warpband.";
  // Errors keep their text, but for what a terminal would obey. What the caller can put right is a
  // ValueError.
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void*) {
        try {
          std::rethrow_exception(thrown);
        } catch (const wb::argument_error& e) {
          PyErr_SetString(PyExc_ValueError, wb::printable_lines(e.what()).c_str());
        } catch (const wb::error& e) {
          PyErr_SetString(PyExc_RuntimeError, wb::printable_lines(e.what()).c_str());
        }
      },
      nullptr);
  nb::set_leak_warnings(false);  // what a program still holds when it ends is no fault of its own
  m.def("version", &wb::version);
  m.def("commit", &wb::commit);
  wb::python::add_renamed(m);
  wb::python::bind_executors(m);
  wb::python::bind_device_array(m);
  wb::python::bind_arrays(m);
  wb::python::bind_exchange(m);
  wb::python::bind_detect(m);
  wb::python::bind_turbo(m);
  wb::python::bind_linalg(m);
  wb::python::bind_modem(m);
  wb::python::bind_ofdm(m);
  wb::python::bind_ldpc(m);
  wb::python::bind_osd(m);
  wb::python::bind_bch(m);
  wb::python::bind_conv(m);
  wb::python::bind_polar(m);
  wb::python::bind_short_block(m);
  wb::python::bind_ctc(m);
  wb::python::bind_lte(m);
  wb::python::bind_nr(m);
  wb::python::bind_nr_slots(m);
  wb::python::bind_blocks(m);
  wb::python::bind_cell_search(m);
  wb::python::bind_pbch(m);
  wb::python::bind_pdcch(m);
  wb::python::bind_downlink(m);
  wb::python::bind_prach(m);
  wb::python::bind_pucch(m);
  wb::python::bind_crc(m);
  wb::python::bind_massive(m);
  wb::python::bind_stbc(m);
  wb::python::bind_channel(m);
  wb::python::bind_array_channels(m);
  wb::python::bind_csi(m);
  wb::python::bind_sweep(m);
  wb::python::bind_choose(m);
  wb::python::bind_stream(m);
  wb::python::bind_receive(m);
  wb::python::bind_wimax(m);
}
