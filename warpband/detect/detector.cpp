#include <warpband/detect/detector.hpp>

#include <algorithm>
#include <charconv>
#include <numeric>

#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/detect/detect_args.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {
namespace {

bool has_survivors(detector_type type) { return type == detector_type::kbest; }
/// Of soft symbols.
bool is_soft(detector_type type) { return type == detector_type::pic || type == detector_type::ep; }
bool is_of_columns(const std::vector<int>& order) {
  for (std::size_t k = 0; k < order.size(); k++)
    if (order[k] != static_cast<int>(k)) return false;
  return true;
}
/// What detect_args has of an order.
std::uint32_t checked_order(const std::vector<int>& order, int streams) {
  if (order.empty()) return order_of_columns;
  std::vector<int> each(static_cast<std::size_t>(streams));
  std::iota(each.begin(), each.end(), 0);
  if (!std::is_permutation(order.begin(), order.end(), each.begin(), each.end()))
    throw argument_error(
        "order", text_of_order(order),
        streams == 1 ? "0, the one stream" : "each of 0 to " + std::to_string(streams - 1) + " once");
  std::uint32_t word = 0;
  for (std::size_t k = 0; k < order.size(); k++) word |= static_cast<std::uint32_t>(order[k]) << 4 * k;
  return word;
}
/// What detect_args has of a sort.
int sort_of(stream_sort sort) {
  static_assert(sort_none == static_cast<int>(stream_sort::none) &&
                sort_falling == static_cast<int>(stream_sort::norm) &&
                sort_rising == static_cast<int>(stream_sort::norm_ascending) &&
                sort_by_qr == static_cast<int>(stream_sort::sqrd));
  const int number = static_cast<int>(sort);
  if (number < 0 || static_cast<std::size_t>(number) >= stream_sorts().size())
    throw argument_error("sort", std::to_string(number), "none, norm, norm-ascending or sqrd");
  return number;
}
void check_one_order(const std::vector<int>& order, stream_sort sort) {
  const auto number = static_cast<std::size_t>(sort_of(sort));
  if (sort != stream_sort::none && !order.empty())
    throw argument_error("order", text_of_order(order), "unset with sort = " + stream_sorts()[number].first);
}
std::string number_text(float x) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}
std::string clip_text(float clip) { return clip == no_clip ? "none" : number_text(clip); }
/// Settings of pic and ep.
void check_soft(const detector_config& c) {
  const detector_config initial;
  if (c.demapper != demap_algorithm::max_log && c.demapper != demap_algorithm::exact)
    throw argument_error("demapper", std::to_string(static_cast<int>(c.demapper)), "max-log or exact");
  if (!is_soft(c.type) && c.demapper != initial.demapper)
    throw argument_error("demapper", "exact", "max-log: only pic and ep have another");
  if (c.type == detector_type::ep) {
    check_range("iterations", c.iterations, 1, 100);
    if (!(c.damping >= 0 && c.damping <= 0.999f))
      throw argument_error("damping", number_text(c.damping), "0 to 0.999");
    if (c.start_variance && !(*c.start_variance >= 0.1f && *c.start_variance <= 10))
      throw argument_error("start_variance", number_text(*c.start_variance), "0.1 to 10, or unset");
    return;
  }
  if (c.iterations != initial.iterations)
    throw argument_error("iterations", std::to_string(c.iterations), "unset: only ep has iterations");
  if (c.damping != initial.damping)
    throw argument_error("damping", number_text(c.damping), "unset: only ep has damping");
  if (c.start_variance)
    throw argument_error("start_variance", number_text(*c.start_variance), "unset: only ep has one");
}

void check_sizes(int streams, int rx_antennas, int qam, int most_streams) {
  check_range("streams", streams, 1, most_streams);
  check_range("rx_antennas", rx_antennas, streams, 16);
  if (qam != 4 && qam != 16 && qam != 64 && qam != 256)
    throw argument_error("qam", std::to_string(qam), "4, 16, 64 or 256");
}

}  // namespace

detector::detector(int streams, int rx_antennas, int qam, const std::vector<int>& order, int most_streams,
                   stream_sort sort)
    : streams_(streams), rx_antennas_(rx_antennas), pam_bits_(0), order_(0), sort_(sort_of(sort)) {
  check_sizes(streams, rx_antennas, qam, most_streams);
  pam_bits_ = bits_per_symbol(qam) / 2;
  order_ = checked_order(order, streams);
  check_one_order(order, sort);
}

void detector::run(executor& exec, const detector_input& in, const detector_output& out) const {
  const std::size_t uses = in.received.items, shared = in.uses_per_channel,
                    rx = static_cast<std::size_t>(rx_antennas_), bits = bits_per_use();
  if (shared == 0) throw argument_error("uses_per_channel", "0", "1 or more");
  check_shape("received", in.received, rx, uses);
  check_shape("channel", in.channel, rx * static_cast<std::size_t>(streams_),
              uses / shared + (uses % shared != 0));
  check_shape("noise_var", in.noise_var, 1, uses);
  check_optional_shape("prior", in.prior, bits, uses);
  if (in.prior.data != nullptr && !takes_prior())
    throw argument_error("prior", "given", "none: this detector takes no a-priori LLRs");
  check_optional_shape("llr", out.llr, bits, uses);
  check_optional_shape("bits", out.bits, bits, uses);
  check_optional_shape("status", out.status, 1, uses);
  check_apart({{"llr", out.llr}, {"bits", out.bits}, {"status", out.status}});
  detect_args args;
  args.streams = streams_;
  args.rx_antennas = rx_antennas_;
  args.pam_bits = pam_bits_;
  args.order = order_;
  args.sort = sort_;
  args.uses_per_channel = shared;
  args.received = as_pairs(in.received);
  args.channel = as_pairs(in.channel);
  args.noise_var = in.noise_var;
  args.prior = in.prior;
  args.llr = out.llr;
  args.bits = out.bits;
  args.status = out.status;
  start(exec, uses, args);
}

bool takes_prior(detector_type type) noexcept {
  return type == detector_type::ml || type == detector_type::ot || type == detector_type::mtt ||
         type == detector_type::kbest || type == detector_type::nway || is_soft(type);
}

detector_config completed(const detector_config& config) {
  detector_config c = config;
  if (static_cast<std::size_t>(c.type) >= detector_names().size())
    throw argument_error("type", std::to_string(static_cast<int>(c.type)), "one of the detectors");
  if (!is_soft(c.type) && c.streams > 8 && c.streams <= most_soft_streams)
    throw argument_error("streams", std::to_string(c.streams),
                         std::string("1 to 8 with ") + name_of(c.type) + "; pic and ep take 16");
  check_sizes(c.streams, c.rx_antennas, c.qam, is_soft(c.type) ? most_soft_streams : 8);
  if (c.type == detector_type::ml && c.streams * bits_per_symbol(c.qam) > 24) {
    const int most = 24 / c.streams / 2;  // bits of a symbol in one dimension
    throw argument_error("qam", std::to_string(c.qam),
                         std::to_string(1 << 2 * most) + (most > 1 ? " or less" : "") + " with " +
                             std::to_string(c.streams) + " streams (at most 2^24 hypotheses)");
  }
  if (c.type == detector_type::nway && (c.ways < 0 || c.ways > c.streams))
    throw argument_error("ways", std::to_string(c.ways),
                         "1 to " + std::to_string(c.streams) + ", or 0 for as many as streams");
  if (c.type != detector_type::nway && c.ways != 0)
    throw argument_error("ways", std::to_string(c.ways), "unset: only nway has passes");
  if (has_survivors(c.type)) check_range("survivors", c.survivors, 1, 4096);
  if (!has_survivors(c.type) && c.survivors != detector_config{}.survivors)
    throw argument_error("survivors", std::to_string(c.survivors), "unset: only kbest has survivors");
  if (!has_survivors(c.type) && c.real_valued)
    throw argument_error("real_valued", "true", "false: only kbest searches a tree of real dimensions");
  if (!takes_prior(c.type) && c.extrinsic)
    throw argument_error("extrinsic", "true",
                         std::string("false: ") + name_of(c.type) + " takes no a-priori LLRs");
  if (!takes_order(c.type) && !c.order.empty())
    throw argument_error("order", text_of_order(c.order),
                         std::string("unset: the result of ") + name_of(c.type) + " does not depend on one");
  if (takes_order(c.type)) (void)checked_order(c.order, c.streams);
  if (!takes_order(c.type) && sort_of(c.sort) != sort_none)
    throw argument_error("sort", stream_sorts()[static_cast<std::size_t>(c.sort)].first,
                         std::string("none: the result of ") + name_of(c.type) + " depends on no order");
  check_one_order(c.order, c.sort);
  check_soft(c);
  if (static_cast<int>(c.order.size()) == c.streams && is_of_columns(c.order)) c.order.clear();
  if (c.type == detector_type::nway && c.ways == 0) c.ways = c.streams;
  const bool complete = c.type != detector_type::ot && c.type != detector_type::kbest &&
                        (c.type != detector_type::nway || c.ways == c.streams);
  if (!c.llr_clip) c.llr_clip = complete ? no_clip : 8;
  const bool limits = *c.llr_clip > 0 && *c.llr_clip <= 1e6f;
  if (!complete && !limits)
    throw argument_error(
        "llr_clip", clip_text(*c.llr_clip),
        std::string("above 0 and at most 1e6: a hypothesis can be missing with ") + name_of(c.type));
  if (!limits && *c.llr_clip != no_clip)
    throw argument_error("llr_clip", clip_text(*c.llr_clip), "above 0 and at most 1e6, or none");
  return c;
}

bool takes_order(detector_type type) noexcept {
  return type == detector_type::ot || type == detector_type::mtt || type == detector_type::kbest ||
         type == detector_type::nway;
}
std::string text_of_order(const std::vector<int>& order) {
  std::string text;
  for (const int stream : order) text += (text.empty() ? "" : ",") + std::to_string(stream);
  return text;
}

const std::vector<std::pair<std::string, stream_sort>>& stream_sorts() {
  static const std::vector<std::pair<std::string, stream_sort>> all{
      {"none", stream_sort::none},
      {"norm", stream_sort::norm},
      {"norm-ascending", stream_sort::norm_ascending},
      {"sqrd", stream_sort::sqrd}};
  return all;
}
const std::vector<std::string>& detector_names() {
  static const std::vector<std::string> names{"ml",  "mf",    "zf",   "mmse", "ot",
                                              "mtt", "kbest", "nway", "pic",  "ep"};
  return names;
}
const char* name_of(detector_type type) noexcept {
  const auto i = static_cast<std::size_t>(type);
  return i < detector_names().size() ? detector_names()[i].c_str() : "other";
}
std::optional<detector_type> detector_named(const std::string& name) noexcept {
  const auto at = find_word(detector_names(), name);
  if (!at) return std::nullopt;
  return static_cast<detector_type>(*at);
}

}  // namespace wb
