#pragma once
// Files of others that are read at once: scenarios, results, records.
#include <string>

namespace wb {

/// What a file holds, of at most `most_mib` MiB. Throws file_error: it is missing, a folder, cannot be read,
/// or is larger, and therefore `larger` ("not a scenario"). A pipe is read to its end or that limit.
std::string read_file(const std::string& path, std::size_t most_mib, const std::string& larger);

}  // namespace wb
