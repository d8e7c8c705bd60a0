#pragma once
#include <string>

namespace wb {

/// "name: text", or `text` where it begins so already.
inline std::string named(const std::string& name, const std::string& text) {
  return text.starts_with(name + ": ") ? text : name + ": " + text;
}

}  // namespace wb
