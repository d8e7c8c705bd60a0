// MMSE detection and precoding of frames by Eigen: Gram matrix (the lower half), Cholesky factor L and its
// inverse, which the SINR needs and whose products are faster than substitution. Compiled for the machine
// that compiles it.
#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <bench/frames.hpp>
#include <cmath>
#include <stdexcept>
#include <string>
#include <warpband/exec/executor.hpp>

namespace wb::bench {
namespace {

using cf = std::complex<float>;
using index = Eigen::Index;

struct frame_args {
  frame_data* data;
};

/// Max-log LLRs of 16-QAM with Gray labels, `x` without bias: differences of squared distances to the points
/// -3, -1, 1, 3 are straight pieces.
inline void soften(cf x, float sinr, float* llr) {
  const float unit = 0.31622777f, weight = 4 * sinr * unit * unit;
  for (int part = 0; part < 2; part++) {
    const float v = (part == 0 ? x.real() : x.imag()) / unit, size = std::abs(v);
    llr[part] = weight * (size <= 2 ? v : std::copysign(2 * size - 2, v));
    llr[part + 2] = weight * (2 - size);
  }
}

/// U is the number of users: known, Eigen's small matrices need no heap.
template <int U>
void frames_of(frame_data& d, std::size_t first, std::size_t last) {
  using tall = Eigen::Matrix<cf, Eigen::Dynamic, U>;
  using square = Eigen::Matrix<cf, U, U>;
  using wide = Eigen::Matrix<cf, U, Eigen::Dynamic>;
  const frame_shape& s = d.shape;
  const index b = s.antennas, u = s.users, sides = s.vectors_of_estimate();
  const float n0 = d.n0.data()[0];
  square a(u, u), inverse(u, u);
  wide z(u, sides), between(u, sides);
  Eigen::LLT<square> factor(u);
  for (auto f = static_cast<index>(first); f < static_cast<index>(last); f++) {
    const Eigen::Map<const tall> h(d.h.data() + f * b * u, b, u);
    a.setZero();
    a.template selfadjointView<Eigen::Lower>().rankUpdate(h.adjoint());
    a.diagonal().array() += n0;
    factor.compute(a);
    inverse.setIdentity();
    factor.matrixL().solveInPlace(inverse);
    const auto solve = [&](const auto& right) {  // A^-1 = L^-H L^-1
      between.noalias() = inverse.template triangularView<Eigen::Lower>() * right;
      z.noalias() = inverse.adjoint() * between;
    };
    if (!s.uplink) {
      solve(Eigen::Map<const wide>(d.in.data() + f * sides * u, u, sides));
      Eigen::Map<Eigen::MatrixXcf> out(d.out.data() + f * sides * b, b, sides);
      out.noalias() = h * z;
      out.colwise().normalize();
      continue;
    }
    z.noalias() = h.adjoint() * Eigen::Map<const Eigen::MatrixXcf>(d.in.data() + f * sides * b, b, sides);
    solve(z);
    float* llr = d.llr.data() + f * sides * 4 * u;
    for (index i = 0; i < u; i++) {
      const float error = n0 * inverse.col(i).tail(u - i).squaredNorm(), left = 1 - error;
      for (index k = 0; k < sides; k++) soften(z(i, k) / left, left / error, llr + 4 * (u * k + i));
    }
  }
}

int run(const void* args, const place& where) {
  frame_data& d = *static_cast<const frame_args*>(args)->data;
  if (d.shape.users == 16)
    frames_of<16>(d, where.first, where.last);
  else if (d.shape.users == 32)
    frames_of<32>(d, where.first, where.last);
  else
    throw std::invalid_argument("users: " + std::to_string(d.shape.users) + ", expected 16 or 32");
  return 0;
}

/// Products of half a Gram matrix, matched filters or precoding, and solutions; two multiplies and two fma
/// each.
double flops(const void* args) {
  const frame_shape& s = static_cast<const frame_args*>(args)->data->shape;
  const double b = s.antennas, u = s.users, sides = s.vectors_of_estimate();
  return 4 * (b * u * (u + 1) / 2 + u * u * u / 6 + (s.uplink ? u * u * u / 6 : 0) + sides * (b * u + u * u));
}
double bytes(const void* args) {
  const frame_shape& s = static_cast<const frame_args*>(args)->data->shape;
  const double b = s.antennas, u = s.users, sides = s.vectors_of_estimate();
  return 8 * b * u + sides * (8 * b + (s.uplink ? 16 : 8) * u);
}

constexpr kernel on_cpu{
    "native", 1,     [](const void*, const device_limits&, std::size_t) { return std::size_t{0}; },
    flops,    bytes, [](const void*) { return std::size_t{1}; },
    run};
constexpr kernel_set eigen_kernels{"eigen", {&on_cpu, &on_cpu, &on_cpu, &on_cpu}, nullptr};

const group eigen_benches{[] {
  for (const std::string& device : devices()) {
    if (device != "cpu") continue;
    for (const auto& [shape, figures] : thesis_frames(device))
      if (shape.solver == massive_solver::cholesky)
        add_frames(device, shape, "eigen", figures, true, [](executor& exec, frame_data& d) {
          return [&exec, &d] {
            const frame_args args{&d};
            exec.run(eigen_kernels, &args, d.shape.estimates());
          };
        });
  }
}};

}  // namespace
}  // namespace wb::bench
