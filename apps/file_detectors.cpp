#include "file_detectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>

#include <warpband/core/error.hpp>
#include <warpband/detect/detector.hpp>
#include <warpband/massive/cluster/cluster.hpp>
#include <warpband/massive/soft_uplink/soft_uplink.hpp>
#include <warpband/massive/uplink/uplink.hpp>
#include <warpband/stbc/stbc.hpp>

#include "command.hpp"

namespace {

constexpr std::size_t quarter_mebibyte = std::size_t{1} << 18;

int as_count(std::size_t n) { return static_cast<int>(std::min<std::size_t>(n, INT32_MAX)); }

/// Sets what was given. Refuses what the detector has no use for.
template <class C>
void take(const std::vector<wb::setting_of<C>>& settings, C& config, const wb::setting_values& values,
          const std::string& detector) {
  for (const auto& [name, value] : values)
    if (const auto* s = wb::find_setting(settings, name))
      s->set(config, value);
    else
      throw usage_error(
          fmt::format("{} has no meaning with --detector {}", option_of_setting(name), detector));
  for (const auto& [name, value] : values)
    if (const auto choice = wb::idle_because(settings, *wb::find_setting(settings, name), config))
      throw usage_error(fmt::format("{} has no meaning with {} {}", option_of_setting(name),
                                    choice->first == "type" ? "--detector" : option_of_setting(choice->first),
                                    choice->second));
}

/// The settings in force, "detector" first.
template <class C>
void tell(file_detector& to, const std::vector<wb::setting_of<C>>& settings, const C& config,
          const std::string& detector) {
  to.in_force.emplace_back("detector", detector);
  for (const auto& [s, value] : wb::values_of(settings, config))
    if (s->name != "type") to.in_force.emplace_back(s->name, value);
}

/// What the file says, or the name does: no options.
bool of_the_file(const std::string& setting) {
  for (const char* name : {"type", "streams", "rx_antennas", "antennas", "users", "qam"})
    if (setting == name) return true;
  return false;
}
template <class C>
void add_options(file_detector_kind& kind, const std::vector<wb::setting_of<C>>& settings) {
  for (const auto& s : settings)
    if (!of_the_file(s.name))
      kind.options.push_back(
          {s.name, s.kind, wb::first_sentence(s.full_text()), s.initial({}), s.allowed, s.words});
  kind.check = [settings](const std::string& setting, const wb::setting_value& value) {
    C scratch;
    if (const auto* s = wb::find_setting(settings, setting)) s->set(scratch, value);
  };
}

float clip_in_force(std::optional<float> clip) { return clip.value_or(wb::no_clip); }

// ---- few streams

class small_detector final : public file_detector {
 public:
  small_detector(const std::string& name, const detect_sizes& sizes, const wb::setting_values& values) {
    wb::detector_config c;
    c.type = name;
    c.rx_antennas = as_count(sizes.rx_antennas);
    c.streams = as_count(sizes.streams);
    c.qam = sizes.qam;
    const auto settings = wb::settings_of(c.kind());
    take(settings, c, values, name);
    c = wb::completed(c);
    made_ = wb::make_detector(c);
    bits_per_item = made_->bits_per_use();
    takes_prior = made_->takes_prior();
    const wb::detector_kind& kind = c.kind();
    thread_bytes = quarter_mebibyte + (kind.thread_bytes ? kind.thread_bytes(c) : 0);
    tell(*this, settings, c, name);
    llr_clip = *c.llr_clip;
    order = order_of(c);
  }
  void run(wb::executor& exec, const detect_arrays& a) const override {
    made_->run(exec,
               {.channel = a.channel,
                .uses_per_channel = a.uses_per_channel,
                .received = a.received,
                .noise_var = a.noise_var,
                .prior = a.prior},
               {.llr = a.llr, .bits = a.bits, .status = a.status});
  }

 private:
  static std::optional<std::vector<int>> order_of(const wb::detector_config& c) {
    if (wb::plain(c.value_of("sort")) != "none") return std::nullopt;
    const wb::setting_value given = c.value_of("order");
    if (const auto* streams = std::get_if<std::vector<std::int64_t>>(&given))
      return std::vector<int>(streams->begin(), streams->end());
    std::vector<int> columns(static_cast<std::size_t>(c.streams));
    std::iota(columns.begin(), columns.end(), 0);
    return columns;
  }
  std::unique_ptr<wb::detector> made_;
};

file_detector_kind small_kind(const wb::detector_kind& kind) {
  file_detector_kind k{.name = kind.name};
  add_options(k, wb::settings_of(kind));
  k.make = [name = kind.name](const detect_sizes& sizes, const wb::setting_values& values) {
    return std::make_unique<small_detector>(name, sizes, values);
  };
  return k;
}

// ---- massive MIMO

/// Calls f(frames, symbols, vectors before them, frames before them) for vectors of which `shared` share an
/// H, at most 2^20 of them in a call. The vectors of the last frame may be fewer.
template <class F>
void for_frames(std::size_t vectors, std::size_t shared, F f) {
  constexpr std::size_t limit = std::size_t{1} << 20;
  for (std::size_t first = 0; first < vectors;) {
    const std::size_t rest = vectors - first, in_frame = shared - first % shared;
    const bool whole = shared <= limit && rest >= shared;
    const std::size_t frames = whole ? rest / shared : 1,
                      symbols = whole ? shared : std::min({rest, in_frame, limit});
    f(frames, static_cast<int>(symbols), first, first / shared);
    first += frames * symbols;
  }
}
template <class T>
wb::view<T> rows(wb::view<T> v, std::size_t first, std::size_t count) {
  if (v.data == nullptr) return v;
  v.data += first * v.item_stride;
  v.items = count;
  return v;
}

template <class Config>
Config massive_config(const detect_sizes& sizes) {
  Config c;
  c.antennas = as_count(sizes.rx_antennas);
  c.users = as_count(sizes.streams);
  c.qam = sizes.qam;
  return c;
}

/// An uplink: of all antennas, of antennas in clusters, or with a-priori LLRs.
class massive_detector final : public file_detector {
 public:
  using kernel = std::variant<wb::uplink_detector, wb::clustered_uplink_detector, wb::soft_uplink_detector>;

  massive_detector(kernel made, const detect_sizes& sizes) : made_(std::move(made)) {
    const std::size_t users = sizes.streams;
    // Of 16 lanes: Gram matrices, their rows in the making, and the vectors of a frame.
    thread_bytes = quarter_mebibyte + 256 * users * users + 10240 * users + 8 * users * sizes.rx_antennas;
    bits_per_item = std::visit([](const auto& d) { return d.bits_per_vector(); }, made_);
    takes_prior = decides = std::holds_alternative<wb::soft_uplink_detector>(made_);
  }
  void run(wb::executor& exec, const detect_arrays& a) const override {
    for_frames(a.received.items, a.uses_per_channel,
               [&](std::size_t frames, int symbols, std::size_t vector, std::size_t frame) {
                 const auto part = [&](auto v) {
                   return rows(v, vector, frames * static_cast<std::size_t>(symbols));
                 };
                 const auto with_frames = [&](auto in) {
                   in.channel = rows(a.channel, frame, frames);
                   in.received = part(a.received);
                   in.noise_var = rows(a.noise_var, frame, frames);
                   in.symbols = symbols;
                   return in;
                 };
                 std::visit(
                     [&]<class Detector>(const Detector& detector) {
                       if constexpr (std::is_same_v<Detector, wb::soft_uplink_detector>)
                         detector.run(exec, with_frames(wb::soft_uplink_input{.prior = part(a.prior)}),
                                      {.llr = part(a.llr), .bits = part(a.bits), .status = part(a.status)});
                       else
                         detector.run(exec, with_frames(wb::uplink_input{}),
                                      {.llr = part(a.llr),
                                       .equalized = part(a.equalized),
                                       .sinr = part(a.sinr),
                                       .status = part(a.status)});
                     },
                     made_);
               });
  }

 private:
  kernel made_;
};

/// LLRs of 8 bits are not written.
std::vector<wb::setting_of<wb::clustered_uplink_config>> uplink_options() {
  auto settings = wb::clustered_uplink_settings();
  std::erase_if(settings, [](const auto& s) { return s.name == "llr_steps"; });
  return settings;
}

std::unique_ptr<file_detector> uplink_of(const detect_sizes& sizes, const wb::setting_values& values) {
  wb::clustered_uplink_config c{.detector = massive_config<wb::uplink_config>(sizes)};
  const auto settings = uplink_options();
  take(settings, c, values, "uplink");
  if (!values.contains("sinr") && wb::is_iterative(c.detector.solver))
    c.detector.sinr = wb::massive_sinr::approximate;  // without an inverse of A there is no exact one
  const bool in_clusters = c.clusters > 1 || c.cluster_method != wb::massive_cluster_method::exact;
  auto made = std::make_unique<massive_detector>(
      in_clusters ? massive_detector::kernel(wb::clustered_uplink_detector(c))
                  : massive_detector::kernel(wb::uplink_detector(c.detector)),
      sizes);
  if (in_clusters) {  // at most: sums or estimates of each cluster, and what conjugate gradients keep
    const std::size_t users = sizes.streams, of_clusters = static_cast<std::size_t>(c.clusters) * users;
    made->channel_bytes = 4 * of_clusters * users;
    made->item_bytes = 13 * of_clusters + 60 * users;
  }
  tell(*made, settings, c, "uplink");
  made->llr_clip = clip_in_force(c.detector.llr_clip);
  return made;
}

std::unique_ptr<file_detector> soft_uplink_of(const detect_sizes& sizes, const wb::setting_values& values) {
  auto c = massive_config<wb::soft_uplink_config>(sizes);
  take(wb::soft_uplink_settings(), c, values, "soft-uplink");
  auto made = std::make_unique<massive_detector>(wb::soft_uplink_detector(c), sizes);
  tell(*made, wb::soft_uplink_settings(), c, "soft-uplink");
  made->llr_clip = clip_in_force(c.llr_clip);
  return made;
}

// ---- space-time codes

/// The settings that have a meaning with a code.
std::vector<wb::setting_of<wb::stbc_config>> code_settings(const std::string& code) {
  std::vector<wb::setting_of<wb::stbc_config>> settings;
  for (const auto& s : wb::stbc_settings())
    if (std::all_of(s.conditions.begin(), s.conditions.end(),
                    [&](const wb::setting_condition& c) { return wb::find_word(c.words, code); }))
      settings.push_back(s);
  return settings;
}

class codeword_decoder final : public file_detector {
 public:
  codeword_decoder(const std::string& name, const detect_sizes& sizes, const wb::setting_values& values) {
    wb::stbc_config c;
    c.rx_antennas = as_count(sizes.rx_antennas);
    c.qam = sizes.qam;
    const auto settings = code_settings(name);
    wb::find_setting(settings, "type")->set(c, name);
    if (name == "pair" && !values.contains("v"))
      throw usage_error("--v is missing: the matrix of --detector pair");
    take(settings, c, values, name);
    made_.emplace(c);
    bits_per_item = made_->bits_per_codeword();
    thread_bytes = quarter_mebibyte;
    takes_prior = wb::takes_prior(c);
    tell(*this, settings, c, name);
    llr_clip = clip_in_force(c.llr_clip);
  }
  void run(wb::executor& exec, const detect_arrays& a) const override {
    made_->run(exec,
               {.channel = a.channel,
                .codewords_per_channel = a.uses_per_channel,
                .received = a.received,
                .noise_var = a.noise_var,
                .prior = a.prior},
               {.llr = a.llr, .bits = a.bits, .status = a.status});
  }

 private:
  std::optional<wb::stbc_decoder> made_;
};

std::vector<file_detector_kind> made_kinds() {
  std::vector<file_detector_kind> kinds;
  for (const wb::detector_kind& kind : wb::detectors()) kinds.push_back(small_kind(kind));
  file_detector_kind uplink{
      .name = "uplink", .items = "vectors", .noise_of_channels = true, .equalizes = true};
  add_options(uplink, uplink_options());
  uplink.make = uplink_of;
  kinds.push_back(uplink);
  file_detector_kind soft{.name = "soft-uplink", .items = "vectors", .noise_of_channels = true};
  add_options(soft, wb::soft_uplink_settings());
  soft.make = soft_uplink_of;
  kinds.push_back(soft);
  const auto& type = *wb::find_setting(wb::stbc_settings(), "type");
  for (const std::string& code : type.words) {
    wb::stbc_config config;
    type.set(config, code);
    file_detector_kind k{.name = code,
                         .items = "codewords",
                         .uses = static_cast<std::size_t>(config.code.uses()),
                         .tx_antennas = static_cast<std::size_t>(config.code.tx_antennas()),
                         .over_subcarriers = config.code.over_subcarriers()};
    add_options(k, code_settings(code));
    k.make = [code](const detect_sizes& sizes, const wb::setting_values& values) {
      return std::make_unique<codeword_decoder>(code, sizes, values);
    };
    kinds.push_back(k);
  }
  return kinds;
}

}  // namespace

const std::vector<file_detector_kind>& file_detectors() {
  static const std::vector<file_detector_kind> kinds = made_kinds();
  return kinds;
}
const file_detector_kind* find_file_detector(const std::string& word) {
  for (const file_detector_kind& k : file_detectors())
    if (wb::same_word(k.name, word)) return &k;
  return nullptr;
}
