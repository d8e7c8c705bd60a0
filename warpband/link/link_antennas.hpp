#pragma once
// The antenna system of a link: a kind (link/antenna_kind.hpp) and its settings.
//
//   link_antennas a = massive_link_config{.antennas = 64, .users = 8};
//   a.kind().name;                                   // "massive"
//   a.edit<massive_link_config>().users = 4;
//   a.find<detector_config>();                       // null
#include <any>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>

#include <warpband/core/error.hpp>

namespace wb {

struct antenna_kind;

/// The name of the kind whose settings a struct holds.
template <class C>
inline constexpr std::string_view antennas_name = "";

/// A kind and its settings.
/// Threads: any number may read it; one may change antennas that no other reads.
class link_antennas {
 public:
  link_antennas();                                // single_antenna
  link_antennas(const link_antennas&) = default;  // a move is a copy too: the settings stay
  link_antennas& operator=(const link_antennas&) = default;
  template <class C>
    requires(!antennas_name<C>.empty())
  link_antennas(C settings) : kind_(&kind_named(antennas_name<C>)), settings_(std::move(settings)) {}

  const antenna_kind& kind() const noexcept { return *kind_; }
  /// The settings, or null if they are none of C.
  template <class C>
  const C* find() const noexcept {
    return std::any_cast<C>(&settings_);
  }
  template <class C>
  C* find() noexcept {
    return std::any_cast<C>(&settings_);
  }
  /// The settings. Throws error if they are none of C.
  template <class C>
  const C& get() const {
    if (const C* c = find<C>()) return *c;
    throw error(std::string("settings of type ") + typeid(C).name() + " expected, but the antennas have " +
                settings_.type().name());
  }
  /// To be changed. Throws as `get`.
  template <class C>
  C& edit() {
    (void)get<C>();
    return *find<C>();
  }

 private:
  static const antenna_kind& kind_named(std::string_view name);

  const antenna_kind* kind_;
  std::any settings_;
};

}  // namespace wb
