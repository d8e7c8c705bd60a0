/* The gateway of MATLAB and Octave to the C interface of Warpband (warpband/c/warpband.h). The functions of +warpband call it; their
 * help texts describe arguments and results.
 *
 *   [bits, status, iterations] = warpband_mex('ldpc_decode', device, llr, settings)     llr [E, n]
 *   coded                      = warpband_mex('ldpc_encode', device, bits, settings)    bits [K - F - CRC, n]
 *   [bits, status, iterations] = warpband_mex('turbo_decode', device, llr, settings)    llr [3 K_pi, n] or [3 (K + 4), n]
 *   llr = warpband_mex('detect', device, kind, text, bits_per_symbol, real(H), imag(H), real(y), imag(y), n0)
 *
 * A column is an item. settings is a struct of numbers; a field that is not known is an error. The device and the detector of the last
 * call stay open for the next one, until another is asked for or the gateway is cleared. Threads: MATLAB's own, as for every MEX file.
 */
#include <stdio.h>
#include <string.h>

#include "mex.h"
#include "warpband/c/warpband.h"

#define TEXT 256

static wb_device* device = NULL;
static char device_name[TEXT];
static wb_detector* detector = NULL;
static char detector_key[2 * TEXT + 64];

static void close_all(void) {
  wb_detector_close(detector);
  detector = NULL;
  wb_device_close(device);
  device = NULL;
}

static void check(wb_status status) {
  if (status != WB_OK) mexErrMsgIdAndTxt("warpband:failed", "%s: %s", wb_status_name(status), wb_last_error());
}

static void take_text(const mxArray* array, const char* name, char* text) {
  if (!mxIsChar(array) || mxGetString(array, text, TEXT) != 0)
    mexErrMsgIdAndTxt("warpband:argument", "%s is not allowed: expected text of up to %d characters", name, TEXT - 1);
}

static void open_device(const char* name) {
  if (device != NULL && strcmp(name, device_name) == 0) return;
  close_all();
  check(wb_device_open(name, &device));
  strcpy(device_name, name);
}

/* ---- settings ---- */
typedef struct setting {
  const char* name;
  double value; /* the default before, what was given after */
  double smallest, largest;
} setting;

static void take_settings(const mxArray* given, setting* settings, size_t count) {
  if (!mxIsStruct(given) || mxGetNumberOfElements(given) != 1)
    mexErrMsgIdAndTxt("warpband:argument", "settings are not allowed: expected one struct");
  for (int field = 0; field < mxGetNumberOfFields(given); field++) {
    const char* name = mxGetFieldNameByNumber(given, field);
    const mxArray* value = mxGetFieldByNumber(given, 0, field);
    size_t i = 0;
    while (i < count && strcmp(settings[i].name, name) != 0) i++;
    if (i == count) mexErrMsgIdAndTxt("warpband:argument", "there is no setting %s", name);
    if (value == NULL || !(mxIsNumeric(value) || mxIsLogical(value)) || mxGetNumberOfElements(value) != 1)
      mexErrMsgIdAndTxt("warpband:argument", "%s is not allowed: expected one number", name);
    const double number = mxGetScalar(value);
    if (!(number >= settings[i].smallest && number <= settings[i].largest) || number != (double)(long long)number)
      mexErrMsgIdAndTxt("warpband:argument", "%s = %g is not allowed: expected an integer from %.0f to %.0f", name, number, settings[i].smallest,
                        settings[i].largest);
    settings[i].value = number;
  }
}

static double value_of(const setting* settings, const char* name) {
  while (strcmp(settings->name, name) != 0) settings++;
  return settings->value;
}

/* ---- arrays ---- */
static size_t rows_of(const mxArray* array, const char* name) {
  if (mxGetNumberOfDimensions(array) != 2 || mxIsComplex(array) || mxIsSparse(array) || mxGetNumberOfElements(array) == 0)
    mexErrMsgIdAndTxt("warpband:argument", "%s is not allowed: expected a matrix of real numbers, a column for each code block", name);
  return mxGetM(array);
}

/* The format of LLRs, and bytes of one. */
static uint32_t llr_format(const mxArray* llr, size_t* bytes) {
  switch (mxGetClassID(llr)) {
    case mxINT8_CLASS:
      *bytes = 1;
      return WB_LLR_INT8;
    case mxINT16_CLASS:
      *bytes = 2;
      return WB_LLR_INT16;
    case mxSINGLE_CLASS:
      *bytes = 4;
      return WB_LLR_FLOAT32;
    default:
      mexErrMsgIdAndTxt("warpband:argument", "llr is not allowed: expected int8, int16 or single");
      return 0;
  }
}

static void check_rows(const char* name, size_t rows, double expected) {
  if ((double)rows != expected)
    mexErrMsgIdAndTxt("warpband:argument", "%s = %.0f rows is not allowed: expected %.0f", name, (double)rows, expected);
}

/* Packed bits, the first in the most significant place, to one a byte, and back. */
static void unpack(const uint8_t* packed, size_t count, uint8_t* bits) {
  for (size_t i = 0; i < count; i++) bits[i] = (uint8_t)(packed[i / 8] >> (7 - i % 8) & 1);
}

static void pack(const uint8_t* bits, size_t count, uint8_t* packed) {
  memset(packed, 0, (count + 7) / 8);
  for (size_t i = 0; i < count; i++) {
    if (bits[i] > 1) mexErrMsgIdAndTxt("warpband:argument", "bits = %d is not allowed: expected 0 or 1", bits[i]);
    packed[i / 8] = (uint8_t)(packed[i / 8] | bits[i] << (7 - i % 8));
  }
}

static size_t crc_bits(double crc) { return crc == WB_CRC_NONE ? 0 : crc == WB_CRC_16 ? 16 : 24; }

static uint32_t flags_of(const setting* settings) {
  return (value_of(settings, "early_stop") != 0 ? WB_EARLY_STOP : 0u) | (value_of(settings, "drop_crc") != 0 ? WB_DROP_CRC : 0u);
}

static void give_done(const wb_done* done, size_t n, int outputs, mxArray** results) {
  for (int output = 1; output < outputs; output++) {
    results[output] = mxCreateNumericMatrix(1, n, mxUINT32_CLASS, mxREAL);
    uint32_t* to = mxGetData(results[output]);
    for (size_t i = 0; i < n; i++) to[i] = output == 1 ? done[i].status : done[i].iterations;
  }
}

/* ---- LDPC codes ---- */
#define LDPC_SETTINGS                                                                                              \
  {"base_graph", 1, 1, 2}, {"lifting_size", 384, 2, 384}, {"fillers", 0, 0, 8448}, {"buffer", 0, 0, 25344},        \
      {"rv", 0, 0, 3}, {"modulation_order", 1, 1, 10}, {"crc", WB_CRC_NONE, 0, 3}, {"sent_bits", 0, 0, 1 << 24}

/* K - F: information bits of a code block, its CRC included. */
static size_t ldpc_bits(const setting* s) {
  const double bits = (value_of(s, "base_graph") == 1 ? 22 : 10) * value_of(s, "lifting_size") - value_of(s, "fillers");
  if (bits < 1 + (double)crc_bits(value_of(s, "crc")))
    mexErrMsgIdAndTxt("warpband:argument", "fillers = %g is not allowed: nothing is left of the code block", value_of(s, "fillers"));
  return (size_t)bits;
}

static uint32_t ldpc_first(const setting* s) {
  uint32_t first = 0;
  check(wb_nr_first_place((uint32_t)value_of(s, "base_graph"), (uint32_t)value_of(s, "lifting_size"), (uint32_t)value_of(s, "buffer"),
                          (uint32_t)value_of(s, "rv"), &first));
  return first;
}

static void ldpc_decode(int outputs, mxArray** results, const mxArray* llr, const mxArray* given) {
  setting s[] = {LDPC_SETTINGS, {"iterations", 8, 1, 1000}, {"early_stop", 1, 0, 1}, {"drop_crc", 0, 0, 1}, {"llr_decimals", 0, 0, 7}};
  take_settings(given, s, sizeof s / sizeof *s);
  size_t bytes = 0;
  const uint32_t format = llr_format(llr, &bytes);
  const size_t sent = rows_of(llr, "llr"), n = mxGetN(llr);
  if (value_of(s, "sent_bits") != 0) check_rows("llr", sent, value_of(s, "sent_bits"));
  const size_t drop = value_of(s, "drop_crc") != 0 ? crc_bits(value_of(s, "crc")) : 0, bits = ldpc_bits(s) - drop, packed = (bits + 7) / 8;
  wb_ldpc_decode* ops = mxCalloc(n, sizeof *ops);
  wb_done* done = mxCalloc(n, sizeof *done);
  uint8_t* out = mxCalloc(n, packed);
  for (size_t i = 0; i < n; i++) {
    const wb_ldpc_decode initial = WB_LDPC_DECODE_INIT;
    ops[i] = initial;
    ops[i].flags = flags_of(s);
    ops[i].tag = i;
    ops[i].base_graph = (uint16_t)value_of(s, "base_graph");
    ops[i].lifting_size = (uint16_t)value_of(s, "lifting_size");
    ops[i].fillers = (uint32_t)value_of(s, "fillers");
    ops[i].buffer = (uint32_t)value_of(s, "buffer");
    ops[i].first = ldpc_first(s);
    ops[i].sent_bits = (uint32_t)sent;
    ops[i].modulation_order = (uint16_t)value_of(s, "modulation_order");
    ops[i].iterations = (uint16_t)value_of(s, "iterations");
    ops[i].crc = (uint32_t)value_of(s, "crc");
    ops[i].llr_format = format;
    ops[i].llr_decimals = (uint32_t)value_of(s, "llr_decimals");
    ops[i].llr = (const uint8_t*)mxGetData(llr) + i * sent * bytes;
    ops[i].bits = out + i * packed;
    ops[i].bits_bytes = packed;
  }
  check(wb_ldpc_decode_check(ops)); /* all have the same settings */
  check(wb_ldpc_decode_run(device, ops, n, done));
  results[0] = mxCreateNumericMatrix(bits, n, mxUINT8_CLASS, mxREAL);
  for (size_t i = 0; i < n; i++) unpack(out + i * packed, bits, (uint8_t*)mxGetData(results[0]) + i * bits);
  give_done(done, n, outputs, results);
}

static void ldpc_encode(mxArray** results, const mxArray* bits, const mxArray* given) {
  setting s[] = {LDPC_SETTINGS};
  take_settings(given, s, sizeof s / sizeof *s);
  if (mxGetClassID(bits) != mxUINT8_CLASS) mexErrMsgIdAndTxt("warpband:argument", "bits is not allowed: expected uint8");
  const size_t rows = rows_of(bits, "bits"), n = mxGetN(bits), sent = (size_t)value_of(s, "sent_bits");
  if (sent == 0) mexErrMsgIdAndTxt("warpband:argument", "sent_bits is not there: expected the bits to send of a code block");
  check_rows("bits", rows, (double)(ldpc_bits(s) - crc_bits(value_of(s, "crc"))));
  const size_t in_bytes = (rows + 7) / 8, out_bytes = (sent + 7) / 8;
  wb_ldpc_encode* ops = mxCalloc(n, sizeof *ops);
  wb_done* done = mxCalloc(n, sizeof *done);
  uint8_t *in = mxCalloc(n, in_bytes), *out = mxCalloc(n, out_bytes);
  for (size_t i = 0; i < n; i++) {
    pack((const uint8_t*)mxGetData(bits) + i * rows, rows, in + i * in_bytes);
    const wb_ldpc_encode initial = WB_LDPC_ENCODE_INIT;
    ops[i] = initial;
    ops[i].tag = i;
    ops[i].base_graph = (uint16_t)value_of(s, "base_graph");
    ops[i].lifting_size = (uint16_t)value_of(s, "lifting_size");
    ops[i].fillers = (uint32_t)value_of(s, "fillers");
    ops[i].buffer = (uint32_t)value_of(s, "buffer");
    ops[i].first = ldpc_first(s);
    ops[i].sent_bits = (uint32_t)sent;
    ops[i].modulation_order = (uint16_t)value_of(s, "modulation_order");
    ops[i].crc = (uint32_t)value_of(s, "crc");
    ops[i].bits = in + i * in_bytes;
    ops[i].bits_bytes = in_bytes;
    ops[i].out = out + i * out_bytes;
    ops[i].out_bytes = out_bytes;
  }
  check(wb_ldpc_encode_check(ops)); /* all have the same settings */
  check(wb_ldpc_encode_run(device, ops, n, done));
  for (size_t i = 0; i < n; i++)
    if (done[i].status != 0) mexErrMsgIdAndTxt("warpband:failed", "code block %.0f: the device failed", (double)(i + 1));
  results[0] = mxCreateNumericMatrix(sent, n, mxUINT8_CLASS, mxREAL);
  for (size_t i = 0; i < n; i++) unpack(out + i * out_bytes, sent, (uint8_t*)mxGetData(results[0]) + i * sent);
}

/* ---- turbo code ---- */
static void turbo_decode(int outputs, mxArray** results, const mxArray* llr, const mxArray* given) {
  setting s[] = {{"k", 6144, 40, 6144},     {"iterations", 8, 1, 1000},  {"least_iterations", 1, 1, 1000}, {"crc", WB_CRC_NONE, 0, 3},
                 {"early_stop", 1, 0, 1},   {"drop_crc", 0, 0, 1},       {"llr_decimals", 0, 0, 7},        {"streams", 0, 0, 1}};
  take_settings(given, s, sizeof s / sizeof *s);
  size_t bytes = 0;
  const uint32_t format = llr_format(llr, &bytes);
  const size_t rows = rows_of(llr, "llr"), n = mxGetN(llr), k = (size_t)value_of(s, "k");
  const int streams = value_of(s, "streams") != 0;
  check_rows("llr", rows, streams ? 3 * ((double)k + 4) : 3 * 32 * (double)((k + 4 + 31) / 32));
  const size_t drop = value_of(s, "drop_crc") != 0 ? crc_bits(value_of(s, "crc")) : 0;
  const size_t bits = k - drop, packed = (bits + 7) / 8;
  wb_turbo_decode* ops = mxCalloc(n, sizeof *ops);
  wb_done* done = mxCalloc(n, sizeof *done);
  uint8_t* out = mxCalloc(n, packed);
  /* The library's streams have K_pi places each. */
  const size_t stream = k + 4, places = 32 * ((k + 4 + 31) / 32);
  const uint8_t* in = mxGetData(llr);
  uint8_t* padded = streams ? mxCalloc(3 * n * places, bytes) : NULL;
  if (streams)
    for (size_t d = 0; d < 3 * n; d++) memcpy(padded + d * places * bytes, in + d * stream * bytes, stream * bytes);
  for (size_t i = 0; i < n; i++) {
    const wb_turbo_decode initial = WB_TURBO_DECODE_INIT;
    ops[i] = initial;
    ops[i].flags = flags_of(s) | (streams ? WB_STREAMS : 0u);
    ops[i].tag = i;
    ops[i].k = (uint32_t)k;
    ops[i].least_iterations = (uint16_t)value_of(s, "least_iterations");
    ops[i].iterations = (uint16_t)value_of(s, "iterations");
    ops[i].crc = (uint32_t)value_of(s, "crc");
    ops[i].llr_format = format;
    ops[i].llr_decimals = (uint32_t)value_of(s, "llr_decimals");
    ops[i].llr = (streams ? padded : in) + 3 * i * places * bytes;
    ops[i].llr_count = 3 * places;
    ops[i].bits = out + i * packed;
    ops[i].bits_bytes = packed;
  }
  check(wb_turbo_decode_check(ops)); /* all have the same settings */
  check(wb_turbo_decode_run(device, ops, n, done));
  results[0] = mxCreateNumericMatrix(bits, n, mxUINT8_CLASS, mxREAL);
  for (size_t i = 0; i < n; i++) unpack(out + i * packed, bits, (uint8_t*)mxGetData(results[0]) + i * bits);
  give_done(done, n, outputs, results);
}

/* ---- detection ---- */
static const float* singles(const mxArray* array, const char* name, size_t count) {
  if (mxGetClassID(array) != mxSINGLE_CLASS || mxIsComplex(array) || mxGetNumberOfElements(array) != count)
    mexErrMsgIdAndTxt("warpband:argument", "%s is not allowed: expected real numbers in single, %.0f of them", name, (double)count);
  return mxGetData(array);
}

static void detect(mxArray** results, const mxArray** arguments) {
  char kind[TEXT], text[TEXT], key[sizeof detector_key];
  take_text(arguments[0], "detector", kind);
  take_text(arguments[1], "settings", text);
  const mwSize* shape = mxGetDimensions(arguments[3]);
  const size_t rx = shape[0], streams = shape[1], uses = mxGetNumberOfDimensions(arguments[3]) > 2 ? shape[2] : 1;
  const size_t bits = (size_t)mxGetScalar(arguments[2]), entries = rx * streams;
  if (mxGetNumberOfDimensions(arguments[3]) > 3 || rx * streams * uses == 0)
    mexErrMsgIdAndTxt("warpband:argument", "channel is not allowed: expected an array of antennas, streams, uses");
  const float* h[] = {singles(arguments[3], "real(channel)", entries * uses), singles(arguments[4], "imag(channel)", entries * uses)};
  const float* y[] = {singles(arguments[5], "real(received)", rx * uses), singles(arguments[6], "imag(received)", rx * uses)};
  const float* n0 = singles(arguments[7], "noise_var", uses);
  snprintf(key, sizeof key, "%s|%s|%.0f|%.0f|%.0f", kind, text, (double)rx, (double)streams, (double)bits);
  if (detector == NULL || strcmp(key, detector_key) != 0) {
    wb_detector_close(detector);
    detector = NULL;
    check(wb_detector_open(device, kind, text[0] == 0 ? NULL : text, (uint32_t)rx, (uint32_t)streams, (uint32_t)bits, &detector));
    strcpy(detector_key, key);
  }
  float *channel = mxCalloc(2 * entries * uses, sizeof *channel), *received = mxCalloc(2 * rx * uses, sizeof *received);
  for (size_t use = 0; use < uses; use++)
    for (size_t r = 0; r < rx; r++) {
      for (size_t part = 0; part < 2; part++) received[2 * (use * rx + r) + part] = y[part][use * rx + r];
      for (size_t t = 0; t < streams; t++) /* MATLAB's columns to rows */
        for (size_t part = 0; part < 2; part++)
          channel[2 * (use * entries + r * streams + t) + part] = h[part][use * entries + t * rx + r];
    }
  results[0] = mxCreateNumericMatrix(bits * streams, uses, mxSINGLE_CLASS, mxREAL);
  check(wb_detect(detector, uses, channel, received, n0, mxGetData(results[0])));
}

void mexFunction(int outputs, mxArray* results[], int inputs, const mxArray* arguments[]) {
  char command[TEXT], name[TEXT];
  if (inputs < 2) mexErrMsgIdAndTxt("warpband:argument", "warpband_mex is called by the functions of +warpband");
  take_text(arguments[0], "command", command);
  take_text(arguments[1], "device", name);
  if (wb_abi_version() >> 16 != WB_ABI_MAJOR || wb_abi_version() < (WB_ABI_MAJOR << 16 | WB_ABI_MINOR))
    mexErrMsgIdAndTxt("warpband:version", "libwarpband_c is of another version: compile the gateway again");
  const int is_detect = strcmp(command, "detect") == 0, results_allowed = is_detect || strcmp(command, "ldpc_encode") == 0 ? 1 : 3;
  if (inputs != (is_detect ? 10 : 4) || outputs > results_allowed)
    mexErrMsgIdAndTxt("warpband:argument", "%s: the number of arguments or results is wrong", command);
  mexAtExit(close_all);
  open_device(name);
  if (is_detect)
    detect(results, arguments + 2);
  else if (strcmp(command, "ldpc_decode") == 0)
    ldpc_decode(outputs, results, arguments[2], arguments[3]);
  else if (strcmp(command, "ldpc_encode") == 0)
    ldpc_encode(results, arguments[2], arguments[3]);
  else if (strcmp(command, "turbo_decode") == 0)
    turbo_decode(outputs, results, arguments[2], arguments[3]);
  else
    mexErrMsgIdAndTxt("warpband:argument", "there is no command %s", command);
}
