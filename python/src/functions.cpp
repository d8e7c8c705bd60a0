#include "functions.hpp"

#include <complex>
#include <cstdint>

#include <nanobind/stl/string.h>

#include <warpband/air/function.hpp>
#include <warpband/detect/detector.hpp>
#include <warpband/receive/frames.hpp>

#include "arrays.hpp"

namespace wb::python {
namespace {

/// Queues a copy of rows, whose elements lie side by side.
void copy_rows(executor& exec, view<const float> from, view<float> to) {
  frames_arrange_args a;
  a.elements = to.elements;
  a.in = from, a.out = to;
  run_frames_arrange(exec, a, to.items);
}
void copy_rows(executor& exec, view<const std::uint8_t> from, view<std::uint8_t> to) {
  frames_arrange_args a;
  a.elements = to.elements;
  a.in_bytes = from, a.out_bytes = to;
  run_frames_arrange(exec, a, to.items);
}
template <class T>
view<const float> as_floats(view<const T> v) {
  constexpr std::size_t parts = sizeof(T) / sizeof(float);
  if (parts > 1 && v.element_stride != 1) throw error("complex rows with gaps between their elements");
  return {reinterpret_cast<const float*>(v.data), parts * v.elements, v.items,
          parts > 1 ? 1 : v.element_stride, parts * v.item_stride};
}
template <class T>
void copy_rows(executor& exec, view<const T> from, view<T> to) {
  const view<const float> out = as_floats(view<const T>(to));
  copy_rows(exec, as_floats(from),
            {const_cast<float*>(out.data), out.elements, out.items, out.element_stride, out.item_stride});
}

/// An array that a function gets, with a copy of rows.
template <class T>
nb::object given(executor& exec, executor_ref& where, nb::handle function, view<const T> rows,
                 nb::tuple shape) {
  nb::object array = function.attr("empty")(shape, name_of(number_of<T>));
  {
    const argument to("array", array, where, true);
    copy_rows(exec, rows, to.in_groups<T>(rows.elements));
    exec.sync();
  }
  return function.attr("given")(array);
}

/// Copies what a function gave, of a shape that Python has checked.
template <class T>
void take(executor& exec, executor_ref& where, nb::handle array, view<T> rows) {
  if (rows.data == nullptr) return;
  const argument from("array", array, where);
  copy_rows(exec, from.in_groups<const T>(rows.elements), rows);
  exec.sync();
}

class function_detector final : public detector {
 public:
  function_detector(const detector_config& c, bool takes_prior, std::shared_ptr<nb::object> function,
                    executor_ref& where)
      : detector(c, takes_prior),
        clip_(c.llr_clip.value_or(no_clip)),
        extrinsic_(c.extrinsic),
        function_(std::move(function)),
        where_(where) {}

 protected:
  void compute(executor& exec, const detector_input& in, const detector_output& out) const override {
    const nb::gil_scoped_acquire gil;
    const nb::handle f = *function_;
    const std::size_t uses = in.received.items;
    const nb::object h =
        given(exec, where_, f, in.channel, nb::make_tuple(in.channel.items, rx_antennas(), streams()));
    const nb::object y = given(exec, where_, f, in.received, nb::make_tuple(uses, rx_antennas()));
    const nb::object n0 = given(exec, where_, f, in.noise_var, nb::make_tuple(uses));
    nb::object prior = nb::none();
    if (in.prior.data != nullptr)
      prior = given(exec, where_, f, in.prior, nb::make_tuple(uses, bits_per_use()));
    const auto results =
        nb::cast<nb::tuple>(f.attr("detect")(h, y, n0, prior, bits_per_use(), clip_, extrinsic_));
    take(exec, where_, results[0], out.llr);
    take(exec, where_, results[1], out.bits);
    take(exec, where_, results[2], out.status);
  }

 private:
  float clip_;
  bool extrinsic_;
  std::shared_ptr<nb::object> function_;
  executor_ref& where_;
};

}  // namespace

python_functions functions_in(nb::list functions) {
  python_functions held;
  for (nb::handle f : functions)
    held.emplace_back(new nb::object(nb::borrow(f)), [](nb::object* object) {
      const nb::gil_scoped_acquire gil;
      delete object;
    });
  return held;
}

std::vector<std::string> names_of(const python_functions& functions) {
  std::vector<std::string> names;
  for (const auto& f : functions) names.push_back(nb::cast<std::string>(f->attr("name")));
  return names;
}

std::vector<air_kind> channel_kinds(const python_functions& functions, executor_ref& where) {
  std::vector<air_kind> kinds;
  for (const auto& f : functions)
    kinds.push_back(function_air(
        nb::cast<std::string>(f->attr("name")),
        [f, &where](executor& exec, const channel_frames& c, view<std::complex<float>> h) {
          const nb::gil_scoped_acquire gil;
          const nb::object drawn = f->attr("draw")(c.frames, c.random.first, c.random.seed, c.random.point,
                                                   c.matrices, c.antennas.rx, c.antennas.tx);
          take(exec, where, drawn, h);
        }));
  return kinds;
}

std::vector<detector_kind> detector_kinds(const python_functions& functions, executor_ref& where) {
  std::vector<detector_kind> kinds;
  for (const auto& f : functions) {
    const bool takes_prior = nb::cast<bool>(f->attr("takes_prior"));
    kinds.push_back({.name = nb::cast<std::string>(f->attr("name")),
                     .text = "A function of the program.",
                     .most_streams = most_soft_streams,
                     .takes_prior = takes_prior,
                     .make = [f, takes_prior, &where](const detector_config& c) -> std::unique_ptr<detector> {
                       return std::make_unique<function_detector>(c, takes_prior, f, where);
                     }});
  }
  return kinds;
}

std::vector<decoder_kind> decoder_kinds(const python_functions& functions, executor_ref& where) {
  std::vector<decoder_kind> kinds;
  for (const auto& f : functions) {
    decoder_kind kind{
        .name = nb::cast<std::string>(f->attr("name")),
        .text = "A function of the program.",
        .make = [f, &where](const code_config& code) -> decode_function {
          const std::size_t k = sizes_of(code).k;
          return [f, &where, k](executor& exec, view<const float> llr, const decoder_output& out) {
            const nb::gil_scoped_acquire gil;
            const nb::object in = given(exec, where, *f, llr, nb::make_tuple(llr.items, llr.elements));
            const auto results = nb::cast<nb::tuple>(f->attr("decode")(in, k));
            take(exec, where, results[0], out.bits);
            take(exec, where, results[1], out.iterations);
            take(exec, where, results[2], out.status);
          };
        }};
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

}  // namespace wb::python
