# Cross build for 64-bit Arm with Debian's compiler (g++-aarch64-linux-gnu); its programs run here under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

# Programs (generators, Python) come from this machine; headers and libraries only from the target's tree.
# Shared header-only libraries in /usr/include are handed over one folder at a time by dependencies.cmake.
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

find_program(WARPBAND_QEMU_AARCH64 NAMES qemu-aarch64 qemu-aarch64-static)
if(WARPBAND_QEMU_AARCH64)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${WARPBAND_QEMU_AARCH64};-L;/usr/aarch64-linux-gnu")
endif()
