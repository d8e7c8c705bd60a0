// `warpband reproduce`: starts the Python package that makes figures and tables of the four documents again,
// and measures the uplink beside TS 38.104.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "python.hpp"

namespace {

struct reproduce_options {
  std::vector<std::string> targets;
  std::string device, out, csi;
  bool quick = false, stored = false, pages = false;
};

constexpr const char* reproduce_footer =
    R"(Without arguments: lists the 41 figures and tables, and 5 findings of our own. With them: runs what they need, and
writes for each row CSV, PNG and SVG, and in page.md the document's statements beside the results. All of it is in the
Python package python/warpband/reproduce.

Examples:
  warpband reproduce                              all rows, with their titles
  warpband reproduce wu2010 fig4.5                one figure, on this machine's cores
  warpband reproduce li --device cuda:0           all of a document, on a GPU
  warpband reproduce wu2012 table1 --stored       of the stored results, without running anything
  warpband reproduce all --quick                  all rows with few frames: shows curves, gives no verdicts on them
  warpband reproduce ts38104                      the uplink beside TS 38.104: 335 rows, not part of `all`
  warpband reproduce ts38104 8.3.5 --stored       rows of a section or table, with margins and intervals

With --device cpu, results of benchmarks that need a GPU are those stored; counters of the profiler always are.
Benchmarks need a command that was built with -DWARPBAND_BENCH=ON. Without it, stored ones are used: the run
begins with a list of them, and so does page.md, which is written after each row.
It needs the source tree, and Python with matplotlib: scripts/setup.sh installs it; WARPBAND_PYTHON names another Python.
Runs of ts38104 need the Python package beside the command (-DWARPBAND_PYTHON=ON) instead. DIR/ts38104 keeps each row, and
a run that was ended goes on from there.)";

int run_reproduce(const reproduce_options& o) {
  const std::string python = find_python();
  const bool draws = std::ranges::find(o.targets, "ts38104") == o.targets.end();
  if (!o.targets.empty() && draws) check_matplotlib(python, "reproduce");
  std::error_code status;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", status).string();
  if (!status) setenv("WARPBAND_COMMAND", self.c_str(), 0);  // what it runs is this program
  std::vector<std::string> command{
      python, find_program("WARPBAND_REPRODUCE", "reproduce", "python/warpband/reproduce")};
  for (const auto& [name, value] : {std::pair{"--device=", o.device}, {"--out=", o.out}, {"--csi=", o.csi}})
    if (!value.empty()) command.push_back(name + value);
  if (o.quick) command.push_back("--quick");
  if (o.stored) command.push_back("--stored");
  if (o.pages) command.push_back("--pages");
  command.push_back("--");
  command.insert(command.end(), o.targets.begin(), o.targets.end());
  return run_python(command, stdout_of::child);
}

}  // namespace

command add_reproduce(CLI::App& app) {
  CLI::App* reproduce =
      app.add_subcommand("reproduce", "Figures and tables of the four documents, made again");
  reproduce->footer(reproduce_footer);
  const auto o = std::make_shared<reproduce_options>();
  reproduce
      ->add_option("WHAT", o->targets,
                   "wu2010, wu2012, li, bollapalli, all, ts38104; or rows: fig4.5, table5.1, 8.3.5")
      ->type_name("NAME:{wu2010,wu2012,li,bollapalli,all,ts38104}");
  reproduce->add_option("--device", o->device, "Where to run: cpu (default) or cuda:N")->type_name("NAME");
  reproduce->add_flag("--quick", o->quick,
                      "Few frames, whose error rates are drawn and not judged; benchmarks as stored");
  reproduce->add_flag("--stored", o->stored, "Take the results in curves/ and bench/results/, run nothing");
  reproduce
      ->add_option("--out", o->out,
                   "Where CSV, PNG, SVG and page.md go; default build/reproduce in the source tree")
      ->type_name("DIR");
  reproduce->add_flag("--pages", o->pages, "With --stored: write the tables of docs/ and their figures");
  reproduce
      ->add_option(
          "--csi", o->csi,
          "Channel estimates of li fig3.4 and fig3.5; {size} stands for 68x4 and 84x3; default: simulated")
      ->type_name("FILE");
  return {reproduce, [o] { return run_reproduce(*o); }};
}
