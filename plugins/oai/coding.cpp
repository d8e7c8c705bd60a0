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

/// Adds E interleaved LLRs to a circular buffer, from k0 on, past the fillers.
void combine(const ring& r, const std::int16_t* llr, std::uint32_t e, std::uint32_t order,
             std::int16_t* buffer) {
  constexpr int lowest = std::numeric_limits<std::int16_t>::min(),
                highest = std::numeric_limits<std::int16_t>::max();
  const std::uint32_t columns = e / order;
  std::uint32_t place = r.first, row = 0, column = 0;
  while (row < order && columns != 0) {
    if (place >= r.fillers_begin && place < r.fillers_end) place = r.fillers_end;
    if (place >= r.size) {
      place = 0;
      continue;
    }
    const std::uint32_t end = place < r.fillers_begin ? std::min(r.fillers_begin, r.size) : r.size,
                        run = std::min(end - place, columns - column);
    for (std::uint32_t i = 0; i < run; ++i) {
      const int sum = buffer[place + i] + llr[std::size_t{column + i} * order + row];
      buffer[place + i] = static_cast<std::int16_t>(std::clamp(sum, lowest, highest));
    }
    place += run;
    column += run;
    if (column == columns) {
      column = 0;
      ++row;
    }
  }
}

/// The LLRs of a circular buffer up to its last one that is not 0, without fillers.
std::uint32_t gather(const ring& r, const std::int16_t* buffer, std::vector<std::int16_t>& out) {
  std::uint32_t last = r.size;
  while (last > 1 && (buffer[last - 1] == 0 || (last - 1 >= r.fillers_begin && last - 1 < r.fillers_end)))
    --last;
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
  std::vector<std::int16_t> llrs;
  std::vector<std::uint8_t> bytes;
};
thread_local scratch kept;

constexpr auto reversed_bytes = [] {
  std::array<std::uint8_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte)
    for (unsigned bit = 0; bit < 8; ++bit)
      if ((byte >> bit & 1) != 0) table[byte] = static_cast<std::uint8_t>(table[byte] | 0x80 >> bit);
  return table;
}();

/// Writes bits one after the other, the first in the least significant place.
class bit_writer {
 public:
  explicit bit_writer(std::uint8_t* out) : out_(out) {}
  /// bits: the first in the most significant place, zeros behind the last one.
  void append(const std::uint8_t* bits, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; i += 8) {
      const std::uint32_t taken = std::min(count - i, 8u);
      waiting_ |= std::uint32_t{reversed_bytes[bits[i / 8]]} << held_;
      held_ += taken;
      if (held_ >= 8) {
        *out_++ = static_cast<std::uint8_t>(waiting_);
        waiting_ >>= 8;
        held_ -= 8;
      }
    }
  }
  void finish() {
    if (held_ != 0) *out_ = static_cast<std::uint8_t>(waiting_);
  }

 private:
  std::uint8_t* out_;
  std::uint32_t waiting_ = 0, held_ = 0;
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
    if (tb.code.modulation_order == 0) return fault("Qm", 0, "1, 2, 4, 6, 8 or 10");
    for (const std::uint32_t e : {tb.e, tb.e2})
      if (e % tb.code.modulation_order != 0) return fault("E", e, "a multiple of Qm");
    if (tb.iterations < 1 || tb.iterations > 1000)
      return fault("max_ldpc_iterations", tb.iterations, "1..1000");
  }
  for (std::size_t t = 0; t < n; ++t) {
    const wb_oai_decode& tb = blocks[t];
    const wb_oai_code& c = tb.code;
    const std::size_t places = (c.base_graph == 1 ? 68u : 52u) * std::size_t{c.lifting_size};
    if (tb.clear) std::memset(tb.combined, 0, c.blocks * places * sizeof(std::int16_t));
    const std::int16_t* llr = tb.llr;
    for (std::uint32_t r = 0; r < c.blocks; ++r) {
      const std::uint32_t e = r < tb.first_e2 ? tb.e : tb.e2;
      combine(kept.rings[t], llr, e, c.modulation_order, tb.combined + r * places);
      llr += e;

      wb_ldpc_decode op = WB_LDPC_DECODE_INIT;
      op.base_graph = static_cast<std::uint16_t>(c.base_graph);
      op.lifting_size = static_cast<std::uint16_t>(c.lifting_size);
      op.fillers = c.fillers;
      op.buffer = kept.rings[t].size;
      op.sent_bits = gather(kept.rings[t], tb.combined + r * places, kept.llrs);
      op.modulation_order = 1;
      op.iterations = static_cast<std::uint16_t>(tb.iterations);
      op.crc = c.blocks > 1 ? WB_CRC_24B : tb.payload_bits > 3824 ? WB_CRC_24A : WB_CRC_16;
      op.llr_format = WB_LLR_INT16;
      op.llr_decimals = 1;
      op.bits = tb.bits + std::size_t{r} * (c.k / 8);
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
      blocks[t].decoded[r] = (status & (WB_DONE_CRC | WB_DONE_FAILED)) == 0;
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
