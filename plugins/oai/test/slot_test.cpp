// Slots through libldpc_warpband.so as OpenAirInterface's loader would send them: what is encoded is decoded.
// The structures are those of test/tree, a description of the loader's interface.
#include <dlfcn.h>

#include <PHY/CODING/nrLDPC_coding/nrLDPC_coding_interface.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include <warpband/c/warpband.h>

namespace {

void expect(bool holds, const char* claim, int base_graph = 0, int lifting_size = 0) {
  if (holds) return;
  std::fprintf(stderr, "failed: %s (BG%d, Z %d)\n", claim, base_graph, lifting_size);
  std::exit(1);
}

template <class Function>
Function* find(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  return reinterpret_cast<Function*>(found);
}

struct library {
  void* handle;
  int32_t (*init)(int);
  int32_t (*shutdown)();
  int32_t (*decode)(nrLDPC_slot_decoding_parameters_t*);
  int32_t (*encode)(nrLDPC_slot_encoding_parameters_t*);
};

/// Parity of `bits` behind them (TS 38.212 section 5.1).
void attach(std::vector<std::uint8_t>& bits, std::uint32_t polynomial, int degree) {
  std::uint32_t state = 0;
  for (const std::uint8_t bit : bits) {
    const std::uint32_t out = (state >> (degree - 1) & 1) ^ bit;
    state = (state << 1 & ((1u << degree) - 1)) ^ (out != 0 ? polynomial : 0);
  }
  for (int i = degree - 1; i >= 0; --i) bits.push_back(static_cast<std::uint8_t>(state >> i & 1));
}

struct shape {
  int base_graph, lifting_size, fillers, blocks, order, rv;
  std::uint32_t lbrm_bits;
  std::vector<int> e;
};

/// A transport block on both sides.
class transport_block {
 public:
  transport_block(const shape& s, std::mt19937& random)
      : shape_(s), k_((s.base_graph == 1 ? 22 : 10) * s.lifting_size) {
    const int used = k_ - s.fillers, stride = k_ / 8;
    bits_.assign(static_cast<std::size_t>(s.blocks) * stride + 1, 0);
    for (int r = 0; r < s.blocks; ++r) {
      // One block has the CRC of its transport block, which depends on its size. Several have CRC-24B.
      const bool short_crc = s.blocks == 1 && used - 16 <= 3824;
      const int parity = short_crc ? 16 : 24;
      std::vector<std::uint8_t> block;
      for (int i = 0; i < used - parity; ++i) block.push_back(static_cast<std::uint8_t>(random() & 1));
      if (s.blocks == 1) payload_ = static_cast<std::uint32_t>(block.size());
      attach(block, short_crc ? 0x1021 : s.blocks == 1 ? 0x864CFB : 0x800063, parity);
      for (int i = 0; i < used; ++i)
        if (block[i] != 0) bits_[r * stride + i / 8] |= static_cast<std::uint8_t>(0x80 >> i % 8);
    }
    if (s.blocks > 1) payload_ = static_cast<std::uint32_t>(s.blocks) * (used - 24) - 24;
    combined_.assign(static_cast<std::size_t>(s.blocks) * (s.base_graph == 1 ? 68 : 52) * s.lifting_size,
                     999);
    for (const int e : s.e) sent_bits_ += static_cast<std::size_t>(e);
  }

  nrLDPC_TB_encoding_parameters_t to_encode(int rv) {
    out_.assign((sent_bits_ + 7) / 8, 0xff);
    segments_.clear();
    for (int r = 0; r < shape_.blocks; ++r)
      segments_.push_back({shape_.e[r], &bits_[static_cast<std::size_t>(r) * (k_ / 8)]});
    nrLDPC_TB_encoding_parameters_t tb{};
    set(tb, rv);
    tb.segments = segments_.data();
    tb.output = out_.data();
    return tb;
  }

  /// LLRs of the encoded bits with noise, added to those before unless `clear`.
  nrLDPC_TB_decoding_parameters_t to_decode(int rv, bool clear, double noise, std::mt19937& random) {
    std::normal_distribution<double> normal;
    llrs_.clear();
    for (std::size_t i = 0; i < sent_bits_; ++i)
      llrs_.push_back(static_cast<std::int16_t>(8 * ((out_[i / 8] >> i % 8 & 1) != 0 ? -1.0 : 1.0) +
                                                8 * noise * normal(random)));
    const auto blocks = static_cast<std::size_t>(shape_.blocks);
    clear_ = std::make_unique<bool[]>(blocks);
    std::fill_n(clear_.get(), blocks, clear);
    decided_.assign(bits_.size(), 0xaa);
    decoded_ = std::make_unique<bool[]>(blocks);
    nrLDPC_TB_decoding_parameters_t tb{};
    set(tb, rv);
    tb.max_ldpc_iterations = 10;
    tb.processedSegments = &processed_;
    set_segments(tb);
    return tb;
  }

  bool decoded() const {
    for (int r = 0; r < shape_.blocks; ++r)
      if (!segment_decoded(r)) return false;
    return processed_ == static_cast<unsigned>(shape_.blocks) && flags_are_reset() &&
           std::equal(bits_.begin(), bits_.end() - 1, decided_.begin());
  }
  bool undecoded() const { return processed_ == 0 && !segment_decoded(0); }

  /// Bit i of what was sent of block r.
  bool sent(std::size_t i) const { return (out_[i / 8] >> i % 8 & 1) != 0; }
  const std::uint8_t* block(int r) const { return &bits_[static_cast<std::size_t>(r) * (k_ / 8)]; }
  bool tail_is_zero() const { return sent_bits_ % 8 == 0 || out_.back() >> sent_bits_ % 8 == 0; }

 private:
  template <class Tb>
  void set(Tb& tb, int rv) const {
    tb.BG = shape_.base_graph;
    tb.Z = shape_.lifting_size;
    tb.K = k_;
    tb.F = shape_.fillers;
    tb.C = shape_.blocks;
    tb.Qm = shape_.order;
    tb.rv_index = rv;
    tb.A = payload_;
    tb.G = static_cast<std::uint32_t>(sent_bits_);
    tb.tbslbrm = shape_.lbrm_bits;
  }

  /// Where the LLRs, buffers and results of the segments are, in the interface of 2025 or that of 2026.
  void set_segments(nrLDPC_TB_decoding_parameters_t& tb) {
#ifdef WB_OAI_SEGMENTS
    received_.clear();
    std::int16_t* llr = llrs_.data();
    const std::size_t places = combined_.size() / static_cast<std::size_t>(shape_.blocks);
    for (int r = 0; r < shape_.blocks; ++r) {
      received_.push_back({decoded_[r], shape_.e[r], llr, combined_.data() + r * places, &clear_[r],
                           decided_.data() + static_cast<std::size_t>(r) * (k_ / 8)});
      llr += shape_.e[r];
    }
    tb.segments = received_.data();
#else
    tb.E = shape_.e.front();
    tb.E2 = shape_.e.back();
    for (const int e : shape_.e) tb.first_rE2 += e == tb.E;
    tb.llr = llrs_.data();
    tb.d = combined_.data();
    tb.d_to_be_cleared = &clear_[0];
    tb.c = decided_.data();
    tb.decodeSuccess = decoded_.get();
#endif
  }
  bool segment_decoded(int r) const {
#ifdef WB_OAI_SEGMENTS
    return received_[r].decodeSuccess;
#else
    return decoded_[r];
#endif
  }
  bool flags_are_reset() const {
#ifdef WB_OAI_SEGMENTS
    const int flags = shape_.blocks;
#else
    const int flags = 1;
#endif
    return std::none_of(clear_.get(), clear_.get() + flags, [](bool flag) { return flag; });
  }

  shape shape_;
  int k_;
  std::uint32_t payload_ = 0;
  std::size_t sent_bits_ = 0;
  std::vector<std::uint8_t> bits_, out_, decided_;
  std::vector<std::int16_t> llrs_, combined_;
  std::vector<nrLDPC_segment_encoding_parameters_t> segments_;
  std::unique_ptr<bool[]> decoded_;
  unsigned processed_ = 0;
  std::unique_ptr<bool[]> clear_;  // one for each segment, or the first for all
#ifdef WB_OAI_SEGMENTS
  std::vector<nrLDPC_segment_decoding_parameters_t> received_;
#endif
};

int32_t encode(const library& lib, std::vector<nrLDPC_TB_encoding_parameters_t> blocks) {
  nrLDPC_slot_encoding_parameters_t slot{static_cast<int>(blocks.size()), blocks.data()};
  return lib.encode(&slot);
}
int32_t decode(const library& lib, std::vector<nrLDPC_TB_decoding_parameters_t> blocks) {
  nrLDPC_slot_decoding_parameters_t slot{static_cast<int>(blocks.size()), blocks.data()};
  return lib.decode(&slot);
}

void every_code_comes_back(const library& lib) {
  std::mt19937 random(1);
  constexpr int orders[] = {1, 2, 4, 6, 8, 10};
  unsigned number = 0;
  for (int base_graph : {1, 2})
    for (int odd : {2, 3, 5, 7, 9, 11, 13, 15})
      for (int z = odd; z <= 384; z *= 2) {
        const int k = (base_graph == 1 ? 22 : 10) * z, n = (base_graph == 1 ? 66 : 50) * z;
        if (k < 48) continue;  // fewer bits than a block with CRC has
        const int order = orders[number++ % 6];
        const shape s{base_graph, z, k % 8 + 8 * (z / 16), 1, order, 0, 0, {(n - z) / order * order}};
        transport_block tb(s, random);
        expect(encode(lib, {tb.to_encode(0)}) == 0, "encoder", base_graph, z);
        expect(decode(lib, {tb.to_decode(0, true, 0.4, random)}) == 0, "decoder", base_graph, z);
        expect(tb.decoded(), "bits come back", base_graph, z);
      }
}

void slot_of_several_transport_blocks(const library& lib) {
  std::mt19937 random(2);
  transport_block first({1, 320, 160, 3, 6, 0, 0, {10002, 10002, 10008}}, random),
      second({2, 64, 40, 1, 2, 0, 0, {1502}}, random);
  expect(encode(lib, {first.to_encode(0), second.to_encode(0)}) == 0, "encoder of a slot");
  expect(first.tail_is_zero() && second.tail_is_zero(), "zeros behind the last bit");
  expect(decode(lib, {first.to_decode(0, true, 0.5, random), second.to_decode(0, true, 0.5, random)}) == 0,
         "decoder of a slot");
  expect(first.decoded() && second.decoded(), "both transport blocks come back");
}

void retransmissions_combine(const library& lib) {
  std::mt19937 random(3);
  // A limited buffer: N_ref = 3 * 6000 / 2.
  transport_block tb({1, 160, 120, 1, 4, 0, 6000, {4000}}, random);
  expect(encode(lib, {tb.to_encode(0)}) == 0, "encoder");
  expect(decode(lib, {tb.to_decode(0, true, 0.9, random)}) == 0, "decoder");
  expect(tb.undecoded(), "one transmission is too little");
  for (const int rv : {2, 3}) {
    expect(encode(lib, {tb.to_encode(rv)}) == 0, "encoder");
    expect(decode(lib, {tb.to_decode(rv, false, 0.9, random)}) == 0, "decoder");
  }
  expect(tb.decoded(), "three transmissions are enough");
}

/// The same bits as the C library, the first in the least significant place.
void order_of_bits(const library& lib) {
  std::mt19937 random(4);
  const shape s{1, 36, 8, 2, 2, 0, 0, {1002, 1002}};
  transport_block tb(s, random);
  expect(encode(lib, {tb.to_encode(3)}) == 0, "encoder");
  wb_device* device = nullptr;
  expect(wb_device_open("cpu:1", &device) == WB_OK, "device");
  std::uint32_t first = 0;
  expect(wb_nr_first_place(1, 36, 0, 3, &first) == WB_OK, "k0");
  for (int r = 0; r < 2; ++r) {
    std::vector<std::uint8_t> out(126);
    wb_ldpc_encode op = WB_LDPC_ENCODE_INIT;
    op.lifting_size = 36;
    op.fillers = 8;
    op.first = first;
    op.sent_bits = 1002;
    op.bits = tb.block(r);
    op.bits_bytes = 98;
    op.out = out.data();
    op.out_bytes = out.size();
    wb_done done;
    expect(wb_ldpc_encode_run(device, &op, 1, &done) == WB_OK && done.status == 0, "C library");
    for (std::size_t i = 0; i < 1002; ++i)
      expect(tb.sent(1002u * static_cast<unsigned>(r) + i) == ((out[i / 8] >> (7 - i % 8) & 1) != 0),
             "order of bits");
  }
  wb_device_close(device);
}

void impossible_sizes_are_refused(const library& lib) {
  std::mt19937 random(5);
  transport_block tb({2, 64, 40, 1, 2, 0, 0, {1502}}, random);
  auto wrong = tb.to_encode(0);
  wrong.Z = 65;
  expect(encode(lib, {wrong}) == -1, "Z 65 is refused");
  expect(encode(lib, {tb.to_encode(0)}) == 0, "encoder");
  auto received = tb.to_decode(0, true, 0.1, random);
  received.BG = 3;
  expect(decode(lib, {received}) == -1 && tb.undecoded(), "BG 3 is refused");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  void* handle = dlopen(argv[1], RTLD_NOW);
  if (handle == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const library lib{handle, find<int32_t(int)>(handle, "nrLDPC_coding_init"),
                    find<int32_t()>(handle, "nrLDPC_coding_shutdown"),
                    find<int32_t(nrLDPC_slot_decoding_parameters_t*)>(handle, "nrLDPC_coding_decoder"),
                    find<int32_t(nrLDPC_slot_encoding_parameters_t*)>(handle, "nrLDPC_coding_encoder")};
  expect(lib.init(1) == 0, "init");
  every_code_comes_back(lib);
  slot_of_several_transport_blocks(lib);
  retransmissions_combine(lib);
  order_of_bits(lib);
  impossible_sizes_are_refused(lib);
  expect(lib.shutdown() == 0, "shutdown");
  std::puts("passed");
}
