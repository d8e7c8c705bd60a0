# What Warpband is measured beside: no part of the library, nor of what is installed by default.
find_package(Eigen3 REQUIRED NO_MODULE)  # apt-get install libeigen3-dev
add_library(wb_peers OBJECT bench/peers/eigen_frames.cpp)
target_include_directories(wb_peers PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_link_libraries(wb_peers PRIVATE wb_options Eigen3::Eigen)
# As fast as it gets on this machine: without -ffast-math Eigen's Cholesky decomposition calls hypotf for each entry. GCC 12 takes
# what AVX-512 intrinsics leave undefined for an oversight (GCC bug 105593).
target_compile_options(wb_peers PRIVATE -O3 -march=native -DNDEBUG -ffast-math
                       $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>:-mprefer-vector-width=512>
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized> $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
target_sources(warpband_command PRIVATE $<TARGET_OBJECTS:wb_peers>)
if(WARPBAND_CUDA)
  target_sources(warpband_command PRIVATE bench/peers/blas_frames.cpp)
  set_source_files_properties(bench/peers/blas_frames.cpp PROPERTIES
    COMPILE_DEFINITIONS WB_BUILD_CUDA=1 SKIP_PRECOMPILE_HEADERS ON INCLUDE_DIRECTORIES "${CUDAToolkit_INCLUDE_DIRS}")
  add_library(wb_peers_cuda OBJECT bench/peers/blas_device.cu)
  target_include_directories(wb_peers_cuda PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  target_sources(warpband_command PRIVATE $<TARGET_OBJECTS:wb_peers_cuda>)
  target_link_libraries(warpband_command PRIVATE ${CMAKE_DL_LIBS})  # cuBLAS and cuSOLVER are loaded at first use
endif()
