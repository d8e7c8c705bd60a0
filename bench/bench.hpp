#pragma once
// Benchmarks over named axes. A *_bench.cpp says what there is to measure:
//
//   static const wb::bench::group demap_benches{[] {
//     for (const std::string& device : wb::bench::devices())
//       for (const int points : {4, 256})
//         wb::bench::add("demap", device, {{"points", points}}, {figure::kernel, figure::resident},
//                        [=](wb::executor& e, figure) {
//                          auto llr = e.make<float>(items, 8);  // arrays and data: not timed
//                          return wb::bench::job(items, 8 * items, [&e, demapper, llr = std::move(llr)] ()
//                          mutable {
//                            demapper.run(e, in, llr);  // queues one batch
//                          });
//                        });
//   }};
//
// and `warpband bench` runs it (run.hpp). A benchmark's name is "op/axis=value/.../figure=.../device=...".
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <warpband/exec/executor.hpp>

namespace wb::bench {

/// A named axis and the value that a benchmark has on it.
struct axis {
  std::string name, value;
  bool number = false;
  axis(std::string n, std::string v) : name(std::move(n)), value(std::move(v)) {}
  axis(std::string n, const char* v) : name(std::move(n)), value(v) {}
  axis(std::string n, int v) : name(std::move(n)), value(std::to_string(v)), number(true) {}
};

/// What is measured of an op. On a CPU `kernel` is the same as `resident` and there is nothing to copy: only
/// `resident` and `small` are listed there.
enum class figure {
  kernel,    // data in the device's memory, the device's clock, launches queued ahead
  resident,  // data in the device's memory, the host's clock: many calls and one wait
  host_fed,  // data in page-locked host memory: copies in and out, on several streams that overlap
  sync,      // the same without overlap: copies in, the call, copies out and a wait, again and again
  small,     // few items: one call and a wait, again and again
};
const char* name_of(figure) noexcept;

/// A prepared call: its arrays, and a function that queues one batch (with figures host_fed and sync also the
/// copies).
class job {
 public:
  /// `bits` in or out, whichever the op is rated by; 0: not rated by bits.
  template <class Call>
  job(double items, double bits, Call call)
      : items_(items), bits_(bits), call_(std::make_unique<model<Call>>(std::move(call))) {}
  /// The same, with where a call leaves its results on the host: what `--duration` compares.
  template <class Call>
  job(double items, double bits, Call call, std::pair<const void*, std::size_t> result)
      : job(items, bits, std::move(call)) {
    result_ = result;
  }
  void operator()() { call_->run(); }
  std::pair<const unsigned char*, std::size_t> result() const noexcept {
    return {static_cast<const unsigned char*>(result_.first), result_.second};
  }
  double items() const noexcept { return items_; }
  double bits() const noexcept { return bits_; }

 private:
  struct concept_of {
    virtual ~concept_of() = default;
    virtual void run() = 0;
  };
  template <class Call>
  struct model final : concept_of {
    explicit model(Call c) : call(std::move(c)) {}
    void run() override { call(); }
    Call call;
  };
  double items_, bits_;
  std::unique_ptr<concept_of> call_;
  std::pair<const void*, std::size_t> result_{nullptr, 0};
};

/// Prepares a call on an executor; done anew for every repetition, so it should take milliseconds.
using maker = std::function<job(executor&, figure)>;

/// The devices that were asked for: "cpu", "cuda:0".
const std::vector<std::string>& devices();
/// Items for one of them: for each thread of the CPU, for a whole CUDA device.
std::size_t batch_for(const std::string& device, std::size_t cpu_items, std::size_t cuda_items);
/// Adds a benchmark for each of the figures that the device has. An error that `make` or its call throws is
/// reported, and the others go on.
void add(const std::string& op, const std::string& device, std::vector<axis> axes,
         const std::vector<figure>& figures, maker make);

/// At namespace scope of a *_bench.cpp: `define` is called once the devices are known.
struct group {
  explicit group(void (*define)());
};

/// What was added.
struct definition {
  std::string name, op, device;
  std::vector<axis> axes;
  figure measured;
  maker make;
};
/// All benchmarks of these devices, in order of definition.
std::vector<definition> define_all(const std::vector<std::string>& devices, int cpu_threads);

}  // namespace wb::bench
