#include "stream_output.hpp"

#include <complex>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/link/result.hpp>
#if WARPBAND_HDF5
#include <warpband/io/hdf5.hpp>

namespace {

constexpr std::size_t most_text = 60'000;  // bytes; HDF5 stores no attribute above 64 KiB

/// Calls f with a null pointer to the type of an array's elements.
template <class F>
void with_type(const wb::frame_port& p, F f) {
  switch (p.type) {
    case wb::element_type::uint8:
      return f(static_cast<const std::uint8_t*>(nullptr));
    case wb::element_type::int8:
      return f(static_cast<const std::int8_t*>(nullptr));
    case wb::element_type::int32:
      return f(static_cast<const std::int32_t*>(nullptr));
    case wb::element_type::float32:
      return f(static_cast<const float*>(nullptr));
    case wb::element_type::complex64:
      return f(static_cast<const std::complex<float>*>(nullptr));
    case wb::element_type::complex32:
      break;
  }
  throw wb::argument_error("--output", "of a chain whose " + p.name + " is " + wb::name_of(p.type),
                           "results of uint8, int8, int32, float32 or complex64");
}

}  // namespace

struct stream_output::state {
  state(const wb::frame_receiver& receiver, const stream_output_config& c)
      : chain(receiver), items(c.items), file(c.path) {
    file.set({{"chain", chain.name()},
              {"items", static_cast<std::int64_t>(c.items)},
              {"llr_sign", "p0/p1"},
              {"warpband_version", wb::version()},
              {"warpband_commit", wb::commit()}});
    if (c.llr_steps) file.set({{"llr_steps", *c.llr_steps}});
    if (c.scenario.size() <= most_text) file.set({{"scenario", c.scenario}});
    for (const wb::frame_port& p : chain.outputs())
      with_type(p, [&]<class T>(const T*) {
        std::vector<std::size_t> shape{c.frames * p.rows_of(items)};
        if (p.elements > 1) shape.push_back(p.elements);
        file.create<T>(p.name, shape);
      });
    file.create<std::uint8_t>("frame_status", {c.frames});
  }
  void write(const wb::frame_result& r) {
    const auto status = static_cast<std::uint8_t>(r.status);
    file.write("frame_status", frame, 1, &status);
    if (r.status == wb::frame_status::delivered)
      for (std::size_t i = 0; i < chain.outputs().size(); i++) {
        const wb::frame_port& p = chain.outputs()[i];
        with_type(p, [&]<class T>(const T*) {
          const std::size_t rows = p.rows_of(items);
          file.write(p.name, frame * rows, rows, r.output<T>(i).data);
        });
      }
    frame++;
  }
  const wb::frame_receiver& chain;
  std::size_t items, frame = 0;
  wb::hdf5_writer file;
  std::exception_ptr failed;
};

stream_output::stream_output(const wb::frame_receiver& chain, const stream_output_config& config)
    : state_(std::make_unique<state>(chain, config)) {}
stream_output::~stream_output() = default;

void stream_output::take(const wb::frame_result& result) noexcept {
  if (state_->failed) return;
  try {
    state_->write(result);
  } catch (...) {
    state_->failed = std::current_exception();
  }
}
void stream_output::commit() {
  if (state_->failed) std::rethrow_exception(state_->failed);
  state_->file.commit();
}

#else

struct stream_output::state {};
stream_output::stream_output(const wb::frame_receiver&, const stream_output_config& config) {
  throw wb::file_error(config.path, "this build writes no HDF5 files (WARPBAND_HDF5)");
}
stream_output::~stream_output() = default;
void stream_output::take(const wb::frame_result&) noexcept {}
void stream_output::commit() {}

#endif
