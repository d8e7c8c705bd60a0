// WiMAX frames: coded bits of a burst to grids of tones and symbols, and what arrives of them.
#include <warpband/code/uncoded.hpp>
#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/config/link_schema.hpp>
#include <warpband/link/wimax_link.hpp>

namespace wb {
namespace {

using cf = std::complex<float>;

const wimax_burst_config& wimax_of(const link_config& c) { return c.antennas.get<wimax_burst_config>(); }

/// The frame of a link, with its code, and the burst that is counted.
wimax_link_config frame_of(const link_config& c) {
  const wimax_burst_config& w = wimax_of(c);
  wimax_frame_config frame = w.frame;
  frame.code = is_uncoded(c.code) ? code_config("none") : c.code;
  wimax_link_config link = wimax_link_of(frame);
  check_range("burst", w.burst, 1, static_cast<int>(link.frame.bursts.size()));
  link.only = as_size(w.burst - 1);
  return link;
}
wimax_burst_sizes sizes_for(const link_config& c) {
  const wimax_link_config link = frame_of(c);
  return wimax_bursts_of(link)[*link.only];
}

/// Of a frame, time first, so that the symbols of a tone lie side by side.
template <class T>
frame_grid<T> grid_of(T* data, std::size_t frames, std::size_t symbols, std::size_t tones,
                      std::size_t antennas) {
  return {data, frames, symbols, tones, antennas, symbols * tones * antennas, antennas, symbols * antennas,
          1};
}

class wimax_antennas final : public antenna_system {
 public:
  explicit wimax_antennas(const link_config& c)
      : seed_(c.seed),
        frame_(frame_of(c)),
        burst_(wimax_bursts_of(frame_)[*frame_.only]),
        padded_(frame_sizes(c).padded),
        symbols_(as_size(frame_.frame.symbols_of(frame_.direction))),
        tones_(as_size(frame_.frame.profile.data_subcarriers)),
        rx_(as_size(frame_.space_time.rx_antennas)),
        noise_(c),
        air_(make_air(c.channel, air_antennas_of(c))) {}

  std::size_t bytes_per_frame() const noexcept override {
    return air_->bytes_per_frame() + 8 * air_->matrices() * 2 * rx_ + symbols_ * tones_ * 8 * (2 + rx_) +
           burst_.capacity() + burst_.codewords * 32;
  }
  void allocate(executor& exec, std::size_t frames) override {
    const std::size_t uses = frames * symbols_ * tones_;
    transmitter_ = std::make_unique<wimax_transmitter>(frame_, exec, frames);
    sent_ = exec.make<cf>(uses, 2);
    received_ = exec.make<cf>(uses, rx_);
    h_ = exec.make<cf>(frames * air_->matrices(), 2 * rx_);
    air_->allocate(exec, frames);
    noise_.allocate(exec);
  }
  samples send(executor& exec, const std::uint8_t* bits, const frame_batch& batch) override {
    const std::size_t n = batch.frames, uses = n * symbols_ * tones_;
    noise_.set(exec, batch.point_db);
    std::vector<view<const std::uint8_t>> of_bursts(frame_.frame.bursts.size());
    of_bursts[*frame_.only] = {bits, burst_.n, n * burst_.blocks, 1, padded_};
    transmitter_->run_coded(of_bursts, grid_of(sent_.data(), n, symbols_, tones_, 2));
    const auto h = make_view(h_.data(), n * air_->matrices(), 2 * rx_);
    const auto y = make_view(received_.data(), uses, rx_);
    air_->send(exec, make_view(sent_.data(), uses, 2), y, h, batch.random(seed_));
    noise_.add(exec, received_.data(), symbols_ * tones_ * rx_, batch);
    return {.channel = h,
            .items_per_channel = symbols_ * tones_ / air_->matrices(),
            .received = y,
            .noise_var = noise_.variances(uses)};
  }

 private:
  std::uint64_t seed_;
  wimax_link_config frame_;
  wimax_burst_sizes burst_;
  std::size_t padded_, symbols_, tones_, rx_;
  noise_of_link noise_;
  std::unique_ptr<air> air_;
  std::unique_ptr<wimax_transmitter> transmitter_;
  array<cf> sent_, received_, h_;
};

/// The frames' receiver as that of a link.
class burst_receiver final : public receiver {
 public:
  explicit burst_receiver(const link_config& c)
      : frame_(frame_of(c)),
        burst_(wimax_bursts_of(frame_)[*frame_.only]),
        bytes_(wimax_receiver::bytes_per_frame(frame_)),
        symbols_(as_size(frame_.frame.symbols_of(frame_.direction))),
        tones_(as_size(frame_.frame.profile.data_subcarriers)),
        stages_(wimax_stages_of(frame_)) {}
  const std::vector<std::string>& stages() const noexcept override { return stages_; }
  std::size_t bytes_per_frame() const noexcept override { return bytes_; }
  void allocate(executor& exec, std::size_t frames) override {
    receiver_ = std::make_unique<wimax_receiver>(frame_, exec, frames);
  }
  void run_stage(executor&, std::size_t stage, const heard& in, const decided& out, int) override {
    const std::size_t rx = in.received.elements, frames = in.received.items / (symbols_ * tones_),
                      matrices = in.channel.items / frames;
    std::vector<wimax_burst_output> to(frame_.frame.bursts.size());
    to[*frame_.only] = {.bits = make_view(out.bits.data, frames * burst_.blocks, burst_.k),
                        .codeword_status = out.use_status,
                        .status = out.status,
                        .iterations = out.iterations};
    wimax_received heard{.channel = {},
                         .received = grid_of(in.received.data, frames, symbols_, tones_, rx),
                         .noise_var = {in.noise_var.data, 1, frames, 1, 0}};
    heard.channel = make_frame_grid(in.channel.data, frames, 1, tones_, 2 * rx);
    if (matrices == 1) heard.channel.frame_stride = 2 * rx, heard.channel.tone_stride = 0;
    receiver_->run_stage(stage, heard, {.bursts = to, .map_status = {}});
  }

 private:
  wimax_link_config frame_;
  wimax_burst_sizes burst_;
  std::size_t bytes_, symbols_, tones_;
  std::vector<std::string> stages_;
  std::unique_ptr<wimax_receiver> receiver_;
};

void add_wimax_keys(config::schema& s, const std::vector<setting_condition>& allowed) {
  config::add_table(
      s, "wimax.profile", wimax_burst_settings(), allowed,
      "Frames are then those of WiMAX, from preamble to bursts (docs/wimax_frames.md). One burst is counted, "
      "whose modulation is that of wimax.modulations. Its blocks of [code] are the codewords of a frame; "
      "uncoded, those of the space-time code. The channel is constant during a frame. It is one of those of "
      "massive MIMO except \"cdl\".");
}

void read_wimax(const config::link_keys& keys, link_config& c) {
  wimax_burst_config w;
  keys.take("wimax", wimax_burst_settings(), w);
  w.frame.rx_antennas = keys.number("mimo.rx_antennas", 1);
  c.antennas = w;
}

/// The two antennas are users of massive MIMO, whose symbols share H too. A delay line has the frame's tones.
void complete_frames_channel(link_config& c) {
  std::vector<std::string> names;  // a clustered line would give each antenna a place of its own
  for (const air_kind& kind : airs())
    if (kind.name != "cdl" && kind.serves(air_antennas_of(c))) names.push_back(kind.name);
  if (!find_word(names, c.channel.type))
    throw argument_error("channel.type", "\"" + c.channel.type + "\"", among(names) + " in WiMAX frames");
  if (c.channel.type == "tdl")
    c.channel.edit<tdl_config>([&](tdl_config& t) {
      const ofdm_grid grid = air_antennas_of(c).grid;
      t.grid.spacing_hz = grid.spacing_hz;
      t.grid.cyclic_prefix_us = grid.cyclic_prefix_us;
      t.grid.symbol_period_us.reset();
    });
  try {
    complete_channel(c);
  } catch (const argument_error& e) {
    std::string allowed = e.allowed();
    const std::string of_massive = "with massive MIMO";
    if (const auto i = allowed.find(of_massive); i != std::string::npos)
      allowed.replace(i, of_massive.size(), "in WiMAX frames");
    throw argument_error(e.argument(), e.value(), allowed);
  }
}

void complete_wimax(link_config& c) {
  if (c.mutual_information) throw argument_error("mutual_information", "true", "false in WiMAX frames");
  if (!is_uncoded(c.code) && !is_transport(c.code)) c.code = completed(c.code);
  const wimax_burst_sizes burst = sizes_for(c);
  c.qam = burst.burst.qam;
  if (auto* open = c.code.settings.find<uncoded_settings>(); open != nullptr) {
    const int k = static_cast<int>(burst.bits_per_codeword);
    if (open->k && *open->k != k)
      throw argument_error("code.k", std::to_string(*open->k),
                           std::to_string(k) + ", the bits of a space-time codeword, or left out");
    c.code.edit<uncoded_settings>().k = k;
    c.code = completed(c.code);
  }
  complete_frames_channel(c);
}

void describe_wimax(const link_config& c, air_antennas& a) {
  const wimax_link_config frame = frame_of(c);
  const wimax_profile& profile = frame.frame.profile;
  a.system = air_system::massive;
  a.grid.subcarriers = profile.data_subcarriers;
  a.grid.symbols = frame.frame.symbols_of(frame.direction);
  a.grid.spacing_hz = profile.spacing_hz;
  a.grid.cyclic_prefix_us = 1e6 / profile.spacing_hz / 8;
  a.together = as_size(a.grid.symbols);
  a.uses = a.grid.elements();
}

/// Hypotheses of a space-time codeword, roughly.
std::uint64_t work_of_frames(const link_config& c) {
  const wimax_burst_sizes burst = sizes_for(c);
  const auto points = static_cast<std::uint64_t>(burst.burst.qam);
  return burst.codewords *
         (wimax_of(c).frame.space_time == wimax_space_time::alamouti ? 16 : 2 * points * points);
}

}  // namespace

const std::vector<setting_of<wimax_burst_config>>& wimax_burst_settings() {
  using c = wimax_burst_config;
  static const std::vector<setting_of<c>> settings = [] {
    auto list = within<c>([](c& w) -> auto& { return w.frame; }, wimax_frame_settings());
    list.push_back(integer("burst", &c::burst, 1, 64, "Number of the burst that is counted, from 1 on.",
                           "an integer from 1 to the number of bursts"));
    return list;
  }();
  return settings;
}

antenna_kind wimax_kind() {
  return {
      .name = "wimax",
      .key = "wimax.profile",
      .idle = {"mimo.streams", "modem.modulation", "modem.demapper", "detector", "stbc", "nr.channel",
               "massive.solver"},
      .add_keys = add_wimax_keys,
      .read = read_wimax,
      .complete = complete_wimax,
      .check_loop = [](const link_config& c) { refuse_loop(c, "unset in WiMAX frames"); },
      .streams = [](const link_config&) { return 2; },
      .rx_antennas = [](const link_config& c) { return wimax_of(c).frame.rx_antennas; },
      .symbols_per_use =
          [](const link_config& c) {
            return wimax_of(c).frame.space_time == wimax_space_time::alamouti ? 1 : 2;
          },
      .uses_at_once = [](const link_config&) { return 2; },
      .many_codewords = true,
      .codewords = [](const link_config& c) { return sizes_for(c).blocks; },
      .uses_for = [](const link_config& c, std::size_t) { return 2 * sizes_for(c).codewords; },
      .uses = [](const link_config& c) { return 2 * sizes_for(c).codewords; },
      .describe = describe_wimax,
      .decides_uncoded = "uncoded WiMAX frames",
      .results =
          [](const link_config& c) {
            named_values values{{"mimo.rx_antennas", std::int64_t{rx_antennas_of(c)}}};
            add_values(values, "wimax", wimax_burst_settings(), wimax_of(c));
            return values;
          },
      .work = work_of_frames,
      .make = [](const link_config& c) -> std::unique_ptr<antenna_system> {
        return std::make_unique<wimax_antennas>(c);
      },
      .make_receiver = [](const link_config& c) -> std::unique_ptr<receiver> {
        return std::make_unique<burst_receiver>(c);
      },
  };
}

}  // namespace wb
