#pragma once
// Frames over flat Rayleigh fading with several antennas for the tests of iterative receivers, and their run.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <tests/codes.hpp>
#include <tests/detectors.hpp>
#include <tests/on_backends.hpp>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/mimo/mimo.hpp>
#include <warpband/core/status.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/link/source/source.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/receive/iterative.hpp>

namespace wb::testing {

/// Parts of receivers, by what differs.
inline code_config ldpc_of(int n, int iterations = 4) {
  code_config c("wimax-ldpc");
  n_in(c) = n;
  ldpc_decoder_in(c).iterations = iterations;
  return c;
}
inline code_config code_of(const std::string& type, int k = 0) {
  code_config c(type);
  if (k != 0) k_in(c) = k;
  return c;
}
inline detector_config detector_of(const std::string& type, int streams = 2, int qam = 16) {
  detector_config d{.type = type, .streams = streams, .rx_antennas = streams, .qam = qam};
  if (type == "nway") d.edit<nway_settings>().ways = 1;
  if (type == "kbest") d.edit<kbest_settings>().survivors = 8;
  return d;
}
inline receiver_config loop_of(int outer, receiver_interleaver order = receiver_interleaver::random) {
  return {.outer = outer, .interleaver = order};
}

/// What is sent and received, in host memory.
struct sent_frames {
  std::size_t frames = 0, uses_per_channel = 1;
  std::vector<std::uint8_t> bits, coded;  // [frames, k], [frames, n]
  std::vector<std::complex<float>> y, h;  // [uses, rx], [channels, rx * streams]
  std::vector<float> n0;                  // [uses]
  std::size_t rx = 0, gains = 0;
};

struct air_settings {
  double snr_db = 10;  // 10 log10(streams / N0)
  std::uint64_t seed = 1, first = 0;
  std::size_t uses_per_channel = 1;
};

/// Sends the frames [first, first + frames) of a code as a receiver expects them.
inline sent_frames send(executor& exec, const detector_config& d, const code_config& code,
                        const iterative_receiver& receiver, std::size_t frames, const air_settings& s = {}) {
  const auto codec = make_codec(code);
  const std::size_t k = codec->k(), n = codec->n(), uses = receiver.uses_per_frame(),
                    streams = static_cast<std::size_t>(d.streams),
                    rx = static_cast<std::size_t>(d.rx_antennas),
                    m = static_cast<std::size_t>(bits_per_symbol(d.qam)), vectors = frames * uses;
  auto bits = exec.make<std::uint8_t>(frames, k), coded = exec.make<std::uint8_t>(frames, n),
       order = exec.make<std::uint8_t>(frames, uses * streams * m);
  const auto polynomial = crc_of(code);
  const int crc = polynomial ? polynomial->degree : 0;
  random_bits(exec, bits, static_cast<int>(k) - crc, {s.seed, s.first, 0});
  if (polynomial) crc_attacher(static_cast<int>(k) - crc, *polynomial).run(exec, bits);
  codec->encode(exec, view<const std::uint8_t>(bits), coded);
  receiver.interleaver().interleave(exec, view<const std::uint8_t>(coded), order);
  auto symbols = exec.make<std::complex<float>>(vectors, streams),
       y = exec.make<std::complex<float>>(vectors, rx),
       h = exec.make<std::complex<float>>(vectors / s.uses_per_channel, rx * streams);
  qam_mapper(d.qam).run(exec, make_view(static_cast<const std::uint8_t*>(order.data()), vectors * streams, m),
                        make_view(symbols.data(), vectors * streams));
  apply_mimo_rayleigh(exec, view<const std::complex<float>>(symbols), y, h, s.uses_per_channel,
                      {s.seed, s.first * uses / s.uses_per_channel, 0});
  const float n0 = static_cast<float>(d.streams * std::pow(10, -s.snr_db / 10));
  const auto entries = make_view(y.data(), vectors * rx);
  add_awgn(exec, entries, entries, n0, {s.seed, s.first * uses * rx, 0});
  return {frames,
          s.uses_per_channel,
          exec.to_host(bits),
          exec.to_host(coded),
          exec.to_host(y),
          exec.to_host(h),
          std::vector<float>(vectors, n0),
          rx,
          rx * streams};
}

/// Frames first .. first + count - 1 of a batch whose frames share no channels.
inline sent_frames part_of(const sent_frames& f, std::size_t first, std::size_t count) {
  const auto cut = [&](const auto& values) {
    const auto per_frame = static_cast<std::ptrdiff_t>(values.size() / f.frames);
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(first) * per_frame;
    return std::remove_cvref_t<decltype(values)>(from, from + static_cast<std::ptrdiff_t>(count) * per_frame);
  };
  return {count, f.uses_per_channel, cut(f.bits), cut(f.coded), cut(f.y), cut(f.h), cut(f.n0), f.rx, f.gains};
}

/// [outer, frames, ...]
struct received_frames {
  std::vector<std::uint8_t> bits, status, use_status;
  std::vector<std::int32_t> iterations;
  std::vector<float> detected, extrinsic;
};
inline bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}
inline bool same(const received_frames& a, const received_frames& b) {
  return a.bits == b.bits && a.status == b.status && a.use_status == b.use_status &&
         a.iterations == b.iterations && same(a.detected, b.detected) && same(a.extrinsic, b.extrinsic);
}

/// Runs the receiver. `every_pass`: results after each outer iteration, else after the last.
inline received_frames receive(executor& exec, const iterative_receiver& receiver, const sent_frames& f,
                               const std::vector<float>& prior = {}, bool every_pass = true) {
  const std::size_t uses = f.frames * receiver.uses_per_frame(), n = receiver.n(),
                    rows = f.frames * (every_pass ? static_cast<std::size_t>(receiver.config().outer) : 1);
  const auto y = on_device(exec, f.y, uses, f.rx);
  const auto h = on_device(exec, f.h, uses / f.uses_per_channel, f.gains);
  const auto n0 = on_device(exec, f.n0, uses, 1);
  const auto a = on_device(exec, prior, prior.empty() ? 0 : f.frames, prior.empty() ? 0 : n);
  auto bits = exec.make<std::uint8_t>(rows, receiver.k()), status = exec.make<std::uint8_t>(rows, 1),
       use_status = exec.make<std::uint8_t>(uses, 1);
  auto iterations = exec.make<std::int32_t>(rows, 1);
  auto detected = exec.make<float>(rows, n), extrinsic = exec.make<float>(rows, n);
  heard in{h, f.uses_per_channel, y, n0, {}};
  if (!prior.empty()) in.prior = a;
  decided out{bits, {}, iterations, status, detected, {}, use_status};
  if (receiver.decoder().gives_extrinsic()) out.extrinsic = extrinsic;
  receiver.run(exec, in, out);
  return {exec.to_host(bits),
          exec.to_host(status),
          exec.to_host(use_status),
          exec.to_host(iterations),
          exec.to_host(detected),
          receiver.decoder().gives_extrinsic() ? exec.to_host(extrinsic) : std::vector<float>{}};
}

/// Wrong bits of each frame after each outer iteration: [outer, frames].
inline std::vector<int> errors_of(const received_frames& r, const sent_frames& f) {
  const std::size_t k = f.bits.size() / f.frames, rows = r.bits.size() / k;
  std::vector<int> errors(rows);
  for (std::size_t i = 0; i < rows; i++)
    for (std::size_t b = 0; b < k; b++) errors[i] += r.bits[i * k + b] != f.bits[i % f.frames * k + b];
  return errors;
}

}  // namespace wb::testing
