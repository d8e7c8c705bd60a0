// receive/wimax/: frames of WiMAX, from bits to grids and back.
#include "wimax.hpp"

#include <complex>
#include <deque>
#include <string>
#include <tuple>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <warpband/core/as_size.hpp>
#include <warpband/core/printable.hpp>

#include "arrays.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

using cf = std::complex<float>;

/// Text of any characters that UTF-8 has.
std::string text_of_key(const char* argument, nb::handle key) {
  std::string text;
  if (PyUnicode_Check(key.ptr()) == 0 || !nb::try_cast(key, text))
    throw argument_error(argument, "a key that is no text", "names of settings");
  return text;
}

/// Sets what a table of [code] or [decoder] has. `group`: its name.
void take_table(code_config& code, nb::handle table, const char* group) {
  const std::vector<setting_of<code_config>> settings = settings_of(code.kind());
  std::vector<std::string> given, names;
  for (const auto& s : settings)
    if (s.group == group) names.push_back(s.name);
  for (const auto& [key, value] : nb::borrow<nb::dict>(table)) {
    const std::string name = text_of_key(group, key);
    if (name == "type" && std::string_view(group) == "code") continue;
    const auto* s = find_setting(settings, name);
    if (s == nullptr || s->group != group)
      throw argument_error(group, "with \"" + printable(name) + "\"",
                           names.empty() ? "no settings with \"" + code.type + "\"" : among(names));
    with_names({{name.c_str(), (std::string(group) + "." + name).c_str()}},
               [&] { s->set(code, as_value(value, name, s->kind, s->allowed)); });
    given.push_back(name);
  }
  for (const std::string& name : given)
    if (const auto choice = idle_because(settings, *find_setting(settings, name), code))
      throw argument_error(std::string(group) + "." + name, "given",
                           "none with " + choice->first + " = \"" + choice->second + "\"");
}

/// The code of tables as scenarios have them; None: uncoded.
code_config code_of(nb::handle code, nb::handle decoder) {
  if (code.is_none()) {
    if (!decoder.is_none()) throw argument_error("decoder", "given", "None without a code");
    return code_config("none");
  }
  const auto tables = nb::borrow<nb::dict>(code);
  if (!tables.contains("type")) throw argument_error("code.type", "None", among(codes().names()));
  std::string type;
  if (nb::object given = tables["type"]; PyUnicode_Check(given.ptr()) == 0 || !nb::try_cast(given, type))
    throw argument_error("code.type", "no text", among(codes().names()));
  code_config made(codes().get(printable(type)).name);
  if (is_uncoded(made) && tables.size() > 1)
    throw argument_error("code", "of settings", "its type alone with \"" + made.type + "\"");
  take_table(made, code, "code");
  if (!decoder.is_none()) take_table(made, decoder, "decoder");
  return made;
}

/// The settings of a group in force.
nb::dict table_of(const code_config& code, const char* group) {
  const std::vector<setting_of<code_config>> settings = settings_of(code.kind());
  nb::dict values;
  if (std::string_view(group) == "code") values["type"] = code.type;
  if (is_uncoded(code)) return values;
  for (const auto& [s, value] : values_of(settings, code))
    if (s->group == group) values[s->name.c_str()] = as_object(value);
  return values;
}

/// Runs f, which makes a frame with this code. Settings that it blames have the names of their tables.
template <class F>
void with_tables(const code_config& code, F f) {
  try {
    f();
  } catch (const argument_error& e) {
    std::string name = e.argument();
    if (name.starts_with("code.")) name = name.substr(5);
    const std::vector<setting_of<code_config>> settings = settings_of(code.kind());
    const auto* s = find_setting(settings, name);
    if (s == nullptr) throw;
    throw argument_error(s->group + "." + name, e.value(), e.allowed());
  }
}

/// Arguments whose number depends on the frame. The one made last goes first.
class argument_list {
 public:
  explicit argument_list(executor_ref& where) : where_(where) {}
  argument_list(const argument_list&) = delete;
  argument_list& operator=(const argument_list&) = delete;
  ~argument_list() {
    while (!arguments_.empty()) arguments_.pop_back();
  }
  const argument& add(std::string name, nb::handle object, bool written) {
    return arguments_.emplace_back(names_.emplace_back(std::move(name)).c_str(), object, where_, written);
  }

 private:
  executor_ref& where_;
  std::deque<std::string> names_;
  std::deque<argument> arguments_;
};

std::string numbered(const char* name, std::size_t i) {
  return std::string(name) + "_" + std::to_string(i + 1);
}

/// Of all frames, symbol after symbol and tone after tone.
template <class T>
frame_grid<T> grid_of(const view<T>& v, std::size_t symbols, std::size_t tones, std::size_t antennas) {
  const std::size_t e = v.element_stride;
  return {v.data, v.items, symbols, tones, antennas, v.item_stride, tones * antennas * e, antennas * e, e};
}

/// The frames of a link are those of one direction.
std::size_t symbols_of(const wimax_frame_ref& f) { return as_size(f.link.frame.symbols()); }
std::size_t tones_of(const wimax_frame_ref& f) { return as_size(f.link.frame.profile.data_subcarriers); }

void transmit(const wimax_frame_ref& f, executor_ref& where, const nb::list& bits, nb::handle sent) {
  const std::size_t symbols = symbols_of(f), tones = tones_of(f);
  const argument out("out", sent, where, true);
  out.expect_item({symbols, tones, 2});
  argument_list arguments(where);
  std::vector<view<const std::uint8_t>> of_bursts;
  for (std::size_t i = 0; i < f.bursts.size(); i++) {
    const argument& b = arguments.add("bits[" + std::to_string(i) + "]", bits[i], false);
    b.expect_item({f.bursts[i].blocks, f.bursts[i].k});
    b.expect_batch(2, out.batch(3));
    of_bursts.push_back(b.bits_in_groups(f.bursts[i].k));
  }
  const auto grid = grid_of(out.as<cf>(3), symbols, tones, 2);
  if (grid.frames == 0) return;
  where.run([&](executor& exec) { f.transmitters->on(exec, f.link, grid.frames).run(of_bursts, grid); });
}

void receive(const wimax_frame_ref& f, executor_ref& where, nb::handle channel, nb::handle received,
             nb::handle noise_var, const nb::dict& outputs) {
  const std::size_t symbols = symbols_of(f), tones = tones_of(f), rx = as_size(f.config.rx_antennas);
  const argument h("channel", channel, where), y("received", received, where);
  const noise_argument n0(noise_var, where);
  y.expect_item({symbols, tones, rx});
  h.expect_item({tones, rx, 2});
  const auto batch = y.batch(3);
  h.expect_batch(3, batch);
  argument_list arguments(where);
  const auto to = [&](const std::string& name) -> const argument& {
    return arguments.add(
        name, outputs.contains(name.c_str()) ? nb::object(outputs[name.c_str()]) : nb::none(), true);
  };
  std::vector<wimax_burst_output> of_bursts;
  for (std::size_t i = 0; i < f.bursts.size(); i++) {
    const wimax_burst_sizes& s = f.bursts[i];
    of_bursts.push_back({.bits = to(numbered("bits", i)).in_groups<std::uint8_t>(s.k),
                         .codeword_status = to(numbered("codeword_status", i)).in_groups<std::uint8_t>(1),
                         .status = to(numbered("status", i)).in_groups<std::uint8_t>(1),
                         .iterations = to(numbered("iterations", i)).in_groups<std::int32_t>(1),
                         .llr = to(numbered("llr", i)).in_groups<float>(s.bits_per_codeword)});
  }
  const wimax_output out{.bursts = of_bursts,
                         .map_status = to("map_status").in_groups<std::uint8_t>(1),
                         .channel = to("channel").in_groups<cf>(2 * rx),
                         .noise_var = to("noise_var").in_groups<float>(1)};
  wimax_received in{
      .channel = {}, .received = grid_of(y.as<const cf>(3), symbols, tones, rx), .noise_var = {}};
  if (h) in.channel = grid_of(h.as<const cf>(3), 1, tones, 2 * rx);
  in.noise_var = n0.of(batch);
  if (in.received.frames == 0) return;
  with_names(
      {{"bits", "out"},
       {"codeword_status", "out"},
       {"status", "out"},
       {"iterations", "out"},
       {"llr", "out"},
       {"map_status", "out"},
       {"out.channel", "out"},
       {"out.noise_var", "out"}},
      [&] {
        where.run([&](executor& exec) { f.receivers->on(exec, f.link, in.received.frames).run(in, out); });
      });
}

/// first tone, tones, first symbol, symbols, codewords, bits of a codeword, blocks, k, n
nb::list bursts_of(const wimax_frame_ref& f) {
  nb::list bursts;
  for (std::size_t i = 0; i < f.bursts.size(); i++) {
    const wimax_burst_sizes& s = f.bursts[i];
    bursts.append(nb::make_tuple(f.config.modulations[i], s.burst.first_tone, s.burst.tones,
                                 s.burst.first_symbol, s.burst.symbols, s.codewords, s.bits_per_codeword,
                                 s.blocks, s.k, s.n));
  }
  return bursts;
}

}  // namespace

void bind_wimax(nb::module_& m) {
  add_keywords(m, "WimaxFrame", wimax_frame_settings());
  nb::class_<wimax_frame_ref>(m, "WimaxFrame")
      .def(
          "__init__",
          [](wimax_frame_ref* self, nb::handle code, nb::handle decoder, const nb::dict& settings) {
            wimax_frame_config c = with_settings(wimax_frame_settings(), settings);
            c.code = code_of(code, decoder);
            with_tables(c.code, [&] {
              if (!is_uncoded(c.code) && !is_transport(c.code)) c.code = completed(c.code);
              new (self) wimax_frame_ref(c);
            });
          },
          nb::kw_only(), nb::arg("code").none(), nb::arg("decoder").none(), nb::arg("settings"))
      .def_prop_ro("settings",
                   [](const wimax_frame_ref& f) { return settings_in(wimax_frame_settings(), f.config); })
      .def_prop_ro("code", [](const wimax_frame_ref& f) { return table_of(f.config.code, "code"); })
      .def_prop_ro("decoder", [](const wimax_frame_ref& f) { return table_of(f.config.code, "decoder"); })
      .def_prop_ro("sizes",
                   [](const wimax_frame_ref& f) {
                     return nb::make_tuple(symbols_of(f), tones_of(f), wimax_first_data_symbol(f.link));
                   })
      .def_prop_ro("bursts", &bursts_of)
      .def_prop_ro("has_maps", [](const wimax_frame_ref& f) { return f.link.maps.has_value(); })
      .def("transmit", &transmit, nb::arg("executor"), nb::arg("bits"), nb::arg("sent"))
      .def("receive", &receive, nb::arg("executor"), optional("channel"), nb::arg("received"),
           nb::arg("noise_var").none(), nb::arg("outputs"));
}

}  // namespace wb::python
