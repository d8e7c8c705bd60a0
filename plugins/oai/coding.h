/* Transport blocks of a slot, as OpenAirInterface's loader of LDPC libraries hands them over. loader.c fills these
 * structures from the loader's own; coding.cpp computes. C11, also C++. */
#ifndef WARPBAND_PLUGINS_OAI_CODING_H
#define WARPBAND_PLUGINS_OAI_CODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wb_oai_code {
  uint32_t base_graph;       /* 1, 2 */
  uint32_t lifting_size;     /* Z */
  uint32_t k;                /* K, fillers included */
  uint32_t fillers;          /* F */
  uint32_t blocks;           /* C */
  uint32_t modulation_order; /* Qm */
  uint32_t rv;               /* 0..3 */
  uint32_t lbrm_bits;        /* TBS_LBRM, 0: the whole buffer */
};

/* One code block at the receiver. */
struct wb_oai_segment {
  const int16_t* llr; /* positive for 0 */
  uint32_t llrs;      /* E */
  int16_t* combined;  /* the circular buffer, with places for fillers: 66 Z or 50 Z */
  bool clear;         /* begin with zeros in `combined` */
  uint8_t* bits;      /* K / 8 bytes */
  bool* decoded;
};

struct wb_oai_decode {
  struct wb_oai_code code;
  uint32_t payload_bits; /* A: which CRC a single block has */
  uint32_t iterations;
  const struct wb_oai_segment* segments; /* C of them */
};

struct wb_oai_encode {
  struct wb_oai_code code;
  const uint8_t* const* bits; /* C of K / 8 bytes, CRC included, the first bit in the most significant place */
  const uint32_t* e;          /* C of them */
  uint8_t* out;               /* all sent bits, the first in the least significant place */
};

/* The device is that of the environment variable WARPBAND_OAI_DEVICE, "cpu" without one. 0, or -1 with a
 * message on stderr. */
int wb_oai_open(void);
void wb_oai_close(void);
/* Waits for n transport blocks. 0, or -1 with a message on stderr where a description is impossible or the
 * device failed; no block of the call is decoded then.
 * Threads: any number. */
int wb_oai_decode_slot(const struct wb_oai_decode* blocks, size_t n);
int wb_oai_encode_slot(const struct wb_oai_encode* blocks, size_t n);

#ifdef __cplusplus
}
#endif
#endif
