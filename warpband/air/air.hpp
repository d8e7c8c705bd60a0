#pragma once
// The channel of a link: a kind by name, its settings, and what sends symbols through it.
//
//   y = H x,  H [rx, tx];  antenna systems add the noise
//
// Or a channel of bits (air/binary.hpp), which gives LLRs.
//
// An antenna system describes itself as `air_antennas`. A kind says which antennas it serves and how many H a
// frame has for them; docs/channels.md has the table. `airs` lists the kinds; each has a file in this folder.
// Randomness follows from a random_range alone: `first` is the index of the first frame.
#include <complex>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <warpband/channel/binary/binary.hpp>
#include <warpband/channel/random.hpp>
#include <warpband/core/box.hpp>
#include <warpband/core/kind_list.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/ofdm/grid.hpp>

namespace wb {

/// single: one antenna to one, with a demapper. streams: several, or a detector. massive: a base station and
/// its users, either direction. pusch, pdsch: slots of 5G NR.
enum class air_system { single, streams, space_time, massive, pusch, pdsch };

/// What an antenna system tells its channel.
struct air_antennas {
  air_system system = air_system::single;
  int tx = 1, rx = 1;        // columns of H: streams, ports or users; rows: antennas
  std::size_t uses = 1;      // uses of the channel in a frame
  std::size_t together = 1;  // neighbouring uses that share one H; of a delay line, see `in_frequency`
  /// With a space-time code: a codeword is on neighbouring subcarriers, which a delay line gives an H each.
  /// Else it is on one subcarrier in successive OFDM symbols, which share H.
  bool in_frequency = false;
  ofdm_grid grid = {};  // of a frame: massive MIMO (subcarriers and symbols) and slots
  int csi_delay = 0;    // massive MIMO: OFDM symbols from the channel estimate to the data
  /// The receiver's estimator needs the delays of the channel.
  bool needs_profile = false;

  bool in_slots() const noexcept { return system == air_system::pusch || system == air_system::pdsch; }
  std::size_t entries() const noexcept { return static_cast<std::size_t>(tx) * static_cast<std::size_t>(rx); }
};

/// The name of the kind whose settings a struct holds, for those of this library.
template <class C>
inline constexpr std::string_view air_name = "";

/// A kind and its settings.
struct air_config {
  std::string type = "awgn";
  box settings = {};  // empty: those that the kind begins with

  air_config() = default;
  air_config(std::string_view kind, box content) : type(kind), settings(std::move(content)) {}
  template <class C>
    requires(!air_name<C>.empty())
  air_config(C config) : type(air_name<C>), settings(std::move(config)) {}

  template <class C>
  const C& get() const {
    return held<C>(settings);
  }
  /// Lets `change` alter the settings.
  template <class C>
  void edit(auto change) {
    C changed = get<C>();
    change(changed);
    settings = box(std::move(changed));
  }
  bool operator==(const air_config&) const = default;
};

/// How the fading of uses depends on each other.
enum class air_fading {
  none,   // H is 1
  fast,   // a new H for every use, with a space-time code for every codeword, with massive MIMO for every
          // subcarrier
  block,  // one for a frame
  other,
};

/// What an estimator may know of a channel.
struct channel_statistics {
  std::vector<double> delays_ns = {0}, powers = {1};  // a channel that is the same everywhere has one tap
  double doppler_hz = 0;
  ofdm_grid grid = {};
};

/// Sends frames. Threads: one at a time.
class air {
 public:
  using symbols = view<const std::complex<float>>;
  using values = view<std::complex<float>>;

  air(const air&) = delete;
  air& operator=(const air&) = delete;
  virtual ~air() = default;
  /// Channel matrices H of a frame. Each of them serves uses / matrices() neighbouring uses. 0: H is 1, and
  /// the caller need not call `send`.
  virtual std::size_t matrices() const noexcept = 0;
  /// Of executor memory, beside H.
  virtual std::size_t bytes_per_frame() const noexcept { return 0; }
  /// Buffers for so many frames. Throws memory_error.
  virtual void allocate(executor&, std::size_t) {}
  /// Queues: H of frames, [frames * matrices(), rx * tx], row after row.
  virtual void draw(executor& exec, values h, random_range frames) = 0;
  /// Queues: draws the same H, and sends x [frames * uses, tx] to y [frames * uses, rx]. x and y must not
  /// overlap. With one antenna on each side they may be the same array.
  virtual void send(executor& exec, symbols x, values y, values h, random_range frames);
  virtual channel_statistics statistics() const { return {.grid = antennas_.grid}; }
  /// Correlation of the H of a frame with that of `csi_delay` OFDM symbols before, of kinds that age. Both
  /// are complex normal.
  virtual double correlation() const { return 1; }

 protected:
  explicit air(const air_antennas& antennas) : antennas_(antennas) {}
  air_antennas antennas_;
};

/// A value that results have: of a setting, or rows of numbers.
using air_value = std::variant<setting_value, std::vector<std::vector<double>>>;
/// In order, each name once. Threads: one at a time.
struct air_values : std::vector<std::pair<std::string, air_value>> {
  air_values() = default;
  template <class C>
  air_values(const std::vector<setting_of<C>>& settings, const C& c) {
    add(settings, c);
  }
  /// At the end, or in the place of what has the name.
  void set(const std::string& name, air_value value);
  void erase_name(const std::string& name);
  /// Values of the settings that results have.
  template <class C>
  void add(const std::vector<setting_of<C>>& settings, const C& c) {
    const C initial;
    for (const auto& [s, value] : values_of(settings, c))
      if (s->of_links && (!s->brief || value != s->written(initial))) set(s->name, value);
  }
};

/// A kind of channel. The comment behind a function that may be left out says what holds without it.
struct air_kind {
  std::string name;
  std::string text;  // what it is, a sentence or two
  /// Its keys in scenarios. A condition that has a dot names a key of the link.
  std::vector<setting_of<box>> keys;
  std::function<box(const box& keys)> read = {};  // keys to settings; none: they are the same
  std::function<bool(const air_antennas&)> serves;
  bool ages = false;  // whether it takes a csi_delay
  /// Fills in and checks. Throws argument_error, file_error.
  std::function<void(box&, air_antennas&)> complete = {};  // nothing to do
  /// Uses that a frame takes if it needs those of the antennas.
  std::function<std::size_t(const box&, const air_antennas&)> whole_uses = {};  // as many
  std::function<air_fading(const box&)> fading = {};                            // other
  std::function<air_values(const box&)> results = {};                           // nothing
  /// A channel of bits at a point of the sweep, which is then over probabilities. It has no `make`.
  std::function<binary_channel(const box&, double probability)> of_bits = {};  // of symbols
  /// Of completed settings. Throws file_error, memory_error.
  std::function<std::unique_ptr<air>(const box&, const air_antennas&)> make;
};

/// Every kind. A program may add its own before it reads a scenario.
kind_list<air_kind>& airs();

/// Fills in what the antennas decide and checks all, as the kind does. `grid.subcarriers` = 0 becomes what
/// the channel has. Throws argument_error ("channel.type" where the kind does not serve the antennas),
/// file_error.
void complete(air_config& config, air_antennas& antennas);
std::size_t whole_uses(const air_config& config, const air_antennas& antennas);
air_fading fading_of(const air_config& config);
air_values results_of(const air_config& config);
/// Whether it is a channel of bits.
bool is_of_bits(const air_config& config);
/// A channel of bits. Throws argument_error for a probability outside 0..1.
binary_channel bits_at(const air_config& config, double probability);
/// Of a completed configuration of symbols. With `separate` every use has an H of its own in memory, unless H
/// is 1.
std::unique_ptr<air> make_air(const air_config& config, const air_antennas& antennas, bool separate = false);

}  // namespace wb
