#pragma once
// From exceptions to the codes and texts of warpband.h.
#include <cstdint>
#include <string>

#include <warpband/c/warpband.h>
#include <warpband/core/error.hpp>

namespace wb::c {

/// An error whose code its type does not say.
class coded_error : public error {
 public:
  coded_error(wb_status status, const std::string& text) : error(text), status_(status) {}
  wb_status status() const noexcept { return status_; }

 private:
  wb_status status_;
};

/// The code of the exception under way. Its text becomes the calling thread's wb_last_error(). Allocates
/// nothing.
wb_status keep_exception() noexcept;
/// The calling thread's wb_last_error(), cut to 1023 bytes.
wb_status keep_error(wb_status status, const char* text) noexcept;

/// Calls f(). Nothing that it throws leaves.
template <class F>
wb_status guarded(const F& f) noexcept {
  try {
    f();
    return WB_OK;
  } catch (...) {
    return keep_exception();
  }
}

/// Throws argument_error for what int cannot hold.
inline int as_int(const char* name, std::uint32_t value) {
  if (value > INT32_MAX) throw argument_error(name, std::to_string(value), "at most 2^31 - 1");
  return static_cast<int>(value);
}
/// Throws argument_error for a null pointer.
inline void check_given(const char* argument, const void* p) {
  if (p == nullptr) throw argument_error(argument, "NULL", "a pointer");
}

}  // namespace wb::c
