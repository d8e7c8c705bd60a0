#include <warpband/receive/iterative.hpp>

#include <algorithm>
#include <climits>
#include <string>
#include <utility>

#include <warpband/core/check.hpp>
#include <warpband/receive/frames.hpp>

namespace wb {
namespace {

template <class T>
void check_output(const char* argument, const view<T>& v, std::size_t frames, std::size_t elements,
                  int outer) {
  if (v.data == nullptr) return;
  const std::size_t rows = frames * static_cast<std::size_t>(outer);
  check_shape(argument, v, v.items == frames ? frames : rows, elements);
}

/// Lays pieces of working memory behind each other; the first pass, without memory, finds the size.
class pieces {
 public:
  explicit pieces(std::byte* base) : base_(base) {}
  template <class T>
  void take(T*& piece, std::size_t count) {
    if (base_ != nullptr) piece = count == 0 ? nullptr : reinterpret_cast<T*>(base_ + used_);
    used_ += (count * sizeof(T) + 63) / 64 * 64;
  }
  std::size_t used() const noexcept { return used_; }

 private:
  std::byte* base_;
  std::size_t used_ = 0;
};

std::size_t uses_of(const soft_detector& detector, const soft_decoder& decoder, std::size_t asked) {
  const std::size_t least = (decoder.n() + detector.bits_per_use() - 1) / detector.bits_per_use();
  if (asked != 0 && asked < least)
    throw argument_error("uses_per_frame", std::to_string(asked),
                         "0, or at least " + std::to_string(least) + ", which the coded bits take");
  return std::max(asked, least);
}

/// Uses of a frame that share a matrix: those that share one and are of the same frame, if frames begin with
/// a new one or all of a frame share one. Otherwise none do.
std::size_t sharing(std::size_t uses, std::size_t shared) noexcept {
  return uses % shared == 0 ? shared : shared % uses == 0 ? uses : 1;
}

}  // namespace

bit_interleaver interleaver_of(const receiver_config& c, std::size_t n) {
  if (c.permutation.empty())
    return c.interleaver == receiver_interleaver::none
               ? bit_interleaver(n)
               : bit_interleaver(random_permutation(n, static_cast<std::uint64_t>(c.interleaver_seed)));
  if (c.interleaver != receiver_interleaver::none)
    throw argument_error("interleaver", "\"random\"", "\"none\" beside a permutation");
  if (c.permutation.size() != n)
    throw argument_error("interleaver", "a list of " + std::to_string(c.permutation.size()) + " entries",
                         "a permutation of the " + std::to_string(n) + " coded bits");
  return bit_interleaver(c.permutation);
}

const std::vector<setting_of<receiver_config>>& receiver_settings() {
  using c = receiver_config;
  static const std::vector<setting_of<c>> settings{
      integer("outer", &c::outer, 1, most_outer,
              "Outer iterations between detector and decoder; 1: each runs once, without feedback."),
      integer_or_auto("inner", &c::inner, 1, 1000,
                      "Iterations of the decoder in each outer iteration. \"auto\": those of the decoder's "
                      "own settings.",
                      "an integer from 1 to 1000"),
      number("scaling", &c::scaling, 0, 2, "Factor on the extrinsic LLRs of the decoder that are fed back.",
             true),
      words<c, receiver_interleaver>(
          "interleaver", &c::interleaver,
          {{"none", receiver_interleaver::none}, {"random", receiver_interleaver::random}},
          "Order in which a frame sends its coded bits: that of the code, or a random permutation."),
      integer("interleaver_seed", &c::interleaver_seed, 0, INT64_MAX, "Seed of the permutation.",
              "an integer from 0")
          .only_with("interleaver", {"random"}),
      words<c, receiver_state>(
          "decoder_state", &c::decoder_state,
          {{"keep", receiver_state::keep}, {"reset", receiver_state::reset}},
          "keep: an LDPC decoder continues with its messages of the outer iteration before. reset: it starts "
          "again. Turbo and convolutional decoders always start again."),
      number("detector_clip", &c::detector_clip, 1e-3, 1e6, "LLRs that the decoder gets are limited to this.",
             false, "a number from 0.001 to 1e6, or \"none\"")
          .absent_as("none"),
  };
  return settings;
}

/// A call of `run`. Arrays of the frames in the list have them side by side in its order.
struct iterative_receiver::batch {
  const heard* in = nullptr;
  const decided* out = nullptr;
  std::size_t frames = 0, listed = 0;
  detector_input detects = {};       // of the frames in the list
  view<const float> detected = {};   // what the decoder got
  soft_decoder_output results = {};  // what it gave
  bool keeps = false;                // the decoder's state
  bool waits = true;                 // for the number of frames that are left
  std::int32_t left = 0;             // lives here because downloads are queued

  float *llr = nullptr, *coded = nullptr, *extrinsic = nullptr, *prior = nullptr, *noise_var = nullptr;
  float *state = nullptr, *other_state = nullptr;
  std::complex<float>*received = nullptr, *channel = nullptr;
  std::uint8_t *bits = nullptr, *status = nullptr, *finished = nullptr, *done = nullptr;
  std::int32_t *iterations = nullptr, *list = nullptr, *other_list = nullptr, *from = nullptr,
               *place = nullptr, *count = nullptr;

  void lay(pieces& p, const iterative_receiver& r, std::size_t rx_values, std::size_t gains,
           std::size_t uses_per_channel) {
    const std::size_t uses = frames * r.uses_, places = uses * r.detector_->bits_per_use(),
                      bits_of_all = frames * r.n();
    p.take(llr, places);
    p.take(coded, bits_of_all);
    p.take(prior, places);
    if (r.config_.outer == 1) return;
    p.take(extrinsic, bits_of_all);
    if (r.decoder_->frames_may_move()) {
      p.take(noise_var, uses);
      p.take(received, uses * rx_values);
      p.take(channel, uses / sharing(r.uses_, uses_per_channel) * gains);
    }
    if (r.config_.decoder_state == receiver_state::keep) {
      p.take(state, frames * r.decoder_->state_size());
      p.take(other_state, frames * r.decoder_->state_size());
    }
    p.take(bits, frames * r.k());
    p.take(status, frames);
    p.take(finished, frames);
    p.take(done, frames);
    for (std::int32_t** numbers : {&iterations, &list, &other_list, &from, &place}) p.take(*numbers, frames);
    p.take(count, 1);
  }
};

iterative_receiver::iterative_receiver(std::shared_ptr<const soft_detector> detector,
                                       std::shared_ptr<const soft_decoder> decoder,
                                       const receiver_config& config, std::size_t uses_per_frame)
    : detector_(std::move(detector)),
      decoder_(std::move(decoder)),
      config_(config),
      interleaver_(interleaver_of(config, decoder_->n())),
      uses_(uses_of(*detector_, *decoder_, uses_per_frame)) {
  if (config_.inner)
    throw argument_error("inner", std::to_string(*config_.inner),
                         "none: a decoder that is given has its own");
  check();
}
iterative_receiver::iterative_receiver(const detector_config& detector, const code_config& code,
                                       const receiver_config& config, std::size_t uses_per_frame)
    : iterative_receiver(std::shared_ptr<const soft_detector>(make_soft_detector(detector)), code, config,
                         uses_per_frame) {}
iterative_receiver::iterative_receiver(std::shared_ptr<const soft_detector> detector, const code_config& code,
                                       const receiver_config& config, std::size_t uses_per_frame)
    : detector_(std::move(detector)),
      decoder_(make_soft_decoder(code, config.inner)),
      config_(config),
      interleaver_(interleaver_of(config, decoder_->n())),
      uses_(uses_of(*detector_, *decoder_, uses_per_frame)) {
  check();
}

void iterative_receiver::check() const {
  check_settings(receiver_settings(), config_);
  if (config_.outer == 1) return;
  if (!detector_->takes_prior())
    throw argument_error("detector", "one that takes no a-priori LLRs",
                         "one that takes them, with more than one outer iteration");
  if (!decoder_->gives_extrinsic())
    throw argument_error("decoder", "one without extrinsic LLRs of the coded bits",
                         "one with them, with more than one outer iteration");
}

std::size_t iterative_receiver::working_bytes(std::size_t rx_values, std::size_t gains,
                                              std::size_t uses_per_channel) const noexcept {
  batch b;
  b.frames = 1;
  pieces sizes(nullptr);
  b.lay(sizes, *this, rx_values, gains, uses_per_channel);
  return sizes.used();
}

/// The frames of a call whose shapes are right.
std::size_t iterative_receiver::frames_of(const heard& in, const decided& out) const {
  const std::size_t uses = in.received.items, frames = uses / uses_, shared = in.uses_per_channel;
  if (uses % uses_ != 0)
    throw shape_error("received", std::to_string(uses) + " uses",
                      "a multiple of the " + std::to_string(uses_) + " uses of a frame");
  check_range("frames", static_cast<long long>(frames), 0, INT32_MAX / most_outer);
  if (shared == 0) throw argument_error("uses_per_channel", "0", "1 or more");
  check_shape("channel", in.channel, uses / shared + (uses % shared != 0), in.channel.elements);
  check_shape("noise_var", in.noise_var, uses, 1);
  check_optional_shape("prior", in.prior, frames, n());
  if (in.prior.data != nullptr && !detector_->takes_prior())
    throw argument_error("prior", "given", "none: this detector takes no a-priori LLRs");
  check_output("bits", out.bits, frames, k(), config_.outer);
  check_output("ok", out.ok, frames, 1, config_.outer);
  if (out.ok.items > 1 && out.ok.item_stride != 1)
    throw shape_error("ok", "values with gaps", "values side by side");
  check_output("iterations", out.iterations, frames, 1, config_.outer);
  check_output("status", out.status, frames, 1, config_.outer);
  check_output("detected", out.detected, frames, n(), config_.outer);
  check_output("extrinsic", out.extrinsic, frames, n(), config_.outer);
  if (out.extrinsic.data != nullptr && !decoder_->gives_extrinsic())
    throw argument_error("extrinsic", "asked for", "none: this decoder gives no extrinsic LLRs");
  check_optional_shape("use_status", out.use_status, uses, 1);
  check_apart({{"bits", out.bits},
               {"ok", out.ok},
               {"iterations", out.iterations},
               {"status", out.status},
               {"detected", out.detected},
               {"extrinsic", out.extrinsic},
               {"use_status", out.use_status}});
  return frames;
}

void iterative_receiver::run(executor& exec, const heard& in, const decided& out) const {
  receive(exec, in, out, true);
}
void iterative_receiver::queue(executor& exec, const heard& in, const decided& out) const {
  receive(exec, in, out, false);
}

void iterative_receiver::receive(executor& exec, const heard& in, const decided& out, bool waits) const {
  batch b;
  b.waits = waits;
  b.in = &in;
  b.out = &out;
  b.frames = b.listed = frames_of(in, out);
  if (b.frames == 0) return;
  pieces sizes(nullptr);
  b.lay(sizes, *this, in.received.elements, in.channel.elements, in.uses_per_channel);
  pieces memory(workspace_.on(exec, sizes.used()));
  b.lay(memory, *this, in.received.elements, in.channel.elements, in.uses_per_channel);
  b.keeps = config_.outer > 1 && config_.decoder_state == receiver_state::keep && decoder_->state_size() != 0;
  b.detects = {in.channel, in.uses_per_channel, in.received, in.noise_var, {}};
  const std::size_t bits = detector_->bits_per_use();
  if (in.prior.data != nullptr) {
    interleaver_.interleave(exec, in.prior, make_view(b.prior, b.frames, uses_ * bits));
    b.detects.prior = make_view(b.prior, b.frames * uses_, bits);
  }
  for (int j = 0; j < config_.outer; j++) {
    if (b.listed != 0) detect_and_decode(exec, b, j);
    if (j > 0) keep(exec, b, j);
    if (j + 1 < config_.outer && b.listed != 0) feed_back(exec, b, j);
  }
}

/// One outer iteration of the frames in the list. The first one, of all frames, writes where the results go.
void iterative_receiver::detect_and_decode(executor& exec, batch& b, int j) const {
  const std::size_t bits = detector_->bits_per_use();
  const bool first = j == 0, goes_on = j + 1 < config_.outer;
  const decided& out = *b.out;
  const auto place = [&]<class T>(const view<T>& result, T* fallback, std::size_t elements, bool needed) {
    if (first && result.data != nullptr) return of_iteration(result, b.frames, 0);
    const bool wanted = needed || result.data != nullptr;
    return make_view(wanted ? fallback : nullptr, b.listed, elements);
  };
  detector_->run(exec, b.detects,
                 {.llr = make_view(b.llr, b.listed * uses_, bits),
                  .bits = {},
                  .status = first ? out.use_status : view<std::uint8_t>{}});
  view<const float> llr{b.llr, n(), b.listed, 1, uses_ * bits};  // a frame's uses as one row
  if (interleaver_.permutes() || config_.detector_clip || (first && out.detected.data != nullptr)) {
    frames_arrange_args a;
    a.elements = n();
    a.order = interleaver_.inverse_on(exec);
    a.scaled = config_.detector_clip.has_value();
    a.limit = config_.detector_clip.value_or(no_clip);
    a.in = llr;
    a.out = place(out.detected, b.coded, n(), true);
    run_frames_arrange(exec, a, b.listed);
    llr = a.out;
  }
  soft_decoder_state state;
  if (b.keeps) state = {make_view(b.state, b.listed, decoder_->state_size()), first, !goes_on};
  soft_decoder_output results;
  results.extrinsic = place(out.extrinsic, b.extrinsic, n(), goes_on);
  results.bits = place(out.bits, b.bits, k(), false);
  results.iterations = place(out.iterations, b.iterations, 1, false);
  results.status = place(out.status, b.status, 1, false);
  results.finished = place(out.ok, b.finished, 1, goes_on);
  decoder_->run(exec, llr, state, results);
  b.results = results;
  b.detected = llr;
}

/// The results of all frames after outer iteration j > 0.
void iterative_receiver::keep(executor& exec, const batch& b, int j) const {
  const decided& out = *b.out;
  frames_keep_args a;
  a.place = b.place;
  a.bits = b.results.bits;
  a.ok = b.results.finished;
  a.status = b.results.status;
  a.iterations = b.results.iterations;
  a.extrinsic = b.results.extrinsic;
  a.detected = b.detected;
  const auto rows = [&](const auto& result, auto& before, auto& latest) {
    before = of_iteration(result, b.frames, j - 1);
    latest = of_iteration(result, b.frames, j);
  };
  rows(out.bits, a.bits_before, a.bits_out);
  rows(out.ok, a.ok_before, a.ok_out);
  rows(out.status, a.status_before, a.status_out);
  rows(out.iterations, a.iterations_before, a.iterations_out);
  rows(out.extrinsic, a.extrinsic_before, a.extrinsic_out);
  rows(out.detected, a.detected_before, a.detected_out);
  run_frames_keep(exec, a, b.frames);
}

/// Notes which frames are finished, and makes what the next outer iteration of the others needs.
void iterative_receiver::feed_back(executor& exec, batch& b, int j) const {
  const bool whole = b.listed == b.frames;  // the list is 0, 1, 2, ...
  // To move a frame takes about a third of the time of its outer iteration, by the bytes of both.
  const std::size_t enough = b.waits && decoder_->frames_may_move() ? (3 * b.listed + 3) / 4 : 0;
  frames_list_args l;
  l.listed = static_cast<std::int32_t>(b.listed);
  l.enough = static_cast<std::int32_t>(enough);
  l.finished = b.results.finished.data;
  l.first = j == 0;
  l.done = b.done;
  l.before = whole ? nullptr : b.list;
  l.list = b.other_list;
  l.from = b.from;
  l.place = b.place;
  l.count = b.count;
  run_frames_list(exec, l);
  if (b.waits) {
    exec.download(&b.left, b.count, sizeof b.left);
    exec.sync();
  }
  const std::size_t left = b.waits ? static_cast<std::size_t>(b.left) : b.listed;
  const bool anew = left < enough;
  if (anew || left == 0) b.listed = left;
  if (left == 0) return;
  frames_arrange_args a;  // priors
  a.elements = n();
  a.row = anew ? b.from : nullptr;
  a.order = interleaver_.order_on(exec);
  a.scaled = true;
  a.factor = config_.scaling;
  a.limit = most_feedback;
  a.in = b.results.extrinsic;
  a.out = make_view(b.prior, b.listed, uses_ * detector_->bits_per_use());
  run_frames_arrange(exec, a, b.listed);
  if (anew) {
    std::swap(b.list, b.other_list);
    gather(exec, b);
  }
  b.detects.prior = make_view(b.prior, b.listed * uses_, detector_->bits_per_use());
}

/// What was received of the frames in the list, and the decoder's state of them.
void iterative_receiver::gather(executor& exec, batch& b) const {
  const heard& in = *b.in;
  const std::size_t uses = b.listed * uses_, shared = in.uses_per_channel;
  const auto copy = [&](const auto& from, float* to, std::size_t rows, std::size_t step,
                        std::size_t sharers) {
    constexpr std::size_t width = sizeof(*from.data) / sizeof(float);
    frames_gather_args a;
    a.frame = b.list;
    a.elements = from.elements;
    a.rows = rows;
    a.of_frame = uses_;
    a.step = step;
    a.shared = sharers;
    a.width = static_cast<int>(width);
    a.in = reinterpret_cast<const float*>(from.data);
    a.row_stride = width * from.item_stride;
    a.element_stride = width * from.element_stride;
    a.out = to;
    run_frames_gather(exec, a, b.listed);
  };
  copy(in.received, reinterpret_cast<float*>(b.received), uses_, 1, 1);
  b.detects.received =
      make_view(static_cast<const std::complex<float>*>(b.received), uses, in.received.elements);
  const std::size_t uses_per_channel = sharing(uses_, shared);
  copy(in.channel, reinterpret_cast<float*>(b.channel), uses_ / uses_per_channel, uses_per_channel, shared);
  b.detects.channel = make_view(static_cast<const std::complex<float>*>(b.channel), uses / uses_per_channel,
                                in.channel.elements);
  b.detects.uses_per_channel = uses_per_channel;
  b.detects.noise_var.items = uses;  // one for all, as it is
  if (in.noise_var.item_stride != 0) {
    copy(in.noise_var, b.noise_var, uses_, 1, 1);
    b.detects.noise_var = make_view(static_cast<const float*>(b.noise_var), uses);
  }
  if (!b.keeps) return;
  frames_gather_args a;
  a.frame = b.from;
  a.elements = decoder_->state_size();
  a.in = b.state;
  a.row_stride = a.elements;
  a.out = b.other_state;
  run_frames_gather(exec, a, b.listed);
  std::swap(b.state, b.other_state);
}

namespace {

class loop_of_codewords final : public receiver {
 public:
  loop_of_codewords(iterative_receiver loop, bool waits, std::size_t bytes)
      : loop_(std::move(loop)), waits_(waits), bytes_(bytes) {}
  const std::vector<std::string>& stages() const noexcept override { return stages_; }
  std::size_t bytes_per_frame() const noexcept override { return bytes_; }
  void allocate(executor&, std::size_t) override {}
  void run_stage(executor& exec, std::size_t, const heard& in, const decided& out, int) override {
    waits_ ? loop_.run(exec, in, out) : loop_.queue(exec, in, out);
  }

 private:
  iterative_receiver loop_;
  bool waits_;
  std::size_t bytes_;
  std::vector<std::string> stages_{"receive"};
};

}  // namespace

std::unique_ptr<receiver> make_loop(iterative_receiver loop, bool waits, std::size_t bytes) {
  return std::make_unique<loop_of_codewords>(std::move(loop), waits, bytes);
}

}  // namespace wb
