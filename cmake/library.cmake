# The library: warpband::warpband.
wb_sources(library GLOB_RECURSE warpband/*.cpp)
foreach(kind sources tests)  # c_api.cmake
  list(FILTER library_${kind} EXCLUDE REGEX "^warpband/c/")
endforeach()
if(NOT WARPBAND_HDF5)
  foreach(kind sources tests benches)
    list(FILTER library_${kind} EXCLUDE REGEX "^warpband/(io/(hdf5|confine)|channel/file/|link/csi_link|air/file_test)")
  endforeach()
endif()

add_library(warpband ${library_sources})
add_library(warpband::warpband ALIAS warpband)
set_target_properties(warpband PROPERTIES UNITY_BUILD ${WARPBAND_UNITY} VERSION ${PROJECT_VERSION}
                      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} DEFINE_SYMBOL "")
if(BUILD_SHARED_LIBS)
  target_link_options(warpband PRIVATE "-Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/cmake/exports.map")
  set_target_properties(warpband PROPERTIES LINK_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/cmake/exports.map")
endif()
set(kinds ${library_sources})
list(FILTER kinds INCLUDE REGEX "^warpband/(air|code)/")  # kinds name their functions alike
set_source_files_properties(${kinds} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
set(readers ${library_sources})
list(FILTER readers INCLUDE REGEX "^warpband/link/(antennas_(streams|wimax)|chain|config/(link_curve|link_schema|read|renamed|schema))\\.cpp$")  # 30 s in one unit
set_source_files_properties(${readers} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
target_compile_features(warpband PUBLIC cxx_std_20)
target_compile_options(warpband PRIVATE ${wb_library_flags})
target_compile_definitions(warpband PUBLIC WARPBAND_HDF5=$<BOOL:${WARPBAND_HDF5}>)
target_include_directories(warpband PUBLIC "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_link_libraries(warpband PUBLIC Threads::Threads)
target_link_libraries(warpband PRIVATE ${CMAKE_DL_LIBS}  # cuFFT and MPI are loaded at first use
                      "$<BUILD_INTERFACE:wb_options;wb_dep_json;wb_dep_toml;wb_dep_boost>"
                      $<$<BOOL:${WARPBAND_HDF5}>:warpband_hdf5> $<$<BOOL:${WARPBAND_KISSFFT}>:warpband_kissfft>)
# In angle brackets: the compiler cache then serves every folder that the sources lie in.
target_precompile_headers(warpband PRIVATE <algorithm> <array> <cmath> <complex> <functional> <memory> <mutex> <optional> <span>
                          <sstream> <string> <vector> <warpband/core/check.hpp> <warpband/exec/executor.hpp>)
set_source_files_properties(warpband/ofdm/fft/fft_cpu.cpp PROPERTIES COMPILE_DEFINITIONS WARPBAND_KISSFFT=$<BOOL:${WARPBAND_KISSFFT}>)
# 1.25 (max-log-MAP) and 1.45 times (log-MAP) as fast as with -O2 on an AVX-512 core. GCC 12 does not take a precompiled header
# that was compiled at another level.
if(NOT WARPBAND_SANITIZE MATCHES "address")
  set_source_files_properties(warpband/fec/turbo/turbo_bf16_kernels.cpp PROPERTIES COMPILE_OPTIONS -O3 SKIP_PRECOMPILE_HEADERS ON)
endif()
# Loops over bytes of code blocks are vectors with -O3 only.
if(NOT WARPBAND_SANITIZE MATCHES "address")
  set_source_files_properties(warpband/fec/blocks/ldpc_blocks_kernels.cpp PROPERTIES COMPILE_OPTIONS -O3 SKIP_PRECOMPILE_HEADERS ON)
endif()
# Each part compiles in less than the 30 s that a unit may take. A part is the kernel it exports, or arguments of the template it instantiates.
wb_kernel_parts(warpband/fec/bcjr/bcjr_kernels.cpp PARTS bcjr_max_log bcjr_log_map bcjr_coded_max_log bcjr_coded_log_map bcjr_coded_recursive_log_map bcjr_table bcjr_coded_table)
wb_kernel_parts(warpband/fec/bcjr/bcjr_i16_kernels.cpp PARTS bcjr_i16 bcjr_i16_large bcjr_i16_known)
wb_kernel_parts(warpband/fec/bcjr/bcjr_known_kernels.cpp PARTS max_log log_map)
wb_kernel_parts(warpband/fec/ldpc/gpu/rows_kernels.cpp PARTS ldpc_decode_f32_rows ldpc_decode_f16_rows ldpc_decode_i8_rows ldpc_decode_product_rows
                ldpc_decode_f16_kept_rows)
wb_kernel_parts(warpband/fec/ldpc/gpu/graph_kernels.cpp PARTS
                "f16x, 1, graph_most_z, false" "f16x, 1, graph_most_z, true" "f16x, 1, 0, false" "f16x, 1, 0, true"
                "f16x, 2, graph_most_z, false" "f16x, 2, 0, false"
                "i8_pair, 1, graph_most_z, false" "i8_pair, 1, graph_most_z, true" "i8_pair, 1, 0, false" "i8_pair, 1, 0, true"
                "i8_pair, 2, graph_most_z, false" "i8_pair, 2, 0, false")
wb_kernel_parts(warpband/fec/polar/polar_decode_kernels.cpp PARTS polar_decode polar_decode_long polar_decode_exact polar_decode_exact_long
                polar_decode_whole polar_decode_whole_long)
wb_add_kernels(warpband ${library_kernels})
if(WARPBAND_CUDA)
  set_source_files_properties(warpband/exec/cuda.cpp warpband/ofdm/fft/fft_cuda.cpp PROPERTIES INCLUDE_DIRECTORIES "${CUDAToolkit_INCLUDE_DIRS}")
endif()
if(WARPBAND_MPI)
  find_package(MPI REQUIRED COMPONENTS CXX)
  list(GET MPI_CXX_LIBRARIES -1 libmpi)
  set_source_files_properties(warpband/exec/ranks.cpp PROPERTIES INCLUDE_DIRECTORIES "${MPI_CXX_INCLUDE_DIRS}"
    COMPILE_DEFINITIONS "WARPBAND_MPI=\"${libmpi}\";OMPI_SKIP_MPICXX;MPICH_SKIP_MPICXX")
endif()

if(WARPBAND_HDF5)
  include(cmake/hdf5_program.cmake)
endif()

# The commit that results name: read at every build, so that a result cannot name another.
set(wb_generated "${CMAKE_CURRENT_BINARY_DIR}/generated")
add_custom_target(wb_commit BYPRODUCTS "${wb_generated}/warpband_version.hpp"
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR} -DVERSION=${PROJECT_VERSION}
          -DOUTPUT=${wb_generated}/warpband_version.hpp -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/version.cmake
  COMMENT "Reading the commit" VERBATIM)
add_dependencies(warpband wb_commit)
target_include_directories(warpband PRIVATE "$<BUILD_INTERFACE:${wb_generated}>")
