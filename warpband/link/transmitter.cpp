#include <warpband/link/transmitter.hpp>

#include <warpband/link/source/source.hpp>

namespace wb {
namespace {

bool interleaves(const link_config& c) { return c.receiver && !is_transport(c.code); }

bit_interleaver order_of(const link_config& c, const frame_sizes& size) {
  if (interleaves(c)) return interleaver_of(*c.receiver, size.sent);
  std::vector<std::int32_t> order = bit_order_of(c);
  return order.empty() ? bit_interleaver(size.sent) : bit_interleaver(std::move(order));
}

}  // namespace

std::vector<int> versions_of(const harq_rule& rule) {
  std::vector<int> versions;
  for (int t = 0; t < rule.transmissions; t++) versions.push_back(rule.version(t));
  return versions;
}

frame_source::frame_source(const link_config& c)
    : seed_(c.seed), codewords_(codewords_per_frame(c)), drawn_(static_cast<int>(sizes_of(c.code).k)) {
  const auto crc = crc_of(c.code);
  if (!crc) return;
  drawn_ -= crc->degree;
  crc_.emplace(drawn_, *crc);
}
void frame_source::run(executor& exec, view<std::uint8_t> bits, const frame_batch& batch) const {
  random_bits(exec, bits, drawn_, batch.random(seed_, codewords_));
  if (crc_) crc_->run(exec, bits);
}

transmitter::transmitter(const link_config& c) : size_(c), source_(c), order_(order_of(c, size_)) {
  bytes_ = size_.codewords * (size_.k + size_.padded + (order_.permutes() ? size_.sent : 0));
  if (order_.permutes() && !interleaves(c)) bytes_ += sizeof(float) * size_.sent;  // LLRs for the decoder
  if (is_transport(c.code)) {
    blocks_ = c.code.kind().make_transport(c.code.settings);
    harq_ = harq_of(c.code);
    bytes_ += blocks_->bytes();
  } else if (!is_uncoded(c.code)) {
    code_ = make_codec(c.code);
    bytes_ += size_.codewords * code_->working_bytes();
  }
}

void transmitter::allocate(executor& exec, std::size_t frames) {
  const std::size_t rows = frames * size_.codewords;
  sent_ = exec.make<std::uint8_t>(rows, size_.padded);
  if (code_ || blocks_) bits_ = exec.make<std::uint8_t>(rows, size_.k);
  if (order_.permutes()) coded_ = exec.make<std::uint8_t>(rows, size_.sent);
  if (!code_ && size_.padded > size_.sent)
    exec.fill(sent_.data(), 0, sent_.bytes());  // zeros behind the bits of rows
}

view<std::uint8_t> transmitter::bits(std::size_t frames) {
  const std::size_t rows = frames * size_.codewords;
  if (!code_ && !blocks_) return {sent_.data(), size_.k, rows, 1, size_.padded};
  return make_view(bits_.data(), rows, size_.k);
}

void transmitter::draw(executor& exec, const frame_batch& batch) {
  source_.run(exec, bits(batch.frames), batch);
}

const std::uint8_t* transmitter::send(executor& exec, const frame_batch& batch) {
  const view<std::uint8_t> drawn = bits(batch.frames);
  const auto sent = make_view(sent_.data(), drawn.items, size_.padded);
  if (blocks_)
    blocks_->encode(exec, drawn, harq_.version(batch.transmission),
                    {sent_.data(), size_.sent, drawn.items, 1, size_.padded});
  else if (code_ && !order_.permutes())
    code_->encode(exec, drawn, sent);
  else if (code_) {
    const auto coded = make_view(coded_.data(), drawn.items, size_.sent);
    code_->encode(exec, drawn, coded);
    order_.interleave(exec, view<const std::uint8_t>(coded), sent);
  }
  return sent_.data();
}

}  // namespace wb
