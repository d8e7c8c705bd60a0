/* Detects two streams of 16-QAM at four antennas by N-way detection.
 *   detect [cpu|cpu:8|cuda:0]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <warpband/c/warpband.h>

enum { uses = 1000, antennas = 4, streams = 2, bits = 4 };

static float channel[uses][antennas][streams][2], received[uses][antennas][2], noise_var[uses];
static float llr[uses][streams][bits];
static unsigned char sent[uses][streams][bits];

static double uniform(void) {
  static unsigned long long state = 1;
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return ((double)(state >> 40) + 0.5) / 16777216.0;
}
static double gaussian(void) { return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()); }

/* TS 38.211 5.1.4: bits 0 and 2 are of the real part, 1 and 3 of the imaginary one. */
static double part(unsigned sign, unsigned size) { return (sign ? -1 : 1) * (size ? 3 : 1) / sqrt(10.0); }

int main(int argc, char** argv) {
  const double variance = 0.02; /* N0 */
  wb_device* device;
  wb_detector* detector;
  unsigned wrong = 0;
  int u, a, s, b;

  if (wb_device_open(argc > 1 ? argv[1] : "cpu", &device) != WB_OK ||
      wb_detector_open(device, "nway", "ways = 2, llr_clip = 20", antennas, streams, bits, &detector) != WB_OK) {
    fprintf(stderr, "%s\n", wb_last_error());
    return EXIT_FAILURE;
  }
  for (u = 0; u < uses; u++) {
    double x[streams][2];
    for (s = 0; s < streams; s++) {
      for (b = 0; b < bits; b++) sent[u][s][b] = uniform() < 0.5;
      x[s][0] = part(sent[u][s][0], sent[u][s][2]);
      x[s][1] = part(sent[u][s][1], sent[u][s][3]);
    }
    for (a = 0; a < antennas; a++) {
      double y[2];
      y[0] = sqrt(variance / 2) * gaussian();
      y[1] = sqrt(variance / 2) * gaussian();
      for (s = 0; s < streams; s++) {
        const double re = sqrt(0.5) * gaussian(), im = sqrt(0.5) * gaussian();
        y[0] += re * x[s][0] - im * x[s][1];
        y[1] += re * x[s][1] + im * x[s][0];
        channel[u][a][s][0] = (float)re;
        channel[u][a][s][1] = (float)im;
      }
      received[u][a][0] = (float)y[0];
      received[u][a][1] = (float)y[1];
    }
    noise_var[u] = (float)variance;
  }
  if (wb_detect(detector, uses, &channel[0][0][0][0], &received[0][0][0], noise_var, &llr[0][0][0]) != WB_OK) {
    fprintf(stderr, "%s\n", wb_last_error());
    return EXIT_FAILURE;
  }
  for (u = 0; u < uses; u++)
    for (s = 0; s < streams; s++)
      for (b = 0; b < bits; b++) wrong += (llr[u][s][b] < 0) != sent[u][s][b];
  printf("%u of %u bits are wrong\n", wrong, (unsigned)(uses * streams * bits));
  wb_detector_close(detector);
  wb_device_close(device);
  return wrong < uses * streams * bits / 50 ? EXIT_SUCCESS : EXIT_FAILURE;
}
