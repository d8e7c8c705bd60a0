#include "code_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <system_error>

#include "setting_options.hpp"

std::string option_of(const std::string& setting) {
  return setting == "type" ? "--code" : option_of_setting(setting);
}
bool is_matrix_file(const std::string& code) {
  return code.ends_with(".csv") || code.ends_with(".alist") || code.ends_with(".txt");
}
std::vector<const wb::code_kind*> coded_kinds() {
  std::vector<const wb::code_kind*> kinds;
  for (const wb::code_kind& kind : wb::codes())
    if (kind.make) kinds.push_back(&kind);
  return kinds;
}
std::vector<std::string> code_names() {
  std::vector<std::string> names;
  for (const wb::code_kind* kind : coded_kinds()) names.push_back(kind->name);
  return names;
}

namespace {

/// A line or more for each code: its name, what it is and its options.
std::string text_of_codes() {
  constexpr std::size_t width = 116, indent = 17;
  std::string text = "Codes (which options each has; an option of another code is refused):\n";
  for (const wb::code_kind* kind : coded_kinds()) {
    std::string line = fmt::format("  {:<15}", kind->name);
    for (std::string_view rest = kind->text; !rest.empty();) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
      if (line.size() > indent && line.size() + 1 + word.size() > width) {
        text += line + "\n";
        line.assign(indent, ' ');
      }
      line += (line.size() > indent ? " " : "") + std::string(word);
    }
    text += line + "\n";
  }
  return text + "\n";
}

constexpr const char* encode_footer = R"(Input (HDF5):
  bits         uint8 [batch, k], each 0 or 1; of transport blocks k is A, without CRCs
  attributes   where there are any of those below they must agree with the options, or stand for what is left out
  Arrays that MATLAB (-v7.3), Octave or Julia (JLD2) saved are read with their axes and converted; a line
  on stderr says so

Output (HDF5, chunked; replaces OUT.h5 when it is complete, and is not there before):
  bits         uint8 [batch, n]. lte-turbo: n = 3 (k + 4), the streams d0, d1, d2 of 3GPP TS 36.212
               section 5.1.3.2 one after the other, each with its four tail places; at rate 1/2, n = 2 k + 12,
               what of them is sent. wimax-ldpc, wifi-ldpc: the k bits, then the parity bits. ldpc: the columns
               that are sent, in their order. dvb-s2: the k bits, BCH parity, LDPC parity. nr-ldpc: n bits for each of its redundancy versions; version 0
               does not begin with the first bits. conv: the coded bits as they are sent,
               with a zero tail those of the tail too. polar: the E bits as they are sent. ctc: A, B,
               Y1 and Y2, W1 and W2 in the order of the standard (docs/ctc.md). Transport blocks: the G bits of
               each transmission, one transmission after the other
  attributes   code, k, n, rate; lte-turbo standard, with --interleaver interleaver_f1 and interleaver_f2; ctc standard;
               conv termination, constraint_length, generators and feedback (octal), standard, order; polar kind,
               coded_bits, rnti, crc_bits, construction, design_esn0_db, reliability_file; transport blocks and
               qc-ldpc their options, with _ for -; warpband_version, warpband_commit

--memory bounds what the program holds, whatever the size of the file: on a CPU the whole process, on a
CUDA device the buffers on the host and, once more, those on the device.

Exit codes: 0 done, 1 failed (OUT.h5 is not written; only if the summary cannot be, it is there), 2 used
wrongly. Ctrl-C ends the run; nothing is written.

Examples:
  warpband encode payload.h5 -o coded.h5 --code lte-turbo
  warpband encode payload.h5 -o coded.h5 --code lte-turbo --device cuda:0 --memory 4G
  warpband encode payload.h5 -o coded.h5 --code wimax-ldpc --n 2304 --rate 3/4A
  warpband encode payload.h5 -o coded.h5 --code own.csv --lifting-size 20
  warpband encode payload.h5 -o coded.h5 --code nr-ulsch --coded-bits 14400 --modulation-order 4 --scrambling 65543
  warpband encode payload.h5 -o coded.h5 --code conv --rate 3/4 --termination tail-biting
  warpband encode payload.h5 -o coded.h5 --code conv --generators 133,171,165 --termination tail-biting --order streams
      the convolutional code of LTE
From Python:
  h5py.File("payload.h5", "w")["bits"] = numpy.random.randint(0, 2, (1000, 6144), dtype=numpy.uint8))";

constexpr const char* decode_footer =
    R"(Codes: see warpband encode --help. Their decoders (an option of another one is refused):
  each option above says which codes have it, with what. --precision bfloat16 and int16 of turbo codes and int8 of
  LDPC codes are several times faster; the first two have no --soft, int16 only --algorithm max-log-map

Input (HDF5):
  llr          float32 [batch, n], L = ln P(0)/P(1): positive means 0, in the order of the bits that encode writes. A
               bit that was not received is 0 (many of them: --code-rate). Or int8 or int16: an integer v is the
               LLR v * scale (--llr-scale)
  attributes   code, k, n, rate and the others that encode writes: where there are any they must agree with the
               options, or stand for those that are left out. What is left out in both places follows from the
               shape
  llr_steps    an attribute of integer LLRs: steps of an LLR of 1, as warpband stream writes it. --llr-scale
               replaces it
  Arrays that MATLAB (-v7.3), Octave or Julia (JLD2) saved are read with their axes and converted; a line
  on stderr says so

Output (HDF5, chunked; replaces OUT.h5 when it is complete, and is not there before):
  bits         uint8 [batch, k]; with --packed [batch, ceil(k / 8)], as NumPy's packbits gives
  iterations   int32 [batch], full iterations done; conv, polar: 1; of all code blocks of a transport block
  status       uint8 [batch], sum of 1: erased (its bits are zeros and its iterations 0) because of a NaN or
               infinite LLR or, 4 as well, of fewer than k LLRs that the decoder's numbers tell from 0; and 2: the
               early stop held, of polar and transport blocks: the CRCs
  soft         float32 [batch, k], a-posteriori LLRs, with --soft; not of the Viterbi algorithm, polar and transport blocks
  attributes   those of encode, and crc and all settings of the decoder, by the names of their options with _ for -

The result does not depend on the device, the threads or the memory. --memory bounds what the program holds,
whatever the size of the file: on a CPU the whole process, on a CUDA device the buffers on the host and, once
more, those on the device.

Exit codes: 0 done, 1 failed (OUT.h5 is not written; only if the summary cannot be, it is there), 2 used
wrongly. Ctrl-C ends the run; nothing is written.

Examples:
  warpband decode recorded.h5 -o decoded.h5 --code lte-turbo
      k from the shape, exact log-MAP, 6 iterations, windows chosen
  warpband decode recorded.h5 -o decoded.h5 --code lte-turbo --k 6144 --algorithm max-log-map \
      --iterations 8 --windows 32 --crc crc24b --early-stop crc --precision int16
  warpband decode recorded.h5 -o decoded.h5 --code wimax-ldpc --rate 5/6 --iterations 20 --precision int8
      n from the shape, layered normalised min-sum
  warpband decode recorded.h5 -o decoded.h5 --code conv --rate 3/4 --algorithm log-map --soft
  warpband decode recorded.h5 -o decoded.h5 --code polar --kind dci --k 40 --rnti 4660 --list-size 8
  warpband decode recorded.h5 -o decoded.h5 --code ctc --standard dvb-rcs --rate 2/3 --algorithm max-log-map
  warpband decode recorded.h5 -o decoded.h5 --code lte-turbo --device cuda:0 --json summary.json
  warpband decode recorded.h5 -o decoded.h5 --code nr-ulsch --coded-bits 14400 --modulation-order 4 \
      --llr-scale 0.25 --packed
      integer LLRs in steps of a quarter; packed bits
  warpband decode recorded.h5 -o decoded.h5 --code lte-turbo --llr-sign p1/p0
      LLRs of a receiver that uses ln P(1)/P(0))";

/// The CRC at the end of a block, which only --early-stop crc looks at.
void add_crc(CLI::App& app, wb::setting_values& values) {
  app.add_option_function<std::string>(
         "--crc", [&values](const std::string& word) { values["crc"] = word; },
         "CRC that ends a block: none (default), crc24a or crc24b; --early-stop crc checks it, nothing else "
         "does")
      ->type_name("NAME")
      ->transform(word_of({"none", "crc24a", "crc24b"}));
}

/// Adds the options of a group of settings, "code" or "decoder".
void add_settings(CLI::App& app, const std::string& group, wb::setting_values& values) {
  static const std::vector<wb::code_setting_text> texts = wb::code_setting_texts(coded_kinds());
  for (const wb::code_setting_text& s : texts) {
    if (s.group != group || (s.name == "crc" && group == "code")) continue;
    std::vector<std::string> words = s.words;
    if (s.name == "termination") words.insert(words.begin() + 1, "zero");
    add_setting_option(app, {s.name, s.kind, s.brief, s.initial, s.allowed, words},
                       [&values, name = s.name](const wb::setting_value& given, bool dry) {
                         wb::setting_value value = given;
                         if (name == "termination" && wb::same_word(wb::plain(value), "zero"))
                           value = "zero-tail";
                         if (dry)
                           wb::check_for_some_kind(name, value);
                         else
                           values[name] = value;
                       });
  }
}

/// A code's name, or a file of a base matrix, which is told by the end of its name.
CLI::Validator code_or_file() {
  const CLI::Validator name = word_of(code_names());
  return {[name](std::string& given) -> std::string {
            return is_matrix_file(given) ? std::string() : name(given);
          },
          name.get_description(), "word"};
}

/// The options that both commands have.
void add_common(CLI::App& app, code_options& o) {
  add_array_files(app, o);
  app.add_option("--code", o.code,
                 wb::among(code_names()) +
                     ", or the file of a base matrix; left out: what the file's attribute "
                     "`code` says")
      ->type_name("NAME")
      ->transform(code_or_file());
  add_settings(app, "code", o.settings);
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
  encode->footer(text_of_codes() + encode_footer);
  add_common(*encode, *o);
  add_array_running(*encode, *o, "block");
  return {encode, [encode, o] { return checked_run(*encode, *o, run_encode); }};
}

command add_decode(CLI::App& app) {
  CLI::App* decode = app.add_subcommand("decode", "Decode the LLRs of an HDF5 file");
  const auto o = std::make_shared<code_options>();
  decode->footer(decode_footer);
  add_common(*decode, *o);
  add_settings(*decode, "decoder", o->settings);
  add_crc(*decode, o->settings);
  decode->add_flag("--soft", o->soft, "Write the a-posteriori LLRs too");
  decode->add_flag("--packed", o->packed,
                   "Write eight bits in a byte, the first in the most significant place");
  decode
      ->add_option(
          "--llr-scale", o->llr_scale,
          "Scale of integer LLRs: an integer v is the LLR v * X, X above 0. Left out: 1 / llr_steps of the "
          "file, else 1")
      ->type_name("X")
      ->check(CLI::Validator(
          [](const std::string& text) {
            double x = 0;
            const char* const last = text.data() + text.size();
            const auto [end, status] = std::from_chars(text.data(), last, x);
            const auto scale = static_cast<float>(x);
            const bool usable = status == std::errc() && end == last && scale > 0 && std::isfinite(scale);
            return usable ? std::string() : "\"" + text + "\" is not allowed: expected a number above 0";
          },
          "", "scale"));
  add_llr_sign(*decode, *o,
               "What the file's LLRs are the logarithm of: p0/p1 (default) or p1/p0; holds for --soft too");
  add_array_running(*decode, *o, "block");
  return {decode, [decode, o] { return checked_run(*decode, *o, run_decode); }};
}
