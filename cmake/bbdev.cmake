# The DPDK driver librte_baseband_warpband.so (docs/bbdev.md) and the program that sends it broken operations.
if(NOT TARGET warpband_c)
  message(FATAL_ERROR "WARPBAND_BBDEV needs the C interface: -DWARPBAND_C=ON")
endif()
find_package(PkgConfig REQUIRED)
pkg_check_modules(DPDK libdpdk>=22.11)
if(NOT DPDK_FOUND)
  message(FATAL_ERROR "DPDK 22.11 or newer was not found: apt-get install libdpdk-dev, or -DWARPBAND_BBDEV=OFF")
endif()
list(JOIN DPDK_CFLAGS_OTHER " " dpdk_flags)
list(TRANSFORM DPDK_LIBRARY_DIRS PREPEND -L OUTPUT_VARIABLE dpdk_folders)

# wb_dpdk(<target> <library>...): compiled and linked against DPDK. Its headers use volatile as C does.
function(wb_dpdk target)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${target} SYSTEM PRIVATE ${DPDK_INCLUDE_DIRS})
  target_compile_options(${target} PRIVATE ${wb_program_flags} "SHELL:${dpdk_flags}" $<$<CXX_COMPILER_ID:GNU>:-Wno-volatile>)
  target_link_options(${target} PRIVATE ${dpdk_folders})
  target_link_libraries(${target} PRIVATE wb_options ${ARGN})
endfunction()

wb_sources(bbdev GLOB plugins/bbdev/*.cpp)
list(REMOVE_ITEM bbdev_sources plugins/bbdev/mutate.cpp)
add_library(rte_baseband_warpband MODULE ${bbdev_sources})
wb_dpdk(rte_baseband_warpband warpband_c -lrte_bus_vdev -lrte_bbdev -lrte_kvargs -lrte_mempool -lrte_mbuf -lrte_eal)
file(RELATIVE_PATH to_library "/${CMAKE_INSTALL_LIBDIR}/warpband/bbdev" "/${CMAKE_INSTALL_LIBDIR}")
set_target_properties(rte_baseband_warpband PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
# Not beside other libraries: EAL loads every file of a folder that -d names.
install(TARGETS rte_baseband_warpband LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/warpband/bbdev)

if(WARPBAND_TESTS)
  add_executable(bbdev_mutate plugins/bbdev/mutate.cpp)
  wb_dpdk(bbdev_mutate -lrte_bbdev -lrte_mempool -lrte_mbuf -lrte_eal)
  add_dependencies(bbdev_mutate rte_baseband_warpband)
  foreach(harq host device)
    add_test(NAME bbdev_mutated_${harq} COMMAND bbdev_mutate --no-shconf --no-huge --no-pci --no-telemetry -m 256
             -d "$<TARGET_FILE:rte_baseband_warpband>" --vdev=baseband_warpband,harq=${harq} -- 20000)
  endforeach()
  # dpdk-test-bbdev itself is not instrumented.
  if(NOT WARPBAND_SANITIZE)
    add_test(NAME bbdev_vectors COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/plugins/bbdev/run_vectors.sh"
             --driver "$<TARGET_FILE:rte_baseband_warpband>" "${CMAKE_CURRENT_SOURCE_DIR}/plugins/bbdev/vectors")
    add_test(NAME bbdev_reference_vectors COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/plugins/bbdev/run_vectors.sh"
             --driver "$<TARGET_FILE:rte_baseband_warpband>" "${WARPBAND_REFDATA}/bbdev/dpdk" "${WARPBAND_REFDATA}/bbdev/own")
    set_tests_properties(bbdev_vectors bbdev_reference_vectors PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1800)
  endif()
endif()
