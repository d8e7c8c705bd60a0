#include <warpband/detect/detector.hpp>

#include <memory>

#include <warpband/c/device.hpp>
#include <warpband/c/errors.hpp>
#include <warpband/c/settings_text.hpp>
#include <warpband/c/transfer.hpp>

/// Threads: one at a time.
struct wb_detector {
 public:
  wb_detector(wb_device& device, const char* kind, const char* settings, uint32_t rx_antennas,
              uint32_t streams, uint32_t bits_per_symbol)
      : device_(device) {
    wb::detector_config c;
    c.type = kind;
    c.rx_antennas = wb::c::as_count(rx_antennas);
    c.streams = wb::c::as_count(streams);
    if (bits_per_symbol < 2 || bits_per_symbol > 8 || bits_per_symbol % 2 != 0)
      throw wb::argument_error("bits_per_symbol", std::to_string(bits_per_symbol), "2, 4, 6 or 8");
    c.qam = 1 << bits_per_symbol;
    wb::c::take_settings(wb::settings_of(c.kind()), settings, {"type", "streams", "rx_antennas", "qam"}, c);
    made_ = wb::make_detector(wb::completed(c));
  }

  void run(std::size_t n, const float* channel, const float* received, const float* noise_var, float* llr) {
    const std::size_t rx = static_cast<std::size_t>(made_->rx_antennas()),
                      streams = static_cast<std::size_t>(made_->streams()), bits = made_->bits_per_use();
    wb::c::product("n", n, rx * streams + bits);
    wb::c::lease lane = device_.take();
    wb::executor& exec = lane.exec();
    const auto h = channel_.input(exec, channel, n, rx * streams);
    const auto y = received_.input(exec, received, n, rx);
    const auto n0 = noise_var_.input(exec, noise_var, n, 1);
    const auto out = llr_.output(exec, llr, n, bits);
    made_->run(exec, {.channel = h, .received = y, .noise_var = n0}, {.llr = out});
    llr_.fetch(exec, llr, out);
    exec.sync();
    lane.give_back();
  }

 private:
  wb_device& device_;
  std::unique_ptr<wb::detector> made_;
  wb::c::transfer<std::complex<float>> channel_, received_;
  wb::c::transfer<float> noise_var_, llr_;
};

extern "C" {

wb_status wb_detector_open(wb_device* device, const char* kind, const char* settings, uint32_t rx_antennas,
                           uint32_t streams, uint32_t bits_per_symbol, wb_detector** detector) {
  return wb::c::guarded([&] {
    wb::c::check_given("detector", detector);
    *detector = nullptr;
    wb::c::check_given("device", device);
    wb::c::check_given("kind", kind);
    *detector = new wb_detector(*device, kind, settings, rx_antennas, streams, bits_per_symbol);
  });
}
void wb_detector_close(wb_detector* detector) { delete detector; }

wb_status wb_detect(wb_detector* detector, size_t n, const float* channel, const float* received,
                    const float* noise_var, float* llr) {
  return wb::c::guarded([&] {
    wb::c::check_given("detector", detector);
    if (n == 0) return;
    wb::c::check_given("channel", channel);
    wb::c::check_given("received", received);
    wb::c::check_given("noise_var", noise_var);
    wb::c::check_given("llr", llr);
    detector->run(n, channel, received, noise_var, llr);
  });
}

}  // extern "C"
