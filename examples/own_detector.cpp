// A detector of your own in the simulator, beside the library's "zf". tests/consumer/CMakeLists.txt builds
// it.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include <warpband/detect/detector.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/link/scenario.hpp>
#include <warpband/link/sweep.hpp>

// Views of a CPU executor are in host memory.
constexpr auto element = [](auto v, std::size_t e, std::size_t i) -> auto& {
  return v.data[e * v.element_stride + i * v.item_stride];
};

class my_detector final : public wb::detector {  // zero forcing of two QPSK streams
 public:
  explicit my_detector(const wb::detector_config& c) : detector(c), clip_(*c.llr_clip) {}

  // LLRs of QPSK are 2 sqrt(2) SINR x. A link with a code asks for them and for the status.
  void compute(wb::executor&, const wb::detector_input& in, const wb::detector_output& out) const override {
    for (std::size_t use = 0; use < in.received.items; use++) {
      std::complex<float> h[4], y[2] = {element(in.received, 0, use), element(in.received, 1, use)}, llr[2];
      for (std::size_t e = 0; e < 4; e++) h[e] = element(in.channel, e, use / in.uses_per_channel);
      const std::complex<float> det = h[0] * h[3] - h[1] * h[2];
      const float gain = 2 * std::sqrt(2.f) * std::norm(det) / element(in.noise_var, 0, use);
      llr[0] = gain / (std::norm(h[1]) + std::norm(h[3])) * (h[3] * y[0] - h[1] * y[1]) / det;
      llr[1] = gain / (std::norm(h[0]) + std::norm(h[2])) * (h[0] * y[1] - h[2] * y[0]) / det;
      const bool good = std::isfinite(std::abs(llr[0])) && std::isfinite(std::abs(llr[1]));
      for (std::size_t bit = 0; bit < 4; bit++) {
        const float l = bit % 2 == 0 ? llr[bit / 2].real() : llr[bit / 2].imag();
        element(out.llr, bit, use) = good ? std::clamp(l, -clip_, clip_) : 0;
      }
      element(out.status, 0, use) = good ? 0 : wb::status_erased;
    }
  }
  const float clip_;
};

int main() {
  wb::detectors().add(
      {.name = "mine",
       .text = "zero forcing of two QPSK streams",
       .most_streams = 2,
       .make = [](const wb::detector_config& c) { return std::make_unique<my_detector>(c); }});
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
