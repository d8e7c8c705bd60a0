// Every class of a public header: what is left of a moved-from object gives one clear error, or what it gave
// before.
#include <gtest/gtest.h>

#include <complex>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tests/codes.hpp>
#include <warpband/channel/cdl/cdl.hpp>
#include <warpband/channel/impairments/impairments.hpp>
#include <warpband/channel/kronecker/kronecker.hpp>
#include <warpband/channel/tdl/tdl.hpp>
#include <warpband/core/packed.hpp>
#include <warpband/detect/ep/ep.hpp>
#include <warpband/detect/kbest/kbest.hpp>
#include <warpband/detect/linear/linear.hpp>
#include <warpband/detect/linear/mmse_backward.hpp>
#include <warpband/detect/ml/ml.hpp>
#include <warpband/detect/nway/nway.hpp>
#include <warpband/detect/pic/pic.hpp>
#include <warpband/detect/trellis/trellis.hpp>
#include <warpband/estimate/design.hpp>
#include <warpband/estimate/estimator.hpp>
#include <warpband/estimate/noise.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/exec/cuda.hpp>
#include <warpband/exec/energy.hpp>
#include <warpband/exec/forwarding.hpp>
#include <warpband/exec/group/group.hpp>
#include <warpband/exec/kept_blocks.hpp>
#include <warpband/exec/pool.hpp>
#include <warpband/exec/ranks.hpp>
#include <warpband/exec/shared_library.hpp>
#include <warpband/exec/sole_use.hpp>
#include <warpband/fec/bch/bch.hpp>
#include <warpband/fec/bcjr/bcjr.hpp>
#include <warpband/fec/blocks/ldpc_blocks.hpp>
#include <warpband/fec/blocks/turbo_blocks.hpp>
#include <warpband/fec/conv/conv.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/fec/ctc/ctc.hpp>
#include <warpband/fec/ctc/ctc_transport.hpp>
#include <warpband/fec/format/format.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>
#include <warpband/fec/lte/transport.hpp>
#include <warpband/fec/nr/block.hpp>
#include <warpband/fec/nr/transport.hpp>
#include <warpband/fec/osd/osd.hpp>
#include <warpband/fec/polar/polar.hpp>
#include <warpband/fec/puncture/puncture.hpp>
#include <warpband/fec/quantise/quantise.hpp>
#include <warpband/fec/short_block/short_block.hpp>
#include <warpband/fec/sparse_ldpc/min_sum_backward.hpp>
#include <warpband/fec/sparse_ldpc/sparse_ldpc.hpp>
#include <warpband/fec/turbo/turbo.hpp>
#include <warpband/fec/viterbi/viterbi.hpp>
#include <warpband/io/hdf5.hpp>
#include <warpband/io/npy.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/linalg/cholesky/cholesky.hpp>
#include <warpband/linalg/qr/qr.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/config/link_schema.hpp>
#include <warpband/link/rank_members.hpp>
#include <warpband/link/receiver_clock.hpp>
#include <warpband/link/result.hpp>
#include <warpband/link/team.hpp>
#include <warpband/link/whole_batches.hpp>
#include <warpband/massive/cluster/cluster.hpp>
#include <warpband/massive/soft_uplink/soft_uplink.hpp>
#include <warpband/modem/constellation/constellation.hpp>
#include <warpband/modem/demap/demap.hpp>
#include <warpband/modem/demap/demap_backward.hpp>
#include <warpband/modem/effective_sinr/effective_sinr.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/nr/pbch/pbch.hpp>
#include <warpband/nr/pdcch/pdcch.hpp>
#include <warpband/nr/prach/prach.hpp>
#include <warpband/nr/pucch/pucch.hpp>
#include <warpband/nr/shared_channel.hpp>
#include <warpband/nr/srs/srs.hpp>
#include <warpband/nr/sync/cell_search.hpp>
#include <warpband/nr/uci/pusch_uci.hpp>
#include <warpband/ofdm/modem/modem.hpp>
#include <warpband/ofdm/per_executor.hpp>
#include <warpband/receive/downlink.hpp>
#include <warpband/receive/downlink_generator.hpp>
#include <warpband/receive/frame_receiver.hpp>
#include <warpband/receive/iterative.hpp>
#include <warpband/receive/slot_arrays.hpp>
#include <warpband/receive/transport_loop.hpp>
#include <warpband/receive/wimax/frame.hpp>
#include <warpband/stbc/stbc.hpp>
#include <warpband/stream/lane.hpp>
#include <warpband/stream/pipeline.hpp>
#include <warpband/stream/trace.hpp>

namespace wb {
namespace moved_test {

using bytes = std::vector<std::uint8_t>;
using floats = std::vector<float>;
using complexes = std::vector<std::complex<float>>;

cpu& exec() {
  static cpu one({.threads = 1});
  return one;
}
template <class T>
auto rows(std::vector<T>& v, std::size_t elements) {
  return make_view(v.data(), v.size() / elements, elements);
}
template <class T>
auto rows(const std::vector<T>& v, std::size_t elements) {
  return make_view(v.data(), v.size() / elements, elements);
}
/// What is written to `size` values, `elements` an item.
template <class T, class F>
std::vector<T> written(std::size_t size, std::size_t elements, F run) {
  std::vector<T> out(size);
  run(rows(out, elements));
  exec().sync();
  return out;
}

std::set<std::string>& judged() {
  static std::set<std::string> names;
  return names;
}

/// `call` gives the same with an object, with the one that it was moved to, and when it has come back. With
/// what is left it gives the same too, or the error of moved-from objects.
template <class T, class F>
void defined(const std::string& name, T first, F call) {
  judged().insert(name);
  const auto right = call(first);
  T second = std::move(first);
  EXPECT_EQ(call(second), right) << name;
  try {
    EXPECT_EQ(call(first), right) << name;
  } catch (const error& e) {
    EXPECT_STREQ(e.what(), "this object was moved from") << name;
  }
  if constexpr (std::is_move_assignable_v<T>) {
    first = std::move(second);
    EXPECT_EQ(call(first), right) << name;
  }
}

const bytes ones(200000, 1);
const floats llrs(200000, 3.f);
const float n0 = 0.1f;
template <class T>
auto first(const std::vector<T>& v, std::size_t elements) {
  return make_view(v.data(), 1, elements);
}
const auto noise = [] { return make_view(&n0, 1, 1); };

void judge_constellations() {
  const constellation points({.type = "16apsk", .ring_ratios = {2.57}});
  defined("constellation", points, [](const constellation& c) { return c.points(); });
  defined("constellation_mapper", constellation_mapper(points), [](const constellation_mapper& m) {
    return written<std::complex<float>>(1, 1, [&](auto out) { m.run(exec(), first(ones, 4), out); });
  });
  defined("constellation_demapper", constellation_demapper(points), [](const constellation_demapper& d) {
    const complexes y{{0.5f, -1.f}};
    return written<float>(4, 4, [&](auto out) { d.run(exec(), {{}, rows(y, 1), noise()}, out); });
  });
}

void judge_codes() {
  const auto bits_of = [](std::size_t n, auto run) { return written<std::uint8_t>(n, n, run); };
  defined("turbo_encoder", turbo_encoder(40), [&](const turbo_encoder& e) {
    return bits_of(132, [&](auto out) { e.run(exec(), first(ones, 40), out); });
  });
  for (const auto p : {turbo_precision::float32, turbo_precision::bfloat16, turbo_precision::int16})
    defined("turbo_decoder",
            turbo_decoder({.k = 40, .algorithm = map_algorithm::max_log_map, .precision = p}),
            [&](const turbo_decoder& d) {
              return bits_of(40, [&](auto out) { d.run(exec(), first(llrs, 132), {.bits = out}); });
            });
  const ldpc_code code = wimax_ldpc(576, wimax_rate::r1_2);
  defined("ldpc_code", code, [](const ldpc_code& c) { return c.shift(0, 0) + c.n() + c.blocks(); });
  defined("ldpc_encoder", ldpc_encoder(code), [&](const ldpc_encoder& e) {
    return bits_of(576, [&](auto out) { e.run(exec(), first(ones, 288), out); });
  });
  for (const auto p : {ldpc_precision::float32, ldpc_precision::float16, ldpc_precision::int8})
    defined("ldpc_decoder", ldpc_decoder(code, {.precision = p}), [&](const ldpc_decoder& d) {
      return bits_of(288, [&](auto out) { d.run(exec(), first(llrs, 576), {.bits = out}); });
    });
  const parity_check_matrix sparse(6, {{0, 1, 2}, {0, 3, 4}, {1, 3, 5}, {2, 4, 5}});
  defined("parity_check_matrix", sparse, [](const parity_check_matrix& h) { return h.n() + h.rank(); });
  defined("sparse_ldpc_encoder", sparse_ldpc_encoder(sparse), [&](const sparse_ldpc_encoder& e) {
    return bits_of(6, [&](auto out) { e.run(exec(), first(ones, 3), out); });
  });
  defined("sparse_ldpc_decoder", sparse_ldpc_decoder(sparse), [&](const sparse_ldpc_decoder& d) {
    return bits_of(3, [&](auto out) { d.run(exec(), first(llrs, 6), {.bits = out}); });
  });
  defined("min_sum_backward", min_sum_backward(sparse, sparse_ldpc_config{}), [&](const min_sum_backward& b) {
    const std::size_t sent = as_size(b.sent());
    return written<float>(sent, sent, [&](auto out) {
      b.run(exec(), first(llrs, sent), first(llrs, as_size(b.n())), {.llr = out});
    });
  });
  defined("bp_osd", bp_osd(sparse, {}, {0.1}), [&](const bp_osd& d) {
    return bits_of(6, [&](auto out) { d.run(exec(), first(ones, 4), {.bits = out}); });
  });
  for (const conv_code& c : {conv_lte(), conv_80211(conv_rate::r3_4)}) {
    const std::size_t n = conv_frame(c, 60).n();
    defined("conv_frame", conv_frame(c, 60),
            [](const conv_frame& f) { return f.on_host().steps + f.usual_overlap() + f.on(exec()).steps; });
    defined("conv_encoder", conv_encoder(c, 60), [&](const conv_encoder& e) {
      return bits_of(n, [&](auto out) { e.run(exec(), first(ones, 60), out); });
    });
    defined("viterbi_decoder", viterbi_decoder({.code = c, .k = 60}), [&](const viterbi_decoder& d) {
      return bits_of(60, [&](auto out) { d.run(exec(), first(llrs, n), {.bits = out}); });
    });
    defined("bcjr_decoder", bcjr_decoder({.code = c, .k = 60}), [&](const bcjr_decoder& d) {
      return bits_of(60, [&](auto out) { d.run(exec(), first(llrs, n), {.bits = out}); });
    });
  }
  const polar_config polar{.k = 64, .coded_bits = 128};
  defined("polar_code", polar_code(polar), [](const polar_code& c) { return c.blocks().size() + c.k(); });
  defined("polar_encoder", polar_encoder(polar), [&](const polar_encoder& e) {
    return bits_of(128, [&](auto out) { e.run(exec(), first(ones, 64), out); });
  });
  defined("polar_decoder", polar_decoder(polar, {}), [&](const polar_decoder& d) {
    return bits_of(64, [&](auto out) { d.run(exec(), first(llrs, 128), {.bits = out}); });
  });
  const short_block_config short_block{.k = 4, .coded_bits = 20};
  defined("short_block_encoder", short_block_encoder(short_block), [&](const short_block_encoder& e) {
    return bits_of(20, [&](auto out) { e.run(exec(), first(ones, 4), out); });
  });
  defined("short_block_decoder", short_block_decoder(short_block), [&](const short_block_decoder& d) {
    return bits_of(4, [&](auto out) { d.run(exec(), first(llrs, 20), {.bits = out}); });
  });
  const bch_config bch{.field_degree = 4, .corrects = 2, .n = 15};
  defined("bch_code", bch_code(bch), [](const bch_code& c) { return c.k(); });
  defined("bch_encoder", bch_encoder(bch), [&](const bch_encoder& e) {
    return bits_of(15, [&](auto out) { e.run(exec(), first(ones, 7), out); });
  });
  defined("bch_decoder", bch_decoder(bch), [&](const bch_decoder& d) {
    return bits_of(7, [&](auto out) { d.run(exec(), first(ones, 15), {.bits = out}); });
  });
  const ctc_config ctc{.k = 48};
  defined("ctc_encoder", ctc_encoder(ctc), [&](const ctc_encoder& e) {
    return bits_of(144, [&](auto out) { e.run(exec(), first(ones, 48), out); });
  });
  defined("ctc_decoder", ctc_decoder(ctc, {}), [&](const ctc_decoder& d) {
    return bits_of(48, [&](auto out) { d.run(exec(), first(llrs, 144), {.bits = out}); });
  });
  defined("crc_attacher", crc_attacher(40, crc24a),
          [&](const crc_attacher& c) { return bits_of(64, [&](auto out) { c.run(exec(), out); }); });
  for (const std::optional<float> quanta : {std::optional(4.f), std::optional<float>()})
    defined("llr_scale", llr_scale(quanta, 1, 66),
            [&](const llr_scale& s) { return s.of(exec(), first(llrs, 132)).fixed + s.of_integers().fixed; });
  const std::vector<std::int8_t> steps(132, 12);
  defined("float_llrs", float_llrs(), [&](const float_llrs& f) {
    return f.of(exec(), first(llrs, 132)).data[131] + f.of(exec(), {first(steps, 132), 0.25f}).data[131];
  });
  const puncturer places(10, {0, 3, 5});
  defined("puncturer", places, [&](const puncturer& p) {
    return bits_of(3, [&](auto out) { p.puncture(exec(), first(ones, 10), out); });
  });
  defined("puncturer", places, [&](const puncturer& p) {
    return written<float>(10, 10, [&](auto out) { p.restore(exec(), first(llrs, 3), out); });
  });
}

void judge_transport_channels() {
  const auto bits_of = [](std::size_t n, auto run) { return written<std::uint8_t>(n, n, run); };
  const lte_transport_config lte{.transport_bits = 40, .coded_bits = 132};
  defined("lte_ring_tables", lte_rate_matcher({.k = 40, .sent_bits = 100}), [&](const lte_rate_matcher& m) {
    return bits_of(100, [&](auto out) { m.match(exec(), first(ones, 132), 0, out); });
  });
  defined("lte_rate_matcher", lte_rate_matcher({.k = 40, .sent_bits = 100}), [&](const lte_rate_matcher& m) {
    return written<float>(132, 132, [&](auto out) { m.combine(exec(), first(llrs, 100), 0, true, out); });
  });
  defined("lte_transport_plan", lte_transport_plan(lte),
          [](const lte_transport_plan& p) { return p.turbo_of(1).k + p.sent_bits(0); });
  defined("lte_transport_encoder", lte_transport_encoder(lte), [&](lte_transport_encoder& e) {
    return bits_of(132, [&](auto out) { e.run(exec(), first(ones, 40), 0, out); });
  });
  const auto received = [&](auto& d, std::size_t k) {
    d.reset();
    d.combine(exec(), first(llrs, 132), 0);
    return bits_of(k, [&](auto out) { d.decode(exec(), {.bits = out}); });
  };
  defined("lte_transport_decoder", lte_transport_decoder(lte),
          [&](lte_transport_decoder& d) { return received(d, 40); });
  const ctc_transport_config ctc{.transport_bits = 32, .coded_bits = 132};
  defined("ctc_transport_plan", ctc_transport_plan(ctc),
          [](const ctc_transport_plan& p) { return p.start(1) + p.sent_bits(0); });
  defined("ctc_transport_encoder", ctc_transport_encoder(ctc), [&](ctc_transport_encoder& e) {
    return bits_of(132, [&](auto out) { e.run(exec(), first(ones, 32), 0, out); });
  });
  defined("ctc_transport_decoder", ctc_transport_decoder(ctc),
          [&](ctc_transport_decoder& d) { return received(d, 32); });
  const nr_transport_config nr{.transport_bits = 24, .coded_bits = 132};
  defined("nr_transport_plan", nr_transport_plan(nr), [](const nr_transport_plan& p) { return p.rows(0); });
  defined("nr_transport_encoder", nr_transport_encoder(nr), [&](nr_transport_encoder& e) {
    return bits_of(132, [&](auto out) { e.run(exec(), first(ones, 24), 0, out); });
  });
  defined("nr_transport_decoder", nr_transport_decoder(nr),
          [&](nr_transport_decoder& d) { return received(d, 24); });
  const nr_rate_matching_config matching{.base_graph = 2, .k = 40, .sent_bits = 70};
  defined("nr_rate_matcher", nr_rate_matcher(matching), [&](const nr_rate_matcher& m) {
    return bits_of(70, [&](auto out) {
      m.match(exec(), first(ones, static_cast<std::size_t>(m.block().codeword())), 0, out);
    });
  });
  defined("nr_block_codec", nr_block_codec(matching), [&](const nr_block_codec& c) {
    return bits_of(70, [&](auto out) { c.encode(exec(), first(ones, 40), out); });
  });
  defined("nr_block_codec", nr_block_codec(matching), [&](const nr_block_codec& c) {
    return bits_of(40, [&](auto out) { c.decode(exec(), first(llrs, 70), {.bits = out}); });
  });
  judged().insert("transport_plan");  // of these
  transport_owner owner;
  owner.made(exec(), 1);
  const transport_owner other = std::move(owner);
  EXPECT_TRUE(other.is(exec()));
  EXPECT_FALSE(owner.is(exec()));
  judged().insert("transport_owner");
}

/// A decoder that is moved between transmission and decoding says so, whatever it has received.
TEST(moved_from, decoders_with_transmissions) {
  const auto expect = [](auto first_decoder, std::size_t n) {
    first_decoder.combine(exec(), first(llrs, n), 0);
    auto second = std::move(first_decoder);
    const auto says = [](auto call) {
      try {
        call();
      } catch (const error& e) {
        return std::string(e.what());
      }
      return std::string();
    };
    EXPECT_EQ(says([&] { first_decoder.decode(exec(), {}); }), "this object was moved from");
    EXPECT_EQ(says([&] { first_decoder.combine(exec(), first(llrs, n), 0); }), "this object was moved from");
    EXPECT_EQ(says([&] { second.decode(exec(), {}); }), "");
  };
  expect(lte_transport_decoder({.transport_bits = 40, .coded_bits = 132}), 132);
  expect(nr_transport_decoder({.transport_bits = 24, .coded_bits = 132}), 132);
  expect(ctc_transport_decoder({.transport_bits = 32, .coded_bits = 132}), 132);
}

void judge_channels() {
  const auto values = [](std::size_t n, auto run) { return written<std::complex<float>>(n, n, run); };
  const auto response = [&](const auto& c) { return values(4, [&](auto h) { c.response(exec(), h, {}); }); };
  const correlation_matrix half = exponential_correlation(2, 0.5);
  for (const auto& [rx, tx] : {std::pair{half, half}, {half, {}}, {{}, half}, {{}, {}}})
    defined("kronecker_channel",
            kronecker_channel({.streams = 2, .rx_antennas = 2, .rx_correlation = rx, .tx_correlation = tx}),
            response);
  const complexes sample(1, 1.f);
  defined("impairments", impairments({.delay_samples = 0.5, .linewidth_hz = 1}), [&](const impairments& i) {
    return values(1, [&](auto out) { i.run(exec(), rows(sample, 1), out); });
  });
  const tdl_config one_tap{.profile = {.taps = {{0, 0}}}, .grid = {.subcarriers = 1, .symbols = 1}};
  defined("tdl_channel", tdl_channel(one_tap),
          [&](const tdl_channel& c) { return values(1, [&](auto h) { c.response(exec(), h, {}); }); });
  cdl_config cluster;
  cluster.grid = {.subcarriers = 1, .symbols = 1, .spacing_hz = 15e3};
  cluster.antennas = cluster.users = 2;
  cluster.profile = cdl_profile_named("cdl-a", 100);
  defined("cdl_channel", cdl_channel(cluster), response);
}

void judge_detectors() {
  const clustered_uplink_config uplink{.detector = {.antennas = 4, .users = 2, .qam = 4}, .clusters = 2};
  const complexes tall{1, 0, 0, 1, 0.5f, 0, 0, 0.5f}, heard(4, 1), sent(2, 1);
  for (const auto method : {massive_cluster_method::exact, massive_cluster_method::local_mmse}) {
    auto config = uplink;
    config.cluster_method = method;
    defined("clustered_uplink_detector", clustered_uplink_detector(config),
            [&](const clustered_uplink_detector& d) {
              return written<float>(4, 4, [&](auto out) {
                d.run(
                    exec(),
                    uplink_input{.channel = rows(tall, 8), .received = rows(heard, 4), .noise_var = noise()},
                    {.llr = out});
              });
            });
    defined("clustered_downlink_precoder",
            clustered_downlink_precoder(
                {.precoder = {.antennas = 4, .users = 2}, .clusters = 2, .cluster_method = method}),
            [&](const clustered_downlink_precoder& d) {
              return written<std::complex<float>>(4, 4, [&](auto out) {
                d.run(exec(),
                      downlink_input{.channel = rows(tall, 8), .sent = rows(sent, 2), .noise_var = noise()},
                      out);
              });
            });
  }
  code_config ldpc("wimax-ldpc");
  defined("box", ldpc.settings, [](const box& b) { return b.get<ldpc_settings>().n; });
  defined("iterative_receiver",
          iterative_receiver({.type = "pic", .streams = 2, .rx_antennas = 2, .qam = 4, .llr_clip = {}}, ldpc,
                             {.outer = 2, .interleaver = receiver_interleaver::random}),
          [](const iterative_receiver& r) { return r.k() + r.uses_per_frame() + r.working_bytes(2, 4); });
  defined("bit_interleaver", bit_interleaver(random_permutation(16, 1)), [&](const bit_interleaver& i) {
    return written<std::uint8_t>(16, 16, [&](auto out) { i.interleave(exec(), first(ones, 16), out); });
  });
  link_config link;
  testing::k_in(link.code) = 40;
  testing::crc_in(link.code) = crc24a;
  defined("frame_source", frame_source(link), [](const frame_source& s) {
    return written<std::uint8_t>(40, 40, [&](auto out) { s.run(exec(), out, {.frames = 1}); });
  });
}

void judge_slots() {
  const nr_channel_config config{.carrier = {.resource_blocks = 1}};
  const nr_shared_channel slot(config);
  const std::size_t elements = slot.elements(), data = slot.data_elements();
  const complexes y(elements, 1.f), h(elements, 1.f);
  defined("nr_shared_channel", slot, [](const nr_shared_channel& c) { return c.dmrs(0); });
  defined("nr_shared_channel", slot,
          [](const nr_shared_channel& c) { return c.transport(1, 5).transport_bits; });
  defined("nr_shared_channel", slot, [&](const nr_shared_channel& c) {
    return written<std::complex<float>>(elements, 1, [&](auto out) { c.map(exec(), {first(y, data)}, out); });
  });
  defined("nr_shared_channel", slot, [&](const nr_shared_channel& c) {
    return written<std::complex<float>>(data, 1, [&](auto out) { c.extract(exec(), rows(y, 1), out); });
  });
  const pilot_pattern pilots = pilots_of(slot);
  defined("channel_estimator", channel_estimator(pilots, {}), [&](const channel_estimator& e) {
    return written<std::complex<float>>(
        elements, 1, [&](auto out) { e.run(exec(), rows(y, 1), noise(), {.channel = out}); });
  });
  defined("channel_estimator", channel_estimator(pilots, {}),
          [](const channel_estimator& e) { return e.error_variance(0, 1); });
  defined("noise_estimator", noise_estimator(pilots), [&](const noise_estimator& e) {
    return written<float>(1, 1, [&](auto out) { e.run(exec(), rows(y, 1), {.noise_var = out}); });
  });
  defined("pilot_senders", pilot_senders(pilots),
          [&](const pilot_senders& s) { return s.parts_of(0, pilots.ports[0][0][0]).size(); });
  const complexes r{1};
  complexes scratch(elements);
  defined("whitener", whitener(), [&](const whitener& w) {
    return written<std::complex<float>>(elements, 1, [&](auto out) {
      w.run(exec(), rows(r, 1), 0, rows(h, 1), rows(y, 1), rows(scratch, 1), out);
    });
  });
}

void judge_search() {
  const complexes in(500, 1.f);
  defined("cell_search", cell_search({.sample_rate_hz = 1.92e6}),
          [&](const cell_search& s) { return s.run(exec(), first(in, 500)).erased; });
  defined("pbch_encoder", pbch_encoder({}), [&](const pbch_encoder& e) {
    return written<std::complex<float>>(960, 960,
                                        [&](auto out) { e.run(exec(), {nr_ssb_content{}}, {7}, out); });
  });
  const complexes grid(960, 1.f);
  defined("pbch_decoder", pbch_decoder({}), [&](const pbch_decoder& d) {
    return std::vector<double>{d.run(exec(), rows(grid, 960), {7}).at(0).snr_db};
  });
  defined("nr_srs", nr_srs({}), [](const nr_srs& s) { return s.values(0); });
  defined("pusch_uci", pusch_uci(nr_shared_channel({}), {.ack_bits = 2}),
          [](const pusch_uci& u) { return u.places(1); });
  const bytes message(1, 1);
  defined("pucch_generator", pucch_generator({}), [&](const pucch_generator& g) {
    return written<std::complex<float>>(12, 12, [&](auto out) { g.run(exec(), rows(message, 1), {3}, out); });
  });
  const pucch_config format_2{.format = 2, .bits = 4};
  const bytes four(4, 1);
  defined("pucch_encoder", pucch_encoder(format_2, shape_of(format_2)), [&](const pucch_encoder& e) {
    return written<std::uint8_t>(16, 16, [&](auto out) { e.run(exec(), rows(four, 4), out); });
  });
  const complexes elements(12, 1.f);
  defined("pucch_detector", pucch_detector({}), [&](const pucch_detector& d) {
    return written<float>(1, 1, [&](auto out) { d.run(exec(), rows(elements, 12), {3}, {.metric = out}); });
  });
  defined("pdcch_encoder", pdcch_encoder({}), [&](const pdcch_encoder& e) {
    const std::vector<std::uint8_t> dci(39, 1);
    return written<std::complex<float>>(576, 576,
                                        [&](auto out) { e.run(exec(), rows(dci, 39), {3}, {4}, out); });
  });
  const complexes coreset(576, 1.f);
  defined("pdcch_decoder", pdcch_decoder({}), [&](const pdcch_decoder& d) {
    return std::vector<double>{d.run(exec(), rows(coreset, 576), {{0, 3, 4}}).at(0).snr_db};
  });
  defined("pdcch_search", pdcch_search({}), [&](const pdcch_search& s) {
    return std::vector<double>{static_cast<double>(s.run(exec(), rows(coreset, 576), {3}).size())};
  });
  for (const char* name : {"prach_generator", "prach_detector", "nr_downlink"}) judged().insert(name);
  if (!has_cpu_fft()) return;
  complexes ssb(960), samples(1500);
  pbch_encoder({}).run(exec(), {nr_ssb_content{}}, {3}, make_view(ssb.data(), 1, 960));
  const ofdm_modulator modulator(nr_numerology({.resource_blocks = 20}, 256),
                                 {.first_symbol = 2, .symbols = 4});
  modulator.run(exec(), first(ssb, 960), make_view(samples.data() + 200, 1, modulator.samples()));
  defined("nr_downlink_generator", nr_downlink_generator({}),
          [](const nr_downlink_generator& g) { return g.sent_messages().size(); });
  defined("nr_downlink", nr_downlink({.sample_rate_hz = 3.84e6}), [&](const nr_downlink& d) {
    return std::vector<double>{
        d.blocks(exec(), samples, first(samples, 1500), 1500).at(0).found.first_sample};
  });
  const prach_config c{.format = prach_format::a1};
  defined("prach_generator", prach_generator(c), [&](const prach_generator& g) {
    return written<std::complex<float>>(g.samples(), g.samples(), [&](auto out) { g.run(exec(), {3}, out); });
  });
  const complexes values(278, 1.f);
  defined("prach_detector", prach_detector(c), [&](const prach_detector& d) {
    return written<float>(64, 64, [&](auto out) { d.run(exec(), rows(values, 278), {.metric = out}); });
  });
}

void judge_transforms() {
  const ofdm_numerology sizes{.fft_size = 16, .subcarriers = 4, .cyclic_prefix = 2, .first_cyclic_prefix = 3};
  const std::size_t values = 28, samples = static_cast<std::size_t>(sizes.samples_per_slot());
  const complexes in(200, 1.f);
  for (const char* name : {"fft", "ofdm_modem", "ofdm_modulator", "ofdm_demodulator"}) judged().insert(name);
  const auto modulated = [&](const ofdm_modulator& m) {
    return written<std::complex<float>>(samples, samples,
                                        [&](auto out) { m.run(exec(), first(in, values), out); });
  };
  try {
    modulated(ofdm_modulator(sizes));
  } catch (const device_error&) {
    return;  // this build has no FFT for CPUs (WARPBAND_KISSFFT)
  }
  defined("ofdm_modulator", ofdm_modulator(sizes), modulated);
  defined("ofdm_demodulator", ofdm_demodulator(sizes), [&](const ofdm_demodulator& m) {
    return written<std::complex<float>>(values, values,
                                        [&](auto out) { m.run(exec(), first(in, samples), out); });
  });
}

void judge_effective_sinr() {
  for (const effective_method m : {effective_method::eesm, effective_method::miesm})
    defined("effective_sinr", effective_sinr({.method = m, .qam = 16}), [](const effective_sinr& map) {
      return written<float>(1, 1, [&](auto out) { map.run(exec(), {.sinr = first(llrs, 5)}, out); });
    });
}

void judge_memory() {
  defined("resident", resident(std::vector<int>{1, 2}),
          [](const resident<int>& r) { return r.on(exec())[1]; });
  defined("kept_workspace", kept_workspace(),
          [](const kept_workspace& w) { return w.on(exec(), 64) != nullptr; });
  defined("per_executor", per_executor<int>(), [](const per_executor<int>& p) { return p.on(exec()); });
  array<float> first_array = exec().make<float>(2, 2);
  const array<float> second = std::move(first_array);
  EXPECT_EQ(first_array.size(), 0U);
  EXPECT_EQ(first_array.data(), nullptr);
  EXPECT_EQ(second.size(), 4U);
  judged().insert("array");
  packer<bytes> words;
  words << 1;
  const packer<bytes> taken = std::move(words);
  EXPECT_TRUE(words.take().empty());
  judged().insert("packer");
  const std::vector<std::byte> packed = (packer<std::vector<std::byte>>() << 1 << 2).take();
  defined("unpacker", unpacker<std::vector<std::byte>>(packed, "broken"),
          [](unpacker<std::vector<std::byte>> u) { return u.get<int>() + 2 * u.get<int>(); });
  const cuda_graph none;
  EXPECT_FALSE(none.recorded());
  judged().insert("cuda_graph");  // and cuda_test
}

void judge_keys_of_scenarios() {
  config::key_tree keys;
  keys.set("receiver.outer", {std::int64_t{2}, {}});
  const config::key_tree other_keys = std::move(keys);
  EXPECT_TRUE(other_keys.has("receiver.outer"));
  EXPECT_FALSE(keys.has("receiver.outer"));
  judged().insert("key_tree");
  config::schema loops;
  loops.add("receiver", receiver_settings());
  const config::schema other_loops = std::move(loops);
  EXPECT_NE(other_loops.find("receiver.outer"), nullptr);
  EXPECT_EQ(loops.find("receiver.outer"), nullptr);
  judged().insert("schema");
  link_antennas antennas = massive_link_config{.users = 3};
  const link_antennas other_antennas = std::move(antennas);
  EXPECT_EQ(other_antennas.get<massive_link_config>().users, 3);
  EXPECT_EQ(antennas.get<massive_link_config>().users, 3);
  judged().insert("link_antennas");
}

/// Plain settings: a move copies them.
template <class T>
void plain(const char* name) {
  static_assert(std::is_trivially_copyable_v<T>);
  judged().insert(name);
}
template <class T>
void stays_where_it_is(const char* name) {
  static_assert(!std::is_move_constructible_v<T>);
  judged().insert(name);
}
template <class T>
void interface(const char* name) {
  static_assert(std::is_abstract_v<T>);
  judged().insert(name);
}

void judge_classes_that_do_not_move() {
  plain<cholesky_solver>("cholesky_solver");
  plain<qr_decomposition>("basic_qr_decomposition");
  plain<demapper>("demapper");
  plain<demapper_backward>("demapper_backward");
  plain<mmse_backward>("mmse_backward");
  plain<qam_mapper>("qam_mapper");
  plain<uplink_detector>("uplink_detector");
  plain<soft_uplink_detector>("soft_uplink_detector");
  plain<downlink_precoder>("downlink_precoder");
  plain<space_time_code>("space_time_code");
  plain<stbc_encoder>("stbc_encoder");
  plain<stbc_decoder>("stbc_decoder");
  plain<latency_histogram>("latency_histogram");
  stays_where_it_is<cpu>("cpu");
  stays_where_it_is<cuda>("cuda");
  stays_where_it_is<cuda_event>("cuda_event");
  stays_where_it_is<forwarding_executor>("forwarding_executor");
  stays_where_it_is<executor_group>("executor_group");
  stays_where_it_is<kept_blocks>("kept_blocks");
  stays_where_it_is<thread_pool>("thread_pool");
  stays_where_it_is<sole_use>("sole_use");
  stays_where_it_is<hdf5_writer>("hdf5_writer");
  stays_where_it_is<npy_reader>("npy_reader");
  stays_where_it_is<replacement>("replacement");
  stays_where_it_is<link_chain>("link_chain");
  stays_where_it_is<link_team>("link_team");
  stays_where_it_is<whole_batches>("whole_batches");
  stays_where_it_is<kind_scope<code_kind>>("kind_scope");
  stays_where_it_is<stand_in_kinds>("stand_in_kinds");
  plain<config::link_keys>("link_keys");
  stays_where_it_is<wimax_transmitter>("wimax_transmitter");
  stays_where_it_is<wimax_receiver>("wimax_receiver");
  stays_where_it_is<rank_crew>("rank_crew");
  stays_where_it_is<transport_loop>("transport_loop");
  stays_where_it_is<kind_list<code_kind>>("kind_list");
  stays_where_it_is<transport_coder_of<lte_transport_encoder, lte_transport_decoder, lte_transport_output>>(
      "transport_coder_of");
  stays_where_it_is<receiver_clock>("receiver_clock");
  stays_where_it_is<transmitter>("transmitter");
  stays_where_it_is<frame_counter>("frame_counter");
  stays_where_it_is<slot_arrays>("slot_arrays");
  stays_where_it_is<frame_receiver>("frame_receiver");
  stays_where_it_is<noise_of_link>("noise_of_link");
  stays_where_it_is<frame_pipeline>("frame_pipeline");
  stays_where_it_is<frame_tracer>("frame_tracer");
  interface<detector>("detector");
  interface<memory>("memory");
  interface<executor>("executor");
  interface<executor_timer>("executor_timer");
  interface<energy_counter>("energy_counter");
  interface<group_carrier>("group_carrier");
  interface<ranks>("ranks");
  interface<codec>("codec");
  interface<transport_coder>("transport_coder");
  interface<frame_runner>("frame_runner");
  interface<air>("air");
  interface<soft_detector>("soft_detector");
  interface<soft_decoder>("soft_decoder");
  interface<antenna_system>("antenna_system");
  interface<receiver>("receiver");
  interface<team_member>("team_member");
  interface<frame_lane>("frame_lane");
  // Readers, slots and tickets: csi_file_test, hdf5_test, pipeline_test. Without calls: the other two.
  for (const char* name :
       {"csi_file", "hdf5_reader", "frame_slot", "frame_ticket", "output_claim", "shared_library"})
    judged().insert(name);
}

TEST(moved_from, an_interleaver_still_permutes) {
  bit_interleaver first_one(random_permutation(16, 1));
  const bit_interleaver second = std::move(first_one);
  EXPECT_EQ(first_one.permutation(), second.permutation());
  EXPECT_TRUE(first_one.permutes());
}

/// What a coder makes of one block.
template <class Coder, class Block>
bytes of_block(Coder& coder, Block block, std::size_t size) {
  bytes out(size);
  block_result result;
  if constexpr (requires { block.out; })
    block.out = {out.data(), out.size()};
  else
    block.bits = {out.data(), out.size()};
  coder.start(exec(), {&block, 1});
  coder.finish({&result, 1});
  return out;
}
void judge_coders_of_blocks() {
  const bytes bits(5, 0x5a);
  const std::vector<std::int8_t> llr(192, 8);
  const ldpc_block_shape shape{.base_graph = 2, .lifting_size = 4, .sent_bits = 160};
  defined("ldpc_block_decoder", ldpc_block_decoder(), [&](ldpc_block_decoder& d) {
    return of_block(d, ldpc_decode_block{.shape = shape, .llr = {llr.data(), 160}, .bits = {}}, 5);
  });
  defined("ldpc_block_encoder", ldpc_block_encoder(), [&](ldpc_block_encoder& e) {
    return of_block(e, ldpc_encode_block{.shape = shape, .bits = {bits.data(), 5}, .out = {}}, 20);
  });
  defined("turbo_block_decoder", turbo_block_decoder(), [&](turbo_block_decoder& d) {
    return of_block(d, turbo_decode_block{.k = 40, .llr = {llr.data(), 192}, .bits = {}}, 5);
  });
  defined("turbo_block_encoder", turbo_block_encoder(), [&](turbo_block_encoder& e) {
    return of_block(e, turbo_encode_block{.k = 40, .bits = {bits.data(), 5}, .out = {}}, 17);
  });
}

/// Classes of the headers that users include.
TEST(moved_from, every_class_says_so_or_stays_as_it_was) {
  judge_codes();
  judge_constellations();
  judge_coders_of_blocks();
  judge_transport_channels();
  judge_channels();
  judge_detectors();
  judge_slots();
  judge_transforms();
  judge_search();
  judge_memory();
  judge_keys_of_scenarios();
  judge_classes_that_do_not_move();
  judge_effective_sinr();
  const std::filesystem::path root = std::filesystem::path(WARPBAND_SOURCE_DIR) / "warpband";
  const auto internal = [&](const std::string& file) {
    for (const char* end :
         {"_body.hpp", "_op.hpp", "_args.hpp", "_kernels.hpp", "_calls.hpp", "result_object.hpp",
          "hdf5_library.hpp", "hdf5_source.hpp", "kernel_detector.hpp", "batch_memory.hpp",
          "polar_gaussian.hpp", "matrix_text.hpp", "transport/transport.hpp"})
      if (file.ends_with(end)) return true;
    return file.starts_with((root / "c").string());  // its header is in C
  };
  std::set<std::string> left_out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".hpp" || internal(entry.path().string())) continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      if (!line.starts_with("class ") || !line.ends_with("{")) continue;
      const std::string name = line.substr(6, line.find_first_of(" :{", 6) - 6);
      const bool is_error =
          line.find(": public error") != line.npos || line.find("error : public") != line.npos;
      if (!is_error && !judged().contains(name)) left_out.insert(name);
    }
  }
  EXPECT_EQ(left_out, std::set<std::string>{});
}

}  // namespace moved_test
}  // namespace wb
