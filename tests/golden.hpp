#pragma once
// Rows of the golden set (tests/golden/, made by scripts/golden.py): what a row asks for, and what this build
// says to it. golden.cpp is the only file that knows how scenarios are read.
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <warpband/exec/executor.hpp>

namespace wb::testing {

/// Rows of tests/golden/NAME.jsonl, a JSON object in each line.
std::vector<nlohmann::json> golden_rows(const std::string& name);

/// What a scenario gives: {"curves": [...]}, each with its label and configuration in force, or {"message"}.
/// A row has "command" ("sim" or "stream"), a "text" or the path of a "scenario" in the tree, and may have
/// "options" of the command. With "result" it is the path of a stored result, whose curves it gives.
/// Curves after the first are JSON merge patches (RFC 7386) of the one before, which keeps the files small.
nlohmann::json golden_answer(const nlohmann::json& row);

/// What the first frames of a curve count: "result" (or "scenario", where the result is too old to be read),
/// "curve" (its label), "point" (dB) and "frames". Lists have an entry for each frame.
class golden_counts {
 public:
  explicit golden_counts(executor& exec) : exec_(exec) {}
  nlohmann::json of(const nlohmann::json& row);

 private:
  struct stored;
  executor& exec_;
  std::shared_ptr<const stored> stored_;  // what was read last
};

/// A list of configurations in the place of a list of patches, see golden_answer.
nlohmann::json unpatched(const nlohmann::json& curves);

/// The first key in which two values differ, and what each has there; "" where none does.
std::string golden_difference(const nlohmann::json& expected, const nlohmann::json& found,
                              const std::string& key = "");

}  // namespace wb::testing
