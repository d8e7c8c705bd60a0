#include <warpband/code/conv.hpp>

#include <algorithm>
#include <bit>
#include <climits>

#include <warpband/code/passes/passes.hpp>
#include <warpband/core/check.hpp>
#include <warpband/fec/bcjr/bcjr.hpp>
#include <warpband/fec/conv/conv_runs.hpp>

namespace wb {
namespace {

constexpr std::size_t widest = 16;  // values in a lane of any instruction set

const conv_settings& typed(const box& b) { return b.get<conv_settings>(); }

const std::vector<std::string>& rates() {
  static const std::vector<std::string> names{"1/2", "1/3", "2/3", "3/4", "5/6"};
  return names;
}
/// Beside the rates by name 1 / the number of generators that are given.
setting_of<conv_settings> rate_setting(std::string text) {
  return {"rate",
          "word",
          among(rates()),
          std::move(text),
          rates(),
          [](conv_settings& c, const setting_value& v) {
            settings_detail::take(c.rate, v, [&] {
              const auto* w = std::get_if<std::string>(&v);
              const auto i = w != nullptr ? find_word(rates(), *w) : std::nullopt;
              if (!i && !(w != nullptr && w->starts_with("1/")))
                settings_detail::refuse("rate", v, among(rates()));
              return i ? rates()[*i] : *w;
            });
          },
          [](const conv_settings& c) { return c.rate ? setting_value(*c.rate) : setting_value(); }};
}
/// 0133 as "133".
std::string octal_text(int x) {
  std::string digits;
  for (unsigned v = static_cast<unsigned>(x); v != 0; v /= 8)
    digits.insert(digits.begin(), static_cast<char>('0' + v % 8));
  return digits.empty() ? "0" : digits;
}

/// "133", "0133".
int octal(const char* setting, const std::string& text) {
  int value = 0;
  const bool digits = !text.empty() && text.size() <= 6 &&
                      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '7'; });
  if (digits) value = std::stoi(text, nullptr, 8);
  if (value == 0) throw argument_error(setting, "\"" + text + "\"", "octal numbers above 0, such as \"133\"");
  return value;
}

setting_of<conv_settings> generators_setting() {
  const std::string allowed = "1 to 4 octal numbers in quotes, each below 2^K";
  return {"generators",
          "list of text",
          allowed,
          "In octal, the newest bit first: [\"133\", \"171\"], which is the default, with \"1/3\" [\"133\", "
          "\"171\", \"165\"], with code.standard = \"802.16\" [\"171\", \"133\"]. Their number is 1 / rate; "
          "a code of two may be punctured.",
          {},
          [=](conv_settings& c, const setting_value& v) {
            const auto* list = std::get_if<std::vector<std::string>>(&v);
            if (list == nullptr || list->empty()) settings_detail::refuse("generators", v, allowed);
            c.generators.clear();
            for (const std::string& g : *list) c.generators.push_back(octal("generators", g));
          },
          [](const conv_settings& c) -> setting_value {
            std::vector<std::string> list;
            for (const int g : c.generators) list.push_back(octal_text(g));
            return list;
          }};
}
setting_of<conv_settings> feedback_setting() {
  return {
      "feedback",
      "text",
      "\"none\", or an octal number of K bits in quotes; with code.termination = \"zero-tail\"",
      "A feedback polynomial makes the code recursive. A generator that equals it gives the information bit "
      "itself: generators = [\"7\", \"5\"] with feedback = \"7\" is systematic.",
      {},
      [](conv_settings& c, const setting_value& v) {
        settings_detail::take(c.feedback, v, [&] {
          const auto* text = std::get_if<std::string>(&v);
          if (text == nullptr) settings_detail::refuse("feedback", v, "an octal number in quotes");
          return octal("feedback", *text);
        });
      },
      [](const conv_settings& c) {
        return c.feedback ? setting_value(octal_text(*c.feedback)) : setting_value();
      }};
}

std::vector<setting_of<conv_settings>> of_code() {
  using c = conv_settings;
  return {integer("k", &c::k, 1, INT_MAX, "Bits of a frame into the encoder, its CRC included.",
                  "an integer from 1 to 65536"),
          rate_setting("\"1/3\" has a third generator, 165; the rates above 1/2 puncture. With a zero tail R "
                       "is below the named rate, as the tail is sent too. Left out: 1 / the number of "
                       "generators, \"1/2\" without any."),
          words<c, conv_ending>(
              "termination", &c::termination,
              {{"zero-tail", conv_ending::zero_tail}, {"tail-biting", conv_ending::tail_biting}},
              "zero-tail: K - 1 zeros follow the k bits, and their coded bits are sent too; tail-biting: a "
              "codeword ends in the state in which it began, and k is at least K - 1."),
          integer("constraint_length", &c::constraint_length, 3, 9,
                  "K: length of the shift register, the newest bit included. Left out: what the largest "
                  "generator needs, 7 for 171."),
          generators_setting().without_default(),
          feedback_setting().absent_as("none"),
          words<c, conv_standard>(
              "standard", &c::standard,
              {{"802.11", conv_standard::ieee_802_11}, {"802.16", conv_standard::ieee_802_16}},
              "Standard of the puncturing, and of the generators if none are given. 802.16 sends the bit of "
              "171 before that of 133, and otherwise the same bits as 802.11."),
          conv_order_setting(&c::order),
          crc_setting(&c::crc)};
}
std::vector<setting_of<conv_settings>> of_decoder() {
  using c = conv_settings;
  std::vector<setting_of<c>> settings{
      words<c, conv_algorithm>(
          "algorithm", &c::algorithm,
          {{"viterbi", conv_algorithm::viterbi},
           {"max-log-map", conv_algorithm::max_log_map},
           {"log-map", conv_algorithm::log_map},
           {"log-map-table", conv_algorithm::log_map_table}},
          "viterbi: the most likely codeword; the others give soft output too. "
          "log-map-table is log-map with logarithms of sums from a table of 8 values. Of "
          "short tail-biting codewords all but viterbi with tail_biting \"exact\" "
          "are approximations."),
      conv_overlap_setting(&c::overlap)
          .only_with("termination", {"tail-biting"})
          .only_with("tail_biting", {"overlap"}),
      tail_biting_setting(&c::tail_biting)
          .only_with("termination", {"tail-biting"})
          .only_with("algorithm", {"viterbi"})};
  for (auto& s : conv_precision_settings(&c::precision, &c::llr_steps, &c::windows,
                                         "int16: 8-bit LLRs and 16-bit metrics, several times faster. "
                                         "max-log-map of codes without feedback "
                                         "only.",
                                         "the largest power of two whose windows have at least 1024 steps "
                                         "and 12 overlaps, with max-log-map 256 steps and 5 overlaps."))
    settings.push_back(s.name == "precision" ? std::move(s).only_with("algorithm", {"viterbi", "max-log-map"})
                                             : std::move(s));
  return settings;
}

viterbi_config viterbi_of(const conv_settings& s, const conv_code& code) {
  return {code, s.k, s.overlap, s.tail_biting, s.precision, s.llr_steps, s.windows};
}
bcjr_config bcjr_of(const conv_settings& s, const conv_code& code) {
  const map_algorithm algorithm = s.algorithm == conv_algorithm::log_map ? map_algorithm::log_map
                                  : s.algorithm == conv_algorithm::log_map_table
                                      ? map_algorithm::log_map_table
                                      : map_algorithm::max_log_map;
  return {code, s.k, algorithm, s.overlap, s.precision, s.llr_steps, s.windows};
}

class convolutional final : public codec {
 public:
  explicit convolutional(const conv_settings& s) : settings_(s), encoder_(conv_code_of(s), s.k) {
    const conv_code& code = encoder_.frame().code();
    if (s.algorithm == conv_algorithm::viterbi)
      viterbi_.emplace(viterbi_of(s, code));
    else
      bcjr_.emplace(bcjr_of(s, code));
  }
  std::size_t k() const noexcept override { return static_cast<std::size_t>(settings_.k); }
  std::size_t n() const noexcept override { return encoder_.n(); }
  std::size_t working_bytes() const noexcept override { return 1; }
  std::size_t thread_bytes(bool decodes) const noexcept override {
    const std::size_t tail = 2 * static_cast<std::size_t>(*settings_.constraint_length - 1);
    if (!decodes) return sizeof(float) * widest * (k() + tail);
    // Of each of a lane's codewords: decisions, a bit a state, or metrics at every 16th step; and what a run
    // of steps takes.
    const std::size_t states = std::size_t{1} << (*settings_.constraint_length - 1);
    const std::size_t steps = k() + states + 2 * static_cast<std::size_t>(*settings_.overlap);
    const std::size_t kept = viterbi_ ? (states + 31) / 32 * steps : states * (steps / conv_run + 1);
    return sizeof(float) * widest * (kept + (conv_run + 4) * states + 64 * conv_run);
  }
  void encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const override {
    encoder_.run(exec, bits, coded);
  }
  void decode(executor& exec, view<const float> llr, const decoder_output& out) const override {
    if (viterbi_ && out.soft.data != nullptr)
      throw argument_error("algorithm", "\"viterbi\"",
                           "\"max-log-map\", \"log-map\" or \"log-map-table\" for soft output: the Viterbi "
                           "algorithm has none");
    check_optional_shape("iterations", out.iterations, llr.items, 1);
    view<std::uint8_t> status = out.status;
    if (out.iterations.data != nullptr && status.data == nullptr)
      status = make_view(reinterpret_cast<std::uint8_t*>(workspace_.on(exec, llr.items)), llr.items,
                         std::size_t{1});
    if (viterbi_)
      viterbi_->run(exec, llr, {.bits = out.bits, .metric = {}, .status = status});
    else
      bcjr_->run(exec, llr, {.bits = out.bits, .soft = out.soft, .extrinsic = {}, .status = status});
    if (out.iterations.data != nullptr) count_pass(exec, view<const std::uint8_t>(status), out.iterations);
  }

 private:
  conv_settings settings_;
  conv_encoder encoder_;
  kept_workspace workspace_;
  std::optional<viterbi_decoder> viterbi_;  // one of them
  std::optional<bcjr_decoder> bcjr_;
};

/// Bits that are sent for k.
std::size_t conv_bits(const conv_code& code, std::size_t k) {
  const std::size_t tail =
      code.ending == conv_ending::zero_tail ? static_cast<std::size_t>(code.constraint_length - 1) : 0;
  const std::size_t coded = (k + tail) * code.generators.size(), period = code.sent.size();
  if (period == 0) return coded;
  const auto ones = [&](std::size_t places) {
    return static_cast<std::size_t>(
        std::count(code.sent.begin(), code.sent.begin() + static_cast<std::ptrdiff_t>(places), 1));
  };
  return coded / period * ones(period) + ones(coded % period);
}

conv_settings complete(conv_settings s) {
  const conv_code code = conv_code_of(s);
  s.constraint_length = code.constraint_length;
  s.generators = code.generators;
  if (!s.rate) s.rate = "1/" + std::to_string(s.generators.size());
  if (static_cast<int>(s.algorithm) < 0 || s.algorithm > conv_algorithm::log_map_table)
    throw argument_error("algorithm", std::to_string(static_cast<int>(s.algorithm)),
                         "viterbi, max-log-map, log-map or log-map-table");
  if (s.tail_biting == tail_biting_search::exact && s.algorithm != conv_algorithm::viterbi)
    throw argument_error("tail_biting", "\"exact\"", "\"overlap\": only viterbi has another search");
  const auto chosen_by = [&](const auto& config) {
    s.overlap = config.overlap;
    s.windows = config.windows;
  };
  if (s.algorithm == conv_algorithm::viterbi)
    chosen_by(completed(viterbi_of(s, code)));
  else
    chosen_by(completed(bcjr_of(s, code)));
  return s;
}

class soft_bcjr final : public soft_decoder {
 public:
  explicit soft_bcjr(const bcjr_decoder& decoder) : decoder_(decoder) {}
  std::size_t k() const noexcept override { return static_cast<std::size_t>(decoder_.config().k); }
  std::size_t n() const noexcept override { return decoder_.frame().n(); }
  void run(executor& exec, view<const float> llr, const soft_decoder_state&,
           const soft_decoder_output& out) const override {
    check_optional_shape("iterations", out.iterations, llr.items, 1);
    view<std::uint8_t> status = out.status;
    if (out.iterations.data != nullptr && status.data == nullptr)
      status = make_view(reinterpret_cast<std::uint8_t*>(workspace_.on(exec, llr.items)), llr.items);
    decoder_.run(
        exec, llr,
        {.bits = out.bits, .soft = {}, .extrinsic = {}, .coded_extrinsic = out.extrinsic, .status = status});
    if (out.iterations.data != nullptr) count_pass(exec, view<const std::uint8_t>(status), out.iterations);
  }

 private:
  bcjr_decoder decoder_;
  kept_workspace workspace_;
};

bool gives_extrinsic(const conv_settings& s) {
  return s.algorithm != conv_algorithm::viterbi && s.precision == conv_precision::float32;
}

std::optional<std::size_t> k_of(const conv_settings& s, std::size_t n) {
  const conv_code code = conv_code_of(s);
  std::size_t least = 1, greatest = 65536;  // every step sends a bit: n rises with k
  while (least < greatest) {
    const std::size_t middle = (least + greatest) / 2;
    if (conv_bits(code, middle) < n)
      least = middle + 1;
    else
      greatest = middle;
  }
  return conv_bits(code, least) == n ? std::optional(least) : std::nullopt;
}

std::vector<box> candidates(const conv_settings& base) {
  std::vector<box> choices;
  for (const auto& [algorithm, precision] : {std::pair{base.algorithm, base.precision},
                                             {conv_algorithm::viterbi, conv_precision::int16},
                                             {conv_algorithm::max_log_map, conv_precision::int16},
                                             {conv_algorithm::viterbi, conv_precision::float32},
                                             {conv_algorithm::max_log_map, conv_precision::float32},
                                             {conv_algorithm::log_map, conv_precision::float32}}) {
    conv_settings s = base;
    s.algorithm = algorithm;
    s.precision = precision;
    choices.emplace_back(s);
  }
  return choices;
}

/// As of other codes, without a feedback that is not there.
named_values describe(const box& b) {
  const code_kind& kind = codes().get("conv");
  const conv_settings& s = typed(b);
  named_values values{
      {"k", std::int64_t{s.k}}, {"crc", crc_name(s.crc)}, {"n", static_cast<std::int64_t>(kind.sizes(b).n)}};
  if (s.rate) values.emplace_back("rate_name", *s.rate);
  for (auto& [name, value] : values_in_results(kind.settings, kind.initial, b, "code"))
    if (name != "k" && name != "crc" && name != "rate" && (name != "feedback" || s.feedback))
      values.emplace_back(std::move(name), std::move(value));
  return values;
}

}  // namespace

conv_code conv_code_of(const conv_settings& s) {
  const bool other = s.standard == conv_standard::ieee_802_16;
  conv_code c = other ? conv_80216(conv_rate::r1_2) : conv_80211(conv_rate::r1_2);
  if (!s.generators.empty())
    c.generators = s.generators;
  else if (s.rate == "1/3")
    c.generators = conv_lte().generators;
  const std::string whole = "1/" + std::to_string(c.generators.size());
  const std::vector<std::string> names =
      c.generators.size() == 2 ? std::vector<std::string>{"1/2", "2/3", "3/4", "5/6"} : std::vector{whole};
  if (s.rate && s.rate != whole) {
    const auto i = std::find(names.begin(), names.end(), *s.rate);
    if (i == names.end())
      throw argument_error("rate", "\"" + *s.rate + "\"",
                           s.generators.empty()
                               ? among(rates())
                               : among(names) + " with " + std::to_string(c.generators.size()) +
                                     (c.generators.size() == 1 ? " generator" : " generators"));
    const auto rate = static_cast<conv_rate>(i - names.begin());
    c.sent = (other ? conv_80216(rate) : conv_80211(rate)).sent;
  }
  int largest = std::max(s.feedback.value_or(0), 0);
  for (const int g : c.generators) largest = std::max(largest, g);
  c.constraint_length = s.constraint_length.value_or(
      std::max(3, static_cast<int>(std::bit_width(static_cast<unsigned>(largest)))));
  c.feedback = s.feedback;
  c.ending = s.termination;
  c.order = s.order;
  if (c.feedback && c.ending == conv_ending::tail_biting)
    throw argument_error("termination", "\"tail-biting\"", "\"zero-tail\" with feedback");
  (void)conv_frame(c, 1024);  // throws for what is not allowed
  return c;
}

std::unique_ptr<soft_decoder> make_soft_bcjr(const bcjr_decoder& decoder) {
  return std::make_unique<soft_bcjr>(decoder);
}

code_kind conv_kind() {
  return {.name = "conv",
          .text =
              "convolutional: --k, --rate 1/2 (default), 1/3, 2/3, 3/4 or 5/6, --termination, --generators, "
              "--feedback, --constraint-length, --standard, --order",
          .settings = code_and_decoder(of_code(), of_decoder()),
          .initial = box(conv_settings{}),
          .complete = [](const box& b) { return box(complete(typed(b))); },
          .sizes =
              [](const box& b) {
                const auto k = static_cast<std::size_t>(typed(b).k);
                return code_sizes{k, conv_bits(conv_code_of(typed(b)), k)};
              },
          .make = [](const box& b) -> std::unique_ptr<codec> {
            return std::make_unique<convolutional>(typed(b));
          },
          .k_of = [](const box& b, std::size_t n) { return k_of(typed(b), n); },
          .crc = [](const box& b) { return typed(b).crc; },
          .make_soft =
              [](const box& b) {
                const bcjr_config c = bcjr_of(typed(b), conv_code_of(typed(b)));
                return make_soft_bcjr(bcjr_decoder({c.code, c.k, c.algorithm, c.overlap}));
              },
          .gives_extrinsic = [](const box& b) { return gives_extrinsic(typed(b)); },
          .without_soft =
              [](const box& b) {
                return typed(b).algorithm == conv_algorithm::viterbi ? "the Viterbi algorithm" : "";
              },
          .candidates = [](const box& b, bool) { return candidates(typed(b)); },
          .described = describe,
          // An iteration of the turbo code is four passes over 8 states.
          .passes = [](const box& b) -> std::uint64_t {
            return std::max<std::uint64_t>(
                1, (std::uint64_t{1} << conv_code_of(typed(b)).constraint_length) / 16);
          }};
}

}  // namespace wb
