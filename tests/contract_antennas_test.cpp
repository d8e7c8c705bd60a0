// Linear algebra, modems and detectors in the list of contracts.
#include <oracle/linalg.hpp>
#include <tests/contract.hpp>
#include <tests/massive.hpp>
#include <tests/mimo.hpp>
#include <tests/stbc.hpp>
#include <warpband/detect/linear/mmse_backward.hpp>
#include <warpband/estimate/estimator.hpp>
#include <warpband/estimate/noise.hpp>
#include <warpband/linalg/cholesky/cholesky.hpp>
#include <warpband/linalg/qr/qr.hpp>
#include <warpband/massive/cluster/cluster.hpp>
#include <warpband/massive/soft_uplink/soft_uplink.hpp>
#include <warpband/modem/constellation/constellation.hpp>
#include <warpband/modem/demap/demap.hpp>
#include <warpband/modem/demap/demap_backward.hpp>
#include <warpband/modem/effective_sinr/effective_sinr.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/nr/shared_channel.hpp>

namespace wb {
namespace contract_antennas_test {

using namespace testing;
using algorithms = std::vector<algorithm>;
using complex = std::complex<float>;
using byte = std::uint8_t;

constexpr float infinity = std::numeric_limits<float>::infinity();

/// The first value, the last one, or all of a row.
fault first_of(const std::string& in, float value) {
  return {"first " + std::to_string(value), in, [=](std::span<float> row) { row[0] = value; }};
}
fault last_of(const std::string& in, float value) {
  return {"last " + std::to_string(value), in, [=](std::span<float> row) { row.back() = value; }};
}
fault all_of(const std::string& in, float value) {
  return {"all " + std::to_string(value), in,
          [=](std::span<float> row) { std::fill(row.begin(), row.end(), value); }};
}
/// Zeros, which give zeros but no erasure.
fault says_nothing(const std::string& in) {
  fault f = all_of(in, 0);
  f.status = 0;
  return f;
}
void add(std::vector<fault>& list, const std::vector<fault>& more) {
  list.insert(list.end(), more.begin(), more.end());
}
const std::vector<fault> bad_noise{all_of("noise_var", 0.f), all_of("noise_var", -0.f),
                                   all_of("noise_var", -1e-3f)};

/// Column `to` of a matrix of `columns` becomes `factor` times column `from`.
fault column(const std::string& in, int columns, int to, int from, float factor, std::size_t floats = 2) {
  return {"column " + std::to_string(to) + " as " + std::to_string(from), in, [=](std::span<float> row) {
            const auto n = static_cast<std::size_t>(columns) * floats;
            for (std::size_t r = 0; r < row.size(); r += n)
              for (std::size_t i = 0; i < floats; i++)
                row[r + static_cast<std::size_t>(to) * floats + i] =
                    factor * row[r + static_cast<std::size_t>(from) * floats + i];
          }};
}

// ---- linear algebra

std::vector<complex> narrowed(const oracle::matrix& m, double scale) {
  std::vector<complex> values;
  for (const auto& x : m.entries) values.emplace_back(scale * x);
  return values;
}
/// Matrices of condition 10, each with a scale.
template <class E>
std::vector<E> matrices(int rows, int columns, std::size_t items, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> decades(-4, 4);
  std::vector<E> list;
  for (std::size_t i = 0; i < items; i++) {
    const auto m =
        oracle::with_condition(rows, columns, columns == 1 ? 1 : 10, std::is_same_v<E, float>, random);
    for (const complex& x : narrowed(m, std::pow(10, decades(random))))
      if constexpr (std::is_same_v<E, float>)
        list.push_back(x.real());
      else
        list.push_back(x);
  }
  return list;
}

algorithms cholesky() {
  algorithms list;
  for (int n = 1; n <= 8; n++) {
    const cholesky_solver solver(n);
    const auto size = static_cast<std::size_t>(n);
    algorithm a{.text = "n=" + std::to_string(n), .alone = false};
    a.outputs = {output<complex>("r", size * size), output<complex>("x", size), status_output()};
    a.draw = [=](std::size_t items) {
      std::mt19937 random(2);
      std::uniform_real_distribution<double> decades(-4, 4);
      std::vector<complex> values;
      for (std::size_t i = 0; i < items; i++) {
        const auto h = oracle::with_condition(n + 2, n, std::sqrt(10), false, random);
        const auto gram = narrowed(oracle::adjoint(h) * h, std::pow(10, decades(random)));
        values.insert(values.end(), gram.begin(), gram.end());
      }
      return operands{input("a", size * size, values), input("b", size, matrices<complex>(n, 1, items, 3))};
    };
    a.run = [=](executor& e, const call& c) {
      solver.run(e, {c["a"], c["b"]}, {c["r"], c["x"], c["status"]});
    };
    const auto of_a = [&](const std::string& text, auto change) {
      a.faults.push_back({text, "a", [=](std::span<float> row) { change(row); }});
    };
    a.faults = {last_of("b", 3e38f), all_of("a", 0), all_of("a", 2e15f), all_of("a", 3e38f),
                all_of("a", 1e-32f)};
    of_a("negative", [](auto row) {
      for (float& x : row) x = -x;
    });
    of_a("of ones", [=](auto row) {
      for (std::size_t i = 0; i < row.size(); i += 2) row[i] = n > 1 ? 1.f : 0.f, row[i + 1] = 0;
    });
    of_a("with a zero pivot", [=](auto row) {
      for (std::size_t r = 0; r < size; r++)
        row[2 * (r * size + size - 1)] = row[2 * (r * size + size - 1) + 1] = 0;
    });
    of_a("indefinite", [=](auto row) {
      for (std::size_t r = 0; r + 1 < size; r++) row[2 * (r * size + size - 1)] = 1e14f;
      if (n == 1) row[0] = -1;
    });
    // What is below the diagonal is not read, nor the imaginary parts on it.
    a.finite = {"a"};
    a.faults.push_back(first_of("a", infinity));
    a.faults.push_back(
        {"NaN on the right", "a", [=](std::span<float> row) { row[2 * size - 2] = std::nanf(""); }});
    list.push_back(a);
  }
  return list;
}

template <class E>
algorithms qr() {
  algorithms list;
  std::vector<std::pair<int, int>> shapes{{1, 1}, {2, 2}, {3, 2},  {4, 4}, {5, 5},
                                          {7, 3}, {8, 8}, {16, 8}, {16, 1}};
  if (std::is_same_v<E, float>) shapes.insert(shapes.end(), {{16, 16}, {11, 9}});
  for (const auto& shape : shapes)
    for (const qr_method method : {qr_method::gram_schmidt, qr_method::householder, qr_method::cholesky}) {
      const int rows = shape.first, columns = shape.second;
      const basic_qr_decomposition<E> qr({.rows = rows, .columns = columns, .method = method});
      const auto m = static_cast<std::size_t>(rows), n = static_cast<std::size_t>(columns),
                 floats = sizeof(E) / sizeof(float);
      algorithm a{.text = std::to_string(m) + "x" + std::to_string(n) +
                          (method == qr_method::cholesky      ? " Cholesky"
                           : method == qr_method::householder ? " Householder"
                                                              : ""),
                  .alone = false};
      a.outputs = {output<E>("r", n * n)};
      if (method != qr_method::cholesky) a.outputs.push_back(output<E>("q", m * n));
      a.outputs.push_back(output<E>("z", n));
      a.outputs.push_back(status_output());
      a.draw = [=](std::size_t items) {
        return operands{input("h", m * n, matrices<E>(rows, columns, items, 4)),
                        input("y", m, matrices<E>(rows, 1, items, 5))};
      };
      a.run = [=](executor& e, const call& c) {
        qr.run(e, {.h = c["h"], .y = c["y"], .first = columns / 2}, {c["r"], c["q"], c["z"], c["status"]});
      };
      a.faults = {all_of("h", 0),      all_of("h", 1e16f), all_of("h", 3e38f),
                  all_of("h", 1e-17f), all_of("y", 3e38f), column("h", columns, columns - 1, 0, 0, floats)};
      if (columns > 1 && method != qr_method::cholesky) {  // others round away in a Gram matrix
        a.faults.push_back(column("h", columns, columns - 1, 0, 1, floats));
        a.faults.push_back({"rank 1", "h", [=](std::span<float> row) {
                              for (std::size_t i = 0; i < row.size(); i++)
                                row[i] = i % floats == 0
                                             ? static_cast<float>((i / floats / n + 1) * (i / floats % n + 3))
                                             : 0.f;
                            }});
      }
      list.push_back(a);
    }
  return list;
}

/// Covariances of slots, three uses each.
algorithms whitening() {
  algorithm a{.text = "2 antennas", .items = 21, .alone = false};
  a.outputs = {output<complex>("out_received", 2, 3), output<complex>("out_channel", 2, 3), status_output(3)};
  a.draw = [](std::size_t items) {
    std::vector<complex> r;
    for (std::size_t i = 0; i < items; i++)
      r.insert(r.end(), {2, complex(0.5f, 0.5f), complex(0.5f, -0.5f), 1});
    return operands{input("covariance", 4, r), input("received", 2, matrices<complex>(2, 1, 3 * items, 6), 3),
                    input("channel", 2, matrices<complex>(2, 1, 3 * items, 7), 3)};
  };
  a.run = [](executor& e, const call& c) {
    whitener().run(e, c["covariance"], 0, c["channel"], c["received"], c["out_channel"], c["out_received"],
                   c["status"]);
  };
  for (const auto& [p, q, r, s] :
       {std::tuple{1.f, 1.f, 1.f, 1.f}, {0.f, 0.f, 0.f, 0.f}, {-1.f, 0.f, 0.f, 1.f}, {1.f, 2.f, 2.f, 1.f}})
    a.faults.push_back({"singular or indefinite", "covariance", [=](std::span<float> row) {
                          const float values[]{p, 0, q, 0, r, 0, s, 0};
                          std::copy_n(values, 8, row.begin());
                        }});
  // The imaginary parts of the diagonal are not read, nor what is above it.
  a.finite = {"covariance"};
  a.free_widths = {"received"};
  a.faults.push_back(first_of("covariance", infinity));
  a.faults.push_back({"NaN on the left", "covariance", [](std::span<float> row) { row[4] = std::nanf(""); }});
  return {a};
}

// ---- modems

constexpr int constellations[]{2, 4, 16, 64, 256};

/// Symbols over fading channels, or without them and with one N0 for all.
algorithms demappers() {
  algorithms list;
  for (const int points : constellations)
    for (const auto method : {demap_algorithm::max_log, demap_algorithm::exact})
      for (const bool faded : {true, false}) {
        const demapper demap(points, method);
        algorithm a{.text = std::to_string(points) + " points" + (faded ? "" : ", no channel"), .items = 203};
        a.outputs = {output<float>("llr", static_cast<std::size_t>(demap.bits())), status_output()};
        a.draw = [=](std::size_t items) {
          std::mt19937_64 random(7);
          const auto b = draw_mimo(setting("ml", 1, 1, std::max(points, 4)), items,
                                   {.least_n0 = 1e-3, .most_n0 = 10}, random);
          operands in{input("received", 1, b.y), input("noise_var", 1, b.n0)};
          if (faded) in.push_back(input("channel", 1, b.h));
          return in;
        };
        a.run = [=](executor& e, const call& c) {
          demap.run(e, {c["channel"], c["received"], c["noise_var"]}, c["llr"], c["status"]);
        };
        a.faults = bad_noise;
        if (faded) a.faults.push_back(says_nothing("channel"));
        list.push_back(a);
      }
  return list;
}
/// The same with a list of points.
algorithms point_demappers() {
  algorithms list;
  std::vector<std::complex<double>> spiral;
  for (int i = 0; i < 64; i++) spiral.push_back(std::polar(std::sqrt(i + 1.0), 2.4 * i));
  for (const constellation_config& config :
       {constellation_config{.type = "8psk"},
        constellation_config{.type = "32apsk", .ring_ratios = {2.84, 5.27}},
        constellation_config{.points = spiral}})
    for (const auto method : {demap_algorithm::max_log, demap_algorithm::exact}) {
      const constellation_demapper demap(constellation(config), method);
      algorithm a{.text = config.type + (method == demap_algorithm::exact ? ", exact" : ", max-log"),
                  .items = 203};
      a.outputs = {output<float>("llr", static_cast<std::size_t>(demap.bits())), status_output()};
      a.draw = [](std::size_t items) {
        std::mt19937_64 random(7);
        const auto b = draw_mimo(setting("ml", 1, 1, 64), items, {.least_n0 = 1e-3, .most_n0 = 10}, random);
        return operands{input("received", 1, b.y), input("noise_var", 1, b.n0), input("channel", 1, b.h)};
      };
      a.run = [=](executor& e, const call& c) {
        demap.run(e, {c["channel"], c["received"], c["noise_var"]}, c["llr"], c["status"]);
      };
      a.faults = bad_noise;
      a.faults.push_back(says_nothing("channel"));
      list.push_back(a);
    }
  return list;
}
/// Gradients of LLRs that are given.
std::vector<float> llr_gradients(std::size_t values) {
  std::mt19937 random(8);
  std::normal_distribution<float> normal;
  std::vector<float> list(values);
  for (float& g : list) g = normal(random);
  return list;
}
algorithms demapper_gradients() {
  algorithms list;
  for (const int points : {4, 64})
    for (const auto method : {demap_algorithm::max_log, demap_algorithm::exact}) {
      const demapper_backward backward({points, method});
      const auto bits = static_cast<std::size_t>(backward.bits());
      algorithm a{.text = std::to_string(points) + " points", .items = 203};
      a.outputs = {output<complex>("received_gradient", 1), output<complex>("channel_gradient", 1),
                   output<float>("noise_var_gradient", 1), status_output()};
      a.draw = [=](std::size_t items) {
        std::mt19937_64 random(7);
        const auto b =
            draw_mimo(setting("ml", 1, 1, points), items, {.least_n0 = 1e-3, .most_n0 = 10}, random);
        return operands{input("received", 1, b.y), input("noise_var", 1, b.n0), input("channel", 1, b.h),
                        input("llr_gradient", bits, llr_gradients(items * bits))};
      };
      a.run = [=](executor& e, const call& c) {
        backward.run(e, {c["channel"], c["received"], c["noise_var"]}, c["llr_gradient"],
                     {c["received_gradient"], c["channel_gradient"], c["noise_var_gradient"], c["status"]});
      };
      a.faults = bad_noise;
      a.faults.push_back(all_of("channel", 0));
      list.push_back(a);
    }
  return list;
}
algorithms mmse_gradients_of_sizes() {
  algorithms list;
  for (const auto& [streams, rx] : {std::pair{2, 2}, {3, 5}}) {
    const auto c = setting("mmse", streams, rx, 16);
    const mmse_backward backward(c);
    const std::size_t bits = backward.bits_per_use(), antennas = static_cast<std::size_t>(rx),
                      gains = antennas * static_cast<std::size_t>(streams);
    algorithm a{.text = std::to_string(streams) + "x" + std::to_string(rx)};
    a.outputs = {output<complex>("channel_gradient", gains), output<complex>("received_gradient", antennas),
                 output<float>("noise_var_gradient", 1), status_output()};
    a.draw = [=](std::size_t items) {
      std::mt19937_64 random(7);
      const auto b = draw_mimo(c, items, {}, random);
      return operands{input("received", antennas, b.y), input("noise_var", 1, b.n0),
                      input("channel", gains, b.h), input("llr_gradient", bits, llr_gradients(items * bits))};
    };
    a.run = [=](executor& e, const call& given) {
      backward.run(e, {given["channel"], 1, given["received"], given["noise_var"]}, given["llr_gradient"],
                   {given["channel_gradient"], given["received_gradient"], given["noise_var_gradient"],
                    given["status"]});
    };
    a.faults = bad_noise;
    a.faults.push_back(column("channel", streams, 1, 0, 1));
    list.push_back(a);
  }
  return list;
}
/// Weighted SINRs of one constellation or of several. Erased items are NaN, not zeros.
algorithms effective_sinrs() {
  algorithms list;
  constexpr std::size_t elements = 11;
  for (const auto method : {effective_method::eesm, effective_method::miesm, effective_method::rbir})
    for (const bool mixed : {false, true}) {
      if (mixed && method == effective_method::eesm) continue;
      const effective_sinr map(
          {.method = method,
           .qam = 16,
           .beta = 2,
           .mixed = mixed ? std::vector<int>{4, 16, 64, 4, 16, 64, 4, 16, 64, 4, 2} : std::vector<int>{}});
      algorithm a{.text = mixed ? "several constellations" : "one constellation"};
      a.outputs = {output<float>("effective", 1), status_output()};
      a.draw = [=](std::size_t items) {
        std::mt19937 random(8);
        std::uniform_real_distribution<float> level(-3, 5), share(0, 2);
        std::vector<float> sinr(items * elements), weight(items * elements);
        for (float& g : sinr) g = std::exp(level(random));
        for (float& w : weight) w = share(random);
        return operands{input("sinr", elements, sinr), input("weight", elements, weight)};
      };
      a.run = [=](executor& e, const call& c) {
        map.run(e, {.sinr = c["sinr"], .weight = c["weight"]}, c["effective"], c["status"]);
      };
      if (!mixed) a.free_widths = {"sinr"};
      list.push_back(a);
    }
  return list;
}
template <class Mapper>
algorithm mapping_by(const Mapper& mapper) {
  const auto bits = static_cast<std::size_t>(mapper.bits());
  algorithm a{
      .text = std::to_string(bits) + " bits", .items = 203, .outputs = {output<complex>("symbols", 1)}};
  a.draw = [=](std::size_t items) {
    std::vector<byte> values(bits * items);
    std::mt19937 random(1);
    for (auto& b : values) b = random() & 1;
    return operands{input("bits", bits, values)};
  };
  a.run = [=](executor& e, const call& c) { mapper.run(e, c["bits"], c["symbols"]); };
  return a;
}
algorithms mappers() {
  algorithms list;
  for (const int points : constellations) list.push_back(mapping_by(qam_mapper(points)));
  return list;
}
algorithms point_mappers() {
  return {mapping_by(constellation_mapper(constellation({.type = "8psk"}))),
          mapping_by(constellation_mapper(constellation({.type = "16apsk", .ring_ratios = {2.57}})))};
}

// ---- detectors of few antennas

algorithm detection(const detector_config& config, std::size_t uses, bool with_prior) {
  const std::shared_ptr<const detector> d = make_detector(config);
  algorithm a{.text = text_of(config) + ", uses " + std::to_string(uses) + (with_prior ? ", prior" : "")};
  a.outputs = {output<float>("llr", d->bits_per_use(), uses), output<byte>("bits", d->bits_per_use(), uses),
               status_output(uses)};
  if (d->counts_visited()) a.outputs.push_back(output<std::int32_t>("visited", 1, uses));
  a.draw = [=](std::size_t items) {
    std::mt19937_64 random(1);
    const auto b =
        draw_mimo(config, items * uses, {.prior = with_prior ? 2. : 0., .uses_per_channel = uses}, random);
    operands in{input("received", static_cast<std::size_t>(b.rx), b.y, uses),
                input("channel", b.gains(), b.h), input("noise_var", 1, b.n0, uses)};
    if (with_prior) in.push_back(input("prior", b.bits(), b.prior, uses));
    return in;
  };
  a.run = [=](executor& e, const call& c) {
    detector_input in{c["channel"], uses, c["received"], c["noise_var"]};
    if (with_prior) in.prior = c["prior"];
    d->run(e, in, {c["llr"], c["bits"], c["status"], c["visited"]});
  };
  const int n = config.streams;
  a.faults = {last_of("received", 2e15f),    first_of("received", 3e38f),
              first_of("received", 1e8f),    first_of("channel", 2e15f),
              all_of("channel", 3e38f),      all_of("channel", 0),
              column("channel", n, 0, 0, 0), column("channel", n, n - 1, 0, -0.f)};
  add(a.faults, bad_noise);
  if (n > 1) {
    add(a.faults, {column("channel", n, n - 1, 0, 1), column("channel", n, 1, 0, -0.25f)});
    a.faults.push_back({"all columns equal", "channel", [=](std::span<float> row) {
                          for (int k = 1; k < n; k++) column("", n, k, 0, 1).spoil(row);
                        }});
  }
  return a;
}
algorithms detectors_of_each_kind() {
  algorithms list;
  for (detector_config c : some_of_each()) {
    list.push_back(detection(c, 1, false));
    const bool prior = takes_prior(c);
    c.extrinsic = prior;
    list.push_back(detection(c, 3, prior));
  }
  return list;
}

// ---- massive MIMO; an item is a frame

struct frames_of {
  std::size_t antennas, users, symbols;
};
const std::vector<frames_of> all_frames{{33, 8, 1},  {18, 16, 4}, {10, 4, 2}, {37, 11, 7}, {24, 24, 3},
                                        {131, 8, 2}, {12, 5, 17}, {9, 1, 2},  {68, 32, 1}};
std::string text_of(const frames_of& f, massive_solver solver) {
  return std::to_string(f.antennas) + "x" + std::to_string(f.users) + ", symbols " +
         std::to_string(f.symbols) + " " + name_of(solver);
}
template <class T>
operands frames_in(const frames_of& f, const massive_batch& b, bool down) {
  const auto cells = [](const testing::samples& v) {
    if constexpr (std::is_same_v<T, complex>)
      return v;
    else
      return halves_of(v);
  };
  operands in{input<T>("channel", f.antennas * f.users, cells(b.h))};
  in.push_back(down ? input("sent", f.users, b.s, f.symbols)
                    : input<T>("received", f.antennas, cells(b.y), f.symbols));
  in.push_back(input("noise_var", 1, b.n0));
  return in;
}
/// Uplink of a central detector or of clusters.
template <class T, class Detector>
algorithm uplink(const Detector& d, const std::string& text, const frames_of& f, float n0 = 0.2f) {
  const std::size_t bits = d.bits_per_vector();
  algorithm a{.text = text, .items = 19};
  a.outputs = {output<float>("llr", bits, f.symbols), output<std::int8_t>("llr_int8", bits, f.symbols),
               output<complex>("equalized", f.users, f.symbols), output<float>("sinr", f.users, f.symbols),
               status_output(f.symbols)};
  a.draw = [=](std::size_t items) {
    return frames_in<T>(f, random_frames(f.antennas, f.users, f.symbols, items, n0), false);
  };
  a.run = [=](executor& e, const call& c) {
    d.run(e, uplink_input_of<T>{c["channel"], c["received"], c["noise_var"], static_cast<int>(f.symbols)},
          {c["llr"], c["llr_int8"], c["equalized"], c["sinr"], c["status"]});
  };
  a.faults = bad_noise;
  if (std::is_same_v<T, complex>) add(a.faults, {all_of("channel", 0), first_of("received", 3e38f)});
  return a;
}
template <class T, class Precoder>
algorithm downlink(const Precoder& d, const std::string& text, const frames_of& f) {
  algorithm a{.text = text, .items = 19, .alone = false};
  a.outputs = {output<complex>("precoded", f.antennas, f.symbols), status_output(f.symbols)};
  a.draw = [=](std::size_t items) {
    return frames_in<T>(f, random_frames(f.antennas, f.users, f.symbols, items, 0.2f), true);
  };
  a.run = [=](executor& e, const call& c) {
    d.run(e, downlink_input_of<T>{c["channel"], c["sent"], c["noise_var"], static_cast<int>(f.symbols)},
          c["precoded"], c["status"]);
  };
  a.faults = {all_of("noise_var", -1), says_nothing("sent")};
  return a;
}
constexpr massive_solver modes[]{massive_solver::cholesky,     massive_solver::zf,
                                 massive_solver::mf,           massive_solver::cg,
                                 massive_solver::jacobi_cg,    massive_solver::neumann,
                                 massive_solver::gauss_seidel, massive_solver::chebyshev};

/// Singular channels without noise.
void add_singular(algorithms& list, algorithm a, int users) {
  a.text += " without noise";
  a.faults.push_back(column("channel", users, users - 1, 0, 1));
  list.push_back(a);
}
algorithms uplinks() {
  algorithms list;
  for (const frames_of& f : all_frames)
    for (const massive_solver solver : modes) {
      uplink_config c{
          .antennas = static_cast<int>(f.antennas), .users = static_cast<int>(f.users), .solver = solver};
      if (is_iterative(solver)) c.iterations = 4, c.sinr = massive_sinr::approximate;
      list.push_back(uplink<complex>(uplink_detector(c), text_of(f, solver), f));
      if (f.users > 1 && (solver == massive_solver::cholesky || solver == massive_solver::zf))
        add_singular(list, uplink<complex>(uplink_detector(c), text_of(f, solver), f, 1e-30f), c.users);
      if (f.users % 8 == 0 && solver != massive_solver::zf)
        list.push_back(uplink<half_complex>(uplink_detector(c), text_of(f, solver) + " in halves", f));
    }
  return list;
}
algorithms downlinks() {
  algorithms list;
  for (const frames_of& f : all_frames)
    for (const massive_solver solver : modes) {
      const downlink_config c{.antennas = static_cast<int>(f.antennas),
                              .users = static_cast<int>(f.users),
                              .solver = solver,
                              .iterations = is_iterative(solver) ? std::optional(3) : std::nullopt};
      list.push_back(downlink<complex>(downlink_precoder(c), text_of(f, solver), f));
      if (f.users % 8 == 0)
        list.push_back(downlink<half_complex>(downlink_precoder(c), text_of(f, solver) + " in halves", f));
    }
  return list;
}
algorithms clusters(bool down) {
  algorithms list;
  for (const frames_of& f : {frames_of{64, 16, 2}, {24, 5, 1}})
    for (const auto& [solver, method, iterations] :
         {std::tuple{massive_solver::cholesky, massive_cluster_method::exact, std::optional<int>()},
          {massive_solver::cholesky, massive_cluster_method::local_mmse, {}},
          {massive_solver::cg, massive_cluster_method::cg, 3}}) {
      const std::string text = text_of(f, solver) + " " + name_of(method);
      clustered_uplink_config c{.detector = {.antennas = static_cast<int>(f.antennas),
                                             .users = static_cast<int>(f.users),
                                             .solver = solver,
                                             .iterations = iterations},
                                .clusters = 4,
                                .cluster_method = method};
      if (is_iterative(solver)) c.detector.sinr = massive_sinr::approximate;
      if (!down && solver == massive_solver::cholesky)
        add_singular(list, uplink<complex>(clustered_uplink_detector(c), text, f, 1e-30f), c.detector.users);
      const clustered_downlink_config sent{.precoder = {.antennas = c.detector.antennas,
                                                        .users = c.detector.users,
                                                        .solver = solver,
                                                        .iterations = iterations},
                                           .clusters = 4,
                                           .cluster_method = method};
      list.push_back(down ? downlink<complex>(clustered_downlink_precoder(sent), text, f)
                          : uplink<complex>(clustered_uplink_detector(c), text, f));
      list.push_back(down ? downlink<half_complex>(clustered_downlink_precoder(sent), text + " in halves", f)
                          : uplink<half_complex>(clustered_uplink_detector(c), text + " in halves", f));
    }
  return list;
}
algorithms soft_uplinks() {
  algorithms list;
  for (const auto& [antennas, users, qam, symbols] : {std::tuple{16, 4, 16, 3},
                                                      {16, 4, 16, 9},
                                                      {8, 8, 4, 2},
                                                      {20, 3, 64, 1},
                                                      {12, 2, 256, 17},
                                                      {40, 17, 16, 1},
                                                      {5, 1, 4, 1}})
    for (const bool with_prior : {false, true}) {
      const soft_uplink_detector d(
          {.antennas = antennas, .users = users, .qam = qam, .extrinsic = with_prior && symbols % 2 != 0});
      const frames_of f{static_cast<std::size_t>(antennas), static_cast<std::size_t>(users),
                        static_cast<std::size_t>(symbols)};
      const std::size_t bits = d.bits_per_vector();
      algorithm a{.text = std::to_string(antennas) + "x" + std::to_string(users), .items = 17};
      a.outputs = {output<float>("llr", bits, f.symbols), output<byte>("bits", bits, f.symbols),
                   status_output(f.symbols)};
      a.draw = [=](std::size_t items) {
        operands in =
            frames_in<complex>(f, random_frames(f.antennas, f.users, f.symbols, items, 0.3f), false);
        std::vector<float> prior(items * f.symbols * bits);
        std::mt19937_64 random(2);
        std::normal_distribution<float> normal(0, 2);
        for (float& x : prior) x = normal(random);
        if (with_prior) in.push_back(input("prior", bits, prior, f.symbols));
        return in;
      };
      a.run = [=](executor& e, const call& c) {
        d.run(e, {c["channel"], c["received"], c["noise_var"], symbols, c["prior"]},
              {c["llr"], c["bits"], c["status"]});
      };
      a.faults = bad_noise;
      add(a.faults, {all_of("channel", 0), first_of("received", 3e38f)});
      list.push_back(a);
    }
  return list;
}

// ---- space-time codes

algorithm stbc(const stbc_config& config, std::size_t per_channel, bool soft, bool with_prior) {
  const stbc_decoder d(config);
  const std::size_t bits = d.bits_per_codeword();
  algorithm a{.text = testing::text_of(config) + (soft ? ", LLRs" : "") + (with_prior ? ", prior" : ""),
              .items = config.qam == 256 ? 2U
                       : config.qam == 64 || (config.method == stbc_method::exhaustive && config.qam == 16)
                           ? 5U
                           : 17U};
  a.outputs = {output<byte>("bits", bits, per_channel), status_output(per_channel)};
  if (soft) a.outputs.insert(a.outputs.begin(), output<float>("llr", bits, per_channel));
  a.alone = !soft;  // decisions alone are of another search
  a.draw = [=](std::size_t items) {
    auto b = draw_stbc(config, items * per_channel, 4, {.per_channel = per_channel});
    operands in{input("received", b.width(), b.y, per_channel), input("channel", b.gains(), b.h),
                input("noise_var", 1, b.n0, per_channel)};
    if (with_prior)
      in.push_back(
          input("prior", bits, with_prior ? testing::with_prior(b, 3, 5).prior : b.prior, per_channel));
    return in;
  };
  a.run = [=](executor& e, const call& c) {
    d.run(e, {c["channel"], per_channel, c["received"], c["noise_var"], c["prior"]},
          {c["llr"], c["bits"], c["status"]});
  };
  a.faults = {first_of("received", 2e15f), first_of("received", 3e38f), first_of("received", 1e8f),
              last_of("channel", 3e38f),   first_of("channel", 2e15f),  all_of("channel", 0),
              all_of("channel", 1e-20f),   all_of("noise_var", 1e-31f)};
  add(a.faults, bad_noise);
  return a;
}
algorithms stbc_decoders(bool of_64_qam) {
  algorithms list;
  for (stbc_config c : stbc_of_each())
    for (const bool soft : {true, false}) {
      if ((c.qam == 64) != of_64_qam) continue;
      list.push_back(stbc(c, 1, soft, false));
      list.push_back(stbc(c, 3, soft, false));
      for (const bool extrinsic : {false, true}) {
        c.extrinsic = extrinsic;
        if (takes_prior(c)) list.push_back(stbc(c, 1, soft, true));
      }
      c.extrinsic = false;
    }
  return list;
}
algorithms sfbc_decoders() {
  algorithms list;
  for (stbc_config c : stbc_over_subcarriers())
    for (const bool soft : {true, false}) {
      list.push_back(stbc(c, c.qam == 4 ? 3 : 1, soft, false));
      c.extrinsic = c.qam == 16;
      list.push_back(stbc(c, 1, soft, true));
      c.extrinsic = false;
    }
  return list;
}
algorithms exhaustive_stbc_decoders() {
  algorithms list;
  for (const stbc_config& c : stbc_of_exhaustive_search())
    for (const bool soft : {true, false}) {
      list.push_back(stbc(c, c.qam == 4 ? 3 : 1, soft, false));
      if (soft) list.push_back(stbc(c, 1, soft, true));
    }
  return list;
}
algorithms stbc_decoders_of_256_qam() {
  algorithms list;
  for (const stbc_config& c : stbc_of_256_qam()) {
    // The exact search of the Golden code takes long; stbc_test.cpp runs it.
    if (c.code.kind() == space_time_kind::golden && c.search == golden_search::exact) continue;
    list.push_back(stbc(c, 1, true, false));
    if (c.code.kind() == space_time_kind::alamouti) list.push_back(stbc(c, 1, true, true));
  }
  return list;
}
algorithms stbc_encoders() {
  algorithms list;
  for (const space_time_code& code :
       {space_time_code::alamouti(), space_time_code::silver(), turned_pair(), space_time_code::golden(),
        space_time_code::sfbc(), space_time_code::fstd()})
    for (const int qam : {4, 16, 64, 256}) {
      const stbc_encoder encoder(code, qam);
      const std::size_t size = static_cast<std::size_t>(code.uses() * code.tx_antennas());
      algorithm a{.text = name_of(code) + (" " + std::to_string(qam)),
                  .outputs = {output<complex>("out", size)}};
      a.draw = [=](std::size_t items) {
        return operands{
            input("bits", encoder.bits_per_codeword(), draw_stbc(stbc_setting(code, qam), items, 2).sent)};
      };
      a.run = [=](executor& e, const call& c) { encoder.run(e, c["bits"], c["out"]); };
      list.push_back(a);
    }
  return list;
}

algorithms stbc_encoders_of_symbols() {
  algorithms list;
  for (const space_time_code& code :
       {space_time_code::alamouti(), space_time_code::silver(), turned_pair(), space_time_code::golden(),
        space_time_code::sfbc(), space_time_code::fstd()}) {
    const stbc_encoder encoder(code, 4);
    const std::size_t size = static_cast<std::size_t>(code.uses() * code.tx_antennas());
    algorithm a{.text = name_of(code), .outputs = {output<complex>("out", size)}};
    a.draw = [=](std::size_t items) {
      return operands{input("symbols", static_cast<std::size_t>(code.symbols()),
                            matrices<complex>(code.symbols(), 1, items, 8))};
    };
    a.run = [=](executor& e, const call& c) { encoder.run_symbols(e, c["symbols"], c["out"]); };
    list.push_back(a);
  }
  return list;
}

// ---- estimators; an item is a slot

algorithms channel_estimators() {
  algorithms list;
  const nr_shared_channel slot(
      {.carrier = {.resource_blocks = 3}, .layers = 2, .dmrs = {.additional_positions = 1}});
  const std::size_t elements = slot.elements(), rx = 3;
  estimator_config lmmse{.method = estimate_method::lmmse};
  lmmse.noise_var = 0.1f;
  for (const estimator_config& config : {estimator_config{}, lmmse}) {
    const channel_estimator estimator(pilots_of(slot), config);
    algorithm a{.text = config.method == estimate_method::lmmse ? "lmmse" : "ls", .items = 5, .alone = false};
    a.outputs = {output<complex>("channel", rx * 2, elements), output<float>("noise_var", 1, elements)};
    a.draw = [=](std::size_t items) {
      return operands{
          input("received", rx, matrices<complex>(static_cast<int>(rx), 1, items * elements, 9), elements),
          input("noise_var", 1, std::vector<float>(items, 0.1f))};
    };
    a.run = [=](executor& e, const call& c) {
      estimator.run(e, c["received"], c.in[1], {.channel = c["channel"], .noise_var = c.out.back()});
    };
    a.free_widths = {"received"};
    list.push_back(a);
  }
  return list;
}
algorithms noise_estimators() {
  const nr_shared_channel slot({.carrier = {.resource_blocks = 3}});
  const noise_estimator estimator(pilots_of(slot));
  const std::size_t elements = slot.elements(), rx = 3;
  algorithm a{.text = "3 antennas", .items = 5};
  a.outputs = {output<complex>("covariance", rx * rx), output<float>("noise_var", 1)};
  a.draw = [=](std::size_t items) {
    return operands{
        input("received", rx, matrices<complex>(static_cast<int>(rx), 1, items * elements, 9), elements)};
  };
  a.run = [=](executor& e, const call& c) {
    estimator.run(e, c["received"], {.covariance = c["covariance"], .noise_var = c["noise_var"]});
  };
  a.free_widths = {"received"};
  return {a};
}

const std::vector<contract_case> erasing{
    {"cholesky", cholesky},
    {"qr", qr<complex>},
    {"real_qr", qr<float>},
    {"whitener", whitening},
    {"demapper", demappers},
    {"constellation_demapper", point_demappers},
    {"demapper_backward", demapper_gradients},
    {"mmse_backward", mmse_gradients_of_sizes},
    {"detector", detectors_of_each_kind},
    {"uplink", uplinks},
    {"downlink", downlinks},
    {"clustered_uplink", [] { return clusters(false); }},
    {"clustered_downlink", [] { return clusters(true); }},
    {"soft_uplink", soft_uplinks},
    {"stbc_decoder", [] { return stbc_decoders(false); }},
    {"sfbc_decoder", sfbc_decoders},
};
const std::vector<contract_case> others{
    {"qam_mapper", mappers},
    {"constellation_mapper", point_mappers},
    {"effective_sinr", effective_sinrs},
    {"stbc_encoder", stbc_encoders},
    {"stbc_encoder_of_symbols", stbc_encoders_of_symbols},
    {"channel_estimator", channel_estimators},
    {"noise_estimator", noise_estimators},
    {"stbc_decoder_of_64_qam", [] { return stbc_decoders(true); }},
    {"stbc_decoder_of_256_qam", stbc_decoders_of_256_qam},
    {"exhaustive_stbc_decoder", exhaustive_stbc_decoders},
};
WB_CONTRACTS(antennas, erasing, others);

}  // namespace contract_antennas_test
}  // namespace wb
