#pragma once
// Complex baseband samples in files: SigMF recordings, HDF5 and .npy arrays, and raw integers or floats; the
// formats that are written too.
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <warpband/io/hdf5.hpp>
#include <warpband/io/npy.hpp>

/// How a sample is stored: two values, I before Q. Integers are divided by the magnitude of the least one.
struct iq_format {
  enum class value { int8, int16, int32, float32 };
  value kind = value::float32;
  bool big_endian = false;
  std::size_t bytes() const noexcept;  // of a sample
};
/// SigMF's word: cf32, ci32, ci16 or ci8, with _le or _be behind it; little endian without. Empty for others.
std::optional<iq_format> iq_format_of(const std::string& word);

/// SigMF's word of a format: "ci16_le".
std::string sigmf_word(const iq_format& format);
/// Throws argument_error ("format") for a word that is none.
[[noreturn]] void throw_format_error(const std::string& word);
/// The recording's name without its ending, if `path` is one of its two files.
std::optional<std::string> sigmf_stem(const std::string& path);
/// Replaces a file by samples. Integers have full_scale as the magnitude of the least one, and are limited.
/// Throws file_error.
void write_iq(const std::string& path, const std::vector<std::complex<float>>& samples,
              const iq_format& format, double full_scale);

/// Where samples come from, and what the file does not say itself.
struct iq_source {
  std::string path;  // "-": standard input
  std::optional<double> rate_hz, centre_hz;
  std::string format;   // of raw samples; empty: cf32
  int channel = 0;      // of several that a SigMF recording has
  std::string dataset;  // of an HDF5 file; empty: its only array
};

/// Samples one after the other. Every failure is a file_error of one line. Threads: one at a time.
class iq_reader {
 public:
  /// Throws file_error; argument_error for "rate" if nothing tells it, and for "format", "channel" or
  /// "dataset".
  explicit iq_reader(const iq_source& source);

  double rate_hz() const noexcept { return rate_hz_; }
  std::optional<double> centre_hz() const noexcept { return centre_hz_; }
  /// What is read: of a SigMF recording two files.
  const std::vector<std::string>& files() const noexcept { return files_; }
  /// The next samples, fewer than n at the end only.
  std::size_t read(std::complex<float>* to, std::size_t n);

 private:
  struct closed {
    void operator()(std::FILE* f) const noexcept;
  };
  void open_sigmf(const iq_source& source, const std::string& stem);
  void open_raw(const iq_source& source);
  void open_hdf5(const iq_source& source);
  std::size_t read_hdf5(std::complex<float>* to, std::size_t n);
  void check_told(const iq_source& source, const char* kind) const;
  std::size_t read_part(std::complex<float>* to, std::size_t n);

  std::string path_;
  std::vector<std::string> files_;
  std::unique_ptr<std::FILE, closed> file_;
  std::unique_ptr<wb::npy_reader> npy_;
  std::shared_ptr<const wb::hdf5_reader> hdf5_;
  std::string dataset_, element_type_;  // of the HDF5 file
  std::size_t place_ = 0, rows_ = 0;    // in the array
  iq_format format_;
  std::size_t channels_ = 1, channel_ = 0;
  double rate_hz_ = 0;
  std::optional<double> centre_hz_;
  std::vector<unsigned char> bytes_;
};
