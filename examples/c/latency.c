/* What 1, 8 and 64 LDPC code blocks of 8448 bits take through the C library: microseconds from the call to the
 * result, and Mb/s of information bits. "run" is a call that waits; "queue" submits the blocks one by one and
 * polls. The last rows are for one block of 16 bits, whose work is small: they show what a call costs.
 *   latency [cpu:1|cuda:0] [repetitions]
 * 2 repetitions, the default, are a test; take 300 to measure.
 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <warpband/c/warpband.h>

enum {
  most = 64,
  bits_of_block = 22 * 384,
  most_sent = 66 * 384,
  iterations = 10,
  most_repetitions = 100000
};

static unsigned char bits[most][bits_of_block / 8], coded[most][most_sent / 8];
static signed char llr[most][most_sent];
static wb_ldpc_encode encode[most];
static wb_ldpc_decode decode[most];
static wb_done done[most];
static double times[most_repetitions];

static int failed(const char* call) {
  fprintf(stderr, "%s: %s\n", call, wb_last_error());
  return EXIT_FAILURE;
}

static double microseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Blocks with as many parity rows as E bits need, decoded without early stop. */
static void describe(int lifting_size, int rows) {
  const unsigned sent = (unsigned)((22 - 2 + rows) * lifting_size / 6 * 6);
  int b;
  for (b = 0; b < most; b++) {
    const wb_ldpc_encode e = WB_LDPC_ENCODE_INIT;
    const wb_ldpc_decode d = WB_LDPC_DECODE_INIT;
    encode[b] = e;
    encode[b].lifting_size = (uint16_t)lifting_size;
    encode[b].fillers = lifting_size == 2 ? 28 : 0;
    encode[b].modulation_order = 6;
    encode[b].sent_bits = sent;
    encode[b].bits = bits[b];
    encode[b].bits_bytes = sizeof bits[b];
    encode[b].out = coded[b];
    encode[b].out_bytes = sizeof coded[b];
    decode[b] = d;
    decode[b].flags = 0;
    decode[b].tag = (uint64_t)b;
    decode[b].modulation_order = 6;
    decode[b].sent_bits = sent;
    decode[b].iterations = iterations;
    decode[b].llr = llr[b];
    decode[b].bits = bits[b];
    decode[b].bits_bytes = sizeof bits[b];
  }
}

static int run(wb_device* device, int decodes, size_t n) {
  return decodes ? wb_ldpc_decode_run(device, decode, n, done) == WB_OK
                 : wb_ldpc_encode_run(device, encode, n, done) == WB_OK;
}

static int through_queue(wb_queue* queue, int decodes, size_t n) {
  size_t b, polled = 0;
  for (b = 0; b < n; b++)
    if ((decodes ? wb_submit_ldpc_decode(queue, decode + b, 1, NULL)
                 : wb_submit_ldpc_encode(queue, encode + b, 1, NULL)) != 1)
      return 0;
  while (polled < n) {
    const size_t given = wb_poll(queue, done + polled, n - polled);
    if (given == 0 && wb_wait(queue, 10000000000ULL) != WB_OK) return 0;
    polled += given;
  }
  return 1;
}

/* One row of the table, or 0 after a failure. queue: null to measure calls that wait. */
static int measure(const char* name, wb_device* device, wb_queue* queue, int decodes, size_t n,
                   int repetitions, double information) {
  const int warm = repetitions / 20 + 1;
  int i;
  for (i = -warm; i < repetitions; i++) {
    const double start = microseconds();
    if (!(queue != NULL ? through_queue(queue, decodes, n) : run(device, decodes, n))) return 0;
    if (i >= 0) times[i] = microseconds() - start;
  }
  qsort(times, (size_t)repetitions, sizeof times[0], ascending);
  printf("%-18s %-6s %3u  %9.2f %9.2f %9.2f  %7.0f\n", name, queue != NULL ? "queue" : "run", (unsigned)n,
         times[0], times[repetitions / 2], times[repetitions * 99 / 100],
         information * (double)n / times[repetitions / 2]);
  return 1;
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    int lifting_size, rows, decodes;
  } operations[] = {{"decode, 8 rows", 384, 8, 1},
                    {"decode, 46 rows", 384, 46, 1},
                    {"encode, 8 rows", 384, 8, 0},
                    {"encode, 46 rows", 384, 46, 0},
                    {"encode, 16 bits", 2, 8, 0}};
  const int repetitions = argc > 2 ? atoi(argv[2]) : 2;
  wb_device* device;
  wb_queue* queues[2]; /* of the encoder and of the decoder */
  size_t o, n;
  int b, i;

  if (repetitions < 1 || repetitions > most_repetitions) {
    fprintf(stderr, "repetitions: expected 1..%d\n", most_repetitions);
    return EXIT_FAILURE;
  }
  if (wb_device_open(argc > 1 ? argv[1] : "cpu:1", &device) != WB_OK) return failed("wb_device_open");
  for (i = 0; i < 2; i++) {
    wb_queue_config config = WB_QUEUE_CONFIG_INIT;
    config.operation = i ? WB_LDPC_DECODE : WB_LDPC_ENCODE;
    config.depth = most;
    if (wb_queue_open(device, &config, &queues[i]) != WB_OK) return failed("wb_queue_open");
  }
  srand(1);
  for (b = 0; b < most; b++)
    for (i = 0; i < most_sent; i++) llr[b][i] = (signed char)(10 + rand() % 17 - 8); /* the word of zeros */

  printf("%s, Warpband %s\n%-18s %-6s %3s  %9s %9s %9s  %7s\n", wb_device_description(device), wb_version(),
         "operation", "call", "n", "least us", "p50 us", "p99 us", "Mb/s");
  for (o = 0; o < sizeof operations / sizeof operations[0]; o++) {
    const int small = operations[o].lifting_size == 2;
    describe(operations[o].lifting_size, operations[o].rows);
    for (n = 1; n <= (small ? 1 : most); n *= 8)
      for (i = 0; i < 2; i++)
        if (!measure(operations[o].name, device, i ? queues[operations[o].decodes] : NULL,
                     operations[o].decodes, n, repetitions, small ? 16 : bits_of_block))
          return failed(operations[o].name);
    for (n = 0; n < most && !small; n++)
      if (done[n].status != 0) return failed("a block was not coded");
  }
  for (i = 0; i < 2; i++) wb_queue_close(queues[i]);
  wb_device_close(device);
  return EXIT_SUCCESS;
}
