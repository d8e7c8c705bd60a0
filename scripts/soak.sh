#!/usr/bin/env bash
# Streams for minutes or hours while frames and devices fail: `stream` (a detector and a decoder) and two decoders in a row, each in a process of its own. A tenth of
# the time shows the peak, the rest goes at 80 % of it. Fails where memory grows, counters do not add up, a result changes or a frame allocates.
# Usage: scripts/soak.sh [--minutes N] [--device cpu|cuda:N] [PROGRAM]
#   --minutes N   of each of the two, default 1
#   PROGRAM       warpband_tests of a build, default: build/cuda's or build/release's, the newer one
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

minutes=1
device=cpu
program=
while [[ $# -gt 0 ]]; do
    case $1 in
        --minutes) minutes=${2:?--minutes needs a number} && shift ;;
        --device) device=${2:?--device needs a name} && shift ;;
        -*) echo "soak.sh: $1: expected --minutes N, --device NAME or a program" >&2 && exit 2 ;;
        *) program=$1 ;;
    esac
    shift
done
if [[ -z $program ]]; then program=$({ find build/cuda build/release -maxdepth 1 -name warpband_tests -printf '%T@ %p\n' 2> /dev/null || true; } | sort -rn | sed -n '1s/^[^ ]* //p'); fi
[[ -n $program ]] || { echo "soak.sh: no warpband_tests in build/cuda or build/release: cmake --preset release && cmake --build --preset release" >&2; exit 1; }
WARPBAND_SOAK_SECONDS=$((60 * minutes)) WARPBAND_SOAK_DEVICE=$device "$program" --gtest_filter='soak.*'
