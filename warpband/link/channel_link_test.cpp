// Correlated and recorded channels in links of every antenna system: counts on all backends, in any batch,
// and what results say of them.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include <tests/npy.hpp>
#include <tests/result.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/chain.hpp>

#include <unistd.h>

namespace wb {
namespace channel_link_test {

using testing::expect_same;
using testing::mimo_link;
using testing::open_reference;
using testing::space_time_link;
using testing::total;
using testing::uncoded_link;

/// A recorded 8x4 channel of 12 subcarriers, where this build reads files.
class recording {
 public:
  recording() {
    std::mt19937 random(5);
    std::normal_distribution<float> part;
    std::vector<std::complex<float>> h(7 * 12 * 8 * 4);
    for (auto& z : h) {
      const float re = part(random);
      z = {re, part(random)};
    }
    testing::write_npy(path(), {7, 12, 8, 4}, h);
  }
  ~recording() { std::filesystem::remove(path()); }
  static std::string path() {
    return (std::filesystem::temp_directory_path() /
            ("warpband_channel_" + std::to_string(getpid()) + ".npy"))
        .string();
  }
};

link_config massive_link(massive_direction direction) {
  link_config c = uncoded_link(2 * 12);
  c.qam = 4;
  c.antennas =
      massive_link_config{.direction = direction, .antennas = 8, .users = 3, .subcarriers = 12, .symbols = 2};
  return c;
}
link_config slot(int layers, nr_direction direction, csi_type csi) {
  link_config c;
  c.axis = snr_axis::snr_db;
  c.code = code_config("nr-dlsch");
  testing::sent_in(c.code).transmissions = 1;
  nr_link_config nr;
  nr.channel.direction = direction;
  nr.channel.carrier.resource_blocks = 1;
  nr.channel.layers = layers;
  nr.mcs = 4;
  nr.csi = csi;
  nr.detector.rx_antennas = 4;
  c.antennas = nr;
  return c;
}

struct one {
  link_config link;
  double point_db;
};
/// Every antenna system, with some errors at the point.
std::vector<one> links() {
  link_config single = uncoded_link(60), streams = mimo_link(4, 4, "nway", 16),
              codewords = space_time_link(space_time_code::alamouti(), 4, 2);
  single.qam = 4;
  return {{single, 6},
          {streams, 5},
          {codewords, 5},
          {massive_link(massive_direction::uplink), -6},
          {massive_link(massive_direction::downlink), 0},
          {slot(2, nr_direction::uplink, csi_type::ls), 1},
          {slot(1, nr_direction::downlink, csi_type::perfect), -4}};
}
bool in_slots(const link_config& c) { return c.antennas.find<nr_link_config>() != nullptr; }

std::vector<one> in_all_channels() {
  std::vector<one> cases;
  for (const one& o : links())
    for (const fading_type fading : {fading_type::fast, fading_type::block}) {
      if (in_slots(o.link) && fading == fading_type::fast) continue;
      cases.push_back(o);
      cases.back().link.channel =
          kronecker_fading{.fading = fading, .rx_coefficient = 0.6, .tx_coefficient = 0.3};
      if (o.link.antennas.find<massive_link_config>() != nullptr && fading == fading_type::fast) continue;
#if WARPBAND_HDF5
      cases.push_back(o);
      csi_channel_config file{.path = recording::path(), .power_control = false, .fading = fading};
      if (auto* nr = cases.back().link.antennas.find<nr_link_config>()) {
        cases.back().point_db -= 4;   // every subcarrier fades by itself
        file.spacing_khz = 60;        // of 12 subcarriers of 30 kHz: the first 6
        nr->csi = csi_type::perfect;  // the file's subcarriers have nothing to do with each other
      }
      cases.back().link.channel = file;
#endif
    }
  return cases;
}

class channel_link_on : public testing::on_backend {};
WB_ON_ALL_BACKENDS(channel_link_on);

TEST_P(channel_link_on, counts_do_not_depend_on_backend_threads_or_batch) {
  const recording made;
  const auto reference = open_reference(), more = GetParam().open(2);
  const stop_rule stop{.frame_errors = 0, .max_frames = 21};
  for (const one& o : in_all_channels()) {
    SCOPED_TRACE(o.link.channel.type + " " + std::string(o.link.antennas.kind().name));
    link_chain alone(o.link, *reference, 1);
    const point_counts expected = run_point(alone, o.point_db, stop).counts;
    EXPECT_GT(expected.bit_errors, 0u);
    EXPECT_LT(expected.bit_errors, 21 * bits_per_frame(alone.config()) / 3);
    for (const std::size_t batch : {std::size_t{4}, SIZE_MAX}) {
      link_chain here(o.link, *more, batch);
      expect_same(run_point(here, o.point_db, stop).counts, expected);
    }
    link_chain clean(o.link, exec());
    EXPECT_EQ(total(clean.run(3, 9, 70).bit_errors), 0);
  }
}

TEST(channel_link, only_independent_uses_give_independent_bits) {
  link_config c = uncoded_link(10);
  c.channel = kronecker_fading{};
  EXPECT_TRUE(point_of(c, 3).independent_bits);
  c.channel = kronecker_fading{.fading = fading_type::block};
  EXPECT_FALSE(point_of(c, 3).independent_bits);
  c.channel = csi_channel_config{.path = "a", .fading = fading_type::fast};
  EXPECT_FALSE(point_of(c, 3).independent_bits);
}

TEST(channel_link, results_say_what_correlates_antennas) {
  const std::string head =
      "code = { type = \"none\", k = 8 }\nmodem.modulation = \"qpsk\"\nsweep.snr_db = 3\n"
      "stop = { frame_errors = 0, max_frames = 5 }\nmimo = { streams = 2, rx_antennas = 2 }\n"
      "channel.type = \"kronecker\"\n";
  const run_result r = testing::ran(head +
                                        "channel.rx_coefficient = 0.5\n"
                                        "channel.tx_correlation = [[1, 0], [0, 0.5], [0, -0.5], [1, 0]]\n",
                                    *testing::open_scalar());
  const kronecker_fading& c = r.curves[0].config.link.channel.get<kronecker_fading>();
  EXPECT_EQ(c.rx_coefficient, 0.5);
  EXPECT_EQ(c.channel.tx_correlation, (correlation_matrix{1, {0, 0.5}, {0, -0.5}, 1}));
  const std::string json = result_json(r);
  for (const char* part : {"\"type\": \"kronecker\"", "\"rx_coefficient\": 0.5", "\"fading\": \"fast\""})
    EXPECT_NE(json.find(part), std::string::npos) << part;
  EXPECT_EQ(json.find("tx_coefficient"), std::string::npos);
  const std::string path = recording::path() + ".json";
  write_file(path, json);
  EXPECT_EQ(result_json(load_result(path)), json);
  std::filesystem::remove(path);
}

}  // namespace channel_link_test
}  // namespace wb
