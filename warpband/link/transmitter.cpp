#include <warpband/link/transmitter.hpp>

#include <warpband/link/codec_transport.hpp>
#include <warpband/link/source/source.hpp>

namespace wb {
namespace {

bool interleaves(const link_config& c) { return c.receiver && !is_transport(c.code.type); }

bit_interleaver order_of(const link_config& c, const frame_sizes& size) {
  return interleaves(c) ? interleaver_of(*c.receiver, size.sent) : bit_interleaver(size.sent);
}

template <class Encoder, class Config>
auto block_encoder(const Config& transport, std::vector<int> versions) {
  return [encoder = std::make_shared<Encoder>(transport), versions = std::move(versions)](
             executor& exec, view<const std::uint8_t> bits, int transmission, view<std::uint8_t> coded) {
    encoder->run(exec, bits, versions.at(static_cast<std::size_t>(transmission)), coded);
  };
}

/// Zeros behind the bits of rows.
void clear(executor& exec, array<std::uint8_t>& a) {
  const std::vector<std::uint8_t> zeros(a.size());
  exec.upload(a.data(), zeros.data(), a.bytes());
  exec.sync();
}

}  // namespace

std::vector<int> versions_of(const lte_transport_settings& s) {
  std::vector<int> versions;
  for (int t = 0; t < s.transmissions; t++)
    versions.push_back(s.redundancy_versions[static_cast<std::size_t>(t) % s.redundancy_versions.size()]);
  return versions;
}

frame_source::frame_source(const link_config& c)
    : seed_(c.seed), codewords_(codewords_per_frame(c)), drawn_(c.code.k) {
  if (!c.code.crc) return;
  drawn_ -= c.code.crc->degree;
  crc_.emplace(drawn_, *c.code.crc);
}
void frame_source::run(executor& exec, view<std::uint8_t> bits, const frame_batch& batch) const {
  random_bits(exec, bits, drawn_, batch.random(seed_, codewords_));
  if (crc_) crc_->run(exec, bits);
}

transmitter::transmitter(const link_config& c) : size_(c), source_(c), order_(order_of(c, size_)) {
  bytes_ = size_.codewords * (size_.k + size_.padded + (interleaves(c) ? size_.sent : 0));
  if (is_nr_transport(c.code.type)) {
    const nr_transport_config transport = nr_transport_of(c.code);
    encode_block_ = block_encoder<nr_transport_encoder>(transport, versions_of(c.code.transport));
    bytes_ += transport_bytes(nr_transport_plan(transport).segmentation());
  } else if (is_transport(c.code.type)) {
    const lte_transport_config transport = transport_of(c.code);
    encode_block_ = block_encoder<lte_transport_encoder>(transport, versions_of(c.code.transport));
    bytes_ += transport_bytes(lte_transport_plan(transport).segmentation());
  } else if (c.code.type != code_type::none) {
    code_ = make_codec(c.code);
    bytes_ += size_.codewords * code_->working_bytes();
  }
}

void transmitter::allocate(executor& exec, std::size_t frames) {
  const std::size_t rows = frames * size_.codewords;
  sent_ = exec.make<std::uint8_t>(size_.padded, rows);
  if (code_ || encode_block_) bits_ = exec.make<std::uint8_t>(size_.k, rows);
  if (order_.permutes()) coded_ = exec.make<std::uint8_t>(size_.sent, rows);
  if (!code_ && size_.padded > size_.sent) clear(exec, sent_);
}

view<std::uint8_t> transmitter::bits(std::size_t frames) {
  const std::size_t rows = frames * size_.codewords;
  if (!code_ && !encode_block_) return {sent_.data(), size_.k, rows, 1, size_.padded};
  return make_view(bits_.data(), size_.k, rows);
}

void transmitter::draw(executor& exec, const frame_batch& batch) {
  source_.run(exec, bits(batch.frames), batch);
}

const std::uint8_t* transmitter::send(executor& exec, const frame_batch& batch) {
  const view<std::uint8_t> drawn = bits(batch.frames);
  const auto sent = make_view(sent_.data(), size_.padded, drawn.items);
  if (encode_block_)
    encode_block_(exec, drawn, batch.transmission, {sent_.data(), size_.sent, drawn.items, 1, size_.padded});
  else if (code_ && !order_.permutes())
    code_->encode(exec, drawn, sent);
  else if (code_) {
    const auto coded = make_view(coded_.data(), size_.sent, drawn.items);
    code_->encode(exec, drawn, coded);
    order_.interleave(exec, view<const std::uint8_t>(coded), sent);
  }
  return sent_.data();
}

}  // namespace wb
