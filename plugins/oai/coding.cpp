// Slots of OpenAirInterface through the C library (TS 38.212 sections 5.3.2 and 5.4.2). Rates are recovered
// into the caller's int16 buffers. The code blocks of all transport blocks of a slot are one batch.
#include "coding.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

#include <warpband/c/warpband.h>

namespace {

wb_device* device = nullptr;

int fault(const char* name, std::uint32_t value, const char* allowed) {
  std::fprintf(stderr, "libldpc_warpband: %s = %u is not allowed: expected %s\n", name, value, allowed);
  return -1;
}
int failed(const char* name) {
  std::fprintf(stderr, "libldpc_warpband: %s: %s\n", name, wb_last_error());
  return -1;
}

/// The circular buffer of the code blocks of a transport block.
struct ring {
  std::uint32_t size = 0, first = 0;                 // N_cb, k0
  std::uint32_t fillers_begin = 0, fillers_end = 0;  // places that are never sent
  std::uint32_t sendable() const {
    return size - (std::min(fillers_end, size) - std::min(fillers_begin, size));
  }
};

/// 0, or -1 where no code has these sizes.
int make_ring(const wb_oai_code& c, ring& r) {
  if (c.base_graph != 1 && c.base_graph != 2) return fault("BG", c.base_graph, "1 or 2");
  if (c.lifting_size < 2 || c.lifting_size > 384)
    return fault("Z", c.lifting_size, "a lifting size of 2..384");
  const std::uint32_t k = (c.base_graph == 1 ? 22 : 10) * c.lifting_size,
                      n = (c.base_graph == 1 ? 66 : 50) * c.lifting_size;
  if (c.k != k) return fault("K", c.k, "22 Z or 10 Z");
  if (c.fillers >= k - 2 * c.lifting_size) return fault("F", c.fillers, "less than K - 2 Z");
  if (c.blocks == 0) return fault("C", c.blocks, "at least 1");
  if (c.rv > 3) return fault("rv_index", c.rv, "0..3");
  r.size = n;
  if (c.lbrm_bits != 0)  // floor(TBS_LBRM / (C 2/3))
    r.size = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(n, std::uint64_t{3} * c.lbrm_bits / (2ull * c.blocks)));
  r.fillers_end = k - 2 * c.lifting_size;
  r.fillers_begin = r.fillers_end - c.fillers;
  if (r.sendable() == 0) return fault("tbslbrm", c.lbrm_bits, "a buffer with places that are sent");
  if (wb_nr_first_place(c.base_graph, c.lifting_size, r.size, c.rv, &r.first) != WB_OK)
    return failed("rv_index");
  return 0;
}

/// Reads E LLRs that Qm rows were interleaved from, row after row.
template <std::uint32_t Order>
void rows_of(const std::int16_t* llr, std::uint32_t columns, std::int16_t* out) {
  for (std::uint32_t column = 0; column < columns; ++column)
    for (std::uint32_t row = 0; row < Order; ++row)
      out[std::size_t{row} * columns + column] = llr[std::size_t{column} * Order + row];
}
void deinterleave(const std::int16_t* llr, std::uint32_t e, std::uint32_t order,
                  std::vector<std::int16_t>& out) {
  out.resize(e);
  switch (order) {
    case 1:
      std::copy(llr, llr + e, out.data());
      break;
    case 2:
      rows_of<2>(llr, e / 2, out.data());
      break;
    case 4:
      rows_of<4>(llr, e / 4, out.data());
      break;
    case 6:
      rows_of<6>(llr, e / 6, out.data());
      break;
    case 8:
      rows_of<8>(llr, e / 8, out.data());
      break;
    default:
      rows_of<10>(llr, e / 10, out.data());
  }
}

/// Adds E LLRs to a circular buffer, from k0 on, past the fillers.
void combine(const ring& r, const std::int16_t* llr, std::uint32_t e, std::int16_t* buffer) {
  constexpr int lowest = std::numeric_limits<std::int16_t>::min(),
                highest = std::numeric_limits<std::int16_t>::max();
  std::uint32_t place = r.first;
  while (e != 0) {
    if (place >= r.fillers_begin && place < r.fillers_end) place = r.fillers_end;
    if (place >= r.size) {
      place = 0;
      continue;
    }
    const std::uint32_t end = place < r.fillers_begin ? std::min(r.fillers_begin, r.size) : r.size,
                        run = std::min(end - place, e);
    for (std::uint32_t i = 0; i < run; ++i)
      buffer[place + i] = static_cast<std::int16_t>(std::clamp(buffer[place + i] + llr[i], lowest, highest));
    place += run;
    llr += run;
    e -= run;
  }
}

/// The LLRs of a circular buffer up to its last one that is not 0, without fillers.
std::uint32_t gather(const ring& r, const std::int16_t* buffer, std::vector<std::int16_t>& out) {
  static constexpr std::array<std::int16_t, 64> zeros{};
  std::uint32_t last = r.size;
  const auto cut = [&](std::uint32_t begin) {  // zeros at the end of [begin, last)
    while (last >= begin + zeros.size() &&
           std::memcmp(buffer + last - zeros.size(), zeros.data(), sizeof zeros) == 0)
      last -= static_cast<std::uint32_t>(zeros.size());
    while (last > begin && buffer[last - 1] == 0) --last;
  };
  if (last > r.fillers_end) cut(r.fillers_end);
  if (last <= r.fillers_end) {
    last = std::min(last, r.fillers_begin);
    cut(0);
  }
  const std::size_t before = out.size();
  out.insert(out.end(), buffer, buffer + std::min(last, r.fillers_begin));
  if (last > r.fillers_end) out.insert(out.end(), buffer + r.fillers_end, buffer + last);
  if (out.size() == before) out.push_back(0);
  return static_cast<std::uint32_t>(out.size() - before);
}

/// What a call needs; each thread keeps its own from call to call.
struct scratch {
  std::vector<ring> rings;
  std::vector<wb_ldpc_decode> decodes;
  std::vector<wb_ldpc_encode> encodes;
  std::vector<wb_done> done;
  std::vector<std::int16_t> rows, llrs;
  std::vector<std::uint8_t> bytes;
};
thread_local scratch kept;

/// The bits of each byte in reverse order.
constexpr std::uint64_t reversed(std::uint64_t bytes) {
  bytes = (bytes >> 4 & 0x0f0f0f0f0f0f0f0f) | (bytes & 0x0f0f0f0f0f0f0f0f) << 4;
  bytes = (bytes >> 2 & 0x3333333333333333) | (bytes & 0x3333333333333333) << 2;
  return (bytes >> 1 & 0x5555555555555555) | (bytes & 0x5555555555555555) << 1;
}

/// Writes bits one after the other, the first in the least significant place.
class bit_writer {
 public:
  explicit bit_writer(std::uint8_t* out) : out_(out) {}
  /// bits: the first in the most significant place, zeros behind the last one.
  void append(const std::uint8_t* bits, std::uint32_t count) {
    for (; count >= 64; count -= 56, bits += 7) {  // 56 bits and up to 7 that wait fit into a word
      take(bits, sizeof waiting_, 56);
      std::memcpy(out_, &waiting_, sizeof waiting_);  // the last byte is written again
      leave(7);
    }
    while (count != 0) {
      const std::uint32_t taken = std::min(count, 8u);
      take(bits++, 1, taken);
      count -= taken;
      held_ += taken;
      if (held_ < 8) continue;
      *out_ = static_cast<std::uint8_t>(waiting_);
      leave(1);
      held_ -= 8;
    }
  }
  void finish() {
    if (held_ != 0) *out_ = static_cast<std::uint8_t>(waiting_);
  }

 private:
  void take(const std::uint8_t* bits, std::size_t bytes, std::uint32_t count) {
    std::uint64_t word = 0;
    std::memcpy(&word, bits, bytes);
    waiting_ |= (reversed(word) & ((std::uint64_t{1} << count) - 1)) << held_;
  }
  void leave(unsigned bytes) {
    out_ += bytes;
    waiting_ >>= 8 * bytes;
  }

  std::uint8_t* out_;
  std::uint64_t waiting_ = 0;  // little-endian, as all machines that Warpband runs on
  std::uint32_t held_ = 0;
};

}  // namespace

int wb_oai_open(void) {
  if (device != nullptr) return 0;
  const char* name = std::getenv("WARPBAND_OAI_DEVICE");
  if (wb_device_open(name == nullptr || *name == 0 ? "cpu" : name, &device) == WB_OK) return 0;
  return failed("WARPBAND_OAI_DEVICE");
}

void wb_oai_close(void) {
  wb_device_close(device);
  device = nullptr;
}

int wb_oai_decode_slot(const wb_oai_decode* blocks, std::size_t n) try {
  kept.rings.resize(n);
  kept.decodes.clear();
  kept.llrs.clear();
  for (std::size_t t = 0; t < n; ++t) {
    const wb_oai_decode& tb = blocks[t];
    if (make_ring(tb.code, kept.rings[t]) != 0) return -1;
    const std::uint32_t order = tb.code.modulation_order;
    if (order != 1 && (order == 0 || order % 2 != 0 || order > 10))
      return fault("Qm", order, "1, 2, 4, 6, 8 or 10");
    for (std::uint32_t r = 0; r < tb.code.blocks; ++r)
      if (tb.segments[r].llrs % order != 0) return fault("E", tb.segments[r].llrs, "a multiple of Qm");
    if (tb.iterations < 1 || tb.iterations > 1000)
      return fault("max_ldpc_iterations", tb.iterations, "1..1000");
  }
  for (std::size_t t = 0; t < n; ++t) {
    const wb_oai_decode& tb = blocks[t];
    const wb_oai_code& c = tb.code;
    const ring& places = kept.rings[t];
    for (std::uint32_t r = 0; r < c.blocks; ++r) {
      const wb_oai_segment& segment = tb.segments[r];
      if (segment.clear) std::memset(segment.combined, 0, places.size * sizeof(std::int16_t));
      deinterleave(segment.llr, segment.llrs, c.modulation_order, kept.rows);
      combine(places, kept.rows.data(), segment.llrs, segment.combined);

      wb_ldpc_decode op = WB_LDPC_DECODE_INIT;
      op.base_graph = static_cast<std::uint16_t>(c.base_graph);
      op.lifting_size = static_cast<std::uint16_t>(c.lifting_size);
      op.fillers = c.fillers;
      op.buffer = places.size;
      op.sent_bits = gather(places, segment.combined, kept.llrs);
      op.modulation_order = 1;
      op.iterations = static_cast<std::uint16_t>(tb.iterations);
      op.crc = c.blocks > 1 ? WB_CRC_24B : tb.payload_bits > 3824 ? WB_CRC_24A : WB_CRC_16;
      op.llr_format = WB_LLR_INT16;
      op.llr_decimals = 1;
      op.bits = segment.bits;
      op.bits_bytes = (c.k - c.fillers + 7) / 8;
      std::memset(op.bits + op.bits_bytes, 0, c.k / 8 > op.bits_bytes ? c.k / 8 - op.bits_bytes : 0);
      kept.decodes.push_back(op);
    }
  }
  const std::int16_t* llr = kept.llrs.data();
  for (wb_ldpc_decode& op : kept.decodes) {
    op.llr = llr;
    llr += op.sent_bits;
  }
  kept.done.resize(kept.decodes.size());
  if (wb_ldpc_decode_run(device, kept.decodes.data(), kept.decodes.size(), kept.done.data()) != WB_OK)
    return failed("decoder");
  std::size_t b = 0;
  for (std::size_t t = 0; t < n; ++t)
    for (std::uint32_t r = 0; r < blocks[t].code.blocks; ++r, ++b) {
      const std::uint32_t status = kept.done[b].status;
      if ((status & WB_DONE_REFUSED) != 0)
        return fault("Z", blocks[t].code.lifting_size, "a code of TS 38.212");
      *blocks[t].segments[r].decoded = (status & (WB_DONE_CRC | WB_DONE_FAILED)) == 0;
    }
  return 0;
} catch (const std::bad_alloc&) {
  std::fputs("libldpc_warpband: out of memory\n", stderr);
  return -1;
}

int wb_oai_encode_slot(const wb_oai_encode* blocks, std::size_t n) try {
  kept.encodes.clear();
  std::size_t bytes = 0;
  for (std::size_t t = 0; t < n; ++t) {
    const wb_oai_encode& tb = blocks[t];
    const wb_oai_code& c = tb.code;
    ring places;
    if (make_ring(c, places) != 0) return -1;
    for (std::uint32_t r = 0; r < c.blocks; ++r) {
      wb_ldpc_encode op = WB_LDPC_ENCODE_INIT;
      op.base_graph = static_cast<std::uint16_t>(c.base_graph);
      op.lifting_size = static_cast<std::uint16_t>(c.lifting_size);
      op.fillers = c.fillers;
      op.buffer = places.size;
      op.first = places.first;
      op.sent_bits = tb.e[r];
      op.modulation_order = static_cast<std::uint16_t>(c.modulation_order);
      op.bits = tb.bits[r];
      op.bits_bytes = (c.k - c.fillers + 7) / 8;
      op.out_bytes = (std::size_t{tb.e[r]} + 7) / 8;
      bytes += op.out_bytes;
      kept.encodes.push_back(op);
    }
  }
  kept.bytes.resize(bytes);
  std::uint8_t* out = kept.bytes.data();
  for (wb_ldpc_encode& op : kept.encodes) {
    op.out = out;
    out += op.out_bytes;
  }
  kept.done.resize(kept.encodes.size());
  if (wb_ldpc_encode_run(device, kept.encodes.data(), kept.encodes.size(), kept.done.data()) != WB_OK)
    return failed("encoder");
  for (const wb_done& done : kept.done) {
    if ((done.status & WB_DONE_REFUSED) != 0)
      return fault("E", kept.encodes.front().sent_bits, "sizes of TS 38.212");
    if (done.status != 0) return failed("encoder");
  }
  std::size_t b = 0;
  for (std::size_t t = 0; t < n; ++t) {
    bit_writer writer(blocks[t].out);
    for (std::uint32_t r = 0; r < blocks[t].code.blocks; ++r, ++b)
      writer.append(kept.encodes[b].out, blocks[t].e[r]);
    writer.finish();
  }
  return 0;
} catch (const std::bad_alloc&) {
  std::fputs("libldpc_warpband: out of memory\n", stderr);
  return -1;
}
