// `warpband receive`: which 5G NR cells are in recorded samples, and what their SS/PBCH blocks say.
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
#include <string>
#include <utility>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/io/json_lines.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/link/result.hpp>
#include <warpband/nr/pbch/pbch.hpp>
#include <warpband/nr/sync/cell_search.hpp>
#include <warpband/ofdm/modem/modem.hpp>

#include "command.hpp"
#include "iq_file.hpp"

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
  std::string json;
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

/// Whether cell_search takes a sample as it is.
bool is_usable(const sample& x) { return std::fabs(x.real()) <= 1e15f && std::fabs(x.imag()) <= 1e15f; }

/// Finds blocks of one subcarrier spacing and frequency, and decodes them.
class block_receiver {
 public:
  block_receiver(double rate_hz, int spacing_khz, double offset_hz, const receive_options& options)
      : rate_hz_(rate_hz),
        spacing_khz_(spacing_khz),
        offset_hz_(offset_hz),
        search_(search_config(rate_hz, spacing_khz, offset_hz, options)),
        demodulator_(numerology_of(rate_hz, spacing_khz), {.symbols = wb::ssb_symbols}) {
    std::vector<int> counts{options.l_max};
    // A block that both decode says the same: half frame 0 and i_SSB below 4.
    if (options.l_max == 0) counts = spacing_khz > 30 ? std::vector{64} : std::vector{8, 4};
    for (const int l_max : counts)
      decoders_.emplace_back(wb::pbch_decoder_config{.l_max = l_max, .list_size = 8, .hypotheses = 2});
  }

  static wb::cell_search_config search_config(double rate_hz, int spacing_khz, double offset_hz,
                                              const receive_options& options) {
    wb::cell_search_config c;
    c.sample_rate_hz = rate_hz, c.spacing_khz = spacing_khz, c.offset_hz = offset_hz;
    c.max_cfo_hz = options.max_cfo_hz, c.false_alarm = options.false_alarm;
    c.carrier_hz = options.carrier_hz;
    c.candidates = spacing_khz > 30 ? 512 : 128;  // blocks of several cells in a piece, every 5 ms
    return c;
  }

  struct block {
    wb::nr_found_block found;
    wb::nr_pbch_block pbch;
  };
  /// Samples that a block takes, with room for the FFT windows.
  std::size_t block_samples() const { return demodulator_.samples() + early() + 1; }
  int spacing_khz() const { return spacing_khz_; }
  double offset_hz() const { return offset_hz_; }

  /// The blocks that begin before sample `end` and lie among the `samples` as a whole.
  std::vector<block> run(wb::executor& exec, const std::vector<sample>& samples, std::size_t end,
                         wb::view<const sample> on_device) const {
    std::vector<block> blocks;
    for (const wb::nr_found_block& found : search_.run(exec, on_device).blocks) {
      const double first = std::floor(found.first_sample + 0.5);
      if (first >= static_cast<double>(end) ||
          first + static_cast<double>(demodulator_.samples()) > static_cast<double>(samples.size()))
        continue;
      blocks.push_back({found, {}});
      decode(exec, samples, first, blocks.back());
    }
    std::sort(blocks.begin(), blocks.end(),
              [](const block& a, const block& b) { return a.found.first_sample < b.found.first_sample; });
    return blocks;
  }

 private:
  /// Of a block alone: subcarrier 120 is at 0 Hz, and no symbol has a longer prefix.
  static wb::ofdm_numerology numerology_of(double rate_hz, int spacing_khz) {
    wb::ofdm_numerology n;
    n.spacing_hz = 1e3 * spacing_khz;
    n.fft_size = static_cast<int>(std::lround(rate_hz / n.spacing_hz));
    n.subcarriers = wb::ssb_subcarriers, n.free_carrier = false;
    n.cyclic_prefix = n.first_cyclic_prefix = n.fft_size * 9 / 128;
    n.symbols_per_slot = wb::ssb_symbols;
    return n;
  }
  /// Samples by which FFT windows begin early, for paths before the strongest.
  std::size_t early() const { return static_cast<std::size_t>(demodulator_.numerology().fft_size / 64); }

  void decode(wb::executor& exec, const std::vector<sample>& samples, double first, block& b) const {
    const std::size_t n = demodulator_.samples();
    std::vector<sample> centred(n);
    const double turn = -2 * std::numbers::pi * (offset_hz_ + b.found.cfo_hz) / rate_hz_;
    const double begin = first - static_cast<double>(early());
    for (std::size_t i = 0; i < n; i++) {
      const double index = begin + static_cast<double>(i);
      if (index < 0) continue;
      const std::complex<double> x = samples[static_cast<std::size_t>(index)];
      if (is_usable(sample(x))) centred[i] = sample(x * std::polar(1.0, turn * static_cast<double>(i)));
    }
    auto from = exec.make<sample>(1, n);
    exec.upload(from.data(), centred.data(), n * sizeof(sample));
    auto grid = exec.make<sample>(1, demodulator_.values());
    demodulator_.run(exec, from, grid);
    for (const wb::pbch_decoder& decoder : decoders_) {
      b.pbch = decoder.run(exec, grid, {b.found.cell_id})[0];
      if (b.pbch.ok) return;
    }
  }

  double rate_hz_;
  int spacing_khz_;
  double offset_hz_;
  wb::cell_search search_;
  wb::ofdm_demodulator demodulator_;
  std::vector<wb::pbch_decoder> decoders_;
};

/// What is known of a cell at one frequency.
struct cell {
  int spacing_khz = 0, id = 0;
  double offset_hz = 0;
  double last = -1e300;  // first sample of its last block
  std::size_t blocks = 0, decoded = 0;
  double cfo_hz = 0, snr_db = 0;                             // sums over its blocks
  std::optional<wb::nr_ssb_content> content = std::nullopt;  // of the last block that was decoded
};

/// The 24 bits of the MIB as text.
std::string mib_text(const wb::pbch_payload& payload) {
  std::string text;
  for (int i = 0; i < 24; i++) text += static_cast<char>('0' + payload[static_cast<std::size_t>(i)]);
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

/// Whether samples hold blocks and their rate is one of cell_search's.
bool takes_rate(double rate_hz, int spacing_khz) {
  const double ratio = rate_hz / (128e3 * spacing_khz);
  if (!(ratio >= 2 && ratio <= 32 && ratio == std::floor(ratio))) return false;
  int rest = static_cast<int>(ratio);  // the FFT takes products of 2, 3 and 5
  for (const int factor : {2, 3, 5})
    while (rest % factor == 0) rest /= factor;
  return rest == 1;
}
/// Subcarrier spacings that are searched. Throws argument_error if the rate is not allowed.
std::vector<int> spacings_of(const iq_reader& file, const receive_options& options) {
  std::vector<int> spacings = without_repetitions(options.spacings_khz);
  const auto allowed = [&](int spacing) { return takes_rate(file.rate_hz(), spacing); };
  if (spacings.empty())
    std::copy_if(usual_spacings.begin(), usual_spacings.end(), std::back_inserter(spacings), allowed);
  if (spacings.empty() || !std::all_of(spacings.begin(), spacings.end(), allowed))
    throw wb::argument_error(
        "rate", fmt::format("{:g}", file.rate_hz()),
        "2 to 32 times 128 subcarrier spacings, without prime factors above 5, as 7.68e6");
  return spacings;
}

/// Frequencies from the centre at which `samples` have blocks, as multiples of 15 kHz: those of resource
/// elements of a carrier around the centre.
std::vector<double> scanned_offsets(wb::executor& exec, const iq_reader& file, int spacing_khz,
                                    const std::vector<sample>& samples, const receive_options& options) {
  constexpr double raster = 15e3;
  wb::cell_search_config c = block_receiver::search_config(file.rate_hz(), spacing_khz, 0, options);
  c.max_cfo_hz = 4e3 * spacing_khz;
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
std::vector<block_receiver> decoding(wb::executor& exec, std::vector<block_receiver>& receivers,
                                     const std::vector<sample>& samples) {
  std::vector<block_receiver> good;
  if (samples.empty()) return good;
  auto on_device = exec.make<sample>(1, samples.size());
  exec.upload(on_device.data(), samples.data(), samples.size() * sizeof(sample));
  for (block_receiver& r : receivers) {
    const auto blocks = r.run(exec, samples, samples.size(), on_device);
    if (std::any_of(blocks.begin(), blocks.end(), [](const auto& b) { return b.pbch.ok; }))
      good.push_back(std::move(r));
  }
  return good;
}

/// What searches the file: at the frequencies that were named. Else on the synchronisation raster, or in the
/// centre if that is not known. Of these, the frequencies where blocks of the first samples are decoded. If
/// there are none, those where a scan of all frequencies finds such blocks.
std::vector<block_receiver> receivers_of(wb::executor& exec, const iq_reader& file, reading& samples,
                                         const receive_options& options) {
  const std::vector<int> spacings = spacings_of(file, options);
  const auto made = [&](auto offsets_of) {
    std::vector<block_receiver> receivers;
    for (const int spacing : spacings)
      for (const double offset : offsets_of(spacing))
        receivers.emplace_back(file.rate_hz(), spacing, offset, options);
    return receivers;
  };
  const auto expected = [&](int spacing) {
    std::vector<double> offsets = without_repetitions(options.offsets_hz);
    if (offsets.empty() && file.centre_hz())
      offsets = raster_offsets(*file.centre_hz(), file.rate_hz(), spacing);
    return offsets.empty() ? std::vector{0.} : offsets;
  };
  std::vector<block_receiver> receivers = made(expected);
  if (!options.offsets_hz.empty()) return receivers;
  const auto& head = samples.head(static_cast<std::size_t>(scanned_seconds * file.rate_hz()));
  std::vector<block_receiver> good = decoding(exec, receivers, head);
  if (!good.empty() || head.empty()) return good.empty() ? std::move(receivers) : std::move(good);
  receivers = made([&](int spacing) { return scanned_offsets(exec, file, spacing, head, options); });
  good = decoding(exec, receivers, head);
  return good.empty() ? made(expected) : std::move(good);
}

/// Adds a block to what is known of its cell. False if the previous piece had it already, within a symbol.
bool note(std::vector<cell>& cells, const block_receiver& r, const block_receiver::block& b, double first,
          double symbol) {
  auto found = std::find_if(cells.begin(), cells.end(), [&](const cell& c) {
    return c.id == b.found.cell_id && c.spacing_khz == r.spacing_khz() && c.offset_hz == r.offset_hz();
  });
  if (found == cells.end())
    found = cells.insert(cells.end(), {r.spacing_khz(), b.found.cell_id, r.offset_hz()});
  if (first - found->last < symbol) return false;
  found->last = first;
  found->blocks++, found->cfo_hz += b.found.cfo_hz, found->snr_db += b.found.snr_db;
  if (b.pbch.ok) found->decoded++, found->content = b.pbch.content;
  return true;
}

std::vector<std::string> row_of(const block_receiver& r, const block_receiver::block& b, double seconds) {
  std::vector<std::string> row{
      fmt::format("{:.3f}", 1e3 * seconds),  std::to_string(b.found.cell_id),
      std::to_string(r.spacing_khz()),       fmt::format("{:.1f}", r.offset_hz() / 1e3),
      fmt::format("{:.0f}", b.found.cfo_hz), fmt::format("{:.1f}", b.found.snr_db)};
  if (!b.pbch.content) {
    row.insert(row.end(), {"-", "-", "-", "not decoded"});
    return row;
  }
  const wb::nr_ssb_content& c = *b.pbch.content;
  for (const int n : {c.ssb_index, c.sfn, c.half_frame}) row.push_back(std::to_string(n));
  row.push_back(mib_text(b.pbch.payload));
  return row;
}

nlohmann::ordered_json block_json(const block_receiver& r, const block_receiver::block& b, double first,
                                  double rate_hz) {
  nlohmann::ordered_json j{{"seconds", first / rate_hz}, {"first_sample", first},
                           {"cell_id", b.found.cell_id}, {"spacing_khz", r.spacing_khz()},
                           {"offset_hz", r.offset_hz()}, {"cfo_hz", b.found.cfo_hz},
                           {"snr_db", b.found.snr_db},   {"decoded", b.pbch.ok}};
  if (!b.pbch.content) return j;
  const wb::nr_ssb_content& c = *b.pbch.content;
  j["mib"] = mib_text(b.pbch.payload);
  j["sfn"] = c.sfn, j["half_frame"] = c.half_frame, j["ssb_index"] = c.ssb_index, j["k_ssb"] = c.k_ssb;
  j["common_spacing_khz"] = c.common_spacing_khz, j["dmrs_first_symbol"] = c.dmrs_first_symbol;
  j["coreset0"] = c.coreset0, j["search_space0"] = c.search_space0;
  j["cell_barred"] = c.cell_barred, j["intra_frequency"] = c.intra_frequency;
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
  }
}

int run_receive(const receive_options& options) {
  if (options.source.path.empty())
    throw usage_error("a file is missing: warpband receive FILE (see warpband receive --help)");
  iq_reader file(options.source);
  const auto exec = wb::open_executor(options.where.device, options.where.threads);
  check_not_an_input(options.json, file.files());
  stop_on_interrupt();

  const auto step = static_cast<std::size_t>(std::llround(row_seconds * file.rate_hz()));
  std::size_t overlap = 0;  // of the longest block
  for (const int spacing : spacings_of(file, options))
    overlap = std::max(overlap, block_receiver(file.rate_hz(), spacing, 0, options).block_samples());
  reading samples(file, step, overlap);
  const std::vector<block_receiver> receivers = receivers_of(*exec, file, samples, options);
  nlohmann::ordered_json record{{"command", "receive"}};
  record["warpband"] = {{"version", wb::version()}, {"commit", wb::commit()}};
  record["file"] = options.source.path, record["sample_rate_hz"] = file.rate_hz();
  if (file.centre_hz()) record["centre_hz"] = *file.centre_hz();
  record["blocks"] = nlohmann::ordered_json::array();
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
  auto on_device = exec->make<sample>(1, step + overlap);
  std::ptrdiff_t erased = 0;
  bool has_header = false;
  double working = 0;
  progress_line line(options.quiet);
  while (!interrupted() && samples.next()) {
    const std::vector<sample>& piece = samples.piece();
    const auto start = clock_type::now();
    exec->upload(on_device.data(), piece.data(), piece.size() * sizeof(sample));
    for (const block_receiver& r : receivers) {
      const auto given = wb::make_view(std::as_const(on_device).data(), 1, piece.size());
      for (const auto& b : r.run(*exec, piece, samples.count(), given)) {
        const double first = static_cast<double>(samples.first()) + b.found.first_sample;
        if (!note(cells, r, b, first, file.rate_hz() / (1e3 * r.spacing_khz()))) continue;
        line.clear();
        if (!std::exchange(has_header, true)) table.header();
        table.row(row_of(r, b, first / file.rate_hz()));
        std::fflush(stdout);
        if (!options.json.empty()) record["blocks"].push_back(block_json(r, b, first, file.rate_hz()));
      }
    }
    working += std::chrono::duration<double>(clock_type::now() - start).count();
    erased += std::count_if(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(samples.count()),
                            [](const sample& x) { return !is_usable(x); });
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
  if (!options.json.empty()) wb::write_file(options.json, wb::json_lines(record));
  return interrupted() ? failed : done;
}

constexpr const char* receive_footer = R"(Synopsis:
  warpband receive RECORDING.sigmf-meta [OPTIONS]
  warpband receive SAMPLES.npy --rate HZ [OPTIONS]
  warpband receive FILE|- --rate HZ --format cf32|ci32|ci16|ci8 [OPTIONS]

What it does:
  Searches samples for SS/PBCH blocks of 5G NR, over all 1008 cells, and decodes the PBCH of each. Samples are read in
  pieces of 20 ms, so standard input may be a live receiver.

  A SigMF recording or --centre tells the centre frequency. Blocks are then expected on the synchronisation raster, else
  in the centre. --offset names other frequencies. If no block is decoded there in the first 45 ms, these are scanned at
  all frequencies. Frequencies with decoded blocks are searched throughout, or the expected ones if there are none.

Output:
  stdout   a line for each block: when its first prefix begins, cell, subcarrier spacing, frequency of its subcarrier 120
           from the centre of the samples, carrier frequency offset (CFO), SNR of a resource element, index of the block,
           system frame number, half frame and the 24 bits of the MIB. Then what is known of each cell
  stderr   progress

Files:
  RECORDING      SigMF: cf32, ci32, ci16 or ci8 in either byte order. --channel chooses one of several channels
  SAMPLES.npy    complex64 or complex128, one axis
  FILE           raw samples, I before Q, little endian; _be behind the format: big endian
  --json FILE    all that is printed, and more digits

Rates are 2 to 32 times 128 subcarrier spacings (1.92 MS/s at 15 kHz, 3.84 MS/s at 30 kHz), with prime factors up to 5.

Exit codes: 0 done, also where nothing was found; 1 failed or interrupted; 2 used wrongly.

Examples:
  warpband receive cell.sigmf-meta
      cells of a recording
  warpband receive samples.npy --rate 7.68e6 --spacing 30 --json blocks.json
      blocks at 30 kHz in the centre of an array)";

}  // namespace

command add_receive(CLI::App& app) {
  CLI::App* receive =
      app.add_subcommand("receive", "Find 5G NR cells in recorded samples, and read their MIBs");
  const auto options = std::make_shared<receive_options>();
  receive->footer(receive_footer);
  receive->add_option("FILE", options->source.path, "Samples: SigMF, .npy, raw, or - for standard input");
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
  receive->add_option("--json", options->json, "Write all blocks here, in JSON")->type_name("FILE");
  add_device_options(*receive, options->where);
  receive->add_flag("--quiet", options->quiet, "No progress on stderr");
  return {receive, [receive, options] {
            check_device_options(*receive, options->where);
            if (receive->count("--json") != 0 && options->json.empty())
              throw usage_error("--json: the name of the file is empty");
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
