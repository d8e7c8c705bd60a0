// Every receiver over SNR, with the channel known: less noise is never worse.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <tests/link.hpp>
#include <tests/on_backends.hpp>
#include <tests/scenario.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/interval.hpp>

namespace wb {
namespace noise_test {

using testing::only_curve;

class noise : public testing::on_backend {};
WB_ON_ALL_BACKENDS(noise);

const std::string wifi = "code = { type = \"wifi-ldpc\", n = 648, rate = \"5/6\" }\n",
                  longer = "code = { type = \"wifi-ldpc\", n = 1944, rate = \"5/6\" }\n",
                  fading = "channel.type = \"rayleigh\"\n";
std::string qam(int points) { return "modem.modulation = \"" + std::to_string(points) + "qam\"\n"; }

struct receiver {
  std::string code, rest;
};
/// Decoders behind the demapper, detectors, receivers in a loop, space-time codes, massive MIMO, 5G NR.
std::vector<receiver> receivers() {
  std::vector<receiver> list;
  const std::string turbo = "code = { type = \"lte-turbo\", k = 104, rate = \"1/2\" }\n",
                    conv = "code = { type = \"conv\", k = 100, rate = \"5/6\" }\n",
                    polar = "code = { type = \"polar\", k = 64, coded_bits = 100 }\n",
                    lte =
                        "code = { type = \"lte-transport\", transport_block_size = 256, coded_bits = 320, "
                        "transmissions = 2 }\n",
                    nr = "code = { type = \"nr-dlsch\", transport_block_size = 256, coded_bits = 320, "
                         "transmissions = 2 }\n",
                    short_numbers = "decoder = { algorithm = \"max-log-map\", precision = \"int16\" }\n",
                    int8 = "decoder.precision = \"int8\"\n", none;
  for (const auto& code : {turbo, turbo + short_numbers, turbo + "decoder.precision = \"bfloat16\"\n", conv,
                           conv + "decoder.precision = \"int16\"\n", conv + short_numbers, polar,
                           polar + int8, polar + "decoder.precision = \"int16\"\n", lte, lte + short_numbers,
                           nr, nr + int8, nr + "decoder.precision = \"float16\"\n", wifi, wifi + int8})
    list.push_back({code, qam(256) + fading});
  for (const auto& decoder : {none, int8}) {
    for (const char* type : {"ml", "zf", "mmse", "ot", "mtt", "kbest", "nway", "pic", "ep"})
      list.push_back({wifi + decoder, qam(16) + fading + "mimo = { streams = 2, rx_antennas = 2 }\n" +
                                          "detector.type = \"" + type + "\"\n"});
    for (const char* type : {"nway", "pic", "ep"})
      list.push_back({wifi + decoder, qam(16) + fading + "mimo = { streams = 2, rx_antennas = 2 }\n" +
                                          "detector.type = \"" + type + "\"\nreceiver.outer = 2\n"});
    for (const char* type : {"alamouti", "silver", "golden"})
      list.push_back({wifi + decoder, qam(16) + fading + "mimo.rx_antennas = 2\nstbc.type = \"" +
                                          std::string(type) + "\"\n"});
    // cg and jacobi-cg leave interference that their LLRs do not know.
    for (const char* solver : {"solver = \"cholesky\"", "solver = \"cg\", iterations = 4",
                               "solver = \"jacobi-cg\", iterations = 4", "solver = \"zf\""})
      for (const char* direction : {"uplink", "downlink"})
        list.push_back({longer + decoder, qam(64) + fading + "massive = { " + solver + ", direction = \"" +
                                              direction +
                                              "\", antennas = 32, users = 8, subcarriers = 324 }\n"});
    for (const char* channel : {"pusch", "pdsch"})
      list.push_back({decoder,
                      "code.transmissions = 1\nchannel = { type = \"tdl\", profile = \"tdl-c\", "
                      "delay_spread_ns = 300 }\nmimo.rx_antennas = 4\nnr = { channel = \"" +
                          std::string(channel) +
                          "\", csi = \"perfect\", mcs_table = 2, mcs = 27, resource_blocks = 2, "
                          "layers = 2 }\n"});
  }
  return list;
}

TEST_P(noise, less_of_it_is_never_worse) {
  if (GetParam().name == "scalar")
    GTEST_SKIP() << "takes a minute; other tests hold it to the counts of vectors";
  const std::size_t frames = testing::small_scale() ? 12 : 24;
  for (const receiver& r : receivers()) {
    const std::string text = r.code + r.rest;
    link_chain chain(only_curve(text + "sweep.snr_db = 20\n").link, exec(), frames);
    std::vector<interval> rates;
    for (const double snr_db : {20., 40., 60., 80., 100.}) {
      std::uint64_t wrong = 0;
      for (const std::int32_t errors : chain.run(0, frames, snr_db).bit_errors) wrong += errors != 0;
      rates.push_back(clopper_pearson(wrong, frames));
      for (const interval& before : rates)
        EXPECT_LE(rates.back().low, before.high) << snr_db << " dB:\n" << text;
    }
    EXPECT_LT(rates.back().low, 0.01) << text;
  }
}

}  // namespace noise_test
}  // namespace wb
