#pragma once
// The keys of `warpband stream`'s scenarios: which settings they are, and of which chains.
#include <string>
#include <vector>

#include <warpband/core/setting.hpp>

#include "stream_scenario.hpp"

/// Those of [stream], [mimo], [modem], [detector], [massive], [stbc], [nr] and code.type, under their keys
/// and in the order of the documentation; with their conditions, which are keys too.
const std::vector<wb::setting_of<stream_run>>& stream_settings();
/// Those of [code] and [decoder], as `warpband sim` has them.
const std::vector<wb::code_setting_text>& stream_code_settings();

/// The chains that have a key; empty for one that all have.
std::vector<std::string> chains_of(const std::string& key);

/// What a key was called once, of these chains.
struct renamed_key {
  std::string before, now;
  std::vector<std::string> chains;
  bool points = false;  // of the constellation, in place of its name
};
const std::vector<renamed_key>& renamed_keys();
