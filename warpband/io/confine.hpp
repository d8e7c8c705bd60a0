#pragma once
// A process gives up all that reading one open file does not need. A fault in what it reads may let an
// attacker run code in it. That code can compute, read the file and answer, and no more.
//
//   seccomp     system calls but those below fail with EPERM; code of another architecture ends the process
//   Landlock    no file can be opened, and from its version 4 on no TCP port; a second fence
//   limits      memory; no core file; no new privileges; nobody may trace it
//
// What it still can do: read and write on `channel`, pread on `file`, map `window` (shared) and anonymous
// memory, none of it executable. It can also ask for the time and random numbers, wait on its own locks, and
// end.
#include <cstddef>

namespace wb {

/// The descriptors that it keeps.
struct confined_files {
  int channel = 3, file = 4, window = 5;
};

struct confinement {
  bool seccomp = false;  // false: the kernel, its configuration or this architecture has none
  int landlock = 0;      // its version; 0: none
};

/// Confines this process for good. `memory`: bytes that it may map from here on. Closes all other
/// descriptors from 3 on. Call it before any input is read, with one thread.
confinement confine(const confined_files& files, std::size_t memory) noexcept;

}  // namespace wb
