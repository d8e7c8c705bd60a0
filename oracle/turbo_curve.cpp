// Error-rate curve of the double-precision turbo decoder, independent of everything in warpband/: its own
// generator (std::mt19937_64), encoder, channel and decoder.
//   oracle_turbo_curve K ITERATIONS log-map|max-log-map SCALE FRAME_ERRORS THREADS EBN0_DB... > curve.csv
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <oracle/lte.hpp>
#include <oracle/turbo.hpp>

namespace {

struct code_size {
  int k, f1, f2;
};
constexpr code_size sizes[] = {{40, 3, 10}, {104, 7, 26}, {1024, 31, 64}, {6144, 263, 480}};  // table 5.1.3-3

struct counts {
  long frames = 0, bit_errors = 0, frame_errors = 0;
};

counts simulate(const std::vector<int>& pi, const oracle::turbo_options& options, double ebn0_db,
                long frame_errors, unsigned threads) {
  counts total;
  std::mutex mutex;
  std::atomic<bool> enough = false;
  std::vector<std::jthread> workers;
  for (unsigned t = 0; t < threads; t++)
    workers.emplace_back([&, t] {
      std::seed_seq seed{static_cast<unsigned>(std::lround(ebn0_db * 1000)), t};
      std::mt19937_64 rng(seed);
      const std::size_t k = pi.size();
      const double rate = static_cast<double>(k) / (3.0 * static_cast<double>(k) + 12);
      const double variance = 1 / (2 * rate * std::pow(10, ebn0_db / 10));
      std::normal_distribution<double> noise(0, std::sqrt(variance));
      while (!enough) {
        std::vector<std::uint8_t> u(k);
        for (auto& b : u) b = static_cast<std::uint8_t>(rng() >> 63);
        const auto coded = oracle::turbo_encode(u, pi);
        std::vector<double> llr;
        for (const auto* d : {&coded.d0, &coded.d1, &coded.d2})
          for (const auto b : *d) llr.push_back(2 * (1 - 2 * b + noise(rng)) / variance);
        const auto got = oracle::turbo_decode(llr, pi, options).bits;
        long errors = 0;
        for (std::size_t i = 0; i < k; i++) errors += got[i] != u[i];
        std::lock_guard lock(mutex);
        total.frames++;
        total.bit_errors += errors;
        total.frame_errors += errors > 0;
        if (total.frame_errors >= frame_errors) enough = true;
      }
    });
  workers.clear();
  return total;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 8) {
    std::fprintf(stderr, "usage: %s K ITERATIONS log-map|max-log-map SCALE FRAME_ERRORS THREADS EBN0_DB...\n",
                 argv[0]);
    return 2;
  }
  const int k = std::atoi(argv[1]);
  const code_size* size = nullptr;
  for (const auto& s : sizes)
    if (s.k == k) size = &s;
  if (size == nullptr) {
    std::fprintf(stderr, "%s: K = %d is not one of 40, 104, 1024, 6144\n", argv[0], k);
    return 2;
  }
  const oracle::turbo_options options{
      std::string(argv[3]) == "log-map" ? oracle::algorithm::log_map : oracle::algorithm::max_log,
      std::atof(argv[4]), std::atoi(argv[2])};
  std::printf("esn0_db,ebn0_db,ber,fer,n_frames,bit_errors,frame_errors\n");
  for (int i = 7; i < argc; i++) {
    const double ebn0_db = std::atof(argv[i]);
    const auto c = simulate(oracle::qpp(k, size->f1, size->f2), options, ebn0_db, std::atol(argv[5]),
                            static_cast<unsigned>(std::atoi(argv[6])));
    const double frames = static_cast<double>(c.frames), rate = k / (3.0 * k + 12);
    std::printf("%.3f,%.3f,%.6e,%.6e,%ld,%ld,%ld\n", ebn0_db + 10 * std::log10(rate), ebn0_db,
                static_cast<double>(c.bit_errors) / frames / k, static_cast<double>(c.frame_errors) / frames,
                c.frames, c.bit_errors, c.frame_errors);
    std::fflush(stdout);
  }
}
