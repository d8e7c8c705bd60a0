#include <algorithm>
#include <bit>

#include <warpband/core/check.hpp>
#include <warpband/core/status.hpp>
#include <warpband/fec/polar/polar.hpp>

namespace wb {

WB_DECLARE_KERNEL(polar_decode)
WB_DECLARE_KERNEL(polar_decode_long)
WB_DECLARE_KERNEL(polar_decode_exact)
WB_DECLARE_KERNEL(polar_decode_exact_long)
WB_DECLARE_KERNEL(polar_decode_whole)
WB_DECLARE_KERNEL(polar_decode_whole_long)

namespace {

/// LLRs of a repeated bit are summed before they are quantised: an automatic scale is that of the sums.
llr_scale scale_of(const polar_code& code, const polar_decoder_config& c) {
  const polar_block& b = code.blocks().front();
  const float repetitions = std::max(1.f, static_cast<float>(b.e) / static_cast<float>(b.n)),
              fineness = c.precision == polar_precision::int8 ? 9.f : 18.f,
              information = static_cast<float>(code.blocks().size() * static_cast<std::size_t>(b.k));
  return {c.llr_steps, fineness / repetitions, information * repetitions};
}

enum class bit_type : std::uint8_t { frozen, information, parity_check };

std::vector<bit_type> bit_types_of(const polar_block& b) {
  std::vector<bit_type> types(static_cast<std::size_t>(b.n), bit_type::frozen);
  for (const std::int32_t u : b.place) types[static_cast<std::size_t>(u)] = bit_type::information;
  for (const std::int32_t u : b.parity_checks) types[static_cast<std::size_t>(u)] = bit_type::parity_check;
  return types;
}

/// The program of a decoder: the decoding tree depth first, pruned at rate-0, rate-1, repetition and SPC
/// nodes.
class decoding_program {
 public:
  decoding_program(const polar_block& b, bool in_integers, bool has_list)
      : types_(bit_types_of(b)),
        has_parity_checks_(!b.parity_checks.empty()),
        in_integers_(in_integers),
        has_list_(has_list) {
    visit(0, std::countr_zero(static_cast<unsigned>(b.n)));
  }
  const std::vector<std::int32_t>& instructions() const noexcept { return instructions_; }
  /// Sums, minima and maxima per path of min-sum. Forks are not counted: they depend on the noise.
  double operations() const noexcept { return operations_; }

 private:
  void add(polar_step step, int stage, int parity_class = polar_no_parity_class) {
    instructions_.push_back(static_cast<int>(step) | stage << 4 | parity_class << 8);
    const double size = 1 << stage;
    if (step == polar_step::left_llrs || step == polar_step::right_llrs) operations_ += size / 2;
    if (step == polar_step::rate_0) operations_ += 3 * size;
    if (step == polar_step::repetition) operations_ += 5 * size;
  }
  void visit(int first, int stage) {
    const auto begin = types_.begin() + first, end = begin + (1 << stage);
    const auto information = std::count(begin, end, bit_type::information);
    // Sums of more than 32 LLRs may leave 16 bits; min-sum has the same metrics from the parts of a node.
    const bool can_sum = !in_integers_ || stage <= 5;
    if (std::count(begin, end, bit_type::frozen) == 1 << stage && (can_sum || !has_list_))
      return add(polar_step::rate_0, stage);
    if (stage == 0)
      return add(*begin == bit_type::parity_check ? polar_step::parity_check : polar_step::rate_1, 0,
                 has_parity_checks_ ? first % 5 : polar_no_parity_class);
    const bool root = 1 << stage == static_cast<int>(types_.size());
    if (!has_parity_checks_) {  // parity checks need each information bit
      if (information == 1 << stage && !root) return add(polar_step::rate_1, stage);
      if (can_sum && information == 1 && *(end - 1) == bit_type::information)
        return add(polar_step::repetition, stage);
      if (information == (1 << stage) - 1 && *begin == bit_type::frozen && !root)
        return add(polar_step::spc, stage);
    }
    add(polar_step::left_llrs, stage);
    visit(first, stage - 1);
    add(polar_step::right_llrs, stage);
    visit(first + (1 << (stage - 1)), stage - 1);
    add(polar_step::partial_sums, stage);
  }

  std::vector<bit_type> types_;
  bool has_parity_checks_, in_integers_, has_list_;
  std::vector<std::int32_t> instructions_;
  double operations_ = 0;
};

/// polar_decode_args::received_begin and received_index.
struct received_llrs {
  std::vector<std::int32_t> begin, index;

  explicit received_llrs(const polar_block& b) {
    std::vector<std::vector<std::int32_t>> transmissions(static_cast<std::size_t>(b.n));
    for (std::size_t f = 0; f < b.sent.size(); f++)
      transmissions[static_cast<std::size_t>(b.sent[f])].push_back(static_cast<std::int32_t>(f));
    for (const auto& f : transmissions) {
      begin.push_back(static_cast<std::int32_t>(index.size()));
      index.insert(index.end(), f.begin(), f.end());
    }
    begin.push_back(static_cast<std::int32_t>(index.size()));
  }
};

const kernel_set& kernels_of(const polar_decoder_config& c, int list_size) {
  if (c.precision != polar_precision::float32)
    return list_size > 8 ? polar_decode_whole_long_kernels() : polar_decode_whole_kernels();
  const bool exact = c.algorithm == polar_algorithm::sum_product;
  if (list_size > 8) return exact ? polar_decode_exact_long_kernels() : polar_decode_long_kernels();
  return exact ? polar_decode_exact_kernels() : polar_decode_kernels();
}

/// The settings of a decoder, for a code that is allowed.
void check_decoder(const polar_config& code, const polar_decoder_config& config) {
  check_settings(polar_decoder_settings(), config);
  if (config.precision != polar_precision::float32 && config.algorithm == polar_algorithm::sum_product)
    throw argument_error("precision", config.precision == polar_precision::int8 ? "\"int8\"" : "\"int16\"",
                         "\"float32\" with sum-product");
  if (config.adaptive && !polar_crc_of(code))
    throw argument_error("adaptive", "true", "false, as a code without a CRC does not tell what is right");
}

}  // namespace

const std::vector<setting_of<polar_decoder_config>>& polar_decoder_settings() {
  using c = polar_decoder_config;
  static const std::vector<setting_of<c>> settings{
      words<c, polar_algorithm>(
          "algorithm", &c::algorithm,
          {{"min-sum", polar_algorithm::min_sum}, {"sum-product", polar_algorithm::sum_product}},
          "How LLRs are combined. sum-product is the exact rule, and slower."),
      one_of("list_size", &c::list_size, {1, 2, 4, 8, 16, 32},
             "Paths of the list. 1: successive cancellation, where the CRC only tells whether the bits are "
             "right."),
      boolean("adaptive", &c::adaptive,
              "Decode with one path first, and with the list only where the CRC then fails. Where that is "
              "rare it "
              "is several times faster. Needs a CRC.")
          .left_out_by_default(),
      boolean(
          "growing", &c::growing,
          "Decode with 2, 4, ... paths between the first and the list, each where the CRC has failed so far.")
          .left_out_by_default()
          .only_with("adaptive", {"true"}),
      words<c, polar_precision>("precision", &c::precision,
                                {{"float32", polar_precision::float32},
                                 {"int16", polar_precision::int16},
                                 {"int8", polar_precision::int8}},
                                "Number format of LLRs and metrics. int16 and int8 take min-sum, and on a "
                                "CPU twice as many codewords at once.")
          .left_out_by_default(),
      llr_steps_setting("llr_steps", &c::llr_steps,
                        "LLRs are rounded to steps, this many for an LLR of 1, and received ones limited to "
                        "+-1023 steps, with int8 to +-127.")
          .only_with("precision", {"int16", "int8"})};
  return settings;
}

void check(const polar_config& code, const polar_decoder_config& config) {
  check_decoder(code, config);
  (void)polar_code(code);
}

polar_decoder::polar_decoder(const polar_code& code, const polar_decoder_config& config)
    : code_(code), config_(config), scale_(scale_of(code_, config)) {
  check_decoder(code.config(), config);
  for (const polar_block& b : code_.blocks()) {
    const decoding_program program(b, config.precision != polar_precision::float32, config.list_size > 1);
    received_llrs received(b);
    tables t{{},
             resident(b.place),
             resident(b.crc_weights),
             resident(program.instructions()),
             resident(std::move(received.begin)),
             resident(std::move(received.index))};
    const bool is_int8 = config.precision == polar_precision::int8;
    t.args.block = polar_shape_of(b);
    t.args.list_size = config.list_size;
    t.args.program_length = static_cast<int>(program.instructions().size());
    t.args.operations = program.operations();
    t.args.unsent_llr = b.shortened ? polar_shortened_llr : 0.f;
    t.args.max_channel_llr = is_int8 ? 127 : polar_int16_max_channel_llr;
    t.args.max_llr = is_int8 ? 127 : polar_int16_max_metric - 1;
    t.args.in_order = b.e == b.n && std::is_sorted(b.sent.begin(), b.sent.end());
    t.args.distinct_sent = std::min(b.e, b.n);
    tables_.push_back(std::move(t));
  }
}

void polar_decoder::run(executor& exec, const llr_batch& given, const polar_decoder_output& out) const {
  check_shape("llr", given, given.items, code_.coded_bits());
  const view<const float> llr = floats_.of(exec, given);
  llr_quanta quanta;
  if (config_.precision != polar_precision::float32) quanta = scale_.of(exec, llr);
  if (!config_.adaptive) return decode(exec, llr, quanta, out, config_.list_size, {});
  // A decoder reads the status of the one before, so that it writes its own to another array.
  array<std::uint8_t> statuses[2];
  view<const std::uint8_t> prior;
  int index = 0;
  for (int size = 1; size < config_.list_size; size = config_.growing ? 2 * size : config_.list_size) {
    if (statuses[index].items() == 0) statuses[index] = exec.make<std::uint8_t>(llr.items, 1);
    decode(exec, llr, quanta, {.bits = out.bits, .status = statuses[index]}, size, prior);
    prior = view<std::uint8_t>(statuses[index]);
    index = 1 - index;
  }
  decode(exec, llr, quanta, out, config_.list_size, prior);
}

void polar_decoder::decode(executor& exec, view<const float> llr, const llr_quanta& quanta,
                           const polar_decoder_output& out, int list_size,
                           view<const std::uint8_t> prior_status) const {
  const std::size_t items = llr.items;
  check_optional_shape("bits", out.bits, items, code_.k());
  check_optional_shape("status", out.status, items, 1);
  check_apart({{"bits", out.bits}, {"status", out.status}});
  if (tables_.empty()) refuse_moved_from();
  array<std::uint8_t> scratch_status;  // the second code block reads the status of the first
  view<std::uint8_t> status = out.status;
  if (tables_.size() > 1 && status.data == nullptr) {
    scratch_status = exec.make<std::uint8_t>(items, 1);
    status = scratch_status;
  }
  for (std::size_t r = 0; r < tables_.size(); r++) {
    const tables& t = tables_[r];
    polar_decode_args a = t.args;
    a.list_size = list_size;
    a.quanta = quanta;
    a.prior_status = prior_status;
    a.block.information_set = t.information_set.on(exec);
    a.block.crc_weights = t.crc_weights.on(exec);
    a.program = t.program.on(exec);
    a.received_begin = t.received_begin.on(exec);
    a.received_index = t.received_index.on(exec);
    a.later_block = r > 0;
    a.llr = llr;
    a.bits = out.bits;
    a.status = status;
    exec.run(kernels_of(config_, list_size), &a, items);
  }
}

}  // namespace wb
