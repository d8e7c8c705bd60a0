// Options of the sanitizers in the test program. An allocation that no machine can serve returns null, as
// elsewhere, and does not end the program. libhdf5 asks for such sizes if a damaged file names them, and
// leaks some memory.
#if defined(__SANITIZE_ADDRESS__)
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }
#elif defined(__SANITIZE_THREAD__)
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }
#endif
