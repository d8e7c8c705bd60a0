# Kernel sources (*_kernels.cpp) are compiled once per instruction set, and once more as CUDA.
#
# Their objects are always optimised, and only the scalar ones are instrumented for sanitizers (at -O1): otherwise inline functions of
# the standard library could become weak symbols that carry, say, AVX-512 code into baseline callers.
include_guard(GLOBAL)
option(WARPBAND_SANITIZE_KERNELS "With WARPBAND_SANITIZE: instrument the scalar kernels too" ON)
set(WARPBAND_OBJECTS_FROM "" CACHE PATH
    "A build folder with the tests, finished: take from it what sanitizers do not instrument (kernels, oracles) and, but for ThreadSanitizer, the rooms' tests")

# wb_objects_from(<result> <target> <source>...): the objects of sources that the other build has compiled for its target.
function(wb_objects_from result target)
  set(ready)
  foreach(source IN LISTS ARGN)
    set(object "${WARPBAND_OBJECTS_FROM}/CMakeFiles/${target}.dir/${source}.o")
    if(NOT EXISTS "${object}")
      message(FATAL_ERROR "WARPBAND_OBJECTS_FROM: ${object} is not there; build ${WARPBAND_OBJECTS_FROM} first")
    endif()
    list(APPEND ready "${object}")
  endforeach()
  set_source_files_properties(${ready} PROPERTIES EXTERNAL_OBJECT ON)
  set(${result} ${ready} PARENT_SCOPE)
endfunction()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(wb_isas scalar:1:x86-64 base:4:x86-64 avx2:8:x86-64-v3 avx512:16:x86-64-v4)
  set(wb_kernel_definition WB_BUILD_X86)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(wb_isas scalar:1:armv8-a neon:4:armv8-a)
  set(wb_kernel_definition WB_BUILD_NEON)
else()
  message(FATAL_ERROR "no kernels for ${CMAKE_SYSTEM_PROCESSOR}: expected x86_64 or aarch64")
endif()

if(NOT WARPBAND_SCALAR_KERNELS)
  list(FILTER wb_isas EXCLUDE REGEX "^scalar:")
  set(wb_scalar_definition WB_NO_SCALAR_KERNELS)
endif()

if(WARPBAND_CUDA)
  if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 90-virtual)
  endif()
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc 13 has C++20
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  find_package(CUDAToolkit REQUIRED)
endif()

# wb_add_kernels(<target> <source>...): adds the objects of all builds to the target.
function(wb_add_kernels target)
  foreach(entry IN LISTS wb_isas)
    string(REPLACE ":" ";" entry ${entry})
    list(GET entry 0 isa)
    list(GET entry 1 width)
    list(GET entry 2 march)
    set(objects wb_kernels_${isa})
    if(NOT target STREQUAL "warpband")
      set(objects wb_kernels_${target}_${isa})
    endif()
    if(WARPBAND_OBJECTS_FROM AND NOT (WARPBAND_SANITIZE AND WARPBAND_SANITIZE_KERNELS AND isa STREQUAL "scalar"))
      wb_objects_from(ready ${objects} ${ARGN})
      target_sources(${target} PRIVATE ${ready})
    elseif(ARGN)
      add_library(${objects} OBJECT ${ARGN})
      target_include_directories(${objects} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
      target_compile_definitions(${objects} PRIVATE WB_ISA=${isa} WB_WIDTH=${width})
      target_compile_options(${objects} PRIVATE -Wall -Wextra -Wno-psabi $<$<BOOL:${WARPBAND_WERROR}>:-Werror>
                             -march=${march} -O2 -g0 -ffp-contract=off -fno-math-errno)
      if(SKBUILD OR isa MATCHES "^(avx2|avx512|neon)$")
        # What all kernels read is read once: with the intrinsics of wide vectors it takes a file 0.8 s. (Who installs the Python package
        # compiles everything once: there it is worth while for all.)
        target_precompile_headers(${objects} PRIVATE <warpband/exec/launch.hpp>)
      endif()
      if(WARPBAND_SANITIZE AND WARPBAND_SANITIZE_KERNELS AND isa STREQUAL "scalar")  # baseline code: nothing can leak into a baseline caller
        # -O2 takes minutes over instrumented bodies. GCC 12 sees accesses out of bounds on paths that instrumentation made;
        # the sanitizer sees those that are.
        target_compile_options(${objects} PRIVATE -O1 ${wb_sanitizers}
                               -Wno-array-bounds -Wno-maybe-uninitialized -Wno-stringop-overflow)
      endif()
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
    endif()
  endforeach()
  target_compile_definitions(${target} PRIVATE ${wb_kernel_definition} ${wb_scalar_definition})
  if(WARPBAND_CUDA)
    target_compile_definitions(${target} PRIVATE WB_BUILD_CUDA)
    target_link_libraries(${target} PRIVATE $<LINK_ONLY:CUDA::cudart_static>)
    foreach(source IN LISTS ARGN)
      string(REGEX REPLACE "\\.cpp$" ".cu" unit "${CMAKE_CURRENT_BINARY_DIR}/cuda/${source}")
      file(CONFIGURE OUTPUT "${unit}" CONTENT "#include \"${CMAKE_CURRENT_SOURCE_DIR}/${source}\"\n")
      list(APPEND units "${unit}")
    endforeach()
    if(units)
      set(objects wb_kernels_cuda)
      if(NOT target STREQUAL "warpband")
        set(objects wb_kernels_${target}_cuda)
      endif()
      add_library(${objects} OBJECT ${units})
      target_include_directories(${objects} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
      target_compile_definitions(${objects} PRIVATE WB_ISA=cuda_device WB_WIDTH=1)
      # Equal bits on CPU and GPU need these four, whatever the defaults become.
      target_compile_options(${objects} PRIVATE -fmad=false -ftz=false -prec-div=true -prec-sqrt=true
                             -Xcompiler=-Wall,-Wextra,-Wno-unknown-pragmas
                             $<$<BOOL:${WARPBAND_WERROR}>:-Werror=all-warnings>)
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
    endif()
  endif()
endfunction()
