# Writes warpband_version.hpp; touches it only when something changed.
set(commit "unknown")
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE head RESULT_VARIABLE failed
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed)
    execute_process(COMMAND ${git} -C ${SOURCE} status --porcelain --untracked-files=no
                    OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    set(commit "${head}")
    if(changes)
      set(commit "${head}-modified")
    endif()
  endif()
endif()
if(DEFINED ENV{WARPBAND_COMMIT})  # for builds from a copy without its history
  set(commit "$ENV{WARPBAND_COMMIT}")
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT
"#pragma once
#define WARPBAND_VERSION \"${VERSION}\"
#define WARPBAND_COMMIT \"${commit}\"
")
