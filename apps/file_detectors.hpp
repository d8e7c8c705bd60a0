#pragma once
// What `warpband detect` puts the items of a file through: detectors of few streams, of massive MIMO, and the
// decoders of space-time codes, by one interface.
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/core/view.hpp>
#include <warpband/exec/executor.hpp>

#include "setting_options.hpp"

/// What a file says about its items.
struct detect_sizes {
  std::size_t rx_antennas = 0, streams = 0;
  int qam = 0;
};

/// Items on the executor, the first of which begins with its row of `channel`. Outputs without data are not
/// wanted.
struct detect_arrays {
  wb::view<const std::complex<float>> channel = {}, received = {};
  std::size_t uses_per_channel = 1;
  wb::view<const float> noise_var =
      {};  // of each item, or of each row of `channel`; item_stride 0 to share one
  wb::view<const float> prior = {};
  wb::view<float> llr = {};
  wb::view<std::uint8_t> bits = {}, status = {};
  wb::view<std::complex<float>> equalized = {};
  wb::view<float> sinr = {};
};

/// Threads: one at a time.
class file_detector {
 public:
  virtual ~file_detector() = default;
  virtual void run(wb::executor& exec, const detect_arrays& arrays) const = 0;

  std::size_t bits_per_item = 0;
  std::size_t thread_bytes = 0;  // working memory of a thread of the CPU
  // Working memory of a call, for each item, and for each row of `channel`.
  std::size_t item_bytes = 0, channel_bytes = 0;
  bool takes_prior = false;
  bool decides = true;  // it gives bits; else they are the signs of the LLRs
  /// The settings in force, "detector" first; a limit of LLRs that is infinite is none.
  std::vector<std::pair<std::string, wb::setting_value>> in_force;
  double llr_clip = 0;
  std::optional<std::vector<int>> order;  // of the streams in the search, where one holds for all items
};

/// How a kind of detector reads a file.
struct file_detector_kind {
  std::string name;                // of --detector
  std::string items = "uses";      // what the batch holds
  std::size_t uses = 0;            // of a codeword: y is [batch, uses, rx]; 0: [batch, rx]
  std::size_t tx_antennas = 0;     // of a codeword
  bool over_subcarriers = false;   // each use has an H: h is [groups, uses, rx, tx]
  bool noise_of_channels = false;  // N0 belongs to a row of h; else to an item
  bool equalizes = false;          // it can write estimates of symbols, and their SINRs
  /// Options, without what the file says.
  std::vector<setting_option> options = {};
  /// Throws argument_error for a value that the option does not take.
  std::function<void(const std::string& setting, const wb::setting_value&)> check = {};
  /// Throws argument_error for what is not allowed, usage_error for a setting that has no meaning.
  std::function<std::unique_ptr<file_detector>(const detect_sizes&, const wb::setting_values&)> make = {};
};

/// All kinds, in the order in which pages name them.
const std::vector<file_detector_kind>& file_detectors();
/// The kind whose name is the word, whatever its case and hyphens; null where none is.
const file_detector_kind* find_file_detector(const std::string& word);
