#include "iq_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/io/replacement.hpp>

namespace {

constexpr std::size_t most_metadata_bytes = 64 << 20, most_channels = 1024;
constexpr double most_hz = 1e12;

bool is_file(const std::string& path) {
  struct stat s {};
  return stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode);
}

/// Whether the file has the signature of HDF5, at byte 0 or behind a user block of 512, 1024, 2048, ...
/// bytes.
bool is_hdf5(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string begin(8, '\0');
  for (std::streamoff block = 0; file.seekg(block) && file.read(begin.data(), 8);
       block = block == 0 ? 512 : 2 * block)
    if (begin == "\x89HDF\r\n\x1a\n") return true;
  return false;
}

nlohmann::json metadata_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw wb::file_error(path, "cannot be opened: " + std::string(std::strerror(errno)));
  std::string text;
  for (std::string part(1 << 16, '\0'); file && text.size() <= most_metadata_bytes;) {
    file.read(part.data(), static_cast<std::streamsize>(part.size()));
    text.append(part, 0, static_cast<std::size_t>(file.gcount()));
  }
  if (text.size() > most_metadata_bytes) throw wb::file_error(path, "has more than 64 MiB");
  nlohmann::json meta = nlohmann::json::parse(text, nullptr, false);
  if (meta.is_discarded()) throw wb::file_error(path, "is no JSON");
  if (!meta.is_object()) throw wb::file_error(path, "is no JSON object");
  return meta;
}
/// Entry `key` of an object, null if it has none.
const nlohmann::json& entry(const nlohmann::json& object, const char* key) {
  static const nlohmann::json none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

/// Reads n values, `step` bytes from one sample to the next. `word` gives the number at an address.
template <class Word>
void read_values(std::complex<float>* to, const unsigned char* from, std::size_t n, std::size_t step,
                 std::size_t half, Word word) {
  for (std::size_t i = 0; i < n; i++, from += step) to[i] = {word(from), word(from + half)};
}
template <int Bytes>
std::uint32_t word_at(const unsigned char* from, bool big_endian) {
  std::uint32_t x = 0;
  for (int i = 0; i < Bytes; i++) x |= std::uint32_t{from[i]} << 8 * (big_endian ? Bytes - 1 - i : i);
  return x;
}
void read_samples(std::complex<float>* to, const unsigned char* from, std::size_t n, std::size_t step,
                  const iq_format& format) {
  const bool big_endian = format.big_endian;
  const auto with = [&](auto word) { read_values(to, from, n, step, format.bytes() / 2, word); };
  switch (format.kind) {
    case iq_format::value::int8:
      return with(
          [](const unsigned char* p) { return static_cast<float>(static_cast<std::int8_t>(*p)) / 128.f; });
    case iq_format::value::int16:
      return with([=](const unsigned char* p) {
        return static_cast<float>(static_cast<std::int16_t>(word_at<2>(p, big_endian))) / 32768.f;
      });
    case iq_format::value::int32:
      return with([=](const unsigned char* p) {
        return static_cast<float>(static_cast<std::int32_t>(word_at<4>(p, big_endian))) / 2147483648.f;
      });
    case iq_format::value::float32:
      break;
  }
  if (big_endian)
    return with([](const unsigned char* p) { return std::bit_cast<float>(word_at<4>(p, true)); });
  with([](const unsigned char* p) { return std::bit_cast<float>(word_at<4>(p, false)); });
}

}  // namespace

std::size_t iq_format::bytes() const noexcept {
  return kind == value::int8 ? 2 : kind == value::int16 ? 4 : 8;
}

std::optional<iq_format> iq_format_of(const std::string& word) {
  std::string base = word;
  iq_format format;
  if (base.ends_with("_be")) format.big_endian = true;
  if (base.ends_with("_be") || base.ends_with("_le")) base.resize(base.size() - 3);
  if (base == "cf32")
    format.kind = iq_format::value::float32;
  else if (base == "ci32")
    format.kind = iq_format::value::int32;
  else if (base == "ci16")
    format.kind = iq_format::value::int16;
  else if (base == "ci8")
    format.kind = iq_format::value::int8;
  else
    return std::nullopt;
  return format;
}

std::string sigmf_word(const iq_format& format) {
  const char* const order = format.big_endian ? "_be" : "_le";
  switch (format.kind) {
    case iq_format::value::int8:
      return "ci8";
    case iq_format::value::int16:
      return std::string("ci16") + order;
    case iq_format::value::int32:
      return std::string("ci32") + order;
    case iq_format::value::float32:
      break;
  }
  return std::string("cf32") + order;
}

void throw_format_error(const std::string& word) {
  throw wb::argument_error("format", "\"" + word + "\"",
                           "cf32, ci32, ci16 or ci8, with _le or _be behind it");
}

std::optional<std::string> sigmf_stem(const std::string& path) {
  for (const std::string ending : {".sigmf-meta", ".sigmf-data"})
    if (path.ends_with(ending)) return path.substr(0, path.size() - ending.size());
  return std::nullopt;
}

void write_iq(const std::string& path, const std::vector<std::complex<float>>& samples,
              const iq_format& format, double full_scale) {
  const std::size_t half = format.bytes() / 2;
  const double steps = std::ldexp(1., static_cast<int>(8 * half) - 1);
  std::string bytes(samples.size() * format.bytes(), '\0');
  std::size_t written = 0;
  for (const std::complex<float>& x : samples)
    for (const float part : {x.real(), x.imag()}) {
      const double scaled =
          std::clamp(std::nearbyint(static_cast<double>(part) / full_scale * steps), -steps, steps - 1);
      const std::uint32_t word = format.kind == iq_format::value::float32
                                     ? std::bit_cast<std::uint32_t>(part)
                                     : static_cast<std::uint32_t>(static_cast<std::int64_t>(scaled));
      for (std::size_t i = 0; i < half; i++)
        bytes[written++] = static_cast<char>(word >> 8 * (format.big_endian ? half - 1 - i : i) & 0xff);
    }
  wb::write_file(path, bytes);
}

void iq_reader::closed::operator()(std::FILE* f) const noexcept {
  if (f != stdin) std::fclose(f);
}

iq_reader::iq_reader(const iq_source& source) : path_(source.path) {
  rate_hz_ = source.rate_hz.value_or(0);
  centre_hz_ = source.centre_hz;
  files_ = {source.path};
  std::optional<std::string> stem = sigmf_stem(source.path);
  if (!stem && !is_file(source.path) && is_file(source.path + ".sigmf-meta")) stem = source.path;
  if (stem && source.path != "-") {
    open_sigmf(source, *stem);
  } else if (source.path != "-" && is_file(source.path) && is_hdf5(source.path)) {
    open_hdf5(source);
  } else if (source.path != "-" && is_file(source.path) && wb::is_npy(source.path)) {
    check_told(source, "a .npy file");
    npy_ = std::make_unique<wb::npy_reader>(source.path);
    if (npy_->shape().size() != 1)
      throw wb::file_error(
          source.path,
          fmt::format("has {} axes: expected samples one after the other, one axis", npy_->shape().size()));
  } else {
    open_raw(source);
  }
  if (!hdf5_ && !source.dataset.empty())
    throw wb::argument_error("dataset", "\"" + source.dataset + "\"", "nothing, as the file is no HDF5 file");
  if (channels_ == 1 && source.channel != 0)
    throw wb::argument_error("channel", std::to_string(source.channel), "0, as there is one channel");
  if (rate_hz_ == 0)
    throw wb::argument_error("rate", "missing", "the samples' rate in Hz, which the file does not tell");
}

/// Refuses --format if the file tells it.
void iq_reader::check_told(const iq_source& source, const char* kind) const {
  if (!source.format.empty())
    throw wb::argument_error("format", "\"" + source.format + "\"",
                             fmt::format("nothing with {}, which tells it", kind));
}

#if WARPBAND_HDF5
namespace {

/// A number from 0 to 1e12 that is an attribute of an array or of the root.
std::optional<double> frequency_of(const wb::hdf5_reader& file, const std::string& dataset,
                                   const std::string& name) {
  auto value = file.attribute(dataset, name);
  if (!value) value = file.attribute("", name);
  if (!value) return std::nullopt;
  double hz = -1;
  if (const auto* whole = std::get_if<std::int64_t>(&*value)) hz = static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&*value)) hz = *real;
  if (!(hz >= 0 && hz <= most_hz))
    throw wb::file_error(file.path(), "attribute " + name + " is not a number from 0 to 1e12 (Hz)");
  return hz;
}

/// At most 20 of them.
std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t most_names = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), most_names); i++)
    list += (i == 0 ? "" : ", ") + wb::printable(names[i]);
  if (names.size() > most_names) list += fmt::format(" and {} more", names.size() - most_names);
  return list;
}

template <class T>
void read_pairs(const wb::hdf5_reader& file, const std::string& dataset, std::size_t first,
                std::complex<float>* to, std::size_t n, double scale) {
  std::vector<T> values(2 * n);
  file.read(dataset, first, n, values.data());
  for (std::size_t i = 0; i < n; i++)
    to[i] = {static_cast<float>(static_cast<double>(values[2 * i]) / scale),
             static_cast<float>(static_cast<double>(values[2 * i + 1]) / scale)};
}

}  // namespace

void iq_reader::open_hdf5(const iq_source& source) {
  check_told(source, "an HDF5 file");
  hdf5_ = std::make_shared<const wb::hdf5_reader>(source.path);
  dataset_ = source.dataset;
  if (dataset_.empty()) {
    const std::vector<std::string> names = hdf5_->names();
    if (names.size() != 1)
      throw wb::argument_error("dataset", "missing",
                               names.empty() ? "the name of an array: the file has none in its root"
                                             : fmt::format("one of the file's arrays: {}", list_of(names)));
    dataset_ = names[0];
  }
  const wb::hdf5_array array = hdf5_->describe(dataset_);
  element_type_ = array.type;
  const bool is_complex = element_type_ == "complex64" || element_type_ == "complex128";
  const std::vector<std::string> real{"int8", "int16", "int32", "float32", "float64"};
  const bool is_pair = std::find(real.begin(), real.end(), element_type_) != real.end();
  if (!is_complex && !(is_pair && array.shape.size() == 2 && array.shape[1] == 2))
    throw wb::file_error(
        source.path,
        fmt::format("array {} is {} [{}]: expected complex64 or complex128 [samples], or int8, int16, int32, "
                    "float32 or float64 [samples, 2]",
                    wb::printable(dataset_), element_type_, fmt::join(array.shape, ", ")));
  // A vector of MATLAB, Octave or Julia has two axes in the file and one as it is expected.
  if (element_type_ == "complex64")
    rows_ = hdf5_->expect<std::complex<float>>(dataset_, 1)[0];
  else if (element_type_ == "complex128")
    rows_ = hdf5_->expect<std::complex<double>>(dataset_, 1)[0];
  else
    rows_ = array.shape[0];
  if (!source.rate_hz) rate_hz_ = frequency_of(*hdf5_, dataset_, "sample_rate").value_or(0);
  if (!source.centre_hz) centre_hz_ = frequency_of(*hdf5_, dataset_, "frequency");
}

std::size_t iq_reader::read_hdf5(std::complex<float>* to, std::size_t n) {
  const std::size_t count = std::min(n, rows_ - place_);
  if (count == 0) return 0;
  if (element_type_ == "complex64") {
    hdf5_->read(dataset_, place_, count, to);
  } else if (element_type_ == "complex128") {
    std::vector<std::complex<double>> values(count);
    hdf5_->read(dataset_, place_, count, values.data());
    for (std::size_t i = 0; i < count; i++) to[i] = std::complex<float>(values[i]);
  } else if (element_type_ == "int8") {
    read_pairs<std::int8_t>(*hdf5_, dataset_, place_, to, count, 128);
  } else if (element_type_ == "int16") {
    read_pairs<std::int16_t>(*hdf5_, dataset_, place_, to, count, 32768);
  } else if (element_type_ == "int32") {
    read_pairs<std::int32_t>(*hdf5_, dataset_, place_, to, count, 2147483648.);
  } else if (element_type_ == "float32") {
    read_pairs<float>(*hdf5_, dataset_, place_, to, count, 1);
  } else {
    read_pairs<double>(*hdf5_, dataset_, place_, to, count, 1);
  }
  place_ += count;
  return count;
}
#else
void iq_reader::open_hdf5(const iq_source& source) {
  throw wb::file_error(source.path, "this build reads no HDF5 files: configure it with -DWARPBAND_HDF5=ON");
}
std::size_t iq_reader::read_hdf5(std::complex<float>*, std::size_t) { return 0; }
#endif

void iq_reader::open_raw(const iq_source& source) {
  const std::string word = source.format.empty() ? "cf32" : source.format;
  const auto format = iq_format_of(word);
  if (!format) throw_format_error(word);
  format_ = *format;
  file_.reset(source.path == "-" ? stdin : std::fopen(source.path.c_str(), "rb"));
  if (!file_) throw wb::file_error(source.path, "cannot be opened: " + std::string(std::strerror(errno)));
}

void iq_reader::open_sigmf(const iq_source& source, const std::string& stem) {
  const std::string meta_path = stem + ".sigmf-meta";
  files_ = {meta_path, stem + ".sigmf-data"};
  const nlohmann::json meta = metadata_of(meta_path);
  const nlohmann::json& global = entry(meta, "global");
  const auto refuse = [&](const std::string& problem) { throw wb::file_error(meta_path, problem); };
  if (!global.is_object()) refuse("has no object \"global\"");
  check_told(source, "a SigMF recording");
  const nlohmann::json& type = entry(global, "core:datatype");
  if (!type.is_string()) refuse("has no text core:datatype");
  const auto format = iq_format_of(type.get<std::string>());
  if (!format)
    refuse("core:datatype is \"" + type.get<std::string>() + "\": expected cf32, ci32, ci16 or ci8");
  format_ = *format;
  const nlohmann::json& rate = entry(global, "core:sample_rate");
  if (!rate.is_null()) {
    if (!rate.is_number() || !(rate.get<double>() > 0) || rate.get<double>() > most_hz)
      refuse("core:sample_rate is no rate of 0 to 1e12 Hz");
    if (!source.rate_hz) rate_hz_ = rate.get<double>();
  }
  const nlohmann::json& channels = entry(global, "core:num_channels");
  if (!channels.is_null()) {
    if (!channels.is_number_unsigned() || channels.get<std::uint64_t>() < 1 ||
        channels.get<std::uint64_t>() > most_channels)
      refuse("core:num_channels is no number of 1 to 1024");
    channels_ = channels.get<std::size_t>();
  }
  if (source.channel < 0 || static_cast<std::size_t>(source.channel) >= channels_)
    throw wb::argument_error("channel", std::to_string(source.channel),
                             fmt::format("0 to {}, as the recording has", channels_ - 1));
  channel_ = static_cast<std::size_t>(source.channel);

  std::optional<double> centre;
  for (const char* key : {"core:dataset", "core:trailing_bytes"})
    if (!entry(global, key).is_null()) refuse(std::string("has ") + key + ", which is not read");
  const nlohmann::json& captures = entry(meta, "captures");
  if (!captures.is_null() && !captures.is_array()) refuse("captures is no list");
  for (const nlohmann::json& capture : captures) {
    const nlohmann::json& header = entry(capture, "core:header_bytes");
    if (!header.is_null() && header != 0) refuse("has core:header_bytes, which are not read");
    const nlohmann::json& frequency = entry(capture, "core:frequency");
    if (frequency.is_null()) continue;
    if (!frequency.is_number() || !(std::fabs(frequency.get<double>()) <= most_hz))
      refuse("core:frequency is no frequency up to 1e12 Hz");
    if (centre && *centre != frequency.get<double>())
      refuse(fmt::format("has captures at {:.10g} Hz and {:.10g} Hz: a recording at one frequency is read",
                         *centre, frequency.get<double>()));
    centre = frequency.get<double>();
  }
  if (!centre_hz_) centre_hz_ = centre;

  path_ = stem + ".sigmf-data";
  file_.reset(std::fopen(path_.c_str(), "rb"));
  if (!file_) throw wb::file_error(path_, "cannot be opened: " + std::string(std::strerror(errno)));
}

std::size_t iq_reader::read(std::complex<float>* to, std::size_t n) {
  if (hdf5_) return read_hdf5(to, n);
  if (npy_) {
    const std::size_t rest = std::min(n, npy_->shape()[0] - place_);
    if (rest != 0) npy_->read(place_, rest, to);
    place_ += rest;
    return rest;
  }
  std::size_t filled = 0;
  while (filled < n) {
    const std::size_t part = read_part(to + filled, n - filled);
    filled += part;
    if (part == 0) break;
  }
  return filled;
}

std::size_t iq_reader::read_part(std::complex<float>* to, std::size_t n) {
  constexpr std::size_t most_bytes = 1 << 20;
  const std::size_t step = format_.bytes() * channels_;
  const bool as_is = channels_ == 1 && format_.kind == iq_format::value::float32 &&
                     format_.big_endian == (std::endian::native == std::endian::big);
  const std::size_t wanted = std::min(n, std::max<std::size_t>(1, most_bytes / step)) * step;
  if (!as_is) bytes_.resize(wanted);
  const std::size_t got = std::fread(as_is ? static_cast<void*>(to) : bytes_.data(), 1, wanted, file_.get());
  if (std::ferror(file_.get()))
    throw wb::file_error(path_, "cannot be read: " + std::string(std::strerror(errno)));
  if (got % step != 0) throw wb::file_error(path_, fmt::format("ends within a sample of {} bytes", step));
  if (!as_is) read_samples(to, bytes_.data() + channel_ * format_.bytes(), got / step, step, format_);
  return got / step;
}
