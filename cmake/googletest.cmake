# GoogleTest as GTest::gtest and GTest::gtest_main: the installed library, or, for another machine than this one, built from
# the sources that Debian's package `googletest` installs.
if(CMAKE_CROSSCOMPILING)
  set(source /usr/src/googletest)
  if(NOT EXISTS "${source}/CMakeLists.txt")
    message(FATAL_ERROR "GoogleTest was not found in ${source}: apt-get install googletest (or run scripts/setup.sh --cross)")
  endif()
  set(BUILD_GMOCK OFF)
  set(INSTALL_GTEST OFF)
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)  # the two settings above are ours, not options for the cache
  set(CMAKE_WARN_DEPRECATED OFF)         # its CMakeLists.txt asks for an old CMake
  add_subdirectory("${source}" "${CMAKE_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL SYSTEM)
  target_compile_options(gtest PRIVATE -w)
  target_compile_options(gtest_main PRIVATE -w)
else()
  find_package(GTest REQUIRED)  # apt-get install libgtest-dev, or scripts/setup.sh
endif()
include(GoogleTest)
