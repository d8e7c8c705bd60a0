// FFTs on a CUDA device by cuFFT, straight from and to where vectors lie: strides and distances are part of a
// plan. Work areas are the executor's. cuFFT is loaded at first use, so that a program runs without it as
// long as it makes no FFT.
#include <warpband/ofdm/fft/fft_args.hpp>

#if WB_BUILD_CUDA
#include <cuda_runtime_api.h>
#include <cufft.h>

#include <algorithm>
#include <array>
#include <list>
#include <string>

#include <warpband/core/error.hpp>
#include <warpband/exec/shared_library.hpp>

namespace wb {
namespace {

#define WB_TEXT_(x) #x
#define WB_TEXT(x) WB_TEXT_(x)
constexpr const char* library_name = "libcufft.so." WB_TEXT(CUFFT_VER_MAJOR);
#undef WB_TEXT
#undef WB_TEXT_

/// The functions of cuFFT that are used here.
struct cufft_library {
  decltype(&cufftCreate) create;
  decltype(&cufftDestroy) destroy;
  decltype(&cufftSetAutoAllocation) set_auto_allocation;
  decltype(&cufftMakePlanMany64) make_plan;
  decltype(&cufftSetStream) set_stream;
  decltype(&cufftSetWorkArea) set_work_area;
  decltype(&cufftExecC2C) run;

  cufft_library() {
    const shared_library cufft("cuFFT", in_cuda_toolkit(library_name), toolkit_advice);
    cufft.find(create, "cufftCreate");
    cufft.find(destroy, "cufftDestroy");
    cufft.find(set_auto_allocation, "cufftSetAutoAllocation");
    cufft.find(make_plan, "cufftMakePlanMany64");
    cufft.find(set_stream, "cufftSetStream");
    cufft.find(set_work_area, "cufftSetWorkArea");
    cufft.find(run, "cufftExecC2C");
  }
};
const cufft_library& cufft() {
  static const cufft_library library;  // never unloaded
  return library;
}

void check(cufftResult r, const char* call) {
  if (r != CUFFT_SUCCESS)
    throw device_error(std::string(call) + " failed: cuFFT error " + std::to_string(static_cast<int>(r)));
}

/// How the vectors of a call are laid over calls of cuFFT: `calls` of them, with `batch` vectors each.
struct geometry {
  std::size_t batch = 0, calls = 1, in_step = 0, out_step = 0;
  // size, in: stride, distance, out: stride, distance, batch
  std::array<long long, 6> key{};
};
geometry geometry_of(const fft_args& a, std::size_t items) {
  const std::size_t inner = a.inner, outer = items / inner;
  geometry g;
  std::size_t in_distance = a.in.inner_distance, out_distance = a.out.inner_distance;
  if (inner == 1) in_distance = a.in.outer_distance, out_distance = a.out.outer_distance;
  if (inner == 1 || outer == 1 ||
      (a.in.outer_distance == inner * in_distance && a.out.outer_distance == inner * out_distance)) {
    g.batch = items;
  } else if (outer <= inner) {
    g.batch = inner, g.calls = outer;
    g.in_step = a.in.outer_distance, g.out_step = a.out.outer_distance;
  } else {
    g.batch = outer, g.calls = inner;
    g.in_step = in_distance, g.out_step = out_distance;
    in_distance = a.in.outer_distance, out_distance = a.out.outer_distance;
  }
  g.key = {a.size,
           static_cast<long long>(a.in.stride),
           static_cast<long long>(in_distance),
           static_cast<long long>(a.out.stride),
           static_cast<long long>(out_distance),
           static_cast<long long>(g.batch)};
  return g;
}

}  // namespace

/// Of one executor, so of one device and one stream.
class cufft_plans {
 public:
  struct plan {
    explicit plan(const std::array<long long, 6>& k) : key(k) {
      cudaGetDevice(&device);
      check(cufft().create(&handle), "making a plan");
      try {
        check(cufft().set_auto_allocation(handle, 0), "making a plan");
        long long n = k[0];
        check(cufft().make_plan(handle, 1, &n, &n, k[1], k[2], &n, k[3], k[4], CUFFT_C2C, k[5], &work_bytes),
              "making a plan");
      } catch (...) {
        cufft().destroy(handle);
        throw;
      }
    }
    ~plan() {  // what is queued may still read it
      int before = device;
      cudaGetDevice(&before);
      cudaSetDevice(device);
      cudaDeviceSynchronize();
      cufft().destroy(handle);
      cudaSetDevice(before);
    }
    plan(const plan&) = delete;
    plan& operator=(const plan&) = delete;

    std::array<long long, 6> key;
    cufftHandle handle = 0;
    std::size_t work_bytes = 0;
    int device = 0;
  };

  /// The one used last is the first.
  const plan& of(const geometry& g) {
    const auto found =
        std::find_if(plans_.begin(), plans_.end(), [&](const plan& p) { return p.key == g.key; });
    if (found != plans_.end()) {
      plans_.splice(plans_.begin(), plans_, found);
    } else {
      plans_.emplace_front(g.key);
      if (plans_.size() > most_plans) plans_.pop_back();
    }
    return plans_.front();
  }

 private:
  static constexpr std::size_t most_plans = 8;
  std::list<plan> plans_;
};

namespace {

std::size_t scratch(const void* args, const device_limits&, std::size_t items) {
  const fft_args& a = *static_cast<const fft_args*>(args);
  return a.cuda_plans->of(geometry_of(a, items)).work_bytes;
}

int run(const void* args, const place& where) {
  const fft_args& a = *static_cast<const fft_args*>(args);
  const geometry g = geometry_of(a, where.last - where.first);
  const cufft_plans::plan& p = a.cuda_plans->of(g);
  check(cufft().set_stream(p.handle, static_cast<cudaStream_t>(where.stream)), "choosing a stream");
  if (p.work_bytes != 0) check(cufft().set_work_area(p.handle, where.scratch), "choosing a work area");
  for (std::size_t i = 0; i < g.calls; i++) {
    // cuFFT does not write to the input of a plan whose output is elsewhere.
    auto* in = reinterpret_cast<cufftComplex*>(const_cast<cx_pair*>(a.in.data + i * g.in_step));
    auto* out = reinterpret_cast<cufftComplex*>(a.out.data + i * g.out_step);
    check(
        cufft().run(p.handle, in, out, a.direction == fft_direction::forward ? CUFFT_FORWARD : CUFFT_INVERSE),
        "starting an FFT");
  }
  return 0;
}

constexpr kernel cuda_kernel{
    "cuda_device", 1, scratch, fft_flops, fft_bytes, [](const void*) { return std::size_t{1}; }, run};

}  // namespace

const kernel* fft_cuda_kernel() noexcept { return &cuda_kernel; }
std::shared_ptr<cufft_plans> make_cuda_plans() { return std::make_shared<cufft_plans>(); }

}  // namespace wb
#else
namespace wb {

class cufft_plans {};
const kernel* fft_cuda_kernel() noexcept { return nullptr; }
std::shared_ptr<cufft_plans> make_cuda_plans() { return nullptr; }

}  // namespace wb
#endif
