#include <warpband/detect/detector_kind.hpp>

#include <algorithm>

#include <warpband/core/check.hpp>
#include <warpband/detect/detector.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {
namespace {

std::string clip_text(float clip) { return clip == no_clip ? "none" : as_message(clip); }

void check_streams(const detector_config& c, const detector_kind& kind) {
  if (c.streams <= kind.most_streams || c.streams > most_soft_streams)
    return check_range("streams", c.streams, 1, kind.most_streams);
  std::string wide;
  for (const detector_kind& k : detectors())
    if (k.most_streams == most_soft_streams) wide += (wide.empty() ? "" : " and ") + k.name;
  throw argument_error("streams", std::to_string(c.streams),
                       "1 to " + std::to_string(kind.most_streams) + " with " + kind.name + "; " + wide +
                           " take " + std::to_string(most_soft_streams));
}

float checked_clip(const detector_config& c, const detector_kind& kind) {
  const bool misses = may_miss(c);
  const float clip = clip_of(c);
  const bool limits = clip > 0 && clip <= 1e6f;
  if (misses && !limits)
    throw argument_error("llr_clip", clip_text(clip),
                         "above 0 and at most 1e6: a hypothesis can be missing with " + kind.name);
  if (!limits && clip != no_clip)
    throw argument_error("llr_clip", clip_text(clip), "above 0 and at most 1e6, or none");
  return clip;
}

/// Settings of a kind that completes none: each is checked, and defaults that are given are left out.
box checked(const detector_kind& kind, const box& settings) {
  box result;
  for (const auto& [s, value] : values_of(kind.settings, settings))
    if (value != s->written(box())) s->set(result, value);
  return result;
}

}  // namespace

const detector_kind& detector_config::kind() const { return detectors().get(type); }

void detector_config::set(std::string_view setting, const setting_value& value) {
  const auto settings_of_kind = settings_of(kind());
  const auto* s = find_setting(settings_of_kind, setting);
  if (s == nullptr)
    throw argument_error(std::string(setting), as_message(value), "a setting of \"" + type + "\"");
  const std::string before = type;
  s->set(*this, value);
  if (type != before) settings = box();
}
setting_value detector_config::value_of(std::string_view setting) const {
  const auto settings_of_kind = settings_of(kind());
  const auto* s = find_setting(settings_of_kind, setting);
  return s != nullptr ? s->written(*this) : setting_value{};
}

setting_of<detector_config> detector_type_setting() {
  std::vector<std::pair<std::string, std::string>> names;
  std::string meaning;
  for (const detector_kind& kind : detectors()) {
    names.emplace_back(kind.name, kind.name);
    meaning += (meaning.empty() ? "" : "; ") + kind.name + ": " + kind.text;
  }
  return words("type", &detector_config::type, names, meaning + ".");
}

const std::vector<setting_of<detector_config>>& common_detector_settings() {
  using c = detector_config;
  static const std::vector<setting_of<c>> settings{
      integer("streams", &c::streams, 1, most_soft_streams, "Transmit antennas.",
              "an integer from 1 to 8, with pic and ep to 16")
          .not_of_links(),
      integer("rx_antennas", &c::rx_antennas, 1, 16, "Receive antennas.", "an integer from the streams to 16")
          .not_of_links(),
      one_of("qam", &c::qam, {4, 16, 64, 256}, "Points of the constellation.").not_of_links(),
      number_or_word(
          "llr_clip", &c::llr_clip, "none", no_clip, 1e-6, 1e6,
          "LLRs are limited to this magnitude. A bit gets it if the search found no candidate with one of "
          "its values. Left out: 8 where a hypothesis can be missing, and with mtt and nway where they do "
          "not equal ml; else \"none\". Up to two streams mtt equals ml, and so does nway with all ways.",
          "a number from 1e-6 to 1e6, or \"none\" where no hypothesis can be missing: with all but ot, "
          "kbest, nway with fewer ways than streams, and sphere with hard_output, radius or node_limit"),
      boolean("extrinsic", &c::extrinsic, "Take the a-priori LLRs off the output again.").not_of_links()};
  return settings;
}

std::vector<setting_of<detector_config>> settings_of(const detector_kind& kind) {
  std::vector<setting_of<detector_config>> settings{detector_type_setting()};
  for (const auto& s : common_detector_settings())
    if (s.name != "extrinsic" || kind.takes_prior) settings.push_back(s);
  const auto kind_settings =
      within<detector_config>([](detector_config& c) -> box& { return c.settings; }, kind.settings);
  settings.insert(settings.end(), kind_settings.begin(), kind_settings.end());
  return settings;
}

void check_sizes(const detector_config& c) {
  check_range("streams", c.streams, 1, most_soft_streams);
  check_range("rx_antennas", c.rx_antennas, c.streams, 16);
  if (c.qam != 4 && c.qam != 16 && c.qam != 64 && c.qam != 256)
    throw argument_error("qam", std::to_string(c.qam), "4, 16, 64 or 256");
}

detector_config completed(const detector_config& config) {
  const detector_kind& kind = config.kind();
  detector_config c = config;
  c.type = kind.name;
  check_streams(c, kind);
  check_sizes(c);
  if (kind.settings.empty() && c.settings != box())
    throw argument_error("settings", "given", "none: \"" + kind.name + "\" has no settings");
  c.settings = kind.complete ? kind.complete(c) : checked(kind, c.settings);
  if (!kind.takes_prior && c.extrinsic)
    throw argument_error("extrinsic", "true", "false: " + kind.name + " takes no a-priori LLRs");
  c.llr_clip = checked_clip(c, kind);
  return c;
}

std::unique_ptr<detector> make_detector(const detector_config& config) {
  const detector_config c = completed(config);
  const detector_kind& kind = c.kind();
  std::unique_ptr<detector> made = kind.make(c);
  if (!made || made->takes_prior() != kind.takes_prior)
    throw error("detector kind \"" + kind.name +
                "\": `make` must give a detector, which takes a-priori LLRs " +
                (kind.takes_prior ? "as" : "no more than") + " the kind says");
  return made;
}

bool takes_prior(const detector_config& config) { return config.kind().takes_prior; }
bool may_miss(const detector_config& config) {
  const detector_kind& kind = config.kind();
  return kind.may_miss && kind.may_miss(config);
}
float clip_of(const detector_config& config) {
  if (config.llr_clip) return *config.llr_clip;
  const detector_kind& kind = config.kind();
  if (kind.default_clip) return kind.default_clip(config);
  return may_miss(config) ? 8.f : no_clip;
}
double flops_per_use(const detector_config& config) { return make_detector(config)->flops_per_use(); }

std::string label_of(const detector_config& config) {
  const detector_kind& kind = config.kind();
  std::string label = kind.label ? kind.label(config) : kind.name;
  const float clip = clip_of(config);
  if (clip != no_clip) label += ", clip " + plain(setting_value(as_written(clip)));
  return label;
}

}  // namespace wb
