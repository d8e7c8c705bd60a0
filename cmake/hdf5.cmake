# The HDF5 library in C, without MPI, as the target warpband_hdf5. Found here and again for projects that use an
# installed Warpband. CMake's own FindHDF5 needs a C compiler, and names system libraries by their static files.
if(NOT TARGET warpband_hdf5)
  find_path(WARPBAND_HDF5_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
  find_library(WARPBAND_HDF5_LIBRARY NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial)
  mark_as_advanced(WARPBAND_HDF5_INCLUDE_DIR WARPBAND_HDF5_LIBRARY)
  if(WARPBAND_HDF5_INCLUDE_DIR AND WARPBAND_HDF5_LIBRARY)
    add_library(warpband_hdf5 UNKNOWN IMPORTED)
    set_target_properties(warpband_hdf5 PROPERTIES IMPORTED_LOCATION "${WARPBAND_HDF5_LIBRARY}"
                          INTERFACE_INCLUDE_DIRECTORIES "${WARPBAND_HDF5_INCLUDE_DIR}")
  endif()
endif()
