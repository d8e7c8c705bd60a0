// `warpband encode` and `warpband decode`: HDF5 files through a channel code.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/status.hpp>
#include <warpband/io/hdf5.hpp>
#include <warpband/link/codec.hpp>
#include <warpband/link/result.hpp>

#include "arrays.hpp"

namespace {

struct code_options : array_options {
  std::string code;
  wb::code_config config;
  int k = 0;  // 0: as the file says
  bool soft = false;
};

#if WARPBAND_HDF5

/// What both commands do first: open the input, see what it holds and settle the code.
class code_run : public array_run {
 public:
  code_run(const code_options& options, const char* array, bool decodes)
      : array_run(options, "blocks"), options_(options), array_(array), decodes_(decodes) {
    settle_code();
    shape_ = decodes ? file().expect<float>(array, 2) : file().expect<std::uint8_t>(array, 2);
    const std::size_t row = shape_[1];
    wb::code_config config = options.config;
    settle_interleaver(config);
    const auto k = decodes ? wb::k_of_coded_bits(config.type, row) : std::optional(row);
    if (options.k != 0) {
      config.k = options.k;
      const std::size_t wanted = decodes ? wb::coded_bits(config.type, static_cast<std::size_t>(options.k))
                                         : static_cast<std::size_t>(options.k);
      if (row != wanted) wrong_shape(array_, fmt::format("[batch, {}] for k = {}", wanted, options.k));
    } else if (!k || *k > 65536) {
      wrong_shape(array_, decodes ? "[batch, n] with n = 3 (k + 4), k from 40 to 65536"
                                  : "[batch, k], k from 40 to 65536");
    } else {
      config.k = static_cast<int>(*k);
    }
    const std::string said = held("k");
    if (!said.empty() && said != std::to_string(config.k))
      throw wb::file_error(
          options.in, fmt::format("says that it holds k = {}, but {} is {} values a row", said, array_, row));
    try {
      code_ = wb::make_codec(config);
    } catch (const wb::argument_error& e) {
      if (e.argument() == "early_stop")  // in the words of this command
        throw wb::argument_error("--early-stop", "crc", "--crc crc24a or --crc crc24b with it");
      if (e.argument() != "k" || options.k != 0) throw;
      wrong_shape(array_, fmt::format("a k of the code, but {}", e.what()));
    }
    items_ = shape_[0];
    item_bits_ = code_->k();
    open();
  }

  const wb::codec& code() const noexcept { return *code_; }

  /// Items of a piece when one needs `item` bytes in each of two slots.
  std::size_t piece_of(std::size_t item) const {
    // At most 16 codewords of 5 floats a bit and their windows' borders in a decoder, of one in an encoder.
    return piece(
        {.arrays = {array_}, .item = item, .thread = (decodes_ ? 1024 : 128) * code_->k() + mebibyte / 4});
  }

  /// What a file that is written says about itself.
  wb::hdf5_attributes attributes() const {
    const wb::code_config& c = code_->config();
    wb::hdf5_attributes a{{"code", wb::name_of(c.type)},
                          {"k", std::int64_t{c.k}},
                          {"n", static_cast<std::int64_t>(code_->n())},
                          {"warpband_version", wb::version()},
                          {"warpband_commit", wb::commit()}};
    if (c.interleaver) {
      a["interleaver_f1"] = std::int64_t{c.interleaver->f1};
      a["interleaver_f2"] = std::int64_t{c.interleaver->f2};
    }
    return a;
  }

  /// The line at the end, and the record of --json.
  void report_code(const char* command, clock::time_point start, const nlohmann::ordered_json& extra,
                   const std::string& text) const {
    nlohmann::ordered_json record = record_of(command);
    record["code"] = wb::name_of(code_->config().type);
    record["k"] = code_->k();
    record["n"] = code_->n();
    record["items"] = items();
    record.update(extra);
    report(record, start, fmt::format("of k = {}, {}", code_->k(), text));
  }

 private:
  void settle_code() {
    const std::string said = held("code");
    if (options_.code.empty() && said.empty())
      throw usage_error("a code is missing: --code lte-turbo (" + options_.in + " names none)");
    if (!options_.code.empty() && !said.empty() && options_.code != said)
      throw wb::file_error(options_.in, "is of code " + said + ", not " + options_.code);
    if (options_.code.empty() && said != wb::name_of(wb::code_type::lte_turbo))
      throw wb::file_error(options_.in, "is of code \"" + said + "\": expected lte-turbo");
  }
  /// The file's interleaver, where it has one and the command line names none.
  void settle_interleaver(wb::code_config& config) const {
    const std::string f1 = held("interleaver_f1"), f2 = held("interleaver_f2");
    if (f1.empty() && f2.empty()) return;
    const auto n1 = decimal(f1), n2 = decimal(f2);
    const auto fits = [](const auto& n) { return n && *n >= INT32_MIN && *n <= INT32_MAX; };
    if (!fits(n1) || !fits(n2))
      throw wb::file_error(options_.in,
                           "its attributes interleaver_f1 and interleaver_f2 are no two integers");
    const wb::interleaver_coefficients both{static_cast<int>(*n1), static_cast<int>(*n2)};
    if (config.interleaver && (config.interleaver->f1 != both.f1 || config.interleaver->f2 != both.f2))
      throw wb::file_error(options_.in, fmt::format("is of interleaver {},{}, not {},{}", both.f1, both.f2,
                                                    config.interleaver->f1, config.interleaver->f2));
    config.interleaver = both;
  }

  const code_options& options_;
  const char* array_;
  bool decodes_;
  std::vector<std::size_t> shape_;
  std::unique_ptr<wb::codec> code_;
};

int run_encode(const code_options& options) {
  stop_on_interrupt();
  code_run run(options, "bits", false);
  const wb::codec& code = run.code();
  const std::size_t k = code.k(), n = code.n(), items = run.items(), most = run.piece_of(k + n);
  struct slot {
    buffer<std::uint8_t> bits, coded;
  };
  std::array<slot, 2> slots;
  for (slot& s : slots) s = {{run, k, most}, {run, n, most}};

  const auto start = code_run::clock::now();
  wb::hdf5_writer out(options.out);
  out.set(run.attributes());
  out.create<std::uint8_t>("bits", {items, n});
  progress_line line(options.quiet);
  run_pieces(items, most,
             {.read =
                  [&](const piece& p) {
                    auto& bits = slots[static_cast<std::size_t>(p.slot)].bits.host;
                    run.file().read("bits", p.first, p.items, bits.data());
                    for (std::size_t i = 0; i < p.items * k; i++)
                      if (bits.data()[i] > 1)
                        throw wb::file_error(options.in, fmt::format("bits[{}, {}] is {}: expected 0 or 1",
                                                                     p.first + i / k, i % k, bits.data()[i]));
                  },
              .compute =
                  [&](const piece& p) {
                    slot& s = slots[static_cast<std::size_t>(p.slot)];
                    s.bits.upload(run.exec(), p.items);
                    code.encode(run.exec(), s.bits.rows(p.items), s.coded.rows(p.items));
                    s.coded.download(run.exec(), p.items);
                    run.exec().sync();
                  },
              .write =
                  [&](const piece& p) {
                    out.write("bits", p.first, p.items,
                              slots[static_cast<std::size_t>(p.slot)].coded.host.data());
                  },
              .finished = [&](std::size_t done) { run.progress(line, done, start); }});
  out.commit();
  line.clear();
  run.report_code("encode", start, nlohmann::ordered_json::object(), "encoded in ");
  return done;
}

int run_decode(const code_options& options) {
  stop_on_interrupt();
  code_run run(options, "llr", true);
  const wb::codec& code = run.code();
  const std::size_t k = code.k(), n = code.n(), items = run.items(), soft_k = options.soft ? k : 0;
  const std::size_t most = run.piece_of(4 * n + k + 4 * soft_k + 5);
  struct slot {
    buffer<float> llr, soft;
    buffer<std::uint8_t> bits, status;
    buffer<std::int32_t> iterations;
  };
  std::array<slot, 2> slots;
  for (slot& s : slots)
    s = {{run, n, most}, {run, soft_k, most}, {run, k, most}, {run, 1, most}, {run, 1, most}};

  const auto start = code_run::clock::now();
  wb::hdf5_writer out(options.out);
  wb::hdf5_attributes attributes = run.attributes();
  const wb::turbo_decoder_config& d = code.config().decoder;
  attributes["algorithm"] = wb::name_of(d.algorithm);
  attributes["iterations"] = std::int64_t{d.iterations};
  attributes["windows"] = std::int64_t{d.windows};
  attributes["overlap"] = std::int64_t{d.overlap};
  attributes["extrinsic_scale"] = double{d.extrinsic_scale};
  attributes["early_stop"] = wb::name_of(d.stop);
  attributes["crc"] = wb::name_of(code.config().crc);
  out.set(attributes);
  out.create<std::uint8_t>("bits", {items, k});
  out.create<std::int32_t>("iterations", {items});
  out.create<std::uint8_t>("status", {items});
  if (options.soft) out.create<float>("soft", {items, k});
  progress_line line(options.quiet);
  std::uint64_t erased = 0, stopped = 0, iterations = 0;
  run_pieces(items, most,
             {.read =
                  [&](const piece& p) {
                    auto& llr = slots[static_cast<std::size_t>(p.slot)].llr.host;
                    run.file().read("llr", p.first, p.items, llr.data());
                    if (options.p1_over_p0) negate(llr.data(), p.items * n);
                  },
              .compute =
                  [&](const piece& p) {
                    slot& s = slots[static_cast<std::size_t>(p.slot)];
                    wb::executor& e = run.exec();
                    s.llr.upload(e, p.items);
                    code.decode(e, s.llr.rows(p.items),
                                {.bits = s.bits.rows(p.items),
                                 .soft = options.soft ? s.soft.rows(p.items) : wb::view<float>{},
                                 .iterations = s.iterations.rows(p.items),
                                 .status = s.status.rows(p.items)});
                    s.bits.download(e, p.items);
                    s.soft.download(e, p.items);
                    s.iterations.download(e, p.items);
                    s.status.download(e, p.items);
                    e.sync();
                  },
              .write =
                  [&](const piece& p) {
                    slot& s = slots[static_cast<std::size_t>(p.slot)];
                    out.write("bits", p.first, p.items, s.bits.host.data());
                    out.write("iterations", p.first, p.items, s.iterations.host.data());
                    out.write("status", p.first, p.items, s.status.host.data());
                    if (options.soft) {
                      if (options.p1_over_p0) negate(s.soft.host.data(), p.items * k);
                      out.write("soft", p.first, p.items, s.soft.host.data());
                    }
                    for (std::size_t i = 0; i < p.items; i++) {
                      erased += (s.status.host.data()[i] & wb::status_erased) != 0;
                      stopped += (s.status.host.data()[i] & wb::status_stopped) != 0;
                      iterations += static_cast<std::uint64_t>(s.iterations.host.data()[i]);
                    }
                  },
              .finished = [&](std::size_t done) { run.progress(line, done, start); }});
  out.commit();
  line.clear();
  const double mean = items == 0 ? 0 : static_cast<double>(iterations) / static_cast<double>(items);
  run.report_code("decode", start, {{"erased", erased}, {"stopped", stopped}, {"mean_iterations", mean}},
                  fmt::format("{} erased, {:.3g} iterations each, decoded in ", erased, mean));
  return done;
}

#else

constexpr const char* no_hdf5 = "this build reads no HDF5 files: configure it with -DWARPBAND_HDF5=ON";
int run_encode(const code_options&) { throw wb::error(no_hdf5); }
int run_decode(const code_options&) { throw wb::error(no_hdf5); }

#endif

constexpr const char* encode_footer = R"(Input (HDF5):
  bits         uint8 [batch, k], each 0 or 1

Output (HDF5, chunked; replaces OUT.h5 when it is complete, and is not there before):
  bits         uint8 [batch, n]. lte-turbo: n = 3 (k + 4), the streams d0, d1, d2 of 3GPP TS 36.212
               section 5.1.3.2 one after the other, each with its four tail places
  attributes   code, k, n, with --interleaver interleaver_f1 and interleaver_f2, warpband_version,
               warpband_commit

--memory bounds what the program holds, whatever the size of the file: on a CPU the whole process, on a
CUDA device the buffers on the host and, once more, those on the device.

Exit codes: 0 done, 1 failed (OUT.h5 is not written; only if the summary cannot be, it is there), 2 used
wrongly. Ctrl-C ends the run; nothing is written.

Examples:
  warpband encode payload.h5 -o coded.h5 --code lte-turbo
  warpband encode payload.h5 -o coded.h5 --code lte-turbo --device cuda:0 --memory 4G
From Python:
  h5py.File("payload.h5", "w")["bits"] = numpy.random.randint(0, 2, (1000, 6144), dtype=numpy.uint8))";

constexpr const char* decode_footer = R"(Input (HDF5):
  llr          float32 [batch, n], L = ln P(0)/P(1): positive means 0. lte-turbo: n = 3 (k + 4), the streams
               d0, d1, d2 of 3GPP TS 36.212 one after the other, each with its four tail places. A punctured
               bit is 0. Attributes `code`, `k`, `interleaver_f1` and `interleaver_f2`, where there are any, must
               agree with the options, or stand for those that are left out

Output (HDF5, chunked; replaces OUT.h5 when it is complete, and is not there before):
  bits         uint8 [batch, k]
  iterations   int32 [batch], full iterations done
  status       uint8 [batch], sum of 1: erased (a NaN or infinite LLR; its bits are zeros and its iterations 0)
               and 2: the early stop held
  soft         float32 [batch, k], a-posteriori LLRs, with --soft
  attributes   code, k, n, algorithm, iterations, windows, overlap, extrinsic_scale, early_stop, crc,
               interleaver_f1 and interleaver_f2 as for encode, warpband_version, warpband_commit

The result does not depend on the device, the threads or the memory. --memory bounds what the program holds,
whatever the size of the file: on a CPU the whole process, on a CUDA device the buffers on the host and, once
more, those on the device.

Exit codes: 0 done, 1 failed (OUT.h5 is not written; only if the summary cannot be, it is there), 2 used
wrongly. Ctrl-C ends the run; nothing is written.

Examples:
  warpband decode recorded.h5 -o decoded.h5 --code lte-turbo
      k from the shape, exact log-MAP, 6 iterations, windows chosen
  warpband decode recorded.h5 -o decoded.h5 --code lte-turbo --k 6144 --algorithm max-log-map \
      --extrinsic-scale 0.75 --iterations 8 --windows 32 --crc crc24b --early-stop crc
  warpband decode recorded.h5 -o decoded.h5 --code lte-turbo --device cuda:0 --json summary.json
  warpband decode recorded.h5 -o decoded.h5 --code lte-turbo --llr-sign p1/p0
      LLRs of a receiver that uses ln P(1)/P(0))";

/// Takes one of the values by its name_of.
template <class T>
void add_name(CLI::App& app, const std::string& option, std::vector<T> values, T& value,
              const std::string& text) {
  std::vector<std::string> names;
  for (const T& v : values) names.emplace_back(wb::name_of(v));
  app.add_option_function<std::string>(
         option,
         [values, &value](const std::string& word) {
           for (const T& v : values)
             if (word == wb::name_of(v)) value = v;
         },
         text)
      ->type_name("NAME")
      ->check(CLI::IsMember(names));
}

/// "auto" or an integer.
void add_integer_or_auto(CLI::App& app, const std::string& option, std::int64_t least, int& value,
                         int automatic, const std::string& text) {
  const std::string allowed = fmt::format("{} up, or auto", least);
  const auto parse = [=](const std::string& word) -> std::optional<std::int64_t> {
    if (word == "auto") return automatic;
    const auto n = decimal(word);
    return n && *n >= least && *n <= INT32_MAX ? n : std::nullopt;
  };
  app.add_option_function<std::string>(
         option, [=, &value](const std::string& word) { value = static_cast<int>(parse(word).value()); },
         text)
      ->type_name("N")
      ->check(CLI::Validator(
          [=](const std::string& word) {
            return parse(word) ? std::string()
                               : "\"" + word + "\" is not allowed: expected an integer from " + allowed;
          },
          "", "integer"));
}

/// The options that both commands have.
void add_common(CLI::App& app, code_options& o) {
  add_array_files(app, o);
  app.add_option("--code", o.code, "lte-turbo; left out: what the file's attribute `code` says")
      ->type_name("NAME")
      ->check(CLI::IsMember({"lte-turbo"}));
  add_integer(app, "--k", 1, 65536, "Information bits of a block; left out: from the shape",
              [&o](std::int64_t n) { o.k = static_cast<int>(n); });
  app.add_option_function<std::string>(
         "--interleaver",
         [&o](const std::string& word) {
           const std::size_t comma = word.find(',');
           o.config.interleaver = {static_cast<int>(decimal(word.substr(0, comma)).value()),
                                   static_cast<int>(decimal(word.substr(comma + 1)).value())};
         },
         "QPP coefficients in place of the standard's")
      ->type_name("F1,F2")
      ->check(CLI::Validator(
          [](const std::string& word) {
            const std::size_t comma = word.find(',');
            const auto fits = [](std::optional<std::int64_t> n) {
              return n && *n >= INT32_MIN && *n <= INT32_MAX;
            };
            return comma != std::string::npos && fits(decimal(word.substr(0, comma))) &&
                           fits(decimal(word.substr(comma + 1)))
                       ? std::string()
                       : "\"" + word + "\" is not allowed: expected two integers, F1,F2";
          },
          "", "coefficients"));
}

int checked_run(const CLI::App& app, const code_options& o, int (*run)(const code_options&)) {
  check_array_options(app, o);
  return run(o);
}

}  // namespace

command add_encode(CLI::App& app) {
  CLI::App* encode = app.add_subcommand("encode", "Encode the bits of an HDF5 file");
  const auto o = std::make_shared<code_options>();
  encode->footer(encode_footer);
  add_common(*encode, *o);
  add_array_running(*encode, *o, "block");
  return {encode, [encode, o] { return checked_run(*encode, *o, run_encode); }};
}

command add_decode(CLI::App& app) {
  CLI::App* decode = app.add_subcommand("decode", "Decode the LLRs of an HDF5 file");
  const auto o = std::make_shared<code_options>();
  decode->footer(decode_footer);
  add_common(*decode, *o);
  wb::turbo_decoder_config& d = o->config.decoder;
  add_name(*decode, "--algorithm", {wb::map_algorithm::log_map, wb::map_algorithm::max_log_map}, d.algorithm,
           "MAP algorithm: log-map (default) or max-log-map");
  add_integer(*decode, "--iterations", 1, 64, "Full iterations, the most with --early-stop (default 6)",
              [&d](std::int64_t n) { d.iterations = static_cast<int>(n); });
  add_integer_or_auto(
      *decode, "--windows", 1, d.windows, 0,
      "Windows of a block that are decoded in parallel, to k/8 (default auto: of about 32 steps)");
  add_integer_or_auto(
      *decode, "--overlap", 0, d.overlap, -1,
      "Steps by which windows reach into their neighbours (default auto: 24, or what they allow)");
  decode
      ->add_option("--extrinsic-scale", d.extrinsic_scale,
                   "Factor on extrinsic LLRs, above 0 to 1 (default 1); 0.75 is usual for max-log-map")
      ->type_name("X");
  add_name(*decode, "--early-stop",
           {wb::early_stop::none, wb::early_stop::crc, wb::early_stop::sign_agreement}, d.stop,
           "When a block leaves the iterations: none (default), crc or sign-agreement");
  using crc = std::optional<wb::crc_polynomial>;
  add_name(*decode, "--crc", {crc{}, crc{wb::crc24a}, crc{wb::crc24b}}, o->config.crc,
           "CRC that ends a block: none (default), crc24a or crc24b");
  decode->add_flag("--soft", o->soft, "Write the a-posteriori LLRs too");
  add_llr_sign(*decode, *o,
               "What the file's LLRs are the logarithm of: p0/p1 (default) or p1/p0; holds for --soft too");
  add_array_running(*decode, *o, "block");
  return {decode, [decode, o] { return checked_run(*decode, *o, run_decode); }};
}
