// Completion scripts, as a shell runs them.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <tests/command.hpp>

namespace completion_test {

using wb::testing::outcome;

outcome shell(const std::string& program, const std::string& script) {
  std::string line = program + " -c '";
  for (const char c : script) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
  FILE* pipe = popen((line + "' 2>&1").c_str(), "r");
  std::string out;
  std::array<char, 4096> text;
  while (const std::size_t n = std::fread(text.data(), 1, text.size(), pipe)) out.append(text.data(), n);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, out};
}

bool there_is(const std::string& program) {
  return std::system(("command -v " + program + " > /dev/null 2>&1").c_str()) == 0;
}

/// What bash offers for these words, the last one under the cursor.
std::string offered(const std::string& words) {
  const outcome o =
      shell("bash", "source <('" WARPBAND_COMMAND "' completion bash)\nCOMP_WORDS=(" + words +
                        ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_warpband\necho \"${COMPREPLY[*]}\"");
  EXPECT_EQ(o.code, 0) << o.out;
  return o.out;
}

TEST(completion, of_bash) {
  if (!there_is("bash")) GTEST_SKIP() << "no bash here";
  EXPECT_EQ(offered("warpband si"), "sim\n");
  EXPECT_EQ(offered("warpband de"), "decode detect\n");
  EXPECT_EQ(offered("warpband sim --met"), "--metric\n");
  EXPECT_EQ(offered("warpband sim --metric ''"),
            "ber fer both bler throughput harq required mutual_information\n");
  EXPECT_EQ(offered("warpband decode in.h5 --algorithm m"), "max-log-map min-sum\n");
  EXPECT_EQ(offered("warpband encode --code ''"),
            "lte-turbo lte-transport wimax-ldpc wifi-ldpc nr-ldpc nr-dlsch nr-ulsch qc-ldpc ldpc dvb-s2 conv "
            "polar ctc ctc-harq\n");
  EXPECT_EQ(offered("warpband decode --code conv --termination ''"), "zero-tail zero tail-biting\n");
  EXPECT_EQ(offered("warpband decode --precision i"), "int16 int8\n");
  EXPECT_EQ(offered("warpband decode --precision b"), "bfloat16\n");
  EXPECT_EQ(offered("warpband decode --algorithm = l"), "log-map log-map-table\n");
  EXPECT_EQ(offered("warpband detect --detector ''"),
            "ml mf zf mmse ot mtt kbest nway sphere pic ep uplink soft-uplink alamouti silver pair golden "
            "sfbc fstd\n");
  EXPECT_EQ(offered("warpband detect in.h5 --detector = kb"), "kbest\n");
  EXPECT_EQ(offered("warpband detect in.h5 --qam 2"), "256\n");
  EXPECT_EQ(offered("warpband detect --uses"), "--uses-per-channel\n");
  EXPECT_EQ(offered("warpband sim --device cu"), "cuda:0\n");
  EXPECT_EQ(offered("warpband sim --device cuda :"), ":0\n");
  EXPECT_EQ(offered("warpband sim --threads ''"), "\n");
  EXPECT_EQ(offered("warpband completion f"), "fish\n");
  EXPECT_EQ(offered("warpband --vers"), "--version\n");
  EXPECT_EQ(offered("warpband nonsense --x"), "\n");
  EXPECT_EQ(offered("warpband sim /dev/nul"), "/dev/null\n");
  EXPECT_EQ(offered("warpband sim --resume /dev/nul"), "/dev/null\n");
#if defined(WARPBAND_HAS_BENCH)
  EXPECT_EQ(offered("warpband bench /dev/nul"), "\n");
  EXPECT_EQ(offered("warpband bench comp"), "compare\n");
  EXPECT_EQ(offered("warpband bench compare --ch"), "--check\n");
#endif
  EXPECT_EQ(offered("warpband sim -o /dev/nul"), "/dev/null\n");
}

TEST(completion, of_bash_offers_files_that_are_meant) {
  if (!there_is("bash")) GTEST_SKIP() << "no bash here";
  const auto in_folder = [](const std::string& words) {
    return shell("bash",
                 "folder=$(mktemp -d) && cd \"$folder\" && touch a.toml a.json a.h5 a.csv a.png && mkdir "
                 "afolder\n"
                 "source <('" WARPBAND_COMMAND "' completion bash)\nCOMP_WORDS=(" +
                     words +
                     ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_warpband\n"
                     "printf '%s\\n' \"${COMPREPLY[@]}\" | LC_ALL=C sort | tr '\\n' ' '; rm -r \"$folder\"")
        .out;
  };
  EXPECT_EQ(in_folder("warpband sim a"), "a.toml afolder ");
  EXPECT_EQ(in_folder("warpband stream a"), "a.toml afolder ");
  EXPECT_EQ(in_folder("warpband sim --resume a"), "a.json afolder ");
  EXPECT_EQ(in_folder("warpband sim --reference a"), "a.csv afolder ");
  EXPECT_EQ(in_folder("warpband plot a"), "a.csv a.json afolder ");
  EXPECT_EQ(in_folder("warpband decode a"), "a.h5 afolder ");
  EXPECT_EQ(in_folder("warpband sim -o a"), "a.csv a.h5 a.json a.png a.toml afolder ");
}

TEST(completion, of_bash_keeps_names_with_spaces_whole) {
  if (!there_is("bash")) GTEST_SKIP() << "no bash here";
  const outcome o =
      shell("bash", "folder=$(mktemp -d) && cd \"$folder\" && touch 'my file.h5'\nsource <('" WARPBAND_COMMAND
                    "' completion bash)\nCOMP_WORDS=(warpband decode my)\nCOMP_CWORD=2\n_warpband\n"
                    "printf '[%s]' \"${COMPREPLY[@]}\"; rm -r \"$folder\"");
  EXPECT_EQ(o.out, "[my file.h5]");
}

#if defined(WARPBAND_HAS_BENCH)
TEST(completion, of_zsh_gives_a_place_once) {
  const std::string script = shell("sh", "'" WARPBAND_COMMAND "' completion zsh").out;
  const std::size_t begin = script.find("_warpband_bench() {"), end = script.find("\n}\n", begin);
  ASSERT_NE(begin, std::string::npos);
  const std::string bench = script.substr(begin, end - begin);
  EXPECT_NE(bench.find("'1: :->command'"), std::string::npos) << bench;
  EXPECT_EQ(bench.find("':FILTER"), std::string::npos) << bench;
}
#endif

TEST(completion, other_shells_take_their_scripts) {
  bool any = false;
  for (const std::string other : {"zsh", "fish"}) {
    if (!there_is(other)) continue;
    any = true;
    const outcome o =
        shell("sh", "file=$(mktemp) && '" WARPBAND_COMMAND "' completion " + other + " > \"$file\" && " +
                        other + " -n \"$file\"; code=$?; rm -f \"$file\"; exit $code");
    EXPECT_EQ(o.code, 0) << o.out;
    EXPECT_EQ(o.out, "");
  }
  if (!any) GTEST_SKIP() << "neither zsh nor fish here";
}

TEST(completion, knows_every_command) {
  const std::string help = shell("sh", "'" WARPBAND_COMMAND "' --help").out;
  for (const std::string shell_name : {"bash", "zsh", "fish"}) {
    const std::string script = shell("sh", "'" WARPBAND_COMMAND "' completion " + shell_name).out;
    for (const char* name : {"sim", "plot", "choose", "exit", "encode", "decode", "detect", "bench", "model",
                             "reproduce", "tables", "receive", "generate", "info", "completion"}) {
      EXPECT_NE(help.find(std::string("  ") + name + " "), std::string::npos) << name;
      EXPECT_NE(script.find(name), std::string::npos) << shell_name << " " << name;
    }
    EXPECT_NE(script.find("iterations"), std::string::npos) << shell_name;
    EXPECT_NE(script.find("survivors"), std::string::npos) << shell_name;
    EXPECT_NE(script.find("order"), std::string::npos) << shell_name;
    EXPECT_NE(script.find("ml mf zf mmse ot mtt kbest nway sphere"), std::string::npos) << shell_name;
  }
  EXPECT_EQ(shell("sh", "'" WARPBAND_COMMAND "' completion tcsh").code, 2);
  EXPECT_EQ(shell("sh", "'" WARPBAND_COMMAND "' completion").code, 2);
}

}  // namespace completion_test
