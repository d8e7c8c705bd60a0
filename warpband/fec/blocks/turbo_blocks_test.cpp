// Code blocks of LTE with descriptions of their own: test vectors of DPDK and of an own model; against rate
// matching and the turbo decoder by themselves; and what a batch may not change.
#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include <oracle/lte.hpp>
#include <tests/allocations.hpp>
#include <tests/bbdev_file.hpp>
#include <tests/turbo.hpp>
#include <warpband/fec/blocks/turbo_blocks.hpp>
#include <warpband/fec/lte/rate_matching.hpp>

namespace wb {
namespace turbo_blocks_test {

using namespace testing;
using bytes_t = std::vector<std::uint8_t>;

class turbo_blocks : public on_backend {};
WB_ON_ALL_BACKENDS(turbo_blocks);

int k_pi(int k) { return (k + 4 + 31) / 32 * 32; }

/// §5.1.4.1.1 and .2 word by word: the place in the codeword (d0, d1, d2, k + 4 each) of each w_k, -1: NULL.
std::vector<int> circular_buffer_of(int k) {
  const int pattern[32] = {0, 16, 8, 24, 4, 20, 12, 28, 2, 18, 10, 26, 6, 22, 14, 30,
                           1, 17, 9, 25, 5, 21, 13, 29, 3, 19, 11, 27, 7, 23, 15, 31};
  const int n = k_pi(k), rows = n / 32, nulls = n - k - 4;
  std::vector<int> v[3];
  for (int d = 0; d < 3; d++) {
    std::vector<int> y;
    for (int i = 0; i < n; i++) y.push_back(i < nulls ? -1 : d * (k + 4) + i - nulls);
    for (int i = 0; i < n; i++) {
      const int from = pattern[i / rows] + 32 * (i % rows);
      v[d].push_back(y[static_cast<std::size_t>(d == 2 ? (from + 1) % n : from)]);
    }
  }
  std::vector<int> w = v[0];
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); i++) {
    w.push_back(v[1][i]);
    w.push_back(v[2][i]);
  }
  return w;
}
/// LLRs in the order of the codeword to that of the buffer. NULLs become `null`.
steps_t to_buffer(const steps_t& codeword, int k, std::int8_t null = 0) {
  steps_t w;
  for (const int place : circular_buffer_of(k))
    w.push_back(place < 0 ? null : codeword[static_cast<std::size_t>(place)]);
  return w;
}

bytes_t packed(const bits_t& bits) {
  bytes_t out((bits.size() + 7) / 8);
  for (std::size_t i = 0; i < bits.size(); i++)
    out[i / 8] = static_cast<std::uint8_t>(out[i / 8] | bits[i] << (7 - i % 8));
  return out;
}
bits_t unpacked(const bytes_t& bytes, std::size_t n) {
  bits_t bits;
  for (std::size_t i = 0; i < n; i++) bits.push_back(bytes[i / 8] >> (7 - i % 8) & 1);
  return bits;
}

/// A block with its memory.
struct decoding {
  turbo_decode_block block;
  steps_t llr;
  bytes_t bits;
  steps_t soft;
  block_result result;
};
/// Outputs that must not depend on others in the batch.
struct outputs {
  int status, crc_passed, iterations, bytes;
  bytes_t bits;
  steps_t soft;
  bool operator==(const outputs&) const = default;
};
outputs of(const decoding& d) {
  return {d.result.status, d.result.crc_passed, d.result.iterations, static_cast<int>(d.result.bytes), d.bits,
          d.soft};
}
decoding make_decoding(turbo_decode_block block, steps_t llr, bool soft = false) {
  decoding d{block, std::move(llr), {}, {}, {}};
  const int dropped = block.drop_crc ? block.crc->degree : 0;
  d.bits.assign((static_cast<std::size_t>(block.k - dropped) + 7) / 8, 0xA5);
  if (soft) d.soft.assign(3 * (static_cast<std::size_t>(block.k) + 4), 99);
  return d;
}
void run(executor& exec, turbo_block_decoder& decoder, const std::vector<decoding*>& batch) {
  std::vector<turbo_decode_block> blocks;
  for (decoding* d : batch) {
    turbo_decode_block b = d->block;
    if (b.llr.data == nullptr) b.llr.data = d->llr.data(), b.llr.count = d->llr.size();
    b.bits = {d->bits.data(), d->bits.size()};
    if (!d->soft.empty()) b.soft = d->soft.data(), b.soft_length = d->soft.size();
    blocks.push_back(b);
  }
  std::vector<block_result> results(batch.size());
  decoder.start(exec, blocks);
  decoder.finish(results);
  for (std::size_t i = 0; i < batch.size(); i++) batch[i]->result = results[i];
}
void run(executor& exec, turbo_block_decoder& decoder, std::vector<decoding>& batch) {
  std::vector<decoding*> pointers;
  for (decoding& d : batch) pointers.push_back(&d);
  run(exec, decoder, pointers);
}

const std::vector<std::string> decoder_vectors{"dpdk/turbo_dec_c1_k40_r0_e17280_sbd_negllr",
                                               "dpdk/turbo_dec_c1_k6144_r0_e10376_crc24b_sbd_negllr_high_snr",
                                               "dpdk/turbo_dec_c1_k6144_r0_e34560_posllr",
                                               "dpdk/turbo_dec_c1_k6144_r0_e34560_sbd_posllr",
                                               "dpdk/turbo_dec_c2_k3136_r0_e4920_sbd_negllr_crc24b",
                                               "own/turbo_dec_crc24a_wrong",
                                               "own/turbo_dec_k1024_crc24b_drop"},
    encoder_vectors{"dpdk/turbo_enc_c1_k40_r0_e1190_rm",
                    "dpdk/turbo_enc_c1_k40_r0_e1196_rm",
                    "dpdk/turbo_enc_c1_k6144_r0_e120_rm_rvidx",
                    "dpdk/turbo_enc_c1_k6144_r0_e18448_crc24a",
                    "dpdk/turbo_enc_c1_k6144_r0_e32256_crc24b_rm",
                    "dpdk/turbo_enc_c3_k4800_r2_e14412_crc24b",
                    "own/turbo_enc_k1008_rv1_limited",
                    "own/turbo_enc_tb_2_sizes"};

/// A vector's code blocks from number `r` on: their sizes.
std::vector<int> sizes_of(const bbdev_file& file) {
  if (file.number("code_block_mode") == 1) return {file.number("k")};
  std::vector<int> sizes;
  for (int r = file.number("r"); r < file.number("c"); r++)
    sizes.push_back(file.number(r < file.number("c_neg") ? "k_neg" : "k_pos"));
  return sizes;
}

TEST_P(turbo_blocks, decodes_the_vectors_of_bbdev) {
  if (!read_bbdev(decoder_vectors[0] + ".data")) GTEST_SKIP() << "no refdata: '" WARPBAND_REFDATA "/bbdev'";
  turbo_block_decoder decoder;
  for (const std::string& name : decoder_vectors) {
    SCOPED_TRACE(name);
    const auto file = read_bbdev(name + ".data");
    ASSERT_TRUE(file);
    const bool keeps = !file->flag("TURBO_DEC_CRC_24B_DROP") &&
                       (file->number("code_block_mode") == 1 || file->flag("TURBO_DEC_TB_CRC_24B_KEEP"));
    const bool soft = file->flag("TURBO_SOFT_OUTPUT");
    const bytes_t input = file->bytes("input");
    std::vector<decoding> batch;
    std::size_t begin = 0;
    for (const int k : sizes_of(*file)) {
      turbo_decode_block b;
      b.k = k;
      b.llr.negative = file->flag("TURBO_POS_LLR_1_BIT_IN");
      b.order =
          file->flag("TURBO_SUBBLOCK_DEINTERLEAVE") ? turbo_order::circular_buffer : turbo_order::streams;
      b.least_iterations = file->number("iter_min", 1);
      b.iterations = file->number("iter_max", 8);
      b.crc = file->flag("TURBO_CRC_TYPE_24B") ? crc24b : crc24a;
      b.drop_crc = !keeps;
      b.negative_soft = file->flag("TURBO_POS_LLR_1_BIT_SOFT_OUT");
      const std::size_t n = 3 * static_cast<std::size_t>(k_pi(k));
      ASSERT_LE(begin + n, input.size());
      steps_t llr;
      for (std::size_t i = 0; i < n; i++) llr.push_back(static_cast<std::int8_t>(input[begin + i]));
      begin += n;
      batch.push_back(make_decoding(b, llr, soft));
    }
    EXPECT_EQ(begin, input.size());
    run(exec(), decoder, batch);
    bytes_t bits;
    steps_t soft_bits;
    const int expected = file->text("expected_status") == "CRC" ? block_crc : 0;
    for (const decoding& d : batch) {
      EXPECT_EQ(d.result.status, expected);
      EXPECT_EQ(d.result.crc_passed, expected == 0 ? 1 : 0);
      EXPECT_GE(d.result.iterations, file->number("iter_min"));
      EXPECT_LE(d.result.iterations, file->number("expected_iter_count"));
      bits.insert(bits.end(), d.bits.begin(), d.bits.end());
      soft_bits.insert(soft_bits.end(), d.soft.begin(), d.soft.end());
    }
    EXPECT_EQ(bits, file->bytes("hard_output"));
    if (!soft) continue;
    const bytes_t wanted = file->bytes("soft_output");
    ASSERT_EQ(soft_bits.size(), wanted.size());
    std::size_t off = 0, signs = 0;
    for (std::size_t i = 0; i < wanted.size(); i++) {
      const int want = static_cast<std::int8_t>(wanted[i]), got = soft_bits[i];
      off += std::abs(want - got) > 32;
      signs += (want < 0) != (got < 0);
    }
    EXPECT_LE(off, wanted.size() / 8);
    EXPECT_EQ(signs, 0U);
    RecordProperty("soft values off by more than 32 of " + std::to_string(wanted.size()),
                   static_cast<int>(off));
  }
}

TEST_P(turbo_blocks, encodes_the_vectors_of_bbdev) {
  if (!read_bbdev(encoder_vectors[0] + ".data")) GTEST_SKIP() << "no refdata: '" WARPBAND_REFDATA "/bbdev'";
  turbo_block_encoder encoder;
  for (const std::string& name : encoder_vectors) {
    SCOPED_TRACE(name);
    const auto file = read_bbdev(name + ".data");
    ASSERT_TRUE(file);
    const bytes_t input = file->bytes("input");
    const bool whole = file->number("code_block_mode") == 0;
    std::vector<turbo_encode_block> blocks;
    std::vector<bytes_t> out;
    std::size_t begin = 0;
    int r = file->number("r");
    for (const int k : sizes_of(*file)) {
      turbo_encode_block b;
      b.k = k;
      if (file->flag("TURBO_CRC_24A_ATTACH")) b.crc = crc24a;
      if (file->flag("TURBO_CRC_24B_ATTACH")) b.crc = crc24b;
      const std::size_t n = static_cast<std::size_t>(k - (b.crc ? 24 : 0)) / 8;
      if (begin + n > input.size()) break;  // the transport block may end before its last code block
      b.bits = {input.data() + begin, n};
      begin += n;
      if (file->flag("TURBO_RATE_MATCH")) {
        b.sent_bits = file->number(!whole ? "e" : r < file->number("cab") ? "ea" : "eb");
        b.buffer = file->number(!whole ? "ncb" : r < file->number("c_neg") ? "ncb_neg" : "ncb_pos");
        b.first =
            file->flag("TURBO_RV_INDEX_BYPASS") ? 0 : lte_first_place(k, b.buffer, file->number("rv_index"));
      }
      out.emplace_back((static_cast<std::size_t>(b.sent_bits != 0 ? b.sent_bits : 3 * k + 12) + 7) / 8,
                       std::uint8_t{0xA5});
      blocks.push_back(b);
      r++;
    }
    for (std::size_t i = 0; i < blocks.size(); i++) blocks[i].out = {out[i].data(), out[i].size()};
    std::vector<block_result> results(blocks.size());
    encoder.start(exec(), blocks);
    encoder.finish(results);
    bytes_t written;
    for (std::size_t i = 0; i < blocks.size(); i++) {
      EXPECT_EQ(results[i].status, 0);
      EXPECT_EQ(results[i].bytes, out[i].size());
      written.insert(written.end(), out[i].begin(), out[i].end());
    }
    EXPECT_EQ(written, file->bytes("output"));
  }
}

TEST(turbo_block_tables, first_places_are_those_of_the_matcher) {
  for (const qpp_parameters& row : qpp_table())
    for (const int buffer : {0, 2 * k_pi(row.k), 3 * k_pi(row.k) - 5, k_pi(row.k) + 1}) {
      const auto ring = make_lte_circular_buffer(row.k, 0, buffer == 0 ? 3 * k_pi(row.k) : buffer);
      const std::vector<int> w = circular_buffer_of(row.k);
      for (int rv = 0; rv < 4; rv++) {
        int place = lte_first_place(row.k, buffer, rv);
        while (w[static_cast<std::size_t>(place)] < 0) place = (place + 1) % ring.size;
        EXPECT_EQ(ring.places[static_cast<std::size_t>(ring.start[static_cast<std::size_t>(rv)])],
                  w[static_cast<std::size_t>(place)])
            << row.k << " " << buffer << " " << rv;
      }
    }
  EXPECT_EQ(blamed([] { (void)lte_first_place(41, 0, 0); }), "k");
  EXPECT_EQ(blamed([] { (void)lte_first_place(40, 193, 0); }), "buffer");
  EXPECT_EQ(blamed([] { (void)lte_first_place(40, 0, 4); }), "rv");
}

/// A block of random bits that end with a CRC, what the encoder is to send of it, and what comes back.
struct transmission {
  int k, buffer, rv, sent;
  crc_polynomial crc;
  bits_t bits;
};
std::vector<transmission> make_transmissions(std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<transmission> batch;
  const auto table = qpp_table();
  const std::size_t step = small_scale() ? 23 : 3;
  for (std::size_t i = 0; i < table.size(); i += step) {
    const int k = table[i].k, n = static_cast<int>(batch.size());
    const crc_polynomial crcs[] = {crc24a, crc24b, crc16, {0xB, 3}};
    transmission t{k,
                   n % 3 == 0 ? 0 : k_pi(k) * (n % 3 == 1 ? 2 : 3) - n % 7,
                   n % 4,
                   0,
                   crcs[static_cast<std::size_t>(n / 4 % 4)],
                   {}};
    t.sent = n % 5 == 4 ? 5 * k + 3 : 2 * k + n % 8;
    t.bits = random_bits_of(k, rng);
    t.bits.resize(static_cast<std::size_t>(k - t.crc.degree));
    const auto parity = oracle::crc(t.bits, t.crc.polynomial, t.crc.degree);
    t.bits.insert(t.bits.end(), parity.begin(), parity.end());
    batch.push_back(std::move(t));
  }
  return batch;
}

TEST_P(turbo_blocks, comes_back_through_rate_matching) {
  const auto batch = make_transmissions(5);
  // All of them in one batch.
  std::vector<bytes_t> in, out;
  std::vector<turbo_encode_block> blocks;
  for (const transmission& t : batch) {
    in.push_back(packed(bits_t(t.bits.begin(), t.bits.end() - t.crc.degree)));
    out.emplace_back((static_cast<std::size_t>(t.sent) + 7) / 8, std::uint8_t{0xA5});
  }
  for (std::size_t i = 0; i < batch.size(); i++) {
    const transmission& t = batch[i];
    blocks.push_back({.k = t.k,
                      .bits = {in[i].data(), in[i].size()},
                      .crc = t.crc,
                      .sent_bits = t.sent,
                      .buffer = t.buffer,
                      .first = lte_first_place(t.k, t.buffer, t.rv),
                      .out = {out[i].data(), out[i].size()}});
  }
  std::vector<block_result> results(blocks.size());
  turbo_block_encoder encoder;
  encoder.start(exec(), blocks);
  encoder.finish(results);

  turbo_decoder_config config = turbo_block_decoder::default_turbo();
  config.windows = 1;
  turbo_block_decoder decoder(config), chooses;
  std::vector<decoding> decodings;
  std::vector<decisions> wanted;
  std::mt19937_64 rng(6);
  for (std::size_t i = 0; i < batch.size(); i++) {
    const transmission& t = batch[i];
    SCOPED_TRACE("k " + std::to_string(t.k) + " rv " + std::to_string(t.rv));
    const std::size_t n = 3 * (static_cast<std::size_t>(t.k) + 4), sent = static_cast<std::size_t>(t.sent);
    lte_rate_matching_config matching{.k = t.k, .sent_bits = t.sent};
    if (t.buffer != 0) matching.soft_buffer = t.buffer;
    const lte_rate_matcher matcher(matching);
    auto coded = on_device(exec(), encoded(t.bits, interleaver(t.k)), 1, n);
    auto matched = exec().make<std::uint8_t>(1, sent);
    matcher.match(exec(), coded, t.rv, matched);
    const bits_t bits = exec().to_host(matched);
    EXPECT_EQ(unpacked(out[i], sent), bits);
    EXPECT_EQ(out[i], packed(bits));
    EXPECT_EQ(results[i].bytes, out[i].size());

    // Noise in which not every block decodes.
    std::normal_distribution<float> noise(0.f, i % 2 == 0 ? 5.f : 8.f);
    std::vector<float> llr;
    for (const auto b : bits)
      llr.push_back(std::nearbyint(std::clamp((b ? -9.f : 9.f) + noise(rng), -40.f, 40.f)));
    auto received = on_device(exec(), llr, 1, sent), soft = exec().make<float>(1, n);
    matcher.combine(exec(), received, t.rv, true, soft);
    const steps_t steps = steps_of(exec().to_host(soft), 1.f);
    turbo_decoder_config setting_of_block = config;
    setting_of_block.k = t.k;
    setting_of_block.doubts_zeros = false;
    setting_of_block.early_stop = turbo_early_stop::crc;
    setting_of_block.crc_polynomial = t.crc.polynomial;
    setting_of_block.crc_degree = t.crc.degree;
    wanted.push_back(decide(exec(), turbo_decoder(setting_of_block), steps));
    decodings.push_back(
        make_decoding({.k = t.k, .crc = t.crc, .drop_crc = i % 3 == 0}, to_buffer(steps, t.k, 77)));
  }
  run(exec(), decoder, decodings);
  int right = 0;
  for (std::size_t i = 0; i < batch.size(); i++) {
    const transmission& t = batch[i];
    const decoding& d = decodings[i];
    SCOPED_TRACE("k " + std::to_string(t.k) + " rv " + std::to_string(t.rv));
    const bool holds = (wanted[i].status[0] & status_stopped) != 0;
    EXPECT_EQ(d.result.status, holds ? 0 : block_crc);
    EXPECT_EQ(d.result.crc_passed, holds ? 1 : 0);
    EXPECT_EQ(d.result.iterations, wanted[i].iterations[0]);
    bits_t kept = wanted[i].bits;
    if (d.block.drop_crc) kept.resize(kept.size() - static_cast<std::size_t>(t.crc.degree));
    EXPECT_EQ(d.bits, packed(kept));
    right += holds && wanted[i].bits == t.bits;
  }
  EXPECT_GT(right, static_cast<int>(batch.size()) / 2);

  // With windows by the code rate: as many, or nearly.
  run(exec(), chooses, decodings);
  int chosen = 0;
  for (const decoding& d : decodings) chosen += d.result.crc_passed;
  EXPECT_GE(chosen, right - static_cast<int>(batch.size()) / 10);
}

/// Blocks of several sizes, formats and settings; some do not decode.
std::vector<decoding> make_mixed(std::uint64_t seed) {
  std::vector<decoding> batch;
  int i = 0;
  for (const int k : {40, 512, 1056, 512, 6144, 40, 2048, 512, 3136, 6144}) {
    const codewords c =
        make_codewords(k, 2, i / 2 % 3 == 2 ? -3. : 1.2, seed + static_cast<std::uint64_t>(i), &crc24a);
    for (std::size_t j = 0; j < 2; j++, i++) {
      const steps_t steps = steps_of(row_of(c.llr, j, 3 * (static_cast<std::size_t>(k) + 4)), 4.f);
      turbo_decode_block b{.k = k, .crc = crc24a};
      b.llr.decimals = 2;
      if (i % 5 == 1) b.least_iterations = 3;
      if (i % 5 == 2) b.early_stop = false;
      if (i % 5 == 3) b.crc.reset();
      if (i % 5 == 4) b.drop_crc = true;
      if (i % 7 == 3) b.iterations = 5;
      steps_t llr = to_buffer(steps, k);
      if (i % 6 == 5) {
        b.order = turbo_order::streams;
        llr.assign(3 * static_cast<std::size_t>(k_pi(k)), 55);
        for (std::size_t d = 0; d < 3; d++)
          for (std::size_t n = 0; n < static_cast<std::size_t>(k) + 4; n++)
            llr[d * static_cast<std::size_t>(k_pi(k)) + n] = steps[d * (static_cast<std::size_t>(k) + 4) + n];
      }
      if (i % 3 == 1) {
        b.llr.negative = true;
        for (auto& x : llr) x = static_cast<std::int8_t>(-x);
      }
      b.negative_soft = i % 8 == 0;
      batch.push_back(make_decoding(b, llr, i % 4 == 0));
    }
  }
  return batch;
}

TEST_P(turbo_blocks, neither_batch_nor_order_nor_backend_changes_a_block) {
  auto batch = make_mixed(11);
  turbo_block_decoder decoder;
  run(exec(), decoder, batch);
  std::vector<outputs> together;
  for (const decoding& d : batch) together.push_back(of(d));

  const auto reference = open_reference();
  std::set<int> seen;
  for (std::size_t i = 0; i < batch.size(); i++) {
    SCOPED_TRACE(i);
    seen.insert(batch[i].result.status);
    turbo_block_decoder alone;
    run(*reference, alone, std::vector<decoding*>{&batch[i]});
    EXPECT_EQ(of(batch[i]), together[i]);
  }
  EXPECT_EQ(seen, (std::set<int>{0, block_crc}));

  std::vector<std::size_t> order(batch.size());
  for (std::size_t i = 0; i < order.size(); i++) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937_64(3));
  std::vector<decoding*> shuffled;
  for (const std::size_t i : order) shuffled.push_back(&batch[i]);
  run(exec(), decoder, shuffled);
  for (std::size_t i = 0; i < batch.size(); i++) EXPECT_EQ(of(batch[i]), together[i]) << i;
}

TEST_P(turbo_blocks, formats_of_equal_values_are_equal) {
  auto batch = make_mixed(12);
  turbo_block_decoder decoder;
  run(exec(), decoder, batch);
  std::vector<outputs> wanted;
  for (const decoding& d : batch) wanted.push_back(of(d));
  for (const llr_format format : {llr_format::int16, llr_format::float32}) {
    std::vector<std::vector<std::int16_t>> shorts(batch.size());
    std::vector<std::vector<float>> floats(batch.size());
    for (std::size_t i = 0; i < batch.size(); i++) {
      shorts[i].assign(batch[i].llr.begin(), batch[i].llr.end());
      for (const auto x : batch[i].llr) floats[i].push_back(static_cast<float>(x) / 4.f);
      batch[i].block.llr.format = format;
      batch[i].block.llr.count = shorts[i].size();
      batch[i].block.llr.data = format == llr_format::int16 ? static_cast<const void*>(shorts[i].data())
                                                            : static_cast<const void*>(floats[i].data());
    }
    run(exec(), decoder, batch);
    for (std::size_t i = 0; i < batch.size(); i++) EXPECT_EQ(of(batch[i]), wanted[i]) << i;
  }
}

TEST_P(turbo_blocks, soft_output_is_the_posterior_of_all_coded_bits) {
  for (const int k : {40, 1056, 6144}) {
    const std::size_t n = 3 * (static_cast<std::size_t>(k) + 4);
    const auto c = make_codewords(k, 1, 1., 21, &crc24a);
    const steps_t steps = steps_of(c.llr, 2.f);
    auto batch = std::vector{make_decoding({.k = k, .crc = crc24a}, to_buffer(steps, k), true)};
    turbo_block_decoder decoder;
    run(exec(), decoder, batch);
    EXPECT_EQ(batch[0].result.status, 0);
    EXPECT_EQ(batch[0].bits, packed(c.sent[0]));

    turbo_decoder_config config = with_usual_scale({.k = k,
                                                    .algorithm = map_algorithm::max_log_map,
                                                    .iterations = 8,
                                                    .early_stop = turbo_early_stop::crc});
    config.crc_polynomial = crc24a.polynomial;
    config.crc_degree = crc24a.degree;
    auto llr = on_device(exec(), floats_of(steps, 2.f), 1, n), extrinsic = exec().make<float>(1, n);
    turbo_decoder(config).run(exec(), llr, {.coded_extrinsic = extrinsic});
    const auto e = exec().to_host(extrinsic);
    const bits_t sent = encoded(c.sent[0], interleaver(k));
    for (std::size_t i = 0; i < n; i++) {
      const std::size_t d = i / (static_cast<std::size_t>(k) + 4),
                        step = i % (static_cast<std::size_t>(k) + 4);
      const int got = batch[0].soft[3 * step + d];
      const float want = std::clamp(std::nearbyint(2.f * e[i] + static_cast<float>(steps[i])), -127.f, 127.f);
      EXPECT_EQ(got,
                sent[i] != 0 ? std::min(-1, static_cast<int>(want)) : std::max(1, static_cast<int>(want)))
          << i;
    }
  }
}

TEST_P(turbo_blocks, iterations_are_at_least_and_at_most_those_asked_for) {
  const int k = 512;
  const auto c = make_codewords(k, 1, 4., 31, &crc24a);
  const steps_t llr = to_buffer(steps_of(c.llr, 2.f), k);
  turbo_block_decoder decoder;
  const auto iterations = [&](turbo_decode_block b, bool soft = false) {
    b.k = k;
    std::vector<decoding> batch{make_decoding(b, llr, soft)};
    run(exec(), decoder, batch);
    EXPECT_EQ(batch[0].result.status, 0);
    EXPECT_EQ(batch[0].bits, packed(c.sent[0]));
    EXPECT_EQ(batch[0].result.crc_passed, b.crc ? 1 : 0);
    return batch[0].result.iterations;
  };
  for (const bool soft : {false, true}) {
    EXPECT_EQ(iterations({.crc = crc24a}, soft), 1);
    EXPECT_EQ(iterations({.least_iterations = 3, .crc = crc24a}, soft), 3);
    EXPECT_EQ(iterations({.least_iterations = 2, .iterations = 7, .early_stop = false, .crc = crc24a}, soft),
              7);
    EXPECT_EQ(iterations({.iterations = 5, .early_stop = false}, soft), 5);
  }
  // Without a CRC decisions settle in float32 alone.
  EXPECT_EQ(iterations({.iterations = 6}), 6);
  EXPECT_LT(iterations({.iterations = 6}, true), 6);
  EXPECT_EQ(iterations({.least_iterations = 5, .iterations = 6}, true), 5);
}

TEST_P(turbo_blocks, zeros_that_were_sent_are_a_success) {
  const int k = 1024;
  turbo_block_decoder decoder;
  for (const bool soft : {false, true}) {
    steps_t llr(3 * static_cast<std::size_t>(k_pi(k)), 3);
    std::vector<decoding> batch{
        make_decoding({.k = k, .crc = crc24a}, llr, soft),
        // Fewer LLRs than bits say nothing.
        make_decoding({.k = k, .crc = crc24a}, steps_t(3 * static_cast<std::size_t>(k_pi(k)), 0), soft),
        make_decoding({.k = k}, steps_t(3 * static_cast<std::size_t>(k_pi(k)), 0), soft)};
    run(exec(), decoder, batch);
    EXPECT_EQ(batch[0].result.status, 0);
    EXPECT_EQ(batch[0].result.crc_passed, 1);
    EXPECT_EQ(batch[1].result.status, block_crc);
    EXPECT_EQ(batch[1].result.iterations, 0);
    EXPECT_EQ(batch[2].result.status, block_syndrome);
    for (const decoding& d : batch) EXPECT_EQ(d.bits, bytes_t(static_cast<std::size_t>(k) / 8, 0));
    if (soft) {
      EXPECT_EQ(batch[1].soft, steps_t(3 * (static_cast<std::size_t>(k) + 4), 0));
    }
  }
}

TEST_P(turbo_blocks, refused_blocks_touch_nothing) {
  auto batch = make_mixed(13);
  turbo_block_decoder decoder;
  run(exec(), decoder, batch);
  std::vector<outputs> wanted;
  for (const decoding& d : batch) wanted.push_back(of(d));
  std::vector<decoding> bad;
  for (int i = 0; i < 8; i++) {
    turbo_decode_block b{.k = 40, .crc = crc24a};
    steps_t llr(3 * 64, 5);
    if (i == 0) b.k = 41;
    if (i == 1) llr.pop_back();
    if (i == 2) b.iterations = 0;
    if (i == 3) b.least_iterations = 9;
    if (i == 4) b.llr.decimals = 8;
    if (i == 5) b.crc = crc_polynomial{7, 24};
    if (i == 6) b.crc.reset(), b.drop_crc = true;
    if (i == 7) b.iterations = 65;
    bad.push_back({b, llr, bytes_t(5, 0xA5), {}, {}});
  }
  bad.push_back({{.k = 40}, steps_t(3 * 64, 5), bytes_t(4, 0xA5), {}, {}});
  bad.push_back({{.k = 40}, steps_t(3 * 64, 5), bytes_t(5, 0xA5), steps_t(131, 99), {}});
  std::vector<decoding*> both;
  for (std::size_t i = 0; i < batch.size(); i++) {
    both.push_back(&bad[i % bad.size()]);
    both.push_back(&batch[i]);
  }
  run(exec(), decoder, both);
  for (std::size_t i = 0; i < batch.size(); i++) EXPECT_EQ(of(batch[i]), wanted[i]) << i;
  for (const decoding& d : bad) {
    EXPECT_EQ(d.result.status, block_refused);
    EXPECT_EQ(d.result.bytes, 0U);
    EXPECT_EQ(d.result.iterations, 0);
    EXPECT_TRUE(std::all_of(d.bits.begin(), d.bits.end(), [](std::uint8_t x) { return x == 0xA5; }));
    EXPECT_TRUE(std::all_of(d.soft.begin(), d.soft.end(), [](std::int8_t x) { return x == 99; }));
  }
  // A batch of nothing else, and one of nothing.
  std::vector<decoding*> none{&bad[0]};
  run(exec(), decoder, none);
  EXPECT_EQ(bad[0].result.status, block_refused);
  run(exec(), decoder, std::vector<decoding*>{});
}

TEST(turbo_block_checks, name_what_is_wrong) {
  bytes_t bits(768), soft(3 * 6148);
  steps_t llr(3 * 6176);
  turbo_decode_block good{.llr = {.data = llr.data(), .count = llr.size()},
                          .bits = {bits.data(), bits.size()}};
  EXPECT_EQ(blamed([&] { turbo_block_decoder::check(good); }), "");
  const auto decoder = [&](auto change) {
    turbo_decode_block b = good;
    change(b);
    return blamed([&] { turbo_block_decoder::check(b); });
  };
  EXPECT_EQ(decoder([](auto& b) { b.k = 6143; }), "k");
  EXPECT_EQ(decoder([](auto& b) { b.k = 40; }), "llr.count");
  EXPECT_EQ(decoder([](auto& b) { b.llr.data = nullptr; }), "llr.data");
  EXPECT_EQ(decoder([](auto& b) { b.llr.decimals = -1; }), "llr.decimals");
  EXPECT_EQ(decoder([](auto& b) { b.llr.format = static_cast<llr_format>(3); }), "llr.format");
  EXPECT_EQ(decoder([](auto& b) { b.order = static_cast<turbo_order>(2); }), "order");
  EXPECT_EQ(decoder([](auto& b) { b.iterations = 65; }), "iterations");
  EXPECT_EQ(decoder([](auto& b) { b.least_iterations = 9; }), "least_iterations");
  EXPECT_EQ(decoder([](auto& b) { b.crc = crc_polynomial{1, 25}; }), "crc_degree");
  EXPECT_EQ(decoder([](auto& b) { b.drop_crc = true; }), "drop_crc");
  EXPECT_EQ(decoder([](auto& b) { b.bits.bytes = 767; }), "bits");
  EXPECT_EQ(decoder([](auto& b) { b.bits.data = nullptr; }), "bits");
  EXPECT_EQ(decoder([&](auto& b) { b.soft = llr.data(), b.soft_length = 3 * 6148 - 1; }), "soft");

  bytes_t out(4096);
  turbo_encode_block encode{
      .bits = {bits.data(), bits.size()}, .sent_bits = 20000, .out = {out.data(), out.size()}};
  EXPECT_EQ(blamed([&] { turbo_block_encoder::check(encode); }), "");
  const auto encoder = [&](auto change) {
    turbo_encode_block b = encode;
    change(b);
    return blamed([&] { turbo_block_encoder::check(b); });
  };
  EXPECT_EQ(encoder([](auto& b) { b.k = 0; }), "k");
  EXPECT_EQ(encoder([](auto& b) { b.bits.bytes = 767; }), "bits");
  EXPECT_EQ(encoder([](auto& b) { b.bits.data = nullptr; }), "bits");
  EXPECT_EQ(encoder([](auto& b) { b.sent_bits = -1; }), "sent_bits");
  EXPECT_EQ(encoder([](auto& b) { b.sent_bits = 8 * 4096 + 1; }), "out");
  EXPECT_EQ(encoder([](auto& b) { b.buffer = 18529; }), "buffer");
  EXPECT_EQ(encoder([](auto& b) { b.buffer = 1; }), "buffer");
  EXPECT_EQ(encoder([](auto& b) { b.buffer = 100, b.first = 100; }), "first");
  EXPECT_EQ(encoder([](auto& b) { b.sent_bits = 0, b.first = 2; }), "first");
  EXPECT_EQ(encoder([](auto& b) { b.sent_bits = 0, b.buffer = 2; }), "buffer");
  EXPECT_EQ(encoder([](auto& b) { b.crc = crc_polynomial{1, 3}; }), "crc_polynomial");

  EXPECT_EQ(blamed([] { turbo_block_decoder({.precision = turbo_precision::int16}); }), "algorithm");
  EXPECT_EQ(blamed([] { (void)completed({.k = 40, .iterations = 2, .least_iterations = 3}); }),
            "least_iterations");
  const auto exec = open_scalar();
  turbo_block_decoder blocks;
  std::vector<block_result> results(1), two(2);
  EXPECT_THROW(blocks.finish(results), error);
  blocks.start(*exec, {&good, 1});
  EXPECT_TRUE(blocks.done());
  EXPECT_THROW(blocks.start(*exec, {&good, 1}), error);
  EXPECT_EQ(blamed([&] { blocks.finish(two); }), "results");
  blocks.finish(results);
}

TEST_P(turbo_blocks, other_precisions_decode_too) {
  for (const auto& config :
       {with_usual_scale({.algorithm = map_algorithm::log_map}),
        with_usual_scale({.algorithm = map_algorithm::log_map, .precision = turbo_precision::bfloat16})}) {
    turbo_block_decoder decoder(config);
    for (const int k : {40, 1056}) {
      const auto c = make_codewords(k, 1, 3., 41, &crc24a);
      std::vector<decoding> batch;
      for (const int decimals : {1, 3}) {
        turbo_decode_block b{.k = k, .crc = crc24a};
        b.llr.decimals = decimals;
        batch.push_back(make_decoding(b, to_buffer(steps_of(c.llr, std::ldexp(1.f, decimals)), k)));
      }
      run(exec(), decoder, batch);
      for (const decoding& d : batch) {
        EXPECT_EQ(d.result.status, 0);
        EXPECT_EQ(d.bits, packed(c.sent[0]));
      }
    }
  }
}

/// More kinds of blocks than tables are kept of.
TEST_P(turbo_blocks, many_kinds_in_a_row_and_at_once) {
  const int k = 40;
  const auto c = make_codewords(k, 1, 6., 51, &crc24a);
  const steps_t llr = to_buffer(steps_of(c.llr, 2.f), k);
  turbo_block_decoder decoder;
  for (int rounds = 0; rounds < 3; rounds++) {
    std::vector<decoding> batch;
    for (int least = 1; least <= 64; least += small_scale() ? 16 : 1)
      for (const int iterations : {least, 64})
        batch.push_back(make_decoding({.k = k,
                                       .least_iterations = least,
                                       .iterations = iterations,
                                       .crc = rounds == 1 ? crc24b : crc24a},
                                      llr));
    run(exec(), decoder, batch);
    for (const decoding& d : batch) {
      EXPECT_EQ(d.result.status, rounds == 1 ? block_crc : 0);
      EXPECT_EQ(d.result.iterations, rounds == 1 ? d.block.iterations : d.block.least_iterations);
      EXPECT_EQ(d.bits, packed(c.sent[0]));
    }
  }
  std::vector<std::uint8_t> bits(768, 0x5A), out(16);
  turbo_block_encoder encoder;
  for (int buffer = 2000; buffer < (small_scale() ? 2100 : 2300); buffer++) {
    const turbo_encode_block b{.bits = {bits.data(), bits.size()},
                               .sent_bits = 128,
                               .buffer = buffer,
                               .out = {out.data(), out.size()}};
    block_result result;
    encoder.start(exec(), {&b, 1});
    encoder.finish({&result, 1});
    EXPECT_EQ(result.status, 0);
  }
}

TEST_P(turbo_blocks, later_batches_allocate_nothing) {
  auto batch = make_mixed(14);
  turbo_block_decoder decoder;
  std::vector<turbo_decode_block> blocks;
  for (decoding& d : batch) {
    turbo_decode_block b = d.block;
    b.llr.data = d.llr.data(), b.llr.count = d.llr.size();
    b.bits = {d.bits.data(), d.bits.size()};
    if (!d.soft.empty()) b.soft = d.soft.data(), b.soft_length = d.soft.size();
    blocks.push_back(b);
  }
  bytes_t bits(768), out(1000);
  turbo_block_encoder encoder;
  const turbo_encode_block encode{.bits = {bits.data(), bits.size()},
                                  .sent_bits = 8000,
                                  .first = lte_first_place(6144, 0, 0),
                                  .out = {out.data(), out.size()}};
  std::vector<block_result> results(blocks.size());
  const auto call = [&] {
    decoder.start(exec(), blocks);
    decoder.finish(results);
    encoder.start(exec(), {&encode, 1});
    encoder.finish({results.data(), 1});
  };
  call();
  const auto before = allocations();
  if (!before || exec().is_device()) GTEST_SKIP() << "allocations are counted on a CPU without sanitizers";
  call();
  EXPECT_EQ(allocations(), before);
}

}  // namespace turbo_blocks_test
}  // namespace wb
