// UCI on PUSCH against other programs, against the rules of placement, and back through its decoders.
#include <warpband/nr/uci/pusch_uci.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include <tests/nr.hpp>
#include <tests/on_backends.hpp>
#include <warpband/fec/polar/polar.hpp>
#include <warpband/fec/short_block/short_block.hpp>

namespace wb {
namespace pusch_uci_test {

using namespace testing;

class pusch_uci_on : public on_backend {};
WB_ON_ALL_BACKENDS(pusch_uci_on);

/// A part's coded bits by its code.
bits_t uci_coded(executor& exec, const bits_t& message, int coded_bits, int modulation_order) {
  if (message.empty()) return {};
  auto coded = exec.make<std::uint8_t>(1, static_cast<std::size_t>(coded_bits));
  const int k = static_cast<int>(message.size());
  if (k <= 11)
    short_block_encoder({.k = k, .coded_bits = coded_bits, .modulation_order = modulation_order})
        .run(exec, given(exec, message, 1), coded);
  else
    polar_encoder(polar_config{.kind = polar_kind::uci, .k = k, .coded_bits = coded_bits})
        .run(exec, given(exec, message, 1), coded);
  return exec.to_host(coded);
}
bits_t uci_decoded(executor& exec, const std::vector<float>& llr, int k, int modulation_order) {
  if (k == 0) return {};
  const auto in = on_device(exec, llr, 1, llr.size());
  auto bits = exec.make<std::uint8_t>(1, static_cast<std::size_t>(k));
  if (k <= 11)
    short_block_decoder(
        {.k = k, .coded_bits = static_cast<int>(llr.size()), .modulation_order = modulation_order})
        .run(exec, view<const float>(in), {.bits = bits});
  else
    polar_decoder(polar_config{.kind = polar_kind::uci, .k = k, .coded_bits = static_cast<int>(llr.size())},
                  {})
        .run(exec, view<const float>(in), {.bits = bits});
  return exec.to_host(bits);
}

/// Everything from the transport block to the scrambled codeword, and back.
TEST_P(pusch_uci_on, equals_other_programs) {
  const auto document = nr_vectors("uci_on_pusch.json", "nr_time");
  NR_SKIP_WITHOUT(document);
  for (const auto& v : document.at("vectors")) {
    SCOPED_TRACE(v.at("id").dump());
    const nr_shared_channel channel(
        {.carrier = {.resource_blocks = v.at("prbs"), .cell_id = v.at("n_id")},
         .symbols = v.at("n_symbols").template get<int>(),
         .dmrs = {.additional_positions = static_cast<int>(v.at("dmrs_symbols").size()) - 1},
         .rnti = v.at("rnti")});
    ASSERT_EQ(channel.dmrs_symbols(), v.at("dmrs_symbols").template get<std::vector<int>>());
    const bits_t ack = from_text(v.at("ack")), csi1 = from_text(v.at("csi1")), block = from_text(v.at("tb"));
    const pusch_uci uci(channel, {.ack_bits = static_cast<int>(ack.size()),
                                  .csi1_bits = static_cast<int>(csi1.size()),
                                  .beta_ack = v.at("beta_ack"),
                                  .beta_csi1 = v.at("beta_csi1"),
                                  .alpha = v.at("alpha"),
                                  .mcs = v.at("mcs")});
    const int qm = v.at("qm");
    const auto [g_data, g_ack, g_csi1, g_csi2] = uci.coded_bits();
    EXPECT_EQ(g_data, v.at("g_ulsch").template get<int>());
    EXPECT_EQ(g_ack, v.at("g_ack").template get<int>());
    EXPECT_EQ(g_csi1, v.at("g_csi1").template get<int>());
    EXPECT_EQ(g_csi2, 0);
    EXPECT_EQ(uci.places(1), v.at("ack_positions").template get<std::vector<std::int32_t>>());
    EXPECT_EQ(uci.places(2), v.at("csi1_positions").template get<std::vector<std::int32_t>>());
    const nr_transport_config transport = uci.transport();
    EXPECT_EQ(transport.transport_bits, v.at("tbs").template get<int>());

    const bits_t ack_coded = uci_coded(exec(), ack, g_ack, qm),
                 csi1_coded = uci_coded(exec(), csi1, g_csi1, qm);
    auto data = exec().make<std::uint8_t>(1, static_cast<std::size_t>(g_data));
    nr_transport_encoder(transport).run(exec(), given(exec(), block, 1), 0, data);
    const auto ack_bits = on_device(exec(), ack_coded, 1, ack_coded.size()),
               csi1_bits = on_device(exec(), csi1_coded, 1, csi1_coded.size());
    auto codeword = exec().make<std::uint8_t>(1, static_cast<std::size_t>(uci.codeword_bits()));
    uci.multiplex(exec(), {.data = data, .ack = ack_bits, .csi1 = csi1_bits}, codeword);
    const bits_t sent = exec().to_host(codeword);
    EXPECT_EQ(sent, from_text(v.at("scrambled")));

    std::vector<float> llr;
    for (const std::uint8_t b : sent) llr.push_back(b != 0 ? -3.f : 3.f);
    const auto received = on_device(exec(), llr, 1, llr.size());
    auto data_llr = exec().make<float>(1, static_cast<std::size_t>(g_data)),
         ack_llr = exec().make<float>(1, static_cast<std::size_t>(g_ack)),
         csi1_llr = exec().make<float>(1, static_cast<std::size_t>(g_csi1));
    uci.demultiplex(exec(), received, {.data = data_llr, .ack = ack_llr, .csi1 = csi1_llr});
    EXPECT_EQ(uci_decoded(exec(), exec().to_host(ack_llr), static_cast<int>(ack.size()), qm), ack);
    EXPECT_EQ(uci_decoded(exec(), exec().to_host(csi1_llr), static_cast<int>(csi1.size()), qm), csi1);
    const std::vector<float> back = exec().to_host(data_llr);
    const bits_t coded = exec().to_host(data);
    const auto places = uci.places(0);
    int punctured = 0;
    for (std::size_t i = 0; i < back.size(); i++) {
      ASSERT_EQ(back[i], places[i] < 0 ? 0.f : coded[i] != 0 ? -3.f : 3.f) << i;
      punctured += places[i] < 0;
    }
    EXPECT_EQ(punctured, ack.size() <= 2 ? g_ack : 0);
  }
}

/// Parts share the codeword, with two layers, CSI part 2, and data in OFDM symbols with DMRS.
TEST_P(pusch_uci_on, every_part_comes_back) {
  struct kind {
    nr_channel_config channel;
    pusch_uci_config uci;
  };
  const nr_channel_config two_layers{.carrier = {.resource_blocks = 9},
                                     .layers = 2,
                                     .dmrs = {.type = 2, .additional_positions = 1, .cdm_groups = 1}};
  const nr_channel_config spread{.carrier = {.resource_blocks = 5},
                                 .mapping = nr_mapping::type_b,
                                 .first_symbol = 3,
                                 .symbols = 9,
                                 .transform_precoding = true,
                                 .pi2_bpsk = true};
  const kind kinds[] = {
      {two_layers,
       {.ack_bits = 1, .csi1_bits = 2, .csi2_bits = 30, .beta_ack = 20, .alpha = 0.65, .mcs = 14}},
      {two_layers, {.ack_bits = 9, .csi1_bits = 12, .csi2_bits = 5, .beta_ack = 8, .alpha = 0.8, .mcs = 3}},
      {{.carrier = {.resource_blocks = 9}, .layers = 2},
       {.ack_bits = 2, .csi1_bits = 40, .csi2_bits = 21, .beta_csi1 = 4, .mcs = 5, .data = false}},
      {spread, {.ack_bits = 2, .csi1_bits = 6, .csi2_bits = 3, .beta_ack = 4, .mcs = 1}},
      {spread, {.ack_bits = 5, .csi1_bits = 13, .beta_ack = 2, .mcs = 0, .data = false}}};
  constexpr std::size_t slots = 3;
  for (const kind& k : kinds) {
    const nr_shared_channel channel(k.channel);
    const pusch_uci uci(channel, k.uci);
    const std::size_t bits = static_cast<std::size_t>(uci.codeword_bits());
    EXPECT_EQ(bits,
              channel.symbols_of(0) *
                  static_cast<std::size_t>(channel.transport(k.uci.mcs_table, k.uci.mcs).modulation_order));
    std::mt19937 random(3);
    std::set<std::int32_t> used;
    std::size_t kept = 0;
    std::vector<array<std::uint8_t>> coded;
    std::vector<array<float>> llr;
    std::vector<bits_t> sent;
    for (int part = 0; part < 4; part++) {
      const auto n = static_cast<std::size_t>(uci.coded_bits()[static_cast<std::size_t>(part)]);
      bits_t b(slots * n);
      for (auto& x : b) x = random() & 1;
      sent.push_back(b);
      coded.push_back(on_device(exec(), b, slots, n));
      llr.push_back(exec().make<float>(slots, n));
      for (const std::int32_t place : uci.places(part))
        if (place >= 0) used.insert(place), kept++;
    }
    EXPECT_EQ(used.size(), kept) << "a place has two parts";
    EXPECT_EQ(kept, bits);
    auto codeword = exec().make<std::uint8_t>(slots, bits);
    uci.multiplex(exec(), {.data = coded[0], .ack = coded[1], .csi1 = coded[2], .csi2 = coded[3]}, codeword);
    std::vector<float> received;
    for (const std::uint8_t b : exec().to_host(codeword)) received.push_back(b != 0 ? -1.f : 1.f);
    uci.demultiplex(exec(), on_device(exec(), received, slots, bits),
                    {.data = llr[0], .ack = llr[1], .csi1 = llr[2], .csi2 = llr[3]});
    const int ks[] = {0, k.uci.ack_bits, k.uci.csi1_bits, k.uci.csi2_bits};
    for (int part = 0; part < 4; part++) {
      const auto places = uci.places(part);
      const auto found = exec().to_host(llr[static_cast<std::size_t>(part)]);
      const bits_t& expected = sent[static_cast<std::size_t>(part)];
      if (ks[part] == 1) continue;  // its y has another scrambling
      for (std::size_t i = 0; i < found.size(); i++)
        ASSERT_EQ(found[i], places[i % places.size()] < 0 ? 0.f
                            : expected[i] != 0            ? -1.f
                                                          : 1.f)
            << part << ", " << i;
    }
  }
}

// Numbers of section 6.3.2.4 by hand.
TEST(pusch_uci, sizes_are_those_of_the_formulas) {
  // 12 OFDM symbols of 108 elements for UCI, 1440 elements in all, two layers of QPSK. MCS 3 at 156 elements
  // a resource block: N_info = 1376.6, A = 1416, with CRC 1432, base graph 2, Z = 144, K = 1440. Q' of
  // HARQ-ACK: ceil(9 * 8 * 1296 / 1440) = 65. CSI part 1: ceil(18 * 1.125 * 0.9) = 19. CSI part 2: ceil(5
  // * 1.125 * 0.9) = 6. Each symbol has 4 bits.
  const nr_shared_channel with_data({.carrier = {.resource_blocks = 9},
                                     .layers = 2,
                                     .dmrs = {.type = 2, .additional_positions = 1, .cdm_groups = 1}});
  EXPECT_EQ(pusch_uci(with_data,
                      {.ack_bits = 9, .csi1_bits = 12, .csi2_bits = 5, .beta_ack = 8, .alpha = 0.8, .mcs = 3})
                .coded_bits(),
            (std::array{5400, 260, 76, 24}));
  // 13 OFDM symbols of 108 elements, R = 379 / 1024. HARQ-ACK: ceil(2 * 1024 / 758) = 3, which puncture.
  // CSI part 1: ceil(51 * 4 * 1024 / 758) = 276. CSI part 2 has the other 1128.
  const nr_shared_channel without({.carrier = {.resource_blocks = 9}, .layers = 2});
  EXPECT_EQ(
      pusch_uci(without,
                {.ack_bits = 2, .csi1_bits = 40, .csi2_bits = 21, .beta_csi1 = 4, .mcs = 5, .data = false})
          .coded_bits(),
      (std::array{0, 12, 1104, 4512}));
}

TEST(pusch_uci, bad_settings_are_named) {
  const nr_shared_channel channel({.carrier = {.resource_blocks = 4}});
  const auto blame = [&](const pusch_uci_config& c) { return blamed([&] { pusch_uci(channel, c); }); };
  EXPECT_EQ(blame({.ack_bits = 4}), "");
  EXPECT_EQ(blame({.ack_bits = 1707}), "ack_bits");
  EXPECT_EQ(blame({.csi1_bits = -1}), "csi1_bits");
  EXPECT_EQ(blame({.csi2_bits = 4}), "csi2_bits");
  EXPECT_EQ(blame({.ack_bits = 4, .beta_ack = 1.1}), "beta_ack");
  EXPECT_EQ(blame({.ack_bits = 4, .beta_csi1 = 127}), "beta_csi1");
  EXPECT_EQ(blame({.ack_bits = 4, .alpha = 0.7}), "alpha");
  EXPECT_EQ(blame({.ack_bits = 4, .mcs = 29}), "mcs");
  EXPECT_EQ(blame({.ack_bits = 4, .mcs_table = 4}), "mcs_table");
  EXPECT_EQ(blame({.data = false}), "data");
  EXPECT_EQ(blame({.ack_bits = 2, .data = false}), "data");  // resource elements would be empty
  EXPECT_EQ(
      blame(
          {.ack_bits = 1000, .csi1_bits = 1000, .csi2_bits = 4, .beta_ack = 126, .beta_csi1 = 20, .mcs = 20}),
      "csi2_bits");
  const nr_shared_channel downlink({.direction = nr_direction::downlink});
  EXPECT_EQ(blamed([&] { pusch_uci(downlink, {.ack_bits = 1}); }), "channel");
  const pusch_uci uci(channel, {.csi1_bits = 4, .csi2_bits = 4, .data = false});
  EXPECT_EQ(blamed([&] { uci.transport(); }), "data");
  EXPECT_EQ(blamed([&] { uci.places(4); }), "part");
  const auto exec = open_scalar();
  auto codeword = exec->make<std::uint8_t>(1, static_cast<std::size_t>(uci.codeword_bits()));
  EXPECT_THROW(uci.multiplex(*exec, {}, codeword), shape_error);
  auto llr = exec->make<float>(1, 3);
  EXPECT_THROW(uci.demultiplex(*exec, llr, {}), shape_error);
}

}  // namespace pusch_uci_test
}  // namespace wb
