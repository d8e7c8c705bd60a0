// Transport blocks of 5G NR whose detector and decoder exchange extrinsic LLRs within each transmission. They
// are sent again until their CRCs hold, as exchange_harq.cpp has it.
//
// A block is finished once its CRCs hold: what further outer iterations say of it is not looked at. The loop
// of a batch ends when all its blocks are finished. The LLRs of earlier transmissions stay those of their
// last outer iteration.
#include <numeric>

#include <warpband/core/status.hpp>
#include <warpband/link/codec_transport.hpp>
#include <warpband/link/count/count.hpp>
#include <warpband/link/exchange_buffers.hpp>
#include <warpband/receive/transport_loop.hpp>

namespace wb {
namespace {

/// Redundancy versions of the transmissions that a block may have.
std::vector<int> versions_of(const lte_transport_settings& s) {
  std::vector<int> versions;
  for (int t = 0; t < s.transmissions; t++)
    versions.push_back(s.redundancy_versions[static_cast<std::size_t>(t) % s.redundancy_versions.size()]);
  return versions;
}

class nr_loop_exchange final : public frame_exchange {
 public:
  explicit nr_loop_exchange(const link_config& c)
      : size_(c),
        source_(c),
        versions_(versions_of(c.code.transport)),
        outer_(static_cast<std::size_t>(c.receiver->outer)),
        encoder_(nr_transport_of(c.code)),
        loop_(std::get<nr_link_config>(c.antennas).detector, nr_transport_of(c.code), *c.receiver,
              versions_) {}

  std::size_t bytes_per_frame() const noexcept override {
    return size_.sent + 2 * size_.k + size_.uses + 10 + 4 * blocks() + loop_.bytes_per_block() +
           transport_bytes(loop_.decoder().segmentation());
  }

  void allocate(executor& exec, std::size_t frames) override {
    bits_ = exec.make<std::uint8_t>(size_.k, frames);
    coded_ = exec.make<std::uint8_t>(size_.sent, frames);
    loop_.allocate(exec, frames);
    use_status_ = exec.make<std::uint8_t>(size_.uses, frames);
    decided_ = exec.make<std::uint8_t>(size_.k, frames);
    status_ = exec.make<std::uint8_t>(1, frames);
    passed_ = exec.make<std::uint8_t>(1, frames);
    errors_ = exec.make<std::int32_t>(1, frames);
    iterations_ = exec.make<std::int32_t>(blocks(), frames);
    erased_uses_ = exec.make<std::int32_t>(1, frames);
  }

  void run(executor& exec, antenna_system& antennas, const frame_batch& batch,
           frame_counts& counts) override {
    const std::size_t n = batch.frames;
    source_.run(exec, make_view(bits_.data(), size_.k, n), batch);
    counts = {.bit_errors = std::vector<std::int32_t>(n),
              .iterations = std::vector<std::int32_t>(n),
              .erased = std::vector<std::uint8_t>(n),
              .erased_uses = std::vector<std::int32_t>(n),
              .transmissions = std::vector<std::uint8_t>(n),
              .passed = std::vector<std::uint8_t>(n)};
    counts.outer_bit_errors.assign(outer_, std::vector<std::int32_t>(n));
    counts.outer_erased.assign(outer_, std::vector<std::uint8_t>(n));
    loop_.reset();
    bool failed = n != 0;
    frame_batch sent = batch;
    for (; failed && sent.transmission < static_cast<int>(versions_.size()); sent.transmission++)
      failed = transmit(exec, antennas, sent, counts);
  }

 private:
  std::size_t blocks() const { return static_cast<std::size_t>(loop_.decoder().segmentation().blocks); }

  /// One transmission of all blocks. Whether any is left that failed.
  bool transmit(executor& exec, antenna_system& antennas, const frame_batch& batch, frame_counts& counts) {
    const std::size_t n = batch.frames;
    encoder_.run(exec, make_view(bits_.data(), size_.k, n),
                 versions_[static_cast<std::size_t>(batch.transmission)],
                 make_view(coded_.data(), size_.sent, n));
    const samples in = antennas.send(exec, coded_.data(), batch);
    const std::vector<std::uint8_t> passed_before = counts.passed;
    bool failed = true;
    for (std::size_t j = 0; j < outer_; j++) {
      if (failed) {
        receive(exec, in, batch.transmission, n, j);
        failed = count(counts, passed_before, j);
      } else {  // all are finished
        repeat(counts, passed_before, j);
      }
    }
    return failed;
  }

  void receive(executor& exec, const samples& in, int transmission, std::size_t n, std::size_t j) {
    const auto decided = make_view(decided_.data(), size_.k, n);
    loop_.iterate(exec, {in.received, in.channel, in.items_per_channel, in.noise_var, {}}, transmission,
                  static_cast<int>(j),
                  {.bits = decided,
                   .ok = make_view(passed_.data(), n),
                   .block_ok = {},
                   .iterations = make_view(iterations_.data(), blocks(), n),
                   .status = make_view(status_.data(), n),
                   .extrinsic = {}},
                  make_view(use_status_.data(), n * size_.uses));
    if (j == 0)
      count_erased(exec, make_view(use_status_.data(), size_.uses, n), 1, make_view(erased_uses_.data(), n));
    count_errors(exec, make_view(static_cast<const std::uint8_t*>(bits_.data()), size_.k, n),
                 view<const std::uint8_t>(decided), make_view(errors_.data(), n));
    download(exec, now_.bit_errors, errors_, n);
    download(exec, now_.iterations, iterations_, n * blocks());
    download(exec, now_.erased, status_, n);
    download(exec, now_.passed, passed_, n);
    download(exec, now_.erased_uses, erased_uses_, n);
    exec.sync();
  }

  /// Adds outer iteration j to the counts of blocks that are not finished. Whether any is left.
  bool count(frame_counts& counts, const std::vector<std::uint8_t>& passed_before, std::size_t j) const {
    bool failed = false;
    for (std::size_t i = 0; i < counts.passed.size(); i++) {
      if (passed_before[i] != 0) continue;  // by an earlier transmission
      if (j == 0) {
        counts.transmissions[i]++;
        counts.erased_uses[i] += now_.erased_uses[i];
      }
      if (counts.passed[i] == 0) {
        const auto used = now_.iterations.begin() + static_cast<std::ptrdiff_t>(i * blocks());
        counts.bit_errors[i] = now_.bit_errors[i];
        counts.iterations[i] += std::accumulate(used, used + static_cast<std::ptrdiff_t>(blocks()), 0);
        counts.erased[i] = now_.erased[i] & status_erased;
        counts.passed[i] = now_.passed[i];
      }
      note(counts, i, j);
      failed = failed || counts.passed[i] == 0;
    }
    return failed;
  }
  void repeat(frame_counts& counts, const std::vector<std::uint8_t>& passed_before, std::size_t j) const {
    for (std::size_t i = 0; i < counts.passed.size(); i++)
      if (passed_before[i] == 0) note(counts, i, j);
  }
  static void note(frame_counts& counts, std::size_t i, std::size_t j) {
    counts.outer_bit_errors[j][i] = counts.bit_errors[i];
    counts.outer_erased[j][i] = counts.passed[i] == 0;
  }

  frame_sizes size_;
  frame_source source_;
  std::vector<int> versions_;
  std::size_t outer_;
  nr_transport_encoder encoder_;
  transport_loop loop_;
  array<std::uint8_t> bits_, coded_, decided_, status_, passed_, use_status_;
  array<std::int32_t> errors_, iterations_, erased_uses_;
  frame_counts now_;  // of the last outer iteration
};

}  // namespace

std::unique_ptr<frame_exchange> make_nr_loop_exchange(const link_config& c) {
  return std::make_unique<nr_loop_exchange>(c);
}

}  // namespace wb
