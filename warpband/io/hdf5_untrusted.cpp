#include <warpband/io/hdf5_untrusted.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include <warpband/core/error.hpp>
#include <warpband/core/packed.hpp>

namespace wb {

namespace {

constexpr std::size_t most_answer = 16 * mib;  // without rows: texts of at most 1 MiB, 2^20 numbers, names
constexpr std::size_t most_rows_bytes = 16 * mib;  // that one request asks for, unless a row has more
constexpr std::size_t most_error = 2000;

// ------------------------------------------------------------------------------------------------- messages

using packed = packer<std::string>;
using unpacked = unpacker<std::string_view>;

unpacked read_back(const std::string& bytes) {
  return {bytes, "the process that read it answered something else"};
}

/// A text of the child on one line and not too long.
std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  if (text.size() > most_error) {
    text.resize(most_error);
    text += "...";
  }
  return text;
}

packed& pack(packed& to, const hdf5_array& a) {
  return to << a.shape << a.type << a.chunk_rows << static_cast<char>(a.packed) << a.chunk_bytes
            << a.block_bytes;
}
hdf5_array unpack_array(unpacked& from) {
  hdf5_array a;
  a.shape = from.get<std::vector<std::size_t>>();
  a.type = one_line(from.get<std::string>());
  a.chunk_rows = from.get<std::size_t>();
  a.packed = from.get<char>() != 0;
  a.chunk_bytes = from.get<std::size_t>();
  a.block_bytes = from.get<std::size_t>();
  return a;
}

// ------------------------------------------------------------------------------------------------ the child

/// Calls f with a value of the element type.
template <class F>
void with_element(char element, F f) {
  switch (element) {
    case hdf5_element<std::uint8_t>:
      return f(std::uint8_t{});
    case hdf5_element<std::int16_t>:
      return f(std::int16_t{});
    case hdf5_element<std::int32_t>:
      return f(std::int32_t{});
    case hdf5_element<std::int64_t>:
      return f(std::int64_t{});
    case hdf5_element<float>:
      return f(float{});
    case hdf5_element<double>:
      return f(double{});
    default:
      return f(std::complex<float>{});
  }
}

void answer_rows(const hdf5_reader& file, unpacked& in, packed& out) {
  const char element = in.get<char>();
  const auto name = in.get<std::string>();
  const auto first = in.get<std::size_t>(), rows = in.get<std::size_t>();
  with_element(element, [&](auto zero) {
    using T = decltype(zero);
    file.read<T>(name, first, 0, nullptr);  // of this type
    std::size_t n = rows;
    const std::vector<std::size_t> shape = file.describe(name).shape;
    for (std::size_t i = 1; i < shape.size(); i++) n *= shape[i];
    std::vector<T> values(n);
    file.read(name, first, rows, values.data());
    out.append(values.data(), n * sizeof(T));
  });
}

void answer_attribute(const hdf5_reader& file, unpacked& in, packed& out) {
  const auto name = in.get<std::string>(), attribute = in.get<std::string>();
  const std::optional<hdf5_attribute> value = file.attribute(name, attribute);
  out << (value ? static_cast<char>('0' + value->index()) : '-');
  if (!value) return;
  if (const auto* text = std::get_if<std::string>(&*value)) out << *text;
  if (const auto* number = std::get_if<std::int64_t>(&*value)) out << *number;
  if (const auto* number = std::get_if<double>(&*value)) out << *number;
}

/// The answer to a request, whose first letter says which call it is.
std::string answer_of(const hdf5_reader& file, const std::string& request) {
  unpacked in = read_back(request);
  packed out;
  out << 'k';
  switch (in.get<char>()) {
    case 'h':
      out << static_cast<char>(file.has(in.get<std::string>()));
      break;
    case 'n':
      out << file.names();
      break;
    case 'd':
      pack(out, file.describe(in.get<std::string>()));
      break;
    case 'e': {
      const char element = in.get<char>();
      const auto name = in.get<std::string>();
      const auto dimensions = in.get<std::size_t>();
      with_element(element, [&](auto zero) { (void)file.expect<decltype(zero)>(name, dimensions); });
      pack(out, file.describe(name));
      break;
    }
    case 'r':
      answer_rows(file, in, out);
      break;
    case 'a':
      answer_attribute(file, in, out);
      break;
    case 'v': {
      const auto name = in.get<std::string>();
      out << file.attribute_numbers(name, in.get<std::string>());
      break;
    }
    case 'm':
      out << file.remark();
      break;
    default:  // 'o': it is open
      break;
  }
  return out.take();
}

/// The same; what the reader throws is an answer too.
std::string answer_or_error(std::unique_ptr<hdf5_reader>& file, const std::string& path,
                            const std::string& request) {
  packed out;
  try {
    if (file == nullptr) file = std::make_unique<hdf5_reader>(path, hdf5_access{});
    return answer_of(*file, request);
  } catch (const file_error& e) {
    const std::string what = e.what(), begin = path + ": ";
    out << 'f' << (what.starts_with(begin) ? what.substr(begin.size()) : what);
  } catch (const argument_error& e) {
    out << (dynamic_cast<const shape_error*>(&e) != nullptr ? 's' : 'a') << e.argument() << e.value()
        << e.allowed();
  } catch (const std::bad_alloc&) {
    out << 'f' << std::string("it was not read within the memory that it may take");
  } catch (const std::exception& e) {
    out << 'f' << std::string(e.what());
  }
  return out.take();
}

}  // namespace

// ----------------------------------------------------------------------------------------------- the parent

untrusted_hdf5::untrusted_hdf5(const std::string& path, const hdf5_access& access, void (*renew_lock)())
    : path_(path),
      child_(
          {.memory = access.memory, .seconds = access.seconds},
          [path, file = std::make_shared<std::unique_ptr<hdf5_reader>>()](const std::string& request) {
            return answer_or_error(*file, path, request);
          },
          renew_lock) {
  (void)ask((packed() << 'o').take(), most_answer);
}

std::string untrusted_hdf5::ask(const std::string& request, std::size_t most) try {
  std::string answer = child_.ask(request, most);
  unpacked in = read_back(answer);
  switch (in.get<char>()) {
    case 'k':
      return answer.erase(0, 1);
    case 'f':
      throw file_error(path_, one_line(in.get<std::string>()));
    default: {
      const bool shape = answer[0] == 's';
      const std::string argument = one_line(in.get<std::string>()), value = one_line(in.get<std::string>()),
                        allowed = one_line(in.get<std::string>());
      if (shape) throw shape_error(argument, value, allowed);
      throw argument_error(argument, value, allowed);
    }
  }
} catch (const child_error& e) {
  throw file_error(path_, e.what());
} catch (const unpack_error& e) {
  throw file_error(path_, e.what());
}

namespace {

/// Reads an answer; one that is not as asked for is a fault of the file.
template <class F>
auto taken(const std::string& path, const std::string& answer, F f) try {
  unpacked in = read_back(answer);
  return f(in);
} catch (const unpack_error& e) {
  throw file_error(path, e.what());
}

}  // namespace

bool untrusted_hdf5::has(const std::string& name) {
  const std::lock_guard hold(lock_);
  return taken(path_, ask((packed() << 'h' << name).take(), most_answer),
               [](unpacked& in) { return in.get<char>() != 0; });
}

std::vector<std::string> untrusted_hdf5::names() {
  const std::lock_guard hold(lock_);
  return taken(path_, ask((packed() << 'n').take(), most_answer),
               [](unpacked& in) { return in.get<std::vector<std::string>>(); });
}

hdf5_array untrusted_hdf5::describe(const std::string& name) {
  const std::lock_guard hold(lock_);
  if (const auto known = arrays_.find(name); known != arrays_.end()) return known->second;
  return arrays_[name] = taken(path_, ask((packed() << 'd' << name).take(), most_answer), unpack_array);
}

std::vector<std::size_t> untrusted_hdf5::expect(char element, const std::string& name,
                                                std::size_t dimensions) {
  const std::lock_guard hold(lock_);
  const hdf5_array a =
      taken(path_, ask((packed() << 'e' << element << name << dimensions).take(), most_answer), unpack_array);
  if (a.shape.size() != dimensions)
    throw file_error(path_, "the process that read it answered something else");
  arrays_[name] = a;
  return a.shape;
}

void untrusted_hdf5::read(char element, std::size_t size, const std::string& name, std::size_t first,
                          std::size_t rows, void* to) {
  const hdf5_array a = describe(name);
  const std::lock_guard hold(lock_);
  constexpr std::size_t most = std::numeric_limits<std::ptrdiff_t>::max();
  std::size_t row = size;
  for (std::size_t i = 1; i < a.shape.size(); i++) {
    if (a.shape[i] != 0 && row > most / a.shape[i]) throw file_error(path_, name + ": that is too large");
    row *= a.shape[i];
  }
  const std::size_t all = a.shape.empty() ? 1 : a.shape[0];
  if (first > all || rows > all - first)
    throw shape_error("rows", std::to_string(first) + " + " + std::to_string(rows),
                      "at most " + std::to_string(all) + " rows in all");
  std::size_t at_once = std::max<std::size_t>(most_rows_bytes / std::max<std::size_t>(row, 1), 1);
  if (a.chunk_rows > 1 && at_once > a.chunk_rows) at_once -= at_once % a.chunk_rows;
  auto* next = static_cast<char*>(to);
  std::size_t done = 0;
  do {
    const std::size_t count = std::min(rows - done, at_once), bytes = count * row;
    const std::string answer = ask((packed() << 'r' << element << name << (first + done) << count).take(),
                                   bytes + 1 < most_answer ? most_answer : bytes + 1);
    if (answer.size() != bytes) throw file_error(path_, "the process that read it answered something else");
    if (bytes != 0) std::memcpy(next, answer.data(), bytes);
    next += bytes;
    done += count;
  } while (done < rows);
}

std::optional<hdf5_attribute> untrusted_hdf5::attribute(const std::string& name,
                                                        const std::string& attribute) {
  const std::lock_guard hold(lock_);
  return taken(path_, ask((packed() << 'a' << name << attribute).take(), most_answer),
               [](unpacked& in) -> std::optional<hdf5_attribute> {
                 switch (in.get<char>()) {
                   case '0':
                     return in.get<std::int64_t>();
                   case '1':
                     return in.get<double>();
                   case '2':
                     return in.get<std::string>();
                   default:
                     return std::nullopt;
                 }
               });
}

std::vector<double> untrusted_hdf5::attribute_numbers(const std::string& name, const std::string& attribute) {
  const std::lock_guard hold(lock_);
  return taken(path_, ask((packed() << 'v' << name << attribute).take(), most_answer),
               [](unpacked& in) { return in.get<std::vector<double>>(); });
}

std::string untrusted_hdf5::remark() {
  const std::lock_guard hold(lock_);
  return one_line(taken(path_, ask((packed() << 'm').take(), most_answer),
                        [](unpacked& in) { return in.get<std::string>(); }));
}

}  // namespace wb
