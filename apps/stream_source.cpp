#include "stream_source.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include <warpband/core/error.hpp>
#include <warpband/core/half.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/fec/nr/transport.hpp>
#include <warpband/link/link.hpp>
#include <warpband/modem/qam/qam.hpp>
#if WARPBAND_HDF5
#include <warpband/io/hdf5.hpp>
#endif

#include "command.hpp"

namespace {

using cf = std::complex<float>;
constexpr std::size_t different_frames = 4, most_from_file = 64;

/// Called in loops over a frame, which may be large.
void check_interrupt(std::size_t i) {
  if (i % 65536 == 0 && interrupted()) throw interrupted_before_frames();
}

std::vector<std::uint8_t> random_bits(std::size_t n, std::mt19937_64& rng) {
  std::vector<std::uint8_t> bits(n);
  for (std::size_t i = 0; i < n; i++) {
    check_interrupt(i);
    bits[i] = static_cast<std::uint8_t>(rng() >> 63);
  }
  return bits;
}
void normals(cf* to, std::size_t n, float scale, std::mt19937_64& rng) {
  std::normal_distribution<float> normal(0, scale * std::sqrt(0.5f));
  for (std::size_t i = 0; i < n; i++) {
    check_interrupt(i);
    const float re = normal(rng);
    to[i] = {re, normal(rng)};
  }
}

/// y += H x
void add_product(cf* y, const cf* h, const cf* x, std::size_t rows, std::size_t columns) {
  for (std::size_t r = 0; r < rows; r++) {
    float re = 0, im = 0;
    for (std::size_t u = 0; u < columns; u++) {
      const cf a = h[r * columns + u], b = x[u];
      re += a.real() * b.real() - a.imag() * b.imag();
      im += a.real() * b.imag() + a.imag() * b.real();
    }
    y[r] += cf(re, im);
  }
}

/// Uses of the channel times antennas.
std::size_t codeword_size(const wb::space_time_code& code) {
  return static_cast<std::size_t>(code.uses() * code.tx_antennas());
}
/// Codewords of random bits.
std::vector<cf> codewords(wb::cpu& exec, const stream_run& run, std::mt19937_64& rng) {
  const wb::stbc_encoder encoder(run.space_time.code, run.space_time.qam);
  const std::vector<std::uint8_t> bits = random_bits(encoder.bits_per_codeword() * run.items, rng);
  const std::size_t sent = codeword_size(run.space_time.code);
  std::vector<cf> s(sent * run.items);
  encoder.run(exec, wb::make_view(bits.data(), run.items, encoder.bits_per_codeword()),
              wb::make_view(s.data(), run.items, sent));
  return s;
}

/// N0 of a frame, by the conventions of `warpband sim`: snr_db is 10 log10(streams Es/N0), of one receive
/// antenna, and of precode 10 log10(1/N0), as what the base station sends has energy 1.
float noise_of(const stream_run& run) {
  wb::link_config link;
  link.axis = wb::snr_axis::snr_db;
  link.code = wb::code_config("none");  // the rate, which the SNR does not depend on
  if (run.chain == "stbc") {
    link.antennas = run.space_time;
  } else if (run.chain == "uplink" || run.chain == "precode") {
    link.antennas = wb::massive_link_config{
        .direction = run.chain == "uplink" ? wb::massive_direction::uplink : wb::massive_direction::downlink,
        .antennas = run.massive.antennas,
        .users = run.massive.users};
  } else {
    link.antennas = run.detector;
  }
  return static_cast<float>(wb::noise_var_at(link, run.snr_db));
}

/// What arrays are made and stored as: halves are rounded last.
wb::element_type made_as(const wb::frame_port& p) {
  return p.type == wb::element_type::complex32 ? wb::element_type::complex64 : p.type;
}
std::size_t made_bytes(const wb::frame_port& p, std::size_t items) {
  return p.rows_of(items) * p.elements * wb::size_of(made_as(p));
}

}  // namespace

stream_source::stream_source(const stream_run& run, const stream_work& work)
    : chain_(work.chain), items_(run.items) {
  wb::check_items(*chain_, "stream.items", run.items);
  if (run.source == "generated")
    for (std::size_t i = 0; i < different_frames; i++) {
      const std::uint64_t seed = run.seed * different_frames + i;
      if (run.chain == "pusch")
        generate_slots(run, seed);
      else if (run.chain == "wimax-frame")
        generate_wimax(run, seed);
      else
        generate(run, work, seed);
      round_to_halves(frames_.back());
    }
  else
    open(run);
}

void stream_source::round_to_halves(frame_bytes& frame) const {
  const auto& ports = chain_->inputs();
  for (std::size_t i = 0; i < ports.size(); i++) {
    if (ports[i].type != wb::element_type::complex32) continue;
    const std::size_t count = frame[i].size() / sizeof(cf);
    std::vector<std::byte> halves(count * sizeof(wb::half_complex));
    wb::to_half(reinterpret_cast<const cf*>(frame[i].data()),
                reinterpret_cast<wb::half_complex*>(halves.data()), count);
    frame[i] = std::move(halves);
  }
}

void stream_source::generate(const stream_run& run, const stream_work& work, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  wb::cpu exec;
  const auto& ports = chain_->inputs();
  auto& frame = frames_.emplace_back();
  auto& sent = sent_.emplace_back();
  for (const wb::frame_port& p : ports) frame.emplace_back(made_bytes(p, run.items));
  auto* h = reinterpret_cast<cf*>(frame[0].data());
  auto* y = reinterpret_cast<cf*>(frame[1].data());
  const float n0 = noise_of(run);
  *reinterpret_cast<float*>(frame[2].data()) = n0;
  const std::size_t columns = ports[1].elements, entries = ports[0].elements;
  normals(h, entries * ports[0].rows_of(run.items), 1, rng);

  if (run.chain == "stbc") {
    const std::vector<cf> s = codewords(exec, run, rng);
    normals(y, columns * run.items, std::sqrt(n0), rng);
    const wb::space_time_code& code = run.space_time.code;
    const std::size_t uses = static_cast<std::size_t>(code.uses()), rx = columns / uses,
                      tx = static_cast<std::size_t>(code.tx_antennas()), size = codeword_size(code);
    for (std::size_t i = 0; i < run.items; i++)
      for (std::size_t slot = 0; slot < uses; slot++) {
        const std::size_t matrix =
            i / run.per_channel * entries + (code.over_subcarriers() ? slot * rx * tx : 0);
        for (std::size_t r = 0; r < rx; r++)
          for (std::size_t t = 0; t < tx; t++)
            y[i * columns + rx * slot + r] += h[matrix + tx * r + t] * s[size * i + tx * slot + t];
      }
    return;
  }
  const std::size_t antennas =
                        run.chain == "precode" ? static_cast<std::size_t>(run.massive.antennas) : columns,
                    users = entries / antennas;
  const wb::qam_mapper mapper(points_of(run));
  const std::size_t m = static_cast<std::size_t>(mapper.bits());
  std::vector<std::uint8_t> bits;
  if (work.code) {
    const std::size_t blocks = chain_->outputs()[0].rows_of(run.items), k = work.code->k(),
                      n = work.code->n();
    sent = random_bits(blocks * k, rng);
    bits.resize(run.items * users * m);
    std::vector<std::uint8_t> coded(n * blocks);
    work.code->encode(exec, wb::make_view(static_cast<const std::uint8_t*>(sent.data()), blocks, k),
                      wb::make_view(coded.data(), blocks, n));
    if (work.receiver)  // each codeword in uses of its own
      work.receiver->interleaver().interleave(
          exec, wb::make_view(static_cast<const std::uint8_t*>(coded.data()), blocks, n),
          wb::make_view(bits.data(), blocks, work.receiver->uses_per_frame() * users * m));
    else
      std::copy(coded.begin(), coded.end(), bits.begin());
  } else {
    bits = random_bits(run.items * users * m, rng);
  }
  std::vector<cf> x(run.items * users);
  mapper.run(exec, wb::make_view(static_cast<const std::uint8_t*>(bits.data()), x.size(), m),
             wb::make_view(x.data(), x.size()));
  if (run.chain == "precode") {
    std::copy(x.begin(), x.end(), y);
    return;
  }
  const std::size_t splits = run.chain == "uplink" ? static_cast<std::size_t>(run.splits) : 1;
  const auto channel_of = [&](std::size_t i) {
    return i % (run.items / splits) / std::max<std::size_t>(run.per_channel / splits, 1);
  };
  normals(y, columns * run.items, std::sqrt(n0), rng);
  for (std::size_t i = 0; i < run.items; i++) {
    check_interrupt(i);
    add_product(y + i * columns, h + channel_of(i) * entries, &x[i * users], columns, users);
  }
}

/// Transport blocks of random bits, each slot through an H of its own.
void stream_source::generate_slots(const stream_run& run, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  wb::cpu exec;
  const wb::nr_link_config slots = slots_of(run);
  const wb::nr_shared_channel channel(slots.channel);
  const wb::nr_transport_config transport = channel.transport(slots.mcs_table, slots.mcs);
  const auto a = static_cast<std::size_t>(transport.transport_bits),
             g = static_cast<std::size_t>(transport.coded_bits);
  auto& sent = sent_.emplace_back(random_bits(a * run.items, rng));
  std::vector<std::uint8_t> coded(g * run.items);
  wb::nr_transport_encoder(transport).run(
      exec, wb::make_view(static_cast<const std::uint8_t*>(sent.data()), run.items, a), 0,
      wb::make_view(coded.data(), run.items, g));
  const wb::qam_mapper mapper(wb::qam_of(slots));
  std::vector<cf> symbols(channel.symbols_of(0) * run.items);
  mapper.run(exec,
             wb::make_view(static_cast<const std::uint8_t*>(coded.data()), symbols.size(),
                           static_cast<std::size_t>(mapper.bits())),
             wb::make_view(symbols.data(), symbols.size()));
  const std::size_t uses = channel.elements(), ports = channel.ports();
  std::vector<cf> grid(run.items * uses * ports);
  channel.map(exec, {wb::make_view(static_cast<const cf*>(symbols.data()), run.items, channel.symbols_of(0))},
              wb::make_view(grid.data(), run.items * uses, ports));

  auto& frame = frames_.emplace_back();
  for (const wb::frame_port& p : chain_->inputs()) frame.emplace_back(made_bytes(p, run.items));
  const auto n0 = static_cast<float>(noise_of_slots(slots, run.snr_db));
  *reinterpret_cast<float*>(frame[1].data()) = n0;
  auto* y = reinterpret_cast<cf*>(frame[0].data());
  const std::size_t rx = chain_->inputs()[0].elements;
  std::vector<cf> h(run.items * rx * ports);
  normals(h.data(), h.size(), 1, rng);
  normals(y, run.items * uses * rx, std::sqrt(n0), rng);
  for (std::size_t i = 0; i < run.items * uses; i++) {
    check_interrupt(i);
    add_product(y + i * rx, &h[i / uses * rx * ports], &grid[i * ports], rx, ports);
  }
}

/// WiMAX frames of random bits. With maps the order of the bursts differs from one to the next of the
/// different frames. H of a tone is that of four taps, 0 to 3 samples late, and has unit power.
void stream_source::generate_wimax(const stream_run& run, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  wb::cpu exec;
  std::vector<std::size_t> order(run.wimax.modulations.size());
  std::iota(order.begin(), order.end(), 0);
  if (wb::wimax_link_of(run.wimax).maps)
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(seed % order.size()), order.end());
  const wb::wimax_link_config link = wb::wimax_link_of(run.wimax, order);
  wb::wimax_transmitter transmitter(link, exec, run.items);
  const auto symbols = static_cast<std::size_t>(link.frame.symbols()),
             tones = static_cast<std::size_t>(link.frame.profile.data_subcarriers),
             rx = static_cast<std::size_t>(link.space_time.rx_antennas);
  auto& sent = sent_.emplace_back();
  std::vector<std::vector<std::uint8_t>> bits;
  std::vector<wb::view<const std::uint8_t>> views;
  for (const wb::wimax_burst_sizes& s : transmitter.bursts()) {
    bits.push_back(random_bits(run.items * s.blocks * s.k, rng));
    sent.insert(sent.end(), bits.back().begin(), bits.back().end());
  }
  for (std::size_t b = 0; b < bits.size(); b++) {
    const wb::wimax_burst_sizes& s = transmitter.bursts()[b];
    views.push_back(
        wb::make_view(static_cast<const std::uint8_t*>(bits[b].data()), run.items * s.blocks, s.k));
  }
  std::vector<cf> x(run.items * symbols * tones * 2);
  transmitter.run(views, wb::make_frame_grid(x.data(), run.items, symbols, tones, 2));

  constexpr std::size_t taps = 4;
  std::vector<cf> line(run.items * taps * rx * 2), h(run.items * tones * rx * 2);
  normals(line.data(), line.size(), std::sqrt(1.f / taps), rng);
  for (std::size_t i = 0; i < run.items * tones; i++)
    for (std::size_t tap = 0; tap < taps; tap++) {
      const auto turn =
          std::polar(1.f, -2 * std::numbers::pi_v<float> * static_cast<float>(tap * (i % tones)) /
                              static_cast<float>(link.frame.profile.fft_size));
      for (std::size_t e = 0; e < rx * 2; e++)
        h[i * rx * 2 + e] += line[(i / tones * taps + tap) * rx * 2 + e] * turn;
    }

  auto& frame = frames_.emplace_back();
  for (const wb::frame_port& p : chain_->inputs()) frame.emplace_back(made_bytes(p, run.items));
  const auto n0 = static_cast<float>(2 * std::pow(10, -run.snr_db / 10));  // two antennas with Es = 1
  const std::size_t received = link.preamble ? 0 : 1;
  if (!link.preamble) std::memcpy(frame[0].data(), h.data(), h.size() * sizeof(cf));
  *reinterpret_cast<float*>(frame[received + 1].data()) = n0;
  auto* y = reinterpret_cast<cf*>(frame[received].data());
  normals(y, run.items * symbols * tones * rx, std::sqrt(n0), rng);
  for (std::size_t i = 0; i < run.items * symbols * tones; i++) {
    check_interrupt(i);
    const std::size_t tone = i / tones / symbols * tones + i % tones;
    add_product(y + i * rx, &h[tone * rx * 2], &x[i * 2], rx, 2);
  }
}

#if WARPBAND_HDF5
void stream_source::open(const stream_run& run) {
  file_ = std::make_shared<const wb::hdf5_reader>(run.source);
  const wb::hdf5_reader& file = *file_;
  bool counted = false;
  for (const wb::frame_port& p : chain_->inputs()) {
    const wb::hdf5_array a = file.describe(p.name);
    std::size_t elements = 1;
    for (std::size_t i = 1; i < a.shape.size(); i++) elements *= a.shape[i];
    const std::size_t rows = a.shape.empty() ? 1 : a.shape[0];
    if (a.type != wb::name_of(made_as(p)) || elements != p.elements)
      throw wb::file_error(run.source, "array \"" + p.name + "\" has rows of " + std::to_string(elements) +
                                           " " + a.type + ": expected " + std::to_string(p.elements) + " " +
                                           wb::name_of(made_as(p)));
    if (rows < p.rows_of(run.items))
      throw wb::file_error(run.source, "array \"" + p.name + "\" has " + std::to_string(rows) +
                                           " rows: a frame of stream.items = " + std::to_string(run.items) +
                                           " needs " + std::to_string(p.rows_of(run.items)));
    if (p.shared() && rows == 1) continue;  // the same for all frames
    const std::size_t frames = rows / p.rows_of(run.items);
    stored_ = counted ? std::min(stored_, frames) : frames;
    counted = true;
  }
  for (std::size_t f = 0; f < std::min(stored_, most_from_file); f++) {
    frames_.push_back(read(f));
    sent_.emplace_back();
  }
  print_remark(run.source, file.remark());
}
stream_source::frame_bytes stream_source::read(std::size_t f) const {
  frame_bytes frame;
  for (const wb::frame_port& p : chain_->inputs()) {
    frame.emplace_back(made_bytes(p, items_));
    const std::vector<std::size_t> shape = file_->describe(p.name).shape;
    const bool once = p.shared() && (shape.empty() || shape[0] == 1);
    const std::size_t rows = p.rows_of(items_), from = once ? 0 : f * rows;
    if (made_as(p) == wb::element_type::complex64)
      file_->read(p.name, from, rows, reinterpret_cast<cf*>(frame.back().data()));
    else
      file_->read(p.name, from, rows, reinterpret_cast<float*>(frame.back().data()));
  }
  round_to_halves(frame);
  return frame;
}
#else
void stream_source::open(const stream_run& run) {
  throw wb::file_error(run.source, "this build reads no HDF5 files (WARPBAND_HDF5)");
}
stream_source::frame_bytes stream_source::read(std::size_t) const { return {}; }
#endif

std::vector<const void*> stream_source::arrays(std::size_t frame) const {
  std::vector<const void*> pointers;
  for (const auto& a : frames_[frame]) pointers.push_back(a.data());
  return pointers;
}
void stream_source::fill(const wb::frame_slot& slot, std::size_t frame) const { copy(slot, frames_[frame]); }
void stream_source::fill_stored(const wb::frame_slot& slot, std::size_t frame) const {
  if (frame < frames_.size())
    copy(slot, frames_[frame]);
  else
    copy(slot, read(frame));
}
void stream_source::copy(const wb::frame_slot& slot, const frame_bytes& frame) const {
  const auto& ports = chain_->inputs();
  for (std::size_t i = 0; i < ports.size(); i++)
    std::memcpy(slot.bytes(i), frame[i].data(), ports[i].bytes_of(slot.items()));
}
