#!/usr/bin/env bash
# No file holds a mark of unfinished work or a path that exists on one machine only.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
git rev-parse --is-inside-work-tree > /dev/null

found=$(git ls-files -z --cached --others --exclude-standard \
    | while IFS= read -r -d '' file; do [[ ! -f $file ]] || printf '%s\0' "$file"; done \
    | xargs -0 -r grep -nHIE '\b(TOD[O]|FIXM[E]|XX[X])\b|(^|[^[:alnum:]_.-])/(home|root|Users|wor[k])/|\b(GPU|CPU|REF|T53)_[A-Z0-9]+\b' \
    | grep -v '^[^:]*\.ipynb:[0-9]*: *"image/png": ' || true) # pictures in notebooks are random letters
if [[ -n $found ]]; then
    sed -E 's/^([^:]*:[0-9]+:)/\1 mark of unfinished work or path of one machine: /' <<< "$found" >&2
    exit 1
fi
