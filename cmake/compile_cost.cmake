# With WARPBAND_COMPILE_COST every compilation goes through scripts/checks/timed_compile.py, which notes its CPU seconds
# and peak memory in <build>/compile_cost.jsonl; scripts/checks/compile_cost.py holds them against the bound.
# Include it after project() and before the first target.
include_guard(GLOBAL)
option(WARPBAND_CCACHE "Compile C++ through ccache: builds of several presets share what is the same" OFF)
option(WARPBAND_COMPILE_COST "Note each translation unit's compile time and memory" OFF)

if(WARPBAND_CCACHE)
  find_program(WARPBAND_CCACHE_PROGRAM ccache REQUIRED NO_CMAKE_FIND_ROOT_PATH)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${WARPBAND_CCACHE_PROGRAM}")
endif()
if(WARPBAND_COMPILE_COST)
  find_program(WARPBAND_PYTHON3 python3 REQUIRED NO_CMAKE_FIND_ROOT_PATH)
  # Where python3 is a script that looks for one (pyenv), what it finds: the search takes a tenth of a second each time.
  execute_process(COMMAND "${WARPBAND_PYTHON3}" -c "import sys; print(sys.executable)" OUTPUT_VARIABLE python3
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(launcher "${python3};-S;-E;${CMAKE_CURRENT_LIST_DIR}/../scripts/checks/timed_compile.py")
  list(APPEND launcher "${CMAKE_BINARY_DIR}/compile_cost.jsonl")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher} ${CMAKE_CXX_COMPILER_LAUNCHER})
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${launcher}")
endif()
