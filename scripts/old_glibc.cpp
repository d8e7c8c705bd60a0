// What the C++ library of GCC 12 takes from glibc 2.30 and newer, for programs that are linked with an older
// one: scripts/python_wheel.sh compiles this for --glibc-of. Nothing here is visible outside the program.
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

#pragma GCC visibility push(hidden)
extern "C" {

/// Since glibc 2.32: whether the process has one thread. False makes all reference counts atomic, which is
/// always right.
char __libc_single_threaded = 0;

/// Since glibc 2.30: waits until a time of the given clock. Condition variables of the C++ library wait by
/// the system's clock, so this waits for the same duration by that one. If it is set meanwhile, the wait is
/// shorter or longer: std::condition_variable looks at its own clock afterwards.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
  constexpr long second = 1'000'000'000;
  timespec time{};
  timespec system{};
  clock_gettime(clock, &time);
  clock_gettime(CLOCK_REALTIME, &system);
  timespec end{system.tv_sec + (until->tv_sec - time.tv_sec),
               system.tv_nsec + (until->tv_nsec - time.tv_nsec)};
  if (end.tv_nsec < 0) end = {end.tv_sec - 1, end.tv_nsec + second};
  if (end.tv_nsec >= second) end = {end.tv_sec + 1, end.tv_nsec - second};
  return pthread_cond_timedwait(condition, mutex, &end);
}

/// Since glibc 2.36: 32 random bits.
unsigned arc4random() {
  unsigned bits = 0;
  if (getentropy(&bits, sizeof bits) != 0) std::abort();
  return bits;
}

}  // extern "C"
#pragma GCC visibility pop
