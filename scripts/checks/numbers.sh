#!/usr/bin/env bash
# Numbers are read and written by from_chars, to_chars and fmt: what C reads and prints depends on the program's locale, where 0.5 may be 0,5.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

functions='\b(strto(d|f|ld)|ato[f]|sto(d|f|ld)|[a-z]*scanf) *\(' formats='\b[a-z]*printf *\(.*%[-+ #0-9.]*[aefgAEFG]'
streams='\b(i|o)?stringstream\b.*(<<|>>)|std::to_string\(([a-z_.>-]*(seconds|_db))\)'
found=$(grep -rnE --include='*.cpp' --include='*.hpp' --exclude='*_test.cpp' "$functions|$formats|$streams" warpband apps bench python/src \
    | grep -vE 'fmt::|std::fscanf\(file, "%lu"' || true)
if [[ -n $found ]]; then
    sed -E 's/^([^:]*:[0-9]+:)/\1 a number that depends on the locale: /' <<< "$found" >&2
    exit 1
fi
