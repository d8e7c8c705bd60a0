#include <warpband/receive/transport_loop.hpp>

#include <algorithm>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/core/error.hpp>
#include <warpband/receive/frames.hpp>

namespace wb {
namespace {

nr_transport_config with_inner(nr_transport_config c, const receiver_config& receiver) {
  if (receiver.inner) c.ldpc.iterations = *receiver.inner;
  return c;
}

receiver_config of_loop(receiver_config c) {
  c.inner.reset();  // the decoder has it
  return c;
}

}  // namespace

void check_transport_loop(const receiver_config& receiver, const detector_config& detector) {
  check_settings(receiver_settings(), receiver);
  if (receiver.interleaver != receiver_interleaver::none || !receiver.permutation.empty())
    throw argument_error("interleaver", "\"random\"", "\"none\" in slots of 5G NR");
  if (receiver.outer > 1 && !takes_prior(detector))
    throw argument_error("outer", std::to_string(receiver.outer),
                         "1 with detector.type = \"" + detector.type + "\", which takes no a-priori LLRs");
}

/// Decodes a transmission with those before it, which it keeps.
class transport_loop::block_decoder final : public soft_decoder {
 public:
  block_decoder(const nr_transport_config& transport, const std::vector<int>& versions)
      : decoder_(transport), versions_(versions) {
    if (versions.empty()) throw argument_error("versions", "[]", "one or more");
    for (const int rv : versions) check_range("versions", rv, 0, 3);
  }
  std::size_t k() const noexcept override {
    return static_cast<std::size_t>(decoder_.config().transport_bits);
  }
  std::size_t n() const noexcept override { return static_cast<std::size_t>(decoder_.config().coded_bits); }
  int most_iterations() const noexcept override {
    return decoder_.config().ldpc.iterations * static_cast<int>(blocks());
  }
  bool frames_may_move() const noexcept override { return false; }
  std::size_t bytes_per_block() const noexcept {
    return sizeof(float) * ((versions_.size() - 1) * n() + blocks() * (decoder_.columns() + 1));
  }
  void allocate(executor& exec, std::size_t count) {
    before_.clear();
    for (std::size_t t = 1; t < versions_.size(); t++) before_.push_back(exec.make<float>(count, n()));
    extrinsic_ = exec.make<float>(blocks() * count, decoder_.columns());
    iterations_ = exec.make<std::int32_t>(count, blocks());
  }
  std::size_t most() const noexcept { return iterations_.items(); }
  void begin(int transmission) {
    check_range("transmission", transmission, 0, static_cast<long long>(versions_.size()) - 1);
    transmission_ = static_cast<std::size_t>(transmission);
  }
  void run(executor& exec, view<const float> llr, const soft_decoder_state&,
           const soft_decoder_output& out) const override {
    const std::size_t count = llr.items;
    const auto earlier = [&](std::size_t t) { return make_view(before_[t].data(), count, n()); };
    decoder_.reset();
    for (std::size_t t = 0; t < transmission_; t++) decoder_.combine(exec, earlier(t), versions_[t]);
    decoder_.combine(exec, llr, versions_[transmission_]);
    nr_transport_output results{.bits = out.bits, .ok = out.finished, .status = out.status};
    if (out.iterations.data != nullptr) results.iterations = make_view(iterations_.data(), count, blocks());
    if (out.extrinsic.data != nullptr)
      results.extrinsic = make_view(extrinsic_.data(), count * blocks(), decoder_.columns());
    decoder_.decode(exec, results);
    if (out.iterations.data != nullptr) {
      frames_join_args a;
      a.codewords = blocks();
      a.iterations = iterations_.data();
      a.iterations_out = out.iterations;
      run_frames_join(exec, a, count);
    }
    if (out.extrinsic.data != nullptr)
      decoder_.feed_back(exec, results.extrinsic, llr, versions_[transmission_], out.extrinsic);
    if (transmission_ < before_.size())
      run_frames_arrange(exec, {.elements = n(), .in = llr, .out = earlier(transmission_)}, count);
  }

 private:
  std::size_t blocks() const { return static_cast<std::size_t>(decoder_.segmentation().blocks); }
  mutable nr_transport_decoder decoder_;  // one call at a time
  std::vector<int> versions_;
  std::size_t transmission_ = 0;
  mutable std::vector<array<float>> before_;  // LLRs of each transmission but the last
  mutable array<float> extrinsic_;
  mutable array<std::int32_t> iterations_;
};

transport_loop::transport_loop(const detector_config& detector, const nr_transport_config& transport,
                               const receiver_config& config, const std::vector<int>& versions, bool waits)
    : decoder_((check_transport_loop(config, detector),
                std::make_shared<block_decoder>(with_inner(transport, config), versions))),
      loop_(make_soft_detector(detector), decoder_, of_loop(config)),
      gains_(static_cast<std::size_t>(detector.streams * detector.rx_antennas)),
      rx_(static_cast<std::size_t>(detector.rx_antennas)),
      waits_(waits) {
  if (const std::size_t bits = loop_.detector().bits_per_use(); loop_.n() % bits != 0)
    throw argument_error("coded_bits", std::to_string(loop_.n()),
                         "a multiple of the " + std::to_string(bits) + " bits of a use");
}
transport_loop::~transport_loop() = default;

std::size_t transport_loop::bytes_per_frame() const noexcept {
  return loop_.working_bytes(rx_, gains_) + decoder_->bytes_per_block();
}
void transport_loop::allocate(executor& exec, std::size_t blocks) { decoder_->allocate(exec, blocks); }

void transport_loop::run_stage(executor& exec, std::size_t, const heard& in, const decided& out,
                               int transmission) {
  decoder_->begin(transmission);
  if (const std::size_t n = in.received.items / loop_.uses_per_frame(); n > decoder_->most())
    throw shape_error("received", std::to_string(n) + " blocks", "at most as many as allocate made room for");
  waits_ || !exec.is_device() ? loop_.run(exec, in, out) : loop_.queue(exec, in, out);
}

}  // namespace wb
