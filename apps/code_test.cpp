// `warpband encode` and `decode` inside the sanitizer builds too; code_test.py has the rest, with files from
// h5py.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>

#include <tests/command.hpp>
#include <tests/on_backends.hpp>
#include <warpband/io/hdf5.hpp>

#if WARPBAND_HDF5

namespace code_test {

namespace fs = std::filesystem;
using namespace wb;

using code_command = wb::testing::command_on_backend;

TEST_P(code_command, gives_back_what_was_encoded) {
  const std::size_t items = 300, k = 104, n = 3 * (k + 4);
  std::mt19937 random(1);
  std::vector<std::uint8_t> bits(items * k);
  for (auto& b : bits) b = static_cast<std::uint8_t>(random() & 1);
  {
    hdf5_writer w(path("bits.h5"));
    w.create<std::uint8_t>("bits", {items, k});
    w.write("bits", 0, items, bits.data());
    w.commit();
  }
  ASSERT_EQ(run("encode bits.h5 -o coded.h5 --code lte-turbo"), 0) << text("err.txt");
  const auto coded = hdf5_reader(path("coded.h5")).read<std::uint8_t>("bits");
  ASSERT_EQ(coded.size(), items * n);
  std::vector<float> llr(coded.size());
  std::normal_distribution<float> noise(0, 2);
  for (std::size_t i = 0; i < llr.size(); i++) llr[i] = (coded[i] != 0 ? -4.f : 4.f) + noise(random);
  llr[7 * n + 3] = NAN;
  {
    hdf5_writer w(path("llr.h5"));
    w.create<float>("llr", {items, n}, {{"code", "lte-turbo"}});
    w.write("llr", 0, items, llr.data());
    w.commit();
  }
  ASSERT_EQ(run("decode llr.h5 -o whole.h5 --code lte-turbo --soft --json summary.json"), 0)
      << text("err.txt");
  // The 32 MiB of the program leave room for some hundred blocks at most; the sanitizers' own memory is
  // not meant.
  ASSERT_EQ(run("decode llr.h5 -o pieces.h5 --code LTE_Turbo --algorithm Log-MAP --crc None --llr-sign P0/P1 "
                "--soft --memory 35.3M" +
                std::string(is_cuda() ? "" : " --threads 2")),
            0)
      << text("err.txt");
  const hdf5_reader whole(path("whole.h5")), pieces(path("pieces.h5"));
  EXPECT_EQ(whole.read<float>("soft"), pieces.read<float>("soft"));
  EXPECT_EQ(whole.read<std::uint8_t>("status"), pieces.read<std::uint8_t>("status"));
  EXPECT_EQ(whole.read<std::int32_t>("iterations"), pieces.read<std::int32_t>("iterations"));
  auto got = whole.read<std::uint8_t>("bits");
  EXPECT_EQ(got, pieces.read<std::uint8_t>("bits"));
  std::fill_n(bits.begin() + static_cast<std::ptrdiff_t>(7 * k), k, std::uint8_t{0});
  EXPECT_EQ(got, bits);
  EXPECT_NE(text("summary.json").find("\"erased\": 1,"), std::string::npos) << text("summary.json");
}

TEST_P(code_command, integers_and_packed_bits_say_the_same) {
  const std::size_t items = 40, k = 104, n = 3 * (k + 4), bytes = (k + 7) / 8;
  std::mt19937 random(2);
  std::normal_distribution<float> noise(0, 20);
  std::vector<std::int8_t> steps(items * n);
  for (auto& x : steps) x = static_cast<std::int8_t>(std::clamp(40 + noise(random), -128.f, 127.f));
  for (std::size_t i = 0; i < n; i += 7) steps[i] = -128;
  const auto write = [&]<class T>(const std::string& file, const std::vector<T>& llr,
                                  const hdf5_attributes& more = {}) {
    hdf5_writer w(path(file));
    hdf5_attributes attributes = more;
    attributes["code"] = std::string("lte-turbo");
    w.set(attributes);
    w.create<T>("llr", {items, n});
    w.write("llr", 0, items, llr.data());
    w.commit();
  };
  std::vector<float> floats, negative;
  for (const auto x : steps) {
    floats.push_back(static_cast<float>(x) * 0.25f);
    negative.push_back(0.f - floats.back());
  }
  write("float.h5", floats);
  write("negative.h5", negative);
  write("int8.h5", steps, {{"llr_steps", 4.}});
  write("int16.h5", std::vector<std::int16_t>(steps.begin(), steps.end()));
  const auto read = [&](const std::string& file) {
    return hdf5_reader(path(file)).read<std::uint8_t>("bits");
  };
  ASSERT_EQ(run("decode float.h5 -o a.h5"), 0) << text("err.txt");
  const auto wanted = read("a.h5");
  EXPECT_GT(std::count(wanted.begin(), wanted.end(), 1), 0);
  ASSERT_EQ(run("decode int8.h5 -o b.h5 --packed"), 0) << text("err.txt");
  ASSERT_EQ(run("decode int16.h5 -o c.h5 --llr-scale 0.25 --packed"), 0) << text("err.txt");
  const auto packed = read("b.h5");
  ASSERT_EQ(packed.size(), items * bytes);
  EXPECT_EQ(packed, read("c.h5"));
  for (std::size_t i = 0; i < items; i++)
    for (std::size_t j = 0; j < k; j++)
      ASSERT_EQ(packed[i * bytes + j / 8] >> (7 - j % 8) & 1, wanted[i * k + j]);
  ASSERT_EQ(run("decode negative.h5 -o d.h5 --llr-sign p1/p0"), 0) << text("err.txt");
  ASSERT_EQ(run("decode int8.h5 -o e.h5 --llr-sign p1/p0"), 0) << text("err.txt");
  EXPECT_EQ(read("d.h5"), wanted);
  EXPECT_NE(read("e.h5"), wanted);
  EXPECT_EQ(run("decode float.h5 -o f.h5 --llr-scale 0.25"), 2);
  EXPECT_NE(text("err.txt").find("--llr-scale has no meaning with LLRs of float32"), std::string::npos);
  for (const char* scale : {"0", "-1", "nan", "inf", "x", "1e99"}) {
    EXPECT_EQ(run(std::string("decode int16.h5 -o f.h5 --llr-scale ") + scale), 2) << scale;
    EXPECT_NE(text("err.txt").find("--llr-scale"), std::string::npos) << text("err.txt");
  }
  write("bad.h5", steps, {{"llr_steps", 0.}});
  EXPECT_EQ(run("decode bad.h5 -o f.h5"), 1);
  EXPECT_NE(text("err.txt").find("llr_steps is \"0\""), std::string::npos) << text("err.txt");
}

TEST_P(code_command, settings_that_options_have_are_used_wrongly) {
  {
    hdf5_writer w(path("llr.h5"));
    w.create<float>("llr", {2, 324});
    w.write("llr", 0, 2, std::vector<float>(648).data());
    w.commit();
  }
  const struct {
    const char *options, *message;
  } wrong[]{{"--early-stop crc", "--early-stop = crc is not allowed"},
            {"--precision int16",
             "--algorithm = \"log-map\" is not allowed: expected \"max-log-map\" with precision int16"},
            {"--algorithm max-log-map --precision int16 --early-stop sign-agreement",
             "--early-stop = \"sign-agreement\""},
            {"--crc crc99", "--crc: \"crc99\" is not allowed: expected \"none\", \"crc24a\" or"},
            {"--windows 40", "--windows = 40 is not allowed"},
            {"--code-rate 1.5", "--code-rate: \"1.5\" is not allowed"},
            {"--code-rate -1", "--code-rate: \"-1\" is not allowed"},
            {"--extrinsic-scale 2", "--extrinsic-scale"},
            {"--interleaver 2,2", "--interleaver"}};
  for (const auto& [options, message] : wrong) {
    EXPECT_EQ(run(std::string("decode llr.h5 -o out.h5 --code lte-turbo ") + options), 2) << options;
    EXPECT_NE(text("err.txt").find(message), std::string::npos) << text("err.txt");
  }
  EXPECT_FALSE(fs::exists(path("out.h5")));
}

TEST_P(code_command, does_not_replace_a_file_unasked) {
  {
    hdf5_writer w(path("llr.h5"));
    w.create<float>("llr", {1, 132});
    w.write("llr", 0, 1, std::vector<float>(132, 1.f).data());
    w.commit();
  }
  std::ofstream(path("out.h5")) << "of someone";
  force_ = false;
  EXPECT_EQ(run("decode llr.h5 -o out.h5 --code lte-turbo"), 1);
  EXPECT_EQ(text("err.txt"), "warpband: error: out.h5: is there already: --force replaces it\n");
  EXPECT_EQ(text("out.h5"), "of someone");
  EXPECT_EQ(run("decode llr.h5 -o out.h5 --code lte-turbo --force"), 0) << text("err.txt");
  std::ofstream(path("empty.h5"));
  EXPECT_EQ(run("decode llr.h5 -o empty.h5 --code lte-turbo"), 0) << text("err.txt");
}

TEST_P(code_command, leaves_nothing_behind_when_it_fails) {
  {
    hdf5_writer w(path("llr.h5"));
    w.create<float>("llr", {2, 131});
    w.write("llr", 0, 2, std::vector<float>(262).data());
    w.commit();
  }
  EXPECT_EQ(run("decode llr.h5 -o out.h5 --code lte-turbo"), 1);
  EXPECT_EQ(text("err.txt"),
            "warpband: error: llr.h5: llr is float32 [2, 131]: expected [batch, n] with n = 3 (k + 4), "
            "k from 40 to 65536\n");
  std::ofstream(path("llr.h5")) << "not this";
  EXPECT_EQ(run("decode llr.h5 -o out.h5 --code lte-turbo"), 1);
  EXPECT_FALSE(fs::exists(path("out.h5")));
}

WB_ON_ALL_BACKENDS(code_command);

}  // namespace code_test

#endif
