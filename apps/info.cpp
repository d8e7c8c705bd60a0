#include "command.hpp"
#include "python.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include <warpband/core/error.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/exec/cuda.hpp>
#include <warpband/exec/ranks.hpp>
#include <warpband/io/hdf5.hpp>
#include <warpband/io/json_lines.hpp>
#include <warpband/link/result.hpp>

#if defined(__clang__)
#define COMPILER "Clang " __clang_version__
#else
#define COMPILER "GCC " __VERSION__
#endif

namespace {

/// What plot and reproduce would run.
struct python_programs {
  std::string python = find_python(), plot = found("WARPBAND_PLOT", "plot.py", "apps/plot.py"),
              reproduce = found("WARPBAND_REPRODUCE", "reproduce", "python/warpband/reproduce");

 private:
  static std::string found(const char* variable, const char* installed, const char* in_source) {
    try {
      return find_program(variable, installed, in_source);
    } catch (const wb::error&) {
      return "none found";
    }
  }
};

/// What reads HDF5 files, and what keeps it from doing anything else.
struct hdf5_reading {
  nlohmann::ordered_json record;  // null without HDF5
  std::string text = "none: this build has no HDF5";

#if WARPBAND_HDF5
  hdf5_reading() {
    try {
      const wb::hdf5_program p = wb::about_hdf5_program();
      record = {
          {"program", p.path}, {"library", p.library}, {"seccomp", p.seccomp}, {"landlock", p.landlock}};
      text = fmt::format(
          "read by {} with HDF5 {}, {}, {}", p.path, p.library,
          p.seccomp ? "confined by seccomp" : "NOT confined by seccomp, which this system lacks",
          p.landlock > 0 ? fmt::format("by Landlock {}", p.landlock) : "without Landlock, which it lacks");
    } catch (const wb::error& e) {
      record = {{"error", e.what()}};
      text = std::string("not read: ") + e.what();
    }
  }
#endif
};

int run_info(bool as_json) {
  const std::string chosen = wb::isa_name(wb::cpu({.threads = 1, .instructions = {}}).instructions());
  std::vector<std::string> sets;
  for (const wb::isa i : wb::available_isas()) sets.push_back(wb::isa_name(i));
  const unsigned cores = std::thread::hardware_concurrency();
  const auto devices = wb::cuda_devices();
  const python_programs programs;
  const hdf5_reading hdf5;

  if (as_json) {
    nlohmann::ordered_json out{
        {"version", wb::version()},
        {"commit", wb::commit()},
        {"compiler", COMPILER},
        {"cuda", wb::has_cuda()},
        {"mpi", wb::ranks::built()},
        {"cpu",
         {{"model", wb::cpu_model()},
          {"cores", cores},
          {"instruction_sets", sets},
          {"instruction_set", chosen}}},
        {"python",
         {{"program", programs.python}, {"plot", programs.plot}, {"reproduce", programs.reproduce}}},
        {"hdf5", hdf5.record},
        {"cuda_devices", nlohmann::ordered_json::array()}};
    for (const auto& d : devices)
      out["cuda_devices"].push_back({{"device", fmt::format("cuda:{}", d.index)},
                                     {"name", d.name},
                                     {"memory_bytes", d.memory_bytes},
                                     {"multiprocessors", d.multiprocessors},
                                     {"shared_bytes", d.shared_bytes},
                                     {"compute_capability", fmt::format("{}.{}", d.major, d.minor)}});
    print_json(wb::json_lines(out));
    return 0;
  }

  print_to(stdout, "version           {} (commit {})\n", wb::version(), wb::commit());
  print_to(stdout, "build             {}, {}, {}\n", COMPILER, wb::has_cuda() ? "with CUDA" : "without CUDA",
           wb::ranks::built() ? "with MPI" : "without MPI");
  print_to(stdout, "CPU               {}, {} core{}\n", wb::cpu_model(), cores, cores == 1 ? "" : "s");
  print_to(stdout, "instruction sets  {} (in use: {}; WARPBAND_ISA forces another)\n", fmt::join(sets, ", "),
           chosen);
  print_to(stdout, "Python            {}, plots with {}, reproduces with {}\n", programs.python,
           programs.plot, programs.reproduce);
  print_to(stdout, "HDF5 files        {}\n", hdf5.text);
  if (!wb::has_cuda())
    print_to(stdout, "CUDA devices      none: this build has no CUDA (the preset \"cuda\" builds it)\n");
  else if (devices.empty())
    print_to(stdout, "CUDA devices      none found\n");
  for (const auto& d : devices)
    print_to(stdout, "{:17} {}, {:.1f} GiB, {} SMs, compute capability {}.{}\n",
             fmt::format("cuda:{}", d.index), d.name, static_cast<double>(d.memory_bytes) / (1 << 30),
             d.multiprocessors, d.major, d.minor);
  return 0;
}

constexpr const char* info_footer = R"(Examples:
  warpband info                   version, build, CPU, instruction sets, CUDA devices, what reads HDF5 files
  warpband info --json            the same for programs
  WARPBAND_ISA=avx2 warpband info    with a forced instruction set, as `warpband sim` would run)";

}  // namespace

command add_info(CLI::App& app) {
  CLI::App* info = app.add_subcommand("info", "Show version, build, CPU and CUDA devices");
  info->footer(info_footer);
  const auto as_json = std::make_shared<bool>(false);
  info->add_flag("--json", *as_json, "In JSON");
  return {info, [as_json] { return run_info(*as_json); }};
}
