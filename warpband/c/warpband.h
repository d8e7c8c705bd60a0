/* The C interface of Warpband: error correction, detection and massive MIMO of a wireless receiver, on a GPU
 * or on CPU cores. C99, also C++. Link with -lwarpband_c (pkg-config warpband_c).
 *
 *   wb_device* device;
 *   if (wb_device_open("cuda:0", &device) != WB_OK) { puts(wb_last_error()); return 1; }
 *   wb_ldpc_decode op = WB_LDPC_DECODE_INIT;
 *   op.base_graph = 1; op.lifting_size = 384; op.sent_bits = e; op.llr = llrs; op.bits = out; op.bits_bytes = 1056;
 *   wb_done done;
 *   wb_status status = wb_ldpc_decode_run(device, &op, 1, &done);
 *   wb_device_close(device);
 *
 * Errors. A call that fails returns a code; wb_last_error() says more: the argument, its value and what is
 * allowed, of the calling thread's last failure. No exception leaves the library. One operation's fault never
 * touches its neighbours: it comes back with WB_DONE_REFUSED.
 *
 * Memory is the caller's. Inputs and outputs of an operation are left alone until its result was polled. After a
 * first batch of the same kinds of blocks nothing is allocated.
 *
 * Threads. Devices: any number. A queue: one thread submits and one polls, also at the same time. Every other
 * object: one thread at a time. wb_last_error() is of the calling thread.
 *
 * ABI. Symbols and structures of a major version stay. Structures begin with their size, as the INIT macros
 * set it, and grow at their end; a field that a caller's structure does not have is 0. Flags that a version
 * does not know are refused. CPU and CUDA give the same bits, but for sums on tensor cores.
 */
#ifndef WARPBAND_C_WARPBAND_H
#define WARPBAND_C_WARPBAND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef WB_API
#if defined(__GNUC__)
#define WB_API __attribute__((visibility("default")))
#else
#define WB_API
#endif
#endif

#define WB_ABI_MAJOR 1
#define WB_ABI_MINOR 0
/* Of the library that is linked: major << 16 | minor. A program runs with the same major and at least its own
 * minor. */
WB_API uint32_t wb_abi_version(void);
/* "0.2.0" */
WB_API const char* wb_version(void);

typedef enum wb_status {
  WB_OK = 0,
  WB_INVALID_ARGUMENT = 1, /* a setting or size that is not allowed */
  WB_INVALID_SHAPE = 2,    /* a length that does not fit */
  WB_OUT_OF_MEMORY = 3,
  WB_NO_DEVICE = 4,        /* no such device, or it failed */
  WB_BUSY = 5,             /* a queue that is full, or closed with operations under way */
  WB_TIMEOUT = 6,
  WB_UNSUPPORTED = 7,      /* what this build or version lacks */
  WB_FAILED = 8            /* anything else */
} wb_status;
/* "invalid argument" */
WB_API const char* wb_status_name(wb_status status);
/* Of this thread's last failed call; "" if none failed. Valid until its next call. Never null. */
WB_API const char* wb_last_error(void);

/* ---- devices ---- */
typedef struct wb_device wb_device;
/* "cpu": all cores, "cpu:8": so many threads, "cuda:0" */
WB_API wb_status wb_device_open(const char* name, wb_device** device);
/* Queues, buffers and detectors of it are closed before. Null is allowed. */
WB_API void wb_device_close(wb_device* device);
/* "avx512, 2 threads" or "NVIDIA H100 80GB HBM3" */
WB_API const char* wb_device_description(const wb_device* device);

/* ---- code blocks: descriptions ---- */
typedef enum wb_llr_format { WB_LLR_INT8 = 0, WB_LLR_INT16 = 1, WB_LLR_FLOAT32 = 2 } wb_llr_format;
/* Values saturate: int8 at +-127, float16 (IEEE 754 binary16) at +-65504. */
typedef enum wb_harq_format { WB_HARQ_INT8 = 0, WB_HARQ_FLOAT16 = 1 } wb_harq_format;
typedef enum wb_crc { WB_CRC_NONE = 0, WB_CRC_24A = 1, WB_CRC_24B = 2, WB_CRC_16 = 3 } wb_crc;

#define WB_EARLY_STOP (1u << 0)       /* leave the iterations once the result is certain */
#define WB_DROP_CRC (1u << 1)         /* leave the CRC out of the output */
#define WB_NEGATIVE_LLR (1u << 2)     /* L = ln P(1)/P(0) */
#define WB_STREAMS (1u << 3)          /* turbo: LLRs are d0, d1, d2, not the circular buffer */
#define WB_NEGATIVE_SOFT (1u << 4)    /* turbo: soft output is ln P(1)/P(0) */

/* What wb_done.status has; 0: success. */
#define WB_DONE_REFUSED (1u << 0)  /* the description contradicts itself; nothing was written */
#define WB_DONE_SYNDROME (1u << 1) /* parity checks fail after the last iteration */
#define WB_DONE_CRC (1u << 2)      /* the CRC that was asked for fails */
#define WB_DONE_FAILED (1u << 3)   /* the device failed */

/* LDPC code block of 5G NR, TS 38.212 5.3.2 and 5.4.2. Bits are packed, the first in the most significant
 * place. LLRs: L = ln P(0)/P(1) = value / 2^llr_decimals. */
typedef struct wb_ldpc_decode {
  uint32_t size; /* sizeof(wb_ldpc_decode) */
  uint32_t flags;
  uint64_t tag; /* comes back in wb_done */
  uint16_t base_graph;       /* 1, 2 */
  uint16_t lifting_size;     /* Z */
  uint32_t fillers;          /* F of the 22 Z or 10 Z bits */
  uint32_t buffer;           /* N_cb; 0: 66 Z or 50 Z */
  uint32_t first;            /* k0, fillers included; wb_nr_first_place gives it of rv */
  uint32_t sent_bits;        /* E: LLRs */
  uint16_t modulation_order; /* Q_m of the bit interleaver, 1: not interleaved */
  uint16_t iterations;       /* at most */
  uint32_t crc;              /* wb_crc that the bits end with */
  uint32_t llr_format;       /* wb_llr_format */
  uint32_t llr_decimals;     /* 0..7 */
  uint32_t harq_format;      /* wb_harq_format of both buffers: int8 in steps of 2^-llr_decimals, or LLRs as halves */
  const void* llr;
  const void* harq_in;       /* null: none. The buffer without fillers */
  size_t harq_in_length;     /* LLRs */
  void* harq_out;            /* null: not wanted */
  size_t harq_out_length;    /* that fit; N_cb - F is enough */
  uint8_t* bits;
  size_t bits_bytes;         /* that fit */
} wb_ldpc_decode;
#define WB_LDPC_DECODE_INIT {sizeof(wb_ldpc_decode), WB_EARLY_STOP, 0, 1, 384, 0, 0, 0, 0, 2, 8, WB_CRC_NONE, WB_LLR_INT8, 1, WB_HARQ_INT8, 0, 0, 0, 0, 0, 0, 0}

typedef struct wb_ldpc_encode {
  uint32_t size;
  uint32_t flags;
  uint64_t tag;
  uint16_t base_graph;
  uint16_t lifting_size;
  uint32_t fillers;
  uint32_t buffer;
  uint32_t first;
  uint32_t sent_bits; /* E */
  uint16_t modulation_order;
  uint16_t reserved; /* 0 */
  uint32_t crc;      /* attached behind the bits */
  uint32_t reserved1;
  const uint8_t* bits; /* K - F, less the CRC */
  size_t bits_bytes;
  uint8_t* out; /* E bits; zeros fill the last byte */
  size_t out_bytes;
} wb_ldpc_encode;
#define WB_LDPC_ENCODE_INIT {sizeof(wb_ldpc_encode), 0, 0, 1, 384, 0, 0, 0, 0, 2, 0, WB_CRC_NONE, 0, 0, 0, 0, 0}

/* Turbo code block of LTE, TS 36.212. */
typedef struct wb_turbo_decode {
  uint32_t size;
  uint32_t flags;
  uint64_t tag;
  uint32_t k; /* one of the 188 sizes */
  uint16_t least_iterations;
  uint16_t iterations;
  uint32_t crc;
  uint32_t llr_format;
  uint32_t llr_decimals;
  uint32_t reserved;
  const void* llr; /* 3 K_pi, K_pi = 32 ceil((K + 4) / 32), NULLs included */
  size_t llr_count;
  uint8_t* bits;
  size_t bits_bytes;
  int8_t* soft; /* null: not wanted. 3 (K + 4): d0, d1, d2 of each step */
  size_t soft_length;
} wb_turbo_decode;
#define WB_TURBO_DECODE_INIT {sizeof(wb_turbo_decode), WB_EARLY_STOP, 0, 6144, 1, 8, WB_CRC_NONE, WB_LLR_INT8, 1, 0, 0, 0, 0, 0, 0, 0}

typedef struct wb_turbo_encode {
  uint32_t size;
  uint32_t flags;
  uint64_t tag;
  uint32_t k;
  uint32_t crc;
  uint32_t sent_bits; /* E; 0: no rate matching, d0, d1, d2 one after the other */
  uint32_t buffer;    /* N_cb; 0: 3 K_pi */
  uint32_t first;     /* k0; wb_lte_first_place gives it of rv */
  uint32_t reserved;
  const uint8_t* bits; /* K, less the CRC */
  size_t bits_bytes;
  uint8_t* out;
  size_t out_bytes;
} wb_turbo_encode;
#define WB_TURBO_ENCODE_INIT {sizeof(wb_turbo_encode), 0, 0, 6144, WB_CRC_NONE, 0, 0, 0, 0, 0, 0, 0, 0}

/* k0 of redundancy version rv. buffer: N_cb, 0: all. */
WB_API wb_status wb_nr_first_place(uint32_t base_graph, uint32_t lifting_size, uint32_t buffer, uint32_t rv, uint32_t* first);
WB_API wb_status wb_lte_first_place(uint32_t k, uint32_t buffer, uint32_t rv, uint32_t* first);

/* Written as a whole. It has no size: a later minor version of the ABI may use the reserved fields. */
typedef struct wb_done {
  uint64_t tag;
  uint32_t status; /* WB_DONE_..., 0: success */
  uint32_t iterations;
  uint32_t bytes;       /* written to the output */
  uint32_t harq_length; /* LLRs written to harq_out */
  uint64_t reserved;    /* 0 in this version, as reserved1 */
  uint64_t reserved1;
} wb_done;

/* Whether an operation would be refused, with WB_INVALID_ARGUMENT or WB_INVALID_SHAPE; wb_last_error() says
 * why. */
WB_API wb_status wb_ldpc_decode_check(const wb_ldpc_decode* op);
WB_API wb_status wb_ldpc_encode_check(const wb_ldpc_encode* op);
WB_API wb_status wb_turbo_decode_check(const wb_turbo_decode* op);
WB_API wb_status wb_turbo_encode_check(const wb_turbo_encode* op);

/* Runs n operations and waits. done: n of them, in order. Returns WB_OK also where operations failed. */
WB_API wb_status wb_ldpc_decode_run(wb_device* device, const wb_ldpc_decode* ops, size_t n, wb_done* done);
WB_API wb_status wb_ldpc_encode_run(wb_device* device, const wb_ldpc_encode* ops, size_t n, wb_done* done);
WB_API wb_status wb_turbo_decode_run(wb_device* device, const wb_turbo_decode* ops, size_t n, wb_done* done);
WB_API wb_status wb_turbo_encode_run(wb_device* device, const wb_turbo_encode* ops, size_t n, wb_done* done);

/* ---- queues ---- */
typedef enum wb_operation { WB_LDPC_DECODE = 1, WB_LDPC_ENCODE = 2, WB_TURBO_DECODE = 3, WB_TURBO_ENCODE = 4 } wb_operation;
typedef struct wb_queue_config {
  uint32_t size;
  uint32_t operation; /* wb_operation */
  uint32_t depth;     /* operations that fit, submitted and not yet polled */
  uint32_t batch;     /* operations that start together, at most */
} wb_queue_config;
#define WB_QUEUE_CONFIG_INIT {sizeof(wb_queue_config), WB_LDPC_DECODE, 1024, 64}
typedef struct wb_queue wb_queue;

/* A poll starts the operations that wait, at most `batch` together. On a GPU a full batch starts without one. */
WB_API wb_status wb_queue_open(wb_device* device, const wb_queue_config* config, wb_queue** queue);
/* Waits for operations under way and drops their results. Null is allowed. */
WB_API void wb_queue_close(wb_queue* queue);
/* Returns how many were taken, from the first on: fewer than n where the queue is full or its operation is
 * another. `why`, if not null: WB_OK, or why the rest was not taken. Nothing waits. */
WB_API size_t wb_submit_ldpc_decode(wb_queue* queue, const wb_ldpc_decode* ops, size_t n, wb_status* why);
WB_API size_t wb_submit_ldpc_encode(wb_queue* queue, const wb_ldpc_encode* ops, size_t n, wb_status* why);
WB_API size_t wb_submit_turbo_decode(wb_queue* queue, const wb_turbo_decode* ops, size_t n, wb_status* why);
WB_API size_t wb_submit_turbo_encode(wb_queue* queue, const wb_turbo_encode* ops, size_t n, wb_status* why);
/* Results in order of submission, at most `most`. Never waits on a GPU; on a CPU it computes what waits. */
WB_API size_t wb_poll(wb_queue* queue, wb_done* done, size_t most);
/* Until a result can be polled, or WB_TIMEOUT. WB_OK at once where nothing is under way. */
WB_API wb_status wb_wait(wb_queue* queue, uint64_t nanoseconds);

/* ---- soft MIMO detection ----
 * kind: a detector by its name in scenarios ("mmse", "nway", "kbest", "ml", ...); settings: "key = value" of
 * that kind, separated by commas or null, as in "ways = 4, llr_clip = 8". Complex numbers are pairs of floats. */
typedef struct wb_detector wb_detector;
WB_API wb_status wb_detector_open(wb_device* device, const char* kind, const char* settings, uint32_t rx_antennas, uint32_t streams,
                                  uint32_t bits_per_symbol, wb_detector** detector);
WB_API void wb_detector_close(wb_detector* detector);
/* channel [n, rx, streams], received [n, rx], noise_var [n], llr [n, streams, bits_per_symbol]; host memory,
 * side by side. Waits. */
WB_API wb_status wb_detect(wb_detector* detector, size_t n, const float* channel, const float* received, const float* noise_var,
                           float* llr);

/* ---- what the objects below have alike ----
 * Settings are "name = value" separated by commas, as of a detector; null: the defaults. Arrays are row-major,
 * in host memory, side by side; of n rows that do not end with a byte each begins with one. Calls wait. Outputs
 * that are null are not computed. An object of a transport channel keeps its threads or its stream until it is
 * closed. What `status` has of a row: */
#define WB_ERASED (1u << 0)       /* input that is not finite, or impossible: the outputs are 0 */
#define WB_STOPPED (1u << 1)      /* a decoder's stop rule held, as a CRC */
#define WB_INSUFFICIENT (1u << 2) /* beside WB_ERASED: too little was received */

/* ---- massive MIMO ----
 * Frames of `symbols` vectors that share a channel of up to 512 antennas and 64 users. */
typedef struct wb_uplink wb_uplink;
/* settings: solver, iterations, residual, sinr, sums, llr_clip, as in "solver = cg, iterations = 4". */
WB_API wb_status wb_uplink_open(wb_device* device, const char* settings, uint32_t antennas, uint32_t users, uint32_t bits_per_symbol,
                                wb_uplink** uplink);
WB_API void wb_uplink_close(wb_uplink* uplink);
/* y = H x + n. channel [frames, antennas, users], received [frames, symbols, antennas], noise_var [frames];
 * llr [frames, symbols, users, bits_per_symbol], equalized (complex) and sinr [frames, symbols, users], status
 * [frames, symbols]. */
WB_API wb_status wb_uplink_run(wb_uplink* uplink, size_t frames, size_t symbols, const float* channel, const float* received,
                               const float* noise_var, float* llr, float* equalized, float* sinr, uint8_t* status);

typedef struct wb_downlink wb_downlink;
/* settings: solver, iterations, residual, symbol_energy, normalization. */
WB_API wb_status wb_downlink_open(wb_device* device, const char* settings, uint32_t antennas, uint32_t users, wb_downlink** downlink);
WB_API void wb_downlink_close(wb_downlink* downlink);
/* Users receive y = H^H x + n. channel [frames, antennas, users], sent [frames, symbols, users], noise_var
 * [frames]; precoded x [frames, symbols, antennas], status [frames, symbols]. */
WB_API wb_status wb_downlink_run(wb_downlink* downlink, size_t frames, size_t symbols, const float* channel, const float* sent,
                                 const float* noise_var, float* precoded, uint8_t* status);

/* ---- transport blocks ----
 * CRCs, segmentation, LDPC (5G NR, TS 38.212) or turbo code (LTE, TS 36.212), rate matching. A bits become G
 * coded bits. Bits are packed, LLRs ln P(0)/P(1).
 *   "transport_bits = 6912, coded_bits = 14400, modulation_order = 4, iterations = 8" */
typedef struct wb_nr_transport wb_nr_transport;
WB_API wb_status wb_nr_transport_open(wb_device* device, const char* settings, wb_nr_transport** transport);
WB_API void wb_nr_transport_close(wb_nr_transport* transport);
/* Code blocks C of a transport block. */
WB_API size_t wb_nr_transport_blocks(const wb_nr_transport* transport);
/* bits [n, ceil(A / 8)], coded [n, ceil(G / 8)] */
WB_API wb_status wb_nr_transport_encode(wb_nr_transport* transport, size_t n, const uint8_t* bits, uint32_t rv, uint8_t* coded);
/* Bytes of HARQ memory of a transport block. harq_format: wb_harq_format; 0 for another number. */
WB_API size_t wb_nr_transport_harq_bytes(const wb_nr_transport* transport, uint32_t harq_format);
/* A transmission of n transport blocks to decode. WB_FIRST: of new transport blocks; else the LLRs are added to
 * those received before. What was received is in the caller's `harq`: any n, and blocks in any order. Without
 * `harq` it is in the object, since the last first call and of the same n. After a failed call what `harq` has
 * is undefined, and the next call has to be a first one. */
#define WB_FIRST (1u << 0)
typedef struct wb_transport_decode {
  uint32_t size; /* sizeof(wb_transport_decode) */
  uint32_t flags;
  uint32_t rv;         /* redundancy version, 0..3 */
  uint32_t llr_format; /* wb_llr_format */
  float llr_scale;     /* an integer v is the LLR v * llr_scale; negative: ln P(1)/P(0). Not read with float32 */
  uint32_t harq_format; /* wb_harq_format */
  float harq_scale;    /* a value v in `harq` is the LLR v * harq_scale; above 0, up to 1e30 */
  uint32_t reserved;   /* 0 */
  const void* llr;     /* [n, G] */
  void* harq;          /* [n, wb_nr_transport_harq_bytes], or null. On an even address with float16 */
  uint8_t* bits;       /* [n, ceil(A / 8)], right or not */
  uint8_t* ok;         /* [n] 1 where all CRCs hold */
  int32_t* iterations; /* [n, C] */
  uint8_t* status;     /* [n] */
} wb_transport_decode;
#define WB_TRANSPORT_DECODE_INIT {sizeof(wb_transport_decode), WB_FIRST, 0, WB_LLR_FLOAT32, 1, WB_HARQ_INT8, 0.25f, 0, 0, 0, 0, 0, 0, 0}
WB_API wb_status wb_nr_transport_decode(wb_nr_transport* transport, size_t n, const wb_transport_decode* op);
/* Transport block size of TS 38.214 5.1.3.2. mcs_table: 1..4 */
WB_API wb_status wb_nr_transport_bits(uint32_t resource_elements, uint32_t mcs_table, uint32_t mcs, uint32_t layers, uint32_t* bits);

typedef struct wb_lte_transport wb_lte_transport;
WB_API wb_status wb_lte_transport_open(wb_device* device, const char* settings, wb_lte_transport** transport);
WB_API void wb_lte_transport_close(wb_lte_transport* transport);
WB_API size_t wb_lte_transport_blocks(const wb_lte_transport* transport);
WB_API wb_status wb_lte_transport_encode(wb_lte_transport* transport, size_t n, const uint8_t* bits, uint32_t rv, uint8_t* coded);
WB_API size_t wb_lte_transport_harq_bytes(const wb_lte_transport* transport, uint32_t harq_format);
WB_API wb_status wb_lte_transport_decode(wb_lte_transport* transport, size_t n, const wb_transport_decode* op);

/* ---- polar codes of 5G NR and general ones ----
 * Control and broadcast channels, TS 38.212: CRC, code, rate matching, successive-cancellation list decoder.
 *   "kind = dci, k = 40, coded_bits = 108, rnti = 17, list_size = 8" */
typedef struct wb_polar wb_polar;
WB_API wb_status wb_polar_open(wb_device* device, const char* settings, wb_polar** polar);
WB_API void wb_polar_close(wb_polar* polar);
/* bits [n, ceil(k / 8)], coded [n, ceil(coded_bits / 8)] */
WB_API wb_status wb_polar_encode(wb_polar* polar, size_t n, const uint8_t* bits, uint8_t* coded);
/* llr [n, coded_bits] of llr_format, with llr_scale as in wb_transport_decode; bits [n, ceil(k / 8)], status [n] */
WB_API wb_status wb_polar_decode(wb_polar* polar, size_t n, const void* llr, uint32_t llr_format, float llr_scale, uint8_t* bits,
                                 uint8_t* status);

/* ---- PUSCH slots of 5G NR ----
 * Channel estimation from DMRS, detection, rate recovery and decoding of received grids, each a first
 * transmission of redundancy version 0. settings: those of the channel (resource_blocks, layers, mcs_table, mcs,
 * ...), detector for its kind, and those of estimator, detector and decoder behind "estimator.", "detector." and
 * "decoder.":
 *   "resource_blocks = 51, layers = 2, mcs = 16, detector = nway, detector.ways = 2, decoder.iterations = 8" */
typedef struct wb_pusch wb_pusch;
WB_API wb_status wb_pusch_open(wb_device* device, const char* settings, uint32_t rx_antennas, wb_pusch** pusch);
WB_API void wb_pusch_close(wb_pusch* pusch);
/* Resource elements of a slot, and A, the bits of its transport block. */
WB_API size_t wb_pusch_elements(const wb_pusch* pusch);
WB_API size_t wb_pusch_transport_bits(const wb_pusch* pusch);
/* received [slots, symbols, subcarriers, rx_antennas], noise_var: one N0; bits [slots, ceil(A / 8)], ok [slots],
 * status [slots] */
WB_API wb_status wb_pusch_run(wb_pusch* pusch, size_t slots, const float* received, const float* noise_var, uint8_t* bits,
                              uint8_t* ok, uint8_t* status);

#ifdef __cplusplus
}
#endif
#endif
