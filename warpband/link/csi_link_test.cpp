// Massive-MIMO links over files of channel estimates: RENEW's layout with 68x4 and 84x3 antennas and users,
// equality with the detector alone, backends and batches, and bad input.
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <random>

#include <tests/renew.hpp>
#include <tests/result.hpp>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/file/csi_file.hpp>
#include <warpband/channel/matrix/matrix.hpp>
#include <warpband/io/hdf5.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/stages.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {
namespace csi_link_test {

using testing::blamed;
using testing::on_device;
using testing::open_reference;
using testing::open_scalar;
using testing::scratch_file;
using testing::sounding;
using testing::total;
using complex_values = std::vector<std::complex<float>>;

sounding sounding_of(int antennas, int users) {
  sounding s;
  s.antennas = antennas;
  s.users = users;
  return s;
}
/// Rate 5/6 with a zero tail; k = 0: uncoded.
link_config over(const std::string& path, int antennas, int users, massive_solver solver, int iterations = 0,
                 int k = 95) {
  link_config c;
  c.code = k == 0 ? code_config("none") : code_config("conv", {{"k", k}, {"rate", "5/6"}});
  c.qam = 16;
  c.channel = csi_channel_config{.path = path};
  c.axis = snr_axis::snr_db;
  massive_link_config m{.antennas = antennas, .users = users, .solver = solver, .subcarriers = 31};
  if (iterations != 0) m.iterations = iterations;
  c.antennas = m;
  return c;
}
massive_link_config& massive_of(link_config& c) { return c.antennas.edit<massive_link_config>(); }
const csi_channel_config& file_of(const link_config& c) { return c.channel.get<csi_channel_config>(); }
void write_plain(const std::string& path, const std::vector<std::size_t>& shape, const complex_values& h) {
  hdf5_writer file(path);
  file.create<std::complex<float>>("h", shape);
  file.write("h", 0, shape[0], h.data());
  file.commit();
}
complex_values normal_values(std::size_t n) {
  std::mt19937 random(1);
  std::normal_distribution<float> part;
  complex_values x(n);
  for (auto& z : x) {
    const float re = part(random);
    z = {re, part(random)};
  }
  return x;
}
/// H of frames [first, first + frames).
complex_values drawn(executor& exec, const link_config& link, std::uint64_t first, std::size_t frames) {
  link_config c = completed(link);
  const massive_link_config& m = massive_of(c);
  const auto channel = make_air(c.channel, air_antennas_of(c));
  auto h = exec.make<std::complex<float>>(frames * channel->matrices(),
                                          static_cast<std::size_t>(m.antennas * m.users));
  channel->draw(exec, h, {1, first, 0});
  return exec.to_host(h);
}

class csi_link_on : public testing::on_backend {};
WB_ON_ALL_BACKENDS(csi_link_on);

TEST_P(csi_link_on, soundings_of_renew_give_the_counts_of_a_scalar_cpu_in_any_batch) {
  const auto reference = open_reference();
  const auto more = GetParam().open(2);
  for (const auto& [antennas, users] : {std::pair{68, 4}, {84, 3}}) {
    if (testing::small_scale() && users == 3) continue;  // making soundings takes long
    const scratch_file recording("link_" + std::to_string(antennas));
    sounding_of(antennas, users).write(recording.path());
    std::vector<link_config> links{over(recording.path(), antennas, users, massive_solver::cholesky),
                                   over(recording.path(), antennas, users, massive_solver::cg, 3),
                                   over(recording.path(), antennas, users, massive_solver::cholesky, 0, 0)};
    massive_of(links[2]).direction = massive_direction::downlink;
    for (link_config& link : links) {
      SCOPED_TRACE(std::to_string(antennas) + " " + name_of(massive_of(link).solver) + " " +
                   name_of(massive_of(link).direction));
      const double snr_db = -6;
      link_chain here(link, exec()), reference_chain(link, *reference);
      const frame_counts &a = here.run(1001, 11, snr_db),
                         &b = reference_chain.run(1001, 11, snr_db);  // 4 snapshots
      EXPECT_EQ(a.bit_errors, b.bit_errors);
      EXPECT_EQ(a.codeword_errors, b.codeword_errors);
      EXPECT_EQ(a.iterations, b.iterations);
      EXPECT_EQ(a.erased_uses, std::vector<std::int32_t>(11));
      EXPECT_GT(total(b.bit_errors), 0);
      EXPECT_EQ(total(here.run(1001, 11, 60).bit_errors), 0);

      const stop_rule stop{.frame_errors = 6, .max_frames = 20};
      link_chain one(link, exec(), 1);
      const point_result expected = run_point(one, snr_db, stop);
      for (const std::size_t batch : {std::size_t{3}, std::size_t{7}, SIZE_MAX}) {
        if (testing::small_scale() && batch == 7) continue;
        link_chain other(link, *more, batch);
        point_counts counts = run_point(other, snr_db, stop).counts;
        counts.frames_run = expected.counts.frames_run;
        counts.seconds = expected.counts.seconds;
        EXPECT_EQ(counts, expected.counts) << "batch " << batch;
      }
    }
  }
}

complex_values units(std::size_t n, std::mt19937& random) {
  const std::complex<float> unit[]{1.f, -1.f, {0, 1}, {0, -1}};
  complex_values values(n);
  for (auto& x : values) x = unit[random() % 4];
  return values;
}
/// What antennas receive of the bits of each vector: mapper, matrices, noise.
array<std::complex<float>> received_by_parts(executor& exec, const array<std::complex<float>>& channel,
                                             const std::vector<std::uint8_t>& bits, std::size_t users,
                                             std::size_t m, float n0, random_range noise) {
  const std::size_t vectors = channel.items(), antennas = channel.elements() / users;
  const auto mapped = on_device(exec, bits, vectors * users, m);
  auto x = exec.make<std::complex<float>>(vectors, users),
       y = exec.make<std::complex<float>>(vectors, antennas);
  qam_mapper(16).run(exec, make_view(mapped.data(), vectors * users, m),
                     make_view(x.data(), vectors * users));
  apply_channel(exec, channel, x, y, 1);
  const auto entries = make_view(y.data(), vectors * antennas);
  add_awgn(exec, entries, entries, n0, noise);
  return y;
}

// |h| is a power of two for each user, so that scaling is exact.
TEST_P(csi_link_on, a_link_is_mapper_matrices_noise_and_detector) {
  const std::size_t snapshots = 3, subcarriers = 5, antennas = 12, users = 3, m = 4, frames = 5, first = 7,
                    vectors = frames * subcarriers;
  std::mt19937 random(2);
  const complex_values scaled = units(snapshots * subcarriers * antennas * users, random);
  complex_values h = scaled, expected_h;
  for (std::size_t i = 0; i < h.size(); i++) h[i] *= static_cast<float>(1 << i % users);
  const scratch_file recording("known");
  write_plain(recording.path(), {snapshots, subcarriers, antennas, users}, h);
  for (std::size_t f = 0; f < frames; f++) {
    const auto from =
        scaled.begin() + static_cast<std::ptrdiff_t>((first + f) % snapshots * h.size() / snapshots);
    expected_h.insert(expected_h.end(), from, from + static_cast<std::ptrdiff_t>(h.size() / snapshots));
  }
  const auto by_vector = [&](const auto& by_codeword) {
    auto reordered = by_codeword;
    for (std::size_t v = 0; v < vectors; v++)
      for (std::size_t u = 0; u < users; u++)
        for (std::size_t b = 0; b < m; b++)
          reordered[(v * users + u) * m + b] =
              by_codeword[(v / subcarriers * users + u) * subcarriers * m + v % subcarriers * m + b];
    return reordered;
  };
  std::vector<std::uint8_t> bits(vectors * users * m);
  for (auto& b : bits) b = random() % 2;
  const double point_db = 4;
  for (const auto& [solver, iterations] : {std::pair{massive_solver::cholesky, 0}, {massive_solver::cg, 2}}) {
    link_config link = over(recording.path(), 12, 3, solver, iterations, 0);
    massive_of(link).subcarriers = 0;  // all
    link.seed = 5;
    link = completed(link);
    EXPECT_EQ(testing::k_in(link.code), 20);
    const auto n0 = static_cast<float>(std::pow(10, -noise_level_at(link, point_db).esn0_db / 10));
    const auto noise_var = exec().make_from(std::vector<float>{n0});
    const auto whole = make_antennas(link);
    whole->allocate(exec(), frames);
    auto llr = exec().make<float>(frames * users, subcarriers * m);
    auto erased = exec().make<std::uint8_t>(vectors, 1);
    const auto sent = on_device(exec(), bits, frames * users, subcarriers * m);
    const auto heard =
        heard_of(whole->send(exec(), sent.data(), {.first = first, .frames = frames, .point_db = point_db}));
    make_receiver(link)->run(exec(), heard, {.detected = llr, .use_status = erased});

    const auto channel = on_device(exec(), expected_h, vectors, antennas * users);
    const auto y = received_by_parts(exec(), channel, by_vector(bits), users, m, n0,
                                     {5, first * subcarriers * antennas, 4000});
    auto direct = exec().make<float>(vectors, users * m);
    auto status = exec().make<std::uint8_t>(vectors, 1);
    uplink_detector(uplink_of(massive_of(link), 16))
        .run(exec(),
             {.channel = channel,
              .received = y,
              .noise_var = {noise_var.data(), 1, vectors, 1, 0},
              .symbols = 1},
             {.llr = direct, .equalized = {}, .sinr = {}, .status = status});
    const std::vector<float> b = exec().to_host(direct);
    EXPECT_EQ(by_vector(exec().to_host(llr)), b);
    EXPECT_NE(b, std::vector<float>(b.size()));
    EXPECT_EQ(exec().to_host(erased), std::vector<std::uint8_t>(vectors));
  }
}

TEST_P(csi_link_on, missing_estimates_are_erased_and_counted) {
  complex_values h = normal_values(3 * 31 * 8 * 2);
  h[(31 + 4) * 16 + 5] = {std::numeric_limits<float>::quiet_NaN(), 0};  // snapshot 1, subcarriers 4 and 30
  h[(31 + 30) * 16] = {0, std::numeric_limits<float>::infinity()};
  const scratch_file recording("erased");
  write_plain(recording.path(), {3, 31, 8, 2}, h);
  for (const auto direction : {massive_direction::uplink, massive_direction::downlink}) {
    link_config link = over(recording.path(), 8, 2, massive_solver::cholesky, 0, 0);
    massive_of(link).direction = direction;
    link_chain chain(link, exec());
    const frame_counts& counts = chain.run(0, 5, 60);
    EXPECT_EQ(counts.erased_uses, (std::vector<std::int32_t>{0, 2, 0, 0, 2}));
    EXPECT_GT(counts.bit_errors[1], 0);
    EXPECT_LE(counts.bit_errors[1], 2 * 2 * 4);  // those of the two subcarriers
    EXPECT_EQ(counts.bit_errors[0] + counts.bit_errors[2] + counts.bit_errors[3], 0);
  }
}

TEST(csi_link, matrices_are_the_first_of_the_file_with_unit_power) {
  const std::size_t snapshots = 3, subcarriers = 6, antennas = 9, users = 4;
  complex_values h = normal_values(snapshots * subcarriers * antennas * users);
  for (std::size_t i = 0; i < h.size(); i++)
    h[i] *= static_cast<float>((1 + i % users) * (1 + i / (subcarriers * antennas * users)));
  const scratch_file recording("cut");
  write_plain(recording.path(), {snapshots, subcarriers, antennas, users}, h);
  const auto exec = open_scalar();
  for (const bool control : {true, false}) {
    link_config link = over(recording.path(), 7, 2, massive_solver::cholesky, 0, 0);
    link.channel.edit<csi_channel_config>([&](auto& file) { file.power_control = control; });
    massive_of(link).subcarriers = 4;
    const complex_values got = drawn(*exec, link, 5, 3);  // snapshots 2, 0, 1
    ASSERT_EQ(got.size(), 3 * 4 * 14u);
    for (std::size_t u = 0; u < 2; u++) {
      double over_all = 0;
      for (std::size_t f = 0; f < 3; f++) {
        double power = 0;
        const std::size_t n = (f + 2) % 3;
        std::complex<double> ratio = 0;
        for (std::size_t k = 0; k < 4; k++)
          for (std::size_t b = 0; b < 7; b++) {
            const std::complex<double> is(got[((f * 4 + k) * 7 + b) * 2 + u]),
                was(h[((n * subcarriers + k) * antennas + b) * users + u]);
            power += std::norm(is) / 28;
            if (ratio == 0.) ratio = is / was;
            EXPECT_LT(std::abs(is - ratio * was), 1e-5);
          }
        if (control) {
          EXPECT_NEAR(power, 1, 1e-6);
        }
        over_all += power / 3;
      }
      EXPECT_NEAR(over_all, 1, 1e-6);
    }
    // The whole file is what channel/file scales.
    massive_of(link).subcarriers = 0;
    massive_of(link).antennas = 9;
    massive_of(link).users = 4;
    complex_values expected(h.size());
    csi_file(recording.path(), {.scale = control ? csi_scale::snapshot : csi_scale::file})
        .read(0, snapshots, expected.data());
    const complex_values whole = drawn(*exec, link, 0, 3);
    ASSERT_EQ(whole.size(), expected.size());
    for (std::size_t i = 0; i < whole.size(); i++) EXPECT_LT(std::abs(whole[i] - expected[i]), 1e-6f);
  }
}

TEST(csi_link, bad_files_and_settings_are_named_before_any_work) {
  const scratch_file recording("bad"), none("none"), text("text"), cut("truncated");
  sounding_of(12, 3).write(recording.path());
  std::ofstream(text.path()) << "no HDF5 file at all";
  std::filesystem::copy_file(recording.path(), cut.path());
  std::filesystem::resize_file(cut.path(), std::filesystem::file_size(recording.path()) * 2 / 3);
  for (const auto& [path, reason] : {std::pair{none.path(), "cannot read: No such file"},
                                     {text.path(), "it is not an HDF5 file"},
                                     {cut.path(), "it is truncated"}}) {
    try {
      completed(over(path, 12, 3, massive_solver::cholesky));
      ADD_FAILURE() << reason;
    } catch (const file_error& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  }
  const auto blames = [&](auto change) {
    link_config c = over(recording.path(), 12, 3, massive_solver::cholesky);
    change(c);
    return blamed([&] { completed(c); });
  };
  EXPECT_EQ(blames([](link_config&) {}), "");
  EXPECT_EQ(blames([](link_config& c) { massive_of(c).antennas = 13; }), "antennas");
  EXPECT_EQ(blames([](link_config& c) { massive_of(c).users = 4; }), "users");
  EXPECT_EQ(blames([](link_config& c) { massive_of(c).subcarriers = 60; }), "subcarriers");
  EXPECT_EQ(blames([](link_config& c) {
              c.channel.edit<csi_channel_config>([](auto& file) { file.path.clear(); });
            }),
            "file");
  EXPECT_EQ(blames([](link_config& c) { c.antennas = single_antenna{}; }), "");
  EXPECT_EQ(blames([](link_config& c) { c.antennas = stbc_config{}; }), "");
  EXPECT_EQ(blames([](link_config& c) { c.antennas = stbc_config{.rx_antennas = 4}; }), "");
  link_config link = completed(over(recording.path(), 12, 3, massive_solver::cholesky));
  sounding_of(12, 4).write(recording.path());
  EXPECT_THROW(make_air(link.channel, air_antennas_of(link)), file_error);
}

TEST(csi_link, scenarios_name_files_from_their_own_folder) {
  const scratch_file recording("scenario"), result("result");
  sounding_of(12, 3).write(recording.path());
  const std::filesystem::path path(recording.path());
  const std::string s = (path.parent_path() / "s.toml").string(),
                    head =
                        "code.type = \"none\"\nmodem.modulation = \"qpsk\"\nsweep.snr_db = [-9, 0]\n"
                        "stop = { frame_errors = 0, max_frames = 6 }\n",
                    massive = "massive = { solver = \"cholesky\", antennas = 12, users = 3 }\n",
                    file = "channel = { type = \"file\", file = \"" + path.filename().string() + "\" }\n";
  const auto refusal = [&](const std::string& text) -> std::string {
    try {
      parse_scenario(text, s);
    } catch (const file_error& error) {
      return error.what();
    }
    return "";
  };
  run_result r = testing::ran(head + massive + file, *open_scalar(), s);
  link_config& link = r.curves[0].config.link;
  EXPECT_EQ(massive_of(link).subcarriers, sounding().subcarriers());  // left out: all
  EXPECT_EQ(testing::k_in(link.code), 2 * sounding().subcarriers());
  EXPECT_EQ(file_of(link).snapshots, 4u);
  EXPECT_GT(r.curves[0].points[0].counts.bit_errors, 0u);
  const std::string json = result_json(r);
  for (const std::string& part :
       {"\"file\": \"" + path.filename().string() + "\"", std::string("\"layout\": \"renew\""),
        std::string("\"snapshots\": 4"), std::string("\"power_control\": true")})
    EXPECT_NE(json.find(part), std::string::npos) << part;
  write_file(result.path(), json);
  EXPECT_EQ(result_json(load_result(result.path())), json);

  EXPECT_EQ(refusal(head + massive + "channel = { type = \"file\", file = \"" + recording.path() + "\" }"),
            "");
  EXPECT_EQ(refusal(head + massive + "channel = { type = \"file\", file = \"no.h5\" }"),
            s + ": line 6: channel.file: " + (path.parent_path() / "no.h5").string() +
                ": cannot read: No such file or directory");
}

}  // namespace csi_link_test
}  // namespace wb
