#pragma once
// Every backend that this machine can run: the tests enumerate them here, so that a new one cannot escape.
#include <cstdlib>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <warpband/exec/cpu.hpp>
#include <warpband/exec/cuda.hpp>

namespace wb::testing {

struct backend {
  std::string name;  // "avx512", "cuda:0", ...
  std::unique_ptr<executor> (*make)(const std::string& name, int threads);
  std::unique_ptr<executor> open(int threads = 1) const { return make(name, threads); }
};

inline void PrintTo(const backend& b, std::ostream* out) { *out << b.name; }

/// One entry per CPU instruction set of this machine, then one per CUDA device. At least one CUDA entry,
/// which tests skip visibly with WB_SKIP_WITHOUT_DEVICE.
inline std::vector<backend> all_backends() {
  std::vector<backend> backends;
  for (const isa i : available_isas())
    backends.push_back({isa_name(i), [](const std::string& name, int threads) -> std::unique_ptr<executor> {
                          return std::make_unique<cpu>(
                              cpu_options{.threads = threads, .instructions = isa_from_name(name)});
                        }});
  const auto make_cuda = [](const std::string& name, int) -> std::unique_ptr<executor> {
    return open_executor(name);
  };
  const std::size_t devices = cuda_devices().size();
  for (std::size_t d = 0; d < devices || d == 0; d++)
    backends.push_back({"cuda:" + std::to_string(d), make_cuda});
  return backends;
}
inline bool is_missing(const backend& b) { return b.name.starts_with("cuda") && cuda_devices().empty(); }

/// Executors of a group on CPUs, of one thread each.
struct cpu_members {
  std::vector<std::unique_ptr<executor>> owned;
  std::vector<executor*> members;
  explicit cpu_members(int count) {
    for (int i = 0; i < count; i++) {
      owned.push_back(open_executor("cpu", 1));
      members.push_back(owned.back().get());
    }
  }
};

/// Smaller runs where a sanitizer or an emulator makes everything slow (WARPBAND_TEST_SCALE=small).
inline bool small_scale() {
  const char* s = std::getenv("WARPBAND_TEST_SCALE");
  return s != nullptr && std::string(s) == "small";
}

}  // namespace wb::testing

/// In a test over backend `b`.
#define WB_SKIP_WITHOUT_DEVICE(b) \
  if (::wb::testing::is_missing(b)) GTEST_SKIP() << "no CUDA device here"
