#include "executors.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <warpband/exec/cpu.hpp>
#include <warpband/exec/cuda.hpp>

#include "rooms.hpp"

namespace wb::python {
namespace {

namespace nb = nanobind;

std::atomic<unsigned> forks{0};

/// Asks Python ten times a second whether the handler of a signal raised, as that of Ctrl-C does; then the
/// error is set. Handlers run in the main thread alone.
class signal_check {
 public:
  bool operator()() {
    const auto time = std::chrono::steady_clock::now();
    if (time < next_) return false;
    next_ = time + std::chrono::milliseconds(100);
    const nb::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
  }

 private:
  std::chrono::steady_clock::time_point next_{};
};

std::unique_ptr<executor> open_cpu(int threads, const std::optional<std::string>& instructions) {
  cpu_options options{.threads = threads != 0 ? std::optional(threads) : std::nullopt,
                      .instructions = {},
                      .interrupted = signal_check{}};
  try {
    if (instructions) options.instructions = isa_from_name(*instructions);
  } catch (const argument_error& e) {
    throw argument_error("isa", e.value(), e.allowed());
  }
  return std::make_unique<cpu>(options);
}

}  // namespace

unsigned forks_so_far() noexcept { return forks; }

executor_ref::executor_ref() = default;

executor_ref::executor_ref(int threads, std::optional<std::string> instructions)
    : threads_(threads),
      instructions_(std::move(instructions)),
      executor_(open_cpu(threads_, instructions_)),
      generation_(forks) {}

std::unique_ptr<executor_ref> executor_ref::cuda(int device, std::uintptr_t stream) {
  std::unique_ptr<executor_ref> e(new executor_ref);
  e->device_ = device;
  e->generation_ = forks;
  e->executor_ =
      std::make_unique<wb::cuda>(cuda_options{.device = device, .stream = reinterpret_cast<void*>(stream)});
  return e;
}

executor_ref::~executor_ref() {
  if (generation_ != forks)
    abandon();
  else if (!held_.empty()) {
    try {
      executor_->sync();
    } catch (const std::exception&) {  // the device failed: nothing of it runs any more
    }
  }
}

std::uintptr_t executor_ref::stream() {
  return device_ < 0 ? 0 : reinterpret_cast<std::uintptr_t>(static_cast<wb::cuda&>(open()).stream());
}

void executor_ref::hold(nb::object object) {
  while (!held_.empty() && held_.front().first->reached()) held_.pop_front();
  auto event = std::make_unique<cuda_event>(device_);
  event->record(reinterpret_cast<void*>(stream()));
  held_.emplace_back(std::move(event), std::move(object));
}

const float* executor_ref::constant(float value) {
  std::lock_guard lock(*mutex_);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto found =
      std::find_if(constants_.begin(), constants_.end(), [&](const auto& c) { return c.first == bits; });
  if (found != constants_.end()) {
    constants_.splice(constants_.begin(), constants_, found);
  } else {
    executor& exec = open();
    auto number = exec.make<float>(1, 1);
    exec.upload(number.data(), &value, sizeof value);  // pageable memory is read before the call returns
    constants_.emplace_front(bits, std::move(number));
    // Memory that goes is used again behind the work that reads it: on this stream.
    if (constants_.size() > 256) constants_.pop_back();
  }
  return constants_.front().second.data();
}

/// In the child of a fork: the parent's threads are not here, so they cannot end; a lock may be held by one.
void executor_ref::abandon() noexcept {
  static_cast<void>(executor_.release());
  static_cast<void>(mutex_.release());
}

executor& executor_ref::open() {
  if (generation_ != forks) {
    if (device_ >= 0)
      throw device_error("CUDA cannot be used in the child of a fork: start processes by \"spawn\"");
    auto fresh = open_cpu(threads_, instructions_);
    abandon();
    executor_ = std::move(fresh);
    mutex_ = std::make_unique<std::mutex>();
    generation_ = forks;
  }
  return *executor_;
}

void bind_executors(nb::module_& m) {
  pthread_atfork(nullptr, nullptr, [] { forks++; });
  nb::class_<executor_ref>(m, "Executor")
      .def(nb::init<int, std::optional<std::string>>(), nb::kw_only(), nb::arg("threads"),
           nb::arg("isa").none())
      .def_static("cuda", &executor_ref::cuda, nb::kw_only(), nb::arg("device"), nb::arg("stream"))
      .def("sync", [](executor_ref& e) { e.run([](executor& exec) { exec.sync(); }); })
      .def_prop_ro("device", &executor_ref::device)
      .def_prop_ro("stream", &executor_ref::stream)
      .def_prop_ro("name", [](executor_ref& e) { return e.open().name(); })
      .def("__repr__",
           [](const executor_ref& e) {
             if (e.device() >= 0) return "cuda(device=" + std::to_string(e.device()) + ")";
             const std::string threads = e.threads() != 0 ? "threads=" + std::to_string(e.threads()) : "";
             const std::string isa = e.instructions() ? "isa='" + *e.instructions() + "'" : "";
             return "cpu(" + threads + (threads.empty() || isa.empty() ? "" : ", ") + isa + ")";
           })
      .def("__reduce__",
           [](const executor_ref& e) {
             if (e.device() >= 0) throw nb::type_error("an executor on a CUDA device cannot be pickled");
             return nb::make_tuple(nb::module_::import_("warpband._arrays").attr("reopened"),
                                   nb::make_tuple(e.threads(), e.instructions()));
           })
      .def_prop_ro("description", [](executor_ref& e) { return e.open().description(); });
  m.def("has_cuda", &has_cuda);
  m.def("isas", [] {
    std::vector<std::string> names;
    for (const isa i : available_isas()) names.emplace_back(isa_name(i));
    return names;
  });
  m.def("cuda_devices", [] {
    std::vector<std::string> names;
    for (const cuda_device_info& d : cuda_devices()) names.push_back(d.name);
    return names;
  });
}

}  // namespace wb::python
