#pragma once
// Tensors of torch, asked what they are in C and not by calls of Python, each of which takes a tenth of a
// microsecond: DLPack's exchange interface, which torch has from 2.10 on.
#include <cstdint>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace wb::python {

/// DLManagedTensorVersioned of DLPack 1.
struct versioned_tensor {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(versioned_tensor*);
  std::uint64_t flags;  // 1: read-only
  nanobind::dlpack::dltensor tensor;
};

/// DLPackExchangeAPI of DLPack 1.3 (its C API, "DLPack C Exchange API"). A table lives as long as the
/// process, and none of its functions makes a stream wait. They return 0, or -1 with an error of Python.
struct exchange_functions {
  std::uint32_t major, minor;
  const exchange_functions* previous;  // of an older version of the interface; may be null
  int (*allocate)(nanobind::dlpack::dltensor* like, versioned_tensor** made, void* context,
                  void (*fail)(void* context, const char* kind, const char* message));
  int (*export_managed)(void* object, versioned_tensor** made);
  int (*import_managed)(versioned_tensor* taken, void** object);
  int (*describe)(void* object, nanobind::dlpack::dltensor* filled);  // which the object owns; may be null
  int (*current_stream)(std::int32_t device_type, std::int32_t device, void** stream);
};

/// A type of tensors.
class tensor_type {
 public:
  /// That of an object, if it is one with the exchange interface; else nullptr. A subclass may have changed
  /// what its methods give, so that it counts only if it has an interface of its own. With the GIL, as all
  /// here.
  static const tensor_type* of(nanobind::handle object);

  /// What a tensor of this type is, while it lives; false where the library cannot say: no error is left.
  bool describe(nanobind::handle tensor, nanobind::dlpack::dltensor& t) const;
  /// The stream on which the library queues its work on a CUDA device; false where it cannot say.
  bool current_stream(int device, void*& stream) const;
  /// The values are not those in memory: a conjugation (of complex ones alone) or a sign waits.
  bool waits(nanobind::handle tensor, bool complex) const;

 private:
  PyTypeObject* type_ = nullptr;
  const exchange_functions* functions_ = nullptr;
  PyObject *is_conj_ = nullptr, *is_neg_ = nullptr;
};

}  // namespace wb::python
