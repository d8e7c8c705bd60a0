#pragma once
// What Python hands over as views, without a copy: NumPy arrays and whatever else has a buffer; on a GPU
// tensors of torch, what came in by DLPack, and arrays with __cuda_array_interface__ (CuPy, numba).
//
// The last axes of an array are the elements of an item, all axes before them are the batch. Either may have
// any strides that make one constant step through them. Everything else is refused by name: nothing is
// converted behind the caller's back.
#include <Python.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <nanobind/nanobind.h>

#include <warpband/core/half.hpp>
#include <warpband/core/view.hpp>
#include <warpband/fec/format/format.hpp>

#include "executors.hpp"
#include "number.hpp"

namespace wb::python {

namespace nb = nanobind;

/// An argument; None is one without data. It keeps the memory of its object alive. Made and destroyed with
/// the GIL held, as local variables: the one made last goes first.
class argument {
 public:
  /// Throws shape_error for an object that is no array or is not where the executor works. Also for a written
  /// array that overlaps itself or another argument of this thread. `in_place`: it may be an input, number by
  /// number. `allowed`: what the caller takes, for errors.
  argument(const char* name, nb::handle object, executor_ref& where, bool written = false,
           bool in_place = false, const char* allowed = "an array");
  ~argument();
  argument(const argument&) = delete;
  argument& operator=(const argument&) = delete;

  explicit operator bool() const noexcept { return given_; }
  int axes() const noexcept { return axes_; }
  std::ptrdiff_t extent(int axis) const noexcept { return shape_[static_cast<std::size_t>(axis)]; }
  std::span<const std::ptrdiff_t> batch(int trailing) const noexcept {
    return {shape_.data(), static_cast<std::size_t>(axes_ - trailing)};
  }
  number type() const noexcept { return type_; }

  /// The last `trailing` axes are elements. Throws shape_error for another type, fewer axes or strides that
  /// no view has.
  template <class T>
  view<T> as(int trailing) const {
    if (!given_) return {};
    check(number_of<std::remove_const_t<T>>, trailing, sizeof(T));
    const run outer = merged(0, axes_ - trailing), inner = merged(axes_ - trailing, axes_);
    return {static_cast<T*>(data_), inner.count, outer.count, inner.stride, outer.stride};
  }
  /// LLRs, as `as`: float32, or int8 and int16 with their scale. Throws argument_error for another scale than
  /// 1 with float32.
  llr_batch llrs(int trailing, double scale) const;
  /// Complex values as pairs of float16: the last axis is that of the two parts, the `trailing` ones before
  /// it are elements. Throws as `as`.
  view<const half_complex> as_halves(int trailing) const;
  /// All axes together hold items of `elements` neighbours.
  template <class T>
  view<T> in_groups(std::size_t elements) const {
    if (!given_) return {};
    check(number_of<std::remove_const_t<T>>, 0, sizeof(T));
    const run flat = merged(0, axes_);
    if (flat.count % elements != 0) not_a_multiple(flat.count, elements);
    return {static_cast<T*>(data_), elements, flat.count / elements, flat.stride, elements * flat.stride};
  }
  /// Bits, as `as` and `in_groups` give them. Throws shape_error for another number than 0 and 1 in host
  /// memory; on a device the lowest bit counts.
  view<const std::uint8_t> bits(int trailing) const { return only_bits(as<const std::uint8_t>(trailing)); }
  view<const std::uint8_t> bits_in_groups(std::size_t elements) const {
    return only_bits(in_groups<const std::uint8_t>(elements));
  }
  /// This one's batch axes are the first of `whole`'s, or have extent 1 where the others are shared: how many
  /// items of `whole` share each item of it. Throws shape_error.
  std::size_t items_sharing(int trailing, std::span<const std::ptrdiff_t> whole) const;
  /// Throws shape_error where the last axes are not these.
  void expect_item(std::initializer_list<std::size_t> extents) const;
  /// Throws shape_error where the batch axes differ.
  void expect_batch(int trailing, std::span<const std::ptrdiff_t> whole) const;

 private:
  struct run {
    std::size_t count = 1, stride = 0;  // in numbers
  };
  view<const std::uint8_t> only_bits(view<const std::uint8_t> v) const;
  void check_span() const;
  void check_overlaps() const;
  bool overlaps_itself() const;
  bool overlaps(const argument& other) const;
  bool same_numbers(const argument& other) const;
  nb::object addresses() const;
  std::pair<const char*, const char*> range() const;
  /// Of values of `together` numbers each.
  run merged(int first, int last, std::size_t together = 1) const;
  void check(number wanted, int trailing, std::size_t alignment) const;
  [[noreturn]] void not_a_multiple(std::size_t count, std::size_t elements) const;
  void take(nb::handle object, const char* allowed);
  void take_buffer(nb::handle object, bool written);
  void take_device_array(nb::handle object, bool written);
  bool take_described(nb::handle object, bool written);
  void take_torch(nb::handle object, bool written);
  nb::object resolved(nb::handle object, bool written);
  bool take_cupy(nb::handle object);
  void take_cuda(nb::handle object, bool written);
  void take_shape(nb::handle shape);

  static constexpr std::size_t most_axes = 16;
  const char* name_;
  executor_ref& where_;
  bool given_ = false, held_ = false;
  int axes_ = 0, device_ = -1;
  void* data_ = nullptr;
  std::size_t itemsize_ = 0;
  number type_ = number::other;
  std::string other_;                                          // what a type of other is called
  std::array<std::ptrdiff_t, most_axes> shape_{}, strides_{};  // strides in bytes
  Py_buffer buffer_{};
  nb::object capsule_;   // of DLPack, kept until the work that is queued has run
  nb::object resolved_;  // of torch, whose memory is used again behind that work: on this stream
  bool written_, in_place_;
  const argument* before_ = nullptr;  // the one that this thread made before
  static inline thread_local const argument* latest_ = nullptr;
};

/// N0: a number of any real type for all items, which is copied to the device if necessary, or an array of
/// one for each.
class noise_argument {
 public:
  /// Throws argument_error for a number that is 0, but where that `may_be_zero`, or below.
  noise_argument(nb::handle object, executor_ref& where, bool may_be_zero = false);
  /// Throws shape_error where the axes of an array are not those of the batch.
  view<const float> of(std::span<const std::ptrdiff_t> batch) const;

 private:
  float value_ = 0;
  const float* number_ = nullptr;
  bool shared_ = false;
  argument array_;
};

/// Throws argument_error for N0 that is below 0, or 0 where that may not be.
void check_noise(double noise_var, bool may_be_zero = false);

/// N0 that is one number of Python. Throws argument_error as check_noise, and for an integer that is too
/// large; type_error for what is no number.
double noise_number(nb::handle object, bool may_be_zero = false);

/// "(2, 3)"
std::string text_of(std::span<const std::ptrdiff_t> shape);
std::size_t product(std::span<const std::ptrdiff_t> shape);

}  // namespace wb::python
