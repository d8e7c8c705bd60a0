/* libldpc_warpband.so: what OpenAirInterface's loader calls. This file alone is compiled against the user's OpenAirInterface; all names
 * of its structures are here. */
#include <PHY/CODING/nrLDPC_coding/nrLDPC_coding_interface.h>

#include <stdint.h>
#include <stdlib.h>

#include "coding.h"

#define EXPORTED __attribute__((visibility("default")))

/* A flag by value or by address. */
static inline bool flag_given(bool flag) { return flag; }
static inline bool flag_read(const bool* flag) { return *flag; }
static inline void flag_stays(bool flag) { (void)flag; }
static inline void flag_reset(bool* flag) { *flag = false; }
#define READ_FLAG(flag) _Generic((flag), bool: flag_given, bool*: flag_read)(flag)
#define RESET_FLAG(flag) _Generic((flag), bool: flag_stays, bool*: flag_reset)(flag)

EXPORTED int32_t nrLDPC_coding_init(int number_of_decoder_threads) {
  (void)number_of_decoder_threads;
  return wb_oai_open();
}

EXPORTED int32_t nrLDPC_coding_shutdown(void) {
  wb_oai_close();
  return 0;
}

EXPORTED int32_t nrLDPC_coding_decoder(nrLDPC_slot_decoding_parameters_t* slot) {
  const size_t n = (size_t)slot->nb_TBs;
  struct wb_oai_decode* blocks = calloc(n, sizeof *blocks);
  if (blocks == NULL && n != 0) return -1;
  for (size_t t = 0; t < n; ++t) {
    const nrLDPC_TB_decoding_parameters_t* tb = &slot->TBs[t];
    blocks[t] = (struct wb_oai_decode){
        .code = {.base_graph = (uint32_t)tb->BG,
                 .lifting_size = (uint32_t)tb->Z,
                 .k = (uint32_t)tb->K,
                 .fillers = (uint32_t)tb->F,
                 .blocks = (uint32_t)tb->C,
                 .modulation_order = (uint32_t)tb->Qm,
                 .rv = (uint32_t)tb->rv_index,
                 .lbrm_bits = (uint32_t)tb->tbslbrm},
        .payload_bits = (uint32_t)tb->A,
        .iterations = (uint32_t)tb->max_ldpc_iterations,
        .e = (uint32_t)tb->E,
        .e2 = (uint32_t)tb->E2,
        .first_e2 = (uint32_t)tb->first_rE2,
        .llr = tb->llr,
        .combined = tb->d,
        .clear = READ_FLAG(tb->d_to_be_cleared),
        .bits = tb->c,
        .decoded = tb->decodeSuccess};
  }
  const int result = wb_oai_decode_slot(blocks, n);
  for (size_t t = 0; t < n; ++t) {
    const nrLDPC_TB_decoding_parameters_t* tb = &slot->TBs[t];
    *tb->processedSegments = 0;
    if (result != 0) continue;
    RESET_FLAG(tb->d_to_be_cleared);
    for (size_t r = 0; r < blocks[t].code.blocks; ++r) *tb->processedSegments += tb->decodeSuccess[r];
  }
  free(blocks);
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
