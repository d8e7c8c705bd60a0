#pragma once
// What is done with a frame: arrays in, stages on an executor, arrays out.
//
// A frame is a number of items: uses of the channel, vectors, codewords. Its arrays are rows that lie side by
// side; each array says how many items share one of its rows, so that a channel estimate is sent once for all
// items that it belongs to, and a noise variance once for the frame.
#include <cstddef>
#include <memory>
#include <string>
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
/// Where array `index` of a frame of `items` begins, in bytes, when all its arrays lie one after the other,
/// each on a multiple of 256; for index = ports.size() how many there are in all. Rises with the items.
std::size_t offset_of(const std::vector<frame_port>& ports, std::size_t index, std::size_t items) noexcept;

/// Where the arrays of a frame, or of a part of it, begin, in the memory of an executor.
struct frame_arrays {
  static constexpr std::size_t most = 8;
  const void* inputs[most] = {};
  void* outputs[most] = {};
  std::size_t items = 0;
  std::size_t frame_items = 0;  // of the frame that it is a part of, or `items`
};

/// The stages of a chain on one executor, with what they keep in its memory between them.
/// Threads: one at a time.
class chain_run {
 public:
  virtual ~chain_run() = default;
  /// Queues a stage; the stages of a frame are called in order.
  virtual void run(std::size_t stage, const frame_arrays& frame) = 0;
};

/// What is done with a frame. Objects do not change and are used by several threads at a time.
class frame_chain {
 public:
  virtual ~frame_chain() = default;
  virtual std::string name() const = 0;
  virtual const std::vector<frame_port>& inputs() const noexcept = 0;
  virtual const std::vector<frame_port>& outputs() const noexcept = 0;
  virtual const std::vector<std::string>& stages() const noexcept = 0;
  /// A frame of so many items may be cut into parts of multiples of so many; 0: it is worked on as a whole.
  virtual std::size_t granularity(std::size_t items) const noexcept = 0;
  /// A frame has a multiple of so many items, and at least so many.
  virtual std::size_t multiple() const noexcept { return 1; }
  virtual std::size_t least_items() const noexcept { return multiple(); }
  /// Bits that a frame brings: of the channel, or information bits where it decodes.
  virtual double bits_of(std::size_t items) const noexcept = 0;
  /// For frames of at most so many items. The chain outlives it. Throws memory_error.
  virtual std::unique_ptr<chain_run> attach(executor& exec, std::size_t most_items) const = 0;
};

/// Throws argument_error naming `argument` where a frame of the chain cannot have `items`: too few, no
/// multiple of what shares a channel estimate, or above `most`, for which 2^31 stands where it is larger than
/// that or smaller than the chain's least frame.
void check_items(const frame_chain& chain, const char* argument, std::size_t items,
                 std::size_t most = std::size_t{1} << 31);

}  // namespace wb
