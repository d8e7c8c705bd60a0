#include <tests/allocations.hpp>

#include <atomic>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

std::optional<long> wb::testing::allocations() { return {}; }

#else

static std::atomic<long> count{0};

std::optional<long> wb::testing::allocations() { return count.load(); }

static void* counted(std::size_t bytes, std::size_t alignment) noexcept {
  count.fetch_add(1, std::memory_order_relaxed);
  if (bytes == 0) bytes = 1;
  return alignment <= 16 ? std::malloc(bytes)
                         : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
static void* counted_or_throw(std::size_t bytes, std::size_t alignment) {
  void* p = counted(bytes, alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
static std::size_t number(std::align_val_t a) noexcept { return static_cast<std::size_t>(a); }

void* operator new(std::size_t n) { return counted_or_throw(n, 16); }
void* operator new[](std::size_t n) { return counted_or_throw(n, 16); }
void* operator new(std::size_t n, std::align_val_t a) { return counted_or_throw(n, number(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return counted_or_throw(n, number(a)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return counted(n, 16); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return counted(n, 16); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return counted(n, number(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return counted(n, number(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }

#endif
