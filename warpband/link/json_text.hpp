#pragma once
// JSON of files: results and records of `warpband bench`. For files that read JSON: it needs nlohmann's.
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace wb {

/// What a text says, the members of an object in their order. Time and memory are in proportion to the text.
/// (nlohmann's own parser, told to bound the depth, walks a whole list again for each object in it.)
/// `fail` throws, and is told what is wrong in one line: not JSON, with the number of the line; nested more
/// than 64 deep; a number beyond double; a key that an object has twice.
nlohmann::ordered_json parse_json(const std::string& text,
                                  const std::function<void(const std::string&)>& fail);

}  // namespace wb
