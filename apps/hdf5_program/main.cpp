// warpband-hdf5: reads one HDF5 file for the process that started it, and can do nothing else. What may
// contain an attack, the file, is read after `confine`. Messages: hdf5_messages.hpp.
#include <hdf5.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/io/confine.hpp>
#include <warpband/io/hdf5_messages.hpp>
#include <warpband/io/hdf5_source.hpp>

namespace {

using namespace wb::hdf5_messages;
using wb::hdf5_element;

constexpr wb::confined_files files;

/// Ends the program where its parent is gone.
void take(void* to, std::size_t bytes) {
  for (char* next = static_cast<char*>(to); bytes > 0;) {
    const ssize_t n = read(files.channel, next, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(0);
    next += n;
    bytes -= static_cast<std::size_t>(n);
  }
}
void give(const void* from, std::size_t bytes) {
  for (const char* next = static_cast<const char*>(from); bytes > 0;) {
    const ssize_t n = write(files.channel, next, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(0);
    next += n;
    bytes -= static_cast<std::size_t>(n);
  }
}
void answer(const std::string& message) {
  const auto size = static_cast<std::uint32_t>(message.size());
  give(&size, sizeof size);
  give(message.data(), message.size());
}

/// The memory that is shared with the parent, mapped anew where it has grown.
/// Threads: one at a time.
class window {
 public:
  char* get(std::size_t bytes) {
    if (bytes == bytes_) return at_;
    if (at_ != nullptr) munmap(at_, bytes_);
    bytes_ = 0;
    void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, files.window, 0);
    at_ = mapped == MAP_FAILED ? nullptr : static_cast<char*>(mapped);
    if (at_ == nullptr) throw std::bad_alloc();
    bytes_ = bytes;
    return at_;
  }

 private:
  char* at_ = nullptr;
  std::size_t bytes_ = 0;
};

void answer_rows(wb::hdf5_source& file, window& shared, unpacked& in) {
  const auto element = in.get<hdf5_element>();
  const auto name = in.get<std::string>();
  const auto r = in.get<rows_request>();
  if (r.rows == 0) return file.read(element, name, r.first, 0, nullptr);
  file.read(element, name, r.first, r.rows, shared.get(r.window) + r.offset);
}

void answer_attribute(wb::hdf5_source& file, unpacked& in, packed& out) {
  const auto name = in.get<std::string>(), attribute = in.get<std::string>();
  const std::optional<wb::hdf5_attribute> value = file.attribute(name, attribute);
  out << (value ? static_cast<char>('0' + value->index()) : '-');
  if (!value) return;
  std::visit([&](const auto& v) { out << v; }, *value);
}

std::uint64_t file_bytes = 0;

std::string answer_of(std::unique_ptr<wb::hdf5_source>& file, window& shared, const std::string& request) {
  unpacked in = read_back(request);
  packed out;
  out << 'k';
  const auto wanted = in.get<call>();
  if (file == nullptr) file = wb::hdf5_in_process(files.file, file_bytes, "");
  switch (wanted) {
    case call::open:
      break;
    case call::has:
      out << static_cast<char>(file->has(in.get<std::string>()));
      break;
    case call::names:
      out << file->names();
      break;
    case call::describe:
      pack(out, file->describe(in.get<std::string>()));
      break;
    case call::expect: {
      const auto element = in.get<hdf5_element>();
      const auto name = in.get<std::string>();
      (void)file->expect(element, name, in.get<std::uint64_t>());
      pack(out, file->describe(name));
      break;
    }
    case call::read:
      answer_rows(*file, shared, in);
      break;
    case call::attribute:
      answer_attribute(*file, in, out);
      break;
    case call::numbers: {
      const auto name = in.get<std::string>();
      out << file->attribute_numbers(name, in.get<std::string>());
      break;
    }
    case call::remark:
      out << file->remark();
      break;
  }
  return out.take();
}

/// The same; what the reader throws is an answer too.
std::string answer_or_error(std::unique_ptr<wb::hdf5_source>& file, window& shared,
                            const std::string& request) {
  packed out;
  try {
    return answer_of(file, shared, request);
  } catch (const wb::file_error& e) {
    out << 'f' << std::string(e.what()).substr(2);  // after the empty name of the file and ": "
  } catch (const wb::argument_error& e) {
    out << (dynamic_cast<const wb::shape_error*>(&e) != nullptr ? 's' : 'a') << e.argument() << e.value()
        << e.allowed();
  } catch (const std::bad_alloc&) {
    out << 'f' << std::string("it was not read within the memory that it may take");
  } catch (const std::exception& e) {
    out << 'f' << std::string(e.what());
  }
  return out.take();
}

}  // namespace

int main(int argc, char** argv) {
  struct stat channel {
  }, file_there{};
  if (argc != 2 || fstat(files.channel, &channel) != 0 || !S_ISSOCK(channel.st_mode) ||
      fstat(files.file, &file_there) != 0) {
    std::fputs("warpband-hdf5 reads HDF5 files for Warpband, which starts it\n", stderr);
    return 2;
  }
  file_bytes = static_cast<std::uint64_t>(file_there.st_size);
  const wb::confinement done = wb::confine(files, std::strtoull(argv[1], nullptr, 10));
  answer((packed() << std::string(greeting) << static_cast<char>(done.seccomp) << done.landlock
                   << std::string(H5_VERS_INFO))
             .take());
  std::unique_ptr<wb::hdf5_source> file;
  window shared;
  for (;;) {
    std::uint32_t size = 0;
    take(&size, sizeof size);
    if (size > most_request) _exit(1);
    std::string request(size, '\0');
    take(request.data(), size);
    answer(answer_or_error(file, shared, request));
  }
}
