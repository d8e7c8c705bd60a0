#include <warpband/stream/chains.hpp>

#include <complex>
#include <optional>
#include <string>
#include <utility>

#include <warpband/core/check.hpp>
#include <warpband/core/count.hpp>
#include <warpband/core/error.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {

const std::vector<setting_of<uplink_chain_config>>& uplink_chain_settings() {
  using c = uplink_chain_config;
  static const std::vector<setting_of<c>> all{
      words("samples", &c::half, {{"complex64", false}, {"complex32", true}},
            "H and y, of precode H alone, as pairs of floats, or of halves, which cross the bus in half the "
            "time; all is computed in float32."),
      words("llr", &c::llr_int8, {{"float32", false}, {"int8", true}},
            "LLRs as floats, or in 8 bits: the nearest of +-127 steps.")};
  return all;
}

std::size_t size_of(element_type type) noexcept {
  switch (type) {
    case element_type::uint8:
    case element_type::int8:
      return 1;
    case element_type::int32:
    case element_type::float32:
    case element_type::complex32:
      return 4;
    case element_type::complex64:
      return 8;
  }
  return 0;
}
const char* name_of(element_type type) noexcept {
  switch (type) {
    case element_type::uint8:
      return "uint8";
    case element_type::int8:
      return "int8";
    case element_type::int32:
      return "int32";
    case element_type::float32:
      return "float32";
    case element_type::complex32:
      return "complex32";
    case element_type::complex64:
      return "complex64";
  }
  return "?";
}
std::size_t offset_of(const std::vector<frame_port>& ports, std::size_t index, std::size_t items) noexcept {
  std::size_t at = 0;
  for (std::size_t i = 0; i < index; i++) at += (ports[i].bytes_of(items) + 255) / 256 * 256;
  return at;
}

void check_items(const frame_chain& chain, const char* argument, std::size_t items, std::size_t most) {
  constexpr std::size_t limit = std::size_t{1} << 31;
  const std::size_t unit = chain.multiple(), least = chain.least_items();
  if (most > limit || most < least) most = limit;
  if (items >= least && items <= most && items % unit == 0) return;
  throw argument_error(argument, std::to_string(items),
                       (unit == 1 ? std::string() : "a multiple of " + std::to_string(unit) + " from ") +
                           std::to_string(least) + " to " + std::to_string(most));
}

namespace {

using cx64 = std::complex<float>;
constexpr element_type c64 = element_type::complex64, f32 = element_type::float32;

frame_port shared_noise() {
  return {.name = "noise_var", .type = f32, .elements = 1, .rows = 1, .per_items = 0};
}
frame_port status_port() { return {.name = "status", .type = element_type::uint8, .elements = 1}; }

/// What all have: names and arrays.
class chain_base : public frame_chain {
 public:
  std::string name() const override { return name_; }
  const std::vector<frame_port>& inputs() const noexcept override { return inputs_; }
  const std::vector<frame_port>& outputs() const noexcept override { return outputs_; }
  const std::vector<std::string>& stages() const noexcept override { return stages_; }
  std::size_t granularity(std::size_t) const noexcept override { return granularity_; }
  double bits_of(std::size_t items) const noexcept override { return bits_ * static_cast<double>(items); }

 protected:
  std::string name_;
  std::vector<frame_port> inputs_, outputs_;
  std::vector<std::string> stages_;
  std::size_t granularity_ = 1;
  double bits_ = 0;
};

/// Of one stage without memory of its own: Chain::queue(executor, frame).
template <class Chain>
class single_run final : public chain_run {
 public:
  single_run(const Chain& chain, executor& exec) : chain_(chain), exec_(exec) {}
  void run(std::size_t, const frame_arrays& frame) override { chain_.queue(exec_, frame); }

 private:
  const Chain& chain_;
  executor& exec_;
};

/// Array `index` of a frame.
template <class T>
view<const T> input(const std::vector<frame_port>& ports, const frame_arrays& f, std::size_t index) {
  const frame_port& p = ports[index];
  view<const T> v = make_view(static_cast<const T*>(f.inputs[index]), p.elements, p.rows_of(f.items));
  return v;
}
template <class T>
view<T> output(const std::vector<frame_port>& ports, const frame_arrays& f, std::size_t index) {
  const frame_port& p = ports[index];
  return make_view(static_cast<T*>(f.outputs[index]), p.elements, p.rows_of(f.items));
}
/// One number for all `items`.
view<const float> noise_of(const frame_arrays& f, std::size_t index, std::size_t items) {
  return {static_cast<const float*>(f.inputs[index]), 1, items, 1, 0};
}

// ---- detect, decode

class detect_chain : public chain_base {
 public:
  explicit detect_chain(const detect_chain_config& c)
      : detector_(make_detector(c.detector)), uses_per_channel_(c.uses_per_channel) {
    if (uses_per_channel_ < 1 || uses_per_channel_ > std::size_t{1} << 30)
      throw argument_error("uses_per_channel", std::to_string(uses_per_channel_), "1 to 2^30");
    const std::size_t s = size(detector_->streams()), r = size(detector_->rx_antennas());
    name_ = "detect";
    inputs_ = {{.name = "channel", .type = c64, .elements = r * s, .per_items = uses_per_channel_},
               {.name = "received", .type = c64, .elements = r},
               shared_noise()};
    outputs_ = {{.name = "llr", .type = f32, .elements = detector_->bits_per_use()}, status_port()};
    stages_ = {"detect"};
    granularity_ = uses_per_channel_;
    bits_ = static_cast<double>(detector_->bits_per_use());
  }
  std::unique_ptr<chain_run> attach(executor& exec, std::size_t) const override {
    return std::make_unique<single_run<detect_chain>>(*this, exec);
  }
  void queue(executor& exec, const frame_arrays& f) const {
    detect(exec, f, output<float>(outputs_, f, 0), output<std::uint8_t>(outputs_, f, 1));
  }

 protected:
  void detect(executor& exec, const frame_arrays& f, view<float> llr, view<std::uint8_t> status) const {
    detector_->run(exec,
                   {.received = input<cx64>(inputs_, f, 1),
                    .channel = input<cx64>(inputs_, f, 0),
                    .uses_per_channel = uses_per_channel_,
                    .noise_var = noise_of(f, 2, f.items),
                    .prior = {}},
                   {.llr = llr, .bits = {}, .status = status});
  }
  std::unique_ptr<detector> detector_;
  std::size_t uses_per_channel_;
};

class decode_chain final : public detect_chain {
 public:
  decode_chain(const detect_chain_config& c, block_decoder decoder)
      : detect_chain(c), decoder_(std::move(decoder)) {
    if (decoder_.n < 1 || decoder_.k < 1 || !decoder_.run)
      throw argument_error("decoder", "without n, k or run", "all three");
    name_ = "decode";
    const frame_port per_block{
        .rows = detector_->bits_per_use(), .per_items = decoder_.n, .rounds_up = false};
    outputs_ = {per_block, per_block};
    outputs_[0].name = "bits", outputs_[0].type = element_type::uint8, outputs_[0].elements = decoder_.k;
    outputs_[1].name = "iterations", outputs_[1].type = element_type::int32;
    stages_ = {"detect", "decode"};
    granularity_ = 0;
  }
  std::size_t least_items() const noexcept override {
    return (decoder_.n + detector_->bits_per_use() - 1) / detector_->bits_per_use();
  }
  double bits_of(std::size_t items) const noexcept override {
    return static_cast<double>(outputs_[0].rows_of(items) * decoder_.k);
  }
  std::unique_ptr<chain_run> attach(executor& exec, std::size_t most_items) const override {
    return std::make_unique<stages>(*this, exec, most_items);
  }

 private:
  class stages final : public chain_run {
   public:
    stages(const decode_chain& chain, executor& exec, std::size_t most_items)
        : chain_(chain), exec_(exec), llr_(exec.make<float>(chain.detector_->bits_per_use(), most_items)) {}
    void run(std::size_t stage, const frame_arrays& f) override {
      if (stage == 0) return chain_.detect(exec_, f, make_view(llr_.data(), llr_.elements(), f.items), {});
      const std::size_t blocks = chain_.outputs_[0].rows_of(f.items);
      chain_.decoder_.run(exec_, make_view(static_cast<const float*>(llr_.data()), chain_.decoder_.n, blocks),
                          output<std::uint8_t>(chain_.outputs_, f, 0),
                          output<std::int32_t>(chain_.outputs_, f, 1));
    }

   private:
    const decode_chain& chain_;
    executor& exec_;
    array<float> llr_;
  };
  block_decoder decoder_;
};

/// Detector and decoder in one.
class receive_chain final : public detect_chain {
 public:
  receive_chain(const detect_chain_config& c, block_receiver receiver)
      : detect_chain(c), receiver_(std::move(receiver)) {
    if (receiver_.uses < 1 || receiver_.k < 1 || !receiver_.run)
      throw argument_error("receiver", "without uses, k or run", "all three");
    name_ = "decode";
    const frame_port per_block{.per_items = receiver_.uses, .rounds_up = false};
    outputs_ = {per_block, per_block};
    outputs_[0].name = "bits", outputs_[0].type = element_type::uint8, outputs_[0].elements = receiver_.k;
    outputs_[1].name = "iterations", outputs_[1].type = element_type::int32;
    stages_ = {"receive"};
    granularity_ = 0;
  }
  std::size_t least_items() const noexcept override { return receiver_.uses; }
  double bits_of(std::size_t items) const noexcept override {
    return static_cast<double>(outputs_[0].rows_of(items) * receiver_.k);
  }
  std::unique_ptr<chain_run> attach(executor& exec, std::size_t) const override {
    return std::make_unique<single_run<receive_chain>>(*this, exec);
  }
  void queue(executor& exec, const frame_arrays& f) const {
    const std::size_t uses = outputs_[0].rows_of(f.items) * receiver_.uses;
    detector_input in{.received = input<cx64>(inputs_, f, 1),
                      .channel = input<cx64>(inputs_, f, 0),
                      .uses_per_channel = uses_per_channel_,
                      .noise_var = noise_of(f, 2, uses),
                      .prior = {}};
    in.received.items = uses;
    in.channel.items = inputs_[0].rows_of(uses);
    receiver_.run(exec, in, output<std::uint8_t>(outputs_, f, 0), output<std::int32_t>(outputs_, f, 1));
  }

 private:
  block_receiver receiver_;
};

// ---- massive MIMO

template <class Config>
bool is_clustered(const Config& c) {
  return c.clusters != 1 || c.clustering != cluster_method::exact;
}

class uplink_chain final : public chain_base {
 public:
  explicit uplink_chain(const uplink_chain_config& c)
      : symbols_(c.symbols), splits_(c.splits), half_(c.half), llr_int8_(c.llr_int8) {
    if (is_clustered(c))
      clustered_.emplace(clustered_uplink_config{c.detector, c.clusters, c.clustering});
    else
      detector_.emplace(c.detector);
    const std::size_t bits = clustered_ ? clustered_->bits_per_vector() : detector_->bits_per_vector();
    check_range("symbols", symbols_, 1, 1 << 20);
    if (splits_ < 1 || symbols_ % splits_ != 0)
      throw argument_error("splits", std::to_string(splits_),
                           "a divisor of symbols = " + std::to_string(symbols_));
    const std::size_t b = size(c.detector.antennas), u = size(c.detector.users);
    name_ = "uplink";
    granularity_ = size(symbols_);
    const element_type samples = half_ ? element_type::complex32 : c64;
    inputs_ = {{.name = "channel", .type = samples, .elements = b * u, .per_items = granularity_},
               {.name = "received", .type = samples, .elements = b},
               shared_noise()};
    inputs_[0].whole = splits_ > 1;
    outputs_ = {{.name = "llr", .type = llr_int8_ ? element_type::int8 : f32, .elements = bits},
                status_port()};
    stages_ = {"uplink"};
    bits_ = static_cast<double>(bits);
  }
  std::size_t multiple() const noexcept override { return granularity_; }
  std::unique_ptr<chain_run> attach(executor& exec, std::size_t) const override {
    return std::make_unique<single_run<uplink_chain>>(*this, exec);
  }
  std::size_t granularity(std::size_t items) const noexcept override {
    return splits_ == 1 ? granularity_ : items / size(splits_);
  }
  void queue(executor& exec, const frame_arrays& f) const {
    if (half_)
      queue<uplink_half_input, half_complex>(exec, f);
    else
      queue<uplink_input, cx64>(exec, f);
  }

 private:
  template <class Input, class Sample>
  void queue(executor& exec, const frame_arrays& f) const {
    const std::size_t frames = (splits_ == 1 ? f.items : f.frame_items) / granularity_;
    const std::size_t vectors = frames * granularity_ / size(splits_);  // of a split
    const frame_port &h = inputs_[0], &y = inputs_[1], &llr = outputs_[0];
    for (std::size_t from = 0; from < f.items; from += vectors) {
      uplink_output out;
      if (llr_int8_)
        out.llr_int8 =
            make_view(static_cast<std::int8_t*>(f.outputs[0]) + from * llr.elements, llr.elements, vectors);
      else
        out.llr = make_view(static_cast<float*>(f.outputs[0]) + from * llr.elements, llr.elements, vectors);
      out.status = make_view(static_cast<std::uint8_t*>(f.outputs[1]) + from, vectors);
      const Input in{.channel = make_view(static_cast<const Sample*>(f.inputs[0]), h.elements, frames),
                     .received = make_view(static_cast<const Sample*>(f.inputs[1]) + from * y.elements,
                                           y.elements, vectors),
                     .noise_var = noise_of(f, 2, frames),
                     .symbols = symbols_ / splits_};
      detect(exec, in, out);
    }
  }
  template <class Input>
  void detect(executor& exec, const Input& in, const uplink_output& out) const {
    if (clustered_)
      clustered_->run(exec, in, out);
    else
      detector_->run(exec, in, out);
  }

  std::optional<uplink_detector> detector_;  // one of them
  std::optional<clustered_uplink_detector> clustered_;
  int symbols_, splits_;
  bool half_, llr_int8_;
};

class precode_chain final : public chain_base {
 public:
  explicit precode_chain(const precode_chain_config& c)
      : precoder_(c.precoder), symbols_(c.symbols), half_(c.half) {
    check_range("symbols", symbols_, 1, 1 << 20);
    if (is_clustered(c)) clustered_.emplace(clustered_downlink_config{c.precoder, c.clusters, c.clustering});
    const std::size_t b = size(c.precoder.antennas), u = size(c.precoder.users);
    name_ = "precode";
    granularity_ = size(symbols_);
    inputs_ = {{.name = "channel",
                .type = half_ ? element_type::complex32 : c64,
                .elements = b * u,
                .per_items = granularity_},
               {.name = "sent", .type = c64, .elements = u},
               shared_noise()};
    outputs_ = {{.name = "precoded", .type = c64, .elements = b}, status_port()};
    stages_ = {"precode"};
    bits_ = 4 * static_cast<double>(u);  // as the papers count: 16-QAM
  }
  std::size_t multiple() const noexcept override { return granularity_; }
  std::unique_ptr<chain_run> attach(executor& exec, std::size_t) const override {
    return std::make_unique<single_run<precode_chain>>(*this, exec);
  }
  void queue(executor& exec, const frame_arrays& f) const {
    if (half_)
      queue<downlink_half_input, half_complex>(exec, f);
    else
      queue<downlink_input, cx64>(exec, f);
  }

 private:
  template <class Input, class Sample>
  void queue(executor& exec, const frame_arrays& f) const {
    const view<const Sample> h = input<Sample>(inputs_, f, 0);
    const Input in{.channel = h,
                   .sent = input<cx64>(inputs_, f, 1),
                   .noise_var = noise_of(f, 2, h.items),
                   .symbols = symbols_};
    const view<cx64> precoded = output<cx64>(outputs_, f, 0);
    const view<std::uint8_t> status = output<std::uint8_t>(outputs_, f, 1);
    if (clustered_)
      clustered_->run(exec, in, precoded, status);
    else
      precoder_.run(exec, in, precoded, status);
  }

  downlink_precoder precoder_;
  std::optional<clustered_downlink_precoder> clustered_;  // in its place
  int symbols_;
  bool half_;
};

// ---- space-time codes

class stbc_chain final : public chain_base {
 public:
  explicit stbc_chain(const stbc_chain_config& c)
      : decoder_(c.decoder), codewords_per_channel_(c.codewords_per_channel) {
    if (codewords_per_channel_ < 1 || codewords_per_channel_ > std::size_t{1} << 30)
      throw argument_error("codewords_per_channel", std::to_string(codewords_per_channel_), "1 to 2^30");
    const std::size_t r = size(c.decoder.rx_antennas);
    name_ = "stbc";
    inputs_ = {{.name = "channel", .type = c64, .elements = 2 * r, .per_items = codewords_per_channel_},
               {.name = "received", .type = c64, .elements = 2 * r},
               shared_noise()};
    outputs_ = {{.name = "llr", .type = f32, .elements = decoder_.bits_per_codeword()}, status_port()};
    stages_ = {"stbc"};
    granularity_ = codewords_per_channel_;
    bits_ = static_cast<double>(decoder_.bits_per_codeword());
  }
  std::unique_ptr<chain_run> attach(executor& exec, std::size_t) const override {
    return std::make_unique<single_run<stbc_chain>>(*this, exec);
  }
  void queue(executor& exec, const frame_arrays& f) const {
    decoder_.run(
        exec,
        {.received = input<cx64>(inputs_, f, 1),
         .channel = input<cx64>(inputs_, f, 0),
         .codewords_per_channel = codewords_per_channel_,
         .noise_var = noise_of(f, 2, f.items)},
        {.llr = output<float>(outputs_, f, 0), .bits = {}, .status = output<std::uint8_t>(outputs_, f, 1)});
  }

 private:
  stbc_decoder decoder_;
  std::size_t codewords_per_channel_;
};

}  // namespace

std::unique_ptr<frame_chain> make_detect_chain(const detect_chain_config& config) {
  return std::make_unique<detect_chain>(config);
}
std::unique_ptr<frame_chain> make_decode_chain(const detect_chain_config& config, block_decoder decoder) {
  return std::make_unique<decode_chain>(config, std::move(decoder));
}
std::unique_ptr<frame_chain> make_receive_chain(const detect_chain_config& config, block_receiver receiver) {
  return std::make_unique<receive_chain>(config, std::move(receiver));
}
std::unique_ptr<frame_chain> make_uplink_chain(const uplink_chain_config& config) {
  return std::make_unique<uplink_chain>(config);
}
std::unique_ptr<frame_chain> make_precode_chain(const precode_chain_config& config) {
  return std::make_unique<precode_chain>(config);
}
std::unique_ptr<frame_chain> make_stbc_chain(const stbc_chain_config& config) {
  return std::make_unique<stbc_chain>(config);
}

}  // namespace wb
