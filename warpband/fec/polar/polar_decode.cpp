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

/// LLRs of a bit that is sent several times are added up first: an automatic scale is that of the sums.
llr_scale scale_of(const polar_code& code, const polar_decoder_config& c) {
  const polar_block& b = code.blocks().front();
  const float repeated = std::max(1.f, static_cast<float>(b.e) / static_cast<float>(b.n)),
              fineness = c.precision == polar_precision::int8 ? 9.f : 18.f,
              information = static_cast<float>(code.blocks().size() * static_cast<std::size_t>(b.k));
  return {c.llr_steps, fineness / repeated, information * repeated};
}

enum class role : std::uint8_t { frozen, information, check };

std::vector<role> roles_of(const polar_block& b) {
  std::vector<role> all(static_cast<std::size_t>(b.n), role::frozen);
  for (const std::int32_t u : b.place) all[static_cast<std::size_t>(u)] = role::information;
  for (const std::int32_t u : b.parity_checks) all[static_cast<std::size_t>(u)] = role::check;
  return all;
}

/// The steps of a decoder: a walk through the code's tree, down to nodes that are decided at once.
class program_of {
 public:
  explicit program_of(const polar_block& b) : roles_(roles_of(b)), tracked_(!b.parity_checks.empty()) {
    visit(0, std::countr_zero(static_cast<unsigned>(b.n)));
  }
  const std::vector<std::int32_t>& steps() const noexcept { return steps_; }
  /// Sums, minima and maxima of a path of min-sum, without splits, which depend on the noise.
  double operations() const noexcept { return operations_; }

 private:
  void add(polar_step step, int stage, int place = polar_untracked) {
    steps_.push_back(static_cast<int>(step) | stage << 4 | place << 8);
    const double size = 1 << stage;
    if (step == polar_step::left || step == polar_step::right) operations_ += size / 2;
    if (step == polar_step::frozen) operations_ += 3 * size;
    if (step == polar_step::repetition) operations_ += 5 * size;
  }
  void visit(int first, int stage) {
    const auto begin = roles_.begin() + first, end = begin + (1 << stage);
    const auto information = std::count(begin, end, role::information);
    if (std::count(begin, end, role::frozen) == 1 << stage) return add(polar_step::frozen, stage);
    if (stage == 0)
      return add(*begin == role::check ? polar_step::check : polar_step::rate_one, 0,
                 tracked_ ? first % 5 : polar_untracked);
    const bool root = 1 << stage == static_cast<int>(roles_.size());
    if (!tracked_) {  // bits that are summed later are decided one by one
      if (information == 1 << stage && !root) return add(polar_step::rate_one, stage);
      if (information == 1 && *(end - 1) == role::information) return add(polar_step::repetition, stage);
      if (information == (1 << stage) - 1 && *begin == role::frozen && !root)
        return add(polar_step::single_parity, stage);
    }
    add(polar_step::left, stage);
    visit(first, stage - 1);
    add(polar_step::right, stage);
    visit(first + (1 << (stage - 1)), stage - 1);
    add(polar_step::combine, stage);
  }

  std::vector<role> roles_;
  bool tracked_;
  std::vector<std::int32_t> steps_;
  double operations_ = 0;
};

/// Of each coded bit the places of its LLRs among the E, one after the other, and where those of each begin.
void add_up(const polar_block& b, std::vector<std::int32_t>& first, std::vector<std::int32_t>& received) {
  std::vector<std::vector<std::int32_t>> of(static_cast<std::size_t>(b.n));
  for (std::size_t f = 0; f < b.sent.size(); f++)
    of[static_cast<std::size_t>(b.sent[f])].push_back(static_cast<std::int32_t>(f));
  for (const auto& places : of) {
    first.push_back(static_cast<std::int32_t>(received.size()));
    received.insert(received.end(), places.begin(), places.end());
  }
  first.push_back(static_cast<std::int32_t>(received.size()));
}

const kernel_set& kernels_of(const polar_decoder_config& c, int list_size) {
  if (c.precision != polar_precision::float32)
    return list_size > 8 ? polar_decode_whole_long_kernels() : polar_decode_whole_kernels();
  const bool exact = c.algorithm == polar_algorithm::sum_product;
  if (list_size > 8) return exact ? polar_decode_exact_long_kernels() : polar_decode_long_kernels();
  return exact ? polar_decode_exact_kernels() : polar_decode_kernels();
}

}  // namespace

const std::vector<setting_of<polar_decoder_config>>& polar_decoder_settings() {
  using c = polar_decoder_config;
  static const std::vector<setting_of<c>> all{
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
  return all;
}

void check(const polar_config& code, const polar_decoder_config& config) {
  check_settings(polar_decoder_settings(), config);
  (void)polar_code(code);
  if (config.precision != polar_precision::float32 && config.algorithm == polar_algorithm::sum_product)
    throw argument_error("precision", config.precision == polar_precision::int8 ? "\"int8\"" : "\"int16\"",
                         "\"float32\" with sum-product");
  if (config.adaptive && !polar_crc_of(code))
    throw argument_error("adaptive", "true", "false, as a code without a CRC does not tell what is right");
}

polar_decoder::polar_decoder(const polar_config& code, const polar_decoder_config& config)
    : code_(code), config_(config), scale_(scale_of(code_, config)) {
  check(code, config);
  for (const polar_block& b : code_.blocks()) {
    std::vector<std::int32_t> first, received;
    add_up(b, first, received);
    const program_of program(b);
    tables t{{},
             resident(b.place),
             resident(b.crc_weights),
             resident(program.steps()),
             resident(std::move(first)),
             resident(std::move(received))};
    t.fixed.at = polar_shape_of(b);
    t.fixed.list_size = config.list_size;
    t.fixed.stages = std::countr_zero(static_cast<unsigned>(b.n));
    t.fixed.steps = static_cast<int>(program.steps().size());
    t.fixed.operations = program.operations();
    t.fixed.missing = b.shortened ? polar_known_llr : 0.f;
    t.fixed.most_heard = config.precision == polar_precision::int8 ? 127 : polar_most_heard;
    t.fixed.most_llr = config.precision == polar_precision::int8 ? 127 : polar_most_whole - 1;
    t.fixed.reached = std::min(b.e, b.n);
    tables_.push_back(std::move(t));
  }
}

void polar_decoder::run(executor& exec, view<const float> llr, const polar_decoder_output& out) const {
  check_shape("llr", llr, code_.coded_bits(), llr.items);
  llr_quanta quanta;
  if (config_.precision != polar_precision::float32) quanta = scale_.of(exec, llr);
  if (!config_.adaptive || config_.list_size == 1)
    return decode(exec, llr, quanta, out, config_.list_size, {});
  array<std::uint8_t> settled = exec.make<std::uint8_t>(1, llr.items);
  decode(exec, llr, quanta, {.bits = out.bits, .status = settled}, 1, {});
  decode(exec, llr, quanta, out, config_.list_size, view<std::uint8_t>(settled));
}

void polar_decoder::decode(executor& exec, view<const float> llr, const llr_quanta& quanta,
                           const polar_decoder_output& out, int list_size,
                           view<const std::uint8_t> settled) const {
  const std::size_t items = llr.items;
  check_optional_shape("bits", out.bits, code_.k(), items);
  check_optional_shape("status", out.status, 1, items);
  check_apart({{"bits", out.bits}, {"status", out.status}});
  if (tables_.empty()) refuse_moved_from();
  array<std::uint8_t> own;  // a block of a message needs what became of those before it
  view<std::uint8_t> status = out.status;
  if (tables_.size() > 1 && status.data == nullptr) {
    own = exec.make<std::uint8_t>(1, items);
    status = own;
  }
  for (std::size_t r = 0; r < tables_.size(); r++) {
    const tables& t = tables_[r];
    polar_decode_args a = t.fixed;
    a.list_size = list_size;
    a.quanta = quanta;
    a.settled = settled;
    a.at.place = t.place.on(exec);
    a.at.crc_weights = t.crc_weights.on(exec);
    a.program = t.program.on(exec);
    a.first = t.first.on(exec);
    a.received = t.received.on(exec);
    a.goes_on = r > 0;
    a.llr = llr;
    a.bits = out.bits;
    a.status = status;
    exec.run(kernels_of(config_, list_size), &a, items);
  }
}

}  // namespace wb
