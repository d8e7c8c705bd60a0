#pragma once
// Reads a whole file: scenarios, results, records, base matrices.
#include <string>

namespace wb {

/// The content of a file of at most `most_mib` MiB. Throws file_error if it is missing, a folder, unreadable
/// or larger. The message then ends with `larger`, as in "not a scenario". A pipe is read up to that limit.
std::string read_file(const std::string& path, std::size_t most_mib, const std::string& larger);

}  // namespace wb
