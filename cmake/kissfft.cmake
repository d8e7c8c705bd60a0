# KISS FFT in float32 as the target warpband_kissfft. Found here and again for projects that use an installed Warpband. Its own
# CMake package names one folder for all number types and asks for static or shared libraries by a component.
if(NOT TARGET warpband_kissfft)
  find_path(WARPBAND_KISSFFT_INCLUDE_DIR kiss_fft.h PATH_SUFFIXES kissfft)
  find_library(WARPBAND_KISSFFT_LIBRARY NAMES kissfft-float)
  mark_as_advanced(WARPBAND_KISSFFT_INCLUDE_DIR WARPBAND_KISSFFT_LIBRARY)
  if(WARPBAND_KISSFFT_INCLUDE_DIR AND WARPBAND_KISSFFT_LIBRARY)
    add_library(warpband_kissfft UNKNOWN IMPORTED)
    set_target_properties(warpband_kissfft PROPERTIES IMPORTED_LOCATION "${WARPBAND_KISSFFT_LIBRARY}"
                          INTERFACE_INCLUDE_DIRECTORIES "${WARPBAND_KISSFFT_INCLUDE_DIR}")
  endif()
endif()
