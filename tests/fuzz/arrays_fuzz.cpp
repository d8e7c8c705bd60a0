// The array layer of the Python package: whatever an object says of its memory, a view lies inside of it or
// the object is refused. arrays_fuzz.py makes objects of the bytes.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <cstdlib>

#include <nanobind/nanobind.h>

#include <python/src/arrays.hpp>
#include <python/src/rooms.hpp>

#include "arrays_script.hpp"

namespace nb = nanobind;

NB_MODULE(_core, m) {
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void*) {
        try {
          std::rethrow_exception(thrown);
        } catch (const wb::error& e) {
          PyErr_SetString(PyExc_ValueError, e.what());
        }
      },
      nullptr);
  nb::set_leak_warnings(false);
  wb::python::bind_executors(m);
  wb::python::bind_device_array(m);
  wb::python::bind_arrays(m);
  wb::python::bind_exchange(m);
  // An input and an output of one call, as classes of the package have them.
  m.def("input_and_output", [](nb::handle in, nb::handle out, int trailing, wb::python::executor_ref& where) {
    const wb::python::argument a("in", in, where), b("out", out, where, true);
    (void)a.bits(trailing);
    (void)b.as<std::uint8_t>(trailing);
    (void)a.items_sharing(trailing, b.batch(trailing));
    a.expect_batch(trailing, b.batch(trailing));
    (void)a.in_groups<const std::uint8_t>(2);
  });
}

static PyObject* look = nullptr;

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  PyImport_AppendInittab("_core", &PyInit__core);
  Py_Initialize();
  PyObject* main = PyModule_GetDict(PyImport_AddModule("__main__"));
  if (PyRun_String(arrays_script, Py_file_input, main, main) == nullptr) {
    PyErr_Print();
    std::abort();
  }
  look = PyDict_GetItemString(main, "look");
  return look == nullptr ? 1 : 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  PyObject* done =
      PyObject_CallFunction(look, "y#", reinterpret_cast<const char*>(data), static_cast<Py_ssize_t>(size));
  if (done == nullptr) {
    PyErr_Print();
    std::abort();
  }
  Py_DECREF(done);
  return 0;
}
