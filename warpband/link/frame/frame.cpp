#include <warpband/link/frame/frame.hpp>

#include <algorithm>
#include <optional>
#include <string>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/link/frame/frame_args.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {

WB_DECLARE_KERNEL(grid_copy)

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
              view<std::complex<float>> to) {
  grid_copy_args a;
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

std::vector<wimax_burst_sizes> wimax_bursts_of(const wimax_link_config& c) {
  check(c.frame);
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

struct wimax_plan {
  struct burst {
    std::unique_ptr<codec> code;  // none: uncoded
    std::optional<stbc_encoder> encoder;
    std::optional<stbc_decoder> decoder;
    array<std::uint8_t> coded;  // transmitter: [frames, capacity], zeros behind the blocks
    // Receiver.
    array<float> llr;
    array<std::uint8_t> bits, codeword_status, status;
    array<std::int32_t> iterations;
  };

  wimax_plan(const wimax_link_config& c, executor& e, std::size_t max_frames)
      : config(c), exec(e), most_frames(max_frames), sizes(wimax_bursts_of(c)), bursts(sizes.size()) {
    if (max_frames == 0) throw argument_error("frames", "0", "1 or more");
    if (max_frames > most_items / std::max<std::size_t>(1, symbols() * tones()))
      throw argument_error("frames", std::to_string(max_frames), "at most 2^31 tones of symbols in all");
    for (std::size_t i = 0; i < sizes.size(); i++) {
      most_codewords = std::max(most_codewords, max_frames * sizes[i].codewords);
      most_tones = std::max(most_tones, max_frames * as_size(sizes[i].burst.tones));
      if (!c.codes.empty() && !is_uncoded(c.codes[i])) bursts[i].code = make_codec(c.codes[i]);
    }
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
};

wimax_transmitter::wimax_transmitter(const wimax_link_config& config, executor& exec, std::size_t frames)
    : plan_(std::make_unique<wimax_plan>(config, exec, frames)) {
  for (std::size_t i = 0; i < plan_->sizes.size(); i++) {
    const wimax_burst_sizes& s = plan_->sizes[i];
    wimax_plan::burst& b = plan_->bursts[i];
    b.encoder.emplace(config.space_time.code, s.burst.qam);
    if (!b.code) continue;
    b.coded = exec.make_zeros<std::uint8_t>(frames, s.capacity());
  }
  plan_->codewords = exec.make<std::complex<float>>(plan_->most_codewords, slots * tx);
  plan_->nothing = exec.make_zeros<std::complex<float>>(1, 1);
  exec.sync();
}
wimax_transmitter::~wimax_transmitter() = default;
const std::vector<wimax_burst_sizes>& wimax_transmitter::bursts() const noexcept { return plan_->sizes; }

void wimax_transmitter::run(std::span<const view<const std::uint8_t>> bits,
                            const frame_grid<std::complex<float>>& out) {
  wimax_plan& p = *plan_;
  const std::size_t frames = out.frames;
  p.check_frames(frames);
  check_grid("out", out, frames, p.symbols(), p.tones(), tx);
  if (bits.size() != p.sizes.size())
    throw argument_error("bits", "of " + std::to_string(bits.size()) + " bursts",
                         "those of " + std::to_string(p.sizes.size()));
  for (std::size_t i = 0; i < bits.size(); i++)
    check_shape("bits", bits[i], frames * p.sizes[i].blocks, p.sizes[i].k);
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

  for (std::size_t i = 0; i < bits.size(); i++) {
    const wimax_burst_sizes& s = p.sizes[i];
    wimax_plan::burst& b = p.bursts[i];
    const std::size_t n = frames * s.codewords;
    view<const std::uint8_t> sent = bits[i];
    if (b.code) {
      wimax_plan::each_batch(s, frames,
                             [&](std::size_t blocks, std::size_t first, std::size_t step, std::size_t offset,
                                 std::size_t stride) {
                               b.code->encode(p.exec,
                                              {bits[i].data + first * bits[i].item_stride, s.k, blocks,
                                               bits[i].element_stride, step * bits[i].item_stride},
                                              {b.coded.data() + offset, s.n, blocks, s.blocks, stride});
                             });
      sent = make_view(b.coded.data(), n, s.bits_per_codeword);
    }
    const grid_piece piece = piece_of(out, s.burst);
    std::complex<float>* const first = first_of(out, s.burst, p.first_symbol(), 0);
    if (const auto in_place = as_batch(first, piece, frames)) {
      b.encoder->run(p.exec, sent, *in_place);
      continue;
    }
    const auto codewords = make_view(p.codewords.data(), n, slots * tx);
    b.encoder->run(p.exec, sent, codewords);
    copy_in(p.exec, piece, codewords, first);
  }
}

wimax_receiver::wimax_receiver(const wimax_link_config& config, executor& exec, std::size_t frames)
    : plan_(std::make_unique<wimax_plan>(config, exec, frames)) {
  for (std::size_t i = 0; i < plan_->sizes.size(); i++) {
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
  plan_->codewords = exec.make<std::complex<float>>(plan_->most_codewords, slots * plan_->rx());
  plan_->channel = exec.make<std::complex<float>>(plan_->most_tones, tx * plan_->rx());
}
wimax_receiver::~wimax_receiver() = default;
const std::vector<wimax_burst_sizes>& wimax_receiver::bursts() const noexcept { return plan_->sizes; }

/// What was received of a burst, frame after frame.
static wimax_burst_result received_of(const wimax_plan::burst& b, const wimax_burst_sizes& s,
                                      std::size_t frames) {
  wimax_burst_result r;
  r.bits = make_view<const std::uint8_t>(b.bits.data(), frames * s.blocks, s.k);
  if (b.llr.data() != nullptr)
    r.llr = make_view<const float>(b.llr.data(), frames * s.codewords, s.bits_per_codeword);
  r.codeword_status = make_view<const std::uint8_t>(b.codeword_status.data(), frames * s.codewords);
  if (b.code) {
    r.iterations = make_view<const std::int32_t>(b.iterations.data(), frames * s.blocks);
    r.status = make_view<const std::uint8_t>(b.status.data(), frames * s.blocks);
  }
  return r;
}

const std::vector<wimax_burst_result>& wimax_receiver::run(const wimax_received& in) {
  wimax_plan& p = *plan_;
  const std::size_t frames = in.received.frames;
  p.check_frames(frames);
  check_grid("received", in.received, frames, p.symbols(), p.tones(), p.rx());
  check_grid("channel", in.channel, frames, 1, p.tones(), tx * p.rx());
  check_shape("noise_var", in.noise_var, frames, 1);
  results_.clear();
  const std::size_t together = in.noise_var.item_stride == 0 ? frames : 1;  // frames of a call
  for (std::size_t i = 0; i < p.sizes.size(); i++) {
    const wimax_burst_sizes& s = p.sizes[i];
    wimax_plan::burst& b = p.bursts[i];
    const bool soft = b.llr.data() != nullptr;
    const std::size_t width = s.bits_per_codeword, tones = as_size(s.burst.tones);
    const grid_piece piece = piece_of(in.received, s.burst), gains = channel_piece_of(in.channel, s.burst);
    for (std::size_t f = 0; f < frames; f += together) {
      const std::size_t n = together * s.codewords;
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
      stbc_output out;
      const std::size_t first = f * s.codewords;
      if (soft) out.llr = make_view(b.llr.data() + first * width, n, width);
      if (!b.code) out.bits = make_view(b.bits.data() + first * width, n, width);
      out.status = make_view(b.codeword_status.data() + first, n);
      b.decoder->run(p.exec,
                     {.channel = *channel,
                      .codewords_per_channel = s.codewords / tones,
                      .received = *received,
                      .noise_var = {in.noise_var.data + f * in.noise_var.item_stride, 1, n, 1, 0}},
                     out);
    }
    if (b.code)
      wimax_plan::each_batch(
          s, frames,
          [&](std::size_t blocks, std::size_t first, std::size_t step, std::size_t offset,
              std::size_t stride) {
            b.code->decode(p.exec, view<const float>{b.llr.data() + offset, s.n, blocks, s.blocks, stride},
                           {.bits = {b.bits.data() + first * s.k, s.k, blocks, 1, step * s.k},
                            .soft = {},
                            .iterations = {b.iterations.data() + first, 1, blocks, 1, step},
                            .status = {b.status.data() + first, 1, blocks, 1, step}});
          });
    results_.push_back(received_of(b, s, frames));
  }
  return results_;
}

}  // namespace wb
