#pragma once
// Scenarios of `warpband stream`, in TOML: what frames are, what is done with them, where and how fast.
// docs/stream.md lists the keys; `warpband stream --help-scenario` prints that list.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <warpband/code/code_texts.hpp>
#include <warpband/link/config/read.hpp>
#include <warpband/link/nr_link.hpp>
#include <warpband/receive/chains.hpp>
#include <warpband/receive/pusch.hpp>
#include <warpband/receive/transport_loop.hpp>
#include <warpband/receive/wimax/chain.hpp>
#include <warpband/stream/pipeline.hpp>

/// One run of a scenario. Of the pipeline's settings most_items is `items`, and batch may be 0: automatic.
struct stream_run : wb::pipeline_config {
  std::string label;
  // [stream]
  std::string chain = "detect";
  std::size_t items = 0;        // of a frame
  std::size_t least_items = 0;  // 0: all frames have `items`; else sizes are drawn between the two
  int splits = 1, repetitions = 30;
  std::optional<double> rate = {};  // frames a second; absent: as fast as they are taken
  std::uint64_t frames = 1000, warmup = 100, seed = 1, check_every = 100, copies_every = 0;
  std::optional<double> seconds = {};
  double snr_db = 20;
  std::string source = "generated";
  bool stages = true;
  std::size_t per_channel = 1;  // uses, vectors or codewords that share an estimate
  // [mimo], [modem], [detector], [massive], [stbc], [nr], [wimax], [code], [decoder], [receiver]. Antennas
  // and points of the first two are those of the configurations too.
  int sent_streams = 2, rx_antennas = 2, qam = 0;
  wb::detector_config detector;
  wb::uplink_config massive;
  wb::uplink_chain_config frames_as;  // its samples, LLRs and clusters
  wb::stbc_config space_time;
  wb::nr_link_config nr;
  wb::wimax_frame_config wimax;  // its code is that of [code]
  wb::estimator_config fading;   // Doppler frequency and delay profile that lmmse's filters know
  std::string code_name = "lte-turbo";
  wb::setting_values code_values;
  wb::receiver_config receiver;
  bool loops = false;  // a key of [receiver] is there
};

struct stream_scenario {
  std::string title, text;
  std::vector<stream_run> runs;    // at least one
  std::vector<std::string> hints;  // of keys that have other names today
};

/// The keys, as config/schema.hpp has them, and all but those of codes as settings of a run.
const wb::config::schema& stream_schema();
const std::vector<wb::setting_of<stream_run>>& stream_settings();
/// Throws wb::file_error with the line, the key, its value and what is allowed.
stream_scenario load_stream_scenario(const std::string& path);
/// The same of a file's text; `path` names it in messages.
stream_scenario parse_stream_scenario(std::string text, const std::string& path);
/// The keys, in Markdown.
std::string stream_scenario_help();

/// The chain of a run, its codec where it decodes, and with [receiver] the loop. Throws wb::argument_error.
struct stream_work {
  std::shared_ptr<const wb::frame_receiver> chain;
  std::shared_ptr<const wb::codec> code = {};
  std::shared_ptr<const wb::iterative_receiver> receiver = {};
};
stream_work work_of(const stream_run& run);
/// Points of the constellation that the users send.
int points_of(const stream_run& run);
/// The completed link of a run whose chain is pusch, and N0 at its SNR. Throws wb::argument_error.
wb::nr_link_config slots_of(const stream_run& run);
double noise_of_slots(const wb::nr_link_config& slots, double snr_db);
