#pragma once
// A receiver with ports: arrays of a frame in, stages on an executor, arrays out. From its ports a stream
// makes the slots of frames and their copies.
//
// A frame is a number of items: uses of the channel, vectors, codewords. Its arrays are rows, side by side.
// Each array says how many items share a row. So a channel estimate is sent once for the items that it
// belongs to, and a noise variance once for the frame.
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <warpband/exec/executor.hpp>

namespace wb {

/// complex32: two halves (core/half.hpp).
enum class element_type { uint8, int8, int32, float32, complex32, complex64 };
std::size_t size_of(element_type type) noexcept;
/// "uint8", "int8", "int32", "float32", "complex32", "complex64".
const char* name_of(element_type type) noexcept;

/// An array of a frame.
struct frame_port {
  std::string name = {};
  element_type type = element_type::float32;
  std::size_t elements = 1;  // of a row
  /// Rows of a frame: items * rows / per_items, of inputs rounded up, of outputs down. per_items 0: one row
  /// for the frame.
  std::size_t rows = 1, per_items = 1;
  bool rounds_up = true;
  bool whole = false;  // every part of a frame needs all of it

  bool shared() const noexcept { return per_items == 0; }
  std::size_t rows_of(std::size_t items) const noexcept {
    return shared() ? 1 : (items * rows + (rounds_up ? per_items - 1 : 0)) / per_items;
  }
  std::size_t row_bytes() const noexcept { return elements * size_of(type); }
  std::size_t bytes_of(std::size_t items) const noexcept { return rows_of(items) * row_bytes(); }
};
/// Offset in bytes of array `index` in a frame of `items`: its arrays follow each other, each aligned to 256
/// bytes. index = ports.size() gives the size of all. Rises with the items.
std::size_t offset_of(const std::vector<frame_port>& ports, std::size_t index, std::size_t items) noexcept;

/// Where the arrays of a frame, or of a part of it, begin, in the memory of an executor.
struct frame_arrays {
  static constexpr std::size_t max_arrays = 8;
  const void* inputs[max_arrays] = {};
  void* outputs[max_arrays] = {};
  std::size_t items = 0;
  std::size_t frame_items = 0;  // of the frame that it is a part of, or `items`
};

/// Queues a stage of a frame; the stages of a frame are called in order. It keeps on its executor what it
/// needs between them, and serves one thread at a time.
using frame_run = std::function<void(std::size_t stage, const frame_arrays& frame)>;

/// Describes a receiver: its ports, its stages, and how frames may be cut.
struct frame_receiver_parts {
  std::string name = {};
  std::vector<frame_port> inputs = {}, outputs = {};
  std::vector<std::string> stages = {};
  /// Parts of a frame have a multiple of `granularity` items; 0: a frame is not cut. With `splits` above 1
  /// they have a multiple of items / splits.
  std::size_t granularity = 0, splits = 1;
  /// A frame has a multiple of `multiple` items, and at least `least_items`; 0: at least `multiple`.
  std::size_t multiple = 1, least_items = 0;
  /// Bits that an item brings: of the channel, or information bits where it decodes. 0: elements of the first
  /// output.
  double bits = 0;
  /// For frames of at most so many items. Throws memory_error.
  std::function<frame_run(executor& exec, std::size_t most_items)> attach = nullptr;
};

/// What is done with a frame. Objects do not change and are used by several threads at a time.
class frame_receiver {
 public:
  explicit frame_receiver(frame_receiver_parts parts) : is_(std::move(parts)) {}
  frame_receiver(const frame_receiver&) = delete;
  frame_receiver& operator=(const frame_receiver&) = delete;
  const std::string& name() const noexcept { return is_.name; }
  const std::vector<frame_port>& inputs() const noexcept { return is_.inputs; }
  const std::vector<frame_port>& outputs() const noexcept { return is_.outputs; }
  const std::vector<std::string>& stages() const noexcept { return is_.stages; }
  std::size_t granularity(std::size_t items) const noexcept {
    return is_.splits > 1 ? items / is_.splits : is_.granularity;
  }
  std::size_t multiple() const noexcept { return is_.multiple; }
  std::size_t least_items() const noexcept { return is_.least_items != 0 ? is_.least_items : is_.multiple; }
  /// Bits that a frame brings.
  double bits_of(std::size_t items) const noexcept {
    return is_.bits != 0 ? is_.bits * static_cast<double>(items)
                         : static_cast<double>(is_.outputs[0].rows_of(items) * is_.outputs[0].elements);
  }
  /// Its stages on an executor, for frames of at most so many items. Throws memory_error.
  frame_run attach(executor& exec, std::size_t most_items) const { return is_.attach(exec, most_items); }

 private:
  frame_receiver_parts is_;
};

/// Throws argument_error naming `argument` where a frame of the receiver cannot have `items`: fewer than
/// least_items(), no multiple of multiple(), or more than `greatest`. A `greatest` above 2^31 or below
/// least_items() counts as 2^31.
void check_items(const frame_receiver& receiver, const char* argument, std::size_t items,
                 std::size_t greatest = std::size_t{1} << 31);

}  // namespace wb
