// `warpband detect`: HDF5 files through a MIMO detector.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/nearest_name.hpp>
#include <warpband/core/status.hpp>
#include <warpband/detect/search_order.hpp>
#include <warpband/link/result.hpp>
#include <warpband/link/scenario.hpp>
#include <warpband/link/setting_json.hpp>

#include "arrays.hpp"
#include "file_detectors.hpp"
#include "setting_options.hpp"

namespace {

struct detect_options : array_options {
  const file_detector_kind* kind = nullptr;
  wb::setting_values values;         // of its settings that were given
  std::vector<std::string> given;    // options, as "--ways"
  int qam = 0;                       // 0: as the file says
  std::size_t uses_per_channel = 0;  // 0: as the file says
  bool llr = false, hard = false, symbols = false, no_prior = false;
};

#if WARPBAND_HDF5

using complex64 = std::complex<float>;

/// Opens the input, sees what it holds and makes the detector.
class detect_run : public array_run {
 public:
  explicit detect_run(const detect_options& options)
      : array_run(options, options.kind->items.c_str()), options_(options), kind_(*options.kind) {
    settle_qam();
    const bool subcarriers = kind_.over_subcarriers;  // an H for each use of a codeword
    const std::vector<std::size_t> h = file().expect<complex64>("h", subcarriers ? 4 : 3),
                                   y = file().expect<complex64>("y", kind_.uses == 0 ? 2 : 3);
    if (subcarriers) row_of_h_ = fmt::format("{}, rx, tx", kind_.uses);
    if (kind_.uses != 0 && (h.back() != kind_.tx_antennas || (subcarriers && h[1] != kind_.uses)))
      wrong_shape("h", fmt::format("[groups, {}rx, {}], {}the transmit antennas of the code",
                                   subcarriers ? fmt::format("{}, ", kind_.uses) : "", kind_.tx_antennas,
                                   subcarriers ? "subcarriers of a codeword, and " : ""));
    sizes_.rx_antennas = h[h.size() - 2];
    sizes_.streams = h.back();
    if (y.back() != sizes_.rx_antennas || (kind_.uses != 0 && y[1] != kind_.uses))
      wrong_shape("y", kind_.uses == 0
                           ? fmt::format("[batch, {}], the antennas of h", sizes_.rx_antennas)
                           : fmt::format("[batch, {}, {}], {} and the antennas of h", kind_.uses,
                                         sizes_.rx_antennas, subcarriers ? "subcarriers" : "slots"));
    received_ = std::max<std::size_t>(kind_.uses, 1) * sizes_.rx_antennas;
    channel_ = (subcarriers ? received_ : sizes_.rx_antennas) * sizes_.streams;
    items_ = y[0];
    settle_channels(h[0]);
    try {
      detector_ = kind_.make(sizes_, options.values);
    } catch (const wb::argument_error& e) {
      refuse_option(e, options.given);
      throw;
    }
    item_bits_ = detector_->bits_per_item;

    const std::size_t axes = std::min<std::size_t>(file().describe("noise_var").shape.size(), 1);
    const std::vector<std::size_t> noise = file().expect<float>("noise_var", axes);
    const std::size_t powers = kind_.noise_of_channels ? h[0] : items_;
    shared_noise_ = noise.empty() || (noise[0] == 1 && powers != 1);
    if (!shared_noise_ && noise[0] != powers)
      wrong_shape("noise_var", fmt::format("[] or [1] for all {}, or [{}], one for each{}", kind_.items,
                                           powers, kind_.noise_of_channels ? " row of h" : ""));
    prior_ = file().has("prior") && !options.no_prior;
    if (prior_) {
      const std::vector<std::size_t> prior = file().expect<float>("prior", 2);
      if (!detector_->takes_prior)
        throw wb::file_error(options.in, fmt::format("holds a-priori LLRs, which {} does not take: "
                                                     "--no-prior leaves them out",
                                                     kind_.name));
      if (prior != std::vector<std::size_t>{items_, item_bits_})
        wrong_shape("prior", kind_.uses != 0 ? fmt::format("[{}, {}]: codewords of {} bits", items_,
                                                           item_bits_, item_bits_)
                                             : fmt::format("[{}, {}]: {} streams of {} bits", items_,
                                                           item_bits_, h[2], item_bits_ / h[2]));
    }
    open();
  }

  const file_detector& detector() const noexcept { return *detector_; }
  const file_detector_kind& kind() const noexcept { return kind_; }
  bool prior() const noexcept { return prior_; }
  bool shared_noise() const noexcept { return shared_noise_; }
  std::size_t uses_per_channel() const noexcept { return uses_per_channel_; }
  std::size_t channel_elements() const noexcept { return channel_; }
  std::size_t received_elements() const noexcept { return received_; }
  std::size_t streams() const noexcept { return sizes_.streams; }
  /// The most channels that a piece of so many uses touches.
  std::size_t channels_of(std::size_t uses) const noexcept {
    return std::min((uses + uses_per_channel_ - 1) / uses_per_channel_ + (uses_per_channel_ > 1 ? 1 : 0),
                    (items_ + uses_per_channel_ - 1) / uses_per_channel_);
  }

  /// Uses of a piece.
  std::size_t piece_of(bool llr, bool hard, bool symbols) const {
    // The working memory of a call counts half in each of the two slots.
    const std::size_t channel = channel_elements() * sizeof(complex64) +
                                (kind_.noise_of_channels ? sizeof(float) : 0) +
                                (detector_->channel_bytes + 1) / 2,
                      shared = uses_per_channel_;
    memory_need need{.arrays = {"y", "h"}, .thread = detector_->thread_bytes, .together = shared};
    need.item = received_ * sizeof(complex64) + 1 + (detector_->item_bytes + 1) / 2;
    if (!shared_noise_) need.arrays.push_back("noise_var"), need.item += sizeof(float);
    if (prior_) need.arrays.push_back("prior"), need.item += item_bits_ * sizeof(float);
    if (llr) need.item += item_bits_ * sizeof(float);
    if (hard) need.item += item_bits_;
    if (symbols) need.item += sizes_.streams * (sizeof(complex64) + sizeof(float));
    need.item += (channel + shared - 1) / shared;
    if (shared > 1) need.slot = 2 * channel;
    return piece(need);
  }

  /// What a file that is written says about itself.
  wb::hdf5_attributes attributes() const {
    wb::hdf5_attributes a;
    for (const auto& [name, value] : detector_->in_force) set_attribute(a, name, value);
    a["llr_clip"] = detector_->llr_clip;
    if (detector_->order) a["order"] = wb::text_of_order(*detector_->order);
    if (detector_->takes_prior) a["prior"] = std::int64_t{prior_};
    a["uses_per_channel"] = static_cast<std::int64_t>(uses_per_channel_);
    a["llr_sign"] = options_.p1_over_p0 ? "p1/p0" : "p0/p1";
    a["warpband_version"] = wb::version();
    a["warpband_commit"] = wb::commit();
    return a;
  }

  /// The line at the end, and the record of --json.
  void report_uses(clock::time_point start, std::uint64_t erased) const {
    nlohmann::ordered_json record = record_of("detect");
    for (const auto& [name, value] : detector_->in_force) record[name] = wb::json_of(value);
    if (detector_->order) record["order"] = *detector_->order;
    record["llr_clip"] = std::isfinite(detector_->llr_clip) ? nlohmann::ordered_json(detector_->llr_clip)
                                                            : nlohmann::ordered_json(nullptr);
    if (detector_->takes_prior) record["prior"] = prior_;
    record["uses_per_channel"] = uses_per_channel_;
    record["items"] = items();
    record["erased"] = erased;
    report(record, start,
           fmt::format("of {}x{} {}-QAM, {} erased, detected by {} in ", sizes_.rx_antennas, sizes_.streams,
                       sizes_.qam, erased, kind_.name));
  }

 private:
  void settle_qam() {
    const std::string text = held("qam");
    if (options_.qam == 0 && text.empty())
      throw usage_error("a constellation is missing: --qam 4, 16, 64 or 256 (" + options_.in +
                        " names none)");
    if (options_.qam != 0 && !text.empty() && text != std::to_string(options_.qam))
      throw wb::file_error(options_.in, fmt::format("says qam = {}, not {}", text, options_.qam));
    const auto number = options_.qam != 0 ? std::optional<std::int64_t>(options_.qam) : decimal(text);
    if (!number || (*number != 4 && *number != 16 && *number != 64 && *number != 256))
      throw wb::file_error(options_.in, "says qam = " + text + ": expected 4, 16, 64 or 256");
    sizes_.qam = static_cast<int>(*number);
  }
  /// How many uses share a row of h.
  void settle_channels(std::size_t groups) {
    const std::string text = held("uses_per_channel");
    const auto number = decimal(text);
    if (!text.empty() && (!number || *number < 1))
      throw wb::file_error(options_.in, "says uses_per_channel = " + text + ": expected 1 or more");
    std::size_t shared = options_.uses_per_channel;
    if (number && shared != 0 && static_cast<std::size_t>(*number) != shared)
      throw wb::file_error(options_.in, fmt::format("says uses_per_channel = {}, not {}", text, shared));
    if (number) shared = static_cast<std::size_t>(*number);
    if (shared != 0) {
      const std::size_t wanted = items_ / shared + (items_ % shared != 0 ? 1 : 0);
      if (groups != wanted)
        wrong_shape("h", fmt::format("[{}, {}] for {} {}, {} with each channel", wanted, row_of_h_, items_,
                                     kind_.items, shared));
    } else if (items_ == groups) {
      shared = 1;
    } else if (groups == 0 || items_ < groups) {
      wrong_shape("h", fmt::format("1 to {} channels for {} uses", items_, items_));
    } else if (items_ % groups != 0) {
      wrong_shape("h",
                  fmt::format("a number of channels that divides the {} uses, or --uses-per-channel N for "
                              "N consecutive uses with each channel",
                              items_));
    } else {
      shared = items_ / groups;
    }
    uses_per_channel_ = shared;
  }
  const detect_options& options_;
  const file_detector_kind& kind_;
  detect_sizes sizes_;
  std::size_t received_ = 0, channel_ = 0;  // elements of y of an item, and of h of a row
  std::string row_of_h_ = "rx, tx";
  std::size_t uses_per_channel_ = 1;
  bool prior_ = false, shared_noise_ = false;
  std::unique_ptr<file_detector> detector_;
};

/// Pieces of the input on their way to the output.
class detect_pieces {
 public:
  detect_pieces(detect_run& run, const detect_options& options)
      : run_(run),
        hard_(options.hard),
        llr_(options.llr || !hard_),
        symbols_(options.symbols),
        negates_(options.p1_over_p0),
        bits_(run.detector().bits_per_item),
        shared_(run.uses_per_channel()),
        most_(run.piece_of(computes_llr(), hard_, symbols_)),
        one_noise_(run, 1, 1) {
    const std::size_t channels = run.channels_of(most_), streams = symbols_ ? run.streams() : 0;
    for (slot& s : slots_)
      s = {{run, most_, run.received_elements()},
           {run, channels, run.channel_elements()},
           {run, most_, streams},
           {run, run.kind().noise_of_channels ? channels : most_, run.shared_noise() ? 0u : 1u},
           {run, most_, run.prior() ? bits_ : 0},
           {run, most_, computes_llr() ? bits_ : 0},
           {run, most_, streams},
           {run, most_, hard_ ? bits_ : 0},
           {run, most_, 1}};
    if (!run.shared_noise()) return;
    run.file().read("noise_var", 0, 1, one_noise_.host.data());
    one_noise_.upload(run.exec(), 1);
  }
  std::size_t most() const noexcept { return most_; }
  std::uint64_t erased() const noexcept { return erased_; }

  void create(wb::hdf5_writer& out, std::size_t items) const {
    if (llr_) out.create<float>("llr", {items, bits_});
    if (symbols_) out.create<complex64>("equalized", {items, run_.streams()});
    if (symbols_) out.create<float>("sinr", {items, run_.streams()});
    if (hard_) out.create<std::uint8_t>("bits", {items, bits_});
    out.create<std::uint8_t>("status", {items});
  }
  void read(const piece& p) {
    slot& s = at(p);
    run_.file().read("y", p.first, p.items, s.y.host.data());
    run_.file().read("h", p.first / shared_, channels_in(p), s.h.host.data());
    if (!run_.shared_noise())
      run_.file().read("noise_var", run_.kind().noise_of_channels ? p.first / shared_ : p.first, noises_in(p),
                       s.noise.host.data());
    if (!run_.prior()) return;
    run_.file().read("prior", p.first, p.items, s.prior.host.data());
    if (negates_) negate(s.prior.host.data(), p.items * bits_);
  }
  void compute(const piece& p) {
    slot& s = at(p);
    wb::executor& e = run_.exec();
    s.y.upload(e, p.items);
    s.h.upload(e, channels_in(p));
    s.noise.upload(e, noises_in(p));
    s.prior.upload(e, p.items);
    // A piece that is cut inside the uses of a channel has the rest of them alone.
    const std::size_t before = p.first % shared_,
                      rest = before == 0 ? 0 : std::min(p.items, shared_ - before);
    if (rest != 0) detect(s, 0, rest, 0);
    if (rest != p.items) detect(s, rest, p.items - rest, rest == 0 ? 0 : 1);
    s.llr.download(e, p.items);
    s.equalized.download(e, p.items);
    s.sinr.download(e, p.items);
    s.bits.download(e, p.items);
    s.status.download(e, p.items);
    e.sync();
  }
  void write(wb::hdf5_writer& out, const piece& p) {
    slot& s = at(p);
    if (hard_ && !run_.detector().decides)
      std::transform(s.llr.host.data(), s.llr.host.data() + p.items * bits_, s.bits.host.data(),
                     [](float llr) { return static_cast<std::uint8_t>(llr < 0); });
    if (llr_ && negates_) negate(s.llr.host.data(), p.items * bits_);
    if (llr_) out.write("llr", p.first, p.items, s.llr.host.data());
    if (symbols_) out.write("equalized", p.first, p.items, s.equalized.host.data());
    if (symbols_) out.write("sinr", p.first, p.items, s.sinr.host.data());
    if (hard_) out.write("bits", p.first, p.items, s.bits.host.data());
    out.write("status", p.first, p.items, s.status.host.data());
    for (std::size_t i = 0; i < p.items; i++) erased_ += (s.status.host.data()[i] & wb::status_erased) != 0;
  }

 private:
  struct slot {
    buffer<complex64> y, h, equalized;
    buffer<float> noise, prior, llr, sinr;
    buffer<std::uint8_t> bits, status;
  };
  slot& at(const piece& p) { return slots_[static_cast<std::size_t>(p.slot)]; }
  std::size_t channels_in(const piece& p) const {
    return (p.first + p.items - 1) / shared_ - p.first / shared_ + 1;
  }
  std::size_t noises_in(const piece& p) const {
    return run_.kind().noise_of_channels ? channels_in(p) : p.items;
  }
  /// The LLRs stand in for decisions where the detector makes none.
  bool computes_llr() const { return llr_ || !run_.detector().decides; }
  /// Uses of a piece from `first` on, the first of which begins with its channel.
  void detect(slot& s, std::size_t first, std::size_t uses, std::size_t channel) {
    const std::size_t channels = (uses + shared_ - 1) / shared_;
    wb::view<float> noise =
        run_.kind().noise_of_channels ? s.noise.rows(channels, channel) : s.noise.rows(uses, first);
    if (run_.shared_noise()) {
      const std::size_t powers = noise.items;
      noise = one_noise_.rows(1);
      noise.items = powers;
      noise.item_stride = 0;
    }
    detect_arrays a{.channel = s.h.rows(channels, channel),
                    .received = s.y.rows(uses, first),
                    .uses_per_channel = shared_,
                    .noise_var = noise,
                    .prior = s.prior.rows(uses, first),
                    .llr = s.llr.rows(uses, first),
                    .status = s.status.rows(uses, first),
                    .equalized = s.equalized.rows(uses, first),
                    .sinr = s.sinr.rows(uses, first)};
    if (run_.detector().decides) a.bits = s.bits.rows(uses, first);
    run_.detector().run(run_.exec(), a);
  }

  detect_run& run_;
  bool hard_, llr_, symbols_, negates_;
  std::size_t bits_, shared_, most_;
  std::array<slot, 2> slots_;
  buffer<float> one_noise_;
  std::uint64_t erased_ = 0;
};

int run_detect(const detect_options& options) {
  stop_on_interrupt();
  detect_run run(options);
  detect_pieces pieces(run, options);
  const auto start = detect_run::clock::now();
  wb::hdf5_writer out(options.out);
  out.set(run.attributes());
  pieces.create(out, run.items());
  progress_line line(options.quiet);
  run_pieces(run.items(), pieces.most(),
             {.read = [&](const piece& p) { pieces.read(p); },
              .compute = [&](const piece& p) { pieces.compute(p); },
              .write = [&](const piece& p) { pieces.write(out, p); },
              .finished = [&](std::size_t finished) { run.progress(line, finished, start); }});
  out.commit();
  line.clear();
  run.report_uses(start, pieces.erased());
  return done;
}

#else

int run_detect(const detect_options&) {
  throw wb::error("this build reads no HDF5 files: configure it with -DWARPBAND_HDF5=ON");
}

#endif

constexpr const char* detect_footer =
    R"(What is detected: y = H s + n, n ~ CN(0, N0) in each entry, s of one Gray QAM symbol (3GPP TS 38.211, mean
energy 1) for each stream. LLRs are max-log, ln P(0)/P(1): the least |y - H s|^2 / N0 over the candidates with
b = 1, minus the same with b = 0. mf, zf, mmse, pic, ep and those of massive MIMO estimate each symbol, and their
LLRs are those of the estimate. With a space-time code S is a codeword: Y = H S + N over two uses of the
channel.

Detectors:
  ml           exhaustive: all candidates, at most 2^24
  mf, zf, mmse linear: matched filter, zero forcing, least mean square error; then each stream alone
  ot, mtt      trellis with a stage for each stream: in one pass, or in one for each stream, which misses no
               hypothesis
  kbest        breadth-first through a tree of symbols, or with --real-valued of their dimensions; the
               --survivors best nodes of a level go on
  sphere       depth-first through the same tree: the LLRs of ml from fewer nodes, or with --hard-output only
               its decisions; --radius and --node-limit end the search earlier
  nway         --ways passes, each with another stream on top: all its points, and below each the nearest
  pic          MMSE with parallel interference cancellation: what the prior says of other streams is taken off;
               without a prior mmse
  ep           expectation propagation: --iterations, each a Gaussian for every symbol from y and the others'
  uplink       MMSE for massive MIMO, 1 to 64 users and to 512 antennas; --solver says how it is solved. With
               --clusters of up to 512 antennas each, which exchange what --cluster-method says
  soft-uplink  the same with a-priori LLRs: MMSE with parallel interference cancellation
  alamouti, silver, pair, golden
               maximum likelihood of a space-time code of two transmit and 1 to 4 receive antennas; pair is two
               Alamouti blocks with the matrix --v
  sfbc, fstd   transmit diversity of LTE over subcarriers, of two and of four transmit antennas, combined linearly
With --order S0,S1,... ot, mtt, kbest, sphere and nway work as if the columns of h were S0, S1, ...; outputs
stay in the order of h. All but nway begin with the last stream named and end with the first (without it: tx
- 1 to 0). Pass p of nway, from 0 on, has stream Sp on top and below it the ones named before it, cyclically.

Input (HDF5):
  y            complex64 [batch, rx]: what rx antennas receive, one row for each use of the channel
  h            complex64 [batch, rx, tx], or [groups, rx, tx] where uses_per_channel consecutive uses share a
               row: gains from tx streams (1 to 8, with pic and ep to 16) to rx antennas (tx to 16)
               Massive MIMO has users and antennas in their place
  noise_var    float32 [] or [1] for all uses, or [batch]: N0, the variance of n per complex entry. Massive
               MIMO has one for each row of h: [groups]
  prior        float32 [batch, tx * bits], may be left out: a-priori LLRs, for all but mf, zf, mmse, uplink and
               --search slicing; those beyond +-1e6 count as +-1e6
  Of space-time codes the batch holds codewords. y is [batch, 2, rx], slot after slot, h has tx = 2, and the bits
  are those of the 2 (alamouti) or 4 symbols of a codeword. Of codes over subcarriers y and h have an axis of
  subcarriers: sfbc y [batch, 2, rx], h [groups, 2, rx, 2] and 2 symbols, fstd y [batch, 4, rx], h [groups, 4, rx, 4]
  and 4 symbols
  Attributes `qam` and `uses_per_channel`, where there are any, must agree with the options, or stand for those
  that are left out. Complex numbers are the compound of float32 "r" and "i" that h5py makes of complex64.
  Arrays that MATLAB (-v7.3), Octave or Julia (JLD2) saved are read with their axes and converted; a line
  on stderr says so

Output (HDF5, chunked; replaces OUT.h5 when it is complete, and is not there before):
  llr          float32 [batch, tx * bits], stream after stream, b0 first; not with --hard alone
  bits         uint8 [batch, tx * bits], 1 where the LLR is negative, with --hard
  equalized    complex64 [batch, users], with --symbols: estimates without bias
  sinr         float32 [batch, users], with --symbols: their SINRs, linear
  status       uint8 [batch], 1: erased, LLRs and bits are zeros: NaN or Inf in y, H or the prior; N0 outside
               1e-30..1e30; |H|^2 (sum over entries) outside 1e-30..1e30; |y|^2 above 1e30 or above 1e10 |H|^2;
               or a singular H (a squared pivot of its QR below 1e-12 of the trace of H^H H). Of massive MIMO:
               N0 outside 1e-30..1e12, |H|^2 outside 1e-12..1e12, |H^H y|^2 above 1e24 or 1e10 |H|^4, or a singular
               matrix
  attributes   detector, qam, streams, rx_antennas (of massive MIMO users, antennas), uses_per_channel,
               llr_clip (inf: no limit), llr_sign, the
               settings that the detector has, by the names of their options with _ for - (order as "2,0,1",
               true as 1), of those that take a prior prior (0 or 1), warpband_version, warpband_commit

The result does not depend on the device, the threads or the memory. --memory bounds what the program holds,
whatever the size of the file: on a CPU the whole process, on a CUDA device the buffers on the host and, once
more, those on the device.

Exit codes: 0 done, 1 failed (OUT.h5 is not written; only if the summary cannot be, it is there), 2 used
wrongly. Ctrl-C ends the run; nothing is written.

Examples:
  warpband detect recorded.h5 -o llr.h5 --detector nway --qam 64
      as many ways as streams, which misses no hypothesis
  warpband detect recorded.h5 -o llr.h5 --detector kbest --survivors 32 --qam 16 --llr-clip 12
  warpband detect recorded.h5 -o bits.h5 --detector mmse --qam 256 --hard --device cuda:0
  warpband detect decoded.h5 -o llr.h5 --detector pic --qam 16 --extrinsic
      with the decoder's extrinsic LLRs as `prior` in decoded.h5: an iterative receiver's next step
  warpband detect recorded.h5 -o llr.h5 --detector ml --qam 16 --uses-per-channel 14 --json summary.json
  warpband detect array.h5 -o llr.h5 --detector uplink --qam 64 --solver cg --iterations 4 --symbols
      of a base station: h [groups, antennas, users], y [batch, antennas]
  warpband detect array.h5 -o llr.h5 --detector uplink --qam 64 --clusters 4 --cluster-method local-mmse
  warpband detect codewords.h5 -o llr.h5 --detector golden --qam 16
From Python:
  with h5py.File("recorded.h5", "w") as f:
    f["h"], f["y"] = h.astype("complex64"), y.astype("complex64")
    f["noise_var"] = numpy.float32(0.1))";

/// The options of all kinds: one for each name, whatever kinds have it.
void add_settings(CLI::App& app, wb::setting_values& values) {
  struct shared_option {
    setting_option option;
    std::vector<const file_detector_kind*> kinds;
    std::vector<std::pair<std::string, std::string>> texts;  // of the kinds
  };
  std::vector<shared_option> options;
  for (const file_detector_kind& kind : file_detectors())
    for (const setting_option& s : kind.options) {
      auto same = std::find_if(options.begin(), options.end(),
                               [&](const shared_option& o) { return o.option.name == s.name; });
      if (same == options.end()) same = options.insert(options.end(), {s, {}, {}});
      same->kinds.push_back(&kind);
      same->texts.emplace_back(kind.name, s.text);
      if (s.initial != same->option.initial) same->option.initial.clear();
    }
  for (shared_option& o : options) {
    std::vector<std::string> names;
    for (const file_detector_kind* kind : o.kinds) names.push_back(kind->name);
    o.option.text = wb::by_kind(o.texts);
    if (o.option.name != "llr_clip" && o.option.text == o.texts.front().second)
      o.option.text = "With --detector " + wb::among(names) + ": " + o.option.text;
    add_setting_option(app, o.option, [&values, o](const wb::setting_value& value, bool dry) {
      std::optional<wb::argument_error> refused;
      for (const file_detector_kind* kind : o.kinds) try {
          kind->check(o.option.name, value);
          refused.reset();
          break;
        } catch (const wb::argument_error& e) {
          if (!refused) refused = e;
        }
      if (refused) throw *refused;
      if (!dry) values[o.option.name] = value;
    });
  }
}

}  // namespace

command add_detect(CLI::App& app) {
  CLI::App* detect = app.add_subcommand("detect", "Detect the MIMO signals of an HDF5 file");
  const auto o = std::make_shared<detect_options>();
  detect->footer(detect_footer);
  add_array_files(*detect, *o);
  std::vector<std::string> names;
  for (const file_detector_kind& kind : file_detectors()) names.push_back(kind.name);
  detect
      ->add_option_function<std::string>(
          "--detector", [o](const std::string& word) { o->kind = find_file_detector(word); },
          "How to detect, see below")
      ->required()
      ->type_name("NAME")
      ->check(CLI::Validator(
          [names](const std::string& word) -> std::string {
            if (find_file_detector(word) != nullptr) return {};
            const std::string near = wb::nearest_name(word, names);
            return fmt::format("\"{}\" is not known: {}", word,
                               near.empty() ? fmt::format("expected {}", fmt::join(names, ", "))
                                            : "did you mean " + near + "?");
          },
          fmt::format("{{{}}}", fmt::join(names, ",")), "detector"));
  detect
      ->add_option_function<std::string>(
          "--qam", [o](const std::string& word) { o->qam = static_cast<int>(decimal(word).value()); },
          "Points of the constellation; left out: what the file's attribute `qam` says")
      ->type_name("N")
      ->check(CLI::IsMember({"4", "16", "64", "256"}));
  add_settings(*detect, o->values);
  detect->add_flag("--no-prior", o->no_prior, "Leave the file's a-priori LLRs out");
  add_integer(
      *detect, "--uses-per-channel", 1, std::int64_t{1} << 40,
      "Consecutive uses that share a row of h; left out: what the file's attribute `uses_per_channel` "
      "says, else batch/groups",
      [o](std::int64_t n) { o->uses_per_channel = static_cast<std::size_t>(n); });
  detect->add_flag("--hard", o->hard, "Write hard decisions, in place of LLRs");
  detect->add_flag("--llr", o->llr, "With --hard: write the LLRs too");
  detect->add_flag("--symbols", o->symbols,
                   "With --detector \"uplink\": write the estimates of the symbols and their SINRs too");
  add_llr_sign(*detect, *o,
               "What LLRs are the logarithm of: p0/p1 (default) or p1/p0; holds for the input's prior too");
  add_array_running(*detect, *o, "use");
  return {detect, [detect, o] {
            check_array_options(*detect, *o);
            if (o->symbols && !o->kind->equalizes)
              throw usage_error(fmt::format("--symbols has no meaning with --detector {}", o->kind->name));
            o->given = options_given(*detect);
            return run_detect(*o);
          }};
}
