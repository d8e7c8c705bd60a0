#pragma once
// What the transport channels of LTE (fec/lte) and 5G NR (fec/nr) have alike: settings, the plan of a
// transport block, and what a decoder keeps of its transmissions.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <warpband/core/check.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/fec/format/format.hpp>
#include <warpband/fec/transport/transport_args.hpp>

namespace wb {

inline constexpr int transport_most_coded_bits = 1 << 28;

/// The settings that the configurations of both channels have.
template <class Config>
std::vector<setting_of<Config>> transport_settings_of(int most_transport_bits, const std::string& layers) {
  return {
      integer("transport_bits", &Config::transport_bits, 1, most_transport_bits,
              "A, bits of a transport block without CRCs."),
      integer("coded_bits", &Config::coded_bits, 1, transport_most_coded_bits, "G, bits of a transmission.",
              "a multiple of layers * modulation_order, at least once for each code block, up to 2^28"),
      one_of("modulation_order", &Config::modulation_order, {1, 2, 4, 6, 8, 10}, "Q_m, bits of a symbol."),
      integer("layers", &Config::layers, 1, 4, layers)};
}
/// Throws argument_error where `blocks` code blocks do not get whole symbols each.
template <class Config>
void check_coded_bits(const Config& c, int blocks) {
  const int symbol = c.layers * c.modulation_order;
  if (c.coded_bits / symbol < blocks || c.coded_bits % symbol != 0)
    throw argument_error("coded_bits", std::to_string(c.coded_bits),
                         "a multiple of layers * modulation_order = " + std::to_string(symbol) +
                             ", at least once for each of " + std::to_string(blocks) +
                             " code blocks, up to " + std::to_string(transport_most_coded_bits));
}

/// Whose the buffers of an object are that keeps them from call to call.
/// Threads: one at a time.
class transport_owner {
 public:
  std::size_t batch() const noexcept { return batch_; }
  bool is(const executor& exec) const {
    const auto life = exec.life();
    return !life_.owner_before(life) && !life.owner_before(life_);
  }
  /// Whether buffers must be made for a batch. Until `made` they are nobody's then.
  bool changes(const executor& exec, std::size_t batch) {
    if (batch == batch_ && is(exec)) return false;
    life_.reset();
    return true;
  }
  void made(const executor& exec, std::size_t batch) {
    life_ = exec.life();
    batch_ = batch;
  }
  void require(const executor& exec) const {
    if (!is(exec))
      throw argument_error("exec", "\"" + exec.name() + "\"",
                           "the executor of the transmissions since reset()");
  }

 private:
  std::weak_ptr<const void> life_;
  std::size_t batch_ = 0;
};

/// What a decoder keeps of its transmissions beside the soft buffers.
struct transport_reception {
  transport_owner owner;
  int transmissions = 0;  // since reset()
  float least = 0;        // usable LLRs are larger
  array<std::uint8_t> marks;
  array<std::int32_t> part, history;

  /// Throws argument_error where nothing was received or another executor asks.
  void require(const executor& exec) const {
    if (transmissions == 0) throw argument_error("transmissions", "0", "at least one since reset()");
    owner.require(exec);
  }
};

/// HARQ memory of the caller. resume() reads it before a transmission is combined, keep() writes it
/// afterwards. Sums of LLRs are divided by `scale`, rounded, and saturate: int8 at +-127, float16, with 11
/// bits of precision, at +-65504.
struct harq_memory {
  /// [batch, harq_bytes(format)], bytes of a row side by side; with float16 each row on an even address. The
  /// first 1 or 2 C N_cb' bytes are the LLRs, in the order of the circular buffer without fillers. What
  /// follows is the decoder's.
  view<std::uint8_t> data = {};
  harq_format format = harq_format::int8;
  float scale = 0.25f;  // a value v is the LLR v * scale; above 0, up to 1e30
};

/// How a transport block is cut and what each code block sends.
/// Threads: any number may read one object at once.
template <class Blocks>
class transport_plan {
 public:
  /// E of code block r, and the place of its first bit among the G.
  int sent_bits(int r) const noexcept { return sent_.least + (r >= sent_.larger ? sent_.step : 0); }
  int first_sent_bit(int r) const noexcept {
    return r * sent_.least + (r > sent_.larger ? (r - sent_.larger) * sent_.step : 0);
  }
  /// C, code blocks of a transport block.
  int code_blocks() const noexcept { return segments_.blocks; }
  /// LLRs that HARQ memory has of a code block, and bytes of a transport block.
  int harq_length() const noexcept { return harq_length_; }
  std::size_t harq_bytes(harq_format format) const noexcept {
    return blocks(1) *
           (static_cast<std::size_t>(harq_length_) * harq_value_bytes(format) + transport_state_bytes);
  }
  /// Throws argument_error, shape_error for memory that resume() and keep() refuse.
  void check_memory(const harq_memory& memory) const { check_harq(memory, memory.data.items); }

 protected:
  Blocks segments_;
  transport_sent_bits sent_;
  int harq_length_ = 0;  // of the longest ring
  resident<std::int32_t> transport_weights_, block_weights_;

  std::size_t blocks(std::size_t batch) const noexcept {
    return batch * static_cast<std::size_t>(segments_.blocks);
  }
  /// After segments_: TS 36.212 §5.1.4.1.2 and TS 38.212 §5.4.2.1: of G / (N_L Q_m) symbols the last
  /// G / (N_L Q_m) mod C code blocks send one more.
  template <class Config>
  void share_out(const Config& c, crc_polynomial crc) {
    const int symbol = c.layers * c.modulation_order, symbols = c.coded_bits / symbol;
    sent_ = {symbols / segments_.blocks * symbol, symbol, segments_.blocks - symbols % segments_.blocks};
    transport_weights_ = resident(crc_remainders(segments_.transport_bits + segments_.crc_bits, crc));
    block_weights_ =
        resident(crc_remainders(segments_.block_crc_bits == 0 ? 0 : segments_.longest(), crc24b));
  }

  /// Throws argument_error, shape_error for what an encoder's run refuses.
  template <class Config>
  static void check_sent(const Config& c, const view<const std::uint8_t>& bits, int rv,
                         const view<std::uint8_t>& coded) {
    check_range("rv", rv, 0, 3);
    check_shape("bits", bits, bits.items, static_cast<std::size_t>(c.transport_bits));
    check_shape("coded", coded, bits.items, static_cast<std::size_t>(c.coded_bits));
  }
  /// Queues CRCs and segmentation of `bits` to cut.blocks. part: [batch, C].
  void segment(executor& exec, const view<const std::uint8_t>& bits, const view<std::int32_t>& part,
               const kernel_set& of_crc, const kernel_set& of_segment,
               transport_segment_args<Blocks>& cut) const {
    cut.segments = segments_;
    cut.bits = bits;
    cut.part = part;
    cut.transport_weights = transport_weights_.on(exec);
    cut.block_weights = block_weights_.on(exec);
    if (segments_.blocks > 1) {
      const transport_crc_args<Blocks> a{segments_, bits, part, cut.transport_weights};
      exec.run(of_crc, &a, blocks(bits.items));
    }
    exec.run(of_segment, &cut, blocks(bits.items));
  }

  /// Throws error for a decoder that was moved from, else as transport_reception::require.
  void require(const transport_reception& r, const executor& exec) const {
    transport_weights_.check_held();
    r.require(exec);
  }
  /// Checks a transmission that is to be combined. Whether the decoder must make buffers for llr.items
  /// transport blocks; those of `r` are made.
  template <class Config>
  bool begins(transport_reception& r, executor& exec, const Config& c, const llr_batch& llr, int rv) const {
    transport_weights_.check_held();
    const bool first = r.transmissions == 0;
    if (!first) r.owner.require(exec);
    check_range("rv", rv, 0, 3);
    check_shape("llr", llr, first ? llr.items : r.owner.batch(), static_cast<std::size_t>(c.coded_bits));
    return first && changes_owner(r, exec, llr.items);
  }
  /// Whether the decoder must make buffers for `items` transport blocks; those of `r` are made.
  bool changes_owner(transport_reception& r, executor& exec, std::size_t items) const {
    if (!r.owner.changes(exec, items)) return false;
    const std::size_t count = static_cast<std::size_t>(segments_.blocks);
    r.marks = exec.make<std::uint8_t>(items, count);
    r.part = exec.make<std::int32_t>(items, count);
    r.history = exec.make<std::int32_t>(items, count * std::size_t{transport_history_size});
    return true;
  }
  /// Throws argument_error, shape_error.
  void check_harq(const harq_memory& m, std::size_t batch) const {
    check_shape("harq", m.data, batch, harq_bytes(m.format));
    if (m.data.element_stride != 1)
      throw shape_error("harq", "a stride of " + std::to_string(m.data.element_stride), "bytes side by side");
    if (m.format == harq_format::float16 &&
        (reinterpret_cast<std::uintptr_t>(m.data.data) | (batch > 1 ? m.data.item_stride : 0)) % 2 != 0)
      throw shape_error("harq", "a row on an odd address", "rows on even addresses with float16");
    if (!(m.scale > 0 && m.scale <= transport_most_llr))
      throw argument_error("harq_scale", std::to_string(m.scale), "a number above 0, up to 1e30");
  }
  /// Queues soft buffers, which `a` has with their rings, from or to a caller's memory.
  void pass_harq(transport_reception& r, executor& exec, const harq_memory& m, bool reads,
                 const kernel_set& kernels, transport_harq_args<Blocks>& a) const {
    a.segments = segments_;
    a.marks = r.marks;
    a.history = r.history;
    a.memory = m.data.data;
    a.stride = m.data.item_stride;
    a.format = m.format;
    a.scale = m.scale;
    a.least = r.least;
    a.length = harq_length_;
    a.reads = reads;
    exec.run(kernels, &a, blocks(r.owner.batch()));
  }
  /// Queues the transmission, which `a` has rings and soft buffers for.
  template <class Config, class Args>
  void combine_into(transport_reception& r, executor& exec, const Config& c, const view<const float>& llr,
                    int rv, const kernel_set& kernels, Args& a) const {
    combine_into(r, exec, c, llr, rv, kernels, a, segments_);
  }
  template <class Config, class Args>
  void combine_into(transport_reception& r, executor& exec, const Config& c, const view<const float>& llr,
                    int rv, const kernel_set& kernels, Args& a, const Blocks& segments) const {
    a.segments = segments;
    a.sent = sent_;
    a.modulation_order = c.modulation_order;
    a.rv = rv;
    a.llr = llr;
    a.marks = r.marks;
    a.history = r.history;
    a.first = r.transmissions == 0;
    a.least = r.least;
    exec.run(kernels, &a, blocks(r.owner.batch()));
    r.transmissions++;
  }
  /// Throws shape_error.
  template <class Output>
  void check_outputs(const Output& out, std::size_t batch) const {
    const std::size_t count = static_cast<std::size_t>(segments_.blocks);
    check_optional_shape("bits", out.bits, batch, static_cast<std::size_t>(segments_.transport_bits));
    check_optional_shape("ok", out.ok, batch, 1);
    check_optional_shape("block_ok", out.block_ok, batch, count);
    check_optional_shape("iterations", out.iterations, batch, count);
    check_optional_shape("status", out.status, batch, 1);
  }
  /// Queues what becomes of decoded code blocks, which `a` has with their rings and soft buffers.
  template <class Output>
  void assemble(transport_reception& r, executor& exec, const Output& out, const kernel_set& of_assemble,
                const kernel_set& of_finish, transport_assemble_args<Blocks>& a) const {
    a.segments = segments_;
    a.sent = sent_;
    a.least = r.least;
    a.marks = r.marks;
    a.history = r.history;
    a.bits = out.bits;
    a.block_ok = out.block_ok;
    a.iterations_used = out.iterations;
    a.part = r.part;
    a.transport_weights = transport_weights_.on(exec);
    a.block_weights = block_weights_.on(exec);
    exec.run(of_assemble, &a, blocks(r.owner.batch()));
    const transport_finish_args finish{segments_.blocks, r.part, out.ok, out.status};
    exec.run(of_finish, &finish, r.owner.batch());
  }
};

/// What was received of a series of transmissions, and HARQ memory of the caller. Decoder is the derived
/// class: its make_buffers(exec, batch) makes soft buffers, and pass(exec, memory, reads) queues them from or
/// to the memory.
/// Threads: one at a time.
template <class Decoder, class Plan>
class transport_receiver : public Plan {
 public:
  using Plan::Plan;

  /// Forgets what was received. The next `combine` sets batch size and executor.
  void reset() noexcept { received_.transmissions = 0; }
  /// In place of `reset`: goes on from what `keep` wrote for as many transport blocks, of a decoder with the
  /// same settings on any backend. Queues reading; the memory may be changed once that is done. Throws
  /// argument_error, shape_error.
  void resume(executor& exec, const harq_memory& from) {
    this->transport_weights_.check_held();
    this->check_harq(from, from.data.items);
    reset();
    if (this->changes_owner(received_, exec, from.data.items)) decoder().make_buffers(exec, from.data.items);
    decoder().pass(exec, from, true);
    received_.transmissions = 1;
  }
  /// Queues rounding the soft buffers to what memory of the caller holds, and writing it. `decode` behind it
  /// decodes these sums. Throws argument_error where nothing was received, shape_error.
  void keep(executor& exec, const harq_memory& to) {
    this->require(received_, exec);
    this->check_harq(to, received_.owner.batch());
    decoder().pass(exec, to, false);
  }
  /// Transmissions since `reset`.
  int transmissions() const noexcept { return received_.transmissions; }

 protected:
  transport_reception received_;
  float_llrs floats_;

 private:
  Decoder& decoder() { return static_cast<Decoder&>(*this); }
};

}  // namespace wb
