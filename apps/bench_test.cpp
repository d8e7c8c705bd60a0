// `warpband bench` as a user meets it: records, comparisons, errors.
#if defined(WARPBAND_HAS_BENCH)
#include <atomic>
#include <chrono>
#include <thread>

#include <tests/command.hpp>
#include <tests/json.hpp>
#include <tests/powercap.hpp>

namespace bench_test {

namespace fs = std::filesystem;
using json = nlohmann::json;

using wb::testing::outcome;

class bench_command : public ::testing::Test, protected wb::testing::command_folder {
 protected:
  void write(const std::string& name, const json& record) const {
    std::ofstream(folder_ / name) << record.dump();
  }
  json read(const std::string& name) const { return wb::testing::parse_json(content(folder_ / name)); }
  outcome run(const std::string& arguments) const { return command_folder::run("bench " + arguments); }
  void expect_error(int code, const std::string& arguments, const std::string& part) const {
    command_folder::expect_error(code, "bench " + arguments, part);
  }
};

/// A record as `warpband bench --json` writes it: a benchmark for each median in microseconds, with a spread
/// of 2 %.
json record_of(const std::vector<std::pair<std::string, double>>& medians) {
  json r{
      {"format", "warpband bench 1"},
      {"version", "0.1.0"},
      {"commit", "0123456789ab"},
      {"date", "2026-01-01T00:00:00Z"},
      {"machine",
       {{"cpu", "A CPU"},
        {"instruction_set", "avx2"},
        {"threads", 1},
        {"os", "Linux"},
        {"gpus", json::array()}}},
      {"ceilings",
       {{"cpu", {{"fp32", 1e11}, {"memory", {{{"footprint_bytes", 1e8}, {"copy", 2e10}, {"read", 2e10}}}}}}}},
      {"benchmarks", json::array()}};
  for (const auto& [name, us] : medians)
    r["benchmarks"].push_back(
        {{"name", name},
         {"seconds", {{"median", us * 1e-6}, {"low", us * 0.98e-6}, {"high", us * 1.02e-6}}}});
  return r;
}

TEST_F(bench_command, runs_one_benchmark_without_a_pause) {
  const outcome o =
      run("'turbo_encode/k=6144/figure=resident' --device cpu --threads 1 --duration 0.3 --json e.json");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("rate, Mb/s"), std::string::npos) << o.out;
  const json e = read("e.json");
  EXPECT_EQ(e["format"], "warpband endurance 1");
  EXPECT_EQ(e["name"], "turbo_encode/k=6144/figure=resident/device=cpu");
  EXPECT_GE(e["seconds"], 0.3);
  EXPECT_GE(e["samples"], 1);
  EXPECT_GE(e["calls"], e["samples"]);  // a busy machine may take long for each
  EXPECT_LE(e["lowest"], e["median"]);
  EXPECT_LE(e["median"], e["highest"]);
  EXPECT_GT(e["host_memory_bytes"]["last"], 1e6);
  EXPECT_EQ(e["device_memory_bytes"]["most"], 0);
  EXPECT_EQ(e["different_results"], 0);
  expect_error(1, "turbo --device cpu --duration 1", "--duration takes one");
  expect_error(2, "no_such --device cpu --duration 1", "no benchmark matches");
  expect_error(2, "turbo --duration 0", "seconds");
}

/// Beside a counter of energy that goes on.
TEST_F(bench_command, counts_energy) {
  const wb::testing::powercap p;
  p.add("intel-rapl:0", "package-0", "5000000", "1000000000000");
  std::atomic<bool> ends = false;
  std::thread machine([&] {
    for (long microjoules = 5000000; !ends; microjoules += 777777) {
      p.set("intel-rapl:0", "energy_uj", std::to_string(microjoules));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  const outcome o = command_folder::run(
      "bench 'qam_map/points=64/figure=resident' --device cpu --threads 1 --repetitions 1 "
      "--min-time 0.001 --energy 5 --quiet --json e.json",
      p.environment());
  ends = true;
  machine.join();
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("energy, cpu ("), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("nJ a bit"), std::string::npos) << o.out;
  const json r = read("e.json");
  EXPECT_EQ(r["energy"]["cpu"]["source"], "RAPL of 1 package");
  ASSERT_GT(r["benchmarks"].size(), 0U);
  for (const json& b : r["benchmarks"]) {
    const json& e = b["energy"];
    const double seconds = e["seconds"], joules = e["joules"], idle = e["idle_watts"], calls = e["calls"];
    EXPECT_GE(seconds, 5);
    EXPECT_GT(joules, 0);
    EXPECT_EQ(idle, r["energy"]["cpu"]["idle_watts"].get<double>());
    EXPECT_NEAR(e["watts"].get<double>(), joules / seconds, 1e-4 * joules);
    const double of_call = (joules - idle * seconds) / calls, rounded = 1e-4 * joules / calls;
    EXPECT_NEAR(e["nanojoules_per_item"].get<double>() * 1e-9 * b["items"].get<double>(), of_call, rounded);
    const double of_item = e["nanojoules_per_item"];
    EXPECT_NEAR(e["nanojoules_per_bit"].get<double>() * 6, of_item, 1e-4 * std::abs(of_item));
  }
  p.set("intel-rapl:0", "energy_uj", "");
  command_folder::expect_error(1, "bench qam_map --device cpu --energy 5", "cannot be read", p.environment());
}

TEST_F(bench_command, help_teaches) {
  for (const std::string arguments : {"--help", "ceilings --help", "compare --help"}) {
    const outcome o = run(arguments);
    EXPECT_EQ(o.code, 0);
    EXPECT_NE(o.out.find("Examples:"), std::string::npos) << o.out;
  }
}

TEST_F(bench_command, lists_what_a_filter_leaves) {
  const outcome o = run("--list --device cpu '^demap/points=(4|16)/.*resident'");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out,
            "demap/points=4/algorithm=max_log/figure=resident/device=cpu\n"
            "demap/points=4/algorithm=exact/figure=resident/device=cpu\n"
            "demap/points=16/algorithm=max_log/figure=resident/device=cpu\n"
            "demap/points=16/algorithm=exact/figure=resident/device=cpu\n");
  const std::string listed = run("--list --device cpu").out;
  for (const char* op :
       {"turbo/", "turbo_encode/", "ldpc/", "ldpc_encode/", "qam_map/", "awgn/", "rayleigh/", "crc_attach/",
        "lte_combine/", "link/", "detect/", "uplink_frame/", "downlink_frame/"})
    EXPECT_NE(listed.find(op), std::string::npos) << op;
  EXPECT_EQ(listed.find("host_fed"), std::string::npos) << "nothing is copied on a CPU";
}

TEST_F(bench_command, records_what_it_measured) {
  const outcome o =
      run("'points=16/algorithm=max_log|turbo_encode|points=64/symbols=1200' --device cpu --threads 1 "
          "--repetitions 3 --min-time 0.002 --quiet --json r.json");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  for (const char* column : {"us a call", "spread", "Mb/s", "% bound", "us, 99 %"})
    EXPECT_NE(o.out.find(column), std::string::npos) << column;
  const json r = read("r.json");
  for (const char* key : {"format", "version", "commit", "date"}) EXPECT_TRUE(r.at(key).is_string()) << key;
  EXPECT_EQ(r["machine"]["threads"], 1);
  EXPECT_GE(r["waited_percent"].get<double>(), 0);
  for (const char* key : {"cpu", "cores", "instruction_set", "os", "gpus"})
    EXPECT_TRUE(r["machine"].contains(key)) << key;
  const json& c = r["ceilings"]["cpu"];
  EXPECT_GT(c["fp32"].get<double>(), 0);
  EXPECT_LT(c["fp32"].get<double>(), 1e15);
  for (const auto& [mix, rate] : c["fp32_by_mix"].items()) EXPECT_LE(rate, c["fp32"]) << mix;
  ASSERT_GE(c["memory"].size(), 10u);
  for (const json& m : c["memory"])
    for (const char* key : {"copy", "read"}) {
      EXPECT_GT(m[key].get<double>(), 0);
      EXPECT_LT(m[key].get<double>(), 1e14);
    }
  EXPECT_GT(c["launch_seconds"].get<double>(), 0);

  ASSERT_EQ(r["benchmarks"].size(), 4u);
  for (const json& b : r["benchmarks"]) {
    const std::string name = b["name"];
    EXPECT_TRUE(name.starts_with(b["op"].get<std::string>() + "/")) << name;
    EXPECT_EQ(b["device"], "cpu");
    EXPECT_EQ(b["repetitions"], 3);
    const json& s = b["seconds"];
    EXPECT_EQ(s["samples"].size(), 3u);
    EXPECT_GT(s["low"].get<double>(), 0) << name;
    EXPECT_LT(s["low"], s["median"]) << name;
    EXPECT_LT(s["median"], s["high"]) << name;
    EXPECT_GE(s["interquartile_range"].get<double>(), 0);
    EXPECT_EQ(b["figure"] == "small", s.contains("p99")) << name;
    const double items = b["items"], seconds = s["median"];
    EXPECT_NEAR(b["items_per_second"].get<double>() * seconds / items, 1, 1e-4);
    EXPECT_GT(b["mbps"].get<double>(), 0);
    EXPECT_GT(b["bytes"].get<double>(), 0);
    EXPECT_GE(b["flops"].get<double>(), 0);
    EXPECT_NEAR(b["percent_of_bound"].get<double>(), 100 * b["bound_seconds"].get<double>() / seconds,
                1e-3 * b["percent_of_bound"].get<double>());
    EXPECT_GT(b["percent_of_bound"].get<double>(), 0) << name;  // above 100 where ceilings met a busy machine
    EXPECT_TRUE(b["bound_by"] == "fp32" || b["bound_by"] == "memory") << name;
  }
  const json& axes = r["benchmarks"][0]["axes"];
  EXPECT_TRUE(axes.is_object());

  // What it wrote, compare reads.
  EXPECT_EQ(run("compare r.json r.json --check").code, 0);
}

TEST_F(bench_command, shows_what_detectors_sustain) {
  const outcome o =
      run("'detector=(mf|nway)/antennas=4x4/qam=16/(ways=2/)?figure=resident' --device cpu --threads 1 "
          "--repetitions 1 --min-time 0.001 --quiet");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("real-time budget, cpu"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("4x4 nway 16-QAM ways=2"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find(" MHz x "), std::string::npos) << o.out;
}

TEST_F(bench_command, measures_ceilings) {
  const outcome o = run("ceilings --device cpu --threads 1 --json c.json");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("fp32, best mix"), std::string::npos);
  EXPECT_GT(read("c.json")["ceilings"]["cpu"]["fp32"].get<double>(), 0);
  EXPECT_TRUE(read("c.json")["benchmarks"].empty());
}

TEST_F(bench_command, compares_records) {
  write("old.json", record_of({{"a", 100}, {"b", 100}, {"c", 100}, {"d", 100}, {"gone", 1}}));
  json after = record_of({{"a", 105}, {"b", 95}, {"c", 103.9}, {"d", 96.1}, {"new", 1}});
  write("new.json", after);
  const outcome o = run("compare old.json new.json --json verdicts.json");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("1 slower, 1 faster, 2 within noise"), std::string::npos) << o.out;
  EXPECT_EQ(o.out.find("warning"), std::string::npos) << o.out;
  const json v = read("verdicts.json");
  ASSERT_EQ(v["benchmarks"].size(), 4u);
  const char* expected[] = {"slower", "faster", "within noise", "within noise"};
  for (std::size_t i = 0; i < 4; i++) EXPECT_EQ(v["benchmarks"][i]["verdict"], expected[i]) << i;
  EXPECT_NEAR(v["benchmarks"][0]["change_percent"].get<double>(), 5, 1e-6);
  EXPECT_NEAR(v["benchmarks"][0]["noise_percent"].get<double>(), 4, 1e-6);
  EXPECT_EQ(v["only_old"], json::array({"gone"}));
  EXPECT_EQ(v["only_new"], json::array({"new"}));

  EXPECT_EQ(run("compare old.json new.json --check").code, 1);
  write("faster.json", record_of({{"a", 50}, {"b", 50}, {"c", 50}, {"d", 50}, {"gone", 1}, {"new", 1}}));
  EXPECT_EQ(run("compare old.json faster.json --check").code, 0);

  // What else differs is said.
  after["machine"]["threads"] = 2;
  after["ceilings"]["cpu"]["fp32"] = 0.8e11;
  after["benchmarks"][0] = {{"name", "a"}, {"error", "out of memory"}};
  write("other.json", after);
  const outcome other = run("compare old.json other.json --check");
  EXPECT_EQ(other.code, 1);
  EXPECT_NE(other.out.find("warning: the machines differ in threads: 1 and 2"), std::string::npos)
      << other.out;
  EXPECT_NE(other.out.find("warning: the ceiling fp32 of cpu moved by -20.0 %"), std::string::npos)
      << other.out;
  EXPECT_NE(other.out.find("failed"), std::string::npos) << other.out;
}

TEST_F(bench_command, checks_what_failed_or_is_missing) {
  const json good = record_of({{"a", 100}, {"b", 100}, {"c", 100}});
  json failing = record_of({{"a", 100}, {"c", 100}});
  failing["benchmarks"].push_back({{"name", "b"}, {"error", "out of memory"}});
  write("good.json", good);
  write("failing.json", failing);
  write("less.json", record_of({{"a", 100}}));
  write("empty.json", record_of({}));
  json other = record_of({{"a", 100}, {"b", 100}, {"c", 100}});
  other["benchmarks"].push_back({{"name", "d"}, {"error", "out of memory"}});
  write("other.json", other);
  const auto expect = [&](const std::string& files, int code, const std::string& summary) {
    const outcome o = run("compare " + files + " --check");
    EXPECT_EQ(o.code, code) << files << "\n" << o.err;
    EXPECT_TRUE(o.out.ends_with("\n" + summary + "\n")) << files << "\n" << o.out;
  };
  expect("good.json good.json", 0, "0 slower, 0 faster, 3 within noise");
  expect("good.json failing.json", 1, "0 slower, 0 faster, 2 within noise, 1 failed");
  expect("failing.json good.json", 0, "0 slower, 0 faster, 2 within noise");
  expect("failing.json failing.json", 1, "0 slower, 0 faster, 2 within noise, 1 failed");
  expect("good.json other.json", 1, "0 slower, 0 faster, 3 within noise, 1 failed");  // failed, not in OLD
  expect("good.json less.json", 1, "0 slower, 0 faster, 1 within noise, 2 missing");
  expect("good.json empty.json", 1, "0 slower, 0 faster, 0 within noise, 3 missing");
  expect("less.json good.json", 0, "0 slower, 0 faster, 1 within noise");
  EXPECT_EQ(run("compare good.json less.json").code, 0) << "without --check";
}

TEST_F(bench_command, refuses_broken_records) {
  const json good = record_of({{"a", 1}});
  write("good.json", good);
  const std::vector<std::pair<const char*, json>> changes{
      {"/format", 1},
      {"/format", "warpband bench 2"},
      {"/version", nullptr},
      {"/commit", 5},
      {"/date", nullptr},
      {"/machine", 3},
      {"/machine", json::object()},
      {"/waited_percent", "x"},
      {"/ceilings", json::array()},
      {"/ceilings/cpu", 5},
      {"/ceilings/cpu", json::object()},
      {"/ceilings/cpu/fp32", "x"},
      {"/ceilings/cpu/both_ways", nullptr},
      {"/ceilings/cpu/memory", 5},
      {"/ceilings/cpu/memory", {1}},
      {"/ceilings/cpu/memory/0/copy", "x"},
      {"/benchmarks", nullptr},
      {"/benchmarks", json::object()},
      {"/benchmarks", {1}},
      {"/benchmarks", {good["benchmarks"][0], good["benchmarks"][0]}},
      {"/benchmarks/0/name", 1},
      {"/benchmarks/0/seconds", json::array()},
      {"/benchmarks/0/seconds/median", 0},
      {"/benchmarks/0/seconds/low", "x"},
      {"/benchmarks/0/seconds/high", 1e-9}};
  const auto refused = [&] {
    for (const char* files : {"bad.json good.json", "good.json bad.json"}) {
      expect_error(1, std::string("compare ") + files, "bad.json: is not a record of warpband bench: ");
      EXPECT_EQ(content(folder_ / "err.txt").find("json.exception"), std::string::npos);
    }
  };
  for (const auto& [where, value] : changes) {
    SCOPED_TRACE(std::string(where) + " = " + value.dump());
    json bad = good;
    bad[json::json_pointer(where)] = value;
    write("bad.json", bad);
    refused();
  }
  for (const char* key : {"format", "version", "commit", "date", "machine", "ceilings", "benchmarks"}) {
    SCOPED_TRACE(key);
    json bad = good;
    bad.erase(key);
    write("bad.json", bad);
    refused();
  }
  const std::string deep(500000, '['), text = good.dump();
  for (const std::string& bad : {std::string(), std::string("[]"), std::string("{\"a\": 1e999}"),
                                 text.substr(0, text.size() / 2), deep, deep + std::string(500000, ']'),
                                 "{\"format\": " + deep, text.substr(0, text.size() - 1) + "\xff}"}) {
    SCOPED_TRACE(bad.substr(0, 40));
    std::ofstream(folder_ / "bad.json") << bad;
    refused();
  }
  expect_error(1, "compare good.json .", ".: cannot read: it is a folder");
}

TEST_F(bench_command, writes_json_to_standard_output) {
  write("a.json", record_of({{"a", 100}}));
  write("b.json", record_of({{"a", 200}}));
  const outcome o = run("compare a.json b.json --check --json -");
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_EQ(wb::testing::parse_json(o.out)["summary"]["slower"], 1);
  const outcome measured = run(
      "'qam_map/points=64/symbols=1200' --device cpu --threads 1 --repetitions 1 --min-time 0.001 --quiet "
      "--json -");
  ASSERT_EQ(measured.code, 0) << measured.err;
  EXPECT_GT(wb::testing::parse_json(measured.out)["benchmarks"].size(), 0u);
  const outcome limits = run("ceilings --device cpu --threads 1 --json -");
  ASSERT_EQ(limits.code, 0) << limits.err;
  EXPECT_TRUE(wb::testing::parse_json(limits.out)["ceilings"].contains("cpu"));
  EXPECT_FALSE(fs::exists(folder_ / "-"));
}

TEST_F(bench_command, refuses_in_one_line) {
  expect_error(2, "--list --json r.json", "--list makes no record");
  expect_error(2, "qam --profile 1 --json r.json", "--profile makes no record");
  for (const char* command : {"qam", "ceilings", "compare a.json b.json"})
    expect_error(2, std::string(command) + " --json ''", "--json \"\" names no file");
  expect_error(2, "'turbo('", "expected a regular expression");
  expect_error(2, "--min-time 0", "expected seconds");
  expect_error(2, "--energy 4", "expected seconds, 5 to 3600");
  expect_error(2, "qam --energy 5 --profile 1", "--energy does not go with");
  expect_error(2, "--repetitions 0", "expected an integer from 1 to 1000");
  expect_error(2, "--device gpu", "expected cpu or cuda:N");
  expect_error(2, "--repetition 3", "did you mean --repetitions?");
  expect_error(2, "turbo demap", "\"demap\" is not known here");
  expect_error(2, "turbo ceilings", "does not go before ceilings");
  expect_error(2, "compare a.json", "NEW");
  expect_error(1, "--device cuda:99", "\"cpu\" is always there");
  expect_error(2, "--list nothing_is_called_this", "no benchmark matches");
  expect_error(2, "nothing_is_called_this --device cpu", "no benchmark matches \"nothing_is_called_this\"");
  expect_error(1, "qam --device cpu --json missing/r.json", "its folder does not exist");
  expect_error(1, "ceilings --device cpu --json .", "it is a folder");
  expect_error(1, "compare missing.json missing.json", "missing.json: cannot read");
  write("sim.json", {{"curves", json::array()}});
  expect_error(1, "compare sim.json sim.json", "sim.json: is not a record of warpband bench");
  json broken = record_of({{"a", 1}});
  broken["benchmarks"][0].erase("seconds");
  write("broken.json", broken);
  expect_error(1, "compare broken.json broken.json", "broken.json: is not a record of warpband bench");
  write("ok.json", record_of({{"a", 1}}));
  expect_error(1, "compare ok.json ok.json --json ok.json", "is read by this run");
}

}  // namespace bench_test
#endif
