#include <warpband/receive/transport_loop.hpp>

#include <algorithm>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/core/error.hpp>
#include <warpband/receive/frames.hpp>

namespace wb {
namespace {

nr_transport_config with_inner(nr_transport_config c, const receiver_config& receiver) {
  if (receiver.inner != 0) c.ldpc.iterations = receiver.inner;
  return c;
}

void limit(executor& exec, view<float> llr, float factor, float most) {
  frames_arrange_args a;
  a.elements = llr.elements;
  a.scaled = true;
  a.factor = factor;
  a.limit = most;
  a.in = a.out = llr;
  run_frames_arrange(exec, a, llr.items);
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

transport_loop::transport_loop(const detector_config& detector, const nr_transport_config& transport,
                               const receiver_config& config, const std::vector<int>& versions, bool waits)
    : config_((check_transport_loop(config, detector), config)),
      versions_(versions),
      decoder_(with_inner(transport, config)),
      detector_(make_soft_detector(detector)),
      waits_(waits),
      sent_(static_cast<std::size_t>(transport.coded_bits)) {
  if (versions.empty()) throw argument_error("versions", "[]", "one or more");
  for (const int rv : versions) check_range("versions", rv, 0, 3);
  if (sent_ % detector_->bits_per_use() != 0)
    throw argument_error("coded_bits", std::to_string(sent_),
                         "a multiple of the " + std::to_string(detector_->bits_per_use()) + " bits of a use");
}

std::size_t transport_loop::bytes_per_frame() const noexcept {
  const std::size_t llrs = sizeof(float) * versions_.size() * sent_;
  if (config_.outer == 1) return llrs;
  return llrs + sizeof(float) * (sent_ + blocks() * decoder_.columns()) +
         static_cast<std::size_t>(decoder_.config().transport_bits) + 3 +
         (2 + blocks()) * sizeof(std::int32_t);
}

void transport_loop::allocate(executor& exec, std::size_t n) {
  llr_.clear();
  for (std::size_t t = 0; t < versions_.size(); t++) llr_.push_back(exec.make<float>(sent_, n));
  if (config_.outer == 1) return;
  prior_ = exec.make<float>(sent_, n);
  extrinsic_ = exec.make<float>(decoder_.columns(), blocks() * n);
  bits_ = exec.make<std::uint8_t>(static_cast<std::size_t>(decoder_.config().transport_bits), n);
  for (array<std::uint8_t>* a : {&ok_, &status_, &done_}) *a = exec.make<std::uint8_t>(1, n);
  iterations_ = exec.make<std::int32_t>(blocks(), n);
  for (array<std::int32_t>* a : {&place_, &list_}) *a = exec.make<std::int32_t>(1, n);
  left_ = exec.make<std::int32_t>(1, 1);
}

/// The blocks of a batch.
std::size_t transport_loop::check(const heard& in, const decided& out, int transmission) const {
  check_range("transmission", transmission, 0, static_cast<long long>(versions_.size()) - 1);
  if (out.detected.data != nullptr || out.extrinsic.data != nullptr)
    throw argument_error("detected or extrinsic", "asked for", "bits, ok, status, iterations and use_status");
  const std::size_t n = in.received.items / uses(),
                    rows = out.bits.items == n ? n : n * static_cast<std::size_t>(config_.outer);
  check_shape("received", in.received, in.received.elements, n * uses());
  if (llr_.empty() || n > llr_[0].items())
    throw shape_error("received", std::to_string(n) + " blocks", "at most as many as allocate made room for");
  check_shape("bits", out.bits, static_cast<std::size_t>(decoder_.config().transport_bits), rows);
  check_shape("ok", out.ok, 1, rows);
  check_shape("status", out.status, 1, rows);
  check_optional_shape("iterations", out.iterations, blocks(), n);
  return n;
}

void transport_loop::run_stage(executor& exec, std::size_t, const heard& in, const decided& out,
                               int transmission) {
  const std::size_t n = check(in, out, transmission);
  if (transmission == 0) decoder_.reset();
  if (n == 0) return;
  decided first = out;
  first.bits = of_iteration(out.bits, n, 0), first.ok = of_iteration(out.ok, n, 0);
  first.status = of_iteration(out.status, n, 0);
  iterate(exec, in, transmission, 0, first);
  const decided now{
      .bits = make_view(bits_.data(), out.bits.elements, n),
      .ok = make_view(ok_.data(), n),
      .iterations = make_view(out.iterations.data != nullptr ? iterations_.data() : nullptr, blocks(), n),
      .status = make_view(status_.data(), n)};
  bool left = true;
  for (int j = 1; j < config_.outer; j++) {
    left = left && note_finished(exec, of_iteration(out.ok, n, j - 1), j == 1);
    if (left) iterate(exec, in, transmission, j, now);
    if (left || out.ok.items != n) keep(exec, now, out, j);
  }
}

/// Notes the blocks whose CRCs hold. Whether there may be others.
bool transport_loop::note_finished(executor& exec, view<const std::uint8_t> ok, bool first) {
  frames_list_args l;
  l.listed = static_cast<std::int32_t>(ok.items);
  l.finished = ok.data;
  l.first = first;
  l.done = done_.data();
  l.list = l.from = list_.data();  // nothing is written to it: enough is 0
  l.place = place_.data();
  l.count = left_.data();
  run_frames_list(exec, l);
  if (exec.is_device() && !waits_) return true;
  exec.download(&left_here_, left_.data(), sizeof left_here_);
  exec.sync();
  return left_here_ != 0;
}

/// The results after outer iteration j: those of now, of finished blocks those before.
void transport_loop::keep(executor& exec, const decided& now, const decided& out, int j) {
  const std::size_t n = now.ok.items;
  frames_keep_args a;
  a.place = place_.data();
  a.bits = now.bits, a.bits_before = of_iteration(out.bits, n, j - 1),
  a.bits_out = of_iteration(out.bits, n, j);
  a.status = now.status, a.status_before = of_iteration(out.status, n, j - 1);
  a.status_out = of_iteration(out.status, n, j);
  a.iterations = now.iterations, a.iterations_before = a.iterations_out = out.iterations;
  run_frames_keep(exec, a, n);
  frames_keep_args oks;
  oks.place = place_.data();
  oks.bits = now.ok, oks.bits_before = of_iteration(out.ok, n, j - 1),
  oks.bits_out = of_iteration(out.ok, n, j);
  run_frames_keep(exec, oks, n);
}

void transport_loop::iterate(executor& exec, const heard& in, int transmission, int j, const decided& now) {
  const std::size_t n = in.received.items / uses();
  detect(exec, in, transmission, j, now.use_status);
  if (j > 0) {  // other LLRs in the place of those of the outer iteration before
    decoder_.reset();
    for (int t = 0; t < transmission; t++) decoder_.combine(exec, llr_of(t, n), version(t));
  }
  decoder_.combine(exec, llr_of(transmission, n), version(transmission));
  nr_transport_output results{
      .bits = now.bits, .ok = now.ok, .block_ok = {}, .iterations = now.iterations, .status = now.status};
  if (j + 1 < config_.outer)
    results.extrinsic = make_view(extrinsic_.data(), decoder_.columns(), n * blocks());
  decoder_.decode(exec, results);
}

/// LLRs of a transmission, from the second outer iteration on with what the decoder says.
void transport_loop::detect(executor& exec, const heard& in, int transmission, int j,
                            view<std::uint8_t> use_status) {
  const std::size_t bits = detector_->bits_per_use(), n = in.received.items / uses();
  const view<float> llr = llr_of(transmission, n);
  detector_input vectors{in.received, in.channel, in.uses_per_channel, in.noise_var, {}};
  if (j > 0) {
    const auto fed = make_view(prior_.data(), sent_, n);
    decoder_.feed_back(
        exec, make_view(static_cast<const float*>(extrinsic_.data()), decoder_.columns(), n * blocks()), llr,
        version(transmission), fed);
    limit(exec, fed, config_.scaling, most_feedback);
    vectors.prior = make_view(static_cast<const float*>(prior_.data()), bits, in.received.items);
  }
  detector_->run(exec, vectors,
                 {.llr = make_view(llr.data, bits, in.received.items), .bits = {}, .status = use_status});
  if (config_.detector_clip != no_clip) limit(exec, llr, 1, config_.detector_clip);
}

}  // namespace wb
