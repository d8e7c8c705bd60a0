#include <warpband/code/uncoded.hpp>

#include <climits>

#include <warpband/core/check.hpp>

namespace wb {
namespace {

constexpr int usual_bits = 6144;
constexpr int most_bits = 1 << 24;  // what random_bits, block fading and an int32 of errors take

const uncoded_settings& typed(const box& b) { return b.get<uncoded_settings>(); }

code_sizes sizes(const uncoded_settings& s) {
  const auto k = static_cast<std::size_t>(s.k.value_or(usual_bits));
  return {k, k};
}
uncoded_settings complete(uncoded_settings s) {
  if (!s.k) s.k = usual_bits;
  check_range("k", *s.k, 1, most_bits);
  return s;
}

}  // namespace

code_kind uncoded_kind() {
  using c = uncoded_settings;
  const std::vector<setting_of<c>> settings{
      integer("k", &c::k, 1, INT_MAX, "Bits of a frame.", "an integer from 1 to 16777216"),
      crc_setting(&c::crc)};
  return {.name = "none",
          .text = "",
          .settings = code_and_decoder(settings, {}),
          .initial = box(c{}),
          .complete = [](const box& b) { return box(complete(typed(b))); },
          .sizes = [](const box& b) { return sizes(typed(b)); },
          .k_of = [](const box&, std::size_t n) { return std::optional(n); },
          .crc = [](const box& b) { return typed(b).crc; }};
}

}  // namespace wb
