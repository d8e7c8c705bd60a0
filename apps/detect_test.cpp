// `warpband detect` inside the sanitizer builds too; detect_test.py has the rest, with files from h5py.
#include <algorithm>
#include <cmath>
#include <complex>
#include <random>

#include <tests/command.hpp>
#include <tests/on_backends.hpp>
#include <warpband/detect/detector.hpp>
#include <warpband/io/hdf5.hpp>

#if WARPBAND_HDF5

namespace detect_test {

namespace fs = std::filesystem;
using namespace wb;
using complex64 = std::complex<float>;

class detect_command : public wb::testing::command_on_backend {
 protected:
  static constexpr std::size_t uses = 16000, rx = 3, tx = 2, bits = 8, shared = 8;  // 16-QAM

  void SetUp() override {
    command_on_backend::SetUp();
    std::mt19937 random(1);
    std::normal_distribution<float> gaussian;
    const auto some = [&](std::size_t n) {
      std::vector<complex64> values(n);
      for (complex64& v : values) v = {gaussian(random), gaussian(random)};
      return values;
    };
    h_ = some(uses / shared * rx * tx);
    y_ = some(uses * rx);
    y_[5 * rx + 1] = NAN;
  }
  void write(const std::string& name, const std::vector<complex64>& h, std::size_t groups) const {
    hdf5_writer w(path(name));
    w.create<complex64>("h", {groups, rx, tx});
    w.write("h", 0, groups, h.data());
    w.create<complex64>("y", {uses, rx});
    w.write("y", 0, uses, y_.data());
    const std::vector<float> noise(uses, 0.5f);
    w.create<float>("noise_var", {uses});
    w.write("noise_var", 0, uses, noise.data());
    w.commit();
  }
  /// The least --memory that a call takes: then a batch comes in several pieces.
  std::string smallest(const std::string& arguments) const {
    EXPECT_EQ(run(arguments + " -o none.h5 --memory 1M"), 1);
    const std::string error = text("err.txt"), mark = "expected at least ";
    const std::size_t from = error.find(mark) + mark.size();
    return error.substr(from, error.find(' ', from) - from);
  }
  std::vector<complex64> h_, y_;
};

TEST_P(detect_command, gives_what_the_library_gives) {
  write("shared.h5", h_, uses / shared);
  std::vector<complex64> repeated;
  for (std::size_t use = 0; use < uses; use++)
    repeated.insert(repeated.end(), h_.begin() + static_cast<std::ptrdiff_t>(use / shared * rx * tx),
                    h_.begin() + static_cast<std::ptrdiff_t>((use / shared + 1) * rx * tx));
  write("repeated.h5", repeated, uses);
  const auto exec = GetParam().open();
  const auto y = wb::testing::on_device(*exec, y_, uses, rx);
  const auto h = wb::testing::on_device(*exec, h_, uses / shared, rx * tx);
  const auto noise = wb::testing::on_device(*exec, std::vector<float>(uses, 0.5f), uses, 1);

  std::size_t tried = 0;
  for (const std::string& name : detectors().names()) {
    // Starting a program is what takes long under sanitizers.
    const bool every = !wb::testing::small_scale() || tried++ % 3 == 0;
    detector_config config;  // of 2 streams
    config.type = name;
    config.rx_antennas = rx;
    config.qam = 16;
    const auto detector = make_detector(config);
    auto llr = exec->make<float>(uses, bits);
    auto hard = exec->make<std::uint8_t>(uses, bits), status = exec->make<std::uint8_t>(uses, 1);
    detector->run(*exec, {.channel = h, .uses_per_channel = shared, .received = y, .noise_var = noise},
                  {.llr = llr, .bits = hard, .status = status});
    const std::vector<float> expected = exec->to_host(llr);
    const std::string options = " --llr --hard --qam 16 --detector " + name,
                      one = is_cuda() ? "" : " --threads 1";
    ASSERT_EQ(run("detect shared.h5 -o whole.h5" + options + " --json summary.json"), 0) << text("err.txt");
    std::vector<std::string> files{"whole.h5"};
    if (every) {
      // The sanitizers' own memory is not meant.
      const std::string memory = " --memory " + smallest("detect shared.h5" + options + one);
      ASSERT_EQ(run("detect shared.h5 -o pieces.h5" + options + one + memory), 0) << text("err.txt");
      ASSERT_EQ(run("detect repeated.h5 -o each.h5" + options), 0) << text("err.txt");
      files.insert(files.end(), {"pieces.h5", "each.h5"});
    }
    for (const std::string& file : files) {
      const hdf5_reader out(path(file));
      EXPECT_EQ(out.read<float>("llr"), expected) << name << " " << file;
      EXPECT_EQ(out.read<std::uint8_t>("bits"), exec->to_host(hard)) << name << " " << file;
      EXPECT_EQ(out.read<std::uint8_t>("status"), exec->to_host(status)) << name << " " << file;
    }
    EXPECT_NE(text("summary.json").find("\"erased\": 1,"), std::string::npos) << text("summary.json");
  }
}

TEST_P(detect_command, takes_an_order_of_the_streams) {
  write("in.h5", h_, uses / shared);
  const auto exec = GetParam().open();
  const auto y = wb::testing::on_device(*exec, y_, uses, rx);
  const auto h = wb::testing::on_device(*exec, h_, uses / shared, rx * tx);
  const auto noise = wb::testing::on_device(*exec, std::vector<float>(uses, 0.5f), uses, 1);
  detector_config config;  // of 2 streams
  config.type = "kbest";
  config.rx_antennas = rx;
  config.qam = 16;
  config.set("survivors", std::int64_t{3});
  config.set("order", std::vector<std::int64_t>{1, 0});
  const auto detector = make_detector(config);
  auto llr = exec->make<float>(uses, bits);
  detector->run(*exec, {.channel = h, .uses_per_channel = shared, .received = y, .noise_var = noise},
                {.llr = llr});
  const std::string options = " --qam 16 --detector kbest --survivors 3 --order ";
  ASSERT_EQ(run("detect in.h5 -o out.h5" + options + "1,0"), 0) << text("err.txt");
  const hdf5_reader out(path("out.h5"));
  EXPECT_EQ(out.read<float>("llr"), exec->to_host(llr));
  EXPECT_EQ(std::get<std::string>(out.attribute("", "order").value()), "1,0");
  EXPECT_EQ(run("detect in.h5 -o no.h5" + options + "1,1"), 2);
  EXPECT_EQ(text("err.txt"), "warpband: error: --order = 1,1 is not allowed: expected each of 0 to 1 once\n");
  EXPECT_EQ(run("detect in.h5 -o no.h5" + options + "1.0"), 2);
  for (const std::string wrong :
       {"--detector nway --ways 3", "--detector mmse --survivors 3", "--detector nway --order 0,0",
        "--detector mmse --extrinsic", "--detector mmse --llr-clip -1", "--detector kbest --llr-clip none",
        "--detector pic --iterations 3", "--detector ep --damping 1", "--detector ep --order 1,0",
        "--detector mmse --demapper exact"}) {
    EXPECT_EQ(run("detect in.h5 -o no.h5 --qam 16 " + wrong), 2) << wrong;
    EXPECT_TRUE(text("err.txt").starts_with("warpband: error: --")) << text("err.txt");
  }
  EXPECT_FALSE(fs::exists(path("no.h5")));
}

TEST_P(detect_command, leaves_nothing_behind_when_it_fails) {
  write("in.h5", h_, uses / shared - 1);
  EXPECT_EQ(run("detect in.h5 -o out.h5 --detector mmse --qam 16"), 1);
  EXPECT_EQ(text("err.txt"),
            "warpband: error: in.h5: h is complex64 [1999, 3, 2]: expected a number of channels that divides "
            "the 16000 uses, or --uses-per-channel N for N consecutive uses with each channel\n");
  std::ofstream(path("in.h5")) << "not this";
  EXPECT_EQ(run("detect in.h5 -o out.h5 --detector mmse --qam 16"), 1);
  EXPECT_FALSE(fs::exists(path("out.h5")));
}

WB_ON_ALL_BACKENDS(detect_command);

}  // namespace detect_test

#endif
