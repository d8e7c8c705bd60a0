// A library that is loaded before others (LD_PRELOAD) and makes calls of a program fail, as a machine does
// that has no memory, a disk that is full or a drive that fails: WARPBAND_FAULT = "malloc:N", "read:N" or
// "write:N" is the N-th call alone, "malloc:N+" also each one after it. With WARPBAND_CALLS = FILE the number
// of calls of the kind is written to the file at the end.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>

extern "C" {

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* p, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

static std::atomic<long> calls{0};
static std::atomic<bool> begun{false};

using main_function = int(int, char**, char**);
static main_function* main_of_program;
static int counted_main(int argc, char** argv, char** environment) {
  begun = true;
  return main_of_program(argc, argv, environment);
}

/// Calls are counted from main on. What libraries do when they are loaded is theirs; the CUDA runtime, which
/// is linked into the program, does not survive a failure there.
int __libc_start_main(main_function* main, int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*rtld_fini)(), void* stack_end) {
  using start = int (*)(main_function*, int, char**, void (*)(), void (*)(), void (*)(), void*);
  const auto original = reinterpret_cast<start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  main_of_program = main;
  return original(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

/// Whether this call of a kind fails. Reads its settings itself: it is called before main.
static bool fails(const char* kind) {
  if (!begun) return false;
  const char* asked = getenv("WARPBAND_FAULT");
  const size_t letters = strlen(kind);
  if (asked == nullptr || strncmp(asked, kind, letters) != 0 || asked[letters] != ':') return false;
  long number = 0;
  const char* c = asked + letters + 1;
  for (; *c >= '0' && *c <= '9'; c++) number = 10 * number + (*c - '0');
  const long call = ++calls;
  return number > 0 && (*c == '+' ? call >= number : call == number);
}
static bool no_memory() {
  if (!fails("malloc")) return false;
  errno = ENOMEM;
  return true;
}

void* malloc(size_t bytes) { return no_memory() ? nullptr : __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) { return no_memory() ? nullptr : __libc_calloc(count, bytes); }
void* realloc(void* p, size_t bytes) { return no_memory() ? nullptr : __libc_realloc(p, bytes); }
void* memalign(size_t alignment, size_t bytes) {
  return no_memory() ? nullptr : __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** p, size_t alignment, size_t bytes) {
  *p = memalign(alignment, bytes);
  return *p == nullptr ? ENOMEM : 0;
}

static bool bad_read(int file) {
  if (file < 3 || !fails("read")) return false;
  errno = EIO;
  return true;
}
static bool bad_write(int file) {
  if (file < 3 || !fails("write")) return false;
  errno = ENOSPC;
  return true;
}
ssize_t read(int file, void* to, size_t bytes) {
  return bad_read(file) ? -1 : syscall(SYS_read, file, to, bytes);
}
ssize_t pread(int file, void* to, size_t bytes, off_t offset) {
  return bad_read(file) ? -1 : syscall(SYS_pread64, file, to, bytes, offset);
}
ssize_t pread64(int file, void* to, size_t bytes, off64_t offset) {
  return bad_read(file) ? -1 : syscall(SYS_pread64, file, to, bytes, offset);
}
ssize_t write(int file, const void* from, size_t bytes) {
  return bad_write(file) ? -1 : syscall(SYS_write, file, from, bytes);
}
ssize_t pwrite(int file, const void* from, size_t bytes, off_t offset) {
  return bad_write(file) ? -1 : syscall(SYS_pwrite64, file, from, bytes, offset);
}
ssize_t pwrite64(int file, const void* from, size_t bytes, off64_t offset) {
  return bad_write(file) ? -1 : syscall(SYS_pwrite64, file, from, bytes, offset);
}
ssize_t writev(int file, const iovec* from, int count) {
  return bad_write(file) ? -1 : syscall(SYS_writev, file, from, count);
}
int fsync(int file) { return bad_write(file) ? -1 : static_cast<int>(syscall(SYS_fsync, file)); }
int rename(const char* from, const char* to) {
  return bad_write(3) ? -1 : static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

__attribute__((destructor)) static void tell() {
  const char* name = getenv("WARPBAND_CALLS");
  if (name == nullptr) return;
  char text[32];
  const int bytes = snprintf(text, sizeof text, "%ld", calls.load());
  const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  syscall(SYS_write, file, text, bytes);
  close(file);
}
}
