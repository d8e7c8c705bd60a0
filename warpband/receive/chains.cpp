#include <warpband/receive/chains.hpp>

#include <complex>
#include <string>
#include <utility>
#include <variant>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/error.hpp>
#include <warpband/receive/open_loop.hpp>

namespace wb {

const std::vector<setting_of<uplink_chain_config>>& uplink_chain_settings() {
  using c = uplink_chain_config;
  static const std::vector<setting_of<c>> settings{
      words("samples", &c::half, {{"complex64", false}, {"complex32", true}},
            "H and y, of precode H alone, as pairs of floats or of halves. Halves cross the bus in half the "
            "time, and all is computed in float32."),
      words("llr", &c::llr_int8, {{"float32", false}, {"int8", true}},
            "LLRs as floats, or in 8 bits: the nearest of +-127 steps.")};
  return settings;
}

std::size_t size_of(element_type type) noexcept {
  switch (type) {
    case element_type::uint8:
    case element_type::int8:
      return 1;
    case element_type::int32:
    case element_type::float32:
    case element_type::complex32:
      return 4;
    case element_type::complex64:
      return 8;
  }
  return 0;
}
const char* name_of(element_type type) noexcept {
  switch (type) {
    case element_type::uint8:
      return "uint8";
    case element_type::int8:
      return "int8";
    case element_type::int32:
      return "int32";
    case element_type::float32:
      return "float32";
    case element_type::complex32:
      return "complex32";
    case element_type::complex64:
      return "complex64";
  }
  return "?";
}
std::size_t offset_of(const std::vector<frame_port>& ports, std::size_t index, std::size_t items) noexcept {
  std::size_t offset = 0;
  for (std::size_t i = 0; i < index; i++) offset += (ports[i].bytes_of(items) + 255) / 256 * 256;
  return offset;
}

void check_items(const frame_receiver& receiver, const char* argument, std::size_t items,
                 std::size_t greatest) {
  constexpr std::size_t limit = std::size_t{1} << 31;
  const std::size_t unit = receiver.multiple(), least = receiver.least_items();
  if (greatest > limit || greatest < least) greatest = limit;
  if (items >= least && items <= greatest && items % unit == 0) return;
  throw argument_error(argument, std::to_string(items),
                       (unit == 1 ? std::string() : "a multiple of " + std::to_string(unit) + " from ") +
                           std::to_string(least) + " to " + std::to_string(greatest));
}

namespace {

using cx64 = std::complex<float>;
constexpr element_type c64 = element_type::complex64, f32 = element_type::float32;

frame_port shared_noise() {
  return {.name = "noise_var", .type = f32, .elements = 1, .rows = 1, .per_items = 0};
}
frame_port status_port() { return {.name = "status", .type = element_type::uint8, .elements = 1}; }

/// Array `index` of a frame.
template <class T>
view<const T> input(const std::vector<frame_port>& ports, const frame_arrays& f, std::size_t index) {
  const frame_port& p = ports[index];
  view<const T> v = make_view(static_cast<const T*>(f.inputs[index]), p.rows_of(f.items), p.elements);
  return v;
}
template <class T>
view<T> output(const std::vector<frame_port>& ports, const frame_arrays& f, std::size_t index) {
  const frame_port& p = ports[index];
  return make_view(static_cast<T*>(f.outputs[index]), p.rows_of(f.items), p.elements);
}
/// One number for all `items`.
view<const float> noise_of(const frame_arrays& f, std::size_t index, std::size_t items) {
  return {static_cast<const float*>(f.inputs[index]), 1, items, 1, 0};
}

std::unique_ptr<frame_receiver> made(frame_receiver_parts parts) {
  return std::make_unique<frame_receiver>(std::move(parts));
}
/// Of one stage without memory of its own.
template <class Queue>
auto one_stage(Queue queue) {
  return [queue = std::move(queue)](executor& exec, std::size_t) -> frame_run {
    return [&exec, queue](std::size_t, const frame_arrays& f) { queue(exec, f); };
  };
}
void check_shared(const char* argument, std::size_t items) {
  if (items < 1 || items > std::size_t{1} << 30)
    throw argument_error(argument, std::to_string(items), "1 to 2^30");
}

// ---- detect, decode

/// Of a detector with so many antennas: its name, inputs and granularity.
frame_receiver_parts of_detector(const char* name, const detector& d, std::size_t uses_per_channel) {
  check_shared("uses_per_channel", uses_per_channel);
  const std::size_t s = as_size(d.streams()), r = as_size(d.rx_antennas());
  return {.name = name,
          .inputs = {{.name = "channel", .type = c64, .elements = r * s, .per_items = uses_per_channel},
                     {.name = "received", .type = c64, .elements = r},
                     shared_noise()}};
}
/// The first uses of a frame.
heard heard_of(const std::vector<frame_port>& in, const frame_arrays& f, std::size_t uses) {
  const frame_port &h = in[0], &y = in[1];
  return {.channel = make_view(static_cast<const cx64*>(f.inputs[0]), h.rows_of(uses), h.elements),
          .uses_per_channel = h.per_items,
          .received = make_view(static_cast<const cx64*>(f.inputs[1]), uses, y.elements),
          .noise_var = noise_of(f, 2, uses)};
}

/// A receiver that decides codewords; their `per_items` and `rows` are those of a port. `uses`: those of a
/// codeword, if only whole codewords are received, else 0. `make`(whether it may wait) makes the receiver.
template <class Make>
std::unique_ptr<frame_receiver> decides(frame_receiver_parts parts, const frame_port& codewords,
                                        std::size_t k, std::size_t uses, Make make) {
  parts.outputs = {codewords, codewords};
  parts.outputs[0].name = "bits", parts.outputs[0].type = element_type::uint8, parts.outputs[0].elements = k;
  parts.outputs[1].name = "iterations", parts.outputs[1].type = element_type::int32;
  parts.least_items = (codewords.per_items + codewords.rows - 1) / codewords.rows;
  parts.stages = make(false)->stages();
  parts.attach = [in = parts.inputs, out = parts.outputs, uses, make](executor& exec,
                                                                      std::size_t max_items) -> frame_run {
    const std::shared_ptr<receiver> r = make(!exec.is_device());
    r->allocate(exec, max_items);
    return [=, &exec](std::size_t stage, const frame_arrays& f) {
      const std::size_t taken = uses == 0 ? f.items : out[0].rows_of(f.items) * uses;
      r->run_stage(exec, stage, heard_of(in, f, taken),
                   {.bits = output<std::uint8_t>(out, f, 0), .iterations = output<std::int32_t>(out, f, 1)});
    };
  };
  return made(std::move(parts));
}

// ---- massive MIMO

/// A detector or precoder of all antennas, or one in clusters.
template <class Whole, class Clustered, class Config>
auto massive_kernel(const Config& c, int clusters, massive_cluster_method method) {
  using kernel = std::variant<Whole, Clustered>;
  if (clusters == 1 && method == massive_cluster_method::exact)
    return std::make_shared<const kernel>(std::in_place_type<Whole>, c);
  using settings = std::remove_cvref_t<decltype(std::declval<const Clustered&>().config())>;
  return std::make_shared<const kernel>(std::in_place_type<Clustered>, settings{c, clusters, method});
}

template <class Input, class Sample, class Kernel>
auto detects_uplink(const Kernel& kernel, const frame_receiver_parts& p, int symbols) {
  return one_stage([kernel, h = p.inputs[0], y = p.inputs[1], llr = p.outputs[0], symbols, splits = p.splits](
                       executor& exec, const frame_arrays& f) {
    const std::size_t frames = (splits == 1 ? f.items : f.frame_items) / as_size(symbols);
    const std::size_t vectors = frames * as_size(symbols) / splits;  // of a split
    const auto from = [](auto* data, const frame_port& port, std::size_t first, std::size_t rows) {
      return make_view(data + first * port.elements, rows, port.elements);
    };
    for (std::size_t first = 0; first < f.items; first += vectors) {
      uplink_output out;
      if (llr.type == element_type::int8)
        out.llr_int8 = from(static_cast<std::int8_t*>(f.outputs[0]), llr, first, vectors);
      else
        out.llr = from(static_cast<float*>(f.outputs[0]), llr, first, vectors);
      out.status = make_view(static_cast<std::uint8_t*>(f.outputs[1]) + first, vectors);
      const Input in{.channel = from(static_cast<const Sample*>(f.inputs[0]), h, 0, frames),
                     .received = from(static_cast<const Sample*>(f.inputs[1]), y, first, vectors),
                     .noise_var = noise_of(f, 2, frames),
                     .symbols = symbols / static_cast<int>(splits)};
      std::visit([&](const auto& k) { k.run(exec, in, out); }, *kernel);
    }
  });
}
template <class Input, class Sample, class Kernel>
auto precodes(const Kernel& kernel, const frame_receiver_parts& p, int symbols) {
  return one_stage(
      [kernel, inputs = p.inputs, outputs = p.outputs, symbols](executor& exec, const frame_arrays& f) {
        const view<const Sample> h = input<Sample>(inputs, f, 0);
        const Input in{.channel = h,
                       .sent = input<cx64>(inputs, f, 1),
                       .noise_var = noise_of(f, 2, h.items),
                       .symbols = symbols};
        std::visit(
            [&](const auto& k) {
              k.run(exec, in, output<cx64>(outputs, f, 0), output<std::uint8_t>(outputs, f, 1));
            },
            *kernel);
      });
}

}  // namespace

std::unique_ptr<frame_receiver> make_detect_chain(const detect_chain_config& c) {
  const std::shared_ptr<const detector> d = make_detector(c.detector);
  frame_receiver_parts p = of_detector("detect", *d, c.uses_per_channel);
  p.outputs = {{.name = "llr", .type = f32, .elements = d->bits_per_use()}, status_port()};
  p.stages = {"detect"};
  p.granularity = c.uses_per_channel;
  p.attach = one_stage([d, in = p.inputs, out = p.outputs](executor& exec, const frame_arrays& f) {
    const heard h = heard_of(in, f, f.items);
    d->run(exec, {h.channel, h.uses_per_channel, h.received, h.noise_var, {}},
           {.llr = output<float>(out, f, 0), .bits = {}, .status = output<std::uint8_t>(out, f, 1)});
  });
  return made(std::move(p));
}

std::unique_ptr<frame_receiver> make_decode_chain(const detect_chain_config& c,
                                                  std::shared_ptr<const soft_decoder> decoder) {
  if (!decoder) throw argument_error("decoder", "null", "a decoder");
  const std::shared_ptr<const detector> d = make_detector(c.detector);
  const std::shared_ptr<const soft_detector> open = make_open_detector(c.detector);
  const std::size_t n = decoder->n(), k = decoder->k();
  return decides(of_detector("decode", *d, c.uses_per_channel),
                 {.rows = d->bits_per_use(), .per_items = n, .rounds_up = false}, k, 0,
                 [open, decoder, n](bool) { return make_open_loop(open, decoder, 1, n); });
}
std::unique_ptr<frame_receiver> make_decode_chain(const detect_chain_config& c,
                                                  std::shared_ptr<const codec> code) {
  if (!code) throw argument_error("code", "null", "a code");
  return make_decode_chain(c, std::shared_ptr<const soft_decoder>(make_hard_decoder(std::move(code))));
}
std::unique_ptr<frame_receiver> make_receive_chain(const detect_chain_config& c,
                                                   const iterative_receiver& receiver) {
  const std::size_t uses = receiver.uses_per_frame(), bits = receiver.detector().bits_per_use();
  const std::unique_ptr<detector> d = make_detector(c.detector);
  if (d->bits_per_use() != bits)
    throw argument_error("receiver", "one of " + std::to_string(bits) + " bits in a use",
                         "the detector's " + std::to_string(d->bits_per_use()));
  return decides(of_detector("decode", *d, c.uses_per_channel), {.per_items = uses, .rounds_up = false},
                 receiver.k(), uses, [receiver](bool waits) { return make_loop(receiver, waits); });
}

std::unique_ptr<frame_receiver> make_uplink_chain(const uplink_chain_config& c) {
  const auto kernel =
      massive_kernel<uplink_detector, clustered_uplink_detector>(c.detector, c.clusters, c.cluster_method);
  check_range("symbols", c.symbols, 1, 1 << 20);
  if (c.splits < 1 || c.symbols % c.splits != 0)
    throw argument_error("splits", std::to_string(c.splits),
                         "a divisor of symbols = " + std::to_string(c.symbols));
  const std::size_t b = as_size(c.detector.antennas), u = as_size(c.detector.users),
                    shared = as_size(c.symbols);
  const element_type samples = c.half ? element_type::complex32 : c64;
  frame_receiver_parts p{
      .name = "uplink",
      .inputs = {{.name = "channel",
                  .type = samples,
                  .elements = b * u,
                  .per_items = shared,
                  .whole = c.splits > 1},
                 {.name = "received", .type = samples, .elements = b},
                 shared_noise()},
      .outputs = {{.name = "llr",
                   .type = c.llr_int8 ? element_type::int8 : f32,
                   .elements = std::visit([](const auto& k) { return k.bits_per_vector(); }, *kernel)},
                  status_port()},
      .stages = {"uplink"},
      .granularity = shared,
      .splits = as_size(c.splits),
      .multiple = shared};
  if (c.half)
    p.attach = detects_uplink<uplink_half_input, half_complex>(kernel, p, c.symbols);
  else
    p.attach = detects_uplink<uplink_input, cx64>(kernel, p, c.symbols);
  return made(std::move(p));
}

std::unique_ptr<frame_receiver> make_precode_chain(const precode_chain_config& c) {
  const auto kernel = massive_kernel<downlink_precoder, clustered_downlink_precoder>(c.precoder, c.clusters,
                                                                                     c.cluster_method);
  check_range("symbols", c.symbols, 1, 1 << 20);
  const std::size_t b = as_size(c.precoder.antennas), u = as_size(c.precoder.users),
                    shared = as_size(c.symbols);
  frame_receiver_parts p{.name = "precode",
                         .inputs = {{.name = "channel",
                                     .type = c.half ? element_type::complex32 : c64,
                                     .elements = b * u,
                                     .per_items = shared},
                                    {.name = "sent", .type = c64, .elements = u},
                                    shared_noise()},
                         .outputs = {{.name = "precoded", .type = c64, .elements = b}, status_port()},
                         .stages = {"precode"},
                         .granularity = shared,
                         .multiple = shared,
                         .bits = 4 * static_cast<double>(u)};  // as the papers count: 16-QAM
  if (c.half)
    p.attach = precodes<downlink_half_input, half_complex>(kernel, p, c.symbols);
  else
    p.attach = precodes<downlink_input, cx64>(kernel, p, c.symbols);
  return made(std::move(p));
}

std::unique_ptr<frame_receiver> make_stbc_chain(const stbc_chain_config& c) {
  const auto decoder = std::make_shared<const stbc_decoder>(c.decoder);
  check_shared("codewords_per_channel", c.codewords_per_channel);
  const space_time_code& code = c.decoder.code;
  const std::size_t r = as_size(c.decoder.rx_antennas),
                    gains = as_size(code.channels() * code.tx_antennas()) * r;
  frame_receiver_parts p{
      .name = "stbc",
      .inputs = {{.name = "channel", .type = c64, .elements = gains, .per_items = c.codewords_per_channel},
                 {.name = "received", .type = c64, .elements = as_size(code.uses()) * r},
                 shared_noise()},
      .outputs = {{.name = "llr", .type = f32, .elements = decoder->bits_per_codeword()}, status_port()},
      .stages = {"stbc"},
      .granularity = c.codewords_per_channel};
  p.attach = one_stage([decoder, in = p.inputs, out = p.outputs](executor& exec, const frame_arrays& f) {
    const heard h = heard_of(in, f, f.items);
    decoder->run(exec, {h.channel, h.uses_per_channel, h.received, h.noise_var, {}},
                 {.llr = output<float>(out, f, 0), .bits = {}, .status = output<std::uint8_t>(out, f, 1)});
  });
  return made(std::move(p));
}

}  // namespace wb
