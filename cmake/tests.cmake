# The test program warpband_tests, whose tests CTest knows one by one with the labels of tests/labels.txt, and an example.
enable_testing()
include(cmake/googletest.cmake)

# wb_keep_files_with_label(<list> <label>): removes files that have no test with the label.
function(wb_keep_files_with_label list label)
  file(STRINGS tests/labels.txt patterns REGEX "^${label} ")
  set(kept)
  foreach(file IN LISTS ${list})
    file(READ "${file}" text)
    string(REGEX MATCHALL "TEST(_[FP])?\\([A-Za-z0-9_]+,[ \n]*[A-Za-z0-9_]+" names "${text}")
    if(text MATCHES "\nWB_CONTRACTS")  # algorithms of a list have the tests of contract_test.cpp
      list(APPEND names "TEST_P(contract, threads_change_no_bit")
    endif()
    foreach(name IN LISTS names)
      string(REGEX REPLACE "^TEST_P.(.*)" "backends/\\1" name "${name}")
      string(REGEX REPLACE "^TEST(_F)?." "" name "${name}")
      string(REGEX REPLACE ",[ \n]*" "." name "${name}")
      foreach(pattern IN LISTS patterns)
        string(REGEX REPLACE "^[a-z0-9]+ +" "" pattern "${pattern}")
        if(name MATCHES "${pattern}")
          list(APPEND kept "${file}")
        endif()
      endforeach()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES kept)
  set(${list} ${kept} PARENT_SCOPE)
endfunction()

wb_sources(oracle GLOB oracle/*.cpp)
list(REMOVE_ITEM oracle_sources oracle/turbo_curve.cpp)
add_library(wb_oracle STATIC ${oracle_sources})
target_include_directories(wb_oracle PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}")
target_link_libraries(wb_oracle PRIVATE wb_options)
target_compile_options(wb_oracle PRIVATE ${wb_oracle_flags})
add_executable(oracle_turbo_curve oracle/turbo_curve.cpp)
target_compile_options(oracle_turbo_curve PRIVATE ${wb_oracle_flags})
target_link_libraries(oracle_turbo_curve PRIVATE wb_oracle wb_options Threads::Threads)

wb_sources(more GLOB tests/*.cpp)
list(REMOVE_ITEM more_sources tests/faults.cpp tests/nvml.cpp)
if(WARPBAND_APP)  # the golden set asks the command's reader of stream scenarios
  set(stream_readers apps/stream_runs.cpp apps/stream_schema.cpp)
  add_executable(golden_rows EXCLUDE_FROM_ALL tests/golden/rows.cpp tests/golden.cpp tests/json.cpp ${stream_readers})  # for scripts/golden.py
  target_compile_options(golden_rows PRIVATE ${wb_test_flags})
  target_compile_definitions(golden_rows PRIVATE WARPBAND_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(golden_rows PRIVATE warpband wb_options wb_dep_json wb_dep_toml wb_dep_fmt)
  set(tables_files apps/tables_plan.cpp apps/tables_file.cpp apps/tables_exports.cpp)
else()
  list(REMOVE_ITEM more_sources tests/golden.cpp)
  list(REMOVE_ITEM more_tests tests/golden_test.cpp)
endif()
set(tests ${library_tests} ${c_api_tests} ${oracle_tests} ${more_tests} ${app_tests} ${bench_tests})
if(NOT WARPBAND_SANITIZE)  # sanitizers do not know the emulated blocks' fibres
  wb_sources(emulated GLOB tests/emulation/*_test.cpp)
  list(APPEND tests tests/emulation/emulated_block.cpp ${emulated_tests})
  set_source_files_properties(${emulated_tests} PROPERTIES SKIP_PRECOMPILE_HEADERS ON
    INCLUDE_DIRECTORIES "${CMAKE_CURRENT_SOURCE_DIR}/tests/emulation/shadow"
    COMPILE_OPTIONS "-fno-strict-aliasing;-ffp-contract=off;-Wno-unknown-pragmas;-Wno-attributes;-Wno-shadow")
  # The checked longjmp that Ubuntu's compiler takes refuses to go to another stack.
  set_source_files_properties(tests/emulation/emulated_block.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS -U_FORTIFY_SOURCE)
endif()
list(FILTER tests INCLUDE REGEX "${WARPBAND_TEST_FILES}")
if(WARPBAND_TEST_LABEL)
  wb_keep_files_with_label(tests ${WARPBAND_TEST_LABEL})
endif()
add_executable(warpband_tests ${tests} ${more_sources} ${stream_readers} ${tables_files})
set_target_properties(warpband_tests PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)  # headers are half of the cost
set_source_files_properties(${more_sources} ${stream_readers} ${tables_files} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)  # new and delete of all tests
set(double_lane_tests ${tests})
list(FILTER double_lane_tests INCLUDE REGEX "_backward_test\\.cpp$")
set_source_files_properties(${double_lane_tests} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON  # each sets WB_ISA for all of its unit
  COMPILE_OPTIONS "$<$<CXX_COMPILER_ID:Clang>:-Wno-bitwise-instead-of-logical>")  # they have bodies of kernels, as kernels.cmake
target_compile_options(warpband_tests PRIVATE ${wb_test_flags} $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
target_compile_definitions(warpband_tests PRIVATE WARPBAND_REFDATA="${WARPBAND_REFDATA}"
                           WARPBAND_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}" $<$<BOOL:${bench_tests}>:WARPBAND_HAS_BENCH>)
target_include_directories(warpband_tests PRIVATE "${wb_generated}")
target_link_libraries(warpband_tests PRIVATE warpband wb_oracle wb_options wb_dep_json wb_dep_toml
                      $<$<BOOL:${WARPBAND_APP}>:wb_dep_fmt> $<$<BOOL:${WARPBAND_HDF5}>:warpband_hdf5> GTest::gtest GTest::gtest_main
                      $<TARGET_NAME_IF_EXISTS:warpband_c>)
target_precompile_headers(warpband_tests PRIVATE <gtest/gtest.h> <algorithm> <complex> <memory> <string> <vector>)
wb_add_kernels(warpband_tests ${more_kernels})
add_library(wb_faults SHARED tests/faults.cpp)  # makes calls fail in programs that tests start
target_compile_options(wb_faults PRIVATE -O1 -Wall -Wextra)
target_compile_definitions(warpband_tests PRIVATE WARPBAND_FAULTS="$<TARGET_FILE:wb_faults>")
add_dependencies(warpband_tests wb_faults)
add_library(wb_nvml SHARED tests/nvml.cpp)  # in place of NVIDIA's management library
target_compile_definitions(warpband_tests PRIVATE WARPBAND_NVML="$<TARGET_FILE:wb_nvml>")
add_dependencies(warpband_tests wb_nvml)
if(WARPBAND_APP)
  add_dependencies(warpband_tests warpband_command)
  file(GENERATE OUTPUT "${wb_generated}/warpband_command.hpp"
       CONTENT "#define WARPBAND_COMMAND \"$<TARGET_FILE:warpband_command>\"\n")
endif()
gtest_discover_tests(warpband_tests DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 600 NO_PRETTY_VALUES PROPERTIES TIMEOUT 600)  # listing took 48 s on a busy machine
set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${CMAKE_CURRENT_SOURCE_DIR}/tests/labels.cmake")
add_executable(example_decode examples/decode.cpp)
target_link_libraries(example_decode PRIVATE warpband wb_options)
add_test(NAME example_decode COMMAND example_decode)

# The header in plain C, and the C examples
if(WARPBAND_C)
  enable_language(C)
  set(wb_c_flags -std=c99 -pedantic -Wall -Wextra -Wconversion $<$<BOOL:${WARPBAND_WERROR}>:-Werror>)
  foreach(name decode detect latency)
    add_executable(example_c_${name} examples/c/${name}.c)
    target_compile_options(example_c_${name} PRIVATE ${wb_c_flags})
    target_link_libraries(example_c_${name} PRIVATE warpband_c m)
    set_target_properties(example_c_${name} PROPERTIES LINKER_LANGUAGE CXX)  # brings the sanitizers' runtime of the library's compiler
    add_test(NAME example_c_${name} COMMAND example_c_${name})
  endforeach()
  # The gateway of MATLAB and Octave, against declarations of MATLAB's functions: compiled alone
  add_library(matlab_gateway OBJECT plugins/matlab/warpband_mex.c)
  target_compile_options(matlab_gateway PRIVATE ${wb_c_flags})
  target_include_directories(matlab_gateway PRIVATE plugins/matlab/stub "${CMAKE_CURRENT_SOURCE_DIR}")
endif()
