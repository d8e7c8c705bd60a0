#pragma once
// What the commands share that make one HDF5 file of arrays from another, in pieces: options, the bound on
// memory, buffers, progress and the summary.
#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <warpband/exec/executor.hpp>
#include <warpband/io/hdf5.hpp>

#include "command.hpp"
#include "pieces.hpp"

/// The options that all these commands have.
struct array_options {
  std::string in, out, json, memory;
  device_options where;
  bool quiet = false, force = false;
  bool p1_over_p0 = false;  // the LLRs of the files are ln P(1)/P(0)
};

void add_array_files(CLI::App& app, array_options& options);  // IN.h5 and --output
void add_llr_sign(CLI::App& app, array_options& options, const std::string& text);
/// --memory, --device, --threads, --json and --quiet. `item` is the word for what a batch holds.
void add_array_running(CLI::App& app, array_options& options, const std::string& item);
/// Throws usage_error for what the parser cannot see.
void check_array_options(const CLI::App& app, const array_options& options);

#if WARPBAND_HDF5

inline constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// What a run takes of memory.
struct memory_need {
  std::vector<std::string> arrays;  // that are read, the one with the batch first
  std::size_t item = 0;             // bytes of an item in each of the two slots
  std::size_t slot = 0;             // bytes of a slot besides
  std::size_t thread = 0;           // working memory of a thread of the CPU
  std::size_t together = 1;         // items that pieces should not part
};

/// A run from an input to an output. Derived classes say what a batch is and set items_ and item_bits_.
class array_run {
 public:
  using clock = std::chrono::steady_clock;

  wb::executor& exec() noexcept { return *exec_; }
  const wb::hdf5_reader& file() const noexcept { return file_; }
  std::size_t items() const noexcept { return items_; }
  /// On a CPU the host's buffers are the device's.
  bool direct() const { return !exec_->is_device(); }

  /// Items of a piece. Throws argument_error where --memory is too small.
  std::size_t piece(const memory_need& need) const;
  /// A progress line for `finished` of the items; throws when Ctrl-C was pressed.
  void progress(progress_line& line, std::size_t finished, clock::time_point start) const;
  /// The line at the end, which begins with `text`, and the record of --json.
  void report(const nlohmann::ordered_json& record, clock::time_point start, const std::string& text) const;

 protected:
  /// Opens the input. `item` is the word for what the batch holds many of: "blocks".
  array_run(const array_options& options, const char* item);
  ~array_run() = default;
  /// Opens the executor. Checks that the outputs can be written, once the input is known to be good. If the
  /// input is not read as it is stored, says on stderr how it is read.
  void open();
  /// An attribute of the input as text; empty where it has none.
  std::string held(const std::string& name) const;
  /// Throws file_error: what an array is and what was expected of it.
  [[noreturn]] void wrong_shape(const std::string& array, const std::string& expected) const;
  /// "command", "input", "output": how a record begins.
  nlohmann::ordered_json record_of(const char* command) const;

  std::size_t items_ = 0, item_bits_ = 0;

 private:
  const array_options& options_;
  const char* item_;
  wb::hdf5_reader file_;
  std::unique_ptr<wb::executor> exec_;
};

/// A batch on the host and on the executor, which on a CPU is one and the same.
template <class T>
struct buffer {
  wb::array<T> host, device;
  buffer() = default;
  buffer(array_run& run, std::size_t items, std::size_t elements)
      : host(run.exec().make_host<T>(items, elements)),
        device(run.direct() ? wb::array<T>{} : run.exec().make<T>(items, elements)) {}
  /// `n` rows from `first` on; without data where a row has no elements.
  wb::view<T> rows(std::size_t n, std::size_t first = 0) {
    T* data = device.data() != nullptr ? device.data() : host.data();
    return wb::make_view(data == nullptr ? data : data + first * host.elements(), n, host.elements());
  }
  void upload(wb::executor& e, std::size_t n) {
    if (device.data() != nullptr) e.upload(device.data(), host.data(), n * host.elements() * sizeof(T));
  }
  void download(wb::executor& e, std::size_t n) {
    if (device.data() != nullptr) e.download(host.data(), device.data(), n * host.elements() * sizeof(T));
  }
};

/// LLRs of the other sign, without negative zeros.
inline void negate(float* x, std::size_t size) {
  for (std::size_t i = 0; i < size; i++) x[i] = 0.f - x[i];
}

#endif
