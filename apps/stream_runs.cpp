#include "stream_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <warpband/code/nr_transport.hpp>
#include <warpband/core/error.hpp>
#include <warpband/core/numbers_or_file.hpp>
#include <warpband/core/text_file.hpp>
#include <warpband/link/config/link_schema.hpp>
#include <warpband/link/link_settings.hpp>

namespace {

using wb::config::given, wb::config::key_tree;

/// The run of settled keys. Files of factors are found from the scenario's folder on.
stream_run run_of(const wb::config::curve_tree& tree, const std::string& folder) {
  const key_tree& keys = tree.keys;
  stream_run r;
  wb::config::apply(keys, "", stream_settings(), r);
  if (r.chain == "pusch") r.code_name = "nr-ulsch";  // its blocks follow from the slots
  if (r.chain == "wimax-frame" && !keys.has("code.type")) r.code_name = "none";
  for (const auto& s : wb::codes().get(r.code_name).settings)
    if (const given* g = keys.find(s.group + "." + s.name))
      r.code_values[s.name] = wb::from_folder(s.kind, g->value, folder);
  r.loops = keys.has_table("receiver");
  if (tree.listed || keys.has("label") || !tree.parameters.empty()) r.label = wb::config::label_of(tree);
  if (r.chain == "stbc" && wb::name_of(r.space_time.code) == std::string("pair") && !keys.has("stbc.v"))
    wb::config::fail(keys.where("stbc.type").line,
                     "stbc.v is missing with stbc.type = \"pair\"" + tree.suffix);
  r.detector = wb::config::detector_of(keys);
  r.detector.streams = r.sent_streams;
  r.detector.rx_antennas = r.space_time.rx_antennas = r.wimax.rx_antennas = r.rx_antennas;
  if (r.chain == "wimax-frame") r.wimax.code = wb::code_config(r.code_name, r.code_values);
  if (r.qam != 0) r.detector.qam = r.massive.qam = r.space_time.qam = r.qam;
  if (wb::is_iterative(r.massive.solver)) r.massive.sinr = wb::massive_sinr::approximate;  // its only one
  return r;
}

/// The key of an argument of the chain's classes.
std::string key_of(const std::string& argument, const stream_run& r) {
  for (const std::string group :
       {"mimo.", "massive.", "nr.", "wimax.", "detector.", "stbc.", "code.", "decoder."})
    if (const wb::config::key_entry* e = stream_schema().find(group + argument)) {
      const auto& conditions = e->versions.front().conditions;
      if (conditions.empty() || wb::find_word(conditions.front().words, r.chain)) return group + argument;
    }
  return argument;
}

void check(const stream_run& r) {
  if (r.items == 0) throw wb::error("stream.items is missing: an integer from 1 to 2^31");
  if (r.least_items > r.items)
    throw wb::argument_error("stream.least_items", std::to_string(r.least_items),
                             "0 to " + std::to_string(r.items));
  if (r.copies_every == 1) throw wb::argument_error("stream.copies_every", "1", "0, or 2 or more");
  if (r.copies_every != 0 && !r.rate)
    throw wb::argument_error("stream.copies_every", std::to_string(r.copies_every),
                             "0 where rate is \"max\"");
  wb::check_items(*work_of(r).chain, "stream.items", r.items);
}

/// A run whose settings go together.
stream_run checked_run(const wb::config::curve_tree& tree, const std::string& folder) {
  stream_run r = run_of(tree, folder);
  try {
    check(r);
  } catch (const wb::argument_error& e) {
    const std::string key = key_of(e.argument(), r);
    wb::config::fail(tree.keys.where(key).line,
                     wb::argument_error(key, e.value(), e.allowed()).what() + tree.suffix);
  }
  return r;
}

}  // namespace

stream_scenario load_stream_scenario(const std::string& path) {
  return parse_stream_scenario(wb::read_file(path, 1, "not a scenario"), path);
}

stream_scenario parse_stream_scenario(std::string text, const std::string& path) {
  stream_scenario s;
  s.text = std::move(text);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  wb::config::scenario_text read = wb::config::read_scenario(
      stream_schema(), s.text, path,
      [&](wb::config::curve_tree& tree) { s.runs.push_back(checked_run(tree, folder)); });
  s.title = std::move(read.title);
  s.hints = std::move(read.hints);
  return s;
}

namespace {

/// Detector and decoder in a loop.
stream_work loop_of(const stream_run& r, std::shared_ptr<const wb::codec> code) {
  try {
    const auto receiver = std::make_shared<const wb::iterative_receiver>(
        r.detector, wb::code_config(r.code_name, r.code_values), r.receiver);
    return {wb::make_receive_chain({r.detector, r.per_channel}, *receiver), std::move(code), receiver};
  } catch (const wb::argument_error& e) {
    const bool of_receiver = wb::find_setting(wb::receiver_settings(), e.argument()) != nullptr;
    if (of_receiver) throw wb::argument_error("receiver." + e.argument(), e.value(), e.allowed());
    if (e.argument() != "detector" && e.argument() != "decoder") throw;
    throw wb::argument_error("receiver.outer", std::to_string(r.receiver.outer),
                             "1 with a " + e.argument() + " like this, which is " + e.value());
  }
}

}  // namespace

wb::nr_link_config slots_of(const stream_run& r) {
  wb::nr_link_config slots = r.nr;
  slots.detector = r.detector;
  return wb::completed(slots);
}

double noise_of_slots(const wb::nr_link_config& slots, double snr_db) {
  return wb::sent_power(slots) * std::pow(10, -snr_db / 10);
}

namespace {

/// Slots, with [receiver] in a loop.
stream_work slots_work(const stream_run& r) {
  const wb::nr_link_config slots = slots_of(r);
  wb::pusch_chain_config chain{
      slots.channel,
      slots.mcs_table,
      slots.mcs,
      wb::estimator_of(slots, r.fading.profile, r.fading.doppler_hz, noise_of_slots(slots, r.snr_db)),
      slots.detector,
      wb::code_config(r.code_name, r.code_values).get<wb::nr_transport_settings>().decoder};
  if (r.loops) {
    try {
      wb::check_transport_loop(r.receiver, wb::detector_of(slots));
    } catch (const wb::argument_error& e) {
      throw wb::argument_error("receiver." + e.argument(), e.value(), e.allowed());
    }
    chain.receiver = r.receiver;
  }
  return {wb::make_pusch_chain(chain)};
}

}  // namespace

stream_work work_of(const stream_run& r) {
  if (r.chain == "detect") return {wb::make_detect_chain({r.detector, r.per_channel})};
  if (r.chain == "uplink")
    return {wb::make_uplink_chain({r.massive, static_cast<int>(r.per_channel), r.splits, r.frames_as.half,
                                   r.frames_as.llr_int8, r.frames_as.clusters, r.frames_as.cluster_method})};
  if (r.chain == "stbc") return {wb::make_stbc_chain({r.space_time, r.per_channel})};
  if (r.chain == "pusch") return slots_work(r);
  if (r.chain == "wimax-frame") return {wb::make_wimax_chain(r.wimax)};
  if (r.chain == "precode") {
    wb::downlink_config c;
    c.antennas = r.massive.antennas, c.users = r.massive.users;
    c.solver = r.massive.solver, c.iterations = r.massive.iterations, c.residual = r.massive.residual;
    return {wb::make_precode_chain({c, static_cast<int>(r.per_channel), r.frames_as.clusters,
                                    r.frames_as.cluster_method, r.frames_as.half})};
  }
  const std::shared_ptr<const wb::codec> code = wb::make_codec(wb::code_config(r.code_name, r.code_values));
  if (r.loops) return loop_of(r, code);
  return {wb::make_decode_chain({r.detector, r.per_channel}, code), code};
}

int points_of(const stream_run& r) {
  return r.chain == "uplink" || r.chain == "precode" ? r.massive.qam
         : r.chain == "stbc"                         ? r.space_time.qam
         : r.chain == "pusch"                        ? wb::qam_of(slots_of(r))
                                                     : r.detector.qam;
}
