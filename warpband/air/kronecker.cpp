#include <warpband/air/kronecker.hpp>

#include <warpband/core/decimal.hpp>

namespace wb {
namespace {

/// Puts R in the place of its coefficient, where there is one, and checks it.
void settle(const char* name, double coefficient, correlation_matrix& r, int n) {
  if (coefficient == 0) return check_correlation(name, r, n);
  if (!r.empty())
    throw argument_error(name, "a matrix", "none with a coefficient of " + decimal(coefficient));
  r = exponential_correlation(n, coefficient);
}
kronecker_config channel_of(const kronecker_fading& c) {
  kronecker_config k = c.channel;
  settle("rx_correlation", c.rx_coefficient, k.rx_correlation, k.rx_antennas);
  settle("tx_correlation", c.tx_coefficient, k.tx_correlation, k.streams);
  return k;
}

class correlated_matrices final : public air {
 public:
  correlated_matrices(const air_antennas& a, const kronecker_fading& c)
      : air(a), matrices_(matrices_of(c.fading, a)), channel_(channel_of(c)) {}
  std::size_t matrices() const noexcept override { return matrices_; }
  void draw(executor& exec, values h, random_range range) override {
    range.first *= matrices_;
    channel_.response(exec, h, range);
  }
  void send(executor& exec, symbols x, values y, values h, random_range range) override {
    if (x.data == y.data) return air::send(exec, x, y, h, range);
    range.first *= matrices_;
    channel_.apply(exec, x, y, h, x.items / h.items, range);
  }

 private:
  std::size_t matrices_;
  kronecker_channel channel_;
};

const std::vector<setting_of<kronecker_fading>>& settings() {
  using c = kronecker_fading;
  static const std::vector<setting_of<c>> entries = [] {
    std::vector<setting_of<c>> list{
        words("fading", &c::fading, {{"fast", fading_type::fast}, {"block", fading_type::block}},
              "A new H for every use of the channel, with a space-time code for every codeword, with massive "
              "MIMO for every subcarrier; or one for each frame. Slots of 5G NR take block."),
        number(
            "rx_coefficient", &c::rx_coefficient, 0, 1,
            "r of receive antennas along a line: R_rx[i, j] = r^|i - j|. In both directions of massive MIMO "
            "those of the base station.")
            .left_out_by_default(),
        number("tx_coefficient", &c::tx_coefficient, 0, 1,
               "The same of R_tx, of transmit antennas, antenna ports or users.")
            .left_out_by_default()};
    for (auto& s : within<c>([](c& k) -> auto& { return k.channel; }, kronecker_settings()))
      if (s.name != "streams" && s.name != "rx_antennas") list.push_back(std::move(s));
    return list;
  }();
  return entries;
}

void complete_matrices(box& b, air_antennas& a) {
  kronecker_fading c = held<kronecker_fading>(b);
  check_settings(settings(), c);
  if (a.in_slots() && c.fading != fading_type::block)
    throw argument_error("fading", "\"fast\"", "\"block\" in slots of 5G NR");
  c.channel.streams = a.tx;
  c.channel.rx_antennas = a.rx;
  channel_of(c);
  b = box(std::move(c));
}

}  // namespace

air_kind kronecker_air() {
  return {.name = "kronecker",
          .text = "Rayleigh fading whose antennas are correlated on either side, H = A G B^H (docs/cdl.md).",
          .keys = boxed(settings()),
          .serves = [](const air_antennas&) { return true; },
          .complete = complete_matrices,
          .fading = [](const box& b) { return fading_of(held<kronecker_fading>(b).fading); },
          .results = [](const box& b) { return air_values(settings(), held<kronecker_fading>(b)); },
          .make = [](const box& b, const air_antennas& a) -> std::unique_ptr<air> {
            return std::make_unique<correlated_matrices>(a, held<kronecker_fading>(b));
          }};
}

}  // namespace wb
