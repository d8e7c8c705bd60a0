#include <warpband/fec/nr/block.hpp>

#include <algorithm>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/fec/nr/tbs.hpp>

namespace wb {

WB_DECLARE_KERNEL(nr_front)

namespace {

/// The first n values of rows of `from` to rows of `to`, which has zeros behind them.
void front(executor& exec, std::size_t n, view<const std::uint8_t> from, view<std::uint8_t> to) {
  nr_front_args a;
  a.n = static_cast<int>(n);
  a.bits = from;
  a.out_bits = to;
  exec.run(nr_front_kernels(), &a, to.items);
}
void front(executor& exec, std::size_t n, view<const float> from, view<float> to) {
  nr_front_args a;
  a.n = static_cast<int>(n);
  a.soft = from;
  a.out_soft = to;
  exec.run(nr_front_kernels(), &a, to.items);
}

/// Parts of one buffer, each for a batch.
class parts_of {
 public:
  explicit parts_of(std::byte* data) : position_(data) {}
  template <class T>
  view<T> next(std::size_t items, std::size_t elements) {
    T* first = reinterpret_cast<T*>(position_);
    position_ += elements * items * sizeof(T);
    return make_view(first, items, elements);
  }

 private:
  std::byte* position_;
};

/// The values of transmission i.
template <class T>
view<T> of_transmission(view<T> values, std::size_t i, std::size_t sent_bits) {
  values.data += i * sent_bits * values.element_stride;
  values.elements = sent_bits;
  return values;
}

}  // namespace

int nr_base_graph_of_block(int k, int sent_bits) {
  check_range("k", k, 5, nr_systematic(1) * nr_most_lifting);
  check_range("sent_bits", sent_bits, 1, 1 << 28);
  if (k > nr_systematic(2) * nr_most_lifting) return 1;
  return nr_base_graph(k, std::min(1., static_cast<double>(k) / sent_bits));
}

int nr_block_rows(const nr_rate_matcher& matcher, const std::vector<int>& versions) {
  const bool known = std::all_of(versions.begin(), versions.end(), [](int v) { return v >= 0 && v <= 3; });
  if (!known || versions.empty() || versions.size() > most_block_transmissions)
    throw argument_error(
        "redundancy_versions",
        as_message(setting_value(std::vector<std::int64_t>(versions.begin(), versions.end()))),
        "1 to " + std::to_string(most_block_transmissions) + " integers from 0 to 3");
  int rows = 0;
  for (const int version : versions) rows = std::max(rows, matcher.rows(version));
  return rows;
}

nr_block_codec::nr_block_codec(const nr_rate_matching_config& config, const ldpc_decoder_config& ldpc,
                               const std::optional<crc_polynomial>& crc, const std::vector<int>& versions)
    : matcher_(config),
      transmissions_(versions.size()),
      encoder_(matcher_.block().code(nr_block_rows(matcher_, versions))),
      decoder_(matcher_.block().code(nr_block_rows(matcher_, versions)), ldpc, as_ldpc_crc(crc, config.k)) {
  std::copy(versions.begin(), versions.end(), versions_.begin());
}

std::size_t nr_block_codec::working_bytes() const noexcept {
  const nr_code_block& b = matcher_.block();
  return static_cast<std::size_t>(5 * b.padded() + 8 * b.codeword() + 1) + transmissions_;
}

void nr_block_codec::encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const {
  const std::size_t batch = bits.items, k = static_cast<std::size_t>(matcher_.config().k),
                    e = static_cast<std::size_t>(matcher_.config().sent_bits),
                    padded = static_cast<std::size_t>(matcher_.block().padded()),
                    codeword = static_cast<std::size_t>(matcher_.block().codeword());
  check_shape("bits", bits, batch, k);
  check_shape("coded", coded, batch, std::max(coded.elements, sent_bits()));
  parts_of parts(workspace_.on(exec, working_bytes() * batch));
  const auto block = parts.next<std::uint8_t>(batch, padded),
             word = parts.next<std::uint8_t>(batch, codeword);
  front(exec, k, bits, block);
  view<std::uint8_t> of_rows = word;
  of_rows.elements = static_cast<std::size_t>(encoder_.n());
  encoder_.run(exec, block, of_rows);
  for (std::size_t i = 0; i < transmissions_; i++)
    matcher_.match(exec, word, versions_[i], of_transmission(coded, i, e));
  if (coded.elements == sent_bits()) return;
  view<std::uint8_t> rest = coded;
  rest.data += sent_bits() * coded.element_stride;
  rest.elements -= sent_bits();
  front(exec, 0, {}, rest);
}

void nr_block_codec::decode(executor& exec, const llr_batch& given, const nr_block_output& out) const {
  const std::size_t batch = given.items, k = static_cast<std::size_t>(matcher_.config().k),
                    padded = static_cast<std::size_t>(matcher_.block().padded()),
                    codeword = static_cast<std::size_t>(matcher_.block().codeword());
  check_shape("llr", given, batch, sent_bits());
  check_optional_shape("bits", out.bits, batch, k);
  check_optional_shape("soft", out.soft, batch, k);
  check_optional_shape("iterations", out.iterations, batch, 1);
  check_optional_shape("status", out.status, batch, 1);
  check_optional_shape("extrinsic", out.extrinsic, batch, given.elements);
  check_apart({{"bits", out.bits},
               {"soft", out.soft},
               {"iterations", out.iterations},
               {"status", out.status},
               {"extrinsic", out.extrinsic}});
  const view<const float> llr = floats_.of(exec, given);
  parts_of parts(workspace_.on(exec, working_bytes() * batch));
  const auto n = static_cast<std::size_t>(decoder_.code().n());
  const auto received = parts.next<float>(batch, codeword), extrinsic = parts.next<float>(batch, n),
             soft = parts.next<float>(batch, padded);
  const auto bits = parts.next<std::uint8_t>(batch, padded), status = parts.next<std::uint8_t>(batch, 1);
  // Of each transmission its own, as a mark stays until the next first one.
  const auto marks = parts.next<std::uint8_t>(transmissions_ * batch, 1);
  const auto marks_of = [&](std::size_t i) { return make_view(marks.data + i * batch, batch, 1); };
  if (transmissions_ > 1 && batch != 0) exec.fill(marks.data, 0, marks.items);
  const auto e = static_cast<std::size_t>(matcher_.config().sent_bits);
  for (std::size_t i = 0; i < transmissions_; i++)
    matcher_.combine(exec, of_transmission(llr, i, e), versions_[i], i == 0, received, marks_of(i));
  view<const float> of_rows = received;
  of_rows.elements = n;
  const bool wants_bits = out.bits.data != nullptr, wants_soft = out.soft.data != nullptr,
             wants_extrinsic = out.extrinsic.data != nullptr;
  const auto found = wants_extrinsic && out.status.data == nullptr ? status : out.status;
  decoder_.run(exec, of_rows,
               {.bits = wants_bits ? bits : view<std::uint8_t>{},
                .soft = wants_soft ? soft : view<float>{},
                .extrinsic = wants_extrinsic ? extrinsic : view<float>{},
                .messages = {},
                .iterations = out.iterations,
                .status = found});
  if (wants_bits) front(exec, k, bits, out.bits);
  if (wants_soft) front(exec, k, soft, out.soft);
  if (wants_extrinsic)
    for (std::size_t i = 0; i < transmissions_; i++)
      matcher_.feed_back(exec, extrinsic, received, of_transmission(llr, i, e), versions_[i],
                         of_transmission(out.extrinsic, i, e), found, marks_of(i));
}

}  // namespace wb
