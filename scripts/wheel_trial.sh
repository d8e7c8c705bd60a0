#!/usr/bin/env bash
# Tries a wheel in a clean system: installs it with pip into a virtual environment, runs README's example, the command, and one scenario with
# both, whose counts must be equal. The system has Python and nothing else, and no network: what the wheel needs is fetched before.
#
#   scripts/wheel_trial.sh SUITE WHEEL [MIRROR]     SUITE: bookworm, trixie, jammy, noble, or another that debootstrap knows
#
# The system is made once, in build/systems/SUITE. As root; needs debootstrap, and pip for NumPy. Debian has no key of Ubuntu's packages: there
# name a MIRROR for jammy and noble. It is trusted without a signature.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if (($# < 2)); then
    echo "usage: scripts/wheel_trial.sh SUITE WHEEL [MIRROR]" >&2
    exit 2
fi
suite=$1 wheel=$(realpath "$2")
system=$PWD/build/systems/$suite
trial=$system/trial

if [ ! -e "$system.made" ]; then
    rm -rf "$system"
    mkdir -p "$system"
    script=/usr/share/debootstrap/scripts/$suite
    [ -e "$script" ] || script=${script%/*}/jammy # Debian 12 knows Ubuntu to 22.10; what follows is made alike
    debootstrap --variant=minbase --include=python3 "$suite" "$system" ${3:+"$3" "$script"} > "$system.log" \
        || { tail "$system.log" >&2; exit 1; }
    touch "$system.made"
fi
rm -rf "$trial"
mkdir "$trial"
trap 'rm -rf "$trial"' EXIT
cp "$wheel" "$trial"
awk '/^```python$/ {inside = 1; next} /^```$/ {inside = 0} inside' README.md > "$trial/example.py"

glibc=$(chroot "$system" getconf GNU_LIBC_VERSION | sed 's/.*\.//')
platforms=(--platform "manylinux2014_$(uname -m)")
for ((minor = 17; minor <= glibc; ++minor)); do
    platforms+=(--platform "manylinux_2_${minor}_$(uname -m)")
done
python3 -m pip --quiet --disable-pip-version-check download --only-binary :all: --no-deps --require-hashes -d "$trial" "${platforms[@]}" \
    --python-version "$(chroot "$system" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')" -r scripts/requirements-trial.txt

cat > "$trial/scenario.toml" << 'END_OF_SCENARIO'
title = "LTE turbo code, K = 128"
code.k = 128
modem.modulation = "qpsk"
sweep.ebn0_db = [0.0, 1.0, 2.0]
stop = { frame_errors = 50, max_frames = 20000 }
END_OF_SCENARIO
cat > "$trial/check.py" << 'END_OF_PYTHON'
import json

import warpband as wb

print("warpband", wb.__version__, "with", ", ".join(wb.isas()))
points = json.load(open("result.json"))["curves"][0]["points"]
counts = [(p["frames"], p["frame_errors"], p["bit_errors"]) for p in points]
print(counts)
mine = [(p["frames"], p["frame_errors"], p["bit_errors"]) for p in wb.sweep("scenario.toml").to_dict()["curves"][0]["points"]]
assert mine == counts, mine
END_OF_PYTHON
cat > "$trial/run.sh" << 'END_OF_SHELL'
. /etc/os-release
echo "== $PRETTY_NAME: $(getconf GNU_LIBC_VERSION), $(python3 --version)"
cd /trial
python3 -m venv --without-pip venv
venv/bin/python "$(echo pip-*.whl)/pip" --quiet install --no-index --find-links . warpband
set -x
venv/bin/python example.py
venv/bin/warpband --version
venv/bin/warpband sim scenario.toml -o result.json
venv/bin/python check.py
END_OF_SHELL
unshare --mount --net --pid --fork --root="$system" --mount-proc env -i PATH=/usr/bin:/bin HOME=/trial sh -eu /trial/run.sh
echo "== $(basename "$wheel") works on $suite"
