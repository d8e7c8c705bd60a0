// LDPC decoding of 5G NR on one core: this library's int8 decoder beside srsRAN's AVX2 decoder
// (`ldpc_decoder_avx2` of srsRAN Project), in one program. Not part of the build; nothing of srsRAN is here.
//
//   S=path/to/srsRAN_Project; L=$S/lib/phy/upper/channel_coding/ldpc; F="-O3 -march=native -DNDEBUG"
//   F="$F -DFMT_HEADER_ONLY -isystem $S/include -isystem $S/external -isystem $S/external/fmt/include"
//   for f in $L/ldpc_{decoder_avx2,decoder_impl,graph_impl,luts_impl} $S/lib/srsvec/compare; do
//     g++ -std=c++17 $F -c $f.cpp
//   done
//   g++ -std=c++17 $F -c $S/lib/phy/upper/log_likelihood_ratio.cpp
//   g++ -std=c++20 $F -isystem $L -I. bench/peers/srsran_ldpc.cpp *.o libwarpband.a -lpthread -ldl
//   ./a.out "$(git rev-parse --short=12 HEAD)" "$(git -C $S rev-parse --short=12 HEAD)" > result.json
//
// Both decode the same 16 codewords of base graph 1 with Z = 384 by layered min-sum, all iterations. The LLRs
// are the same, in whole steps, three in an LLR of 1. Ours come as float32 and its factor is 0.75; srsRAN's
// come as 8-bit numbers and its factor is 0.8. Their runs alternate; times are the thread's CPU time.
#include <ctime>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#undef __cpp_lib_is_constant_evaluated  // srsRAN is C++17: its fmt then takes format strings at run time
#include <ldpc_decoder_avx2.h>

#include <warpband/core/decimal.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>
#include <warpband/fec/ldpc/ldpc_nr.hpp>

namespace {

constexpr int z = 384, systematic = 22, k = systematic * z, batch = 16, runs = 200;
constexpr float steps = 3;

struct setting {
  int rows, iterations;
  double esn0_db;  // far enough above the threshold that both decode everything
};

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::string from_cpuinfo(const std::string& name) {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.rfind(name, 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string rounded(double x) { return wb::decimal(std::round(100 * x) / 100); }

struct rates {
  double best, median;
};
rates rates_of(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const double megabits = 1e-6 * k * batch;
  return {megabits / seconds.front(), megabits / seconds[seconds.size() / 2]};
}

/// LLRs of the codewords in steps, BPSK in white Gaussian noise; 0 for the first 2 Z bits, which are not
/// sent.
std::vector<int> received(const std::vector<std::uint8_t>& coded, std::size_t n, double esn0_db) {
  std::mt19937 engine(1);
  std::normal_distribution<float> normal;
  const float sigma = static_cast<float>(std::sqrt(0.5 * std::pow(10, -esn0_db / 10)));
  std::vector<int> llr(coded.size());
  for (std::size_t i = 0; i < coded.size(); i++) {
    const float y = (coded[i] == 0 ? 1.f : -1.f) + sigma * normal(engine);
    const float x = std::nearbyint(steps * 2 * y / (sigma * sigma));
    llr[i] = i % n < 2 * z ? 0 : static_cast<int>(std::clamp(x, -120.f, 120.f));
  }
  return llr;
}

/// A row of the result.
std::string measure(wb::cpu& exec, const setting& s) {
  const wb::ldpc_code code = wb::nr_ldpc(1, z, s.rows);
  const std::size_t n = static_cast<std::size_t>(code.n());
  auto bits = exec.make<std::uint8_t>(batch, k), coded = exec.make<std::uint8_t>(batch, n),
       decided = exec.make<std::uint8_t>(batch, k);
  std::mt19937 engine(2);
  for (std::size_t i = 0; i < bits.size(); i++) bits.data()[i] = static_cast<std::uint8_t>(engine() & 1);
  wb::ldpc_encoder(code).run(exec, bits, coded);
  const std::vector<int> whole = received({coded.data(), coded.data() + coded.size()}, n, s.esn0_db);

  auto llr = exec.make<float>(batch, n);
  for (std::size_t i = 0; i < whole.size(); i++) llr.data()[i] = static_cast<float>(whole[i]) / steps;
  const wb::ldpc_decoder ours(code, {.iterations = s.iterations,
                                     .precision = wb::ldpc_precision::int8,
                                     .early_stop = wb::ldpc_early_stop::none});

  std::vector<srsran::log_likelihood_ratio> bytes(whole.begin(), whole.end());
  const std::size_t sent = n - 2 * z;
  srsran::ldpc_decoder_avx2 theirs(false);
  srsran::ldpc_decoder::configuration config;
  config.base_graph = srsran::ldpc_base_graph_type::BG1;
  config.lifting_size = srsran::ldpc::LS384;
  config.max_iterations = static_cast<unsigned>(s.iterations);
  std::deque<srsran::dynamic_bit_buffer> messages;  // copies would share their bits
  for (int c = 0; c < batch; c++) messages.emplace_back(k);

  std::vector<double> our_seconds, their_seconds;
  for (int run = 0; run < runs; run++) {
    const double begin = cpu_seconds();
    ours.run(exec, llr, {.bits = decided});
    const double between = cpu_seconds();
    for (std::size_t c = 0; c < batch; c++)
      theirs.decode(messages[c],
                    srsran::span<const srsran::log_likelihood_ratio>(bytes).subspan(c * n + 2 * z, sent),
                    nullptr, config);
    our_seconds.push_back(between - begin);
    their_seconds.push_back(cpu_seconds() - between);
  }

  int our_wrong = 0, their_wrong = 0;
  for (std::size_t c = 0; c < batch; c++) {
    const std::uint8_t* sent_bits = bits.data() + c * k;
    our_wrong += std::memcmp(decided.data() + c * k, sent_bits, k) != 0;
    bool same = true;
    for (std::size_t i = 0; i < k; i++) same = same && messages[c].extract(i, 1) == sent_bits[i];
    their_wrong += !same;
  }
  const rates us = rates_of(our_seconds), them = rates_of(their_seconds);
  const auto figures = [](const rates& r, int wrong) {
    return "{\"median\": " + rounded(r.median) + ", \"best\": " + rounded(r.best) +
           ", \"wrong_codewords\": " + std::to_string(wrong) + "},\n";
  };
  return "  {\"rows\": " + std::to_string(s.rows) + ", \"iterations\": " + std::to_string(s.iterations) +
         ", \"esn0_db\": " + wb::decimal(s.esn0_db) + ",\n   \"warpband_mbps\": " + figures(us, our_wrong) +
         "   \"srsran_mbps\": " + figures(them, their_wrong) +
         "   \"ratio_of_medians\": " + rounded(us.median / them.median) +
         ", \"ratio_of_bests\": " + rounded(us.best / them.best) + "}";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: srsran_ldpc <commit of warpband> <commit of srsRAN> > result.json\n");
    return 2;
  }
  wb::cpu exec({.threads = 1, .instructions = wb::isa_from_name("avx2")});
  std::printf("{\n \"format\": \"srsran ldpc 1\",\n \"commit\": \"%s\",\n \"srsran_commit\": \"%s\",\n",
              argv[1], argv[2]);
  std::printf(" \"machine\": {\"cpu\": \"%s\", \"cpu_mhz\": %s, \"threads\": 1, \"compiler\": \"%s\"},\n",
              from_cpuinfo("model name").c_str(), from_cpuinfo("cpu MHz").c_str(), __VERSION__);
  double load = 0;
  getloadavg(&load, 1);
  std::printf(" \"load_before\": %s,\n \"base_graph\": 1,\n", rounded(load).c_str());
  std::printf(" \"lifting_size\": %d,\n \"codewords\": %d,\n \"runs\": %d,\n \"rows\": [", z, batch, runs);
  const char* before = "\n";
  for (const setting& s : {setting{8, 10, 4.0}, {22, 10, 1.0}, {46, 5, -1.0}, {46, 10, -1.5}}) {
    std::printf("%s%s", before, measure(exec, s).c_str());
    before = ",\n";
  }
  std::printf("\n ]\n}\n");
}
