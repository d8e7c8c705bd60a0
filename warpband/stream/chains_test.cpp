// Every chain, through the pipeline, against a direct call: the same bits on every device, for any number of
// devices, streams and parts; and nothing allocated once frames flow.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <tests/allocations.hpp>
#include <tests/codes.hpp>
#include <tests/on_backends.hpp>
#include <warpband/exec/cuda.hpp>
#include <warpband/receive/chains.hpp>
#include <warpband/receive/iterative.hpp>
#include <warpband/receive/pusch.hpp>
#include <warpband/receive/transport_loop.hpp>
#include <warpband/stream/lane.hpp>
#include <warpband/stream/pipeline.hpp>

namespace chains_test {

using bytes = std::vector<std::byte>;
using cf = std::complex<float>;

/// A frame in host memory, an entry for each array.
struct host_frame {
  std::size_t items = 0;
  std::vector<bytes> in, out;
  template <class T>
  const T* input(std::size_t i) const {
    return reinterpret_cast<const T*>(in[i].data());
  }
  template <class T>
  T* output(std::size_t i) {
    return reinterpret_cast<T*>(out[i].data());
  }
};

using direct_call = std::function<void(host_frame&)>;
struct chain_case {
  std::string name;
  std::shared_ptr<const wb::frame_receiver> chain;
  std::vector<std::size_t> items;  // sizes, the largest last
  direct_call direct;              // fills `out`, on scalar code, without the room stream/
};

wb::view<const float> shared(const host_frame& f, std::size_t items) {
  return {f.input<float>(2), 1, items, 1, 0};
}
template <class T>
wb::view<T> rows(T* data, std::size_t items, std::size_t elements) {
  return wb::make_view(data, items, elements);
}

// What both the chain and the direct call are made of.
wb::detector_config detector_of(const std::string& type, int streams, int rx_antennas, int qam, int ways) {
  wb::detector_config c;
  c.type = type;
  c.streams = streams, c.rx_antennas = rx_antennas, c.qam = qam;
  if (ways != 0) c.set("ways", std::int64_t{ways});
  return c;
}
const wb::detector_config nway_44 = detector_of("nway", 4, 4, 16, 2),
                          nway_22 = detector_of("nway", 2, 2, 16, 1),
                          mmse_23 = detector_of("mmse", 2, 3, 64, 0);
const wb::uplink_config up_168{.antennas = 16, .users = 8, .qam = 16};
const wb::downlink_config down_168{.antennas = 16, .users = 8},
    down_168_cg{.antennas = 16, .users = 8, .solver = wb::massive_solver::cg, .iterations = 3};
const wb::stbc_config silver{.code = wb::space_time_code::silver(), .qam = 16, .rx_antennas = 2};
wb::code_config turbo_code() {
  wb::code_config c("lte-turbo");
  wb::testing::k_in(c) = 104;
  wb::testing::turbo_decoder_in(c).iterations = 3;
  return c;
}
wb::code_config ldpc_code() {
  wb::code_config c("wimax-ldpc");
  wb::testing::n_in(c) = 576;
  wb::testing::ldpc_decoder_in(c).iterations = 4;
  return c;
}
wb::code_config half_rate_turbo_code() {
  wb::code_config c = turbo_code();
  wb::testing::turbo_in(c).rate = wb::turbo_rate::half;
  return c;
}
wb::code_config conv_code() {
  wb::code_config c("conv");
  wb::testing::k_in(c) = 100;
  return c;
}
wb::code_config ctc_code() {
  wb::code_config c("ctc", {{"k", 96}, {"rate", std::string("1/2")}, {"iterations", 3}});
  return wb::completed(c);
}
direct_call detects(const wb::detector_config& detector, std::size_t uses_per_channel) {
  return [=](host_frame& f) {
    const auto exec = wb::testing::open_scalar();
    const auto d = wb::make_detector(detector);
    const std::size_t s = static_cast<std::size_t>(detector.streams),
                      r = static_cast<std::size_t>(detector.rx_antennas),
                      channels = (f.items + uses_per_channel - 1) / uses_per_channel;
    d->run(*exec,
           {.channel = rows(f.input<cf>(0), channels, r * s),
            .uses_per_channel = uses_per_channel,
            .received = rows(f.input<cf>(1), f.items, r),
            .noise_var = shared(f, f.items),
            .prior = {}},
           {.llr = rows(f.output<float>(0), f.items, d->bits_per_use()),
            .bits = {},
            .status = rows(f.output<std::uint8_t>(1), f.items, 1)});
  };
}
direct_call decodes(const wb::detector_config& detector, const wb::code_config& config) {
  return [=](host_frame& f) {
    const auto exec = wb::testing::open_scalar();
    const auto code = wb::make_codec(config);
    host_frame detected = f;
    const std::size_t bits = wb::make_detector(detector)->bits_per_use() * f.items, blocks = bits / code->n();
    detected.out = {bytes(bits * sizeof(float)), bytes(f.items)};
    detects(detector, 1)(detected);
    code->decode(*exec, rows<const float>(detected.output<float>(0), blocks, code->n()),
                 {.bits = rows(f.output<std::uint8_t>(0), blocks, code->k()),
                  .soft = {},
                  .iterations = rows(f.output<std::int32_t>(1), blocks, 1),
                  .status = {}});
  };
}

/// Six vectors share a channel of 16 antennas and 8 users. The detector is central or in clusters.
template <class Detector>
void detect_uplink(host_frame& f, const Detector& detector) {
  const auto exec = wb::testing::open_scalar();
  detector.run(*exec,
               {.channel = rows(f.input<cf>(0), f.items / 6, 128),
                .received = rows(f.input<cf>(1), f.items, 16),
                .noise_var = shared(f, f.items / 6),
                .symbols = 6},
               {.llr = rows(f.output<float>(0), f.items, 32),
                .equalized = {},
                .sinr = {},
                .status = rows(f.output<std::uint8_t>(1), f.items, 1)});
}
void detect_uplink_centrally(host_frame& f) { detect_uplink(f, wb::uplink_detector(up_168)); }
direct_call detects_in_clusters(const wb::clustered_uplink_config& config) {
  return [=](host_frame& f) { detect_uplink(f, wb::clustered_uplink_detector(config)); };
}
/// The vectors of each H one after the other, and back.
void detect_uplink_in_splits(host_frame& f) {
  const std::size_t channels = f.items / 6;
  const auto split = [&](std::size_t v) { return (v % 6 / 2 * channels + v / 6) * 2 + v % 2; };
  host_frame whole = f;
  auto* const y = reinterpret_cast<cf*>(whole.in[1].data());
  for (std::size_t v = 0; v < f.items; v++) std::copy_n(f.input<cf>(1) + split(v) * 16, 16, y + v * 16);
  detect_uplink_centrally(whole);
  for (std::size_t v = 0; v < f.items; v++) {
    std::copy_n(whole.output<float>(0) + v * 32, 32, f.output<float>(0) + split(v) * 32);
    f.output<std::uint8_t>(1)[split(v)] = whole.output<std::uint8_t>(1)[v];
  }
}
void detect_uplink_in_halves(host_frame& f) {
  const auto exec = wb::testing::open_scalar();
  wb::uplink_detector(up_168).run(
      *exec,
      wb::uplink_half_input{.channel = rows(f.input<wb::half_complex>(0), f.items / 6, 128),
                            .received = rows(f.input<wb::half_complex>(1), f.items, 16),
                            .noise_var = shared(f, f.items / 6),
                            .symbols = 6},
      {.llr = {},
       .llr_int8 = rows(f.output<std::int8_t>(0), f.items, 32),
       .equalized = {},
       .sinr = {},
       .status = rows(f.output<std::uint8_t>(1), f.items, 1)});
}

/// Five vectors share a channel.
template <class Precoder>
void precode(host_frame& f, const Precoder& precoder) {
  const auto exec = wb::testing::open_scalar();
  precoder.run(*exec,
               {.channel = rows(f.input<cf>(0), f.items / 5, 128),
                .sent = rows(f.input<cf>(1), f.items, 8),
                .noise_var = shared(f, f.items / 5),
                .symbols = 5},
               rows(f.output<cf>(0), f.items, 16), rows(f.output<std::uint8_t>(1), f.items, 1));
}
direct_call precodes_in_clusters(const wb::clustered_downlink_config& config) {
  return [=](host_frame& f) { precode(f, wb::clustered_downlink_precoder(config)); };
}
/// Four codewords share a channel.
void decode_space_time(host_frame& f) {
  const auto exec = wb::testing::open_scalar();
  wb::stbc_decoder(silver).run(*exec,
                               {.channel = rows(f.input<cf>(0), (f.items + 3) / 4, 4),
                                .codewords_per_channel = 4,
                                .received = rows(f.input<cf>(1), f.items, 4),
                                .noise_var = shared(f, f.items)},
                               {.llr = rows(f.output<float>(0), f.items, 16),
                                .bits = {},
                                .status = rows(f.output<std::uint8_t>(1), f.items, 1)});
}
/// `direct` with the first `count` arrays, of halves, converted to complex64.
direct_call widened(std::size_t count, const direct_call& direct) {
  return [=](host_frame& f) {
    host_frame wide = f;
    for (std::size_t i = 0; i < count; i++) {
      const std::size_t samples = f.in[i].size() / sizeof(wb::half_complex);
      wide.in[i].resize(samples * sizeof(cf));
      auto* to = reinterpret_cast<cf*>(wide.in[i].data());
      for (std::size_t k = 0; k < samples; k++) to[k] = wb::from_half(f.input<wb::half_complex>(i)[k]);
    }
    direct(wide);
    f.out = wide.out;
  };
}

/// Two uses share a channel.
direct_call receives(const wb::detector_config& detector, const wb::code_config& code,
                     const wb::receiver_config& config) {
  return [=](host_frame& f) {
    const auto exec = wb::testing::open_scalar();
    const wb::iterative_receiver receiver(detector, code, config);
    const std::size_t s = static_cast<std::size_t>(detector.streams),
                      r = static_cast<std::size_t>(detector.rx_antennas),
                      blocks = f.items / receiver.uses_per_frame(), uses = blocks * receiver.uses_per_frame();
    receiver.run(*exec,
                 {.channel = rows(f.input<cf>(0), (uses + 1) / 2, r * s),
                  .uses_per_channel = 2,
                  .received = rows(f.input<cf>(1), uses, r),
                  .noise_var = shared(f, uses),
                  .prior = {}},
                 {.bits = rows(f.output<std::uint8_t>(0), blocks, receiver.k()),
                  .iterations = rows(f.output<std::int32_t>(1), blocks, 1)});
  };
}
const wb::receiver_config two_outer{.outer = 2, .interleaver = wb::receiver_interleaver::random};

const wb::pusch_chain_config pusch_23{
    .channel = {.carrier = {.resource_blocks = 4}, .layers = 2, .dmrs = {.additional_positions = 1}},
    .mcs = 10,
    .estimator = {.method = wb::estimate_method::lmmse, .taps = 4, .doppler_hz = 100},
    .detector = detector_of("nway", 2, 3, 16, 1),
    .decoder = {.iterations = 4}};
/// Detects and decodes all slots at once.
using slot_decoder = std::function<void(wb::executor&, const wb::nr_transport_config&,
                                        const wb::detector_input&, const wb::nr_transport_output&)>;
void receive_slots_directly(host_frame& f, const wb::pusch_chain_config& c, const slot_decoder& decode) {
  const auto exec = wb::testing::open_scalar();
  const wb::nr_shared_channel channel(c.channel);
  const wb::channel_estimator estimator(wb::pilots_of(channel), c.estimator, channel.data_places());
  wb::nr_transport_config transport = channel.transport(c.mcs_table, c.mcs);
  transport.ldpc = c.decoder;
  const std::size_t uses = f.items * channel.data_elements(), r = 3, s = 2;
  std::vector<cf> h(uses * r * s), y(uses * r);
  std::vector<float> n0(uses);
  const auto received = rows(f.input<cf>(0), f.items * channel.elements(), r);
  estimator.run(*exec, received, {f.input<float>(1), 1, f.items, 1, 0},
                {.channel = rows(h.data(), uses, r * s), .noise_var = rows(n0.data(), uses, 1)});
  channel.extract(*exec, received, rows(y.data(), uses, r));
  decode(
      *exec, transport,
      {.channel = rows(static_cast<const cf*>(h.data()), uses, r * s),
       .uses_per_channel = 1,
       .received = rows(static_cast<const cf*>(y.data()), uses, r),
       .noise_var = rows(static_cast<const float*>(n0.data()), uses, 1),
       .prior = {}},
      {.bits = rows(f.output<std::uint8_t>(0), f.items, static_cast<std::size_t>(transport.transport_bits)),
       .ok = rows(f.output<std::uint8_t>(1), f.items, 1),
       .status = rows(f.output<std::uint8_t>(2), f.items, 1)});
}
void decode_slots(wb::executor& exec, const wb::nr_transport_config& transport, const wb::detector_input& in,
                  const wb::nr_transport_output& out) {
  const auto d = wb::make_detector(pusch_23.detector);
  const std::size_t g = static_cast<std::size_t>(transport.coded_bits), slots = out.ok.items;
  std::vector<float> llr(slots * g);
  d->run(exec, in, {.llr = rows(llr.data(), in.received.items, d->bits_per_use()), .bits = {}, .status = {}});
  wb::nr_transport_decoder decoder(transport);
  decoder.combine(exec, rows(static_cast<const float*>(llr.data()), slots, g), 0);
  decoder.decode(exec, out);
  exec.sync();
}

const wb::receiver_config three_outer{.outer = 3, .inner = 2};
const wb::pusch_chain_config looped_pusch = [] {
  wb::pusch_chain_config c = pusch_23;
  c.detector = detector_of("pic", 2, 3, 16, 0);
  c.receiver = three_outer;
  return c;
}();
void loop_slots(wb::executor& exec, const wb::nr_transport_config& transport, const wb::detector_input& in,
                const wb::nr_transport_output& out) {
  wb::transport_loop loop(looped_pusch.detector, transport, three_outer);
  loop.allocate(exec, out.ok.items);
  loop.run(exec, {in.channel, in.uses_per_channel, in.received, in.noise_var, {}},
           {.bits = out.bits, .ok = out.ok, .iterations = {}, .status = out.status});
  exec.sync();
}

const std::vector<chain_case>& cases() {
  using enum wb::massive_cluster_method;
  const std::vector<std::size_t> uplink_sizes{6, 60, 180}, precode_sizes{5, 60, 150}, slots{1, 2, 3, 5};
  static const std::vector<chain_case> list{
      {"detect", wb::make_detect_chain({nway_44, 3}), {1, 7, 300, 1000}, detects(nway_44, 3)},
      {"detect_turbo",
       wb::make_decode_chain({nway_44, 1}, wb::make_codec(turbo_code())),
       {21, 100, 500},
       decodes(nway_44, turbo_code())},
      {"detect_ldpc",
       wb::make_decode_chain({mmse_23, 1}, wb::make_codec(ldpc_code())),
       {48, 100, 500},
       decodes(mmse_23, ldpc_code())},
      {"uplink", wb::make_uplink_chain({up_168, 6}), uplink_sizes, detect_uplink_centrally},
      {"uplink_in_splits", wb::make_uplink_chain({up_168, 6, 3}), uplink_sizes, detect_uplink_in_splits},
      {"uplink_in_halves",
       wb::make_uplink_chain({.detector = up_168, .symbols = 6, .splits = 1, .half = true, .llr_int8 = true}),
       uplink_sizes, detect_uplink_in_halves},
      {"precode", wb::make_precode_chain({down_168, 5}), precode_sizes,
       [](host_frame& f) { precode(f, wb::downlink_precoder(down_168)); }},
      {"stbc", wb::make_stbc_chain({silver, 4}), {1, 30, 202}, decode_space_time},
      {"detect_turbo_half",
       wb::make_decode_chain({nway_44, 1}, wb::make_codec(half_rate_turbo_code())),
       {14, 100, 500},
       decodes(nway_44, half_rate_turbo_code())},
      {"loop_ldpc",
       wb::make_receive_chain({nway_22, 2}, wb::iterative_receiver(nway_22, ldpc_code(), two_outer)),
       {72, 100, 220},
       receives(nway_22, ldpc_code(), two_outer)},
      {"loop_turbo",  // 41 uses for 324 bits and 4 places more
       wb::make_receive_chain({nway_22, 2}, wb::iterative_receiver(nway_22, turbo_code(), two_outer)),
       {41, 100, 170},
       receives(nway_22, turbo_code(), two_outer)},
      {"detect_conv",
       wb::make_decode_chain({mmse_23, 1}, wb::make_codec(conv_code())),
       {18, 100, 500},
       decodes(mmse_23, conv_code())},
      {"detect_ctc",
       wb::make_decode_chain({mmse_23, 1}, wb::make_codec(ctc_code())),
       {16, 100, 500},
       decodes(mmse_23, ctc_code())},
      {"loop_ctc",
       wb::make_receive_chain({nway_22, 2}, wb::iterative_receiver(nway_22, ctc_code(), two_outer)),
       {24, 100, 170},
       receives(nway_22, ctc_code(), two_outer)},
      {"uplink_in_clusters", wb::make_uplink_chain({.detector = up_168, .symbols = 6, .clusters = 4}),
       uplink_sizes, detects_in_clusters({up_168, 4})},
      {"uplink_with_local_detectors",
       wb::make_uplink_chain({.detector = up_168, .symbols = 6, .clusters = 2, .cluster_method = local_mmse}),
       uplink_sizes, detects_in_clusters({up_168, 2, local_mmse})},
      {"precode_in_clusters", wb::make_precode_chain({down_168_cg, 5, 2, cg}), precode_sizes,
       precodes_in_clusters({down_168_cg, 2, cg})},
      {"uplink_in_halves_in_clusters",
       wb::make_uplink_chain({.detector = up_168, .symbols = 6, .half = true, .clusters = 4}), uplink_sizes,
       widened(2, detects_in_clusters({up_168, 4}))},
      {"uplink_in_halves_with_local_detectors",
       wb::make_uplink_chain(
           {.detector = up_168, .symbols = 6, .half = true, .clusters = 2, .cluster_method = local_mmse}),
       uplink_sizes, widened(2, detects_in_clusters({up_168, 2, local_mmse}))},
      {"precode_in_halves", wb::make_precode_chain({.precoder = down_168, .symbols = 5, .half = true}),
       precode_sizes, widened(1, precodes_in_clusters({down_168}))},
      {"precode_in_halves_in_clusters", wb::make_precode_chain({down_168_cg, 5, 2, cg, true}), precode_sizes,
       widened(1, precodes_in_clusters({down_168_cg, 2, cg}))},
      {"pusch", wb::make_pusch_chain(pusch_23), slots,
       [](host_frame& f) { receive_slots_directly(f, pusch_23, decode_slots); }},
      {"loop_pusch", wb::make_pusch_chain(looped_pusch), slots,
       [](host_frame& f) { receive_slots_directly(f, looped_pusch, loop_slots); }},
  };
  return list;
}

/// Normal numbers in, the direct call's out; some frames with an item that is erased.
host_frame make_frame(const chain_case& c, std::size_t items, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::normal_distribution<float> normal;
  host_frame f;
  f.items = items;
  for (const wb::frame_port& p : c.chain->inputs()) {
    f.in.emplace_back(p.bytes_of(items));
    if (p.type == wb::element_type::complex32) {
      auto* z = reinterpret_cast<wb::half_complex*>(f.in.back().data());
      for (std::size_t i = 0; i < f.in.back().size() / sizeof *z; i++) {
        const float re = normal(rng);
        z[i] = wb::to_half({re, normal(rng)});
      }
      if (seed % 4 == 1) z[0] = wb::to_half({NAN, 0});
      continue;
    }
    auto* x = reinterpret_cast<float*>(f.in.back().data());
    for (std::size_t i = 0; i < f.in.back().size() / sizeof(float); i++)
      x[i] = p.shared() ? 0.05f : normal(rng);
    if (!p.shared() && seed % 4 == 1) x[0] = NAN;
  }
  for (const wb::frame_port& p : c.chain->outputs()) f.out.emplace_back(p.bytes_of(items));
  c.direct(f);
  return f;
}

std::vector<const void*> arrays_of(const host_frame& f) {
  std::vector<const void*> arrays;
  for (const bytes& b : f.in) arrays.push_back(b.data());
  return arrays;
}
/// How many arrays of a result have other bits than the direct call gave.
int differences(const chain_case& c, const wb::frame_result& r, const host_frame& f) {
  int wrong = 0;
  for (std::size_t i = 0; i < f.out.size(); i++)
    wrong += std::memcmp(r.outputs + wb::offset_of(c.chain->outputs(), i, r.items), f.out[i].data(),
                         f.out[i].size()) != 0;
  return wrong;
}

/// Frames of all sizes through a pipeline; how many came back with other bits.
int differences(const chain_case& c, wb::pipeline_config config, int frames) {
  std::vector<host_frame> different;
  for (std::size_t i = 0; i < 2 * c.items.size(); i++)
    different.push_back(make_frame(c, c.items[i % c.items.size()], i));
  std::atomic<int> wrong = 0;
  config.most_items = c.items.back();
  wb::frame_pipeline p(c.chain, config, [&](const wb::frame_result& r) {
    if (r.status != wb::frame_status::delivered) wrong++;
    wrong += differences(c, r, different[r.token]);
  });
  for (int n = 0; n < frames; n++) {
    const host_frame& f = different[static_cast<std::size_t>(n) % different.size()];
    p.push(f.items, arrays_of(f), static_cast<std::uint64_t>(n) % different.size());
  }
  p.drain();
  EXPECT_EQ(p.counters().delivered, static_cast<std::uint64_t>(frames));
  if (!config.graph_items.empty() && config.devices[0] != "cpu") {
    EXPECT_GT(p.graphs(), 0U);
  }
  return wrong;
}

class stream_chain : public ::testing::TestWithParam<std::size_t> {
 protected:
  const chain_case& what() const { return cases()[GetParam()]; }
};
INSTANTIATE_TEST_SUITE_P(all, stream_chain, ::testing::Range<std::size_t>(0, cases().size()),
                         [](const auto& one) { return cases()[one.param].name; });

TEST_P(stream_chain, equals_a_direct_call_on_a_cpu) {
  for (const std::size_t devices : {1U, 2U})
    for (const int streams : {1, 3})
      for (const int threads : {1, 2})
        EXPECT_EQ(differences(what(),
                              {.devices = std::vector<std::string>(devices, "cpu"),
                               .streams = streams,
                               .threads = threads,
                               .queue = 4},
                              24),
                  0)
            << devices << " devices, " << streams << " streams, " << threads << " threads";
}

TEST_P(stream_chain, equals_a_direct_call_on_cuda_devices) {
  const std::size_t device_count = wb::cuda_devices().size();
  if (device_count == 0) GTEST_SKIP() << "no CUDA device here";
  const std::size_t sizes = what().items.size();
  std::vector<std::vector<std::string>> devices{{"cuda:0"}, {"cuda:0", "cpu"}};
  if (device_count > 1) devices.push_back({"cuda:0", "cuda:1"});
  if (device_count > 2) {
    devices.emplace_back();
    for (std::size_t d = 0; d < device_count; d++) devices.back().push_back("cuda:" + std::to_string(d));
  }
  for (const auto& names : devices)
    for (const auto waiting : {wb::wait_policy::block, wb::wait_policy::spin}) {
      const int streams = waiting == wb::wait_policy::block ? 1 : 3;
      const std::size_t trace = waiting == wb::wait_policy::block ? 0 : 8;
      const wb::pipeline_config c{
          .devices = names, .streams = streams, .queue = 6, .waiting = waiting, .trace = trace};
      EXPECT_EQ(differences(what(), c, 60), 0) << names.size() << " devices, " << streams << " streams";
      wb::pipeline_config graphs = c;
      graphs.graph_items = {what().items[sizes - 1], what().items[sizes - 2]};
      EXPECT_EQ(differences(what(), graphs, 60), 0) << "graphs, " << streams << " streams";
      wb::pipeline_config groups = c;
      groups.batch = 4;
      groups.queue = 16;
      chain_case one_size = what();
      one_size.items = {what().items.back()};
      EXPECT_EQ(differences(one_size, groups, 200), 0) << "groups, " << streams << " streams";
      EXPECT_EQ(differences(what(), groups, 60), 0) << "groups of several sizes, " << streams << " streams";
      if (what().chain->granularity(what().items.back()) == 0) continue;
      wb::pipeline_config parts = c;
      parts.parts = streams == 1 ? 7 : 3;
      EXPECT_EQ(differences(what(), parts, 60), 0) << parts.parts << " parts, " << streams << " streams";
    }
}

TEST_P(stream_chain, a_cuda_device_tells_when_frames_were_where) {
  if (wb::cuda_devices().empty()) GTEST_SKIP() << "no CUDA device here";
  const std::size_t items = what().items.back();
  const host_frame f = make_frame(what(), items, 2);
  const std::vector<const void*> arrays = arrays_of(f);
  enum { copied, grouped, in_parts, as_graphs };
  for (const int kind : {copied, grouped, in_parts, as_graphs}) {
    wb::pipeline_config c{.devices = {"cuda:0"}, .streams = 2, .most_items = items, .queue = 4, .trace = 100};
    if (kind == grouped) c.batch = 3;
    if (kind == in_parts && what().chain->granularity(items) == 0) continue;
    if (kind == in_parts) c.parts = 3;
    if (kind == as_graphs) c.graph_items = {items};
    wb::frame_pipeline p(what().chain, c);
    for (int n = 0; n < 40; n++) p.push(items, arrays);
    p.drain();
    // Its clock counts from a new event then.
    if (kind == copied) std::this_thread::sleep_for(std::chrono::milliseconds(600));
    for (int n = 0; n < 40; n++) p.push(items, arrays);
    p.drain();
    p.stop();
    const wb::stream_trace trace = p.trace();
    EXPECT_EQ(trace.frames, 80U);
    ASSERT_EQ(trace.slowest.size(), 80U);
    const auto us = [](auto time) { return std::chrono::duration<double, std::micro>(time).count(); };
    std::vector<wb::frame_times> frames(80);
    for (const wb::traced_frame& frame : trace.slowest) {
      const wb::lane_times& t = frame.times.on_device;
      ASSERT_NE(t.downloaded, wb::lane_times::no_time);
      EXPECT_LT(t.upload_begun, t.downloaded);
      EXPECT_EQ(t.uploaded == wb::lane_times::no_time, kind == as_graphs);
      EXPECT_EQ(t.computed == wb::lane_times::no_time, kind == as_graphs);
      if (kind != as_graphs) {
        EXPECT_LT(t.upload_begun, t.uploaded);
        EXPECT_LT(t.uploaded, t.computed);
        EXPECT_LE(t.computed, t.downloaded);
      }
      // The host saw the work begin and end within its own times.
      EXPECT_LE(t.downloaded - t.upload_begun, us(frame.times.seen - frame.times.started) + 5);
      frames[frame.times.sequence] = frame.times;
    }
    // Both clocks go on at the same pace, also over the pause: of a device's work the host knows when it was
    // not begun yet and when it was over.
    const auto &last = frames[39], &first = frames[40];  // before and behind it
    constexpr double apart = 1000;
    EXPECT_GE(first.on_device.downloaded - last.on_device.upload_begun, us(first.started - last.seen) - apart)
        << kind;
    EXPECT_LE(first.on_device.downloaded - last.on_device.upload_begun, us(first.seen - last.started) + apart)
        << kind;
  }
}

constexpr wb::fault_moment moments[]{wb::fault_moment::start, wb::fault_moment::started,
                                     wb::fault_moment::done};

TEST_P(stream_chain, a_cuda_device_that_fails_takes_no_frame_with_it) {
  if (wb::cuda_devices().empty()) GTEST_SKIP() << "no CUDA device here";
  chain_case one_size = what();
  one_size.items = {what().items.back()};
  for (const auto moment : moments) {
    wb::pipeline_config c{.devices = {"cuda:0", "cpu"}, .streams = 3, .queue = 6};
    c.fault = [moment](const wb::fault_point& f) {
      if (f.moment == moment && f.device == 0 && f.sequence >= 20) throw wb::device_error("the GPU is gone");
    };
    EXPECT_EQ(differences(what(), c, 60), 0);
    c.queue = 16, c.batch = 4;  // in groups
    EXPECT_EQ(differences(one_size, c, 60), 0);
  }
}

TEST_P(stream_chain, frames_of_a_group_fail_one_by_one) {
  if (wb::cuda_devices().empty()) GTEST_SKIP() << "no CUDA device here";
  chain_case one_size = what();
  one_size.items = {what().items.back()};
  for (const auto moment : moments) {
    std::atomic<int> failed = 0, delivered = 0;
    wb::pipeline_config config{
        .devices = {"cuda:0"}, .streams = 2, .most_items = one_size.items[0], .queue = 16, .batch = 4};
    config.fault = [moment](const wb::fault_point& f) {
      if (f.moment == moment && f.sequence % 10 == 3) throw std::runtime_error("not this frame");
    };
    const host_frame frame = make_frame(one_size, one_size.items[0], 2);
    wb::frame_pipeline p(what().chain, config, [&](const wb::frame_result& r) {
      EXPECT_EQ(r.status == wb::frame_status::failed, r.sequence % 10 == 3);
      (r.status == wb::frame_status::failed ? failed : delivered)++;
    });
    for (int n = 0; n < 60; n++) p.push(frame.items, arrays_of(frame));
    p.drain();
    EXPECT_EQ(failed, 6);
    EXPECT_EQ(delivered, 54);
  }
}

/// A chain that, once it is told to, hangs on a CUDA device: its stream waits for `go_on`.
struct hanging {
  std::atomic<int> until{-1};  // stages on a GPU that do not hang yet, or below 0 where none does;
                               // CPUs wait for the one that hangs
  std::atomic<bool> told{false}, go_on{false};
};
std::shared_ptr<const wb::frame_receiver> hanging_chain(std::shared_ptr<const wb::frame_receiver> inner,
                                                        std::shared_ptr<hanging> h) {
  return std::make_shared<wb::frame_receiver>(wb::frame_receiver_parts{
      .name = inner->name(),
      .inputs = inner->inputs(),
      .outputs = inner->outputs(),
      .stages = inner->stages(),
      .granularity = inner->granularity(1),
      .multiple = inner->multiple(),
      .least_items = inner->least_items(),
      .attach = [inner, h](wb::executor& exec, std::size_t most_items) -> wb::frame_run {
        return
            [h, &exec, run = inner->attach(exec, most_items)](std::size_t stage, const wb::frame_arrays& f) {
              auto* const gpu = dynamic_cast<wb::cuda*>(&exec);
              while (gpu == nullptr && h->until >= 0)
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
              if (gpu != nullptr && h->until >= 0 && h->until-- == 0)
                gpu->notify(
                    [](void* go_on) {
                      while (!*static_cast<std::atomic<bool>*>(go_on))
                        std::this_thread::sleep_for(std::chrono::milliseconds(1));
                    },
                    &h->go_on);
              run(stage, f);
            };
      }});
}

TEST_P(stream_chain, a_cuda_device_that_hangs_takes_no_frame_with_it) {
  if (wb::cuda_devices().empty()) GTEST_SKIP() << "no CUDA device here";
  if (GetParam() > 1) GTEST_SKIP() << "what hangs is told of the first two chains";  // memory stays behind
  // Alone, or where a frame or the device fails behind the frame that it hangs under.
  enum class failure { none, frame, device };
  for (const auto& [other, waiting, with] : {std::tuple(true, wb::wait_policy::spin, failure::none),
                                             std::tuple(false, wb::wait_policy::spin, failure::none),
                                             std::tuple(true, wb::wait_policy::block, failure::none),
                                             std::tuple(false, wb::wait_policy::block, failure::none),
                                             std::tuple(true, wb::wait_policy::spin, failure::frame),
                                             std::tuple(true, wb::wait_policy::block, failure::device)}) {
    const auto hangs = std::make_shared<hanging>();
    const auto chain = hanging_chain(what().chain, hangs);
    const host_frame frame = make_frame(what(), what().items.back(), 2);
    std::vector<std::string> devices{"cuda:0"};
    if (other) devices.push_back("cpu");
    std::uint64_t pushed = 0, refused = 0;
    std::atomic<int> wrong = 0;
    std::atomic<bool> failed = false;
    wb::pipeline_config c{.devices = devices,
                          .streams = 2,
                          .most_items = frame.items,
                          .queue = 8,
                          .waiting = waiting,
                          .timeout = std::chrono::milliseconds(300)};
    if (with != failure::none)
      c.fault = [&, how = with](const wb::fault_point& f) {
        if (f.device != 0 || f.moment != wb::fault_moment::started || hangs->until >= 0) return;
        if (hangs->told && !failed.exchange(true)) {
          if (how == failure::device) throw wb::device_error("the device fails, too");
          throw std::runtime_error("the frame fails, too");
        }
      };
    std::optional<wb::frame_pipeline> p;
    p.emplace(chain, c, [&](const wb::frame_result& r) {
      if (r.status == wb::frame_status::delivered) wrong += differences(what(), r, frame);
    });
    hangs->until = 3;
    hangs->told = true;
    for (int n = 0; n < 60; n++) try {
        p->push(frame.items, arrays_of(frame));
        pushed++;
      } catch (const wb::device_error&) {
        refused++;
      }
    p->stop();
    const wb::pipeline_counters counts = p->counters();
    p.reset();  // waits no more than stop did
    EXPECT_EQ(counts.devices_failed, 1U);
    EXPECT_EQ(counts.pushed, pushed);
    EXPECT_EQ(counts.pushed, counts.delivered + counts.dropped + counts.failed);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(refused != 0, !other);
    EXPECT_EQ(counts.failed != 0, !other);
    EXPECT_EQ(failed.load(), with != failure::none);
    hangs->go_on = true;  // what is queued goes on, its notifications too
    const auto gpu = wb::open_executor("cuda:0");
    gpu->sync();
  }
}

TEST_P(stream_chain, parts_are_for_chains_that_can_be_cut) {
  EXPECT_EQ(wb::testing::blamed(
                [&] { wb::frame_pipeline(what().chain, {.most_items = what().items.back(), .parts = 2}); }),
            what().chain->granularity(what().items.back()) == 0 ? "parts" : "");
}

/// Allocations while 60 frames of all sizes pass, after `before` frames of the largest size: a standard
/// library allocates once for each thread.
long allocations_in(const chain_case& c, wb::pipeline_config config, int before) {
  std::vector<host_frame> frames;
  for (const std::size_t items : c.items) frames.push_back(make_frame(c, items, items));
  frames.push_back(make_frame(c, c.items.back(), 3));
  config.streams = 2, config.most_items = c.items.back(), config.trace = 20;
  wb::frame_pipeline p(c.chain, config, [](const wb::frame_result&) {});
  std::vector<const void*> arrays;
  arrays.reserve(8);
  const auto push = [&](const host_frame& f) {
    arrays.clear();
    for (const bytes& b : f.in) arrays.push_back(b.data());
    p.push(f.items, arrays);
  };
  for (int n = 0; n < before; n++) push(frames.back());
  p.drain();
  const long so_far = *wb::testing::allocations();
  for (std::size_t n = 0; n < 60; n++) push(frames[n % frames.size()]);
  p.drain();
  return *wb::testing::allocations() - so_far;
}

TEST_P(stream_chain, allocates_nothing_once_frames_flow) {
  if (!wb::testing::allocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
  // Each of a CPU's two threads gets one of the first two frames.
  std::atomic<int> begun = 0;
  const auto meet = [&](const wb::fault_point& f) {
    if (f.moment != wb::fault_moment::start || f.sequence > 1) return;
    begun++;
    while (begun < 2) std::this_thread::yield();
  };
  EXPECT_EQ(allocations_in(what(), {.devices = {"cpu"}, .threads = 2, .fault = meet}, 4), 0);
  if (wb::cuda_devices().empty()) return;
  EXPECT_EQ(allocations_in(what(), {.devices = {"cuda:0"}, .threads = 2}, 4), 0);
  const bool cut = what().chain->granularity(what().items.back()) != 0;
  for (const int parts : cut ? std::vector<int>{1, 3, 7} : std::vector<int>{1})
    EXPECT_EQ(allocations_in(what(),
                             {.devices = {"cuda:0"},
                              .parts = parts,
                              .batch = parts == 1 ? 4 : 1,
                              .timeout = std::chrono::seconds(10)},
                             1),
              0)
        << parts << " parts";
}

TEST(stream_chains, refuse_settings) {
  using wb::testing::blamed;
  EXPECT_EQ(blamed([] { (void)wb::make_detect_chain({nway_44, 0}); }), "uses_per_channel");
  EXPECT_EQ(blamed([] { (void)wb::make_decode_chain({nway_44, 1}, std::shared_ptr<wb::codec>()); }), "code");
  EXPECT_EQ(blamed([] { (void)wb::make_decode_chain({nway_44, 1}, std::shared_ptr<wb::soft_decoder>()); }),
            "decoder");
  EXPECT_EQ(blamed([] {
              (void)wb::make_receive_chain({nway_44, 1},
                                           wb::iterative_receiver(nway_22, ldpc_code(), two_outer));
            }),
            "receiver");
  EXPECT_EQ(blamed([] { (void)wb::make_uplink_chain({up_168, 0}); }), "symbols");
  EXPECT_EQ(blamed([] { (void)wb::make_uplink_chain({up_168, 6, 4}); }), "splits");
  EXPECT_EQ(blamed([] { (void)wb::make_precode_chain({down_168, 0}); }), "symbols");
  EXPECT_EQ(blamed([] { (void)wb::make_stbc_chain({silver, 0}); }), "codewords_per_channel");
  const auto clusters = [](int count, wb::massive_cluster_method method) {
    return blamed([&] {
      (void)wb::make_uplink_chain(
          {.detector = up_168, .symbols = 6, .clusters = count, .cluster_method = method});
    });
  };
  EXPECT_EQ(clusters(0, wb::massive_cluster_method::exact), "clusters");
  EXPECT_EQ(clusters(3, wb::massive_cluster_method::exact), "clusters");
  EXPECT_EQ(clusters(4, wb::massive_cluster_method::local_mmse),
            "clusters");  // less antennas than users in each
  EXPECT_EQ(clusters(2, wb::massive_cluster_method::cg), "solver");
  EXPECT_EQ(blamed([] { (void)wb::make_precode_chain({down_168, 5, 3}); }), "clusters");
  wb::uplink_config bad = up_168;
  bad.users = 0;
  EXPECT_EQ(blamed([&] { (void)wb::make_uplink_chain({bad, 6}); }), "users");
  // Frames that are no multiple of what shares an estimate, or too small for a codeword.
  EXPECT_EQ(blamed([] { wb::frame_pipeline(cases()[3].chain, {.most_items = 7}); }), "most_items");
  EXPECT_EQ(blamed([] { wb::frame_pipeline(cases()[1].chain, {.most_items = 20}); }), "most_items");
}

/// LLRs of a frame of the chain, without a pipeline.
std::vector<float> llrs(const wb::uplink_chain_config& config, const host_frame& f) {
  const auto exec = wb::testing::open_scalar();
  const auto chain = wb::make_uplink_chain(config);
  std::vector<float> llr(32 * f.items);
  std::vector<std::uint8_t> status(f.items);
  wb::frame_arrays arrays;
  for (std::size_t i = 0; i < f.in.size(); i++) arrays.inputs[i] = f.in[i].data();
  arrays.outputs[0] = llr.data(), arrays.outputs[1] = status.data();
  arrays.items = arrays.frame_items = f.items;
  chain->attach(*exec, f.items)(0, arrays);
  return llr;
}

TEST(stream_chains, antennas_in_one_cluster_are_the_central_detector) {
  const host_frame f = make_frame(cases()[3], 60, 2);
  const wb::uplink_chain_config central{.detector = up_168, .symbols = 6};
  wb::uplink_chain_config c = central;
  const std::vector<float> expected = llrs(central, f);
  c.cluster_method = wb::massive_cluster_method::local_mmse;
  EXPECT_EQ(llrs(c, f), expected);
  c.clusters = 4, c.cluster_method = wb::massive_cluster_method::exact;
  const std::vector<float> of_four = llrs(c, f);
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); i++) {
    error += std::pow(of_four[i] - expected[i], 2);
    norm += std::pow(expected[i], 2);
  }
  EXPECT_GT(error, 0);
  EXPECT_LT(error, 1e-8 * norm);
}

/// More antennas than one detector takes.
TEST(stream_chains, an_uplink_in_clusters_has_up_to_512_antennas_in_each) {
  const wb::uplink_config large{.antennas = 1024, .users = 8};
  EXPECT_EQ(wb::testing::blamed([&] { (void)wb::make_uplink_chain({large, 6}); }), "antennas");
  const auto chain = wb::make_uplink_chain({.detector = large, .symbols = 6, .clusters = 2});
  EXPECT_EQ(chain->inputs()[0].bytes_of(6), 1024U * 8 * 8);
  EXPECT_EQ(chain->outputs()[0].elements, 32U);
}

TEST(stream_chains, arrays_lie_where_they_are_said_to) {
  const auto chain = wb::make_uplink_chain({up_168, 6});
  EXPECT_EQ(chain->inputs()[0].rows_of(60), 10U);
  EXPECT_EQ(chain->inputs()[0].bytes_of(60), 10U * 128 * 8);
  EXPECT_EQ(chain->inputs()[2].rows_of(60), 1U);
  EXPECT_EQ(wb::offset_of(chain->inputs(), 0, 60), 0U);
  EXPECT_EQ(wb::offset_of(chain->inputs(), 1, 60), 10240U);
  EXPECT_EQ(wb::offset_of(chain->inputs(), 2, 60), 10240U + 60 * 16 * 8);
  EXPECT_EQ(wb::offset_of(chain->inputs(), 3, 60), 10240U + 60 * 16 * 8 + 256);
  const auto& turbo = *cases()[1].chain;  // 16 bits a use, n = 324, k = 104
  EXPECT_EQ(turbo.outputs()[0].rows_of(41), 2U);
  EXPECT_EQ(turbo.bits_of(41), 208);
}

}  // namespace chains_test
