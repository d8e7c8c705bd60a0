// Reads rows of the golden set from standard input and writes each with what this build says to it, for
// scripts/golden.py. A row of counts without "frames" gets as many as take a moment, or "seconds" a frame if
// one is slow.
#include <ctime>
#include <iostream>
#include <memory>

#include <tests/golden.hpp>
#include <tests/json.hpp>
#include <warpband/exec/cpu.hpp>

namespace {

using nlohmann::json;

/// Of this process, for a call on one thread: others may keep the machine busy.
template <class F>
double seconds(F&& call) {
  const std::clock_t start = std::clock();
  call();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

void choose_frames(json& row, wb::testing::golden_counts& counts, double budget) {
  for (int frames = 1; frames <= 64; frames *= 2) {
    row["frames"] = frames;
    const double time = seconds([&] { counts.of(row); });
    if (frames == 4 && time > 4) return void(row["seconds"] = time / frames);
    if (frames >= 4 && time > budget / 2) return;
    if (frames < 4 && time > 8) return void(row["seconds"] = time / frames);
  }
}

}  // namespace

int main() {
  const auto exec = wb::open_executor("cpu", 1);
  wb::testing::golden_counts counts(*exec);
  for (std::string line; std::getline(std::cin, line);) {
    json row = wb::testing::parse_json(line);
    if (!row.contains("point")) {
      row["answer"] = wb::testing::golden_answer(row);
    } else {
      if (!row.contains("frames")) choose_frames(row, counts, row.value("budget", 0.05));
      if (!row.contains("seconds")) row["counts"] = counts.of(row);
    }
    std::cout << row.dump() << std::endl;
  }
}
