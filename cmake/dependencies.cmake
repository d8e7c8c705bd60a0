# What Warpband uses. Header-only libraries, as one INTERFACE target each:
#   wb_dep_cli11, wb_dep_fmt (with WARPBAND_APP)  wb_dep_json  wb_dep_toml  wb_dep_boost
# and, with WARPBAND_HDF5, warpband_hdf5; with WARPBAND_KISSFFT, warpband_kissfft.
#
# The headers are the same for every target machine, so a cross build takes them from this machine too. /usr/include as a
# whole must not come before the cross compiler's own headers, so such a build sees a folder in the build tree that holds
# links to just the folders named here.
include_guard(GLOBAL)

# wb_header_dependency(<name> <folder> <probe> <package> [definition...])
#   folder: the library's folder below an include root; probe: a header that must be there; package: what apt calls it
function(wb_header_dependency name folder probe package)
  set(found WARPBAND_${name}_INCLUDE_DIR)
  if(CMAKE_CROSSCOMPILING)
    find_path(${found} ${probe} PATHS /usr/local/include /usr/include NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
  else()
    find_path(${found} ${probe})
  endif()
  mark_as_advanced(${found})
  if(NOT ${found})
    message(FATAL_ERROR "<${probe}> was not found: apt-get install ${package} (or run scripts/setup.sh)")
  endif()

  set(include_dir "${${found}}")
  if(CMAKE_CROSSCOMPILING)
    set(include_dir "${CMAKE_BINARY_DIR}/shared_headers/${name}")
    file(MAKE_DIRECTORY "${include_dir}")
    file(CREATE_LINK "${${found}}/${folder}" "${include_dir}/${folder}" SYMBOLIC)
  endif()

  add_library(wb_dep_${name} INTERFACE)
  # A folder that the compiler searches anyway must not be named again: it would change the order of system headers.
  if(NOT include_dir IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES AND NOT include_dir STREQUAL "/usr/include")
    target_include_directories(wb_dep_${name} SYSTEM INTERFACE "${include_dir}")
  endif()
  target_compile_definitions(wb_dep_${name} INTERFACE ${ARGN})
endfunction()

if(WARPBAND_APP)
  wb_header_dependency(cli11 CLI CLI/CLI.hpp libcli11-dev)
endif()
wb_header_dependency(json nlohmann nlohmann/json.hpp nlohmann-json3-dev)
wb_header_dependency(toml toml++ toml++/toml.h libtomlplusplus-dev TOML_HEADER_ONLY=1)
if(WARPBAND_APP)
  # Linked: header-only, formatting takes each file that does it 3 to 4 s to compile.
  wb_header_dependency(fmt fmt fmt/format.h libfmt-dev)
  find_library(WARPBAND_fmt_LIBRARY fmt)
  mark_as_advanced(WARPBAND_fmt_LIBRARY)
  if(NOT WARPBAND_fmt_LIBRARY)
    message(FATAL_ERROR "libfmt was not found: apt-get install libfmt-dev (or run scripts/setup.sh)")
  endif()
  target_link_libraries(wb_dep_fmt INTERFACE "${WARPBAND_fmt_LIBRARY}")
endif()
wb_header_dependency(boost boost boost/version.hpp libboost-dev)

if(WARPBAND_HDF5)
  include(${CMAKE_CURRENT_LIST_DIR}/hdf5.cmake)
  if(NOT TARGET warpband_hdf5)
    message(FATAL_ERROR "HDF5 was not found: apt-get install libhdf5-dev (or run scripts/setup.sh), or build without "
                        "it: -DWARPBAND_HDF5=OFF")
  endif()
endif()
if(WARPBAND_KISSFFT)
  include(${CMAKE_CURRENT_LIST_DIR}/kissfft.cmake)
  if(NOT TARGET warpband_kissfft)
    message(FATAL_ERROR "KISS FFT was not found: apt-get install libkissfft-dev (or run scripts/setup.sh), or build without "
                        "OFDM modulation on CPUs: -DWARPBAND_KISSFFT=OFF")
  endif()
endif()
