#pragma once
// Which settings each type of code has. For code_settings.cpp alone.
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/link/codec.hpp>

namespace wb {

/// Those of the code, then those of its decoder.
std::vector<setting_of<code_config>> code_setting_list(code_type type);

}  // namespace wb
