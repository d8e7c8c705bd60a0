# The C interface: libwarpband_c.so, which has the library inside and exports wb_* alone.
wb_sources(c_api GLOB warpband/c/*.cpp)
add_library(warpband_c SHARED ${c_api_sources})
add_library(warpband::warpband_c ALIAS warpband_c)
set(wb_c_abi_major 1)  # WB_ABI_MAJOR of warpband.h
set_target_properties(warpband_c PROPERTIES VERSION ${wb_c_abi_major}.${PROJECT_VERSION} SOVERSION ${wb_c_abi_major} DEFINE_SYMBOL ""
                      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
                      LINK_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/cmake/c_exports.map")
target_compile_options(warpband_c PRIVATE ${wb_library_flags})
target_include_directories(warpband_c PUBLIC "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
                           PRIVATE "${wb_generated}")
target_link_libraries(warpband_c PRIVATE warpband wb_options)
# As needed: HDF5 and KISS FFT are no part of what it calls.
target_link_options(warpband_c PRIVATE "-Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/cmake/c_exports.map" -Wl,--as-needed)
