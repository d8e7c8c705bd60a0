#!/usr/bin/env bash
# Installs the package with pip into a clean virtual environment and runs README's Python example in it: what a user does. It
# compiles the whole library, so it is not a part of scripts/test.sh, which tests the package in its build tree. Its packages have no hashes:
# pip takes the newest versions that the ranges of pyproject.toml allow, as for a user.
#
#   scripts/python_install.sh [PYTHON]     the interpreter to make the environment with, python3 unless given
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${1:-python3}" -m venv "$folder/venv"
TIMEFORMAT="pip install: %R s on $(nproc) cores, %U + %S s of CPU"
time "$folder/venv/bin/pip" --quiet --disable-pip-version-check install .
awk '/^```python$/ {inside = 1; next} /^```$/ {inside = 0} inside' README.md > "$folder/example.py"
(cd "$folder" && venv/bin/python example.py)
(cd "$folder" && venv/bin/python -c 'import time; start = time.perf_counter(); import warpband
print(f"import: {time.perf_counter() - start:.3f} s, {time.process_time():.3f} s of CPU with the start of Python")')
