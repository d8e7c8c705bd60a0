#pragma once
// Libraries that are loaded at first use: a program runs without them as long as nothing needs them, and does
// not pay for their memory.
#include <string>
#include <vector>

namespace wb {

/// A library of the system, loaded at run time. Threads: any number may look names up at once.
class shared_library {
 public:
  /// Loads the first of `names` that the loader finds; it stays loaded. `for_plugins`: what it loads itself
  /// finds its symbols. Throws device_error where none is there: "WHAT is not there: NAME was not found;
  /// ADVICE".
  shared_library(const char* library, const std::vector<std::string>& names, const char* advice,
                 bool for_plugins = false);

  /// Sets a pointer to a function, or to an object, of the library. Throws device_error.
  template <class T>
  void find(T& to, const char* name) const {
    to = reinterpret_cast<T>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;

  std::string name_;
  void* handle_ = nullptr;
};

/// A library by its name, and where CUDA's toolkit has it that is no part of the loader's search.
std::vector<std::string> in_cuda_toolkit(const std::string& name);
inline constexpr const char* toolkit_advice = "it is a part of the CUDA toolkit, or set LD_LIBRARY_PATH";

}  // namespace wb
