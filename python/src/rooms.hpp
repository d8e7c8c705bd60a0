#pragma once
// The parts of the module, one for each room of the library, and what they share.
#include <initializer_list>
#include <string>
#include <utility>

#include <nanobind/nanobind.h>

#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>

namespace wb::python {

void bind_arrays(nanobind::module_& m);
void bind_device_array(nanobind::module_& m);
void bind_exchange(nanobind::module_& m);
void bind_executors(nanobind::module_& m);
void bind_detect(nanobind::module_& m);
void bind_turbo(nanobind::module_& m);
void bind_ldpc(nanobind::module_& m);
void bind_conv(nanobind::module_& m);
void bind_polar(nanobind::module_& m);
void bind_short_block(nanobind::module_& m);
void bind_osd(nanobind::module_& m);
void bind_bch(nanobind::module_& m);
void bind_ctc(nanobind::module_& m);
void bind_blocks(nanobind::module_& m);
void bind_lte(nanobind::module_& m);
void bind_nr(nanobind::module_& m);
void bind_nr_slots(nanobind::module_& m);
void bind_cell_search(nanobind::module_& m);
void bind_pbch(nanobind::module_& m);
void bind_pdcch(nanobind::module_& m);
void bind_downlink(nanobind::module_& m);
void bind_prach(nanobind::module_& m);
void bind_pucch(nanobind::module_& m);
void bind_crc(nanobind::module_& m);
void bind_massive(nanobind::module_& m);
void bind_stbc(nanobind::module_& m);
void bind_channel(nanobind::module_& m);
void bind_array_channels(nanobind::module_& m);
void bind_csi(nanobind::module_& m);
void bind_linalg(nanobind::module_& m);
void bind_modem(nanobind::module_& m);
void bind_ofdm(nanobind::module_& m);
void bind_sweep(nanobind::module_& m);
void bind_choose(nanobind::module_& m);
void bind_stream(nanobind::module_& m);
void bind_receive(nanobind::module_& m);
void bind_wimax(nanobind::module_& m);

/// An argument that may be None.
inline auto optional(const char* name) { return nanobind::arg(name).none(); }

/// The value that a word names; "log_map" is "log-map". Throws argument_error.
template <class E>
E named(const char* argument, std::string word, std::initializer_list<std::pair<const char*, E>> values) {
  for (char& c : word)
    if (c == '_') c = '-';
  std::string allowed;
  for (const auto& [name, value] : values) {
    if (word == name) return value;
    allowed += (allowed.empty() ? "\"" : ", \"") + std::string(name) + "\"";
  }
  throw argument_error(argument, "\"" + printable(word) + "\"", "one of " + allowed);
}

/// Runs f. Where it blames an argument by the library's name, the error has Python's.
template <class F>
void with_names(std::initializer_list<std::pair<const char*, const char*>> names, F&& f) {
  try {
    f();
  } catch (const argument_error& e) {
    for (const auto& [library, python] : names)
      if (e.argument() == library) throw argument_error(python, e.value(), e.allowed());
    throw;
  }
}

}  // namespace wb::python
