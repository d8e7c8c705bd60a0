#include <warpband/link/scenario.hpp>

#include <toml++/toml.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>

#include <warpband/core/error.hpp>
#include <warpband/link/toml_value.hpp>

namespace wb {
namespace {

constexpr std::size_t most_bytes = 1 << 20, most_points = 10'000, most_curves = 1000;
constexpr std::int64_t most_count = 1'000'000'000'000'000;
constexpr double most_db = 100;  // as link_chain::run

std::string to_text(double x) {
  char text[40];
  const auto r = std::to_chars(text, text + sizeof text, x);
  return {text, r.ptr};
}

/// A value as a message shows it.
std::string to_text(const toml::node& node) {
  if (const auto* s = node.as_string()) return "\"" + s->get() + "\"";
  if (const auto* i = node.as_integer()) return std::to_string(i->get());
  if (const auto* x = node.as_floating_point()) {
    const std::string text = to_text(x->get());  // a whole one still looks like one
    return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
  }
  if (const auto* b = node.as_boolean()) return b->get() ? "true" : "false";
  if (node.is_array()) return "a list";
  if (node.is_table()) return "a table";
  return "a date or time";
}

bool is_among(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The value of a key, read as what the key wants; anything else is refused.
class value {
 public:
  value(const toml::node& node, const scenario_key& key) : node_(node), key_(key) {}
  [[noreturn]] void refuse(const toml::node& node) const {
    throw argument_error(key_.name, to_text(node), key_.allowed);
  }
  [[noreturn]] void refuse() const { refuse(node_); }
  std::string text() const {
    if (const auto* s = node_.as_string()) return s->get();
    refuse(node_);
  }
  std::int64_t integer(std::int64_t least, std::int64_t most) const { return integer(node_, least, most); }
  int integer_or_auto(int least, int most, int automatic) const {
    if (const auto* s = node_.as_string(); s != nullptr && s->get() == "auto") return automatic;
    return static_cast<int>(integer(least, most));
  }
  double number(double least, double most) const { return number(node_, least, most); }
  float number_or_none(double least, double most, float none) const {
    if (const auto* s = node_.as_string(); s != nullptr && s->get() == "none") return none;
    return static_cast<float>(number(least, most));
  }
  bool boolean() const {
    if (const auto* b = node_.as_boolean()) return b->get();
    refuse(node_);
  }
  std::vector<double> numbers(double least, double most) const {
    std::vector<double> all;
    if (const auto* list = node_.as_array())
      for (const toml::node& n : *list) all.push_back(number(n, least, most));
    else
      all.push_back(number(node_, least, most));
    if (all.empty()) throw argument_error(key_.name, "an empty list", key_.allowed);
    return all;
  }
  std::vector<int> integers(std::int64_t least, std::int64_t most) const {
    const auto* list = node_.as_array();
    if (list == nullptr) refuse(node_);
    std::vector<int> all;
    for (const toml::node& n : *list) all.push_back(static_cast<int>(integer(n, least, most)));
    if (all.empty()) throw argument_error(key_.name, "an empty list", key_.allowed);
    return all;
  }
  /// The value of a setting that some type of code takes.
  setting_value for_code(const std::string& setting) const {
    if (const auto* list = node_.as_array(); list != nullptr && list->empty())
      throw argument_error(key_.name, "an empty list", key_.allowed);
    const auto given = toml_value(node_);
    if (!given) refuse();
    try {
      check_for_some_type(setting, *given);
    } catch (const argument_error& e) {
      throw argument_error(key_.name, e.value(), key_.allowed);
    }
    return *given;
  }
  /// A list of `size` pairs, real and imaginary part.
  std::vector<std::complex<double>> complex_numbers(std::size_t size, double least, double most) const {
    const auto* list = node_.as_array();
    if (list == nullptr) refuse();
    const auto refuse_size = [&](const std::string& what, std::size_t n) {
      throw argument_error(key_.name, "a list " + what + " " + std::to_string(n), key_.allowed);
    };
    if (list->size() != size) refuse_size("of", list->size());
    std::vector<std::complex<double>> all;
    for (const toml::node& n : *list) {
      const auto* parts = n.as_array();
      if (parts == nullptr) refuse(n);
      if (parts->size() != 2) refuse_size("with one of", parts->size());
      all.emplace_back(number((*parts)[0], least, most), number((*parts)[1], least, most));
    }
    return all;
  }
  /// "16qam", also as "qam16".
  int modulation() const {
    if (const auto* s = node_.as_string())
      for (const int points : {4, 16, 64, 256})
        if (same_word(s->get(), "qam" + std::to_string(points))) return points;
    return word({2, 4, 16, 64, 256}, name_of_modulation);
  }
  /// One of the values whose name_of, or what `name` says, is the word.
  template <class T, class Name>
  T word(std::initializer_list<T> values, Name name) const {
    const auto* s = node_.as_string();
    if (s == nullptr) refuse(node_);
    std::vector<std::string> names;
    for (const T& v : values) {
      names.emplace_back(name(v));
      if (same_word(s->get(), names.back())) return v;
    }
    refuse_word(s->get(), names);
  }
  template <class T>
  T word(std::initializer_list<T> values) const {
    return word(values, [](const T& v) { return name_of(v); });
  }

 private:
  /// Refuses a word, and names those that may be meant: "ldpc" is a part of two types of code.
  [[noreturn]] void refuse_word(const std::string& word, const std::vector<std::string>& names) const {
    std::vector<std::string> near;
    for (const std::string& n : names)
      if (word.size() >= 3 && is_part(word, n)) near.push_back(n);
    if (near.empty())
      if (const std::string one = nearest_name(word, names); !one.empty()) near.push_back(one);
    std::string hint = near.empty() ? "" : ": did you mean " + among(near) + "?";
    if (key_.name == "channel.type") {  // a profile's name, or its family's
      const bool cdl = is_among(word, cdl_profile_names()) || word.starts_with("winner");
      if (cdl || is_among(word, tdl_profile_names()))
        hint = std::string(": a profile is named by channel.profile, with channel.type = ") +
               (cdl ? "\"cdl\"" : "\"tdl\"");
    }
    throw argument_error(key_.name, "\"" + word + "\"", key_.allowed + hint);
  }
  std::int64_t integer(const toml::node& node, std::int64_t least, std::int64_t most) const {
    const auto* i = node.as_integer();
    if (i == nullptr || i->get() < least || i->get() > most) refuse(node);
    return i->get();
  }
  double number(const toml::node& node, double least, double most) const {
    double x = NAN;
    if (const auto* i = node.as_integer()) x = static_cast<double>(i->get());
    if (const auto* f = node.as_floating_point()) x = f->get();
    if (!(x >= least && x <= most)) refuse(node);
    return x;
  }
  const toml::node& node_;
  const scenario_key& key_;
};

/// Where a key was set.
struct place {
  int level = -1;  // 0: the base, 1: the curve
  unsigned line = 0;
};

/// Points of a sweep: a list, or where that is empty a range.
struct sweep_draft {
  std::vector<double> list;
  double from = 0, to = 0, step = 0;
};

/// A profile by name, or one's own.
struct profile_draft {
  std::string name = "epa";
  double delay_spread_ns = 100;
  std::vector<double> delays_ns, powers_db;
  std::optional<double> rician_k_db;
};

/// A space-time code by name.
struct space_time_draft {
  std::string type = "none";
  golden_search search = golden_search::exact;
  space_time_code::matrix v = {};
};

/// Massive MIMO with a solver by name.
struct massive_draft {
  std::string solver = "none";
  massive_link_config config;
};

/// What antennas and channels of all kinds take.
struct antennas_draft {
  demap_algorithm demapper = demap_algorithm::max_log;
  int streams = 1, rx_antennas = 1;
  detector_config detector;
};
struct channel_draft {
  channel_type type = channel_type::awgn;
  rayleigh_config rayleigh;
  tdl_config tdl{.profile = {}, .grid = {.symbols = 0}};
  cdl_config cdl{.profile = {}, .power_control = true};
  csi_channel_config csi;
};

/// A curve while keys are applied to it.
struct draft {
  curve_config curve;
  std::string title;
  code_settings code;
  interleaver_coefficients interleaver;
  antennas_draft antennas;
  channel_draft channel;
  profile_draft profile;
  space_time_draft space_time;
  massive_draft massive;
  sweep_draft sweeps[2];  // indexed by snr_axis
  std::map<std::string, place> places;

  sweep_draft& sweep(snr_axis axis) { return sweeps[static_cast<int>(axis)]; }
  const sweep_draft& sweep(snr_axis axis) const { return sweeps[static_cast<int>(axis)]; }
  place where(const std::string& key) const {
    const auto i = places.find(key);
    return i == places.end() ? place{} : i->second;
  }
  void forget(const std::string& key) { places.erase(key); }
};

/// "sweep.ebn0_db"
std::string key_of(snr_axis axis) { return std::string("sweep.") + name_of(axis); }

template <snr_axis Axis>
void set_points(draft& d, const value& v) {
  d.sweep(Axis).list = v.numbers(-most_db, most_db);
  for (const char* part : {".from", ".to", ".step"}) d.forget(key_of(Axis) + part);
}
template <snr_axis Axis>
void set_from(draft& d, const value& v) {
  d.sweep(Axis).from = v.number(-most_db, most_db), d.sweep(Axis).list.clear();
}
template <snr_axis Axis>
void set_to(draft& d, const value& v) {
  d.sweep(Axis).to = v.number(-most_db, most_db), d.sweep(Axis).list.clear();
}
template <snr_axis Axis>
void set_step(draft& d, const value& v) {
  d.sweep(Axis).step = v.number(0.001, 100), d.sweep(Axis).list.clear();
}

enum class scope { both, base, curve };

struct entry {
  scenario_key key;
  scope where;
  std::function<void(draft&, const value&)> set;
};

/// Keys of clustered delay lines: their own, and those that tapped ones have too.
const std::vector<std::string> cdl_keys{"channel.carrier_hz", "channel.antenna_spacing_m",
                                        "channel.antenna_spacing_wavelengths", "channel.sector_deg",
                                        "channel.power_control"},
    file_keys{"channel.file", "channel.power_control"},
    shared_keys{"channel.profile", "channel.delay_spread_ns", "channel.spacing_hz",
                "channel.cyclic_prefix_us"};

constexpr const char *db_allowed = "a number from -100 to 100",
                     *list_allowed = "a rising list of numbers from -100 to 100, or { from, to, step }";

/// The keys that code_settings.hpp describes, of a group.
std::vector<entry> code_entries(const std::string& group) {
  std::vector<entry> all;
  for (const code_setting_text& s : code_setting_texts())
    if (s.group == group && s.of_links && s.name != "interleaver")
      all.push_back({{group + "." + s.name, s.kind, s.allowed, s.initial, s.text},
                     scope::both,
                     [name = s.name](draft& d, const value& v) { d.code.values[name] = v.for_code(name); }});
  return all;
}

// The other keys: what the parser takes, what messages say is allowed, and the documentation.
const entry keys_described_here[] = {
    {{"title", "text", "text in quotes", "\"\"", "Shown above the plot."},
     scope::base,
     [](draft& d, const value& v) { d.title = v.text(); }},
    {{"seed", "integer", "an integer from 0 to 9223372036854775807", "1",
      "Key of all random numbers. The same seed gives the same counts, whatever the device, the number of "
      "threads and the batch size; `warpband sim --seed` overrides it."},
     scope::both,
     [](draft& d, const value& v) {
       d.curve.link.seed = static_cast<std::uint64_t>(v.integer(0, INT64_MAX));
     }},
    {{"label", "text", "text in quotes, another one for each curve", "",
      "Only in [[curve]]: the curve's name in tables and plots. Left out: \"curve 1\", \"curve 2\", ..."},
     scope::curve,
     [](draft& d, const value& v) { d.curve.label = v.text(); }},

    {{"code.type", "word",
      "\"lte-turbo\", \"lte-transport\", \"wimax-ldpc\", \"wifi-ldpc\", \"conv\" or \"none\"",
      "\"lte-turbo\"",
      "The turbo code of LTE (3GPP TS 36.212 §5.1.3), its transport blocks with HARQ (§5.1.1 to §5.1.4, "
      "docs/lte.md), the LDPC codes of IEEE 802.16e (§8.4.9.2.5) and 802.11n (annex R), a convolutional "
      "code; or no code, R = 1."},
     scope::both,
     [](draft& d, const value& v) {
       using enum code_type;
       d.code.type = v.word({lte_turbo, lte_transport, wimax_ldpc, wifi_ldpc, conv, none});
     }},
    {{"code.interleaver.f1", "integer", "an integer, together with f2", "",
      "With f2: the coefficients of the QPP interleaver pi(i) = (f1 i + f2 i^2) mod k, in place of the "
      "standard's, for instance interleaver = { f1 = 263, f2 = 480 }."},
     scope::both,
     [](draft& d, const value& v) { d.interleaver.f1 = static_cast<int>(v.integer(INT32_MIN, INT32_MAX)); }},
    {{"code.interleaver.f2", "integer", "an integer, together with f1", "", "See f1."},
     scope::both,
     [](draft& d, const value& v) { d.interleaver.f2 = static_cast<int>(v.integer(INT32_MIN, INT32_MAX)); }},
    {{"modem.modulation", "word", "\"bpsk\", \"qpsk\", \"16qam\", \"64qam\" or \"256qam\"", "\"bpsk\"",
      "Gray mapping of 3GPP TS 38.211 §5.1 with unit mean energy."},
     scope::both,
     [](draft& d, const value& v) { d.curve.link.qam = v.modulation(); }},
    {{"modem.demapper", "word", "\"max-log\" or \"exact\"", "\"max-log\"",
      "How LLRs are computed, without a detector. The two are the same for BPSK and QPSK."},
     scope::both,
     [](draft& d, const value& v) {
       d.antennas.demapper = v.word({demap_algorithm::max_log, demap_algorithm::exact});
     }},

    {{"channel.type", "word", "\"awgn\", \"rayleigh\", \"tdl\", \"cdl\" or \"file\"", "\"awgn\"",
      "White Gaussian noise, or y = h s + n with h ~ CN(0, 1), known to the receiver; with several antennas "
      "y = H "
      "s + n, every entry of H like h. Antennas, detectors and massive MIMO need fading. tdl: a tapped delay "
      "line, whose h "
      "or H is that of a resource element of OFDM; a frame's symbols are laid over the grid frequency first, "
      "and zeros fill its last block (docs/tdl.md). cdl, for massive MIMO: clustered delay lines between a "
      "linear "
      "array and users in directions of their own, of WINNER II and TR 38.901. file, for massive MIMO: "
      "channel "
      "estimates that were measured or computed elsewhere (docs/files.md)."},
     scope::both,
     [](draft& d, const value& v) {
       d.channel.type = v.word({channel_type::awgn, channel_type::rayleigh, channel_type::tdl,
                                channel_type::cdl, channel_type::file});
     }},
    {{"channel.fading", "word", "\"fast\" or \"block\"", "\"fast\"",
      "Rayleigh only: a new h or H for every use of the channel, with a space-time code for every codeword "
      "of two uses; or one for each frame."},
     scope::both,
     [](draft& d, const value& v) {
       d.channel.rayleigh.fading = v.word({fading_type::fast, fading_type::block});
     }},
    {{"channel.profile", "word",
      "\"epa\", \"eva\", \"etu\", \"tdl-a\", \"tdl-b\", \"tdl-c\", \"tdl-d\", \"tdl-e\", \"tdla30\", "
      "\"tdlb100\" or \"tdlc300\"; with cdl \"a1-los\", \"a1-nlos\", \"b1-los\", \"b1-nlos\", \"c1-los\", "
      "\"c1-nlos\", "
      "\"c2-los\", \"c2-nlos\", or \"cdl-a\" to \"cdl-e\"",
      "\"epa\"",
      "tdl: extended pedestrian A, vehicular A and typical urban of LTE (3GPP TS 36.101 annex B.2.1), "
      "TDL-A to TDL-E of TR 38.901 clause 7.7.2, or those of TS 38.101-4 annex B.2.1. etu is longer than the "
      "normal cyclic prefix. cdl: indoor office, urban microcell, suburban and urban macrocell of WINNER II "
      "(D1.1.2 "
      "clause 6.8) with and without a line of sight, or TR 38.901 clause 7.7.1; left out \"c2-nlos\"."},
     scope::both,
     [](draft& d, const value& v) {
       const std::string name = v.text();
       if (!is_among(name, tdl_profile_names()) && !is_among(name, cdl_profile_names())) v.refuse();
       d.profile.name = name;
     }},
    {{"channel.delay_spread_ns", "number", "a number from 0.001 to 1000000", "100.0",
      "tdl-a to tdl-e and cdl-a to cdl-e only: the delay spread, by which the table's delays are "
      "multiplied."},
     scope::both,
     [](draft& d, const value& v) { d.profile.delay_spread_ns = v.number(1e-3, 1e6); }},
    {{"channel.delays_ns", "list of numbers", "1 to 64 numbers from 0 to 1e9, together with powers_db", "",
      "tdl only, in place of profile: one's own, the delays of its taps."},
     scope::both,
     [](draft& d, const value& v) { d.profile.delays_ns = v.numbers(0, 1e9); }},
    {{"channel.powers_db", "list of numbers", "as many numbers from -200 to 200 as delays_ns has", "",
      "Relative mean powers of those taps; h has unit mean power."},
     scope::both,
     [](draft& d, const value& v) { d.profile.powers_db = v.numbers(-200, 200); }},
    {{"channel.rician_k_db", "number", "a number from -100 to 100, together with delays_ns", "",
      "The first of those taps is Rician with this K-factor. Left out: Rayleigh, as the others are."},
     scope::both,
     [](draft& d, const value& v) { d.profile.rician_k_db = v.number(-100, 100); }},
    {{"channel.doppler_hz", "number", "a number from 0 to 1e6, up to 1000 turns in a block", "0.0",
      "tdl only: the largest Doppler shift, of Clarke's spectrum. 0: h does not change within a block. The "
      "tests of LTE have 5, 70 and 300."},
     scope::both,
     [](draft& d, const value& v) { d.channel.tdl.doppler_hz = v.number(0, 1e6); }},
    {{"channel.sinusoids", "integer", "an integer from 8 to 256", "32",
      "tdl with a Doppler shift only: sinusoids that a tap is made of."},
     scope::both,
     [](draft& d, const value& v) { d.channel.tdl.sinusoids = static_cast<int>(v.integer(8, 256)); }},
    {{"channel.subcarriers", "integer", "an integer from 1 to 65536", "300",
      "tdl only: subcarriers of an OFDM symbol that carry the frame."},
     scope::both,
     [](draft& d, const value& v) {
       d.channel.tdl.grid.subcarriers = static_cast<int>(v.integer(1, 65536));
     }},
    {{"channel.symbols", "integer", "\"auto\" or an integer from 1 to 65536", "\"auto\"",
      "tdl only: OFDM symbols of a block; the next block has another channel, independent of it. \"auto\" "
      "(or "
      "0): as many as a frame takes. A frame begins with a new block."},
     scope::both,
     [](draft& d, const value& v) { d.channel.tdl.grid.symbols = v.integer_or_auto(0, 65536, 0); }},
    {{"channel.spacing_hz", "number", "a number from 1 to 1e7", "15000.0",
      "tdl and cdl only: distance of the subcarriers. cdl: left out 156250, which is 20 MHz over 128."},
     scope::both,
     [](draft& d, const value& v) { d.channel.tdl.grid.spacing_hz = v.number(1, 1e7); }},
    {{"channel.cyclic_prefix_us", "number", "a number from the longest delay to 1e6", "4.6875",
      "tdl and cdl only: the cyclic prefix, which must cover the delays. It costs time, but neither power "
      "nor rate. "
      "LTE's normal one is 4.6875, the extended one 16.667."},
     scope::both,
     [](draft& d, const value& v) { d.channel.tdl.grid.cyclic_prefix_us = v.number(0, 1e6); }},
    {{"channel.symbol_period_us", "number", "0, or at least 1e6 / spacing_hz + cyclic_prefix_us", "0.0",
      "tdl only: from an OFDM symbol to the next. 0: that least value."},
     scope::both,
     [](draft& d, const value& v) { d.channel.tdl.grid.symbol_period_us = v.number(0, 1e8); }},

    {{"channel.carrier_hz", "number", "a number from 1e6 to 1e12", "2.6e9",
      "cdl only: the carrier frequency."},
     scope::both,
     [](draft& d, const value& v) { d.channel.cdl.carrier_hz = v.number(1e6, 1e12); }},
    {{"channel.antenna_spacing_m", "number", "a number from 0 to 16 wavelengths", "0.078125",
      "cdl only: distance of neighbouring antennas of the base station's linear array. 10 m / 128 is the "
      "thesis's."},
     scope::both,
     [](draft& d, const value& v) { d.channel.cdl.spacing_m = v.number(0, 1e4); }},
    {{"channel.antenna_spacing_wavelengths", "number", "a number from 0 to 16", "0.0",
      "cdl only, above 0: the same in wavelengths, in the place of antenna_spacing_m."},
     scope::both,
     [](draft& d, const value& v) { d.channel.cdl.spacing_wavelengths = v.number(0, 16); }},
    {{"channel.sector_deg", "number", "a number from 0 to 180", "60.0",
      "cdl only: users are in directions uniform within +- this of the array's normal, new ones in every "
      "frame."},
     scope::both,
     [](draft& d, const value& v) { d.channel.cdl.sector_deg = v.number(0, 180); }},
    {{"channel.power_control", "boolean", "true or false", "true",
      "cdl and file only: the mean power of each user's channel is 1 in every frame, or over many; of a file "
      "over all its snapshots."},
     scope::both,
     [](draft& d, const value& v) { d.channel.cdl.power_control = v.boolean(); }},
    {{"channel.file", "text", "text in quotes", "",
      "file only: the path of an HDF5 file of channel estimates, from the scenario's folder on if it is not "
      "absolute. A frame takes a snapshot, one after the other and again from the first, at every point the "
      "same; of it the first antennas, users and subcarriers, which count as the true channel."},
     scope::both,
     [](draft& d, const value& v) { d.channel.csi.name = v.text(); }},

    {{"mimo.streams", "integer", "an integer from 1 to 8", "1",
      "Symbols sent in one use of the channel, each from an antenna of its own with Es = 1. The bits of a "
      "frame "
      "go to them symbol by symbol; zeros fill the last use. With a space-time code 2, its antennas, which "
      "may be left out."},
     scope::both,
     [](draft& d, const value& v) { d.antennas.streams = static_cast<int>(v.integer(1, 8)); }},
    {{"mimo.rx_antennas", "integer", "an integer from mimo.streams to 16, with a space-time code from 1 to 4",
      "1",
      "Receive antennas. With more than one, or several streams, a detector stands in the demapper's place."},
     scope::both,
     [](draft& d, const value& v) { d.antennas.rx_antennas = static_cast<int>(v.integer(1, 16)); }},

    {{"detector.type", "word", "\"ml\", \"mf\", \"zf\", \"mmse\", \"ot\", \"mtt\", \"kbest\" or \"nway\"", "",
      "Exhaustive max-log; matched filter, zero forcing and linear MMSE; one-pass trellis, multi-pass "
      "trellis "
      "traversal, K-best and N-way parallel search (warpband/detect/). Left out: \"mmse\" with several "
      "antennas; "
      "with one of each the demapper."},
     scope::both,
     [](draft& d, const value& v) {
       using type = detector_type;
       d.antennas.detector.type =
           v.word({type::ml, type::mf, type::zf, type::mmse, type::ot, type::mtt, type::kbest, type::nway});
     }},
    {{"detector.ways", "integer", "\"auto\" or an integer from 1 to mimo.streams", "\"auto\"",
      "nway only: passes, each with another stream on top. \"auto\" (or 0): one for each stream."},
     scope::both,
     [](draft& d, const value& v) { d.antennas.detector.ways = v.integer_or_auto(0, 8, 0); }},
    {{"detector.survivors", "integer", "an integer from 1 to 4096", "64",
      "kbest only: K, paths kept at a level."},
     scope::both,
     [](draft& d, const value& v) { d.antennas.detector.survivors = static_cast<int>(v.integer(1, 4096)); }},
    {{"detector.real_valued", "boolean", "true or false", "false",
      "kbest only: a level for each real dimension instead of each stream."},
     scope::both,
     [](draft& d, const value& v) { d.antennas.detector.real_valued = v.boolean(); }},
    {{"detector.order", "list of integers", "a list with each of 0 to mimo.streams - 1 once", "",
      "ot, mtt, kbest and nway only: the search sees the columns of H in this order. ot, mtt and kbest begin "
      "with the last stream of it and end with the first; pass p of nway has entry p on top, below it those "
      "before it in the list, cyclically. Left out: 0, 1, 2, ..."},
     scope::both,
     [](draft& d, const value& v) { d.antennas.detector.order = v.integers(0, 7); }},
    {{"detector.llr_clip", "number",
      "a number from 1e-6 to 1e6, or \"none\" where no hypothesis can be missing: with all but ot, kbest and "
      "nway with fewer ways than streams",
      "",
      "LLRs are limited to this, and a bit without a candidate for one of its values gets it. Left out: 8 "
      "where "
      "a hypothesis can be missing, else \"none\"."},
     scope::both,
     [](draft& d, const value& v) { d.antennas.detector.llr_clip = v.number_or_none(1e-6, 1e6, no_clip); }},

    {{"stbc.type", "word", "\"none\", \"alamouti\", \"silver\", \"pair\" or \"golden\"", "\"none\"",
      "A space-time code of two antennas and two uses of the channel, a codeword, with one H for both: "
      "Alamouti, with two symbols, and with four Silver, a pair of Alamouti blocks with a matrix of one's "
      "own, and Golden (docs/bollapalli.md). In Rayleigh fading, "
      "with QPSK, 16-QAM or 64-QAM, and not with lte-transport. Its maximum-likelihood decoder stands in the "
      "detector's place: uncoded links take the most likely codeword, coded ones max-log LLRs. With "
      "code.type "
      "= \"none\" and code.k = the bits of a codeword the frame error rate is the codeword error rate."},
     scope::both,
     [](draft& d, const value& v) {
       d.space_time.type = v.word<std::string>({"none", "alamouti", "silver", "pair", "golden"},
                                               [](const std::string& name) { return name; });
     }},
    {{"stbc.v", "list of pairs of numbers",
      "the four entries of a unitary matrix, row after row, each as [real, imaginary]", "",
      "pair only: V of the codewords (A(x1, x2) + V A(x3, x4)) / sqrt 2, A an Alamouti block (stbc.hpp). V^H "
      "V is the identity within 1e-6. With determinant 1 V A is an Alamouti block too, and codewords "
      "coincide."},
     scope::both,
     [](draft& d, const value& v) {
       const auto entries = v.complex_numbers(4, -2, 2);
       std::copy(entries.begin(), entries.end(), d.space_time.v.begin());
     }},
    {{"stbc.search", "word", "\"exact\" or \"slicing\"", "\"exact\"",
      "golden only: maximum likelihood in O(M^2.5), or the O(M^2) slicing of the literature."},
     scope::both,
     [](draft& d, const value& v) {
       d.space_time.search = v.word({golden_search::exact, golden_search::slicing});
     }},

    {{"massive.solver", "word", "\"none\", \"cholesky\", \"cg\", \"jacobi-cg\", \"zf\" or \"mf\"", "\"none\"",
      "Massive MIMO: a base station of many antennas and U users in fading, OFDM, and one codeword for each "
      "user "
      "and OFDM symbol, so that code.k is that of a codeword (docs/li-thesis.md). How the equations of the "
      "MMSE "
      "detector or precoder are solved: Cholesky, conjugate gradients, the same with Jacobi's "
      "preconditioner; or "
      "zero forcing, or the matched filter. A frame is a drop of users and channels; its codewords fail "
      "together, "
      "and intervals are made from how frames differ. Rayleigh fading is \"fast\" where each subcarrier has "
      "an H "
      "of its own, \"block\" where all have one; tdl takes subcarriers and symbols from here, and no Doppler "
      "shift."},
     scope::both,
     [](draft& d, const value& v) {
       d.massive.solver = v.word<std::string>({"none", "cholesky", "cg", "jacobi-cg", "zf", "mf"},
                                              [](const std::string& name) { return name; });
     }},
    {{"massive.direction", "word", "\"uplink\" or \"downlink\"", "\"uplink\"",
      "uplink: y = H x + n at the base station and Es = 1 for each user; rx_antennas of ebn0_db and snr_db "
      "are the "
      "antennas, streams the users. downlink: precoding of unit power, y = sqrt(U) H^H x' + n; Eb and the "
      "SNR "
      "are those of all that is sent, and each user knows its gain for an OFDM symbol and the power of each "
      "vector, which is normalised."},
     scope::both,
     [](draft& d, const value& v) {
       d.massive.config.direction = v.word({massive_direction::uplink, massive_direction::downlink});
     }},
    {{"massive.antennas", "integer", "an integer from massive.users to 512", "128",
      "B, of the base station."},
     scope::both,
     [](draft& d, const value& v) { d.massive.config.antennas = static_cast<int>(v.integer(1, 512)); }},
    {{"massive.users", "integer", "an integer from 1 to 64", "16", "U, of one antenna each."},
     scope::both,
     [](draft& d, const value& v) { d.massive.config.users = static_cast<int>(v.integer(1, 64)); }},
    {{"massive.iterations", "integer", "an integer from 1 to 64", "",
      "cg and jacobi-cg only, and needed there: I."},
     scope::both,
     [](draft& d, const value& v) { d.massive.config.iterations = static_cast<int>(v.integer(1, 64)); }},
    {{"massive.sinr", "word", "\"exact\" or \"approximate\"; cg and jacobi-cg \"approximate\"", "",
      "uplink only: what LLRs are weighted with, from the inverse or from the diagonal of the Gram matrix. "
      "Left "
      "out: exact where the solver has it."},
     scope::both,
     [](draft& d, const value& v) {
       d.massive.config.sinr = v.word({massive_sinr::exact, massive_sinr::approximate});
     }},
    {{"massive.subcarriers", "integer", "an integer from 1 to 4096, enough for a codeword", "128",
      "Of an OFDM symbol, downlink 24 or more, from which users learn their gains. A codeword's bits lie on "
      "them from the first on; zeros fill the last. Uncoded code.k left out is all their bits. With "
      "channel.type = \"file\" left "
      "out: all of the file's."},
     scope::both,
     [](draft& d, const value& v) { d.massive.config.subcarriers = static_cast<int>(v.integer(1, 4096)); }},
    {{"massive.symbols", "integer", "an integer from 1 to 64", "1",
      "OFDM symbols of a frame. They share one channel estimate per subcarrier."},
     scope::both,
     [](draft& d, const value& v) { d.massive.config.symbols = static_cast<int>(v.integer(1, 64)); }},

    {{"sweep.ebn0_db", "list of numbers", list_allowed, "",
      "Eb/N0 of the points in dB, per information bit: Es/N0 = Eb/N0 + 10 log10(R m) with m bits a symbol; "
      "with "
      "several antennas SNR = Eb/N0 + 10 log10(streams R m / rx_antennas), where Alamouti's streams count as "
      "one. This or snr_db is needed, as a list, [0.0, 0.2, 0.4], one number, or a range, { from = 0.0, to = "
      "0.4, step = 0.2 }."},
     scope::both,
     set_points<snr_axis::ebn0_db>},
    {{"sweep.ebn0_db.from", "number", db_allowed, "", "First point of a range, in dB."},
     scope::both,
     set_from<snr_axis::ebn0_db>},
    {{"sweep.ebn0_db.to", "number", db_allowed, "", "End of a range, in dB: a point if the steps meet it."},
     scope::both,
     set_to<snr_axis::ebn0_db>},
    {{"sweep.ebn0_db.step", "number", "a number from 0.001 to 100", "",
      "Distance of the points of a range, in dB."},
     scope::both,
     set_step<snr_axis::ebn0_db>},
    {{"sweep.snr_db", "list of numbers", list_allowed, "",
      "In place of ebn0_db: the mean SNR of a receive antenna in dB, 10 log10(streams Es/N0); with one "
      "stream "
      "Es/N0."},
     scope::both,
     set_points<snr_axis::snr_db>},
    {{"sweep.snr_db.from", "number", db_allowed, "", "First point of a range, in dB."},
     scope::both,
     set_from<snr_axis::snr_db>},
    {{"sweep.snr_db.to", "number", db_allowed, "", "End of a range, in dB: a point if the steps meet it."},
     scope::both,
     set_to<snr_axis::snr_db>},
    {{"sweep.snr_db.step", "number", "a number from 0.001 to 100", "",
      "Distance of the points of a range, in dB."},
     scope::both,
     set_step<snr_axis::snr_db>},

    {{"stop.frame_errors", "integer", "an integer from 0 to 1000000000000000", "100",
      "A point stops at exactly this many frame errors, with HARQ those that the last transmission leaves. "
      "0: "
      "no such rule. `warpband sim --frame-errors` overrides it."},
     scope::both,
     [](draft& d, const value& v) {
       d.curve.stop.frame_errors = static_cast<std::uint64_t>(v.integer(0, most_count));
     }},
    {{"stop.max_frames", "integer", "an integer from 1 to 1000000000000000", "1000000",
      "A point stops after this many frames at the latest. `warpband sim --max-frames` overrides it."},
     scope::both,
     [](draft& d, const value& v) {
       d.curve.stop.max_frames = static_cast<std::uint64_t>(v.integer(1, most_count));
     }},
    {{"stop.max_seconds", "number", "a number of seconds from 0 to 1e9", "0.0",
      "A point stops after this time, over all runs that had a part in it. 0: no such rule. With it the "
      "counts "
      "depend on the machine's speed. `warpband sim --max-seconds` overrides it."},
     scope::both,
     [](draft& d, const value& v) { d.curve.stop.max_seconds = v.number(0, 1e9); }},
    {{"stop.below_fer", "number", "a number from 0 to 1", "0.0",
      "Leaves out the points of a curve after the first whose frame error rate is below this."},
     scope::both,
     [](draft& d, const value& v) { d.curve.stop.below_fer = v.number(0, 1); }},
    {{"stop.below_bler", "number", "a number from 0 to 1", "0.0",
      "Massive MIMO only: the same of the error rate of codewords. stop.frame_errors counts frames with "
      "any."},
     scope::both,
     [](draft& d, const value& v) { d.curve.stop.below_bler = v.number(0, 1); }},
};

/// Every key, once, in the order of the documentation.
const std::vector<entry>& table() {
  static const std::vector<entry> all = [] {
    std::vector<entry> keys;
    for (const entry& e : keys_described_here) {
      if (e.key.name == "modem.modulation")
        for (entry& of_decoder : code_entries("decoder")) keys.push_back(std::move(of_decoder));
      keys.push_back(e);
      if (e.key.name == "code.type")
        for (entry& of_code : code_entries("code")) keys.push_back(std::move(of_code));
    }
    return keys;
  }();
  return all;
}

const entry* find(const std::string& name) {
  for (const entry& e : table())
    if (name == e.key.name) return &e;
  return nullptr;
}
bool is_prefix(const std::string& name) {
  return std::any_of(table().begin(), table().end(),
                     [&](const entry& e) { return e.key.name.starts_with(name + "."); });
}

/// What other programs, and `warpband stream`, call some keys.
const std::map<std::string, std::string> other_names{{"modem.qam", "modem.modulation"},
                                                     {"detector.qam", "modem.modulation"},
                                                     {"massive.qam", "modem.modulation"},
                                                     {"detector.k", "detector.survivors"},
                                                     {"detector.n", "detector.ways"},
                                                     {"detector.streams", "mimo.streams"},
                                                     {"detector.rx_antennas", "mimo.rx_antennas"},
                                                     {"code.algorithm", "decoder.algorithm"},
                                                     {"code.iterations", "decoder.iterations"}};

class parser {
 public:
  explicit parser(std::string file) : file_(std::move(file)) {}

  std::vector<curve_config> curves(const toml::table& root, std::string& title) {
    draft base;
    base.curve.label.clear();
    apply(root, base, 0);
    title = base.title;
    std::vector<draft> drafts;
    if (const toml::node* list = root.get("curve")) {
      const auto* array = list->as_array();
      if (array == nullptr || array->empty() || !array->is_homogeneous(toml::node_type::table))
        fail(line_of(*list),
             "curve = " + to_text(*list) + " is not allowed: expected tables, each begun by [[curve]]");
      if (array->size() > most_curves)
        fail(line_of(*list),
             std::to_string(array->size()) + " curves: at most " + std::to_string(most_curves));
      for (const toml::node& node : *array) {
        draft d = base;
        apply(*node.as_table(), d, 1);
        if (d.curve.label.empty()) d.curve.label = "curve " + std::to_string(drafts.size() + 1);
        drafts.push_back(std::move(d));
      }
    } else {
      base.curve.label = title.empty() ? std::filesystem::path(file_).stem().string() : title;
      drafts.push_back(std::move(base));
    }
    std::vector<curve_config> all;
    std::set<std::string> labels;
    for (draft& d : drafts) {
      among_many_ = drafts.size() > 1;
      finish(d);
      if (!labels.insert(d.curve.label).second)
        fail(d.where("label").line, "label = \"" + d.curve.label + "\" names two curves: give each its own");
      all.push_back(std::move(d.curve));
    }
    return all;
  }

 private:
  struct leaf {
    std::string name;
    const toml::node* node;
    unsigned line;
  };

  [[noreturn]] void fail(unsigned line, const std::string& what) const {
    throw file_error(file_, (line != 0 ? "line " + std::to_string(line) + ": " : std::string()) + what);
  }
  static unsigned line_of(const toml::node& n) { return static_cast<unsigned>(n.source().begin.line); }

  /// The leaves of a table in order of their lines, so that the first fault of a file is the one reported.
  static void gather(const toml::table& t, const std::string& prefix, std::vector<leaf>& leaves) {
    for (auto&& [key, node] : t) {
      const std::string name = prefix + std::string(key.str());
      if (prefix.empty() && name == "curve") continue;
      const toml::table* inner = node.as_table();
      if (inner != nullptr && is_prefix(name) && !inner->empty())
        gather(*inner, name + ".", leaves);
      else if (inner == nullptr || !is_prefix(name))
        leaves.push_back({name, &node, static_cast<unsigned>(key.source().begin.line)});
    }
  }

  void apply(const toml::table& t, draft& d, int level) {
    std::vector<leaf> leaves;
    gather(t, "", leaves);
    std::stable_sort(leaves.begin(), leaves.end(),
                     [](const leaf& a, const leaf& b) { return a.line < b.line; });
    for (const leaf& l : leaves) {
      const entry* e = find(l.name);
      if (e == nullptr) refuse_unknown(l, level);
      if (e->where == (level == 0 ? scope::curve : scope::base))
        fail(l.line,
             l.name + (level == 0 ? " belongs into a [[curve]]" : " belongs above the first [[curve]]"));
      try {
        e->set(d, value(*l.node, e->key));
      } catch (const argument_error& error) {
        fail(l.line, error.what());
      }
      d.places[l.name] = {level, l.line};
    }
  }

  [[noreturn]] void refuse_unknown(const leaf& l, int level) const {
    std::vector<std::string> names;
    std::string inside;
    for (const entry& e : table()) {
      if (e.where == (level == 0 ? scope::curve : scope::base)) continue;
      const std::string& name = e.key.name;
      names.push_back(name);
      if (name.starts_with(l.name + "."))
        inside += (inside.empty() ? "" : ", ") + name.substr(l.name.size() + 1);
    }
    if (!inside.empty())
      fail(l.line, l.name + " = " + to_text(*l.node) + " is not allowed: expected a table with " + inside);
    const auto usual = other_names.find(l.name);
    std::string near = usual != other_names.end() ? usual->second : nearest_name(l.name, names);
    if (near.empty() && (l.node->is_table() || l.node->is_array())) {  // [decodr], [[curves]]
      std::vector<std::string> tables{"curve"};
      for (const std::string& n : names)
        if (n.find('.') != std::string::npos) tables.push_back(n.substr(0, n.rfind('.')));
      near = nearest_name(l.name, tables);
    }
    fail(l.line, "unknown key " + l.name + ": " +
                     (near.empty() ? "see warpband sim --help-scenario" : "did you mean " + near + "?"));
  }

  /// Checks what takes several keys, and fills in what they leave open.
  void finish(draft& d) const {
    curve_config& c = d.curve;
    // A key that has no meaning with a choice is refused, unless the choice was made more specifically than
    // the key.
    const auto refuse_idle_with = [&](const std::string& prefix, int level, const std::string& choice) {
      for (const auto& [name, at] : d.places)
        if (name.starts_with(prefix) && at.level >= level)
          fail(at.line, name + " has no meaning " + choice + in_curve(c));
    };
    const auto refuse_idle = [&](const std::string& prefix, const char* type, const char* value_of_type) {
      refuse_idle_with(prefix, d.where(type).level,
                       std::string("with ") + type + " = \"" + value_of_type + "\"");
    };
    finish_code(d);
    const char* channel = name_of(d.channel.type);
    if (d.channel.type != channel_type::rayleigh) refuse_idle("channel.fading", "channel.type", channel);
    const bool tdl = d.channel.type == channel_type::tdl, cdl = d.channel.type == channel_type::cdl,
               from_file = d.channel.type == channel_type::file;
    for (const entry& e : table()) {
      const std::string& name = e.key.name;
      if (!name.starts_with("channel.") || name == "channel.type" || name == "channel.fading") continue;
      const bool has_meaning = is_among(name, file_keys) && from_file ? true
                               : name == "channel.file"               ? false
                               : is_among(name, cdl_keys)             ? cdl
                               : cdl                                  ? is_among(name, shared_keys)
                                                                      : tdl;
      if (!has_meaning) refuse_idle(name, "channel.type", channel);
    }
    if (tdl || cdl) {
      const std::vector<std::string>& names = tdl ? tdl_profile_names() : cdl_profile_names();
      if (const place at = d.where("channel.profile"); !is_among(d.profile.name, names)) {
        if (at.level >= 0 && at.level >= d.where("channel.type").level)
          fail(at.line, "channel.profile = \"" + d.profile.name + "\" is none of channel.type = \"" +
                            channel + "\"" + in_curve(c));
        d.profile.name = tdl ? "epa" : "c2-nlos";
        d.places["channel.profile"].level =
            d.where("channel.type").level;  // what was said of another is not meant
      }
    }
    if (tdl) finish_profile(d, refuse_idle_with);
    if (cdl) finish_clusters(d, refuse_idle_with);
    if (from_file) finish_file(d);
    c.link.channel = channel_of(d.channel);

    const int massive = d.where("massive.solver").level;
    if (d.massive.solver == "none") {
      refuse_idle_with("massive.", massive + (massive >= 0), "without massive.solver");
      refuse_idle_with("stop.below_bler", massive + (massive >= 0), "without massive.solver");
      c.stop.below_bler = 0;
    } else {
      finish_massive(d, refuse_idle_with);
    }

    const int antennas = std::max(d.where("mimo.streams").level, d.where("mimo.rx_antennas").level);
    const int space_time = d.where("stbc.type").level;
    if (d.space_time.type != "golden")
      refuse_idle_with("stbc.search", space_time, "with stbc.type = \"" + d.space_time.type + "\"");
    if (d.space_time.type != "pair")
      refuse_idle_with("stbc.v", space_time, "with stbc.type = \"" + d.space_time.type + "\"");
    if (std::holds_alternative<massive_link_config>(c.link.antennas)) {
      // Said above.
    } else if (d.space_time.type != "none") {
      const std::string choice = "with stbc.type = \"" + d.space_time.type + "\"";
      refuse_idle_with("detector.", space_time, choice);
      refuse_idle_with("modem.demapper", space_time, choice);
      if (const place at = d.where("mimo.streams"); at.level >= space_time && d.antennas.streams != 2)
        fail(at.line, "mimo.streams = " + std::to_string(d.antennas.streams) +
                          " is not allowed: expected 2 " + choice + in_curve(c));
      stbc_config& settings = c.link.antennas.emplace<stbc_config>();
      settings.rx_antennas = d.antennas.rx_antennas;
      settings.code = d.space_time.type == "alamouti" ? space_time_code::alamouti()
                      : d.space_time.type == "silver" ? space_time_code::silver()
                      : d.space_time.type == "pair"   ? pair_of(d)
                                                      : space_time_code::golden();
      if (d.space_time.type == "golden") settings.search = d.space_time.search;
    } else if (d.where("detector.type").level >= 0 || d.antennas.streams > 1 || d.antennas.rx_antennas > 1) {
      const char* type = name_of(d.antennas.detector.type);
      refuse_idle_with("modem.demapper", std::max(antennas, d.where("detector.type").level),
                       std::string("with a detector, here \"") + type + "\"");
      detector_config& detector = c.link.antennas.emplace<detector_config>(d.antennas.detector);
      detector.streams = d.antennas.streams;
      detector.rx_antennas = d.antennas.rx_antennas;
      if (detector.type != detector_type::nway) {
        refuse_idle("detector.ways", "detector.type", type);
        detector.ways = 0;
      }
      if (detector.type != detector_type::kbest) {
        refuse_idle("detector.survivors", "detector.type", type);
        refuse_idle("detector.real_valued", "detector.type", type);
        detector.survivors = detector_config{}.survivors;
        detector.real_valued = false;
      }
      if (!takes_order(detector.type)) {
        refuse_idle("detector.order", "detector.type", type);
        detector.order.clear();
      }
    } else {
      refuse_idle_with("detector.", antennas, "without detector.type or several antennas");
      c.link.antennas = single_antenna{d.antennas.demapper};
    }

    c.link.axis = axis_of(d);
    const std::string sweep = key_of(c.link.axis);
    c.sweep_db = d.sweep(c.link.axis).list.empty() ? range(d) : d.sweep(c.link.axis).list;
    if (c.sweep_db.size() > most_points)
      fail(d.where(sweep).line, sweep + " has " + std::to_string(c.sweep_db.size()) + " points: at most " +
                                    std::to_string(most_points) + in_curve(c));
    for (std::size_t i = 1; i < c.sweep_db.size(); i++)
      if (!(c.sweep_db[i] - c.sweep_db[i - 1] > 0.0009))
        fail(d.where(sweep).line, sweep + " has " + to_text(c.sweep_db[i]) + " after " +
                                      to_text(c.sweep_db[i - 1]) +
                                      ": expected a rising list, in steps of at least 0.001" + in_curve(c));
    try {
      (void)completed(c.link);
    } catch (const file_error& error) {  // of the channel's
      fail(d.where("channel.file").line, std::string("channel.file: ") + error.what() + in_curve(c));
    } catch (const argument_error& error) {
      // The library names its own arguments: say which key that is.
      std::string key = error.argument();
      if (std::holds_alternative<massive_link_config>(c.link.antennas) && find("massive." + key) != nullptr)
        key = "massive." + key;
      for (const entry& e : table()) {  // but for the code's, which is known to be good
        const std::string& name = e.key.name;
        if (code_setting_of(name).empty() && name.ends_with("." + key)) key = name;
      }
      if (key == "qam") key = "modem.modulation";
      if (key == "spacing_m" || key == "spacing_wavelengths") key = "channel.antenna_" + key;
      if (key == "coded_bits" || key == "resource_elements") key = key_of_setting(key);
      place at = d.where(key);
      if (at.line == 0 && key.starts_with("channel.") && tdl)
        for (const char* cause : {"channel.delays_ns", "channel.profile", "channel.delay_spread_ns",
                                  "channel.doppler_hz", "channel.type"})
          if (at.line == 0 &&
              (key == "channel.cyclic_prefix_us") != (std::string(cause) == "channel.doppler_hz"))
            at = d.where(cause);
      if (at.line == 0)  // what was left out does not go with antennas or a detector
        for (const char* cause :
             {"mimo.streams", "mimo.rx_antennas", "detector.type", "stbc.type", "massive.solver"})
          if (d.where(cause).line > at.line) at = d.where(cause);
      fail(at.line, argument_error(key, error.value(), error.allowed()).what() + in_curve(c));
    }
  }

  static link_channel channel_of(const channel_draft& c) {
    switch (c.type) {
      case channel_type::awgn:
        break;
      case channel_type::rayleigh:
        return c.rayleigh;
      case channel_type::tdl:
        return c.tdl;
      case channel_type::cdl:
        return c.cdl;
      case channel_type::file:
        return c.csi;
    }
    return awgn_config{};
  }

  space_time_code pair_of(const draft& d) const {
    const place at = d.where("stbc.v");
    if (at.level < 0)
      fail(d.where("stbc.type").line, "stbc.v is missing with stbc.type = \"pair\"" + in_curve(d.curve) +
                                          ": add, for instance, v = [[1, 0], [0, 0], [0, 0], [-1, 0]]");
    try {
      return space_time_code::pair(d.space_time.v);
    } catch (const argument_error& error) {
      fail(at.line, argument_error("stbc.v", error.value(), error.allowed()).what() + in_curve(d.curve));
    }
  }

  /// Massive MIMO, which has antennas, detector and grid of its own.
  template <class RefuseIdle>
  void finish_massive(draft& d, RefuseIdle refuse_idle_with) const {
    curve_config& c = d.curve;
    const int level = d.where("massive.solver").level;
    const std::string choice = "with massive.solver = \"" + d.massive.solver + "\"";
    for (const char* key : {"mimo.", "detector.", "stbc.", "channel.subcarriers", "channel.symbols"})
      refuse_idle_with(key, level, choice);
    d.space_time.type = "none";
    massive_link_config& m = c.link.antennas.emplace<massive_link_config>(d.massive.config);
    for (const massive_mode mode : {massive_mode::cholesky, massive_mode::cg, massive_mode::jacobi_cg,
                                    massive_mode::zf, massive_mode::mf})
      if (same_word(d.massive.solver, name_of(mode))) m.solver = mode;
    const place iterations = d.where("massive.iterations");
    if (!is_iterative(m.solver)) {
      refuse_idle_with("massive.iterations", level, choice);
      m.iterations = 0;
    } else if (iterations.level < 0) {
      fail(d.where("massive.solver").line, "massive.iterations is missing " + choice + in_curve(c));
    }
    if (m.direction == massive_direction::downlink) {
      refuse_idle_with("massive.sinr", d.where("massive.direction").level,
                       "with massive.direction = \"downlink\"");
      m.sinr.reset();
      m.demapper = d.antennas.demapper;
    } else {
      refuse_idle_with("modem.demapper", level, choice);
      if (is_iterative(m.solver) && d.where("massive.sinr").level < level) m.sinr.reset();
    }
    if (d.channel.type == channel_type::file && d.where("massive.subcarriers").level < 0) m.subcarriers = 0;
    if (c.link.code.type == code_type::none && d.where("code.k").level < 0)
      c.link.code.k = m.subcarriers * bits_per_symbol(c.link.qam);
  }

  /// Channel estimates of a file, whose name is from the scenario on.
  void finish_file(draft& d) const {
    csi_channel_config& c = d.channel.csi;
    if (d.where("channel.file").level < 0)
      fail(d.where("channel.type").line,
           "channel.file is missing with channel.type = \"file\"" + in_curve(d.curve));
    c.path = c.name.empty() ? "" : (std::filesystem::path(file_).parent_path() / c.name).string();
    c.power_control = d.channel.cdl.power_control;
  }

  /// The same of a clustered one.
  template <class RefuseIdle>
  void finish_clusters(draft& d, RefuseIdle refuse_idle_with) const {
    cdl_config& c = d.channel.cdl;
    if (!has_cdl_delay_spread(d.profile.name))
      refuse_idle_with("channel.delay_spread_ns", d.where("channel.profile").level,
                       "with channel.profile = \"" + d.profile.name + "\"");
    c.profile = cdl_profile_named(d.profile.name, d.profile.delay_spread_ns);
    const place metres = d.where("channel.antenna_spacing_m"),
                wavelengths = d.where("channel.antenna_spacing_wavelengths");
    if (metres.level >= 0 && c.spacing_wavelengths > 0) {
      if (metres.level == wavelengths.level)
        fail(wavelengths.line,
             "channel.antenna_spacing_wavelengths has no meaning with channel.antenna_spacing_m" +
                 in_curve(d.curve));
      if (metres.level > wavelengths.level) c.spacing_wavelengths = 0;
    }
    if (d.where("channel.spacing_hz").level >= 0) c.grid.spacing_hz = d.channel.tdl.grid.spacing_hz;
    c.grid.cyclic_prefix_us = d.channel.tdl.grid.cyclic_prefix_us;
  }

  /// The profile of a delay line: that of a standard, or delays and powers, whichever was said more
  /// specifically.
  template <class RefuseIdle>
  void finish_profile(draft& d, RefuseIdle refuse_idle_with) const {
    curve_config& c = d.curve;
    const place named = d.where("channel.profile"), delays = d.where("channel.delays_ns"),
                powers = d.where("channel.powers_db");
    tdl_profile& profile = d.channel.tdl.profile;
    if (delays.level < 0 || delays.level < named.level) {
      for (const char* key : {"channel.delays_ns", "channel.powers_db", "channel.rician_k_db"})
        refuse_idle_with(key, named.level,
                         delays.level < 0 ? "without channel.delays_ns"
                                          : "with channel.profile = \"" + d.profile.name + "\"");
      if (!has_delay_spread(d.profile.name))
        refuse_idle_with("channel.delay_spread_ns", named.level,
                         "with channel.profile = \"" + d.profile.name + "\"");
      profile = tdl_profile_named(d.profile.name, d.profile.delay_spread_ns);
      return;
    }
    for (const char* key : {"channel.profile", "channel.delay_spread_ns"})
      refuse_idle_with(key, delays.level, "with channel.delays_ns");
    const std::vector<double>&x = d.profile.delays_ns, &y = d.profile.powers_db;
    if (x.size() > 64)
      fail(delays.line,
           "channel.delays_ns has " + std::to_string(x.size()) + " taps: at most 64" + in_curve(c));
    if (x.size() != y.size())
      fail(std::max(delays.line, powers.line), "channel.powers_db has " + std::to_string(y.size()) +
                                                   " numbers for the " + std::to_string(x.size()) +
                                                   " taps of channel.delays_ns" + in_curve(c));
    profile = {};
    for (std::size_t i = 0; i < x.size(); i++) profile.taps.push_back({x[i], y[i]});
    if (d.where("channel.rician_k_db").level >= 0) profile.rician_k_db = d.profile.rician_k_db;
  }

  /// The code, from what is said of it.
  void finish_code(draft& d) const {
    curve_config& c = d.curve;
    // Of the two that say the same the one that was said more specifically.
    const place bits = d.where("code.coded_bits"), elements = d.where("code.resource_elements");
    if (bits.level >= 0 && bits.level == elements.level)
      fail(std::max(bits.line, elements.line),
           "code has both resource_elements and coded_bits: expected one of them" + in_curve(c));
    d.code.values.erase(bits.level < elements.level ? "coded_bits" : "resource_elements");
    // A setting that the code does not have is refused, unless the code was chosen more specifically.
    for (const entry& e : table()) {
      const std::string name = e.key.name, setting = code_setting_of(name);
      const place at = d.where(name);
      if (setting.empty() || at.level < 0) continue;
      const auto choice = idle_with(d.code, setting);
      if (!choice) continue;
      const std::string chosen = key_of_setting(choice->setting);
      if (at.level >= d.where(chosen).level)
        fail(at.line, name + " has no meaning with " + chosen + " = \"" + choice->value + "\"" + in_curve(c));
    }
    // Where the code was chosen more specifically than a value that it does not take, the value is another
    // code's and does not count.
    const int type = d.where("code.type").level;
    std::erase_if(d.code.values, [&](const auto& given) {
      const setting_of<code_config>* of_type = find_setting(settings_of(d.code.type), given.first);
      if (of_type == nullptr || d.where(key_of_setting(given.first)).level >= type) return false;
      code_config scratch;
      try {
        of_type->set(scratch, given.second);
        return false;
      } catch (const argument_error&) {
        return true;
      }
    });
    if (is_ldpc(d.code.type)) {
      if (const setting_value* n = d.code.find("n"); n != nullptr && d.where("code.n").level < type) {
        code_config of;
        of.type = d.code.type;
        if (!k_of_coded_bits(of, static_cast<std::size_t>(std::get<std::int64_t>(*n))))
          d.code.values.erase("n");
      }
      if (d.where("code.k").level < std::max({type, d.where("code.n").level, d.where("code.rate").level}))
        d.code.values.erase("k");
    }

    const place f1 = d.where("code.interleaver.f1"), f2 = d.where("code.interleaver.f2");
    if ((f1.level >= 0) != (f2.level >= 0))
      fail(std::max(f1.line, f2.line), "code.interleaver needs both f1 and f2" + in_curve(c));
    if (f1.level >= 0)
      d.code.values["interleaver"] = std::vector<std::int64_t>{d.interleaver.f1, d.interleaver.f2};

    try {
      c.link.code = config_of(d.code);
      c.link.code.k = completed(c.link.code).k;
    } catch (const argument_error& error) {
      std::string key = error.argument() == "f1, f2" ? "code.interleaver" : key_of_setting(error.argument());
      place at = d.where(key == "code.interleaver" ? "code.interleaver.f1" : key);
      for (const char* cause :
           {"code.crc", "code.n", "code.rate", "code.feedback", "code.transport_block_size", "code.type"})
        if (at.line == 0) at = d.where(cause);
      fail(at.line, argument_error(key, error.value(), error.allowed()).what() + in_curve(c));
    }
  }
  static bool is_ldpc(code_type t) { return t == code_type::wimax_ldpc || t == code_type::wifi_ldpc; }
  /// "code.rate" for "rate".
  static std::string key_of_setting(const std::string& setting) {
    if (setting == "type") return "code.type";
    for (const entry& e : table())
      if (code_setting_of(e.key.name) == setting) return e.key.name;
    return setting;
  }

  /// Which of the two the sweep is given in: the one that was set more specifically.
  snr_axis axis_of(const draft& d) const {
    place of[2];
    for (const snr_axis axis : {snr_axis::ebn0_db, snr_axis::snr_db})
      for (const auto& [name, at] : d.places)
        if (name == key_of(axis) || name.starts_with(key_of(axis) + ".")) {
          place& most = of[static_cast<int>(axis)];
          if (at.level > most.level || (at.level == most.level && at.line > most.line)) most = at;
        }
    if (of[0].level >= 0 && of[0].level == of[1].level)
      fail(std::max(of[0].line, of[1].line),
           "sweep has both ebn0_db and snr_db: expected one of them" + in_curve(d.curve));
    return of[1].level > of[0].level ? snr_axis::snr_db : snr_axis::ebn0_db;
  }

  std::vector<double> range(const draft& d) const {
    const std::string key = key_of(d.curve.link.axis);
    const auto& [list, first, end, distance] = d.sweep(d.curve.link.axis);
    const place from = d.where(key + ".from"), to = d.where(key + ".to"), step = d.where(key + ".step");
    const unsigned line = std::max({from.line, to.line, step.line});
    if (line == 0)
      fail(0, key + " is missing" + in_curve(d.curve) +
                  ": add, for instance, [sweep] ebn0_db = [0.0, 0.5, 1.0], or snr_db");
    if (from.level < 0 || to.level < 0 || step.level < 0)
      fail(line, key + " needs from, to and step" + in_curve(d.curve));
    if (end < first)
      fail(line, key + ".to = " + to_text(end) +
                     " is not allowed: expected at least from = " + to_text(first) + in_curve(d.curve));
    // Rounded to a millionth: 0.1 + 2 * 0.1 shall be 0.3. A point a hair beyond the end still counts.
    const double last = std::floor((end - first) / distance + 1e-6);
    if (last >= static_cast<double>(most_points))
      fail(line, key + " has " + to_text(last + 1) + " points: at most " + std::to_string(most_points));
    std::vector<double> points;
    for (double i = 0; i <= last; i++) points.push_back(std::round((first + i * distance) * 1e6) / 1e6);
    return points;
  }

  std::string in_curve(const curve_config& c) const {
    return among_many_ ? ", in curve \"" + c.label + "\"" : "";
  }

  std::string file_;
  bool among_many_ = false;
};

/// `text` in lines of at most `width`, all but the first indented.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t column = 0;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = std::min(text.find(' ', i), text.size());
    const std::string word = text.substr(i, end - i);
    if (column != 0 && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ') + word;
      column = indent + word.size();
    } else {
      out += (column != 0 ? " " : "") + word;
      column += (column != 0 ? 1 : 0) + word.size();
    }
    i = end + 1;
  }
  return out;
}

constexpr const char* introduction = R"(# Scenario files

`warpband sim SCENARIO.toml` runs what a scenario file says: random bits, CRC, encoder, mapper, channel, demapper
or MIMO detector, decoder, and the count of errors, at each Eb/N0 or SNR of a sweep. The files are TOML
(https://toml.io). A key that is left out has its default; an unknown key is refused. In words
neither case nor - and _ matter. This page is what `warpband sim --help-scenario` prints.

```toml
title = "LTE turbo code, K = 1024, in AWGN"

[code]
k = 1024

[decoder]
iterations = 8

[modem]
modulation = "qpsk"

[sweep]
ebn0_db = { from = 0.0, to = 1.0, step = 0.2 }

[stop]
frame_errors = 100
max_frames = 100000

[[curve]]
label = "log-MAP"

[[curve]]
label = "max-log-MAP, scaled"
decoder.algorithm = "max-log-map"
decoder.extrinsic_scale = 0.75
```

Each `[[curve]]` is the file above it with the keys of the curve in their place; without any there is one curve.
Curves with the same seed see the same bits and noise at the same number of their sweeps, so that their
difference is sharper than either.
)";

const char* heading_of(const std::string& group) {
  if (group == "code") return "channel code";
  if (group == "decoder") return "decoder of the code";
  if (group == "modem") return "modulation";
  if (group == "channel") return "channel";
  if (group == "mimo") return "antennas";
  if (group == "detector") return "MIMO detector";
  if (group == "stbc") return "space-time code";
  if (group == "massive") return "massive MIMO";
  if (group == "sweep") return "points";
  if (group == "stop") return "when a point has enough";
  return "";
}

}  // namespace

scenario parse_scenario(std::string text, const std::string& file) {
  scenario s;
  s.file = file;
  s.text = std::move(text);
  if (const std::size_t begin = s.text.find_first_not_of(" \t\r\n");
      begin != std::string::npos && s.text[begin] == '{' && s.text.find("\"curves\"") != std::string::npos)
    throw file_error(file, "is a result, not a scenario: warpband sim --resume FILE goes on with it");
  try {
    const toml::table root = toml::parse(s.text, file);
    s.curves = parser(file).curves(root, s.title);
  } catch (const toml::parse_error& error) {
    std::string what(error.description());
    std::replace(what.begin(), what.end(), '\n', ' ');
    throw file_error(file, "line " + std::to_string(error.source().begin.line) + ": not TOML: " + what);
  }
  return s;
}

scenario load_scenario(const std::string& path) {
  std::error_code status;
  if (std::filesystem::is_directory(path, status)) throw file_error(path, "cannot read: it is a folder");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw file_error(path, std::string("cannot read: ") + std::strerror(errno));
  std::string text(most_bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) throw file_error(path, std::string("cannot read: ") + std::strerror(errno));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > most_bytes) throw file_error(path, "larger than 1 MiB: not a scenario");
  return parse_scenario(std::move(text), path);
}

void apply_overrides(scenario& s, const scenario_overrides& with) {
  const auto put = [&](auto member, auto place) {
    if (!(with.*member)) return;
    s.overrides.*member = with.*member;
    for (curve_config& c : s.curves) place(c) = *(with.*member);
  };
  put(&scenario_overrides::seed, [](curve_config& c) -> auto& { return c.link.seed; });
  put(&scenario_overrides::frame_errors, [](curve_config& c) -> auto& { return c.stop.frame_errors; });
  put(&scenario_overrides::max_frames, [](curve_config& c) -> auto& { return c.stop.max_frames; });
  put(&scenario_overrides::max_seconds, [](curve_config& c) -> auto& { return c.stop.max_seconds; });
}

std::span<const scenario_key> scenario_keys() {
  static const std::vector<scenario_key> keys = [] {
    std::vector<scenario_key> all;
    for (const entry& e : table()) all.push_back(e.key);
    return all;
  }();
  return keys;
}

std::string code_setting_of(const std::string& key) {
  const std::size_t first = key.find('.');
  if (!key.starts_with("code.") && !key.starts_with("decoder.")) return "";
  const std::string setting = key.substr(first + 1, key.find('.', first + 1) - first - 1);
  return setting == "type" ? "" : setting;
}

std::string scenario_help() {
  std::string out = introduction, group = "-";
  for (const entry& e : table()) {
    const std::string& name = e.key.name;
    const std::string own = name.find('.') == std::string::npos ? "" : name.substr(0, name.find('.'));
    if (own != group) {
      group = own;
      out += group.empty() ? "\n## At the top\n\n" : "\n## `[" + group + "]`: " + heading_of(group) + "\n\n";
    }
    const std::string initial = e.key.initial;
    const std::vector<code_type> types = types_with(code_setting_of(name));
    std::string codes;  // that have the key, where most do not
    if (types.size() < 5)
      for (const code_type t : types) codes += (codes.empty() ? "; for " : ", ") + std::string(name_of(t));
    out += wrapped("- `" + name.substr(own.empty() ? 0 : own.size() + 1) + "` (" + e.key.type +
                       (initial.empty() ? "" : ", default `" + initial + "`") + codes + "): " + e.key.text +
                       " Allowed: " + e.key.allowed + ".",
                   110, 2) +
           "\n";
  }
  return out;
}

}  // namespace wb
