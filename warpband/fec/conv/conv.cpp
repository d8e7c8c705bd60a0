#include <warpband/fec/conv/conv.hpp>

#include <algorithm>
#include <bit>
#include <string>

#include <warpband/core/check.hpp>

namespace wb {

WB_DECLARE_KERNEL(conv_encode)

namespace {

std::string octal(int x) {
  std::string digits;
  for (unsigned v = static_cast<unsigned>(x); v != 0; v /= 8)
    digits.insert(digits.begin(), static_cast<char>('0' + v % 8));
  return "0" + digits;
}

void check(const conv_code& c, int k) {
  check_range("constraint_length", c.constraint_length, 3, 9);
  const int limit = (1 << c.constraint_length) - 1;
  if (c.generators.empty() || c.generators.size() > 4)
    throw argument_error("generators.size()", std::to_string(c.generators.size()), "1 to 4");
  for (const int g : c.generators)
    if (g < 1 || g > limit)
      throw argument_error("generators", g < 0 ? std::to_string(g) : octal(g), "01 to " + octal(limit));
  if (c.feedback && (*c.feedback > limit || *c.feedback <= limit / 2))
    throw argument_error("feedback", *c.feedback < 0 ? std::to_string(*c.feedback) : octal(*c.feedback),
                         octal(limit / 2 + 1) + " to " + octal(limit) + ", or absent");
  if (c.ending != conv_ending::zero_tail && c.ending != conv_ending::tail_biting &&
      c.ending != conv_ending::truncated)
    throw argument_error("ending", std::to_string(static_cast<int>(c.ending)),
                         "zero_tail, tail_biting or truncated");
  if (c.order != conv_order::serial && c.order != conv_order::streams)
    throw argument_error("order", std::to_string(static_cast<int>(c.order)), "serial or streams");
  if (c.ending == conv_ending::tail_biting && c.feedback)
    throw argument_error("ending", "tail_biting", "zero_tail or truncated with feedback");
  if (c.sent.size() % c.generators.size() != 0 || c.sent.size() > 4096)
    throw argument_error("sent.size()", std::to_string(c.sent.size()),
                         "a multiple of the number of generators, up to 4096");
  for (const std::uint8_t s : c.sent)
    if (s > 1) throw argument_error("sent", "a list with " + std::to_string(s), "0 and 1 only");
  if (!c.sent.empty() && std::count(c.sent.begin(), c.sent.end(), 1) == 0)
    throw argument_error("sent", "all 0", "at least one 1");
  check_range("k", k, c.ending == conv_ending::tail_biting ? c.constraint_length - 1 : 1, 1 << 20);
}

setting_of<conv_code> sent_setting() {
  const std::string allowed = "rows of 0 and 1, a number for each generator";
  return {"sent",
          "list of rows of integers",
          allowed,
          "Puncturing: a row for each step of its period, 1 where the bit is sent. Left out: all are sent.",
          {},
          [=](conv_code& c, const setting_value& v) {
            c.sent.clear();
            for (const int s : settings_detail::wholes("sent", v, 0, 1, allowed))
              c.sent.push_back(static_cast<std::uint8_t>(s));
          },
          [](const conv_code& c) -> setting_value {
            if (c.sent.empty()) return {};
            return std::vector<std::int64_t>(c.sent.begin(), c.sent.end());
          }};
}

conv_known known_of(const conv_code& code) {
  if (code.constraint_length != 7 || code.feedback) return conv_known::none;
  if (code.generators == std::vector{0133, 0171}) return conv_known::g133_171;
  if (code.generators == std::vector{0133, 0171, 0165}) return conv_known::g133_171_165;
  return conv_known::none;
}

int parity(int x) { return std::popcount(static_cast<unsigned>(x)) & 1; }

}  // namespace

const std::vector<setting_of<conv_code>>& conv_code_settings() {
  using c = conv_code;
  static const std::vector<setting_of<c>> settings{
      integer("constraint_length", &c::constraint_length, 3, 9, "K: bits of the register with the newest."),
      integers("generators", &c::generators, 1, 511,
               "The newest bit is the highest: 0133 and 0171 in octal. The rate is 1 / their number.",
               "1 to 4 integers from 1 to 2^K - 1"),
      integer(
          "feedback", &c::feedback, 1, 511,
          "A feedback polynomial makes the code recursive. A generator that equals it gives the bit itself.",
          "an integer from 2^(K - 1) to 2^K - 1"),
      words<c, conv_ending>(
          "termination", &c::ending,
          {{"zero-tail", conv_ending::zero_tail},
           {"tail-biting", conv_ending::tail_biting},
           {"truncated", conv_ending::truncated}},
          "How a codeword ends: with K - 1 zeros more, whose coded bits are sent too, in the "
          "state in which it began, or anywhere."),
      sent_setting(),
      conv_order_setting(&c::order)};
  return settings;
}

conv_frame::conv_frame(const conv_code& code, int k) : code_(code), known_(known_of(code)) {
  check(code, k);
  conv_trellis& t = trellis_;
  const int K = code.constraint_length, newest = 1 << (K - 1);
  t.memory = K - 1;
  t.outputs = static_cast<int>(code.generators.size());
  t.k = k;
  t.steps = code.ending == conv_ending::zero_tail ? k + K - 1 : k;
  t.ending = code.ending;
  t.feedback = code.feedback.value_or(newest);
  for (int j = t.outputs - 1; j >= 0; j--)
    if (code.generators[static_cast<std::size_t>(j)] == t.feedback) t.systematic = j;
  t.ranges = code.order == conv_order::streams ? t.outputs : 1;
  const auto coded = [&](int bits) {
    int c = parity(bits & t.feedback) << t.outputs;
    for (int i = 0; i < t.outputs; i++) c |= parity(bits & code.generators[static_cast<std::size_t>(i)]) << i;
    return c;
  };
  t.older = coded(1);
  t.newer = coded(newest);
  std::vector<std::int32_t> codes;
  for (int j = 0; j < newest / 2; j++) codes.push_back(coded(2 * j));

  const std::size_t outputs = code.generators.size(), steps = static_cast<std::size_t>(t.steps);
  std::vector<std::int32_t> places(steps * outputs, -1), firsts;
  std::int32_t next = 0;
  const auto visit = [&](std::size_t step, std::size_t output) {
    if (code.sent.empty() || code.sent[(step * outputs + output) % code.sent.size()] != 0)
      places[step * outputs + output] = next++;
  };
  if (code.order == conv_order::serial) {
    for (std::size_t s = 0; s < steps; s++) {
      firsts.push_back(next);
      for (std::size_t i = 0; i < outputs; i++) visit(s, i);
    }
    firsts.push_back(next);
  } else {
    for (std::size_t i = 0; i < outputs; i++) {
      for (std::size_t s = 0; s < steps; s++) {
        firsts.push_back(next);
        visit(s, i);
      }
      firsts.push_back(next);
    }
  }
  n_ = static_cast<std::size_t>(next);
  if (n_ == 0)
    throw argument_error("sent", "a pattern that sends no bit of k = " + std::to_string(k), "bits");
  codes_ = resident(std::move(codes));
  places_ = resident(std::move(places));
  firsts_ = resident(std::move(firsts));
}

// Loss against an overlap of 1024, 802.16, Viterbi, FER 0.05, 8000 blocks of 8 to 24 bits: at most 0.04 dB at
// rate 2/3, 0.03 at 5/6; longer blocks lose less. With 8 (K - 1) steps 40 bits lost 0.22 dB at rate 5/6.
int conv_frame::usual_overlap() const noexcept {
  constexpr long long limit = 4096;
  const long long usual = 8 * (code_.constraint_length - 1), in = k(),
                  parity = static_cast<long long>(n_) - in;
  if (parity >= in) return static_cast<int>(usual);
  return static_cast<int>(parity <= 0 ? limit
                                      : std::min(limit, (usual * (in + parity) + parity - 1) / parity));
}

conv_trellis conv_frame::on(executor& exec) const {
  conv_trellis t = trellis_;
  t.codes = codes_.on(exec);
  t.places = places_.on(exec);
  t.firsts = firsts_.on(exec);
  return t;
}
conv_trellis conv_frame::on_host() const {
  codes_.check_held();
  conv_trellis t = trellis_;
  t.codes = codes_.host().data();
  t.places = places_.host().data();
  t.firsts = firsts_.host().data();
  return t;
}

void conv_encoder::run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const {
  check_shape("bits", bits, bits.items, static_cast<std::size_t>(k()));
  check_shape("coded", coded, bits.items, std::max(coded.elements, n()));
  conv_encode_args a;
  a.code = frame_.on(exec);
  std::copy(frame_.code().generators.begin(), frame_.code().generators.end(), a.generators);
  a.n = static_cast<int>(n());
  a.bits = bits;
  a.coded = coded;
  exec.run(conv_encode_kernels(), &a, bits.items);
}

conv_code conv_80211(conv_rate rate) {
  conv_code c;
  switch (rate) {
    case conv_rate::r1_2:
      break;
    case conv_rate::r2_3:
      c.sent = {1, 1, 1, 0};
      break;
    case conv_rate::r3_4:
      c.sent = {1, 1, 1, 0, 0, 1};
      break;
    case conv_rate::r5_6:
      c.sent = {1, 1, 1, 0, 0, 1, 1, 0, 0, 1};
      break;
    default:
      throw argument_error("rate", std::to_string(static_cast<int>(rate)), "1/2, 2/3, 3/4 or 5/6");
  }
  return c;
}

conv_code conv_80216(conv_rate rate, conv_ending ending) {
  conv_code c = conv_80211(rate);  // X takes the place of B and Y that of A
  c.generators = {0171, 0133};
  for (std::size_t i = 0; i < c.sent.size(); i += 2) std::swap(c.sent[i], c.sent[i + 1]);
  c.ending = ending;
  return c;
}

conv_code conv_lte() {
  conv_code c;
  c.generators = {0133, 0171, 0165};
  c.ending = conv_ending::tail_biting;
  c.order = conv_order::streams;
  return c;
}

conv_code conv_recursive(int constraint_length, int feedback, const std::vector<int>& parities) {
  conv_code c;
  c.constraint_length = constraint_length;
  c.feedback = feedback;
  c.generators = {feedback};
  c.generators.insert(c.generators.end(), parities.begin(), parities.end());
  return c;
}

}  // namespace wb
