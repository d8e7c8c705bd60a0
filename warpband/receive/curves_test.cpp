// Error rates after each outer iteration, against those of Sionna in the reference data.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <tests/receive.hpp>

#ifndef WARPBAND_REFDATA
#define WARPBAND_REFDATA ""
#endif

namespace receive_curves_test {

using namespace wb::testing;
using wb::detector_config;
using wb::iterative_receiver;

/// A loop of the reference data, as its file is named.
struct reference_loop {
  detector_config detector;
  wb::code_config code;
  wb::receiver_config config;
};
reference_loop loop_named(const std::string& name) {
  int streams = 0, rx = 0, qam = 0, outer = 0, inner = 0;
  char demapper[16] = "", state[16] = "";
  EXPECT_EQ(std::sscanf(name.c_str(), "idd_%dx%d_%dqam_wimax_%15[a-z]_%dx%d_%15s", &streams, &rx, &qam,
                        demapper, &outer, &inner, state),
            7)
      << name;
  reference_loop l;
  l.detector.type = "pic";
  l.detector.streams = streams;
  l.detector.rx_antennas = rx;
  l.detector.qam = qam;
  l.detector.set("demapper", std::string(demapper) == "app" ? "exact" : "max-log");
  l.code = wb::code_config("wimax-ldpc");
  ldpc_decoder_in(l.code).algorithm = wb::ldpc_algorithm::sum_product;
  ldpc_decoder_in(l.code).schedule = wb::ldpc_schedule::flooding;
  l.config.outer = outer;
  l.config.inner = inner;
  l.config.decoder_state =
      std::string(state) == "state" ? wb::receiver_state::keep : wb::receiver_state::reset;
  l.config.detector_clip = 100;
  return l;
}

/// Of one SNR: frames, and after each outer iteration those with errors.
struct reference_point {
  double snr_db = 0, frames = 0;
  std::vector<double> wrong;
  double rate(std::size_t j) const { return wrong[j] / frames; }
};
std::vector<reference_point> points_of(const std::string& path, std::size_t outer) {
  std::ifstream file(path);
  std::vector<reference_point> points;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::stringstream row(line);
    std::vector<double> v;
    for (std::string cell; std::getline(row, cell, ',');) v.push_back(std::stod(cell));
    EXPECT_EQ(v.size(), 2 + 4 * outer) << line;
    reference_point p{v[0], v[1], {}};
    for (std::size_t j = 0; j < outer; j++) p.wrong.push_back(v[2 + 4 * j]);
    points.push_back(p);
  }
  return points;
}

/// Of outer iteration j the point whose rate is nearest to a fifth, on a logarithmic scale, with enough
/// errors and a neighbour on either side.
std::size_t point_for(const std::vector<reference_point>& points, std::size_t j) {
  std::size_t best = 0;
  double distance = 1e9;
  for (std::size_t i = 1; i + 1 < points.size(); i++) {
    if (points[i].wrong[j] < 200 || points[i + 1].wrong[j] < 50) continue;
    const double d = std::fabs(std::log(points[i].rate(j) / 0.2));
    if (d < distance) distance = d, best = i;
  }
  return best;
}

/// How many frames of a batch of `frames` at this SNR are wrong after each outer iteration.
std::vector<double> measured(const reference_loop& l, double snr_db, std::size_t frames) {
  const auto exec = wb::open_executor("cpu");
  const iterative_receiver receiver(l.detector, l.code, l.config);
  std::vector<double> wrong(static_cast<std::size_t>(l.config.outer));
  for (std::size_t first = 0; first < frames; first += 100) {
    const sent_frames f =
        send(*exec, l.detector, l.code, receiver, 100, {.snr_db = snr_db, .seed = 11, .first = first});
    const std::vector<int> errors = errors_of(receive(*exec, receiver, f), f);
    for (std::size_t i = 0; i < errors.size(); i++) wrong[i / 100] += errors[i] != 0;
  }
  return wrong;
}

class receiver_curve : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(loops, receiver_curve,
                         ::testing::Values("idd_4x4_16qam_wimax_app_4x5_state",
                                           "idd_4x4_16qam_wimax_maxlog_4x5_state",
                                           "idd_4x4_64qam_wimax_app_4x5_state",
                                           "idd_8x8_16qam_wimax_maxlog_4x5_state",
                                           "idd_8x8_16qam_wimax_maxlog_4x10_reset"),
                         [](const auto& curve) { return std::string(curve.param); });

TEST_P(receiver_curve, equals_the_reference_after_each_outer_iteration) {
  const std::string path = std::string(WARPBAND_REFDATA) + "/error_rates/idd/" + GetParam() + ".csv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no refdata: cannot open '" << path << "'";
  const reference_loop l = loop_named(GetParam());
  const std::size_t outer = static_cast<std::size_t>(l.config.outer), frames = small_scale() ? 100 : 1500;
  const std::vector<reference_point> points = points_of(path, outer);
  for (std::size_t j = 0; j < outer; j++) {
    const std::size_t index = point_for(points, j);
    ASSERT_NE(index, 0U) << "outer iteration " << j + 1;
    const reference_point &p = points[index], &before = points[index - 1], &after = points[index + 1];
    const double wrong = measured(l, p.snr_db, frames)[j], rate = wrong / static_cast<double>(frames);
    const double slope = std::log(before.rate(j) / after.rate(j)) / (after.snr_db - before.snr_db);
    const double shift = std::log(rate / p.rate(j)) / slope;
    const double deviation =
        std::sqrt((1 - p.rate(j)) * (1 / (p.rate(j) * static_cast<double>(frames)) + 1 / p.wrong[j])) / slope;
    RecordProperty("shift_db_" + std::to_string(j + 1), std::to_string(shift));
    EXPECT_LE(std::fabs(shift), 0.05 + 3 * deviation)
        << "outer iteration " << j + 1 << " at " << p.snr_db << " dB: frame error rate " << rate
        << ", reference " << p.rate(j) << ", deviation " << deviation << " dB";
  }
}

}  // namespace receive_curves_test
