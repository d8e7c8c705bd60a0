// The thesis' own design of detector and precoder (docs/li-thesis.md, its §4.2): matrix products,
// decomposition and inversion by calls of cuBLAS for a batch of matrices, kernels for what is left. "cublas"
// is as printed: products by gemm, A^-1 by getrf without pivoting and getri. Others try what newer libraries
// offer: gemv where there is one vector, A^-1 by matinv, or Cholesky's factor by potrf and its inverse by
// trsm. H lies by columns.
//
// cuBLAS and cuSOLVER are loaded at first use.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>

#include <algorithm>
#include <bench/frames.hpp>
#include <bench/peers/blas_device.hpp>
#include <map>
#include <mutex>
#include <stdexcept>
#include <type_traits>
#include <warpband/core/error.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/exec/shared_library.hpp>

namespace wb::bench {
namespace {

// ---------------------------------------------------------------- libraries

#define WB_TEXT_(x) #x
#define WB_TEXT(x) WB_TEXT_(x)

struct cublas_library {
  decltype(&cublasCreate_v2) create;
  decltype(&cublasSetStream_v2) set_stream;
  decltype(&cublasCgemmStridedBatched) gemm;
  decltype(&cublasCgemvStridedBatched) gemv;
  decltype(&cublasCgetrfBatched) getrf;
  decltype(&cublasCgetriBatched) getri;
  decltype(&cublasCmatinvBatched) matinv;
  decltype(&cublasCtrsmBatched) trsm;

  cublas_library() {
    const shared_library library("cuBLAS", in_cuda_toolkit("libcublas.so." WB_TEXT(CUBLAS_VER_MAJOR)),
                                 toolkit_advice);
    library.find(create, "cublasCreate_v2");
    library.find(set_stream, "cublasSetStream_v2");
    library.find(gemm, "cublasCgemmStridedBatched");
    library.find(gemv, "cublasCgemvStridedBatched");
    library.find(getrf, "cublasCgetrfBatched");
    library.find(getri, "cublasCgetriBatched");
    library.find(matinv, "cublasCmatinvBatched");
    library.find(trsm, "cublasCtrsmBatched");
  }
};
const cublas_library& cublas() {
  static const cublas_library library;  // never unloaded
  return library;
}
struct cusolver_library {
  decltype(&cusolverDnCreate) create;
  decltype(&cusolverDnSetStream) set_stream;
  decltype(&cusolverDnCpotrfBatched) potrf;

  cusolver_library() {
    cublas();
    const shared_library library("cuSOLVER", in_cuda_toolkit("libcusolver.so." WB_TEXT(CUSOLVER_VER_MAJOR)),
                                 toolkit_advice);
    library.find(create, "cusolverDnCreate");
    library.find(set_stream, "cusolverDnSetStream");
    library.find(potrf, "cusolverDnCpotrfBatched");
  }
};
const cusolver_library& cusolver() {
  static const cusolver_library library;
  return library;
}

void check(cublasStatus_t r, const char* call) {
  if (r != CUBLAS_STATUS_SUCCESS)
    throw device_error(std::string(call) + " failed: cuBLAS error " + std::to_string(static_cast<int>(r)));
}
void check(cusolverStatus_t r, const char* call) {
  if (r != CUSOLVER_STATUS_SUCCESS)
    throw device_error(std::string(call) + " failed: cuSOLVER error " + std::to_string(static_cast<int>(r)));
}

/// The handle of a stream; each is kept, with its work area, until the program ends.
template <class Handle, class Create, class SetStream>
Handle handle_of(cudaStream_t stream, Create create, SetStream set_stream) {
  static std::mutex mutex;
  static std::map<cudaStream_t, Handle> handles;
  const std::lock_guard lock(mutex);
  Handle& handle = handles[stream];
  if (handle == nullptr) {
    check(create(&handle), "making a handle");
    check(set_stream(handle, stream), "choosing a stream");
  }
  return handle;
}

// ---------------------------------------------------------------- the design

enum class how { as_printed, gemv, matinv, potrf };

/// A frame's arrays besides its data.
struct workspace {
  array<float2> a, inverse;     // [estimates, U * U]
  array<float2> b, x, r, t, s;  // [vectors, U]
  array<float2> energies;       // [vectors]
  array<float2*> a_at, inverse_at;
  array<int> info;
};

enum class stage {
  copy,
  gram,
  filter,
  regularise,
  factor,
  invert,
  identity,
  half_solve,
  solve,
  start,
  product,
  step,
  soften,
  send,
  normalise,
  pointers
};
struct stage_args {
  stage step;
  how method;
  frame_data* data;
  workspace* work;
};

constexpr cuComplex one{1, 0}, zero{0, 0};

/// C = op(A) B for each estimate: op(A) is m x k, B k x n.
struct product {
  cublasOperation_t op;
  int m, n, k;
  const float2 *a, *b;
  float2* c;
  bool by_vector;  // where B has one column
};
void multiply(cublasHandle_t handle, const product& p, int batch) {
  const int lda = p.op == CUBLAS_OP_N ? p.m : p.k;
  const long long of_a = static_cast<long long>(p.m) * p.k, of_b = static_cast<long long>(p.k) * p.n,
                  of_c = static_cast<long long>(p.m) * p.n;
  if (p.by_vector && p.n == 1)
    check(cublas().gemv(handle, p.op, lda, p.op == CUBLAS_OP_N ? p.k : p.m, &one, p.a, lda, of_a, p.b, 1,
                        of_b, &zero, p.c, 1, of_c, batch),
          "gemv");
  else
    check(cublas().gemm(handle, p.op, CUBLAS_OP_N, p.m, p.n, p.k, &one, p.a, lda, of_a, p.b, p.k, of_b, &zero,
                        p.c, p.m, of_c, batch),
          "gemm");
}

void run_stage(const stage_args& args, cudaStream_t stream) {
  frame_data& d = *args.data;
  workspace& w = *args.work;
  const frame_shape& shape = d.shape;
  const int b = shape.antennas, u = shape.users, sides = shape.vectors_of_estimate();
  const std::size_t estimates = shape.estimates(), vectors = shape.vectors();
  const int batch = static_cast<int>(estimates);
  auto* h = reinterpret_cast<float2*>(d.h.data());
  auto* in = reinterpret_cast<float2*>(d.in.data());
  const float2* right = shape.uplink ? w.b.data() : in;
  const bool by_vector = args.method != how::as_printed, by_factor = args.method == how::potrf;
  const auto blas = [&] { return handle_of<cublasHandle_t>(stream, cublas().create, cublas().set_stream); };
  switch (args.step) {
    case stage::pointers:
      make_pointers(stream, w.a_at.data(), w.a.data(), w.a.elements(), estimates);
      make_pointers(stream, w.inverse_at.data(), w.inverse.data(), w.inverse.elements(), estimates);
      break;
    case stage::copy:
      for (std::size_t have = static_cast<std::size_t>(shape.subcarriers); have < estimates;) {
        const std::size_t more = std::min(have, estimates - have);
        cudaMemcpyAsync(h + have * d.h.elements(), h, more * d.h.elements() * sizeof(float2),
                        cudaMemcpyDeviceToDevice, stream);
        have += more;
      }
      break;
    case stage::gram:
      multiply(blas(), {CUBLAS_OP_C, u, u, b, h, h, w.a.data(), false}, batch);
      break;
    case stage::filter:
      multiply(blas(), {CUBLAS_OP_C, u, sides, b, h, in, w.b.data(), by_vector}, batch);
      break;
    case stage::regularise:
      regularise(stream, w.a.data(), d.n0.data(), u, estimates);
      break;
    case stage::factor:
      if (by_factor)
        check(
            cusolver().potrf(handle_of<cusolverDnHandle_t>(stream, cusolver().create, cusolver().set_stream),
                             CUBLAS_FILL_MODE_LOWER, u, w.a_at.data(), u, w.info.data(), batch),
            "potrf");
      else
        check(cublas().getrf(blas(), u, w.a_at.data(), u, nullptr, w.info.data(), batch), "getrf");
      break;
    case stage::identity:
      make_identities(stream, w.inverse.data(), u, estimates);
      break;
    case stage::invert:
      if (by_factor)
        check(
            cublas().trsm(blas(), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT,
                          u, u, &one, w.a_at.data(), u, w.inverse_at.data(), u, batch),
            "trsm");
      else if (args.method == how::matinv)
        check(cublas().matinv(blas(), u, w.a_at.data(), u, w.inverse_at.data(), u, w.info.data(), batch),
              "matinv");
      else
        check(cublas().getri(blas(), u, w.a_at.data(), u, nullptr, w.inverse_at.data(), u, w.info.data(),
                             batch),
              "getri");
      break;
    case stage::half_solve:
      multiply(blas(), {CUBLAS_OP_N, u, sides, u, w.inverse.data(), right, w.t.data(), by_vector}, batch);
      break;
    case stage::solve:
      multiply(blas(),
               {by_factor ? CUBLAS_OP_C : CUBLAS_OP_N, u, sides, u, w.inverse.data(),
                by_factor ? w.t.data() : right, w.x.data(), by_vector},
               batch);
      break;
    case stage::start:
      start_cg(stream, right, w.x.data(), w.r.data(), w.t.data(), w.energies.data(), u, vectors);
      break;
    case stage::product:
      multiply(blas(), {CUBLAS_OP_N, u, sides, u, w.a.data(), w.t.data(), w.s.data(), by_vector}, batch);
      break;
    case stage::step:
      step_cg(stream, w.s.data(), w.x.data(), w.r.data(), w.t.data(), w.energies.data(), u, vectors);
      break;
    case stage::soften: {
      const bool exact = shape.solver == massive_solver::cholesky;
      soften(stream, w.x.data(), exact ? w.inverse.data() : w.a.data(), d.n0.data(),
             reinterpret_cast<float4*>(d.llr.data()), exact, by_factor, u, sides, vectors);
      break;
    }
    case stage::send:
      multiply(blas(),
               {CUBLAS_OP_N, b, sides, u, h, w.x.data(), reinterpret_cast<float2*>(d.out.data()), by_vector},
               batch);
      break;
    case stage::normalise:
      normalise(stream, reinterpret_cast<float2*>(d.out.data()), b, vectors);
      break;
  }
}

int run(const void* args, const place& where) {
  run_stage(*static_cast<const stage_args*>(args), static_cast<cudaStream_t>(where.stream));
  return cudaGetLastError();
}

/// Of the whole frame, counted with its first products: complex products of two multiplies and two fma.
double flops(const void* args) {
  const auto& a = *static_cast<const stage_args*>(args);
  if (a.step != stage::gram) return 0;
  const frame_shape& s = a.data->shape;
  const double b = s.antennas, u = s.users, sides = s.vectors_of_estimate();
  const double solver = s.solver == massive_solver::cholesky ? u * u * u + sides * u * u
                                                             : s.iterations.value_or(0) * sides * u * u;
  return 4 * (b * u * u + sides * b * u + solver);
}
/// H, vectors and results once.
double bytes(const void* args) {
  const auto& a = *static_cast<const stage_args*>(args);
  if (a.step != stage::gram) return 0;
  const frame_shape& s = a.data->shape;
  const double b = s.antennas, u = s.users, sides = s.vectors_of_estimate();
  return 8 * b * u + sides * (8 * b + (s.uplink ? 16 : 8) * u);
}

constexpr kernel on_cuda{"cuda_device",
                         1,
                         [](const void*, const device_limits&, std::size_t) { return std::size_t{0}; },
                         flops,
                         bytes,
                         [](const void*) { return std::size_t{1}; },
                         run};
constexpr kernel_set blas_kernels{"blas", {nullptr, nullptr, nullptr, nullptr}, &on_cuda};

std::vector<stage> stages_of(const frame_data& d, how method) {
  std::vector<stage> stages;
  if (d.copied) stages.push_back(stage::copy);
  stages.push_back(stage::gram);
  if (d.shape.uplink) stages.push_back(stage::filter);
  stages.push_back(stage::regularise);
  if (d.shape.solver == massive_solver::cg) {
    stages.push_back(stage::start);
    for (int i = 0; i < d.shape.iterations.value_or(0); i++)
      stages.insert(stages.end(), {stage::product, stage::step});
  } else {
    if (method != how::matinv) stages.push_back(stage::factor);
    if (method == how::potrf) stages.push_back(stage::identity);
    stages.push_back(stage::invert);
    if (method == how::potrf) stages.push_back(stage::half_solve);
    stages.push_back(stage::solve);
  }
  if (d.shape.uplink)
    stages.push_back(stage::soften);
  else
    stages.insert(stages.end(), {stage::send, stage::normalise});
  return stages;
}

std::function<void()> blas_design(executor& exec, frame_data& d, how method) {
  const std::size_t u = static_cast<std::size_t>(d.shape.users), estimates = d.shape.estimates(),
                    vectors = d.shape.vectors();
  if (u != 8 && u != 16 && u != 32) throw argument_error("users", std::to_string(u), "8, 16 or 32");
  auto w = std::make_shared<workspace>();
  for (auto* x : {&w->a, &w->inverse}) *x = exec.make<float2>(estimates, u * u);
  for (auto* x : {&w->b, &w->x, &w->r, &w->t, &w->s}) *x = exec.make<float2>(vectors, u);
  w->energies = exec.make<float2>(vectors, 1);
  for (auto* x : {&w->a_at, &w->inverse_at}) *x = exec.make<float2*>(estimates, 1);
  w->info = exec.make<int>(estimates, 1);
  const stage_args pointers{stage::pointers, method, &d, w.get()};
  exec.run(blas_kernels, &pointers, estimates);
  exec.sync();
  return [&exec, &d, w, method, stages = stages_of(d, method)] {
    for (const stage s : stages) {
      const stage_args args{s, method, &d, w.get()};
      exec.run(blas_kernels, &args, d.shape.estimates());
    }
  };
}

const group blas_benches{[] {
  for (const std::string& device : devices()) {
    if (device == "cpu") continue;
    const auto add = [&](const frame_shape& s, const char* by, how method,
                         const std::vector<figure>& figures) {
      add_frames(device, s, by, figures, true,
                 [method](executor& exec, frame_data& d) { return blas_design(exec, d, method); });
    };
    for (const auto& [shape, figures] : thesis_frames(device)) {
      const bool slot = shape.symbols == 14, full = shape.symbols == (shape.users == 32 ? 16 : 64);
      std::vector<figure> measured = figures;
      if (!shape.per_vector && !slot)
        std::erase_if(measured, [&](figure f) { return f != figure::kernel || !full; });
      add(shape, "cublas", how::as_printed, measured);
      // What newer calls gain.
      std::erase_if(measured, [&](figure f) { return f != figure::kernel || !(full || slot); });
      if (shape.solver == massive_solver::cg) {
        if (shape.per_vector) add(shape, "cublas_gemv", how::gemv, measured);
      } else {
        add(shape, "cublas_matinv", how::matinv, measured);
        add(shape, "cusolver_potrf", how::potrf, measured);
      }
    }
  }
}};

}  // namespace
}  // namespace wb::bench
