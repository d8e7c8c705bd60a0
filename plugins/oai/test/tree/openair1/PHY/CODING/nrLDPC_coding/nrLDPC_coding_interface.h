/* For tests of plugins/oai without OpenAirInterface: structures with the fields that loader.c reads, in words of
 * this project and in an order of its own. It is not OpenAirInterface's header. */
#ifndef WARPBAND_PLUGINS_OAI_TEST_INTERFACE_H
#define WARPBAND_PLUGINS_OAI_TEST_INTERFACE_H
#include <stdbool.h>
#include <stdint.h>

#ifdef WB_OAI_SEGMENTS
typedef struct {
  bool decodeSuccess;
  int E;
  int16_t *llr, *d;
  bool* d_to_be_cleared;
  uint8_t* c;
} nrLDPC_segment_decoding_parameters_t;
#endif
typedef struct {
  int BG, Z, K, F, C, Qm, rv_index, max_ldpc_iterations;
  uint32_t A, G, tbslbrm;
#ifdef WB_OAI_SEGMENTS
  nrLDPC_segment_decoding_parameters_t* segments;
#else
  int E, E2, first_rE2;
  int16_t *llr, *d;
  bool* d_to_be_cleared;
  uint8_t* c;
  bool* decodeSuccess;
#endif
  unsigned* processedSegments;
} nrLDPC_TB_decoding_parameters_t;
typedef struct {
  int nb_TBs;
  nrLDPC_TB_decoding_parameters_t* TBs;
} nrLDPC_slot_decoding_parameters_t;

typedef struct {
  int E;
  uint8_t* c;
} nrLDPC_segment_encoding_parameters_t;
typedef struct {
  int BG, Z, K, F, C, Qm, rv_index;
  uint32_t A, G, tbslbrm;
  nrLDPC_segment_encoding_parameters_t* segments;
  uint8_t* output;
} nrLDPC_TB_encoding_parameters_t;
typedef struct {
  int nb_TBs;
  nrLDPC_TB_encoding_parameters_t* TBs;
} nrLDPC_slot_encoding_parameters_t;
#endif
