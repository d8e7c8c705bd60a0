/* libldpc_warpband.so: what OpenAirInterface's loader calls. This file alone is compiled against the user's
 * OpenAirInterface; all names of its structures are here. */
#include <PHY/CODING/nrLDPC_coding/nrLDPC_coding_interface.h>

#include <stdint.h>
#include <stdlib.h>

#include "coding.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int32_t nrLDPC_coding_init(int number_of_decoder_threads) {
  (void)number_of_decoder_threads;
  return wb_oai_open();
}

EXPORTED int32_t nrLDPC_coding_shutdown(void) {
  wb_oai_close();
  return 0;
}

/* The interface of 2025 has a structure for each segment (WB_OAI_SEGMENTS), that of 2026 arrays of a
 * transport block. */
#ifdef WB_OAI_SEGMENTS
static void describe_segments(const nrLDPC_TB_decoding_parameters_t* tb, struct wb_oai_segment* out) {
  for (uint32_t r = 0; r < (uint32_t)tb->C; ++r) {
    nrLDPC_segment_decoding_parameters_t* segment = &tb->segments[r];
    out[r] = (struct wb_oai_segment){.llr = segment->llr,
                                     .llrs = (uint32_t)segment->E,
                                     .combined = segment->d,
                                     .clear = *segment->d_to_be_cleared,
                                     .bits = segment->c,
                                     .decoded = &segment->decodeSuccess};
  }
}
static void buffers_are_filled(const nrLDPC_TB_decoding_parameters_t* tb) {
  for (uint32_t r = 0; r < (uint32_t)tb->C; ++r) *tb->segments[r].d_to_be_cleared = false;
}
#else
/* A flag by value or by address. */
static inline bool flag_given(bool flag) { return flag; }
static inline bool flag_read(const bool* flag) { return *flag; }
static inline void flag_stays(bool flag) { (void)flag; }
static inline void flag_reset(bool* flag) { *flag = false; }
#define READ_FLAG(flag) _Generic((flag), bool: flag_given, bool*: flag_read)(flag)
#define RESET_FLAG(flag) _Generic((flag), bool: flag_stays, bool*: flag_reset)(flag)

static void describe_segments(const nrLDPC_TB_decoding_parameters_t* tb, struct wb_oai_segment* out) {
  const size_t places = (tb->BG == 1 ? 68u : 52u) * (size_t)tb->Z, bytes = (size_t)tb->K / 8;
  const int16_t* llr = tb->llr;
  for (uint32_t r = 0; r < (uint32_t)tb->C; ++r) {
    const uint32_t e = (uint32_t)(r < (uint32_t)tb->first_rE2 ? tb->E : tb->E2);
    out[r] = (struct wb_oai_segment){.llr = llr,
                                     .llrs = e,
                                     .combined = tb->d + r * places,
                                     .clear = READ_FLAG(tb->d_to_be_cleared),
                                     .bits = tb->c + r * bytes,
                                     .decoded = &tb->decodeSuccess[r]};
    llr += e;
  }
}
static void buffers_are_filled(const nrLDPC_TB_decoding_parameters_t* tb) { RESET_FLAG(tb->d_to_be_cleared); }
#endif

EXPORTED int32_t nrLDPC_coding_decoder(nrLDPC_slot_decoding_parameters_t* slot) {
  const size_t n = (size_t)slot->nb_TBs;
  size_t count = 0;
  for (size_t t = 0; t < n; ++t) count += (size_t)slot->TBs[t].C;
  struct wb_oai_decode* blocks = calloc(n, sizeof *blocks);
  struct wb_oai_segment* segments = calloc(count, sizeof *segments);
  int result = -1;
  if ((n == 0 || blocks != NULL) && (count == 0 || segments != NULL)) {
    struct wb_oai_segment* next = segments;
    for (size_t t = 0; t < n; ++t) {
      const nrLDPC_TB_decoding_parameters_t* tb = &slot->TBs[t];
      describe_segments(tb, next);
      blocks[t] = (struct wb_oai_decode){.code = {.base_graph = (uint32_t)tb->BG,
                                                  .lifting_size = (uint32_t)tb->Z,
                                                  .k = (uint32_t)tb->K,
                                                  .fillers = (uint32_t)tb->F,
                                                  .blocks = (uint32_t)tb->C,
                                                  .modulation_order = (uint32_t)tb->Qm,
                                                  .rv = (uint32_t)tb->rv_index,
                                                  .lbrm_bits = (uint32_t)tb->tbslbrm},
                                         .payload_bits = (uint32_t)tb->A,
                                         .iterations = (uint32_t)tb->max_ldpc_iterations,
                                         .segments = next};
      for (uint32_t r = 0; r < (uint32_t)tb->C; ++r) *next++->decoded = false;
    }
    result = wb_oai_decode_slot(blocks, n);
    for (size_t t = 0; t < n; ++t) {
      const nrLDPC_TB_decoding_parameters_t* tb = &slot->TBs[t];
      *tb->processedSegments = 0;
      if (result != 0) continue;
      buffers_are_filled(tb);
      for (uint32_t r = 0; r < (uint32_t)tb->C; ++r) *tb->processedSegments += *blocks[t].segments[r].decoded;
    }
  }
  free(blocks);
  free(segments);
  return result;
}

EXPORTED int32_t nrLDPC_coding_encoder(nrLDPC_slot_encoding_parameters_t* slot) {
  const size_t n = (size_t)slot->nb_TBs;
  size_t segments = 0;
  for (size_t t = 0; t < n; ++t) segments += (size_t)slot->TBs[t].C;
  struct wb_oai_encode* blocks = calloc(n, sizeof *blocks);
  const uint8_t** bits = calloc(segments, sizeof *bits);
  uint32_t* e = calloc(segments, sizeof *e);
  int result = -1;
  if (n == 0 || (blocks != NULL && bits != NULL && e != NULL)) {
    size_t s = 0;
    for (size_t t = 0; t < n; ++t) {
      const nrLDPC_TB_encoding_parameters_t* tb = &slot->TBs[t];
      blocks[t] = (struct wb_oai_encode){.code = {.base_graph = (uint32_t)tb->BG,
                                                  .lifting_size = (uint32_t)tb->Z,
                                                  .k = (uint32_t)tb->K,
                                                  .fillers = (uint32_t)tb->F,
                                                  .blocks = (uint32_t)tb->C,
                                                  .modulation_order = (uint32_t)tb->Qm,
                                                  .rv = (uint32_t)tb->rv_index,
                                                  .lbrm_bits = (uint32_t)tb->tbslbrm},
                                         .bits = bits + s,
                                         .e = e + s,
                                         .out = tb->output};
      for (size_t r = 0; r < (size_t)tb->C; ++r, ++s) {
        bits[s] = tb->segments[r].c;
        e[s] = (uint32_t)tb->segments[r].E;
      }
    }
    result = wb_oai_encode_slot(blocks, n);
  }
  free(blocks);
  free(bits);
  free(e);
  return result;
}
