// `warpband receive`: which 5G NR cells are in recorded samples, and what their SS/PBCH blocks and their
// system information say.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/io/json_lines.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/link/result.hpp>
#include <warpband/ofdm/fft/fft.hpp>
#include <warpband/receive/downlink.hpp>

#include "command.hpp"
#include "downlink_json.hpp"
#include "iq_file.hpp"
#include "python.hpp"

namespace {

using sample = std::complex<float>;
using clock_type = std::chrono::steady_clock;

constexpr std::array usual_spacings{15, 30};  // kHz
constexpr double row_seconds = 0.02;          // the usual period of SS/PBCH blocks
constexpr double scanned_seconds = 0.045;     // from the start, where all frequencies may be searched

struct receive_options {
  iq_source source;
  device_options where;
  std::vector<int> spacings_khz;
  std::vector<double> offsets_hz;
  std::optional<double> carrier_hz;
  double max_cfo_hz = 1e4, false_alarm = 1e-4;
  int l_max = 0;
  bool wide = false;
  std::string json, plot;
  bool quiet = false;
};

/// Centres of SS/PBCH blocks on the synchronisation raster (TS 38.104 §5.4.3.1) with all 240 subcarriers
/// among the samples, from the centre of these.
std::vector<double> raster_offsets(double centre_hz, double rate_hz, int spacing_khz) {
  std::vector<double> offsets;
  const double room = rate_hz / 2 - 120e3 * spacing_khz;
  const auto add = [&](double first, double step, double least, double end) {
    const double low = std::max(centre_hz - room, least), high = std::min(centre_hz + room, end);
    for (double n = std::ceil((low - first) / step); first + n * step <= high; n++)
      offsets.push_back(first + n * step - centre_hz);
  };
  for (const double m : {1., 3., 5.}) add(m * 50e3, 1.2e6, 1.2e6, 3e9);
  add(3e9, 1.44e6, 3e9, 24.25e9);
  add(24.25008e9, 17.28e6, 24.25e9, 100e9);
  std::sort(offsets.begin(), offsets.end(), [](double a, double b) { return std::fabs(a) < std::fabs(b); });
  return offsets;
}

wb::nr_downlink receiver_of(double rate_hz, int spacing_khz, double offset_hz,
                            const receive_options& options) {
  wb::nr_downlink_config c;
  c.sample_rate_hz = rate_hz, c.spacing_khz = spacing_khz, c.offset_hz = offset_hz;
  c.max_cfo_hz = options.max_cfo_hz, c.false_alarm = options.false_alarm;
  c.carrier_hz = options.carrier_hz, c.wide = options.wide && spacing_khz == 30;
  if (options.l_max != 0) c.l_max = options.l_max;
  return wb::nr_downlink(c);
}

/// What is known of a cell at one frequency.
struct cell {
  int spacing_khz = 0, id = 0;
  double offset_hz = 0;
  double last = -1e300;  // first sample of its last block
  std::size_t blocks = 0, decoded = 0;
  double cfo_hz = 0, snr_db = 0;                             // sums over its blocks
  std::optional<wb::nr_ssb_content> content = std::nullopt;  // of the last block that was decoded
  std::size_t messages = 0, right = 0;                       // right: whose transport block is ok
  std::vector<std::uint8_t> sib1 = {};                       // the last of them
};

/// The 24 bits of the MIB as text.
std::string mib_text(const wb::pbch_payload& payload) { return bits_text(std::span(payload).first(24)); }
/// Bits as hexadecimal digits, the first bit the highest of the first digit.
std::string hexadecimal(const std::vector<std::uint8_t>& bits) {
  std::string text;
  for (std::size_t i = 0; i < bits.size(); i += 4) {
    unsigned digit = 0;
    for (std::size_t j = i; j < i + 4; j++) digit = 2 * digit + (j < bits.size() ? bits[j] : 0u);
    text += "0123456789abcdef"[digit];
  }
  return text;
}

std::string hertz(double hz) {
  return hz >= 1e6 ? fmt::format("{:.10g} MHz", hz / 1e6) : fmt::format("{:.10g} kHz", hz / 1e3);
}

/// Samples in pieces that overlap: `step` new ones, and `overlap` that are the next piece's first.
class reading {
 public:
  reading(iq_reader& file, std::size_t step, std::size_t overlap)
      : file_(file), step_(step), overlap_(overlap) {}
  /// The first samples, as many as there are up to n; they come again in pieces. Before the first piece.
  const std::vector<sample>& head(std::size_t n) {
    head_.resize(n);
    head_.resize(file_.read(head_.data(), n));
    return head_;
  }
  /// The next piece; false if there is none.
  bool next() {
    if (ended_) return false;
    const std::size_t kept = piece_.size() - count_;
    std::move(piece_.end() - static_cast<std::ptrdiff_t>(kept), piece_.end(), piece_.begin());
    first_ += count_;
    piece_.resize(step_ + overlap_);
    const std::size_t got = read(piece_.data() + kept, piece_.size() - kept);
    ended_ = got < piece_.size() - kept;
    piece_.resize(kept + got);
    count_ = ended_ ? piece_.size() : step_;
    return !piece_.empty();
  }
  const std::vector<sample>& piece() const { return piece_; }
  std::size_t count() const { return count_; }  // blocks that begin behind are the next piece's
  std::size_t first() const { return first_; }
  std::size_t searched() const { return first_ + count_; }

 private:
  std::size_t read(sample* to, std::size_t n) {
    const std::size_t known = std::min(n, head_.size() - from_head_);
    std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(from_head_), known, to);
    from_head_ += known;
    return known + (known < n ? file_.read(to + known, n - known) : 0);
  }

  iq_reader& file_;
  std::size_t step_, overlap_, count_ = 0, first_ = 0, from_head_ = 0;
  bool ended_ = false;
  std::vector<sample> piece_, head_;
};

template <class T>
std::vector<T> without_repetitions(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// Subcarrier spacings that are searched. Throws argument_error if the rate is not allowed, or `wide` without
/// 30 kHz.
std::vector<int> spacings_of(const iq_reader& file, const receive_options& options) {
  std::vector<int> spacings = without_repetitions(options.spacings_khz);
  const auto allowed = [&](int spacing) { return wb::nr_downlink_takes_rate(file.rate_hz(), spacing); };
  if (spacings.empty())
    std::copy_if(usual_spacings.begin(), usual_spacings.end(), std::back_inserter(spacings), allowed);
  if (spacings.empty() || !std::all_of(spacings.begin(), spacings.end(), allowed))
    throw wb::argument_error(
        "rate", fmt::format("{:g}", file.rate_hz()),
        "2 to 32 times 128 subcarrier spacings, without prime factors above 5, as 7.68e6");
  if (options.wide && std::find(spacings.begin(), spacings.end(), 30) == spacings.end())
    throw wb::argument_error("wide", "true", "false unless a spacing of 30 kHz is searched");
  return spacings;
}

/// Frequencies from the centre at which `samples` have blocks, as multiples of 15 kHz: those of resource
/// elements of a carrier around the centre.
std::vector<double> scanned_offsets(wb::executor& exec, const iq_reader& file, int spacing_khz,
                                    const std::vector<sample>& samples, const receive_options& options) {
  constexpr double raster = 15e3;
  wb::cell_search_config c;
  c.sample_rate_hz = file.rate_hz(), c.spacing_khz = spacing_khz;
  c.max_cfo_hz = 4e3 * spacing_khz, c.false_alarm = options.false_alarm;
  c.carrier_hz = options.carrier_hz;
  c.candidates = spacing_khz > 30 ? 512 : 128;  // blocks of several cells in a piece, every 5 ms
  const double room = file.rate_hz() / 2 - 120e3 * spacing_khz;
  const int steps = static_cast<int>(std::ceil((std::max(room / c.max_cfo_hz, 1.) - 1) / 2));
  auto on_device = exec.make<sample>(1, samples.size());
  exec.upload(on_device.data(), samples.data(), samples.size() * sizeof(sample));
  std::vector<double> offsets;
  for (int i = -steps; i <= steps && !interrupted(); i++) {
    c.offset_hz = 2 * c.max_cfo_hz * i;
    for (const wb::nr_found_block& found : wb::cell_search(c).run(exec, on_device).blocks) {
      const double offset = raster * std::round((c.offset_hz + found.cfo_hz) / raster);
      const auto is_near = [&](double other) { return std::fabs(other - offset) <= raster; };
      if (std::fabs(offset) <= room && std::none_of(offsets.begin(), offsets.end(), is_near))
        offsets.push_back(offset);
    }
  }
  return offsets;
}

/// Those that decode a block of `samples`.
std::vector<wb::nr_downlink> decoding(wb::executor& exec, std::vector<wb::nr_downlink>& receivers,
                                      const std::vector<sample>& samples) {
  std::vector<wb::nr_downlink> good;
  if (samples.empty()) return good;
  auto on_device = exec.make<sample>(1, samples.size());
  exec.upload(on_device.data(), samples.data(), samples.size() * sizeof(sample));
  for (wb::nr_downlink& r : receivers) {
    const auto blocks = r.blocks(exec, samples, on_device, samples.size());
    if (std::any_of(blocks.begin(), blocks.end(), [](const auto& b) { return b.pbch.ok; }))
      good.push_back(std::move(r));
  }
  return good;
}

/// What searches the file: at the frequencies that were named. Else on the synchronisation raster, or in the
/// centre if that is not known. Of these, the frequencies where blocks of the first samples are decoded. If
/// there are none, those where a scan of all frequencies finds such blocks.
std::vector<wb::nr_downlink> receivers_of(wb::executor& exec, const iq_reader& file, reading& samples,
                                          const receive_options& options) {
  const std::vector<int> spacings = spacings_of(file, options);
  const auto made = [&](auto offsets_of) {
    std::vector<wb::nr_downlink> receivers;
    for (const int spacing : spacings)
      for (const double offset : offsets_of(spacing))
        receivers.push_back(receiver_of(file.rate_hz(), spacing, offset, options));
    return receivers;
  };
  const auto expected = [&](int spacing) {
    std::vector<double> offsets = without_repetitions(options.offsets_hz);
    if (offsets.empty() && file.centre_hz())
      offsets = raster_offsets(*file.centre_hz(), file.rate_hz(), spacing);
    return offsets.empty() ? std::vector{0.} : offsets;
  };
  std::vector<wb::nr_downlink> receivers = made(expected);
  if (!options.offsets_hz.empty()) return receivers;
  const auto& head = samples.head(static_cast<std::size_t>(scanned_seconds * file.rate_hz()));
  std::vector<wb::nr_downlink> good = decoding(exec, receivers, head);
  if (!good.empty() || head.empty()) return good.empty() ? std::move(receivers) : std::move(good);
  receivers = made([&](int spacing) { return scanned_offsets(exec, file, spacing, head, options); });
  good = decoding(exec, receivers, head);
  return good.empty() ? made(expected) : std::move(good);
}

/// What is known of a cell at a receiver's frequency. Added if it is new.
cell& cell_of(std::vector<cell>& cells, const wb::nr_downlink& r, int id) {
  const auto found = std::find_if(cells.begin(), cells.end(), [&](const cell& c) {
    return c.id == id && c.spacing_khz == r.config().spacing_khz && c.offset_hz == r.config().offset_hz;
  });
  if (found != cells.end()) return *found;
  return *cells.insert(cells.end(), {r.config().spacing_khz, id, r.config().offset_hz});
}

/// Adds a block to what is known of its cell. False if the previous piece had it already, within a symbol.
bool note(cell& known, const wb::nr_downlink_block& b, double first, double symbol) {
  if (first - known.last < symbol) return false;
  known.last = first;
  known.blocks++, known.cfo_hz += b.found.cfo_hz, known.snr_db += b.found.snr_db;
  if (b.pbch.ok) known.decoded++, known.content = b.pbch.content;
  return true;
}
void note(cell& known, const wb::nr_downlink_message& m) {
  known.messages++;
  if (!m.block.ok) return;
  known.right++;
  if (!m.dci.other_information) known.sib1 = m.block.bits;
}

std::vector<std::string> row_of(const wb::nr_downlink& r, const wb::nr_downlink_block& b, double seconds) {
  std::vector<std::string> row{
      fmt::format("{:.3f}", 1e3 * seconds),   std::to_string(b.found.cell_id),
      std::to_string(r.config().spacing_khz), fmt::format("{:.1f}", r.config().offset_hz / 1e3),
      fmt::format("{:.0f}", b.found.cfo_hz),  fmt::format("{:.1f}", b.found.snr_db)};
  if (!b.pbch.content) {
    row.insert(row.end(), {"-", "-", "-", "not decoded"});
    return row;
  }
  const wb::nr_ssb_content& c = *b.pbch.content;
  for (const int n : {c.ssb_index, c.sfn, c.half_frame}) row.push_back(std::to_string(n));
  row.push_back(mib_text(b.pbch.payload));
  return row;
}

nlohmann::ordered_json block_json(const wb::nr_downlink& r, const wb::nr_downlink_block& b, double first,
                                  double rate_hz) {
  nlohmann::ordered_json j{{"seconds", first / rate_hz},        {"first_sample", first},
                           {"cell_id", b.found.cell_id},        {"spacing_khz", r.config().spacing_khz},
                           {"offset_hz", r.config().offset_hz}, {"cfo_hz", b.found.cfo_hz},
                           {"snr_db", b.found.snr_db},          {"decoded", b.pbch.ok}};
  if (!b.pbch.content) return j;
  j["mib"] = mib_text(b.pbch.payload);
  add_content(j, *b.pbch.content);
  return j;
}

/// Adds decoded blocks. Of a cell's blocks with the same index the latest stays.
void remember(std::vector<wb::nr_downlink_block>& known, const std::vector<wb::nr_downlink_block>& found) {
  for (const wb::nr_downlink_block& b : found) {
    if (!b.pbch.content) continue;
    const auto same = std::find_if(known.begin(), known.end(), [&](const wb::nr_downlink_block& k) {
      return k.found.cell_id == b.found.cell_id && k.pbch.content->ssb_index == b.pbch.content->ssb_index;
    });
    if (same == known.end())
      known.push_back(b);
    else
      *same = b;
  }
}

/// Finds the messages of a receiver's stream, each once.
class message_search {
 public:
  /// Of a piece from sample `offset` of the stream on. The next one begins with this one's sample `end`.
  /// first_sample of the messages counts from the start of the stream.
  std::vector<wb::nr_downlink_message> run(wb::executor& exec, const wb::nr_downlink& r,
                                           const std::vector<sample>& piece, double offset, std::size_t end,
                                           const std::vector<wb::nr_downlink_block>& found) {
    remember(known_, found);
    std::vector<wb::nr_downlink_message> messages = r.messages(exec, piece, end + edge_samples, known_);
    for (auto& m : messages) m.first_sample += offset;
    for (auto& b : known_) b.found.first_sample -= static_cast<double>(end);
    // At the pieces' edge both may have a message.
    std::erase_if(messages, [&](const wb::nr_downlink_message& m) {
      return std::any_of(last_.begin(), last_.end(), [&](const wb::nr_downlink_message& other) {
        return m.cell_id == other.cell_id && m.sfn == other.sfn && m.slot == other.slot &&
               m.bits == other.bits && m.first_sample - other.first_sample < 4 * edge_samples;
      });
    });
    if (!messages.empty()) last_ = messages;
    return messages;
  }
  /// Samples by which the timing of two pieces may differ.
  static constexpr std::size_t edge_samples = 8;

 private:
  std::vector<wb::nr_downlink_block> known_;  // first_sample is from the next piece's start
  std::vector<wb::nr_downlink_message> last_;
};

std::string message_text(const wb::nr_downlink_message& m, double seconds) {
  const wb::nr_si_dci& d = m.dci;
  return fmt::format(
      "{:10.3f} {:4} {}: SFN {}, slot {}, CCEs {} to {}, DCI {}: {} blocks from {}{}, MCS {}, version {}; {} "
      "bits, {}",
      1e3 * seconds, m.cell_id, d.other_information ? "other system information" : "SIB1", m.sfn, m.slot,
      m.first_cce, m.first_cce + m.level - 1, bits_text(m.bits), d.blocks, d.first_block,
      d.interleaved ? " interleaved" : "", d.mcs, d.rv, m.block.bits.size(),
      m.block.ok ? "decoded" : "not decoded");
}

nlohmann::ordered_json message_json(const wb::nr_downlink& r, const wb::nr_downlink_message& m,
                                    double rate_hz) {
  nlohmann::ordered_json j{{"seconds", m.first_sample / rate_hz},
                           {"first_sample", m.first_sample},
                           {"cell_id", m.cell_id},
                           {"spacing_khz", r.config().spacing_khz},
                           {"offset_hz", r.config().offset_hz},
                           {"ssb_index", m.ssb_index},
                           {"sfn", m.sfn},
                           {"slot", m.slot},
                           {"coreset_blocks", m.coreset_blocks},
                           {"level", m.level},
                           {"first_cce", m.first_cce},
                           {"snr_db", m.snr_db},
                           {"dci", bits_text(m.bits)}};
  add_dci(j, m.dci);
  j["decoded"] = m.block.ok;
  if (m.block.ok) j["block"] = bits_text(m.block.bits);
  return j;
}

void print_cells(const std::vector<cell>& cells) {
  for (const cell& c : cells) {
    const double n = static_cast<double>(c.blocks);
    print_to(stdout, "cell {}: {} kHz, {} of {} blocks decoded, CFO {:.0f} Hz, SNR {:.1f} dB\n", c.id,
             c.spacing_khz, c.decoded, c.blocks, c.cfo_hz / n, c.snr_db / n);
    if (!c.content) continue;
    const wb::nr_ssb_content& m = *c.content;
    const bool has_sib1 = m.k_ssb <= (c.spacing_khz > 30 ? 11 : 23);  // TS 38.213 §4.1
    print_to(stdout, "  k_SSB {}, {}, DMRS type A in symbol {}{}{}\n", m.k_ssb,
             has_sib1 ? fmt::format("SIB1 at {} kHz, CORESET 0 {}, search space 0 {}", m.common_spacing_khz,
                                    m.coreset0, m.search_space0)
                      : "no SIB1",
             m.dmrs_first_symbol, m.cell_barred ? ", barred" : "",
             m.intra_frequency ? "" : ", no reselection at its frequency");
    if (c.messages == 0) continue;
    print_to(stdout, "  {} of {} messages of system information decoded\n", c.right, c.messages);
    if (!c.sib1.empty()) print_to(stdout, "  SIB1, {} bits: {}\n", c.sib1.size(), hexadecimal(c.sib1));
  }
}

double decibels(double power) { return 10 * std::log10(std::max(power, 1e-30)); }

/// What --plot draws: the spectrum of the first samples, at most 20 ms, and the decoded block with the
/// highest SNR.
class picture {
 public:
  /// Hann windows that overlap by half, of usable samples. Powers are relative to the mean of all bins.
  void add_spectrum(wb::executor& exec, const std::vector<sample>& piece, double rate_hz) {
    if (!record_["spectrum_mhz"].empty() || piece.size() < bins) return;
    std::vector<sample> windows;
    const auto used = std::min(piece.size(), static_cast<std::size_t>(row_seconds * rate_hz));
    for (std::size_t from = 0; from + bins <= used && windows.size() < most_windows * bins; from += bins / 2)
      for (std::size_t i = 0; i < bins; i++) {
        const double turn = 2 * std::numbers::pi * static_cast<double>(i) / bins;
        const sample& x = piece[from + i];
        windows.push_back(wb::nr_is_usable(x) ? x * static_cast<float>(0.5 - 0.5 * std::cos(turn)) : 0.f);
      }
    const std::size_t count = windows.size() / bins;
    auto values = exec.make<wb::cx_pair>(count, bins);
    exec.upload(values.data(), reinterpret_cast<const wb::cx_pair*>(windows.data()),
                windows.size() * sizeof(sample));
    wb::fft(static_cast<int>(bins), wb::fft_direction::forward)
        .run(exec, count, 1, {.data = values.data(), .outer_distance = bins},
             {.data = values.data(), .outer_distance = bins});
    std::vector<double> power(bins);
    double mean = 0;
    const std::vector<wb::cx_pair> spectra = exec.to_host(values);
    for (std::size_t i = 0; i < spectra.size(); i++) {
      const double p = std::norm(std::complex<double>(spectra[i].re, spectra[i].im));
      power[(i + bins / 2) % bins] += p, mean += p / bins;
    }
    for (std::size_t i = 0; i < bins; i++) {
      record_["spectrum_mhz"].push_back((static_cast<double>(i) / bins - 0.5) * rate_hz / 1e6);
      record_["spectrum_db"].push_back(mean > 0 ? decibels(power[i] / mean) : 0.);
    }
  }
  void add_block(wb::executor& exec, const wb::nr_downlink& r, const std::vector<sample>& piece,
                 const wb::nr_downlink_block& b) {
    if (!b.pbch.ok || b.found.snr_db <= snr_db_) return;
    snr_db_ = b.found.snr_db;
    const wb::nr_block_picture seen = r.picture(exec, piece, b);
    nlohmann::ordered_json block{
        {"cell_id", b.found.cell_id}, {"snr_db", b.found.snr_db}, {"cfo_hz", b.found.cfo_hz}};
    for (const char* name :
         {"constellation_i", "constellation_q", "pss_us", "pss", "channel_khz", "channel_db"})
      block[name] = nlohmann::ordered_json::array();
    for (const sample& x : seen.points) {
      block["constellation_i"].push_back(x.real());
      block["constellation_q"].push_back(x.imag());
    }
    const double middle = static_cast<double>(seen.pss.size() / 2);
    for (std::size_t i = 0; i < seen.pss.size(); i++) {
      block["pss_us"].push_back((static_cast<double>(i) - middle) / r.config().sample_rate_hz * 1e6);
      block["pss"].push_back(seen.pss[i]);
    }
    const double centre = static_cast<double>(seen.channel.size() / 2);
    for (std::size_t k = 0; k < seen.channel.size(); k++) {
      block["channel_khz"].push_back((static_cast<double>(k) - centre) * r.config().spacing_khz);
      block["channel_db"].push_back(decibels(std::norm(std::complex<double>(seen.channel[k]))));
    }
    record_["block"] = std::move(block);
  }
  const nlohmann::ordered_json& record() const { return record_; }

 private:
  static constexpr std::size_t bins = 1024, most_windows = 600;
  double snr_db_ = -1e300;
  nlohmann::ordered_json record_{{"spectrum_mhz", nlohmann::ordered_json::array()},
                                 {"spectrum_db", nlohmann::ordered_json::array()},
                                 {"block", nullptr}};
};

int run_receive(const receive_options& options) {
  if (options.source.path.empty())
    throw usage_error("a file is missing: warpband receive FILE (see warpband receive --help)");
  iq_reader file(options.source);
  const auto exec = wb::open_executor(options.where.device, options.where.threads);
  check_not_an_input(options.json, file.files());
  check_not_an_input(options.plot, file.files());
  claim_outputs({options.json, options.plot}, "");
  std::optional<record_plotter> plotter;
  if (!options.plot.empty()) plotter.emplace("WARPBAND_PLOT_RECEIVE", "plot_receive.py", "--plot");
  picture drawn;
  stop_on_interrupt();

  const auto step = static_cast<std::size_t>(std::llround(row_seconds * file.rate_hz()));
  std::size_t overlap = 0;  // of the longest block, or of a slot
  for (const int spacing : spacings_of(file, options)) {
    const wb::nr_downlink longest = receiver_of(file.rate_hz(), spacing, 0, options);
    overlap = std::max(
        {overlap, longest.block_samples(), longest.slot_samples() + 2 * message_search::edge_samples});
  }
  reading samples(file, step, overlap);
  const std::vector<wb::nr_downlink> receivers = receivers_of(*exec, file, samples, options);
  nlohmann::ordered_json record{{"command", "receive"}};
  record["warpband"] = {{"version", wb::version()}, {"commit", wb::commit()}};
  record["file"] = options.source.path, record["sample_rate_hz"] = file.rate_hz();
  if (file.centre_hz()) record["centre_hz"] = *file.centre_hz();
  record["blocks"] = record["messages"] = nlohmann::ordered_json::array();
  print_to(stdout, "{}: {:g} MS/s{}\n", wb::printable(options.source.path, most_shown), file.rate_hz() / 1e6,
           file.centre_hz() ? ", centre " + hertz(*file.centre_hz()) : "");
  text_table table(stdout, {{"ms", 10},
                            {"cell", 4},
                            {"kHz", 4},
                            {"offset/kHz", 10, 2},
                            {"CFO/Hz", 8},
                            {"SNR/dB", 6},
                            {"i_SSB", 5},
                            {"SFN", 4},
                            {"half", 4},
                            {"MIB", 24, 1}});

  std::vector<cell> cells;
  std::vector<message_search> searches(receivers.size());
  auto on_device = exec->make<sample>(1, step + overlap);
  std::ptrdiff_t erased = 0;
  bool has_header = false;
  double working = 0;
  progress_line line(options.quiet);
  while (!interrupted() && samples.next()) {
    const std::vector<sample>& piece = samples.piece();
    if (plotter) drawn.add_spectrum(*exec, piece, file.rate_hz());
    const auto start = clock_type::now();
    exec->upload(on_device.data(), piece.data(), piece.size() * sizeof(sample));
    for (std::size_t i = 0; i < receivers.size(); i++) {
      const wb::nr_downlink& r = receivers[i];
      const auto given = wb::make_view(std::as_const(on_device).data(), 1, piece.size());
      const auto found = r.blocks(*exec, piece, given, samples.count());
      for (const auto& b : found) {
        const double first = static_cast<double>(samples.first()) + b.found.first_sample;
        if (!note(cell_of(cells, r, b.found.cell_id), b, first,
                  file.rate_hz() / (1e3 * r.config().spacing_khz)))
          continue;
        line.clear();
        if (!std::exchange(has_header, true)) table.header();
        table.row(row_of(r, b, first / file.rate_hz()));
        std::fflush(stdout);
        if (!options.json.empty()) record["blocks"].push_back(block_json(r, b, first, file.rate_hz()));
        if (plotter) drawn.add_block(*exec, r, piece, b);
      }
      for (const auto& m :
           searches[i].run(*exec, r, piece, static_cast<double>(samples.first()), samples.count(), found)) {
        note(cell_of(cells, r, m.cell_id), m);
        line.clear();
        print_to(stdout, "{}\n", message_text(m, m.first_sample / file.rate_hz()));
        std::fflush(stdout);
        if (!options.json.empty()) record["messages"].push_back(message_json(r, m, file.rate_hz()));
      }
    }
    working += std::chrono::duration<double>(clock_type::now() - start).count();
    erased += std::count_if(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(samples.count()),
                            [](const sample& x) { return !wb::nr_is_usable(x); });
    if (line.due())
      line.show(fmt::format("{:.2f} s of samples", static_cast<double>(samples.first()) / file.rate_hz()));
  }
  line.clear();
  const double seconds = static_cast<double>(samples.searched()) / file.rate_hz();
  if (cells.empty()) print_to(stdout, "no SS/PBCH block was found\n");
  print_cells(cells);
  if (erased != 0) print_to(stdout, "{} samples were not finite or above 1e15 and count as 0\n", erased);
  const double speed = working > 0 ? seconds / working : 0;
  print_to(stdout, "{:.4g} s of samples in {:.3g} s: {:.2g} times real time\n", seconds, working, speed);
  record["sample_seconds"] = seconds, record["erased_samples"] = erased;
  record["seconds"] = working, record["times_real_time"] = speed;
  if (plotter) record["plot"] = drawn.record();
  const std::string text = wb::json_lines(record);
  if (!options.json.empty()) wb::write_file(options.json, text);
  if (plotter) plotter->draw(text, options.json, options.plot);
  return interrupted() ? failed : done;
}

constexpr const char* receive_footer = R"(Synopsis:
  warpband receive RECORDING.sigmf-meta [OPTIONS]
  warpband receive SAMPLES.npy --rate HZ [OPTIONS]
  warpband receive SAMPLES.h5 [--dataset NAME] [OPTIONS]
  warpband receive FILE|- --rate HZ --format cf32|ci32|ci16|ci8 [OPTIONS]

What it does:
  Searches samples for SS/PBCH blocks of 5G NR, over all 1008 cells, and decodes the PBCH of each. Then it decodes the
  control channel in CORESET 0 and the system information that it schedules, such as SIB1. CORESET 0 must lie among the
  samples. Samples are read in pieces of 20 ms, so standard input may be a live receiver.

  A SigMF recording or --centre tells the centre frequency. Blocks are then expected on the synchronisation raster, else
  in the centre. --offset names other frequencies. If no block is decoded there in the first 45 ms, these are scanned at
  all frequencies. Frequencies with decoded blocks are searched throughout, or the expected ones if there are none.

Output:
  stdout   a line for each block: when its first prefix begins, cell, subcarrier spacing, frequency of its subcarrier 120
           from the centre of the samples, carrier frequency offset (CFO), SNR of a resource element, index of the block,
           system frame number, half frame and the 24 bits of the MIB. A line for each message of system information:
           when its slot begins, cell, its DCI, size of its transport block, and whether all CRCs hold. Then what is
           known of each cell, with the last SIB1 in hexadecimal digits
  stderr   progress

Files:
  RECORDING      SigMF: cf32, ci32, ci16 or ci8 in either byte order. --channel chooses one of several channels
  SAMPLES.npy    complex64 or complex128, one axis
  SAMPLES.h5     HDF5: an array of complex64 or complex128 [samples], or of int8, int16, int32, float32 or float64
                 [samples, 2]. Its attributes, or the root's, sample_rate and frequency tell rate and centre in Hz
  FILE           raw samples, I before Q, little endian; _be behind the format: big endian
  --json FILE    all that is printed, with more digits and all bits
  --plot FILE    figure, .png, .pdf or .svg: spectrum of the first samples, at most 20 ms; of the decoded block with the
                 highest SNR the PBCH symbols over the channel, the correlation with the PSS, and the channel

Rates are 2 to 32 times 128 subcarrier spacings (1.92 MS/s at 15 kHz, 3.84 MS/s at 30 kHz), with prime factors up to 5.

Exit codes: 0 done, also where nothing was found; 1 failed or interrupted; 2 used wrongly.

Examples:
  warpband receive cell.sigmf-meta
      cells of a recording
  warpband receive samples.npy --rate 7.68e6 --spacing 30 --json blocks.json
      blocks at 30 kHz in the centre of an array

Figures need Python with matplotlib: scripts/setup.sh installs it; WARPBAND_PYTHON names another Python.)";

}  // namespace

command add_receive(CLI::App& app) {
  CLI::App* receive =
      app.add_subcommand("receive", "Find 5G NR cells in recorded samples, and read their MIBs and SIB1");
  const auto options = std::make_shared<receive_options>();
  receive->footer(receive_footer);
  receive->add_option("FILE", options->source.path,
                      "Samples: SigMF, HDF5, .npy, raw, or - for standard input");
  receive->add_option("--rate", options->source.rate_hz, "Sample rate, if the file does not tell")
      ->type_name("HZ")
      ->check(number_between(1, 1e12));
  receive->add_option("--centre", options->source.centre_hz, "Radio frequency of the samples' centre")
      ->type_name("HZ")
      ->check(number_between(0, 1e12));
  receive
      ->add_option("--format", options->source.format,
                   "Format of raw samples: cf32 (default), ci32, ci16 or ci8")
      ->type_name("FORMAT");
  add_integer(*receive, "--channel", 0, 1023, "Channel of a recording with several, default 0",
              [options](std::int64_t n) { options->source.channel = static_cast<int>(n); });
  receive->add_option("--dataset", options->source.dataset, "Array of an HDF5 file that has several")
      ->type_name("NAME");
  receive
      ->add_option("--spacing", options->spacings_khz,
                   "Subcarrier spacings: 15, 30, 120 or 240; default 15 and 30")
      ->type_name("KHZ")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({15, 30, 120, 240}));
  receive
      ->add_option("--offset", options->offsets_hz,
                   "Frequencies of a block's subcarrier 120 from the centre of the samples")
      ->type_name("HZ")
      ->allow_extra_args(false)
      ->check(number_between(-1e12, 1e12));
  receive
      ->add_option("--carrier", options->carrier_hz,
                   "f0 of TS 38.211 section 5.4, if it is the samples' centre")
      ->type_name("HZ")
      ->check(number_between(0, 1e12));
  receive->add_option("--max-cfo", options->max_cfo_hz, "Largest CFO, default 10000")
      ->type_name("HZ")
      ->check(number_between(0, 1e6));
  receive
      ->add_option("--false-alarm", options->false_alarm,
                   "Bound of the probability of a block in 20 ms of noise at each frequency, default 1e-4")
      ->type_name("P")
      ->check(number_between(1e-12, 0.1));
  receive
      ->add_option("--l-max", options->l_max,
                   "Candidate blocks of a half frame; default: 8 and 4, 64 from 120 kHz on")
      ->type_name("4|8|64")
      ->check(CLI::IsMember({4, 8, 64}));
  receive->add_flag(
      "--wide", options->wide,
      "30 kHz: the band's least channel bandwidth is 40 MHz, which selects the table of CORESET 0");
  receive->add_option("--json", options->json, "Write all blocks and messages here, in JSON")
      ->type_name("FILE");
  receive
      ->add_option("--plot", options->plot, "Draw spectrum, constellation, PSS correlation and channel here")
      ->type_name("FILE");
  add_device_options(*receive, options->where);
  receive->add_flag("--quiet", options->quiet, "No progress on stderr");
  return {receive, [receive, options] {
            check_device_options(*receive, options->where);
            for (const auto& [option, name] : {std::pair("--json", options->json), {"--plot", options->plot}})
              if (receive->count(option) != 0 && name.empty())
                throw usage_error(std::string(option) + ": the name of the file is empty");
            try {
              return run_receive(*options);
            } catch (const wb::argument_error& e) {
              std::string name = e.argument();
              if (name.ends_with("_hz")) name.resize(name.size() - 3);
              refuse_option(wb::argument_error(name, e.value(), e.allowed()), options_given(*receive));
              throw;
            }
          }};
}
