#pragma once
// Detectors by name. A kind of detector is a folder that describes it, and one line in detectors.cpp:
//
//   detector_config c{.type = "kbest", .streams = 4, .rx_antennas = 4, .qam = 16};
//   c.edit<kbest_settings>().survivors = 32;  // detect/kbest/kbest.hpp; or c.set("survivors", 32)
//   const auto detector = make_detector(c);
//
// A program adds its kinds with detectors().add(kind) before it reads a scenario (examples/own_detector.cpp).
// The command, scenarios, results and links use a detector only through its kind.
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <warpband/core/box.hpp>
#include <warpband/core/kind_list.hpp>
#include <warpband/core/setting.hpp>

namespace wb {

class detector;
struct detector_kind;

/// No detector takes more streams. Of the library's kinds only pic and ep take more than 8.
inline constexpr int most_soft_streams = 16;
/// No limit to the LLRs.
inline constexpr float no_clip = std::numeric_limits<float>::infinity();

/// A detector: its kind, what all kinds have, and the kind's settings.
struct detector_config {
  std::string type = "mmse";
  int streams = 2;      // 1..8, with pic and ep to 16
  int rx_antennas = 2;  // streams..16
  int qam = 4;          // 4, 16, 64, 256
  /// LLRs are limited to +-llr_clip, which also stands for a missing hypothesis: above 0 and at most 1e6, or
  /// `no_clip` where no hypothesis can be missing. Nothing: see clip_of.
  std::optional<float> llr_clip = {};
  bool extrinsic = false;  // the prior is taken off the output again
  box settings = {};       // of the kind; empty: its defaults

  /// Throws argument_error if no kind has the name.
  const detector_kind& kind() const;
  template <class T>
  const T& get() const {
    return held<T>(settings);
  }
  /// To be changed before the configuration is copied.
  template <class T>
  T& edit() {
    if (settings == box()) settings = box(T{});
    return settings.edit<T>();
  }
  /// Throws argument_error for a value that is not allowed, or a setting that the kind lacks.
  void set(std::string_view setting, const setting_value& value);
  /// Nothing where the kind lacks the setting or it is left open.
  setting_value value_of(std::string_view setting) const;

  bool operator==(const detector_config&) const = default;
};

/// A kind of detector. Functions get configurations of this kind.
struct detector_kind {
  std::string name;  // "kbest"
  std::string text;  // what it is
  /// Its settings beside the common ones. `boxed` makes them of a struct's.
  std::vector<setting_of<box>> settings = {};
  int most_streams = 8;
  /// Whether it takes a-priori LLRs.
  bool takes_prior = false;
  /// Of a completed configuration.
  std::function<std::unique_ptr<detector>(const detector_config&)> make;

  // What a kind may leave out.
  /// The settings with everything chosen that they leave open. Throws argument_error. None: each is checked
  /// by itself.
  std::function<box(const detector_config&)> complete = {};
  /// Whether the search may find no candidate with one of a bit's values. LLRs then need a limit. None: it
  /// always finds one.
  std::function<bool(const detector_config&)> may_miss = {};
  /// The limit of LLRs where a configuration leaves it open. None: 8 where a hypothesis can be missing, else
  /// `no_clip`.
  std::function<float(const detector_config&)> default_clip = {};
  /// Settings that `warpband choose` tries. `base` is the detector of the scenario, of any kind; `choose`
  /// tries it in any case. None: the defaults. An empty list: nothing of this kind.
  std::function<std::vector<box>(const detector_config& base)> candidates = {};
  /// What a plot calls it, "kbest K = 16". None: the name.
  std::function<std::string(const detector_config&)> label = {};
  /// Memory of a thread of the CPU beside its stack, roughly. None: little.
  std::function<std::size_t(const detector_config&)> thread_bytes = {};
};

/// All kinds: those of the library in the order in which pages name them, then those of the program.
kind_list<detector_kind>& detectors();

/// The names of all kinds, and what they are.
setting_of<detector_config> detector_type_setting();
/// What all kinds have: streams, rx_antennas, qam, llr_clip, extrinsic.
const std::vector<setting_of<detector_config>>& common_detector_settings();
/// Of a configuration of the kind: "type", the common settings that it has, and its own.
std::vector<setting_of<detector_config>> settings_of(const detector_kind& kind);

/// Throws argument_error for a number of streams, antennas or points that no detector takes.
void check_sizes(const detector_config& config);
/// The configuration with everything chosen that it leaves open. Throws argument_error for what is not
/// allowed.
detector_config completed(const detector_config& config);
/// Throws argument_error for what is not allowed.
std::unique_ptr<detector> make_detector(const detector_config& config);
/// Whether a detector takes a-priori LLRs.
bool takes_prior(const detector_config& config);
/// Whether a bit may have no candidate with one of its values.
bool may_miss(const detector_config& config);
/// The limit of LLRs in force: `llr_clip`, or the default of the kind where that is left open.
float clip_of(const detector_config& config);
/// Operations of one use (exec/kernel.hpp).
double flops_per_use(const detector_config& config);
/// What a plot calls it.
std::string label_of(const detector_config& config);

}  // namespace wb
