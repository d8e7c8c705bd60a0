// `warpband generate`: recordings of a 5G NR cell, and what is in them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <warpband/channel/impairments/impairments.hpp>
#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/io/json_lines.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/link/result.hpp>
#include <warpband/link/setting_json.hpp>
#include <warpband/receive/downlink_generator.hpp>

#include "command.hpp"
#include "downlink_json.hpp"
#include "iq_file.hpp"
#include "setting_options.hpp"

namespace {

using sample = std::complex<float>;

struct generate_options {
  std::string output, format = "cf32", sib1, json;
  std::optional<double> snr_db;
  std::uint64_t seed = 1;
  bool force = false;
  wb::nr_downlink_generator_config cell = {};
  wb::impairments_config front_end = {};
  bool has_full_scale = false, has_sib1 = false;
  device_options where;
};

/// Names of options are those of settings without the unit of frequencies, as `receive` has them.
std::string option_name(std::string setting) {
  if (setting == "sample_rate_hz") return "rate";
  for (const std::string unit : {"_khz", "_hz"})
    if (setting.ends_with(unit)) return setting.substr(0, setting.size() - unit.size());
  return setting;
}

template <class Config>
void add_options(CLI::App& app, const std::vector<wb::setting_of<Config>>& settings,
                 const std::vector<std::string>& left_out, Config& config) {
  const Config defaults;
  for (const wb::setting_of<Config>& s : settings) {
    if (std::find(left_out.begin(), left_out.end(), s.name) != left_out.end()) continue;
    // Without the option full scale follows from the samples.
    const bool is_full_scale = s.name == "full_scale";
    const std::string initial = is_full_scale ? "" : s.initial(defaults),
                      text =
                          s.text +
                          (is_full_scale ? " Left out: four standard deviations, plus the DC offset." : "");
    add_setting_option(app, {option_name(s.name), s.kind, text, initial, s.allowed, s.words},
                       [&config, set = s.set](const wb::setting_value& value, bool dry) {
                         Config tried = config;
                         set(dry ? tried : config, value);
                       });
  }
}

/// Bits of the transport block: the digits' bits and then zeros, or random ones.
std::vector<std::uint8_t> block_of(const generate_options& options, std::size_t bits) {
  std::vector<std::uint8_t> block;
  if (!options.has_sib1) {
    std::mt19937_64 random(options.seed);
    for (std::size_t i = 0; i < bits; i++) block.push_back(static_cast<std::uint8_t>(random() >> 63));
    return block;
  }
  const std::string digits = "0123456789abcdef0123456789ABCDEF";
  if (options.sib1.empty() || options.sib1.find_first_not_of(digits) != std::string::npos)
    throw wb::argument_error("sib1", "\"" + wb::printable(options.sib1, most_shown) + "\"",
                             "hexadecimal digits");
  for (const char c : options.sib1) {
    const std::size_t digit = digits.find(c) % 16;
    for (int shift = 3; shift >= 0; shift--) block.push_back(static_cast<std::uint8_t>(digit >> shift & 1));
  }
  if (block.size() > bits)
    throw wb::argument_error("sib1", fmt::format("{} bits", block.size()),
                             fmt::format("up to the {} bits of the transport block", bits));
  block.resize(bits);
  return block;
}

std::vector<sample> impaired(wb::executor& exec, const std::vector<sample>& sent,
                             const wb::impairments_config& config, std::uint64_t seed) {
  auto in = exec.make<sample>(1, sent.size()), out = exec.make<sample>(1, sent.size());
  exec.upload(in.data(), sent.data(), sent.size() * sizeof(sample));
  wb::impairments(config).run(exec, in, out, {.seed = seed});
  return exec.to_host(out);
}

/// Four standard deviations of I and of Q behind the mixer, and the DC offset.
double full_scale_of(const wb::impairments_config& front_end, double symbol_power) {
  const double gain = std::pow(10., std::fabs(front_end.iq_gain_db) / 40);
  return std::max(std::fabs(front_end.dc_i), std::fabs(front_end.dc_q)) +
         4 * gain * std::sqrt((symbol_power + front_end.noise_var) / 2);
}

int run_generate(generate_options options) {
  if (options.output.empty())
    throw usage_error("-o is missing: warpband generate -o FILE (see warpband generate --help)");
  if (options.output == "-")
    throw usage_error("-o - is not allowed: expected the name of a file, as samples do not go to stdout");
  const auto format = iq_format_of(options.format);
  if (!format) throw_format_error(options.format);
  if (options.output.ends_with(".npy"))
    throw wb::argument_error("output", "\"" + wb::printable(options.output, most_shown) + "\"",
                             "a name that ends in .sigmf-meta or .sigmf-data, or of raw samples");
  const auto stem = sigmf_stem(options.output);
  std::vector<std::string> files{stem ? *stem + ".sigmf-data" : options.output};
  if (stem) files.push_back(*stem + ".sigmf-meta");
  if (!options.force)
    for (const std::string& file : files) check_not_another_result(file, "--force replaces it");
  std::vector<std::string> outputs = files;
  const bool json_to_stdout = options.json == "-";
  if (!json_to_stdout) outputs.push_back(options.json);
  claim_outputs(outputs, "");

  const wb::nr_downlink_generator generator(options.cell);
  wb::impairments_config& front_end = options.front_end;
  front_end.sample_rate_hz = options.cell.sample_rate_hz;
  if (options.snr_db) front_end.noise_var = std::pow(10., -*options.snr_db / 10);
  if (!options.has_full_scale) front_end.full_scale = full_scale_of(front_end, generator.symbol_power());
  const auto exec = wb::open_executor(options.where.device, options.where.threads);
  const std::vector<std::uint8_t> block = block_of(options, generator.transport_bits());
  const std::vector<sample> samples = impaired(*exec, generator.run(*exec, block), front_end, options.seed);

  write_iq(files[0], samples, *format, front_end.full_scale);
  const double rate = options.cell.sample_rate_hz;
  if (stem) {
    nlohmann::ordered_json capture{{"core:sample_start", 0}};
    if (options.cell.carrier_hz != 0) capture["core:frequency"] = options.cell.carrier_hz;
    const nlohmann::ordered_json meta{
        {"global",
         {{"core:version", "1.0.0"},
          {"core:datatype", sigmf_word(*format)},
          {"core:sample_rate", rate},
          {"core:description", fmt::format("generated 5G NR cell {}", options.cell.cell_id)},
          {"core:recorder", std::string("warpband ") + wb::version()}}},
        {"captures", nlohmann::ordered_json::array({capture})},
        {"annotations", nlohmann::ordered_json::array()}};
    wb::write_file(files[1], meta.dump(2) + "\n");
  }

  nlohmann::ordered_json record{{"command", "generate"}};
  record["warpband"] = {{"version", wb::version()}, {"commit", wb::commit()}};
  record["file"] = options.output, record["sample_rate_hz"] = rate;
  if (options.cell.carrier_hz != 0) record["centre_hz"] = options.cell.carrier_hz;
  record["sample_seconds"] = static_cast<double>(samples.size()) / rate;
  record["seed"] = options.seed, record["full_scale"] = front_end.full_scale;
  for (const auto& s : wb::impairments_settings())
    if (s.name != "sample_rate_hz" && s.name != "full_scale")
      record["impairments"][s.name] = wb::json_of(s.written(front_end));
  record["l_max"] = *generator.config().l_max;
  const auto received_sample = [&](std::size_t n) {
    return (static_cast<double>(n) + front_end.delay_samples) * (1 + 1e-6 * front_end.clock_offset_ppm);
  };
  // Delay and clock offset move signals at the ends out of the recording.
  const auto is_recorded = [&](const auto& sent) {
    return received_sample(sent.first_sample) >= 0 &&
           received_sample(sent.first_sample + sent.samples) <= static_cast<double>(samples.size());
  };
  const auto signal = [&](double first) {
    return nlohmann::ordered_json{{"seconds", first / rate},
                                  {"first_sample", first},
                                  {"cell_id", options.cell.cell_id},
                                  {"spacing_khz", options.cell.spacing_khz},
                                  {"offset_hz", options.cell.offset_hz}};
  };
  record["blocks"] = record["messages"] = nlohmann::ordered_json::array();
  for (const wb::nr_sent_block& b : generator.sent_blocks()) {
    if (!is_recorded(b)) continue;
    auto j = signal(received_sample(b.first_sample));
    const wb::pbch_payload payload = wb::nr_pbch_payload(b.content, *generator.config().l_max);
    j["mib"] = bits_text(std::span(payload).first(24));
    add_content(j, b.content);
    record["blocks"].push_back(j);
  }
  for (const wb::nr_sent_message& m : generator.sent_messages()) {
    if (!is_recorded(m)) continue;
    auto j = signal(received_sample(m.first_sample));
    j["ssb_index"] = m.ssb_index, j["sfn"] = m.sfn, j["slot"] = m.slot;
    j["coreset_blocks"] = generator.coreset_blocks();
    j["level"] = options.cell.level, j["first_cce"] = options.cell.first_cce;
    j["dci"] = bits_text(wb::nr_si_dci_encode(generator.dci(), generator.coreset_blocks()));
    add_dci(j, generator.dci());
    j["block"] = bits_text(block);
    record["messages"].push_back(j);
  }
  if (json_to_stdout) {
    print_json(wb::json_lines(record));
    return done;
  }
  if (!options.json.empty()) wb::write_file(options.json, wb::json_lines(record));
  print_to(stdout, "{}: {:g} s at {:g} MS/s, cell {}, {} SS/PBCH blocks, {} messages of {} bits\n",
           wb::printable(options.output, most_shown), static_cast<double>(samples.size()) / rate, rate / 1e6,
           options.cell.cell_id, record["blocks"].size(), record["messages"].size(),
           generator.transport_bits());
  return done;
}

constexpr const char* generate_footer = R"(Synopsis:
  warpband generate -o RECORDING.sigmf-meta [OPTIONS]
  warpband generate -o FILE --format cf32|ci32|ci16|ci8 [OPTIONS]

What it does:
  Writes samples of a 5G NR cell: SS/PBCH blocks, and in CORESET 0 a DCI with SI-RNTI and the PDSCH that it schedules,
  every 20 ms for each block. --sib1 gives the bits of the transport block; else they are random. Then the impairments
  of a receiver's front end follow: timing, sample clock, carrier frequency offset (CFO), phase noise, noise, IQ imbalance,
  DC offset, converter.

  Resource elements have amplitude 1, and --snr is that of a resource element. Integers reach from -full_scale to a step
  below full_scale. By default it is four standard deviations of I and Q, plus the DC offset.

Output:
  stdout   one line: what was written; with --json - the JSON
  stderr   errors

Files:
  RECORDING      SigMF: RECORDING.sigmf-data and RECORDING.sigmf-meta, with the centre frequency if --carrier is given
  FILE           raw samples, I before Q, little endian; _be behind the format: big endian
  --json FILE    what is wholly in the recording, with the names that `warpband receive --json` has, and the impairments

Exit codes: 0 done; 1 failed; 2 used wrongly.

Examples:
  warpband generate -o cell.sigmf-meta --cell-id 500 --snr 10 --cfo 1500 --json sent.json
      20 ms of a cell at 30 kHz, as a receiver with a CFO sees it
  warpband generate -o cell.iq --format ci16 --rate 15.36e6 --spacing 15 --common-spacing 15 --frames 10
      100 ms at 15 kHz in integers of 16 bits)";

}  // namespace

command add_generate(CLI::App& app) {
  CLI::App* generate = app.add_subcommand("generate", "Write recordings of a 5G NR cell, with impairments");
  const auto options = std::make_shared<generate_options>();
  generate->footer(generate_footer);
  generate->add_option("-o,--output", options->output, "Recording: .sigmf-meta, or raw samples")
      ->type_name("FILE");
  generate
      ->add_option("--format", options->format,
                   "Format of samples: cf32 (default), ci32, ci16 or ci8, with _le or _be behind it")
      ->type_name("FORMAT");
  generate->add_option("--snr", options->snr_db, "SNR of a resource element; left out: no noise")
      ->type_name("DB")
      ->check(number_between(-100, 100));
  generate->add_option("--sib1", options->sib1, "Bits of the transport block; zeros follow")
      ->type_name("HEX");
  add_integer(*generate, "--seed", 0, std::int64_t{1} << 62, "Seed of random bits and noise, default 1",
              [options](std::int64_t n) { options->seed = static_cast<std::uint64_t>(n); });
  add_options(*generate, wb::nr_downlink_generator_settings(), {"intra_frequency"}, options->cell);
  generate->add_flag_callback(
      "--no-intra-frequency", [options] { options->cell.intra_frequency = false; },
      "The MIB does not allow reselection at the cell's frequency");
  add_options(*generate, wb::impairments_settings(), {"sample_rate_hz", "noise_var"}, options->front_end);
  generate->add_option("--json", options->json, "Write what was sent here, in JSON")->type_name("FILE");
  generate->add_flag("--force", options->force, "Replace files that hold something");
  add_device_options(*generate, options->where);
  return {generate, [generate, options] {
            check_device_options(*generate, options->where);
            options->has_full_scale = generate->count("--full-scale") != 0;
            options->has_sib1 = generate->count("--sib1") != 0;
            if (generate->count("--json") != 0 && options->json.empty())
              throw usage_error("--json: the name of the file is empty");
            try {
              return run_generate(*options);
            } catch (const wb::argument_error& e) {
              refuse_option(wb::argument_error(option_name(e.argument()), e.value(), e.allowed()),
                            options_given(*generate));
              throw;
            }
          }};
}
