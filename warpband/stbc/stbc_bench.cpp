// Space-time codes: batches that fill the device, with a channel for every codeword and one for a frame
// (Bollapalli et al. estimate it once a WiMAX frame); and batches of two OFDM symbols of 720 tones, 10 MHz in
// their table I. Then their table III: fragments of 2^3 to 2^24 symbols, with the stages of figure 6 one by
// one; and table IV: WiMAX frames, a channel for each tone, a call for each frame.
#include <algorithm>
#include <bench/bench.hpp>
#include <complex>
#include <string>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/mimo/mimo.hpp>
#include <warpband/link/source/source.hpp>
#include <warpband/ofdm/wimax.hpp>
#include <warpband/stbc/stbc.hpp>

namespace {

using namespace wb;
using bench::figure;

enum class output { hard, soft, posterior };
const char* name_of(output result) {
  return result == output::hard ? "hard" : result == output::soft ? "soft" : "posterior";
}

/// What codewords need, channels behind them: one copy takes both.
struct channel_output {
  array<std::complex<float>> buffer;
  std::size_t width, gains, codewords, channels;

  channel_output() = default;
  channel_output(array<std::complex<float>> values, const stbc_config& c, std::size_t n, std::size_t matrices)
      : buffer(std::move(values)), width(width_of(c)), gains(gains_of(c)), codewords(n), channels(matrices) {}
  static channel_output on_device(executor& exec, const stbc_config& c, std::size_t n, std::size_t matrices) {
    return {exec.make<std::complex<float>>(width_of(c) * n + gains_of(c) * matrices, 1), c, n, matrices};
  }
  static channel_output on_host(executor& exec, const stbc_config& c, std::size_t n, std::size_t matrices) {
    return {exec.make_host<std::complex<float>>(width_of(c) * n + gains_of(c) * matrices, 1), c, n, matrices};
  }
  view<std::complex<float>> y() { return make_view(buffer.data(), codewords, width); }
  view<std::complex<float>> h() { return make_view(buffer.data() + width * codewords, channels, gains); }

 private:
  static std::size_t width_of(const stbc_config& c) {
    return static_cast<std::size_t>(c.code.uses() * c.rx_antennas);
  }
  static std::size_t gains_of(const stbc_config& c) {
    return static_cast<std::size_t>(c.code.channels() * c.code.tx_antennas() * c.rx_antennas);
  }
};

/// Random codewords through Rayleigh fading and noise of variance n0. A codeword is two uses of a channel.
void send(executor& exec, const stbc_config& c, channel_output& to, std::size_t per_channel, float n0) {
  const stbc_encoder encoder(c.code, c.qam);
  const std::size_t m = encoder.bits_per_codeword(), rx = static_cast<std::size_t>(c.rx_antennas),
                    codewords = to.codewords, uses = static_cast<std::size_t>(c.code.uses()),
                    tx = static_cast<std::size_t>(c.code.tx_antennas()),
                    shared = c.code.over_subcarriers() ? 1 : uses * per_channel;
  auto bits = exec.make<std::uint8_t>(codewords, m);
  auto sent = exec.make<std::complex<float>>(codewords, uses * tx);
  random_bits(exec, bits, static_cast<int>(m), {.seed = 1});
  encoder.run(exec, bits, sent);
  apply_mimo_rayleigh(exec, make_view(sent.data(), uses * codewords, tx),
                      make_view(to.y().data, uses * codewords, rx),
                      make_view(to.h().data, uses * codewords / shared, rx * tx), shared, {.seed = 2});
  const auto entries = make_view(to.y().data, to.width * codewords);
  add_awgn(exec, entries, entries, n0, {.seed = 3});
  exec.sync();
}

/// A-priori LLRs of a standard deviation of 2, two in a complex value.
array<std::complex<float>> priors(executor& exec, std::size_t bits, std::size_t codewords) {
  auto prior = exec.make<std::complex<float>>(codewords, bits / 2);
  const auto zero = exec.make_zeros<std::complex<float>>(1, 1);
  if (codewords != 0)
    add_awgn(exec, {zero.data(), 1, prior.size(), 1, 0}, make_view(prior.data(), prior.size()), 8,
             {.seed = 4});
  exec.sync();
  return prior;
}

bench::maker decode(const stbc_config& config, output result, std::size_t codewords,
                    std::size_t per_channel) {
  return [=](executor& exec, figure asked) {
    const bool fed = asked == figure::host_fed || asked == figure::sync, soft = result != output::hard;
    const stbc_decoder decoder(config);
    const std::size_t bits = decoder.bits_per_codeword(),
                      channels = (codewords + per_channel - 1) / per_channel;
    channel_output in = channel_output::on_device(exec, config, codewords, channels);
    constexpr float noise_var = 0.05f;
    send(exec, config, in, per_channel, noise_var);
    auto n0 = exec.make_from(std::vector<float>{noise_var});
    auto prior = priors(exec, bits, result == output::posterior ? codewords : 0);
    auto llr = exec.make<float>(soft ? codewords : 0, bits);
    auto decisions = exec.make<std::uint8_t>(soft ? 0 : codewords, bits);
    channel_output host_in = channel_output::on_host(exec, config, fed ? codewords : 0, fed ? channels : 0);
    auto host_llr = exec.make_host<float>(fed && soft ? codewords : 0, bits);
    auto host_decisions = exec.make_host<std::uint8_t>(fed && !soft ? codewords : 0, bits);
    if (fed) exec.download(host_in.buffer.data(), in.buffer.data(), in.buffer.bytes());
    exec.sync();
    return bench::job(static_cast<double>(codewords), static_cast<double>(bits * codewords),
                      [=, &exec, in = std::move(in), n0 = std::move(n0), prior = std::move(prior),
                       llr = std::move(llr), decisions = std::move(decisions), host_in = std::move(host_in),
                       host_llr = std::move(host_llr), host_decisions = std::move(host_decisions)]() mutable {
                        if (fed) exec.upload(in.buffer.data(), host_in.buffer.data(), in.buffer.bytes());
                        stbc_output out;
                        if (soft)
                          out.llr = llr;
                        else
                          out.bits = decisions;
                        stbc_input given{in.h(), per_channel, in.y(), {n0.data(), 1, codewords, 1, 0}, {}};
                        if (result == output::posterior)
                          given.prior =
                              make_view(reinterpret_cast<const float*>(prior.data()), codewords, bits);
                        decoder.run(exec, given, out);
                        if (fed && soft) exec.download(host_llr.data(), llr.data(), llr.bytes());
                        if (fed && !soft)
                          exec.download(host_decisions.data(), decisions.data(), decisions.bytes());
                      });
  };
}

/// `codewords`: 0 for a batch that fills the device.
void add(const std::string& device, const stbc_config& c, const char* code, output result,
         std::size_t per_channel, const std::vector<figure>& figures, std::size_t codewords = 0) {
  std::vector<bench::axis> axes{{"code", code},
                                {"qam", c.qam},
                                {"output", name_of(result)},
                                {"channel", per_channel == 1 ? "own" : "shared"}};
  if (codewords != 0) axes.emplace_back("codewords", static_cast<int>(codewords));
  const bool golden = c.code.kind() == space_time_kind::golden;
  const bool exhaustive = c.method == stbc_method::exhaustive && c.qam == 16;
  const std::size_t cpu = exhaustive || c.qam == 256 ? 32
                          : c.qam == 64              ? (golden ? 32 : 128)
                          : c.qam == 16              ? 1024
                                                     : 4096;
  const std::size_t cuda = std::size_t{1} << (exhaustive || c.qam == 256 ? 13
                                              : c.qam == 64              ? 17
                                              : c.qam == 16              ? 20
                                                                         : 22);
  const std::size_t n = codewords != 0 ? codewords : bench::batch_for(device, cpu, cuda);
  bench::add("stbc", device, axes, figures, decode(c, result, n - n % per_channel, per_channel));
}

/// What of a call there is: all of it, or copies alone.
enum class stage { all, copy_in, copy_out, copies };

/// The copies of `codewords` hard decisions that share channels: of what decode() copies, one direction or
/// both.
bench::maker copy(const stbc_config& config, stage part, std::size_t codewords, std::size_t per_channel) {
  return [=](executor& exec, figure) {
    const std::size_t bits = stbc_decoder(config).bits_per_codeword(), channels = codewords / per_channel;
    channel_output in = channel_output::on_device(exec, config, codewords, channels),
                   host_in = channel_output::on_host(exec, config, codewords, channels);
    auto decisions = exec.make<std::uint8_t>(codewords, bits);
    auto host_decisions = exec.make_host<std::uint8_t>(codewords, bits);
    return bench::job(static_cast<double>(codewords), static_cast<double>(bits * codewords),
                      [part, &exec, in = std::move(in), decisions = std::move(decisions),
                       host_in = std::move(host_in), host_decisions = std::move(host_decisions)]() mutable {
                        if (part != stage::copy_out)
                          exec.upload(in.buffer.data(), host_in.buffer.data(), in.buffer.bytes());
                        if (part != stage::copy_in)
                          exec.download(host_decisions.data(), decisions.data(), decisions.bytes());
                      });
  };
}

/// Silver, hard decisions; up to 16 codewords share a channel.
void add_fragments(const std::string& device) {
  const bool cpu = device == "cpu";
  stbc_config c;
  for (const int qam : {4, 16, 64}) {
    c.qam = qam;
    for (int exponent = 3; exponent <= 24; exponent++) {
      const std::size_t codewords = std::size_t{1} << (exponent - 2),
                        shared = std::min<std::size_t>(16, codewords);
      // What a scalar core does in 20 s.
      if (cpu && codewords * static_cast<std::size_t>(qam * qam) > std::size_t{1} << 29) continue;
      const auto axes = [&](const char* name) {
        return std::vector<bench::axis>{{"code", "silver"},
                                        {"qam", qam},
                                        {"output", "hard"},
                                        {"fragment", 1 << exponent},
                                        {"stage", name}};
      };
      bench::add("stbc_fragment", device, axes("all"),
                 {cpu ? figure::resident : figure::kernel, figure::host_fed, figure::sync},  // sync: figure 5
                 decode(c, output::hard, codewords, shared));
      if (cpu) continue;
      // What the copies alone allow, with those of others under way.
      if (exponent >= 17)
        bench::add("stbc_fragment", device, axes("copies"), {figure::host_fed},
                   copy(c, stage::copies, codewords, shared));
      if (qam == 64) continue;  // figure 6 is of 16-QAM
      bench::add("stbc_fragment", device, axes("copy_in"), {figure::sync},
                 copy(c, stage::copy_in, codewords, shared));
      bench::add("stbc_fragment", device, axes("copy_out"), {figure::sync},
                 copy(c, stage::copy_out, codewords, shared));
    }
  }
}

/// Silver, hard decisions: two symbols alone, all their data tones.
void add_wimax(const std::string& device) {
  stbc_config c;
  for (const wimax_profile& p : wimax_profiles())
    for (const int qam : {4, 16, 64}) {
      c.qam = qam;
      bench::add("stbc_wimax", device,
                 {{"code", "silver"}, {"qam", qam}, {"output", "hard"}, {"profile", p.name}, {"symbols", 2}},
                 {figure::small, figure::sync},
                 decode(c, output::hard, static_cast<std::size_t>(p.data_subcarriers), 1));
    }
}

const bench::group stbc_benches{[] {
  constexpr std::size_t frame = 24;  // codewords of a tone in a frame of 48 symbols
  struct named {
    const char* name;
    space_time_code code;
    golden_search search;
  };
  const named codes[]{{"alamouti", space_time_code::alamouti(), golden_search::exact},
                      {"silver", space_time_code::silver(), golden_search::exact},
                      {"golden", space_time_code::golden(), golden_search::exact},
                      {"golden_slicing", space_time_code::golden(), golden_search::slicing},
                      {"sfbc", space_time_code::sfbc(), golden_search::exact},
                      {"fstd", space_time_code::fstd(), golden_search::exact}};
  for (const std::string& device : bench::devices()) {
    const std::vector<figure> alone{device == "cpu" ? figure::resident : figure::kernel};
    for (const named& n : codes)
      for (const int qam : {4, 16, 64, 256})
        for (const output result : {output::hard, output::soft, output::posterior}) {
          if (result == output::posterior && n.search == golden_search::slicing) continue;
          stbc_config c;
          c.code = n.code;
          c.qam = qam;
          c.search = n.search;
          add(device, c, n.name, result, 1, alone);
          if (n.code.kind() != space_time_kind::pair || result == output::posterior) continue;
          add(device, c, n.name, result, frame, alone);
          add(device, c, n.name, result, frame, {figure::small}, 720);  // two OFDM symbols of 720 tones
          if (device != "cpu" && result == output::hard)
            add(device, c, n.name, result, frame, {figure::host_fed, figure::sync}, 1 << 17);
        }
    for (const named& n : codes)
      for (const int qam : {4, 16})
        for (const output result : {output::hard, output::soft}) {
          if (n.search == golden_search::slicing || n.code.kind() == space_time_kind::alamouti ||
              n.code.over_subcarriers())
            continue;
          stbc_config c;
          c.code = n.code;
          c.qam = qam;
          c.method = stbc_method::exhaustive;
          const std::string name = std::string(n.name) + "_exhaustive";
          add(device, c, name.c_str(), result, 1, alone);
        }
    add_fragments(device);
    add_wimax(device);
  }
}};

}  // namespace
