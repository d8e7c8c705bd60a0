#include <warpband/core/text_file.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include <warpband/core/error.hpp>

namespace wb {

std::string read_file(const std::string& path, std::size_t most_mib, const std::string& larger) {
  const auto unreadable = [&] {
    return file_error(path, std::string("cannot read: ") + std::strerror(errno));
  };
  std::error_code status;
  if (std::filesystem::is_directory(path, status)) throw file_error(path, "cannot read: it is a folder");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw unreadable();
  const std::size_t max_bytes = most_mib << 20;
  std::string text;
  for (std::vector<char> part(1 << 16); in && text.size() <= max_bytes;) {
    in.read(part.data(), static_cast<std::streamsize>(part.size()));
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) throw unreadable();
  if (text.size() > max_bytes)
    throw file_error(path, "larger than " + std::to_string(most_mib) + " MiB: " + larger);
  return text;
}

}  // namespace wb
