// Holds what the ops state as flops() against the arithmetic that their bodies do, counted by counted.hpp.
#define WB_ISA counting
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/kernel.hpp>
#include <warpband/fec/bcjr/bcjr_op.hpp>
#include <warpband/fec/bcjr/bcjr_short_op.hpp>
#include <warpband/fec/conv/conv.hpp>
#include <warpband/fec/conv/conv_runs.hpp>
#include <warpband/fec/ldpc/ldpc_op.hpp>
#include <warpband/fec/puncture/puncture_op.hpp>
#include <warpband/fec/sparse_ldpc/sparse_ldpc_op.hpp>
#include <warpband/fec/trellis/max_star_table.hpp>
#include <warpband/fec/turbo/turbo_bfloat.hpp>
#include <warpband/fec/turbo/turbo_op.hpp>
#include <warpband/fec/turbo/turbo_short.hpp>
#include <warpband/fec/viterbi/viterbi_op.hpp>
#include <warpband/fec/viterbi/viterbi_short_op.hpp>

#include "counted.hpp"

namespace wb {
namespace flops_codes_test {

/// The steps whose second alpha nobody reads: the last before each checkpoint. A body that is not unrolled
/// does them all the same.
double steps_for_nothing(const turbo_decode_args& a, int iterations) {
  double steps = 0;
  for (int w = 0; w < a.windows; w++) steps += ((w + 1) * a.k / a.windows - w * a.k / a.windows + 7) / 8;
  return 2 * iterations * steps *
         (a.log_map    ? 38
          : a.by_table ? 21 + 8 * max_star_table::correction_flops
                       : 21);
}

void expect_counted(turbo_decode_args a) {
  const auto expect = [&](const auto& op) {
    const double did = operations_of(op, op.scratch(1)) - steps_for_nothing(a, a.iterations);
    // Apart: the tail bits, and border metrics that are constants in the first iteration.
    EXPECT_NEAR(op.flops(), did, 0.005 * did + 300)
        << "log_map " << a.log_map << ", k " << a.k << ", windows " << a.windows << ", overlap " << a.overlap
        << ", iterations " << a.iterations;
  };
  if (a.log_map) {
    expect(turbo_decode_op<lte_rsc, wb::counting::log_map>{a});
  } else {
    expect(turbo_decode_op<lte_rsc, max_log>{a});
    a.by_table = true;
    expect(turbo_decode_op<lte_rsc, max_star_table>{a});
  }
}
void expect_counted_with_coded_bits(turbo_decode_args a) {
  std::vector<float> coded(a.llr.elements);
  a.coded = make_view(coded.data(), 1, coded.size());
  const auto expect = [&](const auto& op) {
    const double did = operations_of(op, op.scratch(1)) - steps_for_nothing(a, a.iterations + 1);
    EXPECT_NEAR(op.flops(), did, 0.005 * did + 300)
        << "log_map " << a.log_map << ", k " << a.k << ", windows " << a.windows << ", coded bits";
  };
  if (a.log_map)
    expect(turbo_decode_op<lte_rsc, wb::counting::log_map, true>{a});
  else
    expect(turbo_decode_op<lte_rsc, max_log, true>{a});
}

TEST(flops, of_the_turbo_decoder) {
  for (const bool log_map : {false, true})
    for (const int k : {40, 512, 1024})
      for (const int windows : {1, k / 32, k / 96})
        for (const int overlap : {0, 16})
          for (const int iterations : {1, 3}) {
            if (windows < 1 || (windows == 1 && overlap > 0)) continue;
            if (windows > 1 && overlap >= k / windows) continue;
            const std::vector<float> llr(static_cast<std::size_t>(3 * (k + 4)), 1.f);
            std::vector<std::uint8_t> bits(static_cast<std::size_t>(k));
            std::vector<float> soft(static_cast<std::size_t>(k)), extrinsic(static_cast<std::size_t>(k));
            const std::vector<std::int32_t> table(static_cast<std::size_t>(2 * k + windows));
            turbo_decode_args a;
            a.k = k, a.windows = windows, a.overlap = overlap, a.iterations = iterations;
            a.log_map = log_map;
            a.llr = make_view(llr.data(), 1, llr.size());
            a.bits = make_view(bits.data(), 1, bits.size());
            a.interleaved = table.data();
            expect_counted(a);
            expect_counted_with_coded_bits(a);
            a.soft = make_view(soft.data(), 1, soft.size());
            a.extrinsic = make_view(extrinsic.data(), 1, extrinsic.size());
            expect_counted(a);
          }
}

/// One codeword through a decoder with windows side by side.
template <class Op>
void expect_counted(const turbo_windows_args& a, const char* name) {
  const Op op{a};
  std::vector<std::max_align_t> scratch(op.scratch_bytes(1) / sizeof(std::max_align_t) + 1);
  counted::operations = 0;
  op(0, 1, solo{}, scratch.data());
  // Apart: the tail bits.
  EXPECT_NEAR(op.flops(), counted::operations, 80)
      << name << ", k " << a.k << ", windows " << a.windows << ", overlap " << a.overlap << ", iterations "
      << a.iterations << (a.llr8.data ? ", in steps" : "");
}

TEST(flops, of_the_turbo_decoders_with_windows_side_by_side) {
  const struct {
    int k, windows, overlap;
  } cases[] = {{40, 1, 0}, {40, 4, 0}, {104, 4, 8}, {1008, 8, 56}, {1024, 16, 0}, {6144, 128, 40}};
  for (const auto& c : cases)
    for (const int iterations : {1, 3})
      for (const bool in_steps : {false, true}) {
        const std::size_t k = static_cast<std::size_t>(c.k), n = 3 * (k + 4);
        const std::vector<float> llr(n, 1.f);
        const std::vector<std::int8_t> llr8(n, 8);
        std::vector<std::uint8_t> bits(k);
        std::vector<std::uint16_t> places(k);  // where they lie does not matter here
        turbo_windows_args a;
        a.k = c.k, a.windows = c.windows, a.overlap = c.overlap, a.iterations = iterations;
        a.lanes.stride = a.lanes.vectors = c.windows;
        a.lanes.places = places.data();
        if (in_steps)
          a.llr8 = make_view(llr8.data(), 1, n);
        else
          a.llr = make_view(llr.data(), 1, n);
        a.bits = make_view(bits.data(), 1, k);
        expect_counted<turbo_windows_op<turbo_bfloat_io<lte_rsc, max_log_bfloat, counted>>>(a, "max-log");
        expect_counted<turbo_windows_op<turbo_bfloat_io<lte_rsc, log_map_bfloat, counted>>>(a, "log-MAP");
        // Floats become steps outside of the numbers that count.
        if (in_steps) expect_counted<turbo_windows_op<turbo_short_io<lte_rsc, counted_short>>>(a, "int16");
      }
}

TEST(flops, of_puncturing) {
  const std::vector<std::int32_t> from{2, -1, 0, 1};
  const std::vector<float> in(3, 1.f);
  std::vector<float> out(4);
  pick_args a;
  a.n = a.places = 4;
  a.from = from.data();
  a.llr_in = make_view(in.data(), 1, 3);
  a.llr_out = make_view(out.data(), 1, 4);
  const pick_op<true> soft{a};
  EXPECT_EQ(soft.flops(), operations_of(soft) + 1);  // the zero is a constant
}

template <int Memory, bool Paired>
void expect_viterbi(const conv_code& code, int k, int overlap) {
  const conv_frame frame(code, k);
  const std::vector<float> llr(frame.n(), 1.f);
  std::vector<std::uint8_t> bits(static_cast<std::size_t>(k));
  std::vector<float> metric(1);
  viterbi_args a;
  a.code = frame.on_host();
  a.code.older &= (1 << a.code.outputs) - 1;
  a.code.newer &= (1 << a.code.outputs) - 1;
  EXPECT_EQ(a.code.older == a.code.newer, Paired);
  a.overlap = overlap;
  add_forward(a.work, a.code, -overlap, a.code.steps + overlap);
  a.llr = make_view(llr.data(), 1, llr.size());
  a.bits = make_view(bits.data(), 1, bits.size());
  // What counts as a constant here, metrics at the start and weights of bits that were not sent, lies in
  // memory.
  const double punctured = a.work.steps * a.code.outputs - a.work.values;
  const viterbi_op<Memory, Paired, 1> least{a};
  EXPECT_NEAR(least.flops(), operations_of(least, least.scratch(1)), (2 << Memory) + punctured) << Memory;
  a.metric = make_view(metric.data(), 1);
  const viterbi_op<Memory, Paired, 1> costliest{a};
  EXPECT_NEAR(costliest.flops(), operations_of(costliest, costliest.scratch(1)), (2 << Memory) + punctured)
      << Memory;
}

TEST(flops, of_the_viterbi_decoder) {
  expect_viterbi<2, true>({.constraint_length = 3, .generators = {07, 05}}, 50, 0);
  expect_viterbi<6, true>(conv_80211(conv_rate::r1_2), 100, 0);
  expect_viterbi<6, true>(conv_80211(conv_rate::r3_4), 100, 0);
  expect_viterbi<6, true>(conv_lte(), 100, 48);
  expect_viterbi<8, true>({.constraint_length = 9, .generators = {0561, 0753}}, 40, 0);
  expect_viterbi<3, false>({.constraint_length = 4, .generators = {016, 013}}, 50, 0);
}

template <class Args>
void fill_short(Args& a, const conv_frame& frame, int windows, int overlap) {
  a.code = frame.on_host();
  a.code.older &= (1 << a.code.outputs) - 1;
  a.code.newer &= (1 << a.code.outputs) - 1;
  a.punctured = !frame.code().sent.empty();
  a.windows = windows;
  a.length = (a.code.steps + windows - 1) / windows;
  a.overlap = overlap;
}
/// One codeword through a 16-bit decoder, with 8-bit LLRs and with float32 ones. `apart` operations are not
/// in flops().
template <class Op, class Args>
void expect_short(Args a, const conv_frame& frame, double apart) {
  const std::vector<std::int8_t> llr8(frame.n(), 8);
  const std::vector<float> llr(frame.n(), 1.f);
  a.llr8 = make_view(llr8.data(), 1, llr8.size());
  const Op in_steps(a);
  std::vector<std::max_align_t> scratch(in_steps.scratch_bytes(1) / sizeof(std::max_align_t) + 1);
  counted::operations = 0;
  in_steps(0, 1, solo{}, scratch.data());
  EXPECT_NEAR(in_steps.flops(), counted::operations, 0.01 * counted::operations + apart)
      << a.code.memory << ", " << a.windows << " windows";
  a.llr8 = {};
  a.llr = make_view(llr.data(), 1, llr.size());
  const Op in_floats(a);
  const double loads = std::is_same_v<Args, bcjr_short_args> ? 6 : 3;  // how often LLRs are loaded, 3 each
  EXPECT_EQ(in_floats.flops(), in_steps.flops() + loads * static_cast<double>(llr.size()));
}

template <int Memory, int Steps, bool Paired, class Code = conv_any_code>
void expect_short_viterbi(const conv_code& code, int k, int windows, int overlap) {
  const conv_frame frame(code, k);
  std::vector<std::uint8_t> bits(static_cast<std::size_t>(k));
  viterbi_short_args a;
  fill_short(a, frame, windows, overlap);
  a.depth = 48;
  a.kept = 80;
  a.bits = make_view(bits.data(), 1, bits.size());
  // Apart: the largest metric of the states where paths are traced back, once in some 100 steps.
  expect_short<viterbi_short_op<Memory, Steps, Paired, counted_short, Code>>(a, frame,
                                                                             windows * (1 << Memory));
}

TEST(flops, of_the_viterbi_decoder_in_16_bits) {
  expect_short_viterbi<2, 2, false>({.constraint_length = 3, .generators = {07, 05}}, 50, 1, 0);
  expect_short_viterbi<3, 3, false>({.constraint_length = 4, .generators = {016, 013}}, 151, 1, 0);
  expect_short_viterbi<6, 4, true>(conv_80211(conv_rate::r1_2), 1000, 1, 0);
  expect_short_viterbi<6, 4, true>(conv_80211(conv_rate::r3_4), 1000, 3, 96);
  expect_short_viterbi<6, 4, true>(conv_lte(), 400, 2, 48);
  expect_short_viterbi<6, 4, true, conv_known_code<0133, 0171>>(conv_80211(conv_rate::r1_2), 1000, 1, 0);
  expect_short_viterbi<6, 4, true, conv_known_code<0133, 0171, 0165>>(conv_lte(), 400, 2, 48);
  expect_short_viterbi<8, 2, false>({.constraint_length = 9, .generators = {0561, 0753, 0711}}, 200, 1, 0);
}

template <int Memory, class M, bool Recursive>
void expect_bcjr(const conv_code& code, int k, int overlap) {
  const conv_frame frame(code, k);
  const std::size_t n = static_cast<std::size_t>(k);
  const std::vector<float> llr(frame.n(), 3.f), prior(n, 0.5f);  // no small LLRs
  std::vector<std::uint8_t> bits(n);
  std::vector<float> soft(n), extrinsic(n), coded(frame.n());
  bcjr_args a;
  a.code = frame.on_host();
  a.overlap = overlap;
  add_forward(a.work, a.code, -overlap, (a.code.steps - 1) / conv_run * conv_run);
  add_backward(a.work, a.code, a.code.steps + overlap);
  if (a.code.systematic >= 0)
    for (int t = 0; t < k; t++) a.systematic += a.code.places[t * a.code.outputs + a.code.systematic] >= 0;
  a.llr = make_view(llr.data(), 1, llr.size());
  const auto expect = [&](const char* label) {
    const bcjr_op<Memory, M, Recursive, 1> op{a};
    // What depends on the constants that the recursions start with is computed before.
    const double did = operations_of(op, op.scratch(1));
    EXPECT_NEAR(op.flops(), did, 4 * (1 << Memory) + 8) << Memory << label;
  };
  a.bits = make_view(bits.data(), 1, n);
  expect(", decisions");
  a.soft = make_view(soft.data(), 1, n);
  expect(", soft");
  a.extrinsic = make_view(extrinsic.data(), 1, n);
  expect(", extrinsic");
  a.coded = make_view(coded.data(), 1, coded.size());
  const bcjr_op<Memory, M, Recursive, 1, true> with_coded{a};
  const double did = operations_of(with_coded, with_coded.scratch(1));
  EXPECT_NEAR(with_coded.flops(), did, 4 * (1 << Memory) + 8) << Memory << ", coded bits";
  a.prior = make_view(prior.data(), 1, n);
  expect(", prior");
}
template <class M>
void expect_bcjrs() {
  expect_bcjr<2, M, false>({.constraint_length = 3, .generators = {07, 05}}, 150, 0);
  expect_bcjr<6, M, false>(conv_80211(conv_rate::r1_2), 300, 0);
  expect_bcjr<6, M, false>(conv_80211(conv_rate::r3_4), 100, 0);
  expect_bcjr<6, M, false>(conv_lte(), 100, 48);
  expect_bcjr<8, M, false>({.constraint_length = 9, .generators = {0561, 0753}}, 40, 0);
  expect_bcjr<4, M, true>(conv_recursive(5, 023, {033}), 200, 0);
  expect_bcjr<6, M, true>(conv_recursive(7, 0133, {0171, 0165}), 100, 0);
}

TEST(flops, of_the_bcjr_decoder) {
  expect_bcjrs<max_log>();
  expect_bcjrs<max_star_table>();
  expect_bcjrs<wb::counting::log_map>();
}

template <int Memory, int Steps, bool Paired>
void expect_short_bcjr(const conv_code& code, int k, int windows, int overlap) {
  const conv_frame frame(code, k);
  std::vector<float> soft(static_cast<std::size_t>(k));
  bcjr_short_args a;
  fill_short(a, frame, windows, overlap);
  a.soft = make_view(soft.data(), 1, soft.size());
  // Apart: LLRs of decisions, outside of the numbers that count, and that no alpha is computed behind the
  // last run, which may be a short one.
  const double run = 16.0 * 3.5 * (1 << Memory);
  expect_short<bcjr_short_op<Memory, Paired, counted_short, Steps>>(a, frame, windows * run + k);
}

TEST(flops, of_the_bcjr_decoder_in_16_bits) {
  expect_short_bcjr<2, 2, false>({.constraint_length = 3, .generators = {07, 05}}, 500, 1, 0);
  expect_short_bcjr<3, 3, false>({.constraint_length = 4, .generators = {016, 013}}, 601, 1, 0);
  expect_short_bcjr<6, 2, true>(conv_80211(conv_rate::r1_2), 1000, 1, 0);
  expect_short_bcjr<6, 3, true>(conv_80211(conv_rate::r3_4), 1000, 3, 96);
  expect_short_bcjr<6, 2, false>(conv_lte(), 800, 2, 48);
}

/// A check of D edges, from A and R to the new A.
template <int D, class Rule>
void expect_check(const Rule& rule) {
  counted a[D], r[D], q[D], back[D];
  for (int d = 0; d < D; d++) {
    a[d] = counted::made(0.3f * static_cast<float>(d) - 0.5f, 0, false);
    r[d] = counted::made(0.1f, 0, false);
  }
  counted::operations = 0;
  for (int d = 0; d < D; d++) q[d] = difference(a[d], r[d]);
  check_to_variable(rule, fixed<D>{}, q, back);
  for (int d = 0; d < D; d++) a[d] = sum(q[d], back[d]);
  using cost = check_operations<Rule>;
  // The first and the last edge meet constants.
  EXPECT_NEAR(counted::operations, cost::edge * D + cost::row, 8) << D;
  EXPECT_LE(counted::operations, cost::edge * D + cost::row);
}

TEST(flops, of_an_ldpc_check) {
  const min_sum<counted> rule{counted::made(0.75f, 0, false), counted::made(0.f, 0, false)};
  expect_check<7>(rule);
  expect_check<20>(rule);
  expect_check<7>(sum_product<counted>{});
  expect_check<20>(sum_product<counted>{});
}

/// The same for any matrix, layered.
template <int D, class Rule>
void expect_sparse_check(const Rule& rule) {
  counted a[D], r[D], q[D], scratch[2 * D];
  std::int32_t columns[D];
  for (int d = 0; d < D; d++) {
    a[d] = counted::made(0.3f * static_cast<float>(d) - 0.5f, 0, false);
    r[d] = counted::made(0.1f, 0, false);
    columns[d] = d;
  }
  counted::operations = 0;
  const sparse_check<counted, true> check{a, r, columns, D, q};
  update_check<true>(rule, check, counted(0.f), static_cast<counted*>(scratch));
  using cost = sparse_operations<Rule>;
  EXPECT_EQ(counted::operations, cost::edge * D + cost::row) << D;
}

TEST(flops, of_a_check_of_any_matrix) {
  const min_sum<counted> rule{counted::made(0.75f, 0, false), counted::made(0.f, 0, false)};
  expect_sparse_check<7>(rule);
  expect_sparse_check<40>(rule);
  expect_sparse_check<7>(sparse_sum_product<counted>{});
  expect_sparse_check<40>(sparse_sum_product<counted>{});
}

}  // namespace flops_codes_test
}  // namespace wb
