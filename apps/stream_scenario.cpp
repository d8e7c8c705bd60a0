#include "stream_scenario.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/core/text_file.hpp>
#include <warpband/link/names.hpp>
#include <warpband/link/toml_value.hpp>

#include "stream_keys.hpp"

namespace {

bool is_among(const std::string& word, const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Whether a chain has a key.
bool is_key_of(const std::string& key, const std::string& chain) {
  const std::vector<std::string> chains = chains_of(key);
  return chains.empty() || is_among(chain, chains);
}

const renamed_key* find_renamed(const std::string& key) {
  for (const renamed_key& r : renamed_keys())
    if (r.before == key) return &r;
  return nullptr;
}

/// The value of a key under its name of today.
wb::setting_value as_renamed(const renamed_key& r, const wb::setting_value& value) {
  if (!r.points) return value;
  const auto* points = std::get_if<std::int64_t>(&value);
  for (const int n : {4, 16, 64, 256})
    if (points != nullptr && *points == n) return std::string(wb::name_of_modulation(n));
  throw wb::argument_error(r.before, wb::as_message(value), "4, 16, 64 or 256");
}

[[noreturn]] void refuse_unknown(const std::string& key) {
  std::vector<std::string> names{"label"};
  for (const auto& s : stream_settings()) names.push_back(s.name);
  const std::string near = wb::nearest_name(key, names);
  throw wb::error(
      "unknown key " + wb::printable(key) + ": " +
      (near.empty() ? "warpband stream --help-scenario lists all" : "did you mean " + near + "?"));
}

/// Throws wb::argument_error where no run can have this value.
void check_value(const std::string& key, const wb::setting_value& value) {
  if (const auto* s = wb::find_setting(stream_settings(), key)) {
    stream_run scratch;
    return s->set(scratch, value);
  }
  for (const wb::code_setting_text& s : stream_code_settings())
    if (key == s.group + "." + s.name) try {
        return wb::check_for_some_type(s.name, value);
      } catch (const wb::argument_error& e) {
        throw wb::argument_error(key, e.value(), e.allowed());
      }
  refuse_unknown(key);
}

[[noreturn]] void refuse_node(const std::string& key, const toml::node& node) {
  const renamed_key* renamed = find_renamed(key);
  if (const auto* s = wb::find_setting(stream_settings(), renamed != nullptr ? renamed->now : key))
    throw wb::argument_error(key, wb::toml_fault(node), s->allowed);
  for (const wb::code_setting_text& c : stream_code_settings())
    if (key == c.group + "." + c.name) throw wb::argument_error(key, wb::toml_fault(node), c.allowed);
  refuse_unknown(key);
}

/// The value of a key, under the key's name of today too.
wb::setting_value value_of(const std::string& key, const toml::node& node) {
  const auto value = wb::toml_value(node);
  if (!value) refuse_node(key, node);
  if (key == "label" && !std::holds_alternative<std::string>(*value))
    throw wb::argument_error(key, wb::as_message(*value), "text in quotes");
  const renamed_key* renamed = find_renamed(key);
  if (renamed == nullptr) {
    if (key != "label") check_value(key, *value);
    return *value;
  }
  const wb::setting_value now = as_renamed(*renamed, *value);
  try {
    check_value(renamed->now, now);
    return now;
  } catch (const wb::argument_error& e) {
    throw wb::argument_error(key, wb::as_message(*value), e.allowed());
  }
}

/// Keys and values of a table.
void read(const toml::table& table, wb::setting_values& said, const std::string& prefix = "") {
  for (const auto& [name, node] : table) {
    const std::string key = prefix + std::string(name.str());
    if (const toml::table* inner = node.as_table(); inner != nullptr && prefix.empty())
      read(*inner, said, key + ".");
    else if (!prefix.empty() || (key != "title" && key != "run"))
      said[key] = value_of(key, node);
  }
}

/// What a table says, in the place of what is said already. Hints at keys that were renamed.
void put(const wb::setting_values& own, wb::setting_values& said, std::vector<std::string>& hints) {
  for (const renamed_key& r : renamed_keys()) {
    const auto before = own.find(r.before);
    if (own.contains(r.now)) said.erase(r.before);
    if (before == own.end()) continue;
    if (own.contains(r.now))
      throw wb::error(fmt::format("{} and {} say the same: expected one of them", r.before, r.now));
    said.erase(r.now);
    const std::string begin = r.before + " is now ";
    if (std::none_of(hints.begin(), hints.end(), [&](const auto& h) { return h.starts_with(begin); }))
      hints.push_back(begin + r.now + " = " + wb::as_message(before->second));
  }
  for (const auto& [key, value] : own) said[key] = value;
}

/// Refuses keys of a table that mean nothing for the chain of any of these runs.
void check_meaning(const wb::setting_values& own, std::span<const stream_run> runs) {
  for (const auto& [key, value] : own) {
    const std::vector<std::string> chains = chains_of(key);
    if (chains.empty() ||
        std::any_of(runs.begin(), runs.end(), [&](const stream_run& r) { return is_among(r.chain, chains); }))
      continue;
    throw wb::error(fmt::format(
        "{} has no meaning with {}: it is of {}{}{}", key,
        runs.size() > 1 ? "the chain of any run" : fmt::format("stream.chain = \"{}\"", runs.front().chain),
        fmt::join(chains.begin(), chains.end() - 1, ", "), chains.size() > 1 ? " and " : "", chains.back()));
  }
}

/// The run of what is said; what has no meaning in it is left aside.
stream_run run_of(wb::setting_values said) {
  stream_run r;
  if (const auto chain = said.find("stream.chain"); chain != said.end())
    wb::find_setting(stream_settings(), "stream.chain")->set(r, chain->second);
  for (const renamed_key& k : renamed_keys())
    if (const auto before = said.find(k.before); before != said.end() && is_among(r.chain, k.chains))
      said[k.now] = before->second;
  for (const auto& s : stream_settings())
    if (const auto given = said.find(s.name);
        given != said.end() && !wb::idle_because(stream_settings(), s, r))
      s.set(r, given->second);
  if (r.chain == "pusch") r.code.type = wb::code_type::nr_ulsch;  // its blocks follow from the slots
  for (const wb::code_setting_text& s : stream_code_settings())
    if (const auto given = said.find(s.group + "." + s.name);
        given != said.end() && is_key_of(given->first, r.chain))
      r.code.values[s.name] = given->second;
  r.loops =
      std::any_of(said.begin(), said.end(), [](const auto& s) { return s.first.starts_with("receiver."); });
  if (const auto label = said.find("label"); label != said.end())
    r.label = std::get<std::string>(label->second);

  if (r.chain == "stbc" && wb::name_of(r.space_time.code) == std::string("pair") && !said.contains("stbc.v"))
    throw wb::error("stbc.v is missing with stbc.type = \"pair\"");
  r.detector.streams = r.sent_streams;
  r.detector.rx_antennas = r.space_time.rx_antennas = r.rx_antennas;
  if (r.qam != 0) r.detector.qam = r.massive.qam = r.space_time.qam = r.qam;
  if (wb::is_iterative(r.massive.mode)) r.massive.sinr = wb::massive_sinr::approximate;  // its only one
  return r;
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
  try {
    wb::check_items(*work_of(r).chain, "stream.items", r.items);
  } catch (const wb::argument_error& e) {
    for (const std::string group : {"mimo.", "massive.", "nr.", "detector."}) {
      const std::string key = group + e.argument();
      if (wb::find_setting(stream_settings(), key) != nullptr && is_key_of(key, r.chain))
        throw wb::argument_error(key, e.value(), e.allowed());
    }
    throw;
  }
}

constexpr std::size_t most_runs = 1000;

void read_runs(const toml::table& table, stream_scenario& s) {
  if (const toml::node* title = table.get("title")) {
    if (!title->is_string() || wb::is_long(*title))
      throw wb::argument_error("title", wb::toml_fault(*title), "text");
    s.title = title->as_string()->get();
  }
  wb::setting_values base, own;
  read(table, own);
  put(own, base, s.hints);
  const toml::node* runs = table.get("run");
  if (runs == nullptr) {
    s.runs.push_back(run_of(base));
  } else {
    if (!runs->is_array_of_tables()) throw wb::argument_error("run", wb::toml_text(*runs), "[[run]] tables");
    if (const std::size_t count = runs->as_array()->size(); count > most_runs)
      throw wb::error(fmt::format("{} [[run]] tables: at most {}", count, most_runs));
    for (const toml::node& one : *runs->as_array()) {
      wb::setting_values of_run, said = base;
      read(*one.as_table(), of_run);
      put(of_run, said, s.hints);
      said.emplace("label", fmt::format("run {}", s.runs.size() + 1));
      s.runs.push_back(run_of(std::move(said)));
      check_meaning(of_run, std::span(&s.runs.back(), 1));
    }
  }
  check_meaning(own, s.runs);
  for (const stream_run& r : s.runs) check(r);
}

}  // namespace

stream_scenario load_stream_scenario(const std::string& path) {
  return parse_stream_scenario(wb::read_file(path, 1, "not a scenario"), path);
}

stream_scenario parse_stream_scenario(std::string text, const std::string& path) {
  stream_scenario s;
  s.text = std::move(text);
  const toml::table table = wb::toml_table(s.text, path);
  try {
    read_runs(table, s);
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
      "| `title` | text | | Of the whole. |\n"
      "| `label` | text | | Name of the run in tables; in [[run]]. |\n";
  for (const auto& s : stream_settings()) {
    const std::string initial = s.initial({});
    const std::vector<std::string> chains = chains_of(s.name);
    text += fmt::format("| `{}` | {} | {} | {}{} |\n", s.name, s.allowed,
                        initial.empty() ? "" : "`" + initial + "`",
                        chains.empty() ? "" : fmt::format("Of {}. ", fmt::join(chains, ", ")), s.text);
  }
  return text +
         "| `code.*`, `decoder.*` | | | Of the code and its decoder, as in `warpband sim` "
         "(docs/scenario.md). |\n";
}

namespace {

/// Detector and decoder in a loop. On a device it only queues: the thread that drives the device waits for no
/// frame, and graphs record the call.
stream_work loop_of(const stream_run& r, std::shared_ptr<const wb::codec> code) {
  std::shared_ptr<const wb::iterative_receiver> receiver;
  try {
    receiver = std::make_shared<wb::iterative_receiver>(r.detector, code->config(), r.receiver);
  } catch (const wb::argument_error& e) {
    const bool own = wb::find_setting(wb::receiver_settings(), e.argument()) != nullptr;
    if (own) throw wb::argument_error("receiver." + e.argument(), e.value(), e.allowed());
    if (e.argument() != "detector" && e.argument() != "decoder") throw;
    throw wb::argument_error("receiver.outer", std::to_string(r.receiver.outer),
                             "1 with a " + e.argument() + " like this, which is " + e.value());
  }
  const auto run = [receiver](wb::executor& e, const wb::detector_input& in, wb::view<std::uint8_t> bits,
                              wb::view<std::int32_t> iterations) {
    const wb::receiver_input received{in.received, in.channel, in.uses_per_channel, in.noise_var, {}};
    const wb::receiver_output decided{.bits = bits, .iterations = iterations};
    e.is_device() ? receiver->queue(e, received, decided) : receiver->run(e, received, decided);
  };
  return {
      wb::make_receive_chain({r.detector, r.per_channel}, {receiver->uses_per_frame(), receiver->k(), run}),
      std::move(code), receiver};
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
  const wb::pusch_chain_config chain{
      slots.channel,
      slots.mcs_table,
      slots.mcs,
      wb::estimator_of(slots, r.fading.profile, r.fading.doppler_hz, noise_of_slots(slots, r.snr_db)),
      slots.detector,
      wb::config_of(r.code).ldpc.decoder};
  if (!r.loops) return {wb::make_pusch_chain(chain)};
  try {
    wb::check_transport_loop(r.receiver, slots.detector.type);
  } catch (const wb::argument_error& e) {
    throw wb::argument_error("receiver." + e.argument(), e.value(), e.allowed());
  }
  return {wb::make_pusch_chain(chain, [receiver = r.receiver](wb::executor& exec, std::size_t count,
                                                              const wb::detector_config& detector,
                                                              const wb::nr_transport_config& transport) {
    const auto loop = std::make_shared<wb::transport_loop>(detector, transport, receiver);
    loop->allocate(exec, count);
    return [loop](wb::executor& e, const wb::detector_input& in, const wb::nr_transport_output& out) {
      loop->receive(e, in, out);
    };
  })};
}

}  // namespace

stream_work work_of(const stream_run& r) {
  if (r.chain == "detect") return {wb::make_detect_chain({r.detector, r.per_channel})};
  if (r.chain == "uplink")
    return {wb::make_uplink_chain({r.massive, static_cast<int>(r.per_channel), r.splits, r.frames_as.half,
                                   r.frames_as.llr_int8, r.frames_as.clusters, r.frames_as.clustering})};
  if (r.chain == "stbc") return {wb::make_stbc_chain({r.space_time, r.per_channel})};
  if (r.chain == "pusch") return slots_work(r);
  if (r.chain == "precode") {
    wb::downlink_config c;
    c.antennas = r.massive.antennas, c.users = r.massive.users;
    c.mode = r.massive.mode, c.iterations = r.massive.iterations;
    return {wb::make_precode_chain({c, static_cast<int>(r.per_channel), r.frames_as.clusters,
                                    r.frames_as.clustering, r.frames_as.half})};
  }
  const std::shared_ptr<const wb::codec> code = wb::make_codec(wb::config_of(r.code));
  if (r.loops) return loop_of(r, code);
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
         : r.chain == "pusch"                        ? wb::qam_of(slots_of(r))
                                                     : r.detector.qam;
}
