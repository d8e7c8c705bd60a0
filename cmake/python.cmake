# The Python package: the module warpband._core, its stubs and the Python files beside it. In the build tree it stands in
# <build>/python, ready for PYTHONPATH; scikit-build-core puts the component "python" into a wheel.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.SABIModule)
execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT
                OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${Python_EXECUTABLE} has no nanobind: scripts/setup.sh --checks installs it into .venv; then "
                      "-DPython_EXECUTABLE=.venv/bin/python")
endif()
find_package(nanobind 3 CONFIG REQUIRED)

# One wheel for all Pythons from 3.12 on; before, one for each.
set(package "${CMAKE_BINARY_DIR}/python/warpband")
file(GLOB python_sources CONFIGURE_DEPENDS python/src/*.cpp)
nanobind_add_module(warpband_python STABLE_ABI NB_STATIC NB_SUPPRESS_WARNINGS NOMINSIZE ${python_sources})
set_target_properties(warpband_python PROPERTIES OUTPUT_NAME _core LIBRARY_OUTPUT_DIRECTORY "${package}" UNITY_BUILD ${WARPBAND_UNITY})
target_link_libraries(warpband_python PRIVATE warpband wb_options)
# The module exports its entry alone. Other packages of a process have other builds of the same templates, torch among them.
file(WRITE "${CMAKE_BINARY_DIR}/core.map" "{ global: PyInit__core; local: *; };\n")
target_link_options(warpband_python PRIVATE "-Wl,--version-script=${CMAKE_BINARY_DIR}/core.map")
target_compile_options(warpband_python PRIVATE ${wb_program_flags})
target_precompile_headers(warpband_python PRIVATE <nanobind/nanobind.h> <nanobind/stl/optional.h> <nanobind/stl/string.h>
                          <nanobind/stl/vector.h> <complex> <memory> <mutex> <span>)
foreach(library nanobind-static nanobind-static-abi3)  # the presets leave CMake's flags empty
  if(TARGET ${library})
    target_compile_options(${library} PRIVATE ${wb_library_flags})  # each call from Python goes through it
    set_target_properties(${library} PROPERTIES UNITY_BUILD ${WARPBAND_UNITY} UNITY_BUILD_BATCH_SIZE 0)
  endif()
endforeach()

file(GLOB python_files CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}/python/warpband"
     python/warpband/*.py python/warpband/reproduce/*.py python/warpband/py.typed)
file(MAKE_DIRECTORY "${package}/reproduce")
foreach(file IN LISTS python_files)
  add_custom_command(OUTPUT "${package}/${file}" DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/python/warpband/${file}"
    COMMAND ${CMAKE_COMMAND} -E copy "${CMAKE_CURRENT_SOURCE_DIR}/python/warpband/${file}" "${package}/${file}")
  list(APPEND copied "${package}/${file}")
endforeach()
if(WARPBAND_HDF5)  # the module looks beside itself for the program that reads HDF5 files
  add_custom_command(OUTPUT "${package}/warpband-hdf5" DEPENDS warpband_hdf5_program
    COMMAND ${CMAKE_COMMAND} -E copy "$<TARGET_FILE:warpband_hdf5_program>" "${package}/")
  list(APPEND copied "${package}/warpband-hdf5")
endif()
add_custom_target(warpband_python_files ALL DEPENDS ${copied})
nanobind_add_stub(warpband_python_stub MODULE _core OUTPUT "${package}/_core.pyi" PYTHON_PATH "${package}" DEPENDS warpband_python)
set(keywords_maker "${CMAKE_CURRENT_SOURCE_DIR}/scripts/python_stubs.py")
add_custom_command(OUTPUT "${package}/_keywords.pyi" DEPENDS warpband_python "${keywords_maker}"
  COMMAND ${CMAKE_COMMAND} -E env "PYTHONPATH=${package}" "${Python_EXECUTABLE}" "${keywords_maker}" "${package}/_keywords.pyi" VERBATIM)
add_custom_target(warpband_python_keywords ALL DEPENDS "${package}/_keywords.pyi")

# The documentation site, <build>/site/html: `cmake --workflow --preset docs`
add_custom_target(docs
  COMMAND ${CMAKE_COMMAND} -E env "PYTHONPATH=${CMAKE_BINARY_DIR}/python" "${Python_EXECUTABLE}"
          "${CMAKE_CURRENT_SOURCE_DIR}/scripts/site.py" "${CMAKE_BINARY_DIR}/site"
  DEPENDS warpband_python warpband_python_files warpband_python_stub warpband_python_keywords USES_TERMINAL VERBATIM)

set(in_wheel COMPONENT python EXCLUDE_FROM_ALL)
install(TARGETS warpband_python LIBRARY DESTINATION warpband ${in_wheel})
install(FILES "${package}/_core.pyi" "${package}/_keywords.pyi" DESTINATION warpband ${in_wheel})
if(WARPBAND_HDF5)
  install(TARGETS warpband_hdf5_program RUNTIME DESTINATION warpband ${in_wheel})
endif()
# A wheel brings KISS FFT along: it is not on every machine.
if(SKBUILD AND WARPBAND_KISSFFT_LIBRARY MATCHES "\\.so")
  file(REAL_PATH "${WARPBAND_KISSFFT_LIBRARY}" kissfft_file)
  wb_soname(soname "${kissfft_file}")
  install(FILES "${kissfft_file}" DESTINATION warpband RENAME "${soname}" ${in_wheel})
  set_target_properties(warpband_python PROPERTIES INSTALL_RPATH "$ORIGIN")
endif()
if(SKBUILD AND WARPBAND_APP)  # the command finds its programs beside its bin/
  if(WARPBAND_HDF5)
    install(TARGETS warpband_hdf5_program RUNTIME DESTINATION "${SKBUILD_DATA_DIR}/libexec/warpband" ${in_wheel})
  endif()
  install(TARGETS warpband_command RUNTIME DESTINATION "${SKBUILD_SCRIPTS_DIR}" ${in_wheel})
  install(PROGRAMS apps/plot.py apps/plot_front.py apps/plot_exit.py apps/plot_receive.py DESTINATION "${SKBUILD_DATA_DIR}/share/warpband" ${in_wheel})
  install(FILES python/warpband/_error_rates.py python/warpband/_theory.py DESTINATION "${SKBUILD_DATA_DIR}/share/warpband" ${in_wheel})
  install(DIRECTORY python/warpband/reproduce DESTINATION "${SKBUILD_DATA_DIR}/share/warpband" ${in_wheel} FILES_MATCHING PATTERN "*.py")
endif()
