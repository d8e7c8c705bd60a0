#pragma once
// Settings that had another name, and values that had another word or stood for leaving a setting out: one
// table for scenarios, stored results, options of the command and keywords of Python. docs/renamed.md lists
// it. Version 0.2.0 still reads the old names, later ones do not.
#include <string>
#include <utility>
#include <vector>

#include <warpband/core/setting.hpp>

namespace wb::config {

/// A setting by its old and its present name; the same name twice where only values changed.
struct renamed {
  std::string before, today;             // "stbc.code", "stbc.type"; of keywords of Python without a table
  std::vector<std::string> chains = {};  // of `warpband stream`, if they alone had the name
  /// The old ones, with today's words; with nothing (no_value) if the setting is left out today.
  std::vector<std::pair<setting_value, setting_value>> values = {};

  /// The value under today's name. Throws argument_error for one that the old name did not take, if its
  /// values are listed.
  setting_value value_today(const setting_value& value) const;
  /// The names without the table: an option of the command or a keyword of Python. Empty if the setting moved
  /// to another table, as such a name was another thing.
  std::pair<std::string, std::string> keywords() const;
};
const std::vector<renamed>& renamed_settings();
/// The value of a setting that has kept its name.
setting_value value_today(const std::string& key, const setting_value& value);

}  // namespace wb::config
