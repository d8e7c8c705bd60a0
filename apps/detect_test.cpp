// `warpband detect` inside the sanitizer builds too; detect_test.py has the rest, with files from h5py.
#include <algorithm>
#include <cmath>
#include <complex>
#include <random>

#include <tests/command.hpp>
#include <tests/on_backends.hpp>
#include <warpband/detect/detector.hpp>
#include <warpband/io/hdf5.hpp>
#include <warpband/massive/cluster/cluster.hpp>
#include <warpband/massive/soft_uplink/soft_uplink.hpp>
#include <warpband/massive/uplink/uplink.hpp>
#include <warpband/stbc/stbc.hpp>

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

/// 601 vectors, of which 8 share an H: the last H has one alone.
TEST_P(detect_command, takes_massive_mimo) {
  constexpr std::size_t vectors = 601, groups = 76, antennas = 6, users = 3, width = 12;
  std::mt19937 random(2);
  std::normal_distribution<float> gaussian;
  std::vector<complex64> h(groups * antennas * users), y(vectors * antennas);
  for (auto* list : {&h, &y})
    for (complex64& v : *list) v = {gaussian(random), gaussian(random)};
  y[5 * antennas] = NAN;
  std::vector<float> noise(groups), prior(vectors * width);
  for (std::size_t g = 0; g < groups; g++) noise[g] = 0.1f + 0.01f * static_cast<float>(g);
  for (float& p : prior) p = 3 * gaussian(random);
  for (const bool known : {false, true}) {
    hdf5_writer w(path(known ? "prior.h5" : "in.h5"));
    w.create<complex64>("h", {groups, antennas, users});
    w.write("h", 0, groups, h.data());
    w.create<complex64>("y", {vectors, antennas});
    w.write("y", 0, vectors, y.data());
    w.create<float>("noise_var", {groups});
    w.write("noise_var", 0, groups, noise.data());
    if (known) {
      w.create<float>("prior", {vectors, width});
      w.write("prior", 0, vectors, prior.data());
    }
    w.set({{"qam", std::int64_t{16}}, {"uses_per_channel", std::int64_t{shared}}});
    w.commit();
  }
  // Each vector with a copy of its H: no bit depends on how many share it.
  const auto exec = GetParam().open();
  std::vector<complex64> copies;
  std::vector<float> powers;
  for (std::size_t v = 0; v < vectors; v++) {
    const auto first = h.begin() + static_cast<std::ptrdiff_t>(v / shared * antennas * users);
    copies.insert(copies.end(), first, first + antennas * users);
    powers.push_back(noise[v / shared]);
  }
  const auto channel = wb::testing::on_device(*exec, copies, vectors, antennas * users),
             received = wb::testing::on_device(*exec, y, vectors, antennas);
  const auto n0 = wb::testing::on_device(*exec, powers, vectors, 1),
             known = wb::testing::on_device(*exec, prior, vectors, width);
  auto llr = exec->make<float>(vectors, width), sinr = exec->make<float>(vectors, users);
  auto equalized = exec->make<complex64>(vectors, users);
  auto hard = exec->make<std::uint8_t>(vectors, width), status = exec->make<std::uint8_t>(vectors, 1);

  for (const std::string solver : {"", "cg", "gauss-seidel"}) {
    uplink_config c{.antennas = antennas, .users = users, .qam = 16};
    std::string options;
    if (!solver.empty()) {
      c.solver = solver == "cg" ? massive_solver::cg : massive_solver::gauss_seidel;
      c.iterations = 2, c.sinr = massive_sinr::approximate, c.llr_clip = 9.f;
      options = " --solver " + solver + " --iterations 2 --llr-clip 9";
    }
    uplink_detector(c).run(*exec, {.channel = channel, .received = received, .noise_var = n0},
                           {.llr = llr, .equalized = equalized, .sinr = sinr, .status = status});
    const std::vector<float> expected = exec->to_host(llr);
    ASSERT_EQ(run("detect in.h5 -o out.h5 --detector uplink --llr --hard --symbols" + options), 0)
        << text("err.txt");
    const hdf5_reader out(path("out.h5"));
    EXPECT_EQ(out.read<float>("llr"), expected) << options;
    EXPECT_EQ(out.read<float>("sinr"), exec->to_host(sinr)) << options;
    EXPECT_EQ(out.read<complex64>("equalized"), exec->to_host(equalized)) << options;
    EXPECT_EQ(out.read<std::uint8_t>("status"), exec->to_host(status)) << options;
    std::vector<std::uint8_t> signs;
    for (const float x : expected) signs.push_back(x < 0);
    EXPECT_EQ(out.read<std::uint8_t>("bits"), signs) << options;
    EXPECT_EQ(std::get<std::int64_t>(out.attribute("", "users").value()), 3);
    ASSERT_EQ(run("detect in.h5 -o hard.h5 --detector uplink --hard" + options), 0) << text("err.txt");
    EXPECT_EQ(hdf5_reader(path("hard.h5")).read<std::uint8_t>("bits"), signs) << options;
  }
  for (const massive_cluster_method method :
       {massive_cluster_method::exact, massive_cluster_method::local_mmse, massive_cluster_method::cg}) {
    clustered_uplink_config c{.detector = {.antennas = antennas, .users = users, .qam = 16},
                              .clusters = 2,
                              .cluster_method = method};
    std::string options = " --clusters 2 --cluster-method " + std::string(name_of(method));
    if (method == massive_cluster_method::cg) {
      c.detector.solver = massive_solver::cg;
      c.detector.iterations = 2, c.detector.sinr = massive_sinr::approximate;
      options += " --solver cg --iterations 2";
    }
    clustered_uplink_detector(c).run(*exec, {.channel = channel, .received = received, .noise_var = n0},
                                     {.llr = llr, .equalized = equalized, .sinr = sinr, .status = status});
    ASSERT_EQ(run("detect in.h5 -o parted.h5 --detector uplink --symbols" + options), 0) << text("err.txt");
    const hdf5_reader out(path("parted.h5"));
    EXPECT_EQ(out.read<float>("llr"), exec->to_host(llr)) << options;
    EXPECT_EQ(out.read<float>("sinr"), exec->to_host(sinr)) << options;
    EXPECT_EQ(out.read<complex64>("equalized"), exec->to_host(equalized)) << options;
    EXPECT_EQ(out.read<std::uint8_t>("status"), exec->to_host(status)) << options;
    EXPECT_EQ(std::get<std::int64_t>(out.attribute("", "clusters").value()), c.clusters);
    EXPECT_EQ(std::get<std::string>(out.attribute("", "cluster_method").value()), name_of(method));
  }
  EXPECT_EQ(run("detect in.h5 -o no.h5 --detector uplink --clusters 4"), 2);
  EXPECT_EQ(run("detect in.h5 -o no.h5 --detector uplink --cluster-method cg"), 1);
  EXPECT_NE(text("err.txt").find("solver = "), std::string::npos) << text("err.txt");
  for (const bool with_prior : {false, true}) {
    soft_uplink_input in{.channel = channel, .received = received, .noise_var = n0};
    if (with_prior) in.prior = known;
    soft_uplink_detector({.antennas = antennas, .users = users, .qam = 16, .extrinsic = true})
        .run(*exec, in, {.llr = llr, .bits = hard, .status = status});
    ASSERT_EQ(run(std::string("detect ") + (with_prior ? "prior.h5" : "in.h5") +
                  " -o soft.h5 --detector soft-uplink --extrinsic --llr --hard"),
              0)
        << text("err.txt");
    const hdf5_reader out(path("soft.h5"));
    EXPECT_EQ(out.read<float>("llr"), exec->to_host(llr));
    EXPECT_EQ(out.read<std::uint8_t>("bits"), exec->to_host(hard));
    EXPECT_EQ(out.read<std::uint8_t>("status"), exec->to_host(status));
    EXPECT_EQ(std::get<std::int64_t>(out.attribute("", "prior").value()), with_prior);
  }
  EXPECT_EQ(run("detect prior.h5 -o no.h5 --detector uplink"), 1);
  EXPECT_EQ(text("err.txt"),
            "warpband: error: prior.h5: holds a-priori LLRs, which uplink does not take: --no-prior leaves "
            "them out\n");
  EXPECT_EQ(run("detect in.h5 -o no.h5 --detector uplink --ways 2"), 2);
  EXPECT_EQ(text("err.txt"), "warpband: error: --ways has no meaning with --detector uplink\n");
  EXPECT_EQ(run("detect in.h5 -o no.h5 --detector uplink --iterations 2"), 2);
  EXPECT_EQ(text("err.txt"), "warpband: error: --iterations has no meaning with --solver cholesky\n");
  EXPECT_EQ(run("detect in.h5 -o no.h5 --detector uplink --solver cg --iterations 90"), 2);
  EXPECT_EQ(run("detect in.h5 -o no.h5 --detector mmse --symbols"), 2);
  EXPECT_EQ(text("err.txt"), "warpband: error: --symbols has no meaning with --detector mmse\n");
  EXPECT_FALSE(fs::exists(path("no.h5")));
}

TEST_P(detect_command, takes_space_time_codes) {
  constexpr std::size_t words = 203, groups = 29, antennas = 3, together = 7;
  std::mt19937 random(3);
  std::normal_distribution<float> gaussian;
  std::vector<complex64> h(groups * antennas * 2), y(words * 2 * antennas);
  for (auto* list : {&h, &y})
    for (complex64& v : *list) v = {gaussian(random), gaussian(random)};
  h[0] = NAN;
  const auto exec = GetParam().open();
  const auto channel = wb::testing::on_device(*exec, h, groups, 2 * antennas),
             received = wb::testing::on_device(*exec, y, words, 2 * antennas);
  const auto noise = wb::testing::on_device(*exec, std::vector<float>(words, 0.3f), words, 1);
  for (const std::string name : {"alamouti", "silver", "golden", "pair"}) {
    stbc_config c{.qam = 16, .rx_antennas = antennas};
    if (name == "alamouti") c.code = space_time_code::alamouti();
    if (name == "golden") c.code = space_time_code::golden();
    if (name == "pair") c.code = space_time_code::pair({{{0, 1}, 0, 0, 1}});
    const stbc_decoder decoder(c);
    const std::size_t width = decoder.bits_per_codeword();
    std::vector<float> prior(words * width);
    for (float& p : prior) p = 2 * gaussian(random);
    hdf5_writer w(path("in.h5"));
    w.create<complex64>("h", {groups, antennas, 2});
    w.write("h", 0, groups, h.data());
    w.create<complex64>("y", {words, 2, antennas});
    w.write("y", 0, words, y.data());
    const float n0 = 0.3f;
    w.create<float>("noise_var", {1});
    w.write("noise_var", 0, 1, &n0);
    w.create<float>("prior", {words, width});
    w.write("prior", 0, words, prior.data());
    w.commit();
    const auto known = wb::testing::on_device(*exec, prior, words, width);
    auto llr = exec->make<float>(words, width);
    auto hard = exec->make<std::uint8_t>(words, width), status = exec->make<std::uint8_t>(words, 1);
    for (const bool with_prior : {false, true}) {
      stbc_input in{
          .channel = channel, .codewords_per_channel = together, .received = received, .noise_var = noise};
      if (with_prior) in.prior = known;
      decoder.run(*exec, in, {.llr = llr, .bits = hard, .status = status});
      ASSERT_EQ(run("detect in.h5 -o out.h5 --qam 16 --llr --hard --detector " + name +
                    (name == "pair" ? " --v 0,1,0,0,0,0,1,0" : "") + (with_prior ? "" : " --no-prior")),
                0)
          << text("err.txt");
      const hdf5_reader out(path("out.h5"));
      EXPECT_EQ(out.read<float>("llr"), exec->to_host(llr)) << name;
      EXPECT_EQ(out.read<std::uint8_t>("bits"), exec->to_host(hard)) << name;
      EXPECT_EQ(out.read<std::uint8_t>("status"), exec->to_host(status)) << name;
      EXPECT_EQ(std::get<std::string>(out.attribute("", "detector").value()), name);
      if (name == "pair") {
        EXPECT_EQ(std::get<std::string>(out.attribute("", "v").value()), "0,1,0,0,0,0,1,0");
      }
    }
  }
  EXPECT_EQ(run("detect in.h5 -o no.h5 --qam 16 --detector golden --search slicing"), 1);
  EXPECT_EQ(run("detect in.h5 -o no.h5 --qam 16 --detector silver --search exact"), 2);
  EXPECT_EQ(text("err.txt"), "warpband: error: --search has no meaning with --detector silver\n");
  EXPECT_EQ(run("detect in.h5 -o no.h5 --qam 16 --detector silver --v 1,0,0,0,0,0,1,0"), 2);
  EXPECT_EQ(text("err.txt"), "warpband: error: --v has no meaning with --detector silver\n");
  EXPECT_EQ(run("detect in.h5 -o no.h5 --qam 16 --detector pair"), 2);
  EXPECT_EQ(text("err.txt"), "warpband: error: --v is missing: the matrix of --detector pair\n");
  EXPECT_EQ(run("detect in.h5 -o no.h5 --qam 16 --detector pair --v 1,0,0,0,0,0,2,0"), 2);
  EXPECT_EQ(run("detect in.h5 -o no.h5 --qam 16 --detector pair --v 1,0,0"), 2);
  EXPECT_EQ(run("detect in.h5 -o no.h5 --qam 16 --detector mmse"), 1);
  EXPECT_FALSE(fs::exists(path("no.h5")));
  write("uses.h5", h_, uses / shared);
  EXPECT_EQ(run("detect uses.h5 -o no.h5 --qam 16 --detector silver"), 1);
  EXPECT_EQ(text("err.txt").find("warpband: error: uses.h5: y is complex64 [16000, 3]: expected "), 0U)
      << text("err.txt");
}

TEST_P(detect_command, takes_codes_over_subcarriers) {
  constexpr std::size_t words = 203, groups = 29, antennas = 3, together = 7;
  std::mt19937 random(4);
  std::normal_distribution<float> gaussian;
  const auto exec = GetParam().open();
  for (const bool fstd : {false, true}) {
    const std::size_t uses_of_word = fstd ? 4 : 2;
    const std::string name = fstd ? "fstd" : "sfbc";
    stbc_config c{.qam = 16, .rx_antennas = antennas};
    c.code = fstd ? space_time_code::fstd() : space_time_code::sfbc();
    const stbc_decoder decoder(c);
    const std::size_t width = decoder.bits_per_codeword(),
                      of_channel = uses_of_word * antennas * uses_of_word;
    std::vector<complex64> h(groups * of_channel), y(words * uses_of_word * antennas);
    for (auto* list : {&h, &y})
      for (complex64& v : *list) v = {gaussian(random), gaussian(random)};
    h[0] = NAN;
    std::vector<float> prior(words * width);
    for (float& p : prior) p = 2 * gaussian(random);
    hdf5_writer w(path("in.h5"));
    w.create<complex64>("h", {groups, uses_of_word, antennas, uses_of_word});
    w.write("h", 0, groups, h.data());
    w.create<complex64>("y", {words, uses_of_word, antennas});
    w.write("y", 0, words, y.data());
    const std::vector<float> n0(words, 0.3f);
    w.create<float>("noise_var", {words});
    w.write("noise_var", 0, words, n0.data());
    w.create<float>("prior", {words, width});
    w.write("prior", 0, words, prior.data());
    w.commit();
    const auto channel = wb::testing::on_device(*exec, h, groups, of_channel),
               received = wb::testing::on_device(*exec, y, words, uses_of_word * antennas);
    const auto noise = wb::testing::on_device(*exec, n0, words, 1),
               known = wb::testing::on_device(*exec, prior, words, width);
    auto llr = exec->make<float>(words, width);
    auto hard = exec->make<std::uint8_t>(words, width), status = exec->make<std::uint8_t>(words, 1);
    decoder.run(*exec,
                {.channel = channel,
                 .codewords_per_channel = together,
                 .received = received,
                 .noise_var = noise,
                 .prior = known},
                {.llr = llr, .bits = hard, .status = status});
    const std::string command = " --qam 16 --llr --hard --detector " + name,
                      one = is_cuda() ? "" : " --threads 1";
    ASSERT_EQ(run("detect in.h5 -o out.h5" + command), 0) << text("err.txt");
    ASSERT_EQ(run("detect in.h5 -o pieces.h5" + command + one + " --memory " +
                  smallest("detect in.h5" + command + one)),
              0)
        << text("err.txt");
    for (const char* file : {"out.h5", "pieces.h5"}) {
      const hdf5_reader out(path(file));
      EXPECT_EQ(out.read<float>("llr"), exec->to_host(llr)) << name;
      EXPECT_EQ(out.read<std::uint8_t>("bits"), exec->to_host(hard)) << name;
      EXPECT_EQ(out.read<std::uint8_t>("status"), exec->to_host(status)) << name;
      EXPECT_EQ(std::get<std::string>(out.attribute("", "detector").value()), name);
    }
    EXPECT_EQ(run(std::string("detect in.h5 -o no.h5 --qam 16 --detector ") + (fstd ? "sfbc" : "fstd")), 1);
    EXPECT_NE(text("err.txt").find(": expected [groups, "), std::string::npos) << text("err.txt");
    EXPECT_EQ(run("detect in.h5 -o no.h5 --qam 16 --detector " + name + " --method exhaustive"), 2);
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
