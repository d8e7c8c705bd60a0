// The page of scenario files.
#include <algorithm>
#include <stdexcept>

#include <warpband/link/scenario.hpp>

namespace wb {
namespace {

using config::key_entry;

/// `text` in lines of at most `width`, all but the first indented.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t column = 0;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = std::min(text.find(' ', i), text.size());
    const std::string word = text.substr(i, end - i);
    if (column != 0 && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ') + word;
      column = indent + word.size();
    } else {
      out += (column != 0 ? " " : "") + word;
      column += (column != 0 ? 1 : 0) + word.size();
    }
    i = end + 1;
  }
  return out;
}

constexpr const char* introduction = R"(# Scenario files

`warpband sim SCENARIO.toml` simulates the link of a scenario file: random bits, CRC, encoder, mapper, channel,
demapper or MIMO detector, and decoder. It counts errors at each Eb/N0, SNR or Es/N0 of a sweep. The files are TOML
(https://toml.io). A key that is left out has its default; an unknown key is refused. Words may be written in upper
or lower case, and with - or _. This page is what `warpband sim --help-scenario` prints.

```toml
title = "LTE turbo code, K = 1024, in AWGN"

[code]
k = 1024

[decoder]
iterations = 8

[modem]
modulation = "qpsk"

[sweep]
ebn0_db = { from = 0.0, to = 1.0, step = 0.2 }

[stop]
frame_errors = 100
max_frames = 100000

[[curve]]
label = "log-MAP"

[[curve]]
label = "max-log-MAP"
decoder.algorithm = "max-log-map"
```

Each `[[curve]]` has the settings of the file above it, except those that it sets itself. A file without any has one
curve. Curves with the same seed get the same bits and noise at the n-th point of their sweeps. So their difference
is more exact than either curve.

Any key of `code` to `massive` may be swept: `sweep.KEY` with a list of values makes a curve for each value. Several
such lists make a curve for each combination. A curve that sets the key itself is not swept. The first swept setting
is the x axis of figures.

```toml
code.k = 1024
sweep.decoder.iterations = [1, 2, 5, 10]
sweep.decoder.algorithm = ["log-map", "max-log-map"]
sweep.ebn0_db = [0.5, 1.0]
```

`sweep.target_fer = 1e-2` takes the place of a list of points: it searches for the Eb/N0, SNR or Es/N0 at which the
frame error rate is 1e-2.
)";

/// Keys that most scenarios are made of, and when to set them.
struct common_key {
  const char *name, *when;
};
constexpr common_key common_keys[] = {
    {"code.type", "always: it chooses the code, and which keys of `[code]` and `[decoder]` there are"},
    {"code.k", "turbo, duo-binary turbo, convolutional and polar codes: bits of a frame"},
    {"code.n", "LDPC codes: bits of a codeword"},
    {"code.rate", "codes with several rates"},
    {"decoder.algorithm", "to trade error rate for speed, or to compare algorithms"},
    {"decoder.iterations", "iterative decoders: more are slower and have fewer errors"},
    {"decoder.precision", "for throughput, above all on GPUs"},
    {"modem.modulation", "for another modulation than BPSK"},
    {"channel.type", "for fading, delay lines, a recording, or a channel of bits"},
    {"channel.fading", "`block` if a frame sees one channel, `fast` if every use has its own"},
    {"channel.profile", "delay lines: the standard's profile"},
    {"mimo.streams", "if several antennas send"},
    {"mimo.rx_antennas", "if several antennas receive"},
    {"detector.type", "with several antennas, without a space-time code or massive MIMO"},
    {"stbc.type", "for Alamouti, Silver or Golden codes, and SFBC and FSTD of LTE"},
    {"massive.solver", "for massive MIMO; then also `massive.antennas` and `massive.users`"},
    {"nr.channel", "for slots of 5G NR"},
    {"nr.csi", "slots of 5G NR: channel known or estimated"},
    {"receiver.outer", "for a loop of detector and decoder"},
    {"sweep.ebn0_db", "the points: this, `sweep.snr_db` or `sweep.esn0_db`"},
    {"sweep.snr_db", "the points, with several antennas"},
    {"sweep.target_fer", "if you want the SNR of one frame error rate, not a curve"},
    {"stop.frame_errors", "more for smoother curves: 100 give about 20 % (95 % confidence)"},
    {"stop.max_frames", "to bound the time of points with few errors"},
    {"stop.below_fer", "to end a curve where it is low enough"},
};

const char* heading_of(const std::string& group) {
  if (group == "code") return "channel code";
  if (group == "decoder") return "decoder of the code";
  if (group == "modem") return "modulation";
  if (group == "channel") return "channel";
  if (group == "mimo") return "antennas";
  if (group == "detector") return "MIMO detector";
  if (group == "receiver") return "detector and decoder in a loop";
  if (group == "stbc") return "space-time code";
  if (group == "massive") return "massive MIMO";
  if (group == "wimax") return "WiMAX frames";
  if (group == "nr") return "slots of 5G NR";
  if (group == "sweep") return "points";
  if (group == "stop") return "when a point has enough";
  return "";
}

}  // namespace

std::string scenario_help() {
  std::string out = introduction, group = "-";
  const auto& entries = config::link_schema().entries();
  out += "\n## Common keys\n\n| key | default | when you set it |\n|---|---|---|\n";
  for (const common_key& common : common_keys) {
    const auto entry = std::find_if(entries.begin(), entries.end(),
                                    [&](const key_entry& e) { return e.key.name == common.name; });
    if (entry == entries.end()) throw std::logic_error(std::string(common.name) + " is no key of a scenario");
    const std::string initial = entry->key.initial.empty() ? "" : "`" + entry->key.initial + "`";
    out += "| `" + entry->key.name + "` | " + initial + " | " + common.when + " |\n";
  }
  out += "\nAll keys follow, table by table, with the defaults of each code and channel.\n";
  for (const key_entry& e : entries) {
    const std::string& name = e.key.name;
    const std::string table = name.find('.') == std::string::npos ? "" : name.substr(0, name.find('.'));
    if (table != group) {
      group = table;
      out += group.empty() ? "\n## At the top\n\n" : "\n## `[" + group + "]`: " + heading_of(group) + "\n\n";
    }
    const std::string initial = e.key.initial.empty() ? "" : ", default `" + e.key.initial + "`";
    out += wrapped("- `" + name.substr(table.empty() ? 0 : table.size() + 1) + "` (" + e.key.type + initial +
                       (e.kinds().empty() ? "" : "; for " + e.kinds()) + "): " + e.key.text +
                       " Allowed: " + e.key.allowed + ".",
                   110, 2) +
           "\n";
  }
  return out;
}

}  // namespace wb
