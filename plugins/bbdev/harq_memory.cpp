#include "harq_memory.hpp"

#include <sys/mman.h>

#include <new>

namespace wb_bbdev {

harq_memory::harq_memory(std::size_t mebibytes) : bytes_(mebibytes << 20), lengths_(bytes_ / slot_bytes) {
  void* pages =
      mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::int8_t*>(pages);
}
harq_memory::~harq_memory() { munmap(data_, bytes_); }

}  // namespace wb_bbdev
