#include <warpband/air/awgn.hpp>

namespace wb {
namespace {

class unfaded final : public air {
 public:
  explicit unfaded(const air_antennas& a) : air(a) {}
  std::size_t matrices() const noexcept override { return 0; }
  void draw(executor&, values, random_range) override {}
  void send(executor&, symbols, values, values, random_range) override {}
};

}  // namespace

air_kind awgn_air() {
  return {.name = "awgn",
          .text = "White Gaussian noise alone, y = s + n, with one antenna.",
          .keys = {},
          .serves =
              [](const air_antennas& a) {
                return a.system == air_system::single || (a.in_slots() && a.entries() == 1);
              },
          .fading = [](const box&) { return air_fading::none; },
          .make = [](const box&, const air_antennas& a) -> std::unique_ptr<air> {
            return std::make_unique<unfaded>(a);
          }};
}

}  // namespace wb
