#include <warpband/c/errors.hpp>

#include <cstdint>
#include <cstring>
#include <exception>
#include <new>

#include "warpband_version.hpp"

namespace wb::c {
namespace {

constexpr std::size_t text_bytes = 1024;
thread_local char last_error[text_bytes] = "";  // no destructor, so that a thread may fail while it ends

}  // namespace

wb_status keep_error(wb_status status, const char* text) noexcept {
  const std::size_t length = strnlen(text, text_bytes - 1);
  std::memcpy(last_error, text, length);
  last_error[length] = '\0';
  return status;
}

wb_status keep_exception() noexcept {
  try {
    throw;
  } catch (const coded_error& e) {
    return keep_error(e.status(), e.what());
  } catch (const shape_error& e) {
    return keep_error(WB_INVALID_SHAPE, e.what());
  } catch (const argument_error& e) {
    return keep_error(WB_INVALID_ARGUMENT, e.what());
  } catch (const device_error& e) {
    return keep_error(WB_NO_DEVICE, e.what());
  } catch (const memory_error& e) {
    return keep_error(WB_OUT_OF_MEMORY, e.what());
  } catch (const std::bad_alloc&) {
    return keep_error(WB_OUT_OF_MEMORY, "out of memory");
  } catch (const std::length_error&) {  // of a container
    return keep_error(WB_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return keep_error(WB_FAILED, e.what());
  } catch (...) {
    return keep_error(WB_FAILED, "an unknown exception");
  }
}

}  // namespace wb::c

extern "C" {

uint32_t wb_abi_version(void) { return std::uint32_t{WB_ABI_MAJOR} << 16 | WB_ABI_MINOR; }
const char* wb_version(void) { return WARPBAND_VERSION; }

const char* wb_status_name(wb_status status) {
  switch (status) {
    case WB_OK:
      return "success";
    case WB_INVALID_ARGUMENT:
      return "invalid argument";
    case WB_INVALID_SHAPE:
      return "invalid shape";
    case WB_OUT_OF_MEMORY:
      return "out of memory";
    case WB_NO_DEVICE:
      return "no device";
    case WB_BUSY:
      return "busy";
    case WB_TIMEOUT:
      return "timeout";
    case WB_UNSUPPORTED:
      return "unsupported";
    case WB_FAILED:
      return "failed";
  }
  return "unknown status";
}

const char* wb_last_error(void) { return wb::c::last_error; }

}  // extern "C"
