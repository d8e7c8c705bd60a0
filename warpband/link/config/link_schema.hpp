#pragma once
// The keys of links: what `warpband sim`, `wb.sweep` and `warpband choose` read.
#include <map>
#include <string>
#include <variant>

#include <warpband/air/file.hpp>
#include <warpband/link/config/read.hpp>
#include <warpband/link/sweep.hpp>

namespace wb::config {

/// Points of a sweep: a list, or if it is empty a range.
struct sweep_points {
  std::vector<double> list;
  double from = 0, to = 0, step = 1;
};

/// Settings of [sweep] and [modem].
const std::vector<setting_of<sweep_points>>& points_settings(snr_axis axis);
const std::vector<setting_of<fer_target>>& target_settings();
const std::vector<setting_of<link_config>>& modem_settings();
const std::vector<setting_of<single_antenna>>& demapper_settings();

/// In a kind_scope those of its kinds too: valid until the scope ends.
const schema& link_schema();
/// Adds the keys of one group, "code" or "decoder", of a kind of code.
void add_code_keys(schema& s, const std::string& group, const code_kind& kind,
                   const std::vector<setting_condition>& conditions);

/// Adds the keys of [detector].
void add_detector_keys(schema& s, const std::vector<setting_condition>& conditions);
/// The detector of settled keys, without its antennas and points.
detector_config detector_of(const key_tree& keys);

/// A choice whose words "none" and those of its setting select a table.
template <class C>
setting_of<C> or_none(setting_of<C> s) {
  s.words.insert(s.words.begin(), "none");
  s.allowed = among(s.words);
  s.set = [words = s.words, allowed = s.allowed, name = s.name, set = s.set](C& c, const setting_value& v) {
    if (settings_detail::word(name, v, words, allowed) != 0) set(c, v);
  };
  s.get = [](const C&) { return setting_value(std::string("none")); };
  return s;
}

/// That a choice of `or_none` is made.
setting_condition made_choice(const schema& s, const std::string& choice);
/// Adds a table whose keys have a meaning where `choice`, one of them, is made. `allowed`: where it may be.
template <class C>
void add_table(schema& s, const std::string& choice, const std::vector<setting_of<C>>& settings,
               const std::vector<setting_condition>& allowed, const std::string& note) {
  const std::string table = choice.substr(0, choice.find('.'));
  for (const setting_of<C>& setting : settings)
    if (table + "." + setting.name == choice)
      s.add(table, or_none(setting), {}, "", allowed);
    else if (setting.of_links)
      s.add(table, setting, {}, "", {made_choice(s, choice)});
  s.note(choice, note);
}

/// The settled keys of a curve, and messages about them.
/// Threads: any number may read it.
class link_keys {
 public:
  explicit link_keys(const curve_tree& curve) : curve_(curve) {}
  const key_tree& tree() const noexcept { return curve_.keys; }
  unsigned line(const std::string& key) const { return tree().where(key).line; }
  /// Throws error: a message, which names the curve, and what follows from it.
  [[noreturn]] void refuse(unsigned line, const std::string& message, const std::string& advice = "") const {
    fail(line, message + curve_.suffix + advice);
  }
  /// Whether a choice is made, and is not "none".
  bool chosen(const std::string& choice) const {
    const given* g = tree().find(choice);
    return g != nullptr && !same_word(plain(g->value), "none");
  }
  template <class C>
  void take(const std::string& group, const std::vector<setting_of<C>>& settings, C& c) const {
    apply(tree(), group, settings, c);
  }
  int number(const std::string& key, int otherwise) const {
    const given* g = tree().find(key);
    return g == nullptr ? otherwise : static_cast<int>(std::get<std::int64_t>(g->value));
  }
  demap_algorithm demapper() const;
  /// With the antennas of [mimo].
  detector_config detector() const;

 protected:
  const curve_tree& curve_;
};

/// What files of channel estimates hold, by their names in the scenario. A file among them is not opened.
using known_recordings = std::map<std::string, csi_channel_config>;

/// The curve of settled keys: checks what takes several of them, and fills in what they leave open. `file`:
/// the scenario's, from whose folder relative paths start. Throws error with the line.
curve_config curve_of(const curve_tree& curve, const std::string& file,
                      const known_recordings* recordings = nullptr);

}  // namespace wb::config
