# Kernel sources (*_kernels.cpp) are compiled once for each instruction set, and once more as CUDA.
#
# Their flags are the same in every preset and wheel, so that ccache compiles them once. Only scalar ones are instrumented, by
# AddressSanitizer: inline functions of the standard library could otherwise carry, say, AVX-512 code into baseline callers.

# <instruction set>:<floats in a vector>:<-march>
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(wb_isas scalar:1:x86-64 base:4:x86-64 avx2:8:x86-64-v3 avx512:16:x86-64-v4)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(wb_isas scalar:1:armv8-a neon:4:armv8-a)
else()
  message(FATAL_ERROR "no kernels for ${CMAKE_SYSTEM_PROCESSOR}: expected x86_64 or aarch64")
endif()
string(REGEX REPLACE ":[^;]*" "" wb_isa_names "${wb_isas}")

set(wb_isas_built ${WARPBAND_ISAS})
if(WARPBAND_ISAS STREQUAL "all")
  set(wb_isas_built ${wb_isa_names})
elseif(WARPBAND_ISAS STREQUAL "native")
  # The library asks the processor the same when it runs. (Another architecture's compiler does not take the question.)
  file(WRITE "${CMAKE_BINARY_DIR}/native.cpp"
       "#include <warpband/exec/x86_level.hpp>\nint main() { return wb::x86_level() == 1 ? 1 : wb::x86_level() - 1; }\n")
  try_run(WARPBAND_WIDEST compiled "${CMAKE_BINARY_DIR}" "${CMAKE_BINARY_DIR}/native.cpp"
          CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${CMAKE_CURRENT_SOURCE_DIR}")
  if(NOT compiled)
    set(WARPBAND_WIDEST 1)
  endif()
  list(GET wb_isa_names ${WARPBAND_WIDEST} wb_isas_built)
endif()
foreach(isa IN LISTS wb_isas_built)
  if(NOT isa IN_LIST wb_isa_names)
    message(FATAL_ERROR "WARPBAND_ISAS = ${WARPBAND_ISAS} is not allowed: expected all, native, or some of ${wb_isa_names}")
  endif()
endforeach()

if(WARPBAND_CUDA)
  if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
  endif()
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 90-virtual CACHE STRING "What CUDA kernels are compiled for")
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc 13 has C++20
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  find_package(CUDAToolkit REQUIRED)
endif()

add_custom_target(warpband_kernels)

# wb_kernel_parts(<source> PARTS <part>...): the source is compiled once for each part, with WB_PART as its text. Variants that take long to
# compile then do so side by side.
function(wb_kernel_parts source)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" PARTS)
  set_property(SOURCE "${source}" PROPERTY WB_PARTS "${arg_PARTS}")
endfunction()

# wb_kernel_unit(<list> <file> <source> [<part>]): makes a file of the build folder that is the source, or a part of it, and adds it to the list.
function(wb_kernel_unit list file source)
  set(part "${ARGN}")
  if(part)
    string(REGEX REPLACE "[^A-Za-z0-9]+" "_" name "${part}")
    string(REGEX REPLACE "([.][a-z]+)$" "/${name}\\1" file "${file}")
    string(PREPEND part "#define WB_PART ")
    string(APPEND part "\n")
  endif()
  file(CONFIGURE OUTPUT "${file}" CONTENT "${part}#include <${source}>\n")  # not the whole path: the compiler cache then serves every folder
  list(APPEND ${list} "${CMAKE_CURRENT_BINARY_DIR}/${file}")
  return(PROPAGATE ${list})
endfunction()

# wb_cuda_units(<list> <target> <source>...): makes a file of the build folder for each source that is not compiled in parts, or for four of
# them with WARPBAND_UNITY, as most of what nvcc takes goes into headers; and adds the files to the list.
function(wb_cuda_units list target)
  if(NOT WARPBAND_UNITY)
    foreach(source IN LISTS ARGN)
      string(REGEX REPLACE "\\.cpp$" ".cu" file "cuda/${source}")
      wb_kernel_unit(${list} "${file}" "${source}")
    endforeach()
    return(PROPAGATE ${list})
  endif()
  list(LENGTH ARGN count)
  set(first 0)
  while(first LESS count)
    list(SUBLIST ARGN ${first} 4 united)
    list(TRANSFORM united REPLACE "(.+)" "#include <\\1>\n")
    string(JOIN "" united ${united})
    set(file "cuda/${target}_from_${first}.cu")
    file(CONFIGURE OUTPUT "${file}" CONTENT "${united}")
    list(APPEND ${list} "${CMAKE_CURRENT_BINARY_DIR}/${file}")
    math(EXPR first "${first} + 4")
  endwhile()
  return(PROPAGATE ${list})
endfunction()

# wb_add_kernels(<target> <source>...): adds the objects of all builds to the target, and tells it what is built.
function(wb_add_kernels target)
  set(sources)
  set(cuda_sources)
  set(whole)
  foreach(source IN LISTS ARGN)
    string(REGEX REPLACE "\\.cpp$" "" name "${source}")
    get_property(parts SOURCE "${source}" PROPERTY WB_PARTS)
    if(NOT parts)
      list(APPEND sources "${source}")
      list(APPEND whole "${source}")
    endif()
    foreach(part IN LISTS parts)
      wb_kernel_unit(sources "parts/${source}" "${source}" "${part}")
      wb_kernel_unit(cuda_sources "cuda/${name}.cu" "${source}" "${part}")
    endforeach()
  endforeach()
  wb_cuda_units(cuda_sources ${target} ${whole})
  foreach(entry IN LISTS wb_isas)
    string(REGEX MATCH "^(.+):(.+):(.+)$" _ "${entry}")
    set(isa ${CMAKE_MATCH_1})
    if(NOT isa IN_LIST wb_isas_built)
      continue()
    endif()
    set(objects wb_kernels_${target}_${isa})
    add_library(${objects} OBJECT ${sources})
    target_include_directories(${objects} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
    target_compile_definitions(${objects} PRIVATE WB_ISA=${isa} WB_WIDTH=${CMAKE_MATCH_2})
    target_compile_options(${objects} PRIVATE -Wall -Wextra -Wno-psabi $<$<CXX_COMPILER_ID:Clang>:-Wno-bitwise-instead-of-logical>
                           $<$<BOOL:${WARPBAND_WERROR}>:-Werror>
                           -march=${CMAKE_MATCH_3} -O2 -g0 -ffp-contract=off -fno-math-errno -std=c++20)
    set_property(TARGET ${objects} PROPERTY CXX_STANDARD)  # else CMake adds -std itself, at a place that depends on its version
    set_property(TARGET ${objects} PROPERTY CXX_EXTENSIONS)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # Clang 16 finds two __builtin_va_list beside a precompiled header
      target_precompile_headers(${objects} PRIVATE <warpband/exec/launch.hpp>)
    endif()
    if(isa STREQUAL "scalar" AND WARPBAND_SANITIZE MATCHES "address")
      # -O2 takes minutes over instrumented bodies. GCC 12 reports faults on paths that instrumentation made.
      target_compile_options(${objects} PRIVATE -O1 ${wb_sanitizers}
                             "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-maybe-uninitialized;-Wno-stringop-overflow>")
    endif()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
    add_dependencies(warpband_kernels ${objects})
  endforeach()
  foreach(isa scalar base neon avx2 avx512)
    string(TOUPPER ${isa} upper)
    target_compile_definitions(${target} PRIVATE WB_BUILD_${upper}=$<IN_LIST:${isa},${wb_isas_built}>)
  endforeach()
  target_compile_definitions(${target} PRIVATE WB_BUILD_CUDA=$<BOOL:${WARPBAND_CUDA}>)
  if(WARPBAND_CUDA)
    set(objects wb_kernels_${target}_cuda)
    add_library(${objects} OBJECT ${cuda_sources})
    target_include_directories(${objects} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
    target_compile_definitions(${objects} PRIVATE WB_ISA=cuda_device WB_WIDTH=1)
    # Equal bits on CPU and GPU need the first four, whatever the defaults become.
    target_compile_options(${objects} PRIVATE -fmad=false -ftz=false -prec-div=true -prec-sqrt=true
                           -Xcompiler=-Wall,-Wextra,-Wno-unknown-pragmas $<$<BOOL:${WARPBAND_WERROR}>:-Werror=all-warnings>)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
    target_link_libraries(${target} PRIVATE $<LINK_ONLY:CUDA::cudart_static>)
  endif()
endfunction()
