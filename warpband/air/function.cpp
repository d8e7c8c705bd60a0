#include <warpband/air/function.hpp>

namespace wb {
namespace {

class drawn_by_function final : public air {
 public:
  drawn_by_function(const air_antennas& a, fading_type fading, channel_function draw)
      : air(a), matrices_(matrices_of(fading, a)), draw_(std::move(draw)) {}
  std::size_t matrices() const noexcept override { return matrices_; }
  void draw(executor& exec, values h, random_range range) override {
    draw_(exec, {range, h.items / matrices_, matrices_, antennas_}, h);
  }

 private:
  std::size_t matrices_;
  channel_function draw_;
};

void complete_function(box& b, air_antennas& a) {
  const rayleigh_config& c = held<rayleigh_config>(b);
  check_settings(rayleigh_settings(), c);
  if (a.in_slots() && c.fading != fading_type::block)
    throw argument_error("fading", "\"fast\"", "\"block\" in slots of 5G NR");
}

}  // namespace

air_kind function_air(std::string name, channel_function draw) {
  return {.name = std::move(name),
          .text = "H of a function of the program.",
          .keys = boxed(rayleigh_settings()),
          .serves = [](const air_antennas&) { return true; },
          .complete = complete_function,
          .results = [](const box& b) { return air_values(rayleigh_settings(), held<rayleigh_config>(b)); },
          .make = [draw = std::move(draw)](const box& b, const air_antennas& a) -> std::unique_ptr<air> {
            return std::make_unique<drawn_by_function>(a, held<rayleigh_config>(b).fading, draw);
          }};
}

}  // namespace wb
