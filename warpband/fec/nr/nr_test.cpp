// 5G NR's LDPC codes, transport block sizes, segmentation, scrambling and rate matching against vectors of
// other programs, the tables, and the standard's text (oracle/nr_transport).
#include <gtest/gtest.h>

#include <climits>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include <oracle/ldpc.hpp>
#include <oracle/nr_transport.hpp>
#include <tests/json.hpp>
#include <tests/nr.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>
#include <warpband/fec/nr/rate_matching.hpp>
#include <warpband/fec/nr/scrambling.hpp>
#include <warpband/fec/nr/segmentation.hpp>
#include <warpband/fec/nr/tbs.hpp>
#include <warpband/fec/polar/polar_code.hpp>

namespace wb {
namespace nr_test {

using namespace testing;

// ---------------------------------------------------------------- base graphs

TEST(nr_ldpc, has_the_entries_of_the_tables) {
  for (const int graph : {1, 2}) {
    std::ifstream file(std::string(WARPBAND_REFDATA) + "/nr_ldpc/bg" + std::to_string(graph) + ".csv");
    if (!file) GTEST_SKIP() << "no refdata in '" << WARPBAND_REFDATA << "/nr_ldpc'";
    std::string line;
    std::getline(file, line);
    std::map<std::pair<int, int>, std::vector<int>> entries;
    while (std::getline(file, line)) {
      std::stringstream in(line);
      std::vector<int> values;
      for (std::string field; std::getline(in, field, ',');) values.push_back(std::stoi(field));
      entries[{values.at(0), values.at(1)}] = {values.begin() + 2, values.end()};
    }
    EXPECT_EQ(entries.size(), graph == 1 ? 316U : 197U);
    const int first[] = {2, 3, 5, 7, 9, 11, 13, 15};
    for (const int z : nr_lifting_sizes()) {
      int odd = z;
      while (odd % 2 == 0) odd /= 2;
      const auto set = static_cast<std::size_t>(
          std::find(std::begin(first), std::end(first), odd == 1 ? 2 : odd) - std::begin(first));
      const ldpc_code code = nr_ldpc(graph, z);
      ASSERT_EQ(code.rows(), graph == 1 ? 46 : 42);
      ASSERT_EQ(code.columns(), graph == 1 ? 68 : 52);
      for (int row = 0; row < code.rows(); row++)
        for (int column = 0; column < code.columns(); column++) {
          const auto entry = entries.find({row, column});
          ASSERT_EQ(code.shift(row, column), entry == entries.end() ? -1 : entry->second[set] % z)
              << "graph " << graph << ", Z " << z << ", row " << row << ", column " << column;
        }
    }
  }
}

TEST(nr_ldpc, a_code_is_known_by_its_base_graph) {
  for (const int graph : {1, 2})
    for (const int rows : {0, 4, 5, 20}) {
      EXPECT_EQ(nr_base_graph_of(nr_ldpc(graph, 6, rows)), graph) << rows;
      EXPECT_EQ(nr_base_graph_of(nr_ldpc(graph, 6, rows, nr_systematic(graph) - 1)), 0) << rows;
    }
  EXPECT_EQ(nr_base_graph_of(wimax_ldpc(576, wimax_rate::r1_2)), 0);
  qc_matrix other = nr_ldpc(2, 6).matrix();
  std::swap(other.shifts[0], other.shifts[4]);  // row 0 has no block in column 4
  EXPECT_EQ(nr_base_graph_of({other, 6}), 0);
}

TEST(nr_ldpc, has_51_lifting_sizes) {
  const auto& sizes = nr_lifting_sizes();
  EXPECT_EQ(sizes.size(), 51U);
  EXPECT_EQ(sizes.front(), 2);
  EXPECT_EQ(sizes.back(), 384);
  const std::set<int> known(sizes.begin(), sizes.end());
  EXPECT_EQ(known.size(), sizes.size());
  for (int z = -2; z <= 400; z++) {
    int odd = z;
    while (odd > 0 && odd % 2 == 0) odd /= 2;
    const bool one = z >= 2 && z <= 384 && odd <= 15 && !(odd == 1 && z > 256);
    EXPECT_EQ(known.count(z) == 1, one) << z;
    EXPECT_EQ(blamed([&] { nr_ldpc(2, z, 4); }), one ? "" : "lifting_size") << z;
  }
}

class nr_codes : public on_backend {};
WB_ON_ALL_BACKENDS(nr_codes);

bits_t encode(executor& exec, const ldpc_code& code, const bits_t& bits) {
  auto coded = exec.make<std::uint8_t>(1, static_cast<std::size_t>(code.n()));
  ldpc_encoder(code).run(exec, given(exec, bits, 1), coded);
  return exec.to_host(coded);
}

TEST_P(nr_codes, are_encoded_for_every_lifting_size) {
  std::mt19937_64 random(1);
  for (const int graph : {1, 2})
    for (const int z : nr_lifting_sizes()) {
      if (small_scale() && z > 30) continue;
      const ldpc_code code = nr_ldpc(graph, z);
      const bits_t word = encode(exec(), code, random_bits_of(static_cast<std::size_t>(code.k()), random));
      const auto rest = oracle::syndrome(oracle::expand(base_of(code)), word);
      ASSERT_EQ(std::count(rest.begin(), rest.end(), 0), std::ssize(rest)) << graph << ", " << z;
    }
}

/// The first 2 Z bits are not received.
TEST_P(nr_codes, are_decoded_for_every_lifting_size_in_every_precision) {
  std::mt19937_64 random(4);
  std::normal_distribution<float> normal;
  for (const int graph : {1, 2})
    for (const int z : nr_lifting_sizes()) {
      if (small_scale() && z > 30) continue;
      const ldpc_code code = nr_ldpc(graph, z, 10);
      const std::size_t k = static_cast<std::size_t>(code.k()), n = static_cast<std::size_t>(code.n());
      const bits_t sent = random_bits_of(3 * k, random);
      auto coded = exec().make<std::uint8_t>(3, n);
      ldpc_encoder(code).run(exec(), given(exec(), sent, 3), coded);
      llrs_t llr = noise_free(exec().to_host(coded), 4.f);
      for (std::size_t i = 0; i < llr.size(); i++)
        llr[i] = i % n < static_cast<std::size_t>(2 * z) ? 0.f : llr[i] + 0.8f * normal(random);
      const auto received = given(exec(), llr, 3);
      auto bits = exec().make<std::uint8_t>(3, k);
      for (const auto precision : {ldpc_precision::float32, ldpc_precision::float16, ldpc_precision::int8}) {
        ldpc_decoder(code, {.precision = precision}).run(exec(), received, {.bits = bits});
        ASSERT_TRUE(exec().to_host(bits) == sent)
            << graph << ", " << z << ", precision " << static_cast<int>(precision);
      }
    }
}

/// Fewer rows and columns give the same bits of what is left.
TEST_P(nr_codes, shortened_ones_are_parts_of_the_whole) {
  std::mt19937_64 random(2);
  for (const int graph : {1, 2})
    for (const int z : {3, 8, 26, 56}) {
      const ldpc_code whole = nr_ldpc(graph, z);
      const std::size_t uz = static_cast<std::size_t>(z);
      for (const int systematic : {3, 6, 9, nr_systematic(graph)})
        for (const int rows : {4, 5, 17, nr_rows(graph)}) {
          const ldpc_code part = nr_ldpc(graph, z, rows, systematic);
          ASSERT_EQ(part.k(), systematic * z);
          ASSERT_EQ(part.n(), (systematic + rows) * z);
          bits_t bits = random_bits_of(static_cast<std::size_t>(systematic) * uz, random);
          const bits_t short_word = encode(exec(), part, bits);
          bits.resize(static_cast<std::size_t>(whole.k()), 0);
          bits_t expected = encode(exec(), whole, bits);
          expected.erase(expected.begin() + systematic * z, expected.begin() + whole.k());
          expected.resize(static_cast<std::size_t>(part.n()));
          ASSERT_EQ(short_word, expected) << graph << ", " << z << ", " << systematic << ", " << rows;
        }
    }
}

TEST(nr_ldpc, bad_arguments_are_named) {
  for (const int graph : {-1, 0, 3}) EXPECT_EQ(blamed([&] { nr_ldpc(graph, 2); }), "base_graph");
  for (const int rows : {-1, 1, 3, 47}) EXPECT_EQ(blamed([&] { nr_ldpc(1, 8, rows); }), "rows") << rows;
  EXPECT_EQ(blamed([&] { nr_ldpc(2, 8, 43); }), "rows");
  for (const int s : {-1, 2, 23}) EXPECT_EQ(blamed([&] { nr_ldpc(1, 8, 0, s); }), "systematic") << s;
  EXPECT_EQ(blamed([&] { nr_ldpc(2, 8, 0, 11); }), "systematic");
  EXPECT_EQ(blamed([&] { make_nr_code_block(3, 100); }), "base_graph");
  for (const int k : {INT_MIN, 0, 4, 3841, INT_MAX})
    EXPECT_EQ(blamed([&] { make_nr_code_block(2, k); }), "k");
  EXPECT_EQ(blamed([&] { make_nr_code_block(1, 8449); }), "k");
  EXPECT_EQ(blamed([&] { make_nr_code_block(1, 8448, 21); }), "columns");
  EXPECT_EQ(blamed([&] { make_nr_code_block(2, 3840, 5); }), "columns");
  EXPECT_EQ(blamed([&] { nr_code_block_of(1, 16, 8); }), "k");  // no more than what is never sent
  EXPECT_EQ(blamed([&] { nr_code_block_of(1, 177, 8); }), "k");
  EXPECT_EQ(blamed([&] { nr_code_block_of(1, 176, 17); }), "lifting_size");
}

TEST(nr_ldpc, every_length_of_a_code_block_has_a_code) {
  for (const int graph : {1, 2})
    for (int k = 5; k <= nr_systematic(graph) * 384; k += k < 800 ? 1 : 97) {
      const nr_code_block b = make_nr_code_block(graph, k);
      ASSERT_GE(b.padded(), k);
      ASSERT_LT(b.padded() - k, b.z);
      ASSERT_EQ(b.code(4).k(), b.padded());
      if (k < 60) {
        ASSERT_EQ(b.code().n(), b.codeword());
      }
    }
}

// ---------------------------------------------------------------- sizes and segmentation

TEST(nr_tbs, equals_reference_vectors) {
  const auto document = nr_vectors("nr_tbs.json");
  NR_SKIP_WITHOUT(document);
  std::set<int> tables;
  for (const auto& v : document.at("vectors")) {
    const int table = v.at("mcs_table");
    const nr_mcs mcs = nr_mcs_of(table, v.at("mcs"));
    EXPECT_EQ(mcs.modulation_order, v.at("Qm").get<int>());
    EXPECT_EQ(mcs.rate_x1024, v.at("rate_x1024").get<double>());
    const int elements = nr_resource_elements({v.at("n_prb"), v.at("n_symbols"), v.at("dmrs_re_per_prb"),
                                               v.at("overhead_re_per_prb"), v.at("layers")});
    EXPECT_EQ(elements, v.at("n_re").get<int>());
    const int size = nr_transport_block_size(elements, mcs, v.at("layers"));
    ASSERT_EQ(size, v.at("tbs").get<int>()) << "vector " << v.at("id");
    const int graph = nr_base_graph(size, mcs.code_rate());
    EXPECT_EQ(graph, v.at("base_graph").get<int>()) << "vector " << v.at("id");
    const nr_segmentation s = segment_nr_transport_block(size, graph);
    EXPECT_EQ(s.blocks, v.at("code_blocks").get<int>());
    EXPECT_EQ(s.block.k, v.at("code_block_bits_with_crc").get<int>());
    EXPECT_EQ(s.block.z, v.at("Z").get<int>());
    EXPECT_EQ(s.crc_bits, v.at("tb_crc_bits").get<int>());
    tables.insert(table);
  }
  EXPECT_EQ(tables, (std::set<int>{1, 2, 3, 4}));
}

TEST(nr_tbs, tables_rise_and_end_with_reserved_indices) {
  const int reserved[] = {29, 28, 29, 27};
  for (int table = 1; table <= 4; table++) {
    double efficiency = 0;
    for (int i = 0; i < 32; i++) {
      const nr_mcs mcs = nr_mcs_of(table, i);
      const int first = reserved[table - 1];
      EXPECT_EQ(mcs.rate_x1024 == 0, i >= first) << table << ", " << i;
      if (i >= first) {
        EXPECT_EQ(mcs.modulation_order, 2 * (i - first + 1));
        EXPECT_EQ(blamed([&] { nr_transport_block_size(100, mcs, 1); }), "rate_x1024");
        continue;
      }
      const double current = mcs.modulation_order * mcs.code_rate();
      // Table 1 goes from 16-QAM to 64-QAM with 2.5703 and then 2.5664 bits.
      EXPECT_GT(current, efficiency - 0.004) << table << ", " << i;
      efficiency = current;
    }
  }
}

/// Every size that can be: segmentation has equal blocks that the base graph holds.
TEST(nr_tbs, every_size_is_that_of_the_formula_and_can_be_cut) {
  std::vector<int> small;
  for (int size = 24; size <= 3824; size += 8) {  // those up to 3824 map to themselves at N_info = size
    if (nr_transport_block_size(size, {1, 1024}, 1) == size) small.push_back(size);
  }
  EXPECT_EQ(small.size(), 93U);
  std::mt19937_64 random(3);
  std::set<int> sizes;
  for (int table = 1; table <= 4; table++)
    for (int i = 0; i < 29; i++) {
      const nr_mcs mcs = nr_mcs_of(table, i);
      if (mcs.rate_x1024 == 0) continue;
      for (int blocks = 1; blocks <= 275; blocks += small_scale() ? 31 : 1) {
        const int symbols = 1 + static_cast<int>(random() % 14), layers = 1 + static_cast<int>(random() % 4);
        const int elements = nr_resource_elements({blocks, symbols, 6, 0, layers});
        const int size = nr_transport_block_size(elements, mcs, layers);
        ASSERT_EQ(size, oracle::nr_tbs(elements, mcs.code_rate(), mcs.modulation_order, layers, small))
            << elements << ", table " << table << ", index " << i << ", layers " << layers;
        const int graph = nr_base_graph(size, mcs.code_rate());
        const nr_segmentation s = segment_nr_transport_block(size, graph);
        const oracle::nr_segments o = oracle::nr_segment(s.bits, graph, nr_lifting_sizes());
        ASSERT_TRUE(s.blocks == o.C && s.block_crc_bits == o.L && s.block.k == o.Kp && s.block.z == o.Z &&
                    s.block.standard_k() == o.K)
            << size;
        ASSERT_EQ(s.payload * s.blocks, s.bits);
        sizes.insert(size);
      }
    }
  EXPECT_GT(sizes.size(), small_scale() ? 100U : 200U);
}

TEST(nr_tbs, tables_of_transform_precoding) {
  // The standard's spectral efficiencies, Q_m R, of tables 6.1.4.1-1 and -2.
  const std::vector<std::vector<double>> efficiencies{
      {0.2344, 0.3066, 0.3770, 0.4902, 0.6016, 0.7402, 0.8770, 1.0273, 1.1758, 1.3262,
       1.3281, 1.4766, 1.6953, 1.9141, 2.1602, 2.4063, 2.5703, 2.7305, 3.0293, 3.3223,
       3.6094, 3.9023, 4.2129, 4.5234, 4.8164, 5.1152, 5.3320, 5.5547},
      {0.0586, 0.0781, 0.0977, 0.1250, 0.1523, 0.1934, 0.2344, 0.3066, 0.3770, 0.4902,
       0.6016, 0.7402, 0.8770, 1.0273, 1.1758, 1.3262, 1.4766, 1.6953, 1.9141, 2.1602,
       2.4063, 2.5703, 2.7305, 3.0156, 3.3223, 3.6094, 3.9023, 4.5234}};
  for (const int table : {1, 2})
    for (int i = 0; i < 28; i++)
      for (const bool bpsk : {false, true}) {
        const nr_mcs mcs = nr_precoded_mcs_of(table, i, bpsk);
        EXPECT_NEAR(mcs.modulation_order * mcs.code_rate(),
                    efficiencies[static_cast<std::size_t>(table - 1)][static_cast<std::size_t>(i)], 6e-5)
            << table << ", " << i;
        EXPECT_EQ(mcs.modulation_order == 1, bpsk && i < (table == 1 ? 2 : 6)) << table << ", " << i;
      }
  for (const int table : {1, 2})
    for (const int i : {28, 29, 30, 31}) EXPECT_EQ(nr_precoded_mcs_of(table, i).rate_x1024, 0);
  EXPECT_EQ(nr_precoded_mcs_of(1, 31).modulation_order, 6);
  for (const int table : {0, 3}) EXPECT_EQ(blamed([&] { nr_precoded_mcs_of(table, 0); }), "table");
  for (const int index : {-1, 32}) EXPECT_EQ(blamed([&] { nr_precoded_mcs_of(1, index); }), "index");
}

TEST(nr_tbs, bad_arguments_are_named) {
  for (const int table : {0, 5}) EXPECT_EQ(blamed([&] { nr_mcs_of(table, 0); }), "table");
  for (const int index : {-1, 32}) EXPECT_EQ(blamed([&] { nr_mcs_of(1, index); }), "index");
  const auto elements = [](nr_allocation a) { return blamed([&] { nr_resource_elements(a); }); };
  EXPECT_EQ(elements({.resource_blocks = 0}), "resource_blocks");
  EXPECT_EQ(elements({.resource_blocks = 276}), "resource_blocks");
  EXPECT_EQ(elements({.symbols = 15}), "symbols");
  EXPECT_EQ(elements({.symbols = 2, .dmrs_per_block = 24}), "dmrs_per_block");
  EXPECT_EQ(elements({.overhead_per_block = 7}), "overhead_per_block");
  EXPECT_EQ(elements({.symbols = 1, .dmrs_per_block = 6, .overhead_per_block = 6}), "overhead_per_block");
  const nr_mcs mcs = nr_mcs_of(1, 10);
  EXPECT_EQ(blamed([&] { nr_transport_block_size(0, mcs, 1); }), "resource_elements");
  EXPECT_EQ(blamed([&] { nr_transport_block_size(1 << 20, {10, 948}, 4); }), "resource_elements");
  EXPECT_EQ(blamed([&] { nr_transport_block_size(10, mcs, 0); }), "layers");
  EXPECT_EQ(blamed([&] { nr_transport_block_size(10, {3, 100}, 1); }), "modulation_order");
  for (const double rate : {-1., 0., 0.3, 1025., std::nan("")})
    EXPECT_EQ(blamed([&] { nr_transport_block_size(10, {2, rate}, 1); }), "rate_x1024") << rate;
  EXPECT_EQ(blamed([&] { nr_base_graph(0, 0.5); }), "transport_bits");
  for (const double rate : {0., 1.1, std::nan("")})
    EXPECT_EQ(blamed([&] { nr_base_graph(100, rate); }), "code_rate") << rate;
}

TEST(nr_segmentation, refuses_what_has_no_equal_blocks) {
  for (const int a : {INT_MIN, 0, nr_most_transport_bits + 1})
    EXPECT_EQ(blamed([&] { segment_nr_transport_block(a, 1); }), "transport_bits");
  EXPECT_EQ(blamed([&] { segment_nr_transport_block(100, 0); }), "base_graph");
  EXPECT_EQ(blamed([&] { segment_nr_transport_block(8425, 1); }), "transport_bits");  // 2 blocks of 8449 bits
  for (const int graph : {1, 2})
    for (const int a : {8425, nr_most_transport_bits - 1, nr_most_transport_bits}) {
      try {
        segment_nr_transport_block(a, graph);
        ADD_FAILURE() << a;
      } catch (const argument_error& e) {  // names a size that is taken
        const std::string& allowed = e.allowed();
        const int other = std::stoi(allowed.substr(allowed.rfind(": ") + 2));
        EXPECT_NO_THROW(segment_nr_transport_block(other, graph)) << other;
      }
    }
  EXPECT_EQ(segment_nr_transport_block(8424, 1).blocks, 1);
  EXPECT_EQ(segment_nr_transport_block(8426, 1).blocks, 2);
}

// ---------------------------------------------------------------- scrambling

TEST(nr_crc, equals_reference_vectors) {
  const auto document = nr_vectors("nr_crc.json");
  NR_SKIP_WITHOUT(document);
  const std::map<std::string, crc_polynomial> known{{"6", crc6},     {"11", crc11},   {"16", crc16},
                                                    {"24A", crc24a}, {"24B", crc24b}, {"24C", crc24c}};
  std::set<std::string> seen;
  for (const auto& v : document.at("vectors")) {
    const std::string name = v.at("crc");
    std::uint32_t parity = 0;
    for (const auto bit : from_text(v.at("parity"))) parity = parity << 1 | bit;
    EXPECT_EQ(crc_parity(from_text(v.at("data")), known.at(name)), parity) << name;
    seen.insert(name);
  }
  EXPECT_EQ(seen.size(), known.size());
}

TEST(nr_scrambling, equals_reference_vectors) {
  const auto document = nr_vectors("nr_scrambling.json");
  NR_SKIP_WITHOUT(document);
  int seen = 0;
  for (const auto& v : document.at("vectors")) {
    const bits_t expected = from_text(v.at("c"));
    EXPECT_EQ(nr_scrambling_sequence(v.at("c_init").get<std::int64_t>(), expected.size()), expected);
    seen++;
  }
  EXPECT_GE(seen, 4);
}

TEST(nr_scrambling, equals_the_recursions) {
  for (const std::uint32_t init : {0U, 1U, 0x7fffffffU, 123456U}) {
    const std::vector<int> expected = oracle::nr_gold_sequence(init, 3000);
    EXPECT_EQ(nr_scrambling_sequence(init, 3000), bits_t(expected.begin(), expected.end()));
  }
  EXPECT_TRUE(nr_scrambling_sequence(1, 0).empty());
  EXPECT_EQ(blamed([] { nr_scrambling_sequence(-1, 1); }), "c_init");
  EXPECT_EQ(blamed([] { nr_scrambling_sequence(std::int64_t{1} << 31, 1); }), "c_init");
  EXPECT_EQ(nr_scrambling_init(65535, 1023), 2147451903);
  EXPECT_EQ(nr_scrambling_init(1, 3, 1), 32768 + 16384 + 3);
  EXPECT_EQ(blamed([] { nr_scrambling_init(65536, 0); }), "rnti");
  EXPECT_EQ(blamed([] { nr_scrambling_init(0, 1024); }), "identity");
  EXPECT_EQ(blamed([] { nr_scrambling_init(0, 0, 2); }), "codeword");
}

// ---------------------------------------------------------------- rate matching of code blocks

class nr_rate_matching : public on_backend {};
WB_ON_ALL_BACKENDS(nr_rate_matching);

TEST_P(nr_rate_matching, equals_reference_vectors) {
  const auto document = nr_vectors("nr_ldpc_ratematch.json");
  NR_SKIP_WITHOUT(document);
  std::map<int, int> seen;
  for (const auto& v : document.at("vectors")) {
    const int n_ref = v.at("Nref");
    const nr_rate_matcher matcher({.base_graph = v.at("bg"),
                                   .k = v.at("k"),
                                   .sent_bits = v.at("E"),
                                   .modulation_order = v.at("Qm"),
                                   .soft_buffer = n_ref != 0 ? std::optional(n_ref) : std::nullopt});
    const nr_code_block& b = matcher.block();
    const int rv = v.at("rv");
    EXPECT_EQ(b.z, v.at("Z").get<int>());
    EXPECT_EQ(b.standard_k(), v.at("K").get<int>());
    EXPECT_EQ(b.standard_n(), v.at("N").get<int>());
    EXPECT_EQ(matcher.buffer().size, v.at("Ncb").get<int>());
    EXPECT_EQ(matcher.buffer().first[static_cast<std::size_t>(rv)], v.at("k0").get<int>());
    bits_t bits = from_text(v.at("info"));
    const bits_t expected = from_text(v.at("out"));
    bits.resize(static_cast<std::size_t>(b.padded()), 0);
    auto coded = exec().make<std::uint8_t>(1, static_cast<std::size_t>(b.codeword())),
         out = exec().make<std::uint8_t>(1, expected.size());
    ldpc_encoder(b.code()).run(exec(), given(exec(), bits, 1), coded);
    matcher.match(exec(), coded, rv, out);
    EXPECT_EQ(exec().to_host(out), expected) << "vector " << v.at("id");
    seen[rv]++;
  }
  EXPECT_EQ(seen.size(), 4U);
}

struct matching_case {
  int graph, k, e, qm, n_ref;
};
/// Punctured and repeated several times, with and without fillers, with limited buffers down to one that ends
/// within the systematic bits or in the fillers.
const matching_case matching_cases[] = {
    {2, 5, 3, 1, 0},      {2, 40, 1000, 10, 0},  {2, 40, 60, 6, 30},      {2, 120, 480, 8, 130},
    {1, 22, 64, 2, 0},    {1, 500, 1200, 4, 0},  {1, 500, 2000, 4, 460},  {1, 500, 3000, 2, 470},
    {1, 330, 720, 6, 0},  {2, 640, 1920, 6, 0},  {2, 1000, 1500, 2, 9},   {1, 4224, 8448, 6, 5000},
    {2, 193, 5200, 4, 0}, {1, 1000, 2400, 1, 0}, {2, 3840, 9000, 2, 8000}};

/// The numbers of places that are sent: the oracle's selection of places that number themselves.
std::vector<int> sent_places(const nr_rate_matcher& m, int rv) {
  const nr_code_block& b = m.block();
  oracle::nr_symbols d;
  for (int i = 2 * b.z; i < b.standard_k() + nr_rows(b.base_graph) * b.z; i++) {
    const bool parity = i >= b.standard_k();
    d.push_back(parity ? i - b.standard_k() + b.padded() : i < b.k ? i : oracle::nr_null);
  }
  const auto& c = m.config();
  return oracle::nr_interleave(
      oracle::nr_select(d, b.base_graph, b.z, c.soft_buffer.value_or(0), rv, c.sent_bits),
      c.modulation_order);
}

TEST_P(nr_rate_matching, sends_what_the_standard_says_and_adds_what_was_received) {
  std::mt19937_64 random(4);
  for (const auto& c : matching_cases) {
    const nr_rate_matcher matcher({.base_graph = c.graph,
                                   .k = c.k,
                                   .sent_bits = c.e,
                                   .modulation_order = c.qm,
                                   .soft_buffer = c.n_ref != 0 ? std::optional(c.n_ref) : std::nullopt});
    const nr_code_block& block = matcher.block();
    const std::size_t n = static_cast<std::size_t>(block.codeword()), e = static_cast<std::size_t>(c.e);
    for (const std::size_t batch : {1, 17}) {
      if (batch != 1 && c.k > 700) continue;
      for (const layout order : layouts) {
        llrs_t expected(n * batch, 0.f);
        for (std::size_t i = 0; i < expected.size(); i++) {
          const int place = static_cast<int>(i % n);
          if (place >= block.k && place < block.padded()) expected[i] = nr_filler_llr;
        }
        auto soft = given(exec(), llrs_t(n * batch, std::nanf("")), batch, order);
        auto marks = exec().make<std::uint8_t>(batch, 1);
        bool first = true;
        for (const int rv : {2, 0, 3, 1, 1}) {
          const std::vector<int> places = sent_places(matcher, rv);
          const int parity = *std::max_element(places.begin(), places.end()) - block.padded();
          EXPECT_EQ(matcher.rows(rv), parity < 0 ? 4 : std::max(4, parity / block.z + 1));
          const bits_t coded = random_bits_of(n * batch, random);
          bits_t sent;
          llrs_t llr(e * batch);  // small integers: their sums are exact in any order
          for (auto& x : llr) x = static_cast<float>(random() % 31) - 15.f;
          for (std::size_t b = 0; b < batch; b++)
            for (std::size_t i = 0; i < e; i++) {
              const std::size_t index = b * n + static_cast<std::size_t>(places[i]);
              sent.push_back(coded[index]);
              expected[index] += llr[b * e + i];
            }
          auto out = given(exec(), bits_t(e * batch, 9), batch, order);
          matcher.match(exec(), given(exec(), coded, batch, order), rv, out);
          ASSERT_EQ(rows_of(exec(), out, order), sent) << "k " << c.k << ", E " << c.e << ", rv " << rv;
          matcher.combine(exec(), given(exec(), llr, batch, order), rv, first, soft, marks);
          first = false;
          ASSERT_EQ(rows_of(exec(), soft, order), expected) << "k " << c.k << ", E " << c.e << ", rv " << rv;
        }
        EXPECT_EQ(exec().to_host(marks), bits_t(batch, 0));
      }
    }
  }
}

TEST_P(nr_rate_matching, bad_llrs_count_as_not_received) {
  const nr_rate_matcher matcher({.base_graph = 2, .k = 38, .sent_bits = 800});  // Z = 7, buffer of 318 bits
  const std::size_t n = static_cast<std::size_t>(matcher.block().codeword()), batch = 5;
  const int length = matcher.buffer().length;
  ASSERT_LT(length, 400);
  const llrs_t good(800 * batch, 1.f);
  auto clean = exec().make<float>(batch, n), soft = exec().make<float>(batch, n);
  auto marks = exec().make<std::uint8_t>(batch, 1);
  matcher.combine(exec(), given(exec(), good, batch), 1, true, clean);
  const llrs_t once = exec().to_host(clean);
  const float infinity = std::numeric_limits<float>::infinity(), huge = std::numeric_limits<float>::max();
  const auto place_of = [&](int p) { return static_cast<std::size_t>(p / 400 + p % 400 * 2); };
  for (const auto& [a, b] : {std::pair{std::nanf(""), 1.f}, std::pair{infinity, -infinity},
                             std::pair{-infinity, 1.f}, std::pair{huge, huge}}) {
    llrs_t bad = good;
    bad[2 * 800 + place_of(71)] = a;
    bad[2 * 800 + place_of(71 + length)] = b;  // comes round to the same bit
    matcher.combine(exec(), given(exec(), bad, batch), 1, true, soft, marks);
    const llrs_t nothing = exec().to_host(soft);
    for (std::size_t i = 0; i < n * batch; i++) {
      const int place = static_cast<int>(i % n);
      const float filler = place >= 38 && place < matcher.block().padded() ? nr_filler_llr : 0.f;
      ASSERT_EQ(nothing[i], i / n == 2 ? filler : once[i]) << i;
    }
    EXPECT_EQ(exec().to_host(marks), (bits_t{0, 0, status_erased, 0, 0}));
    matcher.combine(exec(), given(exec(), good, batch), 1, true, soft, marks);
    EXPECT_EQ(exec().to_host(marks), bits_t(batch, 0));
    matcher.combine(exec(), given(exec(), bad, batch), 1, false, soft, marks);
    const llrs_t kept = exec().to_host(soft);
    for (std::size_t i = 2 * n; i < 3 * n; i++) EXPECT_EQ(kept[i], once[i]);
    EXPECT_EQ(exec().to_host(marks)[2], status_erased);
  }
}

TEST(nr_rate_matching_arguments, bad_ones_are_named) {
  const auto exec = open_scalar();
  const auto make = [](nr_rate_matching_config c) { return blamed([&] { nr_rate_matcher m(c); }); };
  EXPECT_EQ(make({.base_graph = 0, .sent_bits = 10}), "base_graph");
  EXPECT_EQ(make({.base_graph = 2, .k = 8448, .sent_bits = 10}), "k");
  EXPECT_EQ(make({.k = 4, .sent_bits = 10}), "k");
  EXPECT_EQ(make({.k = 100, .lifting_size = 17, .sent_bits = 10}), "lifting_size");
  for (const int e : {-2, 0, 3, (1 << 28) + 2}) EXPECT_EQ(make({.k = 100, .sent_bits = e}), "sent_bits") << e;
  EXPECT_EQ(make({.k = 100, .sent_bits = 6, .modulation_order = 3}), "modulation_order");
  EXPECT_EQ(make({.k = 100, .sent_bits = 10, .soft_buffer = -1}), "soft_buffer");
  EXPECT_EQ(make({.k = 100, .sent_bits = 10, .soft_buffer = 1}), "");
  EXPECT_EQ(blamed([] { nr_limited_buffer(0, 1); }), "lbrm_transport_bits");
  EXPECT_EQ(blamed([] { nr_limited_buffer(1, 8); }), "lbrm_transport_bits");
  EXPECT_EQ(blamed([] { nr_limited_buffer(100, 0); }), "blocks");
  EXPECT_EQ(nr_limited_buffer(100001, 4), 37500);
  EXPECT_EQ(blamed([] { nr_lbrm_transport_bits({.resource_blocks = 276}); }), "resource_blocks");
  EXPECT_EQ(blamed([] { nr_lbrm_transport_bits({.layers = 5}); }), "layers");
  EXPECT_EQ(blamed([] { nr_lbrm_transport_bits({.modulation_order = 4}); }), "modulation_order");
  // Table 5.4.2.1-1, with the formula of TS 38.214 §5.1.3.2 in double precision; none of the small sizes.
  for (const auto& [carrier, counted] : {std::pair{1, 32},
                                         {32, 32},
                                         {33, 66},
                                         {66, 66},
                                         {67, 107},
                                         {107, 107},
                                         {108, 135},
                                         {135, 135},
                                         {136, 162},
                                         {162, 162},
                                         {163, 217},
                                         {217, 217},
                                         {218, 273},
                                         {273, 273},
                                         {275, 273}})
    for (const int order : {6, 8, 10})
      for (const int layers : {1, 2, 4})
        EXPECT_EQ(nr_lbrm_transport_bits({carrier, layers, order}),
                  oracle::nr_tbs(156 * counted, 948. / 1024, order, layers, {}))
            << carrier << ", " << order << ", " << layers;
  const nr_rate_matcher matcher({.base_graph = 2, .k = 100, .sent_bits = 50});
  const std::size_t n = static_cast<std::size_t>(matcher.block().codeword());
  auto coded = exec->make<std::uint8_t>(2, n), out = exec->make<std::uint8_t>(2, 50),
       wrong_bits = exec->make<std::uint8_t>(2, 51);
  auto llr = exec->make<float>(2, 50), soft = exec->make<float>(2, n), wrong = exec->make<float>(3, n);
  for (const int rv : {-1, 4, INT_MAX}) {
    EXPECT_EQ(blamed([&] { matcher.match(*exec, coded, rv, out); }), "rv");
    EXPECT_EQ(blamed([&] { matcher.combine(*exec, llr, rv, true, soft); }), "rv");
    EXPECT_EQ(blamed([&] { (void)matcher.rows(rv); }), "rv");
  }
  EXPECT_EQ(blamed([&] { matcher.match(*exec, out, 0, out); }), "coded");
  EXPECT_EQ(blamed([&] { matcher.match(*exec, coded, 0, wrong_bits); }), "out");
  EXPECT_EQ(blamed([&] { matcher.combine(*exec, soft, 0, true, soft); }), "llr");
  EXPECT_EQ(blamed([&] { matcher.combine(*exec, llr, 0, true, wrong); }), "soft");
  EXPECT_EQ(blamed([&] { matcher.combine(*exec, llr, 0, true, soft, out); }), "marks");
}

}  // namespace nr_test
}  // namespace wb
