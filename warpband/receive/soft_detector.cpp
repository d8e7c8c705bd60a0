#include <optional>

#include <warpband/core/check.hpp>
#include <warpband/receive/soft.hpp>

namespace wb {
namespace {

/// A detector whose output is extrinsic where it takes a prior.
class any_detector final : public soft_detector {
 public:
  explicit any_detector(std::unique_ptr<detector> d) : detector_(std::move(d)) {}
  std::size_t bits_per_use() const noexcept override { return detector_->bits_per_use(); }
  bool takes_prior() const noexcept override { return detector_->takes_prior(); }
  void run(executor& exec, const detector_input& in, const detector_output& out) const override {
    detector_->run(exec, in, out);
  }

 private:
  std::unique_ptr<detector> detector_;
};

class space_time_detector final : public soft_detector {
 public:
  explicit space_time_detector(const stbc_config& config) : decoder_(config) {}
  std::size_t bits_per_use() const noexcept override { return decoder_.bits_per_codeword(); }
  bool takes_prior() const noexcept override { return wb::takes_prior(decoder_.config()); }
  void run(executor& exec, const detector_input& in, const detector_output& out) const override {
    decoder_.run(exec, {in.channel, in.uses_per_channel, in.received, in.noise_var, in.prior},
                 {out.llr, out.bits, out.status});
  }

 private:
  stbc_decoder decoder_;
};

/// A demapper of QAM or of a list of points.
template <class Demapper>
class symbol_demapper final : public soft_detector {
 public:
  explicit symbol_demapper(const Demapper& demapper) : demapper_(demapper) {}
  std::size_t bits_per_use() const noexcept override { return static_cast<std::size_t>(demapper_.bits()); }
  bool takes_prior() const noexcept override { return false; }
  void run(executor& exec, const detector_input& in, const detector_output& out) const override {
    demapper_.run(exec, {in.channel, in.received, in.noise_var}, out.llr, out.status);
  }

 private:
  Demapper demapper_;
};

soft_uplink_config soft_of(const uplink_config& c) {
  return {.antennas = c.antennas, .users = c.users, .qam = c.qam, .llr_clip = c.llr_clip, .extrinsic = true};
}

class massive_detector final : public soft_detector {
 public:
  explicit massive_detector(const uplink_config& c) : first_(c), loop_(soft_of(c)) {}
  explicit massive_detector(soft_uplink_config c) : loop_((c.extrinsic = true, c)) {}
  std::size_t bits_per_use() const noexcept override { return loop_.bits_per_vector(); }
  bool takes_prior() const noexcept override { return true; }
  void run(executor& exec, const detector_input& in, const detector_output& out) const override {
    const std::size_t vectors = in.received.items, symbols = in.uses_per_channel;
    check_range("uses_per_channel", static_cast<long long>(symbols), 1, 1 << 20);
    if (vectors % symbols != 0)
      throw shape_error("received", std::to_string(vectors) + " vectors",
                        "a multiple of the " + std::to_string(symbols) + " that share a channel matrix");
    check_shape("noise_var", in.noise_var, vectors, 1);
    view<const float> n0 = in.noise_var;  // one of each channel matrix
    n0.items = vectors / symbols;
    n0.item_stride *= symbols;
    const int shared = static_cast<int>(symbols);
    if (first_ && in.prior.data == nullptr && out.bits.data == nullptr)
      first_->run(exec, uplink_input{in.channel, in.received, n0, shared},
                  {.llr = out.llr, .llr_int8 = {}, .equalized = {}, .sinr = {}, .status = out.status});
    else
      loop_.run(exec, {in.channel, in.received, n0, shared, in.prior}, {out.llr, out.bits, out.status});
  }

 private:
  std::optional<uplink_detector> first_;  // without a-priori LLRs
  soft_uplink_detector loop_;
};

}  // namespace

std::unique_ptr<soft_detector> make_soft_detector(const detector_config& config) {
  detector_config c = config;
  std::unique_ptr<detector> made = make_detector(c);
  if (made->takes_prior() && !c.extrinsic) {
    c.extrinsic = true;
    made = make_detector(c);
  }
  return std::make_unique<any_detector>(std::move(made));
}
std::unique_ptr<soft_detector> make_open_detector(const detector_config& config) {
  return std::make_unique<any_detector>(make_detector(config));
}
std::unique_ptr<soft_detector> make_open_detector(const stbc_config& config) {
  return std::make_unique<space_time_detector>(config);
}
std::unique_ptr<soft_detector> make_open_detector(const demapper_config& config) {
  return std::make_unique<symbol_demapper<demapper>>(demapper(config));
}
std::unique_ptr<soft_detector> make_open_detector(const constellation_demapper& demapper) {
  return std::make_unique<symbol_demapper<constellation_demapper>>(demapper);
}
std::unique_ptr<soft_detector> make_soft_detector(const stbc_config& config) {
  stbc_config c = config;
  c.extrinsic = takes_prior(c);
  return std::make_unique<space_time_detector>(c);
}
std::unique_ptr<soft_detector> make_soft_detector(const uplink_config& config) {
  return std::make_unique<massive_detector>(config);
}
std::unique_ptr<soft_detector> make_soft_detector(const soft_uplink_config& config) {
  return std::make_unique<massive_detector>(config);
}

}  // namespace wb
