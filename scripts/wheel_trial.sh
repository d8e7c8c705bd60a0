#!/usr/bin/env bash
# Tries a wheel: installs it with pip into a virtual environment, runs README's example, the command, and one scenario with both, whose counts
# must be equal. What the wheel needs is fetched before.
#
#   scripts/wheel_trial.sh SUITE WHEEL [MIRROR]     in the clean system of scripts/clean_system.sh, without a network; as root
#   scripts/wheel_trial.sh here WHEEL [PYTHON]      on this machine, with an empty environment; PYTHON is python3 unless given
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if (($# < 2)); then
    echo "usage: scripts/wheel_trial.sh SUITE WHEEL [MIRROR], or here WHEEL [PYTHON]" >&2
    exit 2
fi
suite=$1 wheel=$(realpath "$2")
if [ "$suite" = here ]; then
    trial=$(mktemp -d)
    folder=$trial enter=() isolated=() python=$("${3:-python3}" -c 'import sys; print(sys.executable)')
else
    system=$(bash scripts/clean_system.sh "$suite" "${@:3}")
    trial=$system/trial
    rm -rf "$trial"
    mkdir "$trial"
    folder=/trial enter=(chroot "$system") python=python3
    isolated=(unshare --mount --net --pid --fork --root="$system" --mount-proc)
fi
trap 'rm -rf "$trial"' EXIT
cp "$wheel" examples/quickstart.toml "$trial"
awk '/^```python$/ {inside = 1; next} /^```$/ {inside = 0} inside' README.md > "$trial/example.py"

glibc=$("${enter[@]}" getconf GNU_LIBC_VERSION | sed 's/.*\.//')
platforms=(--platform "manylinux2014_$(uname -m)")
for ((minor = 17; minor <= glibc; ++minor)); do
    platforms+=(--platform "manylinux_2_${minor}_$(uname -m)")
done
python3 -m pip --quiet --disable-pip-version-check download --only-binary :all: --no-deps --require-hashes -d "$trial" "${platforms[@]}" \
    --python-version "$("${enter[@]}" "$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')" -r scripts/requirements-trial.txt

cat > "$trial/check.py" << 'END_OF_PYTHON'
import importlib.metadata
import json
import sys

import warpband as wb

print("warpband", wb.__version__, "with", ", ".join(wb.isas()), "and CUDA" if wb.has_cuda else "", wb.cuda_devices())
bill = next(file for file in importlib.metadata.files("warpband") if file.name == "warpband.cdx.json")
assert wb.has_cuda == ("cuda-runtime" in bill.read_text())
if not wb.cuda_devices():  # no GPU, or no driver: said, and all else works
    try:
        wb.cuda(device=0)
    except RuntimeError as error:
        print(error)
    else:
        sys.exit("a device that is not there was opened")
counts = [[(p["frames"], p["frame_errors"], p["bit_errors"]) for p in curve["points"]] for curve in json.load(open("result.json"))["curves"]]
print(counts)
again = wb.sweep("quickstart.toml", max_frames=200).to_dict()["curves"]
assert counts == [[(p["frames"], p["frame_errors"], p["bit_errors"]) for p in curve["points"]] for curve in again]
END_OF_PYTHON
cat > "$trial/run.sh" << 'END_OF_SHELL'
. /etc/os-release
echo "== $PRETTY_NAME: $(getconf GNU_LIBC_VERSION), $("$2" --version)"
cd "$1"
"$2" -m venv --without-pip venv
venv/bin/python "$(echo pip-*.whl)/pip" --quiet install --no-index --find-links . warpband
set -x
venv/bin/python example.py
venv/bin/warpband --version
venv/bin/warpband sim quickstart.toml -o result.json --max-frames 200
venv/bin/python check.py
END_OF_SHELL
"${isolated[@]}" env -i PATH=/usr/bin:/bin HOME="$folder" sh -eu "$folder/run.sh" "$folder" "$python"
echo "== $(basename "$wheel") works: $suite"
