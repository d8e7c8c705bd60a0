# GoogleTest as GTest::gtest and GTest::gtest_main: the installed library, or, for another machine than this one,
# the same version built from the sources that Debian's package `googletest` installs.
include_guard(GLOBAL)

if(CMAKE_CROSSCOMPILING)
  set(WARPBAND_GOOGLETEST_SOURCE /usr/src/googletest CACHE PATH "GoogleTest's sources, built for the target machine")
  if(NOT EXISTS "${WARPBAND_GOOGLETEST_SOURCE}/CMakeLists.txt")
    message(FATAL_ERROR "GoogleTest's sources were not found in ${WARPBAND_GOOGLETEST_SOURCE}: "
                        "apt-get install googletest (or run scripts/setup.sh --cross)")
  endif()
  set(BUILD_GMOCK OFF)
  set(INSTALL_GTEST OFF)
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)  # the two settings above are ours, not options for the cache
  set(CMAKE_WARN_DEPRECATED OFF)         # its CMakeLists.txt asks for an old CMake
  add_subdirectory("${WARPBAND_GOOGLETEST_SOURCE}" "${CMAKE_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL SYSTEM)
  foreach(library gtest gtest_main)
    target_compile_options(${library} PRIVATE -w)
    if(NOT TARGET GTest::${library})
      add_library(GTest::${library} ALIAS ${library})
    endif()
  endforeach()
else()
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    message(FATAL_ERROR "GoogleTest was not found: apt-get install libgtest-dev (or run scripts/setup.sh)")
  endif()
endif()

include(GoogleTest)
