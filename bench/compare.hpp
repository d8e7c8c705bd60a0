#pragma once
// Says which of two records' figures differ by more than their noise.
#include <string>

namespace wb::bench {

struct comparison {
  std::string json, table;
  bool worse = false;  // a figure became slower, failed in the new record, or is missing there
};
/// Compares the benchmarks that both records have. A figure changed if its median moved by more than the
/// noise, the sum of how far both spreads reach from their medians (statistics.hpp). Throws file_error for a
/// file that is no record.
comparison compare(const std::string& before, const std::string& after);
/// A record that is read already; `path` names it in messages.
struct record_text {
  std::string path, text;
};
comparison compare(const record_text& before, const record_text& after);

}  // namespace wb::bench
