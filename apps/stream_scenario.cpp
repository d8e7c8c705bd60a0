#include "stream_scenario.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>

#include <warpband/core/error.hpp>
#include <warpband/link/scenario.hpp>
#include <warpband/link/toml_value.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace {

struct key {
  const char *name, *allowed, *initial, *text;
  void (*set)(stream_run&, const toml::node&, const key&);
};

std::string text_of(const toml::node& n) {
  std::ostringstream s;
  n.visit([&](const auto& v) { s << v; });
  return s.str();
}
[[noreturn]] void refuse(const toml::node& n, const key& k) {
  throw wb::argument_error(k.name, text_of(n), k.allowed);
}
double number(const toml::node& n, const key& k, double least, double most) {
  const auto x = n.value<double>();
  if (!x || n.is_boolean() || n.is_string() || !(*x >= least && *x <= most)) refuse(n, k);
  return *x;
}
std::int64_t integer(const toml::node& n, const key& k, std::int64_t least, std::int64_t most) {
  const auto* i = n.as_integer();
  if (i == nullptr || i->get() < least || i->get() > most) refuse(n, k);
  return i->get();
}
template <class T>
T whole(const toml::node& n, const key& k, std::int64_t least, std::int64_t most) {
  return static_cast<T>(integer(n, k, least, most));
}
std::string word(const toml::node& n, const key& k) {
  const auto* s = n.as_string();
  if (s == nullptr) refuse(n, k);
  return s->get();
}
std::size_t among(const toml::node& n, const key& k, const std::vector<std::string>& words) {
  const auto at = wb::find_word(words, word(n, k));
  if (!at) refuse(n, k);
  return *at;
}
bool yes_or_no(const toml::node& n, const key& k) {
  if (!n.is_boolean()) refuse(n, k);
  return n.as_boolean()->get();
}

constexpr std::int64_t most_count = 1'000'000'000'000, most_items = std::int64_t{1} << 31;

const key keys[] = {
    {"label", "text", "", "Name of the run in tables; in [[run]].",
     [](stream_run& r, const toml::node& n, const key& k) { r.label = word(n, k); }},
    {"stream.chain", "\"detect\", \"decode\", \"uplink\", \"precode\" or \"stbc\"", "\"detect\"",
     "What is done with a frame: soft MIMO detection; that and decoding; detection and precoding of massive "
     "MIMO; "
     "space-time decoding.",
     [](stream_run& r, const toml::node& n, const key& k) {
       const std::vector<std::string> chains{"detect", "decode", "uplink", "precode", "stbc"};
       r.chain = chains[among(n, k, chains)];
     }},
    {"stream.items", "an integer from 1 to 2^31", "",
     "Of a frame: uses of the channel, vectors, or codewords of stbc. Needed.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.items = whole<std::size_t>(n, k, 1, most_items);
     }},
    {"stream.least_items", "an integer from 0 to stream.items", "0",
     "Frames have sizes between this and stream.items, drawn for each; 0: all have stream.items.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.least_items = whole<std::size_t>(n, k, 0, most_items);
     }},
    {"stream.per_channel", "an integer from 1 to 2^20", "1",
     "Items that share a channel estimate, which is sent once for them: the symbols of a subcarrier, or of "
     "12 "
     "subcarriers. A frame of uplink or precode has a multiple of it.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.per_channel = whole<std::size_t>(n, k, 1, 1 << 20);
     }},
    {"stream.devices", "a list of \"cpu\", \"cuda:0\", \"cuda:1\", ...", "[\"cpu\"]",
     "Frames go to whichever has a stream free. `--device` overrides it.",
     [](stream_run& r, const toml::node& n, const key& k) {
       const auto* list = n.as_array();
       if (list == nullptr || list->empty()) refuse(n, k);
       r.devices.clear();
       for (const toml::node& d : *list) r.devices.push_back(word(d, k));
     }},
    {"stream.streams", "an integer from 1 to 64", "2", "Frames under way on each device.",
     [](stream_run& r, const toml::node& n, const key& k) { r.streams = whole<int>(n, k, 1, 64); }},
    {"stream.threads", "an integer from 0 (all cores) to 4096", "1",
     "\"cpu\": threads that share a frame. `--threads` overrides it.",
     [](stream_run& r, const toml::node& n, const key& k) { r.threads = whole<int>(n, k, 0, 4096); }},
    {"stream.batch", "an integer from 0 to 64", "1",
     "CUDA, without parts: up to so many frames that wait one behind the other are copied as one, for more "
     "throughput of small frames. 0: as many as make up 16 MB.",
     [](stream_run& r, const toml::node& n, const key& k) { r.batch = whole<int>(n, k, 0, 64); }},
    {"stream.parts", "an integer from 1 to 64", "1",
     "CUDA: parts of a frame whose copies and kernels overlap, for less latency of large frames.",
     [](stream_run& r, const toml::node& n, const key& k) { r.parts = whole<int>(n, k, 1, 64); }},
    {"stream.splits", "a divisor of stream.per_channel", "1",
     "uplink: vectors come in so many splits, each with vectors of every channel estimate, as OFDM symbols "
     "come from a "
     "radio; parts are then splits.",
     [](stream_run& r, const toml::node& n, const key& k) { r.splits = whole<int>(n, k, 1, 1 << 20); }},
    {"stream.graphs", "true or false", "false",
     "CUDA: frames of stream.items are started as recorded graphs.",
     [](stream_run& r, const toml::node& n, const key& k) { r.graphs = yes_or_no(n, k); }},
    {"stream.queue", "an integer from 1 to 65536", "8", "Frames that may wait beside those under way.",
     [](stream_run& r, const toml::node& n, const key& k) { r.queue = whole<std::size_t>(n, k, 1, 65536); }},
    {"stream.overflow", "\"wait\" or \"drop-oldest\"", "\"wait\"",
     "When the queue is full: whoever pushes waits, or the frame that waits longest is dropped.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.overflow = static_cast<wb::overflow_policy>(among(n, k, {"wait", "drop-oldest"}));
     }},
    {"stream.waiting", "\"block\" or \"spin\"", "\"block\"",
     "How threads wait for frames and devices: asleep, or looking all the time, which costs a core for each "
     "device "
     "and takes tens of microseconds off the latency.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.waiting = static_cast<wb::wait_policy>(among(n, k, {"block", "spin"}));
     }},
    {"stream.retries", "an integer from 0 to 64", "1",
     "Devices that may fail under a frame before it is failed itself.",
     [](stream_run& r, const toml::node& n, const key& k) { r.retries = whole<int>(n, k, 0, 64); }},
    {"stream.rate", "\"max\" or a number of frames a second from 0.001 to 1e9", "\"max\"",
     "\"max\": the next frame is pushed as soon as it is taken, and its latency begins there. A number: "
     "frames are due "
     "at fixed times, and their latency begins when they are due, also where they are pushed late.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.rate = n.is_string() && word(n, k) == "max" ? 0 : number(n, k, 1e-3, 1e9);
     }},
    {"stream.frames", "an integer from 1 to 10^12", "1000", "After which the run ends.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.frames = whole<std::uint64_t>(n, k, 1, most_count);
     }},
    {"stream.seconds", "a number from 0 to 1e9", "0",
     "After which the run ends, if it is not 0, whatever stream.frames says.",
     [](stream_run& r, const toml::node& n, const key& k) { r.seconds = number(n, k, 0, 1e9); }},
    {"stream.warmup", "an integer from 0 to 10^12", "100", "Frames before those that are timed.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.warmup = whole<std::uint64_t>(n, k, 0, most_count);
     }},
    {"stream.deadline_us", "a number from 0 to 1e9", "0",
     "Later deliveries are counted as missed; 0: none are.",
     [](stream_run& r, const toml::node& n, const key& k) { r.deadline_us = number(n, k, 0, 1e9); }},
    {"stream.timeout_ms", "a number from 0 to 1e9", "0",
     "CUDA: a device under which a frame is longer than this counts as failed; 0: it is waited for.",
     [](stream_run& r, const toml::node& n, const key& k) { r.timeout_ms = number(n, k, 0, 1e9); }},
    {"stream.source", "\"generated\" or the name of an HDF5 file", "\"generated\"",
     "Where frames come from. A file has the chain's arrays, one frame after the other (docs/stream.md).",
     [](stream_run& r, const toml::node& n, const key& k) { r.source = word(n, k); }},
    {"stream.snr_db", "a number from -100 to 100", "20",
     "Of generated frames: 10 log10(streams Es/N0), the mean SNR of a receive antenna, with users in the "
     "place of "
     "streams for uplink and 2 for stbc; precode: 10 log10(users/N0), of all that is sent "
     "(docs/conventions.md).",
     [](stream_run& r, const toml::node& n, const key& k) { r.snr_db = number(n, k, -100, 100); }},
    {"stream.seed", "an integer from 0 on", "1", "Of generated frames.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.seed = whole<std::uint64_t>(n, k, 0, INT64_MAX);
     }},
    {"stream.check_every", "an integer from 0 to 10^12", "100",
     "Every so many frames a result is compared, byte for byte, with what the same frame gave the first "
     "time; 0: none "
     "is. Not with frames of several sizes.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.check_every = whole<std::uint64_t>(n, k, 0, most_count);
     }},
    {"stream.copies_every", "0, or an integer from 2 to 10^12", "0",
     "CUDA, with a rate: every so many-th turn is no frame's; its inputs are copied to the first device and "
     "nothing else, and these times are counted by themselves: what the machine does to any frame. 0: none "
     "is.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.copies_every = whole<std::uint64_t>(n, k, 0, most_count);
     }},
    {"stream.trace", "an integer from 0 to 100000", "0",
     "The times of all frames at each place that they pass are counted, and so many of the slowest frames "
     "are "
     "told one by one, with the share of each place in what they have in excess of the others. 0: none of "
     "this.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.trace = whole<std::size_t>(n, k, 0, 100'000);
     }},
    {"stream.stages", "true or false", "true",
     "Before the run time the copies and stages of a frame one by one.",
     [](stream_run& r, const toml::node& n, const key& k) { r.stages = yes_or_no(n, k); }},
    {"stream.repetitions", "an integer from 1 to 1000000", "30", "How often each of them is timed.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.repetitions = whole<int>(n, k, 1, 1'000'000);
     }},

    {"detector.type", "a detector of `warpband detect --help`", "\"mmse\"", "Of detect and decode.",
     [](stream_run& r, const toml::node& n, const key& k) {
       const auto type = wb::detector_named(word(n, k));
       if (!type) refuse(n, k);
       r.detector.type = *type;
     }},
    {"detector.streams", "an integer from 1 to 8", "2", "Transmit antennas.",
     [](stream_run& r, const toml::node& n, const key& k) { r.detector.streams = whole<int>(n, k, 1, 8); }},
    {"detector.rx_antennas", "an integer from detector.streams to 16", "2", "Receive antennas.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.detector.rx_antennas = whole<int>(n, k, 1, 16);
     }},
    {"detector.qam", "4, 16, 64 or 256", "4", "Points of the constellation.",
     [](stream_run& r, const toml::node& n, const key& k) { r.detector.qam = whole<int>(n, k, 4, 256); }},
    {"detector.ways", "an integer from 1 to detector.streams; 0: all", "0", "nway: passes.",
     [](stream_run& r, const toml::node& n, const key& k) { r.detector.ways = whole<int>(n, k, 0, 8); }},
    {"detector.survivors", "an integer from 1 to 4096", "64", "kbest: K.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.detector.survivors = whole<int>(n, k, 1, 4096);
     }},

    {"massive.antennas", "an integer from massive.users to 512", "128", "Of uplink and precode: B.",
     [](stream_run& r, const toml::node& n, const key& k) { r.massive.antennas = whole<int>(n, k, 1, 512); }},
    {"massive.users", "an integer from 1 to 64", "16", "U.",
     [](stream_run& r, const toml::node& n, const key& k) { r.massive.users = whole<int>(n, k, 1, 64); }},
    {"massive.qam", "4, 16, 64 or 256", "16", "Points of the constellation.",
     [](stream_run& r, const toml::node& n, const key& k) { r.massive.qam = whole<int>(n, k, 4, 256); }},
    {"massive.solver", "\"cholesky\", \"cg\", \"jacobi-cg\", \"zf\" or \"mf\"", "\"cholesky\"",
     "cg and jacobi-cg: with the approximate SINR.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.massive.mode =
           static_cast<wb::massive_mode>(among(n, k, {"cholesky", "cg", "jacobi-cg", "zf", "mf"}));
       r.massive.sinr =
           wb::is_iterative(r.massive.mode) ? wb::massive_sinr::approximate : wb::massive_sinr::exact;
     }},
    {"massive.iterations", "an integer from 0 to 64", "0", "Of cg and jacobi-cg.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.massive.iterations = whole<int>(n, k, 0, 64);
     }},

    {"massive.samples", "\"complex64\" or \"complex32\"", "\"complex64\"",
     "uplink: H and y as pairs of floats, or of halves, which cross the bus in half the time; all is "
     "computed in "
     "float32.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.half = among(n, k, {"complex64", "complex32"}) == 1;
     }},
    {"massive.llr", "\"float32\" or \"int8\"", "\"float32\"",
     "uplink: LLRs as floats, or in 8 bits: the nearest of +-127 steps.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.llr_int8 = among(n, k, {"float32", "int8"}) == 1;
     }},
    {"massive.llr_steps", "a number from 0.25 to 64", "8", "int8: steps in an LLR of 1.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.massive.llr_steps = static_cast<float>(number(n, k, 0.25, 64));
     }},
    {"massive.sums", "\"float32\" or \"split-f16\"", "\"float32\"",
     "uplink, sums over antennas: split-f16 makes those of 16 and 32 users on a GPU's tensor cores "
     "(uplink.hpp says which); results then depend on the device in their last bits.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.massive.sums = among(n, k, {"float32", "split-f16"}) == 1 ? wb::massive_sums::split_f16
                                                                   : wb::massive_sums::float32;
     }},

    {"stbc.code", "\"alamouti\", \"silver\" or \"golden\"", "\"silver\"", "Of stbc.",
     [](stream_run& r, const toml::node& n, const key& k) {
       const std::vector<std::string> codes{"alamouti", "silver", "golden"};
       const std::size_t which = among(n, k, codes);
       r.space_time_code = codes[which];
       r.space_time.code = which == 0   ? wb::space_time_code::alamouti()
                           : which == 1 ? wb::space_time_code::silver()
                                        : wb::space_time_code::golden();
     }},
    {"stbc.qam", "4, 16 or 64", "4", "Points of the constellation.",
     [](stream_run& r, const toml::node& n, const key& k) { r.space_time.qam = whole<int>(n, k, 4, 64); }},
    {"stbc.rx_antennas", "an integer from 1 to 4", "2", "Receive antennas.",
     [](stream_run& r, const toml::node& n, const key& k) {
       r.space_time.rx_antennas = whole<int>(n, k, 1, 4);
     }},

    {"code.type", "\"lte-turbo\", \"wimax-ldpc\", \"wifi-ldpc\" or \"conv\"", "\"lte-turbo\"",
     "Of decode; with it the keys of [code] and [decoder] that docs/scenario.md explains.",
     [](stream_run& r, const toml::node& n, const key& k) {
       constexpr wb::code_type types[] = {wb::code_type::lte_turbo, wb::code_type::wimax_ldpc,
                                          wb::code_type::wifi_ldpc, wb::code_type::conv};
       r.code.type = types[among(n, k, {"lte-turbo", "wimax-ldpc", "wifi-ldpc", "conv"})];
     }},
};

/// A setting of the code, by its name in code_settings.hpp; false where there is none.
bool set_code(stream_run& r, const std::string& full, const toml::node& n) {
  const std::size_t dot = full.find('.');
  const std::string group = full.substr(0, dot), name = full.substr(dot + 1);
  const auto texts = wb::code_setting_texts();
  const auto text = std::find_if(texts.begin(), texts.end(), [&](const wb::code_setting_text& s) {
    return s.group == group && s.name == name && s.of_links;
  });
  if (text == texts.end()) return false;
  const key k{full.c_str(), text->allowed.c_str(), "", "", nullptr};
  const auto value = wb::toml_value(n);
  if (!value) refuse(n, k);
  try {
    wb::check_for_some_type(name, *value);
  } catch (const wb::argument_error& e) {
    throw wb::argument_error(full, e.value(), e.allowed());
  }
  r.code.values[name] = *value;
  return true;
}

/// Keys that only some chains have, by how they begin.
constexpr struct {
  const char *key, *chains;
} chains_with[] = {{"detector.", "detect decode"}, {"code.", "decode"},       {"decoder.", "decode"},
                   {"massive.samples", "uplink"},  {"massive.llr", "uplink"}, {"massive.sums", "uplink"},
                   {"massive.", "uplink precode"}, {"stbc.", "stbc"},         {"stream.splits", "uplink"}};
/// The chains that have a key; "" for one that all have.
std::string chains_of(const std::string& key) {
  for (const auto& [begin, chains] : chains_with)
    if (key.starts_with(begin)) return chains;
  return "";
}
bool has(const std::string& chains, const std::string& chain) {
  return (" " + chains + " ").find(" " + chain + " ") != std::string::npos;
}
/// Refuses keys of a table that mean nothing for the chain of any of these runs.
void check_meaning(const toml::table& table, std::span<const stream_run> runs,
                   const std::string& prefix = "") {
  for (const auto& [name, node] : table) {
    const std::string full = prefix + std::string(name.str());
    if (const toml::table* inner = node.as_table(); inner != nullptr && prefix.empty()) {
      check_meaning(*inner, runs, full + ".");
      continue;
    }
    const std::string chains = chains_of(full);
    if (chains.empty() ||
        std::any_of(runs.begin(), runs.end(), [&](const stream_run& r) { return has(chains, r.chain); }))
      continue;
    throw wb::error(fmt::format(
        "{} has no meaning with {}: it is of {}", full,
        runs.size() > 1 ? "the chain of any run" : fmt::format("stream.chain = \"{}\"", runs.front().chain),
        chains.find(' ') == std::string::npos
            ? chains
            : chains.substr(0, chains.find(' ')) + " and" + chains.substr(chains.find(' '))));
  }
}

void apply(stream_run& r, const toml::table& table, const std::string& prefix) {
  for (const auto& [name, node] : table) {
    const std::string full = prefix + std::string(name.str());
    if (const toml::table* inner = node.as_table(); inner != nullptr && prefix.empty()) {
      apply(r, *inner, full + ".");
      continue;
    }
    if (prefix.empty() && (full == "title" || full == "run")) continue;
    const auto known =
        std::find_if(std::begin(keys), std::end(keys), [&](const key& k) { return full == k.name; });
    if (known != std::end(keys)) {
      known->set(r, node, *known);
      continue;
    }
    if ((prefix == "code." || prefix == "decoder.") && set_code(r, full, node)) continue;
    std::vector<std::string> names;
    for (const key& k : keys) names.push_back(k.name);
    const std::string near = wb::nearest_name(full, names);
    throw wb::error(
        "unknown key " + full + ": " +
        (near.empty() ? "warpband stream --help-scenario lists all" : "did you mean " + near + "?"));
  }
}

void check(const stream_run& r) {
  if (r.items == 0) throw wb::error("stream.items is missing: an integer from 1 to 2^31");
  if (r.least_items > r.items)
    throw wb::argument_error("stream.least_items", std::to_string(r.least_items),
                             "0 to " + std::to_string(r.items));
  if (r.copies_every == 1) throw wb::argument_error("stream.copies_every", "1", "0, or 2 or more");
  if (r.copies_every != 0 && r.rate == 0)
    throw wb::argument_error("stream.copies_every", std::to_string(r.copies_every),
                             "0 where rate is \"max\"");
  wb::check_items(*work_of(r).chain, "stream.items", r.items);
}

}  // namespace

stream_scenario load_stream_scenario(const std::string& path) {
  stream_scenario s;
  std::ifstream file(path);
  if (!file) throw wb::file_error(path, "cannot read the scenario");
  s.text.assign(std::istreambuf_iterator<char>(file), {});
  toml::table table;
  try {
    table = toml::parse(s.text);
  } catch (const toml::parse_error& e) {
    throw wb::file_error(path, fmt::format("line {}: {}", e.source().begin.line, e.description()));
  }
  try {
    if (const toml::node* title = table.get("title")) {
      if (!title->is_string()) throw wb::argument_error("title", text_of(*title), "text");
      s.title = title->as_string()->get();
    }
    stream_run base;
    apply(base, table, "");
    if (const toml::node* runs = table.get("run")) {
      if (!runs->is_array_of_tables()) throw wb::argument_error("run", text_of(*runs), "[[run]] tables");
      for (const toml::node& one : *runs->as_array()) {
        s.runs.push_back(base);
        s.runs.back().label = fmt::format("run {}", s.runs.size());
        apply(s.runs.back(), *one.as_table(), "");
        check_meaning(*one.as_table(), std::span(&s.runs.back(), 1));
      }
    } else {
      s.runs.push_back(base);
    }
    check_meaning(table, s.runs);
    for (const stream_run& r : s.runs) check(r);
  } catch (const wb::error& e) {
    throw wb::file_error(path, e.what());
  }
  return s;
}

std::string stream_scenario_help() {
  std::string text =
      "Keys of a scenario. Those of [[run]] tables stand in the place of the file's for one run each; "
      "without such tables there is one run. In words neither case nor - and _ matter.\n\n| key | allowed | "
      "default | meaning "
      "|\n|---|---|---|---|\n"
      "| `title` | text | | Of the whole. |\n";
  for (const key& k : keys)
    text += fmt::format("| `{}` | {} | {} | {} |\n", k.name, k.allowed,
                        *k.initial == '\0' ? "" : "`" + std::string(k.initial) + "`", k.text);
  return text +
         "| `code.*`, `decoder.*` | | | Of the code and its decoder, as in `warpband sim` "
         "(docs/scenario.md). |\n";
}

stream_work work_of(const stream_run& r) {
  if (r.chain == "detect") return {wb::make_detect_chain({r.detector, r.per_channel}), {}};
  if (r.chain == "uplink")
    return {wb::make_uplink_chain({r.massive, static_cast<int>(r.per_channel), r.splits, r.half, r.llr_int8}),
            {}};
  if (r.chain == "stbc") return {wb::make_stbc_chain({r.space_time, r.per_channel}), {}};
  if (r.chain == "precode") {
    wb::downlink_config c;
    c.antennas = r.massive.antennas, c.users = r.massive.users;
    c.mode = r.massive.mode, c.iterations = r.massive.iterations;
    return {wb::make_precode_chain({c, static_cast<int>(r.per_channel)}), {}};
  }
  const std::shared_ptr<const wb::codec> code = wb::make_codec(wb::config_of(r.code));
  wb::block_decoder decoder{code->n(), code->k(),
                            [code](wb::executor& e, wb::view<const float> llr, wb::view<std::uint8_t> bits,
                                   wb::view<std::int32_t> iterations) {
                              code->decode(
                                  e, llr, {.bits = bits, .soft = {}, .iterations = iterations, .status = {}});
                            }};
  return {wb::make_decode_chain({r.detector, r.per_channel}, std::move(decoder)), code};
}

int points_of(const stream_run& r) {
  return r.chain == "uplink" || r.chain == "precode" ? r.massive.qam
         : r.chain == "stbc"                         ? r.space_time.qam
                                                     : r.detector.qam;
}
