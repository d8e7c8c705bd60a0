// DCI formats 0_0, 0_1, 1_0, 1_1: sizes computed by hand from TS 38.212, fields that come back, allocations
// against their definition, and a search of a UE's search space.
#include <warpband/nr/pdcch/dci.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <complex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <tests/on_backends.hpp>
#include <warpband/nr/pdcch/coreset.hpp>

namespace dci_test {

using wb::testing::blamed;
using wb::testing::on_device;
using format = wb::nr_dci_format;
using use = wb::nr_dci_use;
using sample = std::complex<float>;

/// Settings that differ in all fields, most of the widest ones.
std::vector<wb::nr_dci_config> dci_configs() {
  std::vector<wb::nr_dci_config> list;
  for (const int up : {1, 2, 24, 25, 106, 275})
    for (const int down : {1, 24, 96, 275})
      for (const bool common : {true, false})
        for (const bool sul : {true, false}) {
          const wb::nr_dci_config c{.uplink_blocks = up,
                                    .downlink_blocks = down,
                                    .common_search_space = common,
                                    .supplementary_uplink = sul};
          for (const use u :
               {use::c_rnti, use::tc_rnti, use::si_rnti, use::ra_rnti, use::p_rnti, use::order}) {
            wb::nr_dci_config d = c;
            d.use = u;
            const bool of_c_rnti = u == use::c_rnti || u == use::order;
            if (common || of_c_rnti) list.push_back(d);
            d.format = format::f0_0;
            if (u == use::c_rnti || (u == use::tc_rnti && common)) list.push_back(d);
          }
        }
  for (const auto allocation :
       {wb::nr_dci_allocation::type_0, wb::nr_dci_allocation::type_1, wb::nr_dci_allocation::both})
    for (const int blocks : {1, 25, 51, 106, 273}) {
      wb::nr_dci_config c{.format = format::f0_1,
                          .uplink_blocks = blocks,
                          .downlink_blocks = blocks,
                          .allocation = allocation};
      list.push_back(c);
      c.format = format::f1_1;
      list.push_back(c);
      c = {.format = format::f1_1,
           .downlink_blocks = blocks,
           .supplementary_uplink = true,
           .cross_carrier = true,
           .bandwidth_parts = 4,
           .allocation = allocation,
           .first_resource_block = 7,
           .rbg_configuration = 2,
           .time_rows = 5,
           .dynamic_harq = true,
           .code_block_groups = 4,
           .dmrs_type = 2,
           .dmrs_length = 2,
           .interleaved = true,
           .dynamic_bundling = true,
           .rate_match_groups = 2,
           .zp_csi_rs_sets = 3,
           .codewords = 2,
           .several_cells = true,
           .harq_delays = 8,
           .tci = true,
           .flush_indicator = true};
      list.push_back(c);
      c = {.format = format::f0_1,
           .uplink_blocks = blocks,
           .supplementary_uplink = true,
           .cross_carrier = true,
           .bandwidth_parts = 2,
           .allocation = allocation,
           .first_resource_block = 3,
           .time_rows = 1,
           .dynamic_harq = true,
           .code_block_groups = 8,
           .dmrs_type = 2,
           .dmrs_length = 2,
           .frequency_hopping = true,
           .second_dai = true,
           .srs_resources = 2,
           .max_layers = 4,
           .antenna_ports = 4,
           .csi_request_bits = 6,
           .ptrs = true,
           .dynamic_beta = true};
      list.push_back(c);
      c.codebook = false, c.srs_resources = 4;
      list.push_back(c);
    }
  return list;
}

/// Names and bits of fields as text: "mcs 5, ndi 1".
std::string dci_text(const wb::nr_dci_config& c) {
  std::string text;
  for (const wb::nr_dci_field& f : wb::nr_dci_fields(c))
    text += (text.empty() ? "" : ", ") + f.name + " " + std::to_string(f.bits);
  return text;
}

// What TC-RNTI makes of the fields of C-RNTI: reserved bits with a name of their own.
TEST(nr_dci, names_are_unique_and_reserved_fields_are_0) {
  for (const wb::nr_dci_config& c : dci_configs()) {
    std::set<std::string> names;
    for (const wb::nr_dci_field& f : wb::nr_dci_fields(c))
      EXPECT_TRUE(names.insert(f.name).second) << dci_text(c);
  }
  const auto fixed = [](wb::nr_dci_config c) {
    std::set<std::string> names;
    for (const wb::nr_dci_field& f : wb::nr_dci_fields(c))
      if (f.fixed == 0) names.insert(f.name);
    return names;
  };
  using names = std::set<std::string>;
  wb::nr_dci_config c{.format = format::f0_0, .use = use::tc_rnti, .supplementary_uplink = true};
  EXPECT_EQ(fixed(c), (names{"identifier", "ndi", "harq_process", "padding", "supplementary_uplink"}));
  EXPECT_EQ(wb::nr_dci_bits(c), 37);
  c.use = use::c_rnti;
  EXPECT_EQ(fixed(c), (names{"identifier", "padding"}));
  c.format = format::f1_0, c.use = use::tc_rnti;
  EXPECT_EQ(fixed(c), names{"dai"});
}

// All fields that settings may add, with their widths.
TEST(nr_dci, widest_formats_by_hand) {
  const auto widest = [](format f, wb::nr_dci_allocation allocation) {
    for (const wb::nr_dci_config& c : dci_configs())
      if (c.format == f && c.cross_carrier && c.allocation == allocation &&
          (f == format::f0_1 ? c.uplink_blocks : c.downlink_blocks) == 273)
        return c;
    return wb::nr_dci_config{};
  };
  // 273 blocks from block 7 on in groups of 16: 18 bits. Type 1: 16 bits.
  EXPECT_EQ(
      dci_text(widest(format::f1_1, wb::nr_dci_allocation::both)),
      std::string(
          "identifier 1, carrier 3, bandwidth_part 2, frequency_domain 19, time_domain 3, interleaved 1, "
          "bundling 1, rate_matching 2, zp_csi_rs 2, mcs 5, ndi 1, rv 2, mcs_2 5, ndi_2 1, rv_2 2, ") +
          "harq_process 4, dai 4, tpc 2, pucch_resource 3, harq_delay 3, antenna_ports 6, tci 3, "
          "srs_request 3, code_block_groups 8, flush 1, dmrs_scid 1");
  EXPECT_EQ(dci_text(widest(format::f0_1, wb::nr_dci_allocation::type_1)),
            "identifier 1, carrier 3, supplementary_uplink 1, bandwidth_part 2, frequency_domain 16, "
            "frequency_hopping 1, mcs 5, ndi 1, rv 2, harq_process 4, dai 2, second_dai 2, tpc 2, "
            "srs_resource 1, precoding 6, antenna_ports 5, srs_request 3, csi_request 6, "
            "code_block_groups 8, ptrs_dmrs 2, beta_offset 2, dmrs_scid 1, ul_sch 1");
  for (const format f : {format::f0_1, format::f1_1}) {
    const std::string text = dci_text(widest(f, wb::nr_dci_allocation::type_0));
    EXPECT_EQ(text.find("frequency_hopping"), text.npos);
    EXPECT_EQ(text.find("interleaved"), text.npos);
  }
  // The shorter 0_1 of two carriers, padded to the longer one; then a bit more, as 1_0 has this size.
  wb::nr_dci_config c{.format = format::f0_1, .uplink_blocks = 24, .supplementary_uplink = true};
  const int bits = wb::nr_dci_bits(c);
  c.least_bits = bits + 4;
  EXPECT_EQ(wb::nr_dci_bits(c), bits + 4);
  EXPECT_EQ(wb::nr_dci_fields(c).back(), (wb::nr_dci_field{"padding", 4, 0}));
  c.fallback_bits = bits + 4;
  EXPECT_EQ(wb::nr_dci_bits(c), bits + 5);
  c.least_bits = bits - 4;
  EXPECT_EQ(wb::nr_dci_bits(c), bits);
}

TEST(nr_dci, fields_are_those_of_the_clauses) {
  EXPECT_EQ(
      dci_text({.downlink_blocks = 48}),
      "identifier 1, frequency_domain 11, time_domain 4, interleaved 1, mcs 5, ndi 1, rv 2, harq_process 4, "
      "dai 2, tpc 2, pucch_resource 3, harq_delay 3");
  EXPECT_EQ(dci_text({.use = use::p_rnti}),
            "short_messages_indicator 2, short_messages 8, frequency_domain 9, time_domain 4, interleaved 1, "
            "mcs 5, "
            "scaling 2, reserved 6");
  EXPECT_EQ(dci_text({.use = use::ra_rnti}),
            "frequency_domain 9, time_domain 4, interleaved 1, mcs 5, scaling 2, reserved 16");
  EXPECT_EQ(
      dci_text({.use = use::si_rnti}),
      "frequency_domain 9, time_domain 4, interleaved 1, mcs 5, rv 2, other_information 1, reserved 15");
  EXPECT_EQ(
      dci_text({.use = use::order}),
      "identifier 1, frequency_domain 9, preamble 6, supplementary_uplink 1, ssb_index 6, prach_mask 4, "
      "reserved 10");
  EXPECT_EQ(dci_text({.format = format::f0_0}),
            "identifier 1, frequency_domain 9, time_domain 4, frequency_hopping 1, mcs 5, ndi 1, rv 2, "
            "harq_process 4, tpc 2, padding 8");
  EXPECT_EQ(dci_text({.format = format::f0_0, .supplementary_uplink = true}),
            "identifier 1, frequency_domain 9, time_domain 4, frequency_hopping 1, mcs 5, ndi 1, rv 2, "
            "harq_process 4, tpc 2, padding 7, supplementary_uplink 1");
  EXPECT_EQ(
      dci_text({.format = format::f0_1}),
      "identifier 1, frequency_domain 9, time_domain 4, mcs 5, ndi 1, rv 2, harq_process 4, dai 1, tpc 2, "
      "antenna_ports 3, srs_request 2, dmrs_scid 1, ul_sch 1");
  EXPECT_EQ(dci_text({.format = format::f1_1}),
            "identifier 1, frequency_domain 9, time_domain 4, mcs 5, ndi 1, rv 2, harq_process 4, tpc 2, "
            "pucch_resource 3, harq_delay 3, antenna_ports 4, srs_request 2, dmrs_scid 1");
}

// Sums of field widths, added up by hand.
TEST(nr_dci, sizes_by_hand) {
  // ceil(log2(N (N + 1) / 2)) is 9, 11, 13, 16 for 24, 48, 106, 273 resource blocks.
  EXPECT_EQ(wb::nr_dci_bits({.downlink_blocks = 24}), 37);
  EXPECT_EQ(wb::nr_dci_bits({.downlink_blocks = 48}), 39);
  EXPECT_EQ(wb::nr_dci_bits({.downlink_blocks = 106}), 41);
  EXPECT_EQ(wb::nr_dci_bits({.downlink_blocks = 273}), 44);
  EXPECT_EQ(wb::nr_dci_bits({.use = use::p_rnti, .downlink_blocks = 96}), 41);
  // Format 0_0 of 273 blocks has 36 bits: padded to 37 and 44, never truncated here.
  EXPECT_EQ(wb::nr_dci_bits({.format = format::f0_0, .uplink_blocks = 273, .downlink_blocks = 24}), 37);
  EXPECT_EQ(wb::nr_dci_bits({.format = format::f0_0, .uplink_blocks = 273, .downlink_blocks = 273}), 44);
  // With 2 downlink blocks (2 bits) format 1_0 has 30: the 16 bits of the allocation become 10, or 1_0
  // becomes as long.
  wb::nr_dci_config c{.format = format::f0_0, .uplink_blocks = 273, .downlink_blocks = 2};
  EXPECT_EQ(wb::nr_dci_bits(c), 30);
  EXPECT_EQ(wb::nr_dci_fields(c)[1].bits, 10);
  c.common_search_space = false;
  EXPECT_EQ(wb::nr_dci_bits(c), 36);
  c.format = format::f1_0;
  EXPECT_EQ(wb::nr_dci_bits(c), 36);
  EXPECT_EQ(wb::nr_dci_fields(c).back().name, "padding");
  EXPECT_EQ(wb::nr_dci_fields(c).back().bits, 6);
  // 1_1, 51 blocks: 1 + 11 + 4 + 8 (MCS, NDI, RV) + 4 + 2 (DAI) + 2 + 3 + 3 + 4 + 2 + 1 = 45; TCI 48.
  wb::nr_dci_config d{.format = format::f1_1, .downlink_blocks = 51, .dynamic_harq = true};
  EXPECT_EQ(wb::nr_dci_bits(d), 45);
  d.tci = true;
  EXPECT_EQ(wb::nr_dci_bits(d), 48);
  d.fallback_bits = 48;  // one bit of padding
  EXPECT_EQ(wb::nr_dci_bits(d), 49);
  d.fallback_bits = 0, d.several_cells = true;  // DAI of 4 bits
  EXPECT_EQ(wb::nr_dci_bits(d), 50);
  d.codewords = 2;
  EXPECT_EQ(wb::nr_dci_bits(d), 58);
  d.allocation = wb::nr_dci_allocation::type_0;  // 13 groups of 4
  EXPECT_EQ(wb::nr_dci_bits(d), 60);
  d.first_resource_block = 2;  // 14
  EXPECT_EQ(wb::nr_dci_bits(d), 61);
  d.allocation = wb::nr_dci_allocation::both;
  EXPECT_EQ(wb::nr_dci_bits(d), 62);
  // 0_1, 106 blocks: 1 + 13 + 4 + 8 + 4 + 2 + 2 + 3 + 2 + 1 + 1 = 41, with 2 bits of HARQ-ACK.
  wb::nr_dci_config u{.format = format::f0_1, .uplink_blocks = 106, .dynamic_harq = true};
  EXPECT_EQ(wb::nr_dci_bits(u), 41);
  u.antenna_ports = 2, u.max_layers = 2;  // precoding 4
  EXPECT_EQ(wb::nr_dci_bits(u), 45);
  u.antenna_ports = 4;  // 6
  EXPECT_EQ(wb::nr_dci_bits(u), 47);
  u.codebook_subset = wb::nr_codebook_subset::non_coherent;  // 4
  EXPECT_EQ(wb::nr_dci_bits(u), 45);
  u.max_layers = 1;  // 2
  EXPECT_EQ(wb::nr_dci_bits(u), 43);
  u.codebook = false, u.srs_resources = 4;  // of 4 resources one: 2 bits
  EXPECT_EQ(wb::nr_dci_bits(u), 43);
  u.max_layers = 2;  // 4 + 6: 4 bits
  EXPECT_EQ(wb::nr_dci_bits(u), 45);
  u.transform_precoding = true;  // ports of 2 bits, no scrambling identity
  EXPECT_EQ(wb::nr_dci_bits(u), 43);
}

// Formats 0_0 and 1_0 of one search space have one size, whatever the bandwidth parts.
TEST(nr_dci, fallback_formats_have_one_size) {
  for (int up = 1; up <= 275; up += 3)
    for (int down = 1; down <= 275; down += 7)
      for (const bool common : {true, false}) {
        wb::nr_dci_config c{.uplink_blocks = up, .downlink_blocks = down, .common_search_space = common};
        const int of_downlink = wb::nr_dci_bits(c);
        c.format = format::f0_0;
        ASSERT_EQ(wb::nr_dci_bits(c), of_downlink) << up << ' ' << down << ' ' << common;
      }
}

TEST(nr_dci, fields_come_back) {
  std::mt19937 random(3);
  std::set<int> sizes;
  for (const wb::nr_dci_config& c : dci_configs()) {
    const auto fields = wb::nr_dci_fields(c);
    for (std::size_t one = 0; one <= fields.size(); one++) {  // each field alone, and all
      std::vector<int> values, bits;
      std::vector<std::uint8_t> expected;
      for (std::size_t i = 0; i < fields.size(); i++) {
        const int highest = (1 << fields[i].bits) - 1;
        int value = one == fields.size() ? static_cast<int>(random() % static_cast<unsigned>(highest + 1))
                    : i == one           ? highest
                                         : 0;
        const bool is_mark = c.format == format::f1_0 && fields[i].name == "frequency_domain";
        if (is_mark && value == highest) value--;  // all ones are an order
        if (fields[i].fixed) value = *fields[i].fixed;
        if (!fields[i].fixed) values.push_back(value);
        for (int b = fields[i].bits - 1; b >= 0; b--)
          expected.push_back(static_cast<std::uint8_t>(value >> b & 1));
      }
      const auto sent = wb::nr_dci_encode(c, values);
      ASSERT_EQ(sent, expected) << dci_text(c);
      ASSERT_EQ(wb::nr_dci_decode(c, sent), values) << dci_text(c);
    }
    sizes.insert(wb::nr_dci_bits(c));
  }
  EXPECT_GT(sizes.size(), 30u);
}

TEST(nr_dci, identifiers_separate_formats_of_one_size) {
  const wb::nr_dci_config down{.downlink_blocks = 48}, order{.use = use::order, .downlink_blocks = 48},
      up{.format = format::f0_0, .downlink_blocks = 48};
  const auto values = [](const wb::nr_dci_config& c) {
    const auto fields = wb::nr_dci_fields(c);
    return std::vector<int>(static_cast<std::size_t>(
        std::count_if(fields.begin(), fields.end(), [](const wb::nr_dci_field& f) { return !f.fixed; })));
  };
  for (const auto* sent : {&down, &up, &order})
    for (const auto* tried : {&down, &up, &order})
      EXPECT_EQ(wb::nr_dci_decode(*tried, wb::nr_dci_encode(*sent, values(*sent))).has_value(),
                sent == tried);
}

TEST(nr_dci, allocations_equal_their_definition) {
  for (const int n : {1, 2, 5, 24, 25, 48}) {
    std::set<int> values;
    for (int first = 0; first < n; first++)
      for (int blocks = 1; first + blocks <= n; blocks++) {
        const int value = wb::nr_resource_indication(first, blocks, n);
        EXPECT_TRUE(values.insert(value).second);
        const auto back = wb::nr_block_range_of(value, n);
        ASSERT_TRUE(back.has_value());
        EXPECT_EQ(back->first_block, first);
        EXPECT_EQ(back->blocks, blocks);
      }
    EXPECT_EQ(*values.rbegin(), n * (n + 1) / 2 - 1);
    EXPECT_FALSE(wb::nr_block_range_of(n * (n + 1) / 2, n));
    EXPECT_FALSE(wb::nr_block_range_of(-1, n));
  }
  // Groups of 4 blocks, the first of which has 2: 0-1, 2-5, ..., 22-24.
  wb::nr_dci_config c{.format = format::f1_1,
                      .downlink_blocks = 25,
                      .allocation = wb::nr_dci_allocation::type_0,
                      .first_resource_block = 6,
                      .rbg_configuration = 2};
  EXPECT_EQ(wb::nr_dci_fields(c)[1].bits, 7);
  EXPECT_EQ(wb::nr_dci_blocks(c, 0b1000001), (std::vector<int>{0, 1, 22, 23, 24}));
  EXPECT_EQ(wb::nr_dci_blocks(c, 0b0100000), (std::vector<int>{2, 3, 4, 5}));
  EXPECT_FALSE(wb::nr_dci_blocks(c, 0));
  c.allocation = wb::nr_dci_allocation::both;  // 9 bits and the one that says which
  EXPECT_EQ(wb::nr_dci_blocks(c, 0b0000000001), (std::vector<int>{22, 23, 24}));
  EXPECT_EQ(wb::nr_dci_blocks(c, 512 + wb::nr_resource_indication(3, 4, 25)), (std::vector<int>{3, 4, 5, 6}));
  EXPECT_FALSE(wb::nr_dci_blocks(c, 512 + 511));
  // The bitmap has the lowest 7 of 9 bits; the others do not count.
  EXPECT_EQ(wb::nr_dci_blocks(c, 0b0110000001), (std::vector<int>{22, 23, 24}));
  EXPECT_FALSE(wb::nr_dci_blocks(c, 1 << 8));  // no group
  // A bitmap of 13 bits and an allocation of 11, of 51 blocks.
  c.rbg_configuration = 1, c.downlink_blocks = 51, c.first_resource_block = 0;
  EXPECT_EQ(wb::nr_dci_fields(c)[1].bits, 14);
  EXPECT_EQ(wb::nr_dci_blocks(c, (0b111 << 11) + 51 * 2 + 7), (std::vector<int>{7, 8, 9}));
  // Configurations of TS 38.214 table 5.1.2.2.1-1, as bits of the bitmap.
  const int blocks[] = {36, 37, 72, 73, 144, 145, 275}, first[] = {18, 10, 18, 10, 18, 10, 18},
            second[] = {9, 5, 9, 5, 9, 10, 18};
  for (int i = 0; i < 7; i++)
    for (const int configuration : {1, 2}) {
      c.allocation = wb::nr_dci_allocation::type_0;
      c.first_resource_block = 0, c.downlink_blocks = blocks[i], c.rbg_configuration = configuration;
      EXPECT_EQ(wb::nr_dci_fields(c)[1].bits, configuration == 1 ? first[i] : second[i]) << blocks[i];
    }
}

// TS 38.212 §7.3.1.1: with hopping the highest bits of type 1 are the second hop's offset.
TEST(nr_dci, offsets_of_hops_are_no_part_of_the_allocation) {
  // 24 blocks: 9 bits. Blocks 3 and 4 are 24 + 3 = 27.
  wb::nr_dci_config c{.format = format::f0_0, .uplink_blocks = 24};
  const std::vector<int> blocks{3, 4};
  EXPECT_EQ(wb::nr_dci_blocks(c, 27), blocks);
  EXPECT_EQ(wb::nr_dci_blocks(c, 0b100000000 + 27, 1), blocks);
  EXPECT_EQ(wb::nr_dci_blocks(c, 0b110000000 + 27, 2), blocks);
  EXPECT_NE(wb::nr_dci_blocks(c, 0b010000000 + 27, 1), blocks);
  c.format = format::f0_1, c.frequency_hopping = true;
  EXPECT_EQ(wb::nr_dci_blocks(c, 0b010000000 + 27, 2), blocks);
  c.allocation = wb::nr_dci_allocation::both, c.uplink_blocks = 25;  // a bitmap of 13 bits
  EXPECT_EQ(wb::nr_dci_blocks(c, (1 << 13) + 0b0000110000000 + 28, 2), blocks);
  EXPECT_EQ(wb::nr_dci_blocks(c, 0b0110000000000, 2), (std::vector<int>{2, 3, 4, 5}));  // type 0
  const auto blames = [&](const wb::nr_dci_config& config, int hopping_bits) {
    return blamed([&] { wb::nr_dci_blocks(config, 27, hopping_bits); });
  };
  EXPECT_EQ(blames(c, 3), "hopping_bits");
  EXPECT_EQ(blames(c, -1), "hopping_bits");
  EXPECT_EQ(blames({.format = format::f1_0}, 1), "hopping_bits");
  c.allocation = wb::nr_dci_allocation::type_0;
  EXPECT_EQ(blames(c, 1), "hopping_bits");
}

TEST(nr_dci, names_what_is_wrong) {
  const auto blames = [](const wb::nr_dci_config& c) { return blamed([&] { wb::nr_dci_bits(c); }); };
  EXPECT_EQ(blames({.uplink_blocks = 276}), "uplink_blocks");
  EXPECT_EQ(blames({.downlink_blocks = 0}), "downlink_blocks");
  EXPECT_EQ(blames({.format = format::f1_1, .use = use::si_rnti}), "use");
  EXPECT_EQ(blames({.format = format::f0_0, .use = use::ra_rnti}), "use");
  EXPECT_EQ(blames({.use = use::p_rnti, .common_search_space = false}), "common_search_space");
  EXPECT_EQ(blames({.format = format::f1_1, .bandwidth_parts = 5}), "bandwidth_parts");
  EXPECT_EQ(blames({.format = format::f1_1, .code_block_groups = 3}), "code_block_groups");
  EXPECT_EQ(blames({.format = format::f1_1, .code_block_groups = 8, .codewords = 2}), "code_block_groups");
  EXPECT_EQ(blames({.format = format::f1_1, .several_cells = true}), "several_cells");
  EXPECT_EQ(blames({.format = format::f1_1, .flush_indicator = true}), "flush_indicator");
  EXPECT_EQ(blames({.format = format::f0_1, .second_dai = true}), "second_dai");
  EXPECT_EQ(blames({.format = format::f0_1, .max_layers = 2}), "max_layers");
  EXPECT_EQ(
      blames(
          {.format = format::f0_1, .antenna_ports = 2, .codebook_subset = wb::nr_codebook_subset::partial}),
      "codebook_subset");
  EXPECT_EQ(blames({.format = format::f0_1, .dmrs_type = 2, .transform_precoding = true}), "dmrs_type");
  const wb::nr_dci_config c;
  EXPECT_EQ(blamed([&] { wb::nr_dci_encode(c, {1, 2}); }), "values");
  EXPECT_EQ(blamed([&] { wb::nr_dci_encode(c, {0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0}); }), "mcs");
  // All ones are an order.
  EXPECT_EQ(blamed([&] { wb::nr_dci_encode(c, {511, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}); }), "frequency_domain");
  EXPECT_EQ(blamed([&] { wb::nr_dci_encode(c, {510, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}); }), "");
  EXPECT_EQ(blamed([&] { wb::nr_dci_decode(c, std::vector<std::uint8_t>(36)); }), "bits");
  EXPECT_EQ(blamed([&] { wb::nr_dci_decode(c, std::vector<std::uint8_t>(37, 2)); }), "bits");
  EXPECT_EQ(blames({.format = format::f0_1, .srs_resources = 3}), "srs_resources");
  EXPECT_EQ(blames({.format = format::f0_1, .least_bits = 40}), "least_bits");
  EXPECT_EQ(blamed([&] { wb::nr_dci_blocks(c, 512); }), "frequency_domain");
  EXPECT_EQ(blamed([&] { wb::nr_resource_indication(3, 22, 24); }), "blocks");
}

class pdcch_search : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(pdcch_search);

// DCIs of two sizes in a UE's search space are found in their slots, and those of another RNTI are not.
TEST_P(pdcch_search, finds_the_dcis_of_a_ue) {
  wb::pdcch_config coreset{
      .blocks = 48, .symbols = 2, .dmrs_id = 9, .scrambling_id = 77, .scrambling_rnti = 4660, .rnti = 4660};
  const std::vector<int> slots{3, 4, 19}, candidates{4, 4, 2, 2, 1};
  struct sent {
    int grid, level, candidate, size, rnti;
  };
  const std::vector<sent> sent_dcis{{0, 4, 1, 45, 4660},
                                    {0, 1, 3, 41, 4660},
                                    {1, 8, 1, 45, 4660},
                                    {1, 2, 0, 45, 4661},
                                    {2, 16, 0, 41, 4660}};
  std::vector<sample> grids(slots.size() * coreset.elements());
  std::vector<std::vector<std::uint8_t>> messages;
  std::vector<int> first_cces;
  std::mt19937 random(8);
  for (const sent& s : sent_dcis) {
    coreset.level = s.level, coreset.dci_bits = s.size, coreset.rnti = s.rnti;
    std::vector<std::uint8_t> bits(static_cast<std::size_t>(s.size));
    for (auto& b : bits) b = static_cast<std::uint8_t>(random() % 2);
    messages.push_back(bits);
    const int slot = slots[static_cast<std::size_t>(s.grid)],
              count = candidates[static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(s.level)))];
    const auto first =
        wb::nr_pdcch_candidates(coreset.cces(), s.level, count, wb::nr_ue_search_space{4660, 1, slot});
    const auto in = on_device(exec(), bits, 1, bits.size());
    auto grid = exec().make<sample>(1, coreset.elements());
    first_cces.push_back(first[static_cast<std::size_t>(s.candidate)]);
    wb::pdcch_encoder(coreset).run(exec(), in, {slot}, {first_cces.back()}, grid);
    const auto values = exec().to_host(grid);
    for (std::size_t e = 0; e < values.size(); e++)
      grids[static_cast<std::size_t>(s.grid) * coreset.elements() + e] += values[e];
  }
  std::normal_distribution<float> normal(0, 0.2f);
  for (sample& x : grids) x += sample(normal(random), normal(random));
  coreset.rnti = 4660;
  const wb::pdcch_search search(
      {.decoder = {.channel = coreset}, .sizes = {41, 45}, .candidates = candidates, .coreset_id = 1});
  const auto found = search.run(exec(), on_device(exec(), grids, slots.size(), coreset.elements()), slots);
  ASSERT_EQ(found.size(), 4u);
  const std::size_t order[] = {1, 0, 2, 4};
  for (std::size_t i = 0; i < 4; i++) {
    const sent& s = sent_dcis[order[i]];
    EXPECT_EQ(found[i].grid, s.grid);
    EXPECT_EQ(found[i].slot, slots[static_cast<std::size_t>(s.grid)]);
    EXPECT_EQ(found[i].level, s.level);
    EXPECT_EQ(found[i].first_cce, first_cces[order[i]]);
    EXPECT_EQ(found[i].result.bits, messages[order[i]]);
  }
  EXPECT_EQ(
      blamed([&] { search.run(exec(), on_device(exec(), grids, slots.size(), coreset.elements()), {1}); }),
      "slots");
  EXPECT_EQ(blamed([&] { wb::pdcch_search({.sizes = {39, 39}}); }), "sizes");
  EXPECT_EQ(blamed([&] { wb::pdcch_search({.sizes = {}}); }), "sizes");
  EXPECT_EQ(blamed([&] { wb::pdcch_search({.candidates = {1, 2}}); }), "candidates");
  EXPECT_EQ(blamed([&] { wb::pdcch_search({.coreset_id = 16}); }), "coreset_id");
  EXPECT_EQ(blamed([&] {
              search.run(exec(), on_device(exec(), grids, slots.size(), coreset.elements()), {3, 4, 80});
            }),
            "slots");
}

// A candidate of level 4 in a common search space is at CCE 0 alone, in a UE's elsewhere.
TEST_P(pdcch_search, candidates_are_those_of_the_space) {
  wb::pdcch_config coreset{.blocks = 48, .symbols = 2, .rnti = 4660};
  std::vector<std::uint8_t> bits(39);
  for (std::size_t i = 0; i < bits.size(); i++) bits[i] = i % 3 == 0;
  const auto in = on_device(exec(), bits, 1, bits.size());
  const int slot = 7;
  std::set<int> ue_cces;
  for (const int carrier : {0, 1, 3}) {
    const int expected = wb::nr_pdcch_candidates(16, 4, 1, wb::nr_ue_search_space{4660, 1, slot, carrier})[0];
    ue_cces.insert(expected);
    for (const int first_cce : {0, 4, 8, 12}) {
      auto grid = exec().make<sample>(1, coreset.elements());
      wb::pdcch_encoder(coreset).run(exec(), in, {slot}, {first_cce}, grid);
      const auto count = [&](std::optional<int> coreset_id) {
        const wb::pdcch_search search({.decoder = {.channel = coreset},
                                       .candidates = {0, 0, 1, 0, 0},
                                       .coreset_id = coreset_id,
                                       .carrier = coreset_id ? carrier : 0});
        return search.run(exec(), grid, {slot}).size();
      };
      EXPECT_EQ(count({}), first_cce == 0 ? 1u : 0u);
      EXPECT_EQ(count(1), first_cce == expected ? 1u : 0u);
    }
  }
  EXPECT_EQ(ue_cces.size(), 3u);  // (Y + n_CI) mod 4
}

TEST(pdcch_search_settings, each_size_has_a_decoder) {
  using config = wb::pdcch_search_config;
  const auto blames = [](const config& c) { return blamed([&] { wb::pdcch_search search(c); }); };
  EXPECT_EQ(blames({.candidates = {0, 0, 0, 0, 0}}), "candidates");
  EXPECT_EQ(blames({.decoder = {.channel = {.blocks = 24}}, .candidates = {0, 0, 0, 2, 1}}), "candidates");
  EXPECT_EQ(blames({.sizes = {39, 100}, .candidates = {1, 0, 0, 0, 0}}), "candidates");
  EXPECT_EQ(blames({.sizes = {39, 100}, .candidates = {1, 1, 0, 0, 0}}), "");
  EXPECT_EQ(blames({.candidates = {0, 0, 7, 0, 0}}), "candidates");
  EXPECT_EQ(blames({.decoder = {.channel = {.blocks = 25}}, .candidates = {0, 0, 0, 0, 0}}), "blocks");
  EXPECT_EQ(blames({.decoder = {.channel = {.symbols = 3, .reg_bundle = 2}}}), "reg_bundle");
  EXPECT_EQ(blames({.carrier = 1}), "carrier");
  EXPECT_EQ(blames({.coreset_id = 1, .carrier = 8}), "carrier");
}

}  // namespace dci_test
