#include <algorithm>
#include <bench/bench.hpp>
#include <stdexcept>

namespace wb::bench {
namespace {

struct registry {
  std::vector<void (*)()> groups;
  std::vector<std::string> devices;
  int cpu_threads = 1;
  std::vector<definition> definitions;
};
registry& all() {
  static registry r;
  return r;
}

}  // namespace

const char* name_of(figure f) noexcept {
  switch (f) {
    case figure::kernel:
      return "kernel";
    case figure::resident:
      return "resident";
    case figure::host_fed:
      return "host_fed";
    case figure::sync:
      return "sync";
    case figure::small:
      return "small";
  }
  return "?";
}

const std::vector<std::string>& devices() { return all().devices; }

std::size_t batch_for(const std::string& device, std::size_t cpu_items, std::size_t cuda_items) {
  return device == "cpu" ? cpu_items * static_cast<std::size_t>(all().cpu_threads) : cuda_items;
}

void add(const std::string& op, const std::string& device, std::vector<axis> axes,
         const std::vector<figure>& figures, maker make) {
  for (const figure f : figures) {
    if (device == "cpu" && f != figure::resident && f != figure::small) continue;
    std::string name = op;
    for (const axis& a : axes) name += "/" + a.name + "=" + a.value;
    name += std::string("/figure=") + name_of(f) + "/device=" + device;
    if (std::any_of(all().definitions.begin(), all().definitions.end(),
                    [&](const definition& d) { return d.name == name; }))
      throw std::logic_error("two benchmarks are called " + name);
    all().definitions.push_back({name, op, device, axes, f, make});
  }
}

group::group(void (*define)()) { all().groups.push_back(define); }

std::vector<definition> define_all(const std::vector<std::string>& devices, int cpu_threads) {
  all().devices = devices;
  all().cpu_threads = cpu_threads;
  all().definitions.clear();
  for (const auto define : all().groups) define();
  return std::exchange(all().definitions, {});
}

}  // namespace wb::bench
