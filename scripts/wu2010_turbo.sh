#!/usr/bin/env bash
# Reproduces figures 5.2 and 5.3 of wu2010 (BER of the windowed turbo decoder, log-MAP and max-log-MAP, P = 1, 32, 64, 96,
# 128, without and with overlap), and the curves over the overlap that docs/wu2010.md quotes.
#   scripts/wu2010_turbo.sh [OPTIONS OF warpband sim], for instance --device cuda:0
# Results and plots go to build/wu2010. Needs a built command: build/cuda/warpband or build/release/warpband.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for command in ${WARPBAND_COMMAND:-build/cuda/warpband build/release/warpband}; do
    [[ -x $command ]] && break
done
[[ -x $command ]] || { echo "wu2010_turbo.sh: no warpband command: bash scripts/quickstart.sh builds it" >&2; exit 1; }
mkdir -p build/wu2010
for figure in wu2010_fig5_2 wu2010_fig5_3 wu2010_overlap; do
    "$command" sim "curves/$figure.toml" -o "build/wu2010/$figure.json" --plot "build/wu2010/$figure.png" --metric ber "$@"
done
