#!/usr/bin/env bash
# format.sh [--fix]: every C++ and CUDA file is laid out as .clang-format says, by the version that
# scripts/requirements-dev.in pins. --fix rewrites the files.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

clang_format=.venv/bin/clang-format
pinned=$(sed -n 's/^clang-format==//p' scripts/requirements-dev.in)
installed=$("$clang_format" --version 2> /dev/null || true)
if [[ $installed != *"version $pinned"* ]]; then
    echo "scripts/requirements-dev.in:1: clang-format $pinned is not in .venv: run scripts/setup.sh --checks" >&2
    exit 1
fi

mode=(--dry-run -Werror)
case ${1:-} in
    '') ;;
    --fix) mode=(-i) ;;
    *) echo "usage: format.sh [--fix]" >&2; exit 2 ;;
esac
git ls-files -z --cached --others --exclude-standard -- '*.hpp' '*.cpp' '*.cu' '*.cuh' \
    | while IFS= read -r -d '' file; do [[ ! -e $file ]] || printf '%s\0' "$file"; done \
    | xargs -0 -r -n 16 -P 2 "$clang_format" --style=file "${mode[@]}"
