#include "arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/io/json_lines.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/link/result.hpp>

void add_array_files(CLI::App& app, array_options& o) {
  app.add_option("IN.h5", o.in, "The file to read")->required()->type_name("");
  app.add_option("-o,--output", o.out, "The file to write")->required()->type_name("FILE");
}

void add_llr_sign(CLI::App& app, array_options& o, const std::string& text) {
  app.add_option_function<std::string>(
         "--llr-sign", [&o](const std::string& word) { o.p1_over_p0 = word == "p1/p0"; }, text)
      ->type_name("NAME")
      ->transform(word_of({"p0/p1", "p1/p0"}));
}

void add_array_running(CLI::App& app, array_options& o, const std::string& item) {
  app.add_option("--memory", o.memory,
                 "Memory to use: 512M, 2G (default 1G, more where one " + item + " needs it)")
      ->type_name("SIZE");
  add_trusted(app);
  add_device_options(app, o.where);
  app.add_option("--json", o.json, "Write a summary here, in JSON; - for standard output")->type_name("FILE");
  app.add_flag("--force", o.force, "Replace a file of --output that holds something already");
  app.add_flag("--quiet", o.quiet, "No progress on stderr");
}

void check_array_options(const CLI::App& app, const array_options& o) {
  check_device_options(app, o.where);
  if (app.count("--memory") != 0) bytes_from("--memory", o.memory);
  for (const char* option : {"--output", "--json"})
    if (app.count(option) != 0 && app.get_option(option)->as<std::string>().empty())
      throw usage_error(std::string(option) + ": the name of the file is empty");
  if (o.in == "-" || o.out == "-")
    throw usage_error(
        "- is not allowed: expected the name of an HDF5 file, as these are not read or written in a pipe");
  if (!o.json.empty() && o.json != "-" && wb::same_place(o.json, o.out))
    throw usage_error("--output and --json name the same file: give each its own");
}

#if WARPBAND_HDF5

array_run::array_run(const array_options& options, const char* item)
    : options_(options), item_(item), file_(options.in) {
  check_not_an_input(options.out, {options.in});
  check_not_an_input(options.json, {options.in});
}

void array_run::open() {
  exec_ = wb::open_executor(options_.where.device, options_.where.threads);
  if (!options_.memory.empty() && !exec_->is_device()) bound_memory(bytes_from("--memory", options_.memory));
  claim_output(options_.out);
  if (!options_.force) check_not_another_result(options_.out, "--force replaces it");
  wb::check_writable(options_.out);
  if (!options_.json.empty() && options_.json != "-") wb::check_writable(options_.json);
  print_remark(options_.in, file_.remark());
}

std::size_t array_run::piece(const memory_need& need) const {
  // The program with its libraries takes 25 to 30 MiB (measured, most with CUDA). The chunks of a row, the
  // memory to unpack them and the working memory of the CPU's kernels come on top.
  std::size_t rest = 32 * mebibyte + 2 * need.slot;
  for (const std::string& array : need.arrays) {
    const wb::hdf5_array in = file_.describe(array);
    rest += (in.packed ? 4 : 1) * in.chunk_bytes + in.block_bytes;
    if (in.block_bytes != 0) rest += 2 * mebibyte;  // in which HDF5 converts
    // What HDF5 keeps for an array of chunks; with the libraries for one of them. Measured with chunks of
    // 16 KiB.
    if (array != need.arrays.front() && in.chunk_rows != 0) rest += 6 * mebibyte;
  }
  if (const auto* c = dynamic_cast<const wb::cpu*>(exec_.get()))
    rest += static_cast<std::size_t>(c->threads()) * need.thread;
  const std::size_t item = need.item;
  const std::uint64_t memory = options_.memory.empty()
                                   ? std::max<std::uint64_t>(1024 * mebibyte, rest + 64 * mebibyte + 2 * item)
                                   : bytes_from("--memory", options_.memory);
  if (memory < rest + 2 * item)
    throw wb::argument_error("--memory", options_.memory,
                             fmt::format("at least {}M for this file and these threads",
                                         (rest + 2 * item + mebibyte - 1) / mebibyte));
  const std::size_t max_rows =
      static_cast<std::size_t>(std::min<std::uint64_t>((memory - rest) / (2 * item), SIZE_MAX));
  const std::size_t usual =
      (direct() ? 32 : 256) * mebibyte / item + 1;  // long enough to hide the start of a batch
  std::size_t rows = std::min(max_rows, usual);
  // Whole chunks and whole vectors, where they fit.
  for (const std::size_t unit :
       {exec_->preferred_blocks(), file_.describe(need.arrays.front()).chunk_rows, need.together})
    if (unit > 1 && rows > unit) rows = rows / unit * unit;
  return std::min(rows, std::max<std::size_t>(1, items()));
}

void array_run::progress(progress_line& line, std::size_t finished, clock::time_point start) const {
  if (interrupted()) throw wb::error("interrupted: " + options_.out + " was not written");
  if (!line.due()) return;
  const double seconds = std::chrono::duration<double>(clock::now() - start).count();
  const double part = static_cast<double>(finished) / static_cast<double>(items_);
  line.show(fmt::format("{} of {} {}, {:.4g} Mb/s, about {} left", finished, items_, item_,
                        static_cast<double>(finished) * static_cast<double>(item_bits_) * 1e-6 / seconds,
                        duration_text(seconds / part - seconds)));
}

nlohmann::ordered_json array_run::record_of(const char* command) const {
  return {{"command", command}, {"input", options_.in}, {"output", options_.out}};
}

void array_run::report(const nlohmann::ordered_json& begun, clock::time_point start,
                       const std::string& text) const {
  const double seconds = std::chrono::duration<double>(clock::now() - start).count();
  const double bits = static_cast<double>(items_) * static_cast<double>(item_bits_);
  const double mbps = seconds > 0 ? bits * 1e-6 / seconds : 0;
  const wb::machine_info m = wb::describe_machine(*exec_);
  nlohmann::ordered_json record = begun;
  record["seconds"] = seconds;
  record["mbps"] = mbps;
  record["device"] = m.device;
  record["threads"] = m.threads == 0 ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(m.threads);
  record["warpband"] = {{"version", wb::version()}, {"commit", wb::commit()}};
  const std::string json = wb::json_lines(record);
  if (options_.json == "-")
    print_json(json);
  else
    print_to(stdout, "{}: {} {} {}{}, {:.4g} Mb/s with reading and writing\n",
             wb::printable(options_.out, most_shown), items_, item_, text, duration_text(seconds), mbps);
  if (!options_.json.empty() && options_.json != "-") wb::write_file(options_.json, json);
}

std::string array_run::held(const std::string& name) const {
  const auto found = file_.attribute("", name);
  if (!found) return {};
  if (const auto* text = std::get_if<std::string>(&*found)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&*found)) return std::to_string(*number);
  return fmt::format("{}", std::get<double>(*found));
}

void array_run::wrong_shape(const std::string& array, const std::string& expected) const {
  const wb::hdf5_array is = file_.describe(array);
  throw wb::file_error(options_.in, fmt::format("{} is {} [{}]: expected {}", array, is.type,
                                                fmt::join(is.shape, ", "), expected));
}

#endif
