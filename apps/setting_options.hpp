#pragma once
// Options that settings are (core/setting.hpp), and attributes of files.
#include <functional>
#include <string>
#include <vector>

#include <warpband/core/setting.hpp>
#if WARPBAND_HDF5
#include <warpband/io/hdf5.hpp>
#endif

#include "command.hpp"

/// "--early-stop" for "early_stop".
std::string option_of_setting(std::string setting);

/// What an option shows of its setting.
struct setting_option {
  std::string name, kind, text, initial, allowed;
  std::vector<std::string> words = {};  // that completion offers
};
/// Adds the option, a boolean as a flag. `take` gets the value of its text, and throws wb::argument_error for
/// one that is not allowed; with `dry` it only looks at it.
void add_setting_option(CLI::App& app, const setting_option& s,
                        std::function<void(const wb::setting_value&, bool dry)> take);

#if WARPBAND_HDF5
/// A setting's value as an attribute of a file.
void set_attribute(wb::hdf5_attributes& attributes, const std::string& name, const wb::setting_value& value);
#endif
