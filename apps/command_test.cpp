// The `warpband` command as a user meets it: exit codes, one line of error, files.
#include <unistd.h>

#include <regex>

#include <tests/command.hpp>
#include <tests/executors.hpp>
#include <tests/json.hpp>

namespace command_test {

namespace fs = std::filesystem;

using wb::testing::outcome;

class command : public ::testing::Test, protected wb::testing::command_folder {
 protected:
  void SetUp() override {
    write("quick.toml",
          "title = \"quick\"\ncode.k = 40\nsweep.ebn0_db = [0, 30]\nstop.frame_errors = 5\nstop.max_frames = "
          "50\n");
  }
};

TEST_F(command, help_teaches) {
  for (const std::string arguments : {"--help", "sim --help", "info --help", "-h"}) {
    const outcome o = run(arguments);
    EXPECT_EQ(o.code, 0);
    EXPECT_EQ(o.err, "");
    EXPECT_NE(o.out.find("Examples:"), std::string::npos) << o.out;
  }
  const outcome version = run("--version");
  EXPECT_EQ(version.code, 0);
  EXPECT_TRUE(version.out.starts_with("warpband ")) << version.out;
  const outcome keys = run("sim --help-scenario");
  EXPECT_EQ(keys.code, 0);
  EXPECT_NE(keys.out.find("extrinsic_scale"), std::string::npos);
}

TEST_F(command, examples_that_help_names_are_there) {
  const fs::path source = WARPBAND_SOURCE_DIR;
  if (!fs::exists(source / "examples")) GTEST_SKIP() << "no examples here";
  int found = 0;
  const auto check = [&](const std::string& text, const std::string& where) {
    const std::regex name("examples/[A-Za-z0-9_./-]*[A-Za-z0-9_]");
    for (std::sregex_iterator i(text.begin(), text.end(), name), end; i != end; ++i, found++)
      EXPECT_TRUE(fs::exists(source / i->str())) << where << ": " << i->str();
  };
  for (const std::string name : {"", "sim", "choose", "exit", "encode", "decode", "detect", "stream", "bench",
                                 "bench ceilings", "bench compare", "model", "info", "completion"})
    check(run(name + " --help").out, "warpband " + name + " --help");
  for (const fs::directory_entry& e : fs::recursive_directory_iterator(source / "examples"))
    if (e.path().extension() == ".toml") check(content(e.path()), e.path().string());
  EXPECT_GE(found, 6);
}

TEST_F(command, info_shows_the_machine) {
  const outcome text = run("info");
  EXPECT_EQ(text.code, 0);
  EXPECT_NE(text.out.find("scalar"), std::string::npos);
  const auto json = wb::testing::parse_json(run("info --json").out);
  EXPECT_EQ(json["cuda"], wb::has_cuda());
  EXPECT_EQ(json["cuda_devices"].size(), wb::cuda_devices().size());
  EXPECT_EQ(json["cpu"]["instruction_sets"].size(), wb::available_isas().size());
  EXPECT_EQ(wb::testing::parse_json(run("info --json", "WARPBAND_ISA=scalar").out)["cpu"]["instruction_set"],
            "scalar");
}

TEST_F(command, used_wrongly_is_2) {
  expect_error(2, "", "a command is missing");
  expect_error(2, "smi", "did you mean sim?");
  expect_error(2, "simulate quick.toml", "did you mean sim?");
  expect_error(2, "sim", "a scenario is missing");
  expect_error(2, "sim quick.toml --thread 2", "did you mean --threads?");
  expect_error(2, "sim quick.toml another.toml", "\"another.toml\" is not known here");
  expect_error(2, "sim quick.toml --threads -1", "--threads");
  expect_error(2, "sim quick.toml --threads many", "--threads");
  expect_error(2, "sim quick.toml --seed -1", "--seed");
  expect_error(2, "sim quick.toml -o", "--output");
  expect_error(2, "sim quick.toml --device gpu", "expected cpu or cuda:N");
  expect_error(2, "sim quick.toml --device cuda:x", "expected cpu or cuda:N");
  expect_error(2, "sim quick.toml --device cuda:0 --threads 2", "--threads is for --device cpu");
  expect_error(2, "sim quick.toml --plot p.gif", ".pdf, .png or .svg");
  expect_error(2, "sim quick.toml --metric per --plot p.png", "--metric");
  expect_error(2, "sim quick.toml --metric ber", "add --plot");
  expect_error(2, "sim quick.toml --metric bler --plot p.png", "no curve has HARQ or massive MIMO");
  expect_error(2, "sim quick.toml --metric harq --plot p.png", "no curve has HARQ");
  expect_error(2, "sim quick.toml --metric mutual-information --plot p.png",
               "no curve has modem.mutual_information = true");
  expect_error(2, "sim quick.toml -o - --csv -", "the same file");
  expect_error(2, "sim quick.toml --csv ''", "the name of the file is empty");
  expect_error(2, "plot", "a result is missing");
  expect_error(2, "plot quick.toml", "nothing to write");
  expect_error(2, "plot old.csv --csv table.csv", "no result is among the inputs");
  expect_error(2, "plot r.json -o p.gif", ".pdf, .png or .svg");
  expect_error(2, "plot r.json -o p.png --size large", "--size");
  expect_error(2, "plot r.json -o p.csv.png --metric per", "--metric");
  expect_error(2, "sim quick.toml -o p.png --plot p.png", "the same file");
}

TEST_F(command, failures_are_1_and_found_before_anything_runs) {
  expect_error(1, "sim missing.toml", "missing.toml: cannot read");
  expect_error(1, "sim .", "cannot read: it is a folder");
  write("unknown.toml", "sweep.ebn0_db = 1\ncode.kk = 40\n");
  expect_error(1, "sim unknown.toml", "unknown.toml: line 2: unknown key code.kk: did you mean code.k?");
  write("windows.toml", "sweep.ebn0_db = 1\ncode.k = 40\ndecoder.windows = 6\n");
  expect_error(1, "sim windows.toml", "line 3: decoder.windows = 6 is not allowed: expected 1 to k/8 = 5");
  expect_error(1, "sim quick.toml -o missing/r.json",
               "missing/r.json: cannot write: its folder does not exist");
  expect_error(1, "sim quick.toml -o .", "cannot write: it is a folder");
  expect_error(1, "sim quick.toml --plot missing/p.png", "missing/p.png: cannot write");
  expect_error(1, "sim quick.toml --plot p.png --reference none.csv:old",
               "none.csv: cannot read the reference");
  expect_error(1, "sim quick.toml --plot p.png", "set WARPBAND_PYTHON", "WARPBAND_PYTHON=/missing/python");
  expect_error(1, "sim quick.toml --device cuda:99", "\"cpu\" is always there");
  expect_error(1, "sim quick.toml -o quick.toml", "is read by this run");
  expect_error(1, "plot missing.json -o p.png", "missing.json: cannot read the result");
  expect_error(1, "plot quick.toml none.csv -o p.png", "none.csv: cannot read the reference");
  expect_error(1, "plot quick.toml -o p.png", "set WARPBAND_PYTHON", "WARPBAND_PYTHON=/missing/python");
  expect_error(1, "plot quick.toml --csv quick.toml", "is read by this run");
  expect_error(1, "sim quick.toml -o ./../" + folder_.filename().string() + "/quick.toml",
               "is read by this run");
  expect_error(1, "sim quick.toml", "WARPBAND_ISA", "WARPBAND_ISA=mmx");
  EXPECT_FALSE(fs::exists(folder_ / "p.png"));
}

TEST_F(command, runs_a_scenario) {
  const outcome o = run("sim quick.toml -o r.json --threads 2 --quiet");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  for (const char* column :
       {"Es/N0", "Eb/N0", "frames", "bit errors", "BER", "FER", "95% interval", "Mb/s", "time"})
    EXPECT_NE(o.out.find(column), std::string::npos) << column;
  const auto r = wb::testing::parse_json(content(path("r.json")));
  EXPECT_EQ(r["complete"], true);
  EXPECT_EQ(r["machine"]["threads"], 2);
  const auto& points = r["curves"][0]["points"];
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0]["frame_errors"], 5);
  EXPECT_EQ(points[1]["frame_errors"], 0);
  EXPECT_EQ(points[1]["frames"], 50);
  // Nothing of this machine's folders is in it.
  EXPECT_EQ(content(path("r.json")).find(folder_.string()), std::string::npos);

  // The same counts again, whatever the threads; others with another seed.
  run("sim quick.toml -o again.json --threads 1");
  const auto again = wb::testing::parse_json(content(path("again.json")))["curves"][0]["points"];
  EXPECT_EQ(again[0]["frames"], points[0]["frames"]);
  EXPECT_EQ(again[0]["bit_errors"], points[0]["bit_errors"]);
  run("sim quick.toml -o other.json --seed 2");
  const auto other = wb::testing::parse_json(content(path("other.json")));
  EXPECT_EQ(other["curves"][0]["config"]["seed"], 2);
  EXPECT_NE(other["curves"][0]["points"][0]["bit_errors"], points[0]["bit_errors"]);
}

TEST_F(command, replaces_no_result_unasked) {
  ASSERT_EQ(run("sim quick.toml -o r.json --quiet").code, 0);
  const std::string before = content(path("r.json"));
  expect_error(1, "sim quick.toml -o r.json",
               "r.json: is there already: warpband sim --resume r.json goes on with it, --force replaces it");
  EXPECT_EQ(content(path("r.json")), before);
  EXPECT_EQ(run("sim quick.toml -o r.json --quiet --force --seed 5").code, 0);
  EXPECT_NE(content(path("r.json")), before);
  EXPECT_EQ(run("sim --resume r.json --quiet").code, 0);  // that is this run's
  write("mine.txt", "mine");
  expect_error(1, "sim quick.toml -o mine.txt", "mine.txt: is there already: --force replaces it");
  expect_error(1, "sim --resume r.json -o mine.txt", "mine.txt: is there already");
  EXPECT_EQ(content(path("mine.txt")), "mine");
  write("empty.json", "");
  EXPECT_EQ(run("sim quick.toml -o empty.json --quiet").code, 0);
}

TEST_F(command, is_a_part_of_pipelines) {
  const auto with = [&](const std::string& line) {
    const std::string whole = "cd '" + folder_.string() + "' && w='" WARPBAND_COMMAND "' && " + line;
    return WEXITSTATUS(
        std::system(("bash -c '" + std::regex_replace(whole, std::regex("'"), "'\\''") + "'").c_str()));
  };
  ASSERT_EQ(run("sim quick.toml -o r.json --quiet").code, 0);
  const auto points = wb::testing::parse_json(content(path("r.json")))["curves"][0]["points"];
  // The scenario from standard input, the result to standard output, the table beside.
  ASSERT_EQ(with("$w sim - --json - --quiet < quick.toml > piped.json 2> table.txt"), 0);
  const auto piped = wb::testing::parse_json(content(path("piped.json")));
  EXPECT_EQ(piped["curves"][0]["points"][0]["bit_errors"], points[0]["bit_errors"]);
  EXPECT_NE(content(path("table.txt")).find("95% interval"), std::string::npos);
  EXPECT_EQ(with("echo code.kk = 1 | $w sim - 2> err.txt"), 1);
  EXPECT_EQ(content(path("err.txt")),
            "warpband: error: standard input: line 1: unknown key code.kk: did you mean code.k?\n");
  // A table as CSV, whole and on standard output.
  ASSERT_EQ(with("$w sim quick.toml --csv - --quiet > piped.csv 2> table.txt && $w sim quick.toml --csv "
                 "t.csv > out.txt"),
            0);
  const std::string csv = content(path("t.csv"));
  EXPECT_EQ(content(path("piped.csv")), csv);
  EXPECT_TRUE(csv.starts_with(
      "label,ebn0_db,snr_db,esn0_db,frames,bits,bit_errors,frame_errors,ber,ber_low,ber_high,fer,"
      "fer_low,fer_high\nquick,0,"))
      << csv;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  // Who reads the table leaves: the result is all there. Without a result there is nothing to go on for.
  write("rows.toml",
        "code.k = 40\nsweep.ebn0_db = { from = 0, to = 3, step = 0.1 }\nstop.max_frames = 2000\n");
  EXPECT_EQ(with("$w sim rows.toml -o head.json 2> err.txt | head -n 2 > out.txt; exit ${PIPESTATUS[0]}"), 0)
      << content(path("err.txt"));
  EXPECT_EQ(wb::testing::parse_json(content(path("head.json")))["complete"], true);
  // The third descriptor is the only reader, and it is closed before anything is written.
  EXPECT_EQ(with("mkfifo pipe && exec 3<> pipe 4> pipe 3>&- && $w sim rows.toml 2> err.txt >&4"), 1);
  EXPECT_NE(content(path("err.txt")).find("nobody reads the table"), std::string::npos)
      << content(path("err.txt"));
}

TEST_F(command, shows_the_interval_there_is) {
  const auto title = [&](const std::string& toml) {
    write("one.toml", toml + "\nstop.max_frames = 50\nstop.frame_errors = 0\n");
    const std::string out = run("sim one.toml --quiet").out;
    EXPECT_NE(out.find(" .. "), std::string::npos) << out;
    return out.substr(out.find("95% interval of "), 19);
  };
  EXPECT_EQ(title("code.k = 40\nsweep.ebn0_db = 1"), "95% interval of FER");
  EXPECT_EQ(title("code.type = \"none\"\nsweep.ebn0_db = 1"), "95% interval of BER");
  // Bits of a symbol, or of a codeword in space and time, fade together: the frames have an interval.
  EXPECT_EQ(
      title("code = { type = \"none\", k = 40 }\nmodem.modulation = \"qpsk\"\nchannel.type = \"rayleigh\"\n"
            "sweep.ebn0_db = 1"),
      "95% interval of FER");
  EXPECT_EQ(
      title("code = { type = \"none\", k = 40 }\nmodem.modulation = \"qpsk\"\nchannel.type = \"rayleigh\"\n"
            "stbc.type = \"alamouti\"\nsweep.ebn0_db = 1"),
      "95% interval of FER");
}

TEST_F(command, sweeps_settings_and_searches_for_a_rate) {
  write("swept.toml",
        "code.k = 40\nsweep.decoder.iterations = [1, 4]\nsweep.ebn0_db = [0, 1]\nstop.max_frames = 200\n");
  ASSERT_EQ(run("sim swept.toml -o s.json --csv s.csv --quiet").code, 0);
  const auto s = wb::testing::parse_json(content(path("s.json")));
  ASSERT_EQ(s["curves"].size(), 2u);
  EXPECT_EQ(s["curves"][1]["label"], "swept, iterations = 4");
  EXPECT_EQ(s["curves"][1]["config"]["decoder"]["iterations"], 4);
  EXPECT_EQ(s["curves"][1]["config"]["sweep"]["parameters"]["decoder.iterations"], 4);
  EXPECT_TRUE(content(path("s.csv")).starts_with("label,decoder.iterations,ebn0_db"));
  EXPECT_EQ(run("sim --resume s.json --max-frames 300 --quiet").code, 0);

  write("target.toml",
        "code.type = \"none\"\ncode.k = 100\nsweep.target_fer = 0.5\nsweep.target_width_db = 0.5\n");
  const outcome o = run("sim target.toml -o t.json --quiet");
  ASSERT_EQ(o.code, 0) << o.err;
  const auto t = wb::testing::parse_json(content(path("t.json")));
  const auto target = t["curves"][0]["target"];
  EXPECT_EQ(target["outcome"], "reached");
  // Half of the frames fail where (1 - Q(sqrt(2 Eb/N0)))^100 = 1/2: Q = 0.0069075, Eb/N0 = 4.816 dB.
  EXPECT_LT(target["low_db"], 4.8156);
  EXPECT_GT(target["high_db"], 4.8156);
  EXPECT_LE(target["high_db"].get<double>() - target["low_db"].get<double>(), 0.5);
  EXPECT_NE(o.out.find("FER 0.5: Eb/N0 = "), std::string::npos) << o.out;
  const std::string before = content(path("t.json"));
  EXPECT_EQ(run("sim --resume t.json --quiet").code, 0);  // it is found already
  EXPECT_EQ(content(path("t.json")), before);
}

TEST_F(command, interrupted_keeps_what_is_finished) {
  write("long.toml",
        "code.k = 40\nsweep.ebn0_db = [0, 30]\nstop.frame_errors = 5\nstop.max_frames = 1000000000000\n");
  // Interrupted, once the first point is in the file, by what started it.
  write("interrupted.sh",
        "(until grep -q '\"stopped_by\"' r.json 2> /dev/null; do kill -0 $$ || exit; sleep 0.05; done\n"
        "kill -TERM $$) &\n"
        "exec \"$@\"\n");
  const outcome o = run("sim long.toml -o r.json --quiet", "sh interrupted.sh");
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_EQ(
      o.err,
      "warpband: error: interrupted: 1 of 2 points finished, r.json holds the state: warpband sim --resume "
      "r.json goes on\n");
  const auto r = wb::testing::parse_json(content(path("r.json")));
  EXPECT_EQ(r["complete"], false);
  EXPECT_EQ(r["curves"][0]["points"].size(), 1u);
}

TEST_F(command, draws_through_a_python) {
  // One that notes what it is told.
  write("python",
        "#!/bin/sh\n[ \"$2\" = -c ] && exit 0\nprintf '%s\\n' \"$@\" > told.txt\n[ ! -e refuse ]\n");
  fs::permissions(folder_ / "python", fs::perms::owner_all);
  write("plot.py", "");
  write("old.csv", "ebn0_db,ber,fer\n0,0.1,1\n");
  const std::string with = "WARPBAND_PYTHON=./python WARPBAND_PLOT=./plot.py";
  const outcome o =
      run("sim quick.toml -o r.json --plot p.svg --reference 'old.csv:as it was' --metric fer", with);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(content(path("told.txt")),
            "-I\n./plot.py\n--metric=fer\n--title=quick\n--size=screen\n--out=p.svg\n--\nr.json\nold.csv:as "
            "it was\n");
  // `plot` hands on what it has read and checked, under the result's own name.
  EXPECT_EQ(run("plot r.json old.csv -o f.pdf --csv t.csv --size one-column --x ebn0_db", with).code, 0);
  const std::string
      told = content(path("told.txt")),
      begin =
          "-I\n./"
          "plot.py\n--metric=both\n--title=\n--size=one-column\n--x=ebn0_db\n--out=f.pdf\n--csv=t.csv\n--\n";
  EXPECT_TRUE(told.starts_with(begin)) << told;
  EXPECT_TRUE(told.ends_with("/r.json\nold.csv\n")) << told;
  EXPECT_FALSE(told.ends_with("\nr.json\nold.csv\n")) << told;
  // Without -o the result is a temporary file.
  fs::create_directory(folder_ / "tmp");
  EXPECT_EQ(run("sim quick.toml --plot p.png", with + " TMPDIR=" + path("tmp")).code, 0);
  EXPECT_NE(content(path("told.txt")).find(path("tmp")), std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder_ / "tmp"));
  // A plot that fails leaves the result.
  write("refuse", "");
  const outcome refused = run("sim quick.toml -o kept.json --plot p.png", with);
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.err, "warpband: error: p.png: was not written: plot.py ended with exit code 1\n");
  // One line of plot.py is the line of the command.
  write("python",
        "#!/bin/sh\n[ \"$2\" = -c ] && exit 0\necho 'plot.py: old.csv:7: expected numbers' >&2\nexit 1\n");
  EXPECT_EQ(run("sim quick.toml -o other.json --plot p.png", with).err,
            "warpband: error: old.csv:7: expected numbers\n");
  EXPECT_EQ(wb::testing::parse_json(content(path("kept.json")))["complete"], true);
}

TEST_F(command, reproduces_through_a_python) {
  write("python",
        "#!/bin/sh\n[ \"$2\" = -c ] && exit 0\nprintf '%s\\n' \"$@\" \"$WARPBAND_COMMAND\" > told.txt\necho "
        "a row\nexit 3\n");
  fs::permissions(folder_ / "python", fs::perms::owner_all);
  write("reproduce", "");
  const outcome o = run("reproduce li fig3.1 --quick --device cuda:0 --out folder",
                        "env -u WARPBAND_COMMAND WARPBAND_PYTHON=./python WARPBAND_REPRODUCE=./reproduce");
  EXPECT_EQ(o.code, 3) << o.err;  // that of the program
  EXPECT_EQ(o.out, "a row\n");
  EXPECT_EQ(content(path("told.txt")),
            "-I\n./reproduce\n--device=cuda:0\n--out=folder\n--quick\n--\nli\nfig3.1\n" WARPBAND_COMMAND
            "\n");
  expect_error(1, "reproduce", "WARPBAND_REPRODUCE names a file that is not there",
               "WARPBAND_REPRODUCE=/missing");
}

TEST_F(command, numbers_are_decimal) {
  EXPECT_NE(run("sim quick.toml --quiet --threads 010").out.find("10 threads"), std::string::npos);
  run("sim quick.toml --quiet --seed 10 -o a.json");
  run("sim quick.toml --quiet --seed 010 -o b.json");
  const auto a = wb::testing::parse_json(content(path("a.json"))),
             b = wb::testing::parse_json(content(path("b.json")));
  EXPECT_EQ(a["curves"][0]["points"][0]["bit_errors"], b["curves"][0]["points"][0]["bit_errors"]);
  EXPECT_EQ(a["curves"][0]["config"], b["curves"][0]["config"]);
}

TEST_F(command, tells_when_stdout_is_full) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const std::string line = "'" WARPBAND_COMMAND "' info > /dev/full 2> '" + path("err.txt") + "'";
  const int status = std::system(line.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_NE(content(path("err.txt")).find("cannot write to standard output"), std::string::npos);
}

}  // namespace command_test
