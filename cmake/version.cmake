# Writes warpband_version.hpp; touches it only when something changed. WARPBAND_COMMIT names the commit of a copy without history.
set(commit "$ENV{WARPBAND_COMMIT}")
set(archived "$Format:%H$")  # `git archive` puts the commit here (.gitattributes)
if(NOT commit AND archived MATCHES "^[0-9a-f]+$")
  string(SUBSTRING "${archived}" 0 12 commit)
elseif(NOT commit)
  execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    string(APPEND commit "-modified")
  elseif(NOT commit)
    set(commit unknown)
  endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT
"#pragma once
#define WARPBAND_VERSION \"${VERSION}\"
#define WARPBAND_COMMIT \"${commit}\"
")
