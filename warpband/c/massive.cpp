// Massive MIMO: detection in the uplink, precoding in the downlink.
#include <warpband/c/device.hpp>
#include <warpband/c/errors.hpp>
#include <warpband/c/settings_text.hpp>
#include <warpband/c/transfer.hpp>
#include <warpband/massive/downlink/downlink.hpp>
#include <warpband/massive/uplink/uplink.hpp>

namespace {

using wb::c::as_count;
using wb::c::check_given;
using cx = std::complex<float>;

/// Vectors of a call. Throws argument_error, shape_error.
std::size_t vectors_of(std::size_t frames, std::size_t symbols, std::size_t antennas, std::size_t users) {
  if (symbols < 1 || symbols > std::size_t{1} << 20)
    throw wb::argument_error("symbols", std::to_string(symbols), "1..2^20 vectors of a frame");
  const std::size_t vectors = wb::c::product("frames", frames, symbols);
  wb::c::product("frames", vectors, 8 * (antennas + users));
  wb::c::product("frames", frames, antennas * users);
  return vectors;
}

}  // namespace

/// Threads: one at a time.
struct wb_uplink {
 public:
  wb_uplink(wb_device& device, const wb::uplink_config& config) : device_(device), detector_(config) {}
  void run(std::size_t frames, std::size_t symbols, const float* channel, const float* received,
           const float* noise_var, float* llr, float* equalized, float* sinr, std::uint8_t* status) {
    const std::size_t antennas = static_cast<std::size_t>(detector_.config().antennas),
                      users = static_cast<std::size_t>(detector_.config().users);
    const std::size_t vectors = vectors_of(frames, symbols, antennas, users);
    wb::c::lease lane = device_.take();
    wb::executor& exec = lane.exec();
    const wb::uplink_input in{.channel = channel_.input(exec, channel, frames, antennas * users),
                              .received = received_.input(exec, received, vectors, antennas),
                              .noise_var = noise_var_.input(exec, noise_var, frames, 1),
                              .symbols = static_cast<int>(symbols)};
    const wb::uplink_output out{.llr = llr_.output(exec, llr, vectors, detector_.bits_per_vector()),
                                .llr_int8 = {},
                                .equalized = equalized_.output(exec, equalized, vectors, users),
                                .sinr = sinr_.output(exec, sinr, vectors, users),
                                .status = status_.output(exec, status, vectors, 1)};
    detector_.run(exec, in, out);
    llr_.fetch(exec, llr, out.llr);
    equalized_.fetch(exec, equalized, out.equalized);
    sinr_.fetch(exec, sinr, out.sinr);
    status_.fetch(exec, status, out.status);
    exec.sync();
    lane.give_back();
  }

 private:
  wb_device& device_;
  wb::uplink_detector detector_;
  wb::c::transfer<cx> channel_, received_, equalized_;
  wb::c::transfer<float> noise_var_, llr_, sinr_;
  wb::c::transfer<std::uint8_t> status_;
};

/// Threads: one at a time.
struct wb_downlink {
 public:
  wb_downlink(wb_device& device, const wb::downlink_config& config) : device_(device), precoder_(config) {}
  void run(std::size_t frames, std::size_t symbols, const float* channel, const float* sent,
           const float* noise_var, float* precoded, std::uint8_t* status) {
    const std::size_t antennas = static_cast<std::size_t>(precoder_.config().antennas),
                      users = static_cast<std::size_t>(precoder_.config().users);
    const std::size_t vectors = vectors_of(frames, symbols, antennas, users);
    wb::c::lease lane = device_.take();
    wb::executor& exec = lane.exec();
    const wb::downlink_input in{.channel = channel_.input(exec, channel, frames, antennas * users),
                                .sent = sent_.input(exec, sent, vectors, users),
                                .noise_var = noise_var_.input(exec, noise_var, frames, 1),
                                .symbols = static_cast<int>(symbols)};
    const auto out = precoded_.output(exec, precoded, vectors, antennas);
    const auto marks = status_.output(exec, status, vectors, 1);
    precoder_.run(exec, in, out, marks);
    precoded_.fetch(exec, precoded, out);
    status_.fetch(exec, status, marks);
    exec.sync();
    lane.give_back();
  }

 private:
  wb_device& device_;
  wb::downlink_precoder precoder_;
  wb::c::transfer<cx> channel_, sent_, precoded_;
  wb::c::transfer<float> noise_var_;
  wb::c::transfer<std::uint8_t> status_;
};

extern "C" {

wb_status wb_uplink_open(wb_device* device, const char* settings, uint32_t antennas, uint32_t users,
                         uint32_t bits_per_symbol, wb_uplink** uplink) {
  return wb::c::guarded([&] {
    check_given("uplink", uplink);
    *uplink = nullptr;
    check_given("device", device);
    if (bits_per_symbol < 2 || bits_per_symbol > 8 || bits_per_symbol % 2 != 0)
      throw wb::argument_error("bits_per_symbol", std::to_string(bits_per_symbol), "2, 4, 6 or 8");
    wb::uplink_config c;
    c.antennas = as_count(antennas);
    c.users = as_count(users);
    c.qam = 1 << bits_per_symbol;
    wb::c::take_settings(wb::uplink_settings(), settings, {"antennas", "users", "qam", "llr_steps"}, c);
    *uplink = new wb_uplink(*device, c);
  });
}
void wb_uplink_close(wb_uplink* uplink) { delete uplink; }
wb_status wb_uplink_run(wb_uplink* uplink, size_t frames, size_t symbols, const float* channel,
                        const float* received, const float* noise_var, float* llr, float* equalized,
                        float* sinr, uint8_t* status) {
  return wb::c::guarded([&] {
    check_given("uplink", uplink);
    if (frames == 0) return;
    check_given("channel", channel);
    check_given("received", received);
    check_given("noise_var", noise_var);
    uplink->run(frames, symbols, channel, received, noise_var, llr, equalized, sinr, status);
  });
}

wb_status wb_downlink_open(wb_device* device, const char* settings, uint32_t antennas, uint32_t users,
                           wb_downlink** downlink) {
  return wb::c::guarded([&] {
    check_given("downlink", downlink);
    *downlink = nullptr;
    check_given("device", device);
    wb::downlink_config c;
    c.antennas = as_count(antennas);
    c.users = as_count(users);
    wb::c::take_settings(wb::downlink_settings(), settings, {"antennas", "users"}, c);
    *downlink = new wb_downlink(*device, c);
  });
}
void wb_downlink_close(wb_downlink* downlink) { delete downlink; }
wb_status wb_downlink_run(wb_downlink* downlink, size_t frames, size_t symbols, const float* channel,
                          const float* sent, const float* noise_var, float* precoded, uint8_t* status) {
  return wb::c::guarded([&] {
    check_given("downlink", downlink);
    if (frames == 0) return;
    check_given("channel", channel);
    check_given("sent", sent);
    check_given("noise_var", noise_var);
    check_given("precoded", precoded);
    downlink->run(frames, symbols, channel, sent, noise_var, precoded, status);
  });
}

}  // extern "C"
