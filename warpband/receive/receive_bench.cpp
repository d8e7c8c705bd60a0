// The iterative receiver: 4x4, 802.16e 2304 r1/2, three outer iterations of five inner ones, at a working
// point: the whole of it over a large batch and over an LTE slot from host to host, and its parts one by one.
// Mb/s are information bits.
#include <bench/bench.hpp>
#include <cmath>
#include <complex>
#include <memory>
#include <numeric>
#include <tests/codes.hpp>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/mimo/mimo.hpp>
#include <warpband/detect/nway/nway.hpp>
#include <warpband/link/source/source.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/receive/frames.hpp>
#include <warpband/receive/iterative.hpp>

namespace {

using namespace wb;
using bench::figure;

code_config benched_code(ldpc_precision precision = ldpc_precision::float32) {
  code_config c("wimax-ldpc");
  testing::ldpc_decoder_in(c).precision = precision;
  return c;
}

/// What a batch of frames leaves on an executor.
struct received_batch {
  array<std::complex<float>> y, h;
  array<float> n0;
};
received_batch received(executor& exec, const detector_config& d, const iterative_receiver& receiver,
                        std::size_t frames, double snr_db) {
  const auto code = make_codec(benched_code());
  const std::size_t uses = frames * receiver.uses_per_frame(), streams = static_cast<std::size_t>(d.streams),
                    rx = static_cast<std::size_t>(d.rx_antennas),
                    m = static_cast<std::size_t>(bits_per_symbol(d.qam));
  auto bits = exec.make<std::uint8_t>(frames, code->k()), coded = exec.make<std::uint8_t>(frames, code->n());
  random_bits(exec, bits, static_cast<int>(code->k()), {.seed = 1});
  code->encode(exec, view<const std::uint8_t>(bits), coded);
  received_batch b{
      exec.make<std::complex<float>>(uses, rx), exec.make<std::complex<float>>(uses, rx * streams), {}};
  auto symbols = exec.make<std::complex<float>>(uses, streams);
  qam_mapper(d.qam).run(exec, make_view(std::as_const(coded).data(), uses * streams, m),
                        make_view(symbols.data(), uses * streams));
  apply_mimo_rayleigh(exec, view<const std::complex<float>>(symbols), b.y, b.h, 1, {.seed = 1});
  const std::vector<float> n0{static_cast<float>(d.streams * std::pow(10, -snr_db / 10))};
  const auto entries = make_view(b.y.data(), uses * rx);
  add_awgn(exec, entries, entries, n0[0], {.seed = 1});
  b.n0 = exec.make_from(n0);
  exec.sync();
  return b;
}

/// A loop, and the signal-to-noise ratio at which one frame in a hundred to one in twenty is wrong after
/// three outer iterations: seen with 16-QAM; that of 64-QAM is 6 dB higher.
struct case_of {
  std::string type;
  int qam, outer;
  double snr_db;
  ldpc_precision precision = ldpc_precision::float32;

  detector_config detector() const {
    detector_config d;
    d.type = type;
    d.streams = d.rx_antennas = 4;
    d.qam = qam;
    if (type == "nway") d.edit<nway_settings>().ways = 1;
    return d;
  }
  code_config code() const { return benched_code(precision); }
  receiver_config receiver() const { return {.outer = outer, .inner = 5}; }
  std::vector<bench::axis> axes() const {
    std::vector<bench::axis> list{{"detector", type}, {"antennas", "4x4"}, {"qam", qam}, {"n", 2304},
                                  {"rate", "1_2"},    {"outer", outer},    {"inner", 5}};
    if (precision == ldpc_precision::float16) list.emplace_back("precision", "float16");
    return list;
  }
};

bench::maker loop(const case_of& c, std::size_t frames) {
  return [=](executor& exec, figure measured) {
    const bool fed = measured == figure::sync;
    auto receiver = std::make_unique<iterative_receiver>(c.detector(), c.code(), c.receiver());
    auto in = received(exec, c.detector(), *receiver, frames, c.snr_db);
    auto bits = exec.make<std::uint8_t>(frames, receiver->k());
    auto host_y = exec.make_host<std::complex<float>>(in.y.items(), fed ? in.y.elements() : 0),
         host_h = exec.make_host<std::complex<float>>(in.h.items(), fed ? in.h.elements() : 0);
    auto host_bits = exec.make_host<std::uint8_t>(frames, fed ? receiver->k() : 0);
    if (fed) {
      exec.download(host_y.data(), in.y.data(), in.y.bytes());
      exec.download(host_h.data(), in.h.data(), in.h.bytes());
      exec.sync();
    }
    const std::size_t uses = frames * receiver->uses_per_frame();
    const double information = static_cast<double>(frames * receiver->k());
    return bench::job(
        static_cast<double>(frames), information,
        [=, &exec, receiver = std::move(receiver), in = std::move(in), bits = std::move(bits),
         host_y = std::move(host_y), host_h = std::move(host_h), host_bits = std::move(host_bits)]() mutable {
          if (fed) {
            exec.upload(in.y.data(), host_y.data(), in.y.bytes());
            exec.upload(in.h.data(), host_h.data(), in.h.bytes());
          }
          decided out;
          out.bits = bits;
          receiver->run(exec, {in.h, 1, in.y, {in.n0.data(), 1, uses, 1, 0}, {}}, out);
          if (fed) exec.download(host_bits.data(), bits.data(), bits.bytes());
        });
  };
}

/// The second outer iteration of a batch, of which no frame is finished yet: what the decoder said in the
/// first one, what the detector says with that, and the state that the decoder has kept.
struct second_iteration {
  case_of setting;
  std::size_t frames;
  std::unique_ptr<iterative_receiver> receiver;
  received_batch in;
  array<float> decoded, llr, state, out;
  array<std::uint8_t> bits;
  array<std::int32_t> every;

  second_iteration(executor& exec, const case_of& c, std::size_t count) : setting(c), frames(count) {
    receiver = std::make_unique<iterative_receiver>(c.detector(), c.code(), c.receiver());
    in = received(exec, c.detector(), *receiver, frames, c.snr_db);
    const std::size_t n = receiver->n(), size = receiver->decoder().state_size();
    decoded = exec.make<float>(frames, n), llr = exec.make<float>(frames, n),
    out = exec.make<float>(frames, n);
    state = exec.make<float>(frames, size);
    bits = exec.make<std::uint8_t>(frames, receiver->k());
    std::vector<std::int32_t> numbers(frames);
    std::iota(numbers.begin(), numbers.end(), 0);
    every = exec.make_from(numbers);
    detect(exec, {}, llr);
    decode(exec, {state, true}, decoded);
    detect(exec, decoded, llr);
    exec.sync();
  }
  std::size_t uses() const { return frames * receiver->uses_per_frame(); }
  void detect(executor& exec, view<const float> prior, view<float> to) const {
    const std::size_t per_use = receiver->detector().bits_per_use();
    detector_input i{in.h, 1, in.y, {in.n0.data(), 1, uses(), 1, 0}, {}};
    if (prior.data != nullptr) i.prior = make_view(prior.data, uses(), per_use);
    receiver->detector().run(exec, i, {.llr = make_view(to.data, uses(), per_use)});
  }
  void decode(executor& exec, const soft_decoder_state& from, view<float> to) {
    receiver->decoder().run(exec, llr, from, {.extrinsic = to, .bits = bits});
  }
  /// What an LDPC decoder says, as priors.
  void arrange(executor& exec) {
    frames_arrange_args a;
    a.elements = receiver->n();
    a.scaled = true;
    a.limit = most_feedback;
    a.in = decoded;
    a.out = out;
    run_frames_arrange(exec, a, frames);
  }
  /// The channels of a fourth of the frames.
  void gather(executor& exec, view<std::complex<float>> to) const {
    frames_gather_args a;
    a.frame = every.data();
    a.elements = in.h.elements();
    a.rows = a.of_frame = receiver->uses_per_frame();
    a.width = 2;
    a.in = reinterpret_cast<const float*>(in.h.data());
    a.row_stride = 2 * a.elements;
    a.element_stride = 2;
    a.out = reinterpret_cast<float*>(to.data);
    run_frames_gather(exec, a, frames / 4);
  }
};

using part = std::function<void(executor&, second_iteration&)>;

bench::maker part_of(const case_of& c, std::size_t frames, const part& call) {
  return [=](executor& exec, figure) {
    auto iteration = std::make_unique<second_iteration>(exec, c, frames);
    const double information = static_cast<double>(frames * iteration->receiver->k());
    return bench::job(static_cast<double>(frames), information,
                      [&exec, call, iteration = std::move(iteration)]() mutable { call(exec, *iteration); });
  };
}

void add_parts(const std::string& device, const case_of& c, bool detector) {
  const std::size_t frames = bench::batch_for(device, 32, 4096);
  const auto add = [&](const char* name, const part& call) {
    auto axes = c.axes();
    axes.insert(axes.begin(), {"part", name});
    bench::add("receive_part", device, axes, {device == "cpu" ? figure::resident : figure::kernel},
               part_of(c, frames, call));
  };
  if (detector) {
    add("detector_without_prior", [](executor& e, second_iteration& s) { s.detect(e, {}, s.out); });
    add("detector", [](executor& e, second_iteration& s) { s.detect(e, s.decoded, s.out); });
    add("priors", [](executor& e, second_iteration& s) { s.arrange(e); });
    add("gather_of_a_fourth",
        [to = std::make_shared<array<std::complex<float>>>()](executor& e, second_iteration& s) {
          if (to->size() == 0) *to = e.make<std::complex<float>>(s.in.h.items() / 4, s.in.h.elements());
          s.gather(e, *to);
        });
  }
  // Calls that write the state would go on from it: those that read it leave it as it is.
  add("decoder_without_state", [](executor& e, second_iteration& s) { s.decode(e, {}, s.out); });
  add("decoder_first", [](executor& e, second_iteration& s) { s.decode(e, {s.state, true}, s.out); });
  add("decoder_last", [](executor& e, second_iteration& s) { s.decode(e, {s.state, false, true}, s.out); });
}

const bench::group receive_benches{[] {
  constexpr auto float16 = ldpc_precision::float16;
  const std::string nway = "nway", pic = "pic";
  for (const std::string& device : bench::devices()) {
    const std::size_t many = bench::batch_for(device, 32, 4096);
    for (const case_of& c : {case_of{nway, 16, 1, 13.}, case_of{nway, 16, 3, 13.}, case_of{nway, 64, 3, 19.},
                             case_of{pic, 16, 3, 12.}, case_of{pic, 64, 3, 18.},
                             case_of{nway, 16, 3, 13., float16}, case_of{nway, 64, 3, 19., float16},
                             case_of{pic, 16, 3, 12., float16}, case_of{pic, 64, 3, 18., float16}})
      bench::add("receive", device, c.axes(), {figure::resident}, loop(c, many));
    for (const std::string& type : {nway, pic})
      for (const int qam : {16, 64})
        add_parts(device, {type, qam, 3, (type == nway ? 13. : 12.) + (qam == 64 ? 6. : 0.)}, true);
    add_parts(device, {pic, 16, 3, 12., float16}, false);
    if (device == "cpu") continue;
    // The frames that an LTE slot of 8400 vectors takes, and a bit more.
    for (const case_of& c : {case_of{nway, 16, 3, 13.}, case_of{nway, 64, 3, 19.}, case_of{pic, 16, 3, 12.},
                             case_of{pic, 64, 3, 18.}, case_of{pic, 16, 3, 12., float16}}) {
      const int frames = c.qam == 16 ? 59 : 88;
      auto axes = c.axes();
      axes.emplace_back("frames", frames);
      bench::add("receive", device, axes, {figure::sync, figure::small},
                 loop(c, static_cast<std::size_t>(frames)));
    }
  }
}};

}  // namespace
