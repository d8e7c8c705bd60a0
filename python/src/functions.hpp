#pragma once
// Functions of Python as kinds of a sweep. Python's side of a function (python/warpband/_functions.py) makes
// and checks arrays; this side copies them from and to the executor, and has the GIL meanwhile.
#include <memory>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include <warpband/air/air.hpp>
#include <warpband/code/code_kind.hpp>
#include <warpband/detect/detector_kind.hpp>

#include "executors.hpp"

namespace wb::python {

/// Python's side of the functions of a sweep: a list of `FunctionOfSweep`. Copied without the GIL.
using python_functions = std::vector<std::shared_ptr<nanobind::object>>;
/// With the GIL.
python_functions functions_in(nanobind::list functions);
/// Their names. With the GIL.
std::vector<std::string> names_of(const python_functions& functions);

/// Kinds that call them, on an executor that outlives the kinds. With the GIL.
std::vector<air_kind> channel_kinds(const python_functions& functions, executor_ref& where);
std::vector<detector_kind> detector_kinds(const python_functions& functions, executor_ref& where);
std::vector<decoder_kind> decoder_kinds(const python_functions& functions, executor_ref& where);

}  // namespace wb::python
