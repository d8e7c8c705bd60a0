// Decodes LTE turbo codewords through the library: encode, add noise, decode, compare.
//   decode [cpu|cuda:0]
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include <warpband/exec/executor.hpp>
#include <warpband/fec/turbo/turbo.hpp>

int main(int argc, char** argv) {
  try {
    const auto exec = wb::open_executor(argc > 1 ? argv[1] : "cpu");
    const int k = 1024;
    const std::size_t K = 1024, n = 3 * (K + 4), batch = 64;

    // Random blocks. Arrays are [batch, elements], row after row.
    std::mt19937 rng(1);
    std::vector<std::uint8_t> sent(K * batch);
    for (auto& b : sent) b = static_cast<std::uint8_t>(rng() & 1);
    auto bits = exec->make<std::uint8_t>(batch, K), coded = exec->make<std::uint8_t>(batch, n);
    exec->upload(bits.data(), sent.data(), bits.bytes());
    wb::turbo_encoder(k).run(*exec, bits, coded);

    // BPSK over AWGN: L = 2 y / sigma^2.
    const float variance = 1.2f;  // 1 dB
    std::normal_distribution<float> noise(0, std::sqrt(variance));
    std::vector<float> received;
    for (const auto b : exec->to_host(coded))
      received.push_back(2 * (1 - 2 * static_cast<float>(b) + noise(rng)) / variance);
    auto llr = exec->make<float>(batch, n);
    exec->upload(llr.data(), received.data(), llr.bytes());

    const wb::turbo_decoder decoder(
        {.k = k, .iterations = 8, .early_stop = wb::turbo_early_stop::sign_agreement});
    auto iterations = exec->make<std::int32_t>(batch, 1);
    decoder.run(*exec, llr, {.bits = bits, .iterations = iterations});

    const auto decided = exec->to_host(bits);
    std::size_t errors = 0;
    for (std::size_t i = 0; i < sent.size(); i++) errors += decided[i] != sent[i];
    double mean = 0;
    for (const int i : exec->to_host(iterations)) mean += i / static_cast<double>(batch);
    std::printf("%s (%s): %zu bit errors in %zu bits, %.2f iterations on average\n", exec->name().c_str(),
                exec->description().c_str(), errors, sent.size(), mean);
    return errors == 0 ? 0 : 1;
  } catch (const wb::error& e) {
    std::fprintf(stderr, "decode: %s\n", e.what());
    return 1;
  }
}
