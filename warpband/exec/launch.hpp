#pragma once
// The generic launchers, one for CPUs and one for CUDA. Included by *_kernels.cpp only.
//
// An op is a plain struct, copied to the device as a kernel parameter. op.hpp has bases with defaults.
//   static constexpr bool by_block;             CUDA: a thread block per item (true) or a thread per item
//   static constexpr int tile;                  or, where an op has it: so many threads of a warp per item
//   static constexpr bool tiles_in_shared;      optional, true: a build of its own where scratch is in shared
//                                               memory, and as many tiles as that has room for
//   static constexpr int resident;              optional: blocks a multiprocessor must hold, which limits
//                                               registers, and has shared memory made room for
//   static constexpr int most_threads;          optional, by_block: bound of a block's threads
//   int threads() const;                        by_block: threads wanted per item
//   std::size_t scratch(int group) const;       values of T one item needs when `group` threads share it
//   double flops() const, bytes() const;        of one item; kernel.hpp says what counts as an operation
//   template <class T, class G> WB_HD void operator()(item<T> b, G g, T* scratch) const;   load, phases,
//   store
// A CPU thread runs it with T = lane, G = solo over width_of<lane> items at a time; CUDA with T = float.
//
// An op whose lanes are parts of an item instead (neighbouring rows of a code) has by_block and
//   int at_once;                                items a call works on, constant or by the arguments
//   std::size_t scratch_bytes(int group) const; in place of scratch
//   static constexpr bool always_in_shared;     optional, true: scratch never exceeds 64 KiB
//   template <class G> WB_HD void operator()(std::size_t first, int items, G g, void* scratch) const;
#include <concepts>

#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/kernel.hpp>

namespace wb {
inline namespace WB_ISA {

/// Lanes are parts of an item.
template <class Op>
concept op_within = requires(const Op o) {
  { o.at_once } -> std::convertible_to<int>;
  { o.scratch_bytes(1) } -> std::convertible_to<std::size_t>;
};
template <class Op>
concept op = requires(const Op o) {
  { Op::by_block } -> std::convertible_to<bool>;
  { o.threads() } -> std::convertible_to<int>;
  { o.flops() } -> std::convertible_to<double>;
  { o.bytes() } -> std::convertible_to<double>;
} && (op_within<Op> || requires(const Op o) {
               { o.scratch(1) } -> std::convertible_to<std::size_t>;
             });

/// Items of one call of an op, and scratch bytes of a block or of a CPU thread.
template <op Op>
std::size_t items_of(const Op& op) {
  if constexpr (op_within<Op>)
    return static_cast<std::size_t>(op.at_once);
  else
    return static_cast<std::size_t>(width_of<lane>);
}
template <op Op>
std::size_t bytes_of(const Op& op, int group) {
  if constexpr (op_within<Op>)
    return (op.scratch_bytes(group) + sizeof(lane) - 1) / sizeof(lane) * sizeof(lane);
  else
    return op.scratch(group) * sizeof(lane);
}

/// Threads of a warp that share an item; 1 for ops that have no `tile`.
template <op Op>
constexpr int tile_of() {
  if constexpr (requires { Op::tile; })
    return Op::tile;
  else
    return 1;
}

/// Blocks a multiprocessor must hold; 1 for ops that have no `resident`.
template <op Op>
constexpr int resident_of() {
  if constexpr (requires { Op::resident; })
    return Op::resident;
  else
    return 1;
}

#if defined(__CUDACC__)
/// How items map to a CUDA device. An op says whether it wants a thread or a block per item, and how many
/// threads.
struct launch_table {
  static constexpr unsigned item_threads = 128;       // of a block, a thread per item
  static constexpr int most_threads = 256;            // of a block per item: 255 registers are left for each
  static constexpr std::size_t workspace_blocks = 8;  // a multiprocessor, where scratch lies in device memory
};

template <op Op>
__global__ void __launch_bounds__(launch_table::item_threads, resident_of<Op>())
    run_threads(const __grid_constant__ Op op, std::size_t first, std::size_t last) {
  const std::size_t step = gridDim.x * static_cast<std::size_t>(blockDim.x);
  for (std::size_t b = first + blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; b < last;
       b += step)
    op(item<float>{b, 1}, solo{}, static_cast<float*>(nullptr));
}
/// With InShared the compiler knows that scratch is in shared memory. `workspace` is null then.
template <op Op, bool InShared>
__global__ void __launch_bounds__(launch_table::item_threads, resident_of<Op>())
    run_tiles(const __grid_constant__ Op op, std::size_t first, std::size_t last, float* workspace,
              std::size_t stride) {
  constexpr int size = Op::tile;
  extern __shared__ float shared[];
  const tile<size> g;
  const std::size_t tiles = blockDim.x / size, local_tile = threadIdx.x / size;
  float* scratch = InShared || workspace == nullptr ? shared + local_tile * stride
                                                    : workspace + (blockIdx.x * tiles + local_tile) * stride;
  for (std::size_t b = first + blockIdx.x * tiles + local_tile; b < last; b += gridDim.x * tiles) {
    op(item<float>{b, 1}, g, scratch);
    g.sync();
  }
}
/// Threads of a block; fewer than the launch table's for ops that say so.
template <op Op>
inline constexpr int most_threads_of = [] {
  if constexpr (requires { Op::most_threads; })
    return Op::most_threads;
  else
    return launch_table::most_threads;
}();
/// InShared: as above.
template <op Op, bool InShared>
__global__ void __launch_bounds__(most_threads_of<Op>, resident_of<Op>())
    run_blocks(const __grid_constant__ Op op, std::size_t first, std::size_t last, float* workspace,
               std::size_t stride) {
  extern __shared__ float shared[];
  __shared__ std::int32_t word;
  const block<> g(&word);
  float* scratch = InShared || workspace == nullptr ? shared : workspace + blockIdx.x * stride;
  std::size_t n = 1;
  if constexpr (op_within<Op>) n = static_cast<std::size_t>(op.at_once);
  for (std::size_t b = first + n * blockIdx.x; b < last; b += n * gridDim.x) {
    if constexpr (op_within<Op>)
      op(b, static_cast<int>(last - b < n ? last - b : n), g, static_cast<void*>(scratch));
    else
      op(item<float>{b, 1}, g, scratch);
    g.sync();
  }
}

/// Threads a block gets: whole warps, at most the launch bound.
template <op Op>
int block_threads(const Op& op) {
  const int n = (op.threads() + 31) / 32 * 32, limit = most_threads_of<Op>;
  return n < 32 ? 32 : n > limit ? limit : n;
}
/// Blocks that work at once when their scratch lies in device memory.
inline std::size_t resident_blocks(const device_limits& limits, std::size_t items) {
  const std::size_t n = static_cast<std::size_t>(limits.multiprocessors) * launch_table::workspace_blocks;
  return items < n ? items : n;
}
/// How the tiles of an op lie: values of scratch each, threads of a block, and whether scratch is in shared
/// memory. Neighbouring tiles begin 16 bytes a thread apart, modulo the banks of shared memory. So eight
/// threads that each access 16 bytes of their own have no bank conflict.
struct tile_plan {
  std::size_t stride = 0;
  int threads = 0;
  bool shared = true;
};
template <op Op>
constexpr bool tiles_in_shared() {
  return requires { Op::tiles_in_shared; };
}
template <op Op>
tile_plan plan_tiles(const Op& op, const device_limits& limits) {
  tile_plan p;
  p.stride = (op.scratch(Op::tile) + 3) / 4 * 4;
  while (p.stride != 0 && p.stride % 32 != 4 * Op::tile % 32) p.stride += 4;
  p.threads = static_cast<int>(launch_table::item_threads);
  const auto bytes = [&](int threads) {
    return p.stride * sizeof(float) * static_cast<std::size_t>(threads / Op::tile);
  };
  // Threads that a multiprocessor holds, by its shared memory. Each block takes 1 KiB more.
  const auto resident = [&](int threads) {
    return (limits.shared_bytes + 1024) / (bytes(threads) + 1024) * static_cast<std::size_t>(threads);
  };
  while (p.threads > 32 && (bytes(p.threads) > limits.shared_bytes ||
                            (tiles_in_shared<Op>() && resident(p.threads / 2) > resident(p.threads))))
    p.threads /= 2;
  if (bytes(p.threads) > limits.shared_bytes) {
    p.shared = false;
    p.threads = 32;
  }
  return p;
}
template <op Op>
std::size_t tile_blocks(const tile_plan& p, const device_limits& limits, std::size_t items) {
  const std::size_t tiles = static_cast<std::size_t>(p.threads / Op::tile);
  const std::size_t n = (items + tiles - 1) / tiles;
  return p.shared ? (n < 0x7fffffff ? n : 0x7fffffff) : resident_blocks(limits, n);
}
template <op Op>
std::size_t scratch_bytes(const Op& op, const device_limits& limits, std::size_t items) {
  if constexpr (tile_of<Op>() > 1) {
    const tile_plan p = plan_tiles(op, limits);
    if (p.shared) return 0;
    return tile_blocks<Op>(p, limits, items) * static_cast<std::size_t>(p.threads / Op::tile) * p.stride *
           sizeof(float);
  } else if constexpr (!Op::by_block) {
    return 0;
  } else {
    const std::size_t bytes = bytes_of(op, block_threads(op));
    return bytes <= limits.shared_bytes ? 0 : bytes * resident_blocks(limits, items);
  }
}
template <op Op>
int launch(const Op& op, const place& where) {
  const std::size_t items = where.last - where.first;
  if (items == 0) return 0;
  const auto stream = static_cast<cudaStream_t>(where.stream);
  if constexpr (tile_of<Op>() > 1) {
    const tile_plan p = plan_tiles(op, where.limits);
    const std::size_t bytes =
        p.shared ? p.stride * sizeof(float) * static_cast<std::size_t>(p.threads / Op::tile) : 0;
    const auto start = [&](auto kernel, bool most_shared) -> cudaError_t {
      if (bytes > 48 * 1024 || most_shared) {
        const cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                   static_cast<int>(where.limits.shared_bytes));
        if (e != cudaSuccess) return e;
      }
      if (most_shared)
        cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared);
      kernel<<<static_cast<unsigned>(tile_blocks<Op>(p, where.limits, items)),
               static_cast<unsigned>(p.threads), bytes, stream>>>(
          op, where.first, where.last, p.shared ? nullptr : static_cast<float*>(where.scratch), p.stride);
      return cudaGetLastError();
    };
    if constexpr (tiles_in_shared<Op>())
      if (p.shared) return start(run_tiles<Op, true>, true);
    return start(run_tiles<Op, false>, false);
  } else if constexpr (!Op::by_block) {
    const unsigned threads = launch_table::item_threads;
    const std::size_t blocks = (items + threads - 1) / threads,
                      grid = blocks < 0x7fffffff ? blocks : 0x7fffffff;
    run_threads<<<static_cast<unsigned>(grid), threads, 0, stream>>>(op, where.first, where.last);
  } else {
    const int threads = block_threads(op);
    const std::size_t bytes = bytes_of(op, threads), at_once = items_of(op),
                      calls = (items + at_once - 1) / at_once;
    if (bytes <= where.limits.shared_bytes) {
      constexpr bool in_shared = op_within<Op>;  // twice the code: for ops that gain by it
      const cudaError_t e =
          cudaFuncSetAttribute(run_blocks<Op, in_shared>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(where.limits.shared_bytes));
      if (e != cudaSuccess) return e;
      if (bytes > 48 * 1024 &&
          resident_of<Op>() > 1)  // left to itself the driver may make room for one block
        cudaFuncSetAttribute(run_blocks<Op, in_shared>, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared);
      const std::size_t grid = calls < 0x7fffffff ? calls : 0x7fffffff;
      run_blocks<Op, in_shared>
          <<<static_cast<unsigned>(grid), static_cast<unsigned>(threads), bytes, stream>>>(
              op, where.first, where.last, nullptr, 0);
    } else if constexpr (!requires { Op::always_in_shared; }) {
      run_blocks<Op, false><<<static_cast<unsigned>(resident_blocks(where.limits, calls)),
                              static_cast<unsigned>(threads), 0, stream>>>(
          op, where.first, where.last, static_cast<float*>(where.scratch), bytes / sizeof(float));
    }
  }
  return cudaGetLastError();
}
#else
template <op Op>
std::size_t scratch_bytes(const Op& op, const device_limits&, std::size_t) {
  return bytes_of(op, 1);
}
template <op Op>
int launch(const Op& op, const place& where) {
  const std::size_t width = items_of(op);
  for (std::size_t b = where.first; b < where.last; b += width) {
    const std::size_t rest = where.last - b;
    const int valid = static_cast<int>(rest < width ? rest : width);
    if constexpr (op_within<Op>)
      op(b, valid, solo{}, where.scratch);
    else
      op(item<lane>{b, valid}, solo{}, static_cast<lane*>(where.scratch));
  }
  return 0;
}
#endif

/// Calls f.operator()<N>() with the N of First to Last that `value` is; any other value counts as Last.
template <int First, int Last, class F>
auto with_number(int value, F f) {
  if constexpr (First < Last)
    if (value != First) return with_number<First + 1, Last>(value, f);
  return f.template operator()<First>();
}

}  // namespace WB_ISA
}  // namespace wb

#define WB_STRING_(x) #x
#define WB_STRING(x) WB_STRING_(x)
/// Exports an op that has one build for all arguments.
#define WB_EXPORT_OP(name, args_type, op_type)       \
  template <class F>                                 \
  static auto with_##name(const args_type& a, F f) { \
    return f(op_type{a});                            \
  }                                                  \
  WB_EXPORT_KERNEL(name, args_type, with_##name)
/// Exports an op of several builds: `with_op(args, f)` calls f with the op that the arguments choose, so the
/// list of built variants stands in one place. `items`: kernel::lanes.
#define WB_EXPORT_KERNEL(name, args_type, with_op) WB_EXPORT_KERNEL_OF(name, args_type, with_op, WB_WIDTH)
#define WB_EXPORT_KERNEL_OF(name, args_type, with_op, items)                                                \
  const ::wb::kernel* name##_kernel();                                                                      \
  const ::wb::kernel* name##_kernel() {                                                                     \
    static constexpr ::wb::kernel k{                                                                        \
        WB_STRING(WB_ISA),                                                                                  \
        items,                                                                                              \
        [](const void* a, const device_limits& l, std::size_t n) {                                          \
          return with_op(*static_cast<const args_type*>(a),                                                 \
                         [&](const auto& op) { return scratch_bytes(op, l, n); });                          \
        },                                                                                                  \
        [](const void* a) {                                                                                 \
          return with_op(*static_cast<const args_type*>(a), [](const auto& op) { return op.flops(); });     \
        },                                                                                                  \
        [](const void* a) {                                                                                 \
          return with_op(*static_cast<const args_type*>(a), [](const auto& op) { return op.bytes(); });     \
        },                                                                                                  \
        [](const void* a) {                                                                                 \
          return with_op(*static_cast<const args_type*>(a), [](const auto& op) { return items_of(op); });   \
        },                                                                                                  \
        [](const void* a, const place& w) {                                                                 \
          return with_op(*static_cast<const args_type*>(a), [&](const auto& op) { return launch(op, w); }); \
        }};                                                                                                 \
    return &k;                                                                                              \
  }
