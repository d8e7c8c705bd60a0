#include <warpband/receive/wimax/frame.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/estimate/estimator.hpp>
#include <warpband/fec/puncture/puncture.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/receive/wimax/frame_args.hpp>

namespace wb {

WB_DECLARE_KERNEL(grid_copy)
WB_DECLARE_KERNEL(burst_noise)
WB_DECLARE_KERNEL(map_combine)
WB_DECLARE_KERNEL(map_read)

namespace {

constexpr std::size_t slots = 2, tx = 2;
constexpr std::size_t most_items = std::size_t{1} << 31;

std::string name_of_code(std::size_t i) { return "codes[" + std::to_string(i) + "]"; }

/// The sizes of a burst's code. Errors say which.
code_sizes sizes_of_code(const wimax_link_config& c, std::size_t i) {
  try {
    if (is_transport(c.codes[i]))
      throw argument_error("code.type", "\"" + c.codes[i].type + "\"",
                           "a code that decodes each frame by itself");
    return sizes_of(completed(c.codes[i]));
  } catch (const argument_error& e) {
    throw argument_error(name_of_code(i) + "." + e.argument(), e.value(), e.allowed());
  }
}

stbc_config space_time_of(const wimax_link_config& c, int qam) {
  stbc_config s = c.space_time;
  s.qam = qam;
  return s;
}

/// The codewords of a burst in a grid; of `grid` the data and strides are looked at.
template <class T>
grid_piece piece_of(const frame_grid<T>& grid, const wimax_burst& b) {
  grid_piece p;
  p.tones = static_cast<std::uint32_t>(b.tones);
  p.steps = static_cast<std::uint32_t>(b.symbols / 2);
  p.slots = slots;
  p.antennas = static_cast<std::uint32_t>(grid.antennas);
  p.frame_stride = grid.frame_stride;
  p.tone_stride = grid.tone_stride;
  p.step_stride = slots * grid.symbol_stride;
  p.slot_stride = grid.symbol_stride;
  p.antenna_stride = grid.antenna_stride;
  return p;
}
/// H of its tones.
grid_piece channel_piece_of(const frame_grid<const std::complex<float>>& channel, const wimax_burst& b) {
  grid_piece p = piece_of(channel, b);
  p.steps = p.slots = 1;
  return p;
}
template <class T>
T* first_of(const frame_grid<T>& grid, const wimax_burst& b, std::size_t first_symbol, std::size_t frame) {
  return grid.data + frame * grid.frame_stride +
         (first_symbol + as_size(b.first_symbol)) * grid.symbol_stride +
         as_size(b.first_tone) * grid.tone_stride;
}

/// The piece in place, where two strides reach all of it.
template <class T>
std::optional<view<T>> as_batch(T* data, const grid_piece& p, std::size_t frames) {
  const auto join = [](std::initializer_list<std::pair<std::size_t, std::size_t>> innermost_first)
      -> std::optional<std::pair<std::size_t, std::size_t>> {
    std::size_t count = 1, stride = 1;
    for (const auto& [n, step] : innermost_first) {
      if (n == 1) continue;
      if (count == 1)
        stride = step;
      else if (step != stride * count)
        return std::nullopt;
      count *= n;
    }
    return std::pair{count, stride};
  };
  const auto elements = join({{p.antennas, p.antenna_stride}, {p.slots, p.slot_stride}}),
             items = join({{p.steps, p.step_stride}, {p.tones, p.tone_stride}, {frames, p.frame_stride}});
  if (!elements || !items) return std::nullopt;
  return view<T>{data, elements->first, items->first, elements->second, items->second};
}
std::size_t items_of(const grid_piece& p, std::size_t frames) {
  return frames * std::size_t{p.tones} * p.steps;
}

void copy_out(executor& exec, const grid_piece& p, const std::complex<float>* grid,
              view<std::complex<float>> to, const burst_places& places = {}, std::size_t symbol_stride = 0) {
  grid_copy_args a;
  a.places = places;
  a.symbol_stride = symbol_stride;
  a.piece = p;
  a.from_grid = reinterpret_cast<const cx_pair*>(grid);
  a.to = as_pairs(to);
  exec.run(grid_copy_kernels(), &a, to.items);
}
void copy_in(executor& exec, const grid_piece& p, view<const std::complex<float>> from,
             std::complex<float>* grid) {
  grid_copy_args a;
  a.piece = p;
  a.to_grid = reinterpret_cast<cx_pair*>(grid);
  a.from = as_pairs(from);
  exec.run(grid_copy_kernels(), &a, from.items);
}

template <class T>
void check_grid(const char* argument, const frame_grid<T>& g, std::size_t frames, std::size_t symbols,
                std::size_t tones, std::size_t antennas) {
  const auto text = [](std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
    return "[" + std::to_string(a) + ", " + std::to_string(b) + ", " + std::to_string(c) + ", " +
           std::to_string(d) + "]";
  };
  if (g.frames != frames || g.symbols != symbols || g.tones != tones || g.antennas != antennas)
    throw shape_error(argument, text(g.frames, g.symbols, g.tones, g.antennas),
                      "shape " + text(frames, symbols, tones, antennas));
  if (g.data == nullptr && frames != 0) throw shape_error(argument, "null", "data");
  if (reinterpret_cast<std::uintptr_t>(g.data) % alignof(cx_pair) != 0)
    throw argument_error(argument, "at an odd multiple of 4 bytes", "on a multiple of 8 bytes");
  if constexpr (!std::is_const_v<T>)
    if ((frames > 1 && g.frame_stride == 0) || (symbols > 1 && g.symbol_stride == 0) ||
        (tones > 1 && g.tone_stride == 0) || (antennas > 1 && g.antenna_stride == 0))
      throw shape_error(argument, "a grid with stride 0", "a place of its own for every value");
}

}  // namespace

int wimax_first_data_symbol(const wimax_link_config& c) {
  const auto bursts = static_cast<std::size_t>(
      std::count_if(c.frame.bursts.begin(), c.frame.bursts.end(),
                    [&](const wimax_burst& b) { return b.direction == c.direction; }));
  const std::size_t maps = c.maps ? wimax_map_symbols(*c.maps, bursts, c.frame.profile.data_subcarriers) : 0;
  return (c.preamble ? 1 : 0) + static_cast<int>(maps);
}

namespace {

/// Preamble and maps, and that bursts are behind them.
void check_control(const wimax_link_config& c) {
  if (c.preamble && c.frame.profile.data_subcarriers % 2 != 0)
    throw argument_error("data_subcarriers", std::to_string(c.frame.profile.data_subcarriers),
                         "an even number with a preamble");
  if (c.maps && c.direction != wimax_direction::downlink)
    throw argument_error("maps", "those of an uplink", "none: an uplink has no DL-MAP");
  if (c.maps && (c.frame.downlink_symbols > 4095 || c.frame.profile.data_subcarriers > 4095))
    throw argument_error("maps", "those of more than 4095 symbols or tones", "none in such a frame");
  const int first = wimax_first_data_symbol(c);
  bool any = false;
  for (std::size_t i = 0; i < c.frame.bursts.size(); i++) {
    const wimax_burst& b = c.frame.bursts[i];
    if (b.direction != c.direction) continue;
    any = true;
    if (b.first_symbol < first)
      throw argument_error("bursts[" + std::to_string(i) + "].first_symbol", std::to_string(b.first_symbol),
                           "at least " + std::to_string(first) + ", behind preamble and maps");
  }
  if (c.maps && !any) throw argument_error("maps", "those of no burst", "none without bursts");
  if (c.preamble && c.frame.symbols_of(c.direction) == 0)
    throw argument_error("preamble", "true", "false in a direction without symbols");
}

}  // namespace

std::vector<wimax_burst_sizes> wimax_bursts_of(const wimax_link_config& c) {
  check(c.frame);
  check_control(c);
  std::vector<wimax_burst_sizes> sizes;
  for (const wimax_burst& b : c.frame.bursts) {
    if (b.direction != c.direction) continue;
    wimax_burst_sizes s;
    s.burst = b;
    s.codewords = b.codewords();
    check(space_time_of(c, b.qam));
    s.bits_per_codeword = as_size(c.space_time.code.symbols() * bits_per_symbol(b.qam));
    s.blocks = s.codewords;
    s.k = s.n = s.bits_per_codeword;
    sizes.push_back(s);
  }
  check(space_time_of(c, 4));  // where there is no burst too
  if (!c.codes.empty() && c.codes.size() != sizes.size())
    throw argument_error("codes", std::to_string(c.codes.size()) + " of them",
                         "one for each of the " + std::to_string(sizes.size()) + " bursts of the direction");
  for (std::size_t i = 0; i < c.codes.size(); i++) {
    if (is_uncoded(c.codes[i])) continue;
    const code_sizes code = sizes_of_code(c, i);
    wimax_burst_sizes& s = sizes[i];
    s.k = code.k;
    s.n = code.n;
    s.blocks = s.capacity() / s.n;
    if (s.blocks == 0)
      throw argument_error(name_of_code(i), "with " + std::to_string(s.n) + " bits a block",
                           "at most the " + std::to_string(s.capacity()) + " bits of its burst");
  }
  return sizes;
}

std::vector<std::string> wimax_stages_of(const wimax_link_config& c) {
  std::vector<std::string> stages{"bursts"};
  if (c.maps) stages.insert(stages.begin(), "maps");
  if (c.preamble) stages.insert(stages.begin(), "estimate");
  return stages;
}

struct wimax_plan {
  struct burst {
    std::unique_ptr<codec> code;  // none: uncoded
    std::optional<stbc_encoder> encoder;
    std::optional<stbc_decoder> decoder;
    array<std::uint8_t> coded;       // transmitter: [frames, capacity], zeros behind the blocks
    std::optional<puncturer> order;  // takes coded bits there as they are
    // Receiver.
    array<float> llr;
    array<std::uint8_t> bits, codeword_status, status;
    array<std::int32_t> iterations;
  };

  /// FCH or DL-MAP.
  struct message {
    wimax_message sizes;
    std::size_t first = 0;  // of its bits in the burst of both
    std::unique_ptr<codec> code;
    // Receiver.
    array<float> llr;
    array<std::uint8_t> bits;
    resident<std::int32_t> weights;
    std::int32_t residue = 0;
  };

  wimax_plan(const wimax_link_config& c, executor& e, std::size_t max_frames)
      : config(c), exec(e), most_frames(max_frames), sizes(wimax_bursts_of(c)), bursts(sizes.size()) {
    if (max_frames == 0) throw argument_error("frames", "0", "1 or more");
    if (max_frames > most_items / std::max<std::size_t>(1, symbols() * tones()))
      throw argument_error("frames", std::to_string(max_frames), "at most 2^31 tones of symbols in all");
    for (std::size_t i = 0; i < sizes.size(); i++) {
      if (!c.has(i)) continue;
      most_codewords = std::max(most_codewords, max_frames * sizes[i].codewords);
      most_tones = std::max(most_tones, max_frames * as_size(sizes[i].burst.tones));
      if (!c.codes.empty() && !is_uncoded(c.codes[i])) bursts[i].code = make_codec(c.codes[i]);
    }
    if (c.preamble) pilots = preamble_of(tones());
    if (!c.maps) return;
    control.burst = {.direction = c.direction,
                     .tones = c.frame.profile.data_subcarriers,
                     .symbols = wimax_first_data_symbol(c) - (c.preamble ? 1 : 0),
                     .qam = 4,
                     .first_symbol = c.preamble ? 1 : 0};
    control.codewords = control.burst.codewords();
    control.bits_per_codeword = 4;
    most_codewords = std::max(most_codewords, max_frames * control.codewords);
    most_tones = std::max(most_tones, max_frames * tones());
    const wimax_message sizes_of_messages[]{wimax_header_message(), wimax_map_message(*c.maps, sizes.size())};
    for (std::size_t m = 0; m < 2; m++) {
      messages[m].sizes = sizes_of_messages[m];
      messages[m].first = m == 0 ? 0 : sizes_of_messages[0].sent();
      messages[m].code = make_codec(wimax_message_code(sizes_of_messages[m].k));
    }
  }

  /// Values of the preamble [tones, 2].
  static std::vector<std::complex<float>> preamble_of(std::size_t tones) {
    std::vector<std::complex<float>> sent(tones * tx);
    unsigned state = 0x7FF;
    for (std::size_t t = 0; t < tones; t++) {
      const unsigned bit = (state >> 10 ^ state >> 8) & 1;
      state = (state << 1 | bit) & 0x7FF;
      sent[t * tx + t % 2] = bit != 0 ? -std::sqrt(2.f) : std::sqrt(2.f);
    }
    return sent;
  }
  pilot_pattern pattern() const {
    pilot_pattern p;
    p.subcarriers = static_cast<int>(tones());
    p.symbols = 1;
    p.spacing_hz = config.frame.profile.spacing_hz;
    for (std::size_t a = 0; a < tx; a++) {
      pilot_row row;
      for (std::size_t t = a; t < tones(); t += tx) {
        pilot_cell cell;
        cell.element[0] = static_cast<std::int32_t>(t);
        cell.pilot[0] = pilots[t * tx + a];
        row.push_back(cell);
      }
      p.ports.push_back({row});
    }
    return p;
  }

  /// Bits of the burst of FCH and DL-MAP, in every frame the same.
  array<std::uint8_t> control_bits() {
    std::vector<std::uint8_t> sent(control.codewords * control.bits_per_codeword);
    std::vector<wimax_burst> placed;
    for (const wimax_burst_sizes& s : sizes) placed.push_back(s.burst);
    const std::vector<std::uint8_t> texts[]{wimax_header(*config.maps, sizes.size()), wimax_map(placed)};
    for (std::size_t m = 0; m < 2; m++) {
      const wimax_message& is = messages[m].sizes;
      const auto bits = exec.make_from(texts[m]);
      auto coded = exec.make<std::uint8_t>(1, is.n());
      messages[m].code->encode(exec, make_view<const std::uint8_t>(bits.data(), 1, is.k), coded);
      const std::vector<std::uint8_t> once = exec.to_host(coded);
      for (std::size_t i = 0; i < is.sent(); i++) sent[messages[m].first + i] = once[i / is.halves % is.n()];
    }
    std::vector<std::uint8_t> all_frames;
    for (std::size_t f = 0; f < most_frames; f++)
      all_frames.insert(all_frames.end(), sent.begin(), sent.end());
    return exec.make_from(all_frames);
  }

  /// Where burst i is in each frame; nothing without maps.
  burst_places places_of(std::size_t i) const {
    if (!config.maps) return {};
    return {places.data() + i, sizes.size()};
  }
  void check_frames(std::size_t frames) const {
    if (frames > most_frames)
      throw argument_error("frames", std::to_string(frames), "at most " + std::to_string(most_frames));
  }
  std::size_t rx() const { return as_size(config.space_time.rx_antennas); }
  std::size_t symbols() const { return as_size(config.frame.symbols()); }
  std::size_t tones() const { return as_size(config.frame.profile.data_subcarriers); }
  std::size_t first_symbol() const { return as_size(config.frame.first_symbol_of(config.direction)); }

  /// Calls f(blocks, first, step, data) for batches of blocks that two strides reach: `blocks` of them, the
  /// first of the burst's frames * blocks, how many further the next is, and where its bits begin among
  /// [frames, capacity].
  template <class F>
  static void each_batch(const wimax_burst_sizes& s, std::size_t frames, F f) {
    if (s.blocks <= frames)
      for (std::size_t c = 0; c < s.blocks; c++) f(frames, c, s.blocks, c, s.capacity());
    else
      for (std::size_t i = 0; i < frames; i++)
        f(s.blocks, i * s.blocks, std::size_t{1}, i * s.capacity(), std::size_t{1});
  }

  wimax_link_config config;
  executor& exec;
  std::size_t most_frames, most_codewords = 0, most_tones = 0;
  std::vector<wimax_burst_sizes> sizes;
  std::vector<burst> bursts;
  array<std::complex<float>> codewords, channel, nothing;
  std::vector<std::complex<float>> pilots;  // of the preamble
  wimax_burst_sizes control;                // FCH and DL-MAP
  message messages[2];
  // Transmitter, for every frame:
  array<std::complex<float>> preamble;
  array<std::uint8_t> sent_control;
  std::optional<stbc_encoder> control_encoder;
  // Receiver:
  std::vector<std::string> stages;
  std::optional<channel_estimator> estimator;
  std::optional<stbc_decoder> control_decoder;
  array<std::complex<float>> heard_pilots, estimates;
  array<float> estimated_noise, noise, control_llr;
  array<std::uint8_t> map_status;
  array<std::int32_t> places;
  resident<std::uint8_t> header;
  resident<std::int32_t> announced;  // of each burst: DIUC, symbols, tones
  estimate_output found;             // where estimates of the last run are
};

wimax_transmitter::wimax_transmitter(const wimax_link_config& config, executor& exec, std::size_t frames)
    : plan_(std::make_unique<wimax_plan>(config, exec, frames)) {
  for (std::size_t i = 0; i < plan_->sizes.size(); i++) {
    if (!config.has(i)) continue;
    const wimax_burst_sizes& s = plan_->sizes[i];
    wimax_plan::burst& b = plan_->bursts[i];
    b.encoder.emplace(config.space_time.code, s.burst.qam);
    if (!b.code) continue;
    b.coded = exec.make_zeros<std::uint8_t>(frames, s.capacity());
    std::vector<std::int32_t> in_order(s.n);
    std::iota(in_order.begin(), in_order.end(), 0);
    b.order.emplace(s.n, in_order);
  }
  plan_->codewords = exec.make<std::complex<float>>(plan_->most_codewords, slots * tx);
  plan_->nothing = exec.make_zeros<std::complex<float>>(1, 1);
  if (config.preamble) {
    std::vector<std::complex<float>> all_frames;
    for (std::size_t f = 0; f < frames; f++)
      all_frames.insert(all_frames.end(), plan_->pilots.begin(), plan_->pilots.end());
    plan_->preamble = exec.make_from(all_frames);
  }
  if (config.maps) {
    plan_->sent_control = plan_->control_bits();
    plan_->control_encoder.emplace(space_time_code::alamouti(), 4);
  }
  exec.sync();
}
wimax_transmitter::~wimax_transmitter() = default;
const std::vector<wimax_burst_sizes>& wimax_transmitter::bursts() const noexcept { return plan_->sizes; }

void wimax_transmitter::run(std::span<const view<const std::uint8_t>> bits,
                            const frame_grid<std::complex<float>>& out) {
  send(bits, out, false);
}
void wimax_transmitter::run_coded(std::span<const view<const std::uint8_t>> bits,
                                  const frame_grid<std::complex<float>>& out) {
  send(bits, out, true);
}
void wimax_transmitter::send(std::span<const view<const std::uint8_t>> bits,
                             const frame_grid<std::complex<float>>& out, bool coded) {
  wimax_plan& p = *plan_;
  const std::size_t frames = out.frames;
  p.check_frames(frames);
  check_grid("out", out, frames, p.symbols(), p.tones(), tx);
  if (bits.size() != p.sizes.size())
    throw argument_error("bits", "of " + std::to_string(bits.size()) + " bursts",
                         "those of " + std::to_string(p.sizes.size()));
  for (std::size_t i = 0; i < bits.size(); i++)
    if (p.config.has(i))
      check_shape("bits", bits[i], frames * p.sizes[i].blocks, coded ? p.sizes[i].n : p.sizes[i].k);
  if (frames == 0) return;

  const std::size_t symbols = as_size(p.config.frame.symbols_of(p.config.direction));
  if (symbols == 0) return;
  grid_piece whole;  // of the direction, an item a tone of a symbol
  whole.tones = static_cast<std::uint32_t>(p.tones());
  whole.steps = static_cast<std::uint32_t>(symbols);
  whole.antennas = tx;
  whole.frame_stride = out.frame_stride;
  whole.tone_stride = out.tone_stride;
  whole.step_stride = out.symbol_stride;
  whole.antenna_stride = out.antenna_stride;
  copy_in(p.exec, whole, {p.nothing.data(), tx, items_of(whole, frames), 0, 0},
          out.data + p.first_symbol() * out.symbol_stride);
  if (p.config.preamble) {
    whole.steps = 1;
    copy_in(p.exec, whole, make_view<const std::complex<float>>(p.preamble.data(), frames * p.tones(), tx),
            out.data + p.first_symbol() * out.symbol_stride);
  }

  const auto put = [&](const wimax_burst_sizes& s, const stbc_encoder& encoder,
                       view<const std::uint8_t> sent) {
    const grid_piece piece = piece_of(out, s.burst);
    std::complex<float>* const first = first_of(out, s.burst, p.first_symbol(), 0);
    if (const auto in_place = as_batch(first, piece, frames)) return encoder.run(p.exec, sent, *in_place);
    const auto codewords = make_view(p.codewords.data(), frames * s.codewords, slots * tx);
    encoder.run(p.exec, sent, codewords);
    copy_in(p.exec, piece, codewords, first);
  };
  if (p.config.maps)
    put(p.control, *p.control_encoder,
        make_view<const std::uint8_t>(p.sent_control.data(), frames * p.control.codewords,
                                      p.control.bits_per_codeword));
  for (std::size_t i = 0; i < bits.size(); i++) {
    if (!p.config.has(i)) continue;
    const wimax_burst_sizes& s = p.sizes[i];
    wimax_plan::burst& b = p.bursts[i];
    view<const std::uint8_t> sent = bits[i];
    if (b.code) {
      wimax_plan::each_batch(
          s, frames,
          [&](std::size_t blocks, std::size_t first, std::size_t step, std::size_t offset,
              std::size_t stride) {
            const view<const std::uint8_t> from{bits[i].data + first * bits[i].item_stride, coded ? s.n : s.k,
                                                blocks, bits[i].element_stride, step * bits[i].item_stride};
            const view<std::uint8_t> to{b.coded.data() + offset, s.n, blocks, s.blocks, stride};
            coded ? b.order->puncture(p.exec, from, to) : b.code->encode(p.exec, from, to);
          });
      sent = make_view(b.coded.data(), frames * s.codewords, s.bits_per_codeword);
    }
    put(s, *b.encoder, sent);
  }
}

/// Messages of a receiver, and what they should say.
static void prepare_maps(wimax_plan& p) {
  const std::size_t frames = p.most_frames;
  stbc_config alamouti = p.config.space_time;
  alamouti.code = space_time_code::alamouti();
  alamouti.search = golden_search::exact;
  alamouti.qam = 4;
  p.control_decoder.emplace(alamouti);
  p.control_llr = p.exec.make<float>(frames * p.control.codewords, p.control.bits_per_codeword);
  p.map_status = p.exec.make<std::uint8_t>(frames, 1);
  p.places = p.exec.make<std::int32_t>(frames, p.sizes.size());
  const wimax_check checks[]{wimax_header_check(), wimax_map_check(p.sizes.size())};
  for (std::size_t m = 0; m < 2; m++) {
    wimax_plan::message& is = p.messages[m];
    is.llr = p.exec.make<float>(frames, is.sizes.n());
    is.bits = p.exec.make<std::uint8_t>(frames, is.sizes.k);
    is.weights = resident(checks[m].weights);
    is.residue = checks[m].residue;
  }
  p.header = resident(wimax_header(*p.config.maps, p.sizes.size()));
  std::vector<std::int32_t> announced;
  for (const wimax_burst_sizes& s : p.sizes)
    for (const int value : {wimax_diuc(s.burst.qam), s.burst.symbols, s.burst.tones})
      announced.push_back(value);
  p.announced = resident(std::move(announced));
  // Copied there before the first frame, which may be recorded as a graph.
  for (const wimax_plan::message& m : p.messages) (void)m.weights.on(p.exec);
  (void)p.header.on(p.exec);
  (void)p.announced.on(p.exec);
}

wimax_receiver::wimax_receiver(const wimax_link_config& config, executor& exec, std::size_t frames)
    : plan_(std::make_unique<wimax_plan>(config, exec, frames)) {
  for (std::size_t i = 0; i < plan_->sizes.size(); i++) {
    if (!config.has(i)) continue;
    const wimax_burst_sizes& s = plan_->sizes[i];
    wimax_plan::burst& b = plan_->bursts[i];
    b.decoder.emplace(space_time_of(config, s.burst.qam));
    if (b.code || config.soft) b.llr = exec.make<float>(frames * s.codewords, s.bits_per_codeword);
    b.bits = exec.make<std::uint8_t>(frames * s.blocks, s.k);
    b.codeword_status = exec.make<std::uint8_t>(frames * s.codewords, 1);
    if (!b.code) continue;
    b.status = exec.make<std::uint8_t>(frames * s.blocks, 1);
    b.iterations = exec.make<std::int32_t>(frames * s.blocks, 1);
  }
  wimax_plan& p = *plan_;
  p.codewords = exec.make<std::complex<float>>(p.most_codewords, slots * p.rx());
  p.channel = exec.make<std::complex<float>>(p.most_tones, tx * p.rx());
  if (config.preamble || config.maps) p.noise = exec.make<float>(p.most_codewords, 1);
  if (config.preamble) {
    const std::size_t all_tones = frames * p.tones();
    p.estimator.emplace(p.pattern(), estimator_config{});
    p.heard_pilots = exec.make<std::complex<float>>(all_tones, p.rx());
    p.estimates = exec.make<std::complex<float>>(all_tones, tx * p.rx());
    p.estimated_noise = exec.make<float>(all_tones, 1);
  }
  if (config.maps) prepare_maps(p);
  p.stages = wimax_stages_of(config);
}
wimax_receiver::~wimax_receiver() = default;
const std::vector<wimax_burst_sizes>& wimax_receiver::bursts() const noexcept { return plan_->sizes; }
const std::vector<std::string>& wimax_receiver::stages() const noexcept { return plan_->stages; }
view<const std::uint8_t> wimax_receiver::map_status() const noexcept {
  return make_view<const std::uint8_t>(plan_->map_status.data(), plan_->map_status.items());
}
view<const std::complex<float>> wimax_receiver::channel() const noexcept { return plan_->found.channel; }
view<const float> wimax_receiver::noise_var() const noexcept { return plan_->found.noise_var; }
std::size_t wimax_receiver::bytes_per_frame(const wimax_link_config& c) {
  const auto tones = as_size(c.frame.profile.data_subcarriers), rx = as_size(c.space_time.rx_antennas);
  std::size_t bytes = tones * (8 * tx * rx * 2 + 8 * rx + 4), largest = 0;
  const std::vector<wimax_burst_sizes> bursts = wimax_bursts_of(c);
  for (std::size_t i = 0; i < bursts.size(); i++) {
    if (!c.has(i)) continue;
    const wimax_burst_sizes& s = bursts[i];
    bytes += s.capacity() * 5 + s.blocks * (s.k + 5) + s.codewords;
    largest = std::max(largest, s.codewords);
  }
  if (c.maps) {
    const std::size_t control = tones * as_size(wimax_first_data_symbol(c)) / 2;
    bytes += control * 17 + 5 * wimax_map_message(*c.maps, bursts.size()).n();
    largest = std::max(largest, control);
  }
  return bytes + largest * (8 * slots * rx + 4);
}

/// Where the results of a burst are, frame after frame: in the caller's memory, or in the receiver's.
static wimax_burst_result results_of(const wimax_plan::burst& b, const wimax_burst_sizes& s,
                                     std::size_t frames, const wimax_burst_output& out) {
  const auto in = [](const auto& to, const auto& kept, std::size_t items, std::size_t elements) {
    using T = std::remove_cvref_t<decltype(*to.data)>;
    return make_view<const T>(to.data != nullptr ? to.data : kept.data(), items, elements);
  };
  wimax_burst_result r;
  r.bits = in(out.bits, b.bits, frames * s.blocks, s.k);
  if (out.llr.data != nullptr || b.llr.data() != nullptr)
    r.llr = in(out.llr, b.llr, frames * s.codewords, s.bits_per_codeword);
  r.codeword_status = in(out.codeword_status, b.codeword_status, frames * s.codewords, 1);
  if (b.code) {
    r.iterations = in(out.iterations, b.iterations, frames * s.blocks, 1);
    r.status = in(out.status, b.status, frames * s.blocks, 1);
  }
  return r;
}
template <class T>
static void check_output(const char* argument, const view<T>& v, std::size_t items, std::size_t elements) {
  if (v.data == nullptr) return;
  check_shape(argument, v, items, elements);
  if ((elements > 1 && v.element_stride != 1) || (items > 1 && v.item_stride != elements))
    throw shape_error(argument, "a view with strides", "rows side by side");
}

const std::vector<wimax_burst_result>& wimax_receiver::run(const wimax_received& in,
                                                           const wimax_output& out) {
  for (std::size_t s = 0; s < stages().size(); s++) run_stage(s, in, out);
  return results_;
}

namespace {

/// H of tones and frames, and N0 of them: that of the frames where it is known.
struct known_channel {
  frame_grid<const std::complex<float>> gains;
  const float* noise = nullptr;
  std::size_t noise_frame_stride = 0, noise_tone_stride = 0;
};
known_channel known_of(const wimax_plan& p, const wimax_received& in) {
  if (!p.config.preamble) return {in.channel, in.noise_var.data, in.noise_var.item_stride, 0};
  return {make_frame_grid<const std::complex<float>>(p.found.channel.data, in.received.frames, 1, p.tones(),
                                                     tx * p.rx()),
          p.found.noise_var.data, p.tones(), 1};
}

void estimate(wimax_plan& p, const wimax_received& in, const wimax_output& out) {
  const std::size_t frames = in.received.frames, all_tones = frames * p.tones();
  wimax_burst symbol{.direction = p.config.direction, .tones = static_cast<int>(p.tones())};
  grid_piece piece = piece_of(in.received, symbol);
  piece.steps = piece.slots = 1;
  const auto heard = make_view(p.heard_pilots.data(), all_tones, p.rx());
  copy_out(p.exec, piece, first_of(in.received, symbol, p.first_symbol(), 0), heard);
  p.found = {.channel = make_view(p.estimates.data(), all_tones, tx * p.rx()),
             .noise_var = make_view(p.estimated_noise.data(), all_tones)};
  if (out.channel.data != nullptr) p.found.channel = out.channel;
  if (out.noise_var.data != nullptr) p.found.noise_var = out.noise_var;
  p.estimator->run(p.exec, heard, in.noise_var, p.found);
}

/// Codewords of a burst in all frames, from where the places say: y, H and N0 of each.
stbc_input gather(wimax_plan& p, const wimax_received& in, const wimax_burst_sizes& s,
                  const burst_places& places) {
  const std::size_t frames = in.received.frames, n = frames * s.codewords, tones = as_size(s.burst.tones);
  const known_channel known = known_of(p, in);
  wimax_burst from = s.burst, any_time = s.burst;
  if (places.data != nullptr) from.first_symbol = from.first_tone = any_time.first_tone = 0;
  any_time.first_symbol = 0;  // H has one symbol
  const grid_piece piece = piece_of(in.received, s.burst), gains = channel_piece_of(known.gains, s.burst);
  const auto* const y = first_of(in.received, from, p.first_symbol(), 0);
  const auto* const h = first_of(known.gains, any_time, 0, 0);
  const auto received = make_view(p.codewords.data(), n, slots * p.rx()),
             channel = make_view(p.channel.data(), frames * tones, tx * p.rx());
  copy_out(p.exec, piece, y, received, places, in.received.symbol_stride);
  copy_out(p.exec, gains, h, channel, places);
  burst_noise_args a{.piece = piece, .noise = known.noise, .out = p.noise.data(), .places = places};
  a.noise += as_size(any_time.first_tone) * known.noise_tone_stride;
  a.piece.frame_stride = known.noise_frame_stride;
  a.piece.tone_stride = known.noise_tone_stride;
  p.exec.run(burst_noise_kernels(), &a, n);
  return {.channel = channel,
          .codewords_per_channel = s.codewords / tones,
          .received = received,
          .noise_var = make_view<const float>(p.noise.data(), n),
          .prior = {}};
}

void read_maps(wimax_plan& p, const wimax_received& in, std::uint8_t* status) {
  const std::size_t frames = in.received.frames, width = p.control.bits_per_codeword;
  p.control_decoder->run(p.exec, gather(p, in, p.control, {}),
                         {.llr = make_view(p.control_llr.data(), frames * p.control.codewords, width),
                          .bits = {},
                          .status = {}});
  for (wimax_plan::message& m : p.messages) {
    const map_combine_args a{.llr = p.control_llr.data() + m.first,
                             .frame_stride = p.control.codewords * width,
                             .n = static_cast<std::uint32_t>(m.sizes.n()),
                             .copies = static_cast<std::uint32_t>(m.sizes.copies),
                             .halves = static_cast<std::uint32_t>(m.sizes.halves),
                             .out = m.llr.data()};
    p.exec.run(map_combine_kernels(), &a, frames * m.sizes.n());
    m.code->decode(
        p.exec, make_view<const float>(m.llr.data(), frames, m.sizes.n()),
        {.bits = make_view(m.bits.data(), frames, m.sizes.k), .soft = {}, .iterations = {}, .status = {}});
  }
  const auto& [header, map] = p.messages;
  const map_read_args a{.header = header.bits.data(),
                        .map = map.bits.data(),
                        .header_weights = header.weights.on(p.exec),
                        .map_weights = map.weights.on(p.exec),
                        .header_residue = header.residue,
                        .map_residue = map.residue,
                        .expected_header = p.header.on(p.exec),
                        .bursts = p.announced.on(p.exec),
                        .header_bits = static_cast<std::int32_t>(header.sizes.k),
                        .map_bits = static_cast<std::int32_t>(map.sizes.k),
                        .count = static_cast<std::int32_t>(p.sizes.size()),
                        .first_symbol = wimax_first_data_symbol(p.config),
                        .symbols = p.config.frame.symbols_of(p.config.direction),
                        .tones = static_cast<std::int32_t>(p.tones()),
                        .places = p.places.data(),
                        .status = status != nullptr ? status : p.map_status.data()};
  p.exec.run(map_read_kernels(), &a, frames);
}

/// The codewords of `together` frames from frame f on, in place where their strides allow it.
stbc_input in_place(wimax_plan& p, const wimax_received& in, const wimax_burst_sizes& s, std::size_t f,
                    std::size_t together) {
  const std::size_t n = together * s.codewords, tones = as_size(s.burst.tones);
  const grid_piece piece = piece_of(in.received, s.burst), gains = channel_piece_of(in.channel, s.burst);
  const auto* const y = first_of(in.received, s.burst, p.first_symbol(), f);
  auto received = as_batch(y, piece, together);
  if (!received) {
    const auto copied = make_view(p.codewords.data(), n, slots * p.rx());
    copy_out(p.exec, piece, y, copied);
    received = copied;
  }
  wimax_burst any_time = s.burst;  // H has one symbol
  any_time.first_symbol = 0;
  const auto* const h = first_of(in.channel, any_time, 0, f);
  auto channel = as_batch(h, gains, together);
  if (!channel) {
    const auto copied = make_view(p.channel.data(), together * tones, tx * p.rx());
    copy_out(p.exec, gains, h, copied);
    channel = copied;
  }
  return {.channel = *channel,
          .codewords_per_channel = s.codewords / tones,
          .received = *received,
          .noise_var = {in.noise_var.data + f * in.noise_var.item_stride, 1, n, 1, 0},
          .prior = {}};
}

}  // namespace

void wimax_receiver::run_stage(std::size_t stage, const wimax_received& in, const wimax_output& out) {
  wimax_plan& p = *plan_;
  const std::size_t frames = in.received.frames;
  p.check_frames(frames);
  check_grid("received", in.received, frames, p.symbols(), p.tones(), p.rx());
  if (!p.config.preamble) check_grid("channel", in.channel, frames, 1, p.tones(), tx * p.rx());
  check_shape("noise_var", in.noise_var, frames, 1);
  const auto to = out.bursts;
  check_output("map_status", out.map_status, frames, 1);
  check_output("out.channel", out.channel, frames * p.tones(), tx * p.rx());
  check_output("out.noise_var", out.noise_var, frames * p.tones(), 1);
  if (!to.empty() && to.size() != p.sizes.size())
    throw argument_error("out", "of " + std::to_string(to.size()) + " bursts",
                         "that of " + std::to_string(p.sizes.size()));
  for (std::size_t i = 0; i < to.size(); i++) {
    const wimax_burst_sizes& s = p.sizes[i];
    check_output("bits", to[i].bits, frames * s.blocks, s.k);
    check_output("codeword_status", to[i].codeword_status, frames * s.codewords, 1);
    check_output("iterations", to[i].iterations, frames * s.blocks, 1);
    check_output("status", to[i].status, frames * s.blocks, 1);
    check_output("llr", to[i].llr, frames * s.codewords, s.bits_per_codeword);
  }
  const std::string& name = p.stages.at(stage);
  if (name == "estimate") return frames == 0 ? void() : estimate(p, in, out);
  if (name == "maps") return frames == 0 ? void() : read_maps(p, in, out.map_status.data);
  results_.clear();
  const bool gathers = p.config.preamble || p.config.maps;
  // Frames of a call.
  const std::size_t together = gathers || in.noise_var.item_stride == 0 ? frames : 1;
  for (std::size_t i = 0; i < p.sizes.size(); i++) {
    const wimax_burst_sizes& s = p.sizes[i];
    wimax_plan::burst& b = p.bursts[i];
    if (!p.config.has(i)) {
      results_.emplace_back();
      continue;
    }
    const wimax_burst_result r = results_of(b, s, frames, to.empty() ? wimax_burst_output{} : to[i]);
    const auto writable = [](const auto* data) {
      return const_cast<std::remove_cvref_t<decltype(*data)>*>(data);
    };
    const bool soft = r.llr.data != nullptr;
    const std::size_t width = s.bits_per_codeword;
    for (std::size_t f = 0; f < frames; f += together) {
      const std::size_t n = together * s.codewords, first = f * s.codewords;
      stbc_output found;
      if (soft) found.llr = make_view(writable(r.llr.data) + first * width, n, width);
      if (!b.code) found.bits = make_view(writable(r.bits.data) + first * width, n, width);
      found.status = make_view(writable(r.codeword_status.data) + first, n);
      b.decoder->run(p.exec, gathers ? gather(p, in, s, p.places_of(i)) : in_place(p, in, s, f, together),
                     found);
    }
    if (b.code)
      wimax_plan::each_batch(
          s, frames,
          [&](std::size_t blocks, std::size_t first, std::size_t step, std::size_t offset,
              std::size_t stride) {
            b.code->decode(p.exec, view<const float>{r.llr.data + offset, s.n, blocks, s.blocks, stride},
                           {.bits = {writable(r.bits.data) + first * s.k, s.k, blocks, 1, step * s.k},
                            .soft = {},
                            .iterations = {writable(r.iterations.data) + first, 1, blocks, 1, step},
                            .status = {writable(r.status.data) + first, 1, blocks, 1, step}});
          });
    results_.push_back(r);
  }
}

}  // namespace wb
