#pragma once
#include <system_error>
#include <thread>
#include <utility>

#include <warpband/core/error.hpp>

namespace wb {

/// A thread that runs `body`. Throws device_error where the system starts no more.
template <class Body>
std::thread start_thread(Body body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& e) {
    throw device_error(std::string("the system does not start another thread: ") + e.code().message());
  }
}

}  // namespace wb
