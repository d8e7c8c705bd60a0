#include <warpband/link/exit/exit.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/mimo/mimo.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/link/exit/exit_args.hpp>
#include <warpband/link/source/source.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {

WB_DECLARE_KERNEL(exit_llrs)

namespace {

constexpr double most_sigma = 20;
constexpr std::size_t batch_bits = std::size_t{1} << 20;  // of a batch, about

void check(const exit_config& c) {
  check_range("bits", static_cast<long long>(c.bits), 1, 1000000000);
  for (const double i : c.prior_information)
    if (!(i >= 0 && i <= 1))
      throw argument_error("prior_information", as_message(setting_value(i)), "0 to 1 bits");
}
void check_snr(double snr_db) {
  if (!(snr_db >= -100 && snr_db <= 100))
    throw argument_error("snr_db", as_message(setting_value(snr_db)), "-100 to 100 dB");
}

/// Gaussian LLRs of bits, with so much information.
void draw_llrs(executor& exec, view<const std::uint8_t> bits, view<float> llr, double information,
               const random_range& range) {
  const double sigma = gaussian_sigma(information);
  exit_llrs_args a;
  a.bits = bits;
  a.llr = llr;
  a.mean = static_cast<float>(sigma * sigma / 2);
  a.deviation = information < 1 ? static_cast<float>(sigma) : 0.f;
  a.limit = most_feedback;
  a.range = range;
  exec.run(exit_llrs_kernels(), &a, llr.items);
}

/// Mutual information of bits and LLRs, from how often the sign is wrong among LLRs of a magnitude: each
/// octave has eight bins. An LLR of 0 says nothing.
class information_sum {
 public:
  /// Adds LLRs [items, n], side by side, of bits laid out alike; no data: zeros. `limit`: of factor * llr.
  void add(executor& exec, view<const std::uint8_t> bits, view<const float> llr, float factor = 1,
           float limit = std::numeric_limits<float>::max()) {
    const std::size_t n = llr.elements * llr.items;
    std::vector<float> x(n);
    std::vector<std::uint8_t> sent(bits.data != nullptr ? n : 0);
    exec.download(x.data(), llr.data, n * sizeof(float));
    if (!sent.empty()) exec.download(sent.data(), bits.data, n);
    exec.sync();
    for (std::size_t i = 0; i < n; i++) {
      const float magnitude = std::min(std::fabs(factor * x[i]), limit);
      const bool one = !sent.empty() && sent[i] != 0;
      bins_[std::bit_cast<std::uint32_t>(magnitude) >> 20][(x[i] < 0) != one]++;
    }
  }
  double mean() const {
    double total = static_cast<double>(bins_[0][0] + bins_[0][1]), information = 0;
    for (std::size_t i = 1; i < bins_.size(); i++) {
      const double right = static_cast<double>(bins_[i][0]), wrong = static_cast<double>(bins_[i][1]),
                   n = right + wrong;
      total += n;
      information += n;
      if (right == 0 || wrong == 0) continue;
      // Less the entropy of the sign. That of samples is too small by 1 / (2 n ln 2) bits (G. A. Miller,
      // 1955).
      information += right * std::log2(right / n) + wrong * std::log2(wrong / n) - 0.5 / std::log(2);
    }
    return std::max(0., information / total);
  }

 private:
  std::vector<std::array<std::uint64_t, 2>> bins_ = std::vector<std::array<std::uint64_t, 2>>(1 << 11);
};

/// f(first, items) for pieces of `items` items of `bits` bits each.
template <class F>
void in_batches(std::size_t items, std::size_t bits, F f) {
  const std::size_t piece = std::max<std::size_t>(1, batch_bits / bits);
  for (std::size_t first = 0; first < items; first += piece) f(first, std::min(piece, items - first));
}

/// Uses of the channel with what is sent in them, in memory of an executor.
struct fading_uses {
  array<std::complex<float>> symbols, received, channel;
  array<float> noise_var;

  /// Sends bits [uses, bits of a use]; `range.first` is the first use.
  fading_uses(executor& exec, const detector_config& d, const std::uint8_t* bits, std::size_t uses,
              double snr_db, const random_range& range) {
    const std::size_t streams = static_cast<std::size_t>(d.streams),
                      rx = static_cast<std::size_t>(d.rx_antennas),
                      m = static_cast<std::size_t>(bits_per_symbol(d.qam));
    symbols = exec.make<std::complex<float>>(uses, streams);
    received = exec.make<std::complex<float>>(uses, rx);
    channel = exec.make<std::complex<float>>(uses, rx * streams);
    qam_mapper(d.qam).run(exec, make_view(bits, uses * streams, m),
                          make_view(symbols.data(), uses * streams));
    apply_mimo_rayleigh(exec, view<const std::complex<float>>(symbols), received, channel, 1, range);
    const std::vector<float> n0{static_cast<float>(d.streams * std::pow(10, -snr_db / 10))};
    const auto entries = make_view(received.data(), uses * rx);
    add_awgn(exec, entries, entries, n0[0], {range.seed, range.first * rx, range.point});
    noise_var = exec.make_from(n0);
    exec.sync();  // n0 is read from here
  }
  view<const float> noise() const { return {noise_var.data(), 1, received.items(), 1, 0}; }
};

}  // namespace

double gaussian_information(double sigma) {
  if (!(sigma >= 0)) throw argument_error("sigma", as_message(setting_value(sigma)), "0 or more");
  if (sigma == 0) return 0;
  if (sigma >= most_sigma) return 1;
  // The rectangle rule is exact to double precision for an analytic integrand that falls as a Gaussian does.
  constexpr int steps = 400;
  double loss = 0, weight = 0;
  for (int i = -steps; i <= steps; i++) {
    const double g = 10.0 * i / steps, x = sigma * sigma / 2 + sigma * g, w = std::exp(-g * g / 2);
    loss += w * (std::max(-x, 0.0) + std::log1p(std::exp(-std::fabs(x))));
    weight += w;
  }
  return 1 - loss / weight / std::log(2);
}
double gaussian_sigma(double information) {
  if (!(information >= 0 && information <= 1))
    throw argument_error("information", as_message(setting_value(information)), "0 to 1 bits");
  double least = 0, greatest = most_sigma;
  if (information == 0 || information == 1) return information == 0 ? least : greatest;
  for (int i = 0; i < 60; i++) {
    const double middle = (least + greatest) / 2;
    (gaussian_information(middle) < information ? least : greatest) = middle;
  }
  return (least + greatest) / 2;
}

exit_curve detector_exit(executor& exec, const detector_config& config, double snr_db, const exit_config& c) {
  check(c);
  check_snr(snr_db);
  const auto detector = make_soft_detector(config);
  if (!detector->takes_prior()) throw argument_error("detector", config.type, "one that takes a-priori LLRs");
  const std::size_t bits = detector->bits_per_use(), total = (c.bits + bits - 1) / bits;
  std::vector<information_sum> sums(c.prior_information.size());
  in_batches(total, bits, [&](std::size_t first, std::size_t uses) {
    const random_range range{c.seed, first, 0};
    auto sent = exec.make<std::uint8_t>(uses, bits);
    auto prior = exec.make<float>(uses, bits), llr = exec.make<float>(uses, bits);
    random_bits(exec, sent, static_cast<int>(bits), range);
    const fading_uses air(exec, config, sent.data(), uses, snr_db, range);
    for (std::size_t i = 0; i < sums.size(); i++) {
      draw_llrs(exec, sent, prior, c.prior_information[i], range);
      detector->run(exec,
                    {.channel = air.channel,
                     .uses_per_channel = 1,
                     .received = air.received,
                     .noise_var = air.noise(),
                     .prior = prior},
                    {.llr = llr, .bits = {}, .status = {}});
      sums[i].add(exec, sent, llr);
    }
  });
  exit_curve curve{c.prior_information, {}};
  for (const information_sum& s : sums) curve.extrinsic.push_back(s.mean());
  return curve;
}

exit_curve decoder_exit(executor& exec, const soft_decoder& decoder, const exit_config& c) {
  check(c);
  if (!decoder.gives_extrinsic())
    throw argument_error("decoder", "one without extrinsic LLRs of the coded bits", "one with them");
  const std::size_t n = decoder.n(), total = (c.bits + n - 1) / n;
  std::vector<information_sum> sums(c.prior_information.size());
  in_batches(total, n, [&](std::size_t first, std::size_t frames) {
    auto llr = exec.make<float>(frames, n), extrinsic = exec.make<float>(frames, n);
    for (std::size_t i = 0; i < sums.size(); i++) {
      draw_llrs(exec, {}, llr, c.prior_information[i], {c.seed, first, 0});
      soft_decoder_output out;
      out.extrinsic = extrinsic;
      decoder.run(exec, llr, {}, out);
      sums[i].add(exec, {}, extrinsic);
    }
  });
  exit_curve curve{c.prior_information, {}};
  for (const information_sum& s : sums) curve.extrinsic.push_back(s.mean());
  return curve;
}

exit_trajectory loop_exit(executor& exec, const detector_config& detector, const code_config& code,
                          const receiver_config& config, double snr_db, const exit_config& c) {
  const iterative_receiver receiver(detector, code, config);
  const auto encoder = make_codec(code);
  std::optional<crc_attacher> crc;
  if (const auto polynomial = crc_of(code))
    crc.emplace(static_cast<int>(encoder->k()) - polynomial->degree, *polynomial);
  const auto encode = [&](executor& where, view<std::uint8_t> bits, view<std::uint8_t> coded) {
    if (crc) crc->run(where, bits);
    encoder->encode(where, bits, coded);
  };
  return loop_exit(exec, detector, receiver, encode, snr_db, c);
}

exit_trajectory loop_exit(executor& exec, const detector_config& detector, const iterative_receiver& receiver,
                          const frame_encoder& encode, double snr_db, const exit_config& c) {
  check(c);
  check_snr(snr_db);
  if (!receiver.decoder().gives_extrinsic())
    throw argument_error("decoder", "one without extrinsic LLRs of the coded bits", "one with them");
  const std::size_t k = receiver.k(), n = receiver.n(), uses = receiver.uses_per_frame(),
                    outer = static_cast<std::size_t>(receiver.config().outer);
  std::vector<information_sum> detected(outer), decoded(outer);
  in_batches((c.bits + n - 1) / n, n * outer, [&](std::size_t first, std::size_t frames) {
    auto bits = exec.make<std::uint8_t>(frames, k), coded = exec.make<std::uint8_t>(frames, n),
         sent = exec.make<std::uint8_t>(frames, uses * receiver.detector().bits_per_use());
    random_bits(exec, bits, static_cast<int>(k), {c.seed, first, 0});
    encode(exec, bits, coded);
    receiver.interleaver().interleave(exec, view<const std::uint8_t>(coded), sent);
    const fading_uses air(exec, detector, sent.data(), frames * uses, snr_db, {c.seed, first * uses, 0});
    auto in = exec.make<float>(outer * frames, n), out = exec.make<float>(outer * frames, n);
    decided results;
    results.detected = in;
    results.extrinsic = out;
    receiver.run(exec, {air.channel, 1, air.received, air.noise(), {}}, results);
    for (std::size_t j = 0; j < outer; j++) {
      detected[j].add(exec, coded, make_view(in.data() + j * frames * n, frames, n));
      decoded[j].add(exec, coded, make_view(out.data() + j * frames * n, frames, n),
                     receiver.config().scaling, most_feedback);
    }
  });
  exit_trajectory t;
  for (std::size_t j = 0; j < outer; j++) {
    t.detector.push_back(detected[j].mean());
    t.decoder.push_back(decoded[j].mean());
  }
  return t;
}

}  // namespace wb
