#include <warpband/exec/shared_library.hpp>

#include <dlfcn.h>

#include <warpband/core/error.hpp>

namespace wb {

shared_library::shared_library(const char* library, const std::vector<std::string>& names, const char* advice,
                               bool for_plugins)
    : name_(names.at(0)) {
  for (const std::string& name : names)
    if (handle_ == nullptr)
      handle_ = dlopen(name.c_str(), RTLD_NOW | (for_plugins ? RTLD_GLOBAL : RTLD_LOCAL));
  if (handle_ == nullptr)
    throw device_error(std::string(library) + " is not there: " + name_ + " was not found; " + advice);
}

void* shared_library::symbol(const char* name) const {
  void* const found = dlsym(handle_, name);
  if (found == nullptr) throw device_error(name_ + " has no " + name);
  return found;
}

std::vector<std::string> in_cuda_toolkit(const std::string& name) {
  return {name, "/usr/local/cuda/lib64/" + name, "/usr/local/cuda/lib/" + name};
}

}  // namespace wb
