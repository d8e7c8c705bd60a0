#pragma once
// Kinds of antenna systems: how coded bits are sent, received and detected, and how frames are counted. A
// kind is one file, antennas_*.cpp, which describes it, and one line of the list in antenna_kind.cpp.
// docs/design/links.md says how to add one. A program adds its own with antenna_kinds().add(kind), and names
// it for its settings with antennas_name.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <warpband/core/kind_list.hpp>
#include <warpband/link/stages.hpp>

namespace wb {
namespace config {
class schema;
class link_keys;
}  // namespace config

/// Functions get a link whose antennas are of this kind. `check_loop`, `work` and the `make` functions get a
/// completed link; the others may be called before completion. Sizes are those of one frame.
struct antenna_kind {
  std::string_view name;  // "streams"
  /// The key of scenarios that chooses this kind, "massive.solver". Empty: no key; [mimo] and [detector] do.
  std::string_view key = "";

  // ---- scenarios, of kinds with a key

  /// Keys of links, and tables, that have no meaning with the kind.
  std::vector<std::string> idle = {};
  /// Adds its keys. `allowed`: the conditions of `key`.
  void (*add_keys)(config::schema&, const std::vector<setting_condition>& allowed) = nullptr;
  /// Puts in the antennas, into a link that is read but for them.
  void (*read)(const config::link_keys&, link_config&) = nullptr;
  bool takes_constellations = false;  // besides square QAM
  bool sets_code = false;             // whether code and constellation follow from the antennas

  // ---- completion

  /// Chooses what code, channel and settings leave open, and checks all. Throws argument_error, file_error.
  void (*complete)(link_config&);
  /// Throws argument_error for what a loop of detector and decoder does not take.
  void (*check_loop)(const link_config&);

  // ---- sizes; the defaults are those of one antenna

  int (*streams)(const link_config&) = [](const link_config&) { return 1; };
  int (*rx_antennas)(const link_config&) = [](const link_config&) { return 1; };
  /// Symbols of a use, r_s in link/link.hpp.
  int (*symbols_per_use)(const link_config&) = [](const link_config& c) { return streams_of(c); };
  /// Uses of the channel that the detector takes together, and their H, one for all or one for each.
  int (*uses_at_once)(const link_config&) = [](const link_config&) { return 1; };
  int (*channels_at_once)(const link_config&) = [](const link_config&) { return 1; };
  /// Frames have many codewords, which are counted too, and fail together.
  bool many_codewords = false;
  std::size_t (*codewords)(const link_config&) = [](const link_config&) { return std::size_t{1}; };
  /// Uses of the channel that hold `symbols` symbols of each codeword.
  std::size_t (*uses_for)(const link_config&, std::size_t symbols) = [](const link_config& c, std::size_t n) {
    const auto together = static_cast<std::size_t>(streams_of(c));
    return (n + together - 1) / together;
  };
  /// Uses that a frame takes. It may be asked before the code is completed.
  std::size_t (*uses)(const link_config&) = [](const link_config& c) {
    air_antennas a{.uses = resource_elements(c)};
    c.antennas.kind().describe(c, a);
    return whole_uses(c.channel, a);
  };
  /// Energy that all transmit antennas send together, divided by Es.
  double (*sent_power)(const link_config&) = [](const link_config& c) { return double(streams_of(c)); };
  double (*symbol_energy)(const link_config&) = [](const link_config&) { return 1.0; };  // Es
  /// Describes to the channel what differs from tx = streams and rx = rx_antennas. Must not call `uses`.
  void (*describe)(const link_config&, air_antennas&) = [](const link_config&, air_antennas&) {};

  // ---- what is detected and counted

  bool erases_uses = true;  // whether LLRs of a use may be erased
  /// True: the antennas report erased uses (`samples::status`), not the detector.
  bool (*erases_sent)(const link_config&) = [](const link_config&) { return false; };
  /// Not empty: uncoded links decide bits without LLRs. Messages call such a link by this text.
  std::string_view decides_uncoded = "";
  /// What results hold, as "table.setting".
  named_values (*results)(const link_config&);
  /// Work of the detector for one frame, in steps of a turbo decoder. It chooses the first batch.
  std::uint64_t (*work)(const link_config&) = [](const link_config&) { return std::uint64_t{0}; };

  // ---- parts

  std::unique_ptr<antenna_system> (*make)(const link_config&);
  /// The detector of the open loop, null of a channel of bits; not asked for with `make_receiver`.
  std::unique_ptr<soft_detector> (*make_detector)(const link_config&) = nullptr;
  /// The receiver of a kind that has one of its own instead of detector and decoder. Null: it has none.
  std::unique_ptr<receiver> (*make_receiver)(const link_config&) = nullptr;
  /// The receiver with detector and decoder in a loop. Null: `check_loop` refuses all.
  std::unique_ptr<receiver> (*make_loop)(const link_config&) = nullptr;

  // ---- for `warpband choose`, of links that are not completed

  /// Receivers to try, the given one first. Null: the kind has no choice. Throws argument_error for a link
  /// without one.
  std::vector<link_antennas> (*candidates)(const link_config&) = nullptr;
  /// The same receiver with other limits of LLRs, its own first.
  std::vector<link_antennas> (*limits)(const link_antennas&) = [](const link_antennas& a) {
    return std::vector{a};
  };
  std::string (*receiver_name)(const link_antennas&) = [](const link_antennas&) {
    return std::string("other");
  };
};

/// Every kind. A program may add its own before it reads a scenario.
kind_list<antenna_kind>& antenna_kinds();

// ---- for descriptions of kinds

// In antennas_*.cpp.
antenna_kind single_antenna_kind();
antenna_kind streams_kind();
antenna_kind space_time_antennas_kind();
antenna_kind massive_kind();
antenna_kind nr_kind();
antenna_kind wimax_kind();

/// The code, which of transport blocks depends on the symbols that its bits are mapped to.
code_config mapped_code(const link_config& config);
/// Completes the channel, and returns what it left of the antennas.
air_antennas complete_channel(link_config& config);
/// Code and channel, of streams in uses.
void complete_uses(link_config& config);
[[noreturn]] void refuse_loop(const link_config& config, const std::string& allowed);
/// Refuses codes that have no loop. `setting` is that of a detector without a-priori LLRs, else empty.
void check_bit_loop(const link_config& config, const std::string& setting = "");

/// Queues: coded bits of so many uses to symbols [uses, streams].
using use_mapper =
    std::function<void(executor&, const std::uint8_t* bits, std::complex<float>* symbols, std::size_t uses)>;
/// Sends symbols in uses of the channel, which the detector takes `uses_at_once` together.
std::unique_ptr<antenna_system> make_antennas_in_uses(const link_config& config, use_mapper mapper);
/// The same with a QAM mapper. `separate`: each use has an H of its own in memory, as a demapper takes it.
std::unique_ptr<antenna_system> make_symbols_in_uses(const link_config& config, bool separate);

/// A loop of detector and decoder of codewords.
std::unique_ptr<receiver> make_bit_loop(const link_config& config, std::unique_ptr<soft_detector> detector);
/// The same with another decoder of frames, whose H serve so many uses.
std::unique_ptr<receiver> make_bit_loop(const link_config& config, std::unique_ptr<soft_detector> detector,
                                        std::shared_ptr<const soft_decoder> decoder, receiver_config loop,
                                        std::size_t uses_per_channel);
/// Appends the values that results hold of settings.
template <class C>
void add_values(named_values& to, const std::string& table, const std::vector<setting_of<C>>& settings,
                const C& c) {
  const C initial;
  for (const auto& [s, value] : values_of(settings, c))
    if (s->of_links && (s->group.empty() || s->group == table) && (!s->brief || value != s->written(initial)))
      to.emplace_back(table + "." + s->name, value);
}
/// Those of a detector.
void add_detector(named_values& to, const detector_config& detector);
/// Work of a detector in one use, roughly.
std::uint64_t work_of(const detector_config& detector);
/// "mimo.streams" and "mimo.rx_antennas".
named_values mimo_values(const link_config& config);

}  // namespace wb
