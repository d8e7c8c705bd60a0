#pragma once
// Channel estimates from files: measured or computed elsewhere. Which layout a file has is told from what it
// holds:
//
//   plain   array `h` complex64 or complex128 [snapshots, subcarriers, rx, tx]; or a .npy file (io/npy.hpp)
//   of
//           these axes or [snapshots, rx, tx] for one subcarrier
//   renew   array `Data/Pilot_Samples` int16 [frames, cells, users, antennas, 2 * samples] with attributes of
//           `Data`, as RENEW's sounder and Agora write it: a slot of received samples for each pilot
//   argos   array `Pilot_Samples` int16 [frames, antennas, users * samples * 2] with root attributes
//           `samples_per_user` and `num_mob_ant`, the layout of the ArgosV2 traces before RENEW; the pilot is
//           the long training field of IEEE 802.11, twice
//   csi     array `csi` complex64 [frames, users, repetitions, antennas, subcarriers], made from the latter
//
// Pilots become least-squares estimates: the DFT of each repetition of the pilot symbol, divided by the
// pilot, and the mean over repetitions; (I + i Q) / 32768 are the samples. Of a trace rx are antennas of the
// base station, tx users, and subcarriers those on which the pilot is not 0, the lowest frequency first.
// Frames at the end without samples, which writers leave, do not count.
//
// Built where CMake's WARPBAND_HDF5 is on.
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <warpband/core/error.hpp>
#include <warpband/core/status.hpp>

namespace wb {

enum class csi_layout { plain, renew, argos, csi };
/// "plain", "renew", "argos", "csi".
const char* name_of(csi_layout layout) noexcept;

enum class csi_scale {
  none,      // as they are
  snapshot,  // mean |h|^2 is 1 for every transmitter in each snapshot, over antennas and subcarriers
  file,      // in the mean over all snapshots that are not erased; reads the file once more when it is opened
};

struct csi_options {
  csi_scale scale = csi_scale::none;
  int cell = 0;  // renew: which, from 0
  /// renew, argos: the sample of a slot at which the first cyclic prefix begins (argos: the first window).
  /// Nothing: PREFIX_LEN (argos: 47).
  std::optional<int> first_sample = {};
  /// renew: whether the pilot is stored from the lowest frequency on instead of from 0 Hz on. Nothing: told
  /// from where its zeros are.
  std::optional<bool> shifted_pilot = {};
  /// Read the file in this process, see hdf5_access. Else as default_hdf5_access() says.
  bool trusted = false;
  bool untrusted = false;  // changes nothing: files are not trusted by default
};

/// A file of channel estimates. One that was moved from throws error. Threads: one at a time for each object.
class csi_file {
 public:
  /// Throws file_error: not there, neither HDF5 nor .npy, truncated, none of the layouts, or one with a wrong
  /// shape, type or attribute, or without samples. Throws argument_error ("cell", "first_sample").
  explicit csi_file(const std::string& path, const csi_options& options = {});
  ~csi_file();
  csi_file(csi_file&&) noexcept;
  csi_file(const csi_file&) = delete;
  csi_file& operator=(const csi_file&) = delete;

  csi_layout layout() const;
  std::size_t snapshots() const;
  std::size_t subcarriers() const;
  std::size_t rx_antennas() const;
  std::size_t streams() const;  // tx
  /// Attributes FREQ and RATE / FFT_SIZE of a trace; 0 where there are none.
  double carrier_hz() const;
  double spacing_hz() const;
  /// hdf5_reader::remark: not empty where MATLAB, Octave or Julia wrote the file.
  std::string remark() const;

  /// Snapshots [first, first + count) as [count, subcarriers, rx, tx], row-major: the batch of H that
  /// detectors take, with subcarriers in the place of items. `status` [count, subcarriers], where it is
  /// given, gets status_erased or 0. Returns how many items were erased, which are then zeros: those with NaN
  /// or Inf, and all of a frame in which a user has no samples at any antenna. Throws shape_error for
  /// snapshots that are not there ("snapshots"), and file_error.
  std::size_t read(std::size_t first, std::size_t count, std::complex<float>* to,
                   std::uint8_t* status = nullptr) const;

 private:
  struct state;
  state& held() const;
  std::unique_ptr<state> state_;
};

}  // namespace wb
