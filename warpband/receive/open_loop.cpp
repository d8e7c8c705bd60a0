#include <warpband/receive/open_loop.hpp>

#include <utility>

namespace wb {
namespace {

/// What both have: the detector, and LLRs of a batch.
class detecting : public receiver {
 public:
  detecting(std::shared_ptr<const soft_detector> detector, std::size_t uses, bool decodes)
      : detector_(std::move(detector)), uses_(uses), stages_{"detect"} {
    if (decodes) stages_.emplace_back("decode");
  }
  const std::vector<std::string>& stages() const noexcept override { return stages_; }
  std::size_t bytes_per_frame() const noexcept override { return decodes() ? sizeof(float) * bits() : 0; }
  void allocate(executor& exec, std::size_t frames) override {
    if (decodes()) llr_ = exec.make<float>(frames, bits());
  }
  void run_stage(executor& exec, std::size_t stage, const heard& in, const decided& out,
                 int transmission) override {
    if (stage != 0)
      return decode(exec, (detector_ ? in.received.items : in.bits.items) / uses_, out, transmission);
    if (!detector_) return llrs_of_bits(exec, in.llr_of_bit, in.bits, make_view(llr_of(out), in.bits.items));
    const auto as_uses = [&](auto* data) {
      return make_view(data, in.received.items, detector_->bits_per_use());
    };
    detector_output found{.llr = {}, .bits = {}, .status = out.use_status};
    if (!decodes() && out.bits.data != nullptr)
      found.bits = as_uses(out.bits.data);
    else
      found.llr = as_uses(llr_of(out));
    detector_->run(exec, {in.channel, in.uses_per_channel, in.received, in.noise_var, {}}, found);
  }

 protected:
  virtual void decode(executor& exec, std::size_t frames, const decided& out, int transmission) = 0;
  bool decodes() const noexcept { return stages_.size() > 1; }
  float* llr_of(const decided& out) { return out.detected.data != nullptr ? out.detected.data : llr_.data(); }
  /// Of a frame.
  std::size_t bits() const noexcept { return uses_ * (detector_ ? detector_->bits_per_use() : 1); }

 private:
  std::shared_ptr<const soft_detector> detector_;
  std::size_t uses_;
  std::vector<std::string> stages_;
  array<float> llr_;
};

class codewords_once final : public detecting {
 public:
  codewords_once(std::shared_ptr<const soft_detector> detector, std::shared_ptr<const soft_decoder> decoder,
                 std::size_t uses, std::size_t places)
      : detecting(std::move(detector), uses, decoder != nullptr),
        decoder_(std::move(decoder)),
        places_(places) {}

 private:
  void decode(executor& exec, std::size_t, const decided& out, int) override {
    decoder_->run(exec, {llr_of(out), decoder_->n(), out.bits.items, 1, places_}, {},
                  {.bits = out.bits, .iterations = out.iterations, .status = out.status});
  }
  std::shared_ptr<const soft_decoder> decoder_;
  std::size_t places_;
};

/// Rows of an output.
template <class T>
view<T> part(view<T> v, std::size_t first, std::size_t rows) {
  if (v.data == nullptr) return v;
  return {v.data + first * v.item_stride, v.elements, rows, v.element_stride, v.item_stride};
}

class blocks_of_harq final : public detecting {
 public:
  blocks_of_harq(std::shared_ptr<const soft_detector> detector, transport_maker make,
                 std::vector<int> versions, std::size_t sent, std::size_t uses, bool cuts)
      : detecting(std::move(detector), uses, true),
        make_(std::move(make)),
        versions_(std::move(versions)),
        sent_(sent),
        cuts_(cuts) {
    make_();  // throws for what is not allowed
  }
  void allocate(executor& exec, std::size_t frames) override {
    detecting::allocate(exec, frames);
    coders_.clear();
    for (std::size_t n = frames; n > 0; n = cuts_ ? n / 2 : 0) coders_.emplace_back(n, make_());
  }

 private:
  void decode(executor& exec, std::size_t frames, const decided& out, int transmission) override {
    std::size_t first = 0;
    for (auto& [size, coder] : coders_) {
      const std::size_t n = cuts_ ? size : frames;
      for (; first < frames && frames - first >= n; first += n)
        decode(exec, *coder, first, n, out, transmission);
    }
  }
  void decode(executor& exec, transport_coder& coder, std::size_t first, std::size_t n, const decided& out,
              int transmission) {
    if (transmission == 0) coder.reset();
    coder.combine(exec, {llr_of(out) + first * bits(), sent_, n, 1, bits()},
                  versions_.at(static_cast<std::size_t>(transmission)));
    coder.decode(exec, {.bits = part(out.bits, first, n),
                        .ok = part(out.ok, first, n),
                        .iterations = part(out.iterations, first, n),
                        .status = part(out.status, first, n)});
  }

  transport_maker make_;
  std::vector<int> versions_;
  std::size_t sent_;
  /// Batches of the largest size, of half, a quarter, ... of it, down to one, have a decoder each, which
  /// keeps its memory.
  bool cuts_;
  std::vector<std::pair<std::size_t, std::unique_ptr<transport_coder>>> coders_;  // by blocks, largest first
};

}  // namespace

std::unique_ptr<receiver> make_open_loop(std::shared_ptr<const soft_detector> detector,
                                         std::shared_ptr<const soft_decoder> decoder, std::size_t uses,
                                         std::size_t places) {
  return std::make_unique<codewords_once>(std::move(detector), std::move(decoder), uses, places);
}
std::unique_ptr<receiver> make_open_loop(std::shared_ptr<const soft_detector> detector, transport_maker make,
                                         std::vector<int> versions, std::size_t sent, std::size_t uses,
                                         bool cuts) {
  return std::make_unique<blocks_of_harq>(std::move(detector), std::move(make), std::move(versions), sent,
                                          uses, cuts);
}

}  // namespace wb
