// A detector of your own in the simulator, beside the library's "zf". tests/consumer/CMakeLists.txt builds
// it.
#include <cmath>
#include <cstdio>

#include <warpband/detect/detector.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/link/scenario.hpp>
#include <warpband/link/sweep.hpp>

/// Element e of item i. Views of a CPU executor are in host memory.
constexpr auto at = [](auto v, std::size_t e, std::size_t i) -> auto& {
  return v.data[e * v.element_stride + i * v.item_stride];
};

class my_detector final : public wb::detector {
 public:
  explicit my_detector(const wb::detector_config& c) : detector(c) {}

 private:
  // Shapes are checked before the call. A link with a code asks for LLRs and the status.
  void compute(wb::executor&, const wb::detector_input& in, const wb::detector_output& out) const override {
    for (std::size_t use = 0; use < in.received.items; use++) {
      const auto y = [&](std::size_t r) { return at(in.received, r, use); };
      const auto h = [&](std::size_t r, std::size_t s) {
        return at(in.channel, 2 * r + s, use / in.uses_per_channel);
      };
      const std::complex<float> det = h(0, 0) * h(1, 1) - h(0, 1) * h(1, 0);
      for (std::size_t s = 0; s < 2; s++) {
        const std::size_t other = 1 - s;
        const auto estimate = (s == 0 ? 1.f : -1.f) * (h(1, other) * y(0) - h(0, other) * y(1)) / det;
        const float noise = at(in.noise_var, 0, use) * (std::norm(h(0, other)) + std::norm(h(1, other)));
        const float weight = 2 * std::sqrt(2.f) * std::norm(det) / noise;  // 2 sqrt(2) SINR
        const bool good = std::isfinite(weight * std::abs(estimate));
        at(out.llr, 2 * s, use) = good ? weight * estimate.real() : 0;
        at(out.llr, 2 * s + 1, use) = good ? weight * estimate.imag() : 0;
        at(out.status, 0, use) = good ? 0 : wb::status_erased;
      }
    }
  }
};

int main() {
  wb::detectors().add(
      {.name = "mine", .text = "zero forcing of two QPSK streams", .make = [](const wb::detector_config& c) {
         return std::make_unique<my_detector>(c);
       }});
  const wb::scenario scenario = wb::parse_scenario(R"(
    code = { type = "wifi-ldpc", n = 648, rate = "1/2" }
    modem.modulation = "qpsk"
    mimo = { streams = 2, rx_antennas = 2 }
    channel.type = "rayleigh"
    sweep.ebn0_db = [4.0, 6.0]
    stop = { frame_errors = 50, max_frames = 2000 }
    curve = [{ detector.type = "mine" }, { detector.type = "zf" }])",
                                                   "own_detector");
  wb::cpu exec;
  for (const wb::curve_config& curve : scenario.curves)
    for (const wb::point_result& point : wb::run_curve(curve, exec).points)
      std::printf("%s  %.1f dB  FER %.4f\n", curve.label.c_str(), point.ebn0_db, point.fer());
}
