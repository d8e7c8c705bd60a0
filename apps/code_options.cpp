#include "code_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include <warpband/link/scenario.hpp>

std::string option_of(std::string setting) {
  std::replace(setting.begin(), setting.end(), '_', '-');
  return setting == "type" ? "--code" : "--" + setting;
}
std::vector<std::string> code_names() {
  std::vector<std::string> names;
  for (const wb::code_type t : all_codes) names.emplace_back(wb::name_of(t));
  return names;
}

std::optional<std::vector<std::string>> octal_list(const std::string& text) {
  std::vector<std::string> all{""};
  for (const char c : text) {
    if (c == ',')
      all.emplace_back();
    else if (c < '0' || c > '7')
      return std::nullopt;
    else if (c != '0' || !all.back().empty())
      all.back() += c;
  }
  for (const std::string& word : all)
    if (word.empty() || word.size() > 6) return std::nullopt;
  return all;
}
std::optional<std::string> octal_number(const std::string& text) {
  if (!text.empty() && text.find_first_not_of('0') == std::string::npos) return "0";
  const auto list = octal_list(text);
  return list && list->size() == 1 ? std::optional(list->front()) : std::nullopt;
}

namespace {

constexpr const char* encode_footer = R"(Codes (which options each has; an option of another code is refused):
  lte-turbo    3GPP TS 36.212 section 5.1.3: --k (one of its 188 sizes), --rate 1/3 (default) or 1/2, --interleaver
  wimax-ldpc   IEEE 802.16e: --n 576, 672, ... 2304, --rate 1/2 (default), 2/3A, 2/3B, 3/4A, 3/4B or 5/6
  wifi-ldpc    IEEE 802.11n: --n 648, 1296 or 1944, --rate 1/2 (default), 2/3, 3/4 or 5/6
  conv         convolutional: --k, --rate 1/2 (default), 1/3, 2/3, 3/4 or 5/6, --termination, --generators,
               --feedback, --constraint-length, --standard, --order

Input (HDF5):
  bits         uint8 [batch, k], each 0 or 1
  attributes   where there are any of those below they must agree with the options, or stand for what is left out
  Arrays that MATLAB saved with -v7.3 are read with its axes and converted; a line on stderr says so

Output (HDF5, chunked; replaces OUT.h5 when it is complete, and is not there before):
  bits         uint8 [batch, n]. lte-turbo: n = 3 (k + 4), the streams d0, d1, d2 of 3GPP TS 36.212
               section 5.1.3.2 one after the other, each with its four tail places; at rate 1/2, n = 2 k + 12,
               what of them is sent. LDPC: the k bits, then the parity bits. conv: the coded bits as they are sent,
               with a zero tail those of the tail too
  attributes   code, k, n, rate; lte-turbo with --interleaver interleaver_f1 and interleaver_f2; conv termination,
               constraint_length, generators and feedback (octal), standard, order; warpband_version,
               warpband_commit

--memory bounds what the program holds, whatever the size of the file: on a CPU the whole process, on a
CUDA device the buffers on the host and, once more, those on the device.

Exit codes: 0 done, 1 failed (OUT.h5 is not written; only if the summary cannot be, it is there), 2 used
wrongly. Ctrl-C ends the run; nothing is written.

Examples:
  warpband encode payload.h5 -o coded.h5 --code lte-turbo
  warpband encode payload.h5 -o coded.h5 --code lte-turbo --device cuda:0 --memory 4G
  warpband encode payload.h5 -o coded.h5 --code wimax-ldpc --n 2304 --rate 3/4A
  warpband encode payload.h5 -o coded.h5 --code conv --rate 3/4 --termination tail-biting
  warpband encode payload.h5 -o coded.h5 --code conv --generators 133,171,165 --termination tail-biting --order streams
      the convolutional code of LTE
From Python:
  h5py.File("payload.h5", "w")["bits"] = numpy.random.randint(0, 2, (1000, 6144), dtype=numpy.uint8))";

constexpr const char* decode_footer =
    R"(Codes: see warpband encode --help. Their decoders (an option of another one is refused):
  lte-turbo    --algorithm log-map (default) or max-log-map, --iterations (6, to 64), --windows, --overlap,
               --code-rate, --extrinsic-scale, --early-stop none (default), crc or sign-agreement, --precision
               (bfloat16 and int16, several times faster: no --soft, no sign-agreement; int16: max-log-map;
               --llr-steps)
  LDPC         --algorithm normalised-min-sum (default; --scale), min-sum, offset-min-sum (--offset) or sum-product,
               --iterations (15, to 1000), --schedule, --precision (int8: --int8-steps), --early-stop syndrome
               (default) or none
  conv         --algorithm viterbi (default), max-log-map or log-map; tail-biting --overlap

Input (HDF5):
  llr          float32 [batch, n], L = ln P(0)/P(1): positive means 0, in the order of the bits that encode writes. A
               bit that was not received is 0 (many of them: --code-rate)
  attributes   code, k, n, rate and the others that encode writes: where there are any they must agree with the
               options, or stand for those that are left out. What is left out in both places follows from the
               shape
  Arrays that MATLAB saved with -v7.3 are read with its axes and converted; a line on stderr says so

Output (HDF5, chunked; replaces OUT.h5 when it is complete, and is not there before):
  bits         uint8 [batch, k]
  iterations   int32 [batch], full iterations done; conv: 1
  status       uint8 [batch], sum of 1: erased (its bits are zeros and its iterations 0) because of a NaN or
               infinite LLR or, 4 as well, of fewer than k LLRs that the decoder's numbers tell from 0; and 2: the
               early stop held
  soft         float32 [batch, k], a-posteriori LLRs, with --soft; the Viterbi algorithm has none
  attributes   those of encode, and crc, algorithm; lte-turbo iterations, windows, overlap, extrinsic_scale,
               early_stop, precision, with int16 llr_steps; LDPC iterations, schedule, precision, early_stop, and
               what there is of scale, offset, int8_steps; conv, tail-biting: overlap

The result does not depend on the device, the threads or the memory. --memory bounds what the program holds,
whatever the size of the file: on a CPU the whole process, on a CUDA device the buffers on the host and, once
more, those on the device.

Exit codes: 0 done, 1 failed (OUT.h5 is not written; only if the summary cannot be, it is there), 2 used
wrongly. Ctrl-C ends the run; nothing is written.

Examples:
  warpband decode recorded.h5 -o decoded.h5 --code lte-turbo
      k from the shape, exact log-MAP, 6 iterations, windows chosen
  warpband decode recorded.h5 -o decoded.h5 --code lte-turbo --k 6144 --algorithm max-log-map \
      --extrinsic-scale 0.75 --iterations 8 --windows 32 --crc crc24b --early-stop crc --precision int16
  warpband decode recorded.h5 -o decoded.h5 --code wimax-ldpc --rate 5/6 --iterations 20 --precision int8
      n from the shape, layered normalised min-sum
  warpband decode recorded.h5 -o decoded.h5 --code conv --rate 3/4 --algorithm log-map --soft
  warpband decode recorded.h5 -o decoded.h5 --code lte-turbo --device cuda:0 --json summary.json
  warpband decode recorded.h5 -o decoded.h5 --code lte-turbo --llr-sign p1/p0
      LLRs of a receiver that uses ln P(1)/P(0))";

/// The words of a setting, of all codes.
std::vector<std::string> words_of_all(const std::string& setting) {
  std::vector<std::string> all;
  for (const wb::code_type t : all_codes)
    for (const std::string& w : wb::words_of(t, setting))
      if (std::find(all.begin(), all.end(), w) == all.end()) all.push_back(w);
  return all;
}

/// Adds the option of a setting that takes words.
void add_words(CLI::App& app, const std::string& setting, std::optional<std::string>& value,
               const std::string& text) {
  app.add_option(option_of(setting), value, text)
      ->type_name("NAME")
      ->check(CLI::IsMember(words_of_all(setting)));
}

/// Adds the option of a setting that takes an integer.
void add_setting(CLI::App& app, const std::string& setting, std::int64_t least, std::int64_t most,
                 std::optional<int>& value, const std::string& text) {
  add_integer(app, option_of(setting), least, most, text,
              [&value](std::int64_t n) { value = static_cast<int>(n); });
}

/// "auto" or an integer.
void add_integer_or_auto(CLI::App& app, const std::string& setting, std::int64_t least,
                         std::optional<int>& value, int automatic, const std::string& text) {
  const std::string allowed = fmt::format("{} up, or auto", least);
  const auto parse = [=](const std::string& word) -> std::optional<std::int64_t> {
    if (word == "auto") return automatic;
    const auto n = decimal(word);
    return n && *n >= least && *n <= INT32_MAX ? n : std::nullopt;
  };
  app.add_option_function<std::string>(
         option_of(setting),
         [=, &value](const std::string& word) { value = static_cast<int>(parse(word).value()); }, text)
      ->type_name("N")
      ->check(CLI::Validator(
          [=](const std::string& word) {
            return parse(word) ? std::string()
                               : "\"" + word + "\" is not allowed: expected an integer from " + allowed;
          },
          "", "integer"));
}

/// Adds an option of text that `parse` understands, or gives nothing for.
template <class Value, class Parse>
void add_text(CLI::App& app, const std::string& option, const std::string& type, std::optional<Value>& value,
              Parse parse, const std::string& expected, const std::string& text) {
  app.add_option_function<std::string>(
         option, [&value, parse](const std::string& word) { value = parse(word); }, text)
      ->type_name(type)
      ->check(CLI::Validator(
          [parse, expected](const std::string& word) {
            return parse(word) ? std::string() : "\"" + word + "\" is not allowed: expected " + expected;
          },
          "", "text"));
}

std::optional<wb::interleaver_coefficients> interleaver_of(const std::string& word) {
  const std::size_t comma = word.find(',');
  if (comma == std::string::npos) return std::nullopt;
  const auto f1 = decimal(word.substr(0, comma)), f2 = decimal(word.substr(comma + 1));
  const auto fits = [](const auto& n) { return n && *n >= INT32_MIN && *n <= INT32_MAX; };
  if (!fits(f1) || !fits(f2)) return std::nullopt;
  return wb::interleaver_coefficients{static_cast<int>(*f1), static_cast<int>(*f2)};
}

/// The options that both commands have.
void add_common(CLI::App& app, code_options& o) {
  add_array_files(app, o);
  wb::code_settings& s = o.settings;
  app.add_option("--code", o.code,
                 "lte-turbo, wimax-ldpc, wifi-ldpc or conv; left out: what the file's attribute `code` says")
      ->type_name("NAME")
      ->check(CLI::IsMember(code_names()));
  add_setting(app, "k", 1, 65536, s.k, "Information bits of a block; left out: from the shape");
  add_setting(app, "n", 1, 1 << 20, s.n, "LDPC: bits of a codeword; left out: from the shape");
  add_words(app, "rate", s.rate,
            "Code rate: lte-turbo 1/3 (default) or 1/2; the others 1/2 (default) to 5/6, see below");
  app.add_option_function<std::string>(
         "--termination",
         [&s](const std::string& word) { s.termination = word == "zero" ? "zero-tail" : word; },
         "conv: how a block ends, zero-tail (default; or zero) or tail-biting")
      ->type_name("NAME")
      ->check(CLI::IsMember({"zero-tail", "zero", "tail-biting"}));
  add_text(app, "--generators", "G,G", s.generators, octal_list, "octal numbers, such as 133,171",
           "conv: generators in octal (default 133,171; with --rate 1/3 133,171,165)");
  add_text(app, "--feedback", "F", s.feedback, octal_number, "an octal number, such as 7",
           "conv: feedback polynomial in octal, of a recursive code (default 0: none)");
  add_setting(app, "constraint_length", 3, 9, s.constraint_length,
              "conv: bits of the register (default: what the largest generator needs)");
  add_words(app, "standard", s.standard,
            "conv: whose generators and puncturing, 802.11 (default) or 802.16 (171,133)");
  add_words(
      app, "order", s.order,
      "conv: order of the coded bits, serial (default; step by step) or streams (generator by generator)");
  add_text(app, "--interleaver", "F1,F2", s.interleaver, interleaver_of, "two integers, F1,F2",
           "lte-turbo: QPP coefficients in place of the standard's");
}

int checked_run(const CLI::App& app, code_options& o, int (*run)(const code_options&)) {
  check_array_options(app, o);
  o.options = options_given(app);
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
  wb::code_settings& s = o->settings;
  const auto number = [&](const std::string& setting, std::optional<float>& value, const std::string& text) {
    decode->add_option(option_of(setting), value, text)->type_name("X");
  };
  add_words(*decode, "algorithm", s.algorithm,
            "lte-turbo log-map (default) or max-log-map; LDPC normalised-min-sum (default), min-sum, "
            "offset-min-sum or sum-product; conv viterbi (default), max-log-map or log-map");
  add_setting(*decode, "iterations", 1, 1000, s.iterations,
              "Full iterations, the most with --early-stop: lte-turbo to 64 (default 6), LDPC (default 15)");
  add_integer_or_auto(
      *decode, "windows", 1, s.windows, 0,
      "lte-turbo: windows of a block that are decoded in parallel, to k/8 (default auto: of "
      "about 32 steps; bfloat16, int16: as many, a power of two up to 64, as leave them 64 steps; longer, so "
      "fewer, above a --code-rate of 0.7)");
  add_integer_or_auto(
      *decode, "overlap", 0, s.overlap, -1,
      "Steps by which windows reach into their neighbours (default auto: 24, or what they "
      "allow; bfloat16, int16: 8; more at a high --code-rate R, 10 R / (1 - R)); conv, tail-biting: steps "
      "around the circle, to 4096 (auto: 8 (K - 1), above rate 1/2 8 (K - 1) / (1 - R))");
  number("code_rate", s.code_rate,
         "lte-turbo: information bits over received LLRs, those that are not 0; above 0, up to 1 (default "
         "that of --rate). Automatic windows and overlap need it where bits were punctured");
  number("extrinsic_scale", s.extrinsic_scale,
         "lte-turbo: factor on extrinsic LLRs, above 0 to 1 (default 1); 0.75 is usual for max-log-map");
  number("scale", s.scale, "LDPC: factor of normalised-min-sum, above 0 to 1 (default 0.75)");
  number("offset", s.offset, "LDPC: offset of offset-min-sum, 0 to 8 (default 0.5)");
  add_words(*decode, "schedule", s.schedule, "LDPC: layered (default) or flooding");
  add_words(*decode, "precision", s.precision,
            "Of the messages: float32 (default); LDPC float16 or int8; lte-turbo bfloat16 or int16");
  number("int8_steps", s.int8_steps, "LDPC: steps of int8 messages in an LLR of 1, 0.25 to 64 (default 3)");
  number("llr_steps", s.llr_steps,
         "lte-turbo with int16: steps of the channel LLRs in an LLR of 1, 0.25 to 64 (default 8)");
  add_words(
      *decode, "early_stop", s.early_stop,
      "When a block leaves the iterations: lte-turbo none (default), crc or sign-agreement; LDPC syndrome "
      "(default) or none");
  decode
      ->add_option_function<std::string>(
          "--crc",
          [&s](const std::string& word) {
            s.crc.reset();
            if (word == "crc24a") s.crc = wb::crc24a;
            if (word == "crc24b") s.crc = wb::crc24b;
          },
          "CRC that ends a block: none (default), crc24a or crc24b; --early-stop crc checks it, nothing else "
          "does")
      ->type_name("NAME")
      ->check(CLI::IsMember({"none", "crc24a", "crc24b"}));
  decode->add_flag("--soft", o->soft, "Write the a-posteriori LLRs too");
  add_llr_sign(*decode, *o,
               "What the file's LLRs are the logarithm of: p0/p1 (default) or p1/p0; holds for --soft too");
  add_array_running(*decode, *o, "block");
  return {decode, [decode, o] { return checked_run(*decode, *o, run_decode); }};
}
