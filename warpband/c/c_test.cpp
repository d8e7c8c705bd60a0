// The C library as a C program uses it, held against the C++ classes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <warpband/c/warpband.h>
#include <warpband/detect/detector.hpp>
#include <warpband/exec/cuda.hpp>
#include <warpband/fec/blocks/ldpc_blocks.hpp>
#include <warpband/fec/blocks/turbo_blocks.hpp>
#include <warpband/fec/lte/transport.hpp>
#include <warpband/fec/nr/transport.hpp>
#include <warpband/fec/polar/polar.hpp>
#include <warpband/massive/downlink/downlink.hpp>
#include <warpband/massive/uplink/uplink.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/receive/pusch.hpp>

namespace wb {
namespace c_test {

using bytes = std::vector<std::uint8_t>;
using floats = std::vector<float>;

bytes random_bytes(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  bytes b(n);
  for (auto& x : b) x = static_cast<std::uint8_t>(random());
  return b;
}
floats gaussians(std::size_t n, unsigned seed, float deviation = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, deviation);
  floats x(n);
  for (auto& v : x) v = normal(random);
  return x;
}

std::vector<std::string> devices() { return {"cpu:1", "cpu:2", "cuda:0"}; }
std::string test_name(const ::testing::TestParamInfo<std::string>& device) {
  std::string name = device.param;
  name[name.find(':')] = '_';
  return name;
}

/// An open device, and what the C++ classes run on there.
class c_api : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().starts_with("cuda") && cuda_devices().empty()) GTEST_SKIP() << "no CUDA device here";
    ASSERT_EQ(wb_device_open(GetParam().c_str(), &device), WB_OK) << wb_last_error();
    exec = GetParam().starts_with("cuda") ? open_executor(GetParam()) : open_executor("cpu", 1);
  }
  void TearDown() override { wb_device_close(device); }
  template <class T>
  array<T> on_device(const std::vector<T>& values, std::size_t items) {
    auto a = exec->make<T>(items, values.size() / items);
    exec->upload(a.data(), values.data(), a.bytes());
    exec->sync();
    return a;
  }
  wb_device* device = nullptr;
  std::unique_ptr<executor> exec;
};
INSTANTIATE_TEST_SUITE_P(backends, c_api, ::testing::ValuesIn(devices()), test_name);

std::vector<std::complex<float>> pairs(const floats& x) {
  std::vector<std::complex<float>> z;
  for (std::size_t i = 0; i < x.size(); i += 2) z.emplace_back(x[i], x[i + 1]);
  return z;
}

// ---- devices and errors

TEST(c_api_errors, version_is_that_of_the_header) {
  EXPECT_EQ(wb_abi_version(), (1u << 16 | 0u));
  EXPECT_NE(wb_version()[0], '\0');
}

TEST(c_api_errors, names_of_status) {
  EXPECT_STREQ(wb_status_name(WB_OK), "success");
  EXPECT_STREQ(wb_status_name(WB_INVALID_SHAPE), "invalid shape");
  EXPECT_STREQ(wb_status_name(static_cast<wb_status>(15)), "unknown status");
}

TEST(c_api_errors, device_names) {
  wb_device* device = nullptr;
  for (const char* name : {"", "gpu", "cpu:", "cpu:0", "cpu:-1", "cpu:2x", "cpu:99999", "cuda:x", "cpux"}) {
    EXPECT_EQ(wb_device_open(name, &device), WB_INVALID_ARGUMENT) << name;
    EXPECT_NE(wb_last_error()[0], '\0');
    EXPECT_EQ(device, nullptr);
  }
  EXPECT_EQ(wb_device_open("cuda:97", &device), WB_NO_DEVICE) << wb_last_error();
  EXPECT_EQ(wb_device_open(nullptr, &device), WB_INVALID_ARGUMENT);
  EXPECT_EQ(wb_device_open("cpu", nullptr), WB_INVALID_ARGUMENT);
  EXPECT_STREQ(wb_device_description(nullptr), "");
}

TEST(c_api_errors, last_error_is_of_the_thread) {
  wb_device* device = nullptr;
  EXPECT_EQ(wb_device_open("abc", &device), WB_INVALID_ARGUMENT);
  EXPECT_NE(std::string(wb_last_error()).find("abc"), std::string::npos);
  std::thread([] {
    EXPECT_STREQ(wb_last_error(), "");
    wb_device* other = nullptr;
    EXPECT_EQ(wb_device_open("xyz", &other), WB_INVALID_ARGUMENT);
  }).join();
  EXPECT_NE(std::string(wb_last_error()).find("abc"), std::string::npos);
}

TEST(c_api_errors, null_objects_are_refused_and_closed) {
  EXPECT_EQ(wb_ldpc_decode_run(nullptr, nullptr, 1, nullptr), WB_INVALID_ARGUMENT);
  EXPECT_EQ(wb_detect(nullptr, 1, nullptr, nullptr, nullptr, nullptr), WB_INVALID_ARGUMENT);
  EXPECT_EQ(wb_uplink_run(nullptr, 1, 1, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr),
            WB_INVALID_ARGUMENT);
  EXPECT_EQ(wb_polar_encode(nullptr, 1, nullptr, nullptr), WB_INVALID_ARGUMENT);
  EXPECT_EQ(wb_wait(nullptr, 0), WB_INVALID_ARGUMENT);
  wb_done done;
  EXPECT_EQ(wb_poll(nullptr, &done, 1), 0u);
  wb_status why = WB_OK;
  EXPECT_EQ(wb_submit_turbo_decode(nullptr, nullptr, 1, &why), 0u);
  EXPECT_EQ(why, WB_INVALID_ARGUMENT);
  wb_device_close(nullptr);
  wb_queue_close(nullptr);
  wb_detector_close(nullptr);
  wb_uplink_close(nullptr);
  wb_downlink_close(nullptr);
  wb_nr_transport_close(nullptr);
  wb_lte_transport_close(nullptr);
  wb_polar_close(nullptr);
  wb_pusch_close(nullptr);
}

// ---- detectors and massive MIMO

TEST_P(c_api, detectors_equal_the_classes) {
  constexpr std::size_t n = 37, rx = 4, streams = 2;
  auto h = gaussians(2 * n * rx * streams, 1), y = gaussians(2 * n * rx, 2);
  const floats n0(n, 0.1f);
  h[5] = std::numeric_limits<float>::quiet_NaN();
  struct {
    const char *kind, *settings;
    std::vector<std::pair<const char*, setting_value>> same;
  } const cases[] = {
      {"mmse", nullptr, {}},
      {"ml", "llr_clip = 12", {{"llr_clip", 12.0}}},
      {"nway", "ways = 2, llr_clip=8", {{"ways", std::int64_t{2}}, {"llr_clip", 8.0}}},
      {"kbest",
       " survivors = 4\nsort = \"none\",\n order = [1, 0] ",
       {{"survivors", std::int64_t{4}},
        {"sort", std::string("none")},
        {"order", std::vector<std::int64_t>{1, 0}}}},
  };
  for (const auto& c : cases) {
    wb_detector* detector = nullptr;
    ASSERT_EQ(wb_detector_open(device, c.kind, c.settings, rx, streams, 4, &detector), WB_OK)
        << wb_last_error();
    floats llr(n * streams * 4, 99);
    for (const std::size_t count : {n, std::size_t{3}, n})
      ASSERT_EQ(wb_detect(detector, count, h.data(), y.data(), n0.data(), llr.data()), WB_OK)
          << wb_last_error();
    ASSERT_EQ(wb_detect(detector, 0, nullptr, nullptr, nullptr, nullptr), WB_OK);
    // Of floats that do not begin on a multiple of 8 bytes
    floats odd(h.size() + 1), other(llr.size());
    std::copy(h.begin(), h.end(), odd.begin() + 1);
    ASSERT_EQ(wb_detect(detector, n, odd.data() + 1, y.data(), n0.data(), other.data()), WB_OK);
    wb_detector_close(detector);

    detector_config config{.type = c.kind, .streams = streams, .rx_antennas = rx, .qam = 16};
    for (const auto& [name, value] : c.same) config.set(name, value);
    const auto channel = on_device(pairs(h), n), received = on_device(pairs(y), n);
    const auto noise = on_device(n0, n);
    auto expected = exec->make<float>(n, streams * 4);
    make_detector(config)->run(*exec, {.channel = channel, .received = received, .noise_var = noise},
                               {.llr = expected});
    EXPECT_EQ(llr, exec->to_host(expected)) << c.kind;
    EXPECT_EQ(llr, other) << c.kind;
    EXPECT_EQ(floats(llr.begin(), llr.begin() + 8), floats(8, 0.f));  // erased
  }
}

TEST_P(c_api, settings_that_are_refused) {
  wb_detector* detector = nullptr;
  struct {
    const char *kind, *settings, *blamed;
  } const cases[] = {{"abc", nullptr, "abc"},
                     {"nway", "ways", "ways"},
                     {"nway", "ways = ", "ways"},
                     {"nway", "way = 4", "\"ways\""},
                     {"nway", "ways = four", "ways"},
                     {"nway", "ways = 99", "ways"},
                     {"nway", "ways = 2, ways = 2", "ways"},
                     {"nway", "streams = 2", "streams"},
                     {"kbest", "order = [1, 0", "bracket"},
                     {"kbest", "sort = \"none", "quote"},
                     {"mmse", "ways = 2", "ways"}};
  for (const auto& c : cases) {
    EXPECT_EQ(wb_detector_open(device, c.kind, c.settings, 4, 2, 4, &detector), WB_INVALID_ARGUMENT)
        << c.settings;
    EXPECT_NE(std::string(wb_last_error()).find(c.blamed), std::string::npos) << wb_last_error();
    EXPECT_EQ(detector, nullptr);
  }
  for (const std::uint32_t bits : {0u, 3u, 10u, 4000000000u})
    EXPECT_EQ(wb_detector_open(device, "mmse", nullptr, 4, 2, bits, &detector), WB_INVALID_ARGUMENT);
  EXPECT_EQ(wb_detector_open(device, "mmse", nullptr, 4000000000u, 2, 4, &detector), WB_INVALID_ARGUMENT);
  EXPECT_EQ(wb_detector_open(device, "mmse", nullptr, 1, 2, 4, &detector), WB_INVALID_ARGUMENT);
  ASSERT_EQ(wb_detector_open(device, "mmse", " , ", 2, 2, 2, &detector), WB_OK) << wb_last_error();
  const float x = 0;
  float out = 0;
  EXPECT_EQ(wb_detect(detector, SIZE_MAX, &x, &x, &x, &out), WB_INVALID_SHAPE);
  EXPECT_EQ(wb_detect(detector, SIZE_MAX / 64, &x, &x, &x, &out), WB_INVALID_SHAPE);
  EXPECT_EQ(wb_detect(detector, 1, nullptr, &x, &x, &out), WB_INVALID_ARGUMENT);
  wb_detector_close(detector);
}

TEST_P(c_api, massive_mimo_equals_the_classes) {
  constexpr std::size_t frames = 3, symbols = 5, antennas = 16, users = 4, vectors = frames * symbols;
  const auto h = gaussians(2 * frames * antennas * users, 1), y = gaussians(2 * vectors * antennas, 2),
             s = gaussians(2 * vectors * users, 3);
  const floats n0(frames, 0.05f);
  const auto channel = on_device(pairs(h), frames), received = on_device(pairs(y), vectors),
             sent = on_device(pairs(s), vectors);
  const auto noise = on_device(n0, frames);

  wb_uplink* uplink = nullptr;
  ASSERT_EQ(
      wb_uplink_open(device, "solver = cg, iterations = 3, sinr = approximate", antennas, users, 4, &uplink),
      WB_OK)
      << wb_last_error();
  floats llr(vectors * users * 4), equalized(2 * vectors * users), sinr(vectors * users);
  bytes status(vectors, 9);
  ASSERT_EQ(wb_uplink_run(uplink, frames, symbols, h.data(), y.data(), n0.data(), llr.data(),
                          equalized.data(), sinr.data(), status.data()),
            WB_OK)
      << wb_last_error();
  floats alone(llr.size());
  ASSERT_EQ(wb_uplink_run(uplink, frames, symbols, h.data(), y.data(), n0.data(), alone.data(), nullptr,
                          nullptr, nullptr),
            WB_OK);
  EXPECT_EQ(alone, llr);
  EXPECT_EQ(wb_uplink_run(uplink, frames, 0, h.data(), y.data(), n0.data(), alone.data(), nullptr, nullptr,
                          nullptr),
            WB_INVALID_ARGUMENT);
  EXPECT_EQ(wb_uplink_run(uplink, SIZE_MAX / 2, 4, h.data(), y.data(), n0.data(), alone.data(), nullptr,
                          nullptr, nullptr),
            WB_INVALID_SHAPE);
  wb_uplink_close(uplink);
  const uplink_detector detector({.antennas = antennas,
                                  .users = users,
                                  .qam = 16,
                                  .solver = massive_solver::cg,
                                  .iterations = 3,
                                  .sinr = massive_sinr::approximate,
                                  .llr_clip = {}});
  auto llr_of = exec->make<float>(vectors, users * 4), sinr_of = exec->make<float>(vectors, users);
  auto equalized_of = exec->make<std::complex<float>>(vectors, users);
  detector.run(*exec, uplink_input{channel, received, noise, symbols},
               {.llr = llr_of, .llr_int8 = {}, .equalized = equalized_of, .sinr = sinr_of, .status = {}});
  EXPECT_EQ(llr, exec->to_host(llr_of));
  EXPECT_EQ(sinr, exec->to_host(sinr_of));
  EXPECT_EQ(pairs(equalized), exec->to_host(equalized_of));
  EXPECT_EQ(status, bytes(vectors, 0));

  wb_downlink* downlink = nullptr;
  EXPECT_EQ(wb_downlink_open(device, "solver = magic", antennas, users, &downlink), WB_INVALID_ARGUMENT);
  ASSERT_EQ(wb_downlink_open(device, nullptr, antennas, users, &downlink), WB_OK) << wb_last_error();
  floats precoded(2 * vectors * antennas);
  ASSERT_EQ(wb_downlink_run(downlink, frames, symbols, h.data(), s.data(), n0.data(), precoded.data(),
                            status.data()),
            WB_OK)
      << wb_last_error();
  wb_downlink_close(downlink);
  auto precoded_of = exec->make<std::complex<float>>(vectors, antennas);
  downlink_precoder({.antennas = antennas, .users = users, .iterations = {}, .symbol_energy = {}})
      .run(*exec, downlink_input{channel, sent, noise, symbols}, precoded_of);
  EXPECT_EQ(pairs(precoded), exec->to_host(precoded_of));
}

// ---- transport blocks and polar codes

/// LLRs of packed bits over AWGN.
floats llrs_of(const bytes& coded, std::size_t n, std::size_t bits, float deviation, unsigned seed) {
  const auto noise = gaussians(n * bits, seed, deviation);
  floats llr(n * bits);
  for (std::size_t i = 0; i < n; i++)
    for (std::size_t j = 0; j < bits; j++)
      llr[i * bits + j] =
          2 *
          (1 - 2 * static_cast<float>(coded[i * ((bits + 7) / 8) + j / 8] >> (7 - j % 8) & 1) +
           noise[i * bits + j]) /
          (deviation * deviation);
  return llr;
}
bytes unpacked(const bytes& packed, std::size_t n, std::size_t bits) {
  bytes b(n * bits);
  for (std::size_t i = 0; i < n; i++)
    for (std::size_t j = 0; j < bits; j++)
      b[i * bits + j] = packed[i * ((bits + 7) / 8) + j / 8] >> (7 - j % 8) & 1;
  return b;
}

wb_transport_decode transmission(const void* llr, std::uint32_t rv, bool first, bytes* decided = nullptr,
                                 bytes* ok = nullptr, std::vector<std::int32_t>* iterations = nullptr,
                                 bytes* status = nullptr) {
  wb_transport_decode op = WB_TRANSPORT_DECODE_INIT;
  op.flags = first ? WB_FIRST : 0;
  op.rv = rv;
  op.llr = llr;
  if (decided != nullptr) op.bits = decided->data();
  if (ok != nullptr) op.ok = ok->data();
  if (iterations != nullptr) op.iterations = iterations->data();
  if (status != nullptr) op.status = status->data();
  return op;
}
/// LLRs in steps of `scale`, limited to what V holds.
template <class V>
std::vector<V> in_steps(const floats& llr, float scale) {
  std::vector<V> steps;
  for (const float x : llr)
    steps.push_back(static_cast<V>(std::clamp(std::lrint(x / scale), long{std::numeric_limits<V>::min()},
                                              long{std::numeric_limits<V>::max()})));
  return steps;
}
template <class V>
floats of_steps(const std::vector<V>& steps, float scale) {
  floats llr;
  for (const V step : steps) llr.push_back(static_cast<float>(step) * scale);
  return llr;
}

TEST_P(c_api, nr_transport_blocks_with_harq) {
  constexpr std::size_t n = 3, a = 4200,
                        g = 4204;  // of 16-QAM and one layer; neither ends with a byte of a row
  wb_nr_transport* transport = nullptr;
  ASSERT_EQ(wb_nr_transport_open(
                device, "transport_bits = 4200, coded_bits = 4204, modulation_order = 4, iterations = 12",
                &transport),
            WB_OK)
      << wb_last_error();
  EXPECT_EQ(wb_nr_transport_blocks(transport), 1u);
  const bytes bits = random_bytes(n * a / 8, 1);
  bytes decided(bits.size()), ok(n, 7), status(n);
  std::vector<std::int32_t> iterations(n);
  floats sum;
  nr_transport_config config{.transport_bits = a, .coded_bits = g, .modulation_order = 4};
  config.ldpc.iterations = 12;
  nr_transport_decoder decoder(config);
  nr_transport_encoder encoder(config);
  bytes first_decided;
  for (int rv : {0, 2}) {
    bytes coded(n * ((g + 7) / 8), 255);
    ASSERT_EQ(wb_nr_transport_encode(transport, n, bits.data(), static_cast<std::uint32_t>(rv), coded.data()),
              WB_OK)
        << wb_last_error();
    const auto source = on_device(unpacked(bits, n, a), n);
    auto coded_of = exec->make<std::uint8_t>(n, g);
    encoder.run(*exec, source, rv, coded_of);
    ASSERT_EQ(unpacked(coded, n, g), exec->to_host(coded_of));

    const floats llr = llrs_of(coded, n, g, 0.75f, static_cast<unsigned>(rv) + 5);
    const auto op = transmission(llr.data(), static_cast<std::uint32_t>(rv), rv == 0, &decided, &ok,
                                 &iterations, &status);
    ASSERT_EQ(wb_nr_transport_decode(transport, n, &op), WB_OK) << wb_last_error();
    auto bits_of = exec->make<std::uint8_t>(n, a), ok_of = exec->make<std::uint8_t>(n, 1);
    auto iterations_of = exec->make<std::int32_t>(n, 1);
    decoder.combine(*exec, on_device(llr, n), rv);
    decoder.decode(*exec, {.bits = bits_of, .ok = ok_of, .iterations = iterations_of});
    EXPECT_EQ(unpacked(decided, n, a), exec->to_host(bits_of));
    EXPECT_EQ(ok, exec->to_host(ok_of));
    EXPECT_EQ(iterations, exec->to_host(iterations_of));
    EXPECT_EQ(ok, bytes(n, rv == 0 ? 0 : 1));  // the first transmission is too weak
  }
  EXPECT_EQ(decided, bits);
  const floats llr(2 * g, 1.f);
  auto op = transmission(llr.data(), 0, false);
  EXPECT_EQ(wb_nr_transport_decode(transport, 2, &op), WB_INVALID_SHAPE);
  op = transmission(llr.data(), 4, true);
  EXPECT_EQ(wb_nr_transport_decode(transport, 2, &op), WB_INVALID_ARGUMENT);
  op = transmission(llr.data(), 1, true);
  EXPECT_EQ(wb_nr_transport_decode(transport, 2, &op), WB_OK) << wb_last_error();
  for (auto spoil :
       {+[](wb_transport_decode& o) { o.flags |= 2; }, +[](wb_transport_decode& o) { o.reserved = 1; },
        +[](wb_transport_decode& o) { o.llr_format = 3; },
        +[](wb_transport_decode& o) { o.llr_format = WB_LLR_INT8, o.llr_scale = 0; },
        +[](wb_transport_decode& o) { o.llr = nullptr; }, +[](wb_transport_decode& o) { o.size = 3; }}) {
    op = transmission(llr.data(), 1, true);
    spoil(op);
    EXPECT_EQ(wb_nr_transport_decode(transport, 2, &op), WB_INVALID_ARGUMENT);
  }
  bytes coded(2 * ((g + 7) / 8));
  EXPECT_EQ(wb_nr_transport_encode(transport, 2, bits.data(), 4, coded.data()), WB_INVALID_ARGUMENT);
  wb_nr_transport_close(transport);

  EXPECT_EQ(wb_nr_transport_open(device, "transport_bits = 4200", &transport), WB_INVALID_ARGUMENT);
  EXPECT_EQ(wb_nr_transport_open(device, "transport_bits = 4200, coded_bits = 4204, windows = 4", &transport),
            WB_INVALID_ARGUMENT);
  EXPECT_EQ(transport, nullptr);
  std::uint32_t size = 0;
  EXPECT_EQ(wb_nr_transport_bits(25 * 144 - 25 * 12, 1, 13, 1, &size), WB_OK) << wb_last_error();
  EXPECT_EQ(wb_nr_transport_bits(3300, 1, 31, 1, &size), WB_INVALID_ARGUMENT);
}

TEST_P(c_api, harq_memory_of_the_caller_holds_a_series_for_each_block) {
  constexpr std::size_t n = 2, a = 4200, g = 4204;
  wb_nr_transport* transport = nullptr;
  ASSERT_EQ(wb_nr_transport_open(device, "transport_bits = 4200, coded_bits = 4204, modulation_order = 4",
                                 &transport),
            WB_OK);
  EXPECT_EQ(wb_nr_transport_harq_bytes(transport, 2), 0u);
  EXPECT_EQ(wb_nr_transport_harq_bytes(nullptr, WB_HARQ_INT8), 0u);
  const bytes bits = random_bytes(n * a / 8, 1);
  floats llrs[2];
  for (std::uint32_t t = 0; t < 2; t++) {
    bytes coded(n * ((g + 7) / 8));
    ASSERT_EQ(wb_nr_transport_encode(transport, n, bits.data(), 2 * t, coded.data()), WB_OK);
    llrs[t] = of_steps(in_steps<std::int8_t>(llrs_of(coded, n, g, 0.75f, t + 5), 0.25f), 0.25f);
  }
  for (const std::uint32_t format : {WB_HARQ_INT8, WB_HARQ_FLOAT16}) {
    const std::size_t row_bytes = wb_nr_transport_harq_bytes(transport, format);
    std::vector<bytes> harq(n, bytes(row_bytes + 1, 0x5a));
    const auto receive = [&](std::size_t block, std::uint32_t t, bytes& decided, bytes& ok) {
      auto op = transmission(llrs[t].data() + block * g, 2 * t, t == 0, &decided, &ok);
      op.harq_format = format;
      op.harq = harq[block].data();
      ASSERT_EQ(wb_nr_transport_decode(transport, 1, &op), WB_OK) << wb_last_error();
    };
    bytes decided(a / 8), ok(1);
    for (std::size_t block = 0; block < n; block++) {
      receive(block, 0, decided, ok);
      EXPECT_EQ(ok[0], 0);
    }
    for (std::size_t block = n; block-- > 0;) {
      receive(block, 1, decided, ok);
      EXPECT_EQ(ok[0], 1);
      EXPECT_EQ(decided, bytes(bits.begin() + static_cast<std::ptrdiff_t>(block * a / 8),
                               bits.begin() + static_cast<std::ptrdiff_t>((block + 1) * a / 8)));
      EXPECT_EQ(harq[block][row_bytes], 0x5a);
    }
    auto op = transmission(llrs[1].data(), 2, false);
    EXPECT_EQ(wb_nr_transport_decode(transport, 1, &op), WB_INVALID_ARGUMENT);  // nothing is in the object
    op.harq = harq[0].data();
    op.harq_format = 2;
    EXPECT_EQ(wb_nr_transport_decode(transport, 1, &op), WB_INVALID_ARGUMENT);
    op.harq_format = format;
    op.harq_scale = 0;
    EXPECT_EQ(wb_nr_transport_decode(transport, 1, &op), WB_INVALID_ARGUMENT);
  }
  wb_nr_transport_close(transport);
}

TEST_P(c_api, lte_transport_blocks_decode) {
  constexpr std::size_t n = 2, a = 7000, g = 14000;
  wb_lte_transport* transport = nullptr;
  ASSERT_EQ(wb_lte_transport_open(device, "transport_bits = 7000, coded_bits = 14000, modulation_order = 2",
                                  &transport),
            WB_OK)
      << wb_last_error();
  EXPECT_EQ(wb_lte_transport_blocks(transport), 2u);
  const bytes bits = random_bytes(n * a / 8, 1);
  bytes coded(n * g / 8), decided(bits.size()), ok(n), status(n);
  std::vector<std::int32_t> iterations(2 * n);
  ASSERT_EQ(wb_lte_transport_encode(transport, n, bits.data(), 0, coded.data()), WB_OK) << wb_last_error();
  floats llr = llrs_of(coded, n, g, 0.7f, 3);
  llr[0] = std::numeric_limits<float>::infinity();
  auto op = transmission(llr.data(), 0, true, &decided, &ok, &iterations, &status);
  ASSERT_EQ(wb_lte_transport_decode(transport, n, &op), WB_OK) << wb_last_error();
  EXPECT_EQ(ok, (bytes{0, 1}));
  EXPECT_TRUE(status[0] & WB_ERASED);
  EXPECT_EQ(bytes(decided.begin() + a / 8, decided.end()), bytes(bits.begin() + a / 8, bits.end()));

  lte_transport_decoder decoder({.transport_bits = a, .coded_bits = g});
  auto bits_of = exec->make<std::uint8_t>(n, a);
  auto iterations_of = exec->make<std::int32_t>(n, 2);
  decoder.combine(*exec, on_device(llr, n), 0);
  decoder.decode(*exec, {.bits = bits_of, .iterations = iterations_of});
  EXPECT_EQ(unpacked(decided, n, a), exec->to_host(bits_of));
  EXPECT_EQ(iterations, exec->to_host(iterations_of));
  wb_lte_transport_close(transport);
}

TEST_P(c_api, integers_decode_as_the_same_floats) {
  constexpr std::size_t n = 2, a = 7000, g = 14000, k = 41, e = 108;
  constexpr float scale = 0.3f;
  wb_lte_transport* transport = nullptr;
  wb_polar* polar = nullptr;
  ASSERT_EQ(wb_lte_transport_open(device, "transport_bits = 7000, coded_bits = 14000", &transport), WB_OK);
  ASSERT_EQ(wb_polar_open(device, "kind = dci, k = 41, coded_bits = 108, rnti = 17", &polar), WB_OK);
  const bytes bits = random_bytes(n * a / 8, 1);
  bytes coded(n * g / 8), polar_coded(n * ((e + 7) / 8));
  ASSERT_EQ(wb_lte_transport_encode(transport, n, bits.data(), 0, coded.data()), WB_OK);
  ASSERT_EQ(wb_polar_encode(polar, n, bits.data(), polar_coded.data()), WB_OK);
  const floats llr = llrs_of(coded, n, g, 0.7f, 3), polar_llr = llrs_of(polar_coded, n, e, 0.7f, 4);
  const auto same = [&]<class V>(V, std::uint32_t format) {
    const std::vector<V> steps = in_steps<V>(llr, scale), polar_steps = in_steps<V>(polar_llr, scale);
    const floats wide = of_steps(steps, scale), polar_wide = of_steps(polar_steps, scale);
    std::vector<bytes> got;
    for (const bool integer : {false, true}) {
      bytes decided(n * a / 8), ok(n), status(n), message(n * ((k + 7) / 8)), polar_status(n);
      std::vector<std::int32_t> iterations(2 * n);
      auto op = transmission(integer ? static_cast<const void*>(steps.data()) : wide.data(), 0, true,
                             &decided, &ok, &iterations, &status);
      if (integer) op.llr_format = format, op.llr_scale = scale;
      ASSERT_EQ(wb_lte_transport_decode(transport, n, &op), WB_OK) << wb_last_error();
      ASSERT_EQ(wb_polar_decode(polar, n,
                                integer ? static_cast<const void*>(polar_steps.data()) : polar_wide.data(),
                                integer ? format : std::uint32_t{WB_LLR_FLOAT32}, scale, message.data(),
                                polar_status.data()),
                WB_OK)
          << wb_last_error();
      EXPECT_EQ(decided, bits);
      for (bytes* x : {&decided, &ok, &status, &message, &polar_status}) got.push_back(*x);
      got.emplace_back(iterations.begin(), iterations.end());
    }
    EXPECT_TRUE(std::equal(got.begin(), got.begin() + 6, got.begin() + 6));
  };
  same(std::int8_t{}, WB_LLR_INT8);
  same(std::int16_t{}, WB_LLR_INT16);
  EXPECT_EQ(wb_polar_decode(polar, n, polar_llr.data(), 3, 1, coded.data(), nullptr), WB_INVALID_ARGUMENT);
  wb_lte_transport_close(transport);
  wb_polar_close(polar);
}

TEST_P(c_api, polar_codes_decode) {
  constexpr std::size_t n = 20, k = 41, e = 108;
  wb_polar* polar = nullptr;
  ASSERT_EQ(wb_polar_open(device, "kind = dci, k = 41, coded_bits = 108, rnti = 17, list_size = 4", &polar),
            WB_OK)
      << wb_last_error();
  const bytes bits = random_bytes(n * 6, 1);
  bytes coded(n * ((e + 7) / 8), 255), decided(bits.size(), 255), status(n);
  ASSERT_EQ(wb_polar_encode(polar, n, bits.data(), coded.data()), WB_OK) << wb_last_error();
  const floats llr = llrs_of(coded, n, e, 0.7f, 3);
  ASSERT_EQ(wb_polar_decode(polar, n, llr.data(), WB_LLR_FLOAT32, 1, decided.data(), status.data()), WB_OK)
      << wb_last_error();
  wb_polar_close(polar);
  const polar_config code{.kind = polar_kind::dci, .k = k, .coded_bits = e, .rnti = 17};
  auto coded_of = exec->make<std::uint8_t>(n, e), bits_of = exec->make<std::uint8_t>(n, k);
  auto status_of = exec->make<std::uint8_t>(n, 1);
  const auto source = on_device(unpacked(bits, n, k), n);
  polar_encoder(code).run(*exec, source, coded_of);
  EXPECT_EQ(unpacked(coded, n, e), exec->to_host(coded_of));
  polar_decoder(code, {.list_size = 4, .llr_steps = {}})
      .run(*exec, on_device(llr, n), {.bits = bits_of, .status = status_of});
  EXPECT_EQ(unpacked(decided, n, k), exec->to_host(bits_of));
  EXPECT_EQ(status, exec->to_host(status_of));
  EXPECT_GT(std::count(status.begin(), status.end(), WB_STOPPED), 0);
  for (std::size_t i = 0; i < n; i++) EXPECT_EQ(decided[6 * i + 5] & 127, 0);  // bits behind the 41st
  EXPECT_EQ(wb_polar_open(device, "kind = dci, k = 0", &polar), WB_INVALID_ARGUMENT);
}

TEST_P(c_api, pusch_slots_equal_the_chain) {
  constexpr std::size_t slots = 3, rx = 2;
  wb_pusch* pusch = nullptr;
  ASSERT_EQ(
      wb_pusch_open(
          device,
          "resource_blocks = 12, layers = 2, dmrs_additional_positions = 1, mcs = 20, detector = kbest, "
          "detector.survivors = 4, decoder.iterations = 6",
          rx, &pusch),
      WB_OK)
      << wb_last_error();
  pusch_chain_config config{
      .channel = {.carrier = {.resource_blocks = 12}, .layers = 2, .dmrs = {.additional_positions = 1}},
      .mcs = 20,
      .detector = {.type = "kbest", .rx_antennas = rx, .llr_clip = {}}};
  config.detector.set("survivors", std::int64_t{4});
  config.decoder.iterations = 6;
  const nr_shared_channel channel(config.channel);
  const nr_transport_config transport = channel.transport(1, 20);
  const auto a = static_cast<std::size_t>(transport.transport_bits),
             n = static_cast<std::size_t>(transport.coded_bits);
  ASSERT_EQ(wb_pusch_elements(pusch), channel.elements());
  ASSERT_EQ(wb_pusch_transport_bits(pusch), a);

  const bytes sent = random_bytes(slots * a / 8, 5);
  const auto source = on_device(unpacked(sent, slots, a), slots);
  auto coded = exec->make<std::uint8_t>(slots, n);
  nr_transport_encoder(transport).run(*exec, source, 0, coded);
  auto symbols = exec->make<std::complex<float>>(slots, channel.symbols_of(0));
  qam_mapper(64).run(*exec, view<const std::uint8_t>(make_view(coded.data(), symbols.size(), 6)),
                     make_view(symbols.data(), symbols.size()));
  auto grid = exec->make<std::complex<float>>(slots * channel.elements(), rx);
  channel.map(*exec, {symbols}, grid);
  const auto clean = exec->to_host(grid);
  const float n0 = 2e-3f;
  const auto noise = gaussians(2 * clean.size(), 9, std::sqrt(n0 / 2));
  floats received;
  for (std::size_t i = 0; i < clean.size(); i++) {
    received.push_back(clean[i].real() + noise[2 * i]);
    received.push_back(clean[i].imag() + noise[2 * i + 1]);
  }
  bytes bits(sent.size()), ok(slots), status(slots, 9);
  for (const std::size_t count : {std::size_t{1}, slots})
    ASSERT_EQ(wb_pusch_run(pusch, count, received.data(), &n0, bits.data(), ok.data(), status.data()), WB_OK)
        << wb_last_error();
  ASSERT_EQ(wb_pusch_run(pusch, slots, received.data(), &n0, nullptr, nullptr, nullptr), WB_OK);
  wb_pusch_close(pusch);
  EXPECT_EQ(ok, bytes(slots, 1));
  EXPECT_EQ(bits, sent);

  const auto y = on_device(pairs(received), slots * channel.elements());
  const auto variance = on_device(floats{n0}, 1);
  auto bits_of = exec->make<std::uint8_t>(slots, a), ok_of = exec->make<std::uint8_t>(slots, 1),
       status_of = exec->make<std::uint8_t>(slots, 1);
  const auto chain = make_pusch_chain(config);
  const frame_run run = chain->attach(*exec, slots);
  frame_arrays arrays;
  arrays.inputs[0] = y.data();
  arrays.inputs[1] = variance.data();
  arrays.outputs[0] = bits_of.data();
  arrays.outputs[1] = ok_of.data();
  arrays.outputs[2] = status_of.data();
  arrays.items = arrays.frame_items = slots;
  for (std::size_t stage = 0; stage < chain->stages().size(); stage++) run(stage, arrays);
  EXPECT_EQ(unpacked(bits, slots, a), exec->to_host(bits_of));
  EXPECT_EQ(status, exec->to_host(status_of));

  EXPECT_EQ(wb_pusch_open(device, "mcs = 31", rx, &pusch), WB_INVALID_ARGUMENT);
  EXPECT_EQ(wb_pusch_open(device, "layers = 4", rx, &pusch), WB_INVALID_ARGUMENT);
  EXPECT_EQ(wb_pusch_open(device, "decoder.windows = 3", rx, &pusch), WB_INVALID_ARGUMENT);
  EXPECT_NE(std::string(wb_last_error()).find("decoder.windows"), std::string::npos) << wb_last_error();
  EXPECT_EQ(wb_pusch_open(device, "channel = pdsch", rx, &pusch), WB_INVALID_ARGUMENT);
}

}  // namespace c_test
}  // namespace wb
