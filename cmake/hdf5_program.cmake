# warpband-hdf5, the program that reads HDF5 files for the library: beside the command in the build tree, in libexec/warpband when
# installed, and beside the module in a wheel. It has no sanitizers, whose system calls it could not make, and all checks of WARPBAND_HARDEN.
#
# HDF5 is linked into it where that can be: with Debian's shared library come 30 others, which take 8 ms to load.
get_filename_component(folder "${WARPBAND_HDF5_LIBRARY}" DIRECTORY)
get_filename_component(name "${WARPBAND_HDF5_LIBRARY}" NAME_WE)
set(static_hdf5)
foreach(library ${name} sz aec z)
  string(REGEX REPLACE "^lib" "" library ${library})
  find_library(WARPBAND_static_${library} NAMES lib${library}.a HINTS "${folder}")
  mark_as_advanced(WARPBAND_static_${library})
  if(WARPBAND_static_${library})
    list(APPEND static_hdf5 "${WARPBAND_static_${library}}")
  endif()
endforeach()
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_INCLUDES "${WARPBAND_HDF5_INCLUDE_DIR}")
set(CMAKE_REQUIRED_LIBRARIES ${static_hdf5} ${CMAKE_DL_LIBS} m)
check_cxx_source_compiles("#include <hdf5.h>\nint main() { return H5Fopen(\"/\", 0, H5Fcreate(\"/\", 0, 0, 0)) < 0; }" WARPBAND_HDF5_IS_STATIC)
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_LIBRARIES)

add_executable(warpband_hdf5_program apps/hdf5_program/main.cpp warpband/io/confine.cpp warpband/io/hdf5_file.cpp warpband/io/hdf5_library.cpp)
set_target_properties(warpband_hdf5_program PROPERTIES OUTPUT_NAME warpband-hdf5 UNITY_BUILD OFF LINK_OPTIONS "")
target_include_directories(warpband_hdf5_program PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}" "${WARPBAND_HDF5_INCLUDE_DIR}")
target_compile_definitions(warpband_hdf5_program PRIVATE WARPBAND_HDF5=1)
target_compile_options(warpband_hdf5_program PRIVATE -O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow $<$<BOOL:${WARPBAND_WERROR}>:-Werror>
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> -D_GLIBCXX_ASSERTIONS -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
                       -fstack-protector-strong -fstack-clash-protection)
target_link_options(warpband_hdf5_program PRIVATE -Wl,-z,relro,-z,now -static-libstdc++ -static-libgcc)
if(WARPBAND_HDF5_IS_STATIC)
  target_link_libraries(warpband_hdf5_program PRIVATE ${static_hdf5} ${CMAKE_DL_LIBS} m)
else()
  target_link_libraries(warpband_hdf5_program PRIVATE warpband_hdf5)
endif()
set(wb_hdf5_sources warpband/io/hdf5.cpp warpband/io/hdf5_file.cpp warpband/io/hdf5_library.cpp warpband/io/hdf5_program.cpp
                    warpband/io/hdf5_writer.cpp)
set_source_files_properties(${wb_hdf5_sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)  # each opens a namespace of its own
if(NOT SKBUILD)  # a wheel is built in a folder that is gone later
  set_source_files_properties(warpband/io/hdf5_program.cpp PROPERTIES COMPILE_DEFINITIONS
                              "WARPBAND_LIBEXEC=\"${CMAKE_INSTALL_FULL_LIBEXECDIR}/warpband\"")
endif()
add_dependencies(warpband warpband_hdf5_program)
