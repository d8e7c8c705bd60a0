// massive_frames_test.cpp for devices before compute capability 9.0, where threads copy all that a frame
// needs.
#define WB_FRAMES_OF_THREADS
#define WB_EMULATED_ENGINE false
#define WB_ISA emulated_without_engine
#define WB_FRAMES emulated_frames_of_threads
#include <tests/emulation/massive_frames_test.cpp>
