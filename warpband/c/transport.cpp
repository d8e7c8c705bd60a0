// Transport blocks of 5G NR and LTE, and polar codes of 5G NR and general ones.
#include <memory>
#include <optional>

#include <warpband/c/device.hpp>
#include <warpband/c/errors.hpp>
#include <warpband/c/operations.hpp>
#include <warpband/c/packed_rows.hpp>
#include <warpband/c/settings_text.hpp>
#include <warpband/c/transfer.hpp>
#include <warpband/fec/lte/transport.hpp>
#include <warpband/fec/nr/tbs.hpp>
#include <warpband/fec/nr/transport.hpp>
#include <warpband/fec/polar/polar.hpp>

namespace wb::c {
namespace {

harq_format harq_format_of(std::uint32_t format) {
  if (format != WB_HARQ_INT8 && format != WB_HARQ_FLOAT16)
    throw argument_error("harq_format", std::to_string(format), "WB_HARQ_INT8 or WB_HARQ_FLOAT16");
  return static_cast<harq_format>(format);
}

/// Encoder and decoder of a transport channel.
/// Threads: one at a time.
template <class Encoder, class Decoder, class Output>
class transport_channel {
 public:
  template <class Config>
  transport_channel(wb_device& device, const Config& config)
      : lane_(device), encoder_(config), decoder_(config) {}
  std::size_t blocks() const noexcept { return static_cast<std::size_t>(decoder_.segmentation().blocks); }
  std::size_t harq_bytes(harq_format format) const noexcept { return decoder_.harq_bytes(format); }

  void encode(std::size_t n, const std::uint8_t* bits, std::uint32_t rv, std::uint8_t* coded) {
    executor& exec = lane_.exec();
    check_batch(n);
    const auto in = bits_.input(exec, bits, n, transport_bits());
    const auto out = coded_.output(exec, coded, n, coded_bits());
    encoder_.run(exec, in, as_count(rv), out);
    coded_.fetch(exec, coded, out);
  }
  void decode(std::size_t n, const wb_transport_decode& op) {
    executor& exec = lane_.exec();
    const bool first = (op.flags & WB_FIRST) != 0;
    check_batch(n);
    if (!first && op.harq == nullptr && batch_ == 0)
      throw argument_error("flags", "0", "WB_FIRST, as nothing was received before");
    if (!first && op.harq == nullptr && n != batch_)
      throw shape_error("n", std::to_string(n), std::to_string(batch_) + ", as in the first transmission");
    // All is looked at before a copy is queued: a call that is refused leaves the caller's memory alone.
    if (op.rv > 3) throw argument_error("rv", std::to_string(op.rv), "0..3");
    check_format(op.llr_format, op.llr_scale);
    harq_memory harq;
    harq.scale = op.harq_scale;
    if (op.harq != nullptr) {
      harq.format = harq_format_of(op.harq_format);
      const std::size_t bytes = harq_bytes(harq.format);
      product("n", n, bytes);
      harq.data = make_view(static_cast<std::uint8_t*>(op.harq), n, bytes);
      decoder_.check_memory(harq);
      harq.data = harq_.output(exec, op.harq, n, bytes);
      if (!first && harq.data.data != op.harq) exec.upload(harq.data.data, op.harq, n * bytes);
    }
    Output out;
    out.bits = bits_.output(exec, op.bits, n, transport_bits());
    out.ok = ok_.output(exec, op.ok, n, 1);
    out.iterations = iterations_.output(exec, op.iterations, n, blocks());
    out.status = status_.output(exec, op.status, n, 1);
    const llr_batch in = llr_.input(exec, op.llr, op.llr_format, op.llr_scale, n, coded_bits());
    batch_ = 0;  // after an error the next call has to be a first one: these LLRs may be in the sums already
    if (first)
      decoder_.reset();
    else if (op.harq != nullptr)
      decoder_.resume(exec, harq);
    decoder_.combine(exec, in, as_count(op.rv));
    if (op.harq != nullptr) {
      decoder_.keep(exec, harq);
    }
    decoder_.decode(exec, out);
    if (op.harq == nullptr)
      batch_ = n;
    else
      harq_.fetch(exec, op.harq, harq.data);
    ok_.fetch(exec, op.ok, out.ok);
    iterations_.fetch(exec, op.iterations, out.iterations);
    status_.fetch(exec, op.status, out.status);
    bits_.fetch(exec, op.bits, out.bits);
    exec.sync();
  }

 private:
  std::size_t transport_bits() const noexcept {
    return static_cast<std::size_t>(decoder_.config().transport_bits);
  }
  std::size_t coded_bits() const noexcept { return static_cast<std::size_t>(decoder_.config().coded_bits); }
  void check_batch(std::size_t n) const { product("n", n, 8 * (transport_bits() + coded_bits())); }

  kept_lane lane_;
  Encoder encoder_;
  Decoder decoder_;
  std::size_t batch_ = 0;  // of what was received, 0: nothing, or it is in the caller's memory
  packed_rows bits_, coded_;
  llr_transfer llr_;
  transfer<std::uint8_t> ok_, status_, harq_;
  transfer<std::int32_t> iterations_;
};

template <class Config, class Part>
std::vector<setting_of<Config>> joined(std::vector<setting_of<Config>> settings, Part part,
                                       const auto& more) {
  for (auto& s : within<Config>(part, more)) settings.push_back(std::move(s));
  return settings;
}

template <class Channel, class Config>
void open_channel(wb_device* device, const char* text, const std::vector<setting_of<Config>>& settings,
                  Channel** channel) {
  check_given("transport", channel);
  *channel = nullptr;
  check_given("device", device);
  Config config;
  take_settings(settings, text, {}, config);
  check(config);
  *channel = new Channel(*device, config);
}
template <class Channel>
wb_status encode(Channel* channel, std::size_t n, const std::uint8_t* bits, std::uint32_t rv,
                 std::uint8_t* coded) {
  return guarded([&] {
    check_given("transport", channel);
    if (n == 0) return;
    check_given("bits", bits);
    check_given("coded", coded);
    channel->encode(n, bits, rv, coded);
  });
}
template <class Channel>
wb_status decode(Channel* channel, std::size_t n, const wb_transport_decode* op) {
  return guarded([&] {
    check_given("transport", channel);
    if (n == 0) return;
    wb_transport_decode read;
    caller_structures("op", op, 1).read(0, &read, sizeof read);
    check_flags(read.flags, WB_FIRST);
    check_reserved("reserved", read.reserved);
    check_given("llr", read.llr);
    channel->decode(n, read);
  });
}

template <class Channel>
std::size_t harq_bytes(const Channel* channel, std::uint32_t format) {
  if (channel == nullptr || (format != WB_HARQ_INT8 && format != WB_HARQ_FLOAT16)) return 0;
  return channel->harq_bytes(static_cast<harq_format>(format));
}

struct polar_configs {
  polar_config code;
  polar_decoder_config decoder;
};

}  // namespace
}  // namespace wb::c

using namespace wb::c;

struct wb_nr_transport final
    : transport_channel<wb::nr_transport_encoder, wb::nr_transport_decoder, wb::nr_transport_output> {
  using transport_channel::transport_channel;
};
struct wb_lte_transport final
    : transport_channel<wb::lte_transport_encoder, wb::lte_transport_decoder, wb::lte_transport_output> {
  using transport_channel::transport_channel;
};

/// Threads: one at a time.
struct wb_polar {
 public:
  wb_polar(wb_device& device, const polar_configs& c)
      : device_(device), encoder_(c.code), decoder_(c.code, c.decoder) {}
  void encode(std::size_t n, const std::uint8_t* bits, std::uint8_t* coded) {
    check_batch(n);
    lease lane = device_.take();
    wb::executor& exec = lane.exec();
    const auto in = bits_.input(exec, bits, n, k());
    const auto out = coded_.output(exec, coded, n, coded_bits());
    encoder_.run(exec, in, out);
    coded_.fetch(exec, coded, out);
    lane.give_back();
  }
  void decode(std::size_t n, const void* llr, std::uint32_t llr_format, float llr_scale, std::uint8_t* bits,
              std::uint8_t* status) {
    check_batch(n);
    lease lane = device_.take();
    wb::executor& exec = lane.exec();
    const wb::llr_batch in = llr_.input(exec, llr, llr_format, llr_scale, n, coded_bits());
    const wb::polar_decoder_output out{.bits = bits_.output(exec, bits, n, k()),
                                       .status = status_.output(exec, status, n, 1)};
    decoder_.run(exec, in, out);
    status_.fetch(exec, status, out.status);
    bits_.fetch(exec, bits, out.bits);
    exec.sync();
    lane.give_back();
  }

 private:
  std::size_t k() const noexcept { return encoder_.code().k(); }
  std::size_t coded_bits() const noexcept { return encoder_.code().coded_bits(); }
  void check_batch(std::size_t n) const { product("n", n, 8 * (k() + coded_bits())); }

  wb_device& device_;
  wb::polar_encoder encoder_;
  wb::polar_decoder decoder_;
  packed_rows bits_, coded_;
  llr_transfer llr_;
  transfer<std::uint8_t> status_;
};

extern "C" {

wb_status wb_nr_transport_open(wb_device* device, const char* settings, wb_nr_transport** transport) {
  using config = wb::nr_transport_config;
  return guarded([&] {
    static const auto known = joined<config>(
        wb::nr_transport_config_settings(), [](config& c) -> auto& { return c.ldpc; },
        wb::ldpc_decoder_settings());
    open_channel(device, settings, known, transport);
  });
}
void wb_nr_transport_close(wb_nr_transport* transport) { delete transport; }
size_t wb_nr_transport_blocks(const wb_nr_transport* transport) {
  return transport == nullptr ? 0 : transport->blocks();
}
wb_status wb_nr_transport_encode(wb_nr_transport* transport, size_t n, const uint8_t* bits, uint32_t rv,
                                 uint8_t* coded) {
  return encode(transport, n, bits, rv, coded);
}
size_t wb_nr_transport_harq_bytes(const wb_nr_transport* transport, uint32_t harq_format) {
  return harq_bytes(transport, harq_format);
}
wb_status wb_nr_transport_decode(wb_nr_transport* transport, size_t n, const wb_transport_decode* op) {
  return decode(transport, n, op);
}
wb_status wb_nr_transport_bits(uint32_t resource_elements, uint32_t mcs_table, uint32_t mcs, uint32_t layers,
                               uint32_t* bits) {
  return guarded([&] {
    check_given("bits", bits);
    *bits = static_cast<uint32_t>(wb::nr_transport_block_size(
        as_count(resource_elements), wb::nr_mcs_of(as_count(mcs_table), as_count(mcs)), as_count(layers)));
  });
}

wb_status wb_lte_transport_open(wb_device* device, const char* settings, wb_lte_transport** transport) {
  using config = wb::lte_transport_config;
  return guarded([&] {
    static const auto known = joined<config>(
        wb::lte_transport_config_settings(), [](config& c) -> auto& { return c.turbo; },
        wb::turbo_decoder_settings());
    open_channel(device, settings, known, transport);
  });
}
void wb_lte_transport_close(wb_lte_transport* transport) { delete transport; }
size_t wb_lte_transport_blocks(const wb_lte_transport* transport) {
  return transport == nullptr ? 0 : transport->blocks();
}
wb_status wb_lte_transport_encode(wb_lte_transport* transport, size_t n, const uint8_t* bits, uint32_t rv,
                                  uint8_t* coded) {
  return encode(transport, n, bits, rv, coded);
}
size_t wb_lte_transport_harq_bytes(const wb_lte_transport* transport, uint32_t harq_format) {
  return harq_bytes(transport, harq_format);
}
wb_status wb_lte_transport_decode(wb_lte_transport* transport, size_t n, const wb_transport_decode* op) {
  return decode(transport, n, op);
}

wb_status wb_polar_open(wb_device* device, const char* settings, wb_polar** polar) {
  return guarded([&] {
    check_given("polar", polar);
    *polar = nullptr;
    check_given("device", device);
    static const auto known = joined<polar_configs>(
        wb::within<polar_configs>([](polar_configs& c) -> auto& { return c.code; }, wb::polar_settings()),
        [](polar_configs& c) -> auto& { return c.decoder; }, wb::polar_decoder_settings());
    polar_configs c;
    take_settings(known, settings, {}, c);
    wb::check(c.code, c.decoder);
    *polar = new wb_polar(*device, c);
  });
}
void wb_polar_close(wb_polar* polar) { delete polar; }
wb_status wb_polar_encode(wb_polar* polar, size_t n, const uint8_t* bits, uint8_t* coded) {
  return guarded([&] {
    check_given("polar", polar);
    if (n == 0) return;
    check_given("bits", bits);
    check_given("coded", coded);
    polar->encode(n, bits, coded);
  });
}
wb_status wb_polar_decode(wb_polar* polar, size_t n, const void* llr, uint32_t llr_format, float llr_scale,
                          uint8_t* bits, uint8_t* status) {
  return guarded([&] {
    check_given("polar", polar);
    if (n == 0) return;
    check_given("llr", llr);
    polar->decode(n, llr, llr_format, llr_scale, bits, status);
  });
}

}  // extern "C"
