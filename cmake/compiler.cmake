# How host code is compiled: warnings, optimisation and sanitizers (wb_options, wb_library_flags, wb_program_flags), the
# compiler cache, and the record of compile costs. Kernels have their own flags: kernels.cmake.
add_library(wb_options INTERFACE)
target_compile_options(wb_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow $<$<BOOL:${WARPBAND_WERROR}>:-Werror>
                       "$<$<BOOL:${WARPBAND_HARDEN}>:-D_GLIBCXX_ASSERTIONS;-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2;-fstack-protector-strong;-fstack-clash-protection>"
                       # GCC 12 reports overlapping copies and overflows in std::string operator+ (GCC bug 105651), and false array bounds.
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
                       "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-array-bounds;-Wno-stringop-overflow>"
                       # GCC's -Wconversion leaves signs alone. Clang reports the deprecated buffer inside libstdc++ 12's stable_sort, and fields that
                       # only a CUDA build uses.
                       "$<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion;-Wno-deprecated-declarations;-Wno-unused-private-field>"
                       "$<$<BOOL:${WARPBAND_UNITY}>:-Wno-shadow;$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>>")
add_link_options("$<$<BOOL:${WARPBAND_HARDEN}>:-Wl,-z,relro,-z,now>")
# Presets leave CMAKE_CXX_FLAGS_RELEASE and _DEBUG empty, so that kernels are compiled alike in all of them.
set(wb_library_flags $<$<CONFIG:Release>:-O2> $<$<CONFIG:Release>:-DNDEBUG> $<$<CONFIG:Debug>:-g>)
set(wb_program_flags ${wb_library_flags})
if(WARPBAND_SANITIZE)
  # Without optimisation, and with line numbers in the library only: each halves the time to compile.
  list(APPEND wb_library_flags -O0 -g1)
  list(APPEND wb_program_flags -O0 -g0)
  set(wb_sanitizers -fsanitize=${WARPBAND_SANITIZE} -fno-sanitize-recover=all)
  if(WARPBAND_SANITIZE MATCHES "address.*undefined")
    # Left out, as together they cost a quarter of the time to compile and to run. null, pointer-overflow: AddressSanitizer reports the
    # access that follows. object-size: finds nothing without optimisation. alignment: scripts/fuzz.sh has it, for what reads files of
    # others. vptr: no pointer to an object comes from outside.
    list(APPEND wb_sanitizers -fno-sanitize=null,alignment,object-size,vptr,pointer-overflow)
  endif()
  target_compile_options(wb_options INTERFACE ${wb_sanitizers} -fno-omit-frame-pointer)
  foreach(sanitizer address thread)  # GCC's macros, which Clang 16 does not define
    if(WARPBAND_SANITIZE MATCHES "${sanitizer}")
      string(TOUPPER "${sanitizer}" upper)
      target_compile_definitions(wb_options INTERFACE $<$<CXX_COMPILER_ID:Clang>:__SANITIZE_${upper}__>)
    endif()
  endforeach()
  add_link_options(-fsanitize=${WARPBAND_SANITIZE})
endif()
set(wb_oracle_flags ${wb_library_flags} $<$<CONFIG:Debug>:-O1>)  # oracles compute as much as kernels do
set(wb_test_flags ${wb_program_flags} $<$<CONFIG:Release>:-O1>)  # nobody installs tests, and they compile faster

if(WARPBAND_CCACHE)
  find_program(WARPBAND_CCACHE_PROGRAM ccache NO_CMAKE_FIND_ROOT_PATH)
  if(WARPBAND_CCACHE_PROGRAM)
    # Precompiled headers need the first setting. The second one lets build folders share objects.
    set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros
        "CCACHE_BASEDIR=${CMAKE_CURRENT_SOURCE_DIR}" CCACHE_DEPEND=1 "${WARPBAND_CCACHE_PROGRAM}")
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
endif()
if(WARPBAND_COMPILE_COST)
  # The interpreter itself: a script of that name, as pyenv's, takes a tenth of a second to find it.
  execute_process(COMMAND python3 -c "import sys; print(sys.executable)" OUTPUT_VARIABLE python3
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(launcher "${python3}" -S -E "${CMAKE_CURRENT_SOURCE_DIR}/scripts/checks/timed_compile.py"
      "${CMAKE_BINARY_DIR}/compile_cost.jsonl")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher} ${CMAKE_CXX_COMPILER_LAUNCHER})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${launcher} ${CMAKE_CUDA_COMPILER_LAUNCHER})
endif()
