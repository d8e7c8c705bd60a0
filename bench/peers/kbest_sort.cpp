// How much of a K-best detector's time is sorting, where it is written as in textbooks: all children of the
// survivors get their distances, and then the K least stay. M. Wu's thesis (2010), 3.1, has "up to 70 %". On
// one core; not part of the build, and nothing of the library is here, whose detectors settle the K least
// without sorting.
//
//   g++ -std=c++20 -O3 -march=native bench/peers/kbest_sort.cpp -o kbest_sort
//   ./kbest_sort "$(git rev-parse --short=12 HEAD)" > bench/peers/kbest_sort.json
//
// 4x4, Rayleigh fading, float. Costs of children are computed over arrays, so that the compiler has vectors.
// R is made before the clock starts. std::sort sorts pairs of distance and child; std::nth_element leaves the
// K least in any order.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int streams = 4, bits_at_most = 6 * streams;
using complex = std::complex<float>;
using watch = std::chrono::steady_clock;

struct use {
  complex r[streams][streams], z[streams];
};
struct child {
  float distance;
  int index;
};
struct times {
  double whole = 0, sort = 0;
};

/// R of an i.i.d. channel has the distribution of its QR decomposition: chi on the diagonal, Gauss above it.
use draw(const std::vector<complex>& points, std::mt19937_64& random) {
  std::normal_distribution<float> normal(0, std::sqrt(0.5f));
  std::uniform_int_distribution<int> symbol(0, static_cast<int>(points.size()) - 1);
  use u{};
  complex s[streams];
  for (complex& x : s) x = points[static_cast<std::size_t>(symbol(random))];
  for (int k = 0; k < streams; ++k) {
    float energy = 0;
    for (int i = 0; i < 2 * (streams - k); ++i) energy += std::pow(normal(random), 2.f);
    u.r[k][k] = std::sqrt(energy);
    for (int j = k + 1; j < streams; ++j) u.r[k][j] = {normal(random), normal(random)};
    u.z[k] = 0.3f * complex(normal(random), normal(random));
    for (int j = k; j < streams; ++j) u.z[k] += u.r[k][j] * s[j];
  }
  return u;
}

class detector {
 public:
  detector(const std::vector<complex>& points, int survivors, bool full)
      : points_(points), survivors_(static_cast<std::size_t>(survivors)), full_(full) {
    for (const complex& p : points) re_.push_back(p.real()), im_.push_back(p.imag());
    const std::size_t largest = survivors_ * points.size();
    children_.resize(largest);
    costs_.resize(largest);
    for (auto* paths : {&paths_, &next_}) paths->resize(survivors_ * streams);
    for (auto* costs : {&cost_, &next_cost_}) costs->resize(survivors_);
  }
  float run(const use& u, times& t) {
    const auto begun = watch::now();
    std::size_t parents = 1;
    cost_[0] = 0;
    for (int k = streams - 1; k >= 0; --k) {
      const std::size_t q = points_.size(), n = parents * q;
      for (std::size_t p = 0; p < parents; ++p) {
        complex rest = u.z[k];
        for (int j = k + 1; j < streams; ++j)
          rest -= u.r[k][j] *
                  points_[static_cast<std::size_t>(paths_[p * streams + static_cast<std::size_t>(j)])];
        const float a = rest.real(), b = rest.imag(), g = u.r[k][k].real(), c = cost_[p];
        float* out = costs_.data() + p * q;
        for (std::size_t i = 0; i < q; ++i) {
          const float x = a - g * re_[i], y = b - g * im_[i];
          out[i] = c + x * x + y * y;
        }
      }
      const std::size_t kept = std::min(survivors_, n);
      const auto before = watch::now();
      for (std::size_t i = 0; i < n; ++i) children_[i] = {costs_[i], static_cast<int>(i)};
      const auto less = [](const child& x, const child& y) { return x.distance < y.distance; };
      const auto first = children_.begin(), end = first + static_cast<std::ptrdiff_t>(n);
      if (full_)
        std::sort(first, end, less);
      else if (kept < n)
        std::nth_element(first, first + static_cast<std::ptrdiff_t>(kept), end, less);
      t.sort += std::chrono::duration<double>(watch::now() - before).count();
      for (std::size_t i = 0; i < kept; ++i) {
        const std::size_t index = static_cast<std::size_t>(children_[i].index), p = index / q;
        std::copy_n(paths_.begin() + static_cast<std::ptrdiff_t>(p * streams), streams,
                    next_.begin() + static_cast<std::ptrdiff_t>(i * streams));
        next_[i * streams + static_cast<std::size_t>(k)] = static_cast<int>(index % q);
        next_cost_[i] = children_[i].distance;
      }
      std::swap(paths_, next_);
      std::swap(cost_, next_cost_);
      parents = kept;
    }
    const int bits = static_cast<int>(std::lround(std::log2(points_.size())));
    float least[bits_at_most][2];
    for (auto& both : least) both[0] = both[1] = 1e30f;
    for (std::size_t p = 0; p < parents; ++p)
      for (int k = 0; k < streams; ++k)
        for (int b = 0; b < bits; ++b) {
          float& x = least[k * bits + b][paths_[p * streams + static_cast<std::size_t>(k)] >> b & 1];
          x = std::min(x, cost_[p]);
        }
    float sum = 0;
    for (int b = 0; b < streams * bits; ++b) sum += std::clamp(least[b][1] - least[b][0], -8.f, 8.f);
    t.whole += std::chrono::duration<double>(watch::now() - begun).count();
    return sum;
  }

 private:
  std::vector<complex> points_;
  std::size_t survivors_;
  bool full_;
  std::vector<float> re_, im_, costs_, cost_, next_cost_;
  std::vector<child> children_;
  std::vector<int> paths_, next_;
};

std::string number(double x, int digits) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, x, std::chars_format::fixed, digits).ptr};
}

double median(std::vector<double> x) {
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end());
  return *middle;
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
  return "unknown";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: kbest_sort COMMIT > result.json\n");
    return 2;
  }
  char date[32];
  const std::time_t date_seconds = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&date_seconds));
  std::printf(
      "{\n \"format\": \"kbest sort 1\",\n \"commit\": \"%s\",\n \"date\": \"%s\",\n \"machine\": {\"cpu\": "
      "\"%s\", \"threads\": 1},\n \"settings\": [",
      argv[1], date, processor().c_str());
  const char* comma = "";
  for (const auto& [side, survivors] : {std::pair{4, 4}, {4, 16}, {4, 64}, {8, 64}, {8, 256}}) {
    std::vector<complex> points;
    const float scale = std::sqrt(1.5f / static_cast<float>(side * side - 1));
    for (int i = 0; i < side * side; ++i)
      points.emplace_back(scale * static_cast<float>(2 * (i / side) - side + 1),
                          scale * static_cast<float>(2 * (i % side) - side + 1));
    std::mt19937_64 random(1);
    std::vector<use> uses;
    for (int i = 0; i < 1000; ++i) uses.push_back(draw(points, random));
    for (const bool full : {true, false}) {
      detector d(points, survivors, full);
      // Medians over uses: others share the core. Each use runs once, so that no branch is known from before.
      std::vector<double> whole, share;
      for (const use& u : uses) {
        times t;
        if (!std::isfinite(d.run(u, t))) return 1;
        whole.push_back(t.whole);
        share.push_back(t.sort / t.whole);
      }
      std::printf(
          "%s\n  {\"antennas\": \"4x4\", \"qam\": %d, \"survivors\": %d, \"choice\": \"%s\", "
          "\"microseconds\": %s, \"sorting\": %s}",
          comma, side * side, survivors, full ? "sort" : "nth_element",
          number(1e6 * median(whole), 3).c_str(), number(median(share), 4).c_str());
      comma = ",";
    }
  }
  std::printf("\n ]\n}\n");
}
