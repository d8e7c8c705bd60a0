// Channel estimates from files that the tests write themselves, with HDF5's own calls, the way the writers of
// each layout do.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <numbers>

#include <tests/on_backends.hpp>
#include <tests/renew.hpp>
#include <warpband/channel/file/csi_file.hpp>
#include <warpband/io/hdf5.hpp>

namespace csi_file_test {

using wb::csi_file;
using wb::csi_layout;
using wb::csi_options;
using wb::csi_scale;
using wb::testing::attribute;
using wb::testing::blamed;
using wb::testing::numbers;
using wb::testing::scratch_file;
using wb::testing::sounding;
using wb::testing::whole;
using complex = std::complex<double>;
using symbols = std::vector<std::complex<float>>;

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const wb::file_error& e) {
    return e.what();
  }
  return "";
}
#define EXPECT_REFUSED(call, part)                                           \
  {                                                                          \
    const std::string message = refusal([&] { call; });                      \
    EXPECT_NE(message.find(part), std::string::npos) << "said: " << message; \
    EXPECT_EQ(message.find('\n'), std::string::npos);                        \
  }

void expect_channel(const csi_file& file, const sounding& s) {
  const int k_all = s.subcarriers();
  const std::size_t entries = static_cast<std::size_t>(k_all * s.antennas * s.users);
  symbols h(file.snapshots() * entries);
  std::vector<std::uint8_t> status(file.snapshots() * static_cast<std::size_t>(k_all), 9);
  const std::size_t erased = file.read(0, file.snapshots(), h.data(), status.data());
  EXPECT_EQ(erased, s.missing_frame < 0 ? 0 : static_cast<std::size_t>(k_all));
  EXPECT_EQ(wb::count_erased(status), erased);
  std::size_t entry = 0;
  for (int f = 0; f < s.frames; f++)
    for (int i = 0; i < s.length; i++) {
      if (s.used[static_cast<std::size_t>(i)] == 0) continue;
      for (int b = 0; b < s.antennas; b++)
        for (int u = 0; u < s.users; u++, entry++) {
          const complex expected = f == s.missing_frame ? 0 : s.channel(f, u, b, i) / 8.;
          // Rounding of samples: 1 / sqrt(12) a part, summed over the window.
          ASSERT_LT(std::abs(complex(h[entry]) - expected), 6 * std::sqrt(s.length / 6.) / 32768)
              << f << " " << i << " " << b << " " << u;
        }
    }
  EXPECT_EQ(entry, h.size());
}

TEST(csi_file, a_sounding_of_renew_gives_least_squares_estimates) {
  sounding s;
  for (const int variant : {0, 1, 2, 3, 4}) {
    SCOPED_TRACE(variant);
    if (variant == 1) s.shifted = false;
    if (variant == 2) s.missing_frame = 1, s.missing_user = 1, s.cells = 2, s.cell = 1;
    if (variant == 3) s.length = 36, s.prefix = 0, s.before = 0, s.repetitions = 1, s.antennas = 1, s.fill();
    if (variant == 4) s = {}, s.extent = 2000;  // as a sounder makes it before the first frame
    const scratch_file scratch("renew");
    s.write(scratch.path());
    const csi_file file(scratch.path(), {.cell = s.cell});
    EXPECT_EQ(file.layout(), csi_layout::renew);
    EXPECT_EQ(file.snapshots(), 4u);
    EXPECT_EQ(file.subcarriers(), static_cast<std::size_t>(s.subcarriers()));
    EXPECT_EQ(file.rx_antennas(), static_cast<std::size_t>(s.antennas));
    EXPECT_EQ(file.streams(), 2u);
    EXPECT_EQ(file.carrier_hz(), 3.6e9);
    EXPECT_EQ(file.spacing_hz(), 5e6 / s.length);
    expect_channel(file, s);
  }
}

TEST(csi_file, older_names_and_other_widths_of_attributes_are_read) {
  sounding s;
  const scratch_file scratch("older");
  s.write(scratch.path(), [&](hid_t group) {
    H5Adelete(group, "SLOT_SAMP_LEN");
    whole(group, "SYMBOL_LEN", s.samples(), H5T_STD_U64LE);
    H5Adelete(group, "PREFIX_LEN");
    H5Adelete(group, "POSTFIX_LEN");
  });
  // Without PREFIX_LEN the first window is named.
  expect_channel(csi_file(scratch.path(), {.first_sample = s.before}), s);
  EXPECT_EQ(blamed([&] { csi_file(scratch.path(), {.first_sample = 9}); }), "first_sample");
  EXPECT_EQ(blamed([&] { csi_file(scratch.path(), {.first_sample = -1}); }), "first_sample");
}

TEST(csi_file, a_trace_of_argos_gives_least_squares_estimates) {
  // The long training field, twice, after 32 samples of guard and 15 more; two users and noise.
  const int training[]{1,  1,  -1, -1, 1,  1, -1, 1,  -1, 1, 1,  1,  1,  1, 1,  -1, -1, 1,
                       1,  -1, 1,  -1, 1,  1, 1,  1,  0,  1, -1, -1, 1,  1, -1, 1,  -1, 1,
                       -1, -1, -1, -1, -1, 1, 1,  -1, -1, 1, -1, 1,  -1, 1, 1,  1,  1};
  const auto channel = [](int user, int antenna, int k) {
    return std::polar(1., 0.7 * user + 0.4 * antenna - 0.2 * k);
  };
  const hsize_t shape[]{3, 2, 3 * 224 * 2};
  std::vector<std::int16_t> samples(3 * 2 * 3 * 224 * 2);
  for (int frame = 0; frame < 2; frame++)  // the third is empty
    for (int antenna = 0; antenna < 2; antenna++)
      for (int user = 0; user < 2; user++)
        for (int t = 32; t < 47 + 128; t++) {
          complex x = 0;
          for (int k = -26; k <= 26; k++)
            x += static_cast<double>(training[k + 26]) * channel(user, antenna, k) *
                 std::polar(1., 2 * std::numbers::pi * k * (t - 47) / 64);
          std::int16_t* to =
              &samples[static_cast<std::size_t>((((frame * 2 + antenna) * 3 + user) * 224 + t) * 2)];
          to[0] = static_cast<std::int16_t>(std::lround(x.real() * 500));
          to[1] = static_cast<std::int16_t>(std::lround(x.imag() * 500));
        }
  const scratch_file scratch("argos");
  const hid_t file = H5Fcreate(scratch.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(3, shape, nullptr),
              array = H5Dcreate2(file, "Pilot_Samples", H5T_STD_I16LE, space, H5P_DEFAULT, H5P_DEFAULT,
                                 H5P_DEFAULT);
  H5Dwrite(array, H5T_NATIVE_INT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, samples.data());
  whole(file, "samples_per_user", 224, H5T_STD_I32LE);
  whole(file, "num_mob_ant", 2, H5T_STD_I64LE);
  H5Dclose(array);
  H5Sclose(space);
  H5Fclose(file);
  const csi_file csi(scratch.path());
  EXPECT_EQ(csi.layout(), csi_layout::argos);
  EXPECT_EQ(csi.snapshots(), 2u);
  ASSERT_EQ(csi.subcarriers(), 52u);
  EXPECT_EQ(csi.rx_antennas(), 2u);
  EXPECT_EQ(csi.streams(), 2u);
  symbols h(2 * 52 * 4);
  EXPECT_EQ(csi.read(0, 2, h.data()), 0u);
  for (std::size_t i = 0; i < h.size(); i++) {
    const int user = static_cast<int>(i % 2), antenna = static_cast<int>(i / 2 % 2),
              n = static_cast<int>(i / 4 % 52), k = n < 26 ? n - 26 : n - 25;
    ASSERT_LT(std::abs(complex(h[i]) - channel(user, antenna, k) * 64. * 500. / 32768.), 1e-3) << i;
  }
}

TEST(csi_file, converted_traces_are_averaged_over_repetitions) {
  const scratch_file scratch("csi");
  symbols values(2 * 3 * 2 * 4 * 5);  // frames, users, repetitions, antennas, subcarriers
  for (std::size_t i = 0; i < values.size(); i++)
    values[i] = {static_cast<float>(i), i / 20 % 2 == 0 ? 1.f : 2.f};
  {
    wb::hdf5_writer file(scratch.path());
    file.create<std::complex<float>>("csi", {2, 3, 2, 4, 5});
    file.write("csi", 0, 2, values.data());
    file.commit();
  }
  const csi_file csi(scratch.path());
  EXPECT_EQ(csi.layout(), csi_layout::csi);
  symbols h(2 * 5 * 4 * 3);
  EXPECT_EQ(csi.read(0, 2, h.data()), 0u);
  for (std::size_t n = 0; n < 2; n++)
    for (std::size_t k = 0; k < 5; k++)
      for (std::size_t b = 0; b < 4; b++)
        for (std::size_t u = 0; u < 3; u++)
          ASSERT_EQ(h[((n * 5 + k) * 4 + b) * 3 + u],
                    std::complex<float>(static_cast<float>((n * 3 + u) * 40 + b * 5 + k + 10), 1.5f));
}

symbols plain_values() {
  symbols values(3 * 4 * 2 * 2);
  for (std::size_t i = 0; i < values.size(); i++)
    values[i] = {1 + 0.1f * static_cast<float>(i % 11), 0.2f * static_cast<float>(i % 5) - 0.3f};
  return values;
}
void write_plain(const std::string& path, const symbols& values) {
  wb::hdf5_writer file(path);
  file.create<std::complex<float>>("h", {3, 4, 2, 2});
  file.write("h", 0, 3, values.data());
  file.commit();
}

TEST(csi_file, plain_channels_are_read_as_they_are_and_what_is_no_number_is_erased) {
  const scratch_file scratch("plain");
  symbols values = plain_values();
  values[5] = {std::numeric_limits<float>::quiet_NaN(), 0};
  values[38] = {0, -std::numeric_limits<float>::infinity()};
  write_plain(scratch.path(), values);
  const csi_file file(scratch.path());
  EXPECT_EQ(file.layout(), csi_layout::plain);
  EXPECT_EQ(file.snapshots(), 3u);
  EXPECT_EQ(file.subcarriers(), 4u);
  EXPECT_EQ(file.rx_antennas(), 2u);
  EXPECT_EQ(file.streams(), 2u);
  EXPECT_EQ(file.spacing_hz(), 0);
  symbols h(values.size());
  std::vector<std::uint8_t> status(12, 9);
  EXPECT_EQ(file.read(0, 3, h.data(), status.data()), 2u);
  for (std::size_t i = 0; i < h.size(); i++) {
    const bool erased = i / 4 == 1 || i / 4 == 9;
    EXPECT_EQ(status[i / 4], erased ? wb::status_erased : 0);
    EXPECT_EQ(h[i], erased ? std::complex<float>{} : values[i]) << i;
  }
  symbols last(16);
  EXPECT_EQ(file.read(2, 1, last.data()), 1u);
  EXPECT_TRUE(std::equal(last.begin(), last.end(), h.begin() + 32));
  EXPECT_EQ(file.read(3, 0, nullptr), 0u);
  EXPECT_EQ(blamed([&] { file.read(2, 2, h.data()); }), "snapshots");
  EXPECT_EQ(blamed([&] { file.read(4, 0, h.data()); }), "snapshots");
}

TEST(csi_file, complex128_is_converted) {
  const scratch_file scratch("complex128");
  const auto write = [&](const std::vector<complex>& h) {
    wb::hdf5_writer file(scratch.path());
    file.create<complex>("h", {2, 1, 1, 2});
    file.write("h", 0, 2, h.data());
    file.commit();
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  write({{0.1, -2}, {3, 1e-50}, {nan, 0}, {5, 6}});
  symbols h(4);
  std::vector<std::uint8_t> status(2);
  EXPECT_EQ(csi_file(scratch.path()).read(0, 2, h.data(), status.data()), 1u);
  EXPECT_EQ(h, (symbols{{0.1f, -2}, {3, 0}, {0, 0}, {0, 0}}));
  EXPECT_EQ(status, (std::vector<std::uint8_t>{0, wb::status_erased}));
  write({{0.1, -2}, {3, 1}, {1, 1e39}, {5, 6}});
  EXPECT_REFUSED(csi_file(scratch.path()).read(1, 1, h.data()), "h holds 1e+39, which complex64 cannot hold");
}

TEST(csi_file, a_file_that_was_moved_from_says_so) {
  const scratch_file scratch("moved");
  write_plain(scratch.path(), plain_values());
  csi_file first(scratch.path());
  const csi_file second = std::move(first);
  EXPECT_EQ(second.snapshots(), 3u);
  symbols h(16);
  EXPECT_EQ(second.read(0, 1, h.data()), 0u);
  EXPECT_THROW(first.snapshots(), wb::error);
  EXPECT_THROW(first.remark(), wb::error);
  EXPECT_THROW(first.read(0, 1, h.data()), wb::error);
}

TEST(csi_file, plain_channels_of_matlab_are_read_with_its_axes) {
  // MATLAB's [3, 4, 2, 1] is [2, 4, 3] in the file: the last axis is dropped, the others are reversed.
  const scratch_file scratch("matlab"), unmarked("unmarked");
  std::vector<double> stored;
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < 4; k++)
      for (int n = 0; n < 3; n++) stored.insert(stored.end(), {100. * n + 10 * k + b, 0.5});
  const auto write = [&](const std::string& path, bool marked) {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                type = H5Tcreate(H5T_COMPOUND, 16);
    H5Tinsert(type, "real", 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "imag", 8, H5T_NATIVE_DOUBLE);
    const hsize_t shape[]{2, 4, 3}, one = 1;
    const hid_t space = H5Screate_simple(3, shape, nullptr), text = H5Tcopy(H5T_C_S1),
                array = H5Dcreate2(file, "h", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(array, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, stored.data());
    H5Tset_size(text, 6);
    if (marked) attribute(array, "MATLAB_class", text, text, one, "double");
    H5Tclose(text);
    H5Dclose(array);
    H5Sclose(space);
    H5Tclose(type);
    H5Fclose(file);
  };
  write(scratch.path(), true);
  const csi_file file(scratch.path());
  EXPECT_EQ(file.remark(), "read as MATLAB wrote it: axes reversed, float64 converted");
  EXPECT_EQ(file.snapshots(), 3u);
  EXPECT_EQ(file.subcarriers(), 4u);
  EXPECT_EQ(file.rx_antennas(), 2u);
  EXPECT_EQ(file.streams(), 1u);
  symbols h(24);
  EXPECT_EQ(file.read(0, 3, h.data()), 0u);
  for (std::size_t i = 0; i < 24; i++)
    EXPECT_EQ(h[i], std::complex<float>(static_cast<float>(100 * (i / 8) + 10 * (i / 2 % 4) + i % 2), 0.5f));
  write(unmarked.path(), false);
  EXPECT_REFUSED(csi_file(unmarked.path()), "expected complex64");
}

TEST(csi_file, every_user_is_scaled_to_unit_power) {
  const scratch_file scratch("scale");
  symbols values = plain_values();
  for (std::size_t i = 0; i < values.size(); i++)
    values[i] *= (i % 2 == 0 ? 3.f : 0.1f) * static_cast<float>(1 + i / 16);
  values[5] = {std::numeric_limits<float>::quiet_NaN(), 0};
  write_plain(scratch.path(), values);
  for (const csi_scale scale : {csi_scale::snapshot, csi_scale::file}) {
    const csi_file file(scratch.path(), {.scale = scale});
    symbols h(values.size());
    EXPECT_EQ(file.read(0, 3, h.data()), 1u);
    for (std::size_t u = 0; u < 2; u++) {
      double mean_power = 0;
      for (std::size_t n = 0; n < 3; n++) {
        double power = 0;
        for (std::size_t i = u; i < 16; i += 2) {
          power += std::norm(complex(h[16 * n + i]));
          if (h[16 * n + i] == std::complex<float>{}) continue;
          const complex ratio = complex(h[16 * n + i]) / complex(values[16 * n + i]);
          EXPECT_NEAR(ratio.imag(), 0, 1e-6 * ratio.real());
        }
        mean_power += power;
        if (scale == csi_scale::snapshot) {
          EXPECT_NEAR(power, n == 0 ? 6 : 8, 1e-5);  // an item is erased
        }
      }
      EXPECT_NEAR(mean_power, 22, 1e-4);
    }
  }
}

TEST(csi_file, what_is_no_file_of_channels_is_refused) {
  const scratch_file scratch("bad");
  EXPECT_REFUSED(csi_file(scratch.path()), "cannot read");
  std::ofstream(scratch.path()) << "no HDF5";
  EXPECT_REFUSED(csi_file(scratch.path()), "not an HDF5 file");
  const auto holding = [&](const std::string& name, const std::vector<std::size_t>& shape, auto zero) {
    wb::hdf5_writer file(scratch.path());
    file.create<decltype(zero)>(name, shape);
    file.commit();
  };
  holding("received", {2, 3}, 1.f);
  EXPECT_REFUSED(csi_file(scratch.path()), "holds no channel estimates");
  holding("h", {2, 3, 4, 5}, 1.f);
  EXPECT_REFUSED(csi_file(scratch.path()), "expected complex64");
  holding("h", {2, 3, 4}, std::complex<float>{});
  EXPECT_REFUSED(csi_file(scratch.path()), "4 axes");
  holding("h", {2, 0, 4, 1}, std::complex<float>{});
  EXPECT_REFUSED(csi_file(scratch.path()), "[2, 0, 4, 1]");
  holding("csi", {2, 2, 4, 1}, std::complex<float>{});
  EXPECT_REFUSED(csi_file(scratch.path()), "5 axes");
  holding("Pilot_Samples", {2, 2, 4}, std::int16_t{});
  EXPECT_REFUSED(csi_file(scratch.path()), "samples_per_user");
  holding("Pilot_Samples", {2, 2, 4}, float{});
  EXPECT_REFUSED(csi_file(scratch.path()), "expected int16");
}

TEST(csi_file, a_trace_with_something_wrong_is_refused) {
  const scratch_file scratch("trace");
  const sounding s;
  const auto refused = [&](const std::function<void(hid_t)>& change) {
    s.write(scratch.path(), change);
    return refusal([&] { csi_file file(scratch.path()); });
  };
  const auto set = [](const char* name, int value) {
    return [=](hid_t group) {
      H5Adelete(group, name);
      whole(group, name, value, H5T_STD_I32BE);
    };
  };
  const auto without = [](const char* name) { return [=](hid_t group) { H5Adelete(group, name); }; };
  EXPECT_EQ(refused({}), "");
  for (const char* name : {"SLOT_SAMP_LEN", "FFT_SIZE", "CP_LEN"})
    EXPECT_NE(refused(without(name)).find(name), std::string::npos);
  EXPECT_NE(refused(without("OFDM_PILOT_F")).find("OFDM_PILOT_F has 0 values"), std::string::npos);
  EXPECT_NE(refused(set("SLOT_SAMP_LEN", 100)).find("slots of 2 * 100"), std::string::npos);
  EXPECT_NE(refused(set("FFT_SIZE", 128)).find("2 * FFT_SIZE = 256"), std::string::npos);
  EXPECT_NE(refused(set("FFT_SIZE", 0)).find("FFT_SIZE"), std::string::npos);
  EXPECT_NE(refused(set("CP_LEN", -1)).find("CP_LEN"), std::string::npos);
  EXPECT_NE(refused(set("CP_LEN", 200)).find("holds no pilot"), std::string::npos);
  EXPECT_NE(refused(set("PREFIX_LEN", 150)).find("holds no pilot"), std::string::npos);
  EXPECT_NE(refused(set("RECIPROCAL_CALIB", 1)).find("no users"), std::string::npos);
  EXPECT_NE(refused([](hid_t group) {
              H5Adelete(group, "OFDM_PILOT_F");
              numbers(group, "OFDM_PILOT_F", std::vector<double>(128));
            }).find("0 everywhere"),
            std::string::npos);
  EXPECT_NE(refused([](hid_t group) {
              H5Adelete(group, "OFDM_PILOT_F");
              numbers(group, "OFDM_PILOT_F",
                      std::vector<double>(128, std::numeric_limits<double>::quiet_NaN()));
            }).find("no number"),
            std::string::npos);
  sounding empty = s;
  empty.frames = 0;
  empty.write(scratch.path());
  EXPECT_REFUSED(csi_file(scratch.path()), "no samples");
  s.write(scratch.path(), {}, 4);
  EXPECT_REFUSED(csi_file(scratch.path()), "5 axes");
  s.write(scratch.path());
  EXPECT_EQ(blamed([&] { csi_file(scratch.path(), {.cell = 1}); }), "cell");
  EXPECT_EQ(blamed([&] { csi_file(scratch.path(), {.cell = -1}); }), "cell");
}

TEST(csi_file, truncated_traces_are_refused_wherever_they_end) {
  const scratch_file scratch("cut");
  sounding s;
  s.antennas = 1;
  s.write(scratch.path());
  const auto size = std::filesystem::file_size(scratch.path());
  for (const auto part : {size / 10, size / 2, size - size / 10, size - 1}) {
    s.write(scratch.path());
    std::filesystem::resize_file(scratch.path(), part);
    EXPECT_NE(refusal([&] { csi_file file(scratch.path()); }), "") << part << " of " << size;
  }
}

TEST(csi_file, layouts_have_names) {
  EXPECT_STREQ(wb::name_of(csi_layout::plain), "plain");
  EXPECT_STREQ(wb::name_of(csi_layout::renew), "renew");
  EXPECT_STREQ(wb::name_of(csi_layout::argos), "argos");
  EXPECT_STREQ(wb::name_of(csi_layout::csi), "csi");
}

}  // namespace csi_file_test

#undef EXPECT_REFUSED
