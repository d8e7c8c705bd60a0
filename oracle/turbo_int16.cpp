#include <oracle/turbo_int16.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include <oracle/lte.hpp>

namespace oracle {
namespace {

using metrics = std::array<int, 8>;

// Register contents as three bits, the newest first.
struct branch {
  int to, parity;
};
branch step(int state, int bit) {
  const int newest = state >> 2, middle = state >> 1 & 1, oldest = state & 1;
  const int in = bit ^ middle ^ oldest;  // feedback 1 + D^2 + D^3
  return {in << 2 | newest << 1 | middle, in ^ newest ^ oldest};
}

struct decoder {
  int largest = 0;
  int seen(int x) {
    largest = std::max(largest, std::abs(x));
    return x;
  }
  static void normalise(metrics& m) {
    const int z = m[0];
    for (int& x : m) x -= z;
  }
  metrics forward(const metrics& a, int ws, int wp) {
    metrics n;
    n.fill(-1000000);
    for (int s = 0; s < 8; s++)
      for (int u = 0; u < 2; u++) {
        const branch b = step(s, u);
        int& x = n[static_cast<std::size_t>(b.to)];
        x = std::max(x, seen(a[static_cast<std::size_t>(s)] + u * ws + b.parity * wp));
      }
    return n;
  }
  metrics backward(const metrics& b, int ws, int wp) {
    metrics n;
    for (int s = 0; s < 8; s++) {
      const branch zero = step(s, 0), one = step(s, 1);
      n[static_cast<std::size_t>(s)] =
          std::max(seen(b[static_cast<std::size_t>(zero.to)] + zero.parity * wp),
                   seen(b[static_cast<std::size_t>(one.to)] + ws + one.parity * wp));
    }
    return n;
  }
  int extrinsic(const metrics& a, const metrics& b, int wp) {
    int maximum[2] = {-1000000, -1000000};
    for (int s = 0; s < 8; s++)
      for (int u = 0; u < 2; u++) {
        const branch x = step(s, u);
        maximum[u] = std::max(maximum[u], seen(a[static_cast<std::size_t>(s)] +
                                               b[static_cast<std::size_t>(x.to)] + x.parity * wp));
      }
    return maximum[1] - maximum[0];
  }
};

}  // namespace

turbo_int16_result turbo_decode_int16(const std::vector<int>& llr, const std::vector<int>& interleaver,
                                      const turbo_int16_options& o) {
  const int K = static_cast<int>(interleaver.size()), P = o.windows, W = K / P;
  auto weight = [&](int stream, int i) { return -llr[static_cast<std::size_t>(stream * (K + 4) + i)]; };
  decoder d;
  metrics ends[2];
  for (int c = 0; c < 2; c++) {
    // Termination from each state: what the three steps to state 0 weigh.
    for (int s = 0; s < 8; s++) {
      int state = s, sum = 0;
      for (int j = 0; j < 3; j++) {
        const int bit = (state >> 1 ^ state) & 1, n = 6 * c + 2 * j;
        const branch b = step(state, bit);
        sum += bit * weight(n % 3, K + n / 3) + b.parity * weight((n + 1) % 3, K + (n + 1) / 3);
        state = b.to;
      }
      ends[c][static_cast<std::size_t>(s)] = sum;
    }
    decoder::normalise(ends[c]);
  }
  const metrics start{0, -5000, -5000, -5000, -5000, -5000, -5000, -5000}, flat{};
  std::vector<metrics> alpha_kept[2], beta_kept[2];  // of the windows, from the iteration before
  for (int c = 0; c < 2; c++) {
    alpha_kept[c].assign(static_cast<std::size_t>(P), flat);
    beta_kept[c].assign(static_cast<std::size_t>(P), flat);
  }
  // Places of windows where they keep metrics: alpha before step first_kept, beta before step last_kept.
  const int first_kept = o.overlap == 0 ? W : (W - o.overlap) / 8 * 8, last_kept = (o.overlap + 7) / 8 * 8;
  std::vector<int> extrinsic1(static_cast<std::size_t>(K)), extrinsic2(static_cast<std::size_t>(K));
  turbo_int16_result r;
  r.bits.resize(static_cast<std::size_t>(K));
  for (int it = 1; it <= o.iterations; it++) {
    r.iterations = it;
    const int eighths = it == o.iterations ? 8 : o.eighths;
    for (int c = 0; c < 2; c++) {
      auto place = [&](int i) { return c == 0 ? i : interleaver[static_cast<std::size_t>(i)]; };
      std::vector<int>&before = c == 0 ? extrinsic2 : extrinsic1, &out = c == 0 ? extrinsic1 : extrinsic2;
      auto ws = [&](int i) { return weight(0, place(i)) + before[static_cast<std::size_t>(place(i))]; };
      auto wp = [&](int i) { return weight(1 + c, i); };
      std::vector<metrics> alpha_now = alpha_kept[c], beta_now = beta_kept[c];
      std::vector<int> result(static_cast<std::size_t>(K));
      for (int w = 0; w < P; w++) {
        const int begin = w * W, end = begin + W;
        metrics a = start, b = ends[c];
        if (w > 0) {
          a = alpha_kept[c][static_cast<std::size_t>(w - 1)];
          for (int i = begin - W + first_kept; i < begin; i++) {
            if ((i - (begin - W + first_kept)) % 8 == 0) decoder::normalise(a);
            a = d.forward(a, ws(i), wp(i));
          }
        }
        if (w + 1 < P) {
          b = beta_kept[c][static_cast<std::size_t>(w + 1)];
          for (int i = end + last_kept - 1; i >= end; i--) {
            if ((end + last_kept - 1 - i) % 8 == 0) decoder::normalise(b);
            b = d.backward(b, ws(i), wp(i));
          }
        }
        std::vector<metrics> alpha(static_cast<std::size_t>(W));
        for (int j = 0; j < W; j++) {
          if (j % 8 == 0) decoder::normalise(a);
          if (j == first_kept) alpha_now[static_cast<std::size_t>(w)] = a;
          alpha[static_cast<std::size_t>(j)] = a;
          a = d.forward(a, ws(begin + j), wp(begin + j));
        }
        if (first_kept == W) {
          decoder::normalise(a);
          alpha_now[static_cast<std::size_t>(w)] = a;
        }
        for (int j = W - 1; j >= 0; j--) {
          if (j == W - 1 || j % 8 == 7) decoder::normalise(b);
          result[static_cast<std::size_t>(begin + j)] =
              d.extrinsic(alpha[static_cast<std::size_t>(j)], b, wp(begin + j));
          b = d.backward(b, ws(begin + j), wp(begin + j));
          if (j == last_kept) beta_now[static_cast<std::size_t>(w)] = b;
        }
      }
      for (int i = 0; i < K; i++) {
        const int e = result[static_cast<std::size_t>(i)], sum = ws(i) + e;
        const int limited = std::clamp(e, -1023, 1023);
        int x = static_cast<int>(std::floor((limited * eighths + 4) / 8.0));
        if (c == 1) {
          const bool bit = sum > 0;
          r.bits[static_cast<std::size_t>(place(i))] = bit;
          x = x - (x & 1) + bit;
        }
        result[static_cast<std::size_t>(i)] = x;
      }
      for (int i = 0; i < K; i++)
        out[static_cast<std::size_t>(place(i))] = result[static_cast<std::size_t>(i)];
      alpha_kept[c] = alpha_now;
      beta_kept[c] = beta_now;
    }
    if (o.crc_degree != 0) {
      const std::vector<std::uint8_t> head(r.bits.begin(), r.bits.end() - o.crc_degree),
          tail(r.bits.end() - o.crc_degree, r.bits.end());
      if (crc(head, o.crc, o.crc_degree) == tail) break;
    }
  }
  r.largest = d.largest;
  return r;
}

}  // namespace oracle
