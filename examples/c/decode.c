/* Encodes LDPC code blocks of 5G NR, adds noise, and decodes them through a queue.
 *   decode [cpu|cpu:8|cuda:0]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpband/c/warpband.h>

enum { blocks = 32, information = 22 * 384, sent = 3 * information };

static unsigned char bits[blocks][information / 8], coded[blocks][sent / 8], decoded[blocks][information / 8];
static signed char llr[blocks][sent];

/* Uniform in 0..1, and a Gaussian of two of them. */
static double uniform(void) {
  static unsigned long long state = 1;
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return ((double)(state >> 40) + 0.5) / 16777216.0;
}
static double gaussian(void) { return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()); }

static int failed(const char* call) {
  fprintf(stderr, "%s: %s\n", call, wb_last_error());
  return EXIT_FAILURE;
}

int main(int argc, char** argv) {
  const double variance = 0.7; /* of the noise, on symbols of +-1 */
  wb_device* device;
  wb_queue* queue;
  wb_ldpc_encode encode[blocks];
  wb_ldpc_decode decode[blocks];
  wb_done done[blocks];
  size_t polled = 0, taken, right = 0;
  unsigned iterations = 0;
  int b, i;

  if (wb_abi_version() >> 16 != WB_ABI_MAJOR) return failed("another version of the library");
  if (wb_device_open(argc > 1 ? argv[1] : "cpu", &device) != WB_OK) return failed("wb_device_open");
  printf("%s\n", wb_device_description(device));

  for (b = 0; b < blocks; b++) {
    const wb_ldpc_encode op = WB_LDPC_ENCODE_INIT; /* base graph 1, lifting size 384 */
    for (i = 0; i < information / 8; i++) bits[b][i] = (unsigned char)(uniform() * 256);
    encode[b] = op;
    encode[b].sent_bits = sent;
    encode[b].bits = bits[b];
    encode[b].bits_bytes = sizeof bits[b];
    encode[b].out = coded[b];
    encode[b].out_bytes = sizeof coded[b];
  }
  if (wb_ldpc_encode_run(device, encode, blocks, done) != WB_OK) return failed("wb_ldpc_encode_run");
  for (b = 0; b < blocks; b++)
    if (done[b].status != 0) return failed("a block was not encoded");

  /* BPSK over AWGN: L = 2 y / variance, as int8 in steps of 1/2. */
  for (b = 0; b < blocks; b++)
    for (i = 0; i < sent; i++) {
      const double symbol = coded[b][i / 8] >> (7 - i % 8) & 1 ? -1 : 1;
      const double steps = floor(2 * 2 * (symbol + sqrt(variance) * gaussian()) / variance + 0.5);
      llr[b][i] = (signed char)(steps > 127 ? 127 : steps < -127 ? -127 : steps);
    }

  {
    wb_queue_config config = WB_QUEUE_CONFIG_INIT;
    config.depth = blocks;
    if (wb_queue_open(device, &config, &queue) != WB_OK) return failed("wb_queue_open");
  }
  for (b = 0; b < blocks; b++) {
    const wb_ldpc_decode op = WB_LDPC_DECODE_INIT; /* stops early, LLRs are int8 in steps of 1/2 */
    decode[b] = op;
    decode[b].tag = (uint64_t)b;
    decode[b].sent_bits = sent;
    decode[b].llr = llr[b];
    decode[b].bits = decoded[b];
    decode[b].bits_bytes = sizeof decoded[b];
  }
  taken = wb_submit_ldpc_decode(queue, decode, blocks, NULL);
  if (taken != blocks) return failed("wb_submit_ldpc_decode");
  while (polled < taken) {
    const size_t n = wb_poll(queue, done + polled, taken - polled);
    if (n == 0 && wb_wait(queue, 10000000000ULL) != WB_OK) return failed("wb_wait");
    polled += n;
  }
  for (b = 0; b < blocks; b++) {
    const size_t block = (size_t)done[b].tag;
    right += done[b].status == 0 && memcmp(decoded[block], bits[block], sizeof bits[block]) == 0;
    iterations += done[b].iterations;
  }
  printf("%u of %u blocks decoded, %.1f iterations\n", (unsigned)right, (unsigned)blocks,
         (double)iterations / blocks);
  wb_queue_close(queue);
  wb_device_close(device);
  return right == blocks ? EXIT_SUCCESS : EXIT_FAILURE;
}
