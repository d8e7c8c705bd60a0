// LDPC codes and their encoder: the standards' matrices and vectors, dense elimination, what is refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <tests/json.hpp>
#include <tests/ldpc.hpp>

namespace wb {
namespace ldpc_encode_test {

using testing::blamed;
using testing::bytes;
using testing::encode_words;
using testing::row_of;

const std::string refdata = WARPBAND_REFDATA;
#define SKIP_WITHOUT_FILE(path) \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << (path) << " is not there"

std::vector<std::vector<int>> read_csv(const std::string& path, bool header) {
  std::ifstream file(path);
  std::vector<std::vector<int>> rows;
  for (std::string line; std::getline(file, line);) {
    if (header && rows.empty() && line.find_first_of("rc") == 0) continue;
    rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(std::stoi(cell));
  }
  return rows;
}

/// The message of an argument_error; "" where none is thrown.
template <class Call>
std::string complaint(Call call) {
  try {
    call();
  } catch (const argument_error& e) {
    return e.what();
  }
  return "";
}

// ---------------------------------------------------------------- matrices

const std::map<std::string, wimax_rate> wimax_rates = {
    {"1_2", wimax_rate::r1_2},   {"2_3A", wimax_rate::r2_3a}, {"2_3B", wimax_rate::r2_3b},
    {"3_4A", wimax_rate::r3_4a}, {"3_4B", wimax_rate::r3_4b}, {"5_6", wimax_rate::r5_6}};

TEST(ldpc_code, wimax_matrices_are_those_of_the_standard) {
  const std::string folder = refdata + "/wimax_ldpc";
  SKIP_WITHOUT_FILE(folder);
  const auto facts = testing::parse_json(std::ifstream(folder + "/scaling.json"));
  for (const auto& [name, rate] : wimax_rates) {
    const auto want = read_csv(folder + "/r" + name + "_z96.csv", false);
    ASSERT_EQ(want.size(), facts["matrices"][name]["rows"].get<std::size_t>());
    const bool modulo = facts["scaling"][name].get<std::string>().find("mod") != std::string::npos;
    for (const auto& entry : facts["z_values"]) {
      const int z = entry.get<int>();
      const ldpc_code code = wimax_ldpc(24 * z, rate);
      ASSERT_EQ(code.rows(), static_cast<int>(want.size()));
      ASSERT_EQ(code.columns(), 24);
      EXPECT_EQ(code.z(), z);
      EXPECT_EQ(code.n(), 24 * z);
      EXPECT_EQ(code.k(), (24 - code.rows()) * z);
      EXPECT_EQ(code.blocks(), facts["matrices"][name]["nonzero_blocks"].get<int>());
      for (int i = 0; i < code.rows(); i++)
        for (int j = 0; j < 24; j++) {
          const int p = want[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
          ASSERT_EQ(code.shift(i, j), p <= 0   ? p
                                      : modulo ? p % z
                                               : p * z / 96)
              << name << ", z = " << z << ", row " << i << ", column " << j;
        }
    }
  }
}

TEST(ldpc_code, wifi_matrices_are_those_of_the_standard) {
  const std::string folder = refdata + "/wifi_ldpc";
  SKIP_WITHOUT_FILE(folder);
  const std::map<std::string, wifi_rate> rates = {
      {"1_2", wifi_rate::r1_2}, {"2_3", wifi_rate::r2_3}, {"3_4", wifi_rate::r3_4}, {"5_6", wifi_rate::r5_6}};
  for (int n : {648, 1296, 1944})
    for (const auto& [name, rate] : rates) {
      const auto want = read_csv(folder + "/n" + std::to_string(n) + "_r" + name + ".csv", false);
      const ldpc_code code = wifi_ldpc(n, rate);
      EXPECT_EQ(code.n(), n);
      EXPECT_EQ(code.z(), n / 24);
      EXPECT_EQ(testing::base_of(code).shifts, want) << n << " " << name;
    }
}

TEST(ldpc_code, shifts_scale_by_either_rule) {
  const qc_matrix base{1, 5, {-1, 0, 1, 95, 48}};
  EXPECT_EQ(lifted(base, 96, 96, shift_scaling::floor).shifts, base.shifts);
  EXPECT_EQ(lifted(base, 96, 24, shift_scaling::floor).shifts, (std::vector<int>{-1, 0, 0, 23, 12}));
  EXPECT_EQ(lifted(base, 96, 28, shift_scaling::modulo).shifts, (std::vector<int>{-1, 0, 1, 11, 20}));
  EXPECT_EQ(lifted(base, 96, 40, shift_scaling::none).shifts, base.shifts);
  EXPECT_EQ(lifted(base, 96, 384, shift_scaling::modulo).shifts, base.shifts);
  EXPECT_EQ(blamed([&] { lifted(base, 96, 97, shift_scaling::floor); }), "z");
  EXPECT_EQ(blamed([&] { lifted(base, 96, 97, shift_scaling::none); }), "z");
  EXPECT_EQ(blamed([&] { lifted(base, 96, 0, shift_scaling::modulo); }), "z");
  EXPECT_EQ(blamed([&] { lifted(base, 0, 1, shift_scaling::floor); }), "z0");
  EXPECT_EQ(blamed([&] { lifted(base, 96, 24, static_cast<shift_scaling>(3)); }), "scaling");
}

TEST(ldpc_code, bad_matrices_are_refused_by_row_and_column) {
  const qc_matrix good{2, 5, {0, 1, 2, 0, -1, 2, -1, 1, 0, 0}};
  EXPECT_NO_THROW(ldpc_code(good, 3));
  const auto with = [&](auto change, int z = 3) {
    qc_matrix m = good;
    change(m);
    return complaint([&] { ldpc_code(m, z); });
  };
  const auto has = [](const std::string& text, const std::vector<std::string>& parts) {
    for (const auto& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(with([](auto& m) { m.shifts[7] = 3; }), {"matrix", "shift 3", "row 1, column 2", "z - 1 = 2"});
  has(with([](auto& m) { m.shifts[4] = -2; }), {"shift -2", "row 0, column 4"});
  has(with([](auto& m) { m.shifts = {0, -1, -1, -1, -1, 2, 0, 1, 0, 0}; }), {"1 blocks", "row 0", "2 to 64"});
  has(with([](auto& m) { m.shifts = {0, 1, -1, 0, 0, 2, 0, -1, 0, 0}; }), {"column 2", "at least 1"});
  has(with([](auto& m) { m.shifts.pop_back(); }), {"row 1, column 4", "2 rows of 5"});
  has(with([](auto& m) { m.shifts.push_back(0); }), {"1 shifts after row 1", "2 rows of 5"});
  has(with([](auto& m) { m.rows = 0; }), {"matrix.rows = 0", "1 to 128"});
  has(with([](auto& m) { m.rows = 129; }), {"matrix.rows = 129", "1 to 128"});
  has(with([](auto& m) { m.columns = 2; }), {"matrix.columns = 2", "3 to 1024"});
  has(with([](auto& m) { m.columns = 1025; }), {"matrix.columns = 1025", "3 to 1024"});
  has(with([](auto&) {}, 0), {"z = 0", "1 to 4096"});
  has(with([](auto&) {}, 4097), {"z = 4097", "1 to 4096"});
  has(complaint([] { ldpc_code({1, 257, std::vector<int>(257, 0)}, 4096); }), {"n = 1052672", "1048576"});
  has(complaint([] { ldpc_code({1, 65, std::vector<int>(65, 0)}, 1); }), {"65 blocks", "row 0", "2 to 64"});
  // 17 rows of 61 blocks are 1037.
  has(complaint([] { testing::random_code(17, 62, 3, 61, 1); }), {"blocks up to row 16", "1024 in all"});
  for (int n : {0, -96, 480, 575, 600, 2400})
    has(complaint([&] { wimax_ldpc(n, wimax_rate::r1_2); }), {"n = "});
  for (int n : {0, 649, 1944 * 2}) has(complaint([&] { wifi_ldpc(n, wifi_rate::r1_2); }), {"n = ", "1296"});
  has(complaint([] { wimax_ldpc(576, static_cast<wimax_rate>(6)); }), {"rate = 6"});
  has(complaint([] { wimax_ldpc(576, static_cast<wimax_rate>(-1)); }), {"rate = -1"});
  has(complaint([] { wifi_ldpc(648, static_cast<wifi_rate>(4)); }), {"rate = 4"});
}

// ---------------------------------------------------------------- encoder

class ldpc_encode : public testing::on_backend {};
WB_ON_ALL_BACKENDS(ldpc_encode);

struct encoded {
  testing::named_code named;
  bytes messages, words;
};
/// Some messages of each code of the standards, encoded by elimination; made once for all backends.
const std::vector<encoded>& encoded_by_elimination() {
  static const std::vector<encoded> cases = [] {
    std::vector<encoded> list;
    std::mt19937_64 random(1);
    std::size_t i = 0;
    for (const auto& named : testing::standard_codes()) {
      if (i++ % 9 != 0 && testing::small_scale()) continue;
      const auto encoder = testing::dense_encoder_of(named.code);
      EXPECT_EQ(encoder.rank(), named.code.n() - named.code.k()) << named.name;
      encoded e{named, {}, {}};
      for (int w = 0; w < 3; w++) {
        const bytes message = testing::random_bytes_of_bits(named.code.k(), random),
                    word = encoder.encode(message);
        e.messages.insert(e.messages.end(), message.begin(), message.end());
        e.words.insert(e.words.end(), word.begin(), word.end());
      }
      list.push_back(std::move(e));
    }
    return list;
  }();
  return cases;
}

TEST_P(ldpc_encode, equals_elimination_for_every_code) {
  for (const auto& e : encoded_by_elimination()) {
    const ldpc_encoder encoder(e.named.code);
    EXPECT_EQ(encoder.k(), e.named.code.k());
    EXPECT_EQ(encoder.n(), e.named.code.n());
    const std::size_t n = static_cast<std::size_t>(encoder.n());
    const auto h = testing::checks_of(e.named.code);
    const bytes got = encode_words(exec(), encoder, e.messages, n);
    ASSERT_EQ(got, e.words) << e.named.name;
    for (std::size_t w = 0; w < got.size() / n; w++)
      ASSERT_TRUE(testing::satisfies(h, row_of(got, w, n))) << e.named.name;
  }
}

bytes from_text(const std::string& text) {
  bytes b;
  for (char c : text) b.push_back(c == '1' ? 1 : 0);
  return b;
}

TEST_P(ldpc_encode, gives_the_reference_vectors_of_wimax) {
  const std::string path = refdata + "/vectors/wimax_ldpc_enc.json";
  SKIP_WITHOUT_FILE(path);
  const auto vectors = testing::parse_json(std::ifstream(path)).at("vectors");
  for (const auto& v : vectors) {
    const ldpc_encoder encoder(
        wimax_ldpc(v.at("n").get<int>(), wimax_rates.at(v.at("rate").get<std::string>())));
    EXPECT_EQ(encoder.k(), v.at("k").get<int>());
    EXPECT_EQ(encode_words(exec(), encoder, from_text(v.at("input")), static_cast<std::size_t>(encoder.n())),
              from_text(v.at("codeword")))
        << v.at("rate") << ", n = " << encoder.n();
  }
  EXPECT_GE(vectors.size(), 11u);
}

/// TS 38.212 §5.3.2 from the reference data.
ldpc_code nr_code(int base_graph, int z) {
  const std::string folder = refdata + "/nr_ldpc";
  static const auto facts = testing::parse_json(std::ifstream(folder + "/lifting.json"));
  static const std::vector<std::vector<int>> entries[] = {read_csv(folder + "/bg1.csv", true),
                                                          read_csv(folder + "/bg2.csv", true)};
  std::size_t set = 0;
  for (std::size_t i = 0; i < 8; i++)
    for (const auto& value : facts["lifting_size_sets"][std::to_string(i)])
      if (value.get<int>() == z) set = i;
  const auto& shape = facts["bg" + std::to_string(base_graph)];
  qc_matrix m{shape["rows"].get<int>(), shape["cols"].get<int>(), {}};
  m.shifts.assign(static_cast<std::size_t>(m.rows * m.columns), -1);
  for (const auto& entry : entries[base_graph - 1])
    m.shifts[static_cast<std::size_t>(entry[0] * m.columns + entry[1])] = entry[2 + set];
  return {lifted(m, 384, z, shift_scaling::modulo), z};
}

TEST_P(ldpc_encode, gives_the_reference_vectors_of_nr) {
  const std::string path = refdata + "/vectors/nr_ldpc_enc.json";
  SKIP_WITHOUT_FILE(path);
  const auto vectors = testing::parse_json(std::ifstream(path)).at("vectors");
  for (const auto& v : vectors) {
    const int z = v.at("Z").get<int>(), graph = v.at("bg").get<int>();
    const ldpc_code code = nr_code(graph, z);
    EXPECT_EQ(code.k(), v.at("K").get<int>());
    const std::string want = v.at("codeword");
    const std::size_t dropped = 2 * static_cast<std::size_t>(z);
    ASSERT_EQ(want.size() + dropped, static_cast<std::size_t>(code.n()));
    // Fillers ('-') are zeros to the encoder.
    const bytes word = encode_words(exec(), ldpc_encoder(code), from_text(v.at("message")),
                                    static_cast<std::size_t>(code.n()));
    EXPECT_EQ(bytes(word.begin() + static_cast<std::ptrdiff_t>(dropped), word.end()), from_text(want))
        << "base graph " << graph << ", Z = " << z;
  }
  EXPECT_GE(vectors.size(), 20u);
}

TEST_P(ldpc_encode, gives_codewords_of_nr_for_every_set_of_lifting_sizes) {
  SKIP_WITHOUT_FILE(refdata + "/nr_ldpc");
  std::mt19937_64 random(2);
  for (int graph : {1, 2})
    for (int z : {2, 3, 5, 7, 9, 11, 13, 15, 22, 36, 104, 120, 128, 224, 320, 384}) {
      if (z > 40 && testing::small_scale()) continue;
      const ldpc_code code = nr_code(graph, z);
      const ldpc_encoder encoder(code);
      const std::size_t k = static_cast<std::size_t>(code.k()), n = static_cast<std::size_t>(code.n());
      const bytes messages = testing::random_bytes_of_bits(2 * code.k(), random);
      const bytes words = encode_words(exec(), encoder, messages, n);
      const auto h = testing::checks_of(code);
      for (std::size_t w = 0; w < 2; w++) {
        ASSERT_TRUE(testing::satisfies(h, row_of(words, w, n))) << graph << ", Z = " << z;
        ASSERT_EQ(row_of(row_of(words, w, n), 0, k), row_of(messages, w, k));
      }
    }
}

TEST_P(ldpc_encode, takes_any_batch_layout_and_width) {
  std::mt19937_64 random(3);
  for (const ldpc_code& code : {wifi_ldpc(648, wifi_rate::r2_3), wimax_ldpc(576, wimax_rate::r3_4b),
                                testing::random_code(2, 5, 3, 3, 9)}) {
    const std::size_t k = static_cast<std::size_t>(code.k()), n = static_cast<std::size_t>(code.n()),
                      count_of_words = 67, width = n + 5;
    const auto dense = testing::dense_encoder_of(code);
    if (dense.rank() != code.n() - code.k()) continue;
    const ldpc_encoder encoder(code);
    bytes messages, words;
    for (std::size_t w = 0; w < count_of_words; w++) {
      const bytes message = testing::random_bytes_of_bits(code.k(), random);
      bytes word = dense.encode(message);
      word.resize(width, 0);  // rows may be wider than a codeword: zeros
      words.insert(words.end(), word.begin(), word.end());
      for (auto b : message)
        messages.push_back(b | static_cast<std::uint8_t>(random() & 0xfe));  // bit 0 counts
    }
    for (std::size_t count : {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 67}) {
      const bytes part(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(count * k));
      ASSERT_EQ(encode_words(exec(), encoder, part, width),
                bytes(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count * width)))
          << count;
    }
    bytes turned(messages.size());
    for (std::size_t w = 0; w < count_of_words; w++)
      for (std::size_t i = 0; i < k; i++) turned[i * count_of_words + w] = messages[w * k + i];
    auto in = testing::on_device(exec(), turned, count_of_words, k, layout::batch_fastest);
    auto out = testing::on_device(exec(), bytes(width * count_of_words, 0xee), count_of_words, width,
                                  layout::batch_fastest);
    encoder.run(exec(), in, out);
    const bytes got = exec().to_host(out);
    for (std::size_t w = 0; w < count_of_words; w++)
      for (std::size_t i = 0; i < width; i++) ASSERT_EQ(got[i * count_of_words + w], words[w * width + i]);
  }
}

TEST_P(ldpc_encode, solves_every_small_code_of_full_rank) {
  // With up to four block rows all of the parity part may be core: such a code is refused only if singular.
  std::mt19937_64 random(4);
  int solved = 0, singular = 0;
  for (int round = 0; round < 400; round++) {
    const int rows = 1 + round % 4, z = 1 + round % 11;
    const ldpc_code code =
        testing::random_code(rows, rows + 1 + round % 3, z,
                             2 + static_cast<int>(random() % static_cast<unsigned>(rows)), random());
    const auto dense = testing::dense_encoder_of(code);
    const auto run = [&] {
      const ldpc_encoder encoder(code);
      const bytes message = testing::random_bytes_of_bits(code.k(), random);
      ASSERT_EQ(encode_words(exec(), encoder, message, static_cast<std::size_t>(code.n())),
                dense.encode(message))
          << rows << " rows, z = " << z;
    };
    const std::string text = complaint(run);
    if (dense.rank() == rows * z) {
      solved++;
      EXPECT_EQ(text, "") << rows << " rows, z = " << z;
    } else {
      singular++;
      EXPECT_NE(text.find("row"), std::string::npos) << text;
      EXPECT_NE(text.find("column"), std::string::npos) << text;
    }
  }
  EXPECT_GT(solved, 40);
  EXPECT_GT(singular, 40);
}

TEST_P(ldpc_encode, a_code_that_it_refuses_can_be_decoded) {
  auto cut = wimax_ldpc(576, wimax_rate::r1_2).matrix();
  cut.shifts[5 * 24 + 12] = -1;  // the middle of the first parity column: the other two blocks add up to 0
  for (const ldpc_code& code : {ldpc_code(cut, 24), testing::random_code(12, 24, 24, 8, 5)}) {
    const std::string text = complaint([&] { ldpc_encoder encoder(code); });
    EXPECT_NE(text.find("row"), std::string::npos) << text;
    EXPECT_NE(text.find("column"), std::string::npos) << text;
    std::mt19937_64 random(6);
    const auto llr = testing::noisy(bytes(576), 3, random);
    const auto got = testing::decode_words(exec(), ldpc_decoder(code, {}), llr);
    EXPECT_EQ(got.bits, bytes(576));
    EXPECT_EQ(got.status[0], status_stopped);
  }
}

TEST(ldpc_encode_structure, a_core_column_may_stand_in_other_rows_than_those_where_peeling_halts) {
  // Parity columns c, x, y, a1, b1, ... a5, b5: the core c gives x, then y, a_i and b_i.
  qc_matrix m{13, 14, std::vector<int>(std::size_t{13} * 14, -1)};
  int row = 0;
  const auto add = [&](std::initializer_list<int> parity) {
    m.shifts[static_cast<std::size_t>(row * 14)] = 0;
    for (const int p : parity) m.shifts[static_cast<std::size_t>(row * 14 + 1 + p)] = 0;
    row++;
  };
  for (int i = 0; i < 5; i++) add({3 + 2 * i, 4 + 2 * i});
  for (int i = 0; i < 5; i++) add({1, 2, 3 + 2 * i});
  add({0, 1});
  add({1, 2});
  add({0, 1, 2});
  const ldpc_code code(m, 5);
  const auto exec = open_executor("cpu", 1);
  const std::vector<std::uint8_t> bits = {1, 0, 1, 1, 0};
  auto in = exec->make_from(bits);
  auto out = exec->make<std::uint8_t>(1, static_cast<std::size_t>(code.n()));
  ldpc_encoder(code).run(*exec, make_view(std::as_const(in).data(), 1, 5), out);
  const std::vector<std::uint8_t> word = exec->to_host(out);
  for (int r = 0; r < 13; r++)
    for (int i = 0; i < 5; i++) {
      int sum = 0;
      for (int c = 0; c < 14; c++)
        if (code.shift(r, c) >= 0) sum ^= word[static_cast<std::size_t>(c * 5 + i)];
      EXPECT_EQ(sum, 0) << "row " << r;
    }
}

TEST(ldpc_encode_errors, a_dense_parity_part_is_refused_at_once) {
  // Where a row has more than five unknowns, no core of four columns helps.
  const std::string text = complaint([] { ldpc_encoder encoder(testing::random_code(16, 96, 1, 60, 8)); });
  EXPECT_NE(text.find("row"), std::string::npos) << text;
}

TEST(ldpc_encode_errors, wrong_shapes_are_refused) {
  const auto e = testing::open_scalar();
  const ldpc_encoder encoder(wifi_ldpc(648, wifi_rate::r1_2));
  auto bits = e->make<std::uint8_t>(2, 324), short_bits = e->make<std::uint8_t>(2, 323);
  auto coded = e->make<std::uint8_t>(2, 648), narrow = e->make<std::uint8_t>(2, 647),
       other = e->make<std::uint8_t>(3, 648);
  EXPECT_EQ(blamed([&] { encoder.run(*e, bits, coded); }), "");
  EXPECT_EQ(blamed([&] { encoder.run(*e, short_bits, coded); }), "bits");
  EXPECT_EQ(blamed([&] { encoder.run(*e, bits, narrow); }), "coded");
  EXPECT_EQ(blamed([&] { encoder.run(*e, bits, other); }), "coded");
  EXPECT_THROW(encoder.run(*e, bits, narrow), shape_error);
  auto none = e->make<std::uint8_t>(0, 324), nothing = e->make<std::uint8_t>(0, 648);
  EXPECT_EQ(blamed([&] { encoder.run(*e, none, nothing); }), "");
}

TEST(ldpc_encode_errors, encoders_are_copied_and_moved) {
  const auto e = testing::open_scalar();
  std::mt19937_64 random(7);
  const ldpc_code code = wimax_ldpc(576, wimax_rate::r2_3b);
  const bytes message = testing::random_bytes_of_bits(code.k(), random);
  ldpc_encoder first(code);
  const bytes want = encode_words(*e, first, message, 576);
  ldpc_encoder copy = first, moved = std::move(first);
  EXPECT_EQ(encode_words(*e, copy, message, 576), want);
  EXPECT_EQ(encode_words(*e, moved, message, 576), want);
}

}  // namespace ldpc_encode_test
}  // namespace wb

#undef SKIP_WITHOUT_FILE
