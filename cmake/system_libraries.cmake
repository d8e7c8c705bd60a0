# warpband_hdf5 and warpband_kissfft: found for the build, and again for projects that use an installed Warpband. CMake's FindHDF5
# needs a C compiler; KISS FFT's own package asks for static or shared libraries by a component.
function(wb_system_library name header folder)  # then the names of the library, the best first
  string(TOUPPER ${name} upper)
  find_path(WARPBAND_${upper}_INCLUDE_DIR ${header} PATH_SUFFIXES ${folder})
  find_library(WARPBAND_${upper}_LIBRARY NAMES ${ARGN} PATH_SUFFIXES ${folder})
  mark_as_advanced(WARPBAND_${upper}_INCLUDE_DIR WARPBAND_${upper}_LIBRARY)
  if(WARPBAND_${upper}_INCLUDE_DIR AND WARPBAND_${upper}_LIBRARY AND NOT TARGET warpband_${name})
    add_library(warpband_${name} UNKNOWN IMPORTED)
    set_target_properties(warpband_${name} PROPERTIES IMPORTED_LOCATION "${WARPBAND_${upper}_LIBRARY}"
                          INTERFACE_INCLUDE_DIRECTORIES "${WARPBAND_${upper}_INCLUDE_DIR}")
  endif()
endfunction()
wb_system_library(hdf5 hdf5.h hdf5/serial hdf5_serial hdf5)  # in C, without MPI
wb_system_library(kissfft kiss_fft.h kissfft kissfft-float)  # in float32
