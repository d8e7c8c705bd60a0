#include <warpband/receive/codewords.hpp>

#include <climits>
#include <string>
#include <utility>

#include <warpband/core/check.hpp>
#include <warpband/receive/frames.hpp>

namespace wb {
namespace {

/// Rows of frames as rows of codewords of `places` elements, of which the first `used` are seen.
template <class T>
view<T> split(const char* argument, const view<T>& v, std::size_t codewords, std::size_t places,
              std::size_t used) {
  const std::size_t row = places * v.element_stride;
  if (v.items > 1 && v.item_stride != codewords * row)
    throw shape_error(argument, "rows with gaps", "rows side by side");
  return {v.data, used, v.items * codewords, v.element_stride, row};
}

class codewords_decoder final : public soft_decoder {
 public:
  codewords_decoder(std::shared_ptr<const soft_decoder> one, std::size_t codewords, std::size_t places)
      : one_(std::move(one)), codewords_(codewords), places_(places) {
    if (codewords_ == 0) throw argument_error("codewords", "0", "1 or more");
    if (places_ < one_->n())
      throw argument_error("places", std::to_string(places_),
                           "at least the " + std::to_string(one_->n()) + " bits of a codeword");
  }
  std::size_t k() const noexcept override { return codewords_ * one_->k(); }
  std::size_t n() const noexcept override { return codewords_ * places_; }
  bool gives_extrinsic() const noexcept override { return one_->gives_extrinsic(); }
  int most_iterations() const noexcept override {
    return static_cast<int>(codewords_) * one_->most_iterations();
  }
  std::size_t state_size() const noexcept override { return codewords_ * one_->state_size(); }

  void run(executor& exec, view<const float> llr, const soft_decoder_state& state,
           const soft_decoder_output& out) const override {
    const std::size_t frames = llr.items, rows = frames * codewords_;
    check_shape("llr", llr, frames, n());
    check_optional_shape("extrinsic", out.extrinsic, frames, n());
    check_optional_shape("bits", out.bits, frames, k());
    check_optional_shape("iterations", out.iterations, frames, 1);
    check_optional_shape("status", out.status, frames, 1);
    check_optional_shape("finished", out.finished, frames, 1);
    check_optional_shape("state", state.values, frames, state_size());
    soft_decoder_output per_codeword;
    soft_decoder_state kept = state;
    if (state.values.data != nullptr)
      kept.values = split("state", state.values, codewords_, one_->state_size(), one_->state_size());
    if (out.extrinsic.data != nullptr)
      per_codeword.extrinsic = split("extrinsic", out.extrinsic, codewords_, places_, one_->n());
    if (out.bits.data != nullptr)
      per_codeword.bits = split("bits", out.bits, codewords_, one_->k(), one_->k());
    frames_join_args joined = own_results(exec, rows, out, per_codeword);
    one_->run(exec, split("llr", llr, codewords_, places_, one_->n()), kept, per_codeword);
    if (out.extrinsic.data != nullptr && places_ > one_->n()) clear_rest(exec, out.extrinsic);
    if (joined.finished == nullptr && joined.status == nullptr && joined.iterations == nullptr) return;
    joined.finished_out = out.finished;
    joined.status_out = out.status;
    joined.iterations_out = out.iterations;
    run_frames_join(exec, joined, frames);
  }

 private:
  /// Memory for what is wanted of each codeword.
  frames_join_args own_results(executor& exec, std::size_t rows, const soft_decoder_output& out,
                               soft_decoder_output& per_codeword) const {
    frames_join_args a;
    a.codewords = codewords_;
    auto* iterations =
        reinterpret_cast<std::int32_t*>(workspace_.on(exec, rows * (sizeof(std::int32_t) + 2)));
    auto* bytes = reinterpret_cast<std::uint8_t*>(iterations + rows);
    if (out.iterations.data != nullptr)
      per_codeword.iterations = make_view(iterations, rows), a.iterations = iterations;
    if (out.status.data != nullptr) per_codeword.status = make_view(bytes, rows), a.status = bytes;
    if (out.finished.data != nullptr)
      per_codeword.finished = make_view(bytes + rows, rows), a.finished = bytes + rows;
    return a;
  }
  /// Zeros behind the bits of each codeword.
  void clear_rest(executor& exec, const view<float>& extrinsic) const {
    const view<float> places = split("extrinsic", extrinsic, codewords_, places_, places_);
    frames_arrange_args a;
    a.out = places;
    a.out.data += one_->n() * places.element_stride;
    a.out.elements = places_ - one_->n();
    a.in = a.out;
    run_frames_arrange(exec, a, places.items);
  }

  std::shared_ptr<const soft_decoder> one_;
  std::size_t codewords_, places_;
  kept_workspace workspace_;
};

}  // namespace

std::vector<std::int32_t> order_of(const user_codewords& f, const bit_interleaver& interleaver) {
  const std::size_t m = f.bits_per_symbol, places = f.places(), bits = f.codewords() * places;
  if (interleaver.n() > places)
    throw argument_error("subcarriers", std::to_string(f.subcarriers),
                         "as many as the " + std::to_string(interleaver.n()) + " bits of a codeword take");
  if (bits > INT32_MAX)
    throw argument_error("users", std::to_string(f.users),
                         "fewer, or fewer symbols or subcarriers: a frame of less than 2^31 bits");
  std::vector<std::int32_t> order(bits);
  std::size_t i = 0;
  for (std::size_t s = 0; s < f.subcarriers; s++)
    for (std::size_t codeword = 0; codeword < f.codewords();
         codeword++)  // symbol after symbol, users in each
      for (std::size_t bit = s * m; bit < (s + 1) * m; bit++) {
        const bool moves = interleaver.permutes() && bit < interleaver.n();
        const std::size_t place = moves ? static_cast<std::size_t>(interleaver.permutation()[bit]) : bit;
        order[i++] = static_cast<std::int32_t>(codeword * places + place);
      }
  return order;
}

std::unique_ptr<soft_decoder> make_codewords_decoder(std::shared_ptr<const soft_decoder> one,
                                                     std::size_t codewords, std::size_t places) {
  return std::make_unique<codewords_decoder>(std::move(one), codewords, places);
}

}  // namespace wb
