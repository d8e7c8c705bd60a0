#include <warpband/exec/cpu.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <thread>
#include <utility>

#if defined(__x86_64__)
#include <xmmintrin.h>

#include <warpband/exec/x86_level.hpp>
#endif

#include <warpband/core/check.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/exec/pool.hpp>

namespace wb {
namespace {

class heap final : public memory {
 public:
  void* take(std::size_t bytes) override {
    // Rounding up to the alignment must not wrap around.
    void* p = bytes > PTRDIFF_MAX ? nullptr : ::operator new(bytes, std::align_val_t{64}, std::nothrow);
    if (p == nullptr) throw memory_error(bytes, "the host");
    return p;
  }
  void give(void* p, std::size_t) noexcept override { ::operator delete(p, std::align_val_t{64}); }
};

std::shared_ptr<memory> the_heap() {
  static const auto h = std::make_shared<heap>();
  return h;
}

/// Whether this build has its kernels, and this machine runs them.
bool is_available(isa i) {
  constexpr bool built[] = {WB_BUILD_SCALAR, WB_BUILD_BASE || WB_BUILD_NEON, WB_BUILD_AVX2, WB_BUILD_AVX512};
  if (!built[static_cast<int>(i)]) return false;
#if defined(__x86_64__)
  if (i == isa::avx2) return x86_level() >= 3;  // what the kernels are compiled for
  if (i == isa::avx512) return x86_level() >= 4;
#endif
  return true;
}

/// Round to nearest and keep denormals, whatever the caller has set: equal bits need it.
class ieee_arithmetic {
 public:
#if defined(__x86_64__)
  ieee_arithmetic() : saved_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~ieee_arithmetic() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;
#elif defined(__aarch64__)
  ieee_arithmetic() : saved_(__builtin_aarch64_get_fpcr()) { __builtin_aarch64_set_fpcr(0); }
  ~ieee_arithmetic() { __builtin_aarch64_set_fpcr(saved_); }

 private:
  unsigned saved_;
#endif
 public:
  ieee_arithmetic(const ieee_arithmetic&) = delete;
  ieee_arithmetic& operator=(const ieee_arithmetic&) = delete;
};

isa widest_or_forced() {
  if (const char* forced = std::getenv("WARPBAND_ISA"); forced != nullptr && *forced != '\0')
    return isa_from_name(forced);
  const std::vector<isa> available = available_isas();
  if (available.empty())
    throw device_error(
        "this build has no kernels for this processor's instruction set: build with "
        "WARPBAND_ISAS=all");
  return available.back();
}

}  // namespace

std::vector<isa> available_isas() {
  std::vector<isa> available;
  for (isa i : {isa::scalar, isa::base, isa::avx2, isa::avx512})
    if (is_available(i)) available.push_back(i);
  return available;
}

const char* isa_name(isa i) noexcept {
  switch (i) {
    case isa::scalar:
      return "scalar";
#if WB_BUILD_NEON
    case isa::base:
      return "neon";
#else
    case isa::base:
      return "base";
#endif
    case isa::avx2:
      return "avx2";
    case isa::avx512:
      return "avx512";
  }
  return "?";
}

isa isa_from_name(const std::string& name) {
  std::string allowed;
  for (isa i : available_isas()) {
    if (name == isa_name(i)) return i;
    allowed += (allowed.empty() ? "one of " : ", ") + std::string(isa_name(i));
  }
  for (isa i : {isa::scalar, isa::base, isa::avx2, isa::avx512})
    if (name == isa_name(i))
      throw device_error("instruction set " + name +
                         " is not available on this machine or not in this build: expected " + allowed);
  throw argument_error("WARPBAND_ISA", "\"" + printable(name) + "\"", allowed);
}

cpu::cpu(cpu_options options)
    : executor(the_heap(), the_heap()),
      isa_(options.instructions ? *options.instructions : widest_or_forced()),
      interrupted_(std::move(options.interrupted)) {
  if (options.threads) check_range("threads", *options.threads, 1, 4096);
  if (!is_available(isa_))
    throw device_error(std::string("instruction set ") + isa_name(isa_) +
                       " is not available on this machine or not in this build");
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int threads = options.threads.value_or(cores);
  pool_ = std::make_unique<thread_pool>(threads);
  arenas_.resize(static_cast<std::size_t>(pool_->threads()));
}
cpu::~cpu() {
  // In a fork the pool's threads are missing: it cannot be taken down.
  if (pool_->is_of_parent()) (void)pool_.release();
}

int cpu::threads() const noexcept { return pool_->threads(); }

std::string cpu::description() const {
  return std::string(isa_name(isa_)) + ", " + std::to_string(threads()) +
         (threads() == 1 ? " thread" : " threads");
}

std::size_t cpu::preferred_items() const {
  const std::size_t lanes = isa_ == isa::scalar ? 1 : isa_ == isa::base ? 4 : isa_ == isa::avx2 ? 8 : 16;
  return lanes * static_cast<std::size_t>(threads());
}

const kernel& cpu::build_of(const kernel_set& op) const {
  const kernel* k = op.cpu[static_cast<int>(isa_)];
  if (k == nullptr) throw device_error(std::string(op.name) + " is not built for " + isa_name(isa_));
  return *k;
}

void cpu::run(const kernel_set& op, const void* args, std::size_t items) {
  const kernel& k = build_of(op);
  const thread_pool::turn turn(*pool_);  // the arenas are another call's until it ends
  const std::size_t lanes = k.together(args), bytes = k.scratch(args, {}, items);
  for (auto& a : arenas_)
    if (a.bytes() < bytes) a = make<unsigned char>(1, bytes);
  // Pieces of about 50 microseconds, whole vectors, no more than a quarter of a thread's share.
  const double wanted = 1e5 / std::max({1.0, k.flops(args), k.bytes(args)});
  const std::size_t share = items / (4 * static_cast<std::size_t>(threads())) + 1;
  std::size_t grain = std::clamp<std::size_t>(static_cast<std::size_t>(std::min(wanted, 1e9)), 1, share);
  grain = (grain + lanes - 1) / lanes * lanes;
  const auto piece = [&](int thread, std::size_t first, std::size_t last) {
    const ieee_arithmetic scope;
    k.run(args, {first, last, arenas_[static_cast<std::size_t>(thread)].data(), nullptr, {}});
  };
  if (!pool_->for_each_piece(turn, items, grain, piece, interrupted_)) throw interrupted_error();
}

void cpu::upload(void* to, const void* from, std::size_t bytes) {
  if (bytes != 0) std::memcpy(to, from, bytes);
}
void cpu::download(void* to, const void* from, std::size_t bytes) {
  if (bytes != 0) std::memcpy(to, from, bytes);
}
void cpu::fill(void* to, unsigned char value, std::size_t bytes) {
  if (bytes != 0) std::memset(to, value, bytes);
}

}  // namespace wb
