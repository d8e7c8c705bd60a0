// The keys of `warpband stream`'s scenarios: which settings they are, and of which chains.
#include <fmt/format.h>

#include <warpband/core/error.hpp>
#include <warpband/link/config/link_schema.hpp>
#include <warpband/link/link_settings.hpp>
#include <warpband/massive/cluster/cluster_settings.hpp>

#include "stream_runs.hpp"

namespace {

using run = stream_run;
using run_setting = wb::setting_of<run>;
using wb::integer, wb::number, wb::words, wb::boolean, wb::text, wb::texts;

constexpr std::int64_t most_count = 1'000'000'000'000, most_items = std::int64_t{1} << 31;

/// A setting of the pipeline, with what the command says of it.
run_setting of_pipeline(const std::string& name, const std::string& note = "") {
  run_setting s = *wb::find_setting(
      wb::within<run>([](run& r) -> wb::pipeline_config& { return r; }, wb::pipeline_settings()), name);
  if (!note.empty()) s.text += " " + note;
  return s;
}
run_setting graphs_setting() {
  run_setting s = of_pipeline("graphs");
  s.text = "CUDA: frames of stream.items are started as recorded graphs.";
  return s;
}

std::vector<run_setting> frame_settings() {
  return {
      words("chain", &run::chain,
            {{"detect", "detect"},
             {"decode", "decode"},
             {"uplink", "uplink"},
             {"precode", "precode"},
             {"stbc", "stbc"},
             {"pusch", "pusch"},
             {"wimax-frame", "wimax-frame"}},
            "What is done with a frame: soft MIMO detection; that and decoding; detection and precoding of "
            "massive MIMO; space-time decoding; slots of 5G NR, from grid to transport block. wimax-frame: "
            "frames of WiMAX, from grid to the bits of bursts."),
      integer("items", &run::items, 1, most_items,
              "Items of a frame: uses of the channel, vectors, codewords of stbc, slots of pusch, or frames "
              "of wimax-frame. Needed.",
              "an integer from 1 to 2^31")
          .without_default(),
      integer("least_items", &run::least_items, 0, most_items,
              "Frames have sizes between this and stream.items, drawn for each; 0: all have stream.items.",
              "an integer from 0 to stream.items"),
      integer(
          "per_channel", &run::per_channel, 1, 1 << 20,
          "Items that share a channel estimate, which is sent once for them: the symbols of a subcarrier, "
          "or of 12 subcarriers. A frame of uplink or precode has a multiple of it.",
          "an integer from 1 to 2^20"),
      of_pipeline("devices", "`--device` overrides it."),
      of_pipeline("streams"),
      of_pipeline("threads", "`--threads` overrides it."),
      integer("batch", static_cast<int run::*>(&run::batch), 0, 64,
              "CUDA, without parts: up to so many frames that wait one behind the other are copied as one, "
              "for more throughput of small frames. 0: as many as make up 16 MB."),
      of_pipeline("parts"),
      integer("splits", &run::splits, 1, 1 << 20,
              "Vectors come in so many splits, each with vectors of every channel estimate, as OFDM "
              "symbols come from a radio; parts are then splits.",
              "a divisor of stream.per_channel"),
      graphs_setting()};
}

std::vector<run_setting> queue_settings() {
  return {
      of_pipeline("queue"),
      of_pipeline("overflow"),
      of_pipeline("waiting"),
      of_pipeline("retries"),
      number("rate", &run::rate, 1e-3, 1e9,
             "\"max\": the next frame is pushed as soon as it is taken, and its latency begins there. "
             "A number: frames are due at fixed times, and their latency begins when they are due, "
             "also where they are pushed late.",
             false, "\"max\" or a number of frames a second from 0.001 to 1e9")
          .absent_as("max"),
      integer("frames", &run::frames, 1, most_count, "After which the run ends.",
              "an integer from 1 to 10^12"),
      number("seconds", &run::seconds, 0, 1e9,
             "After which the run ends, whatever stream.frames says. Absent: stream.frames counts.", true),
      integer("warmup", &run::warmup, 0, most_count, "Frames before those that are timed.",
              "an integer from 0 to 10^12"),
      of_pipeline("deadline_us"),
      of_pipeline("timeout_ms")};
}

std::vector<run_setting> measure_settings() {
  return {
      text("source", &run::source,
           "Where frames come from. A file has the chain's arrays, one frame after the other "
           "(docs/stream.md).",
           "\"generated\" or the name of an HDF5 file"),
      number("snr_db", &run::snr_db, -100, 100,
             "SNR of generated frames: 10 log10(streams Es/N0), the mean SNR of a receive antenna. In the "
             "place of streams uplink has users, stbc and wimax-frame transmit antennas, and pusch layers. "
             "precode: 10 log10(1/N0), as a vector that is sent has energy 1 (docs/conventions.md)."),
      integer("seed", &run::seed, 0, INT64_MAX, "Seed of generated frames.", "an integer from 0 on"),
      integer("check_every", &run::check_every, 0, most_count,
              "Every so many frames a result is compared, byte for byte, with what the same frame gave the "
              "first time; 0: none is. Not with frames of several sizes.",
              "an integer from 0 to 10^12"),
      integer("copies_every", &run::copies_every, 0, most_count,
              "CUDA, with a rate: every so many-th turn is no frame's; its inputs are copied to the first "
              "device and nothing else, and these times are counted by themselves: what the machine does to "
              "any frame. 0: none is.",
              "0, or an integer from 2 to 10^12"),
      of_pipeline("trace"),
      boolean("stages", &run::stages, "Before the run time the copies and stages of a frame one by one."),
      integer("repetitions", &run::repetitions, 1, 1'000'000, "How often each of them is timed.")};
}

/// Codes of the chain "decode". The chain "wimax-frame" has them and "none".
const std::vector<std::string>& codes_of_streams() {
  static const std::vector<std::string> names{"lte-turbo", "wimax-ldpc", "wifi-ldpc", "conv", "ctc"};
  return names;
}
run_setting code_setting(bool or_none) {
  std::vector<std::string> names = codes_of_streams();
  if (or_none) names.insert(names.begin(), "none");
  return {"type",
          "word",
          wb::among(names),
          std::string(or_none ? "The code of every burst. " : "") +
              "Its keys of [code] and [decoder] are those of docs/scenario.md.",
          names,
          [=](run& r, const wb::setting_value& v) {
            r.code_name = names[wb::settings_detail::word("type", v, names, wb::among(names))];
          },
          [](const run& r) -> wb::setting_value { return r.code_name; }};
}

std::vector<run_setting> cluster_settings() {
  using frames = wb::uplink_chain_config;
  return wb::within<run>(
      [](run& r) -> auto& { return r.frames_as; },
      std::vector{wb::clusters_setting<frames>(), wb::cluster_method_setting(&frames::cluster_method)});
}

/// Those of `warpband sim`, but for csi = "perfect", which no receiver has. `sim` asks its channel for
/// Doppler frequency and delays; here they are keys.
std::vector<run_setting> slot_settings() {
  using c = wb::nr_link_config;
  std::vector<run_setting> list =
      wb::within<run>([](run& r) -> auto& { return r.nr; }, wb::nr_link_settings());
  const auto in_place = [&](std::vector<run_setting> settings) {
    for (run_setting& s : settings)
      for (run_setting& other : list)
        if (other.name == s.name) other = s;
  };
  in_place(wb::within<run>(
      [](run& r) -> auto& { return r.nr.channel; },
      std::vector{words("channel", &wb::nr_channel_config::direction, {{"pusch", wb::nr_direction::uplink}},
                        "The channel that slots carry, as `warpband sim` names it.")}));
  in_place(wb::within<run>(
      [](run& r) -> auto& { return r.nr; },
      std::vector{
          words("csi", &c::csi, {{"ls", wb::csi_type::ls}, {"lmmse", wb::csi_type::lmmse}},
                "How the channel is estimated from DMRS: by least squares with linear interpolation, "
                "or by Wiener filters for the channel of nr.doppler_hz, nr.delays_ns and nr.powers at "
                "the N0 of stream.snr_db.")}));
  for (run_setting& s : wb::within<run>([](run& r) -> auto& { return r.fading; }, wb::estimator_settings()))
    if (s.name == "doppler_hz" || s.name == "delays_ns" || s.name == "powers") {
      if (s.name != "doppler_hz") s.conditions = {{"csi", {"lmmse"}}};
      list.push_back(std::move(s));
    }
  return list;
}

/// The chains that have a key; empty for one that all have.
std::vector<std::string> chains_of(const std::string& key) {
  static const std::vector<std::pair<std::string, std::vector<std::string>>> begins{
      {"mimo.streams", {"detect", "decode"}},
      {"mimo.", {"detect", "decode", "stbc", "pusch", "wimax-frame"}},
      {"modem.", {"detect", "decode", "uplink", "precode", "stbc"}},
      {"detector.", {"detect", "decode", "pusch"}},
      {"nr.", {"pusch"}},
      {"wimax.", {"wimax-frame"}},
      {"code.", {"decode", "wimax-frame"}},
      {"decoder.", {"decode", "pusch", "wimax-frame"}},
      {"receiver.interleaver", {"decode"}},  // and its seed
      {"receiver.decoder_state", {"decode"}},
      {"receiver.", {"decode", "pusch"}},
      {"massive.llr", {"uplink"}},
      {"massive.sums", {"uplink"}},
      {"massive.sinr", {"uplink"}},
      {"massive.", {"uplink", "precode"}},
      {"stbc.", {"stbc"}},
      {"stream.per_channel", {"detect", "decode", "uplink", "precode", "stbc"}},
      {"stream.splits", {"uplink"}}};
  for (const auto& [begin, chains] : begins)
    if (key.starts_with(begin)) return chains;
  return {};
}

using conditions = std::vector<wb::setting_condition>;
conditions of_chains(const std::string& key) {
  const std::vector<std::string> chains = chains_of(key);
  conditions of_key;  // not a conditional expression: GCC 12 destroys its other operand if memory runs out
  if (!chains.empty()) of_key.push_back({"stream.chain", chains});
  return of_key;
}

struct keys {
  wb::config::schema schema;
  std::vector<run_setting> settings;  // under their keys
};

/// Adds settings of a group that scenarios have.
void add(keys& k, const std::string& group, const std::vector<run_setting>& settings) {
  for (const run_setting& s : settings) {
    if (!s.of_links) continue;
    const std::string key = group + "." + s.name;
    k.schema.add(group, s, run(), "", of_chains(key));
    run_setting keyed = wb::config::under_key(s, key);
    for (wb::setting_condition& c : keyed.conditions) c.setting = group + "." + c.setting;
    k.settings.push_back(std::move(keyed));
  }
}

/// Those of [code] and [decoder], as `warpband sim` has them. The code of slots follows from them.
void add_codes(keys& k) {
  wb::config::schema& s = k.schema;
  run uncoded;
  uncoded.code_name = "none";
  s.add("code", code_setting(false), run(), "decode", {{"stream.chain", {"decode"}}});
  s.add("code", code_setting(true), uncoded, "wimax-frame", {{"stream.chain", {"wimax-frame"}}});
  k.settings.push_back(wb::config::under_key(code_setting(true), "code.type"));
  for (const std::string group : {"code", "decoder"}) {
    for (const std::string& type : codes_of_streams()) {
      conditions when = of_chains(group + ".");
      when.push_back({"stream.chain", {"decode", "wimax-frame"}});
      when.push_back({"code.type", {type}});
      wb::config::add_code_keys(s, group, wb::codes().get(type), when);
    }
  }
  conditions when = of_chains("decoder.");
  when.push_back({"stream.chain", {"pusch"}});
  wb::config::add_code_keys(s, "decoder", wb::codes().get("nr-ulsch"), when);
}

keys made_keys() {
  struct top {
    std::string title, label;
  };
  keys k;
  k.schema.add("", text("title", &top::title, "Title of the report.", "text").without_default()).where =
      wb::config::scope::base;
  k.schema.add("", text("label", &top::label, "Name of the run in tables; in [[run]].", "text in quotes")
                       .without_default());
  add(k, "stream", frame_settings());
  add(k, "stream", queue_settings());
  add(k, "stream", measure_settings());
  add(k, "mimo",
      {wb::streams_setting(&run::sent_streams, "Transmit antennas."),
       wb::rx_antennas_setting(&run::rx_antennas, "Receive antennas.")});
  add(k, "modem",
      {wb::modulation_setting(&run::qam, 4, 256, "Left out: \"qpsk\", of uplink and precode \"16qam\".")
           .without_default()});
  wb::config::add_detector_keys(k.schema, of_chains("detector."));
  add(k, "massive", wb::within<run>([](run& r) -> auto& { return r.massive; }, wb::uplink_settings()));
  add(k, "massive",
      wb::within<run>([](run& r) -> auto& { return r.frames_as; }, wb::uplink_chain_settings()));
  add(k, "massive", cluster_settings());
  add(k, "stbc", wb::within<run>([](run& r) -> auto& { return r.space_time; }, wb::stbc_settings()));
  add(k, "nr", slot_settings());
  add(k, "wimax", wb::within<run>([](run& r) -> auto& { return r.wimax; }, wb::wimax_frame_settings()));
  add(k, "receiver", wb::within<run>([](run& r) -> auto& { return r.receiver; }, wb::receiver_settings()));
  add_codes(k);
  k.schema.describe();
  k.schema.list = "run";
  k.schema.help = "warpband stream --help-scenario lists all";
  k.schema.chain = "stream.chain";
  return k;
}
const keys& all_keys() {
  static const keys k = made_keys();
  return k;
}

}  // namespace

const wb::config::schema& stream_schema() { return all_keys().schema; }
const std::vector<run_setting>& stream_settings() { return all_keys().settings; }

std::string stream_scenario_help() {
  std::string text =
      "Keys of a scenario. Those of [[run]] tables stand in the place of the file's for one run each; "
      "without such tables there is one run. In words neither case nor - and _ matter.\n\n| key | allowed | "
      "default | meaning "
      "|\n|---|---|---|---|\n";
  for (const wb::config::key_entry& e : stream_schema().entries()) {
    const std::string& key = e.key.name;
    if ((key.starts_with("code.") && key != "code.type") || key.starts_with("decoder.")) continue;
    const std::string chains = fmt::format("{}", fmt::join(chains_of(key), ", "));
    const bool more = !e.kinds().empty() && e.kinds() != chains;
    text += fmt::format("| `{}` | {} | {} | {}{} |\n", key, e.key.allowed,
                        e.key.initial.empty() ? "" : "`" + e.key.initial + "`",
                        chains.empty() ? "" : "Of " + chains + ". ",
                        (more ? "With " + e.kinds() + ": " : "") + e.key.text);
  }
  return text +
         "| `code.*`, `decoder.*` | | | Of the code and its decoder, as in `warpband sim` "
         "(docs/scenario.md). |\n";
}
