#pragma once
// Files of channel estimates as RENEW's sounder writes them, with HDF5's own calls, of a channel that is
// known.
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include <warpband/core/as_size.hpp>

namespace wb::testing {

/// A path that is free, and removed at the end.
class scratch_file {
 public:
  explicit scratch_file(const std::string& name)
      : path_((std::filesystem::temp_directory_path() /
               ("warpband_csi_" + std::to_string(getpid()) + "_" + name + ".hdf5"))
                  .string()) {}
  ~scratch_file() { std::filesystem::remove(path_); }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};
inline void attribute(hid_t object, const std::string& name, hid_t in_file, hid_t in_memory, hsize_t count,
                      const void* from) {
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  const hid_t made = H5Acreate2(object, name.c_str(), in_file, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(made, in_memory, from);
  H5Aclose(made);
  H5Sclose(space);
}
inline void whole(hid_t object, const std::string& name, int value, hid_t type = H5T_STD_U32BE) {
  attribute(object, name, type, H5T_NATIVE_INT, 1, &value);
}
inline void numbers(hid_t object, const std::string& name, const std::vector<double>& values) {
  attribute(object, name, H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, values.size(), values.data());
}

/// A sounding of `users` users by `antennas` antennas whose channel is known.
struct sounding {
  int length = 64, prefix = 16, before = 5, after = 3, repetitions = 2, cells = 1, cell = 0, users = 2,
      antennas = 3, frames = 4, extent = 7;
  bool shifted = true;
  int missing_frame = -1, missing_user = 0;
  std::vector<int> used;  // of all frequencies from the lowest on: 0 or +-1

  sounding() { fill(); }
  void fill() {
    used.assign(static_cast<std::size_t>(length), 0);
    for (int i = 4; i < length - 3; i++)
      used[static_cast<std::size_t>(i)] = i == length / 2 ? 0 : i * i % 7 < 3 ? 1 : -1;
  }
  int samples() const { return before + repetitions * (length + prefix) + after; }
  int subcarriers() const {
    return static_cast<int>(std::count_if(used.begin(), used.end(), [](int x) { return x != 0; }));
  }
  using complex = std::complex<double>;
  /// Of frequency i, from the lowest on.
  complex channel(int frame, int user, int antenna, int i) const {
    return std::polar(0.5 + 0.1 * user, 0.3 * frame + 0.9 * antenna * (user + 1) - 0.05 * i * (1 + antenna));
  }
  /// I and Q of one slot: samples of a signal that has channel * pilot / 8 in its DFT, and noise of the
  /// quantisation alone.
  std::vector<std::int16_t> slot(int frame, int user, int antenna) const {
    const int n = length, symbol = n + prefix;
    std::vector<complex> sent(as_size(n)), turns(as_size(n)), period(as_size(n));
    for (int i = 0; i < n; i++) {
      if (used[as_size(i)] != 0)
        sent[as_size(i)] = channel(frame, user, antenna, i) * static_cast<double>(used[as_size(i)]);
      turns[as_size(i)] = std::polar(1., 2 * std::numbers::pi * i / n);
    }
    for (int t = 0; t < n; t++)  // a prefix is the end of the same period
      for (int i = 0; i < n; i++)
        if (used[as_size(i)] != 0)
          period[as_size(t)] += sent[as_size(i)] * turns[as_size((i + n - n / 2) * t % n)];
    std::vector<std::int16_t> values;
    for (int t = 0; t < samples(); t++) {
      complex x = 0;
      const int sample = t - before;
      if (sample >= 0 && sample < repetitions * symbol)
        x = period[as_size((sample % symbol + n - prefix) % n)];
      x *= 32768. / 8 / n;
      values.push_back(static_cast<std::int16_t>(std::lround(x.real())));
      values.push_back(static_cast<std::int16_t>(std::lround(x.imag())));
    }
    return values;
  }
  std::vector<double> stored_pilot() const {
    std::vector<double> p;
    for (int i = 0; i < length; i++) {
      const int from = shifted ? i : (i + length / 2) % length;
      p.insert(p.end(), {static_cast<double>(used[static_cast<std::size_t>(from)]), 0});
    }
    return p;
  }
  /// As RENEW's sounder writes: big-endian, chunks of a slot, more frames than there are samples of.
  void write(const std::string& path, const std::function<void(hid_t)>& change = {}, int rank = 5) const {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                group = H5Gcreate2(file, "Data", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const auto size = [](int n) { return static_cast<hsize_t>(n); };
    const hsize_t shape[]{size(extent), size(cells), size(users), size(antennas), size(2 * samples())},
        max_shape[]{H5S_UNLIMITED, shape[1], shape[2], shape[3], shape[4]}, chunk[]{1, 1, 1, 1, shape[4]};
    const hid_t space = H5Screate_simple(rank, shape, max_shape), how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(how, rank, chunk);
    const hid_t array =
        H5Dcreate2(group, "Pilot_Samples", H5T_STD_I16BE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    const hid_t one = H5Screate_simple(5, chunk, nullptr);
    for (int f = 0; f < frames && rank == 5; f++)
      for (int u = 0; u < users; u++)
        for (int b = 0; b < antennas; b++) {
          if (f == missing_frame && u == missing_user) continue;
          const hsize_t start[]{size(f), size(cell), size(u), size(b), 0};
          H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, chunk, nullptr);
          H5Dwrite(array, H5T_NATIVE_INT16, one, space, H5P_DEFAULT, slot(f, u, b).data());
        }
    whole(group, "SLOT_SAMP_LEN", samples());
    whole(group, "FFT_SIZE", length);
    whole(group, "CP_LEN", prefix);
    whole(group, "PREFIX_LEN", before, H5T_STD_I32BE);
    whole(group, "POSTFIX_LEN", after, H5T_STD_I32BE);
    whole(group, "RECIPROCAL_CALIB", 0, H5T_STD_I32BE);
    numbers(group, "FREQ", {3.6e9});
    numbers(group, "RATE", {5e6});
    numbers(group, "OFDM_PILOT_F", stored_pilot());
    if (change) change(group);
    H5Sclose(one);
    H5Pclose(how);
    H5Sclose(space);
    H5Dclose(array);
    H5Gclose(group);
    H5Fclose(file);
  }
};

}  // namespace wb::testing
